//! Today's `mq-deadline` (5.14 and later): the rules of 2.6.24 with a remembered position per direction, three priority classes with
//! aging, and a limit for everything but synchronous reads.

use super::turns::Turns;
use super::{
    ASYNC_DEPTH, FIFO_BATCH, FRONT_MERGES, MQ, PRIO_AGING_EXPIRE, READ, READ_EXPIRE, WRITE_EXPIRE,
    WRITES_STARVED,
};
use crate::bio::Bio;
use crate::elevator::sorted::{self, Lane};
use crate::elevator::{Elevator, Held, MayQueue, Order, Pick};
use crate::limits::Limits;
use crate::merge::{Candidate, MergeKind};
use crate::request::{Requests, Slot};
use crate::task::TaskId;
use crate::time::Nanos;
use crate::tunable::{Tunables, View};

/// The requests of one class.
#[derive(Clone, Debug, Default)]
struct Class {
    lanes: [Lane; 2],
    /// Start of the last request of each direction.
    latest: [u64; 2],
    /// Requests with the elevator or in flight.
    under_way: usize,
}

/// Today's `mq-deadline`.
#[derive(Clone, Debug)]
pub struct MqDeadline {
    tunables: Tunables<7>,
    classes: [Class; 3],
    last_way: usize,
    turns: Turns,
    aged: u64,
}

impl Default for MqDeadline {
    fn default() -> Self {
        Self {
            tunables: Tunables::new(&MQ),
            classes: Default::default(),
            last_way: READ,
            turns: Turns::default(),
            aged: 0,
        }
    }
}

impl MqDeadline {
    fn class_of(requests: &Requests, task: TaskId) -> usize {
        requests.task(task).class as usize
    }

    fn lane(&mut self, requests: &Requests, slot: Slot) -> &mut Lane {
        let request = &requests[slot];
        &mut self.classes[usize::from(request.private.queue)].lanes[request.op().direction()]
    }

    fn expire(&self, way: usize) -> Nanos {
        Nanos::from_millis(self.tunables[if way == READ { READ_EXPIRE } else { WRITE_EXPIRE }])
    }

    fn following(&self, requests: &Requests, class: usize, way: usize) -> Option<Slot> {
        let class = &self.classes[class];
        class.lanes[way].tree.at_or_after(requests, class.latest[way])
    }

    /// The next request of a class, with the batch and starvation counts that choosing it would leave.
    fn choose(&mut self, now: Nanos, requests: &Requests, class: usize) -> Option<Slot> {
        if self.turns.batching < self.tunables[FIFO_BATCH]
            && let Some(slot) = self.following(requests, class, self.last_way)
        {
            return Some(slot);
        }
        let way = self.turns.direction(&self.classes[class].lanes, self.tunables[WRITES_STARVED])?;
        let lane = &self.classes[class].lanes[way];
        let expired = lane.expired(requests, now);
        self.turns.expired += u64::from(expired);
        let following = if expired { None } else { self.following(requests, class, way) };
        let slot = following.or(self.classes[class].lanes[way].oldest())?;
        self.last_way = way;
        self.turns.begin();
        Some(slot)
    }

    /// Takes the next request of a class if it was queued no later than `latest_start`.
    fn dispatch(
        &mut self,
        now: Nanos,
        requests: &mut Requests,
        class: usize,
        latest_start: Nanos,
    ) -> Option<Slot> {
        let slot = self.choose(now, requests, class)?;
        let request = &requests[slot];
        let way = request.op().direction();
        if request.private.due - self.expire(way) > latest_start {
            return None;
        }
        self.start(requests, slot);
        Some(slot)
    }

    fn start(&mut self, requests: &mut Requests, slot: Slot) {
        let request = &requests[slot];
        let (class, way) = (usize::from(request.private.queue), request.op().direction());
        self.turns.batching += 1;
        self.classes[class].latest[way] = request.sector();
        self.classes[class].lanes[way].remove(requests, slot);
    }

    /// Takes a request of a lower class that has waited too long.
    fn dispatch_aged(&mut self, now: Nanos, requests: &mut Requests) -> Option<Slot> {
        if self.classes.iter().filter(|class| class.under_way > 0).count() < 2 {
            return None;
        }
        let aging = Nanos::from_millis(self.tunables[PRIO_AGING_EXPIRE]);
        if now < aging {
            return None;
        }
        let latest_start = now - aging;
        let slot = (1..3).find_map(|class| self.dispatch(now, requests, class, latest_start))?;
        self.aged += 1;
        Some(slot)
    }
}

impl Elevator for MqDeadline {
    fn name(&self) -> &'static str {
        "mq-deadline@5.14"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        let class = Self::class_of(requests, bio.task());
        let tree = &self.classes[class].lanes[bio.op().direction()].tree;
        sorted::candidate(tree, requests, bio, self.tunables[FRONT_MERGES] != 0)
    }

    fn allows(&self, requests: &Requests, slot: Slot, bio: &Bio) -> bool {
        usize::from(requests[slot].private.queue) == Self::class_of(requests, bio.task())
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        self.lane(requests, slot).merged(requests, slot, kind);
    }

    fn order(&self, requests: &Requests, slot: Slot) -> Order<'_> {
        let request = &requests[slot];
        let class = &self.classes[usize::from(request.private.queue)];
        Order::Tree(&class.lanes[request.op().direction()].tree)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        self.classes[usize::from(requests[gone].private.queue)].under_way -= 1;
        self.lane(requests, gone).joined(requests, kept, gone);
    }

    fn joins_on_insert(&self) -> bool {
        true
    }

    fn insert(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        let class = Self::class_of(requests, requests[slot].task());
        let way = requests[slot].op().direction();
        requests[slot].private.queue = class as u16;
        let due = now + self.expire(way);
        self.classes[class].under_way += 1;
        self.classes[class].lanes[way].insert(requests, slot, due);
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        if let Some(slot) = self.dispatch_aged(now, requests) {
            return Pick::Request(slot);
        }
        for class in 0..3 {
            if let Some(slot) = self.dispatch(now, requests, class, now) {
                return Pick::Request(slot);
            }
            if self.classes[class].under_way > 0 {
                break; // lower classes wait until the device has completed this one's
            }
        }
        Pick::Nothing
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        let class = usize::from(requests[slot].private.queue);
        let way = requests[slot].op().direction();
        let goes_on = self.turns.batching < self.tunables[FIFO_BATCH]
            && self.following(requests, class, self.last_way) == Some(slot);
        if !goes_on {
            self.last_way = way;
            self.turns.begin_in(way, &self.classes[class].lanes);
        }
        self.start(requests, slot);
    }

    fn completed(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.classes[usize::from(requests[slot].private.queue)].under_way -= 1;
    }

    fn may_queue(&mut self, _now: Nanos, _requests: &Requests, bio: &Bio, held: Held) -> MayQueue {
        let in_use = u64::from(held.reads) + u64::from(held.writes);
        let depth = match self.tunables[ASYNC_DEPTH] {
            0 => u64::from(held.limit),
            set => set,
        };
        if bio.op().is_read() || in_use < depth { MayQueue::Yes } else { MayQueue::No }
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.classes.iter_mut().find_map(|class| {
            let slot = class.lanes.iter_mut().find_map(|lane| lane.drain(requests))?;
            class.under_way -= 1;
            Some(slot)
        })
    }

    fn waiting(&self) -> usize {
        self.classes.iter().flat_map(|class| &class.lanes).map(Lane::len).sum()
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        let lanes = self.classes.iter().flat_map(|class| &class.lanes);
        lanes.for_each(|lane| lane.tree.iter(requests).for_each(&mut *each));
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("batches", self.turns.batches);
        each("expired", self.turns.expired);
        each("aged", self.aged);
    }
}

#[cfg(test)]
mod tests {
    use crate::bio::{Bio, Op};
    use crate::elevator::testing::Bench;
    use crate::queue::Submitted;
    use crate::task::{IoClass, TaskId, TaskInfo};

    fn described(class: IoClass) -> TaskInfo {
        TaskInfo { class, ..TaskInfo::alone(TaskId(1)) }
    }

    #[test]
    fn writes_may_have_all_the_tags_unless_somebody_says_otherwise() {
        use crate::elevator::by_name;
        use crate::{Limits, Nanos, Queue, Rules};
        let taken = |name: &str| {
            let rules = Rules::today(Limits::LOOP_618, 128).with_requests(1024);
            let mut queue = Queue::new(by_name(name).unwrap(), rules);
            let writes = (0..2000u64).filter(|n| {
                matches!(queue.submit(Nanos::ZERO, Bio::new(Op::Write, 100 * n, 8)), Submitted::Queued(_))
            });
            writes.count()
        };
        assert_eq!((taken("mq-deadline"), taken("mq-deadline,async_depth=768")), (1024, 768));
    }

    #[test]
    fn each_direction_goes_on_where_it_was() {
        let mut bench = Bench::new("mq-deadline,fifo_batch=1");
        for sector in [500, 600, 100, 700] {
            bench.read(sector);
        }
        for sector in [5000, 4000, 6000] {
            bench.write(sector);
        }
        // 2.6.24 would restart each direction at its oldest request.
        assert_eq!(bench.order(), [100, 500, 600, 4000, 700, 5000, 6000]);
    }

    #[test]
    fn expired_requests_break_the_order_only_between_batches() {
        let mut bench = Bench::new("mq-deadline,fifo_batch=2");
        bench.read(100);
        bench.serve();
        for sector in [50, 200, 300, 400] {
            bench.read(sector);
        }
        bench.after(500);
        assert_eq!(bench.serve_n(3), [200, 50, 300]);
        assert_eq!(bench.counter("expired"), 1);
    }

    #[test]
    fn higher_classes_go_first_and_lower_ones_age() {
        let mut bench = Bench::new("mq-deadline");
        bench.queue.describe(TaskId(1), described(IoClass::RealTime));
        bench.queue.describe(TaskId(2), described(IoClass::Idle));
        bench.read_by(2, 100);
        bench.read_by(0, 200);
        bench.read_by(1, 300);
        let first = bench.start().unwrap();
        assert_eq!(bench.sector(first), 300);
        assert_eq!(bench.start(), None, "others wait until the first class is done");
        bench.done(first);
        bench.after(9_999);
        bench.read_by(1, 400);
        assert_eq!(bench.serve(), Some(400));
        bench.read_by(1, 500);
        bench.after(1);
        assert_eq!(bench.order(), [200, 100, 500]);
        assert_eq!(bench.counter("aged"), 2);
    }

    #[test]
    fn writes_leave_requests_for_reads() {
        let mut bench = Bench::new("mq-deadline,async_depth=2");
        for sector in [100, 200] {
            bench.write(sector);
        }
        assert_eq!(bench.submit(Bio::new(Op::Write, 300, 8)), Submitted::Full);
        assert!(matches!(bench.submit(Bio::new(Op::Read, 300, 8)), Submitted::Queued(_)));
    }

    #[test]
    fn classes_do_not_merge() {
        let mut bench = Bench::new("mq-deadline");
        bench.queue.describe(TaskId(1), described(IoClass::RealTime));
        bench.read_by(0, 100);
        bench.read_by(1, 108);
        assert_eq!(bench.merged(), (0, 0));
    }
}
