//! The interval series of one worker as an artifact: JSON, compressed as one zlib stream.

use crate::WorkerInterval;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read as _, Write as _};

/// Name of the format in the artifact table.
pub(super) const MEDIA_TYPE: &str = "application/x.fathom-worker-intervals+zlib";

pub(super) fn encode(series: &[WorkerInterval]) -> std::io::Result<Vec<u8>> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
    out.write_all(&serde_json::to_vec(series)?)?;
    out.finish()
}

/// Decodes a blob; the error says why it is invalid.
pub(super) fn decode(body: &[u8]) -> Result<Vec<WorkerInterval>, String> {
    let mut plain = Vec::new();
    ZlibDecoder::new(body)
        .read_to_end(&mut plain)
        .map_err(|e| e.to_string())
        .and_then(|_| serde_json::from_slice(&plain).map_err(|e| e.to_string()))
        .map_err(|why| format!("the interval series of a worker ({why})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpKind, OpTotal};

    #[test]
    fn a_series_comes_back_and_rubbish_does_not_panic() {
        let moved = vec![OpTotal { op: OpKind::Read, ops: 2, bytes: 8192, sum_ns: 40_000 }];
        let series = vec![WorkerInterval { end_ns: 40_000, width_ns: 40_000, moved }; 3];
        assert_eq!(decode(&encode(&series).unwrap()), Ok(series));
        assert!(decode(b"rubbish").unwrap_err().contains("the interval series of a worker"));
    }
}
