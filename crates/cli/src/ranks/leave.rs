//! The end of a rank's files. Ranks may have made files in one directory, which one of them has made, too: it can go only when the others
//! have removed theirs.

use super::circle::Circle;
use fathom_engine::Engine;
use std::path::PathBuf;
use std::time::Duration;

/// How often the directories of a broken circle are tried again, and after which pause. A launcher leaves a second.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(50);

/// Removes what this rank made; again, as long as that brings any rank further. What could not be removed.
pub(super) fn clean_up(circle: &mut Circle, engine: &mut Engine) -> Vec<PathBuf> {
    let mut left = engine.clean_up();
    if circle.alone() {
        return left;
    }
    let mut before = u64::MAX;
    while circle.broken().is_none() {
        match all_left(circle, left.len() as u64) {
            Some(all) if all > 0 && all < before => before = all,
            _ => return left,
        }
        left = engine.clean_up();
    }
    // Nobody can be asked any more.
    for _ in 0..TRIES {
        if left.is_empty() {
            break;
        }
        std::thread::sleep(PAUSE);
        left = engine.clean_up();
    }
    left
}

/// How much all ranks together have left.
fn all_left(circle: &mut Circle, mine: u64) -> Option<u64> {
    let all = circle.collect(mine, |all, more| *all += more)?;
    circle.tell(all)
}
