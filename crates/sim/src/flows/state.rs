//! State shared by all flows of a phase: the cast, the current file sets, random variables, rows, wait points, events.

use super::rows::RowStat;
use super::wait_queue::{Call, WaitQueue};
use crate::machine::Machine;
use crate::sets::{self, Sets};
use crate::simulation::SimError;
use crate::threads::Setting;
use fathom_workload::flow::{
    EntryPick, FlowMembers, Found, Impossible, Set, Supply, Totals, Variables, WaitPoint,
};
use fathom_workload::tree::Layouts;
use fathom_workload::{Phase, Workload};
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU64;

/// An array of words visible to all workers: one process holds them all.
pub(super) type Words = Vec<AtomicU64>;

/// What a worker waits for another worker to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Want {
    /// To be woken.
    Waking,
    /// To take this many from a semaphore.
    Take(u32),
    /// To give this many to a semaphore, up to a limit.
    Give(u32, Option<u64>),
}

/// What a worker needs of a set while others use it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// Any free entry that matches.
    Any(EntryPick),
    /// This entry.
    Entry(usize),
}

/// Wait queues for a file of a set, and for a leaf directory.
#[derive(Default)]
pub(super) struct SetQueues {
    pub files: WaitQueue<Need>,
    pub leaves: WaitQueue<Need>,
}

/// State shared by all flows of a phase.
pub(crate) struct FlowState<'a> {
    pub workload: &'a Workload,
    pub phase: &'a Phase,
    pub number: usize,
    pub repetition: u32,
    pub cast: FlowMembers,
    /// The file sets as the interpreter sees them, and the location of their files, by set index.
    pub(super) sets: Vec<Set<Words>>,
    pub(super) wheres: Vec<Option<&'a sets::Set>>,
    pub(super) variables: Variables<Words>,
    pub(super) supply: Option<Supply<Words>>,
    /// Rows of all workers.
    pub(super) rows: Vec<RefCell<RowStat>>,
    /// Totals of each worker.
    pub(super) done: Vec<Cell<Totals>>,
    /// Points where workers wait for each other.
    pub(super) waits: Vec<WaitPoint>,
    pub(super) lines: Vec<WaitQueue<Want>>,
    /// Number of workers asleep in all `lines`.
    pub(super) asleep: Cell<usize>,
    /// Workers waiting for an entry that another one uses, by set index.
    pub(super) busy: Vec<SetQueues>,
}

fn words<E>(count: usize) -> Result<Words, E> {
    Ok(std::iter::repeat_with(AtomicU64::default).take(count).collect())
}

impl From<Impossible> for SimError {
    fn from(why: Impossible) -> Self {
        Self::Unsupported(why.to_string())
    }
}

impl<'a> FlowState<'a> {
    /// For the flows of a phase; `None` if it has none.
    pub fn new(machine: &Machine, setting: &Setting<'a>) -> Result<Option<Self>, SimError> {
        let (workload, phase) = (setting.workload, &setting.workload.phases[setting.number]);
        let Some(cast) = FlowMembers::new(workload, phase) else { return Ok(None) };
        let wheres: Vec<Option<&sets::Set>> =
            workload.filesets.iter().map(|s| setting.sets.get(&s.name)).collect();
        let sets = wheres.iter().map(|set| found(machine, *set)).collect::<Result<_, SimError>>()?;
        let layouts = Layouts { streams: streams(setting.sets), ..Layouts::default() };
        let rate = phase.events_per_s.filter(|&rate| rate > 0.0);
        let count = cast.crews.len();
        Ok(Some(Self {
            workload,
            phase,
            number: setting.number,
            repetition: setting.repetition,
            sets,
            wheres,
            variables: Variables::new(workload, &layouts, count, words::<SimError>)?,
            supply: rate.map(|rate| Supply::new(rate, count, words::<SimError>)).transpose()?,
            rows: std::iter::repeat_with(RefCell::default).take(cast.rows).collect(),
            done: cast.places.iter().map(|_| Cell::default()).collect(),
            waits: std::iter::repeat_with(WaitPoint::default).take(cast.waits).collect(),
            lines: std::iter::repeat_with(WaitQueue::default).take(cast.waits).collect(),
            asleep: Cell::new(0),
            busy: workload.filesets.iter().map(|_| SetQueues::default()).collect(),
            cast,
        }))
    }

    /// Serves the tasks waiting at a semaphore as far as possible, first come, first served. A task that has taken no longer counts as
    /// wanting, and one that has given no longer as offering.
    pub(super) fn hand_over(&self, machine: &Machine, at: usize) {
        let point = &self.waits[at];
        self.let_go(machine, at, |wants| match *wants {
            Want::Waking => false,
            Want::Take(value) => {
                let took = point.take(value).worked();
                if took {
                    point.wanted_no_more();
                }
                took
            }
            Want::Give(value, most) => {
                let gave = point.give(value, most).worked();
                if gave {
                    point.offered_no_more();
                }
                gave
            }
        });
    }

    /// Wakes every task blocked at a point.
    pub(super) fn wake(&self, machine: &Machine, at: usize) {
        self.let_go(machine, at, |wants| matches!(wants, Want::Waking));
    }

    fn let_go(&self, machine: &Machine, at: usize, give: impl Fn(&Want) -> bool) {
        let served = self.lines[at].serve(machine, give);
        self.asleep.set(self.asleep.get() - served);
    }

    /// The tasks that wait for what a pick may find.
    pub(super) fn line_of(&self, pick: &EntryPick) -> &WaitQueue<Need> {
        let lines = &self.busy[pick.set];
        if pick.is_of_leaves() { &lines.leaves } else { &lines.files }
    }

    /// A file of a set is free: calls the first task that can have it, and those that can never get one.
    pub(super) fn file_is_free(&self, machine: &Machine, set: usize) {
        self.is_free(machine, &self.busy[set].files, |file| !self.sets[set].files.is_busy(file));
    }

    /// Like [`FlowState::file_is_free`], for an entry that a pick found.
    pub(super) fn entry_is_free(&self, machine: &Machine, pick: &EntryPick) {
        let pool = pick.pool(&self.sets);
        self.is_free(machine, self.line_of(pick), |entry| !pool.is_busy(entry));
    }

    fn is_free(&self, machine: &Machine, line: &WaitQueue<Need>, is_free: impl Fn(usize) -> bool) {
        line.call(machine, |needs| match needs {
            Need::Entry(entry) if is_free(*entry) => Call::Last,
            Need::Entry(_) => Call::No,
            Need::Any(pick) => match pick.outlook(&self.sets) {
                Found::Entry(_) => Call::Last,
                Found::None => Call::Also,
                Found::Busy => Call::No,
            },
        });
    }
}

/// Stream states of the variables after files and trees were drawn.
fn streams(sets: &Sets) -> std::collections::BTreeMap<String, fathom_workload::ops::generators::Rand48> {
    sets.streams.clone()
}

/// The current state of a set.
fn found(machine: &Machine, set: Option<&sets::Set>) -> Result<Set<Words>, SimError> {
    let Some((set, names)) = set.and_then(|s| Some((s, s.names.as_ref()?))) else {
        return Set::new(Vec::new(), |_| false, (0, |_| false), 0, words);
    };
    let files = machine.files.borrow();
    let exists = |n: usize| files.get(set.first() + n as u32).exists;
    let leaves = (names.leaves(), |n: usize| names.leaf_exists(n));
    Set::new(set.sizes.clone(), exists, leaves, names.directories.len(), words)
}
