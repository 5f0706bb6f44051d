//! `verify_backlog`: a job reads back and checks while it still writes. Which blocks come when follows from the order of the writes, so
//! the job becomes a list of operations: so many writes, then reads of the oldest ones that were not read back.

use super::super::Wrong;
use super::super::settings::Settings;
use fathom_workload::ops::{Done, Place, Region, StreamOps};
use fathom_workload::{
    Access, Amount, Bytes, Data, Direction, Does, Group, ListedOp, Mix, Pace, Program, Stream, Verify,
};
use std::collections::VecDeque;

const BACKLOG: &str = "verify_backlog";
/// Writes of a list, which is in memory.
const MOST: u64 = 1 << 22;

/// When how much is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// So many writes that were not read back let
    after: u64,
    /// so many of them be read back.
    batch: u64,
}

/// The backlog of a job, if it has one.
pub fn of(s: &Settings, stream: &Stream) -> Result<Option<Backlog>, Wrong> {
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
    let unit = stream.record.unit().0.max(1);
    let pass = stream.length.map_or(0, |length| length.0) / unit;
    let writes = match stream.amount {
        Amount::Endless => u64::MAX,
        Amount::Operations(n) => n,
        Amount::Bytes(bytes) => bytes.0 / unit,
        Amount::Pass => pass,
        Amount::Passes(n) => pass.saturating_mul(n),
    };
    if writes > MOST {
        return Err(s
            .wrong(
                BACKLOG,
                format!("the order of writes and reads is made before the start, of {MOST} writes at most"),
            )
            .hint("number_ios, io_size or size; no time_based"));
    }
    Ok(Some(Backlog { after, batch: batch.unwrap_or(after) }))
}

impl Backlog {
    /// Makes a list of what the stream of a clone writes and reads back.
    pub fn list(self, group: &mut Group, seed: u64, place: Place) {
        for thread in &mut group.threads {
            let Program::Stream(stream) = &mut thread.program else { continue };
            let Some(list) = self.operations(stream, seed, place) else { continue };
            stream.access = Access::Listed(list);
            stream.direction = Direction::Mix(Mix::ReadPercent(50));
            stream.amount = Amount::Pass;
            stream.verify = if matches!(stream.data, Data::Sealed(_)) { Verify::Full } else { Verify::No };
            // The list says where it works.
            (stream.start, stream.length) = (Bytes(0), None);
        }
    }

    fn operations(self, stream: &Stream, seed: u64, place: Place) -> Option<Vec<ListedOp>> {
        let region = Region { start: stream.start.0, length: stream.length.map_or(0, |length| length.0) };
        // Syncs come after so many writes of the list as well.
        let writes = Stream { sync_every: None, ..stream.clone() };
        let mut ops = StreamOps::new(&writes, region, seed, place)?;
        let read = |op: ListedOp| ListedOp { does: Some(Does::Read), ..op };
        let (mut list, mut waiting) = (Vec::new(), VecDeque::new());
        while let Some(op) = ops.next(&Done::default()) {
            let write = ListedOp {
                offset: op.offset,
                bytes: op.bytes,
                does: Some(Does::Write),
                ..ListedOp::default()
            };
            list.push(write);
            waiting.push_back(write);
            if waiting.len() as u64 >= self.after {
                let batch = usize::try_from(self.batch).unwrap_or(usize::MAX).min(waiting.len());
                list.extend(waiting.drain(..batch).map(read));
            }
        }
        list.extend(waiting.into_iter().map(read));
        Some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Access, Does, Program, Verify};

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
    fn what_has_no_order_is_refused() {
        for (args, words) in [
            ("--ioengine=libaio --iodepth=4", "iodepth=1"),
            ("--rate_iops=10", "a rate or a pause"),
            ("--time_based --runtime=5", "writes at most"),
        ] {
            let why =
                refused(&format!("--name=b --rw=write --size=1m --verify=md5 --verify_backlog=4 {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }
}
