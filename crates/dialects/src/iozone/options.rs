//! The typed meaning of a command line, with defaults. `parse` fills it; planners and printers read it. Sizes are in kB
//! (1 kB = 1024 bytes, as everywhere in IOzone).

use std::path::PathBuf;

/// Largest record, which is the size of IOzone's buffers.
pub const MAX_RECORD_KB: u64 = 16384;
/// Maximum number of streams.
pub const MAX_STREAMS: u32 = 1024;

/// Unit of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    /// kB per second.
    #[default]
    KbPerS,
    /// Operations per second.
    OpsPerS,
    /// Microseconds per operation.
    UsPerOp,
}

/// Flush of a mapped file after each record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Msync {
    /// None.
    #[default]
    No,
    /// -D.
    Async,
    /// -G.
    Sync,
}

/// Synchronous open flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncFlag {
    /// None.
    #[default]
    No,
    /// -o.
    Sync,
    /// -+D.
    Dsync,
    /// -+r.
    Rsync,
}

/// How streams share files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Each stream has its own file.
    #[default]
    Own,
    /// All streams use the first file.
    Shared,
}

/// Scope of file locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// None.
    #[default]
    No,
    /// -W.
    File,
    /// -+l, -+L.
    Record,
}

/// Bursts of I/O, -+b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstOption {
    /// kB per burst over all streams.
    pub kb: u64,
    /// Pause between bursts, ms.
    pub pause_ms: u64,
}

/// Parsed options.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one option of the command line")]
pub struct IozoneOptions {
    /// -a, or more than one -r or -s.
    pub auto: bool,
    /// -A.
    pub old_auto: bool,
    /// -z, or any of -r -s -y -q.
    pub no_crossover: bool,
    /// -s, in the order given.
    pub file_kb: Vec<u64>,
    /// -r, in the order given.
    pub record_kb: Vec<u64>,
    /// -n.
    pub min_file_kb: Option<u64>,
    /// -g.
    pub max_file_kb: Option<u64>,
    /// -y.
    pub min_record_kb: Option<u64>,
    /// -q.
    pub max_record_kb: Option<u64>,
    /// -+x.
    pub multiplier: Option<u64>,
    /// -i; empty: default tests.
    pub tests: Vec<u8>,
    /// -E.
    pub extended: bool,
    /// -f.
    pub file: Option<PathBuf>,
    /// -F.
    pub files: Vec<PathBuf>,
    /// -t, in the order given.
    pub streams: Vec<u32>,
    /// -l.
    pub min_streams: Option<u32>,
    /// -u.
    pub max_streams: Option<u32>,
    /// -T.
    pub threads: bool,
    /// -x.
    pub no_stonewall: bool,
    /// -C.
    pub show_children: bool,
    /// -d.
    pub release_gap_us: u64,
    /// -O, -N.
    pub unit: RateUnit,
    /// -R or -b.
    pub report: bool,
    /// -b.
    pub worksheet: Option<PathBuf>,
    /// -c.
    pub close_timed: bool,
    /// -e.
    pub fsync_timed: bool,
    /// -I.
    pub direct: bool,
    /// -o, -+D, -+r.
    pub sync: SyncFlag,
    /// -B or -D.
    pub mmap: bool,
    /// -H, -k.
    pub async_depth: Option<u32>,
    /// -D, -G.
    pub msync: Msync,
    /// -+A, by the number of the option.
    pub madvise: Option<u8>,
    /// -j.
    pub stride: Option<u64>,
    /// -J.
    pub think_ms: u64,
    /// -+J.
    pub think_counted: bool,
    /// -K.
    pub disturb: bool,
    /// -L.
    pub cache_line_bytes: Option<u64>,
    /// -S.
    pub cache_kb: Option<u64>,
    /// -m.
    pub multi_buffer: bool,
    /// -p.
    pub purge: bool,
    /// -P.
    pub first_cpu: Option<u32>,
    /// -Q.
    pub operation_logs: bool,
    /// -U.
    pub remount: Option<PathBuf>,
    /// -V: the byte, 0 for the default pattern.
    pub verify_byte: Option<u8>,
    /// -w.
    pub keep: bool,
    /// -W, -+l, -+L.
    pub locking: Locking,
    /// -X.
    pub write_telemetry: Option<PathBuf>,
    /// -Y.
    pub read_telemetry: Option<PathBuf>,
    /// -+n.
    pub no_retest: bool,
    /// -+u.
    pub cpu: bool,
    /// -+q.
    pub delay_s: u64,
    /// -+d.
    pub diagnose: bool,
    /// -+p.
    pub mix_read_percent: Option<u8>,
    /// -+K.
    pub mix_readers: Option<u32>,
    /// -+B.
    pub mix_sequential: bool,
    /// -+F.
    pub mix_truncate: bool,
    /// -+w.
    pub duplicate_percent: Option<u8>,
    /// -+C.
    pub within_percent: Option<u8>,
    /// -+S.
    pub data_seed: Option<u64>,
    /// -+k.
    pub total_size: bool,
    /// -+E.
    pub existing_only: bool,
    /// -+N.
    pub no_recreate: bool,
    /// -+V, -+L.
    pub sharing: Sharing,
    /// -+z.
    pub histograms: bool,
    /// -+T.
    pub child_logs: bool,
    /// -+O.
    pub rate_ops: Option<u64>,
    /// -+b.
    pub burst: Option<BurstOption>,
    /// -+X, -+Z: the marker byte.
    pub mark_byte: Option<u8>,
    /// Banner lines caused by options, in order, with tabs and without line ends.
    pub splash: Vec<String>,
    /// Notes for the user: options without effect, and why.
    pub notes: Vec<String>,
}

impl IozoneOptions {
    /// Whether throughput mode is used.
    #[must_use]
    pub fn throughput(&self) -> bool {
        !self.streams.is_empty() || self.min_streams.is_some() || self.max_streams.is_some()
    }

    /// The stream counts to run, one block of tests each.
    #[must_use]
    pub fn stream_counts(&self) -> Vec<u32> {
        if self.min_streams.is_none() && self.max_streams.is_none() {
            return self.streams.clone();
        }
        let (low, high) = self.stream_range();
        (low..=high).collect()
    }

    /// Range of -l and -u.
    #[must_use]
    pub fn stream_range(&self) -> (u32, u32) {
        let low = self.min_streams.unwrap_or(1);
        (low, self.max_streams.unwrap_or(low))
    }

    /// Largest number of concurrent streams.
    #[must_use]
    pub fn most_streams(&self) -> u32 {
        let listed = self.streams.iter().copied().max().unwrap_or(0);
        if self.min_streams.is_none() && self.max_streams.is_none() {
            return listed;
        }
        let (low, high) = self.stream_range();
        listed.max(low).max(high)
    }

    /// Whether only the columns of tests that support mapped or asynchronous I/O are shown.
    #[must_use]
    pub fn narrow(&self) -> bool {
        self.mmap || self.async_depth.is_some()
    }

    /// Whether a write or read list is replayed.
    #[must_use]
    pub fn telemetry(&self) -> bool {
        self.write_telemetry.is_some() || self.read_telemetry.is_some()
    }

    /// The marker byte in the data; release 3.471 writes 0x20.
    #[must_use]
    pub fn mark(&self) -> u8 {
        self.mark_byte.unwrap_or(0x20)
    }

    /// Whether test `n` runs.
    #[must_use]
    pub fn runs(&self, n: u8) -> bool {
        if self.telemetry() {
            return self.telemetry_runs(n);
        }
        if self.old_auto {
            return n <= 1;
        }
        if !self.tests.is_empty() {
            return self.tests.contains(&n);
        }
        if self.throughput() { n != 4 && n <= 10 } else { n <= 7 || (self.extended && n <= 10 && n != 8) }
    }

    /// Only tests 0 and 1 follow a list: the selected ones, or those that have a list.
    fn telemetry_runs(&self, n: u8) -> bool {
        let asked = |n: u8| n <= 1 && self.tests.contains(&n);
        if asked(0) || asked(1) {
            return asked(n);
        }
        n == 0 || (n == 1 && self.read_telemetry.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_run_from_l_to_u() {
        let both = IozoneOptions { min_streams: Some(2), max_streams: Some(4), ..IozoneOptions::default() };
        assert_eq!(both.stream_counts(), [2, 3, 4]);
        let upper = IozoneOptions { max_streams: Some(2), ..IozoneOptions::default() };
        assert_eq!(upper.stream_counts(), [1, 2]);
        let lower = IozoneOptions { min_streams: Some(3), ..IozoneOptions::default() };
        assert_eq!(lower.stream_counts(), [3]);
        let crossed =
            IozoneOptions { min_streams: Some(3), max_streams: Some(2), ..IozoneOptions::default() };
        assert!(crossed.stream_counts().is_empty());
    }

    #[test]
    fn default_tests_depend_on_the_mode() {
        let all = |o: &IozoneOptions| (0..=12).filter(|&n| o.runs(n)).collect::<Vec<u8>>();
        assert_eq!(all(&IozoneOptions::default()), [0, 1, 2, 3, 4, 5, 6, 7]);
        let extended = IozoneOptions { extended: true, ..IozoneOptions::default() };
        assert_eq!(all(&extended), [0, 1, 2, 3, 4, 5, 6, 7, 9, 10]);
        let streams = IozoneOptions { streams: vec![2], ..IozoneOptions::default() };
        assert_eq!(all(&streams), [0, 1, 2, 3, 5, 6, 7, 8, 9, 10]);
        let list =
            IozoneOptions { write_telemetry: Some("x".into()), tests: vec![2], ..IozoneOptions::default() };
        assert_eq!(all(&list), [0]);
    }
}
