//! The same workload file run for real on a loop device and in virtual time: records of one shape, and one page that shows both and
//! says which is which.

use fathom_testkit::{Fathom, LoopFs};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Random reads past the page cache of a file below `dir`.
fn workload(dir: &Path) -> String {
    format!(
        "name = \"random reads\"\nseed = \"0x77\"\n[[fileset]]\nname = \"f\"\nkeep = false\nfiles = {{ list = [\"{}\"] }}\n\
         size = {{ fixed = \"8MiB\" }}\n[[phase]]\nname = \"read\"\nbefore = [{{ prepare = \"f\" }}]\naxes = {{ record = \"16KiB\" }}\n\
         [[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\ninstances = 2\n[phase.group.thread.program.stream]\nfileset = \"f\"\n\
         pick = {{ one = 0 }}\ndirection = \"read\"\naccess = \"permuted\"\nrecord = {{ fixed = \"16KiB\" }}\nlog_operations = true\n\
         open = {{ direct = true }}\n",
        dir.join("f").display()
    )
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn repetition(run: &Value) -> &Value {
    &run["phases"][0]["repetitions"][0]
}

#[test]
fn a_measured_and_a_simulated_run_have_one_shape_and_share_a_page() {
    let Some(fs) =
        LoopFs::ext4("a_measured_and_a_simulated_run_have_one_shape_and_share_a_page").direct_io().mount()
    else {
        return;
    };
    let fathom = Fathom::new();
    let path = fathom.dir().path().join("w.toml");
    std::fs::write(&path, workload(fs.path())).expect("writes");
    let path = path.to_str().expect("UTF-8");
    let run = |args: &[&str]| -> Value {
        let outcome = fathom.run(args).expect_code(0);
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
    };
    let real = run(&["run", path, "--json"]);
    let simulated = run(&["sim", "run", path, "--json"]);
    assert!(real["simulation"].is_null() && simulated["simulation"].is_object());

    let mut expected = keys(&real);
    expected.insert("simulation");
    assert!(expected.is_superset(&keys(&simulated)), "{:?}", keys(&simulated).difference(&expected));
    assert_eq!(keys(&real["phases"][0]), keys(&simulated["phases"][0]));
    let (a, b) = (repetition(&real), repetition(&simulated));
    // What a kernel alone tells, and what was found wrong, need not be there.
    let missing: Vec<&str> = keys(a).difference(&keys(b)).copied().collect();
    assert!(
        missing.iter().all(|k| ["course", "extents", "findings", "jitter", "truth"].contains(k)),
        "{missing:?}"
    );
    assert!(keys(b).is_subset(&keys(a)), "{:?}", keys(b));
    let mut of_a_worker = keys(&a["workers"][0]);
    assert!(of_a_worker.remove("thread_counts"), "a kernel counted");
    assert_eq!(of_a_worker, keys(&b["workers"][0]));
    for (a, b) in
        a["workers"].as_array().expect("workers").iter().zip(b["workers"].as_array().expect("workers"))
    {
        let operations = |w: &Value| {
            let log = w["op_log"].as_array().expect("a log").iter();
            log.map(|o| (o["offset"].as_u64(), o["bytes"].as_u64())).collect::<Vec<_>>()
        };
        assert_eq!(operations(a), operations(b));
        assert_eq!((&a["bytes"], &a["ops"]), (&b["bytes"], &b["ops"]));
    }

    let page = fathom.dir().path().join("both.html");
    let (first, second) = (real["id"].as_str().expect("an id"), simulated["id"].as_str().expect("an id"));
    let _ = fathom.run(["report", first, second, "-o", page.to_str().expect("UTF-8")]).expect_code(0);
    let text = std::fs::read_to_string(&page).expect("a page");
    for told in [
        "2 runs side by side: 1 measured, 1 simulated",
        "<h3>random reads</h3>",
        "<h3>random reads (simulated)</h3>",
        "The first run was measured and the second is simulated",
        "Where requests lay over time, simulated",
        "This run is simulated, nothing was measured",
    ] {
        assert!(text.contains(told), "{told} is missing");
    }
}
