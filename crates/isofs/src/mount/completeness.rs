//! Checks the whole image in the background: whether it contains all of every file. If so, the kernel can open files without asking; and
//! the directories are then in the page cache.

use crate::image::Image;
use crate::source::ReadAt;
use crate::walk::{Step, Walk};

/// The check gives up after this number of files: a hostile image may have any number.
const MOST_FILES: u64 = 1_000_000;

/// Whether the image contains every byte of every reachable file. A directory that cannot be listed shows no files.
pub(super) fn has_all<S: ReadAt>(image: &Image<S>) -> bool {
    let mut walk = Walk::new(image);
    let mut files = 0;
    while let Some(step) = walk.step() {
        files += 1;
        let Step::File { node, .. } = step else { continue };
        if files > MOST_FILES || !image.holds(node) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use fathom_testkit::iso::Builder;

    #[test]
    fn one_file_that_is_cut_is_enough() {
        let built = Builder::new().file("a", &[1; 5000]).file("d/b", &[2; 50_000]).build();
        let (whole, mut cut) = (built.bytes.clone(), built.bytes);
        cut.truncate(built.data["d/b"] + 49_000);
        for (bytes, expected) in [(whole, true), (cut, false)] {
            let image = Image::open(bytes, &Options::default()).unwrap();
            assert_eq!(has_all(&image), expected);
        }
    }
}
