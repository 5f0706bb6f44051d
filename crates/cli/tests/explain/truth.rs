//! Disk or cache? On our own ext4, where the right answer is known.

use crate::measure::workloads::{Text, last_run};
use fathom_testkit::{Fathom, LoopFs, TestDir, TmpFs, sqlite3};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

const PAGE_CACHE: &str = "page cache";
const DEVICE: &str = "device";

/// An ext4 whose image is on a disk and accessed with O_DIRECT: otherwise everything would run at memory speed,
/// whatever the loop device says.
fn disk(test: &str) -> Option<LoopFs> {
    if TestDir::new().in_memory() {
        fathom_testkit::skip(test, "needs a directory on a real file system");
        return None;
    }
    LoopFs::ext4(test).mebibytes(96).direct_io().mount()
}

/// Regime of every phase of the newest run, from the CSV, which is made from the record rather than the store's
/// columns.
fn regimes(fathom: &Fathom) -> BTreeMap<String, String> {
    let csv = fathom.run(["export", "last", "--format", "csv"]).expect_code(0).stdout;
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let column =
        |name: &str| head.iter().position(|h| *h == name).unwrap_or_else(|| panic!("no column {name}"));
    let (phase, regime) = (column("phase"), column("regime"));
    lines
        .map(|l| l.split(',').collect::<Vec<_>>())
        .map(|fields| (fields[phase].to_owned(), fields[regime].to_owned()))
        .collect()
}

/// The view `result` must agree with the record.
fn regimes_of_the_store(fathom: &Fathom) -> Option<BTreeMap<String, String>> {
    let query = "SELECT DISTINCT phase, regime FROM result WHERE run_id = (SELECT max(id) FROM run)";
    let rows = sqlite3(&fathom.store(), query)?;
    Some(rows.lines().filter_map(|l| l.split_once('|')).map(|(p, r)| (p.into(), r.into())).collect())
}

#[track_caller]
fn expect(fathom: &Fathom, wanted: &[(&str, &str)]) {
    let found = regimes(fathom);
    for (phase, regime) in wanted {
        let evidence = || {
            let run = last_run(fathom);
            let phases = run["phases"].as_array().cloned().unwrap_or_default();
            phases.iter().filter(|p| p["name"] == *phase).map(|p| physical(p).to_string()).collect::<String>()
        };
        assert_eq!(found.get(*phase).map(String::as_str), Some(*regime), "{phase}: {}", evidence());
    }
    if let Some(stored) = regimes_of_the_store(fathom) {
        assert_eq!(stored, found, "the store and the record tell the same");
    }
}

fn physical(phase: &Value) -> &Value {
    &phase["repetitions"][0]["physical"]
}

#[test]
fn iozone_buffered_writes_are_the_page_caches_and_with_e_the_devices() {
    let Some(fs) = disk("iozone_buffered_writes_are_the_page_caches_and_with_e_the_devices") else { return };
    let fathom = Fathom::new().working_in(fs.path());
    // A sync(2) by another process makes part of it the device's in truth; not five times in a row.
    let once = || {
        let outcome = fathom.run_line("iozone -s 16m -r 256k -i 0 -i 1").expect_code(0);
        let found = regimes(&fathom);
        (outcome, found.values().all(|regime| regime == PAGE_CACHE))
    };
    let (outcome, _) = (0..5).map(|_| once()).find(|(_, cached)| *cached).expect("once in five the cache's");
    expect(
        &fathom,
        &[("write", PAGE_CACHE), ("rewrite", PAGE_CACHE), ("read", PAGE_CACHE), ("reread", PAGE_CACHE)],
    );
    assert!(
        outcome.stderr.contains("4 page cache; page-cache figures are memory's speed"),
        "{}",
        outcome.stderr
    );
    let shown = fathom.run(["show"]).expect_code(0).stdout;
    assert!(shown.contains("page cache: 4 of 4"), "{shown}");

    let outcome = fathom.run_line("iozone -e -s 16m -r 256k -i 0 -i 1").expect_code(0);
    expect(&fathom, &[("write", DEVICE), ("rewrite", DEVICE), ("read", PAGE_CACHE), ("reread", PAGE_CACHE)]);
    assert!(outcome.stderr.contains("2 device, 2 page cache"), "{}", outcome.stderr);
}

#[test]
fn iozone_direct_io_is_the_devices() {
    let Some(fs) = disk("iozone_direct_io_is_the_devices") else { return };
    let fathom = Fathom::new().working_in(fs.path());
    let outcome = fathom.run_line("iozone -I -s 16m -r 256k -i 0 -i 1 -i 2").expect_code(0);
    let all = ["write", "rewrite", "read", "reread", "random read", "random write"];
    expect(&fathom, &all.map(|phase| (phase, DEVICE)));
    assert!(!outcome.stderr.contains("memory's speed"), "{}", outcome.stderr);
}

#[test]
fn direct_io_on_a_loop_device_whose_image_is_cached_is_the_page_caches() {
    let name = "direct_io_on_a_loop_device_whose_image_is_cached_is_the_page_caches";
    if TestDir::new().in_memory() {
        return fathom_testkit::skip(name, "needs a directory on a real file system");
    }
    let Some(fs) = LoopFs::ext4(name).mebibytes(96).mount() else { return };
    let fathom = Fathom::new().working_in(fs.path());
    // Reads of other programs from the disk below cannot be distinguished from the image's; not five times in a row.
    let once = || {
        let outcome = fathom.run_line("iozone -I -s 16m -r 256k -i 0 -i 1").expect_code(0);
        let found = regimes(&fathom);
        (outcome, found["read"] == PAGE_CACHE && found["reread"] == PAGE_CACHE)
    };
    let (outcome, _) = (0..5).map(|_| once()).find(|(_, cached)| *cached).expect("once in five the cache's");
    expect(&fathom, &[("read", PAGE_CACHE), ("reread", PAGE_CACHE)]);
    assert!(outcome.stderr.contains("memory's speed"), "{}", outcome.stderr);
    let run = last_run(&fathom);
    let read = run["phases"].as_array().and_then(|p| p.iter().find(|p| p["name"] == "read")).expect("a read");
    let devices = physical(read)["devices"].as_array().expect("devices");
    assert_eq!((&devices[0]["kind"], &devices[0]["level"]), (&"loop".into(), &0.into()));
    assert!(devices[0]["read_bytes"].as_u64().is_some_and(|n| n >= 16 << 20), "{devices:?}");
    assert_eq!(devices[1]["level"], 1, "{devices:?}");
    if let Some(evidence) = sqlite3(&fathom.store(), "SELECT evidence FROM repetition") {
        assert!(evidence.contains("its backing file lies in the page cache"), "{evidence}");
    }
}

#[test]
fn a_loop_device_in_memory_is_memory() {
    let name = "a_loop_device_in_memory_is_memory";
    let Some(outer) = TmpFs::mount(name, 64 << 20) else { return };
    let Some(fs) = LoopFs::ext4(name).mebibytes(32).image_in(outer.path()).mount() else { return };
    let fathom = Fathom::new().working_in(fs.path());
    let _ = fathom.run_line("iozone -e -s 4m -r 256k -i 0").expect_code(0);
    expect(&fathom, &[("write", "memory file system")]);
}

#[test]
fn cached_evicted_and_direct_reads_are_told_apart() {
    let Some(fs) = disk("cached_evicted_and_direct_reads_are_told_apart") else { return };
    let fathom = Fathom::new();
    let prepared = |then: &str| format!("before = [{{ prepare = \"data\" }}, {{ {then} = \"data\" }}]");
    let record = "record = { fixed = \"256KiB\" }";
    let text = Text::new("reads")
        .file("data", &fs.path().join("data"), "16MiB", "existing = \"reuse\"")
        .phase("cached read", "data", "read", &prepared("warm"), record)
        .phase("evicted read", "data", "read", &prepared("evict"), record)
        .phase(
            "direct read",
            "data",
            "read",
            &prepared("evict"),
            &format!("{record}\nopen = {{ direct = true }}"),
        )
        .phase("O_DSYNC write", "data", "write", "", &format!("{record}\nopen = {{ sync = \"dsync\" }}"));
    let workload = text.save(&fathom);
    let outcome = fathom.run(["run", workload.to_str().expect("UTF-8"), "--json"]).expect_code(0);
    expect(
        &fathom,
        &[
            ("cached read", PAGE_CACHE),
            ("evicted read", DEVICE),
            ("direct read", DEVICE),
            ("O_DSYNC write", DEVICE),
        ],
    );
    let run: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let name = fs.device().file_name().and_then(|n| n.to_str()).expect("a loop device");
    for phase in run["phases"].as_array().expect("phases") {
        assert_eq!(physical(phase)["devices"][0]["name"], name, "the file system's own device comes first");
    }
    let evicted = &run["phases"][1]["repetitions"][0];
    assert_eq!(evicted["resident_before"]["cached_pages"], 0, "evicted is evicted");
    let read = evicted["physical"]["devices"][0]["read_bytes"].as_u64().expect("a counter");
    assert!((16 << 20..20 << 20).contains(&read), "{read} bytes read for 16 MiB");
    let cached = &run["phases"][0]["repetitions"][0];
    assert_eq!(cached["cache"], "warm", "a step read it for that");
    assert_eq!(cached["resident_before"]["cached_pages"], cached["resident_before"]["total_pages"]);
}

#[test]
fn a_neighbours_writes_do_not_turn_a_cache_number_into_a_device_number() {
    let name = "a_neighbours_writes_do_not_turn_a_cache_number_into_a_device_number";
    let Some(fs) = disk(name) else { return };
    let _alone = SYNCS.lock().unwrap_or_else(PoisonError::into_inner);
    let fathom = Fathom::new();
    // At least a tenth of a second, so that the neighbour's megabytes are written meanwhile.
    let text = Text::new("two tenants").file("data", &fs.path().join("data"), "1MiB", "").phase(
        "buffered write",
        "data",
        "write",
        "",
        "record = { fixed = \"64KiB\" }\nopen = { create = true }\npace = { rate = { operations_per_s = 40.0 } }",
    );
    let workload = text.save(&fathom);
    // A sync(2) by another process makes it the device's in truth; not five times in a row.
    let verdicts: Vec<String> = (0..5).map(|_| beside_a_neighbour(&fathom, &fs, &workload)).collect();
    assert!(verdicts.iter().any(|v| v == PAGE_CACHE), "{verdicts:?}");
}

/// Held by tests that must not see the whole machine synced, and by those that do it repeatedly, as IOzone does before
/// each test.
static SYNCS: Mutex<()> = Mutex::new(());

/// Stops the neighbour, even if the test panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A record rewritten again and again stays in memory, faster than any device. Small files once took a neighbour's
/// writes for their own: "writes 1.51 GiB/s to 17.4 GiB/s" were called the device's own.
#[test]
fn a_neighbours_writes_do_not_make_rewrites_in_memory_the_devices() {
    let name = "a_neighbours_writes_do_not_make_rewrites_in_memory_the_devices";
    let Some(fs) = disk(name) else { return };
    let _alone = SYNCS.lock().unwrap_or_else(PoisonError::into_inner);
    let fathom = Fathom::new().working_in(fs.path());
    let over = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| write_to_the_device(&fs.path().join("neighbour"), &over));
        let _ends = Ends(&over);
        let once = |_| {
            let outcome = fathom.run_line("iozone -s 512k -r 16k -i 0 -i 4");
            (outcome, regimes(&fathom).remove("record rewrite"))
        };
        (0..10).map(once).collect::<Vec<_>>()
    });
    for (outcome, regime) in found {
        let _ = outcome.expect_code(0);
        assert_eq!(regime.as_deref(), Some(PAGE_CACHE));
    }
}

/// The regime of a megabyte written while the neighbour writes hundreds.
fn beside_a_neighbour(fathom: &Fathom, fs: &LoopFs, workload: &Path) -> String {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| write_to_the_device(&fs.path().join("neighbour"), &over));
        let outcome = fathom.run(["run", workload.to_str().expect("UTF-8")]);
        over.store(true, Ordering::Relaxed);
        let _ = outcome.expect_code(0);
    });
    let run = last_run(fathom);
    let physical = physical(&run["phases"][0]);
    let device = physical["devices"][0]["write_bytes"].as_u64().expect("a counter");
    assert!(device > 1 << 20, "the neighbour was too slow for this test: {device} bytes");
    let ours = physical["written_in_clock_bytes"].as_u64().expect("a counter");
    assert!(ours <= 1 << 20, "{ours} bytes of 1 MiB are called ours");
    regimes(fathom).remove("buffered write").expect("the only phase")
}

/// Writes the same MiB past the cache again and again, in a file that is there already: it has nothing to do with anybody's
/// dirty pages, as an fsync would through the journal.
fn write_to_the_device(path: &Path, over: &AtomicBool) {
    let failed = |e: std::io::Error| -> ! { panic!("{}: {e}", path.display()) };
    std::fs::write(path, vec![7u8; 1 << 20]).unwrap_or_else(|e| failed(e));
    let opened = OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).open(path);
    let file = opened.unwrap_or_else(|e| failed(e));
    file.sync_all().unwrap_or_else(|e| failed(e));
    let memory = vec![7u8; (1 << 20) + 4096];
    let aligned = memory.as_ptr().align_offset(4096);
    while !over.load(Ordering::Relaxed) {
        file.write_all_at(&memory[aligned..aligned + (1 << 20)], 0).unwrap_or_else(|e| failed(e));
    }
}
