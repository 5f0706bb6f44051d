//! fio's own raw-speed program, t/io_uring, as a contender. It prints operations a second once a second with three digits; CPU time
//! is that of the process.

use super::{Site, printed, whole_seconds};
use crate::bench::pin;
use crate::bench::sample::{self, Sample};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::process::Command;

/// Runs it with these options, without polled completions, for the time of the site and the second it needs besides.
pub fn measure(program: &Path, site: &Site<'_>, options: &str) -> Result<Sample> {
    let mut command = Command::new(program);
    // The first second is not printed if the run ends with it.
    command.args(["-p0", "-b4096", "-n1", "-R1"]).arg(format!("-r{}", whole_seconds(site.seconds) + 1));
    command.args(options.split_ascii_whitespace()).arg(site.path).current_dir(site.dir);
    let ended = sample::run(pin::command(&mut command, pin::cpu()))?;
    let text = printed(&ended.output);
    let iops = mean_iops(&text).with_context(|| format!("t/io_uring: {text}"))?;
    Ok(sample::of_whole_life(&ended, 1e9 / iops))
}

/// The mean over its seconds; the maximum it closes with is its best second, not its speed.
fn mean_iops(text: &str) -> Option<f64> {
    let seconds: Vec<f64> =
        text.lines().filter_map(|line| number(line.strip_prefix("IOPS=")?.split(',').next()?)).collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    (mean > 0.0).then_some(mean)
}

/// "1.91M", "679K", "50".
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'M' => (&text[..text.len() - 1], 1e6),
        b'K' => (&text[..text.len() - 1], 1e3),
        _ => (text, 1.0),
    };
    Some(digits.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_averaged() {
        let text = "submitter=0, tid=1, file=x\nIOPS=1.90M, BW=7.47GiB/s, IOS/call=16/16\nIOPS=1.70M, BW=6GiB/s\n\
                    Exiting on timeout\nMaximum IOPS=1.90M\n";
        assert_eq!(mean_iops(text), Some(1.8e6));
        assert_eq!(mean_iops("IOPS=50K, BW=1MiB/s\n"), Some(50e3));
        assert_eq!(mean_iops("IOPS=512, BW=2MiB/s\n"), Some(512.0));
        assert_eq!(mean_iops("Exiting on timeout\nMaximum IOPS=0\n"), None);
    }
}
