//! Output for other programs: JSON keys and types, bins, fields, and matched lines.

use super::both::{Both, WHO, jobs};
use crate::fio::support::percentiles_are_those_of_the_bins;
use serde_json::Value;
use std::process::{Command, Stdio};

/// The keys of a document as they are printed, each with its indentation; without those of options, devices, and our own.
fn keys(text: &str) -> Vec<String> {
    const SKIPPED: [&str; 4] = ["job options", "global options", "fathom", "disk_util"];
    let mut skipping: Option<usize> = None;
    let mut found = Vec::new();
    for line in text.lines() {
        let inside = line.trim_start();
        let indent = line.len() - inside.len();
        if let Some(from) = skipping {
            if indent == from && inside.starts_with(['}', ']']) {
                skipping = None;
            }
            continue;
        }
        let Some((key, value)) = inside.strip_prefix('"').and_then(|l| l.split_once("\" : ")) else {
            continue;
        };
        if !SKIPPED.contains(&key) {
            found.push(format!("{indent} {key}"));
        } else if value == "{" || value == "[" {
            skipping = Some(indent);
        }
    }
    found
}

/// Whether a number is written with six decimals.
fn six_decimals(value: &str) -> bool {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    value.split_once('.').is_some_and(|(whole, rest)| digits(whole) && rest.len() == 6 && digits(rest))
}

#[test]
fn case_19_json_has_the_keys_and_types_of_fio() {
    let Some(both) = Both::new("case_19_json_has_the_keys_and_types_of_fio") else { return };
    let line = "--output-format=json --name=a --rw=randrw --size=1m --description=x";
    let ends = both.run(line);
    for (who, end) in WHO.iter().zip(&ends) {
        let mut seen = 0;
        for line in end.stdout.lines() {
            let Some((key, value)) = line.trim().split_once(" : ") else { continue };
            let value = value.trim_end_matches(',');
            match key {
                "\"iops\"" | "\"bw_agg\"" | "\"usr_cpu\"" | "\"sys_cpu\"" | "\"stddev\"" | "\"mean\"" => {
                    assert!(six_decimals(value), "{who}: {line}");
                    seen += 1;
                }
                "\"bw_bytes\"" | "\"bw_min\"" | "\"min\"" | "\"max\"" | "\"N\"" | "\"runtime\"" => {
                    assert!(value.bytes().all(|b| b.is_ascii_digit()), "{who}: {line}");
                    seen += 1;
                }
                _ => {}
            }
        }
        assert!(seen > 40, "{who}: {seen}");
    }
    // In order: users search for them with grep.
    assert_eq!(keys(&ends[0].stdout), keys(&ends[1].stdout));
}

#[test]
fn case_20_percentiles_are_those_of_the_bins() {
    let Some(both) = Both::new("case_20_percentiles_are_those_of_the_bins") else { return };
    let line = "--output-format=json+ --name=a --rw=randread --size=4m --lat_percentiles=1";
    for (who, end) in WHO.iter().zip(both.run(line)) {
        let document: Value = serde_json::from_str(&end.stdout).unwrap_or_else(|e| panic!("{who}: {e}"));
        for kind in ["clat_ns", "lat_ns"] {
            let latencies = &jobs(&document)[0]["read"][kind];
            percentiles_are_those_of_the_bins(latencies, &format!("{who} {kind}"));
        }
    }
}

#[test]
fn case_22_terse_lines_have_the_fields_of_fio() {
    let Some(both) = Both::new("case_22_terse_lines_have_the_fields_of_fio") else { return };
    let line = "--minimal --name=a --rw=rw --size=4m --bs=4k";
    let mut counts = Vec::new();
    for (more, only) in [("--disk_util=0", Some(121)), ("", None)] {
        for (who, end) in WHO.iter().zip(both.run(&format!("{line} {more}"))) {
            let fields: Vec<&str> = end.stdout.trim().split(';').collect();
            if let Some(only) = only {
                assert_eq!(fields.len(), only, "{who}");
            } else {
                counts.push(fields.len());
            }
            // Of reads and of writes: KiB, KiB/s, operations/s, ms.
            for first in [5, 46] {
                let of = |at: usize| fields[first + at].parse::<f64>().unwrap();
                let (kib, rate, iops, ms) = (of(0), of(1), of(2), of(3));
                // A time of a few milliseconds is rounded to them.
                if ms >= 20.0 {
                    assert!((rate / (kib * 1000.0 / ms) - 1.0).abs() < 0.1, "{who}: {}", end.stdout);
                }
                assert!((iops * 4.0 - rate).abs() <= 0.01 * rate + 8.0, "{who}: {}", end.stdout);
            }
        }
    }
    // Nine more for each disk, 130 with one; a file system without a device has none.
    assert_eq!(counts[0], counts[1]);
    assert!((counts[0] - 121).is_multiple_of(9), "{}", counts[0]);
}

/// Patterns by which scripts find figures in the text, as extended regular expressions.
const PATTERNS: [&str; 5] = [
    r"^  read: IOPS=[0-9.]+[kM]?, BW=[0-9.]+[KMG]?i?B/s \([0-9.]+[kMG]?B/s\)\([0-9.]+[KMG]?i?B/[0-9]+msec\)",
    r"^  write: IOPS=[0-9.]+[kM]?, BW=[0-9.]+[KMG]?i?B/s \([0-9.]+[kMG]?B/s\)\([0-9.]+[KMG]?i?B/[0-9]+msec\)",
    r"^     lat \((nsec|usec|msec)\): min= *[0-9.]+k?, max= *[0-9.]+k?, avg= *[0-9.]+, stdev= *[0-9.]+",
    r"^   READ: bw=[0-9.]+[KMG]?i?B/s \([0-9.]+[kMG]?B/s\), .*io=[0-9.]+[KMG]?i?B \([0-9.]+[kMG]?B\), run=[0-9]+-[0-9]+msec",
    r"^  WRITE: bw=[0-9.]+[KMG]?i?B/s",
];

#[test]
fn case_23_the_text_has_the_lines_that_scripts_match() {
    let test = "case_23_the_text_has_the_lines_that_scripts_match";
    let Some(both) = Both::new(test) else { return };
    if !fathom_testkit::need_tool(test, "grep") {
        return;
    }
    let ends = both.run("--name=a --rw=randrw --size=4m --output=out");
    assert_eq!(ends.map(|end| end.code), [Some(0), Some(0)]);
    for (who, dir) in WHO.iter().zip(both.directories()) {
        for pattern in PATTERNS {
            let mut grep = Command::new("grep");
            grep.args(["-E", "-q", "--", pattern]).arg(dir.join("out")).stdin(Stdio::null());
            let text = std::fs::read_to_string(dir.join("out")).unwrap();
            assert!(grep.status().unwrap().success(), "{who}: {pattern} is not in\n{text}");
        }
    }
}
