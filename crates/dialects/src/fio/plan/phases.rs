//! Groups jobs into phases: jobs that run together share a phase, and every clone is a group. Read-back of verified writes is a
//! separate phase after the writing.

use super::errors;
use super::job_files::{Make, Memory};
use super::read_back;
use super::sets::{self, Sets, Taken};
use super::{Job, JobPlace, loops, pace, state, steady, steps};
use fathom_workload::ops;
use fathom_workload::{
    Action, Axes, Bytes, CacheState, Direction, Duration, Failed, Group, Holes, Phase, Pick, Program,
    Stonewall, Stream, Thread, Times, Workload, WrittenBy,
};
use std::collections::BTreeSet;

/// Default interval of bandwidth over time, ns.
pub const INTERVAL_NS: u64 = 500_000_000;

/// Adds file sets and phases to a workload, and sets the jobs' positions in it.
pub fn fill(workload: &mut Workload, jobs: &mut [Job]) {
    let steps: BTreeSet<u32> = jobs.iter().map(|j| j.step).collect();
    let mut taken = Taken::new();
    let sets: Vec<Sets> = jobs.iter().map(|job| Sets::of(job, &mut taken)).collect();
    for (job, sets) in jobs.iter_mut().zip(&sets) {
        workload.filesets.extend(sets.described(job));
        workload.filesets.extend(sets::of_donor(job, &mut taken));
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

/// The phase-wide value of a duration, if all jobs that run together agree.
fn common_to(jobs: &[Job], which: &[usize], of: fn(&pace::Times) -> u64) -> Option<u64> {
    let mut all = which.iter().filter_map(|j| jobs.get(*j)).map(|job| of(&job.times));
    let first = all.next()?;
    all.all(|time| time == first).then_some(first)
}

/// Actions around the measured part, in order: create files, run commands, evict or fill the cache; afterwards commands again, and
/// removal of files.
#[derive(Default)]
struct Around {
    commands: Vec<Action>,
    memory: Vec<Action>,
    removed: Vec<Action>,
}

impl Around {
    /// Adds the actions of a job. `alike`: all jobs agree on the cache state, so the phase itself sets and verifies it.
    fn take(&mut self, phase: &mut Phase, job: &Job, sets: &Sets, (alike, back): (bool, bool)) {
        let first = !back || job.only_reads_back;
        // Keep files that are still to be read back.
        let last = back || !job.reads_back;
        for name in sets.names() {
            let made = if first { job.ready.make } else { Make::Nothing };
            let action = match made {
                Make::Write => Some(Action::Prepare(name.clone())),
                Make::Reserve => Some(Action::Reserve(name.clone())),
                Make::ReserveBehind => Some(Action::ReserveBehind(name.clone())),
                Make::Extend => Some(Action::Extend(name.clone())),
                Make::Directories => Some(Action::MakeDirectories(name.clone())),
                Make::Nothing | Make::Empty => None,
            };
            phase.before.extend(action);
            match job.ready.memory {
                Memory::Dropped if !alike => self.memory.push(Action::Evict(name.clone())),
                Memory::Read if !alike => self.memory.push(Action::Warm(name.clone())),
                _ => {}
            }
            if !job.ready.keep && last {
                self.removed.push(Action::Remove(name.clone()));
            }
        }
        self.commands.extend(job.commands.before.clone().filter(|_| first));
        phase.after.extend(job.commands.after.clone().filter(|_| last));
    }

    fn done(self, phase: &mut Phase) {
        phase.before.extend(self.commands);
        phase.before.extend(self.memory);
        phase.after.extend(self.removed);
    }
}

/// One phase of jobs that run together, or of their read-back.
fn phase(workload: &mut Workload, jobs: &mut [Job], sets: &[Sets], all_of_it: &[usize], back: bool) {
    // Jobs that only lay out files have no workers.
    let which: Vec<usize> = all_of_it.iter().copied().filter(|j| !jobs[*j].only_lays_out).collect();
    let which = which.as_slice();
    let number = u32::try_from(workload.phases.len()).unwrap_or(u32::MAX);
    let mut phase = Phase { holes: Holes::Leave, interval: Duration(INTERVAL_NS), ..Phase::default() };
    let mut worker: u32 = 0;
    // Clones are numbered over all jobs of a run.
    let first_of = |clones: &mut u32, job: &Job| {
        let first = *clones;
        *clones = clones.saturating_add(job.clones);
        Some(first)
    };
    let numbers: Vec<u32> = jobs.iter().scan(0, first_of).collect();
    let memory: BTreeSet<u8> = which.iter().map(|j| jobs[*j].ready.memory as u8).collect();
    phase.interval_by_worker = true;
    // As fine as the finest log, and a divisor of all window widths.
    let reports = || which.iter().map(|j| &jobs[*j].report);
    let logs = reports().filter_map(|report| report.logs.intervals_ns());
    let with_bandwidth = reports().filter(|report| report.bandwidth);
    let widths = logs.chain(with_bandwidth.flat_map(|report| report.windows_ns));
    phase.interval = Duration(widths.fold(INTERVAL_NS, common));
    // Values common to all jobs are set on the phase, others per group.
    let all: &[Job] = jobs;
    let shared = |of: fn(&pace::Times) -> u64| if back { Some(0) } else { common_to(all, which, of) };
    let (ramp, runtime, delay) = (shared(|t| t.ramp), shared(|t| t.runtime), shared(|t| t.delay));
    let drawn = !back && which.iter().any(|j| all[*j].times.delay_most > all[*j].times.delay);
    let delay = delay.filter(|_| !drawn);
    let seed = workload.seed.0;
    let exit_all = !back && which.iter().any(|j| jobs[*j].times.exit_all);
    // With a single reporting group, a job that ends its group ends all.
    let groups: BTreeSet<u32> = which.iter().map(|j| all[*j].group).collect();
    let companies = exit_all && groups.len() > 1;
    phase.ramp = Duration(ramp.unwrap_or(0));
    phase.stop.time = runtime.filter(|ns| *ns > 0).map(Duration);
    phase.stop.first_done = exit_all.then(Stonewall::default);
    // Incomplete writes cannot be read back.
    let read_back = !back && which.iter().any(|j| jobs[*j].reads_back);
    phase.stop.failed = match which.iter().any(|j| jobs[*j].error_ends_all) {
        _ if read_back => Failed::Run,
        true => Failed::Phase,
        false => Failed::Worker,
    };
    let mut around = Around::default();
    for index in all_of_it {
        let sets = &sets[*index];
        let job = &mut jobs[*index];
        around.take(&mut phase, job, sets, (memory.len() == 1, back));
        job.begins_in.get_or_insert(number);
        if job.only_lays_out {
            continue;
        }
        if memory.len() == 1 {
            phase.cache = match job.ready.memory {
                Memory::AsFound => CacheState::AsFound,
                Memory::Dropped => CacheState::Cold,
                Memory::Read => CacheState::Warm,
            };
        }
        job.places.push(JobPlace { phase: number, worker });
        // The position of the writers, even if they do not run.
        let wrote = job.places.first().copied().unwrap_or(JobPlace { phase: number, worker });
        for clone in 0..job.clones {
            let place = ops::Place { phase: wrote.phase, worker: wrote.worker + clone, repetition: 0 };
            let mut of_clone = group(job, sets, clone, back, (seed, place));
            if back && job.reads_listed {
                let writer = read_back::Writer {
                    group: &group(job, sets, clone, false, (seed, place)),
                    sizes: job.sizes.get(clone as usize).map(Vec::as_slice),
                    seed,
                    place,
                    up_to: job.up_to.get(clone as usize).copied(),
                };
                let unwritten = read_back::read_back(&mut of_clone, &writer);
                if job.only_reads_back {
                    job.unwritten.push(unwritten);
                }
            }
            of_clone.pinning = job.cpus.of_worker(numbers[*index] + clone);
            of_clone.times = if back {
                Times::default()
            } else {
                Times {
                    delay: Duration(match delay {
                        None => job.times.delay_of(numbers[*index] + clone, seed),
                        Some(_) => 0,
                    }),
                    ramp: ramp.is_none().then_some(Duration(job.times.ramp)),
                    ramp_bytes: Bytes(job.times.ramp_bytes),
                    ramp_together: job.times.ramp_together,
                    stop: (runtime.is_none() && job.times.runtime > 0).then_some(Duration(job.times.runtime)),
                    never_ends_others: false,
                    company: (companies || job.times.ramp_together).then_some(job.group),
                    ends_company: companies && steps::ends_its_group(&job.settings),
                    ends_with_io: job.times.ends_with_io,
                }
            };
            phase.groups.push(of_clone);
            worker += 1;
        }
    }
    around.done(&mut phase);
    if !back {
        // Every clone is a group of one worker.
        let placed: &[Job] = jobs;
        let placed = which.iter().filter_map(|j| Some((&placed[*j], placed[*j].places.last()?.worker)));
        phase.stop.steady_groups = steady::groups(placed);
    }
    if let Some(delay) = delay.filter(|ns| *ns > 0) {
        phase.before.push(Action::Sleep(Duration(delay)));
    }
    let first: Vec<&Job> = all_of_it.iter().map(|j| &jobs[*j]).collect();
    let names: Vec<&str> = first.iter().map(|j| j.name.as_str()).collect();
    phase.name = names.join(" + ") + if back { ", reading back" } else { "" };
    phase.axes = Axes { streams: (worker > 1).then_some(worker), ..Axes::default() };
    workload.phases.push(phase);
}

/// Greatest common divisor.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// A clone, or the read-back of what the worker at `place` wrote.
fn group(job: &Job, sets: &Sets, clone: u32, back: bool, (seed, place): (u64, ops::Place)) -> Group {
    let mut stream: Stream = job.stream.clone();
    sets.place(clone, &mut stream);
    let part = job.parts.get(clone as usize);
    let sizes = job.sizes.get(clone as usize).map(Vec::as_slice);
    if let Some(part) = part {
        let several = stream.pick == Pick::All;
        part.place(&mut stream, several);
    }
    if back {
        stream.direction = Direction::Read;
        stream.verify = read_back::check_of(&stream);
        stream.amount = fathom_workload::Amount::Pass;
        (stream.sync_every, stream.adaptive_depth, stream.zoned_device) = (None, None, None);
        stream.timed = fathom_workload::Timed::default();
        stream.pace = fathom_workload::Pace::default();
        if stream.keep_written.is_some() {
            read_back::written_by(&mut stream, WrittenBy { phase: place.phase, worker: place.worker });
        }
    } else if let Some(most) = job.at_most {
        loops::end_after(&mut stream, most, sizes, seed, place);
    }
    if let (Some(writes), false) = (job.up_to.get(clone as usize), job.reads_listed) {
        let block = stream.record.unit().0.max(1);
        let start = part.map_or(0, |part| part.start);
        let of_one = part.map_or(0, |part| part.length / block);
        let of_several = |sizes: &[u64]| sizes.iter().map(|end| end.saturating_sub(start) / block).sum();
        let blocks = sizes.map_or(of_one, of_several);
        state::cut(&mut stream, blocks, *writes);
    }
    errors::fit(&mut stream);
    Group {
        name: job.name.clone(),
        instances: 1,
        isolation: fathom_workload::Isolation::Thread,
        nice: job.priority.nice,
        pinning: fathom_workload::Pinning::Free,
        times: Times::default(),
        threads: vec![Thread {
            name: String::new(),
            instances: 1,
            memory: Bytes(0),
            locked_memory: job.locked_memory,
            run_as: job.run_as,
            io_priority: job.priority.level,
            io_class: job.priority.class,
            io_hint: job.priority.hint,
            program: Program::Stream(Box::new(stream)),
        }],
    }
}
