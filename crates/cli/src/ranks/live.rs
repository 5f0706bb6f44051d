//! The live line: what all ranks together have done so far in the running phase. Every rank sends its counts to rank 0 once a
//! second; rank 0 prints one line.

use super::hosts::Hosts;
use crate::console;
use fathom_record::Phase;
use fathom_report::units;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Time between two counts, and between two lines.
const EVERY: Duration = Duration::from_secs(1);

/// What a rank has counted so far in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub ops: u64,
    pub bytes: u64,
}

impl Count {
    pub fn of(phase: &Phase) -> Self {
        let last = phase.repetitions.last();
        Self { ops: last.map_or(0, |r| r.ops()), bytes: last.map_or(0, |r| r.bytes()) }
    }

    pub fn written(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let (ops, rest) = bytes.split_at_mut(8);
        ops.copy_from_slice(&self.ops.to_le_bytes());
        rest.copy_from_slice(&self.bytes.to_le_bytes());
        bytes
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        Some(Self { ops: word(0)?, bytes: word(8)? })
    }
}

/// Whether standard error of this process shows a line that is written over.
pub(super) fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// The live line of a run, on every rank.
pub(super) struct Live {
    wanted: bool,
    phase: String,
    began: Option<Instant>,
    asked: Option<Instant>,
    /// On a terminal one line is written over; elsewhere (a launcher's pipe) lines follow each other.
    line: Option<ProgressBar>,
}

impl Live {
    pub fn new(wanted: bool) -> Self {
        Self { wanted, phase: String::new(), began: None, asked: None, line: None }
    }

    /// A phase is prepared next.
    pub fn begin(&mut self, phase: &str) {
        phase.clone_into(&mut self.phase);
    }

    /// Its workers start.
    pub fn start(&mut self) {
        (self.began, self.asked) = (Some(Instant::now()), None);
    }

    /// Whether this rank should count now.
    pub fn is_due(&mut self) -> bool {
        let since = self.asked.or(self.began);
        let due = self.wanted && since.is_some_and(|at| at.elapsed() >= EVERY);
        if due {
            self.asked = Some(Instant::now());
        }
        due
    }

    /// Rank 0 shows the counts of all ranks.
    pub fn show(&mut self, counts: &[Option<Count>], hosts: &Hosts) {
        let Some(began) = self.began else { return };
        let text = text(&self.phase, began.elapsed(), counts, hosts);
        if on_terminal() {
            let line = self.line.get_or_insert_with(console::spinner);
            console::tell(line, &text);
            line.tick();
        } else {
            console::live(&text);
        }
    }

    pub fn end(&mut self) {
        self.began = None;
        if let Some(line) = self.line.take() {
            line.finish_and_clear();
        }
    }
}

/// "write: 12 s, 4 of 4 ranks, 1.5 GiB, 120 MiB/s, 30000 operations/s; least by rank 3 on hostb (2.0 MiB)".
fn text(phase: &str, time: Duration, counts: &[Option<Count>], hosts: &Hosts) -> String {
    let heard = || (0u32..).zip(counts).filter_map(|(rank, count)| Some((rank, (*count)?)));
    let sum = |of: fn(Count) -> u64| heard().fold(0u64, |sum, (_, count)| sum.saturating_add(of(count)));
    let (ops, bytes) = (sum(|c| c.ops), sum(|c| c.bytes));
    let seconds = time.as_secs_f64().max(0.001);
    let mut text = format!("{phase}: {time:.0?}, {} of {} ranks", heard().count(), counts.len());
    if bytes > 0 {
        text += &format!(", {}, {}", units::bytes(bytes), units::rate(bytes as f64 / seconds));
    }
    text += &format!(", {}", units::ops_rate(ops as f64 / seconds));
    if let (Some((rank, least)), true) = (heard().min_by_key(|(_, c)| (c.bytes, c.ops)), counts.len() > 1) {
        let least = if bytes > 0 { units::bytes(least.bytes) } else { format!("{} operations", least.ops) };
        text += &format!("; least by rank {rank} on {} ({least})", hosts.host(rank));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_sums_up_the_ranks_and_names_the_one_behind() {
        let who = |(rank, host): (u32, &str)| super::super::hosts::Who {
            rank,
            host: host.into(),
            ..super::super::hosts::Who::default()
        };
        let hosts = Hosts([(0, "a"), (1, "a"), (2, "b")].into_iter().map(who).collect());
        let count = |mib: u64| Some(Count { ops: mib, bytes: mib << 20 });
        let told = text("write", Duration::from_secs(4), &[count(8), None, count(2)], &hosts);
        assert!(told.starts_with("write: 4s, 2 of 3 ranks, 10.0 MiB, 2.5 MiB/s"), "{told}");
        assert!(told.ends_with("; least by rank 2 on b (2.0 MiB)"), "{told}");
        let count = Count { ops: 3, bytes: u64::MAX };
        assert_eq!(Count::read(&count.written()), Some(count));
        assert_eq!(Count::read(&[1]), None);
    }
}
