//! `cargo xtask bench isofs`: `fathom mount` and `fathom iso` beside fuseiso, bsdtar, 7z and cp, the image in the page cache, every mount
//! fresh. Contenders take turns in every round; a rule says what must hold between the medians. This file runs the rounds and prints.

mod cases;
mod images;
mod mounted;
mod reading;
mod rules;

use super::dropin::write_json;
use super::interrupt;
use super::machine::Machine;
use super::options::Options;
use super::progress;
use super::spread::{Random, Spread};
use anyhow::{Result, bail};
use cases::{CASES, Case};
use rules::{RULES, Rule, judged};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ROUNDS: usize = 5;
/// The order of contenders in each round is drawn from this.
const SEED: u64 = 0x0be7_c4ed_5eed_9660;

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    Fathom,
    Fuseiso,
    /// The image itself, read as a file.
    Image,
    Bsdtar,
    SevenZip,
    /// The files that the image was made from.
    Source,
}

impl Who {
    pub fn name(self) -> &'static str {
        match self {
            Self::Fathom => "fathom",
            Self::Fuseiso => "fuseiso",
            Self::Image => "image file",
            Self::Bsdtar => "bsdtar",
            Self::SevenZip => "7z",
            Self::Source => "cp -r of the source",
        }
    }
}

/// Values of each measure and contender, one a round.
pub type Figures = BTreeMap<(&'static str, Who), Vec<f64>>;

/// Where everything is.
pub struct Site {
    pub fathom: PathBuf,
    /// Images, sources and mount points.
    pub dir: PathBuf,
    pub file_mib: u64,
}

/// Runs the bench; false if a must is not kept and `--gate` given.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    options.refuse("isofs", &["--seconds"])?;
    if !super::loop_device::root() {
        bail!("`bench isofs` mounts images as root; fuseiso and fathom alike");
    }
    let chosen: Vec<&Case> = CASES.iter().filter(|case| options.wants(case.name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        bail!(crate::Usage(format!("No case has that in its name; there are: {}.", names.join("; "))));
    }
    interrupt::note();
    let fathom = super::built(root)?;
    let machine = Machine::seen(root);
    let dir = tempfile::Builder::new().prefix("bench-").tempdir_in(root.join("target"))?;
    let site = Site { fathom, dir: dir.path().to_owned(), file_mib: options.file_mib };
    let rounds = options.rounds.unwrap_or(ROUNDS);
    println!("{}", machine.line());
    println!(
        "image in the page cache, a fresh mount for every sample; medians of {rounds} interleaved rounds, order from seed {SEED:#x}\n"
    );
    let mut figures = Figures::new();
    for case in chosen {
        rounds_of(case, &site, rounds, &mut figures)?;
    }
    let kept = print(&figures);
    println!("\n{}", machine_after());
    if let Some(path) = &options.json {
        write_json(path, &as_json(&machine, rounds, &figures))?;
    }
    Ok(kept || !options.gate)
}

/// Every contender of a case in every round. One that fails is named and left out.
fn rounds_of(case: &Case, site: &Site, rounds: usize, figures: &mut Figures) -> Result<()> {
    progress(&format!("{}: images are made", case.name));
    (case.prepare)(site)?;
    let mut random = Random(SEED);
    let mut left = case.contenders.to_vec();
    for round in 0..rounds {
        random.shuffle(&mut left);
        for who in left.clone() {
            progress(&format!("{}: round {} of {rounds}: {}", case.name, round + 1, who.name()));
            match (case.measure)(site, who) {
                Ok(values) => values
                    .into_iter()
                    .for_each(|(measure, value)| figures.entry((measure, who)).or_default().push(value)),
                Err(error) if interrupt::came() => return Err(error),
                Err(error) => {
                    progress("");
                    eprintln!("{}, {}: {error:#}", case.name, who.name());
                    left.retain(|other| *other != who);
                }
            }
        }
    }
    progress("");
    Ok(())
}

/// The rules with what they came to; whether every must is kept.
fn print(figures: &Figures) -> bool {
    println!(
        "| | measure | fathom | beside | value | must | | target | |\n|---|---|---|---|---|---|---|---|---|"
    );
    let mut kept = true;
    for rule in RULES {
        let Some(found) = judged(rule, figures) else { continue };
        kept &= found.kept;
        println!(
            "| {} | {} | {} | {} | {} | {} {} | {} | {} | {} |",
            rule.id,
            rule.what,
            cell(figures, rule.measure, Who::Fathom),
            rule.than.map_or_else(String::new, |(who, measure)| format!(
                "{} {}",
                who.name(),
                cell(figures, measure, who)
            )),
            number(found.value),
            rule.sign(),
            number(rule.must),
            if found.kept { "kept" } else { "NOT kept" },
            rule.target.map_or_else(|| "-".into(), number),
            found.reached.map_or("", |reached| if reached { "reached" } else { "not reached" }),
        );
    }
    kept
}

/// "1554 [1358-1764]".
fn cell(figures: &Figures, measure: &str, who: Who) -> String {
    let values = figures.iter().find(|((name, of), _)| *name == measure && *of == who);
    let spread = values.and_then(|(_, values)| Spread::of(values));
    spread
        .map_or_else(|| "-".into(), |s| format!("{} [{}-{}]", number(s.median), number(s.min), number(s.max)))
}

fn number(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.3}"),
    }
}

fn machine_after() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load at the end: {}", load.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

fn as_json(machine: &Machine, rounds: usize, figures: &Figures) -> Value {
    let samples: Vec<Value> = figures
        .iter()
        .map(|((measure, who), values)| json!({"measure": measure, "who": who.name(), "values": values}))
        .collect();
    let verdict = |rule: &Rule| {
        let found = judged(rule, figures)?;
        Some(
            json!({"id": rule.id, "what": rule.what, "value": found.value, "must": rule.must, "kept": found.kept,
                    "target": rule.target, "reached": found.reached}),
        )
    };
    let rules: Vec<Value> = RULES.iter().filter_map(verdict).collect();
    json!({"schema": "fathom-bench-isofs/1", "machine": machine.json(), "seed": SEED, "rounds": rounds,
           "samples": samples, "rules": rules})
}
