//! Shared by the tests of this folder: a command line in one string, and the JSON of both programs.

use fathom_testkit::{Fathom, Outcome, skip};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Debian's path.
pub const FIO: &str = "/usr/bin/fio";
/// The version that Debian has, whose outputs are compared with ours.
pub const DEBIANS: &str = "3.33";

/// `fathom fio LINE`.
#[track_caller]
pub fn run(fathom: &Fathom, line: &str) -> Outcome {
    fathom.run_line(&format!("fio {line}"))
}

/// The JSON of `fathom fio LINE`; nothing else may be on stdout.
#[track_caller]
pub fn json(fathom: &Fathom, line: &str) -> Value {
    let text = run(fathom, &format!("--output-format=json {line}")).expect_code(0).stdout;
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}:\n{text}"))
}

/// Whether fio itself is here; if not, the test is noted as skipped.
pub fn fio_is_here(test: &str) -> bool {
    let here = Path::new(FIO).exists();
    if !here {
        skip(test, "fio is not installed as /usr/bin/fio");
    }
    here
}

/// fio itself, in a directory.
pub fn theirs(directory: &Path, line: &str) -> Output {
    Command::new(FIO)
        .args(line.split_whitespace())
        .current_dir(directory)
        .env("SZ", "2m")
        .env_remove("UNSET")
        .output()
        .unwrap_or_else(|e| panic!("{FIO}: {e}"))
}

/// The JSON of fio itself.
#[track_caller]
pub fn their_json(directory: &Path, line: &str) -> Value {
    let output = theirs(directory, &format!("--output-format=json {line}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Notes of fio come before the document.
    let from = text.find('{').unwrap_or(0);
    serde_json::from_str(&text[from..]).unwrap_or_else(|e| panic!("{e}:\n{text}"))
}

/// Bins of json+ add up to the number of operations, and each percentile is the first bin that reaches its share of them.
#[track_caller]
pub fn percentiles_are_those_of_the_bins(latencies: &Value, of: &str) {
    let bins = latencies["bins"].as_object().expect("bins");
    let mut bins: Vec<(u64, u64)> =
        bins.iter().map(|(ns, n)| (ns.parse().expect("a number"), n.as_u64().expect("a count"))).collect();
    bins.sort_unstable();
    let all: u64 = bins.iter().map(|bin| bin.1).sum();
    assert_eq!(Some(all), latencies["N"].as_u64(), "{of}");
    for (percent, value) in latencies["percentile"].as_object().expect("percentiles") {
        let wanted = percent.parse::<f64>().expect("a percentage") / 100.0 * all as f64;
        let mut running = 0;
        let reached = bins.iter().find(|(_, n)| {
            running += n;
            running as f64 >= wanted
        });
        assert_eq!(reached.map(|bin| bin.0), value.as_u64(), "{of} {percent}");
    }
}
