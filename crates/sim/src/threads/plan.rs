//! Who runs in a phase, in the engine's worker order, and on which files; which workers share a sequence or an open file.
//!
//! Threads of one process that draw from one sequence over all files of a set share their open files, like the programs that work this
//! way (SysBench opens its files once). All others open their own.

use super::files::CallLayer;
use crate::block::Submitter;
use crate::calls::Handle;
use crate::files::FileNumber;
use crate::host::Threads;
use crate::machine::Machine;
use crate::sets::Sets;
use fathom_workload::drive::{Quota, in_flight};
use fathom_workload::ops::{
    Common, Kept, Passes, Place, PoolOps, PooledFiles, ReadBack, Region, Source, StreamOps, TurnOps,
    bytes_of_a_pass,
};
use fathom_workload::{
    Access, Advice, Group, Isolation, Phase, Pick, Program, Raise, Sequence, Stream, Thread, Workload,
};
use std::sync::atomic::AtomicU64;

/// The plan of one worker.
pub(crate) struct WorkerPlan<'a> {
    pub group: String,
    pub index: usize,
    pub stream: &'a Stream,
    /// Its files: one, or all of the set. The read-ahead state of file n is at `opens` + n.
    pub files: &'a [FileNumber],
    pub opens: u32,
    pub who: Submitter,
    pub region: Region,
    /// Name of the set that its files are in, for messages.
    pub set: &'a str,
    pub seed: u64,
    pub place: Place,
    /// Delay after the first worker's release: stagger plus the group's delay.
    pub stagger_ns: u64,
    pub ramp_ns: u64,
    /// Bytes that end the warm-up of the worker or its company; 0 if time ends it.
    pub ramp_bytes: u64,
    pub ramp_together: bool,
    pub time_ns: Option<u64>,
    /// The time limit is that of its group alone.
    pub own_time: bool,
    /// Limit on the joint work of all workers of the phase.
    pub quota: Quota,
    pub raise: Option<Raise>,
    /// Its company, and whether its end stops only that company.
    pub company: Option<u32>,
    pub ends_company: bool,
    pub pool: Option<Member<'a>>,
    /// The region of each file, where files take turns.
    pub parts: Vec<Region>,
    /// Layer between its operations and system calls.
    pub(super) between: CallLayer,
}

/// A worker's view of its pool.
#[derive(Clone)]
pub(crate) struct Member<'a> {
    pub common: &'a Common,
    pub busy: &'a [AtomicU64],
    pub own: std::ops::Range<usize>,
    pub files: PooledFiles,
}

impl<'a> WorkerPlan<'a> {
    /// The source of its operations; `None` if not one record fits.
    pub fn source(&self, machine: &Machine) -> Option<Box<dyn Source + 'a>> {
        if let Some(by) = self.stream.written_by {
            let written = machine.written.borrow();
            let left = written.get(&(by.phase, by.worker)).cloned().unwrap_or_default();
            return Some(Box::new(ReadBack::new(left)));
        }
        let mut drawn = self.drawn()?;
        if self.stream.evict_passes {
            drawn = Box::new(Passes::new(drawn, self.stream, &self.parts_of_all()));
        }
        let Some(how) = self.stream.keep_written else { return Some(drawn) };
        let depth = self.stream.full_queue();
        let kept = Kept::new(drawn, how, depth, self.stream.seed_or(self.seed), self.place);
        Some(Box::new(kept.by_pass(how, bytes_of_a_pass(self.stream, &self.parts_of_all()))))
    }

    /// Its region of each file.
    fn parts_of_all(&self) -> Vec<Region> {
        match &self.pool {
            None => vec![self.region],
            Some(_) if !self.parts.is_empty() => self.parts.clone(),
            Some(pool) => {
                let whole = Region { start: 0, length: pool.files.file_bytes };
                vec![whole; pool.files.count as usize]
            }
        }
    }

    fn drawn(&self) -> Option<Box<dyn Source + 'a>> {
        if self.stream.turns.is_some() {
            let ops = TurnOps::new(self.stream, &self.parts, self.seed, self.place)?;
            return Some(Box::new(ops));
        }
        if let Some(p) = &self.pool {
            let busy = (p.busy, p.own.clone());
            let ops = PoolOps::new(self.stream, p.files, self.seed, self.place, p.common, busy)?;
            return Some(Box::new(ops));
        }
        let ops = StreamOps::new(self.stream, self.region, self.seed, self.place)?;
        Some(Box::new(ops))
    }

    /// The open file of an operation.
    pub fn handle(&self, file: u32) -> Handle {
        let file = file.min((self.files.len() as u32).saturating_sub(1));
        Handle {
            file: self.files.get(file as usize).copied().unwrap_or(0),
            open: self.opens + file,
            who: self.who,
            direct: self.stream.open.direct,
            access_time: !self.stream.open.no_access_time,
            // The other advices have no modelled effect.
            no_readahead: self.stream.open.advice == Advice::Random,
            generation: None,
        }
    }

    /// Maximum queue depth.
    pub fn depth(&self) -> u32 {
        in_flight(self.stream, self.pool.is_some(), self.region, self.seed, self.place)
    }
}

/// State shared by the workers of a phase that draw from common sequences.
#[derive(Default)]
pub(crate) struct Pools {
    commons: Vec<Common>,
    busy: Vec<AtomicU64>,
    /// One entry per worker.
    members: Vec<Option<PoolPositions>>,
}

/// A worker's pool, the pool's positions among all, and the worker's positions in the pool.
type PoolPositions = (usize, std::ops::Range<usize>, std::ops::Range<usize>);

#[derive(Clone)]
struct OpenPool {
    pool: usize,
    all: std::ops::Range<usize>,
    next: usize,
}

impl Pools {
    /// Finds the pools of a phase, like the engine.
    pub fn of(phase: &Phase) -> Self {
        let mut pools = Self::default();
        let mut places = 0;
        for group in &phase.groups {
            let mut open: Vec<Option<OpenPool>> = vec![None; group.threads.len()];
            for _ in 0..group.instances {
                for (thread, open) in group.threads.iter().zip(&mut open) {
                    for _ in 0..thread.instances {
                        let member = pools.place(group, thread, open, &mut places);
                        pools.members.push(member);
                    }
                }
            }
        }
        pools.busy.resize_with(places, AtomicU64::default);
        pools
    }

    fn place(
        &mut self,
        group: &Group,
        thread: &Thread,
        open: &mut Option<OpenPool>,
        places: &mut usize,
    ) -> Option<(usize, std::ops::Range<usize>, std::ops::Range<usize>)> {
        let Program::Stream(stream) = &thread.program else { return None };
        if stream.pick != Pick::All {
            return None;
        }
        let depth = if stream.exclusive { stream.queue_depth.max(1) as usize } else { 0 };
        let common = stream.sequence == Sequence::Common;
        let pool = match open.take() {
            Some(pool) if common => pool,
            _ => {
                let members = if common { group.instances as usize * thread.instances as usize } else { 1 };
                self.commons.push(Common::default());
                let all = *places..*places + members * depth;
                *places = all.end;
                OpenPool { pool: self.commons.len() - 1, all, next: 0 }
            }
        };
        let own = pool.next..pool.next + depth;
        let member = (pool.pool, pool.all.clone(), own.clone());
        *open = Some(OpenPool { next: own.end, ..pool });
        Some(member)
    }

    fn member(&self, index: usize, files: PooledFiles) -> Option<Member<'_>> {
        let (pool, all, own) = self.members.get(index)?.as_ref()?;
        Some(Member { common: &self.commons[*pool], busy: &self.busy[all.clone()], own: own.clone(), files })
    }
}

/// Inputs for planning a phase.
pub(crate) struct Setting<'a> {
    pub workload: &'a Workload,
    pub number: usize,
    pub repetition: u32,
    pub pools: &'a Pools,
    pub sets: &'a Sets,
}

/// Plans the workers of a phase. Files are reopened, so read-ahead starts afresh.
pub(crate) fn plans<'a>(machine: &Machine, setting: &Setting<'a>) -> Vec<WorkerPlan<'a>> {
    let phase: &'a Phase = &setting.workload.phases[setting.number];
    let mut opens = machine.opens.borrow_mut();
    opens.clear();
    machine.closed.borrow_mut().clear();
    let mut plans: Vec<WorkerPlan<'a>> = Vec::new();
    let (mut index, mut process_base) = (0, 0);
    // Start of a pool's open files, by process and pool.
    let mut shared: std::collections::BTreeMap<(u32, usize), u32> = std::collections::BTreeMap::new();
    for group in &phase.groups {
        for process in 0..group.instances {
            for thread in group.threads.iter().flat_map(|t| (0..t.instances).map(move |_| t)) {
                let at = index;
                index += 1;
                let Program::Stream(stream) = &thread.program else { continue };
                let Some(set) = setting.sets.get(&stream.fileset) else { continue };
                let count = set.count().max(1);
                let file = match stream.pick {
                    Pick::ByWorker | Pick::All => at as u64 % count,
                    Pick::One(n) => u64::from(n),
                };
                let pooled = PooledFiles { count: count as u32, file_bytes: set.size(0) };
                let parts = match &stream.turns {
                    Some(_) => (0..set.count()).map(|i| region_of(stream, set.size(i))).collect(),
                    None => Vec::new(),
                };
                let pool = setting.pools.member(at, pooled);
                let process = match group.isolation {
                    Isolation::Process => process_base + process + 1,
                    Isolation::Thread => 0,
                };
                let files = if pool.is_some() { Some(&*set.numbers) } else { set.one(file) };
                let files = files.unwrap_or_default();
                let first_open = opens.len() as u32;
                let key = (process, setting.pools.members[at].as_ref().map_or(usize::MAX, |m| m.0));
                let opens_at = match stream.sequence {
                    Sequence::Common if pool.is_some() => *shared.entry(key).or_insert(first_open),
                    _ => first_open,
                };
                if opens_at == first_open {
                    opens.extend((0..files.len().max(1)).map(|_| machine.policy.open()));
                }
                let who = Submitter::worker(at);
                let alone = machine.host.cpu.threads.get() == Threads::Linuxthreads;
                // Process numbers start after the system tasks'.
                let process_number =
                    if alone { who.0 } else { u16::try_from(process + 3).unwrap_or(u16::MAX) };
                machine.block.describe(who, process_number);
                plans.push(WorkerPlan {
                    group: if thread.name.is_empty() { group.name.clone() } else { thread.name.clone() },
                    index: at,
                    stream,
                    files,
                    opens: opens_at,
                    who,
                    region: pool.as_ref().map_or_else(
                        || region_of(stream, set.size(file)),
                        |p| Region {
                            start: 0,
                            length: p.files.file_bytes.saturating_mul(p.files.count.into()),
                        },
                    ),
                    set: &stream.fileset,
                    seed: setting.workload.seed.0,
                    place: Place {
                        phase: setting.number as u32,
                        worker: at as u32,
                        repetition: setting.repetition,
                    },
                    stagger_ns: phase.stagger.0.saturating_mul(at as u64).saturating_add(group.times.delay.0),
                    ramp_ns: group.ramp(phase).0,
                    ramp_bytes: group.times.ramp_bytes.0,
                    ramp_together: group.times.ramp_together,
                    time_ns: group.time(phase).map(|t| t.0),
                    own_time: group.times.stop.is_some(),
                    quota: Quota::of(&phase.stop),
                    raise: group.raise(phase),
                    company: group.times.company,
                    ends_company: group.times.ends_company,
                    pool,
                    parts,
                    between: CallLayer::of(stream, files.len()),
                });
            }
        }
        process_base += group.instances;
    }
    plans
}

/// The region of a file that a stream uses.
fn region_of(stream: &Stream, file_bytes: u64) -> Region {
    let start = stream.start.0;
    if let Access::Listed(list) = &stream.access {
        let end = list.iter().map(|op| op.offset + u64::from(op.bytes)).max().unwrap_or(0);
        return Region { start: 0, length: end };
    }
    Region { start, length: stream.length.map_or(file_bytes.saturating_sub(start), |b| b.0) }
}
