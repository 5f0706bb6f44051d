//! The compressors of zisofs. Each block decompresses to a known size: nothing beyond it is allocated, and a stream with more or less
//! data is an error. zlib is always available; xz, LZ4, Zstandard and bzip2 are features of the crate.

use std::io::Read;
use std::sync::{Mutex, PoisonError};

/// How the blocks of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// zlib, the only codec of version 1.
    Zlib,
    /// xz.
    Xz,
    /// LZ4, a bare block or a frame.
    Lz4,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
}

/// Memory limit of an xz block in KiB: its header sets the dictionary size, up to 4 GiB.
#[cfg(feature = "xz")]
const XZ_KIB: u32 = 64 << 10;

impl Codec {
    /// By the number in a version 2 header.
    #[must_use]
    pub fn of_id(id: u8) -> Option<Self> {
        Some(match id {
            1 => Self::Zlib,
            2 => Self::Xz,
            3 => Self::Lz4,
            4 => Self::Zstd,
            5 => Self::Bzip2,
            _ => return None,
        })
    }

    /// The two letters that identify it in a ZF entry.
    #[must_use]
    pub fn letters(self) -> [u8; 2] {
        match self {
            Self::Zlib => *b"PZ",
            Self::Xz => *b"XZ",
            Self::Lz4 => *b"L4",
            Self::Zstd => *b"ZD",
            Self::Bzip2 => *b"B2",
        }
    }

    /// Whether this build can read it.
    #[must_use]
    pub fn is_built(self) -> bool {
        match self {
            Self::Zlib => true,
            Self::Xz => cfg!(feature = "xz"),
            Self::Lz4 => cfg!(feature = "lz4"),
            Self::Zstd => cfg!(feature = "zstd"),
            Self::Bzip2 => cfg!(feature = "bzip2"),
        }
    }

    /// Decompresses one block to exactly `bytes` bytes.
    ///
    /// # Errors
    /// A damaged stream, one of another size, or a codec that is not built in.
    pub fn unpack(self, packed: &[u8], bytes: usize) -> Result<Vec<u8>, String> {
        let unpacked = match self {
            Self::Zlib => zlib(packed, bytes),
            #[cfg(feature = "xz")]
            Self::Xz => drain(lzma_rust2::XzReader::new_mem_limit(packed, false, XZ_KIB), bytes),
            #[cfg(feature = "lz4")]
            Self::Lz4 => lz4(packed, bytes),
            #[cfg(feature = "zstd")]
            Self::Zstd => zstandard(packed, bytes),
            #[cfg(feature = "bzip2")]
            Self::Bzip2 => drain(bzip2::bufread::BzDecoder::new(packed), bytes),
            #[allow(unreachable_patterns)] // with every feature on, nothing is left
            _ => return Err(format!("{self:?} is a codec that this build was made without")),
        }?;
        if unpacked.len() == bytes {
            return Ok(unpacked);
        }
        let much = if unpacked.len() > bytes { "more" } else { "less" };
        Err(format!("the block decompresses to {much} than its {bytes} bytes"))
    }
}

/// Idle decoders, reused across blocks and threads to avoid rebuilding their tables and windows.
static INFLATE: Mutex<Vec<flate2::Decompress>> = Mutex::new(Vec::new());

/// One call into a buffer of the final size avoids the decoder's window; one extra byte detects excess data.
fn zlib(packed: &[u8], bytes: usize) -> Result<Vec<u8>, String> {
    let idle = || INFLATE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = idle().pop();
    let mut decoder = kept.unwrap_or_else(|| flate2::Decompress::new(true));
    decoder.reset(true);
    let mut unpacked = Vec::with_capacity(bytes.saturating_add(1));
    let status = decoder.decompress_vec(packed, &mut unpacked, flate2::FlushDecompress::Finish);
    idle().push(decoder);
    let status = status.map_err(|e| format!("the block does not decompress: {e}"))?;
    // A stream without an end has no checksum either.
    if status != flate2::Status::StreamEnd && unpacked.len() <= bytes {
        return Err("the block does not decompress: its stream has no end".into());
    }
    Ok(unpacked)
}

/// Reads everything, up to one byte more than expected, so that the caller detects excess data.
fn drain(reader: impl Read, bytes: usize) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::with_capacity(bytes.saturating_add(1));
    let most = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(1);
    reader
        .take(most)
        .read_to_end(&mut unpacked)
        .map_err(|e| format!("the block does not decompress: {e}"))?;
    Ok(unpacked)
}

/// Writers differ: the C tools write bare blocks, others whole frames, which have a magic number.
#[cfg(feature = "lz4")]
fn lz4(packed: &[u8], bytes: usize) -> Result<Vec<u8>, String> {
    if packed.starts_with(&[0x04, 0x22, 0x4D, 0x18]) {
        return drain(lz4_flex::frame::FrameDecoder::new(packed), bytes);
    }
    let mut unpacked = vec![0; bytes];
    let n = lz4_flex::block::decompress_into(packed, &mut unpacked)
        .map_err(|e| format!("the block does not decompress: {e}"))?;
    unpacked.truncate(n);
    Ok(unpacked)
}

/// One call into a buffer of the final size: a streaming decoder would allocate the window that the frame requests.
#[cfg(feature = "zstd")]
fn zstandard(packed: &[u8], bytes: usize) -> Result<Vec<u8>, String> {
    zstd::bulk::decompress(packed, bytes).map_err(|e| format!("the block does not decompress: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[cfg(all(feature = "xz", feature = "lz4", feature = "zstd", feature = "bzip2"))]
    fn all(data: &[u8]) -> Vec<(Codec, Vec<u8>)> {
        let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
        xz.write_all(data).unwrap();
        let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bz.write_all(data).unwrap();
        let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
        frame.write_all(data).unwrap();
        vec![
            (Codec::Zlib, zlib(data)),
            (Codec::Xz, xz.finish().unwrap()),
            (Codec::Lz4, lz4_flex::block::compress(data)),
            (Codec::Lz4, frame.finish().unwrap()),
            (Codec::Zstd, zstd::bulk::compress(data, 1).unwrap()),
            (Codec::Bzip2, bz.finish().unwrap()),
        ]
    }

    #[cfg(all(feature = "xz", feature = "lz4", feature = "zstd", feature = "bzip2"))]
    #[test]
    fn every_codec_reads_its_own_and_exactly_its_size() {
        let data: Vec<u8> = (0..40_000u32).map(|n| (n / 7 % 251) as u8).collect();
        for (codec, packed) in all(&data) {
            assert_eq!(codec.unpack(&packed, data.len()).as_ref(), Ok(&data), "{codec:?}");
            assert!(codec.unpack(&packed, data.len() - 1).is_err(), "{codec:?} with more");
            assert!(codec.unpack(&packed, data.len() + 1).is_err(), "{codec:?} with less");
            assert!(codec.unpack(&packed[..packed.len() / 2], data.len()).is_err(), "{codec:?} cut");
            assert!(codec.unpack(&[], 5).is_err(), "{codec:?} empty");
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_the_block() {
        let bomb = zlib(&vec![0; 10 << 20]);
        assert!(Codec::Zlib.unpack(&bomb, 32768).unwrap_err().contains("more"));
    }

    #[test]
    fn numbers_and_letters() {
        for id in 1..=5 {
            assert!(Codec::of_id(id).is_some_and(|codec| codec.letters()[0].is_ascii_uppercase()));
        }
        assert_eq!((Codec::of_id(0), Codec::of_id(6)), (None, None));
    }
}
