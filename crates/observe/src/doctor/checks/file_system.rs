//! Type of the file system that holds the path: one in memory, on another machine, implemented by a program, or stacked on others
//! measures something other than this machine's storage.

use super::super::finding::Finding;
use super::super::scene::Scene;

const CODE: &str = "file-system";
const SOURCE: &str = "/proc/self/mountinfo";

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let Some(mount) = &scene.stack.mount else {
        return vec![Finding::unknown(CODE, SOURCE, "the mount that holds this path")];
    };
    let place = &mount.mount_point;
    let kind = mount.kind.as_str();
    let found = match kind {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs" => Finding::error(
            CODE,
            SOURCE,
            format!("{place} is a {kind}: files here are in main memory, so a measurement says nothing about storage."),
        )
        .remedy("Choose a directory on a disk (`findmnt -t ext4,xfs,btrfs` lists them)"),
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "lustre" | "afs" | "beegfs" | "gpfs" => Finding::warning(
            CODE,
            SOURCE,
            format!(
                "{place} is a {kind} from {}: every figure includes the network and the server's cache, and the server's device cannot be seen.",
                mount.source
            ),
        )
        .remedy("To measure the device, run fathom on the server; to measure the path to it, keep others off the network"),
        "9p" | "virtiofs" => Finding::warning(
            CODE,
            SOURCE,
            format!("{place} is a {kind} share of this virtual machine's host: its page cache answers, and its device cannot be seen."),
        )
        .remedy("Measure on the host, or on a disk of this virtual machine"),
        _ if kind == "fuse" || kind.starts_with("fuse.") => Finding::warning(
            CODE,
            SOURCE,
            format!("{place} is a {kind} ({}): a program serves its files and handles each call, and its device cannot be seen.", mount.source),
        )
        .remedy("Measure the directory that the program keeps its files in"),
        "overlay" => Finding::warning(
            CODE,
            SOURCE,
            format!("{place} is an overlay: opening a file of a lower layer for writing first copies the whole file to the upper layer, and a lookup may have to search every layer."),
        )
        .remedy(format!(
            "Measure in a plain mount of the file system that holds the upper layer{}; in a container, a volume",
            mount.option("upperdir").map(|d| format!(" ({d})")).unwrap_or_default()
        )),
        "zfs" | "bcachefs" => Finding::notice(
            CODE,
            SOURCE,
            format!("{place} is a {kind}: copy-on-write with checksums, its own cache and perhaps compression. Which requests a file causes depends on its history."),
        )
        .remedy("Use incompressible data and files larger than the cache"),
        _ if !scene.stack.devices.is_empty() => {
            Finding::good(CODE, SOURCE, format!("{place} is a {kind} on {}.", scene.stack.devices[0].name))
        }
        _ => Finding::warning(
            CODE,
            SOURCE,
            format!("{place} is a {kind} without a visible block device: what reaches storage is not counted."),
        )
        .remedy("Choose a directory on a disk"),
    };
    vec![found]
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};

    fn on(line: &str) -> crate::fake::Fake {
        let root = "27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw";
        let mounts = format!("{root}\n40 27 0:40 / /data {line}\n");
        machine().file("/proc/self/mountinfo", &mounts).on_mount("/data", 40, (0, 40))
    }

    #[test]
    fn memory_is_no_storage() {
        let _ =
            says(&on("rw - tmpfs tmpfs rw"), "file-system", Severity::Error, &["/data is a tmpfs", "memory"]);
    }

    #[test]
    fn what_is_elsewhere_is_said() {
        let nfs = says(&on("rw - nfs4 srv:/x rw"), "file-system", Severity::Warning, &["srv:/x", "network"]);
        assert!(nfs.remedy.contains("server"));
        let _ = says(
            &on("rw - fuse.sshfs me@box rw"),
            "file-system",
            Severity::Warning,
            &["fuse.sshfs", "program"],
        );
        let _ = says(&on("rw - 9p tag rw"), "file-system", Severity::Warning, &["host"]);
    }

    #[test]
    fn an_overlay_names_its_upper_directory() {
        let fake = on("rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w");
        let found = says(&fake, "file-system", Severity::Warning, &["overlay", "copies"]);
        assert!(found.remedy.contains("(/u)"), "{}", found.remedy);
    }
}
