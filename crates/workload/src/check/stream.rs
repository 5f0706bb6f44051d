//! Checks a stream: its file, its region, its records and their order, its depth and pace, and that it ends.

use super::{LARGEST_OFFSET, data_error};
use crate::ops::{MOST_ROUNDS, WIDEST_PERCENT, amplification};
use crate::{
    Access, Amount, Backend, DepthGoal, Direction, Does, Duration, Group, ListedOp, Lock, Mix, OpenSync,
    Phase, Pick, Program, Pvsync2, RateOf, Record, Sequence, Sizing, Stop, Stream, WhenStopped, Workload,
    Zone,
};

/// Largest record. Every worker holds one in memory.
const LARGEST_RECORD: u64 = 1 << 30;
/// Maximum number of records of a shuffle: its order is a list in memory, 8 bytes per record and worker. 2 TiB in records of 4 KiB are 2^29.
const MOST_SHUFFLED: u64 = 1 << 32;

pub(super) fn errors(workload: &Workload, (phase, group): (&Phase, &Group), stream: &Stream) -> Vec<String> {
    let Some(set) = workload.fileset(&stream.fileset) else {
        return vec![format!("no file set is named {:?}", stream.fileset)];
    };
    let mut errors = Vec::new();
    if let Pick::One(index) = stream.pick
        && u64::from(index) >= set.files.count()
    {
        errors.push(format!("file {index} is picked from {} files", set.files.count()));
    }
    errors.extend(record_errors(&stream.record));
    match &stream.access {
        Access::Listed(list) => errors.extend(list_error(list)),
        // A record larger than the rest of a file is cut there.
        _ if stream.pick == Pick::All && stream.turns.is_none() => {}
        _ => errors.extend(region_errors(stream, &set.size)),
    }
    errors.extend(access_error(&stream.access, &stream.record));
    errors.extend(super::alignment::error(stream));
    errors.extend(super::passes::error(stream).map(String::from));
    errors.extend(super::by_kind::errors(stream));
    errors.extend(super::calls::errors(group.warms_up(phase), stream));
    errors.extend(super::calls::donor_error(workload, stream));
    if let Some(turns) = &stream.turns {
        // The order applies to the files, which are all alike.
        errors.extend(access_error(&turns.order, &Record::Fixed(crate::Bytes(1))));
    }
    match stream.direction {
        Direction::Mix(Mix::ReadPercent(p)) if p > 100 => errors.push(format!("{p} percent reads")),
        Direction::Mix(Mix::ReadsPerWrite(r) | Mix::ReadsPerWriteIssued(r))
            if !(r >= 0.0 && r.is_finite()) =>
        {
            errors.push(format!("{r} reads per write"));
        }
        _ => {}
    }
    errors.extend(amount_error(stream));
    errors.extend(endless_error((phase, group), stream));
    errors.extend(depth_errors(stream));
    errors.extend(super::priority::errors(stream));
    errors.extend(super::pass_over::errors(stream));
    errors.extend(super::nodes::error(stream));
    if let Some(rate) = stream.pace.rate
        && !(rate.operations_per_s > 0.0 && rate.operations_per_s.is_finite())
    {
        errors.push(format!("a rate of {} operations_per_s is not above 0", rate.operations_per_s));
    }
    if stream.pace.rate.is_some_and(|rate| rate.per.0 > 0 && rate.common) {
        errors.push(
            "a rate in bytes (per) applies to one worker; it cannot be combined with a common rate".into(),
        );
    }
    if let Some(think) = stream.pace.think {
        if think.every == 0 && think.interval.0 == 0 {
            errors.push("a pause before every 0 operations; 1 is before each".into());
        }
        if think.shifts_schedule && stream.pace.rate.is_none_or(|rate| rate.common) {
            errors.push("postpones delays the operations that the stream's own rate schedules: it needs a rate that is not common".into());
        }
        if think.busy > think.time || think.busy.0 > 0 && !think.asleep {
            errors.push(
                "the busy part of a pause (think) needs asleep = true, and is at most as long as the pause"
                    .into(),
            );
        }
    }
    errors.extend(super::limits::errors(stream));
    if let Backend::Mmap { flush_every: 0, .. } = stream.backend {
        errors.push("flush_every is 0; 1 flushes after every record, flush = \"no\" never flushes".into());
    }
    if let Backend::Pvsync2(Pvsync2 { high_priority, high_priority_percent: Some(percent), .. }) =
        stream.backend
        && (!high_priority || percent > 100)
    {
        errors.push("high_priority_percent is a share, 0 to 100, of calls with high_priority".into());
    }
    errors.extend(contradictions((phase, group), stream));
    if stream.sync_every.is_some_and(|s| s.writes == 0) {
        errors.push("sync_every after 0 writes; leave it out instead".into());
    }
    errors.extend(super::syncs::errors(stream).into_iter().map(String::from));
    if stream.direction == Direction::Read && stream.open.truncate {
        errors.push("a stream that only reads cannot truncate its file".into());
    }
    errors.extend(data_error(&stream.data));
    errors.extend(super::pooled::errors(group.warms_up(phase), set, stream));
    errors.extend(super::trims::errors(stream));
    errors.extend(super::zoned_device::errors(stream));
    errors.extend(super::kept::errors(workload, (phase, group), stream));
    errors
}

fn list_error(list: &[ListedOp]) -> Option<String> {
    if list.is_empty() {
        return Some("the list of operations is empty".into());
    }
    if list.iter().any(|op| op.due.is_some() != list[0].due.is_some()) {
        return Some("some operations of the list have a time (due) and others have none; give all of them one, or none".into());
    }
    if list.windows(2).any(|two| two[0].due > two[1].due) {
        return Some(
            "an operation of the list has an earlier time (due) than the one before it; sort the list by time".into(),
        );
    }
    if list.iter().all(|op| op.does.is_some_and(Does::syncs)) {
        return Some("the list has syncs only; at least one read or write is needed".into());
    }
    list.iter().enumerate().find_map(|(i, op)| {
        let syncs = op.does.is_some_and(Does::syncs);
        if syncs && op.bytes > 0 {
            return Some(format!("operation {i} of the list is a sync, which has no bytes"));
        }
        if !syncs && op.bytes == 0 {
            return Some(format!("operation {i} of the list has 0 bytes"));
        }
        // A trim needs no buffer.
        if u64::from(op.bytes) > LARGEST_RECORD && op.does != Some(Does::Trim) {
            return Some(format!("operation {i} of the list has {} bytes; the limit is 1GiB", op.bytes));
        }
        if op.offset > LARGEST_OFFSET - u64::from(op.bytes) {
            return Some(format!("operation {i} of the list ends beyond the largest offset of a file"));
        }
        None
    })
}

fn record_errors(record: &Record) -> Vec<String> {
    if let Record::ByKind { read, write } = record {
        return [record_errors(read), record_errors(write)].concat();
    }
    let mut errors = Vec::new();
    if record.unit().0 == 0 {
        errors.push("the record size is 0".into());
    }
    if record.largest().0 > LARGEST_RECORD {
        errors.push(format!("record size {} is above the limit of 1GiB", record.largest()));
    }
    match record {
        Record::Between { min, max } if min > max => errors.push(format!("record sizes from {min} to {max}")),
        Record::Split(sizes) if !sizes.iter().all(|s| s.1 > 0.0 && s.1.is_finite()) || sizes.is_empty() => {
            errors.push("every record size of a split needs a weight above 0".into());
        }
        _ => {}
    }
    errors
}

/// The region is the configured length, or the file from `start` on.
fn region_errors(stream: &Stream, file: &Sizing) -> Vec<String> {
    let mut errors = Vec::new();
    let start = stream.start.0;
    let region = stream.length.or(match file {
        Sizing::Fixed(b) => Some(crate::Bytes(b.0.saturating_sub(start))),
        // The smallest file is the first to be too small.
        Sizing::Each(sizes) => sizes.iter().min().map(|b| crate::Bytes(b.0.saturating_sub(start))),
        Sizing::Variable(_) => None,
    });
    let Some(region) = region else { return errors };
    let least = stream.least_region();
    if region < least {
        errors.push(format!("record size {least} is larger than the region of {region}"));
    }
    if start.checked_add(region.0).is_none_or(|end| end > LARGEST_OFFSET) {
        errors.push(format!(
            "a region of {region} from {} on ends beyond the largest offset of a file",
            stream.start
        ));
    }
    let records = match stream.align.0 {
        0 => region.0 / stream.record.unit().0.max(1),
        step => (region.0.saturating_sub(stream.record.largest().0) / step).saturating_add(1),
    };
    if matches!(stream.access, Access::Shuffled { .. }) && records > MOST_SHUFFLED {
        errors.push(format!(
            "a shuffle of {records} records is too large to hold in memory; permuted visits each record once without a list"
        ));
    }
    if stream.fills() && records > MOST_SHUFFLED {
        errors.push(format!(
            "{records} units are too many to remember which of them belong to a record; take one record size"
        ));
    }
    if let Access::ZonesInTurn { range, inside, .. } = &stream.access
        && inside.remembers_in_zones()
        && range.0.min(region.0) / stream.record.unit().0.max(1) > MOST_SHUFFLED
    {
        errors.push(format!(
            "zones of {range} have too many records to remember which had their turn; take smaller zones"
        ));
    }
    if let Access::Preconditioning { spare, rounds, apart } = &stream.access {
        if ((1.0 + spare) * records as f64).ceil() < f64::from(*rounds) {
            errors.push(format!(
                "{rounds} rounds are more than a pass has operations: the region has {records} records"
            ));
        }
        if (records / u64::from(*rounds).max(1)).saturating_mul((*apart).into()) > MOST_SHUFFLED {
            errors.push(format!(
                "rounds of {records} records in {rounds} are too large to hold in memory; take more rounds"
            ));
        }
    }
    if let Access::Zoned(zones) = &stream.access
        && records < zones.len() as u64
    {
        errors.push(format!(
            "{} zones are more than the region's records, of which there are {records}",
            zones.len()
        ));
    }
    errors
}

fn access_error(access: &Access, record: &Record) -> Option<String> {
    match access {
        Access::Zipf { theta } if !(*theta > 0.0 && theta.is_finite()) => {
            Some(format!("theta {theta} is not above 0"))
        }
        Access::Pareto { h } if !(*h > 0.0 && *h < 1.0) => {
            Some(format!("h {h} of the pareto access does not lie between 0 and 1"))
        }
        Access::Normal { deviation_percent: d } if !(*d > 0.0 && *d <= WIDEST_PERCENT) => {
            Some(format!("deviation_percent {d} is not above 0 and at most {WIDEST_PERCENT}"))
        }
        Access::Zoned(zones) => zone_error(zones),
        Access::Runs { operations: 0, .. } => Some("a run of 0 operations; at least 1 is needed".into()),
        Access::Runs { order, .. } => match **order {
            Access::Listed(_)
            | Access::Scaled(_)
            | Access::SequentialByKind
            | Access::Shuffled { .. }
            | Access::Runs { .. }
            | Access::PartlyRandom { .. }
            | Access::Preconditioning { .. }
            | Access::Striped { .. } => Some("runs begin in an order of records".into()),
            _ if !matches!(record, Record::Fixed(_)) => Some("runs need a fixed record size".into()),
            ref inner => access_error(inner, record),
        },
        Access::PartlyRandom { reads_percent, writes_percent, .. }
            if *reads_percent > 100 || *writes_percent > 100 =>
        {
            Some("a share that is drawn is at most 100 percent".into())
        }
        Access::PartlyRandom { order, .. } => match **order {
            ref inner if *inner == Access::Permuted || inner.draws_each() => access_error(inner, record),
            _ => Some(
                "what is drawn is drawn from permuted, uniform, zipf, pareto, normal, around or zoned".into(),
            ),
        },
        Access::Around { centre, .. } if !(0.0..1.0).contains(centre) => {
            Some(format!("the centre {centre} is not at least 0 and below 1"))
        }
        Access::Around { order, .. } => match **order {
            ref inner @ (Access::Zipf { .. } | Access::Pareto { .. } | Access::Normal { .. }) => {
                access_error(inner, record)
            }
            _ => Some("only zipf, pareto and normal have a centre".into()),
        },
        Access::Cycle { records, .. } if records.is_empty() => Some("a cycle has records".into()),
        Access::Striped { run, gap, by_kind: _ } => match record {
            Record::Fixed(size)
                if run.0 > 0 && run.0.is_multiple_of(size.0.max(1)) && run.0.checked_add(gap.0).is_some() =>
            {
                None
            }
            _ => Some("stripes need a fixed record size, and are a multiple of it".into()),
        },
        Access::Cycle { .. }
        | Access::Shuffled { .. }
        | Access::Strided { .. }
        | Access::Skipping { .. }
        | Access::Preconditioning { .. }
            if !matches!(record, Record::Fixed(_)) =>
        {
            Some("this order of access needs a fixed record size".into())
        }
        Access::ZonesInTurn { inside, .. } if !inside.fits_in_zones() => Some(
            "inside zones, access must be sequential, permuted, uniform, zipf, pareto, normal, around, zoned or partly-random"
                .into(),
        ),
        Access::ZonesInTurn { inside, .. } if access_error(inside, record).is_some() => {
            access_error(inside, record)
        }
        Access::ZonesInTurn { range, gap, moved, inside }
            if moved.0 == 0
                || range.0 == 0
                || **inside != Access::Sequential && range.0 < record.largest().0
                || range.0.checked_add(gap.0).is_none()
                || matches!(record, Record::ByKind { .. }) =>
        {
            Some(
                "zones have `range` and `moved` above 0, at random room for a record, and the same sizes for reads and writes"
                    .into(),
            )
        }
        Access::Preconditioning { spare, .. } if !(*spare >= 0.0 && amplification(*spare) > 1.0) => {
            Some(format!("a spare share of {spare} is not at least 0 and below 5/3"))
        }
        Access::Preconditioning { rounds, apart, .. }
            if *rounds == 0 || *rounds > MOST_ROUNDS || *apart == 0 || apart > rounds =>
        {
            Some(format!(
                "preconditioning: rounds must be 1 to {MOST_ROUNDS}, and apart 1 to rounds"
            ))
        }
        _ => None,
    }
}

fn zone_error(zones: &[Zone]) -> Option<String> {
    if zones.is_empty() {
        return Some("the zoned access has no zone".into());
    }
    if !zones.iter().all(|z| z.operations_percent >= 0.0 && z.region_percent > 0.0) {
        return Some(
            "every zone needs a share of the region above 0, and one of the operations that is not below 0"
                .into(),
        );
    }
    let sums: [(&str, f64); 2] = [
        ("operations_percent", zones.iter().map(|z| z.operations_percent).sum()),
        ("region_percent", zones.iter().map(|z| z.region_percent).sum()),
    ];
    let wrong = sums.into_iter().find(|(_, sum)| (sum - 100.0).abs() > 0.01)?;
    let rounded = (wrong.1 * 1000.0).round() / 1000.0;
    Some(format!("the zones' {} add up to {rounded}; 100 is needed", wrong.0))
}

fn depth_errors(stream: &Stream) -> Vec<String> {
    let mut errors = Vec::new();
    if stream.queue_depth == 0 {
        errors.push("queue_depth is 0; 1 is the least".into());
    }
    if stream.wait_for == 0 || stream.wait_for > stream.queue_depth.max(1) {
        errors.push("wait_for is a number of completions from 1 to queue_depth".into());
    }
    let queues = stream.backend.is_asynchronous();
    if (stream.wait_for > 1 || stream.refill_at.is_some() || stream.take_at_most.is_some()) && !queues {
        errors.push(
            "wait_for, refill_at and take_at_most need one of the back-ends uring, nvme, aio and posix"
                .into(),
        );
    }
    if stream.take_at_most.is_some_and(|most| most < stream.wait_for) {
        errors.push("take_at_most is a number of completions, wait_for or more".into());
    }
    if stream.sync_in_queue && !queues {
        errors.push("sync_in_queue needs one of the back-ends uring, nvme, aio and posix: the others do one operation after another".into());
    }
    if stream.refill_at.is_some_and(|at| at == 0 || at >= stream.queue_depth) {
        errors.push("refill_at is a number of operations in flight above 0 and below queue_depth".into());
    }
    let Some(adaptive) = stream.adaptive_depth else { return errors };
    if stream.queue_depth == 1 {
        errors.push("adaptive_depth has nothing to choose: queue_depth, its upper limit, is 1".into());
    }
    if adaptive.window.0 == 0 {
        errors.push("the window of adaptive_depth is 0; 200ms is the default".into());
    }
    if adaptive.longest == Some(Duration(0)) {
        errors.push("a search of adaptive_depth that takes no time finds nothing; leave longest out".into());
    }
    if adaptive.goes_on && matches!(adaptive.goal, DepthGoal::Knee { .. }) {
        errors
            .push("adaptive_depth can keep searching only for a latency: a knee has no limit to keep".into());
    }
    match adaptive.goal {
        DepthGoal::Latency { percentile, .. } if !(percentile > 0.0 && percentile <= 100.0) => {
            errors.push(format!("percentile {percentile} of adaptive_depth is not above 0 and at most 100"));
        }
        DepthGoal::Latency { at_most: Duration(0), .. } => {
            errors.push("adaptive_depth with a latency of at_most 0; no operation takes no time".into());
        }
        DepthGoal::Knee { gain_percent } if !(gain_percent > 0.0 && gain_percent.is_finite()) => {
            errors.push(format!("gain_percent {gain_percent} of adaptive_depth is not above 0"));
        }
        _ => {}
    }
    errors
}

/// A warm-up repeats the amount until it is over; an amount of nothing would repeat for ever.
fn amount_error(stream: &Stream) -> Option<String> {
    let what = match stream.amount {
        Amount::Operations(0) => "operations",
        Amount::Passes(0) => "passes",
        Amount::Bytes(crate::Bytes(0)) => "bytes",
        _ => return None,
    };
    Some(format!("an amount of 0 {what}; at least 1 is needed, or leave the stream out"))
}

/// Keys that cancel each other's effect in every executor.
fn contradictions((phase, group): (&Phase, &Group), stream: &Stream) -> Vec<String> {
    let mut errors = Vec::new();
    let warms_up = group.warms_up(phase);
    if stream.adaptive_depth.is_some() && stream.pace.rate.is_some() {
        errors.push(
            "adaptive_depth and rate do not go together: the rate already determines how much is in flight"
                .into(),
        );
    }
    if stream.adaptive_depth.is_some() && group.times.ramp_bytes.0 > 0 {
        errors.push("the I/O of the search for a depth would count as ramp_bytes; with adaptive_depth use a ramp with a time".into());
    }
    if stream.pace.rate_of != RateOf::All {
        let mixes = matches!(stream.direction, Direction::Mix(_)) && stream.pace.rate.is_some();
        let alone = stream.sequence == Sequence::Own && (stream.pick != Pick::All || stream.turns.is_some());
        if !mixes || !alone {
            errors.push(
                "rate_of limits the reads or the writes of a mix to the rate: it needs direction = { mix = ... }, a rate, and no common sequence".into(),
            );
        }
    }
    if stream.access.is_timed()
        && (stream.pace.rate.is_some() || stream.pace.think.is_some() || stream.pace.burst.is_some())
    {
        errors
            .push("the list already schedules its operations (due); leave out rate, think and burst".into());
    }
    if let Access::Listed(list) = &stream.access {
        let does = |wanted: fn(Does) -> bool| list.iter().filter_map(|op| op.does).any(wanted);
        if stream.sync_every.is_some() && (stream.access.is_timed() || does(Does::syncs)) {
            errors.push("the list already contains its syncs; leave sync_every out".into());
        }
        if !stream.direction.writes() && does(|d| d == Does::Write)
            || !stream.direction.reads() && does(|d| d == Does::Read)
            || stream.direction == Direction::Read && does(|d| d == Does::Trim)
        {
            errors.push("an operation of the list does not fit the direction of the stream; direction = { mix = ... } allows reads and writes".into());
        }
    }
    if stream.backend == Backend::Null && stream.lock != Lock::No {
        errors.push("the null backend makes no call, so there is no file to lock; leave lock out".into());
    }
    if stream.backend == Backend::Null && stream.open.sync != OpenSync::No {
        errors
            .push("the null backend makes no call, so there is no write to sync; leave open.sync out".into());
    }
    if stream.lock == Lock::File && stream.adaptive_depth.is_some() {
        errors.push(
            "adaptive_depth and lock = \"file\" do not go together: workers start their search for a depth at the same time, and the lock lets only one of them start".into(),
        );
    }
    if stream.lock == Lock::File && warms_up && phase.stop.steady.is_some() {
        errors.push(
            "lock = \"file\" cannot be combined with a ramp and a steady state: the search for it begins after every warm-up, and the lock keeps all workers but one from warming up".into(),
        );
    }
    if stream.timed.open && (warms_up || stream.adaptive_depth.is_some()) {
        errors.push(
            "timed.open cannot be combined with a ramp or adaptive_depth: it starts the clock before the file is open, they start it after the warm-up or search".into(),
        );
    }
    errors
}

/// An endless stream needs a stop rule that is certain to end it.
fn endless_error((phase, group): (&Phase, &Group), stream: &Stream) -> Option<String> {
    if stream.amount != Amount::Endless {
        return None;
    }
    if stream.when_stopped == WhenStopped::FinishUncounted {
        return Some(
            "it never ends: finish-uncounted goes on to the end of an amount, and it has none".into(),
        );
    }
    // These end a phase whatever its workers do: operations and bytes are counted over all of them, and waiting for a steady state is
    // given up after a number of rounds.
    let Stop { operations, bytes, steady, .. } = &phase.stop;
    if group.time(phase).is_some() || operations.is_some() || bytes.is_some() || steady.is_some() {
        return None;
    }
    // The first worker to finish ends the others only if one can finish, and only those that obey.
    let ends = |other: &&Group| {
        let beyond = other.times.ends_company && other.times.company != group.times.company;
        !other.times.never_ends_others && !beyond
    };
    let first_done = phase.stop.first_done.is_some()
        && stream.when_stopped == WhenStopped::Leave
        && phase.groups.iter().filter(|g| ends(g)).flat_map(|g| &g.threads).any(|t| match &t.program {
            Program::Stream(other) => other.amount != Amount::Endless,
            Program::Flow(flow) => flow.loops.is_some(),
        });
    let with_io = group.times.ends_with_io && stream.when_stopped == WhenStopped::Leave;
    (!first_done && !with_io).then(|| {
        "it never ends: give an amount, or the phase a stop by time, operations, bytes or steady".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;

    #[test]
    fn a_region_without_end_is_an_error_and_no_overflow() {
        let mut stream = Stream::new("f", Direction::Read, Bytes(0));
        (stream.align, stream.length) = (Bytes(1), Some(Bytes(u64::MAX)));
        let said = region_errors(&stream, &Sizing::Fixed(Bytes(0))).join("; ");
        assert!(said.contains("beyond the largest offset"), "{said}");
    }
}
