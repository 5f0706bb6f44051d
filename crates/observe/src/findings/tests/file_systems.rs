//! Settings and work of file systems, and calls that are slow in them.

use super::*;

#[test]
fn settings_that_make_every_call_wait_are_causes() {
    let mut world = World::new(OpKind::Write, 1000, 16_384);
    world.device().requests = vec![requests(RequestClass::Write, 1800, 8192)];
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,sync,relatime" } });
    assert_eq!(
        world.says("sync-mount").expect("reported"),
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
    assert!(world.says("dirty-limit").expect("reported").starts_with("At most 1 MiB of writes to vda"));
    world.phase.axes.file_bytes = Some(MIB);
    assert_eq!(world.says("dirty-limit"), None, "there is never as much to hold back");
    world.phase.axes.file_bytes = None;
    world.environment["filesystem"]["dirty_limit_strict"] = false.into();
    assert_eq!(world.says("dirty-limit"), None);

    let mut world = World::new(OpKind::Read, 1000, 65_536);
    world.device().requests = vec![requests(RequestClass::Read, 16_000, 4096)];
    world.environment = serde_json::json!({ "devices": [{ "name": "vda", "read_ahead_kb": 0 }] });
    assert_eq!(
        world.says("no-read-ahead").expect("reported"),
        "Read-ahead is off (read_ahead_kb of vda is 0): reads of 64 KiB were fetched in 16000 requests of 4 KiB."
    );
    world.environment["filesystem"] = serde_json::json!({ "read_ahead_kb": 4096 });
    assert_eq!(world.says("no-read-ahead"), None, "the mount has its own read-ahead");
    world.environment["filesystem"]["read_ahead_kb"] = 0.into();
    world.environment["devices"][0]["read_ahead_kb"] = 128.into();
    assert!(world.says("no-read-ahead").expect("reported").contains("read_ahead_kb of the mount is 0"));
    world.device().requests = vec![requests(RequestClass::Read, 1000, 65_536)];
    assert_eq!(world.says("no-read-ahead"), None, "a read was one request");
}

#[test]
fn a_file_in_pieces_and_a_file_system_that_has_no_others() {
    let mut world = World::new(OpKind::Read, 256, 131_072);
    world.workload.in_order = true;
    world.device().requests = vec![requests(RequestClass::Read, 8192, 4096)];
    world.pieces = Some(Pieces { count: 8192, bytes: 32 * MIB, files: 1 });
    let said = world.says("fragmented").expect("reported");
    assert_eq!(
        said,
        "The files are in 8192 pieces of 4 KiB on the device, so sequential calls of 128 KiB became 8192 requests of 4 KiB at scattered offsets."
    );
    world.environment = serde_json::json!({ "filesystem": { "free_bytes": 3, "total_bytes": 100 } });
    assert!(
        world.says("fragmented").expect("reported").ends_with("The file system has 3.0 % of its space left.")
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
        world.says("compression").expect("reported"),
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
            .expect("reported")
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
        world.says("one-writer").expect("reported"),
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
    let said = world.says("fuse").expect("reported");
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
        world.says("synced-writes").expect("reported"),
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
        world.says("discard").expect("reported"),
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
        world.says("data-journal").expect("reported"),
        "The file system is mounted with data=journal: data goes to the journal first, and at least 28.1 MiB were written for 15.6 MiB (1.8 x)."
    );
    world.environment = serde_json::json!({ "filesystem": { "options": "rw,sync" } });
    assert!(
        world
            .says("sync-mount")
            .expect("reported")
            .ends_with("(at least 1800 write requests for 1000 writes).")
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
        world.says("sync-attribute").expect("reported"),
        "The file has the attribute S (chattr +S): every write waits until its data is on the device (1800 write requests for 1000 writes)."
    );
    assert_eq!(
        world.says("data-journal").expect("reported"),
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
        world.says("stood-still").expect("reported"),
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
fn btrfs_that_keeps_data_twice() {
    let mut world = World::new(OpKind::Write, 1024, 4096);
    world.device().requests = vec![requests(RequestClass::Write, 2048, 4096)];
    world.environment = serde_json::json!({ "filesystem": { "type": "btrfs", "data_profile": "dup" } });
    assert_eq!(
        world.says("two-copies").expect("reported"),
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
        world.says("external-journal").expect("reported"),
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
        world.says("small-blocks").expect("reported"),
        "ext4 has blocks of 1 KiB, so it handles each page in 4 parts. The workers computed in the kernel for 38 % of their time, which includes that cost."
    );
    world.environment = mounted(4096, "rw,nodelalloc");
    assert_eq!(world.says("small-blocks"), None);
    let said = world.says("no-delayed-allocation").expect("reported");
    assert!(said.contains("mounted with nodelalloc") && said.contains("for 38 % of their time"), "{said}");
    world.repetition.workers[0].cpu_system_ns = 200_000_000;
    assert_eq!(world.says("no-delayed-allocation"), None, "it can cost little");
}

#[test]
fn encryption_is_a_cause_if_the_device_waits_for_it() {
    let mut world = processors_work_on(OpKind::Read);
    world.attributes = Attributes { files: 1, encrypted: 1, ..Attributes::default() };
    assert_eq!(
        world.says("encryption").expect("reported"),
        "The file is encrypted by the file system (fscrypt): 256 MiB had to be decrypted, and vda was idle for 71 % of the time."
    );
    world.device().busy_ns = 760_000_000;
    assert_eq!(world.says("encryption"), None, "the device was busy");
    world.environment = serde_json::json!({ "cpu": { "online": 2 }, "filesystem": { "options": "rw" } });
    world.repetition.physical.machine_cpu_ns = Some(1_700_000_000);
    let said = world.says("encryption").expect("reported");
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
        world.says("encryption").expect("reported").ends_with("sda was idle for 92 % of the time."),
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
        world.says("encryption").expect("reported"),
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
        world.says("checksums").expect("reported"),
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
        of("rw,notreelog", OpKind::Sync, 8_000_000).expect("reported"),
        "The file system is mounted with notreelog: each fsync commits the whole transaction of btrfs instead of writing to its log. 100 syncs took 80 % of the workers' time, and the device had 300 write requests meanwhile."
    );
    assert_eq!(of("rw,relatime", OpKind::Sync, 8_000_000), None);
    assert_eq!(of("rw,notreelog", OpKind::Sync, 1_000_000), None, "a tenth of the time");
    let sentence = on("ext4", "rw,dirsync", OpKind::Delete, 8_000_000).expect("sentence");
    assert!(sentence.contains("100 calls that open, create or delete took 80 %"), "{sentence}");
    assert_eq!(of("rw,dirsync", OpKind::Delete, 8_000_000), None, "btrfs does not heed it");
    assert_eq!(on("ext4", "rw,dirsync", OpKind::Sync, 8_000_000), None);
}

#[test]
fn shared_blocks_are_a_cause_if_half_of_the_writes_unshared_some() {
    let mut world = World::new(OpKind::Write, 8192, 4096);
    world.unshared_bytes = 30 * MIB;
    assert_eq!(
        world.says("shared-blocks").expect("reported"),
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
        world.says("first-writes").expect("reported"),
        "Of the 64 MiB that the phase writes to, 64 MiB are allocated but were never written: the first write to a block also changes the file's metadata."
    );
    world.workload.synced = true;
    world.repetition.extents = extents(0, 40 * MIB);
    assert_eq!(
        world.says("first-writes").expect("reported"),
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
        world.says("no-directory-index").expect("reported"),
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
        world.says("freed-inodes").expect("reported"),
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
        world.says("swapped-out").expect("reported"),
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
    let said = world.says("slow-system-calls").expect("reported");
    assert_eq!(
        said,
        "A system call that does nothing takes 17.0 us here (0.1 to 0.5 us is usual): 85 % of the workers' time."
    );
    world.environment["limits"]["tracer"] = "strace (process 7)".into();
    assert_eq!(world.says("slow-system-calls"), None, "another rule names the tracer");
    world.environment["limits"]["tracer"] = serde_json::Value::Null;
    world.environment["limits"]["seccomp_filters"] = 7.into();
    world.environment["limits"]["trace_events"] = "all".into();
    let said = world.says("slow-system-calls").expect("reported");
    assert!(
        said.ends_with("All of the kernel's trace events are on. 7 seccomp filters apply to this program."),
        "{said}"
    );
    world.environment["limits"]["trace_events"] = serde_json::Value::Null;
    world.environment["limits"]["perf_events"] = "bpftrace".into();
    let advice = world.found().into_iter().find(|f| f.rule == "slow-system-calls").expect("reported").advice;
    assert_eq!(advice, "Stop what has them open to see what they cost.", "nearly all containers filter");
    let said = world.says("slow-system-calls").expect("reported");
    assert!(said.contains("time. Performance events or probes are open in bpftrace. 7 "), "{said}");
    world.environment["limits"]["perf_events"] = serde_json::Value::Null;
    let said = world.says("slow-system-calls").expect("reported");
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
    let sentence = world.says("small-journal").expect("sentence");
    assert_eq!(
        sentence,
        "The journal has little room (a transaction takes at most 1.3 MiB): the slowest 40 writes spent 42.0 ms waiting for it, 17 % of the time."
    );
    world.environment["filesystem"]["journal_transaction_bytes"] = (64 << 20).into();
    assert_eq!(world.says("small-journal"), None, "not small");
    world.environment["filesystem"]["journal_transaction_bytes"] = 1_398_101.into();
    world.repetition.slow_calls = slow(vec![stack("jbd2_log_wait_commit", 42_000_000)]);
    assert_eq!(world.says("small-journal"), None, "they wait for their own commit");
}

#[test]
fn squashfs_decompresses_in_the_call() {
    let mut world = World::new(OpKind::Read, 60, 4096);
    world.repetition.elapsed_ns = 515_000_000;
    world.repetition.workers[0].cpu_system_ns = 494_000_000;
    world.environment = serde_json::json!({ "filesystem": { "type": "squashfs", "block_bytes": 1_048_576 } });
    assert_eq!(
        world.says("compression").expect("reported"),
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
        world.says("growing-file").expect("reported"),
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
    let said = world.says("growing-file").expect("reported");
    assert!(said.contains("with 432 synchronous writes:"), "{said}");
    let opens = OpStat { op: OpKind::Open, ops: 44, bytes: 0, latency: Histogram::default() };
    world.repetition.workers[0].stats.push(opens);
    assert_eq!(world.says("growing-file"), None, "many files are made");
}
