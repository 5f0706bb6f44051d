//! How much a survey has written, and how much a phase may add.

use super::plan::SurveyPlan;
use fathom_record::{OpKind, Run};
use fathom_workload::{Action, Amount, Existing, Files, Phase, Program, Sizing};
use std::collections::BTreeSet;

/// One Nth of the writable bytes is reserved for the long write.
const LONG_WRITE: u64 = 3;

/// Bytes written before the long write: by phases, and to lay out their files.
pub fn written(plan: &SurveyPlan<'_>, run: &Run) -> u64 {
    let mut there = BTreeSet::new();
    let mut laid_out = 0u64;
    for phase in &run.phases {
        let times = phase.repetitions.len() as u64;
        for set in plan.workload.phases.get(phase.seq as usize).into_iter().flat_map(prepared) {
            let again = plan.set(set).is_some_and(|set| set.existing == Existing::Refuse);
            let made = if again { times } else { u64::from(times > 0 && there.insert(set)) };
            laid_out = laid_out.saturating_add(size_of(plan, set).saturating_mul(made));
        }
    }
    let by_phases: u64 = run.phases.iter().flat_map(|p| &p.repetitions).map(by).sum();
    laid_out.saturating_add(by_phases)
}

/// Whether a phase leaves the long write its share.
pub fn allows(plan: &SurveyPlan<'_>, number: usize, run: &Run) -> bool {
    let Some(phase) = plan.workload.phases.get(number) else { return false };
    let before = run.phases.iter().find(|p| p.seq as usize == number).and_then(|p| p.repetitions.last());
    let cost = before.map_or_else(|| most(plan, phase), by);
    cost == 0
        || written(plan, run).saturating_add(cost) <= plan.effort.most_written / LONG_WRITE * (LONG_WRITE - 1)
}

fn prepared(phase: &Phase) -> impl Iterator<Item = &str> {
    phase.before.iter().filter_map(|action| match action {
        Action::Prepare(set) => Some(set.as_str()),
        _ => None,
    })
}

fn size_of(plan: &SurveyPlan<'_>, set: &str) -> u64 {
    let Some(set) = plan.set(set) else { return 0 };
    let Sizing::Fixed(each) = set.size else { return 0 };
    let files = match &set.files {
        Files::Tree(tree) => tree.entries * u64::from(set.preallocated_percent) / 100,
        files => files.count(),
    };
    each.0.saturating_mul(files)
}

/// Bytes a repetition wrote.
fn by(repetition: &fathom_record::Repetition) -> u64 {
    let writes = repetition.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == OpKind::Write);
    let uncounted = repetition.workers.iter().map(|w| w.uncounted_bytes);
    writes.map(|s| s.bytes).chain(uncounted).fold(0, u64::saturating_add)
}

/// Maximum number of that a phase not yet executed may write.
fn most(plan: &SurveyPlan<'_>, phase: &Phase) -> u64 {
    let of_thread = |program: &Program| match program {
        Program::Stream(stream) if stream.direction.writes() => match (stream.amount, stream.length) {
            (Amount::Bytes(bytes), _) => bytes.0,
            (Amount::Operations(n), _) => n.saturating_mul(stream.record.largest().0),
            (_, Some(length)) => length.0,
            (_, None) => match plan.set(&stream.fileset) {
                Some(set) if matches!(set.size, Sizing::Fixed(_)) => {
                    size_of(plan, &set.name) / set.files.count().max(1)
                }
                _ => 0,
            },
        },
        // Small files come and go; how many depends on the time.
        _ => 0,
    };
    let groups = phase.groups.iter().map(|g| {
        let threads: u64 = g.threads.iter().map(|t| of_thread(&t.program)).sum();
        threads.saturating_mul(u64::from(g.instances))
    });
    groups.sum()
}
