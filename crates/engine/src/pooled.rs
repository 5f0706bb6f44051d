//! Assigns pools to the workers of a phase. If a stream has a common sequence, all its workers share one pool. If it uses a whole
//! set with separate sequences, each worker has its own pool.

use crate::EngineError;
use crate::action::Sets;
use crate::layout::region_of;
use crate::pools::{Pool, Pools};
use fathom_workload::ops::{PooledFiles, Region};
use fathom_workload::{Group, Phase, Pick, Program, Sequence, Stream, Thread, Workload};
use std::ops::Range;
use std::path::PathBuf;

/// The pools of a phase.
pub(crate) struct Pooled {
    memory: Pools,
    workers: Vec<Option<Member>>,
    sets: Vec<Set>,
}

/// A worker's slots in its pool.
struct Member {
    pool: usize,
    set: usize,
    /// The slots of its pool among those of all pools, and its own within the pool.
    all: Range<usize>,
    own: Range<usize>,
}

/// A pool whose slots are being assigned to workers.
#[derive(Clone)]
struct Open {
    pool: usize,
    set: usize,
    all: Range<usize>,
    /// The next free slot.
    next: usize,
}

struct Set {
    files: PooledFiles,
    paths: Vec<PathBuf>,
    parts: Vec<Region>,
}

/// The assignments so far.
struct Assignments<'a> {
    workload: &'a Workload,
    files: &'a Sets,
    sets: Vec<Set>,
    pools: usize,
    places: usize,
}

impl Pooled {
    /// Goes through the phase's workers in index order and allocates the shared memory.
    pub fn of(workload: &Workload, files: &Sets, phase: &Phase) -> Result<Self, EngineError> {
        let mut assignments = Assignments { workload, files, sets: Vec::new(), pools: 0, places: 0 };
        let mut workers = Vec::new();
        for group in &phase.groups {
            // All instances of one thread entry of a group execute one stream: they share its sequence.
            let mut of_threads: Vec<Option<Open>> = vec![None; group.threads.len()];
            for _ in 0..group.instances {
                for (thread, open) in group.threads.iter().zip(&mut of_threads) {
                    for _ in 0..thread.instances {
                        workers.push(assignments.place(group, thread, open));
                    }
                }
            }
        }
        let Assignments { sets, pools, places, .. } = assignments;
        Ok(Self { memory: Pools::new(pools, places)?, workers, sets })
    }

    /// The pool of a worker; `None` if it works on one file.
    pub fn of_worker(&self, index: usize) -> Option<Pool<'_>> {
        let member = self.workers.get(index)?.as_ref()?;
        let set = &self.sets[member.set];
        Some(Pool {
            common: &self.memory.commons()[member.pool],
            busy: (&self.memory.places()[member.all.clone()], member.own.clone()),
            files: set.files,
            paths: &set.paths,
            parts: &set.parts,
        })
    }
}

impl Assignments<'_> {
    /// Assigns slots to the next worker of a thread entry; `open` is the pool if an earlier worker has created it.
    fn place(&mut self, group: &Group, thread: &Thread, open: &mut Option<Open>) -> Option<Member> {
        let Program::Stream(stream) = &thread.program else { return None };
        if stream.pick != Pick::All {
            return None;
        }
        // Only exclusive streams track their records in flight.
        let depth = if stream.exclusive { stream.queue_depth.max(1) as usize } else { 0 };
        let pool = match open.take() {
            Some(pool) if stream.sequence == Sequence::Common => pool,
            other => {
                let set = other.map_or_else(|| self.set_of(stream), |pool| pool.set);
                let members = match stream.sequence {
                    Sequence::Common => group.instances as usize * thread.instances as usize,
                    Sequence::Own => 1,
                };
                self.pools += 1;
                let all = self.places..self.places + members * depth;
                self.places = all.end;
                Open { pool: self.pools - 1, set, all, next: 0 }
            }
        };
        let own = pool.next..pool.next + depth;
        let member = Member { pool: pool.pool, set: pool.set, all: pool.all.clone(), own: own.clone() };
        *open = Some(Open { next: own.end, ..pool });
        Some(member)
    }

    /// The files of a stream's set. Except for turns and lists they have one size: other sets are refused.
    fn set_of(&mut self, stream: &Stream) -> usize {
        let set = self.workload.fileset(&stream.fileset);
        let paths: Vec<PathBuf> = set.map(|s| self.files.paths(s).collect()).unwrap_or_default();
        // Data differ by their position in a row of files, each as large as the largest.
        let file_bytes = set.map_or(0, |s| self.files.largest(s));
        let parts = match (set, &stream.turns) {
            (Some(s), Some(_)) => {
                (0..paths.len() as u64).map(|i| region_of(stream, self.files.size(s, i))).collect()
            }
            _ => Vec::new(),
        };
        self.sets.push(Set { files: PooledFiles { count: paths.len() as u32, file_bytes }, paths, parts });
        self.sets.len() - 1
    }
}
