//! The table as text for 140 columns: every figure beside the published one, then what the report shows in its own
//! formats (dtrace, iostat, Filebench), then the degrees of freedom and the tolerances.

use super::host::HEADS;
use super::published::{IOSTAT, SIZES};
use super::table::{DdRequests, NAMES, Table, TableRow};
use fathom_report::text::keys;
use fathom_report::text::lquantize::{self, Classes};
use fathom_sim::reproduce::text::wrapped;
use std::fmt::{Formatter, Result};

pub(super) fn write(t: &Table, f: &mut Formatter<'_>) -> Result {
    let [datasheet, measured, fitted, guessed] = t.sources;
    writeln!(
        f,
        "HSFS performance needs a boost (OpenSolaris 6588256, 2007): published, and in virtual time (nothing here was measured)."
    )?;
    writeln!(
        f,
        "The reader is that of fathom mount under its policies baseline, seed (ENHANCED) and modern; only clock, threads and drive are made up."
    )?;
    writeln!(
        f,
        "Values of the drive ({}): {datasheet} from data sheets, {measured} measured, {fitted} fitted, {guessed} guessed.\n",
        t.device
    )?;
    figures(t, f)?;
    lock(t, f)?;
    who(t, f)?;
    sizes(t, f)?;
    iostat(t, f)?;
    flowops(t, f)?;
    writeln!(f, "Degrees of freedom")?;
    for line in &t.freedom {
        wrapped(f, line)?;
    }
    tolerances(t, f)
}

fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "MISS",
        None => "",
    }
}

fn figures(t: &Table, f: &mut Formatter<'_>) -> Result {
    let [before, after, modern] = NAMES;
    writeln!(f, "{:<21} {:<15} {before:<39}  {after:<43}  {modern:>9}", "", "")?;
    let heads = format!("{:>9} {:>9} {:>8} {:>6} {:<5}", "published", "ours", "error", "tol.", "");
    writeln!(f, "{:<21} {:<15} {heads} {heads} {:>11}", "", "", "ours")?;
    for row in &t.rows {
        write!(f, "{:<21} {:<15}", row.case, row.figure)?;
        for at in 0..2 {
            half(row, at, f)?;
        }
        writeln!(f, " {:>11.*}", row.decimals, row.simulated[2])?;
    }
    writeln!(
        f,
        "ops: in 302 s; fitted: a value was set by this figure; -: no tolerance was stated. iostat: means of its three rows, and of our run.\n"
    )
}

fn half(row: &TableRow, at: usize, f: &mut Formatter<'_>) -> Result {
    let decimals = row.decimals;
    let published = if row.published[at].fract() == 0.0 { 0 } else { decimals.max(1) };
    write!(
        f,
        " {:>9.published$} {:>9.decimals$} {:>+6.1} % {:>6} {:<5}",
        row.published[at],
        row.simulated[at],
        row.error_percent[at],
        row.tolerance[at],
        verdict(row.holds[at]),
    )
}

fn lock(t: &Table, f: &mut Formatter<'_>) -> Result {
    writeln!(
        f,
        "Random 2 KiB, 32 readers, ops/s: single reads waited for under the strategy lock, or after its release"
    )?;
    writeln!(f, "{:>12} {:>10} {:>10}", "deadline", "held", "released")?;
    for row in &t.lock {
        writeln!(
            f,
            "{:>9} ms {:>10.2} {:>10.2}",
            row.deadline_ms, row.held_ops_per_s, row.released_ops_per_s
        )?;
    }
    writeln!(
        f,
        "Held, the drive has one request at a time, and every one of 32 is older than 500 ms when its turn comes: the sweep becomes a queue.\n"
    )
}

fn who(t: &Table, f: &mut Formatter<'_>) -> Result {
    writeln!(
        f,
        "Requests of dd, as bdev_strategy would count them (published: dd 524286; dd 13, sched 65694)"
    )?;
    for dd in &t.dd {
        let count = |sizes: &[(u64, u64)]| sizes.iter().map(|size| size.1).sum::<u64>();
        writeln!(f, "## {} ##", dd.policy)?;
        for (name, sizes) in [("dd", &dd.by_dd), ("sched", &dd.by_pool)] {
            if !sizes.is_empty() {
                writeln!(f, "  {name:<50} {:>20}", count(sizes))?;
            }
        }
    }
    writeln!(f)
}

fn sizes(t: &Table, f: &mut Formatter<'_>) -> Result {
    let draw = |who: &str, of: &[(u64, u64)]| {
        lquantize::draw(&keys(&[who, "largefile1"]), of.iter().copied(), &Classes::SIZES)
    };
    writeln!(f, "Sizes of dd's requests")?;
    for (at, dd) in t.dd.iter().enumerate() {
        writeln!(f, "## {} ##", dd.policy)?;
        if at == 1 {
            writeln!(f, "published: dd {}; sched {}", listed(SIZES[0]), listed(SIZES[1]))?;
        }
        let DdRequests { by_dd, by_pool, .. } = dd;
        write!(f, "{}{}", draw("dd", by_dd), draw("sched", by_pool))?;
    }
    writeln!(f)
}

fn listed(sizes: &[(u64, u64)]) -> String {
    let all: Vec<String> = sizes.iter().map(|(bytes, count)| format!("{count} of {bytes}")).collect();
    all.join(", ")
}

fn iostat(t: &Table, f: &mut Formatter<'_>) -> Result {
    writeln!(f, "iostat -xn while dd runs, a quarter, half and three quarters through it")?;
    for (at, dd) in t.dd.iter().enumerate() {
        writeln!(f, "## {} ##", dd.policy)?;
        if let Some(rows) = IOSTAT.get(at) {
            let said: Vec<String> =
                rows.iter().map(|[reads, kib]| format!("{reads} r/s {kib} kr/s")).collect();
            writeln!(f, "published: {}", said.join("; "))?;
        }
        writeln!(f, "{HEADS}")?;
        dd.iostat.iter().try_for_each(|row| writeln!(f, "{row}"))?;
    }
    writeln!(f)
}

fn flowops(t: &Table, f: &mut Formatter<'_>) -> Result {
    let mut test = "";
    for of in &t.flowops {
        if of.test != test {
            test = of.test;
            writeln!(f, "---------------------------\n {test}\n---------------------------")?;
        }
        writeln!(f, "## {} ##", of.policy)?;
        write!(f, "{}", of.text)?;
        if let Some(published) = of.published {
            writeln!(f, "IO Summary of the report: {published}\n")?;
        }
    }
    writeln!(f)
}

fn tolerances(t: &Table, f: &mut Formatter<'_>) -> Result {
    let stated = t.rows.iter().flat_map(|row| &row.holds).flatten();
    let (all, held) = (stated.clone().count(), stated.filter(|holds| **holds).count());
    writeln!(f, "\nStated tolerances")?;
    writeln!(
        f,
        "  {:<6} {held} of the {all} figures of the table above that have one",
        verdict(Some(held == all))
    )?;
    for check in &t.checks {
        writeln!(f, "  {:<6} {}", check.verdict(), check.stated)?;
        writeln!(f, "         {}", check.found)?;
    }
    Ok(())
}
