//! What programs may do with the files: look up, read, map, execute; not write, become root, or find attributes that do
//! not exist.

use crate::mount::support::{Mounted, can_mount, disc, line_of, noise};
use rustix::fs::{SeekFrom, StatVfsMountFlags, XattrFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::process::Command;

const POLICIES: [&[&str]; 4] =
    [&[], &["--policy", "baseline"], &["--policy", "seed"], &["--policy", "modern"]];

#[test]
fn the_mount_is_read_only_and_lends_no_rights() {
    if !can_mount("the_mount_is_read_only_and_lends_no_rights") {
        return;
    }
    let mount = Mounted::new(&disc(), &[]);
    let line = line_of(&mount.on).unwrap();
    assert!(
        line.contains(" ro,nosuid,nodev") && line.contains(" fathom:/") && line.contains("disc.iso"),
        "{line}"
    );
    let about = rustix::fs::statvfs(&mount.on).unwrap();
    assert_eq!((about.f_bsize, about.f_bfree, about.f_bavail, about.f_namemax), (2048, 0, 0, 255));
    assert!(about.f_blocks >= 3_000_001 / 2048);
    assert!(about.f_flag.contains(StatVfsMountFlags::RDONLY | StatVfsMountFlags::NOSUID));
    let refused = |error: std::io::Error| assert_eq!(error.raw_os_error(), Some(libc::EROFS), "{error}");
    refused(fs::write(mount.on.join("new"), "x").unwrap_err());
    refused(OpenOptions::new().write(true).open(mount.on.join("docs/README")).unwrap_err());
    refused(fs::remove_file(mount.on.join("empty")).unwrap_err());
    refused(fs::rename(mount.on.join("empty"), mount.on.join("e")).unwrap_err());
    refused(fs::create_dir(mount.on.join("d")).unwrap_err());
    refused(std::os::unix::fs::symlink("x", mount.on.join("l")).unwrap_err());
    refused(fs::hard_link(mount.on.join("empty"), mount.on.join("h")).unwrap_err());
    refused(fs::remove_dir(mount.on.join("many")).unwrap_err());
    refused(fs::set_permissions(mount.on.join("empty"), fs::Permissions::from_mode(0o777)).unwrap_err());
    refused(std::os::unix::fs::chown(mount.on.join("empty"), Some(1), Some(1)).unwrap_err());
    let set = rustix::fs::setxattr(mount.on.join("empty"), "user.any", b"1", XattrFlags::empty());
    assert_eq!(set, Err(Errno::ROFS));
    drop(mount.end());
}

#[test]
fn links_numbers_and_attributes() {
    if !can_mount("links_numbers_and_attributes") {
        return;
    }
    let numbers = |mount: &Mounted| {
        ["Big file", "docs", "docs/README", "hard1", "hard2", "link", "sh"]
            .map(|name| fs::symlink_metadata(mount.on.join(name)).unwrap().ino())
    };
    let mount = Mounted::new(&disc(), &[]);
    let first = numbers(&mount);
    assert_eq!(first[3], first[4], "hard links");
    assert_eq!(fs::metadata(mount.on.join("hard1")).unwrap().nlink(), 2);
    assert_eq!(fs::read_link(mount.on.join("link")).unwrap().to_str(), Some("docs/README"));
    let file = mount.on.join("docs/README");
    let mut names = [0; 100];
    assert!(matches!(rustix::fs::listxattr(&file, &mut names), Ok(0) | Err(Errno::OPNOTSUPP)));
    assert_eq!(rustix::fs::getxattr(&file, "user.any", &mut names), Err(Errno::OPNOTSUPP));
    let open = File::open(mount.on.join("Big file")).unwrap();
    assert_eq!(rustix::fs::seek(&open, SeekFrom::Data(5)), Ok(5));
    assert_eq!(rustix::fs::seek(&open, SeekFrom::Hole(5)), Ok(3_000_001));
    assert_eq!(rustix::fs::seek(&open, SeekFrom::Data(3_000_001)), Err(Errno::NXIO), "no data at the end");
    assert_eq!(rustix::fs::seek(&open, SeekFrom::End(-1)), Ok(3_000_000));
    drop(open);
    let fathom = {
        let mut mount = mount;
        mount.signal(libc::SIGTERM);
        let _ = mount.finish().expect_code(0);
        fs::read(mount.fathom.work().join("disc.iso")).unwrap()
    };
    // F5: on another mount the same.
    let again = Mounted::new(&fathom, &["--policy", "seed"]);
    assert_eq!(numbers(&again), first);
    drop(again.end());
}

#[test]
fn programs_run_and_files_are_mapped() {
    if !can_mount("programs_run_and_files_are_mapped") {
        return;
    }
    for options in POLICIES {
        let mount = Mounted::new(&disc(), options);
        let status = Command::new(mount.on.join("sh")).args(["-c", "exit 7"]).status().unwrap();
        assert_eq!(status.code(), Some(7), "{options:?}");
        for flags in [MapFlags::PRIVATE, MapFlags::SHARED] {
            mapped(&mount, options, flags);
        }
        drop(mount.end());
    }
}

/// Maps a file and compares all of it.
fn mapped(mount: &Mounted, options: &[&str], flags: MapFlags) {
    let file = File::open(mount.on.join("Big file")).unwrap();
    let length = 3_000_001;
    // SAFETY: the kernel chooses the place, and the file on a read-only mount does not change under the mapping.
    let mapped = unsafe { rustix::mm::mmap(std::ptr::null_mut(), length, ProtFlags::READ, flags, &file, 0) };
    // Kernels before 6.6 share no mapping of a file that they do not cache.
    if flags == MapFlags::SHARED && !options.is_empty() && mapped == Err(Errno::NODEV) {
        return;
    }
    let mapped = mapped.unwrap();
    // SAFETY: `length` bytes are mapped for reading until munmap below.
    let bytes = unsafe { std::slice::from_raw_parts(mapped.cast::<u8>(), length) };
    assert!(bytes == noise(length), "{options:?} {flags:?}");
    // SAFETY: the mapping made above, of this length, and `bytes` is not used afterwards.
    unsafe { rustix::mm::munmap(mapped, length).unwrap() };
}

#[test]
fn several_readers_at_once_under_every_policy() {
    if !can_mount("several_readers_at_once_under_every_policy") {
        return;
    }
    let expected = noise(3_000_001);
    for options in POLICIES {
        let mount = Mounted::new(&disc(), options);
        std::thread::scope(|scope| {
            for reader in 0..4_usize {
                let (on, expected) = (&mount.on, &expected);
                scope.spawn(move || {
                    let file = File::open(on.join("Big file")).unwrap();
                    let mut buf = vec![0; 70_001];
                    for n in 0..60_usize {
                        // Two in order from different places, two at random.
                        let at = match reader {
                            0 | 1 => (reader * 1_500_000 + n * 20_000) % 3_000_001,
                            _ => (n * 1_234_577 + reader * 999_983) % 3_000_001,
                        };
                        let got = file.read_at(&mut buf, at as u64).unwrap();
                        assert!(got > 0 && buf[..got] == expected[at..at + got]);
                        assert!(fs::read_dir(on.join("many")).unwrap().count() == 300);
                    }
                });
            }
        });
        drop(mount.end());
    }
}
