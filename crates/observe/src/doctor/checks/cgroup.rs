//! Limits of the control groups above this process, of versions 1 and 2: processor time, memory (which includes page cache), I/O, and
//! processors.

use super::super::finding::Finding;
use super::super::scene::Scene;
use crate::weights;
use fathom_record::origin::bytes_words;
use serde_json::Value;

const SOURCE: &str = "/proc/self/cgroup";

/// Page cache is charged to the group that reads. With less than this share of the machine's memory the cache is smaller than the machine
/// suggests.
const SMALL: f64 = 0.9;

pub(super) fn check(scene: &Scene) -> Vec<Finding> {
    if scene.known("limits.cgroup.path").is_none() {
        return vec![Finding::unknown("cgroup-cpu", SOURCE, "the control group of this process")];
    }
    [cpu(scene), weight(scene), memory(scene), io(scene), cpuset(scene)].into_iter().flatten().collect()
}

fn cpu(scene: &Scene) -> Option<Finding> {
    let cores = scene.known("limits.cgroup.cpu_max_cores").and_then(Value::as_f64);
    let online = scene.count("cpu.online").unwrap_or(1) as f64;
    Some(match cores {
        Some(n) if n < online => Finding::warning(
            "cgroup-cpu",
            "cpu.max",
            format!("The control group allows {n:.2} of {online:.0} processors: once the quota of a period is used up, all threads wait for the next period."),
        )
        .figure("quota", n, "processors")
        .remedy("Measure outside the group, or raise its quota"),
        _ => Finding::good("cgroup-cpu", "cpu.max", "No control group limits processor time."),
    })
}

fn weight(scene: &Scene) -> Option<Finding> {
    let low = weights::of_processor(&scene.environment)?;
    let sentence = format!(
        "A control group has the CPU weight {}, the default is {}: beside busy programs outside of it this one gets little processor time.",
        low.value, low.default
    );
    Some(
        Finding::notice("cgroup-cpu-weight", &low.file, sentence)
            .figure("weight", low.value, "")
            .remedy("Raise the weight, or measure outside the group"),
    )
}

fn memory(scene: &Scene) -> Option<Finding> {
    let total = scene.count("memory.total_bytes")?;
    Some(match scene.count("limits.cgroup.memory_max_bytes") {
        Some(most) if (most as f64) < SMALL * total as f64 => Finding::warning(
            "cgroup-memory",
            "memory.max",
            format!("The control group allows {} of {} of memory, page cache included: files that would fit into the machine's cache do not fit, and write-back begins earlier.", bytes_words(most), bytes_words(total)),
        )
        .figure("limit", most as f64, "bytes")
        .remedy(format!("Expect {} of cache, or measure outside the group", bytes_words(most))),
        _ => Finding::good("cgroup-memory", "memory.max", "No control group limits memory below the machine's."),
    })
}

fn io(scene: &Scene) -> Option<Finding> {
    let files = scene.known("limits.cgroup.io_max").and_then(Value::as_object);
    let numbers: Vec<String> =
        scene.stack.devices.iter().map(|d| format!("{}:{}", d.number.0, d.number.1)).collect();
    let limits = files.into_iter().flatten().flat_map(|(file, text)| {
        text.as_str()
            .unwrap_or("")
            .lines()
            .map(move |line| (file.clone(), line.to_string()))
            .collect::<Vec<_>>()
    });
    // A group's line counts if it names one of our devices; "max" everywhere means no limit.
    let ours = limits.into_iter().find(|(_, line)| {
        let mut words = line.split_whitespace();
        let device = words.next().unwrap_or("");
        numbers.iter().any(|n| n == device) && words.any(|w| !w.ends_with("=max"))
    });
    Some(match ours {
        Some((file, line)) => Finding::warning("cgroup-io", &file, format!("The control group limits I/O at this device ({line}): a measurement finds the limit, not the device."))
            .remedy("Measure outside the group, or lift the limit"),
        None => Finding::good("cgroup-io", "io.max", "No control group limits I/O at these devices."),
    })
}

fn cpuset(scene: &Scene) -> Option<Finding> {
    let list = scene.word("limits.cgroup.cpuset")?;
    let online = scene.text("/sys/devices/system/cpu/online")?;
    Some(if list == online {
        Finding::good("cpuset", "cpuset.cpus.effective", format!("All processors ({online}) may be used."))
    } else {
        Finding::notice(
            "cpuset",
            "cpuset.cpus.effective",
            format!(
                "Only the processors {list} of {online} may be used: rates scale with threads only up to there."
            ),
        )
        .remedy("Widen the cpuset if the measurement needs more threads")
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::Severity;
    use super::super::super::testing::{machine, says};
    use crate::fake::Fake;

    fn v2(name: &str, text: &str) -> Fake {
        machine()
            .file(
                "/proc/self/mountinfo",
                "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 27 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            )
            .file("/proc/self/cgroup", "0::/box\n")
            .file(&format!("/sys/fs/cgroup/box/{name}"), text)
    }

    #[test]
    fn quotas_and_limits_are_told() {
        let _ = says(
            &v2("cpu.max", "50000 100000\n"),
            "cgroup-cpu",
            Severity::Warning,
            &["0.50 of 2 processors"],
        );
        let low = v2("cpu.weight", "10\n");
        let _ = says(&low, "cgroup-cpu-weight", Severity::Notice, &["weight 10", "default is 100"]);
        let _ = says(&v2("cpu.max", "max 100000\n"), "cgroup-cpu", Severity::Good, &[]);
        let _ =
            says(&v2("memory.max", "1073741824\n"), "cgroup-memory", Severity::Warning, &["1 GiB of 16 GiB"]);
        let _ = says(&v2("memory.max", "max\n"), "cgroup-memory", Severity::Good, &[]);
        let _ =
            says(&v2("cpuset.cpus.effective", "1\n"), "cpuset", Severity::Notice, &["processors 1 of 0-1"]);
    }

    #[test]
    fn a_limit_at_another_device_is_not_ours() {
        let ours = "8:0 rbps=1048576 wbps=max riops=max wiops=max\n";
        let _ = says(&v2("io.max", ours), "cgroup-io", Severity::Warning, &["rbps=1048576"]);
        let _ = says(&v2("io.max", &ours.replace("8:0", "8:16")), "cgroup-io", Severity::Good, &[]);
        let _ = says(&v2("io.max", "8:0 rbps=max wbps=max\n"), "cgroup-io", Severity::Good, &[]);
    }

    #[test]
    fn version_1_is_read_too() {
        let fake = machine()
            .file("/proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 27 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n31 27 0:31 / /cg/blkio rw - cgroup cgroup rw,blkio\n")
            .file("/proc/self/cgroup", "2:cpu:/box\n1:blkio:/box\n")
            .file("/cg/cpu/box/cpu.cfs_quota_us", "50000\n")
            .file("/cg/cpu/box/cpu.cfs_period_us", "100000\n")
            .file("/cg/blkio/box/blkio.throttle.write_iops_device", "8:0 100\n");
        let _ = says(&fake, "cgroup-cpu", Severity::Warning, &["0.50 of 2"]);
        let _ = says(&fake, "cgroup-io", Severity::Warning, &["8:0 100"]);
    }
}
