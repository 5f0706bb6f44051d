//! What all flows of a phase share: the cast, the file sets as they are now, random variables, rows, places to wait at, events.

use super::line::{Call, Line};
use super::rows::RowStat;
use crate::machine::Machine;
use crate::sets::{self, Sets};
use crate::simulation::SimError;
use crate::threads::Setting;
use fathom_workload::flow::{Cast, Found, Impossible, Pick, Set, Supply, Totals, Variables, WaitPoint};
use fathom_workload::tree::Layouts;
use fathom_workload::{Phase, Workload};
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU64;

/// An array of words that all workers see: one process has them all.
pub(super) type Words = Vec<AtomicU64>;

/// What somebody waits for that another worker has to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wants {
    /// To be woken.
    Waking,
    /// To take so many from a semaphore.
    Take(u32),
    /// To give it so many, up to a mark.
    Give(u32, Option<u64>),
}

/// What somebody needs of a set, all of which others are at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needs {
    /// Any entry that is free and as wanted.
    Any(Pick),
    /// This one.
    Entry(usize),
}

/// Those who wait for a file of a set, and for a leaf directory.
#[derive(Default)]
pub(super) struct Lines {
    pub files: Line<Needs>,
    pub leaves: Line<Needs>,
}

/// What all flows of a phase share.
pub(crate) struct Stage<'a> {
    pub workload: &'a Workload,
    pub phase: &'a Phase,
    pub number: usize,
    pub repetition: u32,
    pub cast: Cast,
    /// The file sets as the interpreter sees them, and where their files are; by number.
    pub(super) sets: Vec<Set<Words>>,
    pub(super) wheres: Vec<Option<&'a sets::Set>>,
    pub(super) variables: Variables<Words>,
    pub(super) supply: Option<Supply<Words>>,
    /// Of all workers.
    pub(super) rows: Vec<RefCell<RowStat>>,
    /// What each worker has done.
    pub(super) done: Vec<Cell<Totals>>,
    /// Where workers wait for each other, and who is asleep there.
    pub(super) waits: Vec<WaitPoint>,
    pub(super) lines: Vec<Line<Wants>>,
    /// How many are asleep there altogether.
    pub(super) asleep: Cell<usize>,
    /// Those who wait for an entry of a set that another one is at, by number of the set.
    pub(super) busy: Vec<Lines>,
}

fn words<E>(count: usize) -> Result<Words, E> {
    Ok(std::iter::repeat_with(AtomicU64::default).take(count).collect())
}

impl From<Impossible> for SimError {
    fn from(why: Impossible) -> Self {
        Self::Unsupported(why.to_string())
    }
}

impl<'a> Stage<'a> {
    /// For the flows of a phase; `None` if it has none.
    pub fn new(machine: &Machine, setting: &Setting<'a>) -> Result<Option<Self>, SimError> {
        let (workload, phase) = (setting.workload, &setting.workload.phases[setting.number]);
        let Some(cast) = Cast::new(workload, phase) else { return Ok(None) };
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
            lines: std::iter::repeat_with(Line::default).take(cast.waits).collect(),
            asleep: Cell::new(0),
            busy: workload.filesets.iter().map(|_| Lines::default()).collect(),
            cast,
        }))
    }

    /// Gives those who wait at a semaphore what can be given now, first come, first served. Who takes is wanted no more by that, and who
    /// gives offers no more.
    pub(super) fn hand_over(&self, machine: &Machine, at: usize) {
        let point = &self.waits[at];
        self.let_go(machine, at, |wants| match *wants {
            Wants::Waking => false,
            Wants::Take(value) => {
                let took = point.take(value).worked();
                if took {
                    point.wanted_no_more();
                }
                took
            }
            Wants::Give(value, most) => {
                let gave = point.give(value, most).worked();
                if gave {
                    point.offered_no_more();
                }
                gave
            }
        });
    }

    /// Whoever is blocked at a place goes on.
    pub(super) fn wake(&self, machine: &Machine, at: usize) {
        self.let_go(machine, at, |wants| matches!(wants, Wants::Waking));
    }

    fn let_go(&self, machine: &Machine, at: usize, give: impl Fn(&Wants) -> bool) {
        let served = self.lines[at].serve(machine, give);
        self.asleep.set(self.asleep.get() - served);
    }

    /// Those who wait for what a pick may find.
    pub(super) fn line_of(&self, pick: &Pick) -> &Line<Needs> {
        let lines = &self.busy[pick.set];
        if pick.is_of_leaves() { &lines.leaves } else { &lines.files }
    }

    /// A file of a set is free: the first who can have it is called, and those who will never get any.
    pub(super) fn file_is_free(&self, machine: &Machine, set: usize) {
        self.is_free(machine, &self.busy[set].files, |file| !self.sets[set].files.is_busy(file));
    }

    /// As [`Stage::file_is_free`], of an entry that a pick found.
    pub(super) fn entry_is_free(&self, machine: &Machine, pick: &Pick) {
        let pool = pick.pool(&self.sets);
        self.is_free(machine, self.line_of(pick), |entry| !pool.is_busy(entry));
    }

    fn is_free(&self, machine: &Machine, line: &Line<Needs>, is_free: impl Fn(usize) -> bool) {
        line.call(machine, |needs| match needs {
            Needs::Entry(entry) if is_free(*entry) => Call::Last,
            Needs::Entry(_) => Call::No,
            Needs::Any(pick) => match pick.outlook(&self.sets) {
                Found::Entry(_) => Call::Last,
                Found::None => Call::Also,
                Found::Busy => Call::No,
            },
        });
    }
}

/// Where the streams of variables stand that files and trees were drawn from.
fn streams(sets: &Sets) -> std::collections::BTreeMap<String, fathom_workload::ops::generators::Rand48> {
    sets.streams.clone()
}

/// A set as it is now.
fn found(machine: &Machine, set: Option<&sets::Set>) -> Result<Set<Words>, SimError> {
    let Some((set, names)) = set.and_then(|s| Some((s, s.names.as_ref()?))) else {
        return Set::new(Vec::new(), |_| false, (0, |_| false), 0, words);
    };
    let files = machine.files.borrow();
    let exists = |n: usize| files.get(set.first() + n as u32).exists;
    let leaves = (names.leaves(), |n: usize| names.leaf_exists(n));
    Set::new(set.sizes.clone(), exists, leaves, names.directories.len(), words)
}
