//! Findings and verdicts of hand-made surveys.

use super::facts::latency_of;
use super::{CRITERIA, Grade, Open, findings, json, verdicts};
use crate::answer::{Answer, Limit};
use fathom_record::{
    Axes, DeviceDelta, Doubt, Finding, Histogram, OpKind, OpStat, Phase, Physical, Repetition, Row, Run,
    Status, Worker,
};

/// A phase with `ops` operations of one kind in a second, each taking `ns`.
fn phase(stage: &str, name: &str, op: OpKind, (ops, ns): (u64, u64)) -> Phase {
    let stat = OpStat {
        op,
        ops,
        bytes: ops * 4096,
        latency: Histogram::from_values((0..ops.min(10_000)).map(|_| ns)),
    };
    let worker =
        Worker { elapsed_ns: 1_000_000_000, ops, bytes: ops * 4096, stats: vec![stat], ..Worker::default() };
    let device = DeviceDelta {
        name: "vda".into(),
        kind: "disk".into(),
        busy_ms: 1000,
        read_bytes: if op == OpKind::Read { ops * 4096 } else { 0 },
        ..DeviceDelta::default()
    };
    let physical = Physical { method: "diskstats".into(), devices: vec![device], ..Physical::default() };
    let once =
        Repetition { elapsed_ns: 1_000_000_000, workers: vec![worker], physical, ..Repetition::default() };
    Phase {
        seq: 0,
        name: name.into(),
        axes: Axes { tags: [("stage".to_string(), stage.to_string())].into(), ..Axes::default() },
        reads: op == OpKind::Read,
        writes: op == OpKind::Write,
        sync_in_clock: false,
        direct: name.contains("direct"),
        repetitions: vec![once],
    }
}

fn run(phases: Vec<Phase>) -> Run {
    let phases = phases.into_iter().zip(0..).map(|(p, seq)| Phase { seq, ..p }).collect();
    Run { dialect: "survey".into(), phases, ..Run::default() }
}

fn synced(p50_ms: u64, writes: u64) -> Phase {
    let mut phase = phase("ladder", "write and fsync", OpKind::Write, (writes, 2000));
    let sync = Histogram::from_values((0..100).map(|_| p50_ms * 1_000_000));
    let worker = &mut phase.repetitions[0].workers[0];
    worker.stats.push(OpStat { op: OpKind::Sync, ops: writes, bytes: 0, latency: sync });
    phase
}

fn deep(points: &[(u64, u64, u64)], busy_ms: u64) -> Vec<Phase> {
    let one = |&(depth, ops, ns): &(u64, u64, u64)| {
        let mut phase = phase("depth", "deep direct reads", OpKind::Read, (ops, ns));
        phase.axes.queue_depth = Some(depth).filter(|d| *d > 1);
        phase.repetitions[0].physical.devices[0].busy_ms = busy_ms;
        phase
    };
    points.iter().map(one).collect()
}

fn sentence(run: &Run, rule: &str) -> Option<String> {
    findings(run).into_iter().find(|(_, f)| f.rule == format!("survey-{rule}")).map(|(_, f)| f.sentence)
}

#[test]
fn a_limit_of_operations_is_told_from_a_knee() {
    let held = [(1, 400, 2_500_000), (2, 400, 5_000_000), (4, 401, 10_000_000)];
    let mut phases = vec![synced(1, 500)];
    phases.extend(deep(&held, 30));
    let limited = run(phases);
    let told = sentence(&limited, "limit").expect("a limit");
    assert!(
        told.contains("400/s") && told.contains("busy for 3.0 %") && told.contains("above it: a limit"),
        "{told}"
    );
    assert_eq!(sentence(&limited, "knee"), None);
    let mut burst = limited.clone();
    for n in 1..3u64 {
        let mut direct = phase("scaling", "parallel direct reads", OpKind::Read, (400 * n, 1_000_000));
        direct.axes.streams = Some(n);
        burst.phases.push(direct);
    }
    assert_eq!(sentence(&burst, "streams"), None, "what was saved up is no gain");
    let mut phases = vec![synced(1, 500)];
    phases.extend(deep(&held, 990));
    assert!(sentence(&run(phases), "limit").expect("a limit").contains("one at a time"));
    // One outlying repetition means a busy machine, not a limit.
    let mut phases = vec![synced(1, 500)];
    phases.extend(deep(&held, 30));
    let odd = deep(&[(2, 900, 1_000_000)], 30).remove(0).repetitions.remove(0);
    let sound = phases[2].repetitions[0].clone();
    phases[2].repetitions.extend([sound, odd]);
    assert_eq!(sentence(&run(phases), "limit"), None);
    let mut phases = vec![synced(1, 500)];
    phases.extend(deep(
        &[(1, 1000, 1_000_000), (2, 2000, 1_000_000), (4, 4000, 1_000_000), (8, 4100, 2_000_000)],
        900,
    ));
    let free = run(phases);
    assert_eq!(sentence(&free, "limit"), None);
    let told = sentence(&free, "knee").expect("a knee");
    assert!(told.contains("until 4 are in flight: 4000/s, 4.00×"), "{told}");
    assert!(told.contains("more in flight gain little, 4100/s at best with 8"), "{told}");
    let best = verdicts(&free).into_iter().find(|v| v.of == "VM images").expect("a verdict");
    assert!(best.sentence.contains("best random reads 4100/s"), "the same figure: {}", best.sentence);
}

#[test]
fn verdicts_show_their_thresholds_and_the_worst_figure_decides() {
    let of = |p50, writes| {
        let found = verdicts(&run(vec![synced(p50, writes)]));
        found.into_iter().find(|v| v.of == "database log").expect("a verdict")
    };
    let good = of(1, 5000);
    assert_eq!(good.grade, Grade::Good);
    assert!(good.sentence.contains("good ≤ 5 ms, fair ≤ 20 ms"), "{}", good.sentence);
    assert!(good.sentence.contains("5000/s (good ≥ 1000/s, fair ≥ 200/s)"), "{}", good.sentence);
    assert_eq!(of(1, 500).grade, Grade::Fair, "fast, but few");
    assert_eq!(of(100, 5000).grade, Grade::Poor);
    let others = verdicts(&run(vec![synced(1, 5000)]));
    assert_eq!(others.iter().find(|v| v.of == "VM images").map(|v| v.grade), Some(Grade::Unknown));
    assert_eq!(others.len(), 5);
}

#[test]
fn an_fsync_has_one_figure_everywhere() {
    let mut phase = synced(3, 100);
    let slow = phase.repetitions[0].clone();
    phase.repetitions.push(slow);
    phase.repetitions[1].workers[0].elapsed_ns *= 2;
    let plain = self::phase("ladder", "buffered random write", OpKind::Write, (1000, 900));
    let run = run(vec![phase, plain]);
    let time =
        crate::units::time_ns(run.phases[0].latency_of(OpKind::Sync).percentile_ns(99.0).unwrap() as f64);
    let rate = format!("{}/s", run.phases[0].ops_per_s().unwrap());
    let told = sentence(&run, "durable").expect("reported");
    assert!(told.contains(&format!("p99 {time};")), "{told}");
    let log = verdicts(&run).remove(0).sentence;
    assert!(
        log.contains(&format!("fsync p99 {time} ")) && log.contains(&format!("synced writes {rate} ")),
        "{log}"
    );
    let page = crate::terminal::summary(&run, 80, false);
    let row = page.lines().find(|l| l.contains("write and fsync: the fsync")).expect("a row");
    assert!(row.contains(&time) && row.contains(" 75 "), "{row}");
}

#[test]
fn the_map_says_how_much_of_it_was_measured() {
    let lattice = super::lattice::Lattice::of(32 << 20).expect("a surface");
    let cell = |column: usize, row: usize| {
        let mut phase = phase("surface", "cold read", OpKind::Read, (1000 * (1 + row as u64), 1000));
        phase.axes.record_bytes = Some(lattice.columns[column]);
        phase.axes.file_bytes = Some(lattice.rows[row]);
        phase
    };
    let cells = [0, 5, 10].into_iter().flat_map(|row| [0, 8, 16].map(|column| cell(column, row)));
    let few = run(std::iter::once(synced(1, 500)).chain(cells).collect());
    let few = crate::terminal::summary(&few, 80, false);
    let under = few.lines().skip_while(|l| !l.starts_with("cold read, file by record size")).nth(1);
    let words = "9 of 187 cells were measured, all others are interpolated from these";
    assert_eq!(under, Some(words), "{few}");
}

#[test]
fn thresholds_are_in_order() {
    for c in CRITERIA {
        assert!(if c.is_time() { c.good < c.fair } else { c.good > c.fair }, "{c:?}");
    }
}

#[test]
fn what_is_not_flushed_is_not_durable() {
    let mut run = run(vec![synced(1, 5000)]);
    let others = answer(&run, None).first;
    let code = "unflushed-sync".to_owned();
    run.doubts = vec![fathom_record::Doubt { code, phases: Vec::new(), sentence: String::new() }];
    let found = answer(&run, None);
    let wanted = "A power cut can lose synced data: fsync does not flush the device's write cache.";
    assert!(
        found.first.contains(&wanted.to_owned()) && found.first.len() == others.len() + 1,
        "{:?}",
        found.first
    );
    let log = &found.uses[0];
    assert_eq!((log.of, log.grade), ("database log", Grade::Poor));
    assert!(
        log.sentence.starts_with("poor: fsync does not flush the device's write cache"),
        "{}",
        log.sentence
    );
}

#[test]
fn nothing_in_memory_is_durable() {
    let mut phase = synced(0, 100_000);
    phase.repetitions[0].physical = Physical { method: "memory".into(), ..Physical::default() };
    let run = run(vec![phase]);
    assert_eq!(verdicts(&run)[0].grade, Grade::Poor);
    assert!(verdicts(&run)[0].sentence.contains("power cut"));
    assert!(sentence(&run, "memory").is_some());
}

#[test]
fn a_place_without_o_direct_says_so() {
    let told = sentence(&run(vec![synced(1, 100)]), "no-direct").expect("reported");
    assert!(told.contains("O_DIRECT is refused"));
    let direct = phase("ladder", "direct random read", OpKind::Read, (100, 1000));
    assert_eq!(sentence(&run(vec![direct, synced(1, 100)]), "no-direct"), None);
    // Interrupted before it could be known.
    assert_eq!(
        sentence(&run(vec![phase("ladder", "cached random read", OpKind::Read, (9, 9))]), "no-direct"),
        None
    );
}

#[test]
fn an_fsync_that_writes_nothing_is_told() {
    let mut phase = synced(0, 1000);
    phase.repetitions[0].physical.devices[0].write_bytes = 4096;
    assert!(sentence(&run(vec![phase.clone()]), "sync-lies").is_some());
    phase.repetitions[0].physical.devices[0].write_bytes = 3 * 4096 * 1000;
    assert!(sentence(&run(vec![phase]), "sync-amplified").expect("reported").contains("writes 12 KiB"));
}

#[test]
fn small_files_are_counted_by_their_loops() {
    let files = |name: &str, loops| {
        let mut phase = phase("small files", name, OpKind::Open, (5 * loops, 1000));
        phase.repetitions[0].workers[0].rows =
            vec![Row { name: "create".into(), ops: loops, ..Row::default() }];
        phase
    };
    let run = run(vec![synced(1, 500), files("small files", 6000), files("small files with fsync", 90)]);
    assert!(sentence(&run, "small-files").expect("reported").starts_with("6000 files of 4 KiB a second"));
    let grades: Vec<_> = verdicts(&run).iter().map(|v| (v.of, v.grade)).collect();
    assert!(
        grades.contains(&("build tree", Grade::Good)) && grades.contains(&("mail", Grade::Poor)),
        "{grades:?}"
    );
}

/// A phase of several repetitions with these rates.
fn repeated(stage: &str, name: &str, rates: &[u64]) -> Phase {
    let mut phases = rates.iter().map(|ops| phase(stage, name, OpKind::Read, (*ops, 1000)));
    let mut first = phases.next().expect("a rate");
    first.repetitions.extend(phases.flat_map(|p| p.repetitions));
    first
}

fn streams(streams: u64, rates: &[u64]) -> Phase {
    let mut phase = repeated("scaling", "parallel writers", rates);
    phase.axes.streams = Some(streams);
    phase
}

#[test]
fn a_gain_within_the_spread_of_the_repetitions_is_none() {
    let of = |one: &[u64], four: &[u64]| {
        sentence(&run(vec![synced(1, 500), streams(1, one), streams(4, four)]), "streams").expect("reported")
    };
    assert!(of(&[100, 101, 102], &[200, 210, 220]).contains("4 streams move 2.08×"));
    assert!(of(&[100, 101, 250], &[200, 210, 220]).contains("unclear"));
    assert!(of(&[200, 210, 220], &[100, 101, 102]).contains("less than one alone"));
    assert!(of(&[200, 210, 220], &[100, 101, 205]).contains("unclear"));
    assert!(of(&[200, 210, 220], &[205, 206, 220]).contains("no more than one"));
    assert!(of(&[100], &[200]).contains("2.00×"), "measured once: as it is");
}

#[test]
fn a_knee_within_the_spread_of_the_repetitions_is_none() {
    let of = |rates: [&[u64]; 3]| {
        let deep = rates.into_iter().zip([1, 2, 4]).map(|(rates, depth)| {
            let mut phase = repeated("depth", "deep direct reads", rates);
            phase.axes.queue_depth = Some(depth).filter(|d| *d > 1);
            phase
        });
        sentence(&run(std::iter::once(synced(1, 500)).chain(deep).collect()), "knee").expect("reported")
    };
    let told = of([&[1000, 1010], &[2000, 2010], &[4000, 4010]]);
    assert!(told.contains("until 4 are in flight"), "{told}");
    assert!(of([&[1000, 4005], &[2000, 2010], &[4000, 4010]]).contains("unclear"));
    assert!(of([&[4000, 4010], &[1900, 2000], &[2000, 9000]]).contains("unclear"));
    assert!(of([&[4000, 4010], &[1900, 2000], &[2000, 2100]]).contains("more in flight only wait"));
}

/// A long write with these MiB in each tenth of a second.
fn long_write(mib: &[u64]) -> Phase {
    let mut phase = phase("sustained", "sustained write", OpKind::Write, (100, 1000));
    let tenths = mib.iter().zip(1u64..).map(|(mib, n)| fathom_record::Interval {
        end_ns: n * 100_000_000,
        width_ns: 100_000_000,
        bytes: mib << 20,
        ..fathom_record::Interval::default()
    });
    phase.repetitions[0].intervals = tenths.collect();
    phase
}

/// A control group's 400 requests a second come in ten bursts a second.
#[test]
fn a_device_that_works_by_turns_has_the_rate_of_all_its_turns() {
    let mut phase = long_write(&[40; 12]);
    let repetition = &mut phase.repetitions[0];
    repetition.intervals = (1..=120)
        .map(|n| fathom_record::Interval {
            end_ns: n * 10_000_000,
            width_ns: 10_000_000,
            bytes: if n % 10 == 1 { 40 << 20 } else { 0 },
            ..fathom_record::Interval::default()
        })
        .collect();
    let answer = answer(&run(vec![synced(1, 500), phase]), None);
    let tile = answer.tiles.iter().find(|tile| tile.what.starts_with("long write")).expect("a tile");
    assert_eq!((tile.figure.as_str(), tile.beside.as_str()), ("400 MiB/s", "slowest second 400 MiB/s"));
}

/// A recorder's buffer bridges three tenths of a second, not a whole one.
#[test]
fn a_short_stall_does_not_make_a_long_write_poor() {
    let worst = |mib: &[u64]| {
        let run = run(vec![synced(1, 500), long_write(mib)]);
        crate::survey::verdicts::slowest_second(&run).map(|rate| (rate / 1_048_576.0).round())
    };
    let mut stalls = [30_u64; 25];
    stalls[12..15].fill(0);
    assert_eq!(worst(&stalls), Some(210.0));
    stalls[8..18].fill(0);
    assert_eq!(worst(&stalls), Some(0.0));
    assert_eq!(worst(&[30; 9]), None, "too short");
}

/// A device with a volatile cache took a second of writes, and three seconds for the fsync.
#[test]
fn the_long_write_is_quoted_with_its_fsync() {
    let of = |fsync_ns: u64| {
        let mut phase = long_write(&[100; 10]);
        phase.repetitions[0].physical.devices[0].write_bytes = 1000 << 20;
        let worker = &mut phase.repetitions[0].workers[0];
        worker.bytes = 1000 << 20;
        (worker.marks.last_op_ns, worker.marks.fsync_ns) = (1_000_000_000, fsync_ns);
        let run = run(vec![synced(1, 500), phase]);
        let found = answer(&run, None);
        let tile = found.tiles.iter().find(|tile| tile.what.starts_with("long write")).expect("a tile");
        let media = verdicts(&run).into_iter().find(|v| v.of == "media streaming").expect("a use");
        let worst = media.figures.iter().find(|f| f.by.figure.starts_with("long write")).expect("a figure");
        let mib = worst.value.map(|rate| (rate / 1_048_576.0).round());
        let lasting = sentence(&run, "sustained").expect("a sentence");
        (found.more[0].1.clone(), tile.figure.clone(), tile.beside.clone(), mib, lasting)
    };
    let (line, figure, beside, worst, lasting) = of(4_000_000_000);
    let fsync = "The fsync after it took 3.00 s: with it, the rate is 250 MiB/s.";
    assert!(lasting.ends_with(fsync) && !lasting.contains("there is none"), "{lasting}");
    assert_eq!(line, "long write 250 MiB/s with its fsync");
    assert_eq!((figure.as_str(), beside.as_str()), ("250 MiB/s", "1000 MiB/s without the fsync"));
    assert_eq!(worst, Some(250.0));
    let (line, .., lasting) = of(1_050_000_000);
    assert_eq!(line, "long write 952 MiB/s");
    assert!(lasting.contains("or there is none") && !lasting.contains("fsync"), "{lasting}");
}

#[test]
fn a_long_write_to_memory_says_nothing_of_media() {
    let media = |written: u64| {
        let mut phase = long_write(&[100; 10]);
        phase.repetitions[0].physical.devices[0].write_bytes = written;
        phase.repetitions[0].workers[0].bytes = 1000 << 20;
        phase.repetitions[0].workers[0].marks.fsync_ns = 4_000_000_000;
        verdicts(&run(vec![synced(1, 500), phase]))
            .into_iter()
            .find(|v| v.of == "media streaming")
            .expect("a use")
    };
    let own = "long write, at worst 250 MiB/s, not from storage";
    assert_eq!((media(0).grade, media(0).note.as_deref()), (Grade::Unknown, Some(own)));
    assert_eq!((media(500 << 20).grade, media(500 << 20).note), (Grade::Good, None), "merged in part");
    assert_eq!(media(1000 << 20).grade, Grade::Good);
}

#[test]
fn a_fall_is_one_level_and_then_another() {
    let of = |phase: Phase| sentence(&run(vec![synced(1, 500), phase]), "sustained").expect("reported");
    let told = of(long_write(&[10, 11, 10, 10, 11, 4, 4, 5, 4, 4, 4, 4, 4]));
    assert!(told.starts_with("the rate falls from 100 MiB/s to 40.0 MiB/s after 0.5 s"), "{told}");
    let told = of(long_write(&[10, 2, 10, 2, 10, 2, 9, 2, 9, 2, 9, 2, 4]));
    assert!(told.contains("up and down between") && told.contains("no fall to a level"), "{told}");
    let told = of(long_write(&[4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8]));
    assert!(told.contains("60.0 MiB/s on average") && told.contains("rises, from 40.0"), "{told}");
    let told = of(long_write(&[4; 13]));
    assert!(told.contains("40.0 MiB/s, no fall"), "{told}");
    let mut phase = long_write(&[4; 13]);
    let devices = &mut phase.repetitions[0].physical.devices;
    devices[0] =
        DeviceDelta { kind: "loop".into(), name: "loop7".into(), write_bytes: 8 << 20, ..devices[0].clone() };
    let below = DeviceDelta { level: 1, name: "sda".into(), write_bytes: 1 << 20, ..devices[0].clone() };
    devices.push(below);
    let told = of(phase);
    assert!(told.contains("written to loop7") && told.contains("reached sda"), "{told}");
}

#[test]
fn a_record_size_is_advised_only_where_larger_ones_are_as_good() {
    let of = |rates: [u64; 3]| {
        let cells = rates.into_iter().zip([4u64, 64, 1024]).map(|(ops, kib)| {
            let mut cell = phase("surface", "cold read", OpKind::Read, (ops, 1000));
            cell.axes.file_bytes = Some(64 << 20);
            cell.axes.record_bytes = Some(kib << 10);
            cell
        });
        let found = sentence(&run(std::iter::once(synced(1, 500)).chain(cells).collect()), "record-size");
        found.expect("reported")
    };
    assert!(of([960, 980, 1000]).contains("every record from 4 KiB on"));
    assert!(of([400, 980, 1000]).contains("with records of 64 KiB or more; 4 KiB get 40 %"));
    for rates in [[1000, 400, 950], [1000, 400, 500]] {
        assert!(of(rates).contains("goes up and down with the record"), "{}", of(rates));
    }
}

#[test]
fn a_loop_device_is_told_with_its_file() {
    let mut run = run(vec![synced(1, 500)]);
    assert_eq!(sentence(&run, "image"), None);
    run.environment = serde_json::json!({"devices": [
        {"name": "loop7", "kind": "loop", "backing_file": "/images/a.img", "above": null},
        {"name": "sda", "kind": "disk", "backing_file": null, "above": "loop7"},
    ]});
    let told = sentence(&run, "image").expect("reported");
    assert!(
        told.starts_with("The figures may be those of this machine's memory, not those of sda: ")
            && told.ends_with("over the file /images/a.img, unless that was set up with direct I/O."),
        "{told}"
    );
    run.environment["devices"][0]["direct_io"] = false.into();
    assert!(sentence(&run, "image").expect("reported").ends_with("a.img, without direct I/O."));
    // Read-ahead of the image makes the disk's own counters look complete.
    let below = DeviceDelta { level: 1, name: "sda".into(), ..DeviceDelta::default() };
    run.phases[0].repetitions[0].physical.devices.push(below);
    assert!(sentence(&run, "image").expect("reported").contains("not those of sda"));
    run.environment["devices"][0]["direct_io"] = true.into();
    assert_eq!(sentence(&run, "image"), None, "its figures are not those of memory");
}

#[test]
fn reads_that_no_cache_makes_faster_are_not_called_memory() {
    let of = |cached, direct| {
        let ladder = [
            phase("ladder", "cached random read", OpKind::Read, (1000, cached)),
            phase("ladder", "direct random read", OpKind::Read, (1000, direct)),
        ];
        sentence(&run(ladder.into()), "distance").expect("reported")
    };
    assert!(of(500, 50_000).contains("× as long"));
    assert!(of(30_000, 10_000).contains("makes no read faster here"));
}

#[test]
fn other_runs_have_none_of_it() {
    let old = crate::samples::survey_run();
    assert!(findings(&old).is_empty() && verdicts(&old).is_empty());
    let document: serde_json::Value = serde_json::from_str(&json(&old)).expect("JSON");
    assert_eq!(document["record"]["schema"], "fathom-record/1");
}

#[test]
fn every_finding_has_evidence() {
    let mut phases = vec![synced(1, 500), phase("ladder", "cached random read", OpKind::Read, (1000, 300))];
    phases.push(phase("ladder", "direct random read", OpKind::Read, (1000, 90_000)));
    phases.push(phase("ladder", "buffered random write", OpKind::Write, (1000, 900)));
    let found = findings(&run(phases));
    assert!(
        found.iter().any(|(_, f)| f.rule == "survey-distance")
            && found.iter().any(|(_, f)| f.rule == "survey-durable")
    );
    for (_, f) in found {
        assert!(!f.evidence.is_empty() && f.sentence.ends_with('.'), "{f:?}");
    }
}

fn words(limits: &[Limit]) -> Vec<String> {
    limits.iter().map(|limit| limit.words.clone()).collect()
}

fn answer(run: &Run, before: Option<&Run>) -> Answer {
    Answer::of(run, before)
}

#[test]
fn the_short_answer_has_the_figures_of_the_long_one() {
    let mut phases =
        vec![synced(3, 374), phase("ladder", "direct random read", OpKind::Read, (9455, 85_000))];
    phases.extend(deep(&[(1, 9_455, 85_000), (16, 61_000, 260_000), (64, 78_481, 800_000)], 900));
    let mut write = phase("ladder", "direct random write", OpKind::Write, (8419, 77_000));
    let once = OpStat { op: OpKind::Sync, ops: 1, bytes: 0, latency: Histogram::from_values([9_000_000]) };
    write.repetitions[0].workers[0].stats.push(once);
    phases.push(write);
    phases.push(phase("ladder", "cached random read", OpKind::Read, (950_071, 764)));
    let found = answer(&run(phases), None);
    let rows: Vec<(&str, f64)> = found.rows.iter().map(|row| (row.what.as_str(), row.per_s)).collect();
    assert_eq!(
        rows,
        [
            ("fsync after a 4 KiB write", 374.0),
            ("random read, 1 in flight", 9455.0),
            ("random read, 64 in flight", 78_481.0),
            ("random write, 1 in flight", 8419.0),
            ("random read, cached", 950_071.0),
        ]
    );
    let near = |ns: Option<f64>, wanted: f64| (ns.expect("a latency") / wanted - 1.0).abs() < 0.03;
    assert!(found.rows[0].ns.into_iter().all(|ns| near(ns, 3e6)), "of the fsync: {:?}", found.rows[0]);
    assert!(near(found.rows[2].ns[0], 800_000.0), "{:?}", found.rows[2]);
    assert!(near(found.rows[3].ns[0], 77_000.0), "not of the fsync at its end: {:?}", found.rows[3]);
    assert_eq!(found.uses.len(), 5);
    assert!(found.limits.is_empty() && found.doubts.is_empty() && found.since.is_none(), "{found:?}");
}

#[test]
fn what_syncs_reached_may_be_unknown() {
    let log =
        |run: &Run| answer(run, None).uses.into_iter().find(|one| one.of == "database log").expect("judged");
    let mut run = run(vec![synced(1, 5000)]);
    assert_eq!((log(&run).grade, log(&run).open), (Grade::Good, Vec::new()));
    run.phases[0].repetitions[0].physical = Physical::default();
    let log = log(&run);
    assert_eq!((log.grade, log.open), (Grade::Good, vec![Open::Durability]));
    let mut phases = deep(&[(1, 9000, 85_000), (8, 47_000, 170_000)], 900);
    phases.push(phase("ladder", "direct random read", OpKind::Read, (9000, 85_000)));
    phases.iter_mut().for_each(|p| p.repetitions[0].physical = Physical::default());
    phases.push(run.phases[0].clone());
    let uses = verdicts(&Run { phases, ..run.clone() });
    let images = uses.iter().find(|one| one.of == "VM images").expect("judged");
    assert_eq!((images.grade, &images.open[..]), (Grade::Good, &[Open::Source, Open::Durability][..]));
    assert!(log.sentence.ends_with("; if fsync is durable, which cannot be seen here"), "{}", log.sentence);
}

#[test]
fn a_limit_is_reported_once_named_or_not() {
    let held = |phases: usize| {
        let mut run = run(vec![synced(1, 500), synced(1, 500), synced(1, 500)]);
        for phase in &mut run.phases[..phases] {
            let sentence = "A control group holds reads of vda to 20 MiB/s.".to_owned();
            let finding = Finding { rule: "io-limit".into(), sentence, ..Finding::default() };
            phase.repetitions[0].findings =
                vec![finding.clone(), Finding { rule: "journal".into(), ..finding }];
        }
        let found = answer(&run, None);
        assert!(found.passing_limits.is_empty());
        words(&found.limits)
    };
    assert_eq!(
        held(2),
        [
            "Limited in 2 of 3 tests: A control group holds reads of vda to 20 MiB/s. It held back at least these figures: fsync."
        ]
    );
    assert_eq!(held(0), [""; 0]);
    let mut phases = vec![synced(1, 500)];
    phases.extend(deep(&[(1, 400, 2_500_000), (2, 400, 5_000_000), (4, 401, 10_000_000)], 30));
    let unnamed = words(&answer(&run(phases), None).limits);
    assert!(
        unnamed.len() == 1
            && unnamed[0].starts_with("Operations are limited")
            && unnamed[0].contains("a limit"),
        "{unnamed:?}"
    );
}

#[test]
fn limits_of_reads_and_of_writes_are_told_together_with_what_to_do() {
    let mut run = run(vec![synced(1, 500), synced(1, 500), synced(1, 500)]);
    for (phase, what) in run.phases.iter_mut().zip(["writes", "reads", "reads"]) {
        let sentence = format!(
            "A control group limits {what} of vda to 400 a second, and they ran at 396 a second: the limit holds them back."
        );
        let advice = format!("Raise the limit in /sys/group/{what}. Or run in another control group.");
        phase.repetitions[0].findings =
            vec![Finding { rule: "io-limit".into(), sentence, advice, ..Finding::default() }];
    }
    let found = answer(&run, None);
    let both = "Limited in 3 of 3 tests: A control group limits writes of vda to 400 a second, and reads of vda to 400 a second. It held back at least these figures: fsync.";
    assert_eq!(words(&found.limits), [both]);
    let remedy = "Raise the limits in /sys/group. Or run in another control group.";
    assert_eq!(found.remedy.as_deref(), Some(remedy));
}

#[test]
fn reads_that_memory_served_are_not_the_storages() {
    let mut phases = vec![synced(1, 500)];
    phases.extend(deep(&[(1, 9000, 85_000), (8, 47_000, 170_000), (128, 351_000, 276_000)], 900));
    let cached = phases.last_mut().expect("the deepest");
    cached.repetitions[0].physical.devices[0].read_bytes = 0;
    let found = answer(&run(phases.clone()), None);
    let row = found.rows.iter().find(|row| row.what.starts_with("random read,")).expect("a row");
    assert_eq!((row.what.as_str(), row.per_s), ("random read, 8 in flight", 47_000.0));
    let images = |phases: &[Phase]| {
        let uses = verdicts(&run(phases.to_vec()));
        let images = uses.into_iter().find(|v| v.of == "VM images").expect("a use");
        (images.grade, images.note)
    };
    assert_eq!(images(&phases), (Grade::Good, None));
    let only_cached = [phases[0].clone(), phases.last().expect("the deepest").clone()];
    assert_eq!(
        images(&only_cached),
        (Grade::Unknown, Some("best random reads 351 000/s, not from storage".into()))
    );
}

#[test]
fn a_limit_of_a_control_group_comes_first_though_it_held_few_phases() {
    let held = |rule: &str| {
        let mut run = run((0..81).map(|_| synced(1, 500)).collect());
        for phase in &mut run.phases[..4] {
            let finding = Finding { rule: rule.into(), sentence: "It is held.".into(), ..Finding::default() };
            phase.repetitions[0].findings = vec![finding];
        }
        let found = answer(&run, None);
        (words(&found.limits), words(&found.passing_limits))
    };
    let told =
        vec!["Limited in 4 of 81 tests: It is held. It held back at least these figures: fsync.".to_owned()];
    for rule in ["io-limit", "io-share", "cpu-quota", "memory-limit"] {
        assert_eq!(held(rule), (told.clone(), Vec::new()), "{rule}");
    }
    assert_eq!(held("discard"), (Vec::new(), vec!["mounted with discard (4 of 81 tests)".to_owned()]));
}

#[test]
fn doubts_that_a_survey_makes_itself_are_not_in_the_short_answer() {
    let doubt = |code: &str, phases: &[u32]| Doubt {
        code: code.into(),
        phases: phases.into(),
        sentence: String::new(),
    };
    let mut run = run(vec![synced(1, 500), synced(1, 500), phase("surface", "write", OpKind::Write, (9, 9))]);
    run.doubts = vec![
        doubt("short-phase", &[0, 1]),
        doubt("fits-memory", &[]),
        doubt("spread", &[0, 2]),
        doubt("steal", &[2]),
        doubt("governor", &[]),
    ];
    assert_eq!(
        answer(&run, None).doubts,
        [
            "the CPU saves power",
            "repetitions differ by more than 20 % (2 of 3, with fsync)",
            "hypervisor took CPU time (1 of 3)"
        ]
    );
}

#[test]
fn changes_since_the_previous_survey_are_dated() {
    let of = |syncs: u64, reads: u64, started_at: &str| {
        let mut phases = vec![synced(1, syncs)];
        phases.extend(deep(&[(1, reads, 85_000), (8, reads * 4, 170_000)], 900));
        Run { started_at: started_at.into(), status: Status::Completed, ..run(phases) }
    };
    let before = of(500, 9000, "2026-11-25T23:13:56+01:00");
    let now = of(250, 9100, "2026-11-26T09:00:00+01:00");
    let told = |now: &Run, before: &Run| answer(now, Some(before)).since;
    assert_eq!(
        told(&now, &before).as_deref(),
        Some("since 25 Nov 23:13: fsyncs -50 %; random reads +1 %; one run each")
    );
    let old = of(500, 9000, "2025-11-25T23:13:56+01:00");
    assert_eq!(
        told(&now, &old).as_deref(),
        Some("since 25 Nov 2025: fsyncs -50 %; random reads +1 %; one run each")
    );
    let fast = of(500 * 18, 9000 * 3, "2026-11-26T09:00:00+01:00");
    let many_times = "since 25 Nov 23:13: fsyncs 18x faster; random reads 3.0x faster; one run each";
    assert_eq!(told(&fast, &before).as_deref(), Some(many_times));
    let slow = of(100, 9000, "2026-11-26T09:00:00+01:00");
    let slower = "since 25 Nov 23:13: fsyncs 5.0x slower; random reads +0 %; one run each";
    assert_eq!(told(&slow, &before).as_deref(), Some(slower));
    // A figure that either survey lacks or did not finish is not compared.
    let mut shallow = before.clone();
    shallow.phases.truncate(1);
    assert_eq!(told(&now, &shallow).as_deref(), Some("since 25 Nov 23:13: fsyncs -50 %; one run each"));
    let broken_off = Run { status: Status::Interrupted, ..now.clone() };
    assert_eq!(told(&broken_off, &before), None);
    assert_eq!(answer(&now, Some(&run(vec![synced(1, 0)]))).since, None);
}

#[test]
fn what_a_survey_could_not_see_or_had_no_room_for_is_said_first() {
    let mut cold = phase("surface", "cold read", OpKind::Read, (100, 1_000_000));
    cold.axes.file_bytes = Some(512 << 10);
    let mut small = run(vec![synced(1, 500), cold]);
    small.environment = serde_json::json!({ "filesystem": { "free_bytes": 20 << 20 } });
    let found = answer(&small, None);
    let rough = "Only 20 MiB are free: the largest file has 512 KiB, so that figures are rough.";
    assert!(found.first.iter().any(|words| words == rough), "{:?}", found.first);
    assert!(found.device_known);
    // A busy machine has no time for the surface.
    let mut read = phase("ladder", "cold random read", OpKind::Read, (100, 1_000_000));
    read.axes.file_bytes = Some(512 << 10);
    let mut long = phase("sustained", "sustained write", OpKind::Write, (100, 1_000_000));
    long.axes.file_bytes = Some(64 << 20);
    small.phases = run(vec![synced(1, 500), read, long]).phases;
    let found = answer(&small, None);
    assert!(found.first.iter().any(|words| words == rough), "{:?}", found.first);
    let mut hidden = run(vec![synced(1, 500)]);
    hidden.phases[0].repetitions[0].physical.devices.clear();
    assert!(!answer(&hidden, None).device_known);
}

/// The storage alone gave 12 000/s; with half of the reads from the page cache there were 47 000/s.
#[test]
fn a_partly_cached_figure_decides_only_if_the_storage_alone_says_the_same() {
    let of = |best: u64, alone: u64| {
        let mut phases = vec![synced(1, 500)];
        phases.extend(deep(&[(1, alone, 85_000), (8, best, 170_000)], 900));
        let partly = &mut phases.last_mut().expect("the deepest").repetitions[0];
        partly.physical.devices[0].read_bytes = partly.workers[0].bytes / 2;
        verdicts(&run(phases)).into_iter().find(|v| v.of == "VM images").expect("a use")
    };
    let both = of(47_000, 12_000);
    let note = "best random reads 12 000/s without a cache, 47 000/s partly cached";
    assert_eq!((both.word(), both.note.as_deref()), ("fair or better", Some(note)));
    assert_eq!(both.sentence, format!("fair or better: {note}"));
    let open = of(47_000, 1000);
    assert_eq!(open.sentence, "not judged: best random reads 1000/s, or 47 000/s partly cached");
    assert_eq!((of(47_000, 30_000).grade, of(47_000, 30_000).note), (Grade::Good, None));
    assert_eq!(of(1000, 900).grade, Grade::Poor);
    let poor_alone = of(15_000, 1000);
    assert_eq!((poor_alone.grade, poor_alone.word()), (Grade::Fair, "fair or worse"));
    assert_eq!(poor_alone.sentence, "fair or worse: best random reads 15 000/s, partly cached");
}

/// One read at a time came from the page cache in part or not at all, and with more in flight all of them.
#[test]
fn reads_one_at_a_time_are_no_bound_for_more_in_flight() {
    let cached = "265 000/s not from storage";
    let partly = of_reads_one_at_a_time(2);
    assert_eq!(partly, format!("not judged: best random reads {}", cached.replace("/s", "/s,")));
    let alone = of_reads_one_at_a_time(4);
    assert_eq!(alone, format!("not judged: best random reads 1500/s, or {cached}"));
}

fn of_reads_one_at_a_time(part_of_four: u64) -> String {
    let mut phases =
        vec![synced(1, 500), phase("ladder", "direct random read", OpKind::Read, (1500, 85_000))];
    phases.extend(deep(&[(128, 265_000, 367_000)], 900));
    for (phase, part) in phases[1..].iter_mut().zip([part_of_four, 0]) {
        let once = &mut phase.repetitions[0];
        once.physical.devices[0].read_bytes = once.workers[0].bytes * part / 4;
    }
    verdicts(&run(phases)).into_iter().find(|v| v.of == "VM images").expect("a use").sentence
}

#[test]
fn a_figure_of_the_page_cache_is_an_upper_bound() {
    let of_reads = |best: u64, device_bytes: u64| {
        let mut phases = deep(&[(1, best / 10, 100_000), (32, best, 200_000)], 900);
        for phase in &mut phases {
            let repetition = &mut phase.repetitions[0];
            repetition.physical.devices[0].read_bytes = device_bytes.min(repetition.workers[0].bytes);
        }
        let verdicts = verdicts(&run([synced(1, 500)].into_iter().chain(phases).collect()));
        verdicts.into_iter().find(|v| v.of == "VM images").expect("a use")
    };
    let disk = of_reads(150_000, u64::MAX);
    assert_eq!((disk.grade, disk.note), (Grade::Good, None), "{}", disk.sentence);
    let cache = of_reads(150_000, 0);
    assert_eq!(cache.grade, Grade::Unknown, "{}", cache.sentence);
    assert_eq!(cache.sentence, "not judged: best random reads 150 000/s, not from storage");
    let slow = of_reads(19_000, 0);
    assert_eq!((slow.grade, slow.word()), (Grade::Fair, "fair or worse"), "even with the cache");
    assert_eq!(of_reads(1900, 0).word(), "poor");
}

#[test]
fn a_figure_of_the_storages_own_decides_though_a_cache_served_another() {
    let mut phases = vec![synced(1, 500)];
    phases.extend(deep(&[(32, 150_000, 200_000)], 900));
    phases[1].repetitions[0].physical.devices[0].read_bytes = 0;
    let mut mixed = phase("mix", "mixed", OpKind::Read, (1000, 20_000_000));
    mixed.axes.tags.insert("reads".into(), "70 %".into());
    phases.push(mixed);
    let run = run(phases);
    let images = verdicts(&run).into_iter().find(|v| v.of == "VM images").expect("a use");
    assert_eq!(images.word(), "fair or worse");
    let text = crate::terminal::short(&answer(&run, None), &[], 80, false);
    assert!(text.contains("fair  or worse: read p99 beside 30 % writes 20.0 ms"), "{text}");
}

/// The fsync of one writer is fast, those of eight are not.
#[test]
fn mail_is_judged_by_the_fsyncs_of_eight_writers() {
    let mut eight = synced(40, 5000);
    eight.name = "parallel commits".into();
    eight.axes.tags.insert("stage".into(), "scaling".into());
    eight.axes.streams = Some(8);
    let grades = |phases: Vec<Phase>| {
        verdicts(&run(phases)).into_iter().take(2).map(|v| (v.of, v.grade)).collect::<Vec<_>>()
    };
    let mail = |grade| vec![("database log", Grade::Good), ("mail", grade)];
    assert_eq!(grades(vec![synced(1, 5000), eight]), mail(Grade::Fair));
    assert_eq!(grades(vec![synced(1, 5000)]), mail(Grade::Unknown), "eight were not measured");
}

#[test]
fn a_repetition_far_faster_than_the_median_does_not_outnumber_the_others() {
    let repetition = |ops: u64, ns: u64| {
        let latency = Histogram::from_values((0..ops).map(|_| ns));
        let stats = vec![OpStat { op: OpKind::Read, ops, bytes: 0, latency }];
        let worker = Worker { ops, elapsed_ns: 1_000_000_000, stats, ..Worker::default() };
        Repetition { workers: vec![worker], ..Repetition::default() }
    };
    let of =
        |repetitions| Phase { repetitions, ..phase("ladder", "cached random read", OpKind::Read, (1, 1)) };
    let cached_once = of(vec![repetition(30, 10_000), repetition(32, 10_000), repetition(9000, 100)]);
    assert_eq!(cached_once.ops_per_s(), Some(32.0));
    assert_eq!(latency_of(&cached_once, OpKind::Read, 99.0), Some(10_000.0));
    let slow_once = of(vec![repetition(30, 10_000), repetition(32, 10_000), repetition(2, 500_000)]);
    assert_eq!(latency_of(&slow_once, OpKind::Read, 99.0), Some(500_000.0), "a stall counts");
}
