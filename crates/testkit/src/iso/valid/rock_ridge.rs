//! Names, targets, device numbers and relocations of Rock Ridge: each version's identifier, entries continued over many areas,
//! the numbers of both writers, a relocated directory.

use super::{Content, ImageTree, Valid, noise};
use crate::iso::{Builder, Spec, susp};

/// A file of Rock Ridge.
pub(super) fn rock(name: &str, mode: u32) -> Spec {
    Spec { susp: vec![susp::px(mode, 1, 7, 8, None), susp::nm(0, name.as_bytes())], ..Spec::default() }
}

pub(super) const FILE: u32 = 0o100_644;

pub(super) fn all() -> Vec<Valid> {
    vec![
        version("RRIP_1991A", None).built("Rock Ridge 1.09"),
        version("IEEE_P1282", None).built("Rock Ridge 1.10"),
        version("IEEE_1282", Some(5)).built("Rock Ridge 1.12"),
        hops(1).built("continued over 1 area"),
        hops(5).built("continued over 5 areas"),
        hops(31).built("continued over 31 areas"),
        links().built("link continued over records"),
        devices().built("devices and a pipe"),
        moved(),
    ]
}

fn version(id: &str, serial: Option<u32>) -> ImageTree {
    let data = noise(3000);
    let mut spec = rock("Mixed Case", FILE);
    spec.susp[0] = susp::px(FILE, 1, 7, 8, serial);
    let file = Content::File(data.clone());
    ImageTree::new(Builder::new().rock_ridge(id)).any("mixed", "Mixed Case", Spec { data, ..spec }, file)
}

fn hops(hops: usize) -> ImageTree {
    let data = noise(3000);
    let name: String = (0..hops * 2).map(|n| format!("{n:02}")).collect();
    let mut spec = Spec { hops, data: data.clone(), ..Spec::default() };
    let last = hops * 2 - 1;
    spec.susp = (0..=last).map(|n| susp::nm(u8::from(n < last), format!("{n:02}").as_bytes())).collect();
    spec.susp.push(susp::px(FILE, 1, 0, 0, None));
    ImageTree::new(Builder::new().rock_ridge("IEEE_P1282")).any("x", &name, spec, Content::File(data))
}

fn links() -> ImageTree {
    let target = format!("{}end", "component/".repeat(30));
    let mut link = rock("long link", 0o120_777);
    link.susp.extend((0..30).map(|_| susp::sl(1, &[(0, b"component")])));
    link.susp.push(susp::sl(0, &[(0, b"end")]));
    link.hops = 4;
    ImageTree::new(Builder::new().rock_ridge("RRIP_1991A")).any("l", "long link", link, Content::Link(target))
}

/// The device number 1,3 as written by xorriso, by genisoimage, and by systems with 16-bit numbers.
fn devices() -> ImageTree {
    let device = |name: &str, mode, (high, low)| {
        let mut spec = rock(name, mode);
        spec.susp.push(susp::pn(high, low));
        spec
    };
    ImageTree::new(Builder::new().rock_ridge("IEEE_1282"))
        .any("null", "null", device("null", 0o020_666, (1, 3)), Content::Device(1, 3))
        .any("joined", "joined", device("joined", 0o020_666, (0, 0x0010_0003)), Content::Device(1, 3))
        .any("short", "short", device("short", 0o020_666, (0, 0x0103)), Content::Device(1, 3))
        .any("pipe", "pipe", device("pipe", 0o010_600, (0, 0)), Content::Pipe)
}

/// A directory nested too deeply is recorded elsewhere, and represented by a file.
fn moved() -> Valid {
    let named = |name: &str| Spec { susp: vec![susp::nm(0, name.as_bytes())], ..Spec::default() };
    let build = |lbn| {
        let (mut stand_in, mut moved) = (named("deep"), named("deep"));
        stand_in.susp.push(susp::block(b"CL", lbn));
        moved.susp.push(susp::entry(b"RE", 1, b""));
        Builder::new()
            .rock_ridge("RRIP_1991A")
            .dir("rr_moved", named("rr_moved"))
            .dir("rr_moved/deep", moved)
            .add("rr_moved/deep/leaf", Spec { data: b"found\n".to_vec(), ..named("leaf") })
            .dir("d", named("d"))
            .add("d/deep", stand_in)
            .tail(150)
            .build()
    };
    let tree = vec![
        ("d".into(), Content::Directory),
        ("d/deep".into(), Content::Directory),
        ("d/deep/leaf".into(), Content::File(b"found\n".to_vec())),
    ];
    // The number changes nothing else: all positions stay the same.
    let bytes = build(build(0).directories["rr_moved/deep"]).bytes;
    Valid { name: "moved directory", bytes, tree, attributes: Vec::new(), newest: false }
}
