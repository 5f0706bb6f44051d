//! For tests: format descriptions as the kernel writes them, and ring pages built record by record.

use super::format::PageFormat;

/// `events/block/block_rq_issue/format` of Linux 6.18, without the print format.
pub(crate) const ISSUE_FORMAT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\nprint fmt: \"%d\", REC->bytes\n";

/// A description with the common fields and the given ones (declaration, offset, size).
pub(crate) fn format_of(id: u16, fields: &[(&str, usize, usize)]) -> String {
    let common = [
        ("unsigned short common_type", 0, 2),
        ("unsigned char common_flags", 2, 1),
        ("unsigned char common_preempt_count", 3, 1),
        ("int common_pid", 4, 4),
    ];
    let mut text = format!("name: x\nID: {id}\nformat:\n");
    for (declared, offset, size) in common.iter().chain(fields) {
        text += &format!("\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:0;\n");
    }
    text
}

/// Builds one page.
#[derive(Clone)]
pub(crate) struct PageBuilder {
    format: PageFormat,
    start_ns: u64,
    data: Vec<u8>,
    missed: bool,
}

impl PageBuilder {
    /// A page in today's format with base time `start_ns`.
    pub(crate) fn new(start_ns: u64) -> Self {
        Self::of(PageFormat::USUAL, start_ns)
    }

    /// A page in another format.
    pub(crate) fn of(format: PageFormat, start_ns: u64) -> Self {
        Self { format, start_ns, data: Vec::new(), missed: false }
    }

    fn word(mut self, kind: u32, delta: u32) -> Self {
        assert!(kind < 32 && delta < 1 << 27);
        let word = if cfg!(target_endian = "little") { delta << 5 | kind } else { kind << 27 | delta };
        self.data.extend(word.to_ne_bytes());
        self
    }

    /// Adds a record in the shortest encoding for its length.
    pub(crate) fn record(mut self, delta: u32, data: &[u8]) -> Self {
        assert_eq!(data.len() % 4, 0, "records are whole words");
        if (1..=28).contains(&(data.len() / 4)) {
            self = self.word((data.len() / 4) as u32, delta);
        } else {
            self = self.word(0, delta);
            self.data.extend((data.len() as u32 + 4).to_ne_bytes());
        }
        self.data.extend(data);
        self
    }

    /// Adds a record after any time, with a time extend before it if needed.
    pub(crate) fn after(self, delta: u64, data: &[u8]) -> Self {
        if delta < 1 << 27 { self.record(delta as u32, data) } else { self.extend(delta).record(0, data) }
    }

    /// Adds a discarded record, `bytes` long without its first word.
    pub(crate) fn taken_back(mut self, delta: u32, bytes: u32) -> Self {
        self = self.word(29, delta);
        self.data.extend(bytes.to_ne_bytes());
        self.data.resize(self.data.len() + bytes as usize - 4, 0xaa);
        self
    }

    /// Fills the rest of the page with padding.
    pub(crate) fn filled(self) -> Self {
        self.word(29, 0)
    }

    /// Adds a time extend: more time than a record can hold.
    pub(crate) fn extend(self, ns: u64) -> Self {
        self.time(30, ns)
    }

    /// Adds an absolute timestamp.
    pub(crate) fn stamp(self, ns: u64) -> Self {
        self.time(31, ns)
    }

    fn time(mut self, kind: u32, ns: u64) -> Self {
        self = self.word(kind, (ns & ((1 << 27) - 1)) as u32);
        self.data.extend(((ns >> 27) as u32).to_ne_bytes());
        self
    }

    /// Sets the flag for records lost before the page.
    pub(crate) fn missed(mut self) -> Self {
        self.missed = true;
        self
    }

    /// The bytes of the page.
    pub(crate) fn build(self) -> Vec<u8> {
        let format = self.format;
        let mut page = vec![0; format.bytes];
        page[format.timestamp..][..8].copy_from_slice(&self.start_ns.to_ne_bytes());
        let commit = self.data.len() as u64 | if self.missed { 3 << 30 } else { 0 };
        match format.commit.size {
            4 => page[format.commit.offset..][..4].copy_from_slice(&(commit as u32).to_ne_bytes()),
            _ => page[format.commit.offset..][..8].copy_from_slice(&commit.to_ne_bytes()),
        }
        page[format.data..][..self.data.len()].copy_from_slice(&self.data);
        page
    }
}
