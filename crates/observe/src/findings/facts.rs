//! Input of the rules, with helpers that several of them share.

use crate::attributes::Attributes;
use crate::counters::{Evictions, ImageGrowth};
use crate::join::{Joined, Pieces};
use crate::residency::page_bytes;
use fathom_record::block::{DeviceActivity, Issuer, IssuerKind, RequestClass, RequestStats};
use fathom_record::{BlockLayer, OpKind, Phase, Repetition, Worker};
use serde_json::Value;

/// With a larger share by other programs, the requests at a device say as much about them as about us.
const MOST_OTHERS: f64 = 0.05;
/// Requests are watched for slightly longer than counters are read.
const OUTSIDE_BYTES: f64 = 262_144.0;

/// The properties of a phase's workload that rules use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkloadTraits {
    /// Every stream reads or writes its file sequentially.
    pub in_order: bool,
    /// A stream has a rate or pauses, so it does less than it could.
    pub paced: bool,
    /// Every stream has a rate or pauses.
    pub all_paced: bool,
    /// All streams share one file.
    pub one_file: bool,
    /// The processors of each worker, in the order of their indices: `None` if the workload does not restrict it. Empty if it restricts
    /// no worker.
    pub bound: Vec<Option<Vec<u32>>>,
    /// Every stream uses libaio.
    pub aio: bool,
    /// A stream opens its files with O_SYNC or O_DSYNC.
    pub synced: bool,
    /// Every stream that writes does.
    pub all_synced: bool,
    /// A stream's syncs are sync_file_range, which starts write-back and makes nothing durable.
    pub ranges: bool,
    /// A stream sets its own I/O priority.
    pub sets_io_class: bool,
    /// Every stream goes through the page cache and leaves its pages there.
    pub keeps_pages: bool,
    /// Every stream that reads opens its files with the advice that they are read at random places.
    pub advises_random: bool,
    /// A step before the phase drops files from the page cache.
    pub made_cold: bool,
    /// Number of workers with io_uring's submission polling.
    pub polling_rings: u64,
}

/// All known facts about one repetition.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The phase it belongs to.
    pub phase: &'a Phase,
    /// The measurement.
    pub repetition: &'a Repetition,
    /// Properties of the workload.
    pub workload: &'a WorkloadTraits,
    /// The environment document of the run.
    pub environment: &'a Value,
    /// Attributes of the phase's files.
    pub attributes: Attributes,
    /// What took pages from the machine's page cache meanwhile, if the kernel reports it.
    pub evictions: Option<Evictions>,
    /// What the machine read from swap meanwhile; `None`: the kernel does not count it.
    pub swapped_in_bytes: Option<u64>,
    /// The file behind a loop device that grew most meanwhile, if one did.
    pub image_growth: Option<&'a ImageGrowth>,
    /// Bytes of the files that shared their blocks with other files before the phase, and no longer; 0 if that is not known.
    pub unshared_bytes: u64,
    /// CPU time that all programs and the kernel used on the processors that this program may use, ns.
    pub allowed_busy_ns: Option<u64>,
    /// Calls joined with requests, if calls were recorded.
    pub joined: Option<&'a Joined>,
    /// The fragments of the files, if calls were recorded.
    pub pieces: Option<Pieces>,
}

impl<'a> Facts<'a> {
    /// The block-layer events, if none were lost.
    pub(super) fn block(&self) -> Option<&'a BlockLayer> {
        self.repetition.block.as_ref().filter(|b| b.lost == 0)
    }

    /// The device of the file system, if it is a single one.
    pub(super) fn device(&self) -> Option<&'a DeviceActivity> {
        self.block()?;
        self.device_at_least()
    }

    /// As `device`, but also if events were lost: its counts, bytes and times are then lower bounds.
    pub(super) fn device_at_least(&self) -> Option<&'a DeviceActivity> {
        let physical = &self.repetition.physical;
        let devices = &self.repetition.block.as_ref()?.devices;
        let mut tops = devices.iter().filter(|d| d.level == 0 && !physical.is_journal(&d.name));
        let first = tops.next()?;
        tops.next().is_none().then_some(first)
    }

    /// Requests of a class at that device, if there were any.
    pub(super) fn class(&self, class: RequestClass) -> Option<&'a RequestStats> {
        self.device()?.class(class).filter(|c| c.issued > 0)
    }

    /// As `class`, but also if events were lost: its counts and bytes are then lower bounds.
    pub(super) fn class_at_least(&self, class: RequestClass) -> Option<&'a RequestStats> {
        self.device_at_least()?.class(class).filter(|c| c.issued > 0)
    }

    /// Prefix of a figure in a sentence: marks a lower bound if events were lost.
    pub(super) fn at_least(&self) -> &'static str {
        match &self.repetition.block {
            Some(block) if block.lost > 0 => "at least ",
            _ => "",
        }
    }

    /// Whether the phase causes requests of a class at all.
    pub(super) fn asks_for(&self, class: RequestClass) -> bool {
        match class {
            RequestClass::Read => self.phase.reads,
            RequestClass::Write => self.phase.writes,
            _ => true,
        }
    }

    /// Whether the device's requests were for this phase: it had requests of the kind the phase causes, and at most a few by other
    /// programs, in number and in bytes. A device without known issuers is accepted.
    pub(super) fn requests_are_ours(&self) -> bool {
        let Some(device) = self.device().filter(|d| !d.issuers.is_empty()) else { return true };
        let [reads, writes] = match (self.phase.reads, self.phase.writes) {
            (false, false) => [true, true],
            asked => asked.into(),
        };
        let asked = |i: &Issuer| u64::from(reads) * i.reads + u64::from(writes) * i.writes;
        let all = |i: &Issuer| i.reads + i.writes;
        let bytes = |i: &Issuer| i.read_bytes.saturating_add(i.write_bytes);
        let others = |of: fn(&Issuer) -> u64| {
            let theirs = device.issuers.iter().filter(|i| i.kind == IssuerKind::Other);
            let (theirs, everybody) =
                (theirs.map(of).sum::<u64>(), device.issuers.iter().map(of).sum::<u64>());
            theirs as f64 <= MOST_OTHERS * everybody as f64
        };
        // The disk was watched for a partition: the kernel's threads write to the other partitions, too.
        let counted = self.repetition.physical.devices.first();
        let outside = counted.is_some_and(|part| {
            let all: u64 = device.issuers.iter().map(bytes).sum();
            let inside = part.read_bytes.saturating_add(part.write_bytes);
            part.kind == "partition" && all as f64 > (1.0 + MOST_OTHERS) * inside as f64 + OUTSIDE_BYTES
        });
        if outside {
            return false;
        }
        // Write-back may include other programs' data.
        let written_back = crate::foreign::of(self.repetition).is_none_or(|f| f.share() <= MOST_OTHERS);
        let some = device.issuers.iter().filter(|i| i.kind != IssuerKind::Other).any(|i| asked(i) > 0);
        some && others(all) && others(bytes) && written_back
    }

    /// Number of counted calls of a kind, and the bytes they moved.
    pub(super) fn calls(&self, op: OpKind) -> (u64, u64) {
        let stats = self.repetition.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == op);
        stats.fold((0, 0), |sum, s| (sum.0 + s.ops, sum.1 + s.bytes))
    }

    /// Mean number of processors used by the workers.
    pub(super) fn processors_used(&self) -> f64 {
        self.processors_used_by(&self.repetition.workers)
    }

    /// Mean number of processors used by some of the workers.
    pub(super) fn processors_used_by<'w>(&self, workers: impl IntoIterator<Item = &'w Worker>) -> f64 {
        let used = |w: &Worker| w.cpu_user_ns.saturating_add(w.cpu_system_ns) as f64;
        workers.into_iter().map(used).sum::<f64>() / self.repetition.elapsed_ns.max(1) as f64
    }

    /// Share of their time that the workers computed in the kernel.
    pub(super) fn kernel_share(&self) -> f64 {
        let computed = self.repetition.workers.iter().map(|w| w.cpu_system_ns as f64).sum::<f64>();
        (computed / self.workers_ns().max(1.0)).min(1.0)
    }

    /// Mean number of processors used by kernel threads and other programs.
    pub(super) fn processors_used_by_others(&self) -> Option<f64> {
        let machine = self.repetition.physical.machine_cpu_ns? as f64;
        let elapsed = self.repetition.elapsed_ns.max(1) as f64;
        Some((machine / elapsed - self.processors_used()).max(0.0))
    }

    /// As [`Self::processors_used_by_others`], of the processors that this program may use. A lower bound if the kernel's counters of
    /// each processor are missing.
    pub(super) fn allowed_processors_used_by_others(&self) -> Option<f64> {
        let elapsed = self.repetition.elapsed_ns.max(1) as f64;
        match self.allowed_busy_ns {
            Some(busy) => Some((busy as f64 / elapsed - self.processors_used()).max(0.0)),
            None => Some((self.processors_used_by_others()? - self.processors_forbidden()).max(0.0)),
        }
    }

    /// Processors the workers could use: one each, limited to those this program may use.
    pub(super) fn processors_wanted(&self) -> f64 {
        let workers = self.repetition.workers.len() as f64;
        let usable = self.processors_allowed().or(self.processors_online());
        usable.map_or(workers, |usable| usable.min(workers))
    }

    /// Processors of the machine.
    pub(super) fn processors_online(&self) -> Option<f64> {
        self.environment.pointer("/cpu/online").and_then(Value::as_f64)
    }

    /// Processors that this program may use.
    pub(super) fn processors_allowed(&self) -> Option<f64> {
        let allowed = self.environment.pointer("/cpu/allowed").and_then(Value::as_f64)?;
        // Offline ones may be allowed, too.
        Some(self.processors_online().map_or(allowed, |online| allowed.min(online)))
    }

    /// Processors of the machine that this program may not use.
    pub(super) fn processors_forbidden(&self) -> f64 {
        let both = self.processors_online().zip(self.processors_allowed());
        both.map_or(0.0, |(online, allowed)| (online - allowed).max(0.0))
    }

    /// Share of their time that the workers were runnable without a processor; `None` if the kernel does not report it.
    pub(super) fn processor_wait_share(&self) -> Option<f64> {
        processor_wait_share_of(&self.repetition.workers)
    }

    /// Share of their time that the workers' own requests were queued or at the device; 0 if a worker has several in flight, as it does
    /// not wait for each then.
    pub(super) fn device_wait_share(&self) -> f64 {
        let in_turn = self.phase.axes.queue_depth.is_none_or(|depth| depth == 1);
        let Some(device) = self.device().filter(|_| in_turn) else { return 0.0 };
        let own = device.issuers.iter().filter(|i| i.kind == IssuerKind::Own);
        let (reads, writes) = own.fold((0, 0), |(r, w), i| (r + i.reads, w + i.writes));
        let of_class = |(class, own): (RequestClass, u64)| {
            let stats = device.class(class)?;
            let mean_ns = stats.d2c.mean_ns()? + stats.q2d.mean_ns().unwrap_or(0.0);
            Some(mean_ns * own as f64)
        };
        let waited_ns: f64 = [(RequestClass::Read, reads), (RequestClass::Write, writes)]
            .into_iter()
            .filter_map(of_class)
            .sum();
        (waited_ns / self.workers_ns().max(1.0)).min(1.0)
    }

    /// Total size of the phase's files; `None` if it was not determined.
    pub(super) fn files_bytes(&self) -> Option<u64> {
        let of_axes =
            self.phase.axes.file_bytes.map(|b| b.saturating_mul(self.phase.axes.streams.unwrap_or(1)));
        let residency = [&self.repetition.resident_before, &self.repetition.resident_after];
        let pages = residency.into_iter().flatten().map(|r| r.total_pages).max();
        of_axes.or(pages.map(|pages| pages.saturating_mul(page_bytes())))
    }

    /// Operations that the workload keeps in flight.
    pub(super) fn kept_in_flight(&self) -> u64 {
        self.phase.axes.queue_depth.unwrap_or(1).saturating_mul(self.repetition.workers.len() as u64)
    }

    /// Bytes by which the files grew.
    pub(super) fn grown_bytes(&self) -> Option<u64> {
        let pages = |r: Option<fathom_record::Residency>| r.map(|r| r.total_pages);
        let (before, after) =
            (pages(self.repetition.resident_before)?, pages(self.repetition.resident_after)?);
        Some(after.saturating_sub(before).saturating_mul(page_bytes()))
    }

    /// Whether writes may have needed new blocks, as far as that is known.
    pub(super) fn allocates(&self) -> bool {
        let holes = self.repetition.extents.is_none_or(|e| e.hole_bytes > 0 || e.bytes == 0);
        holes || self.grown_bytes().is_none_or(|bytes| bytes > 0)
    }

    /// Time of all workers, ns.
    pub(super) fn workers_ns(&self) -> f64 {
        self.repetition.elapsed_ns as f64 * self.repetition.workers.len() as f64
    }

    /// Whether every stream has a rate or pauses, and no worker was late for long.
    pub(super) fn keeps_its_pace(&self) -> bool {
        let late = |w: &Worker| w.behind_ns > w.elapsed_ns / 10;
        self.workload.all_paced && !self.repetition.workers.iter().any(late)
    }

    /// Whether the workload frequently waits for the device itself: O_SYNC, or a sync for at least every second write.
    pub(super) fn syncs_often(&self) -> bool {
        self.workload.synced || self.calls(OpKind::Sync).0.saturating_mul(2) >= self.calls(OpKind::Write).0
    }

    /// The environment's entry of a device.
    pub(super) fn described(&self, name: &str) -> Option<&'a Value> {
        let devices = self.environment.get("devices")?.as_array()?;
        devices.iter().find(|d| d.get("name").and_then(Value::as_str) == Some(name))
    }

    /// The devices that another lies on.
    pub(super) fn all_below(&self, device: &DeviceActivity) -> impl Iterator<Item = &'a DeviceActivity> {
        let names = self.names_below(&device.name);
        let watched = self.block().into_iter().flat_map(|block| &block.devices);
        watched.filter(move |d| names.contains(&d.name.as_str()))
    }

    /// The names of the devices that carry another. For a partition its disk is listed: only that is watched.
    fn names_below(&self, name: &str) -> Vec<&'a str> {
        let text = |entry: &'a Value, key: &str| entry.get(key).and_then(Value::as_str);
        let devices = self.environment.get("devices").and_then(Value::as_array);
        let below = devices.into_iter().flatten().filter(|d| text(d, "above") == Some(name));
        let whole = below.filter_map(|d| {
            let name = text(d, "name")?;
            Some(if text(d, "kind") == Some("partition") { self.names_below(name) } else { vec![name] })
        });
        whole.flatten().collect()
    }

    /// Bytes that the members of a RAID moved for it. What other programs and other arrays move on the same disks is not its own, nor
    /// is a resync.
    pub(super) fn moved_by_members(&self, raid: &DeviceActivity, class: RequestClass) -> u64 {
        let own = format!("{}_raid", raid.name);
        let others = |i: &&Issuer| {
            let array = i.name.starts_with("md") && i.name.contains('_') && !i.name.starts_with(&own);
            i.kind == IssuerKind::Other || array
        };
        let bytes = |i: &Issuer| if class == RequestClass::Write { i.write_bytes } else { i.read_bytes };
        let all: u64 = self.all_below(raid).filter_map(|d| d.class(class)).map(|c| c.issued_bytes).sum();
        all.saturating_sub(self.all_below(raid).flat_map(|d| &d.issuers).filter(others).map(bytes).sum())
    }

    /// The device that carries another, if it is a single one.
    pub(super) fn below(&self, device: &DeviceActivity) -> Option<&'a DeviceActivity> {
        let mut all = self.all_below(device);
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }

    /// A device and those that carry it, one below the other, as far as requests to one wait for the next: not below a loop device that
    /// uses the page cache.
    pub(super) fn carriers(&self, device: &'a DeviceActivity) -> impl Iterator<Item = &'a DeviceActivity> {
        let cached = |d: &DeviceActivity| {
            let entry = self.described(&d.name);
            let is_loop = entry.and_then(|e| e.get("kind")?.as_str()) == Some("loop");
            let direct = entry.and_then(|e| e.get("direct_io")?.as_bool());
            direct == Some(false) || is_loop && direct.is_none()
        };
        std::iter::successors(Some(device), move |d| if cached(d) { None } else { self.below(d) })
    }

    /// Bytes per call of a kind, if all calls had the same size.
    pub(super) fn record_bytes(&self, op: OpKind) -> Option<u64> {
        let (ops, bytes) = self.calls(op);
        let size = bytes.checked_div(ops)?;
        (size > 0 && size * ops == bytes).then_some(size)
    }
}

/// Share of their time that some workers were runnable without a processor; `None` if the kernel does not report it.
pub(super) fn processor_wait_share_of<'w>(
    workers: impl IntoIterator<Item = &'w Worker> + Clone,
) -> Option<f64> {
    let waited = |w: &Worker| w.thread_counts?.processor_wait_ns;
    let all: u64 = workers.clone().into_iter().map(waited).sum::<Option<u64>>()?;
    let elapsed: u64 = workers.into_iter().map(|w| w.elapsed_ns).sum();
    (elapsed > 0).then(|| (all as f64 / elapsed as f64).min(1.0))
}

/// "4 KiB", "1.5 MiB", "512 B": sizes of requests and calls.
pub(super) fn size(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, "B");
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    let whole = (value - value.round()).abs() < 0.005 || value >= 99.95;
    if whole { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// "3.1 x", "12 x".
pub(super) fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1} x") } else { format!("{ratio:.0} x") }
}

/// A mean with two digits, for use in sentences.
pub(super) fn mean(value: f64) -> String {
    if (value - value.round()).abs() < 0.005 { format!("{value:.0}") } else { format!("{value:.2}") }
}
