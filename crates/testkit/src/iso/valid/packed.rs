//! Compressed files: zisofs of both versions, and each codec of the second. The streams are short, because the contents repeat.

use super::rock_ridge::{FILE, rock};
use super::{Content, ImageTree, Valid, noise};
use crate::iso::{Builder, susp};

/// Bytes of a block.
const BLOCK: usize = 32_768;
/// File size in bytes: one block, and a partial one of zeros, which takes no space.
const SIZE: u32 = 40_000;
/// The repeated line of the codecs' block.
const LINE: &[u8; 17] = b"0123456789abcdef\n";

/// A block of lines as `xz`, `zstd` and `bzip2` write it.
const XZ: &[u8] = b"\xFD\x37\x7A\x58\x5A\x00\x00\x01\x69\x22\xDE\x36\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2F\xE5\xA3\xE0\x7F\xFF\x00\x54\x5D\
      \x00\x18\x0C\x42\x92\x6A\x67\xBC\x0E\xD1\x33\x2C\xE4\xCC\x42\x29\xC0\x9B\x53\x23\xF1\xBC\x08\x21\x89\x02\x99\xB5\x18\x23\
      \x05\xD3\x5C\xC3\xBA\x85\x52\x4D\x2F\xBF\xF8\x21\xE5\xF6\x6B\xFE\xA2\x04\x13\x64\x7E\xCB\x1C\x47\x82\x67\x75\x01\x8F\x5F\
      \x22\xE8\x13\xD9\x91\xDE\x3C\x8C\x02\xD1\x2D\x62\x0A\xB4\xF1\xC0\x79\x8F\xEC\x2B\x67\x1C\x3A\x48\x00\x00\xC4\x94\x21\x02\
      \x00\x01\x6C\x80\x80\x02\x00\x00\x3B\xC9\x58\xE3\x3E\x30\x0D\x8B\x02\x00\x00\x00\x00\x01\x59\x5A";
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD\x00\x68\xCD\x00\x00\x88\x30\x31\x32\x33\x34\x35\x36\x37\x38\x39\x61\x62\x63\x64\x65\x66\x0A\x01\x00\xD9\
      \x7F\xDA\xE7\x12";
const BZIP2: &[u8] = b"\x42\x5A\x68\x39\x31\x41\x59\x26\x53\x59\x53\xAE\xFB\x09\x00\x07\x87\x49\x00\x00\x10\x7F\xE0\x3F\x00\x20\x00\x90\x28\x69\
      \xA6\x00\x04\xD5\x50\x26\x02\x63\xD1\x54\x30\x15\x43\x8C\xAA\x54\x33\xA9\x50\xD2\xA5\x43\xF5\x4A\x86\xB5\x2A\x1B\x54\xA8\
      \x6F\x52\xA1\xC5\x4A\x86\xC2\xA8\x72\x2A\x87\x42\xA8\x76\x2A\x87\xF1\x54\x3C\x15\x43\xD1\x54\x3E\x17\x72\x45\x38\x50\x90\
      \x53\xAE\xFB\x09";

pub(super) fn all() -> Vec<Valid> {
    let random = noise(BLOCK);
    let lines: Vec<u8> = LINE.iter().copied().cycle().take(BLOCK).collect();
    let one = [&b"\x37\xE4\x53\x96\xC9\xDB\xD6\x07"[..], &SIZE.to_le_bytes(), &[4, 15, 0, 0]].concat();
    let two = |codec: u8| {
        let size = u64::from(SIZE).to_le_bytes();
        [&b"\xEF\x22\x55\xA1\xBC\x1B\x95\xA0"[..], &[0, 6, codec, 15], &size, &[0; 4]].concat()
    };
    let claim = |letters: &[u8; 2]| susp::zf2(letters, 15, SIZE.into());
    let of_codec = |name, letters: &[u8; 2], codec, stream: &[u8]| {
        image(&lines, &file(&two(codec), stream, true), claim(letters)).built(name)
    };
    vec![
        image(&random, &file(&one, &zlib(&random), false), susp::zf1(15, SIZE)).built("zisofs 1"),
        image(&random, &file(&two(1), &zlib(&random), true), claim(b"PZ")).built("zisofs 2"),
        of_codec("zisofs 2 with xz", b"XZ", 2, XZ),
        of_codec("zisofs 2 with LZ4", b"L4", 3, &lz4()),
        of_codec("zisofs 2 with Zstandard", b"ZD", 4, ZSTD),
        of_codec("zisofs 2 with bzip2", b"B2", 5, BZIP2),
    ]
}

/// An image of one compressed file.
fn image(block: &[u8], stored: &[u8], claim: Vec<u8>) -> ImageTree {
    let mut content = block.to_vec();
    content.resize(SIZE as usize, 0);
    let mut spec = rock("packed", FILE);
    spec.data = stored.to_vec();
    spec.susp.push(claim);
    ImageTree::new(Builder::new().rock_ridge("IEEE_1282")).any(
        "packed",
        "packed",
        spec,
        Content::File(content),
    )
}

/// Header, pointers, one block; the second pointer is its end.
fn file(head: &[u8], stream: &[u8], wide: bool) -> Vec<u8> {
    let mut data = head.to_vec();
    let first = head.len() + if wide { 24 } else { 12 };
    for pointer in [first, first + stream.len(), first + stream.len()] {
        let bytes = (pointer as u64).to_le_bytes();
        data.extend(&bytes[..if wide { 8 } else { 4 }]);
    }
    data.extend(stream);
    data
}

/// The block in stored form.
fn zlib(block: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01, 0x01, 0x00, 0x80, 0xFF, 0x7F];
    stream.extend(block);
    stream.extend(adler(block).to_be_bytes());
    stream
}

fn adler(data: &[u8]) -> u32 {
    let (a, b) = data.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

/// A line; then a match one line back, until five bytes before the end; those as literals.
fn lz4() -> Vec<u8> {
    let repeated = BLOCK - LINE.len() - 5;
    // Lengths have 15 in the token and up to 255 in each following byte; match lengths start at 4.
    let rest = repeated - 4 - 15;
    let mut stream = vec![0xFF, u8::try_from(LINE.len() - 15).expect("a short line")];
    stream.extend(LINE);
    stream.extend([u8::try_from(LINE.len()).expect("a short line"), 0]);
    stream.resize(stream.len() + rest / 255, 0xFF);
    stream.extend([u8::try_from(rest % 255).expect("a remainder"), 5 << 4]);
    let end = (BLOCK - 5) % LINE.len();
    stream.extend(LINE.iter().cycle().skip(end).take(5));
    stream
}
