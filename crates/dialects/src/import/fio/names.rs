//! Names of fio's cells: derived from the job's work, using fathom's phase names so that cells match.

use super::super::cell::cell;
use super::super::lines::leading;
use fathom_record::Phase;

/// Known options of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct JobOptions {
    pub(super) name: String,
    /// Value of `rw`.
    pub(super) rw: String,
    pub(super) block_bytes: Option<u64>,
    pub(super) file_bytes: Option<u64>,
    pub(super) jobs: Option<u64>,
    pub(super) depth: Option<u64>,
    pub(super) direct: bool,
    /// Error number; 0 if it completed.
    pub(super) error: i64,
}

impl JobOptions {
    /// Takes an option as given.
    pub(super) fn option(&mut self, key: &str, value: &str) {
        match key {
            "rw" | "readwrite" => self.rw = value.into(),
            "bs" | "blocksize" => self.block_bytes = size(value),
            "size" | "filesize" => self.file_bytes = size(value),
            "numjobs" => self.jobs = value.parse().ok(),
            "iodepth" => self.depth = value.parse().ok(),
            "direct" => self.direct = value != "0",
            _ => {}
        }
    }

    /// The cell of one direction: "read", "write", "trim".
    pub(super) fn cell(&self, direction: &str) -> Phase {
        let random = self.rw.starts_with("rand") && matches!(direction, "read" | "write" | "trim");
        let mut phase = cell(&if random { format!("random {direction}") } else { direction.to_string() });
        phase.reads = direction == "read";
        phase.writes = direction == "write";
        phase.direct = self.direct;
        phase.axes.record_bytes = self.block_bytes;
        phase.axes.file_bytes = self.file_bytes;
        phase.axes.streams = self.jobs;
        phase.axes.queue_depth = self.depth;
        if !self.name.is_empty() {
            phase.axes.tags.insert("job".into(), self.name.clone());
        }
        phase
    }
}

/// A size as fio prints it: K, M and G are powers of two, unless followed by "B" without "i".
fn size(text: &str) -> Option<u64> {
    let (value, _, suffix) = leading(text)?;
    let lower = suffix.to_ascii_lowercase();
    let lower = lower.split(['-', ',', ':', '/']).next().unwrap_or("");
    let power = match lower.chars().next() {
        None | Some('b') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some(_) => return None,
    };
    Some((value * f64::powi(1024.0, power)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_make_cells() {
        let mut job = JobOptions::default();
        for (key, value) in
            [("rw", "randrw"), ("bs", "4k-4k"), ("size", "1GiB"), ("iodepth", "8"), ("direct", "1")]
        {
            job.option(key, value);
        }
        let phase = job.cell("write");
        assert_eq!((phase.name.as_str(), phase.writes, phase.direct), ("random write", true, true));
        assert_eq!(
            (phase.axes.record_bytes, phase.axes.file_bytes, phase.axes.queue_depth),
            (Some(4096), Some(1 << 30), Some(8))
        );
    }
}
