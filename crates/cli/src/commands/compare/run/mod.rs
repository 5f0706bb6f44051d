//! `fathom compare --run`: plans and measures the quads. `request` reads how the sides differ, `session` runs warm-up, noise
//! and quads on the stage that sweeps use, `words` prints the plan, `progress` the progress. The result is reported
//! like any other comparison; the runs carry their position in the design, so that `--of` reaches the same verdict
//! later.

mod differs;
pub mod line;
mod progress;
mod request;
mod session;
mod words;

use super::line::Compare;
use super::{asked, check_files, keep, tell};
use crate::commands::sweep::guard;
use crate::common::Common;
use crate::console;
use crate::exit;
use fathom_report::compared;
use request::Request;
use session::{CompareEnd, CompareSession};
use std::process::ExitCode;

pub fn run(options: &Compare, common: &Common) -> anyhow::Result<ExitCode> {
    let asked = asked(options, None)?;
    check_files(options)?;
    let request = Request::read(options, asked.rules.threshold)?;
    let common = &common.under(&options.measure.conditions);
    let mut session = CompareSession::begin(&request, asked, common)?;
    if options.measure.plan {
        console::out(&words::plan(&session, !common.no_store)?);
        return Ok(ExitCode::SUCCESS);
    }
    let [a, b] = &request.plan.sides;
    console::note(&format!(
        "{}, seed {}; {} at most",
        if request.alone { format!("the noise of {a}") } else { format!("{b} against {a}") },
        request.stage.seed,
        console::counted(session.most_runs(), "run")
    ));
    fathom_engine::watch_signals();
    let ended = session.all();
    let outcomes = session.put_back();
    guard::tell(&outcomes, "");
    if matches!(ended, CompareEnd::Failed(_) | CompareEnd::Signal(_)) {
        session.note_early_end(&ended.words());
    }
    let mut code = None;
    if session.has_a_quad() {
        code = Some(tell(options, &[session.compared()], options.gate)?);
    } else {
        // A against itself is never a regression.
        let noise = session.noise_compared();
        if noise.is_some() || options.json {
            let _ = tell(options, noise.as_slice(), false)?;
        }
        if options.gate {
            let [a, b] = &request.plan.sides;
            tell_undecided(options, &[a, b], &ended.words())?;
        }
    }
    if !common.no_store && session.has_a_quad() {
        tell_kept(&session);
    }
    Ok(guard::code(conclude(ended, code, options.gate), &outcomes))
}

fn tell_kept(session: &CompareSession<'_>) {
    let (made, stored) = session.kept();
    if stored == made {
        let again = format!("`fathom compare --of {}` prints this again", session.stage.id);
        console::note(&format!("every run is kept; {again}"));
    } else {
        console::warning(&format!(
            "{stored} of {} are kept: `fathom compare --of {}` will not say the same",
            console::counted(made, "run"),
            session.stage.id
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
fn conclude(ended: CompareEnd, code: Option<u8>, gate: bool) -> ExitCode {
    let undecided = if gate { exit::UNDECIDED } else { exit::DONE };
    ExitCode::from(match ended {
        CompareEnd::Complete(why) => {
            console::note(&why);
            code.unwrap_or(undecided)
        }
        CompareEnd::TooNoisy(why) => {
            console::warning(&format!("nothing was compared, because this machine cannot tell:\n{why}"));
            undecided
        }
        CompareEnd::Signal(signal) => {
            let what = if code.is_some() {
                "the verdict above is from the quads completed by then. It is invalid if you stopped because of what you saw, so a gate does not pass on it"
            } else {
                "no quad was complete by then, so nothing is compared"
            };
            console::warning(&format!("stopped by signal {signal}; {what}"));
            exit::of_signal(signal)
        }
        CompareEnd::Failed(why) => {
            console::error(&why);
            exit::FAILED
        }
    })
}
