//! Operations in a ratio to those of other workers: the shared progress words, and how a worker waits for its turn.

use super::Hot;
use super::rare::{Waited, is_over};
use crate::punctual::NAP_NS;
use crate::shared::Shared;
use crate::stream_plan::StreamPlan;
use fathom_workload::WhenStopped;
use fathom_workload::drive::RatioTurn;

/// The turn of a worker whose stream has a ratio. Called before the worker is ready: one that begins later counts as away until
/// then.
pub(crate) fn turn<'a>(plan: &StreamPlan<'_>, shared: &'a Shared) -> Option<RatioTurn<'a>> {
    let ratio = plan.stream.pace.ratio?;
    let word = |worker: usize| &shared.live(worker).progress;
    let others = plan.peers.iter().filter(|w| **w != plan.index).map(|w| word(*w)).collect();
    let turn = RatioTurn::new(word(plan.index), others, ratio.weight);
    if plan.delayed {
        turn.delay();
    }
    Some(turn)
}

/// Lets the other workers catch up. `tries`: number of unsuccessful checks so far.
pub(super) fn rest(hot: &Hot, tries: u32) {
    const SPIN: u32 = 64;
    const YIELD: u32 = 256;
    const SHORT_NS: u64 = 20_000;
    let sleep_ns = hot.rare.as_ref().map_or(0, |rare| rare.ratio_sleep_ns);
    match tries {
        _ if sleep_ns > 0 => std::thread::sleep(std::time::Duration::from_nanos(sleep_ns.min(NAP_NS))),
        0..SPIN => std::hint::spin_loop(),
        SPIN..YIELD => rustix::thread::sched_yield(),
        _ => std::thread::sleep(std::time::Duration::from_nanos(SHORT_NS)),
    }
}

/// Waits until it is the worker's turn.
#[inline(never)]
pub(super) fn wait(hot: &Hot, when_stopped: WhenStopped) -> Waited {
    let Some(turn) = hot.rare.as_ref().and_then(|rare| rare.turn.as_ref()) else { return Waited::Enough };
    let mut tries = 0;
    while !turn.may_go() {
        if is_over(hot, hot.clock.now(), when_stopped) {
            return Waited::Cut;
        }
        rest(hot, tries);
        tries = tries.saturating_add(1);
    }
    Waited::Enough
}
