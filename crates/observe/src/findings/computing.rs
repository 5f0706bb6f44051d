//! What shows that processors had work to do on data while the device waited. Shared by the rules about compression, encryption and
//! checksums.

use super::facts::Facts;
use super::{EVENTS, evidence};
use crate::words::percent;
use fathom_record::block::{DeviceActivity, RequestClass};
use fathom_record::{Evidence, OpKind};

/// If the device was idle for more than this share of the time, the workers did not wait for it.
const NOTABLE: f64 = 0.25;
/// If others used more than this share of all processors, they computed most of the time.
const COMPUTING: f64 = 0.5;
const ENOUGH_BYTES: u64 = 1 << 20;

/// The device, or one that carries it, was idle, or others than the workers used the processors: in words, and as figures. `outside`
/// names what does not belong to `waited_ns`.
pub(super) fn symptom<'a>(
    facts: &Facts<'a>,
    device: &'a DeviceActivity,
    (waited_ns, outside): (f64, &str),
) -> Option<(String, Vec<Evidence>)> {
    let moved =
        |d: &DeviceActivity| d.requests.iter().fold(0, |sum: u64, r| sum.saturating_add(r.issued_bytes));
    // A device that answers by itself leaves the one below idle.
    let passed_on = facts.carriers(device).take_while(|d| moved(d) >= moved(device) / 2);
    let device = passed_on.min_by_key(|d| d.busy_ns).unwrap_or(device);
    let idle = 1.0 - (device.busy_ns as f64 / waited_ns).min(1.0);
    let online = facts.processors_online().unwrap_or(1.0);
    let computing = facts.processors_used_by_others().filter(|used| *used >= COMPUTING * online);
    let mut figures = vec![
        evidence(&format!("time{outside}"), waited_ns, "ns", "our own calls"),
        evidence("time with a request in the device", device.busy_ns as f64, "ns", EVENTS),
    ];
    let words = match computing {
        _ if idle >= NOTABLE => {
            format!("{} was idle for {} of the time{outside}", device.name, percent(idle))
        }
        Some(used) => {
            figures.push(evidence(
                "used by the kernel's threads and other programs",
                used,
                "processors",
                "/proc/stat",
            ));
            format!("the kernel's threads and other programs used {used:.1} processors")
        }
        None => return None,
    };
    Some((words, figures))
}

/// The part of the time in which data could wait: while it is copied into the page cache, the device has nothing to do yet.
pub(super) fn outside_of_copying(facts: &Facts<'_>) -> (f64, &'static str) {
    let repetition = facts.repetition;
    let copying = repetition.latency(OpKind::Write).sum_ns() as f64 / repetition.workers.len().max(1) as f64;
    ((repetition.elapsed_ns as f64 - copying).max(1.0), " outside of the write calls")
}

/// Data that processors had to work on after it was read, or before it was written.
pub(super) struct Moved {
    pub(super) read: u64,
    pub(super) written: u64,
}

/// What came from the device or went to it while the workers waited: 1 MiB or more, and half or more of what calls of that kind moved.
pub(super) fn moved(facts: &Facts<'_>) -> Option<Moved> {
    let waited_for = |class, op| {
        let asked = facts.calls(op).1;
        let moved = facts.class(class).map_or(0, |c| c.issued_bytes).min(asked);
        if moved >= ENOUGH_BYTES && moved >= asked / 2 { moved } else { 0 }
    };
    let syncs = facts.phase.sync_in_clock || facts.calls(OpKind::Sync).0 > 0;
    // Otherwise data is written when nobody waits for it.
    let waits = facts.phase.direct || facts.workload.synced || syncs;
    let moved = Moved {
        read: waited_for(RequestClass::Read, OpKind::Read),
        written: if waits { waited_for(RequestClass::Write, OpKind::Write) } else { 0 },
    };
    (moved.read + moved.written > 0 && facts.requests_are_ours()).then_some(moved)
}

/// As `symptom`, for data that moved.
pub(super) fn beside(facts: &Facts<'_>, moved: &Moved) -> Option<(String, Vec<Evidence>)> {
    let copies = moved.written > 0 && !facts.phase.direct && !facts.workload.synced;
    let time = if copies { outside_of_copying(facts) } else { (facts.repetition.elapsed_ns as f64, "") };
    let (words, mut figures) = symptom(facts, facts.device()?, time)?;
    for (name, bytes) in [("read from the device", moved.read), ("written to the device", moved.written)] {
        if bytes > 0 {
            figures.push(evidence(name, bytes as f64, "bytes", EVENTS));
        }
    }
    Some((words, figures))
}
