//! Test helpers: drive a device with commands and return their completion times.

use super::{Command, Device};

pub fn read(tag: u32, sector: u64, sectors: u32) -> Command {
    Command { tag, write: false, sector, sectors, segments: 1 }
}

pub fn write(tag: u32, sector: u64, sectors: u32) -> Command {
    Command { tag, write: true, sector, sectors, segments: 1 }
}

/// Keeps `depth` commands outstanding until all are done; returns each completion time by list index, which is also the tag.
pub fn closed(device: &mut impl Device, commands: &[Command], depth: usize) -> Vec<u64> {
    let mut done_at = vec![0; commands.len()];
    let mut now = 0;
    let mut next = 0;
    let mut outstanding = 0;
    let mut done = Vec::new();
    while next < commands.len() || outstanding > 0 {
        while next < commands.len() && outstanding < depth {
            device.submit(now, Command { tag: next as u32, ..commands[next] });
            next += 1;
            outstanding += 1;
        }
        now = device.next_event().expect("commands are outstanding, so something happens");
        device.advance(now, &mut done);
        for tag in done.drain(..) {
            done_at[tag as usize] = now;
            outstanding -= 1;
        }
    }
    done_at
}

/// Submits commands at their (ascending) times; returns each completion time.
pub fn open(device: &mut impl Device, arrivals: &[(u64, Command)]) -> Vec<u64> {
    let mut done_at = vec![0; arrivals.len()];
    let mut outstanding = 0;
    let mut done = Vec::new();
    let mut next = 0;
    while next < arrivals.len() || outstanding > 0 {
        let arrival = arrivals.get(next).map(|&(at, _)| at);
        let event = device.next_event();
        let now = match (arrival, event) {
            (Some(a), Some(e)) => a.min(e),
            (Some(a), None) => a,
            (None, Some(e)) => e,
            (None, None) => panic!("commands are lost"),
        };
        device.advance(now, &mut done);
        for tag in done.drain(..) {
            done_at[tag as usize] = now;
            outstanding -= 1;
        }
        if arrival == Some(now) {
            device.submit(now, Command { tag: next as u32, ..arrivals[next].1 });
            next += 1;
            outstanding += 1;
        }
    }
    done_at
}

/// `count` numbers below `below` from a fixed sequence.
pub fn numbers(below: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut stream = crate::random::Stream::new(seed, crate::random::Entity::System);
    (0..count).map(|_| stream.below(below)).collect()
}
