//! The one picture that answers: for a survey the ladder of latencies beside the curve of depths; for another run the surface
//! of its first test that reads, or its latencies. [`super::of_run`] has everything else.

use super::{Picture, depth_curve, heat_map, latency, operations, sheet};
use crate::answer::depths;
use crate::colour::Scale;
use crate::surface::{Access, on_surfaces};
use crate::survey::{LADDER, is_survey};
use crate::{Breakdown, Machine, Mapped, heading, section};
use fathom_record::{OpKind, Phase, Run};

/// The picture of one or more runs, stacked; `None` if none of them has anything to draw.
#[must_use]
pub fn answer(runs: &[&Run]) -> Option<Picture> {
    let parts = runs.iter().filter_map(|run| {
        let row = of_one(run);
        (!row.is_empty()).then(|| (heading::lines(run), row))
    });
    sheet("answer", parts.collect())
}

/// The pictures shown side by side.
fn of_one(run: &Run) -> Vec<Picture> {
    if is_survey(run) {
        let row: Vec<Picture> =
            [latency(&ladder(run)), depth_curve(&depths(run))].into_iter().flatten().collect();
        if !row.is_empty() {
            return row;
        }
    }
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    let first = map(run)
        .or_else(|| Breakdown::of_phases(&phases).iter().find_map(operations))
        .or_else(|| latency(&crate::latency::rows(&single)))
        .or_else(|| super::of_run(run).into_iter().next());
    first.into_iter().collect()
}

/// Latencies of the ladder, each for the main operation of its step.
fn ladder(run: &Run) -> Vec<crate::latency::LatencyRow> {
    let of_ladder = |p: &&Phase| section::stage(p) == Some(LADDER);
    let rows = |p: &Phase| {
        let op = |op: OpKind| (op == OpKind::Sync) == (p.name == "write and fsync");
        crate::latency::rows(&[p]).into_iter().filter(move |row| op(row.op)).collect::<Vec<_>>()
    };
    run.phases.iter().filter(of_ladder).flat_map(rows).collect()
}

/// The heat map of the first test that reads, else of the first.
fn map(run: &Run) -> Option<Picture> {
    let machine = Machine::of(run);
    let all = Mapped::of_run(run);
    let reads = all.iter().filter(|m| m.surface.access == Access::Read);
    let mut order = reads.chain(all.iter());
    order.find_map(|mapped| heat_map(mapped, &machine, &Scale::of(&mapped.surface)?))
}

#[cfg(test)]
mod tests {
    use super::answer;
    use crate::samples;

    #[test]
    fn every_kind_of_run_has_one_picture_that_says_of_what() {
        for run in [
            samples::auto_run(),
            samples::survey_run(),
            samples::throughput_run(),
            samples::engine_run(),
            samples::filebench_run(),
            samples::sysbench_run(),
            samples::hostile_run(),
        ] {
            let picture = answer(&[&run]).expect("a picture");
            let svg = picture.standalone();
            assert_eq!(svg.matches("<svg").count(), 1, "{}", run.label);
            assert!(!svg.contains("NaN") && !picture.description.is_empty(), "{}", run.label);
        }
    }

    #[test]
    fn surfaces_are_answered_by_a_map_and_other_runs_by_latencies() {
        let title = |run| answer(&[&run]).expect("a picture").title;
        assert!(title(samples::auto_run()).contains("read: throughput"), "{}", title(samples::auto_run()));
        assert!(title(samples::sysbench_run()).contains("Latency"), "{}", title(samples::sysbench_run()));
    }

    #[test]
    fn several_runs_stand_below_each_other() {
        let run = samples::sysbench_run();
        let (one, two) = (answer(&[&run]).expect("one"), answer(&[&run, &run]).expect("two"));
        assert!(two.height > 1.8 * one.height && two.width <= one.width, "{} {}", one.height, two.height);
    }

    #[test]
    fn a_run_without_figures_has_none() {
        assert_eq!(answer(&[&fathom_record::Run::default()]), None);
    }
}
