//! Turns the bytes of a directory into entries with unique names. Sections are joined into files, Rock Ridge entries are read across
//! continuation areas, relocated directories are put back, and a bad record costs that record, not the directory.

use crate::disc::Disc;
use crate::error::{Error, Result};
use crate::finding::{Condition, Findings};
use crate::format::name;
use crate::format::record;
use crate::format::susp::{self, Continuation, Entries};
use crate::image::Image;
use crate::node::{Data, Kind, Node, Trail};
use crate::options::Namespace;
use crate::source::ReadAt;
use std::collections::HashSet;
use std::sync::Arc;

pub(crate) mod attributes;
mod boot;
mod draft;

use draft::Draft;

/// One entry of a directory.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Contains no "/" or NUL, is not "." or "..", not empty, and unique in the directory.
    pub name: Vec<u8>,
    /// The file's attributes and data location.
    pub node: Node,
}

/// A listed directory.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// Entries in disc order.
    pub entries: Vec<Entry>,
    /// Problems found while listing it.
    pub findings: Findings,
    /// Number of hidden entries: placeholders of relocated directories.
    pub(crate) hidden: usize,
}

/// Lists a directory.
pub(crate) fn list<S: ReadAt>(image: &Image<S>, node: &Node) -> Result<Directory> {
    let Data::Directory { lbn, .. } = node.data else {
        return match node.data {
            Data::Own { boot } => Ok(boot::list(image, boot)),
            Data::Refused { what, .. } if node.is_directory() => {
                Err(Error::Data { at: node.record, what: what.into() })
            }
            _ => Err(Error::Kind { at: node.record, what: "not a directory" }),
        };
    };
    if node.trail.as_ref().is_some_and(|trail| trail.holds(lbn)) {
        return Err(Error::Loop { at: crate::Place { lbn, offset: 0 } });
    }
    list_unguarded(image, node)
}

/// Lists a directory without checking whether it is its own ancestor: for a walk, which enters each directory once anyway.
pub(crate) fn list_unguarded<S: ReadAt>(image: &Image<S>, node: &Node) -> Result<Directory> {
    let Data::Directory { lbn, bytes } = node.data else {
        return Err(Error::Kind { at: node.record, what: "not a directory" });
    };
    let mut listing = Directory::default();
    let area = read_area(image, lbn, bytes, &mut listing.findings)?;
    let start = image.disc.byte_of(lbn).unwrap_or(0);
    let mut drafts = draft::collect(image, &area, start, &mut listing);
    let trail = Trail::new(lbn, node.trail.clone());
    finish_nodes(image, &mut drafts, &trail, &mut listing.findings);
    name_entries(image, drafts, &mut listing);
    if image.options.strict
        && let Some(found) = listing.findings.list().iter().find(|f| f.condition == Condition::HalvesDiffer)
    {
        return Err(Error::Strict(found.clone()));
    }
    if image.namespace == Namespace::RockRidge && node.trail.is_none() {
        hide_relocations(image, &mut listing);
    }
    if image.boot_files && node.trail.is_none() {
        boot::add(image, &mut listing);
    }
    Ok(listing)
}

/// The bytes of a directory, limited by its record, the image's size and the options.
fn read_area<S: ReadAt>(image: &Image<S>, lbn: u64, bytes: u64, findings: &mut Findings) -> Result<Vec<u8>> {
    let disc = &image.disc;
    let at = crate::Place { lbn, offset: 0 };
    let start = disc.byte_of(lbn).filter(|&start| start < disc.size() || bytes == 0);
    let Some(start) = start else {
        return Err(Error::Data { at, what: "the directory lies beyond the end of the image".into() });
    };
    let cap = image.options.directory_bytes;
    let mut length = bytes;
    if disc.available(start, length) < length || length > cap {
        // The directory's own record is a second source for its length.
        let own = own_length(image, start)?.filter(|&own| own <= cap && disc.available(start, own) == own);
        length = own.unwrap_or_else(|| disc.available(start, length).min(cap));
        findings.add(Condition::DirectoryLength, at, || {
            format!(
                "a directory of {bytes} bytes, more than the image or the limit of {cap}; {length} were read"
            )
        });
    }
    disc.up_to(start, length)
}

/// The directory's length according to the "." record at `start`.
fn own_length<S: ReadAt>(image: &Image<S>, start: u64) -> Result<Option<u64>> {
    let first = image.disc.up_to(start, 255)?;
    let length = usize::from(first.first().copied().unwrap_or(0));
    let dot = first.get(..length).and_then(|bytes| record::parse(bytes, image.dialect).ok());
    Ok(dot.filter(|dot| dot.name == [0]).map(|dot| u64::from(dot.length.le)).filter(|&own| own > 0))
}

/// The node of a directory from its own "." record; `None` if there is none.
pub(crate) fn directory_itself<S: ReadAt>(image: &Image<S>, lbn: u64) -> Result<Option<Node>> {
    let Some(start) = image.disc.byte_of(lbn).filter(|&start| start < image.disc.size()) else {
        return Ok(None);
    };
    let first = image.disc.up_to(start, 255)?;
    let length = usize::from(first.first().copied().unwrap_or(0));
    let parsed = first.get(..length).and_then(|bytes| record::parse(bytes, image.dialect).ok());
    let Some(dot) = parsed.filter(|dot| dot.name == [0]) else { return Ok(None) };
    let mut findings = Findings::default();
    let rr = image.rock.map(|_| attributes::rock_ridge(image, &dot, start, true, &mut findings));
    let mut node = attributes::node(image, &dot, rr.as_ref(), start, &mut findings);
    node.kind = Kind::Directory;
    node.inode = attributes::directory_inode(image, lbn, node.serial);
    node.size = dot.length.le.into();
    node.data = Data::Directory { lbn, bytes: dot.length.le.into() };
    Ok(Some(node))
}

/// Follows relocated directories, and attaches the path by which each directory was reached.
fn finish_nodes<S: ReadAt>(
    image: &Image<S>,
    drafts: &mut [Draft],
    trail: &Arc<Trail>,
    findings: &mut Findings,
) {
    for draft in drafts {
        if let Some(child) = draft.child {
            draft.node = moved(image, child, draft, findings);
        }
        if draft.node.is_directory() {
            draft.node.trail = Some(Arc::clone(trail));
        }
    }
}

/// The directory that a CL entry points to.
fn moved<S: ReadAt>(image: &Image<S>, child: u32, draft: &Draft, findings: &mut Findings) -> Node {
    let what = match directory_itself(image, child.into()) {
        Ok(Some(node)) => return Node { record: draft.node.record, ..node },
        Ok(None) => "a moved directory (CL) does not point to a directory",
        Err(_) => "a moved directory (CL) points to something unreadable",
    };
    findings.add(Condition::SystemUse, draft.node.record, || format!("{what}: block {child}"));
    Node { kind: Kind::Directory, data: Data::Refused { what, supported: true }, ..draft.node.clone() }
}

/// Gives every entry its final, unique name and adds it to the listing.
fn name_entries<S>(image: &Image<S>, mut drafts: Vec<Draft>, listing: &mut Directory) {
    let lower = image.namespace == Namespace::Plain
        && image.options.lower_case
        && name::may_lower(drafts.iter().map(|draft| draft.name.as_slice()));
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    // Of several versions the newest gets the plain name: names are assigned in version order, entries stay in disc order.
    order.sort_by_key(|&index| std::cmp::Reverse(drafts[index].version));
    let mut unique = name::Unique::default();
    for index in order {
        let draft = &mut drafts[index];
        let mut wanted = name::escape(&draft.name).into_owned();
        if wanted != draft.name {
            let condition =
                if draft.name.len() > name::LONGEST { Condition::TooLong } else { Condition::UnsafeName };
            listing.findings.add(condition, draft.node.record, || {
                format!(
                    "the name {:?} cannot be shown; it is listed as {:?}",
                    lossy(&draft.name),
                    lossy(&wanted)
                )
            });
        }
        if lower {
            wanted.make_ascii_lowercase();
        }
        if draft.associated {
            wanted.extend(b"%assoc");
        }
        let (name, changed) = unique.name(&wanted, draft.version);
        if changed {
            listing.findings.add(Condition::DuplicateName, draft.node.record, || {
                format!(
                    "another entry is named {:?}; this one is listed as {:?}",
                    lossy(&wanted),
                    lossy(&name)
                )
            });
        }
        draft.name = name;
    }
    // Reuses the drafts' allocation and frees what the entries do not need.
    listing.entries = drafts.into_iter().map(|draft| Entry { name: draft.name, node: draft.node }).collect();
}

/// A name for messages; hostile ones are long.
fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(&name[..name.len().min(80)]).into_owned()
}

/// Hides rr_moved in the root if it contains only placeholders.
fn hide_relocations<S: ReadAt>(image: &Image<S>, listing: &mut Directory) {
    let is_stand_in = |entry: &Entry| {
        matches!(entry.name.as_slice(), b"rr_moved" | b".rr_moved" | b"RR_MOVED")
            && entry.node.is_directory()
            && list(image, &entry.node).is_ok_and(|dir| dir.entries.is_empty() && dir.hidden > 0)
    };
    if let Some(index) = listing.entries.iter().position(is_stand_in) {
        listing.entries.remove(index);
        listing.hidden += 1;
    }
}

/// Calls back for every entry of a system use area and its continuations. Follows at most 32 continuations and 64 KiB of them, each area
/// once; of several CE entries in one area the last counts.
pub(crate) fn for_each_entry<S: ReadAt>(
    disc: &Disc<S>,
    area: &[u8],
    record_byte: u64,
    findings: &mut Findings,
    mut take: impl FnMut(&susp::SuspEntry<'_>),
) {
    let at = disc.place(record_byte);
    let mut next = entries_of(disc, area, record_byte, findings, &mut take);
    let mut seen: HashSet<(u32, u32)> = HashSet::new();
    let mut bytes = 0u64;
    while let Some(continuation) = next {
        let again = !seen.insert((continuation.lbn, continuation.offset));
        if again || seen.len() > susp::MOST_HOPS {
            let what = if again { "run in a ring" } else { "go on for more than 32 hops" };
            findings.add(Condition::ContinuationLoop, at, || format!("continuation areas (CE) {what}"));
            return;
        }
        let start =
            disc.byte_of(continuation.lbn.into()).and_then(|b| b.checked_add(continuation.offset.into()));
        let length = u64::from(continuation.length);
        bytes = bytes.saturating_add(length);
        let inside = start.filter(|&start| disc.available(start, length) == length);
        let Some(start) = inside.filter(|_| bytes <= susp::MOST_BYTES) else {
            findings.add(Condition::ContinuationRange, at, || {
                let Continuation { lbn, offset, length } = continuation;
                format!("a continuation area (CE) of {length} bytes at block {lbn}, byte {offset}: beyond the image, or more than 64 KiB")
            });
            return;
        };
        let Ok(area) = disc.up_to(start, length) else {
            findings.add(Condition::ContinuationRange, disc.place(start), || {
                "a continuation area (CE) that cannot be read".into()
            });
            return;
        };
        next = entries_of(disc, &area, start, findings, &mut take);
    }
}

/// Visits the entries of one area; returns its continuation.
fn entries_of<S: ReadAt>(
    disc: &Disc<S>,
    area: &[u8],
    start: u64,
    findings: &mut Findings,
    take: &mut impl FnMut(&susp::SuspEntry<'_>),
) -> Option<Continuation> {
    let mut next = None;
    let mut entries = Entries::new(area);
    for entry in &mut entries {
        if &entry.signature == b"CE" {
            next = Continuation::parse(entry.payload);
        } else {
            take(&entry);
        }
    }
    if entries.broken_at().is_some() {
        findings.add(Condition::SystemUse, disc.place(start), || {
            "a system use entry that is longer than its area or shorter than its header".into()
        });
    }
    next.filter(|continuation| continuation.length > 0)
}
