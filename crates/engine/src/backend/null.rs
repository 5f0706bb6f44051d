//! The null back-end: no call at all. What remains is the generator's own cost per operation.

use super::Backend;
use crate::worker::{Fault, Plan};

pub(crate) struct Null;

impl Backend for Null {
    fn open(_: &Plan) -> Result<Self, Fault> {
        Ok(Self)
    }

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
