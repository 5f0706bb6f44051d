//! Compressed files of both versions and every codec, built here: the content read equals the original, from any offset.

use crate::support;
use fathom_isofs::format::codec::Codec;
use fathom_isofs::{Condition, Image, Options};
use fathom_testkit::iso::{Builder, Spec, susp};
use std::io::Write;

fn content() -> Vec<u8> {
    // Compressible text with a whole block of zeros in it.
    let mut data: Vec<u8> = (0..100_000u32).map(|n| (n / 7 % 251) as u8).collect();
    data[32_768..65_536].fill(0);
    data
}

fn pack(codec: Codec, block: &[u8]) -> Vec<u8> {
    match codec {
        Codec::Zlib => {
            let mut to = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            to.write_all(block).unwrap();
            to.finish().unwrap()
        }
        Codec::Xz => {
            let mut to =
                lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
            to.write_all(block).unwrap();
            to.finish().unwrap()
        }
        Codec::Lz4 => lz4_flex::block::compress(block),
        Codec::Zstd => zstd::bulk::compress(block, 1).unwrap(),
        Codec::Bzip2 => {
            let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            to.write_all(block).unwrap();
            to.finish().unwrap()
        }
    }
}

/// A compressed file: header, pointers, blocks.
fn packed(codec: Codec, version: u8, log2: u8, data: &[u8]) -> Vec<u8> {
    let blocks: Vec<Vec<u8>> = data
        .chunks(1 << log2)
        .map(|block| if block.iter().all(|&b| b == 0) { Vec::new() } else { pack(codec, block) })
        .collect();
    let mut file = Vec::new();
    let width = if version == 1 {
        file.extend([0x37, 0xE4, 0x53, 0x96, 0xC9, 0xDB, 0xD6, 0x07]);
        file.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
        file.extend([4, log2, 0, 0]);
        4
    } else {
        let id =
            [Codec::Zlib, Codec::Xz, Codec::Lz4, Codec::Zstd, Codec::Bzip2].iter().position(|&c| c == codec);
        file.extend([0xEF, 0x22, 0x55, 0xA1, 0xBC, 0x1B, 0x95, 0xA0]);
        file.extend([0, 6, u8::try_from(id.unwrap() + 1).unwrap(), log2]);
        file.extend((data.len() as u64).to_le_bytes());
        file.extend([0; 4]);
        8
    };
    let mut at = (file.len() + (blocks.len() + 1) * width) as u64;
    for length in std::iter::once(0).chain(blocks.iter().map(|block| block.len() as u64)) {
        at += length;
        file.extend(&at.to_le_bytes()[..width]);
    }
    blocks.iter().for_each(|block| file.extend(block));
    file
}

fn claim(codec: Codec, version: u8, log2: u8, size: usize) -> Vec<u8> {
    match version {
        1 => susp::zf1(log2, u32::try_from(size).unwrap()),
        _ => susp::zf2(&codec.letters(), log2, size as u64),
    }
}

#[test]
fn every_version_codec_and_block_size_from_any_offset() {
    let data = content();
    let all = [Codec::Zlib, Codec::Xz, Codec::Lz4, Codec::Zstd, Codec::Bzip2];
    let cases = [(Codec::Zlib, 1)].into_iter().chain(all.map(|codec| (codec, 2)));
    for (codec, version) in cases {
        for log2 in [15, 17] {
            let spec = Spec {
                data: packed(codec, version, log2, &data),
                susp: vec![susp::nm(0, b"packed"), claim(codec, version, log2, data.len())],
                ..Spec::default()
            };
            let image = support::open(Builder::new().rock_ridge("RRIP_1991A").add("p", spec).build().bytes);
            let node = image.resolve(b"packed").unwrap().unwrap();
            assert!(node.is_packed() && node.size() == data.len() as u64);
            assert_eq!(image.read_all(&node, 1 << 20).unwrap(), data, "{codec:?} {version} {log2}");
            let mut piece = vec![1; 40_000];
            for offset in [0usize, 32_767, 32_768, 60_001, 99_999] {
                let n = image.read_at(&node, offset as u64, &mut piece).unwrap();
                assert_eq!(
                    piece[..n],
                    data[offset..(offset + 40_000).min(data.len())],
                    "{codec:?} at {offset}"
                );
            }
            assert_eq!(fathom_isofs::check::check(&image).findings.list(), []);
        }
    }
}

#[test]
fn without_an_entry_the_header_counts_only_if_asked_for() {
    let data = content();
    let stored = packed(Codec::Zlib, 1, 15, &data);
    let bytes = Builder::new().file("p", &stored).build().bytes;
    let image = support::open(bytes.clone());
    let node = image.resolve(b"p").unwrap().unwrap();
    assert_eq!(image.read_all(&node, 1 << 20).unwrap(), stored);
    let image = Image::open(bytes, &Options { zisofs_by_magic: true, ..Options::default() }).unwrap();
    let node = image.resolve(b"p").unwrap().unwrap();
    assert_eq!(image.read_all(&node, 1 << 20).unwrap(), data);
}

#[test]
fn a_damaged_block_is_an_error_of_its_own_bytes_only() {
    let data = content();
    let mut stored = packed(Codec::Zlib, 1, 15, &data);
    let last = stored.len() - 100;
    stored[last..].fill(0xAA);
    let susp = vec![susp::nm(0, b"packed"), claim(Codec::Zlib, 1, 15, data.len())];
    let spec = Spec { data: stored, susp, ..Spec::default() };
    let image = support::open(Builder::new().rock_ridge("RRIP_1991A").add("p", spec).build().bytes);
    let node = image.resolve(b"packed").unwrap().unwrap();
    let mut buf = vec![0; data.len()];
    assert_eq!(image.read_at(&node, 0, &mut buf).unwrap(), 3 * 32_768);
    assert_eq!(buf[..3 * 32_768], data[..3 * 32_768]);
    let error = image.read_at(&node, 3 * 32_768, &mut buf).unwrap_err().to_string();
    assert!(error.contains("block 3"), "{error}");
}

#[test]
fn directory_and_file_must_agree() {
    let data = content();
    let susp = vec![susp::nm(0, b"packed"), claim(Codec::Zlib, 1, 15, data.len() - 1)];
    let spec = Spec { data: packed(Codec::Zlib, 1, 15, &data), susp, ..Spec::default() };
    let image = support::open(Builder::new().rock_ridge("RRIP_1991A").add("p", spec).build().bytes);
    let node = image.resolve(b"packed").unwrap().unwrap();
    assert!(image.read_at(&node, 0, &mut [0; 5]).unwrap_err().to_string().contains("disagree"));
    assert!(fathom_isofs::check::check(&image).findings.has(Condition::Compression));
}

/// Two files with the same first section, header and pointers, and different further sections: neither gets the other's blocks.
#[test]
fn files_that_begin_in_one_block_are_two() {
    let (mut one, mut two) = (vec![1; 40_000], vec![1; 40_000]);
    one[4000..].fill(7);
    two[4000..].fill(9);
    // Stored, not compressed: equal lengths give equal pointers.
    let stored = |data: &[u8]| {
        let blocks = data.chunks(1 << 15).map(|block| {
            let mut to = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
            to.write_all(block).unwrap();
            to.finish().unwrap()
        });
        let blocks: Vec<Vec<u8>> = blocks.collect();
        let mut file = packed(Codec::Zlib, 1, 15, &vec![0; data.len()])[..16].to_vec();
        let mut at = 16 + 4 * 3;
        for length in [0, blocks[0].len(), blocks[1].len()] {
            at += length;
            file.extend(u32::try_from(at).unwrap().to_le_bytes());
        }
        blocks.iter().for_each(|block| file.extend(block));
        file
    };
    let (first, second) = (stored(&one), stored(&two));
    assert!(first.len() == second.len() && first[..2048] == second[..2048]);
    let spec = |name: &str, data: Vec<u8>| Spec {
        sections: vec![2048, data.len() - 2048],
        susp: vec![susp::nm(0, name.as_bytes()), claim(Codec::Zlib, 1, 15, 40_000)],
        data,
        ..Spec::default()
    };
    let builder = Builder::new().rock_ridge("RRIP_1991A");
    let mut built = builder.add("one", spec("one", first)).add("two", spec("two", second)).build();
    let block = u32::try_from(built.data["one"] / 2048).unwrap();
    built.patch_both32(built.record("two") + 2, block);
    let image = support::open(built.bytes);
    let node = |path: &str| image.resolve(path.as_bytes()).unwrap().unwrap();
    let (a, b) = (node("one"), node("two"));
    assert_eq!(a.extents().unwrap().first_block(), b.extents().unwrap().first_block());
    // Alternately reads one block and several at once.
    let mut piece = [0; 100];
    for (node, byte) in [(&a, 7), (&b, 9), (&a, 7)] {
        assert_eq!(image.read_at(node, 20_000, &mut piece).unwrap(), 100);
        assert_eq!(piece, [byte; 100]);
    }
    assert!(image.read_all(&a, 1 << 20).unwrap() == one);
    assert!(image.read_all(&b, 1 << 20).unwrap() == two);
}
