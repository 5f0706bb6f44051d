//! The floor of a benchmark on a set of files: random preads of one block, from any of the files. The files are open before the
//! start, as every program has them.

use super::{Done, Offsets, Pages, open, timed};
use anyhow::Result;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Barrier;

/// Files of one size, and for how long they are read.
pub struct Target<'a> {
    pub paths: &'a [PathBuf],
    pub file_bytes: u64,
    pub block_bytes: usize,
    pub seconds: f64,
}

/// Reads one block at a random place of the whole set at a time.
pub fn pread(target: &Target<'_>, start: &Barrier) -> Result<Done> {
    let files: Vec<File> = target.paths.iter().map(|path| open(path, false, false)).collect::<Result<_>>()?;
    let blocks_per_file = target.file_bytes / target.block_bytes as u64;
    let whole = super::Target {
        path: PathBuf::new(),
        file_bytes: blocks_per_file * target.block_bytes as u64 * files.len() as u64,
        seconds: target.seconds,
    };
    let mut offsets = Offsets::of(&whole, target.block_bytes);
    let mut pages = Pages::new(target.block_bytes);
    let buffer = &mut pages.as_mut_slice()[..target.block_bytes];
    let per_file = blocks_per_file * target.block_bytes as u64;
    timed(&whole, start, || {
        for _ in 0..64 {
            let place = offsets.next();
            files[(place / per_file) as usize].read_exact_at(buffer, place % per_file)?;
        }
        Ok(64)
    })
}

#[cfg(test)]
mod tests {
    use super::super::measure_with;
    use super::*;

    #[test]
    fn blocks_of_all_files_are_read_by_all_threads() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..3).map(|n| dir.path().join(n.to_string())).collect();
        for path in &paths {
            // Not a multiple of the block: the rest is not read.
            std::fs::write(path, vec![0; 40_000]).unwrap();
        }
        let target = Target { paths: &paths, file_bytes: 40_000, block_bytes: 16_384, seconds: 0.01 };
        let sample = measure_with(|start| pread(&target, start), 2).unwrap();
        assert!(sample.wall_ns > 0.0 && sample.wall_ns.is_finite());
        let longer = Target { file_bytes: 80_000, ..target };
        assert!(measure_with(|start| pread(&longer, start), 1).is_err(), "a read beyond the end is an error");
    }
}
