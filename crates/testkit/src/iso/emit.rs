//! The last step of an image: writes directories and descriptors as bytes, once all positions are known.

use super::layout::{DirectoryTree, Writer, place};
use super::records::{Record, Volume};
use std::collections::HashMap;

impl Writer {
    pub(super) fn write_directories(&mut self, tree: DirectoryTree, dirs: &[(usize, usize)]) {
        let place_of: HashMap<usize, (usize, usize)> =
            self.dirs.iter().copied().zip(dirs.iter().copied()).collect();
        for &dir in &self.dirs.clone() {
            let (start, _) = place_of[&dir];
            let path = self.items[dir].path.clone();
            if tree == DirectoryTree::Primary {
                self.built.directories.insert(path.clone(), self.lbn(start));
                if let Some(xar) = self.items[dir].spec.xar.clone() {
                    let at = start - self.builder.block;
                    self.bytes[at..at + xar.len()].copy_from_slice(&xar);
                }
            }
            let mut at = start;
            let own = self.own_susp(tree, dir);
            for (name, target) in [(0u8, dir), (1, self.items[dir].parent)] {
                let (to, bytes) = place_of[&target];
                let system_use = if name == 0 { own.as_slice() } else { &[] };
                let record =
                    self.directory_record(&[name], to, bytes, system_use, [107, 2, 28, 12, 34, 56, 0]);
                if name == 0 {
                    let own = if path.is_empty() { ".".into() } else { format!("{path}/.") };
                    self.note(tree, own, at);
                }
                at = self.emit(start, at, &record);
            }
            for child in self.items[dir].children.clone() {
                for record in self.records_of(tree, child, &place_of) {
                    let place = start + place(at - start, record.len());
                    self.note(tree, self.items[child].path.clone(), place);
                    at = self.emit(start, at, &record);
                }
            }
        }
    }

    /// Notes the first record of a path; Joliet paths are prefixed with "joliet:".
    fn note(&mut self, tree: DirectoryTree, path: String, at: usize) {
        let key = match tree {
            DirectoryTree::Primary => path,
            DirectoryTree::Joliet(_) => format!("joliet:{path}"),
            DirectoryTree::Enhanced => return,
        };
        self.built.records.entry(key).or_insert(at);
    }

    fn emit(&mut self, start: usize, at: usize, record: &[u8]) -> usize {
        let at = start + place(at - start, record.len());
        self.bytes[at..at + record.len()].copy_from_slice(record);
        at + record.len()
    }

    fn directory_record(
        &self,
        name: &[u8],
        at: usize,
        bytes: usize,
        system_use: &[u8],
        date: [u8; 7],
    ) -> Vec<u8> {
        let bytes = u32::try_from(bytes).expect("a small directory");
        let record = Record {
            name,
            extent: self.lbn(at),
            bytes,
            xar_blocks: 0,
            flags: 2,
            interleave: (0, 0),
            date,
            system_use,
        };
        record.write(self.builder.high_sierra)
    }

    /// The records of a child: its associated file's, then one for each section.
    fn records_of(
        &self,
        tree: DirectoryTree,
        child: usize,
        places: &HashMap<usize, (usize, usize)>,
    ) -> Vec<Vec<u8>> {
        let item = &self.items[child];
        let name = self.name(tree, child);
        let system_use = if tree == DirectoryTree::Primary { item.inline.as_slice() } else { &[] };
        let xar = u8::from(item.spec.xar.is_some() && tree == DirectoryTree::Primary);
        if item.is_dir {
            let (at, bytes) = places[&child];
            let at = at - usize::from(xar) * self.builder.block;
            let mut record = self.directory_record(&name, at, bytes, system_use, item.spec.date);
            record[1] = xar;
            record[25] |= item.spec.flags;
            return vec![record];
        }
        let write = |(extent, bytes): (u32, u32), xar_blocks, flags| {
            let interleave = item.spec.interleave;
            let date = item.spec.date;
            let record =
                Record { name: &name, extent, bytes, xar_blocks, flags, interleave, date, system_use };
            record.write(self.builder.high_sierra)
        };
        let mut records = Vec::new();
        if item.spec.associated.is_some() {
            records.push(write(item.associated, 0, 4));
        }
        let last = item.sections.len() - 1;
        for (n, &section) in item.sections.iter().enumerate() {
            let more = if n < last { 128 } else { 0 };
            let xar = if n == 0 { u8::from(item.spec.xar.is_some()) } else { 0 };
            records.push(write(section, xar, item.spec.flags | more));
        }
        records
    }

    pub(super) fn descriptor(
        &self,
        tree: DirectoryTree,
        dirs: &[(usize, usize)],
        tables: (usize, usize, usize),
    ) -> Vec<u8> {
        let (at, bytes) = dirs[0];
        let id = "FATHOM";
        let (kind, version, escape, id): (u8, u8, &[u8], Vec<u8>) = match tree {
            DirectoryTree::Primary => (1, 1, b"", id.into()),
            DirectoryTree::Enhanced => (2, 2, b"", id.into()),
            DirectoryTree::Joliet(level) => {
                let escape: &[u8] = match level {
                    1 => b"%/@",
                    2 => b"%/C",
                    _ => b"%/E",
                };
                (2, 1, escape, id.encode_utf16().flat_map(u16::to_be_bytes).collect())
            }
        };
        let volume = Volume {
            kind,
            version,
            escape: escape.to_vec(),
            id,
            blocks: self.lbn(self.bytes.len()),
            block: u16::try_from(self.builder.block).expect("a block below 64 KiB"),
            table: u32::try_from(tables.2).expect("a small table"),
            table_l: self.lbn(tables.0),
            table_m: self.lbn(tables.1),
            root: self.directory_record(&[0], at, bytes, &[], [107, 2, 28, 12, 34, 56, 0]),
        };
        if self.builder.high_sierra { volume.write_high_sierra() } else { volume.write() }
    }
}
