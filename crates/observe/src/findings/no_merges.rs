//! A device queue whose merging of adjacent requests is disabled.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::{count, percent};
use fathom_record::Finding;
use fathom_record::block::RequestClass;

/// Minimum share of requests that begin where the previous one ended.
const NOTABLE: f64 = 0.5;
/// Larger requests gain little from merging.
const SMALL: u64 = 64 << 10;
const ENOUGH_REQUESTS: u64 = 50;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let merges = facts.described(&device.name)?.get("nomerges")?.as_i64()?;
    let class = [RequestClass::Read, RequestClass::Write]
        .into_iter()
        .filter_map(|class| facts.class(class))
        .max_by_key(|class| class.issued)?;
    let adjoining = class.seeks.sequential as f64 / class.issued as f64;
    let each = class.issued_bytes / class.issued;
    // Sequentially dependent calls leave nothing to merge. (The value 1 only disables the more expensive merge lookups.)
    let alone = facts.phase.direct && facts.phase.axes.queue_depth.unwrap_or(1) <= 1;
    let synced = class.class == RequestClass::Write && facts.syncs_often();
    if merges != 2 || alone || synced || class.issued < ENOUGH_REQUESTS || adjoining < NOTABLE || each > SMALL
    {
        return None;
    }
    Some(finding(
        format!(
            "Requests are not merged (nomerges of {} is 2), and {} of {} began where the one before ended: {} each.",
            device.name,
            percent(adjoining),
            count(class.issued, class.class.word()),
            size(each as f64),
        ),
        &format!("echo 0 > /sys/block/{}/queue/nomerges lets the kernel join them.", device.name),
        vec![
            evidence("nomerges", merges as f64, "", "devices"),
            evidence("requests", class.issued as f64, "requests", EVENTS),
            evidence(
                "of those, begun where the one before ended",
                class.seeks.sequential as f64,
                "requests",
                EVENTS,
            ),
        ],
    ))
}
