//! Extended attribute records: owner, group, permissions and dates of files without Rock Ridge, stored in the blocks before a file's
//! data. ECMA-119 9.5.

use super::bytes::{be16, both16};
use super::date::{self, Date};

/// The fields of a record that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xar {
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Permissions as POSIX bits, never including write permission.
    pub mode: u32,
    /// Creation date.
    pub created: Date,
    /// Date of the last change.
    pub modified: Date,
}

/// Minimum size of a record.
pub const BYTES: usize = 250;

/// Parses a record; `None` if it is too short or not of version 1.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Xar> {
    if bytes.len() < BYTES || bytes[180] != 1 {
        return None;
    }
    let recorded = be16(bytes, 8)?;
    Some(Xar {
        uid: both16(bytes, 0)?.le.into(),
        gid: both16(bytes, 4)?.le.into(),
        mode: permissions(recorded),
        created: date::long(&bytes[10..27]),
        modified: date::long(&bytes[27..44]),
    })
}

/// A recorded 0 bit grants: bits 4 and 6 the owner's read and execute, 8 and 10 the group's, 12 and 14 everyone's.
fn permissions(recorded: u16) -> u32 {
    let bits = [(4, 0o400), (6, 0o100), (8, 0o040), (10, 0o010), (12, 0o004), (14, 0o001)];
    bits.iter().filter(|(bit, _)| recorded & (1 << bit) == 0).map(|(_, mode)| mode).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_bits_allow() {
        let mut bytes = [0u8; BYTES];
        assert_eq!(parse(&bytes), None, "version 0");
        bytes[180] = 1;
        (bytes[0], bytes[4]) = (7, 9);
        assert_eq!(parse(&bytes).map(|x| (x.uid, x.gid, x.mode)), Some((7, 9, 0o555)));
        bytes[8..10].copy_from_slice(&0b0100_0100_0100_0000u16.to_be_bytes());
        assert_eq!(parse(&bytes).map(|x| x.mode), Some(0o444));
        assert_eq!(parse(&bytes[..200]), None);
    }
}
