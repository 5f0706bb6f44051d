//! Who issued a request: this process and what it started, the kernel writing back, a journal, other threads of the kernel, or
//! other programs.
//!
//! A trace event names a thread by its PID and a name of 15 bytes. Whether that thread is ours is asked of /proc once, while it is
//! alive: threads of this process and child processes (engine workers are either), and io_uring's helpers, which are threads of
//! who uses the ring. A thread that was gone when first seen is judged by its name.
//!
//! Kernel workers (`kworker/u8:1`) are lent to one job after another; what a worker is doing stands only in /proc/PID/comm
//! (`kworker/u8:1-flush-8:0`), for the moment it is read, which is up to a drain period later. So what it says is weighed against
//! the request itself: see [`kernel_kind`].

use crate::files::{KernelFiles, Live};
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{BlockEvent, DeviceNumber, IssuerKind, RequestFlags};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A task's name as events carry it.
type Name = [u8; TASK_NAME_BYTES];

/// Parents are followed so far.
const GENERATIONS: usize = 16;
/// PIDs are forgotten beyond this many: a machine that starts that many tasks during one phase has other worries.
const MOST_TASKS: usize = 1 << 16;

/// Tells whose tasks are.
#[derive(Debug)]
pub struct OwnTasks<F = Live> {
    files: F,
    me: u32,
    tasks: HashMap<u32, Task>,
    /// Names that tasks of ours have: by these the dead are known.
    names: HashSet<Name>,
    by_name: u64,
}

#[derive(Clone, Debug)]
struct Task {
    name: Name,
    whose: Whose,
    /// Of kernel workers: the full name, as it was last read.
    work: Option<String>,
    /// Whether that is to be read again.
    stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    Kernels,
    Others,
    /// It was gone when it was first seen.
    Unknown,
}

impl OwnTasks {
    /// For this process.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Live, std::process::id())
    }
}

impl Default for OwnTasks {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: KernelFiles> OwnTasks<F> {
    /// For the process `me` of any machine.
    pub fn with(files: F, me: u32) -> Self {
        let own = files.trimmed(Path::new(&format!("/proc/{me}/comm")));
        let names = own.iter().map(|name| BlockEvent::task_of(name)).collect();
        Self { files, me, tasks: HashMap::new(), names, by_name: 0 }
    }

    /// Looks at a task while it is likely to be alive. Cheap for those that are known.
    pub fn look(&mut self, pid: u32, name: &Name) {
        let known = self.tasks.get(&pid);
        let changed = |task: &Task| name[0] != 0 && task.name != *name;
        // Another name: the task gave itself one, or the PID has come again.
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

    /// What kernel workers do is to be read anew at their next event.
    pub fn next_round(&mut self) {
        for task in self.tasks.values_mut() {
            task.stale = task.work.is_some();
        }
    }

    /// Who issued a request of this task.
    pub fn kind(&mut self, pid: u32, name: &Name, device: DeviceNumber, flags: RequestFlags) -> IssuerKind {
        self.look(pid, name);
        let Some(task) = self.tasks.get(&pid) else { return IssuerKind::Other };
        let name = name_text(&task.name);
        match task.whose {
            Whose::Ours => IssuerKind::Own,
            Whose::Others => IssuerKind::Other,
            Whose::Kernels => kernel_kind(&name, task.work.as_deref(), device, flags),
            Whose::Unknown if pid == 0 || looks_like_kernel(&name) => kernel_kind(&name, None, device, flags),
            Whose::Unknown => IssuerKind::Other,
        }
    }

    /// Tasks that were gone when they were first seen and were taken for ours by their name.
    #[must_use]
    pub fn by_name(&self) -> u64 {
        self.by_name
    }

    fn meet(&mut self, pid: u32, name: &Name) {
        if self.tasks.len() >= MOST_TASKS {
            self.tasks.clear();
        }
        let mut whose = self.whose(pid);
        if whose == Whose::Ours {
            self.names.insert(*name);
        } else if whose == Whose::Unknown && self.named_like_ours(name) {
            whose = Whose::Ours;
            self.by_name += 1;
        }
        let worker = whose == Whose::Kernels && name.starts_with(b"kworker/");
        let work = if worker { self.work(pid) } else { None };
        self.tasks.insert(pid, Task { name: *name, whose, work, stale: false });
    }

    fn whose(&self, pid: u32) -> Whose {
        if pid == self.me {
            return Whose::Ours;
        }
        let Some(status) = self.status(pid) else { return Whose::Unknown };
        if status.kernel {
            return Whose::Kernels;
        }
        let (mut process, mut parent) = (status.process, status.parent);
        for _ in 0..GENERATIONS {
            if process == self.me {
                return Whose::Ours;
            }
            if parent <= 1 {
                break;
            }
            process = parent;
            let Some(above) = self.status(parent) else { break };
            parent = above.parent;
        }
        Whose::Others
    }

    fn status(&self, pid: u32) -> Option<Status> {
        Status::parse(&self.files.read(Path::new(&format!("/proc/{pid}/status"))).ok()?)
    }

    fn work(&self, pid: u32) -> Option<String> {
        self.files.trimmed(Path::new(&format!("/proc/{pid}/comm")))
    }

    fn named_like_ours(&self, name: &Name) -> bool {
        let text = name_text(name);
        let helper = ["iou-wrk-", "iou-sqp-"].iter().find_map(|p| text.strip_prefix(p)?.parse::<u32>().ok());
        let of_ours = |pid| pid == self.me || self.tasks.get(&pid).is_some_and(|t| t.whose == Whose::Ours);
        self.names.contains(name) || helper.is_some_and(of_ours)
    }
}

/// What /proc/PID/status says of a thread.
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
        // The line Kthread exists since Linux 6.8; before, threads of the kernel are known by their parent, kthreadd.
        let kernel = field("Kthread").map_or(parent == 2 || process == 2, |k| k == 1);
        Some(Self { process, parent, kernel })
    }
}

/// Whether only threads of the kernel are named so.
fn looks_like_kernel(name: &str) -> bool {
    const NAMES: [&str; 8] =
        ["kworker/", "jbd2/", "xfsaild/", "kswapd", "ksoftirqd/", "swapper/", "btrfs-transacti", "kthreadd"];
    NAMES.iter().any(|n| name.starts_with(n))
}

/// Names of threads, and of work queues, that write a journal or a log.
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

/// Names of the threads that wrote back before there were workers (Linux 2.6).
const FLUSHERS: [&str; 3] = ["flush-", "pdflush", "bdi-default"];

/// What kind of issuer a thread of the kernel is, by its name, by what it was seen to do (`work`, the full name of a worker) and by
/// the request.
///
/// Dirty pages are written back by workers of no particular CPU (`kworker/u`), which also serve loop devices, encryption and
/// others. Their work is read late, so it can be a later job's. Therefore: a worker seen to do something else for *another* device
/// is not writing back; in all other cases a write of such a worker is writeback. A loop device's own worker never writes to it.
#[must_use]
pub fn kernel_kind(name: &str, work: Option<&str>, device: DeviceNumber, flags: RequestFlags) -> IssuerKind {
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
    // "kworker/u8:1+flush-8:0": the first sign behind the colon says whether it is at it or was.
    let job = work.and_then(|w| w.split_once(':')?.1.split_once(['+', '-'])).map(|(_, job)| job);
    let unbound = name.starts_with("kworker/u");
    let writes = flags.has(RequestFlags::WRITE);
    match job {
        Some(job) if begins(&JOURNALS, job) => IssuerKind::Journal,
        Some(job) if writes && (job.starts_with("flush-") || job == "writeback") => IssuerKind::Writeback,
        Some(job) if unbound && writes && !serves_other(job, device) => IssuerKind::Writeback,
        None if unbound && writes => IssuerKind::Writeback,
        _ => IssuerKind::Kernel,
    }
}

/// Whether a job is known to issue requests to `device` on behalf of something other than dirty pages.
fn serves_other(job: &str, device: DeviceNumber) -> bool {
    const LOOP_MAJOR: u32 = 7;
    if let Some(minor) = job.strip_prefix("loop").and_then(|n| n.parse::<u32>().ok()) {
        return device != DeviceNumber { major: LOOP_MAJOR, minor };
    }
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
        assert_eq!(tasks.by_name(), 2);
        assert_eq!(kind(&mut tasks, 101, "block-events"), IssuerKind::Own);
        assert_eq!(kind(&mut tasks, 993, "block-events"), IssuerKind::Own, "a name one of ours had");
    }

    #[test]
    fn a_pid_that_comes_again_is_met_again() {
        let mut tasks = OwnTasks::with(machine(), 100);
        assert_eq!(kind(&mut tasks, 120, "sh"), IssuerKind::Own);
        tasks.files = process(machine(), 120, 120, 1, "cron");
        assert_eq!(kind(&mut tasks, 120, "cron"), IssuerKind::Other);
    }

    #[test]
    fn what_a_worker_does_is_read_again_every_round() {
        let mut tasks = OwnTasks::with(machine(), 100);
        assert_eq!(kind(&mut tasks, 50, "kworker/u8:1"), IssuerKind::Writeback);
        tasks.files = process(machine(), 50, 50, 2, "kworker/u8:1+loop3");
        assert_eq!(kind(&mut tasks, 50, "kworker/u8:1"), IssuerKind::Writeback, "once per round");
        tasks.next_round();
        assert_eq!(kind(&mut tasks, 50, "kworker/u8:1"), IssuerKind::Kernel);
    }

    #[test]
    fn a_worker_is_judged_by_work_and_request() {
        let (read, write) = (RequestFlags::READ, RequestFlags::WRITE);
        let loop3 = DeviceNumber { major: 7, minor: 3 };
        let cases = [
            ("kworker/u8:1", Some("kworker/u8:1-flush-8:0"), DISK, write, IssuerKind::Writeback),
            ("kworker/u8:1", Some("kworker/u8:1+flush-btrfs-1"), DISK, write, IssuerKind::Writeback),
            ("kworker/u8:1", Some("kworker/u8:1-flush-8:0"), DISK, read, IssuerKind::Kernel),
            ("kworker/u8:1", Some("kworker/u8:1-events_unbound"), DISK, write, IssuerKind::Writeback),
            ("kworker/u8:1", Some("kworker/u8:1+loop3"), DISK, write, IssuerKind::Kernel),
            ("kworker/u8:1", Some("kworker/u8:1+loop3"), loop3, write, IssuerKind::Writeback),
            ("kworker/u8:1", Some("kworker/u8:1-kcryptd/252:0"), DISK, write, IssuerKind::Kernel),
            ("kworker/u8:1", None, DISK, write, IssuerKind::Writeback),
            ("kworker/u8:1", None, DISK, read, IssuerKind::Kernel),
            ("kworker/0:2", Some("kworker/0:2+xfs-cil/sda1"), DISK, write, IssuerKind::Journal),
            ("kworker/0:2", Some("kworker/0:2-events"), DISK, write, IssuerKind::Kernel),
            ("kworker/0:1H", Some("kworker/0:1H-kblockd"), DISK, write, IssuerKind::Kernel),
            ("xfsaild/sda1", None, DISK, write, IssuerKind::Journal),
            ("flush-8:0", None, DISK, write, IssuerKind::Writeback),
            ("loop3", None, DISK, write, IssuerKind::Kernel),
            ("kswapd0", None, DISK, write, IssuerKind::Kernel),
        ];
        for (name, work, device, flags, wanted) in cases {
            assert_eq!(
                kernel_kind(name, work, device, flags),
                wanted,
                "{name} {work:?} {flags:?} on {device}"
            );
        }
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
            let _ = kernel_kind(&name, Some(&work), DISK, RequestFlags::WRITE);
            let _ = Status::parse(&status);
        }
    }
}
