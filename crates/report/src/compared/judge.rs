//! Judges one figure of one cell: by quads, as two groups, or as two single runs; and words the verdict.

use super::layout::{Design, Layout};
use super::metric;
use super::samples::{CellPass, Sample};
use fathom_compare::quads::effect::{self, Scale};
use fathom_compare::quads::{Quad, Side};
use fathom_compare::single::against_controls;
use fathom_compare::unpaired::groups;
use fathom_compare::verdict::{self, Rules, Verdict};
use fathom_compare::wording::{self, Names};
use fathom_record::imported::units;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The method by which a figure was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The exact rank test on quads.
    Quads,
    /// The Mann-Whitney test of two groups.
    Groups,
    /// The ratio of two single runs.
    Single,
    /// Not compared.
    None,
}

/// The word of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// B is better by the threshold or more.
    Better,
    /// B is worse by the threshold or more: a regression.
    Worse,
    /// A figure without a better direction differs by the threshold or more.
    Differs,
    /// A change below the threshold.
    BelowThreshold,
    /// No change, within twice the threshold.
    Same,
    /// Neither a change nor its absence is shown.
    Inconclusive,
    /// One of many cells that looks changed; only fresh runs can decide.
    Suspect,
    /// One run of each side.
    Single,
    /// A percentile from too few operations.
    TooFewOperations,
    /// The figures cannot be compared.
    Unusable,
}

impl Word {
    /// The word in tables; speed is faster or slower, anything else better or worse.
    #[must_use]
    pub fn words(self, of_speed: bool) -> &'static str {
        match self {
            Self::Better if of_speed => "faster",
            Self::Better => "better",
            Self::Worse if of_speed => "slower",
            Self::Worse => "worse",
            Self::Differs => "differs",
            Self::BelowThreshold => "below threshold",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
            Self::Suspect => "suspect",
            Self::Single => "single runs",
            Self::TooFewOperations => "too few operations",
            Self::Unusable => "no comparison",
        }
    }
}

/// The size of a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// "ratio" (B over A) or "difference" (B minus A, if a figure is zero).
    pub scale: &'static str,
    /// The estimate.
    pub estimate: f64,
    /// Lower bound of the interval, if there is one.
    pub low: Option<f64>,
    /// Upper bound of the interval, if there is one.
    pub high: Option<f64>,
    /// Attained confidence of the interval: 0.9457 is 94.57 %.
    pub confidence: Option<f64>,
}

/// A figure of a cell with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRow {
    /// The cell in words.
    pub cell: String,
    /// The operation.
    pub operation: String,
    /// Size of each stream's file.
    pub file_bytes: Option<u64>,
    /// Record size.
    pub record_bytes: Option<u64>,
    /// Streams at once.
    pub streams: Option<u64>,
    /// Operations in flight per stream.
    pub queue_depth: Option<u64>,
    /// Whether O_DIRECT was requested.
    pub direct: bool,
    /// Further coordinates.
    pub tags: BTreeMap<String, String>,
    /// Sweep settings that the cell was measured under.
    pub settings: BTreeMap<String, String>,
    /// Name of the figure.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// Whether higher is better; `None` if neither.
    pub higher_is_better: Option<bool>,
    /// Whether it is the figure that the cell is quoted by.
    pub headline: bool,
    /// A's values, in order of measurement.
    pub a: Vec<f64>,
    /// B's values, in order of measurement.
    pub b: Vec<f64>,
    /// The method.
    pub method: Method,
    /// Number of whole quads, if they are the method.
    pub quads: usize,
    /// Operations that the percentile needs in every run, if one of them has fewer.
    pub operations_needed: Option<u64>,
    /// The size of the change.
    pub effect: Option<Effect>,
    /// Two-sided p-value.
    pub p: Option<f64>,
    /// Whether p is exact.
    pub exact: bool,
    /// Coefficient of variation of single runs within quads, with the change removed; only if quads are the method and figures positive.
    pub cv: Option<f64>,
    /// p, adjusted for the number of cells by Benjamini and Hochberg; only if there are several.
    pub adjusted_p: Option<f64>,
    /// Whether it is a percentile from too few operations beside one of the same cell that has enough, such as the single open
    /// of a run beside its reads. A word such as "p99" does not select it.
    #[serde(skip)]
    pub(super) beside: bool,
    /// Whether noise found beforehand forbids a verdict; nothing else may settle it then.
    #[serde(skip)]
    pub(super) withheld: bool,
    /// The verdict.
    pub verdict: Word,
    /// The verdict in a sentence.
    pub sentence: String,
}

impl ComparedRow {
    fn new(sample: &Sample, layout: &Layout) -> Self {
        let CellPass { cell, settings, .. } = &sample.place;
        Self {
            cell: sample.place.title(),
            operation: cell.operation.clone(),
            file_bytes: cell.axes.file_bytes,
            record_bytes: cell.axes.record_bytes,
            streams: cell.axes.streams,
            queue_depth: cell.axes.queue_depth,
            direct: cell.direct,
            tags: sample.place.tags(),
            settings: settings.clone(),
            metric: sample.metric.clone(),
            unit: sample.unit.clone(),
            higher_is_better: sample.higher_is_better,
            headline: sample.headline,
            a: sample.of_side(layout, Side::A),
            b: sample.of_side(layout, Side::B),
            method: Method::None,
            quads: 0,
            operations_needed: sample.too_few.map(|few| few.needed),
            effect: None,
            p: None,
            exact: false,
            cv: None,
            adjusted_p: None,
            beside: false,
            withheld: false,
            verdict: Word::Unusable,
            sentence: String::new(),
        }
    }

    /// Whether the figure is a speed (a rate or a time) and not an amount.
    #[must_use]
    pub fn is_of_speed(&self) -> bool {
        [units::BYTES_PER_S, units::OPS_PER_S, units::NS].contains(&self.unit.as_str())
    }

    /// Whether it is a percentile from too few operations.
    #[must_use]
    pub fn has_too_few(&self) -> bool {
        self.verdict == Word::TooFewOperations
    }

    pub(super) fn names(&self) -> Names<'static> {
        match self.higher_is_better {
            None => Names { a: "A", b: "B", better: "higher", worse: "lower" },
            Some(_) if self.is_of_speed() => Names::of_speed("A", "B"),
            Some(_) => Names::of_count("A", "B"),
        }
    }

    /// The estimate, if it is a ratio.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.effect.filter(|e| e.scale == RATIO).map(|e| e.estimate)
    }
}

const RATIO: &str = "ratio";

pub(super) fn judge(sample: &Sample, layout: &Layout, rules: &Rules) -> ComparedRow {
    let mut row = ComparedRow::new(sample, layout);
    if let Some(few) = sample.too_few {
        row.verdict = Word::TooFewOperations;
        // A value from so few operations is not shown.
        (row.a, row.b) = (Vec::new(), Vec::new());
        row.sentence = format!(
            "Too few operations: {} needs {} in every run, and one has {}.",
            row.metric, few.needed, few.fewest
        );
        return row;
    }
    let rules = Rules { higher_is_better: row.higher_is_better.unwrap_or(true), ..*rules };
    let quads = quads_of(sample, layout);
    let judged = match &layout.design {
        Design::Quads { .. } if !quads.is_empty() => by_quads(&mut row, &quads, &rules, layout),
        _ if row.a.len() == 1 && row.b.len() == 1 => single(&mut row),
        // Occasional failed runs must not turn drawn quads into groups. With quads found from ids, each run may hold one cell.
        Design::Quads { random: true, .. } => {
            row.sentence = "No comparison: no quad has it in all four runs.".into();
            Ok(())
        }
        _ => by_groups(&mut row, &rules, is_mixed(sample, layout)),
    };
    if let Err(unusable) = judged {
        row.sentence = format!("No comparison: {unusable}.");
    }
    row
}

/// The whole quads that have this figure.
pub(super) fn quads_of(sample: &Sample, layout: &Layout) -> Vec<Quad> {
    let value = |unit: usize| sample.values.iter().find(|v| v.0 == unit).map(|v| v.1);
    let quad = |four: &[usize; 4]| {
        let [a, b, c, d] = four.map(value);
        Quad::of_runs([a?, b?, c?, d?], four.map(|u| layout.units[u].side))
    };
    layout.quads.iter().filter_map(quad).collect()
}

type JudgeResult = Result<(), fathom_compare::Unusable>;

fn by_quads(row: &mut ComparedRow, quads: &[Quad], rules: &Rules, layout: &Layout) -> JudgeResult {
    let found = match layout.session.as_ref().and_then(|mark| mark.plan.gate(row)) {
        Some(gate) => verdict::compare_behind_gate(quads, rules, &gate)?,
        None => verdict::compare(quads, rules)?,
    };
    row.cv = found.cv;
    row.method = Method::Quads;
    row.quads = quads.len();
    (row.p, row.exact) = (Some(found.test.p), true);
    row.effect = Some(effect_of(&found.effect));
    row.verdict = word(&found.verdict, row.higher_is_better);
    row.withheld = matches!(found.verdict, Verdict::Withheld(_));
    row.sentence = if matches!(layout.design, Design::Quads { random: true, .. }) {
        wording::comparison(&found, row.names())
    } else {
        wording::comparison_in_found_order(&found, row.names())
    };
    Ok(())
}

/// Whether the runs with this figure are mixed in time: all runs may be, but those of one cell not.
fn is_mixed(sample: &Sample, layout: &Layout) -> bool {
    let known = matches!(layout.design, Design::Groups { mixed: true, .. } | Design::Quads { .. });
    let sides: Vec<Side> = sample.values.iter().map(|(u, _)| layout.units[*u].side).collect();
    known && sides.windows(2).filter(|two| two[0] != two[1]).count() > 1
}

fn by_groups(row: &mut ComparedRow, rules: &Rules, mixed: bool) -> JudgeResult {
    let found = groups::compare(&row.a, &row.b, rules)?;
    row.method = Method::Groups;
    (row.p, row.exact) = (Some(found.test.p), found.test.exact);
    row.effect = Some(effect_of(&found.effect));
    row.verdict = word(&found.verdict, row.higher_is_better);
    row.sentence = wording::groups(&found, row.names());
    if !mixed {
        row.sentence = format!("{} {}", row.sentence, wording::NOT_INTERLEAVED);
    }
    Ok(())
}

fn single(row: &mut ComparedRow) -> JudgeResult {
    row.method = Method::Single;
    row.verdict = Word::Single;
    let (a, b) = (row.a[0], row.b[0]);
    if a > 0.0 && b > 0.0 {
        row.effect = Some(Effect { scale: RATIO, estimate: b / a, low: None, high: None, confidence: None });
        row.sentence = wording::one_run_each(row.names(), b / a, row.higher_is_better);
    } else {
        let scale = "difference";
        row.effect = Some(Effect { scale, estimate: b - a, low: None, high: None, confidence: None });
        row.sentence =
            "Single runs, and one of the figures is zero: there is no ratio and no interval.".into();
    }
    Ok(())
}

pub(super) fn effect_of(effect: &effect::Effect) -> Effect {
    Effect {
        scale: if effect.scale == Scale::Ratio { RATIO } else { "difference" },
        estimate: effect.estimate,
        low: Some(effect.low),
        high: Some(effect.high),
        confidence: Some(effect.confidence),
    }
}

fn word(verdict: &Verdict, higher_is_better: Option<bool>) -> Word {
    match verdict {
        Verdict::Faster | Verdict::Slower if higher_is_better.is_none() => Word::Differs,
        Verdict::Faster => Word::Better,
        Verdict::Slower => Word::Worse,
        Verdict::ChangedBelowThreshold => Word::BelowThreshold,
        Verdict::SameWithin(_) => Word::Same,
        Verdict::Inconclusive(_) | Verdict::Withheld(_) => Word::Inconclusive,
    }
}

/// Marks the percentiles from too few operations that accompany others of the same cell. Most runs of the baseline must have
/// too few already: an operation that has become rare only on the other side is exactly what a comparison is made for.
/// `samples` are the sources of the rows.
pub(super) fn mark_beside(rows: &mut [ComparedRow], samples: &[Sample], layout: &Layout) {
    let of = |row: &ComparedRow| Some((row.cell.clone(), metric::percentile(&row.metric)?.1.to_owned()));
    let enough: BTreeSet<(String, String)> =
        rows.iter().filter(|r| !r.has_too_few()).filter_map(of).collect();
    for (row, _) in rows.iter_mut().zip(samples).filter(|(_, sample)| sample.is_rare_in_a(layout)) {
        row.beside = of(row).is_some_and(|figure| enough.contains(&figure));
    }
}

/// Pairs single runs with O_DIRECT with the same ones without: O_DIRECT bypasses the page cache, so it shows how far runs
/// differ where a change of the page cache or the scheduler should have no effect.
pub(super) fn controls(rows: &mut [ComparedRow]) {
    let quoted: Vec<usize> =
        (0..rows.len()).filter(|i| rows[*i].headline && rows[*i].method == Method::Single).collect();
    for &i in &quoted {
        let operation =
            |j: &&usize| rows[**j].operation == rows[i].operation && rows[**j].metric == rows[i].metric;
        let ratios = |direct: bool| -> Vec<f64> {
            let of = quoted.iter().filter(operation).filter(|j| rows[**j].direct == direct);
            of.filter_map(|j| rows[*j].ratio()).collect()
        };
        let (cells, controls) = (ratios(false), ratios(true));
        if rows[i].direct || cells.is_empty() || controls.is_empty() {
            continue;
        }
        let (Ok(found), Some(ratio)) = (against_controls(&cells, &controls), rows[i].ratio()) else {
            continue;
        };
        let mut sentence =
            wording::single_runs(rows[i].names(), ratio, ("direct I/O", found.largest_control));
        if cells.len() > 1 {
            sentence = format!("{sentence} {}", wording::against_controls(&found));
        }
        rows[i].sentence = sentence;
    }
}
