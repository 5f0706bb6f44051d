//! Files in many small fragments: sequential access by the program is random access at the device.

use super::facts::{Facts, size};
use super::{EVENTS, EXTENTS, evidence, finding};
use crate::words::{count, percent};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};
use serde_json::Value;

const ENOUGH_CUTS: u64 = 50;
const ENOUGH_REQUESTS: u64 = 50;
/// Requests that continue the previous one are cheap for the device.
const MOST_IN_ORDER: f64 = 0.5;
/// With less free space than this, new files are fragmented.
const FULL: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    // A file in one piece is not fragmented, however small it is.
    let pieces = facts.pieces.filter(|p| p.count.saturating_sub(p.files) >= ENOUGH_CUTS)?;
    let (kind, class) = match facts.phase.writes {
        true => (OpKind::Write, RequestClass::Write),
        false => (OpKind::Read, RequestClass::Read),
    };
    let stats = facts.class(class).filter(|c| c.issued >= ENOUGH_REQUESTS)?;
    let record = facts.record_bytes(kind)?;
    let piece = pieces.bytes as f64 / pieces.count as f64;
    let request = stats.issued_bytes as f64 / stats.issued as f64;
    let seeks = &stats.seeks;
    let in_order =
        seeks.sequential as f64 / (seeks.sequential + seeks.forward + seeks.backward).max(1) as f64;
    // Requests of twice the size were not cut by the fragments.
    if !facts.workload.in_order || piece > record as f64 || request > 2.0 * piece || in_order > MOST_IN_ORDER
    {
        return None;
    }
    let space =
        |name: &str| facts.environment.pointer(&format!("/filesystem/{name}")).and_then(Value::as_f64);
    let free = space("free_bytes").zip(space("total_bytes")).map(|(free, total)| free / total.max(1.0));
    let full = free.filter(|free| *free < FULL);
    let also = full
        .map_or(String::new(), |free| format!(" The file system has {} of its space left.", percent(free)));
    Some(finding(
        format!(
            "The files are in {} of {} on the device, so sequential calls of {} became {} of {} at scattered offsets.{also}",
            count(pieces.count, "piece"),
            size(piece),
            size(record as f64),
            count(stats.issued, "request"),
            size(request)
        ),
        if full.is_some() {
            "Free some space, then copy the file: a nearly full file system often has only small free extents."
        } else {
            "Copy the file, or defragment it (e4defrag, xfs_fsr, btrfs filesystem defragment); filefrag -v shows the pieces."
        },
        vec![
            evidence("pieces", pieces.count as f64, "pieces", EXTENTS),
            evidence("bytes of those", pieces.bytes as f64, "bytes", EXTENTS),
            evidence("requests", stats.issued as f64, "requests", EVENTS),
        ],
    ))
}
