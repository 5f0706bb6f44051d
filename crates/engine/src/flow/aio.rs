//! Asynchronous writes of a flow: many files, one io_uring per thread. A write counts when it is submitted; its result is checked
//! when it is waited for. Each has its own buffer until then.

use super::io::descriptor;
use super::worker::{Break, FlowWorker};
use crate::backend::UnregisteredRing;
use crate::buffer::Buffer;
use crate::fault::{FailedCall, Fault};
use fathom_workload::flow::{FlatOp, Transfer};
use fathom_workload::ops::{Op as Write, OpCode};
use rustix::fd::AsRawFd as _;
use rustix::io::Errno;

/// Maximum number of writes in flight; a further one waits until one of them is done.
pub(super) const IN_FLIGHT: usize = 256;
/// Longest asynchronous wait.
const PATIENCE_NS: u64 = 1_000_000_000;

/// A thread's asynchronous writes. Fields are dropped in order: the ring before the buffers that it writes from.
pub(crate) struct AsyncWrites {
    ring: Option<UnregisteredRing>,
    buffers: Vec<Option<Buffer>>,
    /// Expected bytes and offset of the write in each slot; `None` while the slot is free.
    flying: Vec<Option<(u64, u64)>>,
    free: Vec<usize>,
    landed: Vec<(u32, i32)>,
}

impl AsyncWrites {
    /// Creates the ring if one is needed.
    pub fn new(needed: bool) -> Result<Self, Fault> {
        let count = if needed { IN_FLIGHT } else { 0 };
        Ok(Self {
            ring: if needed { Some(UnregisteredRing::new(IN_FLIGHT as u32)?) } else { None },
            buffers: (0..count).map(|_| None).collect(),
            flying: vec![None; count],
            free: (0..count).rev().collect(),
            landed: Vec::with_capacity(count),
        })
    }

    fn in_flight(&self) -> usize {
        self.flying.len() - self.free.len()
    }

    /// Processes completions. A failed or short write is a fault.
    fn reap(&mut self) -> Result<(), Fault> {
        let Some(ring) = &mut self.ring else { return Ok(()) };
        self.landed.clear();
        ring.reap(&mut self.landed);
        let mut wrong = Ok(());
        for &(number, result) in &self.landed {
            let number = number as usize;
            let Some((offset, bytes)) = self.flying.get_mut(number).and_then(Option::take) else { continue };
            self.free.push(number);
            if result < 0 {
                wrong = Err(Fault::of(FailedCall::Write, Errno::from_raw_os_error(-result), offset));
            } else if result as u64 != bytes {
                wrong = Err(Fault::short(FailedCall::Write, offset, bytes, result as u64));
            }
        }
        wrong
    }

    /// Waits for all writes in flight.
    pub fn drain(&mut self) -> Result<(), Fault> {
        let mut outcome = Ok(());
        while self.in_flight() > 0 {
            let Some(ring) = &mut self.ring else { break };
            ring.submit(1)?;
            outcome = outcome.and(self.reap());
        }
        outcome
    }
}

impl Drop for AsyncWrites {
    fn drop(&mut self) {
        // The kernel reads from the buffers until a write is done.
        let _ = self.drain();
    }
}

impl FlowWorker<'_> {
    /// Submits a write.
    pub(super) fn async_write(&mut self, op: &FlatOp) -> Result<(), Break> {
        let slot = self.open_slot(op)?;
        let Transfer { bytes, offset, at, .. } = self.thread.transfer(op, slot)?;
        while self.async_writes.free.is_empty() {
            if let Some(ring) = &mut self.async_writes.ring {
                ring.wait_for(PATIENCE_NS / 50)?;
            }
            self.async_writes.reap()?;
            self.wait_until(0)?;
        }
        let Some(number) = self.async_writes.free.pop() else { return Ok(()) };
        let setting = self.setting;
        let of = self.thread.slots.get(slot).of.unwrap_or_default();
        let data =
            self.memory.write_from(at, &setting.set_places[of.0].data, of.1, offset, bytes as usize)?;
        let buffer = match &mut self.async_writes.buffers[number] {
            Some(buffer) if buffer.all().len() >= data.len() => buffer,
            other => other.insert(Buffer::new(data.len())?),
        };
        buffer.all_mut()[..data.len()].copy_from_slice(data);
        let pointer = buffer.all_mut().as_mut_ptr();
        let (Some(file), Some(ring)) = (descriptor(self.thread.slots.get(slot)), &mut self.async_writes.ring)
        else {
            return Err(super::io::closed(slot));
        };
        let from = self.clock.now();
        let write = Write { kind: OpCode::Write, offset, bytes: bytes as u32, think_ns: 0, file: 0 };
        // SAFETY: the buffer belongs to this write alone until it is reaped; leaving and dropping wait for that.
        unsafe { ring.write(number as u32, file.as_raw_fd(), &write, pointer) };
        self.async_writes.flying[number] = Some((offset, bytes));
        ring.submit(0)?;
        self.done(op, from, bytes)
    }

    /// Waits for half of the writes in flight, at least one.
    pub(super) fn async_wait(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.clock.now();
        self.async_writes.reap()?;
        let before = self.async_writes.in_flight();
        let enough = before - before.div_ceil(2);
        let until = from.saturating_add(self.clock.ticks(PATIENCE_NS));
        while self.async_writes.in_flight() > enough && self.clock.now() < until {
            if let Some(ring) = &mut self.async_writes.ring {
                ring.wait_for(PATIENCE_NS / 50)?;
            }
            self.async_writes.reap()?;
            self.wait_until(0)?;
        }
        self.done(op, from, 0)
    }
}
