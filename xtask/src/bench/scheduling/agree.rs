//! `cargo xtask bench agree`: do the simulator's schedulers choose and merge as this kernel's do? A loop device over one that a control
//! group holds back, so that a queue forms; each scheduler on the upper one, under several loads by fathom's own engine; block
//! events recorded by fathom; `fathom sim agree` on each trace, with all schedulers asked.

use super::load::{LOADS, workload};
use super::tally::{HEAD, Tally, row, total};
use super::test_bed::{TestBed, need_root};
use crate::bench::dropin::write_json;
use crate::bench::machine::Machine;
use crate::bench::options::Options;
use crate::bench::spread::Random;
use crate::bench::{interrupt, progress};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::path::Path;

const ROUNDS: usize = 2;
const SEED: u64 = 0x0a62_ee00_5eed_0007;

/// A kernel scheduler, its model, and the least percentage of equal choices.
const SCHEDULERS: [(&str, &str, f64); 4] = [
    ("none", "none", 100.0),
    ("mq-deadline", "mq-deadline", 97.0),
    ("kyber", "kyber", 90.0),
    ("bfq", "bfq-lite", 90.0),
];

/// A scheduler under a load.
struct Case {
    scheduler: usize,
    load: usize,
    rounds: Vec<Tally>,
}

impl Case {
    fn name(&self) -> String {
        format!("{}: {}", SCHEDULERS[self.scheduler].0, LOADS[self.load].0)
    }

    fn sum(&self) -> Tally {
        self.rounds.iter().fold(Tally::default(), |sum, one| sum.plus(*one))
    }
}

/// Runs the bench; false if a bound was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    options.refuse("agree", &["--seconds", "--file-mib"])?;
    need_root("agree")?;
    interrupt::note();
    let fathom = crate::bench::built(root)?;
    let machine = Machine::seen(root);
    let rounds = options.rounds.unwrap_or(ROUNDS);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    progress("devices are made");
    let mut stand = TestBed::made(dir.path(), &fathom)?;
    let (offered, _) = stand.device().schedulers()?;
    let all = (0..SCHEDULERS.len()).flat_map(|s| (0..LOADS.len()).map(move |l| (s, l)));
    let mut cases: Vec<Case> =
        all.map(|(scheduler, load)| Case { scheduler, load, rounds: Vec::new() }).collect();
    cases.retain(|c| options.wants(&c.name()));
    let absent: Vec<&str> =
        SCHEDULERS.iter().map(|s| s.0).filter(|s| !offered.iter().any(|o| o == s)).collect();
    cases.retain(|c| !absent.contains(&SCHEDULERS[c.scheduler].0));
    ensure!(
        !cases.is_empty(),
        "no case is left of those that were asked for; the kernel offers {}",
        offered.join(", ")
    );
    let mut order: Vec<usize> = (0..cases.len()).collect();
    let mut random = Random(SEED);
    for round in 0..rounds {
        random.shuffle(&mut order);
        for &at in &order {
            progress(&format!("round {} of {rounds}: {}", round + 1, cases[at].name()));
            let tally = one(&mut stand, &cases[at])?;
            cases[at].rounds.push(tally);
        }
    }
    progress("");
    println!("{}", machine.line());
    println!("{}; sums of {rounds} rounds\n", stand.about());
    let good = print(&cases, &absent);
    if let Some(path) = &options.json {
        let of = |case: &Case| {
            let rounds: Vec<Value> = case.rounds.iter().map(Tally::json).collect();
            json!({"scheduler": SCHEDULERS[case.scheduler].0, "load": LOADS[case.load].0, "rounds": rounds})
        };
        let cases: Vec<Value> = cases.iter().map(of).collect();
        write_json(
            path,
            &json!({"schema": "fathom-bench-agree/1", "machine": machine.json(), "seed": SEED, "cases": cases}),
        )?;
    }
    Ok(good || !options.gate)
}

fn one(stand: &mut TestBed<'_>, case: &Case) -> Result<Tally> {
    let (scheduler, model, _) = SCHEDULERS[case.scheduler];
    let (name, processes) = LOADS[case.load];
    stand.device().schedule(scheduler)?;
    let trace = stand.record(&workload(name, processes, &stand.file), true, true)?;
    let printed = stand.asked(&["sim", "agree", "--show", "0"], &trace)?;
    let summary = stand.asked(&["trace", "summary"], &trace)?;
    let lost = summary[0]["block"]["lost"].as_u64().unwrap_or(0);
    Ok(Tally { lost, ..Tally::of(&printed, model)? })
}

/// Prints the table; whether every bound is kept.
fn print(cases: &[Case], absent: &[&str]) -> bool {
    println!("{HEAD}");
    let (mut good, mut notes) = (true, String::new());
    for (number, (scheduler, _, at_least)) in SCHEDULERS.iter().enumerate() {
        let of: Vec<&Case> = cases.iter().filter(|c| c.scheduler == number).collect();
        if of.is_empty() {
            continue;
        }
        for case in &of {
            println!("{}", row(&format!("{scheduler}, {}", LOADS[case.load].0), &case.sum()));
        }
        let sum = of.iter().fold(Tally::default(), |sum, case| sum.plus(case.sum()));
        println!("{}", total(scheduler, &sum, *at_least));
        good &= sum.keeps(*at_least);
        if sum.lost + sum.not_followed > 0 {
            notes += &format!(
                "\n{scheduler}: {} events were lost by the recorder, {} could not be followed\n",
                sum.lost, sum.not_followed
            );
        }
    }
    notes.extend(absent.iter().map(|scheduler| format!("\n{scheduler} is not in this kernel\n")));
    print!("{notes}");
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_scheduler_below_its_bound_is_a_miss() {
        let tally = |same| Tally { issued: 100, same, ..Tally::default() };
        let case = |scheduler, same| Case { scheduler, load: 0, rounds: vec![tally(same), tally(same)] };
        assert!(print(&[case(0, 100), case(1, 97)], &["bfq"]));
        assert!(!print(&[case(0, 99), case(1, 97)], &[]));
    }
}
