//! `cargo xtask bench engine`: the same work by fathom, by fio (if installed) and by the least possible loop, interleaved in one run.
//! Prints nanoseconds per operation as medians with their range, and ratios. fathom keeps a full latency histogram meanwhile;
//! the floor keeps nothing.

use super::{floor_calls as floor, spread};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Size of the file everything works on.
const FILE_MIB: u64 = 512;
/// Length of one measurement.
const SECONDS: f64 = 1.0;

/// One line of the table.
struct Case {
    name: &'static str,
    /// Keys of fathom's stream.
    stream: &'static str,
    /// fio's options; empty if fio has no such thing.
    fio: &'static str,
    floor: fn(&Path, f64) -> Result<f64>,
    /// Bounds of the specification: over the floor, and of fio's time.
    bounds: (f64, f64),
}

const RANDOM: &str = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n";

const CASES: [Case; 7] = [
    Case {
        name: "null",
        stream: "backend = \"null\"",
        fio: "--ioengine=null --rw=randread --bs=4k --norandommap",
        floor: floor::null,
        bounds: (f64::INFINITY, 0.30),
    },
    Case {
        name: "null, 32 in flight",
        stream: "backend = \"null\"\nqueue_depth = 32",
        fio: "--ioengine=null --rw=randread --bs=4k --norandommap --iodepth=32",
        floor: floor::null,
        bounds: (f64::INFINITY, 0.20),
    },
    Case {
        name: "pread, cached",
        stream: "backend = { psync = \"pread\" }",
        fio: "--ioengine=psync --rw=randread --bs=4k --norandommap --invalidate=0",
        floor: floor::pread,
        bounds: (1.05, 0.85),
    },
    Case {
        name: "mmap, cached",
        stream: "backend = { mmap = {} }",
        fio: "--ioengine=mmap --rw=randread --bs=4k --norandommap --invalidate=0",
        floor: floor::mmap,
        bounds: (1.07, 0.80),
    },
    Case {
        name: "io_uring, cached, 32 in flight",
        stream: "backend = { uring = {} }\nqueue_depth = 32",
        fio: "--ioengine=io_uring --rw=randread --bs=4k --norandommap --invalidate=0 --iodepth=32",
        floor: floor::uring_cached_32,
        bounds: (1.06, 0.60),
    },
    Case {
        name: "io_uring, direct, 1 in flight",
        stream: "backend = { uring = {} }\nopen = { direct = true }",
        fio: "--ioengine=io_uring --rw=randread --bs=4k --norandommap --direct=1 --iodepth=1",
        floor: floor::uring_direct_1,
        bounds: (f64::INFINITY, f64::INFINITY),
    },
    Case {
        name: "io_uring, direct, 32 in flight",
        stream: "backend = { uring = {} }\nqueue_depth = 32\nopen = { direct = true }",
        fio: "--ioengine=io_uring --rw=randread --bs=4k --norandommap --direct=1 --iodepth=32",
        floor: floor::uring_direct_32,
        bounds: (f64::INFINITY, f64::INFINITY),
    },
];

/// Runs the bench.
pub fn run(root: &Path, rounds: usize) -> Result<bool> {
    let fathom = super::built(root)?;
    let fio = super::which("fio");
    if fio.is_none() {
        eprintln!("fio is not installed (apt-get install fio); its columns stay empty");
    }
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let file = dir.path().join("file");
    super::random_file(&file, FILE_MIB << 20)?;
    println!(
        "ns per operation, median [min-max] of {rounds} interleaved rounds of {SECONDS} s, pinned to one CPU, 4 KiB random reads\n"
    );
    println!("{:<32} {:>24} {:>24} {:>24} {:>9} {:>7}", "", "floor", "fathom", "fio", "/floor", "/fio");
    let mut good = true;
    for case in &CASES {
        let mut columns = vec![Vec::new(); 3];
        for round in 0..rounds {
            super::warm(&file)?;
            for turn in 0..3 {
                // Who goes first changes from round to round.
                match (round + turn) % 3 {
                    0 => columns[0].push((case.floor)(&file, SECONDS)?),
                    1 => columns[1].push(by_fathom(&fathom, dir.path(), &file, case)?),
                    _ if fio.is_some() => columns[2].push(by_fio(&file, case)?),
                    _ => {}
                }
            }
        }
        good &= print(case, &mut columns);
    }
    Ok(good)
}

fn print(case: &Case, columns: &mut [Vec<f64>]) -> bool {
    let cell = |v: &mut Vec<f64>| match v.is_empty() {
        true => ("-".to_string(), f64::NAN),
        false => {
            let (min, median, max) = spread(v);
            (format!("{median:.0} [{min:.0}-{max:.0}]"), median)
        }
    };
    let (floor, fathom, fio) = (cell(&mut columns[0]), cell(&mut columns[1]), cell(&mut columns[2]));
    let (over, of) = (fathom.1 / floor.1, fathom.1 / fio.1);
    let missed = over > case.bounds.0 || of > case.bounds.1;
    let mark = if missed {
        format!("  missed: bounds {} and {}", case.bounds.0, case.bounds.1)
    } else {
        String::new()
    };
    println!("{:<32} {:>24} {:>24} {:>24} {over:>9.3} {of:>7.3}{mark}", case.name, floor.0, fathom.0, fio.0);
    !missed
}

fn by_fathom(fathom: &Path, dir: &Path, file: &Path, case: &Case) -> Result<f64> {
    let workload = format!(
        "name = \"bench\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [{file:?}] }}\nsize = {{ fixed = \"{FILE_MIB}MiB\" }}\n\
         existing = \"reuse\"\n[[phase]]\nname = \"p\"\nstop = {{ time = \"{}ms\" }}\n[[phase.group]]\nname = \"g\"\n\
         pinning = {{ from = 1 }}\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = \"f\"\n\
         {RANDOM}amount = \"endless\"\n{}\n",
        SECONDS * 1e3,
        case.stream
    );
    let name = dir.join("bench.toml");
    std::fs::write(&name, workload)?;
    let output = Command::new(fathom).args(["--no-store", "run", "--json"]).arg(&name).output()?;
    let record: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{}: {}", case.name, String::from_utf8_lossy(&output.stderr)))?;
    let worker = &record["phases"][0]["repetitions"][0]["workers"][0];
    match (worker["elapsed_ns"].as_f64(), worker["ops"].as_f64()) {
        (Some(ns), Some(ops)) if ops > 0.0 => Ok(ns / ops),
        _ => bail!(
            "{}: fathom's record has no figures: {}",
            case.name,
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

fn by_fio(file: &Path, case: &Case) -> Result<f64> {
    let common = format!(
        "--name=bench --filename={} --size={FILE_MIB}m --time_based --runtime={SECONDS} --cpus_allowed=1 --thread \
         --output-format=json --allow_file_create=0",
        file.display()
    );
    let words: Vec<&str> = common.split_whitespace().chain(case.fio.split_whitespace()).collect();
    let output = Command::new("fio").args(words).output()?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("fio, {}: {}", case.name, String::from_utf8_lossy(&output.stderr)))?;
    let iops = report["jobs"][0]["read"]["iops"].as_f64().filter(|i| *i > 0.0);
    Ok(1e9 / iops.context("fio reports no IOPS")?)
}
