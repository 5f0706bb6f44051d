//! The logs of `write_iolog`, readable by `read_iolog` in fio and fathom. Reads and writes are recorded while a job runs; the positions
//! of syncs are derived from the number of writes between them.

use super::super::iolog::IologOutput;
use super::super::plan::{Job, Plan};
use super::log_operations::{Did, Operation};
use fathom_workload::{Does, SyncEvery};
use std::collections::BTreeSet;
use std::path::Path;

/// Text is handed on once it is at least this long.
const PIECE: usize = 1 << 16;
/// Operations sorted at a time.
const BLOCK: usize = 1 << 14;

/// Writes the logs of a run piece by piece. `operations` iterates over a worker's operations in a phase in completion order, and is
/// called repeatedly; `out` appends a text to a file.
///
/// # Errors
/// Any error of `operations`.
pub fn write<E, I: Iterator<Item = Result<Operation, E>>>(
    plan: &Plan,
    operations: impl Fn(u32, u32) -> Result<I, E>,
    out: &mut dyn FnMut(&Path, &str),
) -> Result<(), E> {
    for job in &plan.jobs {
        let (Some(name), Some(place)) = (job.iolog(), job.places.first()) else { continue };
        let path = Path::new(name);
        // Appended one after another, as in fio.
        for clone in 0..job.clones {
            log(job, clone, || operations(place.phase, place.worker + clone), &mut |text| out(path, text))?;
        }
    }
    Ok(())
}

/// The log of a clone of a job.
fn log<E, I: Iterator<Item = Result<Operation, E>>>(
    job: &Job,
    clone: u32,
    read: impl Fn() -> Result<I, E>,
    out: &mut dyn FnMut(&str),
) -> Result<(), E> {
    let files = job.files.get(clone as usize).into_iter().flatten();
    let mut written = IologOutput::new(files.map(|path| path.display().to_string()).collect());
    let mut syncs = Syncs { every: job.stream.sync_every, writes: 0, file: 0 };
    let mut end_ns = 0;
    let mut wrote = BTreeSet::new();
    issued(read, |operation| {
        let Operation { does, start_ns, latency_ns, file, offset, bytes, .. } = *operation;
        end_ns = start_ns.saturating_add(latency_ns).max(end_ns);
        syncs.before(&mut written, start_ns);
        let action = match does {
            Did::Read => Does::Read,
            Did::Write => Does::Write,
            Did::Trim => Does::Trim,
        };
        written.operation(start_ns, action, file, offset, bytes);
        if does == Did::Write {
            wrote.insert(file);
            syncs.file = file;
            syncs.after(&mut written, start_ns.saturating_add(latency_ns));
        }
        written.hand_on(PIECE, out);
    })?;
    // The final sync, beside the periodic ones.
    for file in wrote.into_iter().filter(|_| job.stream.timed.fsync) {
        written.operation(end_ns, Does::Sync, file, 0, 0);
    }
    out(&written.finish());
    Ok(())
}

/// The operations in issue order; those of one submission share a time. A slow operation may complete after any number of others, so
/// they are read twice: an operation can be emitted once it began before all that are still to be read.
fn issued<E, I: Iterator<Item = Result<Operation, E>>>(
    read: impl Fn() -> Result<I, E>,
    mut each: impl FnMut(&Operation),
) -> Result<(), E> {
    // The earliest start in each block, then the earliest in all following blocks.
    let mut behind: Vec<u64> = Vec::new();
    for (number, operation) in read()?.enumerate() {
        let start_ns = operation?.start_ns;
        match behind.last_mut() {
            Some(least) if !number.is_multiple_of(BLOCK) => *least = start_ns.min(*least),
            _ => behind.push(start_ns),
        }
    }
    let mut least = u64::MAX;
    for place in behind.iter_mut().rev() {
        let own = std::mem::replace(place, least);
        least = least.min(own);
    }
    let mut waiting: Vec<Operation> = Vec::new();
    let mut hand_on = |waiting: &mut Vec<Operation>, until_ns: u64| {
        waiting.sort_by_key(|operation| operation.start_ns);
        let ready = waiting.partition_point(|operation| operation.start_ns <= until_ns);
        waiting.drain(..ready).for_each(|operation| each(&operation));
    };
    for (number, operation) in read()?.enumerate() {
        waiting.push(operation?);
        if (number + 1).is_multiple_of(BLOCK) {
            hand_on(&mut waiting, behind.get(number / BLOCK).copied().unwrap_or(u64::MAX));
        }
    }
    hand_on(&mut waiting, u64::MAX);
    Ok(())
}

/// Emits syncs after a number of writes.
struct Syncs {
    every: Option<SyncEvery>,
    /// Writes since the last sync.
    writes: u64,
    /// The file written last.
    file: u32,
}

impl Syncs {
    /// Called before an operation; a sync that is only made between writes is emitted here.
    fn before(&mut self, written: &mut IologOutput, at_ns: u64) {
        if let Some(every) = self.every.filter(|every| every.between && self.writes >= every.writes) {
            self.sync(written, every, at_ns);
        }
    }

    fn after(&mut self, written: &mut IologOutput, at_ns: u64) {
        self.writes += 1;
        if let Some(every) = self.every.filter(|every| !every.between && self.writes >= every.writes) {
            self.sync(written, every, at_ns);
        }
    }

    fn sync(&mut self, written: &mut IologOutput, every: SyncEvery, at_ns: u64) {
        self.writes = 0;
        let does = if every.data_only { Does::DataSync } else { Does::Sync };
        written.operation(at_ns, does, self.file, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::iolog;
    use super::super::super::tests::planned;
    use super::*;

    /// The log of the only job, for operations in this completion order, and the number of pieces it was written in.
    fn pieces(plan: &Plan, done: &[Operation]) -> (String, usize) {
        let (mut text, mut pieces) = (String::new(), 0);
        let read = |phase: u32, worker: u32| {
            assert_eq!((phase, worker), (0, 0));
            Ok::<_, ()>(done.iter().copied().map(Ok::<_, ()>))
        };
        let out = &mut |path: &Path, piece: &str| {
            assert_eq!(path, Path::new("x"));
            text.push_str(piece);
            pieces += 1;
        };
        write(plan, read, out).unwrap();
        (text, pieces)
    }

    /// Log entries of a job with these operations, 100 us apart.
    fn written(args: &str, operations: &[(bool, u64)]) -> Vec<(Does, u64, u64)> {
        let mut plan = planned(&format!("--name=a --size=1m --write_iolog=x {args}"));
        assert!(plan.note_operations(), "they are written down");
        let one = |(n, (write, offset)): (u64, &(bool, u64))| Operation {
            does: if *write { Did::Write } else { Did::Read },
            start_ns: n * 100_000,
            latency_ns: 10_000,
            submission_ns: 0,
            file: 0,
            offset: *offset,
            bytes: 4096,
            priority: 0,
        };
        // In another order, as with several in flight.
        let mut done: Vec<Operation> = (0..).zip(operations).map(one).collect();
        done.reverse();
        let (text, _) = pieces(&plan, &done);
        let log = iolog::read(&text, usize::MAX).unwrap();
        log.entries.iter().map(|e| (e.does.unwrap(), e.offset, e.at_ns / 1000)).collect()
    }

    #[test]
    fn syncs_stand_between_their_writes() {
        let writes = [(true, 0), (true, 4096), (true, 8192), (true, 12288)];
        let found = written("--rw=write --fdatasync=2", &writes);
        let expected = [
            (Does::Write, 0, 0),
            (Does::Write, 4096, 100),
            (Does::DataSync, 0, 200),
            (Does::Write, 8192, 200),
            (Does::Write, 12288, 300),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_mix_says_what_each_was() {
        let found =
            written("--rw=randrw --time_based --runtime=5", &[(false, 8192), (true, 0), (false, 4096)]);
        assert_eq!(found, [(Does::Read, 8192, 0), (Does::Write, 0, 100), (Does::Read, 4096, 200)]);
    }

    #[test]
    fn the_sync_at_the_end_stands_there() {
        let writes = [(true, 0), (true, 4096)];
        let ends = |args: &str| written(args, &writes).iter().filter(|op| op.0 == Does::Sync).count();
        assert_eq!((ends("--rw=write --end_fsync=1"), ends("--rw=write")), (1, 0));
        let found = written("--rw=write --end_fsync=1", &writes);
        assert_eq!(found.last(), Some(&(Does::Sync, 0, 110)), "after the last write");
        assert_eq!(ends("--rw=write --end_fsync=1 --fsync=1"), 2, "as in fio, behind the one between them");
        assert_eq!(written("--rw=read --end_fsync=1", &[(false, 0)]).len(), 1, "nothing was written");
    }

    #[test]
    fn a_long_log_comes_in_pieces_and_in_order() {
        let mut plan = planned("--name=a --size=1m --write_iolog=x --rw=randread --time_based --runtime=5");
        assert!(plan.note_operations());
        let one = |n: u64| Operation {
            does: Did::Read,
            start_ns: n * 1000,
            latency_ns: 10_000,
            submission_ns: 0,
            file: 0,
            offset: n * 512,
            bytes: 512,
            priority: 0,
        };
        let mut done: Vec<Operation> = (0..100_000).map(one).collect();
        // The second operation completes after all others.
        let slow = done.remove(1);
        done.push(slow);
        let (text, pieces) = pieces(&plan, &done);
        assert!(pieces > 10, "{pieces}");
        let log = iolog::read(&text, usize::MAX).unwrap();
        let found: Vec<u64> = log.entries.iter().map(|e| e.offset / 512).collect();
        assert!(found == (0..100_000).collect::<Vec<u64>>());
    }

    #[test]
    fn of_what_ends_in_order_little_waits() {
        let read = &std::cell::Cell::new(0_u64);
        let one = |n: u64| Operation {
            does: Did::Write,
            start_ns: n,
            latency_ns: 1,
            submission_ns: 0,
            file: 0,
            offset: 0,
            bytes: 512,
            priority: 0,
        };
        let all = || {
            let each = move |n: u64| {
                read.set(n + 1);
                Ok::<_, ()>(one(n))
            };
            Ok((0..100_000).map(each))
        };
        let (mut delivered, mut farthest) = (0_u64, 0_u64);
        let each = |_: &Operation| {
            farthest = (read.get() - delivered).max(farthest);
            delivered += 1;
        };
        issued(all, each).unwrap();
        assert_eq!(delivered, 100_000);
        assert!(farthest <= 2 * BLOCK as u64, "{farthest}");
    }

    #[test]
    fn a_replay_writes_no_log() {
        let mut plan = planned("--name=r --read_iolog=trace.log --write_iolog=x");
        assert!(!plan.note_operations());
        let nothing = |_, _| Ok::<_, ()>(std::iter::empty::<Result<Operation, ()>>());
        write(&plan, nothing, &mut |path, _| panic!("{}", path.display())).unwrap();
        assert!(plan.notes.iter().any(|note| note.contains("write_iolog")), "{:?}", plan.notes);
    }
}
