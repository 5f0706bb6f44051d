//! What devices a trace has, whether a scheduler's choices can be followed on them, and how many requests each holds at once: the first
//! of two readings.

use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber};

/// A trace of a cloud has thousands of devices, and none of them has choices in it.
const MOST_DEVICES: usize = 1024;

/// What a trace has of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    /// Its number.
    pub number: DeviceNumber,
    /// Bios that arrived.
    pub arrived: u64,
    /// Requests that were made for them.
    pub made: u64,
    /// Requests that were given to a scheduler.
    pub inserted: u64,
    /// Requests that were given to the driver.
    pub issued: u64,
    /// Most that the driver had at once.
    pub most_in_device: u32,
    /// Most that were made and not completed.
    pub most_outstanding: u32,
    in_device: u32,
    outstanding: u32,
    /// Of those that the driver has, without data.
    flushes: u32,
}

impl Traced {
    /// Why a scheduler's choices cannot be followed here, if so.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        if self.issued == 0 {
            Some("no request of it is given to a driver")
        } else if self.arrived == 0 || self.made == 0 {
            Some("the way above the driver (arrivals, merges) was not recorded: record with --full")
        } else {
            None
        }
    }
}

/// The first reading.
#[derive(Clone, Debug, Default)]
pub struct Look {
    devices: Vec<Traced>,
}

impl Look {
    /// Takes the next event.
    pub fn event(&mut self, event: &BlockEvent) {
        let known = self.devices.iter().position(|d| d.number == event.device);
        let at = match known {
            Some(at) => at,
            None if self.devices.len() == MOST_DEVICES => return,
            None => {
                self.devices.push(Traced { number: event.device, ..Traced::default() });
                self.devices.len() - 1
            }
        };
        let d = &mut self.devices[at];
        match event.action {
            BlockAction::Queue => d.arrived += 1,
            BlockAction::GetRequest => {
                d.made += 1;
                d.outstanding += 1;
                d.most_outstanding = d.most_outstanding.max(d.outstanding);
            }
            BlockAction::Insert => d.inserted += 1,
            BlockAction::RequestMerge => d.outstanding = d.outstanding.saturating_sub(1),
            BlockAction::Issue => {
                d.issued += 1;
                d.in_device += 1;
                d.flushes += u32::from(event.sectors == 0);
                d.most_in_device = d.most_in_device.max(d.in_device);
            }
            BlockAction::Requeue => {
                d.in_device = d.in_device.saturating_sub(1);
                d.issued = d.issued.saturating_sub(1);
                d.flushes = d.flushes.saturating_sub(u32::from(event.sectors == 0));
            }
            // A write that came with a flush ends twice: with its data, and, when the flush behind it is done, without.
            BlockAction::Complete if event.sectors == 0 && d.flushes == 0 => {}
            BlockAction::Complete => {
                d.flushes = d.flushes.saturating_sub(u32::from(event.sectors == 0));
                d.in_device = d.in_device.saturating_sub(1);
                d.outstanding = d.outstanding.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// Every device, in the order of its first event.
    #[must_use]
    pub fn devices(&self) -> &[Traced] {
        &self.devices
    }

    /// The one that is followed if nobody says which: of those that can be, the one with the most requests.
    #[must_use]
    pub fn busiest(&self) -> Option<Traced> {
        // Of equals the first.
        let can = |d: &&Traced| (d.missing().is_none(), d.issued);
        self.devices.iter().rev().max_by_key(can).copied()
    }
}
