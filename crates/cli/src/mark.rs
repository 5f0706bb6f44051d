//! What a sweep or a comparison writes on the runs it makes, so that lists and reports can tell them: a label, and in the environment
//! under which settings they ran and what place they have in the order.

use fathom_record::{Doubt, Run, Status};
use std::sync::Arc;

/// The code of the doubt that stands on a run that was spoiled.
const SPOILED: &str = "disturbed";

/// The mark.
#[derive(Clone, Default)]
pub struct Mark {
    /// Takes the place of the run's label.
    pub label: String,
    /// Under which name it stands in the environment: "sweep", "comparison".
    pub key: &'static str,
    /// What stands there.
    pub value: serde_json::Value,
    /// Asked when the run is over and before its end is stored: what makes it worthless, if anything does.
    pub spoils: Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>,
}

impl std::fmt::Debug for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mark").field("label", &self.label).field("value", &self.value).finish_non_exhaustive()
    }
}

impl Mark {
    /// Puts it on a run that begins.
    pub fn put_on(&self, run: &mut Run) {
        run.label.clone_from(&self.label);
        if let Some(environment) = run.environment.as_object_mut() {
            environment.insert(self.key.into(), self.value.clone());
        }
    }

    /// Why a run was spoiled, if it was.
    pub fn spoiled(run: &Run) -> Option<&str> {
        run.doubts.iter().find(|d| d.code == SPOILED).map(|d| d.sentence.as_str())
    }

    /// A run that was spoiled says so itself: whoever reads it from the store later must not count it either.
    pub fn close(&self, run: &mut Run) {
        let Some(why) = self.spoils.as_ref().and_then(|spoils| spoils()) else { return };
        run.doubts.push(Doubt { code: SPOILED.into(), phase: None, sentence: why.clone() });
        if run.status == Status::Completed {
            run.status = Status::Failed;
            run.error = Some(why);
        }
    }
}
