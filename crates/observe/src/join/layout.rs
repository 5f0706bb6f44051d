//! Maps device sectors back to our files and offsets.

use crate::extents::{self, Placed};
use fathom_record::block::event::SECTOR_BYTES;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A part of a file on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FilePart {
    sector: u64,
    sectors: u64,
    file: u32,
    /// First byte in the file.
    offset: u64,
}

/// The extents of all files on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Sorted by sector.
    parts: Vec<FilePart>,
    /// Files without known extents.
    unknown: u32,
}

/// The fragments of files on their device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Number of fragments.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files with at least one.
    pub files: u64,
}

/// Maximum number of files whose extents are queried: querying a tree of millions would take longer than the phase.
pub const MOST_FILES: usize = 20_000;

impl Layout {
    /// Queries the file system. `first_sector` is the start of its device on the watched one: the start of a partition, else 0. The positions
    /// of file systems with their own address space (btrfs) mean nothing to the device; only their pieces count.
    #[must_use]
    pub fn of(paths: &[PathBuf], first_sector: u64) -> Self {
        let mut layout = Self::default();
        for (path, file) in paths.iter().zip(0u32..) {
            match extents::placed(path) {
                Ok(placed) if (file as usize) < MOST_FILES => layout.add(file, &placed, first_sector),
                _ => layout.unknown += 1,
            }
        }
        layout.parts.sort_unstable_by_key(|p| p.sector);
        layout
    }

    /// A layout for tests, given as (file, parts).
    #[must_use]
    pub fn drawn(files: &[(u32, Vec<Placed>)]) -> Self {
        let mut layout = Self::default();
        files.iter().for_each(|(file, placed)| layout.add(*file, placed, 0));
        layout.parts.sort_unstable_by_key(|p| p.sector);
        layout
    }

    fn add(&mut self, file: u32, placed: &[Placed], first_sector: u64) {
        self.parts.extend(placed.iter().map(|p| FilePart {
            sector: first_sector + p.at / SECTOR_BYTES,
            sectors: p.length.div_ceil(SECTOR_BYTES),
            file,
            offset: p.offset,
        }));
    }

    /// Whether no file has a known extent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The fragments of the files. A part that directly follows the previous one in the file and on the device belongs to the same
    /// fragment.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        let follows = |a: &FilePart, b: &FilePart| {
            a.file == b.file
                && a.sector + a.sectors == b.sector
                && a.offset + a.sectors * SECTOR_BYTES == b.offset
        };
        let mut parts = self.parts.clone();
        parts.sort_unstable_by_key(|part| (part.file, part.offset));
        let joined = parts.windows(2).filter(|two| follows(&two[0], &two[1])).count();
        let files: HashSet<u32> = self.parts.iter().map(|part| part.file).collect();
        Pieces {
            count: (self.parts.len() - joined) as u64,
            bytes: self.parts.iter().map(|part| part.sectors * SECTOR_BYTES).sum(),
            files: files.len() as u64,
        }
    }

    /// Number of files without known extents.
    #[must_use]
    pub fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The parts of our files in a range of sectors: (file, first byte in it, bytes), in sector order.
    pub fn within(&self, sector: u64, sectors: u64) -> impl Iterator<Item = (u32, u64, u64)> {
        let end = sector.saturating_add(sectors);
        let from = self.parts.partition_point(|p| p.sector.saturating_add(p.sectors) <= sector);
        self.parts[from..].iter().take_while(move |p| p.sector < end).map(move |p| {
            let (first, last) = (p.sector.max(sector), p.sector.saturating_add(p.sectors).min(end));
            (p.file, p.offset + (first - p.sector) * SECTOR_BYTES, (last - first) * SECTOR_BYTES)
        })
    }
}

/// Start of a partition on its disk, from its sysfs directory, in sectors; 0 for a whole disk.
#[must_use]
pub fn partition_start(files: &dyn crate::files::KernelFiles, sys: &Path) -> u64 {
    let start = files.read(&sys.join("start")).ok();
    start.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(offset: u64, at: u64, length: u64) -> Placed {
        Placed { offset, at, length }
    }

    #[test]
    fn a_sector_leads_back_to_file_and_offset() {
        let layout = Layout::drawn(&[
            (0, vec![part(0, 1 << 20, 8192), part(8192, 4 << 20, 4096)]),
            (1, vec![part(0, (1 << 20) + 8192, 4096)]),
        ]);
        let all = |sector, sectors| layout.within(sector, sectors).collect::<Vec<_>>();
        assert_eq!(all(2048, 8), [(0, 0, 4096)]);
        assert_eq!(all(2056, 16), [(0, 4096, 4096), (1, 0, 4096)], "a request over the border of two files");
        assert_eq!(all(8192, 100), [(0, 8192, 4096)]);
        assert_eq!(all(0, 2048), [], "somebody else's");
        assert_eq!(all(u64::MAX, u64::MAX), []);
    }

    #[test]
    fn parts_that_lie_one_behind_the_other_are_one_piece() {
        let parts = vec![part(0, 8192, 4096), part(4096, 12_288, 4096), part(8192, 1 << 20, 4096)];
        let other = vec![part(0, (1 << 20) + 4096, 8192)];
        let pieces = Layout::drawn(&[(0, parts), (1, other)]).pieces();
        assert_eq!(pieces, Pieces { count: 3, bytes: 20_480, files: 2 }, "another file is no continuation");
        assert_eq!(Layout::default().pieces(), Pieces::default());
    }

    #[test]
    fn files_with_a_piece_are_counted_once() {
        let files = [
            (0, vec![part(0, 8192, 4096), part(4096, 1 << 20, 4096)]),
            (1, vec![]),
            (2, vec![part(0, 0, 4096)]),
        ];
        assert_eq!(Layout::drawn(&files).pieces().files, 2);
    }

    #[test]
    fn a_partition_begins_where_sysfs_says() {
        let fake = crate::fake::Fake::new().file("/sys/x/vda1/start", "2048\n");
        assert_eq!(partition_start(&fake, Path::new("/sys/x/vda1")), 2048);
        assert_eq!(partition_start(&fake, Path::new("/sys/x/vda")), 0);
    }

    #[test]
    fn files_of_this_machine_lie_somewhere_and_apart() {
        let dir = tempfile::tempdir().expect("a directory");
        let paths: Vec<PathBuf> = (0..3).map(|i| dir.path().join(i.to_string())).collect();
        for path in &paths {
            std::fs::write(path, vec![7; 100_000]).expect("written");
            std::fs::File::open(path).and_then(|f| f.sync_all()).expect("on the disk");
        }
        let layout = Layout::of(&paths, 0);
        if layout.is_empty() {
            // tmpfs and overlay do not report extents.
            assert_eq!(layout.unknown(), 3);
            return;
        }
        for (file, sector, sectors) in layout.parts.iter().map(|p| (p.file, p.sector, p.sectors)) {
            assert!(layout.within(sector, sectors).all(|part| part.0 == file));
        }
    }
}
