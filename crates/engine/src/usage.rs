//! CPU usage and kernel counters of a thread.

use fathom_record::ThreadCounts;

/// Usage of the calling thread so far, or between two points in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// CPU time in user mode, ns.
    pub user_ns: u64,
    /// CPU time in the kernel, ns.
    pub system_ns: u64,
    pub counts: ThreadCounts,
}

impl Usage {
    /// Usage of the calling thread until now. The sum of its CPU times is exact; the kernel splits it by sampling at its ticks,
    /// so for less than some ten milliseconds the split means little.
    pub fn now() -> Self {
        // SAFETY: getrusage fills the struct it is given.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        let total = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let total = total.tv_sec as u64 * 1_000_000_000 + total.tv_nsec as u64;
        let user = usage.ru_utime.tv_sec as u64 * 1_000_000_000 + usage.ru_utime.tv_usec as u64 * 1_000;
        let user_ns = user.min(total);
        let counts = ThreadCounts {
            switches: usage.ru_nvcsw as u64 + usage.ru_nivcsw as u64,
            major_faults: usage.ru_majflt as u64,
            minor_faults: usage.ru_minflt as u64,
            processor_wait_ns: None,
        };
        Self { user_ns, system_ns: total - user_ns, counts }
    }

    /// The usage since an earlier point in time.
    pub fn since(self, before: Self) -> Self {
        let (now, then) = (self.counts, before.counts);
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            counts: ThreadCounts {
                switches: now.switches.saturating_sub(then.switches),
                major_faults: now.major_faults.saturating_sub(then.major_faults),
                minor_faults: now.minor_faults.saturating_sub(then.minor_faults),
                processor_wait_ns: None,
            },
        }
    }

    /// Limits the CPU time to the clock's time. Reading the counters takes time itself, slightly after the clock was read: a
    /// stream of microseconds would appear to use several times its duration.
    pub fn within(mut self, clocked_ns: u64) -> Self {
        let sum = self.user_ns.saturating_add(self.system_ns);
        if sum > clocked_ns {
            self.user_ns = (u128::from(self.user_ns) * u128::from(clocked_ns) / u128::from(sum)) as u64;
            self.system_ns = clocked_ns - self.user_ns;
        }
        self
    }
}

/// How long a thread was ready to run but had no CPU, between two points in time. Reading it takes microseconds, which must be
/// outside of the clock; therefore it is not part of [`Usage`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessorWait {
    before: Option<u64>,
    /// The time, ns; `None` until it is known, and on kernels that do not report it.
    pub ns: Option<u64>,
}

impl ProcessorWait {
    /// Starts measuring the calling thread.
    pub fn begin() -> Self {
        Self { before: until_now(), ns: None }
    }

    /// Stops measuring.
    pub fn end(&mut self) {
        self.ns = self.before.zip(until_now()).map(|(before, now)| now.saturating_sub(before));
    }
}

/// Time of the calling thread since it began: the second figure of its schedstat. Includes throttling by a control group's quota.
fn until_now() -> Option<u64> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(c"/proc/thread-self/schedstat", flags, Mode::empty()).ok()?;
    let mut text = [0; 64];
    let length = rustix::io::read(file, &mut text).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    // "0 0 0" means that the kernel does not count: a thread that reads this has run at least once.
    let mut figures = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (_, waited, turns) = (figures.next()?.ok()?, figures.next()?.ok()?, figures.next()?.ok()?);
    (turns > 0).then_some(waited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_does_not_exceed_wall_time() {
        let within = |(user_ns, system_ns): (u64, u64), clocked_ns: u64| {
            let used = Usage { user_ns, system_ns, ..Usage::default() }.within(clocked_ns);
            (used.user_ns, used.system_ns)
        };
        assert_eq!(within((3, 4), 7), (3, 4));
        assert_eq!(within((30, 10), 20), (15, 5));
        assert_eq!(within((0, 10), 4), (0, 4));
        assert_eq!(within((5, 5), 0), (0, 0));
        assert_eq!(within((u64::MAX / 2, u64::MAX / 2), 100), (50, 50));
    }

    #[test]
    fn sleeping_switches_context_and_new_memory_faults() {
        let before = Usage::now();
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut memory = vec![0u8; 64 << 20];
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        let used = Usage::now().since(before);
        assert!(std::hint::black_box(&memory)[4096] == 1);
        // Huge pages have a fault for every 2 MiB.
        assert!(used.counts.switches >= 3 && used.counts.minor_faults >= 32, "{used:?}");
    }

    #[test]
    fn two_threads_on_one_processor_wait_for_it() {
        let allowed = rustix::thread::sched_getaffinity(None).expect("reported");
        let first = (0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).expect("one");
        let waits = || {
            let mut one = rustix::thread::CpuSet::new();
            one.set(first);
            rustix::thread::sched_setaffinity(None, &one).expect("bound");
            let mut wait = ProcessorWait::begin();
            // Each continues until the other one had its turn.
            wait.end();
            while wait.ns == Some(0) {
                wait.end();
            }
            wait.ns
        };
        std::thread::scope(|scope| {
            let both = [scope.spawn(waits), scope.spawn(waits)];
            let both = both.map(|thread| thread.join().expect("ended"));
            assert!(both.iter().all(|ns| until_now().is_none() || ns.is_some_and(|ns| ns > 0)), "{both:?}");
        });
    }
}
