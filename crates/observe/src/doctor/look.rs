//! Snapshots of the machine's counters. Two of them, less than a second apart, show other activity: processor time, disk I/O and its
//! processes, swapping, throttling. Time is the kernel's uptime, so that tests can set it.

use crate::files::KernelFiles;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Sector size in /proc/diskstats, for every device.
const SECTOR_BYTES: u64 = 512;

/// Counters at one point in time. Unreadable ones are `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    uptime_s: Option<f64>,
    ticks: Option<Ticks>,
    disks: BTreeMap<(u32, u32), DiskCounters>,
    processes: BTreeMap<u32, Process>,
    swapped_pages: Option<u64>,
    throttled: Option<u64>,
}

/// Clock ticks of all processors together.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    all: u64,
    busy: u64,
    steal: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct DiskCounters {
    ios: u64,
    bytes: u64,
    busy_ms: u64,
}

#[derive(Clone, Debug, Default)]
struct Process {
    name: String,
    bytes: u64,
}

/// A process that read or wrote during a sample, whichever devices it used.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Issuer<'a> {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: &'a str,
    /// Bytes per second.
    pub rate_bytes: f64,
}

/// The difference between two snapshots.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    before: Look,
    after: Look,
}

/// I/O of a disk during a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Traffic {
    /// Requests per second.
    pub rate_iops: f64,
    /// Bytes per second.
    pub rate_bytes: f64,
    /// Share of the time with at least one request in flight at the device, 0..=1.
    pub busy: f64,
}

impl Look {
    pub(super) fn take(files: &dyn KernelFiles) -> Self {
        let text = |path: &str| files.read(Path::new(path)).ok();
        Self {
            uptime_s: text("/proc/uptime").and_then(|t| t.split(' ').next()?.parse().ok()),
            ticks: text("/proc/stat").and_then(|t| Ticks::parse(&t)),
            disks: text("/proc/diskstats").map(|t| t.lines().filter_map(disk).collect()).unwrap_or_default(),
            processes: processes(files),
            swapped_pages: text("/proc/vmstat").and_then(|t| swapped_pages(&t)),
            throttled: throttled(files),
        }
    }

    /// Stolen ticks as a share of all ticks since boot.
    pub(super) fn stolen_since_boot(&self) -> Option<f64> {
        self.ticks.filter(|t| t.all > 0).map(|t| t.steal as f64 / t.all as f64)
    }

    /// Number of thermal throttling events since boot.
    pub(super) fn throttled(&self) -> Option<u64> {
        self.throttled
    }
}

impl Ticks {
    /// First line of /proc/stat: user nice system idle iowait irq softirq steal. The guest time that follows is part of user and nice.
    fn parse(text: &str) -> Option<Self> {
        let fields = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            fields.split_ascii_whitespace().take(8).filter_map(|t| t.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks[..] else { return None };
        let busy = user + nice + system + irq + softirq;
        Some(Self { all: busy + idle + iowait + steal, busy, steal })
    }
}

/// A line of /proc/diskstats: number, name, then the fields of the disk's `stat` file.
fn disk(line: &str) -> Option<((u32, u32), DiskCounters)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = (words.first()?.parse().ok()?, words.get(1)?.parse().ok()?);
    let at = |n: usize| words.get(3 + n).and_then(|w| w.parse::<u64>().ok());
    let sectors = at(2)?.saturating_add(at(6)?).saturating_add(at(13).unwrap_or(0));
    let ios = at(0)?.saturating_add(at(4)?).saturating_add(at(11).unwrap_or(0));
    Some((number, DiskCounters { ios, bytes: sectors.saturating_mul(SECTOR_BYTES), busy_ms: at(9)? }))
}

/// Storage I/O of each process that this user may inspect; kernel threads have no such figures.
fn processes(files: &dyn KernelFiles) -> BTreeMap<u32, Process> {
    let own = files.read_link(Path::new("/proc/self")).ok();
    let pids = files.list(Path::new("/proc")).unwrap_or_default();
    let others = pids.iter().filter(|pid| own.as_deref() != Some(Path::new(pid.as_str())));
    let known = others.filter_map(|pid| {
        let dir = PathBuf::from("/proc").join(pid);
        let number = pid.parse::<u32>().ok()?;
        let io = files.read(&dir.join("io")).ok()?;
        let field = |name: &str| {
            io.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')?.trim().parse::<u64>().ok())
        };
        let bytes = field("read_bytes")?.saturating_add(field("write_bytes")?);
        Some((number, Process { name: files.trimmed(&dir.join("comm"))?, bytes }))
    });
    known.collect()
}

/// Pages swapped in or out.
fn swapped_pages(vmstat: &str) -> Option<u64> {
    let field = |name: &str| vmstat.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<u64>().ok());
    Some(field("pswpin ")?.saturating_add(field("pswpout ")?))
}

/// Throttling events: the core counts of all processors and the count of every package. All processors of a package show the same
/// package count, so one of them is taken.
fn throttled(files: &dyn KernelFiles) -> Option<u64> {
    let root = Path::new("/sys/devices/system/cpu");
    let names = files.list(root).ok()?;
    let number = |cpu: &String, name: &str| files.trimmed(&root.join(cpu).join(name))?.parse::<u64>().ok();
    let cores: Vec<u64> =
        names.iter().filter_map(|n| number(n, "thermal_throttle/core_throttle_count")).collect();
    let packages: BTreeMap<u64, u64> = names
        .iter()
        .filter_map(|n| {
            let count = number(n, "thermal_throttle/package_throttle_count")?;
            Some((number(n, "topology/physical_package_id").unwrap_or(0), count))
        })
        .collect();
    (!cores.is_empty() || !packages.is_empty()).then(|| cores.iter().chain(packages.values()).sum())
}

impl Sample {
    pub(super) fn between(before: Look, after: Look) -> Self {
        Self { before, after }
    }

    pub(super) fn last(&self) -> &Look {
        &self.after
    }

    /// Length of the sample; `None` if the uptime cannot be read or has not advanced.
    pub(super) fn seconds(&self) -> Option<f64> {
        Some(self.after.uptime_s? - self.before.uptime_s?).filter(|s| *s > 0.0)
    }

    /// Share of processor time in use, 0..=1.
    pub(super) fn cpu_busy(&self) -> Option<f64> {
        self.ticks(|t| t.busy).map(|(n, all)| n as f64 / all as f64)
    }

    /// Ticks stolen by the hypervisor, and all ticks.
    pub(super) fn stolen(&self) -> Option<(u64, u64)> {
        self.ticks(|t| t.steal)
    }

    fn ticks(&self, figure: fn(&Ticks) -> u64) -> Option<(u64, u64)> {
        let (before, after) = (self.before.ticks?, self.after.ticks?);
        let all = after.all.checked_sub(before.all).filter(|&n| n > 0)?;
        Some((figure(&after).saturating_sub(figure(&before)), all))
    }

    /// A disk's I/O. We do no I/O during a sample, so all of it is by others.
    pub(super) fn traffic(&self, number: (u32, u32)) -> Option<Traffic> {
        let (before, after) = (self.before.disks.get(&number)?, self.after.disks.get(&number)?);
        let seconds = self.seconds()?;
        Some(Traffic {
            rate_iops: after.ios.saturating_sub(before.ios) as f64 / seconds,
            rate_bytes: after.bytes.saturating_sub(before.bytes) as f64 / seconds,
            busy: (after.busy_ms.saturating_sub(before.busy_ms) as f64 / 1000.0 / seconds).min(1.0),
        })
    }

    /// Processes that read or wrote, by bytes per second, highest first.
    pub(super) fn issuers(&self) -> Vec<Issuer<'_>> {
        let Some(seconds) = self.seconds() else { return Vec::new() };
        let moved = |(pid, process): (&u32, &'_ Process)| {
            let earlier = self.before.processes.get(pid).map_or(0, |p| p.bytes);
            process.bytes.saturating_sub(earlier)
        };
        let issuer = |entry: (&u32, &'_ Process)| moved(entry) as f64 / seconds;
        let mut all: Vec<Issuer<'_>> = self
            .after
            .processes
            .iter()
            .map(|entry| Issuer { pid: *entry.0, name: entry.1.name.as_str(), rate_bytes: issuer(entry) })
            .filter(|i| i.rate_bytes > 0.0)
            .collect();
        all.sort_by(|a, b| b.rate_bytes.total_cmp(&a.rate_bytes));
        all
    }

    /// Pages swapped in or out.
    pub(super) fn swapped_pages(&self) -> Option<u64> {
        Some(self.after.swapped_pages?.saturating_sub(self.before.swapped_pages?))
    }

    /// Number of thermal throttling events during the sample.
    pub(super) fn throttled(&self) -> Option<u64> {
        Some(self.after.throttled?.saturating_sub(self.before.throttled?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn at(uptime: &str, cpu: &str, disk: &str, io: u64) -> Fake {
        Fake::new()
            .file("/proc/uptime", uptime)
            .file("/proc/stat", &format!("cpu  {cpu}\ncpu0 1\n"))
            .file("/proc/diskstats", &format!("   8       0 sda {disk}\n   8 1 sda1\nnonsense\n"))
            .file("/proc/vmstat", "pswpin 5\npswpout 7\n")
            .link("/proc/self", "12")
            .file("/proc/12/io", "read_bytes: 9\nwrite_bytes: 9\n")
            .file("/proc/12/comm", "fathom\n")
            .file("/proc/99/io", &format!("rchar: 1\nread_bytes: {io}\nwrite_bytes: 0\n"))
            .file("/proc/99/comm", "backup\n")
    }

    #[test]
    fn two_looks_make_rates() {
        let before = Look::take(&at("10.00 1", "0 0 0 100 0 0 0 0 0 0", "1 0 8 1 2 0 16 3 0 10 4", 1000));
        let after =
            Look::take(&at("10.50 1", "50 0 0 140 0 0 0 10 9 9", "11 0 88 1 2 0 16 3 0 260 4", 513_000));
        let sample = Sample::between(before, after);
        assert_eq!(sample.seconds(), Some(0.5));
        assert_eq!(sample.cpu_busy(), Some(0.5));
        assert_eq!(sample.stolen(), Some((10, 100)));
        let traffic = sample.traffic((8, 0)).expect("a disk");
        assert_eq!(traffic, Traffic { rate_iops: 20.0, rate_bytes: 81_920.0, busy: 0.5 });
        assert_eq!(sample.traffic((8, 1)), None);
        assert_eq!(sample.issuers(), [Issuer { pid: 99, name: "backup", rate_bytes: 1_024_000.0 }]);
        assert_eq!(sample.swapped_pages(), Some(0));
        assert_eq!(sample.throttled(), None);
    }

    #[test]
    fn throttling_of_each_package_counts_once() {
        let cpu = |n: u32, what: &str| format!("/sys/devices/system/cpu/cpu{n}/{what}");
        let processor = |fake: Fake, n: u32, package: u32, count: u32| {
            fake.file(&cpu(n, "topology/physical_package_id"), &format!("{package}\n"))
                .file(&cpu(n, "thermal_throttle/package_throttle_count"), &format!("{count}\n"))
                .file(&cpu(n, "thermal_throttle/core_throttle_count"), "1\n")
        };
        let all = [(0, 0, 7), (1, 0, 7), (2, 1, 30), (3, 1, 30)];
        let fake =
            all.into_iter().fold(Fake::new(), |fake, (n, package, count)| processor(fake, n, package, count));
        assert_eq!(throttled(&fake), Some(4 + 7 + 30));
    }

    #[test]
    fn a_machine_that_tells_nothing_makes_no_figures() {
        let sample = Sample::between(Look::take(&Fake::new()), Look::take(&Fake::new()));
        assert!(sample.seconds().is_none() && sample.cpu_busy().is_none() && sample.issuers().is_empty());
    }
}
