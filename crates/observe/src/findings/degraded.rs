//! A RAID with parity that lacks a device: what was on it is computed from the others.

use super::facts::{Facts, size};
use super::{evidence, finding};
use fathom_record::block::{IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};
use serde_json::Value;

const LEVELS: [&str; 3] = ["raid4", "raid5", "raid6"];
const ENOUGH_BYTES: u64 = 1 << 20;
/// Bytes read from the devices per byte read by calls.
const NOTABLE: f64 = 1.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    // What read-ahead fetches in addition is no reconstruction.
    if !facts.phase.reads || facts.phase.writes || !(facts.phase.direct || facts.workload.in_order) {
        return None;
    }
    let (name, level, missing, read) = of_btrfs(facts).or_else(|| of_md(facts))?;
    let (_, asked) = facts.calls(OpKind::Read);
    if missing == 0 || asked < ENOUGH_BYTES || (read as f64) < NOTABLE * asked as f64 {
        return None;
    }
    Some(finding(
        format!(
            "{name} is a {} that lacks {}: data of a missing device is computed from what the others hold. To read {}, {} were read from them.",
            level.to_uppercase().replace("RAID", "RAID "),
            if missing == 1 { "one device".to_owned() } else { format!("{missing} devices") },
            size(asked as f64),
            size(read as f64)
        ),
        if name == "btrfs" {
            "`btrfs filesystem show` names the missing device; `btrfs replace start` puts a new one in its place."
        } else {
            "`cat /proc/mdstat` shows it; `mdadm --add` puts a new device in its place."
        },
        vec![
            evidence("missing devices", missing as f64, "devices", "/sys"),
            evidence("read by calls", asked as f64, "bytes", super::CALLS),
            evidence("read from the devices", read as f64, "bytes", "block events and counters"),
        ],
    ))
}

/// Name, level, number of missing devices, and bytes read from the others.
type Degraded<'a> = (&'a str, &'a str, u64, u64);

fn of_btrfs<'a>(facts: &Facts<'a>) -> Option<Degraded<'a>> {
    let filesystem = facts.environment.get("filesystem")?;
    let level = filesystem.get("data_profile")?.as_str().filter(|level| LEVELS.contains(level))?;
    let read = facts.repetition.physical.device_read_bytes()?;
    // The counters include the requests of all programs.
    let block = facts.block()?;
    let issuers = || block.devices.iter().filter(|d| d.level == 0).flat_map(|d| &d.issuers);
    let by_others: u64 = issuers().filter(|i| i.kind == IssuerKind::Other).map(|i| i.read_bytes).sum();
    let alone = (by_others as f64) < (NOTABLE - 1.0) / 2.0 * read as f64;
    alone.then_some(("btrfs", level, filesystem.get("missing_devices")?.as_u64()?, read))
}

fn of_md<'a>(facts: &Facts<'a>) -> Option<Degraded<'a>> {
    let text = |entry: &'a Value, key: &str| entry.get(key).and_then(Value::as_str);
    let top = facts.device()?;
    let is_array = |entry: &&'a Value| text(entry, "raid_level").is_some_and(|level| LEVELS.contains(&level));
    let (array, entry) =
        facts.carriers(top).find_map(|d| Some((d, facts.described(&d.name).filter(is_array)?)))?;
    let read =
        facts.all_below(array).filter_map(|d| d.class(RequestClass::Read)).map(|r| r.issued_bytes).sum();
    let missing = entry.get("raid_missing")?.as_u64()?;
    facts.requests_are_ours().then_some((text(entry, "name")?, text(entry, "raid_level")?, missing, read))
}
