//! I/O by others at the disks below the path during the sample, and the processes that cause it where this user may see them.

use super::super::finding::Finding;
use super::super::look::{Issuer, Traffic};
use super::super::scene::{Queue, Scene};
use crate::device::stack_with;
use crate::words::percent;
use fathom_record::origin::bytes_words;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const CODE: &str = "disk-traffic";
const SOURCE: &str = "/proc/diskstats";

/// Device time taken by others is lost to throughput one to one; below 5 % the loss is hidden in the scatter between repetitions on a
/// quiet machine.
const BUSY: f64 = 0.05;
/// Or this much data; a commit of an idle system's logs stays below.
const RATE_BYTES: f64 = 1_048_576.0;
/// Maximum number of processes named.
const MOST: usize = 3;
/// A process that moves more than this times the device's bytes does not move them here: it uses other devices, or a cache above this
/// one. It leaves room for the two
/// counters being read at different times.
const OF_DEVICE: f64 = 1.25;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    let queues = scene.queues();
    let busy = |q: &Queue| scene.sample.traffic(q.device.number).is_some_and(|t| is_busy(&t));
    // Looking at the open files of other processes takes time, and a quiet device needs none.
    let users = if queues.iter().any(busy) { users(scene) } else { Vec::new() };
    queues.iter().filter_map(|q| of(scene, q, &users)).collect()
}

fn is_busy(traffic: &Traffic) -> bool {
    traffic.busy >= BUSY || traffic.rate_bytes >= RATE_BYTES
}

/// A process that read or wrote during the sample.
struct User<'a> {
    issuer: Issuer<'a>,
    /// For each file and device it has open, the devices below.
    open: BTreeSet<BTreeSet<(u32, u32)>>,
}

/// The processes that read or wrote, with the devices of their open files.
fn users<'a>(scene: &'a Scene) -> Vec<User<'a>> {
    // Many descriptors lead to the same file system; looking up its devices takes many reads.
    let mut known: BTreeMap<FileSystemId, BTreeSet<(u32, u32)>> = BTreeMap::new();
    let mut with_devices = |issuer: Issuer<'a>| {
        let dir = PathBuf::from(format!("/proc/{}/fd", issuer.pid));
        let paths = scene.list(&dir).into_iter().map(|fd| dir.join(fd));
        let open = paths.filter_map(|path| {
            let mount = scene.files.mount_of(&path).ok()?;
            let key = (scene.files.block_device_at(&path), mount.mount_id, mount.device);
            Some(known.entry(key).or_insert_with(|| devices_of(scene, &path)).clone())
        });
        // A socket or a file in memory has no device.
        User { issuer, open: open.filter(|devices| !devices.is_empty()).collect() }
    };
    scene.sample.issuers().into_iter().map(&mut with_devices).collect()
}

/// A block device's number, or a mount's id and device number.
type FileSystemId = (Option<(u32, u32)>, Option<u64>, (u32, u32));

/// The devices below an open file.
fn devices_of(scene: &Scene, descriptor: &Path) -> BTreeSet<(u32, u32)> {
    stack_with(scene.files, descriptor).devices.iter().map(|d| d.number).collect()
}

/// Who loads a device: the processes with files there and nowhere else if they moved half of its bytes, otherwise all with files there.
/// None that moves more than the device does.
fn loaders(users: &[User], number: (u32, u32), traffic: &Traffic) -> String {
    let here = |u: &User| u.open.iter().any(|devices| devices.contains(&number));
    let elsewhere = |u: &User| u.open.iter().any(|devices| !devices.contains(&number));
    let fits = |u: &User| u.issuer.rate_bytes <= OF_DEVICE * traffic.rate_bytes;
    let list = |found: &[&User]| {
        let word = |u: &&User| format!("{} ({}/s)", u.issuer.name, bytes_words(u.issuer.rate_bytes as u64));
        found.iter().take(MOST).map(word).collect::<Vec<_>>().join(", ")
    };
    let certain: Vec<&User> = users.iter().filter(|u| here(u) && !elsewhere(u) && fits(u)).collect();
    let theirs: f64 = certain.iter().map(|u| u.issuer.rate_bytes).sum();
    if !certain.is_empty() && theirs >= traffic.rate_bytes / 2.0 {
        return format!("; most from {}", list(&certain));
    }
    let possible: Vec<&User> = users.iter().filter(|u| here(u) && fits(u)).collect();
    if possible.is_empty() {
        String::new()
    } else {
        format!("; these have files open there: {}", list(&possible))
    }
}

fn of(scene: &Scene, queue: &Queue, users: &[User]) -> Option<Finding> {
    let traffic = scene.sample.traffic(queue.device.number)?;
    let Traffic { rate_iops, rate_bytes, busy } = traffic;
    let figures = format!(
        "{:.0} requests/s and {}/s in a sample of {:.1} s, {} of the time busy",
        rate_iops,
        bytes_words(rate_bytes as u64),
        scene.sample.seconds()?,
        percent(busy)
    );
    let name = queue.name();
    let found = if is_busy(&traffic) {
        let who = loaders(users, queue.device.number, &traffic);
        Finding::warning(CODE, SOURCE, format!("Other programs use {name}: {figures}{who}."))
            .remedy("Stop it or wait; fathom counts foreign I/O in every run, but cannot subtract it")
    } else {
        Finding::good(CODE, SOURCE, format!("{name} is quiet: {figures}."))
    };
    Some(
        found
            .figure("rate", rate_iops, "requests/s")
            .figure("throughput", rate_bytes, "bytes/s")
            .figure("busy", busy, "ratio"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::look::Look;
    use super::super::super::testing::{findings_of, machine, one, scene_after};

    fn after(line: &str, io: &str) -> Vec<super::Finding> {
        let mut fake = machine()
            .file("/proc/44/comm", "backup\n")
            .file("/proc/44/io", "read_bytes: 0\nwrite_bytes: 0\n")
            .file("/proc/44/fd/3", "")
            .on_mount("/proc/44/fd/3", 27, (8, 1));
        let before = Look::take(&fake);
        fake.put("/proc/uptime", "90001.00 1\n");
        fake.put("/proc/diskstats", &format!("   8       0 sda {line}\n"));
        fake.put("/proc/44/io", io);
        findings_of(&scene_after(&fake, before), "disk-traffic")
    }

    #[test]
    fn traffic_is_told_with_its_issuer() {
        let found = after(
            "300 0 28480 10 100 0 8000 10 0 520 20 0 0 0 0 0 0",
            "read_bytes: 10485760\nwrite_bytes: 0\n",
        );
        let _ = one(&found, Severity::Warning, &["200 requests/s", "10 MiB/s", "50 %", "backup"]);
    }

    /// A second disk with another file system, and two processes: "copy" moves 200 MiB/s, "backup" 3 MiB/s, as much as sda.
    fn two_loads(copy: &[(u64, (u32, u32))], backup: &[(u64, (u32, u32))]) -> super::Finding {
        let mut fake = machine().disk("ata2", "sdb", (8, 16)).file(
            "/proc/self/mountinfo",
            "27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n28 27 8:16 / /b rw,relatime - ext4 /dev/sdb rw\n",
        );
        for (pid, name, open) in [(44, "backup", backup), (45, "copy", copy)] {
            fake.put(&format!("/proc/{pid}/comm"), &format!("{name}\n"));
            fake.put(&format!("/proc/{pid}/io"), "read_bytes: 0\nwrite_bytes: 0\n");
            for (fd, (mount, device)) in open.iter().enumerate() {
                let path = format!("/proc/{pid}/fd/{fd}");
                fake.put(&path, "");
                fake = fake.on_mount(&path, *mount, *device);
            }
        }
        let before = Look::take(&fake);
        fake.put("/proc/uptime", "90001.00 1\n");
        fake.put("/proc/diskstats", "   8       0 sda 148 0 14144 10 100 0 8000 10 0 520 20 0 0 0 0 0 0\n");
        fake.put("/proc/44/io", "read_bytes: 3145728\nwrite_bytes: 0\n");
        fake.put("/proc/45/io", "read_bytes: 209715200\nwrite_bytes: 0\n");
        let found = findings_of(&scene_after(&fake, before), "disk-traffic");
        one(&found, Severity::Warning, &["3 MiB/s"])
    }

    #[test]
    fn only_processes_that_use_the_device_are_named() {
        let (here, there) = ((27, (8, 1)), (28, (8, 16)));
        let said = |copy: Vec<_>, backup: Vec<_>| two_loads(&copy, &backup).sentence;
        let clear = said(vec![there], vec![here]);
        assert!(clear.contains("most from backup (3 MiB/s)") && !clear.contains("copy"), "{clear}");
        let with_a_log = said(vec![there, here], vec![here]);
        assert!(!with_a_log.contains("copy"), "only one of its files is here: {with_a_log}");
        let unclear = said(vec![there, here], vec![here, there]);
        assert!(
            unclear.contains("these have files open there: backup") && !unclear.contains("copy"),
            "200 MiB/s are not at a device that moved 3: {unclear}"
        );
        let nobody = said(vec![there], vec![]);
        assert!(!nobody.contains("copy") && !nobody.contains("backup"), "{nobody}");
    }

    #[test]
    fn a_quiet_disk_is_good() {
        let found =
            after("110 0 8080 10 100 0 8000 10 0 40 20 0 0 0 0 0 0", "read_bytes: 0\nwrite_bytes: 0\n");
        let _ = one(&found, Severity::Good, &["quiet", "10 requests/s"]);
    }
}
