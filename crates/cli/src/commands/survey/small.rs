//! Small files: created, written, looked up and deleted, as by a build or a mail server; without and with an fsync of
//! each.

use super::plan::{BLOCK, Step, SurveyPlan, SurveyStage, sets};
use fathom_workload::{Act, Action, Duration, Flow, FlowOp, Program, Stream, Value};

const STAGE: SurveyStage = SurveyStage(
    "small files",
    "Files of 4 KiB in directories of a hundred: each is created, written, closed, looked up; an older one is deleted.",
);

pub fn add(plan: &mut SurveyPlan<'_>) {
    if !plan.writes() || plan.place.small_files < 20 {
        return;
    }
    let time = Duration(plan.effort.phase.0 * 2);
    for (name, sync) in [("small files", false), ("small files with fsync", true)] {
        let mut step =
            Step::new(STAGE, name, Stream::new(sets::SMALL, fathom_workload::Direction::Write, BLOCK), time);
        step.program = Program::Flow(Flow { ops: operations(sync), ..Flow::default() });
        plan.push(step.before(vec![Action::Prepare(sets::SMALL.into())]));
    }
}

fn operations(sync: bool) -> Vec<FlowOp> {
    const SLOT: Option<u32> = Some(1);
    let mut ops = vec![
        op("create", Act::Create, SLOT),
        FlowOp { size: Value::Bytes(BLOCK), ..op("write", Act::WriteWholeFile, SLOT) },
    ];
    ops.extend(sync.then(|| op("fsync", Act::Sync, SLOT)));
    ops.extend([op("close", Act::Close, SLOT), op("stat", Act::Stat, None), op("delete", Act::Delete, None)]);
    ops
}

fn op(name: &str, act: Act, slot: Option<u32>) -> FlowOp {
    FlowOp { fileset: Some(sets::SMALL.into()), slot, ..FlowOp::new(name, act) }
}
