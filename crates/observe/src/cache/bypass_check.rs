//! Detects O_DIRECT writes that pass through the page cache. A file system may do this (btrfs for its checksums, on newer kernels), wait
//! for the device and drop the pages before the call returns, so nothing is left to see when the phase ends. So the process that waits
//! for the workers checks, each time it wakes anyway, whether pages of the files are dirty or under write-back: with true O_DIRECT none
//! ever are. Another process's writes to the files would look the same, so the machine must also have dirtied about as much as was
//! written.

use crate::files::{KernelFiles, Live};
use crate::residency::{self, page_bytes};
use fathom_record::{OpKind, Repetition, Residency};
use std::path::{Path, PathBuf};

/// A check opens each file; more would disturb the workers.
const MOST_FILES: usize = 16;

/// Checks the files of one phase.
#[derive(Debug, Default)]
pub struct CacheBypassCheck {
    paths: Vec<PathBuf>,
    /// Pages dirtied on the whole machine up to the start of the phase.
    dirtied: Option<u64>,
    /// Largest number seen, in pages.
    most: u64,
}

impl CacheBypassCheck {
    /// For a phase that writes these files with O_DIRECT.
    #[must_use]
    pub fn of(paths: &[PathBuf]) -> Self {
        Self { paths: paths.iter().take(MOST_FILES).cloned().collect(), ..Self::default() }
    }

    /// Starts a phase. Pages that were dirty before do not count.
    pub fn start(&mut self, before: Option<Residency>) {
        if before.is_none_or(|r| waits(r) > 0) {
            self.paths.clear();
        }
        self.restart();
    }

    /// Restarts after a warm-up.
    pub fn restart(&mut self) {
        self.most = 0;
        self.dirtied = dirtied_pages(&Live);
    }

    /// Checks, unless pages were seen already.
    pub fn look(&mut self) {
        if self.most == 0 && !self.paths.is_empty() {
            self.most = residency::of(&self.paths).map_or(0, waits);
        }
    }

    /// The dirty data seen, in bytes; 0 if the machine dirtied less than half of what was written. Call it after the phase.
    #[must_use]
    pub fn finish(&self, measured: &Repetition) -> u64 {
        let dirtied = self.dirtied.and_then(|before| dirtied_pages(&Live)?.checked_sub(before));
        self.judge(dirtied, written(measured))
    }

    fn judge(&self, dirtied: Option<u64>, written: u64) -> u64 {
        let enough = dirtied.is_some_and(|pages| pages.saturating_mul(page_bytes()) >= written / 2);
        if enough { self.most.saturating_mul(page_bytes()) } else { 0 }
    }
}

fn waits(r: Residency) -> u64 {
    r.dirty_pages.saturating_add(r.writeback_pages)
}

fn written(measured: &Repetition) -> u64 {
    let stats = measured.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == OpKind::Write);
    stats.fold(0, |sum, s| sum.saturating_add(s.bytes))
}

fn dirtied_pages(files: &dyn KernelFiles) -> Option<u64> {
    let text = files.read(Path::new("/proc/vmstat")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("nr_dirtied ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn the_machine_must_have_dirtied_what_was_written() {
        let seen = CacheBypassCheck { most: 3, ..CacheBypassCheck::default() };
        let written = 100 * page_bytes();
        assert_eq!(seen.judge(Some(100), written), 3 * page_bytes());
        assert_eq!(seen.judge(Some(49), written), 0, "what was dirty was not what was written");
        assert_eq!(seen.judge(None, written), 0, "nobody tells");
        assert_eq!(
            CacheBypassCheck::default().judge(Some(100), written),
            0,
            "a neighbour's pages prove nothing"
        );
    }

    #[test]
    fn what_was_dirty_before_proves_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        std::fs::write(&path, vec![7u8; 1 << 16]).expect("a file");
        let waited = Residency { dirty_pages: 1, ..Residency::default() };
        for before in [Some(waited), None] {
            let mut passing = CacheBypassCheck::of(std::slice::from_ref(&path));
            passing.start(before);
            passing.look();
            assert_eq!(passing.most, 0, "{before:?}");
        }
    }

    #[test]
    fn the_counter_is_found_among_others() {
        let fake = Fake::new().file("/proc/vmstat", "nr_dirty 5\nnr_dirtied 77\nnr_dirtied_x 9\n");
        assert_eq!(dirtied_pages(&fake), Some(77));
        assert_eq!(dirtied_pages(&Fake::new()), None);
    }
}
