//! The two places that restore what a sweep could not: the guardian process started by a sweep, and the start of every
//! fathom command.

use crate::commands::mount::point;
use crate::{console, state};
use fathom_observe::files::Live;
use fathom_observe::knobs::{self, Outcome, guardian};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Whose leftovers they were.
const KILLED: &str = "left behind by a measurement that was killed";

pub fn is_guardian(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|w| w == guardian::COMMAND)
}

/// `fathom __guard FD JOURNAL`: waits until the sweep that started it is gone, and restores what it left changed.
pub fn watch(words: &[OsString]) -> ExitCode {
    let (Some(fd), Some(journal)) = (words.get(2).and_then(|w| w.to_str()?.parse().ok()), words.get(3))
    else {
        console::error(&format!("{} is started by fathom itself", guardian::COMMAND));
        return ExitCode::from(crate::exit::USAGE);
    };
    match guardian::watch(&Live, fd, Path::new(journal), remove_test_files) {
        Ok(outcomes) => {
            tell(&outcomes, KILLED);
            ExitCode::SUCCESS
        }
        Err(error) => {
            console::error(&error.to_string());
            ExitCode::from(crate::exit::USAGE)
        }
    }
}

/// Restores what sweeps left changed that were killed together with their guardians, and removes kernel objects left by
/// killed runs of root. With nothing to do, this lists one directory (three as root).
pub fn put_back_left_behind() {
    if fathom_state::trust::user() == 0 {
        fathom_observe::block::sweep_left_behind();
        fathom_observe::throttle::sweep();
    }
    for on in point::take_down_left_behind() {
        console::note(&format!("unmounted {on}, left behind by a mount that was killed"));
    }
    if let Some(directory) = state::directory() {
        tell(&knobs::put_back_left_behind(&Live, &directory, remove_test_files), KILLED);
    }
}

/// Test files of killed runs may be on a file system about to be removed; afterwards it could not be checked whether
/// they exist.
fn remove_test_files() {
    if let Some(directory) = state::directory() {
        crate::sweeper::sweep_quietly(&directory);
    }
}

/// Removed files listed by name.
const MOST_NAMES: usize = 3;

/// The exit code of a command that succeeded except for what it left on the machine.
pub fn code(code: ExitCode, outcomes: &[Outcome]) -> ExitCode {
    let is_left = code == ExitCode::SUCCESS && outcomes.iter().any(Outcome::is_owed);
    if is_left { ExitCode::from(crate::exit::FAILED) } else { code }
}

/// Reports what was restored and what was not.
pub fn tell(outcomes: &[Outcome], whose: &str) {
    let removed = |o: &&Outcome| matches!(o, Outcome::Removed(_));
    let files = outcomes.iter().filter(removed).count();
    if files > MOST_NAMES
        && let Some(first) = outcomes.iter().find(removed)
    {
        console::note(&format!("{}, and {} more files of the measurement", first.words(whose), files - 1));
    }
    for outcome in outcomes.iter().filter(|o| files <= MOST_NAMES || !removed(o)) {
        let words = outcome.words(whose);
        if outcome.is_good() { console::note(&words) } else { console::warning(&words) }
    }
}
