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
            "\nissued: requests given to the driver; choices: those among several that waited; merges: bios that the\n\
             kernel merged; here: that were merged here; differ: that one merged and the other did not."
        )?;
        if self.passed_by > 0 {
            writeln!(
                f,
                "{} requests passed the scheduler by (flushes, commands of drivers).",
                self.passed_by
            )?;
        }
        if self.direct > 0 {
            writeln!(
                f,
                "{} requests were given to the driver by their tasks, past the scheduler; nobody chose them.",
                self.direct
            )?;
        }
        for row in self.rows.iter().filter(|r| r.merges_explained > 0) {
            writeln!(
                f,
                "{}: {} bios touch a request and were not merged with it, for it may have as many segments as the device\n\
                 takes: how many it has is not in a trace, so the kernel's word is taken for it.",
                row.scheduler, row.merges_explained
            )?;
        }
        // The start of a trace affects all alike.
        if let Some(lost) = self.rows.iter().map(|r| r.not_followed).min().filter(|&n| n > 0) {
            writeln!(f, "{lost} events are of requests whose arrival the trace does not have.")?;
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
    writeln!(f, "\n{}: {of} that one merged and the other did not", row.scheduler)?;
    for MergeDisagreement { time_ns, operation, sector, sectors, merged_by, with } in &row.merge_disagreements
    {
        let seconds = *time_ns as f64 / 1e9;
        let by = if *merged_by == "kernel" { "by the kernel" } else { "here" };
        writeln!(f, "  {operation} of sectors {sector} + {sectors} at {seconds:.6} s, merged {by}")?;
        match with {
            Some(with) => writeln!(f, "    touches {}", choice(with))?,
            None => writeln!(f, "    touches no request that waits here")?,
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
            "  request {issue} at {seconds:.6} s, {waiting} waiting, the one before ended at sector {head_sector}"
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
