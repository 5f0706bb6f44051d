//! `cargo xtask bench`: fathom beside the program it replaces and beside the physical floor, interleaved in one run, as ratios of
//! medians. These are the only places where a speed is claimed; no test depends on one.

mod cases;
mod claims;
mod dropin;
mod engine;
mod false_alarms;
mod files;
mod floor;
mod histogram;
mod instructions;
mod interrupt;
mod iozone;
mod isofs;
mod loop_device;
mod loop_disk;
mod machine;
mod observe;
mod options;
mod peers;
mod pin;
mod rate;
mod sample;
mod scheduling;
mod sim_replay;
mod spread;
mod stall;
mod sysbench_2004;
mod table;

use crate::Usage;
use anyhow::{Result, bail};
use options::Options;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Runs the bench of that name.
pub fn run(root: &Path, rest: &[String]) -> Result<bool> {
    const NAMES: &str = "iozone, engine, rate, instructions, sysbench, filebench, fio, fio-differential, filebench-files, sysbench-2004, observe, observe-read-ahead, sim-replay, agree, calibrate, isofs and false-alarms";
    let Some((name, rest)) = rest.split_first() else {
        bail!(Usage(format!("`bench` takes the name of a bench: there are {NAMES}.")))
    };
    if name == "filebench-files" {
        let Some((dir, rest)) = rest.split_first() else {
            bail!(Usage("`bench filebench-files` takes the directory of the *.f files.".into()))
        };
        return dropin::filebench_files::run(root, Path::new(dir), &Options::parse(rest)?);
    }
    if name == "fio-differential" {
        return dropin::differential::run(root, rest);
    }
    let options = Options::parse(rest)?;
    if options.sessions.is_some() && name != "false-alarms" {
        bail!(Usage(format!("`bench {name}` makes no use of --sessions.")))
    }
    match name.as_str() {
        "iozone" => iozone::run(root, options.rounds.unwrap_or(9)),
        "engine" => engine::run(root, &options),
        "rate" => rate::run(root, &options),
        "instructions" => instructions::run(root),
        "sysbench" => dropin::sysbench::run(root, &options),
        "filebench" => dropin::filebench::run(root, &options),
        "fio" => dropin::fio::run(root, &options),
        "sysbench-2004" => sysbench_2004::run(root, &options),
        "observe" => observe::overhead(root, &options),
        "observe-read-ahead" => observe::read_ahead(root, &options),
        "sim-replay" => sim_replay::run(root, &options),
        "agree" => scheduling::agree(root, &options),
        "calibrate" => scheduling::calibrate(root, &options),
        "isofs" => isofs::run(root, &options),
        "false-alarms" => false_alarms::run(root, &options),
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
    Ok(crate::steps::target_directory(root).join("release/fathom"))
}

/// Says on one line of a terminal what is going on; nothing elsewhere. An empty text clears the line.
fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}
