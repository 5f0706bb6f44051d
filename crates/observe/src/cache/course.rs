//! Samples the amount of dirty data about ten times a second during a phase. There is no sampling thread: the thread that waits for the
//! workers calls [`Sampler::look`] each time it wakes anyway (every 50 ms), and most calls only read the clock (30 ns).
//!
//! A sample reads /proc/meminfo, 15 us on a small virtual machine, and one more small file for the device's own share: its bdi statistics
//! where debugfs is mounted and readable (root), else those of the control group that fathom runs in. That file is dropped when reading
//! it takes longer than a millisecond. The cost is summed up and stored with the series. A phase shorter than a period has no series.

use crate::counters::meminfo_kib;
use crate::device::DeviceStack;
use crate::device::mount;
use crate::files::{KernelFiles, Live};
use fathom_record::{CacheCourse, CacheSample};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Slightly less than a tenth of a second: the caller wakes every 50 ms, never early, and every second wake-up must take a sample.
const PERIOD: Duration = Duration::from_millis(95);
/// Above this number every second sample is dropped and the period doubles.
const MOST: usize = 2048;
/// A source that takes longer is not read again.
const DEAR: Duration = Duration::from_millis(1);

/// Takes the samples of one phase.
#[derive(Debug)]
pub struct Sampler {
    own: Option<Own>,
    started: Instant,
    last: Instant,
    period: Duration,
    periodic: usize,
    course: CacheCourse,
}

impl Sampler {
    /// A sampler for a phase on these devices. Sampling begins with [`start`](Self::start).
    #[must_use]
    pub fn new(stack: &DeviceStack) -> Self {
        let now = Instant::now();
        let own = Own::find(&Live, stack);
        Self { own, started: now, last: now, period: PERIOD, periodic: 0, course: CacheCourse::default() }
    }

    /// (Re)starts the series and discards earlier samples.
    pub fn start(&mut self) {
        self.course = CacheCourse::default();
        self.periodic = 0;
        self.started = Instant::now();
        self.sample(self.started);
    }

    /// Takes a sample if the period has passed.
    pub fn look(&mut self) {
        let now = Instant::now();
        if now.duration_since(self.last) >= self.period && !self.course.samples.is_empty() {
            self.periodic += 1;
            self.sample(now);
            if self.course.samples.len() >= MOST {
                thin(&mut self.course.samples);
                self.period *= 2;
            }
        }
    }

    /// Takes the last sample and returns the series if it is long enough.
    #[must_use]
    pub fn finish(mut self) -> Option<CacheCourse> {
        if self.periodic == 0 {
            return None;
        }
        self.sample(Instant::now());
        self.course.own = self.own.map(|o| o.name).unwrap_or_default();
        Some(self.course)
    }

    fn sample(&mut self, now: Instant) {
        self.last = now;
        let Some(mut sample) = Live.read(Path::new("/proc/meminfo")).ok().and_then(|t| of_machine(&t)) else {
            return;
        };
        let before_own = Instant::now();
        if let Some(text) = self.own.as_ref().and_then(|o| Some((o, Live.read(&o.file).ok()?))) {
            (sample.own_dirty_bytes, sample.own_writeback_bytes) = text.0.figures(&text.1);
        }
        let done = Instant::now();
        if done.duration_since(before_own) > DEAR {
            self.own = None;
        }
        sample.at_ns = nanos(now.duration_since(self.started));
        self.course.cost_ns = self.course.cost_ns.saturating_add(nanos(done.duration_since(now)));
        self.course.samples.push(sample);
    }
}

fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

/// Every other sample, beginning with the first.
fn thin(samples: &mut Vec<CacheSample>) {
    let mut keep = false;
    samples.retain(|_| {
        keep = !keep;
        keep
    });
}

fn of_machine(meminfo: &str) -> Option<CacheSample> {
    let bytes = |name| meminfo_kib(meminfo, name).map(|kib| kib.saturating_mul(1024));
    Some(CacheSample {
        dirty_bytes: bytes("Dirty")?,
        writeback_bytes: bytes("Writeback")?,
        cached_bytes: bytes("Cached").unwrap_or(0),
        ..CacheSample::default()
    })
}

/// A source narrower than the whole machine.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Own {
    name: String,
    file: PathBuf,
    /// Names of the two figures, and their unit in bytes.
    dirty: &'static str,
    writeback: &'static str,
    unit_bytes: u64,
}

impl Own {
    fn find(files: &dyn KernelFiles, stack: &DeviceStack) -> Option<Self> {
        Self::of_device(files, stack).or_else(|| Self::of_control_group(files))
    }

    /// Debugfs is used if mounted, never mounted for this.
    fn of_device(files: &dyn KernelFiles, stack: &DeviceStack) -> Option<Self> {
        let number = match stack.mount.as_ref()?.device {
            // A file system that hides its devices (btrfs) has a separate bdi under its anonymous number.
            (0, minor) => (0, minor),
            _ => stack.tops().next()?.number,
        };
        let name = format!("{}:{}", number.0, number.1);
        let file = PathBuf::from(format!("/sys/kernel/debug/bdi/{name}/stats"));
        let own = Self {
            name: format!("bdi {name}"),
            file,
            dirty: "BdiReclaimable:",
            writeback: "BdiWriteback:",
            unit_bytes: 1024,
        };
        own.works(files)
    }

    fn of_control_group(files: &dyn KernelFiles) -> Option<Self> {
        let groups = files.read(Path::new("/proc/self/cgroup")).ok()?;
        let mounts = mount::parse(&files.read(Path::new("/proc/self/mountinfo")).ok()?);
        groups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            // The root group is the whole machine, which is sampled anyway.
            if path == "/" {
                return None;
            }
            let (kind, dirty, writeback) = match controllers {
                "" => ("cgroup2", "file_dirty", "file_writeback"),
                c if c.split(',').any(|c| c == "memory") => ("cgroup", "dirty", "writeback"),
                _ => return None,
            };
            let mount =
                mounts.iter().find(|m| m.kind == kind && (kind == "cgroup2" || m.has_option("memory")))?;
            let file = Path::new(&mount.mount_point).join(path.trim_start_matches('/')).join("memory.stat");
            Self { name: format!("cgroup {path}"), file, dirty, writeback, unit_bytes: 1 }.works(files)
        })
    }

    /// Returns itself if its file is readable and has the figures.
    fn works(self, files: &dyn KernelFiles) -> Option<Self> {
        let text = files.read(&self.file).ok()?;
        (self.figures(&text).0.is_some()).then_some(self)
    }

    fn figures(&self, text: &str) -> (Option<u64>, Option<u64>) {
        let figure = |name: &str| {
            let mut words = text.lines().map(str::split_ascii_whitespace);
            let value: u64 =
                words.find_map(|mut w| (w.next()? == name).then(|| w.next()?.parse().ok())?)?;
            Some(value.saturating_mul(self.unit_bytes))
        };
        (figure(self.dirty), figure(self.writeback))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::stack_with;
    use crate::fake::Fake;

    const MOUNTS: &str =
        "27 1 8:0 / / rw - ext4 /dev/sda rw\n30 27 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    fn machine() -> Fake {
        Fake::new().disk("ata1", "sda", (8, 0)).file("/proc/self/mountinfo", MOUNTS).on_mount("/", 27, (8, 0))
    }

    #[test]
    fn the_devices_own_figures_come_before_those_of_the_control_group() {
        let grouped = machine().file("/proc/self/cgroup", "0::/user.slice/run-1.scope\n").file(
            "/sys/fs/cgroup/user.slice/run-1.scope/memory.stat",
            "anon 5\nfile_dirty 4096\nfile_writeback 512\n",
        );
        let stack = stack_with(&grouped, Path::new("/x"));
        let own = Own::find(&grouped, &stack).expect("a group");
        assert_eq!(own.name, "cgroup /user.slice/run-1.scope");
        let text = grouped.read(&own.file).expect("reads");
        assert_eq!(own.figures(&text), (Some(4096), Some(512)));

        let debug = grouped.file(
            "/sys/kernel/debug/bdi/8:0/stats",
            "BdiWriteback:                3 kB\nBdiReclaimable:              8 kB\nBdiDirtyThresh:        1000 kB\n",
        );
        let own = Own::find(&debug, &stack).expect("a bdi");
        assert_eq!(own.name, "bdi 8:0");
        assert_eq!(own.figures(&debug.read(&own.file).expect("reads")), (Some(8192), Some(3072)));
    }

    #[test]
    fn the_root_group_and_groups_without_counters_have_no_figures() {
        let of = |groups: &str| {
            let fake =
                machine().file("/proc/self/cgroup", groups).file("/sys/fs/cgroup/g/memory.stat", "anon 5\n");
            let stack = stack_with(&fake, Path::new("/x"));
            Own::find(&fake, &stack)
        };
        assert_eq!(of("0::/\n"), None);
        assert_eq!(of("0::/g\n"), None);
        assert_eq!(of("garbage\n"), None);
    }

    #[test]
    fn a_machine_has_three_figures() {
        let sample =
            of_machine("MemTotal: 9 kB\nCached: 7 kB\nDirty: 2 kB\nWriteback: 1 kB\n").expect("reported");
        assert_eq!((sample.dirty_bytes, sample.writeback_bytes, sample.cached_bytes), (2048, 1024, 7168));
        assert_eq!(of_machine("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn a_phase_shorter_than_a_period_has_no_series_and_a_longer_one_has() {
        let stack = DeviceStack::default();
        let mut short = Sampler::new(&stack);
        short.start();
        short.look();
        assert_eq!(short.finish(), None);
        let mut long = Sampler::new(&stack);
        long.look();
        assert!(long.course.samples.is_empty(), "nothing before the start");
        long.start();
        // Lets time pass without sleeping.
        long.last = long.last.checked_sub(Duration::from_secs(1)).expect("a clock that has run for a second");
        long.look();
        long.look();
        let course = long.finish().expect("a series");
        assert_eq!(course.samples.len(), 3, "start, one look, end: {course:?}");
        assert!(course.cost_ns > 0);
        assert!(course.samples.windows(2).all(|w| w[0].at_ns <= w[1].at_ns));
    }

    #[test]
    fn long_series_are_thinned() {
        let mut samples: Vec<CacheSample> =
            (0..5).map(|n| CacheSample { at_ns: n, ..CacheSample::default() }).collect();
        thin(&mut samples);
        assert_eq!(samples.iter().map(|s| s.at_ns).collect::<Vec<_>>(), [0, 2, 4]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in "(?s).{0,200}|(BdiReclaimable:|Dirty:) +[0-9]{1,20} kB\n") {
            let own = Own {
                name: String::new(), file: PathBuf::new(), dirty: "BdiReclaimable:", writeback: "x", unit_bytes: 1024,
            };
            let _ = (own.figures(&text), of_machine(&text));
        }
    }
}
