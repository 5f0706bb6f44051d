//! The whole trust list for artificial runs: each check good, doubtful and unknown.

use super::{Crowd, of};
use crate::doubts::{self, DoubtInputs, test_runs};
use fathom_record::{
    CacheIntent, DeviceDelta, Extents, Histogram, Interval, Jitter, OpKind, OpStat, Phase, Physical,
    Repetition, Residency, Run, SteadyState, Trust, UnwrittenData, Verdict, Worker,
};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;
const CODES: [&str; 13] = [
    "device",
    "cache",
    "extents",
    "sync",
    "latency",
    "clock",
    "machine",
    "neighbours",
    "data",
    "steady",
    "repeats",
    "overload",
    "start",
];

/// A read and a write with all figures known and good.
fn good() -> Run {
    let mut run = test_runs::run_of(vec![
        test_runs::phase("read", 100 * MIB, 100 * MIB),
        test_runs::phase("write", 100 * MIB, 100 * MIB),
    ]);
    run.clock.cost_ns = 13.0;
    run.clock.resolution_ns = 10.0;
    run.clock.drift_ppm = Some(0.4);
    run.phases[1].sync_in_clock = true;
    for phase in &mut run.phases {
        let op = phase.main_op();
        improve(&mut phase.repetitions[0], op);
        let again = phase.repetitions[0].clone();
        phase.repetitions.push(Repetition { n: 1, ..again });
    }
    run
}

fn improve(r: &mut Repetition, op: OpKind) {
    r.cache = CacheIntent::Cold;
    r.resident_before = Some(Residency { total_pages: 1000, ..Residency::default() });
    r.resident_after = Some(Residency { total_pages: 1000, cached_pages: 31, ..Residency::default() });
    r.extents = Some(Extents { bytes: 100 * MIB, ..Extents::default() });
    let latency = Histogram::from_values((0..2000).map(|i| if i < 1990 { 100_000 } else { 5_000_000 }));
    r.workers[0].ops = 1600;
    r.workers[0].stats = vec![OpStat { op, ops: 2000, bytes: 0, latency }];
    r.jitter = Some(Jitter {
        gaps: Histogram::from_values([20; 100]),
        wakes: Histogram::from_values((0..1000).map(|i| if i < 990 { 60_000 } else { 90_000 })),
        watched_ns: 2000,
    });
    r.intervals = (1..=10)
        .map(|n| Interval { end_ns: n * 10_000_000, width_ns: 10_000_000, ops: 160, ..Interval::default() })
        .collect();
    r.physical.devices[0].read_ios = 800;
    r.physical.devices[0].write_ios = 800;
}

fn seen() -> DoubtInputs {
    DoubtInputs {
        steal: vec![(0, 0.001), (1, 0.0)],
        compressed_share: Some(1.0),
        sampled_share: Some(1.0),
        laid_out_share: None,
        crowds: Vec::new(),
    }
}

fn list(run: &Run) -> Vec<Trust> {
    let list = of(run, &Value::Null, &seen());
    assert_eq!(list.iter().map(|t| t.code.as_str()).collect::<Vec<_>>(), CODES);
    for trust in &list {
        let text = &trust.sentence;
        assert!(text.ends_with('.') && !text.ends_with(".."), "{text}");
        let named = text.starts_with("read: ") || text.starts_with("write: ") || text.starts_with("write, ");
        assert!(named || text.starts_with(|c: char| c.is_uppercase() || c.is_numeric()), "{text}");
    }
    list
}

/// One check of a run.
fn of_code(run: &Run, code: &str) -> Trust {
    list(run).into_iter().find(|t| t.code == code).expect("in the list")
}

fn change(phase: usize, change: impl Fn(&mut Repetition)) -> Run {
    let mut run = good();
    run.phases[phase].repetitions.iter_mut().for_each(change);
    run
}

#[track_caller]
fn expect(run: &Run, code: &str, verdict: Verdict, words: &str) {
    let found = of_code(run, code);
    assert!(found.verdict == verdict && found.sentence.contains(words), "{found:?}");
}

#[test]
fn a_good_run_is_good_throughout_and_says_why() {
    let said: Vec<String> =
        list(&good()).iter().map(|t| format!("{} {}: {}", t.verdict.word(), t.code, t.sentence)).collect();
    let expected = [
        "good device: 100 MiB of 100 MiB asked reached sda (100 %), in 800 I/Os for 1600 operations.",
        "good cache: Cold: 0.0 % cached before, 3.1 % after.",
        "good extents: read: all 100 MiB were written before; write: rewrite, 100 MiB had been written before.",
        "good sync: Fsync or synchronous writes inside the clock.",
        "good latency: Service time p50 100 us, p99.9 5.00 ms, max 5.00 ms; closed loop, timed from the issue.",
        "good clock: Source tsc: a reading costs 13 ns, resolves 10 ns; drift 0.4 ppm.",
        "good machine: read: steal 0.1 %; p99.9 5.00 ms beside stalls of 89.6 us (max 5.00 ms beside 90.0 us); write: steal 0.0 %; p99.9 5.00 ms beside stalls of 89.6 us (max 5.00 ms beside 90.0 us).",
        "good neighbours: Others moved 0 B of sda's 100 MiB (0.0 %).",
        "good data: Written data shrinks to 100 % by zstd (a sample), to 100 % by its rule.",
        "good steady: Yes: range 0.0 %, trend 0.0 %; operations over 5 rounds of 20.0 ms.",
        "good repeats: 2 repetitions, least to most 0.0 % of the median.",
        "good overload: No rate was set.",
        "good start: One worker at a time.",
    ];
    assert_eq!(said, expected, "{said:#?}");
}

#[test]
fn device_tells_what_reached_it() {
    let cached = change(0, |r| r.physical.devices[0].read_bytes = 0);
    expect(
        &cached,
        "device",
        Verdict::Doubtful,
        "read: 0 B of 100 MiB asked reached sda (0.0 %), in 1600 operations",
    );
    let memory = change(0, |r| r.physical = Physical { method: "memory".into(), ..Physical::default() });
    expect(&memory, "device", Verdict::Doubtful, "read: the file system is in memory");
    let blind = change(0, |r| r.physical = Physical::default());
    expect(&blind, "device", Verdict::Unknown, "read: not known: no block device");
    let in_clock = change(1, |r| r.physical.written_in_clock_bytes = Some(MIB));
    expect(
        &in_clock,
        "device",
        Verdict::Doubtful,
        "1 MiB of 100 MiB asked reached sda while timed (1.0 %); 99 MiB more after, in 1600 operations",
    );
    let compressed = change(0, |r| {
        r.physical.compression = Some("zstd:3".into());
        r.physical.devices[0].read_bytes = 2 * MIB;
        let pages = Residency { total_pages: 25_600, ..Residency::default() };
        (r.resident_before, r.resident_after) = (Some(pages), Some(pages));
    });
    expect(
        &compressed,
        "device",
        Verdict::Good,
        "100 MiB of 100 MiB asked reached sda compressed, as 2 MiB (100 %)",
    );
    let looped = |below| {
        change(0, move |r| {
            r.physical.devices[0] =
                DeviceDelta { kind: "loop".into(), name: "loop0".into(), ..r.physical.devices[0].clone() };
            let disk = DeviceDelta {
                name: "vda".into(),
                level: 1,
                read_bytes: below,
                read_ios: 7,
                ..DeviceDelta::default()
            };
            r.physical.devices.push(disk);
        })
    };
    expect(
        &looped(MIB),
        "device",
        Verdict::Doubtful,
        "1 MiB of 100 MiB asked reached vda (1.0 %), in 1600 operations",
    );
    expect(
        &looped(200 * MIB),
        "device",
        Verdict::Good,
        "reached vda (100 %), in 7 I/Os for 1600 operations; it moved 200 MiB in all",
    );
}

#[test]
fn cache_is_beside_what_was_intended() {
    let at = |intent, pages| {
        change(0, move |r| {
            r.cache = intent;
            r.resident_before =
                Some(Residency { total_pages: 1000, cached_pages: pages, ..Residency::default() });
        })
    };
    expect(&at(CacheIntent::Cold, 11), "cache", Verdict::Doubtful, "read: not cold: 1.1 % cached before");
    expect(
        &at(CacheIntent::Warm, 980),
        "cache",
        Verdict::Doubtful,
        "not warm: 98 % cached before, 3.1 % after",
    );
    expect(&at(CacheIntent::Warm, 1000), "cache", Verdict::Good, "warm: 100 %");
    let mut served = at(CacheIntent::Cold, 0);
    served.phases[0].repetitions.iter_mut().for_each(|r| {
        r.physical = Physical { method: "none".into(), ..Physical::default() };
    });
    expect(&served, "cache", Verdict::Unknown, "the layer below is not known, and may cache them");
    expect(&at(CacheIntent::AsFound, 500), "cache", Verdict::Good, "as found: 50 %");
    expect(&change(0, |r| r.resident_before = None), "cache", Verdict::Unknown, "not known before");
    let warmed = |pages| {
        let mut run = at(CacheIntent::Cold, pages);
        run.phases[0].repetitions.iter_mut().for_each(|r| r.ramp_ns = 10_000_000);
        run
    };
    expect(
        &warmed(0),
        "cache",
        Verdict::Good,
        "read: cold: 0.0 % cached at the end of the warm-up, 3.1 % after",
    );
    expect(&warmed(400), "cache", Verdict::Doubtful, "not cold: 40 % cached at the end of the warm-up");
    let doubt = doubts::of(&warmed(400), &Value::Null, &seen()).remove(0);
    assert!(doubt.code == "not-cold" && doubt.sentence.contains("The warm-up caches"), "{doubt:?}");
    let null = change(0, |r| {
        r.resident_before = Some(Residency::default());
        r.resident_after = Some(Residency::default());
        r.cache = CacheIntent::AsFound;
    });
    expect(&null, "cache", Verdict::Good, "read: no files");
    let new = change(1, |r| r.resident_before = Some(Residency::default()));
    expect(&new, "cache", Verdict::Good, "the file was empty before, 3.1 % cached after");
}

#[test]
fn extents_tell_reads_of_nothing_and_first_writes() {
    let with = |phase, hole_bytes, filled_bytes| {
        let extents = Extents { bytes: 100 * MIB, hole_bytes, unwritten_bytes: 0, filled_bytes };
        change(phase, move |r| r.extents = Some(extents))
    };
    expect(&with(0, 50 * MIB, 0), "extents", Verdict::Doubtful, "read: 50 MiB of holes and 0 B unwritten");
    expect(
        &with(0, 0, 50 * MIB),
        "extents",
        Verdict::Good,
        "all 100 MiB hold data, 50 MiB of them filled by fathom just before",
    );
    expect(&with(1, 100 * MIB, 0), "extents", Verdict::Good, "write: first write, 100 MiB of holes");
    expect(&with(1, 50 * MIB, 0), "extents", Verdict::Good, "partly a first write");
    expect(&change(0, |r| r.extents = None), "extents", Verdict::Unknown, "not examined");
}

#[test]
fn sync_tells_what_was_safe() {
    let mut run = change(1, |r| {
        r.physical.devices[0].write_bytes = 0;
        r.physical.dirty_after_bytes = Some(99 * MIB);
    });
    run.phases[1].sync_in_clock = false;
    expect(&run, "sync", Verdict::Doubtful, "may still be in memory; 99 MiB dirty at the end");
    run.phases[1].repetitions.iter_mut().for_each(|r| r.workers[0].marks.fsync_ns = 1);
    expect(&run, "sync", Verdict::Doubtful, "Fsync after the clock stopped, reported separately");
    let mut direct = good();
    direct.phases[1].sync_in_clock = false;
    direct.phases[1].direct = true;
    expect(&direct, "sync", Verdict::Good, "O_DIRECT left nothing in the page cache");
    let waits = |waiting: UnwrittenData| {
        let mut run = direct.clone();
        run.phases[1].repetitions.iter_mut().for_each(|r| r.physical.waiting = Some(waiting));
        run
    };
    let passed = waits(UnwrittenData { meanwhile_bytes: 4096, ..UnwrittenData::default() });
    expect(&passed, "sync", Verdict::Good, "O_DIRECT went through the page cache and left nothing there");
    let below = waits(UnwrittenData { below_bytes: MIB, ..UnwrittenData::default() });
    expect(
        &below,
        "sync",
        Verdict::Good,
        "O_DIRECT, but the disk is a file, and 1 MiB of its data are only in memory",
    );
    let left = waits(UnwrittenData { after_bytes: MIB, ..UnwrittenData::default() });
    expect(&left, "sync", Verdict::Good, "1 MiB of it wait in the page cache despite O_DIRECT");
    let mut served = direct.clone();
    served.phases[1].repetitions.iter_mut().for_each(|r| r.physical = Physical::default());
    expect(&served, "sync", Verdict::Unknown, "whether the layer below keeps it in memory is not known");
    let mut blind = change(1, |r| r.physical = Physical::default());
    blind.phases[1].sync_in_clock = false;
    expect(&blind, "sync", Verdict::Unknown, "No fsync: what was written may still be in memory");
    let mut taken = good();
    taken.phases[1].sync_in_clock = false;
    expect(&taken, "sync", Verdict::Good, "No fsync; the data reached the device in the measured time");
    let mut reads = good();
    reads.phases.pop();
    expect(&reads, "sync", Verdict::Good, "Nothing was written");
    expect(&reads, "data", Verdict::Good, "Nothing was written");
}

#[test]
fn syncs_on_the_way_are_told() {
    let syncing = |device: u64| {
        let mut run = change(1, |r| {
            r.physical.written_in_clock_bytes = Some(device);
            r.physical.devices[0].write_bytes = device;
            r.physical.dirty_after_bytes = Some(99 * MIB);
            let latency = Histogram::from_values([1000; 10]);
            r.workers[0].stats[0].bytes = 100 * MIB;
            r.workers[0].stats.push(OpStat { op: OpKind::Sync, ops: 10, bytes: 0, latency });
        });
        run.phases[1].sync_in_clock = false;
        run
    };
    expect(
        &syncing(50 * MIB),
        "sync",
        Verdict::Doubtful,
        "10 fsyncs inside the clock; other data may still be in memory; 99 MiB dirty",
    );
    let all = "10 fsyncs inside the clock; the device had as much as was written";
    expect(&syncing(100 * MIB), "sync", Verdict::Good, all);
}

#[test]
fn what_is_synced_to_main_memory_is_not_safe() {
    let device = |name: &str, kind: &str, write_bytes| DeviceDelta {
        name: name.into(),
        kind: kind.into(),
        write_bytes,
        ..DeviceDelta::default()
    };
    let on = |disk: u64| {
        change(1, |r| {
            r.physical.devices = vec![
                device("ram0+sda", "", 50 * MIB + disk),
                device("ram0", "ram", 50 * MIB),
                device("sda", "disk", disk),
            ];
        })
    };
    let words = "Fsync or synchronous writes inside the clock, but part went to ram0, which is main memory";
    expect(&on(50 * MIB), "sync", Verdict::Doubtful, words);
    expect(&on(100 * MIB), "sync", Verdict::Good, "Fsync or synchronous writes inside the clock");
    // The disk of a mirror has everything, whatever the reads of the phase came from.
    let below = |disk: u64| {
        let mut run = change(1, |r| {
            let level = |level, d| DeviceDelta { level, ..d };
            r.physical.devices = vec![
                device("md0", "md", 50 * MIB),
                level(1, device("ram0", "ram", 50 * MIB)),
                level(1, device("sda", "disk", disk)),
            ];
            r.physical.written_in_clock_bytes = Some(50 * MIB);
        });
        run.phases[1].sync_in_clock = true;
        run
    };
    expect(&below(50 * MIB), "sync", Verdict::Good, "Fsync or synchronous writes inside the clock.");
    expect(&below(25 * MIB), "sync", Verdict::Doubtful, words);
}

#[test]
fn sync_file_range_is_no_fsync() {
    let ranges = |device: u64| {
        let mut run = change(1, |r| {
            r.physical.written_in_clock_bytes = Some(device);
            r.physical.devices[0].write_bytes = device;
            r.physical.dirty_after_bytes = Some(99 * MIB);
            let latency = Histogram::from_values([1000; 10]);
            r.workers[0].stats.push(OpStat { op: OpKind::Sync, ops: 10, bytes: 0, latency });
        });
        run.workload = crate::ranges::SAMPLE.into();
        run.phases.remove(0);
        run.phases[0].seq = 0;
        run.phases[0].sync_in_clock = false;
        run
    };
    let none = "No fsync, only sync_file_range, which makes nothing durable";
    let left = format!("{none}; 99 MiB dirty at the end");
    expect(&ranges(50 * MIB), "sync", Verdict::Doubtful, &left);
    expect(
        &ranges(100 * MIB),
        "sync",
        Verdict::Good,
        &format!("{none}; the data reached the device in the measured time"),
    );
    // Another group calls fsync.
    let worker = |group: &str, first: &Worker| Worker { group: group.into(), ..first.clone() };
    let mixed = |others: bool| {
        let mut run = ranges(50 * MIB);
        run.workload = crate::ranges::sample_with_fsync();
        let workers = &mut run.phases[0].repetitions[1].workers;
        let second = worker("h", &workers[0]);
        workers[0].group = "g".into();
        workers.extend(others.then_some(second));
        run
    };
    expect(&mixed(true), "sync", Verdict::Doubtful, "10 fsyncs inside the clock; other data may still be");
    expect(&mixed(false), "sync", Verdict::Doubtful, "No fsync: what was written may still be in memory");
    let mut at_end = ranges(50 * MIB);
    let workers = &mut at_end.phases[0].repetitions[1].workers;
    workers.extend([Worker { marks: fathom_record::Marks::default(), ..workers[0].clone() }]);
    workers[0].marks.fsync_ns = 1;
    expect(&at_end, "sync", Verdict::Doubtful, "Fsync by some of the workers at their end; other data may");
    // A timed fsync at the end makes data durable, unless no flush follows it.
    let mut timed = ranges(100 * MIB);
    timed.workload = crate::ranges::SAMPLE.replace("sync_every", "timed = { fsync = true }\nsync_every");
    timed.phases[0].sync_in_clock = true;
    timed.phases[0].repetitions[1].workers[0].marks.fsync_ns = 1;
    expect(&timed, "sync", Verdict::Good, "Fsync or synchronous writes inside the clock");
    let doubt =
        fathom_record::Doubt { code: "unflushed-sync".into(), phases: vec![0], sentence: String::new() };
    timed.doubts.push(doubt);
    expect(&timed, "sync", Verdict::Doubtful, "but a power cut can lose what was synced");
}

#[test]
fn latencies_of_file_operations_count_where_no_data_is_moved() {
    let mut run = change(0, |r| r.workers[0].stats[0].op = OpKind::Stat);
    run.phases.pop();
    expect(&run, "latency", Verdict::Good, "Service time of file operations p50 100 us");
}

#[test]
fn unwatched_stalls_have_no_span() {
    let mut few = change(0, |r| {
        r.workers[0].stats.clear();
        r.jitter.as_mut().expect("watched").watched_ns = 0;
    });
    few.phases.pop();
    expect(&few, "machine", Verdict::Unknown, "the longest stall seen was 90.0 us.");
}

#[test]
fn latency_is_service_or_response() {
    let more = |op, ns: u64| {
        move |r: &mut Repetition| {
            let latency = Histogram::from_values([ns; 10]);
            r.workers[0].stats.push(OpStat { op, ops: 10, bytes: 0, latency });
        }
    };
    let paced = change(0, more(OpKind::Response, 7_000_000));
    expect(
        &paced,
        "latency",
        Verdict::Good,
        "response p50 7.00 ms, p99.9 7.00 ms, max 7.00 ms; service p50 100 us",
    );
    let split = change(0, more(OpKind::ReadSubmission, 500));
    expect(&split, "latency", Verdict::Good, "submission and completion also apart");
    let mut none = change(0, |r| r.workers[0].stats.clear());
    none.phases.pop();
    expect(&none, "latency", Verdict::Unknown, "No latencies");
}

#[test]
fn clock_tells_source_cost_and_drift() {
    let mut run = good();
    run.clock.source = "clock_gettime".into();
    expect(&run, "clock", Verdict::Doubtful, "Source clock_gettime: a reading costs 13 ns");
    run.clock.source = "tsc".into();
    run.clock.drift_ppm = Some(-300.0);
    expect(&run, "clock", Verdict::Doubtful, "drift -300.0 ppm");
    run.clock.drift_ppm = None;
    expect(&run, "clock", Verdict::Unknown, "drift not known");
    run.clock.source.clear();
    expect(&run, "clock", Verdict::Unknown, "not described");
}

#[test]
fn machine_sets_its_stalls_beside_the_tail() {
    let stalled = change(0, |r| {
        let late = (0..1000).map(|i| if i < 990 { 60_000 } else { 4_000_000 });
        r.jitter.as_mut().expect("watched").wakes = Histogram::from_values(late);
    });
    expect(&stalled, "machine", Verdict::Doubtful, "read: steal 0.1 %; p99.9 5.00 ms beside stalls of 4.0");
    let unwatched = change(0, |r| r.jitter = None);
    expect(&unwatched, "machine", Verdict::Unknown, "its stalls were not watched");
    let few = change(0, |r| r.workers[0].stats.clear());
    expect(
        &few,
        "machine",
        Verdict::Unknown,
        "read: steal 0.1 %; too few operations or stalls to compare; the longest stall seen was 90.0 us in 4.00 us of watching",
    );
    let robbed = of(&good(), &Value::Null, &DoubtInputs { steal: vec![(0, 0.02)], ..seen() });
    assert_eq!((robbed[6].code.as_str(), robbed[6].verdict), ("machine", Verdict::Doubtful));
    let mut nothing = change(0, |r| r.jitter = None);
    nothing.phases.pop();
    let nothing = of(&nothing, &Value::Null, &DoubtInputs::default());
    assert_eq!((nothing[6].code.as_str(), nothing[6].verdict), ("machine", Verdict::Unknown));
}

#[test]
fn neighbours_are_counted() {
    let beside = change(0, |r| r.physical.devices[0].read_bytes += 10 * MIB);
    expect(&beside, "neighbours", Verdict::Doubtful, "read: others moved 10 MiB of sda's 110 MiB (9.1 %)");
    let little = change(0, |r| {
        r.physical.devices[0].read_bytes = 96 << 10;
        r.physical.own_read_bytes = Some(0);
    });
    expect(
        &little,
        "neighbours",
        Verdict::Good,
        "read: others moved 96 KiB of sda's 96 KiB (too little to matter)",
    );
    let blind = change(0, |r| r.physical.devices = Vec::<DeviceDelta>::new());
    expect(&blind, "neighbours", Verdict::Unknown, "no counters");
}

#[test]
fn data_is_measured_beside_its_rule() {
    let on = |kind: &str| json!({"filesystem": {"type": kind, "options": "rw,compress=zstd"}});
    let check = |environment: &Value, rule, sample| {
        let seen = DoubtInputs { compressed_share: rule, sampled_share: sample, ..seen() };
        let list = of(&good(), environment, &seen);
        (list[8].verdict, list[8].sentence.clone())
    };
    let (verdict, words) = check(&on("ext4"), Some(0.002), Some(0.0004));
    assert_eq!(verdict, Verdict::Unknown, "{words}");
    assert!(
        words.starts_with(
            "Written data shrinks to 0.0 % by zstd (a sample), to 0.2 % by its rule; whether the device"
        ),
        "{words}"
    );
    assert_eq!(check(&on("btrfs"), Some(1.0), Some(0.5)).0, Verdict::Doubtful);
    assert_eq!(check(&on("btrfs"), Some(1.0), Some(1.0)).0, Verdict::Good);
    assert_eq!(check(&on("btrfs"), None, None).0, Verdict::Doubtful);
    assert_eq!(check(&on("ext4"), None, None).0, Verdict::Unknown);
}

#[test]
fn files_laid_out_compressible_make_reads_doubtful() {
    let mut reads = good();
    reads.phases.pop();
    let laid_out = |share| DoubtInputs { laid_out_share: share, ..seen() };
    let data = |run: &Run, seen: &DoubtInputs| of(run, &Value::Null, seen).remove(8);
    let zeros = data(&reads, &laid_out(Some(0.0)));
    assert_eq!(
        (zeros.verdict, zeros.sentence.as_str()),
        (Verdict::Doubtful, "The files read were laid out compressible: they shrink to 0.0 %.")
    );
    let both = data(&good(), &laid_out(Some(0.3)));
    assert!(
        both.verdict == Verdict::Doubtful && both.sentence.contains("; written data shrinks"),
        "{both:?}"
    );
    for fine in [None, Some(1.0)] {
        assert_eq!(data(&good(), &laid_out(fine)).verdict, Verdict::Good);
    }
    let doubt = doubts::of(&reads, &Value::Null, &laid_out(Some(0.0))).remove(0);
    assert!(doubt.code == "compression" && doubt.sentence.contains("compresses to 0.0 %"), "{doubt:?}");
}

#[test]
fn steadiness_is_asked_for_or_judged() {
    let falling = change(0, |r| r.intervals.iter_mut().zip(1..).for_each(|(i, n)| i.ops = 200 - n * 15));
    expect(&falling, "steady", Verdict::Doubtful, "read: no: range ");
    let short = change(0, |r| r.intervals.clear());
    expect(&short, "steady", Verdict::Unknown, "read: not judged: no interval series was requested");
    let asked = |reached| {
        let figure = "latency".into();
        let state = SteadyState { reached, asked: true, figure, window: 5, ..SteadyState::default() };
        change(0, move |r| {
            r.steady = Some(state.clone());
            r.ramp_ns = 10_000_000;
        })
    };
    expect(&asked(false), "steady", Verdict::Doubtful, "read: requested and not reached: range");
    expect(&asked(true), "steady", Verdict::Good, "; warm-up of 10.0 ms left out");
}

#[test]
fn repeats_overload_and_start_are_told() {
    let mut once = good();
    once.phases.iter_mut().for_each(|p| p.repetitions.truncate(1));
    expect(&once, "repeats", Verdict::Unknown, "Done once");
    let mut apart = good();
    apart.phases[0].repetitions[1].workers[0].elapsed_ns *= 2;
    expect(&apart, "repeats", Verdict::Doubtful, "read: 2 repetitions, least to most 67 % of the median");
    // As short as a scheduler tick: "least to most 936 % of the median".
    apart.phases.truncate(1);
    apart.phases[0].repetitions[0].elapsed_ns = 9_000_000;
    expect(&apart, "repeats", Verdict::Unknown, "2 repetitions, too short to judge their spread");
    assert!(doubts::of(&apart, &Value::Null, &seen()).iter().all(|d| d.code != "spread"));
    let late = |ns| change(0, move |r| r.workers[0].behind_ns = ns);
    let only = |run: Run| Run { phases: run.phases.into_iter().take(1).collect(), ..run };
    expect(&late(300), "overload", Verdict::Good, "The rate was kept: behind for up to 300 ns");
    expect(&only(late(2_000_000_000)), "overload", Verdict::Doubtful, "Overloaded: behind for up to 2.00 s");
    let several = |skew| {
        change(0, move |r| {
            r.workers.push(Worker::default());
            r.start_skew_ns = skew;
        })
    };
    expect(
        &several(12_000),
        "start",
        Verdict::Good,
        "2 workers started within 12.0 us (0.0 % of the measured time)",
    );
    expect(&several(2_000_000), "start", Verdict::Doubtful, "(2.0 % of the measured time)");
}

/// Each failed check has a doubt with advice.
#[test]
fn every_doubtful_check_has_a_doubt() {
    let robbed = DoubtInputs { steal: vec![(0, 0.1)], ..seen() };
    let crowded = DoubtInputs { crowds: vec![(0, Crowd { others: 0.84, idle: 0.03 })], ..seen() };
    let constant = DoubtInputs { sampled_share: Some(0.1), ..seen() };
    let btrfs = json!({"filesystem": {"type": "zfs"}});
    let cases: Vec<(Run, Value, DoubtInputs, &str, &str)> = vec![
        (
            change(0, |r| {
                r.physical.devices[0].read_bytes = 0;
                r.physical.own_read_bytes = Some(0);
            }),
            Value::Null,
            seen(),
            "device",
            "page-cache",
        ),
        (
            change(0, |r| r.resident_before.as_mut().expect("reported").cached_pages = 99),
            Value::Null,
            seen(),
            "cache",
            "not-cold",
        ),
        (
            change(0, |r| r.extents.as_mut().expect("reported").hole_bytes = 9 * MIB),
            Value::Null,
            seen(),
            "extents",
            "holes",
        ),
        (good(), Value::Null, robbed, "machine", "steal"),
        (good(), Value::Null, crowded, "machine", "busy-processors"),
        (good(), btrfs, constant, "data", "compression"),
        (
            change(0, |r| r.workers[0].behind_ns = 9_000_000_000),
            Value::Null,
            seen(),
            "overload",
            "overloaded",
        ),
    ];
    for (run, environment, seen, trust, doubt) in cases {
        let doubtful: Vec<String> = of(&run, &environment, &seen)
            .into_iter()
            .filter(|t| t.verdict == Verdict::Doubtful)
            .map(|t| t.code)
            .collect();
        assert_eq!(doubtful, [trust]);
        let reasons: Vec<String> =
            doubts::of(&run, &environment, &seen).into_iter().map(|d| d.code).collect();
        assert_eq!(reasons, [doubt]);
    }
    assert_eq!(doubts::of(&good(), &Value::Null, &seen()), []);
}

/// A program on one of many processors, or a few ticks, is no excuse.
#[test]
fn others_that_leave_processors_idle_do_not_matter() {
    for crowd in [Crowd { others: 0.5, idle: 0.3 }, Crowd { others: 0.1, idle: 0.0 }] {
        let seen = DoubtInputs { crowds: vec![(0, crowd)], ..seen() };
        assert_eq!(doubts::of(&good(), &Value::Null, &seen), []);
        assert_eq!(of(&good(), &Value::Null, &seen), list(&good()));
    }
}

#[test]
fn check_and_doubt_name_the_same_worst() {
    // Five phases that differ only in others' I/O and steal: too many to be named.
    let mut run = test_runs::run_of((0..5).map(|_| test_runs::phase("read", 100 * MIB, 100 * MIB)).collect());
    for (phase, (asked, others)) in
        run.phases.iter_mut().zip([(100, 3), (100, 9), (1000, 40), (100, 4), (100, 0)])
    {
        let device = &mut phase.repetitions[0].physical;
        device.devices[0].read_bytes = (asked + others) * MIB;
        device.own_read_bytes = Some(asked * MIB);
    }
    let seen = DoubtInputs { steal: (0..5).map(|n| (n, 0.02 + 0.01 * f64::from(n % 4))).collect(), ..seen() };
    let (list, doubts) = (of(&run, &Value::Null, &seen), doubts::of(&run, &Value::Null, &seen));
    for (trust, doubt, worst) in [("neighbours", "foreign-io", "9 MiB"), ("machine", "steal", "5.0 %")] {
        let told = list.iter().find(|t| t.code == trust).expect("in the list");
        let reason = doubts.iter().find(|d| d.code == doubt).expect("a reason");
        assert!(told.sentence.contains(worst) && reason.sentence.contains(worst), "{told:?} {reason:?}");
        assert!(!told.sentence.contains("for example"), "{told:?}");
    }
}

#[test]
fn many_phases_are_told_by_their_worst() {
    let mut phases: Vec<Phase> = Vec::new();
    for n in 0..40u64 {
        phases.push(test_runs::phase(["read", "random read"][n as usize % 2], 100 * MIB, 100 * MIB - n));
    }
    phases[7] = test_runs::phase("random read", 100 * MIB, 0);
    phases[9] = test_runs::phase("random read", 100 * MIB, MIB);
    let run = test_runs::run_of(phases);
    let device = of(&run, &Value::Null, &DoubtInputs::default()).remove(0);
    assert_eq!(
        device.sentence,
        "2 of 40 phases (random read) at worst: 0 B of 100 MiB asked reached sda (0.0 %), in 1 operation; 38 others: 100 MiB of 100 MiB asked reached sda (100 %), in 0 I/Os for 1 operation."
    );
}

#[test]
fn before_anything_was_measured_there_is_no_list() {
    assert_eq!(of(&Run::default(), &Value::Null, &DoubtInputs::default()), []);
}
