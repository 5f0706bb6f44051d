//! How a mount ends: signals, umount, deaths of readers and of the server itself; and what is not mounted at all.

use crate::mount::support::{Mounted, can_mount, disc, is_mounted, noise, take_down, until};
use fathom_testkit::{Fathom, TmpFs};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn signals_and_umount_end_it() {
    if !can_mount("signals_and_umount_end_it") {
        return;
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let mut mount = Mounted::new(&disc(), &[]);
        mount.signal(signal);
        let _ = mount.finish().expect_code(0);
        assert!(!is_mounted(&mount.on));
        assert_eq!(fs::read_dir(&mount.on).unwrap().count(), 0, "the directory is as it was");
    }
    let mut mount = Mounted::new(&disc(), &["--counters", "--policy", "seed"]);
    assert_eq!(fs::read(mount.on.join("Big file")).unwrap().len(), 3_000_001);
    assert!(fathom_testkit::unmount(&mount.on));
    let outcome = mount.finish().expect_code(0);
    let counted = outcome.stderr.lines().find(|line| line.starts_with('{')).expect("counters");
    let counted: serde_json::Value = serde_json::from_str(counted).unwrap();
    assert_eq!(counted["scheduler"], "clook-hsfs");
    assert!(counted["request_bytes"].as_u64().unwrap() >= 3_000_001, "{counted}");
}

#[test]
fn counters_are_told_while_it_lives() {
    if !can_mount("counters_are_told_while_it_lives") {
        return;
    }
    let mut mount = Mounted::new(&disc(), &["--policy", "baseline"]);
    let _ = fs::read(mount.on.join("docs/README")).unwrap();
    mount.signal(libc::SIGUSR1);
    // Of the root, of docs, and of the file.
    mount.running().wait_for_text("\"pages_read\":3");
    drop(mount.end());
}

#[test]
fn a_file_that_is_open_does_not_keep_it() {
    if !can_mount("a_file_that_is_open_does_not_keep_it") {
        return;
    }
    let mut mount = Mounted::new(&disc(), &[]);
    let file = File::open(mount.on.join("Big file")).unwrap();
    mount.signal(libc::SIGTERM);
    let _ = mount.finish().expect_code(0);
    assert!(!is_mounted(&mount.on));
    let error = file.read_at(&mut [0; 10], 2_900_000).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOTCONN), "{error}");
}

#[test]
fn a_server_that_is_killed_leaves_nothing() {
    if !can_mount("a_server_that_is_killed_leaves_nothing") {
        return;
    }
    for options in [&[][..], &["--policy", "seed"]] {
        let mut mount = Mounted::new(&disc(), options);
        let file = File::open(mount.on.join("Big file")).unwrap();
        mount.signal(libc::SIGKILL);
        assert_eq!(mount.finish().signal, Some(libc::SIGKILL));
        assert!(file.read_at(&mut [0; 10], 2_900_000).is_err(), "no hang, an error");
        let on = mount.on.clone();
        until("the guard's unmounting", || !is_mounted(&on));
    }
}

/// The guard's process id: the server's child process.
fn guard_of(pid: u32) -> Option<i32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[test]
fn what_a_dead_mount_left_is_taken_down_by_the_next() {
    if !can_mount("what_a_dead_mount_left_is_taken_down_by_the_next") {
        return;
    }
    let mut mount = Mounted::new(&disc(), &[]);
    let guard = guard_of(mount.running().pid()).expect("a guard");
    let guard = rustix::process::Pid::from_raw(guard).unwrap();
    rustix::process::kill_process(guard, rustix::process::Signal::KILL).unwrap();
    mount.signal(libc::SIGKILL);
    assert_eq!(mount.finish().signal, Some(libc::SIGKILL));
    // Any fathom command unmounts it, even one of a concurrent test, so whether it is still mounted cannot be checked here. In any
    // case the directory can be used again.
    let image = mount.fathom.work().join("disc.iso");
    let next = Fathom::new();
    let mut running = next.spawn(["mount".as_ref(), image.as_os_str(), mount.on.as_os_str()]);
    running.wait_for_text("mounted on");
    assert_eq!(fs::read(mount.on.join("docs/README")).unwrap(), b"read me\n");
    let twice = Fathom::new().run(["mount".as_ref(), image.as_os_str(), mount.on.as_os_str()]);
    let _ = twice.expect_code(2).expect_stderr("an image is mounted here");
    running.signal(libc::SIGINT);
    let _ = running.finish().expect_code(0);
    assert!(!is_mounted(&mount.on));
}

#[test]
fn a_directory_that_is_moved_takes_its_mount_along() {
    let test = "a_directory_that_is_moved_takes_its_mount_along";
    if !can_mount(test) {
        return;
    }
    let Some(other) = TmpFs::mount(test, 1 << 20) else { return };
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), disc()).unwrap();
    let [above, away, link] = ["above", "away", "above/on"].map(|name| fathom.work().join(name));
    fs::create_dir_all(&link).unwrap();
    let mut running = fathom.spawn(["mount", "disc.iso", "above/on"]);
    running.wait_for_text("mounted on");
    fs::rename(&above, &away).unwrap();
    fs::create_dir(&above).unwrap();
    std::os::unix::fs::symlink(other.path(), &link).unwrap();
    assert_eq!(fs::read(away.join("on/docs/README")).unwrap(), b"read me\n");
    running.signal(libc::SIGINT);
    let _ = running.finish().expect_code(0);
    assert!(!is_mounted(&away.join("on")) && is_mounted(other.path()));
}

#[test]
fn readers_that_are_killed_harm_nobody() {
    if !can_mount("readers_that_are_killed_harm_nobody") {
        return;
    }
    for options in [&[][..], &["--policy", "seed"], &["--policy", "modern"]] {
        let mount = Mounted::new(&disc(), options);
        for _ in 0..5 {
            let mut readers: Vec<_> = (0..3)
                .map(|_| {
                    let script = "while :; do cat \"$0\"; done";
                    let mut command = Command::new("sh");
                    command.args(["-c", script]).arg(mount.on.join("Big file"));
                    command.stdout(Stdio::piped()).spawn().unwrap()
                })
                .collect();
            for reader in &mut readers {
                // It is in the middle of the file, perhaps in the middle of a call.
                reader.stdout.as_mut().unwrap().read_exact(&mut [0; 100_000]).unwrap();
                reader.kill().unwrap();
                reader.wait().unwrap();
            }
        }
        assert!(fs::read(mount.on.join("Big file")).unwrap() == noise(3_000_001));
        drop(mount.end());
    }
}

#[test]
fn a_daemon_goes_to_the_background_and_comes_to_an_end() {
    if !can_mount("a_daemon_goes_to_the_background_and_comes_to_an_end") {
        return;
    }
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), disc()).unwrap();
    let on = fathom.work().join("on");
    fs::create_dir(&on).unwrap();
    let outcome = fathom.run(["mount", "--daemon", "disc.iso", "on"]).expect_code(0);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    let seen = fs::read(on.join("docs/README"));
    let unmounted = fathom_testkit::unmount(&on);
    take_down(&on);
    assert_eq!(seen.unwrap(), b"read me\n");
    assert!(unmounted && !is_mounted(&on));
    // Why it could not be mounted is said by the half that the user sees.
    fathom.run(["mount", "--daemon", "absent.iso", "on"]).expect_code(2).expect_stderr("cannot be opened");
}

#[test]
fn what_cannot_be_mounted_is_said_in_a_sentence() {
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), disc()).unwrap();
    fs::write(fathom.work().join("file"), "").unwrap();
    let refused = |args: &[&str], why: &str| {
        let _ = fathom.run(["mount"].iter().chain(args)).expect_code(2).expect_stderr(why);
    };
    refused(&["disc.iso", "none"], "a directory that exists");
    refused(&["disc.iso", "file"], "not a directory");
    refused(&["file", "."], "neither an ISO 9660 nor");
    refused(&["--scheduler", "cfk", "disc.iso", "."], "no elevator \"cfk\"");
    refused(&["--max-transfer", "1KiB", "disc.iso", "."], "from 4096 to");
    refused(&["--depth", "0", "disc.iso", "."], "0 is not in 1..=1024");
    assert!(!is_mounted(Path::new(fathom.work())));
}

/// The page's commands, as printed but for the place.
#[test]
fn the_documented_commands_run() {
    if !can_mount("the_documented_commands_run") {
        return;
    }
    let page = include_str!("../../../../docs/mount.md");
    let commands = page.split("```").nth(1).unwrap().lines().filter(|line| line.starts_with("fathom mount"));
    let mut run = 0;
    for command in commands {
        let command = command.split("   ").next().unwrap().trim();
        let options =
            command.strip_prefix("fathom mount").and_then(|c| c.strip_suffix(" disc.iso /mnt/disc"));
        let options: Vec<&str> = options.expect(command).split_whitespace().collect();
        // The daemon has a separate test.
        if options != ["--daemon"] {
            let mount = Mounted::new(&disc(), &options);
            assert_eq!(fs::read(mount.on.join("docs/README")).unwrap(), b"read me\n");
            drop(mount.end());
        }
        run += 1;
    }
    assert_eq!(run, 4);
}
