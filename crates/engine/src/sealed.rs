//! Blocks in the format of fio's verify: a header, a checksum of what follows it, and random bytes or a pattern. The layouts were
//! derived from files written by fio 3.33 and 3.42, so each program can check the other's files, except with sha256 and sha512:
//! fio does not store the sum there, except for sha512 in 3.42, which then expects more after it than the sum.
//!
//! | bytes, 3.33 | 3.42 | |
//! |---|---|---|
//! | 0, 2 | 0, 2 | magic number 0xacca |
//! | | 2, 1 | version: 0x81 |
//! | 2, 2 | 3, 1 | number of the sum |
//! | 4, 4 | 4, 4 | length of the block |
//! | 8, 8 | 8, 8 | seed of the random bytes; 0 here |
//! | 16, 8 | 16, 8 | offset in the file |
//! | 24, 8 | 24, 8 | time; 0 here |
//! | 34, 2 | 32, 8 | number of the write; 0 here |
//! | 32, 2 | 40, 2 | number of the thread |
//! | 36, 4 | 44, 4 | CRC-32C of all that, without the final inversion |
//!
//! All numbers are little-endian.

use crate::fault::{FailedCall, Fault};
use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, Crc};
use fathom_workload::{Header, Sealed, Sum};
use sha2::Digest as _;

const MAGIC: u64 = 0xacca;
/// Header version of fio 3.42.
const VERSION: u8 = 0x81;
/// Bytes of the header's own checksum, its last field.
const OWN_SUM: usize = 4;
/// fio's second number for CRC-32C, computed by a CPU instruction.
const CRC32C_BY_CPU: u64 = 6;
/// Seed of XXH32.
const XXHASH_SEED: u32 = 1;

static CRC7: Crc<u8> = Crc::<u8>::new(&CRC_7_MMC);
static CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
static CRC32: Crc<u32> = Crc::<u32>::new(&Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0,
    residue: 0,
});
static CRC64: Crc<u64> = Crc::<u64>::new(&Algorithm {
    width: 64,
    poly: 0xad93_d235_94c9_35a9,
    init: 0,
    refin: true,
    refout: true,
    xorout: 0,
    check: 0,
    residue: 0,
});

/// Turns every block of a record into a sealed one for its offset. Without a pattern, the payload bytes stay.
pub(crate) fn seal(record: &mut [u8], sealed: &Sealed, mut offset: u64) {
    let begin = offset;
    for block in record.chunks_mut((sealed.block.0 as usize).max(1)) {
        sealed.fill(block, offset, offset - begin);
        if let Some(sum) = sealed.sum {
            head(block, sealed, sum, offset);
        }
        offset += block.len() as u64;
    }
}

/// Checks every block of a record. The fault holds the offset of the first wrong block or, for a pattern, of the wrong byte.
pub(crate) fn check(record: &[u8], sealed: &Sealed, mut offset: u64) -> Result<(), Fault> {
    let mut moved = Vec::new();
    let begin = offset;
    for block in record.chunks((sealed.block.0 as usize).max(1)) {
        let at = (offset, offset - begin);
        match sealed.sum {
            None => patterned(block, 0, sealed, at)?,
            Some(sum) if sealed.header_at.0 == 0 => headed(block, sealed, sum, at)?,
            Some(sum) => {
                moved.clear();
                moved.extend_from_slice(block);
                change_places(&mut moved, sealed);
                headed(&moved, sealed, sum, at)?;
            }
        }
        offset += block.len() as u64;
    }
    Ok(())
}

/// Writes the header of a block.
fn head(block: &mut [u8], sealed: &Sealed, sum: Sum, offset: u64) {
    let whole = sealed.header_bytes() as usize;
    if block.len() < whole {
        return;
    }
    let length = block.len() as u32;
    let (head, body) = block.split_at_mut(whole);
    let (header, area) = head.split_at_mut(sealed.header.bytes() as usize);
    header.fill(0);
    header[0..2].copy_from_slice(&(MAGIC as u16).to_le_bytes());
    header[4..8].copy_from_slice(&length.to_le_bytes());
    header[16..24].copy_from_slice(&offset.to_le_bytes());
    match sealed.header {
        Header::Fio3_33 => (header[2], header[32]) = (sum.number(), 1),
        Header::Fio3_42 => (header[2], header[3], header[40]) = (VERSION, sum.number(), 1),
    }
    let (fields, own) = header.split_at_mut(header.len() - OWN_SUM);
    own.copy_from_slice(&(!crc32c::crc32c(fields)).to_le_bytes());
    let digest = Digest::of(sum, body);
    area.fill(0);
    area[..digest.length].copy_from_slice(digest.bytes());
    change_places(block, sealed);
}

/// Swaps a header that is not at the start of the block with the data there.
fn change_places(block: &mut [u8], sealed: &Sealed) {
    let (at, whole) = (sealed.header_at.0 as usize, sealed.header_bytes() as usize);
    if at >= whole && block.len() >= at + whole {
        let (first, second) = block.split_at_mut(at);
        first[..whole].swap_with_slice(&mut second[..whole]);
    }
}

/// Checks a block that begins with its header. `at`: its offset in the file, and in its record.
fn headed(block: &[u8], sealed: &Sealed, sum: Sum, at: (u64, u64)) -> Result<(), Fault> {
    let offset = at.0;
    let whole = sealed.header_bytes() as usize;
    if block.len() < whole {
        return Ok(());
    }
    let wrong = |call, expected, found| Err(Fault { expected, found, ..Fault::short(call, offset, 0, 0) });
    let field = |at: usize, bytes: usize| {
        block[at..at + bytes].iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let header = sealed.header.bytes() as usize;
    let own = header - OWN_SUM;
    let (kind, version) = match sealed.header {
        Header::Fio3_33 => (field(2, 2), None),
        Header::Fio3_42 => (field(3, 1), Some((field(2, 1), u64::from(VERSION)))),
    };
    let kind = if kind == CRC32C_BY_CPU { u64::from(Sum::Crc32c.number()) } else { kind };
    let others = [
        (kind, u64::from(sum.number())),
        (field(4, 4), block.len() as u64),
        (field(own, OWN_SUM), u64::from(!crc32c::crc32c(&block[..own]))),
    ];
    for (found, expected) in [(field(0, 2), MAGIC)].into_iter().chain(version).chain(others) {
        if found != expected {
            return wrong(FailedCall::Header, expected, found);
        }
    }
    if field(16, 8) != offset {
        return wrong(FailedCall::Misplaced, offset, field(16, 8));
    }
    let digest = Digest::of(sum, &block[whole..]);
    let stored = &block[header..header + digest.length];
    if stored != digest.bytes() {
        // As much as fits of both, in byte order; the first differing byte is among them.
        let from = stored.iter().zip(digest.bytes()).position(|(a, b)| a != b).unwrap_or(0);
        let from = if digest.length <= 8 { 0 } else { from.min(digest.length - 8) };
        return wrong(FailedCall::Checksum, number(&digest.bytes()[from..]), number(&stored[from..]));
    }
    if sum == Sum::Pattern {
        return patterned(block, whole, sealed, at);
    }
    Ok(())
}

/// Up to eight bytes as a number, in their order.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Checks the pattern of a block from byte `from` on.
fn patterned(block: &[u8], from: usize, sealed: &Sealed, (offset, within): (u64, u64)) -> Result<(), Fault> {
    let mut expected = vec![0; block.len()];
    sealed.fill(&mut expected, offset, within);
    let pairs = block.iter().zip(&expected).enumerate().skip(from);
    let mut wrong = pairs.filter(|(_, (found, expected))| found != expected);
    match wrong.next() {
        None => Ok(()),
        Some((at, (found, expected))) => Err(Fault {
            expected: u64::from(*expected),
            found: u64::from(*found),
            ..Fault::short(FailedCall::Verify, offset + at as u64, 0, 0)
        }),
    }
}

/// The checksum of a block.
struct Digest {
    bytes: [u8; 64],
    length: usize,
}

impl Digest {
    fn of(sum: Sum, body: &[u8]) -> Self {
        match sum {
            Sum::Meta | Sum::Pattern => Self::new(&[]),
            Sum::Md5 => Self::new(&md5::Md5::digest(body)),
            Sum::Crc64 => Self::new(&CRC64.checksum(body).to_le_bytes()),
            Sum::Crc32 => Self::new(&CRC32.checksum(body).to_le_bytes()),
            Sum::Crc32c => Self::new(&(!crc32c::crc32c(body)).to_le_bytes()),
            Sum::Crc16 => Self::new(&CRC16.checksum(body).to_le_bytes()),
            Sum::Crc7 => Self::new(&CRC7.checksum(body).to_le_bytes()),
            Sum::Sha1 => {
                let mut sum = Self::new(&sha1::Sha1::digest(body));
                // fio stores the words in little-endian order.
                sum.bytes[..sum.length].chunks_exact_mut(4).for_each(<[u8]>::reverse);
                sum
            }
            Sum::Sha256 => Self::new(&sha2::Sha256::digest(body)),
            Sum::Sha512 => Self::new(&sha2::Sha512::digest(body)),
            Sum::Sha3With224 => Self::new(&sha3::Sha3_224::digest(body)),
            Sum::Sha3With256 => Self::new(&sha3::Sha3_256::digest(body)),
            Sum::Sha3With384 => Self::new(&sha3::Sha3_384::digest(body)),
            Sum::Sha3With512 => Self::new(&sha3::Sha3_512::digest(body)),
            Sum::Xxhash => Self::new(&xxhash_rust::xxh32::xxh32(body, XXHASH_SEED).to_le_bytes()),
        }
    }

    fn new(sum: &[u8]) -> Self {
        let mut bytes = [0; 64];
        let length = sum.len().min(bytes.len());
        bytes[..length].copy_from_slice(&sum[..length]);
        Self { bytes, length }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::Bytes;
    use proptest::prelude::*;

    const SUMS: [Sum; 15] = [
        Sum::Meta,
        Sum::Md5,
        Sum::Crc64,
        Sum::Crc32,
        Sum::Crc32c,
        Sum::Crc16,
        Sum::Crc7,
        Sum::Sha1,
        Sum::Sha256,
        Sum::Sha512,
        Sum::Sha3With224,
        Sum::Sha3With256,
        Sum::Sha3With384,
        Sum::Sha3With512,
        Sum::Xxhash,
    ];

    fn of(sum: Sum) -> Sealed {
        Sealed { block: Bytes(512), sum: Some(sum), ..Sealed::default() }
    }

    fn record() -> Vec<u8> {
        (0..2048u32).map(|i| (i * 7 % 251) as u8).collect()
    }

    #[test]
    fn what_is_sealed_is_found_whole_and_a_changed_byte_is_found_in_its_block() {
        for sum in SUMS {
            for (header_at, header) in [(0, Header::Fio3_33), (200, Header::Fio3_33), (200, Header::Fio3_42)]
            {
                let sealed = Sealed { header_at: Bytes(header_at), header, ..of(sum) };
                let mut bytes = record();
                seal(&mut bytes, &sealed, 4096);
                assert_eq!(check(&bytes, &sealed, 4096), Ok(()), "{sum:?} {header_at}");
                let moved = check(&bytes, &sealed, 8192).unwrap_err();
                assert_eq!(
                    (moved.call, moved.offset, moved.found),
                    (FailedCall::Misplaced, 8192, 4096),
                    "{sum:?}"
                );
                let mut broken = bytes.clone();
                // The last byte of the second block, outside any header.
                broken[1023] ^= 1;
                let found = check(&broken, &sealed, 4096);
                if sum == Sum::Meta {
                    assert_eq!(found, Ok(()));
                } else {
                    let fault = found.unwrap_err();
                    assert_eq!(
                        (fault.call, fault.offset),
                        (FailedCall::Checksum, 4608),
                        "{sum:?} {header_at}"
                    );
                    assert_ne!(fault.expected, fault.found);
                }
                let mut headless = bytes.clone();
                headless[header_at as usize + 5] ^= 1;
                assert_eq!(check(&headless, &sealed, 4096).unwrap_err().call, FailedCall::Header, "{sum:?}");
            }
        }
    }

    #[test]
    fn a_pattern_is_checked_byte_by_byte() {
        let sealed = Sealed { block: Bytes(512), pattern: vec![0xde, 0xad, 0xbe, 0xef], ..Sealed::default() };
        let mut bytes = vec![0; 1024];
        seal(&mut bytes, &sealed, 0);
        assert_eq!(bytes, [0xde, 0xad, 0xbe, 0xef].repeat(256));
        bytes[809] = b'X';
        let fault = check(&bytes, &sealed, 8192).unwrap_err();
        assert_eq!((fault.call, fault.offset), (FailedCall::Verify, 8192 + 809));
        assert_eq!((fault.expected, fault.found), (0xad, u64::from(b'X')));
        let with_header = Sealed { sum: Some(Sum::Pattern), ..sealed };
        seal(&mut bytes, &with_header, 0);
        assert_eq!(check(&bytes, &with_header, 0), Ok(()));
        assert_eq!(bytes[40..44], [0xde, 0xad, 0xbe, 0xef]);
        bytes[600] ^= 1;
        assert_eq!(check(&bytes, &with_header, 0).unwrap_err().offset, 600);
    }

    proptest! {
        /// Records at unaligned offsets, rewritten in any order: each is intact afterwards, and no other offset of the file
        /// passes the check.
        #[test]
        fn what_was_written_again_is_whole_wherever_it_begins(
            start in 0usize..5000,
            writes in prop::collection::vec(0usize..8, 1..40),
            blocks in 1usize..4,
            sum in prop::sample::select(SUMS.to_vec()),
            header_at in prop::sample::select(vec![0u64, 200]),
            by in 1usize..512,
        ) {
            const BLOCK: usize = 512;
            let sealed = Sealed { header_at: Bytes(header_at), ..of(sum) };
            let record = blocks * BLOCK;
            let mut file = vec![0; start + 8 * record + BLOCK];
            for (number, write) in writes.iter().enumerate() {
                let at = start + write * record;
                let place = &mut file[at..at + record];
                place.fill(number as u8);
                seal(place, &sealed, at as u64);
            }
            for write in &writes {
                let at = start + write * record;
                prop_assert_eq!(check(&file[at..at + record], &sealed, at as u64), Ok(()));
                let beside = at + by;
                prop_assert!(check(&file[beside..beside + record], &sealed, beside as u64).is_err());
            }
        }
    }

    #[test]
    fn headers_are_those_of_fio() {
        // The first 44 bytes that fio 3.33 wrote with verify=crc32c into a block of 4096 bytes at offset 0: its own checksum is right.
        let theirs: [u8; 40] = [
            0xca, 0xac, 0x05, 0x00, 0x00, 0x10, 0x00, 0x00, 0x3c, 0x54, 0x09, 0xc5, 0x01, 0xcc, 0xa4, 0x00,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x5b, 0x00, 0x6b, 0x07, 0x01, 0x00, 0x00, 0x00, 0x9f, 0x17,
            0xa2, 0x4a,
        ];
        assert_eq!(theirs[36..], (!crc32c::crc32c(&theirs[..36])).to_le_bytes());
        let mut ours = vec![0; 4096];
        seal(&mut ours, &Sealed { block: Bytes(4096), ..of(Sum::Crc32c) }, 0);
        assert_eq!(ours[..8], theirs[..8]);
        // fio 3.42, the same; two bytes before the sum mean nothing.
        let theirs: [u8; 48] = [
            0xca, 0xac, 0x81, 0x05, 0x00, 0x10, 0x00, 0x00, 0xc0, 0xd1, 0xc6, 0x66, 0xc1, 0x9e, 0x2c, 0x02,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf6, 0xcd, 0x95, 0x09, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x00,
            0x2f, 0xc5, 0x86, 0x5b, 0xa6, 0xd4,
        ];
        assert_eq!(theirs[44..], (!crc32c::crc32c(&theirs[..44])).to_le_bytes());
        seal(&mut ours, &Sealed { block: Bytes(4096), header: Header::Fio3_42, ..of(Sum::Crc32c) }, 0);
        assert_eq!((&ours[..8], &ours[32..42]), (&theirs[..8], &theirs[32..42]));
    }

    #[test]
    fn sums_are_those_of_their_catalogues() {
        let nine = b"123456789";
        assert_eq!(CRC7.checksum(nine), 0x75);
        assert_eq!(CRC16.checksum(nine), 0xbb3d);
        assert_eq!(CRC64.checksum(nine), 0xe9c6_d914_c4b8_d9ca);
        assert_eq!(crc32c::crc32c(nine), 0xe306_9283);
    }
}
