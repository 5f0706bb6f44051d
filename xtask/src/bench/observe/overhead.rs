//! `cargo xtask bench observe`: O_DIRECT random reads of 4 KiB, 32 in flight by io_uring, on the disk below the target directory,
//! unobserved twice (the pair is the noise floor), with counters, counted in the kernel by BPF, with events of tracefs, and with every
//! event of queueing, in a new random order each round. Ratios are of operations per second; the observer's CPU time per operation stands beside.

use super::record::RepetitionRecord;
use crate::bench::dropin::write_json;
use crate::bench::machine::Machine;
use crate::bench::options::Options;
use crate::bench::peers::{Site, fathom};
use crate::bench::spread::{self, Random, Spread};
use crate::bench::{files, interrupt, progress};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;

const ROUNDS: usize = 7;
const SECONDS: f64 = 2.0;
const RECORD_BYTES: f64 = 4096.0;
const SEED: u64 = 0x0b5e_12e5_5eed_0005;

/// Ways of watching: a name, the value of `--observe`, the least ratio (beside the noise floor), and the most CPU time, us per
/// operation.
const WAYS: [ObserveMode; 6] = [
    ObserveMode { name: "not at all", observe: "none", loss: None, cpu_us: None },
    ObserveMode { name: "not at all, again", observe: "none", loss: None, cpu_us: None },
    ObserveMode { name: "counters", observe: "counters", loss: Some(0.03), cpu_us: Some(0.05) },
    ObserveMode { name: "counted in the kernel", observe: "bpf", loss: Some(0.01), cpu_us: Some(0.05) },
    ObserveMode { name: "events of tracefs", observe: "tracefs", loss: Some(0.05), cpu_us: Some(0.3) },
    ObserveMode { name: "all events of queueing", observe: "full", loss: None, cpu_us: None },
];

struct ObserveMode {
    name: &'static str,
    observe: &'static str,
    loss: Option<f64>,
    cpu_us: Option<f64>,
}

/// What one run came to.
struct Sample {
    per_s: f64,
    observer_us: Option<f64>,
    /// Bytes that the workers had read, issued and completed by the events, of those the engine asked for.
    issued: Option<f64>,
    completed: Option<f64>,
    lost: u64,
}

/// Runs the bench; false if a bound was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    interrupt::note();
    let fathom = crate::bench::built(root)?;
    let machine = Machine::seen(root);
    let rounds = options.rounds.unwrap_or(ROUNDS);
    let seconds = options.seconds.unwrap_or(SECONDS);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    progress("a file is made");
    let files = files::Files::new(dir.path(), options.file_mib, None);
    let (path, file_bytes) = files.get(files::Kind::Data)?;
    let site = Site { dir: dir.path(), fathom: &fathom, path: &path, file_bytes, seconds };
    let mut samples: Vec<Vec<Sample>> = WAYS.iter().map(|_| Vec::new()).collect();
    let mut order: Vec<usize> = (0..WAYS.len()).collect();
    let mut random = Random(SEED);
    for round in 0..rounds {
        random.shuffle(&mut order);
        for &way in &order {
            progress(&format!("round {} of {rounds}: {}", round + 1, WAYS[way].name));
            samples[way].push(measured(&site, &WAYS[way])?);
        }
    }
    progress("");
    println!("{}", machine.line());
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    println!(
        "4 KiB random reads, O_DIRECT, io_uring, 32 in flight, file of {} MiB; medians of {rounds} interleaved rounds of {seconds} s\n",
        file_bytes >> 20
    );
    let good = print_table(&samples);
    if let Some(path) = &options.json {
        let of = |(way, all): (&ObserveMode, &Vec<Sample>)| {
            let column = |figure: fn(&Sample) -> Option<f64>| all.iter().map(figure).collect::<Vec<_>>();
            json!({"way": way.name, "per_s": column(|s| Some(s.per_s)), "observer_us": column(|s| s.observer_us),
                   "issued": column(|s| s.issued), "completed": column(|s| s.completed),
                   "lost": all.iter().map(|s| s.lost).sum::<u64>()})
        };
        let ways: Vec<Value> = WAYS.iter().zip(&samples).map(of).collect();
        write_json(
            path,
            &json!({"schema": "fathom-bench-observe/1", "machine": machine.json(), "seed": SEED, "ways": ways}),
        )?;
    }
    Ok(good || !options.gate)
}

fn measured(site: &Site<'_>, way: &ObserveMode) -> Result<Sample> {
    let stream = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\nbackend = { uring = {} }\n\
                  queue_depth = 32\nopen = { direct = true }\namount = \"endless\"";
    let job = fathom::Job { stream: "", phase: "", threads: 1, writes: false };
    let phase = format!("stop = {{ time = \"{}ms\" }}", (site.seconds * 1e3).round());
    let file = site.dir.join("observe.toml");
    std::fs::write(&file, fathom::workload(site, &phase, stream, &job))?;
    let output = fathom::command(site.fathom, &file)
        .args(["--observe", way.observe])
        .output()
        .context("fathom could not be started")?;
    ensure!(output.status.success(), "fathom: {}", String::from_utf8_lossy(&output.stderr));
    let record: Value = serde_json::from_slice(&output.stdout)?;
    let seen = RepetitionRecord::first(&record)?;
    let operations = seen.operations() as f64;
    let share = |bytes: Option<u64>| bytes.map(|n| n as f64 / (operations * RECORD_BYTES));
    let observer_ns = match seen.block() {
        Some(block) => Some(block["observer_cpu_ns"].as_f64().unwrap_or(0.0)),
        None => record["phases"][0]["repetitions"][0]["physical"]["observer_cpu_ns"].as_f64(),
    };
    Ok(Sample {
        per_s: 1e9 / fathom::figures(seen.workers())?.wall_ns,
        observer_us: observer_ns.map(|ns| ns / 1e3 / operations),
        issued: share(seen.asked_bytes()),
        completed: share(seen.answered_bytes()),
        lost: seen.block().and_then(|b| b["lost"].as_u64()).unwrap_or(0),
    })
}

/// Prints a row a way; whether all bounds are kept.
fn print_table(samples: &[Vec<Sample>]) -> bool {
    let rates: Vec<Vec<f64>> = samples.iter().map(|all| all.iter().map(|s| s.per_s).collect()).collect();
    let floor = spread::ratio(&rates[1], &rates[0]);
    let noise = floor.as_ref().map_or(0.0, |f| (1.0 - f.value).abs());
    println!(
        "| watched | IOPS | ratio to unwatched [95 %] | bound | observer us/op | bound | issued / asked | completed / asked | lost | |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    let mut good = true;
    for ((way, all), rates_here) in WAYS.iter().zip(samples).zip(&rates) {
        let (Some(rate), Some(ratio)) = (Spread::of(rates_here), spread::ratio(rates_here, &rates[0])) else {
            continue;
        };
        let median = |figure: fn(&Sample) -> Option<f64>| {
            let mut values: Vec<f64> = all.iter().filter_map(figure).collect();
            (!values.is_empty()).then(|| spread::median(&mut values))
        };
        let least = way.loss.map(|loss| 1.0 - noise - loss);
        let cpu = median(|s| s.observer_us);
        let lost: u64 = all.iter().map(|s| s.lost).sum();
        let exact =
            |figure: fn(&Sample) -> Option<f64>| all.iter().filter_map(figure).all(|v| v == 1.0) || lost > 0;
        let kept = least.is_none_or(|least| ratio.value >= least)
            && way.cpu_us.is_none_or(|most| cpu.is_none_or(|cpu| cpu <= most))
            && exact(|s| s.issued)
            && exact(|s| s.completed);
        good &= kept;
        let number =
            |value: Option<f64>, digits: usize| value.map_or_else(|| "-".into(), |v| format!("{v:.digits$}"));
        println!(
            "| {} | {:.0} | {:.3} [{:.3}-{:.3}] | {} | {} | {} | {} | {} | {lost} | {} |",
            way.name,
            rate.median,
            ratio.value,
            ratio.low,
            ratio.high,
            number(least, 3),
            number(cpu, 3),
            number(way.cpu_us, 2),
            number(median(|s| s.issued), 4),
            number(median(|s| s.completed), 4),
            if kept { "kept" } else { "MISSED" },
        );
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rates: [f64; 6], issued: f64) -> Vec<Vec<Sample>> {
        let sample = |per_s| Sample {
            per_s,
            observer_us: Some(0.01),
            issued: Some(issued),
            completed: Some(1.0),
            lost: 0,
        };
        rates.iter().map(|&rate| (0..3).map(|_| sample(rate)).collect()).collect()
    }

    #[test]
    fn a_loss_beyond_floor_and_bound_is_missed() {
        assert!(print_table(&of([100.0, 99.0, 97.0, 98.5, 95.0, 50.0], 1.0)));
        assert!(!print_table(&of([100.0, 99.0, 95.9, 98.5, 95.0, 50.0], 1.0)), "counters cost 4.1 %");
        assert!(!print_table(&of([100.0, 99.0, 97.0, 97.5, 95.0, 50.0], 1.0)), "counting costs 2.5 %");
        assert!(!print_table(&of([100.0, 99.0, 97.0, 98.5, 93.0, 50.0], 1.0)), "events cost 7 %");
        assert!(!print_table(&of([100.0, 99.0, 97.0, 98.5, 95.0, 50.0], 0.9999)), "a request is missing");
        assert!(!print_table(&of([100.0, 99.0, 97.0, 98.5, 95.0, 50.0], 1.0001)), "one is too many");
    }
}
