//! How much of a device's traffic was not ours. An estimate from below, from figures of the whole machine and from who issued the
//! requests where they were watched: it misses what hides behind our own traffic, and it does not take our own metadata for a neighbour.

use fathom_record::block::{DeviceActivity, Issuer, IssuerKind};
use fathom_record::{OpKind, Phase, Physical, Repetition, Run};

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
    let worse =
        |a: &Foreign, b: &Foreign| a.matters().cmp(&b.matters()).then(a.share().total_cmp(&b.share()));
    let measured = run.phases.iter().filter(|p| !p.repetitions.is_empty());
    measured.map(|phase| (phase, phase.repetitions.iter().filter_map(of).max_by(worse))).collect()
}

/// The estimate for one repetition, by what tells more of them: the counters, or who issued the requests.
#[must_use]
pub fn of(repetition: &Repetition) -> Option<Foreign> {
    let counted = estimate(&repetition.physical, metadata_calls(repetition))?;
    let block = repetition.block.as_ref().filter(|b| b.lost == 0);
    let watched =
        block.and_then(|b| b.devices.iter().find(|d| d.name == repetition.physical.devices[0].name));
    let Some(device) = watched else { return Some(counted) };
    let (read_bytes, issued) = issued_by_others(device);
    // More than they issued is theirs only if it was written back: a journal's writes are nobody's.
    let written_back: u64 =
        device.issuers.iter().filter(|i| i.kind == IssuerKind::Writeback).map(|i| i.write_bytes).sum();
    let write_bytes = counted.write_bytes.min(issued.saturating_add(written_back)).max(issued);
    Some(Foreign { read_bytes, write_bytes, ..counted })
}

/// Calls that change names, which are written by the journal and are charged to nobody.
fn metadata_calls(repetition: &Repetition) -> u64 {
    let stats = repetition.workers.iter().flat_map(|w| &w.stats);
    stats.filter(|s| matches!(s.op, OpKind::Open | OpKind::Delete)).map(|s| s.ops).sum()
}

/// Bytes read and written that other programs issued.
pub(crate) fn issued_by_others(device: &DeviceActivity) -> (u64, u64) {
    let others = || device.issuers.iter().filter(|i| i.kind == IssuerKind::Other);
    let sum = |of: fn(&Issuer) -> u64| others().map(of).sum();
    (sum(|i| i.read_bytes), sum(|i| i.write_bytes))
}

/// What a journal commit may write beside the data, for each flush the device saw: a descriptor, a few metadata blocks, the
/// commit block.
const COMMIT_BYTES: u64 = 64 * 1024;
/// What it may write for a file that is made or deleted: directory, inode and bitmaps.
const METADATA_BYTES: u64 = 16 * 1024;

/// The estimate from counters; `None` without those of a device or of our own I/O. Without the dirty data of the machine at the
/// start writes are not judged.
///
/// Reads are simple: the kernel charges a read to the process that causes it, metadata and read-ahead included, so what the
/// device read beyond our own charge was read by somebody else. Writes are charged when a page is dirtied and reach the device
/// later, from kernel threads, together with a journal. What we are allowed without blame is what was dirty before, twice what
/// we wrote (journalled or mirrored data), a journal commit for every flush, and metadata of every file that was made or deleted.
#[must_use]
fn estimate(physical: &Physical, metadata_calls: u64) -> Option<Foreign> {
    let device = physical.devices.first()?;
    let read_bytes = device.read_bytes.saturating_sub(physical.own_read_bytes?);
    let write_bytes = match (physical.own_write_bytes, physical.dirty_before_bytes) {
        (Some(own), Some(dirty)) => {
            let ours = own
                .saturating_mul(2)
                .saturating_add(dirty)
                .saturating_add(device.flush_ios.saturating_add(1).saturating_mul(COMMIT_BYTES))
                .saturating_add(metadata_calls.saturating_mul(METADATA_BYTES));
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

    fn physical(
        (read, write): (u64, u64),
        (own_read, own_write): (u64, u64),
        dirty: Option<u64>,
    ) -> Physical {
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
            dirty_before_bytes: dirty,
            ..Physical::default()
        }
    }

    #[test]
    fn reads_beyond_our_own_are_others() {
        let foreign = |own| estimate(&physical((100 * MIB, 0), (own, 0), None), 0).expect("known");
        assert_eq!((foreign(90 * MIB).read_bytes, foreign(90 * MIB).write_bytes), (10 * MIB, 0));
        assert!((foreign(90 * MIB).share() - 0.1).abs() < 1e-9);
        assert_eq!(foreign(100 * MIB).share(), 0.0);
    }

    #[test]
    fn our_journal_and_what_was_dirty_before_are_not_others() {
        let written = |moved, own, dirty| {
            estimate(&physical((0, moved * MIB), (0, own * MIB), Some(dirty * MIB)), 0)
                .expect("known")
                .write_bytes
        };
        assert_eq!(written(20, 10, 0), 0, "journalled");
        assert_eq!(written(100, 0, 100), 0, "written back");
        assert_eq!(written(100, 0, 0), 100 * MIB - 2 * COMMIT_BYTES);
    }

    #[test]
    fn who_issued_the_requests_counts_where_it_tells_more() {
        let issuer = |kind, write_bytes| Issuer { kind, write_bytes, ..Issuer::default() };
        let device = DeviceActivity {
            name: "sda".into(),
            issuers: vec![issuer(IssuerKind::Own, 10 * MIB), issuer(IssuerKind::Other, 60 * MIB)],
            ..DeviceActivity::default()
        };
        let mut repetition = Repetition {
            physical: physical((0, 70 * MIB), (0, 10 * MIB), Some(40 * MIB)),
            block: Some(fathom_record::BlockLayer { devices: vec![device], ..Default::default() }),
            ..Repetition::default()
        };
        assert_eq!(of(&repetition).expect("known").write_bytes, 60 * MIB);
        repetition.physical.dirty_before_bytes = Some(0);
        let issuers = |repetition: &mut Repetition, all| {
            repetition.block.as_mut().expect("watched").devices[0].issuers = all;
        };
        let written = |repetition: &Repetition| of(repetition).expect("known").write_bytes;
        issuers(&mut repetition, vec![issuer(IssuerKind::Writeback, 70 * MIB)]);
        assert_eq!(written(&repetition), 50 * MIB - 2 * COMMIT_BYTES, "the kernel wrote it for them");
        issuers(
            &mut repetition,
            vec![issuer(IssuerKind::Writeback, MIB), issuer(IssuerKind::Journal, 69 * MIB)],
        );
        assert_eq!(written(&repetition), MIB, "the journal is nobody's");
    }

    #[test]
    fn names_that_are_made_are_written_by_nobody() {
        let created = physical((0, 12 * MIB), (0, 0), Some(0));
        let write_bytes = |calls| estimate(&created, calls).expect("known").write_bytes;
        assert_eq!((write_bytes(0), write_bytes(1000)), (12 * MIB - 2 * COMMIT_BYTES, 0));
    }

    #[test]
    fn without_figures_nothing_is_claimed() {
        assert_eq!(estimate(&Physical::default(), 0), None);
        assert_eq!(estimate(&physical((0, 100 * MIB), (0, 0), None), 0).expect("known").write_bytes, 0);
        let unaccounted = Physical { own_read_bytes: None, ..physical((MIB, 0), (0, 0), None) };
        assert_eq!(estimate(&unaccounted, 0), None);
        assert_eq!(estimate(&physical((0, 0), (0, 0), Some(0)), 0).expect("known").share(), 0.0);
    }
}
