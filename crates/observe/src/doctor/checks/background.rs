//! Programs and kernel threads known to use the disk in bursts: indexers, backups, trims, package managers, checks.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "background";
const SOURCE: &str = "/proc/*/comm";

/// (beginning of the name, which the kernel cuts at 15 characters; what it does). Services that mostly sleep are not listed, only those
/// that do I/O as long as they run.
const SPOILERS: [(&str, &str); 40] = [
    ("updatedb", "indexes every file name"),
    ("plocate-build", "indexes every file name"),
    ("fstrim", "discards free blocks"),
    ("tracker-extract", "indexes files"),
    ("tracker-miner", "indexes files"),
    ("localsearch", "indexes files"),
    ("baloo_file", "indexes files"),
    ("restic", "backs up"),
    ("borg", "backs up"),
    ("duplicity", "backs up"),
    ("rsnapshot", "backs up"),
    ("bacula-fd", "backs up"),
    ("rsync", "copies files"),
    ("rclone", "copies files"),
    ("dpkg", "installs packages"),
    ("apt-get", "installs packages"),
    ("unattended-upgr", "installs packages"),
    ("dnf", "installs packages"),
    ("zypper", "installs packages"),
    ("pacman", "installs packages"),
    ("clamscan", "reads every file"),
    ("aide", "reads every file"),
    ("debsums", "reads every file"),
    ("e2fsck", "checks a file system"),
    ("fsck.", "checks a file system"),
    ("xfs_repair", "checks a file system"),
    ("xfs_scrub", "checks a file system"),
    ("xfs_fsr", "moves files"),
    ("e4defrag", "moves files"),
    ("btrfs-balance", "moves data"),
    ("btrfs-cleaner-b", "moves data"),
    ("bees", "searches for equal data"),
    ("duperemove", "searches for equal data"),
    ("badblocks", "reads the whole device"),
    ("smartctl", "asks the device"),
    ("fio", "measures storage"),
    ("iozone", "measures storage"),
    ("sysbench", "measures"),
    ("filebench", "measures storage"),
    ("stress-ng", "loads the machine"),
];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let programs = scene.programs();
    if programs.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Finding> = Vec::new();
    for (pid, name) in &programs {
        if let Some((_, does)) = SPOILERS.iter().find(|(start, _)| name.starts_with(start)) {
            found.push(
                Finding::warning(
                    CODE,
                    &format!("/proc/{pid}/comm"),
                    format!("{name} is running ({pid}): it {does}."),
                )
                .remedy("Wait until it is done, or stop it while measuring"),
            );
        } else if name == "irqbalance" {
            found.push(
                Finding::notice(CODE, &format!("/proc/{pid}/comm"), format!("irqbalance is running ({pid}): it may move the device's interrupts to other processors in the middle of a run."))
                    .remedy("Stop it while measuring short latencies")
                    .command("systemctl stop irqbalance"),
            );
        }
    }
    if found.is_empty() {
        found.push(Finding::good(
            CODE,
            SOURCE,
            format!("Of {} programs and kernel threads none is known for bursts of I/O.", programs.len()),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    #[test]
    fn known_programs_are_named_with_their_number() {
        let with = |name: &str| machine().file("/proc/51/comm", name);
        let _ = says(&with("unattended-upgr\n"), "background", Severity::Warning, &["unattended-upgr", "51"]);
        let _ = says(&with("irqbalance\n"), "background", Severity::Notice, &["interrupts"]);
        let _ = says(&with("bash\n"), "background", Severity::Good, &["Of 3 programs"]);
    }
}
