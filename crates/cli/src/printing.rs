//! Bytes for stdout and stderr. A pipe that is full waits for its reader, as it should, but not against a signal that asks for the end: whoever
//! reads it may be another user, and never go on.

use fathom_engine::interrupted_by;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use std::io::{Error, Result};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What a pipe takes without waiting when it says that it takes something.
const AT_ONCE: usize = 4096;
/// How often is looked whether a signal came, ns.
const LOOK: i64 = 100_000_000;
/// How long after a signal a reader is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// When it was first seen that a signal came.
static SIGNALLED: OnceLock<Instant> = OnceLock::new();

/// Writes all of it.
pub fn write(to: impl AsFd, mut bytes: &[u8]) -> Result<()> {
    let to = to.as_fd();
    while !bytes.is_empty() {
        wait_for_room(to)?;
        match rustix::io::write(to, &bytes[..bytes.len().min(AT_ONCE)]) {
            Ok(length) => bytes = &bytes[length..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

fn wait_for_room(to: BorrowedFd<'_>) -> Result<()> {
    loop {
        let mut asked = [PollFd::from_borrowed_fd(to, PollFlags::OUT)];
        let least = Timespec { tv_sec: 0, tv_nsec: LOOK };
        match poll(&mut asked, Some(&least)) {
            Ok(0) | Err(Errno::INTR) => {}
            // An error is told by the write.
            _ => return Ok(()),
        }
        if interrupted_by().is_some() && SIGNALLED.get_or_init(Instant::now).elapsed() > PATIENCE {
            return Err(Error::other("a signal came before its reader had read it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_reader_that_is_slow_gets_all_of_it() {
        let (mut reads, writes) = std::io::pipe().expect("a pipe");
        let text: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
        let expected = text.clone();
        let writer = std::thread::spawn(move || write(&writes, &text));
        let mut read = Vec::new();
        let _ = reads.read_to_end(&mut read).expect("read");
        writer.join().expect("no panic").expect("all of it");
        assert!(read == expected);
    }
}
