//! Op streams of every workload that `check` accepts: they never panic, stay inside their region, end when their amount is bounded, and
//! are reproducible.

use crate::support::{self, float, number, stream};
use fathom_workload::ops::{Done, Op, OpCode, Place, Region, StreamOps};
use fathom_workload::*;
use proptest::prelude::*;

/// Operations drawn from each stream; a bounded one with fewer must end.
const LIMIT: u64 = 3000;

/// Numbers that are often small, so that most streams are valid and end.
fn size() -> BoxedStrategy<Bytes> {
    prop_oneof![
        4 => (0u64..200_000).prop_map(Bytes),
        2 => (0u32..18).prop_map(|bit| Bytes(1 << bit)),
        1 => number().prop_map(Bytes)
    ]
    .boxed()
}

fn likely_record() -> BoxedStrategy<Record> {
    let weight = prop_oneof![3 => 0.1..10.0f64, 1 => float().prop_map(f64::abs)];
    let of_a_kind = prop_oneof![
        size().prop_map(Record::Fixed),
        (size(), size()).prop_map(|(a, b)| Record::Between { min: a.min(b), max: a.max(b) }),
        prop::collection::vec((size(), weight), 1..4).prop_map(Record::Split),
    ]
    .boxed();
    prop_oneof![3 => of_a_kind.clone(), 1 => support::by_kind(of_a_kind)].boxed()
}

fn likely_access() -> BoxedStrategy<Access> {
    let listed = (0u64..1 << 30, 0u32..9000, 0u64..99).prop_map(|(offset, bytes, think)| ListedOp {
        offset,
        bytes,
        think: Duration(think),
        ..ListedOp::default()
    });
    prop_oneof![
        2 => support::access(),
        1 => (0.01..9.0f64).prop_map(|theta| Access::Zipf { theta }),
        1 => (0.0..0.5f64).prop_map(|h| Access::Pareto { h }),
        1 => (0.0..=100.0f64).prop_map(|deviation_percent| Access::Normal { deviation_percent }),
        1 => likely_zones().prop_map(Access::Zoned),
        1 => prop::collection::vec(listed, 1..5).prop_map(Access::Listed),
    ]
    .boxed()
}

/// Zones whose shares add up, within floating-point precision.
fn likely_zones() -> BoxedStrategy<Vec<Zone>> {
    prop::collection::vec((1u32..100, 1u32..100), 1..6)
        .prop_map(|weights| {
            let (operations, region) =
                weights.iter().fold((0, 0), |sums, weight| (sums.0 + weight.0, sums.1 + weight.1));
            let percent = |weight: u32, sum: u32| 100.0 * f64::from(weight) / f64::from(sum);
            let zone = |weight: &(u32, u32)| Zone {
                operations_percent: percent(weight.0, operations),
                region_percent: percent(weight.1, region),
            };
            weights.iter().map(zone).collect()
        })
        .boxed()
}

/// A workload of one stream, random in every field but likely to be accepted.
fn one_stream() -> BoxedStrategy<Workload> {
    let amount = prop_oneof![
        Just(Amount::Pass),
        (0u64..5).prop_map(Amount::Passes),
        (0u64..LIMIT).prop_map(Amount::Operations),
        size().prop_map(Amount::Bytes),
        support::amount(),
    ];
    let align = prop_oneof![2 => Just(Bytes(0)), 1 => size()];
    let parts = (likely_record(), likely_access(), amount, size(), prop::option::of(size()), size(), align);
    (stream(Just("f".to_owned()).boxed()), parts, number(), any::<bool>())
        .prop_map(|(mut stream, (record, access, amount, start, length, file, align), seed, timed)| {
            stream.pick = Pick::One(0);
            stream.turns = None;
            // Streams over whole sets are tested separately (`ops::PoolOps`).
            (stream.sequence, stream.sync_series, stream.exclusive) = (Sequence::Own, None, false);
            // Remembered writes are tested separately (`ops::Kept`).
            (stream.keep_written, stream.written_by) = (None, None);
            // None of these affects the operations, and many are valid with few streams only.
            (stream.beside, stream.donor, stream.until_full, stream.no_overlap) = (None, None, false, false);
            (stream.pace.ratio, stream.pace.least, stream.pace.longest) = (None, None, None);
            stream.priorities.clear();
            stream.zoned_device = None;
            stream.pass_over = fathom_workload::PassOver::default();
            stream.adaptive_depth = None;
            if !stream.backend.moves_data() {
                stream.backend = Backend::Null;
            }
            if matches!(stream.data, Data::Checksummed { .. }) {
                stream.data = Data::Unique;
            }
            stream.open.truncate = false;
            stream.record = record;
            stream.access = access;
            stream.amount = amount;
            stream.start = start;
            stream.length = length;
            // Alignment is valid only for orders that draw each record, and without checks.
            stream.align = match stream.access {
                ref order if order.draws_each() => align,
                _ => Bytes(0),
            };
            if matches!(stream.record, Record::ByKind { .. }) {
                stream.align = Bytes(0);
            }
            if stream.align.0 > 0 {
                stream.verify = Verify::No;
            }
            stream.direction = match stream.direction {
                Direction::Mix(Mix::ReadPercent(p)) => Direction::Mix(Mix::ReadPercent(p % 101)),
                Direction::Mix(Mix::ReadsPerWrite(r)) => Direction::Mix(Mix::ReadsPerWrite(r.abs())),
                Direction::Mix(Mix::ReadsPerWriteIssued(r)) => {
                    Direction::Mix(Mix::ReadsPerWriteIssued(r.abs()))
                }
                plain => plain,
            };
            if stream.direction.trims() {
                // Trimmed data cannot be checked.
                stream.verify = Verify::No;
                stream.backend = Backend::default();
            }
            stream.timed.syncfs &= stream.timed.fsync;
            stream.sync_every = stream.sync_every.filter(|s| s.writes > 0 && !s.inside && s.range.is_none());
            // These do not affect the operations.
            stream.pace.think = stream.pace.think.map(|t| Think {
                busy: Duration(0),
                every: t.every.max(1),
                shifts_schedule: false,
                ..t
            });
            stream.pace.rate = stream.pace.rate.filter(|r| r.operations_per_s > 0.0 && !r.common);
            (stream.pace.ratio, stream.pace.least, stream.pace.longest) = (None, None, None);
            stream.adaptive_depth = None;
            Workload {
                name: "one stream".into(),
                seed: Seed(seed),
                repetitions: 1,
                filesets: vec![fileset(file)],
                phases: vec![Phase {
                    name: "p".into(),
                    stop: Stop { time: timed.then_some(Duration(1)), ..Stop::default() },
                    groups: vec![Group {
                        name: "g".into(),
                        instances: 1,
                        isolation: Isolation::Thread,
                        nice: 0,
                        pinning: Pinning::Free,
                        times: Times::default(),
                        threads: vec![thread(Program::Stream(Box::new(stream)))],
                    }],
                    ..Phase::default()
                }],
                ..Workload::default()
            }
        })
        .boxed()
}

fn fileset(size: Bytes) -> FileSet {
    let text = "name = 'x'\n[[fileset]]\nname = 'f'\nfiles = { list = ['a'] }\n";
    let mut set = Workload::from_toml(text).unwrap().filesets.remove(0);
    set.size = Sizing::Fixed(size);
    set
}

fn thread(program: Program) -> Thread {
    Thread {
        name: String::new(),
        instances: 1,
        memory: Bytes(0),
        locked_memory: Bytes(0),
        run_as: fathom_workload::RunAs::default(),
        program,
        io_priority: None,
        io_class: None,
        io_hint: 0,
    }
}

fn the_stream(w: &Workload) -> &Stream {
    match &w.phases[0].groups[0].threads[0].program {
        Program::Stream(s) => s,
        Program::Flow(_) => unreachable!("made of a stream"),
    }
}

/// The region an executor gives the stream: the file from `start` on, or the configured length.
fn region(w: &Workload) -> Region {
    let stream = the_stream(w);
    if let Access::Listed(list) = &stream.access {
        let end = list.iter().map(|op| op.offset + u64::from(op.bytes)).max().unwrap_or(0);
        return Region { start: 0, length: end };
    }
    let Sizing::Fixed(file) = w.filesets[0].size else { unreachable!("made with a fixed size") };
    let rest = file.0.saturating_sub(stream.start.0);
    Region { start: stream.start.0, length: stream.length.map_or(rest, |b| b.0) }
}

fn drawn(ops: &mut StreamOps, limit: u64) -> (Vec<Op>, bool) {
    let (mut out, mut done) = (Vec::new(), Done::default());
    while let Some(op) = ops.next(&done) {
        match op.kind {
            OpCode::Read => done.reads += 1,
            OpCode::Write => done.writes += 1,
            OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => {}
        }
        out.push(op);
        if out.len() as u64 == limit {
            return (out, false);
        }
    }
    (out, true)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_checked_stream_keeps_its_promises(w in one_stream()) {
        prop_assume!(w.check().is_ok());
        let (stream, region) = (the_stream(&w), region(&w));
        // A shuffle is a list in memory: checked up to 2^32 records, too large for a test.
        let remembers = |access: &Access| {
            matches!(access, Access::Shuffled { .. } | Access::Preconditioning { .. } | Access::ZonesInTurn { .. })
        };
        let shuffled = remembers(&stream.access) || stream.fills();
        prop_assume!(!shuffled || region.length / stream.record.unit().0 < 1 << 16);
        let place = Place { phase: 0, worker: 3, repetition: 1 };
        let ops = StreamOps::new(stream, region, w.seed.0, place);
        prop_assert!(ops.is_some(), "checked, and yet without a stream over {region:?}");
        let mut ops = ops.unwrap();
        let remaining = ops.remaining_operations();
        let (all, ended) = drawn(&mut ops, LIMIT);
        let data: Vec<&Op> = all.iter().filter(|o| !matches!(o.kind, OpCode::Sync { .. })).collect();
        for op in &data {
            prop_assert!(op.bytes > 0 && u64::from(op.bytes) <= 1 << 30, "{op:?}");
            prop_assert!(op.offset >= region.start, "{op:?} lies before {region:?}");
            let aligned = stream.align.0 == 0 || (op.offset - region.start).is_multiple_of(stream.align.0);
            prop_assert!(aligned, "{op:?} is none of {}", stream.align);
            prop_assert!(op.offset + u64::from(op.bytes) <= region.start + region.length, "{op:?} lies behind {region:?}");
        }
        if let (Some(n), true) = (remaining, ended) {
            prop_assert_eq!(n, data.len() as u64);
        }
        // A trim and its write count once in the amount, as the trim.
        let pairs = stream.direction == Direction::TrimWrite;
        let counted = || data.iter().filter(|o| !pairs || o.kind != OpCode::Write);
        let moved: u64 = counted().map(|o| u64::from(o.bytes)).sum();
        let full = all.len() as u64 == LIMIT;
        match stream.amount {
            Amount::Operations(n) => prop_assert!(full || counted().count() as u64 == n),
            Amount::Bytes(b) => prop_assert!(full || moved >= b.0 && moved < b.0 + (1 << 30)),
            Amount::Endless => prop_assert!(full),
            Amount::Pass | Amount::Passes(_) => prop_assert!(full || ended),
        }
        let mut again = StreamOps::new(stream, region, w.seed.0, place).unwrap();
        prop_assert_eq!(drawn(&mut again, LIMIT).0, all);
    }
}
