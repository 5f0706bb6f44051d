//! Common parts of the sorting elevators since 2.6: the requests of one kind by sector and by age, and the search for a request that a
//! bio touches.

use crate::bio::Bio;
use crate::list::List;
use crate::merge::{Candidate, MergeKind, touches};
use crate::request::{Requests, Slot};
use crate::time::Nanos;
use crate::tree::Tree;
use crate::tunable::{Tunable, Unit};

/// Requests of one kind, sorted by sector and by arrival. `private.due` is their deadline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    pub(crate) tree: Tree,
    pub(crate) fifo: List,
}

impl Lane {
    pub(crate) fn insert(&mut self, requests: &mut Requests, slot: Slot, due: Nanos) {
        requests[slot].private.due = due;
        self.tree.insert(requests, slot);
        self.fifo.push_back(requests, slot);
    }

    pub(crate) fn remove(&mut self, requests: &mut Requests, slot: Slot) {
        self.tree.remove(requests, slot);
        self.fifo.remove(requests, slot);
    }

    /// A request has grown; at the front, its position by sector may have changed.
    pub(crate) fn merged(&mut self, requests: &mut Requests, slot: Slot, kind: MergeKind) {
        if kind == MergeKind::Front {
            self.tree.remove(requests, slot);
            self.tree.insert(requests, slot);
        }
    }

    /// `gone` becomes part of `kept`, which takes its position in the age queue if the deadline of `gone` is earlier.
    pub(crate) fn joined(&mut self, requests: &mut Requests, kept: Slot, gone: Slot) {
        let due = requests[gone].private.due;
        if due < requests[kept].private.due {
            requests[kept].private.due = due;
            self.fifo.remove(requests, kept);
            self.fifo.insert_before(requests, gone, kept);
        }
        self.remove(requests, gone);
    }

    pub(crate) fn oldest(&self) -> Option<Slot> {
        self.fifo.first()
    }

    /// Whether the oldest request's deadline has come.
    pub(crate) fn expired(&self, requests: &Requests, now: Nanos) -> bool {
        self.oldest().is_some_and(|slot| requests[slot].private.due <= now)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.fifo.len()
    }

    pub(crate) fn drain(&mut self, requests: &mut Requests) -> Option<Slot> {
        let slot = self.oldest()?;
        self.remove(requests, slot);
        Some(slot)
    }
}

/// The request of a tree that a bio touches: one that ends where it begins, otherwise one that begins where it ends.
pub(crate) fn candidate(tree: &Tree, requests: &Requests, bio: &Bio, front_too: bool) -> Candidate {
    let (before, behind) = tree.touching(requests, bio.sector(), bio.end());
    if let Some(slot) = before
        && touches(requests, slot, bio) == Some(MergeKind::Back)
    {
        return Candidate::Back(slot);
    }
    match behind.filter(|&slot| front_too && touches(requests, slot, bio) == Some(MergeKind::Front)) {
        Some(slot) => Candidate::Front(slot),
        None => Candidate::None,
    }
}

/// The first request, in any of several trees, that ends where a bio begins and may take it.
pub(crate) fn behind<'t>(
    mut trees: impl Iterator<Item = &'t Tree>,
    requests: &Requests,
    bio: &Bio,
) -> Option<Candidate> {
    trees.find_map(|tree| {
        let slot = tree.ending_at(requests, bio.sector())?;
        (touches(requests, slot, bio) == Some(MergeKind::Back)).then_some(Candidate::Back(slot))
    })
}

/// How far the head may seek back, and the penalty for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackSeek {
    /// Maximum distance in sectors.
    pub(crate) max: u64,
    /// Factor of the distance.
    pub(crate) penalty: u64,
}

impl BackSeek {
    /// Tunables of CFQ and BFQ for seeking back.
    pub(crate) const ROWS: [Tunable; 2] = [
        Tunable::count("back_seek_max", Unit::KiB, 16 * 1024, "how far the head goes back for a request")
            .at_most(1 << 32),
        Tunable::count(
            "back_seek_penalty",
            Unit::Number,
            2,
            "how much dearer going back is than going ahead",
        )
        .at_least(1),
    ];
}

/// The one of two requests that is nearer to the head: ahead by distance, behind by distance times the penalty; requests too far behind
/// come after everything else, lowest first. The rule of the anticipatory scheduler and of CFQ.
pub(crate) fn nearer(
    requests: &Requests,
    head: u64,
    back: BackSeek,
    a: Option<Slot>,
    b: Option<Slot>,
) -> Option<Slot> {
    let (Some(one), Some(two)) = (a, b) else { return a.or(b) };
    if one == two {
        return a;
    }
    let (s1, s2) = (requests[one].sector(), requests[two].sector());
    let first = match (distance(s1, head, back), distance(s2, head, back)) {
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => s1 <= s2,
        (Some(d1), Some(d2)) if d1 == d2 => s1 >= s2,
        (Some(d1), Some(d2)) => d1 < d2,
    };
    if first { a } else { b }
}

/// `None`: so far behind that it counts as wrapped around.
fn distance(sector: u64, head: u64, back: BackSeek) -> Option<u64> {
    if sector >= head {
        Some(sector - head)
    } else if sector.saturating_add(back.max) >= head {
        Some((head - sector).saturating_mul(back.penalty))
    } else {
        None
    }
}

/// The nearer of a request's two neighbours in a tree; the lowest follows the highest.
pub(crate) fn next_of(
    tree: &Tree,
    requests: &Requests,
    last: Slot,
    head: u64,
    back: BackSeek,
) -> Option<Slot> {
    let before = tree.before(requests, last);
    let after = tree.after(requests, last).or_else(|| tree.first(requests).filter(|&first| first != last));
    nearer(requests, head, back, after, before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bio::Op;

    const BACK: BackSeek = BackSeek { max: 1000, penalty: 2 };

    fn table(sectors: &[u64]) -> (Requests, Vec<Slot>) {
        let mut requests = Requests::new(8);
        let make = |&sector: &u64| requests.make(Nanos::ZERO, Bio::new(Op::Read, sector, 8)).unwrap();
        let slots = sectors.iter().map(make).collect();
        (requests, slots)
    }

    fn wins(head: u64, one: u64, two: u64) -> u64 {
        let (requests, slots) = table(&[one, two]);
        let found = nearer(&requests, head, BACK, Some(slots[0]), Some(slots[1])).unwrap();
        let other_way = nearer(&requests, head, BACK, Some(slots[1]), Some(slots[0])).unwrap();
        assert_eq!(found, other_way);
        requests[found].sector()
    }

    #[test]
    fn ahead_by_distance_behind_at_twice_the_price() {
        assert_eq!(wins(5000, 5100, 5200), 5100);
        assert_eq!(wins(5000, 4960, 5100), 4960);
        assert_eq!(wins(5000, 4940, 5100), 5100);
        assert_eq!(wins(5000, 4950, 5100), 5100, "equal: the higher one");
    }

    #[test]
    fn far_behind_is_wrapped_around() {
        assert_eq!(wins(5000, 3000, 90_000), 90_000);
        assert_eq!(wins(5000, 3000, 100), 100, "both wrapped: the lowest");
        assert_eq!(wins(5000, 4000, 90_000), 4000);
    }

    #[test]
    fn who_joins_an_older_one_takes_its_place() {
        let (mut requests, slots) = table(&[100, 0, 8]);
        let mut lane = Lane::default();
        for (n, &slot) in [slots[2], slots[0], slots[1]].iter().enumerate() {
            lane.insert(&mut requests, slot, Nanos(n as u64));
        }
        lane.joined(&mut requests, slots[1], slots[2]);
        assert_eq!(lane.fifo.iter(&requests).collect::<Vec<_>>(), [slots[1], slots[0]]);
        assert_eq!(requests[slots[1]].private.due, Nanos(0));
        assert_eq!((lane.len(), lane.tree.len()), (2, 2));
    }
}
