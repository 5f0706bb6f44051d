//! Whole ISO 9660 images: opened, walked, checked, read here and there in every tree. No bytes panic or loop; every name shown is safe.
//! The input is what follows the 32 KiB of the system area.

#![no_main]

use fathom_isofs::{Image, Namespace, Options, Step, Walk, check};
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;

fuzz_target!(|bytes: &[u8]| {
    let mut image = vec![0; 32 << 10];
    image.extend(bytes);
    for namespace in [None, Some(Namespace::Joliet), Some(Namespace::Enhanced), Some(Namespace::Plain)] {
        let options = Options { namespace, zisofs_by_magic: namespace.is_none(), ..Options::default() };
        let Ok(image) = Image::open(image.as_slice(), &options) else { continue };
        let _ = check::check(&image);
        go_through(&image);
    }
});

fn go_through(image: &Image<&[u8]>) {
    let mut walk = Walk::new(image);
    let mut paths = HashSet::new();
    let mut buf = [0; 5000];
    while let Some(step) = walk.step() {
        let Step::File { path, node, .. } = step else { continue };
        let name = path.rsplit(|&b| b == b'/').next().unwrap_or_default();
        assert!(!name.is_empty() && name != b"." && name != b".." && !name.contains(&0) && name.len() <= 1024);
        assert!(path.len() > 1 << 16 || paths.insert(path.to_vec()), "two entries of one name");
        for offset in [0, 2047, node.size().saturating_sub(1), u64::MAX] {
            if let Ok(n) = image.read_at(node, offset, &mut buf) {
                assert!(offset.saturating_add(n as u64) <= node.size().max(offset), "bytes behind the end");
            }
        }
    }
}
