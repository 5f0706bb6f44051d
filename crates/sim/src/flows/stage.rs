//! What all flows of a phase share: the cast, the file sets as they are now, random variables, rows, places to wait at, events.

use super::line::Line;
use super::rows::RowStat;
use crate::machine::Machine;
use crate::sets::{self, Sets};
use crate::simulation::SimError;
use crate::threads::Setting;
use fathom_workload::flow::{Cast, Impossible, Set, Supply, Totals, Variables, WaitPoint};
use fathom_workload::tree::Layouts;
use fathom_workload::{Phase, Workload};
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU64;

/// An array of words that all workers see: one process has them all.
pub(super) type Words = Vec<AtomicU64>;

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
    pub(super) lines: Vec<Line>,
    /// How many are asleep there altogether.
    pub(super) asleep: Cell<usize>,
    /// Those who wait for an entry of a set that another one is at.
    pub(super) busy: Line,
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
            busy: Line::default(),
            cast,
        }))
    }

    /// Those asleep at a place go on.
    pub(super) fn wake(&self, machine: &Machine, point: usize) {
        let woken = self.lines[point].wake(machine);
        self.asleep.set(self.asleep.get() - woken);
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
