//! Jobs of fio in virtual time: the same operations as `fathom run` and `fathom fio` do of them, files that jobs share, and what a
//! simulation cannot know, since it looks at no file.

use fathom_testkit::Fathom;
use fathom_workload::{Program, Workload};
use serde_json::Value;

/// A mix in two clones, a log that is synced, a file that two jobs work on one after the other.
const JOBS: &str = "\
[global]
size=256k
bs=4k
[mixed]
rw=randrw
rwmixread=70
numjobs=2
[log]
rw=write
bs=16k
fdatasync=2
[again]
stonewall
filename=log.0.0
rw=randread
random_distribution=zipf:0.9
number_ios=20
[checked]
stonewall
rw=randwrite
verify=crc32c
";

fn record(fathom: &Fathom, line: &str) -> Value {
    let outcome = fathom.run_line(line).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

/// Of each worker of each phase: its kinds with their counts, and offset and length of every operation.
fn operations(run: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for phase in run["phases"].as_array().expect("phases") {
        for worker in phase["repetitions"][0]["workers"].as_array().expect("workers") {
            let kinds = worker["stats"].as_array().expect("statistics").iter();
            let kinds: Vec<String> = kinds
                .filter(|s| ["read", "write", "sync"].contains(&s["op"].as_str().unwrap_or("")))
                .map(|s| format!("{} {} {}", s["op"], s["ops"], s["bytes"]))
                .collect();
            let log = worker["op_log"].as_array().map(Vec::as_slice).unwrap_or_default();
            let log: Vec<String> = log.iter().map(|o| format!("{}+{}", o["offset"], o["bytes"])).collect();
            all.push(format!("{} {}: {kinds:?} {log:?}", phase["name"], worker["group"]));
        }
    }
    all
}

/// The workload of a record, which writes down what it does.
fn logging(run: &Value) -> String {
    let mut workload = Workload::from_toml(run["workload"].as_str().expect("a text")).expect("a workload");
    let groups = workload.phases.iter_mut().flat_map(|p| &mut p.groups);
    for thread in groups.flat_map(|g| &mut g.threads) {
        if let Program::Stream(stream) = &mut thread.program {
            stream.log_operations = true;
        }
    }
    workload.to_toml().expect("a text")
}

#[test]
fn a_job_file_gives_the_same_operations_for_real_and_in_virtual_time() {
    let fathom = Fathom::new();
    let at = |name: &str| fathom.work().join(name);
    std::fs::write(at("jobs.fio"), JOBS).expect("writes");
    // Simulate first: no files exist yet, and the simulation must not create any.
    let simulated = record(&fathom, "sim run jobs.fio --json --no-store");
    assert_eq!(std::fs::read_dir(fathom.work()).expect("a directory").count(), 1);
    let real = record(&fathom, "run jobs.fio --json --no-store");
    let by_line = record(&fathom, "sim run --json --no-store -- fio jobs.fio");
    for run in [&simulated, &real, &by_line] {
        assert_eq!(run["dialect"], "fio");
    }
    // The note names the job file as it was found, so it is left out of the comparison.
    let plain = |run: &Value| {
        let mut workload =
            Workload::from_toml(run["workload"].as_str().expect("a text")).expect("a workload");
        workload.note.clear();
        workload.to_toml().expect("a text")
    };
    assert_eq!(plain(&real), plain(&simulated));
    assert_eq!(plain(&real), plain(&by_line));
    assert_eq!(operations(&real), operations(&simulated));
    assert_eq!(operations(&real).len(), 6, "{:?}", operations(&real));

    std::fs::write(at("logging.toml"), logging(&simulated)).expect("writes");
    let (real, simulated) = (
        record(&fathom, "run logging.toml --json --no-store"),
        record(&fathom, "sim run logging.toml --json --no-store"),
    );
    assert!(operations(&real).iter().all(|w| w.matches('+').count() >= 16), "{:?}", operations(&real));
    assert_eq!(operations(&real), operations(&simulated));
}

#[test]
fn jobs_that_name_one_file_work_on_one_file() {
    let fathom = Fathom::new();
    let read = |second: &str| {
        let line = format!(
            "sim run --json --no-store --scheduler none -- fio --size=8m --bs=64k --rw=read --filename=a --name=x {second}"
        );
        let run = record(&fathom, &line);
        let phases = run["phases"].as_array().expect("phases").clone();
        let read_bytes = |p: &Value| {
            let devices = &p["repetitions"][0]["physical"]["devices"];
            devices[0]["read_bytes"].as_u64().expect("a number") >> 20
        };
        phases.iter().map(read_bytes).collect::<Vec<_>>()
    };
    // Side by side and read once; in two files each reads its own.
    assert_eq!(read("--name=y"), [8]);
    assert_eq!(read("--name=y --filename=b"), [16]);
    // One after the other, and the second finds in memory what the first has read, unless it asks for a cold start.
    assert_eq!(read("--name=y --stonewall --invalidate=0"), [8, 0]);
    assert_eq!(read("--name=y --stonewall"), [8, 8]);
    // They need the room of one: two of 25 GiB do not fit on this device.
    let large = "sim run --no-store --device deskstar-60gxp -- fio --size=25g --number_ios=10 --rw=randread --filename=a --name=x --name=y";
    let _ = fathom.run_line(large).expect_code(0);
    let _ = fathom.run_line(&format!("{large} --filename=b")).expect_code(2).expect_stderr("larger device");
}

#[test]
fn a_trace_is_named_from_the_working_directory() {
    let fathom = Fathom::new();
    let log = "fio version 3 iolog\n0 f add\n0 f open\n1 f read 0 4096\n2 f read 8192 4096\n3 f close\n";
    std::fs::write(fathom.work().join("t.log"), log).expect("writes");
    std::fs::write(fathom.work().join("t.fio"), "[r]\nread_iolog=t.log\n").expect("writes");
    for line in ["sim run t.fio --json --no-store", "sim run --json --no-store -- fio t.fio"] {
        let run = record(&fathom, line);
        assert_eq!(run["phases"][0]["repetitions"][0]["workers"][0]["ops"], 2, "{line}");
    }
}

#[test]
fn what_a_simulation_cannot_know_or_print_is_refused() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("there"), vec![0; 1 << 20]).expect("writes");
    for (line, told) in [
        ("--name=a --filename=there --size=50%", "a simulation begins without files, and looks for none"),
        ("--name=a --filename=there", "a simulation begins without files, and looks for none"),
        ("--name=a --size=1m --rw=raed", "raed"),
        ("--name=a --size=1m --ioengine=null", "the back-end null"),
        ("--name=a --size=1m --output-format=json", "nothing is printed here as fio prints it"),
        ("--help", "a job is expected"),
        ("-", "a job file of a name is expected"),
    ] {
        let stderr = fathom.run_line(&format!("sim run --no-store -- fio {line}")).expect_code(2).stderr;
        assert!(stderr.contains(told), "{line}: {stderr}");
        let asked = told.starts_with("a simulation");
        assert_eq!(stderr.contains("a simulation begins without files"), asked, "{line}: {stderr}");
    }
    // For real the file is there.
    let _ = fathom.run_line("fio --name=a --filename=there --size=50% --bs=64k").expect_code(0);
}

#[test]
fn a_sweep_puts_values_into_the_arguments_and_leaves_variables_alone() {
    let fathom = Fathom::new();
    let line = "sim sweep --vary bs=4k,64k --no-store --json -- fio --name=a --size=1m --filename_format=$jobname.${x} --bs={bs}";
    let sweep: Value = serde_json::from_str(&fathom.run_line(line).expect_code(0).stdout).expect("JSON");
    assert_eq!(sweep["runs"].as_array().expect("runs").len(), 2);
    // The host says what $mb_memory is.
    let memory = |host: &str| {
        let line = format!("sim run --host {host} --json --no-store -- fio memory.fio");
        let run = record(&fathom, &line);
        run["phases"][0]["repetitions"][0]["workers"][0]["bytes"].as_u64().expect("a number")
    };
    let text = "[a]\nrw=read\nbs=$mb_memoryk\n";
    std::fs::write(fathom.work().join("memory.fio"), format!("{text}size=64m\nnumber_ios=1\n"))
        .expect("writes");
    assert_ne!(memory("today"), memory("athlon-2004-linux-2.6"));
}
