//! Counts requests in the kernel by BPF programs, so that no event has to be copied and read. `cargo xtask bpf` compiles
//! `requests.bpf.c` to `requests.bpf.o`, which is loaded here. The loader finds the fields of the kernel's structures through BTF, so
//! one object serves all kernels since Linux 5.16.
//!
//! * [`Programs`]: loaded and attached for some devices, as long as it lives.
//! * [`Counting`]: counts one phase and returns a [`fathom_record::BlockLayer`].
//! * `mapped`: one array of the programs in our memory. `maps`: all of them as plain figures. `layer`: those as a record.
//!   `issuers`: which tasks the requests came from. `skipping`: kernels that do not always run the programs.
//!
//! Bio-based devices (device mapper, md, zram) and the time in the queue are left to the trace events, see [`super::Watch`].
//!
//! The kernel does not enter a program that the same CPU is already running, which happens when a completion interrupts another one.
//! It counts those, and they are added to what was lost.

mod counting;
mod issuers;
mod layer;
mod mapped;
mod maps;
mod skipping;

pub use counting::Counting;
pub(crate) use mapped::Mapped;
pub use skipping::{SKIPPING, skips_programs};

use super::devices::Watched;
use super::error::WatchError;
use crate::files::{KernelFiles, Live};
use aya::programs::{BtfTracePoint, Program, ProgramError};
use aya::{Btf, Ebpf, EbpfLoader};
use fathom_record::block::{BlockEvent, measured_threads_name};
use maps::{CLASSES, MAX_DEVICES, Maps, Slots};
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// What `requests.bpf.c` was compiled to.
static OBJECT: &[u8] = aya::include_bytes_aligned!("requests.bpf.o");

/// The programs and where they are attached.
const POINTS: [(&str, &str); 6] = [
    ("inserted", "block_rq_insert"),
    ("merged", "block_rq_merge"),
    ("issued", "block_rq_issue"),
    ("requeued", "block_rq_requeue"),
    ("completed", "block_rq_complete"),
    ("arrived", "block_bio_queue"),
];

/// Maximum number of slots per device; they take 19 MB.
const MOST_SLOTS: u32 = 1 << 18;
/// Each device takes 0.3 MB of the kernel's memory on each processor that the machine may have.
const MOST_PROCESSORS_TIMES_DEVICES: usize = 256;
/// Fewest slots of a hardware queue: its depth may be raised while we watch.
const LEAST_SLOTS: u32 = 1024;

/// The programs, loaded and attached. They do nothing until a [`Counting`] starts, and are gone when this is dropped.
pub struct Programs {
    ebpf: Ebpf,
    maps: Maps,
    devices: Vec<Watched>,
    /// The number of the last watch.
    watch: u32,
}

impl Programs {
    /// Whether they can count what these devices are asked for.
    #[must_use]
    pub fn can_count(devices: &[Watched]) -> bool {
        devices.len() <= MAX_DEVICES && devices.iter().all(|d| !d.bio_based)
    }

    /// Loads and attaches them for these devices. Takes some 50 ms.
    pub fn load(devices: &[Watched]) -> Result<Self, WatchError> {
        if devices.is_empty() {
            return Err(WatchError::NoDevice);
        }
        if !Self::can_count(devices) {
            return Err(WatchError::Programs("they count up to 8 devices that have requests".into()));
        }
        let processors = aya::util::nr_cpus().map_err(|(_, why)| WatchError::Programs(why.to_string()))?;
        if processors * devices.len() > MOST_PROCESSORS_TIMES_DEVICES {
            return Err(WatchError::Programs(format!(
                "counters for {processors} processors and {} devices would take more than 75 MB",
                devices.len()
            )));
        }
        let slots = slots(&Live, devices);
        let all_slots = slots.iter().map(|s| s.all).sum();
        let failed = |why: &dyn std::fmt::Display| WatchError::Programs(why.to_string());
        let btf = Btf::from_sys_fs().map_err(|why| failed(&why))?;
        let mut loader = EbpfLoader::new();
        loader.btf(Some(&btf));
        for (map, entries) in maps::entries(processors, devices.len(), all_slots) {
            loader.map_max_entries(map, entries);
        }
        let mut ebpf = loader.load(OBJECT).map_err(|why| failed(&why))?;
        for (program, point) in POINTS {
            let program: &mut BtfTracePoint = ebpf
                .program_mut(program)
                .ok_or_else(|| failed(&format!("the object has no program `{program}`")))?
                .try_into()
                .map_err(|why| failed(&why))?;
            attach(program, point, &btf).map_err(|why| failed(&why))?;
        }
        let numbered: Vec<(u32, Slots)> =
            devices.iter().zip(slots).map(|(d, slots)| (d.number.to_kernel(), slots)).collect();
        let workers = BlockEvent::task_of(&measured_threads_name(std::process::id()));
        let maps = Maps::take(&mut ebpf, processors, &numbered, workers)?;
        Ok(Self { ebpf, maps, devices: devices.to_vec(), watch: 0 })
    }

    /// The devices they count on.
    #[must_use]
    pub fn devices(&self) -> &[Watched] {
        &self.devices
    }

    /// How often the kernel did not enter one of the programs because the CPU was in it.
    fn missed(&self) -> u64 {
        let of = |program: &Program| {
            let fd = program.fd().ok()?.as_raw_fd_number();
            let text = Live.read(Path::new(&format!("/proc/self/fdinfo/{fd}"))).ok()?;
            text.lines().find_map(|l| l.strip_prefix("recursion_misses:")?.trim().parse::<u64>().ok())
        };
        self.ebpf.programs().filter_map(|(_, program)| of(program)).sum()
    }
}

/// How often a program is loaded: the kernel gives up checking it when a signal arrives.
const TRIES: usize = 20;

/// Loads a program and attaches it to a trace point.
pub(crate) fn attach(program: &mut BtfTracePoint, point: &str, btf: &Btf) -> Result<(), String> {
    let mut tries = 1;
    while let Err(why) = program.load(point, btf) {
        // The kernel's log of its check, which the error has, too, is long.
        let ProgramError::LoadError { io_error, .. } = why else { return Err(why.to_string()) };
        if io_error.raw_os_error() != Some(libc::EAGAIN) || tries == TRIES {
            return Err(format!("the kernel refuses the program: {io_error}"));
        }
        tries += 1;
    }
    program.attach().map(drop).map_err(|why| why.to_string())
}

/// The number of a program's descriptor.
trait Descriptor {
    fn as_raw_fd_number(&self) -> i32;
}

impl Descriptor for aya::programs::ProgramFd {
    fn as_raw_fd_number(&self) -> i32 {
        use std::os::fd::AsFd as _;
        self.as_fd().as_raw_fd()
    }
}

impl std::fmt::Debug for Programs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Programs").field("devices", &self.devices).finish_non_exhaustive()
    }
}

/// A slot for each tag of each device: per hardware queue, the larger of its depth and the scheduler's.
fn slots(files: &dyn KernelFiles, devices: &[Watched]) -> Vec<Slots> {
    let mut first = 0;
    let one = |device: &Watched| {
        let sys = crate::device::sys_of(files, (device.number.major, device.number.minor));
        let number = |path: &Path| files.trimmed(path).and_then(|t| t.parse::<u32>().ok());
        let queues = files.list(&sys.join("mq")).unwrap_or_default();
        let deepest = queues.iter().filter_map(|q| number(&sys.join("mq").join(q).join("nr_tags"))).max();
        let depth = deepest.max(number(&sys.join("queue/nr_requests"))).unwrap_or(0).max(LEAST_SLOTS);
        let of_queue = depth.min(1 << 16).next_power_of_two();
        let queues = u32::try_from(queues.len()).unwrap_or(1).clamp(1, 1 << 10).next_power_of_two();
        let slots = Slots { first, of_queue, all: of_queue.saturating_mul(queues).min(MOST_SLOTS) };
        first += slots.all;
        slots
    };
    devices.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use fathom_record::block::DeviceNumber;

    #[test]
    fn the_object_was_made_of_this_source() {
        let source = include_str!("requests.bpf.c");
        let of = include_str!("requests.bpf.sha256").trim();
        assert_eq!(crate::sha256::hex(source), of, "run `cargo xtask bpf` to rebuild the object");
    }

    #[test]
    fn a_device_has_a_slot_for_every_tag() {
        let disk = |minor| Watched::of_number(DeviceNumber { major: 8, minor }, false);
        let unknown = slots(&Fake::new(), &[disk(0), disk(16)]);
        let one = |first| Slots { first, of_queue: 1024, all: 1024 };
        assert_eq!(unknown, [one(0), one(1024)]);
        let fake = Fake::new()
            .file("/sys/dev/block/8:0/mq/0/nr_tags", "255")
            .file("/sys/dev/block/8:0/mq/1/nr_tags", "255")
            .file("/sys/dev/block/8:0/mq/2/nr_tags", "255")
            .file("/sys/dev/block/8:0/queue/nr_requests", "1500");
        let known = slots(&fake, &[disk(0), disk(16)]);
        assert_eq!(known, [Slots { first: 0, of_queue: 2048, all: 8192 }, one(8192)]);
    }
}
