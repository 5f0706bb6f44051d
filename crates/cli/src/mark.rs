//! What a sweep or a comparison writes on the runs it makes, so that lists and reports can tell them: a label, and in the environment
//! under which settings they ran and what place they have in the order.

use fathom_record::Run;

/// The mark.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// Takes the place of the run's label.
    pub label: String,
    /// Under which name it stands in the environment: "sweep", "comparison".
    pub key: &'static str,
    /// What stands there.
    pub value: serde_json::Value,
}

impl Mark {
    /// Puts it on a run that begins.
    pub fn put_on(&self, run: &mut Run) {
        run.label.clone_from(&self.label);
        if let Some(environment) = run.environment.as_object_mut() {
            environment.insert(self.key.into(), self.value.clone());
        }
    }
}
