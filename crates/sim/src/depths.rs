//! Queue and device depth over time in a bounded number of intervals. When they run out, neighbours are merged in pairs and the interval
//! length doubles.

use fathom_iopath::{Elevator as _, Queue};
use fathom_record::course::{DepthCourse, DepthInterval};

/// Initial interval length, ns.
const SHORTEST_NS: u64 = 1000;

/// Depths at a point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DepthSample {
    /// Requests in the device.
    pub in_device: u32,
    /// Requests waiting above the device.
    pub waiting: u32,
    /// The device is idle because the scheduler waits for a better request than those queued.
    pub held: bool,
}

impl DepthSample {
    /// The device holds `in_device` requests; `waits` means that the queue asked to be polled later. A closed plug is not a scheduler
    /// wait.
    #[inline]
    pub fn of(queue: &Queue, in_device: u32, waits: bool) -> Self {
        let held = waits && in_device == 0 && !queue.is_plugged() && queue.elevator().waiting() > 0;
        Self { in_device, waiting: queue.waiting() as u32, held }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Depths {
    most: u64,
    since_ns: u64,
    level: DepthSample,
    course: DepthCourse,
}

impl Depths {
    /// Keeps at most `most` intervals, at least two.
    pub fn new(most: usize) -> Self {
        let course = DepthCourse { interval_ns: SHORTEST_NS, ..DepthCourse::default() };
        Self { most: most.max(2) as u64, since_ns: 0, level: DepthSample::default(), course }
    }

    /// The level changes to this one now.
    #[inline]
    pub fn look(&mut self, now_ns: u64, level: DepthSample) {
        if level != self.level {
            self.pass(now_ns);
            self.level = level;
        }
    }

    /// Ends the course at `now_ns`.
    pub fn take(mut self, now_ns: u64) -> DepthCourse {
        self.pass(now_ns);
        self.course.end_ns = now_ns;
        self.course
    }

    /// The current level held until `until_ns`.
    fn pass(&mut self, until_ns: u64) {
        while until_ns.div_ceil(self.course.interval_ns) > self.most {
            self.halve();
        }
        let DepthSample { in_device, waiting, held } = self.level;
        let DepthCourse { interval_ns, intervals, .. } = &mut self.course;
        while self.since_ns < until_ns {
            let number = self.since_ns / *interval_ns;
            let end = until_ns.min((number + 1) * *interval_ns);
            let ns = end - self.since_ns;
            if intervals.len() as u64 <= number {
                intervals.resize(number as usize + 1, DepthInterval::default());
            }
            let into = &mut intervals[number as usize];
            into.busy_ns += if in_device > 0 { ns } else { 0 };
            into.held_ns += if held { ns } else { 0 };
            into.in_device_ns = into.in_device_ns.saturating_add(ns.saturating_mul(in_device.into()));
            into.waiting_ns = into.waiting_ns.saturating_add(ns.saturating_mul(waiting.into()));
            self.since_ns = end;
        }
    }

    fn halve(&mut self) {
        let DepthCourse { interval_ns, intervals, .. } = &mut self.course;
        for number in 0..intervals.len().div_ceil(2) {
            let (mut sum, next) = (intervals[2 * number], intervals.get(2 * number + 1).copied());
            let next = next.unwrap_or_default();
            sum.busy_ns += next.busy_ns;
            sum.held_ns += next.held_ns;
            sum.in_device_ns = sum.in_device_ns.saturating_add(next.in_device_ns);
            sum.waiting_ns = sum.waiting_ns.saturating_add(next.waiting_ns);
            intervals[number] = sum;
        }
        intervals.truncate(intervals.len().div_ceil(2));
        *interval_ns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any level that the simulator can produce: nothing is held while the device is busy.
    fn level() -> impl Strategy<Value = DepthSample> {
        (0u32..5, 0u32..200, any::<bool>()).prop_map(|(in_device, waiting, held)| DepthSample {
            in_device,
            waiting,
            held: held && in_device == 0,
        })
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_whole_whatever_the_intervals_are(
            most in 2usize..40,
            steps in prop::collection::vec((0u64..3_000_000, level()), 0..60),
            rest in 0u64..100_000_000,
        ) {
            let mut depths = Depths::new(most);
            let (mut now, mut level) = (0, DepthSample::default());
            let (mut busy, mut held, mut inside, mut above) = (0, 0, 0, 0);
            for (ns, next) in steps.iter().copied().chain([(rest, DepthSample::default())]) {
                busy += if level.in_device > 0 { ns } else { 0 };
                held += if level.held { ns } else { 0 };
                inside += ns * u64::from(level.in_device);
                above += ns * u64::from(level.waiting);
                now += ns;
                level = next;
                depths.look(now, level);
            }
            let got = depths.take(now);
            let sum = |of: fn(&DepthInterval) -> u64| got.intervals.iter().map(of).sum::<u64>();
            prop_assert_eq!(sum(|i| i.busy_ns), busy);
            prop_assert_eq!(sum(|i| i.held_ns), held);
            prop_assert_eq!(sum(|i| i.in_device_ns), inside);
            prop_assert_eq!(sum(|i| i.waiting_ns), above);
            prop_assert_eq!(got.end_ns, now);
            prop_assert_eq!(got.intervals.len() as u64, now.div_ceil(got.interval_ns));
            prop_assert!(got.intervals.len() <= most);
            // Not coarser than necessary.
            prop_assert!(got.interval_ns == SHORTEST_NS || now.div_ceil(got.interval_ns / 2) > most as u64);
            prop_assert!(got.intervals.iter().all(|i| i.busy_ns + i.held_ns <= got.interval_ns));
        }
    }
}
