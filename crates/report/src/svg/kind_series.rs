//! Reads, writes and fsyncs of one phase over time, one line each: the sum of reads and writes would hide that one displaces
//! the other. Based on the data moved and the latencies by kind of the intervals.

use super::{
    Picture,
    chart::Frame,
    lines::{CLASSES, ChartLine, draw},
    series::FEWEST_INTERVALS,
};
use crate::{section::full_title, units};
use fathom_record::{Interval, OpKind, Phase, Repetition};

/// The kinds with a line.
const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Sync];

/// Data read and written over time; `None` unless both were recorded.
#[must_use]
pub fn kind_series(phase: &Phase) -> Option<Picture> {
    let lines = lines(phase, |i, op| {
        let bytes = i.moved.iter().filter(|m| m.0 == op).map(|m| m.1).reduce(u64::saturating_add)?;
        (i.width_ns > 0).then(|| bytes as f64 * 1e9 / i.width_ns as f64)
    });
    let title = format!("Reads and writes over time: {}", full_title(phase));
    let slug = format!("kinds {} {}", phase.seq, phase.name);
    draw(&slug, &title, &lines, 2, Frame::draw, units::rate)
}

/// fsyncs per second over time, for a phase that also does other operations.
#[must_use]
pub fn sync_series(phase: &Phase) -> Option<Picture> {
    let lines = lines(phase, |i, op| {
        let count = i.latencies.iter().filter(|l| l.0 == op).map(|l| l.1.count()).reduce(u64::saturating_add);
        // An interval in which none ended counts as zero, not as a gap.
        let count = count.unwrap_or(0);
        (op == OpKind::Sync && i.width_ns > 0).then(|| count as f64 * 1e9 / i.width_ns as f64)
    });
    let title = format!("fsyncs over time: {}", full_title(phase));
    let slug = format!("syncs {} {}", phase.seq, phase.name);
    draw(&slug, &title, &lines, 1, Frame::of_counts, units::ops_rate)
}

/// The kinds that are not all zero, for the last repetition with enough intervals.
pub(super) fn lines(phase: &Phase, figure: impl Fn(&Interval, OpKind) -> Option<f64>) -> Vec<ChartLine> {
    let of = |r: &Repetition| -> Vec<ChartLine> {
        let line = |(op, class): (OpKind, &'static str)| {
            let points = r.intervals.iter().filter_map(|i| Some((i.end_ns as f64, figure(i, op)?)));
            ChartLine { label: op.word().to_string(), class, points: points.collect() }
        };
        let full = |l: &ChartLine| l.points.len() >= FEWEST_INTERVALS && l.points.iter().any(|p| p.1 > 0.0);
        KINDS.into_iter().zip(CLASSES).map(line).filter(full).collect()
    };
    phase.repetitions.iter().rev().map(of).find(|l| !l.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn reads_and_writes_have_lines_of_their_own() {
        let run = samples::sysbench_run();
        let both = kind_series(&run.phases[0]).expect("drawn");
        assert!(both.description.starts_with("read between") && both.description.contains(", write between"));
        let svg = both.standalone();
        assert_eq!(svg.matches("<polyline").count(), 4, "two lines, and two in the legend");
        let syncs = sync_series(&run.phases[0]).expect("drawn");
        assert!(syncs.description.starts_with("sync between 0.00 /s"), "{}", syncs.description);
    }

    #[test]
    fn one_kind_alone_has_the_chart_it_always_had() {
        for phase in &samples::throughput_run().phases {
            assert_eq!((kind_series(phase), sync_series(phase)), (None, None));
        }
    }
}
