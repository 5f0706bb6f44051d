//! The runs of a comparison measured with `--run`, loaded from the store: its quads, or A against itself if nothing
//! else was measured. The marks on the runs lead to the same verdict.

use super::runs::{Chosen, RunSource};
use super::sweep::{Marked, runs_of};
use crate::exit::Usage;
use fathom_record::{Run, Status};
use fathom_report::compared::{KEY, SessionMark, SessionPart};
use std::collections::BTreeMap;

const COMPARISON: Marked = Marked { begins: "compare ", key: KEY, option: "--of", what: "comparison" };

pub fn sides(id: &str, runs: &mut RunSource<'_>) -> anyhow::Result<Chosen> {
    let all = runs_of(&COMPARISON, id, runs)?;
    let marked: Vec<(SessionMark, Run)> =
        all.into_iter().filter_map(|r| Some((SessionMark::of(&r)?, r))).collect();
    // Incomplete runs are included: they belong to no quad, but the gate must know about them.
    let complete = marked.iter().filter(|m| m.1.status == Status::Completed).map(|m| &m.0);
    let of = |part: SessionPart, side: &str| -> Vec<Run> {
        marked.iter().filter(|(m, _)| m.part == part && m.side == side).map(|(_, r)| r.clone()).collect()
    };
    for part in [SessionPart::Quads, SessionPart::Noise] {
        let (a, b) = (of(part, "A"), of(part, "B"));
        if let Some((mark, _)) = marked.first()
            && has_a_whole_quad(complete.clone().filter(|m| m.part == part))
        {
            let [one, two] = mark.plan.sides.clone();
            let two = if part == SessionPart::Noise { format!("{one}, again") } else { two };
            return Ok(Chosen(vec![(one, a), (two, b)]));
        }
    }
    Err(Usage(format!("--of {id}: it ended before a quad was complete: there is nothing to compare")).into())
}

/// Whether any quad has two runs of each side; a script makes several records per run.
fn has_a_whole_quad<'m>(marks: impl Iterator<Item = &'m SessionMark>) -> bool {
    let mut quads: BTreeMap<u64, BTreeMap<u64, &str>> = BTreeMap::new();
    for mark in marks {
        quads.entry(mark.quad).or_default().insert(mark.run, &mark.side);
    }
    quads.values().any(|q| q.len() == 4 && q.values().filter(|side| **side == "A").count() == 2)
}
