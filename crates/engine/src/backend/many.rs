//! Several open files behind one handle; each operation selects its file. For streams over all files of a set; the one-by-one
//! back-ends are unaware of it. (The asynchronous ones hold several files themselves, as they have one queue.)

use super::{Backend, Handle};
use crate::contents::Contents;
use crate::fault::Fault;
use crate::stream_plan::StreamPlan;

pub(crate) struct Many<B> {
    files: Vec<B>,
    /// Index of the file for the next operation.
    at: usize,
}

impl<B: Handle> Handle for Many<B> {
    const ONE_FILE: bool = false;
    const SEVERAL_FILES: bool = B::ONE_FILE;

    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let Some(pool) = &plan.pool else { return Ok(Self { files: vec![B::open(plan)?], at: 0 }) };
        let mut files = Vec::with_capacity(pool.paths.len());
        for (number, path) in (0u32..).zip(pool.paths) {
            let whole = fathom_workload::ops::Region { start: 0, length: pool.files.file_bytes };
            let region = pool.parts.get(number as usize).copied().unwrap_or(whole);
            let one = StreamPlan { path: path.clone(), file: number, region, pool: None, ..plan.clone() };
            files.push(B::open(&one).map_err(|f| f.in_file(number))?);
        }
        Ok(Self { files, at: 0 })
    }

    fn register(&mut self, memory: &mut [Contents]) -> Result<(), Fault> {
        self.files.iter_mut().try_for_each(|f| f.register(memory))
    }

    fn files(&self) -> u32 {
        self.files.len() as u32
    }

    #[inline(always)]
    fn select(&mut self, file: u32) {
        self.at = file as usize;
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.files[self.at].read_now(offset, buffer)
    }

    fn sync(&mut self, data_only: bool) -> Result<(), Fault> {
        self.files[self.at].sync(data_only)
    }

    fn evict(&mut self, offset: u64, bytes: u32) {
        self.files[self.at].evict(offset, bytes);
    }

    fn close(self) -> Result<(), Fault> {
        (0u32..).zip(self.files).try_for_each(|(number, file)| file.close().map_err(|f| f.in_file(number)))
    }

    fn descriptor(&self) -> Option<rustix::fd::BorrowedFd<'_>> {
        self.files[self.at].descriptor()
    }
}

impl<B: Backend> Backend for Many<B> {
    #[inline(always)]
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        self.files[self.at].read(offset, buffer)
    }

    #[inline(always)]
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        self.files[self.at].write(offset, buffer)
    }
}
