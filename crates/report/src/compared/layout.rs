//! How the runs of two sides were measured: in quads, mixed in some other way, one side after the other, or once each. A sweep
//! marks its runs with their blocks, and a comparison that makes its own runs marks their quads; for other runs, the ids give
//! the order of starting. This module also decides whether one value comes from a run or from one of its complete repetitions.

use super::Side;
use super::mark::{SessionMark, SessionPart};
use fathom_compare::quads;
use fathom_record::{Run, Status};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How the sides were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Design {
    /// Four runs at a time, two of each side.
    Quads {
        /// Whether the order within them was drawn at random, as by sweeps and comparisons; otherwise it was found from the runs' ids.
        random: bool,
        /// Number of runs outside any whole quad, which are left out.
        left_out: usize,
    },
    /// Two groups without pairing.
    Groups {
        /// Whether the sides' runs are mixed in time; otherwise one side was measured after the other, or the order is unknown.
        mixed: bool,
        /// Whether the repetitions within two runs count as runs.
        repetitions: bool,
    },
    /// One run of each side.
    Single,
}

/// The source of one value of a figure.
#[derive(Clone, Debug)]
pub(super) struct ValueSource {
    pub(super) side: quads::Side,
    /// Indices of the runs within their side: a script makes several at a time.
    pub(super) runs: Vec<usize>,
    /// Only this repetition, if repetitions count as runs.
    pub(super) repetition: Option<u32>,
    /// Sweep settings that vary within a side: coordinates of the cell.
    pub(super) settings: BTreeMap<String, String>,
}

/// The runs as they were measured.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) design: Design,
    /// In order of measurement, as far as it is known.
    pub(super) units: Vec<ValueSource>,
    /// Indices of the units of each quad, in order.
    pub(super) quads: Vec<[usize; 4]>,
    /// The mark of the comparison that made the runs, if one did.
    pub(super) session: Option<SessionMark>,
    /// Whether incomplete runs have no value here.
    pub(super) leaves_out_incomplete: bool,
}

/// A sweep's mark on a run.
struct SweepMark {
    id: String,
    run: u64,
    block: u64,
    settings: BTreeMap<String, String>,
}

impl SweepMark {
    fn of(run: &Run) -> Option<Self> {
        let sweep = run.environment.get("sweep")?;
        let settings = sweep.get("settings")?.as_object()?;
        let word = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        Some(Self {
            id: sweep.get("id")?.as_str()?.into(),
            run: sweep.get("run")?.as_u64()?,
            block: sweep.get("block")?.as_u64()?,
            settings: settings.iter().map(|(k, v)| (k.clone(), word(v))).collect(),
        })
    }
}

impl Layout {
    pub(super) fn of(a: &Side<'_>, b: &Side<'_>) -> Self {
        Self::of_session(a, b)
            .or_else(|| Self::of_sweep(a, b))
            .or_else(|| Self::of_repetitions(a, b))
            .unwrap_or_else(|| Self::of_times(a, b))
    }

    /// Runs made by one comparison itself. Interrupted or failed runs are in no quad.
    fn of_session(a: &Side<'_>, b: &Side<'_>) -> Option<Self> {
        let mut marked = Vec::new();
        for (side, runs) in [(quads::Side::A, &a.runs), (quads::Side::B, &b.runs)] {
            for (i, run) in runs.iter().enumerate() {
                marked.push((side, i, SessionMark::of(run)?, run.status == Status::Completed));
            }
        }
        let first = marked.first()?.2.clone();
        if first.part == SessionPart::WarmUp
            || marked.iter().any(|m| m.2.id != first.id || m.2.part != first.part)
        {
            return None;
        }
        marked.sort_by_key(|m| m.2.run);
        let mut units: Vec<ValueSource> = Vec::new();
        let mut blocks: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let (mut last, mut incomplete) = (None, BTreeSet::new());
        for (side, i, mark, complete) in marked {
            if !complete {
                incomplete.insert(mark.run);
                continue;
            }
            if last == Some(mark.run) {
                // A script makes several runs at a time.
                if let Some(unit) = units.last_mut() {
                    unit.runs.push(i);
                }
                continue;
            }
            last = Some(mark.run);
            blocks.entry(mark.quad).or_default().push(units.len());
            units.push(ValueSource { side, runs: vec![i], repetition: None, settings: BTreeMap::new() });
        }
        let quads: Vec<[usize; 4]> = blocks.into_values().filter_map(|b| whole_quad(&units, &b)).collect();
        let left_out = units.len() + incomplete.len() - 4 * quads.len();
        let design = Design::Quads { random: true, left_out };
        Some(Self { design, units, quads, session: Some(first), leaves_out_incomplete: true })
    }

    /// Runs of one sweep: its blocks are the quads. Interrupted or failed runs are in none.
    fn of_sweep(a: &Side<'_>, b: &Side<'_>) -> Option<Self> {
        let mut marked = Vec::new();
        for (side, runs) in [(quads::Side::A, &a.runs), (quads::Side::B, &b.runs)] {
            for (i, run) in runs.iter().enumerate() {
                marked.push((side, i, SweepMark::of(run)?, run.status == Status::Completed));
            }
        }
        let id = marked.first()?.2.id.clone();
        if marked.iter().any(|m| m.2.id != id) {
            return None;
        }
        let vary = varying(&marked);
        marked.sort_by_key(|m| m.2.run);
        let mut units: Vec<ValueSource> = Vec::new();
        let mut blocks: BTreeMap<(u64, BTreeMap<String, String>), Vec<usize>> = BTreeMap::new();
        let (mut last, mut incomplete) = (None, BTreeSet::new());
        for (side, i, mark, complete) in marked {
            if !complete {
                incomplete.insert(mark.run);
                continue;
            }
            if last == Some((side, mark.run)) {
                // A script makes several runs in one turn of the sweep.
                if let Some(unit) = units.last_mut() {
                    unit.runs.push(i);
                }
                continue;
            }
            last = Some((side, mark.run));
            let settings: BTreeMap<String, String> =
                mark.settings.into_iter().filter(|(k, _)| vary.contains(k)).collect();
            blocks.entry((mark.block, settings.clone())).or_default().push(units.len());
            units.push(ValueSource { side, runs: vec![i], repetition: None, settings });
        }
        let quads: Vec<[usize; 4]> = blocks.into_values().filter_map(|b| whole_quad(&units, &b)).collect();
        if quads.is_empty() {
            return None;
        }
        let left_out = units.len() + incomplete.len() - 4 * quads.len();
        Some(Self {
            design: Design::Quads { random: true, left_out },
            units,
            quads,
            session: None,
            leaves_out_incomplete: true,
        })
    }

    /// One run of each side, each with several complete executions of its workload.
    fn of_repetitions(a: &Side<'_>, b: &Side<'_>) -> Option<Self> {
        let ([one], [two]) = (a.runs.as_slice(), b.runs.as_slice()) else { return None };
        let mut units = Vec::new();
        for (side, run) in [(quads::Side::A, one), (quads::Side::B, two)] {
            // Warm-up runs show what the whole runs after them will hold.
            let is_warm_up = SessionMark::of(run).is_some_and(|mark| mark.part == SessionPart::WarmUp);
            if run.source.is_some() || is_warm_up {
                return None;
            }
            let numbers: BTreeSet<u32> =
                run.phases.iter().flat_map(|p| &p.repetitions).map(|r| r.n).collect();
            if numbers.len() < 2 {
                return None;
            }
            units.extend(numbers.into_iter().map(|n| ValueSource {
                side,
                runs: vec![0],
                repetition: Some(n),
                settings: BTreeMap::new(),
            }));
        }
        let design = Design::Groups { mixed: false, repetitions: true };
        Some(Self { design, units, quads: Vec::new(), session: None, leaves_out_incomplete: false })
    }

    /// Any other runs: by their order of starting, given by their ids.
    fn of_times(a: &Side<'_>, b: &Side<'_>) -> Self {
        let mut order: Vec<(&str, quads::Side, usize)> = Vec::new();
        for (side, runs) in [(quads::Side::A, &a.runs), (quads::Side::B, &b.runs)] {
            order.extend(runs.iter().enumerate().map(|(i, r)| (r.id.as_str(), side, i)));
        }
        let known = a.runs.iter().chain(&b.runs).all(|r| r.source.is_none() && !r.id.is_empty());
        if known {
            order.sort_by_key(|o| o.0);
        }
        let units: Vec<ValueSource> = order
            .into_iter()
            .map(|(_, side, i)| ValueSource {
                side,
                runs: vec![i],
                repetition: None,
                settings: BTreeMap::new(),
            })
            .collect();
        if a.runs.len() == 1 && b.runs.len() == 1 {
            return Self {
                design: Design::Single,
                units,
                quads: Vec::new(),
                session: None,
                leaves_out_incomplete: false,
            };
        }
        let changes = units.windows(2).filter(|w| w[0].side != w[1].side).count();
        let mixed = known && changes > 1;
        let all: Vec<usize> = (0..units.len()).collect();
        let quads: Vec<[usize; 4]> = all.chunks(4).map_while(|four| whole_quad(&units, four)).collect();
        let left_out = units.len() - 4 * quads.len();
        if mixed && !quads.is_empty() && left_out < 4 {
            return Self {
                design: Design::Quads { random: false, left_out },
                units,
                quads,
                session: None,
                leaves_out_incomplete: false,
            };
        }
        let design = Design::Groups { mixed, repetitions: false };
        Self { design, units, quads: Vec::new(), session: None, leaves_out_incomplete: false }
    }

    /// The order of each quad: "ABBA".
    pub(super) fn orders(&self) -> Vec<String> {
        let letter = |u: &usize| if self.units[*u].side == quads::Side::A { 'A' } else { 'B' };
        self.quads.iter().map(|q| q.iter().map(letter).collect()).collect()
    }

    pub(super) fn words(&self) -> String {
        let left = |n: usize| match n {
            0 => String::new(),
            1 => "; 1 run belongs to no whole quad and is left out".into(),
            n => format!("; {n} runs belong to no whole quad and are left out"),
        };
        match &self.design {
            Design::Quads { random: true, left_out } => {
                let drawn = match &self.session {
                    Some(mark) => format!("drawn from seed {}", mark.seed),
                    None => "as the sweep drew them".into(),
                };
                format!("random quads, {drawn} ({}){}", self.orders().join(" "), left(*left_out))
            }
            Design::Quads { random: false, left_out } => format!(
                "quads, by the order in which the runs were started ({}){}",
                self.orders().join(" "),
                left(*left_out)
            ),
            Design::Groups { repetitions: true, .. } => {
                "one run of each side; their repetitions count as runs, for each is a complete execution of the workload. They share one \
                 start of the program and one layout of the files: what differs from start to start is not in the intervals"
                    .into()
            }
            Design::Groups { mixed: true, .. } => {
                "two groups: the runs are mixed in time, but not four by four with two of each side".into()
            }
            Design::Groups { .. } => "two groups, not interleaved".into(),
            Design::Single => "one run of each cell and side".into(),
        }
    }
}

/// The settings with several values within a side or within both.
fn varying(marked: &[(quads::Side, usize, SweepMark, bool)]) -> BTreeSet<String> {
    let mut values: BTreeMap<(&str, bool), BTreeSet<&str>> = BTreeMap::new();
    for (side, _, mark, _) in marked {
        for (key, value) in &mark.settings {
            values.entry((key, *side == quads::Side::A)).or_default().insert(value);
        }
    }
    values.into_iter().filter(|(_, v)| v.len() > 1).map(|((key, _), _)| key.to_owned()).collect()
}

/// Four units, two of each side.
fn whole_quad(units: &[ValueSource], four: &[usize]) -> Option<[usize; 4]> {
    let four: [usize; 4] = four.try_into().ok()?;
    let of_a = four.iter().filter(|u| units[**u].side == quads::Side::A).count();
    (of_a == 2).then_some(four)
}
