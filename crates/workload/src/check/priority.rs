//! Checks the I/O priorities of threads and of a stream's operations, and the users threads run as.

use crate::{Backend, Program, Stream, Thread};

/// Error in the I/O priority of a thread, if any.
pub(super) fn of_thread(thread: &Thread) -> Option<String> {
    if let Some(level) = thread.io_priority.filter(|level| *level > MOST) {
        return Some(format!("io_priority is {level}; 0 to 7 is expected"));
    }
    (thread.io_hint > MOST_HINT).then(|| format!("io_hint is {}; 0 to 1023 is expected", thread.io_hint))
}

/// Error in the user and group of a thread, if any.
pub(super) fn of_run_as(thread: &Thread) -> Option<&'static str> {
    let asked = [thread.run_as.user, thread.run_as.group];
    if asked.contains(&Some(u32::MAX)) {
        return Some("run_as: 4294967295 is not a valid user or group ID; leave it out");
    }
    (asked != [None; 2] && matches!(thread.program, Program::Flow(_)))
        .then_some("run_as is for streams: flows create and remove fathom's own files")
}

/// Largest level of a class.
const MOST: u8 = 7;
/// Largest hint: there are ten bits.
const MOST_HINT: u16 = 1023;

pub(super) fn errors(stream: &Stream) -> Vec<String> {
    let mut errors = Vec::new();
    let shares = &stream.priorities;
    if shares.is_empty() {
        return errors;
    }
    if !matches!(stream.backend, Backend::Uring(_) | Backend::Aio { .. }) {
        errors.push(
            "priorities of single operations need the back-end uring or aio; otherwise set the thread's io_priority"
                .into(),
        );
    }
    for share in shares {
        if !(share.percent > 0.0 && share.percent <= 100.0) {
            errors.push(format!(
                "a priority for {} percent; above 0 and at most 100 is expected",
                share.percent
            ));
        }
        if share.level > MOST {
            errors.push(format!("a priority of level {}; 0 to 7 is expected", share.level));
        }
        if share.hint > MOST_HINT {
            errors.push(format!("a priority with the hint {}; 0 to 1023 is expected", share.hint));
        }
        let alike = shares.iter().filter(|other| (other.writes, other.bytes) == (share.writes, share.bytes));
        if alike.map(|other| other.percent).sum::<f64>() > 100.001 {
            errors.push("priorities of more than 100 percent of the same operations".into());
            break;
        }
    }
    errors
}
