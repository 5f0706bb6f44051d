//! Stores a run while it is measured: phase by phase, and at the end what could not be stored in time.

use crate::common::Common;
use crate::{console, state};
use fathom_record::store::new_run_id;
use fathom_record::{Phase, Run, Store, StoreError};
use std::time::Duration;

/// Stores the run as far as wanted and possible. The measurement continues if the store fails, and what is missing is
/// stored at the end if possible; a run that is not stored where it should be is no success.
pub struct RunStore {
    store: Option<Store>,
    /// A phase could not be stored. No further attempt is made before the end: each one would wait for the store's
    /// lock.
    behind: bool,
}

impl RunStore {
    /// Begins the run in the store. Runs that begin at the same time may get the same id; then this one gets a new one.
    pub fn open(common: &Common, run: &mut Run) -> Self {
        Self::begin(reach(common), common, run)
    }

    /// The same in a store that was opened, or failed to open.
    pub fn begin(store: Option<anyhow::Result<Store>>, common: &Common, run: &mut Run) -> Self {
        let Some(store) = store else { return Self { store: None, behind: false } };
        let opened = store.and_then(|mut store| {
            begin(&mut store, run)?;
            Ok(store)
        });
        match opened {
            Ok(store) => Self { store: Some(store), behind: false },
            Err(e) => {
                let warning =
                    format!("this run will not be stored; its figures are only in the printed output: {e:#}");
                // If no store was named and there is none, none is expected.
                if state::store_is_named(common.store.as_deref()) {
                    console::incomplete(&warning);
                } else {
                    console::warning_unless_hushed(&warning);
                }
                Self { store: None, behind: false }
            }
        }
    }

    pub fn phase(&mut self, run_id: &str, phase: &Phase) {
        if let Some(store) = self.store.as_mut().filter(|_| !self.behind)
            && let Err(e) = store.append_phase(run_id, phase)
        {
            console::warning(&format!(
                "phase {} could not be stored; the store is tried again at the end: {e}",
                phase.name
            ));
            self.behind = true;
        }
    }

    /// Returns whether the run is in the store.
    pub fn close(self, run: &Run) -> bool {
        let Some(mut store) = self.store else { return false };
        // Of a phase already stored, only what is new is written.
        let missing = if self.behind { run.phases.as_slice() } else { &[] };
        let done = missing
            .iter()
            .try_for_each(|phase| store.append_phase(&run.id, phase))
            .and_then(|()| store.finish(run));
        if let Err(e) = &done {
            // Otherwise it would look as if it had been killed.
            let _ = store.give_up(&run.id, &format!("stored only in part: {e}"));
        }
        let done = done.and(store.close());
        if let Err(e) = &done {
            console::incomplete(&format!(
                "this run is stored only in part; the rest is only in the printed output: {e}"
            ));
        }
        done.is_ok()
    }
}

/// Opens the store if runs are to be stored.
pub fn reach(common: &Common) -> Option<anyhow::Result<Store>> {
    (!common.no_store).then(|| state::store(common.store.as_deref()))
}

fn begin(store: &mut Store, run: &mut Run) -> Result<(), StoreError> {
    const MOST_TRIES: u32 = 16;
    for _ in 1..MOST_TRIES {
        match store.begin(run) {
            Err(StoreError::Exists { .. }) => {
                // Ids have a resolution of 1/4096 second.
                std::thread::sleep(Duration::from_micros(250));
                run.id = new_run_id(jiff::Timestamp::now(), std::process::id());
            }
            begun => return begun,
        }
    }
    store.begin(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{Axes, Repetition, Status, Worker};
    use fathom_testkit::TestDir;

    fn phase(seq: u32) -> Phase {
        let worker = Worker { ops: 1, bytes: 4096, elapsed_ns: 1000, ..Worker::default() };
        Phase {
            seq,
            name: format!("phase {seq}"),
            axes: Axes::default(),
            reads: true,
            writes: false,
            sync_in_clock: false,
            direct: false,
            repetitions: vec![Repetition { workers: vec![worker], ..Repetition::default() }],
        }
    }

    #[test]
    fn what_could_not_be_stored_in_time_is_stored_at_the_end() {
        let dir = TestDir::new();
        let path = dir.path().join("runs.db");
        let common = Common { store: Some(path.clone()), ..Common::default() };
        let mut run = Run {
            id: "20261123T233936-c17c06".into(),
            label: "survey".into(),
            dialect: "survey".into(),
            started_at: "2026-11-23T23:39:36+00:00".into(),
            status: Status::Running,
            version: "0".into(),
            directory: "/d".into(),
            ..Run::default()
        };
        let mut run_store = RunStore::open(&common, &mut run);
        // One that began at the same time.
        let mut other = run.clone();
        let other_keeper = RunStore::open(&common, &mut other);
        assert!(other_keeper.store.is_some() && other.id != run.id, "{}", other.id);
        assert!(other_keeper.close(&other));
        run.phases.push(phase(0));
        run_store.phase(&run.id, &run.phases[0]);
        run.phases.push(phase(1));
        // The store refuses it; the next one is then not tried.
        run_store.phase("20990101T000000-000000", &run.phases[1]);
        assert!(run_store.behind);
        run.phases.push(phase(2));
        run_store.phase(&run.id, &run.phases[2]);
        run.status = Status::Completed;
        run.ended_at = "2026-11-23T23:40:35+00:00".into();
        assert!(run_store.close(&run), "it is kept after all");
        let kept = Store::open(&path).and_then(|store| store.load(&run.id)).expect("the run");
        assert_eq!(kept.status, Status::Completed);
        let names: Vec<&str> = kept.phases.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["phase 0", "phase 1", "phase 2"]);
        assert!(kept.phases.iter().all(|p| p.repetitions.len() == 1), "nothing twice");
    }
}
