//! The array as a whole: full and partial stripes, cache and bypass, mirrors, flushes.

use super::*;
use crate::devices::disk::testing::{disk_of, rules, small_disk};
use crate::devices::testing::{closed, numbers, read, write};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Everything off: no cache, no bypass rule, all stripes in parallel.
const PLAIN: ArrayRules = ArrayRules {
    depth: 128,
    firmware_ns: 100_000,
    link_bytes_per_s: 0,
    write_cache_bytes: 0,
    battery: true,
    bypass_above_bytes: 0,
    bypass_above_segments: 0,
    bypass_when_overfull: false,
    bypass_at_once: 0,
    coalesce_bytes: 0,
    stripes_at_once: 0,
    reconstruct: false,
    merge_window_ns: 20 * MS,
    destage_run: 16,
    destage_at_once: 2,
};

fn cached() -> ArrayRules {
    ArrayRules { write_cache_bytes: 4 << 20, link_bytes_per_s: 100_000_000, ..PLAIN }
}

fn array(level: RaidLevel, rules_of: ArrayRules) -> Array {
    let disk = small_disk();
    let layout = ArrayLayout::new(level, 4, 128, disk.capacity_sectors()).unwrap();
    Array::new(rules_of, layout, &disk, 4)
}

#[test]
fn a_full_stripe_costs_one_access_to_each_disk_and_a_part_two_to_some() {
    let mut full = array(RaidLevel::Raid5, PLAIN);
    let done = closed(&mut full, &[write(0, 384 * 10, 384)], 1);
    // The unit has the same position on each disk, so they run alike: 128 sectors take 7.68 ms plus a switch.
    let transfer = full.counters(u64::MAX).transfer_ns;
    assert!((4 * 7_680_000..=4 * 9_300_000).contains(&transfer), "{transfer}");
    let mut part = array(RaidLevel::Raid5, PLAIN);
    let later = closed(&mut part, &[write(0, 384 * 10, 16)], 1);
    assert_eq!(part.counters(u64::MAX).transfer_ns, 4 * 960_000, "data and parity, read and written");
    assert!(later[0] > 6 * MS && done[0] > 8 * MS);
}

#[test]
fn a_cached_write_is_done_when_the_controller_has_it() {
    let mut array = array(RaidLevel::Raid5, cached());
    let done = closed(&mut array, &[write(0, 1000, 200)], 1);
    assert_eq!(done, [100_000 + 1_024_000]);
    let mut none = Vec::new();
    array.advance(10 * MS, &mut none);
    assert_eq!(array.counters(u64::MAX).transfer_ns, 0, "the part waits for the rest of its stripe");
    array.advance(500 * MS, &mut none);
    assert!(array.counters(u64::MAX).transfer_ns > 0 && array.next_event().is_none());
}

#[test]
fn without_battery_nothing_is_kept() {
    let mut array = array(RaidLevel::Raid5, ArrayRules { battery: false, ..cached() });
    closed(&mut array, &[write(0, 1000, 200)], 1);
    assert_eq!(array.counters(u64::MAX).cached_writes, 0);
    assert!(array.counters(u64::MAX).transfer_ns > 0);
}

#[test]
fn writes_bypass_the_cache_by_size_by_segments_and_when_it_is_overfull() {
    let cached_of = |rules_of: ArrayRules, command: Command, count: u32| {
        let mut array = array(RaidLevel::Raid5, rules_of);
        let commands: Vec<_> =
            (0..count).map(|n| Command { sector: u64::from(n) * 512, ..command }).collect();
        closed(&mut array, &commands, count as usize);
        let counters = array.counters(u64::MAX);
        assert_eq!(counters.cached_writes + counters.bypassed_writes, u64::from(count));
        counters.cached_writes
    };
    let by_size = ArrayRules { bypass_above_bytes: 200 * 512, ..cached() };
    assert_eq!(cached_of(by_size, write(0, 0, 200), 4), 4);
    assert_eq!(cached_of(by_size, write(0, 0, 201), 4), 0);
    let by_segments = ArrayRules { bypass_above_segments: 4, ..cached() };
    assert_eq!(cached_of(by_segments, Command { segments: 5, ..write(0, 0, 8) }, 4), 0);
    let overfull = ArrayRules { bypass_when_overfull: true, ..cached() };
    assert_eq!(cached_of(overfull, write(0, 0, 512), 16), 16, "16 times 256 KiB is what it takes");
    assert!(cached_of(overfull, write(0, 0, 512), 17) < 17);
    assert_eq!(cached_of(cached(), write(0, 0, 512), 40), 40, "the rule off: they wait for room");
}

#[test]
fn writes_in_order_leave_the_cache_as_full_stripes() {
    let mut array = array(RaidLevel::Raid5, cached());
    let commands: Vec<_> = (0..300u32).map(|n| write(0, u64::from(n) * 128, 128)).collect();
    closed(&mut array, &commands, 8);
    let mut none = Vec::new();
    array.advance(u64::MAX - 1, &mut none);
    // 300 data units and a hundred parity units, nothing read. A unit takes 7.68 ms, switches not counted.
    let transfer = array.counters(u64::MAX).transfer_ns;
    assert!((400 * 7_680_000..400 * 8_800_000).contains(&transfer), "{transfer}");
    let counters = array.counters(u64::MAX);
    // Four arms in parallel; the host's transfers end long before.
    assert!((transfer / 4..=counters.busy_ns).contains(&counters.destage_ns), "{counters:?}");
}

#[test]
fn a_dirty_read_is_a_hit() {
    let mut array = array(RaidLevel::Raid5, cached());
    closed(&mut array, &[write(0, 1000, 200), read(1, 1100, 50)], 1);
    assert_eq!(array.counters(u64::MAX).read_hits, 1);
}

#[test]
fn without_a_member_reads_of_it_ask_all_others() {
    let disk = small_disk();
    let layout = ArrayLayout::new(RaidLevel::Raid5, 4, 128, disk.capacity_sectors()).unwrap();
    let transfer = |layout| {
        let mut array = Array::new(PLAIN, layout, &disk, 4);
        closed(&mut array, &[read(0, 0, 64)], 1);
        array.counters(u64::MAX).transfer_ns
    };
    assert_eq!(transfer(layout.without(1).unwrap()), transfer(layout));
    assert_eq!(transfer(layout.without(0).unwrap()), 3 * transfer(layout));
}

#[test]
fn mirrors_share_reads_and_double_writes() {
    let commands: Vec<_> = numbers(90_000, 200, 6).iter().map(|&s| read(0, s, 8)).collect();
    let end =
        |level, commands: &[Command]| *closed(&mut array(level, PLAIN), commands, 8).iter().max().unwrap();
    let (mirrors, stripes) = (end(RaidLevel::Raid10, &commands), end(RaidLevel::Raid0, &commands));
    assert!(mirrors * 4 < stripes * 5, "reads use all four: {mirrors} {stripes}");
    let writes: Vec<_> = commands.iter().map(|c| Command { write: true, ..*c }).collect();
    assert!(end(RaidLevel::Raid10, &writes) * 10 > end(RaidLevel::Raid0, &writes) * 12);
}

#[test]
fn two_writes_to_a_stripe_do_not_run_at_once() {
    let rules_of = ArrayRules { write_cache_bytes: 4 << 20, merge_window_ns: 0, ..PLAIN };
    let mut array = array(RaidLevel::Raid5, rules_of);
    let commands: Vec<_> = (0..20u32).map(|n| write(0, 384 * 7 + u64::from(n % 4) * 32, 8)).collect();
    closed(&mut array, &commands, 4);
    let mut none = Vec::new();
    array.advance(u64::MAX - 1, &mut none);
    assert_eq!(array.next_event(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_command_is_done_once_whatever_the_rules(
        asked in prop::collection::vec((any::<bool>(), 0u64..180_000, 0u32..700), 1..60),
        depth in 1usize..40,
        level in prop::sample::select(vec![RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid5, RaidLevel::Raid10]),
        battery in any::<bool>(),
        overfull in any::<bool>(),
        stripes_at_once in 0u32..3,
        bypass_at_once in 0u32..3,
        coalesce_bytes in prop::sample::select(vec![0u64, 1 << 20]),
        cache_mib in 0u64..3,
        reconstruct in any::<bool>(),
        failed in prop::option::of(0u64..4),
    ) {
        let rules_of = ArrayRules {
            battery,
            bypass_when_overfull: overfull,
            stripes_at_once,
            bypass_at_once,
            coalesce_bytes,
            write_cache_bytes: cache_mib << 20,
            reconstruct,
            ..cached()
        };
        let commands: Vec<_> = asked
            .iter()
            .map(|&(w, sector, n)| if w { write(0, sector, n) } else { read(0, sector, n.max(1)) })
            .collect();
        let run = || {
            let disk = disk_of(rules(5), crate::devices::disk::testing::PLAIN);
            let whole = ArrayLayout::new(level, 4, 128, disk.capacity_sectors()).unwrap();
            let layout = failed.and_then(|member| whole.without(member)).unwrap_or(whole);
            let mut array = Array::new(rules_of, layout, &disk, 4);
            let done = closed(&mut array, &commands, depth);
            let mut none = Vec::new();
            array.advance(u64::MAX - 1, &mut none);
            (done, array.counters(u64::MAX), array.next_event(), none)
        };
        let (done, counters, event, none) = run();
        prop_assert!(done.iter().all(|&at| at > 0) && none.is_empty());
        prop_assert_eq!(event, None, "nothing is left to do");
        prop_assert_eq!((done, counters, event, none), run());
    }
}
