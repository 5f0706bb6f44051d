//! The catalogue of valid images, each mounted twice: what the kernel shows is what went in, what the library reads and what `extract` unpacks;
//! and inode numbers are the same the second time, though everything is looked up the other way round.

use crate::mount::support::{Mounted, can_mount};
use fathom_isofs::{FileSource, Image, Options, Session, Step, Walk};
use fathom_testkit::iso::valid::{self, Content, Valid};
use fathom_testkit::need_root;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

const POLICIES: [&[&str]; 4] =
    [&[], &["--policy", "baseline"], &["--policy", "seed"], &["--policy", "modern"]];

type Tree = BTreeMap<String, Content>;

fn paths_below(top: &Path) -> Vec<String> {
    let (mut found, mut left) = (Vec::new(), vec![top.to_path_buf()]);
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(top).unwrap().to_str().unwrap().to_owned());
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                left.push(path);
            }
        }
    }
    found
}

fn content(path: &Path) -> Content {
    let about = fs::symlink_metadata(path).unwrap();
    let kind = about.file_type();
    if kind.is_dir() {
        Content::Directory
    } else if kind.is_symlink() {
        Content::Link(fs::read_link(path).unwrap().to_str().unwrap().to_owned())
    } else if kind.is_char_device() {
        Content::Device(rustix::fs::major(about.rdev()), rustix::fs::minor(about.rdev()))
    } else if kind.is_fifo() {
        Content::Pipe
    } else {
        assert!(kind.is_file(), "{path:?}");
        Content::File(fs::read(path).unwrap())
    }
}

fn tree(top: &Path) -> Tree {
    paths_below(top).into_iter().map(|path| (path.clone(), content(&top.join(&path)))).collect()
}

fn options<'a>(valid: &Valid, policy: &[&'a str]) -> Vec<&'a str> {
    let session: &[&str] = if valid.newest { &["--session", "last"] } else { &[] };
    session.iter().chain(policy).copied().collect()
}

/// Number of each path as the library has it.
fn numbers_of_the_library(image: &Path, newest: bool) -> BTreeMap<String, u64> {
    let session = if newest { Session::Last } else { Session::First };
    let source = FileSource::new(File::open(image).unwrap()).unwrap();
    let image = Image::open(source, &Options { session, ..Options::default() }).unwrap();
    let (mut numbers, mut walk) = (BTreeMap::new(), Walk::new(&image));
    while let Some(step) = walk.step() {
        let Step::File { path, node, .. } = step else { panic!("{step:?}") };
        numbers.insert(String::from_utf8(path.to_vec()).unwrap(), node.inode());
    }
    numbers
}

/// The kernel's number of each path, looked up in this order.
fn numbers(on: &Path, paths: &[String]) -> BTreeMap<String, u64> {
    let number = |path: &String| fs::symlink_metadata(on.join(path)).unwrap().ino();
    paths.iter().map(|path| (path.clone(), number(path))).collect()
}

fn compare_attributes(valid: &Valid, on: &Path) {
    for (path, recorded) in &valid.attributes {
        let about = fs::symlink_metadata(on.join(path)).unwrap();
        let seen = (
            about.mode() & 0o7777,
            about.nlink(),
            (about.uid(), about.gid()),
            (about.mtime(), about.atime()),
        );
        let expected = (
            recorded.permissions,
            u64::from(recorded.links),
            recorded.owner,
            (recorded.modified, recorded.accessed),
        );
        assert_eq!(seen, expected, "{}: {path}", valid.name);
        let first = fs::symlink_metadata(on.join(&recorded.same_as)).unwrap();
        assert_eq!(first.ino(), about.ino(), "{}: {path}", valid.name);
    }
}

#[test]
fn what_went_in_comes_out_of_every_door_under_the_same_numbers() {
    let test = "what_went_in_comes_out_of_every_door_under_the_same_numbers";
    // Some files are nobody's to read but root's.
    if !can_mount(test) || !need_root(test) {
        return;
    }
    for (n, valid) in valid::all().into_iter().enumerate() {
        let expected: Tree = valid.tree.iter().cloned().collect();
        let mut mount = Mounted::new(&valid.bytes, &options(&valid, POLICIES[n % 4]));
        let mut paths: Vec<String> = expected.keys().cloned().collect();
        let first = numbers(&mount.on, &paths);
        assert_eq!(tree(&mount.on), expected, "{}", valid.name);
        compare_attributes(&valid, &mount.on);
        mount.signal(libc::SIGINT);
        let _ = mount.finish().expect_code(0);
        let fathom = mount.into_directory();
        let of_library = numbers_of_the_library(&fathom.work().join("disc.iso"), valid.newest);
        assert_eq!(first, of_library, "{}", valid.name);
        let words = [&["iso", "extract"][..], &options(&valid, &[])[..], &["disc.iso", "out"][..]].concat();
        let outcome = fathom.run(&words);
        let special = |content: &Content| matches!(content, Content::Device(..) | Content::Pipe);
        let left_out = expected.values().any(special);
        assert_eq!(outcome.code, Some(if left_out { 3 } else { 0 }), "{}: {outcome:?}", valid.name);
        let wanted: Tree = expected.clone().into_iter().filter(|(_, content)| !special(content)).collect();
        assert_eq!(tree(&fathom.work().join("out")), wanted, "{}", valid.name);
        // Again, under another policy and the other way round.
        let mount = Mounted::again(fathom, &options(&valid, POLICIES[(n + 1) % 4]));
        paths.reverse();
        assert_eq!(numbers(&mount.on, &paths), first, "{}", valid.name);
        assert_eq!(tree(&mount.on), expected, "{}, again", valid.name);
        drop(mount.end());
    }
}

#[test]
fn boot_images_are_files_of_the_mount_where_they_are_asked_for() {
    if !can_mount("boot_images_are_files_of_the_mount_where_they_are_asked_for") {
        return;
    }
    let name = "El Torito for BIOS and EFI, of a floppy and a disk";
    let valid = valid::all().into_iter().find(|valid| valid.name == name).unwrap();
    for policy in POLICIES {
        let options: Vec<&str> = ["--boot"].iter().chain(policy).copied().collect();
        let mount = Mounted::new(&valid.bytes, &options);
        let below = mount.on.join(".fathom/boot");
        assert_eq!(
            fathom_testkit::dir::names_in(&below),
            ["1-bios", "2-efi", "3-bios-floppy", "4-bios-disk"]
        );
        assert!(fs::read(below.join("2-efi")).unwrap() == [8; 4096]);
        assert!(fs::read(below.join("3-bios-floppy")).unwrap() == valid::noise(1440 << 10), "{policy:?}");
        drop(mount.end());
        let mount = Mounted::new(&valid.bytes, policy);
        assert!(!mount.on.join(".fathom").exists());
        drop(mount.end());
    }
}
