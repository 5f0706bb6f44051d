//! The whole crate on a real file system and block device: a small ext4 on a loop device, which needs root, losetup and mkfs.ext4;
//! otherwise the tests are skipped by name.

use fathom_observe::counters::Counters;
use fathom_observe::device::{DeviceKind, stack_of};
use fathom_observe::{environment, residency};
use fathom_record::{Axes, Phase, Regime, Repetition, Worker};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system, removed at the end of the test even if it fails.
struct Mounted {
    dir: tempfile::TempDir,
    device: Option<String>,
    mounted: bool,
}

fn command(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    } else {
        Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

impl Mounted {
    /// With `direct` the loop device bypasses the page cache, so that its disk moves the same bytes.
    fn new(bytes: u64, direct: bool) -> Result<Self, String> {
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let image = dir.path().join("disk image");
        let file = std::fs::File::create(&image).map_err(|e| e.to_string())?;
        file.set_len(bytes).map_err(|e| e.to_string())?;
        std::fs::create_dir(dir.path().join("mount point")).map_err(|e| e.to_string())?;
        let mut made = Self { dir, device: None, mounted: false };
        let image = image.display().to_string();
        command("mkfs.ext4", &["-q", "-F", &image])?;
        let how = if direct { "--direct-io=on" } else { "--direct-io=off" };
        let device = command("losetup", &["--find", "--show", how, &image])?;
        made.device = Some(device.clone());
        command("mount", &[&device, &made.path().display().to_string()])?;
        made.mounted = true;
        Ok(made)
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("mount point")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.mounted {
            let _ = command("umount", &[&self.path().display().to_string()]);
        }
        if let Some(device) = &self.device {
            let _ = command("losetup", &["--detach", device]);
        }
    }
}

/// A mounted loop device, or a printed reason why the test was skipped.
fn mounted_or_skipped(test: &str, direct: bool) -> Option<Mounted> {
    // SAFETY: the call takes no arguments and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped {test}: only root can make a loop device");
        return None;
    }
    match Mounted::new(64 << 20, direct) {
        Ok(mounted) => Some(mounted),
        Err(why) => {
            println!("skipped {test}: {why}");
            None
        }
    }
}

const BYTES: usize = 8 << 20;

fn write_file(path: &Path) {
    let mut file = std::fs::File::create(path).expect("creates");
    let data: Vec<u8> = (0..BYTES).map(|i| (i * 31 % 251) as u8).collect();
    file.write_all(&data).expect("writes");
    file.sync_all().expect("syncs");
}

fn read_phase(repetition: Repetition) -> Phase {
    Phase {
        seq: 0,
        name: "read".into(),
        axes: Axes::default(),
        reads: true,
        writes: false,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![repetition],
    }
}

/// Reads the file once like a phase, and judges it.
fn read_and_judge(path: &Path) -> Phase {
    let stack = stack_of(path);
    let resident_before = residency::of(&[path.to_path_buf()]);
    let before = Counters::read(&stack);
    let mut content = Vec::new();
    std::fs::File::open(path).expect("opens").read_to_end(&mut content).expect("reads");
    assert_eq!(content.len(), BYTES);
    let physical = before.until(&Counters::read(&stack));
    let worker = Worker { bytes: BYTES as u64, elapsed_ns: 1, ..Worker::default() };
    read_phase(Repetition { workers: vec![worker], physical, resident_before, ..Repetition::default() })
}

#[test]
fn a_cold_file_is_read_from_the_device_and_a_warm_one_is_not() {
    let Some(mounted) = mounted_or_skipped("a_cold_file_is_read_from_the_device_and_a_warm_one_is_not", true)
    else {
        return;
    };
    let path = mounted.path().join("file");
    write_file(&path);
    let left = match residency::evict(&path) {
        Ok(left) => left,
        Err(e) => {
            println!("skipped a_cold_file_is_read_from_the_device_and_a_warm_one_is_not: {e}");
            return;
        }
    };
    assert_eq!((left.cached_pages, left.dirty_pages), (0, 0), "{left:?}");
    let cold = read_and_judge(&path);
    assert_eq!(cold.origin().regime, Regime::Device, "{}", cold.origin().evidence);
    let warm = read_and_judge(&path);
    assert_eq!(warm.origin().regime, Regime::PageCache, "{}", warm.origin().evidence);
    let cached = warm.repetitions[0].resident_before.and_then(|r| r.cached_share());
    assert!(cached.is_some_and(|share| share > 0.9), "{cached:?}");
}

#[test]
fn a_cold_file_on_a_cached_image_is_not_read_from_the_device() {
    let name = "a_cold_file_on_a_cached_image_is_not_read_from_the_device";
    let Some(mounted) = mounted_or_skipped(name, false) else { return };
    let path = mounted.path().join("file");
    write_file(&path);
    // The image was just written through the page cache and is still cached. Other programs' reads from the disk below cannot be distinguished
    // from reads of the image, but they will not happen five times in a row.
    let mut said = Vec::new();
    for _ in 0..5 {
        if let Err(e) = residency::evict(&path) {
            println!("skipped {name}: {e}");
            return;
        }
        let cold = read_and_judge(&path);
        let physical = &cold.repetitions[0].physical;
        assert!(physical.devices[0].read_bytes >= BYTES as u64, "the loop device did read: {physical:?}");
        let origin = cold.origin();
        if origin.regime == Regime::PageCache {
            assert!(
                origin.evidence.contains("its backing file lies in the page cache"),
                "{}",
                origin.evidence
            );
            return;
        }
        said.push(origin.evidence);
    }
    panic!("{said:#?}");
}

#[test]
fn the_loop_device_and_what_it_stands_on_are_found() {
    let Some(mounted) = mounted_or_skipped("the_loop_device_and_what_it_stands_on_are_found", true) else {
        return;
    };
    let stack = stack_of(&mounted.path());
    assert_eq!((stack.method.as_str(), stack.file_system()), ("diskstats", "ext4"));
    assert_eq!(stack.devices[0].kind, DeviceKind::Loop);
    let device = mounted.device.clone().expect("a device");
    assert_eq!(format!("/dev/{}", stack.devices[0].name), device);
    let below = stack_of(mounted.dir.path());
    let names = |s: &fathom_observe::device::DeviceStack| {
        s.devices.iter().map(|d| d.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&stack)[1..], names(&below), "the image lies in the directory above");
    let environment = environment::capture(&mounted.path());
    assert_eq!(environment["filesystem"]["type"], "ext4");
    assert_eq!(environment["filesystem"]["mount_point"], mounted.path().display().to_string());
    assert_eq!(environment["devices"][0]["size_bytes"], 64 << 20);
    assert!(environment["devices"][0]["backing_file"].as_str().is_some_and(|f| f.ends_with("disk image")));
}
