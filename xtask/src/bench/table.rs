//! How `bench engine` prints: one block per case with every contender, then the medians of all cases with the peers as columns, then
//! the bounds. Pure: text out of samples.

use super::cases::{Case, Column, Unit};
use super::claims::{Measure, Outcome, Samples, Verdict, values};
use super::spread::{Spread, ratio};

/// Every contender of a case: wall and CPU time with their range, and fathom's time as a multiple of it.
pub fn block(case: &Case, samples: &Samples) -> String {
    let unit = match case.unit {
        Unit::Operation => "ns/op",
        Unit::Run => "ms/run",
    };
    let mut text = format!("\n{}\n", case.name);
    text += &format!(
        "  {:<22} {:>26} {:>26}   {}\n",
        "",
        format!("wall {unit}"),
        format!("CPU {unit}"),
        "fathom is this many times as long [95 %]"
    );
    let fathom = samples.get(&Column::Fathom).and_then(|s| values(s, Measure::Wall));
    for (column, of_column) in samples {
        let wall = values(of_column, Measure::Wall);
        let times = match (&fathom, &wall) {
            (Some(own), Some(other)) if *column != Column::Fathom => ratio(own, other),
            _ => None,
        };
        text += &format!(
            "  {:<22} {:>26} {:>26}   {}\n",
            label(case, *column),
            cell(wall.as_deref(), case.unit),
            cell(values(of_column, Measure::Cpu).as_deref(), case.unit),
            times.map_or_else(String::new, |e| format!("{:.3} [{:.3}-{:.3}]", e.value, e.low, e.high)),
        );
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What a column means in a case.
pub fn label(case: &Case, column: Column) -> String {
    let found = |c| case.entries.iter().find(|e| e.column == c).and_then(|e| e.label);
    if let Some(label) = found(column) {
        return label.to_owned();
    }
    // The newest fio does the same job as the other, under the same label.
    let of_fio = [Column::Fio, Column::FioTuned].into_iter().find(|c| c.head() == Some(column));
    match of_fio.and_then(found) {
        Some(label) => label.replacen("fio", "fio head", 1),
        None => column.label().to_owned(),
    }
}

/// "1554 [1358-1764]", "-" if there is nothing.
fn cell(values: Option<&[f64]>, unit: Unit) -> String {
    let Some(s) = values.and_then(Spread::of) else { return "-".into() };
    format!("{} [{}-{}]", number(s.median, unit), number(s.min, unit), number(s.max, unit))
}

/// Three digits at least, and no more than the figure has.
fn number(ns: f64, unit: Unit) -> String {
    let value = if unit == Unit::Run { ns / 1e6 } else { ns };
    if value < 100.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// Medians of all cases, the peers as columns.
pub fn summary(cases: &[(Case, Samples)], measure: Measure) -> String {
    let what = match measure {
        Measure::Wall => "wall",
        Measure::Cpu => "CPU",
    };
    let mut text = format!("\nMedians, {what} ns per operation (ms per run for start and exit)\n{:<38}", "");
    for column in Column::ALL {
        text += &format!(" {:>8}", column.short());
    }
    text.push('\n');
    for (case, samples) in cases {
        text += &format!("{:<38}", case.name);
        for column in Column::ALL {
            let median = samples.get(&column).and_then(|s| Spread::of(&values(s, measure)?));
            let cell = median.map_or_else(|| "-".to_owned(), |s| number(s.median, case.unit));
            text += &format!(" {cell:>8}");
        }
        text.push('\n');
    }
    text
}

/// Every bound: what, got, bound, outcome; and how many of each outcome.
pub fn bounds(verdicts: &[(&str, Verdict)]) -> String {
    let mut text = format!("\nBounds\n{:<38} {:<44} {:<30} {:<11} \n", "", "fathom's", "got [95 %]", "bound");
    for (case, verdict) in verdicts {
        let got = if verdict.got.is_empty() { "not measured" } else { &verdict.got };
        let word = verdict.outcome.word();
        text += &format!("{case:<38} {:<44} {got:<30} {:<11} {word}\n", verdict.what, verdict.bound);
    }
    let count = |outcome| verdicts.iter().filter(|(_, v)| v.outcome == outcome).count();
    text += &format!(
        "{} passed, {} unclear (median inside, interval beyond), {} missed, {} not measured\n",
        count(Outcome::Passed),
        count(Outcome::Unclear),
        count(Outcome::Missed),
        count(Outcome::NotMeasured)
    );
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::super::claims::Bound;
    use super::super::sample::Sample;
    use super::*;

    fn measured() -> (Case, Samples) {
        let case = cases::all().into_iter().find(|c| c.name.starts_with("pwrite")).unwrap();
        let sample = |wall_ns, cpu_ns| Sample { wall_ns, cpu_ns };
        let mut samples = Samples::new();
        samples.insert(Column::Floor, vec![sample(1000.0, Some(999.0)); 3]);
        samples.insert(Column::Fathom, vec![sample(1040.0, Some(1030.0)); 3]);
        samples.insert(Column::FioHeadTuned, vec![sample(2080.0, None); 3]);
        (case, samples)
    }

    #[test]
    fn a_block_has_both_times_and_the_ratio() {
        let (case, samples) = measured();
        let text = block(&case, &samples);
        let floor = text.lines().find(|l| l.contains("floor")).unwrap();
        assert!(floor.contains("1000 [1000-1000]") && floor.contains("999 [999-999]"), "{text}");
        assert!(floor.ends_with("1.040 [1.040-1.040]"), "{text}");
        let head = text.lines().find(|l| l.contains("fio head, fixed data")).unwrap();
        assert!(head.contains(" - ") && head.contains("0.500"), "{text}");
    }

    #[test]
    fn the_summary_leaves_absent_peers_empty() {
        let text = summary(&[measured()], Measure::Wall);
        let row: Vec<&str> = text.lines().last().unwrap().split_whitespace().skip(3).collect();
        assert_eq!(row, ["1000", "1040", "-", "-", "-", "-", "2080", "-", "-", "-", "-", "-"]);
    }

    #[test]
    fn bounds_are_listed_and_counted() {
        let (case, samples) = measured();
        let judged = |b: &Bound| (case.name, b.judge(&samples, case.unit, |c| label(&case, c)));
        let verdicts: Vec<_> = case.bounds.iter().map(judged).collect();
        let text = bounds(&verdicts);
        assert!(text.contains("1.040 [1.040-1.040]") && text.contains("not measured"), "{text}");
        assert!(
            text.ends_with(
                "1 passed, 0 unclear (median inside, interval beyond), 0 missed, 4 not measured\n"
            )
        );
    }
}
