//! Phases whose syncs are sync_file_range(2). It starts write-back, and may wait for it, but flushes no device's cache and writes no
//! metadata: nothing is durable by it.

use fathom_record::{Phase, Run};
use fathom_workload::{Program, Workload};

/// The workload of a run, if it has such calls.
pub(crate) struct Ranges(Option<Workload>);

impl Ranges {
    /// Parses the workload only if it may have some: the text of a long one takes a while.
    pub(crate) fn of(run: &Run) -> Self {
        let may = run.workload.contains("range");
        Self(may.then(|| Workload::from_toml(&run.workload).ok()).flatten())
    }

    /// Whether a phase has such calls; its record counts them with the syncs.
    pub(crate) fn are_in(&self, phase: &Phase) -> bool {
        let planned = self.0.as_ref().and_then(|w| w.phases.get(phase.seq as usize));
        let threads = planned.into_iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
        threads.into_iter().any(|thread| match &thread.program {
            Program::Stream(stream) => stream.sync_every.is_some_and(|every| every.range.is_some()),
            Program::Flow(_) => false,
        })
    }
}

/// A workload whose first phase has them, for tests.
#[cfg(test)]
pub(crate) const SAMPLE: &str = r#"
name = "ranges"

[[fileset]]
name = "data"
files = { list = ["f"] }
size = { fixed = "1MiB" }

[[phase]]
name = "write"

[[phase.group]]
name = "g"

[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "data"
direction = "write"
record = { fixed = "4KiB" }
sync_every = { writes = 8, range = { write = true } }
"#;
