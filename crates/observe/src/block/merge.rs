//! Brings the events of all CPUs into the order of time. An event may go on only when no CPU can still deliver an older one: a
//! CPU's own events come in order, so what it gave last is a bound; a CPU whose ring was found empty can only have events in the
//! making, begun a moment ago. Pure: the times are passed in.

use fathom_record::block::BlockEvent;

/// How long the kernel may take between an event's time and its being there to read. Measured in ns; but a virtual CPU can be
/// taken away in between, for some ms.
pub(super) const MARGIN_NS: u64 = 20_000_000;

/// Events that wait for their turn.
#[derive(Debug)]
pub(super) struct Merge {
    waiting: Vec<BlockEvent>,
    /// By ring: up to when it has told everything.
    told: Vec<u64>,
    /// Time of the newest event that went on.
    gone_ns: u64,
    late: u64,
}

impl Merge {
    pub fn new(rings: usize) -> Self {
        Self { waiting: Vec::new(), told: vec![0; rings], gone_ns: 0, late: 0 }
    }

    /// Takes an event of a ring.
    pub fn take(&mut self, ring: usize, event: BlockEvent) {
        self.told[ring] = self.told[ring].max(event.time_ns);
        self.waiting.push(event);
    }

    /// The ring was found empty in a search that began at `now_ns`.
    pub fn empty(&mut self, ring: usize, now_ns: u64) {
        self.told[ring] = self.told[ring].max(now_ns.saturating_sub(MARGIN_NS));
    }

    /// Gives what may go.
    pub fn ready(&mut self, give: &mut dyn FnMut(&BlockEvent)) {
        let limit = self.told.iter().copied().min().unwrap_or(0);
        self.give(limit, give);
    }

    /// Gives everything: nothing more will come.
    pub fn rest(&mut self, give: &mut dyn FnMut(&BlockEvent)) {
        self.give(u64::MAX, give);
    }

    /// Events that came after younger ones had gone on.
    pub fn late(&self) -> u64 {
        self.late
    }

    fn give(&mut self, limit_ns: u64, give: &mut dyn FnMut(&BlockEvent)) {
        // Stable, and fast on what consists of a few ascending runs: one per ring and round.
        self.waiting.sort_by_key(|e| e.time_ns);
        let ready = self.waiting.partition_point(|e| e.time_ns < limit_ns);
        for event in self.waiting.drain(..ready) {
            self.late += u64::from(event.time_ns < self.gone_ns);
            self.gone_ns = self.gone_ns.max(event.time_ns);
            give(&event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};

    fn event(time_ns: u64, cpu: u16) -> BlockEvent {
        BlockEvent {
            time_ns,
            device: DeviceNumber::default(),
            action: BlockAction::Issue,
            flags: RequestFlags::READ,
            sector: 0,
            sectors: 8,
            pid: 1,
            cpu,
            error: 0,
            task: [0; 16],
        }
    }

    fn ready(merge: &mut Merge) -> Vec<u64> {
        let mut given = Vec::new();
        merge.ready(&mut |e| given.push(e.time_ns));
        given
    }

    #[test]
    fn an_event_waits_for_the_slowest_ring() {
        let mut merge = Merge::new(2);
        merge.take(0, event(10, 0));
        merge.take(0, event(30, 0));
        assert_eq!(ready(&mut merge), [] as [u64; 0], "ring 1 may have older ones");
        merge.take(1, event(20, 1));
        assert_eq!(ready(&mut merge), [10], "ring 1 has told up to 20, others may have been at 20, too");
        merge.take(1, event(40, 1));
        assert_eq!(ready(&mut merge), [20]);
        let mut rest = Vec::new();
        merge.rest(&mut |e| rest.push(e.time_ns));
        assert_eq!((rest, merge.late()), (vec![30, 40], 0));
    }

    #[test]
    fn an_empty_ring_bars_nothing_older_than_the_margin() {
        let mut merge = Merge::new(2);
        merge.take(0, event(1000, 0));
        merge.empty(0, MARGIN_NS + 500);
        merge.empty(1, MARGIN_NS + 500);
        assert_eq!(ready(&mut merge), [] as [u64; 0]);
        merge.empty(0, MARGIN_NS + 2000);
        merge.empty(1, MARGIN_NS + 2000);
        assert_eq!(ready(&mut merge), [1000]);
    }

    #[test]
    fn what_comes_too_late_is_counted_and_given() {
        let mut merge = Merge::new(1);
        merge.take(0, event(100, 0));
        merge.empty(0, MARGIN_NS + 200);
        assert_eq!(ready(&mut merge), [100]);
        merge.take(0, event(50, 0));
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
                merge.take(ring, event(clocks[ring], ring as u16));
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
