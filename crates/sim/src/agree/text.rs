//! An agreement as text, for a terminal of 100 columns: a row a scheduler, then the first disagreements with what surrounded them.

use super::{Agreed, Chosen, Disagreement, Row};
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
        // Where a trace begins is the same for all.
        if let Some(lost) = self.rows.iter().map(|r| r.not_followed).min().filter(|&n| n > 0) {
            writeln!(f, "{lost} events are of requests whose arrival the trace does not have.")?;
        }
        for row in self.rows.iter().filter(|r| !r.disagreements.is_empty()) {
            disagreements(row, f)?;
        }
        Ok(())
    }
}

fn line(row: &Row, f: &mut Formatter<'_>) -> Result {
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

fn disagreements(row: &Row, f: &mut Formatter<'_>) -> Result {
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
