//! Block devices: read by whoever may, written only when the command line names them with the option that allows it.

use crate::support::{json, run};
use fathom_testkit::{Fathom, TestDir, need_root, need_tool};
use std::path::{Path, PathBuf};
use std::process::Command;

const BYTES: u64 = 1 << 20;

/// A loop device of 1 MiB, detached on drop.
struct Device(PathBuf);

impl Device {
    fn new(test: &str, dir: &Path) -> Option<Self> {
        if !need_root(test) || !need_tool(test, "losetup") {
            return None;
        }
        let image = dir.join("image");
        std::fs::write(&image, vec![7u8; BYTES as usize]).unwrap();
        let told = Command::new("losetup").args(["--find", "--show"]).arg(&image).output().unwrap();
        let name = String::from_utf8(told.stdout).unwrap();
        if !told.status.success() || name.trim().is_empty() {
            fathom_testkit::skip(test, "no loop device could be had");
            return None;
        }
        Some(Self(name.trim().into()))
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn a_device_is_read_to_its_end_without_permission() {
    let dir = TestDir::new();
    let Some(device) = Device::new("a_device_is_read_to_its_end_without_permission", dir.path()) else {
        return;
    };
    let fathom = Fathom::new().working_in(dir.path());
    let line = format!("--readonly --name=a --filename={} --rw=read --bs=64k", device.0.display());
    assert_eq!(json(&fathom, &line)["jobs"][0]["read"]["io_bytes"], BYTES);
    let half = json(&fathom, &format!("{line} --size=50%"));
    assert_eq!(half["jobs"][0]["read"]["io_bytes"], BYTES / 2);
    run(&fathom, &format!("{line} --size=2m")).expect_code(1).expect_stderr("smaller than what is worked on");
}

#[test]
fn a_device_is_written_only_when_it_is_named() {
    let dir = TestDir::new();
    let Some(device) = Device::new("a_device_is_written_only_when_it_is_named", dir.path()) else { return };
    let fathom = Fathom::new().working_in(dir.path());
    let name = device.0.display();
    let line = format!("--name=a --filename={name} --rw=write --bs=64k");
    run(&fathom, &line).expect_code(1).expect_stderr(&format!("--allow-write={name}"));
    run(&fathom, &format!("{line} --allow-write=/dev/null")).expect_code(1);
    run(&fathom, &format!("{line} --readonly --allow-write={name}")).expect_code(1);
    run(&fathom, &format!("{line} --unlink=1 --allow-write={name}")).expect_code(1);
    assert!(device.bytes() == vec![7; BYTES as usize], "it is left as it is");
    run(&fathom, &format!("{line} --allow-write={name}")).expect_code(0);
    assert!(device.bytes() != vec![7; BYTES as usize]);
    run(&fathom, &format!("--name=a --filename={name} --rw=randrw --bs=4k --allow-write={name}"))
        .expect_code(0);
    assert!(device.0.exists());
}

#[test]
fn no_workload_gives_itself_the_permission() {
    let dir = TestDir::new();
    let Some(device) = Device::new("no_workload_gives_itself_the_permission", dir.path()) else { return };
    let fathom = Fathom::new().working_in(dir.path());
    let line = format!("--check --allow-write={0} --name=a --filename={0} --rw=write", device.0.display());
    let text = run(&fathom, &line).expect_code(0).stdout;
    let given = text.replace("existing = \"reuse\"", "existing = \"reuse\"\nforeign_writable = true");
    assert_ne!(given, text);
    std::fs::write(dir.path().join("w.toml"), given).unwrap();
    fathom.run_line("run w.toml").expect_stderr("is a device, not a regular file");
    assert!(device.bytes() == vec![7; BYTES as usize], "it is left as it is");
}

#[test]
fn a_device_that_is_mounted_is_not_written() {
    let Some(mounted) =
        fathom_testkit::LoopFs::ext4("a_device_that_is_mounted_is_not_written").mebibytes(32).mount()
    else {
        return;
    };
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let name = mounted.device().display();
    let line = format!("--name=a --filename={name} --rw=write --size=64k --allow-write={name}");
    run(&fathom, &line).expect_code(1).expect_stderr("for itself alone");
}
