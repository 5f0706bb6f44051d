//! The files of an image as read directly from it, for comparison with every reader.

use fathom_isofs::{Image, Node, ReadAt, Step, Walk};

/// Every regular file in the root of an image with its content as read directly from the image.
pub fn contents<S: ReadAt>(image: &Image<S>) -> Vec<(Node, Vec<u8>)> {
    let mut found = Vec::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let Step::File { node, .. } = step else { panic!("{step:?}") };
        found.push((node.clone(), image.read_all(node, 1 << 20).unwrap()));
    }
    found
}
