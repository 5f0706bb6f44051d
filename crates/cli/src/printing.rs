//! Output to stdout and stderr. A full pipe waits for its reader, but not after a signal asks for the end: the reader
//! may be another user's program and never continue.

use fathom_engine::interrupted_by;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use std::io::{Error, Result};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Bytes a pipe takes without blocking when poll reports it writable.
const AT_ONCE: usize = 4096;
/// Polling interval for signals, ns.
const LOOK: i64 = 100_000_000;
/// How long to wait for a reader after a signal.
const PATIENCE: Duration = Duration::from_millis(500);

/// When a signal was first noticed.
static SIGNALLED: OnceLock<Instant> = OnceLock::new();

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
            // The write reports the error.
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
