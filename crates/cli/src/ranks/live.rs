//! The live line: what all ranks together have done so far in the running phase. Every rank sends its counts to rank 0 once a
//! second; rank 0 prints one line.

use super::count::Count;
use super::hosts::Hosts;
use crate::console;
use fathom_report::units;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Interval between counts, and between printed lines.
const EVERY: Duration = Duration::from_secs(1);

/// Whether this process's standard error is a terminal, where a line can be overwritten.
pub(super) fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// The live line of a run, on every rank.
pub(super) struct RanksLive {
    wanted: bool,
    phase: String,
    began: Option<Instant>,
    asked: Option<Instant>,
    /// The line to overwrite on a terminal. Elsewhere, as in a launcher's pipe, each count is a new line.
    line: Option<ProgressBar>,
}

impl RanksLive {
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
    let mut text =
        format!("{phase}: {}, {} of {} ranks", console::duration(time), heard().count(), counts.len());
    if bytes > 0 {
        text += &format!(", {}, {}", units::bytes(bytes), units::rate(bytes as f64 / seconds));
    }
    text += &format!(", {:.0} operations/s", ops as f64 / seconds);
    // The ranks not heard from yet may have done less.
    let all_heard = counts.len() > 1 && counts.iter().all(Option::is_some);
    let least = heard().min_by_key(|(_, c)| (c.bytes, c.ops)).filter(|_| all_heard);
    if let Some((rank, least)) = least {
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
        let line = text("write", Duration::from_secs(4), &[count(8), None, count(2)], &hosts);
        assert!(line.starts_with("write: 4.0 s, 2 of 3 ranks, 10 MiB, 2.50 MiB/s, 2 operations/s"), "{line}");
        assert!(!line.contains("least"), "{line}");
        let line = text("write", Duration::from_secs(4), &[count(8), count(3), count(2)], &hosts);
        assert!(line.ends_with("; least by rank 2 on b (2 MiB)"), "{line}");
    }
}
