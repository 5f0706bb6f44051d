//! `fathom watch` as a user sees it: rows and JSON lines of a device while it is read, and messages where there is
//! nothing to watch.

use fathom_testkit::{Fathom, Outcome};
use std::path::Path;

fn watch(args: &[&str]) -> Outcome {
    Fathom::new().run([&["watch"], args].concat())
}

#[test]
fn where_there_is_no_device_it_says_so() {
    for (target, said) in [
        ("/proc", "there is nothing to watch"),
        ("no-such-thing", "name a directory, a file or a block device"),
    ] {
        let _ = watch(&[target]).expect_code(2).expect_stderr(said);
    }
    let _ = watch(&["/", "--interval", "1us"]).expect_code(2);
}

#[test]
fn rows_and_json_lines_of_a_loop_device() {
    let test = "rows_and_json_lines_of_a_loop_device";
    if !fathom_testkit::need_root(test) {
        return;
    }
    let Some(disk) = fathom_testkit::LoopFs::ext4(test).mount() else { return };
    let device = disk.device().to_path_buf();
    let path = device.to_str().expect("a plain name");
    let text = watch(&[path, "-n", "2", "--interval", "100ms", "--counters"]).stdout;
    assert_eq!(text.lines().count(), 3, "a head and two rows: {text}");
    assert!(text.lines().all(|l| l.ends_with("%util") || l.starts_with("loop")), "{text}");
    let text = reading(&device, || watch(&[path, "-n", "3", "--interval", "200ms", "--json"])).stdout;
    let values: Vec<serde_json::Value> =
        text.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect();
    assert_eq!(values.len(), 3, "{text}");
    assert!(values.iter().all(|v| v["schema"] == "fathom-watch/1"), "{text}");
    let reads: f64 = values.iter().filter_map(|v| v["reads"]["requests_per_s"].as_f64()).sum();
    assert!(reads > 0.0, "somebody was reading all the time: {text}");
}

/// Reads the device past the page cache until the work is done.
fn reading<T>(device: &Path, work: impl FnOnce() -> T) -> T {
    use std::sync::atomic::{AtomicBool, Ordering};
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let input = format!("if={}", device.display());
                let _ = std::process::Command::new("dd")
                    .args([&input, "of=/dev/null", "bs=64k", "count=64", "iflag=direct", "status=none"])
                    .status();
            }
        });
        let result = work();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn a_device_that_goes_away_is_noticed() {
    let test = "a_device_that_goes_away_is_noticed";
    if !fathom_testkit::need_root(test) {
        return;
    }
    let Some(disk) = fathom_testkit::LoopFs::ext4(test).mount() else { return };
    let device = disk.device().to_str().expect("a plain name").to_string();
    let fathom = Fathom::new();
    // Were it not noticed, 3000 rows would take five minutes.
    let mut watching = fathom.spawn(["watch", &device, "--interval", "100ms", "-n", "3000", "--json"]);
    watching.wait_for_text("fathom-watch/1");
    drop(disk);
    let ended = watching.finish().expect_stderr("is gone, or another device");
    assert_ne!(ended.code, Some(0));
}
