//! A RAID with parity that lacks a device: what was on it is computed from the others.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::block::{IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};

const LEVELS: [&str; 3] = ["raid4", "raid5", "raid6"];
const ENOUGH_BYTES: u64 = 1 << 20;
/// Bytes read from the devices per byte that was wanted.
const NOTABLE: f64 = 1.3;
/// For smaller reads btrfs reads checksums in addition.
const LARGE: u64 = 64 << 10;

/// A RAID and what was read from it.
struct Array<'a> {
    name: &'a str,
    level: &'a str,
    missing: u64,
    /// Bytes wanted from it, and bytes read from its devices for that.
    wanted: u64,
    read: u64,
    advice: &'static str,
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if !facts.phase.reads || facts.phase.writes {
        return None;
    }
    let array = of_btrfs(facts).or_else(|| of_md(facts)).filter(|a| LEVELS.contains(&a.level))?;
    let (wanted, read) = (array.wanted as f64, array.read as f64);
    if array.missing == 0 || array.wanted < ENOUGH_BYTES || read < NOTABLE * wanted {
        return None;
    }
    Some(finding(
        format!(
            "{} is a {} that lacks {}: data of a missing device is computed from what the others hold. For {} that were read, {} were read from them.",
            array.name,
            array.level.to_uppercase().replace("RAID", "RAID "),
            if array.missing == 1 { "one device".to_owned() } else { format!("{} devices", array.missing) },
            size(wanted),
            size(read)
        ),
        array.advice,
        vec![
            evidence("missing devices", array.missing as f64, "devices", "/sys"),
            evidence("read", wanted, "bytes", "our own calls, or block events of the array"),
            evidence("read from the devices", read, "bytes", EVENTS),
        ],
    ))
}

fn of_btrfs<'a>(facts: &Facts<'a>) -> Option<Array<'a>> {
    let filesystem = facts.environment.get("filesystem")?;
    let level = filesystem.get("data_profile")?.as_str()?;
    let devices = || facts.block().into_iter().flat_map(|b| &b.devices).filter(|d| d.level == 0);
    let read: u64 = devices().filter_map(|d| d.class(RequestClass::Read)).map(|r| r.issued_bytes).sum();
    let others = devices().flat_map(|d| &d.issuers).filter(|i| i.kind == IssuerKind::Other);
    let read = read.saturating_sub(others.map(|i| i.read_bytes).sum());
    // What read-ahead fetches in addition is no reconstruction.
    let plain = facts.phase.direct || facts.workload.in_order;
    let wanted = facts.calls(OpKind::Read).1;
    facts.record_bytes(OpKind::Read).filter(|record| *record >= LARGE && plain)?;
    Some(Array {
        name: "btrfs",
        level,
        missing: filesystem.get("missing_devices")?.as_u64()?,
        wanted,
        read,
        advice: "`btrfs device usage MOUNT_POINT` shows which device is missing; `btrfs replace start` puts a new one in its place.",
    })
}

fn of_md<'a>(facts: &Facts<'a>) -> Option<Array<'a>> {
    let top = facts.device()?;
    let level = |name: &str| facts.described(name)?.get("raid_level")?.as_str();
    let array = facts.carriers(top).find(|d| level(&d.name).is_some())?;
    facts.requests_are_ours().then_some(Array {
        name: &array.name,
        level: level(&array.name)?,
        missing: facts.described(&array.name)?.get("raid_missing")?.as_u64()?,
        wanted: array.class(RequestClass::Read)?.issued_bytes,
        read: facts.moved_by_members(array, RequestClass::Read),
        advice: "`cat /proc/mdstat` shows whether it is being rebuilt. If not, `mdadm --add` puts a new device in its place.",
    })
}
