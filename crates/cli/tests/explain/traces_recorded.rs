//! Recording the requests to a device: our own loop device, whose counters say what there was to see.

use fathom_testkit::{Fathom, LoopFs, TestDir, need_tool, skip};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Tracefs, if the kernel has one that this user may use.
fn tracefs(test: &str) -> bool {
    let there = Path::new("/sys/kernel/tracing/instances").is_dir();
    if !there {
        skip(test, "needs tracefs at /sys/kernel/tracing");
    }
    there
}

fn device(test: &str) -> Option<LoopFs> {
    if TestDir::new().in_memory() || !need_tool(test, "dd") {
        return None;
    }
    let fs = LoopFs::ext4(test).mebibytes(64).mount()?;
    tracefs(test).then_some(fs)
}

fn name(fs: &LoopFs) -> String {
    fs.device().file_name().and_then(|n| n.to_str()).expect("loopN").to_owned()
}

/// Reads and writes completed, by the kernel's counters, with their sectors.
fn counters(fs: &LoopFs) -> [u64; 4] {
    let stat =
        std::fs::read_to_string(format!("/sys/block/{}/stat", name(fs))).expect("the device's counters");
    let numbers: Vec<u64> = stat.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    [numbers[0], numbers[2], numbers[4], numbers[6]]
}

fn summary(fathom: &Fathom, file: &str) -> Value {
    let outcome = fathom.run_line(&format!("trace summary --json {file}")).expect_code(0);
    let all: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    all[0].clone()
}

/// Completed requests and their sectors, by class, on the file system's own device: the disk below may have had
/// requests too, and earlier ones.
fn told(summary: &Value, class: &str) -> [u64; 2] {
    let devices = summary["block"]["devices"].as_array().expect("devices");
    let own = devices.iter().find(|d| d["level"] == 0).expect("our device");
    let requests = own["requests"].as_array().expect("a list");
    let stats = requests.iter().find(|r| r["class"] == class);
    let number = |key: &str| stats.and_then(|s| s[key].as_u64()).unwrap_or(0);
    [number("completed"), number("completed_bytes") / 512]
}

#[test]
fn a_recording_has_exactly_what_the_device_counted() {
    let test = "a_recording_has_exactly_what_the_device_counted";
    let Some(fs) = device(test) else { return };
    let fathom = Fathom::new();
    let file = fs.path().join("f");
    let script = format!(
        "dd if=/dev/zero of={0} bs=64k count=64 oflag=direct conv=fsync 2>&1 && dd if={0} of=/dev/null bs=4k iflag=direct 2>&1",
        file.display()
    );
    let before = counters(&fs);
    let outcome = fathom
        .run(["trace", "record", "--full", "-o", "a.fbl.zst", &name(&fs), "--", "sh", "-c", &script])
        .expect_code(0);
    let after = counters(&fs);
    let told_all = summary(&fathom, "a.fbl.zst");
    let counted: Vec<u64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
    let [reads, read_sectors] = told(&told_all, "read");
    let [writes, write_sectors] = told(&told_all, "write");
    assert!(outcome.stderr.contains("lost 0"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("us an event"), "the cost is reported: {}", outcome.stderr);
    // The file system may write between the readings of the counters and the recording: never fewer than reported.
    assert_eq!([reads, read_sectors], [counted[0], counted[1]], "{}", outcome.stderr);
    assert!(reads >= 1024 && writes >= 64);
    assert!(writes <= counted[2] && write_sectors <= counted[3], "{writes} of {counted:?}");
    assert_eq!(told_all["block"]["lost"].as_u64().unwrap_or(0), 0);
    // The same events as text give the same requests.
    let _ = fathom.run_line("trace export --format tracefs a.fbl.zst -o a.txt").expect_code(0);
    let again = summary(&fathom, "a.txt");
    assert_eq!(
        (told(&again, "read"), told(&again, "write")),
        (told(&told_all, "read"), told(&told_all, "write"))
    );
}

#[test]
fn ctrl_c_keeps_what_was_recorded() {
    let test = "ctrl_c_keeps_what_was_recorded";
    let Some(fs) = device(test) else { return };
    let fathom = Fathom::new();
    let target = fs.path().to_str().expect("UTF-8").to_owned();
    let mut running = fathom.spawn(["trace", "record", "-o", "a.fbl", &target]);
    running.wait_for_text("until Ctrl-C");
    write_some(&fs);
    running.signal_group(libc::SIGINT);
    let outcome = running.finish().expect_code(0);
    assert!(outcome.stderr.contains("recorded "), "{}", outcome.stderr);
    let told_all = summary(&fathom, "a.fbl");
    assert!(told(&told_all, "write")[0] >= 16, "{told_all}");
    let notes = told_all["block"]["notes"].to_string();
    assert!(!notes.contains("cut off"), "{notes}");
}

#[test]
fn a_killed_recording_reads_up_to_its_last_event() {
    let test = "a_killed_recording_reads_up_to_its_last_event";
    let Some(fs) = device(test) else { return };
    let fathom = Fathom::new();
    let target = fs.path().to_str().expect("UTF-8").to_owned();
    let mut running = fathom.spawn(["trace", "record", "-o", "a.fbl.zst", &target]);
    running.wait_for_text("until Ctrl-C");
    write_some(&fs);
    // The header may be written after that text: only what can be read says that there are events.
    running.wait_until("events in the file", || {
        let outcome = fathom.run_line("trace summary --json a.fbl.zst");
        let all: Value = serde_json::from_str(&outcome.stdout).unwrap_or_default();
        all[0]["block"]["events"].as_u64().unwrap_or(0) > 0
    });
    running.signal_group(libc::SIGKILL);
    drop(running);
    let told_all = summary(&fathom, "a.fbl.zst");
    assert!(told_all["block"]["notes"].to_string().contains("cut off"), "{told_all}");
    assert!(told_all["block"]["events"].as_u64().unwrap_or(0) > 0);
    // Creating the next instance removes what the kill left.
    let _ = fathom.run(["trace", "record", "-o", "b.fbl", &target, "--", "true"]).expect_code(0);
}

fn write_some(fs: &LoopFs) {
    let file = fs.path().join("some");
    let of = format!("of={}", file.display());
    let wrote = Command::new("dd").args(["if=/dev/zero", &of, "bs=4k", "count=16", "oflag=direct"]).output();
    assert!(wrote.is_ok_and(|o| o.status.success()));
}

#[test]
fn a_recording_that_cannot_begin_says_why_and_leaves_no_file() {
    let fathom = Fathom::new();
    let outcome = fathom.run_line("trace record -o a.fbl no-such-device").expect_code(2);
    assert!(outcome.stderr.contains("error: "), "{}", outcome.stderr);
    assert!(!fathom.work().join("a.fbl").exists());
    let outcome = fathom.run_line("trace record -o a.fbl /proc").expect_code(2);
    assert!(outcome.stderr.contains("error: "), "{}", outcome.stderr);
    assert!(!fathom.work().join("a.fbl").exists());
}

#[test]
fn a_commands_own_code_is_passed_on() {
    let test = "a_commands_own_code_is_passed_on";
    let Some(fs) = device(test) else { return };
    let fathom = Fathom::new();
    let dev = name(&fs);
    let _ = fathom.run(["trace", "record", "-o", "a.fbl", &dev, "--", "sh", "-c", "exit 7"]).expect_code(7);
    let outcome =
        fathom.run(["trace", "record", "-o", "b.fbl", &dev, "--", "no-such-program"]).expect_code(2);
    assert!(outcome.stderr.contains("no-such-program cannot be started"), "{}", outcome.stderr);
    assert!(!fathom.work().join("b.fbl").exists());
    let _ = fathom.run(["trace", "record", "-o", "c.fbl", "--seconds", "1", &dev]).expect_code(0);
}

/// Compared with the kernel's blktrace where usable; a locked-down kernel denies it.
#[test]
fn blktrace_sees_the_same_requests() {
    let test = "blktrace_sees_the_same_requests";
    if !need_tool(test, "blktrace") || !need_tool(test, "blkparse") {
        return;
    }
    let Some(fs) = device(test) else { return };
    let fathom = Fathom::new();
    let mut blktrace = Command::new("blktrace");
    blktrace.args(["-w", "20", "-o", "x", "-d"]).arg(fs.device()).current_dir(fathom.work());
    let Ok(mut child) =
        blktrace.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()
    else {
        skip(test, "blktrace cannot be started");
        return;
    };
    // It has started once the kernel shows its trace directory of the device, or has given up.
    let begun = format!("/sys/kernel/debug/block/{}/trace0", name(&fs));
    let mut ended = false;
    while !ended && !Path::new(&begun).exists() {
        ended = child.try_wait().is_ok_and(|s| s.is_some());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    write_some(&fs);
    if !ended {
        // SAFETY: kill takes two integers; the child is ours and not reaped.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    }
    let _ = child.wait();
    let traced = |name: &str| fathom.work().join(name).metadata().is_ok_and(|m| m.len() > 0);
    if !traced("x.blktrace.0") && !traced("x.blktrace.1") {
        skip(test, "blktrace recorded nothing here (debugfs is not mounted, or the kernel is locked down)");
        return;
    }
    let theirs =
        Command::new("blkparse").args(["-i", "x"]).current_dir(fathom.work()).output().expect("blkparse");
    let count = |text: &str, letter: &str| {
        let lines = text.lines().take_while(|l| !l.starts_with("CPU"));
        lines.filter(|l| l.split_whitespace().nth(5) == Some(letter)).count()
    };
    let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let ours = fathom.run_line("trace export --format blkparse x -o -").expect_code(0).stdout;
    for letter in ["Q", "D", "C", "M", "G"] {
        assert_eq!(count(&ours, letter), count(&theirs, letter), "{letter}");
    }
}
