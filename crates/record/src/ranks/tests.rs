//! Joining shares of ranks: nothing is lost, nothing averaged, and a thousand ranks are quick.

use super::{RankIdentity, RankTimes, Share, group_of, rank_of, summary};
use crate::{Axes, DeviceDelta, Histogram, Interval, OpKind, OpStat, Phase, Physical, Repetition, Worker};

/// Latencies as storage has them: mostly close together, with a long tail.
fn latencies(rank: u32, count: u64) -> Vec<u64> {
    let mut state = u64::from(rank) + 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    (0..count)
        .map(|_| 50_000 + next() % 20_000 * (1 + u64::from(next() % 100 == 0) * (next() % 400)))
        .collect()
}

fn share(rank: u32, values: &[u64]) -> Share {
    let elapsed_ns = values.iter().sum();
    let stat = OpStat {
        op: OpKind::Write,
        ops: values.len() as u64,
        bytes: values.len() as u64 * 4096,
        latency: Histogram::from_values(values.iter().copied()),
    };
    let worker = Worker {
        group: "writer".into(),
        start_ns: u64::from(rank) * 10,
        elapsed_ns,
        bytes: stat.bytes,
        ops: stat.ops,
        stats: vec![stat.clone()],
        ..Worker::default()
    };
    let interval = Interval {
        end_ns: 1_000_000_000,
        width_ns: 1_000_000_000,
        ops: stat.ops,
        bytes: stat.bytes,
        latencies: vec![(OpKind::Write, stat.latency)],
        moved: vec![(OpKind::Write, stat.bytes)],
    };
    let device =
        DeviceDelta { name: "vda".into(), kind: "disk".into(), write_bytes: 100, ..DeviceDelta::default() };
    let physical = Physical {
        method: "diskstats".into(),
        devices: vec![device],
        own_write_bytes: Some(7),
        ..Physical::default()
    };
    let repetition = Repetition {
        elapsed_ns,
        workers: vec![worker],
        intervals: vec![interval],
        physical,
        ..Repetition::default()
    };
    let phase = Phase {
        seq: 0,
        name: "write".into(),
        axes: Axes { streams: Some(1), ..Axes::default() },
        reads: false,
        writes: true,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![repetition],
    };
    let host = format!("h{}", rank / 2);
    Share::of(
        RankIdentity { rank, host: &host, reports_machine_counters: rank.is_multiple_of(2), alone: false },
        phase,
    )
}

/// Joins as a tree of ranks does: neighbours first.
fn tree(mut shares: Vec<Share>) -> Share {
    while shares.len() > 1 {
        let mut next = Vec::with_capacity(shares.len().div_ceil(2));
        let mut left = shares.into_iter();
        while let Some(mut one) = left.next() {
            if let Some(other) = left.next() {
                one.join(other);
            }
            next.push(one);
        }
        shares = next;
    }
    shares.remove(0)
}

#[test]
fn percentiles_of_all_are_those_of_the_concatenated_samples() {
    let mut all = Vec::new();
    let shares: Vec<Share> = (0..8)
        .map(|rank| {
            let values = latencies(rank, 5000 + 500 * u64::from(rank));
            all.extend_from_slice(&values);
            share(rank, &values)
        })
        .collect();
    let (phase, _) = tree(shares).finish();
    let merged = phase.repetitions[0].latency(OpKind::Write);
    assert_eq!(merged, Histogram::from_values(all.iter().copied()), "bucket by bucket");
    all.sort_unstable();
    for p in [50.0, 99.0, 99.9] {
        let exact = all[(p / 100.0 * all.len() as f64).ceil() as usize - 1] as f64;
        let found = merged.percentile_ns(p).unwrap() as f64;
        assert!((found / exact - 1.0).abs() <= 1.0 / 128.0, "p{p}: {found} instead of {exact}");
    }
    assert_eq!(phase.repetitions[0].intervals[0].latencies[0].1, merged);
}

#[test]
fn the_order_of_joining_changes_nothing() {
    let shares = || (0..5).map(|rank| share(rank, &latencies(rank, 50)));
    let mut backwards: Vec<Share> = shares().collect();
    backwards.reverse();
    let one_by_one = backwards
        .into_iter()
        .reduce(|mut a, b| {
            a.join(b);
            a
        })
        .unwrap();
    let (a, times_a) = one_by_one.finish();
    let (b, times_b) = tree(shares().collect()).finish();
    assert_eq!(times_a, times_b);
    assert_eq!(a.repetitions[0].workers, b.repetitions[0].workers);
    assert_eq!(a.repetitions[0].intervals[0].ops, b.repetitions[0].intervals[0].ops);
}

#[test]
fn workers_are_numbered_through_and_bear_their_rank() {
    let (phase, times) = tree((0..3).map(|r| share(r, &[100, 200])).collect()).finish();
    let repetition = &phase.repetitions[0];
    let groups: Vec<&str> = repetition.workers.iter().map(|w| w.group.as_str()).collect();
    assert_eq!(groups, ["rank 0: writer", "rank 1: writer", "rank 2: writer"]);
    assert!(repetition.workers.iter().zip(0..).all(|(w, i)| w.index == i));
    assert_eq!(repetition.start_skew_ns, 20);
    assert_eq!(phase.axes.streams, Some(3));
    assert_eq!(times.len(), 3);
    assert_eq!(rank_of(&group_of(17, "a: b")), Some((17, "a: b")));
    assert_eq!(rank_of("writer"), None);
}

#[test]
fn a_device_counts_once_for_each_machine() {
    let (phase, _) = tree((0..4).map(|r| share(r, &[100])).collect()).finish();
    let physical = &phase.repetitions[0].physical;
    assert_eq!(physical.device_write_bytes(), Some(200), "two machines, four ranks");
    let names: Vec<&str> = physical.devices.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["vda", "h0:vda", "h1:vda"]);
    assert_eq!(physical.own_write_bytes, Some(28));
}

#[test]
fn a_rank_counts_once() {
    let mut one = share(0, &[5, 6]);
    one.join(share(0, &[5, 6]));
    assert_eq!(one.finish().0.repetitions[0].ops(), 2);
}

#[test]
fn a_share_survives_its_journey() {
    let share = share(3, &latencies(3, 100));
    let text = serde_json::to_string(&share).unwrap();
    assert_eq!(serde_json::from_str::<Share>(&text).unwrap(), share);
}

#[test]
fn first_last_and_stragglers_are_named() {
    let rank = |rank, done_ns| RankTimes {
        rank,
        host: "h".into(),
        done_ns,
        bytes: 1000,
        ops: 10,
        ..RankTimes::default()
    };
    let told = summary(&[rank(0, 1000), rank(1, 1100), rank(2, 900), rank(3, 2000)]);
    assert_eq!((told.first_done_ns, told.last_done_ns, told.ranks), (900, 2000, 4));
    assert_eq!(told.stragglers.iter().map(|r| r.rank).collect::<Vec<_>>(), [3]);
    assert_eq!(told.bytes_per_s, Some(4000.0 * 1e9 / 2000.0));
    assert_eq!(told.worn_bytes_per_s, None);
    let worn = RankTimes { wear_bytes: 500, wear_done_ns: 3000, ..rank(0, 1000) };
    assert_eq!(summary(&[worn, rank(1, 1000)]).worn_bytes_per_s, Some(2500.0 * 1e9 / 3000.0));
    let other = RankTimes { host: "i".into(), ..rank(1, 500) };
    let hosts = super::by_host(&[rank(0, 1000), other, rank(2, 2000)]);
    let told: Vec<_> = hosts.iter().map(|(h, s)| (h.as_str(), s.ranks, s.bytes, s.last_done_ns)).collect();
    assert_eq!(told, [("h", 2, 2000, 2000), ("i", 1, 1000, 500)]);
    let still = RankTimes { stood_still_ns: Some(500), ..rank(0, 1000) };
    let told = summary(&[still, rank(1, 1000)]);
    assert_eq!(
        told.stragglers.iter().map(|r| r.rank).collect::<Vec<_>>(),
        [0],
        "even if it ends with the others"
    );
    let observer = RankTimes { cause: Some("the quota".into()), ..rank(0, 1000) };
    let told = summary(&[observer, rank(1, 1000), rank(2, 5000)]);
    assert_eq!(
        told.stragglers[0].cause.as_deref(),
        Some("the quota"),
        "it was found by another rank of the host"
    );
    assert_eq!(summary(&[]), super::Summary::default());
}

/// This process's resident memory.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn a_thousand_ranks_are_joined_in_seconds_and_little_memory() {
    let before = resident_bytes();
    let texts: Vec<String> =
        (0..1024).map(|r| serde_json::to_string(&share(r, &latencies(r, 2000))).unwrap()).collect();
    let begin = std::time::Instant::now();
    let shares = texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let (phase, times) = tree(shares).finish();
    let took = begin.elapsed();
    assert_eq!((times.len(), phase.repetitions[0].ops()), (1024, 1024 * 2000));
    assert_eq!(phase.repetitions[0].latency(OpKind::Write).count(), 1024 * 2000);
    assert!(took.as_secs() < 10, "{took:?}");
    let held = resident_bytes().saturating_sub(before);
    assert!(held < 1 << 30, "{held} bytes");
}
