//! The three figures of a write: throughput to the return of the last write, of the fsync and of the close. A buffered write returns
//! long before its data is safe, so the figure with the fsync is the headline whenever there was one. Formats only lay them out.

use crate::{
    section::{full_title, title},
    surface::on_surfaces,
    units,
};
use fathom_record::{Ending, Mark, Phase, Regime};

/// Throughput with the fsync.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Synced {
    /// To the return of the fsync that followed, bytes/s.
    Rate(f64),
    /// No separate fsync: the writes were synchronous, or synced during the phase.
    Meanwhile,
    /// Nothing was synced.
    Never,
}

impl Synced {
    /// The figure, or why there is none.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Rate(rate) => units::rate(rate),
            Self::Meanwhile => "while writing".into(),
            Self::Never => "no fsync".into(),
        }
    }
}

/// One phase that only writes.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteRow {
    /// The phase with its sizes.
    pub title: String,
    /// To the return of the last write, bytes/s.
    pub to_last: f64,
    /// Throughput to the return of the fsync.
    pub to_fsync: Synced,
    /// To the return of the close, bytes/s; `None` if it was not seen.
    pub to_close: Option<f64>,
    /// Whether the fsync is outside the timed interval, so that the phase's own rate excludes it.
    pub fsync_untimed: bool,
    /// Where the data had gone when the clock stopped.
    pub origin: Regime,
}

impl WriteRow {
    /// The figure to quote: with the fsync if there was one.
    #[must_use]
    pub fn headline(&self) -> f64 {
        if let Synced::Rate(rate) = self.to_fsync { rate } else { self.to_last }
    }

    /// The close in words.
    #[must_use]
    pub fn close_words(&self) -> String {
        self.to_close.map_or("not seen".to_string(), units::rate)
    }

    /// The row of one phase; `None` if it does more than write, failed, or was not timed.
    #[must_use]
    pub fn of(phase: &Phase) -> Option<Self> {
        if phase.reads || !phase.writes || phase.failed() {
            return None;
        }
        let cut = |e: &Ending| matches!(e, Ending::Interrupted);
        let interrupted = phase.repetitions.iter().flat_map(|r| &r.workers).any(|w| cut(&w.ending));
        let to_fsync = match phase.bytes_per_s_to(Mark::Fsync) {
            Some(rate) => Synced::Rate(rate),
            None if phase.sync_in_clock && !interrupted => Synced::Meanwhile,
            None => Synced::Never,
        };
        Some(Self {
            title: full_title(phase),
            to_last: phase.bytes_per_s_to(Mark::LastOp)?,
            to_fsync,
            to_close: phase.bytes_per_s_to(Mark::Close),
            fsync_untimed: !phase.sync_in_clock,
            origin: phase.origin().regime,
        })
    }
}

/// The phases that are not part of a surface, one row each.
#[must_use]
pub fn singles(phases: &[&Phase]) -> Vec<WriteRow> {
    on_surfaces(phases).1.into_iter().filter_map(WriteRow::of).collect()
}

/// The record size quoted for each file size of a surface is the largest up to this: larger ones are rare in programs.
const RECORD_TO_QUOTE: u64 = 1 << 20;

/// The surfaces: one row per test and file size, at one record size. Rows without a known fsync or close are left out, since they
/// would only repeat the surface. [`unsynced_surfaces`] relies on it.
#[must_use]
pub fn of_surfaces(phases: &[&Phase]) -> Vec<WriteRow> {
    let record = |phase: &Phase| phase.axes.record_bytes.unwrap_or(0);
    // Of two records, the one nearer to that which is quoted: the larger of two below, the smaller of two above.
    let rank = |phase: &Phase| match record(phase) {
        r if r <= RECORD_TO_QUOTE => (1, r),
        r => (0, u64::MAX - r),
    };
    let mut quoted: Vec<(String, &Phase, WriteRow)> = Vec::new();
    for &phase in &on_surfaces(phases).0 {
        let Some(row) = WriteRow::of(phase) else { continue };
        let test = title(phase);
        let same =
            |q: &&mut (String, &Phase, WriteRow)| q.0 == test && q.1.axes.file_bytes == phase.axes.file_bytes;
        match quoted.iter_mut().find(same) {
            Some(q) if rank(q.1) >= rank(phase) => {}
            Some(q) => (q.1, q.2) = (phase, row),
            None => quoted.push((test, phase, row)),
        }
    }
    quoted.sort_by(|a, b| a.0.cmp(&b.0));
    let rows = quoted.into_iter().map(|(_, _, row)| row);
    rows.filter(|r| matches!(r.to_fsync, Synced::Rate(_)) || r.to_close.is_some()).collect()
}

/// Whether there are surfaces of writes, none of which was followed by an fsync.
#[must_use]
pub fn unsynced_surfaces(phases: &[&Phase]) -> bool {
    let rows: Vec<WriteRow> = on_surfaces(phases).0.into_iter().filter_map(WriteRow::of).collect();
    !rows.is_empty() && rows.iter().all(|r| r.to_fsync == Synced::Never)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn the_headline_is_with_the_fsync_where_there_was_one() {
        let run = samples::synced_run();
        let phases: Vec<&Phase> = run.phases.iter().collect();
        let rows = singles(&phases);
        let said: Vec<String> = rows.iter().map(|r| r.to_fsync.words()).collect();
        assert_eq!(said, ["64.0 MiB/s", "no fsync", "while writing"]);
        assert!((rows[0].headline() - 64.0 * 1_048_576.0).abs() < 1.0, "{rows:?}");
        assert!(rows[0].to_last > 1.9 * rows[0].headline(), "{rows:?}");
        assert!(rows[0].fsync_untimed && !rows[2].fsync_untimed);
        assert_eq!(rows[1].headline(), rows[1].to_last);
    }

    #[test]
    fn reads_and_failed_writes_have_no_such_figures() {
        let run = samples::mixed_run();
        assert!(run.phases.iter().all(|p| WriteRow::of(p).is_none()));
        assert!(WriteRow::of(&samples::hostile_run().phases[0]).is_none(), "it failed");
    }

    #[test]
    fn a_surface_has_a_row_per_test_and_file_size() {
        let mut run = samples::auto_run();
        {
            let phases: Vec<&Phase> = run.phases.iter().collect();
            assert!(of_surfaces(&phases).is_empty() && singles(&phases).is_empty(), "no fsync, no close");
            assert!(unsynced_surfaces(&phases));
        }
        for phase in &mut run.phases {
            let marks = &mut phase.repetitions[0].workers[0].marks;
            marks.close_ns = marks.last_op_ns;
            marks.fsync_ns = if phase.name == "write" { 2 * marks.last_op_ns } else { 0 };
        }
        let phases: Vec<&Phase> = run.phases.iter().collect();
        let rows = of_surfaces(&phases);
        assert_eq!(rows.len(), 6 * 15, "six tests write, over fifteen file sizes");
        for row in &rows {
            let synced = row.title.starts_with("write, ");
            assert_eq!(matches!(row.to_fsync, Synced::Rate(_)), synced, "{row:?}");
            assert!(row.to_close.is_some(), "{row:?}");
        }
        assert!(!unsynced_surfaces(&phases));
    }
}
