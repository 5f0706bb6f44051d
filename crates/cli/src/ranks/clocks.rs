//! Clocks of the hosts: each one's offset from rank 0, and a common start time.
//!
//! A rank repeatedly asks its parent in the tree for the time and trusts the fastest answer, whose error is at most
//! half the round trip. The parent's own offset is added.

use super::comm::{Comm, PING, PONG};
use crate::observing::monotonic_ns;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Queries before a phase.
const ROUNDS: u32 = 60;
/// Time from the announcement by rank 0 until the start.
const LEAD: Duration = Duration::from_millis(20);

/// Offset of a clock from that of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Offset {
    /// Added to rank 0's time, ns.
    pub ns: i64,
    /// Maximum error.
    pub error_ns: u64,
}

/// Measures the offset; collective.
pub(super) fn measure(comm: &mut Comm) -> Option<Offset> {
    let mut mine = Offset::default();
    if let Some(parent) = comm.parent() {
        let mut best: Option<Offset> = None;
        for round in 0..ROUNDS {
            let before = monotonic_ns();
            comm.team.send(parent, PING, &[u8::from(round + 1 == ROUNDS)]);
            let answer = spin(comm, |c| c.take(PONG, Some(parent)))?;
            let after = monotonic_ns();
            let Some((theirs, of_theirs)) = read(&answer.bytes) else { continue };
            let way = after.saturating_sub(before);
            let middle = before + way / 2;
            let found = Offset {
                ns: (i128::from(middle) - i128::from(theirs)) as i64 + of_theirs.ns,
                error_ns: way.div_ceil(2).saturating_add(of_theirs.error_ns),
            };
            if best.is_none_or(|b| found.error_ns < b.error_ns) {
                best = Some(found);
            }
        }
        mine = best.unwrap_or_default();
    }
    let mut asking = comm.children();
    while !asking.is_empty() {
        let ping = spin(comm, |c| c.take(PING, None))?;
        comm.team.send(ping.from, PONG, &written(monotonic_ns(), mine));
        if ping.bytes.first() == Some(&1) {
            asking.retain(|&child| child != ping.from);
        }
    }
    Some(mine)
}

/// Agrees on a start time; collective. `mine`: this rank's offset. Returns the time on this rank's clock.
pub(super) fn agree(comm: &mut Comm, mine: Offset) -> Option<u64> {
    let named = comm.is_first().then(|| monotonic_ns() + LEAD.as_nanos() as u64);
    let named = comm.tell(named)?;
    Some(named.saturating_add_signed(mine.ns))
}

/// Like [`Comm::wait`] without sleeping: the message is already on its way.
fn spin<T>(comm: &mut Comm, mut for_what: impl FnMut(&mut Comm) -> Option<T>) -> Option<T> {
    loop {
        for _ in 0..64 {
            comm.tend();
            if let Some(found) = for_what(comm) {
                return Some(found);
            }
            std::thread::yield_now();
        }
        if comm.broken().is_some() {
            return None;
        }
    }
}

fn written(now: u64, offset: Offset) -> [u8; 24] {
    let mut bytes = [0; 24];
    let (time, rest) = bytes.split_at_mut(8);
    let (ns, error) = rest.split_at_mut(8);
    time.copy_from_slice(&now.to_le_bytes());
    ns.copy_from_slice(&offset.ns.to_le_bytes());
    error.copy_from_slice(&offset.error_ns.to_le_bytes());
    bytes
}

fn read(bytes: &[u8]) -> Option<(u64, Offset)> {
    let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok();
    let ns = i64::from_le_bytes(word(8)?);
    Some((u64::from_le_bytes(word(0)?), Offset { ns, error_ns: u64::from_le_bytes(word(16)?) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let offset = Offset { ns: -5_000_000_000, error_ns: 77 };
        assert_eq!(read(&written(u64::MAX, offset)), Some((u64::MAX, offset)));
        assert_eq!(read(&[1, 2]), None);
    }
}
