//! Requests that waited longer above the driver than in the device.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::time;
use fathom_record::Finding;
use fathom_record::block::RequestClass;

const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (class, queued, served) = [RequestClass::Read, RequestClass::Write]
        .into_iter()
        .filter(|class| facts.asks_for(*class))
        // Nobody waits for single requests of write-back.
        .filter(|class| *class == RequestClass::Read || facts.phase.direct || facts.syncs_often())
        .find_map(|class| {
            let stats = facts.class(class).filter(|c| c.issued >= ENOUGH_REQUESTS && c.q2d.count() > 0)?;
            let (queued, served) = (stats.q2d.percentile_ns(50.0)?, stats.d2c.percentile_ns(50.0)?);
            (queued > served).then_some((class, queued, served))
        })?;
    Some(finding(
        format!(
            "A {} request waited {} above the driver and took {} in the device (medians): the queue makes it slow.",
            class.word(),
            time(queued as f64),
            time(served as f64),
        ),
        "Fewer operations at once lower the latency without costing throughput; see also the I/O scheduler and its tunables, and what holds requests back (plugging, nr_requests).",
        vec![
            evidence("arrival to issue, median", queued as f64, "ns", EVENTS),
            evidence("issue to completion, median", served as f64, "ns", EVENTS),
        ],
    ))
}
