//! Directory records: the one parser and the one validator of them. It walks the bytes of a directory and gives each record, or says
//! why one is none and goes on at the next sector. ECMA-119 9.1; High Sierra differs in two fields.

use super::bytes::{Both, both16, both32};
use super::descriptor::SECTOR;

/// Which text a record follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// ISO 9660, with all its extensions.
    #[default]
    Iso,
    /// High Sierra: a date of 6 bytes, flags one byte earlier.
    HighSierra,
}

/// File flags.
pub mod flag {
    /// Not to be shown by default; shown all the same, as every reader outside DOS does.
    pub const HIDDEN: u8 = 1;
    /// A directory.
    pub const DIRECTORY: u8 = 2;
    /// An associated file: belongs to the file of the same name that follows.
    pub const ASSOCIATED: u8 = 4;
    /// The extended attribute record has a record format.
    pub const RECORD: u8 = 8;
    /// The extended attribute record has owner, group and permissions.
    pub const PROTECTION: u8 = 16;
    /// Another section of the file follows.
    pub const MORE: u8 = 128;
}

/// Least bytes of a record with a name of one byte.
const LEAST: usize = 34;

/// One directory record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Blocks of the extended attribute record, which stands before the data.
    pub xar_blocks: u8,
    /// First block of the extent.
    pub extent: Both<u32>,
    /// Bytes of data, without the extended attribute record.
    pub length: Both<u32>,
    /// Date; the seventh byte is 0 in High Sierra.
    pub date: [u8; 7],
    /// See [`flag`].
    pub flags: u8,
    /// Interleaving: blocks of data in a row; 0 if not interleaved.
    pub unit: u8,
    /// Interleaving: blocks left out after each unit.
    pub gap: u8,
    /// Volume of the set that holds the extent.
    pub volume: Both<u16>,
    /// Name as recorded: one byte 0 for the directory itself, one byte 1 for its parent.
    pub name: &'a [u8],
    /// System use area, for SUSP.
    pub system_use: &'a [u8],
    /// Where in the record the system use area starts.
    pub system_use_at: usize,
}

impl Record<'_> {
    /// Whether a flag is set.
    #[must_use]
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// "." or "..".
    #[must_use]
    pub fn is_self_or_parent(&self) -> bool {
        matches!(self.name, [0 | 1])
    }
}

/// Reads one record whose bytes are `bytes`, to the last one.
///
/// # Errors
/// What contradicts what in it.
pub fn parse(bytes: &[u8], dialect: Dialect) -> Result<Record<'_>, &'static str> {
    if bytes.len() < LEAST {
        return Err("a record of less than 34 bytes");
    }
    let short = "a record of less than 34 bytes";
    let name_bytes = usize::from(bytes[32]);
    let name = bytes.get(33..33 + name_bytes).ok_or("a name longer than its record")?;
    let mut date: [u8; 7] = *bytes[18..].first_chunk().ok_or(short)?;
    let flags = match dialect {
        Dialect::Iso => bytes[25],
        Dialect::HighSierra => {
            date[6] = 0;
            bytes[24]
        }
    };
    // The pad byte keeps the length even; writers that leave it out leave the system use area out too.
    let system_use_at = (33 + name_bytes + usize::from(name_bytes % 2 == 0)).min(bytes.len());
    Ok(Record {
        xar_blocks: bytes[1],
        extent: both32(bytes, 2).ok_or(short)?,
        length: both32(bytes, 10).ok_or(short)?,
        date,
        flags,
        unit: bytes[26],
        gap: bytes[27],
        volume: both16(bytes, 28).ok_or(short)?,
        name,
        system_use: &bytes[system_use_at..],
        system_use_at,
    })
}

/// What is met on the way through a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met<'a> {
    /// A record; `across` if it lies in two sectors, which no text allows and some writers do.
    Record {
        /// Byte in the directory.
        at: usize,
        /// The record.
        record: Record<'a>,
        /// Whether it crosses a sector border.
        across: bool,
    },
    /// Something that is no record; the walk goes on at the next sector.
    Bad {
        /// Byte in the directory.
        at: usize,
        /// Why it is none.
        why: &'static str,
    },
}

/// Walks the bytes of a directory.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    area: &'a [u8],
    at: usize,
    /// Byte of the directory's start within its sector: extents of blocks below 2048 bytes may start inside one.
    phase: usize,
    block: usize,
    dialect: Dialect,
}

impl<'a> Records<'a> {
    /// `area` is the directory's data, which begin at byte `start` of the image; `block` is the logical block size.
    #[must_use]
    pub fn new(area: &'a [u8], start: u64, block: u32, dialect: Dialect) -> Self {
        let phase = usize::try_from(start % 2048).unwrap_or(0);
        Self { area, at: 0, phase, block: usize::try_from(block).unwrap_or(SECTOR).max(1), dialect }
    }

    /// Bytes from `at` to the next sector.
    fn to_sector(&self, at: usize) -> usize {
        SECTOR - (self.phase + at) % SECTOR
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Met<'a>;

    fn next(&mut self) -> Option<Met<'a>> {
        loop {
            let at = self.at;
            let length = usize::from(*self.area.get(at)?);
            if length == 0 {
                // Nothing more in this sector. Going on at the next block finds the same records, and also those of writers
                // that take their small blocks for sectors.
                self.at = at + (self.block - at % self.block);
                continue;
            }
            let parsed = match self.area.get(at..at + length) {
                Some(bytes) => parse(bytes, self.dialect),
                None => Err("a record that is longer than its directory"),
            };
            return Some(match parsed {
                Ok(record) => {
                    self.at = at + length;
                    Met::Record { at, record, across: length > self.to_sector(at) }
                }
                Err(why) => {
                    self.at = at + self.to_sector(at);
                    Met::Bad { at, why }
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of a name, of at least the length it needs.
    fn record(name: &[u8], length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        bytes[0] = u8::try_from(length).unwrap();
        bytes[2] = 20;
        bytes[9] = 20;
        bytes[32] = u8::try_from(name.len()).unwrap();
        bytes[33..33 + name.len()].copy_from_slice(name);
        bytes
    }

    fn names(area: &[u8], block: u32) -> Vec<String> {
        Records::new(area, 0, block, Dialect::Iso)
            .map(|met| match met {
                Met::Record { record, across, .. } => {
                    format!("{}{}", String::from_utf8_lossy(record.name), if across { "/across" } else { "" })
                }
                Met::Bad { at, why } => format!("{at}: {why}"),
            })
            .collect()
    }

    #[test]
    fn a_sector_ends_with_zeros_and_the_next_goes_on() {
        let mut area = record(b"A", 34);
        area.resize(2048, 0);
        area.extend(record(b"B", 40));
        assert_eq!(names(&area, 2048), ["A", "B"]);
        let mut area = record(b"A", 34);
        area.resize(512, 0);
        area.extend(record(b"B", 34));
        assert_eq!(names(&area, 512), ["A", "B"]);
    }

    #[test]
    fn what_is_no_record_costs_the_rest_of_its_sector_only() {
        let mut area = record(b"A", 34);
        area.push(12);
        area.resize(2048, 1);
        area.extend(record(b"B", 34));
        assert_eq!(names(&area, 2048), ["A", "34: a record of less than 34 bytes", "B"]);
        let mut lying = record(b"A", 34);
        lying[32] = 200;
        assert_eq!(names(&lying, 2048), ["0: a name longer than its record"]);
        assert_eq!(names(&[200, 0, 0], 2048), ["0: a record that is longer than its directory"]);
    }

    #[test]
    fn a_whole_record_across_a_border_is_one() {
        let mut area = Vec::new();
        while area.len() + 34 <= 2040 {
            area.extend(record(b"A", 34));
        }
        let rest = 2040 - area.len();
        if rest >= 34 {
            area.extend(record(b"A", rest));
        } else {
            let last = area.len() - 34;
            area.truncate(last);
            area.extend(record(b"A", 34 + rest));
        }
        area.extend(record(b"B", 34));
        assert_eq!(names(&area, 2048).last().map(String::as_str), Some("B/across"));
    }

    #[test]
    fn high_sierra_has_its_flags_one_byte_earlier() {
        let mut bytes = record(b"A", 34);
        bytes[24] = flag::DIRECTORY;
        bytes[25] = 99;
        let hs = parse(&bytes, Dialect::HighSierra).unwrap();
        assert!(hs.is(flag::DIRECTORY) && hs.date[6] == 0);
        assert_eq!(parse(&bytes, Dialect::Iso).unwrap().flags, 99);
    }
}
