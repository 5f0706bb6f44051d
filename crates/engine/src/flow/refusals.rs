//! Flows that cannot be executed, said before anything starts: those that make no sense, and those that this machine cannot execute.

use crate::EngineError;
use crate::check::unsupported;
use fathom_workload::flow::{named_ops, refusal};
use fathom_workload::{Act, Flow, Phase, Thread, Workload};

/// Refuses a flow that makes no sense or that this machine cannot execute.
pub(crate) fn check(
    place: &str,
    workload: &Workload,
    phase: &Phase,
    thread: &Thread,
    flow: &Flow,
) -> Result<(), EngineError> {
    let asynchronous = || {
        let (name, _) = named_ops(&flow.ops, "").into_iter().find(|(_, op)| op.act == Act::AsyncWrite)?;
        Some((name, crate::backend::loose_refusal()?))
    };
    match refusal(workload, phase, thread, flow).or_else(asynchronous) {
        Some((name, sentence)) => Err(unsupported(&format!("{place}, operation {name}"), &sentence)),
        None => Ok(()),
    }
}
