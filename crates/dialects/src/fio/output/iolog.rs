//! The logs of `write_iolog`: what every job did, as `read_iolog` of fio and of us reads it again. Reads and writes are written down while a
//! job runs; where its syncs stand follows from how many writes come between them.

use super::super::iolog::Written;
use super::super::plan::{Job, Plan};
use super::log_operations::Operation;
use fathom_workload::{Does, SyncEvery};
use std::path::PathBuf;

/// The logs of a run: where each belongs, and its text. `operations` gives those of a worker of a phase.
///
/// # Errors
/// What `operations` fails with.
pub fn of<E>(
    plan: &Plan,
    operations: impl Fn(u32, u32) -> Result<Vec<Operation>, E>,
) -> Result<Vec<(PathBuf, String)>, E> {
    let mut logs = Vec::new();
    for job in &plan.jobs {
        let (Some(name), Some(place)) = (job.iolog(), job.places.first()) else { continue };
        let done = operations(place.phase, place.worker)?;
        logs.push((PathBuf::from(name), log(job, done)));
    }
    Ok(logs)
}

/// The log of a job with one clone and one file.
fn log(job: &Job, mut done: Vec<Operation>) -> String {
    let file = job.files.first().and_then(|files| files.first());
    let mut written = Written::new(&file.map_or_else(String::new, |path| path.display().to_string()));
    // In the order in which they were issued; those of one submission have one time.
    done.sort_by_key(|operation| operation.start_ns);
    let mut syncs = Syncs { every: job.stream.sync_every, writes: 0 };
    for operation in done {
        let Operation { write, start_ns, latency_ns, offset, bytes, .. } = operation;
        syncs.before(&mut written, start_ns);
        written.operation(start_ns, if write { Does::Write } else { Does::Read }, offset, bytes);
        if write {
            syncs.after(&mut written, start_ns.saturating_add(latency_ns));
        }
    }
    written.finish()
}

/// Syncs after so many writes.
struct Syncs {
    every: Option<SyncEvery>,
    /// Since the last sync.
    writes: u64,
}

impl Syncs {
    /// One that is only between writes comes when another operation follows.
    fn before(&mut self, written: &mut Written, at_ns: u64) {
        if let Some(every) = self.every.filter(|every| every.between && self.writes >= every.writes) {
            self.sync(written, every, at_ns);
        }
    }

    fn after(&mut self, written: &mut Written, at_ns: u64) {
        self.writes += 1;
        if let Some(every) = self.every.filter(|every| !every.between && self.writes >= every.writes) {
            self.sync(written, every, at_ns);
        }
    }

    fn sync(&mut self, written: &mut Written, every: SyncEvery, at_ns: u64) {
        self.writes = 0;
        written.operation(at_ns, if every.data_only { Does::DataSync } else { Does::Sync }, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::iolog;
    use super::super::super::tests::{planned, refused};
    use super::*;

    /// What stands in the log of a job that did these operations, 100 us each.
    fn written(args: &str, operations: &[(bool, u64)]) -> Vec<(Does, u64, u64)> {
        let mut plan = planned(&format!("--name=a --size=1m --write_iolog=x {args}"));
        assert!(plan.note_operations(), "they are written down");
        let one = |(n, (write, offset)): (u64, &(bool, u64))| Operation {
            write: *write,
            start_ns: n * 100_000,
            latency_ns: 10_000,
            submission_ns: 0,
            offset: *offset,
            bytes: 4096,
        };
        // As several in flight may complete: in another order.
        let mut done: Vec<Operation> = (0..).zip(operations).map(one).collect();
        done.reverse();
        let logs = of(&plan, |phase, worker| {
            assert_eq!((phase, worker), (0, 0));
            Ok::<_, ()>(done.clone())
        });
        let logs = logs.unwrap();
        assert_eq!((logs.len(), logs[0].0.to_str()), (1, Some("x")));
        let log = iolog::read(&logs[0].1).unwrap();
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
    fn what_cannot_be_kept_is_refused() {
        for (args, words) in [
            ("--numjobs=2", "over each other"),
            ("--nrfiles=2 --file_service_type=sequential", "several files"),
        ] {
            let why = refused(&format!("--name=a --rw=write --size=1m --write_iolog=x {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }

    #[test]
    fn a_replay_writes_no_log() {
        let mut plan = planned("--name=r --read_iolog=trace.log --write_iolog=x");
        assert!(!plan.note_operations());
        assert!(of(&plan, |_, _| Ok::<_, ()>(Vec::new())).unwrap().is_empty());
        assert!(plan.notes.iter().any(|note| note.contains("write_iolog")), "{:?}", plan.notes);
    }
}
