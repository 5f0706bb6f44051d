//! Valid images with random bytes changed: nothing panics, nothing is read outside the image, and the walk ends. proptest draws the
//! bytes, so that failures are minimised and saved.

use crate::support;
use crate::support::Watched;
use fathom_isofs::check::check;
use fathom_isofs::{Image, Namespace, Options, Step, Walk};
use fathom_testkit::iso::{Builder, Spec, susp};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Small images with many features and few unused bytes.
static IMAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let named = |name: &str, data: &[u8]| Spec {
        data: data.to_vec(),
        susp: vec![susp::px(0o100_644, 1, 1, 2, Some(9)), susp::nm(0, name.as_bytes())],
        ..Spec::default()
    };
    let mut continued = named("continued", b"x");
    continued.susp.push(susp::sl(0, &[(8, b""), (0, b"target")]));
    continued.susp.push(susp::tf(0x0e, &[100; 21]));
    continued.hops = 3;
    let mut packed = named("packed", &packed());
    packed.susp.push(susp::zf1(15, 40_000));
    let rich = Builder::new()
        .rock_ridge("IEEE_1282")
        .joliet(3)
        .enhanced()
        .boot(&[7; 2048])
        .add("a", named("a", b"hello"))
        .add("d/c", continued)
        .add("d/e/p", packed)
        .add("two", Spec { sections: vec![2048, 5], ..named("two", &[3; 2053]) })
        .build();
    let small = Builder::new().block(512).file("x/y.txt", b"y").add(
        "i",
        Spec {
            data: vec![5; 3000],
            interleave: (2, 1),
            xar: Some(vec![1; 250]),
            flags: 16,
            ..Spec::default()
        },
    );
    let sierra = Builder::new().high_sierra().file("old/old.txt", b"old").build();
    vec![rich.bytes, small.build().bytes, sierra.bytes]
});

/// zisofs of 40,000 bytes: one block of zlib (stored), one of zeros.
fn packed() -> Vec<u8> {
    let mut data = vec![0x37, 0xE4, 0x53, 0x96, 0xC9, 0xDB, 0xD6, 0x07];
    data.extend(40_000u32.to_le_bytes());
    data.extend([4, 15, 0, 0]);
    let mut block = vec![0x78, 0x01, 0x01, 0x00, 0x80, 0xFF, 0x7F];
    block.extend(vec![0; 32_768]);
    block.extend(0x8000_0001u32.to_be_bytes());
    let end = 28 + u32::try_from(block.len()).unwrap();
    for pointer in [28, end, end] {
        data.extend(pointer.to_le_bytes());
    }
    data.extend(block);
    data
}

/// Opens, walks and reads any image.
fn go_through(bytes: Vec<u8>, options: &Options) {
    let Ok(image) = Image::open(Watched::new(bytes), options) else { return };
    let _ = check(&image);
    let mut walk = Walk::new(&image);
    let mut buf = [0; 4000];
    let mut steps = 0;
    while let Some(step) = walk.step() {
        steps += 1;
        assert!(steps < 10_000, "a small image has no ten thousand files");
        if let Step::File { node, .. } = step {
            // At the start, in the middle and at the end; wrong lengths are errors, not loops.
            for offset in [0, 4096, node.size().saturating_sub(1), u64::MAX] {
                let _ = image.read_at(node, offset, &mut buf);
            }
            let _ = image.read_link(node);
        }
    }
}

#[test]
fn the_images_are_valid_before_they_are_spoilt() {
    for bytes in IMAGES.iter() {
        let image = Image::open(Watched::new(bytes.clone()), &Options::default()).unwrap();
        let found = check(&image).findings;
        let real = found.list().iter().filter(|f| f.id_is_real()).collect::<Vec<_>>();
        assert!(real.is_empty(), "{real:?}");
        let shown = support::tree(&image);
        assert!(shown.values().all(|content| !content.starts_with("error")), "{shown:?}");
    }
}

/// The sample dates and attribute records of the images above are reported anyway.
trait Real {
    fn id_is_real(&self) -> bool;
}

impl Real for fathom_isofs::Finding {
    fn id_is_real(&self) -> bool {
        use fathom_isofs::Condition::{Date, ExtendedAttributes};
        !matches!(self.condition, Date | ExtendedAttributes)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_panic(
        which in 0..3usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        namespace in prop::option::of(prop::sample::select(vec![
            Namespace::RockRidge, Namespace::Joliet, Namespace::Enhanced, Namespace::Plain,
        ])),
        zisofs_by_magic in any::<bool>(),
    ) {
        let mut bytes = IMAGES[which].clone();
        // The structures are in the first sectors after the system area; the rest is data.
        let (from, to) = (32_768, bytes.len().min(32_768 + 40 * 2048));
        for (at, value) in changes {
            bytes[from + at.index(to - from)] = value;
        }
        go_through(bytes, &Options { namespace, zisofs_by_magic, ..Options::default() });
    }

    #[test]
    fn a_cut_image_never_panics(which in 0..3usize, at in any::<prop::sample::Index>()) {
        let mut bytes = IMAGES[which].clone();
        bytes.truncate(at.index(bytes.len()));
        go_through(bytes, &Options::default());
    }
}
