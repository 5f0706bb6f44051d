//! File sections: the location of a file's bytes. A section is an extent, possibly interleaved; a file is one or more of them in record
//! order. Pure arithmetic from file offsets to runs of image bytes.

use foldhash::quality::FixedState;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

/// One section of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Section {
    /// First logical block of data, after the extended attribute record.
    pub lbn: u64,
    /// Bytes of data in it.
    pub bytes: u64,
    /// Interleaving: consecutive data blocks; 0 if not interleaved.
    pub unit: u8,
    /// Interleaving: blocks skipped after each unit.
    pub gap: u8,
}

/// Contiguous bytes of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First byte in the image.
    pub byte: u64,
    /// Length in bytes.
    pub length: u64,
}

impl Section {
    /// Whether unit and gap are consistent: both set, or neither.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        (self.unit == 0) == (self.gap == 0)
    }

    /// The run that begins at byte `offset` of the section; `None` at its end or if no image could hold it.
    ///
    /// Byte b of an interleaved section is at (b div chunk) x stride + (b mod chunk), chunk = unit x block, stride = (unit + gap) x
    /// block.
    #[must_use]
    pub fn run(&self, offset: u64, block: u32) -> Option<Run> {
        let left = self.bytes.checked_sub(offset).filter(|&left| left > 0)?;
        let block = u64::from(block);
        let start = self.lbn.checked_mul(block)?;
        if self.unit == 0 {
            return Some(Run { byte: start.checked_add(offset)?, length: left });
        }
        let chunk = u64::from(self.unit).checked_mul(block).filter(|&chunk| chunk > 0)?;
        let stride = chunk.checked_add(u64::from(self.gap).checked_mul(block)?)?;
        let within = offset % chunk;
        let byte = start.checked_add((offset / chunk).checked_mul(stride)?)?.checked_add(within)?;
        Some(Run { byte, length: left.min(chunk - within) })
    }

    /// The end of the section in the image; `None` if no image is that large.
    #[must_use]
    pub fn end(&self, block: u32) -> Option<u64> {
        match self.bytes.checked_sub(1) {
            None => self.lbn.checked_mul(block.into()),
            Some(last) => {
                let run = self.run(last, block)?;
                run.byte.checked_add(1)
            }
        }
    }
}

/// The sections of one file in order, with their ends in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    sections: Vec<Section>,
    /// End of each section in the file; saturating, because 64 bits exceed any medium.
    ends: Vec<u64>,
    digest: u64,
}

impl Extents {
    /// Adds a section at the end.
    pub fn push(&mut self, section: Section) {
        if self.sections.is_empty() {
            // Nearly every file has one section, so do not reserve space for more.
            self.sections.reserve_exact(1);
            self.ends.reserve_exact(1);
        }
        self.ends.push(self.bytes().saturating_add(section.bytes));
        self.sections.push(section);
        let mut hasher = FixedState::default().build_hasher();
        hasher.write_u64(self.digest);
        section.hash(&mut hasher);
        self.digest = hasher.finish();
    }

    /// All of them.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Size of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// A hash of all sections in order; cached, because there can be a million.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// First block of the first section that has data.
    #[must_use]
    pub fn first_block(&self) -> Option<u64> {
        self.sections.iter().find(|section| section.bytes > 0).map(|section| section.lbn)
    }

    /// The run that begins at byte `offset` of the file; `None` at its end. Uses a binary search, because hostile directories can
    /// describe a million sections.
    #[must_use]
    pub fn run(&self, offset: u64, block: u32) -> Option<Run> {
        let index = self.ends.partition_point(|&end| end <= offset);
        let section = self.sections.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        section.run(offset.checked_sub(start)?, block)
    }
}

impl FromIterator<Section> for Extents {
    fn from_iter<I: IntoIterator<Item = Section>>(sections: I) -> Self {
        let mut extents = Self::default();
        sections.into_iter().for_each(|section| extents.push(section));
        extents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(lbn: u64, bytes: u64) -> Section {
        Section { lbn, bytes, unit: 0, gap: 0 }
    }

    #[test]
    fn sections_follow_one_another_wherever_they_lie() {
        let file: Extents = [plain(50, 1000), plain(9, 0), plain(20, 500)].into_iter().collect();
        assert_eq!((file.bytes(), file.first_block()), (1500, Some(50)));
        assert_eq!(file.run(999, 2048), Some(Run { byte: 50 * 2048 + 999, length: 1 }));
        assert_eq!(file.run(1000, 2048), Some(Run { byte: 20 * 2048, length: 500 }));
        assert_eq!(file.run(1500, 2048), None);
    }

    #[test]
    fn files_are_identified_by_all_their_sections() {
        let digest = |sections: &[Section]| sections.iter().copied().collect::<Extents>().digest();
        let file = [plain(50, 1000), plain(20, 500)];
        assert_eq!(digest(&file), digest(&file));
        let others = [
            vec![plain(50, 1000)],
            vec![plain(50, 1000), plain(21, 500)],
            vec![plain(50, 1000), plain(20, 501)],
            vec![plain(20, 500), plain(50, 1000)],
            vec![plain(50, 1000), plain(20, 500), plain(20, 500)],
            vec![plain(50, 1000), Section { unit: 1, gap: 1, ..plain(20, 500) }],
        ];
        assert!(others.iter().all(|other| digest(other) != digest(&file)));
    }

    #[test]
    fn a_gap_is_stepped_over() {
        let file = Section { lbn: 10, bytes: 5 * 2048, unit: 2, gap: 1 };
        assert_eq!(file.run(0, 2048), Some(Run { byte: 10 * 2048, length: 4096 }));
        assert_eq!(file.run(4096, 2048), Some(Run { byte: 13 * 2048, length: 4096 }));
        assert_eq!(file.run(4 * 2048 + 5, 2048), Some(Run { byte: 16 * 2048 + 5, length: 2043 }));
        assert_eq!(file.end(2048), Some(17 * 2048));
        assert!(!Section { gap: 0, ..file }.is_regular() && file.is_regular() && plain(1, 1).is_regular());
    }

    #[test]
    fn no_number_overflows() {
        let far = Section { lbn: u64::MAX, bytes: u64::MAX, unit: 255, gap: 255 };
        assert_eq!(far.run(0, 2048), None);
        assert_eq!(far.end(2048), None);
        let file: Extents = [far, far].into_iter().collect();
        assert_eq!((file.bytes(), file.run(u64::MAX, 2048)), (u64::MAX, None));
    }
}
