//! The logs of `write_iolog`: what every job did, as `read_iolog` of fio and of us reads it again. What a job does follows from its
//! stream and the seed; the record has the times at which it did it.

use super::super::iolog::Written;
use super::super::plan::{Job, Plan};
use fathom_record::{OpLogEntry, Run};
use fathom_workload::ops::{Done, OpKind, Place, Region, StreamOps};
use fathom_workload::{Does, Program, Stream};
use std::path::PathBuf;

/// The logs of a run: where each belongs, and its text.
#[must_use]
pub fn of(plan: &Plan, run: &Run) -> Vec<(PathBuf, String)> {
    let one = |job: &Job| {
        let name = job.settings.text("write_iolog").filter(|_| job.stream.log_operations)?;
        Some((PathBuf::from(name), log(plan, job, run)?))
    };
    plan.jobs.iter().filter_map(one).collect()
}

/// The log of a job with one clone and one file.
fn log(plan: &Plan, job: &Job, run: &Run) -> Option<String> {
    let place = job.places.first()?;
    let phase = run.phases.iter().find(|p| p.seq == place.phase)?;
    let worker = phase.repetitions.first()?.workers.iter().find(|w| w.index == place.worker)?;
    let group = plan.workload.phases.get(place.phase as usize)?.groups.get(place.worker as usize)?;
    let Program::Stream(stream) = &group.threads.first()?.program else { return None };
    let file = job.files.first()?.first()?.display().to_string();
    let mut written = Written::new(&file);
    let at = Place { phase: place.phase, worker: place.worker, repetition: 0 };
    let mut times: Vec<&OpLogEntry> = worker.op_log.iter().collect();
    // In the order in which they were issued; those of one submission have one time.
    times.sort_by_key(|entry| entry.start_ns);
    write(&mut written, stream, (plan.workload.seed.0, at), &times);
    Some(written.finish())
}

/// Gives the operations of a stream their times, as many as were done.
fn write(written: &mut Written, stream: &Stream, (seed, place): (u64, Place), times: &[&OpLogEntry]) {
    let region = Region { start: stream.start.0, length: stream.length.map_or(0, |length| length.0) };
    let Some(mut ops) = StreamOps::new(stream, region, seed, place) else { return };
    let mut done = Done::default();
    let (mut at, mut ended_ns) = (0, 0);
    while let Some(op) = ops.next(&done) {
        let does = match op.kind {
            OpKind::Sync { data_only } => {
                written.operation(ended_ns, if data_only { Does::DataSync } else { Does::Sync }, 0, 0);
                continue;
            }
            OpKind::Read => Does::Read,
            OpKind::Write => Does::Write,
        };
        let Some(entry) = times.get(at) else { return };
        at += 1;
        written.operation(entry.start_ns, does, op.offset, op.bytes);
        ended_ns = entry.start_ns.saturating_add(entry.latency_ns);
        match does {
            Does::Read => done.reads += 1,
            _ => done.writes += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::iolog;
    use super::super::super::tests::planned;
    use super::*;

    fn written(args: &str, times: u64) -> iolog::Log {
        let plan = planned(args);
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
            panic!("a job is a stream")
        };
        assert!(stream.log_operations);
        let log: Vec<OpLogEntry> = (0..times)
            .map(|n| OpLogEntry { offset: 0, bytes: 4096, latency_ns: 10_000, start_ns: n * 100_000 })
            .collect();
        let mut written = Written::new("f");
        let place = Place::default();
        write(&mut written, stream, (plan.workload.seed.0, place), &log.iter().collect::<Vec<_>>());
        iolog::read(&written.finish()).unwrap()
    }

    #[test]
    fn syncs_stand_where_they_were() {
        let log = written("--name=a --rw=write --size=16k --fdatasync=2 --write_iolog=x", 4);
        let found: Vec<_> = log.entries.iter().map(|e| (e.does.unwrap(), e.offset, e.at_ns)).collect();
        let write = |n: u64| (Does::Write, n * 4096, n * 100_000);
        assert_eq!(found, [write(0), write(1), (Does::DataSync, 0, 110_000), write(2), write(3)]);
    }

    #[test]
    fn a_mix_says_what_each_was_and_ends_where_the_job_did() {
        let log = written("--name=a --rw=randrw --size=1m --write_iolog=x", 200);
        assert_eq!(log.entries.len(), 200);
        let reads = log.entries.iter().filter(|e| e.does == Some(Does::Read)).count();
        assert!((60..140).contains(&reads), "{reads} of 200 read");
        let mut blocks: Vec<u64> = log.entries.iter().map(|e| e.offset / 4096).collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), 200, "each block once");
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        use super::super::super::tests::refused;
        for (args, words) in [
            ("--numjobs=2", "over each other"),
            ("--time_based --runtime=5", "number must be known"),
            ("--bsrange=4k-8k", "number must be known"),
            ("--ramp_time=1", "warm-up"),
            ("--nrfiles=2 --file_service_type=sequential", "several files"),
        ] {
            let why = refused(&format!("--name=a --rw=write --size=1m --write_iolog=x {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }
}
