//! A file system served by a user-space program (FUSE). It holds the files, or the image of the loop device below them.

use super::facts::Facts;
use super::{CALLS, EVENTS, THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::{Finding, OpKind};

/// Minimum share of their time that the workers were blocked in calls.
const NOTABLE: f64 = 0.3;
const LEAST_NS: u64 = 100_000_000;

/// If a user-space program serves the image: minimum share of the time with a request in the loop device.
const BUSY: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    image(facts).or_else(|| files(facts))
}

/// The file behind a loop device lies on such a file system.
fn image(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let described = facts.described(&device.name)?;
    let kind = described.get("image_on")?.as_str()?;
    let image = described.get("backing_file").and_then(|f| f.as_str()).unwrap_or("its image");
    let busy = device.busy_ns as f64 / facts.repetition.elapsed_ns.max(1) as f64;
    let passed = described.get("direct_io").and_then(|d| d.as_bool()) == Some(true);
    if !(kind == "fuse" || kind.starts_with("fuse.")) || !passed || busy < BUSY || !facts.requests_are_ours()
    {
        return None;
    }
    Some(finding(
        format!(
            "The file behind {}, {image}, lies on {kind}, so a program in user space handles each of its requests: they took {} of the time.",
            device.name,
            percent(busy.min(1.0)),
        ),
        "Put the image on a file system of the kernel, or look at the program that serves it.",
        vec![evidence("time with a request in the loop device", device.busy_ns as f64, "ns", EVENTS)],
    ))
}

fn files(facts: &Facts<'_>) -> Option<Finding> {
    let kind = facts.environment.pointer("/filesystem/type")?.as_str()?;
    // The environment is that of the run's first directory; another phase's files may lie elsewhere.
    let method = facts.repetition.physical.method.as_str();
    let served = match method {
        "none" | "fuse-server" => kind == "fuse" || kind.starts_with("fuse."),
        _ => kind == "fuseblk",
    };
    let source = facts.environment.pointer("/filesystem/source").and_then(|s| s.as_str());
    let waits_for_processor = facts.processor_wait_share()?;
    let (workers, elapsed_ns) = (facts.repetition.workers.len(), facts.repetition.elapsed_ns);
    // With several operations in flight it is unknown which of them waits.
    let queued = facts.phase.axes.queue_depth.is_some_and(|depth| depth > 1);
    if !served || queued || workers == 0 || elapsed_ns < LEAST_NS {
        return None;
    }
    let whole = workers as f64 * elapsed_ns as f64;
    let in_calls = [OpKind::Read, OpKind::Write].map(|op| facts.repetition.latency(op).sum_ns() as f64);
    let in_calls = in_calls.iter().sum::<f64>() / whole;
    let waits = in_calls - facts.processors_used() / workers as f64 - waits_for_processor;
    if waits < NOTABLE {
        return None;
    }
    let of = source.map_or_else(String::new, |source| format!(" of {source}"));
    // Most such file systems show a directory of this machine again; a list of them has colons.
    let is_directory =
        |source: &&str| source.starts_with('/') && !source.starts_with("/dev/") && !source.contains(':');
    let below = match source {
        Some(source) if is_directory(&source) => {
            format!("If {source} is a directory here, measure it, too. ")
        }
        Some(source) if source.starts_with("/dev/") => String::new(),
        _ => "If what it serves is a directory here, measure that, too. ".to_owned(),
    };
    let advice = format!(
        "{below}Larger calls mean fewer requests to that program; for writes, its writeback cache does the same."
    );
    Some(finding(
        format!(
            "The file system is {kind}{of}, so a program in user space serves it: for {} of the time the workers waited in reads and writes for that program and what lies below it.",
            percent(waits)
        ),
        &advice,
        vec![
            evidence("time in reads and writes", in_calls, "ratio", CALLS),
            evidence(
                "time in them, neither on a processor nor waiting for one, at least",
                waits,
                "ratio",
                CALLS,
            ),
            evidence("time waiting for a processor", waits_for_processor, "ratio", THREADS),
        ],
    ))
}
