//! The table as text, for a terminal of 130 columns.

use super::super::text::wrapped;
use super::{CcissRow, CcissTable, HypothesisResult, ablation};
use std::fmt::{Formatter, Result};

pub(super) fn write(t: &CcissTable, f: &mut Formatter<'_>) -> Result {
    let [datasheet, measured, fitted, guessed] = t.sources;
    writeln!(
        f,
        "Writing large files on cciss hardware, January 2008: published, and simulated in virtual time (nothing here was measured)."
    )?;
    writeln!(
        f,
        "rc8: linux 2.6.24-rc8, pages in ascending order; rc8*: commit 81eabcbe reverted, in descending order. KB/s as IOzone prints them."
    )?;
    writeln!(
        f,
        "Values of the profiles: {datasheet} from data sheets and sources, {measured} measured, {fitted} fitted, {guessed} guessed."
    )?;
    for h in &t.hypotheses {
        writeln!(f, "{}: {} ({}).", h.name, h.says, h.device)?;
    }
    writeln!(f)?;
    rates(t, f, "initial writers", |r| r.published_write_kb_s, |o| (o.write_kb_s, o.write_error_percent))?;
    rates(t, f, "rewriters", |r| r.published_rewrite_kb_s, |o| (o.rewrite_kb_s, o.rewrite_error_percent))?;
    requests(t, f)?;
    if !t.ablations.is_empty() {
        ablations(t, f)?;
    }
    writeln!(f, "Misses: the open cells, and others with an error above {} %", t.cached_percent)?;
    for miss in &t.misses {
        writeln!(f, "  {miss}")?;
    }
    writeln!(f, "\nDegrees of freedom")?;
    for line in &t.freedom {
        wrapped(f, line)?;
    }
    writeln!(f, "\nStated tolerances")?;
    for check in &t.checks {
        writeln!(f, "  {:<6} {}", check.verdict(), check.stated)?;
        writeln!(f, "         {}", check.found)?;
    }
    Ok(())
}

/// The role of a cell as text.
fn verdict(row: &CcissRow) -> &'static str {
    match row.kind {
        "fitted" => "fitted (ceiling)",
        "cached" => "held out",
        "collapse" => "model chosen after seeing this cell",
        _ => "open: a MISS",
    }
}

fn rates(
    t: &CcissTable,
    f: &mut Formatter<'_>,
    head: &str,
    published: fn(&CcissRow) -> f64,
    ours: fn(&HypothesisResult) -> (f64, f64),
) -> Result {
    write!(f, "{head:<16} {:<5} {:>10}", "", "published")?;
    for h in &t.hypotheses {
        write!(f, " {:>10} {:>9}", h.name, "error")?;
    }
    writeln!(f)?;
    for row in &t.rows {
        write!(f, "{:<16} {:<5} {:>10.1}", row.test, row.kernel, published(row))?;
        for outcome in &row.outcomes {
            let (rate, error) = ours(outcome);
            write!(f, " {rate:>10.1} {error:>+7.1} %")?;
        }
        writeln!(f, "  {}", verdict(row))?;
    }
    writeln!(f)
}

fn requests(t: &CcissTable, f: &mut Formatter<'_>) -> Result {
    let said = "segments of these, with their share of the bytes";
    writeln!(f, "{:<26} {:>8} {:>6} {:>9}  {said}", "requests", "KiB", "run", "past")?;
    for row in &t.rows {
        for o in &row.outcomes {
            let segments: Vec<String> =
                o.segments.iter().map(|s| format!("{}: {:.1} %", s.segments, s.percent_of_bytes)).collect();
            writeln!(
                f,
                "{:<16} {:<5} {:>3} {:>8} {:>6.1} {:>7.1} %  {}",
                row.test,
                row.kernel,
                o.hypothesis,
                o.request_kib,
                o.run,
                o.past_percent,
                segments.join(", ")
            )?;
        }
    }
    writeln!(
        f,
        "KiB: the length that moves most bytes. run: consecutive commands that are contiguous on the device."
    )?;
    writeln!(f, "past: share of the commands that bypassed the controller's cache.\n")
}

fn ablations(t: &CcissTable, f: &mut Formatter<'_>) -> Result {
    write!(f, "{:<62} {:>3}", "what is changed, KB/s of the initial writers", "")?;
    for head in ablation::heads() {
        write!(f, " {head:>9}")?;
    }
    writeln!(f, " {:>12}", "1x rc8, KiB")?;
    for row in &t.ablations {
        write!(f, "{:<62} {:>3}", row.variant, row.hypothesis)?;
        for rate in &row.write_kb_s {
            write!(f, " {rate:>9.1}")?;
        }
        writeln!(f, " {:>12}", row.request_kib)?;
    }
    writeln!(f)
}
