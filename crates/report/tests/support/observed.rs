//! Runs whose requests were watched: a direct random read, and a buffered write that the kernel writes back through device mapper.
#![allow(dead_code, missing_docs)]

use super::{MIB, frame, latencies, streams_phase, wobble};
use fathom_record::block::{
    BlockInterval, DepthTime, DeviceActivity, DeviceNumber, Issuer, IssuerKind, RequestClass, RequestStats,
    Seeks, SizeCount, TimeSource,
};
use fathom_record::{
    BlockLayer, CacheCourse, CacheSample, CacheTruth, Cold, ColdStep, DeviceDelta, Evidence, Finding, OpKind,
    OpStat, Run,
};

const SECOND: u64 = 1_000_000_000;

/// Two phases of ten seconds each, watched by events, and one with counters only.
pub fn observed_run() -> Run {
    let mut run =
        frame("what reached the device", &["fathom", "run", "observed.toml", "--observe", "events"]);
    let mut read = streams_phase(0, "random read", true, 1, 640 * MIB, 64.0 * MIB as f64);
    read.direct = true;
    read.repetitions[0].workers[0].stats =
        vec![OpStat { op: OpKind::Read, ops: 2000, bytes: 0, latency: latencies(410_000.0, 2000) }];
    read.repetitions[0].block = Some(block_layer());
    read.repetitions[0].findings = vec![finding_of_size()];
    let mut write = streams_phase(1, "write", false, 1, 640 * MIB, 64.0 * MIB as f64);
    write.repetitions[0].workers[0].stats =
        vec![OpStat { op: OpKind::Write, ops: 2000, bytes: 0, latency: latencies(2_100.0, 2000) }];
    write.repetitions[0].block = Some(written_back());
    write.repetitions[0].findings = findings_of_writes();
    read.repetitions[0].cold = Some(Cold {
        files: 1,
        steps: vec![ColdStep {
            how: "fadvise".into(),
            cached_pages: Some(0),
            total_pages: 163_840,
            failed: None,
        }],
        sentence: "Of 163840 pages none was left in memory.".into(),
    });
    write.repetitions[0].physical.written_in_clock_bytes = Some(134 * MIB);
    write.repetitions[0].course = Some(course());
    for phase in [&mut read, &mut write] {
        phase.repetitions[0].truth = CacheTruth::of(phase, &phase.repetitions[0]);
    }
    run.phases = vec![read, write];
    run
}

/// Dirty data rises until the kernel begins to write it back.
fn course() -> CacheCourse {
    let sample = |i: u64| {
        let dirty = if i < 4 { i * 60 } else { (200 - i.saturating_sub(4) * 10).min(180) } * MIB;
        let writeback = if (3..19).contains(&i) { 24 * MIB } else { 0 };
        CacheSample {
            at_ns: i * SECOND / 2,
            dirty_bytes: dirty + 9 * MIB,
            writeback_bytes: writeback,
            cached_bytes: 300 * MIB,
            own_dirty_bytes: Some(dirty),
            own_writeback_bytes: Some(writeback),
        }
    };
    CacheCourse { own: "bdi 253:0".into(), samples: (0..21).map(sample).collect(), cost_ns: 400_000 }
}

/// A phase with counters only: the file system's device, and an inactive one below it.
pub fn counted_run() -> Run {
    let mut run = observed_run();
    run.phases.truncate(1);
    let row = |end: u64, device: u32, reads: u64, writes: u64| BlockInterval {
        source: TimeSource::Counters,
        end_ns: end * SECOND,
        reads,
        read_bytes: reads * 64 * 1024,
        writes,
        write_bytes: writes * 4096,
        busy_ns: if reads > 0 { SECOND * 3 / 4 } else { 0 },
        depth_ns: reads * SECOND / 800,
        ..reading(end, device)
    };
    let repetition = &mut run.phases[0].repetitions[0];
    repetition.findings.clear();
    repetition.block = Some(BlockLayer {
        source: "counters".into(),
        watched_ns: 2 * SECOND,
        intervals: vec![row(1, 0, 2000, 0), row(1, 1, 0, 0), row(2, 0, 2000, 1), row(2, 1, 0, 0)],
        ..BlockLayer::default()
    });
    repetition.physical.devices =
        ["vda", "sdb"].map(|name| DeviceDelta { name: name.into(), ..DeviceDelta::default() }).to_vec();
    run
}

/// The run with lost events: no count in it is a total.
pub fn lossy_run() -> Run {
    let mut run = observed_run();
    for repetition in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        if let Some(layer) = &mut repetition.block {
            layer.lost = 40_000;
        }
    }
    run
}

/// Reads of 4 KiB at depth 8, one request per call.
pub fn block_layer() -> BlockLayer {
    let reads = RequestStats {
        class: RequestClass::Read,
        issued: 163_840,
        issued_bytes: 640 * MIB,
        completed: 163_840,
        completed_bytes: 640 * MIB,
        sync: 163_840,
        bios: Some(163_840),
        back_merges: Some(0),
        front_merges: Some(0),
        request_merges: Some(0),
        sizes: vec![SizeCount { bytes: 4096, count: 163_840 }],
        seeks: Seeks {
            sequential: 12,
            forward: 82_000,
            backward: 81_827,
            distances: (12..30).map(|e| (e, if e < 29 { 1 << (e - 12) } else { 32_756 })).collect(),
            total_bytes: 163_827 * 213 * u128::from(MIB),
        },
        d2c: latencies(390_000.0, 2000),
        q2d: latencies(2_300.0, 2000),
        ..RequestStats::default()
    };
    let device = DeviceActivity {
        name: "vda".into(),
        number: DeviceNumber { major: 253, minor: 0 },
        requests: vec![reads],
        issuers: vec![issuer(IssuerKind::Own, "fathom", (163_840, 640 * MIB), (0, 0))],
        in_device: depths(&[10, 40, 60, 120, 300, 900, 2500, 4070, 2000]),
        in_queue: depths(&[9700, 250, 50]),
        busy_ns: 9_990_000_000,
        ..DeviceActivity::default()
    };
    BlockLayer {
        source: "tracefs".into(),
        events: 655_360,
        observer_cpu_ns: 38_000_000,
        watched_ns: 10 * SECOND,
        devices: vec![device],
        intervals: (0..10).map(|i| reading(i, 0)).collect(),
        ..BlockLayer::default()
    }
}

/// Buffered writes: the kernel writes back in large merged requests, and the journal flushes the device's cache.
fn written_back() -> BlockLayer {
    let writes = RequestStats {
        class: RequestClass::Write,
        issued: 1412,
        issued_bytes: 643 * MIB,
        completed: 1410,
        completed_bytes: 642 * MIB,
        sync: 96,
        meta: 41,
        fua: 6,
        bios: Some(5650),
        back_merges: Some(4230),
        front_merges: Some(4),
        request_merges: Some(4),
        sizes: [(4096, 41), (8192, 20), (12_288, 33), (131_072, 9), (262_144, 61), (524_288, 1248)]
            .map(|(bytes, count)| SizeCount { bytes, count })
            .to_vec(),
        seeks: Seeks {
            sequential: 1203,
            forward: 120,
            backward: 88,
            distances: vec![(12, 40), (15, 8), (20, 24), (27, 90), (30, 46)],
            total_bytes: 93_000 * u128::from(MIB),
        },
        d2c: latencies(3_900_000.0, 1410),
        q2d: latencies(21_000_000.0, 1410),
        ..RequestStats::default()
    };
    let flushes = RequestStats {
        class: RequestClass::Flush,
        issued: 6,
        completed: 6,
        d2c: latencies(8_000_000.0, 6),
        ..RequestStats::default()
    };
    let volume = DeviceActivity {
        name: "dm-0".into(),
        number: DeviceNumber { major: 252, minor: 0 },
        bio_based: true,
        requests: vec![RequestStats { bios: None, q2d: Default::default(), ..writes.clone() }],
        issuers: vec![issuer(IssuerKind::Writeback, "kworker/u8-flush", (0, 0), (1412, 643 * MIB))],
        in_device: depths(&[1200, 800, 3000, 5000]),
        busy_ns: 8_800_000_000,
        ..DeviceActivity::default()
    };
    let disk = DeviceActivity {
        name: "vda".into(),
        number: DeviceNumber { major: 253, minor: 0 },
        level: 1,
        bio_based: false,
        requests: vec![writes, flushes],
        issuers: vec![
            issuer(IssuerKind::Writeback, "kworker/u8-flush", (0, 0), (1301, 640 * MIB)),
            issuer(IssuerKind::Journal, "jbd2/dm-0", (0, 0), (70, 2 * MIB)),
            issuer(IssuerKind::Other, "postgres", (0, 0), (41, MIB)),
        ],
        in_queue: depths(&[2000, 100, 900, 7000]),
        unfinished: 2,
        splits: Some(12),
        unplugs: Some((310, 4900)),
        ..volume.clone()
    };
    let intervals = (0..10).map(|i| writing(i, 0)).chain((0..10).map(|i| writing(i, 1))).collect();
    BlockLayer {
        events: 22_640,
        observer_cpu_ns: 2_100_000,
        devices: vec![volume, disk],
        intervals,
        notes: vec!["Requests of dm-0 are bios: device mapper has no requests.".into()],
        ..block_layer()
    }
}

fn issuer(kind: IssuerKind, name: &str, reads: (u64, u64), writes: (u64, u64)) -> Issuer {
    Issuer {
        kind,
        name: name.into(),
        reads: reads.0,
        read_bytes: reads.1,
        writes: writes.0,
        write_bytes: writes.1,
        others: 0,
    }
}

/// Times in ms by depth, from 0 on.
fn depths(ms: &[u64]) -> Vec<DepthTime> {
    (0..).zip(ms).map(|(depth, ms)| DepthTime { depth, ns: ms * 1_000_000 }).collect()
}

fn reading(i: u64, device: u32) -> BlockInterval {
    let reads = (16_384.0 * wobble(i, 5, 9)) as u64;
    BlockInterval {
        device,
        source: TimeSource::Events,
        end_ns: (i + 1) * SECOND,
        width_ns: SECOND,
        reads,
        read_bytes: reads * 4096,
        read_ns: reads * 403_000,
        busy_ns: SECOND - 1_000_000,
        depth_ns: reads * 400_000,
        ..BlockInterval::default()
    }
}

/// Nothing for two seconds, while the data waits in the page cache; then bursts.
fn writing(i: u64, device: u32) -> BlockInterval {
    let writes = if i < 2 { 0 } else { 90 + (i * 37) % 180 };
    BlockInterval {
        writes,
        write_bytes: writes * 480 * 1024,
        write_merges: writes * 3,
        write_ns: writes * 24_000_000,
        flushes: u64::from(i > 6),
        busy_ns: if writes > 0 { 980_000_000 } else { 0 },
        depth_ns: writes * 12_000_000,
        reads: 0,
        read_bytes: 0,
        read_ns: 0,
        ..reading(i, device)
    }
}

fn evidence(name: &str, value: f64, unit: &str, source: &str) -> Evidence {
    Evidence { name: name.into(), value, unit: unit.into(), source: source.into() }
}

fn finding_of_size() -> Finding {
    Finding {
        rule: "request-size".into(),
        sentence: "Each read of 4 KiB became one request of 4 KiB (163840 calls, 163840 requests).".into(),
        advice: String::new(),
        evidence: vec![
            evidence("reads", 163_840.0, "calls", "our own calls"),
            evidence("requests", 163_840.0, "requests", "block events of vda"),
            evidence("mean request", 4096.0, "bytes", "block events of vda"),
        ],
    }
}

fn findings_of_writes() -> Vec<Finding> {
    vec![
        Finding {
            rule: "written-back-later".into(),
            sentence: "21 % of the bytes written had reached vda when the last write returned; the rest was still in the page cache."
                .into(),
            advice: "Put the fsync inside the clock (sync_in_clock) to see the device's rate.".into(),
            evidence: vec![
                evidence("bytes written", 671_088_640.0, "bytes", "our own calls"),
                evidence("share on the device", 0.21, "ratio", "block events of vda"),
            ],
        },
        Finding {
            rule: "fsync-others".into(),
            sentence: "fsync took 1.2 s, of which 0.9 s went to 12 other files' data.".into(),
            advice: "Use a separate file system for the measurement, or ext4 with data=writeback.".into(),
            evidence: vec![evidence("time of fsync", 1.2e9, "ns", "our own calls")],
        },
    ]
}
