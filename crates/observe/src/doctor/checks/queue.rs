//! Request queue settings that differ from the kernel's defaults: read-ahead, number of requests, merging, write-back throttling, and the
//! counters themselves.

use super::super::finding::Finding;
use super::super::scene::{Queue, Scene};
use crate::device::DeviceKind;

/// The Linux default for read-ahead (VM_READAHEAD_PAGES).
const READ_AHEAD_KIB: u64 = 128;
/// The read-ahead that btrfs sets at mount.
const BTRFS_READ_AHEAD_KIB: u64 = 4096;
/// From this factor on, sequential rates of two machines are not comparable.
const FAR_OFF: u64 = 4;
/// A SATA disk takes 32 commands at once; with fewer requests the device is never full.
const FEW_REQUESTS: u64 = 32;

/// Smaller requests cost a fast device much of its rate.
const SMALL_REQUEST_KIB: u64 = 64;
/// The kernel's own limit where a device takes more (BLK_DEF_MAX_SECTORS_CAP until Linux 6.12).
const USUAL_REQUEST_KIB: u64 = 1280;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.request_queues();
    let knobs = queues.iter().flat_map(|q| [requests(q), request_size(q), merges(q), throttle(q)]).flatten();
    let all = scene.queues();
    let counters = all.iter().filter_map(|q| counters(scene, q));
    read_ahead(scene, &all).into_iter().chain(knobs).chain(counters).collect()
}

/// The kernel's default and, if it is not the plain one, the reason. A device that reports an optimal request size gets twice that. Linux
/// 6.18 sets twice max_sectors_kb for a rotational device that reports none, as virtual disks and loop devices often do: seen as 8192 KiB
/// on virtio and 2560 KiB on loop.
fn usual_read_ahead(scene: &Scene, queues: &[Queue], now: u64) -> (u64, &'static str) {
    if scene.kind() == "btrfs" {
        return (BTRFS_READ_AHEAD_KIB, "");
    }
    let Some(top) = queues.first() else { return (READ_AHEAD_KIB, "") };
    let optimal = top.count("optimal_io_bytes").unwrap_or(0);
    let rotational = top.flag("rotational") == Some(true) && optimal == 0;
    if rotational && top.count("max_sectors_kb").is_some_and(|kib| now == 2 * kib) {
        return (
            READ_AHEAD_KIB,
            " (the default of newer kernels for a disk that they take for a spinning one)",
        );
    }
    (READ_AHEAD_KIB.max(2 * optimal / 1024), "")
}

/// Read-ahead belongs to the mount: the disk's value only counts because the mount inherits it.
fn read_ahead(scene: &Scene, queues: &[Queue]) -> Option<Finding> {
    let mount = scene.stack.mount.as_ref()?;
    let (major, minor) = mount.device;
    let source = format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb");
    let now = scene.count("filesystem.read_ahead_kb")?;
    if scene.stack.method == "memory" {
        return None;
    }
    let (usual, why) = usual_read_ahead(scene, queues, now);
    let command = format!("echo {usual} > {source}");
    let found = if now == 0 {
        Finding::warning(
            "read-ahead",
            &source,
            "Read-ahead is switched off: buffered sequential reads go to the device one record after the other.",
        )
        .remedy("Switch it on, unless that is what you measure")
        .command(command)
    } else if now >= usual * FAR_OFF || now * FAR_OFF <= usual {
        let (effect, verb) = if now > usual { ("faster", "more") } else { ("slower", "less") };
        Finding::notice(
            "read-ahead",
            &source,
            format!("Read-ahead is {now} KiB{why} where {usual} KiB are usual: buffered sequential reads are {effect}, and buffered random ones may fetch {verb}."),
        )
        .remedy("Keep it the same in everything you compare, or set the usual one")
        .command(command)
    } else {
        Finding::good("read-ahead", &source, format!("Read-ahead is {now} KiB."))
    };
    Some(found.figure("read-ahead", now as f64, "KiB"))
}

fn requests(queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("queue/nr_requests"));
    let now = queue.count("nr_requests")?;
    let found = if now < FEW_REQUESTS {
        Finding::notice(
            "nr-requests",
            &source,
            format!("{name} takes only {now} requests at once: at a greater queue depth the rest waits above the device."),
        )
        .remedy("Raise it as far as the device allows")
        .command(format!("echo 256 > {source}"))
    } else {
        Finding::good("nr-requests", &source, format!("{name} takes {now} requests at once."))
    };
    Some(found.figure("requests", now as f64, "requests"))
}

fn request_size(queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("queue/max_sectors_kb"));
    let (now, most) = (queue.count("max_sectors_kb")?, queue.count("max_hw_sectors_kb")?);
    let found = if now < SMALL_REQUEST_KIB && now < most {
        Finding::notice(
            "request-size",
            &source,
            format!("{name} gets requests of at most {now} KiB (max_sectors_kb), though it takes {most} KiB: larger calls are cut."),
        )
        .remedy("Raise it")
        .command(format!("echo {} > {source}", most.min(USUAL_REQUEST_KIB)))
    } else {
        Finding::good("request-size", &source, format!("{name} gets requests of up to {now} KiB."))
    };
    Some(found.figure("largest request", now as f64, "KiB"))
}

fn merges(queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("queue/nomerges"));
    Some(match queue.count("nomerges")? {
        0 => Finding::good("merges", &source, format!("{name} merges neighbouring requests.")),
        n => Finding::notice("merges", &source, format!("{name} does not merge neighbouring requests (nomerges is {n}): more and smaller ones reach the device."))
            .remedy("Let it merge, unless that is what you measure")
            .command(format!("echo 0 > {source}")),
    })
}

/// Write-back throttling holds buffered writes back while reads take longer than its target.
fn throttle(queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("queue/wbt_lat_usec"));
    Some(match queue.count("wbt_lat_usec")? {
        0 => Finding::good("write-throttle", &source, format!("{name} does not throttle write-back.")),
        us => Finding::notice(
            "write-throttle",
            &source,
            format!("{name} holds write-back back while reads take longer than {} ms: buffered writes beside reads get slower.", us as f64 / 1000.0),
        )
        .figure("target", us as f64, "us")
        .remedy("Consider it when reads and buffered writes are mixed; this switches it off")
        .command(format!("echo 0 > {source}")),
    })
}

fn counters(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let (name, source) = (queue.name(), queue.short("queue/iostats"));
    // Linux 6.1 counts the requests of device mapper whatever the setting says.
    let counted = || {
        let stat = scene.text(queue.file("stat")).unwrap_or_default();
        stat.split_ascii_whitespace().any(|n| n != "0")
    };
    Some(match scene.text(queue.file("queue/iostats"))?.as_str() {
        // Its paths count for it.
        "0" if queue.device.kind == DeviceKind::Multipath => return None,
        "0" if scene.is_without_requests(queue) && counted() => return None,
        "0" => Finding::warning(
            "io-stats",
            &source,
            format!("{name} does not count its requests: fathom cannot tell what reached it."),
        )
        .remedy("Switch the counters on")
        .command(format!("echo 1 > {source}")),
        _ => Finding::good("io-stats", &source, format!("{name} counts its requests.")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{SDA, machine, says, silent};
    use crate::fake::Fake;

    fn with(knob: &str, value: &str) -> Fake {
        machine().file(&format!("{SDA}/queue/{knob}"), value)
    }

    #[test]
    fn read_ahead_of_the_mount_counts() {
        let bdi = "/sys/class/bdi/8:1/read_ahead_kb";
        let _ = says(&machine().file(bdi, "0\n"), "read-ahead", Severity::Warning, &["switched off"]);
        let found =
            says(&machine().file(bdi, "8192\n"), "read-ahead", Severity::Notice, &["8192 KiB", "128 KiB"]);
        assert_eq!(found.command, "echo 128 > /sys/class/bdi/8:1/read_ahead_kb");
        let _ = says(&machine().file(bdi, "16\n"), "read-ahead", Severity::Notice, &["slower"]);
        let _ = says(&machine().file(bdi, "256\n"), "read-ahead", Severity::Good, &[]);
    }

    #[test]
    fn a_larger_optimal_request_size_raises_the_usual_read_ahead() {
        let fake = with("optimal_io_size", "2097152\n").file("/sys/class/bdi/8:1/read_ahead_kb", "4096\n");
        let _ = says(&fake, "read-ahead", Severity::Good, &["4096"]);
    }

    #[test]
    fn what_newer_kernels_choose_is_explained() {
        let fake = with("rotational", "1\n")
            .file(&format!("{SDA}/queue/max_sectors_kb"), "4096\n")
            .file("/sys/class/bdi/8:1/read_ahead_kb", "8192\n");
        let _ = says(
            &fake,
            "read-ahead",
            Severity::Notice,
            &["8192 KiB (the default of newer kernels", "128 KiB"],
        );
    }

    #[test]
    fn knobs_off_their_default_are_noted() {
        let _ = says(&with("nr_requests", "4\n"), "nr-requests", Severity::Notice, &["only 4"]);
        let _ = says(&with("nomerges", "2\n"), "merges", Severity::Notice, &["nomerges is 2"]);
        let small = with("max_sectors_kb", "4\n").file(&format!("{SDA}/queue/max_hw_sectors_kb"), "2560\n");
        let found = says(&small, "request-size", Severity::Notice, &["at most 4 KiB", "takes 2560 KiB"]);
        assert_eq!(found.command, "echo 1280 > /sys/block/sda/queue/max_sectors_kb");
        let _ = says(&with("wbt_lat_usec", "75000\n"), "write-throttle", Severity::Notice, &["75 ms"]);
        let _ = says(&with("wbt_lat_usec", "2500\n"), "write-throttle", Severity::Notice, &["2.5 ms"]);
    }

    #[test]
    fn a_mapper_without_requests_has_no_settings() {
        let dir = "/sys/devices/virtual/block/dm-0";
        let fake = machine()
            .disk("virtual", "dm-0", (253, 0))
            .file(&format!("{dir}/queue/scheduler"), "none\n")
            .file(&format!("{dir}/queue/iostats"), "0\n")
            .file(&format!("{dir}/stat"), "5 0 40 1 0 0 0 0 0 1 1\n")
            .file(&format!("{dir}/queue/nr_requests"), "4\n")
            .file("/proc/self/mountinfo", "27 1 253:0 / / rw - ext4 /dev/mapper/home rw\n")
            .on_mount("/", 27, (253, 0));
        for code in ["io-stats", "nr-requests", "scheduler"] {
            silent(&fake, code);
        }
    }

    #[test]
    fn an_nvme_multipath_device_need_not_count() {
        let fake = machine()
            .disk("subsys1", "nvme1n1", (259, 1))
            .file("/sys/devices/subsys1/block/nvme1n1/queue/iostats", "0\n")
            .disk("ctl1", "nvme1c1n1", (259, 2))
            .file("/sys/devices/ctl1/block/nvme1c1n1/queue/iostats", "1\n")
            .file("/proc/self/mountinfo", "27 1 259:1 / / rw - ext4 /dev/nvme1n1 rw\n")
            .on_mount("/", 27, (259, 1));
        says(&fake, "io-stats", Severity::Good, &["nvme1c1n1"]);
    }

    #[test]
    fn a_device_that_does_not_count_is_a_warning() {
        let found = says(&with("iostats", "0\n"), "io-stats", Severity::Warning, &["sda"]);
        assert_eq!(found.command, "echo 1 > /sys/block/sda/queue/iostats");
    }
}
