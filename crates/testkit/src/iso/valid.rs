//! Valid images, one for each feature of the format that readers get wrong, with the expected tree, which every reader must
//! return, through every interface.

mod attributes;
mod medium;
mod packed;
mod rock_ridge;

use super::{Builder, Spec};

/// Kind and content of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A regular file with these bytes.
    File(Vec<u8>),
    /// A symbolic link to this target.
    Link(String),
    /// A directory.
    Directory,
    /// A character device of this major and minor number.
    Device(u32, u32),
    /// A named pipe.
    Pipe,
}

/// Recorded metadata of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Permission bits, including the set-id bits.
    pub permissions: u32,
    /// Number of hard links.
    pub links: u32,
    /// User and group id.
    pub owner: (u32, u32),
    /// Time of the last modification, in seconds since 1970.
    pub modified: i64,
    /// Time of the last access, likewise.
    pub accessed: i64,
    /// The first of its names; its own if it has no other.
    pub same_as: String,
}

/// An image and its expected contents.
#[derive(Clone, Debug)]
pub struct Valid {
    /// The special property.
    pub name: &'static str,
    /// Contents of the image.
    pub bytes: Vec<u8>,
    /// All entries, by path without a leading "/".
    pub tree: Vec<(String, Content)>,
    /// Metadata of some entries, by the same paths.
    pub attributes: Vec<(String, Attributes)>,
    /// Whether the tree is that of the last session, which must be requested.
    pub newest: bool,
}

/// Bytes that differ from block to block.
#[must_use]
pub fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

/// An image under construction: its builder and its expected contents.
struct ImageTree {
    builder: Builder,
    shows: Vec<(String, Content)>,
    attributes: Vec<(String, Attributes)>,
}

impl ImageTree {
    /// With zeros at the end, as writers leave them: some readers reject shorter images.
    fn new(builder: Builder) -> Self {
        Self { builder: builder.tail(150), shows: Vec::new(), attributes: Vec::new() }
    }

    /// Three plain files, one in a directory of a directory.
    fn usual(builder: Builder) -> Self {
        let tree = Self::new(builder).dir("dir").dir("dir/sub");
        tree.file("a.txt", b"first\n").file("dir/b.bin", &noise(77_777)).file("dir/sub/c", b"")
    }

    fn dir(mut self, path: &str) -> Self {
        self.shows.push((path.into(), Content::Directory));
        self
    }

    fn file(self, path: &str, data: &[u8]) -> Self {
        self.spec(path, Spec::default(), data)
    }

    fn spec(self, path: &str, spec: Spec, data: &[u8]) -> Self {
        let spec = Spec { data: data.to_vec(), ..spec };
        self.any(path, path, spec, Content::File(data.to_vec()))
    }

    /// An entry recorded under one path and shown under another.
    fn any(mut self, recorded: &str, shown: &str, spec: Spec, content: Content) -> Self {
        self.builder = match content {
            Content::Directory => self.builder.dir(recorded, spec),
            _ => self.builder.add(recorded, spec),
        };
        self.shows.push((shown.into(), content));
        self
    }

    fn built(self, name: &'static str) -> Valid {
        let Self { builder, shows, attributes } = self;
        Valid { name, bytes: builder.build().bytes, tree: shows, attributes, newest: false }
    }
}

/// All of them.
#[must_use]
pub fn all() -> Vec<Valid> {
    let mut all = vec![
        ImageTree::usual(Builder::new()).built("plain"),
        ImageTree::usual(Builder::new().block(1024)).built("logical blocks of 1024"),
        ImageTree::usual(Builder::new().block(512)).built("logical blocks of 512"),
        ImageTree::usual(Builder::new().high_sierra()).built("High Sierra"),
        ImageTree::usual(Builder::new().joliet(1)).built("Joliet 1"),
        ImageTree::usual(Builder::new().joliet(2)).built("Joliet 2"),
        ImageTree::usual(Builder::new().joliet(3)).built("Joliet 3"),
        ImageTree::usual(Builder::new().enhanced()).built("ISO 9660:1999"),
    ];
    all.extend(of_sections());
    all.extend(rock_ridge::all());
    all.extend(attributes::all());
    all.extend(packed::all());
    all.extend(medium::all());
    all
}

fn of_sections() -> Vec<Valid> {
    let interleaved = Spec { interleave: (2, 1), ..Spec::default() };
    let mut xar = vec![0; 250];
    xar[180] = 1;
    let behind = Spec { xar: Some(xar), ..Spec::default() };
    let associated = Spec { associated: Some(b"resource".to_vec()), ..Spec::default() };
    let sections = |count: usize, scattered| {
        let mut sections = vec![2048; count];
        sections[count - 1] = 2000;
        let data = noise(count * 2048 - 48);
        let spec = Spec { sections, scattered, ..Spec::default() };
        ImageTree::new(Builder::new()).file("after", b"behind it\n").spec("big", spec, &data)
    };
    vec![
        ImageTree::new(Builder::new()).spec("inter", interleaved, &noise(50_000)).built("interleaved file"),
        ImageTree::new(Builder::new())
            .spec("behind", behind, b"behind the record\n")
            .built("extended attribute record"),
        ImageTree::new(Builder::new()).spec("main", associated, b"main\n").built("associated file"),
        sections(2, false).built("2 sections"),
        sections(101, true).built("101 sections, last first"),
        sections(300, true).built("300 sections, last first"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_and_each_has_a_name() {
        let all = all();
        let mut names: Vec<&str> = all.iter().map(|valid| valid.name).collect();
        names.sort_unstable();
        names.dedup();
        assert!(all.len() >= 40 && names.len() == all.len());
        assert!(all.iter().all(|valid| !valid.tree.is_empty() && valid.bytes.len() > 40_000));
        let recorded = |valid: &Valid, path: &str| valid.tree.iter().any(|(known, _)| known == path);
        for valid in all {
            assert!(
                valid
                    .attributes
                    .iter()
                    .all(|(path, about)| { recorded(&valid, path) && recorded(&valid, &about.same_as) })
            );
        }
    }
}
