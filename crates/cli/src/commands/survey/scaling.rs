//! The same work by one, two and more concurrent streams, through the page cache and past it.

use super::MIB;
use super::plan::{BLOCK, COMMITTERS, Step, SurveyPlan, SurveyStage, sets};
use fathom_workload::{Access, Action, Amount, Bytes, Direction, Stream, SyncEvery, Timed};

const STAGE: SurveyStage =
    SurveyStage("scaling", "The same work by one, two and more streams at once, each on a separate file.");

pub fn add(plan: &mut SurveyPlan<'_>) {
    commits(plan);
    let each = if plan.writes() {
        plan.place.each_stream(plan.effort.most_streams)
    } else {
        plan.place.read_bytes()
    };
    let time = plan.effort.phase;
    for streams in plan.effort.streams() {
        let random = Stream {
            access: Access::Permuted,
            amount: Amount::Endless,
            ..Stream::new(sets::STREAMS, Direction::Read, BLOCK)
        };
        let files = plan.prepare(sets::STREAMS);
        if plan.place.direct {
            let direct = SurveyPlan::by_worker(Stream { open: plan.open_direct(), ..random.clone() });
            let step =
                Step::new(STAGE, "parallel direct reads", direct, time).sizes(each, BLOCK.0).streams(streams);
            plan.push(step.before(files.clone()).cold());
        }
        if !plan.writes() {
            continue;
        }
        let mut warm = files;
        warm.push(Action::Warm(sets::STREAMS.into()));
        let step = Step::new(STAGE, "parallel cached reads", SurveyPlan::by_worker(random), time)
            .sizes(each, BLOCK.0);
        plan.push(step.streams(streams).before(warm));
        let record = MIB.min(each);
        let write = SurveyPlan::by_worker(Stream {
            timed: Timed { fsync: true, ..Timed::default() },
            ..Stream::new(sets::STREAMS_NEW, Direction::Write, Bytes(record))
        });
        let step = Step::new(STAGE, "parallel writers", write, time).sizes(each, record).streams(streams);
        plan.push(step.before(vec![Action::Recreate(sets::STREAMS_NEW.into())]));
    }
}

/// Several workers write and sync their own files: does one journal or device flush serve them all?
fn commits(plan: &mut SurveyPlan<'_>) {
    if !plan.writes() {
        return;
    }
    let write = SurveyPlan::by_worker(Stream {
        access: Access::Permuted,
        amount: Amount::Bytes(plan.few_writes(COMMITTERS)),
        sync_every: Some(SyncEvery { writes: 1, ..SyncEvery::default() }),
        ..Stream::new(sets::COMMITTED, Direction::Write, BLOCK)
    });
    let step = Step::new(STAGE, "parallel commits", write, plan.effort.phase);
    let step = step.sizes(plan.place.committed(), BLOCK.0).streams(COMMITTERS);
    plan.push(step.before(plan.prepare(sets::COMMITTED)));
}
