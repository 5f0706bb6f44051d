//! Messages for failures of flows: turns the numbers that a worker leaves in shared memory into a sentence with the operation,
//! the file and advice.

use super::sets::text;
use super::setting::Setting;
use crate::error::advice;
use crate::fault::FailedCall;
use crate::shared::{End, Figures, Live};
use fathom_record::OpError;
use fathom_workload::flow::{FlatOp, Wrong};
use std::sync::atomic::Ordering;

/// The failure of a worker that executed a flow; `None` if it did not fail, or not in one of its operations.
pub(crate) fn error_of(
    setting: &Setting,
    worker: usize,
    live: &Live,
    slot: &Figures,
    after_ops: u64,
) -> Option<OpError> {
    let place = setting.places.get(worker)?.as_ref()?;
    if live.end.load(Ordering::Acquire) != End::Failed as u32 {
        return None;
    }
    let op = setting.programs[place.program].ops.get((slot.fault_row as usize).checked_sub(1)?)?;
    let set = (slot.fault_set as usize).checked_sub(1).and_then(|s| setting.set_places.get(s));
    let entry = (slot.fault_entry as usize).checked_sub(1);
    let file = set.and_then(|s| s.entries.get(entry?)).map(|e| text(e.spot.path()));
    let path = file.clone().or_else(|| set.map(|s| s.name.clone())).unwrap_or_default();
    let on = match (&file, set) {
        (Some(file), _) => file.clone(),
        (None, Some(set)) => format!("a file of {}", set.name),
        (None, None) => "its file".into(),
    };
    let set_name = set.map_or("its file set", |s| &s.name);
    Some(OpError {
        call: slot.fault_call.word().split(' ').next().unwrap_or_default().into(),
        path,
        offset: matches!(slot.fault_call, FailedCall::Read | FailedCall::Write).then_some(slot.fault_offset),
        after_ops,
        errno: slot.fault_errno,
        compared: None,
        message: format!("operation {}: {}", op.name, sentence(op, slot, &on, set_name)),
    })
}

fn sentence(op: &FlatOp, slot: &Figures, on: &str, set: &str) -> String {
    let (expected, found) = (slot.fault_expected, slot.fault_found);
    if let Some(wrong) = wrong_of(slot.fault_call, expected, found) {
        return wrong.sentence(op, on, set);
    }
    match slot.fault_call {
        call if slot.fault_errno != 0 => {
            let error = std::io::Error::from_raw_os_error(slot.fault_errno);
            let place = if matches!(call, FailedCall::Read | FailedCall::Write) {
                format!(" at offset {}", slot.fault_offset)
            } else {
                String::new()
            };
            let moved = if expected > 0 {
                format!(" ({found} of {expected} bytes were moved)")
            } else {
                String::new()
            };
            format!("cannot {} {on}{place}: {error}{moved}{}", call.word(), advice(call.word(), &error))
        }
        FailedCall::Read | FailedCall::Write => format!(
            "{on} at offset {}: {found} of {expected} bytes were moved, without an error of the kernel",
            slot.fault_offset
        ),
        call => format!("cannot {} {on}", call.word()),
    }
}

/// A failure caused by earlier steps of the flow, if it was one.
fn wrong_of(call: FailedCall, expected: u64, found: u64) -> Option<Wrong> {
    Some(match call {
        FailedCall::Pick => Wrong::Exhausted,
        FailedCall::OpenSlot => Wrong::OpenSlot(found),
        FailedCall::ClosedSlot => Wrong::ClosedSlot(found),
        FailedCall::UnknownSlot => Wrong::UnknownSlot(found),
        FailedCall::ForeignSlot => Wrong::ForeignSlot(found),
        FailedCall::Range => Wrong::Range { bytes: expected, range: found },
        FailedCall::Area => Wrong::Area { bytes: expected, area: found },
        FailedCall::Empty => Wrong::Empty,
        FailedCall::Patience => Wrong::Patience,
        _ => return None,
    })
}
