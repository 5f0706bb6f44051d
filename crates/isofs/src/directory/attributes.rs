//! A file's attributes from its record and extensions: kind, mode, owner, dates, inode number. Rock Ridge takes precedence over the
//! extended attribute record, and that over the record itself.

use crate::disc::Disc;
use crate::error::Place;
use crate::finding::{Condition, Findings};
use crate::format::date::{self, Date};
use crate::format::record::{Record, flag};
use crate::format::rock_ridge::{RockRidge, Times};
use crate::format::section::Section;
use crate::format::xar::{self, Xar};
use crate::image::Image;
use crate::node::{Data, Kind, Node};
use crate::source::ReadAt;
use std::sync::Arc;

/// If the disc has serial numbers (32 bits), inode numbers derived from positions start here, so that the two never collide.
const BESIDE_SERIALS: u64 = 1 << 48;

/// The Rock Ridge entries of a record at this byte of the image; `own` for a directory's "." record.
pub(super) fn rock_ridge<S: ReadAt>(
    image: &Image<S>,
    record: &Record<'_>,
    byte: u64,
    own: bool,
    findings: &mut Findings,
) -> RockRidge {
    let mut rr = RockRidge::default();
    let Some(rock) = image.rock else { return rr };
    // An area that starts with SP is the root's, in which nothing is skipped.
    let skip = if own && record.system_use.starts_with(b"SP") { 0 } else { rock.skip };
    let area = record.system_use.get(skip..).unwrap_or_default();
    super::for_each_entry(&image.disc, area, byte, findings, |entry| rr.take(entry, rock.extension));
    let at = image.disc.place(byte);
    if rr.unreadable > 0 {
        findings.add(Condition::SystemUse, at, || {
            format!("{} Rock Ridge entries are too short for what they should hold", rr.unreadable)
        });
    }
    rr
}

/// A file according to its first record. Regular files get their content later, when all sections are known.
pub(super) fn node<S: ReadAt>(
    image: &Image<S>,
    record: &Record<'_>,
    rr: Option<&RockRidge>,
    byte: u64,
    findings: &mut Findings,
) -> Node {
    let at = image.disc.place(byte);
    let xar = xar_of(image, record, rr, at, findings);
    let kind = kind_of(record, rr);
    let px = rr.and_then(|rr| rr.px);
    let default = if kind == Kind::Directory { 0o555 } else { 0o444 };
    let recorded = xar.map_or(default, |xar| xar.mode);
    let mut node = Node {
        kind,
        permissions: px.map_or(recorded, |px| px.mode & 0o7777),
        links: px.map_or(1, |px| px.links.max(1)),
        uid: px.map_or(xar.map_or(0, |xar| xar.uid), |px| px.uid),
        gid: px.map_or(xar.map_or(0, |xar| xar.gid), |px| px.gid),
        size: 0,
        inode: 0,
        serial: px.and_then(|px| px.serial),
        device: (0, 0),
        times: times(record, rr, xar.as_ref(), at, findings),
        record: at,
        data: Data::None,
        trail: None,
        associated: None,
    };
    match kind {
        Kind::Directory => {
            let (lbn, bytes) = extent_of(&image.disc, record);
            node.size = bytes;
            node.inode = directory_inode(image, lbn, node.serial);
            node.data = Data::Directory { lbn, bytes };
            return node;
        }
        Kind::Link => link(&mut node, rr, findings),
        Kind::CharDevice | Kind::BlockDevice => {
            node.device = rr.and_then(|rr| rr.device).unwrap_or_default();
        }
        _ => {}
    }
    node.inode = file_inode(image, &node, None);
    node
}

fn kind_of(record: &Record<'_>, rr: Option<&RockRidge>) -> Kind {
    if record.is(flag::DIRECTORY) {
        return Kind::Directory;
    }
    let Some(rr) = rr else { return Kind::File };
    match rr.px.and_then(|px| Kind::of_mode(px.mode)) {
        // The data of a file that only claims to be a directory is not directory records.
        Some(Kind::Directory) | None if rr.target.is_some() => Kind::Link,
        Some(Kind::Directory) | None => Kind::File,
        Some(kind) => kind,
    }
}

fn link(node: &mut Node, rr: Option<&RockRidge>, findings: &mut Findings) {
    if rr.is_some_and(|rr| rr.target_too_long) {
        let what = "a symbolic link whose target is longer than any path";
        findings.add(Condition::TooLong, node.record, || what.into());
        node.data = Data::Refused { what, supported: true };
        return;
    }
    let target = rr.and_then(|rr| rr.target.as_deref()).unwrap_or_default();
    let end = target.iter().position(|&b| b == 0);
    if let Some(end) = end {
        findings.add(Condition::UnsafeName, node.record, || {
            format!("the target of a link has a NUL at byte {end}; it is cut there")
        });
    }
    let target = &target[..end.unwrap_or(target.len())];
    if target.is_empty() {
        let what = "a symbolic link without a target";
        findings.add(Condition::SystemUse, node.record, || what.into());
        node.data = Data::Refused { what, supported: true };
        return;
    }
    node.size = u64::try_from(target.len()).unwrap_or(u64::MAX);
    node.data = Data::Target(Arc::from(target));
}

fn times(
    record: &Record<'_>,
    rr: Option<&RockRidge>,
    xar: Option<&Xar>,
    at: Place,
    findings: &mut Findings,
) -> Times {
    let own = date::short(&record.date);
    let mut times = Times { modified: own, ..Times::default() };
    if let Some(xar) = xar {
        times.created = xar.created;
        if xar.modified != Date::Unset {
            times.modified = xar.modified;
        }
    }
    if let Some(rr) = rr {
        let set = |to: &mut Date, from: Date| {
            if from != Date::Unset {
                *to = from;
            }
        };
        set(&mut times.created, rr.times.created);
        set(&mut times.modified, rr.times.modified);
        set(&mut times.accessed, rr.times.accessed);
        set(&mut times.changed, rr.times.changed);
    }
    let all = [times.created, times.modified, times.accessed, times.changed, own];
    if all.iter().any(|date| matches!(date, Date::Clamped(_))) {
        findings.add(Condition::Date, at, || "a date that does not exist; the nearest one is shown".into());
    }
    times
}

/// The extended attribute record, where it applies: protection is set and Rock Ridge has no attributes.
fn xar_of<S: ReadAt>(
    image: &Image<S>,
    record: &Record<'_>,
    rr: Option<&RockRidge>,
    at: Place,
    findings: &mut Findings,
) -> Option<Xar> {
    let counts = record.xar_blocks > 0 && record.is(flag::PROTECTION) && rr.is_none_or(|rr| rr.px.is_none());
    if !counts {
        return None;
    }
    let extent = record.extent.choose(|extent| image.disc.has_block(extent.into()));
    let read = image.disc.byte_of(extent.into()).and_then(|byte| image.disc.up_to(byte, 250).ok());
    let parsed = read.and_then(|bytes| xar::parse(&bytes));
    if parsed.is_none() {
        findings.add(Condition::ExtendedAttributes, at, || {
            format!("no extended attribute record at block {extent}, where the directory says one is")
        });
    }
    parsed
}

/// First data block and length in bytes of a record.
fn extent_of<S: ReadAt>(disc: &Disc<S>, record: &Record<'_>) -> (u64, u64) {
    let extent = record.extent.choose(|extent| disc.has_block(extent.into()));
    let lbn = u64::from(extent) + u64::from(record.xar_blocks);
    let byte = disc.byte_of(lbn).unwrap_or(u64::MAX);
    let bytes = record.length.choose(|bytes| disc.available(byte, bytes.into()) == u64::from(bytes));
    (lbn, bytes.into())
}

/// One section of a file.
pub(super) fn section<S: ReadAt>(image: &Image<S>, record: &Record<'_>) -> Section {
    let (lbn, bytes) = extent_of(&image.disc, record);
    Section { lbn, bytes, unit: record.unit, gap: record.gap }
}

/// Inode number of a directory: its serial number, else derived from its first block.
pub(crate) fn directory_inode<S>(image: &Image<S>, lbn: u64, serial: Option<u32>) -> u64 {
    by_serial(image, serial).unwrap_or_else(|| made(image, lbn.saturating_mul(2)))
}

/// Inode number of any other file: its serial number; else derived from the first data block, so that hard links share it; else from the
/// position of its record. Even numbers are blocks, odd ones records.
pub(super) fn file_inode<S: ReadAt>(image: &Image<S>, node: &Node, first_block: Option<u64>) -> u64 {
    by_serial(image, node.serial).unwrap_or_else(|| {
        let block = u64::from(image.disc.block());
        let record = node.record.lbn.saturating_mul(block).saturating_add(node.record.offset.into());
        let number = first_block.map_or(record.saturating_mul(2) | 1, |lbn| lbn.saturating_mul(2));
        made(image, number)
    })
}

fn by_serial<S>(image: &Image<S>, serial: Option<u32>) -> Option<u64> {
    serial.filter(|&serial| image.serials && serial != 0).map(u64::from)
}

fn made<S>(image: &Image<S>, number: u64) -> u64 {
    if image.serials { number.saturating_add(BESIDE_SERIALS) } else { number }
}
