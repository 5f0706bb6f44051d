//! `cargo xtask bench sim-replay`: how fast the simulator replays a trace and executes a workload, in requests of the device per second
//! of CPU time, and how much memory it takes for ten times as long a trace. The arrivals are made up on the way, so that no file is
//! measured. Each measurement is a separate process; CPU time and maximum resident size are the kernel's figures.

use super::dropin::write_json;
use super::interrupt;
use super::machine::Machine;
use super::options::Options;
use super::progress;
use super::spread::Spread;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 3;
const REQUESTS: u64 = 2_000_000;
/// What is compared for memory: a trace, and one ten times as long.
const SHORT: u64 = 10_000_000;
const LONG: u64 = 100_000_000;
/// Bounds of the whole: CPU time and resident memory of the long trace, growth from the short one, and a start.
const LONG_S: f64 = 150.0;
const RESIDENT_KIB: u64 = 64 << 10;
const GROWTH_KIB: u64 = 512;
const START_MS: f64 = 20.0;

/// Device, scheduler, arrivals under way, bound in requests per second.
const REPLAYS: [(&str, &str, u32, Option<f64>); 8] = [
    ("deskstar-60gxp", "mq-deadline", 32, Some(1e6)),
    ("sata-7200-ncq", "mq-deadline", 32, Some(1e6)),
    ("sata-7200-ncq", "mq-deadline", 256, None),
    ("sata-7200-ncq", "none", 32, None),
    ("sata-7200-ncq", "kyber", 32, None),
    ("sata-7200-ncq", "bfq-lite", 32, None),
    ("smartarray-6i-h1", "mq-deadline", 32, None),
    ("ssd-generic", "mq-deadline", 32, None),
];

/// All layers: what each thread does, and the bound.
const STACKS: [(&str, &str, Option<f64>); 3] = [
    ("full stack: random reads", "direction = \"read\"\naccess = \"uniform\"", Some(3e5)),
    ("full stack: sequential reads", "direction = \"read\"", None),
    (
        "full stack: random mix",
        "direction = { mix = { read-percent = 60 } }\naccess = \"uniform\"",
        Some(3e5),
    ),
];
const STACK_OPERATIONS: u64 = 40_000;

/// What a process took.
struct Took {
    cpu_s: f64,
    wall_s: f64,
    resident_kib: u64,
    out: Vec<u8>,
}

/// A row of the table.
struct Row {
    name: String,
    requests_per_s: Spread,
    bound: Option<f64>,
}

impl Row {
    fn missed(&self) -> bool {
        self.bound.is_some_and(|bound| self.requests_per_s.median < bound)
    }
}

/// Runs the bench: true if every bound holds, or nobody asked.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    options.refuse("sim-replay", &["--seconds", "--file-mib"])?;
    interrupt::note();
    let fathom = super::built(root)?;
    let machine = Machine::seen(root);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    println!("{}", machine.line());
    println!("requests of the device per second of CPU time, median of the rounds [least-most]\n");
    let rounds = options.rounds.unwrap_or(ROUNDS);
    let mut rows = Vec::new();
    for (device, scheduler, depth, bound) in REPLAYS {
        let name = format!("replay: {scheduler}, {device}, {depth} under way");
        if options.wants(&name) {
            let line = replay_line(REQUESTS, device, scheduler, depth);
            rows.push(row(&name, bound, rounds, || rate(&took(&fathom, dir.path(), &line)?, REQUESTS))?);
        }
    }
    for (number, (name, stream, bound)) in STACKS.into_iter().enumerate() {
        if options.wants(name) {
            let file = dir.path().join(format!("{number}.toml"));
            std::fs::write(&file, workload(stream))?;
            let line = vec![
                "sim".into(),
                "run".into(),
                file.display().to_string(),
                "--json".into(),
                "--no-store".into(),
            ];
            rows.push(row(name, bound, rounds, || {
                let took = took(&fathom, dir.path(), &line)?;
                let requests = device_requests(&took.out).context("no requests in the record")?;
                rate(&took, requests)
            })?);
        }
    }
    let whole = "100 M requests";
    let mut holds = rows.iter().all(|r| !r.missed());
    let mut all = json!({ "rows": rows.iter().map(as_json).collect::<Vec<Value>>() });
    if options.wants(whole) {
        let (text, found, ok) = memory(&fathom, dir.path())?;
        println!("{text}");
        all["memory"] = found;
        holds &= ok;
    }
    if let Some(path) = &options.json {
        all["schema"] = "fathom-bench-sim-replay/1".into();
        all["machine"] = machine.json();
        write_json(path, &all)?;
    }
    Ok(holds || !options.gate)
}

fn row(name: &str, bound: Option<f64>, rounds: usize, mut one: impl FnMut() -> Result<f64>) -> Result<Row> {
    let mut rates = Vec::with_capacity(rounds);
    for round in 0..rounds {
        progress(&format!("{name}, round {} of {rounds}", round + 1));
        rates.push(one()?);
    }
    progress("");
    let requests_per_s = Spread::of(&rates).context("no round was measured")?;
    let row = Row { name: name.to_owned(), requests_per_s, bound };
    let s = &row.requests_per_s;
    let verdict = match (bound, row.missed()) {
        (None, _) => String::new(),
        (Some(bound), false) => format!("  >= {} kept", thousands(bound)),
        (Some(bound), true) => format!("  >= {} MISSED", thousands(bound)),
    };
    println!(
        "{:<58} {:>9} [{}-{}]{verdict}",
        row.name,
        thousands(s.median),
        thousands(s.min),
        thousands(s.max)
    );
    Ok(row)
}

fn thousands(per_s: f64) -> String {
    format!("{:.0} k/s", per_s / 1e3)
}

fn as_json(row: &Row) -> Value {
    let s = &row.requests_per_s;
    json!({ "name": row.name, "median": s.median, "min": s.min, "max": s.max, "bound": row.bound })
}

/// The long trace beside the short one, and a start.
fn memory(fathom: &Path, dir: &Path) -> Result<(String, Value, bool)> {
    let one = |requests: u64| {
        progress(&format!("{requests} requests"));
        let took = took(fathom, dir, &replay_line(requests, "sata-7200-ncq", "mq-deadline", 32));
        progress("");
        took
    };
    let (start, short, long) = (one(1)?, one(SHORT)?, one(LONG)?);
    let growth_kib = long.resident_kib.saturating_sub(short.resident_kib);
    let start_ms = start.wall_s * 1e3;
    let ok = long.cpu_s < LONG_S
        && long.resident_kib <= RESIDENT_KIB
        && growth_kib <= GROWTH_KIB
        && start.cpu_s * 1e3 < START_MS;
    let text = format!(
        "\n100 M requests (mq-deadline, sata-7200-ncq): {:.1} s of CPU time (bound {LONG_S:.0}), {} KiB resident at most (bound {RESIDENT_KIB}), \
         {growth_kib} KiB more than 10 M (bound {GROWTH_KIB}, the kernel's own steps)\n\
         start and exit: {:.1} ms of CPU time (bound {START_MS:.0}), {start_ms:.1} ms on the clock: {}",
        long.cpu_s,
        long.resident_kib,
        start.cpu_s * 1e3,
        if ok { "kept" } else { "MISSED" }
    );
    let found = json!({
        "long_cpu_s": long.cpu_s, "long_resident_kib": long.resident_kib, "short_cpu_s": short.cpu_s,
        "short_resident_kib": short.resident_kib, "start_cpu_ms": start.cpu_s * 1e3, "start_wall_ms": start_ms, "kept": ok,
    });
    Ok((text, found, ok))
}

fn replay_line(requests: u64, device: &str, scheduler: &str, depth: u32) -> Vec<String> {
    let line = format!(
        "sim replay --synthetic {requests} --device {device} --scheduler {scheduler} --depth {depth} --json --no-store"
    );
    line.split(' ').map(str::to_owned).collect()
}

/// Sixteen threads on a set that is four times the memory of the host, so that most reads reach the device.
fn workload(stream: &str) -> String {
    format!(
        "name = \"stack\"\nseed = \"0x5eed\"\n[[fileset]]\nname = \"f\"\nfiles = {{ numbered = {{ prefix = \"f.\", count = 16 }} }}\n\
         size = {{ fixed = \"1GiB\" }}\n[[phase]]\nname = \"work\"\nbefore = [{{ evict = \"f\" }}]\n[[phase.group]]\nname = \"g\"\n\
         [[phase.group.thread]]\ninstances = 16\n[phase.group.thread.program.stream]\nfileset = \"f\"\nrecord = {{ fixed = \"4KiB\" }}\n\
         amount = {{ operations = {STACK_OPERATIONS} }}\n{stream}\n"
    )
}

/// Requests that the device completed in a record.
fn device_requests(record: &[u8]) -> Option<u64> {
    let run: Value = serde_json::from_slice(record).ok()?;
    let devices = run["phases"][0]["repetitions"][0]["block"]["devices"].as_array()?.clone();
    let classes = devices.iter().filter_map(|d| d["requests"].as_array()).flatten();
    Some(classes.filter_map(|c| c["completed"].as_u64()).sum())
}

fn rate(took: &Took, requests: u64) -> Result<f64> {
    ensure!(took.cpu_s > 0.0, "the process took no CPU time");
    Ok(requests as f64 / took.cpu_s)
}

/// Runs fathom and asks the kernel what it took.
fn took(fathom: &Path, dir: &Path, line: &[String]) -> Result<Took> {
    let out = dir.join("out.json");
    let mut command = Command::new(fathom);
    command.args(line).current_dir(dir).stdin(Stdio::null()).stdout(std::fs::File::create(&out)?);
    command.stderr(Stdio::null()).env("XDG_STATE_HOME", dir.join("state"));
    let start = Instant::now();
    let child = command.spawn().context("fathom could not be started")?;
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to local values that outlive the call; the child is ours and no other code waits for it.
    let ended = unsafe { libc::wait4(child.id() as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr()) };
    let wall_s = start.elapsed().as_secs_f64();
    if ended < 0 || interrupt::came() {
        bail!("interrupted while fathom was running");
    }
    ensure!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "fathom {} failed", line.join(" "));
    // SAFETY: the call succeeded and filled it; all zeroes is a value of it anyway.
    let usage = unsafe { usage.assume_init() };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    Ok(Took {
        cpu_s: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall_s,
        resident_kib: u64::try_from(usage.ru_maxrss).unwrap_or(0),
        out: std::fs::read(&out)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_all_classes_are_counted() {
        let record = br#"{"phases":[{"repetitions":[{"block":{"devices":[{"requests":[{"completed":3},{"completed":4}]}]}}]}]}"#;
        assert_eq!(device_requests(record), Some(7));
        assert_eq!(device_requests(b"{}"), None);
    }

    #[test]
    fn a_process_is_asked_what_it_took() {
        let dir = tempfile::tempdir().unwrap();
        let words = ["-c".to_owned(), "echo x".to_owned()];
        let took = took(Path::new("sh"), dir.path(), &words).unwrap();
        assert_eq!(took.out, b"x\n");
        assert!(took.resident_kib > 0 && took.wall_s > 0.0);
        assert!(super::took(Path::new("sh"), dir.path(), &["-c".into(), "exit 3".into()]).is_err());
    }
}
