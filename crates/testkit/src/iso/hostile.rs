//! The catalogue of hostile inputs H1 to H24, each a well-formed image with one defect. A case has its catalogue number and a
//! name; the reader's tests define what a reader must do with it.

mod shared_area;

pub use shared_area::{Full, shared_area};

use super::{Builder, Built, Spec, both16, both32, susp};

/// One hostile image, built on demand.
pub struct Hostile {
    /// Number in the catalogue, such as "H4".
    pub id: &'static str,
    /// The defect.
    pub name: &'static str,
    make: Box<dyn Fn() -> Built>,
}

impl Hostile {
    /// Builds the image.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        (self.make)().bytes
    }
}

/// The content of "good", which every image has and which must stay readable.
pub const GOOD: &[u8] = b"still here";

/// A Rock Ridge image with "good", and "bad" in directory "d".
fn base() -> Builder {
    Builder::new()
        .rock_ridge("RRIP_1991A")
        .add("good", named("good", GOOD.to_vec()))
        .dir("d", Spec { susp: vec![susp::nm(0, b"d")], ..Spec::default() })
        .add("d/bad", named("bad", vec![b'x'; 5000]))
        .tail(16)
}

fn named(name: &str, data: Vec<u8>) -> Spec {
    let susp = vec![susp::px(0o100_644, 1, 0, 0, None), susp::nm(0, name.as_bytes())];
    Spec { data, susp, ..Spec::default() }
}

/// The base image, with continuation areas for "bad".
fn continued(hops: usize) -> Builder {
    let mut spec = named("bad", b"data".to_vec());
    spec.susp.extend((0..hops).map(|_| susp::entry(b"PD", 1, &[0; 16])));
    spec.hops = hops;
    base().add("bad", spec)
}

/// Every case.
#[must_use]
pub fn all() -> Vec<Hostile> {
    let mut cases = Vec::new();
    let mut case = |id, name, make: Box<dyn Fn() -> Built>| cases.push(Hostile { id, name, make });
    case("H1", "continuation that points at itself", Box::new(|| ring(1)));
    case("H1", "two continuations in a ring", Box::new(|| ring(2)));
    case("H1", "forty continuations", Box::new(|| continued(40).build()));
    case("H2", "continuation across a sector", Box::new(continuation_across_a_sector));
    case("H2", "continuation of 4 GiB", Box::new(long_continuation));
    case("H3", "continuation behind the data", Box::new(continuation_behind_the_data));
    case("H4", "CL to the root", Box::new(|| child_link("")));
    case("H4", "CL to its own directory", Box::new(|| child_link("d")));
    case("H5", "directory entry back to the root", Box::new(back_to_the_root));
    case("H6", "directories shared by many parents", Box::new(shared));
    for (name, bytes) in unsafe_names() {
        case("H7", name, Box::new(move || unsafe_name(bytes)));
    }
    case("H8", "record of 20 bytes", Box::new(|| patched("d/bad", 0, &[20])));
    case("H8", "name longer than its record", Box::new(|| patched("d/bad", 32, &[250])));
    case("H9", "directory of 4 GiB", Box::new(|| patched("d", 10, &both32(0xFFFF_F800))));
    case("H10", "file longer than the image", Box::new(|| patched("d/bad", 10, &both32(0x7FFF_FFFF))));
    case("H10", "file behind the image", Box::new(|| patched("d/bad", 2, &both32(0x00FF_FFFF))));
    case("H11", "halves of an extent differ", Box::new(|| patched("d/bad", 6, &[1, 2, 3, 4])));
    case("H11", "little-endian half impossible", Box::new(|| patched("d/bad", 2, &[255, 255, 255, 127])));
    case("H12", "unit without gap", Box::new(|| patched("d/bad", 26, &[2, 0])));
    case("H12", "gap without unit", Box::new(|| patched("d/bad", 26, &[0, 2])));
    case("H13", "XAR of a block that is none", Box::new(|| patched("d/bad", 1, &[1])));
    case("H14", "file without a last section", Box::new(|| patched("d/bad", 25, &[128])));
    case("H15", "five thousand descriptors", Box::new(descriptors));
    case("H16", "blocks of 0 bytes", Box::new(|| patched_descriptor(128, &both16(0))));
    case("H16", "blocks of 3000 bytes", Box::new(|| patched_descriptor(128, &both16(3000))));
    case("H18", "zisofs of 4 GiB from 64 bytes", Box::new(|| packed(15, u32::MAX)));
    case("H18", "zisofs of blocks of 2 GiB", Box::new(|| packed(31, 5000)));
    case("H19", "Joliet names", Box::new(joliet_names));
    case("H20", "root of no bytes", Box::new(|| patched_descriptor(156 + 10, &both32(0))));
    case("H20", "root elsewhere", Box::new(|| patched(".", 2, &both32(9))));
    case("H21", "dates out of range", Box::new(|| patched("d/bad", 18, &[255, 99, 99, 99, 99, 99, 127])));
    case("H22", "depth 10,000", Box::new(|| deep(10_000)));
    case("H22", "a name of 25,500 bytes", Box::new(long_name));
    case("H22", "2,000 entries of one name", Box::new(|| crowded(2000)));
    case("H22", "2,000 names of one area of 64 KiB", Box::new(|| shared_area(2000, Full::Names)));
    case("H22", "2,000 targets of one area of 64 KiB", Box::new(|| shared_area(2000, Full::Targets)));
    case("H23", "two versions of one name", Box::new(versions));
    case("H24", "setuid and devices", Box::new(devices));
    cases
}

/// The base image with bytes of one record overwritten.
fn patched(path: &str, at: usize, bytes: &[u8]) -> Built {
    let mut built = base().build();
    built.patch(built.record(path) + at, bytes);
    built
}

fn patched_descriptor(at: usize, bytes: &[u8]) -> Built {
    let mut built = base().build();
    built.patch(built.descriptor + at, bytes);
    built
}

/// The last of `hops` continuations leads to the first.
fn ring(hops: usize) -> Built {
    let mut built = continued(hops).build();
    let places = built.continuations["bad"].clone();
    // The area ends with a PD of 20 bytes; a CE of 28 replaces it and the 8 bytes before it, whatever they are.
    let number = |n: usize| u32::try_from(n).expect("a small image");
    let ce = susp::ce(number(places[0] / 2048), number(places[0] % 2048), 28);
    for (n, &at) in places.iter().enumerate() {
        let to = places[(n + 1) % hops];
        let ce = if hops == 1 { ce.clone() } else { susp::ce(number(to / 2048), number(to % 2048), 28) };
        if at + 28 <= built.bytes.len() {
            built.patch(at, &ce);
        }
    }
    built
}

fn continuation_across_a_sector() -> Built {
    let mut spec = named("bad", b"data".to_vec());
    spec.susp = vec![susp::entry(b"PD", 1, &[0; 200]); 12];
    spec.susp.push(susp::px(0o100_640, 1, 0, 0, None));
    spec.susp.push(susp::nm(0, b"across"));
    spec.hops = 1;
    base().add("bad", spec).build()
}

fn long_continuation() -> Built {
    let mut built = continued(1).build();
    let ce = built.record("bad") + 33 + "BAD.;1".len() + 1;
    built.patch_both32(ce + 20, u32::MAX);
    built
}

fn continuation_behind_the_data() -> Built {
    let mut built = continued(1).build();
    let end = built.bytes.len();
    let area = built.continuations["bad"][0];
    let copy = built.bytes[area..area + 200].to_vec();
    built.bytes.extend(copy);
    built.bytes.resize(end + 2048, 0);
    let ce = built.record("bad") + 33 + "BAD.;1".len() + 1;
    built.patch_both32(ce + 4, u32::try_from(end / 2048).expect("a small image"));
    built.patch_both32(ce + 12, 0);
    built
}

fn child_link(to: &str) -> Built {
    let lbn = base().build().directories[to];
    let moved = |lbn| {
        let susp = vec![susp::nm(0, b"moved"), susp::block(b"CL", lbn)];
        base().add("d/moved", Spec { susp, ..Spec::default() }).build()
    };
    // An additional record may move the directories; the second build uses their final positions.
    let lbn = moved(lbn).directories[to];
    moved(lbn)
}

fn back_to_the_root() -> Built {
    let mut built =
        base().dir("d/loop", Spec { susp: vec![susp::nm(0, b"loop")], ..Spec::default() }).build();
    let at = built.record("d/loop");
    let root = built.directories[""];
    built.patch_both32(at + 2, root);
    built
}

/// Eleven levels of fourteen entries each, all leading to the same directory of the next level: 14^11 paths.
fn shared() -> Built {
    let mut builder = base();
    let mut path = String::new();
    for level in 0..11 {
        for n in 0..14 {
            let name = format!("s{n}");
            let at = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            builder = builder.dir(&at, Spec { susp: vec![susp::nm(0, name.as_bytes())], ..Spec::default() });
        }
        path = if level == 0 { "s0".into() } else { format!("{path}/s0") };
    }
    let mut built = builder.build();
    let all: Vec<(String, usize)> = built.records.iter().map(|(path, &at)| (path.clone(), at)).collect();
    for (path, at) in all {
        let Some(parent) = path.rfind('/').map(|cut| &path[..=cut]).or(Some("")) else { continue };
        if path.ends_with('.') || !path[parent.len()..].starts_with('s') {
            continue;
        }
        if let Some(&first) = built.directories.get(&format!("{parent}s0")) {
            built.patch_both32(at + 2, first);
        }
    }
    built
}

fn unsafe_names() -> [(&'static str, &'static [u8]); 7] {
    [
        ("name ..", b".."),
        ("name .", b"."),
        ("no name", b""),
        ("name with a slash", b"a/b"),
        ("name out of the tree", b"../../x"),
        ("absolute name", b"/abs"),
        ("name with NUL", b"a\0b"),
    ]
}

fn unsafe_name(name: &[u8]) -> Built {
    let mut spec = named("", b"data".to_vec());
    spec.susp[1] = susp::nm(0, name);
    spec.name = Some(b"BAD.;1".to_vec());
    base().add("bad", spec).build()
}

/// A hundred and twenty descriptors exceed any limit, five thousand also a reader's patience.
fn descriptors() -> Built {
    let built = base().build();
    let shift: usize = 5000;
    let mut bytes = built.bytes[..built.descriptor + 2048].to_vec();
    let mut filler = vec![0; 2048];
    filler[..7].copy_from_slice(b"\x07CD001\x01");
    bytes.resize(built.bytes.len().max(built.descriptor + 2048), 0);
    bytes.copy_from_slice(&built.bytes);
    // The blocks covered by the descriptors are moved after them: all block numbers grow by the same amount.
    let mut out = bytes[..built.descriptor + 2048].to_vec();
    for _ in 0..shift {
        out.extend(&filler);
    }
    out.extend(&bytes[built.descriptor + 2048..]);
    let mut moved = Built { bytes: out, ..built };
    let by = u32::try_from(shift).expect("a small number");
    let records: Vec<usize> = moved.records.values().copied().collect();
    for at in records {
        move_extent(&mut moved, at + shift * 2048 + 2, by);
    }
    let root = moved.descriptor + 156 + 2;
    move_extent(&mut moved, root, by);
    moved
}

fn move_extent(built: &mut Built, at: usize, by: u32) {
    let old =
        u32::from_le_bytes([built.bytes[at], built.bytes[at + 1], built.bytes[at + 2], built.bytes[at + 3]]);
    built.patch_both32(at, old + by);
}

fn packed(log2: u8, size: u32) -> Built {
    let mut data = vec![0x37, 0xE4, 0x53, 0x96, 0xC9, 0xDB, 0xD6, 0x07];
    data.extend(size.to_le_bytes());
    data.extend([4, log2, 0, 0]);
    data.resize(64, 0xFF);
    let mut spec = named("packed", data);
    spec.susp.push(susp::zf1(log2, size));
    base().add("packed", spec).build()
}

fn joliet_names() -> Built {
    let mut built = Builder::new()
        .joliet(3)
        .file("good", GOOD)
        .file("slash", b"1")
        .file("alone", b"2")
        .file("odd", b"3")
        .build();
    built.patch(built.record("joliet:slash") + 33, b"\0a\0/\0b");
    built.patch(built.record("joliet:alone") + 33, b"\xd8\0\0b");
    built.patch(built.record("joliet:odd") + 32, &[5]);
    built
}

fn deep(levels: usize) -> Built {
    let path = vec!["a"; levels].join("/");
    Builder::new().file("good", GOOD).file(&format!("{path}/leaf"), b"bottom").build()
}

fn long_name() -> Built {
    let mut spec = named("", b"data".to_vec());
    spec.susp = (0..102).map(|_| susp::nm(1, &[b'n'; 250])).collect();
    spec.hops = 10;
    base().add("bad", spec).build()
}

/// A directory of `entries` files with the same name and the data of "good".
#[must_use]
pub fn crowded(entries: usize) -> Built {
    let spec =
        Spec { name: Some(b"SAME.;1".to_vec()), same_as: Some("good".into()), ..named("same", Vec::new()) };
    let empty = base().dir("crowd", Spec { susp: vec![susp::nm(0, b"crowd")], ..Spec::default() });
    (0..entries).fold(empty, |builder, n| builder.add(&format!("crowd/{n}"), spec.clone())).build()
}

fn versions() -> Built {
    let name = |name: &str| Some(name.as_bytes().to_vec());
    let file = |n: &str, data: &[u8]| Spec { data: data.to_vec(), name: name(n), ..Spec::default() };
    Builder::new()
        .file("good", GOOD)
        .add("one", file("DUP.TXT;1", b"first"))
        .add("two", file("DUP.TXT;2", b"second"))
        .build()
}

fn devices() -> Built {
    let device = |mode, name: &str| {
        let susp = vec![susp::px(mode, 1, 0, 0, None), susp::pn(8, 1), susp::nm(0, name.as_bytes())];
        Spec { susp, ..Spec::default() }
    };
    base()
        .add("sda1", device(0o060_666, "sda1"))
        .add("null", device(0o020_666, "null"))
        .add("root", device(0o104_755, "root"))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_the_catalogue_has_an_image() {
        let cases = all();
        let there: Vec<&str> = cases.iter().map(|case| case.id).collect();
        // H17 is High Sierra, which is a format, not a defect.
        for n in (1..=24).filter(|&n| n != 17) {
            assert!(there.contains(&format!("H{n}").as_str()), "H{n}");
        }
        assert!(cases.len() >= 35 && cases.iter().all(|case| case.bytes().len() % 2048 == 0));
    }
}
