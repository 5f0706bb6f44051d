//! Devices against arithmetic: queueing theory, the seek integral, zone rates, and the collapse of an array of 2008, which needs no
//! fitted number.

use super::array::{Array, ArrayLayout, ArrayRules, RaidLevel};
use super::disk::testing::{PLAIN, disk_of, rules};
use super::disk::{DiskRules, GeometryRules};
use super::testing::{closed, numbers, open, read, write};
use super::{Command, Constant, Device, DeviceProfile, by_name};
use crate::random::{Entity, Stream};

/// Mean time in an M/G/1 queue (Pollaczek-Khinchine).
fn pollaczek_khinchine(rate: f64, mean: f64, second_moment: f64) -> f64 {
    rate * second_moment / (2.0 * (1.0 - rate * mean))
}

#[test]
fn the_wait_of_a_queue_is_that_of_queueing_theory() {
    // Three sizes with 100 us per command and 1 us per sector; load 0.7.
    let sizes = [8u64, 64, 400];
    let service: Vec<f64> = sizes.iter().map(|s| 100.0 + *s as f64).collect();
    let mean = service.iter().sum::<f64>() / 3.0;
    let second = service.iter().map(|s| s * s).sum::<f64>() / 3.0;
    let rate = 0.7 / mean;
    let mut stream = Stream::new(11, Entity::System);
    let mut at = 0.0;
    let arrivals: Vec<(u64, Command)> = (0..600_000)
        .map(|n| {
            at += -(1.0 - stream.unit()).ln() / rate * 1000.0;
            (at as u64, read(n, 0, sizes[stream.below(3) as usize] as u32))
        })
        .collect();
    let mut device = Constant::new(1 << 20, 64, 100_000, 512_000_000);
    let done = open(&mut device, &arrivals);
    let served = |c: &Command| 100_000 + u64::from(c.sectors) * 1_000;
    let waits: f64 = arrivals.iter().zip(&done).map(|((at, c), done)| (done - at - served(c)) as f64).sum();
    let (seen, theory) = (waits / 600_000.0 / 1000.0, pollaczek_khinchine(rate, mean, second));
    assert!((seen / theory - 1.0).abs() < 0.02, "mean wait {seen} us, theory {theory} us");
    assert!(device.counters(u64::MAX).busy_ns <= *done.iter().max().unwrap());
}

#[test]
fn random_accesses_cost_the_seek_integral_and_half_a_turn() {
    let geometry = GeometryRules { capacity_sectors: 60_000, heads: 1, ..rules(5) };
    let mut disk = disk_of(geometry, PLAIN);
    let commands: Vec<_> = numbers(60_000, 200_000, 12).iter().map(|&s| read(0, s, 1)).collect();
    let end = *closed(&mut disk, &commands, 1).last().unwrap();
    // The distance between two sectors, every pair of cylinders weighted by its sectors.
    let mechanism = disk.mechanism();
    let mut weights = vec![0.0; mechanism.geometry().cylinders() as usize];
    for sector in 0..60_000 {
        weights[mechanism.geometry().place(sector).cylinder as usize] += 1.0 / 60_000.0;
    }
    let seek =
        super::curve::SeekCurve::through(weights.len() as u64 - 1, 600_000, 4_700_000, 10_500_000).unwrap();
    let mut integral = 0.0;
    for (a, wa) in weights.iter().enumerate() {
        for (b, wb) in weights.iter().enumerate() {
            integral += wa * wb * seek.ns(a.abs_diff(b) as u64) as f64;
        }
    }
    let transfer = disk.counters(u64::MAX).transfer_ns as f64 / 200_000.0;
    let theory = 500_000.0 + integral + 3_000_000.0 + transfer;
    let seen = end as f64 / 200_000.0;
    assert!((seen / theory - 1.0).abs() < 0.01, "{seen} ns, theory {theory} ns");
}

#[test]
fn reading_in_order_reaches_the_rate_of_the_zone_less_skew() {
    for (name, outer, rpm, heads, switches_ms) in [
        ("deskstar-60gxp", 780.0, 7200.0, 4.0, 3.0 * 1.4 + 1.8),
        ("scsi-10k-72g", 800.0, 10_000.0, 4.0, 3.0 * 0.6 + 0.7),
        ("sata-7200-ncq", 2790.0, 7200.0, 10.0, 9.0 * 0.8 + 0.9),
    ] {
        let cylinder_ms = heads * 60_000.0 / rpm + switches_ms;
        let rate = heads * outer * 512.0 / cylinder_ms * 1000.0;
        let mut device = by_name(name).unwrap().build().unwrap();
        let commands: Vec<_> = (0..4000).map(|n| read(n, u64::from(n) * 256, 256)).collect();
        let done = closed(&mut device, &commands, 1);
        let seen = 3999.0 * 131_072.0 * 1e9 / (done[3999] - done[0]) as f64;
        assert!((seen / rate - 1.0).abs() < 0.02, "{name}: {seen} of {rate} bytes/s");
    }
}

#[test]
fn a_full_stripe_costs_no_reads() {
    let disk = disk_of(rules(1), DiskRules { overhead_ns: 0, ..PLAIN });
    let layout = ArrayLayout::new(RaidLevel::Raid5, 4, 128, disk.capacity_sectors()).unwrap();
    let rules_of = ArrayRules {
        depth: 1,
        firmware_ns: 0,
        link_bytes_per_s: 0,
        write_cache_bytes: 0,
        battery: false,
        bypass_above_bytes: 0,
        bypass_above_segments: 0,
        bypass_when_overfull: false,
        bypass_at_once: 0,
        coalesce_bytes: 0,
        stripes_at_once: 0,
        reconstruct: true,
        merge_window_ns: 0,
        destage_run: 1,
        destage_at_once: 1,
    };
    let mut array = Array::new(rules_of, layout, &disk, 4);
    closed(&mut array, &[write(0, 0, 384)], 1);
    // Four units of 128 sectors of 60 us each, and one head switch with its slack on each disk. A read would double this.
    assert_eq!(array.counters(u64::MAX).transfer_ns, 4 * (128 * 60_000 + 601_000));
}

/// MB/s of `writers` writers of 256 KiB commands that bypass the cache of the array of 2008, their streams alternating command by
/// command. Contiguous commands are joined up to `joined_kib`.
fn past_the_cache(writers: u64, joined_kib: &str) -> f64 {
    let joined = [("bypass", "coalesce_kib", joined_kib)];
    let mut array = DeviceProfile::changed("smartarray-6i-h1", &joined).unwrap().build().unwrap();
    let apart = 3 * (1u64 << 30) / 512 / writers;
    let commands: Vec<_> =
        (0..1200).map(|n| write(0, 1_000_000 + n % writers * apart + n / writers * 512, 512)).collect();
    let done = closed(&mut array, &commands, 128);
    1200.0 * 262_144.0 * 1e3 / *done.iter().max().unwrap() as f64
}

#[test]
fn the_collapse_of_two_writers_is_read_modify_write_of_parts_of_stripes() {
    for writers in 1..=3 {
        let alone = past_the_cache(writers, "0");
        assert!((9.0..=11.0).contains(&alone), "{writers} writers, each command alone: {alone} MB/s");
    }
    let [one, two, three] = [1, 2, 3].map(|writers| past_the_cache(writers, "8192"));
    assert!((9.5..=10.3).contains(&two), "2 writers: {two} MB/s; the report has 9.5");
    assert!((9.6..=11.0).contains(&three), "3 writers: {three} MB/s; the report has 16.5, a known miss");
    assert!((24.0..=30.0).contains(&one), "1 writer: {one} MB/s; the report has 56, a known miss");
}

/// MB/s of `writers` writers whose commands of 124 KiB in 31 segments are cached.
fn cached(name: &str, writers: u64) -> f64 {
    let mut array = by_name(name).unwrap().build().unwrap();
    let apart = 3 * (1u64 << 30) / 512 / writers;
    let commands: Vec<_> = (0..16_000)
        .map(|n| Command {
            segments: 31,
            ..write(0, 1_000_000 + n % writers * apart + n / writers * 248, 248)
        })
        .collect();
    let done = closed(&mut array, &commands, 128);
    16_000.0 * 126_976.0 * 1e3 / *done.iter().max().unwrap() as f64
}

#[test]
fn cached_writes_run_at_the_ceiling_under_both_hypotheses() {
    for name in ["smartarray-6i-h1", "smartarray-6i-h2"] {
        for writers in 1..=3 {
            let rate = cached(name, writers);
            assert!(
                (77.0..=95.0).contains(&rate),
                "{name}, {writers} writers: {rate} MB/s; the report has 85 to 90"
            );
        }
    }
}

#[test]
fn parts_of_the_time_are_shares_of_that_of_all_members() {
    for name in ["smartarray-6i-h1", "ssd-generic", "sata-7200-ncq", "constant"] {
        let mut device = by_name(name).unwrap().build().unwrap();
        let sectors = device.capacity_sectors() - 8;
        let command = |(n, &sector): (usize, &u64)| match n % 4 {
            0 => write(0, sector, 8),
            _ => read(0, sector, 8),
        };
        let commands: Vec<_> = numbers(sectors, 3000, 5).iter().enumerate().map(command).collect();
        let end = *closed(&mut device, &commands, 64).iter().max().unwrap();
        let c = device.counters(end);
        assert!(c.busy_ns <= end, "{name}: {c:?}");
        for part in [c.seek_ns, c.rotation_ns, c.transfer_ns] {
            assert!(part / u64::from(c.side_by_side()) <= end, "{name}: {c:?} in {end} ns");
        }
    }
}
