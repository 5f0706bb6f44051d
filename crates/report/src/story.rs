//! What a run says in words and in one small table, shared by every format: the headline, the verdicts "what is disk and what is
//! memory", the warnings, and the main figures by regime. Formats only lay it out; if a sentence is wrong it is wrong here.

use crate::{
    Machine,
    regimes::{Kind, Mapped},
    section::full_title,
    surface::on_surfaces,
    units,
};
use fathom_compare::Summary;
use fathom_record::{Phase, Run, Status};
use std::collections::BTreeMap;

/// One run, told.
#[derive(Clone, Debug)]
pub struct Story {
    /// The run's name.
    pub title: String,
    /// What ran where and when: (term, description).
    pub facts: Vec<(&'static str, String)>,
    /// How it ended, if not as asked.
    pub trouble: Vec<String>,
    /// What is disk and what is memory.
    pub verdicts: Vec<Verdict>,
    /// Reasons for doubt, those of one kind together.
    pub doubts: Vec<DoubtGroup>,
    /// Main figures: one row per test, one column per regime.
    pub figures: Vec<FigureRow>,
}

/// One sentence about where figures come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The regime it is about; `None` for advice.
    pub kind: Option<Kind>,
    /// The sentence.
    pub sentence: String,
}

/// Doubts of one code.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubtGroup {
    /// "page-cache", "short-phase", ...
    pub code: String,
    /// Their sentences, in order.
    pub sentences: Vec<String>,
}

/// One test.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRow {
    /// "random read", or a phase with its sizes.
    pub title: String,
    /// Whether the test only writes.
    pub only_writes: bool,
    /// Throughput by regime, bytes/s.
    pub by_kind: BTreeMap<Kind, Summary>,
    /// The phase's error, where it failed.
    pub error: Option<String>,
}

impl Story {
    /// Tells a run.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let machine = Machine::of(run);
        let mapped = Mapped::of_run(run);
        let figures = figures(run, &mapped);
        Self {
            title: if run.label.is_empty() { run.id.clone() } else { run.label.clone() },
            facts: facts(run, &machine),
            trouble: trouble(run),
            verdicts: verdicts(&machine, &figures),
            doubts: doubt_groups(run),
            figures,
        }
    }

    /// The regimes that occur among the main figures, in the order of [`Kind::ALL`].
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        Kind::ALL.into_iter().filter(|k| self.figures.iter().any(|f| f.by_kind.contains_key(k))).collect()
    }
}

/// Control characters out of user strings: they break terminals and are not allowed in XML.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn facts(run: &Run, machine: &Machine) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |term, text: Option<String>| {
        if let Some(text) = text.filter(|t| !t.is_empty()) {
            facts.push((term, text));
        }
    };
    add("Command", Some(run.argv.join(" ")));
    add("Directory", Some(run.directory.clone()));
    let storage = [machine.filesystem.clone(), machine.device.clone().map(|d| format!("on {d}"))];
    add("Storage", Some(storage.into_iter().flatten().collect::<Vec<_>>().join(" ")));
    let caches = machine.caches.iter().map(|c| format!("{} {}", c.label, units::bytes(c.bytes)));
    let memory = machine.memory_bytes.map(|b| format!("{} of memory", units::bytes(b)));
    let parts: Vec<String> = machine.cpu_model.clone().into_iter().chain(caches).chain(memory).collect();
    add("Machine", Some(parts.join(", ")));
    let host = [machine.host.clone(), machine.kernel.clone().map(|k| format!("Linux {k}"))];
    add("Host", Some(host.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    let until = if run.ended_at.is_empty() { String::new() } else { format!(" to {}", run.ended_at) };
    add("When", (!run.started_at.is_empty()).then(|| format!("{}{until}", run.started_at)));
    add("Run", Some(format!("{} ({}, fathom {}, seed {})", run.id, run.dialect, run.version, run.seed)));
    facts
}

fn trouble(run: &Run) -> Vec<String> {
    let done = match run.phases.len() {
        0 => "No phase was finished; there is nothing to draw.".to_string(),
        1 => "What was measured before (1 phase) is shown.".to_string(),
        n => format!("What was measured before ({n} phases) is shown."),
    };
    let mut lines = match run.status {
        Status::Completed if run.phases.is_empty() => {
            vec!["The run has no phases; there is nothing to draw.".into()]
        }
        Status::Completed => Vec::new(),
        Status::Running => vec![format!("The run has not ended, or was killed without warning. {done}")],
        Status::Interrupted => vec![format!("A signal interrupted the run. {done}")],
        Status::Failed => vec![format!("An error ended the run. {done}")],
    };
    lines.extend(run.error.clone());
    let failed = run.phases.iter().flat_map(|p| p.repetitions.iter().map(move |r| (p, r)));
    lines.extend(failed.filter_map(|(p, r)| Some(format!("{}: {}", full_title(p), r.error()?.message))));
    lines.dedup();
    lines
}

fn doubt_groups(run: &Run) -> Vec<DoubtGroup> {
    let mut groups: Vec<DoubtGroup> = Vec::new();
    for doubt in &run.doubts {
        match groups.iter_mut().find(|g| g.code == doubt.code) {
            Some(group) => group.sentences.push(doubt.sentence.clone()),
            None => {
                groups.push(DoubtGroup { code: doubt.code.clone(), sentences: vec![doubt.sentence.clone()] })
            }
        }
    }
    groups
}

fn figures(run: &Run, mapped: &[Mapped]) -> Vec<FigureRow> {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    let surfaces = mapped.iter().map(|m| FigureRow {
        title: m.surface.title.clone(),
        only_writes: m.surface.only_writes,
        by_kind: Kind::ALL.into_iter().filter_map(|k| Some((k, m.rates_of(k)?))).collect(),
        error: None,
    });
    let singles = single.into_iter().map(|phase| {
        let rates: Vec<f64> = phase.repetitions.iter().filter_map(|r| r.bytes_per_s()).collect();
        let by_kind = Summary::of(&rates).map(|s| (phase.origin().regime.into(), s)).into_iter().collect();
        let error = phase.repetitions.iter().find_map(|r| r.error()).map(|e| e.message.clone());
        // A rate of a phase that broke off stands on part of the work; its name says so in every format.
        let failed = if error.is_some() { " (failed part way)" } else { "" };
        FigureRow {
            title: format!("{}{failed}", full_title(phase)),
            only_writes: phase.writes && !phase.reads,
            by_kind,
            error,
        }
    });
    surfaces.chain(singles).collect()
}

/// The sentences that keep a cache number from passing for a disk's.
fn verdicts(machine: &Machine, figures: &[FigureRow]) -> Vec<Verdict> {
    let count = |kinds: &[Kind]| {
        figures
            .iter()
            .flat_map(|f| &f.by_kind)
            .filter(|(k, _)| kinds.contains(k))
            .map(|(_, s)| s.n)
            .sum::<usize>()
    };
    let total = count(&Kind::ALL);
    if total == 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let device = count(&[Kind::Device]);
    if device > 0 {
        let sentence = format!(
            "{device} of {total} figures are the device's own: {}.",
            spread(figures, &[Kind::Device])
        );
        found.push(Verdict { kind: Some(Kind::Device), sentence });
    }
    let mixed = count(&[Kind::Mixed]);
    if mixed > 0 {
        let sentence = format!(
            "{mixed} of {total} are part memory, part device ({}): neither the disk's speed nor the cache's.",
            spread(figures, &[Kind::Mixed])
        );
        found.push(Verdict { kind: Some(Kind::Mixed), sentence });
    }
    let memory = [Kind::CpuCache, Kind::PageCache];
    let cached = count(&memory);
    if cached > 0 {
        let sentence = format!(
            "{cached} of {total} were served from the page cache, not from the disk: {}.",
            spread(figures, &memory)
        );
        found.push(Verdict { kind: Some(Kind::PageCache), sentence });
    }
    if count(&[Kind::Memory]) > 0 {
        let sentence = "The file system lives in memory: no figure here is a disk's.".to_string();
        found.push(Verdict { kind: Some(Kind::Memory), sentence });
    }
    if count(&[Kind::Unknown]) > 0 {
        let n = count(&[Kind::Unknown]);
        let sentence = format!(
            "For {n} of {total} the kernel did not tell where the data was; take them for cache numbers."
        );
        found.push(Verdict { kind: Some(Kind::Unknown), sentence });
    }
    if device == 0 && cached > 0 {
        let larger = machine.memory_bytes.map_or(String::new(), |b| format!(" ({})", units::bytes(b)));
        let sentence = format!(
            "To see the disk itself: files larger than memory{larger}, O_DIRECT, or fsync inside the clock for writes."
        );
        found.push(Verdict { kind: None, sentence });
    }
    found
}

/// "reads 391 MiB/s to 440 MiB/s, writes 210 MiB/s to 330 MiB/s": the extremes, because a median over tests of unlike record
/// sizes would be nobody's speed.
fn spread(figures: &[FigureRow], kinds: &[Kind]) -> String {
    let of = |writes: bool| -> Option<(f64, f64)> {
        let here = figures.iter().filter(|f| f.only_writes == writes);
        let picked: Vec<&Summary> =
            here.flat_map(|f| &f.by_kind).filter(|(k, _)| kinds.contains(k)).map(|(_, s)| s).collect();
        let low = picked.iter().map(|s| s.min).min_by(f64::total_cmp)?;
        Some((low, picked.iter().map(|s| s.max).max_by(f64::total_cmp)?))
    };
    let words = |(what, range): (&str, Option<(f64, f64)>)| {
        let (low, high) = range.map(|(low, high)| (units::rate(low), units::rate(high)))?;
        Some(if low == high { format!("{what} {low}") } else { format!("{what} {low} to {high}") })
    };
    [("reads", of(false)), ("writes", of(true))].into_iter().filter_map(words).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn sentence(story: &Story, kind: Kind) -> Option<String> {
        story.verdicts.iter().find(|v| v.kind == Some(kind)).map(|v| v.sentence.clone())
    }

    #[test]
    fn a_cache_number_is_said_to_be_one() {
        let story = Story::of(&samples::auto_run());
        assert!(sentence(&story, Kind::PageCache).expect("cache").contains("not from the disk"));
        assert!(sentence(&story, Kind::Device).expect("device").contains("device's own"));
        assert_eq!(story.figures.len(), 13);
        assert_eq!(story.kinds(), [Kind::CpuCache, Kind::PageCache, Kind::Device]);
    }

    #[test]
    fn an_interrupted_run_says_so_and_claims_nothing() {
        let story = Story::of(&samples::interrupted_run());
        assert!(story.trouble[0].contains("interrupted"), "{:?}", story.trouble);
        assert!(story.verdicts.is_empty() && story.figures.is_empty());
    }

    #[test]
    fn errors_of_workers_are_told() {
        let story = Story::of(&samples::hostile_run());
        assert!(story.trouble.iter().any(|t| t.contains("no space left")), "{:?}", story.trouble);
    }
}
