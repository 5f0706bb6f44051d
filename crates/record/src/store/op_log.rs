//! An operation log as an artifact: three little-endian columns one after the other (n offsets of 8 bytes, n sizes of 4 bytes, n
//! latencies of 8 bytes), compressed as one zlib stream. Columns compress far better than rows, and `numpy.frombuffer` reads
//! them as they are.

use crate::OpLogEntry;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

/// How the artifact table names the format.
pub(super) const MEDIA_TYPE: &str = "application/x.fathom-op-log+zlib";
/// Bytes an entry takes uncompressed.
const ENTRY_BYTES: usize = 8 + 4 + 8;

/// The blob of a log.
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
    out.finish()
}

/// The way back; the reason if the blob is not one.
pub(super) fn decode(body: &[u8]) -> Result<Vec<OpLogEntry>, String> {
    let mut plain = Vec::new();
    ZlibDecoder::new(body).read_to_end(&mut plain).map_err(|e| format!("the operation log ({e})"))?;
    if plain.len() % ENTRY_BYTES != 0 {
        return Err(format!("the operation log ({} bytes are no whole number of entries)", plain.len()));
    }
    let n = plain.len() / ENTRY_BYTES;
    let (offsets, rest) = plain.split_at(n * 8);
    let (sizes, latencies) = rest.split_at(n * 4);
    let offsets = offsets.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
    let sizes = sizes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b));
    let latencies = latencies.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
    let entries = offsets.zip(sizes).zip(latencies);
    Ok(entries.map(|((offset, bytes), latency_ns)| OpLogEntry { offset, bytes, latency_ns }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_log_comes_back(rows in prop::collection::vec(any::<(u64, u32, u64)>(), 0..300)) {
            let log: Vec<OpLogEntry> =
                rows.into_iter().map(|(offset, bytes, latency_ns)| OpLogEntry { offset, bytes, latency_ns }).collect();
            prop_assert_eq!(decode(&encode(&log).expect("memory")), Ok(log));
        }
    }

    #[test]
    fn a_regular_log_is_small() {
        let log: Vec<OpLogEntry> = (0..10_000)
            .map(|i| OpLogEntry { offset: i * 4096, bytes: 4096, latency_ns: 1500 + i % 7 })
            .collect();
        let size = encode(&log).expect("memory").len();
        assert!(size < log.len() * ENTRY_BYTES / 3, "{size} bytes for {} entries", log.len());
    }

    #[test]
    fn a_cut_log_is_refused() {
        let mut short = ZlibEncoder::new(Vec::new(), Compression::fast());
        short.write_all(&[0; 21]).expect("memory");
        assert!(decode(&short.finish().expect("memory")).is_err());
        assert!(decode(b"no zlib").is_err());
    }
}
