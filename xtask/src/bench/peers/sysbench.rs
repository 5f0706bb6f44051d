//! sysbench as a contender: its fileio test on one file. It reports operations a second; CPU time is that of the process.

use super::{Site, printed, whole_seconds};
use crate::bench::sample::{self, Sample};
use crate::bench::{files, pin};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::process::Command;

/// Runs a test mode with further options for the time of the site.
pub fn measure(sysbench: &Path, site: &Site<'_>, options: &str) -> Result<Sample> {
    // sysbench works on files of fixed names in the directory it is started in.
    let dir = site.dir.join("sysbench");
    files::link(site.path, &dir.join("test_file.0"))?;
    let mut command = Command::new(sysbench);
    command.arg("fileio").args(["--file-num=1", "--file-block-size=4096", "--file-io-mode=sync"]);
    command.args(options.split_ascii_whitespace());
    command.arg(format!("--file-total-size={}", site.file_bytes));
    command.arg(format!("--time={}", whole_seconds(site.seconds))).arg("run");
    let ended = sample::run(pin::command(command.current_dir(dir), pin::cpu()))?;
    let text = printed(&ended.output);
    let wall_ns = per_operation(&text).with_context(|| format!("sysbench: {text}"))?;
    Ok(sample::of_whole_life(&ended, wall_ns))
}

/// Nanoseconds per read or write, from the rates.
pub fn per_operation(text: &str) -> Option<f64> {
    let rate = |name: &str| -> Option<f64> {
        text.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().parse().ok())
    };
    let both = rate("reads/s:")? + rate("writes/s:")?;
    (both > 0.0).then(|| 1e9 / both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_are_added() {
        let text =
            "File operations:\n    reads/s:    300000.00\n    writes/s:   200000.00\n    fsyncs/s:  7.00\n";
        assert_eq!(per_operation(text), Some(2000.0));
        assert_eq!(per_operation("reads/s: 0.00\nwrites/s: 0.00\n"), None);
        assert_eq!(per_operation("FATAL: no file\n"), None);
    }
}
