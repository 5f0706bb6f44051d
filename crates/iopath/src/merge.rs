//! Merging, common to all elevators: which requests may be joined (same operation, same sync class, adjacent, within every limit, not yet
//! in flight), and merge counters. The elevator chooses the request to try; the queue does the merge.

use crate::bio::{Bio, Op};
use crate::limits::Limits;
use crate::request::{Requests, Slot, Stage};

/// The end of a request at which a bio was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// Behind its last sector.
    Back,
    /// Before its first sector.
    Front,
}

/// The request that an elevator would add a bio to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// None: the bio becomes a new request.
    None,
    /// Behind this one.
    Back(Slot),
    /// Before this one.
    Front(Slot),
}

impl Candidate {
    /// Request and kind.
    pub const fn parts(self) -> Option<(Slot, MergeKind)> {
        match self {
            Self::None => None,
            Self::Back(slot) => Some((slot, MergeKind::Back)),
            Self::Front(slot) => Some((slot, MergeKind::Front)),
        }
    }

    pub(crate) const fn of(slot: Slot, kind: MergeKind) -> Self {
        match kind {
            MergeKind::Back => Self::Back(slot),
            MergeKind::Front => Self::Front(slot),
        }
    }
}

/// Merge counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeCounts {
    /// Bios added behind a request of the elevator.
    pub back: u64,
    /// Bios added before a request of the elevator.
    pub front: u64,
    /// Requests joined with their neighbour.
    pub joined: u64,
    /// Bios added behind a request in their task's plug.
    pub plug_back: u64,
    /// Bios added before a request in their task's plug.
    pub plug_front: u64,
    /// Requests that the elevator gathered on dispatch.
    pub gathered: u64,
    /// Merges refused because of a device limit, although adjacent.
    pub refused: u64,
}

impl MergeCounts {
    /// Bios merged into an existing request.
    pub const fn bios(&self) -> u64 {
        self.back + self.front + self.plug_back + self.plug_front
    }
}

/// The end at which a bio touches a request that it may join, apart from the limits.
pub fn touches(requests: &Requests, slot: Slot, bio: &Bio) -> Option<MergeKind> {
    let request = &requests[slot];
    let alike = request.op() == bio.op() && request.is_sync() == bio.is_sync();
    if !alike || !may_grow(requests, slot) || bio.op() == Op::Other {
        None
    } else if request.end() == bio.sector() {
        Some(MergeKind::Back)
    } else if bio.end() == request.sector() {
        Some(MergeKind::Front)
    } else {
        None
    }
}

/// Whether request and bio together keep within the limits.
pub fn fits(requests: &Requests, slot: Slot, bio: &Bio, kind: MergeKind, limits: &Limits) -> bool {
    let request = &requests[slot];
    let sectors = u64::from(request.sectors()) + u64::from(bio.sectors());
    let span = requests.span_with(slot, bio, kind == MergeKind::Back, limits);
    limits.allow(sectors, span.segments()) && request.bios() < u16::MAX
}

/// Whether `first` and `second` are neighbours that may become one request.
pub fn may_join(requests: &Requests, first: Slot, second: Slot, limits: &Limits) -> bool {
    let (a, b) = (&requests[first], &requests[second]);
    let alike = a.op() == b.op() && a.is_sync() == b.is_sync() && a.op() != Op::Other;
    alike
        && a.end() == b.sector()
        && may_grow(requests, first)
        && may_grow(requests, second)
        && limits.allow(
            u64::from(a.sectors()) + u64::from(b.sectors()),
            requests.span_of_both(first, second, limits).segments(),
        )
        && a.bios().checked_add(b.bios()).is_some()
}

/// False for a request that has been dispatched or is parked.
fn may_grow(requests: &Requests, slot: Slot) -> bool {
    matches!(requests[slot].stage(), Stage::Waiting | Stage::Plugged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bio::PageSpan;
    use crate::time::Nanos;

    fn read(sector: u64, sectors: u32) -> Bio {
        Bio::new(Op::Read, sector, sectors)
    }

    #[test]
    fn only_adjacent_bios_of_the_same_kind_touch() {
        let mut requests = Requests::new(2);
        let slot = requests.make(Nanos::ZERO, Bio::new(Op::Write, 100, 8)).unwrap();
        let write = |sector| Bio::new(Op::Write, sector, 8);
        assert_eq!(touches(&requests, slot, &write(108)), Some(MergeKind::Back));
        assert_eq!(touches(&requests, slot, &write(92)), Some(MergeKind::Front));
        assert_eq!(touches(&requests, slot, &write(109)), None);
        assert_eq!(touches(&requests, slot, &read(108, 8)), None);
        assert_eq!(touches(&requests, slot, &write(108).sync()), None);
        requests.set_stage(slot, Stage::Started);
        assert_eq!(touches(&requests, slot, &write(108)), None);
    }

    #[test]
    fn every_limit_is_checked() {
        let limits = Limits { max_sectors: 24, max_segments: 3, ..Limits::CCISS };
        let mut requests = Requests::new(3);
        let slot = requests.make(Nanos::ZERO, read(0, 8).memory(PageSpan::scattered(2))).unwrap();
        assert!(fits(&requests, slot, &read(8, 16), MergeKind::Back, &limits));
        assert!(!fits(&requests, slot, &read(8, 17), MergeKind::Back, &limits));
        let two = read(8, 8).memory(PageSpan::scattered(2));
        assert!(!fits(&requests, slot, &two, MergeKind::Back, &limits));
        let next = requests.make(Nanos::ZERO, read(8, 8)).unwrap();
        assert!(may_join(&requests, slot, next, &limits));
        assert!(!may_join(&requests, next, slot, &limits));
        let two = requests.make(Nanos::ZERO, two).unwrap();
        assert!(!may_join(&requests, slot, two, &limits));
    }
}
