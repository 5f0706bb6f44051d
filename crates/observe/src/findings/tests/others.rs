//! Other programs' requests, syncs and locks.

use super::*;

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
        world.says("io-share").expect("reported"),
        "The I/O scheduler bfq shares vda by weight, and a control group of this program has a low one (io.bfq.weight 1, the default is 100): other programs moved 98 % of the bytes meanwhile."
    );
    assert_eq!(world.found().iter().map(|f| f.rule.as_str()).collect::<Vec<_>>(), ["io-share", "others"]);
    world.environment = environment("none", "default 1", "idle");
    assert_eq!(world.says("io-share"), None, "nothing heeds them");
    world.environment = environment("bfq", "default 100", "best-effort 4");
    assert_eq!(world.says("io-share"), None, "the defaults");
    world.environment = environment("bfq", "default 100", "best-effort 7");
    assert!(world.says("io-share").expect("reported").contains("gives the I/O priority best-effort 7"));
    world.environment = environment("bfq", "default 100", "idle");
    assert_eq!(
        world.says("io-share").expect("reported"),
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
    assert!(world.says("others").expect("reported").contains("nvme0n1"));
    world.device().issuers = vec![Issuer { reads: 10, ..issuer(IssuerKind::Other, 65_536) }];
    assert_eq!(world.says("others"), None, "the reads that came down were another program's");
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
        world.says("fsync-others").expect("reported"),
        "During 10 fsyncs, 480 KiB of other files' data were written beside 40 KiB of the synced files: data of 12 other files per sync on average, 14 at most."
    );
    assert_eq!(
        world.says("flushes").expect("reported"),
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
        world.says("journal").expect("reported"),
        "The journal wrote 2.0 MiB for 3.9 MiB of data: 0.50 bytes per byte written."
    );
    world.device().issuers.push(issuer(IssuerKind::Other, "rsync", 512, 2_097_152));
    assert_eq!(world.says("journal"), None, "whose it is nobody knows");
    assert_eq!(
        world.says("others").expect("reported"),
        "25 % of what vda moved (2 MiB of 7.9 MiB) belonged to other programs: rsync (2 MiB written)."
    );
    // It ran when a request of another's left the queue.
    world.device().issuers.push(issuer(IssuerKind::Other, "bystander", 2, 8192));
    let told = world.says("others").expect("reported");
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
        world.says("others").expect("reported"),
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
    assert!(world.says("others").expect("reported").starts_with("40 % of what sda moved (20 MiB of 50 MiB)"));
    world.repetition.block.as_mut().expect("watched").devices.pop();
    world.device().issuers.truncate(1);
    assert_eq!((world.says("journal"), world.says("others")), (None, None));
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
        world.says("discards-of-others").expect("reported"),
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
fn a_tracer_that_stops_each_call() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    let switched = |switches| Some(fathom_record::ThreadCounts { switches, ..Default::default() });
    world.repetition.workers[0].thread_counts = switched(2010);
    assert_eq!(world.says("traced"), None);
    world.environment = serde_json::json!({ "limits": { "tracer": "strace (process 7)" } });
    let said = world.says("traced").expect("reported");
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
    let said = world.says("syncs-of-others").expect("reported");
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
        world.says("own-locks").expect("reported"),
        "For 35 % of their time the 2 workers waited for locks in the kernel that other workers held."
    );
    assert_eq!(world.says("locks-of-others"), None);
    waits.own_ns = 500_000_000;
    waits.holders = vec![held("python3", 7, 900_000_000, true), held("kworker/0:1", 0, 1_000_000, false)];
    world.repetition.lock_waits = Some(waits.clone());
    assert_eq!(world.says("own-locks"), None);
    assert_eq!(
        world.says("locks-of-others").expect("reported"),
        "For 45 % of their time the workers waited for locks in the kernel that python3 (process 7) held; it has a file of this workload open."
    );
    waits.holders = (1..=4).map(|process| held("dd", process, 200_000_000, false)).collect();
    world.repetition.lock_waits = Some(waits.clone());
    let said = world.says("locks-of-others").expect("reported");
    assert!(said.ends_with("that 4 other programs held."), "{said}");
    waits.holders.truncate(1);
    world.repetition.lock_waits = Some(waits);
    assert_eq!(world.says("locks-of-others"), None, "a tenth of the time");
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
        world.says("journal-of-others").expect("reported"),
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
    let said = world.says("access-check").expect("reported");
    assert!(
        said.contains("90 % of the slowest calls waited for its answer")
            && said.contains("1.0 times per call"),
        "{said}"
    );
    world.repetition.workers[0].thread_counts = switched(100);
    assert_eq!(world.says("access-check"), None, "only the slowest");
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
