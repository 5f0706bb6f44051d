//! No call allocates: once the queue has seen its largest backlog and every task, a long run of submissions, dispatches and completions
//! makes no allocation, under every elevator and every kernel's rules. Read-ahead never allocates.

use fathom_iopath::readahead::{self, Call, Kind, Mark, Pages, Presence, Touch};
use fathom_iopath::{Bio, Limits, Nanos, Next, Op, Queue, Rules, Submitted, TaskId, elevator};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Allocations of this thread; the test harness has others.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system allocator with unchanged arguments; counting touches no heap memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's guarantees about the layout are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: `place` came from `System` with this layout.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Run {
    queue: Queue,
    now: Nanos,
    drawn: u64,
    depth: usize,
    in_device: Vec<fathom_iopath::RequestId>,
}

impl Run {
    fn steps(&mut self, n: u64) {
        for _ in 0..n {
            self.drawn =
                self.drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = self.drawn >> 33;
            let op = if draw.is_multiple_of(3) { Op::Write } else { Op::Read };
            let bio = Bio::new(op, draw / 16 % 4096 * 8, 8).by(TaskId((draw % 16) as u16));
            if self.queue.submit(self.now, bio) == Submitted::Full {
                self.queue.let_in(self.now, bio.task());
            }
            self.queue.start_plug(bio.task());
            if draw.is_multiple_of(5) {
                self.queue.unplug(self.now);
                self.queue.finish_plug(self.now, bio.task());
            }
            self.drive();
        }
    }

    fn drive(&mut self) {
        while let Next::Request(id) = self.queue.next(self.now, (self.depth - self.in_device.len()) as u32) {
            self.in_device.push(id);
        }
        self.now += Nanos::from_micros(700);
        if self.in_device.len() == self.depth {
            let id = self.in_device.remove(0);
            assert!(self.queue.completed(self.now, id, |_| {}));
        }
    }
}

#[test]
fn nothing_is_allocated_once_the_queue_is_warm() {
    for name in elevator::known() {
        for (rules, depth) in [
            (Rules::linux24(Limits::IDE_24), 1),
            (Rules::linux26(Limits::IDE_26), 1),
            (Rules::today(Limits::LOOP_618, 32), 32),
        ] {
            let queue = Queue::new(elevator::by_name(name).expect("it exists"), rules);
            let mut run =
                Run { queue, now: Nanos::ZERO, drawn: 1, depth, in_device: Vec::with_capacity(depth) };
            run.steps(20_000);
            let before = COUNT.with(Cell::get);
            run.steps(20_000);
            let during = COUNT.with(Cell::get) - before;
            assert_eq!(during, 0, "{name} with {:?}", rules.pool);
        }
    }
}

/// A cache of fixed size.
struct Fixed {
    present: Vec<bool>,
    marks: Vec<Option<Mark>>,
}

impl Pages for Fixed {
    fn present(&self, page: u64) -> bool {
        self.present[page as usize]
    }

    fn read(&mut self, first: u64, pages: u32, mark: Option<Mark>, _kind: Kind) {
        self.present[first as usize..first as usize + pages as usize].fill(true);
        if let Some(mark) = mark {
            self.marks[mark.page as usize] = Some(mark);
        }
    }

    fn unmark(&mut self, mark: Mark) {
        self.marks[mark.page as usize] = None;
    }
}

#[test]
fn read_ahead_allocates_nothing() {
    const FILE_PAGES: usize = 4096;
    for (name, _) in readahead::NAMES {
        let policy = readahead::by_name(name).expect("it exists");
        let mut cache = Fixed { present: vec![false; FILE_PAGES], marks: vec![None; FILE_PAGES] };
        let mut file = policy.open();
        let before = COUNT.with(Cell::get);
        for n in 0..6000u64 {
            // Streams of sixteen calls from scattered positions; pages are dropped behind them.
            let block = (n / 16 * 7919 + n % 16) % 1024;
            let call = Call { offset: block * 16384, bytes: 16384, file_bytes: (FILE_PAGES * 4096) as u64 };
            let mut reading = policy.begin_call(&mut file, call);
            for page in call.pages() {
                let at = page as usize;
                let presence = if cache.present[at] { Presence::Cached } else { Presence::Absent };
                policy.touch(
                    &mut file,
                    &mut reading,
                    Touch { page, presence, mark: cache.marks[at] },
                    &mut cache,
                );
            }
            policy.end_call(&mut file, reading);
            let gone = ((block * 4 + 1000) as usize) % (FILE_PAGES - 8);
            cache.present[gone..gone + 8].fill(false);
            cache.marks[gone..gone + 8].fill(None);
        }
        assert_eq!(COUNT.with(Cell::get) - before, 0, "{name}");
    }
}
