//! `cargo xtask bench rate`: whether a rate that is asked for is kept. fathom runs at 1,000, 10,000 and 100,000 operations a second;
//! it prints the rate achieved, how late operations were issued, and the CPU time that punctuality cost. Finally it runs the
//! experiment of [`stall`]. All figures come from fathom's own records.
//!
//! At the lowest rate the gaps between operations come from the operation log, which has the start of each. At the others a log would
//! be too long, and an upper bound is printed: a gap differs from the ideal one by the difference of two delays, which is at most the
//! larger of them, so at most 1 % of gaps differ by more than the delay that 0.5 % of operations exceed.

use super::histogram::Histogram;
use super::machine::Machine;
use super::options::Options;
use super::peers::{Site, fathom};
use super::spread::Spread;
use super::{files, progress, stall};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::path::Path;

const SECONDS: f64 = 5.0;
const ROUNDS: usize = 3;
/// Bounds of the specification: the rate, and the gaps at 1,000 operations a second.
const RATE_WITHIN: f64 = 0.001;
const GAP_WITHIN_NS: u64 = 20_000;

/// The three rates in operations a second, with the stream's keys. A log requires a number of operations; this one is too large to be
/// reached within the time.
const RATES: [(f64, &str); 3] = [
    (
        1e3,
        "pace = { rate = { operations_per_s = 1_000 } }\namount = { operations = 1_000_000 }\nlog_operations = true",
    ),
    (1e4, "pace = { rate = { operations_per_s = 10_000 } }"),
    (1e5, "pace = { rate = { operations_per_s = 100_000 } }"),
];
const BACKENDS: [(&str, &str); 2] =
    [("null", "backend = \"null\""), ("pread, cached", "backend = { psync = \"pread\" }")];

/// One rate on one back-end, over all rounds.
struct Kept {
    name: &'static str,
    asked: f64,
    /// Got over asked, by round.
    rate: Vec<f64>,
    /// The deviation that 1 % of gaps exceed, ns, by round; an upper bound of it without a log.
    gap_ns: Vec<f64>,
    /// The delay half of the operations exceed, ns, by round.
    delay_ns: Vec<f64>,
    /// Share of a CPU the worker took, by round.
    cpu: Vec<f64>,
}

/// Runs the bench; false if a bound was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    let fathom = super::built(root)?;
    let machine = Machine::seen(root);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let files = files::Files::new(dir.path(), options.file_mib.min(64), None);
    let (path, file_bytes) = files.get(files::Kind::Data)?;
    let seconds = options.seconds.unwrap_or(SECONDS);
    let rounds = options.rounds.unwrap_or(ROUNDS);
    let site = Site { dir: dir.path(), fathom: &fathom, path: &path, file_bytes, seconds };
    println!("{}\nmedian [min-max] of {rounds} rounds of {seconds} s\n", machine.line());
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    let mut all = measure(&site, rounds, options)?;
    print!("{}", table(&all));
    let stalled = if options.wants("stopped for a second") { Some(stall::run(&site)?) } else { None };
    if let Some(stalled) = &stalled {
        print!("{}", stalled.text());
    }
    let good =
        all.iter().all(|k| k.rate_holds() && k.gap_holds()) && stalled.as_ref().is_none_or(|s| s.holds());
    if let Some(json) = &options.json {
        let rates: Vec<Value> = all.iter_mut().map(|k| k.json()).collect();
        let value = json!({"schema": "fathom-bench-rate/1", "machine": machine.json(), "rates": rates,
                           "stopped": stalled.map(|s| s.json())});
        std::fs::write(json, format!("{value:#}\n")).with_context(|| json.display().to_string())?;
    }
    Ok(good || !options.gate)
}

/// All rates in every round.
fn measure(site: &Site<'_>, rounds: usize, options: &Options) -> Result<Vec<Kept>> {
    let kept =
        |name, asked| Kept { name, asked, rate: vec![], gap_ns: vec![], delay_ns: vec![], cpu: vec![] };
    let wanted = || BACKENDS.iter().filter(|(name, _)| options.wants(name));
    let mut all: Vec<Kept> =
        wanted().flat_map(|(name, _)| RATES.map(|(asked, _)| kept(*name, asked))).collect();
    for round in 0..rounds {
        let jobs = wanted().flat_map(|(_, backend)| RATES.map(|(_, pace)| (*backend, pace)));
        for (kept, (backend, pace)) in all.iter_mut().zip(jobs) {
            progress(&format!("round {} of {rounds}: {} at {} op/s", round + 1, kept.name, kept.asked));
            files::warm(site.path)?;
            kept.take(&fathom::run(site, &workload(site, backend, pace))?)?;
        }
    }
    progress("");
    Ok(all)
}

/// A stream of random reads at a pace, until the time is over.
pub fn workload(site: &Site<'_>, backend: &str, pace: &str) -> String {
    let job = fathom::Job { stream: "", phase: "", threads: 1, writes: false };
    let endless = if pace.contains("amount") { "" } else { "\namount = \"endless\"" };
    let stream = format!(
        "direction = \"read\"\naccess = \"uniform\"\nrecord = {{ fixed = \"4KiB\" }}\n{backend}\n{pace}{endless}"
    );

    fathom::workload(
        site,
        &format!("stop = {{ time = \"{}ms\" }}", (site.seconds * 1e3).round()),
        &stream,
        &job,
    )
}

impl Kept {
    /// Takes the figures of one record.
    fn take(&mut self, record: &Value) -> Result<()> {
        let workers = &record["phases"][0]["repetitions"][0]["workers"];
        let sample = fathom::figures(workers)?;
        let response = Histogram::of(workers, "response");
        let quantile = |share| response.quantile(share).context("the record has no response times");
        self.rate.push(1e9 / sample.wall_ns / self.asked);
        self.gap_ns.push(match gap_error_p99_ns(&workers[0], 1e9 / self.asked) {
            Some(ns) => ns,
            None => quantile(0.995)? as f64,
        });
        self.delay_ns.push(quantile(0.5)? as f64);
        self.cpu.push(sample.cpu_ns.unwrap_or(f64::NAN) / sample.wall_ns);
        Ok(())
    }

    fn rate_holds(&self) -> bool {
        Spread::of(&self.rate).is_some_and(|s| (s.median - 1.0).abs() <= RATE_WITHIN)
    }

    /// Only the lowest rate has a bound on gaps, and there only without a call, whose own time is in the response too.
    fn gap_holds(&self) -> bool {
        !self.gap_is_bound() || Spread::of(&self.gap_ns).is_some_and(|s| s.median <= GAP_WITHIN_NS as f64)
    }

    fn gap_is_bound(&self) -> bool {
        self.asked == RATES[0].0 && self.name == BACKENDS[0].0
    }

    fn json(&self) -> Value {
        json!({"backend": self.name, "asked_per_s": self.asked, "got_over_asked": self.rate,
               "gap_deviation_p99_ns": self.gap_ns, "response_p50_ns": self.delay_ns, "cpu_share": self.cpu})
    }
}

/// The deviation from the ideal gap that 1 % of the gaps in the operation log exceed.
fn gap_error_p99_ns(worker: &Value, ideal_ns: f64) -> Option<f64> {
    let starts: Vec<f64> =
        worker["op_log"].as_array()?.iter().filter_map(|entry| entry["start_ns"].as_f64()).collect();
    let mut errors: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0] - ideal_ns).abs()).collect();
    errors.sort_by(f64::total_cmp);
    errors.get((errors.len() * 99).checked_div(100)?).copied()
}

fn table(all: &[Kept]) -> String {
    let mut text = format!(
        "{:<14} {:>8}  {:<28} {:<8} {:>30} {:<8} {:>22} {:>8}\n",
        "", "asked", "got / asked", "0.1 %", "p99 of gap error, us", "20 us", "response p50, us", "CPU"
    );
    let word = |holds| if holds { "passed" } else { "MISSED" };
    for kept in all {
        let spreads = [&kept.rate, &kept.gap_ns, &kept.delay_ns, &kept.cpu].map(|v| Spread::of(v));
        let [Some(rate), Some(gap), Some(delay), Some(cpu)] = spreads else { continue };
        let us = |s: Spread| format!("{:.2} [{:.2}-{:.2}]", s.median / 1e3, s.min / 1e3, s.max / 1e3);
        text += &format!(
            "{:<14} {:>8}  {:<28} {:<8} {:>30} {:<8} {:>22} {:>6.0} %\n",
            kept.name,
            kept.asked,
            format!("{:.5} [{:.5}-{:.5}]", rate.median, rate.min, rate.max),
            word(kept.rate_holds()),
            us(gap),
            if kept.gap_is_bound() { word(kept.gap_holds()) } else { "" },
            us(delay),
            cpu.median * 100.0
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(ops: u64, late: u64) -> Value {
        json!({"phases": [{"repetitions": [{"workers": [{
            "ops": ops, "elapsed_ns": 1_000_000_000u64, "cpu_user_ns": 50_000_000, "cpu_system_ns": 0,
            "stats": [{"op": "response", "latency": {"counts": [[20, 999 - late], [700, late + 1]]}}]}]}]}]})
    }

    fn kept(record: &Value) -> Kept {
        let mut kept =
            Kept { name: "null", asked: 1e3, rate: vec![], gap_ns: vec![], delay_ns: vec![], cpu: vec![] };
        kept.take(record).unwrap();
        kept
    }

    #[test]
    fn gaps_come_from_the_log() {
        let starts = (0..200u64).map(|n| json!({"start_ns": n * 1000 + if n == 100 { 300 } else { 0 }}));
        let worker = json!({"op_log": starts.collect::<Vec<_>>()});
        // Two of 199 gaps are wrong by 300 ns: more than 1 %.
        assert_eq!(gap_error_p99_ns(&worker, 1000.0), Some(300.0));
        assert_eq!(gap_error_p99_ns(&json!({}), 1000.0), None);
    }

    #[test]
    fn a_kept_rate_passes_and_others_do_not() {
        let good = kept(&record(1000, 0));
        assert!(good.rate_holds() && good.gap_holds());
        assert_eq!((good.gap_ns[0], good.delay_ns[0], good.cpu[0]), (20.0, 20.0, 0.05));
        assert!(!kept(&record(990, 0)).rate_holds());
        let late = kept(&record(1000, 20));
        assert!(late.gap_ns[0] > 20_000.0 && !late.gap_holds(), "{}", late.gap_ns[0]);
        assert!(table(&[late]).contains("MISSED"));
    }
}
