//! Who issued a request: this process and its children, kernel write-back, a journal, other kernel threads, or other programs.
//!
//! A trace event identifies a thread by its PID and a name of 15 bytes. /proc is read once per thread, while it is alive, to find out
//! whether it is ours: a thread of this process or of a child (engine workers are either), or an io_uring helper, which is a thread of
//! the ring's user. A thread that was gone when first seen is judged by its name.
//!
//! Kernel workers (`kworker/u8:1`) serve one job after another. The current job appears only in /proc/PID/comm (`kworker/u8:1-flush-8:0`)
//! at the time it is read, up to a drain period later. So it is checked against the request itself: see [`kernel_kind`].

use crate::device::sys_of;
use crate::files::{KernelFiles, Live};
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{BlockEvent, DeviceNumber, IssuerKind, RequestFlags, measured_threads_name};
use foldhash::fast::RandomState;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A task's name as events carry it.
type Name = [u8; TASK_NAME_BYTES];

/// Name of the initial PID namespace; the number is fixed (PROC_PID_INIT_INO).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
/// How many generations of parents are followed.
const GENERATIONS: usize = 16;
/// Limit of the PID cache, which is then cleared.
const MOST_TASKS: usize = 1 << 16;

/// Classifies tasks as ours, the kernel's or others'.
#[derive(Debug)]
pub struct OwnTasks<F = Live> {
    files: F,
    me: u32,
    /// Whether /proc uses the PIDs that events carry, those of the initial PID namespace. In a container it does not, and equal numbers
    /// are different tasks.
    same_numbers: bool,
    tasks: HashMap<u32, Task, RandomState>,
    /// Names of our tasks, by which exited ones are recognised.
    names: HashSet<Name>,
    /// Name of the engine's workers in this process.
    workers: Name,
    by_name: u64,
    /// The last task looked up, and its kind if that does not depend on the request: often the next event's task, too.
    last: Option<(u32, Name, IssuerKind)>,
    /// The device that a loop device's worker writes to, bypassing the page cache; by the loop device's minor number.
    loops: HashMap<u32, Option<DeviceNumber>>,
    /// Devices below others (device-mapper, md, btrfs) whose drivers issue their own requests to them.
    below_others: RefCell<HashMap<DeviceNumber, bool>>,
}

#[derive(Clone, Debug)]
struct Task {
    name: Name,
    whose: TaskOwner,
    /// Kernel workers only: the full name as last read.
    work: Option<String>,
    /// Whether the name must be read again.
    stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskOwner {
    Ours,
    Kernels,
    Others,
    /// It was gone when first seen.
    Unknown,
}

impl OwnTasks {
    /// For this process, with the live /proc.
    #[must_use]
    pub fn new() -> Self {
        let space = std::fs::read_link("/proc/self/ns/pid").ok();
        let first = space.is_none_or(|space| space.to_string_lossy() == FIRST_PID_NAMESPACE);
        Self { same_numbers: first, ..Self::with(Live, std::process::id()) }
    }
}

impl Default for OwnTasks {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: KernelFiles> OwnTasks<F> {
    /// For the process `me` of the machine that `files` shows.
    pub fn with(files: F, me: u32) -> Self {
        let own = files.trimmed(Path::new(&format!("/proc/{me}/comm")));
        let names = own.iter().map(|name| BlockEvent::task_of(name)).collect();
        Self {
            files,
            me,
            same_numbers: true,
            tasks: HashMap::default(),
            names,
            workers: BlockEvent::task_of(&measured_threads_name(me)),
            by_name: 0,
            last: None,
            loops: HashMap::new(),
            below_others: RefCell::default(),
        }
    }

    /// Looks up a task while it is likely to be alive. Cheap if it is known.
    #[inline]
    pub fn look(&mut self, pid: u32, name: &Name) {
        if !self.last.is_some_and(|(p, n, _)| p == pid && n == *name) {
            self.look_closer(pid, name);
        }
    }

    fn look_closer(&mut self, pid: u32, name: &Name) {
        let known = self.tasks.get(&pid);
        let changed = |task: &Task| name[0] != 0 && task.name != *name;
        // The name differs: the task renamed itself, or the PID was reused.
        if known.is_none_or(changed) {
            self.meet(pid, name);
        } else if known.is_some_and(|task| task.stale) {
            let work = self.work(pid);
            if let Some(task) = self.tasks.get_mut(&pid) {
                task.stale = false;
                task.work = work.or(task.work.take());
            }
        }
    }

    /// The jobs of kernel workers will be read again at their next event.
    pub fn next_round(&mut self) {
        for task in self.tasks.values_mut() {
            task.stale = task.work.is_some();
        }
    }

    /// Who issued a request of this task.
    #[inline]
    pub fn kind(&mut self, pid: u32, name: &Name, device: DeviceNumber, flags: RequestFlags) -> IssuerKind {
        match self.last {
            Some((p, n, kind)) if p == pid && n == *name => kind,
            _ => self.find_kind(pid, name, device, flags),
        }
    }

    fn find_kind(&mut self, pid: u32, name: &Name, device: DeviceNumber, flags: RequestFlags) -> IssuerKind {
        self.look(pid, name);
        let Some(task) = self.tasks.get(&pid) else { return IssuerKind::Other };
        let fixed = match task.whose {
            TaskOwner::Ours => Some(IssuerKind::Own),
            TaskOwner::Others => Some(IssuerKind::Other),
            TaskOwner::Kernels | TaskOwner::Unknown => None,
        };
        if let Some(kind) = fixed {
            self.last = Some((pid, *name, kind));
            return kind;
        }
        let name = name_text(&task.name);
        match task.whose {
            TaskOwner::Kernels => {
                let job = task.work.as_deref().and_then(job_of);
                let serves = job.is_some_and(|j| match loop_of(j) {
                    Some(minor) => self.loops.get(&minor).copied().flatten() == Some(device),
                    None => serves_others(j) && self.is_below_others(device),
                });
                kernel_kind(&name, job, serves, flags)
            }
            TaskOwner::Unknown if pid == 0 || looks_like_kernel(&name) => {
                kernel_kind(&name, None, false, flags)
            }
            _ => IssuerKind::Other,
        }
    }

    /// Number of tasks that were gone when first seen and were attributed to us by their name.
    #[must_use]
    pub fn by_name(&self) -> u64 {
        self.by_name
    }

    fn meet(&mut self, pid: u32, name: &Name) {
        if self.tasks.len() >= MOST_TASKS {
            self.tasks.clear();
        }
        // No other program uses that name.
        let mut whose = if *name == self.workers { TaskOwner::Ours } else { self.whose(pid) };
        if whose == TaskOwner::Ours {
            self.names.insert(*name);
        } else if whose == TaskOwner::Unknown && self.named_like_ours(name) {
            whose = TaskOwner::Ours;
            self.by_name += 1;
        }
        let worker = whose == TaskOwner::Kernels && name.starts_with(b"kworker/");
        let work = if worker { self.work(pid) } else { None };
        self.tasks.insert(pid, Task { name: *name, whose, work, stale: false });
    }

    fn whose(&self, pid: u32) -> TaskOwner {
        if !self.same_numbers {
            return TaskOwner::Unknown;
        }
        if pid == self.me {
            return TaskOwner::Ours;
        }
        let Some(status) = self.status(pid) else { return TaskOwner::Unknown };
        if status.kernel {
            return TaskOwner::Kernels;
        }
        let (mut process, mut parent) = (status.process, status.parent);
        for _ in 0..GENERATIONS {
            if process == self.me || parent == self.me {
                return TaskOwner::Ours;
            }
            if parent <= 1 {
                break;
            }
            process = parent;
            let Some(above) = self.status(parent) else { break };
            parent = above.parent;
        }
        TaskOwner::Others
    }

    fn status(&self, pid: u32) -> Option<Status> {
        Status::parse(&self.files.read(Path::new(&format!("/proc/{pid}/status"))).ok()?)
    }

    fn work(&mut self, pid: u32) -> Option<String> {
        let work = self.files.trimmed(Path::new(&format!("/proc/{pid}/comm")))?;
        if let Some(minor) = job_of(&work).and_then(loop_of)
            && !self.loops.contains_key(&minor)
        {
            let target = self.loop_target(minor);
            self.loops.insert(minor, target);
        }
        Some(work)
    }

    /// The disk below a loop device that bypasses the page cache; others leave writing to the flushers.
    fn loop_target(&self, minor: u32) -> Option<DeviceNumber> {
        let sys = self.files.canonical(Path::new(&format!("/sys/dev/block/7:{minor}"))).ok()?.join("loop");
        if self.files.trimmed(&sys.join("dio"))? != "1" {
            return None;
        }
        let file = self.files.trimmed(&sys.join("backing_file"))?;
        let (major, minor) = self.files.mount_of(Path::new(&file)).ok()?.device;
        let below = self.files.canonical(Path::new(&format!("/sys/dev/block/{major}:{minor}"))).ok()?;
        let disk =
            if self.files.trimmed(&below.join("partition")).is_some() { below.parent()? } else { &below };
        DeviceNumber::parse(&self.files.trimmed(&disk.join("dev"))?)
    }

    /// Whether a driver or file system that issues requests from its own workers is on top of a device. Looked up once.
    fn is_below_others(&self, device: DeviceNumber) -> bool {
        *self.below_others.borrow_mut().entry(device).or_insert_with(|| self.look_above(device))
    }

    fn look_above(&self, DeviceNumber { major, minor }: DeviceNumber) -> bool {
        let Ok(disk) = self.files.canonical(&sys_of(&self.files, (major, minor))) else {
            // An unknown device may have anything on top of it.
            return true;
        };
        let list = |path: &Path| self.files.list(path).unwrap_or_default();
        let is_part = |name: &String| self.files.read(&disk.join(name).join("partition")).is_ok();
        let parts: Vec<String> = list(&disk).into_iter().filter(is_part).collect();
        let held = |path: &Path| !list(&path.join("holders")).is_empty();
        if held(&disk) || parts.iter().any(|part| held(&disk.join(part))) {
            return true;
        }
        let named = |member: &String| {
            parts.contains(member) || disk.file_name().is_some_and(|name| name == member.as_str())
        };
        let btrfs = Path::new("/sys/fs/btrfs");
        list(btrfs).iter().any(|system| list(&btrfs.join(system).join("devices")).iter().any(named))
    }

    fn named_like_ours(&self, name: &Name) -> bool {
        let text = name_text(name);
        let helper = ["iou-wrk-", "iou-sqp-"].iter().find_map(|p| text.strip_prefix(p)?.parse::<u32>().ok());
        let of_ours =
            |pid| pid == self.me || self.tasks.get(&pid).is_some_and(|t| t.whose == TaskOwner::Ours);
        self.names.contains(name) || helper.is_some_and(of_ours)
    }
}

/// Fields of /proc/PID/status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status {
    process: u32,
    parent: u32,
    kernel: bool,
}

impl Status {
    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|v| v.trim().parse::<u32>().ok())
        };
        let (process, parent) = (field("Tgid")?, field("PPid")?);
        // The line Kthread exists since Linux 6.8; before, kernel threads are recognised by their parent, kthreadd.
        let kernel = field("Kthread").map_or(parent == 2 || process == 2, |k| k == 1);
        Some(Self { process, parent, kernel })
    }
}

/// Whether only kernel threads have such a name.
fn looks_like_kernel(name: &str) -> bool {
    const NAMES: [&str; 8] =
        ["kworker/", "jbd2/", "xfsaild/", "kswapd", "ksoftirqd/", "swapper/", "btrfs-transacti", "kthreadd"];
    NAMES.iter().any(|n| name.starts_with(n))
}

/// Names of threads and work queues that write a journal or a log.
const JOURNALS: [&str; 14] = [
    "jbd2/",
    "kjournald",
    "xfsaild",
    "xfs-log",
    "xfs-cil",
    "xfs-sync",
    "xfs_log",
    "btrfs-transacti",
    "txg_sync",
    "f2fs_ckpt",
    "gfs2_logd",
    "jfsCommit",
    "bcache_journal",
    "reiserfs",
];

/// Names of the write-back threads of kernels without workers (Linux 2.6).
const FLUSHERS: [&str; 3] = ["flush-", "pdflush", "bdi-default"];

/// Classifies a kernel thread by its name; a worker also by the job it was seen at, by whether that job issues its own requests to the
/// device, and by the request.
///
/// Dirty pages are written back by unbound workers (`kworker/u`), which also serve loop devices, encryption and others. A worker's job is
/// read late and may already be a later one. Therefore a write of such a worker counts as write-back unless the job it was seen at could
/// have issued it.
#[must_use]
pub fn kernel_kind(name: &str, job: Option<&str>, serves_device: bool, flags: RequestFlags) -> IssuerKind {
    let begins = |names: &[&str], text: &str| names.iter().any(|n| text.starts_with(n));
    if begins(&JOURNALS, name) {
        return IssuerKind::Journal;
    }
    if begins(&FLUSHERS, name) {
        return IssuerKind::Writeback;
    }
    if !name.starts_with("kworker/") {
        return IssuerKind::Kernel;
    }
    let unbound = name.starts_with("kworker/u");
    let writes = flags.has(RequestFlags::WRITE);
    match job {
        Some(job) if begins(&JOURNALS, job) => IssuerKind::Journal,
        Some(job) if writes && (job.starts_with("flush-") || job == "writeback") => IssuerKind::Writeback,
        _ if unbound && writes && !serves_device => IssuerKind::Writeback,
        _ => IssuerKind::Kernel,
    }
}

/// The job in a worker's full name: "kworker/u8:1+flush-8:0". The sign says whether the job runs now (+) or was the last one (-).
fn job_of(work: &str) -> Option<&str> {
    work.split_once(':')?.1.split_once(['+', '-']).map(|(_, job)| job)
}

/// The loop device a job serves.
fn loop_of(job: &str) -> Option<u32> {
    job.strip_prefix("loop")?.parse().ok()
}

/// Whether a job belongs to a driver that issues requests to lower devices.
fn serves_others(job: &str) -> bool {
    const JOBS: [&str; 9] = ["kcryptd", "kverityd", "dm", "btrfs-", "md", "raid", "nvme", "zfs", "bcache"];
    JOBS.iter().any(|j| job.starts_with(j))
}

fn name_text(name: &Name) -> std::borrow::Cow<'_, str> {
    let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const DISK: DeviceNumber = DeviceNumber { major: 8, minor: 0 };

    fn process(fake: Fake, pid: u32, tgid: u32, parent: u32, name: &str) -> Fake {
        fake.file(&format!("/proc/{pid}/status"), &format!("Name:\t{name}\nTgid:\t{tgid}\nPPid:\t{parent}\n"))
            .file(&format!("/proc/{pid}/comm"), &format!("{name}\n"))
    }

    fn machine() -> Fake {
        let tasks = [
            (2, 2, 0, "kthreadd"),
            (50, 50, 2, "kworker/u8:1-flush-8:0"),
            (51, 51, 2, "jbd2/sda1-8"),
            (52, 52, 2, "kworker/0:1H-kblockd"),
            (100, 100, 1, "fathom"),
            (101, 100, 1, "block-events"),
            (110, 110, 100, "fathom"),
            (111, 110, 100, "iou-wrk-110"),
            (120, 120, 110, "sh"),
            (200, 200, 1, "dd"),
        ];
        tasks
            .into_iter()
            .fold(Fake::new(), |fake, (pid, tgid, parent, name)| process(fake, pid, tgid, parent, name))
    }

    fn kind(tasks: &mut OwnTasks<Fake>, pid: u32, name: &str) -> IssuerKind {
        tasks.kind(pid, &BlockEvent::task_of(name), DISK, RequestFlags::WRITE)
    }

    #[test]
    fn threads_children_and_theirs_are_ours() {
        let mut tasks = OwnTasks::with(machine(), 100);
        for (pid, name) in
            [(100, "fathom"), (101, "block-events"), (110, "fathom"), (111, "iou-wrk-110"), (120, "sh")]
        {
            assert_eq!(kind(&mut tasks, pid, name), IssuerKind::Own, "{name}");
        }
        assert_eq!(kind(&mut tasks, 200, "dd"), IssuerKind::Other);
        assert_eq!(tasks.by_name(), 0);
    }

    #[test]
    fn the_kernels_threads_are_told_apart() {
        let mut tasks = OwnTasks::with(machine(), 100);
        assert_eq!(kind(&mut tasks, 50, "kworker/u8:1"), IssuerKind::Writeback);
        assert_eq!(kind(&mut tasks, 51, "jbd2/sda1-8"), IssuerKind::Journal);
        assert_eq!(kind(&mut tasks, 52, "kworker/0:1H"), IssuerKind::Kernel);
        assert_eq!(kind(&mut tasks, 2, "kthreadd"), IssuerKind::Kernel);
    }

    #[test]
    fn the_dead_are_known_by_their_names() {
        let mut tasks = OwnTasks::with(machine(), 100);
        assert_eq!(kind(&mut tasks, 999, "fathom"), IssuerKind::Own, "as this process is called");
        assert_eq!(kind(&mut tasks, 998, "iou-wrk-100"), IssuerKind::Own);
        assert_eq!(kind(&mut tasks, 997, "iou-wrk-200"), IssuerKind::Other);
        assert_eq!(kind(&mut tasks, 996, "dd"), IssuerKind::Other);
        assert_eq!(kind(&mut tasks, 995, "kworker/u8:7"), IssuerKind::Writeback);
        assert_eq!(kind(&mut tasks, 994, "kworker/1:1H"), IssuerKind::Kernel);
        assert_eq!(kind(&mut tasks, 992, "fathom-100"), IssuerKind::Own, "as only its workers are called");
        assert_eq!(kind(&mut tasks, 991, "fathom-200"), IssuerKind::Other, "workers of another one");
        assert_eq!(tasks.by_name(), 2);
        assert_eq!(kind(&mut tasks, 101, "block-events"), IssuerKind::Own);
        assert_eq!(kind(&mut tasks, 993, "block-events"), IssuerKind::Own, "the name of one of our tasks");
    }

    #[test]
    fn where_numbers_are_not_those_of_the_events_names_decide() {
        let mut tasks = OwnTasks { same_numbers: false, ..OwnTasks::with(machine(), 100) };
        assert_eq!(
            kind(&mut tasks, 100, "kworker/u8:3"),
            IssuerKind::Writeback,
            "not this process, but the host's 100"
        );
        assert_eq!(kind(&mut tasks, 4100, "fathom"), IssuerKind::Own);
        assert_eq!(kind(&mut tasks, 110, "dd"), IssuerKind::Other);
        let mut first = OwnTasks::with(process(machine(), 300, 300, 1, "sh"), 1);
        assert_eq!(kind(&mut first, 300, "sh"), IssuerKind::Own, "a child of a first process");
    }

    #[test]
    fn a_pid_that_comes_again_is_met_again() {
        let mut tasks = OwnTasks::with(machine(), 100);
        assert_eq!(kind(&mut tasks, 120, "sh"), IssuerKind::Own);
        tasks.files = process(machine(), 120, 120, 1, "cron");
        assert_eq!(kind(&mut tasks, 120, "cron"), IssuerKind::Other);
    }

    #[test]
    fn worker_activity_is_read_every_round() {
        let mut tasks = OwnTasks::with(machine(), 100);
        assert_eq!(kind(&mut tasks, 50, "kworker/u8:1"), IssuerKind::Writeback);
        tasks.files = process(machine(), 50, 50, 2, "kworker/u8:1+kcryptd/252:0");
        assert_eq!(kind(&mut tasks, 50, "kworker/u8:1"), IssuerKind::Writeback, "once per round");
        tasks.next_round();
        assert_eq!(kind(&mut tasks, 50, "kworker/u8:1"), IssuerKind::Kernel);
    }

    #[test]
    fn a_worker_is_judged_by_job_and_request() {
        let (read, write) = (RequestFlags::READ, RequestFlags::WRITE);
        let unbound = "kworker/u8:1";
        let cases = [
            (unbound, Some("flush-8:0"), false, write, IssuerKind::Writeback),
            (unbound, Some("flush-btrfs-1"), false, write, IssuerKind::Writeback),
            (unbound, Some("flush-8:0"), false, read, IssuerKind::Kernel),
            (unbound, Some("events_unbound"), false, write, IssuerKind::Writeback),
            (unbound, Some("loop3"), true, write, IssuerKind::Kernel),
            (unbound, Some("loop3"), false, write, IssuerKind::Writeback),
            (unbound, None, false, write, IssuerKind::Writeback),
            (unbound, None, false, read, IssuerKind::Kernel),
            ("kworker/0:2", Some("xfs-cil/sda1"), false, write, IssuerKind::Journal),
            ("kworker/0:2", Some("events"), false, write, IssuerKind::Kernel),
            ("kworker/0:1H", Some("kblockd"), false, write, IssuerKind::Kernel),
            ("xfsaild/sda1", None, false, write, IssuerKind::Journal),
            ("flush-8:0", None, false, write, IssuerKind::Writeback),
            ("loop3", None, false, write, IssuerKind::Kernel),
            ("kswapd0", None, false, write, IssuerKind::Kernel),
        ];
        for (name, job, serves, flags, wanted) in cases {
            assert_eq!(kernel_kind(name, job, serves, flags), wanted, "{name} {job:?} {serves} {flags:?}");
        }
        assert_eq!(job_of("kworker/u8:1-flush-8:0"), Some("flush-8:0"));
        assert_eq!(job_of("kworker/0:1H-kblockd"), Some("kblockd"));
        assert_eq!((job_of("kworker/u8:1"), job_of("dd")), (None, None));
    }

    #[test]
    fn a_loop_devices_worker_writes_itself_only_past_the_page_cache() {
        let with = |dio: &str| {
            let fake = process(machine(), 50, 50, 2, "kworker/u8:1-loop3")
                .disk("ata1", "sda", (8, 0))
                .partition("ata1", "sda", "sda1", (8, 1))
                .disk("virtual", "loop3", (7, 3))
                .file("/sys/devices/virtual/block/loop3/loop/dio", dio)
                .file("/sys/devices/virtual/block/loop3/loop/backing_file", "/images/a\n")
                .on_mount("/images", 30, (8, 1));
            OwnTasks::with(fake, 100)
        };
        assert_eq!(kind(&mut with("1\n"), 50, "kworker/u8:1"), IssuerKind::Kernel, "sda is below it");
        assert_eq!(kind(&mut with("0\n"), 50, "kworker/u8:1"), IssuerKind::Writeback);
        let loop3 = DeviceNumber { major: 7, minor: 3 };
        let own = with("1\n").kind(50, &BlockEvent::task_of("kworker/u8:1"), loop3, RequestFlags::WRITE);
        assert_eq!(own, IssuerKind::Writeback, "it never writes to itself");
    }

    #[test]
    fn a_worker_of_another_device_seen_late_does_not_take_its_writeback_away() {
        let job = |fake: Fake| {
            let fake = process(fake, 50, 50, 2, "kworker/u8:1-btrfs-endio-write");
            kind(&mut OwnTasks::with(fake, 100), 50, "kworker/u8:1")
        };
        let disk = || machine().disk("ata1", "sda", (8, 0)).partition("ata1", "sda", "sda1", (8, 1));
        assert_eq!(job(machine()), IssuerKind::Kernel, "nothing is known of the device");
        assert_eq!(job(disk()), IssuerKind::Writeback, "nothing stands on it");
        let member = |name: &str| disk().file(&format!("/sys/fs/btrfs/1-2-3/devices/{name}"), "");
        assert_eq!(job(member("sda1")), IssuerKind::Kernel);
        assert_eq!(job(member("sda")), IssuerKind::Kernel);
        assert_eq!(job(member("sdb")), IssuerKind::Writeback);
        let held = disk().file("/sys/devices/ata1/block/sda/sda1/holders/dm-0", "");
        assert_eq!(job(held), IssuerKind::Kernel);
    }

    #[test]
    fn newer_kernels_say_which_threads_are_theirs() {
        let status = |text| Status::parse(text).expect("understood").kernel;
        assert!(status("Tgid:\t9\nPPid:\t2\nKthread:\t1\n"));
        assert!(!status("Tgid:\t9\nPPid:\t2\nKthread:\t0\n"), "a helper program started by the kernel");
        assert!(status("Tgid:\t9\nPPid:\t2\n"));
        assert_eq!(Status::parse("Tgid:\tx\n"), None);
    }

    #[test]
    fn this_process_knows_itself() {
        let mut tasks = OwnTasks::new();
        let name = BlockEvent::task_of("whatever");
        assert_eq!(tasks.kind(std::process::id(), &name, DISK, RequestFlags::READ), IssuerKind::Own);
        assert_eq!(tasks.kind(1, &BlockEvent::task_of("init"), DISK, RequestFlags::READ), IssuerKind::Other);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(name in ".{0,20}", work in "(?s).{0,40}|kworker/.{0,8}:.{0,8}[+-].{0,10}", status in "(?s).{0,80}") {
            let _ = kernel_kind(&name, job_of(&work), false, RequestFlags::WRITE);
            let _ = job_of(&work).and_then(loop_of);
            let _ = Status::parse(&status);
        }
    }
}
