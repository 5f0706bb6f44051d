//! Self-checking blocks: random bytes, then the CRC-32 (zlib's polynomial) of those bytes, then the block's offset in its file,
//! both little-endian. The layout is SysBench's, so each program can check the other's files.

use crate::fault::{FailedCall, Fault};

/// Bytes of checksum and offset at the end of a block.
pub(crate) const TRAILER: usize = 12;

/// Adds checksum and offset to every block of a record; the bytes before them stay. A shorter piece at the end of the record is a
/// block by itself.
pub(crate) fn seal(record: &mut [u8], block: usize, mut offset: u64) {
    for block in record.chunks_mut(block.max(1)) {
        let length = block.len();
        if let Some(body) = length.checked_sub(TRAILER) {
            let sum = crc32fast::hash(&block[..body]);
            block[body..body + 4].copy_from_slice(&sum.to_le_bytes());
            block[body + 4..].copy_from_slice(&offset.to_le_bytes());
        }
        offset += length as u64;
    }
}

/// Checks every block of a record. The fault names the first wrong block: its expected offset, the checksum of its contents and
/// the stored checksum. For a block written for another offset, the wrong offset instead.
pub(crate) fn check(record: &[u8], block: usize, mut offset: u64) -> Result<(), Fault> {
    for block in record.chunks(block.max(1)) {
        if let Some((body, trailer)) = block.split_last_chunk::<TRAILER>() {
            let stored = u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]);
            let place = u64::from_le_bytes(trailer[4..].try_into().unwrap_or_default());
            let calculated = crc32fast::hash(body);
            if stored != calculated || place != offset {
                let (expected, found) = (u64::from(calculated), u64::from(stored));
                let (call, expected, found) = if stored == calculated {
                    (FailedCall::Misplaced, offset, place)
                } else {
                    (FailedCall::Checksum, expected, found)
                };
                return Err(Fault { expected, found, ..Fault::short(call, offset, 0, 0) });
            }
        }
        offset += block.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_record_checks_and_a_changed_or_moved_one_does_not() {
        let mut record: Vec<u8> = (0..100).collect();
        seal(&mut record, 40, 4000);
        assert_eq!(check(&record, 40, 4000), Ok(()));
        assert_eq!(
            record[28..40],
            [&crc32fast::hash(&record[..28]).to_le_bytes()[..], &4000u64.to_le_bytes()].concat()
        );
        let moved = check(&record, 40, 8000).unwrap_err();
        assert_eq!(
            (moved.call, moved.offset, moved.expected, moved.found),
            (FailedCall::Misplaced, 8000, 8000, 4000)
        );
        record[45] ^= 1;
        let broken = check(&record, 40, 4000).unwrap_err();
        assert_eq!((broken.call, broken.offset), (FailedCall::Checksum, 4040));
    }

    #[test]
    fn records_shorter_than_a_trailer_have_no_checksum() {
        let mut record = vec![7; 5];
        seal(&mut record, 16, 0);
        assert_eq!((record.as_slice(), check(&record, 16, 0)), (&[7; 5][..], Ok(())));
    }
}
