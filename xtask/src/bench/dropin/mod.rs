//! What `bench sysbench`, `bench filebench` and `bench fio` share: the drop-in and the program it replaces do the same work in turn, and the
//! figure is a rate. This file runs the rounds and judges them; the work is in [`sysbench`], [`filebench`] and [`fio`], the text in [`table`].

pub mod child;
pub mod differential;
pub mod filebench;
pub mod filebench_files;
pub mod fio;
mod fio_jobs;
mod script;
mod shipped;
pub mod sysbench;
mod sysbench_sets;
pub mod table;

use super::cases::{Column, Unit};
use super::claims::{Bound, Claim, Measure, Outcome, Samples, Verdict, values};
use super::interrupt;
use super::machine::Machine;
use super::options::Options;
use super::progress;
use super::sample::Sample;
use super::spread::Random;
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::path::Path;

/// The order of contenders in each round is drawn from this.
const SEED: u64 = 0x0be7_c4ed_5eed_0004;

/// One comparison. A sample's wall time is per operation, its inverse the rate; for a [`Unit::Run`] it is the whole command's.
pub struct Case {
    pub name: String,
    pub unit: Unit,
    pub columns: Vec<Column>,
    pub bounds: Vec<Bound>,
}

impl Case {
    /// A rate of fathom, the peer and perhaps the floor, of which no bound is claimed yet.
    pub fn of(name: impl Into<String>, columns: &[Column]) -> Self {
        Self { name: name.into(), unit: Unit::Operation, columns: columns.to_vec(), bounds: Vec::new() }
    }

    /// Claims that fathom is at least this many times as fast as the peer.
    #[must_use]
    pub fn at_least(mut self, times: f64, than: Column) -> Self {
        let claim = Claim::Faster { than, at_least: times };
        self.bounds.push(Bound::of(Column::Fathom, Measure::Wall, claim));
        self
    }

    /// Times of whole commands instead of rates.
    #[must_use]
    pub fn of_commands(mut self) -> Self {
        self.unit = Unit::Run;
        self
    }
}

/// A case with what was measured of it.
pub struct Done {
    pub case: Case,
    pub samples: Samples,
    /// Order of the contenders in each round.
    pub order: Vec<Vec<Column>>,
}

/// The rounds of a bench.
pub struct Contest {
    pub rounds: usize,
    random: Random,
}

impl Contest {
    pub fn new(rounds: usize) -> Self {
        Self { rounds, random: Random(SEED) }
    }

    /// Every contender in every round. One that fails is named, said why, and left out.
    pub fn run(&mut self, case: Case, mut measure: impl FnMut(Column) -> Result<Sample>) -> Result<Done> {
        let mut columns = case.columns.clone();
        let (mut samples, mut order) = (Samples::new(), Vec::new());
        for round in 0..self.rounds {
            self.random.shuffle(&mut columns);
            order.push(columns.clone());
            for column in columns.clone() {
                let who = label(column);
                progress(&format!("{}: round {} of {}: {who}", case.name, round + 1, self.rounds));
                match measure(column) {
                    Ok(sample) => samples.entry(column).or_default().push(sample),
                    Err(error) if interrupt::came() => return Err(error),
                    Err(error) => {
                        progress("");
                        eprintln!("{}, {who}: {error:#}", case.name);
                        samples.remove(&column);
                        columns.retain(|c| *c != column);
                    }
                }
            }
        }
        progress("");
        Ok(Done { case, samples, order })
    }
}

/// What a column means in these benches.
pub fn label(column: Column) -> String {
    match column {
        Column::Variant => "fathom --no-store".into(),
        other => other.label().into(),
    }
}

/// The verdict of every bound.
pub fn verdicts(done: &[Done]) -> Vec<(&str, Verdict)> {
    let judged = |d: &'_ Done| -> Vec<Verdict> {
        d.case.bounds.iter().map(|b| b.judge(&d.samples, d.case.unit, label)).collect()
    };
    done.iter().flat_map(|d| judged(d).into_iter().map(move |v| (d.case.name.as_str(), v))).collect()
}

/// The line above the tables.
pub fn heading(machine: &Machine, peer: &str, rounds: usize, seconds: f64) -> String {
    format!(
        "{}\n{peer}\nmedian [min-max] of {rounds} interleaved rounds of {seconds} s, in an order drawn from seed {SEED:#x}\n",
        machine.line()
    )
}

/// Cases that were asked for; a usage error if there are none.
pub fn chosen(cases: Vec<Case>, options: &Options) -> Result<Vec<Case>> {
    let names: Vec<String> = cases.iter().map(|c| c.name.clone()).collect();
    let chosen: Vec<Case> = cases.into_iter().filter(|c| options.wants(&c.name)).collect();
    if chosen.is_empty() {
        bail!(crate::Usage(format!("No case has that in its name; there are: {}.", names.join("; "))));
    }
    Ok(chosen)
}

/// Prints the verdicts, writes the JSON, and says whether the bench passes its gate.
pub fn close(
    schema: &str,
    machine: &Machine,
    peer: &str,
    (rounds, seconds): (usize, f64),
    done: &[Done],
    options: &Options,
) -> Result<bool> {
    let verdicts = verdicts(done);
    if !verdicts.is_empty() {
        print!("{}", super::table::bounds(&verdicts));
    }
    if let Some(path) = &options.json {
        let value = json!({
            "schema": schema,
            "machine": machine.json(),
            "peer": peer,
            "rounds": rounds,
            "seconds": seconds,
            "seed": SEED,
            "cases": done.iter().map(|d| case_json(d, &verdicts)).collect::<Vec<_>>(),
        });
        write_json(path, &value)?;
    }
    let good = verdicts.iter().all(|(_, v)| matches!(v.outcome, Outcome::Passed | Outcome::NotMeasured));
    Ok(good || !options.gate)
}

/// Writes a value where `--json` asks for it.
pub fn write_json(path: &Path, value: &Value) -> Result<()> {
    std::fs::write(path, format!("{value:#}\n"))
        .with_context(|| format!("{} could not be written", path.display()))
}

fn case_json(done: &Done, verdicts: &[(&str, Verdict)]) -> Value {
    let contenders: Vec<Value> = done
        .samples
        .iter()
        .map(|(column, of)| {
            json!({
                "column": label(*column),
                "wall_ns": values(of, Measure::Wall),
                "cpu_ns": values(of, Measure::Cpu),
            })
        })
        .collect();
    let order: Vec<Vec<String>> = done.order.iter().map(|r| r.iter().map(|c| label(*c)).collect()).collect();
    let bounds: Vec<Value> =
        verdicts.iter().filter(|(name, _)| *name == done.case.name).map(|(_, v)| v.json()).collect();
    json!({"name": done.case.name, "contenders": contenders, "order": order, "bounds": bounds})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(wall_ns: f64) -> Sample {
        Sample { wall_ns, cpu_ns: None }
    }

    fn case() -> Case {
        Case::of("rndrd", &[Column::Fathom, Column::Sysbench]).at_least(1.3, Column::Sysbench)
    }

    #[test]
    fn contenders_take_turns_and_are_judged() {
        let speed = |column| if column == Column::Fathom { 100.0 } else { 150.0 };
        let done = Contest::new(5).run(case(), |column| Ok(sample(speed(column)))).unwrap();
        assert!(done.samples.values().all(|s| s.len() == 5) && done.order.len() == 5);
        assert_eq!(verdicts(&[done])[0].1.outcome, Outcome::Passed);
        let done = Contest::new(5).run(case(), |_| Ok(sample(100.0))).unwrap();
        assert_eq!(verdicts(&[done])[0].1.outcome, Outcome::Missed);
    }

    #[test]
    fn a_contender_that_fails_is_left_out() {
        let mut calls = 0;
        let done = Contest::new(3)
            .run(case(), |column| {
                calls += usize::from(column == Column::Sysbench);
                if column == Column::Sysbench { bail!("it is broken") } else { Ok(sample(1.0)) }
            })
            .unwrap();
        assert_eq!((calls, done.samples[&Column::Fathom].len()), (1, 3));
        assert_eq!(verdicts(&[done])[0].1.outcome, Outcome::NotMeasured);
    }

    #[test]
    fn an_unknown_case_is_a_usage_error() {
        let options = Options { case: Some("no such".into()), ..Options::default() };
        assert!(chosen(vec![case()], &options).is_err_and(|e| e.is::<crate::Usage>()));
        assert_eq!(chosen(vec![case()], &Options::default()).unwrap().len(), 1);
    }
}
