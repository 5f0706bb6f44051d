//! Rules of the cache: eviction order under each, what stays, which tasks are woken, and that no page is there twice.

use super::*;
use proptest::prelude::*;

fn cache(capacity: usize, replacement: Replacement) -> Cache {
    let mut cache = Cache::new(capacity, replacement, None);
    cache.capacity = capacity;
    cache.grow(1000);
    cache
}

fn there(cache: &Cache) -> Vec<u32> {
    (0..1000).filter(|&p| cache.flags(p).is_some()).collect()
}

#[test]
fn the_page_not_touched_for_longest_goes() {
    let mut c = cache(3, Replacement::Simple);
    (0..3).for_each(|p| c.insert(p, Flags::READY, 0));
    c.touch(0);
    c.insert(9, Flags::READY, 0);
    assert_eq!(there(&c), [0, 2, 9]);
    assert_eq!((c.evicted(), c.resident()), (1, 3));
}

#[test]
fn pages_touched_twice_outlive_a_stream() {
    let mut c = cache(30, Replacement::TwoList);
    for p in 0..10 {
        c.insert(p, Flags::READY, 0);
        c.touch(p);
        c.touch(p);
    }
    for p in 100..300 {
        c.insert(p, Flags::READY, 0);
        c.touch(p);
    }
    assert!((0..10).all(|p| c.flags(p).is_some()), "{:?}", there(&c));
}

#[test]
fn pages_only_written_are_evicted_before_pages_in_use() {
    let mut c = cache(30, Replacement::Linux24);
    c.occupy(500..520);
    for p in 0..10 {
        c.insert(p, Flags::READY, 0);
        assert!(!c.touch_to_write(p) && !c.touch_to_write(p));
    }
    // 20 active and 10 inactive: nearly one is demoted per eviction, behind those that were written.
    for p in 10..20 {
        c.insert(p, Flags::READY, 0);
        c.touch_to_write(p);
    }
    assert!((0..10).all(|p| c.flags(p).is_none()), "{:?}", there(&c));
    assert_eq!((500..520).filter(|&p| c.flags(p).is_some()).count(), 20);
    assert!(c.touch(15), "the first read after a write makes it active");
    assert!(!c.touch(15));
    let mut slow = cache(30, Replacement::Linux24);
    slow.demote_by(0.0);
    slow.occupy(500..520);
    (0..100).for_each(|p| slow.insert(p, Flags::READY, 0));
    assert!((500..520).all(|p| slow.flags(p).is_some()));
}

#[test]
fn a_copy_knows_the_one_before() {
    let mut c = cache(3, Replacement::Simple);
    c.insert(7, Flags::READY, 0);
    assert_eq!((c.copied(7, 4), c.copied(7, 9), c.copied(7, 10)), (None, Some(4), Some(9)));
    assert!(c.drop_clean(7));
    c.insert(7, Flags::READY, 0);
    assert_eq!((c.copied(7, 11), c.copied(8, 12)), (None, None));
}

#[test]
fn dirty_and_in_flight_pages_are_not_evicted() {
    for kind in [Replacement::Simple, Replacement::TwoList, Replacement::Linux24] {
        let mut c = cache(3, kind);
        c.insert(0, Flags::READY.with(Flags::DIRTY), 0);
        c.insert(1, Flags::default(), 0);
        c.insert(2, Flags::READY.with(Flags::WRITEBACK), 0);
        c.insert(3, Flags::READY, 0);
        c.insert(4, Flags::READY, 0);
        assert!((0..3).all(|p| c.flags(p).is_some()), "{:?}", there(&c));
        assert_eq!(c.dirty(), 1);
        c.set(0, Flags::DIRTY, false);
        assert_eq!(c.dirty(), 0);
    }
}

#[test]
fn waiters_for_a_page_are_woken_in_order() {
    let mut c = cache(4, Replacement::Simple);
    c.insert(5, Flags::default(), 0);
    [3, 1, 2].into_iter().for_each(|task| assert!(c.wait(5, task)));
    let mut woken = Vec::new();
    c.waiters(5, |t| woken.push(t));
    assert_eq!(woken, [3, 1, 2]);
    c.waiters(5, |t| woken.push(t));
    assert_eq!(woken.len(), 3);
    assert!(!c.wait(6, 1), "nobody waits for an absent page");
}

#[test]
fn frames_beyond_the_cache_size_are_evicted_once_clean() {
    for kind in [Replacement::Simple, Replacement::TwoList] {
        let mut c = cache(3, kind);
        (0..10).for_each(|p| c.insert(p, Flags::READY.with(Flags::DIRTY), 0));
        assert_eq!((c.resident(), c.pinned), (10, 10));
        (0..10).for_each(|p| {
            c.set(p, Flags::DIRTY, false);
        });
        c.insert(20, Flags::READY, 0);
        assert_eq!((c.resident(), c.pinned), (3, 0), "{:?}", there(&c));
        assert!(c.flags(20).is_some());
    }
}

proptest! {
    #[test]
    fn it_never_holds_more_than_fits_nor_a_page_twice(
        capacity in 3usize..40, simple: bool, steps in prop::collection::vec((0u32..100, 0u8..5), 0..400)
    ) {
        let mut c = cache(capacity, if simple { Replacement::Simple } else { Replacement::TwoList });
        for (page, what) in steps {
            match what {
                0 if c.flags(page).is_none() => c.insert(page, Flags::READY, 0),
                1 => { c.drop_clean(page); }
                2 => { c.set(page, Flags::DIRTY, page % 3 == 0 && c.dirty() < 2); }
                _ => { c.touch(page); }
            }
            prop_assert!(c.resident() <= capacity);
            prop_assert_eq!(c.pinned, c.dirty() as usize);
            prop_assert_eq!(there(&c).len(), c.resident());
        }
    }
}
