//! I/O priorities of single operations: what share of the reads or writes of a stream has which.

use super::is_default;
use crate::Bytes;
use serde::{Deserialize, Serialize};

/// Operations that have a priority of their own. Those that no share takes have that of their thread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorityShare {
    /// It is of writes; otherwise of reads.
    #[serde(default, skip_serializing_if = "is_default")]
    pub writes: bool,
    /// Only of those of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Percent of them.
    pub percent: f64,
    /// Class.
    pub class: IoClass,
    /// Level inside the class, 0 (first) to 7.
    #[serde(default, skip_serializing_if = "is_default")]
    pub level: u8,
    /// Hint to the device, 0 (none) to 1023.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hint: u16,
}

/// Classes of Linux's I/O priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoClass {
    /// Before all others. It takes a privilege.
    RealTime,
    /// As ever.
    BestEffort,
    /// When nobody else wants anything.
    Idle,
}

impl IoClass {
    /// Class and level as the kernel has them: the class in the bits above the 13th.
    #[must_use]
    pub fn with_level(self, level: u8) -> u16 {
        self.with_hint(level, 0)
    }

    /// The same with a hint, between both.
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
    /// Class, hint and level as the kernel has them.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.class.with_hint(self.level, self.hint)
    }
}
