//! Prints a run as SysBench does: heading, interval lines, checkpoint reports, final report. Fed live by the run loop,
//! and from a stored record by `replay`.

use super::figures::{Rules, Tally, clock_s, shares, total_s};
use super::options::{Dialect, SysbenchOptions};
use super::report::{self, ReportInterval};
use super::{Parsed, failure, head, latency, report_old};
use crate::LivePrinter;
use fathom_record::{Ending, Interval, OpError, Repetition};

/// Prints a run as it proceeds.
#[derive(Clone, Debug)]
pub struct SysbenchPrinter {
    options: SysbenchOptions,
    opening: String,
    rules: Rules,
    /// Operations since the last interval line.
    line: Tally,
    line_from_s: f64,
    /// Operations since the last checkpoint.
    checkpoint: Tally,
    checkpoint_from_s: f64,
    /// Operations before the last checkpoint, which the final report excludes.
    reported: Option<Tally>,
    /// Whole seconds already checked for reports.
    looked_s: u64,
    intervals: usize,
}

impl SysbenchPrinter {
    /// A printer for the run that `parsed` describes.
    #[must_use]
    pub fn new(parsed: &Parsed) -> Self {
        Self {
            options: parsed.options.clone(),
            opening: parsed.opening.clone(),
            rules: Rules::of(&parsed.options),
            line: Tally::default(),
            line_from_s: 0.0,
            checkpoint: Tally::default(),
            checkpoint_from_s: 0.0,
            reported: None,
            looked_s: 0,
            intervals: 0,
        }
    }

    fn says(&self, verbosity: u8) -> bool {
        self.options.verbosity >= verbosity
    }

    fn old(&self) -> bool {
        self.options.dialect == Dialect::Old
    }

    /// All workers are prepared and the clocks start.
    pub fn started(&mut self) -> String {
        match (self.says(3), self.old()) {
            (false, _) => String::new(),
            (true, true) => "Threads started!\n".into(),
            (true, false) => "Threads started!\n\n".into(),
        }
    }

    /// An interval has ended: returns a line, a checkpoint report, or nothing.
    pub fn interval(&mut self, interval: &Interval) -> String {
        self.intervals += 1;
        self.line.add_interval(self.rules, interval);
        self.checkpoint.add_interval(self.rules, interval);
        let now_s = interval.end_ns as f64 / 1e9;
        // The parent checks slightly late, and the last worker may exit slightly early.
        let at_s = (now_s + 0.05) as u64;
        let since = self.looked_s;
        self.looked_s = at_s.max(since);
        let crosses = |second: u64| since < second && second <= at_s;
        let step = self.options.report_interval_s;
        let mut text = String::new();
        if step > 0 && at_s / step > since / step {
            let width_s = now_s - self.line_from_s;
            let of = if self.old() { report_old::interval } else { report::interval };
            text += &of(&self.options, &self.line, at_s / step * step, width_s);
            self.line = Tally::default();
            self.line_from_s = now_s;
        }
        if self.options.checkpoints_s.iter().any(|&c| crosses(c)) {
            text += &format!("[ {at_s}s ] Checkpoint report:\n");
            text += &self.report(&ReportInterval {
                tally: &self.checkpoint,
                total_s: now_s,
                clock_s: now_s - self.checkpoint_from_s,
                shares: None,
            });
            let done = std::mem::take(&mut self.checkpoint);
            self.reported = Some(match self.reported.take() {
                Some(before) => sum(before, &done),
                None => done,
            });
            self.checkpoint_from_s = now_s;
            self.line = Tally::default();
            self.line_from_s = now_s;
        }
        if self.says(3) { text } else { String::new() }
    }

    fn report(&self, span: &ReportInterval<'_>) -> String {
        if self.old() { report_old::report(&self.options, span) } else { report::report(&self.options, span) }
    }

    /// The final report, after the end messages of verbosity 4.
    fn last(&mut self, repetition: &Repetition) -> String {
        let mut text = String::new();
        if self.says(4) {
            text += &self.limit(repetition);
            text += "Done.\n\n";
        }
        let all = Tally::of(self.rules, repetition);
        let total_s = total_s(repetition);
        let clock_s = clock_s(repetition);
        let shares = shares(self.rules, repetition);
        let (tally, shares) = match &self.reported {
            None => (all, Some(shares)),
            Some(reported) => (self.rest(reported, &all, repetition), None),
        };
        if self.options.histogram {
            text += &latency::histogram(&tally.latency);
        }
        text += &self.report(&ReportInterval {
            tally: &tally,
            total_s,
            clock_s: clock_s - self.checkpoint_from_s,
            shares: shares.as_deref(),
        });
        if self.says(5) {
            let each = repetition.workers.iter().map(|w| {
                let alone = Repetition { workers: vec![w.clone()], ..Repetition::default() };
                Tally::of(self.rules, &alone)
            });
            text += &report::threads(&each.collect::<Vec<_>>(), self.rules);
        }
        text
    }

    /// Operations since the last checkpoint: counts are differences, latencies come from the intervals since.
    fn rest(&self, reported: &Tally, all: &Tally, repetition: &Repetition) -> Tally {
        let mut rest = Tally {
            reads: all.reads.saturating_sub(reported.reads),
            writes: all.writes.saturating_sub(reported.writes),
            series_syncs: all.series_syncs.saturating_sub(reported.series_syncs),
            other_syncs: all.other_syncs.saturating_sub(reported.other_syncs),
            read_bytes: all.read_bytes.saturating_sub(reported.read_bytes),
            written_bytes: all.written_bytes.saturating_sub(reported.written_bytes),
            ..Tally::default()
        };
        let mut later = Tally::default();
        let from_ns = (self.checkpoint_from_s * 1e9) as u64;
        for interval in
            repetition.intervals.iter().filter(|i| i.end_ns.saturating_sub(i.width_ns / 2) > from_ns)
        {
            later.add_interval(self.rules, interval);
        }
        rest.latency = later.latency;
        rest
    }

    /// Why the run ended, printed once for all threads.
    fn limit(&self, repetition: &Repetition) -> String {
        let timed = repetition.workers.iter().any(|w| w.ending == Ending::Stopped);
        let why = if timed {
            "Time limit exceeded, exiting...\n"
        } else if self.options.events > 0 && !self.old() {
            "Event limit exceeded, exiting...\n"
        } else {
            return String::new();
        };
        match self.options.threads {
            0 | 1 => why.into(),
            n => format!("{why}(last message repeated {} times)\n", n - 1),
        }
    }
}

impl LivePrinter for SysbenchPrinter {
    fn head(&mut self) -> String {
        let mut text = std::mem::take(&mut self.opening);
        if self.says(3) {
            text += &head::run(&self.options);
        }
        if self.says(5) && !self.old() {
            for i in 0..self.options.files {
                text += &format!("DEBUG: Opening file: {}\n", SysbenchOptions::file_name(i.into()));
            }
        }
        text
    }

    fn phase_started(&mut self, _phase: &fathom_workload::Phase) -> String {
        if !self.says(3) || self.old() {
            return String::new();
        }
        let mut text = String::from("Initializing worker threads...\n\n");
        if self.says(5) {
            for i in 0..self.options.threads {
                text += &format!(
                    "DEBUG: Worker thread (#{i}) started\nDEBUG: Worker thread (#{i}) initialized\n"
                );
            }
        }
        text
    }

    fn phase_done(&mut self, phase: &fathom_record::Phase) -> String {
        let Some(repetition) = phase.repetitions.last() else { return String::new() };
        if repetition.error().is_some() {
            return String::new();
        }
        // For a stored run, the intervals are printed now.
        let mut text = String::new();
        if self.intervals == 0 {
            for interval in &repetition.intervals {
                text += &self.interval(interval);
            }
        }
        let last = self.last(repetition);
        if self.says(3) { text + &last } else { String::new() }
    }

    /// Nothing: the report contains what was measured.
    fn interrupted(&mut self) -> String {
        String::new()
    }

    fn failed(&mut self, error: &OpError) -> String {
        failure::of_operation(&self.options, error)
    }

    fn end(&mut self) -> String {
        String::new()
    }
}

fn sum(mut a: Tally, b: &Tally) -> Tally {
    a.reads += b.reads;
    a.writes += b.writes;
    a.series_syncs += b.series_syncs;
    a.other_syncs += b.other_syncs;
    a.read_bytes += b.read_bytes;
    a.written_bytes += b.written_bytes;
    a
}
