//! Jobs that run together with different times, ends and CPUs.

use crate::fio::support::{json, run};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

const PACED: &str = "--ioengine=null --size=1m --rate_iops=100 --time_based";

/// Milliseconds and operations of a job.
fn of(document: &Value, name: &str) -> (u64, u64) {
    let jobs = document["jobs"].as_array().expect("a list of jobs");
    let job = jobs.iter().find(|job| job["jobname"] == name).unwrap_or_else(|| panic!("no job {name}"));
    (job["read"]["runtime"].as_u64().unwrap(), job["read"]["total_ios"].as_u64().unwrap())
}

#[test]
fn every_job_has_its_own_runtime_warm_up_and_delay() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = format!(
        "{PACED} --name=short --runtime=1 --name=long --runtime=2 --name=warm --runtime=1 --ramp_time=1 \
         --name=late --runtime=1 --startdelay=1"
    );
    let document = json(&fathom, &line);
    for (name, runtime, operations) in
        [("short", 1000, 100), ("long", 2000, 200), ("warm", 1000, 100), ("late", 1000, 100)]
    {
        let (ms, ios) = of(&document, name);
        assert!(ms.abs_diff(runtime) < 100, "{name}: {ms} ms");
        assert!(ios.abs_diff(operations) < 15, "{name}: {ios} operations");
    }
}

#[test]
fn bytes_end_a_warm_up() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --ioengine=null --bs=4k --size=1m --rate_iops=500 --ramp_size=400k --write_iops_log=l \
                --log_avg_msec=100";
    let document = json(&fathom, line);
    // 100 operations in 200 ms, and then all of the job in 512 ms.
    let (ms, ios) = of(&document, "a");
    assert_eq!(ios, 256);
    assert!((450..700).contains(&ms), "{ms} ms");
    let log = std::fs::read_to_string(dir.path().join("l_iops.1.log")).expect("a log");
    assert!(log.starts_with("100, ") && (4..=7).contains(&log.lines().count()), "{log}");
}

#[test]
fn who_has_no_runtime_goes_on_to_its_end() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    // 64 operations at 50 a second.
    let line = "--ioengine=null --bs=4k --size=256k --rate_iops=50 --name=all --name=cut --runtime=500ms";
    let document = json(&fathom, line);
    assert_eq!(of(&document, "all").1, 64);
    assert!(of(&document, "cut").1 < 40, "{document}");
}

#[test]
fn one_exitall_makes_every_job_end_the_others() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let ended = |exits: &str, other: &str| {
        let line =
            format!("{PACED} --name=first --runtime=500ms {exits} --name=second --runtime=1500ms {other}");
        of(&json(&fathom, &line), "second").0
    };
    // fio 3.33 and 3.42: 500 ms.
    for (first, second) in [
        ("--exitall", ""),
        ("", "--exitall"),
        ("", "--exitall=0"),
        ("", "--name=third --stonewall --runtime=1ms --exitall"),
    ] {
        assert!(ended(first, second) < 1000, "{first} {second}");
    }
    assert!(ended("", "") > 1400);
    // Nor is one waited for that has not begun.
    let begun = std::time::Instant::now();
    let line = format!("{PACED} --name=a --runtime=500ms --exitall --name=late --runtime=1 --startdelay=100");
    json(&fathom, &line);
    assert!(begun.elapsed().as_secs() < 60);
}

#[test]
fn a_job_runs_on_its_cpus_or_is_refused() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let allowed = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = allowed.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned();
    for policy in ["shared", "split"] {
        let line = format!(
            "--name=a --size=64k --rw=write --numjobs=2 --cpus_allowed={list} --cpus_allowed_policy={policy}"
        );
        run(&fathom, &line).expect_code(0);
    }
    // Where there are nodes, some have CPUs.
    if std::path::Path::new("/sys/devices/system/node/online").exists() {
        run(&fathom, "--name=n --size=64k --rw=write --numa_cpu_nodes=999")
            .expect_code(1)
            .expect_stderr("the machine has no node 999");
    }
    run(&fathom, "--name=b --size=64k --rw=write --cpus_allowed=1023")
        .expect_code(1)
        .expect_stderr("fathom may not use CPU 1023");
    assert!(!dir.path().join("b.0.0").exists());
    run(&fathom, "--name=c --size=64k --rw=write --prio=7 --nice=1").expect_code(0);
}

#[test]
fn a_pause_comes_once_in_so_many_operations() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    // fio 3.33: 4, 2 and 2 pauses.
    for (blocks, pauses) in [(2, 4), (3, 2), (4, 2)] {
        let line = format!(
            "--name=a --ioengine=null --size=32k --bs=4k --thinktime=200ms --thinktime_spin=10ms \
             --thinktime_blocks={blocks}"
        );
        let (ms, _) = of(&json(&fathom, &line), "a");
        assert!((pauses * 200..pauses * 200 + 195).contains(&ms), "{blocks}: {ms} ms");
    }
}

#[test]
fn with_a_rate_a_pause_is_made_up_for_or_is_not() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    // fio 3.42: 50 and 40 operations, ten between two pauses.
    let line = format!("{PACED} --bs=4k --thinktime=200ms --thinktime_blocks=10 --runtime=1 --name=a");
    let (_, made_up) = of(&json(&fathom, &line), "a");
    let (_, postponed) = of(&json(&fathom, &format!("{line} --rate_ignore_thinktime=1")), "a");
    assert!((20..=41).contains(&postponed) && made_up > postponed, "{made_up} {postponed}");
}

/// What a queue holds ends before a pause begins.
#[test]
fn a_queue_pauses_too() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for kind in ["complete", "issue"] {
        let line = format!(
            "--name=a --rw=randread --size=128k --bs=4k --ioengine=libaio --iodepth=4 --thinktime=100ms \
             --thinktime_blocks=4 --thinktime_blocks_type={kind}"
        );
        let document = json(&fathom, &line);
        let job = &document["jobs"][0];
        // At least four: what ends while those in flight do counts for the next one.
        assert!(job["read"]["runtime"].as_u64().unwrap() >= 400, "{kind}: {job}");
        assert_eq!(job["read"]["total_ios"], 32);
        // No operation takes the pause with it.
        assert!(job["read"]["clat_ns"]["mean"].as_f64().unwrap() < 80e6, "{kind}: {}", job["read"]);
    }
}

#[test]
fn writes_have_a_rate_and_reads_come_in_between() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    for engine in ["psync", "libaio --iodepth=4"] {
        let line = format!(
            "--name=a --rw=randrw --rwmixwrite=95 --size=1m --bs=4k --ioengine={engine} --rate_iops=,20 \
             --runtime=1 --time_based"
        );
        let document = json(&fathom, &line);
        let job = &document["jobs"][0];
        let ios = |side: &str| job[side]["total_ios"].as_u64().unwrap();
        assert!(ios("write") <= 22, "{engine}: {} writes", ios("write"));
        assert!(ios("read") > ios("write"), "{engine}: {} reads", ios("read"));
    }
}
