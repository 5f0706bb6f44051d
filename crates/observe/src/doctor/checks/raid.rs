//! Software RAID: a missing member makes reads more expensive, and a resync, recovery or check competes for the disks.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};
use crate::device::DeviceKind;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    let raids: Vec<&Queue> = queues.iter().filter(|q| q.device.kind == DeviceKind::Md).collect();
    let of_md = raids.iter().flat_map(|q| [degraded(scene, q), sync(scene, q)]).flatten();
    of_md.chain(degraded_btrfs(scene)).collect()
}

fn degraded_btrfs(scene: &Scene) -> Option<Finding> {
    let missing = scene.count("filesystem.missing_devices").filter(|missing| *missing > 0)?;
    let lacks =
        if missing == 1 { "one of its devices".to_owned() } else { format!("{missing} of its devices") };
    let sentence = format!(
        "btrfs lacks {lacks}: reads use the other copies, or compute the data from parity, which is slow."
    );
    Some(
        Finding::warning("raid-degraded", "/sys/fs/btrfs", sentence)
            .figure("missing", missing as f64, "devices")
            .remedy("Replace the missing device (btrfs replace start)")
            .command(format!(
                "btrfs device usage {}",
                scene.word("filesystem.mount_point").unwrap_or("MOUNT_POINT")
            )),
    )
}

fn degraded(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("md/degraded"));
    let missing = scene.number(queue.file("md/degraded"))?;
    let level = queue.word("raid_level").unwrap_or("RAID");
    if missing == 0.0 {
        return Some(Finding::good(
            "raid-degraded",
            &source,
            format!("{name} ({level}) has all its members."),
        ));
    }
    let sentence = format!(
        "{name} ({level}) lacks {missing:.0} of its members: reads are reconstructed from the others."
    );
    let finding = Finding::warning("raid-degraded", &source, sentence).figure("missing", missing, "members");
    Some(
        finding
            .remedy("Replace the member and let the array recover")
            .command(format!("mdadm --detail /dev/{name}")),
    )
}

fn sync(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("md/sync_action"));
    let action = scene.text(queue.file("md/sync_action"))?;
    if matches!(action.as_str(), "idle" | "frozen") {
        return Some(Finding::good("raid-sync", &source, format!("{name} is not being synchronised.")));
    }
    let rate_kib = scene.number(queue.file("md/sync_speed"));
    let done = scene.text(queue.file("md/sync_completed")).unwrap_or_else(|| "an unknown part".into());
    let speed = rate_kib.map(|r| format!(" at {r:.0} KiB/s")).unwrap_or_default();
    let sentence = format!(
        "{name} is busy with a {action}{speed} ({done} sectors done): it shares the disks with the measurement."
    );
    let finding =
        Finding::warning("raid-sync", &source, sentence).figure("speed", rate_kib.unwrap_or(0.0), "KiB/s");
    Some(
        finding
            .remedy("Wait until it is done (`cat /proc/mdstat`), or stop it")
            .command(format!("echo idle > {source}")),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says, silent};
    use crate::fake::Fake;

    #[test]
    fn a_missing_device_of_btrfs_is_said() {
        let with = |missing: &str| {
            machine()
                .file("/sys/fs/btrfs/aa/devices/sda/size", "1\n")
                .file("/sys/fs/btrfs/aa/devinfo/2/missing", missing)
                .file("/proc/self/mountinfo", "27 1 8:0 / / rw - btrfs /dev/sda rw\n")
        };
        let _ = says(&with("1\n"), "raid-degraded", Severity::Warning, &["btrfs lacks one of its devices"]);
        silent(&with("0\n"), "raid-degraded");
    }

    fn with(degraded: &str, action: &str) -> Fake {
        let md = "/sys/devices/virtual/block/md0/md";
        machine()
            .disk("virtual", "md0", (9, 0))
            .file("/sys/devices/virtual/block/md0/slaves/sda1", "")
            .file(&format!("{md}/level"), "raid5\n")
            .file(&format!("{md}/degraded"), degraded)
            .file(&format!("{md}/sync_action"), action)
            .file(&format!("{md}/sync_speed"), "102400\n")
            .file(&format!("{md}/sync_completed"), "1024 / 8192\n")
            .file("/proc/self/mountinfo", "27 1 9:0 / / rw - xfs /dev/md0 rw\n")
            .on_mount("/", 27, (9, 0))
    }

    #[test]
    fn a_missing_member_is_said() {
        let _ = says(&with("1\n", "idle\n"), "raid-degraded", Severity::Warning, &["md0 (raid5) lacks 1"]);
        let _ = says(&with("0\n", "idle\n"), "raid-degraded", Severity::Good, &[]);
        silent(&machine(), "raid-degraded");
    }

    #[test]
    fn a_resync_is_said_with_its_rate() {
        let words = ["resync", "102400 KiB/s", "1024 / 8192"];
        let _ = says(&with("0\n", "resync\n"), "raid-sync", Severity::Warning, &words);
        let _ = says(&with("0\n", "idle\n"), "raid-sync", Severity::Good, &[]);
    }
}
