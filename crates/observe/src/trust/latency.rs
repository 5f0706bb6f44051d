//! The meaning of the latencies: measured from the issue of an operation (service) or from its scheduled time (response).

use super::{PhaseResult, summary};
use crate::words::time;
use fathom_record::{Histogram, OpKind, Phase, Run, Trust, Verdict};

/// Timed operations that move no file data.
const METADATA: [OpKind; 5] = [OpKind::Open, OpKind::Close, OpKind::Stat, OpKind::Delete, OpKind::Sync];

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    summary(run, "latency", found, (Verdict::Unknown, "no latencies were taken"))
}

/// Latencies of some kinds of operations over all repetitions.
fn merged(phase: &Phase, kinds: &[OpKind]) -> Histogram {
    let mut all = Histogram::default();
    for repetition in &phase.repetitions {
        for stat in repetition.workers.iter().flat_map(|w| &w.stats).filter(|s| kinds.contains(&s.op)) {
            all.merge(&stat.latency);
        }
    }
    all
}

fn found(phase: &Phase) -> Option<PhaseResult<'_>> {
    let data = merged(phase, &[OpKind::Read, OpKind::Write]);
    let (of, service) =
        if data.count() > 0 { ("", data) } else { ("of file operations ", merged(phase, &METADATA)) };
    let response = merged(phase, &[OpKind::Response]);
    let weight = service.percentile_ns(99.9)?;
    let split = merged(phase, &[OpKind::ReadSubmission, OpKind::WriteSubmission]).count() > 0;
    let mut words = if response.count() > 0 {
        format!("response {}; service {}", figures(&response), figures(&service))
    } else {
        format!("service time {of}{}; closed loop, timed from the issue", figures(&service))
    };
    if split {
        words += "; submission and completion also apart";
    }
    Some(PhaseResult { phase, verdict: Verdict::Good, weight: weight as f64, words })
}

fn figures(histogram: &Histogram) -> String {
    let at = |p| histogram.percentile_ns(p).map_or("-".into(), |ns| time(ns as f64));
    format!("p50 {}, p99.9 {}, max {}", at(50.0), at(99.9), time(histogram.max_ns() as f64))
}
