//! The latency ladder: random 4 KiB operations, one in flight, from memory to the device and to what survives a power
//! cut.

use super::plan::{BLOCK, Step, SurveyPlan, SurveyStage, sets};
use fathom_workload::{Access, Action, Amount, Direction, Open, OpenSync, Stream, SyncEvery};

const STAGE: SurveyStage = SurveyStage(
    "ladder",
    "4 KiB at random offsets of one file, one operation in flight: from memory to the device and to durable.",
);

pub fn add(plan: &mut SurveyPlan<'_>) {
    let written = plan.place.written();
    let time = plan.effort.phase;
    let random = |set: &str, direction| Stream {
        access: Access::Permuted,
        amount: Amount::Endless,
        ..Stream::new(set, direction, BLOCK)
    };
    let step = |name: &'static str, stream| Step::new(STAGE, name, stream, time);
    let cached = plan.place.cached();
    let mut warm = plan.prepare(sets::CACHED);
    warm.extend(plan.writes().then(|| Action::Warm(sets::CACHED.into())));
    let here =
        Stream { length: Some(fathom_workload::Bytes(cached)), ..random(sets::CACHED, Direction::Read) };
    if plan.writes() {
        plan.push(step("cached random read", here).sizes(cached, BLOCK.0).before(warm));
    }
    // At most one pass: a second would find the data in the cache.
    let once = Stream { amount: Amount::Pass, ..random(sets::READ, Direction::Read) };
    let before = plan.prepare(sets::READ);
    let whole = plan.place.read_bytes();
    plan.push(step("cold random read", once).sizes(whole, BLOCK.0).before(before.clone()).cold());
    if plan.place.direct {
        let stream = Stream { open: plan.open_direct(), ..random(sets::READ, Direction::Read) };
        plan.push(step("direct random read", stream).sizes(whole, BLOCK.0).before(before).cold());
    }
    if !plan.writes() {
        return;
    }
    let before = plan.prepare(sets::WRITTEN);
    // Writing back the dirty pages of a slow device would take minutes.
    let most = plan.few_writes(1);
    let few = Amount::Operations(plan.place.writes_in(time).min(most.0 / BLOCK.0));
    let write = Stream { amount: Amount::Bytes(most), ..random(sets::WRITTEN, Direction::Write) };
    let buffered = Stream { sync_after: true, amount: few, ..write.clone() };
    plan.push(step("buffered random write", buffered).sizes(written, BLOCK.0).before(before.clone()));
    if plan.place.direct {
        let stream = Stream { open: plan.open_direct(), sync_after: true, ..write.clone() };
        plan.push(step("direct random write", stream).sizes(written, BLOCK.0).before(before.clone()));
    }
    for (name, sync) in [("O_DSYNC random write", OpenSync::Dsync), ("O_SYNC random write", OpenSync::Sync)] {
        let stream = Stream { open: Open { sync, ..Open::default() }, ..write.clone() };
        plan.push(step(name, stream).sizes(written, BLOCK.0).before(before.clone()));
    }
    let every = Some(SyncEvery { writes: 1, ..SyncEvery::default() });
    plan.push(
        step("write and fsync", Stream { sync_every: every, ..write }).sizes(written, BLOCK.0).before(before),
    );
}
