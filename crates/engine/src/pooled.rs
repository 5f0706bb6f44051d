//! Which workers of a phase draw from which pool: one pool for all workers of a stream with a common sequence, one for each worker
//! of a stream over a whole set with a sequence of its own.

use crate::pools::{Pool, Pools};
use crate::EngineError;
use crate::action::Sets;
use fathom_workload::ops::PooledFiles;
use fathom_workload::{Phase, Pick, Program, Sequence, Stream, Workload};
use std::ops::Range;
use std::path::PathBuf;

/// The pools of a phase.
pub(crate) struct Pooled {
    memory: Pools,
    workers: Vec<Option<Member>>,
    sets: Vec<Set>,
}

/// A worker's place in its pool.
struct Member {
    pool: usize,
    set: usize,
    /// The places of its pool, and its own among them.
    all: Range<usize>,
    own: Range<usize>,
}

struct Set {
    files: PooledFiles,
    paths: Vec<PathBuf>,
}

impl Pooled {
    /// Looks through the phase's workers, in the order of their numbers, and gets the memory they share.
    pub fn of(workload: &Workload, files: &Sets, phase: &Phase) -> Result<Self, EngineError> {
        let (mut workers, mut sets) = (Vec::new(), Vec::<Set>::new());
        let (mut pools, mut places) = (0, 0);
        for group in &phase.groups {
            // All instances of one thread entry of a group execute one stream: they share its sequence.
            let mut of_thread: Vec<Option<(usize, usize, Range<usize>, usize)>> =
                vec![None; group.threads.len()];
            for _ in 0..group.instances {
                for (thread, state) in group.threads.iter().zip(&mut of_thread) {
                    for _ in 0..thread.instances {
                        let stream = match &thread.program {
                            Program::Stream(stream) if stream.pick == Pick::All => stream,
                            _ => {
                                workers.push(None);
                                continue;
                            }
                        };
                        let depth = stream.queue_depth.max(1) as usize;
                        let common = stream.sequence == Sequence::Common;
                        if state.is_none() || !common {
                            let set = match state {
                                Some((_, set, ..)) => *set,
                                None => {
                                    sets.push(Set::of(workload, files, stream));
                                    sets.len() - 1
                                }
                            };
                            let members =
                                if common { group.instances as usize * thread.instances as usize } else { 1 };
                            let room = if stream.exclusive { members * depth } else { 0 };
                            *state = Some((pools, set, places..places + room, 0));
                            pools += 1;
                            places += room;
                        }
                        let Some((pool, set, all, next)) = state else { continue };
                        let own = if stream.exclusive { *next..*next + depth } else { 0..0 };
                        *next = own.end;
                        workers.push(Some(Member { pool: *pool, set: *set, all: all.clone(), own }));
                    }
                }
            }
        }
        Ok(Self { memory: Pools::new(pools, places)?, workers, sets })
    }

    /// The pool of a worker; `None` if its stream works on one file.
    pub fn of_worker(&self, index: usize) -> Option<Pool<'_>> {
        let member = self.workers.get(index)?.as_ref()?;
        let set = &self.sets[member.set];
        Some(Pool {
            common: &self.memory.commons()[member.pool],
            busy: (&self.memory.places()[member.all.clone()], member.own.clone()),
            files: set.files,
            paths: &set.paths,
        })
    }
}

impl Set {
    fn of(workload: &Workload, sets: &Sets, stream: &Stream) -> Self {
        let set = workload.fileset(&stream.fileset);
        let paths: Vec<PathBuf> = set.map(|s| sets.paths(s).collect()).unwrap_or_default();
        // All of one size: other sets are refused.
        let file_bytes = set.map_or(0, |s| sets.size(s, 0));
        let files = PooledFiles { count: paths.len() as u32, file_bytes };
        Self { files, paths }
    }
}
