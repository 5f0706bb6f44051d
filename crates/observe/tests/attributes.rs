//! File attributes, on file systems that have them.

use fathom_observe::attributes::{self, Attributes};
use fathom_testkit::{Kind, LoopFs, TestDir};
use rustix::fs::IFlags;
use std::fs::File;

#[test]
fn attributes_of_ext4_files_are_counted() {
    let Some(fs) = LoopFs::of(Kind::Ext4, "attributes_of_ext4_files_are_counted").mount() else { return };
    let file = |name: &str, flags: IFlags| {
        let path = fs.path().join(name);
        let file = File::create_new(&path).unwrap();
        let had = rustix::fs::ioctl_getflags(&file).unwrap();
        let done = rustix::fs::ioctl_setflags(&file, had | flags);
        (path, done)
    };
    let (plain, _) = file("plain", IFlags::empty());
    let (sync, done) = file("sync", IFlags::SYNC);
    done.unwrap();
    // Needs CAP_SYS_RESOURCE, which root in a container may lack.
    let (journalled, done) = file("journalled", IFlags::JOURNALING);
    let expected =
        Attributes { files: 3, sync: 1, journalled: u64::from(done.is_ok()), ..Attributes::default() };
    assert_eq!(attributes::of(&[plain, sync, journalled]), expected);
    let directory = fs.path().join("directory");
    std::fs::create_dir(&directory).unwrap();
    rustix::fs::ioctl_setflags(File::open(&directory).unwrap(), IFlags::SYNC).unwrap();
    let inherits = directory.join("file");
    File::create_new(&inherits).unwrap();
    assert_eq!(
        attributes::of(&[inherits]),
        Attributes { files: 1, sync: 1, journalled: 0, ..Attributes::default() }
    );
}

#[test]
fn what_is_not_there_does_not_count() {
    let dir = TestDir::new();
    assert_eq!(attributes::of(&[dir.path().join("none")]), Attributes::default());
}
