//! Files of many gigabytes in small images: a small image followed by the sections of one file, mostly holes, each as long as a
//! record can express. The non-zero pieces are where a reader with 32-bit counters fails.

use super::{Builder, Spec};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The longest section of whole blocks.
const LONGEST: u64 = 0xFFFF_F800;
const BLOCK: u64 = 2048;
/// Bytes of a piece.
const PIECE: u64 = 8192;

/// An image with one large file, "large", and a small one, "small".
#[derive(Clone, Debug)]
pub struct Sparse {
    /// The special property.
    pub name: &'static str,
    /// Size of "large" in bytes.
    pub size: u64,
    /// Non-zero parts of "large": offset in the file, and bytes.
    pub pieces: Vec<(u64, Vec<u8>)>,
    /// Size of the image in bytes.
    pub image_bytes: u64,
    /// Non-zero parts of the image.
    written: Vec<(u64, Vec<u8>)>,
}

/// The content of "small".
pub const SMALL: &[u8] = b"beside it\n";

/// A file of more than 4 GiB in two sections, and one of more than 8 GiB in three, the last of which is stored first.
#[must_use]
pub fn all() -> Vec<Sparse> {
    vec![
        made("more than 4 GiB", &[LONGEST, 100 * BLOCK + 77], false),
        made("more than 8 GiB, last section first", &[LONGEST, LONGEST, 50 * BLOCK + 1], true),
    ]
}

fn made(name: &'static str, lengths: &[u64], scattered: bool) -> Sparse {
    // Records for the same number of sections, with numbers that are corrected below.
    let stand_in = Spec { data: vec![0; lengths.len()], sections: vec![1; lengths.len()], ..Spec::default() };
    let mut built = Builder::new().file("small", SMALL).add("large", stand_in).tail(16).build();
    let mut end = built.bytes.len() as u64;
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    if scattered {
        order.reverse();
    }
    let mut starts = vec![0; lengths.len()];
    for n in order {
        starts[n] = end;
        end = (end + lengths[n]).next_multiple_of(BLOCK) + 3 * BLOCK;
    }
    let record = built.record("large");
    let length = usize::from(built.bytes[record]);
    let number = |n: u64| u32::try_from(n).expect("a number of 32 bits");
    for (n, (&start, &bytes)) in starts.iter().zip(lengths).enumerate() {
        built.patch_both32(record + n * length + 2, number(start / BLOCK));
        built.patch_both32(record + n * length + 10, number(bytes));
    }
    built.patch_both32(built.descriptor + 80, number(end / BLOCK));
    let size: u64 = lengths.iter().sum();
    // At both ends, across 4 GiB, and across the end of each section.
    let mut around: Vec<u64> = vec![0, (1 << 32) - PIECE / 2, size - PIECE];
    let mut until: u64 = 0;
    for bytes in lengths {
        until += bytes;
        around.push(until.min(size - PIECE / 2) - PIECE / 2);
    }
    around.sort_unstable();
    around.dedup_by(|next, before| *next < *before + PIECE);
    let pieces: Vec<(u64, Vec<u8>)> = around.into_iter().map(|at| (at, piece(at))).collect();
    let mut written = vec![(0, built.bytes)];
    for (at, bytes) in &pieces {
        let mut first: u64 = 0;
        for (&start, &length) in starts.iter().zip(lengths) {
            // The part of the piece within this section.
            let (from, to) = ((*at).max(first), (at + PIECE).min(first + length));
            if from < to {
                let part = &bytes[(from - at) as usize..(to - at) as usize];
                written.push((start + from - first, part.to_vec()));
            }
            first += length;
        }
    }
    Sparse { name, size, pieces, image_bytes: end, written }
}

/// Bytes that depend on the offset, none of them 0.
fn piece(at: u64) -> Vec<u8> {
    (at..at + PIECE).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8 | 1).collect()
}

impl Sparse {
    /// Writes the image; zeros become holes.
    ///
    /// # Errors
    /// Those of the file system; some do not support files of that size.
    pub fn write(&self, to: &Path) -> io::Result<()> {
        let file = File::create(to)?;
        file.set_len(self.image_bytes)?;
        self.written.iter().try_for_each(|(at, bytes)| file.write_all_at(bytes, *at))
    }

    /// Expected contents of the file at an offset.
    #[must_use]
    pub fn expected(&self, at: u64, bytes: usize) -> Vec<u8> {
        let end = (at + bytes as u64).min(self.size).max(at);
        let mut expected = vec![0; (end - at) as usize];
        for (start, piece) in &self.pieces {
            let (from, to) = ((*start).max(at), (start + piece.len() as u64).min(end));
            if from < to {
                let part = &piece[(from - start) as usize..(to - start) as usize];
                expected[(from - at) as usize..(to - at) as usize].copy_from_slice(part);
            }
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_where_sections_meet_and_take_no_room() {
        let all = all();
        assert!(all[0].size > 1 << 32 && all[1].size > 1 << 33);
        for sparse in all {
            let meets =
                |at: u64| sparse.pieces.iter().any(|(start, _)| (*start..start + PIECE).contains(&at));
            assert!(
                meets(0) && meets(1 << 32) && meets(LONGEST) && meets(sparse.size - 1),
                "{}",
                sparse.name
            );
            assert!(sparse.pieces.windows(2).all(|pair| pair[0].0 + PIECE <= pair[1].0));
            assert!(sparse.written.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() < 1 << 20);
            assert!(sparse.written.iter().all(|(at, bytes)| at + bytes.len() as u64 <= sparse.image_bytes));
            let (start, piece) = &sparse.pieces[1];
            let around = sparse.expected(start - 5, piece.len() + 10);
            let (before, rest) = around.split_at(5);
            assert_eq!((before, rest.split_at(piece.len())), (&[0; 5][..], (&piece[..], &[0; 5][..])));
            assert_eq!(sparse.expected(sparse.size - 3, 100).len(), 3);
        }
    }
}
