//! The core of the reader in simulated time: readers that keep calling, a slow device, and a log of its requests. Checks the properties
//! of a scheduler and a read-ahead for any calls: nothing lost, nothing twice, order, deadlines, merging, ramps.

use fathom_iopath::Nanos;
use fathom_isofs::format::section::{Extents, Section};
use fathom_isofs::reader::{Call, Core, Counters, Job, Look, PagePosition, Policy, Stream, Work};
use proptest::prelude::*;
use std::sync::Arc;

const BLOCK: u64 = 2048;

/// The device's requests: (time, byte, bytes).
type Log = Vec<(u64, u64, u64)>;

/// A reader: a sequence of calls.
struct Task {
    stream: Stream,
    calls: std::vec::IntoIter<(u64, u64)>,
    call: Option<Call>,
    standing: Option<PagePosition>,
    /// Checksum of the bytes read, for comparison.
    seen: u64,
}

/// Readers, core and device in virtual time. Waiting readers drive the core, as threads would; the device serves one request at a time.
struct Run {
    core: Core,
    tasks: Vec<Task>,
    /// At the device, with the completion time.
    serving: Vec<(u64, Job)>,
    now: u64,
    free_at: u64,
    service_ns: u64,
    log: Log,
}

impl Run {
    fn new(policy: &Policy, service_ns: u64) -> Self {
        let core = Core::new(policy, 2048, 1 << 40).unwrap();
        Self { core, tasks: Vec::new(), serving: Vec::new(), now: 0, free_at: 0, service_ns, log: Vec::new() }
    }

    fn task(&mut self, extents: &Arc<Extents>, calls: Vec<(u64, u64)>) {
        let stream = self.core.open(extents);
        self.tasks.push(Task { stream, calls: calls.into_iter(), call: None, standing: None, seen: 0 });
    }

    /// Advances every task as far as possible; returns whether any has work left.
    fn advance(&mut self) -> bool {
        let mut busy = false;
        for index in 0..self.tasks.len() {
            while self.step(index) {}
            busy |= self.tasks[index].call.is_some();
        }
        busy
    }

    /// One step of a task; false if it waits or is finished.
    fn step(&mut self, index: usize) -> bool {
        let now = Nanos(self.now);
        let task = &mut self.tasks[index];
        if let Some(standing) = &task.standing {
            let Look::Ready(views, failure) = self.core.look(standing) else { return false };
            assert!(failure.is_none());
            for view in &views {
                task.seen += view.bytes as u64;
                assert!(view.buffer[view.from..view.from + view.bytes].iter().all(|&b| b == 7));
            }
            let (Some(call), Some(standing)) = (&task.call, task.standing.take()) else { unreachable!() };
            self.core.release(call, standing);
        }
        if task.call.is_none() {
            let Some((offset, bytes)) = task.calls.next() else { return false };
            task.call = self.core.begin(task.stream, offset, bytes);
        }
        let Some(call) = &mut task.call else { return false };
        task.standing = self.core.touch(now, call);
        if task.standing.is_none() {
            self.core.end(task.call.take().unwrap());
        }
        true
    }

    /// Runs all tasks to the end.
    fn run(mut self) -> (Log, Counters, u64) {
        loop {
            let busy = self.advance();
            // Dispatches like waiting readers and helpers.
            while let Work::Job(job) = self.core.work(Nanos(self.now)) {
                self.log.push((self.now, job.byte(), job.bytes()));
                let done = self.now.max(self.free_at) + self.service_ns;
                self.free_at = done;
                self.serving.push((done, job));
            }
            if self.serving.is_empty() {
                assert!(!busy, "readers wait, and the device has nothing to do");
                break;
            }
            let (done, mut job) = self.serving.remove(0);
            self.now = self.now.max(done);
            job.buffers().iter_mut().for_each(|buffer| buffer.fill(7));
            let bytes = job.bytes();
            self.core.complete(Nanos(self.now), job, bytes, None);
        }
        assert_eq!(self.core.waiting().0, 0);
        let seen = self.tasks.iter().map(|task| task.seen).sum();
        (self.log, self.core.counters(), seen)
    }
}

fn file(lbn: u64, bytes: u64) -> Arc<Extents> {
    Arc::new([Section { lbn, bytes, unit: 0, gap: 0 }].into_iter().collect())
}

fn in_order(bytes: u64, call: u64) -> Vec<(u64, u64)> {
    (0..bytes / call).map(|n| (n * call, call)).collect()
}

/// S5: a file read once sequentially in calls of 8 KiB.
#[test]
fn requests_of_a_file_read_in_order() {
    let bytes = 16 << 20;
    let run = |policy: Policy| {
        let mut run = Run::new(&policy, 100_000);
        run.task(&file(1000, bytes), in_order(bytes, 8192));
        let (log, counters, _) = run.run();
        assert_eq!(log.iter().map(|request| request.2).sum::<u64>(), bytes, "each byte once");
        (log, counters)
    };
    let (log, _) = run(Policy::baseline());
    assert_eq!(log.len() as u64, bytes / BLOCK);
    assert!(log.iter().all(|request| request.2 == BLOCK));
    let (log, counters) = run(Policy::seed());
    let full = log.iter().filter(|request| request.2 == 16 << 10).count() as u64;
    assert!(full * (16 << 10) >= bytes / 1000 * 995, "{full} of {}", log.len());
    assert!(log.len() as u64 <= bytes / (16 << 10) + 10, "{}", log.len());
    assert!(counters.pages_ahead * 1000 >= bytes / 4096 * 995, "{counters:?}");
    let (log, _) = run(Policy::modern());
    assert!(log.len() as u64 <= bytes / (256 << 10) + 16, "{}", log.len());
}

/// S6: the ramp of the rework: 1, 3, 4 pages, never more (a page already cached would cut the second step short). One or two adjacent
/// pages are read as they are.
#[test]
fn a_fresh_stream_ramps_up_page_by_page() {
    let mut run = Run::new(&Policy::seed(), 100_000);
    run.task(&file(0, 1 << 20), in_order(1 << 20, 8192));
    let (log, ..) = run.run();
    let sizes: Vec<u64> = log.iter().map(|request| request.2 / 4096).collect();
    let (ramp, steady) = sizes.split_at(14);
    assert_eq!(ramp, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1]);
    assert!(steady.iter().all(|&pages| pages == 4), "{sizes:?}");
}

/// S7: random reads read only the requested pages.
#[test]
fn random_reads_are_not_read_ahead() {
    for policy in [Policy::seed(), Policy::modern()] {
        let mut run = Run::new(&policy, 100_000);
        let mut state = 9_u64;
        let calls = (0..1000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 20) % (1 << 19) * 2048, 2048)
        });
        run.task(&file(0, 1 << 30), calls.collect());
        let (.., counters, _) = run.run();
        assert!(counters.pages_ahead * 100 <= counters.pages_asked, "{counters:?}");
    }
}

/// S8: two threads in one file. With shared state they cancel each other's read-ahead; with separate states they do not.
#[test]
fn two_streams_in_one_file() {
    let requests = |policy: Policy| {
        let mut run = Run::new(&policy, 100_000);
        let extents = file(0, 16 << 20);
        let half = 8_u64 << 20;
        run.task(&extents, in_order(half, 8192));
        run.task(&extents, in_order(half, 8192).into_iter().map(|(at, n)| (at + half, n)).collect());
        run.run().1
    };
    let (shared, own) = (requests(Policy::seed()), requests(Policy { per_open: true, ..Policy::seed() }));
    assert!(own.pages_ahead * 100 >= own.pages_asked * 98, "{own:?}");
    assert!(shared.pages_ahead * 2 < own.pages_ahead, "{shared:?}");
    let modern = requests(Policy::modern());
    assert!(modern.requests <= (16 << 20) / (256 << 10) + 40, "{}", modern.requests);
}

/// S13: pages that a long stream has passed are evicted first, if enabled.
#[test]
fn a_long_stream_leaves_others_pages_in_place() {
    let kept = |free_behind: bool| {
        let policy = Policy { free_behind, cache_bytes: 8 << 20, ..Policy::seed() };
        let mut run = Run::new(&policy, 1000);
        let (other, long) = (file(0, 4 << 20), file(1 << 20, 32 << 20));
        // Backwards: this reader does not pass any pages.
        run.task(&other, in_order(4 << 20, 8192).into_iter().rev().collect());
        while run.advance() {
            serve(&mut run);
        }
        run.task(&long, in_order(32 << 20, 8192));
        while run.advance() {
            serve(&mut run);
        }
        let before = run.core.counters().pages_read + run.core.counters().pages_ahead;
        run.task(&other, in_order(4 << 20, 8192).into_iter().rev().collect());
        while run.advance() {
            serve(&mut run);
        }
        let again = run.core.counters().pages_read + run.core.counters().pages_ahead - before;
        1024 - again
    };
    assert!(kept(true) >= 922, "{} of 1024", kept(true));
    assert!(kept(false) < 100, "{} of 1024", kept(false));
}

/// Serves one request at the device.
fn serve(run: &mut Run) {
    run.now += 1000;
    while let Work::Job(mut job) = run.core.work(Nanos(run.now)) {
        job.buffers().iter_mut().for_each(|buffer| buffer.fill(7));
        let bytes = job.bytes();
        run.core.complete(Nanos(run.now), job, bytes, None);
    }
}

/// S2 and lesson L1: a request that is 400 ms old is served in order, one that is 500 ms old before all others.
#[test]
fn deadlines_are_milliseconds() {
    for (age_ms, first) in [(400, 900_u64), (500, 100)] {
        let mut core = Core::new(&Policy::seed(), 2048, 1 << 40).unwrap();
        let ask = |core: &mut Core, now_ms: u64, lbn: u64| {
            let stream = core.open(&file(lbn, 2048));
            let mut call = core.begin(stream, 0, 2048).unwrap();
            assert!(core.touch(Nanos::from_millis(now_ms), &mut call).is_some());
        };
        ask(&mut core, 0, 500);
        let Work::Job(job) = core.work(Nanos::ZERO) else { panic!("a request waits") };
        core.complete(Nanos::ZERO, job, 2048, None);
        ask(&mut core, 0, 100); // below the head
        ask(&mut core, 1, 900);
        let Work::Job(job) = core.work(Nanos::from_millis(age_ms)) else { panic!("two requests wait") };
        assert_eq!(job.byte() / BLOCK, first, "after {age_ms} ms");
        assert_eq!(core.counters().expired, u64::from(age_ms == 500));
    }
}

/// Files that are closed and have no cached pages are forgotten: after opening ten thousand, only those in the cache remain.
#[test]
fn files_that_are_gone_take_no_room() {
    let mut core = Core::new(&Policy { cache_bytes: 1 << 20, ..Policy::modern() }, 2048, 1 << 40).unwrap();
    let mut last = None;
    for n in 0..10_000 {
        let stream = core.open(&file(n, 2048));
        let mut call = core.begin(stream, 0, 2048).unwrap();
        let standing = core.touch(Nanos(n), &mut call).unwrap();
        let Work::Job(job) = core.work(Nanos(n)) else { panic!("a page was asked for") };
        core.complete(Nanos(n), job, 2048, None);
        core.release(&call, standing);
        core.end(call);
        core.close(stream);
        last = Some(stream);
    }
    assert_eq!(core.cached_pages(), 256);
    assert!(core.begin(last.unwrap(), 0, 1).is_none(), "closed is closed");
    assert!(core.files() <= 257, "{} files", core.files());
}

fn calls() -> impl Strategy<Value = Vec<Vec<(u64, u64)>>> {
    let call = (0..2000_u64, prop_oneof![Just(2048_u64), Just(8192), Just(65_536), 1..100_000_u64]);
    let random = prop::collection::vec(call.prop_map(|(at, n)| (at * 1000, n)), 1..30);
    let stream =
        (0..200_u64, 1..100_u64).prop_map(|(at, n)| (0..n).map(|i| ((at + i) * 8192, 8192)).collect());
    prop::collection::vec(prop_oneof![random, stream], 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// S1, S3, S4 for the sweep of 2007.
    #[test]
    fn the_sweep_goes_one_way(calls in calls(), service_ms in 1..30_u64) {
        let mut run = Run::new(&Policy { workers: 0, ..Policy::seed() }, service_ms * 1_000_000);
        for (n, calls) in calls.into_iter().enumerate() {
            run.task(&file(n as u64 * 700, 1_400_000), calls);
        }
        let (log, counters, _) = run.run();
        prop_assert_eq!(log.len() as u64, counters.requests);
        prop_assert_eq!(log.iter().map(|r| r.2).sum::<u64>(), counters.bytes);
        prop_assert!(log.iter().all(|r| r.2 <= 16 << 10), "max transfer");
        // A decreasing block number means a new sweep or a deadline; there are at most as many of the latter as were counted.
        let pages = counters.pages_read + counters.pages_ahead;
        prop_assert!(counters.bytes <= pages * 4096);
        prop_assert_eq!(counters.joined + counters.requests, pages);
    }

    /// Every elevator and read-ahead of iopath: all calls end, and each page is read once as long as it is cached.
    #[test]
    fn nothing_is_lost_and_nothing_comes_twice(
        calls in calls(),
        scheduler in prop::sample::select(vec!["none", "noop", "deadline", "mq-deadline", "sweep", "clook-hsfs", "kyber", "cfq"]),
        read_ahead in prop::sample::select(vec!["none", "ra24", "ra-simplified", "ra-ondemand", "modern", "hsfs"]),
        coalesce in any::<bool>(),
        depth in 1..8_u32,
    ) {
        let policy = Policy {
            scheduler: scheduler.into(),
            read_ahead: read_ahead.into(),
            coalesce,
            depth,
            // A cancelled page between others is read along, and read again when it is wanted after all.
            drop_ahead: false,
            ..Policy::modern()
        };
        let asked: Vec<_> = calls.clone();
        let mut run = Run::new(&policy, 200_000);
        let extents = file(0, 2_500_000);
        for calls in calls {
            run.task(&extents, calls);
        }
        let (log, counters, _) = run.run();
        let mut pages: Vec<u64> = asked.iter().flatten()
            .flat_map(|&(at, n)| at.min(2_500_000) / 4096..(at + n).min(2_500_000).div_ceil(4096))
            .collect();
        pages.sort_unstable();
        pages.dedup();
        prop_assert!(counters.pages_read + counters.pages_ahead >= pages.len() as u64);
        prop_assert!(counters.pages_read + counters.pages_ahead <= 2_500_000_u64.div_ceil(4096), "nothing twice");
        let mut got: Vec<(u64, u64)> = log.iter().map(|&(_, byte, bytes)| (byte, byte + bytes)).collect();
        got.sort_unstable();
        prop_assert!(got.windows(2).all(|pair| pair[0].1 <= pair[1].0), "no byte twice");
        prop_assert!(counters.deepest <= depth);
        if !coalesce {
            prop_assert_eq!(counters.joined, 0);
        }
    }
}
