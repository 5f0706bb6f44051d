//! Invariants of every elevator, whatever its order: every request is served once, no bio is lost in merges, no request exceeds a limit,
//! nothing starts twice, every requested wait ends, and the same history gives the same answers. One harness, random histories, every
//! elevator under the rules of every kernel generation.

use fathom_iopath::elevator::{self, Elevator};
use fathom_iopath::queue::Snapshot;
use fathom_iopath::request::Stage;
use fathom_iopath::{
    Bio, IoClass, Limits, Nanos, Next, Op, PageSpan, Queue, RequestId, Rules, Submitted, TaskId, TaskInfo,
};
use proptest::prelude::*;
use std::collections::VecDeque;

/// A step of a history.
#[derive(Clone, Debug)]
enum Step {
    Submit { op: Op, place: u64, blocks: u32, task: u16, sync: bool, pages: u32 },
    Pass { micros: u64 },
    Complete { which: usize },
    Unplug { task: u16 },
    Plug { task: u16 },
    Exit { task: u16 },
    Follow { which: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let op =
        prop_oneof![6 => Just(Op::Read), 5 => Just(Op::Write), 1 => Just(Op::Discard), 1 => Just(Op::Other)];
    // Few places, so that bios touch, overlap and repeat; some far away.
    let place = prop_oneof![4 => 0u64..48, 1 => 0u64..100_000];
    let submit = (op, place, 1u32..5, 0u16..6, any::<bool>(), 0u32..200).prop_map(
        |(op, place, blocks, task, sync, pages)| Step::Submit { op, place, blocks, task, sync, pages },
    );
    let step = prop_oneof![
        12 => submit,
        4 => (0u64..20_000).prop_map(|micros| Step::Pass { micros }),
        6 => (0usize..8).prop_map(|which| Step::Complete { which }),
        1 => (0u16..6).prop_map(|task| Step::Unplug { task }),
        1 => (0u16..6).prop_map(|task| Step::Plug { task }),
        1 => (3u16..6).prop_map(|task| Step::Exit { task }),
        1 => (0usize..40).prop_map(|which| Step::Follow { which }),
    ];
    prop::collection::vec(step, 1..160)
}

/// A run of a history: the device has up to `depth` requests in flight.
struct Run {
    queue: Queue,
    now: Nanos,
    depth: usize,
    in_device: VecDeque<RequestId>,
    /// Bios of submitters that sleep for a request.
    sleeping: Vec<Bio>,
    taken: Vec<bool>,
    back: Vec<bool>,
    log: Vec<(u64, u64, u32)>,
}

const KINDS: usize = 4;

fn rules(kind: usize, limits: Limits) -> (Rules, usize) {
    match kind {
        0 => (Rules::linux24(limits).with_requests(24), 1),
        1 => (Rules::linux26(limits).with_requests(16), 1),
        2 => (Rules::today(limits, 8), 8),
        _ => (Rules::bare(limits), 3),
    }
}

impl Run {
    fn new(name: &str, kind: usize, steps: &[Step]) -> Self {
        let limits = Limits { max_sectors: 96, max_segments: 7, ..Limits::CCISS };
        let (rules, depth) = rules(kind, limits);
        let mut queue = Queue::new(elevator::by_name(name).expect("it exists"), rules);
        queue.describe(TaskId(1), TaskInfo { process: 1, class: IoClass::RealTime, level: 2 });
        queue.describe(TaskId(2), TaskInfo { process: 2, class: IoClass::Idle, level: 7 });
        queue.describe(TaskId(3), TaskInfo::of_process(4));
        let submissions = steps.iter().filter(|step| matches!(step, Step::Submit { .. })).count();
        Self {
            queue,
            now: Nanos::ZERO,
            depth,
            in_device: VecDeque::new(),
            sleeping: Vec::new(),
            taken: vec![false; submissions],
            back: vec![false; submissions],
            log: Vec::new(),
        }
    }

    fn play(mut self, steps: &[Step]) -> Self {
        let mut token = 0;
        for step in steps {
            match *step {
                Step::Submit { op, place, blocks, task, sync, pages } => {
                    let limits = self.queue.rules().limits;
                    let frames = (0..blocks).map(|n| pages + if pages % 2 == 0 { n } else { blocks - n });
                    let span = PageSpan::of_pages(frames, &limits);
                    let bio =
                        Bio::new(op, place * 8, blocks * 8).by(TaskId(task)).with_token(token).memory(span);
                    self.submit(if sync { bio.sync().on(task as u8) } else { bio });
                    token += 1;
                }
                Step::Pass { micros } => self.now += Nanos::from_micros(micros),
                Step::Complete { which } => self.complete(which),
                Step::Unplug { task } => {
                    self.queue.unplug(self.now);
                    self.queue.finish_plug(self.now, TaskId(task));
                }
                Step::Plug { task } => self.queue.start_plug(TaskId(task)),
                Step::Exit { task } => self.queue.task_exited(self.now, TaskId(task)),
                Step::Follow { which } => self.follow(which),
            }
            self.feed_device();
            self.check();
        }
        self.finish();
        self
    }

    fn submit(&mut self, bio: Bio) {
        match self.queue.submit(self.now, bio) {
            Submitted::Full => self.sleeping.push(bio),
            Submitted::TooLarge => panic!("within the limits: {bio:?}"),
            Submitted::Queued(id) | Submitted::Merged { request: id, .. } => {
                let request = self.queue.request(id).expect("it is there");
                assert!(request.sector() <= bio.sector() && bio.end() <= request.end());
                assert!(self.queue.bios(id).any(|other| other.token() == bio.token()));
                self.taken[bio.token() as usize] = true;
            }
        }
    }

    /// Starts requests while the device has room. Returns when it must be asked again.
    fn feed_device(&mut self) -> Option<Nanos> {
        loop {
            let free = self.depth - self.in_device.len();
            match self.queue.next(self.now, free as u32) {
                Next::Request(id) => {
                    assert!(free > 0, "nothing starts without a place");
                    let request = self.queue.request(id).expect("it is there");
                    assert_eq!(request.stage(), Stage::Started);
                    assert!(!self.in_device.contains(&id), "nothing starts twice");
                    self.log.push((self.now.0, request.sector(), request.sectors()));
                    self.check_limits(id);
                    self.in_device.push_back(id);
                }
                Next::Nothing => return None,
                Next::NotBefore(until) => {
                    assert!(until > self.now, "a wait lies ahead");
                    return Some(until);
                }
            }
        }
    }

    /// The device takes an arbitrary waiting request, whatever the elevator would choose.
    fn follow(&mut self, which: usize) {
        let waits = |stage| matches!(stage, Stage::Waiting | Stage::Parked | Stage::Plugged);
        let waiting = self.queue.requests().iter().filter(|(_, request)| waits(request.stage()));
        let Some((slot, _)) = waiting.take(which + 1).last() else { return };
        let id = self.queue.requests().id(slot);
        if self.in_device.len() < self.depth && self.queue.follow(self.now, id) {
            assert!(!self.queue.follow(self.now, id), "it has been started");
            self.check_limits(id);
            self.in_device.push_back(id);
        }
    }

    fn check_limits(&self, id: RequestId) {
        let request = self.queue.request(id).expect("it is there");
        let limits = self.queue.rules().limits;
        assert!(request.sectors() <= limits.max_sectors && request.segments() <= limits.max_segments);
        let mut at = request.sector();
        for bio in self.queue.bios(id) {
            assert_eq!((bio.sector(), bio.op()), (at, request.op()), "bios lie side by side");
            at = bio.end();
        }
        assert_eq!(at, request.end());
    }

    fn complete(&mut self, which: usize) {
        if self.in_device.is_empty() {
            return;
        }
        let id = self.in_device.remove(which % self.in_device.len()).expect("it is there");
        let back = &mut self.back;
        let done = self.queue.completed(self.now, id, |bio| {
            assert!(!std::mem::replace(&mut back[bio.token() as usize], true), "a bio comes back once");
        });
        assert!(done && !self.queue.completed(self.now, id, |_| {}), "a request completes once");
        let mut sleeping = std::mem::take(&mut self.sleeping).into_iter();
        for bio in sleeping.by_ref() {
            if !self.queue.has_room(bio.op()) {
                self.sleeping.push(bio);
                break;
            }
            self.queue.let_in(self.now, bio.task());
            self.submit(bio);
        }
        self.sleeping.extend(sleeping);
    }

    fn check(&self) {
        let in_use =
            self.queue.requests().iter().filter(|(_, request)| request.stage() != Stage::Free).count();
        assert_eq!(in_use, self.queue.waiting() + self.in_device.len());
        let mut seen = Snapshot::default();
        self.queue.snapshot(&mut seen);
        assert_eq!(seen.waiting.len(), self.queue.elevator().waiting());
        assert_eq!(seen.waiting.len() + seen.in_plugs + usize::from(seen.parked), self.queue.waiting());
    }

    /// Runs until nothing is left; waits are let run out.
    fn finish(&mut self) {
        for task in 0..6 {
            self.queue.finish_plug(self.now, TaskId(task));
        }
        for _ in 0..20_000 {
            self.queue.unplug(self.now);
            if let Some(until) = self.feed_device() {
                self.now = until;
                continue;
            }
            if self.in_device.is_empty() {
                assert_eq!(self.queue.waiting(), 0, "nothing is forgotten");
                assert!(self.sleeping.is_empty(), "nobody sleeps for ever");
                break;
            }
            self.now += Nanos::from_millis(2);
            self.complete(0);
        }
        assert!(
            self.taken.iter().all(|&taken| taken) && self.back.iter().all(|&back| back),
            "every bio comes back"
        );
        assert!(self.queue.requests().is_empty() && self.queue.in_flight() == 0);
    }
}

/// Few cases, as each runs every elevator under every kernel's rules, twice; PROPTEST_CASES sets more.
fn config() -> ProptestConfig {
    let few = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() { few } else { ProptestConfig { cases: 12, ..few } }
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn serves_everything_once_within_the_limits_and_alike(steps in steps()) {
        for name in elevator::known() {
            for kind in 0..KINDS {
                let first = Run::new(name, kind, &steps).play(&steps);
                let second = Run::new(name, kind, &steps).play(&steps);
                prop_assert_eq!(&first.log, &second.log, "{}", name);
                prop_assert_eq!(first.queue.merges(), second.queue.merges());
            }
        }
    }

    #[test]
    fn another_elevator_can_take_over_at_any_time(steps in steps(), from in 0usize..14, to in 0usize..14) {
        let names: Vec<&str> = elevator::known().collect();
        let mut run = Run::new(names[from % names.len()], 3, &steps);
        let (before, after) = steps.split_at(steps.len() / 2);
        let (mut token, total) = (0, run.taken.len());
        for step in before {
            if let Step::Submit { op, place, blocks, task, .. } = *step {
                run.submit(Bio::new(op, place * 8, blocks * 8).by(TaskId(task)).with_token(token));
                token += 1;
            }
        }
        run.feed_device();
        while !run.in_device.is_empty() {
            run.complete(0);
        }
        let taken = run.queue.change_elevator(run.now, elevator::by_name(names[to % names.len()]).expect("it exists"));
        prop_assert!(taken.is_ok());
        for step in after {
            if let Step::Submit { op, place, blocks, task, .. } = *step {
                run.submit(Bio::new(op, place * 8, blocks * 8).by(TaskId(task)).with_token(token));
                token += 1;
            }
        }
        prop_assert_eq!(token as usize, total);
        run.finish();
    }
}

/// The longest wait of a lone far request while another task keeps reading near by, each read taking 1 ms.
fn longest_wait(name: &str, victim: Op) -> Nanos {
    let mut queue = Queue::new(elevator::by_name(name).expect("it exists"), Rules::bare(Limits::CCISS));
    let mut now = Nanos::ZERO;
    let far = 40_000_000;
    // Eight reads always wait, ever nearer to the head.
    for n in 0..8 {
        queue.submit(now, Bio::new(Op::Read, 1000 * n, 8).by(TaskId(0)));
    }
    queue.submit(now, Bio::new(victim, far, 8).by(TaskId(1)));
    let mut next = 8;
    for _ in 0..30_000 {
        match queue.next(now, 1) {
            Next::Request(id) => {
                let sector = queue.request(id).map(|request| request.sector());
                if sector == Some(far) {
                    return now;
                }
                now += Nanos::from_millis(1);
                queue.completed(now, id, |_| {});
                queue.submit(now, Bio::new(Op::Read, 1000 * next, 8).by(TaskId(0)));
                next += 1;
            }
            Next::NotBefore(until) => now = until,
            Next::Nothing => panic!("{name}: work waits and nothing goes"),
        }
    }
    panic!("{name}: starved for {now}")
}

#[test]
fn nobody_starves_longer_than_the_rules_allow() {
    // (elevator, longest wait of a read, longest wait of a write; ms). Expiry plus what goes first: a batch, the other direction's turns,
    // slices.
    let bounds: [(&str, u64, u64); 13] = [
        ("linus24", 150, 300),
        ("noop", 10, 10),
        ("deadline@2.6.0", 520, 520),
        ("deadline@2.6.24", 530, 60),
        ("as", 270, 1100),
        ("cfq1", 30, 30),
        ("cfq2", 60, 60),
        ("cfq3", 150, 300),
        ("clook-hsfs", 510, 510),
        ("sweep", 510, 510),
        ("mq-deadline", 530, 60),
        ("kyber", 20, 30),
        ("bfq-lite", 300, 300),
    ];
    for (name, read, write) in bounds {
        for (victim, bound) in [(Op::Read, read), (Op::Write, write)] {
            let waited = longest_wait(name, victim);
            assert!(waited <= Nanos::from_millis(bound), "{name}, {victim:?}: {waited} of {bound} ms");
        }
    }
}

#[test]
fn ascending_pages_make_256_kib_in_4_or_5_segments_and_descending_ones_124_kib_in_31() {
    use fathom_iopath::pages::{PageAllocator, PageOrder};
    // 1, 2 or 3 writers dirty their pages in turns of 100; then each page is submitted as a separate bio, as the file system of 2008 did.
    for writers in 1..=3u64 {
        for (order, sectors, segments) in
            [(PageOrder::Ascending, 512, 4..=5), (PageOrder::Descending, 248, 31..=31)]
        {
            let rules = Rules::linux26(Limits::CCISS).with_requests(1024);
            let mut queue = Queue::new(elevator::by_name("deadline@2.6.24").expect("it exists"), rules);
            let mut pages = PageAllocator::new(order, 1, 1 << 18, 1);
            let mut memory = vec![Vec::new(); writers as usize];
            for turn in 0..31 * 64 * writers / 100 + writers {
                memory[(turn % writers) as usize].extend((0..100).map(|_| pages.take(0)));
            }
            memory.iter_mut().for_each(|pages| pages.truncate(31 * 64));
            for (writer, memory) in memory.iter().enumerate() {
                for (n, &frame) in memory.iter().enumerate() {
                    let span = PageSpan::of_pages([frame], &Limits::CCISS);
                    let sector = 100_000_000 * writer as u64 + 8 * n as u64;
                    let bio = Bio::new(Op::Write, sector, 8).by(TaskId(writer as u16)).memory(span);
                    assert!(!matches!(queue.submit(Nanos::ZERO, bio), Submitted::Full | Submitted::TooLarge));
                }
            }
            queue.unplug(Nanos::ZERO);
            let mut count = 0;
            while let Next::Request(id) = queue.next(Nanos::ZERO, 1) {
                let request = queue.request(id).expect("it is there");
                assert_eq!(request.sectors(), sectors, "{order:?}, {writers} writers");
                assert!(segments.contains(&request.segments()), "{order:?}: {}", request.segments());
                queue.completed(Nanos::ZERO, id, |_| {});
                count += 1;
            }
            assert_eq!(count, writers * 31 * 64 * 8 / u64::from(sectors));
        }
    }
}
