//! What really backs a device, where it can be seen: main memory, a sparse image, a file on another file system, or an unknown medium of
//! the host. The first write to an unallocated block must allocate it, and reading a hole does not reach any device.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};
use crate::device::DeviceKind;
use crate::words::percent;
use fathom_record::origin::bytes_words;
use std::path::Path;

const CODE: &str = "backing";

/// Metadata blocks of the file system that holds an image are a small part of its allocation; below this share the image has holes.
const ALLOCATED: f64 = 0.99;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    let mut found: Vec<Finding> = queues.iter().filter_map(|q| backing(scene, q)).collect();
    found.extend(queues.iter().filter_map(|q| host(scene, q)));
    found
}

fn backing(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let name = queue.name();
    match queue.device.kind {
        DeviceKind::Ram => Some(
            Finding::error(
                CODE,
                &queue.short("loop/backing_file"),
                format!(
                    "{name} is main memory that serves as a disk: a measurement says nothing about storage."
                ),
            )
            .remedy("Choose a directory on a disk"),
        ),
        DeviceKind::Loop => image(scene, queue),
        DeviceKind::Disk => Some(Finding::good(
            CODE,
            &queue.short("device"),
            format!("{name} is a disk, or is presented to the kernel as one."),
        )),
        _ => None,
    }
}

/// The file of a loop device.
fn image(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let name = queue.name();
    let source = queue.short("loop/backing_file");
    let file = queue.word("backing_file")?;
    let Ok(size) = scene.files.size_of(Path::new(file)) else {
        return Some(Finding::unknown(
            CODE,
            &source,
            format!("whether {file}, the file behind {name}, has holes"),
        ));
    };
    let share = size.allocated_bytes as f64 / size.length_bytes.max(1) as f64;
    if queue.flag("backing_file_copied_on_write") == Some(true) {
        return Some(
            Finding::warning(
                CODE,
                &source,
                format!("{name} is a file ({file}) on btrfs, which writes each block to a new place: random writes with syncs can cost several times as many bytes below."),
            )
            .remedy("Unmount and detach it, copy the file into one with the attribute C, which is overwritten in place, without checksums, and use that one")
            .command(format!("touch {file}.new; chattr +C {file}.new; cp --reflink=never {file} {file}.new")),
        );
    }
    if share >= ALLOCATED {
        return Some(Finding::notice(
            CODE,
            &source,
            format!(
                "{name} is a file ({file}) on another file system: each of its requests passes through both."
            ),
        ));
    }
    let missing = size.length_bytes.saturating_sub(size.allocated_bytes);
    let room = scene.files.space_of(Path::new(file)).map_or(u64::MAX, |s| s.free_bytes);
    let over = if missing > room {
        format!(
            " Only {} are free below for the {} that are missing: writes will fail.",
            bytes_words(room),
            bytes_words(missing)
        )
    } else {
        String::new()
    };
    Some(
        Finding::warning(
            CODE,
            &source,
            format!(
                "{name} is a sparse file ({file}): {} of its {} ({}) are allocated. The first write to the rest is slower, and reading it reaches no device.{over}",
                bytes_words(size.allocated_bytes),
                bytes_words(size.length_bytes),
                percent(share)
            ),
        )
        .figure("allocated", share, "ratio")
        .remedy("Before measuring, fill the file system once with a file and remove it, without discard")
        .command(format!("dd if=/dev/zero of={}/fill bs=1M; sync; rm {}/fill", scene.mount_point(), scene.mount_point())),
    )
}

/// A virtual machine cannot see what its disk really is.
fn host(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let hypervisor = scene.word("cpu.hypervisor").filter(|&h| h != "none")?;
    let passed_through = queue.word("transport") == Some("nvme");
    if queue.is_virtual() || passed_through {
        return None;
    }
    Some(
        Finding::unknown(
            "host-backing",
            &queue.short("device"),
            format!(
                "whether the host ({hypervisor}) keeps {} as a thin or sparse image, and caches it",
                queue.name()
            ),
        )
        .remedy("Ask the administrator of the host; write the test files once before measuring"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{findings_of, machine, one, says, scene, silent};
    use crate::fake::Fake;
    use std::path::Path;

    const IMAGE: &str = "/srv/image";

    fn on_loop() -> Fake {
        machine()
            .disk("virtual", "loop3", (7, 3))
            .file("/sys/devices/virtual/block/loop3/loop/backing_file", IMAGE)
            .file("/proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 27 7:3 / /data rw - ext4 /dev/loop3 rw\n41 27 0:9 / /shm rw - tmpfs tmpfs rw\n")
            .on_mount("/data", 40, (7, 3))
            .on_mount("/shm", 41, (0, 9))
    }

    #[test]
    fn a_sparse_image_is_told_with_its_share() {
        let fake = on_loop().file(IMAGE, "");
        fake.lengthen(IMAGE, 64 << 20);
        let found = findings_of(&scene(&fake), "backing");
        let found: Vec<_> = found.into_iter().filter(|f| f.sentence.starts_with("loop3")).collect();
        let found = one(&found, Severity::Warning, &["sparse", "0 B of its 64 MiB (0.0 %)"]);
        assert!(found.command.contains("/data/fill"));
    }

    #[test]
    fn a_full_image_is_only_noted() {
        let fake = on_loop().file(IMAGE, &"x".repeat(100_000));
        let found = findings_of(&scene(&fake), "backing");
        assert!(
            found.iter().any(|f| f.severity == Severity::Notice && f.sentence.contains(IMAGE)),
            "{found:?}"
        );
    }

    #[test]
    fn an_image_on_btrfs_writes_more_than_it_is_asked() {
        let fake = on_loop().file(IMAGE, &"x".repeat(100_000)).copied_on_write(IMAGE);
        let found = findings_of(&scene(&fake), "backing");
        assert!(
            found.iter().any(|f| f.severity == Severity::Warning && f.sentence.contains("on btrfs")),
            "{found:?}"
        );
    }

    #[test]
    fn an_image_that_cannot_be_seen_is_unknown() {
        let found = findings_of(&scene(&on_loop()), "backing");
        assert!(found.iter().any(|f| f.severity == Severity::Unknown), "{found:?}");
    }

    #[test]
    fn an_image_in_memory_is_memory() {
        let fake = on_loop().file("/sys/devices/virtual/block/loop3/loop/backing_file", "/shm/image");
        let _ = says(&fake, "backing", Severity::Error, &["loop3 is main memory"]);
    }

    #[test]
    fn only_a_virtual_machine_has_a_host() {
        silent(&machine(), "host-backing");
        let fake = machine();
        let mut scene = scene(&fake);
        scene.environment["cpu"]["hypervisor"] = "KVMKVMKVM".into();
        let _ = one(&findings_of(&scene, "host-backing"), Severity::Unknown, &["KVMKVMKVM", "sda"]);
        assert!(scene.path.starts_with(Path::new("/data")));
    }
}
