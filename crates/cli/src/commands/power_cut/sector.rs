//! Sectors that say what they are: which file, block and write they belong to, with a checksum. Storage may tear a write between
//! sectors, but not within one.
//!
//! | byte | what |
//! |---|---|
//! | 0 | "fthmcut1" |
//! | 8 | number of the run |
//! | 16 | file, 4 bytes |
//! | 20 | sector in the block, 4 bytes |
//! | 24 | block |
//! | 32 | write |
//! | 40 | CRC-32 of all other bytes, 4 bytes |
//! | 44 | bytes that depend on all of these |
//!
//! Numbers are little-endian, of 8 bytes unless stated.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Bytes of a sector.
pub const SECTOR: usize = 512;
const MAGIC: &[u8; 8] = b"fthmcut1";
const SUM: std::ops::Range<usize> = 40..44;
const FILL: usize = 44;

/// What a sector belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    pub file: u32,
    pub sector: u32,
    pub block: u64,
    pub write: u64,
}

/// What was found in place of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundSector {
    Labelled(Label),
    /// No sector of this run: zeros, or what was there before.
    Foreign,
    /// One of this run whose checksum is wrong.
    Damaged,
}

/// Fills a block for a write.
pub fn fill(block: &mut [u8], run: u64, file: u32, number: u64, write: u64) {
    for (sector, bytes) in (0..).zip(block.chunks_exact_mut(SECTOR)) {
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..16].copy_from_slice(&run.to_le_bytes());
        bytes[16..20].copy_from_slice(&file.to_le_bytes());
        bytes[20..24].copy_from_slice(&u32::to_le_bytes(sector));
        bytes[24..32].copy_from_slice(&number.to_le_bytes());
        bytes[32..40].copy_from_slice(&write.to_le_bytes());
        let mut word = mixed(run ^ number, sector, write);
        for part in bytes[FILL..].chunks_mut(8) {
            part.copy_from_slice(&word.to_le_bytes()[..part.len()]);
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
        let sum = sum(bytes);
        bytes[SUM].copy_from_slice(&sum.to_le_bytes());
    }
}

/// What a sector says of itself.
pub fn read(bytes: &[u8], run: u64) -> FoundSector {
    let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
    let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    if bytes.len() != SECTOR || &bytes[..8] != MAGIC || eight(8) != run {
        return FoundSector::Foreign;
    }
    if four(SUM.start) != sum(bytes) {
        return FoundSector::Damaged;
    }
    FoundSector::Labelled(Label { file: four(16), sector: four(20), block: eight(24), write: eight(32) })
}

fn sum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..SUM.start]);
    hasher.update(&bytes[SUM.end..]);
    hasher.finalize()
}

/// A number that depends on all three.
pub fn mixed(seed: u64, file: u32, write: u64) -> u64 {
    let of_file = SplitMix64::seed_from_u64(seed ^ u64::from(file)).next_u64();
    SplitMix64::seed_from_u64(of_file ^ write).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_says_what_it_is_and_any_changed_byte_shows() {
        let mut block = [0; 2 * SECTOR];
        fill(&mut block, 9, 3, 17, 250);
        for (sector, bytes) in (0..).zip(block.chunks_exact(SECTOR)) {
            let label = Label { file: 3, sector, block: 17, write: 250 };
            assert_eq!(read(bytes, 9), FoundSector::Labelled(label));
            assert_eq!(read(bytes, 8), FoundSector::Foreign, "of another run");
            for at in 0..SECTOR {
                let mut changed = bytes.to_vec();
                changed[at] ^= 0x10;
                assert_ne!(read(&changed, 9), FoundSector::Labelled(label), "byte {at}");
            }
        }
        assert_eq!(read(&[0; SECTOR], 0), FoundSector::Foreign);
        assert_eq!(read(&block[..100], 9), FoundSector::Foreign);
    }
}
