//! Where operations go, by both programs' system calls.

use super::both::{Both, WHO, jobs, number};
use std::collections::{BTreeMap, BTreeSet};

const MIB: u64 = 1 << 20;
const JOB: &str = "--name=a --filename=f --bs=4k --rw=randread";

#[test]
fn case_05_random_with_a_map_and_without() {
    let Some(both) = Both::new("case_05_random_with_a_map_and_without") else { return };
    both.empty("f", 64 * MIB);
    // The smallest and the largest number of blocks of 16384 that are hit.
    for (more, least, most) in [
        ("", 16384, 16384),
        ("--norandommap", 10_190, 10_520),
        ("--norandommap --random_generator=lfsr", 16384, 16384),
    ] {
        let line = format!("{JOB} --size=64m {more}");
        let Some(blocks) = both.blocks(&line, "f", 4096) else { return };
        for (who, blocks) in WHO.iter().zip(blocks) {
            assert_eq!(blocks.len(), 16384, "{who} {more}");
            let hit = blocks.into_iter().collect::<BTreeSet<_>>().len();
            assert!((least..=most).contains(&hit), "{who} {more}: {hit} blocks");
        }
    }
}

#[test]
fn case_06_a_new_offset_every_so_many_blocks() {
    let Some(both) = Both::new("case_06_a_new_offset_every_so_many_blocks") else { return };
    both.empty("f", 4 * MIB);
    let Some(runs) = both.blocks("--name=a --filename=f --bs=4k --rw=randread:8 --size=4m", "f", 4096) else {
        return;
    };
    for (who, blocks) in WHO.iter().zip(runs) {
        assert_eq!(blocks.len(), 1024, "{who}");
        // The end of the file ends a run; two runs may happen to follow each other.
        let mut lengths: BTreeMap<u64, u32> = BTreeMap::new();
        let mut length = 1;
        for pair in blocks.windows(2) {
            if pair[1] == pair[0] + 1 && length < 8 {
                length += 1;
            } else {
                *lengths.entry(length).or_default() += 1;
                length = 1;
            }
        }
        let whole = lengths.get(&8).copied().unwrap_or(0);
        assert!(whole >= 120, "{who}: {lengths:?}");
    }
    let same = "--name=a --filename=f --bs=4k --rw=randread:8 --rw_sequencer=identical --size=4m";
    for (who, blocks) in WHO.iter().zip(both.blocks(same, "f", 4096).unwrap()) {
        let groups: Vec<&[u64]> = blocks.chunks(8).collect();
        assert!(groups.iter().all(|g| g.iter().all(|b| *b == g[0])), "{who}: {:?}", &blocks[..32]);
        let places = groups.iter().map(|g| g[0]).collect::<BTreeSet<_>>().len();
        assert!(places > 100, "{who}: {places} places");
    }
    // In a larger file fio goes no second time round.
    both.empty("whole", 32 << 10);
    let skips = "--name=a --filename=whole --bs=4k --rw=read:4k --size=32k";
    for (who, blocks) in WHO.iter().zip(both.blocks(skips, "whole", 4096).unwrap()) {
        assert_eq!(blocks, [0, 2, 4, 6, 0, 2, 4, 6], "{who}");
    }
}

#[test]
fn case_07_a_mix_in_its_shares_and_each_kind_in_its_order() {
    let Some(both) = Both::new("case_07_a_mix_in_its_shares_and_each_kind_in_its_order") else { return };
    let documents = both.json("--name=a --ioengine=null --rw=rw --rwmixread=70 --size=64m --bs=4k");
    for (who, document) in WHO.iter().zip(documents) {
        let job = &jobs(&document)[0];
        let [reads, writes] = ["read", "write"].map(|kind| number(&job[kind]["total_ios"]));
        assert_eq!(reads + writes, 16384, "{who}");
        let share = reads as f64 / 16384.0;
        assert!((0.69..=0.71).contains(&share), "{who}: {share}");
    }
    let line = "--name=a --filename=f --rw=rw --rwmixread=70 --size=2m --bs=4k";
    // The first run lays the file out.
    both.run(line);
    let Some(moves) = both.moves(line, "f") else { return };
    for (who, moves) in WHO.iter().zip(moves) {
        for write in [false, true] {
            let offsets: Vec<u64> = moves.iter().filter(|m| m.write == write).map(|m| m.offset).collect();
            assert!(offsets.len() > 100, "{who}");
            assert!(offsets.windows(2).all(|pair| pair[1] == pair[0] + 4096), "{who}: {offsets:?}");
        }
    }
}

#[test]
fn case_08_sizes_in_their_shares() {
    let Some(both) = Both::new("case_08_sizes_in_their_shares") else { return };
    both.empty("f", 1024 * MIB);
    let line = "--name=a --filename=f --size=1g --bssplit=4k/10:64k/50:32k/40";
    let Some(moves) = both.moves(line, "f") else { return };
    for (who, moves) in WHO.iter().zip(moves) {
        assert!(moves.iter().all(|m| m.offset.is_multiple_of(4096)), "{who}");
        for (size, percent) in [(4096, 10.0), (65536, 50.0), (32768, 40.0)] {
            let found = moves.iter().filter(|m| m.bytes == size).count() as f64 / moves.len() as f64 * 100.0;
            assert!(
                (found - percent).abs() < 1.0,
                "{who}: {found} % of {size} in {} operations",
                moves.len()
            );
        }
    }
}

#[test]
fn case_09_zones_and_popular_blocks() {
    let Some(both) = Both::new("case_09_zones_and_popular_blocks") else { return };
    both.empty("f", 64 * MIB);
    let line = format!("{JOB} --size=64m --random_distribution=zoned:60/10:30/20:8/30:2/40");
    let Some(blocks) = both.blocks(&line, "f", 4096) else { return };
    for (who, blocks) in WHO.iter().zip(blocks) {
        let mut from = 0.0;
        for (accesses, space) in [(60.0, 10.0), (30.0, 20.0), (8.0, 30.0), (2.0, 40.0)] {
            let zone = from..from + space;
            let inside = blocks.iter().filter(|b| zone.contains(&(**b as f64 / 163.84))).count();
            let share = inside as f64 / blocks.len() as f64 * 100.0;
            assert!((share - accesses).abs() < 1.0, "{who}: {share} % in {zone:?}");
            from += space;
        }
    }
    let line = format!("{JOB} --size=64m --random_distribution=zipf:1.1 --io_size=256m");
    for (who, blocks) in WHO.iter().zip(both.blocks(&line, "f", 4096).unwrap()) {
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        blocks.iter().for_each(|block| *counts.entry(*block).or_default() += 1);
        let mut counts: Vec<u32> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hottest = f64::from(counts.iter().take(164).sum::<u32>()) / blocks.len() as f64;
        assert!((0.67..=0.71).contains(&hottest), "{who}: {hottest}");
    }
}

#[test]
fn case_10_the_same_again_or_not() {
    let Some(both) = Both::new("case_10_the_same_again_or_not") else { return };
    both.empty("f", MIB);
    let blocks = |more: &str| both.blocks(&format!("{JOB} --size=1m {more}"), "f", 4096);
    let (Some(first), Some(second)) = (blocks(""), blocks("")) else { return };
    assert_eq!(first, second);
    let (Some(third), Some(fourth)) = (blocks("--randrepeat=0"), blocks("--randrepeat=0")) else { return };
    for (who, (a, b)) in WHO.iter().zip(third.iter().zip(&fourth)) {
        assert_ne!(a, b, "{who}");
    }
}

#[test]
fn case_13_passes_loops_and_zones_with_gaps() {
    let Some(both) = Both::new("case_13_passes_loops_and_zones_with_gaps") else { return };
    both.empty("f", 64 << 10);
    // In a larger file fio reads a third block.
    both.empty("short", 10 << 10);
    let strided = "--size=32k --zonemode=strided --zonesize=8k --zonerange=8k --zoneskip=8k --io_size=16k";
    for (more, expected) in [
        ("--size=16k --io_size=36k", &[0u64, 1, 2, 3, 0, 1, 2, 3, 0][..]),
        ("--size=8k --loops=3", &[0, 1, 0, 1, 0, 1]),
        ("--size=10k --filename=short", &[0, 1]),
        (strided, &[0, 1, 4, 5]),
    ] {
        let (file, own) = if more.contains("short") { ("short", "") } else { ("f", "--filename=f") };
        let line = format!("--name=a {own} --bs=4k {more}");
        let Some(blocks) = both.blocks(&line, file, 4096) else { return };
        for (who, blocks) in WHO.iter().zip(blocks) {
            assert_eq!(blocks, expected, "{who}: {more}");
        }
    }
}
