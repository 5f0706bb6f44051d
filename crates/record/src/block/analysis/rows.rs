//! iostat-style rows of one device, all of the same width. There are never more than [`ROWS_MAX`]: when the limit is reached,
//! rows are joined in pairs and the width doubles.

use super::super::activity::{BlockInterval, RequestClass};

/// Maximum number of rows per device.
pub(super) const ROWS_MAX: usize = 4096;

/// The finished rows and the current one. A row covers the time after its start up to and including its end.
pub(super) struct Rows {
    width_ns: u64,
    start_ns: u64,
    end_ns: u64,
    done: Vec<BlockInterval>,
    row: BlockInterval,
}

impl Rows {
    /// Rows of this width; 0 for none.
    pub(super) fn new(width_ns: u64) -> Self {
        Self { width_ns, start_ns: 0, end_ns: 0, done: Vec::new(), row: BlockInterval::default() }
    }

    pub(super) fn restart(&mut self, at_ns: u64, width_ns: u64) {
        self.width_ns = width_ns;
        self.start_ns = at_ns;
        self.end_ns = if width_ns == 0 { u64::MAX } else { at_ns.saturating_add(width_ns) };
        self.done.clear();
        self.row = BlockInterval::default();
    }

    /// Accounts for the time from `from_ns` to `to_ns` at the given depth.
    #[inline]
    pub(super) fn pass(&mut self, mut from_ns: u64, to_ns: u64, depth: usize) {
        while to_ns > self.end_ns {
            self.spend(self.end_ns - from_ns.min(self.end_ns), depth);
            from_ns = self.end_ns;
            self.turn();
        }
        self.spend(to_ns - from_ns, depth);
    }

    #[inline]
    fn spend(&mut self, ns: u64, depth: usize) {
        self.row.depth_ns = self.row.depth_ns.saturating_add(ns.saturating_mul(depth as u64));
        if depth > 0 {
            self.row.busy_ns = self.row.busy_ns.saturating_add(ns);
        }
    }

    #[inline]
    pub(super) fn completed(&mut self, class: RequestClass, bytes: u64, ns: u64) {
        let row = &mut self.row;
        match class {
            RequestClass::Read => {
                row.reads += 1;
                row.read_bytes = row.read_bytes.saturating_add(bytes);
                row.read_ns = row.read_ns.saturating_add(ns);
            }
            RequestClass::Write => {
                row.writes += 1;
                row.write_bytes = row.write_bytes.saturating_add(bytes);
                row.write_ns = row.write_ns.saturating_add(ns);
            }
            RequestClass::Discard => row.discards += 1,
            RequestClass::Flush => row.flushes += 1,
            RequestClass::Other => {}
        }
    }

    #[inline]
    pub(super) fn merged(&mut self, class: RequestClass) {
        match class {
            RequestClass::Read => self.row.read_merges += 1,
            RequestClass::Write => self.row.write_merges += 1,
            _ => {}
        }
    }

    fn turn(&mut self) {
        self.close(self.end_ns);
        if self.done.len() >= ROWS_MAX {
            self.halve();
        }
        self.end_ns = self.start_ns.saturating_add(self.width_ns);
    }

    fn close(&mut self, end_ns: u64) {
        let mut row = std::mem::take(&mut self.row);
        row.end_ns = end_ns;
        row.width_ns = end_ns - self.start_ns;
        self.start_ns = end_ns;
        self.done.push(row);
    }

    fn halve(&mut self) {
        let pairs = self.done.chunks(2).map(|pair| match pair {
            [a, b] => joined(a, b),
            [a] => *a,
            _ => BlockInterval::default(),
        });
        self.done = pairs.collect();
        self.width_ns = self.width_ns.saturating_mul(2);
    }

    /// The rows of a watch from `from_ns` to `end_ns`, for the device at index `device`.
    pub(super) fn finish(&self, device: u32, from_ns: u64, end_ns: u64) -> Vec<BlockInterval> {
        if self.width_ns == 0 {
            return Vec::new();
        }
        let last = BlockInterval { end_ns, width_ns: end_ns.saturating_sub(self.start_ns), ..self.row };
        // A watch that ends at a row's end has no partial row.
        let rest = (last.width_ns > 0 || self.row != BlockInterval::default()).then_some(last);
        let all = self.done.iter().copied().chain(rest);
        all.map(|row| BlockInterval { device, end_ns: row.end_ns.saturating_sub(from_ns), ..row }).collect()
    }
}

/// Joins two consecutive rows.
fn joined(a: &BlockInterval, b: &BlockInterval) -> BlockInterval {
    BlockInterval {
        device: a.device,
        source: a.source,
        end_ns: b.end_ns,
        width_ns: a.width_ns.saturating_add(b.width_ns),
        reads: a.reads + b.reads,
        read_bytes: a.read_bytes.saturating_add(b.read_bytes),
        read_merges: a.read_merges + b.read_merges,
        read_ns: a.read_ns.saturating_add(b.read_ns),
        writes: a.writes + b.writes,
        write_bytes: a.write_bytes.saturating_add(b.write_bytes),
        write_merges: a.write_merges + b.write_merges,
        write_ns: a.write_ns.saturating_add(b.write_ns),
        discards: a.discards + b.discards,
        flushes: a.flushes + b.flushes,
        busy_ns: a.busy_ns.saturating_add(b.busy_ns),
        depth_ns: a.depth_ns.saturating_add(b.depth_ns),
    }
}
