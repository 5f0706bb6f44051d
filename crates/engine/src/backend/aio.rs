//! Linux native asynchronous I/O by its system calls (io_setup, io_submit, io_getevents), as libaio uses them. Buffered
//! operations are executed inside io_submit; only O_DIRECT is really asynchronous.

use super::capability::{Capability, ProbeFile, State, number_in, text};
use super::pvsync2::ATOMIC;
use super::{AsyncBackend, Handle, Target};
use crate::clock::Clock;
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::ops::{Op, OpCode};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;

/// Operation codes of linux/aio_abi.h.
const PREAD: u16 = 0;
const PWRITE: u16 = 1;
const FSYNC: u16 = 2;
const FDSYNC: u16 = 3;

/// struct iocb of linux/aio_abi.h (little endian).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    reqprio: i16,
    fildes: u32,
    buf: u64,
    nbytes: u64,
    offset: i64,
    reserved2: u64,
    flags: u32,
    resfd: u32,
}

/// IOCB_FLAG_IOPRIO: `reqprio` is valid.
const WITH_PRIORITY: u32 = 1 << 1;

/// struct io_event of linux/aio_abi.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct IoEvent {
    data: u64,
    obj: u64,
    res: i64,
    res2: i64,
}

pub(crate) struct Aio {
    files: Vec<OwnedFd>,
    /// Index of the file that `read_now` and `sync` use.
    selected: usize,
    context: usize,
    blocks: Vec<Iocb>,
    /// Pointers to the control blocks to submit.
    queued: Vec<*mut Iocb>,
    events: Vec<IoEvent>,
    /// Events fetched but not yet reaped.
    fetched: std::ops::Range<usize>,
    /// RWF_ flags of every write.
    write_flags: i32,
    /// Operations in the kernel whose events were not fetched yet.
    in_flight: usize,
}

// SAFETY: the pointers lead into `blocks`, which moves with the struct's owner but not in memory; one thread uses it.
unsafe impl Send for Aio {}

impl Handle for Aio {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let depth = plan.stream.queue_depth as usize;
        let atomic = matches!(plan.stream.backend, fathom_workload::Backend::Aio { atomic: true, .. });
        let mut aio = Self::on(files::open_all(plan)?, depth, depth)?;
        aio.write_flags = if atomic { ATOMIC as i32 } else { 0 };
        Ok(aio)
    }

    fn files(&self) -> u32 {
        self.files.len() as u32
    }

    fn select(&mut self, file: u32) {
        self.selected = file as usize;
    }

    fn close(mut self) -> Result<(), Fault> {
        self.destroy();
        let files = std::mem::take(&mut self.files);
        files::close_all(files)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.files.get(self.selected).map(|f| f.as_fd())
    }
}

impl Aio {
    /// A queue of `depth` operations on a file, in a context with space for `room` of them.
    fn on(files: Vec<OwnedFd>, depth: usize, room: usize) -> Result<Self, Fault> {
        let mut context = 0usize;
        // SAFETY: io_setup writes the context number into the variable, which must be 0 before.
        if unsafe { libc::syscall(libc::SYS_io_setup, room as libc::c_long, &raw mut context) } != 0 {
            return Err(last_error(FailedCall::Ring));
        }
        Ok(Self {
            files,
            selected: 0,
            context,
            blocks: vec![Iocb::default(); depth],
            queued: Vec::with_capacity(depth),
            events: vec![IoEvent::default(); depth],
            fetched: 0..0,
            write_flags: 0,
            in_flight: 0,
        })
    }

    /// Waits for operations in flight and destroys the context.
    fn destroy(&mut self) {
        if std::mem::take(&mut self.context) != 0 {
            // SAFETY: the context was made by io_setup and is not used again.
            unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
        }
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        self.destroy();
    }
}

fn last_error(call: FailedCall) -> Fault {
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Fault::of(call, Errno::from_raw_os_error(errno), 0)
}

impl AsyncBackend for Aio {
    #[inline(always)]
    fn queue(&mut self, number: u32, op: &Op, target: Target) {
        let block = &mut self.blocks[number as usize];
        *block = Iocb {
            data: u64::from(number),
            opcode: match op.kind {
                OpCode::Read => PREAD,
                OpCode::Write => PWRITE,
                OpCode::Sync { data_only: false } => FSYNC,
                // Trims and evictions are executed at once, never queued.
                OpCode::Sync { data_only: true } | OpCode::Trim | OpCode::Evict => FDSYNC,
            },
            fildes: self.files[op.file as usize].as_raw_fd() as u32,
            buf: if !matches!(op.kind, OpCode::Read | OpCode::Write) { 0 } else { target.pointer as u64 },
            rw_flags: if op.kind == OpCode::Write { self.write_flags } else { 0 },
            nbytes: u64::from(op.bytes),
            offset: op.offset as i64,
            reqprio: target.priority as i16,
            flags: if target.priority > 0 { WITH_PRIORITY } else { 0 },
            ..Iocb::default()
        };
        self.queued.push(std::ptr::from_mut(block));
    }

    fn submit(&mut self, wait: usize, clock: Clock) -> Result<u64, Fault> {
        let given = self.give(clock)?;
        let wait = wait.saturating_sub(self.fetched.len());
        if self.fetched.is_empty() || wait > 0 {
            self.fetch(wait, None)?;
        }
        Ok(given)
    }

    fn submit_for(&mut self, most_ns: u64, clock: Clock) -> Result<u64, Fault> {
        let given = self.give(clock)?;
        if self.fetched.is_empty() {
            self.fetch(1, Some(most_ns))?;
        }
        Ok(given)
    }

    fn failed(&self, fault: Fault) -> Fault {
        if self.write_flags != 0 { fault.of_flags(ATOMIC) } else { fault }
    }

    #[inline(always)]
    fn reap(&mut self, into: &mut Vec<(u32, i32)>) {
        let events = &self.events[std::mem::take(&mut self.fetched)];
        into.extend(events.iter().map(|event| (event.data as u32, event.res as i32)));
    }
}

impl Aio {
    /// Submits the queued operations.
    fn give(&mut self, clock: Clock) -> Result<u64, Fault> {
        /// Maximum number of 1 ms sleeps while the kernel cannot take operations although none of our operations is in flight: it is short
        /// of memory.
        const MOST_NAPS: u32 = 1000;
        let (mut from, mut naps) = (0, 0);
        while from < self.queued.len() {
            let list = &mut self.queued[from..];
            // SAFETY: the list holds addresses of valid blocks whose buffers stay valid until they are reaped (see `Target`).
            let n = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context,
                    list.len() as libc::c_long,
                    list.as_mut_ptr(),
                )
            };
            if n > 0 {
                from += n as usize;
                self.in_flight += n as usize;
                continue;
            }
            let fault = last_error(FailedCall::Submit);
            if fault.errno != libc::EAGAIN {
                return Err(self.blamed(fault, from));
            }
            // Completed operations free space in the context only once their events are fetched.
            if self.in_flight > 0 {
                self.fetch(1, None)?;
            } else if naps < MOST_NAPS {
                naps += 1;
                std::thread::sleep(std::time::Duration::from_millis(1));
            } else {
                return Err(fault);
            }
        }
        self.queued.clear();
        Ok(clock.now())
    }

    /// The fault of a write whose flags are refused at submission, by the first remaining write. Cold.
    #[cold]
    fn blamed(&self, fault: Fault, from: usize) -> Fault {
        // SAFETY: the address of one of our blocks.
        let block = self.queued.get(from).map(|block| unsafe { **block });
        match block.filter(|block| block.opcode == PWRITE && self.write_flags != 0) {
            Some(block) => {
                let file = self.files.iter().position(|f| f.as_raw_fd() as u32 == block.fildes).unwrap_or(0);
                let write = Fault { errno: fault.errno, offset: block.offset as u64, ..fault };
                Fault { file: file as u32, ..write.of_flags(ATOMIC) }
            }
            None => fault,
        }
    }

    /// Fetches at least `wait` events, or those available after `most_ns`. They are appended to those not reaped yet.
    fn fetch(&mut self, wait: usize, most_ns: Option<u64>) -> Result<(), Fault> {
        let kept = self.fetched.len();
        self.events.copy_within(self.fetched.clone(), 0);
        self.fetched = 0..kept;
        let mut most = most_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as _,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        });
        loop {
            // SAFETY: the rest of the array has room for as many events as are asked for; the time-out lives through the call.
            let n = unsafe {
                libc::syscall(
                    libc::SYS_io_getevents,
                    self.context,
                    wait as libc::c_long,
                    (self.events.len() - kept) as libc::c_long,
                    self.events[kept..].as_mut_ptr(),
                    most.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut),
                )
            };
            if n >= 0 {
                self.fetched = 0..kept + n as usize;
                self.in_flight = self.in_flight.saturating_sub(n as usize);
                return Ok(());
            }
            let fault = last_error(FailedCall::Submit);
            if fault.errno != libc::EINTR {
                return Err(fault);
            }
            if most_ns.is_some() {
                return Ok(());
            }
        }
    }
}

const MOST: &str = "/proc/sys/fs/aio-max-nr";
const TAKEN: &str = "/proc/sys/fs/aio-nr";

/// Result of io_setup for `operations`; the context is destroyed.
fn attempt(operations: libc::c_long) -> Result<(), Errno> {
    let mut context = 0usize;
    // SAFETY: io_setup writes the context number into the variable, which must be 0 before.
    if unsafe { libc::syscall(libc::SYS_io_setup, operations, &raw mut context) } != 0 {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        return Err(Errno::from_raw_os_error(errno));
    }
    // SAFETY: the context was just made and nothing is in flight.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
    Ok(())
}

fn refused(error: Errno) -> String {
    match error {
        Errno::NOSYS => "this kernel is built without native aio; use the back-end uring or psync".into(),
        Errno::PERM => {
            "io_setup is forbidden here, for example by a container's system call filter; use the back-end psync"
                .into()
        }
        Errno::AGAIN => {
            "other programs use all operations that the sysctl fs.aio-max-nr allows; raise it".into()
        }
        error => format!("io_setup fails: {}", text(error)),
    }
}

/// Why `operations` cannot be in flight. No context is created to find out, as destroying one takes the kernel milliseconds.
pub(super) fn refusal(operations: u64) -> Option<String> {
    // A context for 0 operations is refused as invalid if the call exists and is allowed.
    if let Err(e) = attempt(0)
        && e != Errno::INVAL
    {
        return Some(refused(e));
    }
    let (most, taken) = (number_in(MOST)?, number_in(TAKEN)?);
    (taken.saturating_add(operations) > most).then(|| {
        format!(
            "its workers need {operations} aio operations, but {taken} of the {most} that the sysctl fs.aio-max-nr allows are in use; raise it, or choose a smaller queue_depth"
        )
    })
}

/// What works here.
pub(super) fn probe(_: &ProbeFile) -> Vec<Capability> {
    let (state, mut sentence) = match attempt(1) {
        Ok(()) => {
            (State::Works, "queues are available; operations are asynchronous only with direct = true".into())
        }
        Err(e) => (State::Lacks, refused(e)),
    };
    if let (Some(most), Some(taken)) = (number_in(MOST), number_in(TAKEN)) {
        sentence += &format!("; {taken} of {most} operations (sysctl fs.aio-max-nr) are in use");
    }
    vec![Capability { backend: "aio", feature: "io_setup", state, sentence }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_operations_than_the_system_allows_are_refused() {
        if attempt(1).is_err() {
            return fathom_testkit::skip("more_operations_than_the_system_allows", "no native aio here");
        }
        assert!(refusal(u64::MAX).unwrap().contains("fs.aio-max-nr"));
    }

    #[test]
    fn a_refused_flag_is_reported_for_the_write_that_had_it() {
        if attempt(1).is_err() {
            return fathom_testkit::skip("a_refused_flag_is_told", "no native aio here");
        }
        // Files in memory do not support atomic writes.
        let file = || crate::backend::capability::file_in_memory().unwrap();
        let mut aio = Aio::on(vec![file(), file()], 2, 2).unwrap();
        aio.write_flags = ATOMIC as i32;
        let mut byte = 7u8;
        for (kind, offset) in [(OpCode::Read, 0), (OpCode::Write, 512)] {
            let op = Op { kind, file: 1, offset, bytes: 1, think_ns: 0 };
            let target = Target { pointer: &raw mut byte, registered: 0, priority: 0 };
            aio.queue(u32::from(kind == OpCode::Write), &op, target);
        }
        let fault = aio.submit(1, Clock::monotonic()).unwrap_err();
        assert!(matches!(fault.errno, libc::EOPNOTSUPP | libc::EINVAL), "{}", fault.errno);
        assert_eq!((fault.call, fault.offset, fault.file), (FailedCall::FlaggedWrite, 512, 1));
        assert!(crate::backend::flag_advice(fault.found).contains("RWF_ATOMIC (atomic = true)"));
    }

    #[test]
    fn a_context_that_is_full_is_emptied_and_filled_again() {
        const MANY: usize = 4096;
        if attempt(1).is_err() {
            return fathom_testkit::skip("a_context_that_is_full", "no native aio here");
        }
        let file = crate::backend::capability::file_in_memory().unwrap();
        rustix::io::pwrite(&file, &[7], 0).unwrap();
        // The kernel rounds up, to a page of events and by the number of CPUs, and still cannot take this many.
        let mut aio = Aio::on(vec![file], MANY, 1).unwrap();
        let mut bytes = vec![0u8; MANY];
        for (number, byte) in bytes.iter_mut().enumerate() {
            let op = Op { kind: OpCode::Read, file: 0, offset: 0, bytes: 1, think_ns: 0 };
            aio.queue(number as u32, &op, Target { pointer: byte, registered: 0, priority: 0 });
        }
        let (mut seen, mut reaped) = (vec![false; MANY], Vec::new());
        aio.submit(MANY, Clock::monotonic()).unwrap();
        aio.reap(&mut reaped);
        for (number, result) in reaped {
            assert_eq!(result, 1);
            assert!(!std::mem::replace(&mut seen[number as usize], true), "{number} came twice");
        }
        assert!(seen.iter().all(|s| *s) && bytes.iter().all(|b| *b == 7));
        assert_eq!(aio.in_flight, 0);
    }
}
