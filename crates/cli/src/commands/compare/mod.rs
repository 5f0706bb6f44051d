//! `fathom compare`: two sides of runs, judged figure by figure. `line` holds the options, `sides` and `sweep` find the runs that are
//! meant, and `fathom_report::compared` judges them and draws what came of it; here is the way between them and the exit code.

pub mod line;
mod sides;
mod sweep;

use super::write;
use crate::console;
use crate::exit::{self, Usage};
use crate::line::Common;
use anyhow::Context as _;
use fathom_report::compared::{self, Asked, Compared, Gate, Metric, Outcome};
use line::Compare;
use std::path::Path;
use std::process::ExitCode;

pub fn run(options: &Compare, common: &Common) -> anyhow::Result<ExitCode> {
    let asked = asked(options)?;
    for path in [&options.output, &options.junit].into_iter().flatten() {
        write::must_be_free(path, options.force)?;
    }
    let chosen = sides::choose(options, &mut sides::Runs::new(common))?;
    let all: Vec<Compared> = chosen.pairs().map(|(a, b)| Compared::of(&a, &b, &asked)).collect();
    let gates: Vec<Gate> = all.iter().map(|c| Gate::of(c, !options.metric.is_empty())).collect();
    let told = options.gate.then_some(gates.as_slice());
    if options.json {
        console::out(&compared::json(&all, told));
    } else {
        console::out(&all.iter().map(compared::text).collect::<Vec<_>>().join("\n"));
        for gate in told.into_iter().flatten() {
            console::out(&format!("\n{}\n", gate.sentence));
        }
    }
    if options.github {
        // Where JSON is on stdout, a line of another kind would spoil it; GitHub reads both.
        let lines = compared::github(&all, &gates);
        if options.json { console::error_raw(&lines) } else { console::out_raw(&lines) }
    }
    if let Some(path) = &options.output {
        keep(path, &fathom_report::html::comparison_page(&all, told))?;
    }
    if let Some(path) = &options.junit {
        keep(path, &compared::junit(&all, &gates))?;
    }
    Ok(ExitCode::from(if options.gate { code(&gates) } else { exit::DONE }))
}

fn keep(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    console::note(&format!("wrote {}", path.display()));
    Ok(())
}

/// Of several comparisons the worst: a regression before what is not known.
fn code(gates: &[Gate]) -> u8 {
    let any = |outcome| gates.iter().any(|g| g.outcome == outcome);
    match (any(Outcome::Regression), any(Outcome::NotEnoughData)) {
        (true, _) => exit::CHECK,
        (_, true) => exit::UNDECIDED,
        _ => exit::DONE,
    }
}

fn asked(options: &Compare) -> Result<Asked, Usage> {
    let mut asked = Asked::default();
    asked.rules.threshold = share("--threshold", &options.threshold)?;
    asked.metrics = options.metric.iter().map(|m| Metric::of_word(m)).collect();
    if let Some(path) = &options.output
        && !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm"))
    {
        return Err(Usage(format!(
            "--output {}: a comparison is drawn as a page, .html; --json prints the figures",
            path.display()
        )));
    }
    Ok(asked)
}

/// "1%", "0.5 %", "0.01": a share above 0 and below 1.
pub(super) fn share(option: &str, text: &str) -> Result<f64, Usage> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|n| n / scale).filter(|s| *s > 0.0 && *s < 1.0);
    share.ok_or_else(|| {
        Usage(format!("{option} {text}: a share above 0 and below 100 % is expected, such as 1% or 0.01"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage_or_a_fraction() {
        let of = |text: &str| share("--threshold", text).ok();
        assert_eq!((of("1%"), of("0.5 %"), of("0.02")), (Some(0.01), Some(0.005), Some(0.02)));
        assert_eq!((of("0"), of("100%"), of("-1%"), of("nan"), of("fast")), (None, None, None, None, None));
    }
}
