//! The core of the reader in simulated time, with conflicting, cancelled and failing requests: reads shared between files, read-ahead
//! that is waited for or cancelled, gaps read along, memory freed. For any schedule, the bytes equal the image's, and reported failures
//! are at bad sectors.

use fathom_iopath::Nanos;
use fathom_isofs::format::section::{Extents, Section};
use fathom_isofs::reader::{Call, Core, Counters, Job, Look, PagePosition, Policy, Stream, View, Work};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

const PAGE: u64 = 4096;
const BLOCK: u64 = 2048;
const EIO: i32 = 5;

/// The byte at a position of the image.
fn byte_at(place: u64) -> u8 {
    (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8
}

fn file(lbn: u64, bytes: u64) -> Arc<Extents> {
    Arc::new([Section { lbn, bytes, unit: 0, gap: 0 }].into_iter().collect())
}

/// A disc with bad sectors, at which reads stop.
#[derive(Default)]
struct Disc {
    bad: Vec<Range<u64>>,
    /// (byte, bytes) of every read.
    log: Vec<(u64, u64)>,
}

impl Disc {
    /// Carries out a job.
    fn serve(&mut self, core: &mut Core, now: Nanos, mut job: Job) {
        let (start, end) = (job.byte(), job.byte() + job.bytes());
        self.log.push((start, end - start));
        let bad = self.bad.iter().filter(|bad| bad.start < end && bad.end > start).map(|bad| bad.start).min();
        let stop = bad.map_or(end, |bad| bad.max(start));
        let mut at = start;
        for buffer in job.buffers() {
            for byte in buffer {
                *byte = if at < stop { byte_at(at) } else { 0 };
                at += 1;
            }
        }
        core.complete(now, job, stop - start, bad.map(|_| EIO));
    }

    /// Carries out all available jobs.
    fn serve_all(&mut self, core: &mut Core, now: Nanos) {
        while let Work::Job(job) = core.work(now) {
            self.serve(core, now, job);
        }
    }

    fn bytes(&self) -> u64 {
        self.log.iter().map(|read| read.1).sum()
    }
}

/// Compares views of a page with the image, for a file that begins at byte `start`; returns the number of bytes.
fn right(start: u64, page: u64, views: &[View]) -> u64 {
    for view in views {
        for (n, &byte) in view.buffer[view.from..view.from + view.bytes].iter().enumerate() {
            let place = start + page * PAGE + (view.at + n) as u64;
            assert_eq!(byte, byte_at(place), "byte {place} of the image");
        }
    }
    views.iter().map(|view| view.bytes as u64).sum()
}

/// A reader that advances whenever it can.
struct Task {
    stream: Stream,
    start: u64,
    calls: VecDeque<(u64, u64)>,
    call: Option<Call>,
    standing: Option<(PagePosition, u64)>,
    page: u64,
    seen: u64,
    failures: Vec<u64>,
}

impl Task {
    fn new(core: &mut Core, lbn: u64, bytes: u64, calls: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let stream = core.open(&file(lbn, bytes));
        let calls = calls.into_iter().collect();
        let (call, standing, failures) = (None, None, Vec::new());
        Self { stream, start: lbn * BLOCK, calls, call, standing, page: 0, seen: 0, failures }
    }

    /// Advances until it waits or is finished; false if finished.
    fn go_on(&mut self, core: &mut Core, now: Nanos) -> bool {
        loop {
            if let Some((standing, page)) = &self.standing {
                let Look::Ready(views, failure) = core.look(standing) else { return true };
                self.seen += right(self.start, *page, &views);
                self.failures.extend(failure.map(|(byte, _)| byte));
                if let (Some(call), Some((standing, _))) = (&self.call, self.standing.take()) {
                    core.release(call, standing);
                }
            }
            if self.call.is_none() {
                let Some((offset, bytes)) = self.calls.pop_front() else { return false };
                self.page = offset / PAGE;
                self.call = core.begin(self.stream, offset, bytes);
            }
            let Some(call) = &mut self.call else { return false };
            match core.touch(now, call) {
                Some(standing) => {
                    self.standing = Some((standing, self.page));
                    self.page += 1;
                }
                None => {
                    if let Some(call) = self.call.take() {
                        core.end(call);
                    }
                }
            }
        }
    }
}

/// Runs tasks to their end; the device serves one request at a time, `service_ms` each.
fn run(core: &mut Core, disc: &mut Disc, tasks: &mut [Task], service_ms: u64) {
    let mut now = Nanos::ZERO;
    for _ in 0..1_000_000 {
        let mut busy = false;
        for task in tasks.iter_mut() {
            busy |= task.go_on(core, now);
        }
        match core.work(now) {
            Work::Job(job) => {
                now += Nanos::from_millis(service_ms);
                disc.serve(core, now, job);
            }
            Work::NotBefore(until) => now = until,
            Work::Nothing if busy => panic!("readers wait, and the device has nothing to do"),
            Work::Nothing => return,
        }
    }
    panic!("it does not end");
}

fn core(policy: &Policy) -> Core {
    Core::new(policy, 2048, 1 << 40).unwrap()
}

fn in_order(bytes: u64, call: u64) -> Vec<(u64, u64)> {
    (0..bytes / call).map(|n| (n * call, call)).collect()
}

/// Reads a file from its beginning until read-ahead is queued; returns the next page to read.
fn until_read_ahead(core: &mut Core, disc: &mut Disc, stream: Stream) -> u64 {
    for page in 0..1000 {
        let mut call = core.begin(stream, page * PAGE, PAGE).unwrap();
        let standing = core.touch(Nanos::ZERO, &mut call).unwrap();
        let waits = core.is_pending(&standing);
        if waits {
            disc.serve_all(core, Nanos::ZERO);
        }
        core.release(&call, standing);
        assert!(core.touch(Nanos::ZERO, &mut call).is_none());
        core.end(call);
        if !waits && core.waiting().0 > 0 {
            return page + 1;
        }
    }
    panic!("nothing is ever read ahead");
}

/// M9: a request for blocks already being read for another file shares that read.
#[test]
fn files_that_share_blocks_share_the_reads_of_them() {
    for (attach, bytes) in [(true, 64 << 10), (false, (64 << 10) + (32 << 10))] {
        let mut core = core(&Policy { attach, read_ahead: "none".into(), ..Policy::modern() });
        let mut disc = Disc::default();
        let mut tasks = [
            Task::new(&mut core, 100, 64 << 10, [(0, 64 << 10)]),
            Task::new(&mut core, 108, 32 << 10, [(0, 32 << 10)]),
        ];
        // Both have requested everything before any read completes.
        let mut standing = Vec::new();
        for (lbn, size) in [(100, 64 << 10), (108, 32 << 10)] {
            for page in 0..size / PAGE {
                let stream = core.open(&file(lbn, size));
                let mut call = core.begin(stream, page * PAGE, PAGE).unwrap();
                let there = core.touch(Nanos::ZERO, &mut call).unwrap();
                standing.push((call, there));
            }
        }
        run(&mut core, &mut disc, &mut tasks, 1);
        assert_eq!((tasks[0].seen, tasks[1].seen), (64 << 10, 32 << 10));
        assert_eq!(disc.bytes(), bytes, "attach {attach}");
        assert_eq!(core.counters().attached, if attach { 8 } else { 0 });
        for (call, there) in standing {
            core.release(&call, there);
            core.end(call);
        }
    }
}

/// M9: queued read-ahead gets the demand deadline of half a second once a caller waits for it.
#[test]
fn read_ahead_that_is_waited_for_is_promoted() {
    let above = 1 << 21;
    for promote in [true, false] {
        let (mut core, mut disc) = (core(&Policy { promote, ..Policy::modern() }), Disc::default());
        // The file continues below its start, so its read-ahead must wait for the next sweep.
        let sections = [(1 << 20, 4 * PAGE), (0, 1 << 20)];
        let section = |(lbn, bytes)| Section { lbn, bytes, unit: 0, gap: 0 };
        let stream = core.open(&Arc::new(sections.map(section).into_iter().collect()));
        let next = until_read_ahead(&mut core, &mut disc, stream);
        let mut call = core.begin(stream, next * PAGE, 1 << 20).unwrap();
        let standing = loop {
            let standing = core.touch(Nanos::ZERO, &mut call).unwrap();
            if core.is_pending(&standing) {
                break standing;
            }
            core.release(&call, standing);
        };
        assert_eq!(core.counters().promoted, u64::from(promote));
        let other = core.open(&file(above, PAGE));
        let mut younger = core.begin(other, 0, PAGE).unwrap();
        assert!(core.touch(Nanos::from_millis(499), &mut younger).is_some());
        let now = Nanos::from_millis(500);
        let Work::Job(first) = core.work(now) else { panic!("requests wait") };
        assert_eq!(first.byte(), if promote { 0 } else { above * BLOCK });
        disc.serve(&mut core, now, first);
        disc.serve_all(&mut core, now);
        assert!(!core.is_pending(&standing));
        core.release(&call, standing);
        core.end(call);
    }
}

/// M9: queued read-ahead is cancelled when its file is closed or its reader goes back; with the switch off it is read.
#[test]
fn read_ahead_that_nobody_wants_any_more_is_not_read() {
    for (drop_ahead, goes_back) in [(true, true), (true, false), (false, true), (false, false)] {
        let (mut core, mut disc) = (core(&Policy { drop_ahead, ..Policy::modern() }), Disc::default());
        let stream = core.open(&file(0, 64 << 20));
        let other = core.open(&file(0, 64 << 20));
        until_read_ahead(&mut core, &mut disc, stream);
        let (before, pages) = (disc.log.len(), core.cached_pages());
        let back = goes_back.then(|| core.begin(stream, 0, PAGE).unwrap());
        if !goes_back {
            core.close(stream);
        }
        disc.serve_all(&mut core, Nanos::ZERO);
        let withdrawn = core.counters().pages_withdrawn;
        assert_eq!((withdrawn > 0, disc.log.len() == before), (drop_ahead, drop_ahead), "{goes_back}");
        assert_eq!(core.cached_pages() as u64, pages as u64 - withdrawn);
        back.into_iter().for_each(|call| core.end(call));
        // Cancelled pages are read when they are wanted after all.
        let mut tasks = [Task::new(&mut core, 0, 64 << 20, in_order(2 << 20, 8192))];
        run(&mut core, &mut disc, &mut tasks, 1);
        assert_eq!(tasks[0].seen, 2 << 20);
        core.close(other);
    }
}

/// M7: requests within the given distance are sent as one, and the gap between them is read and discarded.
#[test]
fn small_holes_are_read_along() {
    for (hole, bridge, reads) in [(16, 32, 1), (32, 32, 1), (34, 32, 2), (16, 0, 2)] {
        let policy = Policy { bridge: bridge << 10, read_ahead: "none".into(), ..Policy::modern() };
        let (mut core, mut disc) = (core(&policy), Disc::default());
        let second = 100 + (16 + hole) / 2;
        let mut tasks = [
            Task::new(&mut core, 100, 16 << 10, [(0, 16 << 10)]),
            Task::new(&mut core, second, 8 << 10, [(0, 8 << 10)]),
        ];
        // All pages of the first are requested, and the first of the second.
        let mut held = Vec::new();
        for page in 0..4 {
            let mut call = core.begin(tasks[0].stream, page * PAGE, PAGE).unwrap();
            held.push((core.touch(Nanos::ZERO, &mut call).unwrap(), call));
        }
        let mut call = core.begin(tasks[1].stream, 0, PAGE).unwrap();
        held.push((core.touch(Nanos::ZERO, &mut call).unwrap(), call));
        disc.serve_all(&mut core, Nanos::ZERO);
        assert_eq!(disc.log.len(), reads, "hole {hole}, bridge {bridge}: {:?}", disc.log);
        let counters = core.counters();
        let bridged = u64::from(reads == 1);
        assert_eq!((counters.bridged, counters.bridged_bytes), (bridged, bridged * (hole << 10)));
        for (standing, call) in held {
            core.release(&call, standing);
            core.end(call);
        }
        run(&mut core, &mut disc, &mut tasks, 1);
        assert_eq!((tasks[0].seen, tasks[1].seen), (16 << 10, 8 << 10));
    }
}

/// A bad sector in a gap does not affect any caller.
#[test]
fn what_is_bad_between_two_files_is_nobodys() {
    let policy = Policy { bridge: 32 << 10, read_ahead: "none".into(), ..Policy::modern() };
    let (mut core, mut disc) = (core(&policy), Disc::default());
    disc.bad.push(106 * BLOCK..107 * BLOCK);
    let mut tasks = [
        Task::new(&mut core, 100, 8 << 10, [(0, 8 << 10)]),
        Task::new(&mut core, 112, 8 << 10, [(0, 8 << 10)]),
    ];
    run(&mut core, &mut disc, &mut tasks, 1);
    for task in &tasks {
        assert_eq!((task.seen, task.failures.len()), (8 << 10, 0));
    }
}

/// S8: each of two streams through one file keeps its window at the maximum.
#[test]
fn two_streams_keep_their_windows() {
    let (half, call) = (8_u64 << 20, 8192);
    let large = |policy: &Policy| {
        let (mut core, mut disc) = (core(policy), Disc::default());
        let second = in_order(half, call).into_iter().map(|(at, n)| (at + half, n));
        let mut tasks = [
            Task::new(&mut core, 0, 2 * half, in_order(half, call)),
            Task::new(&mut core, 0, 2 * half, second),
        ];
        run(&mut core, &mut disc, &mut tasks, 1);
        assert_eq!(tasks.iter().map(|task| task.seen).sum::<u64>(), 2 * half);
        let large: u64 = disc.log.iter().map(|read| read.1).filter(|&bytes| bytes >= 128 << 10).sum();
        (large * 100 / disc.bytes(), core.counters().pages_ahead * 100 / core.counters().pages_asked)
    };
    let (in_large, _) = large(&Policy::modern());
    assert!(in_large >= 90, "{in_large} % in requests of 128 KiB and more");
    // In turns: in disc order the first stream would run alone until a deadline.
    let by_turns = |per_open| large(&Policy { per_open, scheduler: "noop".into(), ..Policy::seed() }).1;
    let (shared, own) = (by_turns(false), by_turns(true));
    assert!(shared < 50, "sharing one state, they undo each other's read-ahead: {shared} %");
    assert!(own >= 90, "with a state each they do not: {own} %");
}

/// S14: an error during read-ahead belongs to no caller; the caller that reaches it gets it at its byte, after a retry.
#[test]
fn a_bad_sector_met_by_read_ahead() {
    let bytes = 4_u64 << 20;
    for block in [300, 301, 700, 1501] {
        let (mut core, mut disc) = (core(&Policy::modern()), Disc::default());
        let bad = block * BLOCK;
        disc.bad.push(bad..bad + BLOCK);
        let mut tasks = [Task::new(&mut core, 0, bytes, in_order(bytes, 8192))];
        run(&mut core, &mut disc, &mut tasks, 1);
        assert_eq!(tasks[0].failures, [bad]);
        assert_eq!(tasks[0].seen, bytes - BLOCK, "everything around it comes");
        let alone = disc.log.iter().filter(|&&read| read == (bad, BLOCK)).count();
        assert_eq!(alone, 1, "one try more");
        let counters = core.counters();
        assert!(counters.pages_failed >= 2, "once ahead, once for the reader: {counters:?}");
        // Nothing of it was cached: the next caller retries.
        let before = disc.log.len();
        let mut again = [Task::new(&mut core, 0, bytes, [(bad, 512)])];
        run(&mut core, &mut disc, &mut again, 1);
        assert_eq!(again[0].failures, [bad]);
        assert!(disc.log.len() > before);
    }
}

/// The cache returns to its limit when pages are released, and frees everything on request.
#[test]
fn the_cache_goes_back_to_its_budget() {
    let mut core = core(&Policy { cache_bytes: 1 << 20, ..Policy::modern() });
    let mut disc = Disc::default();
    let mut stand = |core: &mut Core, n: u64| {
        let stream = core.open(&file(n * 100, PAGE));
        let mut call = core.begin(stream, 0, PAGE).unwrap();
        let standing = core.touch(Nanos::ZERO, &mut call).unwrap();
        disc.serve_all(core, Nanos::ZERO);
        (stream, call, standing)
    };
    let held: Vec<_> = (0..400).map(|n| stand(&mut core, n)).collect();
    assert_eq!(core.cached_pages(), 400, "everything is in use");
    for (stream, call, standing) in held {
        core.release(&call, standing);
        core.end(call);
        core.close(stream);
    }
    let (stream, call, standing) = stand(&mut core, 1000);
    let counters = core.counters();
    assert_eq!((counters.cache_bytes, counters.cache_limit), (1 << 20, 1 << 20));
    assert_eq!(core.give_back(), 255, "all but the one that is in use");
    core.release(&call, standing);
    core.end(call);
    core.close(stream);
    assert_eq!((core.give_back(), core.cached_pages(), core.files()), (1, 0, 0));
    assert_eq!(core.counters().pages_given_back, 256);
    let (_, call, standing) = stand(&mut core, 7);
    assert!(!core.is_pending(&standing), "it goes on from nothing");
    core.release(&call, standing);
    core.end(call);
}

/// M5: small files are prefetched once, without an owner, up to the limit.
#[test]
fn small_files_come_in_advance() {
    let (mut core, mut disc) = (core(&Policy::modern()), Disc::default());
    assert_eq!(core.prefetch(Nanos::ZERO, &file(100, 10_000), 256 << 10), Some(10_000));
    assert_eq!(core.prefetch(Nanos::ZERO, &file(105, 5000), 256 << 10), Some(5000));
    assert_eq!(core.prefetch(Nanos::ZERO, &file(200, 5000), 4999), None, "more than is left");
    assert_eq!(core.prefetch(Nanos::ZERO, &file(100, 10_000), 256 << 10), Some(10_000));
    disc.serve_all(&mut core, Nanos::ZERO);
    assert_eq!(core.counters().pages_small_files, 5);
    assert_eq!(disc.log, [(100 * BLOCK, 15_360)], "they lie side by side: one request");
    let mut tasks = [Task::new(&mut core, 105, 5000, [(0, 5000)])];
    run(&mut core, &mut disc, &mut tasks, 1);
    assert_eq!((tasks[0].seen, disc.log.len()), (5000, 1));
}

/// M8: directories have a deadline of 100 ms, demand reads one of 500.
#[test]
fn directories_have_a_deadline_of_their_own() {
    for (metadata, age_ms, first) in
        [(true, 99, 900), (true, 100, 100), (false, 499, 900), (false, 500, 100_u64)]
    {
        let (mut core, mut disc) = (core(&Policy::modern()), Disc::default());
        let ask = |core: &mut Core, now_ms: u64, lbn: u64, metadata: bool| {
            let area = file(lbn, BLOCK);
            let stream = if metadata { core.open_metadata(&area) } else { core.open(&area) };
            let mut call = core.begin(stream, 0, BLOCK).unwrap();
            assert!(core.touch(Nanos::from_millis(now_ms), &mut call).is_some());
        };
        ask(&mut core, 0, 500, false);
        disc.serve_all(&mut core, Nanos::ZERO);
        ask(&mut core, 0, 100, metadata);
        ask(&mut core, age_ms, 900, false);
        let Work::Job(job) = core.work(Nanos::from_millis(age_ms)) else { panic!("two requests wait") };
        assert_eq!(job.byte() / BLOCK, first, "metadata {metadata} after {age_ms} ms");
    }
}

/// Switches of the modern policy, and the older policies unchanged.
fn policies() -> impl Strategy<Value = Policy> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0..3_u32, 1..4_u32);
    let modern = switches.prop_map(|(attach, promote, drop_ahead, isolate, bridge, depth)| Policy {
        attach,
        promote,
        drop_ahead,
        isolate,
        bridge: bridge * (16 << 10),
        depth,
        cache_bytes: 1 << 20,
        ..Policy::modern()
    });
    let seed = any::<bool>().prop_map(|extend| Policy {
        read_ahead: if extend { "hsfs,extend=1" } else { "hsfs" }.into(),
        cache_bytes: 1 << 20,
        ..Policy::seed()
    });
    prop_oneof![4 => modern, 2 => seed, 1 => Just(Policy::baseline())]
}

fn calls() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let random = prop::collection::vec((0..500_000_u64, 1..60_000_u64), 1..20);
    let stream = (0..40_u64, 1..50_u64).prop_map(|(at, n)| (0..n).map(|i| ((at + i) * 8192, 8192)).collect());
    prop_oneof![random, stream]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// S3: under every schedule and with errors anywhere, calls end, the bytes equal the image's, and failures are at or behind bad
    /// sectors.
    #[test]
    fn nothing_is_lost_and_nothing_is_wrong(
        policy in policies(),
        // Overlapping files: (first block, calls).
        readers in prop::collection::vec((0..300_u64, calls()), 1..5),
        bad in prop::collection::vec((0..600_u64, 1..4_u64), 0..4),
        service_ms in 1..200_u64,
    ) {
        let mut core = core(&policy);
        let bad = bad.iter().map(|&(block, blocks)| block * BLOCK..(block + blocks) * BLOCK).collect();
        let mut disc = Disc { bad, ..Disc::default() };
        let bytes = 500_000;
        let mut tasks: Vec<Task> =
            readers.into_iter().map(|(lbn, calls)| Task::new(&mut core, lbn, bytes, calls)).collect();
        run(&mut core, &mut disc, &mut tasks, service_ms);
        for task in &tasks {
            for &byte in &task.failures {
                let bad = disc.bad.iter().any(|bad| bad.contains(&byte));
                prop_assert!(bad || !policy.isolate, "byte {byte} failed, and is not bad");
            }
            prop_assert!(!disc.bad.is_empty() || task.failures.is_empty());
        }
        prop_assert_eq!(core.waiting().0, 0);
        let counters: Counters = core.counters();
        prop_assert_eq!(counters.requests, disc.log.len() as u64);
        prop_assert_eq!(counters.bytes, disc.bytes());
        prop_assert!(disc.log.iter().all(|read| read.1 <= u64::from(policy.max_transfer)), "max transfer");
        prop_assert!(counters.cache_bytes <= counters.cache_limit);
        tasks.iter().for_each(|task| core.close(task.stream));
        core.give_back();
        prop_assert_eq!((core.cached_pages(), core.files()), (0, 0), "everything is let go of");
    }
}
