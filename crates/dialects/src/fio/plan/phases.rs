//! Jobs into phases: those that run together are one, every clone is a group. Jobs that verify what they wrote have a phase for the
//! reading back, after that of the writing.

use super::backlog;
use super::files::{Make, Memory};
use super::sets::{Sets, Taken};
use super::{Job, Place, pace};
use fathom_workload::{
    Action, Axes, Bytes, CacheState, Data, Direction, Duration, Failed, Group, Holes, Phase, Pick, Program,
    Stonewall, Stream, Thread, Times, Verify, Workload,
};
use std::collections::BTreeSet;

/// Windows of bandwidth over time.
pub const INTERVAL_NS: u64 = 500_000_000;

/// Fills a workload with file sets and phases, and tells the jobs where they are.
pub fn fill(workload: &mut Workload, jobs: &mut [Job]) {
    let steps: BTreeSet<u32> = jobs.iter().map(|j| j.step).collect();
    let mut taken = Taken::new();
    let sets: Vec<Sets> = jobs.iter().map(|job| Sets::of(job, &mut taken)).collect();
    for (job, sets) in jobs.iter().zip(&sets) {
        workload.filesets.extend(sets.described(job));
    }
    for step in steps {
        let of_step: Vec<usize> = (0..jobs.len()).filter(|j| jobs[*j].step == step).collect();
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
}

/// What a time has to be for all jobs that run together to have it, if they have the same.
fn common_to(jobs: &[Job], which: &[usize], of: fn(&pace::Times) -> u64) -> Option<u64> {
    let mut all = which.iter().filter_map(|j| jobs.get(*j)).map(|job| of(&job.times));
    let first = all.next()?;
    all.all(|time| time == first).then_some(first)
}

/// One phase of jobs that run together, or of their reading back.
fn phase(workload: &mut Workload, jobs: &mut [Job], sets: &[Sets], which: &[usize], back: bool) {
    let number = u32::try_from(workload.phases.len()).unwrap_or(u32::MAX);
    let mut phase = Phase { holes: Holes::Leave, interval: Duration(INTERVAL_NS), ..Phase::default() };
    let mut worker = 0;
    // Clones are counted over all jobs of a run.
    let first_of = |clones: &mut u32, job: &Job| {
        let first = *clones;
        *clones = clones.saturating_add(job.clones);
        Some(first)
    };
    let numbers: Vec<u32> = jobs.iter().scan(0, first_of).collect();
    let memory: BTreeSet<u8> = which.iter().map(|j| jobs[*j].ready.memory as u8).collect();
    phase.interval_by_worker = true;
    // As fine as the finest log, and so that the windows of all come out whole.
    let widths = which.iter().filter_map(|j| jobs[*j].report.logs.intervals_ns());
    phase.interval = Duration(widths.fold(INTERVAL_NS, common));
    // What all have alike is the phase's, the rest is each group's own.
    let all: &[Job] = jobs;
    let shared = |of: fn(&pace::Times) -> u64| if back { Some(0) } else { common_to(all, which, of) };
    let (ramp, runtime, delay) = (shared(|t| t.ramp), shared(|t| t.runtime), shared(|t| t.delay));
    let exit_all = !back && which.iter().any(|j| jobs[*j].times.exit_all);
    phase.ramp = Duration(ramp.unwrap_or(0));
    phase.stop.time = runtime.filter(|ns| *ns > 0).map(Duration);
    phase.stop.first_done = exit_all.then(Stonewall::default);
    // What was not written whole cannot be read back.
    let read_back = !back && which.iter().any(|j| jobs[*j].reads_back);
    phase.stop.failed = match which.iter().any(|j| jobs[*j].error_ends_all) {
        _ if read_back => Failed::Run,
        true => Failed::Phase,
        false => Failed::Worker,
    };
    for index in which {
        let sets = &sets[*index];
        let job = &mut jobs[*index];
        for name in sets.names() {
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
            // A file that is read back is still needed.
            if !job.ready.keep && (back || !job.reads_back) {
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
        // Where the writing is, or would be.
        let wrote = job.places.first().copied().unwrap_or(Place { phase: number, worker });
        for clone in 0..job.clones {
            let mut of_clone = group(job, sets, clone, back);
            if let Some(backlog) = job.backlog.filter(|_| !back) {
                let place = fathom_workload::ops::Place { phase: number, worker, repetition: 0 };
                backlog.list(&mut of_clone, workload.seed.0, place);
            }
            if back && job.reads_listed {
                let place = fathom_workload::ops::Place {
                    phase: wrote.phase,
                    worker: wrote.worker + clone,
                    repetition: 0,
                };
                backlog::read_back(&mut of_clone, &group(job, sets, clone, false), workload.seed.0, place);
            }
            of_clone.pinning = job.cpus.of_worker(numbers[*index] + clone);
            of_clone.times = if back {
                Times::default()
            } else {
                Times {
                    delay: Duration(if delay.is_none() { job.times.delay } else { 0 }),
                    ramp: ramp.is_none().then_some(Duration(job.times.ramp)),
                    stop: (runtime.is_none() && job.times.runtime > 0).then_some(Duration(job.times.runtime)),
                    ends_nobody: exit_all && !job.times.exit_all,
                }
            };
            phase.groups.push(of_clone);
            worker += 1;
        }
    }
    if let Some(delay) = delay.filter(|ns| *ns > 0) {
        phase.before.push(Action::Sleep(Duration(delay)));
    }
    let first: Vec<&Job> = which.iter().map(|j| &jobs[*j]).collect();
    let names: Vec<&str> = first.iter().map(|j| j.name.as_str()).collect();
    phase.name = names.join(" + ") + if back { ", reading back" } else { "" };
    phase.axes = Axes { streams: (worker > 1).then_some(worker), ..Axes::default() };
    workload.phases.push(phase);
}

/// The largest width that both are multiples of.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

fn group(job: &Job, sets: &Sets, clone: u32, back: bool) -> Group {
    let mut stream: Stream = job.stream.clone();
    sets.place(clone, &mut stream);
    if let Some(part) = job.parts.get(clone as usize) {
        let several = stream.pick == Pick::All;
        part.place(&mut stream, several);
    }
    if back {
        stream.direction = Direction::Read;
        stream.verify = match stream.data {
            Data::Sealed(_) => Verify::Full,
            // verify=null reads back and looks at nothing.
            _ => Verify::No,
        };
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
        times: Times::default(),
        threads: vec![Thread {
            name: String::new(),
            instances: 1,
            memory: Bytes(0),
            io_priority: job.priority.1,
            program: Program::Stream(Box::new(stream)),
        }],
    }
}
