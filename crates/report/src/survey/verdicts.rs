//! What the storage is good for: a verdict for each use, by thresholds from one table that are shown with the verdict.

use super::facts::{
    by_storage, by_storage_alone, course, files_per_s, in_memory, is_survey, latency_of, named, of_stage,
    synced, without_durable_syncs,
};
use crate::{Kind, units};
use fathom_record::{Mark, Phase, Run};

/// How well a storage suits a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Every figure meets the use's requirements.
    Good,
    /// Acceptable.
    Fair,
    /// Noticeably slow.
    Poor,
    /// Not measured.
    Unknown,
}

impl Grade {
    /// The word in sentences and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
            Self::Unknown => "not measured",
        }
    }
}

/// A figure that a use depends on.
#[derive(Clone, Copy, Debug)]
pub struct Criterion {
    /// The use that depends on it.
    pub of: &'static str,
    /// Name of the figure, as in a sentence.
    pub figure: &'static str,
    /// "ns", "bytes/s" or "/s".
    pub unit: &'static str,
    /// Threshold for good: at least this, or for times at most.
    pub good: f64,
    /// Threshold for fair, likewise.
    pub fair: f64,
    /// The figure, of the phases that count.
    value: fn(&Run, Counts) -> Option<f64>,
}

/// Whether a phase counts.
type Counts = fn(&Phase) -> bool;

const MS: f64 = 1e6;
const MIB: f64 = 1_048_576.0;

/// All thresholds.
pub static CRITERIA: [Criterion; 10] = [
    Criterion {
        of: "database log",
        figure: "fsync p99",
        unit: "ns",
        good: 5.0 * MS,
        fair: 20.0 * MS,
        value: sync_p99,
    },
    Criterion {
        of: "database log",
        figure: "synced writes",
        unit: "/s",
        good: 1000.0,
        fair: 200.0,
        value: syncs_per_s,
    },
    Criterion {
        of: "mail",
        figure: "files with fsync",
        unit: "/s",
        good: 500.0,
        fair: 100.0,
        value: synced_files,
    },
    Criterion {
        of: "mail",
        figure: "fsync p99 of 8 writers",
        unit: "ns",
        good: 20.0 * MS,
        fair: 50.0 * MS,
        value: sync_p99_of_writers,
    },
    Criterion {
        of: "media streaming",
        figure: "cold read",
        unit: "bytes/s",
        good: 200.0 * MIB,
        fair: 50.0 * MIB,
        value: cold_stream,
    },
    Criterion {
        of: "media streaming",
        figure: "long write, at worst",
        unit: "bytes/s",
        good: 100.0 * MIB,
        fair: 25.0 * MIB,
        value: worst_of_long_write,
    },
    Criterion {
        of: "build tree",
        figure: "small files",
        unit: "/s",
        good: 5000.0,
        fair: 1000.0,
        value: files,
    },
    Criterion {
        of: "build tree",
        figure: "cold random reads",
        unit: "/s",
        good: 3000.0,
        fair: 500.0,
        value: cold_reads,
    },
    Criterion {
        of: "VM images",
        figure: "best random reads",
        unit: "/s",
        good: 20_000.0,
        fair: 2000.0,
        value: best_of_reads,
    },
    Criterion {
        of: "VM images",
        figure: "read p99 beside 30 % writes",
        unit: "ns",
        good: 5.0 * MS,
        fair: 50.0 * MS,
        value: mixed_p99,
    },
];

/// Uses whose data must survive a power cut.
const DURABLE: [&str; 3] = ["database log", "mail", "VM images"];

/// What figures leave open where nothing counts what reached the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Whether the reads came from the storage.
    Source,
    /// Whether synced data survives a power cut.
    Durability,
}

impl Open {
    /// After "if", for a line of the terminal.
    #[must_use]
    pub fn brief(self) -> &'static str {
        match self {
            Self::Source => "not cached",
            Self::Durability => "durable",
        }
    }

    /// In a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Source => "if the storage served the reads, which cannot be seen here",
            Self::Durability => "if fsync is durable, which cannot be seen here",
        }
    }
}

/// The verdict for one use.
#[derive(Clone, Debug)]
pub struct UseVerdict {
    /// The use, such as "database log".
    pub of: &'static str,
    /// The worst of its figures.
    pub grade: Grade,
    /// What a figure that a cache served leaves open.
    pub bounds: Option<Bounds>,
    /// The reason for the grade, if no figure decided.
    pub note: Option<String>,
    /// What the figures leave open.
    pub open: Vec<Open>,
    /// Grade, figures and thresholds in words.
    pub sentence: String,
    /// The figures behind the grade.
    pub figures: Vec<JudgedCriterion>,
}

/// On which side of the grade the storage alone may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// The grade or a worse one: even with a cache it is not good.
    OrWorse,
    /// The grade or a better one: the storage alone reaches it already.
    OrBetter,
}

impl Bounds {
    /// Behind the grade.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::OrWorse => "or worse",
            Self::OrBetter => "or better",
        }
    }
}

/// A figure of a verdict: one of [`CRITERIA`] with its measured value.
#[derive(Clone, Debug)]
pub struct JudgedCriterion {
    /// The criterion with its thresholds.
    pub by: &'static Criterion,
    /// The value in the criterion's unit; `None` if not measured.
    pub value: Option<f64>,
    /// Grade of this figure alone; unknown if the value is not the storage's own.
    pub grade: Grade,
}

impl UseVerdict {
    /// The grade in sentences and in JSON. What was measured, but not of the storage, is not judged.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (self.grade, &self.note, self.bounds) {
            (Grade::Unknown, Some(_), _) => "not judged",
            (_, _, Some(Bounds::OrWorse)) => "fair or worse",
            (_, _, Some(Bounds::OrBetter)) => "fair or better",
            (grade, ..) => grade.word(),
        }
    }

    /// The figures that were judged, the deciding one first.
    #[must_use]
    pub fn judged(&self) -> Vec<&JudgedCriterion> {
        let mut figures: Vec<_> = self.figures.iter().filter(|f| f.grade != Grade::Unknown).collect();
        figures.sort_by_key(|f| std::cmp::Reverse(f.grade));
        figures
    }
}

impl Criterion {
    /// Whether lower is better.
    #[must_use]
    pub fn is_time(&self) -> bool {
        self.unit == "ns"
    }

    fn grade(&self, value: Option<f64>) -> Grade {
        let Some(v) = value else { return Grade::Unknown };
        let reaches = |threshold: f64| if self.is_time() { v <= threshold } else { v >= threshold };
        if reaches(self.good) {
            Grade::Good
        } else if reaches(self.fair) {
            Grade::Fair
        } else {
            Grade::Poor
        }
    }

    fn words(&self, value: f64) -> String {
        match self.unit {
            "ns" => units::time_ns(value),
            "bytes/s" => units::rate(value),
            _ => format!("{}/s", units::count(value.round() as u64)),
        }
    }

    fn sentence(&self, value: f64) -> String {
        let sign = if self.is_time() { '≤' } else { '≥' };
        format!(
            "{} {} (good {sign} {}, fair {sign} {})",
            self.figure,
            self.words(value),
            short(&self.words(self.good)),
            short(&self.words(self.fair))
        )
    }
}

impl JudgedCriterion {
    /// The grade in JSON.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (self.grade, self.value) {
            (Grade::Unknown, Some(_)) => "not judged",
            (grade, _) => grade.word(),
        }
    }

    /// "fsync p99 5.31 ms".
    #[must_use]
    pub fn words(&self) -> String {
        self.value.map_or_else(String::new, |value| format!("{} {}", self.by.figure, self.by.words(value)))
    }

    /// "fsync p99 5.31 ms (good ≤ 5 ms)".
    #[must_use]
    pub fn words_with_threshold(&self) -> String {
        let sign = if self.by.is_time() { '≤' } else { '≥' };
        format!("{} (good {sign} {})", self.words(), short(&self.by.words(self.by.good)))
    }
}

/// Shortens "5.00 ms" to "5 ms": thresholds are round.
fn short(words: &str) -> String {
    let (number, unit) = words.split_once(' ').unwrap_or((words, ""));
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}").trim_end().to_string()
}

/// The verdicts of a survey, in the order of [`CRITERIA`]; empty for any other run.
#[must_use]
pub fn of_run(run: &Run) -> Vec<UseVerdict> {
    if !is_survey(run) {
        return Vec::new();
    }
    let mut uses: Vec<&'static str> = CRITERIA.iter().map(|c| c.of).collect();
    uses.dedup();
    uses.into_iter().map(|of| verdict(run, of)).collect()
}

fn verdict(run: &Run, of: &'static str) -> UseVerdict {
    let mut figures = Vec::new();
    let mut parts = Vec::new();
    let mut grades = None;
    let mut bounded: Vec<BoundedFigure> = Vec::new();
    for c in CRITERIA.iter().filter(|c| c.of == of) {
        let value = (c.value)(run, |_| true).filter(|v| v.is_finite());
        let own = (c.value)(run, by_storage).filter(|v| v.is_finite());
        let by_cache = bounded_figure(run, c, value, own);
        let judged = own.filter(|_| by_cache.is_none());
        let grade = c.grade(judged);
        if let Some(judged) = judged {
            parts.push(c.sentence(judged));
        }
        let value = if judged.is_some() { own } else { by_cache.as_ref().map(|f| f.value).or(value) };
        let own_grades = judged.map(|_| Grades { worst: grade, best: grade });
        grades = worse(grades, own_grades.or(by_cache.as_ref().map(|f| f.grades)));
        bounded.extend(by_cache);
        figures.push(JudgedCriterion { by: c, value, grade });
    }
    let (mut grade, mut bounds) = grades.map_or((Grade::Unknown, None), Grades::judged);
    let mut note = None;
    let durable = DURABLE.contains(&of);
    let lost = if in_memory(run) { Some(IN_MEMORY) } else { without_durable_syncs(run) };
    if let Some(how) = lost.filter(|_| durable) {
        note = Some(how.to_owned());
        (grade, bounds) = (Grade::Poor, None);
    } else if bounds.is_some() || grade == Grade::Unknown || figures.iter().all(|f| f.grade != grade) {
        note = deciding(bounded).map(|figure| figure.words);
    } else {
        parts.extend(bounded.into_iter().map(|figure| figure.words));
    }
    parts.splice(0..0, note.clone());
    let mut open = Vec::new();
    // "Or worse" covers both.
    if grade <= Grade::Fair && bounds != Some(Bounds::OrWorse) {
        open.extend(source_unknown(run, of).then_some(Open::Source));
        open.extend((durable && durability_unknown(run)).then_some(Open::Durability));
    }
    parts.extend(open.iter().map(|open| open.words().to_owned()));
    let mut verdict = UseVerdict { of, grade, bounds, note, open, sentence: String::new(), figures };
    let word = verdict.word();
    verdict.sentence = if parts.is_empty() { word.into() } else { format!("{word}: {}", parts.join("; ")) };
    verdict
}

const IN_MEMORY: &str = "nothing in memory outlives a power cut";

/// Between which grades the storage alone is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Grades {
    worst: Grade,
    best: Grade,
}

impl Grades {
    /// The grade that is certain, and on which side of it the storage may be. Between good and poor nothing is certain.
    fn judged(self) -> (Grade, Option<Bounds>) {
        match (self.best, self.worst) {
            (best, worst) if best == worst => (best, None),
            (Grade::Good, Grade::Fair) => (Grade::Fair, Some(Bounds::OrBetter)),
            (Grade::Fair, Grade::Poor) => (Grade::Fair, Some(Bounds::OrWorse)),
            _ => (Grade::Unknown, None),
        }
    }
}

/// A use is as good as the worst of its figures.
fn worse(a: Option<Grades>, b: Option<Grades>) -> Option<Grades> {
    let (Some(one), Some(other)) = (a, b) else { return a.or(b) };
    Some(Grades { worst: one.worst.max(other.worst), best: one.best.max(other.best) })
}

/// A figure that is due to a cache, at least in part.
struct BoundedFigure {
    grades: Grades,
    value: f64,
    /// Whether the storage served a part of it.
    in_part: bool,
    words: String,
}

/// `None` if the figure is the storage's own, or if the storage alone gets the same grade.
fn bounded_figure(
    run: &Run,
    criterion: &Criterion,
    value: Option<f64>,
    own: Option<f64>,
) -> Option<BoundedFigure> {
    let value = value?;
    // The best of several phases may be one that a cache served alone.
    let best = criterion.grade(Some(value));
    let in_part = own.is_some_and(|own| criterion.grade(Some(own)) == best);
    let alone = (criterion.value)(run, by_storage_alone).filter(|v| v.is_finite());
    let of_storage = alone.is_some_and(|alone| criterion.grade(Some(alone)) == best);
    if own.is_some() && (best == Grade::Poor || of_storage) {
        return None;
    }
    // The storage alone reaches this rate, and perhaps a higher one where a cache helped it.
    let alone = alone.filter(|_| !criterion.is_time());
    let worst = alone.map_or(Grade::Poor, |alone| criterion.grade(Some(alone)));
    let shown = own.filter(|_| in_part).unwrap_or(value);
    let how = if in_part { "partly cached" } else { "not from storage" };
    let (figure, of_cache) = (criterion.figure, criterion.words(shown));
    let words = match alone.map(|alone| criterion.words(alone)) {
        Some(alone) if worst != Grade::Poor => format!("{figure} {alone} without a cache, {of_cache} {how}"),
        Some(alone) if best == Grade::Good => format!("{figure} {alone}, or {of_cache} {how}"),
        _ => format!("{figure} {of_cache}, {how}"),
    };
    Some(BoundedFigure { grades: Grades { worst, best }, value: shown, in_part, words })
}

/// The figure that leaves most open: the worst; of equals, one that the storage did a part of, else the first.
fn deciding(figures: Vec<BoundedFigure>) -> Option<BoundedFigure> {
    figures.into_iter().rev().max_by_key(|figure| (figure.grades, figure.in_part))
}

/// Whether it is not known what served the reads that a use depends on.
fn source_unknown(run: &Run, of: &str) -> bool {
    let reads = match of {
        "media streaming" => best_cold_read(run, by_storage),
        "build tree" => named(run, "ladder", "cold random read"),
        "VM images" => best_random_reads(run, by_storage),
        _ => None,
    };
    reads.is_some_and(|phase| Kind::from(phase.origin().regime) == Kind::Unknown)
}

/// Whether it is not known what the syncs reached, as below FUSE.
fn durability_unknown(run: &Run) -> bool {
    named(run, "ladder", "write and fsync").is_some_and(|p| Kind::from(p.origin().regime) == Kind::Unknown)
}

fn sync_p99(run: &Run, _: Counts) -> Option<f64> {
    synced(named(run, "ladder", "write and fsync")?, 99.0)
}

fn sync_p99_of_writers(run: &Run, _: Counts) -> Option<f64> {
    synced(named(run, "scaling", "parallel commits")?, 99.0)
}

fn syncs_per_s(run: &Run, _: Counts) -> Option<f64> {
    named(run, "ladder", "write and fsync")?.ops_per_s()
}

fn synced_files(run: &Run, _: Counts) -> Option<f64> {
    files_per_s(named(run, "small files", "small files with fsync")?)
}

fn files(run: &Run, _: Counts) -> Option<f64> {
    files_per_s(named(run, "small files", "small files")?)
}

/// The best rate of a cold read of the largest file.
pub(crate) fn streaming_read(run: &Run) -> Option<f64> {
    cold_stream(run, |_| true)
}

fn cold_stream(run: &Run, counts: Counts) -> Option<f64> {
    best_cold_read(run, counts)?.bytes_per_s()
}

/// The phase of [`streaming_read`].
pub(crate) fn streaming_phase(run: &Run) -> Option<&Phase> {
    best_cold_read(run, |_| true)
}

fn best_cold_read(run: &Run, counts: Counts) -> Option<&Phase> {
    let cold = || of_stage(run, "surface").into_iter().filter(|p| p.name == "cold read");
    let largest = cold().filter_map(|p| p.axes.file_bytes).max()?;
    let of_largest = cold().filter(|p| p.axes.file_bytes == Some(largest) && counts(p));
    of_largest
        .filter(|p| p.bytes_per_s().is_some())
        .max_by(|a, b| a.bytes_per_s().unwrap_or(0.0).total_cmp(&b.bytes_per_s().unwrap_or(0.0)))
}

/// The slower of the rate to the fsync and the slowest second.
fn worst_of_long_write(run: &Run, counts: Counts) -> Option<f64> {
    let phase = named(run, "sustained", "sustained write")?;
    // What a cache took in part, the fsync brought to the storage.
    if !counts(phase) && !by_storage(phase) {
        return None;
    }
    let rates = [phase.bytes_per_s_to(Mark::Fsync), slowest_second(run)];
    rates.into_iter().flatten().reduce(f64::min)
}

/// The lowest rate of any second of the long write, bytes per second: players and recorders buffer about that much. `None` for
/// a shorter write.
pub(crate) fn slowest_second(run: &Run) -> Option<f64> {
    const SECOND: f64 = 1.0;
    let points = course(named(run, "sustained", "sustained write")?);
    // When each interval begins and ends, in seconds, and its bytes.
    let begins = std::iter::once(0.0).chain(points.iter().map(|point| point.0));
    let spans: Vec<(f64, f64, f64)> =
        begins.zip(&points).map(|(begin, (end, rate))| (begin, *end, rate * (end - begin))).collect();
    let from = |first: usize| {
        let begin = spans.get(first)?.0;
        let mut bytes = 0.0;
        spans[first..].iter().find_map(|(_, end, more)| {
            bytes += more;
            (end - begin >= SECOND).then(|| bytes / (end - begin))
        })
    };
    (0..spans.len()).filter_map(from).reduce(f64::min)
}

/// A rate, because a limit in bursts leaves most single reads fast.
fn cold_reads(run: &Run, counts: Counts) -> Option<f64> {
    named(run, "ladder", "cold random read").filter(|p| counts(p))?.ops_per_s()
}

/// The best rate over queue depths, including one plain call at a time; of the storage's own, if there are any.
pub(crate) fn best_reads(run: &Run) -> Option<f64> {
    best_of_reads(run, by_storage).or_else(|| best_of_reads(run, |_| true))
}

fn best_of_reads(run: &Run, counts: Counts) -> Option<f64> {
    best_random_reads(run, counts)?.ops_per_s()
}

fn best_random_reads(run: &Run, counts: Counts) -> Option<&Phase> {
    // If calls are slower than the device, one plain call at a time may be the best.
    let one = named(run, "ladder", "direct random read").or_else(|| named(run, "ladder", "cold random read"));
    let phases =
        of_stage(run, "depth").into_iter().chain(one).filter(|p| counts(p) && p.ops_per_s().is_some());
    phases.max_by(|a, b| a.ops_per_s().unwrap_or(0.0).total_cmp(&b.ops_per_s().unwrap_or(0.0)))
}

fn mixed_p99(run: &Run, counts: Counts) -> Option<f64> {
    // Reads beside writes: where the writes end in a cache, the phase counts as partly cached.
    let mixed = of_stage(run, "mix").into_iter().filter(|p| counts(p) || by_storage(p));
    let phase = mixed.into_iter().find(|p| p.axes.tags.get("reads").is_some_and(|share| share == "70 %"))?;
    latency_of(phase, fathom_record::OpKind::Read, 99.0)
}
