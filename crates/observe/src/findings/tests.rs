//! Each rule fires when the figures prove it and not one step earlier, and the list for users is complete.

use super::*;
use crate::attributes::Attributes;
use crate::counters::{Evictions, ImageGrowth};
use crate::join::calls::Slow;
use crate::join::{Joined, PerCall, Pieces, Still, SyncWaits};
use fathom_record::block::{
    BlockLayer, DepthTime, DeviceActivity, DeviceNumber, Issuer, IssuerKind, RequestClass, RequestStats,
    Seeks, SizeCount,
};
use fathom_record::{
    Axes, CacheIntent, DeviceDelta, Histogram, OpKind, OpStat, Phase, Repetition, Residency, Worker,
};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;

/// A phase with calls of one kind on one watched device.
struct World {
    phase: Phase,
    repetition: Repetition,
    workload: WorkloadTraits,
    environment: serde_json::Value,
    attributes: Attributes,
    evictions: Option<Evictions>,
    swapped_in_bytes: Option<u64>,
    image_growth: Option<ImageGrowth>,
    unshared_bytes: u64,
    allowed_busy_ns: Option<u64>,
    joined: Option<Joined>,
    pieces: Option<Pieces>,
}

impl World {
    fn new(op: OpKind, calls: u64, record: u64) -> Self {
        let stat = OpStat { op, ops: calls, bytes: calls * record, latency: Histogram::default() };
        let worker = Worker { ops: calls, bytes: calls * record, stats: vec![stat], ..Worker::default() };
        let device = DeviceActivity { name: "vda".into(), ..DeviceActivity::default() };
        let block = BlockLayer { watched_ns: 1_000_000_000, devices: vec![device], ..BlockLayer::default() };
        let repetition = Repetition { workers: vec![worker], block: Some(block), ..Repetition::default() };
        let phase = Phase {
            seq: 0,
            name: "random".into(),
            axes: Axes::default(),
            reads: op == OpKind::Read,
            writes: op == OpKind::Write,
            sync_in_clock: false,
            direct: false,
            repetitions: Vec::new(),
        };
        Self {
            phase,
            repetition,
            workload: WorkloadTraits::default(),
            environment: serde_json::Value::Null,
            attributes: Attributes::default(),
            evictions: None,
            swapped_in_bytes: None,
            image_growth: None,
            unshared_bytes: 0,
            allowed_busy_ns: None,
            joined: None,
            pieces: None,
        }
    }

    fn device(&mut self) -> &mut DeviceActivity {
        &mut self.repetition.block.as_mut().expect("made with one").devices[0]
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            phase: &self.phase,
            repetition: &self.repetition,
            workload: &self.workload,
            environment: &self.environment,
            attributes: self.attributes,
            evictions: self.evictions,
            swapped_in_bytes: self.swapped_in_bytes,
            image_growth: self.image_growth.as_ref(),
            unshared_bytes: self.unshared_bytes,
            allowed_busy_ns: self.allowed_busy_ns,
            joined: self.joined.as_ref(),
            pieces: self.pieces,
        }
    }

    fn found(&self) -> Vec<Finding> {
        of(&self.facts())
    }

    /// The sentence of a rule; every finding must have evidence.
    fn says(&self, rule: &str) -> Option<String> {
        let found = self.found();
        assert!(found.iter().all(|f| !f.evidence.is_empty() && !f.sentence.is_empty()), "{found:?}");
        found.into_iter().find(|f| f.rule == rule).map(|f| f.sentence)
    }
}

fn per_call(calls: u64, bytes: u64, requests: u32, request_bytes: u64) -> PerCall {
    PerCall {
        calls,
        bytes,
        requests: BTreeMap::from([(requests, calls)]),
        sizes: BTreeMap::from([(request_bytes, calls * u64::from(requests))]),
    }
}

fn requests(class: RequestClass, issued: u64, each: u64) -> RequestStats {
    RequestStats {
        class,
        issued,
        issued_bytes: issued * each,
        completed: issued,
        completed_bytes: issued * each,
        sizes: vec![SizeCount { bytes: each, count: issued }],
        ..RequestStats::default()
    }
}

#[test]
fn a_read_that_became_four_requests() {
    let mut world = World::new(OpKind::Read, 100, 16_384);
    world.joined = Some(Joined { reads: per_call(100, 100 * 16_384, 4, 4096), ..Joined::default() });
    assert_eq!(
        world.says("requests-per-call").expect("told"),
        "Each 16 KiB read became 4 requests of 4 KiB at the device (4 on average over 100 calls)."
    );
    world.joined = Some(Joined { reads: per_call(100, 100 * 16_384, 1, 16_384), ..Joined::default() });
    assert_eq!(world.says("requests-per-call"), None, "one call, one request: nothing to explain");
    world.joined = Some(Joined { reads: per_call(19, 19 * 16_384, 4, 4096), ..Joined::default() });
    assert_eq!(world.says("requests-per-call"), None, "too few");
}

#[test]
fn excess_read_ahead_is_reported() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    let joined = Joined {
        asked_bytes: 10 * MIB,
        fetched_bytes: 31 * MIB,
        fetched_distinct_bytes: 31 * MIB,
        never_asked_bytes: 21 * MIB,
        ahead_requests: 200,
        ..Joined::default()
    };
    world.joined = Some(joined.clone());
    assert_eq!(
        world.says("read-ahead").expect("told"),
        "Read-ahead fetched 3.1 x what was requested: 31 MiB for 10 MiB of distinct data; 21 MiB were never requested, 0 B were fetched again."
    );
    world.joined = Some(Joined {
        fetched_bytes: 12 * MIB,
        fetched_distinct_bytes: 12 * MIB,
        never_asked_bytes: 2 * MIB,
        ..joined.clone()
    });
    assert_eq!(world.says("read-ahead"), None, "1.2 x is the window of any sequential read");
    let again = Joined { fetched_distinct_bytes: 10 * MIB, never_asked_bytes: 0, ..joined };
    world.joined = Some(again);
    assert!(world.says("read-ahead").expect("told").starts_with("The device was asked to read 3.1 x"));
    for (keeps_pages, drops) in [(true, false), (false, true)] {
        world.workload.keeps_pages = keeps_pages;
        let advice = world.found().into_iter().find(|f| f.rule == "read-ahead").expect("told").advice;
        assert_eq!(advice.contains("the workload drops it"), drops, "{advice}");
    }
    world.phase.direct = true;
    assert_eq!(world.says("read-ahead"), None, "past the page cache the calls themselves asked again");
}

#[test]
fn a_call_larger_than_the_device_takes() {
    let mut world = World::new(OpKind::Read, 100, MIB);
    world.phase.direct = true;
    world.device().requests = vec![requests(RequestClass::Read, 200, MIB / 2)];
    assert_eq!(
        world.says("splits").expect("told"),
        "Each 1 MiB read was cut into requests of at most 512 KiB: 200 requests for 100 calls."
    );
    world.phase.direct = false;
    assert_eq!(world.says("splits"), None);
}

#[test]
fn merges_are_reported_with_queue_events() {
    let mut world = World::new(OpKind::Write, 100, 4096);
    let mut writes = requests(RequestClass::Write, 25, 16_384);
    world.device().requests = vec![writes.clone()];
    assert_eq!(world.says("merges"), None, "nobody watched");
    (writes.bios, writes.back_merges) = (Some(100), Some(70));
    (writes.front_merges, writes.request_merges) = (Some(5), Some(0));
    world.device().requests = vec![writes];
    world.device().splits = Some(0);
    assert_eq!(
        world.says("merges").expect("told"),
        "75 of 100 writes (75 %) were merged before they reached the driver, 4 to a request on average: 25 requests of 16 KiB left the queue."
    );
    world.device().splits = Some(90);
    assert_eq!(
        world.says("merges"),
        None,
        "25 requests of 100 writes and 90 more pieces are not 4 to a request"
    );
}

#[test]
fn streams_in_order_that_make_the_device_jump() {
    let mut world = World::new(OpKind::Write, 1000, 65_536);
    world.workload.in_order = true;
    let seeks = Seeks {
        sequential: 100,
        forward: 450,
        backward: 450,
        distances: vec![(20, 900)],
        total_bytes: 900 * u128::from(MIB),
    };
    world.device().requests =
        vec![RequestStats { seeks: seeks.clone(), ..requests(RequestClass::Write, 1000, 65_536) }];
    assert_eq!(
        world.says("scattered").expect("told"),
        "1 stream ran sequentially, yet only 10 % of the device's 1000 write requests began where the previous one ended; the others jumped 1 MiB on average."
    );
    world.workload.synced = true;
    assert_eq!(world.says("scattered"), None, "the journal is written between the data");
    world.workload.synced = false;
    world.repetition.workers[0].stats.push(syncs(1000));
    assert_eq!(world.says("scattered"), None, "likewise");
    world.repetition.workers[0].stats.pop();
    world.workload.in_order = false;
    world.phase.name = "write".into();
    assert_eq!(world.says("scattered"), None, "it was asked to jump, whatever it is called");
}

/// Regression: in a quiet survey 31 of 55 findings were about other programs' requests, 16 of them about reads from the page cache.
#[test]
fn foreign_requests_are_not_counted_as_ours() {
    let of = |issuers: &[(IssuerKind, u64)]| {
        let mut world = World::new(OpKind::Read, 1000, 65_536);
        world.workload.in_order = true;
        world.phase.direct = true;
        world.phase.axes.queue_depth = Some(32);
        let seeks = Seeks { forward: 900, total_bytes: 900 * u128::from(MIB), ..Seeks::default() };
        let mut reads = requests(RequestClass::Read, 2000, 32_768);
        (reads.bios, reads.back_merges) = (Some(4000), Some(2000));
        (reads.front_merges, reads.request_merges) = (Some(0), Some(0));
        let waits = |ns| Histogram::from_values(std::iter::repeat_n(ns, 1000));
        (reads.q2d, reads.d2c) = (waits(50), waits(20));
        world.device().requests = vec![RequestStats { seeks, ..reads }];
        world.device().busy_ns = 100_000_000;
        world.device().in_device = vec![DepthTime { depth: 1, ns: 100_000_000 }];
        world.device().issuers = issuers.iter().map(|(kind, reads)| issuer(*kind, reads * 4096)).collect();
        world
    };
    let rules = |world: &World| {
        let told = OF_ALL_REQUESTS.into_iter().filter(|rule| {
            let find = SYMPTOMS.iter().find(|(word, _)| word == rule).expect("a rule").1;
            let facts = world.facts();
            facts.requests_are_ours() && find(&facts).is_some()
        });
        told.collect::<Vec<_>>()
    };
    let ours = of(&[(IssuerKind::Own, 1000), (IssuerKind::Other, 50)]);
    assert_eq!(rules(&ours), ["splits", "scattered", "depth", "queue-wait", "idle-device", "merges"]);
    assert_eq!(ours.found().len(), MOST);
    let theirs = of(&[(IssuerKind::Own, 1000), (IssuerKind::Other, 500)]);
    assert_eq!(theirs.found().iter().map(|f| f.rule.as_str()).collect::<Vec<_>>(), ["others"]);
    // All of it came from memory, so no request is ours.
    let mut cached = of(&[(IssuerKind::Other, 1000)]);
    cached.device().issuers[0].read_bytes = 0;
    assert_eq!(cached.found(), []);
    // The kernel writes back during the phase.
    let mut written = of(&[]);
    written.device().issuers =
        vec![Issuer { read_bytes: 0, reads: 0, writes: 100, ..issuer(IssuerKind::Writeback, 0) }];
    written.device().requests[0].class = RequestClass::Write;
    assert_eq!(written.found(), []);
    written.device().issuers = vec![issuer(IssuerKind::Own, 4096)];
    let words: Vec<_> = written.found().into_iter().map(|f| f.rule).collect();
    assert!(
        words.iter().all(|rule| !["merges", "queue-wait", "scattered"].contains(&rule.as_str())),
        "{words:?}"
    );
}

#[test]
fn a_low_weight_or_class_beside_others_is_a_cause() {
    let mut world = World::new(OpKind::Read, 100, 65_536);
    world.device().number = DeviceNumber { major: 7, minor: 0 };
    let ours = Issuer { reads: 100, ..issuer(IssuerKind::Own, 2 * MIB) };
    world.device().issuers = vec![ours, issuer(IssuerKind::Other, 98 * MIB)];
    world.device().in_queue = vec![DepthTime { depth: 1, ns: 900_000_000 }];
    world.device().busy_ns = 900_000_000;
    let environment = |scheduler: &str, weight: &str, priority: &str| {
        serde_json::json!({
            "devices": [{ "name": "vda", "number": "7:0", "scheduler": scheduler }],
            "limits": { "io_priority": priority, "cgroup": { "io_weights": { "/cg/a/io.bfq.weight": weight } } },
        })
    };
    world.environment = environment("bfq", "default 1", "best-effort 4");
    assert_eq!(
        world.says("io-share").expect("told"),
        "The I/O scheduler bfq shares vda by weight, and a control group of this program has a low one (io.bfq.weight 1, the default is 100): other programs moved 98 % of the bytes meanwhile."
    );
    assert_eq!(world.found().iter().map(|f| f.rule.as_str()).collect::<Vec<_>>(), ["io-share", "others"]);
    world.environment = environment("none", "default 1", "idle");
    assert_eq!(world.says("io-share"), None, "nothing heeds them");
    world.environment = environment("bfq", "default 100", "best-effort 4");
    assert_eq!(world.says("io-share"), None, "the defaults");
    world.environment = environment("bfq", "default 100", "best-effort 7");
    assert!(world.says("io-share").expect("told").contains("gives the I/O priority best-effort 7"));
    world.environment = environment("bfq", "default 100", "idle");
    assert_eq!(
        world.says("io-share").expect("told"),
        "The I/O scheduler bfq lets requests of the I/O class idle wait for all others at vda, and this program has it: other programs moved 98 % of the bytes meanwhile."
    );
    world.workload.sets_io_class = true;
    assert_eq!(world.says("io-share"), None, "the workers have another one");
    world.workload.sets_io_class = false;
    world.environment = environment("mq-deadline", "default 1", "idle");
    assert_eq!(world.says("io-share"), None, "one that does not know classes");
    world.environment["devices"][0]["scheduler_tunables"] =
        serde_json::json!({ "prio_aging_expire": "10000" });
    assert!(world.says("io-share").is_some());
    world.device().in_queue[0].ns = 100_000_000;
    assert_eq!(world.says("io-share"), None, "nothing waited for its turn");
    world.device().in_queue[0].ns = 900_000_000;
    world.device().issuers[1] = issuer(IssuerKind::Other, MIB);
    assert_eq!(world.says("io-share"), None, "they had less than we did");
}

#[test]
fn others_at_a_device_below_do_not_matter_to_what_memory_served() {
    let mut world = World::new(OpKind::Read, 1000, 65_536);
    let below = DeviceActivity {
        name: "nvme0n1".into(),
        level: 1,
        issuers: vec![issuer(IssuerKind::Other, 8 * MIB)],
        ..DeviceActivity::default()
    };
    world.repetition.block.as_mut().expect("made with one").devices.push(below);
    assert_eq!(world.says("others"), None, "no read came down to the file system's device");
    world.device().requests = vec![requests(RequestClass::Write, 2, 4096)];
    assert_eq!(world.says("others"), None, "a journal's writes are not what the phase waits for");
    world.device().requests = vec![requests(RequestClass::Read, 10, 65_536)];
    assert!(world.says("others").expect("told").contains("nvme0n1"));
    world.device().issuers = vec![Issuer { reads: 10, ..issuer(IssuerKind::Other, 65_536) }];
    assert_eq!(world.says("others"), None, "the reads that came down were another program's");
}

#[test]
fn parts_of_blocks_must_be_read_to_be_written() {
    let mut world = World::new(OpKind::Write, 1000, 512);
    world.device().requests =
        vec![requests(RequestClass::Read, 900, 4096), requests(RequestClass::Write, 1000, 4096)];
    world.joined = Some(Joined { fetched_bytes: 900 * 4096, ..Joined::default() });
    assert_eq!(world.found()[0].rule, "read-to-write");
    let said = world.says("read-to-write").expect("told");
    assert!(
        said.starts_with("The phase only writes, yet 3.5 MiB were read to do so, for 500 KiB written"),
        "{said}"
    );
    world.repetition.block.as_mut().expect("made with one").lost = 10;
    let said = world.says("read-to-write").expect("what was seen proves it");
    assert!(said.contains("at least 3.5 MiB were read"), "{said}");
    world.phase.reads = true;
    assert_eq!(world.says("read-to-write"), None);
}

#[test]
fn an_fsync_that_waited_for_others() {
    let mut world = World::new(OpKind::Write, 1000, 4096);
    let syncs = SyncWaits {
        calls: 10,
        total_ns: 1_000_000,
        own: (10, 40_960),
        others: (120, 120 * 4096),
        with_others: 10,
        most_others: 14,
        files_met: 120,
        flushes: (20, 700_000),
        ..SyncWaits::default()
    };
    world.joined = Some(Joined { syncs: syncs.clone(), ..Joined::default() });
    assert_eq!(
        world.says("fsync-others").expect("told"),
        "During 10 fsyncs, 480 KiB of other files' data were written beside 40 KiB of the synced files: data of 12 other files per sync on average, 14 at most."
    );
    assert_eq!(
        world.says("flushes").expect("told"),
        "70 % of the time of 10 fsyncs went into flushing the device's cache: 2 flushes to a sync, 35.0 us each."
    );
    world.workload.ranges = true;
    assert_eq!(world.says("fsync-others"), None, "sync_file_range waits for no journal");
    world.workload.ranges = false;
    let alone = SyncWaits { others: (0, 0), with_others: 0, files_met: 0, flushes: (1, 10), ..syncs };
    world.joined = Some(Joined { syncs: alone, ..Joined::default() });
    assert_eq!((world.says("fsync-others"), world.says("flushes")), (None, None));
}

#[test]
fn the_journal_and_other_programs_are_counted_by_their_bytes() {
    let mut world = World::new(OpKind::Write, 1000, 4096);
    let issuer = |kind, name: &str, writes, write_bytes| Issuer {
        kind,
        name: name.into(),
        writes,
        write_bytes,
        ..Issuer::default()
    };
    world.device().requests = vec![requests(RequestClass::Write, 1000, 4096)];
    world.device().issuers = vec![
        issuer(IssuerKind::Own, "fathom", 1000, 4_096_000),
        issuer(IssuerKind::Journal, "jbd2", 500, 2_048_000),
    ];
    assert_eq!(
        world.says("journal").expect("told"),
        "The journal wrote 2.0 MiB for 3.9 MiB of data: 0.50 bytes per byte written."
    );
    world.device().issuers.push(issuer(IssuerKind::Other, "rsync", 512, 2_097_152));
    assert_eq!(world.says("journal"), None, "whose it is nobody knows");
    assert_eq!(
        world.says("others").expect("told"),
        "25 % of what vda moved (2 MiB of 7.9 MiB) belonged to other programs: rsync (2 MiB written)."
    );
    // It ran when a request of another's left the queue.
    world.device().issuers.push(issuer(IssuerKind::Other, "bystander", 2, 8192));
    let told = world.says("others").expect("told");
    assert!(told.ends_with("belonged to other programs: rsync (2 MiB written)."), "{told}");
    world.device().issuers.pop();
    world.device().issuers[2].write_bytes = MIB - 1;
    assert_eq!(world.says("others"), None, "too little to matter");

    // Data that others wrote into the page cache is written by the kernel.
    world.device().issuers[2].write_bytes = 0;
    world.device().issuers.push(issuer(IssuerKind::Writeback, "kworker", 100, 50 * MIB));
    assert_eq!(world.says("others"), None, "it may be ours");
    world.repetition.physical = fathom_record::Physical {
        devices: vec![fathom_record::DeviceDelta {
            name: "vda".into(),
            write_bytes: 56 * MIB,
            ..Default::default()
        }],
        own_read_bytes: Some(0),
        own_write_bytes: Some(4 * MIB),
        dirty_before_bytes: Some(8 * MIB),
        ..Default::default()
    };
    assert_eq!(
        world.says("others").expect("told"),
        "71 % of what vda moved (39.9 MiB of 56 MiB) belonged to other programs: data that the kernel wrote back for them (39.9 MiB)."
    );
    world.repetition.physical.own_write_bytes = Some(28 * MIB);
    assert_eq!(world.says("others"), None, "ours, and its journal");

    // Below a loop device.
    let below = DeviceActivity {
        name: "sda".into(),
        level: 1,
        issuers: vec![
            issuer(IssuerKind::Kernel, "kworker", 100, 30 * MIB),
            issuer(IssuerKind::Other, "dd", 100, 20 * MIB),
        ],
        ..DeviceActivity::default()
    };
    world.repetition.block.as_mut().expect("watched").devices.push(below);
    assert!(world.says("others").expect("told").starts_with("40 % of what sda moved (20 MiB of 50 MiB)"));
    world.repetition.block.as_mut().expect("watched").devices.pop();
    world.device().issuers.truncate(1);
    assert_eq!((world.says("journal"), world.says("others")), (None, None));
}

#[test]
fn a_device_that_gets_less_than_was_asked_for_and_one_that_waits() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.phase.direct = true;
    world.phase.axes.queue_depth = Some(32);
    world.device().requests = vec![requests(RequestClass::Read, 1000, 4096)];
    world.device().in_device = vec![
        DepthTime { depth: 0, ns: 400_000_000 },
        DepthTime { depth: 1, ns: 300_000_000 },
        DepthTime { depth: 3, ns: 300_000_000 },
    ];
    world.device().busy_ns = 600_000_000;
    assert_eq!(
        world.says("depth").expect("told"),
        "32 operations were kept in flight, but the device, while busy, had 2 at once on average and never more than 3."
    );
    // For 250 of the 300 ms with one request it was the flush at the end.
    let mut flushes = requests(RequestClass::Flush, 1, 0);
    flushes.d2c = Histogram::from_values([250_000_000]);
    world.device().requests.push(flushes);
    assert!(world.says("depth").expect("told").contains("had 2.71 at once on average"));
    world.device().requests.pop();
    assert_eq!(
        world.says("idle-device").expect("told"),
        "vda was idle for 40 % of the time; the worker used a processor for 0.0 % of it.",
        "what took the rest is not known"
    );
    world.repetition.elapsed_ns = 800_000_000;
    assert!(
        world.says("idle-device").expect("told").contains("for 25 % of the time"),
        "the phase's, not the watch's"
    );
    world.repetition.elapsed_ns = 700_000_000;
    assert_eq!(world.says("idle-device"), None);
    world.repetition.elapsed_ns = 0;
    world.phase.axes.queue_depth = Some(3);
    world.device().busy_ns = 900_000_000;
    assert_eq!((world.says("depth"), world.says("idle-device")), (None, None));
}

#[test]
fn queue_wait_is_compared_with_device_time() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    let waits = |ns| Histogram::from_values(std::iter::repeat_n(ns, 1000));
    let mut reads = requests(RequestClass::Read, 1000, 4096);
    (reads.q2d, reads.d2c) = (waits(50), waits(20));
    world.device().requests = vec![reads.clone()];
    assert_eq!(
        world.says("queue-wait").expect("told"),
        "A read request waited 50 ns above the driver and took 20 ns in the device (medians): the queue makes it slow."
    );
    (reads.q2d, reads.d2c) = (waits(20), waits(50));
    world.device().requests = vec![reads];
    assert_eq!(world.says("queue-wait"), None);
}

#[test]
fn the_slowest_reads_and_the_flush_beside_them() {
    let mut world = World::new(OpKind::Read, 5000, 4096);
    let slow = Slow { calls: 50, from_ns: 900_000, flushing: (0.96, 0.12), writing: (0.97, 0.9) };
    world.joined = Some(Joined { slow_reads: slow, ..Joined::default() });
    assert_eq!(
        world.says("slow-calls").expect("told"),
        "During 96 % of the slowest 50 reads (900 us or more) a flush of the device's cache was under way; during 12 % of all reads."
    );
    world.joined = Some(Joined { slow_reads: Slow { flushing: (0.3, 0.05), ..slow }, ..Joined::default() });
    assert_eq!(world.says("slow-calls"), None, "writes are under way all the time");
}

#[test]
fn lost_events_and_unwatched_devices_prove_nothing() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.phase.direct = true;
    world.phase.axes.queue_depth = Some(32);
    world.device().requests = vec![requests(RequestClass::Read, 1000, 4096)];
    world.device().in_device = vec![DepthTime { depth: 1, ns: 1_000_000_000 }];
    world.device().busy_ns = 1_000_000_000;
    world.joined = Some(Joined { reads: per_call(1000, 4_096_000, 4, 1024), ..Joined::default() });
    assert_eq!(world.found().len(), 2, "{:?}", world.found());
    world.repetition.block.as_mut().expect("watched").lost = 1;
    assert_eq!(world.found(), []);
    world.repetition.block = None;
    assert_eq!(world.found(), []);
}

#[test]
fn the_list_for_users_has_every_rule_and_no_other() {
    let text = include_str!("../../../../docs/findings.md");
    let listed: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("## `")?.strip_suffix('`')).collect();
    assert_eq!(listed, rules().collect::<Vec<_>>());
}

#[test]
fn a_limit_that_the_rate_stands_at_is_the_cause_and_the_only_one() {
    for (file, text) in [
        ("/cg/box/blkio.throttle.read_bps_device", "7:1 99\n7:0 20971520"),
        ("/cg/box/io.max", "7:0 rbps=20971520 wbps=max riops=max wiops=max"),
    ] {
        let mut world = World::new(OpKind::Read, 160, 131_072);
        world.phase.direct = true;
        world.repetition.elapsed_ns = 1_000_000_000;
        world.device().number = DeviceNumber { major: 7, minor: 0 };
        world.device().requests = vec![requests(RequestClass::Read, 160, 131_072)];
        world.device().busy_ns = 10_000_000;
        assert!(world.says("idle-device").is_some());
        world.environment = serde_json::json!({ "limits": { "cgroup": { "io_max": { file: text } } } });
        assert_eq!(
            world.says("io-limit").expect("told"),
            "A control group limits reads of vda to 20 MiB/s, and they ran at 20 MiB/s: the limit holds them back."
        );
        assert_eq!(world.found().len(), 1, "what follows from it is no other cause: {:?}", world.found());
        world.workload.all_paced = true;
        assert_eq!(world.says("io-limit"), None, "it keeps the rate it was given");
        world.repetition.workers[0].behind_ns = 500_000_000;
        assert!(world.says("io-limit").is_some(), "it does not keep its rate");
        world.workload.all_paced = false;
        world.device().issuers = vec![issuer(IssuerKind::Own, 10 * MIB), issuer(IssuerKind::Other, 10 * MIB)];
        assert_eq!(world.says("io-limit"), None, "half of it was another program's");
        world.device().issuers.clear();
        for (n, why) in [(100, "it does less than it may"), (190, "the limit does not hold")] {
            world.device().requests = vec![requests(RequestClass::Read, n, 131_072)];
            assert_eq!(world.says("io-limit"), None, "{why}");
        }
        world.device().number.minor = 2;
        world.device().requests = vec![requests(RequestClass::Read, 160, 131_072)];
        assert_eq!(world.says("io-limit"), None, "another device's");
    }
}

/// A number of syncs.
fn syncs(ops: u64) -> OpStat {
    OpStat { op: OpKind::Sync, ops, bytes: 0, latency: Histogram::default() }
}

/// An issuer with this many bytes read.
fn issuer(kind: IssuerKind, read_bytes: u64) -> Issuer {
    Issuer { kind, name: "dd".into(), read_bytes, reads: read_bytes / 4096, ..Issuer::default() }
}

#[test]
fn the_tightest_io_limit_is_reported_also_in_operations() {
    let mut world = World::new(OpKind::Write, 1000, 4096);
    world.phase.direct = true;
    world.repetition.elapsed_ns = 1_000_000_000;
    world.device().number = DeviceNumber { major: 7, minor: 0 };
    world.device().requests = vec![requests(RequestClass::Write, 1000, 4096)];
    world.environment = serde_json::json!({ "limits": { "cgroup": { "io_max": {
        "/cg/a/io.max": "7:0 rbps=max wbps=max riops=max wiops=1040",
        "/cg/io.max": "7:0 rbps=max wbps=max riops=max wiops=1000",
    } } } });
    assert_eq!(
        world.says("io-limit").expect("told"),
        "A control group limits writes of vda to 1000 a second, and they ran at 1000 a second: the limit holds them back."
    );
    world.environment = serde_json::json!({ "limits": { "cgroup": { "io_max": {
        "/cg/blkio.throttle.write_iops_device": "7:0 1000",
    } } } });
    assert!(world.says("io-limit").is_some());
    world.phase.direct = false;
    assert_eq!(world.says("io-limit"), None, "write-back is the root group's in version 1");
    let own = |writes| Issuer { writes, write_bytes: writes * 4096, ..issuer(IssuerKind::Own, 0) };
    world.device().issuers = vec![own(990), Issuer { kind: IssuerKind::Journal, ..own(900) }];
    assert!(world.says("io-limit").is_some(), "what an fsync writes is not");
    world.repetition.elapsed_ns = 100_000_000;
    world.phase.direct = true;
    assert_eq!(world.says("io-limit"), None, "too short to tell");
}

#[test]
fn flushes_of_our_own_fsyncs_count_as_writes_under_an_io_limit() {
    let mut world = World::new(OpKind::Write, 450, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].stats.push(syncs(450));
    world.device().number = DeviceNumber { major: 7, minor: 0 };
    world.device().requests =
        vec![requests(RequestClass::Write, 550, 4096), requests(RequestClass::Flush, 600, 0)];
    let own = Issuer { writes: 450, write_bytes: 450 * 4096, ..issuer(IssuerKind::Own, 0) };
    world.device().issuers = vec![own];
    world.environment = serde_json::json!({ "limits": { "cgroup": { "io_max": {
        "/cg/blkio.throttle.write_iops_device": "7:0 800",
    } } } });
    assert_eq!(
        world.says("io-limit").expect("told"),
        "A control group limits writes of vda to 800 a second, and this program's ran at 450 a second, or up to 900 a second with flushes, which count as writes: the limit holds them back."
    );
    world.device().busy_ns = 600_000_000;
    assert_eq!(world.says("io-limit"), None, "the device may be what is slow");
    world.device().busy_ns = 0;
    // A limit that is reached without flushes comes first, though its number is larger.
    world.environment["limits"]["cgroup"]["io_max"]["/cg/blkio.throttle.write_bps_device"] =
        "7:0 1843200".into();
    let bytes = world.says("io-limit").expect("told");
    assert!(bytes.contains("MiB/s, and this program's ran at") && !bytes.contains("flushes"), "{bytes}");
    world.environment["limits"]["cgroup"]["io_max"]["/cg/blkio.throttle.write_bps_device"] = "".into();
    world.device().requests.pop();
    assert_eq!(world.says("io-limit"), None, "no flushes, no limit");
}

#[test]
fn with_a_cause_only_foreign_load_is_added_up_to_three_findings() {
    let mut world = World::new(OpKind::Read, 1000, 65_536);
    world.device().requests = vec![requests(RequestClass::Read, 16_000, 4096)];
    world.device().issuers = vec![issuer(IssuerKind::Own, 10 * MIB), issuer(IssuerKind::Other, 10 * MIB)];
    world.environment = serde_json::json!({ "devices": [{ "name": "vda", "read_ahead_kb": 0 }] });
    world.joined = Some(Joined { reads: per_call(1000, 65_536_000, 16, 4096), ..Joined::default() });
    let words = |world: &World| world.found().into_iter().map(|f| f.rule).collect::<Vec<_>>();
    assert_eq!(words(&world), ["no-read-ahead", "others"]);
    world.environment = serde_json::Value::Null;
    assert_eq!(words(&world)[..2], ["others", "requests-per-call"]);
    assert!(words(&world).len() <= 3);
}

#[test]
fn a_quota_of_processor_time_that_is_used_up() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].cpu_system_ns = 49_000_000;
    world.environment = serde_json::json!({ "limits": { "cgroup": { "cpu_max_cores": 0.05 } } });
    assert_eq!(
        world.says("cpu-quota").expect("told"),
        "A control group gives this program at most 0.05 of a processor, and its workers used 0.05 of one."
    );
    world.device().busy_ns = 900_000_000;
    assert_eq!(world.says("cpu-quota"), None, "they may have waited for the device");
    world.device().busy_ns = 0;
    world.repetition.elapsed_ns = 200_000_000;
    assert_eq!(world.says("cpu-quota"), None, "too short to tell");
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].cpu_system_ns = 20_000_000;
    assert_eq!(world.says("cpu-quota"), None, "they did not want more");
    world.repetition.workers[0].cpu_system_ns = 990_000_000;
    world.environment = serde_json::json!({ "limits": { "cgroup": { "cpu_max_cores": 1.0 } } });
    assert_eq!(world.says("cpu-quota"), None, "one thread has no use for more than one processor");
    let worker = world.repetition.workers[0].clone();
    world.repetition.workers = vec![worker; 4];
    world.environment = serde_json::json!({ "limits": { "cgroup": { "cpu_max_cores": 2.0 } } });
    assert!(world.says("cpu-quota").is_some(), "four workers used all of two processors");
    world.environment["cpu"] = serde_json::json!({ "online": 2 });
    assert_eq!(world.says("cpu-quota"), None, "the machine has no more of them");
}

#[test]
fn settings_that_make_every_call_wait_are_causes() {
    let mut world = World::new(OpKind::Write, 1000, 16_384);
    world.device().requests = vec![requests(RequestClass::Write, 1800, 8192)];
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,sync,relatime" } });
    assert_eq!(
        world.says("sync-mount").expect("told"),
        "The file system is mounted with sync: every write waits until its data is on the device (1800 write requests for 1000 writes)."
    );
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,async" } });
    assert_eq!(world.says("sync-mount"), None);

    world.environment = serde_json::json!({ "filesystem": { "options": "rw,sync" } });
    world.repetition.workers[0].stats.push(syncs(1000));
    assert_eq!(world.says("sync-mount"), None, "each write is synced anyway");
    world.repetition.workers[0].stats.pop();
    world.device().requests = vec![requests(RequestClass::Write, 100, 131_072)];
    assert_eq!(world.says("sync-mount"), None, "many writes became one request");

    world.environment =
        serde_json::json!({ "filesystem": { "dirty_limit_strict": true, "dirty_limit_bytes": MIB } });
    assert!(world.says("dirty-limit").expect("told").starts_with("At most 1 MiB of writes to vda"));
    world.phase.axes.file_bytes = Some(MIB);
    assert_eq!(world.says("dirty-limit"), None, "there is never as much to hold back");
    world.phase.axes.file_bytes = None;
    world.environment["filesystem"]["dirty_limit_strict"] = false.into();
    assert_eq!(world.says("dirty-limit"), None);

    let mut world = World::new(OpKind::Read, 1000, 65_536);
    world.device().requests = vec![requests(RequestClass::Read, 16_000, 4096)];
    world.environment = serde_json::json!({ "devices": [{ "name": "vda", "read_ahead_kb": 0 }] });
    assert_eq!(
        world.says("no-read-ahead").expect("told"),
        "Read-ahead is off (read_ahead_kb of vda is 0): reads of 64 KiB were fetched in 16000 requests of 4 KiB."
    );
    world.environment["filesystem"] = serde_json::json!({ "read_ahead_kb": 4096 });
    assert_eq!(world.says("no-read-ahead"), None, "the mount has its own read-ahead");
    world.environment["filesystem"]["read_ahead_kb"] = 0.into();
    world.environment["devices"][0]["read_ahead_kb"] = 128.into();
    assert!(world.says("no-read-ahead").expect("told").contains("read_ahead_kb of the mount is 0"));
    world.device().requests = vec![requests(RequestClass::Read, 1000, 65_536)];
    assert_eq!(world.says("no-read-ahead"), None, "a read was one request");
}

#[test]
fn a_queue_that_is_none() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.phase.axes.queue_depth = Some(32);
    world.device().requests = vec![requests(RequestClass::Read, 1000, 4096)];
    world.workload.aio = true;
    assert!(
        world.says("queue-without-direct").expect("told").contains("the queue depth of 32 is never reached")
    );
    world.device().requests = vec![requests(RequestClass::Read, 100, 40_960)];
    assert_eq!(world.says("queue-without-direct"), None, "memory had most of it");
    world.device().requests = vec![requests(RequestClass::Read, 1000, 4096)];
    world.workload.in_order = true;
    assert_eq!(world.says("queue-without-direct"), None, "read-ahead fetches it");
    world.workload.in_order = false;
    world.phase.writes = true;
    assert_eq!(world.says("queue-without-direct"), None, "the page cache takes what is written");
    world.phase.writes = false;
    world.phase.direct = true;
    assert_eq!(world.says("queue-without-direct"), None);
}

#[test]
fn a_paced_phase_has_no_idle_device_finding() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.phase.direct = true;
    world.device().requests = vec![requests(RequestClass::Read, 1000, 4096)];
    world.device().busy_ns = 100_000_000;
    assert!(world.says("idle-device").is_some());
    let worker = &mut world.repetition.workers[0];
    worker.elapsed_ns = 200_000_000;
    worker.thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(140_000_000), ..Default::default() });
    assert_eq!(
        world.says("idle-device").expect("told"),
        "vda was idle for 90 % of the time; the worker used a processor for 0.0 % of it and was ready to run without one for 70 %."
    );
    let advice = world.found().into_iter().find(|f| f.rule == "idle-device").expect("told").advice;
    assert_eq!(
        advice,
        "`top -H` shows what uses the processors: stop it, or use no more workers than there are processors."
    );
    world.workload.paced = true;
    assert_eq!(world.says("idle-device"), None);
}

#[test]
fn of_the_device_and_the_processors_that_comes_first_for_which_the_workers_waited_longer() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.physical.machine_cpu_ns = Some(2_000_000_000);
    let worker = &mut world.repetition.workers[0];
    worker.elapsed_ns = 1_000_000_000;
    worker.thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(400_000_000), ..Default::default() });
    let ours = Issuer { reads: 1000, ..issuer(IssuerKind::Own, 4 * MIB) };
    let mut theirs = issuer(IssuerKind::Other, 0);
    (theirs.writes, theirs.write_bytes) = (1000, 400 * MIB);
    world.device().issuers = vec![ours, theirs];
    let each = |ns| {
        let mut read = requests(RequestClass::Read, 1000, 4096);
        read.d2c = Histogram::from_values([ns; 1000]);
        vec![read]
    };
    world.device().requests = each(500_000);
    let rules = |world: &World| world.found().into_iter().map(|f| f.rule.to_string()).collect::<Vec<_>>();
    assert_eq!(rules(&world), ["others", "busy-processors"]);
    world.device().requests = each(50_000);
    assert_eq!(rules(&world), ["busy-processors", "others"]);
}

#[test]
fn a_file_in_pieces_and_a_file_system_that_has_no_others() {
    let mut world = World::new(OpKind::Read, 256, 131_072);
    world.workload.in_order = true;
    world.device().requests = vec![requests(RequestClass::Read, 8192, 4096)];
    world.pieces = Some(Pieces { count: 8192, bytes: 32 * MIB, files: 1 });
    let said = world.says("fragmented").expect("told");
    assert_eq!(
        said,
        "The files are in 8192 pieces of 4 KiB on the device, so sequential calls of 128 KiB became 8192 requests of 4 KiB at scattered offsets."
    );
    world.environment = serde_json::json!({ "filesystem": { "free_bytes": 3, "total_bytes": 100 } });
    assert!(
        world.says("fragmented").expect("told").ends_with("The file system has 3.0 % of its space left.")
    );
    world.pieces = Some(Pieces { count: 8192, bytes: 32 * MIB, files: 8192 });
    assert_eq!(world.says("fragmented"), None, "each file is whole");
    world.pieces = Some(Pieces { count: 64, bytes: 32 * MIB, files: 1 });
    assert_eq!(world.says("fragmented"), None, "pieces larger than the calls cut none");
    world.pieces = Some(Pieces { count: 8192, bytes: 32 * MIB, files: 1 });
    world.device().requests[0].seeks.sequential = 8000;
    assert_eq!(world.says("fragmented"), None, "the pieces lie one behind the other");
    world.device().requests[0].seeks.sequential = 0;
    world.workload.in_order = false;
    assert_eq!(world.says("fragmented"), None, "random is random, wherever it lies");
}

#[test]
fn compression_is_reported_if_syncs_wait_and_the_device_idles() {
    let mut world = World::new(OpKind::Write, 512, 131_072);
    world.phase.sync_in_clock = true;
    world.repetition.elapsed_ns = 1_000_000_000;
    world.device().busy_ns = 100_000_000;
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,compress-force=zstd:15" } });
    assert_eq!(
        world.says("compression").expect("told"),
        "The file system compresses written data (compress-force=zstd:15) before vda gets it, and vda was idle for 90 % of the time outside of the write calls."
    );
    world.device().busy_ns = 900_000_000;
    assert_eq!(world.says("compression"), None);
    // With few processors the device also waits for one, and appears busy.
    world.environment["cpu"] = serde_json::json!({ "online": 2 });
    world.repetition.physical.machine_cpu_ns = Some(1_700_000_000);
    assert!(
        world
            .says("compression")
            .expect("told")
            .ends_with("the kernel's threads and other programs used 1.7 processors.")
    );
    world.repetition.physical.machine_cpu_ns = Some(900_000_000);
    assert_eq!(world.says("compression"), None);
    world.device().busy_ns = 100_000_000;
    world.phase.direct = true;
    assert_eq!(world.says("compression"), None, "past the page cache nothing is compressed");
    world.phase.direct = false;
    world.repetition.workers[0].stats[0].latency = Histogram::from_values([880_000_000]);
    assert_eq!(world.says("compression"), None, "the data were copied meanwhile");
    world.repetition.workers[0].stats[0].latency = Histogram::default();
    world.repetition.workers[0].stats.push(syncs(500));
    assert!(world.says("compression").is_some());
    world.repetition.workers[0].stats[1].ops = 5120;
    assert_eq!(world.says("compression"), None, "a sync of little waits for the log");
    world.repetition.workers[0].stats.pop();
    world.phase.sync_in_clock = false;
    assert_eq!(world.says("compression"), None, "nobody waited");
}

#[test]
fn workers_that_wait_for_a_processor() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let waits = |world: &mut World, ns| {
        let worker = &mut world.repetition.workers[0];
        worker.elapsed_ns = 1_000_000_000;
        worker.thread_counts =
            Some(fathom_record::ThreadCounts { processor_wait_ns: ns, ..Default::default() });
    };
    waits(&mut world, Some(450_000_000));
    world.repetition.workers[0].cpu_system_ns = 500_000_000;
    world.repetition.physical.machine_cpu_ns = Some(1_000_000_000);
    assert_eq!(
        world.says("busy-processors").expect("told"),
        "For 45 % of the time the workers were ready to run but had no processor: other programs or kernel threads had them."
    );
    let shares =
        |n: &str| serde_json::json!({ "limits": { "cgroup": { "cpu_weights": { "/cg/a/cpu.shares": n } } } });
    world.environment = shares("2");
    assert_eq!(
        world.says("busy-processors").expect("told"),
        "For 45 % of the time the workers were ready to run but had no processor: other programs or kernel threads had them. A control group of this program has a low weight (cpu.shares 2, the default is 1024), so programs outside of it go first."
    );
    world.environment = shares("1024");
    assert!(!world.says("busy-processors").expect("told").contains("weight"));
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 1 } });
    assert_eq!(world.says("busy-processors"), None, "they may have used the other one");
    world.allowed_busy_ns = Some(1_000_000_000);
    assert!(
        world.says("busy-processors").expect("told").ends_with(
            "had them. This program may use only 1 of the machine's 2 processors (taskset, cpuset)."
        )
    );
    world.allowed_busy_ns = Some(500_000_000);
    assert_eq!(world.says("busy-processors"), None, "they did");
    (world.environment, world.allowed_busy_ns) = (shares("1024"), None);
    world.workload.bound = vec![Some(vec![0])];
    assert_eq!(world.says("busy-processors"), None, "the workload says where it runs");
    world.workload.bound = Vec::new();
    world.repetition.physical.machine_cpu_ns = Some(600_000_000);
    assert_eq!(world.says("busy-processors"), None, "nobody else used them");
    world.repetition.physical.machine_cpu_ns = Some(1_000_000_000);
    waits(&mut world, Some(150_000_000));
    assert_eq!(world.says("busy-processors"), None, "as on any machine");
    waits(&mut world, None);
    assert_eq!(world.says("busy-processors"), None, "not known");

    waits(&mut world, Some(900_000_000));
    world.repetition.workers[0].cpu_system_ns = 40_000_000;
    world.device().busy_ns = 900_000_000;
    world.environment = serde_json::json!({ "limits": { "cgroup": { "cpu_max_cores": 0.05 } } });
    assert_eq!(
        world.says("cpu-quota").expect("told"),
        "A control group gives this program at most 0.05 of a processor, and its workers used 0.04 of one. For 90 % of the time they were ready to run but had to wait."
    );
    assert_eq!(world.found()[0].rule, "cpu-quota", "{:?}", world.found());
    waits(&mut world, Some(100_000_000));
    assert_eq!(world.says("cpu-quota"), None, "they wanted little more");

    // Eight workers on two processors wait for each other.
    waits(&mut world, Some(750_000_000));
    world.repetition.workers[0].cpu_system_ns = 240_000_000;
    world.repetition.workers = vec![world.repetition.workers[0].clone(); 8];
    world.environment = serde_json::json!({ "cpu": { "online": 2 } });
    assert_eq!(world.says("busy-processors"), None);
    world.repetition.workers.iter_mut().for_each(|w| w.cpu_system_ns = 100_000_000);
    world.repetition.physical.machine_cpu_ns = Some(1_950_000_000);
    assert_eq!(
        world.says("busy-processors").expect("others have most of both"),
        "For 75 % of the time the workers were ready to run but had no processor: other programs or kernel threads used 1.1 of the 2 that 8 workers share."
    );
    world.environment = serde_json::json!({ "cpu": { "online": 8, "allowed": 1 } });
    assert_eq!(world.says("busy-processors"), None, "they have most of the one they may use");

    // Eight workers in a cpuset of one of two processors: use of the other one does not slow them down.
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 1 } });
    world.repetition.workers.iter_mut().for_each(|w| w.cpu_system_ns = 70_000_000);
    world.repetition.physical.machine_cpu_ns = Some(1_560_000_000);
    assert_eq!(world.says("busy-processors"), None, "all of it may have been on the other one");
    world.repetition.physical.machine_cpu_ns = Some(2_000_000_000);
    assert_eq!(
        world.says("busy-processors").expect("0.44 of the one they may use, at least"),
        "For 75 % of the time the workers were ready to run but had no processor: other programs or kernel threads used at least 0.4 of the 1 that 8 workers share. This program may use only 1 of the machine's 2 processors (taskset, cpuset)."
    );
}

#[test]
fn queue_settings_that_limit_requests_are_reported() {
    let mut world = World::new(OpKind::Read, 1000, MIB);
    world.environment = serde_json::json!({ "devices": [
        { "name": "vda", "max_sectors_kb": 16, "max_hw_sectors_kb": 4096, "nomerges": 0, "nr_requests": 64 }
    ] });
    world.device().requests = vec![requests(RequestClass::Read, 64_000, 16 << 10)];
    assert_eq!(
        world.says("small-requests").expect("told"),
        "Requests of vda are limited to 16 KiB (max_sectors_kb; the hardware allows 4 MiB): 64000 read requests had that size."
    );
    world.repetition.workers[0].stats[0].bytes = 1000 * 4096;
    assert_eq!(world.says("small-requests"), None, "nobody asks for more");
    world.device().requests[0].seeks.sequential = 60_000;
    assert!(world.says("small-requests").is_some(), "read-ahead does");
    world.environment["devices"][0]["max_sectors_kb"] = 4096.into();
    assert_eq!(world.says("small-requests"), None);

    // The limit of a device below.
    let below = DeviceActivity {
        name: "sda".into(),
        level: 1,
        requests: vec![requests(RequestClass::Read, 64_000, 16 << 10)],
        ..DeviceActivity::default()
    };
    world.device().requests = vec![requests(RequestClass::Read, 1000, MIB)];
    world.environment = serde_json::json!({ "devices": [
        { "name": "vda", "max_sectors_kb": 4096, "max_hw_sectors_kb": 4096 },
        { "name": "sda", "max_sectors_kb": 16, "max_hw_sectors_kb": 4096 }
    ] });
    world.repetition.block.as_mut().expect("watched").devices.push(below);
    assert_eq!(
        world.says("small-requests").expect("told"),
        "Requests of sda, which lies below vda, are limited to 16 KiB (max_sectors_kb; the hardware allows 4 MiB): 64000 read requests had that size."
    );
    world.device().requests = vec![requests(RequestClass::Read, 400, MIB)];
    assert_eq!(world.says("small-requests"), None, "most of them were for somebody else");
    world.device().requests = vec![requests(RequestClass::Read, 64_000, 16 << 10)];
    assert_eq!(world.says("small-requests"), None, "the device above asks for no more");

    let mut world = World::new(OpKind::Write, 1000, 4096);
    world.environment = serde_json::json!({ "devices": [{ "name": "vda", "nomerges": 2 }] });
    world.device().requests = vec![requests(RequestClass::Write, 1000, 4096)];
    world.device().requests[0].seeks.sequential = 900;
    assert_eq!(
        world.says("no-merges").expect("told"),
        "Requests are not merged (nomerges of vda is 2), and 90 % of 1000 writes began where the one before ended: 4 KiB each."
    );
    world.phase.direct = true;
    assert_eq!(world.says("no-merges"), None, "one waits for the other");
    world.phase.direct = false;
    world.device().requests[0].seeks.sequential = 100;
    assert_eq!(world.says("no-merges"), None, "there is nothing to merge");
    world.device().requests[0].seeks.sequential = 900;
    world.repetition.workers[0].stats.push(syncs(1000));
    assert_eq!(world.says("no-merges"), None, "each is synced before the next");
    world.repetition.workers[0].stats.pop();
    for merges in [0, 1] {
        world.environment["devices"][0]["nomerges"] = merges.into();
        assert_eq!(world.says("no-merges"), None, "what lies side by side is joined");
    }

    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.phase.direct = true;
    world.phase.axes.queue_depth = Some(32);
    world.environment =
        serde_json::json!({ "devices": [{ "name": "vda", "nr_requests": 4, "scheduler": "mq-deadline" }] });
    world.device().requests = vec![requests(RequestClass::Read, 1000, 4096)];
    world.device().in_device =
        vec![DepthTime { depth: 1, ns: 200_000_000 }, DepthTime { depth: 4, ns: 800_000_000 }];
    world.device().busy_ns = 1_000_000_000;
    assert_eq!(
        world.says("few-requests").expect("told"),
        "The queue of vda has 4 requests (nr_requests), and the workload keeps 32 operations in flight: for 80 % of its busy time nearly all requests were in use."
    );
    world.device().in_device[1].depth = 5;
    assert_eq!(world.says("few-requests"), None, "it has more");
    world.device().in_device[1].depth = 2;
    assert_eq!(world.says("few-requests"), None, "they are not needed");
    world.device().in_device[1].depth = 4;
    world.phase.axes.queue_depth = Some(4);
    assert_eq!(world.says("few-requests"), None, "as many as are asked for");
    world.phase.axes.queue_depth = Some(32);
    world.environment["devices"][0]["scheduler"] = "none".into();
    assert_eq!(world.says("few-requests"), None, "the driver takes no more");
}

#[test]
fn requests_that_wait_for_a_device_with_nothing_to_do() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.device().in_queue =
        vec![DepthTime { depth: 0, ns: 100_000_000 }, DepthTime { depth: 1, ns: 900_000_000 }];
    world.device().busy_ns = 300_000_000;
    world.environment = serde_json::json!({ "devices": [{ "name": "vda", "scheduler": "bfq" }] });
    assert_eq!(
        world.says("held-back").expect("told"),
        "For 60 % of the time requests waited above vda while it was idle: the I/O scheduler bfq, or a control group's I/O control (io.cost, io.latency), held them back."
    );
    world.device().busy_ns = 800_000_000;
    assert_eq!(world.says("held-back"), None, "it was busy meanwhile");
    world.device().busy_ns = 300_000_000;
    world.environment["devices"][0]["scheduler"] = "none".into();
    assert_eq!(world.says("held-back"), None, "there is none");
}

#[test]
fn a_group_with_less_memory_than_the_files_need() {
    let mut world = World::new(OpKind::Read, 131_072, 4096);
    let pages = 256 * MIB / crate::residency::page_bytes();
    world.repetition.resident_before =
        Some(fathom_record::Residency { total_pages: pages, ..Default::default() });
    world.environment = serde_json::json!({ "limits": { "cgroup": { "memory_max_bytes": 80 * MIB } } });
    world.device().requests = vec![requests(RequestClass::Read, 512, MIB)];
    assert_eq!(
        world.says("memory-limit").expect("told"),
        "A control group limits this program to 80 MiB of memory, page cache included, and the files total 256 MiB: repeated reads go to the device again."
    );
    world.device().requests = vec![requests(RequestClass::Read, 270, MIB)];
    assert_eq!(world.says("memory-limit"), None, "next to nothing was read again");
    world.device().requests = vec![requests(RequestClass::Read, 512, MIB)];
    world.environment["memory"] = serde_json::json!({ "total_bytes": 200 * MIB });
    assert_eq!(world.says("memory-limit"), None, "the machine has no more");
    world.environment["memory"] = serde_json::Value::Null;
    world.environment["limits"]["cgroup"]["memory_max_bytes"] = (300 * MIB).into();
    assert_eq!(world.says("memory-limit"), None, "there is room");
    world.environment["limits"]["cgroup"]["memory_max_bytes"] = (80 * MIB).into();
    world.phase.direct = true;
    assert_eq!(world.says("memory-limit"), None, "past the page cache");

    let mut world = World::new(OpKind::Write, 65_536, 4096);
    world.repetition.resident_before =
        Some(fathom_record::Residency { total_pages: pages, ..Default::default() });
    world.environment = serde_json::json!({ "limits": { "cgroup": { "memory_max_bytes": 80 * MIB } } });
    world.device().requests = vec![requests(RequestClass::Write, 200, MIB)];
    assert!(
        world
            .says("memory-limit")
            .expect("told")
            .ends_with("must reach the device before more can be written.")
    );
    world.repetition.workers[0].stats.push(syncs(65_536));
    assert_eq!(world.says("memory-limit"), None, "each write is synced anyway");
}

#[test]
fn a_journal_of_data_and_caps_of_the_whole_machine() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,data=journal" } });
    world.device().requests = vec![requests(RequestClass::Write, 80, 131_072)];
    assert_eq!(
        world.says("data-journal").expect("told"),
        "The file system is mounted with data=journal: data goes to the journal first, and 10 MiB were written for 4 MiB (2.5 x)."
    );
    world.device().requests = vec![requests(RequestClass::Write, 40, 131_072)];
    assert_eq!(world.says("data-journal"), None, "they were not written twice");
    world.device().requests = vec![requests(RequestClass::Write, 80, 131_072)];
    world.environment["filesystem"]["options"] = "rw,data=ordered".into();
    assert_eq!(world.says("data-journal"), None);

    world.environment = serde_json::json!({ "vm": { "dirty_bytes": MIB, "dirty_ratio": 0 } });
    assert_eq!(
        world.says("dirty-limit").expect("told"),
        "At most 1 MiB of writes may wait in memory (vm.dirty_bytes), and 4 MiB were written: writers were held back until the device had the rest."
    );
    world.environment = serde_json::json!({
        "vm": { "dirty_bytes": 0, "dirty_ratio": 1 }, "memory": { "available_bytes": 100 * MIB }
    });
    assert!(world.says("dirty-limit").expect("told").contains("(vm.dirty_ratio)"));
    world.environment["vm"]["dirty_ratio"] = 4.into();
    assert_eq!(world.says("dirty-limit"), None, "all of it fits");
    world.environment["vm"]["dirty_ratio"] = 20.into();
    world.environment["memory"]["available_bytes"] = MIB.into();
    assert_eq!(world.says("dirty-limit"), None, "that is no setting");
}

#[test]
fn read_ahead_that_is_small() {
    let mut world = World::new(OpKind::Read, 16_000, 4096);
    world.workload.in_order = true;
    world.device().requests = vec![requests(RequestClass::Read, 4000, 16_384)];
    world.environment = serde_json::json!({ "devices": [{ "name": "vda", "read_ahead_kb": 16 }] });
    assert_eq!(
        world.says("no-read-ahead").expect("told"),
        "Read-ahead is small (read_ahead_kb of vda is 16): reads of 4 KiB were fetched in 4000 requests of 16 KiB."
    );
    world.workload.in_order = false;
    assert_eq!(world.says("no-read-ahead"), None, "nothing is to be read ahead");
    world.workload.in_order = true;
    world.environment["devices"][0]["read_ahead_kb"] = 128.into();
    assert_eq!(world.says("no-read-ahead"), None);
}

#[test]
fn writers_of_one_file_wait_for_each_other() {
    let mut world = World::new(OpKind::Write, 1000, MIB);
    world.workload.one_file = true;
    world.repetition.elapsed_ns = 1_000_000_000;
    let worker = &mut world.repetition.workers[0];
    worker.elapsed_ns = 1_000_000_000;
    worker.cpu_system_ns = 125_000_000;
    worker.stats[0].latency = Histogram::from_values([950_000_000]);
    worker.thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(25_000_000), ..Default::default() });
    let worker = worker.clone();
    world.repetition.workers = vec![worker; 8];
    world.device().busy_ns = 30_000_000;
    assert_eq!(
        world.says("one-writer").expect("told"),
        "8 workers write one file through the page cache and were blocked in calls for 80 % of their time, while vda was busy for 3.0 % of it: the file system admits one writer per file at a time."
    );
    world.device().busy_ns = 900_000_000;
    assert_eq!(world.says("one-writer"), None, "they may wait for the device");
    world.device().busy_ns = 30_000_000;
    world.workload.one_file = false;
    assert_eq!(world.says("one-writer"), None, "each has its own");
    world.workload.one_file = true;
    world.phase.direct = true;
    assert_eq!(world.says("one-writer"), None, "past the page cache they may share it");
    world.phase.direct = false;
    world.phase.axes.queue_depth = Some(8);
    assert_eq!(world.says("one-writer"), None, "who waits is not known");
    world.phase.axes.queue_depth = None;
    world.repetition.workers.iter_mut().for_each(|w| w.cpu_system_ns = 900_000_000);
    assert_eq!(world.says("one-writer"), None, "they compute");
}

#[test]
fn calls_that_a_program_serves() {
    let mut world = World::new(OpKind::Write, 1000, 4096);
    world.repetition.block = None;
    world.repetition.elapsed_ns = 1_000_000_000;
    let worker = &mut world.repetition.workers[0];
    worker.elapsed_ns = 1_000_000_000;
    worker.cpu_system_ns = 100_000_000;
    worker.stats[0].latency = Histogram::from_values([900_000; 1000]);
    worker.thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(0), ..Default::default() });
    world.environment = serde_json::json!({ "filesystem": { "type": "fuse.sshfs", "source": "host:/data" } });
    world.repetition.physical.method = "diskstats".into();
    assert_eq!(world.says("fuse"), None, "the files of this phase are on a device");
    world.repetition.physical.method = "none".into();
    let said = world.says("fuse").expect("told");
    assert!(
        said.starts_with(
            "The file system is fuse.sshfs of host:/data, so a program in user space serves it: for 80 %"
        ),
        "{said}"
    );
    let advice = |world: &World| world.found().remove(0).advice;
    assert!(advice(&world).starts_with("If what it serves is a directory here"), "{}", advice(&world));
    world.environment["filesystem"]["source"] = "/srv/data".into();
    assert!(
        advice(&world).starts_with("If /srv/data is a directory here, measure it, too. "),
        "a directory of this machine"
    );
    world.environment["filesystem"]["type"] = "ext4".into();
    assert_eq!(world.says("fuse"), None);
    world.environment["filesystem"]["type"] = "fuse".into();
    assert!(world.says("fuse").is_some());
    world.repetition.workers[0].cpu_system_ns = 700_000_000;
    assert_eq!(world.says("fuse"), None, "the page cache serves most calls, which compute");
}

#[test]
fn writes_that_the_workload_itself_makes_synchronous() {
    let mut world = World::new(OpKind::Write, 1000, 4096);
    world.device().requests = vec![requests(RequestClass::Write, 2000, 4096)];
    assert_eq!(world.says("synced-writes"), None);
    world.workload.synced = true;
    assert_eq!(world.says("synced-writes"), None, "another stream may have made the requests");
    world.workload.all_synced = true;
    assert_eq!(
        world.says("synced-writes").expect("told"),
        "The workload opens files with O_SYNC or O_DSYNC, so each write to them waits until its data is on the device: 2000 write requests for 1000 writes."
    );
    world.device().requests = vec![requests(RequestClass::Write, 100, 40_960)];
    assert_eq!(world.says("synced-writes"), None, "most writes were to other files");
}

#[test]
fn deletes_that_wait_for_discards() {
    let mut world = World::new(OpKind::Delete, 100, 0);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,discard" } });
    world.device().busy_ns = 900_000_000;
    world.device().requests = vec![RequestStats {
        d2c: Histogram::from_values([5_000_000; 80]),
        ..requests(RequestClass::Discard, 80, MIB)
    }];
    assert_eq!(
        world.says("discard").expect("told"),
        "The file system is mounted with discard: vda received 80 discards for 100 deletes, which kept it busy for up to 40 % of the time."
    );
    world.device().busy_ns = 100_000_000;
    assert_eq!(world.says("discard"), None, "several at once, for little of the time");
    world.device().busy_ns = 900_000_000;
    world.environment["filesystem"]["options"] = "rw,discard=async".into();
    assert_eq!(world.says("discard"), None, "nobody waits for them");
}

/// If events were lost, the number of requests is a lower bound.
#[test]
fn settings_are_named_although_events_were_lost() {
    let mut world = World::new(OpKind::Write, 1000, 16_384);
    world.device().requests = vec![requests(RequestClass::Write, 1800, 16_384)];
    world.repetition.block.as_mut().expect("made with one").lost = 60;
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,data=journal" } });
    assert_eq!(
        world.says("data-journal").expect("told"),
        "The file system is mounted with data=journal: data goes to the journal first, and at least 28.1 MiB were written for 15.6 MiB (1.8 x)."
    );
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,sync" } });
    assert!(
        world.says("sync-mount").expect("told").ends_with("(at least 1800 write requests for 1000 writes).")
    );
    world.environment =
        serde_json::json!({ "filesystem": { "dirty_limit_strict": true, "dirty_limit_bytes": MIB } });
    assert!(world.says("dirty-limit").is_some());
}

#[test]
fn attributes_of_files_are_causes_as_options_of_the_mount_are() {
    let mut world = World::new(OpKind::Write, 1000, 16_384);
    world.device().requests = vec![requests(RequestClass::Write, 1800, 16_384)];
    world.environment = serde_json::json!({ "filesystem": { "type": "ext4", "options": "rw" } });
    assert_eq!((world.says("sync-attribute"), world.says("data-journal")), (None, None));
    world.attributes = Attributes { files: 1, sync: 1, journalled: 1, ..Attributes::default() };
    assert_eq!(
        world.says("sync-attribute").expect("told"),
        "The file has the attribute S (chattr +S): every write waits until its data is on the device (1800 write requests for 1000 writes)."
    );
    assert_eq!(
        world.says("data-journal").expect("told"),
        "The file has the attribute j (chattr +j): data goes to the journal first, and 28.1 MiB were written for 15.6 MiB (1.8 x)."
    );
    world.environment = serde_json::json!({ "filesystem": { "type": "xfs", "options": "rw,sync" } });
    assert_eq!(world.says("data-journal"), None, "XFS has no such journal");
    assert_eq!(world.says("sync-attribute"), None, "the mount's option does it for all files");
    assert!(world.says("sync-mount").is_some());
    world.environment = serde_json::json!({ "filesystem": { "type": "ext4", "options": "rw" } });
    world.attributes = Attributes { files: 2, sync: 1, journalled: 1, ..Attributes::default() };
    assert_eq!((world.says("sync-attribute"), world.says("data-journal")), (None, None), "only one has it");
    world.attributes = Attributes { files: 2, sync: 2, journalled: 0, ..Attributes::default() };
    world.phase.direct = true;
    assert_eq!(world.says("sync-attribute"), None, "O_DIRECT waits anyway");
}

#[test]
fn workers_that_share_fewer_processors_than_the_machine_has() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let worker = &mut world.repetition.workers[0];
    (worker.elapsed_ns, worker.cpu_system_ns) = (1_000_000_000, 120_000_000);
    worker.thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(860_000_000), ..Default::default() });
    let worker = worker.clone();
    world.repetition.workers = (0..8).map(|index| Worker { index, ..worker.clone() }).collect();
    world.repetition.physical.machine_cpu_ns = Some(1_900_000_000);
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 1 } });
    assert_eq!(
        world.says("few-processors").expect("told"),
        "This program may use only 1 of the machine's 2 processors, and on average 7.8 of 8 workers were running or ready to run."
    );
    assert_eq!(world.says("busy-processors"), None);
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 2 } });
    world.workload.bound = vec![Some(vec![1]); 8];
    assert_eq!(
        world.says("few-processors").expect("told"),
        "The workload lets its workers use only 1 of the machine's 2 processors, and on average 7.8 of 8 workers were running or ready to run."
    );
    world.workload.bound = (0..8).map(|worker| Some(vec![worker % 2])).collect();
    assert_eq!(world.says("few-processors"), None, "the machine has no more");
    world.workload.bound = Vec::new();
    assert_eq!(world.says("few-processors"), None, "likewise");
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 1 } });
    world.repetition.workers.iter_mut().for_each(|w| w.cpu_system_ns = 50_000_000);
    world.repetition.physical.machine_cpu_ns = Some(2_000_000_000);
    let rules: Vec<_> = world.found().into_iter().map(|f| f.rule).collect();
    assert_eq!(rules, ["few-processors", "busy-processors"], "they had 0.4 of the one, and others the rest");
    world.repetition.workers.iter_mut().for_each(|w| w.cpu_system_ns = 20_000_000);
    assert_eq!(world.says("few-processors"), None, "others had most of the one");
    world.repetition.workers.truncate(1);
    world.repetition.workers[0].cpu_system_ns = 700_000_000;
    world.repetition.workers[0].thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(250_000_000), ..Default::default() });
    assert_eq!(world.says("few-processors"), None, "one worker has no use for two");
}

#[test]
fn the_workers_of_one_group_that_share_too_few_processors() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.environment = serde_json::json!({ "cpu": { "online": 8, "allowed": 8 } });
    let worker = |index: u32, group: &str, used: u64, waited: u64| Worker {
        group: group.into(),
        index,
        elapsed_ns: 1_000_000_000,
        cpu_system_ns: used,
        thread_counts: Some(fathom_record::ThreadCounts {
            processor_wait_ns: Some(waited),
            ..Default::default()
        }),
        ..Worker::default()
    };
    let crowded = |index| worker(index, "scan", 240_000_000, 740_000_000);
    let mut workers: Vec<Worker> = (0..4).map(crowded).collect();
    workers.extend((4..8).map(|index| worker(index, "log", 20_000_000, 0)));
    world.repetition.workers = workers;
    let first_four = |cpus: &[u32]| (0..4).map(|_| Some(cpus.to_vec())).collect::<Vec<_>>();
    world.workload.bound = [first_four(&[2]), vec![Some(vec![3, 4, 5, 6]); 4]].concat();
    assert_eq!(
        world.says("few-processors").expect("told"),
        "The workload lets the 4 workers of scan use only 1 of the machine's 8 processors (CPU 2), and on average 3.9 of 4 were running or ready to run."
    );
    world.workload.bound = [first_four(&[2]), vec![None; 4]].concat();
    assert!(
        world.says("few-processors").expect("told").contains("the 4 workers of scan"),
        "the others are free"
    );
    world.workload.bound = [first_four(&[1, 2, 3, 4]), vec![Some(vec![1]); 4]].concat();
    assert_eq!(world.says("few-processors"), None, "four for four");
    // Two pairs with one processor each: neither pair alone is the whole of it.
    let pairs: Vec<_> = [2, 2, 3, 3].map(|cpu| Some(vec![cpu])).to_vec();
    world.workload.bound = [pairs, vec![None; 4]].concat();
    assert_eq!(
        world.says("few-processors").expect("told"),
        "The workload lets the 4 workers of scan use only 2 of the machine's 8 processors (CPUs 2, 3), and on average 3.9 of 4 were running or ready to run."
    );
    world.repetition.workers[4].group = "scan".into();
    assert!(
        world.says("few-processors").expect("told").starts_with("The workload lets 4 of its 8 workers use"),
        "a fifth worker of that group is free"
    );
    world.workload.bound = [first_four(&[2]), vec![None; 4]].concat();
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 2 } });
    world.repetition.workers[4..].iter_mut().for_each(|w| w.cpu_system_ns = 250_000_000);
    assert_eq!(world.says("few-processors"), None, "the others had the second one");
}

#[test]
fn pages_that_somebody_dropped_while_they_were_read() {
    let pages = MIB / crate::residency::page_bytes();
    let mut world = World::new(OpKind::Read, 100_000, 4096);
    world.workload.keeps_pages = true;
    world.repetition.physical.method = "diskstats".into();
    world.repetition.physical.own_read_bytes = Some(300 * MIB);
    world.repetition.resident_before =
        Some(Residency { total_pages: 64 * pages, cached_pages: 64 * pages, ..Residency::default() });
    world.repetition.resident_after = world.repetition.resident_before;
    assert_eq!(world.says("dropped-cache"), None, "nobody counted what memory pressure took");
    world.evictions = Some(Evictions { reclaimed_pages: pages, drops: 0 });
    assert_eq!(
        world.says("dropped-cache").expect("told"),
        "Pages of the files left the page cache while they were read: 300 MiB that had been there were read again. Memory was not short (the kernel reclaimed 1 MiB of the pages of all files), and drop_caches was not used: another program, or DAMON, dropped them."
    );
    world.evictions = Some(Evictions { reclaimed_pages: 0, drops: 3 });
    assert_eq!(
        world.says("dropped-cache").expect("told"),
        "Pages of the files left the page cache while they were read: 300 MiB that had been there were read again. Memory was not short (the kernel reclaimed 0 B of the pages of all files), and the machine's page cache was dropped 3 times (/proc/sys/vm/drop_caches)."
    );
    let remover = |name: &str, process, dropped| fathom_record::Remover {
        name: name.into(),
        process,
        dropped_bytes: dropped * MIB,
        reclaimed_bytes: 0,
    };
    let dropped_by = |removers: Vec<fathom_record::Remover>| {
        let pages = Some(fathom_record::PageMoves { removers, ..fathom_record::PageMoves::default() });
        Some(fathom_record::PageCacheEvents { pages, ..Default::default() })
    };
    world.repetition.page_cache = dropped_by(vec![remover("bash", 7, 290), remover("dd", 8, 10)]);
    assert!(
        world.says("dropped-cache").expect("told").ends_with(
            "was dropped 3 times (/proc/sys/vm/drop_caches); bash (process 7) dropped most of them."
        )
    );
    world.evictions = Some(Evictions { reclaimed_pages: 0, drops: 0 });
    world.repetition.page_cache = dropped_by(vec![remover("dd", 8, 100), remover("dd", 9, 100)]);
    assert!(
        world
            .says("dropped-cache")
            .expect("told")
            .ends_with("and drop_caches was not used: dd (2 processes) dropped them.")
    );
    world.repetition.page_cache = dropped_by(vec![remover("dd", 8, 100)]);
    assert!(
        world.says("dropped-cache").expect("told").contains("another program"),
        "a third of them is not the reason"
    );
    world.evictions = Some(Evictions { reclaimed_pages: 31 * pages, drops: 0 });
    assert_eq!(world.says("dropped-cache"), None, "memory was short");
    world.evictions = Some(Evictions::default());
    world.repetition.resident_before =
        Some(Residency { total_pages: 64 * pages, cached_pages: 0, ..Residency::default() });
    assert!(
        world.says("dropped-cache").expect("told").contains("236 MiB"),
        "64 were read for the first time"
    );
    world.repetition.physical.own_read_bytes = Some(72 * MIB);
    assert_eq!(world.says("dropped-cache"), None, "most of it was");
    world.repetition.cache = fathom_record::CacheIntent::Warm;
    assert_eq!(world.says("dropped-cache"), None, "64 of 72 are still there");
    world.repetition.resident_after = world.repetition.resident_before;
    assert!(world.says("dropped-cache").expect("told").contains("72 MiB"), "warming had read them");
    world.repetition.physical.own_read_bytes = Some(300 * MIB);
    world.repetition.physical.method = "mountstats".into();
    assert_eq!(world.says("dropped-cache"), None, "a server may have changed the file");
    world.repetition.physical.method = "diskstats".into();
    world.workload.keeps_pages = false;
    assert_eq!(world.says("dropped-cache"), None, "the workload itself drops them");
    (world.workload.keeps_pages, world.phase.writes) = (true, true);
    assert_eq!(world.says("dropped-cache"), None, "parts of blocks are read to be written");
}

#[test]
fn calls_that_stand_still_above_an_idle_device() {
    let mut world = World::new(OpKind::Write, 1000, 65_536);
    world.repetition.elapsed_ns = 1_000_000_000;
    let worker = &mut world.repetition.workers[0];
    (worker.elapsed_ns, worker.cpu_system_ns) = (1_000_000_000, 50_000_000);
    worker.thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(50_000_000), ..Default::default() });
    let still = Still { times: 8, total_ns: 800_000_000, longest_ns: 105_000_000, in_calls_ns: 800_000_000 };
    world.phase.direct = true;
    world.device().requests = vec![requests(RequestClass::Write, 1000, 65_536)];
    assert!(world.says("idle-device").is_some());
    world.joined = Some(Joined { still, ..Joined::default() });
    assert_eq!(world.says("idle-device"), None, "more operations would stand still, too");
    assert_eq!(
        world.says("stood-still").expect("told"),
        "For 80 % of the time, in stretches of up to 105 ms, no call returned and the device was idle: something above it held the calls back."
    );
    world.repetition.workers[0].cpu_system_ns = 700_000_000;
    assert_eq!(world.says("stood-still"), None, "they computed");
    world.repetition.workers[0].cpu_system_ns = 50_000_000;
    let wakes = Histogram::from_values([500_000_000]);
    world.repetition.jitter = Some(fathom_record::Jitter { wakes, ..Default::default() });
    assert_eq!(world.says("stood-still"), None, "this process itself was stopped");
    world.repetition.jitter = None;
    world.repetition.block.as_mut().expect("made with one").lost = 1;
    assert_eq!(world.says("stood-still"), None, "the device may have had requests");
}

#[test]
fn another_program_that_trims_is_named() {
    let mut world = World::new(OpKind::Write, 1000, 65_536);
    world.phase.direct = true;
    world.repetition.elapsed_ns = 1_000_000_000;
    world.device().busy_ns = 900_000_000;
    world.device().requests = vec![
        RequestStats {
            d2c: Histogram::from_values([5_000_000; 100]),
            ..requests(RequestClass::Discard, 100, MIB)
        },
        requests(RequestClass::Flush, 40, 0),
    ];
    let fstrim = Issuer { kind: IssuerKind::Other, name: "fstrim".into(), others: 100, ..Issuer::default() };
    world.device().issuers = vec![fstrim.clone()];
    assert_eq!(
        world.says("discards-of-others").expect("told"),
        "fstrim discarded blocks of vda during the phase: 100 discards, which kept it busy for up to 50 % of the time."
    );
    world.device().issuers = vec![Issuer { others: 80, ..fstrim.clone() }];
    assert!(world.says("discards-of-others").is_some(), "it flushes nothing");
    world.device().issuers = vec![Issuer { others: 80, name: "mkfs.xfs".into(), ..fstrim.clone() }];
    assert_eq!(world.says("discards-of-others"), None, "40 of the 80 may have been flushes");
    world.device().issuers = vec![Issuer { kind: IssuerKind::Kernel, ..fstrim.clone() }];
    assert_eq!(world.says("discards-of-others"), None, "the file system's own");
    world.device().issuers = vec![fstrim];
    world.repetition.workers[0].stats[0].op = OpKind::Delete;
    assert_eq!(world.says("discards-of-others"), None, "of files that the workload deleted");
}

#[test]
fn writers_that_the_kernel_pauses() {
    let mut world = World::new(OpKind::Write, 100_000, 4096);
    let whole = 2_000_000_000;
    world.repetition.elapsed_ns = whole;
    assert_eq!(world.says("dirty-throttling"), None);
    let paused = |total_ns| {
        let pauses = Some(fathom_record::Pauses { count: 39, total_ns });
        Some(fathom_record::PageCacheEvents { pauses, ..Default::default() })
    };
    world.repetition.page_cache = paused(whole / 2);
    let said = world.says("dirty-throttling").expect("told");
    assert!(said.starts_with("For 50 % of their time the kernel paused the writers (39 pauses, "), "{said}");
    world.repetition.page_cache = paused(whole / 10);
    assert_eq!(world.says("dirty-throttling"), None, "it hardly mattered");
}

#[test]
fn bfq_that_gives_the_device_one_request_at_a_time() {
    let mut world = World::new(OpKind::Read, 100_000, 4096);
    world.phase.axes.queue_depth = Some(4);
    let tunables = |strict: &str| {
        serde_json::json!({ "devices": [{
            "name": "vda", "scheduler": "bfq", "scheduler_tunables": { "strict_guarantees": strict },
        }] })
    };
    world.environment = tunables("1");
    world.device().requests = vec![requests(RequestClass::Read, 5000, 4096)];
    world.device().in_device = vec![DepthTime { depth: 0, ns: 5 }, DepthTime { depth: 1, ns: 900_000_000 }];
    let said = world.says("strict-guarantees").expect("told");
    assert!(said.contains("bfq of vda has strict_guarantees set") && said.contains("4 operations"), "{said}");
    world.device().in_device.push(DepthTime { depth: 2, ns: 5 });
    assert_eq!(world.says("strict-guarantees"), None, "there were two at once");
    world.device().in_device.pop();
    world.environment = tunables("0");
    assert_eq!(world.says("strict-guarantees"), None);
}

#[test]
fn a_workload_that_keeps_its_own_pace() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].stats[0].latency = Histogram::from_values([80_000; 1000]);
    assert_eq!(world.says("own-pace"), None);
    (world.workload.paced, world.workload.all_paced) = (true, true);
    let said = world.says("own-pace").expect("told");
    assert!(said.ends_with("kept to it: its calls took 8.0 % of the time."), "{said}");
    world.workload.all_paced = false;
    assert_eq!(world.says("own-pace"), None, "another stream takes what it gets");
    world.workload.all_paced = true;
    world.repetition.workers[0].behind_ns = 500_000_000;
    world.repetition.workers[0].elapsed_ns = 1_000_000_000;
    assert_eq!(world.says("own-pace"), None, "it was late");
    world.repetition.workers[0].behind_ns = 0;
    world.repetition.elapsed_ns = 100_000_000;
    assert_eq!(world.says("own-pace"), None, "the calls took most of the time");
}

#[test]
fn a_tracer_that_stops_each_call() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    let switched = |switches| Some(fathom_record::ThreadCounts { switches, ..Default::default() });
    world.repetition.workers[0].thread_counts = switched(2010);
    assert_eq!(world.says("traced"), None);
    world.environment = serde_json::json!({ "limits": { "tracer": "strace (process 7)" } });
    let said = world.says("traced").expect("told");
    assert_eq!(
        said,
        "strace (process 7) traces this program: the workers were stopped or switched 2.0 times per call."
    );
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.halts = Some(fathom_record::Halts { stopped_ns: 0, frozen_ns: 800_000_000 });
    assert_eq!(world.says("halted"), None, "the tracer stopped them");
    world.repetition.workers[0].thread_counts = switched(1100);
    assert_eq!(world.says("traced"), None, "one switch is the wait for I/O");
    assert!(world.says("halted").is_some());
}

#[test]
fn direct_writes_that_went_through_the_page_cache() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.phase.direct = true;
    world.environment = serde_json::json!({ "filesystem": { "type": "btrfs" } });
    let entered = |own_bytes| {
        let pages = Some(fathom_record::PageMoves { own_bytes, ..Default::default() });
        Some(fathom_record::PageCacheEvents { pages, ..Default::default() })
    };
    assert_eq!(world.says("direct-through-cache"), None);
    world.repetition.page_cache = entered(4 * MIB);
    let said = world.says("direct-through-cache").expect("told");
    assert!(said.contains("calls brought 4 MiB into it while they wrote 4 MiB"), "{said}");
    world.repetition.page_cache = entered(MIB);
    assert_eq!(world.says("direct-through-cache"), None, "a few unaligned ends");
    let waiting = fathom_record::cache::UnwrittenData { meanwhile_bytes: 4096, ..Default::default() };
    world.repetition.physical.waiting = Some(waiting);
    assert!(world.says("direct-through-cache").is_some(), "the rest was in the cache before");
    world.repetition.page_cache = entered(0);
    world.attributes.files = 1;
    let said = world.says("direct-through-cache").expect("told");
    assert!(said.ends_with("written data was seen waiting in it while calls wrote 4 MiB."), "{said}");
    world.environment = serde_json::json!({ "filesystem": { "type": "ext4" } });
    assert_eq!(world.says("direct-through-cache"), None, "another program may have written it");
    world.environment = serde_json::json!({ "filesystem": { "type": "btrfs" } });
    world.repetition.physical.waiting = None;
    world.repetition.page_cache = entered(4 * MIB);
    world.phase.direct = false;
    assert_eq!(world.says("direct-through-cache"), None);
}

#[test]
fn a_neighbour_that_syncs_the_file_system() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.device().requests =
        vec![requests(RequestClass::Write, 1024, 4096), requests(RequestClass::Flush, 182, 0)];
    let theirs = Issuer {
        kind: IssuerKind::Other,
        name: "python3".into(),
        writes: 22,
        write_bytes: 22_528,
        others: 42,
        ..Issuer::default()
    };
    world.device().issuers = vec![theirs];
    let said = world.says("syncs-of-others").expect("told");
    assert!(
        said.starts_with("python3 had vda flushed 42 times meanwhile") && said.contains("100 %"),
        "{said}"
    );
    world.workload.synced = true;
    assert_eq!(world.says("syncs-of-others"), None, "the workload waits for the device itself");
    world.workload.synced = false;
    world.device().requests[0].issued_bytes = MIB;
    assert_eq!(world.says("syncs-of-others"), None, "most of it stayed in memory");
}

#[test]
fn locks_that_other_programs_or_workers_hold() {
    use fathom_record::{LockHolder, LockWaits};
    let mut world = World::new(OpKind::Read, 1024, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers = vec![world.repetition.workers[0].clone(), Worker::default()];
    let held = |name: &str, process, waited_ns, has_file| LockHolder {
        name: name.into(),
        process,
        waited_ns,
        has_file,
    };
    let mut waits = LockWaits { waits: 9, own_ns: 700_000_000, ..LockWaits::default() };
    world.repetition.lock_waits = Some(waits.clone());
    assert_eq!(
        world.says("own-locks").expect("told"),
        "For 35 % of their time the 2 workers waited for locks in the kernel that other workers held."
    );
    assert_eq!(world.says("locks-of-others"), None);
    waits.own_ns = 500_000_000;
    waits.holders = vec![held("python3", 7, 900_000_000, true), held("kworker/0:1", 0, 1_000_000, false)];
    world.repetition.lock_waits = Some(waits.clone());
    assert_eq!(world.says("own-locks"), None);
    assert_eq!(
        world.says("locks-of-others").expect("told"),
        "For 45 % of their time the workers waited for locks in the kernel that python3 (process 7) held; it has a file of this workload open."
    );
    waits.holders = (1..=4).map(|process| held("dd", process, 200_000_000, false)).collect();
    world.repetition.lock_waits = Some(waits.clone());
    let said = world.says("locks-of-others").expect("told");
    assert!(said.ends_with("that 4 other programs held."), "{said}");
    waits.holders.truncate(1);
    world.repetition.lock_waits = Some(waits);
    assert_eq!(world.says("locks-of-others"), None, "a tenth of the time");
}

#[test]
fn btrfs_that_keeps_data_twice() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.device().requests = vec![requests(RequestClass::Write, 2048, 4096)];
    world.environment = serde_json::json!({ "filesystem": { "type": "btrfs", "data_profile": "dup" } });
    assert_eq!(
        world.says("two-copies").expect("told"),
        "btrfs keeps two copies of all data on the device (profile DUP): 8 MiB were written for 4 MiB (2.0 x)."
    );
    world.environment = serde_json::json!({ "filesystem": { "type": "btrfs", "data_profile": "single" } });
    assert_eq!(world.says("two-copies"), None);
}

#[test]
fn a_journal_on_a_slower_device() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let delta = |name: &str, kind: &str| fathom_record::DeviceDelta {
        name: name.into(),
        kind: kind.into(),
        ..Default::default()
    };
    world.repetition.physical.devices =
        vec![delta("vda", "disk"), delta("vdb", fathom_record::physical::JOURNAL)];
    world.device().busy_ns = 200_000_000;
    let journal = DeviceActivity { name: "vdb".into(), busy_ns: 710_000_000, ..DeviceActivity::default() };
    world.repetition.block.as_mut().expect("made with one").devices.push(journal);
    assert_eq!(
        world.says("external-journal").expect("told"),
        "The file system's journal is on a separate device, vdb, which was busy for 71 % of the time; vda, which holds the files, was busy for 20 %."
    );
    world.device().busy_ns = 600_000_000;
    assert_eq!(world.says("external-journal"), None, "both are busy");
}

#[test]
fn settings_that_cost_processor_time() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].cpu_system_ns = 380_000_000;
    let mounted = |block_bytes: u64, options: &str| serde_json::json!({ "filesystem": { "type": "ext4", "block_bytes": block_bytes, "options": options } });
    world.environment = mounted(1024, "rw,relatime");
    assert_eq!(
        world.says("small-blocks").expect("told"),
        "ext4 has blocks of 1 KiB, so it handles each page in 4 parts. The workers computed in the kernel for 38 % of their time, which includes that cost."
    );
    world.environment = mounted(4096, "rw,nodelalloc");
    assert_eq!(world.says("small-blocks"), None);
    let said = world.says("no-delayed-allocation").expect("told");
    assert!(said.contains("mounted with nodelalloc") && said.contains("for 38 % of their time"), "{said}");
    world.repetition.workers[0].cpu_system_ns = 200_000_000;
    assert_eq!(world.says("no-delayed-allocation"), None, "it can cost little");
}

#[test]
fn workers_that_are_stopped_or_frozen() {
    let mut world = World::new(OpKind::Read, 1024, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let path = "7:freezer:/batch\n3:cpuset:/\n0::/";
    world.environment = serde_json::json!({ "limits": { "cgroup": { "path": path } } });
    let mut halted = |stopped_ns, frozen_ns| {
        world.repetition.halts = Some(fathom_record::Halts { stopped_ns, frozen_ns });
        world.says("halted")
    };
    assert_eq!(halted(10_000_000, 20_000_000), None);
    assert_eq!(
        halted(0, 480_000_000).expect("told"),
        "For 48 % of their time the workers were frozen with their control group (/batch)."
    );
    assert_eq!(
        halted(600_000_000, 0).expect("told"),
        "For 60 % of their time the workers were stopped by a signal, such as SIGSTOP."
    );
}

#[test]
fn a_frozen_file_system() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let mut frozen = |frozen_ns| {
        world.repetition.lock_waits =
            Some(fathom_record::LockWaits { frozen_ns, ..fathom_record::LockWaits::default() });
        world.says("frozen-file-system")
    };
    assert_eq!(
        frozen(610_000_000).expect("told"),
        "For 61 % of their time the workers waited because the file system was frozen: it admits no writes then."
    );
    assert_eq!(frozen(90_000_000), None);
}

#[test]
fn direct_reads_of_dirty_files() {
    let mut world = World::new(OpKind::Read, 1024, 4096);
    world.phase.direct = true;
    let own = |write_bytes| Issuer {
        kind: IssuerKind::Own,
        name: "fathom".into(),
        reads: 1024,
        read_bytes: 4 * MIB,
        writes: 300,
        write_bytes,
        others: 0,
    };
    world.device().issuers = vec![own(8 * MIB)];
    let said = world.says("write-to-read").expect("told");
    assert!(said.contains("its calls wrote 8 MiB (300 requests) for 4 MiB that they read"), "{said}");
    world.device().issuers = vec![own(MIB / 2)];
    assert_eq!(world.says("write-to-read"), None);
}

#[test]
fn syncs_that_carry_other_programs_changes() {
    use fathom_record::{JournalChanges, PageCacheEvents, Programs};
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let latency = Histogram::from_values(std::iter::repeat_n(500_000, 1024));
    world.repetition.workers[0].stats.push(OpStat { op: OpKind::Sync, ops: 1024, bytes: 0, latency });
    let changed = |times| {
        let others = vec![Programs { name: "python3".into(), processes: vec![7], times }];
        Some(PageCacheEvents { journal: Some(JournalChanges { own: 1000, others }), ..Default::default() })
    };
    world.repetition.page_cache = changed(19_000);
    assert_eq!(
        world.says("journal-of-others").expect("told"),
        "95 % of the changes that the file system's journal took meanwhile were by other programs, python3 (process 7): a sync waits until all changes before it are in the journal."
    );
    world.repetition.page_cache = changed(2000);
    assert_eq!(world.says("journal-of-others"), None, "two thirds");
}

#[test]
fn a_scanner_that_allows_each_read() {
    use fathom_record::{SlowCalls, WaitStack};
    let mut world = World::new(OpKind::Read, 1000, 4096);
    let stack = WaitStack { layer: "access check".into(), calls: 9, ..WaitStack::default() };
    world.repetition.slow_calls = vec![SlowCalls {
        op: OpKind::Read,
        calls: 1000,
        first_only: false,
        slowest: 10,
        from_ns: 1,
        total_ns: 1,
        stacks: vec![stack],
        examples: Vec::new(),
    }];
    let switched =
        |switches| Some(fathom_record::ThreadCounts { switches, ..fathom_record::ThreadCounts::default() });
    world.repetition.workers[0].thread_counts = switched(1000);
    let said = world.says("access-check").expect("told");
    assert!(
        said.contains("90 % of the slowest calls waited for its answer")
            && said.contains("1.0 times per call"),
        "{said}"
    );
    world.repetition.workers[0].thread_counts = switched(100);
    assert_eq!(world.says("access-check"), None, "only the slowest");
}

/// A phase whose data moved while the device was idle for 71 % of the time.
fn processors_work_on(op: OpKind) -> World {
    let mut world = World::new(op, 2048, 131_072);
    world.repetition.elapsed_ns = 1_000_000_000;
    let class = if op == OpKind::Read { RequestClass::Read } else { RequestClass::Write };
    world.device().requests = vec![requests(class, 512, 524_288)];
    world.device().busy_ns = 290_000_000;
    world
}

#[test]
fn encryption_is_a_cause_if_the_device_waits_for_it() {
    let mut world = processors_work_on(OpKind::Read);
    world.attributes = Attributes { files: 1, encrypted: 1, ..Attributes::default() };
    assert_eq!(
        world.says("encryption").expect("told"),
        "The file is encrypted by the file system (fscrypt): 256 MiB had to be decrypted, and vda was idle for 71 % of the time."
    );
    world.device().busy_ns = 760_000_000;
    assert_eq!(world.says("encryption"), None, "the device was busy");
    world.environment = serde_json::json!({ "cpu": { "online": 2 }, "filesystem": { "options": "rw" } });
    world.repetition.physical.machine_cpu_ns = Some(1_700_000_000);
    let said = world.says("encryption").expect("told");
    assert!(said.ends_with("and the kernel's threads and other programs used 1.7 processors."), "{said}");
    world.environment["filesystem"]["options"] = "rw,inlinecrypt".into();
    assert_eq!(world.says("encryption"), None, "the device may do it");
    world.environment = serde_json::json!({ "devices": [
        { "name": "vda", "above": null, "direct_io": true }, { "name": "sda", "above": "vda" }] });
    world.repetition.physical.machine_cpu_ns = None;
    let sda = DeviceActivity {
        name: "sda".into(),
        level: 1,
        busy_ns: 80_000_000,
        requests: vec![requests(RequestClass::Read, 512, 524_288)],
        ..DeviceActivity::default()
    };
    world.repetition.block.as_mut().expect("made with one").devices.push(sda);
    assert!(
        world.says("encryption").expect("told").ends_with("sda was idle for 92 % of the time."),
        "the loop device is busy with work for the processors"
    );
    world.environment["devices"][0]["direct_io"] = false.into();
    assert_eq!(world.says("encryption"), None, "the disk's data came from memory");
    world.environment = serde_json::json!({ "filesystem": {} });
    world.environment["filesystem"]["options"] = "rw".into();
    world.attributes.files = 2;
    assert_eq!(world.says("encryption"), None, "a file is not");
    world.attributes.files = 1;
    world.device().requests = vec![requests(RequestClass::Read, 255, 524_288)];
    assert_eq!(world.says("encryption"), None, "most came from memory");

    let mut world = processors_work_on(OpKind::Write);
    world.attributes = Attributes { files: 2, encrypted: 2, ..Attributes::default() };
    assert_eq!(world.says("encryption"), None, "nobody waited for the write-back");
    world.phase.sync_in_clock = true;
    assert_eq!(
        world.says("encryption").expect("told"),
        "The files are encrypted by the file system (fscrypt): 256 MiB had to be encrypted, and vda was idle for 71 % of the time outside of the write calls."
    );
    world.repetition.workers[0].stats[0].latency = Histogram::from_values([650_000_000]);
    assert_eq!(world.says("encryption"), None, "the data was copied meanwhile");
}

#[test]
fn expensive_checksums_are_a_cause_if_the_device_waits_for_them() {
    let mut world = processors_work_on(OpKind::Read);
    let btrfs = |checksum: &str, options: &str| serde_json::json!({ "filesystem": { "type": "btrfs", "checksum": checksum, "options": options } });
    world.environment = btrfs("blake2b (blake2b-256-generic)", "rw,relatime");
    assert_eq!(
        world.says("checksums").expect("told"),
        "btrfs keeps blake2b checksums of all data: those of 256 MiB had to be verified, and vda was idle for 71 % of the time."
    );
    world.device().busy_ns = 760_000_000;
    assert_eq!(world.says("checksums"), None, "the device was busy");
    world.device().busy_ns = 290_000_000;
    world.attributes = Attributes { files: 1, without_checksums: 1, ..Attributes::default() };
    assert_eq!(world.says("checksums"), None, "the file has none");
    world.attributes = Attributes::default();
    for (checksum, options) in [
        ("crc32c (crc32c-intel)", "rw,relatime"),
        ("blake2b (blake2b-256-generic)", "rw,nodatasum"),
        ("blake2b (blake2b-256-generic)", "rw,nodatasum,nodatacow"),
    ] {
        world.environment = btrfs(checksum, options);
        assert_eq!(world.says("checksums"), None, "{checksum} {options}");
    }
}

#[test]
fn an_image_with_holes_is_a_cause_if_it_grows_meanwhile() {
    let mut world = World::new(OpKind::Write, 8000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    let loop0 = fathom_record::DeviceDelta {
        name: "loop0".into(),
        kind: "loop".into(),
        write_bytes: 64 * MIB,
        busy_ms: 870,
        ..Default::default()
    };
    world.repetition.physical.devices = vec![loop0];
    world.repetition.physical.written_in_clock_bytes = Some(64 * MIB);
    let grown = |allocated_bytes| {
        Some(ImageGrowth {
            device: "loop0".into(),
            path: "/srv/image".into(),
            length_bytes: 256 * MIB,
            allocated_bytes,
        })
    };
    world.image_growth = grown(60 * MIB);
    assert_eq!(
        world.says("sparse-image").expect("told"),
        "The file behind loop0, /srv/image, had holes: the file system below allocated 60 MiB for it while loop0 wrote 64 MiB and was busy for 87 % of the time."
    );
    let advice =
        |world: &World| world.found().into_iter().find(|f| f.rule == "sparse-image").expect("told").advice;
    assert!(advice(&world).starts_with("Fill them: `fallocate -l 268435456 /srv/image`. "));
    world.image_growth.as_mut().expect("it grew").path = "/srv/my image".into();
    assert!(advice(&world).starts_with("Fill them: `fallocate -l 268435456 '/srv/my image'`. "));
    world.repetition.physical.written_in_clock_bytes = Some(31 * MIB);
    assert_eq!(world.says("sparse-image"), None, "most was written after the clock had stopped");
    world.repetition.physical.written_in_clock_bytes = Some(64 * MIB);
    world.repetition.physical.devices[0].busy_ms = 490;
    assert_eq!(world.says("sparse-image"), None, "the workers did not wait for it");
    world.repetition.physical.devices[0].busy_ms = 870;
    world.image_growth = grown(31 * MIB);
    assert_eq!(world.says("sparse-image"), None, "most of it had its place");
    world.image_growth = None;
    assert_eq!(world.says("sparse-image"), None);
}

#[test]
fn an_image_that_is_copied_on_write_is_a_cause_if_more_is_written_below() {
    let mut world = World::new(OpKind::Write, 8192, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.environment = serde_json::json!({ "devices": [
        { "name": "loop0", "above": null, "backing_file": "/srv/image", "backing_file_copied_on_write": true },
        { "name": "vda", "above": "loop0" },
    ]});
    let wrote = |name: &str, level, count| DeviceActivity {
        name: name.into(),
        level,
        busy_ns: 900_000_000,
        requests: vec![requests(RequestClass::Write, count, 4096)],
        ..DeviceActivity::default()
    };
    let devices = |world: &mut World, below| {
        let both = vec![wrote("loop0", 0, 8192), wrote("vda", 1, below)];
        world.repetition.block.as_mut().expect("made with one").devices = both;
    };
    devices(&mut world, 20_480);
    assert_eq!(
        world.says("copied-image").expect("told"),
        "The file behind loop0, /srv/image, lies on btrfs, which writes each block to a new place and records where: while loop0 wrote 32 MiB, vda wrote 80 MiB (2.5 x)."
    );
    let theirs = Issuer { kind: IssuerKind::Other, write_bytes: 45 * MIB, ..Issuer::default() };
    world.repetition.block.as_mut().expect("made with one").devices[1].issuers = vec![theirs];
    assert_eq!(world.says("copied-image"), None, "another program wrote it");
    devices(&mut world, 9000);
    assert_eq!(world.says("copied-image"), None, "hardly more");
    devices(&mut world, 20_480);
    world.environment["devices"][0]["backing_file_copied_on_write"] = false.into();
    assert_eq!(world.says("copied-image"), None, "overwritten in place");
}

/// A phase that wrote 32 MiB to the first of these devices. The others carry it, and moved bytes in requests of 4 KiB.
fn on_devices(environment: serde_json::Value, below: &[(&str, u64, u64)]) -> World {
    let mut world = World::new(OpKind::Write, 8192, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.environment = environment;
    let name = world.environment["devices"][0]["name"].as_str().expect("a name").to_string();
    let device = |name: &str, level, read: u64, written: u64| DeviceActivity {
        name: name.into(),
        level,
        requests: vec![
            requests(RequestClass::Read, read / 4096, 4096),
            requests(RequestClass::Write, written / 4096, 4096),
        ],
        ..DeviceActivity::default()
    };
    let mut devices = vec![device(&name, 0, 0, 32 * MIB)];
    devices.extend(below.iter().map(|(name, read, written)| device(name, 1, *read, *written)));
    world.repetition.block.as_mut().expect("made with one").devices = devices;
    world
}

#[test]
fn requests_to_other_partitions_are_not_ours() {
    let mut world = World::new(OpKind::Read, 1024, 4096);
    let own = Issuer { kind: IssuerKind::Own, reads: 1024, read_bytes: 4 * MIB, ..Issuer::default() };
    let journal =
        Issuer { kind: IssuerKind::Journal, writes: 100, write_bytes: 4 * MIB, ..Issuer::default() };
    world.device().issuers = vec![own, journal];
    let mut counted = |write_bytes| {
        let part = fathom_record::DeviceDelta {
            name: "vda1".into(),
            kind: "partition".into(),
            read_bytes: 4 * MIB,
            write_bytes,
            ..Default::default()
        };
        world.repetition.physical.devices = vec![part];
        world.facts().requests_are_ours()
    };
    assert!(counted(4 * MIB), "its own journal");
    assert!(!counted(0), "that of another partition");
}

#[test]
fn a_raid_with_parity_is_a_cause_if_its_members_are_read() {
    let raid = |level| {
        serde_json::json!({ "devices": [
            { "name": "md0", "kind": "md", "above": null, "raid_level": level },
            { "name": "sda1", "kind": "partition", "above": "md0" },
            { "name": "sda", "kind": "disk", "above": "sda1" },
            { "name": "sdb", "kind": "disk", "above": "md0" },
        ]})
    };
    let members = [("sda", 16 * MIB, 33 * MIB), ("sdb", 18 * MIB, 31 * MIB)];
    assert_eq!(
        on_devices(raid("raid5"), &members).says("parity").expect("told"),
        "md0 is a RAID 5, which reads old data or parity before it writes less than a stripe: while it wrote 32 MiB, its members read 34 MiB and wrote 64 MiB."
    );
    assert_eq!(on_devices(raid("raid10"), &members).says("parity"), None);
    let mut resync = on_devices(raid("raid5"), &members);
    let by = |name: &str| Issuer {
        kind: IssuerKind::Kernel,
        name: name.into(),
        read_bytes: 16 * MIB,
        ..Issuer::default()
    };
    let devices = &mut resync.repetition.block.as_mut().expect("watched").devices;
    devices[1].issuers = vec![by("md0_resync")];
    devices[2].issuers = vec![by("md0_resync")];
    assert_eq!(resync.says("parity"), None, "a resync reads, too");
    let whole = [("sda", MIB, 33 * MIB), ("sdb", MIB, 31 * MIB)];
    assert_eq!(on_devices(raid("raid5"), &whole).says("parity"), None, "whole stripes");
}

#[test]
fn a_raid_that_lacks_a_device_is_a_cause_if_more_is_read_than_was_asked_for() {
    let md = |missing: u64| {
        serde_json::json!({ "devices": [
            { "name": "md0", "kind": "md", "above": null, "raid_level": "raid5", "raid_missing": missing },
            { "name": "sda", "kind": "disk", "above": "md0" },
            { "name": "sdb", "kind": "disk", "above": "md0" },
        ]})
    };
    let of_md = |missing, read| {
        let mut world = on_devices(md(missing), &[("sda", read, 0), ("sdb", read, 0)]);
        let workers = World::new(OpKind::Read, 8192, 4096).repetition.workers;
        (world.phase.reads, world.phase.writes, world.phase.direct) = (true, false, true);
        world.repetition.workers = workers;
        world.device().requests = vec![requests(RequestClass::Read, 8192, 4096)];
        world.says("degraded")
    };
    assert_eq!(
        of_md(1, 22 * MIB).expect("told"),
        "md0 is a RAID 5 that lacks one device: data of a missing device is computed from what the others hold. For 32 MiB that were read, 44 MiB were read from them."
    );
    assert_eq!(of_md(0, 22 * MIB), None, "complete");
    assert_eq!(of_md(1, 16 * MIB), None, "nothing had to be computed");
    let of_btrfs = |profile: &str, missing: u64| {
        let mut world = World::new(OpKind::Read, 256, 128 << 10);
        world.phase.direct = true;
        world.environment =
            serde_json::json!({ "filesystem": { "data_profile": profile, "missing_devices": missing } });
        let device = DeviceActivity {
            requests: vec![requests(RequestClass::Read, 344, 64 << 10)],
            ..DeviceActivity::default()
        };
        world.repetition.block.as_mut().expect("made with one").devices = vec![device.clone(), device];
        world.says("degraded")
    };
    assert!(of_btrfs("raid5", 1).expect("told").starts_with("btrfs is a RAID 5 that lacks one device:"));
    assert_eq!(of_btrfs("raid5", 0), None);
    assert_eq!(of_btrfs("raid1", 1), None, "the other copy is read instead");
}

/// A request of 100 us on a stack of devices, of which each takes some of the time.
fn on_images(devices: &[(&str, &str, u64)]) -> World {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 200_000_000;
    let mut above = serde_json::Value::Null;
    let (mut described, mut watched) = (Vec::new(), Vec::new());
    for (level, (name, kind, us)) in devices.iter().enumerate() {
        described.push(
            serde_json::json!({ "name": name, "kind": kind, "above": above, "direct_io": *kind == "loop" }),
        );
        above = (*name).into();
        let mut of_reads = requests(RequestClass::Read, 1000, 4096);
        of_reads.d2c = Histogram::from_values([us * 1000; 1000]);
        of_reads.q2d = Histogram::from_values([0; 1000]);
        watched.push(DeviceActivity {
            name: (*name).into(),
            level: u32::try_from(level).expect("few"),
            busy_ns: us * 1_000_000,
            requests: vec![of_reads],
            ..DeviceActivity::default()
        });
    }
    world.environment = serde_json::json!({ "devices": described });
    world.repetition.block.as_mut().expect("made with one").devices = watched;
    world
}

#[test]
fn an_image_inside_an_image_is_a_cause_if_the_time_passes_between() {
    let said = on_images(&[("loop1", "loop", 100), ("loop0", "loop", 80), ("vda", "disk", 50)]);
    assert_eq!(
        said.says("nested-loops").expect("told"),
        "loop1 lies on an image inside an image (2 loop devices: loop1, loop0): of the 100 us that a request to it took, 50 % passed above vda, in the loop drivers and the file systems that hold the images."
    );
    let fast = on_images(&[("loop1", "loop", 100), ("loop0", "loop", 95), ("vda", "disk", 90)]);
    assert_eq!(fast.says("nested-loops"), None, "the disk takes the time");
    let one = on_images(&[("loop0", "loop", 100), ("vda", "disk", 50)]);
    assert_eq!(one.says("nested-loops"), None, "one image");
}

#[test]
fn an_image_in_many_pieces_is_a_cause_if_requests_are_split_below() {
    let of_size = |pieces: u64, piece: u64, below: u64| {
        let mut world = on_images(&[("loop0", "loop", 100), ("vda", "disk", 50)]);
        world.environment["devices"][0]["backing_file"] = "/srv/image".into();
        world.environment["devices"][0]["backing_file_pieces"] = pieces.into();
        world.environment["devices"][0]["backing_file_pieces_bytes"] = (pieces * piece).into();
        let devices = &mut world.repetition.block.as_mut().expect("made with one").devices;
        devices[0].requests = vec![requests(RequestClass::Read, 1000, 128 << 10)];
        devices[1].requests = vec![requests(RequestClass::Read, below, (1000 * (128 << 10)) / below)];
        world.says("fragmented-image")
    };
    let of = |pieces, below| of_size(pieces, 4096, below);
    assert_eq!(
        of(400, 32_000).expect("told"),
        "The file behind loop0, /srv/image, lies in pieces of 4 KiB (mean of 400) on vda: 1000 requests of 128 KiB became 32000 requests of 4 KiB there."
    );
    assert_eq!(of(4, 32_000), None, "few pieces");
    assert_eq!(of_size(400, 128 * MIB, 32_000), None, "something else splits them");
    assert_eq!(of(400, 1000), None, "they stay whole");
}

#[test]
fn dirty_pages_that_are_written_back_at_once_are_a_cause() {
    let of_memory = |expire: u64, written_back: u64, available: u64| {
        let mut world = World::new(OpKind::Write, 8192, 4096);
        let vm = serde_json::json!({ "dirty_expire_centisecs": expire, "dirty_writeback_centisecs": 1,
            "dirty_background_ratio": 10 });
        world.environment = serde_json::json!({ "vm": vm, "memory": { "available_bytes": available } });
        let flusher = Issuer {
            kind: IssuerKind::Writeback,
            write_bytes: written_back,
            writes: 6000,
            ..Issuer::default()
        };
        world.device().issuers = vec![flusher];
        world.device().requests = vec![requests(RequestClass::Write, 7000, 4096)];
        world.says("early-write-back")
    };
    let of = |expire, written_back| of_memory(expire, written_back, 8 << 30);
    assert_eq!(
        of(1, 28 * MIB).expect("told"),
        "The kernel writes dirty pages of a file back once the first of them is 0.01 s old (vm.dirty_expire_centisecs is 1, the default is 3000), and looks every 0.01 s: it wrote 28 MiB in 6000 requests while calls wrote 32 MiB."
    );
    assert_eq!(of(3000, 28 * MIB), None, "the default");
    assert_eq!(of(1, 2 * MIB), None, "little");
    assert_eq!(of_memory(1, 28 * MIB, 300 * MIB), None, "so much is written back with any settings");
}

#[test]
fn a_latency_target_that_reads_miss_is_a_cause_for_buffered_writes() {
    let synced = |target_us: u64, depth: u32, synced| {
        let mut world = World::new(OpKind::Write, 8192, 4096);
        world.workload.synced = synced;
        let mut reads = requests(RequestClass::Read, 300, 4096);
        reads.d2c = Histogram::from_values([430_000; 300]);
        world.device().requests = vec![reads, requests(RequestClass::Write, 7000, 4096)];
        world.device().in_device = vec![DepthTime { depth, ns: 900_000_000 }];
        world.environment = serde_json::json!({ "devices": [
            { "name": "vda", "above": null, "scheduler": "none", "rotational": false, "wbt_lat_usec": target_us },
        ]});
        world.says("write-back-latency")
    };
    let of = |target_us, depth| synced(target_us, depth, false);
    assert_eq!(
        of(10, 1).expect("told"),
        "wbt_lat_usec of vda is 10 (the kernel's default is 2000): while reads take longer than that, few buffered writes are let through at once. Reads, also those of other programs, took 430 us or more, and vda had a queue depth of 1."
    );
    assert_eq!(of(2000, 1), None, "the default");
    assert_eq!(of(0, 1), None, "off");
    assert_eq!(of(10, 8), None, "they were let through");
    assert_eq!(synced(10, 1, true), None, "synced writes are not held back");
}

#[test]
fn a_mount_option_is_a_cause_of_slow_calls_that_it_concerns() {
    let on = |kind: &str, options: &str, op: OpKind, each_ns: u64| {
        let mut world = World::new(op, 100, 0);
        world.repetition.elapsed_ns = 1_000_000_000;
        world.repetition.workers[0].stats[0].latency = Histogram::from_values([each_ns; 100]);
        world.device().requests = vec![requests(RequestClass::Write, 300, 4096)];
        world.environment = serde_json::json!({ "filesystem": { "type": kind, "options": options } });
        world.says("mount-option")
    };
    let of = |options: &str, op, each_ns| on("btrfs", options, op, each_ns);
    assert_eq!(
        of("rw,notreelog", OpKind::Sync, 8_000_000).expect("told"),
        "The file system is mounted with notreelog: each fsync commits the whole transaction of btrfs instead of writing to its log. 100 syncs took 80 % of the workers' time, and the device had 300 write requests meanwhile."
    );
    assert_eq!(of("rw,relatime", OpKind::Sync, 8_000_000), None);
    assert_eq!(of("rw,notreelog", OpKind::Sync, 1_000_000), None, "a tenth of the time");
    let told = on("ext4", "rw,dirsync", OpKind::Delete, 8_000_000).expect("told");
    assert!(told.contains("100 calls that open, create or delete took 80 %"), "{told}");
    assert_eq!(of("rw,dirsync", OpKind::Delete, 8_000_000), None, "btrfs does not heed it");
    assert_eq!(on("ext4", "rw,dirsync", OpKind::Sync, 8_000_000), None);
}

#[test]
fn direct_reads_in_order_wait_one_by_one() {
    let mut world = World::new(OpKind::Read, 1000, 16_384);
    world.repetition.workers[0].elapsed_ns = 107_000_000;
    (world.phase.direct, world.workload.in_order) = (true, true);
    let mut reads = requests(RequestClass::Read, 1000, 16_384);
    reads.d2c = Histogram::from_values([85_000; 1000]);
    world.device().requests = vec![reads];
    assert_eq!(
        world.says("direct-in-order").expect("told"),
        "O_DIRECT has no read-ahead, and one read of 16 KiB is in flight at a time: each waits for its own request, which took 85.0 us in vda (79 % of the time)."
    );
    world.phase.axes.queue_depth = Some(4);
    assert_eq!(world.says("direct-in-order"), None, "several are in flight");
    world.phase.axes.queue_depth = None;
    world.repetition.workers[0].elapsed_ns = 300_000_000;
    assert_eq!(world.says("direct-in-order"), None, "the device has a third of the time");
}

#[test]
fn a_snapshot_is_a_cause_if_writes_read_what_was_there() {
    let volume = |below: &[(&str, &str)]| {
        let mut devices = vec![serde_json::json!({ "name": "dm-0", "kind": "device-mapper", "above": null })];
        devices.extend(below.iter().map(|(name, kind)| {
            serde_json::json!({ "name": name, "kind": "device-mapper", "above": "dm-0", "mapper_kind": kind })
        }));
        serde_json::json!({ "devices": devices })
    };
    let origin = volume(&[("dm-1", "snapshot-origin")]);
    let copied = [("dm-1", 32 * MIB, 64 * MIB)];
    assert_eq!(
        on_devices(origin.clone(), &copied).says("snapshot").expect("told"),
        "dm-0 has a snapshot (LVM), and the first write to each chunk copies what was there: while 32 MiB were written, 32 MiB were read from below."
    );
    assert_eq!(on_devices(origin, &[("dm-1", 0, 32 * MIB)]).says("snapshot"), None, "copied before");
    let itself = volume(&[("dm-1", "snapshot-origin"), ("dm-2", "snapshot-store")]);
    let both = [("dm-1", 32 * MIB, 0), ("dm-2", 0, 64 * MIB)];
    let said = on_devices(itself, &both).says("snapshot").expect("told");
    assert!(said.starts_with("dm-0 is a snapshot of LVM, and"), "{said}");
    let thin = volume(&[("dm-1", "snapshot-origin"), ("dm-2", "thin-pool")]);
    assert_eq!(on_devices(thin, &both).says("snapshot"), None, "the origin of a thin volume");
}

#[test]
fn an_encrypted_device_is_a_cause_if_the_disk_below_waits() {
    let mut world = processors_work_on(OpKind::Read);
    world.environment = serde_json::json!({ "devices": [
        { "name": "vda", "kind": "device-mapper", "above": null, "mapper_kind": "crypt" },
        { "name": "sda2", "kind": "partition", "above": "vda" },
        { "name": "sda", "kind": "disk", "above": "sda2" },
    ]});
    let sda = DeviceActivity {
        name: "sda".into(),
        level: 1,
        busy_ns: 80_000_000,
        requests: vec![requests(RequestClass::Read, 512, 524_288)],
        ..DeviceActivity::default()
    };
    world.device().busy_ns = 900_000_000;
    world.repetition.block.as_mut().expect("made with one").devices.push(sda);
    assert_eq!(
        world.says("encryption").expect("told"),
        "vda encrypts what it holds (dm-crypt): 256 MiB had to be decrypted, and sda was idle for 92 % of the time."
    );
    world.device().busy_ns = 300_000_000;
    assert_eq!(world.says("encryption"), None, "dm-crypt was idle, too");
    world.device().busy_ns = 900_000_000;
    world.environment["devices"][0]["mapper_kind"] = serde_json::Value::Null;
    assert_eq!(world.says("encryption"), None);
}

#[test]
fn shared_blocks_are_a_cause_if_half_of_the_writes_unshared_some() {
    let mut world = World::new(OpKind::Write, 8192, 4096);
    world.unshared_bytes = 30 * MIB;
    assert_eq!(
        world.says("shared-blocks").expect("told"),
        "30 MiB of the files shared their blocks with another file (a reflink copy, a snapshot) before the phase and no longer after it: to overwrite a shared block, the file system allocates a new one."
    );
    world.unshared_bytes = 15 * MIB;
    assert_eq!(world.says("shared-blocks"), None, "most writes were to blocks that nobody shared");
}

#[test]
fn first_writes_are_a_cause_if_the_workload_waits_for_them() {
    let mut world = World::new(OpKind::Write, 3000, 4096);
    world.environment = serde_json::json!({ "filesystem": { "type": "ext4" } });
    world.phase.direct = true;
    let extents = |unwritten_bytes, hole_bytes| {
        Some(fathom_record::Extents { bytes: 64 * MIB, unwritten_bytes, hole_bytes, filled_bytes: 0 })
    };
    world.repetition.extents = extents(64 * MIB, 0);
    assert_eq!(
        world.says("first-writes").expect("told"),
        "Of the 64 MiB that the phase writes to, 64 MiB are allocated but were never written: the first write to a block also changes the file's metadata."
    );
    world.workload.synced = true;
    world.repetition.extents = extents(0, 40 * MIB);
    assert_eq!(
        world.says("first-writes").expect("told"),
        "Of the 64 MiB that the phase writes to, 40 MiB are holes: the first write to a block also changes the file's metadata, and a sync waits for that, too."
    );
    world.repetition.extents = extents(20 * MIB, 0);
    assert_eq!(world.says("first-writes"), None, "most was written before");
    world.repetition.extents = extents(64 * MIB, 0);
    world.repetition.workers[0].stats[0].bytes = 500 * MIB;
    assert_eq!(world.says("first-writes"), None, "most writes were not the first");
    world.repetition.workers[0].stats[0].bytes = 12 * MIB;
    world.environment["filesystem"]["type"] = "btrfs".into();
    assert_eq!(world.says("first-writes"), None, "every write has a new place");
    world.environment["filesystem"]["type"] = "xfs".into();
    world.workload.synced = false;
    world.repetition.workers[0].stats[0].ops = 12;
    assert_eq!(world.says("first-writes"), None, "large records");
}

#[test]
fn a_large_directory_without_index_is_a_cause_if_it_is_searched() {
    let mut world = World::new(OpKind::Open, 5000, 0);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.attributes = Attributes { unindexed_directory_bytes: 1_200 << 10, ..Attributes::default() };
    world.repetition.workers[0].cpu_system_ns = 900_000_000;
    world.repetition.workers[0].stats[0].latency = Histogram::from_values(std::iter::repeat_n(190_000, 5000));
    assert_eq!(
        world.says("no-directory-index").expect("told"),
        "A directory of these files is 1.2 MiB long and has no index: the file system searches it from the start for each name that is created, removed, or not in memory. Opens and deletes took 95 % of the time, and the workers computed in the kernel for 90 % of it."
    );
    world.repetition.workers[0].cpu_system_ns = 300_000_000;
    assert_eq!(world.says("no-directory-index"), None, "it costs little");
    world.repetition.workers[0].cpu_system_ns = 900_000_000;
    world.repetition.workers[0].stats[0].latency = Histogram::from_values(std::iter::repeat_n(2000, 5000));
    assert_eq!(world.says("no-directory-index"), None, "something else computed");
    world.repetition.workers[0].stats[0].latency = Histogram::from_values(std::iter::repeat_n(190_000, 5000));
    world.attributes.unindexed_directory_bytes = 4096;
    assert_eq!(world.says("no-directory-index"), None, "small");
}

#[test]
fn inodes_freed_lately_are_a_cause_of_slow_creates_without_a_journal() {
    let mut world = World::new(OpKind::Open, 4000, 0);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.environment = serde_json::json!({ "filesystem": { "type": "ext4", "journal": false } });
    world.repetition.workers[0].cpu_system_ns = 900_000_000;
    let each_takes = |ns: u64| Histogram::from_values(std::iter::repeat_n(ns, 4000));
    world.repetition.workers[0].stats[0].latency = each_takes(215_000);
    assert_eq!(
        world.says("freed-inodes").expect("told"),
        "Opening or creating a file took 215 us, 86 % of the time, and the workers computed in the kernel for 90 % of it. This ext4 has no journal: for minutes it does not reuse the inodes of deleted files, and a create may have to search past them."
    );
    world.environment["filesystem"]["journal"] = true.into();
    assert_eq!(world.says("freed-inodes"), None, "inodes are reused at once");
    world.environment["filesystem"]["journal"] = false.into();
    world.repetition.workers[0].cpu_system_ns = 100_000_000;
    assert_eq!(world.says("freed-inodes"), None, "they waited for something");
    world.repetition.workers[0].cpu_system_ns = 900_000_000;
    world.repetition.workers[0].stats[0].latency = each_takes(20_000);
    assert_eq!(world.says("freed-inodes"), None, "as fast as ever");
}

#[test]
fn files_in_swap_are_a_cause_if_they_are_read_from_it() {
    let mut world = World::new(OpKind::Read, 1024, 131_072);
    world.environment = serde_json::json!({ "filesystem": { "type": "tmpfs" } });
    let pages = 128 * MIB / crate::residency::page_bytes();
    world.repetition.resident_before =
        Some(Residency { total_pages: pages, cached_pages: pages / 4, ..Residency::default() });
    world.swapped_in_bytes = Some(100 * MIB);
    assert_eq!(
        world.says("swapped-out").expect("told"),
        "The files are on tmpfs, but 96 MiB of them were not in memory: the machine swapped in 100 MiB while 128 MiB were read."
    );
    world.swapped_in_bytes = Some(63 * MIB);
    assert_eq!(world.says("swapped-out"), None, "most was in memory");
    world.swapped_in_bytes = Some(100 * MIB);
    world.environment = serde_json::json!({ "filesystem": { "type": "ext4" } });
    assert_eq!(world.says("swapped-out"), None, "its files are not swapped out");
    world.environment = serde_json::json!({ "filesystem": { "type": "tmpfs" } });
    world.repetition.resident_before =
        Some(Residency { total_pages: pages, cached_pages: pages, ..Residency::default() });
    assert_eq!(world.says("swapped-out"), None, "other programs were swapped in");
}

#[test]
fn system_calls_that_are_slow_in_themselves() {
    let mut world = World::new(OpKind::Read, 50_000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].cpu_system_ns = 900_000_000;
    world.environment = serde_json::json!({ "limits": { "empty_call_ns": 17_000, "seccomp_filters": null } });
    let said = world.says("slow-system-calls").expect("told");
    assert_eq!(
        said,
        "A system call that does nothing takes 17.0 us here (0.1 to 0.5 us is usual): 85 % of the workers' time."
    );
    world.environment["limits"]["tracer"] = "strace (process 7)".into();
    assert_eq!(world.says("slow-system-calls"), None, "another rule names the tracer");
    world.environment["limits"]["tracer"] = serde_json::Value::Null;
    world.environment["limits"]["seccomp_filters"] = 7.into();
    world.environment["limits"]["trace_events"] = "all".into();
    let said = world.says("slow-system-calls").expect("told");
    assert!(
        said.ends_with("All of the kernel's trace events are on. 7 seccomp filters apply to this program."),
        "{said}"
    );
    world.environment["limits"]["trace_events"] = serde_json::Value::Null;
    world.environment["limits"]["perf_events"] = "bpftrace".into();
    let advice = world.found().into_iter().find(|f| f.rule == "slow-system-calls").expect("told").advice;
    assert_eq!(advice, "Stop what has them open to see what they cost.", "nearly all containers filter");
    let said = world.says("slow-system-calls").expect("told");
    assert!(said.contains("time. Performance events or probes are open in bpftrace. 7 "), "{said}");
    world.environment["limits"]["perf_events"] = serde_json::Value::Null;
    let said = world.says("slow-system-calls").expect("told");
    assert!(said.ends_with("7 seccomp filters apply to this program."), "{said}");
    world.repetition.workers[0].cpu_system_ns = 100_000_000;
    assert_eq!(world.says("slow-system-calls"), None, "operations without system calls, as with mmap");
    world.repetition.workers[0].cpu_system_ns = 900_000_000;
    world.phase.axes.queue_depth = Some(32);
    assert_eq!(world.says("slow-system-calls"), None, "one call may submit many");
    world.phase.axes.queue_depth = None;
    world.repetition.elapsed_ns = 10_000_000_000;
    assert_eq!(world.says("slow-system-calls"), None, "a small part of the time");
    world.repetition.elapsed_ns = 50_000_000;
    world.environment["limits"]["empty_call_ns"] = 400.into();
    assert_eq!(world.says("slow-system-calls"), None, "as everywhere");
}

#[test]
fn a_loop_device_that_passes_requests_on_late() {
    let mut world = World::new(OpKind::Read, 3783, 4096);
    world.repetition.elapsed_ns = 1_500_000_000;
    world.environment = serde_json::json!({
        "cpu": { "online": 2, "kernel_workers": 1 },
        "devices": [
            { "name": "loop0", "kind": "loop", "above": null, "direct_io": true },
            { "name": "vda", "kind": "disk", "above": "loop0" },
        ],
    });
    let device = |name: &str, level, busy_ns| DeviceActivity {
        name: name.into(),
        level,
        busy_ns,
        requests: vec![RequestStats {
            d2c: Histogram::from_values([busy_ns / 3783; 3783]),
            ..requests(RequestClass::Read, 3783, 4096)
        }],
        ..DeviceActivity::default()
    };
    let devices = |world: &mut World, below| {
        let both = vec![device("loop0", 0, 1_260_000_000), device("vda", 1, below)];
        world.repetition.block.as_mut().expect("made with one").devices = both;
    };
    devices(&mut world, 120_000_000);
    assert_eq!(
        world.says("loop-driver").expect("told"),
        "loop0 had requests for 84 % of the time, but vda, which carries it, only for 8.0 %: the loop driver's kernel workers, or the file system of its image, passed them on late. The kernel's workers may use only 1 of 2 processors (/sys/devices/virtual/workqueue/cpumask)."
    );
    world.environment["cpu"]["kernel_workers"] = 2.into();
    assert!(world.says("loop-driver").expect("told").ends_with("passed them on late."));
    devices(&mut world, 700_000_000);
    assert_eq!(world.says("loop-driver"), None, "as a healthy one");
    devices(&mut world, 120_000_000);
    let below = &mut world.repetition.block.as_mut().expect("made with one").devices[1];
    below.requests[0].q2d = Histogram::from_values([300_000; 3783]);
    assert_eq!(world.says("loop-driver"), None, "they waited in the queue below");
    devices(&mut world, 120_000_000);
    world.environment["devices"][0]["direct_io"] = false.into();
    assert_eq!(world.says("loop-driver"), None, "the page cache below answers");
}

#[test]
fn a_loop_device_without_direct_io_reads_its_image_in_turn() {
    let mut world = World::new(OpKind::Read, 26_789, 4096);
    world.repetition.elapsed_ns = 1_500_000_000;
    world.environment = serde_json::json!({
        "devices": [
            { "name": "loop0", "kind": "loop", "above": null, "direct_io": false },
            { "name": "vda", "kind": "disk", "above": "loop0" },
        ],
    });
    let device = |name: &str, level, each_ns| DeviceActivity {
        name: name.into(),
        level,
        busy_ns: 1_400_000_000,
        requests: vec![RequestStats {
            d2c: Histogram::from_values([each_ns; 26_789]),
            ..requests(RequestClass::Read, 26_789, 4096)
        }],
        ..DeviceActivity::default()
    };
    let below = |world: &mut World, each_ns| {
        let both = vec![device("loop0", 0, 1_700_000), device("vda", 1, each_ns)];
        world.repetition.block.as_mut().expect("made with one").devices = both;
    };
    below(&mut world, 50_000);
    let told = world.says("loop-driver").expect("told");
    assert!(
        told.contains("one request after the other: 30 requests were in it on average, and 0.9 in vda"),
        "{told}"
    );
    below(&mut world, 1_600_000);
    assert_eq!(world.says("loop-driver"), None, "they are passed on together");
    below(&mut world, 50_000);
    world.repetition.block.as_mut().expect("made with one").devices[1].requests[0].issued_bytes = 4096;
    assert_eq!(world.says("loop-driver"), None, "the image was in the page cache");
    below(&mut world, 50_000);
    world.environment["devices"][0]["direct_io"] = true.into();
    assert_eq!(world.says("loop-driver"), None, "with direct I/O they are not read in turn");
}

#[test]
fn writers_that_wait_for_room_in_a_small_journal() {
    let mut world = World::new(OpKind::Write, 4096, 16_384);
    world.repetition.elapsed_ns = 250_000_000;
    world.environment = serde_json::json!({ "filesystem": { "journal_transaction_bytes": 1_398_101 } });
    let stack = |through: &str, total_ns| fathom_record::slow_calls::WaitStack {
        frames: vec!["ext4_file_write_iter".into(), through.into(), "__wait_on_buffer".into()],
        total_ns,
        ..Default::default()
    };
    let slow = |stacks| {
        vec![fathom_record::SlowCalls {
            op: OpKind::Write,
            calls: 4096,
            first_only: false,
            slowest: 40,
            from_ns: 1_880_000,
            total_ns: 80_000_000,
            stacks,
            examples: Vec::new(),
        }]
    };
    world.repetition.slow_calls = slow(vec![stack("__jbd2_log_wait_for_space", 42_000_000)]);
    let told = world.says("small-journal").expect("told");
    assert_eq!(
        told,
        "The journal has little room (a transaction takes at most 1.3 MiB): the slowest 40 writes spent 42.0 ms waiting for it, 17 % of the time."
    );
    world.environment["filesystem"]["journal_transaction_bytes"] = (64 << 20).into();
    assert_eq!(world.says("small-journal"), None, "not small");
    world.environment["filesystem"]["journal_transaction_bytes"] = 1_398_101.into();
    world.repetition.slow_calls = slow(vec![stack("jbd2_log_wait_commit", 42_000_000)]);
    assert_eq!(world.says("small-journal"), None, "they wait for their own commit");
}

#[test]
fn an_image_that_a_program_serves() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.device().name = "loop0".into();
    world.device().busy_ns = 970_000_000;
    world.environment = serde_json::json!({ "devices": [
        { "name": "loop0", "kind": "loop", "backing_file": "/srv/image", "direct_io": true, "image_on": "fuse" },
    ]});
    assert_eq!(
        world.says("fuse").expect("told"),
        "The file behind loop0, /srv/image, lies on fuse, so a program in user space handles each of its requests: they took 97 % of the time."
    );
    world.environment["devices"][0]["image_on"] = "ext4".into();
    assert_eq!(world.says("fuse"), None);
}

#[test]
fn squashfs_decompresses_in_the_call() {
    let mut world = World::new(OpKind::Read, 60, 4096);
    world.repetition.elapsed_ns = 515_000_000;
    world.repetition.workers[0].cpu_system_ns = 494_000_000;
    world.environment = serde_json::json!({ "filesystem": { "type": "squashfs", "block_bytes": 1_048_576 } });
    assert_eq!(
        world.says("compression").expect("told"),
        "squashfs reads and decompresses whole blocks of 1 MiB: the workers computed in the kernel for 96 % of their time, 8.23 ms for each read."
    );
    world.repetition.workers[0].cpu_system_ns = 400_000;
    world.repetition.elapsed_ns = 500_000;
    assert_eq!(world.says("compression"), None, "copied from the page cache");
    let mut tiny = World::new(OpKind::Read, 1000, 16);
    tiny.environment = world.environment.clone();
    (tiny.repetition.workers[0].cpu_system_ns, tiny.repetition.elapsed_ns) = (300_000, 400_000);
    assert_eq!(tiny.says("compression"), None, "calls of few bytes");
}

// --- What lies in the workload, or in what memory held.

#[test]
fn files_in_order_with_the_advice_that_they_are_not() {
    let mut world = World::new(OpKind::Read, 4096, 16_384);
    world.workload.in_order = true;
    world.workload.advises_random = true;
    world.device().requests = vec![requests(RequestClass::Read, 4096, 16_384)];
    assert_eq!(
        world.says("advised-random").expect("told"),
        "The workload opens its files with the advice `random` (POSIX_FADV_RANDOM) and reads them in order: the kernel reads nothing ahead, so each 16 KiB read that the page cache could not serve waited for the device (4096 requests of 16 KiB for 4096 reads)."
    );
    world.device().requests = vec![requests(RequestClass::Read, 2047, 16_384)];
    assert_eq!(world.says("advised-random"), None, "memory served most of it");
    world.device().requests = vec![requests(RequestClass::Read, 4096, 20_480)];
    assert_eq!(world.says("advised-random"), None, "something was read ahead");
    world.device().requests = vec![requests(RequestClass::Read, 4096, 16_384)];
    world.workload.advises_random = false;
    assert_eq!(world.says("advised-random"), None, "no such advice");
    (world.workload.advises_random, world.workload.in_order) = (true, false);
    assert_eq!(world.says("advised-random"), None, "good advice");
    (world.workload.in_order, world.phase.direct) = (true, true);
    assert_eq!(world.says("advised-random"), None, "nothing is read ahead with O_DIRECT");
}

#[test]
fn as_many_polling_threads_as_processors() {
    let mut world = World::new(OpKind::Read, 39_270, 4096);
    world.repetition.elapsed_ns = 1_550_000_000;
    let worker = &mut world.repetition.workers[0];
    (worker.cpu_system_ns, worker.elapsed_ns) = (170_000_000, 1_550_000_000);
    worker.thread_counts =
        Some(fathom_record::ThreadCounts { processor_wait_ns: Some(900_000_000), ..Default::default() });
    world.repetition.physical.machine_cpu_ns = Some(2_600_000_000);
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 2 } });
    world.workload.polling_rings = 8;
    assert_eq!(
        world.says("polling-threads").expect("told"),
        "8 workers use io_uring with submission polling: for each of them a thread of the kernel spins on a processor, and this program may use only 2. All other threads used 1.57 of these processors, the workers 0.11."
    );
    world.workload.polling_rings = 1;
    assert_eq!(world.says("polling-threads"), None, "a processor is left for the worker");
    world.workload.polling_rings = 8;
    world.allowed_busy_ns = Some(2_200_000_000);
    assert_eq!(world.says("polling-threads"), None, "they slept most of the time");
    world.allowed_busy_ns = Some(2_600_000_000);
    world.environment["cpu"]["online"] = 16.into();
    assert!(world.says("polling-threads").is_some(), "it may use only two of them");
    world.environment["cpu"]["allowed"] = 16.into();
    assert_eq!(world.says("polling-threads"), None, "there are enough");
}

#[test]
fn files_that_fit_into_memory_but_were_not_there() {
    let mut world = World::new(OpKind::Read, 8192, 16_384);
    world.workload.keeps_pages = true;
    let pages = 128 * MIB / crate::residency::page_bytes();
    let cached = |cached_pages| Some(Residency { total_pages: pages, cached_pages, ..Residency::default() });
    world.repetition.resident_before = cached(0);
    let physical = &mut world.repetition.physical;
    physical.method = "diskstats".into();
    physical.own_read_bytes = Some(128 * MIB);
    physical.devices =
        vec![DeviceDelta { name: "vda".into(), read_bytes: 140 * MIB, ..DeviceDelta::default() }];
    world.environment = serde_json::json!({ "memory": { "available_bytes": 256 * MIB } });
    let told = "None of the 128 MiB of these files was in the page cache when the phase began: 128 MiB were read from vda.";
    assert_eq!(world.says("not-in-cache").expect("told"), told);
    world.repetition.resident_before = cached(pages / 4);
    let said = world.says("not-in-cache").expect("told");
    assert!(said.starts_with("Only 32 MiB of the 128 MiB"), "{said}");
    world.repetition.resident_before = cached(pages / 2 + 1);
    assert_eq!(world.says("not-in-cache"), None, "most was there");
    world.repetition.resident_before = cached(0);
    world.repetition.physical.own_read_bytes = Some(63 * MIB);
    assert_eq!(world.says("not-in-cache"), None, "most reads were served by memory");
    world.repetition.physical.own_read_bytes = Some(128 * MIB);
    world.environment["limits"] = serde_json::json!({ "cgroup": { "memory_max_bytes": 100 * MIB } });
    assert_eq!(world.says("not-in-cache"), None, "they do not fit");
    world.environment["limits"] = serde_json::Value::Null;
    world.repetition.cache = CacheIntent::Cold;
    assert_eq!(world.says("not-in-cache"), None, "as the workload wants it");
    world.repetition.cache = CacheIntent::AsFound;
    world.workload.made_cold = true;
    assert_eq!(world.says("not-in-cache"), None, "likewise");
    (world.workload.made_cold, world.workload.keeps_pages) = (false, false);
    assert_eq!(world.says("not-in-cache"), None, "the workload drops its pages");
}

#[test]
fn a_log_that_grows_with_each_synced_write() {
    let mut world = World::new(OpKind::Write, 432, 4096);
    world.repetition.workers[0].stats.push(syncs(432));
    let sized = |bytes: u64| {
        let total_pages = bytes.div_ceil(crate::residency::page_bytes());
        Some(Residency { total_pages, ..Residency::default() })
    };
    let written = 432 * 4096;
    world.repetition.resident_before = sized(0);
    world.repetition.resident_after = sized(written);
    world.device().requests = vec![requests(RequestClass::Write, 1296, 4096)];
    let own = Issuer { writes: 432, write_bytes: written, ..issuer(IssuerKind::Own, 0) };
    let journal = |writes| Issuer { writes, write_bytes: 9 * MIB, ..issuer(IssuerKind::Journal, 0) };
    world.device().issuers = vec![own.clone(), journal(864)];
    assert_eq!(
        world.says("growing-file").expect("told"),
        "The files grew by 1.7 MiB while 1.7 MiB were written with 432 syncs: a sync then has to put their new size and blocks into the journal, too, which wrote 9 MiB in 864 requests."
    );
    assert_eq!(world.says("journal"), None, "the same figures once more");
    world.device().issuers = vec![own.clone(), journal(431)];
    assert!(world.says("journal").is_some());
    assert_eq!(world.says("growing-file"), None, "not every second sync committed");
    world.device().issuers = vec![own, journal(864)];
    world.repetition.resident_before = sized(written * 6 / 10);
    assert_eq!(world.says("growing-file"), None, "most of it was there");
    world.repetition.resident_before = sized(0);
    world.repetition.workers[0].stats.pop();
    assert_eq!(world.says("growing-file"), None, "nothing was synced");
    world.workload.all_synced = true;
    let said = world.says("growing-file").expect("told");
    assert!(said.contains("with 432 synchronous writes:"), "{said}");
    let opens = OpStat { op: OpKind::Open, ops: 44, bytes: 0, latency: Histogram::default() };
    world.repetition.workers[0].stats.push(opens);
    assert_eq!(world.says("growing-file"), None, "many files are made");
}
