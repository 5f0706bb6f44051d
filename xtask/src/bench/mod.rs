//! `cargo xtask bench`: fathom beside the program it stands in for and beside the physical floor, interleaved in one run, as ratios of
//! medians. These are the only places where a speed is claimed; no test depends on one.

mod engine;
mod floor;
mod floor_calls;
mod iozone;

use crate::Usage;
use anyhow::{Result, bail};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the bench of that name.
pub fn run(root: &Path, rest: &[String]) -> Result<bool> {
    let (name, rounds) = match rest {
        [name] => (name.as_str(), 9),
        [name, rounds] => match rounds.parse() {
            Ok(n) if (1..=99).contains(&n) => (name.as_str(), n),
            _ => bail!(Usage(format!("`bench` takes a number of rounds from 1 to 99, not {rounds:?}."))),
        },
        _ => bail!(Usage("`bench` takes the name of a bench: iozone or engine.".into())),
    };
    match name {
        "iozone" => iozone::run(root, rounds),
        "engine" => engine::run(root, rounds),
        other => bail!(Usage(format!("There is no bench named {other:?}; there are iozone and engine."))),
    }
}

/// fathom, built as users build it.
fn built(root: &Path) -> Result<PathBuf> {
    let build = ["build", "--release", "--quiet", "-p", "fathom"];
    if !Command::new("cargo").args(build).current_dir(root).status()?.success() {
        bail!("fathom does not build");
    }
    Ok(root.join("target/release/fathom"))
}

/// A program on the path.
fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|d| d.join(name)).find(|p| p.is_file())
}

/// Writes a file of random bytes and makes it durable.
fn random_file(path: &Path, bytes: u64) -> Result<()> {
    let mut random = std::fs::File::open("/dev/urandom")?.take(bytes);
    let mut file = std::fs::File::create(path)?;
    std::io::copy(&mut random, &mut file)?;
    file.sync_all()?;
    Ok(())
}

/// Reads a file once: a kernel may have evicted pages that nobody used for a while.
fn warm(path: &Path) -> Result<()> {
    std::io::copy(&mut std::fs::File::open(path)?, &mut std::io::sink())?;
    Ok(())
}

/// Minimum, median and maximum.
fn spread(values: &mut [f64]) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let median = if n % 2 == 1 { values[n / 2] } else { f64::midpoint(values[n / 2 - 1], values[n / 2]) };
    (values[0], median, values[n - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(spread(&mut [4.0, 1.0, 3.0, 2.0]), (1.0, 2.5, 4.0));
    }
}
