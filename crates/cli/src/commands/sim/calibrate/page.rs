//! The fit and its verdict as a report (`--page`): the figures of the text and the JSON, drawn.

use super::{CalibrateJson, Point, ResponseTimes, Thinned};
use crate::commands::{document, write};
use crate::exit::Usage;
use fathom_report::calibrated::{Calibrated, Curve, Fitted, HeldOutResult, Over, Request};
use fathom_report::documents;
use fathom_sim::calibrate;
use std::path::Path;

/// Rejects a wrong extension before anything is read.
pub(super) fn check(output: &Path, replace: bool) -> Result<(), Usage> {
    document::check_ending(output, "a calibration", "--json prints the figures")?;
    write::check_drawing(output, replace)
}

pub(super) fn write(
    output: &Path,
    report: &CalibrateJson,
    times: ResponseTimes,
    replace: bool,
) -> anyhow::Result<()> {
    document::write(&documents::calibration(&drawn(report, times)), output, replace)
}

fn drawn(report: &CalibrateJson, times: ResponseTimes) -> Calibrated {
    let value = |v: &calibrate::Value| Fitted {
        key: v.key.into(),
        value: v.value,
        standard_error: v.standard_error,
        from: format!("{}: {}", v.src, v.note),
    };
    let curve = |c: calibrate::Course| Curve {
        over: match c.over {
            calibrate::Over::Bytes => Over::Bytes,
            calibrate::Over::Cylinders => Over::Cylinders,
        },
        constant_ns: c.constant_ns,
        root_ns: c.root_ns,
        linear_ns: c.linear_ns,
    };
    Calibrated {
        device: report.device.clone(),
        file: report.file.clone(),
        kind: report.kind.into(),
        profile: report.profile.clone(),
        fitted_requests: report.fitted_requests,
        values: report.values.iter().map(value).collect(),
        curve: report.curve.map(curve),
        fitted: requests(&report.points.fitted),
        held_out: requests(&report.points.held_out),
        judged: report.held_out.as_ref().map(|j| HeldOutResult {
            device: times.device,
            model: times.model,
            demerit_percent: j.demerit_percent,
        }),
    }
}

fn requests(points: &Thinned<Point>) -> Thinned<Request> {
    Thinned { one_of: points.one_of, kept: points.kept.iter().map(|p| (p.x, p.ns)).collect() }
}
