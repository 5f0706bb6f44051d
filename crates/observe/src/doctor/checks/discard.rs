//! Discard: whether freed blocks are returned to the device at once, later, or never.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "discard";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let (Some(mount), Some(top)) = (&scene.stack.mount, scene.queues().into_iter().next()) else {
        return Vec::new();
    };
    let Some(most) = top.count("discard_max_bytes") else { return Vec::new() };
    let (name, source) = (top.name(), top.short("queue/discard_max_bytes"));
    let asked = mount.options.iter().any(|o| o == "discard" || o.starts_with("discard="));
    vec![match (most, asked) {
        (0, _) => Finding::good(CODE, &source, format!("{name} takes no discards.")),
        (_, false) => Finding::good(CODE, &source, format!("{name} takes discards, and the file system sends none by itself (fstrim does).")),
        (_, true) => Finding::notice(
            CODE,
            "/proc/self/mountinfo",
            format!(
                "{} is mounted with discard: each removed file sends discards to {name}, beside the requests of a measurement, and a thin or sparse disk loses the blocks again.",
                mount.mount_point
            ),
        )
        .remedy("Mount without it and trim between measurements")
        .command(format!("mount -o remount,nodiscard {0} && fstrim {0}", mount.mount_point)),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, machine, says};

    #[test]
    fn both_the_mount_and_the_device_decide() {
        let mounted = |o: &str| {
            machine().file("/proc/self/mountinfo", &format!("27 1 8:1 / / rw - ext4 /dev/sda1 rw,{o}\n"))
        };
        let found =
            says(&mounted("discard"), "discard", Severity::Notice, &["/ is mounted with discard", "sda"]);
        assert_eq!(found.command, "mount -o remount,nodiscard / && fstrim /");
        let _ = says(&mounted("discard=async"), "discard", Severity::Notice, &[]);
        let _ = says(&mounted("nodiscard"), "discard", Severity::Good, &["fstrim"]);
        let fake = mounted("discard").file(&format!("{SDA}/queue/discard_max_bytes"), "0\n");
        let _ = says(&fake, "discard", Severity::Good, &["no discards"]);
    }
}
