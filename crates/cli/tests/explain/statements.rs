//! Is this my disk or my RAM? The five loads that everyone tries, and the sentence for each: on our own ext4 on a loop
//! device with O_DIRECT to its image, and without root in the test directory.

use crate::measure::workloads::{Text, last_run};
use fathom_testkit::{Fathom, Kind, LoopFs, TestDir, TmpFs, skip};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;

/// Runs the five loads on 16 MiB and returns the truth of each phase, with the name of the device.
fn five(fathom: &Fathom, dir: &Path) -> Vec<(String, Value, String)> {
    let before = |then: &str| format!("before = [{{ prepare = \"data\" }}, {{ {then} = \"data\" }}]");
    let record = "record = { fixed = \"256KiB\" }";
    let with = |more: &str| format!("{record}\n{more}");
    let text = Text::new("five")
        .file("data", &dir.join("data"), "16MiB", "existing = \"reuse\"")
        .phase("cached read", "data", "read", &before("warm"), record)
        .phase("cold read", "data", "read", &before("evict"), record)
        .phase("direct read", "data", "read", &before("evict"), &with("open = { direct = true }"))
        .phase("buffered write", "data", "write", &before("evict"), record)
        .phase("write with fsync", "data", "write", &before("evict"), &with("timed = { fsync = true }"));
    let workload = text.save(fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8"), "--json"]).expect_code(0);
    let run = last_run(fathom);
    let told = |p: &Value| {
        let repetition = &p["repetitions"][0];
        let device = repetition["physical"]["devices"][0]["name"].as_str().unwrap_or("none").to_owned();
        (p["name"].as_str().expect("a name").to_owned(), repetition["truth"].clone(), device)
    };
    run["phases"].as_array().expect("phases").iter().map(told).collect()
}

/// Checks the sentence for each; `None` if all are right.
fn wrong(found: &[(String, Value, String)]) -> Option<String> {
    found.iter().find_map(|(name, truth, device)| {
        let said = truth["statement"].as_str().unwrap_or("nothing");
        let bytes = |way: &str, figure: &str| truth[way][figure].as_u64();
        let right = match name.as_str() {
            "cached read" => {
                let wanted =
                    format!("This is a page-cache number: 100 % of the 16 MiB read came from memory; {device} moved 0 B.");
                said == wanted && bytes("read", "cache_bytes") == Some(16 * MIB)
            }
            "cold read" => {
                said.starts_with(&format!("This is a device number: 100 % of the 16 MiB read came from {device}"))
                    && bytes("read", "cache_bytes") == Some(0)
            }
            "direct read" => {
                // Below a loop device there may be a page cache, which O_DIRECT does not go past.
                let past = if device.starts_with("loop") { "" } else { ", past the page cache (O_DIRECT)" };
                said == format!(
                    "This is a device number: 100 % of the 16 MiB read came from {device}{past}."
                )
            }
            "buffered write" => {
                let parts = ["in_clock_bytes", "later_bytes", "dirty_bytes", "lost_bytes"];
                let sum: u64 = parts.iter().filter_map(|p| bytes("written", p)).sum();
                said.starts_with("This is a page-cache number: ")
                    && said.contains(&format!("of the 16 MiB written had reached {device} when the clock stopped"))
                    && sum == 16 * MIB
            }
            _ => {
                said.starts_with(&format!(
                    "This is a device number: 100 % of the 16 MiB written had reached {device} when the clock stopped"
                )) && bytes("written", "in_clock_bytes") == Some(16 * MIB)
                    && bytes("written", "dirty_bytes") == Some(0)
            }
        };
        (!right).then(|| format!("{name}: {truth}"))
    })
}

/// Another process that calls sync(2) or reads from the disk changes the truth, and the sentence with it; not five
/// times in a row.
fn expect_five(fathom: &Fathom, dir: &Path) {
    let mut all = Vec::new();
    for _ in 0..5 {
        let found = five(fathom, dir);
        assert_eq!(found.len(), 5);
        match wrong(&found) {
            None => return,
            Some(what) => all.push(what),
        }
    }
    panic!("{all:#?}");
}

#[test]
fn the_five_statements_are_right_on_a_loop_device() {
    let test = "the_five_statements_are_right_on_a_loop_device";
    if TestDir::new().in_memory() {
        return skip(test, "needs a directory on a real file system");
    }
    let Some(fs) = LoopFs::ext4(test).mebibytes(96).direct_io().mount() else { return };
    expect_five(&Fathom::new(), fs.path());
}

#[test]
fn the_five_statements_are_right_in_a_plain_directory() {
    let dir = TestDir::new();
    if dir.in_memory() {
        return skip(
            "the_five_statements_are_right_in_a_plain_directory",
            "needs a directory on a real file system",
        );
    }
    let fathom = Fathom::new();
    let found = five(&fathom, dir.path());
    if found[0].2 == "none" {
        let why = "the device below the test directory cannot be seen";
        return skip("the_five_statements_are_right_in_a_plain_directory", why);
    }
    expect_five(&fathom, dir.path());
}

/// A compressing file system moves little, which is not the page cache.
#[test]
fn what_a_file_system_compresses_is_still_the_devices() {
    let test = "what_a_file_system_compresses_is_still_the_devices";
    if TestDir::new().in_memory() {
        return skip(test, "needs a directory on a real file system");
    }
    let Some(fs) = LoopFs::of(Kind::Btrfs, test).direct_io().mount() else { return };
    let remounted = std::process::Command::new("mount")
        .args(["-o", "remount,compress-force=zstd"])
        .arg(fs.path())
        .status()
        .is_ok_and(|s| s.success());
    if !remounted {
        return skip(test, "this btrfs cannot compress");
    }
    let fathom = Fathom::new();
    let record = "record = { fixed = \"256KiB\" }";
    let text = Text::new("compressed")
        .file("data", &fs.path().join("data"), "16MiB", "existing = \"reuse\"\ndata = \"zero\"")
        .phase(
            "write with fsync",
            "data",
            "write",
            "before = [{ prepare = \"data\" }]",
            &format!("{record}\ndata = \"zero\"\ntimed = {{ fsync = true }}"),
        )
        .phase("cold read", "data", "read", "cache = \"cold\"", record);
    let workload = text.save(&fathom);
    let _ = fathom.run(["run", workload.to_str().expect("UTF-8")]).expect_code(0);
    for phase in last_run(&fathom)["phases"].as_array().expect("phases") {
        let statement = phase["repetitions"][0]["truth"]["statement"].as_str().expect("a statement");
        assert!(statement.starts_with("This is a device number: 100 % of the 16 MiB"), "{statement}");
        assert!(statement.contains("the file system compresses"), "{statement}");
        let moved = phase["repetitions"][0]["physical"]["devices"][0].clone();
        let bytes = ["read_bytes", "write_bytes"].map(|f| moved[f].as_u64().unwrap_or(0)).into_iter().max();
        assert!(bytes.is_some_and(|b| b < 8 << 20), "{moved}");
    }
}

/// Unmounts what lies above a test's file system, also on panic.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// A file of an overlay's lower layer in memory is memory's, whatever disk the upper layer is on; one of the upper layer is the disk's.
#[test]
fn on_an_overlay_the_layer_that_has_the_data_decides() {
    let test = "on_an_overlay_the_layer_that_has_the_data_decides";
    if TestDir::new().in_memory() {
        return skip(test, "needs a directory on a real file system");
    }
    let Some(memory) = TmpFs::mount(test, 32 * MIB) else { return };
    let Some(disk) = LoopFs::ext4(test).mebibytes(96).direct_io().mount() else { return };
    let overlay = disk.path().join("merged");
    for directory in ["up", "work", "merged"] {
        std::fs::create_dir(disk.path().join(directory)).expect("a directory");
    }
    std::fs::write(memory.path().join("below"), vec![7; 16 << 20]).expect("writes");
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        memory.path().display(),
        disk.path().join("up").display(),
        disk.path().join("work").display()
    );
    let mounting =
        Command::new("mount").args(["-t", "overlay", "-o", &options, "overlay"]).arg(&overlay).status();
    if !mounting.is_ok_and(|s| s.success()) {
        return skip(test, "an overlay could not be mounted");
    }
    let mounted = Mounted(&overlay);
    let fathom = Fathom::new();
    let said = |name: &str, how: &str, before: &str, more: &str| {
        let text = Text::new(name)
            .file("data", &overlay.join(name), "16MiB", "existing = \"reuse\"\nforeign_writable = true")
            .phase(name, "data", how, before, &format!("record = {{ fixed = \"256KiB\" }}{more}"));
        let _ = fathom.run(["run", text.save(&fathom).to_str().expect("UTF-8")]).expect_code(0);
        let phase = last_run(&fathom)["phases"][0].clone();
        phase["repetitions"][0]["truth"]["statement"].as_str().unwrap_or("nothing").to_owned()
    };
    let lower = said("below", "read", "", "");
    let upper = said("new", "write", "before = [{ prepare = \"data\" }]", "\ntimed = { fsync = true }");
    drop(mounted);
    let name = memory.path().display().to_string();
    assert!(lower.starts_with(&format!("This is main memory's number: {name} is a tmpfs")), "{lower}");
    assert!(upper.starts_with("This is a device number: 100 % of the 16 MiB written"), "{upper}");
}

/// The first write of a lower layer's file copies it up; its phase is of the same devices before and after.
#[test]
fn on_an_overlay_every_repetition_has_the_same_devices() {
    let test = "on_an_overlay_every_repetition_has_the_same_devices";
    let Some(lower) = LoopFs::ext4(test).mebibytes(48).mount() else { return };
    let Some(upper) = LoopFs::ext4(test).mebibytes(48).mount() else { return };
    let overlay = upper.path().join("merged");
    for directory in ["up", "work", "merged"] {
        std::fs::create_dir(upper.path().join(directory)).expect("a directory");
    }
    std::fs::write(lower.path().join("below"), vec![7; 8 << 20]).expect("writes");
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.path().display(),
        upper.path().join("up").display(),
        upper.path().join("work").display()
    );
    let mounting =
        Command::new("mount").args(["-t", "overlay", "-o", &options, "overlay"]).arg(&overlay).status();
    if !mounting.is_ok_and(|s| s.success()) {
        return skip(test, "an overlay could not be mounted");
    }
    let mounted = Mounted(&overlay);
    let fathom = Fathom::new();
    let more = "existing = \"reuse\"\nforeign_writable = true";
    let text = Text::new("twice")
        .head("repetitions = 2")
        .file("data", &overlay.join("below"), "8MiB", more)
        .phase("twice", "data", "write", "", "record = { fixed = \"256KiB\" }");
    let _ = fathom.run(["run", text.save(&fathom).to_str().expect("UTF-8")]).expect_code(0);
    let repetitions = last_run(&fathom)["phases"][0]["repetitions"].clone();
    drop(mounted);
    let devices = |n: usize| {
        let all = repetitions[n]["physical"]["devices"].as_array().cloned().unwrap_or_default();
        all.iter().map(|d| d["name"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    assert!(devices(0).len() > 2, "both layers: {repetitions}");
    assert_eq!(devices(0), devices(1));
}
