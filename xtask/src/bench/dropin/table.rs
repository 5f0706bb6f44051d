//! How the drop-ins' benches print: one row per case with the rate of each contender, the ratio with its interval, and CPU time per
//! operation. Pure: text out of samples.

use super::{Done, label};
use crate::bench::cases::{Column, Unit};
use crate::bench::claims::{Measure, values};
use crate::bench::spread::{Spread, ratio};

/// A table of cases whose contenders are the same.
pub fn of(title: &str, done: &[&Done], columns: &[Column], peer: Column) -> String {
    let runs = done.first().is_some_and(|d| d.case.unit == Unit::Run);
    let unit = if runs { "ms per command" } else { "thousands of operations a second" };
    let quotient =
        if runs { format!("{} / fathom, times", label(peer)) } else { format!("fathom / {}", label(peer)) };
    let mut text = format!("\n{title}: {unit}\n{:<34}", "");
    for column in columns {
        text += &format!(" {:>24}", label(*column));
    }
    text += &format!("   {:<24}", format!("{quotient} [95 %]"));
    text += &format!(" CPU ns/op: fathom {:>10}\n", label(peer));
    for done in done {
        text += &row(done, columns, peer);
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn row(done: &Done, columns: &[Column], peer: Column) -> String {
    let wall = |column| done.samples.get(&column).and_then(|s| values(s, Measure::Wall));
    let cpu = |column| {
        let median = done.samples.get(&column).and_then(|s| Spread::of(&values(s, Measure::Cpu)?));
        median.map_or_else(|| "-".to_owned(), |s| format!("{:.0}", s.median))
    };
    let mut text = format!("{:<34}", done.case.name);
    for column in columns {
        text += &format!(" {:>24}", cell(wall(*column), done.case.unit));
    }
    // Times the other way round are a ratio of rates.
    let times = wall(peer).zip(wall(Column::Fathom)).and_then(|(peer, own)| ratio(&peer, &own));
    let times =
        times.map_or_else(|| "-".to_owned(), |e| format!("{:.3} [{:.3}-{:.3}]", e.value, e.low, e.high));
    let cpu = |column| if done.case.unit == Unit::Run { "-".to_owned() } else { cpu(column) };
    text + &format!("   {times:<24} {:>17} {:>10}\n", cpu(Column::Fathom), cpu(peer))
}

/// "412.3 [400.1-420.9]": thousands a second, or ms.
fn cell(wall_ns: Option<Vec<f64>>, unit: Unit) -> String {
    let figure = |ns: f64| match unit {
        Unit::Operation => 1e6 / ns,
        Unit::Run => ns / 1e6,
    };
    let figures: Option<Vec<f64>> = wall_ns.map(|all| all.into_iter().map(figure).collect());
    let Some(s) = figures.as_deref().and_then(Spread::of) else { return "-".into() };
    format!("{} [{}-{}]", digits(s.median), digits(s.min), digits(s.max))
}

/// Four significant digits.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::super::Case;
    use super::*;
    use crate::bench::sample::Sample;

    fn done(unit: Unit) -> Done {
        let mut case = Case::of("rndrd, 1 thread", &[Column::Fathom, Column::Sysbench]);
        case.unit = unit;
        let sample = |wall_ns| vec![Sample { wall_ns, cpu_ns: Some(wall_ns / 2.0) }; 3];
        let samples = [(Column::Fathom, sample(2000.0)), (Column::Sysbench, sample(3000.0))];
        Done { case, samples: samples.into_iter().collect(), order: Vec::new() }
    }

    #[test]
    fn a_row_has_rates_their_ratio_and_cpu_time() {
        let text = of(
            "t",
            &[&done(Unit::Operation)],
            &[Column::Floor, Column::Fathom, Column::Sysbench],
            Column::Sysbench,
        );
        let row = text.lines().last().unwrap();
        assert!(row.contains("500.0 [500.0-500.0]") && row.contains("333.3 [333.3-333.3]"), "{text}");
        assert!(
            row.contains("1.500 [1.500-1.500]") && row.contains(" - ") && row.ends_with("1000       1500"),
            "{text}"
        );
    }

    #[test]
    fn commands_are_in_ms() {
        let text = of("t", &[&done(Unit::Run)], &[Column::Fathom, Column::Sysbench], Column::Sysbench);
        assert!(text.contains("ms per command") && text.contains("0.002 [0.002-0.002]"), "{text}");
    }

    #[test]
    fn figures_have_four_digits() {
        assert_eq!([12345.6, 123.456, 12.3456, 1.23456].map(digits), ["12346", "123.5", "12.35", "1.235"]);
    }
}
