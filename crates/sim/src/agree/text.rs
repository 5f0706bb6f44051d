//! An agreement as text for a terminal of 100 columns: one row per scheduler, then the first disagreements with their context.

use super::{Agreed, AgreementRow, Chosen, Disagreement, MergeDisagreement};
use std::fmt::{Display, Formatter, Result};

impl Display for Agreed {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(
            f,
            "{:<22} {:>8} {:>8} {:>7}  {:>8} {:>8} {:>7}  {:>8} {:>8} {:>6}",
            "scheduler", "issued", "same", "share", "choices", "same", "share", "merges", "here", "differ"
        )?;
        for row in &self.rows {
            line(row, f)?;
        }
        writeln!(
            f,
            "\nissued: requests passed to the driver; choices: those picked from several; merges: bios merged by the\n\
             kernel; here: bios merged in this replay; differ: bios that only one of the two merged."
        )?;
        if self.passed_by > 0 {
            writeln!(f, "{} requests bypassed the scheduler (flushes, driver commands).", self.passed_by)?;
        }
        if self.direct > 0 {
            writeln!(
                f,
                "{} requests went from their tasks straight to the driver, without a choice by the scheduler.",
                self.direct
            )?;
        }
        for row in self.rows.iter().filter(|r| r.merges_explained > 0) {
            writeln!(
                f,
                "{}: {} bios touch a request but were not merged with it. The request may have reached the segment\n\
                 limit: traces do not show segments, so these count as agreement.",
                row.scheduler, row.merges_explained
            )?;
        }
        // The start of a trace affects all alike.
        if let Some(lost) = self.rows.iter().map(|r| r.not_followed).min().filter(|&n| n > 0) {
            writeln!(f, "{lost} events belong to requests whose arrival is not in the trace.")?;
        }
        for row in self.rows.iter().filter(|r| !r.disagreements.is_empty()) {
            disagreements(row, f)?;
        }
        for row in self.rows.iter().filter(|r| !r.merge_disagreements.is_empty()) {
            merges(row, f)?;
        }
        Ok(())
    }
}

fn line(row: &AgreementRow, f: &mut Formatter<'_>) -> Result {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |p| format!("{p:.1} %"));
    writeln!(
        f,
        "{:<22} {:>8} {:>8} {:>7}  {:>8} {:>8} {:>7}  {:>8} {:>8} {:>6}",
        row.scheduler,
        row.issued,
        row.same,
        percent(row.percent()),
        row.contested,
        row.contested_same,
        percent(row.contested_percent()),
        row.kernel_merges,
        row.model_merges,
        row.merges_differ
    )
}

fn merges(row: &AgreementRow, f: &mut Formatter<'_>) -> Result {
    let (shown, all) = (row.merge_disagreements.len() as u64, row.merges_differ);
    let of = if shown < all { format!("the first {shown} of {all} bios") } else { "bios".into() };
    writeln!(f, "\n{}: {of} that only one of the two merged", row.scheduler)?;
    for MergeDisagreement { time_ns, operation, sector, sectors, merged_by, with } in &row.merge_disagreements
    {
        let seconds = *time_ns as f64 / 1e9;
        let by = if *merged_by == "kernel" { "by the kernel" } else { "here" };
        writeln!(f, "  {operation} of sectors {sector} + {sectors} at {seconds:.6} s, merged {by}")?;
        match with {
            Some(with) => writeln!(f, "    touches {}", choice(with))?,
            None => writeln!(f, "    touches no request waiting here")?,
        }
    }
    Ok(())
}

fn disagreements(row: &AgreementRow, f: &mut Formatter<'_>) -> Result {
    let all = row.issued - row.same;
    let shown = row.disagreements.len() as u64;
    let of = if shown < all {
        format!("the first {shown} of {all} disagreements")
    } else {
        "disagreements".into()
    };
    writeln!(f, "\n{}: {of}", row.scheduler)?;
    for Disagreement { time_ns, issue, waiting, head_sector, kernel, model } in &row.disagreements {
        let seconds = *time_ns as f64 / 1e9;
        writeln!(
            f,
            "  request {issue} at {seconds:.6} s, {waiting} waiting, the previous one ended at sector {head_sector}"
        )?;
        writeln!(f, "    kernel  {}", choice(kernel))?;
        match model {
            Some(model) => writeln!(f, "    here    {}", choice(model))?,
            None => writeln!(f, "    here    nothing yet")?,
        }
    }
    Ok(())
}

fn choice(c: &Chosen) -> String {
    let waited = c.waited_ns as f64 / 1e6;
    format!("{} of sectors {} + {}, waited {waited:.3} ms", c.operation, c.sector, c.sectors)
}
