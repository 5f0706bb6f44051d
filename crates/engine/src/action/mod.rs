//! The steps between phases: laying files out ([`plain`], [`tree`]), evicting and warming ([`cache`]), filling holes ([`fill`]),
//! removing ([`owned`]), and steps [`outside`] of files. None of them is inside a clock.

mod bottomless;
mod cache;
mod device;
mod fill;
pub(crate) mod free_space;
mod image;
mod outside;
pub(crate) mod owned;
mod plain;
mod progress;
mod sets;
mod tree;
mod writing;

use crate::error::unsupported;
use crate::{Engine, EngineError, Ledger};
use fathom_workload::{Action, FileSet, Files, Workload};
use std::path::Path;
use std::time::{Duration, Instant};

pub use bottomless::is_bottomless;
pub(crate) use owned::{
    check_all, directories_must_be_ours, ensure, keep, make_room, make_way_to_directories, must_be_ours,
    must_be_readable,
};
use plain::Reservation;
pub(crate) use progress::Listener;
pub use progress::{Prepared, Progress, Step};
pub(crate) use sets::{Cache, Sets};

/// Size of warming reads, and of data generated at once for writing; files up to this size are small.
const CHUNK: usize = 1 << 20;
/// Interval of progress reports.
const OFTEN: Duration = Duration::from_millis(100);

impl Engine {
    /// Executes one step between phases.
    ///
    /// # Errors
    /// If it cannot be done.
    pub fn act(&mut self, workload: &Workload, action: &Action) -> Result<(), EngineError> {
        let sets = self.sets(workload)?;
        match action {
            Action::Sync => {
                rustix::fs::sync();
                Ok(())
            }
            Action::Evict(set) => each(&sets, set_of(workload, set)?, cache::evict),
            Action::Warm(set) => each(&sets, set_of(workload, set)?, cache::warm),
            Action::Prepare(set) => self.prepare_with(workload, set, &mut |_, _| {}),
            Action::Reserve(set) => {
                plain::reserve(&sets, set_of(workload, set)?, Reservation::Both, &mut self.ledger)
            }
            Action::ReserveBehind(set) => {
                plain::reserve(&sets, set_of(workload, set)?, Reservation::Space, &mut self.ledger)
            }
            Action::Extend(set) => {
                plain::reserve(&sets, set_of(workload, set)?, Reservation::Size, &mut self.ledger)
            }
            Action::MakeDirectories(set) => {
                owned::make_directories(&sets, set_of(workload, set)?, &mut self.ledger)
            }
            Action::Recreate(set) => self.lay_out(workload, set, true, &mut |_, _| {}),
            Action::Remove(set) => owned::remove(&sets, set_of(workload, set)?, &mut self.ledger),
            Action::Remount(point) => outside::remount(point),
            Action::Sleep(time) => {
                outside::sleep(Duration::from_nanos(time.0));
                Ok(())
            }
            Action::Command(words) => outside::command(words),
        }
    }

    /// As [`Action::Prepare`], reporting the fate of each file that must exist: for listed and numbered files in their order,
    /// before the file is written; for trees directory by directory, afterwards.
    ///
    /// # Errors
    /// If a file is in the way, or cannot be created.
    pub fn prepare_with(
        &mut self,
        workload: &Workload,
        set: &str,
        report: &mut dyn FnMut(&Path, Prepared),
    ) -> Result<(), EngineError> {
        self.lay_out(workload, set, false, report)
    }

    fn lay_out(
        &mut self,
        workload: &Workload,
        set: &str,
        empty: bool,
        report: &mut dyn FnMut(&Path, Prepared),
    ) -> Result<(), EngineError> {
        let sets = self.sets(workload)?;
        let set = set_of(workload, set)?;
        let mut laying = Laying {
            workload,
            sets: &sets,
            set,
            ledger: &mut self.ledger,
            listener: self.progress.as_mut(),
            last_report: Instant::now(),
            report,
        };
        match &set.files {
            Files::Tree(tree) => tree::prepare(&mut laying, tree, empty),
            // Emptied files are created again, whatever the set says about existing files.
            _ if empty => plain::recreate(&mut laying),
            _ => plain::prepare(&mut laying),
        }
    }
}

/// State of laying out a set.
struct Laying<'a> {
    workload: &'a Workload,
    sets: &'a Sets,
    set: &'a FileSet,
    ledger: &'a mut Ledger,
    listener: Option<&'a mut Listener>,
    last_report: Instant,
    report: &'a mut dyn FnMut(&Path, Prepared),
}

impl Laying<'_> {
    /// Reports progress: at once, or only if the last report is some time ago.
    fn report(&mut self, step: Step, done: u64, total: u64, bytes: u64, at_once: bool) {
        if let Some(listener) = &mut self.listener
            && (at_once || self.last_report.elapsed() >= OFTEN)
        {
            listener(&Progress { set: &self.set.name, step, done, total, bytes });
            self.last_report = Instant::now();
        }
    }
}

fn set_of<'a>(workload: &'a Workload, name: &str) -> Result<&'a FileSet, EngineError> {
    workload.fileset(name).ok_or_else(|| unsupported("workload", &format!("no file set is named {name:?}")))
}

/// Applies an action to every file of a set. Files of sets used by flows may be missing; others must exist.
fn each(
    sets: &Sets,
    set: &FileSet,
    act: impl Fn(&Path) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let come_and_go = matches!(set.files, Files::Tree(_)) || set.preallocated_percent < 100;
    sets.paths(set).filter(|path| !come_and_go || path.exists()).try_for_each(|path| act(&path))
}
