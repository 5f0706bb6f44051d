//! The operations yielded by streams of each kind.

use super::*;
use crate::{Bytes, SyncEvery, Zone};
use proptest::prelude::*;

fn ops(stream: &Stream, length: u64, seed: u64, limit: usize) -> Vec<Op> {
    let region = Region { start: 0, length };
    let mut s = StreamOps::new(stream, region, seed, Place::default()).unwrap();
    let mut done = Done::default();
    let mut out = Vec::new();
    while let Some(op) = s.next(&done) {
        match op.kind {
            OpCode::Read => done.reads += 1,
            OpCode::Write => done.writes += 1,
            OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => {}
        }
        out.push(op);
        if out.len() == limit {
            break;
        }
    }
    out
}

fn stream(direction: Direction, record: u64) -> Stream {
    Stream::new("f", direction, Bytes(record))
}

#[test]
fn offsets_are_multiples_of_align() {
    let drawn = |align: u64, record: Record| {
        let access = Access::Uniform;
        let s = Stream { align: Bytes(align), access, record, ..stream(Direction::Write, 512) };
        let found = ops(&s, 32 << 10, 7, usize::MAX);
        let offsets: std::collections::BTreeSet<u64> = found.iter().map(|op| op.offset).collect();
        (found.len(), offsets.into_iter().collect::<Vec<u64>>())
    };
    // As many as without alignment, and the last record still fits.
    let (count, offsets) = drawn(4096, Record::Fixed(Bytes(512)));
    assert_eq!((count, offsets), (64, (0..8).map(|n| n * 4096).collect()));
    let split = Record::Split(vec![(Bytes(512), 50.0), (Bytes(24 << 10), 50.0)]);
    assert_eq!(drawn(4096, split).1.last().map(|last| *last <= 8192), Some(true));
    // Alignment finer than the records.
    let (count, offsets) = drawn(512, Record::Fixed(Bytes(16 << 10)));
    assert_eq!(count, 2);
    assert!(offsets.iter().all(|o| o.is_multiple_of(512) && *o <= 16 << 10), "{offsets:?}");
}

#[test]
fn a_trailing_part_smaller_than_a_record_is_not_touched() {
    let all = ops(&stream(Direction::Write, 64 << 10), 100 << 10, 1, 99);
    assert_eq!(all, [Op { kind: OpCode::Write, file: 0, offset: 0, bytes: 65536, think_ns: 0 }]);
}

#[test]
fn a_region_smaller_than_a_record_has_no_stream() {
    let region = Region { start: 0, length: 100 };
    assert!(StreamOps::new(&stream(Direction::Read, 4096), region, 1, Place::default()).is_none());
}

#[test]
fn reads_per_write_follow_completions() {
    let mut s = stream(Direction::Mix(Mix::ReadsPerWrite(1.5)), 4096);
    s.access = Access::Uniform;
    s.amount = Amount::Operations(10);
    let kinds: String =
        ops(&s, 1 << 20, 1, 99).iter().map(|o| if o.kind == OpCode::Read { 'R' } else { 'W' }).collect();
    assert_eq!(kinds, "RWRWRRWRWR");
}

#[test]
fn a_trim_write_gives_each_record_back_and_writes_it() {
    let mut s = stream(Direction::TrimWrite, 4096);
    for access in [Access::Sequential, Access::Permuted, Access::Uniform] {
        s.access = access;
        let all = ops(&s, 4 * 4096, 3, 99);
        assert_eq!(all.len(), 8);
        for pair in all.chunks(2) {
            let kinds: Vec<OpCode> = pair.iter().map(|op| op.kind).collect();
            assert_eq!(kinds, [OpCode::Trim, OpCode::Write]);
            assert_eq!((pair[0].offset, pair[0].bytes), (pair[1].offset, pair[1].bytes));
        }
    }
    // Varying sizes apply to the trim, and syncs count writes.
    s.record = Record::Between { min: Bytes(512), max: Bytes(4096) };
    s.sync_every = Some(SyncEvery { writes: 1, between: true, ..SyncEvery::default() });
    let kinds: Vec<OpCode> = ops(&s, 1 << 20, 3, 6).iter().map(|op| op.kind).collect();
    let sync = OpCode::Sync { data_only: false };
    assert_eq!(kinds, [OpCode::Trim, OpCode::Write, sync, OpCode::Trim, OpCode::Write, sync]);
}

#[test]
fn trims_of_changing_sizes_fill_their_region() {
    let mut s = stream(Direction::TrimWrite, 512);
    s.access = Access::Permuted;
    s.record = Record::Between { min: Bytes(512), max: Bytes(4096) };
    let mut bytes = vec![0; 1 << 16];
    for op in ops(&s, 1 << 16, 5, 9999).iter().filter(|op| op.kind == OpCode::Trim) {
        bytes[op.offset as usize..][..op.bytes as usize].iter_mut().for_each(|n| *n += 1);
    }
    assert_eq!(bytes, vec![1; 1 << 16]);
}

#[test]
fn an_amount_of_trim_writes_counts_records_and_restarts() {
    let mut s = stream(Direction::TrimWrite, 4096);
    s.amount = Amount::Operations(2);
    let region = Region { start: 0, length: 1 << 20 };
    let mut o = StreamOps::new(&s, region, 1, Place::default()).unwrap();
    assert_eq!(o.remaining_operations(), Some(4));
    let first = o.next(&Done::default()).unwrap();
    assert_eq!((o.remaining_operations(), o.is_done()), (Some(3), false));
    // The trim and its write are still to be done: both are part of the new amount.
    o.refill(Some(&first));
    assert_eq!(o.remaining_operations(), Some(3));
    // The write was drawn; two more records follow.
    let write = o.next(&Done::default()).unwrap();
    o.refill(Some(&write));
    assert_eq!((write.kind, o.remaining_operations()), (OpCode::Write, Some(4)));
}

#[test]
fn trims_move_on_as_writes_do() {
    let kinds = |s: &Stream| ops(s, 3 * 4096, 1, 99).iter().map(|o| o.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&stream(Direction::Trim, 4096)), [OpCode::Trim; 3]);
    let listed = ListedOp { offset: 4096, bytes: 512, does: Some(Does::Trim), ..ListedOp::default() };
    let mut s = stream(Direction::Write, 1);
    s.access = Access::Listed(vec![listed]);
    assert_eq!(kinds(&s), [OpCode::Trim]);
}

#[test]
fn syncs_come_after_every_so_many_writes() {
    let mut s = stream(Direction::Write, 4096);
    s.sync_every = Some(SyncEvery { writes: 2, data_only: true, ..SyncEvery::default() });
    let kinds: Vec<OpCode> = ops(&s, 5 * 4096, 1, 99).iter().map(|o| o.kind).collect();
    let sync = OpCode::Sync { data_only: true };
    let w = OpCode::Write;
    assert_eq!(kinds, [w, w, sync, w, w, sync, w]);
}

#[test]
fn syncs_between_writes_do_not_follow_the_last() {
    let mut s = stream(Direction::Write, 4096);
    s.sync_every = Some(SyncEvery { writes: 32, between: true, ..SyncEvery::default() });
    let syncs = |s: &Stream, writes: u64| {
        let all = ops(s, writes * 4096, 1, 9999);
        all.iter().filter(|o| matches!(o.kind, OpCode::Sync { .. })).count()
    };
    assert_eq!((syncs(&s, 2048), syncs(&s, 2049)), (63, 64));
    s.sync_every = Some(SyncEvery { writes: 32, ..SyncEvery::default() });
    assert_eq!(syncs(&s, 2048), 64);
}

#[test]
fn reads_and_writes_can_each_be_sequential() {
    let mut s = stream(Direction::Mix(Mix::ReadPercent(60)), 4096);
    s.access = Access::SequentialByKind;
    s.amount = Amount::Operations(500);
    let all = ops(&s, 64 * 4096, 7, 999);
    for kind in [OpCode::Read, OpCode::Write] {
        let offsets: Vec<u64> = all.iter().filter(|o| o.kind == kind).map(|o| o.offset).collect();
        let expected: Vec<u64> = (0..offsets.len() as u64).map(|i| i % 64 * 4096).collect();
        assert_eq!(offsets, expected);
    }
}

#[test]
fn a_list_is_executed_as_written() {
    let mut s = stream(Direction::Read, 1);
    s.access = Access::Listed(vec![
        ListedOp { offset: 8192, bytes: 100, think: crate::Duration(5), ..ListedOp::default() },
        ListedOp { offset: 0, bytes: 4096, ..ListedOp::default() },
    ]);
    let all = ops(&s, 1 << 20, 1, 99);
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].offset, all[0].bytes, all[0].think_ns), (8192, 100, 5));
}

#[test]
fn listed_operations_may_give_their_kind_and_file() {
    let mut s = stream(Direction::Mix(Mix::ReadPercent(50)), 1);
    let op =
        |does, file, offset, bytes| ListedOp { does: Some(does), file, offset, bytes, ..ListedOp::default() };
    s.access = Access::Listed(vec![
        op(Does::Write, 1, 512, 100),
        op(Does::DataSync, 1, 0, 0),
        op(Does::Read, 0, 0, 7),
        op(Does::Sync, 0, 0, 0),
    ]);
    s.amount = Amount::Passes(2);
    let all = ops(&s, 1 << 20, 1, 99);
    let kinds: Vec<(OpCode, u32, u64, u32)> =
        all.iter().map(|o| (o.kind, o.file, o.offset, o.bytes)).collect();
    let pass = [
        (OpCode::Write, 1, 512, 100),
        (OpCode::Sync { data_only: true }, 1, 0, 0),
        (OpCode::Read, 0, 0, 7),
        (OpCode::Sync { data_only: false }, 0, 0, 0),
    ];
    assert_eq!(kinds, [pass, pass].concat());
}

fn inside_zones() -> impl Strategy<Value = Box<Access>> {
    let partly =
        |order| Access::PartlyRandom { order: Box::new(order), reads_percent: 50, writes_percent: 20 };
    prop_oneof![
        Just(Access::Sequential),
        Just(Access::Permuted),
        Just(Access::Uniform),
        Just(Access::Zipf { theta: 1.2 }),
        Just(Access::Normal { deviation_percent: 10.0 }),
        Just(partly(Access::Permuted)),
        Just(partly(Access::Uniform)),
    ]
    .prop_map(Box::new)
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        Just(Access::Sequential),
        Just(Access::SequentialByKind),
        Just(Access::Backward),
        Just(Access::Permuted),
        Just(Access::Uniform),
        (0.01f64..3.0).prop_map(|theta| Access::Zipf { theta }),
        (0.001f64..0.999).prop_map(|h| Access::Pareto { h }),
        (0.001f64..100.0).prop_map(|deviation_percent| Access::Normal { deviation_percent }),
        Just(Access::Zoned(vec![
            Zone { operations_percent: 90.0, region_percent: 10.0 },
            Zone { operations_percent: 10.0, region_percent: 90.0 },
        ])),
        Just(Access::Strided { step: 17 }),
        (1u64..9, any::<bool>()).prop_map(|(operations, same)| Access::Runs {
            order: Box::new(Access::Permuted),
            operations,
            same
        }),
        (1u64..9, 0u64..99_999, any::<bool>()).prop_map(|(n, gap, by_kind)| Access::Striped {
            run: Bytes(n * 4096),
            gap: Bytes(gap),
            by_kind
        }),
        any::<i64>().prop_map(|records| Access::Skipping { records }),
        (8192u64..999_999, 0u64..99_999, 1u64..99_999, inside_zones()).prop_map(
            |(range, gap, moved, inside)| {
                let [range, gap, moved] = [range, gap, moved].map(Bytes);
                Access::ZonesInTurn { range, gap, moved, inside }
            }
        ),
        (0.0f64..1.6, 1u32..99, 1u32..9).prop_map(|(spare, rounds, apart)| Access::Preconditioning {
            spare,
            rounds,
            apart
        }),
        Just(Access::Shuffled { key: vec![1, 2] }),
    ]
}

#[test]
fn each_kind_leaves_out_its_own() {
    // fio 3.33: rw=rw:4k with 12 blocks of 4 KiB, from its iolog: reads of 0, 2, 4 ..., and writes of 0, 2, 4 ...
    let mut s = stream(Direction::Mix(Mix::ReadPercent(50)), 4096);
    s.access = Access::Striped { run: Bytes(4096), gap: Bytes(4096), by_kind: true };
    s.amount = Amount::Operations(40);
    let all = ops(&s, 12 * 4096, 1, 99);
    for kind in [OpCode::Read, OpCode::Write] {
        let blocks: Vec<u64> = all.iter().filter(|op| op.kind == kind).map(|op| op.offset / 4096).collect();
        let expected: Vec<u64> = (0..blocks.len() as u64).map(|n| n * 2 % 12).collect();
        assert_eq!(blocks, expected, "{kind:?}");
    }
}

proptest! {
    #[test]
    fn every_operation_lies_inside_its_region(a in access(), start in 0u64..1 << 40, length in 4096u64..1 << 22, seed in any::<u64>()) {
        let mut s = stream(Direction::Mix(Mix::ReadPercent(50)), 4096);
        s.access = a;
        s.amount = Amount::Operations(500);
        let region = Region { start, length };
        let made = StreamOps::new(&s, region, seed, Place::default());
        if matches!(&s.access, Access::Preconditioning { rounds, .. } if u64::from(*rounds) > length / 4096) {
            return Ok(());
        }
        let mut o = made.unwrap();
        while let Some(op) = o.next(&Done::default()) {
            prop_assert!(op.offset >= start && op.offset + u64::from(op.bytes) <= start + length);
        }
    }

    #[test]
    fn sizes_of_a_range_stay_inside_it(seed in any::<u64>(), a in prop_oneof![Just(Access::Sequential), Just(Access::Uniform)]) {
        let mut s = stream(Direction::Read, 4096);
        s.access = a;
        s.record = Record::Between { min: Bytes(4096), max: Bytes(65536) };
        s.amount = Amount::Operations(200);
        for op in ops(&s, 1 << 20, seed, 999) {
            prop_assert!(op.bytes >= 4096 && op.bytes <= 65536 && op.bytes % 4096 == 0);
            prop_assert!(op.offset + u64::from(op.bytes) <= 1 << 20);
        }
    }

    #[test]
    fn a_pass_of_changing_sizes_comes_to_every_unit_once(
        seed in any::<u64>(),
        length in 65536u64..1 << 20,
        split in any::<bool>(),
    ) {
        let mut s = stream(Direction::Write, 4096);
        s.record = if split {
            Record::Split(vec![(Bytes(4096), 1.0), (Bytes(12288), 1.0), (Bytes(65536), 2.0)])
        } else {
            Record::Between { min: Bytes(4096), max: Bytes(65536) }
        };
        s.amount = Amount::Passes(2);
        let mut end = 0;
        let whole = length / 4096 * 4096;
        for op in ops(&s, length, seed, 9999) {
            prop_assert_eq!(op.offset, end % whole);
            prop_assert!(op.bytes > 0 && op.bytes % 4096 == 0);
            end += u64::from(op.bytes);
        }
        prop_assert_eq!(end, 2 * whole);
    }

    #[test]
    fn the_same_seed_gives_the_same_stream(a in access(), seed in any::<u64>()) {
        let mut s = stream(Direction::Mix(Mix::ReadPercent(30)), 4096);
        s.access = a;
        prop_assert_eq!(ops(&s, 1 << 20, seed, 300), ops(&s, 1 << 20, seed, 300));
    }
}

#[test]
fn reads_that_are_drawn_and_writes_in_a_row() {
    let mut stream = Stream::new("f", Direction::Mix(Mix::ReadPercent(50)), Bytes(4096));
    stream.access =
        Access::PartlyRandom { order: Box::new(Access::Permuted), reads_percent: 100, writes_percent: 0 };
    let all = ops(&stream, 256 * 4096, 7, usize::MAX);
    assert_eq!(all.len(), 256);
    let of =
        |kind: OpCode| all.iter().filter(|op| op.kind == kind).map(|op| op.offset / 4096).collect::<Vec<_>>();
    let (reads, writes) = (of(OpCode::Read), of(OpCode::Write));
    assert_eq!(writes, (0..writes.len() as u64).collect::<Vec<_>>());
    assert!(reads.windows(2).filter(|two| two[0] + 1 == two[1]).count() < 10, "{reads:?}");
    // Half of them jump to a random place, and the others follow.
    stream.access =
        Access::PartlyRandom { order: Box::new(Access::Uniform), reads_percent: 50, writes_percent: 50 };
    stream.direction = Direction::Read;
    let half = ops(&stream, 4096 * 4096, 7, usize::MAX);
    let follow = half.windows(2).filter(|two| two[0].offset + 4096 == two[1].offset).count();
    assert!((1900..2200).contains(&follow), "{follow} of 4096");
}

#[test]
fn the_last_records_of_a_pass_have_sizes_of_the_list() {
    let mut s = stream(Direction::Read, 4096);
    s.record = Record::Split(vec![(Bytes(4096), 1.0), (Bytes(65536), 99.0)]);
    s.amount = Amount::Passes(5);
    let sizes: Vec<u32> = ops(&s, 60 << 10, 1, 99).iter().map(|op| op.bytes).collect();
    assert_eq!(sizes, [4096; 75]);
}
