//! Mount options that change the cost of a call or whether it reaches the device.

use super::super::finding::{Finding, Severity};
use super::super::scene::Scene;

const SOURCE: &str = "/proc/self/mountinfo";

/// (option as the kernel shows it, with its value where only that counts; severity; effect). Warnings are options that change the meaning
/// of a write or a sync, so that figures are not comparable with those of a default mount.
const KNOWN: [(&str, Severity, &str); 22] = [
    ("sync", Severity::Warning, "every write waits for the device, also in programs that did not request it"),
    ("dirsync", Severity::Warning, "every change of a directory waits for the device"),
    ("wsync", Severity::Warning, "every change of a directory waits for the log"),
    ("data=journal", Severity::Warning, "every byte is written twice, first to the journal"),
    (
        "nobarrier",
        Severity::Warning,
        "fsync does not flush the device's cache: it is too fast, and data can be lost",
    ),
    (
        "barrier=0",
        Severity::Warning,
        "fsync does not flush the device's cache: it is too fast, and data can be lost",
    ),
    ("dax", Severity::Notice, "files are mapped without a page cache, and O_DIRECT changes nothing"),
    ("dax=always", Severity::Notice, "files are mapped without a page cache, and O_DIRECT changes nothing"),
    ("strictatime", Severity::Notice, "every read dirties the file's inode"),
    ("noatime", Severity::Notice, "reads never dirty an inode; the default, relatime, does once a day"),
    ("lazytime", Severity::Notice, "time stamps are written late, so an fdatasync writes less"),
    ("data=writeback", Severity::Notice, "the journal does not wait for data, so a commit is cheaper"),
    ("nodelalloc", Severity::Notice, "blocks are allocated at the write, not at write-back"),
    ("nodatacow", Severity::Notice, "data is overwritten in place, without checksums"),
    ("autodefrag", Severity::Notice, "small random writes cause additional writes in the background"),
    ("journal_async_commit", Severity::Notice, "a commit does not wait for its descriptor blocks"),
    ("noload", Severity::Notice, "the journal was not replayed"),
    ("norecovery", Severity::Notice, "the log was not replayed"),
    ("dioread_lock", Severity::Notice, "reads with O_DIRECT take the inode's lock"),
    ("swalloc", Severity::Notice, "files are allocated by stripe width"),
    ("fsync_mode=nobarrier", Severity::Warning, "fsync does not flush the device's cache"),
    ("mode=lfs", Severity::Notice, "all writes go to new blocks"),
];

/// Options that make a file system compress.
const COMPRESSING: [&str; 3] = ["compress", "compress-force", "compress_algorithm"];

/// Default commit intervals: 5 s for ext4, 30 s for XFS and btrfs.
const USUAL_COMMITS: [&str; 2] = ["5", "30"];

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(mount) = &scene.stack.mount else { return Vec::new() };
    let mut found: Vec<Finding> = KNOWN
        .iter()
        .filter(|(option, _, _)| mount.options.iter().any(|o| o == option))
        .map(|(option, severity, does)| tell(&mount.mount_point, option, *severity, does))
        .collect();
    if let Some(seconds) = mount.option("commit").filter(|s| !USUAL_COMMITS.contains(s)) {
        let does = format!(
            "the journal commits every {seconds} s, so what a run leaves unwritten differs from the default"
        );
        found.push(tell(&mount.mount_point, &format!("commit={seconds}"), Severity::Notice, &does));
    }
    if found.is_empty() {
        let options = mount.options.join(",");
        found.push(Finding::good(
            "mount-options",
            SOURCE,
            format!("The mount options ({options}) change no result."),
        ));
    }
    found.extend(compression(scene));
    found
}

fn tell(place: &str, option: &str, severity: Severity, does: &str) -> Finding {
    let sentence = format!("{place} is mounted with {option}: {does}.");
    match severity {
        Severity::Warning => Finding::warning("mount-options", SOURCE, sentence)
            .remedy("Mount without it, unless it is what you want to measure"),
        _ => Finding::notice("mount-options", SOURCE, sentence),
    }
}

fn compression(scene: &Scene) -> Option<Finding> {
    let mount = scene.stack.mount.as_ref()?;
    let option = mount.options.iter().find(|o| COMPRESSING.contains(&o.split('=').next().unwrap_or("")))?;
    Some(
        Finding::warning(
            "compression",
            SOURCE,
            format!("{} is mounted with {option}: compressible data is written as a fraction of its size, and the compressor is measured with the device.", mount.mount_point),
        )
        .remedy("Switch it off for a directory of measurements before its files are made")
        .command(format!("chattr +m {}", scene.path.display())),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{findings_of, machine, says, scene, silent};

    fn with(options: &str) -> crate::fake::Fake {
        machine().file(
            "/proc/self/mountinfo",
            &format!("27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,{options}\n"),
        )
    }

    #[test]
    fn an_option_is_told_with_what_it_does() {
        let _ =
            says(&with("sync"), "mount-options", Severity::Warning, &["with sync", "waits for the device"]);
        let _ = says(&with("data=journal"), "mount-options", Severity::Warning, &["twice"]);
        let _ = says(&with("commit=60"), "mount-options", Severity::Notice, &["every 60 s"]);
        let _ = says(&with("commit=5,data=ordered"), "mount-options", Severity::Good, &["commit=5"]);
    }

    #[test]
    fn a_longer_name_is_another_option() {
        let _ = says(&with("syncfoo,data=journalled"), "mount-options", Severity::Good, &[]);
    }

    #[test]
    fn each_option_has_its_sentence() {
        assert_eq!(findings_of(&scene(&with("nobarrier,lazytime")), "mount-options").len(), 2);
    }

    #[test]
    fn compression_is_a_finding_of_its_own() {
        let _ = says(&with("compress=zstd:3"), "compression", Severity::Warning, &["compress=zstd:3"]);
        silent(&machine(), "compression");
    }
}
