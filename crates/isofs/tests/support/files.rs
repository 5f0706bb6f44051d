//! The files of an image as the image itself reads them: what every reader is held to.

use fathom_isofs::{Image, Node, ReadAt, Step, Walk};

/// Every regular file of an image that has no directory but its root, with its content as the image itself reads it.
pub fn contents<S: ReadAt>(image: &Image<S>) -> Vec<(Node, Vec<u8>)> {
    let mut found = Vec::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let Step::File { node, .. } = step else { panic!("{step:?}") };
        found.push((node.clone(), image.read_all(node, 1 << 20).unwrap()));
    }
    found
}
