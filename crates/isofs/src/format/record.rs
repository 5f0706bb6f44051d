//! Directory records: their only parser and validator. Walks the bytes of a directory and yields each record, or why it is invalid and
//! then continues at the next sector. ECMA-119 9.1; High Sierra differs in two fields.

use super::bytes::{Both, both16, both32};
use super::descriptor::SECTOR;

/// The specification that a record follows.
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

/// Length of a record with a name of one byte.
const LEAST: usize = 34;

/// One directory record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Length in blocks of the extended attribute record, which precedes the data.
    pub xar_blocks: u8,
    /// First block of the extent.
    pub extent: Both<u32>,
    /// Bytes of data, without the extended attribute record.
    pub length: Both<u32>,
    /// Date; the seventh byte is 0 in High Sierra.
    pub date: [u8; 7],
    /// See [`flag`].
    pub flags: u8,
    /// Interleaving: consecutive data blocks; 0 if not interleaved.
    pub unit: u8,
    /// Interleaving: blocks skipped after each unit.
    pub gap: u8,
    /// Volume of the set that holds the extent.
    pub volume: Both<u16>,
    /// Name as recorded: one byte 0 for the directory itself, one byte 1 for its parent.
    pub name: &'a [u8],
    /// System use area, for SUSP.
    pub system_use: &'a [u8],
    /// Offset of the system use area in the record.
    pub system_use_at: usize,
}

impl Record<'_> {
    /// Whether a flag is set.
    #[must_use]
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is "." or "..".
    #[must_use]
    pub fn is_self_or_parent(&self) -> bool {
        matches!(self.name, [0 | 1])
    }
}

/// Parses one record that takes up all of `bytes`.
///
/// # Errors
/// A message that names the fields that contradict each other.
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
    // The pad byte keeps the length even; writers that omit it omit the system use area, too.
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

/// An item of a walk through a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met<'a> {
    /// A valid record.
    Record {
        /// Offset in the directory.
        at: usize,
        /// Its parsed fields.
        record: Record<'a>,
        /// Whether it crosses a sector border, which no specification allows and some writers do.
        across: bool,
    },
    /// An invalid record; the walk continues at the next sector.
    Bad {
        /// Offset in the directory.
        at: usize,
        /// Why it is invalid.
        why: &'static str,
    },
}

/// Iterates over the bytes of a directory.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    area: &'a [u8],
    at: usize,
    /// Offset of the directory's start in its sector: with blocks below 2048 bytes an extent may start inside one.
    phase: usize,
    block: usize,
    dialect: Dialect,
}

impl<'a> Records<'a> {
    /// `area` is the directory's data, which begins at byte `start` of the image; `block` is the logical block size.
    #[must_use]
    pub fn new(area: &'a [u8], start: u64, block: u32, dialect: Dialect) -> Self {
        let phase = usize::try_from(start % 2048).unwrap_or(0);
        Self { area, at: 0, phase, block: usize::try_from(block).unwrap_or(SECTOR).max(1), dialect }
    }

    /// Number of bytes from `at` to the next sector.
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
                // No more records in this sector. Continuing at the next block finds the same records, and also those of writers that
                // treat their small blocks as sectors.
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

    /// A record with a name, padded to at least `length`.
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
    fn an_invalid_record_skips_only_the_rest_of_its_sector() {
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
