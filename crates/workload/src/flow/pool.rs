//! Which entries of a file set exist, which are busy, and which comes next. Threads and processes pick from one pool at the same time
//! without a lock, using two bits per entry and a rotor that only advances.
//!
//! "Busy" lasts for one operation (an open, a creation, a removal), not for as long as a file is open.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

const BITS: usize = u64::BITS as usize;
/// Distance between rotors in words, so that each has its own cache line.
const APART: usize = 16;

/// Which entries are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Those that exist.
    Existing = 0,
    /// Those that do not.
    Missing = 1,
}

/// Start of a search.
#[derive(Debug)]
pub enum From<'a> {
    /// After the last entry that any worker took.
    Common,
    /// After the last entry that this thread took.
    Own(&'a mut u64),
    /// At this index, modulo the number of entries.
    Entry(u64),
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// This entry, now busy until [`Pool::release`].
    Entry(usize),
    /// None at present, but an entry is busy: it may become free soon.
    Busy,
    /// None at all.
    None,
}

/// The entries of one kind: files, or leaf directories.
pub struct Pool<A> {
    count: usize,
    exists: A,
    busy: A,
    /// Next start of a search: the position increases for ever, modulo the count it gives the entry.
    rotors: A,
}

impl<A: Deref<Target = [AtomicU64]>> Pool<A> {
    /// A pool of `count` entries, of which those exist that the function selects. `make` allocates an array of zeroed words visible to
    /// all workers that take from the pool.
    ///
    /// # Errors
    /// If `make` fails.
    pub fn new<E>(
        count: usize,
        exists: impl Fn(usize) -> bool,
        make: impl Fn(usize) -> Result<A, E>,
    ) -> Result<Self, E> {
        let words = count.div_ceil(BITS);
        let this = Self { count, exists: make(words)?, busy: make(words)?, rotors: make(2 * APART)? };
        for entry in (0..count).filter(|&e| exists(e)) {
            this.exists[entry / BITS].fetch_or(bit(entry), Ordering::Relaxed);
        }
        Ok(this)
    }

    /// Takes the first wanted entry that is not busy.
    pub fn take(&self, wanted: Wanted, mut from: From) -> Found {
        if self.count == 0 {
            return Found::None;
        }
        let rotor = &self.rotors[wanted as usize * APART];
        let mut start = match &from {
            From::Common => rotor.load(Ordering::Relaxed),
            From::Own(rotor) => **rotor,
            From::Entry(number) => number % self.count as u64,
        };
        loop {
            let first = (start % self.count as u64) as usize;
            let Some(entry) = self.look(wanted, first) else {
                // Check busy entries before existing ones: a worker that released before the first check has left its mark by the second.
                return if self.anybody() || self.any(wanted) { Found::Busy } else { Found::None };
            };
            let on = (entry + self.count - first) % self.count;
            let next = start + on as u64 + 1;
            match &mut from {
                // Advance the rotor before claiming the entry: two workers briefly holding the same entry would make a third one skip it,
                // and the entry would lose its turn.
                From::Common => {
                    if let Err(now) = rotor.compare_exchange(start, next, Ordering::AcqRel, Ordering::Acquire)
                    {
                        start = now;
                        continue;
                    }
                    start = next;
                }
                From::Own(_) | From::Entry(_) => {}
            }
            if !self.claim(entry) {
                continue;
            }
            if self.exists(entry) != (wanted == Wanted::Existing) {
                // Another worker has created or removed it since.
                self.release(entry);
                continue;
            }
            if let From::Own(rotor) = &mut from {
                **rotor = next;
            }
            return Found::Entry(entry);
        }
    }

    /// The first wanted entry at or after `first`, wrapping around, that is not busy.
    fn look(&self, wanted: Wanted, first: usize) -> Option<usize> {
        let words = self.exists.len();
        for step in 0..=words {
            let word = (first / BITS + step) % words;
            let exists = self.exists[word].load(Ordering::Acquire);
            let mut bits = if wanted == Wanted::Existing { exists } else { !exists };
            bits &= !self.busy[word].load(Ordering::Relaxed);
            let used = self.count - word * BITS;
            if used < BITS {
                bits &= (1 << used) - 1;
            }
            let before = (1u64 << (first % BITS)) - 1;
            if step == 0 {
                bits &= !before;
            } else if step == words {
                bits &= before;
            }
            if bits != 0 {
                return Some(word * BITS + bits.trailing_zeros() as usize);
            }
        }
        None
    }

    /// What a search would find now, without taking anything.
    pub fn outlook(&self, wanted: Wanted) -> Found {
        if self.count == 0 {
            return Found::None;
        }
        if let Some(entry) = self.look(wanted, 0) {
            return Found::Entry(entry);
        }
        if self.anybody() || self.any(wanted) { Found::Busy } else { Found::None }
    }

    /// Whether any entry is busy.
    fn anybody(&self) -> bool {
        self.busy.iter().any(|w| w.load(Ordering::Acquire) != 0)
    }

    /// Whether any wanted entry exists, busy or not.
    fn any(&self, wanted: Wanted) -> bool {
        (0..self.count).step_by(BITS).any(|first| {
            let exists = self.exists[first / BITS].load(Ordering::Acquire);
            let bits = if wanted == Wanted::Existing { exists } else { !exists };
            let used = self.count - first;
            bits & if used < BITS { (1 << used) - 1 } else { u64::MAX } != 0
        })
    }

    /// Marks an entry busy; false if it already is.
    pub fn claim(&self, entry: usize) -> bool {
        self.busy[entry / BITS].fetch_or(bit(entry), Ordering::AcqRel) & bit(entry) == 0
    }

    /// Whether an entry is busy.
    pub fn is_busy(&self, entry: usize) -> bool {
        self.busy[entry / BITS].load(Ordering::Acquire) & bit(entry) != 0
    }

    /// Marks an entry free again.
    pub fn release(&self, entry: usize) {
        self.busy[entry / BITS].fetch_and(!bit(entry), Ordering::AcqRel);
    }

    /// Whether an entry exists.
    pub fn exists(&self, entry: usize) -> bool {
        self.exists[entry / BITS].load(Ordering::Acquire) & bit(entry) != 0
    }

    /// Records that an entry was created or removed; called by the worker that claimed it.
    pub fn set_exists(&self, entry: usize, exists: bool) {
        let word = &self.exists[entry / BITS];
        if exists {
            word.fetch_or(bit(entry), Ordering::AcqRel);
        } else {
            word.fetch_and(!bit(entry), Ordering::AcqRel);
        }
    }
}

fn bit(entry: usize) -> u64 {
    1 << (entry % BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn pool_of(count: usize, exists: impl Fn(usize) -> bool) -> Pool<Vec<AtomicU64>> {
        let make = |words: usize| Ok::<_, Infallible>((0..words).map(|_| AtomicU64::new(0)).collect());
        Pool::new(count, exists, make).unwrap()
    }

    #[test]
    fn an_entry_that_everybody_wants_is_never_missing() {
        let pool = pool_of(1, |_| true);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        match pool.take(Wanted::Existing, From::Common) {
                            Found::Entry(entry) => pool.release(entry),
                            found => assert_eq!(found, Found::Busy),
                        }
                    }
                });
            }
        });
        assert_eq!(pool.take(Wanted::Missing, From::Common), Found::None);
    }

    fn take(pool: &Pool<Vec<AtomicU64>>, wanted: Wanted) -> Option<usize> {
        match pool.take(wanted, From::Common) {
            Found::Entry(entry) => {
                pool.release(entry);
                Some(entry)
            }
            _ => None,
        }
    }

    #[test]
    fn entries_come_in_turn_and_around() {
        for count in [1, 3, 64, 65, 200] {
            let pool = pool_of(count, |e| e % 3 == 0);
            let existing: Vec<usize> = (0..count).filter(|e| e % 3 == 0).collect();
            let missing: Vec<usize> = (0..count).filter(|e| e % 3 != 0).collect();
            for _ in 0..2 {
                let seen: Vec<usize> =
                    existing.iter().filter_map(|_| take(&pool, Wanted::Existing)).collect();
                assert_eq!(seen, existing, "of {count}");
                let seen: Vec<usize> = missing.iter().filter_map(|_| take(&pool, Wanted::Missing)).collect();
                assert_eq!(seen, missing, "of {count}");
            }
        }
    }

    #[test]
    fn an_entry_in_use_is_not_handed_out() {
        let pool = pool_of(2, |_| true);
        assert_eq!(pool.take(Wanted::Existing, From::Common), Found::Entry(0));
        assert_eq!(pool.take(Wanted::Existing, From::Entry(2)), Found::Entry(1));
        assert_eq!(pool.take(Wanted::Existing, From::Common), Found::Busy);
        assert_eq!(pool.take(Wanted::Missing, From::Common), Found::Busy);
        assert_eq!((pool.outlook(Wanted::Missing), pool.is_busy(1)), (Found::Busy, true));
        pool.set_exists(0, false);
        pool.release(0);
        pool.release(1);
        assert_eq!(
            (pool.outlook(Wanted::Missing), pool.outlook(Wanted::Existing)),
            (Found::Entry(0), Found::Entry(1))
        );
        assert_eq!(pool.take(Wanted::Missing, From::Common), Found::Entry(0));
        pool.release(0);
        assert_eq!(pool_of(0, |_| true).take(Wanted::Existing, From::Common), Found::None);
        assert_eq!(
            pool_of(2, |_| true).take(Wanted::Missing, From::Common),
            Found::None,
            "nothing is missing, and no thread works"
        );
    }

    #[test]
    fn a_number_names_its_entry_or_the_next_and_own_rotors_are_own() {
        let pool = pool_of(10, |e| e != 4);
        for (number, entry) in [(3, 3), (4, 5), (14, 5), (29, 9)] {
            assert_eq!(pool.take(Wanted::Existing, From::Entry(number)), Found::Entry(entry));
            pool.release(entry);
        }
        let mut own = 0;
        for entry in [0, 1, 2, 3, 5] {
            assert_eq!(pool.take(Wanted::Existing, From::Own(&mut own)), Found::Entry(entry));
            pool.release(entry);
        }
        assert_eq!(take(&pool, Wanted::Existing), Some(0), "the common rotor has not moved");
    }

    #[test]
    fn many_threads_take_each_entry_once_a_round() {
        const COUNT: usize = 1000;
        let pool = pool_of(COUNT, |_| true);
        let took = |_| {
            let mut mine = Vec::new();
            while let Found::Entry(entry) = pool.take(Wanted::Existing, From::Common) {
                pool.set_exists(entry, false);
                pool.release(entry);
                mine.push(entry);
            }
            mine
        };
        let mut all: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || took(i))).collect();
            threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
        });
        // A thread may have ended while another worked on the last entries.
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0] != w[1]));
        assert_eq!(all.len(), COUNT);
    }
}
