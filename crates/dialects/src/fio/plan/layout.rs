//! Jobs that only lay out their files: `create_only`, and jobs whose files are too small for a block.

use super::super::UsageError;
use super::job_files::{Make, Memory};
use super::{FilePart, Job, Notes};
use fathom_workload::{Access, Stream};

const WORD: &str = "create_only";

/// Removes all I/O from such a job.
pub fn apply(job: &mut Job, notes: &mut Notes) -> Result<(), UsageError> {
    let block = format!("holds a block of {} bytes", job.stream.record.unit().0);
    let (word, why) = if job.settings.on(WORD, false) {
        (WORD, String::new())
    } else if !holds_a_block(job) {
        ("nrfiles", format!("no file {block}"))
    } else if zones_hold_none(&job.stream, longest(job)) {
        ("zonemode", format!("no zone {block}"))
    } else if job.stream.align.0 > 0 && job.parts.iter().all(|part| part.length < job.stream.align.0) {
        ("ba", "its part of the file is shorter than ba".into())
    } else {
        return Ok(());
    };
    let refuse = |why: &str, hint: &str| Err(job.settings.wrong(word, format!("{word}: {why}")).hint(hint));
    if word == WORD && matches!(job.ready.make, Make::Nothing | Make::Empty) {
        return refuse("its job lays nothing out", "rw=read, or fallocate=native");
    }
    if !job.ready.keep {
        return refuse("unlink=1 would remove what was laid out", "leave one of them out");
    }
    if job.commands != super::Commands::default() {
        return refuse(
            "nothing runs, so that there is nothing before and after it",
            "leave exec_prerun and exec_postrun out",
        );
    }
    if word != WORD {
        notes.say(format!("job {}: {why}, so nothing is read or written, as in fio", job.name));
    }
    job.only_lays_out = true;
    job.ready.memory = Memory::AsFound;
    (job.reads_back, job.backlog, job.only_reads_back, job.reads_listed) = (false, false, false, false);
    job.steady = None;
    Ok(())
}

/// Whether any of several files holds a block. A single file that does not is an error.
fn holds_a_block(job: &Job) -> bool {
    let block = job.stream.record.unit().0;
    job.parts.iter().enumerate().any(|(clone, part)| {
        let ends = job.sizes.get(clone).map_or(&[][..], Vec::as_slice);
        ends.is_empty() || ends.iter().any(|end| end.saturating_sub(part.start) >= block)
    })
}

fn longest(job: &Job) -> u64 {
    let of = |(clone, part): (usize, &FilePart)| match job.sizes.get(clone).map(Vec::as_slice) {
        None | Some([]) => part.length,
        Some(ends) => ends.iter().map(|end| end.saturating_sub(part.start)).max().unwrap_or(0),
    };
    job.parts.iter().enumerate().map(of).max().unwrap_or(0)
}

/// Whether random offsets are drawn in zones shorter than a block, or, without repetition, in a zone longer than the part.
/// Sequential blocks may extend beyond a zone.
fn zones_hold_none(stream: &Stream, length: u64) -> bool {
    let Access::ZonesInTurn { range, inside, .. } = &stream.access else { return false };
    match **inside {
        Access::Sequential => false,
        Access::Permuted => range.0 < stream.record.unit().0 || range.0 > length,
        _ => *range < stream.record.unit(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::Action;

    #[test]
    fn create_only_makes_files_without_work() {
        for (args, made) in [
            ("--rw=read", Action::Prepare("a".into())),
            ("--rw=write", Action::Reserve("a".into())),
            ("--rw=write --verify=md5 --exitall", Action::Reserve("a".into())),
            ("--rw=write --overwrite=1", Action::Prepare("a".into())),
            ("--rw=write --fallocate=truncate", Action::Extend("a".into())),
            ("--rw=write --fallocate=keep", Action::ReserveBehind("a".into())),
            (
                "--rw=randread --create_only=0 --nrfiles=4 --bs=512k --time_based --runtime=1",
                Action::Prepare("a".into()),
            ),
            (
                "--rw=randread --create_only=0 --bs=64k --zonemode=strided --zonesize=16k --zoneskip=16k",
                Action::Prepare("a".into()),
            ),
            (
                "--rw=randwrite --create_only=0 --bs=64k --loops=3 --verify=md5 --zonesize=16k --zonerange=32k",
                Action::Reserve("a".into()),
            ),
            ("--rw=randwrite --create_only=0 --ba=2m", Action::Reserve("a".into())),
            (
                "--rw=randwrite --create_only=0 --bsrange=64k-128k --time_based --runtime=1 --zonesize=16k",
                Action::Reserve("a".into()),
            ),
        ] {
            let plan = planned(&format!("--name=a --size=1m --create_only=1 {args}"));
            assert_eq!(plan.workload.phases.len(), 1, "{args}");
            let phase = &plan.workload.phases[0];
            assert_eq!((phase.before.as_slice(), phase.groups.len()), ([made].as_slice(), 0), "{args}");
            assert_eq!((plan.jobs[0].places.len(), plan.jobs[0].begins_in), (0, Some(0)), "{args}");
        }
    }

    #[test]
    fn others_work_beside_it() {
        let plan = planned(
            "--size=1m --rw=read --name=a --create_only=1 --numjobs=2 --name=b --filename=a.0.0 --name=c --stonewall",
        );
        let groups: Vec<usize> = plan.workload.phases.iter().map(|phase| phase.groups.len()).collect();
        assert_eq!(groups, [1, 1]);
        assert_eq!(plan.jobs[1].places[0].worker, 0);
    }

    #[test]
    fn what_lays_nothing_out_is_refused() {
        for args in [
            "--rw=write --fallocate=none",
            "--ioengine=null",
            "--rw=write --create_on_open=1",
            "--rw=read --unlink=1",
        ] {
            let wrong = refused(&format!("--name=a --size=1m --create_only=1 {args}"));
            assert!(wrong.contains("create_only: "), "{args}: {wrong}");
        }
    }
}
