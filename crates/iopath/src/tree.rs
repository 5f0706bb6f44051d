//! Requests sorted by sector: a treap with its links inside the requests, which keeps ten thousand of them in order without allocation. A
//! node's priority is a hash of its slot, so the shape depends only on the history. Requests at the same sector stay in arrival order.
//! Cost: some 50 ns to enter and leave a tree of 256 (examples/speed.rs).

use crate::request::{Requests, Slot};

/// The links in a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TreeLinks {
    left: Option<Slot>,
    right: Option<Slot>,
    parent: Option<Slot>,
}

/// The root and the number of requests. A request is in one tree at a time.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    root: Option<Slot>,
    len: usize,
}

/// Upper bound on the length of a mergeable request: 32 MiB.
const LONGEST: u64 = 1 << 16;

/// Multiplication by a large odd number scatters consecutive slots over all priorities.
const fn priority(slot: Slot) -> u32 {
    (slot.index() as u32).wrapping_add(1).wrapping_mul(0x9e37_79b1)
}

impl Tree {
    /// Number of requests.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the tree is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inserts a request by sector, after those at the same sector.
    pub fn insert(&mut self, requests: &mut Requests, slot: Slot) {
        let sector = requests[slot].sector();
        let (mut parent, mut at, mut went_left) = (None, self.root, false);
        while let Some(node) = at {
            let request = &requests[node];
            parent = Some(node);
            went_left = sector < request.sector();
            at = if went_left { request.tree.left } else { request.tree.right };
        }
        requests[slot].tree = TreeLinks { left: None, right: None, parent };
        match parent {
            None => self.root = Some(slot),
            Some(parent) if went_left => requests[parent].tree.left = Some(slot),
            Some(parent) => requests[parent].tree.right = Some(slot),
        }
        self.len += 1;
        while let Some(parent) = requests[slot].tree.parent
            && priority(parent) < priority(slot)
        {
            self.lift(requests, slot, parent);
        }
    }

    /// Removes a member. Its sector may have changed since it was inserted.
    pub fn remove(&mut self, requests: &mut Requests, member: Slot) {
        loop {
            let TreeLinks { left, right, .. } = requests[member].tree;
            match (left, right) {
                (Some(left), Some(right)) => {
                    let lifted = if priority(left) > priority(right) { left } else { right };
                    self.lift(requests, lifted, member);
                }
                (only, None) | (None, only) => {
                    self.replace(requests, member, only);
                    requests[member].tree = TreeLinks::default();
                    self.len -= 1;
                    return;
                }
            }
        }
    }

    /// The request with the lowest sector.
    pub fn first(&self, requests: &Requests) -> Option<Slot> {
        self.root.map(|root| leftmost(requests, root))
    }

    /// The next higher member.
    pub fn after(&self, requests: &Requests, member: Slot) -> Option<Slot> {
        if let Some(right) = requests[member].tree.right {
            return Some(leftmost(requests, right));
        }
        let mut below = member;
        loop {
            let parent = requests[below].tree.parent?;
            if requests[parent].tree.left == Some(below) {
                return Some(parent);
            }
            below = parent;
        }
    }

    /// The next lower member.
    pub fn before(&self, requests: &Requests, member: Slot) -> Option<Slot> {
        if let Some(mut at) = requests[member].tree.left {
            while let Some(right) = requests[at].tree.right {
                at = right;
            }
            return Some(at);
        }
        let mut below = member;
        loop {
            let parent = requests[below].tree.parent?;
            if requests[parent].tree.right == Some(below) {
                return Some(parent);
            }
            below = parent;
        }
    }

    /// The first request at or beyond a sector.
    pub fn at_or_after(&self, requests: &Requests, sector: u64) -> Option<Slot> {
        let (mut at, mut found) = (self.root, None);
        while let Some(node) = at {
            let request = &requests[node];
            if request.sector() >= sector {
                found = Some(node);
                at = request.tree.left;
            } else {
                at = request.tree.right;
            }
        }
        found
    }

    /// The last request that starts below a sector.
    pub fn last_below(&self, requests: &Requests, sector: u64) -> Option<Slot> {
        let (mut at, mut found) = (self.root, None);
        while let Some(node) = at {
            let request = &requests[node];
            if request.sector() < sector {
                found = Some(node);
                at = request.tree.right;
            } else {
                at = request.tree.left;
            }
        }
        found
    }

    /// The last request below a sector and the first at or beyond it, in one search.
    fn around(&self, requests: &Requests, sector: u64) -> (Option<Slot>, Option<Slot>) {
        let (mut at, mut below, mut beyond) = (self.root, None, None);
        while let Some(node) = at {
            let request = &requests[node];
            if request.sector() < sector {
                below = Some(node);
                at = request.tree.right;
            } else {
                beyond = Some(node);
                at = request.tree.left;
            }
        }
        (below, beyond)
    }

    /// A request that ends where `sector` begins. Overlapping requests can hide one another from a search by start, so a few are
    /// examined; this finds what a hash of ends finds unless five overlap.
    pub fn ending_at(&self, requests: &Requests, sector: u64) -> Option<Slot> {
        self.ends_there(requests, self.last_below(requests, sector), sector)
    }

    /// A request that ends where `sector` begins and one that starts at `end`, in one search.
    pub fn touching(&self, requests: &Requests, sector: u64, end: u64) -> (Option<Slot>, Option<Slot>) {
        let (below, mut beyond) = self.around(requests, sector);
        let behind = self.ends_there(requests, below, sector);
        while let Some(slot) = beyond {
            let start = requests[slot].sector();
            if start >= end {
                return (behind, Some(slot).filter(|_| start == end));
            }
            beyond = self.after(requests, slot);
        }
        (behind, None)
    }

    fn ends_there(&self, requests: &Requests, last_below: Option<Slot>, sector: u64) -> Option<Slot> {
        let mut at = last_below?;
        for _ in 0..4 {
            let request = &requests[at];
            if request.end() == sector {
                return Some(at);
            }
            if sector - request.sector() > LONGEST {
                return None; // requests that start even lower end lower, too
            }
            at = self.before(requests, at)?;
        }
        None
    }

    /// A request that starts at a sector.
    pub fn starting_at(&self, requests: &Requests, sector: u64) -> Option<Slot> {
        self.at_or_after(requests, sector).filter(|&slot| requests[slot].sector() == sector)
    }

    /// Iterates in sector order.
    pub fn iter<'a>(&'a self, requests: &'a Requests) -> impl Iterator<Item = Slot> + 'a {
        let mut at = self.first(requests);
        std::iter::from_fn(move || {
            let slot = at?;
            at = self.after(requests, slot);
            Some(slot)
        })
    }

    /// Rotates a child above its parent, keeping the order.
    fn lift(&mut self, requests: &mut Requests, child: Slot, parent: Slot) {
        self.replace(requests, parent, Some(child));
        let moved = if requests[parent].tree.left == Some(child) {
            let moved = requests[child].tree.right;
            requests[parent].tree.left = moved;
            requests[child].tree.right = Some(parent);
            moved
        } else {
            let moved = requests[child].tree.left;
            requests[parent].tree.right = moved;
            requests[child].tree.left = Some(parent);
            moved
        };
        requests[parent].tree.parent = Some(child);
        if let Some(moved) = moved {
            requests[moved].tree.parent = Some(parent);
        }
    }

    /// Replaces `old` by `new` under its parent.
    fn replace(&mut self, requests: &mut Requests, old: Slot, new: Option<Slot>) {
        let parent = requests[old].tree.parent;
        match parent {
            None => self.root = new,
            Some(parent) if requests[parent].tree.left == Some(old) => requests[parent].tree.left = new,
            Some(parent) => requests[parent].tree.right = new,
        }
        if let Some(new) = new {
            requests[new].tree.parent = parent;
        }
    }
}

fn leftmost(requests: &Requests, mut at: Slot) -> Slot {
    while let Some(left) = requests[at].tree.left {
        at = left;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bio::{Bio, Op};
    use crate::time::Nanos;
    use proptest::prelude::*;

    fn sectors(tree: &Tree, requests: &Requests) -> Vec<u64> {
        tree.iter(requests).map(|slot| requests[slot].sector()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_is_a_sorted_list(steps in prop::collection::vec((0u64..60, any::<bool>(), 0usize..64), 1..200)) {
            let mut requests = Requests::new(256);
            let mut tree = Tree::default();
            let mut model: Vec<(u64, Slot)> = Vec::new();
            for (sector, enter, which) in steps {
                if enter || model.is_empty() {
                    let slot = requests.make(Nanos::ZERO, Bio::new(Op::Read, sector * 8, 8)).unwrap();
                    tree.insert(&mut requests, slot);
                    let at = model.partition_point(|&(s, _)| s <= sector * 8);
                    model.insert(at, (sector * 8, slot));
                } else {
                    let (_, slot) = model.remove(which % model.len());
                    tree.remove(&mut requests, slot);
                    requests.finish(slot, |_| {});
                }
                prop_assert_eq!(tree.iter(&requests).collect::<Vec<_>>(), model.iter().map(|m| m.1).collect::<Vec<_>>());
                prop_assert_eq!(tree.len(), model.len());
                let probe = sector * 8 + 1;
                let above = model.iter().find(|m| m.0 >= probe).map(|m| m.1);
                let below = model.iter().rev().find(|m| m.0 < probe).map(|m| m.1);
                prop_assert_eq!(tree.at_or_after(&requests, probe), above);
                prop_assert_eq!(tree.last_below(&requests, probe), below);
                if let Some(below) = below {
                    let at = model.iter().position(|m| m.1 == below).unwrap();
                    prop_assert_eq!(tree.before(&requests, below), at.checked_sub(1).map(|at| model[at].1));
                }
            }
        }
    }

    #[test]
    fn ten_thousand_keep_a_short_way_to_the_root() {
        let mut requests = Requests::new(10_000);
        let mut tree = Tree::default();
        for n in 0..10_000u64 {
            let slot = requests.make(Nanos::ZERO, Bio::new(Op::Read, n * 8, 8)).unwrap();
            tree.insert(&mut requests, slot);
        }
        let depth = |mut at: Slot| {
            let mut depth = 0;
            while let Some(parent) = requests[at].tree.parent {
                at = parent;
                depth += 1;
            }
            depth
        };
        let deepest = tree.iter(&requests).map(depth).max().unwrap();
        assert!(deepest <= 50, "{deepest}");
    }

    #[test]
    fn ends_and_starts_are_found_even_among_overlaps() {
        let mut requests = Requests::new(8);
        let mut tree = Tree::default();
        for (sector, length) in [(0, 16), (4, 8), (32, 8)] {
            let slot = requests.make(Nanos::ZERO, Bio::new(Op::Read, sector, length)).unwrap();
            tree.insert(&mut requests, slot);
        }
        let found = tree.ending_at(&requests, 16).map(|slot| requests[slot].sector());
        assert_eq!(found, Some(0));
        assert_eq!(tree.ending_at(&requests, 13), None);
        assert_eq!(tree.starting_at(&requests, 32).map(|slot| requests[slot].end()), Some(40));
        assert_eq!(tree.starting_at(&requests, 31), None);
        let touching = |sector, end| {
            let (before, behind) = tree.touching(&requests, sector, end);
            (before.map(|slot| requests[slot].sector()), behind.map(|slot| requests[slot].sector()))
        };
        assert_eq!(touching(16, 32), (Some(0), Some(32)));
        assert_eq!(
            (touching(17, 31), touching(40, 48), touching(2, 4)),
            ((None, None), (Some(32), None), (None, Some(4)))
        );
        assert_eq!(touching(3, 32), (None, Some(32)), "past one that lies within");
        assert_eq!(sectors(&tree, &requests), [0, 4, 32]);
    }
}
