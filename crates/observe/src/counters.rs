//! Counters before and after a phase: bytes moved by the block devices, I/O caused by this program's own processes, the machine's dirty
//! data, CPU time stolen by the hypervisor, and time that tasks waited for I/O.
//!
//! Cost of a reading: one small file per device and six more, some 0.1 ms on a small virtual machine in a test build (the test below prints it). On machines
//! with hundreds of CPUs /proc/stat alone can take a millisecond, because the kernel formats all of it. It is read between phases, never
//! inside a measured interval.
//!
//! /proc/self/io covers all threads, and child processes only after they have been waited for: take the second snapshot after that.
//! Device counters include every program's I/O.

use crate::cpu_list;
use crate::device::server::{self, Served};
use crate::device::{Device, DeviceKind, DeviceStack, Role, is_bio_based};
use crate::files::{FileSize, KernelFiles, Live};
use crate::trust::Crowd;
use fathom_record::physical::JOURNAL;
use fathom_record::{DeviceDelta, Physical};
use std::path::{Path, PathBuf};

/// Unit of the kernel's counters, whatever the device's sector size.
const SECTOR_BYTES: u64 = 512;
/// The kernel counts CPU time in hundredths of a second, whatever its timer.
const TICK_NS: u64 = 10_000_000;

/// Reads the counters.
#[derive(Debug)]
pub struct Counters;

impl Counters {
    /// Reads them now on this machine, for the devices of `stack`.
    #[must_use]
    pub fn read(stack: &DeviceStack) -> Snapshot {
        Self::read_with(&Live, stack)
    }

    /// Reads them through `files`, for the devices of `stack`.
    #[must_use]
    pub fn read_with(files: &dyn KernelFiles, stack: &DeviceStack) -> Snapshot {
        let text = |path: &str| files.read(Path::new(path)).ok();
        let devices = stack.devices.iter().map(|d| DeviceReading {
            name: d.name.clone(),
            level: d.level,
            kind: match d.kind {
                _ if stack.is_for_journal(d) => JOURNAL,
                _ if d.in_memory => DeviceKind::Ram.word(),
                kind => kind.word(),
            },
            holds_data: d.level == 0 && d.role == Role::Data,
            stat: counted(files, stack, d)
                .into_iter()
                .map(|d| stat_of(files, d))
                .try_fold(DiskStat::default(), |sum, one| Some(sum.plus(&one?))),
            stands_still: counted(files, stack, d).into_iter().any(|d| stands_still(files, d)),
        });
        let mut devices: Vec<DeviceReading> = devices.collect();
        if stack.method == "mountstats" {
            devices.extend(stack.mount.as_ref().map(|mount| {
                let stats = text("/proc/self/mountstats");
                let served = stats.and_then(|t| server::served(&t, &mount.escaped_mount_point()));
                DeviceReading {
                    name: mount.source.clone(),
                    level: 0,
                    kind: "server",
                    holds_data: true,
                    stat: served.map(DiskStat::of_server),
                    stands_still: false,
                }
            }));
        }
        let io = |process: &str| text(&format!("/proc/{process}/io")).and_then(|t| OwnIo::parse(&t));
        let own = match &stack.fuse_server {
            None => io("self"),
            // It reads for us.
            Some(server) => {
                let read = io(&server.process.to_string());
                devices.push(DeviceReading {
                    name: format!("{}'s storage", server.name),
                    level: 0,
                    kind: "served",
                    holds_data: true,
                    stat: read.map(|io| DiskStat {
                        read_sectors: io.read_bytes / SECTOR_BYTES,
                        ..DiskStat::default()
                    }),
                    stands_still: false,
                });
                read
            }
        };
        let (vmstat, stat) = (text("/proc/vmstat"), text("/proc/stat"));
        let allowed = text("/proc/self/status").and_then(|status| cpu_list::allowed(&status));
        Snapshot {
            method: stack.method.clone(),
            note: stack.note.clone(),
            devices,
            own,
            dirty_bytes: text("/proc/meminfo").and_then(|t| dirty_bytes(&t)),
            cpu: stat.as_deref().and_then(CpuTicks::parse),
            allowed: stat.as_deref().zip(allowed).and_then(|(t, allowed)| CpuTicks::parse_some(t, &allowed)),
            evictions: vmstat.as_deref().and_then(Evictions::parse),
            swap_ins: vmstat.as_deref().and_then(|t| vmstat_line(t, "pswpin")),
            images: stack.devices.iter().filter_map(|d| Image::read(files, d)).collect(),
        }
    }
}

/// All counters at one point in time. Unreadable ones are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    method: String,
    note: Option<String>,
    devices: Vec<DeviceReading>,
    own: Option<OwnIo>,
    dirty_bytes: Option<u64>,
    cpu: Option<CpuTicks>,
    /// Those that this program may use.
    allowed: Option<CpuTicks>,
    evictions: Option<Evictions>,
    /// Pages.
    swap_ins: Option<u64>,
    images: Vec<Image>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DeviceReading {
    name: String,
    level: u32,
    kind: &'static str,
    holds_data: bool,
    stat: Option<DiskStat>,
    /// Counting is off (queue/iostats).
    stands_still: bool,
}

/// The devices whose counters tell what one did. An NVMe multipath device and its partitions count nothing before Linux 6.4: its
/// paths are counted instead.
fn counted<'s>(files: &dyn KernelFiles, stack: &'s DeviceStack, device: &'s Device) -> Vec<&'s Device> {
    let below = |name: &'s str| stack.devices.iter().filter(move |d| d.above.as_deref() == Some(name));
    let head = match device.kind {
        DeviceKind::Partition if is_switched_off(files, device) => below(&device.name).next(),
        _ => Some(device),
    };
    match head.filter(|head| head.kind == DeviceKind::Multipath) {
        Some(head) => below(&head.name).collect(),
        None => vec![device],
    }
}

/// Whether counting is off for a device. A partition shares its disk's switch.
fn is_switched_off(files: &dyn KernelFiles, device: &Device) -> bool {
    files.trimmed(&disk_of(device).join("queue/iostats")).is_some_and(|on| on == "0")
}

fn disk_of(device: &Device) -> &Path {
    match device.kind {
        DeviceKind::Partition => device.sys.parent().unwrap_or(&device.sys),
        _ => &device.sys,
    }
}

/// Whether a device's counters stand still whatever it does: counting is off. Devices without requests may count all the same; those
/// that have ever counted do.
fn stands_still(files: &dyn KernelFiles, device: &Device) -> bool {
    let has_counted = || stat_of(files, device).is_some_and(|stat| stat != DiskStat::default());
    is_switched_off(files, device) && !(is_bio_based(files, disk_of(device)) && has_counted())
}

fn stat_of(files: &dyn KernelFiles, device: &Device) -> Option<DiskStat> {
    DiskStat::parse(&files.read(&device.sys.join("stat")).ok()?)
}

/// A `stat` file of sysfs: the counters of /proc/diskstats for one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DiskStat {
    read_ios: u64,
    read_merges: u64,
    read_sectors: u64,
    write_ios: u64,
    write_merges: u64,
    write_sectors: u64,
    busy_ms: u64,
    read_ms: u64,
    write_ms: u64,
    queue_ms: u64,
    discard_ios: u64,
    flush_ios: u64,
}

impl DiskStat {
    fn plus(&self, other: &Self) -> Self {
        Self {
            read_ios: self.read_ios + other.read_ios,
            read_merges: self.read_merges + other.read_merges,
            read_sectors: self.read_sectors + other.read_sectors,
            write_ios: self.write_ios + other.write_ios,
            write_merges: self.write_merges + other.write_merges,
            write_sectors: self.write_sectors + other.write_sectors,
            busy_ms: self.busy_ms + other.busy_ms,
            read_ms: self.read_ms + other.read_ms,
            write_ms: self.write_ms + other.write_ms,
            queue_ms: self.queue_ms + other.queue_ms,
            discard_ios: self.discard_ios + other.discard_ios,
            flush_ios: self.flush_ios + other.flush_ios,
        }
    }

    /// Eleven fields since 2.6, discards since 4.18, flushes since 5.5; missing ones are 0.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<u64> =
            text.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let at = |i: usize| fields.get(i).copied().unwrap_or(0);
        (fields.len() >= 11).then(|| Self {
            read_ios: at(0),
            read_merges: at(1),
            read_sectors: at(2),
            write_ios: at(4),
            write_merges: at(5),
            write_sectors: at(6),
            busy_ms: at(9),
            read_ms: at(3),
            write_ms: at(7),
            queue_ms: at(10),
            discard_ios: at(11),
            flush_ios: at(15),
        })
    }

    /// A server's calls and bytes as a device's counters.
    fn of_server(served: Served) -> Self {
        Self {
            read_ios: served.read_calls,
            read_sectors: served.read_bytes / SECTOR_BYTES,
            write_ios: served.write_calls,
            write_sectors: served.write_bytes / SECTOR_BYTES,
            flush_ios: served.commits,
            ..Self::default()
        }
    }

    fn until(&self, later: &Self, device: &DeviceReading) -> DeviceDelta {
        DeviceDelta {
            name: device.name.clone(),
            level: device.level,
            kind: device.kind.into(),
            read_ios: advance(self.read_ios, later.read_ios),
            read_bytes: advance(self.read_sectors, later.read_sectors).saturating_mul(SECTOR_BYTES),
            read_merges: advance(self.read_merges, later.read_merges),
            write_ios: advance(self.write_ios, later.write_ios),
            write_bytes: advance(self.write_sectors, later.write_sectors).saturating_mul(SECTOR_BYTES),
            write_merges: advance(self.write_merges, later.write_merges),
            flush_ios: advance(self.flush_ios, later.flush_ios),
            discard_ios: advance(self.discard_ios, later.discard_ios),
            busy_ms: advance(self.busy_ms, later.busy_ms),
            read_ms: advance(self.read_ms, later.read_ms),
            write_ms: advance(self.write_ms, later.write_ms),
            queue_ms: advance(self.queue_ms, later.queue_ms),
        }
    }
}

/// The increase of a counter. Counters are as wide as the kernel's `unsigned long` (32 bits on 32-bit machines), except milliseconds,
/// which are always 32 bits wide. A smaller value means one wrap-around if the step is then less than half the range; otherwise the
/// counter was reset (the device was replaced by another of its name), and the result is 0.
pub(crate) fn advance(before: u64, after: u64) -> u64 {
    const ROUND: u64 = 1 << 32;
    match after.checked_sub(before) {
        Some(steps) => steps,
        None if before < ROUND && after + (ROUND - before) < ROUND / 2 => after + (ROUND - before),
        None => 0,
    }
}

/// /proc/self/io: storage I/O caused by our own processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OwnIo {
    read_bytes: u64,
    write_bytes: u64,
}

impl OwnIo {
    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
        };
        Some(Self { read_bytes: field("read_bytes")?, write_bytes: field("write_bytes")? })
    }
}

/// What took pages of files from the page cache of the whole machine, as far as the kernel counts it. It does not count
/// posix_fadvise(DONTNEED), and pages that a write with O_DIRECT replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evictions {
    /// Pages taken because memory was short, on the machine or in a control group.
    pub reclaimed_pages: u64,
    /// How often the page cache was dropped with /proc/sys/vm/drop_caches.
    pub drops: u64,
}

impl Evictions {
    fn parse(vmstat: &str) -> Option<Self> {
        let field = |name| vmstat_line(vmstat, name);
        Some(Self { reclaimed_pages: field("pgsteal_file")?, drops: field("drop_pagecache")? })
    }
}

fn vmstat_line(vmstat: &str, name: &str) -> Option<u64> {
    vmstat.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// The file behind a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Image {
    device: String,
    path: String,
    size: FileSize,
}

impl Image {
    fn read(files: &dyn KernelFiles, device: &Device) -> Option<Self> {
        let path = (device.kind == DeviceKind::Loop)
            .then(|| files.trimmed(&device.sys.join("loop/backing_file")))??;
        let size = files.size_of(&PathBuf::from(&path)).ok()?;
        Some(Self { device: device.name.clone(), path, size })
    }
}

/// How much more space the file behind a loop device occupies than before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageGrowth {
    /// Name of the device.
    pub device: String,
    /// The file.
    pub path: String,
    /// Its length.
    pub length_bytes: u64,
    /// What the file system below allocated for it.
    pub allocated_bytes: u64,
}

/// What else changed on the machine between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanwhile {
    /// What took pages from the page cache; `None` if the kernel does not report it (before Linux 5.8).
    pub evictions: Option<Evictions>,
    /// What was read from swap; `None` without swap in the kernel.
    pub swapped_in_bytes: Option<u64>,
    /// The file behind a loop device that grew most; `None` if none did.
    pub image_growth: Option<ImageGrowth>,
    /// CPU time that all programs and the kernel used, while the clock ran, on the processors that this program may use.
    pub allowed_busy_ns: Option<u64>,
}

/// Dirty plus writeback of the whole machine.
fn dirty_bytes(meminfo: &str) -> Option<u64> {
    let kib = meminfo_kib(meminfo, "Dirty")?.saturating_add(meminfo_kib(meminfo, "Writeback")?);
    Some(kib.saturating_mul(1024))
}

/// A line of /proc/meminfo, in KiB (the file says kB and means KiB).
pub(crate) fn meminfo_kib(meminfo: &str, name: &str) -> Option<u64> {
    meminfo
        .lines()
        .find_map(|l| l.strip_prefix(name)?.strip_prefix(':')?.split_ascii_whitespace().next()?.parse().ok())
}

/// First line of /proc/stat: clock ticks of all CPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CpuTicks {
    all: u64,
    steal: u64,
    /// In programs' own code, not in the kernel.
    user: u64,
    /// Neither idle nor stolen.
    busy: u64,
}

impl CpuTicks {
    fn parse(text: &str) -> Option<Self> {
        Self::parse_line(text.lines().next()?.strip_prefix("cpu ")?)
    }

    /// The sum over some CPUs; those that are offline have no line.
    fn parse_some(text: &str, cpus: &[u32]) -> Option<Self> {
        let mut sum = Self::default();
        let lines = text.lines().filter_map(|line| line.strip_prefix("cpu")?.split_once(' '));
        let wanted = lines.filter(|(cpu, _)| cpu.parse().is_ok_and(|cpu| cpus.contains(&cpu)));
        for (_, fields) in wanted {
            let one = Self::parse_line(fields)?;
            sum.all = sum.all.saturating_add(one.all);
            sum.steal = sum.steal.saturating_add(one.steal);
            sum.user = sum.user.saturating_add(one.user);
            sum.busy = sum.busy.saturating_add(one.busy);
        }
        (sum.all > 0).then_some(sum)
    }

    fn parse_line(fields: &str) -> Option<Self> {
        let ticks: Vec<u64> =
            fields.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        // user nice system idle iowait irq softirq steal; the guest time that follows is part of user and nice.
        (ticks.len() >= 8).then(|| Self {
            all: ticks[..8].iter().fold(0, |sum: u64, &n| sum.saturating_add(n)),
            steal: ticks[7],
            user: ticks[0].saturating_add(ticks[1]),
            busy: ticks[..3].iter().chain(&ticks[5..7]).fold(0, |sum: u64, &n| sum.saturating_add(n)),
        })
    }
}

impl Snapshot {
    /// The difference between this snapshot and a later one of the same stack. If the file system has several data devices, the first
    /// entry is their sum, named "sda+sdb".
    #[must_use]
    pub fn until(&self, later: &Self) -> Physical {
        let mut notes: Vec<String> = self.note.iter().cloned().collect();
        let mut devices = Vec::new();
        let mut tops = 0;
        for reading in &self.devices {
            let then = later.devices.iter().find(|d| d.name == reading.name).and_then(|d| d.stat);
            match (reading.stat, then) {
                (Some(before), Some(after)) if reading.stands_still && before == after => {
                    notes.push(format!("{} does not count its I/O (queue/iostats is 0)", reading.name));
                }
                (Some(before), Some(after)) => {
                    tops += usize::from(reading.holds_data);
                    devices.push(before.until(&after, reading));
                }
                _ => notes.push(format!("the counters of {} could not be read", reading.name)),
            }
        }
        if tops > 1 {
            devices.insert(0, sum(&devices[..tops]));
        }
        let missing =
            devices.is_empty() && matches!(self.method.as_str(), "diskstats" | "mountstats" | "fuse-server");
        let own = |figure: fn(&OwnIo) -> u64| Some(advance(figure(&self.own?), figure(&later.own?)));
        Physical {
            method: if missing { "none".into() } else { self.method.clone() },
            devices,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            own_read_bytes: own(|o| o.read_bytes),
            own_write_bytes: own(|o| o.write_bytes),
            written_in_clock_bytes: None,
            waiting: None,
            compression: None,
            dirty_before_bytes: self.dirty_bytes,
            dirty_after_bytes: later.dirty_bytes,
            machine_cpu_ns: None,
            image_cached_bytes: None,
        }
    }

    /// Dirty plus write-back data of the whole machine.
    #[must_use]
    pub fn dirty_bytes(&self) -> Option<u64> {
        self.dirty_bytes
    }

    /// CPU time that other programs left us until a later snapshot, in which we spent `own_ns` in our own code. The kernel's work for
    /// others cannot be separated from its work for us. `None` over less than 20 ticks, which are too coarse.
    #[must_use]
    pub fn crowd(&self, later: &Self, own_ns: u64) -> Option<Crowd> {
        const FEWEST_TICKS: u64 = 20;
        let (before, after) = (self.cpu?, later.cpu?);
        let all = after.all.checked_sub(before.all).filter(|&n| n >= FEWEST_TICKS)? as f64;
        let used = (after.busy + after.steal).saturating_sub(before.busy + before.steal);
        let others = after.user.saturating_sub(before.user).saturating_sub(own_ns / TICK_NS);
        Some(Crowd { others: others as f64 / all, idle: 1.0 - (used as f64 / all).min(1.0) })
    }

    /// What else changed until a later snapshot.
    #[must_use]
    pub fn meanwhile(&self, later: &Self) -> Meanwhile {
        let swapped_in = self.swap_ins.zip(later.swap_ins).map(|(before, after)| advance(before, after));
        Meanwhile {
            evictions: self.evictions(later),
            swapped_in_bytes: swapped_in.map(|pages| pages.saturating_mul(rustix::param::page_size() as u64)),
            image_growth: self.image_growth(later),
            allowed_busy_ns: None,
        }
    }

    fn image_growth(&self, later: &Self) -> Option<ImageGrowth> {
        let grown = |before: &Image| {
            let same = |i: &&Image| i.device == before.device && i.path == before.path;
            let after = later.images.iter().find(same)?;
            Some(ImageGrowth {
                device: after.device.clone(),
                path: after.path.clone(),
                length_bytes: after.size.length_bytes,
                allocated_bytes: after.size.allocated_bytes.saturating_sub(before.size.allocated_bytes),
            })
        };
        let grown = self.images.iter().filter_map(grown).filter(|g| g.allocated_bytes > 0);
        grown.max_by_key(|g| g.allocated_bytes)
    }

    fn evictions(&self, later: &Self) -> Option<Evictions> {
        let (before, after) = (self.evictions?, later.evictions?);
        Some(Evictions {
            reclaimed_pages: after.reclaimed_pages.saturating_sub(before.reclaimed_pages),
            drops: after.drops.saturating_sub(before.drops),
        })
    }

    /// As `busy_ns`, of the processors that this program may use.
    #[must_use]
    pub fn allowed_busy_ns(&self, later: &Self) -> Option<u64> {
        Some(later.allowed?.busy.saturating_sub(self.allowed?.busy).saturating_mul(TICK_NS))
    }

    /// CPU time used by all programs and the kernel until a later snapshot, ns.
    #[must_use]
    pub fn busy_ns(&self, later: &Self) -> Option<u64> {
        Some(later.cpu?.busy.saturating_sub(self.cpu?.busy).saturating_mul(TICK_NS))
    }

    /// Minimum share of CPU time given to other guests by the hypervisor, 0..=1. The kernel counts in ticks of 10 ms, and one of them may
    /// belong to the time before. `None` over less than ten ticks, or if the kernel does not report it.
    #[must_use]
    pub fn steal_share(&self, later: &Self) -> Option<f64> {
        let (before, after) = (self.cpu?, later.cpu?);
        const FEWEST_TICKS: u64 = 10;
        let all = after.all.checked_sub(before.all).filter(|&n| n >= FEWEST_TICKS)?;
        let steal = after.steal.checked_sub(before.steal)?;
        Some(steal.saturating_sub(1) as f64 / all as f64)
    }
}

/// Several devices as one, with their kind if all have the same.
fn sum(devices: &[DeviceDelta]) -> DeviceDelta {
    let mut all = DeviceDelta::default();
    if let Some(first) = devices.first().filter(|f| devices.iter().all(|d| d.kind == f.kind)) {
        all.kind.clone_from(&first.kind);
    }
    for d in devices {
        if !all.name.is_empty() {
            all.name.push('+');
        }
        all.name.push_str(&d.name);
        all.read_ios += d.read_ios;
        all.read_bytes += d.read_bytes;
        all.read_merges += d.read_merges;
        all.write_ios += d.write_ios;
        all.write_bytes += d.write_bytes;
        all.write_merges += d.write_merges;
        all.flush_ios += d.flush_ios;
        all.discard_ios += d.discard_ios;
        all.read_ms += d.read_ms;
        all.write_ms += d.write_ms;
        all.queue_ms += d.queue_ms;
        // Devices work in parallel: the busiest one bounds the time.
        all.busy_ms = all.busy_ms.max(d.busy_ms);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::stack_with;
    use crate::fake::{Fake, stat_line};

    fn machine() -> Fake {
        Fake::new()
            .disk("ata1", "sda", (8, 0))
            .file("/proc/self/mountinfo", "27 1 8:0 / / rw - ext4 /dev/sda rw\n")
            .on_mount("/", 27, (8, 0))
            .file(
                "/proc/self/io",
                "rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n",
            )
            .file("/proc/meminfo", "MemTotal: 100 kB\nDirty: 8 kB\nWriteback: 4 kB\nWritebackTmp: 99 kB\n")
            .file("/proc/stat", "cpu  10 0 10 70 5 0 0 5 3 0\ncpu0 1\n")
    }

    const STAT: &str = "/sys/devices/ata1/block/sda/stat";

    #[test]
    fn the_difference_is_counted_in_bytes() {
        let mut fake = machine();
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put(STAT, "10 1 80 7 20 2 160 9 0 33 40 3 0 24 1 4 2\n");
        fake.put("/proc/self/io", "read_bytes: 45056\nwrite_bytes: 8192\n");
        fake.put("/proc/meminfo", "Dirty: 100 kB\nWriteback: 0 kB\n");
        let physical = before.until(&Counters::read_with(&fake, &stack));
        let expected = DeviceDelta {
            name: "sda".into(),
            level: 0,
            kind: "disk".into(),
            read_ios: 10,
            read_bytes: 40_960,
            read_merges: 1,
            write_ios: 20,
            write_bytes: 81_920,
            write_merges: 2,
            flush_ios: 4,
            discard_ios: 3,
            busy_ms: 33,
            read_ms: 7,
            write_ms: 9,
            queue_ms: 40,
        };
        assert_eq!(physical.devices, [expected]);
        assert_eq!((physical.own_read_bytes, physical.own_write_bytes), (Some(40_960), Some(0)));
        assert_eq!((before.dirty_bytes(), physical.dirty_after_bytes), (Some(12_288), Some(102_400)));
        assert_eq!((physical.method.as_str(), physical.note), ("diskstats", None));
    }

    #[test]
    fn a_device_that_does_not_count_says_nothing() {
        let moved = |iostats: &str, now: &str| {
            let mut fake = machine()
                .file("/sys/devices/ata1/block/sda/queue/iostats", iostats)
                .file("/sys/devices/ata1/block/sda/mq/0/nr_tags", "64\n");
            let stack = stack_with(&fake, Path::new("/x"));
            let before = Counters::read_with(&fake, &stack);
            fake.put(STAT, now);
            let physical = before.until(&Counters::read_with(&fake, &stack));
            (physical.method, physical.note)
        };
        // A device without requests that has counted before counts whatever the switch says.
        let mut mapper = Fake::new()
            .disk("virtual", "dm-0", (253, 0))
            .file("/sys/devices/virtual/block/dm-0/queue/iostats", "0\n")
            .file("/proc/self/mountinfo", "27 1 253:0 / / rw - ext4 /dev/dm-0 rw\n")
            .on_mount("/", 27, (253, 0));
        mapper.put("/sys/devices/virtual/block/dm-0/stat", "8 0 64 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
        let stack = stack_with(&mapper, Path::new("/x"));
        let before = Counters::read_with(&mapper, &stack);
        assert_eq!(before.until(&before).method, "diskstats");
        let none = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
        let why = "sda does not count its I/O (queue/iostats is 0)";
        assert_eq!(moved("0\n", none), ("none".into(), Some(why.into())));
        assert_eq!(moved("1\n", none), ("diskstats".into(), None));
        assert_eq!(
            moved("0\n", "8 0 64 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"),
            ("diskstats".into(), None),
            "it does"
        );
    }

    #[test]
    fn the_paths_of_an_nvme_multipath_device_count_for_it() {
        let mut fake = Fake::new()
            .disk("subsys1", "nvme1n1", (259, 1))
            .partition("subsys1", "nvme1n1", "nvme1n1p1", (259, 2))
            .file("/sys/devices/subsys1/block/nvme1n1/queue/iostats", "0\n")
            .disk("ctl1", "nvme1c1n1", (0, 1))
            .disk("ctl2", "nvme1c2n1", (0, 2))
            .file("/proc/self/mountinfo", "27 1 259:2 / / rw - ext4 /dev/nvme1n1p1 rw\n")
            .on_mount("/", 27, (259, 2));
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put("/sys/devices/ctl1/block/nvme1c1n1/stat", "8 0 64 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
        fake.put("/sys/devices/ctl2/block/nvme1c2n1/stat", "2 0 16 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
        assert_eq!(before.until(&before).devices.len(), 4, "a phase without I/O has counters, too");
        let physical = before.until(&Counters::read_with(&fake, &stack));
        let reads: Vec<_> = physical.devices.iter().map(|d| (d.name.as_str(), d.level, d.read_ios)).collect();
        assert_eq!(
            reads,
            [("nvme1n1p1", 0, 10), ("nvme1n1", 1, 10), ("nvme1c1n1", 2, 8), ("nvme1c2n1", 2, 2)]
        );
    }

    #[test]
    fn evictions_are_counted_where_the_kernel_reports_both_kinds() {
        let vmstat = "pgsteal_anon 9\npgsteal_file 100\npgsteal_file_x 1\ndrop_pagecache 4\n";
        let mut fake = machine().file("/proc/vmstat", vmstat);
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put("/proc/vmstat", "pgsteal_file 150\ndrop_pagecache 6\n");
        let after = Counters::read_with(&fake, &stack);
        assert_eq!(before.meanwhile(&after).evictions, Some(Evictions { reclaimed_pages: 50, drops: 2 }));
        fake.put("/proc/vmstat", "pgsteal_kswapd 150\ndrop_pagecache 6\n");
        assert_eq!(before.meanwhile(&Counters::read_with(&fake, &stack)).evictions, None);
    }

    #[test]
    fn swapped_pages_and_the_growth_of_an_image_are_counted() {
        let mut fake = Fake::new()
            .disk("virtual", "loop0", (7, 0))
            .file("/sys/devices/virtual/block/loop0/loop/backing_file", "/srv/image\n")
            .file("/srv/image", "")
            .file("/proc/vmstat", "pswpin 100\npswpout 7\n")
            .file("/proc/self/mountinfo", "27 1 7:0 / / rw - ext4 /dev/loop0 rw\n")
            .on_mount("/", 27, (7, 0));
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        assert_eq!(before.meanwhile(&before).image_growth, None);
        fake.put("/srv/image", &"x".repeat(1 << 20));
        fake.put("/proc/vmstat", "pswpin 103\n");
        let found = before.meanwhile(&Counters::read_with(&fake, &stack));
        assert_eq!(
            (found.swapped_in_bytes, found.evictions),
            (Some(3 * rustix::param::page_size() as u64), None)
        );
        let growth = found.image_growth.expect("it grew");
        assert_eq!((growth.device.as_str(), growth.path.as_str()), ("loop0", "/srv/image"));
        assert_eq!(growth.length_bytes, 1 << 20);
        assert!(growth.allocated_bytes > 0);
    }

    #[test]
    fn processors_that_this_program_may_not_use_are_left_out() {
        let text = "cpu  30 0 12 100 0 0 0 0 0 0\ncpu0 10 0 2 50 0 0 0 0 0 0\ncpu1 20 0 10 50 0 0 0 0 0 0\n";
        let busy = |cpus: &[u32]| CpuTicks::parse_some(text, cpus).map(|ticks| ticks.busy);
        assert_eq!((busy(&[1]), busy(&[0, 1]), busy(&[2])), (Some(30), Some(42), None));
        let mut fake =
            machine().file("/proc/stat", text).file("/proc/self/status", "Cpus_allowed_list:\t1\n");
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put("/proc/stat", &text.replace("cpu1 20", "cpu1 40").replace("cpu0 10", "cpu0 15"));
        let after = Counters::read_with(&fake, &stack);
        assert_eq!(before.allowed_busy_ns(&after), Some(200_000_000));
    }

    #[test]
    fn steal_is_a_share() {
        let mut fake = machine();
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put("/proc/stat", "cpu  50 0 10 100 5 0 0 35 3 0\n");
        let after = Counters::read_with(&fake, &stack);
        assert_eq!(before.steal_share(&after), Some(0.29), "one tick may belong to the time before");
        assert_eq!(before.busy_ns(&after), Some(400_000_000));
        assert_eq!(before.steal_share(&before), None, "no tick passed");
        // 500 of 1000 ticks in programs' own code, 100 of them ours.
        let crowd = |user: u64, idle: u64| {
            let ticks =
                |user: u64, idle: u64| CpuTicks::parse(&format!("cpu  {user} 0 10 {idle} 5 0 0 0 0 0\n"));
            let at = |user, idle| Snapshot { cpu: ticks(user, idle), ..Snapshot::default() };
            at(50, 100).crowd(&at(50 + user, 100 + idle), 1_000_000_000)
        };
        assert_eq!(crowd(500, 500), Some(Crowd { others: 0.4, idle: 0.5 }));
        assert_eq!(crowd(50, 50), Some(Crowd { others: 0.0, idle: 0.5 }), "all of it was ours");
        assert_eq!(crowd(10, 9), None);
        // In a phase of milliseconds, one tick of three was reported as 33 %.
        let ticks = |busy: u64, steal: u64| {
            let text = format!("cpu  {busy} 0 10 100 5 0 0 {steal} 3 0\n");
            Snapshot { cpu: CpuTicks::parse(&text), ..Snapshot::default() }
        };
        assert_eq!(ticks(50, 35).steal_share(&ticks(52, 36)), None);
        assert_eq!(ticks(50, 35).steal_share(&ticks(69, 36)), Some(0.0));
        assert_eq!(ticks(50, 35).steal_share(&ticks(68, 37)), Some(0.05));
    }

    #[test]
    fn old_kernels_have_fewer_fields() {
        let old = DiskStat::parse("1 2 3 4 5 6 7 8 0 10 11\n").expect("eleven fields");
        assert_eq!((old.read_ios, old.write_sectors, old.flush_ios, old.discard_ios), (1, 7, 0, 0));
        assert_eq!(DiskStat::parse("1 2 3"), None);
        assert_eq!(DiskStat::parse("a b c d e f g h i j k"), None);
    }

    #[test]
    fn counters_go_round_at_32_bits() {
        assert_eq!(advance(5, 7), 2);
        assert_eq!(advance((1 << 32) - 3, 4), 7);
        assert_eq!(advance(1 << 40, 4), 0, "wider than 32 bits: a restart");
        assert_eq!(advance(1_000_000, 4), 0, "far from the end of the range: a restart");
        assert_eq!(advance(u64::MAX - 1, u64::MAX), 1);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in "(?s).{0,200}|cpu ([0-9]{1,20} ){0,12}|([0-9]{1,20} ){0,20}|(Dirty|Writeback): [0-9]{1,20} kB\n") {
            let _ = (DiskStat::parse(&text), CpuTicks::parse(&text), OwnIo::parse(&text));
            let _ = dirty_bytes(&text);
        }
    }

    #[test]
    fn several_devices_are_summed_first() {
        let mut fake = Fake::new()
            .disk("ata1", "sda", (8, 0))
            .disk("ata2", "sdb", (8, 16))
            .file("/sys/fs/btrfs/1-2/devices/sda", "")
            .file("/sys/fs/btrfs/1-2/devices/sdb", "")
            .file("/proc/self/mountinfo", "50 1 0:33 / / rw - btrfs /dev/sda rw\n")
            .on_mount("/", 50, (0, 33));
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put(STAT, &stat_line(10));
        fake.put("/sys/devices/ata2/block/sdb/stat", &stat_line(30));
        let physical = before.until(&Counters::read_with(&fake, &stack));
        let names: Vec<&str> = physical.devices.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["sda+sdb", "sda", "sdb"]);
        assert_eq!((physical.devices[0].read_ios, physical.devices[0].busy_ms), (40, 30));
        assert_eq!(physical.devices[0].kind, "disk");
        assert_eq!(physical.own_read_bytes, None, "this machine has no /proc/self/io");
    }

    #[test]
    fn every_device_has_its_level_and_kind() {
        let fake = Fake::new()
            .disk("ata1", "sda", (8, 0))
            .partition("ata1", "sda", "sda1", (8, 1))
            .disk("virtual", "loop0", (7, 0))
            .file("/sys/devices/virtual/block/loop0/loop/backing_file", "/image\n")
            .disk("virtual", "zram0", (252, 0))
            .file(
                "/proc/self/mountinfo",
                "27 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 27 7:0 / /mnt rw - ext4 /dev/loop0 rw\n41 27 252:0 / /z rw - ext4 /dev/zram0 rw\n",
            )
            .on_mount("/", 27, (8, 1))
            .on_mount("/mnt", 40, (7, 0))
            .on_mount("/z", 41, (252, 0));
        let seen = |path: &str| {
            let stack = stack_with(&fake, Path::new(path));
            let physical = Counters::read_with(&fake, &stack).until(&Counters::read_with(&fake, &stack));
            physical.devices.into_iter().map(|d| (d.name, d.level, d.kind)).collect::<Vec<_>>()
        };
        let wanted = [("loop0", 0, "loop"), ("sda1", 1, "partition"), ("sda", 2, "disk")];
        assert_eq!(seen("/mnt/x"), wanted.map(|(n, l, k)| (n.to_string(), l, k.to_string())));
        assert_eq!(seen("/z/x"), [("zram0".to_string(), 0, "ram".to_string())]);
    }

    #[test]
    fn a_device_with_only_a_journal_has_the_log_role() {
        let seen = |options: &str| {
            let fake = Fake::new()
                .disk("ata1", "sda", (8, 0))
                .disk("ata2", "sdb", (8, 16))
                .partition("ata2", "sdb", "sdb1", (8, 17))
                .file("/sys/fs/ext4/sda/journal_task", "7\n")
                .file("/proc/7/comm", "jbd2/sdb1\n")
                .file("/proc/self/mountinfo", &format!("27 1 8:0 / / rw - ext4 /dev/sda {options}\n"))
                .on_mount("/", 27, (8, 0));
            let stack = stack_with(&fake, Path::new("/x"));
            Counters::read_with(&fake, &stack).until(&Counters::read_with(&fake, &stack))
        };
        let physical = seen("rw");
        let kinds: Vec<_> =
            physical.devices.iter().map(|d| (d.name.as_str(), d.level, d.kind.as_str())).collect();
        assert_eq!(kinds, [("sda", 0, "disk"), ("sdb1", 0, "journal"), ("sdb", 1, "journal")]);
        assert_eq!(physical.lowest_level(), 0, "below the files is nothing");
        // Data goes to the journal first, and counts.
        assert_eq!(seen("rw,data=journal").devices[0].name, "sda+sdb1");
    }

    #[test]
    fn a_server_is_counted_like_a_device() {
        let stats = |bytes: u64, calls: u64| {
            format!(
                "device srv:/e mounted on /n with fstype nfs4 statvers=1.1\n\tbytes:\t0 0 0 0 {bytes} {bytes} 0 0\n\tREAD: {calls} 9\n"
            )
        };
        let mut fake = Fake::new()
            .file("/proc/self/mountinfo", "40 1 0:50 / /n rw - nfs4 srv:/e rw\n")
            .file("/proc/self/mountstats", &stats(4096, 2))
            .on_mount("/n", 40, (0, 50));
        let stack = stack_with(&fake, Path::new("/n/x"));
        assert_eq!(stack.method, "mountstats");
        let before = Counters::read_with(&fake, &stack);
        fake.put("/proc/self/mountstats", &stats(4096 + 10_240, 7));
        let physical = before.until(&Counters::read_with(&fake, &stack));
        let server = physical.devices.first().expect("the server");
        assert_eq!((server.name.as_str(), server.kind.as_str()), ("srv:/e", "server"));
        assert_eq!((server.read_bytes, server.write_bytes, server.read_ios), (10_240, 10_240, 5));
        assert!(physical.note.expect("a note").contains("another machine"));
    }

    #[test]
    fn what_a_fuse_server_reads_is_read_for_us() {
        let io = |read: u64| format!("rchar: 9\nread_bytes: {read}\nwrite_bytes: 4096\n");
        let mut fake = Fake::new()
            .file(
                "/proc/self/mountinfo",
                "9 1 0:40 / /t rw - fuse /srv/data rw\n10 1 8:0 / /srv rw - ext4 /dev/sda rw\n",
            )
            .on_mount("/t", 9, (0, 40))
            .disk("pci0", "sda", (8, 0))
            .on_mount("/srv/data", 10, (8, 0))
            .file("/proc/self/io", &io(0))
            .file("/proc/30/comm", "bindfs\n")
            .file("/proc/30/io", &io(4096))
            .link("/proc/30/fd/4", "/dev/fuse")
            .file("/proc/30/fdinfo/4", "fuse_connection:\t40\n");
        let stack = stack_with(&fake, Path::new("/t/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put("/proc/30/io", &io(4096 + 10_240));
        let physical = before.until(&Counters::read_with(&fake, &stack));
        let served = physical.devices.first().expect("what it read");
        assert_eq!((served.name.as_str(), served.kind.as_str()), ("bindfs's storage", "served"));
        assert_eq!((served.read_bytes, served.write_bytes), (10_240, 0));
        assert_eq!((physical.is_served(), physical.own_read_bytes), (true, Some(10_240)));
        fake.remove("/proc/30/io");
        let physical = before.until(&Counters::read_with(&fake, &stack));
        assert_eq!((physical.method.as_str(), physical.devices.len()), ("none", 0), "it has ended");
    }

    #[test]
    fn a_vanished_device_is_reported_and_not_counted() {
        let mut fake = machine();
        let stack = stack_with(&fake, Path::new("/x"));
        let before = Counters::read_with(&fake, &stack);
        fake.put(STAT, "");
        let physical = before.until(&Counters::read_with(&fake, &stack));
        assert_eq!((physical.devices.len(), physical.method.as_str()), (0, "none"));
        assert!(physical.note.expect("a note").contains("sda"));
    }

    #[test]
    fn this_machine_counts_and_a_reading_is_cheap() {
        let dir = tempfile::tempdir().expect("a directory");
        let stack = crate::device::stack_of(dir.path());
        let first = Counters::read(&stack);
        let mut costs_us: Vec<u128> = (0..50)
            .map(|_| {
                let start = std::time::Instant::now();
                let snapshot = Counters::read(&stack);
                assert_eq!(snapshot.devices.len(), stack.devices.len());
                start.elapsed().as_micros()
            })
            .collect();
        costs_us.sort_unstable();
        println!("a reading costs {} us (best), {} us (median)", costs_us[0], costs_us[25]);
        // The best of fifty, with a margin for slow machines: a reading that became expensive by design would fail.
        assert!(costs_us[0] < 20_000, "{costs_us:?}");
        let physical = first.until(&Counters::read(&stack));
        assert_eq!(physical.method, stack.method);
        assert_eq!(physical.devices.is_empty(), stack.devices.is_empty());
    }
}
