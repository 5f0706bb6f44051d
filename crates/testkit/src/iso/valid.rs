//! Valid images, one for each thing that the format offers and that readers get wrong, with the tree that went into each: what has to come
//! out of every reader, through whichever door.

use super::{Builder, Spec, raw, susp};

/// What a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A regular file with these bytes.
    File(Vec<u8>),
    /// A link to there.
    Link(String),
    /// A directory.
    Directory,
    /// A character device of this major and minor number.
    Device(u32, u32),
    /// A named pipe.
    Pipe,
}

/// An image and what went into it.
#[derive(Clone, Debug)]
pub struct Valid {
    /// What is special about it.
    pub name: &'static str,
    /// The image.
    pub bytes: Vec<u8>,
    /// Everything in it, by its path without a leading "/".
    pub tree: Vec<(String, Content)>,
}

/// Bytes that differ from block to block.
#[must_use]
pub fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

/// A tree being described: the image's builder and what it will show.
struct Tree {
    builder: Builder,
    shows: Vec<(String, Content)>,
}

impl Tree {
    /// With zeros at the end, as writers leave them: some readers take a shorter image for none.
    fn new(builder: Builder) -> Self {
        Self { builder: builder.tail(150), shows: Vec::new() }
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

    /// What is recorded under one path and shown under another.
    fn any(mut self, recorded: &str, shown: &str, spec: Spec, content: Content) -> Self {
        self.builder = self.builder.add(recorded, spec);
        self.shows.push((shown.into(), content));
        self
    }

    fn built(self, name: &'static str) -> Valid {
        let Self { builder, shows } = self;
        Valid { name, bytes: builder.build().bytes, tree: shows }
    }
}

/// A file of Rock Ridge.
fn rock(name: &str, mode: u32) -> Spec {
    Spec { susp: vec![susp::px(mode, 1, 7, 8, None), susp::nm(0, name.as_bytes())], ..Spec::default() }
}

const FILE: u32 = 0o100_644;

/// All of them.
#[must_use]
pub fn all() -> Vec<Valid> {
    let mut all = vec![
        Tree::usual(Builder::new()).built("plain"),
        Tree::usual(Builder::new().block(1024)).built("logical blocks of 1024"),
        Tree::usual(Builder::new().block(512)).built("logical blocks of 512"),
        Tree::usual(Builder::new().high_sierra()).built("High Sierra"),
        Tree::usual(Builder::new().joliet(1)).built("Joliet 1"),
        Tree::usual(Builder::new().joliet(3)).built("Joliet 3"),
        Tree::usual(Builder::new().enhanced()).built("ISO 9660:1999"),
        Tree::usual(Builder::new().boot(&[7; 2048])).built("El Torito"),
    ];
    all.extend(of_sections());
    all.extend(of_rock_ridge());
    all.extend(of_zisofs());
    all.extend(of_wrappings());
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
        Tree::new(Builder::new()).file("after", b"behind it\n").spec("big", spec, &data)
    };
    vec![
        Tree::new(Builder::new()).spec("inter", interleaved, &noise(50_000)).built("interleaved file"),
        Tree::new(Builder::new())
            .spec("behind", behind, b"behind the record\n")
            .built("extended attribute record"),
        Tree::new(Builder::new()).spec("main", associated, b"main\n").built("associated file"),
        sections(2, false).built("2 sections"),
        sections(101, true).built("101 sections, last first"),
        sections(300, true).built("300 sections, last first"),
    ]
}

fn of_rock_ridge() -> Vec<Valid> {
    let data = noise(3000);
    let version = |id: &str, serial: Option<u32>| {
        let mut spec = rock("Mixed Case", FILE);
        spec.susp[0] = susp::px(FILE, 1, 7, 8, serial);
        let file = Content::File(data.clone());
        let spec = Spec { data: data.clone(), ..spec };
        Tree::new(Builder::new().rock_ridge(id)).any("mixed", "Mixed Case", spec, file)
    };
    let hops = |hops: usize| {
        let name: String = (0..hops * 2).map(|n| format!("{n:02}")).collect();
        let mut spec = Spec { hops, data: data.clone(), ..Spec::default() };
        let last = hops * 2 - 1;
        spec.susp = (0..=last).map(|n| susp::nm(u8::from(n < last), format!("{n:02}").as_bytes())).collect();
        spec.susp.push(susp::px(FILE, 1, 0, 0, None));
        let file = Content::File(data.clone());
        Tree::new(Builder::new().rock_ridge("IEEE_P1282")).any("x", &name, spec, file)
    };
    let target = format!("{}end", "component/".repeat(30));
    let mut link = rock("long link", 0o120_777);
    link.susp.extend((0..30).map(|_| susp::sl(1, &[(0, b"component")])));
    link.susp.push(susp::sl(0, &[(0, b"end")]));
    link.hops = 4;
    let links =
        Tree::new(Builder::new().rock_ridge("RRIP_1991A")).any("l", "long link", link, Content::Link(target));
    let mut null = rock("null", 0o020_666);
    null.susp.push(susp::pn(1, 3));
    let mut joined = rock("joined", 0o020_666);
    joined.susp.push(susp::pn(0, 0x0010_0003));
    let mut pipe = rock("pipe", 0o010_600);
    pipe.susp.push(susp::pn(0, 0));
    let devices = Tree::new(Builder::new().rock_ridge("IEEE_1282"))
        .any("null", "null", null, Content::Device(1, 3))
        .any("joined", "joined", joined, Content::Device(1, 3))
        .any("pipe", "pipe", pipe, Content::Pipe);
    vec![
        version("RRIP_1991A", None).built("Rock Ridge 1.09"),
        version("IEEE_P1282", None).built("Rock Ridge 1.10"),
        version("IEEE_1282", Some(5)).built("Rock Ridge 1.12"),
        hops(1).built("continued over 1 area"),
        hops(5).built("continued over 5 areas"),
        hops(31).built("continued over 31 areas"),
        links.built("link continued over records"),
        devices.built("devices and a pipe"),
    ]
}

/// One block stored by zlib, one of zeros.
fn of_zisofs() -> Vec<Valid> {
    let block: Vec<u8> = noise(32_768);
    let mut stored = vec![0x78, 0x01, 0x01, 0x00, 0x80, 0xFF, 0x7F];
    stored.extend(&block);
    stored.extend(adler(&block).to_be_bytes());
    let mut content = block;
    content.resize(40_000, 0);
    let file = |head: &[u8], wide: bool| {
        let mut data = head.to_vec();
        let first = head.len() + if wide { 24 } else { 12 };
        for pointer in [first, first + stored.len(), first + stored.len()] {
            let bytes = (pointer as u64).to_le_bytes();
            data.extend(&bytes[..if wide { 8 } else { 4 }]);
        }
        data.extend(&stored);
        data
    };
    let one = [&b"\x37\xE4\x53\x96\xC9\xDB\xD6\x07"[..], &40_000u32.to_le_bytes(), &[4, 15, 0, 0]].concat();
    let two =
        [&b"\xEF\x22\x55\xA1\xBC\x1B\x95\xA0\0\x06\x01\x0F"[..], &40_000u64.to_le_bytes(), &[0; 4]].concat();
    let image = |data: Vec<u8>, entry| {
        let mut spec = Spec { data, ..rock("packed", FILE) };
        spec.susp.push(entry);
        let content = Content::File(content.clone());
        Tree::new(Builder::new().rock_ridge("IEEE_1282")).any("packed", "packed", spec, content)
    };
    vec![
        image(file(&one, false), susp::zf1(15, 40_000)).built("zisofs 1"),
        image(file(&two, true), susp::zf2(b"PZ", 15, 40_000)).built("zisofs 2"),
    ]
}

fn adler(data: &[u8]) -> u32 {
    let (a, b) = data.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

fn of_wrappings() -> Vec<Valid> {
    let wrapped = |name, bytes, mode| {
        let plain = Tree::usual(Builder::new()).built(name);
        Valid { bytes: raw::wrap(&plain.bytes, bytes, mode), ..plain }
    };
    vec![wrapped("raw sectors of 2352, mode 1", 2352, 1), wrapped("raw sectors of 2352, mode 2", 2352, 2)]
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
        assert!(all.len() >= 20 && names.len() == all.len());
        assert!(all.iter().all(|valid| !valid.tree.is_empty() && valid.bytes.len() > 40_000));
    }
}
