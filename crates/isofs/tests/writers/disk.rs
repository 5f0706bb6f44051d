//! A tree on disk and the same tree read from an image, with all properties that both have.

use crate::support;
use fathom_isofs::{FileSource, Image, Kind, Node, Options, Step, Walk};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::process::Command;

/// The compared properties of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    pub kind: u32,
    pub permissions: u32,
    pub owner: (u32, u32),
    pub mtime: i64,
    pub size: u64,
    /// A checksum of a file's content, a link's target, or a device's numbers.
    pub content: String,
    /// The first path with the same inode, for hard links.
    pub same_as: String,
}

/// The source tree on disk.
pub fn on_disk(root: &Path) -> BTreeMap<String, Seen> {
    let mut open = vec![root.to_path_buf()];
    let mut paths = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                open.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths.sort();
    let mut first: HashMap<u64, String> = HashMap::new();
    let seen = paths.into_iter().map(|path| {
        let meta = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
        let (size, content) = if meta.is_symlink() {
            let target = fs::read_link(&path).unwrap().to_str().unwrap().to_string();
            (target.len() as u64, target)
        } else if meta.is_dir() {
            (0, String::new())
        } else if !meta.is_file() {
            assert!(meta.file_type().is_fifo() || meta.rdev() != 0, "{name}");
            (0, numbers(rustix::fs::major(meta.rdev()), rustix::fs::minor(meta.rdev())))
        } else {
            (meta.len(), format!("{:08x}", support::sum(&fs::read(&path).unwrap())))
        };
        // Images do not record hard links of empty files and links.
        let same_as = if meta.is_file() && size > 0 {
            first.entry(meta.ino()).or_insert_with(|| name.clone()).clone()
        } else {
            name.clone()
        };
        let seen = Seen {
            kind: meta.mode() & 0o170_000,
            permissions: meta.mode() & 0o7777,
            owner: (meta.uid(), meta.gid()),
            mtime: meta.mtime(),
            size,
            content,
            same_as,
        };
        (name, seen)
    });
    seen.collect()
}

fn content(image: &Image<FileSource>, node: &Node) -> (u64, String) {
    match node.kind() {
        Kind::Link => (node.size(), String::from_utf8(image.read_link(node).unwrap()).unwrap()),
        Kind::File => {
            let bytes = image.read_all(node, 64 << 20).unwrap();
            (node.size(), format!("{:08x}", support::sum(&bytes)))
        }
        Kind::Directory => (0, String::new()),
        _ => (0, numbers(node.device().0, node.device().1)),
    }
}

fn numbers(major: u32, minor: u32) -> String {
    format!("device {major},{minor}")
}

/// The tree read from the image.
pub fn in_image(image: &Image<FileSource>) -> BTreeMap<String, Seen> {
    let mut seen = BTreeMap::new();
    let mut inodes = BTreeMap::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let Step::File { path, node, .. } = step else { panic!("{step:?}") };
        let name = String::from_utf8(path.to_vec()).unwrap();
        let (size, content) = content(image, node);
        let file = Seen {
            kind: node.kind().mode(),
            permissions: node.mode() & 0o7777,
            owner: (node.uid(), node.gid()),
            mtime: node.times().modified.moment().map_or(0, |m| m.seconds),
            size,
            content,
            same_as: name.clone(),
        };
        if node.kind() == Kind::File && size > 0 {
            inodes.insert(name.clone(), node.inode());
        }
        seen.insert(name, file);
    }
    let mut first: HashMap<u64, String> = HashMap::new();
    for (name, inode) in inodes {
        let first = first.entry(inode).or_insert_with(|| name.clone()).clone();
        seen.get_mut(&name).unwrap().same_as = first;
    }
    seen
}

pub fn open(path: &Path, options: &Options) -> Image<FileSource> {
    let source = FileSource::new(File::open(path).unwrap()).unwrap();
    Image::open(source, options).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn run(program: &str, arguments: &[&str]) {
    let out = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{program} {arguments:?}: {text}");
}

pub fn assert_same(wanted: &BTreeMap<String, Seen>, read: &BTreeMap<String, Seen>) {
    let names = |tree: &BTreeMap<String, Seen>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(read), names(wanted));
    for (name, seen) in wanted {
        assert_eq!(&read[name], seen, "{name}");
    }
}
