//! Duration and speed. Bounds are wide: a loaded machine runs late, which is neither program's fault.

use super::both::{Both, WHO, jobs, number};
use crate::fio::support::FIO;
use fathom_testkit::{TestDir, need_tool};
use std::process::{Command, Stdio};

fn reads(document: &serde_json::Value) -> u64 {
    number(&jobs(document)[0]["read"]["total_ios"])
}

#[test]
fn case_14_the_runtime_is_a_cap_and_a_ramp_is_not_counted() {
    let Some(both) = Both::new("case_14_the_runtime_is_a_cap_and_a_ramp_is_not_counted") else { return };
    let capped = both.json("--name=a --ioengine=null --size=1m --bs=4k --runtime=5");
    assert_eq!(capped.map(|d| reads(&d)), [256, 256]);
    let line =
        "--name=a --ioengine=null --size=1g --bs=4k --time_based --ramp_time=1 --runtime=2 --rate_iops=1000";
    for (who, document) in WHO.iter().zip(both.json(line)) {
        let read = &jobs(&document)[0]["read"];
        let (ios, ms) = (number(&read["total_ios"]), number(&read["runtime"]));
        // With the ramp it would be three thousand.
        assert!((200..=2500).contains(&ios), "{who}: {ios} in {ms} ms");
        assert!(ms >= 1900, "{who}: {ms} ms");
    }
}

#[test]
fn case_15_rates_are_kept() {
    let Some(both) = Both::new("case_15_rates_are_kept") else { return };
    for (rate, iops) in [("--rate_iops=500", 500.0), ("--rate=2m --bs=4k", 512.0)] {
        let line = format!("--name=a --ioengine=null --size=4m {rate}");
        for (who, document) in WHO.iter().zip(both.json(&line)) {
            let found = jobs(&document)[0]["read"]["iops"].as_f64().unwrap();
            // A busy machine makes it late, never early; without the rate it would be a hundred times faster.
            assert!((iops / 5.0..iops * 1.05).contains(&found), "{who}: {found} with {rate}");
        }
    }
    let ends = both.run("--name=a --ioengine=null --size=1m --rate=1m --rate_iops=5");
    for (who, end) in WHO.iter().zip(ends) {
        assert_eq!(end.code, Some(1), "{who}");
        let said = end.stdout + &end.stderr;
        assert!(said.contains("rate and rate_iops are mutually exclusive"), "{who}: {said}");
    }
}

#[test]
fn case_15_gaps_of_a_poisson_process_are_exponential() {
    let test = "case_15_gaps_of_a_poisson_process_are_exponential";
    let Some(both) = Both::new(test) else { return };
    if !need_tool(test, "strace") {
        return;
    }
    both.empty("f", 4 << 20);
    let line = "--name=a --filename=f --size=4m --rw=randread --rate_iops=50 --rate_process=poisson --runtime=4 \
                --time_based";
    let ours = both.fathom().command(std::iter::once("fio").chain(line.split_whitespace()));
    let mut theirs = Command::new(FIO);
    theirs.args(line.split_whitespace()).current_dir(both.directories()[1]);
    for (who, command) in WHO.iter().zip([&ours, &theirs]) {
        let Some(times) = times(command, test) else { return };
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.len() > 100, "{who}: {}", gaps.len());
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let variation = variance.sqrt() / mean;
        // It is 1, give or take 0.08. Gaps of a constant rate have next to none; a loaded machine adds to it, without a limit.
        assert!(variation >= 0.6, "{who}: {variation}");
    }
}

/// When a command read its file, in seconds.
fn times(command: &Command, test: &str) -> Option<Vec<f64>> {
    let dir = TestDir::new();
    let log = dir.path().join("log");
    let mut tracer = Command::new("strace");
    tracer.args(["-f", "-q", "-y", "-ttt", "-e", "signal=none", "-e", "trace=pread64", "-o"]).arg(&log);
    tracer.arg("--").arg(command.get_program()).args(command.get_args());
    tracer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(directory) = command.get_current_dir() {
        tracer.current_dir(directory);
    }
    let done = tracer.stdin(Stdio::null()).output().unwrap();
    if !done.status.success() {
        fathom_testkit::skip(test, &format!("strace: {}", String::from_utf8_lossy(&done.stderr)));
        return None;
    }
    let text = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    let begun = text.lines().filter(|line| line.contains("pread64(") && line.contains("/f>"));
    Some(begun.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect())
}
