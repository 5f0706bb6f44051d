//! NVMe commands through io_uring (IORING_OP_URING_CMD): past the file system, the page cache and the block layer's queues. The
//! stream's file is the block device of a namespace, which stays open beside the character device that takes the commands.
//!
//! A command is never split: a record that the device cannot move at once is refused before the run. A failed one ends with the
//! device's status instead of an error number.

use super::capability::{Capability, State, text};
use super::namespace::{Command, Namespace, flush};
use super::ring::WorkerRing;
use super::{AsyncBackend, Handle, Target};
use crate::clock::Clock;
use crate::contents::Contents;
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::ops::{Op, OpCode};
use fathom_workload::{Stream, Uring as Options};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
const URING_CMD_IO: u32 = 0xc048_4e80;

/// Statuses are passed on as error numbers from here on, which no real one reaches, until `failed` takes them apart.
const STATUS: i32 = 0x800;
/// Status code and its type; further bits say whether to try again.
const STATUS_BITS: i32 = 0x7ff;

pub(crate) struct Nvme {
    ring: WorkerRing<squeue::Entry128, cqueue::Entry32>,
    /// The block devices, for what is done beside the commands.
    files: Vec<OwnedFd>,
    /// The character devices.
    generic: Vec<OwnedFd>,
    namespaces: Vec<Namespace>,
    /// Index of the file that `read_now` and `sync` use.
    selected: usize,
    options: Options,
    /// Workers that register as many buffers, including this one.
    alike: u64,
    /// Bytes of each operation in flight: a completed command says only that it moved all.
    bytes: Vec<u32>,
    /// Operations since the last one that was sent to a kernel worker thread (`async_every`).
    since_async: u32,
}

impl Handle for Nvme {
    const ONE_FILE: bool = false;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let options = match plan.stream.backend {
            fathom_workload::Backend::Nvme(options) => options,
            _ => Options::default(),
        };
        let files = files::open_all(plan)?;
        let paths: Vec<&Path> = match &plan.pool {
            Some(pool) => pool.paths.iter().map(AsRef::as_ref).collect(),
            None => vec![plan.path.as_ref()],
        };
        let not_there = |_| Fault::of(FailedCall::Open, Errno::NODEV, 0);
        let opened = paths.into_iter().zip(&files);
        let namespaces = opened.map(|(path, file)| Namespace::of_open(path, file).map_err(not_there));
        let namespaces = namespaces.collect::<Result<Vec<_>, _>>()?;
        let writes = files::writes(plan.stream);
        let opened = namespaces.iter().map(|n| n.open(writes).map_err(|e| Fault::of(FailedCall::Open, e, 0)));
        let generic = opened.collect::<Result<Vec<_>, _>>()?;
        let ring = WorkerRing::open(&options, plan.stream.queue_depth, &generic)?;
        let bytes = vec![0; plan.stream.queue_depth.max(1) as usize];
        let alike = plan.alike.into();
        Ok(Self { ring, files, generic, namespaces, selected: 0, options, alike, bytes, since_async: 0 })
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

    fn sync(&mut self, _: bool) -> Result<(), Fault> {
        let (device, namespace) = (&self.generic[self.selected], &self.namespaces[self.selected]);
        flush(device.as_raw_fd(), namespace.number).map_err(|e| Fault::of(FailedCall::Sync, e, 0))
    }

    fn close(self) -> Result<(), Fault> {
        drop(self.ring);
        files::close_all(self.generic)?;
        files::close_all(self.files)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.files.get(self.selected).map(|f| f.as_fd())
    }
}

impl AsyncBackend for Nvme {
    #[inline(always)]
    fn queue(&mut self, number: u32, op: &Op, target: Target) {
        let namespace = &self.namespaces[op.file as usize];
        let transfer = |code| Command::transfer(code, namespace, op.offset, op.bytes, target.pointer);
        let (command, moves) = match op.kind {
            OpCode::Read => (transfer(Command::READ), true),
            OpCode::Write => (transfer(Command::WRITE), true),
            // Trims and evictions are executed at once, never queued.
            OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => (Command::flush(namespace.number), false),
        };
        // Refused before the run; if one comes nevertheless, it is not sent, and counts as a short transfer.
        let sent = !moves || namespace.takes(op.offset, op.bytes);
        debug_assert!(sent, "a command moves whole blocks");
        self.bytes[number as usize] = if moves && sent { op.bytes } else { 0 };
        if !sent {
            // SAFETY: it refers to no memory.
            unsafe { self.ring.push(&opcode::Nop::new().build().user_data(u64::from(number)).into()) };
            return;
        }
        let entry = if self.options.registered_file {
            opcode::UringCmd80::new(types::Fixed(op.file), URING_CMD_IO)
        } else {
            opcode::UringCmd80::new(types::Fd(self.generic[op.file as usize].as_raw_fd()), URING_CMD_IO)
        };
        let registered = (moves && self.ring.has_buffers()).then_some(target.registered);
        let mut entry =
            entry.buf_index(registered).cmd(command.in_entry()).build().user_data(u64::from(number));
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
        if fault.errno < STATUS {
            return fault;
        }
        let call = match fault.call {
            FailedCall::Read => FailedCall::CommandRead,
            FailedCall::Write => FailedCall::CommandWrite,
            _ => FailedCall::CommandFlush,
        };
        Fault { call, errno: libc::EIO, found: (fault.errno - STATUS) as u64, ..fault }
    }

    #[inline(always)]
    fn reap(&mut self, into: &mut Vec<(u32, i32)>) {
        let first = into.len();
        self.ring.reap(into);
        for (number, result) in &mut into[first..] {
            *result = match *result {
                0 => self.bytes[*number as usize] as i32,
                error @ ..0 => error,
                status => -(STATUS + (status & STATUS_BITS)),
            };
        }
    }
}

/// A status of the device in words, by the NVM Express specification: generic ones (type 0) and those of the media (type 2).
pub(crate) fn status_words(status: u64) -> String {
    let words = match status {
        0x001 => "invalid opcode",
        0x002 => "invalid field",
        0x004 => "data transfer error",
        0x005 => "aborted, power loss",
        0x006 => "internal error",
        0x007 => "aborted on request",
        0x00b => "invalid namespace or format",
        0x020 => "write protected",
        0x080 => "LBA out of range",
        0x081 => "capacity exceeded",
        0x082 => "namespace not ready",
        0x180 => "conflicting attributes",
        0x182 => "write to a read-only range",
        0x1b8 => "zone boundary error",
        0x1b9 => "zone is full",
        0x1ba => "zone is read-only",
        0x1bb => "zone is offline",
        0x1bc => "invalid write to a zone",
        0x280 => "write fault",
        0x281 => "unrecovered read error",
        0x282..=0x284 => "protection check failed",
        0x286 => "access denied",
        0x287 => "deallocated or unwritten block",
        _ => return format!("NVMe status {status:#05x}"),
    };
    format!("{words} (NVMe status {status:#05x})")
}

/// Why NVMe commands cannot be sent through a ring here.
fn ring_refusal() -> Option<String> {
    if let Err(e) = IoUring::<squeue::Entry128, cqueue::Entry32>::builder().build(2) {
        let error = Errno::from_raw_os_error(e.raw_os_error().unwrap_or(libc::EINVAL));
        return Some(match super::uring::unregistered_refusal() {
            Some(without_any) => without_any,
            None => {
                format!("the kernel refuses a ring for commands ({}); it came with Linux 5.19", text(error))
            }
        });
    }
    None
}

/// Why a stream cannot send NVMe commands to these files.
pub(super) fn refusal(
    mut files: impl Iterator<Item = PathBuf>,
    stream: &Stream,
    largest: u64,
) -> Option<String> {
    ring_refusal().or_else(|| {
        files.find_map(|path| match Namespace::of(&path) {
            Ok(namespace) => {
                namespace.record_refusal(largest).or_else(|| namespace.alignment_refusal(stream))
            }
            Err(why) => Some(why),
        })
    })
}

/// What works here: rings, and the namespaces that are there.
pub(super) fn probe() -> Vec<Capability> {
    let found = |feature, state, sentence| Capability { backend: "nvme", feature, state, sentence };
    if let Some(why) = ring_refusal() {
        return vec![found("URING_CMD", State::Lacks, why)];
    }
    let ring = found("URING_CMD", State::Works, "rings take commands of 80 bytes".into());
    let names = std::fs::read_dir("/sys/class/nvme-generic").into_iter().flatten().flatten();
    let mut names: Vec<String> = names.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    let namespaces = match names.as_slice() {
        [] => {
            found("namespaces", State::Lacks, "this machine has no NVMe namespace that takes commands".into())
        }
        all => found("namespaces", State::Works, format!("commands go to {}", all.join(", "))),
    };
    vec![ring, namespaces]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_words_and_their_number() {
        assert_eq!(status_words(0x281), "unrecovered read error (NVMe status 0x281)");
        assert_eq!(status_words(0x1f), "NVMe status 0x01f");
    }

    #[test]
    fn the_probe_answers_without_any_device() {
        let all = probe();
        assert!(!all.is_empty() && all.iter().all(|c| c.backend == "nvme" && !c.sentence.is_empty()));
    }
}
