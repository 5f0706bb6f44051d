//! Intervals of a device as rows with the columns of `iostat -x` (sysstat 12): the same names, units and divisions, so that the
//! two can be compared. kB are 1024 bytes there, times are ms. Columns without figures in a record (bytes and times of
//! discards, times of flushes) are left out instead of printed as 0.

use fathom_record::block::BlockInterval;
use std::fmt::Write as _;

/// Width of a row of [`Form::Extended`].
pub const EXTENDED_COLUMNS: usize = 154;
/// Width of a row of [`Form::Short`].
pub const SHORT_COLUMNS: usize = 80;

/// The columns to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As `iostat -x`: reads and writes separately.
    Extended,
    /// As `iostat -xs`: reads, writes and discards together, for narrow terminals.
    Short,
}

impl Form {
    /// The form that fits the given width.
    #[must_use]
    pub fn fitting(width: usize) -> Self {
        if width >= EXTENDED_COLUMNS { Self::Extended } else { Self::Short }
    }

    /// The heads of the columns.
    #[must_use]
    pub fn head(self) -> &'static str {
        match self {
            Self::Extended => concat!(
                "      s Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz",
                "     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     f/s  aqu-sz  %util"
            ),
            Self::Short => "      s Device            tps      kB/s    rqm/s   await  areq-sz  aqu-sz  %util",
        }
    }
}

/// One interval of `iostat -x`: a device's sums, divided.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IostatRow {
    /// End of the interval, s after watching began.
    pub end_s: f64,
    /// Reads.
    pub read: DirectionRates,
    /// Writes.
    pub write: DirectionRates,
    /// Reads, writes and discards completed per second.
    pub transfers_per_s: f64,
    /// Mean time of reads and writes combined, ms.
    pub await_ms: f64,
    /// Discards completed per second.
    pub discards_per_s: f64,
    /// Flushes completed per second.
    pub flushes_per_s: f64,
    /// Mean queue depth ("aqu-sz").
    pub depth: f64,
    /// Share of the time with something in flight, %.
    pub busy_percent: f64,
}

/// One direction of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectionRates {
    /// Requests completed per second.
    pub per_s: f64,
    /// KiB of those per second; iostat prints kB.
    pub kb_per_s: f64,
    /// Requests merged per second.
    pub merged_per_s: f64,
    /// Merged share of all arrived requests, %.
    pub merged_percent: f64,
    /// Mean time of a request, ms.
    pub await_ms: f64,
    /// Mean size of a request, KiB.
    pub size_kb: f64,
}

impl DirectionRates {
    fn of(requests: u64, bytes: u64, merges: u64, ns: u64, seconds: f64) -> Self {
        Self {
            per_s: over(requests as f64, seconds),
            kb_per_s: over(bytes as f64 / 1024.0, seconds),
            merged_per_s: over(merges as f64, seconds),
            merged_percent: 100.0 * over(merges as f64, merges as f64 + requests as f64),
            await_ms: over(ns as f64 / 1e6, requests as f64),
            size_kb: over(bytes as f64 / 1024.0, requests as f64),
        }
    }
}

/// A quotient; 0 if the divisor is 0, as in iostat.
fn over(sum: f64, by: f64) -> f64 {
    if by > 0.0 { sum / by } else { 0.0 }
}

impl IostatRow {
    /// Divides an interval's sums.
    #[must_use]
    pub fn of(interval: &BlockInterval) -> Self {
        let i = interval;
        let seconds = i.width_ns as f64 / 1e9;
        let both = i.reads as f64 + i.writes as f64;
        Self {
            end_s: i.end_ns as f64 / 1e9,
            read: DirectionRates::of(i.reads, i.read_bytes, i.read_merges, i.read_ns, seconds),
            write: DirectionRates::of(i.writes, i.write_bytes, i.write_merges, i.write_ns, seconds),
            transfers_per_s: over(both + i.discards as f64, seconds),
            await_ms: over((i.read_ns as f64 + i.write_ns as f64) / 1e6, both),
            discards_per_s: over(i.discards as f64, seconds),
            flushes_per_s: over(i.flushes as f64, seconds),
            depth: over(i.depth_ns as f64, i.width_ns as f64),
            busy_percent: 100.0 * over(i.busy_ns as f64, i.width_ns as f64),
        }
    }

    /// The row as a line without its end.
    #[must_use]
    pub fn line(&self, device: &str, form: Form) -> String {
        let mut line = format!("{:7.2} {device:<13}", self.end_s);
        match form {
            Form::Extended => {
                for w in [self.read, self.write] {
                    let _ = write!(
                        line,
                        "{:8.2}{:10.2}{:9.2}{:7.2}{:8.2}{:9.2}",
                        w.per_s, w.kb_per_s, w.merged_per_s, w.merged_percent, w.await_ms, w.size_kb
                    );
                }
                let _ = write!(line, "{:8.2}{:8.2}", self.discards_per_s, self.flushes_per_s);
            }
            Form::Short => {
                let (kb, merged) = (
                    self.read.kb_per_s + self.write.kb_per_s,
                    self.read.merged_per_s + self.write.merged_per_s,
                );
                let size = over(kb, self.read.per_s + self.write.per_s);
                let _ = write!(
                    line,
                    "{:8.2}{kb:10.2}{merged:9.2}{:8.2}{size:9.2}",
                    self.transfers_per_s, self.await_ms
                );
            }
        }
        let _ = write!(line, "{:8.2}{:7.2}", self.depth, self.busy_percent);
        line
    }
}

/// Heads and a row for every interval with the name of its device, in the given order; empty without intervals.
#[must_use]
pub fn table<'i, S: AsRef<str>>(
    rows: impl IntoIterator<Item = (S, &'i BlockInterval)>,
    form: Form,
) -> String {
    let mut text = String::new();
    for (device, interval) in rows {
        if text.is_empty() {
            let _ = writeln!(text, "{}", form.head());
        }
        let _ = writeln!(text, "{}", IostatRow::of(interval).line(device.as_ref(), form));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The optical drive of 2007: 1515 reads of 2 KiB a second, each 0.9 ms from arrival on, busy 96 %.
    fn optical() -> BlockInterval {
        BlockInterval {
            end_ns: 1_000_000_000,
            width_ns: 1_000_000_000,
            reads: 1515,
            read_bytes: 1515 * 2048,
            read_ns: 1515 * 900_000,
            busy_ns: 960_000_000,
            depth_ns: 1_400_000_000,
            ..BlockInterval::default()
        }
    }

    #[test]
    fn a_row_of_reads() {
        assert_eq!(
            table([("c0t0d0", &optical())], Form::Extended),
            concat!(
                "      s Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz",
                "     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     f/s  aqu-sz  %util\n",
                "   1.00 c0t0d0        1515.00   3030.00     0.00   0.00    0.90     2.00",
                "    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    1.40  96.00\n",
            )
        );
    }

    #[test]
    fn a_row_of_both_in_the_short_form() {
        let interval = BlockInterval {
            width_ns: 500_000_000,
            writes: 505,
            write_bytes: 505 * 16_384,
            write_merges: 1515,
            write_ns: 505 * 3_900_000,
            discards: 10,
            flushes: 3,
            ..optical()
        };
        let text = table([("vda", &interval)], Form::Short);
        assert_eq!(
            text,
            concat!(
                "      s Device            tps      kB/s    rqm/s   await  areq-sz  aqu-sz  %util\n",
                "   1.00 vda           4060.00  22220.00  3030.00    1.65     5.50    2.80 192.00\n",
            )
        );
        let row = IostatRow::of(&interval);
        assert_eq!((row.write.merged_percent, row.flushes_per_s, row.discards_per_s), (75.0, 6.0, 20.0));
    }

    #[test]
    fn heads_stand_over_their_columns_and_widths_are_what_they_say() {
        for (form, width) in [(Form::Extended, EXTENDED_COLUMNS), (Form::Short, SHORT_COLUMNS)] {
            let line = IostatRow::of(&optical()).line("vda", form);
            assert_eq!((form.head().len(), line.len()), (width, width), "{form:?}");
            // Figures are right-aligned: each ends where its head does.
            for (at, _) in form.head().match_indices(|c: char| c != ' ') {
                let ends = form.head()[at + 1..].chars().next().is_none_or(|c| c == ' ');
                if at > 20 && ends {
                    assert!(line.as_bytes()[at].is_ascii_digit(), "{form:?}, column {at}: {line}");
                    assert!(line.as_bytes().get(at + 1).is_none_or(|b| *b == b' '), "{form:?}, column {at}");
                }
            }
        }
        assert_eq!((Form::fitting(80), Form::fitting(154)), (Form::Short, Form::Extended));
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let text = table([("vda", &BlockInterval::default())], Form::Extended);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert_eq!(table(std::iter::empty::<(&str, &BlockInterval)>(), Form::Short), "");
        let most = BlockInterval {
            reads: u64::MAX,
            writes: u64::MAX,
            read_ns: u64::MAX,
            write_ns: u64::MAX,
            discards: u64::MAX,
            ..BlockInterval::default()
        };
        assert_eq!(table([("vda", &most)], Form::Short).lines().count(), 2);
    }
}
