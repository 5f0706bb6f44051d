//! An ordinary user's mount: a helper that may mount does it for him, and afterwards everything is as for root, except that nobody else may look,
//! not even root. The user is made by `setpriv`, which takes root.

use crate::mount::support::{Mounted, disc, helper, is_mounted, line_of, noise, take_down, until};
use fathom_testkit::{Fathom, Outcome, find_tool, need_root, skip};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

/// The user "nobody", in no group.
const USER: u32 = 65_534;
const AS_USER: [&str; 4] = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];

const BINARY: &str = env!("CARGO_BIN_EXE_fathom");

/// The words of `setpriv` for a command.
fn words<'a>(command: &[&'a str]) -> Vec<&'a str> {
    AS_USER.into_iter().chain(command.iter().copied()).collect()
}

/// Runs `setpriv` in a directory that [`USER`] owns, with the image "disc.iso" and the mount point "on". `None`, with the skip recorded,
/// if an ordinary user cannot mount here.
fn user(test: &str) -> Option<Fathom> {
    if !need_root(test) {
        return None;
    }
    let Some(setpriv) = find_tool("setpriv") else {
        skip(test, "needs the program setpriv (util-linux)");
        return None;
    };
    let may_open = fs::metadata("/dev/fuse").is_ok_and(|about| about.mode() & 0o006 == 0o006);
    let may_mount =
        helper().is_some_and(|at| fs::metadata(at).is_ok_and(|about| about.mode() & 0o4001 == 0o4001));
    if !may_open || !may_mount {
        skip(test, "needs a /dev/fuse that everybody may open, and fusermount3 with the right to mount");
        return None;
    }
    let fathom = Fathom::with_binary(setpriv);
    let (image, on) = (fathom.work().join("disc.iso"), fathom.work().join("on"));
    fs::write(&image, disc()).unwrap();
    fs::create_dir(&on).unwrap();
    for path in [fathom.dir().path(), fathom.work(), image.as_path(), on.as_path()] {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
    let work = fathom.work().to_str().unwrap();
    let reached = ["sh", "-c", "test -x \"$0\" && test -w \"$1\"", BINARY, work];
    if run(&fathom, &reached).code != Some(0) {
        skip(test, "an ordinary user cannot reach the program or the directories of tests on this machine");
        return None;
    }
    Some(fathom)
}

/// What a command of the user says.
fn run(fathom: &Fathom, command: &[&str]) -> Outcome {
    fathom.run(words(command))
}

fn mounted(fathom: Fathom) -> Mounted {
    Mounted::started(fathom, &words(&[BINARY, "mount", "disc.iso", "on"]))
}

#[test]
fn an_ordinary_user_mounts_reads_and_unmounts() {
    let Some(fathom) = user("an_ordinary_user_mounts_reads_and_unmounts") else { return };
    fs::write(fathom.work().join("expected"), noise(3_000_001)).unwrap();
    let mut mount = mounted(fathom);
    let line = line_of(&mount.on).unwrap();
    assert!(line.contains(" ro,nosuid,nodev") && line.contains("user_id=65534"), "{line}");
    let fathom = &mount.fathom;
    let _ = run(fathom, &["cat", "on/docs/README"]).expect_code(0).expect_stdout("read me\n");
    let _ = run(fathom, &["cmp", "on/Big file", "expected"]).expect_code(0);
    let listed = run(fathom, &["ls", "on/many"]).expect_code(0).stdout;
    assert_eq!(listed.lines().count(), 300);
    // Root's alone, says the image.
    let _ = run(fathom, &["cat", "on/docs/secret"]).expect_code(1).expect_stderr("Permission denied");
    // Root's program that would lend its rights: it runs, and lends none.
    let ran = run(fathom, &["on/sh", "-c", "id -u; exit 7"]).expect_code(7);
    assert_eq!(ran.stdout, "65534\n");
    // No other user has access.
    assert_eq!(fs::read_dir(&mount.on).unwrap_err().kind(), ErrorKind::PermissionDenied);
    let helper = helper().unwrap();
    let _ = run(fathom, &[helper.to_str().unwrap(), "-u", "on"]).expect_code(0);
    let _ = mount.finish().expect_code(0);
    assert!(!is_mounted(&mount.on));
}

#[test]
fn an_ordinary_users_mount_ends_with_its_server() {
    let Some(mut fathom) = user("an_ordinary_users_mount_ends_with_its_server") else { return };
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut mount = mounted(fathom);
        mount.signal(signal);
        let _ = mount.finish().expect_code(0);
        fathom = mount.into_directory();
    }
    let mut mount = mounted(fathom);
    mount.signal(libc::SIGKILL);
    assert_eq!(mount.finish().signal, Some(libc::SIGKILL));
    let on = mount.on.clone();
    until("the guard's unmounting", || !is_mounted(&on));
    assert_eq!(fs::read_dir(&on).unwrap().count(), 0, "the directory is as it was");
}

#[test]
fn an_ordinary_users_daemon() {
    let Some(fathom) = user("an_ordinary_users_daemon") else { return };
    let _ = run(&fathom, &[BINARY, "mount", "--daemon", "--policy", "seed", "disc.iso", "on"]).expect_code(0);
    let read = run(&fathom, &["cat", "on/docs/README"]);
    let helper = helper().unwrap();
    let unmounted = run(&fathom, &[helper.to_str().unwrap(), "-u", "on"]);
    let on = fathom.work().join("on");
    take_down(&on);
    assert_eq!((read.stdout.as_str(), unmounted.code), ("read me\n", Some(0)));
    assert!(!is_mounted(&on));
}

#[test]
fn what_an_ordinary_user_may_not_is_said() {
    let Some(fathom) = user("what_an_ordinary_user_may_not_is_said") else { return };
    let theirs = fathom.work().join("theirs");
    fs::create_dir(&theirs).unwrap();
    let refused = run(&fathom, &[BINARY, "mount", "disc.iso", "theirs"]).expect_code(3);
    let _ = refused.expect_stderr("a directory that belongs to that user");
    assert!(!is_mounted(&theirs));
    chown(fathom.work().join("disc.iso"), Some(0), Some(0)).unwrap();
    fs::set_permissions(fathom.work().join("disc.iso"), fs::Permissions::from_mode(0o600)).unwrap();
    let _ =
        run(&fathom, &[BINARY, "mount", "disc.iso", "on"]).expect_code(2).expect_stderr("cannot be opened");
}
