//! Devices of forms that have names, or numbers which are not the kernel's: each gets a number of ours with the major number 0,
//! which no block device has.

use super::cursor::Fault;
use fathom_record::block::DeviceNumber;
use fathom_record::block::log::LogDevice;
use std::collections::HashMap;

/// As many as an event log has room for.
const MAX_NAMES: usize = fathom_record::block::log::MAX_DEVICES;
/// Longest name that is kept.
const MAX_NAME_BYTES: usize = 255;

/// The devices met so far.
#[derive(Debug, Default)]
pub(super) struct Devices {
    numbers: HashMap<String, DeviceNumber>,
    list: Vec<LogDevice>,
    /// Whether arrivals are all that is known of their requests: they are treated as devices with bios only.
    arrivals_only: bool,
}

impl Devices {
    pub(super) fn of_arrivals() -> Self {
        Self { arrivals_only: true, ..Self::default() }
    }

    /// The number of a name, which stands at `byte` of its line.
    pub(super) fn number(&mut self, name: &str, byte: usize) -> Result<DeviceNumber, Fault> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            let bytes = name.len();
            return Err(Fault::new(
                byte,
                format!("a device's name of {bytes} bytes; 1 to {MAX_NAME_BYTES} are expected"),
            ));
        }
        if self.list.len() >= MAX_NAMES {
            return Err(Fault::new(byte, format!("more than {MAX_NAMES} devices in one trace")));
        }
        let number = DeviceNumber { major: 0, minor: self.list.len() as u32 + 1 };
        self.numbers.insert(name.into(), number);
        let bio_based = self.arrivals_only;
        self.list.push(LogDevice { number, level: 0, bio_based, name: name.into() });
        Ok(number)
    }

    pub(super) fn list(&self) -> Vec<LogDevice> {
        self.list.clone()
    }
}
