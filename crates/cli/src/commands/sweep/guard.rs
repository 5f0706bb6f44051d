//! The two places where something is put back that a sweep could not put back itself: the guardian process that a sweep starts, and
//! the beginning of every command of fathom.

use crate::commands::mount::point;
use crate::{console, state};
use fathom_observe::files::Live;
use fathom_observe::knobs::{self, Outcome, guardian};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Whose work it was.
const KILLED: &str = "left behind by a measurement that was killed";

/// Whether a command line is that of a guardian.
pub fn is_guardian(words: &[OsString]) -> bool {
    words.get(1).is_some_and(|w| w == guardian::COMMAND)
}

/// `fathom __guard FD JOURNAL`: waits until the sweep that started it is gone, and puts back what it owes.
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

/// Puts back what sweeps left that were killed together with their guardians, and removes what killed runs of root's left with the kernel.
/// One directory is listed if there is nothing, as root three.
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

/// Test files of the dead may lie on a file system that goes now: afterwards nobody could tell whether they are still there.
fn remove_test_files() {
    if let Some(directory) = state::directory() {
        crate::sweeper::sweep_quietly(&directory);
    }
}

/// Removed files that are named one by one.
const MOST_NAMES: usize = 3;

/// The exit code of a command that was done but for what it has left on the machine.
pub fn code(code: ExitCode, outcomes: &[Outcome]) -> ExitCode {
    let is_left = code == ExitCode::SUCCESS && outcomes.iter().any(Outcome::is_owed);
    if is_left { ExitCode::from(crate::exit::FAILED) } else { code }
}

/// Says what was put back, and what was not.
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
