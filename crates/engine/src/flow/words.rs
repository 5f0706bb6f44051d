//! Failures of flows in words: from the numbers that a worker leaves in shared memory to a sentence that names the operation, the file
//! and what to do.

use super::program::Op;
use super::sets::text;
use super::setting::Setting;
use crate::error::advice;
use crate::shared::{Call, End, Figures, Live};
use fathom_record::OpError;
use std::sync::atomic::Ordering;

/// What went wrong in a worker that executed a flow; `None` if it did not fail, or not in one of its operations.
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
    let set = (slot.fault_set as usize).checked_sub(1).and_then(|s| setting.sets.get(s));
    let entry = (slot.fault_entry as usize).checked_sub(1);
    let file = set.and_then(|s| s.entries.get(entry?)).map(|e| text(&e.path));
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
        offset: matches!(slot.fault_call, Call::Read | Call::Write).then_some(slot.fault_offset),
        after_ops,
        errno: slot.fault_errno,
        compared: None,
        message: format!("operation {}: {}", op.name, sentence(op, slot, &on, set_name)),
    })
}

fn sentence(op: &Op, slot: &Figures, on: &str, set: &str) -> String {
    let (expected, found) = (slot.fault_expected, slot.fault_found);
    let number = |slot: u64| match slot {
        n if n < u64::from(super::program::NAMED_SLOTS) => format!("slot {n}"),
        _ => "its slot".into(),
    };
    match slot.fault_call {
        Call::Pick => {
            let what = match op.act {
                fathom_workload::Act::Create => "file that does not exist yet",
                fathom_workload::Act::MakeDirectory => "leaf directory that does not exist yet",
                fathom_workload::Act::RemoveDirectory => "leaf directory",
                fathom_workload::Act::ListDirectory => "directory",
                _ => "file",
            };
            format!(
                "no {what} is left in {set}; give the set more entries, run for a shorter time, or let this end the phase (stop.exhausted)"
            )
        }
        Call::OpenSlot => {
            format!("opens {}, which is open already ({on}); close it first, or use another", number(found))
        }
        Call::ClosedSlot => format!("needs {} open, and it is closed ({on}); open it first", number(found)),
        Call::UnknownSlot => {
            format!("{} has had no file yet, and the operation names no file set", number(found))
        }
        Call::ForeignSlot => {
            format!("{} holds {on}, which is of another file set; use another slot", number(found))
        }
        Call::Range => format!(
            "the range of {found} bytes is smaller than an operation of {expected} bytes ({on}); choose a larger file or working set, or a smaller size"
        ),
        Call::Area => format!(
            "the thread's memory of {found} bytes is smaller than an operation of {expected} bytes ({on}); give the thread more memory, or none"
        ),
        Call::Empty => "its size is 0 bytes; reads and writes need at least 1".into(),
        Call::Patience => {
            format!("has waited {} s for its semaphore; nobody posts, or nobody takes", found / 1_000_000_000)
        }
        call if slot.fault_errno != 0 => {
            let error = std::io::Error::from_raw_os_error(slot.fault_errno);
            let place = if matches!(call, Call::Read | Call::Write) {
                format!(" at offset {}", slot.fault_offset)
            } else {
                String::new()
            };
            let moved = if expected > 0 {
                format!(" ({found} of {expected} bytes were moved)")
            } else {
                String::new()
            };
            format!("cannot {} {on}{place}: {error}{moved}{}", call.word(), advice(&error))
        }
        Call::Read | Call::Write => format!(
            "{on} at offset {}: {found} of {expected} bytes were moved, without an error of the kernel",
            slot.fault_offset
        ),
        call => format!("cannot {} {on}", call.word()),
    }
}
