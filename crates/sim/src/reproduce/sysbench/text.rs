//! The table as text, for a terminal of 100 columns.

use super::super::text::wrapped;
use super::{SysbenchTable, SysbenchTolerances, ablation};
use std::fmt::{Formatter, Result};

pub(super) fn write(t: &SysbenchTable, f: &mut Formatter<'_>) -> Result {
    let [datasheet, measured, fitted, guessed] = t.sources;
    writeln!(
        f,
        "SysBench file I/O on stock linux kernels, April and May 2004: published, and simulated in virtual time"
    )?;
    writeln!(
        f,
        "(nothing here was measured). 16 threads, 3 GB in 128 files, 10000 requests of 16 KiB; seconds."
    )?;
    writeln!(
        f,
        "Values of the profiles: {datasheet} from data sheets and sources, {measured} measured, {fitted} fitted, {guessed} guessed.\n"
    )?;
    rows(t, f)?;
    held_out(t, f)?;
    counters(t, f)?;
    if !t.ablations.is_empty() {
        ablations(t, f)?;
    }
    writeln!(f, "Degrees of freedom")?;
    for line in &t.freedom {
        wrapped(f, line)?;
    }
    writeln!(f, "\nStated tolerances")?;
    for check in &t.checks {
        writeln!(f, "  {:<6} {}: {}", check.verdict(), check.stated, check.found)?;
    }
    Ok(())
}

fn rows(t: &SysbenchTable, f: &mut Formatter<'_>) -> Result {
    writeln!(
        f,
        "{:<18} {:<13} {:>10} {:>10} {:>6} {:>9}  {:<9} {:>9}",
        "kernel", "scheduler", "published", "simulated", "sd", "error", "", "in fsync"
    )?;
    for r in &t.rows {
        writeln!(
            f,
            "{:<18} {:<13} {:>10.4} {:>10.4} {:>6.2} {:>+7.1} %  {:<9} {:>7.0} %",
            r.kernel,
            r.scheduler,
            r.published_s,
            r.simulated_s,
            r.deviation_s,
            r.error_percent,
            if r.distinct { "seen" } else { "as rc3" },
            r.fsync_share * 100.0
        )?;
    }
    writeln!(
        f,
        "Means of {} seeds. Root mean square of the nine distinct cells: {:.2} %.\n",
        t.seeds, t.rms_percent
    )
}

fn held_out(t: &SysbenchTable, f: &mut Formatter<'_>) -> Result {
    writeln!(
        f,
        "{:<22} {:<26} {:>10} {:>9} {:>7} {:>9}",
        "other figures", "", "published", "simulated", "", "error"
    )?;
    for r in &t.held_out {
        writeln!(
            f,
            "{:<22} {:<26} {:>10} {:>9} {:<7} {:>+7.1} %  {}",
            r.kernel,
            r.setting,
            r.published_text(),
            r.shown(r.simulated),
            r.unit,
            r.error_percent,
            r.standing()
        )?;
    }
    let counted = t.held_out.iter().filter(|r| r.held_out).count();
    writeln!(f, "Root mean square of the {counted} that are held out: {:.2} %.\n", t.held_out_rms_percent)
}

fn counters(t: &SysbenchTable, f: &mut Formatter<'_>) -> Result {
    let counter_percent = SysbenchTolerances::default().counter_percent;
    writeln!(f, "{:<28} {:<24} {:>10} {:>10} {:>9}", "read-ahead", "", "published", "simulated", "error")?;
    for c in &t.counters {
        let error = if c.published == 0 { String::new() } else { format!("{:+.1} %", c.error_percent()) };
        let mark = match (c.fitted, c.holds(counter_percent)) {
            (true, _) => "  fitted",
            (false, false) => "  MISS",
            (false, true) => "",
        };
        writeln!(
            f,
            "{:<28} {:<24} {:>10} {:>10.1} {:>9}{mark}",
            c.setting, c.name, c.published, c.simulated, error
        )?;
    }
    wrapped(
        f,
        "Reset: read-ahead is switched off. Every reset is counted, for each of the 128 files, like the instrumentation \
         that the thread printed these numbers with.",
    )?;
    writeln!(f)
}

fn ablations(t: &SysbenchTable, f: &mut Formatter<'_>) -> Result {
    write!(f, "{:<53}", "what is changed, seconds")?;
    for head in ablation::heads() {
        write!(f, " {head:>7}")?;
    }
    writeln!(f)?;
    for row in &t.ablations {
        write!(f, "{:<53}", row.variant)?;
        for s in &row.seconds {
            write!(f, " {s:>7.1}")?;
        }
        writeln!(f)?;
    }
    writeln!(f)
}
