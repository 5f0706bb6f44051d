//! Makes the traces of `--record PATH`: a short set of loads on one file below PATH, each run by `fathom run` while
//! `fathom trace record` records it. Both are child processes of this program, so recording starts and ends as usual,
//! and a run's files are removed as usual, also after Ctrl-C or a crash.

use super::super::super::trace::input::{self, Input};
use super::super::super::trace::options::TraceSource;
use super::super::super::trace::target;
use crate::console;
use crate::exit::Usage;
use anyhow::Context as _;
use fathom_engine::interrupted_by;
use fathom_observe::block::{Watched, availability};
use fathom_record::block::DeviceNumber;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The test file of every load, laid out first and removed afterwards.
const FILE: &str = "fathom-calibration.0";
/// Its largest size in bytes.
const LARGEST: u64 = 256 << 20;
/// A smaller file leaves large reads too few offsets.
const SMALLEST: u64 = 16 << 20;
/// Duration of each load without preparation.
const SECONDS: u64 = 2;
/// Polling interval for signals and the end of a load.
const STEP: Duration = Duration::from_millis(50);
/// Traces go to memory: on a disk, writing them would add requests.
const MEMORY: &str = "/dev/shm";

const RANDOM_READS: &str = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
    open = { direct = true }\nbackend = { aio = { batch = 1 } }\n";
const RANDOM_WRITES: &str = "direction = \"write\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
    open = { direct = true }\nbackend = { aio = { batch = 1 } }\n";
const LARGE_READS: &str = "direction = \"read\"\nrecord = { fixed = \"1MiB\" }\nopen = { direct = true }\n";
const SYNCED_WRITES: &str = "direction = \"write\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
    sync_every = { writes = 1 }\n";

/// (name, stream, queue depth).
const LOADS: [(&str, &str, u32); 7] = [
    ("random reads of 4 KiB, depth 1", RANDOM_READS, 1),
    ("random reads of 4 KiB, depth 4", RANDOM_READS, 4),
    ("random reads of 4 KiB, depth 32", RANDOM_READS, 32),
    ("sequential reads of 1 MiB", LARGE_READS, 1),
    ("random writes of 4 KiB, depth 1", RANDOM_WRITES, 1),
    ("random writes of 4 KiB, depth 32", RANDOM_WRITES, 32),
    ("writes of 4 KiB, each with fsync", SYNCED_WRITES, 1),
];

pub(super) enum Recorded {
    Traces(Traces),
    Interrupted(i32),
}

/// Traces in a temporary directory.
pub(super) struct Traces {
    pub inputs: Vec<Input>,
    /// PATH's device, as traces name it.
    pub device: String,
    _dir: TempDir,
}

pub(super) fn record(path: &Path) -> anyhow::Result<Recorded> {
    if !path.is_dir() {
        return Err(Usage(format!(
            "--record {}: there is no such directory; name one on the file system whose device is to be calibrated",
            path.display()
        ))
        .into());
    }
    if let Err(why) = availability().events {
        return Err(Usage(format!("--record needs the kernel's block events: {why}")).into());
    }
    let devices = target::devices(path)?;
    let device = top(&devices).context("no device")?;
    let bytes = file_size(path)?;
    console::note(&format!(
        "recording {} loads of {SECONDS} s each on {device}: each lays out one file of {} MiB, {}, and removes it",
        LOADS.len(),
        bytes >> 20,
        path.join(FILE).display()
    ));
    if let Some(limit) = limit_of(&fathom_observe::environment::capture(path), &devices) {
        console::warning(&format!(
            "a control group limits this device ({limit}): requests wait for it above the device, where a trace does not see them, so the \
             profile does not include the limit"
        ));
    }
    fathom_engine::watch_signals();
    let dir = place_for_traces()?;
    let bar = console::progress(LOADS.len() as u64);
    let mut inputs = Vec::new();
    for (n, (name, stream, depth)) in LOADS.iter().enumerate() {
        console::tell(&bar, name);
        let workload = dir.path().join(format!("{n}.toml"));
        let trace = dir.path().join(format!("{n}.fbl"));
        std::fs::write(&workload, text_of(name, stream, *depth, bytes))
            .context("a load cannot be written")?;
        let ended = one(path, &workload, &trace, dir.path());
        if let Some(signal) = interrupted_by() {
            bar.finish_and_clear();
            return Ok(Recorded::Interrupted(signal));
        }
        ended.inspect_err(|_| bar.finish_and_clear()).with_context(|| format!("--record: {name}"))?;
        let mut one = input::inputs(&TraceSource { files: vec![trace], from: None })?;
        // The trace file no longer exists when the profile is read.
        one.iter_mut().for_each(|input| input.name = (*name).into());
        inputs.append(&mut one);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Recorded::Traces(Traces { inputs, device, _dir: dir }))
}

/// The device directly below the file system.
fn top(devices: &[Watched]) -> Option<String> {
    devices.iter().min_by_key(|d| d.level).map(|d| d.name.clone())
}

/// The first limit on these devices that a control group of this process sets: its file and line.
fn limit_of(environment: &serde_json::Value, devices: &[Watched]) -> Option<String> {
    let files = environment.pointer("/limits/cgroup/io_max")?.as_object()?;
    files.iter().find_map(|(file, text)| {
        let line = text.as_str()?.lines().find(|line| {
            let number = line.split_whitespace().next().and_then(DeviceNumber::parse);
            number.is_some_and(|number| devices.iter().any(|d| d.number == number))
        })?;
        Some(format!("{file}: {line}"))
    })
}

/// The wanted size, and at most half the free space.
fn file_size(path: &Path) -> anyhow::Result<u64> {
    let room = rustix::fs::statvfs(path).with_context(|| format!("cannot look at {}", path.display()))?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    size_for(free).ok_or_else(|| {
        Usage(format!(
            "--record {}: {} MiB are free there, and {} are needed: the file takes at least {} MiB, and at most half of the free space",
            path.display(),
            free >> 20,
            SMALLEST >> 19,
            SMALLEST >> 20
        ))
        .into()
    })
}

/// In whole MiB; `None` if there is too little space.
fn size_for(free: u64) -> Option<u64> {
    let bytes = (free / 2).min(LARGEST) >> 20 << 20;
    (bytes >= SMALLEST).then_some(bytes)
}

fn place_for_traces() -> anyhow::Result<TempDir> {
    let mut how = tempfile::Builder::new();
    let _ = how.prefix("fathom-calibration-");
    how.tempdir_in(MEMORY).or_else(|_| how.tempdir()).context("no directory for the traces")
}

fn text_of(name: &str, stream: &str, depth: u32, bytes: u64) -> String {
    let depth = if depth > 1 { format!("queue_depth = {depth}\n") } else { String::new() };
    format!(
        "name = \"{name}\"\nseed = 1\n\n[[fileset]]\nname = \"data\"\nfiles = {{ list = [\"{FILE}\"] }}\n\
         size = {{ fixed = {bytes} }}\n\n[[phase]]\nname = \"{name}\"\nbefore = [{{ prepare = \"data\" }}, \"sync\"]\n\
         cache = \"cold\"\nstop = {{ time = \"{SECONDS}s\" }}\n\n[[phase.group]]\nname = \"worker\"\n\n\
         [[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = \"data\"\namount = \"endless\"\n{stream}{depth}"
    )
}

/// Records one load while it runs.
fn one(path: &Path, workload: &Path, trace: &Path, dir: &Path) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("the path of the running program is unknown")?;
    let said = dir.join("said");
    let log = std::fs::File::create(&said).context("cannot store the output of the load")?;
    let mut command = Command::new(&program);
    command.args(["trace", "record", "."]).arg("-o").arg(trace).arg("--");
    command.arg(&program).args(["run", "--no-store"]).arg(workload);
    // Its own process group: a terminal signal reaches only this process, which forwards it to both children.
    command.current_dir(path).process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let mut child = command.spawn().context("the program cannot be started again")?;
    let ended = wait(&mut child)?;
    if ended.success() {
        return Ok(());
    }
    let said = std::fs::read_to_string(said).unwrap_or_default();
    let errors: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("error: ")).collect();
    let errors = if errors.is_empty() { said.trim().to_owned() } else { errors.join("\n") };
    anyhow::bail!("the load failed: {errors}")
}

/// Waits for the end; forwards a signal once.
fn wait(child: &mut Child) -> anyhow::Result<ExitStatus> {
    let mut handed_on = false;
    loop {
        if let Some(ended) = child.try_wait().context("the recording cannot be waited for")? {
            return Ok(ended);
        }
        if let Some(signal) = interrupted_by()
            && !handed_on
        {
            handed_on = true;
            let signal = if signal == libc::SIGINT { Signal::INT } else { Signal::TERM };
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, signal);
            }
        }
        std::thread::sleep(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_takes_half_of_the_room_at_most() {
        assert_eq!(size_for(1 << 40), Some(LARGEST));
        assert_eq!(size_for((100 << 20) + 5), Some(50 << 20));
        assert_eq!(size_for(32 << 20), Some(SMALLEST));
        assert_eq!(size_for((32 << 20) - 1), None);
    }

    #[test]
    fn a_limit_of_this_device_is_found_and_no_other() {
        let device = |minor| Watched {
            number: DeviceNumber { major: 7, minor },
            level: 0,
            bio_based: false,
            name: format!("loop{minor}"),
            scheduled: false,
            partitions: Vec::new(),
        };
        let limits = serde_json::json!({ "/g/io.max": "8:0 rbps=1\n7:1 riops=2000" });
        let environment = serde_json::json!({ "limits": { "cgroup": { "io_max": limits } } });
        assert_eq!(limit_of(&environment, &[device(1)]), Some("/g/io.max: 7:1 riops=2000".into()));
        assert_eq!(limit_of(&environment, &[device(2)]), None);
        assert_eq!(limit_of(&serde_json::json!({}), &[device(1)]), None);
    }

    #[test]
    fn every_load_is_a_workload_that_runs() {
        for (name, stream, depth) in LOADS {
            let text = text_of(name, stream, depth, SMALLEST);
            let workload = crate::native::read(name, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert!(workload.check_to_run().is_ok(), "{text}");
        }
    }
}
