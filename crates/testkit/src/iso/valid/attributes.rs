//! Modes, owners, links and times as Rock Ridge records them, times in each of their forms: the output of `stat`.

use super::{Attributes, Content, ImageTree, Valid, noise};
use crate::iso::{Builder, Spec, susp};

/// 1999-01-02 03:04:05 UTC, and the same a year later.
const CHANGED: i64 = 915_246_245;
const READ: i64 = 946_782_245;

/// Both times in seven bytes each; the second with a time zone one hour further east.
const SHORT: &[u8] = b"\x63\x01\x02\x03\x04\x05\0\x64\x01\x02\x03\x04\x05\0";
const EAST: &[u8] = b"\x63\x01\x02\x04\x04\x05\x04\x64\x01\x02\x04\x04\x05\x04";
/// In seventeen bytes each, the second in the same time zone.
const LONG: &[u8] = b"1999010203040500\x002000010203040500\x00";
const LONG_EAST: &[u8] = b"1999010204040500\x042000010204040500\x04";

/// Modification and access are recorded, in the short or in the long form.
const BOTH: u8 = 0x06;
const LONG_FORM: u8 = 0x80;

/// One file: its kind, its metadata, and the form of its times.
struct File<'a> {
    path: &'a str,
    kind: u32,
    about: Attributes,
    times: (u8, &'a [u8]),
    serial: u32,
}

impl<'a> File<'a> {
    fn new(path: &'a str, kind: u32, permissions: u32, owner: (u32, u32), serial: u32) -> Self {
        let about = Attributes {
            permissions,
            links: 1,
            owner,
            modified: CHANGED,
            accessed: READ,
            same_as: path.into(),
        };
        Self { path, kind, about, times: (BOTH, SHORT), serial }
    }

    fn times(self, flags: u8, stamps: &'a [u8]) -> Self {
        Self { times: (flags, stamps), ..self }
    }

    /// One of two names of a file.
    fn linked(mut self, first: &str) -> Self {
        (self.about.links, self.about.same_as) = (2, first.into());
        self
    }

    fn spec(&self, data: &[u8], with_serial: bool) -> Spec {
        let Attributes { permissions, links, owner: (uid, gid), same_as, .. } = &self.about;
        let serial = with_serial.then_some(self.serial);
        let name = self.path.rsplit('/').next().unwrap_or_default();
        Spec {
            data: data.to_vec(),
            susp: vec![
                susp::px(self.kind | permissions, *links, *uid, *gid, serial),
                susp::tf(self.times.0, self.times.1),
                susp::nm(0, name.as_bytes()),
            ],
            same_as: Some(same_as.clone()).filter(|first| first != self.path),
            ..Spec::default()
        }
    }
}

/// A tree with every kind of entry; serial numbers are new in 1.12.
fn tree(id: &str, with_serial: bool) -> ImageTree {
    const DIRECTORY: u32 = 0o040_000;
    const REGULAR: u32 = 0o100_000;
    const LINK: u32 = 0o120_000;
    let data = noise(5000);
    let file = |n: usize| Content::File(data[n..].to_vec());
    let all = [
        (File::new("d", DIRECTORY, 0o2_750, (3, 4), 801), Content::Directory),
        (File::new("d/short", REGULAR, 0o4_751, (10, 20), 802), file(1)),
        (File::new("d/none", REGULAR, 0, (65_534, 65_534), 803), file(2)),
        (File::new("east", REGULAR, 0o640, (1000, 100), 804).times(BOTH, EAST), file(3)),
        (File::new("long", REGULAR, 0o600, (0, 0), 805).times(BOTH | LONG_FORM, LONG), file(4)),
        (
            File::new("long east", REGULAR, 0o444, (u32::MAX - 1, 1), 806).times(BOTH | LONG_FORM, LONG_EAST),
            file(5),
        ),
        (File::new("one", REGULAR, 0o644, (5, 6), 807).linked("one"), file(6)),
        (File::new("two", REGULAR, 0o644, (5, 6), 807).linked("one"), file(6)),
        (File::new("link", LINK, 0o777, (7, 8), 808), Content::Link("d/short".into())),
    ];
    let mut tree = ImageTree::new(Builder::new().rock_ridge(id));
    for (file, content) in all {
        let mut spec = match &content {
            Content::File(data) => file.spec(data, with_serial),
            _ => file.spec(b"", with_serial),
        };
        if let Content::Link(_) = content {
            spec.susp.push(susp::sl(0, &[(0, b"d"), (0, b"short")]));
        }
        tree = tree.any(file.path, file.path, spec, content);
        tree.attributes.push((file.path.into(), file.about));
    }
    tree
}

/// Two files that happen to have the same content, which the writer stored once: each has a link count of 1.
fn stored_once() -> ImageTree {
    let data = noise(5000);
    let once = File::new("once", 0o100_000, 0o644, (1, 2), 0);
    let again = File::new("again", 0o100_000, 0o755, (3, 4), 0).times(BOTH, EAST);
    let mut tree = ImageTree::new(Builder::new().rock_ridge("RRIP_1991A"));
    for (file, of) in [(once, None), (again, Some("once".to_string()))] {
        let spec = Spec { same_as: of, ..file.spec(&data, false) };
        tree = tree.any(file.path, file.path, spec, Content::File(data.clone()));
        tree.attributes.push((file.path.into(), file.about));
    }
    tree
}

pub(super) fn all() -> Vec<Valid> {
    vec![
        stored_once().built("one content of two files"),
        tree("RRIP_1991A", false).built("attributes, 1.09"),
        tree("IEEE_P1282", false).built("attributes, 1.10"),
        tree("IEEE_1282", true).built("attributes, 1.12"),
    ]
}
