//! For the tests of the checks: a healthy machine, to be changed in one aspect, and functions that call a check on it.

use super::checks::ALL;
use super::finding::{Finding, Severity};
use super::look::{Look, Sample};
use super::scene::Scene;
use crate::fake::Fake;
use crate::files::Space;
use std::path::Path;

/// A disk's place in the fake /sys/devices.
pub(super) const ATA: &str = "pci0000:00/ata1/host0/target0:0:0/0:0:0:0";

/// Directory of its disk.
pub(super) const SDA: &str = "/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda";

const CPU: &str = "/sys/devices/system/cpu";

/// A quiet machine with an ext4 on a SATA disk, seen by root.
pub(super) fn machine() -> Fake {
    let mut fake = Fake::new()
        .disk(ATA, "sda", (8, 0))
        .partition(ATA, "sda", "sda1", (8, 1))
        .on_mount("/", 27, (8, 1))
        .space(space(1000, 300, 700))
        .file("/proc/100/comm", "fathom\n")
        .link("/proc/self", "100");
    for (path, text) in FILES {
        fake.put(path, text);
    }
    for (name, text) in QUEUE {
        fake.put(&format!("{SDA}/queue/{name}"), text);
    }
    fake.put(&format!("{SDA}/mq/0/cpu_list"), "0\n");
    for (name, text) in PROCESSORS {
        for cpu in ["cpu0", "cpu1"] {
            fake.put(&format!("{CPU}/{cpu}/{name}"), text);
        }
    }
    fake
}

/// A file system with these sizes in GiB and a million inodes, half of them free.
pub(super) fn space(total_gib: u64, used_gib: u64, free_gib: u64) -> Space {
    Space {
        block_bytes: 4096,
        total_bytes: total_gib << 30,
        free_bytes: free_gib << 30,
        used_bytes: used_gib << 30,
        files_total: 1_000_000,
        files_free: 500_000,
    }
}

const FILES: &[(&str, &str)] = &[
    (
        "/proc/self/mountinfo",
        "27 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n31 27 0:12 / /proc rw - proc proc rw\n",
    ),
    ("/proc/self/status", "Name:\tfathom\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"),
    (
        "/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n\
         Max file size             unlimited            unlimited            bytes     \n\
         Max open files            65536                65536                files     \n\
         Max locked memory         unlimited            unlimited            bytes     \n",
    ),
    ("/proc/self/cgroup", "0::/\n"),
    ("/proc/uptime", "90000.00 170000.00\n"),
    ("/proc/loadavg", "0.05 0.04 0.01 1/200 4711\n"),
    ("/proc/stat", "cpu  100 0 100 99800 0 0 0 0 0 0\n"),
    ("/proc/diskstats", "   8       0 sda 100 0 8000 10 100 0 8000 10 0 20 20 0 0 0 0 0 0\n"),
    ("/proc/vmstat", "pswpin 0\npswpout 0\n"),
    (
        "/proc/pressure/io",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
    ),
    ("/proc/pressure/cpu", "some avg10=0.10 avg60=0.00 avg300=0.00 total=1\n"),
    ("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"),
    (
        "/proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Test CPU\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n",
    ),
    (
        "/proc/meminfo",
        "MemTotal: 16777216 kB\nMemFree: 8000000 kB\nMemAvailable: 12582912 kB\nDirty: 100 kB\nWriteback: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    ),
    ("/proc/1/comm", "systemd\n"),
    ("/proc/sys/vm/dirty_ratio", "20\n"),
    ("/proc/sys/vm/dirty_bytes", "0\n"),
    ("/proc/sys/vm/dirty_background_ratio", "10\n"),
    ("/proc/sys/vm/dirty_background_bytes", "0\n"),
    ("/proc/sys/vm/dirty_expire_centisecs", "3000\n"),
    ("/proc/sys/vm/dirty_writeback_centisecs", "500\n"),
    ("/proc/sys/vm/laptop_mode", "0\n"),
    ("/proc/sys/vm/drop_caches", "0\n"),
    ("/proc/sys/kernel/perf_event_paranoid", "2\n"),
    ("/proc/sys/kernel/numa_balancing", "0\n"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("/sys/kernel/mm/ksm/run", "0\n"),
    ("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n"),
    ("/sys/kernel/tracing/events/block/enable", "0\n"),
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"),
    ("/sys/devices/system/cpu/online", "0-1\n"),
    ("/sys/devices/system/node/online", "0\n"),
    ("/sys/devices/system/cpu/cpufreq/boost", "0\n"),
    ("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
    ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
    ("/sys/fs/ext4/sda1/errors_count", "0\n"),
    ("/sys/fs/ext4/sda1/journal_task", "432\n"),
    ("/sys/class/bdi/8:1/read_ahead_kb", "128\n"),
    ("/sys/class/scsi_host/host0/link_power_management_policy", "max_performance\n"),
    ("/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda/device/state", "running\n"),
    (
        "/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda/device/hwmon/hwmon2/temp1_input",
        "31000\n",
    ),
    (
        "/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda/device/hwmon/hwmon2/temp1_max",
        "60000\n",
    ),
    ("/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda/mq/0/cpu_list", "0, 1\n"),
];

const QUEUE: &[(&str, &str)] = &[
    ("rotational", "0\n"),
    ("scheduler", "none [mq-deadline] kyber\n"),
    ("nr_requests", "64\n"),
    ("read_ahead_kb", "128\n"),
    ("nomerges", "0\n"),
    ("iostats", "1\n"),
    ("wbt_lat_usec", "0\n"),
    ("write_cache", "write back\n"),
    ("fua", "1\n"),
    ("discard_max_bytes", "2147450880\n"),
    ("optimal_io_size", "0\n"),
];

const PROCESSORS: &[(&str, &str)] = &[
    ("cpufreq/scaling_governor", "performance\n"),
    ("cpufreq/scaling_cur_freq", "3000000\n"),
    ("cpuidle/state0/name", "POLL\n"),
    ("cpuidle/state0/latency", "0\n"),
    ("cpuidle/state0/disable", "0\n"),
    ("cpuidle/state1/name", "C1\n"),
    ("cpuidle/state1/latency", "2\n"),
    ("cpuidle/state1/disable", "0\n"),
    ("thermal_throttle/core_throttle_count", "0\n"),
];

/// The scene at /data, with a quiet sample of one second.
pub(super) fn scene(fake: &Fake) -> Scene<'_> {
    let before = Look::take(fake);
    scene_after(fake, before)
}

/// The scene at /data after an earlier snapshot; the caller changes the machine in between.
pub(super) fn scene_after(fake: &Fake, before: Look) -> Scene<'_> {
    super::scene_of(fake, Path::new("/data"), Sample::between(before, Look::take(fake)), None)
}

/// The findings with this code, from the check that owns it.
pub(super) fn findings_of(scene: &Scene, code: &str) -> Vec<Finding> {
    let check = ALL.iter().find(|c| c.codes.contains(&code)).expect("a check of that code");
    (check.find)(scene).into_iter().filter(|f| f.code == code).collect()
}

/// The only finding with this code at /data; it must have the expected severity, and its sentence must contain every word.
#[track_caller]
pub(super) fn says(fake: &Fake, code: &str, severity: Severity, words: &[&str]) -> Finding {
    one(&findings_of(&scene(fake), code), severity, words)
}

/// As `says`, for given findings.
#[track_caller]
pub(super) fn one(found: &[Finding], severity: Severity, words: &[&str]) -> Finding {
    let [finding] = found else { panic!("not one finding: {found:#?}") };
    assert_eq!(finding.severity, severity, "{finding:#?}");
    for word in words {
        assert!(finding.sentence.contains(word), "{word:?} is not in {finding:#?}");
    }
    if severity.spoils() {
        assert!(!finding.remedy.is_empty() || !finding.command.is_empty(), "no remedy: {finding:#?}");
    }
    finding.clone()
}

/// Asserts that there is no finding with this code at /data.
#[track_caller]
pub(super) fn silent(fake: &Fake, code: &str) {
    let found = findings_of(&scene(fake), code);
    assert!(found.is_empty(), "{found:#?}");
}
