//! io_uring: one ring a worker, made in the worker itself (a single-issuer ring belongs to the thread that made it). With
//! registered file and buffers and deferred task work an operation costs one entry in a shared ring; one io_uring_enter carries as
//! many as are free.
//!
//! What the running kernel lacks is an error that names it; nothing is replaced in silence. The flags came with Linux 5.19
//! (COOP_TASKRUN), 6.0 (SINGLE_ISSUER) and 6.1 (DEFER_TASKRUN).

use super::{AsyncBackend, Handle, Target};
use crate::contents::Contents;
use crate::files;
use crate::shared::Call;
use crate::worker::{Fault, Plan};
use fathom_workload::Uring as Options;
use fathom_workload::ops::{Op, OpKind};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;

/// How long the kernel's submission thread (SQPOLL) stays awake without work, ms.
const POLL_IDLE_MS: u32 = 50;

pub(crate) struct Uring {
    ring: IoUring<squeue::Entry, cqueue::Entry>,
    file: OwnedFd,
    options: Options,
    buffers_registered: bool,
}

impl Handle for Uring {
    fn open(plan: &Plan) -> Result<Self, Fault> {
        let options = match plan.stream.backend {
            fathom_workload::Backend::Uring(options) => options,
            _ => Options::default(),
        };
        let file = files::open(plan)?;
        let mut builder = IoUring::<squeue::Entry, cqueue::Entry>::builder();
        builder.setup_clamp();
        if options.submission_polling {
            // A polling kernel thread runs the task work itself; deferring it to us contradicts that.
            builder.setup_sqpoll(POLL_IDLE_MS);
        } else if options.deferred {
            builder.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun();
        }
        if options.completion_polling {
            builder.setup_iopoll();
        }
        let entries = plan.stream.queue_depth.next_power_of_two().max(2);
        let ring = builder.build(entries).map_err(|e| setup_fault(&e))?;
        if options.registered_file {
            ring.submitter().register_files(&[file.as_raw_fd()]).map_err(|e| setup_fault(&e))?;
        }
        Ok(Self { ring, file, options, buffers_registered: false })
    }

    fn register(&mut self, memory: &mut [Contents]) -> Result<(), Fault> {
        if !self.options.registered_buffers {
            return Ok(());
        }
        let vectors: Vec<libc::iovec> = memory
            .iter_mut()
            .flat_map(Contents::areas)
            .map(|area| libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() })
            .collect();
        // SAFETY: the areas belong to the worker's memory, which lives longer than this handle (it is dropped after it).
        unsafe { self.ring.submitter().register_buffers(&vectors) }.map_err(|e| setup_fault(&e))?;
        self.buffers_registered = true;
        Ok(())
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        files::read_all(self.file.as_fd(), offset, buffer)
    }

    fn sync(&mut self, data_only: bool) -> Result<(), Fault> {
        files::sync(self.file.as_fd(), data_only)
    }

    fn close(self) -> Result<(), Fault> {
        // The ring holds a reference to the file; without it close would not be the last one.
        drop(self.ring);
        files::close(self.file)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

/// A refusal of the ring itself: the offset carries nothing, the call says what was tried.
fn setup_fault(error: &std::io::Error) -> Fault {
    Fault::of(Call::Ring, Errno::from_raw_os_error(error.raw_os_error().unwrap_or(libc::EINVAL)), 0)
}

/// The entry for an operation on a file given as `$file`, with or without a registered buffer.
macro_rules! entry {
    ($file:expr, $op:expr, $target:expr, $fixed:expr) => {{
        let (op, target) = ($op, $target);
        match (op.kind, $fixed) {
            (OpKind::Read, true) => {
                opcode::ReadFixed::new($file, target.pointer, op.bytes, target.registered)
                    .offset(op.offset)
                    .build()
            }
            (OpKind::Read, false) => {
                opcode::Read::new($file, target.pointer, op.bytes).offset(op.offset).build()
            }
            (OpKind::Write, true) => {
                opcode::WriteFixed::new($file, target.pointer, op.bytes, target.registered)
                    .offset(op.offset)
                    .build()
            }
            (OpKind::Write, false) => {
                opcode::Write::new($file, target.pointer, op.bytes).offset(op.offset).build()
            }
            (OpKind::Sync { data_only }, _) => {
                let flags = if data_only { types::FsyncFlags::DATASYNC } else { types::FsyncFlags::empty() };
                opcode::Fsync::new($file).flags(flags).build()
            }
        }
    }};
}

impl AsyncBackend for Uring {
    #[inline(always)]
    fn queue(&mut self, number: u32, op: &Op, target: Target) {
        let entry = if self.options.registered_file {
            entry!(types::Fixed(0), op, target, self.buffers_registered)
        } else {
            entry!(types::Fd(self.file.as_raw_fd()), op, target, self.buffers_registered)
        };
        let entry = entry.user_data(u64::from(number));
        // SAFETY: the target stays valid and unshared until the completion is reaped (see `Target`). There is room: the ring has
        // at least queue-depth entries and the caller queues no more before it submits.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        debug_assert!(pushed.is_ok(), "the submission queue has room for the queue depth");
    }

    #[inline(always)]
    fn submit(&mut self, wait: usize) -> Result<(), Fault> {
        loop {
            match self.ring.submit_and_wait(wait) {
                Ok(_) => return Ok(()),
                Err(e) if e.raw_os_error() == Some(libc::EINTR) => {}
                Err(e) => {
                    return Err(Fault::of(
                        Call::Submit,
                        Errno::from_raw_os_error(e.raw_os_error().unwrap_or(0)),
                        0,
                    ));
                }
            }
        }
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        let entry = self.ring.completion().next()?;
        Some((entry.user_data() as u32, entry.result()))
    }
}
