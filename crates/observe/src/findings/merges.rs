//! Calls that reached the device together: merged in the queue, or gathered by write-back.

use super::facts::{Facts, mean, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::Finding;
use fathom_record::block::RequestClass;

/// Minimum share of arriving bios that were merged.
const NOTABLE: f64 = 0.25;
/// If more than this share of bios was split, an unknown number of the merged ones are fragments.
const MOST_CUT: f64 = 0.05;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let (class, merged, bios) = device
        .requests
        .iter()
        .filter(|r| matches!(r.class, RequestClass::Read | RequestClass::Write) && facts.asks_for(r.class))
        .filter_map(|r| {
            let merged = r.back_merges? + r.front_merges? + r.request_merges?;
            Some((r, merged, r.bios?))
        })
        .max_by_key(|(_, merged, _)| *merged)?;
    let share = merged as f64 / bios.max(1) as f64;
    let cut = device.splits.unwrap_or(0) as f64 > MOST_CUT * bios as f64;
    if bios < 20 || share < NOTABLE || cut {
        return None;
    }
    let (back, front) = (class.back_merges?, class.front_merges?);
    let requests = bios.saturating_sub(merged).max(1);
    Some(finding(
        format!(
            "{} of {} ({}) were merged before they reached the driver, {} to a request on average: {} requests of {} left the queue.",
            merged,
            count(bios, class.class.word()),
            crate::words::percent(share),
            mean(bios as f64 / requests as f64),
            class.issued,
            size(class.issued_bytes as f64 / class.issued.max(1) as f64),
        ),
        "",
        vec![
            evidence("bios that arrived", bios as f64, "bios", EVENTS),
            evidence("merged behind a waiting request", back as f64, "bios", EVENTS),
            evidence("merged before one", front as f64, "bios", EVENTS),
            evidence("requests joined", class.request_merges? as f64, "requests", EVENTS),
        ],
    ))
}
