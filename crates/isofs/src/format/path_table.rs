//! Path tables: every directory of a tree in one list, used for prefetching and cross-checking. The directories themselves are
//! authoritative: writers disagree about relocated trees, and parents are numbered in 16 bits. ECMA-119 9.4.

use super::bytes::{be16, be32, le16, le32};

/// One directory of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEntry<'a> {
    /// Length in blocks of the extended attribute record before the extent.
    pub xar_blocks: u8,
    /// First block of the directory.
    pub extent: u32,
    /// Index of the parent in the table, from 1.
    pub parent: u16,
    /// Name as recorded; one byte 0 for the root.
    pub name: &'a [u8],
}

/// Iterates over a table; stops at its end or at an entry that does not fit.
#[derive(Clone, Debug)]
pub struct PathEntries<'a> {
    table: &'a [u8],
    big_endian: bool,
}

impl<'a> PathEntries<'a> {
    /// The L table is little-endian, the M table big-endian.
    #[must_use]
    pub fn new(table: &'a [u8], big_endian: bool) -> Self {
        Self { table, big_endian }
    }

    /// The remaining bytes that are not entries.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.table
    }
}

impl<'a> Iterator for PathEntries<'a> {
    type Item = PathEntry<'a>;

    fn next(&mut self) -> Option<PathEntry<'a>> {
        let table = self.table;
        let length = usize::from(*table.first()?);
        let name = table.get(8..8 + length).filter(|name| !name.is_empty())?;
        let (extent, parent) = if self.big_endian {
            (be32(table, 2)?, be16(table, 6)?)
        } else {
            (le32(table, 2)?, le16(table, 6)?)
        };
        self.table = table.get(8 + length + length % 2..).unwrap_or_default();
        Some(PathEntry { xar_blocks: table[1], extent, parent, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_say_the_same() {
        let l = [1, 0, 20, 0, 0, 0, 1, 0, 0, 0, 2, 0, 21, 0, 0, 0, 1, 0, b'A', b'B'];
        let m = [1, 0, 0, 0, 0, 20, 0, 1, 0, 0, 2, 0, 0, 0, 0, 21, 0, 1, b'A', b'B'];
        let little: Vec<_> = PathEntries::new(&l, false).collect();
        assert_eq!(little, PathEntries::new(&m, true).collect::<Vec<_>>());
        assert_eq!(little[1], PathEntry { xar_blocks: 0, extent: 21, parent: 1, name: b"AB" });
    }

    #[test]
    fn a_cut_table_ends_early() {
        let mut cut = PathEntries::new(&[200, 0, 1, 0, 0, 0, 1, 0, 1], false);
        assert_eq!((cut.next(), cut.rest().len()), (None, 9));
        assert_eq!(PathEntries::new(&[0; 100], false).count(), 0);
    }
}
