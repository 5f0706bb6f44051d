//! A worker's files through its back-end: one system call per operation, or an intermediate layer that the engine also has: C library
//! streams, or a mapping.

use super::buffered::Buffered;
use super::mapping::Mapping;
use super::plan::WorkerPlan;
use crate::calls::ShortTransfer;
use crate::machine::Machine;
use crate::stack::Stack;
use fathom_workload::{Access, Backend, Stream};
use std::cell::RefCell;

/// Layer between operations and system calls, one entry per file of a worker.
pub(super) enum CallLayer {
    /// None: an operation is a call.
    Nothing,
    /// C library streams.
    Streams(RefCell<Vec<Buffered>>),
    /// Mappings; without a page cache they have no effect.
    Mappings(RefCell<Vec<Mapping>>),
}

impl CallLayer {
    /// For a stream with `files` open files.
    pub fn of(stream: &Stream, files: usize) -> Self {
        match stream.backend {
            Backend::Stdio { buffer } => {
                let size = if buffer.0 > 0 { buffer.0 } else { largest(stream) };
                Self::Streams(RefCell::new(vec![Buffered::new(size); files.max(1)]))
            }
            Backend::Mmap { .. } => {
                Self::Mappings(RefCell::new(vec![Mapping::of(&stream.backend); files.max(1)]))
            }
            _ => Self::Nothing,
        }
    }
}

/// Size of a stream's largest operation.
fn largest(stream: &Stream) -> u64 {
    match &stream.access {
        Access::Listed(list) => list.iter().map(|op| u64::from(op.bytes)).max().unwrap_or(0),
        _ => stream.record.largest().0,
    }
}

/// Takes a file's entry out of the list while in use: a worker does one operation at a time with these.
fn out_of<T: Default>(all: &RefCell<Vec<T>>, file: u32) -> T {
    let mut all = all.borrow_mut();
    let at = (file as usize).min(all.len().saturating_sub(1));
    all.get_mut(at).map(std::mem::take).unwrap_or_default()
}

/// Puts the entry back.
fn back_into<T>(all: &RefCell<Vec<T>>, file: u32, one: T) {
    let mut all = all.borrow_mut();
    let at = (file as usize).min(all.len().saturating_sub(1));
    if let Some(place) = all.get_mut(at) {
        *place = one;
    }
}

impl WorkerPlan<'_> {
    /// Reads a record from a file.
    pub async fn read(
        &self,
        machine: &Machine,
        file: u32,
        offset: u64,
        bytes: u64,
    ) -> Result<(), ShortTransfer> {
        let handle = self.handle(file);
        match &self.between {
            CallLayer::Nothing => machine.read(handle, offset, bytes).await,
            CallLayer::Streams(all) => {
                let mut stream = out_of(all, file);
                let done = stream.read(machine, handle, offset, bytes).await;
                back_into(all, file, stream);
                done
            }
            CallLayer::Mappings(_) if machine.stack != Stack::Full => {
                machine.read(handle, offset, bytes).await
            }
            CallLayer::Mappings(all) => {
                let mut mapping = out_of(all, file);
                let done = mapping.read(machine, handle, offset, bytes).await;
                back_into(all, file, mapping);
                done
            }
        }
    }

    /// Writes a record. Returns whether this made a write call.
    pub async fn write(&self, machine: &Machine, file: u32, offset: u64, bytes: u64) -> bool {
        let handle = self.handle(file);
        match &self.between {
            CallLayer::Nothing => {
                machine.write(handle, offset, bytes).await;
                true
            }
            CallLayer::Streams(all) => {
                let mut stream = out_of(all, file);
                let handed = stream.write(machine, handle, offset, bytes).await;
                back_into(all, file, stream);
                handed
            }
            CallLayer::Mappings(_) if machine.stack != Stack::Full => {
                machine.write(handle, offset, bytes).await;
                false
            }
            CallLayer::Mappings(all) => {
                let mut mapping = out_of(all, file);
                mapping.write(machine, handle, offset, bytes).await;
                back_into(all, file, mapping);
                false
            }
        }
    }

    /// Makes written data durable.
    pub async fn fsync(&self, machine: &Machine, file: u32, data_only: bool) {
        let handle = self.handle(file);
        match &self.between {
            CallLayer::Nothing => machine.fsync(handle, data_only).await,
            CallLayer::Streams(all) => {
                let mut stream = out_of(all, file);
                stream.sync(machine, handle).await;
                back_into(all, file, stream);
                machine.fsync(handle, data_only).await;
            }
            CallLayer::Mappings(all) => {
                let mut mapping = out_of(all, file);
                mapping.sync(machine, handle).await;
                back_into(all, file, mapping);
            }
        }
    }

    /// Sets up the layer once the files are open.
    pub async fn begin(&self, machine: &Machine) {
        match &self.between {
            CallLayer::Nothing => {}
            CallLayer::Streams(all) => {
                all.borrow_mut().iter_mut().for_each(|stream| *stream = stream.again())
            }
            CallLayer::Mappings(all) => {
                for file in 0..self.files.len() as u32 {
                    let mut mapping = Mapping::of(&self.stream.backend);
                    mapping.begin(machine, self, file).await;
                    back_into(all, file, mapping);
                }
            }
        }
    }

    /// Shuts the layer down before the files are closed.
    pub async fn end(&self, machine: &Machine) {
        for file in 0..self.files.len() as u32 {
            match &self.between {
                CallLayer::Nothing => return,
                CallLayer::Streams(all) => {
                    let mut stream = out_of(all, file);
                    stream.sync(machine, self.handle(file)).await;
                    back_into(all, file, stream);
                }
                CallLayer::Mappings(all) => {
                    let mut mapping = out_of(all, file);
                    mapping.end(machine, self.handle(file)).await;
                    back_into(all, file, mapping);
                }
            }
        }
    }
}
