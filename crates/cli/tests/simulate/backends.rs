//! I/O of IOzone, sysbench and fio that is not one call per operation: it is simulated, with the requested operations and bytes; anything
//! else is refused with a message in the terms of that program.

use fathom_testkit::Fathom;
use serde_json::Value;

fn record(fathom: &Fathom, line: &str) -> Value {
    let outcome = fathom.run_line(line).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

/// Of every phase: its name, and operations and bytes of all workers.
fn done(run: &Value) -> Vec<(String, u64, u64)> {
    let of = |phase: &Value| {
        let workers = phase["repetitions"][0]["workers"].as_array().expect("workers");
        let sum = |key: &str| workers.iter().map(|w| w[key].as_u64().expect("a number")).sum::<u64>();
        (phase["name"].as_str().expect("a name").to_owned(), sum("ops"), sum("bytes"))
    };
    run["phases"].as_array().expect("phases").iter().map(of).collect()
}

#[test]
fn iozones_standard_run_is_simulated_with_all_its_phases() {
    let fathom = Fathom::new();
    let run = record(&fathom, "sim run --json --no-store -- iozone -a -s 256k -r 64k");
    let done = done(&run);
    for phase in ["fwrite", "frewrite", "fread", "freread"] {
        let found = done.iter().find(|(name, ..)| name == phase);
        assert_eq!(found.map(|&(_, ops, bytes)| (ops, bytes)), Some((4, 262_144)), "{phase}: {done:?}");
    }
}

#[test]
fn other_programs_ways_are_simulated_too() {
    let fathom = Fathom::new();
    for line in [
        "iozone -i 0 -i 1 -r 4k -s 256k -B",
        "iozone -i 0 -i 1 -i 2 -r 4k -s 256k -B -G",
        "iozone -i 0 -i 1 -r 4k -s 256k -p",
        "iozone -i 0 -i 1 -r 4k -s 256k -K",
        "fio --name=a --size=1m --rw=randrw --ioengine=libaio --iodepth=8",
        "fio --name=a --size=1m --rw=randread --ioengine=io_uring --iodepth=8",
        "fio --name=a --size=1m --rw=write --ioengine=mmap",
    ] {
        let done = done(&record(&fathom, &format!("sim run --json --no-store -- {line}")));
        assert!(!done.is_empty() && done.iter().all(|d| d.2 == d.1 * 4096 && d.1 >= 64), "{line}: {done:?}");
    }
    for mode in ["async", "mmap"] {
        let line = format!(
            "sim run --json --no-store -- sysbench --test=fileio --file-total-size=8M --file-num=4 --file-test-mode=rndrd \
             --file-io-mode={mode} --max-requests=100 run"
        );
        let done = done(&record(&fathom, &line));
        assert!(done.iter().any(|d| (d.1, d.2) == (100, 100 * 16_384)), "{mode}: {done:?}");
    }
}

#[test]
fn a_run_that_ends_when_it_is_steady_is_simulated() {
    let fathom = Fathom::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/steady-state-pts.toml");
    let outcome = fathom.run(["sim", "run", "--json", "--no-store", file]).expect_code(0);
    let run: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let steady = &run["phases"][1]["repetitions"][0]["steady"];
    let rounds = steady["rounds"].as_array().expect("rounds");
    assert!(steady["asked"] == true && (5..=20).contains(&rounds.len()), "{steady}");
}

#[test]
fn what_is_refused_names_options_of_the_program() {
    let fathom = Fathom::new();
    for (line, told) in [
        ("iozone -i 0 -r 4k -s 256k -W", "IOzone: -W"),
        ("iozone -i 0 -r 4k -s 256k -B -+A 4", "IOzone: -+A 4"),
        ("fio --name=a --size=1m --ioengine=null", "fio: any other ioengine"),
    ] {
        let _ = fathom.run_line(&format!("sim run --no-store -- {line}")).expect_code(2).expect_stderr(told);
    }
}
