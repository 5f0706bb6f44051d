//! Locates a tree's directories and reads them in disc order, in large pieces. The path table gives the first block of each
//! directory, and the directory's own entry gives its length. Both are only hints; the directories themselves are authoritative.

use crate::error::Result;
use crate::format::bytes::le32;
use crate::format::path_table::PathEntries;
use crate::image::Image;
use crate::source::ReadAt;
use crate::staged::StagedGuard;
use std::ops::Range;

/// Largest read.
const LARGEST: usize = 1 << 20;

/// Directories that start within this distance are read in one piece, with the bytes between them.
const NEAR: u64 = 64 << 10;

/// Minimum read of a directory: its first sector contains its own entry.
const SECTOR: u64 = 2048;

/// Reads bytes of the image from the beginning of a block on.
pub(super) type ReadBlocks<'r> = &'r dyn Fn(u64, &mut [u8]) -> Result<()>;

/// Statistics of reads in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AdvanceReads {
    pub(super) reads: u64,
    pub(super) bytes: u64,
    pub(super) directories: u64,
}

/// First bytes of all directories according to the path table; `None` if there is none or it exceeds `most` bytes.
pub(super) fn starts<S: ReadAt>(
    image: &Image<S>,
    read: ReadBlocks<'_>,
    most: u64,
    counts: &mut AdvanceReads,
) -> Option<Vec<u64>> {
    let disc = &image.disc;
    let bytes = u64::from(image.tables.bytes);
    let start = disc.byte_of(image.tables.little.into())?;
    if bytes == 0 || bytes > most || image.tables.little == 0 || disc.available(start, bytes) < bytes {
        return None;
    }
    let mut table = vec![0; usize::try_from(bytes).ok()?];
    if read_pieces(start, &mut table, read, counts) < bytes {
        return None;
    }
    let blocks = PathEntries::new(&table, false)
        .map(|entry| u64::from(entry.extent) + u64::from(entry.xar_blocks))
        .chain(image.root().directory_block());
    let mut starts: Vec<u64> =
        blocks.filter(|&block| disc.has_block(block)).filter_map(|block| disc.byte_of(block)).collect();
    starts.sort_unstable();
    starts.dedup();
    Some(starts)
}

/// Ranges to read if only the starts of directories are known: up to the next one if it is near.
pub(super) fn guessed(starts: &[u64]) -> Vec<Range<u64>> {
    let ends = starts.iter().skip(1).map(Some).chain([None]);
    let ranges = starts.iter().zip(ends).map(|(&start, next)| {
        let end = next.copied().filter(|next| next - start <= NEAR).unwrap_or(start + SECTOR);
        start..end
    });
    joined(ranges.collect(), 0)
}

/// Ranges still missing for directories whose starts are held: those longer than guessed, as a whole.
pub(super) fn missing<S: ReadAt>(image: &Image<S>, starts: &[u64]) -> Vec<Range<u64>> {
    let staged = &image.disc.staged;
    let ranges = starts.iter().filter_map(|&start| {
        let mut own = [0; 34];
        if !staged.fill(start, &mut own) || own[0] < 34 || own[32] != 1 || own[33] != 0 {
            return None;
        }
        let bytes = u64::from(le32(&own, 10)?).min(image.options.directory_bytes);
        let last = image.disc.available(start, bytes).checked_sub(1)?;
        (!staged.holds(start, last + 1)).then_some(start..start + last + 1)
    });
    joined(ranges.collect(), 0)
}

/// Sorts ranges and joins those at most `gap` apart.
pub(super) fn joined(mut ranges: Vec<Range<u64>>, gap: u64) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// Total length.
pub(super) fn total(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum: u64, range| sum.saturating_add(range.end - range.start))
}

/// Reads ranges in order. Unreadable ones are read again on demand, and the error goes to that caller.
pub(super) fn stage<S: ReadAt>(
    image: &Image<S>,
    ranges: &[Range<u64>],
    read: ReadBlocks<'_>,
    held: &mut StagedGuard<'_>,
    counts: &mut AdvanceReads,
) {
    for range in ranges {
        let length = image.disc.available(range.start, range.end - range.start);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let got = read_pieces(range.start, &mut bytes, read, counts);
        bytes.truncate(usize::try_from(got).unwrap_or(0));
        held.add(range.start, bytes);
    }
}

/// Fills a buffer piece by piece; returns how far it got.
fn read_pieces(start: u64, buf: &mut [u8], read: ReadBlocks<'_>, counts: &mut AdvanceReads) -> u64 {
    let mut done = 0;
    for piece in buf.chunks_mut(LARGEST) {
        if read(start + done, piece).is_err() {
            break;
        }
        done += piece.len() as u64;
        counts.reads += 1;
    }
    counts.bytes += done;
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_directories_are_one_read() {
        let starts = [40 * 2048, 41 * 2048, 45 * 2048, 1000 * 2048, 1001 * 2048];
        let ranges = guessed(&starts);
        assert_eq!(ranges, [40 * 2048..46 * 2048, 1000 * 2048..1002 * 2048]);
        assert_eq!(total(&ranges), 8 * 2048);
        assert!(guessed(&[]).is_empty());
    }

    #[test]
    fn ranges_are_joined_over_gaps_as_wide_as_is_said() {
        let ranges = vec![50..60, 0..10, 5..20, 25..30];
        assert_eq!(joined(ranges.clone(), 0), [0..20, 25..30, 50..60]);
        assert_eq!(joined(ranges.clone(), 5), [0..30, 50..60]);
        let joined = joined(ranges, 20);
        assert_eq!((joined.len(), joined[0].clone()), (1, 0..60));
    }
}
