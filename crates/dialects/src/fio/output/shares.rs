//! An entry's share of its group's bandwidth: as in fio, the mean of its windows over the rate of all entries in the group.

use super::super::plan::Plan;
use super::stats::{Entry, Side};
use std::collections::BTreeMap;

/// Selects a direction of an entry.
type SideOf = fn(&mut Entry) -> &mut Side;

const SIDES: [SideOf; 4] = [|e| &mut e.read, |e| &mut e.write, |e| &mut e.trim, |e| &mut e.mixed];

/// Sets the group rate of every direction: the total bytes over the longest time of any.
pub(super) fn of_groups(entries: &mut [Entry], plan: &Plan) {
    for of in SIDES {
        let mut groups: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for entry in entries.iter_mut() {
            let (bytes, longest_ns) = groups.entry(plan.jobs[entry.job].group).or_default();
            let side = of(entry);
            *bytes = bytes.saturating_add(side.bytes);
            *longest_ns = (*longest_ns).max(side.runtime_ns);
        }
        for entry in entries.iter_mut() {
            if let Some((bytes, ns)) = groups.get(&plan.jobs[entry.job].group).filter(|all| all.1 > 0) {
                of(entry).group_bytes_per_s = *bytes as f64 * 1e9 / *ns as f64;
            }
        }
    }
}

/// The percentage of a mean in KiB/s, capped at 100 because windows do not divide the time exactly.
#[must_use]
pub fn share(side: &Side, mean_kib: f64) -> f64 {
    let all_kib = side.group_bytes_per_s / 1024.0;
    if all_kib > 0.0 { (mean_kib * 100.0 / all_kib).min(100.0) } else { 0.0 }
}
