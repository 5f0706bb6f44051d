//! Device mapper: sysfs shows only the name and uuid of a mapping. The beginning or end of the uuid identifies its creator: LUKS, a thin
//! pool, an LVM snapshot. The table itself needs root and an ioctl; if the uuid is not recognised, the finding says so.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};
use crate::device::DeviceKind;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    let mappers = queues.iter().filter(|q| q.device.kind == DeviceKind::DeviceMapper);
    mappers.flat_map(|q| of(scene, q)).collect()
}

fn of(scene: &Scene, queue: &Queue) -> Vec<Finding> {
    let uuid = scene.text(queue.file("dm/uuid")).unwrap_or_default();
    let mapping = scene.text(queue.file("dm/name")).unwrap_or_default();
    let source = queue.short("dm/uuid");
    let called = format!("{} ({mapping})", queue.name());
    let mut found = Vec::new();
    if scene.text(queue.file("dm/suspended")).as_deref() == Some("1") {
        let sentence = format!("{called} is suspended: every request waits until it is resumed.");
        let finding = Finding::error("mapper", &queue.short("dm/suspended"), sentence);
        found.push(finding.remedy("Resume it").command(format!("dmsetup resume {mapping}")));
    }
    let kind = queue.word("mapper_kind");
    if kind == Some("crypt") {
        let sentence = format!(
            "{called} is encrypted: every byte costs processor time, and requests pass through further queues."
        );
        let finding = Finding::notice("encryption", &source, sentence);
        found.push(finding.remedy("Measure how fast the processor encrypts").command("cryptsetup benchmark"));
    } else if kind == Some("thin-pool") {
        let sentence = format!(
            "{called} is a thin pool: the first write to each piece allocates it, and reading an unallocated one reaches no device."
        );
        let finding = Finding::warning("thin", &source, sentence);
        found.push(
            finding
                .remedy("Write the files once before measuring; see how full the pool is")
                .command("lvs -o +data_percent"),
        );
    } else if matches!(kind, Some("snapshot-store" | "snapshot-origin")) {
        let sentence =
            format!("{called} belongs to a snapshot: the first write to each piece copies the old one.");
        let finding = Finding::warning("snapshot", &source, sentence);
        found.push(
            finding.remedy("Remove the snapshot before measuring").command("lvs -o +origin,snap_percent"),
        );
    } else if uuid.is_empty() {
        let finding = Finding::unknown("mapper", &source, format!("what kind of mapping {called} is"));
        found.push(finding.remedy("Look at its table").command(format!("dmsetup table {mapping}")));
    } else if found.is_empty() {
        found.push(Finding::good(
            "mapper",
            &source,
            format!("{called} is mapped by {}.", uuid.split('-').next().unwrap_or(&uuid)),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says, silent};
    use crate::fake::Fake;

    fn with(uuid: &str) -> Fake {
        machine()
            .disk("virtual", "dm-0", (253, 0))
            .file("/sys/devices/virtual/block/dm-0/dm/uuid", uuid)
            .file("/sys/devices/virtual/block/dm-0/dm/name", "home\n")
            .file("/sys/devices/virtual/block/dm-0/slaves/sda1", "")
            .file("/proc/self/mountinfo", "27 1 253:0 / / rw - ext4 /dev/mapper/home rw\n")
            .on_mount("/", 27, (253, 0))
    }

    #[test]
    fn the_uuid_names_the_maker() {
        let _ = says(&with("CRYPT-LUKS2-abc-home\n"), "encryption", Severity::Notice, &["dm-0 (home)"]);
        let _ = says(&with("LVM-abc-tpool\n"), "thin", Severity::Warning, &["thin pool"]);
        let _ = says(&with("LVM-abc-cow\n"), "snapshot", Severity::Warning, &["snapshot"]);
        let _ = says(&with("LVM-abc\n"), "mapper", Severity::Good, &["LVM"]);
        let _ = says(&with("\n"), "mapper", Severity::Unknown, &["dm-0 (home)"]);
        silent(&machine(), "mapper");
    }

    #[test]
    fn a_suspended_device_hangs() {
        let fake = with("LVM-abc\n").file("/sys/devices/virtual/block/dm-0/dm/suspended", "1\n");
        let found = says(&fake, "mapper", Severity::Error, &["suspended"]);
        assert_eq!(found.command, "dmsetup resume home");
    }
}
