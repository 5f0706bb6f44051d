//! What is read back, where that is not all of a file: with `verify_backlog` a job checks while it still writes, and becomes a list of
//! operations, so many writes, then reads of the oldest ones that were not read back; and a job that does not write every block once
//! reads a list of those that it wrote. Both follow from the order of the writes, which is known before the start.

use super::super::Wrong;
use super::super::settings::Settings;
use super::what::Direction as Rw;
use fathom_workload::ops::{Done, OpKind, Place, Region, StreamOps};
use fathom_workload::{
    Access, Amount, Bytes, Data, Direction, Does, Group, ListedOp, Mix, Pace, Program, Stream, Verify,
};
use std::collections::{HashSet, VecDeque};

const BACKLOG: &str = "verify_backlog";
/// Writes of the lists of all clones, which are in memory, and in the store as a part of the workload.
const MOST: u64 = 1 << 20;

/// When how much is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// So many writes that were not read back let
    after: u64,
    /// so many of them be read back.
    batch: u64,
}

/// The backlog of a job, if it has one.
pub fn of(s: &Settings, stream: &Stream, rw: Rw) -> Result<Option<Backlog>, Wrong> {
    let batch = s.number("verify_backlog_batch")?.filter(|n| *n > 0);
    let Some(after) = s.number(BACKLOG)?.filter(|n| *n > 0) else { return Ok(None) };
    if stream.queue_depth > 1 {
        return Err(s
            .wrong(
                BACKLOG,
                "what is still being written cannot be read back, so that one operation goes after the other",
            )
            .hint("iodepth=1, or leave it out: then a job reads back when it has written all"));
    }
    if stream.pace != Pace::default() {
        return Err(s
            .wrong(BACKLOG, "a rate or a pause would hold for the reads, too")
            .hint("leave it out: then a job reads back when it has written all"));
    }
    if rw.mixed {
        return Err(s
            .wrong(BACKLOG, "of a mix, what was written is read back when it is done")
            .hint("leave it out, or a job that writes and one that reads"));
    }
    countable(s, BACKLOG, stream)?;
    Ok(Some(Backlog { after, batch: batch.unwrap_or(after) }))
}

/// Whether it is known before the start how many operations there are, and they can be held in memory.
pub fn countable(s: &Settings, name: &'static str, stream: &Stream) -> Result<(), Wrong> {
    let unit = stream.record.unit().0.max(1);
    let pass = stream.length.map_or(0, |length| length.0) / unit;
    let operations = match stream.amount {
        Amount::Endless => u64::MAX,
        Amount::Operations(n) => n,
        Amount::Bytes(bytes) => bytes.0 / unit,
        Amount::Pass => pass,
        Amount::Passes(n) => pass.saturating_mul(n),
    };
    let clones = u64::from(s.count("numjobs", 1, 1)?);
    if operations.saturating_mul(clones) <= MOST {
        return Ok(());
    }
    Err(s
        .wrong(
            name,
            format!(
                "what is read back when is found out before the start, of {MOST} writes at most, those of all clones"
            ),
        )
        .hint("number_ios, io_size, size or fewer clones; no time_based"))
}

/// Lets a clone read back just what it wrote: every block once, in the order of the first writes.
pub fn read_back(group: &mut Group, wrote: &Group, seed: u64, place: Place) {
    for (thread, writing) in group.threads.iter_mut().zip(&wrote.threads) {
        let (Program::Stream(stream), Program::Stream(writing)) = (&mut thread.program, &writing.program)
        else {
            continue;
        };
        let mut seen = HashSet::new();
        let mut list = writes(writing, seed, place);
        list.retain(|op| seen.insert((op.offset, op.bytes)));
        if list.is_empty() {
            // A mix that happens to read only: there is nothing to check.
            (stream.verify, stream.amount) = (Verify::No, Amount::Operations(1));
            continue;
        }
        list.iter_mut().for_each(|op| op.does = Some(Does::Read));
        stream.access = Access::Listed(list);
        (stream.start, stream.length) = (Bytes(0), None);
    }
}

/// What a stream writes.
fn writes(stream: &Stream, seed: u64, place: Place) -> Vec<ListedOp> {
    let region = Region { start: stream.start.0, length: stream.length.map_or(0, |length| length.0) };
    // Syncs come after so many writes of a list as well.
    let alone = Stream { sync_every: None, ..stream.clone() };
    let mut list = Vec::new();
    let Some(mut ops) = StreamOps::new(&alone, region, seed, place) else { return list };
    // A mix by percentages does not depend on what is done.
    while let Some(op) = ops.next(&Done::default()) {
        if op.kind == OpKind::Write {
            let does = Some(Does::Write);
            list.push(ListedOp { offset: op.offset, bytes: op.bytes, does, ..ListedOp::default() });
        }
    }
    list
}

impl Backlog {
    /// Makes a list of what the stream of a clone writes and reads back.
    pub fn list(self, group: &mut Group, seed: u64, place: Place) {
        for thread in &mut group.threads {
            let Program::Stream(stream) = &mut thread.program else { continue };
            let list = self.ordered(writes(stream, seed, place));
            if list.is_empty() {
                continue;
            }
            stream.access = Access::Listed(list);
            stream.direction = Direction::Mix(Mix::ReadPercent(50));
            stream.amount = Amount::Pass;
            stream.verify = if matches!(stream.data, Data::Sealed(_)) { Verify::Full } else { Verify::No };
            // The list says where it works.
            (stream.start, stream.length) = (Bytes(0), None);
        }
    }

    fn ordered(self, writes: Vec<ListedOp>) -> Vec<ListedOp> {
        let read = |op: ListedOp| ListedOp { does: Some(Does::Read), ..op };
        let (mut list, mut waiting) = (Vec::with_capacity(2 * writes.len()), VecDeque::new());
        for write in writes {
            list.push(write);
            waiting.push_back(write);
            if waiting.len() as u64 >= self.after {
                let batch = usize::try_from(self.batch).unwrap_or(usize::MAX).min(waiting.len());
                list.extend(waiting.drain(..batch).map(read));
            }
        }
        list.extend(waiting.into_iter().map(read));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::ops::Place;
    use fathom_workload::{Access, Does, ListedOp, Program, Verify};
    use std::collections::BTreeSet;

    /// "W0 W1 R0 ...": what is done, on which block.
    fn order(args: &str) -> String {
        let plan = planned(&format!("--name=b --rw=write --bs=4k --verify=crc32c {args}"));
        assert_eq!(plan.workload.phases.len(), 1, "nothing is left to be read back");
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else { panic!() };
        assert_eq!(stream.verify, Verify::Full);
        let Access::Listed(list) = &stream.access else { panic!("{:?}", stream.access) };
        let letter = |does| if does == Some(Does::Read) { 'R' } else { 'W' };
        let words: Vec<String> =
            list.iter().map(|op| format!("{}{}", letter(op.does), op.offset / 4096)).collect();
        words.join(" ")
    }

    #[test]
    fn the_order_is_that_of_fio() {
        // fio 3.33, by strace and by its iolog.
        assert_eq!(order("--size=24k --verify_backlog=4"), "W0 W1 W2 W3 R0 R1 R2 R3 W4 W5 R4 R5");
        assert_eq!(
            order("--size=48k --verify_backlog=4 --verify_backlog_batch=2"),
            "W0 W1 W2 W3 R0 R1 W4 W5 R2 R3 W6 W7 R4 R5 W8 W9 R6 R7 W10 W11 R8 R9 R10 R11"
        );
        assert_eq!(order("--size=8k --verify_backlog=1"), "W0 R0 W1 R1");
        // What is written in no order, or not all, is read back too.
        let some = order("--size=1m --norandommap --rw=randwrite --number_ios=50 --verify_backlog=7");
        assert_eq!((some.matches('W').count(), some.matches('R').count()), (50, 50));
    }

    #[test]
    fn just_what_was_written_is_read_back() {
        for args in [
            "--rw=randwrite --norandommap",
            "--rw=randrw",
            "--rw=randwrite --bssplit=4k/50:8k/50",
            "--rw=write --number_ios=10",
            "--rw=randwrite --io_size=700k",
        ] {
            let plan = planned(&format!("--name=a --size=256k --bs=4k --verify=crc32c {args}"));
            let stream = |phase: usize| match &plan.workload.phases[phase].groups[0].threads[0].program {
                Program::Stream(stream) => (**stream).clone(),
                Program::Flow(_) => panic!(),
            };
            let place = Place { phase: 0, worker: 0, repetition: 0 };
            let written = super::writes(&stream(0), plan.workload.seed.0, place);
            let Access::Listed(list) = stream(1).access else { panic!("{args}") };
            assert!(!list.is_empty() && list.iter().all(|op| op.does == Some(Does::Read)), "{args}");
            let extents = |ops: &[ListedOp]| -> BTreeSet<(u64, u32)> {
                ops.iter().map(|op| (op.offset, op.bytes)).collect()
            };
            assert_eq!(extents(&list), extents(&written), "{args}");
            assert_eq!(list.len(), extents(&list).len(), "each once: {args}");
            assert_eq!((stream(0).verify, stream(1).verify), (Verify::No, Verify::Full), "{args}");
        }
        let whole = planned("--name=a --size=256k --rw=randwrite --verify=crc32c");
        let Program::Stream(back) = &whole.workload.phases[1].groups[0].threads[0].program else { panic!() };
        assert_eq!(back.access, Access::Permuted, "all of it needs no list");
    }

    #[test]
    fn what_has_no_order_is_refused() {
        for (args, words) in [
            ("--ioengine=libaio --iodepth=4", "iodepth=1"),
            ("--rate_iops=10", "a rate or a pause"),
            ("--time_based --runtime=5", "writes at most, those of all clones"),
            ("--size=4m --numjobs=4096", "writes at most, those of all clones"),
        ] {
            let why =
                refused(&format!("--name=b --rw=write --size=1m --verify=md5 --verify_backlog=4 {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }
}
