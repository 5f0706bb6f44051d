//! The participants of a phase's flows: the programs, the workers that execute them, and which operation wakes which. It follows from the
//! workload alone, so it is the same for every executor.

use super::program::{FlatProgram, Number, is_called};
use crate::{Act, Flow, FlowOp, Group, Phase, Program as Does, Workload};

/// A worker that executes a flow.
#[derive(Clone, Debug)]
pub struct Member {
    /// Index of its program.
    pub program: usize,
    /// Index of its process in the phase.
    pub process: usize,
    /// Its index among that process's workers.
    pub number: usize,
    /// Name of its group, for messages.
    pub group: String,
    /// Index of its process in the group.
    pub instance: u32,
    /// Name of its thread.
    pub thread: String,
    /// Its index among the thread's instances in the process.
    pub thread_instance: u32,
    /// Index of its first row among those of all workers.
    pub first_row: usize,
    /// Index of its first wait point among those of all workers.
    pub first_wait: usize,
    /// Size of its private memory; 0: none.
    pub memory: u64,
    /// I/O priority in the kernel's encoding, with the class in the bits from the 13th on; `None`: the process's own.
    pub io_priority: Option<u16>,
}

/// The programs of a phase and the workers that execute them.
#[derive(Debug, Default)]
pub struct FlowMembers {
    /// The flattened flows.
    pub programs: Vec<FlatProgram>,
    /// Indexed by worker of the phase; `None` for workers that execute streams.
    pub places: Vec<Option<Member>>,
    /// Workers of each process.
    pub crews: Vec<Vec<usize>>,
    /// Number of rows of all workers together.
    pub rows: usize,
    /// Number of wait points of all workers together.
    pub waits: usize,
}

/// The flows of a phase.
pub fn flows(phase: &Phase) -> impl Iterator<Item = &Flow> {
    phase.groups.iter().flat_map(|g| &g.threads).filter_map(|t| match &t.program {
        Does::Flow(flow) => Some(flow),
        Does::Stream(_) => None,
    })
}

/// Every operation, including those inside sequences.
#[must_use]
pub fn every(ops: &[FlowOp]) -> Vec<&FlowOp> {
    ops.iter().flat_map(|op| std::iter::once(op).chain(every(&op.ops))).collect()
}

/// The file sets named by operations of a phase's flows that satisfy `wanted`. An operation without a set works on a file that another
/// one opened, of any set.
#[must_use]
pub fn set_names(phase: &Phase, wanted: impl Fn(Act) -> bool) -> std::collections::BTreeSet<&str> {
    let (mut names, mut opened) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    let mut by_slot = false;
    for op in flows(phase).flat_map(|flow| every(&flow.ops)) {
        match &op.fileset {
            Some(set) if wanted(op.act) => drop(names.insert(set.as_str())),
            Some(set) => drop(opened.insert(set.as_str())),
            None => by_slot |= wanted(op.act),
        }
    }
    if by_slot {
        names.append(&mut opened);
    }
    names
}

impl FlowMembers {
    /// The cast of a phase; `None` if none of its threads executes a flow.
    #[must_use]
    pub fn new(workload: &Workload, phase: &Phase) -> Option<Self> {
        flows(phase).next()?;
        let mut this = Self::default();
        let mut process_base = 0;
        for group in &phase.groups {
            let mut programs = Vec::with_capacity(group.threads.len());
            for thread in &group.threads {
                programs.push(match &thread.program {
                    Does::Flow(flow) => {
                        this.programs.push(FlatProgram::new(flow, workload));
                        Some(this.programs.len() - 1)
                    }
                    Does::Stream(_) => None,
                });
            }
            this.crews.resize(process_base + group.instances as usize, Vec::new());
            for (at, instance, thread_instance) in positions(group) {
                let process = process_base + instance as usize;
                this.join(group, programs[at], at, (process, instance, thread_instance));
            }
            process_base += group.instances as usize;
        }
        this.connect();
        Some(this)
    }

    fn join(
        &mut self,
        group: &Group,
        program: Option<usize>,
        at: usize,
        (process, instance, thread_instance): (usize, u32, u32),
    ) {
        let Some(program) = program else {
            self.places.push(None);
            return;
        };
        let thread = &group.threads[at];
        let worker = self.places.len();
        self.places.push(Some(Member {
            program,
            process,
            number: self.crews[process].len(),
            group: group.name.clone(),
            instance,
            thread: thread.name.clone(),
            thread_instance,
            first_row: self.rows,
            first_wait: self.waits,
            memory: thread.memory.0,
            io_priority: thread.io_priority_number(),
        }));
        self.crews[process].push(worker);
        self.rows += self.programs[program].ops.len();
        self.waits += self.programs[program].waits;
    }

    /// Resolves the targets of waking and posting operations to wait points in all workers.
    fn connect(&mut self) {
        let programs = &self.programs;
        let points: Vec<(String, Act, usize, Number)> = self
            .places
            .iter()
            .flatten()
            .flat_map(|place| programs[place.program].ops.iter().map(move |op| (place, op)))
            .filter(|(_, op)| matches!(op.act, Act::Block | Act::SemaphoreWait))
            .map(|(place, op)| (op.name.clone(), op.act, place.first_wait + op.wait, op.high_water))
            .collect();
        for op in self.programs.iter_mut().flat_map(|p| &mut p.ops) {
            let wanted = match op.act {
                Act::Wake => Act::Block,
                Act::SemaphorePost => Act::SemaphoreWait,
                _ => continue,
            };
            let Some(target) = op.target.clone() else { continue };
            let named = points.iter().filter(|p| p.1 == wanted && is_called(&p.0, &target));
            op.target_waits = named.map(|p| (p.2, p.3)).collect();
        }
    }
}

/// Each worker of a group: index of its thread, of its process, and among the thread's instances.
fn positions(group: &Group) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
    (0..group.instances).flat_map(move |process| {
        group
            .threads
            .iter()
            .enumerate()
            .flat_map(move |(at, t)| (0..t.instances).map(move |instance| (at, process, instance)))
    })
}
