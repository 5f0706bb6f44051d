//! `fathom compare`: two sides of runs, judged figure by figure. `line` holds the options, `sides` finds the runs that are meant, and
//! `fathom_report::compared` judges them and draws what came of it; here is the way between them and the exit code.

pub mod line;
mod sides;
mod sweep;

use crate::console;
use crate::exit::{self, Usage};
use crate::line::Common;
use fathom_report::compared::{self, Asked, Compared, Gate, Metric, Outcome};
use line::Compare;
use std::process::ExitCode;

pub fn run(options: &Compare, common: &Common) -> anyhow::Result<ExitCode> {
    let asked = asked(options)?;
    let chosen = sides::choose(options, &mut sides::Runs::new(common))?;
    let all: Vec<Compared> = chosen.pairs().map(|(a, b)| Compared::of(&a, &b, &asked)).collect();
    let gates: Vec<Gate> = all.iter().map(|c| Gate::of(c, !options.metric.is_empty())).collect();
    if options.json {
        console::out(&compared::json(&all, options.gate.then_some(gates.as_slice())));
    } else {
        let texts: Vec<String> = all.iter().map(compared::text).collect();
        console::out(&texts.join("\n"));
    }
    if !options.gate {
        return Ok(ExitCode::SUCCESS);
    }
    if !options.json {
        let said: Vec<&str> = gates.iter().map(|g| g.sentence.as_str()).collect();
        console::out(&format!("\n{}\n", said.join("\n")));
    }
    Ok(ExitCode::from(verdict(&gates)))
}

/// The worst of all: a regression before what is not known.
fn verdict(gates: &[Gate]) -> u8 {
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
    Ok(asked)
}

/// "1%", "0.5 %", "0.01": a share above 0 and below 1.
fn share(option: &str, text: &str) -> Result<f64, Usage> {
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
