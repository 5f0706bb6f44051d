//! A minimum rate that a worker must reach, and a latency that no operation may exceed. A worker that violates either ends with
//! an error. Checked when operations end, and only for streams with such a limit.

use super::Hot;
use crate::clock::Clock;
use crate::fault::{FailedCall, Fault};
use crate::kind_stats::KindStats;
use fathom_record::OpKind;
use fathom_workload::ops::{Op, OpCode};
use fathom_workload::{Least, Longest, Stream};

/// The limits of one worker.
pub(crate) struct Limits {
    least: Option<Least>,
    longest: Longest,
    /// Tick at which the window of the minimum rate began; 0 during its grace period.
    begun: u64,
    /// Counts at the beginning of the window.
    before: IoTotals,
    /// The first operation that took too long.
    late: Option<Fault>,
}

/// Reads, writes, bytes read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct IoTotals {
    reads: u64,
    writes: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl IoTotals {
    fn of(stats: &KindStats) -> Self {
        Self {
            reads: stats[OpKind::Read].ops(),
            writes: stats[OpKind::Write].ops(),
            read_bytes: stats[OpKind::Read].bytes(),
            written_bytes: stats[OpKind::Write].bytes(),
        }
    }
}

impl Limits {
    /// The limits of a stream, if it has any.
    pub fn of(stream: &Stream) -> Option<Self> {
        let (least, longest) = (stream.pace.least, stream.pace.longest.unwrap_or_default());
        (least.is_some() || longest != Longest::default()).then(|| Self {
            least,
            longest,
            begun: 0,
            before: IoTotals::default(),
            late: None,
        })
    }

    /// Checks the latency of a counted operation.
    fn note(&mut self, op: &Op, ns: u64) {
        let most = match op.kind {
            OpCode::Read => self.longest.read.0,
            OpCode::Write => self.longest.write.0,
            OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => 0,
        };
        if most > 0 && ns > most && self.late.is_none() {
            let fault = Fault {
                call: FailedCall::Latency,
                errno: libc::ETIMEDOUT,
                offset: op.offset,
                expected: most,
                found: ns,
                file: op.file,
            };
            self.late = Some(fault);
        }
    }

    /// Whether all limits are met at the tick `now`, when counting began at `start`.
    fn look(&mut self, clock: Clock, done: IoTotals, start: u64, now: u64) -> Result<(), Fault> {
        if let Some(late) = self.late.take() {
            return Err(late);
        }
        let Some(least) = self.least else { return Ok(()) };
        if self.begun == 0 {
            if least.grace.0 == 0 {
                self.begun = start;
            } else {
                if clock.between(start, now) >= least.grace.0 {
                    (self.begun, self.before) = (now, done);
                }
                return Ok(());
            }
        }
        let passed_ns = clock.between(self.begun, now);
        if passed_ns < least.window.0 {
            return Ok(());
        }
        missed(&least, self.before, done, passed_ns)?;
        (self.begun, self.before) = (now, done);
        Ok(())
    }
}

/// Fails with the first rate of a window that was below its minimum.
fn missed(least: &Least, before: IoTotals, now: IoTotals, passed_ns: u64) -> Result<(), Fault> {
    let per_s = |gained: u64| (gained as f64 * 1e9 / passed_ns.max(1) as f64) as u64;
    let asked = [
        (FailedCall::LeastBytes, least.read_bytes_per_s, now.read_bytes.saturating_sub(before.read_bytes)),
        (
            FailedCall::LeastBytes,
            least.write_bytes_per_s,
            now.written_bytes.saturating_sub(before.written_bytes),
        ),
        (FailedCall::LeastOperations, least.reads_per_s, now.reads.saturating_sub(before.reads)),
        (FailedCall::LeastOperations, least.writes_per_s, now.writes.saturating_sub(before.writes)),
    ];
    for (call, expected, gained) in asked {
        let found = per_s(gained);
        if found < expected {
            return Err(Fault { call, errno: libc::EIO, offset: 0, expected, found, file: 0 });
        }
    }
    Ok(())
}

/// Checks the latency of a counted operation, ns.
pub(super) fn note(hot: &mut Hot, op: &Op, ns: u64) {
    if let Some(limits) = hot.rare.as_mut().and_then(|rare| rare.limits.as_mut()) {
        limits.note(op, ns);
    }
}

/// Whether a worker meets its limits at the tick `now`.
pub(super) fn look(hot: &mut Hot, now: u64) -> Result<(), Fault> {
    if let Some(limits) = hot.rare.as_mut().and_then(|rare| rare.limits.as_mut()) {
        limits.look(hot.clock, IoTotals::of(hot.stats), hot.start, now)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::Duration;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_first_rate_below_the_minimum_is_reported_with_both_numbers() {
        let least = Least { reads_per_s: 10, write_bytes_per_s: 4096, ..Least::default() };
        let done = |reads, written_bytes| IoTotals { reads, written_bytes, ..IoTotals::default() };
        assert!(missed(&least, done(5, 0), done(25, 8192), 2 * SECOND).is_ok());
        let fault = missed(&least, done(5, 0), done(24, 8192), 2 * SECOND).unwrap_err();
        assert_eq!((fault.call, fault.expected, fault.found), (FailedCall::LeastOperations, 10, 9));
        assert_eq!(fault.errno, libc::EIO);
        let fault = missed(&least, done(0, 0), done(100, 4096), 2 * SECOND).unwrap_err();
        assert_eq!((fault.call, fault.expected, fault.found), (FailedCall::LeastBytes, 4096, 2048));
    }

    #[test]
    fn the_first_operation_above_the_latency_limit_is_reported() {
        let mut stream = Stream::new("f", fathom_workload::Direction::Read, fathom_workload::Bytes(4096));
        assert!(Limits::of(&stream).is_none());
        stream.pace.longest = Some(Longest { read: Duration(1000), write: Duration(0) });
        let mut limits = Limits::of(&stream).unwrap();
        let op = |kind, offset| Op { kind, file: 3, offset, bytes: 4096, think_ns: 0 };
        limits.note(&op(OpCode::Read, 0), 1000);
        limits.note(&op(OpCode::Write, 4096), 5000);
        assert_eq!(limits.late, None);
        limits.note(&op(OpCode::Read, 8192), 1001);
        limits.note(&op(OpCode::Read, 12288), 9999);
        let fault = limits.late.unwrap();
        assert_eq!(
            (fault.call, fault.offset, fault.expected, fault.found),
            (FailedCall::Latency, 8192, 1000, 1001)
        );
        assert_eq!((fault.errno, fault.file), (libc::ETIMEDOUT, 3));
    }
}
