//! Mixed reads and writes, from all reads to all writes: what writers do to readers.

use super::effort::EffortChoice;
use super::plan::{BLOCK, Step, SurveyPlan, SurveyStage, sets};
use fathom_workload::{Access, Amount, Direction, Mix, Stream};

const STAGE: SurveyStage = SurveyStage(
    "mix",
    "4 KiB at random offsets of one file, one operation in flight, with different percentages of reads.",
);

pub fn add(plan: &mut SurveyPlan<'_>) {
    if !plan.writes() {
        return;
    }
    let shares: &[u8] =
        if plan.effort.wish == EffortChoice::Quick { &[100, 70, 30] } else { &[100, 90, 70, 50, 30, 0] };
    for &reads in shares {
        let direction = match reads {
            100 => Direction::Read,
            0 => Direction::Write,
            percent => Direction::Mix(Mix::ReadPercent(percent)),
        };
        let time = plan.effort.phase;
        let mut stream = Stream {
            access: Access::Uniform,
            amount: if reads < 100 { Amount::Bytes(plan.few_writes(1)) } else { Amount::Endless },
            open: plan.open_direct(),
            sync_after: reads < 100,
            ..Stream::new(sets::WRITTEN, direction, BLOCK)
        };
        if reads < 100 && !plan.place.direct {
            let most = plan.few_writes(1).0 / BLOCK.0;
            stream.amount = Amount::Operations(plan.place.writes_in(time).min(most));
        }
        let before = plan.prepare(sets::WRITTEN);
        let name = if plan.place.direct { "mixed direct" } else { "mixed buffered" };
        let step = Step::new(STAGE, name, stream, time).sizes(plan.place.written(), BLOCK.0);
        plan.push(step.tag("reads", format!("{reads} %")).before(before).cold());
    }
}
