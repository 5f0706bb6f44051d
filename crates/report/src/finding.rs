//! Findings of a phase for every format: the sentence, the advice, and the evidence in words.

use crate::{block::rounded_bytes, printable::clean, section::brief, units};
use fathom_record::{Evidence, Finding, Phase, Run};

/// A finding with all texts free of control characters.
#[derive(Clone, Debug, PartialEq)]
pub struct CleanFinding {
    /// Stable word of the rule.
    pub rule: String,
    /// What was found.
    pub sentence: String,
    /// What to do about it; empty if there is nothing to do.
    pub advice: String,
    /// The figures: name, value with its unit, where it was read.
    pub evidence: Vec<[String; 3]>,
}

impl CleanFinding {
    fn of(finding: &Finding) -> Self {
        Self {
            rule: clean(&finding.rule),
            sentence: clean(&finding.sentence),
            advice: clean(&finding.advice),
            evidence: finding.evidence.iter().map(|e| [clean(&e.name), value(e), clean(&e.source)]).collect(),
        }
    }

    /// "reads: 163 840 calls (our own calls)": one text per figure.
    #[must_use]
    pub fn proofs(&self) -> Vec<String> {
        self.evidence.iter().map(|[name, value, source]| format!("{name}: {value} ({source})")).collect()
    }
}

/// The findings of a phase: those of its last repetition with any, so that they agree with the figures shown beside them.
#[must_use]
pub fn of_phase(phase: &Phase) -> Vec<CleanFinding> {
    let found = phase.repetitions.iter().rev().find(|r| !r.findings.is_empty());
    found.map_or(Vec::new(), |r| r.findings.iter().map(CleanFinding::of).collect())
}

/// The findings of a run, each sentence once, with the short titles of the phases it was found in.
#[must_use]
pub fn of_run(run: &Run) -> Vec<(CleanFinding, Vec<String>)> {
    // Findings about the survey as a whole are attached to its parts and come first.
    let survey = crate::survey::findings(run);
    let mut all: Vec<(CleanFinding, Vec<String>)> =
        survey.iter().map(|(part, finding)| (CleanFinding::of(finding), vec![(*part).to_string()])).collect();
    for phase in &run.phases {
        let name = clean(&brief(phase));
        for one in of_phase(phase) {
            match all.iter_mut().find(|(known, _)| known.sentence == one.sentence) {
                Some((_, phases)) if phases.contains(&name) => {}
                Some((_, phases)) => phases.push(name.clone()),
                None => all.push((one, vec![name.clone()])),
            }
        }
    }
    all
}

/// The sentence, prefixed with its phases if the run has several.
#[must_use]
pub fn led(run: &Run, (found, phases): &(CleanFinding, Vec<String>)) -> String {
    if run.phases.len() > 1 {
        format!("{}: {}", phase_names(phases), found.sentence)
    } else {
        found.sentence.clone()
    }
}

/// "read x1; write x1"; of many, the first two and the number of others.
#[must_use]
pub fn phase_names(phases: &[String]) -> String {
    match phases.len() {
        0..=2 => phases.join("; "),
        n => format!("{}; {} and {} more", phases[0], phases[1], n - 2),
    }
}

/// A figure with its unit; known units are formatted.
fn value(evidence: &Evidence) -> String {
    let v = evidence.value;
    match evidence.unit.as_str() {
        "bytes" if v >= 0.0 => rounded_bytes(v),
        "bytes/s" if v >= 0.0 => units::rate(v),
        "ns" if v >= 0.0 => units::time_ns(v),
        "ratio" => plain(v),
        unit => clean(&format!("{} {unit}", plain(v))).trim_end().to_string(),
    }
}

/// Integers in groups of three digits, others with three significant digits.
fn plain(v: f64) -> String {
    match v {
        v if v >= 0.0 && v.fract() == 0.0 && v < 9e15 => units::count(v as u64),
        v if v.abs() >= 100.0 => format!("{v:.0}"),
        v if v.abs() >= 10.0 => format!("{v:.1}"),
        v if v.abs() >= 0.01 || v == 0.0 => format!("{v:.2}"),
        v => format!("{v:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn figures_have_their_units() {
        let words = |value: f64, unit: &str| {
            super::value(&Evidence { value, unit: unit.into(), ..Evidence::default() })
        };
        assert_eq!(words(163_840.0, "calls"), "163 840 calls");
        assert_eq!(words(4096.0, "bytes"), "4.00 KiB");
        assert_eq!(words(1.2e9, "ns"), "1.20 s");
        assert_eq!((words(3.084, "ratio"), words(0.21, "ratio")), ("3.08".into(), "0.21".into()));
        assert_eq!((words(0.004, "%"), words(-5.0, "bytes")), ("4.00e-3 %".into(), "-5.00 bytes".into()));
        assert!(!words(f64::NAN, "x").is_empty() && !words(f64::INFINITY, "bytes").is_empty());
    }

    #[test]
    fn phases_that_are_alike_share_a_finding() {
        let mut run = samples::observed_run();
        let mut again = run.phases[1].clone();
        again.name = "write again".into();
        run.phases.push(again);
        let all = of_run(&run);
        assert_eq!(all.len(), 3);
        assert_eq!(phase_names(&all[0].1), "random read, O_DIRECT x1");
        assert_eq!(phase_names(&all[1].1), "write x1; write again x1");
        let many = ["a", "b", "c", "d"].map(String::from);
        assert_eq!(phase_names(&many), "a; b and 2 more");
    }

    #[test]
    fn a_phase_tells_what_its_last_repetition_found() {
        let mut phase = samples::observed_run().phases.remove(1);
        let findings = of_phase(&phase);
        assert_eq!(findings.len(), 2);
        assert_eq!(findings[0].proofs()[0], "bytes written: 640 MiB (our own calls)");
        phase.repetitions.push(fathom_record::Repetition::default());
        assert_eq!(of_phase(&phase), findings, "one that found nothing does not hide it");
        phase.repetitions.clear();
        assert!(of_phase(&phase).is_empty());
    }
}
