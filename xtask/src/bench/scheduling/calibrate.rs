//! `cargo xtask bench calibrate`: how far is a profile that `fathom sim calibrate` fits from the device it was fitted to? Random reads at
//! several depths on a loop device, held back by a control group and not; fitted to the first half of each trace, and judged on the
//! second by the demerit: the root mean square distance of the two distributions of response times, in percent of the mean. Both kinds of
//! device that have no arm are fitted to every trace. How far the device's own two halves lie apart stands beside: no fit can do better.

use super::load::{Process, Work, workload};
use super::test_bed::{TestBed, need_root};
use crate::bench::dropin::write_json;
use crate::bench::machine::Machine;
use crate::bench::options::Options;
use crate::bench::spread::Spread;
use crate::bench::{interrupt, progress};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;

const ROUNDS: usize = 3;
/// What is wanted of a loop device, in percent.
const WANTED: f64 = 25.0;
const DEPTHS: [u32; 4] = [1, 4, 32, 256];

/// A device and how much is asked of it at once.
#[derive(Clone, Copy)]
struct Case {
    held_back: bool,
    depth: u32,
}

impl Case {
    fn name(self) -> String {
        let device = if self.held_back { "held back" } else { "as fast as it is" };
        format!("{device}, {} in flight", self.depth)
    }

    fn workload(self, file: &Path) -> String {
        // Some seconds of either.
        let operations = if self.held_back { 2000 } else { 20_000 };
        let process = Process { work: Work::Random, operations, in_flight: self.depth };
        workload("random read", &[process], file)
    }
}

/// One judgement.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Judged {
    fitted: u64,
    requests: u64,
    device_ms: f64,
    model_ms: f64,
    demerit: f64,
    halves: f64,
}

/// The fits to one trace.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fits {
    constant: Judged,
    distribution: Judged,
}

impl Judged {
    /// Of what `fathom sim calibrate --json` printed.
    fn of(printed: &Value) -> Option<Self> {
        let half = &printed["held_out"];
        Some(Self {
            fitted: printed["fitted_requests"].as_u64()?,
            requests: half["requests"].as_u64()?,
            device_ms: half["device_mean_ns"].as_f64()? / 1e6,
            model_ms: half["model_mean_ns"].as_f64()? / 1e6,
            demerit: half["demerit_percent"].as_f64()?,
            halves: half["halves_percent"].as_f64()?,
        })
    }

    fn json(&self) -> Value {
        json!({"fitted_requests": self.fitted, "held_out_requests": self.requests, "device_mean_ms": self.device_ms,
               "model_mean_ms": self.model_ms, "demerit_percent": self.demerit, "halves_percent": self.halves})
    }
}

/// Runs the bench; false if what is wanted was missed and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    options.refuse("calibrate", &["--seconds", "--file-mib"])?;
    need_root("calibrate")?;
    interrupt::note();
    let cases = [false, true].into_iter().flat_map(|held_back| DEPTHS.map(|depth| Case { held_back, depth }));
    let cases: Vec<Case> = cases.filter(|c| options.wants(&c.name())).collect();
    ensure!(!cases.is_empty(), "no case has that in its name");
    let fathom = crate::bench::built(root)?;
    let machine = Machine::seen(root);
    let rounds = options.rounds.unwrap_or(ROUNDS);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    progress("devices are made");
    let mut stand = TestBed::made(dir.path(), &fathom)?;
    stand.device().schedule("none")?;
    let profile = dir.path().join("fitted.toml").display().to_string();
    let mut measured: Vec<Vec<Fits>> = cases.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (case, all) in cases.iter().zip(&mut measured) {
            progress(&format!("round {} of {rounds}: {}", round + 1, case.name()));
            let trace = stand.record(&case.workload(&stand.file), false, case.held_back)?;
            let fitted = |kind| -> Result<Judged> {
                let line = ["sim", "calibrate", "--kind", kind, "--force", "--output", &profile];
                let printed = stand.asked(&line, &trace)?;
                Judged::of(&printed).with_context(|| format!("{}: nothing was held out", case.name()))
            };
            all.push(Fits { constant: fitted("constant")?, distribution: fitted("distribution")? });
        }
    }
    progress("");
    println!("{}", machine.line());
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    println!("random reads of 4 KiB, {}; {rounds} rounds\n", stand.about());
    let named: Vec<(String, &[Fits])> =
        cases.iter().zip(&measured).map(|(c, all)| (c.name(), all.as_slice())).collect();
    print!("{}", table(&named));
    if let Some(path) = &options.json {
        let fits = |f: &Fits| json!({"constant": f.constant.json(), "distribution": f.distribution.json()});
        let of = |(name, all): &(String, &[Fits])| json!({"case": name, "rounds": all.iter().map(fits).collect::<Vec<_>>()});
        let cases: Vec<Value> = named.iter().map(of).collect();
        write_json(
            path,
            &json!({"schema": "fathom-bench-calibrate/2", "machine": machine.json(), "wanted_percent": WANTED, "cases": cases}),
        )?;
    }
    Ok(named.iter().all(|(_, all)| kept(all)) || !options.gate)
}

/// Whether the median of the better kind is what is wanted.
fn kept(all: &[Fits]) -> bool {
    let demerits: Vec<f64> = all.iter().map(|f| f.distribution.demerit).collect();
    Spread::of(&demerits).is_some_and(|s| s.median <= WANTED)
}

fn table(cases: &[(String, &[Fits])]) -> String {
    let mut text = format!(
        "| device, load | held-out requests | its mean ms | the model's | demerit, constant | demerit, distribution | the device's halves | <= {WANTED} % |\n\
         |---|---|---|---|---|---|---|---|\n"
    );
    for (name, all) in cases {
        let of = |figure: fn(&Fits) -> f64| Spread::of(&all.iter().map(figure).collect::<Vec<_>>());
        let figures = [
            of(|f| f.distribution.device_ms),
            of(|f| f.distribution.model_ms),
            of(|f| f.constant.demerit),
            of(|f| f.distribution.demerit),
            of(|f| f.distribution.halves),
        ];
        let [Some(device), Some(model), Some(constant), Some(distribution), Some(halves)] = figures else {
            continue;
        };
        let percent = |s: Spread| format!("{:.1} % [{:.1}-{:.1}]", s.median, s.min, s.max);
        text += &format!(
            "| {name} | {} | {:.3} | {:.3} | {} | {} | {} | {} |\n",
            all.iter().map(|f| f.distribution.requests).sum::<u64>(),
            device.median,
            model.median,
            percent(constant),
            percent(distribution),
            percent(halves),
            if kept(all) { "kept" } else { "MISSED" }
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_is_read_and_set_beside_what_is_wanted() {
        let printed = |demerit: f64| json!({"fitted_requests": 50, "held_out": {"requests": 50, "device_mean_ns": 2.5e6, "model_mean_ns": 2.4e6, "demerit_percent": demerit, "halves_percent": 12.0}});
        let fits = |demerit: f64| Fits {
            constant: Judged::of(&printed(60.0)).unwrap(),
            distribution: Judged::of(&printed(demerit)).unwrap(),
        };
        let (good, bad) = (fits(20.0), fits(26.0));
        assert_eq!(Judged::of(&json!({"held_out": null})), None);
        let text = table(&[("a".into(), &[good, good, bad]), ("b".into(), &[bad, bad, good])]);
        assert!(text.contains("| a | 150 | 2.500 | 2.400 | 60.0 % [60.0-60.0] | 20.0 % [20.0-26.0] | 12.0 % [12.0-12.0] | kept |"), "{text}");
        assert!(text.contains("| b | 150 | 2.500 | 2.400 | 60.0 % [60.0-60.0] | 26.0 % [20.0-26.0] | 12.0 % [12.0-12.0] | MISSED |"), "{text}");
    }

    #[test]
    fn a_case_is_a_workload() {
        for held_back in [false, true] {
            let case = Case { held_back, depth: 32 };
            let value: toml::Value = toml::from_str(&case.workload(Path::new("/d/f"))).unwrap();
            let stream = &value["phase"][0]["group"][0]["thread"][0]["program"]["stream"];
            assert_eq!(stream["queue_depth"].as_integer(), Some(32));
        }
    }
}
