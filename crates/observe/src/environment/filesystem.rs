//! The file system under test: its type, mount options and fill level.

use super::Document;
use crate::device::DeviceStack;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(super) fn capture(doc: &mut Document, dir: &Path, stack: &DeviceStack) {
    let why = stack.note.clone().unwrap_or_else(|| "no mount of the directory is visible".into());
    let mount = stack.mount.as_ref();
    doc.set("filesystem.type", mount.map(|m| m.kind.clone()), &why);
    doc.set("filesystem.mount_point", mount.map(|m| m.mount_point.clone()), &why);
    doc.set("filesystem.mounted_directory", mount.map(|m| m.root.clone()), &why);
    doc.set("filesystem.source", mount.map(|m| m.source.clone()), &why);
    doc.set("filesystem.options", mount.map(|m| m.options.join(",")), &why);
    let device = stack.tops().next().map(|d| d.name.clone());
    let uuid = device.and_then(|name| uuid_of(doc, &name));
    doc.set("filesystem.uuid", uuid, "/dev/disk/by-uuid names no device of this file system");
    let space = doc.files.space_of(dir);
    let why = space.as_ref().err().map(|e| format!("statvfs answers {e}")).unwrap_or_default();
    let space = space.ok();
    doc.set("filesystem.block_bytes", space.map(|s| s.block_bytes), &why);
    doc.set("filesystem.total_bytes", space.map(|s| s.total_bytes), &why);
    doc.set("filesystem.free_bytes", space.map(|s| s.free_bytes), &why);
    doc.set("filesystem.files_total", space.map(|s| s.files_total), &why);
    doc.set("filesystem.files_free", space.map(|s| s.files_free), &why);
    of_mount(doc, stack);
    if mount.is_some_and(|m| m.kind == "ext4") {
        let journal = stack.tops().next().and_then(|device| has_journal(doc, &device.name));
        doc.set("filesystem.journal", journal, "/sys/fs/ext4 does not show it");
        let blocks = stack.tops().next().and_then(|device| transaction_blocks(doc, &device.name));
        let most = blocks.and_then(|n| n.checked_mul(space.as_ref()?.block_bytes));
        doc.set("filesystem.journal_transaction_bytes", most, "/proc/fs/jbd2 does not show it");
    }
    if mount.is_some_and(|m| m.kind == "btrfs") {
        let of_device = |read: fn(&Document, &str) -> Option<String>| read(doc, &stack.tops().next()?.name);
        let (profile, checksum) = (of_device(data_profile), of_device(checksum));
        let missing = stack.tops().next().and_then(|device| missing(doc, &device.name));
        doc.set("filesystem.missing_devices", missing, "/sys/fs/btrfs does not show it (Linux 5.6)");
        doc.set("filesystem.data_profile", profile, "/sys/fs/btrfs does not show it");
        doc.set("filesystem.checksum", checksum, "/sys/fs/btrfs does not show it (Linux 5.5)");
    }
}

/// Whether the ext4 on a device has a journal. The kernel shows the journal's thread.
fn has_journal(doc: &Document, device: &str) -> Option<bool> {
    let task = doc.files.trimmed(Path::new(&format!("/sys/fs/ext4/{device}/journal_task")))?;
    Some(task != "<none>")
}

/// Maximum blocks per transaction of the ext4 journal on a device: a third or a quarter of the journal, depending on the kernel.
/// The directory in /proc is named after the device and the journal's inode, or after the journal's own device.
fn transaction_blocks(doc: &Document, device: &str) -> Option<u64> {
    const DIR: &str = "/proc/fs/jbd2";
    let journals = doc.files.list(Path::new(DIR)).ok()?;
    let journal = journals.iter().find(|name| {
        name.strip_prefix(device)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|inode| inode.parse::<u32>().is_ok())
    })?;
    let info = doc.files.trimmed(&Path::new(DIR).join(journal).join("info"))?;
    info.split_once("each up to ")?.1.split_once(" blocks")?.0.parse().ok()
}

/// How btrfs on a device keeps data: "single", "dup", "raid1"; the first of this list if it has several.
fn data_profile(doc: &Document, device: &str) -> Option<String> {
    const PROFILES: [&str; 9] =
        ["dup", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6", "raid0", "single"];
    let kept = doc.files.list(&btrfs_on(doc, device)?.join("allocation/data")).ok()?;
    PROFILES.iter().find(|profile| kept.iter().any(|name| name == **profile)).map(|p| (*p).to_owned())
}

/// Algorithm and driver of the checksums of btrfs on a device: "sha256 (sha256-ni)".
fn checksum(doc: &Document, device: &str) -> Option<String> {
    doc.files.trimmed(&btrfs_on(doc, device)?.join("checksum"))
}

/// Number of devices that the btrfs on a device lacks.
fn missing(doc: &Document, device: &str) -> Option<usize> {
    let all = btrfs_on(doc, device)?.join("devinfo");
    let is_missing =
        |id: &&String| doc.files.trimmed(&all.join(id).join("missing")).is_some_and(|t| t == "1");
    Some(doc.files.list(&all).ok()?.iter().filter(is_missing).count())
}

/// The directory in /sys/fs/btrfs of the file system on a device.
fn btrfs_on(doc: &Document, device: &str) -> Option<PathBuf> {
    let all = Path::new("/sys/fs/btrfs");
    let has = |dir: &str| doc.files.list(&all.join(dir)).is_ok_and(|names| names.iter().any(|n| n == device));
    let uuids = doc.files.list(all).ok()?;
    uuids.iter().find(|uuid| has(&format!("{uuid}/devices"))).map(|uuid| all.join(uuid))
}

/// The name in /dev/disk/by-uuid that links to a device.
fn uuid_of(doc: &Document, device: &str) -> Option<Value> {
    let dir = Path::new("/dev/disk/by-uuid");
    let leads = |uuid: &&String| {
        doc.files
            .read_link(&dir.join(uuid.as_str()))
            .is_ok_and(|t| t.file_name().is_some_and(|n| n == device))
    };
    doc.files.list(dir).ok()?.iter().find(leads).map(|u| u.clone().into())
}

/// Where the file system hides its devices (btrfs, NFS, FUSE), read-ahead and the limit of dirty memory belong to the mount, not to the
/// disk.
fn of_mount(doc: &mut Document, stack: &DeviceStack) {
    let Some(mount) = &stack.mount else {
        for name in ["read_ahead_kb", "dirty_limit_strict", "dirty_limit_bytes"] {
            doc.set(&format!("filesystem.{name}"), None::<u64>, "no mount of the directory is visible");
        }
        return;
    };
    let (major, minor) = mount.device;
    let bdi = format!("/sys/class/bdi/{major}:{minor}");
    doc.number("filesystem.read_ahead_kb", &format!("{bdi}/read_ahead_kb"));
    let path = format!("{bdi}/strict_limit");
    let strict = doc.files.trimmed(Path::new(&path)).map(|t| t != "0");
    doc.set("filesystem.dirty_limit_strict", strict, &super::unreadable(&path));
    // A limit that is not strict is a share of the free memory, and changes all the time.
    match strict {
        Some(true) => doc.number("filesystem.dirty_limit_bytes", &format!("{bdi}/max_bytes")),
        Some(false) => doc.set("filesystem.dirty_limit_bytes", None::<u64>, "the limit is not strict"),
        None => doc.set("filesystem.dirty_limit_bytes", None::<u64>, &super::unreadable(&path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn profile_and_checksum_are_those_of_the_file_system_on_the_device() {
        let fake = Fake::new()
            .file("/sys/fs/btrfs/features/acl", "0\n")
            .file("/sys/fs/btrfs/aa/devices/sda/size", "1\n")
            .file("/sys/fs/btrfs/aa/allocation/data/single/total_bytes", "1\n")
            .file("/sys/fs/btrfs/bb/devices/sdb/size", "1\n")
            .file("/sys/fs/btrfs/bb/allocation/data/dup/total_bytes", "1\n")
            .file("/sys/fs/btrfs/bb/allocation/data/flags", "1\n")
            .file("/sys/fs/btrfs/bb/devinfo/1/missing", "0\n")
            .file("/sys/fs/btrfs/bb/devinfo/2/missing", "1\n")
            .file("/sys/fs/btrfs/bb/checksum", "sha256 (sha256-ni)\n");
        let doc = Document::new(&fake);
        let profiles = ["sda", "sdb", "sdc"].map(|device| data_profile(&doc, device));
        assert_eq!(profiles, [Some("single".into()), Some("dup".into()), None]);
        assert_eq!(["sda", "sdb"].map(|device| missing(&doc, device)), [None, Some(1)]);
        let checksums = ["sda", "sdb"].map(|device| checksum(&doc, device));
        assert_eq!(checksums, [None, Some("sha256 (sha256-ni)".into())], "since Linux 5.5");
    }

    #[test]
    fn an_ext4_may_have_no_journal() {
        let fake = Fake::new()
            .file("/sys/fs/ext4/sda/journal_task", "<none>\n")
            .file("/sys/fs/ext4/sdb/journal_task", "812\n");
        let doc = Document::new(&fake);
        assert_eq!(["sda", "sdb", "sdc"].map(|d| has_journal(&doc, d)), [Some(false), Some(true), None]);
    }
}
