//! Was there anything to read? Holes and unwritten extents are filled in our files, reported in others, and left on
//! request; the page cache at the start is as the workload wanted it.

use crate::measure::workloads::{Text, last_run};
use fathom_testkit::{Fathom, TestDir, skip};
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

const MIB: u64 = 1 << 20;
const RECORD: &str = "record = { fixed = \"64KiB\" }";

fn phase(run: &Value, name: &str) -> Value {
    let phases = run["phases"].as_array().expect("phases");
    let phase = phases.iter().find(|p| p["name"] == name).unwrap_or_else(|| panic!("no phase {name}"));
    phase["repetitions"][0].clone()
}

/// (checked, holes, unwritten, filled) of a phase; `None`, with the skip recorded, if the file system does not report
/// extents.
fn extents(test: &str, run: &Value, name: &str) -> Option<[u64; 4]> {
    let told = &phase(run, name)["extents"];
    if told.is_null() {
        skip(test, "the file system does not tell holes from data");
        return None;
    }
    let of = |key: &str| told[key].as_u64().unwrap_or_else(|| panic!("no {key} in {told}"));
    Some(["bytes", "hole_bytes", "unwritten_bytes", "filled_bytes"].map(of))
}

fn measure(fathom: &Fathom, text: &Text) -> Value {
    let workload = text.save(fathom);
    let outcome = fathom.run(["run", "--json", workload.to_str().expect("UTF-8")]).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

/// Writes the last of 4 MiB, then reads all of them.
fn last_part_only(fathom: &Fathom, read: &str) -> Text {
    let part = format!("{RECORD}\nstart = \"3MiB\"\nopen = {{ create = true }}\nsync_after = true");
    Text::new("holes")
        .file("ours", &fathom.work().join("ours.dat"), "4MiB", "data = { byte = 5 }\nkeep = true")
        .phase("part", "ours", "write", "", &part)
        .phase("read", "ours", "read", read, RECORD)
}

#[test]
fn holes_in_files_of_ours_are_filled_before_they_are_read() {
    let name = "holes_in_files_of_ours_are_filled_before_they_are_read";
    let fathom = Fathom::new();
    let run = measure(&fathom, &last_part_only(&fathom, ""));
    let Some(found) = extents(name, &run, "read") else { return };
    assert_eq!(found, [4 * MIB, 0, 0, 3 * MIB]);
    assert_eq!(extents(name, &run, "part"), Some([0; 4]), "a first write: the file was empty");
    let bytes = std::fs::read(fathom.work().join("ours.dat")).expect("kept");
    assert!(bytes[..3 * MIB as usize].iter().all(|&b| b == 5), "filled with the data of the set");
    // A later run still owns the kept file, which no longer has holes.
    let run = measure(&fathom, &last_part_only(&fathom, ""));
    assert_eq!(extents(name, &run, "read"), Some([4 * MIB, 0, 0, 0]));
    assert_eq!(extents(name, &run, "part"), Some([MIB, 0, 0, 0]), "a rewrite");
}

#[test]
fn holes_may_be_left_and_are_told() {
    let fathom = Fathom::new();
    let run = measure(&fathom, &last_part_only(&fathom, "holes = \"leave\""));
    let Some(found) = extents("holes_may_be_left_and_are_told", &run, "read") else { return };
    assert_eq!(found, [4 * MIB, 3 * MIB, 0, 0]);
}

#[test]
fn holes_in_the_users_files_are_told_and_never_filled() {
    let fathom = Fathom::new();
    let path = fathom.work().join("theirs.dat");
    File::create(&path).and_then(|f| f.set_len(2 * MIB)).expect("a sparse file");
    let text = |existing: &str| {
        Text::new("theirs").file("theirs", &path, "2MiB", existing).phase(
            "read",
            "theirs",
            "read",
            "cache = \"cold\"",
            RECORD,
        )
    };
    for existing in ["existing = \"reuse\"", "existing = \"replace\""] {
        let run = measure(&fathom, &text(existing));
        if let Some(found) = extents("holes_in_the_users_files_are_told_and_never_filled", &run, "read") {
            assert_eq!(found, [2 * MIB, 2 * MIB, 0, 0], "{existing}");
        }
        assert_eq!(path.metadata().expect("still there").blocks(), 0, "{existing}");
    }
}

#[test]
fn first_writes_into_holes_are_named_as_the_cause() {
    let name = "first_writes_into_holes_are_named_as_the_cause";
    let fathom = Fathom::new();
    let path = fathom.work().join("theirs.dat");
    File::create(&path).and_then(|f| f.set_len(2 * MIB)).expect("a sparse file");
    let synced = format!("{RECORD}\nsync_every = {{ writes = 1 }}");
    let text = Text::new("first")
        .file("theirs", &path, "2MiB", "existing = \"reuse\"\nforeign_writable = true")
        .phase("write", "theirs", "write", "", &synced);
    let causes = || {
        let run = measure(&fathom, &text);
        let found = extents(name, &run, "write")?;
        let findings = phase(&run, "write")["findings"].as_array().cloned().unwrap_or_default();
        Some((found[1], findings.iter().any(|f| f["rule"] == "first-writes")))
    };
    let Some(first) = causes() else { return };
    if first == (2 * MIB, false) {
        return skip(name, "needs a file system that overwrites in place");
    }
    assert_eq!(first, (2 * MIB, true));
    assert_eq!(causes(), Some((0, false)), "a rewrite");
}

#[test]
fn the_page_cache_holds_what_was_wanted() {
    let name = "the_page_cache_holds_what_was_wanted";
    if TestDir::new().in_memory() {
        return skip(name, "needs a directory on a real file system");
    }
    let fathom = Fathom::new();
    let run = measure(&fathom, &three_states(&fathom.work().join("f.dat")));
    let share = |name: &str| {
        let r = &phase(&run, name)["resident_before"];
        Some(r["cached_pages"].as_f64()? / r["total_pages"].as_f64()?)
    };
    let intent = |name: &str| phase(&run, name)["cache"].clone();
    assert_eq!(
        ["write", "cold", "again", "warm"].map(intent),
        ["as-found", "cold", "as-found", "warm"].map(Value::from)
    );
    let Some(cold) = share("cold") else { return skip(name, "the kernel does not tell what is cached") };
    // Reclaim may evict some pages of a warm file at any time.
    assert!(cold <= 0.01, "{cold} of the file was still cached");
    assert!(share("warm").is_some_and(|s| s > 0.9), "{:?}", share("warm"));
}

/// Dirty pages, then a cold start, then whatever that left, then a warm start after another eviction.
fn three_states(path: &Path) -> Text {
    Text::new("states")
        .file("f", path, "8MiB", "")
        .phase("write", "f", "write", "", &format!("{RECORD}\nopen = {{ create = true }}"))
        .phase("cold", "f", "read", "cache = \"cold\"", RECORD)
        .phase("again", "f", "read", "", RECORD)
        .phase("warm", "f", "read", "before = [{ evict = \"f\" }]\ncache = \"warm\"", RECORD)
}

#[test]
fn the_drop_in_finds_no_holes_in_what_it_wrote() {
    let fathom = Fathom::new();
    let _ = fathom.run_line("iozone -s 1m -r 64k -i 0 -i 1").expect_code(0);
    let run = last_run(&fathom);
    for pass in ["read", "reread"] {
        let Some(found) = extents("the_drop_in_finds_no_holes_in_what_it_wrote", &run, pass) else { return };
        assert_eq!(found, [MIB, 0, 0, 0], "{pass}");
    }
}
