//! The runs of a comparison that measured them itself (`--run`), back from the store: its quads, or the noise of A against itself where
//! nothing else was measured. What stands on the runs makes the same verdict of them.

use super::sides::{Chosen, Runs};
use super::sweep::runs_of;
use crate::exit::Usage;
use fathom_record::{Run, Status};
use fathom_report::compared::{Part, SessionMark};

/// What the label of such a run begins with.
const LABEL: &str = "compare ";

/// The sides of a comparison.
pub fn sides(id: &str, runs: &mut Runs<'_>) -> anyhow::Result<Chosen> {
    let all = runs_of((LABEL, "--of", "comparison"), id, runs)?;
    let marked: Vec<(SessionMark, Run)> = all
        .into_iter()
        .filter(|r| r.status == Status::Completed)
        .filter_map(|r| Some((SessionMark::of(&r)?, r)))
        .collect();
    let of = |part: Part, side: &str| -> Vec<Run> {
        marked.iter().filter(|(m, _)| m.part == part && m.side == side).map(|(_, r)| r.clone()).collect()
    };
    for part in [Part::Quads, Part::Noise] {
        let (a, b) = (of(part, "A"), of(part, "B"));
        if let Some((mark, _)) = marked.first()
            && !a.is_empty()
            && !b.is_empty()
        {
            let [one, two] = mark.plan.sides.clone();
            let two = if part == Part::Noise { format!("{one}, again") } else { two };
            return Ok(Chosen(vec![(one, a), (two, b)]));
        }
    }
    Err(Usage(format!("--of {id}: it ended before both sides had a run")).into())
}
