//! The trust list and how phases ran, in Markdown.

use super::{escape, table};
use crate::{
    conduct::{self, Beside, ConductRow, Steady},
    trust,
};
use fathom_record::{Phase, Run};

pub(super) fn trust_list(out: &mut String, run: &Run) {
    let lines = trust::lines(run);
    if lines.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|l| {
            let verdict = match l.verdict {
                fathom_record::Verdict::Doubtful => format!("**{}**", l.verdict.word()),
                v => v.word().to_string(),
            };
            vec![escape(&l.code), format!("{} {verdict}", l.mark()), escape(&l.sentence)]
        })
        .collect();
    let head = format!("Found ({})", trust::tally(&lines));
    super::text_table(out, &["Check", "Verdict", &head], &rows);
}

/// Warm-up, depth and rate; steady states; tails.
pub(super) fn conducts(out: &mut String, run: &Run) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let rows: Vec<Vec<String>> = conduct::rows(&phases)
        .iter()
        .map(|r| with_title(&r.title, r.cells().map(|c| c.map_or("–".into(), escape))))
        .collect();
    titled(out, "How it went", &ConductRow::HEADS, &rows);
    let rows: Vec<Vec<String>> = conduct::steady(&phases)
        .iter()
        .map(|s| with_title(&s.title, s.cells().map(|c| escape(&c))))
        .collect();
    titled(out, "Steady state", &Steady::HEADS, &rows);
    let rows: Vec<Vec<String>> =
        conduct::tails(&phases).iter().map(|t| with_title(&t.title, t.cells().map(|c| escape(&c)))).collect();
    titled(out, "Tail beside the machine's stalls", &Beside::HEADS, &rows);
}

fn with_title<const N: usize>(title: &str, cells: [String; N]) -> Vec<String> {
    std::iter::once(escape(title)).chain(cells).collect()
}

fn titled(out: &mut String, first: &str, heads: &[&str], rows: &[Vec<String>]) {
    if !rows.is_empty() {
        let heads: Vec<&str> = std::iter::once(first).chain(heads.iter().copied()).collect();
        table(out, &heads, rows);
    }
}
