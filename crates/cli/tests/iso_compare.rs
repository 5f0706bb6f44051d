//! `fathom iso compare`: every policy gets the same reads, results are reported as its own requests and as the
//! device's, and what needs root is named.

use fathom_testkit::iso::Builder;
use fathom_testkit::{Fathom, need_root, skip};
use serde_json::Value;
use std::fs;
use std::path::Path;

const BYTES: u64 = 1_000_000;

/// A program with "disc.iso" in its working directory: four files of a megabyte each.
fn with_image() -> Fathom {
    let data: Vec<u8> = (0..BYTES).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8).collect();
    let mut builder = Builder::new();
    for name in ["a", "b", "dir/c", "dir/d"] {
        builder = builder.file(name, &data);
    }
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), builder.build().bytes).unwrap();
    fathom
}

fn compared(fathom: &Fathom, options: &[&str]) -> Value {
    let args = ["iso", "compare", "--json", "disc.iso"].iter().chain(options);
    let outcome = fathom.run(args).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn row<'v>(compared: &'v Value, load: &str, policy: &str) -> &'v Value {
    let rows = compared["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["load"] == load && row["policy"] == policy)
        .unwrap_or_else(|| panic!("{compared:#}"))
}

#[test]
fn every_policy_is_asked_for_the_same() {
    let fathom = with_image();
    let compared = compared(&fathom, &["--no-loop", "--rounds", "2", "--amount", "900KiB"]);
    assert_eq!((&compared["schema"], &compared["rounds"]), (&"fathom-iso-compare/1".into(), &2.into()));
    for (load, bytes) in
        [("sequential", 921_600), ("streams", 921_600), ("random", 64 * 8192), ("tree", 921_600)]
    {
        for policy in ["baseline", "seed", "modern"] {
            let runs = row(&compared, load, policy)["runs"].as_array().unwrap();
            assert_eq!(runs.len(), 2);
            for run in runs {
                assert_eq!(run["bytes"], bytes, "{load} {policy}");
                assert!(run["device"].is_null() && run["latency_ns_p99"].as_u64() > Some(0));
            }
        }
    }
    let requests =
        |policy| row(&compared, "sequential", policy)["runs"][0]["reader"]["requests"].as_u64().unwrap();
    assert_eq!(requests("baseline"), 450, "a request for each block of 2 KiB");
    assert!(requests("seed") < 225 && requests("modern") < 20, "{compared:#}");
}

#[test]
fn the_table_says_whose_figures_are_a_caches() {
    let fathom = with_image();
    let options = [
        "iso",
        "compare",
        "--no-loop",
        "--rounds",
        "1",
        "--loads",
        "sequential",
        "--policies",
        "seed,modern",
        "disc.iso",
    ];
    let text = fathom.run(options).expect_code(0).stdout;
    assert!(
        text.contains("\nsequential: ") && text.contains("\n  seed ") && text.contains("\n  modern "),
        "{text}"
    );
    assert!(!text.contains("baseline"), "{text}");
    assert!(
        ["the device, past the page cache", "The page cache stands", "lies in memory"]
            .iter()
            .any(|s| text.contains(s)),
        "{text}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let fathom = with_image();
    let refused = |options: &[&str], why: &str| {
        let args = ["iso", "compare", "disc.iso"].iter().chain(options);
        let _ = fathom.run(args).expect_code(2).expect_stderr(why);
    };
    refused(&["--direct"], "leave --direct out");
    refused(&["--record", "100B"], "from 512B to 64MiB");
    refused(&["--amount", "4KiB"], "less than one --record");
    refused(&["--no-loop", "--iops", "5"], "cannot be used with");
    refused(&["--policies", "old"], "possible values: baseline, seed, modern");
    let image = Builder::new().file("empty", b"").build().bytes;
    fs::write(fathom.work().join("empty.iso"), image).unwrap();
    fathom
        .run(["iso", "compare", "--no-loop", "empty.iso"])
        .expect_code(2)
        .expect_stderr("no file with content");
}

/// The device gets what the policy asked for, to the request, and is gone afterwards.
#[test]
fn on_a_loop_device_the_block_events_agree_with_the_reader() {
    let test = "on_a_loop_device_the_block_events_agree_with_the_reader";
    if !need_root(test) {
        return;
    }
    if !Path::new("/dev/loop-control").exists() || fathom_observe::block::availability().events.is_err() {
        return skip(test, "needs loop devices and the kernel's block events");
    }
    let fathom = with_image();
    let compared =
        compared(&fathom, &["--rounds", "1", "--loads", "sequential,streams", "--amount", "600KiB"]);
    let runs = compared["rows"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        let (reader, device) = (&run["runs"][0]["reader"], &run["runs"][0]["device"]);
        assert_eq!(device["events_lost"], 0);
        // A request that is longer than the device takes at once is cut by the kernel.
        assert!(device["requests"].as_u64() >= reader["requests"].as_u64(), "{run:#}");
        assert_eq!(device["bytes"], reader["request_bytes"], "{run:#}");
    }
    let baseline = row(&compared, "sequential", "baseline");
    assert_eq!(baseline["runs"][0]["device"]["requests"], 300);
    let image = fathom.work().join("disc.iso");
    let over = |block: &Path| {
        let text = fs::read_to_string(block.join("loop/backing_file")).unwrap_or_default();
        Path::new(text.trim()) == image
    };
    let begun = std::time::Instant::now();
    let left = || fs::read_dir("/sys/block").unwrap().flatten().any(|block| over(&block.path()));
    while left() && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(!left(), "the loop device is gone");
}

/// Held to few reads a second, a policy that makes fewer requests is faster, by about as much.
#[test]
fn a_device_that_is_held_back_shows_what_requests_cost() {
    let test = "a_device_that_is_held_back_shows_what_requests_cost";
    if !need_root(test) {
        return;
    }
    let fathom = with_image();
    let options = ["--rounds", "1", "--loads", "sequential", "--amount", "200KiB", "--iops", "200"];
    let args = ["iso", "compare", "--json", "disc.iso"].iter().chain(&options);
    let outcome = fathom.run(args);
    if outcome.code == Some(2) && outcome.stderr.contains("--iops:") {
        return skip(test, "no control group can hold a loop device back here");
    }
    let compared: Value = serde_json::from_str(&outcome.expect_code(0).stdout).unwrap();
    let wall = |policy| row(&compared, "sequential", policy)["runs"][0]["wall_ns"].as_u64().unwrap();
    // 100 requests at 200 a second; the group lets the first of a slice pass at once.
    assert!(wall("baseline") > 250_000_000, "{compared:#}");
    assert!(wall("modern") < wall("baseline") / 2, "{compared:#}");
}
