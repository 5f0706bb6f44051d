//! The null back-end: no call at all. What remains is the generator's own cost per operation.

use super::{AsyncBackend, Backend, Handle, Target};
use crate::clock::Clock;
use crate::fault::Fault;
use crate::stream_plan::StreamPlan;
use fathom_workload::ops::Op;

pub(crate) struct Null;

impl Handle for Null {
    const SEVERAL_FILES: bool = true;

    fn open(_: &StreamPlan) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        Backend::read(self, offset, buffer)
    }

    fn sync(&mut self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn close(self) -> Result<(), Fault> {
        Ok(())
    }

    fn descriptor(&self) -> Option<rustix::fd::BorrowedFd<'_>> {
        None
    }
}

impl Backend for Null {
    #[inline(always)]
    fn read(&mut self, _: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        std::hint::black_box(buffer);
        Ok(())
    }

    #[inline(always)]
    fn write(&mut self, _: u64, buffer: &[u8]) -> Result<(), Fault> {
        std::hint::black_box(buffer);
        Ok(())
    }
}

/// The null back-end with several operations in flight: each completes on submission.
pub(crate) struct AsyncNull {
    queued: Vec<(u32, i32)>,
    complete: Vec<(u32, i32)>,
}

impl Handle for AsyncNull {
    const SEVERAL_FILES: bool = true;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let depth = plan.stream.queue_depth as usize;
        Ok(Self { queued: Vec::with_capacity(depth), complete: Vec::with_capacity(depth) })
    }

    fn read_now(&mut self, _: u64, _: &mut [u8]) -> Result<(), Fault> {
        Ok(())
    }

    fn sync(&mut self, _: bool) -> Result<(), Fault> {
        Ok(())
    }

    fn close(self) -> Result<(), Fault> {
        Ok(())
    }

    fn descriptor(&self) -> Option<rustix::fd::BorrowedFd<'_>> {
        None
    }
}

impl AsyncBackend for AsyncNull {
    #[inline(always)]
    fn queue(&mut self, number: u32, op: &Op, target: Target) {
        std::hint::black_box(target.pointer);
        self.queued.push((number, op.bytes as i32));
    }

    #[inline(always)]
    fn submit(&mut self, _: usize, clock: Clock) -> Result<u64, Fault> {
        let given = clock.now();
        self.complete.append(&mut self.queued);
        Ok(given)
    }

    fn submit_for(&mut self, _: u64, clock: Clock) -> Result<u64, Fault> {
        self.submit(0, clock)
    }

    #[inline(always)]
    fn reap(&mut self, into: &mut Vec<(u32, i32)>) {
        into.append(&mut self.complete);
    }
}
