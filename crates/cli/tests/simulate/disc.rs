//! The optical drive, and what HSFS got in 2007: a sweep that joins adjacent reads, and read-ahead on hits. Through `fathom sim run`, on
//! the example that is shipped.

use fathom_testkit::Fathom;
use serde_json::Value;

/// The example under a scheduler and a read-ahead.
fn run(fathom: &Fathom, scheduler: &str, readahead: &str) -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/disc.toml");
    let args = ["sim", "run", file, "--host", "laptop-2007-hsfs", "--device", "dvd", "--no-store", "--json"];
    let outcome = fathom
        .run(args.into_iter().chain(["--scheduler", scheduler, "--readahead", readahead]))
        .expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

/// Bytes a second of a phase.
fn rate(run: &Value, phase: usize) -> f64 {
    let repetition = &run["phases"][phase]["repetitions"][0];
    let workers = repetition["workers"].as_array().expect("workers");
    let bytes: f64 = workers.iter().map(|w| w["bytes"].as_f64().expect("bytes")).sum();
    bytes / (repetition["elapsed_ns"].as_f64().expect("a time") / 1e9)
}

/// Reads of a phase by their sizes: (bytes, how many).
fn sizes(run: &Value, phase: usize) -> Vec<(u64, u64)> {
    let requests = &run["phases"][phase]["repetitions"][0]["block"]["devices"][0]["requests"][0];
    let sizes = requests["sizes"].as_array().expect("sizes").iter();
    sizes.map(|s| (s["bytes"].as_u64().expect("bytes"), s["count"].as_u64().expect("a count"))).collect()
}

#[test]
fn the_rework_of_2007_makes_transfers_of_16_kib_and_streams_faster() {
    let fathom = Fathom::new();
    let (before, after) = (run(&fathom, "noop", "none"), run(&fathom, "clook-hsfs", "hsfs"));
    assert!(sizes(&before, 0).iter().all(|s| s.0 <= 8192), "{:?}", sizes(&before, 0));
    let all: u64 = sizes(&after, 0).iter().map(|s| s.1).sum();
    let joined: u64 = sizes(&after, 0).iter().filter(|s| s.0 == 16_384).map(|s| s.1).sum();
    assert!(joined * 10 >= all * 9, "nine of ten are joined to the longest: {:?}", sizes(&after, 0));
    assert!(sizes(&after, 0).iter().all(|s| s.0 <= 16_384));
    for phase in [0, 1] {
        let gain = rate(&after, phase) / rate(&before, phase);
        assert!(gain > 1.3, "phase {phase}: {gain}");
    }
    let random = rate(&after, 2) / rate(&before, 2);
    assert!(random > 0.9, "random reads are not slower: {random}");
}

#[test]
fn a_simulated_disc_says_where_its_numbers_come_from() {
    let fathom = Fathom::new();
    let first = run(&fathom, "clook-hsfs,unlock_single=0", "hsfs,max=8");
    assert_eq!(first["simulation"]["scheduler"], "clook-hsfs,unlock_single=0");
    assert_eq!(first["simulation"]["readahead"], "hsfs,max=8");
    assert!(
        first["simulation"]["values"]["measured"].as_u64() > Some(3),
        "{}",
        first["simulation"]["values"]
    );
    let again = run(&fathom, "clook-hsfs,unlock_single=0", "hsfs,max=8");
    assert_eq!((&first["phases"], &first["simulation"]), (&again["phases"], &again["simulation"]));
}
