//! From the start of a session to its trees: scans the descriptors, searches for sessions, corrects the root record. The result is plain
//! data; `image` decides what to open.

use crate::disc::Disc;
use crate::error::{Error, Place, Result};
use crate::finding::{Condition, Findings};
use crate::format::date::Date;
use crate::format::descriptor::{self, Descriptor, Flavour, SECTOR, Volume};
use crate::format::el_torito::BootImage;
use crate::format::record::{self, Dialect};
use crate::options::Namespace;
use crate::source::ReadAt;

/// Maximum number of descriptors scanned.
pub(crate) const MOST_DESCRIPTORS: u64 = 100;

/// First descriptor sector within a session.
const DESCRIPTORS_AT: u64 = 16;

/// Description of an opened volume.
#[derive(Clone, Debug)]
pub struct VolumeInfo {
    /// Volume identifier of the chosen tree; UCS-2 is converted to UTF-8.
    pub volume_id: String,
    /// System identifier of the primary descriptor.
    pub system_id: String,
    /// Application identifier of the primary descriptor.
    pub application_id: String,
    /// Logical block size in bytes: 512, 1024 or 2048.
    pub block: u32,
    /// Volume size in blocks as recorded; the image may be larger or smaller.
    pub blocks: u32,
    /// Creation date of the volume.
    pub created: Date,
    /// Date of the last change.
    pub modified: Date,
    /// Every tree of the volume, in order of preference.
    pub namespaces: Vec<Namespace>,
    /// The tree that was opened.
    pub namespace: Namespace,
    /// Level of the Joliet descriptor, 1 to 3, if there is one.
    pub joliet_level: Option<u8>,
    /// Whether it is High Sierra, the format before ISO 9660.
    pub high_sierra: bool,
    /// Whether a UDF file system shares the medium; it is not read.
    pub udf: bool,
    /// First sector of the session.
    pub session: u64,
    /// Images in the boot catalogue.
    pub boot: Vec<BootImage>,
}

/// A session of the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// First 2048-byte sector; its descriptors are 16 further.
    pub sector: u64,
    /// Volume identifier.
    pub volume_id: String,
    /// Creation date.
    pub created: Date,
}

/// The descriptors of one session.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Volumes with the sectors of their descriptors.
    pub(crate) volumes: Vec<(u64, Volume)>,
    pub(crate) boot_catalogs: Vec<u32>,
    pub(crate) udf: bool,
    pub(crate) findings: Findings,
}

impl Scan {
    /// Reads descriptors until the terminator, an invalid one, or [`MOST_DESCRIPTORS`].
    pub(crate) fn read<S: ReadAt>(disc: &Disc<S>, session: u64) -> Result<Self> {
        let mut scan = Self::default();
        let mut terminated = false;
        for index in 0..MOST_DESCRIPTORS {
            let Some(sector) = session.checked_add(DESCRIPTORS_AT + index) else { break };
            let Some(parsed) = read_descriptor(disc, sector)? else {
                scan.ended(terminated, sector);
                return Ok(scan);
            };
            match parsed {
                Descriptor::Volume(volume) if !terminated => scan.volumes.push((sector, *volume)),
                Descriptor::Boot { catalog } if !terminated => scan.boot_catalogs.extend(catalog),
                Descriptor::Terminator => terminated = true, // UDF's recognition area follows it
                Descriptor::Udf => scan.udf = true,
                _ => {}
            }
        }
        let first = session.saturating_add(DESCRIPTORS_AT);
        scan.findings.add(Condition::Descriptors, place_of_sector(first), || {
            format!(
                "more than {MOST_DESCRIPTORS} volume descriptors; the first {MOST_DESCRIPTORS} were looked at"
            )
        });
        Ok(scan)
    }

    fn ended(&mut self, terminated: bool, sector: u64) {
        if !terminated && !self.volumes.is_empty() {
            self.findings.add(Condition::Descriptors, place_of_sector(sector), || {
                "the volume descriptors end without a terminator".into()
            });
        }
    }

    /// The first volume of a flavour.
    pub(crate) fn find(&self, wanted: impl Fn(Flavour) -> bool) -> Option<&(u64, Volume)> {
        self.volumes.iter().find(|(_, volume)| wanted(volume.flavour))
    }

    /// The volume that determines block size and plain tree: ISO first, then High Sierra.
    pub(crate) fn primary(&self) -> Option<&(u64, Volume)> {
        self.find(|f| f == Flavour::Primary).or_else(|| self.find(|f| f == Flavour::HighSierra))
    }
}

/// The descriptor at a sector; `None` if there is none, or no such sector.
fn read_descriptor<S: ReadAt>(disc: &Disc<S>, sector: u64) -> Result<Option<Descriptor>> {
    let Some(byte) = sector.checked_mul(SECTOR as u64) else { return Ok(None) };
    if disc.available(byte, SECTOR as u64) < SECTOR as u64 {
        return Ok(None);
    }
    Ok(descriptor::parse(&disc.up_to(byte, SECTOR as u64)?))
}

/// The position of a sector before the block size is known.
pub(crate) fn place_of_sector(sector: u64) -> Place {
    Place { lbn: sector, offset: 0 }
}

/// The size of logical blocks.
pub(crate) fn block_size(sector: u64, volume: &Volume) -> Result<u32> {
    let possible = |block: u16| matches!(block, 512 | 1024 | 2048);
    let block = volume.block.choose(possible);
    if !possible(block) {
        let what = format!("a logical block size of {block} bytes; 512, 1024 and 2048 can be read");
        return Err(Error::Volume { at: place_of_sector(sector), what });
    }
    Ok(block.into())
}

/// Every session, oldest first: descriptors at 16 sectors after every 16th sector, whose root directory lies behind them. The last
/// condition excludes images stored as files on the medium, whose blocks count from their own start.
pub(crate) fn sessions<S: ReadAt>(disc: &Disc<S>) -> Result<Vec<SessionInfo>> {
    let mut found = Vec::new();
    let mut session = 0u64;
    let sectors = disc.size() / SECTOR as u64;
    while session + DESCRIPTORS_AT < sectors {
        let byte = (session + DESCRIPTORS_AT) * SECTOR as u64;
        let mut start = [0; 16];
        disc.fill(byte, &mut start)?;
        let likely = start[..6] == *b"\x01CD001" || start[8..14] == *b"\x01CDROM";
        if likely && let Some(Descriptor::Volume(volume)) = read_descriptor(disc, session + DESCRIPTORS_AT)? {
            found.extend(session_of(disc, session, &volume));
        }
        session += 16;
    }
    Ok(found)
}

fn session_of<S: ReadAt>(disc: &Disc<S>, session: u64, volume: &Volume) -> Option<SessionInfo> {
    let block = u64::from(block_size(session, volume).ok()?);
    let root = root_numbers(volume, |_| true);
    let byte = u64::from(root.extent).checked_mul(block)?;
    let behind = byte >= session * SECTOR as u64;
    (behind && byte < disc.size()).then(|| SessionInfo {
        sector: session,
        volume_id: text(volume),
        created: volume.created,
    })
}

/// An identifier as text.
pub(crate) fn text(volume: &Volume) -> String {
    let id = &volume.volume_id;
    if matches!(volume.flavour, Flavour::Joliet(_)) {
        // Padding blanks were removed bytewise, so a name that ends in U+xx20 has lost half a character.
        let mut whole = id.clone();
        if whole.len() % 2 == 1 {
            whole.push(b' ');
        }
        let (text, _) = crate::format::name::from_ucs2(&whole);
        return String::from_utf8_lossy(&text).trim_end().to_string();
    }
    String::from_utf8_lossy(id).into_owned()
}

/// Start of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// First block of the extent.
    pub(crate) extent: u32,
    /// Length in blocks of the extended attribute record before the data.
    pub(crate) xar_blocks: u8,
    /// Bytes of the directory.
    pub(crate) bytes: u32,
}

/// The numbers of a descriptor's root record, uncorrected.
fn root_numbers(volume: &Volume, possible: impl Fn(u32) -> bool) -> Root {
    let mut bytes = volume.root;
    // Only the numbers matter here; a wrong name length must not hide them.
    (bytes[0], bytes[32]) = (34, 1);
    let dialect = dialect_of(volume);
    match record::parse(&bytes, dialect) {
        Ok(record) => Root {
            extent: record.extent.choose(possible),
            xar_blocks: record.xar_blocks,
            bytes: record.length.le,
        },
        Err(_) => Root { extent: 0, xar_blocks: 0, bytes: 0 },
    }
}

pub(crate) fn dialect_of(volume: &Volume) -> Dialect {
    if volume.flavour == Flavour::HighSierra { Dialect::HighSierra } else { Dialect::Iso }
}

/// The root of a volume, corrected by its own "." record if the descriptor's is unusable. `disc` must have the volume's block size.
pub(crate) fn root<S: ReadAt>(
    disc: &Disc<S>,
    sector: u64,
    volume: &Volume,
    findings: &mut Findings,
) -> Result<Root> {
    let root = root_numbers(volume, |extent| disc.has_block(extent.into()));
    let at = Place::of_byte(sector.saturating_mul(SECTOR as u64), disc.block());
    let refuse = |what: String| Err(Error::Volume { at, what });
    let start = u64::from(root.extent) + u64::from(root.xar_blocks);
    let Some(byte) = disc.byte_of(start).filter(|&byte| byte < disc.size()) else {
        return refuse(format!("the root directory is at block {start}, beyond the end of the image"));
    };
    let first = disc.up_to(byte, 255)?;
    let length = usize::from(first.first().copied().unwrap_or(0));
    let dot = first.get(..length).and_then(|bytes| record::parse(bytes, dialect_of(volume)).ok());
    let dot = dot.filter(|dot| dot.name == [0]);
    let elsewhere = dot.is_some_and(|dot| dot.extent.le != root.extent && dot.extent.be != root.extent);
    if volume.root[0] != 34 {
        let record = if volume.flavour == Flavour::HighSierra { 180 } else { 156 };
        let byte = sector.saturating_mul(SECTOR as u64).saturating_add(record);
        findings.add(Condition::Root, Place::of_byte(byte, disc.block()), || {
            format!(
                "the root record gives its own length as {}; it has 34 bytes, which were used",
                volume.root[0]
            )
        });
    }
    if root.bytes > 0 && !elsewhere {
        return Ok(root);
    }
    let sane = dot.map(|dot| dot.length.le).filter(|&bytes| bytes > 0 && bytes <= 64 << 20);
    let Some(bytes) = sane else {
        return refuse(format!(
            "the root record gives {} bytes at block {start}, where no root is",
            root.bytes
        ));
    };
    findings.add(Condition::Root, at, || {
        format!(
            "the root record gives {} bytes at block {start}; its own entry says {bytes}, which was used",
            root.bytes
        )
    });
    Ok(Root { bytes, ..root })
}
