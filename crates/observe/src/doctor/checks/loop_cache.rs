//! Loop devices that use the page cache of the file system below: data is cached twice, and data the loop device reports as written may
//! still be in memory.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::device::DeviceKind;

const CODE: &str = "loop-cache";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    let loops = queues.iter().filter(|q| q.device.kind == DeviceKind::Loop);
    loops
        .filter_map(|q| {
            let (name, source) = (q.name(), q.short("loop/dio"));
            Some(match scene.text(q.file("loop/dio"))?.as_str() {
                "1" => Finding::good(CODE, &source, format!("{name} bypasses the page cache below it (direct I/O).")),
                _ => Finding::warning(
                    CODE,
                    &source,
                    format!("{name} goes through the page cache of the file system below: data is cached twice, and even O_DIRECT reads may come from memory."),
                )
                .remedy("Switch direct I/O on for the loop device")
                .command(format!("losetup --direct-io=on /dev/{name}")),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says, silent};

    #[test]
    fn direct_io_decides() {
        silent(&machine(), "loop-cache");
        let dir = "/sys/devices/virtual/block/loop3/loop";
        let fake = machine()
            .disk("virtual", "loop3", (7, 3))
            .file(&format!("{dir}/backing_file"), "/srv/image")
            .file(&format!("{dir}/dio"), "0\n")
            .file(
                "/proc/self/mountinfo",
                "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 27 7:3 / /data rw - ext4 /dev/loop3 rw\n",
            )
            .on_mount("/data", 40, (7, 3));
        let found = says(&fake, "loop-cache", Severity::Warning, &["cached twice"]);
        assert_eq!(found.command, "losetup --direct-io=on /dev/loop3");
        let _ = says(&fake.file(&format!("{dir}/dio"), "1\n"), "loop-cache", Severity::Good, &[]);
    }
}
