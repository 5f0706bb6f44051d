//! Shared state of all flows of a phase: the file sets, the random variables, the rows, the points where workers wait for each
//! other, the supply of events. Created by the parent before the workers; all share the same view, and changing state is in
//! shared memory.

use super::say::Messages;
use super::sets::{SetNames, SetPlace};
use crate::kind_stats::KindStat;
use crate::shared_memory::{Mapped, Sharable};
use crate::{EngineError, Ledger};
use fathom_record::{OpKind, RowClass};
use fathom_workload::flow::{
    Class, FlatProgram, FlowMembers, Impossible, Kind, Member, Set, Supply, Variables, WaitPoint, set_names,
};
use fathom_workload::tree::Layouts;
use fathom_workload::{Exhausted, FileSet, Finished, Phase, Workload};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// An array of words that all workers see, in whatever process.
pub(crate) type SharedWords = Mapped<AtomicU64>;

/// Figures of one operation of one worker.
#[repr(C, align(128))]
pub(crate) struct RowStat {
    pub times: KindStat,
    /// CPU time of the thread, ns.
    pub cpu_ns: AtomicU64,
}

// SAFETY: only atomics, for which 0 is a valid value.
unsafe impl Sharable for RowStat {}

// SAFETY: only atomics, for which 0 is a valid value.
unsafe impl Sharable for WaitPoint {}

impl From<Impossible> for EngineError {
    fn from(why: Impossible) -> Self {
        crate::error::unsupported("variables", &why.to_string())
    }
}

/// Shared state of all flows of a phase.
pub(crate) struct Setting {
    pub programs: Vec<FlatProgram>,
    /// By worker of the phase; `None` for those that execute streams.
    pub places: Vec<Option<Member>>,
    /// Workers of each process.
    pub crews: Vec<Vec<usize>>,
    /// The file sets as the interpreter of flows sees them, and where their files are.
    pub sets: Vec<Set<SharedWords>>,
    pub set_places: Vec<SetPlace>,
    pub variables: Variables<SharedWords>,
    pub rows: Mapped<RowStat>,
    pub waits: Mapped<WaitPoint>,
    pub supply: Option<Supply<SharedWords>>,
    pub messages: Messages,
    pub exhausted: Exhausted,
    pub finished: Finished,
}

impl Setting {
    /// The file of a set, if the worker executes a flow.
    pub fn path_of(&self, worker: usize, set: usize, file: usize) -> Option<PathBuf> {
        self.places.get(worker)?.as_ref()?;
        self.set_places
            .get(set)?
            .entries
            .get(file)
            .map(|entry| PathBuf::from(super::sets::text(entry.spot.path())))
    }
}

/// Directory of a worker's first file set.
pub(crate) fn directory_of(setting: &Setting, worker: usize) -> PathBuf {
    let Some(place) = setting.places.get(worker).and_then(Option::as_ref) else { return PathBuf::new() };
    let set = setting.programs[place.program].ops.iter().find_map(|op| op.set);
    let directory = set.and_then(|set| setting.set_places[set].directories.first());
    directory.map(|d| PathBuf::from(super::sets::text(d))).unwrap_or_default()
}

impl Setting {
    /// The shared state of the phase's flows; `None` if it has none. `names` returns the files of a set, `layouts` holds the
    /// drawn ones.
    pub fn new(
        workload: &Workload,
        phase: &Phase,
        layouts: &Layouts,
        names: impl Fn(&FileSet) -> Result<SetNames, EngineError>,
        ledger: &Ledger,
    ) -> Result<Option<Self>, EngineError> {
        let Some(FlowMembers { programs, places, crews, rows, waits }) = FlowMembers::new(workload, phase)
        else {
            return Ok(None);
        };
        let (used, changed) = (set_names(phase, |_| true), set_names(phase, fathom_workload::Act::changes));
        let (mut sets, mut set_places) = (Vec::new(), Vec::new());
        for set in &workload.filesets {
            let name = set.name.as_str();
            let names = if used.contains(name) { names(set)? } else { SetNames::default() };
            let (state, place) = super::sets::found(set, &names, changed.contains(name), ledger)?;
            sets.push(state);
            set_places.push(place);
        }
        let rate = phase.events_per_s.filter(|&rate| rate > 0.0);
        Ok(Some(Self {
            sets,
            set_places,
            variables: Variables::new(workload, layouts, crews.len(), SharedWords::new)?,
            rows: Mapped::new(rows)?,
            waits: Mapped::new(waits)?,
            supply: rate.map(|rate| Supply::new(rate, crews.len(), SharedWords::new)).transpose()?,
            messages: Messages::new()?,
            exhausted: phase.stop.exhausted,
            finished: phase.stop.finished,
            programs,
            places,
            crews,
        }))
    }

    /// The rows of a worker.
    pub fn rows_of(&self, place: &Member) -> &[RowStat] {
        &self.rows[place.first_row..place.first_row + self.programs[place.program].ops.len()]
    }

    /// The figures in a worker's rows, for the record.
    pub fn tell_rows(&self, worker: usize) -> Vec<fathom_record::Row> {
        let Some(place) = self.places.get(worker).and_then(Option::as_ref) else { return Vec::new() };
        let row = |(op, stat): (&fathom_workload::flow::FlatOp, &RowStat)| fathom_record::Row {
            name: op.name.clone(),
            class: class(op.class),
            kind: op.kind.map(kind),
            ops: stat.times.ops(),
            bytes: stat.times.bytes(),
            latency: stat.times.histogram(),
            cpu_ns: stat.cpu_ns.load(Ordering::Relaxed),
        };
        self.programs[place.program].ops.iter().zip(self.rows_of(place)).map(row).collect()
    }
}

/// The record's name of a class.
fn class(class: Class) -> RowClass {
    match class {
        Class::Io => RowClass::Io,
        Class::Async => RowClass::Async,
        Class::Sync => RowClass::Sync,
        Class::Other => RowClass::Other,
        Class::None => RowClass::None,
    }
}

/// The record's name of a kind.
pub(super) fn kind(kind: Kind) -> OpKind {
    match kind {
        Kind::Read => OpKind::Read,
        Kind::Write => OpKind::Write,
        Kind::Open => OpKind::Open,
        Kind::Close => OpKind::Close,
        Kind::Delete => OpKind::Delete,
        Kind::Stat => OpKind::Stat,
        Kind::Sync => OpKind::Sync,
    }
}
