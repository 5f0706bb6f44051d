//! The layout: descriptors, path tables, directories of each tree, continuation areas, boot image, file data, in this order.
//! Computes sizes first, then positions, then bytes; the trees share the data.

use super::records::{PathEntry, boot_record, path_table, record_bytes, terminator, udf_recognition};
use super::{Builder, Built, Spec, susp};
use std::collections::HashMap;

pub(super) const SECTOR: usize = 2048;

/// Longer paths are left out of the position maps: trees ten thousand levels deep have very long ones.
const LONGEST_PATH: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectoryTree {
    Primary,
    Joliet(u8),
    Enhanced,
}

pub(super) struct Item {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) parent: usize,
    pub(super) spec: Spec,
    pub(super) children: Vec<usize>,
    pub(super) is_dir: bool,
    /// (block, bytes) of each section, then the same for the associated file.
    pub(super) sections: Vec<(u32, u32)>,
    pub(super) associated: (u32, u32),
    /// System use bytes in the record, and the continuation areas with their bytes in the image.
    pub(super) inline: Vec<u8>,
    pub(super) areas: Vec<(usize, Vec<u8>)>,
}

pub(super) struct Writer {
    pub(super) builder: Builder,
    pub(super) items: Vec<Item>,
    /// Directories, parents before children.
    pub(super) dirs: Vec<usize>,
    pub(super) bytes: Vec<u8>,
    pub(super) built: Built,
}

pub(super) fn build(builder: Builder) -> Built {
    let mut trees = vec![DirectoryTree::Primary];
    trees.extend(builder.joliet.map(DirectoryTree::Joliet));
    trees.extend(builder.enhanced.then_some(DirectoryTree::Enhanced));
    let items = items(&builder.entries);
    let mut dirs = vec![0];
    let mut at = 0;
    while at < dirs.len() {
        let children = items[dirs[at]].children.iter().copied();
        dirs.extend(children.filter(|&child| items[child].is_dir).collect::<Vec<_>>());
        at += 1;
    }
    let built = Built { block: builder.block, ..Built::default() };
    Writer { bytes: builder.before.clone(), builder, items, dirs, built }.write(&trees)
}

/// The tree as a list; the root is the first.
fn items(entries: &[(String, Spec, bool)]) -> Vec<Item> {
    let new = |path: &str, name: &str, parent, spec, is_dir| Item {
        path: path.chars().take(LONGEST_PATH).collect(),
        name: name.into(),
        parent,
        spec,
        children: Vec::new(),
        is_dir,
        sections: Vec::new(),
        associated: (0, 0),
        inline: Vec::new(),
        areas: Vec::new(),
    };
    let mut items = vec![new("", "", 0, Spec::default(), true)];
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    for (path, spec, is_dir) in entries {
        let mut here = 0;
        let mut end = 0;
        for name in path.split('/') {
            end += name.len() + usize::from(end > 0);
            let last = end == path.len();
            let dir = !last || *is_dir;
            let found = known.get(&(here, name.to_string())).copied();
            let (parent, found) = (here, found.filter(|_| !last || dir));
            here = found.unwrap_or_else(|| {
                let spec = if last { spec.clone() } else { Spec::default() };
                items.push(new(&path[..end.min(LONGEST_PATH)], name, parent, spec, dir));
                let index = items.len() - 1;
                items[parent].children.push(index);
                known.insert((parent, name.to_string()), index);
                index
            });
        }
    }
    items
}

impl Writer {
    fn write(mut self, trees: &[DirectoryTree]) -> Built {
        let base = self.align(16 * SECTOR);
        let descriptors = base + 16 * SECTOR;
        let count = trees.len() + 1 + usize::from(!self.builder.boot.is_empty());
        let last = descriptors + (count - 1) * SECTOR;
        self.grow(last + SECTOR);
        let area = self.builder.system_area.clone();
        self.bytes[base..descriptors][..area.len()].copy_from_slice(&area);
        if self.builder.udf {
            self.bytes.extend(udf_recognition());
        }
        let tables: Vec<_> = trees.iter().map(|&tree| self.reserve_tables(tree)).collect();
        let dirs: Vec<_> = trees.iter().map(|&tree| self.reserve_directories(tree)).collect();
        self.place_continuations();
        let boot = self.place_boot();
        self.place_data();
        let end = self.align(SECTOR) + self.builder.tail_blocks * self.builder.block;
        self.grow(end);
        for (index, &tree) in trees.iter().enumerate() {
            self.write_directories(tree, &dirs[index]);
            self.write_tables(tree, &dirs[index], tables[index]);
            let at = if index == 0 {
                descriptors
            } else {
                descriptors + (count - trees.len() + index - 1) * SECTOR
            };
            let sector = self.descriptor(tree, &dirs[index], tables[index]);
            self.bytes[at..at + SECTOR].copy_from_slice(&sector);
        }
        if let Some(catalog) = boot {
            self.bytes[descriptors + SECTOR..descriptors + 2 * SECTOR].copy_from_slice(&boot_record(catalog));
        }
        self.bytes[last..last + SECTOR].copy_from_slice(&terminator(self.builder.high_sierra));
        self.built.descriptor = descriptors;
        self.built.bytes = self.bytes;
        self.built
    }

    pub(super) fn grow(&mut self, end: usize) {
        self.bytes.resize(end.max(self.bytes.len()), 0);
    }

    /// Pads to a multiple; returns the end.
    pub(super) fn align(&mut self, to: usize) -> usize {
        let end = self.bytes.len().next_multiple_of(to);
        self.grow(end);
        end
    }

    pub(super) fn lbn(&self, byte: usize) -> u32 {
        u32::try_from(byte / self.builder.block).expect("a small image")
    }

    pub(super) fn name(&self, tree: DirectoryTree, index: usize) -> Vec<u8> {
        let item = &self.items[index];
        match tree {
            DirectoryTree::Joliet(_) => item.name.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            DirectoryTree::Enhanced => item.name.clone().into_bytes(),
            DirectoryTree::Primary => {
                item.spec.name.clone().unwrap_or_else(|| iso_name(&item.name, item.is_dir, index))
            }
        }
    }

    fn path_entries(&self, tree: DirectoryTree, blocks: &[u32]) -> Vec<PathEntry> {
        let number: HashMap<usize, u16> = self
            .dirs
            .iter()
            .enumerate()
            .map(|(n, &dir)| (dir, u16::try_from(n + 1).unwrap_or(u16::MAX)))
            .collect();
        let entry = |(n, &dir): (usize, &usize)| PathEntry {
            name: if dir == 0 { vec![0] } else { self.name(tree, dir) },
            extent: blocks.get(n).copied().unwrap_or(0),
            parent: number[&self.items[dir].parent],
        };
        self.dirs.iter().enumerate().map(entry).collect()
    }

    /// (byte of the L table, byte of the M table, length).
    fn reserve_tables(&mut self, tree: DirectoryTree) -> (usize, usize, usize) {
        let length = path_table(&self.path_entries(tree, &[]), false).len();
        let little = self.align(SECTOR);
        self.grow(little + length);
        let big = self.align(SECTOR);
        self.grow(big + length);
        (little, big, length)
    }

    fn write_tables(
        &mut self,
        tree: DirectoryTree,
        dirs: &[(usize, usize)],
        (little, big, length): (usize, usize, usize),
    ) {
        let blocks: Vec<u32> = dirs.iter().map(|&(at, _)| self.lbn(at)).collect();
        let entries = self.path_entries(tree, &blocks);
        self.bytes[little..little + length].copy_from_slice(&path_table(&entries, false));
        self.bytes[big..big + length].copy_from_slice(&path_table(&entries, true));
    }

    /// (byte, length) of every directory.
    fn reserve_directories(&mut self, tree: DirectoryTree) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for dir in self.dirs.clone() {
            let length = self.directory_bytes(tree, dir);
            let mut start = self.align(SECTOR);
            if self.items[dir].spec.xar.is_some() && tree == DirectoryTree::Primary {
                start += self.builder.block;
            }
            self.grow(start + length);
            places.push((start, length));
        }
        places
    }

    /// Bytes of the system use area of a record, before continuations have their places.
    fn inline_bytes(&self, tree: DirectoryTree, index: usize) -> usize {
        let spec = &self.items[index].spec;
        if tree != DirectoryTree::Primary || spec.susp.is_empty() {
            return 0;
        }
        if spec.hops > 0 { 28 } else { spec.susp.iter().map(Vec::len).sum() }
    }

    pub(super) fn own_susp(&self, tree: DirectoryTree, dir: usize) -> Vec<u8> {
        let own = tree == DirectoryTree::Primary && dir == 0 && self.builder.rock_ridge;
        if own { self.builder.root_susp.concat() } else { Vec::new() }
    }

    fn directory_bytes(&self, tree: DirectoryTree, dir: usize) -> usize {
        let mut at = record_bytes(1, self.own_susp(tree, dir).len()) + record_bytes(1, 0);
        for &child in &self.items[dir].children {
            let spec = &self.items[child].spec;
            let each = record_bytes(self.name(tree, child).len(), self.inline_bytes(tree, child));
            let records = spec.sections.len().max(1) + usize::from(spec.associated.is_some());
            for _ in 0..records {
                at = place(at, each) + each;
            }
        }
        at.next_multiple_of(SECTOR)
    }

    /// Places the continuation areas one after another, and creates the records' CE entries.
    fn place_continuations(&mut self) {
        let mut at = self.align(SECTOR);
        for index in 0..self.items.len() {
            let Spec { susp, hops, .. } = self.items[index].spec.clone();
            if susp.is_empty() || hops == 0 {
                self.items[index].inline = susp.concat();
                continue;
            }
            let pieces: Vec<Vec<u8>> = (0..hops)
                .map(|n| susp[n * susp.len() / hops..(n + 1) * susp.len() / hops].concat())
                .collect();
            let mut areas = Vec::new();
            for (n, piece) in pieces.into_iter().enumerate() {
                let length = piece.len() + if n + 1 < hops { 28 } else { 0 };
                areas.push((at, length, piece));
                at += length;
            }
            let block = self.builder.block;
            self.items[index].inline = pointer(&areas[0], block);
            for n in 0..areas.len() {
                let next = areas.get(n + 1).map(|area| pointer(area, block)).unwrap_or_default();
                let whole = [areas[n].2.clone(), next].concat();
                self.items[index].areas.push((areas[n].0, whole));
            }
            let places = self.items[index].areas.iter().map(|(at, _)| *at).collect();
            self.built.continuations.insert(self.items[index].path.clone(), places);
        }
        self.grow(at);
        for index in 0..self.items.len() {
            for (at, area) in self.items[index].areas.clone() {
                self.bytes[at..at + area.len()].copy_from_slice(&area);
            }
        }
    }
}

/// Position of a record of `bytes` bytes from `at` on: records do not cross sectors.
pub(super) fn place(at: usize, bytes: usize) -> usize {
    if at % SECTOR + bytes > SECTOR { at.next_multiple_of(SECTOR) } else { at }
}

/// The CE entry that leads to an area.
fn pointer(&(at, length, _): &(usize, usize, Vec<u8>), block: usize) -> Vec<u8> {
    let number = |n: usize| u32::try_from(n).expect("a small image");
    susp::ce(number(at / block), number(at % block), number(length))
}

/// A valid ISO 9660 name: capitals, digits, underscore; with version for files. Long ones are made unique by their index.
fn iso_name(name: &str, is_dir: bool, index: usize) -> Vec<u8> {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_uppercase() } else { '_' };
    let mut iso: String = name.chars().map(allowed).collect();
    if iso.len() > 24 {
        iso.truncate(16);
        iso = format!("{iso}{index}");
    }
    if !is_dir {
        let dot = if iso.contains('.') { "" } else { "." };
        iso = format!("{iso}{dot};1");
    }
    iso.into_bytes()
}
