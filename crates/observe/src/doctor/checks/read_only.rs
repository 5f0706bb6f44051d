//! A read-only file system: mounted so, or made so by the kernel after an error.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "read-only";
const SOURCE: &str = "/proc/self/mountinfo";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(mount) = &scene.stack.mount else { return Vec::new() };
    let place = &mount.mount_point;
    if !mount.has_option("ro") {
        return vec![Finding::good(CODE, SOURCE, format!("{place} can be written."))];
    }
    let found = Finding::error(
        CODE,
        SOURCE,
        format!("{place} is mounted read-only: existing files can be read, but none can be laid out."),
    );
    vec![
        found
            .remedy("If an error caused this (see `dmesg`), repair it first; otherwise mount it writable")
            .command(format!("mount -o remount,rw {place}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn either_of_the_two_options_counts() {
        for line in ["ro,relatime - ext4 /dev/sda1 rw", "rw,relatime - ext4 /dev/sda1 ro,errors=remount-ro"] {
            let fake = machine().file("/proc/self/mountinfo", &format!("27 1 8:1 / /d {line}\n"));
            let found = says(&fake, "read-only", Severity::Error, &["/d is mounted read-only"]);
            assert_eq!(found.command, "mount -o remount,rw /d");
        }
        let _ = says(&machine(), "read-only", Severity::Good, &[]);
    }
}
