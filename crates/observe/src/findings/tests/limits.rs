//! What keeps workers from going on: limits of control groups, CPUs, dirty pages, their own pace.

use super::*;

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
        world.says("depth").expect("reported"),
        "32 operations were kept in flight, but the device, while busy, had 2 at once on average and never more than 3."
    );
    // For 250 of the 300 ms with one request it was the flush at the end.
    let mut flushes = requests(RequestClass::Flush, 1, 0);
    flushes.d2c = Histogram::from_values([250_000_000]);
    world.device().requests.push(flushes);
    assert!(world.says("depth").expect("reported").contains("had 2.71 at once on average"));
    world.device().requests.pop();
    assert_eq!(
        world.says("idle-device").expect("reported"),
        "vda was idle for 40 % of the time; the worker used a processor for 0.0 % of it.",
        "what took the rest is not known"
    );
    world.repetition.elapsed_ns = 800_000_000;
    assert!(
        world.says("idle-device").expect("reported").contains("for 25 % of the time"),
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
            world.says("io-limit").expect("reported"),
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
        world.says("io-limit").expect("reported"),
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
        world.says("io-limit").expect("reported"),
        "A control group limits writes of vda to 800 a second, and this program's ran at 450 a second, or up to 900 a second with flushes, which count as writes: the limit holds them back."
    );
    world.device().busy_ns = 600_000_000;
    assert_eq!(world.says("io-limit"), None, "the device may be what is slow");
    world.device().busy_ns = 0;
    // A limit that is reached without flushes comes first, though its number is larger.
    world.environment["limits"]["cgroup"]["io_max"]["/cg/blkio.throttle.write_bps_device"] =
        "7:0 1843200".into();
    let bytes = world.says("io-limit").expect("reported");
    assert!(bytes.contains("MiB/s, and this program's ran at") && !bytes.contains("flushes"), "{bytes}");
    world.environment["limits"]["cgroup"]["io_max"]["/cg/blkio.throttle.write_bps_device"] = "".into();
    world.device().requests.pop();
    assert_eq!(world.says("io-limit"), None, "no flushes, no limit");
}

#[test]
fn a_quota_of_processor_time_that_is_used_up() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].cpu_system_ns = 49_000_000;
    world.environment = serde_json::json!({ "limits": { "cgroup": { "cpu_max_cores": 0.05 } } });
    assert_eq!(
        world.says("cpu-quota").expect("reported"),
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
        world.says("idle-device").expect("reported"),
        "vda was idle for 90 % of the time; the worker used a processor for 0.0 % of it and was ready to run without one for 70 %."
    );
    let advice = world.found().into_iter().find(|f| f.rule == "idle-device").expect("reported").advice;
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
        world.says("busy-processors").expect("reported"),
        "For 45 % of the time the workers were ready to run but had no processor: other programs or kernel threads had them."
    );
    let shares =
        |n: &str| serde_json::json!({ "limits": { "cgroup": { "cpu_weights": { "/cg/a/cpu.shares": n } } } });
    world.environment = shares("2");
    assert_eq!(
        world.says("busy-processors").expect("reported"),
        "For 45 % of the time the workers were ready to run but had no processor: other programs or kernel threads had them. A control group of this program has a low weight (cpu.shares 2, the default is 1024), so programs outside of it go first."
    );
    world.environment = shares("1024");
    assert!(!world.says("busy-processors").expect("reported").contains("weight"));
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 1 } });
    assert_eq!(world.says("busy-processors"), None, "they may have used the other one");
    world.allowed_busy_ns = Some(1_000_000_000);
    assert!(
        world.says("busy-processors").expect("reported").ends_with(
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
        world.says("cpu-quota").expect("reported"),
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
fn a_group_with_less_memory_than_the_files_need() {
    let mut world = World::new(OpKind::Read, 131_072, 4096);
    let pages = 256 * MIB / crate::residency::page_bytes();
    world.repetition.resident_before =
        Some(fathom_record::Residency { total_pages: pages, ..Default::default() });
    world.environment = serde_json::json!({ "limits": { "cgroup": { "memory_max_bytes": 80 * MIB } } });
    world.device().requests = vec![requests(RequestClass::Read, 512, MIB)];
    assert_eq!(
        world.says("memory-limit").expect("reported"),
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
            .expect("reported")
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
        world.says("data-journal").expect("reported"),
        "The file system is mounted with data=journal: data goes to the journal first, and 10 MiB were written for 4 MiB (2.5 x)."
    );
    world.device().requests = vec![requests(RequestClass::Write, 40, 131_072)];
    assert_eq!(world.says("data-journal"), None, "they were not written twice");
    world.device().requests = vec![requests(RequestClass::Write, 80, 131_072)];
    world.environment["filesystem"]["options"] = "rw,data=ordered".into();
    assert_eq!(world.says("data-journal"), None);

    world.environment = serde_json::json!({ "vm": { "dirty_bytes": MIB, "dirty_ratio": 0 } });
    assert_eq!(
        world.says("dirty-limit").expect("reported"),
        "At most 1 MiB of writes may wait in memory (vm.dirty_bytes), and 4 MiB were written: writers were held back until the device had the rest."
    );
    world.environment = serde_json::json!({
        "vm": { "dirty_bytes": 0, "dirty_ratio": 1 }, "memory": { "available_bytes": 100 * MIB }
    });
    assert!(world.says("dirty-limit").expect("reported").contains("(vm.dirty_ratio)"));
    world.environment["vm"]["dirty_ratio"] = 4.into();
    assert_eq!(world.says("dirty-limit"), None, "all of it fits");
    world.environment["vm"]["dirty_ratio"] = 20.into();
    world.environment["memory"]["available_bytes"] = MIB.into();
    assert_eq!(world.says("dirty-limit"), None, "that is no setting");
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
        world.says("few-processors").expect("reported"),
        "This program may use only 1 of the machine's 2 processors, and on average 7.8 of 8 workers were running or ready to run."
    );
    assert_eq!(world.says("busy-processors"), None);
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 2 } });
    world.workload.bound = vec![Some(vec![1]); 8];
    assert_eq!(
        world.says("few-processors").expect("reported"),
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
        world.says("few-processors").expect("reported"),
        "The workload lets the 4 workers of scan use only 1 of the machine's 8 processors (CPU 2), and on average 3.9 of 4 were running or ready to run."
    );
    world.workload.bound = [first_four(&[2]), vec![None; 4]].concat();
    assert!(
        world.says("few-processors").expect("reported").contains("the 4 workers of scan"),
        "the others are free"
    );
    world.workload.bound = [first_four(&[1, 2, 3, 4]), vec![Some(vec![1]); 4]].concat();
    assert_eq!(world.says("few-processors"), None, "four for four");
    // Two pairs with one processor each: neither pair alone is the whole of it.
    let pairs: Vec<_> = [2, 2, 3, 3].map(|cpu| Some(vec![cpu])).to_vec();
    world.workload.bound = [pairs, vec![None; 4]].concat();
    assert_eq!(
        world.says("few-processors").expect("reported"),
        "The workload lets the 4 workers of scan use only 2 of the machine's 8 processors (CPUs 2, 3), and on average 3.9 of 4 were running or ready to run."
    );
    world.repetition.workers[4].group = "scan".into();
    assert!(
        world
            .says("few-processors")
            .expect("reported")
            .starts_with("The workload lets 4 of its 8 workers use"),
        "a fifth worker of that group is free"
    );
    world.workload.bound = [first_four(&[2]), vec![None; 4]].concat();
    world.environment = serde_json::json!({ "cpu": { "online": 2, "allowed": 2 } });
    world.repetition.workers[4..].iter_mut().for_each(|w| w.cpu_system_ns = 250_000_000);
    assert_eq!(world.says("few-processors"), None, "the others had the second one");
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
    let said = world.says("dirty-throttling").expect("reported");
    assert!(said.starts_with("For 50 % of their time the kernel paused the writers (39 pauses, "), "{said}");
    world.repetition.page_cache = paused(whole / 10);
    assert_eq!(world.says("dirty-throttling"), None, "it hardly mattered");
}

#[test]
fn a_workload_that_keeps_its_own_pace() {
    let mut world = World::new(OpKind::Read, 1000, 4096);
    world.repetition.elapsed_ns = 1_000_000_000;
    world.repetition.workers[0].stats[0].latency = Histogram::from_values([80_000; 1000]);
    assert_eq!(world.says("own-pace"), None);
    (world.workload.paced, world.workload.all_paced) = (true, true);
    let said = world.says("own-pace").expect("reported");
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
        halted(0, 480_000_000).expect("reported"),
        "For 48 % of their time the workers were frozen with their control group (/batch)."
    );
    assert_eq!(
        halted(600_000_000, 0).expect("reported"),
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
        frozen(610_000_000).expect("reported"),
        "For 61 % of their time the workers waited because the file system was frozen, which blocks all writes."
    );
    assert_eq!(frozen(90_000_000), None);
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
        of(1, 28 * MIB).expect("reported"),
        "The kernel writes a file's dirty pages back once the oldest is 0.01 s old (vm.dirty_expire_centisecs is 1; the default is 3000), and checks every 0.01 s. It wrote 28 MiB in 6000 requests while calls wrote 32 MiB."
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
        of(10, 1).expect("reported"),
        "wbt_lat_usec of vda is 10 (the kernel's default is 2000): while reads take longer than that, few buffered writes are let through at once. Reads, also those of other programs, took 430 us or more, and vda had a queue depth of 1."
    );
    assert_eq!(of(2000, 1), None, "the default");
    assert_eq!(of(0, 1), None, "off");
    assert_eq!(of(10, 8), None, "they were let through");
    assert_eq!(synced(10, 1, true), None, "synced writes are not held back");
}
