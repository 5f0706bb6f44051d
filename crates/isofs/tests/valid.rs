//! The catalogue of valid images: what is read of each is what went into it, nothing is found wrong, and with one byte changed anywhere in its
//! structures nothing panics, nothing is read outside and the walk ends: twenty images, a thousand changes each.

mod support;

use fathom_isofs::check::check;
use fathom_isofs::{Condition, Image, Kind, Options, Step, Walk};
use fathom_testkit::iso::valid::{self, Content};
use std::collections::BTreeMap;
use support::Watched;

fn read(image: &Image<Watched>) -> BTreeMap<String, Content> {
    let mut tree = BTreeMap::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let Step::File { path, node, again: false } = step else { panic!("{step:?}") };
        let content = match node.kind() {
            Kind::File => Content::File(image.read_all(node, 1 << 24).unwrap()),
            Kind::Link => Content::Link(String::from_utf8(image.read_link(node).unwrap()).unwrap()),
            Kind::Directory => Content::Directory,
            Kind::CharDevice => Content::Device(node.device().0, node.device().1),
            Kind::Fifo => Content::Pipe,
            other => panic!("{other:?}"),
        };
        tree.insert(String::from_utf8(path.to_vec()).unwrap(), content);
    }
    tree
}

#[test]
fn what_went_in_comes_out() {
    for valid in valid::all() {
        let image = support::open(valid.bytes);
        assert_eq!(read(&image), valid.tree.into_iter().collect(), "{}", valid.name);
        let findings = check(&image).findings;
        // The generator leaves dates unset in attribute records.
        let real: Vec<_> =
            findings.list().iter().filter(|f| f.condition != Condition::ExtendedAttributes).collect();
        assert!(real.is_empty(), "{}: {real:?}", valid.name);
    }
}

const FLIPS: u64 = 1000;

/// Opens, walks and reads a little of everything.
fn go_through(bytes: Vec<u8>, name: &str) {
    let Ok(image) = Image::open(Watched::new(bytes), &Options::default()) else { return };
    let mut walk = Walk::new(&image);
    let (mut steps, mut buf) = (0, [0; 100]);
    while let Some(step) = walk.step() {
        steps += 1;
        assert!(steps < 10_000, "{name}: a small image has no ten thousand files");
        if let Step::File { node, .. } = step {
            for offset in [0, node.size().saturating_sub(1)] {
                let _ = image.read_at(node, offset, &mut buf);
            }
            let _ = image.read_link(node);
        }
    }
}

#[test]
fn a_thousand_changed_bytes_in_each_harm_nobody() {
    let all = valid::all();
    assert!(all.len() >= 20);
    for valid in all {
        // Descriptors, path tables, directories and continuations; behind them are data. Every tenth change is anywhere.
        let structures = (32_768, valid.bytes.len().min(32_768 + 24 * 2352));
        let mut state =
            valid.name.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut draw = |below: usize| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (state >> 33) as usize % below
        };
        for n in 0..FLIPS {
            let (from, to) = if n % 10 == 0 { (0, valid.bytes.len()) } else { structures };
            let (at, flip) = (from + draw(to - from), 1 + draw(255));
            let mut bytes = valid.bytes.clone();
            bytes[at] ^= u8::try_from(flip).unwrap();
            let name = format!("{}: byte {at} ^ {flip:#x}", valid.name);
            go_through(bytes, &name);
        }
    }
}
