//! Block events of a real loop device compared with the device's own counters: nothing missing, nothing twice, and the right issuer.
//! Needs root and tracefs; otherwise skipped by name.

use fathom_observe::block::rows::{Counted, reading};
use fathom_observe::block::{Detail, Instance, Watch, WatchError, WatchResult, Watched, Who};
use fathom_record::block::{BlockAction, BlockEvent, BlockInterval, DeviceNumber, IssuerKind, RequestFlags};
use fathom_testkit::{LoopFs, need_root, skip};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

const BLOCK: usize = 4096;

/// The events in the order they were delivered.
type Told = Vec<(BlockEvent, Who)>;

struct Keep(Told);

impl fathom_observe::block::Sink for Keep {
    fn event(&mut self, event: &BlockEvent, who: &Who) {
        self.0.push((*event, *who));
    }
}

/// A block of memory that O_DIRECT accepts.
#[repr(align(4096))]
struct Aligned([u8; BLOCK]);

/// A private loop device with a file on it, and the instance that watches it.
pub(crate) struct Bench {
    pub(crate) instance: Instance,
    pub(crate) device: Watched,
    pub(crate) file: PathBuf,
    pub(crate) fs: LoopFs,
}

/// An instance; or records a skip with the reason.
fn instance(test: &str) -> Option<Instance> {
    if !need_root(test) {
        return None;
    }
    match Instance::new() {
        Ok(instance) => Some(instance),
        Err(e @ (WatchError::NotMounted | WatchError::NotAllowed(_) | WatchError::NoEvent { .. })) => {
            skip(test, &e.to_string());
            None
        }
        Err(e) => panic!("{e}"),
    }
}

impl Bench {
    pub(crate) fn new(test: &str, blocks: usize) -> Option<Self> {
        let instance = instance(test)?;
        let fs = LoopFs::ext4(test).mount()?;
        let name = fs.device().file_name()?.to_str()?.to_string();
        let device = Watched::of_name(&name).expect("our loop device");
        let file = fs.path().join("file");
        std::fs::write(&file, vec![7; blocks * BLOCK]).expect("room");
        let bench = Self { instance, device, file, fs };
        bench.settle();
        Some(bench)
    }

    /// Waits until everything is written and nothing is in flight, including work that mkfs deferred.
    pub(crate) fn settle(&self) {
        let root = File::open(self.fs.path()).expect("our mount");
        for _ in 0..100 {
            // SAFETY: an open descriptor.
            unsafe { libc::syncfs(root.as_raw_fd()) };
            let before = self.counted();
            std::thread::sleep(Duration::from_millis(60));
            if self.counted() == before {
                return;
            }
        }
        panic!("the loop device never came to rest");
    }

    pub(crate) fn counted(&self) -> Counted {
        reading(self.device.number).expect("counters")
    }

    fn watch(&self, detail: Detail) -> Watch<Keep> {
        Watch::start(&self.instance, std::slice::from_ref(&self.device), detail, 0, Keep(Vec::new()))
            .expect("watching")
    }

    /// Events and device counters while `work` runs.
    fn watched(&self, detail: Detail, work: impl FnOnce()) -> (WatchResult<Keep>, BlockInterval) {
        let before = self.counted();
        let watch = self.watch(detail);
        work();
        let taken = watch.stop().expect("events");
        assert_eq!(taken.lost, 0, "{:?}", taken.notes);
        // A concurrent test attaches a loop device with losetup, which examines all loop devices and exits.
        let of_losetup = |note: &&String| note.contains("ended before it could be identified");
        assert_eq!(taken.notes.iter().filter(|note| !of_losetup(note)).collect::<Vec<_>>(), [""; 0]);
        let told = &taken.sink.0;
        assert_eq!(taken.events, told.len() as u64);
        assert!(told.is_sorted_by_key(|(e, _)| e.time_ns), "in the order of time");
        assert!(told.iter().all(|(e, _)| e.device == self.device.number));
        assert!(told.iter().all(|(e, _)| (taken.started_ns..=taken.stopped_ns).contains(&e.time_ns)));
        (taken, before.row(&self.counted(), 0, 0, 0))
    }

    pub(crate) fn forget_cache(&self) {
        let file = File::open(&self.file).expect("our file");
        // SAFETY: an open descriptor.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    }
}

pub(crate) fn read_direct(file: &Path, blocks: impl Iterator<Item = u64>) {
    // Avoids access times, which the journal would have to write.
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_DIRECT | libc::O_NOATIME)
        .open(file)
        .expect("O_DIRECT");
    let mut buffer = Box::new(Aligned([0; BLOCK]));
    for block in blocks {
        file.read_exact_at(&mut buffer.0, block * BLOCK as u64).expect("a block");
    }
}

fn of(told: &Told, action: BlockAction, wanted: RequestFlags) -> Vec<&(BlockEvent, Who)> {
    told.iter().filter(|(e, _)| e.action == action && e.flags.has(wanted)).collect()
}

fn bytes(events: &[&(BlockEvent, Who)]) -> u64 {
    events.iter().map(|(e, _)| e.bytes()).sum()
}

#[test]
fn direct_reads_are_counted_exactly_and_are_ours() {
    let Some(bench) = Bench::new("direct_reads_are_counted_exactly_and_are_ours", 256) else { return };
    // Two phases on one instance: the second must not see the first.
    for round in 1..=2 {
        let count = 500 * round;
        let (taken, device) = bench.watched(Detail::Requests, || {
            read_direct(&bench.file, (0..count).map(|i| i * 7919 % 256));
        });
        let issued = of(&taken.sink.0, BlockAction::Issue, RequestFlags::READ);
        let completed = of(&taken.sink.0, BlockAction::Complete, RequestFlags::READ);
        assert_eq!((issued.len() as u64, completed.len() as u64, device.reads), (count, count, count));
        assert_eq!((bytes(&issued), bytes(&completed)), (count * 4096, device.read_bytes));
        assert!(issued.iter().all(|(e, who)| e.sectors == 8 && who.kind == IssuerKind::Own));
        assert!(completed.iter().all(|(e, _)| e.error == 0));
    }
}

#[test]
fn buffered_reads_and_synced_writes_agree_with_the_device() {
    let Some(bench) = Bench::new("buffered_reads_and_synced_writes_agree_with_the_device", 4096) else {
        return;
    };
    bench.forget_cache();
    let (taken, device) = bench.watched(Detail::Full, || {
        std::fs::read(&bench.file).expect("readable");
        let mut other = File::create(bench.fs.path().join("other")).expect("room");
        for _ in 0..40 {
            other.write_all(&[1; 3 * BLOCK]).expect("room");
            other.sync_all().expect("synced");
        }
    });
    let told = &taken.sink.0;
    for (direction, requests, moved) in [
        (RequestFlags::READ, device.reads, device.read_bytes),
        (RequestFlags::WRITE, device.writes, device.write_bytes),
    ] {
        // A write with a preceding flush is issued as a write and, when the flush completes, completed once more without data.
        let data = |action| {
            of(told, action, direction).into_iter().filter(|(e, _)| e.sectors > 0).collect::<Vec<_>>()
        };
        let (issued, completed) = (data(BlockAction::Issue), data(BlockAction::Complete));
        assert_eq!((bytes(&issued), bytes(&completed)), (moved, moved), "{direction:?}");
        assert_eq!(issued.len(), completed.len(), "{direction:?}");
        // Whether the device counts such an empty completion as a write depends on how its flushes were combined.
        let empty = of(told, BlockAction::Complete, direction).len() - completed.len();
        let told = issued.len() as u64..=(issued.len() + empty) as u64;
        assert!(told.contains(&requests), "{direction:?}: {requests} by the device, {told:?} by events");
    }
    let flushes =
        told.iter().filter(|(e, _)| e.action == BlockAction::Issue && e.sectors == 0).count() as u64;
    assert!(flushes >= 40, "each fsync flushes the device's cache");
    assert_eq!(flushes, device.flushes);
    // Arriving bios, and the parts of split ones, became requests or were merged.
    let count = |action| of(told, action, RequestFlags::READ).len() as u64;
    let merged = [BlockAction::BackMerge, BlockAction::FrontMerge, BlockAction::RequestMerge]
        .map(count)
        .iter()
        .sum::<u64>();
    assert_eq!(count(BlockAction::Queue) + count(BlockAction::Split) - merged, device.reads);
    assert!(told.iter().any(|(_, who)| who.kind == IssuerKind::Journal), "ext4's journal");
    let ours = of(told, BlockAction::Issue, RequestFlags::READ);
    assert!(ours.iter().all(|(_, who)| who.kind == IssuerKind::Own), "read-ahead is the reader's");
}

/// Restores the scheduler on drop: a loop device keeps it when its file is detached.
pub(crate) struct Scheduler(String, String);

impl Scheduler {
    pub(crate) fn set(device: &str, wanted: &str) -> Option<Self> {
        let file = format!("/sys/block/{device}/queue/scheduler");
        let choice = std::fs::read_to_string(&file).ok()?;
        let before = choice.split(['[', ']']).nth(1)?.to_string();
        std::fs::write(&file, wanted).ok().map(|()| Self(file, before))
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        let _ = std::fs::write(&self.0, &self.1);
    }
}

#[test]
fn a_schedulers_requests_are_those_of_who_asked() {
    let test = "a_schedulers_requests_are_those_of_who_asked";
    let Some(bench) = Bench::new(test, 4096) else { return };
    let Some(_scheduler) = Scheduler::set(&bench.device.name, "mq-deadline") else {
        return skip(test, "this kernel has no mq-deadline");
    };
    bench.settle();
    bench.forget_cache();
    let (taken, device) = bench.watched(Detail::Requests, || {
        std::fs::read(&bench.file).expect("readable");
    });
    let issued = of(&taken.sink.0, BlockAction::Issue, RequestFlags::READ);
    assert_eq!(issued.len() as u64, device.reads);
    assert!(
        issued.iter().all(|(_, who)| who.kind == IssuerKind::Own),
        "{:?}",
        issued.iter().map(|(_, w)| w.name()).collect::<Vec<_>>()
    );
    assert!(!of(&taken.sink.0, BlockAction::Insert, RequestFlags::READ).is_empty());
}

#[test]
fn what_the_measured_threads_queue_is_not_told_and_known_all_the_same() {
    let test = "what_the_measured_threads_queue_is_not_told_and_known_all_the_same";
    let Some(mut bench) = Bench::new(test, 1024) else { return };
    let Some(_scheduler) = Scheduler::set(&bench.device.name, "mq-deadline") else {
        return skip(test, "this kernel has no mq-deadline");
    };
    bench.device = Watched::of_name(&bench.device.name).expect("our loop device");
    assert!(bench.device.scheduled);
    bench.settle();
    let (taken, device) = bench.watched(Detail::Requests, || {
        let mut dd = std::process::Command::new("dd");
        dd.arg(format!("if={}", bench.file.display())).args(["of=/dev/null", "bs=4096", "count=300"]);
        let mut dd = dd.args(["iflag=direct,noatime", "status=none"]).spawn().expect("dd is everywhere");
        let name = fathom_record::block::measured_threads_name(std::process::id());
        let file = bench.file.clone();
        let ours = std::thread::Builder::new().name(name);
        let ours = ours.spawn(move || read_direct(&file, 300..1000)).expect("a thread");
        ours.join().expect("read");
        assert!(dd.wait().expect("our child").success());
    });
    let told = &taken.sink.0;
    let issued = of(told, BlockAction::Issue, RequestFlags::READ);
    assert_eq!(issued.len() as u64, device.reads);
    // dd is our child process: its name identifies its requests, whichever of the two issued them to the driver.
    let dd = issued.iter().filter(|(_, who)| who.name() == "dd").count();
    assert_eq!((dd, issued.len() - dd), (300, 700));
    assert!(issued.iter().all(|(_, who)| who.kind == IssuerKind::Own || who.name() == "dd"));
    let queued = of(told, BlockAction::Insert, RequestFlags::READ);
    assert!(!queued.is_empty() && queued.iter().all(|(_, who)| who.name() == "dd"));
}

#[test]
fn pages_written_back_later_are_the_kernels() {
    let Some(bench) = Bench::new("pages_written_back_later_are_the_kernels", 64) else { return };
    let (taken, device) = bench.watched(Detail::Requests, || {
        std::fs::write(bench.fs.path().join("dirty"), vec![5; 2 << 20]).expect("room");
        let root = File::open(bench.fs.path()).expect("our mount");
        // SAFETY: an open descriptor. The kernel passes the work to its flusher and waits.
        assert_eq!(unsafe { libc::syncfs(root.as_raw_fd()) }, 0);
    });
    let written = of(&taken.sink.0, BlockAction::Issue, RequestFlags::WRITE);
    let issuers: Vec<_> = written.iter().map(|(e, who)| (who.kind, who.name(), e.sectors)).collect();
    let back: Vec<_> = written.iter().copied().filter(|(_, who)| who.kind == IssuerKind::Writeback).collect();
    assert!(bytes(&back) >= 2 << 20, "of {} bytes: {issuers:?}", device.write_bytes);
}

/// A private zram device: the only kind without requests that needs no tools.
struct Zram(u32);

impl Zram {
    fn new(test: &str) -> Option<Self> {
        let made = std::fs::read_to_string("/sys/class/zram-control/hot_add");
        let Some(number) = made.ok().and_then(|n| n.trim().parse().ok()) else {
            skip(test, "needs zram");
            return None;
        };
        let zram = Self(number);
        std::fs::write(format!("/sys/block/zram{number}/disksize"), "16M").expect("a size");
        if File::open(zram.node()).is_err() {
            skip(test, "the device node of the zram device is not there");
            return None;
        }
        Some(zram)
    }

    fn node(&self) -> PathBuf {
        PathBuf::from(format!("/dev/zram{}", self.0))
    }

    fn watched(&self) -> Watched {
        Watched::of_name(&format!("zram{}", self.0)).expect("our device")
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = std::fs::write(format!("/sys/block/zram{}/reset", self.0), "1");
        let _ = std::fs::write("/sys/class/zram-control/hot_remove", self.0.to_string());
    }
}

#[test]
fn a_device_without_requests_tells_its_bios() {
    let test = "a_device_without_requests_tells_its_bios";
    let Some(instance) = instance(test) else { return };
    let Some(zram) = Zram::new(test) else { return };
    let (device, node) = (zram.watched(), zram.node());
    assert!(device.bio_based);
    for detail in [Detail::Requests, Detail::Full] {
        let watch = Watch::start(&instance, std::slice::from_ref(&device), detail, 0, Keep(Vec::new()))
            .expect("watching");
        read_direct(&node, 0..100);
        let taken = watch.stop().expect("events");
        let told = &taken.sink.0;
        let (queued, completed) = (
            of(told, BlockAction::Queue, RequestFlags::READ),
            of(told, BlockAction::BioComplete, RequestFlags::READ),
        );
        assert_eq!((queued.len(), completed.len(), told.len()), (100, 100, 200), "{detail:?}");
        assert!(queued.iter().all(|(e, who)| e.sectors == 8 && who.kind == IssuerKind::Own));
        assert!(
            queued
                .iter()
                .zip(&completed)
                .all(|(q, c)| q.0.sector == c.0.sector && q.0.sectors == c.0.sectors)
        );
    }
}

#[test]
fn what_finds_no_room_is_counted_to_the_last_event() {
    let test = "what_finds_no_room_is_counted_to_the_last_event";
    let Some(instance) = instance(test) else { return };
    // Two events per read and never a third, unlike a request that had to wait for its driver.
    let Some(zram) = Zram::new(test) else { return };
    let (begun, begins) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let seen = Arc::new(AtomicU64::new(0));
    let count = seen.clone();
    // A sink that blocks at the first event, so that the rings are not drained.
    let sink = move |_: &BlockEvent, _: &Who| {
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            let _ = begun.send(());
            let _ = goes_on.recv();
        }
    };
    let watch = Watch::start(&instance, &[zram.watched()], Detail::Requests, 0, sink).expect("watching");
    read_direct(&zram.node(), 0..1);
    begins.recv_timeout(Duration::from_secs(30)).expect("an event");
    // Two events take some 120 bytes, so this exceeds the rings on any number of CPUs.
    let reads = room_kib(&instance) * 1024 / 80;
    read_direct(&zram.node(), (0..reads).map(|i| i % 256));
    go_on.send(()).expect("the sink waits");
    let taken = watch.stop().expect("events");
    let told = seen.load(Ordering::Relaxed);
    assert!(taken.lost > 0, "{told} events were reported");
    assert_eq!((told, told + taken.lost), (taken.events, 2 * (reads + 1)));
    assert!(taken.notes[0].contains(&taken.lost.to_string()), "{:?}", taken.notes);
}

/// Size of all rings together.
fn room_kib(instance: &Instance) -> u64 {
    let size = std::fs::read_to_string(instance.dir().join("buffer_size_kb")).expect("reported");
    let cpus = std::thread::available_parallelism().expect("reported").get() as u64;
    size.trim().parse::<u64>().expect("a number") * cpus
}

#[test]
fn an_instance_goes_with_its_process_and_strangers_stay() {
    let test = "an_instance_goes_with_its_process_and_strangers_stay";
    let Some(first) = instance(test) else { return };
    let instances = first.dir().parent().expect("a directory above").to_path_buf();
    // One left by a killed process, and one of another program.
    let stale = instances.join("fathom-4194399-1-0");
    let strange = instances.join(format!("other-{}", std::process::id()));
    std::fs::create_dir(&stale).expect("an instance");
    std::fs::create_dir(&strange).expect("an instance");
    let second = instance(test).expect("another");
    let (swept, kept) = (!stale.exists(), strange.exists());
    std::fs::remove_dir(&strange).expect("ours to remove");
    assert!(swept && kept);
    let dirs = [first.dir().to_path_buf(), second.dir().to_path_buf()];
    assert!(
        dirs[0] != dirs[1] && dirs.iter().all(|d| d.exists()),
        "one does not sweep the other of the same process"
    );
    drop((first, second));
    assert!(dirs.iter().all(|d| !d.exists()));
}

#[test]
fn one_watch_at_a_time_and_a_dropped_one_ends() {
    let Some(bench) = Bench::new("one_watch_at_a_time_and_a_dropped_one_ends", 16) else { return };
    let devices = std::slice::from_ref(&bench.device);
    let first = bench.watch(Detail::Requests);
    let second = Watch::start(&bench.instance, devices, Detail::Requests, 0, Keep(Vec::new()));
    assert!(matches!(second, Err(WatchError::Busy)));
    assert!(matches!(bench.instance.rest(), Err(WatchError::Busy)));
    drop(first);
    bench.instance.rest().expect("at rest");
    let (taken, device) = bench.watched(Detail::Full, || read_direct(&bench.file, 0..4));
    assert_eq!(
        (of(&taken.sink.0, BlockAction::Issue, RequestFlags::READ).len() as u64, device.reads),
        (4, 4)
    );
    let none = Watch::start(&bench.instance, &[], Detail::Full, 0, Keep(Vec::new()));
    assert!(matches!(none, Err(WatchError::NoDevice)));
    let unknown = Watched::of_number(DeviceNumber { major: 4000, minor: 1 }, false);
    let quiet =
        Watch::start(&bench.instance, &[unknown], Detail::Requests, 0, Keep(Vec::new())).expect("watching");
    read_direct(&bench.file, 0..4);
    assert_eq!(quiet.stop().expect("events").events, 0, "another device's events are not ours");
}
