//! One long cyclic write to a file as large as the place allows: does the rate last, or was it a cache's?

use super::MIB;
use super::plan::{Step, SurveyPlan, SurveyStage, sets};
use fathom_workload::{Amount, Bytes, Direction, Duration, Stream, SyncEvery, Timed};

const STAGE: SurveyStage = SurveyStage(
    "sustained",
    "Writes of 1 MiB for as long as the survey has time: does the rate last once the caches are full?",
);
/// Points of the course over time.
const POINTS: u64 = 60;

/// Adds it and returns its index; it lasts for `time` or until `most` bytes are written.
pub fn add(plan: &mut SurveyPlan<'_>, time: Duration, most: u64) -> Option<usize> {
    if !plan.writes() {
        return None;
    }
    let record = MIB.min(plan.place.sustained);
    let mut stream = Stream {
        amount: Amount::Bytes(Bytes(most)),
        open: plan.open_direct(),
        // A device with a volatile cache may take longer for the fsync than for the writes.
        timed: Timed { fsync: true, ..Timed::default() },
        ..Stream::new(sets::SUSTAINED, Direction::Write, Bytes(record))
    };
    if plan.place.direct {
        if let Some(backend) = plan.several_in_flight() {
            stream.backend = backend;
            stream.queue_depth = 4;
        }
    } else {
        // Without it, only the page cache would be filled.
        stream.sync_every = Some(SyncEvery { writes: 16, ..SyncEvery::default() });
    }
    let step = Step::new(STAGE, "sustained write", stream, time).sizes(plan.place.sustained, record);
    let number = plan.push(step);
    if let Some(phase) = plan.workload.phases.last_mut() {
        let shortest = Duration(10_000_000);
        phase.interval = Duration(time.0.min(plan.place.takes_ns(most)) / POINTS).max(shortest);
    }
    Some(number)
}
