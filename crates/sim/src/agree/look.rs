//! First of two passes over a trace: which devices it has, whether a scheduler's choices can be followed on them, and how many requests
//! each holds at once.

use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber};

/// Limit on devices: a trace from a cloud may have thousands, none of them with choices to follow.
const MOST_DEVICES: usize = 1024;

/// Figures of one device in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    /// Device number.
    pub number: DeviceNumber,
    /// Bios queued.
    pub arrived: u64,
    /// Requests allocated for them.
    pub made: u64,
    /// Requests inserted into a scheduler.
    pub inserted: u64,
    /// Requests issued to the driver.
    pub issued: u64,
    /// Highest number of requests in the driver.
    pub most_in_device: u32,
    /// Highest number of requests allocated and not completed.
    pub most_outstanding: u32,
    in_device: u32,
    outstanding: u32,
    /// Requests without data in the driver.
    flushes: u32,
}

impl Traced {
    /// Why a scheduler's choices cannot be followed here; `None` if they can.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        if self.issued == 0 {
            Some("the trace shows none of its requests at the driver")
        } else if self.arrived == 0 || self.made == 0 {
            Some("arrivals and merges were not recorded: record with --full")
        } else {
            None
        }
    }
}

/// Collects the figures of every device.
#[derive(Clone, Debug, Default)]
pub struct Look {
    devices: Vec<Traced>,
}

impl Look {
    /// Processes the next event.
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
            // A write with a flush completes twice: with its data, and without data once the flush after it is done.
            BlockAction::Complete if event.sectors == 0 && d.flushes == 0 => {}
            BlockAction::Complete => {
                d.flushes = d.flushes.saturating_sub(u32::from(event.sectors == 0));
                d.in_device = d.in_device.saturating_sub(1);
                d.outstanding = d.outstanding.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// Every device, in order of its first event.
    #[must_use]
    pub fn devices(&self) -> &[Traced] {
        &self.devices
    }

    /// The default device: among those that can be followed, the one with the most requests.
    #[must_use]
    pub fn busiest(&self) -> Option<Traced> {
        // The first among equals.
        let can = |d: &&Traced| (d.missing().is_none(), d.issued);
        self.devices.iter().rev().max_by_key(can).copied()
    }
}
