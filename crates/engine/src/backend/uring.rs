//! io_uring: one ring per worker, created in the worker itself, as a single-issuer ring belongs to its creating thread. With
//! registered file and buffers and deferred task work, an operation costs one entry in a shared ring; one io_uring_enter submits
//! all free entries.
//!
//! A feature that the running kernel lacks is an error that names it; there is no silent fallback. The flags came with Linux 5.19
//! (COOP_TASKRUN), 6.0 (SINGLE_ISSUER) and 6.1 (DEFER_TASKRUN).

use super::capability::{Capability, ProbeFile, State, text};
use super::pvsync2::ATOMIC;
use super::ring::{POLL_IDLE_MS, WorkerRing, locked_memory_limit};
use super::{AsyncBackend, Handle, Target};
use crate::clock::Clock;
use crate::contents::Contents;
use crate::fault::Fault;
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::Uring as Options;
use fathom_workload::ops::{Op, OpCode};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;

pub(crate) struct Uring {
    ring: WorkerRing<squeue::Entry, cqueue::Entry>,
    files: Vec<OwnedFd>,
    /// Index of the file that `read_now` and `sync` use.
    selected: usize,
    options: Options,
    /// Workers that register as many buffers, including this one.
    alike: u64,
    /// RWF_ flags of every write.
    write_flags: i32,
    /// Operations since the last one that was sent to a kernel worker thread (`async_every`).
    since_async: u32,
}

impl Handle for Uring {
    const SEVERAL_FILES: bool = true;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let options = match plan.stream.backend {
            fathom_workload::Backend::Uring(options) => options,
            _ => Options::default(),
        };
        let files = files::open_all(plan)?;
        let ring = WorkerRing::open(&options, plan.stream.queue_depth, &files)?;
        let write_flags = if options.atomic { ATOMIC as i32 } else { 0 };
        let alike = plan.alike.into();
        Ok(Self { ring, files, selected: 0, options, alike, write_flags, since_async: 0 })
    }

    fn register(&mut self, memory: &mut [Contents]) -> Result<(), Fault> {
        self.ring.register(memory, self.options.registered_buffers, self.alike)
    }

    fn files(&self) -> u32 {
        self.files.len() as u32
    }

    fn select(&mut self, file: u32) {
        self.selected = file as usize;
    }

    fn close(self) -> Result<(), Fault> {
        // Release the ring's reference to the file first, so that this close is the last one.
        drop(self.ring);
        files::close_all(self.files)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.files.get(self.selected).map(|f| f.as_fd())
    }
}

/// The entry for an operation on a file given as `$file`, with or without a registered buffer; `$flags`: RWF_ flags of writes.
macro_rules! entry {
    ($file:expr, $op:expr, $target:expr, $fixed:expr, $flags:expr) => {{
        let (op, target) = ($op, $target);
        match (op.kind, $fixed) {
            (OpCode::Read, true) => {
                opcode::ReadFixed::new($file, target.pointer, op.bytes, target.registered)
                    .offset(op.offset)
                    .ioprio(target.priority)
                    .build()
            }
            (OpCode::Read, false) => opcode::Read::new($file, target.pointer, op.bytes)
                .offset(op.offset)
                .ioprio(target.priority)
                .build(),
            (OpCode::Write, true) => {
                opcode::WriteFixed::new($file, target.pointer, op.bytes, target.registered)
                    .offset(op.offset)
                    .ioprio(target.priority)
                    .rw_flags($flags)
                    .build()
            }
            (OpCode::Write, false) => opcode::Write::new($file, target.pointer, op.bytes)
                .offset(op.offset)
                .ioprio(target.priority)
                .rw_flags($flags)
                .build(),
            // Trims and evictions are executed at once, never queued.
            (OpCode::Trim | OpCode::Evict, _) => opcode::Nop::new().build(),
            (OpCode::Sync { data_only }, _) => {
                let flags = if data_only { types::FsyncFlags::DATASYNC } else { types::FsyncFlags::empty() };
                opcode::Fsync::new($file).flags(flags).build()
            }
        }
    }};
}

impl AsyncBackend for Uring {
    #[inline(always)]
    fn queue(&mut self, number: u32, op: &Op, target: Target) {
        let buffers = self.ring.has_buffers();
        let entry = if self.options.registered_file {
            entry!(types::Fixed(op.file), op, target, buffers, self.write_flags)
        } else {
            let file = types::Fd(self.files[op.file as usize].as_raw_fd());
            entry!(file, op, target, buffers, self.write_flags)
        };
        let mut entry = entry.user_data(u64::from(number));
        if self.options.async_every > 0 {
            self.since_async += 1;
            if self.since_async >= self.options.async_every {
                self.since_async = 0;
                entry = entry.flags(squeue::Flags::ASYNC);
            }
        }
        // SAFETY: the target stays valid and unshared until the completion is reaped (see `Target`).
        unsafe { self.ring.push(&entry) };
    }

    #[inline(always)]
    fn submit(&mut self, wait: usize, clock: Clock) -> Result<u64, Fault> {
        let given = clock.now();
        self.ring.submit(wait)?;
        Ok(given)
    }

    fn submit_for(&mut self, most_ns: u64, clock: Clock) -> Result<u64, Fault> {
        let given = clock.now();
        self.ring.submit_for(most_ns)?;
        Ok(given)
    }

    fn failed(&self, fault: Fault) -> Fault {
        if self.write_flags != 0 { fault.of_flags(ATOMIC) } else { fault }
    }

    #[inline(always)]
    fn reap(&mut self, into: &mut Vec<(u32, i32)>) {
        self.ring.reap(into);
    }
}

/// A ring without registered files or buffers, for writes to many files in turn.
pub(crate) struct UnregisteredRing(WorkerRing<squeue::Entry, cqueue::Entry>);

impl UnregisteredRing {
    /// A ring with space for `entries` operations in flight.
    pub fn new(entries: u32) -> Result<Self, Fault> {
        WorkerRing::plain(entries).map(Self)
    }

    /// Queues a write, submitted by the next `submit`, which must precede the next write.
    ///
    /// # Safety
    /// The bytes stay valid and unchanged until the completion is reaped.
    pub unsafe fn write(&mut self, number: u32, file: i32, op: &Op, from: *mut u8) {
        let target = Target { pointer: from, registered: 0, priority: 0 };
        let entry = entry!(types::Fd(file), op, target, false, 0).user_data(u64::from(number));
        // SAFETY: one entry at a time is queued, and the rest is the caller's promise.
        unsafe { self.0.push(&entry) };
    }

    /// Submits the queued operations and waits for `wait` completions.
    pub fn submit(&mut self, wait: usize) -> Result<(), Fault> {
        self.0.submit(wait)
    }

    /// Waits for one completion, at most `most_ns`.
    pub fn wait_for(&mut self, most_ns: u64) -> Result<(), Fault> {
        self.0.submit_for(most_ns)
    }

    /// Takes all available completions: number and result.
    pub fn reap(&mut self, into: &mut Vec<(u32, i32)>) {
        self.0.reap(into);
    }
}

/// Why such a ring cannot be created; `None` if it can.
pub(crate) fn unregistered_refusal() -> Option<String> {
    ring_refusal(INSTEAD)
}

/// The same for callers without a workload, with the alternative they have.
pub(crate) fn ring_refusal(instead: &str) -> Option<String> {
    match ring(|_| {}) {
        Ok(ring) => operations(&ring).err(),
        Err(e) => Some(no_ring_but(e, instead)),
    }
}

/// Ring features that a workload's options need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RingFlags {
    deferred: bool,
    submission_polling: bool,
    submission_cpu: Option<u32>,
    completion_polling: bool,
}

impl RingFlags {
    pub fn of(options: &Options) -> Self {
        Self {
            deferred: options.deferred && !options.submission_polling,
            submission_polling: options.submission_polling,
            submission_cpu: options.submission_cpu.filter(|_| options.submission_polling),
            completion_polling: options.completion_polling,
        }
    }
}

type KernelRing = IoUring<squeue::Entry, cqueue::Entry>;
type Builder = io_uring::Builder<squeue::Entry, cqueue::Entry>;

/// A small ring with the given flags.
fn ring(flags: impl FnOnce(&mut Builder)) -> Result<KernelRing, Errno> {
    let mut builder = KernelRing::builder();
    flags(&mut builder);
    builder.build(2).map_err(|e| Errno::from_raw_os_error(e.raw_os_error().unwrap_or(libc::EINVAL)))
}

fn errno(result: std::io::Result<()>) -> Result<(), Errno> {
    result.map_err(|e| Errno::from_raw_os_error(e.raw_os_error().unwrap_or(libc::EINVAL)))
}

const INSTEAD: &str = "use the back-end aio or psync";

/// Why no ring can be created at all.
fn no_ring(error: Errno) -> String {
    no_ring_but(error, INSTEAD)
}

fn no_ring_but(error: Errno, instead: &str) -> String {
    let disabled = super::capability::number_in("/proc/sys/kernel/io_uring_disabled");
    match (error, disabled) {
        (Errno::PERM, Some(n @ 1..)) => format!(
            "io_uring is disabled by the sysctl kernel.io_uring_disabled = {n}; set it to 0, or {instead}"
        ),
        (Errno::PERM | Errno::ACCESS, _) => format!(
            "io_uring is forbidden here, for example by a container's system call filter (seccomp); allow io_uring_setup, io_uring_enter and io_uring_register, or {instead}"
        ),
        (Errno::NOSYS, _) => {
            format!("this kernel has no io_uring (Linux 5.1 or later, if built in); {instead}")
        }
        (Errno::NOMEM, _) => {
            format!("the locked-memory limit (ulimit -l) is too low for a ring; raise it, or {instead}")
        }
        (error, _) => format!("io_uring_setup fails: {}", text(error)),
    }
}

/// Why a ring with these flags cannot be created.
pub(super) fn refusal(flags: RingFlags) -> Option<String> {
    let asked = ring(|b| {
        if flags.submission_polling {
            b.setup_sqpoll(POLL_IDLE_MS);
        }
        if let Some(cpu) = flags.submission_cpu {
            b.setup_sqpoll_cpu(cpu);
        }
        if flags.deferred {
            b.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun();
        }
        if flags.completion_polling {
            b.setup_iopoll();
        }
    });
    let error = match asked {
        Ok(ring) => return operations(&ring).err(),
        Err(error) => error,
    };
    if let Err(plain) = ring(|_| {}) {
        return Some(no_ring(plain));
    }
    let alone = |set: fn(&mut Builder)| ring(set).err();
    if let Some(e) = flags.submission_polling.then(|| alone(sqpoll)).flatten() {
        return Some(format!(
            "the kernel refuses submission_polling ({}); before Linux 5.13 only root may use it",
            text(e)
        ));
    }
    if let Some(cpu) = flags.submission_cpu
        && let Err(e) = ring(|b| {
            sqpoll(b);
            b.setup_sqpoll_cpu(cpu);
        })
    {
        return Some(format!(
            "the kernel refuses submission_cpu = {cpu} ({}): there is no such CPU, or it is not allowed here",
            text(e)
        ));
    }
    if let Some(e) = flags.deferred.then(|| alone(deferring)).flatten() {
        return Some(format!(
            "the kernel refuses deferred task work ({}): it came with Linux 6.1; set deferred = false",
            text(e)
        ));
    }
    if let Some(e) = flags.completion_polling.then(|| alone(polling)).flatten() {
        return Some(format!("the kernel refuses completion_polling ({})", text(e)));
    }
    Some(format!("the kernel refuses a ring with all of {flags:?} ({})", text(error)))
}

fn sqpoll(b: &mut Builder) {
    b.setup_sqpoll(POLL_IDLE_MS);
}

fn deferring(b: &mut Builder) {
    b.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun();
}

fn polling(b: &mut Builder) {
    b.setup_iopoll();
}

/// Whether the kernel supports the operations that streams use.
fn operations(ring: &KernelRing) -> Result<(), String> {
    let mut probe = io_uring::Probe::new();
    let needed = "reading and writing without vectors came with Linux 5.6";
    errno(ring.submitter().register_probe(&mut probe))
        .map_err(|e| format!("the kernel cannot list the operations of io_uring ({}); {needed}", text(e)))?;
    let named = [
        (opcode::Read::CODE, "READ"),
        (opcode::Write::CODE, "WRITE"),
        (opcode::ReadFixed::CODE, "READ_FIXED"),
        (opcode::WriteFixed::CODE, "WRITE_FIXED"),
        (opcode::Fsync::CODE, "FSYNC"),
    ];
    let missing: Vec<&str> = named.iter().filter(|(c, _)| !probe.is_supported(*c)).map(|(_, n)| *n).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("io_uring lacks the operations {}; {needed}", missing.join(", ")))
}

/// Why buffers of `bytes` bytes cannot be registered.
pub(super) fn locked_memory_refusal(bytes: u64) -> Option<String> {
    over_limit(bytes, locked_memory_limit()?)
}

fn over_limit(bytes: u64, limit: u64) -> Option<String> {
    (bytes > limit).then(|| {
        format!(
            "registered buffers need {} KiB of locked memory, but only {} KiB are allowed (ulimit -l); raise the limit, or set registered_buffers = false",
            bytes.div_ceil(1024),
            limit / 1024
        )
    })
}

/// Registers the ring with this thread and unregisters it; the thread would keep it alive.
fn register_ring(ring: &KernelRing) -> Result<(), Errno> {
    let mut submitter = ring.submitter();
    errno(submitter.register_ring_fd())?;
    errno(submitter.unregister_ring_fd())
}

/// What works here.
pub(super) fn probe(probe_file: &ProbeFile) -> Vec<Capability> {
    let found = |feature, state, sentence| Capability { backend: "uring", feature, state, sentence };
    let plain = match ring(|_| {}) {
        Ok(ring) => ring,
        Err(e) => return vec![found("io_uring_setup", State::Lacks, no_ring(e))],
    };
    let mut all = vec![found("io_uring_setup", State::Works, "rings are available".into())];
    let mut add = |feature, tried: Result<(), Errno>, works: &str, since: &str| {
        let (state, sentence) = match tried {
            Ok(()) => (State::Works, works.to_owned()),
            Err(e) => (State::Lacks, format!("refused ({}); it came with Linux {since}", text(e))),
        };
        all.push(found(feature, state, sentence));
    };
    let with = |set: fn(&mut Builder)| ring(set).map(drop);
    add(
        "SINGLE_ISSUER",
        with(|b| {
            b.setup_single_issuer();
        }),
        "deferred = true: one thread submits",
        "6.0",
    );
    add(
        "COOP_TASKRUN",
        with(|b| {
            b.setup_coop_taskrun();
        }),
        "deferred = true: completions do not interrupt",
        "5.19",
    );
    add(
        "DEFER_TASKRUN",
        with(deferring),
        "deferred = true: completions are processed when the worker waits for them",
        "6.1",
    );
    add(
        "NO_SQARRAY",
        with(|b| {
            b.setup_no_sqarray();
        }),
        "submissions without a table of indices",
        "6.6",
    );
    add("SQPOLL", with(sqpoll), "submission_polling = true: a kernel thread submits", "5.13 for all users");
    let file = probe_file.file().as_raw_fd();
    add(
        "registered files",
        errno(plain.submitter().register_files(&[file])),
        "registered_file = true: the file is looked up once",
        "5.1",
    );
    add("registered ring", register_ring(&plain), "the ring itself is looked up once", "5.18");
    let mut page = Box::new(super::capability::Page::zeroed());
    let vector = libc::iovec { iov_base: page.0.as_mut_ptr().cast(), iov_len: page.0.len() };
    // SAFETY: the page is dropped after the ring, at the end.
    let registered = errno(unsafe { plain.submitter().register_buffers(&[vector]) });
    let limit = match locked_memory_limit() {
        Some(limit) => format!("up to {} KiB of them (ulimit -l)", limit / 1024),
        None => "limited only by memory (locked memory is unlimited)".into(),
    };
    add(
        "registered buffers",
        registered,
        &format!("registered_buffers = true: pages are pinned once, {limit}"),
        "5.1",
    );
    all.push(match operations(&plain) {
        Ok(()) => found("operations", State::Works, "READ, WRITE, READ_FIXED, WRITE_FIXED and FSYNC".into()),
        Err(sentence) => found("operations", State::Lacks, sentence),
    });
    let (state, sentence) = match with(polling) {
        Ok(()) => super::capability::polling_state(probe_file, "completion_polling = true: rings support it"),
        Err(e) => (State::Lacks, format!("refused ({})", text(e))),
    };
    all.push(found("IOPOLL", state, sentence));
    drop(plain);
    drop(page);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sysctl_is_named_only_if_it_is_to_blame() {
        let disabled = super::super::capability::number_in("/proc/sys/kernel/io_uring_disabled").unwrap_or(0);
        let expected = if disabled > 0 { "kernel.io_uring_disabled" } else { "seccomp" };
        assert!(no_ring(Errno::PERM).contains(expected));
        assert!(no_ring(Errno::NOSYS).contains("5.1"));
        let other = no_ring_but(Errno::NOSYS, "read without it");
        assert!(other.ends_with("; read without it") && !other.contains("psync"), "{other}");
    }

    #[test]
    fn buffers_beyond_the_limit_are_refused_with_both_figures() {
        let text = over_limit(64 << 20, 8 << 20).unwrap();
        assert!(text.contains("65536 KiB") && text.contains("8192 KiB"), "{text}");
        assert_eq!(over_limit(8 << 20, 8 << 20), None);
    }
}
