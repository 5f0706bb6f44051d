//! Between two runs: everything dirty is written back, and the device has nothing to do. What the run before left behind must not be
//! measured as part of the next one. Making files cold is the run loop's.

use fathom_engine::interrupted_by;
use fathom_observe::device::DeviceStack;
use fathom_observe::files::{KernelFiles as _, Live};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than any device needs for what it has accepted; then something else keeps it busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is asked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits for rest. The answer is a sentence if the device did not come to rest.
pub fn settle(stack: &DeviceStack, pause: Duration) -> Option<String> {
    // SAFETY: sync takes nothing and gives nothing.
    unsafe { libc::sync() };
    let busy = wait_until_idle(|| in_flight(stack), PATIENCE);
    let end = Instant::now() + pause;
    while interrupted_by().is_none() && Instant::now() < end {
        std::thread::sleep((end - Instant::now()).min(LOOK_EVERY));
    }
    busy.map(|n| {
        format!(
            "the device still had {n} requests in flight after {} s without work of ours: something else uses it",
            PATIENCE.as_secs()
        )
    })
}

/// Requests that the devices have and have not answered.
fn in_flight(stack: &DeviceStack) -> u64 {
    let of = |sys: &Path| -> u64 {
        let text = Live.trimmed(&sys.join("inflight")).unwrap_or_default();
        text.split_whitespace().filter_map(|n| n.parse::<u64>().ok()).sum()
    };
    stack.devices.iter().map(|d| of(&d.sys)).sum()
}

/// Idle is what is idle twice in a row: between two requests of a burst a device is idle, too. The answer is what was left.
fn wait_until_idle(mut look: impl FnMut() -> u64, patience: Duration) -> Option<u64> {
    let began = Instant::now();
    let mut idle = 0;
    loop {
        let left = look();
        idle = if left == 0 { idle + 1 } else { 0 };
        if idle == 2 || interrupted_by().is_some() {
            return None;
        }
        if began.elapsed() > patience {
            return Some(left).filter(|n| *n > 0);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_idle_is_not_enough() {
        let mut answers = [3, 0, 2, 0, 0, 9].into_iter();
        assert_eq!(wait_until_idle(|| answers.next().expect("an answer"), PATIENCE), None);
        assert_eq!(answers.next(), Some(9), "it stopped at the second 0 in a row");
    }

    #[test]
    fn who_never_rests_is_told() {
        assert_eq!(wait_until_idle(|| 7, Duration::ZERO), Some(7));
    }
}
