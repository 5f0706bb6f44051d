//! How much of a device's traffic was not ours. An estimate from below, from figures of the whole machine: it misses what hides
//! behind our own traffic, and it does not take our own metadata for a neighbour.

use fathom_record::{Phase, Physical, Run};

/// Above this share of the device's bytes a neighbour matters ...
const SHARE: f64 = 0.02;
/// ... if it is more than the few metadata blocks every system writes now and then.
pub(crate) const LEAST_BYTES: u64 = 1 << 20;

/// Bytes that others moved at the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreign {
    /// Read by others.
    pub read_bytes: u64,
    /// Written by others.
    pub write_bytes: u64,
    /// Everything the device moved.
    pub device_bytes: u64,
}

impl Foreign {
    /// The others' share of the device's bytes, 0..=1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.device_bytes == 0 {
            return 0.0;
        }
        self.read_bytes.saturating_add(self.write_bytes) as f64 / self.device_bytes as f64
    }
}

impl Foreign {
    /// Whether it is enough to change a figure.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.share() > SHARE && self.read_bytes.saturating_add(self.write_bytes) >= LEAST_BYTES
    }
}

/// The estimate for every phase that was measured, the largest of its repetitions: one that matters before one that does not.
#[must_use]
pub fn by_phase(run: &Run) -> Vec<(&Phase, Option<Foreign>)> {
    let mut dirty_before = None;
    let mut found = Vec::new();
    for phase in run.phases.iter().filter(|p| !p.repetitions.is_empty()) {
        let mut worst: Option<Foreign> = None;
        for repetition in &phase.repetitions {
            let estimate = estimate(&repetition.physical, dirty_before);
            dirty_before = repetition.physical.dirty_after_bytes;
            let worse = |e: &Foreign| {
                worst.is_none_or(|w| {
                    e.matters().cmp(&w.matters()).then(e.share().total_cmp(&w.share())).is_gt()
                })
            };
            worst = estimate.filter(worse).or(worst);
        }
        found.push((phase, worst));
    }
    found
}

/// What a journal commit may write beside the data, for each flush the device saw: a descriptor, a few metadata blocks, the
/// commit block.
const COMMIT_BYTES: u64 = 64 * 1024;

/// The estimate for one repetition; `None` without counters of a device or of our own I/O. `dirty_before_bytes` is the dirty
/// data of the machine at its start (the `dirty_after_bytes` of the phase before); without it writes are not judged.
///
/// Reads are simple: the kernel charges a read to the process that causes it, metadata and read-ahead included, so what the
/// device read beyond our own charge was read by somebody else. Writes are charged when a page is dirtied and reach the device
/// later, from kernel threads, together with a journal. What we are allowed without blame is what was dirty before, twice what
/// we wrote (journalled or mirrored data), and a journal commit for every flush.
#[must_use]
pub fn estimate(physical: &Physical, dirty_before_bytes: Option<u64>) -> Option<Foreign> {
    let device = physical.devices.first()?;
    let read_bytes = device.read_bytes.saturating_sub(physical.own_read_bytes?);
    let write_bytes = match (physical.own_write_bytes, dirty_before_bytes) {
        (Some(own), Some(dirty)) => {
            let ours = own
                .saturating_mul(2)
                .saturating_add(dirty)
                .saturating_add(device.flush_ios.saturating_add(1).saturating_mul(COMMIT_BYTES));
            device.write_bytes.saturating_sub(ours)
        }
        _ => 0,
    };
    let device_bytes = device.read_bytes.saturating_add(device.write_bytes);
    Some(Foreign { read_bytes, write_bytes, device_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::DeviceDelta;

    const MIB: u64 = 1 << 20;

    fn physical(read: u64, write: u64, own_read: u64, own_write: u64) -> Physical {
        let device = DeviceDelta {
            name: "sda".into(),
            read_bytes: read,
            write_bytes: write,
            flush_ios: 1,
            ..DeviceDelta::default()
        };
        Physical {
            devices: vec![device],
            own_read_bytes: Some(own_read),
            own_write_bytes: Some(own_write),
            ..Physical::default()
        }
    }

    #[test]
    fn reads_beyond_our_own_are_others() {
        let foreign = estimate(&physical(100 * MIB, 0, 90 * MIB, 0), None).expect("known");
        assert_eq!((foreign.read_bytes, foreign.write_bytes), (10 * MIB, 0));
        assert!((foreign.share() - 0.1).abs() < 1e-9);
        assert_eq!(estimate(&physical(90 * MIB, 0, 90 * MIB, 0), None).expect("known").share(), 0.0);
    }

    #[test]
    fn our_journal_and_what_was_dirty_before_are_not_others() {
        let journalled = physical(0, 20 * MIB, 0, 10 * MIB);
        assert_eq!(estimate(&journalled, Some(0)).expect("known").write_bytes, 0);
        let written_back = physical(0, 100 * MIB, 0, 0);
        assert_eq!(estimate(&written_back, Some(100 * MIB)).expect("known").write_bytes, 0);
        let others = estimate(&written_back, Some(0)).expect("known");
        assert_eq!(others.write_bytes, 100 * MIB - 2 * COMMIT_BYTES);
    }

    #[test]
    fn without_figures_nothing_is_claimed() {
        assert_eq!(estimate(&Physical::default(), None), None);
        assert_eq!(estimate(&physical(0, 100 * MIB, 0, 0), None).expect("known").write_bytes, 0);
        let unaccounted = Physical { own_read_bytes: None, ..physical(MIB, 0, 0, 0) };
        assert_eq!(estimate(&unaccounted, None), None);
        assert_eq!(estimate(&physical(0, 0, 0, 0), None).expect("known").share(), 0.0);
    }
}
