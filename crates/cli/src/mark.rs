//! Marks a run as part of a sweep or a comparison, so that lists and reports can group it. A mark is a label and an
//! entry in the environment with the settings and the run's position in the order.

use fathom_record::{Doubt, Run, Status};
use std::sync::Arc;

/// Doubt code of a spoiled run.
const SPOILED: &str = "disturbed";

#[derive(Clone, Default)]
pub struct Mark {
    /// Replaces the run's label.
    pub label: String,
    /// Key in the environment: "sweep", "comparison".
    pub key: &'static str,
    pub value: serde_json::Value,
    /// Called when the run is over and before its end is stored; returns what invalidates it, if anything does.
    pub spoils: Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>,
}

impl std::fmt::Debug for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mark").field("label", &self.label).field("value", &self.value).finish_non_exhaustive()
    }
}

impl Mark {
    /// Marks a run that begins.
    pub fn apply(&self, run: &mut Run) {
        run.label.clone_from(&self.label);
        if let Some(environment) = run.environment.as_object_mut() {
            environment.insert(self.key.into(), self.value.clone());
        }
    }

    /// Why a run was spoiled, if it was.
    pub fn spoiled(run: &Run) -> Option<&str> {
        run.doubts.iter().find(|d| d.code == SPOILED).map(|d| d.sentence.as_str())
    }

    /// Marks a spoiled run, so that later readers of the store do not count it either.
    pub fn finish(&self, run: &mut Run) {
        let Some(why) = self.spoils.as_ref().and_then(|spoils| spoils()) else { return };
        run.doubts.push(Doubt { code: SPOILED.into(), phases: Vec::new(), sentence: why.clone() });
        if run.status == Status::Completed {
            run.status = Status::Failed;
            run.error = Some(why);
        }
    }
}
