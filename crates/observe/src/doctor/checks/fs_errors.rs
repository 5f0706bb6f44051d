//! Errors counted by the file system: ext4 keeps them in its superblock, btrfs per device.

use super::super::finding::Finding;
use super::super::scene::Scene;
use std::path::Path;

const CODE: &str = "fs-errors";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let found = match scene.kind() {
        "ext4" => ext4(scene),
        "btrfs" => btrfs(scene),
        _ => None,
    };
    found.into_iter().collect()
}

fn tell(errors: u64, source: &str, command: String) -> Finding {
    if errors == 0 {
        return Finding::good(CODE, source, "The file system has counted no errors.");
    }
    Finding::warning(
        CODE,
        source,
        format!(
            "The file system has counted {errors} errors: requests may be repeated, and files may be damaged."
        ),
    )
    .figure("errors", errors as f64, "errors")
    .remedy("Read `dmesg`, then check the file system while it is unmounted")
    .command(command)
}

fn ext4(scene: &Scene) -> Option<Finding> {
    let device = &scene.stack.tops().next()?.name;
    let path = format!("/sys/fs/ext4/{device}/errors_count");
    Some(tell(scene.text(&path)?.parse().ok()?, &path, format!("e2fsck -f /dev/{device}")))
}

/// `devinfo/N/error_stats` has a line "write_errs 0" for each kind.
fn btrfs(scene: &Scene) -> Option<Finding> {
    let device = &scene.stack.tops().next()?.name;
    let root = Path::new("/sys/fs/btrfs");
    let uuid = scene
        .list(root)
        .into_iter()
        .find(|uuid| scene.list(root.join(uuid).join("devices")).contains(device))?;
    let members = root.join(&uuid).join("devinfo");
    let texts =
        scene.list(&members).into_iter().filter_map(|n| scene.text(members.join(n).join("error_stats")));
    let counts: Vec<u64> = texts
        .flat_map(|t| {
            t.lines().filter_map(|l| l.split_whitespace().nth(1)?.parse().ok()).collect::<Vec<u64>>()
        })
        .collect();
    let source = members.join("*/error_stats").display().to_string();
    (!counts.is_empty())
        .then(|| tell(counts.iter().sum(), &source, format!("btrfs device stats {}", scene.mount_point())))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn ext4_counts_in_one_file() {
        let fake = machine().file("/sys/fs/ext4/sda1/errors_count", "3\n");
        let found = says(&fake, "fs-errors", Severity::Warning, &["3 errors"]);
        assert_eq!(found.command, "e2fsck -f /dev/sda1");
    }

    #[test]
    fn btrfs_counts_by_device() {
        let fake = machine()
            .file("/proc/self/mountinfo", "27 1 0:30 / / rw,relatime - btrfs /dev/sda1 rw\n")
            .on_mount("/", 27, (0, 30))
            .file("/sys/fs/btrfs/aa/devices/sda1", "")
            .file("/sys/fs/btrfs/aa/devinfo/1/error_stats", "write_errs 2\nread_errs 1\nflush_errs 0\n");
        let _ = says(&fake, "fs-errors", Severity::Warning, &["3 errors"]);
    }
}
