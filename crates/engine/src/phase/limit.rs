//! Messages for limits that a worker violated.

use crate::fault::{FailedCall, Fault};
use std::fmt::Display;

/// The message, if a limit ended the worker.
pub(super) fn sentence(fault: &Fault, path: &impl Display) -> Option<String> {
    let (asked, found) = (fault.expected, fault.found);
    Some(match fault.call {
        FailedCall::LeastBytes => {
            format!("the rate on {path} fell to {found} bytes/s; the minimum is {asked}")
        }
        FailedCall::LeastOperations => {
            format!("the rate on {path} fell to {found} operations/s; the minimum is {asked}")
        }
        FailedCall::Latency => format!(
            "an operation on {path} at offset {} took {found} ns; at most {asked} were allowed",
            fault.offset
        ),
        _ => return None,
    })
}
