//! Rock Ridge attributes of a record. A [`RockRidge`] is fed the entries of the record's area and its continuations in order, and
//! collects names, targets, modes, times and devices. RRIP 1.09, 1.10 and 1.12.

use super::bytes::{both32, le32, le64};
use super::date::{self, Date};
use super::name;
use super::susp::SuspEntry;
use super::zisofs;

/// Longest link target in bytes: the limit of a path, without the NUL.
pub const LONGEST_TARGET: usize = 4095;

/// POSIX attributes (PX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Px {
    /// Mode with type bits.
    pub mode: u32,
    /// Number of links.
    pub links: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// File serial number (1.12). Writers without one set it to 0.
    pub serial: Option<u32>,
}

/// Dates of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Creation.
    pub created: Date,
    /// Last change of content.
    pub modified: Date,
    /// Last read.
    pub accessed: Date,
    /// Last change of attributes.
    pub changed: Date,
}

impl Default for Times {
    fn default() -> Self {
        Self { created: Date::Unset, modified: Date::Unset, accessed: Date::Unset, changed: Date::Unset }
    }
}

/// Everything that one record's entries contain.
#[derive(Clone, Debug, Default)]
pub struct RockRidge {
    /// Attributes.
    pub px: Option<Px>,
    /// Device number as major and minor.
    pub device: Option<(u32, u32)>,
    /// Target of a symbolic link; truncated if it is too long.
    pub target: Option<Vec<u8>>,
    /// Whether the target is longer than [`LONGEST_TARGET`].
    pub target_too_long: bool,
    /// Name from all NM entries; longer than [`name::LONGEST`] it is truncated to one byte more than that. Bounded, because thousands of
    /// records may refer to the same 64 KiB of entries.
    pub name: Option<Vec<u8>>,
    /// CL: a placeholder for the directory at that block.
    pub child: Option<u32>,
    /// PL: block of the original parent.
    pub parent: Option<u32>,
    /// RE: relocated here because the tree was too deep; hidden.
    pub relocated: bool,
    /// SF: a sparse file of this size.
    pub sparse: Option<u64>,
    /// Dates.
    pub times: Times,
    /// Compression, from the ZF entry.
    pub packed: Option<zisofs::Claim>,
    /// Number of unreadable entries.
    pub unreadable: u32,
    /// Whether the next NM or SL entry continues the last one.
    link: LinkState,
    in_other_extension: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    /// The next component needs a "/" before it.
    slash: bool,
}

impl RockRidge {
    /// Processes one entry. `extension` is the index of Rock Ridge among the volume's ER entries.
    pub fn take(&mut self, entry: &SuspEntry<'_>, extension: u8) {
        if &entry.signature == b"ES" {
            self.in_other_extension = entry.payload.first().is_some_and(|&index| index != extension);
            return;
        }
        if self.in_other_extension {
            return;
        }
        let payload = entry.payload;
        let read = match &entry.signature {
            b"PX" => self.take_px(payload),
            b"PN" => self.take_pn(payload),
            b"SL" => self.take_sl(payload),
            b"NM" => self.take_nm(payload),
            b"CL" => both32(payload, 0).map(|block| self.child = Some(block.le)),
            b"PL" => both32(payload, 0).map(|block| self.parent = Some(block.le)),
            b"RE" => {
                self.relocated = true;
                Some(())
            }
            b"TF" => self.take_tf(payload),
            b"SF" => self.take_sf(payload),
            b"ZF" | b"Z2" => zisofs::Claim::parse(entry).map(|claim| self.packed = Some(claim)),
            _ => Some(()),
        };
        if read.is_none() {
            self.unreadable = self.unreadable.saturating_add(1);
        }
    }

    fn take_px(&mut self, payload: &[u8]) -> Option<()> {
        self.px = Some(Px {
            mode: both32(payload, 0)?.le,
            links: both32(payload, 8)?.le,
            uid: both32(payload, 16)?.le,
            gid: both32(payload, 24)?.le,
            serial: both32(payload, 32).map(|serial| serial.le),
        });
        Some(())
    }

    fn take_pn(&mut self, payload: &[u8]) -> Option<()> {
        self.device = Some(device(both32(payload, 0)?.le, both32(payload, 8)?.le));
        Some(())
    }

    /// Flags, then text. Flag 1 announces another NM; all are concatenated anyway.
    fn take_nm(&mut self, payload: &[u8]) -> Option<()> {
        let (&flags, text) = payload.split_first()?;
        let name = self.name.get_or_insert_default();
        let piece = piece(flags, text);
        let room = (name::LONGEST + 1).saturating_sub(name.len());
        name.extend(&piece[..piece.len().min(room)]);
        Some(())
    }

    fn take_sl(&mut self, payload: &[u8]) -> Option<()> {
        let mut rest = payload.get(1..)?;
        self.target.get_or_insert_default();
        while !rest.is_empty() {
            let (&flags, tail) = rest.split_first()?;
            let (&length, tail) = tail.split_first()?;
            let text = tail.get(..usize::from(length))?;
            self.component(flags, text);
            rest = &tail[usize::from(length)..];
        }
        Some(())
    }

    /// Writers may split an SL between two components or inside one; only the component's own flag tells which.
    fn component(&mut self, flags: u8, text: &[u8]) {
        // The root: at the front of an absolute target. In the middle it is how writers record a double slash.
        let is_root = flags & 8 != 0;
        let piece: &[u8] = if is_root { b"/" } else { piece(flags, text) };
        let slash: &[u8] = if self.link.slash { b"/" } else { b"" };
        let target = self.target.get_or_insert_default();
        self.target_too_long |= target.len() + slash.len() + piece.len() > LONGEST_TARGET;
        if self.target_too_long {
            return;
        }
        target.extend(slash);
        target.extend(piece);
        self.link.slash = !is_root && flags & 1 == 0;
    }

    fn take_tf(&mut self, payload: &[u8]) -> Option<()> {
        let (&flags, mut stamps) = payload.split_first()?;
        let bytes = if flags & 0x80 != 0 { 17 } else { 7 };
        for bit in 0..7 {
            if flags & (1 << bit) == 0 {
                continue;
            }
            let stamp = stamps.get(..bytes)?;
            let date = if bytes == 17 { date::long(stamp) } else { date::short(stamp) };
            match bit {
                0 => self.times.created = date,
                1 => self.times.modified = date,
                2 => self.times.accessed = date,
                3 => self.times.changed = date,
                _ => {} // backup, expiration, effective: not shown anywhere
            }
            stamps = &stamps[bytes..];
        }
        Some(())
    }

    /// Since 1.12: high and low half and the depth of the table; before, only the size.
    fn take_sf(&mut self, payload: &[u8]) -> Option<()> {
        let first = both32(payload, 0)?.le;
        self.sparse = Some(match both32(payload, 8) {
            Some(low) => u64::from(first) << 32 | u64::from(low.le),
            None => first.into(),
        });
        Some(())
    }
}

/// The text of a component of a name or target: flags encode "." and "..".
fn piece(flags: u8, text: &[u8]) -> &[u8] {
    match flags & 6 {
        2 => b".",
        4 => b"..",
        _ => text,
    }
}

/// The two halves of PN. The specification says high and low 32 bits of a dev_t, which it does not define: genisoimage puts a whole Linux
/// number into the low half, xorriso major and minor into one half each.
#[must_use]
pub fn device(high: u32, low: u32) -> (u32, u32) {
    if high != 0 {
        (high, low)
    } else if low >= 0x10_0000 {
        (low >> 20, low & 0xF_FFFF)
    } else if low > 0xFF {
        (low >> 8, low & 0xFF)
    } else {
        (0, low)
    }
}

impl zisofs::Claim {
    /// Parses a ZF or Z2 entry.
    #[must_use]
    pub fn parse(entry: &SuspEntry<'_>) -> Option<Self> {
        let payload = entry.payload;
        let size = if entry.version >= 2 { le64(payload, 4)? } else { le32(payload, 4)?.into() };
        Some(Self {
            version: entry.version,
            algorithm: [*payload.first()?, *payload.get(1)?],
            header_words: *payload.get(2)?,
            block_log2: *payload.get(3)?,
            size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::susp::Entries;
    use super::*;

    fn read(area: &[u8]) -> RockRidge {
        let mut rr = RockRidge::default();
        Entries::new(area).for_each(|entry| rr.take(&entry, 0));
        rr
    }

    #[test]
    fn names_are_joined() {
        assert_eq!(read(b"NM\x07\x01\x01abNM\x07\x01\0cd").name.unwrap(), b"abcd");
        assert_eq!(read(b"NM\x05\x01\x04").name.unwrap(), b"..");
        assert_eq!(read(b"PX\x24\x01").name, None);
    }

    #[test]
    fn targets_over_two_entries_with_and_without_a_cut_component() {
        let whole = read(b"SL\x0a\x01\x01\x08\0\0\x01aSL\x0a\x01\0\0\x03bcd");
        assert_eq!(whole.target.unwrap(), b"/a/bcd");
        let cut = read(b"SL\x08\x01\x01\x01\x01aSL\x0c\x01\0\0\x01b\x04\0\0\0");
        assert_eq!(cut.target.unwrap(), b"ab/../");
        assert_eq!(read(b"SL\x09\x01\0\x02\0\x04\0").target.unwrap(), b"./..");
        assert_eq!(read(b"SL\x0d\x01\0\0\x01b\x08\0\0\x01c").target.unwrap(), b"b//c");
    }

    /// A record can have at most 64 KiB of entries, and a thousand records can share them.
    #[test]
    fn names_and_targets_have_an_end() {
        let name = |pieces: usize| read(&b"NM\x0d\x01\x01ABCDEFGH".repeat(pieces)).name.unwrap();
        assert_eq!((name(128).len(), name(129).len(), name(5000).len()), (1024, 1025, 1025));
        assert_eq!(read(&b"NM\x05\x01\x04".repeat(5000)).name.unwrap().len(), 1025);
        let target = |pieces: usize| read(&b"SL\x0f\x01\x01\x01\x08ABCDEFGH".repeat(pieces));
        let (whole, cut) = (target(511), target(512));
        assert_eq!((whole.target.unwrap().len(), whole.target_too_long), (4088, false));
        assert_eq!((cut.target.unwrap().len(), cut.target_too_long), (4088, true));
        assert!(read(&b"SL\x07\x01\x01\x08\0".repeat(9000)).target.unwrap().len() <= LONGEST_TARGET);
    }

    #[test]
    fn device_numbers_of_both_writers() {
        assert_eq!(device(1, 3), (1, 3));
        assert_eq!(device(0, 0x10_0003), (1, 3));
        assert_eq!(device(0, 0x103), (1, 3));
        assert_eq!(device(0, 7), (0, 7));
    }

    #[test]
    fn times_in_both_forms() {
        let short = read(b"TF\x13\x01\x06\x46\x01\x01\0\0\x05\0\x46\x01\x01\0\0\x06\0");
        assert_eq!(short.times.modified.moment().unwrap().seconds, 5);
        assert_eq!(short.times.accessed.moment().unwrap().seconds, 6);
        let long = read(b"TF\x16\x01\x821970010100000700\0");
        assert_eq!(long.times.modified.moment().unwrap().seconds, 7);
        assert_eq!(read(b"TF\x08\x01\x0e\0\0\0").unreadable, 1);
    }

    #[test]
    fn another_extensions_entries_are_not_ours() {
        assert_eq!(read(b"ES\x05\x01\x01NM\x06\x01\0aES\x05\x01\0NM\x06\x01\0b").name.unwrap(), b"b");
    }
}
