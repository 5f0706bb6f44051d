//! `--output-format=normal,json,terse`: fio prints one run in several formats, first terse, then JSON, then the report. The JSON
//! has the most detail; without it the first format is kept.

use super::super::Block;
use super::super::lines::Lines;
use super::{json, normal};
use fathom_record::Run;
use fathom_record::imported::names::THROUGHPUT;

/// Rounding tolerance of the report's three digits.
const ROUNDED: f64 = 0.006;

/// Merges a block with the other formats of its run that follow.
pub(super) fn with_its_other_forms(lines: &Lines, mut block: Block) -> Block {
    let mut forms = 1;
    while let Some(n) = (block.last + 1..block.last + 3).find(|&n| !lines.is_blank(n)) {
        let document = json::parse(lines, n).filter(|b| !b.too_long && !block.is_document);
        // The report of another fio call begins with its options.
        let is_report = lines.trimmed(n).contains(": (groupid=");
        let Some(other) = document.or_else(|| normal::parse(lines, n).filter(|_| is_report)) else { break };
        let is_same =
            matches!((block.runs.first(), other.runs.first()), (Some(a), Some(b)) if is_one_run(a, b));
        if !is_same || block.too_long || other.last <= block.last {
            break;
        }
        forms += 1;
        block.last = other.last;
        block.left.extend(other.left);
        if other.is_document {
            (block.runs, block.what, block.is_document) = (other.runs, other.what, true);
        }
    }
    if forms > 1 {
        block.what = format!("{}, printed in {forms} forms", block.what);
    }
    block
}

/// Whether both have the same jobs with the same throughputs.
fn is_one_run(one: &Run, other: &Run) -> bool {
    let of = |run: &Run| -> Vec<(String, Option<String>, f64)> {
        let cell = |p: &fathom_record::Phase| {
            let rate = p.repetitions.first()?.figure(THROUGHPUT)?.value;
            // Only some formats distinguish random from sequential reads.
            let direction = p.name.rsplit(' ').next().unwrap_or("").to_owned();
            // Only the report has group totals.
            (rate > 0.0 && !p.name.starts_with("group "))
                .then(|| (direction, p.axes.tags.get("job").cloned(), rate))
        };
        run.phases.iter().filter_map(cell).collect()
    };
    let (one, other) = (of(one), of(other));
    let is_near = |a: f64, b: f64| (a - b).abs() <= 2048.0 + ROUNDED * a.max(b);
    !one.is_empty()
        && one.len() == other.len()
        && one.iter().zip(&other).all(|(a, b)| (&a.0, &a.1) == (&b.0, &b.1) && is_near(a.2, b.2))
}
