//! Events of the page cache and of locks: counted at `--observe full`, with the program that took pages out, synced the file system or
//! held a lock.

use fathom_testkit::{Fathom, LoopFs, skip};
use serde_json::Value;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BYTES: u64 = 8 << 20;

/// The last run's only repetition.
fn repetition(fathom: &Fathom) -> Value {
    let shown = fathom.run(["show", "--json"]).expect_code(0);
    let run: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    run["phases"][0]["repetitions"][0].clone()
}

/// The page-cache events of the last run's only phase.
fn events(fathom: &Fathom) -> Value {
    repetition(fathom)["page_cache"].clone()
}

/// Whether the kernel has an event, and describes its types.
fn has_event(test: &str, event: &str) -> bool {
    let has = Path::new("/sys/kernel/tracing/events").join(event).exists()
        && Path::new("/sys/kernel/btf/vmlinux").exists();
    if !has {
        skip(test, &format!("this kernel has no event {event}, or does not describe its types (BTF)"));
    }
    has
}

/// Sets it when it is dropped, also by a failing test.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does something again and again while something else is done.
fn meanwhile(mut again: impl FnMut() + Send, then: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends = Ends(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                again();
            }
        });
        then();
    });
}

#[test]
fn pages_are_counted_and_who_drops_them_is_named() {
    let test = "pages_are_counted_and_who_drops_them_is_named";
    if !has_event(test, "filemap/mm_filemap_delete_from_page_cache") {
        return;
    }
    let Some(fs) = LoopFs::ext4(test).mebibytes(64).mount() else { return };
    let fathom = Fathom::new().env("FATHOM_OBSERVE", "full");
    let file = fs.path().join("f");
    std::fs::write(&file, vec![1; BYTES as usize]).expect("writes");
    let job = format!("--name=r --rw=randread --bs=16k --size=8m --filename={}", file.display());

    fathom.run(format!("fio {job}").split(' ')).expect_code(0);
    let seen = events(&fathom);
    let own = seen["pages"]["own_bytes"].as_u64().unwrap_or_default();
    // This kernel may not run the programs while process 1 runs.
    assert!((BYTES / 2..=BYTES).contains(&own), "fio reads the whole file from the device: {seen}");
    // The machine may reclaim some.
    let removers = seen["pages"]["removers"].as_array().cloned().unwrap_or_default();
    assert!(removers.iter().all(|r| r["dropped_bytes"] == 0), "nobody dropped any: {seen}");
    assert!(seen["pauses"]["count"].is_u64(), "{seen}");

    let opened = std::fs::File::open(&file).expect("opens");
    let drop = || {
        let _ = rustix::fs::fadvise(&opened, 0, None, rustix::fs::Advice::DontNeed);
        std::thread::sleep(Duration::from_millis(10));
    };
    meanwhile(drop, || {
        fathom.run(format!("fio {job} --invalidate=0 --time_based --runtime=2").split(' ')).expect_code(0);
    });
    let seen = events(&fathom);
    let removers = seen["pages"]["removers"].as_array().cloned().unwrap_or_default();
    let this_test = removers.iter().find(|r| r["process"] == std::process::id());
    let remover = this_test.unwrap_or_else(|| panic!("this test dropped them: {seen}"));
    let dropped = remover["dropped_bytes"].as_u64().unwrap_or_default();
    assert!(dropped >= 1 << 20 && seen["pages"]["removed_bytes"].as_u64() >= Some(dropped), "{seen}");
    fathom.run(["show"]).expect_code(0).expect_stdout("Of the files' pages in the page cache, ");
}

#[test]
fn who_holds_a_lock_and_who_syncs_is_named() {
    let test = "who_holds_a_lock_and_who_syncs_is_named";
    if !has_event(test, "lock/contention_begin") || !has_event(test, "writeback/writeback_queue") {
        return;
    }
    // Its reads wait for a write of the same file.
    let Some(fs) = LoopFs::xfs(test).mebibytes(300).mount() else { return };
    let file = fs.path().join("f");
    let fathom =
        Fathom::new().env("FATHOM_OBSERVE", "full").env("FATHOM_ALLOW_WRITE", &file.display().to_string());
    let data = vec![1; BYTES as usize];
    std::fs::write(&file, &data).expect("writes");
    let job =
        format!("fio --name=r --bs=16k --size=8m --time_based --runtime=2 --filename={}", file.display());
    let process = std::process::id();

    let opened = std::fs::File::options().write(true).open(&file).expect("opens");
    let write = || opened.write_all_at(&data, 0).expect("writes");
    meanwhile(write, || {
        fathom.run(format!("{job} --rw=randread --invalidate=0").split(' ')).expect_code(0);
    });
    let seen = repetition(&fathom)["lock_waits"].clone();
    let holder = seen["holders"].as_array().and_then(|all| all.iter().find(|h| h["process"] == process));
    let holder = holder.unwrap_or_else(|| panic!("this test held the lock: {seen}"));
    assert!(holder["has_file"] == true && holder["waited_ns"].as_u64() > Some(1_000_000), "{seen}");

    let sync = || rustix::fs::syncfs(&opened).expect("syncs");
    meanwhile(sync, || {
        fathom.run(format!("{job} --rw=randwrite").split(' ')).expect_code(0);
    });
    let seen = events(&fathom);
    let syncer = seen["syncers"]
        .as_array()
        .and_then(|all| all.iter().find(|s| s["processes"] == serde_json::json!([process])));
    let syncer = syncer.unwrap_or_else(|| panic!("this test synced the file system: {seen}"));
    assert!(syncer["times"].as_u64() > Some(0), "{seen}");
}
