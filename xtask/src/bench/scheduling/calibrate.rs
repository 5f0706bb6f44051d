//! `cargo xtask bench calibrate`: how far is a profile that `fathom sim calibrate` fits from the device it was fitted to? Random reads at
//! several depths on a loop device, held back by a control group and not; fitted to the first half of each trace, and judged on the
//! second by the demerit: the root mean square distance of the two distributions of response times, in percent of the mean.

use super::load::{Process, Work, workload};
use super::stand::{Stand, need_root};
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
}

impl Judged {
    /// Of what `fathom sim calibrate --json` printed.
    fn of(told: &Value) -> Option<Self> {
        let half = &told["held_out"];
        Some(Self {
            fitted: told["fitted_requests"].as_u64()?,
            requests: half["requests"].as_u64()?,
            device_ms: half["device_mean_ns"].as_f64()? / 1e6,
            model_ms: half["model_mean_ns"].as_f64()? / 1e6,
            demerit: half["demerit_percent"].as_f64()?,
        })
    }

    fn json(&self) -> Value {
        json!({"fitted_requests": self.fitted, "held_out_requests": self.requests, "device_mean_ms": self.device_ms,
               "model_mean_ms": self.model_ms, "demerit_percent": self.demerit})
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
    let mut stand = Stand::made(dir.path(), &fathom)?;
    stand.device().schedule("none")?;
    let profile = dir.path().join("fitted.toml").display().to_string();
    let mut measured: Vec<Vec<Judged>> = cases.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for (case, all) in cases.iter().zip(&mut measured) {
            progress(&format!("round {} of {rounds}: {}", round + 1, case.name()));
            let trace = stand.record(&case.workload(&stand.file), false, case.held_back)?;
            let told = stand.asked(&["sim", "calibrate", "--force", "--output", &profile], &trace)?;
            all.push(Judged::of(&told).with_context(|| format!("{}: nothing was held out", case.name()))?);
        }
    }
    progress("");
    println!("{}", machine.line());
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    println!("random reads of 4 KiB, {}; {rounds} rounds\n", stand.about());
    let named: Vec<(String, &[Judged])> =
        cases.iter().zip(&measured).map(|(c, all)| (c.name(), all.as_slice())).collect();
    print!("{}", table(&named));
    if let Some(path) = &options.json {
        let of = |(name, all): &(String, &[Judged])| json!({"case": name, "rounds": all.iter().map(Judged::json).collect::<Vec<_>>()});
        let cases: Vec<Value> = named.iter().map(of).collect();
        write_json(
            path,
            &json!({"schema": "fathom-bench-calibrate/1", "machine": machine.json(), "wanted_percent": WANTED, "cases": cases}),
        )?;
    }
    Ok(named.iter().all(|(_, all)| kept(all)) || !options.gate)
}

/// Whether the median is what is wanted.
fn kept(all: &[Judged]) -> bool {
    let demerits: Vec<f64> = all.iter().map(|j| j.demerit).collect();
    Spread::of(&demerits).is_some_and(|s| s.median <= WANTED)
}

fn table(cases: &[(String, &[Judged])]) -> String {
    let mut text = format!(
        "| device, load | held-out requests | its mean ms | the model's | demerit [least-most] | <= {WANTED} % |\n|---|---|---|---|---|---|\n"
    );
    for (name, all) in cases {
        let of = |figure: fn(&Judged) -> f64| Spread::of(&all.iter().map(figure).collect::<Vec<_>>());
        let (Some(device), Some(model), Some(demerit)) =
            (of(|j| j.device_ms), of(|j| j.model_ms), of(|j| j.demerit))
        else {
            continue;
        };
        text += &format!(
            "| {name} | {} | {:.3} | {:.3} | {:.1} % [{:.1}-{:.1}] | {} |\n",
            all.iter().map(|j| j.requests).sum::<u64>(),
            device.median,
            model.median,
            demerit.median,
            demerit.min,
            demerit.max,
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
        let told = |demerit: f64| json!({"fitted_requests": 50, "held_out": {"requests": 50, "device_mean_ns": 2.5e6, "model_mean_ns": 2.4e6, "demerit_percent": demerit}});
        let good = Judged::of(&told(20.0)).unwrap();
        let bad = Judged::of(&told(26.0)).unwrap();
        assert_eq!(Judged::of(&json!({"held_out": null})), None);
        let text = table(&[("a".into(), &[good, good, bad]), ("b".into(), &[bad, bad, good])]);
        assert!(text.contains("| a | 150 | 2.500 | 2.400 | 20.0 % [20.0-26.0] | kept |"), "{text}");
        assert!(text.contains("| b | 150 | 2.500 | 2.400 | 26.0 % [20.0-26.0] | MISSED |"), "{text}");
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
