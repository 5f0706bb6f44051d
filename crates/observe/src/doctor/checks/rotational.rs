//! A virtual disk that the kernel considers rotational: schedulers, write-back throttling and btrfs then act as if seeks were expensive.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "rotational";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let virtual_machine = scene.word("cpu.hypervisor").is_some_and(|h| h != "none");
    let queues = scene.queues();
    let disks = queues.iter().filter(|q| !q.is_virtual());
    disks
        .filter_map(|q| {
            let (name, source) = (q.name(), q.short("queue/rotational"));
            Some(match (q.flag("rotational")?, virtual_machine || q.word("transport") == Some("virtio")) {
                (true, true) => Finding::notice(
                    CODE,
                    &source,
                    format!("The kernel takes {name} for a spinning disk, as virtual disks often report: bfq, write-back throttling and btrfs act as if seeks were expensive."),
                )
                .remedy("If the host keeps it on flash, set this before mounting")
                .command(format!("echo 0 > {source}")),
                (true, false) => Finding::good(CODE, &source, format!("{name} is a spinning disk.")),
                (false, _) => Finding::good(CODE, &source, format!("{name} reports no moving parts.")),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, findings_of, machine, one, says, scene};

    #[test]
    fn only_a_virtual_disk_is_doubted() {
        let fake = machine().file(&format!("{SDA}/queue/rotational"), "1\n");
        let _ = says(&fake, "rotational", Severity::Good, &["spinning"]);
        let mut scene = scene(&fake);
        scene.environment["cpu"]["hypervisor"] = "KVMKVMKVM".into();
        let _ = one(&findings_of(&scene, "rotational"), Severity::Notice, &["sda", "spinning"]);
    }
}
