//! Waits in which the scheduler kept the device idle while requests were queued: their lengths, and whether they paid off. A wait paid
//! off if a request that arrived during it ended it, not one that was queued all along.

use crate::thin::Thin;
use fathom_iopath::{Elevator as _, Queue, TaskId};
use fathom_record::Histogram;
use fathom_record::course::{Habits, IdleWait, IdleWaits};

/// Lengths buffered before they are added to a histogram.
const GATHERED: usize = 1024;
/// Tasks whose scheduler statistics are reported: a trace may have thousands.
const MOST_HABITS: usize = 64;

/// Lengths of waits.
#[derive(Debug, Default)]
struct Lengths {
    all: Histogram,
    gathered: Vec<u64>,
}

impl Lengths {
    fn add(&mut self, ns: u64) {
        self.gathered.push(ns);
        if self.gathered.len() == GATHERED {
            self.all.merge(&Histogram::from_values(self.gathered.drain(..)));
        }
    }

    fn take(mut self) -> Histogram {
        self.all.merge(&Histogram::from_values(self.gathered));
        self.all
    }
}

/// The waits so far.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Start of the current wait.
    since_ns: Option<u64>,
    /// Sector of the last request given to the device.
    sector: u64,
    paid: Lengths,
    in_vain: Lengths,
    kept: Thin<IdleWait>,
}

impl Waits {
    /// Keeps at most `most` waits for plotting.
    pub fn new(most: usize) -> Self {
        let (paid, in_vain) = (Lengths::default(), Lengths::default());
        Self { since_ns: None, sector: 0, paid, in_vain, kept: Thin::new(most) }
    }

    /// Updates whether the device is deliberately idle.
    pub fn look(&mut self, now_ns: u64, held: bool) {
        match (held, self.since_ns) {
            (true, None) => self.since_ns = Some(now_ns),
            // Given up with no request served: the waiting ones are gone.
            (false, Some(_)) => self.since_ns = None,
            _ => {}
        }
    }

    /// The device starts a request queued since `queued_ns`; `None` means before the recording, or a flush.
    pub fn is_served(&mut self, now_ns: u64, sector: Option<u64>, queued_ns: Option<u64>) {
        if let Some(at_ns) = self.since_ns.take()
            && now_ns > at_ns
        {
            let paid = queued_ns.is_some_and(|queued| queued >= at_ns);
            let wait = IdleWait { at_ns, ns: now_ns - at_ns, sector: self.sector, paid };
            if wait.paid { &mut self.paid } else { &mut self.in_vain }.add(wait.ns);
            self.kept.see(|| wait);
        }
        self.sector = sector.unwrap_or(self.sector);
    }

    pub fn take(mut self) -> IdleWaits {
        let (paid, in_vain) = (self.paid.take(), self.in_vain.take());
        IdleWaits { paid, in_vain, kept: self.kept.take(), habits: Vec::new() }
    }
}

/// The scheduler's statistics on the tasks that it may idle for; `name` gives a task's name.
pub(crate) fn habits(queue: &Queue, name: impl Fn(TaskId) -> String) -> Vec<Habits> {
    let mut all = Vec::new();
    queue.elevator().habits(&mut |task, think, seek_sectors| {
        if all.len() < MOST_HABITS {
            all.push(Habits { task: name(task), think_ns: think.0, seek_sectors });
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_pays_if_what_is_served_next_came_during_it() {
        let mut waits = Waits::new(10);
        waits.is_served(100, Some(4000), Some(90));
        waits.look(200, true);
        waits.look(250, true);
        waits.is_served(300, Some(4008), Some(260));
        waits.look(300, false);
        waits.look(400, true);
        waits.is_served(1000, Some(9000), Some(150));
        // No wait of zero length, and none left unfinished.
        waits.look(1100, true);
        waits.is_served(1100, Some(0), Some(1100));
        waits.look(1200, true);
        waits.look(1300, false);
        waits.is_served(1400, Some(0), Some(1350));
        let got = waits.take();
        assert_eq!((got.paid.count(), got.paid.sum_ns()), (1, 100));
        assert_eq!((got.in_vain.count(), got.in_vain.sum_ns()), (1, 600));
        let kept = [
            IdleWait { at_ns: 200, ns: 100, sector: 4000, paid: true },
            IdleWait { at_ns: 400, ns: 600, sector: 4008, paid: false },
        ];
        assert_eq!(got.kept.kept, kept);
    }

    #[test]
    fn all_of_many_are_counted() {
        let mut waits = Waits::new(10);
        for n in 0..3000 {
            waits.look(n * 10, true);
            waits.is_served(n * 10 + 4, None, Some(n * 10 + 1));
        }
        let got = waits.take();
        assert_eq!((got.paid.count(), got.paid.sum_ns(), got.in_vain.count()), (3000, 12_000, 0));
        assert!(got.kept.kept.len() <= 10);
    }
}
