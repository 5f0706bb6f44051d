//! `cargo xtask bench`: fathom beside the program it stands in for and beside the physical floor, interleaved in one run, as ratios of
//! medians. These are the only places where a speed is claimed; no test depends on one.

mod cases;
mod claims;
mod engine;
mod files;
mod floor;
mod histogram;
mod instructions;
mod iozone;
mod machine;
mod options;
mod peers;
mod pin;
mod rate;
mod sample;
mod spread;
mod stall;
mod table;

use crate::Usage;
use anyhow::{Result, bail};
use options::Options;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Runs the bench of that name.
pub fn run(root: &Path, rest: &[String]) -> Result<bool> {
    const NAMES: &str = "iozone, engine, rate and instructions";
    let Some((name, rest)) = rest.split_first() else {
        bail!(Usage(format!("`bench` takes the name of a bench: there are {NAMES}.")))
    };
    let options = Options::parse(rest)?;
    match name.as_str() {
        "iozone" => iozone::run(root, options.rounds.unwrap_or(9)),
        "engine" => engine::run(root, &options),
        "rate" => rate::run(root, &options),
        "instructions" => instructions::run(root),
        other => bail!(Usage(format!("There is no bench named {other:?}; there are {NAMES}."))),
    }
}

/// fathom, built as users build it.
fn built(root: &Path) -> Result<PathBuf> {
    let mut build = crate::steps::cargo(root);
    build.args(["build", "--release", "--quiet", "--package", "fathom"]);
    if !crate::steps::succeeds(&mut build)? {
        bail!("fathom does not build");
    }
    Ok(root.join("target/release/fathom"))
}

/// Says on one line of a terminal what is going on; nothing elsewhere. An empty text clears the line.
fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}
