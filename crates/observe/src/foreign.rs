//! Estimates how much of a device's traffic was not ours, from machine-wide figures and from the issuers of requests where they were
//! watched. It is a lower bound: it misses traffic hidden behind our own, and does not attribute our own metadata to others.

use fathom_record::block::{DeviceActivity, Issuer, IssuerKind};
use fathom_record::{BlockLayer, OpKind, Phase, Physical, Repetition, Run};

/// Others matter above this share of the device's bytes ...
const SHARE: f64 = 0.02;
/// ... if it is more than the occasional metadata blocks that every system writes.
pub(crate) const LEAST_BYTES: u64 = 1 << 20;

/// Bytes that other programs moved at the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreign {
    /// Read by others.
    pub read_bytes: u64,
    /// Written by others.
    pub write_bytes: u64,
    /// All bytes that the device moved.
    pub device_bytes: u64,
}

impl Foreign {
    /// All that others moved.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.write_bytes)
    }

    /// The others' share of the device's bytes, 0..=1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.device_bytes == 0 {
            return 0.0;
        }
        (self.bytes() as f64 / self.device_bytes as f64).min(1.0)
    }

    /// Whether it is enough to change a figure.
    #[must_use]
    pub fn matters(&self) -> bool {
        self.share() > SHARE && self.bytes() >= LEAST_BYTES
    }
}

/// The estimate for every measured phase: the largest of its repetitions, with ones that matter first.
#[must_use]
pub fn by_phase(run: &Run) -> Vec<(&Phase, Option<Foreign>)> {
    let worse =
        |a: &Foreign, b: &Foreign| a.matters().cmp(&b.matters()).then(a.share().total_cmp(&b.share()));
    let measured = run.phases.iter().filter(|p| !p.repetitions.is_empty());
    measured.map(|phase| (phase, phase.repetitions.iter().filter_map(of).max_by(worse))).collect()
}

/// The estimate for one repetition, from the counters or from the requests' issuers, whichever shows more.
#[must_use]
pub fn of(repetition: &Repetition) -> Option<Foreign> {
    let counted = estimate(&repetition.physical, metadata_calls(repetition))?;
    let block = repetition.block.as_ref().filter(|b| b.lost == 0);
    let watched = block.and_then(|b| watched(b, &repetition.physical));
    let Some(device) = watched else { return Some(counted) };
    let (read_bytes, issued) = issued_by_others(device);
    // More bytes than they issued are theirs only if written back: a journal's writes belong to no program.
    let written_back: u64 =
        device.issuers.iter().filter(|i| i.kind == IssuerKind::Writeback).map(|i| i.write_bytes).sum();
    let write_bytes = counted.write_bytes.min(issued.saturating_add(written_back)).max(issued);
    // Requests are watched slightly longer than the counters span, so the total must cover the observed parts.
    let seen: u64 = device.issuers.iter().map(|i| i.read_bytes.saturating_add(i.write_bytes)).sum();
    Some(Foreign { read_bytes, write_bytes, device_bytes: counted.device_bytes.max(seen) })
}

/// The device that was watched for a device with counters: itself, or the disk of a partition.
fn watched<'a>(block: &'a BlockLayer, physical: &Physical) -> Option<&'a DeviceActivity> {
    let counted = physical.devices.first()?;
    let mut tops = block.devices.iter().filter(|d| d.level == 0 && !physical.is_journal(&d.name));
    match tops.next() {
        Some(disk) if counted.kind == "partition" && tops.next().is_none() => Some(disk),
        _ => block.devices.iter().find(|d| d.name == counted.name),
    }
}

/// Calls that change names, whose writes go through the journal and are charged to no process.
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

/// Upper bound of a journal commit's overhead, per flush at the device: a descriptor, a few metadata blocks, the commit block.
const COMMIT_BYTES: u64 = 64 * 1024;
/// Upper bound of metadata writes for a created or deleted file: directory, inode and bitmaps.
const METADATA_BYTES: u64 = 16 * 1024;

/// The estimate from counters; `None` without those of a device or of our own I/O, which a FUSE server's do not separate. If the machine's dirty data at the start is unknown,
/// writes are not judged.
///
/// Reads: the kernel charges a read to the process that causes it, including metadata and read-ahead, so device reads beyond our own
/// charge are by others. Writes are charged when a page is dirtied and reach the device later, from kernel threads, together with a
/// journal. Our allowance is the data that was dirty before, twice our own writes (journalled or mirrored data), a journal commit per
/// flush, and metadata of every created or deleted file.
#[must_use]
fn estimate(physical: &Physical, metadata_calls: u64) -> Option<Foreign> {
    // What a file system's server reads for others is not known.
    let device = physical.devices.first().filter(|_| !physical.is_served())?;
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
        let mut part = repetition.clone();
        part.physical.devices[0].name = "sda1".into();
        part.physical.devices[0].kind = "partition".into();
        assert_eq!(of(&part).expect("known").write_bytes, 60 * MIB, "its disk was watched");
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

    /// A read of 4 KiB beside a program that writes, as seen by counters and by block events: the events span more time.
    fn beside_a_writer() -> (Phase, Repetition) {
        let issuer = |kind, read_bytes, write_bytes| Issuer {
            kind,
            name: "dd".into(),
            read_bytes,
            write_bytes,
            ..Issuer::default()
        };
        let device = DeviceActivity {
            name: "sda".into(),
            issuers: vec![
                issuer(IssuerKind::Own, 488 << 10, 0),
                issuer(IssuerKind::Other, 0, (1669 << 10) + 512),
            ],
            ..DeviceActivity::default()
        };
        let repetition = Repetition {
            elapsed_ns: 100_000_000,
            physical: physical((488 << 10, 0), (488 << 10, 0), Some(0)),
            block: Some(fathom_record::BlockLayer { devices: vec![device], ..Default::default() }),
            ..Repetition::default()
        };
        let phase = crate::doubts::test_runs::phase("read", 488 << 10, 488 << 10);
        (phase, repetition)
    }

    #[test]
    fn no_share_is_above_one_though_events_span_more_than_counters() {
        let (_, repetition) = beside_a_writer();
        let found = of(&repetition).expect("known");
        assert_eq!((found.bytes(), found.device_bytes), ((1669 << 10) + 512, (2157 << 10) + 512));
        let odd = Foreign { read_bytes: 10 * MIB, write_bytes: 0, device_bytes: MIB };
        assert_eq!(odd.share(), 1.0);
    }

    /// The finding, the doubt and the trust check report the same bytes.
    #[test]
    fn one_answer_is_given_everywhere() {
        let (phase, repetition) = beside_a_writer();
        let facts = crate::findings::Facts {
            phase: &phase,
            repetition: &repetition,
            workload: &crate::findings::WorkloadTraits::default(),
            environment: &serde_json::Value::Null,
            attributes: crate::attributes::Attributes::default(),
            evictions: None,
            swapped_in_bytes: None,
            image_growth: None,
            unshared_bytes: 0,
            allowed_busy_ns: None,
            joined: None,
            pieces: None,
        };
        let finding = crate::findings::of(&facts).remove(0).sentence;
        let workers = phase.repetitions[0].workers.clone();
        let measured = Repetition { workers, ..repetition.clone() };
        let run = crate::doubts::test_runs::run_of(vec![Phase { repetitions: vec![measured], ..phase }]);
        let seen = crate::doubts::DoubtInputs::default();
        let doubts = crate::doubts::of(&run, &serde_json::Value::Null, &seen);
        let doubt = doubts.iter().find(|d| d.code == "foreign-io").expect("a doubt").sentence.clone();
        let trust = crate::trust::of(&run, &serde_json::Value::Null, &seen);
        let trust = trust.iter().find(|t| t.code == "neighbours").expect("a check").sentence.clone();
        for sentence in [&finding, &doubt, &trust] {
            assert!(sentence.contains("1.6 MiB") && sentence.contains("2.1 MiB"), "{sentence}");
        }
        assert!(
            doubt.contains("they moved at least 1.6 MiB (0 B read, 1.6 MiB written) of the 2.1 MiB"),
            "{doubt}"
        );
        assert!(!doubt.contains('%'), "bytes of both say it: {doubt}");
    }

    #[test]
    fn created_names_are_not_counted_as_foreign_writes() {
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
