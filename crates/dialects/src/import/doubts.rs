//! Limits of what imported runs can show, and contradictions within a log. A single run allows no statement about noise. But a
//! throughput log can prove by its own figures that its headline omits part of the work.

use fathom_compare::single::{ThroughputCell, stonewall_seconds};
use fathom_record::imported::names::{PARENT, THROUGHPUT};
use fathom_record::{Doubt, Evidence, Finding, Phase, Run};

/// Clocks closer than this count as equal.
const AGREE: f64 = 0.95;
/// The throughput of the slowest stream; IOzone's "Min throughput per process".
pub(super) const MIN: &str = "throughput of the slowest stream";
/// Amount moved by the slowest stream when the clock stopped.
pub(super) const SMALLEST: &str = "smallest transfer";
/// Tag of a cell whose repetitions are parts of one run: requests or intervals.
pub(super) const COURSE: &str = "each";
/// Adds doubts and findings to a run.
pub(super) fn judge(run: &mut Run) {
    let mut doubts = Vec::new();
    for phase in &mut run.phases {
        if let Some(finding) = contradiction(phase) {
            doubts.push(Doubt {
                code: "contradicted".into(),
                phases: vec![phase.seq],
                sentence: finding.sentence.clone(),
            });
            if let Some(r) = phase.repetitions.last_mut() {
                r.findings.push(finding);
            }
        }
    }
    doubts.extend(super::notices::of_tables(run));
    if run.phases.iter().all(|p| p.repetitions.len() == 1 || p.axes.tags.contains_key(COURSE)) {
        doubts.push(Doubt {
            code: "single-run".into(),
            phases: Vec::new(),
            sentence: "single runs, no interval possible; repeat >= 3 quads for a verdict".into(),
        });
    }
    run.doubts.extend(doubts);
}

/// A throughput that omits work: the parent measured less than the children, or a child had not finished its file when the first
/// one finished and the clock stopped.
fn contradiction(phase: &Phase) -> Option<Finding> {
    let r = phase.repetitions.last()?;
    let value = |name| r.figure(name).map(|f| f.value).filter(|v| *v > 0.0);
    let children = value(THROUGHPUT)?;
    let parent = value(PARENT);
    let smallest = value(SMALLEST);
    let expected = phase.axes.file_bytes.map(|b| b as f64).filter(|b| *b > 0.0);
    // Figures that were not printed contradict nothing.
    let (expected, smallest) = expected.zip(smallest).map_or((None, None), |(e, s)| (Some(e), Some(s)));
    let check = ThroughputCell {
        children,
        parent: parent.unwrap_or(children),
        smallest: smallest.unwrap_or(1.0),
        expected: expected.unwrap_or(1.0),
    }
    .check();
    if !check.contradicts {
        return None;
    }
    let seen = parent.map(|_| check.parent_share);
    let moved = smallest.map(|_| check.smallest_share);
    let mut evidence = vec![("throughput by the children", children, "bytes/s")];
    let mut words = Vec::new();
    if let (Some(p), Some(share)) = (parent, seen) {
        evidence.push((PARENT, p, "bytes/s"));
        evidence.push(("parent over children", share, "ratio"));
        words.push(format!(
            "children {:.2} kB/s, parent {:.2} kB/s ({share:.6})",
            children / 1024.0,
            p / 1024.0
        ));
    }
    if let (Some(s), Some(e), Some(share)) = (smallest, expected, moved) {
        evidence.push((SMALLEST, s, "bytes"));
        evidence.push(("smallest transfer over expected", share, "ratio"));
        words.push(format!("smallest transfer {:.0} of {:.0} kB ({share:.3})", s / 1024.0, e / 1024.0));
    }
    if let Some((window, whole)) = clocks(phase, children) {
        evidence.push(("window of the children", window, "s"));
        evidence.push(("time of the parent", whole, "s"));
        words.push(format!(
            "the children's clock stopped after {window:.2} s, the parent's after {whole:.2} s: the headline leaves out {:.1} s of work",
            whole - window
        ));
    }
    let evidence = evidence.into_iter().map(|(name, value, unit)| Evidence {
        name: name.into(),
        value,
        unit: unit.into(),
        source: "the log's own figures".into(),
    });
    Some(Finding {
        rule: "contradicted".into(),
        sentence: format!("{}: the log contradicts its own headline: {}", phase.name, words.join("; ")),
        advice: "compare the parent's figures, or repeat it with work that all streams end at the same time"
            .into(),
        evidence: evidence.collect(),
    })
}

/// Clock times of the children (the slowest moved its smallest transfer in it) and of the parent, in seconds. For two streams the
/// amounts are known, a whole file and the smallest transfer; for more they are estimated from the rates.
fn clocks(phase: &Phase, children: f64) -> Option<(f64, f64)> {
    let r = phase.repetitions.last()?;
    let value = |name| r.figure(name).map(|f| f.value).filter(|v| *v > 0.0);
    let (smallest, slowest, parent) = (value(SMALLEST)?, value(MIN)?, value(PARENT)?);
    let window = stonewall_seconds(smallest, slowest);
    let moved = match (phase.axes.streams, phase.axes.file_bytes) {
        (Some(2), Some(file)) => file as f64 + smallest,
        _ => children * window,
    };
    // If both clocks agree there is no contradiction.
    Some((window, moved / parent)).filter(|(window, whole)| window / whole < AGREE)
}
