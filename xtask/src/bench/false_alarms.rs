//! `cargo xtask bench false-alarms`: how often `fathom compare --run` cries wolf on this machine, and how often it sees what is there. A
//! session is one such comparison of a real workload, 4 KiB random reads past the page cache: first many sessions of the workload against
//! itself, then as many of it at a rate against a rate 5 % lower, far enough below what the device gives that nothing else bounds it.

use super::dropin::write_json;
use super::machine::Machine;
use super::options::Options;
use super::peers::{Site, fathom};
use super::spread::Spread;
use super::{files, interrupt, progress};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Sessions of each kind.
const SESSIONS: usize = 40;
/// Length of a run.
const SECONDS: f64 = 1.0;
/// Quads of a session: the fewest that allow a verdict.
const QUADS: usize = 3;
/// More would not be another experiment, only another cache.
const MOST_FILE_MIB: u64 = 64;
/// The true change.
const CHANGE: f64 = 0.05;
/// The rate of the first side, as a share of what the device gives when nothing limits it.
const SHARE: f64 = 0.4;
/// Detections that are expected at least.
const FEWEST_FOUND: f64 = 0.9;

/// What stands where a percentile has too few operations.
const TOO_FEW: &str = "too-few-operations";

/// What one session came to.
struct Session {
    /// By figure: the verdict's word, p, ratio, CV.
    rows: Vec<Figure>,
    took: Duration,
}

struct Figure {
    metric: String,
    verdict: String,
    p: Option<f64>,
    ratio: Option<f64>,
    cv: Option<f64>,
    headline: bool,
}

/// Sessions of one kind.
struct Kind {
    name: &'static str,
    sessions: Vec<Session>,
}

/// Runs the bench.
pub fn run(root: &Path, options: &Options) -> Result<bool> {
    interrupt::note();
    let machine = Machine::seen(root);
    let fathom = super::built(root)?;
    let (sessions, seconds) = (options.sessions.unwrap_or(SESSIONS), options.seconds.unwrap_or(SECONDS));
    let quads = options.rounds.unwrap_or(QUADS);
    ensure!(
        quads >= QUADS,
        crate::Usage(format!("`bench false-alarms` needs {QUADS} quads at least: fewer allow no verdict."))
    );
    let dir = tempfile::tempdir_in(root.join("target"))?;
    progress("a file is made");
    let files = files::Files::new(dir.path(), options.file_mib.min(MOST_FILE_MIB), None);
    let (path, file_bytes) = files.get(files::Kind::Data)?;
    let site = Site { dir: dir.path(), fathom: &fathom, path: &path, file_bytes, seconds };
    let unlimited = unlimited(&site)?;
    println!("{}", machine.line());
    if let Some(warning) = machine.warning() {
        eprintln!("{warning}");
    }
    println!(
        "4 KiB random reads, O_DIRECT, one thread, a file of {} MiB, {seconds} s a run: {unlimited:.0} op/s without a limit.\n\
         A session is one `fathom compare --run` of {quads} quads: {} runs of each side and one of each that is thrown away.\n",
        file_bytes >> 20,
        2 * quads
    );
    let rate = round(unlimited * SHARE);
    let lower = (rate * (1.0 - CHANGE)).round();
    let pair = format!("rate={rate},{lower}");
    let workload = write_workload(&site)?;
    let kinds: [(&str, Vec<&str>); 2] =
        [("against itself", vec![&workload, &workload]), ("5 % slower", vec!["--vary", &pair, &workload])];
    let mut all = Vec::new();
    for (name, sides) in kinds.iter().filter(|(name, _)| options.wants(name)) {
        let kind = Kind { name, sessions: measured(&site, name, sides, (sessions, quads))? };
        print!("{}", kind.text((rate, lower)));
        all.push(kind);
        if interrupt::came() {
            println!("ended by a signal; the sessions above are those that were complete");
            break;
        }
    }
    if let Some(path) = &options.json {
        let kinds: Vec<Value> = all.iter().map(Kind::json).collect();
        let asked = json!({"sessions": sessions, "seconds": seconds, "quads": quads, "rates": [rate, lower]});
        write_json(
            path,
            &json!({"schema": "fathom-bench-false-alarms/1", "machine": machine.json(), "asked": asked, "kinds": kinds}),
        )?;
    }
    Ok(!options.gate || (!all.is_empty() && all.iter().all(Kind::holds)))
}

/// The workload, without a rate.
fn write_workload(site: &Site<'_>) -> Result<String> {
    let stream = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\nbackend = { psync = \"pread\" }\n\
                  open = { direct = true }\namount = \"endless\"";
    let job = fathom::Job { stream: "", phase: "", threads: 1, writes: false };
    let phase = format!("stop = {{ time = \"{}ms\" }}", (site.seconds * 1e3).round());
    let file = site.dir.join("random-read.toml");
    std::fs::write(&file, fathom::workload(site, &phase, stream, &job))?;
    Ok(file.to_str().context("the build directory's name is not UTF-8")?.to_owned())
}

/// Operations per second without a limit: the median of three runs.
fn unlimited(site: &Site<'_>) -> Result<f64> {
    let text = std::fs::read_to_string(write_workload(site)?)?;
    let mut rates = Vec::new();
    for _ in 0..3 {
        let record = fathom::run(site, &text)?;
        rates.push(1e9 / fathom::figures(&record["phases"][0]["repetitions"][0]["workers"])?.wall_ns);
    }
    Ok(Spread::of(&rates).context("no run was measured")?.median)
}

/// Three digits are enough, and are a rate that one would type.
fn round(rate: f64) -> f64 {
    let step = 10f64.powf(rate.max(10.0).log10().floor() - 2.0);
    (rate / step).round() * step
}

fn measured(
    site: &Site<'_>,
    name: &str,
    sides: &[&str],
    (sessions, quads): (usize, usize),
) -> Result<Vec<Session>> {
    let mut all = Vec::new();
    let began = Instant::now();
    for number in 0..sessions {
        let left = match number {
            0 => String::new(),
            n => format!(", {:.0} s left", began.elapsed().as_secs_f64() / n as f64 * (sessions - n) as f64),
        };
        progress(&format!("{name}: session {} of {sessions}{left}", number + 1));
        match session(site, sides, quads, number)? {
            Some(session) => all.push(session),
            None => break,
        }
    }
    progress("");
    Ok(all)
}

/// One comparison; `None` after a signal. Every session draws its orders from its own seed.
fn session(site: &Site<'_>, sides: &[&str], quads: usize, number: usize) -> Result<Option<Session>> {
    let began = Instant::now();
    let output = Command::new(site.fathom)
        .current_dir(site.dir)
        .args(["--no-store", "compare", "--run", "--json", "--max-quads", &quads.to_string(), "--seed"])
        .arg((number + 1).to_string())
        .args(sides)
        .output()
        .context("fathom could not be started")?;
    if interrupt::came() {
        return Ok(None);
    }
    ensure!(output.status.success(), "fathom: {}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout)?;
    let rows = figures(&printed)?;
    Ok(Some(Session { rows, took: began.elapsed() }))
}

/// The figures of the first comparison of the JSON.
fn figures(printed: &Value) -> Result<Vec<Figure>> {
    let Some(rows) = printed["comparisons"][0]["rows"].as_array().filter(|r| !r.is_empty()) else {
        bail!("the comparison has no figures: {printed:.300}")
    };
    let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let figure = |row: &Value| Figure {
        metric: word(row, "metric"),
        verdict: word(row, "verdict"),
        p: row["p"].as_f64(),
        ratio: row["effect"]["estimate"].as_f64(),
        cv: row["cv"].as_f64(),
        headline: row["headline"].as_bool().unwrap_or(false),
    };
    Ok(rows.iter().map(figure).collect())
}

impl Kind {
    /// Names of the figures, the one that cells are quoted by first.
    fn metrics(&self) -> Vec<&str> {
        let rows = || self.sessions.iter().flat_map(|s| &s.rows).filter(|r| r.verdict != TOO_FEW);
        let mut names: Vec<&str> = rows().filter(|r| r.headline).map(|r| r.metric.as_str()).collect();
        names.extend(rows().map(|r| r.metric.as_str()));
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|n| seen.insert(*n));
        names
    }

    fn of<'k>(&'k self, metric: &'k str) -> impl Iterator<Item = &'k Figure> {
        self.sessions.iter().filter_map(move |s| s.rows.iter().find(|r| r.metric == metric))
    }

    fn with(&self, metric: &str, words: &[&str]) -> usize {
        self.of(metric).filter(|f| words.contains(&f.verdict.as_str())).count()
    }

    fn is_change(&self) -> bool {
        self.name != "against itself"
    }

    /// How many of the figure that cells are quoted by: false alarms, or detections in the right direction.
    fn count(&self) -> Option<usize> {
        let headline = *self.metrics().first()?;
        Some(if self.is_change() {
            self.with(headline, &["worse"])
        } else {
            self.with(headline, &["better", "worse"])
        })
    }

    /// Whether that many may be expected: false alarms that 1 % a session gives in 99 of 100 benches, detections in nine of ten.
    fn holds(&self) -> bool {
        let n = self.sessions.len();
        self.count().is_some_and(|count| {
            if self.is_change() { count as f64 >= FEWEST_FOUND * n as f64 } else { count <= most_alarms(n) }
        })
    }

    fn text(&self, (rate, lower): (f64, f64)) -> String {
        let n = self.sessions.len();
        let Some(count) = self.count() else { return format!("{}: no session was measured\n", self.name) };
        let seconds: f64 = self.sessions.iter().map(|s| s.took.as_secs_f64()).sum();
        let mut text = if self.is_change() {
            format!(
                "The workload at {rate} op/s against {lower} op/s, {:.1} % less: detections {count} of {n}",
                (1.0 - lower / rate) * 100.0
            )
        } else {
            format!(
                "The workload against itself: false alarms {count} of {n} (at most {} are expected)",
                most_alarms(n)
            )
        };
        let noise: Vec<f64> =
            self.metrics().first().iter().flat_map(|m| self.of(m)).filter_map(|f| f.cv).collect();
        if let Some(noise) = Spread::of(&noise) {
            text += &format!("; single runs scatter by {:.2} % (CV within quads)", noise.median * 100.0);
        }
        text += &format!(
            " ({:.0} min)\n\n| figure | faster, better | slower, worse | below threshold | same | inconclusive | other | CV of a run, median [min-max] | ratio, median [min-max] | smallest p |\n|---|---|---|---|---|---|---|---|---|---|\n",
            seconds / 60.0
        );
        for metric in self.metrics() {
            let words = [&["better"][..], &["worse"], &["below-threshold"], &["same"], &["inconclusive"]];
            let counts = words.map(|w| self.with(metric, w));
            let other = self.of(metric).count() - counts.iter().sum::<usize>();
            let spread = |of: fn(&Figure) -> Option<f64>, scale: f64, digits: usize, unit: &str| {
                let all: Vec<f64> = self.of(metric).filter_map(of).map(|v| v * scale).collect();
                Spread::of(&all).map_or("-".into(), |s| {
                    format!("{:.digits$}{unit} [{:.digits$}-{:.digits$}]", s.median, s.min, s.max)
                })
            };
            let least = self.of(metric).filter_map(|f| f.p).reduce(f64::min);
            text += &format!(
                "| {metric} | {} | {} | {} | {} | {} | {other} | {} | {} | {} |\n",
                counts[0],
                counts[1],
                counts[2],
                counts[3],
                counts[4],
                spread(|f| f.cv, 100.0, 2, " %"),
                spread(|f| f.ratio, 1.0, 4, ""),
                least.map_or("-".into(), |p| format!("{p:.4}"))
            );
        }
        text + "\n"
    }

    fn json(&self) -> Value {
        let figure = |f: &Figure| json!({"metric": f.metric, "verdict": f.verdict, "p": f.p, "ratio": f.ratio, "cv": f.cv, "headline": f.headline});
        let session = |s: &Session| json!({"seconds": s.took.as_secs_f64(), "figures": s.rows.iter().map(figure).collect::<Vec<_>>()});
        json!({"name": self.name, "sessions": self.sessions.iter().map(session).collect::<Vec<_>>(),
               "count": self.count(), "holds": self.holds()})
    }
}

/// The most false alarms in N sessions at a rate of 1 %; one bench in a hundred has more.
fn most_alarms(sessions: usize) -> usize {
    let (mut chance, mut sum, mut most) = (0.99f64.powi(sessions as i32), 0.0, 0);
    loop {
        sum += chance;
        if sum >= 0.99 || most == sessions {
            return most;
        }
        chance *= (sessions - most) as f64 / (most + 1) as f64 * 0.01 / 0.99;
        most += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &'static str, words: &[&str]) -> Kind {
        let figure = |metric: &str, verdict: &str, headline| Figure {
            metric: metric.into(),
            verdict: verdict.into(),
            p: Some(0.5),
            ratio: Some(0.99),
            cv: Some(0.02),
            headline,
        };
        let session = |word: &&str| Session {
            rows: vec![figure("read p50", "same", false), figure("throughput", word, true)],
            took: Duration::from_secs(15),
        };
        Kind { name, sessions: words.iter().map(session).collect() }
    }

    #[test]
    fn verdicts_are_counted_by_the_figure_that_cells_are_quoted_by() {
        let itself = kind("against itself", &["same", "inconclusive", "better", "worse"]);
        assert_eq!((itself.metrics(), itself.count()), (vec!["throughput", "read p50"], Some(2)));
        assert!(!itself.holds() && itself.text((0.0, 0.0)).contains("false alarms 2 of 4"));
        let slower = kind("5 % slower", &["worse", "worse", "better"]);
        assert_eq!(slower.count(), Some(2));
        let text = slower.text((1000.0, 950.0));
        assert!(
            text.contains("5.0 % less: detections 2 of 3") && text.contains("| throughput | 1 | 2 | 0 |"),
            "{text}"
        );
        assert_eq!(kind("5 % slower", &[]).count(), None);
    }

    #[test]
    fn chance_gives_the_expected_number_of_alarms() {
        assert_eq!([1, 10, 40, 200].map(most_alarms), [0, 1, 2, 6]);
    }

    #[test]
    fn rates_are_round_and_their_change_is_kept() {
        let rate = round(4321.0);
        assert_eq!((rate, (rate * (1.0 - CHANGE)).round()), (4320.0, 4104.0));
    }

    #[test]
    fn figures_are_read_from_the_published_form() {
        let printed = json!({"comparisons": [{"rows": [
            {"metric": "throughput", "verdict": "same", "p": 0.4, "effect": {"estimate": 1.001}, "cv": 0.013, "headline": true},
            {"metric": "read p99.9", "verdict": "too-few-operations", "p": null, "effect": null, "cv": null, "headline": false},
        ]}]});
        let found = figures(&printed).unwrap();
        assert_eq!((found[0].verdict.as_str(), found[0].cv, found[1].p), ("same", Some(0.013), None));
        assert!(figures(&json!({"comparisons": []})).is_err());
    }
}
