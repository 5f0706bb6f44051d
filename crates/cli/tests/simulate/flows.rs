//! Flows in virtual time: every script of `examples/filebench` in small, the same operations as the engine's, and the same shape of record.

use crate::personalities::list::{ALL, named};
use fathom_engine::{Engine, Ledger};
use fathom_iopath::Limits;
use fathom_record::OpKind;
use fathom_sim::{Setup, Stack, devices, host, simulate_noting};
use fathom_testkit::{Fathom, TestDir};
use fathom_workload::{Action, Workload};
use serde_json::Value;

/// What a simulated run of a personality printed, as JSON, or its error.
fn simulated(fathom: &Fathom, name: &str, more: &[&str], code: i32) -> fathom_testkit::Outcome {
    let p = named(name);
    let mut args: Vec<String> = ["sim", "run", "--json", "--no-store"].map(String::from).to_vec();
    args.extend(more.iter().map(|word| (*word).to_owned()));
    args.extend(["--".into(), "filebench".into(), "-f".into(), p.path().display().to_string()]);
    for (name, value) in p.settings("/simulated") {
        args.extend(["--set".into(), format!("{name}={value}")]);
    }
    fathom.run(&args).expect_code(code)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Names of a run's rows, newest first, with how often each was done.
fn rows(run: &Value) -> Vec<(String, u64)> {
    let workers = run["phases"][0]["repetitions"][0]["workers"].as_array().expect("workers");
    let mut all: Vec<(String, u64)> = Vec::new();
    for row in workers.iter().flat_map(|w| w["rows"].as_array().expect("rows")) {
        let (name, ops) = (row["name"].as_str().expect("a name"), number(&row["ops"]));
        match all.iter_mut().find(|r| r.0 == name) {
            Some(found) => found.1 += ops,
            None => all.push((name.into(), ops)),
        }
    }
    all.reverse();
    all
}

#[test]
fn every_personality_is_simulated() {
    let fathom = Fathom::new();
    for p in &ALL {
        let outcome = simulated(&fathom, p.name, &[], 0);
        let run: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let rows = rows(&run);
        // In the order of the workers here, in that of the printed report there.
        let mut names: Vec<&str> = rows.iter().map(|r| r.0.as_str()).collect();
        let mut printed = p.rows.to_vec();
        names.sort_unstable();
        printed.sort_unstable();
        assert_eq!(names, printed, "{}", p.name);
        let silent = rows.iter().filter(|r| r.1 == 0).count();
        // Sequences count nothing; everything else is done at least once, but what waits for what comes late.
        assert!(silent <= 4, "{}: {rows:?}", p.name);
        assert!(run["simulation"].is_object() && run["error"].is_null(), "{}", p.name);
    }
}

#[test]
fn a_script_is_simulated_by_its_name_and_is_the_same_each_time() {
    let fathom = Fathom::new();
    let once = |seed: &str| {
        let out = simulated(&fathom, "mail-server", &["--seed", seed, "--host", "athlon-2004-linux-2.6"], 0);
        let run: Value = serde_json::from_str(&out.stdout).expect("JSON");
        run["phases"].clone()
    };
    assert_eq!(once("1"), once("1"));
    // By the name of its file, as it stands, in the words of the terminal.
    let dir = TestDir::new();
    let path = dir.path().join("short.f");
    let script = "define fileset name=f,path=/simulated,entries=20,size=16k,prealloc\n\
                  define process name=p\n{\n  thread name=t,memsize=1m\n  {\n    flowop openfile name=o,filesetname=f,fd=1\n    \
                  flowop readwholefile name=r,fd=1,iosize=1m\n    flowop closefile name=c,fd=1\n  }\n}\nrun 2\n";
    std::fs::write(&path, script).expect("writes");
    let out = fathom.run(["sim", "run", path.to_str().expect("UTF-8"), "--no-store"]).expect_code(0);
    assert!(out.stdout.contains("This run is simulated"), "{}", out.stdout);
    assert!(out.stdout.contains("\n  pages_asked"), "{}", out.stdout);
}

#[test]
fn what_is_too_large_is_one_error() {
    let (fathom, dir) = (Fathom::new(), TestDir::new());
    let path = dir.path().join("large.f");
    for (entries, size, what) in
        [("1000000000000", "1k", "choose"), ("1", "1000000000000000000", "larger device")]
    {
        let script = format!(
            "define fileset name=f,path=/simulated,entries={entries},size={size},prealloc\n\
             define process name=p\n{{\n  thread name=t,memsize=1m\n  {{\n    flowop statfile name=s,filesetname=f\n  }}\n}}\nrun 2\n"
        );
        std::fs::write(&path, script).expect("writes");
        let out = fathom.run(["sim", "run", path.to_str().expect("UTF-8"), "--no-store"]).expect_code(2);
        assert!(out.stderr.contains(what), "{}", out.stderr);
    }
}

/// A read, a write or a sync: set and file, offset, bytes.
type Done = (OpKind, String, u64, u64);

/// What the one thread of a workload does with real files.
fn real(workload: &Workload) -> Vec<Done> {
    let dir = TestDir::new();
    let mut engine = Engine::new(Ledger::new(&dir.path().join("state")));
    for set in &workload.filesets {
        engine.act(workload, &Action::Prepare(set.name.clone())).expect("prepares");
    }
    engine.note_calls(1 << 16);
    let repetition = engine.execute(workload, 0, 0, &mut ()).expect("executes");
    assert!(repetition.error().is_none(), "{:?}", repetition.error());
    let calls = engine.take_calls().expect("calls");
    let name = |file: u32| {
        let path = &calls.paths[file as usize];
        path.file_name().expect("a name").to_string_lossy().into_owned()
    };
    let moving = calls.calls.iter().filter(|c| c.bytes > 0);
    moving.map(|c| (c.op, name(c.file), c.offset, c.bytes)).collect()
}

/// The same in virtual time.
fn virtually(workload: &Workload) -> Vec<Done> {
    let profile = devices::by_name("ssd-generic").expect("a device");
    let host = host::shipped("today").expect("a host");
    let setup = Setup {
        limits: Limits::LOOP_618,
        host,
        device: Box::new(profile.build().expect("a device")),
        device_name: "ssd".into(),
        scheduler: "none".into(),
        readahead: "modern".into(),
        stack: Stack::Full,
        indirect_in_memory: false,
        stop: fathom_sim::never,
    };
    let (out, noted) = simulate_noting(workload, setup, 1 << 16).expect("simulates");
    assert!(out.phases[0][0].error().is_none());
    let name = |set: u32, file: u32| {
        let path = workload.filesets[set as usize].files.path(file.into()).expect("a path");
        path.file_name().expect("a name").to_string_lossy().into_owned()
    };
    let moving = noted.iter().filter(|c| c.bytes > 0 && matches!(c.op, OpKind::Read | OpKind::Write));
    moving.map(|c| (c.op, name(c.set, c.file), c.offset, c.bytes)).collect()
}

/// Operations of one thread that draw all that can be drawn.
const DRAWN: &str = r#"
[variables.size]
shape = { uniform = { low = 1.0, high = 9000.0 } }
generator = "seeded"
[variables.common]
shape = { exponential = { mean = 5.0 } }
generator = { rand48 = 17 }
"#;

fn workload(dir: &std::path::Path, offsets: &str, memory: &str) -> Workload {
    let set = |name: &str| {
        format!(
            "[[fileset]]\nname = \"{name}\"\nexisting = \"replace\"\nfiles = {{ numbered = {{ prefix = \"{}\", count = 7 }} }}\nsize = {{ fixed = \"100KiB\" }}\n",
            dir.join(name).display()
        )
    };
    let ops = [
        "{ name = \"open\", act = \"open\", fileset = \"a\", slot = 1 }",
        "{ name = \"read\", act = \"read\", slot = 1, size = { variable = \"size\" }, random = true, repeat = { variable = \"common\" } }",
        "{ name = \"next\", act = \"read\", slot = 1, size = 30000, repeat = 5 }",
        "{ name = \"close\", act = \"close\", slot = 1 }",
        "{ name = \"write\", act = \"write\", fileset = \"b\", size = 4096, random = true, working_set = \"32KiB\", repeat = 3 }",
        "{ name = \"turn\", act = \"read-whole-file\", fileset = \"a\", rotate = true, size = { variable = \"size\" }, repeat = 2 }",
        "{ name = \"pick\", act = \"open\", fileset = \"a\", slot = 2, entry = { variable = \"common\" } }",
        "{ name = \"whole\", act = \"read-whole-file\", slot = 2, size = \"64KiB\" }",
        "{ name = \"shut\", act = \"close\", slot = 2 }",
        "{ name = \"end\", act = \"append-random-length\", fileset = \"b\", slot = 3, size = 5000, repeat = 4 }",
        "{ name = \"safe\", act = \"sync\", slot = 3 }",
    ];
    let text = format!(
        "name = \"drawn\"\nseed = \"0x99\"\n{DRAWN}{}{}[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n{memory}\n\
         [phase.group.thread.program.flow]\nloops = 6\n{offsets}\nop = [{}]\n",
        set("a"),
        set("b"),
        ops.join(", ")
    );
    Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn one_thread_does_the_same_for_real_and_in_virtual_time() {
    for offsets in ["", "offsets = { mt19937 = 4357 }"] {
        for memory in ["", "memory = \"1MiB\""] {
            let dir = TestDir::new();
            let w = workload(dir.path(), offsets, memory);
            let (real, virtually) = (real(&w), virtually(&w));
            assert!(real.len() > 80, "{}", real.len());
            assert_eq!(real, virtually, "{offsets} {memory}");
        }
    }
}

#[test]
fn several_threads_have_the_same_rows() {
    let dir = TestDir::new();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let tree = format!("tree = {{ root = \"{}\", entries = 60, width = {{ fixed = \"7\" }} }}", path("tree"));
    let list = format!("numbered = {{ prefix = \"{}\", count = 60 }}", path("list/f."));
    for files in [tree, list] {
        have_the_same_rows(&dir, &files);
    }
}

fn have_the_same_rows(dir: &TestDir, files: &str) {
    let text = format!(
        "name = \"several\"\nseed = \"0x5\"\n[[fileset]]\nname = \"t\"\nexisting = \"replace\"\nsize = {{ fixed = \"16KiB\" }}\npreallocated_percent = 50\n\
         files = {{ {files} }}\nmake_directories = true\n\
         [[phase]]\nname = \"p\"\nbefore = [{{ prepare = \"t\" }}]\n[[phase.group]]\nname = \"g\"\ninstances = 2\nisolation = \"process\"\n[[phase.group.thread]]\ninstances = 2\n\
         [phase.group.thread.program.flow]\nloops = 25\nop = [\
         {{ name = \"create\", act = \"create\", fileset = \"t\", slot = 1 }}, {{ name = \"write\", act = \"write-whole-file\", slot = 1 }}, \
         {{ name = \"sync\", act = \"sync\", slot = 1 }}, {{ name = \"close\", act = \"close\", slot = 1 }}, \
         {{ name = \"stat\", act = \"stat\", fileset = \"t\", repeat = 3 }}, {{ name = \"drop\", act = \"delete\", fileset = \"t\", slot = 1 }}]\n"
    );
    let fathom = Fathom::new();
    let path = dir.path().join("w.toml");
    std::fs::write(&path, text).expect("writes");
    let path = path.to_str().expect("UTF-8");
    let run = |args: &[&str]| -> Value {
        let outcome = fathom.run(args).expect_code(0);
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
    };
    let (real, simulated) =
        (run(&["run", path, "--json", "--no-store"]), run(&["sim", "run", path, "--json", "--no-store"]));
    // Operations, bytes, class and kind of every row, and the statistics' kinds; durations are the machine's.
    let told = |run: &Value| -> Vec<String> {
        let workers = run["phases"][0]["repetitions"][0]["workers"].as_array().expect("workers");
        let row =
            |r: &Value| format!("{} {} {} {} {}", r["name"], r["class"], r["kind"], r["ops"], r["bytes"]);
        let stat = |s: &Value| format!("{} {} {}", s["op"], s["ops"], s["bytes"]);
        let of = |w: &Value| {
            let rows = w["rows"].as_array().expect("rows").iter().map(row);
            let stats = w["stats"].as_array().expect("statistics").iter().map(stat);
            rows.chain(stats)
                .chain([format!("{} {} {}", w["group"], w["ops"], w["bytes"])])
                .collect::<Vec<_>>()
        };
        workers.iter().flat_map(of).collect()
    };
    assert_eq!(told(&real), told(&simulated));
}
