//! The catalogue of valid images: each reads back as what went into it, without findings. With one byte changed anywhere in its
//! structures nothing panics, nothing is read outside and the walk ends: twenty images, a thousand changes each.

use crate::support::Watched;
use fathom_isofs::check::check;
use fathom_isofs::format::el_torito::Media;
use fathom_isofs::{Condition, Image, Kind, Options, Session, Step, Walk};
use fathom_testkit::iso::valid::{self, Content, Valid};
use std::collections::BTreeMap;

fn read(image: &Image<Watched>) -> BTreeMap<String, Content> {
    let mut tree = BTreeMap::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let Step::File { path, node, again: false } = step else { panic!("{step:?}") };
        let content = match node.kind() {
            Kind::File => Content::File(image.read_all(node, 1 << 24).unwrap()),
            Kind::Link => Content::Link(String::from_utf8(image.read_link(node).unwrap()).unwrap()),
            Kind::Directory => Content::Directory,
            Kind::CharDevice => Content::Device(node.device().0, node.device().1),
            Kind::Fifo => Content::Pipe,
            other => panic!("{other:?}"),
        };
        tree.insert(String::from_utf8(path.to_vec()).unwrap(), content);
    }
    tree
}

/// Opens the session that the case is about.
fn open(valid: &Valid) -> Image<Watched> {
    let session = if valid.newest { Session::Last } else { Session::First };
    let options = Options { session, ..Options::default() };
    Image::open(Watched::new(valid.bytes.clone()), &options).unwrap_or_else(|e| panic!("{}: {e}", valid.name))
}

/// An image of the catalogue by name.
fn named(name: &str) -> Image<Watched> {
    let found = valid::all().into_iter().find(|valid| valid.name == name);
    open(&found.unwrap_or_else(|| panic!("no image {name:?}")))
}

#[test]
fn what_went_in_comes_out() {
    for valid in valid::all() {
        let image = open(&valid);
        assert_eq!(read(&image), valid.tree.into_iter().collect(), "{}", valid.name);
        let findings = check(&image).findings;
        // The generator leaves dates unset in attribute records.
        let real: Vec<_> =
            findings.list().iter().filter(|f| f.condition != Condition::ExtendedAttributes).collect();
        assert!(real.is_empty(), "{}: {real:?}", valid.name);
    }
}

/// F1: besides content also owner, permissions, times and hard links.
#[test]
fn attributes_are_those_that_went_in() {
    let mut compared = 0;
    for valid in valid::all() {
        let image = open(&valid);
        let node = |path: &str| image.resolve(path.as_bytes()).unwrap().expect(path);
        for (path, about) in &valid.attributes {
            let read = node(path);
            let versioned = image.resolve(format!("{path};1").as_bytes()).unwrap();
            assert_eq!(versioned.map(|node| node.record()), Some(read.record()), "{}: {path};1", valid.name);
            let times = read.times();
            let [modified, accessed] =
                [times.modified, times.accessed].map(|date| date.moment().map(|at| at.seconds));
            let seen = (read.mode() & 0o7777, read.links(), (read.uid(), read.gid()), modified, accessed);
            let recorded =
                (about.permissions, about.links, about.owner, Some(about.modified), Some(about.accessed));
            assert_eq!(seen, recorded, "{}: {path}", valid.name);
            // All names of a file share it, and no others do.
            for (other, its) in &valid.attributes {
                let one = its.same_as == about.same_as;
                assert_eq!(node(other).inode() == read.inode(), one, "{}: {path}, {other}", valid.name);
            }
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared} files");
}

#[test]
fn boot_images_of_every_kind_are_told() {
    let image = named("El Torito for BIOS and EFI, of a floppy and a disk");
    let told: Vec<_> = image.info().boot.iter().map(|boot| (boot.platform, boot.media)).collect();
    assert_eq!(told, [(0, Media::None), (0xEF, Media::None), (0, Media::Floppy(1440)), (0, Media::Disk)]);
    let sizes = image.info().boot.iter().map(|boot| image.read_boot_image(boot, 1 << 30).unwrap().len());
    assert_eq!(sizes.collect::<Vec<_>>(), [2048, 4096, 1440 << 10, 64 << 10]);
}

#[test]
fn boot_images_are_files_where_they_are_asked_for() {
    let find = |name: &str| valid::all().into_iter().find(|valid| valid.name == name).unwrap();
    let options = Options { boot: true, ..Options::default() };
    let several = find("El Torito for BIOS and EFI, of a floppy and a disk");
    let image = Image::open(Watched::new(several.bytes), &options).unwrap();
    let mut tree = read(&image);
    for (index, name) in ["1-bios", "2-efi", "3-bios-floppy", "4-bios-disk"].into_iter().enumerate() {
        let boot = image.read_boot_image(&image.info().boot[index], 1 << 30).unwrap();
        assert_eq!(tree.remove(&format!(".fathom/boot/{name}")), Some(Content::File(boot)), "{name}");
    }
    for directory in [".fathom/boot", ".fathom"] {
        assert_eq!(tree.remove(directory), Some(Content::Directory));
    }
    assert_eq!(tree, several.tree.into_iter().collect());
    assert_eq!(check(&image).findings.list(), []);
    let node = image.resolve(b"/.fathom/boot/2-efi").unwrap().unwrap();
    assert_eq!((node.size(), node.mode()), (4096, 0o100_444));
    // Without boot images the directory is absent.
    let plain = Image::open(Watched::new(find("plain").bytes), &options).unwrap();
    assert!(plain.resolve(b".fathom").unwrap().is_none());
}

#[test]
fn what_shares_the_medium_is_told() {
    assert!(named("recognition area of UDF").info().udf && !named("plain").info().udf);
    for (name, count) in
        [("1 session, the last", 1), ("2 sessions, the last", 2), ("5 sessions, the last", 5)]
    {
        assert_eq!(named(name).sessions().unwrap().len(), count);
    }
}

const FLIPS: u64 = 1000;

/// Opens, walks and reads a little of everything.
fn go_through(bytes: Vec<u8>, name: &str) {
    let Ok(image) = Image::open(Watched::new(bytes), &Options::default()) else { return };
    let mut walk = Walk::new(&image);
    let (mut steps, mut buf) = (0, [0; 100]);
    while let Some(step) = walk.step() {
        steps += 1;
        assert!(steps < 10_000, "{name}: a small image has no ten thousand files");
        if let Step::File { node, .. } = step {
            for offset in [0, node.size().saturating_sub(1)] {
                let _ = image.read_at(node, offset, &mut buf);
            }
            let _ = image.read_link(node);
        }
    }
}

#[test]
fn a_thousand_changed_bytes_in_each_harm_nobody() {
    let all = valid::all();
    assert!(all.len() >= 20);
    for valid in all {
        // Descriptors, path tables, directories and continuations come before the data. Every tenth change is anywhere.
        let structures = (32_768, valid.bytes.len().min(32_768 + 24 * 2352));
        let mut state =
            valid.name.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut draw = |below: usize| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (state >> 33) as usize % below
        };
        for n in 0..FLIPS {
            let (from, to) = if n % 10 == 0 { (0, valid.bytes.len()) } else { structures };
            let (at, flip) = (from + draw(to - from), 1 + draw(255));
            let mut bytes = valid.bytes.clone();
            bytes[at] ^= u8::try_from(flip).unwrap();
            let name = format!("{}: byte {at} ^ {flip:#x}", valid.name);
            go_through(bytes, &name);
        }
    }
}
