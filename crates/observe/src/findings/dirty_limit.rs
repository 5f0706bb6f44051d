//! Writers throttled by the kernel because the mount's share of dirty memory is capped.

use super::facts::{Facts, size};
use super::{evidence, finding};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// If the cap exceeds this share of the written data, it throttled the writers only briefly.
const SMALL: f64 = 0.5;
/// Minimum share of the data above the cap that the device wrote during the phase.
const STORED: f64 = 0.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device_at_least()?;
    let (most, whose) = limit(facts)?;
    let (_, written) = facts.calls(OpKind::Write);
    // Data overwritten before write-back is dirty only once.
    let files = facts.files_bytes().unwrap_or(u64::MAX);
    let dirty = written.min(files);
    let too_much = dirty.saturating_sub(most);
    let stored = facts.class_at_least(RequestClass::Write)?.issued_bytes;
    let held_back = most as f64 <= SMALL * dirty as f64 && stored as f64 >= STORED * too_much as f64;
    if facts.phase.direct || facts.syncs_often() || !held_back {
        return None;
    }
    Some(finding(
        format!(
            "At most {} of writes{} may wait in memory ({}), and {} were written: writers were held back until the device had the rest.",
            size(most as f64),
            if whose.of_mount { format!(" to {}", device.name) } else { String::new() },
            whose.settings,
            size(written as f64)
        ),
        whose.advice,
        vec![
            evidence("most dirty bytes", most as f64, "bytes", whose.source),
            evidence("written", written as f64, "bytes", "our own calls"),
        ],
    ))
}

/// The kernel's own `vm.dirty_ratio`: larger writes wait for the device on any machine.
const DEFAULT_RATIO: u64 = 20;

/// Where a cap was set.
struct LimitSource {
    of_mount: bool,
    settings: &'static str,
    advice: &'static str,
    source: &'static str,
}

const MOUNT: LimitSource = LimitSource {
    of_mount: true,
    settings: "bdi strict_limit, max_bytes",
    advice: "Raise max_bytes, or set strict_limit to 0, in the mount's directory below /sys/class/bdi.",
    source: "/sys/class/bdi",
};
const BYTES: LimitSource = LimitSource {
    of_mount: false,
    settings: "vm.dirty_bytes",
    advice: "sysctl vm.dirty_ratio=20 sets the kernel's default again.",
    source: "/proc/sys/vm",
};
const RATIO: LimitSource = LimitSource { settings: "vm.dirty_ratio", ..BYTES };

/// The lowest cap, and where it was set.
fn limit(facts: &Facts<'_>) -> Option<(u64, &'static LimitSource)> {
    let number = |at: &str| facts.environment.pointer(at).and_then(|n| n.as_u64());
    let strict = facts.environment.pointer("/filesystem/dirty_limit_strict").and_then(|s| s.as_bool());
    let mount = number("/filesystem/dirty_limit_bytes").filter(|_| strict == Some(true));
    let bytes = number("/vm/dirty_bytes").filter(|bytes| *bytes > 0);
    let by_default = number("/memory/available_bytes").map(|available| available / 100 * DEFAULT_RATIO);
    // A share of available memory. The setting in bytes takes precedence if it is not 0.
    let ratio = number("/vm/dirty_ratio")
        .zip(number("/memory/available_bytes"))
        .filter(|(percent, _)| bytes.is_none() && *percent < DEFAULT_RATIO)
        .map(|(percent, available)| (u128::from(available) * u128::from(percent) / 100) as u64);
    let lowered = bytes.filter(|bytes| by_default.is_none_or(|default| *bytes < default));
    let all = [(mount, &MOUNT), (lowered, &BYTES), (ratio, &RATIO)];
    all.into_iter()
        .filter_map(|(most, whose)| Some((most.filter(|most| *most > 0)?, whose)))
        .min_by_key(|(most, _)| *most)
}
