//! `cargo xtask bench engine`: the same work by fathom, by every peer that is found, and by the least possible loop, interleaved in
//! one run. fathom keeps a full latency histogram meanwhile; the floor keeps nothing. This file runs the rounds; the work is in
//! [`cases`], the programs in [`peers`], the arithmetic in [`claims`](super::claims), the text in [`table`].

use super::cases::{self, Cache, Case, Column, Entry, Tool};
use super::claims::{Measure, Outcome, Samples, Verdict, values};
use super::machine::Machine;
use super::options::Options;
use super::peers::{self, Peers, Site};
use super::sample::Sample;
use super::spread::Random;
use super::{files, floor, progress, table};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The order of contenders in each round is drawn from this.
const SEED: u64 = 0x0be7_c4ed_5eed_0003;
/// Rounds, and length of one measurement, unless others are asked for.
const ROUNDS: usize = 9;
const SECONDS: f64 = 1.0;

/// Runs the bench; false if a bound was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    let chosen: Vec<Case> = cases::all().into_iter().filter(|c| options.wants(c.name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = cases::all().iter().map(|c| c.name).collect();
        bail!(crate::Usage(format!("No case has that in its name; there are: {}.", names.join("; "))));
    }
    let fathom = super::built(root)?;
    let peers = Peers::found();
    let machine = Machine::seen(root);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let bench = Bench {
        fathom,
        files: files::Files::new(dir.path(), options.file_mib, peers.iozone.as_deref()),
        peers,
        dir: dir.path().to_owned(),
        rounds: options.rounds.unwrap_or(ROUNDS),
        seconds: options.seconds.unwrap_or(SECONDS),
    };
    print!("{}", bench.heading(&machine));
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    let mut random = Random(SEED);
    let mut done = Vec::new();
    let mut orders = Vec::new();
    for case in chosen {
        let (samples, order) = bench.case(&case, &mut random)?;
        print!("{}", table::block(&case, &samples));
        done.push((case, samples));
        orders.push(order);
    }
    let verdicts = verdicts(&done);
    print!("{}{}", table::summary(&done, Measure::Wall), table::summary(&done, Measure::Cpu));
    print!("{}", table::bounds(&verdicts));
    if let Some(path) = &options.json {
        let value = bench.json(&machine, &done, &orders, &verdicts);
        std::fs::write(path, format!("{value:#}\n"))
            .with_context(|| format!("{} could not be written", path.display()))?;
    }
    let good = verdicts.iter().all(|(_, v)| matches!(v.outcome, Outcome::Passed | Outcome::NotMeasured));
    Ok(good || !options.gate)
}

/// The bounds of all cases, those against fio for both of its versions if both were measured.
fn verdicts(done: &[(Case, Samples)]) -> Vec<(&'static str, Verdict)> {
    let mut verdicts = Vec::new();
    for (case, samples) in done {
        let name = |column| table::label(case, column);
        for bound in &case.bounds {
            verdicts.push((case.name, bound.judge(samples, case.unit, name)));
            if let Some(head) = bound.against_head()
                && head.columns().iter().all(|c| samples.contains_key(c))
            {
                verdicts.push((case.name, head.judge(samples, case.unit, name)));
            }
        }
    }
    verdicts
}

/// What stays the same over all cases.
struct Bench {
    fathom: PathBuf,
    peers: Peers,
    files: files::Files,
    dir: PathBuf,
    rounds: usize,
    seconds: f64,
}

/// Order of a case's contenders in each round.
type Orders = Vec<Vec<Column>>;

impl Bench {
    fn heading(&self, machine: &Machine) -> String {
        let peers: Vec<String> = self
            .peers
            .versions()
            .iter()
            .map(|(name, version)| format!("{name} {version}").trim().to_owned())
            .collect();
        format!(
            "{}\n{}\nmedian [min-max] of {} interleaved rounds of {} s, in an order drawn from seed {SEED:#x}; one CPU, 4 KiB \
             and one thread unless said otherwise\n",
            machine.line(),
            peers.join(", "),
            self.rounds,
            self.seconds
        )
    }

    /// Every contender of a case in every round. One that fails is named and left out.
    fn case(&self, case: &Case, random: &mut Random) -> Result<(Samples, Orders)> {
        let (path, file_bytes) = self.files.get(case.file)?;
        // Locked pages stay when a kernel evicts what nobody seems to use.
        let mapping = (case.cache == Cache::Warm).then(|| files::Mapping::of(&path)).transpose()?;
        if let Some(mapping) = &mapping
            && !mapping.lock()
        {
            eprintln!(
                "note: {} cannot be locked in memory; it is read again where pages are missing",
                path.display()
            );
        }
        let site =
            Site { dir: &self.dir, fathom: &self.fathom, path: &path, file_bytes, seconds: self.seconds };
        let mut entries = self.present(case);
        let (mut samples, mut orders, mut failed) = (Samples::new(), Orders::new(), BTreeSet::new());
        for round in 0..self.rounds {
            random.shuffle(&mut entries);
            for entry in &entries {
                if failed.contains(&entry.column) {
                    continue;
                }
                progress(&format!(
                    "{}: round {} of {}: {}",
                    case.name,
                    round + 1,
                    self.rounds,
                    entry.column.label()
                ));
                prepare(case.cache, &path, round)?;
                match self.measure(entry, &site) {
                    Ok(sample) => samples.entry(entry.column).or_default().push(sample),
                    Err(error) => {
                        progress("");
                        eprintln!("{}, {}: {error:#}", case.name, table::label(case, entry.column));
                        samples.remove(&entry.column);
                        failed.insert(entry.column);
                    }
                }
            }
            orders.push(entries.iter().map(|e| e.column).collect());
        }
        progress("");
        Ok((samples, orders))
    }

    /// The contenders that are there, fio's newest version among them.
    fn present(&self, case: &Case) -> Vec<Entry> {
        let mut entries = Vec::new();
        for entry in &case.entries {
            entries.push(*entry);
            if let (Tool::Fio(..) | Tool::FioStart { .. }, Some(column)) = (entry.tool, entry.column.head()) {
                entries.push(Entry { column, ..*entry });
            }
        }
        entries.retain(|e| self.program(e).is_some());
        entries
    }

    /// The program of a contender; the floor is in this one.
    fn program(&self, entry: &Entry) -> Option<&Path> {
        let found = match (entry.tool, entry.column) {
            (Tool::Floor(..) | Tool::Fathom(_) | Tool::FathomStart { .. }, _) => return Some(&self.fathom),
            (Tool::Fio(..) | Tool::FioStart { .. }, Column::FioHead | Column::FioHeadTuned) => {
                &self.peers.fio_head
            }
            (Tool::Fio(..) | Tool::FioStart { .. }, _) => &self.peers.fio,
            (Tool::Sysbench(_), _) => &self.peers.sysbench,
            (Tool::Filebench(_), _) => &self.peers.filebench,
            (Tool::TIoUring(_), _) => &self.peers.t_io_uring,
            (Tool::IozoneReread, _) => &self.peers.iozone,
        };
        found.as_deref()
    }

    fn measure(&self, entry: &Entry, site: &Site<'_>) -> Result<Sample> {
        let program = self.program(entry).context("the program is absent")?;
        match entry.tool {
            Tool::Floor(work, threads) => {
                let target = floor::Target {
                    path: site.path.to_owned(),
                    file_bytes: site.file_bytes,
                    seconds: site.seconds,
                };
                floor::measure(work, &target, threads)
            }
            Tool::Fathom(job) => peers::fathom::measure(site, &job),
            Tool::FathomStart { threads, stored } => peers::fathom::start_and_exit(site, threads, stored),
            Tool::Fio(options, jobs) => peers::fio::measure(program, site, options, jobs),
            Tool::FioStart { jobs } => peers::fio::start_and_exit(program, site, jobs),
            Tool::Sysbench(options) => peers::sysbench::measure(program, site, options),
            Tool::Filebench(operation) => peers::filebench::measure(program, site, operation),
            Tool::TIoUring(options) => peers::t_io_uring::measure(program, site, options),
            Tool::IozoneReread => peers::iozone::reread(program, site),
        }
    }

    fn json(
        &self,
        machine: &Machine,
        done: &[(Case, Samples)],
        orders: &[Orders],
        verdicts: &[(&str, Verdict)],
    ) -> Value {
        let case = |((case, samples), orders): (&(Case, Samples), &Orders)| {
            let contenders: Vec<Value> = samples
                .iter()
                .map(|(column, of)| {
                    json!({
                        "column": column.label(),
                        "label": table::label(case, *column),
                        "wall_ns": values(of, Measure::Wall),
                        "cpu_ns": values(of, Measure::Cpu),
                    })
                })
                .collect();
            let bounds: Vec<Value> =
                verdicts.iter().filter(|(name, _)| *name == case.name).map(|(_, v)| v.json()).collect();
            let order: Vec<Vec<&str>> =
                orders.iter().map(|round| round.iter().map(|c| c.label()).collect()).collect();
            json!({"name": case.name, "contenders": contenders, "order": order, "bounds": bounds})
        };
        let peers: serde_json::Map<String, Value> = self
            .peers
            .versions()
            .into_iter()
            .map(|(name, version)| (name.to_owned(), version.into()))
            .collect();
        json!({
            "schema": "fathom-bench-engine/1",
            "machine": machine.json(),
            "peers": peers,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "seed": SEED,
            "cases": done.iter().zip(orders).map(case).collect::<Vec<_>>(),
        })
    }
}

/// Puts the file into the state the case names.
fn prepare(cache: Cache, path: &Path, round: usize) -> Result<()> {
    match cache {
        Cache::Untouched => {}
        Cache::Settled => files::settle(path)?,
        Cache::Cold => files::evict(path)?,
        Cache::Warm => {
            let resident = files::warm(path)?;
            // Before the first measurement it may well be elsewhere; later it means that pages were evicted meanwhile.
            if round > 0 && resident < 1.0 {
                progress("");
                eprintln!(
                    "note: only {:.1} % of the file was still cached; it was read again",
                    resident * 100.0
                );
            }
        }
    }
    Ok(())
}
