//! Block devices: readable by any user with access, written only if the command line names them with the option that
//! allows it. Devices that store nothing are used like files.

use crate::fio::support::{json, run};
use fathom_testkit::{Fathom, TestDir, need_root, need_tool};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const BYTES: u64 = 1 << 20;

pub struct Device(PathBuf);

impl Device {
    /// Of 1 MiB of sevens.
    fn new(test: &str, dir: &Path) -> Option<Self> {
        std::fs::write(dir.join("image"), vec![7u8; BYTES as usize]).unwrap();
        Self::of_image(test, dir)
    }

    /// Of zeros.
    pub fn blank(test: &str, dir: &Path, bytes: u64) -> Option<Self> {
        std::fs::File::create(dir.join("image")).unwrap().set_len(bytes).unwrap();
        Self::of_image(test, dir)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    fn of_image(test: &str, dir: &Path) -> Option<Self> {
        if !need_root(test) || !need_tool(test, "losetup") {
            return None;
        }
        let image = dir.join("image");
        let told = Command::new("losetup").args(["--find", "--show"]).arg(&image).output().unwrap();
        let name = String::from_utf8(told.stdout).unwrap();
        if !told.status.success() || name.trim().is_empty() {
            fathom_testkit::skip(test, "no loop device could be had");
            return None;
        }
        Some(Self(name.trim().into()))
    }

    /// One that holds a swap area, which is a loss.
    fn signed(test: &str, dir: &Path) -> Option<Self> {
        if !need_tool(test, "mkswap") || !need_tool(test, "blkid") {
            return None;
        }
        let device = Self::new(test, dir)?;
        assert!(Command::new("mkswap").arg(&device.0).output().unwrap().status.success());
        Some(device)
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
    run(&fathom, &format!("{line} --size=2m"))
        .expect_code(1)
        .expect_stderr("smaller than the job's part of it");
}

#[test]
fn a_device_is_written_only_when_it_is_named() {
    let dir = TestDir::new();
    let Some(device) = Device::signed("a_device_is_written_only_when_it_is_named", dir.path()) else {
        return;
    };
    let before = device.bytes();
    let fathom = Fathom::new().working_in(dir.path());
    let name = device.0.display();
    let line = format!("--name=a --filename={name} --rw=write --bs=64k");
    run(&fathom, &line).expect_code(1).expect_stderr(&format!("--allow-write={name}"));
    run(&fathom, &format!("--showcmd {line}")).expect_code(0);
    run(&fathom, &format!("--parse-only {line}")).expect_code(0);
    run(&fathom, &format!("{line} --allow-write=/dev/null")).expect_code(1);
    run(&fathom, &format!("{line} --readonly --allow-write={name}")).expect_code(1);
    run(&fathom, &format!("{line} --unlink=1 --allow-write={name}")).expect_code(1);
    assert!(device.bytes() == before, "it is left as it is");
    run(&fathom, &format!("{line} --allow-write={name}")).expect_code(0);
    assert!(device.bytes() != before);
    run(&fathom, &format!("--name=a --filename={name} --rw=randrw --bs=4k --allow-write={name}"))
        .expect_code(0);
    assert!(device.0.exists());
}

/// For pipelines whose command lines cannot be changed.
#[test]
fn the_environment_names_devices_too() {
    let dir = TestDir::new();
    let Some(device) = Device::signed("the_environment_names_devices_too", dir.path()) else { return };
    let line = format!("--name=a --filename={} --rw=write --bs=64k", device.0.display());
    let named = |allowed: &str| {
        let fathom = Fathom::new().working_in(dir.path()).env("FATHOM_ALLOW_WRITE", allowed);
        run(&fathom, &line).code
    };
    for not_it in ["", "/dev/null:/dev", "/dev/*/*", "/dev/**"] {
        assert_eq!(named(not_it), Some(1), "{not_it}");
    }
    assert_eq!(named("/dev/null:/dev/loop*"), Some(0));
}

#[test]
fn a_device_that_holds_nothing_needs_no_permission() {
    let test = "a_device_that_holds_nothing_needs_no_permission";
    let dir = TestDir::new();
    if !need_tool(test, "blkid") {
        return;
    }
    let Some(device) = Device::new(test, dir.path()) else { return };
    let fathom = Fathom::new().working_in(dir.path());
    for rw in ["write", "randrw"] {
        run(&fathom, &format!("--name=a --filename={} --rw={rw} --bs=64k", device.0.display()))
            .expect_code(0);
    }
    assert!(device.bytes() != vec![7; BYTES as usize]);
}

#[test]
fn atomic_writes_that_a_device_cannot_do_are_an_error_as_in_fio() {
    let dir = TestDir::new();
    let test = "atomic_writes_that_a_device_cannot_do_are_an_error_as_in_fio";
    let Some(device) = Device::blank(test, dir.path(), BYTES) else { return };
    let fathom = Fathom::new().working_in(dir.path());
    for engine in ["pvsync2", "libaio", "io_uring"] {
        let job = format!("--name=a --ioengine={engine} --direct=1 --atomic=1 --bs=4k --size=64k");
        // fio 3.42: err=95, and code 1. Drivers of loop devices have none.
        let written = format!("{job} --rw=write --filename={}", device.0.display());
        let told = run(&fathom, &written).expect_code(1);
        assert!(told.stdout.contains("(groupid=0, jobs=1): err=95"), "{engine}: {}", told.stdout);
        assert!(told.stderr.contains("refuses RWF_ATOMIC (atomic = true)"), "{engine}: {}", told.stderr);
        // Whether a file system can is tried before the first write.
        let told = run(&fathom, &format!("{job} --rw=write --filename=f"));
        assert!(told.code == Some(0) || told.stderr.contains("RWF_ATOMIC"), "{engine}: {}", told.stderr);
        // Reads are not asked to be.
        let read = format!("{job} --rw=read --filename={}", device.0.display());
        run(&fathom, &read).expect_code(0);
    }
    run(&fathom, "--name=a --rw=read --size=64k --atomic=1")
        .expect_code(1)
        .expect_stderr("engine does not support atomic writes");
}

#[test]
fn a_device_is_trimmed_only_when_it_is_named() {
    let dir = TestDir::new();
    let Some(device) = Device::signed("a_device_is_trimmed_only_when_it_is_named", dir.path()) else {
        return;
    };
    let before = device.bytes();
    let fathom = Fathom::new().working_in(dir.path());
    let name = device.0.display();
    let line = format!("--name=a --filename={name} --rw=trim --bs=64k --size=512k");
    run(&fathom, &line).expect_code(1).expect_stderr(&format!("--allow-write={name}"));
    run(&fathom, &format!("{line} --readonly --allow-write={name}")).expect_code(1);
    assert!(device.bytes() == before, "it is left as it is");
    let done = run(&fathom, &format!("{line} --allow-write={name} --output-format=json"));
    // Not every file system below a loop device can discard.
    if done.stderr.contains("Operation not supported") {
        fathom_testkit::skip("a_device_is_trimmed_only_when_it_is_named", "the loop device cannot discard");
        return;
    }
    let done: serde_json::Value = serde_json::from_str(&done.expect_code(0).stdout).unwrap();
    assert_eq!(done["jobs"][0]["trim"]["total_ios"], 8);
    let left = device.bytes();
    let half = left.len() / 2;
    assert!(left[..half].iter().all(|b| *b == 0) && left[half..].iter().all(|b| *b == 7));
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
    let named = format!("--allow-write={}", device.0.display());
    fathom
        .run_line("run w.toml")
        .expect_code(3)
        .expect_stderr(&format!("is named: with {named} (fathom run"));
    fathom.run_line("run w.toml --allow-write=w.toml").expect_code(2).expect_stderr("is not a block device");
    assert!(device.bytes() == vec![7; BYTES as usize], "it is left as it is");
    // The command line does.
    fathom.run_line(&format!("run w.toml {named}")).expect_code(0);
    assert!(device.bytes() != vec![7; BYTES as usize]);
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

/// Both the job and the user must allow it.
#[test]
fn a_device_that_is_mounted_is_written_where_both_permit_it() {
    let test = "a_device_that_is_mounted_is_written_where_both_permit_it";
    let Some(mounted) = fathom_testkit::LoopFs::ext4(test).mebibytes(32).mount() else { return };
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let name = mounted.device().display();
    // Where a new file system has nothing.
    let job = format!("--filename={name} --rw=write --offset=20m --size=64k --allow_mounted_write");
    run(&fathom, &format!("--name=a {job}=1")).expect_code(1).expect_stderr("--allow-write");
    run(&fathom, &format!("--name=a {job}=0 --allow-write={name}"))
        .expect_code(1)
        .expect_stderr("for itself alone");
    run(&fathom, &format!("--allow-write={name} --name=a {job}=1 --name=b {job}=0"))
        .expect_code(1)
        .expect_stderr("for itself alone");
    let done = json(&fathom, &format!("--name=a {job}=1 --allow-write={name}"));
    assert_eq!(done["jobs"][0]["write"]["io_bytes"], 65536);
    let by_environment = Fathom::new().working_in(dir.path()).env("FATHOM_ALLOW_WRITE", &name.to_string());
    run(&by_environment, &format!("--name=a {job}=1")).expect_code(0);
}

#[test]
fn a_scheduler_is_set_while_jobs_run_and_put_back() {
    let test = "a_scheduler_is_set_while_jobs_run_and_put_back";
    let dir = TestDir::new();
    let Some(device) = Device::blank(test, dir.path(), BYTES) else { return };
    let name = device.path().file_name().unwrap().to_str().unwrap();
    let file = format!("/sys/block/{name}/queue/scheduler");
    let before = std::fs::read_to_string(&file).unwrap();
    let Some(other) = before.split_whitespace().find(|word| !word.starts_with('[')) else {
        return fathom_testkit::skip(test, "loop devices have one scheduler");
    };
    let fathom = Fathom::new().working_in(dir.path());
    let job = format!("--name=a --filename={} --rw=read --size=64k", device.path().display());
    let look = dir.path().join("look");
    std::fs::write(&look, format!("#!/bin/sh\ncat {file}\n")).unwrap();
    std::fs::set_permissions(&look, std::fs::Permissions::from_mode(0o755)).unwrap();
    run(&fathom, &format!("{job} --ioscheduler={other} --exec_prerun=./look")).expect_code(0);
    let during = std::fs::read_to_string(dir.path().join("a.prerun.txt")).unwrap();
    assert!(during.contains(&format!("[{other}]")), "{during}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    // fio 3.42 has the same words.
    run(&fathom, &format!("{job} --ioscheduler=nosuch"))
        .expect_code(1)
        .expect_stderr("fio: unable to set io scheduler to nosuch");
    let second = job.replace("--name=a", "--name=b");
    run(&fathom, &format!("{job} --ioscheduler={other} {second} --ioscheduler=none"))
        .expect_code(if other == "none" { 0 } else { 1 });
    run(&fathom, "--name=a --ioengine=null --rw=read --size=64k --ioscheduler=nosuch").expect_code(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn devices_that_hold_nothing_are_read_and_written_like_files() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for (device, rw) in [
        ("zero", "read"),
        ("zero", "randread --ioengine=libaio --iodepth=4"),
        ("zero", "read --readonly"),
        ("zero", "write"),
        ("null", "write"),
        ("null", "randwrite --fallocate=none"),
        ("full", "read"),
    ] {
        let done = json(&fathom, &format!("--name=a --size=1m --filename=/dev/{device} --rw={rw}"));
        let side = if rw.contains("read") { "read" } else { "write" };
        assert_eq!(done["jobs"][0][side]["total_ios"], 256, "{device} {rw}");
        assert_eq!(done["jobs"][0]["error"], 0, "{device} {rw}");
    }
    let full = run(&fathom, "--name=a --size=1m --filename=/dev/full --rw=write --output-format=json");
    let full: serde_json::Value = serde_json::from_str(&full.expect_code(1).stdout).unwrap();
    assert_eq!(full["jobs"][0]["error"], 28);
    // There is nothing on /dev/null that could be read.
    run(&fathom, "--name=a --size=1m --filename=/dev/null --rw=read").expect_code(1);
    for (args, why) in [
        ("--filename=/dev/zero --rw=read", "you need to specify size="),
        ("--filename=/dev/null --rw=write --size=1m --unlink=1", "the device /dev/null is not removed"),
        ("--filename=/dev/urandom --rw=read --size=4k", "/dev/urandom is a character device and none of"),
        ("--filename=/dev/urandom --rw=write --size=4k", "/dev/urandom is a character device and none of"),
    ] {
        run(&fathom, &format!("--name=a {args}")).expect_code(1).expect_stderr(why);
    }
    assert!(Path::new("/dev/null").exists());
}

/// The file system of its name is devtmpfs, which holds none of its data.
#[test]
fn a_device_is_not_called_a_memory_file_system() {
    let dir = TestDir::new();
    let Some(device) = Device::new("a_device_is_not_called_a_memory_file_system", dir.path()) else { return };
    let fathom = Fathom::new().working_in(dir.path());
    let line = format!("--name=a --filename={} --rw=randread --direct=1", device.0.display());
    let document = json(&fathom, &line);
    let name = device.0.file_name().unwrap().to_str().unwrap();
    assert_eq!(document["disk_util"][0]["name"], name);
    assert_ne!(document["fathom"]["phases"][0]["served by"], "memory file system");
}
