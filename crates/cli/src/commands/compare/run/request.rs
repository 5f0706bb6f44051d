//! What to compare, from the command line: two workloads, two values of a setting or two directories, and the plan that
//! is fixed before the first run.

use super::line::{Measure, StopRule};
use crate::commands::compare::line::Compare;
use crate::commands::compare::share;
use crate::commands::sweep::stage;
use crate::commands::sweep::subject::SweepSubject;
use crate::commands::sweep::vary::{self, Target, Varied};
use crate::commands::sweep::{image, time};
use crate::exit::Usage;
use fathom_compare::sequential::{Precision, Spending};
use fathom_report::compared::{Plan, Stopping};
use std::ffi::OsString;
use std::time::{Duration, SystemTime};

/// More quads are a typing error.
const MOST_QUADS: u32 = 100;
/// The change to detect by default.
const EFFECT: f64 = 0.03;
const MOST_EFFECT: f64 = 0.99;
/// Separates the command lines of two drop-ins.
const AND: &str = "--and";

pub struct Request {
    pub stage: stage::StageRequest,
    pub plan: Plan,
    pub warm_up: u32,
    pub budget: Option<Duration>,
    /// Measure A against itself first.
    pub calibrate: bool,
    /// There is no B: only the noise is measured.
    pub alone: bool,
}

impl Request {
    pub fn read(options: &Compare, threshold: f64) -> Result<Self, Usage> {
        let measure = &options.measure;
        let subjects = subjects(&options.sides, &measure.words)?;
        let varied = factors(measure, &subjects)?;
        let sides = sides(&varied, &subjects, measure.calibrate)?;
        check_places(measure, &varied)?;
        // If only the threshold was given, the effect to detect grows with it.
        let usual = EFFECT.max(3.0 * threshold).min(MOST_EFFECT);
        let effect = measure.effect.as_deref().map_or(Ok(usual), |t| share("--effect", t))?;
        if effect <= threshold {
            let percent = |share: f64| fathom_compare::wording::short(share * 100.0);
            return Err(Usage(format!(
                "--effect {} % is not above --threshold {} %: smaller changes are no verdict, however many runs there are",
                percent(effect),
                percent(threshold)
            )));
        }
        if measure.max_quads == 0 || measure.max_quads > MOST_QUADS {
            return Err(Usage(format!("--max-quads {}: 1 to {MOST_QUADS} are expected", measure.max_quads)));
        }
        let (image_in, image_bytes) =
            image::read(&varied, measure.image_in.as_deref(), measure.image_size.as_deref())?;
        let alone = sides.is_none();
        Ok(Self {
            plan: Plan {
                sides: sides.unwrap_or_else(|| [name(&varied, &subjects, 0), String::new()]),
                figure: measure.figure.clone(),
                effect,
                threshold,
                stopping: stopping(measure)?,
                noise: None,
            },
            stage: stage::StageRequest {
                subjects,
                varied,
                seed: measure.seed.unwrap_or_else(drawn),
                settle: time("--settle", measure.settle.as_deref().unwrap_or("0s"))?,
                cold: measure.conditions.cold,
                image_in,
                image_bytes,
                on: measure.on.clone(),
            },
            warm_up: measure.warm_up,
            budget: measure.budget.as_deref().map(|t| time("--budget", t)).transpose()?,
            calibrate: measure.calibrate,
            alone,
        })
    }
}

/// A random seed, short enough to type again.
fn drawn() -> u64 {
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
    (u64::from(nanos) ^ u64::from(std::process::id()) << 7) % 1_000_000
}

fn stopping(measure: &Measure) -> Result<Stopping, Usage> {
    let most = measure.max_quads as usize;
    match measure.stop {
        StopRule::Spending if measure.half_width.is_some() => {
            Err(Usage("--half-width belongs to --stop precision; --stop spending looks at p only".into()))
        }
        StopRule::Spending => {
            let Spending { early, last, .. } = Spending::within(most);
            Ok(Stopping::Spending { most_quads: u64::from(measure.max_quads), early, last })
        }
        StopRule::Precision => {
            let half_width = measure.half_width.as_deref();
            let half_width =
                half_width.map_or(Ok(Precision::DEFAULT.half_width), |t| share("--half-width", t))?;
            Ok(Stopping::Precision { most_quads: u64::from(measure.max_quads), half_width, level: 0.01 })
        }
    }
}

fn subjects(files: &[String], words: &[OsString]) -> Result<Vec<SweepSubject>, Usage> {
    let lines: Vec<&[OsString]> =
        if words.is_empty() { Vec::new() } else { words.split(|w| w == AND).collect() };
    if lines.iter().any(|line| line.is_empty()) {
        return Err(Usage(format!(
            "{AND} separates two command lines of drop-ins, and one of them is empty"
        )));
    }
    let all: Vec<Vec<OsString>> =
        files.iter().map(|f| vec![f.into()]).chain(lines.into_iter().map(<[OsString]>::to_vec)).collect();
    if all.is_empty() || all.len() > 2 {
        return Err(Usage(format!(
            "--run compares two workloads, or one under two values of a setting: {} were named. \
             As in: fathom compare --run old.toml new.toml; fathom compare --run --vary scheduler=none,bfq w.toml; \
             fathom compare --run -- sysbench ... run --and sysbench ... run",
            all.len()
        )));
    }
    all.iter().map(|line| SweepSubject::read(line)).collect()
}

/// Everything that varies between the sides.
fn factors(measure: &Measure, subjects: &[SweepSubject]) -> Result<Vec<Varied>, Usage> {
    let mut all = Vec::new();
    if subjects.len() > 1 {
        let values = subjects.iter().map(SweepSubject::words).collect();
        all.push(Varied { name: "workload".into(), values, target: Target::Subject });
    }
    if !measure.dirs.is_empty() {
        let values = measure.dirs.iter().map(|d| d.display().to_string()).collect();
        all.push(Varied { name: "in".into(), values, target: Target::Directory });
    }
    all.extend(vary::read(&measure.vary, subjects)?);
    Ok(all)
}

/// The names of the sides; `None` if only the noise of one side is measured.
fn sides(
    varied: &[Varied],
    subjects: &[SweepSubject],
    calibrate: bool,
) -> Result<Option<[String; 2]>, Usage> {
    if let Some(many) = varied.iter().find(|v| v.values.len() > 2) {
        return Err(Usage(format!(
            "{} has {} values: A and B are two; fathom sweep measures more",
            many.name,
            many.values.len()
        )));
    }
    let two: Vec<&str> = varied.iter().filter(|v| v.values.len() == 2).map(|v| v.name.as_str()).collect();
    match two.as_slice() {
        [_] => {
            let [a, mut b] = [0, 1].map(|side| name(varied, subjects, side));
            if a == b {
                b += " (again)";
            }
            Ok(Some([a, b]))
        }
        [] if calibrate => Ok(None),
        [] => Err(Usage(
            "nothing differs between the sides: name a second workload, two values of a setting (--vary), two directories (--in), \
             or ask with --calibrate for the noise alone"
                .into(),
        )),
        several => Err(Usage(format!(
            "the sides would differ in {}, so the cause of a difference could not be identified. Let them differ in one; fathom sweep measures combinations",
            several.join(" and ")
        ))),
    }
}

/// The name of a side: the values in which it differs, else its workload.
fn name(varied: &[Varied], subjects: &[SweepSubject], side: usize) -> String {
    match varied.iter().find(|v| v.values.len() == 2) {
        Some(v) if v.target == Target::Subject => v.values[side].clone(),
        Some(v) => format!("{}={}", v.name, v.values[side]),
        None => subjects.first().map(SweepSubject::words).unwrap_or_default(),
    }
}

/// Checks that the named places fit together.
fn check_places(measure: &Measure, varied: &[Varied]) -> Result<(), Usage> {
    let has_disk = varied.iter().any(Varied::is_of_disk);
    let refused = |message: &str| Err(Usage(message.into()));
    if has_disk && !measure.dirs.is_empty() {
        return refused("--in names directories, and fs=... makes a new file system; leave one of them out");
    }
    if has_disk && measure.on.is_some() {
        return refused("--on names a device, and fs=... makes a new one; leave one of them out");
    }
    if measure.dirs.len() == 2 && measure.on.is_none() && varied.iter().any(|v| v.knob().is_some()) {
        return refused("to vary a kernel setting with two directories, name the device to change with --on");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varied(name: &str, values: &[&str], target: Target) -> Varied {
        Varied { name: name.into(), values: values.iter().map(|v| (*v).to_string()).collect(), target }
    }

    fn refusal(varied: &[Varied]) -> String {
        sides(varied, &[], false).err().map_or_else(String::new, |e| e.0)
    }

    #[test]
    fn exactly_one_thing_differs() {
        let rate = || varied("rate", &["100", "95"], Target::Workload);
        let time = || varied("time", &["1s"], Target::Workload);
        assert_eq!(
            sides(&[time(), rate()], &[], false).expect("two").expect("sides"),
            ["rate=100", "rate=95"].map(String::from)
        );
        assert!(refusal(&[time()]).contains("nothing differs"));
        assert!(sides(&[time()], &[], true).expect("noise alone").is_none());
        assert!(refusal(&[rate(), varied("in", &["a", "b"], Target::Directory)]).contains("rate and in"));
        assert!(refusal(&[varied("rate", &["1", "2", "3"], Target::Workload)]).contains("rate has 3 values"));
        let same = varied("workload", &["w.toml", "w.toml"], Target::Subject);
        assert_eq!(
            sides(&[same], &[], false).expect("two").expect("sides"),
            ["w.toml", "w.toml (again)"].map(String::from)
        );
    }

    #[test]
    fn command_lines_are_parted_by_and() {
        let words: Vec<OsString> =
            ["sysbench", "fileio", "run", "--and", "iozone", "-a"].map(OsString::from).to_vec();
        let two = subjects(&[], &words).unwrap_or_else(|e| panic!("{e}"));
        let typed: Vec<String> = two.iter().map(SweepSubject::words).collect();
        assert_eq!(typed, ["sysbench fileio run", "iozone -a"]);
        let three = [words, vec![AND.into(), "iozone".into()]].concat();
        assert!(subjects(&[], &three).is_err_and(|e| e.0.contains("3 were named")));
    }
}
