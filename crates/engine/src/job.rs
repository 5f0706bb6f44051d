//! What one worker executes: a stream or a flow.

use crate::flow::FlowPlan;
use crate::stream_plan::StreamPlan;
use std::path::PathBuf;

/// What one worker executes.
#[expect(clippy::large_enum_variant, reason = "there is one for each worker, made before the start")]
pub(crate) enum Job<'a> {
    Stream(StreamPlan<'a>),
    Flow(FlowPlan<'a>),
}

impl<'a> Job<'a> {
    /// Its plan, if it is a stream.
    pub fn stream(&self) -> Option<&StreamPlan<'a>> {
        match self {
            Self::Stream(plan) => Some(plan),
            Self::Flow(_) => None,
        }
    }

    pub fn index(&self) -> usize {
        match self {
            Self::Stream(plan) => plan.index,
            Self::Flow(plan) => plan.index,
        }
    }

    /// Memory that it keeps locked, in bytes.
    pub fn locked_bytes(&self) -> u64 {
        match self {
            Self::Stream(plan) => plan.thread.locked_memory.0,
            Self::Flow(plan) => plan.locked_bytes,
        }
    }

    /// Number of files that it may have open at once.
    pub fn files(&self) -> u64 {
        match self {
            Self::Stream(plan) => {
                let files = plan.pool.as_ref().map_or(1, |pool| pool.paths.len() as u64);
                // Each has its donor open, too.
                if plan.donor.is_some() { files * 2 } else { files }
            }
            Self::Flow(plan) => plan.slots(),
        }
    }

    /// Name of its group, and the file or directory it works on.
    pub fn name(&self) -> (String, PathBuf) {
        match self {
            Self::Stream(plan) => (plan.group.clone(), plan.path.clone()),
            Self::Flow(plan) => (plan.group.clone(), plan.path.clone()),
        }
    }
}
