//! The elevator of 2.4: one list, served from the head. One scan from the tail does both merging and sorting; passover counters bound how
//! often a request is overtaken; a read that meets only writes goes behind the first few of them.

use super::{Elevator, Order, Pick};
use crate::bio::Bio;
use crate::limits::Limits;
use crate::list::List;
use crate::merge::{Candidate, MergeKind, touches};
use crate::request::{Requests, Slot};
use crate::time::Nanos;
use crate::tunable::{Tunable, Tunables, Unit, View};

const READ_LATENCY: usize = 0;
const WRITE_LATENCY: usize = 1;
const MAX_BOMB_SEGMENTS: usize = 2;

static TABLE: [Tunable; 3] = [
    Tunable::count(
        "read_latency",
        Unit::Requests,
        128,
        "how often a read may be overtaken (elvtune -r); the default before 2.4.23 was much larger",
    ),
    Tunable::count("write_latency", Unit::Requests, 256, "how often a write may be overtaken (elvtune -w)"),
    Tunable::count(
        "max_bomb_segments",
        Unit::Number,
        4,
        "a read that sees only writes goes behind about this many (elvtune -b); 0: no promotion",
    ),
];

/// Where the next new request goes.
#[derive(Clone, Copy, Debug, Default)]
enum InsertPoint {
    #[default]
    Tail,
    After(Slot),
    Before(Slot),
}

/// The elevator of 2.4.
#[derive(Clone, Debug)]
pub struct Linus24 {
    tunables: Tunables<3>,
    list: List,
    /// Position found by the scan for the current bio.
    place: InsertPoint,
    /// Requests behind this one will be charged as overtaken. A promoted read is charged as if it had been sorted, and one without a
    /// sorted position charges no request.
    charged: Option<Slot>,
}

impl Default for Linus24 {
    fn default() -> Self {
        Self {
            tunables: Tunables::new(&TABLE),
            list: List::default(),
            place: InsertPoint::Tail,
            charged: None,
        }
    }
}

impl Linus24 {
    /// Behind the first few writes, unless the sorted position comes earlier.
    fn promoted(&self, requests: &Requests, sorted: Option<Slot>) -> Option<Slot> {
        let mut passed = 0;
        for slot in self.list.iter(requests) {
            if Some(slot) == sorted {
                break;
            }
            if !requests[slot].op().is_read() {
                passed += 1 + u64::from(requests[slot].sectors()) / 64;
            }
            if passed >= self.tunables[MAX_BOMB_SEGMENTS] {
                return Some(slot);
            }
        }
        sorted
    }

    /// Charges every request behind `slot` with being overtaken once more.
    fn overtake(&self, requests: &mut Requests, slot: Slot) {
        let mut at = self.list.after(requests, slot);
        while let Some(slot) = at {
            requests[slot].private.count -= 1;
            at = self.list.after(requests, slot);
        }
    }
}

/// Whether a sector belongs between a request and the one behind it: strictly between the two or, where the sweep wraps around, above the
/// first or below the second.
fn belongs_between(requests: &Requests, slot: Slot, next: Option<Slot>, sector: u64) -> bool {
    let Some(next) = next else { return false };
    let (low, high) = (requests[slot].sector(), requests[next].sector());
    if high < low { sector > low || sector < high } else { low < sector && sector < high }
}

impl Elevator for Linus24 {
    fn name(&self) -> &'static str {
        "linus24@2.4.23"
    }

    fn tunables(&self) -> View<'_> {
        self.tunables.view()
    }

    fn set_row(&mut self, row: usize, value: u64) {
        self.tunables.set(row, value);
    }

    fn merge_candidate(&mut self, requests: &Requests, limits: &Limits, bio: &Bio) -> Candidate {
        let (mut sorted, mut read_seen) = (None, false);
        for slot in self.list.iter_back(requests) {
            let request = &requests[slot];
            let exhausted = request.private.count <= 0;
            let next = self.list.after(requests, slot);
            if sorted.is_none() && !exhausted && belongs_between(requests, slot, next, bio.sector()) {
                sorted = Some(slot);
            }
            read_seen |= request.op().is_read();
            let short = request.sectors() + bio.sectors() <= limits.max_sectors;
            match touches(requests, slot, bio).filter(|_| short) {
                // If the merge would have too many segments, the bio becomes a request right beside.
                Some(MergeKind::Back) => {
                    (self.place, self.charged) = (InsertPoint::After(slot), Some(slot));
                    return Candidate::Back(slot);
                }
                Some(MergeKind::Front) if !exhausted => {
                    (self.place, self.charged) = (InsertPoint::Before(slot), Some(slot));
                    return Candidate::Front(slot);
                }
                _ => {}
            }
            if exhausted {
                break;
            }
        }
        let promote = bio.op().is_read() && !read_seen && self.tunables[MAX_BOMB_SEGMENTS] > 0;
        let place = if promote { self.promoted(requests, sorted) } else { sorted };
        (self.place, self.charged) = (place.map_or(InsertPoint::Tail, InsertPoint::After), sorted);
        Candidate::None
    }

    fn uses_last_merge(&self) -> bool {
        false
    }

    fn merged(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        if kind == MergeKind::Front {
            requests[slot].private.count -= 1;
        }
        self.overtake(requests, slot);
        (self.place, self.charged) = (InsertPoint::Tail, None);
    }

    fn order(&self, _requests: &Requests, _slot: Slot) -> Order<'_> {
        Order::List(&self.list)
    }

    fn joined(&mut self, _now: Nanos, requests: &mut Requests, kept: Slot, gone: Slot) {
        let fewest = requests[kept].private.count.min(requests[gone].private.count);
        requests[kept].private.count = fewest;
        self.list.remove(requests, gone);
    }

    fn insert(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        let row = if requests[slot].op().is_read() { READ_LATENCY } else { WRITE_LATENCY };
        requests[slot].private.count = self.tunables[row] as i64;
        if let Some(charged) = self.charged.take() {
            self.overtake(requests, charged);
        }
        match std::mem::take(&mut self.place) {
            InsertPoint::Tail => self.list.push_back(requests, slot),
            InsertPoint::After(member) => self.list.insert_after(requests, member, slot),
            InsertPoint::Before(member) => self.list.insert_before(requests, member, slot),
        }
    }

    fn next(&mut self, _now: Nanos, requests: &mut Requests, _limits: &Limits, _free_tags: u32) -> Pick {
        (self.place, self.charged) = (InsertPoint::Tail, None);
        self.list.pop_front(requests).map_or(Pick::Nothing, Pick::Request)
    }

    fn taken(&mut self, _now: Nanos, requests: &mut Requests, slot: Slot) {
        (self.place, self.charged) = (InsertPoint::Tail, None);
        self.list.remove(requests, slot);
    }

    fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        (self.place, self.charged) = (InsertPoint::Tail, None);
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
    use crate::bio::{Bio, Op, PageSpan};
    use crate::elevator::testing::Bench;
    use crate::limits::Limits;

    #[test]
    fn requests_are_sorted_into_one_way_sweeps() {
        let mut bench = Bench::new("linus24");
        for sector in [500, 900, 100, 700, 300] {
            bench.read(sector);
        }
        // 100 begins the second sweep; 700 fits into the first, and 300 is below everything: behind the last.
        assert_eq!(bench.order(), [500, 700, 900, 100, 300]);
    }

    #[test]
    fn the_last_request_is_never_followed_by_sorting() {
        let mut bench = Bench::new("linus24");
        bench.read(900);
        bench.read(100);
        bench.read(950);
        // 950 lies above the wrap from 900 to 100.
        assert_eq!(bench.order(), [900, 950, 100]);
    }

    #[test]
    fn who_has_been_overtaken_often_enough_is_overtaken_no_more() {
        let mut bench = Bench::new("linus24,read_latency=2");
        bench.read(100);
        bench.read(900);
        bench.read(500);
        bench.read(400);
        assert_eq!(bench.waiting(), [100, 400, 500, 900]);
        // 900 has been overtaken twice: nothing goes before it, not even a front merge.
        bench.read(300);
        bench.read(892);
        assert_eq!(bench.waiting(), [100, 400, 500, 900, 300, 892]);
        // It may still grow at its back.
        let mut bench = Bench::new("linus24,read_latency=0");
        bench.read(900);
        bench.read(908);
        assert_eq!(bench.merged(), (1, 0));
    }

    #[test]
    fn a_front_merge_costs_a_passover() {
        let mut bench = Bench::new("linus24,read_latency=1");
        bench.read(900);
        bench.read(892);
        bench.read(884);
        assert_eq!((bench.merged(), bench.order()), ((0, 1), vec![892, 884]));
    }

    #[test]
    fn a_read_among_writes_goes_behind_the_first_few() {
        let mut bench = Bench::new("linus24");
        for n in 1..10 {
            bench.write(1000 * n);
        }
        bench.read(8500);
        // Four writes of 4 KiB count 4; the sorted position would have been the eighth.
        assert_eq!(bench.waiting()[..5], [1000, 2000, 3000, 4000, 8500]);
        // The next read meets a read and is sorted.
        bench.read(8600);
        assert_eq!(bench.waiting()[8..10], [8000, 8600]);
        let mut unmoved = Bench::new("linus24,max_bomb_segments=0");
        for n in 1..10 {
            unmoved.write(1000 * n);
        }
        unmoved.read(8500);
        assert_eq!(unmoved.waiting()[8], 8500);
    }

    #[test]
    fn promotion_is_not_charged() {
        let mut bench = Bench::new("linus24,write_latency=1");
        for n in 1..10 {
            bench.write(1000 * n);
        }
        bench.read(20_000);
        assert_eq!(bench.waiting()[4], 20_000);
        // Had the five behind it been charged, nothing could be sorted in before them.
        bench.write(6500);
        assert_eq!(bench.waiting()[7], 6500);
    }

    #[test]
    fn long_writes_count_more_and_an_earlier_sorted_place_wins() {
        let mut bench = Bench::new("linus24");
        for n in 1..5 {
            bench.submit(Bio::new(Op::Write, 1000 * n, 192));
        }
        bench.read(9000);
        assert_eq!(bench.waiting(), [1000, 9000, 2000, 3000, 4000]);
        let mut bench = Bench::new("linus24");
        for n in 1..10 {
            bench.write(1000 * n);
        }
        bench.read(2500);
        assert_eq!(bench.waiting()[..3], [1000, 2000, 2500]);
    }

    #[test]
    fn what_has_too_many_segments_to_merge_goes_beside() {
        let limits = Limits { max_segments: 1, ..Limits::CCISS };
        let mut bench = Bench::with("linus24", limits);
        for sector in [100, 300, 500] {
            bench.submit(Bio::new(Op::Read, sector, 8).memory(PageSpan::of_pages([7], &limits)));
        }
        bench.submit(Bio::new(Op::Read, 308, 8).memory(PageSpan::of_pages([3], &limits)));
        assert_eq!(bench.waiting(), [100, 300, 308, 500]);
    }
}
