//! What becomes of calls on their way to the device: splits, merges, read-ahead, queues, the page cache.

use super::*;

#[test]
fn a_read_that_became_four_requests() {
    let mut world = World::new(OpKind::Read, 100, 16_384);
    world.joined = Some(Joined { reads: per_call(100, 100 * 16_384, 4, 4096), ..Joined::default() });
    assert_eq!(
        world.says("requests-per-call").expect("reported"),
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
        world.says("read-ahead").expect("reported"),
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
    assert!(world.says("read-ahead").expect("reported").starts_with("The device was asked to read 3.1 x"));
    for (keeps_pages, drops) in [(true, false), (false, true)] {
        world.workload.keeps_pages = keeps_pages;
        let advice = world.found().into_iter().find(|f| f.rule == "read-ahead").expect("reported").advice;
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
        world.says("splits").expect("reported"),
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
        world.says("merges").expect("reported"),
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
        world.says("scattered").expect("reported"),
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

#[test]
fn parts_of_blocks_must_be_read_to_be_written() {
    let mut world = World::new(OpKind::Write, 1000, 512);
    world.device().requests =
        vec![requests(RequestClass::Read, 900, 4096), requests(RequestClass::Write, 1000, 4096)];
    world.joined = Some(Joined { fetched_bytes: 900 * 4096, ..Joined::default() });
    assert_eq!(world.found()[0].rule, "read-to-write");
    let said = world.says("read-to-write").expect("reported");
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
fn queue_wait_is_compared_with_device_time() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    let waits = |ns| Histogram::from_values(std::iter::repeat_n(ns, 1000));
    let mut reads = requests(RequestClass::Read, 1000, 4096);
    (reads.q2d, reads.d2c) = (waits(50), waits(20));
    world.device().requests = vec![reads.clone()];
    assert_eq!(
        world.says("queue-wait").expect("reported"),
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
        world.says("slow-calls").expect("reported"),
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
fn a_queue_that_is_none() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.phase.axes.queue_depth = Some(32);
    world.device().requests = vec![requests(RequestClass::Read, 1000, 4096)];
    world.workload.aio = true;
    assert!(
        world
            .says("queue-without-direct")
            .expect("reported")
            .contains("the queue depth of 32 is never reached")
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
fn queue_settings_that_limit_requests_are_reported() {
    let mut world = World::new(OpKind::Read, 1000, MIB);
    world.environment = serde_json::json!({ "devices": [
        { "name": "vda", "max_sectors_kb": 16, "max_hw_sectors_kb": 4096, "nomerges": 0, "nr_requests": 64 }
    ] });
    world.device().requests = vec![requests(RequestClass::Read, 64_000, 16 << 10)];
    assert_eq!(
        world.says("small-requests").expect("reported"),
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
        world.says("small-requests").expect("reported"),
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
        world.says("no-merges").expect("reported"),
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
        world.says("few-requests").expect("reported"),
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
        world.says("held-back").expect("reported"),
        "For 60 % of the time requests waited above vda while it was idle: the I/O scheduler bfq, or a control group's I/O control (io.cost, io.latency), held them back."
    );
    world.device().busy_ns = 800_000_000;
    assert_eq!(world.says("held-back"), None, "it was busy meanwhile");
    world.device().busy_ns = 300_000_000;
    world.environment["devices"][0]["scheduler"] = "none".into();
    assert_eq!(world.says("held-back"), None, "there is none");
}

#[test]
fn read_ahead_that_is_small() {
    let mut world = World::new(OpKind::Read, 16_000, 4096);
    world.workload.in_order = true;
    world.device().requests = vec![requests(RequestClass::Read, 4000, 16_384)];
    world.environment = serde_json::json!({ "devices": [{ "name": "vda", "read_ahead_kb": 16 }] });
    assert_eq!(
        world.says("no-read-ahead").expect("reported"),
        "Read-ahead is small (read_ahead_kb of vda is 16): reads of 4 KiB were fetched in 4000 requests of 16 KiB."
    );
    world.workload.in_order = false;
    assert_eq!(world.says("no-read-ahead"), None, "nothing is to be read ahead");
    world.workload.in_order = true;
    world.environment["devices"][0]["read_ahead_kb"] = 128.into();
    assert_eq!(world.says("no-read-ahead"), None);
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
        world.says("dropped-cache").expect("reported"),
        "Pages of the files left the page cache while they were read: 300 MiB that had been there were read again. Memory was not short (the kernel reclaimed 1 MiB of the pages of all files), and drop_caches was not used: another program, or DAMON, dropped them."
    );
    world.evictions = Some(Evictions { reclaimed_pages: 0, drops: 3 });
    assert_eq!(
        world.says("dropped-cache").expect("reported"),
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
        world.says("dropped-cache").expect("reported").ends_with(
            "was dropped 3 times (/proc/sys/vm/drop_caches); bash (process 7) dropped most of them."
        )
    );
    world.evictions = Some(Evictions { reclaimed_pages: 0, drops: 0 });
    world.repetition.page_cache = dropped_by(vec![remover("dd", 8, 100), remover("dd", 9, 100)]);
    assert!(
        world
            .says("dropped-cache")
            .expect("reported")
            .ends_with("and drop_caches was not used: dd (2 processes) dropped them.")
    );
    world.repetition.page_cache = dropped_by(vec![remover("dd", 8, 100)]);
    assert!(
        world.says("dropped-cache").expect("reported").contains("another program"),
        "a third of them is not the reason"
    );
    world.evictions = Some(Evictions { reclaimed_pages: 31 * pages, drops: 0 });
    assert_eq!(world.says("dropped-cache"), None, "memory was short");
    world.evictions = Some(Evictions::default());
    world.repetition.resident_before =
        Some(Residency { total_pages: 64 * pages, cached_pages: 0, ..Residency::default() });
    assert!(
        world.says("dropped-cache").expect("reported").contains("236 MiB"),
        "64 were read for the first time"
    );
    world.repetition.physical.own_read_bytes = Some(72 * MIB);
    assert_eq!(world.says("dropped-cache"), None, "most of it was");
    world.repetition.cache = fathom_record::CacheIntent::Warm;
    assert_eq!(world.says("dropped-cache"), None, "64 of 72 are still there");
    world.repetition.resident_after = world.repetition.resident_before;
    assert!(world.says("dropped-cache").expect("reported").contains("72 MiB"), "warming had read them");
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
    let said = world.says("strict-guarantees").expect("reported");
    assert!(said.contains("bfq of vda has strict_guarantees set") && said.contains("4 operations"), "{said}");
    world.device().in_device.push(DepthTime { depth: 2, ns: 5 });
    assert_eq!(world.says("strict-guarantees"), None, "there were two at once");
    world.device().in_device.pop();
    world.environment = tunables("0");
    assert_eq!(world.says("strict-guarantees"), None);
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
    let said = world.says("direct-through-cache").expect("reported");
    assert!(said.contains("calls brought 4 MiB into it while they wrote 4 MiB"), "{said}");
    world.repetition.page_cache = entered(MIB);
    assert_eq!(world.says("direct-through-cache"), None, "a few unaligned ends");
    let waiting = fathom_record::cache::UnwrittenData { meanwhile_bytes: 4096, ..Default::default() };
    world.repetition.physical.waiting = Some(waiting);
    assert!(world.says("direct-through-cache").is_some(), "the rest was in the cache before");
    world.repetition.page_cache = entered(0);
    world.attributes.files = 1;
    let said = world.says("direct-through-cache").expect("reported");
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
    let said = world.says("write-to-read").expect("reported");
    assert!(said.contains("its calls wrote 8 MiB (300 requests) for 4 MiB that they read"), "{said}");
    world.device().issuers = vec![own(MIB / 2)];
    assert_eq!(world.says("write-to-read"), None);
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
        world.says("direct-in-order").expect("reported"),
        "O_DIRECT has no read-ahead, and one read of 16 KiB is in flight at a time: each waits for its own request, which took 85.0 us in vda (79 % of the time)."
    );
    world.phase.axes.queue_depth = Some(4);
    assert_eq!(world.says("direct-in-order"), None, "several are in flight");
    world.phase.axes.queue_depth = None;
    world.repetition.workers[0].elapsed_ns = 300_000_000;
    assert_eq!(world.says("direct-in-order"), None, "the device has a third of the time");
}

#[test]
fn files_in_order_with_the_advice_that_they_are_not() {
    let mut world = World::new(OpKind::Read, 4096, 16_384);
    world.workload.in_order = true;
    world.workload.advises_random = true;
    world.device().requests = vec![requests(RequestClass::Read, 4096, 16_384)];
    assert_eq!(
        world.says("advised-random").expect("reported"),
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
        world.says("polling-threads").expect("reported"),
        "8 workers use io_uring with submission polling: for each of them a kernel thread spins on a processor, and this program may use only 2. All other threads used 1.57 of these processors, the workers 0.11."
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
    assert_eq!(world.says("not-in-cache").expect("reported"), told);
    world.repetition.resident_before = cached(pages / 4);
    let said = world.says("not-in-cache").expect("reported");
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
