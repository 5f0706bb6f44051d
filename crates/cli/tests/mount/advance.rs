//! What a mount reads before it is asked: directories within a budget, and small files behind one that is opened in its turn; in which order
//! directories show their entries; and that each of it is counted.

use crate::mount::support::{Mounted, can_mount, disc, noise};
use fathom_testkit::Fathom;
use serde_json::Value;
use std::fs;

/// Goes through a directory in the order in which it shows its files, reads them, and gives their names with what was counted.
fn gone_through(options: &[&str]) -> (Vec<String>, Value) {
    let always = ["--counters", "--policy", "modern"];
    let options: Vec<&str> = always.into_iter().chain(options.iter().copied()).collect();
    let mut mount = Mounted::new(&disc(), &options);
    let mut names = Vec::new();
    for entry in fs::read_dir(mount.on.join("many")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let number: usize = name.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(fs::read(entry.path()).unwrap() == noise(number * 37), "{name}");
        names.push(name);
    }
    assert_eq!(names.len(), 300);
    mount.signal(libc::SIGINT);
    let outcome = mount.finish().expect_code(0);
    let counted = outcome.stderr.lines().find(|line| line.starts_with('{')).expect("counters");
    (names, serde_json::from_str(counted).unwrap())
}

#[test]
fn what_is_read_in_advance_is_counted() {
    if !can_mount("what_is_read_in_advance_is_counted") {
        return;
    }
    let count = |counted: &Value, name: &str| counted[name].as_u64().unwrap();
    let (names, plain) = gone_through(&[]);
    for name in ["directories_in_advance", "directory_requests", "pages_of_small_files"] {
        assert_eq!(plain[name], 0, "{name}");
    }
    assert!(count(&plain, "cache_bytes") <= count(&plain, "cache_limit_bytes"));
    assert_eq!(plain["cache_limit_bytes"], 64 << 20);
    let (sorted, counted) = gone_through(&[
        "--metadata",
        "64MiB",
        "--small-files",
        "64KiB",
        "--dir-order",
        "name",
        "--cache-size",
        "2MiB",
    ]);
    assert!(sorted.is_sorted());
    assert_eq!(counted["cache_limit_bytes"], 2 << 20);
    assert!(count(&counted, "directories_in_advance") >= 3, "{counted}");
    assert!(count(&counted, "directory_requests") >= 1, "{counted}");
    assert!(count(&counted, "pages_of_small_files") > 100, "{counted}");
    assert!(count(&counted, "requests") < count(&plain, "requests"), "{plain}\n{counted}");
    let mut other = names;
    other.sort();
    assert_eq!(other, sorted, "the same files");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), disc()).unwrap();
    let refused = |options: &[&str], why: &str| {
        let outcome = fathom.run(["mount"].iter().chain(options).chain(&["disc.iso", "on"])).expect_code(2);
        assert!(outcome.stderr.contains(why), "{options:?}: {}", outcome.stderr);
    };
    refused(&["--small-files", "64KiB"], "without --policy the kernel caches contents");
    refused(&["--policy", "seed", "--small-files", "1GiB"], "small files of 1073741824 bytes");
    refused(&["--policy", "seed", "--promote", "on"], "asks for an elevator that knows classes");
    refused(&["--coalesce", "off", "--bridge", "32KiB"], "which --coalesce off forbids");
    refused(&["--bridge", "2MiB"], "a hole of 2097152 bytes");
    refused(&["--dir-order", "size"], "possible values: lbn, disk, name");
}
