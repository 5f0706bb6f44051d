//! `fathom watch` as a user meets it: rows and JSON lines of a device while something is read from it, and what it says where there
//! is nothing to watch.

use assert_cmd::Command;
use std::path::Path;

fn watch(args: &[&str]) -> std::process::Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("fathom"));
    command.arg("watch").args(args).timeout(std::time::Duration::from_secs(120));
    command.output().expect("it starts")
}

#[test]
fn where_there_is_no_device_it_says_so() {
    for (target, said) in
        [("/proc", "there is nothing to watch"), ("no-such-thing", "neither a path nor a device")]
    {
        let output = watch(&[target]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(said), "{text}");
    }
    let output = watch(&["/", "--interval", "1us"]);
    assert_eq!(output.status.code(), Some(2));
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
    let rows = watch(&[path, "-n", "2", "--interval", "100ms", "--counters"]);
    let text = String::from_utf8_lossy(&rows.stdout).into_owned();
    assert_eq!(text.lines().count(), 3, "a head and two rows: {text}");
    assert!(text.lines().all(|l| l.ends_with("%util") || l.starts_with("loop")), "{text}");
    let lines = reading(&device, || watch(&[path, "-n", "3", "--interval", "200ms", "--json"]));
    let text = String::from_utf8_lossy(&lines.stdout).into_owned();
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
    use std::io::BufRead as _;
    let test = "a_device_that_goes_away_is_noticed";
    if !fathom_testkit::need_root(test) {
        return;
    }
    let Some(disk) = fathom_testkit::LoopFs::ext4(test).mount() else { return };
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("fathom"))
        .arg("watch")
        .arg(disk.device())
        .args(["--interval", "100ms", "-n", "3000", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = std::io::BufReader::new(child.stdout.take().expect("piped")).lines();
    assert!(lines.next().is_some_and(|l| l.is_ok()), "it watches");
    drop(disk);
    // Were it not noticed, 3000 rows would take five minutes.
    let rest = lines.count();
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("is gone, or another device"),
        "{rest} rows, then {said}"
    );
}
