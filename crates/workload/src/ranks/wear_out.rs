//! Wear-out: what a stopped stream still must do to catch up with the one that did most.

use crate::{
    Access, Amount, Bytes, Direction, Group, Phase, Pinning, Program, Record, Stop, Stream, Workload,
};

/// Why a phase cannot be worn out.
pub(super) fn why_not(phase: &Phase) -> Option<String> {
    if phase.stop.time.is_none() {
        return Some("it has no stop after a time".into());
    }
    if phase.ramp.0 > 0 {
        return Some("with a warm-up the start of the count is unknown".into());
    }
    let flows = phase.groups.iter().flat_map(|g| &g.threads).any(|t| matches!(t.program, Program::Flow(_)));
    let simple = |s: &Stream| {
        s.direction == Direction::Write
            && matches!(s.record, Record::Fixed(_))
            && matches!(s.access, Access::Sequential)
            && matches!(s.amount, Amount::Pass | Amount::Operations(_))
            && s.sequence == crate::Sequence::Own
            && s.turns.is_none()
            && s.backend.moves_data()
            && s.keep_written.is_none()
            && s.pace.ratio.is_none()
            && s.beside.is_none()
            // Failed operations are not counted as done.
            && s.pass_over == crate::PassOver::default()
    };
    // Times of a group would end its wear-out, too; groups are split here, which would invalidate references to group numbers.
    let times = phase.groups.iter().any(|g| g.times != crate::Times::default());
    if times || !phase.stop.steady_groups.is_empty() {
        return Some("it is for groups without their own times".into());
    }
    (flows || !phase.streams().all(simple))
        .then(|| "it is for streams that write records of one size in order, once".into())
}

/// The phase `number` of one rank's share, changed so that every worker does what it lacks to `most` operations; `done` is what each of
/// them has done. `None` if no worker lacks any. Groups and threads are split so that each worker has its own amount.
#[must_use]
pub fn wear_out(share: &Workload, number: usize, done: &[u64], most: u64) -> Option<Workload> {
    let phase = share.phases.get(number)?;
    if done.iter().all(|&n| n >= most) {
        return None;
    }
    let mut rest = Phase {
        name: phase.name.clone(),
        axes: phase.axes.clone(),
        stop: Stop::default(),
        ..Phase::default()
    };
    let mut done = done.iter().copied();
    for (group, thread) in workers(phase) {
        let lacking = most.saturating_sub(done.next().unwrap_or(most));
        let mut thread = crate::Thread { instances: 1, ..thread.clone() };
        if let Program::Stream(stream) = &mut thread.program {
            advance(stream, most - lacking, lacking);
        }
        rest.groups.push(Group {
            instances: 1,
            pinning: Pinning::Free,
            threads: vec![thread],
            ..group.clone()
        });
    }
    let mut workload = share.clone();
    workload.phases[number] = rest;
    Some(workload)
}

/// After the wear-out of the phase `number`, in which every worker wrote `most` records, later phases read that part of the files only:
/// the rest was never written. `whole` is the workload of all ranks, whose file sets have their own names also in reordered phases;
/// `planned` is the share before any phase, so that repetitions can be limited again.
pub fn read_what_was_written(
    whole: &Workload,
    planned: &Workload,
    share: &mut Workload,
    number: usize,
    most: u64,
) {
    let Some(phase) = whole.phases.get(number) else { return };
    let mut written: Vec<(&str, u64)> = Vec::new();
    for stream in phase.streams() {
        if let Record::Fixed(Bytes(record)) = stream.record {
            written.push((&stream.fileset, most.saturating_mul(record)));
        }
    }
    let phases = whole.phases.iter().zip(&planned.phases).zip(&mut share.phases);
    for ((whole, planned), phase) in phases.skip(number + 1) {
        let streams = whole.streams().zip(planned.streams()).zip(phase.streams_mut());
        for ((whole, planned), stream) in streams {
            let bytes = written.iter().find(|w| w.0 == whole.fileset).map(|w| w.1);
            if let (Some(bytes), Direction::Read, &Record::Fixed(Bytes(record @ 1..)), None) =
                (bytes, planned.direction, &planned.record, &planned.turns)
                && let Some(more) = (bytes / record).checked_sub(1)
            {
                let mut step = record;
                if let Access::Striped { run, gap, .. } = planned.access {
                    step = run.0.saturating_add(gap.0);
                    // A rank's records of a shared file are counted, because its region ends with the file.
                    if let Amount::Operations(all) = planned.amount {
                        stream.amount = Amount::Operations(all.min(more + 1));
                    }
                }
                let length = more.saturating_mul(step).saturating_add(record);
                stream.length = Some(Bytes(planned.length.map_or(length, |l| l.0.min(length))));
            }
        }
    }
}

/// Each worker's group and thread, in the order of their numbers.
fn workers(phase: &Phase) -> Vec<(&Group, &crate::Thread)> {
    let mut found = Vec::new();
    for group in &phase.groups {
        for _ in 0..group.instances {
            for thread in &group.threads {
                found.extend((0..thread.instances).map(|_| (group, thread)));
            }
        }
    }
    found
}

/// Makes a stream begin where it was stopped and do `lacking` more operations.
fn advance(stream: &mut Stream, done: u64, lacking: u64) {
    let Record::Fixed(Bytes(record)) = stream.record else { return };
    let step = match stream.access {
        Access::Striped { run, gap, .. } => run.0.saturating_add(gap.0),
        _ => record,
    };
    let skipped = done.saturating_mul(step);
    stream.open.truncate = false;
    if lacking == 0 {
        // A worker must do something: repeat its last record.
        let back = skipped.saturating_sub(step);
        stream.start = Bytes(stream.start.0 + back);
        stream.length = Some(Bytes(record));
        stream.amount = Amount::Operations(1);
    } else {
        stream.start = Bytes(stream.start.0 + skipped);
        stream.length = Some(Bytes((lacking - 1).saturating_mul(step).saturating_add(record)));
        stream.amount = Amount::Operations(lacking);
    }
}
