//! The tables as text for a terminal of 110 columns: first reads and rereads (published, ours, error), and one line on the writes.

use super::super::text::wrapped;
use super::published::{FILES_KIB, RECORDS_KIB, Standing};
use super::regimes::{PUBLISHED, SIMULATED, Side};
use super::{NcsaCell, NcsaTable, Surface};
use std::fmt::{Formatter, Result};

pub(super) fn write(t: &NcsaTable, f: &mut Formatter<'_>) -> Result {
    let [datasheet, measured, fitted, guessed] = t.sources;
    writeln!(
        f,
        "IOzone on the local disk of heping, March 2005: published, and simulated in virtual time (nothing here was"
    )?;
    writeln!(
        f,
        "measured). Files by rows and records by columns, in KiB; throughput in MiB/s. * a fit used the cell; + a value was\nchanged after a look at it. Held out: neither, though the structure was chosen with the whole table in view."
    )?;
    writeln!(
        f,
        "Values of the profiles: {datasheet} from data sheets and sources, {measured} measured, {fitted} fitted, {guessed} guessed.\n"
    )?;
    for surface in reads(t) {
        let name = if surface.test == "read" { "First reads" } else { "Rereads" };
        mib_s(f, &format!("{name}, published"), surface, PUBLISHED)?;
        mib_s(f, &format!("{name}, simulated"), surface, SIMULATED)?;
        errors(f, &format!("{name}, error in %"), surface)?;
    }
    writeln!(
        f,
        "{:<10} {:>6} {:>13} {:>9} {:>13} {:>11}",
        "test", "cells", "correlation", "held out", "correlation", "rms error"
    )?;
    for s in &t.surfaces {
        let (cells, correlation) = (s.cells.len(), s.correlation);
        write!(f, "{:<10} {cells:>6} {correlation:>13.3} {:>9}", s.test, s.held_out)?;
        if s.held_out == 0 {
            writeln!(f, " {:>13} {:>11}", "-", "-")?;
        } else {
            writeln!(f, " {:>13.3} {:>9.1} %", s.held_out_correlation, s.held_out_rms_percent)?;
        }
    }
    wrapped(
        f,
        "Correlations are of log throughput. Writes are run, but no tolerance was stated for them. The \
         model has no cost for adding a page to a file, but it does have the point where writes slow down to the disk's pace.",
    )?;
    writeln!(f, "\nMisses: read cells with an error above {MISS_PERCENT} %, as file x record in KiB")?;
    for surface in reads(t) {
        wrapped(f, &misses(surface))?;
    }
    wrapped(
        f,
        "Files below 512 KiB were read once in less than 0.3 ms; neighbours of one row differ by a factor of 1.7 in the published table.",
    )?;
    writeln!(f, "\nDegrees of freedom")?;
    for line in &t.freedom {
        wrapped(f, line)?;
    }
    writeln!(f, "\nStated tolerances")?;
    for check in &t.checks {
        writeln!(f, "  {:<6} {}:\n         {}", check.verdict(), check.stated, check.found)?;
    }
    Ok(())
}

/// Error above which a cell is a miss.
const MISS_PERCENT: f64 = 30.0;

fn reads(t: &NcsaTable) -> impl Iterator<Item = &Surface> {
    t.surfaces.iter().filter(|s| s.test.ends_with("read"))
}

/// Mark of a cell that is not held out.
fn mark(cell: &NcsaCell) -> &'static str {
    match cell.standing {
        Standing::Fitted => "*",
        Standing::Seen => "+",
        Standing::HeldOut => " ",
    }
}

fn misses(surface: &Surface) -> String {
    let missed = surface.cells.iter().filter(|c| c.error_percent.abs() > MISS_PERCENT);
    let listed: Vec<String> = missed
        .map(|c| format!("{}x{} {:+.0} %{}", c.file_kib, c.record_kib, c.error_percent, mark(c).trim_end()))
        .collect();
    let listed = if listed.is_empty() { "none".to_string() } else { listed.join(", ") };
    format!("{}: {listed}", surface.test)
}

fn head(f: &mut Formatter<'_>, name: &str) -> Result {
    write!(f, "{name}\n{:>8}", "")?;
    for record in RECORDS_KIB {
        write!(f, " {record:>7}")?;
    }
    writeln!(f)
}

fn rows(f: &mut Formatter<'_>, surface: &Surface, value: impl Fn(&NcsaCell) -> String) -> Result {
    for file in FILES_KIB {
        write!(f, "{file:>8}")?;
        let mut line = String::new();
        for record in RECORDS_KIB {
            line += &surface.cell(file, record).map_or_else(|| " ".repeat(8), &value);
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    writeln!(f)
}

fn mib_s(f: &mut Formatter<'_>, name: &str, surface: &Surface, side: Side) -> Result {
    head(f, name)?;
    rows(f, surface, |c| format!(" {:>7.0}", side(c) / 1024.0))
}

fn errors(f: &mut Formatter<'_>, name: &str, surface: &Surface) -> Result {
    head(f, name)?;
    rows(f, surface, |c| format!(" {:>+6.0}{}", c.error_percent, mark(c)))
}
