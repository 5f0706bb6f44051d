//! What the kernel of a trace had set for the device. It belongs to the host, but a profile made on that host keeps it, so that a
//! simulation begins like the real device.

use fathom_iopath::Limits;
use fathom_iopath::elevator;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Settings of a device's queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelQueue {
    /// I/O scheduler, as the kernel calls it; left out if the device has none to choose.
    #[serde(default)]
    scheduler: String,
    /// Largest read-ahead window, KiB.
    read_ahead_kb: u32,
    /// Largest request, KiB.
    max_sectors_kb: u32,
}

/// KiB in a page.
const PAGE_KIB: u32 = 4;
/// Largest values that are believed: 1 GiB.
const MOST_KIB: u32 = 1 << 20;

impl KernelQueue {
    /// Of these values, as far as they can be.
    #[must_use]
    pub fn new(scheduler: &str, read_ahead_kb: u32, max_sectors_kb: u32) -> Self {
        // Other characters would end the string in a profile.
        let scheduler =
            scheduler.chars().filter(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\')).collect();
        let max_sectors_kb = max_sectors_kb.clamp(PAGE_KIB, MOST_KIB);
        Self { scheduler, read_ahead_kb: read_ahead_kb.min(MOST_KIB), max_sectors_kb }
    }

    /// The name of our scheduler that is most like it; `None` if there is none. A device without a choice of schedulers sorts nothing.
    #[must_use]
    pub fn scheduler(&self) -> Option<&str> {
        let name = match self.scheduler.as_str() {
            "bfq" => "bfq-lite",
            "" => "none",
            name => name,
        };
        elevator::by_name(name).is_ok().then_some(name)
    }

    /// The kernel's name of a scheduler that has no model.
    #[must_use]
    pub fn unknown_scheduler(&self) -> Option<&str> {
        self.scheduler().is_none().then_some(self.scheduler.as_str())
    }

    /// The read-ahead policy of today with these windows.
    #[must_use]
    pub fn readahead(&self) -> String {
        format!("modern,max={},device={}", self.read_ahead_kb / PAGE_KIB, self.max_sectors_kb / PAGE_KIB)
    }

    /// Limits with this largest request.
    #[must_use]
    pub fn limits(&self, limits: Limits) -> Limits {
        // Whole pages.
        Limits { max_sectors: self.max_sectors_kb / PAGE_KIB * PAGE_KIB * 2, ..limits }
    }

    /// The first value that cannot be: its key, the value, and what is expected.
    pub(super) fn wrong(&self) -> Option<(&'static str, String, &'static str)> {
        let values = [
            ("queue.read_ahead_kb", self.read_ahead_kb, 0, "0 to 1048576 KiB"),
            ("queue.max_sectors_kb", self.max_sectors_kb, PAGE_KIB, "4 to 1048576 KiB"),
        ];
        let wrong = values.into_iter().find(|(_, value, least, _)| !(*least..=MOST_KIB).contains(value));
        wrong.map(|(key, value, _, expected)| (key, value.to_string(), expected))
    }

    /// As a table of a profile.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::from(
            "\n# Set by the kernel of the trace. A simulation uses it unless its options say otherwise.\n[queue]\n",
        );
        // Writing to a string cannot fail.
        if !self.scheduler.is_empty() {
            let _ = writeln!(text, "scheduler = {:?}", self.scheduler);
        }
        let _ = writeln!(text, "read_ahead_kb = {}", self.read_ahead_kb);
        let _ = writeln!(text, "max_sectors_kb = {}", self.max_sectors_kb);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_comes_back_and_names_our_policies() {
        let queue = KernelQueue::new("bfq", 2560, 1280);
        let table: toml::Table = queue.table().parse().unwrap();
        assert_eq!(table["queue"].clone().try_into::<KernelQueue>().unwrap(), queue);
        assert_eq!(queue.scheduler(), Some("bfq-lite"));
        assert_eq!(queue.readahead(), "modern,max=640,device=320");
        assert_eq!(queue.limits(Limits::LOOP_618).max_sectors, 2560);
        let of_a_stranger = KernelQueue::new("adios", 128, 1280);
        assert_eq!(of_a_stranger.scheduler(), None);
        assert_eq!(of_a_stranger.unknown_scheduler(), Some("adios"));
        let odd = KernelQueue::new("no\"ne\u{7f}", u32::MAX, 5);
        assert_eq!((odd.scheduler(), odd.wrong()), (Some("none"), None));
        assert_eq!(odd.limits(Limits::LOOP_618).max_sectors, 8);
        let wrong = KernelQueue { max_sectors_kb: 0, ..queue };
        assert_eq!(wrong.wrong().unwrap().0, "queue.max_sectors_kb");
    }
}
