//! Stretches without progress: calls were in flight, but none began or returned, and no request was in the device.

use super::calls::Call;
use super::keep::Kept;

/// A shorter stretch may be a long copy, or other work in the kernel.
const LEAST_NS: u64 = 50_000_000;

/// Stretches of at least 50 ms without progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Still {
    /// Number of stretches.
    pub times: u64,
    /// Total length, ns.
    pub total_ns: u64,
    /// The longest, ns.
    pub longest_ns: u64,
    /// Time that calls lost in them: the sum of each stretch's length times the number of calls in flight, ns.
    pub in_calls_ns: u64,
}

/// A request without a known completion is assumed to stay in flight.
pub(super) fn still(calls: &[Call], requests: &[Kept]) -> Still {
    // Time, change in the number of calls, change in the number of requests.
    let mut steps: Vec<(u64, i64, i64)> = Vec::with_capacity(2 * (calls.len() + requests.len()));
    for call in calls {
        steps.extend([(call.start_ns, 1, 0), (call.end_ns(), -1, 0)]);
    }
    for request in requests {
        let end = if request.completed_ns == 0 { u64::MAX } else { request.completed_ns };
        steps.extend([(request.issued_ns, 0, 1), (end, 0, -1)]);
    }
    steps.sort_unstable();
    let (mut in_calls, mut in_device, mut before) = (0_i64, 0_i64, 0_u64);
    let mut still = Still::default();
    for (at, calls, requests) in steps {
        let length = at - before;
        if in_calls > 0 && in_device == 0 && length >= LEAST_NS {
            still.times += 1;
            still.total_ns += length;
            still.longest_ns = still.longest_ns.max(length);
            still.in_calls_ns = still.in_calls_ns.saturating_add(length.saturating_mul(in_calls as u64));
        }
        (in_calls, in_device, before) = (in_calls + calls, in_device + requests, at);
    }
    still
}

#[cfg(test)]
mod tests {
    use super::super::tests::{call, kept};
    use super::*;
    use fathom_record::OpKind;

    const MS: u64 = 1_000_000;

    #[test]
    fn only_calls_above_an_idle_device_count() {
        // A call of 200 ms whose request took the last 5 of it, and one of 100 ms with its request in the device all the time.
        let calls = [
            call(OpKind::Write, 10 * MS, 200 * MS, 0, 4096),
            call(OpKind::Write, 500 * MS, 100 * MS, 4096, 4096),
        ];
        let requests = [kept(205 * MS, 5 * MS, 0, 8, "W"), kept(500 * MS, 100 * MS, 8, 8, "W")];
        let expected = Still { times: 1, total_ns: 195 * MS, longest_ns: 195 * MS, in_calls_ns: 195 * MS };
        assert_eq!(still(&calls, &requests), expected);
        // A second call returns in the middle: two stretches, the first with two calls.
        let both = [calls[0], call(OpKind::Write, 12 * MS, 98 * MS, 8192, 4096)];
        let expected =
            Still { times: 2, total_ns: 193 * MS, longest_ns: 98 * MS, in_calls_ns: (98 * 2 + 95) * MS };
        assert_eq!(still(&both, &requests), expected);
        let unseen = kept(11 * MS, 0, 0, 8, "W");
        let unseen = Kept { completed_ns: 0, ..unseen };
        assert_eq!(still(&calls, &[unseen]), Still::default(), "whether it was done is not known");
        assert_eq!(still(&[], &requests), Still::default());
    }
}
