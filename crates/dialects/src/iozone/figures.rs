//! Computes IOzone's figures from a phase's record. A table cell is one worker's rate as an integer; a throughput block
//! has the rates of the children and of the parent.

use super::options::RateUnit;
use fathom_record::{Repetition, Worker};

/// Shortest valid interval: the clock resolution given in the banner.
const TICK_NS: u64 = 1000;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// Value in the unit of the run.
    pub value: u64,
    /// CPU time in percent of the measured time.
    pub cpu_percent: f64,
    /// Whether the interval was shorter than the banner's resolution.
    pub too_short: bool,
}

pub(super) fn cell(repetition: &Repetition, unit: RateUnit) -> Cell {
    let elapsed_ns = repetition.workers.iter().map(|w| w.elapsed_ns).max().unwrap_or(0);
    let (bytes, ops) = (repetition.bytes(), repetition.ops());
    let ns = u128::from(elapsed_ns.max(TICK_NS));
    let per_s = |amount: u64| u64::try_from(u128::from(amount) * 1_000_000_000 / ns).unwrap_or(u64::MAX);
    let value = match unit {
        RateUnit::KbPerS => per_s(bytes) >> 10,
        RateUnit::OpsPerS => per_s(ops),
        RateUnit::UsPerOp => u64::try_from(ns / 1000 / u128::from(ops.max(1))).unwrap_or(u64::MAX),
    };
    let cpu_percent = repetition.workers.iter().map(|w| percent(cpu_s(w), wall_s(w))).sum();
    Cell { value, cpu_percent, too_short: elapsed_ns < TICK_NS }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Child {
    /// Amount moved, in kB or operations.
    pub amount: f64,
    /// Amount per second of `wall_s`.
    pub rate: f64,
    /// Measured time, s.
    pub wall_s: f64,
    /// CPU time in it, s.
    pub cpu_s: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// The children in order.
    pub children: Vec<Child>,
    /// Total amount over the parent's clock.
    pub parent_rate: f64,
}

/// The figures of a pass in throughput mode.
pub(super) fn block(repetition: &Repetition, unit: RateUnit) -> Block {
    let amount = |w: &Worker| if unit == RateUnit::OpsPerS { w.ops as f64 } else { w.bytes as f64 / 1024.0 };
    let children: Vec<Child> = repetition
        .workers
        .iter()
        .map(|w| {
            let wall_s = wall_s(w);
            Child { amount: amount(w), rate: over(amount(w), wall_s), wall_s, cpu_s: cpu_s(w) }
        })
        .collect();
    let total: f64 = children.iter().map(|c| c.amount).sum();
    Block { children, parent_rate: over(total, repetition.elapsed_ns as f64 / 1e9) }
}

impl Block {
    /// Sum of the children's own rates.
    pub fn rate(&self) -> f64 {
        self.children.iter().map(|c| c.rate).sum()
    }

    /// Minimum of a figure over the children.
    pub fn least(&self, figure: impl Fn(&Child) -> f64) -> f64 {
        let least = self.children.iter().map(figure).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }

    /// Maximum of a figure over the children.
    pub fn most(&self, figure: impl Fn(&Child) -> f64) -> f64 {
        self.children.iter().map(figure).fold(0.0, f64::max)
    }

    /// Mean of the children's rates.
    pub fn mean_rate(&self) -> f64 {
        over(self.rate(), self.children.len() as f64)
    }

    /// Wall time of the slowest child, total CPU time, and their ratio in percent.
    pub fn cpu(&self) -> (f64, f64, f64) {
        let wall = self.most(|c| c.wall_s);
        let cpu = self.children.iter().map(|c| c.cpu_s).sum();
        (wall, cpu, percent(cpu, wall))
    }
}

impl Child {
    /// CPU time in percent of the measured time.
    pub fn cpu_percent(&self) -> f64 {
        percent(self.cpu_s, self.wall_s)
    }
}

fn wall_s(w: &Worker) -> f64 {
    if w.elapsed_ns == 0 && w.ops == 0 { 0.0 } else { w.elapsed_ns.max(TICK_NS) as f64 / 1e9 }
}

/// The worker's CPU time includes untimed steps, so it is capped at the measured time.
fn cpu_s(w: &Worker) -> f64 {
    (w.cpu_user_ns.saturating_add(w.cpu_system_ns) as f64 / 1e9).min(wall_s(w))
}

fn over(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

fn percent(part: f64, whole: f64) -> f64 {
    over(part * 100.0, whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: u64, ops: u64, elapsed_ns: u64) -> Repetition {
        let worker = Worker { bytes, ops, elapsed_ns, ..Worker::default() };
        Repetition { workers: vec![worker], elapsed_ns: elapsed_ns * 2, ..Repetition::default() }
    }

    #[test]
    fn rates_are_rounded_down_before_and_after_the_shift() {
        // 1 MiB in 1327 us: 790185380.55 bytes/s.
        let r = one(1 << 20, 256, 1_327_000);
        assert_eq!(cell(&r, RateUnit::KbPerS).value, (1_048_576_000_000u64 / 1_327_000 * 1000) >> 10);
        assert_eq!(cell(&r, RateUnit::OpsPerS).value, 192_916);
        assert_eq!(cell(&r, RateUnit::UsPerOp).value, 5);
    }

    #[test]
    fn an_interval_below_a_tick_becomes_one_tick_and_is_noted() {
        let c = cell(&one(65536, 1, 400), RateUnit::KbPerS);
        assert_eq!((c.value, c.too_short), (64_000_000, true));
        assert!(!cell(&one(65536, 1, 1000), RateUnit::KbPerS).too_short);
    }

    #[test]
    fn nothing_done_is_zero_everywhere() {
        let b = block(&Repetition::default(), RateUnit::KbPerS);
        assert_eq!((b.rate(), b.mean_rate(), b.least(|c| c.rate), b.parent_rate), (0.0, 0.0, 0.0, 0.0));
        assert_eq!(cell(&Repetition::default(), RateUnit::UsPerOp).value, 1);
    }

    #[test]
    fn the_parent_divides_by_its_own_clock() {
        let b = block(&one(1 << 20, 16, 1_000_000), RateUnit::KbPerS);
        assert!((b.rate() - 1_024_000.0).abs() < 1e-6 && (b.parent_rate - 512_000.0).abs() < 1e-6);
        assert!((block(&one(1 << 20, 16, 1_000_000), RateUnit::OpsPerS).rate() - 16_000.0).abs() < 1e-6);
    }
}
