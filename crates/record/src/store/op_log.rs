//! An operation log as an artifact: four little-endian columns one after the other (n offsets of 8 bytes, n sizes of 4 bytes, n
//! latencies of 8 bytes, n starts of 8 bytes), compressed as one zlib stream. Logs of older versions have no starts. Columns
//! compress far better than rows, and `numpy.frombuffer` reads them directly.

use crate::OpLogEntry;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

/// Name of the format in the artifact table.
pub(super) const MEDIA_TYPE: &str = "application/x.fathom-op-log.2+zlib";
/// Name of the older format, without the last column.
const WITHOUT_STARTS: &str = "application/x.fathom-op-log+zlib";
/// Matches both names, as an SQL pattern.
pub(super) const MEDIA_TYPES: &str = "application/x.fathom-op-log%+zlib";
/// Uncompressed size of an entry.
const ENTRY_BYTES: usize = 8 + 4 + 8 + 8;

pub(super) fn encode(log: &[OpLogEntry]) -> std::io::Result<Vec<u8>> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
    for entry in log {
        out.write_all(&entry.offset.to_le_bytes())?;
    }
    for entry in log {
        out.write_all(&entry.bytes.to_le_bytes())?;
    }
    for entry in log {
        out.write_all(&entry.latency_ns.to_le_bytes())?;
    }
    for entry in log {
        out.write_all(&entry.start_ns.to_le_bytes())?;
    }
    out.finish()
}

/// Decodes a blob; the error says why it is invalid.
pub(super) fn decode(media_type: &str, body: &[u8]) -> Result<Vec<OpLogEntry>, String> {
    let mut plain = Vec::new();
    ZlibDecoder::new(body).read_to_end(&mut plain).map_err(|e| format!("the operation log ({e})"))?;
    let entry_bytes = if media_type == WITHOUT_STARTS { ENTRY_BYTES - 8 } else { ENTRY_BYTES };
    if plain.len() % entry_bytes != 0 {
        return Err(format!("the operation log ({} bytes are no whole number of entries)", plain.len()));
    }
    let n = plain.len() / entry_bytes;
    let (offsets, rest) = plain.split_at(n * 8);
    let (sizes, latencies) = rest.split_at(n * 4);
    let offsets = offsets.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
    let sizes = sizes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b));
    let (latencies, starts) = latencies.split_at(n * 8);
    let latencies = latencies.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
    let starts = starts.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).chain(std::iter::repeat(0));
    let entries = offsets.zip(sizes).zip(latencies.zip(starts));
    let entry =
        |((offset, bytes), (latency_ns, start_ns))| OpLogEntry { offset, bytes, latency_ns, start_ns };
    Ok(entries.map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_log_comes_back(rows in prop::collection::vec(any::<(u64, u32, u64, u64)>(), 0..300)) {
            let log: Vec<OpLogEntry> =
                rows.into_iter().map(|(offset, bytes, latency_ns, start_ns)| OpLogEntry { offset, bytes, latency_ns, start_ns }).collect();
            prop_assert_eq!(decode(MEDIA_TYPE, &encode(&log).expect("memory")), Ok(log));
        }
    }

    #[test]
    fn a_regular_log_is_small() {
        let log: Vec<OpLogEntry> = (0..10_000)
            .map(|i| OpLogEntry {
                offset: i * 4096,
                bytes: 4096,
                latency_ns: 1500 + i % 7,
                start_ns: i * 2000,
            })
            .collect();
        let size = encode(&log).expect("memory").len();
        assert!(size < log.len() * ENTRY_BYTES / 3, "{size} bytes for {} entries", log.len());
    }

    #[test]
    fn a_cut_log_is_refused() {
        let mut short = ZlibEncoder::new(Vec::new(), Compression::fast());
        short.write_all(&[0; 21]).expect("memory");
        assert!(decode(MEDIA_TYPE, &short.finish().expect("memory")).is_err());
        assert!(decode(MEDIA_TYPE, b"no zlib").is_err());
    }

    #[test]
    fn a_log_without_starts_is_read() {
        let mut old = ZlibEncoder::new(Vec::new(), Compression::fast());
        old.write_all(&4096u64.to_le_bytes()).expect("memory");
        old.write_all(&512u32.to_le_bytes()).expect("memory");
        old.write_all(&77u64.to_le_bytes()).expect("memory");
        let entry = OpLogEntry { offset: 4096, bytes: 512, latency_ns: 77, start_ns: 0 };
        assert_eq!(decode(WITHOUT_STARTS, &old.finish().expect("memory")), Ok(vec![entry]));
    }
}
