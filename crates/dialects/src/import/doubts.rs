//! What may be said of imported runs, and what a log says against itself. A single run allows no statement about noise, whatever it
//! printed; but a throughput log proves by its own figures when its headline leaves out part of the work.

use fathom_compare::single::{ThroughputCell, stonewall_seconds};
use fathom_record::imported::names::{PARENT, THROUGHPUT};
use fathom_record::{Doubt, Evidence, Finding, Phase, Run};

/// Clocks nearer than this are the same.
const AGREE: f64 = 0.95;
/// The throughput of the slowest stream; IOzone's "Min throughput per process".
pub(super) const MIN: &str = "throughput of the slowest stream";
/// What the stream that had done least had done when the clock stopped.
pub(super) const SMALLEST: &str = "smallest transfer";
/// The tag of a cell whose repetitions are parts of one run: its requests or intervals.
pub(super) const COURSE: &str = "each";
/// Adds the doubts and findings of a run.
pub(super) fn judge(run: &mut Run) {
    let mut doubts = Vec::new();
    for phase in &mut run.phases {
        if let Some(finding) = contradiction(phase) {
            doubts.push(Doubt {
                code: "contradicted".into(),
                phase: Some(phase.seq),
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
            phase: None,
            sentence: "single runs, no interval possible; repeat >= 3 quads for a verdict".into(),
        });
    }
    run.doubts.extend(doubts);
}

/// A throughput that leaves out work: the parent saw less than the children, or a child had done less than its file when the first
/// one finished and the clock stopped.
fn contradiction(phase: &Phase) -> Option<Finding> {
    let r = phase.repetitions.last()?;
    let value = |name| r.figure(name).map(|f| f.value).filter(|v| *v > 0.0);
    let children = value(THROUGHPUT)?;
    let parent = value(PARENT);
    let smallest = value(SMALLEST);
    let expected = phase.axes.file_bytes.map(|b| b as f64).filter(|b| *b > 0.0);
    // What was not printed contradicts nothing.
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

/// How long the children's clock ran (the slowest did its smallest transfer in it) and how long the parent's, in seconds. Of two
/// streams it is known what they moved, the one a whole file and the other the smallest transfer; of more it is taken from their rates.
fn clocks(phase: &Phase, children: f64) -> Option<(f64, f64)> {
    let r = phase.repetitions.last()?;
    let value = |name| r.figure(name).map(|f| f.value).filter(|v| *v > 0.0);
    let (smallest, slowest, parent) = (value(SMALLEST)?, value(MIN)?, value(PARENT)?);
    let window = stonewall_seconds(smallest, slowest);
    let moved = match (phase.axes.streams, phase.axes.file_bytes) {
        (Some(2), Some(file)) => file as f64 + smallest,
        _ => children * window,
    };
    // Where both clocks agree there is nothing to tell.
    Some((window, moved / parent)).filter(|(window, whole)| window / whole < AGREE)
}
