//! Sorts the events of all CPUs by time. An event is passed on only when no CPU can still deliver an older one. A CPU's own events are in
//! order, so its last one is a bound; a CPU whose ring was found empty can only have events that were just begun. Pure: the times are
//! passed in.

use super::decode::BLANK;
use fathom_record::block::BlockEvent;

/// Longest expected delay between an event's timestamp and its being readable. It is some ns when measured, but a virtual CPU can be
/// descheduled for some ms in between.
pub(super) const MARGIN_NS: u64 = 20_000_000;

/// Events waiting to be passed on in order.
#[derive(Debug)]
pub(super) struct Merge {
    rings: Vec<Waiting>,
    /// Time of the newest event passed on.
    gone_ns: u64,
    late: u64,
}

/// Events of one ring, in the order they were written.
#[derive(Debug, Default)]
struct Waiting {
    events: Vec<BlockEvent>,
    /// Number of them already passed on.
    gone: usize,
    /// The ring delivers no more events older than this.
    told_ns: u64,
}

impl Merge {
    pub fn new(rings: usize) -> Self {
        Self { rings: (0..rings).map(|_| Waiting::default()).collect(), gone_ns: 0, late: 0 }
    }

    /// Adds an event of a ring, which `write` decodes in place; `None` from `write` means there is none.
    #[inline]
    pub fn take(&mut self, ring: usize, write: impl FnOnce(&mut BlockEvent) -> Option<()>) {
        let ring = &mut self.rings[ring];
        ring.events.push(BLANK);
        let Some(event) = ring.events.last_mut() else { return };
        if write(event).is_some() {
            ring.told_ns = ring.told_ns.max(event.time_ns);
        } else {
            ring.events.pop();
        }
    }

    /// Notes that the ring was found empty by a read that began at `now_ns`.
    pub fn empty(&mut self, ring: usize, now_ns: u64) {
        let told_ns = &mut self.rings[ring].told_ns;
        *told_ns = (*told_ns).max(now_ns.saturating_sub(MARGIN_NS));
    }

    /// Passes on the events that no older one can precede any more.
    pub fn ready(&mut self, give: &mut impl FnMut(&mut BlockEvent)) {
        let limit_ns = self.rings.iter().map(|r| r.told_ns).min().unwrap_or(0);
        self.give(limit_ns, give);
    }

    /// Passes on everything at the end.
    pub fn rest(&mut self, give: &mut impl FnMut(&mut BlockEvent)) {
        self.give(u64::MAX, give);
    }

    /// Number of events that arrived after newer ones had been passed on.
    pub fn late(&self) -> u64 {
        self.late
    }

    fn give(&mut self, limit_ns: u64, give: &mut impl FnMut(&mut BlockEvent)) {
        while let Some((ring, until_ns)) = self.oldest() {
            let waiting = &mut self.rings[ring];
            let before = waiting.gone;
            for event in &mut waiting.events[before..] {
                if event.time_ns > until_ns || event.time_ns >= limit_ns {
                    break;
                }
                waiting.gone += 1;
                self.late += u64::from(event.time_ns < self.gone_ns);
                self.gone_ns = self.gone_ns.max(event.time_ns);
                give(event);
            }
            if waiting.gone == before {
                break;
            }
        }
        self.rings.iter_mut().for_each(Waiting::forget);
    }

    /// The ring with the oldest event, and the time up to which it precedes the other rings. Tasks stay on a CPU for a while, so there
    /// are many events between two scans of all rings.
    fn oldest(&self) -> Option<(usize, u64)> {
        let mut oldest: Option<(usize, u64)> = None;
        let mut until_ns = u64::MAX;
        for (ring, waiting) in self.rings.iter().enumerate() {
            let Some(next) = waiting.events.get(waiting.gone) else { continue };
            match oldest {
                Some((_, time_ns)) if next.time_ns >= time_ns => until_ns = until_ns.min(next.time_ns),
                _ => {
                    until_ns = oldest.map_or(until_ns, |(_, time_ns)| time_ns);
                    oldest = Some((ring, next.time_ns));
                }
            }
        }
        oldest.map(|(ring, _)| (ring, until_ns))
    }
}

impl Waiting {
    /// Frees the events already passed on.
    fn forget(&mut self) {
        self.events.drain(..self.gone);
        self.gone = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(merge: &mut Merge, ring: usize, time_ns: u64) {
        merge.take(ring, |event| {
            event.time_ns = time_ns;
            Some(())
        });
    }

    fn ready(merge: &mut Merge) -> Vec<u64> {
        let mut given = Vec::new();
        merge.ready(&mut |e| given.push(e.time_ns));
        given
    }

    #[test]
    fn an_event_waits_for_the_slowest_ring() {
        let mut merge = Merge::new(2);
        take(&mut merge, 0, 10);
        take(&mut merge, 0, 30);
        assert_eq!(ready(&mut merge), [] as [u64; 0], "ring 1 may have older ones");
        take(&mut merge, 1, 20);
        assert_eq!(ready(&mut merge), [10], "ring 1 has told up to 20, others may have been at 20, too");
        take(&mut merge, 1, 40);
        assert_eq!(ready(&mut merge), [20]);
        let mut rest = Vec::new();
        merge.rest(&mut |e| rest.push(e.time_ns));
        assert_eq!((rest, merge.late()), (vec![30, 40], 0));
    }

    #[test]
    fn an_empty_ring_bars_nothing_older_than_the_margin() {
        let mut merge = Merge::new(2);
        take(&mut merge, 0, 1000);
        merge.empty(0, MARGIN_NS + 500);
        merge.empty(1, MARGIN_NS + 500);
        assert_eq!(ready(&mut merge), [] as [u64; 0]);
        merge.empty(0, MARGIN_NS + 2000);
        merge.empty(1, MARGIN_NS + 2000);
        assert_eq!(ready(&mut merge), [1000]);
    }

    #[test]
    fn late_events_are_counted_and_passed_on() {
        let mut merge = Merge::new(1);
        take(&mut merge, 0, 100);
        merge.empty(0, MARGIN_NS + 200);
        assert_eq!(ready(&mut merge), [100]);
        take(&mut merge, 0, 50);
        assert_eq!((ready(&mut merge), merge.late()), (vec![50], 1));
    }

    proptest::proptest! {
        #[test]
        fn rings_in_order_come_out_in_order(
            steps in proptest::collection::vec((0_usize..3, 1_u64..50, proptest::bool::ANY), 0..200)
        ) {
            let mut merge = Merge::new(3);
            let mut clocks = [0_u64; 3];
            let (mut given, mut taken) = (Vec::new(), 0);
            for (ring, step, look) in steps {
                clocks[ring] += step;
                take(&mut merge, ring, clocks[ring]);
                taken += 1;
                if look {
                    merge.ready(&mut |e| given.push(e.time_ns));
                }
            }
            merge.rest(&mut |e| given.push(e.time_ns));
            proptest::prop_assert_eq!(given.len(), taken);
            proptest::prop_assert!(given.is_sorted());
            proptest::prop_assert_eq!(merge.late(), 0);
        }
    }
}
