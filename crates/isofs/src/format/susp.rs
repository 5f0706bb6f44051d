//! The System Use Sharing Protocol: entries of two letters, a length, a version and a payload. This module only splits them; `rock_ridge`
//! interprets them, and the directory reader fetches continuation areas within the limits below.

use super::bytes::both32;

/// Continuation areas followed for one record.
pub const MOST_HOPS: usize = 32;

/// Bytes of continuation areas read for one record.
pub const MOST_BYTES: u64 = 64 << 10;

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspEntry<'a> {
    /// The two letters.
    pub signature: [u8; 2],
    /// Version; 1 except for the second version of zisofs.
    pub version: u8,
    /// The bytes after the header of four bytes.
    pub payload: &'a [u8],
    /// Offset of the entry in its area.
    pub at: usize,
}

/// Iterates over an area. Stops at its end, at a terminator (ST), at a zero byte or at an invalid entry.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    area: &'a [u8],
    at: usize,
    broken: bool,
}

impl<'a> Entries<'a> {
    /// All entries of an area.
    #[must_use]
    pub fn new(area: &'a [u8]) -> Self {
        Self { area, at: 0, broken: false }
    }

    /// Where the iteration stopped at an invalid entry.
    #[must_use]
    pub fn broken_at(&self) -> Option<usize> {
        self.broken.then_some(self.at)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = SuspEntry<'a>;

    fn next(&mut self) -> Option<SuspEntry<'a>> {
        let rest = self.area.get(self.at..)?;
        // Up to three bytes may pad an area; writers without ST end one with a zero.
        let &[a, b, length, version, ..] = rest else { return None };
        if a == 0 || self.broken {
            return None;
        }
        let length = usize::from(length);
        let Some(payload) = rest.get(4..length) else {
            self.broken = true;
            return None;
        };
        if [a, b] == *b"ST" {
            self.at = self.area.len();
            return None;
        }
        let entry = SuspEntry { signature: [a, b], version, payload, at: self.at };
        self.at += length;
        Some(entry)
    }
}

/// Location of further entries (CE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Continuation {
    /// Logical block.
    pub lbn: u32,
    /// Offset from the start of the block; may exceed the block size.
    pub offset: u32,
    /// Bytes of the area.
    pub length: u32,
}

impl Continuation {
    /// Parses the payload of a CE entry.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(Self {
            lbn: both32(payload, 0)?.le,
            offset: both32(payload, 8)?.le,
            length: both32(payload, 16)?.le,
        })
    }
}

/// Number of bytes to skip in the system use areas, from the "." record of the root: an SP entry at the front, or 14 bytes in after CD-XA
/// attributes. Without SP, entries that only Rock Ridge has are accepted. `None`: the volume has no such entries.
#[must_use]
pub fn skip_of_root(system_use: &[u8]) -> Option<usize> {
    [0, 14].into_iter().find_map(|at| {
        let area = system_use.get(at..)?;
        let first = Entries::new(area).next()?;
        match (&first.signature, first.payload) {
            (b"SP", [0xBE, 0xEF, skip, ..]) => Some(usize::from(*skip)),
            (b"RR" | b"PX" | b"TF" | b"NM" | b"CE", _) => Some(at),
            _ => None,
        }
    })
}

/// The identifier of an ER entry.
#[must_use]
pub fn extension_id(payload: &[u8]) -> Option<&[u8]> {
    let length = usize::from(*payload.first()?);
    payload.get(4..4 + length)
}

/// Whether an extension's identifier is one of Rock Ridge's three.
#[must_use]
pub fn is_rock_ridge(id: &[u8]) -> bool {
    matches!(id, b"RRIP_1991A" | b"IEEE_P1282" | b"IEEE_1282")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_where_they_should() {
        let area = b"NM\x07\x01\0abPD\x04\x01ST\x04\x01XX\x04\x01";
        let signatures: Vec<_> = Entries::new(area).map(|e| e.signature).collect();
        assert_eq!(signatures, [*b"NM", *b"PD"]);
        let mut broken = Entries::new(b"NM\x07\x01\0abNM\x20\x01\0");
        assert_eq!((&mut broken).count(), 1);
        assert_eq!(broken.broken_at(), Some(7));
        // A length below 4 would not advance.
        let mut still = Entries::new(b"NM\x00\x01\0\0");
        assert_eq!((still.next(), still.broken_at()), (None, Some(0)));
        assert_eq!(Entries::new(b"NM\x04").count(), 0);
    }

    #[test]
    fn the_root_says_where_entries_start() {
        assert_eq!(skip_of_root(b"SP\x07\x01\xbe\xef\x00"), Some(0));
        assert_eq!(skip_of_root(b"SP\x07\x01\xbe\xef\x05"), Some(5));
        let mut xa = vec![0; 14];
        xa.extend(b"SP\x07\x01\xbe\xef\x0e");
        assert_eq!(skip_of_root(&xa), Some(14));
        assert_eq!(skip_of_root(b"PX\x04\x01"), Some(0));
        assert_eq!(skip_of_root(b"SP\x07\x01\0\0\0"), None);
        assert_eq!(skip_of_root(b""), None);
    }

    #[test]
    fn extensions_are_known_by_their_identifier() {
        let er = [&[10, 0, 0, 1][..], b"RRIP_1991A"].concat();
        assert!(extension_id(&er).is_some_and(is_rock_ridge));
        assert_eq!(extension_id(&[200, 0, 0, 1]), None);
    }
}
