//! The contents of an image: boot images with their catalogue, and the files' data in their sections, after all metadata.

use super::layout::{SECTOR, Writer};
use super::{Spec, boot};

impl Writer {
    /// Places catalogue and images; returns the catalogue's sector.
    pub(super) fn place_boot(&mut self) -> Option<u32> {
        let boots = self.builder.boot.clone();
        if boots.is_empty() {
            return None;
        }
        let sector = |byte: usize| u32::try_from(byte / SECTOR).expect("a small image");
        let catalog = self.align(SECTOR);
        self.grow(catalog + SECTOR);
        let mut places = Vec::new();
        for boot in &boots {
            places.push(sector(self.align(SECTOR)));
            self.bytes.extend(&boot.image);
        }
        self.bytes[catalog..catalog + SECTOR].copy_from_slice(&boot::catalog(&boots, &places));
        Some(sector(catalog))
    }

    pub(super) fn place_data(&mut self) {
        for index in 0..self.items.len() {
            let spec = self.items[index].spec.clone();
            if self.items[index].is_dir || spec.same_as.is_some() {
                continue;
            }
            if let Some(data) = &spec.associated {
                let at = self.align(self.builder.block);
                self.bytes.extend(data);
                self.items[index].associated = (self.lbn(at), length32(data));
            }
            let mut sections = Vec::new();
            let mut rest = spec.data.as_slice();
            for &length in &spec.sections {
                let (section, behind) = rest.split_at(length);
                sections.push(section);
                rest = behind;
            }
            if sections.is_empty() {
                sections.push(rest);
            }
            let mut order: Vec<usize> = (0..sections.len()).collect();
            if spec.scattered {
                order.reverse();
            }
            let mut places = vec![(0, 0); sections.len()];
            for n in order {
                places[n] = (self.place_section(&spec, n, sections[n]), length32(sections[n]));
            }
            let xar = u32::from(spec.xar.is_some());
            let first = (places[0].0 + xar) as usize * self.builder.block;
            self.built.data.insert(self.items[index].path.clone(), first);
            self.items[index].sections = places;
        }
        self.link();
    }

    /// Copies the sections of a file to every file that shares its data (`same_as`).
    fn link(&mut self) {
        for index in 0..self.items.len() {
            let Some(path) = self.items[index].spec.same_as.clone() else { continue };
            let other = self.items.iter().find(|item| item.path == path && !item.is_dir);
            let sections = other.map(|other| other.sections.clone()).unwrap_or_default();
            assert!(!sections.is_empty(), "{path:?} has no data to share");
            self.items[index].sections = sections;
        }
    }

    /// Writes one section; returns its first block.
    fn place_section(&mut self, spec: &Spec, n: usize, data: &[u8]) -> u32 {
        let at = self.align(self.builder.block);
        if let Some(xar) = spec.xar.as_ref().filter(|_| n == 0) {
            self.bytes.extend(xar);
            self.align(self.builder.block);
        }
        let (unit, gap) = (usize::from(spec.interleave.0), usize::from(spec.interleave.1));
        if unit == 0 {
            self.bytes.extend(data);
            return self.lbn(at);
        }
        for chunk in data.chunks(unit * self.builder.block) {
            self.bytes.extend(chunk);
            self.align(self.builder.block);
            let end = self.bytes.len() + gap * self.builder.block;
            self.bytes.resize(end, 0xDD);
        }
        self.lbn(at)
    }
}

fn length32(data: &[u8]) -> u32 {
    u32::try_from(data.len()).expect("small data")
}
