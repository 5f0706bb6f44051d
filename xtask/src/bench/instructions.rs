//! `cargo xtask bench instructions`: how many instructions an operation takes in user space, counted by valgrind's callgrind. A run of N
//! and one of 2N operations differ by N operations and nothing else, so start, end and set-up fall out. Counts do not depend on the
//! load of the machine; the test `instructions` of fathom's own holds them to a bound, on a profile that builds faster. Beside them
//! stands what an operation takes of a CPU in user mode and in the kernel, without valgrind.

use super::peers::{self, Site, fathom};
use super::sample::Sample;
use super::{files, progress};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::Path;
use std::process::Command;

const OPERATIONS: u64 = 100_000;
const ROUNDS: usize = 5;
const SECONDS: f64 = 0.3;
const STREAM: &str = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }";

/// Name, back-end of fathom, engine of fio.
const CASES: [(&str, &str, &str); 2] =
    [("null", "backend = \"null\"", "null"), ("pread, cached", "backend = { psync = \"pread\" }", "psync")];

/// Runs the bench.
pub fn run(root: &Path) -> Result<bool> {
    if peers::find("valgrind").is_none() {
        eprintln!("valgrind is not installed. To have it: apt-get install valgrind");
        return Ok(false);
    }
    let binary = super::built(root)?;
    let fio = peers::find("fio");
    if fio.is_none() {
        eprintln!("fio is not installed (apt-get install fio); its column stays empty");
    }
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let (path, file_bytes) = files::Files::new(dir.path(), 16, None).get(files::Kind::Data)?;
    let site = Site { dir: dir.path(), fathom: &binary, path: &path, file_bytes, seconds: 0.0 };
    println!(
        "per operation, 4 KiB random reads: instructions in user space, and CPU time (median of {ROUNDS} runs of {SECONDS} s)\n\
         {:<16} {:>10} {:>10} {:>14} {:>14}",
        "", "fathom", "fio", "fathom, ns", "fio, ns"
    );
    for (name, backend, engine) in CASES {
        progress(name);
        let ours = difference(|operations| by_fathom(&site, backend, operations))?;
        let theirs = match &fio {
            None => "-".to_owned(),
            Some(fio) => difference(|operations| by_fio(fio, &site, engine, operations)).map_or_else(
                |error| {
                    eprintln!("fio, {name}: {error:#}");
                    "-".to_owned()
                },
                |n| format!("{n:.0}"),
            ),
        };
        let timed = Site { seconds: SECONDS, ..site };
        let our_ns = median(|| {
            let job = fathom::Job { stream: "", phase: "", threads: 1, writes: false };
            let stream = format!("{STREAM}\n{backend}\namount = \"endless\"");
            let phase = format!("stop = {{ time = \"{}ms\" }}", (SECONDS * 1e3).round());
            let record = fathom::run(&timed, &fathom::workload(&timed, &phase, &stream, &job))?;
            fathom::figures(&record["phases"][0]["repetitions"][0]["workers"])
        })?;
        let engine = format!("--ioengine={engine}");
        let words = ["--rw=randread --bs=4k --norandommap --invalidate=0", &engine];
        let their_ns = match &fio {
            None => "-".to_owned(),
            Some(fio) => median(|| peers::fio::measure(fio, &timed, &words, 1))
                .map_or_else(|_| "-".to_owned(), |ns| format!("{ns:.1}")),
        };
        progress("");
        println!("{name:<16} {ours:>10.0} {theirs:>10} {our_ns:>14.1} {their_ns:>14}");
    }
    Ok(true)
}

/// CPU time per operation: the median over some runs.
fn median(run: impl Fn() -> Result<Sample>) -> Result<f64> {
    let mut ns = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        ns.push(run()?.cpu_ns.context("no CPU time was reported")?);
    }
    ns.sort_by(f64::total_cmp);
    Ok(ns[ROUNDS / 2])
}

/// What one operation more costs.
fn difference(count: impl Fn(u64) -> Result<u64>) -> Result<f64> {
    let (once, twice) = (count(OPERATIONS)?, count(2 * OPERATIONS)?);
    ensure!(twice > once, "twice the operations took no more instructions: {once} and {twice}");
    Ok((twice - once) as f64 / OPERATIONS as f64)
}

fn by_fathom(site: &Site<'_>, backend: &str, operations: u64) -> Result<u64> {
    let job = fathom::Job { stream: "", phase: "", threads: 1, writes: false };
    let stream = format!(
        "direction = \"read\"\naccess = \"uniform\"\nrecord = {{ fixed = \"4KiB\" }}\n{backend}\namount = {{ operations = {operations} }}"
    );
    let file = site.dir.join("count.toml");
    std::fs::write(&file, fathom::workload(site, "", &stream, &job))?;
    let mut command = callgrind(site.fathom);
    collected(command.args(["--no-store", "run", "--json"]).arg(file))
}

fn by_fio(fio: &Path, site: &Site<'_>, engine: &str, operations: u64) -> Result<u64> {
    let mut command = callgrind(fio);
    command.args(["--name=count", "--thread", "--rw=randread", "--bs=4k", "--norandommap", "--invalidate=0"]);
    command.args([
        format!("--ioengine={engine}"),
        format!("--filename={}", site.path.display()),
        format!("--size={}", site.file_bytes),
        format!("--io_size={}", operations * 4096),
    ]);
    collected(command.current_dir(site.dir))
}

fn callgrind(program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command
}

/// Runs it and gives the number of instructions callgrind closes with.
fn collected(command: &mut Command) -> Result<u64> {
    let output = command.output().context("valgrind could not be started")?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("under valgrind it ended with {}:\n{text}", output.status);
    }
    parse(&text).with_context(|| format!("callgrind printed no count:\n{text}"))
}

fn parse(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read() {
        let text = "==7== Events    : Ir\n==7== Collected : 264367668\n==7== \n";
        assert_eq!(parse(text), Some(264_367_668));
        assert_eq!(parse("==7== Process terminating\n"), None);
    }

    #[test]
    fn the_difference_is_per_operation() {
        assert_eq!(difference(|n| Ok(5_000_000 + 60 * n)).unwrap(), 60.0);
        assert!(difference(|_| Ok(7)).is_err());
    }
}
