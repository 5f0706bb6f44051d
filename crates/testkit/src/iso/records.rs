//! The structures of an image as bytes: directory records, path tables, descriptors. All numbers come from the layout.

use super::{both16, both32};

/// The fields of a directory record.
pub(super) struct Record<'a> {
    pub(super) name: &'a [u8],
    pub(super) extent: u32,
    pub(super) bytes: u32,
    pub(super) xar_blocks: u8,
    pub(super) flags: u8,
    pub(super) interleave: (u8, u8),
    pub(super) date: [u8; 7],
    pub(super) system_use: &'a [u8],
}

/// Size of a record.
pub(super) fn record_bytes(name: usize, system_use: usize) -> usize {
    let bytes = 33 + name + usize::from(name.is_multiple_of(2)) + system_use;
    bytes + bytes % 2
}

impl Record<'_> {
    pub(super) fn write(&self, high_sierra: bool) -> Vec<u8> {
        let length = record_bytes(self.name.len(), self.system_use.len());
        let mut bytes = vec![u8::try_from(length).expect("a record has at most 255 bytes"), self.xar_blocks];
        bytes.extend(both32(self.extent));
        bytes.extend(both32(self.bytes));
        bytes.extend(self.date);
        bytes.push(self.flags);
        if high_sierra {
            (bytes[24], bytes[25]) = (self.flags, 0);
        }
        bytes.extend([self.interleave.0, self.interleave.1]);
        bytes.extend(both16(1));
        bytes.push(u8::try_from(self.name.len()).expect("a short name"));
        bytes.extend(self.name);
        if self.name.len().is_multiple_of(2) {
            bytes.push(0);
        }
        bytes.extend(self.system_use);
        bytes.resize(length, 0);
        bytes
    }
}

/// One directory of a path table.
pub(super) struct PathEntry {
    pub(super) name: Vec<u8>,
    pub(super) extent: u32,
    pub(super) parent: u16,
}

pub(super) fn path_table(entries: &[PathEntry], big_endian: bool) -> Vec<u8> {
    let mut table = Vec::new();
    for entry in entries {
        table.extend([u8::try_from(entry.name.len()).expect("a short name"), 0]);
        if big_endian {
            table.extend(entry.extent.to_be_bytes());
            table.extend(entry.parent.to_be_bytes());
        } else {
            table.extend(entry.extent.to_le_bytes());
            table.extend(entry.parent.to_le_bytes());
        }
        table.extend(&entry.name);
        if entry.name.len() % 2 == 1 {
            table.push(0);
        }
    }
    table
}

/// The fields of a volume descriptor.
pub(super) struct Volume {
    pub(super) kind: u8,
    pub(super) version: u8,
    pub(super) escape: Vec<u8>,
    pub(super) id: Vec<u8>,
    pub(super) blocks: u32,
    pub(super) block: u16,
    pub(super) table: u32,
    pub(super) table_l: u32,
    pub(super) table_m: u32,
    pub(super) root: Vec<u8>,
}

impl Volume {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut sector = vec![0; 2048];
        put(&mut sector, 0, &[self.kind]);
        put(&mut sector, 1, b"CD001");
        put(&mut sector, 6, &[self.version]);
        put(&mut sector, 8, &[b' '; 64]);
        put(&mut sector, 40, &self.id);
        put(&mut sector, 80, &both32(self.blocks));
        put(&mut sector, 88, &self.escape);
        put(&mut sector, 120, &both16(1));
        put(&mut sector, 124, &both16(1));
        put(&mut sector, 128, &both16(self.block));
        put(&mut sector, 132, &both32(self.table));
        put(&mut sector, 140, &self.table_l.to_le_bytes());
        put(&mut sector, 148, &self.table_m.to_be_bytes());
        put(&mut sector, 156, &self.root);
        put(&mut sector, 813, b"2007022812345600\0");
        put(&mut sector, 830, b"2007022812345600\0");
        put(&mut sector, 881, &[1]);
        sector
    }

    pub(super) fn write_high_sierra(&self) -> Vec<u8> {
        let mut sector = vec![0; 2048];
        put(&mut sector, 0, &both32(16));
        put(&mut sector, 8, &[self.kind]);
        put(&mut sector, 9, b"CDROM");
        put(&mut sector, 14, &[1]);
        put(&mut sector, 16, &[b' '; 64]);
        put(&mut sector, 48, &self.id);
        put(&mut sector, 88, &both32(self.blocks));
        put(&mut sector, 128, &both16(1));
        put(&mut sector, 132, &both16(1));
        put(&mut sector, 136, &both16(self.block));
        put(&mut sector, 180, &self.root);
        sector
    }
}

/// The descriptor that ends the list.
pub(super) fn terminator(high_sierra: bool) -> Vec<u8> {
    let mut sector = vec![0; 2048];
    let (at, id) = if high_sierra { (8, b"CDROM") } else { (0, b"CD001") };
    put(&mut sector, at, &[255]);
    put(&mut sector, at + 1, id);
    put(&mut sector, at + 6, &[1]);
    sector
}

/// The boot record of El Torito.
pub(super) fn boot_record(catalog: u32) -> Vec<u8> {
    let mut sector = vec![0; 2048];
    put(&mut sector, 1, b"CD001\x01EL TORITO SPECIFICATION");
    put(&mut sector, 71, &catalog.to_le_bytes());
    sector
}

/// The recognition area of UDF.
pub(super) fn udf_recognition() -> Vec<u8> {
    [b"BEA01", b"NSR02", b"TEA01"]
        .iter()
        .flat_map(|id| {
            let mut sector = vec![0; 2048];
            put(&mut sector, 1, *id);
            put(&mut sector, 6, &[1]);
            sector
        })
        .collect()
}

pub(super) fn put(sector: &mut [u8], at: usize, bytes: &[u8]) {
    sector[at..at + bytes.len()].copy_from_slice(bytes);
}
