//! The same simulation is the same bytes: a run that is made again, but for its name and its dates; and whatever is written of a stored one,
//! however often, on whatever day.

use fathom_testkit::Fathom;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Several threads, reads and writes, fsyncs, and a scheduler that keeps the disk idle.
const SIMULATE: &str =
    "sim run --host athlon-2004-linux-2.6 --device deskstar-60gxp --scheduler as --readahead ra26-shared";
const WORKLOAD: &str = "-- sysbench --test=fileio --file-total-size=64M --file-num=8 --file-test-mode=rndrw --num-threads=4 --max-requests=400 run";

/// The export of the run that was kept last, and the export without what names it and says when it was made.
fn export(fathom: &Fathom) -> (String, Value) {
    let text = fathom.run(["show", "last", "--json"]).expect_code(0).stdout;
    let mut run: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    for name in ["id", "started_at", "ended_at"] {
        assert!(run[name].take().is_string(), "{name}");
    }
    (text, run)
}

#[test]
fn a_simulation_made_again_has_the_same_export_but_for_its_name_and_dates() {
    let fathom = Fathom::new();
    let lines = [
        format!("{SIMULATE} --seed 7 {WORKLOAD}"),
        "sim replay --synthetic 500 --device deskstar-60gxp --scheduler cfq --depth 16".into(),
    ];
    for line in lines {
        let made = || {
            let _ = fathom.run_line(&line).expect_code(0);
            export(&fathom)
        };
        let (first, again) = (made(), made());
        assert_ne!(first.0, again.0, "two runs: their names differ");
        // As text, so that the order of everything counts.
        assert_eq!(first.1.to_string(), again.1.to_string(), "{line}");
    }
    let _ = fathom.run_line(&format!("{SIMULATE} --seed 7 {WORKLOAD}")).expect_code(0);
    let seven = export(&fathom).1;
    let _ = fathom.run_line(&format!("{SIMULATE} --seed 8 {WORKLOAD}")).expect_code(0);
    let eight = export(&fathom).1;
    for part in ["phases", "simulation"] {
        assert_ne!(seven[part], eight[part], "another seed is another simulation: {part}");
    }
}

/// Every file of a directory, by name.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = std::fs::read_dir(directory).expect("a directory");
    all.map(|entry| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        (name, std::fs::read(entry.path()).expect("a file"))
    })
    .collect()
}

#[test]
fn what_is_written_of_a_stored_simulation_is_the_same_in_every_form() {
    let fathom = Fathom::new();
    let _ = fathom.run_line(&format!("{SIMULATE} {WORKLOAD}")).expect_code(0);
    let written = |name: &str| {
        let directory = fathom.work().join(name);
        std::fs::create_dir(&directory).expect("a directory");
        for form in ["html", "md", "json", "csv", "svg", "xlsx"] {
            let _ = fathom.run_line(&format!("report last -o {name}/run.{form}")).expect_code(0);
        }
        files(&directory)
    };
    let first = written("one");
    // Dates of files of this kind are in seconds.
    std::thread::sleep(Duration::from_millis(1100));
    let again = written("two");
    assert_eq!(first.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>());
    for (name, bytes) in &first {
        assert!(bytes == &again[name], "{name} differs");
    }
    let page = String::from_utf8_lossy(&first["run.html"]);
    for picture in
        ["Queue depth over virtual time", "Device busy over virtual time", "Waits of the idle device"]
    {
        assert!(page.contains(picture), "{picture}: the pictures of the inside are among it");
    }
}
