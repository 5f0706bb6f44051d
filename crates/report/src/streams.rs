//! Throughput by number of streams: what the children see (the sum of their rates), what the parent sees (all counted bytes
//! over its own clock), and the slowest and fastest child. The two totals differ when children do not work at the same time, so
//! both are kept and neither replaces the other.

use crate::section::{stage, title};
use fathom_compare::summary::median;
use fathom_record::{Phase, Regime, Repetition, Run, Worker};

/// One number of streams.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamsPoint {
    /// Number of streams running at once.
    pub streams: u64,
    /// Size of each stream's file, bytes.
    pub file_bytes: Option<u64>,
    /// Sum of the workers' rates, bytes/s.
    pub children_bytes_per_s: f64,
    /// Counted bytes over the parent's clock, bytes/s.
    pub parent_bytes_per_s: Option<f64>,
    /// Slowest worker, bytes/s.
    pub min_bytes_per_s: f64,
    /// Fastest worker, bytes/s.
    pub max_bytes_per_s: f64,
    /// Bytes of the worker that moved the least inside its timed interval.
    pub min_bytes: u64,
    /// Where the data came from or went to.
    pub origin: Regime,
    /// Device bytes per requested byte; `None` if unknown.
    pub device_share: Option<f64>,
}

/// One test over the number of streams.
#[derive(Clone, Debug, PartialEq)]
pub struct Streams {
    /// Such as "write", with what distinguishes it.
    pub title: String,
    /// Record size, if the same for all points.
    pub record_bytes: Option<u64>,
    /// Points by number of streams, ascending.
    pub points: Vec<StreamsPoint>,
}

/// What distinguishes series: stage, title and record size.
type StreamsKey<'r> = (Option<&'r str>, String, Option<u64>);

/// Below this share of the children's sum, the parent's figure reveals stragglers. (The published figures of 2008 hid 40 %.)
const PARENT_SHARE_TOLD: f64 = 0.95;

impl Streams {
    /// Every series of a run.
    #[must_use]
    pub fn of_run(run: &Run) -> Vec<Self> {
        let phases: Vec<&Phase> = run.phases.iter().collect();
        Self::of_phases(&phases)
    }

    /// Every series among these phases: same title and record size, run with at least two numbers of streams, or with more than
    /// one stream.
    #[must_use]
    pub fn of_phases(phases: &[&Phase]) -> Vec<Self> {
        let mut groups: Vec<(StreamsKey<'_>, Vec<&Phase>)> = Vec::new();
        for phase in phases.iter().copied().filter(|p| p.axes.streams.is_some() && alike(p)) {
            let key = (stage(phase), title(phase), phase.axes.record_bytes);
            match groups.iter_mut().find(|(k, _)| *k == key) {
                Some((_, members)) => members.push(phase),
                None => groups.push((key, vec![phase])),
            }
        }
        groups
            .into_iter()
            .filter_map(|((_, title, record), members)| Self::from_group(title, record, &members))
            .collect()
    }

    fn from_group(title: String, record_bytes: Option<u64>, phases: &[&Phase]) -> Option<Self> {
        if phases.iter().all(|p| p.axes.streams == Some(1)) {
            return None;
        }
        let mut points: Vec<StreamsPoint> = phases.iter().filter_map(|p| StreamsPoint::of(p)).collect();
        points.sort_by_key(|p| p.streams);
        (!points.is_empty()).then_some(Self { title, record_bytes, points })
    }
}

/// Whether a phase's streams are comparable: all move data, and those of a flow belong to one group of processes. The slowest
/// of unlike streams would mean nothing.
pub(crate) fn alike(phase: &Phase) -> bool {
    let workers = || phase.repetitions.iter().flat_map(|r| &r.workers);
    let one_group = || workers().zip(workers().skip(1)).all(|(a, b)| a.group == b.group);
    !phase.is_metadata_only() && (workers().all(|w| w.rows.is_empty()) || one_group())
}

impl StreamsPoint {
    fn of(phase: &Phase) -> Option<Self> {
        let each = |f: &dyn Fn(&Repetition) -> Option<f64>| {
            median(&phase.repetitions.iter().filter_map(f).collect::<Vec<f64>>())
        };
        let rates = |r: &Repetition| r.workers.iter().filter_map(Worker::bytes_per_s).collect::<Vec<f64>>();
        let origin = phase.origin();
        Some(Self {
            streams: phase.axes.streams?,
            file_bytes: phase.axes.file_bytes,
            children_bytes_per_s: phase.bytes_per_s()?,
            parent_bytes_per_s: each(&Repetition::parent_bytes_per_s),
            min_bytes_per_s: each(&|r| rates(r).into_iter().min_by(f64::total_cmp))?,
            max_bytes_per_s: each(&|r| rates(r).into_iter().max_by(f64::total_cmp))?,
            min_bytes: phase.repetitions.iter().flat_map(|r| &r.workers).map(|w| w.bytes).min()?,
            origin: origin.regime,
            device_share: origin.device_share,
        })
    }

    /// The parent's figure over the children's, if so low that the children's sum alone would mislead.
    #[must_use]
    pub fn straggling(&self) -> Option<f64> {
        let share = self.parent_bytes_per_s? / self.children_bytes_per_s;
        (share < PARENT_SHARE_TOLD).then_some(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn children_parent_and_extremes_are_told_apart() {
        let series = Streams::of_run(&samples::throughput_run());
        assert_eq!(series[0].title, "write");
        assert_eq!(series[0].points.iter().map(|p| p.streams).collect::<Vec<_>>(), [1, 2, 3]);
        let two = &series[0].points[1];
        assert!(two.parent_bytes_per_s.expect("parent") < two.children_bytes_per_s);
        assert!(two.min_bytes_per_s < two.max_bytes_per_s);
        assert!(two.straggling().is_some());
    }

    #[test]
    fn unlike_processes_of_a_flow_are_no_series() {
        let mut run = samples::filebench_run();
        assert!(Streams::of_run(&run).is_empty(), "a ticker beside mailers, and what moves no data");
        run.phases[0].repetitions[0].workers.pop();
        assert_eq!(Streams::of_run(&run).len(), 1, "mailers alone");
    }

    #[test]
    fn a_surface_run_with_one_stream_each_is_no_series() {
        assert!(Streams::of_run(&samples::auto_run()).is_empty());
    }
}
