//! The disk as a whole: single access times computed by hand, look-ahead, write cache, queue, flushes.

use super::testing::{PLAIN, disk_of, rules, small_disk};
use super::*;
use crate::devices::testing::{closed, numbers, open, read, write};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn buffered() -> DiskRules {
    DiskRules {
        segments: 4,
        segment_bytes: 128 * 512,
        look_ahead: true,
        bus_bytes_per_s: 512_000_000,
        ..PLAIN
    }
}

fn cached(order: DestageOrder, commands: usize) -> DiskRules {
    let write_cache = WriteCacheRules { bytes: 1 << 20, commands, order, idle_ns: 5 * MS };
    DiskRules { write_cache, bus_bytes_per_s: 512_000_000, ..PLAIN }
}

#[test]
fn an_access_is_overhead_seek_rotation_and_transfer() {
    // Sector 50 passes half a turn after the start; the overhead is over by then.
    assert_eq!(closed(&mut small_disk(), &[read(0, 50, 10)], 1), [3 * MS + 600_000]);
    let mut disk = small_disk();
    closed(&mut disk, &[read(0, 150_000, 10), write(1, 3, 1)], 1);
    let c = disk.counters(u64::MAX);
    assert_eq!(c.busy_ns, c.overhead_ns + c.seek_ns + c.rotation_ns + c.transfer_ns);
    assert_eq!((c.overhead_ns, c.transfer_ns), (MS, 660_000));
}

#[test]
fn rewriting_what_was_read_costs_the_rest_of_a_turn() {
    let done = closed(&mut small_disk(), &[read(0, 50, 10), write(1, 50, 10)], 1);
    assert_eq!(done[1] - done[0], 6 * MS);
}

#[test]
fn reading_on_without_look_ahead_loses_a_turn_and_with_it_none() {
    let commands: Vec<_> = (0..20).map(|n| read(n, u64::from(n) * 10, 10)).collect();
    let without = closed(&mut disk_of(rules(1), PLAIN), &commands, 1);
    assert!(without[1] - without[0] > 6 * MS);
    let mut disk = disk_of(rules(1), buffered());
    let with = closed(&mut disk, &commands, 1);
    // The overhead is half a millisecond and ten sectors take 0.6 ms, so only the surface limits: a turn, two and a switch.
    assert!(with[19] < 19 * MS, "{with:?}");
    assert_eq!(disk.counters(u64::MAX).read_hits, 19);
}

#[test]
fn a_command_for_sectors_being_read_ahead_waits_for_them() {
    let mut disk = disk_of(rules(1), buffered());
    let done = open(&mut disk, &[(0, read(0, 0, 10)), (8 * MS, read(1, 40, 10))]);
    // The first ends after a turn and 0.6 ms; 40 more sectors take 2.4 ms.
    assert_eq!(done[0], 6 * MS + 600_000);
    assert_eq!(done[1], 6 * MS + 600_000 + 2 * MS + 400_000);
}

#[test]
fn look_ahead_ends_when_another_command_arrives() {
    // The second command arrives at once: during its overhead look-ahead is stopped, so the sectors after the first are not buffered.
    let mut disk = disk_of(rules(1), buffered());
    let done = closed(&mut disk, &[read(0, 0, 10), read(1, 150_000, 10), read(2, 10, 10)], 1);
    assert_eq!(disk.counters(u64::MAX).read_hits, 0);
    assert!(done[2] - done[1] > 500_000 + 600_000, "{done:?}");
}

#[test]
fn look_ahead_ends_with_the_segment() {
    let mut disk = disk_of(rules(1), buffered());
    let done =
        open(&mut disk, &[(0, read(0, 0, 10)), (900 * MS, read(1, 10, 60)), (950 * MS, read(2, 70, 90))]);
    assert_eq!(done[1], 900 * MS + 500_000 + 60_000, "in the buffer: overhead and bus");
    assert!(done[2] - 950 * MS > MS, "70 to 138 are there, the rest is not");
}

#[test]
fn a_segment_being_filled_is_found_behind_an_older_shorter_one() {
    // Two segments have sector 100: the first was left at once and ends at 108, the second continues past the end of the track.
    for wait_ms in 0..16 {
        let mut disk = disk_of(rules(1), DiskRules { queue_depth: 2, ..buffered() });
        let mut arrivals = vec![(0, read(0, 100, 8)), (MS, read(1, 150_000, 8)), (50 * MS, read(2, 92, 8))];
        let done = open(&mut disk.clone(), &arrivals);
        arrivals.push((done[2] + wait_ms * MS, read(3, 100, 20)));
        let done = open(&mut disk, &arrivals);
        assert!(done[3] < done[2] + (wait_ms + 10) * MS, "after {wait_ms} ms: {done:?}");
    }
}

#[test]
fn a_write_makes_what_the_buffer_has_untrue() {
    let mut disk = disk_of(rules(1), buffered());
    let done = open(&mut disk, &[(0, read(0, 0, 10)), (50 * MS, write(1, 20, 1)), (90 * MS, read(2, 18, 4))]);
    assert!(done[2] - 90 * MS > 560_000);
    assert_eq!(disk.counters(u64::MAX).read_hits, 0);
}

#[test]
fn a_write_cache_answers_at_once_and_writes_back_when_nothing_is_asked() {
    let mut disk = disk_of(rules(1), cached(DestageOrder::Fifo, 32));
    let done = closed(&mut disk, &[write(0, 90_000, 8), write(1, 40, 8)], 1);
    assert_eq!(done, [508_000, 1_016_000]);
    assert_eq!(disk.next_event(), Some(1_016_000 + 5 * MS));
    let mut none = Vec::new();
    disk.advance(MS * 100, &mut none);
    assert_eq!((none.len(), disk.next_event()), (0, None));
    assert!(disk.counters(u64::MAX).destage_ns > 6 * MS);
}

#[test]
fn a_flush_waits_for_the_medium() {
    let mut disk = disk_of(rules(1), cached(DestageOrder::Fifo, 32));
    let done = closed(&mut disk, &[write(0, 90_000, 8), write(0, 0, 0), write(0, 0, 0)], 1);
    assert!(done[1] - done[0] > MS, "{done:?}");
    assert_eq!(done[2] - done[1], 500_000, "nothing is left to write");
}

#[test]
fn a_full_cache_makes_writes_wait_and_order_of_writing_back_matters() {
    let commands: Vec<_> = numbers(199_000, 300, 1).iter().map(|&s| write(0, s, 8)).collect();
    let end = |rules_of| *closed(&mut disk_of(rules(1), rules_of), &commands, 1).iter().max().unwrap();
    let (none, fifo) = (end(PLAIN), end(cached(DestageOrder::Fifo, 32)));
    let shortest = end(cached(DestageOrder::ShortestFirst, 32));
    assert!(
        fifo * 10 < none * 11 && fifo * 10 > none * 7,
        "first come first served gains little: {none} {fifo}"
    );
    assert!(shortest * 3 < fifo * 2, "shortest first gains much: {fifo} {shortest}");
}

#[test]
fn a_queue_is_served_nearest_first_without_starvation() {
    let commands: Vec<_> = numbers(199_000, 400, 2).iter().map(|&s| read(0, s, 8)).collect();
    let run = |age_limit_ns| {
        let rules_of = DiskRules { queue_depth: 32, age_limit_ns, ..PLAIN };
        let done = closed(&mut disk_of(rules(1), rules_of), &commands, 32);
        (*done.iter().max().unwrap(), done)
    };
    let (fifo, _) = run(0);
    let (near, _) = run(u64::MAX);
    assert!(near * 3 < fifo * 2, "{near} {fifo}");
    // How long one was overtaken by those directly behind it.
    let worst = |done: &[u64]| done.windows(2).map(|pair| pair[0].saturating_sub(pair[1])).max().unwrap();
    let (_, limited) = run(100 * MS);
    let (_, unlimited) = run(u64::MAX);
    assert!(2 * worst(&limited) < worst(&unlimited), "{} {}", worst(&limited), worst(&unlimited));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_command_is_done_once_whatever_the_rules(
        asked in prop::collection::vec((any::<bool>(), 0u64..199_000, 0u32..300), 1..80),
        depth in 1u32..33,
        order in any::<bool>(),
        kind in 0u8..4,
    ) {
        let order = if order { DestageOrder::Fifo } else { DestageOrder::ShortestFirst };
        let base = match kind {
            0 => PLAIN,
            1 => buffered(),
            2 => cached(order, 8),
            _ => DiskRules { segments: 2, segment_bytes: 1 << 16, look_ahead: true, ..cached(order, 3) },
        };
        let commands: Vec<_> = asked
            .iter()
            .map(|&(w, sector, n)| if w { write(0, sector, n) } else { read(0, sector, n.max(1)) })
            .collect();
        let run = || {
            let mut disk = disk_of(rules(5), DiskRules { queue_depth: depth, ..base });
            let done = closed(&mut disk, &commands, depth as usize);
            (done, disk.counters(u64::MAX))
        };
        let (done, counters) = run();
        prop_assert!(done.iter().all(|&at| at > 0));
        prop_assert!(counters.busy_ns <= *done.iter().max().unwrap());
        prop_assert_eq!((done, counters), run());
    }

    /// Nearby reads with pauses in which look-ahead gets far: segments overlap, and end in the middle of a track.
    #[test]
    fn reads_after_pauses_are_done_soon(
        asked in prop::collection::vec((0u64..40, 1u32..30, 0u64..20), 1..40),
        far in prop::collection::vec(any::<bool>(), 40),
        depth in 1u32..4,
    ) {
        let mut now = 0;
        let mut arrivals = Vec::new();
        for (&(place, sectors, pause_ms), far) in asked.iter().zip(far) {
            now += pause_ms * MS;
            let sector = place * 10 + if far { 150_000 } else { 0 };
            arrivals.push((now, read(0, sector, sectors)));
        }
        let mut disk = disk_of(rules(1), DiskRules { queue_depth: depth, ..buffered() });
        let done = open(&mut disk, &arrivals);
        let each = 30 * MS;
        prop_assert!(done.iter().all(|&at| at <= now + arrivals.len() as u64 * each), "{:?}", done);
    }
}
