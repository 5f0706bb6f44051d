//! The device's volatile write cache: whether fsync sends a flush, and whether the kernel's setting disagrees with the drive.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};

const CODE: &str = "write-cache";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    queues.iter().filter(|q| !q.is_virtual()).filter_map(|q| of(scene, q)).collect()
}

fn of(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("queue/write_cache"));
    let kernel = queue.word("write_cache")?;
    if kernel == "write back" {
        let forced = if queue.flag("fua") == Some(true) {
            "with FUA"
        } else {
            "without FUA, so a forced write is a write and a flush"
        };
        return Some(Finding::good(
            CODE,
            &source,
            format!("{name} has a volatile write cache, and fsync flushes it ({forced})."),
        ));
    }
    // "write back", "write back, no read (daft)": the drive's own report.
    let drive = drive_says(scene, queue);
    if drive.is_some_and(|d| d.starts_with("write back")) {
        let sentence = format!(
            "{name} has a volatile write cache, but the kernel is configured to assume none: fsync does not flush it, looks too fast, and data can be lost."
        );
        let finding = Finding::warning(CODE, &source, sentence);
        return Some(
            finding
                .remedy("Make the kernel flush the cache")
                .command(format!("echo \"write back\" > {source}")),
        );
    }
    Some(Finding::notice(
        CODE,
        &source,
        format!("{name} reports no volatile write cache: fsync sends no flush and costs only its writes."),
    ))
}

fn drive_says(scene: &Scene, queue: &Queue) -> Option<String> {
    let dir = queue.file("device/scsi_disk");
    scene.list(&dir).iter().find_map(|address| scene.text(dir.join(address).join("cache_type")))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, machine, says};

    #[test]
    fn a_cache_is_flushed_or_not() {
        let through = || machine().file(&format!("{SDA}/queue/write_cache"), "write through\n");
        let _ = says(&machine(), "write-cache", Severity::Good, &["with FUA"]);
        let _ = says(&through(), "write-cache", Severity::Notice, &["no flush"]);
        let lied = through().file(&format!("{SDA}/device/scsi_disk/0:0:0:0/cache_type"), "write back\n");
        let _ = says(&lied, "write-cache", Severity::Warning, &["data can be lost"]);
    }
}
