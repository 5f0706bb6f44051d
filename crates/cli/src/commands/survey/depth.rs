//! The queue depth curve: random direct reads at doubling depths, until more bring nothing; then two more depths around
//! the knee.

use super::plan::{BLOCK, Step, SurveyPlan, SurveyStage, sets};
use fathom_record::Run;
use fathom_workload::{Access, Amount, Direction, Duration, Stream};

const STAGE: SurveyStage =
    SurveyStage("depth", "Random reads of 4 KiB past the cache by one thread, with increasing queue depth.");
/// A rate limit with time slices lets unused budget pass at once; this long a warm-up uses it up.
const WARM_UP: Duration = Duration(100_000_000);
/// Maximum depth.
const DEEPEST: u32 = 128;
/// A depth this much better than the best so far is worth another doubling.
const GAIN: f64 = 1.05;
/// Depths up to this are always tried: on a busy machine the first doublings may bring nothing by chance.
const AT_LEAST: u32 = 16;
/// Fewer are enough if the last three rates lie within this factor: that is not chance.
const LEVEL: f64 = 1.1;
/// The knee is the first depth with this share of the best rate.
pub const KNEE: f64 = 0.9;

#[derive(Default)]
pub struct Search {
    /// Depth and index of its phase.
    asked: Vec<(u32, usize)>,
    around: Option<Vec<u32>>,
}

impl Search {
    /// The next phase; `None` when the knee is known.
    pub fn next(&mut self, plan: &mut SurveyPlan<'_>, run: &Run) -> Option<usize> {
        let backend = plan.several_in_flight().filter(|_| plan.place.direct)?;
        let depth = self.depth(&self.measured(run))?;
        let stream = Stream {
            access: Access::Permuted,
            amount: Amount::Endless,
            open: plan.open_direct(),
            backend,
            queue_depth: depth,
            ..Stream::new(sets::READ, Direction::Read, BLOCK)
        };
        let before = plan.prepare(sets::READ);
        let whole = plan.place.read_bytes();
        let (time, operations) = plan.effort.depth();
        let step = Step::new(STAGE, "deep direct reads", stream, time).sizes(whole, BLOCK.0);
        let number = plan.push(step.before(before));
        if let Some(phase) = plan.workload.phases.last_mut() {
            phase.ramp = WARM_UP;
            phase.stop.operations = Some(operations);
        }
        self.asked.push((depth, number));
        Some(number)
    }

    fn measured(&self, run: &Run) -> Vec<(u32, f64)> {
        let rate = |number: usize| run.phases.iter().find(|p| p.seq as usize == number)?.ops_per_s();
        self.asked.iter().map(|&(depth, number)| (depth, rate(number).unwrap_or(0.0))).collect()
    }

    fn depth(&mut self, measured: &[(u32, f64)]) -> Option<u32> {
        if self.around.is_none() {
            let Some(&(last, rate)) = measured.last() else { return Some(1) };
            let before = |n: usize| measured.iter().rev().skip(n).map(|m| m.1).fold(0.0, f64::max);
            // Two doublings without gain, or nothing can be measured.
            let flat = measured.len() > 2 && rate < before(1) * GAIN && before(1) < before(2) * GAIN;
            let latest = || measured.iter().rev().take(3).map(|m| m.1);
            let level = latest().fold(0.0, f64::max) <= latest().fold(f64::INFINITY, f64::min) * LEVEL;
            let ended = flat && (level || last >= AT_LEAST);
            if rate > 0.0 && !ended && last < DEEPEST {
                return Some(last * 2);
            }
            self.around = Some(around(measured));
        }
        self.around.as_mut()?.pop()
    }
}

/// Depths beside the knee that doubling skips.
fn around(measured: &[(u32, f64)]) -> Vec<u32> {
    let best = measured.iter().map(|m| m.1).fold(0.0, f64::max);
    let Some(knee) = measured.iter().find(|m| m.1 >= best * KNEE).map(|m| m.0) else { return Vec::new() };
    let beside = [knee * 3 / 4, knee * 3 / 2];
    beside.into_iter().filter(|d| *d > 1 && *d <= DEEPEST && measured.iter().all(|m| m.0 != *d)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The depths tried on a device with this rate per depth.
    fn tried(device: impl Fn(u32) -> f64) -> Vec<u32> {
        let mut search = Search::default();
        let mut measured = Vec::new();
        while let Some(depth) = search.depth(&measured) {
            measured.push((depth, device(depth)));
            assert!(measured.len() < 20, "{measured:?}");
        }
        measured.into_iter().map(|m| m.0).collect()
    }

    #[test]
    fn it_ends_when_more_bring_nothing() {
        assert_eq!(tried(|_| 400.0), [1, 2, 4]);
        assert_eq!(tried(|d| 1000.0 * f64::from(d.min(8))), [1, 2, 4, 8, 16, 32, 12, 6]);
        assert_eq!(tried(f64::from).len(), 9, "1 to 128, and 96 below the knee; 192 is too deep");
        assert_eq!(tried(|_| 0.0), [1], "what cannot be done is not tried deeper");
        // Disturbed at first.
        let disturbed = |d: u32| [5000.0, 2000.0, 4000.0].get(d as usize / 2).copied().unwrap_or(20_000.0);
        assert!(tried(disturbed).contains(&16));
        assert!(tried(|d| if d < 3 { 5000.0 } else { 4000.0 }).contains(&16), "a loss is no level");
    }
}
