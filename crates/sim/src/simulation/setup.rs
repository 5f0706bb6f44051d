//! What a workload runs on, the machine built from it, and why that may fail.

use crate::block::Block;
use crate::cache::{Cache, Physical};
use crate::devices::Device;
use crate::files::{Files, PAGE};
use crate::host::{Host, JournalRule, QueueRules};
use crate::journal::Journal;
use crate::layout::Allocator;
use crate::machine::{Build, EarlyEnd, Machine, Standstill};
use crate::sets::SetsError;
use crate::stack::Stack;
use fathom_iopath::elevator::{self, ElevatorNameError};
use fathom_iopath::readahead;
use fathom_iopath::{Limits, Queue};

const SECTORS_PER_MIB: u64 = 2048;

/// What a workload runs on.
pub struct Setup {
    /// The host and its kernel rules.
    pub host: Host,
    /// The device model.
    pub device: Box<dyn Device>,
    /// Name of the device in the record.
    pub device_name: String,
    /// The device's limits per request.
    pub limits: Limits,
    /// Scheduler specification: `NAME[@VERSION][,tunable=value...]`.
    pub scheduler: String,
    /// Read-ahead specification: `NAME[,tunable=value...]`.
    pub readahead: String,
    /// Layers between threads and device.
    pub stack: Stack,
    /// Skip the reads of indirect blocks: they are in memory from the start.
    pub indirect_in_memory: bool,
    /// Called periodically with the virtual time, ns; returns true to stop the simulation.
    pub stop: fn(u64) -> bool,
}

/// A [`Setup::stop`] that never stops.
#[must_use]
pub fn never(_: u64) -> bool {
    false
}

/// A simulation that failed.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The workload uses a feature that the simulator lacks.
    #[error("{0}")]
    Unsupported(String),
    /// No such scheduler, version or tunable.
    #[error(transparent)]
    Scheduler(#[from] ElevatorNameError),
    /// No such read-ahead or tunable.
    #[error(transparent)]
    Readahead(#[from] readahead::PolicyNameError),
    /// The files do not fit on the device, or overlap the journal.
    #[error("the files end at {end_mib} MiB, and {what} {at_mib} MiB; choose a larger device or less data")]
    Space {
        /// End of the files, MiB.
        end_mib: u64,
        /// What they collide with.
        what: &'static str,
        /// Position of that, MiB.
        at_mib: u64,
    },
    /// Stopped on request, see [`Setup::stop`].
    #[error("stopped before its end, at {at_ns} ns of virtual time")]
    Stopped {
        /// Virtual time of the stop, ns.
        at_ns: u64,
    },
    /// A bug in the model.
    #[error(transparent)]
    Standstill(Standstill),
}

impl From<EarlyEnd> for SimError {
    fn from(cut: EarlyEnd) -> Self {
        match cut {
            EarlyEnd::Stopped { at_ns } => Self::Stopped { at_ns },
            EarlyEnd::Standstill(error) => Self::Standstill(error),
        }
    }
}

impl From<SetsError> for SimError {
    fn from(error: SetsError) -> Self {
        Self::Unsupported(error.to_string())
    }
}

/// Builds the machine.
pub(super) fn machine(setup: Setup) -> Result<Machine, SimError> {
    let Setup { host, device, device_name, limits, scheduler, readahead, stack, .. } = setup;
    let elevator = elevator::by_name(&scheduler)?;
    let policy = readahead::by_name(&readahead)?;
    let rules = host.queue_rules(limits, device.depth());
    let gathers = host.block.queue.get() == QueueRules::Gathered;
    let block = Block::new(Queue::new(elevator, rules), device, &device_name, gathers);
    let fs = &host.filesystem;
    let allocator = Allocator::new(fs.layout.get(), fs.data_mib.get(), fs.interleave_blocks.get());
    let journal = Journal::new(fs.journal.get(), fs.journal_mib.get(), fs.journal_size_mib.get());
    let pages = u64::from(host.memory.cache_mib.get()) * (1 << 20) / PAGE;
    let physical = host.pages.as_ref().map(|p| Physical::new(p, host.cpu.cpus.get(), pages as u32));
    let mut cache = Cache::new(pages as usize, host.memory.replacement.get(), physical);
    cache.demote_by(host.memory.demotion.as_ref().map_or(1.0, |d| d.get()));
    Ok(Machine::new(Build { host, stack, policy, block, cache, files: Files::new(allocator), journal }))
}

/// Sectors from the start of the file area to the end of the device.
pub(super) fn room(machine: &Machine, capacity_sectors: u64) -> u64 {
    capacity_sectors.saturating_sub(machine.host.filesystem.data_mib.get() * SECTORS_PER_MIB)
}

/// Limit for growing files: the end of the device, or the journal if that lies behind them.
pub(super) fn limit(machine: &Machine, capacity_sectors: u64) -> u64 {
    let fs = &machine.host.filesystem;
    let (data_mib, journal_mib) = (fs.data_mib.get(), fs.journal_mib.get());
    if fs.journal.get() == JournalRule::None || journal_mib < data_mib {
        return capacity_sectors;
    }
    capacity_sectors.min(journal_mib * SECTORS_PER_MIB)
}

/// Checks that the files fit on the device and do not overlap the journal.
pub(super) fn check_space(machine: &Machine, capacity_sectors: u64) -> Result<(), SimError> {
    let end_mib = machine.files.borrow().end_sector().div_ceil(SECTORS_PER_MIB);
    let capacity_mib = capacity_sectors / SECTORS_PER_MIB;
    let fs = &machine.host.filesystem;
    let (data_mib, journal_mib) = (fs.data_mib.get(), fs.journal_mib.get());
    let journal_end_mib = journal_mib + u64::from(fs.journal_size_mib.get());
    if end_mib > capacity_mib {
        return Err(SimError::Space { end_mib, what: "the device at", at_mib: capacity_mib });
    }
    if fs.journal.get() != JournalRule::None {
        if journal_end_mib > capacity_mib {
            return Err(SimError::Space {
                end_mib: journal_end_mib,
                what: "the device at",
                at_mib: capacity_mib,
            });
        }
        if data_mib < journal_end_mib && journal_mib < end_mib {
            return Err(SimError::Space { end_mib, what: "the journal lies at", at_mib: journal_mib });
        }
    }
    Ok(())
}
