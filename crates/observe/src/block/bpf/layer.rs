//! What the programs counted, as it is stored.

use super::issuers::Issuers;
use super::maps::{BUCKETS, CLASSES, Maps, Tally};
use crate::block::Watched;
use fathom_record::Histogram;
use fathom_record::block::event::SECTOR_BYTES;
use fathom_record::block::{
    BlockInterval, DepthTime, DeviceActivity, Issuer, RequestClass, RequestStats, Seeks, SizeCount,
};

/// The figures of one device between the beginning of a watch and `until_ns`, which is its end.
pub(super) fn activity(
    maps: &Maps,
    watch: u32,
    (device, who): (usize, &Watched),
    between_ns: (u64, u64),
    issuers: &Issuers,
) -> DeviceActivity {
    let mut activity = DeviceActivity {
        name: who.name.clone(),
        number: who.number,
        level: who.level,
        ..DeviceActivity::default()
    };
    let mut total = Issuer::default();
    for (n, class) in (0..CLASSES).zip(RequestClass::ALL) {
        let tally = maps.tally(watch, device, n);
        activity.begun_before += tally.begun_before;
        activity.requeued += tally.requeued;
        activity.unfinished += tally.issued.saturating_sub(tally.completed);
        match class {
            RequestClass::Read => (total.reads, total.read_bytes) = (tally.issued, tally.issued_bytes),
            RequestClass::Write => (total.writes, total.write_bytes) = (tally.issued, tally.issued_bytes),
            _ => total.others += tally.issued,
        }
        if tally.issued + tally.completed > 0 {
            activity.requests.push(stats(maps, watch, (device, n, class), tally));
        }
    }
    let spent = maps.spent(watch, device, between_ns);
    activity.busy_ns = spent.iter().skip(1).sum();
    let times = (0..).zip(&spent).filter(|&(_, &ns)| ns > 0);
    activity.in_device = times.map(|(depth, &ns)| DepthTime { depth, ns }).collect();
    activity.issuers = issuers.of(device, &maps.workers(watch, device), &total);
    activity
}

fn stats(
    maps: &Maps,
    watch: u32,
    (device, n, class): (usize, usize, RequestClass),
    tally: Tally,
) -> RequestStats {
    let mut d2c = maps.d2c(watch, device, n);
    d2c.truncate(BUCKETS);
    let sizes = maps.sizes(watch, device, n);
    RequestStats {
        class,
        issued: tally.issued,
        issued_bytes: tally.issued_bytes,
        completed: tally.completed,
        completed_bytes: tally.completed_bytes,
        errors: tally.errors,
        ahead: tally.ahead,
        sync: tally.sync,
        meta: tally.meta,
        fua: tally.fua,
        sizes: sizes
            .into_iter()
            .map(|(sectors, count)| SizeCount { bytes: sectors * SECTOR_BYTES, count })
            .collect(),
        seeks: Seeks {
            sequential: tally.sequential,
            forward: tally.forward,
            backward: tally.backward,
            distances: (0..).zip(tally.distances).filter(|&(_, n)| n > 0).collect(),
            total_bytes: tally.distance_sectors * u128::from(SECTOR_BYTES),
        },
        d2c: Histogram::from_dense(&d2c, tally.d2c_ns, tally.d2c_min_ns, tally.d2c_max_ns),
        ..RequestStats::default()
    }
}

/// The sums of an iostat-style row, from the beginning of the watch up to a moment.
pub(super) fn so_far(
    maps: &Maps,
    watch: u32,
    device: usize,
    (from_ns, until_ns): (u64, u64),
) -> BlockInterval {
    let [read, write, flush, discard] = [0, 1, 2, 3].map(|class| maps.tally(watch, device, class));
    let spent = maps.spent(watch, device, (from_ns, until_ns));
    let ns = |tally: &Tally| u64::try_from(tally.d2c_ns).unwrap_or(u64::MAX);
    BlockInterval {
        device: device as u32,
        end_ns: until_ns.saturating_sub(from_ns),
        reads: read.completed,
        read_bytes: read.completed_bytes,
        read_ns: ns(&read),
        writes: write.completed,
        write_bytes: write.completed_bytes,
        write_ns: ns(&write),
        discards: discard.completed,
        flushes: flush.completed,
        busy_ns: spent.iter().skip(1).sum(),
        depth_ns: (0..).zip(&spent).map(|(depth, ns): (u64, &u64)| depth * ns).sum(),
        ..BlockInterval::default()
    }
}

/// The rows between such sums, which are of one device in the order of time.
pub(super) fn rows(sums: &[BlockInterval]) -> Vec<BlockInterval> {
    let mut before = BlockInterval::default();
    let row = |now: &BlockInterval| {
        let row = BlockInterval {
            width_ns: now.end_ns.saturating_sub(before.end_ns),
            reads: now.reads.saturating_sub(before.reads),
            read_bytes: now.read_bytes.saturating_sub(before.read_bytes),
            read_ns: now.read_ns.saturating_sub(before.read_ns),
            writes: now.writes.saturating_sub(before.writes),
            write_bytes: now.write_bytes.saturating_sub(before.write_bytes),
            write_ns: now.write_ns.saturating_sub(before.write_ns),
            discards: now.discards.saturating_sub(before.discards),
            flushes: now.flushes.saturating_sub(before.flushes),
            // A change of depth that is being counted while it is read may be a few ns short.
            busy_ns: now.busy_ns.saturating_sub(before.busy_ns),
            depth_ns: now.depth_ns.saturating_sub(before.depth_ns),
            ..*now
        };
        before = *now;
        row
    };
    sums.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_differences_of_sums() {
        let sum = |end_ns, reads, busy_ns| BlockInterval {
            device: 1,
            end_ns,
            reads,
            read_bytes: reads * 4096,
            busy_ns,
            depth_ns: busy_ns * 2,
            ..BlockInterval::default()
        };
        let rows = rows(&[sum(100, 3, 50), sum(200, 3, 50), sum(250, 10, 80)]);
        let seen: Vec<_> =
            rows.iter().map(|r| (r.device, r.end_ns, r.width_ns, r.reads, r.read_bytes, r.busy_ns)).collect();
        assert_eq!(seen, [(1, 100, 100, 3, 12_288, 50), (1, 200, 100, 0, 0, 0), (1, 250, 50, 7, 28_672, 30)]);
        assert_eq!(rows[2].depth_ns, 60);
    }
}
