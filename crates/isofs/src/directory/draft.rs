//! Collects records into entries: sections of a file are gathered into one draft, associated files are set aside for their main file,
//! placeholders of relocated directories are counted and dropped.

use super::{Directory, attributes};
use crate::error::Place;
use crate::finding::{Condition, Findings};
use crate::format::record::{Met, Record, Records, flag};
use crate::format::section::{Extents, Section};
use crate::format::zisofs;
use crate::image::Image;
use crate::node::{Data, Kind, Node};
use crate::source::ReadAt;
use std::sync::Arc;

/// A file whose records are still being read.
#[derive(Debug)]
pub(super) struct Draft {
    /// Name as recorded, the same for all sections of a file.
    recorded: Vec<u8>,
    /// Decoded name, not yet validated.
    pub(super) name: Vec<u8>,
    /// Version number of a plain or Joliet name.
    pub(super) version: Option<u32>,
    pub(super) node: Node,
    /// CL: block of the directory that this is a placeholder for.
    pub(super) child: Option<u32>,
    extents: Extents,
    packed: Option<zisofs::Claim>,
    sparse: Option<u64>,
    /// An associated file, shown only if requested, under a name that marks it.
    pub(super) associated: bool,
    relocated: bool,
    /// The last record announced another section.
    open: bool,
    other_volume: bool,
    /// Rock Ridge says it has a single link: any other entry with the same data is a different file.
    alone: bool,
}

/// Reads all records of a directory.
pub(super) fn collect<S: ReadAt>(
    image: &Image<S>,
    area: &[u8],
    start: u64,
    listing: &mut Directory,
) -> Vec<Draft> {
    let findings = &mut listing.findings;
    let mut drafts: Vec<Draft> = Vec::new();
    for met in Records::new(area, start, image.disc.block(), image.dialect) {
        let byte = |at: usize| start.saturating_add(u64::try_from(at).unwrap_or(u64::MAX));
        let (at, record) = match met {
            Met::Bad { at, why } => {
                findings.add(Condition::BadRecord, image.disc.place(byte(at)), || {
                    format!("{why}; the rest of the sector was skipped")
                });
                continue;
            }
            Met::Record { at, record, across } => {
                if across {
                    findings.add(Condition::RecordAcrossSectors, image.disc.place(byte(at)), || {
                        "a directory record that lies in two sectors; read all the same".into()
                    });
                }
                (byte(at), record)
            }
        };
        compare_halves(image, &record, at, findings);
        if record.is_self_or_parent() {
            continue;
        }
        if let Some(last) = drafts.last_mut()
            && last.open
        {
            if last.continues(&record) {
                last.add_section(image, &record, findings);
                continue;
            }
            last.unterminated(findings);
        }
        if drafts.len() >= image.options.directory_entries {
            findings.add(Condition::TooLong, image.disc.place(at), || {
                format!("more than {} entries; the rest is not listed", image.options.directory_entries)
            });
            break;
        }
        drafts.push(Draft::new(image, &record, at, findings));
    }
    if let Some(last) = drafts.last_mut().filter(|last| last.open) {
        last.unterminated(findings);
    }
    for draft in &mut drafts {
        draft.finish(image, findings);
    }
    let all = drafts.len();
    let shown = lay_aside(image.options.associated, drafts);
    listing.hidden = all - shown.len();
    shown
}

fn compare_halves<S: ReadAt>(image: &Image<S>, record: &Record<'_>, at: u64, findings: &mut Findings) {
    let pairs = [
        ("extent", record.extent.agree()),
        ("data length", record.length.agree()),
        ("volume sequence number", record.volume.agree()),
    ];
    for (what, _) in pairs.iter().filter(|(_, agree)| !agree) {
        findings.add(Condition::HalvesDiffer, image.disc.place(at), || {
            format!("the two halves of a record's {what} differ")
        });
    }
}

/// Drops placeholders and attaches each associated file to its main file, which follows under the same name. Done in place: a second list
/// would be half of the cost of a large directory.
fn lay_aside(show: bool, drafts: Vec<Draft>) -> Vec<Draft> {
    let mut waiting: Option<Draft> = None;
    let shown = drafts.into_iter().filter_map(|mut draft| {
        if draft.relocated {
            return None;
        }
        if draft.associated && !show {
            waiting = Some(draft);
            return None;
        }
        if !draft.associated
            && let Some(aside) = waiting.take().filter(|aside| aside.recorded == draft.recorded)
        {
            draft.node.associated = Some(Arc::new(aside.node));
        }
        Some(draft)
    });
    shown.collect()
}

impl Draft {
    fn new<S: ReadAt>(image: &Image<S>, record: &Record<'_>, byte: u64, findings: &mut Findings) -> Self {
        let rr = image.rock.map(|_| attributes::rock_ridge(image, record, byte, false, findings));
        let node = attributes::node(image, record, rr.as_ref(), byte, findings);
        let (mut name, mut version, well) = image.text_of(record.name);
        if !well {
            findings.add(Condition::UnsafeName, node.record, || {
                "a name that is not UCS-2; what is wrong in it is shown as U+FFFD".into()
            });
        }
        let rr = rr.unwrap_or_default();
        if let Some(alternate) = rr.name {
            (name, version) = (alternate, None);
        }
        let mut draft = Self {
            recorded: record.name.to_vec(),
            name,
            version,
            node,
            child: rr.child,
            extents: Extents::default(),
            packed: rr.packed,
            sparse: rr.sparse,
            associated: record.is(flag::ASSOCIATED),
            relocated: rr.relocated,
            open: false,
            other_volume: false,
            alone: rr.px.is_some_and(|px| px.links == 1),
        };
        if draft.node.kind == Kind::File {
            draft.add_section(image, record, findings);
        }
        draft
    }

    /// Whether a record is the next section of this file.
    fn continues(&self, record: &Record<'_>) -> bool {
        record.name == self.recorded && record.is(flag::ASSOCIATED) == self.associated
    }

    fn add_section<S: ReadAt>(&mut self, image: &Image<S>, record: &Record<'_>, findings: &mut Findings) {
        let section = attributes::section(image, record);
        let block = u64::from(image.disc.block());
        self.open = record.is(flag::MORE);
        if self.open && !section.bytes.is_multiple_of(block) {
            findings.add(Condition::Sections, self.node.record, || {
                format!(
                    "a section of {} bytes that is not the last and no whole number of blocks",
                    section.bytes
                )
            });
        }
        let volume = record.volume.choose(|n| n > 0);
        self.other_volume |= image.volume_of_set.is_some_and(|here| volume != here && volume != 0);
        self.extents.push(section);
    }

    fn unterminated(&mut self, findings: &mut Findings) {
        self.open = false;
        findings.add(Condition::Sections, self.node.record, || {
            "the file's last section says that another follows; the sections that exist are read".into()
        });
    }

    /// Determines the content of a regular file once all its sections are known.
    fn finish<S: ReadAt>(&mut self, image: &Image<S>, findings: &mut Findings) {
        if self.node.kind != Kind::File || self.child.is_some() {
            return;
        }
        let extents = Arc::new(std::mem::take(&mut self.extents));
        let at = self.node.record;
        self.node.size = extents.bytes();
        let shared = extents.first_block().filter(|_| !self.alone);
        self.node.inode = attributes::file_inode(image, &self.node, shared);
        check_range(image, &extents, at, findings);
        self.node.data = self.content(image, &extents, findings);
    }

    fn content<S: ReadAt>(
        &mut self,
        image: &Image<S>,
        extents: &Arc<Extents>,
        findings: &mut Findings,
    ) -> Data {
        let at = self.node.record;
        let refused = |what, supported| Data::Refused { what, supported };
        if self.other_volume {
            let what = "the data are on another volume of the set";
            findings.add(Condition::OtherVolume, at, || what.into());
            return refused(what, true);
        }
        if extents.sections().iter().any(|section| !section.is_regular()) {
            let what = "an interleaved file of which only the unit or only the gap is given";
            findings.add(Condition::Interleave, at, || what.into());
            return refused(what, true);
        }
        if let Some(size) = self.sparse {
            self.node.size = size;
            return refused("a sparse file of Rock Ridge (SF), which is not read", false);
        }
        if let Some(claim) = self.packed {
            self.node.size = claim.size;
            return Data::Packed { extents: Arc::clone(extents), claim: Some(claim) };
        }
        if image.options.zisofs_by_magic
            && let Some(size) = packed_size(image, extents)
        {
            self.node.size = size;
            return Data::Packed { extents: Arc::clone(extents), claim: None };
        }
        Data::Stored(Arc::clone(extents))
    }
}

/// The decompressed size of a file whose first bytes mark it as compressed.
fn packed_size<S: ReadAt>(image: &Image<S>, extents: &Extents) -> Option<u64> {
    let mut first = [0; zisofs::HEADER];
    let n = image.read_stored(extents, 0, &mut first, Place { lbn: 0, offset: 0 }).ok()?;
    zisofs::header(&first[..n])?.ok().map(|header| header.size)
}

fn check_range<S: ReadAt>(image: &Image<S>, extents: &Extents, at: Place, findings: &mut Findings) {
    let beyond = |section: &&Section| {
        section.bytes > 0 && section.end(image.disc.block()).is_none_or(|end| end > image.disc.size())
    };
    if let Some(section) = extents.sections().iter().find(beyond) {
        findings.add(Condition::BeyondImage, at, || {
            format!("{} bytes at block {}, beyond the end of the image", section.bytes, section.lbn)
        });
    }
}
