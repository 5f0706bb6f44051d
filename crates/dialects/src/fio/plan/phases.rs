//! Jobs into phases: those that run together are one, every clone is a group. Jobs that verify what they wrote have a phase for the
//! reading back, after that of the writing.

use super::super::Wrong;
use super::files::{Make, Memory};
use super::{Job, Place};
use fathom_workload::{
    Action, Axes, Bytes, CacheState, Data, Direction, Duration, Existing, FileSet, Files, Group, Holes,
    Phase, Pick, Program, Stonewall, Stop, Stream, Thread, Verify, Workload,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Windows of bandwidth over time.
pub const INTERVAL_NS: u64 = 500_000_000;

/// Fills a workload with file sets and phases, and tells the jobs where they are.
pub fn fill(workload: &mut Workload, jobs: &mut [Job]) -> Result<(), Wrong> {
    let steps: BTreeSet<u32> = jobs.iter().map(|j| j.step).collect();
    let mut names = BTreeSet::new();
    let sets: Vec<Vec<String>> = jobs.iter().map(|job| name_sets(job, &mut names)).collect();
    for (job, names) in jobs.iter().zip(&sets) {
        file_sets(workload, job, names);
    }
    for step in steps {
        let of_step: Vec<usize> = (0..jobs.len()).filter(|j| jobs[*j].step == step).collect();
        agree(jobs, &of_step)?;
        let (reading, others): (Vec<usize>, Vec<usize>) =
            of_step.iter().copied().partition(|j| jobs[*j].only_reads_back);
        let back: Vec<usize> = others.iter().copied().filter(|j| jobs[*j].reads_back).collect();
        if !others.is_empty() {
            phase(workload, jobs, &sets, &others, false);
        }
        let back: Vec<usize> = reading.into_iter().chain(back).collect();
        if !back.is_empty() {
            phase(workload, jobs, &sets, &back, true);
        }
    }
    Ok(())
}

/// A name for each file set of a job that no other has: one for all clones, or one for each clone with several files.
fn name_sets(job: &Job, taken: &mut BTreeSet<String>) -> Vec<String> {
    let wanted = if job.stream.pick == Pick::All { job.files.len() } else { 1 };
    let mut unique = |base: String| {
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base} ({number})");
            number += 1;
        }
        name
    };
    let name = |clone: usize| if wanted == 1 { job.name.clone() } else { format!("{}.{clone}", job.name) };
    (0..wanted).map(|clone| unique(name(clone))).collect()
}

fn file_sets(workload: &mut Workload, job: &Job, names: &[String]) {
    for (number, name) in names.iter().enumerate() {
        let paths: Vec<PathBuf> = if names.len() == 1 && job.stream.pick != Pick::All {
            let mut paths: Vec<PathBuf> = Vec::new();
            for path in job.files.iter().flatten() {
                if !paths.contains(path) {
                    paths.push(path.clone());
                }
            }
            paths
        } else {
            job.files.get(number).cloned().unwrap_or_default()
        };
        // What is laid out is checked by a job that reads and verifies.
        let data = if matches!(job.stream.data, Data::Positioned { .. }) {
            job.stream.data.clone()
        } else {
            Data::Unique
        };
        workload.filesets.push(FileSet {
            name: name.clone(),
            files: Files::List(paths),
            size: job.ready.file.clone(),
            existing: Existing::Reuse,
            foreign_writable: job.ready.foreign,
            keep: job.ready.keep,
            mode: 0o644,
            data,
            preallocated_percent: 100,
            share: fathom_workload::Share::ReadWrite,
            trust_sizes: false,
            leave_dirty: false,
            prepare_record: FileSet::PREPARE_RECORD,
        });
    }
}

/// What all jobs of a step have in common.
fn agree(jobs: &[Job], of_step: &[usize]) -> Result<(), Wrong> {
    let Some((first, others)) = of_step.split_first() else { return Ok(()) };
    let (a, wanted) = (&jobs[*first].name, jobs[*first].times);
    for other in others {
        let job = &jobs[*other];
        let differs: Option<&'static str> = [
            ("runtime", job.times.runtime != wanted.runtime),
            ("ramp_time", job.times.ramp != wanted.ramp),
            ("startdelay", job.times.delay != wanted.delay),
            ("exitall", job.times.exit_all != wanted.exit_all),
        ]
        .into_iter()
        .find_map(|(name, differs)| differs.then_some(name));
        if let Some(name) = differs {
            return Err(job
                .settings
                .wrong(name, format!("{name} differs from that of job {a}, which runs at the same time: that is not supported"))
                .hint("put it into [global], or let the jobs run one after the other (stonewall)"));
        }
    }
    Ok(())
}

/// One phase of jobs that run together, or of their reading back.
fn phase(workload: &mut Workload, jobs: &mut [Job], sets: &[Vec<String>], which: &[usize], back: bool) {
    let number = u32::try_from(workload.phases.len()).unwrap_or(u32::MAX);
    let mut phase = Phase { holes: Holes::Leave, interval: Duration(INTERVAL_NS), ..Phase::default() };
    let mut worker = 0;
    let memory: BTreeSet<u8> = which.iter().map(|j| jobs[*j].ready.memory as u8).collect();
    for index in which {
        let names = &sets[*index];
        let job = &mut jobs[*index];
        for name in names {
            let made = if back && !job.only_reads_back { Make::Nothing } else { job.ready.make };
            match made {
                Make::Write => phase.before.push(Action::Prepare(name.clone())),
                Make::Reserve => phase.before.push(Action::Reserve(name.clone())),
                Make::Nothing | Make::Empty => {}
            }
            // Where all jobs want the same of the cache, the phase says so itself, and it is proved.
            match (job.ready.memory, memory.len()) {
                (Memory::Dropped, 2..) => phase.before.push(Action::Evict(name.clone())),
                (Memory::Read, 2..) => phase.before.push(Action::Warm(name.clone())),
                _ => {}
            }
            if !job.ready.keep {
                phase.after.push(Action::Remove(name.clone()));
            }
        }
        if memory.len() == 1 {
            phase.cache = match job.ready.memory {
                Memory::AsFound => CacheState::AsFound,
                Memory::Dropped => CacheState::Cold,
                Memory::Read => CacheState::Warm,
            };
        }
        job.places.push(Place { phase: number, worker });
        for clone in 0..job.clones {
            phase.groups.push(group(job, names, clone, back));
            worker += 1;
        }
        phase.ramp = Duration(if back { 0 } else { job.times.ramp });
        if job.times.delay > 0 && !back && !phase.before.contains(&Action::Sleep(Duration(job.times.delay))) {
            phase.before.push(Action::Sleep(Duration(job.times.delay)));
        }
        if !back {
            phase.stop = Stop {
                time: (job.times.runtime > 0).then_some(Duration(job.times.runtime)),
                first_done: job.times.exit_all.then(Stonewall::default),
                ..Stop::default()
            };
        }
        // A file that is read back is still needed.
        if !back && job.reads_back {
            phase.after.retain(|a| !matches!(a, Action::Remove(name) if names.contains(name)));
        }
    }
    let first: Vec<&Job> = which.iter().map(|j| &jobs[*j]).collect();
    let names: Vec<&str> = first.iter().map(|j| j.name.as_str()).collect();
    phase.name = names.join(" + ") + if back { ", reading back" } else { "" };
    phase.axes = Axes { streams: (worker > 1).then_some(worker), ..Axes::default() };
    workload.phases.push(phase);
}

fn group(job: &Job, names: &[String], clone: u32, back: bool) -> Group {
    let mut stream: Stream = job.stream.clone();
    let set = names.get(clone as usize).or(names.first()).cloned().unwrap_or_default();
    stream.fileset = set;
    if stream.pick != Pick::All {
        // Of the files that clones share there is one entry.
        let mut seen: Vec<&PathBuf> = Vec::new();
        for path in job.files.iter().flatten() {
            if !seen.contains(&path) {
                seen.push(path);
            }
        }
        let own = job.files.get(clone as usize).and_then(|files| files.first());
        let at = seen.iter().position(|path| Some(*path) == own).unwrap_or(0);
        stream.pick = Pick::One(u32::try_from(at).unwrap_or(0));
        stream.start = Bytes(stream.start.0.saturating_add(job.ready.step.saturating_mul(clone.into())));
    }
    if back {
        stream.direction = Direction::Read;
        stream.verify = Verify::Full;
        stream.amount = fathom_workload::Amount::Pass;
        stream.sync_every = None;
        stream.timed = fathom_workload::Timed::default();
        stream.pace = fathom_workload::Pace::default();
    }
    Group {
        name: job.name.clone(),
        instances: 1,
        isolation: fathom_workload::Isolation::Thread,
        nice: job.priority.0,
        pinning: fathom_workload::Pinning::Free,
        threads: vec![Thread {
            name: String::new(),
            instances: 1,
            memory: Bytes(0),
            io_priority: job.priority.1,
            program: Program::Stream(Box::new(stream)),
        }],
    }
}
