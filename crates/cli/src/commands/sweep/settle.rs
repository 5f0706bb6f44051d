//! Between two runs: writes back all dirty data and waits until the device is idle, so that leftovers of one run are
//! not measured in the next. The run loop makes files cold.

use fathom_engine::interrupted_by;
use fathom_observe::device::DeviceStack;
use fathom_observe::files::{KernelFiles as _, Live};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than any device needs for the requests it has accepted. If it is still busy then, something else uses it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits until the device is idle. Returns a sentence if it did not become idle.
pub fn settle(stack: &DeviceStack, pause: Duration) -> Option<String> {
    // SAFETY: sync(2) has no arguments and always succeeds.
    unsafe { libc::sync() };
    let busy = wait_until_idle(|| in_flight(stack), PATIENCE);
    let end = Instant::now() + pause;
    while interrupted_by().is_none() && Instant::now() < end {
        std::thread::sleep((end - Instant::now()).min(LOOK_EVERY));
    }
    busy.map(|n| {
        format!(
            "the device still had {n} requests in flight {} s after our last one: something else uses it",
            PATIENCE.as_secs()
        )
    })
}

/// Requests in flight on the devices.
fn in_flight(stack: &DeviceStack) -> u64 {
    let of = |sys: &Path| -> u64 {
        let text = Live.trimmed(&sys.join("inflight")).unwrap_or_default();
        text.split_whitespace().filter_map(|n| n.parse::<u64>().ok()).sum()
    };
    stack.devices.iter().map(|d| of(&d.sys)).sum()
}

/// Requires two idle readings in a row, since a device is also idle between the requests of a burst. Returns what was
/// still in flight.
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
