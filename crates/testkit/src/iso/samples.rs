//! A small tree with a file of every layout, shared by several reader tests: plain, empty, interleaved, in scattered sections of
//! odd lengths, compressed.

use super::valid::noise;
use super::{Builder, Spec, susp};

/// Uncompressed size of `packed` in [`every_layout`], all zeros.
pub const UNPACKED: u32 = 70_000;

/// The tree, with `plain` bytes in the file of that name (150,000 at least) and this block size. `odd` has 50,000 bytes in five
/// scattered sections, `inter` has gaps after every second block, `packed` is zisofs of zeros only.
#[must_use]
pub fn every_layout(plain: usize, block: usize) -> Builder {
    let data = noise(plain);
    let odd = Spec {
        data: data[..50_000].to_vec(),
        sections: vec![1000, 500, 7, 30_000, 18_493],
        scattered: true,
        ..Spec::default()
    };
    let packed = Spec { data: packed_zeros(), susp: vec![susp::zf1(15, UNPACKED)], ..Spec::default() };
    Builder::new()
        .block(block)
        .rock_ridge("RRIP_1991A")
        .file("plain", &data)
        .file("empty", b"")
        .add("inter", Spec { data: data[7..100_000].to_vec(), interleave: (2, 1), ..Spec::default() })
        .add("odd", odd)
        .add("packed", packed)
}

/// zisofs in blocks of 32 KiB, none of which is stored: the header, and pointers that do not advance.
fn packed_zeros() -> Vec<u8> {
    [
        [0x37, 0xE4, 0x53, 0x96, 0xC9, 0xDB, 0xD6, 0x07].as_slice(),
        &UNPACKED.to_le_bytes(),
        &[4, 15, 0, 0],
        &[28_u32; 4].map(u32::to_le_bytes).concat(),
    ]
    .concat()
}
