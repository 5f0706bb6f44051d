//! Engine and simulator execute the same op stream: the same workload and seed give the same operations in both, worker by worker.

use fathom_testkit::Fathom;
use serde_json::Value;

/// A workload whose operations are logged; `stream` is what its stream is beside that.
fn workload(threads: u32, stream: &str) -> String {
    format!(
        "name = \"same\"\nseed = \"0x1234\"\n[[fileset]]\nname = \"f\"\nkeep = false\n[fileset.files.numbered]\nprefix = \"f\"\ncount = 3\n\
         [fileset.size]\nfixed = \"1MiB\"\n[[phase]]\nname = \"mix\"\nbefore = [{{ prepare = \"f\" }}]\n[[phase.group]]\nname = \"g\"\n\
         [[phase.group.thread]]\ninstances = {threads}\n[phase.group.thread.program.stream]\nfileset = \"f\"\nlog_operations = true\n{stream}\n"
    )
}

fn record(fathom: &Fathom, args: &[&str]) -> Value {
    let outcome = fathom.run(args).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

/// Of a worker: offset and length of every operation in their order, and how many of each kind there were.
type Done = (Vec<(u64, u64)>, Vec<(String, u64)>);

/// What each worker did.
fn operations(run: &Value) -> Vec<Done> {
    let workers = run["phases"][0]["repetitions"][0]["workers"].as_array().expect("workers");
    let number = |v: &Value| v.as_u64().expect("a number");
    let of = |w: &Value| {
        let log = w["op_log"].as_array().expect("a log");
        let kinds = w["stats"].as_array().expect("statistics").iter();
        let data = kinds.filter(|s| ["read", "write", "sync"].contains(&s["op"].as_str().unwrap_or("")));
        (
            log.iter().map(|o| (number(&o["offset"]), number(&o["bytes"]))).collect(),
            data.map(|s| (s["op"].as_str().unwrap_or("").to_owned(), number(&s["ops"]))).collect(),
        )
    };
    workers.iter().map(of).collect()
}

#[test]
fn the_same_workload_and_seed_give_the_same_operations() {
    let fathom = Fathom::new();
    for (threads, stream) in [
        (1, "direction = \"read\"\naccess = \"permuted\"\nrecord = { fixed = \"4KiB\" }"),
        (
            2,
            "direction = { mix = { read-percent = 70 } }\naccess = \"uniform\"\nrecord = { fixed = \"8KiB\" }\namount = { operations = 100 }",
        ),
        (
            3,
            "direction = { mix = { reads-per-write = 1.5 } }\naccess = { zipf = { theta = 0.9 } }\nrecord = { fixed = \"16KiB\" }\namount = { operations = 60 }\nsync_every = { writes = 5 }",
        ),
        (
            1,
            "direction = { mix = { read-percent = 50 } }\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = { operations = 40 }\nbackend = { stdio = { buffer = \"16KiB\" } }\nsync_every = { writes = 4 }",
        ),
        (
            2,
            "direction = { mix = { read-percent = 50 } }\naccess = \"permuted\"\nrecord = { fixed = \"4KiB\" }\nbackend = { mmap = { flush = \"sync\", flush_every = 10 } }",
        ),
        (
            2,
            "direction = \"write\"\nrecord = { between = { min = \"4KiB\", max = \"64KiB\" } }\namount = { operations = 30 }",
        ),
    ] {
        let path = fathom.dir().path().join("w.toml");
        std::fs::write(&path, workload(threads, stream)).expect("writes");
        let path = path.to_str().expect("UTF-8");
        let real = record(&fathom, &["run", path, "--json", "--no-store"]);
        let simulated = record(&fathom, &["sim", "run", path, "--json", "--no-store"]);
        let (real, simulated) = (operations(&real), operations(&simulated));
        assert!(real.iter().all(|(log, _)| log.len() >= 10), "{stream}: {real:?}");
        assert_eq!(real, simulated, "{stream}");
    }
}
