//! `fathom compare --run`: plans and measures the quads itself. `wish` reads what differs between the sides, `going` runs warm-up, noise and
//! quads on the stage that sweeps use, `words` tells the plan, `progress` how far it is. What came of it is told by the same functions
//! as any other comparison; the runs carry their place in the design, so that `--of` comes to the same verdict later.

mod going;
pub mod line;
mod progress;
mod wish;
mod words;

use super::line::Compare;
use super::{asked, must_be_free, tell};
use crate::commands::sweep::guard;
use crate::console;
use crate::exit;
use crate::line::Common;
use going::{Ended, Going};
use std::process::ExitCode;
use wish::Wish;

pub fn run(options: &Compare, common: &Common) -> anyhow::Result<ExitCode> {
    let asked = asked(options, None)?;
    must_be_free(options)?;
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
        going::counted(going.most_runs() as usize, "run")
    ));
    fathom_engine::watch_signals();
    let ended = going.all();
    guard::tell(&going.put_back(), "");
    let mut code = None;
    if going.has_sides() {
        code = Some(tell(options, &[going.compared()], options.gate)?);
    } else if let Some(noise) = going.noise_compared() {
        // A against itself is no regression, whatever it says.
        let _ = tell(options, &[noise], false)?;
    } else if options.json {
        let _ = tell(options, &[], false)?;
    }
    if !common.no_store && going.has_sides() {
        console::note(&format!(
            "every run is kept; `fathom compare --of {}` says this again",
            going.stage.id
        ));
    }
    Ok(conclude(ended, code, options.gate))
}

/// Says what ended it. `code` is that of the comparison, if there was one.
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
                "the verdict above is on the quads that were whole by then. It holds unless it was stopped because of what was seen"
            } else {
                "no side was measured by then"
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
