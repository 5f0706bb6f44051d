//! Page-cache events: counted at `--observe full`, with the program that took pages out.

use fathom_testkit::{Fathom, LoopFs, skip};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BYTES: u64 = 8 << 20;

/// The page-cache events of the last run's only phase.
fn events(fathom: &Fathom) -> Value {
    let shown = fathom.run(["show", "--json"]).expect_code(0);
    let run: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    run["phases"][0]["repetitions"][0]["page_cache"].clone()
}

#[test]
fn pages_are_counted_and_who_drops_them_is_named() {
    let test = "pages_are_counted_and_who_drops_them_is_named";
    if !Path::new("/sys/kernel/tracing/events/filemap/mm_filemap_delete_from_page_cache").exists()
        || !Path::new("/sys/kernel/btf/vmlinux").exists()
    {
        return skip(
            test,
            "this kernel has no events of the page cache, or does not describe its types (BTF)",
        );
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

    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (over, opened) = (&over, std::fs::File::open(&file).expect("opens"));
        let dropper = scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let _ = rustix::fs::fadvise(&opened, 0, None, rustix::fs::Advice::DontNeed);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        fathom.run(format!("fio {job} --invalidate=0 --time_based --runtime=2").split(' ')).expect_code(0);
        over.store(true, Ordering::Relaxed);
        dropper.join().expect("joins");
    });
    let seen = events(&fathom);
    let removers = seen["pages"]["removers"].as_array().cloned().unwrap_or_default();
    let this_test = removers.iter().find(|r| r["process"] == std::process::id());
    let remover = this_test.unwrap_or_else(|| panic!("this test dropped them: {seen}"));
    let dropped = remover["dropped_bytes"].as_u64().unwrap_or_default();
    assert!(dropped >= 1 << 20 && seen["pages"]["removed_bytes"].as_u64() >= Some(dropped), "{seen}");
    fathom.run(["show"]).expect_code(0).expect_stdout("Of the files' pages in the page cache, ");
}
