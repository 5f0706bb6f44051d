//! zisofs: a file of any bytes, claimed to be compressed, with every codec. No bytes panic, no block becomes longer than it may.

#![no_main]

use fathom_isofs::format::codec::Codec;
use fathom_isofs::format::zisofs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(Ok(header)) = zisofs::header(bytes) {
        let stored = bytes.len() as u64;
        for index in 0..header.blocks().min(64) {
            let Some(at) = header.pointer_at(index).and_then(|at| usize::try_from(at).ok()) else { break };
            let Some((from, to)) = bytes.get(at..).and_then(|rest| header.pointers(rest)) else { break };
            let Ok(length) = header.check_pointers((from, to), stored) else { continue };
            assert!(from + length <= stored && length <= 256 << 10);
            let block = &bytes[from as usize..(from + length) as usize];
            unpack(header.codec.unwrap_or(Codec::Zlib), block, header.block_bytes(index) as usize);
        }
        return;
    }
    let Some((&first, block)) = bytes.split_first() else { return };
    unpack(Codec::of_id(first % 5 + 1).unwrap_or(Codec::Zlib), block, 32 << 10);
});

fn unpack(codec: Codec, block: &[u8], bytes: usize) {
    if let Ok(unpacked) = codec.unpack(block, bytes) {
        assert_eq!(unpacked.len(), bytes);
    }
}
