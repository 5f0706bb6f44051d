//! `kyber` (4.12 and later): four domains (reads, writes, discards, others), each with a number of tokens and a batch size; first come,
//! first served per CPU inside a domain. Latencies are evaluated every 100 ms: when one domain is slow, fast domains get fewer tokens.

mod latency;

use super::fifo::among_the_last;
use super::{Elevator, Held, MayQueue, Pick};
use crate::bio::{Bio, Op};
use crate::limits::Limits;
use crate::list::List;
use crate::merge::Candidate;
use crate::request::{Requests, Slot};
use crate::time::Nanos;
use crate::tunable::{Tunable, Tunables, Unit, View};
use latency::Latencies;

const DOMAINS: usize = 4;
const TOKENS: [u32; DOMAINS] = [256, 128, 64, 16];
const BATCH: [u32; DOMAINS] = [16, 8, 1, 1];
/// Share of the elevator's tags for asynchronous writes, in percent.
const ASYNC_PERCENT: u64 = 75;
/// Number of CPUs with separate software queues.
const CPUS: usize = 32;

static TABLE: [Tunable; 2] = [
    Tunable::count("read_lat_nsec", Unit::Nanos, 2_000_000, "latency that reads should have")
        .at_most(1 << 40)
        .at_least(1),
    Tunable::count("write_lat_nsec", Unit::Nanos, 10_000_000, "latency that writes should have")
        .at_most(1 << 40)
        .at_least(1),
];

/// A domain's requests: those of each CPU, and those collected for dispatch.
#[derive(Clone, Debug)]
struct Domain {
    of_cpu: Vec<List>,
    collected: List,
    tokens: u32,
    used: u32,
}

impl Domain {
    /// The next request. When none is collected, collects those of all CPUs, in CPU order.
    fn first(&mut self, requests: &mut Requests) -> Option<Slot> {
        if self.collected.is_empty() {
            for list in &mut self.of_cpu {
                while let Some(slot) = list.pop_front(requests) {
                    self.collected.push_back(requests, slot);
                    requests[slot].private.mark = COLLECTED;
                }
            }
        }
        self.collected.first()
    }

    fn lists(&self) -> impl Iterator<Item = &List> {
        std::iter::once(&self.collected).chain(&self.of_cpu)
    }
}

/// Set in a request's mark once it has left its CPU's queue: it can no longer grow.
const COLLECTED: u16 = 1;

/// The `kyber` elevator.
#[derive(Clone, Debug)]
pub struct Kyber {
    tunables: Tunables<2>,
    domains: [Domain; DOMAINS],
    current: usize,
    batching: u32,
    waiting: usize,
    latencies: Latencies,
}

impl Default for Kyber {
    fn default() -> Self {
        let domain = |n| Domain {
            of_cpu: vec![List::default(); CPUS],
            collected: List::default(),
            tokens: TOKENS[n],
            used: 0,
        };
        Self {
            tunables: Tunables::new(&TABLE),
            domains: std::array::from_fn(domain),
            current: 0,
            batching: 0,
            waiting: 0,
            latencies: Latencies::default(),
        }
    }
}

impl Kyber {
    fn domain_of(op: Op) -> usize {
        op as usize
    }

    fn adjust(&mut self, now: Nanos) {
        let domains = &mut self.domains;
        self.latencies.look(now, |domain, bucket| {
            let tokens = domains[domain].tokens * (bucket + 1) / 4;
            domains[domain].tokens = tokens.clamp(1, TOKENS[domain]);
        });
    }

    fn leave(&mut self, requests: &mut Requests, slot: Slot) {
        let request = &requests[slot];
        let (domain, cpu) = (Self::domain_of(request.op()), usize::from(request.cpu()));
        let list = match request.private.mark {
            COLLECTED => &mut self.domains[domain].collected,
            _ => &mut self.domains[domain].of_cpu[cpu],
        };
        list.remove(requests, slot);
    }

    fn dispatch_current(&mut self, requests: &mut Requests) -> Option<Slot> {
        let domain = &mut self.domains[self.current];
        if domain.used >= domain.tokens {
            return None; // not collected either, so that they may still grow
        }
        let slot = domain.first(requests)?;
        domain.used += 1;
        domain.collected.remove(requests, slot);
        self.batching += 1;
        Some(slot)
    }

    fn dispatch(&mut self, requests: &mut Requests) -> Option<Slot> {
        if self.batching < BATCH[self.current]
            && let Some(slot) = self.dispatch_current(requests)
        {
            return Some(slot);
        }
        self.batching = 0;
        for _ in 0..DOMAINS {
            self.current = (self.current + 1) % DOMAINS;
            if let Some(slot) = self.dispatch_current(requests) {
                return Some(slot);
            }
        }
        None
    }
}

impl Elevator for Kyber {
    fn name(&self) -> &'static str {
        "kyber@4.12"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        let list = &self.domains[Self::domain_of(bio.op())].of_cpu[usize::from(bio.cpu())];
        among_the_last(list, requests, bio)
    }

    fn uses_last_merge(&self) -> bool {
        false
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, _kept: Slot, gone: Slot) {
        self.leave(requests, gone);
        self.waiting -= 1;
    }

    fn insert(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        let (op, cpu) = (requests[slot].op(), requests[slot].cpu());
        self.domains[Self::domain_of(op)].of_cpu[usize::from(cpu)].push_back(requests, slot);
        self.waiting += 1;
    }

    fn next(&mut self, now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        self.adjust(now);
        let Some(slot) = self.dispatch(requests) else { return Pick::Nothing };
        requests[slot].private.due = now;
        self.waiting -= 1;
        Pick::Request(slot)
    }

    fn taken(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.adjust(now);
        let domain = Self::domain_of(requests[slot].op());
        if domain != self.current {
            (self.current, self.batching) = (domain, 0);
        }
        self.batching += 1;
        self.domains[domain].used += 1;
        self.leave(requests, slot);
        requests[slot].private.due = now;
        self.waiting -= 1;
    }

    fn completed(&mut self, now: Nanos, requests: &mut Requests, slot: Slot) {
        self.adjust(now);
        let request = &requests[slot];
        let domain = Self::domain_of(request.op());
        self.domains[domain].used -= 1;
        let target = match request.op() {
            Op::Read => self.tunables[0],
            Op::Write => self.tunables[1],
            // The kernel's target for discards is fixed.
            Op::Discard => 5_000_000_000,
            Op::Other => return,
        };
        self.latencies.add(now, domain, target, request.queued_at(), request.private.due);
    }

    fn returned(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.domains[Self::domain_of(requests[slot].op())].used -= 1;
    }

    fn may_queue(&mut self, _now: Nanos, _requests: &Requests, bio: &Bio, held: Held) -> MayQueue {
        let in_use = u64::from(held.reads) + u64::from(held.writes);
        let share = (u64::from(held.limit) * ASYNC_PERCENT / 100).max(1);
        if bio.is_sync() || in_use < share { MayQueue::Yes } else { MayQueue::No }
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        let slot = self.domains.iter_mut().find_map(|domain| {
            let slot = domain.first(requests)?;
            domain.collected.remove(requests, slot);
            Some(slot)
        })?;
        self.waiting -= 1;
        Some(slot)
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        let lists = self.domains.iter().flat_map(Domain::lists);
        lists.for_each(|list| list.iter(requests).for_each(&mut *each));
    }

    fn counters(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("read_tokens", u64::from(self.domains[0].tokens));
        each("write_tokens", u64::from(self.domains[1].tokens));
        each("discard_tokens", u64::from(self.domains[2].tokens));
    }
}

#[cfg(test)]
mod tests {
    use crate::bio::{Bio, Op};
    use crate::elevator::testing::Bench;
    use crate::queue::Submitted;

    #[test]
    fn domains_take_turns_in_batches_first_come_first_served() {
        let mut bench = Bench::new("kyber");
        for n in (0..20).rev() {
            bench.read(100 * n);
        }
        for n in (0..10).rev() {
            bench.write(50_000 + 100 * n);
        }
        let order = bench.order();
        assert_eq!(&order[..2], &[1900, 1800]);
        assert_eq!(order[16], 50_900, "16 reads, then 8 writes");
        assert_eq!(order[24], 300);
        assert_eq!(&order[28..], &[50_100, 50_000]);
    }

    #[test]
    fn each_cpu_has_its_queue() {
        let mut bench = Bench::new("kyber");
        for (cpu, sector) in [(1, 100), (0, 200), (1, 300), (0, 400)] {
            bench.submit(Bio::new(Op::Read, sector, 8).on(cpu));
        }
        assert_eq!(bench.serve(), Some(200), "CPU 0 first");
        bench.submit(Bio::new(Op::Read, 500, 8).on(0));
        assert_eq!(bench.order(), [400, 100, 300, 500], "500 came after the others were collected");
    }

    #[test]
    fn slow_writes_cost_reads_no_tokens_and_fast_reads_lose_some() {
        let mut bench = Bench::new("kyber");
        // Reads take 0.1 ms, writes 100 ms, ten times their target.
        for round in 0..40u64 {
            bench.write(1_000_000 * round);
            let write = bench.start().unwrap();
            for n in 0..30 {
                bench.read(1000 * (30 * round + n));
                let read = bench.start().unwrap();
                bench.now += crate::Nanos::from_micros(100);
                bench.done(read);
            }
            bench.after(97);
            bench.done(write);
        }
        assert_eq!(bench.counter("write_tokens"), 128);
        assert!(bench.counter("read_tokens") < 100, "{}", bench.counter("read_tokens"));
    }

    #[test]
    fn what_is_set_aside_and_put_back_is_no_sample() {
        use crate::elevator::{AnyElevator, by_name};
        use crate::{Limits, Nanos, Queue, Rules};
        let mut queue = Queue::new(by_name("kyber").unwrap(), Rules::today(Limits::LOOP_618, 128));
        queue.submit(Nanos::ZERO, Bio::new(Op::Read, 1000, 8));
        queue.next(Nanos::ZERO, 0);
        assert!(queue.parked().is_some());
        queue.unpark(Nanos::from_millis(5));
        let AnyElevator::Kyber(kyber) = queue.elevator() else { unreachable!("it is kyber") };
        assert!(kyber.latencies.is_untouched());
        assert_eq!((kyber.domains[0].used, kyber.waiting), (0, 1));
    }

    #[test]
    fn without_trouble_the_tokens_stay() {
        let mut bench = Bench::new("kyber");
        for n in 0..3000 {
            bench.read(1000 * n);
            let id = bench.start().unwrap();
            bench.after(1).done(id);
        }
        assert_eq!(bench.counter("read_tokens"), 256);
    }

    #[test]
    fn asynchronous_writes_leave_a_quarter_of_the_tags() {
        use crate::elevator::by_name;
        use crate::{Limits, Nanos, Queue, Rules};
        let mut queue = Queue::new(by_name("kyber").unwrap(), Rules::today(Limits::LOOP_618, 128));
        let taken = (0..300u64).filter(|n| {
            matches!(queue.submit(Nanos::ZERO, Bio::new(Op::Write, 100 * n, 8)), Submitted::Queued(_))
        });
        assert_eq!(taken.count(), 192);
        assert!(matches!(queue.submit(Nanos::ZERO, Bio::new(Op::Write, 9, 8).sync()), Submitted::Queued(_)));
    }
}
