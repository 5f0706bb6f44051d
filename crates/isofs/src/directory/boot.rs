//! Shows boot images as files if requested: a virtual directory ".fathom" in the root contains "boot", with a file for each image in the
//! boot catalogue. Their data are blocks of the image like any other file's.

use super::{Directory, Entry};
use crate::error::Place;
use crate::format::el_torito::{BootImage, Media};
use crate::format::rock_ridge::Times;
use crate::format::section::{Extents, Section};
use crate::image::Image;
use crate::node::{Data, Kind, Node};
use crate::source::ReadAt;
use std::sync::Arc;

/// The virtual directory in the root.
const OWN: &[u8] = b".fathom";
/// Its only entry.
const BOOT: &[u8] = b"boot";

/// First inode number of boot images: above those of blocks, records and serial numbers, below those that a mount assigns.
const NUMBERS: u64 = 1 << 56;

/// Adds the directory to the root, unless the disc has one with that name.
pub(super) fn add<S: ReadAt>(image: &Image<S>, root: &mut Directory) {
    if root.entries.iter().all(|entry| entry.name != OWN) {
        root.entries.push(Entry { name: OWN.to_vec(), node: directory(image, false) });
    }
}

/// Lists ".fathom", or its "boot".
pub(super) fn list<S: ReadAt>(image: &Image<S>, boot: bool) -> Directory {
    let entries = if boot {
        let files = image.info().boot.iter().enumerate();
        files.map(|(index, boot)| file(image, index, boot)).collect()
    } else {
        vec![Entry { name: BOOT.to_vec(), node: directory(image, true) }]
    };
    Directory { entries, ..Directory::default() }
}

fn directory<S: ReadAt>(image: &Image<S>, boot: bool) -> Node {
    let place = Place { lbn: 0, offset: u32::from(boot) };
    node(image, Kind::Directory, NUMBERS + u64::from(boot), place, Data::Own { boot })
}

fn file<S: ReadAt>(image: &Image<S>, index: usize, boot: &BootImage) -> Entry {
    let bytes = image.boot_bytes(boot).unwrap_or_else(|_| boot.bytes());
    let place = Place::of_byte(u64::from(boot.lbn) * 2048, image.info().block);
    let section = Section { lbn: place.lbn, bytes, unit: 0, gap: 0 };
    let extents: Extents = [section].into_iter().collect();
    let number = u64::try_from(index).unwrap_or(u64::MAX >> 8);
    let data = Data::Stored(Arc::new(extents));
    let mut node = node(image, Kind::File, NUMBERS + 2 + number, place, data);
    node.size = bytes;
    Entry { name: name_of(index, boot).into_bytes(), node }
}

fn node<S: ReadAt>(image: &Image<S>, kind: Kind, inode: u64, record: Place, data: Data) -> Node {
    Node {
        kind,
        permissions: if kind == Kind::Directory { 0o555 } else { 0o444 },
        links: 1,
        uid: 0,
        gid: 0,
        size: 0,
        inode,
        serial: None,
        device: (0, 0),
        times: Times { modified: image.info().created, ..Times::default() },
        record,
        data,
        trail: None,
        associated: None,
    }
}

/// "1-bios", "2-efi", "3-bios-floppy": index, platform and emulated medium.
fn name_of(index: usize, boot: &BootImage) -> String {
    let platform: String = match boot.platform {
        0 => "bios".into(),
        1 => "powerpc".into(),
        2 => "mac".into(),
        0xEF => "efi".into(),
        other => format!("platform-{other}"),
    };
    let media = match boot.media {
        Media::None => "",
        Media::Floppy(_) => "-floppy",
        Media::Disk => "-disk",
        Media::Unknown(_) => "-unknown",
    };
    format!("{}-{platform}{media}", index + 1)
}
