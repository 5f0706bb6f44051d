//! The results of a run as a short table, shared by tickets and the first sheet of a workbook.

use crate::answer::{self, Answer};
use crate::survey;
use crate::{Kind, Mapped, latency, printable::clean, section::brief, surface::on_surfaces, units};
use fathom_record::{Headline, Phase, Run};

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultLine {
    /// What was done.
    pub what: String,
    /// File data, bytes a second; `None` if none was moved, or if operations are the figure.
    pub bytes_per_s: Option<f64>,
    /// Operations a second; `None` if data is the figure.
    pub per_s: Option<f64>,
    /// The median, p99 and p99.9 of the latency, ns.
    pub ns: [Option<f64>; 3],
    /// What served it; empty if unknown.
    pub served: &'static str,
}

/// The rows of a run: for a survey those of its short answer, else its tests; for a surface, the largest file's figure of each source.
#[must_use]
pub fn of_run(run: &Run) -> Vec<ResultLine> {
    if survey::is_survey(run) { of_survey(run) } else { of_tests(run) }
}

fn of_survey(run: &Run) -> Vec<ResultLine> {
    let small = Answer::of(run, None).rows.into_iter().map(|row| ResultLine {
        what: clean(&row.what),
        bytes_per_s: None,
        per_s: Some(row.per_s),
        ns: row.ns,
        served: row.served,
    });
    let streams = answer::streams(run).into_iter().map(|(what, rate)| ResultLine {
        what,
        bytes_per_s: Some(rate),
        per_s: None,
        ns: [None; 3],
        served: "",
    });
    small.chain(streams).collect()
}

fn of_tests(run: &Run) -> Vec<ResultLine> {
    let surfaces = Mapped::of_run(run);
    // Device figures come first, memory's after them.
    let kinds = Kind::ALL.iter().filter(|k| !k.is_memory()).chain(Kind::ALL.iter().filter(|k| k.is_memory()));
    let of_kind = |kind: &Kind| {
        let line = |mapped: &Mapped| {
            let (file, record, rate) = mapped.largest_cell_of(*kind)?;
            let sizes = format!("file {}, record {}", units::bytes(file), units::bytes(record));
            Some(ResultLine {
                what: format!("{}, {sizes}", clean(&mapped.surface.title)),
                bytes_per_s: Some(rate),
                per_s: None,
                ns: [None; 3],
                served: kind.words(),
            })
        };
        surfaces.iter().filter_map(line).collect::<Vec<ResultLine>>()
    };
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    kinds.flat_map(of_kind).chain(single.into_iter().filter_map(of_phase)).collect()
}

fn of_phase(phase: &Phase) -> Option<ResultLine> {
    let headline = phase.headline()?;
    let (latency, of_syncs) = latency::representative(phase);
    let fsync = if of_syncs { " (latency of its fsync)" } else { "" };
    Some(ResultLine {
        what: format!("{}{fsync}", clean(&brief(phase))),
        bytes_per_s: match headline {
            Headline::Bytes(rate) => Some(rate),
            Headline::Ops(_) => None,
        },
        per_s: phase.ops_per_s(),
        ns: [50.0, 99.0, 99.9].map(|p| latency.percentile_ns(p).map(|ns| ns as f64)),
        served: Kind::served(phase),
    })
}

#[cfg(test)]
mod tests {
    use super::of_run;
    use crate::samples;

    #[test]
    fn surfaces_are_quoted_by_kind_and_tests_one_by_one() {
        let auto = of_run(&samples::auto_run());
        assert!(auto.len() > 5 && auto.iter().all(|l| l.bytes_per_s.is_some() && !l.served.is_empty()));
        let tests = of_run(&samples::sysbench_run());
        assert_eq!(tests.len(), samples::sysbench_run().phases.len());
        assert!(tests.iter().all(|l| l.per_s.is_some() && l.ns.is_sorted()), "{tests:?}");
    }

    #[test]
    fn a_run_of_nothing_has_no_lines() {
        assert_eq!(of_run(&fathom_record::Run::default()), []);
    }
}
