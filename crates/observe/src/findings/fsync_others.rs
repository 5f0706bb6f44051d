//! Data of other files that an fsync waited for: "fsync waited on 12 other files' data".

use super::facts::{Facts, mean, size};
use super::{CALLS, JOIN, evidence, finding};
use crate::words::count;
use fathom_record::Finding;

/// Minimum share of other files' data in the data written during the syncs.
const NOTABLE: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let syncs = &facts.joined?.syncs;
    facts.block()?;
    let all = syncs.own.1 + syncs.others.1 + syncs.elsewhere.1;
    if facts.workload.ranges
        || syncs.calls == 0
        || syncs.with_others == 0
        || (syncs.others.1 as f64) < NOTABLE * all as f64
    {
        return None;
    }
    let each = syncs.files_met as f64 / syncs.calls as f64;
    Some(finding(
        format!(
            "During {}, {} of other files' data were written beside {} of the synced files: data of {} other files per sync on average, {} at most.",
            count(syncs.calls, "fsync"),
            size(syncs.others.1 as f64),
            size(syncs.own.1 as f64),
            mean(each),
            syncs.most_others,
        ),
        "A journal commit covers all files (ext3/ext4 with data=ordered), and the device is shared: write less between syncs, or sync earlier and together.",
        vec![
            evidence("syncs", syncs.calls as f64, "calls", CALLS),
            evidence("bytes of the synced files", syncs.own.1 as f64, "bytes", JOIN),
            evidence("bytes of other files", syncs.others.1 as f64, "bytes", JOIN),
            evidence("bytes outside our files", syncs.elsewhere.1 as f64, "bytes", JOIN),
            evidence("syncs that met other files' data", syncs.with_others as f64, "calls", JOIN),
        ],
    ))
}
