//! Waits of an idle device that the scheduler ordered while requests waited: how long they were, and whether they paid. What ended a wait
//! tells: a request that had come meanwhile, or one that had been there all the time.

use crate::thin::Thin;
use fathom_iopath::{Elevator as _, Queue, TaskId};
use fathom_record::Histogram;
use fathom_record::inside::{Habits, IdleWait, IdleWaits};

/// Lengths that are gathered before they become part of a histogram.
const GATHERED: usize = 1024;
/// Tasks of which it is told what the scheduler keeps of them: a trace may have thousands.
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
    /// When the present one began.
    since_ns: Option<u64>,
    /// Where the device was given its last request.
    sector: u64,
    paid: Lengths,
    in_vain: Lengths,
    kept: Thin<IdleWait>,
}

impl Waits {
    /// At most so many to be drawn.
    pub fn new(most: usize) -> Self {
        let (paid, in_vain) = (Lengths::default(), Lengths::default());
        Self { since_ns: None, sector: 0, paid, in_vain, kept: Thin::new(most) }
    }

    /// Whether the device is kept idle from this moment on.
    pub fn look(&mut self, now_ns: u64, held: bool) {
        match (held, self.since_ns) {
            (true, None) => self.since_ns = Some(now_ns),
            // Given up without anything being served: those that waited are gone.
            (false, Some(_)) => self.since_ns = None,
            _ => {}
        }
    }

    /// The device is given a request that has waited since `queued_ns`; `None` is before all of this, or a flush.
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

    /// All of them.
    pub fn take(mut self) -> IdleWaits {
        let (paid, in_vain) = (self.paid.take(), self.in_vain.take());
        IdleWaits { paid, in_vain, kept: self.kept.take(), habits: Vec::new() }
    }
}

/// What the scheduler keeps of those for whom it may wait; `name` says who a task is.
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
        // None of no length, and none that nothing ended.
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
