//! `none` of today's block layer: no scheduler. Requests go in the order of arrival; a bio is merged in its task's plug, or with one of the
//! last eight requests that still wait in the software queue of its CPU.

use super::{Elevator, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, touches};
use crate::request::{Requests, Slot};
use crate::time::Nanos;

/// How many requests of a software queue are looked at, newest first.
const LOOKED_AT: usize = 8;

/// The first of a list's last eight requests, from its end, that a bio of the same CPU touches.
pub(super) fn among_the_last(list: &List, requests: &Requests, bio: &Bio) -> Candidate {
    let own = list.iter_back(requests).filter(|&slot| requests[slot].cpu() == bio.cpu());
    let touched = |slot| touches(requests, slot, bio).map(|kind| Candidate::of(slot, kind));
    own.take(LOOKED_AT).find_map(touched).unwrap_or(Candidate::None)
}

/// No scheduler.
#[derive(Clone, Debug, Default)]
pub struct NoScheduler {
    list: List,
}

impl Elevator for NoScheduler {
    fn name(&self) -> &'static str {
        "none@4.11"
    }

    fn touched(&self, requests: &Requests, bio: &Bio) -> Candidate {
        among_the_last(&self.list, requests, bio)
    }

    fn uses_last_merge(&self) -> bool {
        false
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, _kept: Slot, gone: Slot) {
        self.list.remove(requests, gone);
    }

    fn insert(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.list.push_back(requests, slot);
    }

    fn next(&mut self, _now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        self.list.pop_front(requests).map_or(Pick::Nothing, Pick::Request)
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        self.list.remove(requests, slot);
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        self.list.pop_front(requests)
    }

    fn waiting(&self) -> usize {
        self.list.len()
    }

    fn each_waiting(&self, requests: &Requests, each: &mut dyn FnMut(Slot)) {
        self.list.iter(requests).for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use crate::bio::{Bio, Op};
    use crate::elevator::testing::Bench;

    #[test]
    fn the_order_of_arrival_is_kept_and_neighbours_are_not_joined() {
        let mut bench = Bench::new("none");
        for sector in [500, 100, 900, 116, 108] {
            bench.read(sector);
        }
        assert_eq!(bench.merged(), (0, 1));
        assert_eq!(bench.order(), [500, 100, 900, 108]);
    }

    #[test]
    fn only_the_last_eight_of_the_same_cpu_are_looked_at() {
        let mut bench = Bench::new("none");
        for n in 0..9 {
            bench.read(1000 * n);
        }
        bench.read(8);
        assert_eq!(bench.merged(), (0, 0));
        bench.read(2008);
        assert_eq!(bench.merged(), (1, 0));
        bench.submit(Bio::new(Op::Read, 2016, 8).on(1));
        assert_eq!(bench.merged(), (1, 0));
    }
}
