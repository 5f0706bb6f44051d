//! Permanently merged queues: of processes that start shortly after one another (probably parts of one job), where idling for a single
//! one would not increase throughput. Requests in the abandoned queue stay there; new ones go to the other.

use super::BfqLite;
use crate::time::Nanos;

/// A queue created within this time of another is its partner (the kernel's burst interval).
const TOGETHER: Nanos = Nanos::from_millis(180);
/// Queues created later than this look for partners among themselves.
const FORGOTTEN: Nanos = Nanos::from_millis(600);
/// Where merging may do harm, it is done only when a queue has lived this long.
const LATE: Nanos = Nanos::from_millis(600);

impl BfqLite {
    /// Looks for a partner of a newly created queue.
    pub(super) fn find_partner(&mut self, now: Nanos, key: u16) {
        let new = &self.queues[key];
        if !new.sync {
            return;
        }
        let last = self.last_made.map(|last| (last, &self.queues[last]));
        let last = last.filter(|(_, last)| {
            last.own.made_at + FORGOTTEN >= now
                && (last.class, last.own.weight) == (new.class, new.own.weight)
        });
        match last.map(|(last, queue)| (last, queue.own.made_at)) {
            None => self.last_made = Some(key),
            Some((last, made_at)) if made_at + TOGETHER >= now => {
                self.queues[key].own.partner = Some(last);
                if self.gains_nothing_by_waiting() {
                    self.join(key);
                }
            }
            Some(_) => {}
        }
    }

    /// Called for a new request: decides once, when the queue has lived long enough, whether to merge it with its partner.
    pub(super) fn join_partner(&mut self, now: Nanos, key: u16) {
        let own = &self.queues[key].own;
        let due = own.partner.is_some() && own.made_at + LATE < now;
        if !due || self.gains_nothing_by_waiting() {
            return;
        }
        if self.idling_is_quicker(&self.queues[key]) {
            self.queues[key].own.partner = None;
        } else {
            self.join(key);
        }
    }

    /// Flash with its own queue.
    fn gains_nothing_by_waiting(&self) -> bool {
        !self.rotates() && self.queueing.queues()
    }

    fn join(&mut self, key: u16) {
        let partner = self.queues[key].own.partner.take();
        let Some(into) = partner.map(|partner| self.queues.end_of(partner)).filter(|&into| into != key)
        else {
            return;
        };
        let own = &mut self.queues[key].own;
        let io_bound = std::mem::replace(&mut own.io_bound, false);
        // Raising carries over to the merged queue.
        let coefficient = std::mem::replace(&mut own.coefficient, 1);
        let (at, length) = (own.raised_at, own.raised_for);
        let other = &mut self.queues[into].own;
        other.io_bound |= io_bound;
        if coefficient > 1 && !other.is_raised() {
            (other.coefficient, other.raised_at, other.raised_for) = (coefficient, at, length);
        }
        self.queues[key].into = Some(into);
        self.counts.joined_queues += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::elevator::testing::Bench;

    /// Submits reads far apart, so that idling for the task's next read does not pay.
    fn seek(bench: &mut Bench, task: u16) {
        (0..24).for_each(|n| bench.read_by(task, 1_000_000 * u64::from(task + 1) + 100_000 * n));
    }

    /// Two tasks that start `apart` ms apart; later the second one reads, and the first what lies behind that.
    fn two(options: &str, apart: u64, later: u64, seeks: bool) -> Bench {
        let mut bench = Bench::new(&format!("bfq-lite,low_latency=0{options}"));
        for task in 0..2 {
            if seeks {
                seek(&mut bench, task);
            } else {
                bench.read_by(task, 50_000_000 * u64::from(task) + 1000);
            }
            bench.after(if task == 0 { apart } else { 0 });
        }
        // The disk takes several requests at once. For a disk without queueing, bfq would idle for every queue.
        loop {
            let started: Vec<_> = (0..5).map_while(|_| bench.start()).collect();
            if started.is_empty() && bench.not_before().is_none() {
                break;
            }
            bench.after(1);
            started.into_iter().for_each(|id| bench.done(id));
        }
        bench.after(later);
        bench.read_by(1, 50_001_008);
        bench.read_by(0, 50_001_016);
        bench
    }

    #[test]
    fn two_that_begin_together_and_seek_have_one_queue_after_a_while() {
        let bench = two("", 150, 700, true);
        assert_eq!((bench.counter("joined_queues"), bench.merged()), (1, (1, 0)), "bios of two tasks merge");
    }

    #[test]
    fn who_began_later_or_reads_on_or_is_young_keeps_its_own() {
        for (what, bench) in [
            ("later", two("", 200, 700, true)),
            ("reads on", two("", 150, 700, false)),
            ("young", two("", 150, 1, true)),
        ] {
            assert_eq!((bench.counter("joined_queues"), bench.merged()), (0, (0, 0)), "{what}");
        }
    }

    #[test]
    fn on_flash_that_queues_they_are_joined_at_once() {
        let mut bench = Bench::new("bfq-lite,rotational=0");
        bench.read_by(0, 1000);
        bench.read_by(1, 5000);
        assert_eq!(bench.counter("joined_queues"), 1);
        bench.read_by(0, 5008);
        assert_eq!(bench.merged().0, 1);
    }

    #[test]
    fn a_request_becomes_the_tail_of_one_in_any_queue() {
        let mut bench = Bench::new("bfq-lite,low_latency=0");
        bench.read_by(0, 1000);
        bench.read_by(1, 1008);
        assert_eq!(bench.merged(), (0, 0), "no bio is added to another task's request");
        assert_eq!(bench.queue.merges().joined, 1);
        assert_eq!(bench.waiting(), [1000]);
    }
}
