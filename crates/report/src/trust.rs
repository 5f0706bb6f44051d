//! The trust list for every format: a mark that does not rely on colour, the code of the check, its sentence.

use crate::printable::clean;
use fathom_record::{Run, Trust, Verdict};

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustLine {
    /// The outcome.
    pub verdict: Verdict,
    /// The check's code.
    pub code: String,
    /// What was measured.
    pub sentence: String,
}

impl TrustLine {
    fn of(trust: &Trust) -> Self {
        Self { verdict: trust.verdict, code: clean(&trust.code), sentence: clean(&trust.sentence) }
    }

    /// "+" good, "!" doubtful, "?" unknown.
    #[must_use]
    pub fn mark(&self) -> &'static str {
        match self.verdict {
            Verdict::Good => "+",
            Verdict::Doubtful => "!",
            Verdict::Unknown => "?",
        }
    }
}

/// Every check of a run, in its order.
#[must_use]
pub fn lines(run: &Run) -> Vec<TrustLine> {
    run.trust.iter().map(TrustLine::of).collect()
}

/// The list in a few words: "9 good, 2 doubtful, 2 unknown".
#[must_use]
pub fn tally(lines: &[TrustLine]) -> String {
    let count = |v| lines.iter().filter(|l| l.verdict == v).count();
    [Verdict::Good, Verdict::Doubtful, Verdict::Unknown]
        .into_iter()
        .filter(|v| count(*v) > 0)
        .map(|v| format!("{} {}", count(v), v.word()))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_verdict_has_its_mark_and_is_counted() {
        let lines = lines(&samples::engine_run());
        let marks: String = lines.iter().map(TrustLine::mark).collect();
        assert_eq!(marks, "!+++++!++!+!+");
        assert_eq!(tally(&lines), "9 good, 4 doubtful");
        assert_eq!(tally(&[]), "");
    }

    #[test]
    fn control_characters_do_not_come_through() {
        let trust = Trust { code: "a\u{1b}".into(), verdict: Verdict::Good, sentence: "b\n".into() };
        let line = TrustLine::of(&trust);
        assert_eq!((line.code.as_str(), line.sentence.as_str()), ("a\u{fffd}", "b\u{fffd}"));
    }
}
