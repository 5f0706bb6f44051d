//! Flows that cannot be executed, refused before anything starts: invalid ones, and those that this machine does not support.

use crate::EngineError;
use crate::error::unsupported;
use fathom_workload::flow::{named_ops, refusal};
use fathom_workload::{Act, Flow, Phase, Thread, Workload};

/// Refuses a flow that is invalid or not supported by this machine.
pub(crate) fn check(
    place: &str,
    workload: &Workload,
    phase: &Phase,
    thread: &Thread,
    flow: &Flow,
) -> Result<(), EngineError> {
    let asynchronous = || {
        let (name, _) = named_ops(&flow.ops, "").into_iter().find(|(_, op)| op.act == Act::AsyncWrite)?;
        Some((name, crate::backend::unregistered_refusal()?))
    };
    match refusal(workload, phase, thread, flow).or_else(asynchronous) {
        Some((name, sentence)) => Err(unsupported(&format!("{place}, operation {name}"), &sentence)),
        None => Ok(()),
    }
}
