//! Ranks and hosts that fail or stop while a phase runs.

use crate::two_hosts::{Hosts, sh};
use crate::writes_and_reads;
use fathom_record::{Run, Status};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Waits for the program, at most `within`.
fn ends(mut child: Child, within: Duration) -> (i32, String, String) {
    let begin = Instant::now();
    loop {
        if child.try_wait().unwrap().is_some() {
            let all = child.wait_with_output().unwrap();
            let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
            return (all.status.code().unwrap_or(-1), text(&all.stdout), text(&all.stderr));
        }
        if begin.elapsed() > within {
            let _ = child.kill();
            panic!("it did not end within {within:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

const LONG: &str = "pace = { think = { time = \"1ms\", asleep = true } }\namount = \"endless\"";

fn long(ranks: &str) -> String {
    writes_and_reads(ranks, LONG).replace("log_operations = true\npace", "pace").replace(
        "before = [{ recreate = \"f\" }]\n",
        "before = [{ recreate = \"f\" }]\nstop = { time = \"60s\" }\n",
    )
}

/// Starts a run whose output is read at its end.
fn start(hosts: &Hosts, mpirun: &str, file: &str) -> Child {
    let mut command = hosts.command(mpirun, &format!("run {file}"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the last rank, which is on host b, has written `bytes`.
fn writes(hosts: &Hosts, bytes: u64) {
    let until = Instant::now() + Duration::from_secs(60);
    while !std::fs::metadata(hosts.path("shared/data.r0003")).is_ok_and(|m| m.len() >= bytes) {
        assert!(Instant::now() < until, "the ranks did not begin to write");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn a_rank_is_killed(options: &str) -> (i32, String, Run, Duration) {
    let hosts = Hosts::shared().expect("looked for before");
    let file = hosts.workload(&long(""));
    let child = start(&hosts, &format!("-n 4 {options}"), &file);
    writes(&hosts, 1 << 20);
    // The actual rank is the child of the process that the launcher started; its workers are younger still.
    let b = &hosts.names[1];
    let found = sh(&format!(
        "for p in $(ip netns pids {b}); do grep -lq RANK=3 /proc/$p/environ 2>/dev/null && \
        test \"$(cat /proc/$p/comm)\" = fathom-mpi && echo $p; done | sort -n | tail -1"
    ));
    let victim = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let begin = Instant::now();
    assert!(sh(&format!("kill -9 {victim}")).status.success());
    let (code, _, err) = ends(child, Duration::from_secs(15));
    let took = begin.elapsed();
    let run = hosts.last();
    (code, err, run, took)
}

/// Stops every process on host b for five seconds and returns what the run prints.
fn a_host_stops(workload: &str) -> Option<(String, Run)> {
    let hosts = Hosts::shared()?;
    let file = hosts.workload(workload);
    let child = start(&hosts, "-n 4", &file);
    writes(&hosts, 1 << 20);
    let b = &hosts.names[1];
    assert!(sh(&format!("ip netns pids {b} | xargs kill -STOP")).status.success());
    std::thread::sleep(Duration::from_secs(5));
    assert!(sh(&format!("ip netns pids {b} | xargs kill -CONT")).status.success());
    let (code, out, err) = ends(child, Duration::from_secs(60));
    assert_eq!(code, 0, "{out}{err}");
    let run = hosts.last();
    assert_eq!(run.status, Status::Completed, "{err}");
    Some((out, run))
}

fn both_ranks_of_host_b_stood_still(out: &str) {
    let out = out
        .lines()
        .find(|l| l.starts_with("write ") && l.contains(" on host"))
        .unwrap_or_else(|| panic!("{out}"));
    for rank in [2, 3] {
        let named = out.split(&format!("{rank} on hostb (")).nth(1).unwrap_or_else(|| panic!("{out}"));
        let named = named.split(')').next().unwrap();
        let still = named.split("stood still for ").nth(1).and_then(|s| s.strip_suffix(" s"));
        let still: f64 = still.and_then(|s| s.parse().ok()).unwrap_or_else(|| panic!("{named}\n{out}"));
        // Its watcher's short sleep may have been about to end when the stop came.
        assert!(still >= 4.9, "rank {rank}: {named}");
    }
    assert!(!out.contains("on hosta ("), "{out}");
}

#[test]
fn ranks_of_a_host_that_stopped_are_named_with_the_cause() {
    // The work is given: the others are done while host b stands still, and wait for it.
    let amount = "pace = { think = { time = \"4ms\", asleep = true } }";
    let text = writes_and_reads("", amount).replace("log_operations = true\n", "");
    let Some((out, run)) = a_host_stops(&text) else { return };
    println!("{out}");
    both_ranks_of_host_b_stood_still(&out);
    assert_eq!(run.phases[0].repetitions[0].ops(), 4 * 512, "nothing is missing");
}

#[test]
fn a_stop_by_time_does_not_hide_a_host_that_stopped() {
    let text = long("").replace("60s", "9s");
    let Some((out, _)) = a_host_stops(&text) else { return };
    both_ranks_of_host_b_stood_still(&out);
}

#[test]
fn a_rank_that_is_killed_ends_all_and_what_was_measured_is_kept() {
    if Hosts::shared().is_none() {
        return;
    }
    let (code, err, run, took) = a_rank_is_killed("");
    println!("ended with {code} after {took:?}");
    assert_eq!(code, 3, "{err}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(run.status, Status::Failed, "{err}");
    assert!(err.contains("rank 3 on hostb"), "{err}");
    assert_eq!(err.matches("error:").count(), 1, "{err}");
    let ops = run.phases.first().map_or(0, |p| p.repetitions[0].ops());
    assert!(ops > 0, "what the others had done is kept");
    assert!(run.error.is_some());
}

#[test]
fn a_launcher_that_does_not_care_is_no_reason_to_wait_for_ever() {
    if Hosts::shared().is_none() {
        return;
    }
    let (_, err, run, took) = a_rank_is_killed("--enable-recovery");
    println!("ended after {took:?}");
    assert!(err.contains("rank 3 has not answered for"), "{err}");
    assert_eq!(run.status, Status::Failed);
    assert!(run.phases[0].repetitions[0].ops() > 0);
}

#[test]
fn a_host_whose_disk_is_full_ends_all_with_one_error() {
    let tmpfs = "mount -t tmpfs -o size=6m none $DIR/mnt";
    let Some(hosts) = Hosts::new(["mount --bind $DIR/a $DIR/mnt", tmpfs]) else { return };
    let text = long("").replace("8MiB", "64MiB").replace("1ms", "200us");
    let file = hosts.workload(&text);
    let begin = Instant::now();
    let (code, out, err) = hosts.run(&format!("run {file}"));
    println!("ended after {:?}", begin.elapsed());
    assert_eq!(code, 3, "{out}{err}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert!(err.contains("on hostb") && err.contains("No space left"), "{err}");
    assert_eq!(err.matches("error:").count(), 1, "{err}");
    let run = hosts.last();
    assert_eq!(run.status, Status::Failed);
    assert_eq!(run.phases[0].repetitions[0].workers.len(), 4, "all shares are there");
}

#[test]
fn a_directory_that_is_not_shared_is_told_before_anything_is_measured() {
    let bind = ["mount --bind $DIR/a $DIR/mnt", "mount --bind $DIR/b $DIR/mnt"];
    let Some(hosts) = Hosts::new(bind) else { return };
    let file = hosts.workload(&writes_and_reads("[ranks]\nshared = { f = \"segmented\" }", ""));
    let (code, _, err) = hosts.run(&format!("run {file}"));
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("is not one directory for all ranks") && err.contains("2 on hostb"), "{err}");
    assert_eq!(err.matches("error:").count(), 1, "{err}");
}
