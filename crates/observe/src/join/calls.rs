//! Joins the calls and requests of one phase by file, offset and time.

use super::keep::Kept;
use super::layout::Layout;
use super::spans::{Span, bytes, common, union};
use super::still::{Still, still};
use super::syncs::{self, SyncWaits};
use fathom_record::OpKind;
use fathom_record::block::RequestFlags;
use std::collections::{BTreeMap, HashMap};

/// A system call of one of our workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Start time, ns of CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// Duration in ns.
    pub latency_ns: u64,
    /// Read, write or sync.
    pub op: OpKind,
    /// Index of the file in the layout.
    pub file: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes requested.
    pub bytes: u64,
    /// Index of its worker.
    pub worker: u32,
}

impl Call {
    /// End time, ns of CLOCK_MONOTONIC.
    #[must_use]
    pub fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.latency_ns)
    }
}

/// The requests caused by the calls of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerCall {
    /// Number of calls.
    pub calls: u64,
    /// Bytes requested by the calls.
    pub bytes: u64,
    /// Histogram of the number of requests issued for a call's own bytes while it lasted: requests -> calls.
    pub requests: BTreeMap<u32, u64>,
    /// Histogram of the sizes of those requests: bytes -> requests.
    pub sizes: BTreeMap<u64, u64>,
}

impl PerCall {
    /// Median number of requests per call.
    #[must_use]
    pub fn median_requests(&self) -> Option<u32> {
        let mut left = self.calls.div_ceil(2);
        for (&requests, &calls) in &self.requests {
            if calls >= left && left > 0 {
                return Some(requests);
            }
            left -= calls.min(left);
        }
        None
    }

    /// The most frequent request size, and its share of the requests.
    #[must_use]
    pub fn usual_size(&self) -> Option<(u64, f64)> {
        let all: u64 = self.sizes.values().sum();
        let (&size, &count) = self.sizes.iter().max_by_key(|s| s.1)?;
        Some((size, count as f64 / all as f64))
    }

    /// Total number of requests.
    #[must_use]
    pub fn all_requests(&self) -> u64 {
        self.sizes.values().sum()
    }

    /// Number of calls with at least one request for their own bytes.
    #[must_use]
    pub fn calls_with_requests(&self) -> u64 {
        self.requests.iter().filter(|r| *r.0 > 0).map(|r| r.1).sum()
    }
}

/// Result of joining calls and requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joined {
    /// Reads and their requests.
    pub reads: PerCall,
    /// Writes and the requests issued during the calls (O_DIRECT and O_SYNC; other data is written later).
    pub writes: PerCall,
    /// Distinct bytes of our files that calls requested to read.
    pub asked_bytes: u64,
    /// Bytes of our files read from the device, repeated reads included.
    pub fetched_bytes: u64,
    /// Distinct bytes of our files read from the device.
    pub fetched_distinct_bytes: u64,
    /// Distinct bytes of our files read from the device that no call requested.
    pub never_asked_bytes: u64,
    /// Requests that read our files and were marked as read-ahead.
    pub ahead_requests: u64,
    /// Read requests and their bytes outside our files: the file system's metadata and other programs' files.
    pub reads_elsewhere: (u64, u64),
    /// Write requests and their bytes outside our files.
    pub writes_elsewhere: (u64, u64),
    /// Bytes of our files written to the device, repeated writes included.
    pub stored_bytes: u64,
    /// The writes and flushes that syncs waited for.
    pub syncs: SyncWaits,
    /// The slowest hundredth of the reads and concurrent device activity; see [`Slow`].
    pub slow_reads: Slow,
    /// Stretches with calls in flight and no progress.
    pub still: Still,
}

/// The slowest hundredth of the calls: how many, and during which share of them the device was flushing or writing for others, compared
/// with all calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slow {
    /// Number of calls in the slowest hundredth.
    pub calls: u64,
    /// Latency of the fastest of them, ns.
    pub from_ns: u64,
    /// Shares of calls during which a flush was in flight: of the slow calls, and of all calls.
    pub flushing: (f64, f64),
    /// Shares of calls during which a write was in flight: of the slow calls, and of all calls.
    pub writing: (f64, f64),
}

/// Joins calls (in any order) and requests (in order of issue).
#[must_use]
pub fn join(calls: &[Call], requests: &[Kept], layout: &Layout) -> Joined {
    let placed = MappedRequests::of(requests, layout);
    let of = |op| calls.iter().filter(move |c| c.op == op);
    let mut joined = placed.totals;
    joined.reads = per_call(of(OpKind::Read), &placed.reads);
    joined.writes = per_call(of(OpKind::Write), &placed.writes);
    joined.syncs = syncs::waits(of(OpKind::Sync), requests, layout);
    joined.slow_reads = slow(calls, requests);
    joined.still = still(calls, requests);
    let mut asked: HashMap<u32, Vec<Span>> = HashMap::new();
    for call in of(OpKind::Read) {
        asked.entry(call.file).or_default().push((call.offset, call.offset.saturating_add(call.bytes)));
    }
    let asked: HashMap<u32, Vec<Span>> = asked.into_iter().map(|(f, s)| (f, union(s))).collect();
    joined.asked_bytes = asked.values().map(|s| bytes(s)).sum();
    let mut fetched: HashMap<u32, Vec<Span>> = HashMap::new();
    for part in &placed.reads {
        fetched.entry(part.file).or_default().push(part.span);
    }
    for (file, spans) in fetched {
        let spans = union(spans);
        let wanted = asked.get(&file).map_or(0, |a| common(a, &spans));
        joined.fetched_distinct_bytes += bytes(&spans);
        joined.never_asked_bytes += bytes(&spans) - wanted;
    }
    joined
}

/// The part of a request that lies in one of our files.
struct RequestPart {
    issued_ns: u64,
    /// Index of the request.
    request: u32,
    request_bytes: u64,
    file: u32,
    span: Span,
}

/// Requests mapped to our files.
struct MappedRequests {
    reads: Vec<RequestPart>,
    writes: Vec<RequestPart>,
    totals: Joined,
}

impl MappedRequests {
    fn of(requests: &[Kept], layout: &Layout) -> Self {
        let mut placed = Self { reads: Vec::new(), writes: Vec::new(), totals: Joined::default() };
        for (request, number) in requests.iter().zip(0u32..) {
            let reads = request.flags.has(RequestFlags::READ);
            if !reads && !request.flags.has(RequestFlags::WRITE) || request.sectors == 0 {
                continue;
            }
            let mut ours = 0;
            let parts = if reads { &mut placed.reads } else { &mut placed.writes };
            for (file, offset, length) in layout.within(request.sector, request.sectors.into()) {
                ours += length;
                parts.push(RequestPart {
                    issued_ns: request.issued_ns,
                    request: number,
                    request_bytes: request.bytes(),
                    file,
                    span: (offset, offset + length),
                });
            }
            let t = &mut placed.totals;
            let elsewhere = if reads { &mut t.reads_elsewhere } else { &mut t.writes_elsewhere };
            if ours == 0 {
                elsewhere.0 += 1;
            }
            elsewhere.1 += request.bytes().saturating_sub(ours);
            if reads {
                t.fetched_bytes += ours;
                t.ahead_requests += u64::from(ours > 0 && request.flags.has(RequestFlags::AHEAD));
            } else {
                t.stored_bytes += ours;
            }
        }
        placed
    }
}

/// Requests issued for each call's own bytes while it lasted.
fn per_call<'a>(calls: impl Iterator<Item = &'a Call>, parts: &[RequestPart]) -> PerCall {
    let mut per = PerCall::default();
    let mut seen: Vec<u32> = Vec::new();
    for call in calls {
        per.calls += 1;
        per.bytes += call.bytes;
        let (first, last) = (call.offset, call.offset.saturating_add(call.bytes));
        let from = parts.partition_point(|p| p.issued_ns < call.start_ns);
        let during = parts[from..].iter().take_while(|p| p.issued_ns <= call.end_ns());
        seen.clear();
        for part in during.filter(|p| p.file == call.file && p.span.0 < last && first < p.span.1) {
            // In a fragmented file, a request counts once even if it covers several fragments of the call.
            if seen.last() != Some(&part.request) {
                seen.push(part.request);
                *per.sizes.entry(part.request_bytes).or_default() += 1;
            }
        }
        *per.requests.entry(seen.len() as u32).or_default() += 1;
    }
    per
}

/// With fewer calls the slowest hundredth is too small.
const FEW_CALLS: usize = 1000;

fn slow(calls: &[Call], requests: &[Kept]) -> Slow {
    let reads: Vec<&Call> = calls.iter().filter(|c| c.op == OpKind::Read).collect();
    if reads.len() < FEW_CALLS {
        return Slow::default();
    }
    let mut latencies: Vec<u64> = reads.iter().map(|c| c.latency_ns).collect();
    latencies.sort_unstable();
    let from_ns = latencies[latencies.len() - latencies.len() / 100];
    let slowest: Vec<&Call> = reads.iter().copied().filter(|c| c.latency_ns >= from_ns).collect();
    let under_way = |wanted: &dyn Fn(&Kept) -> bool| {
        let times = requests.iter().filter(|r| wanted(r) && r.completed_ns > 0);
        union(times.map(|r| (r.issued_ns, r.completed_ns.max(r.issued_ns + 1))).collect())
    };
    let share = |calls: &[&Call], times: &[Span]| {
        let met = calls.iter().filter(|c| {
            let after = times.partition_point(|t| t.1 <= c.start_ns);
            times.get(after).is_some_and(|t| t.0 < c.end_ns())
        });
        met.count() as f64 / calls.len().max(1) as f64
    };
    let flushes = under_way(&|r| r.is_flush() || r.flags.has(RequestFlags::PREFLUSH));
    let writes = under_way(&|r| r.flags.has(RequestFlags::WRITE) && r.sectors > 0);
    Slow {
        calls: slowest.len() as u64,
        from_ns,
        flushing: (share(&slowest, &flushes), share(&reads, &flushes)),
        writing: (share(&slowest, &writes), share(&reads, &writes)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{call, kept, one_file};
    use super::*;

    #[test]
    fn each_read_became_four_requests() {
        let calls: Vec<Call> =
            (0..10).map(|i| call(OpKind::Read, i * 1000, 900, i * 16_384, 16_384)).collect();
        let requests: Vec<Kept> =
            (0..40u64).map(|i| kept(i / 4 * 1000 + 10 + i % 4, 500, i * 8, 8, "R")).collect();
        let joined = join(&calls, &requests, &one_file(1 << 20));
        assert_eq!(joined.reads.median_requests(), Some(4));
        assert_eq!(joined.reads.usual_size(), Some((4096, 1.0)));
        assert_eq!((joined.reads.calls, joined.reads.all_requests()), (10, 40));
        assert_eq!(
            (joined.asked_bytes, joined.never_asked_bytes, joined.reads_elsewhere),
            (163_840, 0, (0, 0))
        );
    }

    #[test]
    fn what_was_fetched_and_never_asked_for() {
        let calls = [call(OpKind::Read, 0, 1000, 0, 4096), call(OpKind::Read, 5000, 1000, 65_536, 4096)];
        // Each reads 128 KiB, of which 4 KiB were requested; the second overlaps the first, and one is the file system's own.
        let requests =
            [kept(10, 400, 0, 256, "RA"), kept(5010, 400, 128, 256, "RA"), kept(5020, 100, 1 << 20, 8, "RM")];
        let joined = join(&calls, &requests, &one_file(1 << 20));
        assert_eq!(joined.fetched_bytes, 2 * 131_072);
        assert_eq!(joined.fetched_distinct_bytes, 196_608);
        assert_eq!(joined.never_asked_bytes, 196_608 - 8192);
        assert_eq!((joined.ahead_requests, joined.reads_elsewhere), (2, (1, 4096)));
    }

    #[test]
    fn a_cached_read_became_nothing() {
        let calls = [call(OpKind::Read, 0, 10, 0, 4096), call(OpKind::Read, 20, 10, 4096, 4096)];
        let joined = join(&calls, &[kept(5, 3, 0, 8, "R")], &one_file(8192));
        assert_eq!(joined.reads.requests, BTreeMap::from([(0, 1), (1, 1)]));
        assert_eq!(joined.reads.calls_with_requests(), 1);
        assert_eq!(PerCall::default().median_requests(), None);
    }

    #[test]
    fn the_slowest_are_held_against_all() {
        // Every hundredth read is slow, and only then a flush is in flight.
        let calls: Vec<Call> = (0..2000u64)
            .map(|i| call(OpKind::Read, i * 1000, if i % 100 == 0 { 900 } else { 100 }, 0, 4096))
            .collect();
        let requests: Vec<Kept> = (0..20u64).map(|i| kept(i * 100_000 + 500, 300, 0, 0, "FN")).collect();
        let slow = join(&calls, &requests, &one_file(8192)).slow_reads;
        assert_eq!((slow.calls, slow.from_ns), (20, 900));
        assert_eq!(slow.flushing, (1.0, 0.01));
        assert_eq!(slow.writing, (0.0, 0.0));
    }
}
