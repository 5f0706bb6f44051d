//! Exactly the written extents are remembered, and all of them are read back or left.

use super::super::{Place, Region, StreamOps};
use super::*;
use crate::{Access, Amount, Backend, Bytes, Direction, Mix, Record, Stream, SyncEvery, TrimWritten};
use proptest::prelude::*;
use std::collections::VecDeque;

const BLOCK: u64 = 4096;

fn kept(stream: &Stream, blocks: u64, how: KeepWritten) -> Kept<'static> {
    let region = Region { start: 0, length: blocks * BLOCK };
    let ops = StreamOps::new(stream, region, 7, Place::default()).unwrap();
    Kept::new(Box::new(ops), how, stream.full_queue(), 7, Place::default()).by_pass(how, region.length)
}

/// "W0 W1 R0 ...": operations and their blocks, for a worker with one operation in flight; remembered extents left over follow a bar.
fn told(mut ops: Kept<'_>, most: usize) -> String {
    let mut done = Done::default();
    let mut words = Vec::new();
    while words.len() < most
        && let Some(op) = ops.next(&done)
    {
        let block = op.offset / BLOCK;
        match op.kind {
            OpCode::Write => {
                done.writes += 1;
                words.push(format!("W{block}"));
            }
            OpCode::Trim => words.push(format!("T{block}")),
            _ => {
                done.reads += 1;
                let letter = match ops.expected(&op) {
                    Expected::Written => 'R',
                    Expected::Anything => 'r',
                    Expected::Zeros => 'Z',
                };
                words.push(format!("{letter}{block}"));
            }
        }
        ops.completed(&op);
    }
    words.push("|".into());
    let word = |extent: &Extent| format!("{}{}", if extent.zeros { "z" } else { "" }, extent.offset / BLOCK);
    words.extend(ops.left_to_read().unwrap().iter().map(word));
    words.join(" ")
}

fn writing(access: Access) -> Stream {
    Stream { access, ..Stream::new("f", Direction::Write, Bytes(BLOCK)) }
}

fn backlog(after: u64, batch: u64) -> KeepWritten {
    KeepWritten { after, batch, ..KeepWritten::default() }
}

#[test]
fn the_order_is_that_of_fio() {
    // fio 3.33, from strace and its iologs: verify_backlog=4, with verify_backlog_batch=2, and 1.
    let of = |blocks, how| told(kept(&writing(Access::Sequential), blocks, how), 99);
    assert_eq!(of(6, backlog(4, 0)), "W0 W1 W2 W3 R0 R1 R2 R3 W4 W5 R4 R5 |");
    assert_eq!(
        of(12, backlog(4, 2)),
        "W0 W1 W2 W3 R0 R1 W4 W5 R2 R3 W6 W7 R4 R5 W8 W9 R6 R7 W10 W11 R8 R9 R10 R11 |"
    );
    assert_eq!(of(2, backlog(1, 0)), "W0 R0 W1 R1 |");
    // fio 3.42: number_ios=5 with verify_backlog=2 and 4.
    let at_most = |after| KeepWritten { most: 5, ..backlog(after, 0) };
    assert_eq!(of(12, at_most(2)), "W0 W1 R0 R1 W2 R2 |");
    assert_eq!(of(12, at_most(4)), "W0 W1 W2 W3 R0 R1 R2 R3 |");
    assert_eq!(of(12, at_most(9)), "W0 W1 W2 W3 W4 R0 R1 R2 R3 R4 |");
    assert_eq!(of(3, KeepWritten::default()), "W0 W1 W2 | 0 1 2");
}

/// Operations up to the last write, with a queue that is refilled before `at_once` of its oldest operations complete.
fn queued(mut ops: Kept<'_>, depth: usize, at_once: usize) -> String {
    let (mut flights, mut words) = (VecDeque::new(), Vec::new());
    while let Some(op) = ops.next(&Done::default()) {
        if op.kind == OpCode::Evict {
            flights.drain(..).for_each(|op| ops.completed(&op));
            continue;
        }
        words.push(format!("{}{}", if op.kind == OpCode::Write { 'W' } else { 'R' }, op.offset / BLOCK));
        flights.push_back(op);
        if flights.len() == depth {
            flights.drain(..at_once).for_each(|op| ops.completed(&op));
        }
    }
    let last = words.iter().rposition(|word| word.starts_with('W')).expect("a write");
    words[..=last].join(" ")
}

#[test]
fn a_batch_waits_for_writes_in_flight() {
    let of = |access, blocks, depth, how| {
        let backend = Backend::Posix;
        let stream = Stream { backend, queue_depth: depth, ..writing(access) };
        let one_by_one = queued(kept(&stream, blocks, how), depth as usize, 1);
        // An engine may reap many completions at once.
        assert_eq!(queued(kept(&stream, blocks, how), depth as usize, depth as usize), one_by_one);
        one_by_one
    };
    // fio 3.42 with libaio and iodepth=4 (`--debug=io`): verify_backlog=4 with verify_backlog_batch=6, and 10; verify_backlog=3.
    assert_eq!(
        of(Access::Sequential, 16, 4, backlog(4, 6)),
        "W0 W1 W2 W3 R0 R1 R2 R3 W4 W5 W6 W7 R4 R5 W8 W9 W10 W11 W12 W13 R6 R7 R8 R9 R10 R11 W14 W15"
    );
    assert_eq!(
        of(Access::Sequential, 16, 4, backlog(4, 10)),
        "W0 W1 W2 W3 R0 R1 R2 R3 W4 W5 W6 W7 R4 R5 R6 R7 W8 W9 W10 W11 R8 R9 W12 W13 W14 W15"
    );
    assert_eq!(of(Access::Sequential, 8, 4, backlog(3, 0)), "W0 W1 W2 W3 W4 W5 R0 R1 R2 R3 R4 R5 W6 W7");
    // One at a time: a batch larger than the remembered extents goes on.
    assert_eq!(
        of(Access::Sequential, 16, 1, backlog(4, 6)),
        "W0 W1 W2 W3 R0 R1 R2 R3 W4 R4 W5 R5 W6 W7 W8 W9 R6 R7 R8 R9 W10 R10 W11 R11 W12 W13 W14 W15"
    );
    // In offset order, the first extent may always be the one handed out last.
    let by_offset = KeepWritten { by_offset: true, ..backlog(4, 0) };
    assert_eq!(of(Access::Backward, 8, 2, by_offset), "W7 W6 W5 W4 W3 W2 W1 W0");
}

#[test]
fn reads_of_a_batch_pause_and_those_at_the_end_of_a_pass_do_not() {
    // fio 3.42 with thinktime, verify_backlog=2 and loops=2, from strace.
    let how = KeepWritten { each_pass: true, ..backlog(2, 0) };
    let stream = Stream { amount: Amount::Passes(2), ..writing(Access::Sequential) };
    let mut ops = kept(&stream, 3, how);
    let mut told = String::new();
    while let Some(op) = ops.next(&Done::default()) {
        if op.kind != OpCode::Evict {
            told.push(if op.kind == OpCode::Write { 'W' } else { 'R' });
            told.push_str(if ops.pauses(&op) { "p " } else { " " });
        }
        ops.completed(&op);
    }
    assert_eq!(told, "Wp Wp Rp Rp Wp R Wp Wp Rp Rp Wp R ");
}

#[test]
fn each_pass_is_read_back_before_the_next_one() {
    let how = KeepWritten { each_pass: true, ..KeepWritten::default() };
    let stream = Stream { amount: Amount::Passes(2), ..writing(Access::Sequential) };
    assert_eq!(told(kept(&stream, 2, how), 99), "W0 W1 R0 R1 W0 W1 R0 R1 |");
    let part = Stream { amount: Amount::Operations(3), ..writing(Access::Sequential) };
    assert_eq!(told(kept(&part, 2, how), 99), "W0 W1 R0 R1 W0 R0 |");
    // Also with a queue longer than a pass, and while writing; the second case is from fio 3.42 with iodepth=4 and verify_backlog=3.
    let queued = |blocks, depth, how| {
        let stream = Stream { backend: Backend::Posix, queue_depth: depth, ..stream.clone() };
        queued(kept(&stream, blocks, how), depth as usize, 1)
    };
    assert_eq!(queued(3, 8, how), "W0 W1 W2 R0 R1 R2 W0 W1 W2");
    assert_eq!(
        queued(8, 4, KeepWritten { after: 3, ..how }),
        "W0 W1 W2 W3 W4 W5 R0 R1 R2 R3 R4 R5 W6 W7 R6 R7 W0 W1 W2 W3 W4 W5 R0 R1 R2 R3 R4 R5 W6 W7"
    );
}

#[test]
fn bytes_read_back_count_towards_the_end_of_passes() {
    let how = |moves, passes| KeepWritten {
        each_pass: true,
        moves: Bytes(moves * BLOCK),
        passes,
        ..KeepWritten::default()
    };
    let stream = Stream { amount: Amount::Passes(9), ..writing(Access::Sequential) };
    let pass = "W0 W1 R0 R1 ";
    for (how, passes) in [(how(1, 0), 1), (how(4, 0), 1), (how(5, 1), 2), (how(1, 3), 3), (how(999, 0), 9)] {
        assert_eq!(told(kept(&stream, 2, how), 99), format!("{}|", pass.repeat(passes)), "{how:?}");
    }
    // The operation limit may end a pass anywhere; the rest of it is read back; fio 3.42 with number_ios.
    let most = KeepWritten { most: 5, ..how(999, 0) };
    assert_eq!(told(kept(&stream, 2, most), 99), "W0 W1 R0 R1 W0 R0 |");
    // After a warm-up it starts over.
    let mut ops = kept(&stream, 2, how(5, 0));
    for _ in 0..4 {
        let op = ops.next(&Done::default()).unwrap();
        ops.completed(&op);
    }
    ops.refill(None);
    assert_eq!(told(ops, 99), format!("{}|", pass.repeat(2)));
}

#[test]
fn a_sync_between_passes_may_be_left_out() {
    let how = KeepWritten { each_pass: true, ..KeepWritten::default() };
    let sync_every = Some(SyncEvery { writes: 2, ..SyncEvery::default() });
    let stream = Stream { amount: Amount::Passes(2), sync_every, ..writing(Access::Sequential) };
    let syncs = |how| {
        let mut ops = kept(&stream, 4, how);
        let mut syncs = 0;
        while let Some(op) = ops.next(&Done::default()) {
            syncs += u32::from(matches!(op.kind, OpCode::Sync { .. }));
            ops.completed(&op);
        }
        syncs
    };
    assert_eq!(syncs(how), 4);
    assert_eq!(syncs(KeepWritten { forgets_sync: true, ..how }), 2, "that inside of each pass is left");
}

#[test]
fn an_unfinished_write_leaves_the_older_extent() {
    let stream = Stream { amount: Amount::Passes(3), ..writing(Access::Sequential) };
    let mut ops = kept(&stream, 1, KeepWritten::default());
    let done = Done::default();
    let flights: Vec<Op> = (0..3).filter_map(|_| ops.next(&done)).collect();
    ops.completed(&flights[0]);
    ops.completed(&flights[1]);
    assert_eq!(ops.left_to_read().map(|left| left.len()), Some(1));
}

#[test]
fn written_extents_are_trimmed_in_batches() {
    let of = |access, trim| {
        let how = KeepWritten { trim: Some(trim), ..KeepWritten::default() };
        told(kept(&writing(access), 6, how), 99)
    };
    let all = TrimWritten { after: 3, batch: 0, percent: 100, zeros: true };
    // fio 3.42, by strace: trim_percentage=100, trim_backlog=3; the second with trim_backlog_batch=1, the third with trim_verify_zero=0.
    assert_eq!(of(Access::Sequential, all), "W0 W1 W2 T0 T1 T2 W3 W4 W5 T3 T4 T5 | z0 z1 z2 z3 z4 z5");
    let one = TrimWritten { batch: 1, ..all };
    assert_eq!(of(Access::Sequential, one), "W0 W1 W2 T0 W3 W4 W5 T1 | z0 z1 2 3 4 5");
    let unread = TrimWritten { zeros: false, ..one };
    assert_eq!(of(Access::Sequential, unread), "W0 W1 W2 T0 W3 W4 W5 T1 | 2 3 4 5");
    let none = TrimWritten { percent: 0, ..all };
    assert_eq!(of(Access::Sequential, none), "W0 W1 W2 W3 W4 W5 | 0 1 2 3 4 5");
}

#[test]
fn rewritten_extents_are_no_longer_zeros() {
    let trim = TrimWritten { after: 4, batch: 0, percent: 100, zeros: true };
    let stream = Stream { amount: Amount::Passes(2), ..writing(Access::Sequential) };
    let how = KeepWritten { by_offset: true, trim: Some(trim), ..KeepWritten::default() };
    assert_eq!(told(kept(&stream, 3, how), 99), "W0 W1 W2 W0 T1 T2 T0 W1 W2 | z0 1 2");
}

#[test]
fn overwritten_extents_take_no_slot_and_no_memory() {
    let trim = TrimWritten { after: 4, batch: 2, percent: 100, zeros: true };
    let stream = Stream { amount: Amount::Passes(2500), ..writing(Access::Sequential) };
    let how = KeepWritten { by_offset: true, trim: Some(trim), ..KeepWritten::default() };
    let mut ops = kept(&stream, 4, how);
    let done = Done::default();
    let (mut writes, mut trims) = (0, 0);
    while let Some(op) = ops.next(&done) {
        *if op.kind == OpCode::Trim { &mut trims } else { &mut writes } += 1;
        ops.completed(&op);
        assert!(ops.trims.as_ref().expect("trims").waiting() <= 2 * 4 + 1025);
    }
    assert_eq!((writes, trims), (10_000, 5_000));
}

#[test]
fn a_trim_in_hand_at_the_end_of_a_warm_up_is_none_of_the_amount() {
    let trim = TrimWritten { after: 1, batch: 0, percent: 100, zeros: true };
    let mut ops =
        kept(&writing(Access::Sequential), 4, KeepWritten { trim: Some(trim), ..KeepWritten::default() });
    let done = Done::default();
    let write = ops.next(&done).unwrap();
    ops.completed(&write);
    let trim = ops.next(&done).unwrap();
    assert_eq!(trim.kind, OpCode::Trim);
    ops.refill(Some(&trim));
    ops.completed(&trim);
    let mut writes = 0;
    while let Some(op) = ops.next(&done) {
        writes += u32::from(op.kind == OpCode::Write);
        ops.completed(&op);
    }
    assert_eq!(writes, 4);
}

#[test]
fn the_newest_of_overlapping_extents_is_read_back() {
    // fio 3.33 with norandommap and bsrange=4k-16k: W0 W8+3 W10+2 W5+4 W4 W10 are read back as 0, 4, 5+4, 10.
    let mut written = Written::new(true);
    let extent = |block: u64, blocks: u32| Extent {
        file: 0,
        offset: block * BLOCK,
        bytes: blocks * 4096,
        zeros: false,
    };
    for (number, (block, blocks)) in (0u64..).zip([(0, 1), (8, 3), (10, 2), (5, 4), (4, 1), (10, 1)]) {
        written.begin(&extent(block, blocks), number);
        assert!(written.done(&extent(block, blocks), number));
    }
    let found: Vec<(u64, u32)> = written.each().map(|(e, _)| (e.offset / BLOCK, e.bytes / 4096)).collect();
    assert_eq!(found, [(0, 1), (4, 1), (5, 4), (10, 1)]);
    // A write handed out earlier but completed later changes nothing.
    assert!(!written.done(&extent(4, 1), 1));
    // The same offset in another file is a different extent.
    assert!(written.begin(&Extent { file: 1, ..extent(0, 16) }, 9).is_empty());
    assert_eq!(written.all.len(), 5);
}

#[test]
fn ordinary_reads_of_a_mix_are_not_checked() {
    let mix = Stream {
        direction: Direction::Mix(Mix::ReadPercent(50)),
        amount: Amount::Operations(40),
        ..writing(Access::Uniform)
    };
    let text = told(kept(&mix, 16, backlog(2, 0)), 999);
    let count = |letter| text.matches(letter).count();
    assert_eq!(count('W') + count('r'), 40, "{text}");
    assert!(count('W') > 9 && count('R') > 2 && count('r') > 9, "{text}");
    assert!(text.ends_with('|'), "{text}");
    // Completions of read-backs do not count for a mix by completions.
    let by_completions = Stream { direction: Direction::Mix(Mix::ReadsPerWrite(1.0)), ..mix };
    let text = told(kept(&by_completions, 16, backlog(1, 0)), 999);
    assert_eq!((text.matches('W').count(), text.matches('r').count()), (20, 20), "{text}");
}

#[test]
fn writes_in_flight_are_not_read_back_and_overwritten_data_is_not_checked() {
    let mut ops =
        kept(&Stream { amount: Amount::Operations(9), ..writing(Access::Same(3)) }, 8, backlog(1, 0));
    let done = Done::default();
    let first = ops.next(&done).unwrap();
    let second = ops.next(&done).unwrap();
    ops.completed(&first);
    // The second write to the same range is in flight: a third operation comes instead of a read-back.
    let third = ops.next(&done).unwrap();
    assert_eq!((third.kind, third.offset), (OpCode::Write, 3 * BLOCK));
    ops.completed(&second);
    ops.completed(&third);
    let back = ops.next(&done).unwrap();
    assert_eq!(back.kind, OpCode::Read);
    assert_eq!(ops.expected(&back), Expected::Written);
    let fourth = ops.next(&done).unwrap();
    assert_eq!(fourth.kind, OpCode::Write);
    assert_eq!(ops.expected(&back), Expected::Anything, "it may read the one or the other");
    ops.completed(&back);
    ops.completed(&fourth);
    assert_eq!(
        ops.left_to_read().unwrap(),
        [Extent { file: 0, offset: 3 * BLOCK, bytes: 4096, zeros: false }]
    );
}

#[test]
fn unfinished_operations_are_left_out() {
    let mut ops = kept(&writing(Access::Sequential), 4, backlog(1, 0));
    let done = Done::default();
    let write = ops.next(&done).unwrap();
    ops.completed(&write);
    let back = ops.next(&done).unwrap();
    assert_eq!(back.kind, OpCode::Read);
    ops.refill(Some(&back));
    let unfinished = ops.next(&done).unwrap();
    assert_eq!((unfinished.kind, unfinished.offset), (OpCode::Write, BLOCK));
    assert_eq!(ops.left_to_read().unwrap(), [Extent { file: 0, offset: 0, bytes: 4096, zeros: false }]);
}

#[test]
fn a_list_is_read_once() {
    let extent = |block: u64| Extent { file: 2, offset: block * BLOCK, bytes: 512, zeros: false };
    let mut back = ReadBack::new(vec![extent(5), extent(1)]);
    let done = Done::default();
    let op = back.next(&done).unwrap();
    assert_eq!((op.kind, op.file, op.offset, op.bytes), (OpCode::Read, 2, 5 * BLOCK, 512));
    assert_eq!(back.expected(&op), Expected::Written);
    assert_eq!(back.next(&done).unwrap().offset, BLOCK);
    assert_eq!(back.next(&done), None);
    back.refill(None);
    assert_eq!(back.next(&done), Some(op));
    assert_eq!(ReadBack::new(Vec::new()).next(&done), None);
}

proptest! {
    /// For any order of writes and completions: extents read back and checked were written before and not changed since; and in the end
    /// every completed write is overlapped by a later write, read back and checked, or left.
    #[test]
    fn what_was_written_is_what_is_read_back(
        access in prop::sample::select(vec![
            Access::Sequential, Access::Permuted, Access::Uniform, Access::Backward, Access::Zipf { theta: 1.2 }
        ]),
        changing: bool, reads in prop::sample::select(vec![0u8, 30, 70]), amount in 1u64..120,
        after in 0u64..9, batch in 0u64..9, by_offset: bool, (start, blocks) in (0u64..200_000, 4u64..40), depth in 1usize..9, queue in 0u32..9,
        cut in 1usize..300, choices in prop::collection::vec(any::<prop::sample::Index>(), 300), seed: u64,
    ) {
        let record = if changing {
            Record::Between { min: Bytes(BLOCK), max: Bytes(4 * BLOCK) }
        } else {
            Record::Fixed(Bytes(BLOCK))
        };
        let stream = Stream {
            record,
            direction: Direction::Mix(Mix::ReadPercent(reads)),
            amount: Amount::Operations(amount),
            ..writing(access)
        };
        // Blocks may begin at offsets that are no multiple of their size.
        let region = Region { start, length: blocks * BLOCK };
        let inner = StreamOps::new(&stream, region, seed, Place::default()).unwrap();
        let mut ops = Kept::new(Box::new(inner), KeepWritten { by_offset, after, batch, ..KeepWritten::default() }, queue, 1, Place::default());
        let (mut done, mut flights, mut handed) = (Done::default(), Vec::<(Op, usize)>::new(), 0usize);
        // Writes in the order they were handed out, with flags for done and read back.
        let mut writes: Vec<(Extent, usize, bool, bool)> = Vec::new();
        let mut choice = choices.iter().cycle();
        loop {
            let next = if flights.len() < depth && handed < cut { ops.next(&done) } else { None };
            if let Some(op) = next {
                handed += 1;
                if op.kind == OpCode::Write {
                    writes.push((Extent::of(&op), handed, false, false));
                }
                flights.push((op, handed));
                continue;
            }
            if flights.is_empty() {
                break;
            }
            let (op, since) = flights.swap_remove(choice.next().unwrap().index(flights.len()));
            let extent = Extent::of(&op);
            if op.kind == OpCode::Write {
                done.writes += 1;
                // Of two identical writes the older one counts as done, as they are indistinguishable.
                writes.iter_mut().find(|w| w.0 == extent && !w.2).unwrap().2 = true;
            } else {
                done.reads += 1;
                if ops.expected(&op) != Expected::Anything {
                    prop_assert!(writes.iter().all(|w| w.1 < since || !w.0.overlaps(&extent)), "changed since");
                    let newest = writes.iter_mut().rfind(|w| w.0.overlaps(&extent)).unwrap();
                    prop_assert!(newest.0 == extent && newest.2, "{extent:?} is not what was written last");
                    newest.3 = true;
                }
            }
            ops.completed(&op);
        }
        let left = ops.left_to_read().unwrap();
        for (number, (extent, _, is_done, read)) in writes.iter().enumerate() {
            let overwritten = writes[number + 1..].iter().any(|later| later.2 && later.0.overlaps(extent));
            if overwritten {
                prop_assert!(!left.contains(extent) || writes[number + 1..].iter().any(|w| w.0 == *extent), "{extent:?}");
            } else {
                prop_assert!(!is_done || *read != left.contains(extent), "{extent:?}: {read}");
            }
        }
        prop_assert!(left.iter().all(|extent| writes.iter().any(|w| w.2 && w.0 == *extent)), "never written");
        if by_offset {
            prop_assert!(left.windows(2).all(|two| two[0].end() <= two[1].offset));
        }
    }
}

#[test]
fn failed_writes_and_what_they_may_have_overwritten_are_not_read_back() {
    let mut ops =
        kept(&Stream { amount: Amount::Passes(2), ..writing(Access::Sequential) }, 4, KeepWritten::default());
    let mut done = Done::default();
    let mut number = 0;
    while let Some(op) = ops.next(&done) {
        number += 1;
        // The second block of the first pass, and the first and third of the second.
        if [2, 5, 7].contains(&number) {
            ops.failed(&op)
        } else {
            ops.completed(&op)
        }
        done.writes += 1;
    }
    assert_eq!(number, 8);
    let left: Vec<u64> = ops.left_to_read().unwrap().iter().map(|extent| extent.offset / BLOCK).collect();
    assert_eq!(left, [1, 3]);
}

#[test]
fn failed_reads_do_not_count_towards_the_limit() {
    let how = KeepWritten { most: 4, ..backlog(1, 0) };
    let mut ops = kept(&writing(Access::Sequential), 9, how);
    let mut words = String::new();
    while let Some(op) = ops.next(&Done::default()) {
        words.push(if op.kind == OpCode::Write { 'W' } else { 'R' });
        // The first write and the first read-back fail.
        if [1, 3].contains(&words.len()) { ops.failed(&op) } else { ops.completed(&op) }
    }
    assert_eq!(words, "WWRWRWR");
}
