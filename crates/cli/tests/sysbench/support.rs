//! What the tests of this folder share: a command line in one string, and figures taken out of an output.

use fathom_testkit::{Fathom, Outcome, skip};
use std::path::Path;
use std::process::{Command, Output};

/// Where Debian puts it.
pub const SYSBENCH: &str = "/usr/bin/sysbench";

/// `fathom sysbench LINE`.
#[track_caller]
pub fn run(fathom: &Fathom, line: &str) -> Outcome {
    fathom.run_line(&format!("sysbench {line}"))
}

/// The number behind a title: `value("...", "reads/s:")`.
#[track_caller]
pub fn value(output: &str, title: &str) -> f64 {
    values(output, title).last().copied().unwrap_or_else(|| panic!("no {title} in\n{output}"))
}

/// All of them, in order.
pub fn values(output: &str, title: &str) -> Vec<f64> {
    let of = |line: &str| line.trim().strip_prefix(title)?.trim().trim_end_matches('s').parse().ok();
    output.lines().filter_map(of).collect()
}

/// Whether SysBench itself is here; if not, the test is noted as skipped.
pub fn sysbench_is_here(test: &str) -> bool {
    let here = Path::new(SYSBENCH).exists();
    if !here {
        skip(test, "SysBench is not installed as /usr/bin/sysbench");
    }
    here
}

/// SysBench itself, in a directory.
pub fn theirs(directory: &Path, line: &str) -> Output {
    Command::new(SYSBENCH)
        .args(line.split_whitespace())
        .current_dir(directory)
        .output()
        .unwrap_or_else(|e| panic!("{SYSBENCH}: {e}"))
}
