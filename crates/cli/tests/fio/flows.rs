//! Jobs that wait for each other and jobs with limits, alone and beside fio itself. What is compared are counts and their ratios, which
//! do not depend on how fast the machine is; where time has a part, bounds are wide.

use crate::fio::support::{fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir};
use serde_json::Value;

/// Reads and writes of every job.
fn ios(document: &Value) -> Vec<u64> {
    let of = |job: &Value, kind: &str| job[kind]["total_ios"].as_u64().expect("a count");
    let jobs = document["jobs"].as_array().expect("a list of jobs");
    jobs.iter().map(|job| of(job, "read") + of(job, "write")).collect()
}

/// Whether counts are as the weights, within a share of each.
fn in_ratio(counts: &[u64], weights: &[u64], tolerance: f64) -> bool {
    let (all, sum) = (counts.iter().sum::<u64>() as f64, weights.iter().sum::<u64>() as f64);
    let close = |count: u64, weight: u64| {
        let share = all * weight as f64 / sum;
        (count as f64 - share).abs() <= tolerance * share
    };
    counts.len() == weights.len() && counts.iter().zip(weights).all(|(count, weight)| close(*count, *weight))
}

#[test]
fn jobs_of_a_flow_do_operations_in_proportion() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let here = fio_is_here("jobs_of_a_flow_do_operations_in_proportion");
    for (line, weights) in [
        (
            "--ioengine=null --size=100g --runtime=1 --flow_id=1 --name=a --flow=1 --name=b --flow=5",
            &[1, 5][..],
        ),
        (
            "--ioengine=null --size=100g --runtime=1 --flow_sleep=100 --name=a --flow=1 --name=b --flow=5 --name=c --flow=10",
            &[1, 5, 10],
        ),
        (
            "--size=1m --runtime=1 --time_based --name=a --rw=randread --flow=3 --name=b --rw=write --flow=1",
            &[3, 1],
        ),
    ] {
        let ours = ios(&json(&fathom, line));
        assert!(in_ratio(&ours, weights, 0.05), "{line}: {ours:?}");
        if here {
            // How near fio's come depends on the machine; that it does the same jobs does not.
            let theirs = ios(&their_json(dir.path(), &format!("--thread {line}")));
            assert!(theirs.len() == weights.len() && theirs.iter().all(|n| *n > 0), "{line}: {theirs:?}");
        }
    }
}

#[test]
fn a_job_with_a_rate_is_the_rate_of_its_flow() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--ioengine=null --size=100g --runtime=2 --flow_id=1 --name=a --flow=1 --rate_iops=500 --name=b --flow=8";
    let counts = ios(&json(&fathom, line));
    assert!(in_ratio(&counts, &[1, 8], 0.05) && counts[0] <= 1001, "{counts:?}");
    // A job in another flow, or in none, does not wait.
    let line = "--ioengine=null --size=1m --name=a --flow=1 --rate_iops=100 --number_ios=20 --name=b --flow=1 --flow_id=2 --name=c";
    assert_eq!(ios(&json(&fathom, line)), [20, 256, 256]);
}

#[test]
fn who_is_done_lets_the_others_go() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--ioengine=null --size=100g --name=a --flow=1 --number_ios=1000 --name=b --flow=2 --number_ios=10000";
    assert_eq!(ios(&json(&fathom, line)), [1000, 10000]);
    if fio_is_here("who_is_done_lets_the_others_go") {
        assert_eq!(ios(&their_json(dir.path(), &format!("--thread {line}"))), [1000, 10000]);
    }
}

#[test]
fn a_rate_in_bytes_holds_for_blocks_of_any_size() {
    let here = fio_is_here("a_rate_in_bytes_holds_for_blocks_of_any_size");
    for (line, least) in [
        ("--name=a --rw=write --size=2m --bsrange=4k-64k --rate=4m", 450),
        ("--name=a --rw=randrw --size=2m --bssplit=4k/50:32k/50 --rate=2m,2m", 450),
        ("--name=a --rw=randwrite --size=1m --bsrange=4k-16k --rate=4m --ioengine=libaio --iodepth=8", 220),
    ] {
        let runtime = |document: &Value| {
            let of = |side| document["jobs"][0][side]["runtime"].as_u64().unwrap();
            of("read").max(of("write"))
        };
        let dir = TestDir::new();
        let ours = runtime(&json(&Fathom::new().working_in(dir.path()), line));
        assert!((least..20 * least).contains(&ours), "{line}: {ours} ms");
        if here {
            let theirs = runtime(&their_json(TestDir::new().path(), line));
            assert!(theirs >= least, "{line}: fio: {theirs} ms");
        }
    }
}

#[test]
fn a_rate_below_the_least_ends_its_job_in_the_words_of_fio() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let here = fio_is_here("a_rate_below_the_least_ends_its_job_in_the_words_of_fio");
    for (least, words) in [
        ("--rate_iops_min=100", "a: rate_iops_min=100 not met, got "),
        ("--rate_min=400k", "a: rate_min=409600B/s not met, got "),
    ] {
        // Ten a second; fio looks from the second second on.
        let line = format!(
            "--ioengine=null --size=1m --thinktime=100ms --runtime=30 {least} --rate_cycle=500 --name=a"
        );
        let outcome =
            run(&fathom, &format!("--output-format=json {line}")).expect_code(1).expect_stderr(words);
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(document["jobs"][0]["error"], 5);
        let done = ios(&document)[0];
        assert!((5..200).contains(&done), "{done}");
        if here {
            let output = theirs(dir.path(), &format!("--thread {line}"));
            assert_eq!(output.status.code(), Some(1));
            let said = [output.stdout, output.stderr].concat();
            assert!(String::from_utf8_lossy(&said).contains(words));
        }
    }
    // What is reached, or over before anything is looked at, is no error.
    json(&fathom, "--ioengine=null --size=100g --runtime=4 --rate_iops=1000 --rate_iops_min=2 --name=a");
    json(&fathom, "--ioengine=null --size=1m --number_ios=4 --thinktime=100ms --rate_iops_min=100 --name=a");
}

#[test]
fn a_latency_above_the_longest_ends_its_job() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--size=1m --rw=write --sync=1 --max_latency=1 --name=a";
    let outcome = run(&fathom, &format!("--output-format=json {line}"))
        .expect_code(1)
        .expect_stderr("exceeds specified max (1000 nsec)");
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["jobs"][0]["error"], 110);
    json(&fathom, "--size=1m --rw=write --max_latency=1h --name=a");
}

#[test]
fn exitall_ends_its_group_or_all_that_run() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let ms = |document: &Value, job: usize| document["jobs"][job]["read"]["runtime"].as_u64().unwrap();
    let paced = "--ioengine=null --size=1m --rate_iops=100 --time_based";
    let line = format!(
        "{paced} --name=a --runtime=500ms --exitall --name=b --runtime=60 --name=c --new_group --runtime=2"
    );
    let document = json(&fathom, &line);
    assert!(ms(&document, 1) < 1500, "{document}");
    assert!(ms(&document, 2) > 1800, "{document}");
    let document = json(&fathom, &line.replace("--exitall", "--exitall --exit_what=stonewall"));
    assert!(ms(&document, 1) < 1500 && ms(&document, 2) < 1500, "{document}");
}

#[test]
fn operations_that_overlap_wait_or_are_refused() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let line = "--name=a --size=16k --bs=4k --rw=randwrite --norandommap --io_size=1m --serialize_overlap=1";
    for engine in ["libaio", "io_uring", "psync", "null"] {
        assert_eq!(
            ios(&json(&fathom, &format!("{line} --ioengine={engine} --iodepth=8"))),
            [256],
            "{engine}"
        );
    }
    let offload = "--io_submit_mode=offload --numjobs=2";
    json(&fathom, &format!("{line} {offload} --ioengine=null"));
    run(&fathom, &format!("{line} {offload} --ioengine=libaio"))
        .expect_code(1)
        .expect_stderr("what several jobs have in flight");
}

#[test]
fn pauses_by_time_and_delays_that_are_drawn() {
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    // 100 ms of I/O, 400 of nothing: with 1000 a second, a fifth of them, and not all.
    let line = "--ioengine=null --size=100g --runtime=2 --thinktime=400ms --thinktime_iotime=100ms \
                --thinktime_blocks=1000000 --name=a";
    let document = json(&fathom, line);
    let all = ios(&document)[0];
    assert!(all > 1000, "{all}");
    let begun = std::time::Instant::now();
    json(&fathom, "--ioengine=null --size=4k --startdelay=1-2 --numjobs=2 --name=a");
    assert!(begun.elapsed().as_millis() >= 1000);
}
