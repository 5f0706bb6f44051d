//! Devices of formats with names or with numbers other than the kernel's: each gets a number with major 0, which no block
//! device has.

use super::cursor::LineFault;
use fathom_record::block::DeviceNumber;
use fathom_record::block::log::LogDevice;
use std::collections::HashMap;

/// Maximum number of devices in an event log.
const MAX_NAMES: usize = fathom_record::block::log::MAX_DEVICES;
/// Longest name kept, in bytes.
const MAX_NAME_BYTES: usize = 255;

#[derive(Debug, Default)]
pub(super) struct Devices {
    numbers: HashMap<String, DeviceNumber>,
    list: Vec<LogDevice>,
    /// Only arrivals are known, so devices are treated as having bios only.
    arrivals_only: bool,
}

impl Devices {
    pub(super) fn of_arrivals() -> Self {
        Self { arrivals_only: true, ..Self::default() }
    }

    /// The number for a name, which is at `byte` of its line.
    pub(super) fn number(&mut self, name: &str, byte: usize) -> Result<DeviceNumber, LineFault> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            let bytes = name.len();
            return Err(LineFault::new(
                byte,
                format!("a device's name of {bytes} bytes; 1 to {MAX_NAME_BYTES} are expected"),
            ));
        }
        if self.list.len() >= MAX_NAMES {
            return Err(LineFault::new(byte, format!("more than {MAX_NAMES} devices in one trace")));
        }
        let number = DeviceNumber { major: 0, minor: self.list.len() as u32 + 1 };
        self.numbers.insert(name.into(), number);
        let bio_based = self.arrivals_only;
        self.list.push(LogDevice { number, bio_based, name: name.into(), ..LogDevice::default() });
        Ok(number)
    }

    pub(super) fn list(&self) -> Vec<LogDevice> {
        self.list.clone()
    }
}
