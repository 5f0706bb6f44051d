//! `fathom compare --run`: plans and measures the quads. `wish` reads how the sides differ, `going` runs warm-up, noise
//! and quads on the stage that sweeps use, `words` prints the plan, `progress` the progress. The result is reported
//! like any other comparison; the runs carry their position in the design, so that `--of` reaches the same verdict
//! later.

mod differs;
mod going;
pub mod line;
mod progress;
mod wish;
mod words;

use super::line::Compare;
use super::{asked, check_files, keep, tell};
use crate::commands::sweep::guard;
use crate::console;
use crate::exit;
use crate::line::Common;
use fathom_report::compared;
use going::{Ended, Going};
use std::process::ExitCode;
use wish::Wish;

pub fn run(options: &Compare, common: &Common) -> anyhow::Result<ExitCode> {
    let asked = asked(options, None)?;
    check_files(options)?;
    let wish = Wish::read(options, asked.rules.threshold)?;
    let common = &common.under(&options.measure.conditions);
    let mut going = Going::begin(&wish, asked, common)?;
    if options.measure.plan {
        console::out(&words::plan(&going, !common.no_store)?);
        return Ok(ExitCode::SUCCESS);
    }
    let [a, b] = &wish.plan.sides;
    console::note(&format!(
        "{}, seed {}; {} at most",
        if wish.alone { format!("the noise of {a}") } else { format!("{b} against {a}") },
        wish.stage.seed,
        console::counted(going.most_runs(), "run")
    ));
    fathom_engine::watch_signals();
    let ended = going.all();
    let outcomes = going.put_back();
    guard::tell(&outcomes, "");
    if matches!(ended, Ended::Failed(_) | Ended::Signal(_)) {
        going.note_early_end(&ended.words());
    }
    let mut code = None;
    if going.has_a_quad() {
        code = Some(tell(options, &[going.compared()], options.gate)?);
    } else {
        // A against itself is never a regression.
        let noise = going.noise_compared();
        if noise.is_some() || options.json {
            let _ = tell(options, noise.as_slice(), false)?;
        }
        if options.gate {
            let [a, b] = &wish.plan.sides;
            tell_undecided(options, &[a, b], &ended.words())?;
        }
    }
    if !common.no_store && going.has_a_quad() {
        tell_kept(&going);
    }
    Ok(guard::code(conclude(ended, code, options.gate), &outcomes))
}

fn tell_kept(going: &Going<'_>) {
    let (made, stored) = going.kept();
    if stored == made {
        let again = format!("`fathom compare --of {}` prints this again", going.stage.id);
        console::note(&format!("every run is kept; {again}"));
    } else {
        console::warning(&format!(
            "{stored} of {} are kept: `fathom compare --of {}` will not say the same",
            console::counted(made, "run"),
            going.stage.id
        ));
    }
}

/// Writes the files CI expects even if the gate had nothing to decide.
pub fn tell_undecided(options: &Compare, sides: &[&str; 2], why: &str) -> anyhow::Result<()> {
    if options.github {
        let line = compared::github_undecided(sides, why);
        if options.json { console::error_raw(&line) } else { console::out_raw(&line) }
    }
    options
        .junit
        .as_ref()
        .map_or(Ok(()), |path| keep(path, &compared::junit_undecided(sides, why), options.force))
}

/// Reports what ended the comparison. `code` is its exit code, if it got that far.
fn conclude(ended: Ended, code: Option<u8>, gate: bool) -> ExitCode {
    let undecided = if gate { exit::UNDECIDED } else { exit::DONE };
    ExitCode::from(match ended {
        Ended::Complete(why) => {
            console::note(&why);
            code.unwrap_or(undecided)
        }
        Ended::TooNoisy(why) => {
            console::warning(&format!("nothing was compared, because this machine cannot tell:\n{why}"));
            undecided
        }
        Ended::Signal(signal) => {
            let what = if code.is_some() {
                "the verdict above is from the quads completed by then. It is invalid if you stopped because of what you saw, so a gate does not pass on it"
            } else {
                "no quad was complete by then, so nothing is compared"
            };
            console::warning(&format!("stopped by signal {signal}; {what}"));
            exit::of_signal(signal)
        }
        Ended::Failed(why) => {
            console::error(&why);
            exit::FAILED
        }
    })
}
