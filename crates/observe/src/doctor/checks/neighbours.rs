//! I/O by others at the disks below the path during the sample, and the processes that cause it where this user may see them.

use super::super::finding::Finding;
use super::super::look::Traffic;
use super::super::scene::{Queue, Scene};
use crate::words::percent;
use fathom_record::origin::bytes_words;

const CODE: &str = "disk-traffic";
const SOURCE: &str = "/proc/diskstats";

/// Device time taken by others is lost to throughput one to one; below 5 % the loss is hidden in the scatter between repetitions on a
/// quiet machine.
const BUSY: f64 = 0.05;
/// Or this much data; a commit of an idle system's logs stays below.
const RATE_BYTES: f64 = 1_048_576.0;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    scene.queues().iter().filter_map(|q| of(scene, q)).collect()
}

fn of(scene: &Scene, queue: &Queue) -> Option<Finding> {
    let Traffic { rate_iops, rate_bytes, busy } = scene.sample.traffic(queue.device.number)?;
    let figures = format!(
        "{:.0} requests/s and {}/s in a sample of {:.1} s, {} of the time busy",
        rate_iops,
        bytes_words(rate_bytes as u64),
        scene.sample.seconds()?,
        percent(busy)
    );
    let name = queue.name();
    let found = if busy >= BUSY || rate_bytes >= RATE_BYTES {
        let who: Vec<String> = scene
            .sample
            .issuers()
            .iter()
            .take(3)
            .map(|(n, r)| format!("{n} ({}/s)", bytes_words(*r as u64)))
            .collect();
        let who = if who.is_empty() { String::new() } else { format!("; most from {}", who.join(", ")) };
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
            .file("/proc/44/io", "read_bytes: 0\nwrite_bytes: 0\n");
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

    #[test]
    fn a_quiet_disk_is_good() {
        let found =
            after("110 0 8080 10 100 0 8000 10 0 40 20 0 0 0 0 0 0", "read_bytes: 0\nwrite_bytes: 0\n");
        let _ = one(&found, Severity::Good, &["quiet", "10 requests/s"]);
    }
}
