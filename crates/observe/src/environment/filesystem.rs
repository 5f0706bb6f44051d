//! The file system under test: its type, mount options and fill level.

use super::Document;
use crate::device::DeviceStack;
use serde_json::Value;
use std::path::Path;

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
    doc.number("filesystem.dirty_limit_bytes", &format!("{bdi}/max_bytes"));
}
