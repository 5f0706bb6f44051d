//! Device names during reading: queried again whenever a device without a name appears, since some formats name devices
//! late.

use crate::trace::About;
use fathom_record::block::DeviceNumber;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct DeviceNames {
    names: HashMap<DeviceNumber, String>,
}

impl DeviceNames {
    /// A device's name, or its number if it has none.
    pub(super) fn of(&mut self, number: DeviceNumber, about: &dyn Fn() -> About) -> &str {
        self.names.entry(number).or_insert_with(|| {
            let named = about().devices.into_iter().find(|d| d.number == number && !d.name.is_empty());
            named.map_or_else(|| format!("{}:{}", number.major, number.minor), |d| d.name)
        })
    }
}
