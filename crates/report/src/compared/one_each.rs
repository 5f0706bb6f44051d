//! One run of each side on the terminal: the overall ratio, stated once; the figures of both; and the command that would give a verdict.

use super::judge::ComparedRow;
use super::notices::spelled;
use super::{Compared, Design};
use fathom_compare::summary::geometric_mean;
use fathom_compare::wording::{self, short};
use fathom_record::Run;
use fathom_record::imported::names;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The answer and the table; `None` unless both sides have one run of each cell.
pub(super) fn text(compared: &Compared) -> Option<String> {
    if compared.design != Design::Single {
        return None;
    }
    let rows = shown(compared);
    if rows.is_empty() {
        return None;
    }
    let mut text = headline(compared).map_or(String::new(), |line| line + "\n\n");
    let mut lines = vec![["cell", "figure", "A", "B", "B is"].map(String::from)];
    let mut above = "";
    for row in rows {
        let cell = if above == row.cell { String::new() } else { row.cell.clone() };
        above = &row.cell;
        lines.push([cell, row.metric.clone(), value(row, &row.a), value(row, &row.b), times(row)]);
    }
    let width = |i: usize| lines.iter().map(|line| line[i].width()).max().unwrap_or_default();
    let widths: [usize; 5] = std::array::from_fn(width);
    for line in &lines {
        let mut out = String::new();
        for (i, (cell, width)) in line.iter().zip(widths).enumerate() {
            let fill = " ".repeat(width - cell.width());
            let _ =
                if i == 2 || i == 3 { write!(out, "{fill}{cell}  ") } else { write!(out, "{cell}{fill}  ") };
        }
        let _ = writeln!(text, "{}", out.trim_end());
    }
    if is_controlled(compared) {
        for row in compared.rows.iter().filter(|row| row.headline && !row.direct) {
            let _ = write!(text, "\n{}: {}", row.cell, row.sentence);
        }
        text.push('\n');
    }
    Some(text)
}

/// How to get a verdict.
pub(super) fn advice(compared: &Compared) -> String {
    format!("\nFor a verdict: {}\n", compared.again)
}

/// Throughput, operations and percentiles; other figures if selected, or if a cell has nothing else.
fn shown(compared: &Compared) -> Vec<&ComparedRow> {
    let rates = |row: &ComparedRow| [names::THROUGHPUT, names::OPERATIONS].contains(&row.metric.as_str());
    let has_rate = |cell: &str| compared.rows.iter().any(|row| row.cell == cell && rates(row));
    let wanted = |row: &&ComparedRow| compared.is_chosen || row.metric != names::TIME || !has_rate(&row.cell);
    compared.rows.iter().filter(|row| !row.has_too_few()).filter(wanted).collect()
}

/// Whether cells with O_DIRECT show how far runs differ where nothing should have changed; then there is no overall figure.
fn is_controlled(compared: &Compared) -> bool {
    let quoted = || compared.rows.iter().filter(|row| row.headline);
    quoted().any(|row| row.direct) && quoted().any(|row| !row.direct)
}

/// How many times as fast B is over all cells, and the range of the ratios.
pub(super) fn headline(compared: &Compared) -> Option<String> {
    if is_controlled(compared) {
        return None;
    }
    let quoted: Vec<&ComparedRow> = compared.rows.iter().filter(|row| row.headline).collect();
    let speeds: Vec<f64> = quoted.iter().filter_map(|row| speed(row)).collect();
    let all = geometric_mean(&speeds).ok().filter(|_| speeds.len() == quoted.len())?;
    let first = quoted.first()?;
    let by = match quoted.iter().all(|row| row.metric == first.metric) {
        true => format!("By {} ", first.metric),
        false => String::new(),
    };
    if quoted.len() == 1 {
        return Some(format!("{by}{}", first.sentence));
    }
    let (least, most) = speeds.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
    Some(format!(
        "{by}{} over {} cells (geometric mean; single cells of B have {}× to {}× the speed of A; one run each; not a verdict).",
        wording::times_than(first.names(), all, Some(true)),
        speeds.len(),
        short(least),
        short(most)
    ))
}

/// B's speed relative to A's, above 1 if B is faster.
fn speed(row: &ComparedRow) -> Option<f64> {
    let ratio = row.ratio()?;
    match row.higher_is_better? {
        true => Some(ratio),
        false => Some(1.0 / ratio),
    }
}

fn value(row: &ComparedRow, values: &[f64]) -> String {
    values.first().map_or("-".into(), |v| spelled(*v, &row.unit))
}

fn times(row: &ComparedRow) -> String {
    let of_ratio = |ratio| {
        wording::times(row.names(), ratio, row.higher_is_better).unwrap_or_else(|| "within 0.5 %".into())
    };
    let difference = || row.effect.map_or("-".into(), |e| format!("{} more", spelled(e.estimate, &row.unit)));
    row.ratio().map_or_else(difference, of_ratio)
}

/// The command that measures both sides in turn, derived from the commands of their runs. If none can be derived, its general form.
pub(super) fn again(a: &[&Run], b: &[&Run]) -> String {
    let command = match (a, b) {
        ([a], [b]) => typed(a, b),
        _ => None,
    };
    command.unwrap_or_else(|| {
        "measure both in turn with `fathom compare --run A.toml B.toml` (workload files), or of drop-ins `fathom compare --run -- ARGS \
         --and ARGS`"
            .into()
    })
}

fn typed(a: &Run, b: &Run) -> Option<String> {
    const DROP_INS: [&str; 4] = ["iozone", "sysbench", "fio", "filebench"];
    let measured = |run: &Run| -> Option<Vec<String>> {
        let is_measured = run.source.is_none() && run.simulation.is_none();
        let plain = |word: &String| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c))
        };
        (is_measured && run.argv.iter().all(plain)).then(|| run.argv.get(1..).unwrap_or_default().to_vec())
    };
    let (of_a, of_b) = (measured(a)?, measured(b)?);
    if of_a == of_b {
        return None;
    }
    let is_drop_in = |words: &[String]| words.first().is_some_and(|word| DROP_INS.contains(&word.as_str()));
    if is_drop_in(&of_a) && is_drop_in(&of_b) {
        return Some(format!("`fathom compare --run -- {} --and {}`", of_a.join(" "), of_b.join(" ")));
    }
    let file = |words: &[String]| match words {
        [run, file] if run == "run" && file.ends_with(".toml") => Some(file.clone()),
        _ => None,
    };
    Some(format!("`fathom compare --run {} {}`", file(&of_a)?, file(&of_b)?))
}

#[cfg(test)]
mod tests {
    use super::super::tests_of_examples::single;
    use super::again;
    use fathom_record::Run;

    #[test]
    fn one_cell_says_once_how_many_times() {
        let text = super::super::text(&single(100.0, 210.0));
        assert_eq!(text.matches("one run each; not a verdict").count(), 1, "{text}");
        assert!(
            text.contains("By throughput B is 2.1× faster than A (one run each; not a verdict)."),
            "{text}"
        );
        assert!(text.contains("For a verdict: measure both"), "{text}");
        assert!(!text.contains("interval"), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_command_is_that_of_both_runs() {
        let run = |line: &str| Run { argv: line.split(' ').map(String::from).collect(), ..Run::default() };
        let told = |a, b| again(&[&run(a)], &[&run(b)]);
        assert_eq!(told("fathom run a.toml", "fathom run b.toml"), "`fathom compare --run a.toml b.toml`");
        assert_eq!(
            told("/usr/bin/fathom iozone -i 0 -r 4k", "fathom iozone -i 0 -r 1m"),
            "`fathom compare --run -- iozone -i 0 -r 4k --and iozone -i 0 -r 1m`"
        );
        for (a, b) in [
            ("fathom run a.toml", "fathom run a.toml"),
            ("fathom survey", "fathom survey --quick"),
            ("fathom iozone -f $(x)", "fathom iozone -r 1m"),
        ] {
            assert!(told(a, b).starts_with("measure both in turn"), "{a}");
        }
    }
}
