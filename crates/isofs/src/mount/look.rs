//! A look through the whole image behind the mount's back: whether it has all of every file. Where it has, the kernel need not ask for each file
//! that is opened; and the directories are in the page cache before they are asked for.

use crate::image::Image;
use crate::source::ReadAt;
use crate::walk::{Step, Walk};

/// Files beyond which the look is given up: a hostile image has as many as it likes.
const MOST_FILES: u64 = 1_000_000;

/// Whether the image has every byte of every file that can be reached. A directory that cannot be listed shows no files.
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
