//! I/O priorities of single operations: which share of a stream's reads or writes has which priority.

use super::is_default;
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// Operations with their own priority. Operations outside all shares have their thread's priority.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityShare {
    /// Applies to writes; otherwise to reads.
    #[serde(default, skip_serializing_if = "is_default")]
    pub writes: bool,
    /// Only operations of this size; `None`: all sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Percentage of those operations.
    pub percent: f64,
    /// Class.
    pub class: IoClass,
    /// Level inside the class, 0 (highest) to 7.
    #[serde(default, skip_serializing_if = "is_default")]
    pub level: u8,
    /// Hint to the device, 0 (none) to 1023.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hint: u16,
}

/// Linux I/O priority classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoClass {
    /// Served before all others. Needs a privilege.
    RealTime,
    /// The default class.
    BestEffort,
    /// Served only when the device is otherwise idle.
    Idle,
}

impl IoClass {
    /// Class and level in the kernel's encoding: the class in the bits from the 13th on.
    #[must_use]
    pub fn with_level(self, level: u8) -> u16 {
        self.with_hint(level, 0)
    }

    /// The same with a hint, in the bits between class and level.
    #[must_use]
    pub fn with_hint(self, level: u8, hint: u16) -> u16 {
        let class: u16 = match self {
            Self::RealTime => 1,
            Self::BestEffort => 2,
            Self::Idle => 3,
        };
        class << 13 | hint << 3 | u16::from(level)
    }
}

impl PriorityShare {
    /// Class, hint and level in the kernel's encoding.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.class.with_hint(self.level, self.hint)
    }
}
