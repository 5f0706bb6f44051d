//! Removes a rank's files at the end. Ranks may have made files in one directory that one of them made; it can be
//! removed only after the others have removed their files.

use super::comm::Comm;
use fathom_engine::Engine;
use std::path::PathBuf;
use std::time::Duration;

/// Retries for the directories of a broken communicator, and the pause between them. A launcher allows a second.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(50);

/// Removes what this rank made, repeating while any rank makes progress. Returns what could not be removed.
pub(super) fn clean_up(comm: &mut Comm, engine: &mut Engine) -> Vec<PathBuf> {
    let mut left = engine.clean_up();
    if comm.alone() {
        return left;
    }
    let mut before = u64::MAX;
    while comm.broken().is_none() {
        match all_left(comm, left.len() as u64) {
            Some(all) if all > 0 && all < before => before = all,
            _ => return left,
        }
        left = engine.clean_up();
    }
    // The other ranks can no longer be asked.
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
fn all_left(comm: &mut Comm, mine: u64) -> Option<u64> {
    let all = comm.collect(mine, |all, more| *all += more)?;
    comm.tell(all)
}
