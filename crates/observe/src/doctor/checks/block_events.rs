//! Whether individual requests at the device can be observed: tracefs, mounted and readable by this user.

use super::super::finding::Finding;
use super::super::scene::{FileReading, Scene};

const CODE: &str = "block-events";
const PLACES: [&str; 2] =
    ["/sys/kernel/tracing/events/block/enable", "/sys/kernel/debug/tracing/events/block/enable"];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    if scene.stack.method != "diskstats" {
        // Without a device there are no requests.
        return Vec::new();
    }
    let readings = PLACES.map(|place| (place, scene.reading(place)));
    if let Some((place, _)) = readings.iter().find(|(_, r)| matches!(r, FileReading::Text(_))) {
        return vec![Finding::good(
            CODE,
            place,
            "Block events can be read: sizes, order and latencies of requests are shown.",
        )];
    }
    let lost = "request sizes, their order and the device's own latencies";
    let left = "counters of /proc/diskstats are left";
    if let Some((place, _)) = readings.iter().find(|(_, r)| *r == FileReading::Forbidden) {
        let found = Finding::forbidden(CODE, place, format!("{lost} (block events; {left})"));
        let found = found.remedy("As root once: let a group read tracefs");
        return vec![found.command("mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing")];
    }
    let why = format!("{lost} (tracefs is not mounted, or the kernel has none; {left})");
    let found = Finding::unknown(CODE, PLACES[0], why);
    vec![found.remedy("Mount tracefs").command("mount -t tracefs tracefs /sys/kernel/tracing")]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn hidden_and_missing_are_two_things() {
        let _ = says(&machine(), "block-events", Severity::Good, &[]);
        let hidden = says(
            &machine().refuse("/sys/kernel/tracing"),
            "block-events",
            Severity::Unknown,
            &["request sizes"],
        );
        assert!(hidden.forbidden && hidden.command.contains("remount"));
        let mut fake = machine();
        fake.remove("/sys/kernel/tracing/events/block/enable");
        let missing = says(&fake, "block-events", Severity::Unknown, &["not mounted"]);
        assert!(!missing.forbidden && missing.command.contains("-t tracefs"));
    }
}
