//! A mount through either back-end: the same files, the same figures under every policy, and an error at the same byte of a device that cannot
//! read its end; a ring that is forbidden keeps the image from being mounted.

use crate::mount::support::{Mounted, can_mount, disc, is_mounted, noise};
use fathom_observe::loop_device::ReadOnlyLoop;
use fathom_testkit::iso::Builder;
use fathom_testkit::{Fathom, need_root, skip, without_call};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, symlink};

/// Whether images can be mounted and read through a ring here; if not, records the skip.
fn can_ring(test: &str) -> bool {
    if !can_mount(test) {
        return false;
    }
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), Builder::new().build().bytes).unwrap();
    let tried = fathom.run(["iso", "ls", "--backend", "io_uring", "disc.iso"]);
    if tried.code != Some(0) {
        skip(test, &tried.stderr);
    }
    tried.code == Some(0)
}

/// The JSON that a mount printed when it ended.
#[track_caller]
fn told(stderr: &str) -> Value {
    let line = stderr.lines().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{stderr}"))).unwrap()
}

#[test]
fn a_mount_through_a_ring_shows_the_same_files() {
    if !can_ring("a_mount_through_a_ring_shows_the_same_files") {
        return;
    }
    let expected = noise(3_000_001);
    for policy in [&[][..], &["--policy", "baseline"], &["--policy", "seed"], &["--policy", "modern"]] {
        let options = [policy, &["--backend", "io_uring", "--counters"]].concat();
        let mount = Mounted::new(&disc(), &options);
        assert!(fs::read(mount.on.join("Big file")).unwrap() == expected, "{options:?}");
        assert_eq!(fs::read(mount.on.join("docs/README")).unwrap(), b"read me\n");
        assert!(fs::read(mount.on.join("sh")).unwrap() == fs::read("/bin/sh").unwrap());
        assert_eq!(fs::read_dir(mount.on.join("many")).unwrap().count(), 300);
        std::thread::scope(|scope| {
            for reader in 0..4_usize {
                let (on, expected) = (&mount.on, &expected);
                scope.spawn(move || {
                    let file = File::open(on.join("Big file")).unwrap();
                    let mut buf = vec![0; 70_001];
                    for n in 0..40_usize {
                        let at = (n * 1_234_577 + reader * 999_983) % 3_000_001;
                        let got = file.read_at(&mut buf, at as u64).unwrap();
                        assert!(got > 0 && buf[..got] == expected[at..at + got]);
                    }
                });
            }
        });
        let counted = told(&mount.end().stderr);
        let backend = &counted["backend"];
        assert_eq!((&backend["name"], &backend["ring"]["depth"]), (&"io_uring".into(), &32.into()));
        assert!(backend["ring"]["reads"].as_u64() >= backend["ring"]["submissions"].as_u64(), "{backend}");
        assert!(backend["ring"]["reads"].as_u64() > Some(20), "{backend}");
    }
}

/// What a reader counted that does not depend on how long anything took.
fn figures(counted: &Value) -> Vec<&Value> {
    let keys = [
        "scheduler",
        "pages_asked",
        "pages_cached",
        "pages_read",
        "pages_read_ahead",
        "pages_failed",
        "requests",
        "request_bytes",
        "requests_joined",
        "retries",
        "requests_by_size",
        "requests_by_distance",
    ];
    keys.iter().map(|key| &counted[*key]).collect()
}

#[test]
fn a_mount_through_a_ring_has_the_same_figures() {
    if !can_ring("a_mount_through_a_ring_has_the_same_figures") {
        return;
    }
    let expected = noise(3_000_001);
    for policy in ["baseline", "seed", "modern"] {
        let counted = ["pread", "io_uring"].map(|backend| {
            // One that answers and none that helps: what happens does not depend on who is faster.
            let options =
                ["--policy", policy, "--helpers", "0", "--workers", "1", "--counters", "--backend", backend];
            let mount = Mounted::new(&disc(), &options);
            let file = File::open(mount.on.join("Big file")).unwrap();
            let mut buf = vec![0; 100_000];
            for n in 0..100_usize {
                // In order, then at random, in short and in long reads.
                let (at, bytes) = match n {
                    0..50 => (n * 8192, 8192),
                    _ => (n * 1_234_577 % 3_000_001, 100_000),
                };
                let got = file.read_at(&mut buf[..bytes], at as u64).unwrap();
                assert!(got > 0 && buf[..got] == expected[at..at + got]);
            }
            drop(file);
            let counted = told(&mount.end().stderr);
            assert_eq!(counted["backend"]["name"], backend);
            counted
        });
        assert!(counted[0]["requests"].as_u64() > Some(10) && counted[0]["backend"]["ring"].is_null());
        assert_eq!(figures(&counted[0]), figures(&counted[1]), "{policy}");
    }
}

/// M10: a device whose end cannot be read any more. Everything before that comes, whatever it was asked for together with.
#[test]
fn a_device_with_bad_blocks_is_read_up_to_them() {
    let test = "a_device_with_bad_blocks_is_read_up_to_them";
    if !need_root(test) || !can_ring(test) {
        return;
    }
    let data = noise(1_000_000);
    let built = Builder::new().file("file", &data).build();
    let start = built.data["file"];
    let end = (start + 300_000) / 4096 * 4096;
    for options in [
        &["--policy", "modern"][..],
        &["--policy", "modern", "--direct"],
        &["--policy", "modern", "--direct", "--chunk", "block", "--coalesce", "off"],
        &["--policy", "seed", "--isolate", "on", "--direct"],
    ] {
        for backend in ["pread", "io_uring"] {
            let fathom = Fathom::new();
            let file = fathom.work().join("file.iso");
            fs::write(&file, &built.bytes).unwrap();
            let device = match ReadOnlyLoop::over(&file) {
                Ok(device) => device,
                Err(e) => return skip(test, &format!("no loop device: {e}")),
            };
            symlink(device.path(), fathom.work().join("disc.iso")).unwrap();
            // The device stays as large as it was, and has nothing there.
            OpenOptions::new().write(true).open(&file).unwrap().set_len(end as u64).unwrap();
            let options = [options, &["--backend", backend, "--counters"]].concat();
            let mut mount = Mounted::again(fathom, &options);
            let mut file = File::open(mount.on.join("file")).unwrap();
            let mut got = Vec::new();
            let error = file.read_to_end(&mut got).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EIO), "{options:?}");
            // Through the page cache the kernel reads several pages as one, and has all of them or none.
            let short = if options.contains(&"--direct") { 0 } else { 128 << 10 };
            assert!(
                (end - start - short..=end - start).contains(&got.len()) && got == data[..got.len()],
                "{} bytes, {options:?}",
                got.len()
            );
            let mut piece = [0; 4096];
            assert_eq!(file.read_at(&mut piece, 100_000).unwrap(), 4096, "what is there stays there");
            assert!(piece == data[100_000..104_096]);
            drop(file);
            mount.signal(libc::SIGINT);
            let counted = told(&mount.finish().expect_code(0).stderr);
            // A block that was asked for alone is not asked for again.
            let single = options.contains(&"block");
            assert!(single || counted["retries"].as_u64() > Some(0), "{options:?}: {counted}");
            drop(device);
        }
    }
}

#[test]
fn a_ring_that_is_forbidden_is_an_error() {
    if !can_mount("a_ring_that_is_forbidden_is_an_error") {
        return;
    }
    let fathom = Fathom::new();
    fs::write(fathom.work().join("disc.iso"), disc()).unwrap();
    fs::create_dir(fathom.work().join("on")).unwrap();
    for daemon in [&[][..], &["--daemon"]] {
        without_call("a_ring_that_is_forbidden_is_an_error", libc::SYS_io_uring_setup, libc::EPERM, || {
            let words = [&["mount", "--backend", "io_uring"][..], daemon, &["disc.iso", "on"]].concat();
            let outcome = fathom.run(words).expect_code(2).expect_stderr("--backend io_uring: io_uring is ");
            assert!(outcome.stderr.contains("(--backend pread)"), "{outcome:?}");
        });
        assert!(!is_mounted(&fathom.work().join("on")));
    }
}
