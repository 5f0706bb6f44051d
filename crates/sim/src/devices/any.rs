//! One type for all devices: no box for the builder of a device, and no virtual call in the hot path.

use super::array::Array;
use super::disk::Disk;
use super::distribution::Distribution;
use super::optical::Optical;
use super::ssd::Ssd;
use super::{Command, Constant, Counters, Device};

/// A device of any kind.
pub enum AnyDevice {
    /// Constant time per command.
    Constant(Constant),
    /// Time drawn from a distribution per command.
    Distribution(Box<Distribution>),
    /// A single disk.
    Disk(Box<Disk>),
    /// Disks behind a controller.
    Array(Box<Array>),
    /// A CD or DVD drive.
    Optical(Box<Optical>),
    /// An SSD.
    Ssd(Box<Ssd>),
}

macro_rules! each {
    ($self:expr, $device:ident => $body:expr) => {
        match $self {
            AnyDevice::Constant($device) => $body,
            AnyDevice::Distribution($device) => $body,
            AnyDevice::Disk($device) => $body,
            AnyDevice::Array($device) => $body,
            AnyDevice::Optical($device) => $body,
            AnyDevice::Ssd($device) => $body,
        }
    };
}

impl Device for AnyDevice {
    fn capacity_sectors(&self) -> u64 {
        each!(self, device => device.capacity_sectors())
    }

    fn depth(&self) -> u32 {
        each!(self, device => device.depth())
    }

    fn submit(&mut self, now: u64, command: Command) {
        each!(self, device => device.submit(now, command));
    }

    fn next_event(&self) -> Option<u64> {
        each!(self, device => device.next_event())
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        each!(self, device => device.advance(now, done));
    }

    fn counters(&self, now: u64) -> Counters {
        each!(self, device => device.counters(now))
    }
}
