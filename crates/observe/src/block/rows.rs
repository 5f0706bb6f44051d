//! iostat-style rows without root: a separate thread reads the devices' counters ten times a second. They include every program's I/O,
//! and times in whole milliseconds.
//!
//! A reading costs about 15 us per device, which is 0.015 % of one CPU's time at ten readings per second; nothing is allocated.

use super::reader::thread_cpu_ns;
use crate::files::{KernelFiles, Live};
use fathom_record::block::event::SECTOR_BYTES;
use fathom_record::block::{BlockInterval, DeviceNumber, TimeSource};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between readings.
pub const PERIOD: Duration = Duration::from_millis(100);
/// Above this number of rows per device, pairs are joined and the period is doubled.
const MOST_ROWS: usize = 4096;

/// The finished rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedRows {
    /// By device, in time order.
    pub rows: Vec<BlockInterval>,
    /// CPU time spent reading them, ns.
    pub observer_cpu_ns: u64,
}

/// Rows being recorded.
#[derive(Debug)]
pub struct CounterRows {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<CountedRows>>,
    /// Sentences on devices whose counters cannot be read.
    notes: Vec<String>,
}

impl CounterRows {
    /// Starts recording. A row's device is its index in `devices`; time counts from now.
    pub fn start(devices: &[DeviceNumber], period: Duration) -> std::io::Result<Self> {
        let mut notes = Vec::new();
        let mut counted = Vec::new();
        for (i, number) in devices.iter().enumerate() {
            let path = stat_path(*number);
            match File::open(&path) {
                Ok(file) => counted.push((i as u32, file)),
                Err(e) => notes
                    .push(format!("the counters of device {number} cannot be read: {}: {e}", path.display())),
            }
        }
        let (stop, stopped) = mpsc::channel();
        let mut sampler = RowSampler::new(counted, period);
        let thread = std::thread::Builder::new().name("block-counters".into()).spawn(move || {
            loop {
                match stopped.recv_timeout(sampler.until_next()) {
                    Err(RecvTimeoutError::Timeout) => sampler.sample(),
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                        let rows = sampler.end();
                        return CountedRows { rows, observer_cpu_ns: thread_cpu_ns() };
                    }
                }
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread), notes })
    }

    /// Sentences on what is unavailable.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Stops; the last row is shorter.
    #[must_use]
    pub fn stop(mut self) -> CountedRows {
        drop(self.stop.take());
        self.thread.take().and_then(|t| t.join().ok()).unwrap_or_default()
    }
}

impl Drop for CounterRows {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn stat_path(number: DeviceNumber) -> PathBuf {
    crate::device::sys_of(&Live, (number.major, number.minor)).join("stat")
}

/// A device's current counters; `None` where they cannot be read.
#[must_use]
pub fn reading(number: DeviceNumber) -> Option<Counted> {
    Counted::parse(&Live.read(&stat_path(number)).ok()?)
}

struct RowSampler {
    devices: Vec<(u32, File)>,
    last: Vec<Option<(u64, Counted)>>,
    rows: Vec<BlockInterval>,
    began: Instant,
    period: Duration,
    next: Duration,
}

impl RowSampler {
    fn new(devices: Vec<(u32, File)>, period: Duration) -> Self {
        let began = Instant::now();
        let period = period.max(Duration::from_millis(1));
        let last = devices.iter().map(|(_, file)| Some((0, read(file)?))).collect();
        Self { devices, last, rows: Vec::new(), began, period, next: period }
    }

    fn until_next(&self) -> Duration {
        self.next.saturating_sub(self.began.elapsed())
    }

    fn sample(&mut self) {
        self.take();
        // A late reading makes one long row rather than several empty ones.
        while self.next <= self.began.elapsed() {
            self.next += self.period;
        }
        if self.rows.len() > MOST_ROWS * self.devices.len() {
            self.rows = joined(&self.rows);
            self.period *= 2;
        }
    }

    fn take(&mut self) {
        for ((device, file), last) in self.devices.iter().zip(&mut self.last) {
            let now_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let now = read(file).map(|counted| (now_ns, counted));
            if let (Some((then_ns, before)), Some((_, after))) = (*last, now) {
                self.rows.push(before.row(&after, *device, then_ns, now_ns));
            }
            *last = now.or(*last);
        }
    }

    fn end(mut self) -> Vec<BlockInterval> {
        self.take();
        self.rows.sort_by_key(|r| (r.device, r.end_ns));
        self.rows
    }
}

fn read(file: &File) -> Option<Counted> {
    let mut text = [0; 512];
    let length = file.read_at(&mut text, 0).ok()?;
    Counted::parse(std::str::from_utf8(&text[..length]).ok()?)
}

/// Joins every two rows of a device into one.
fn joined(rows: &[BlockInterval]) -> Vec<BlockInterval> {
    let mut out: Vec<BlockInterval> = Vec::with_capacity(rows.len() / 2 + 1);
    let mut open: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    for row in rows {
        match open.remove(&row.device) {
            Some(at) => join(&mut out[at], row),
            None => {
                open.insert(row.device, out.len());
                out.push(*row);
            }
        }
    }
    out
}

fn join(into: &mut BlockInterval, row: &BlockInterval) {
    into.end_ns = row.end_ns;
    let sums: [(&mut u64, u64); 13] = [
        (&mut into.width_ns, row.width_ns),
        (&mut into.reads, row.reads),
        (&mut into.read_bytes, row.read_bytes),
        (&mut into.read_merges, row.read_merges),
        (&mut into.read_ns, row.read_ns),
        (&mut into.writes, row.writes),
        (&mut into.write_bytes, row.write_bytes),
        (&mut into.write_merges, row.write_merges),
        (&mut into.write_ns, row.write_ns),
        (&mut into.discards, row.discards),
        (&mut into.flushes, row.flushes),
        (&mut into.busy_ns, row.busy_ns),
        (&mut into.depth_ns, row.depth_ns),
    ];
    for (sum, n) in sums {
        *sum = sum.saturating_add(n);
    }
}

/// A parsed sysfs `stat` file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted([u64; 17]);

impl Counted {
    /// Eleven fields since Linux 2.6, discards since 4.18, flushes since 5.5; missing ones are 0.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = [0; 17];
        let mut count = 0;
        for (field, word) in fields.iter_mut().zip(text.split_ascii_whitespace()) {
            *field = word.parse().ok()?;
            count += 1;
        }
        (count >= 11).then_some(Self(fields))
    }

    /// The difference to a later reading. Times are relative to the start.
    #[must_use]
    pub fn row(&self, later: &Self, device: u32, from_ns: u64, to_ns: u64) -> BlockInterval {
        let step = |i: usize| crate::counters::advance(self.0[i], later.0[i]);
        let ms = |i: usize| step(i).saturating_mul(1_000_000);
        let bytes = |i: usize| step(i).saturating_mul(SECTOR_BYTES);
        BlockInterval {
            device,
            source: TimeSource::Counters,
            end_ns: to_ns,
            width_ns: to_ns.saturating_sub(from_ns),
            reads: step(0),
            read_merges: step(1),
            read_bytes: bytes(2),
            read_ns: ms(3),
            writes: step(4),
            write_merges: step(5),
            write_bytes: bytes(6),
            write_ns: ms(7),
            busy_ns: ms(9),
            depth_ns: ms(10),
            discards: step(11),
            flushes: step(15),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_difference_of_two_readings() {
        let before = Counted::parse("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n").expect("all fields");
        let after =
            Counted::parse("11 22 35 104 6 6 15 18 0 110 1011 13 13 14 15 19 17\n").expect("all fields");
        let wanted = BlockInterval {
            device: 3,
            source: TimeSource::Counters,
            end_ns: 900,
            width_ns: 800,
            reads: 10,
            read_bytes: 32 * 512,
            read_merges: 20,
            read_ns: 100_000_000,
            writes: 1,
            write_bytes: 8 * 512,
            write_merges: 0,
            write_ns: 10_000_000,
            discards: 1,
            flushes: 3,
            busy_ns: 100_000_000,
            depth_ns: 1_000_000_000,
        };
        assert_eq!(before.row(&after, 3, 100, 900), wanted);
    }

    #[test]
    fn old_kernels_have_fewer_fields() {
        assert_eq!(Counted::parse("1 2 3 4 5 6 7 8 9 10 11").map(|c| (c.0[10], c.0[15])), Some((11, 0)));
        assert_eq!(Counted::parse("1 2 3"), None);
        assert_eq!(Counted::parse("1 2 3 4 5 6 7 8 9 10 x"), None);
    }

    #[test]
    fn joining_rows_keeps_sums_and_ends() {
        let row = |device, end_ns, reads| BlockInterval {
            device,
            end_ns,
            width_ns: 10,
            reads,
            ..BlockInterval::default()
        };
        let rows = [row(0, 10, 1), row(1, 10, 5), row(0, 20, 2), row(1, 20, 6), row(0, 30, 4)];
        let found =
            joined(&rows).iter().map(|r| (r.device, r.end_ns, r.width_ns, r.reads)).collect::<Vec<_>>();
        assert_eq!(found, [(0, 20, 20, 3), (1, 20, 20, 11), (0, 30, 10, 4)]);
    }

    #[test]
    fn rows_cover_the_time_without_gaps() {
        let numbers: Vec<DeviceNumber> = Live
            .list(std::path::Path::new("/sys/dev/block"))
            .unwrap_or_default()
            .iter()
            .filter_map(|n| DeviceNumber::parse(n))
            .take(2)
            .collect();
        let began = Instant::now();
        let rows = CounterRows::start(&numbers, Duration::from_millis(5)).expect("a thread");
        std::thread::sleep(Duration::from_millis(40));
        let CountedRows { rows, observer_cpu_ns } = rows.stop();
        assert!(observer_cpu_ns > 0);
        let took = began.elapsed().as_nanos() as u64;
        for device in 0..numbers.len() as u32 {
            let own: Vec<_> = rows.iter().filter(|r| r.device == device).collect();
            assert!(!own.is_empty() && own[0].end_ns == own[0].width_ns, "it begins at 0");
            assert!(own.windows(2).all(|w| w[0].end_ns == w[1].end_ns - w[1].width_ns), "{own:?}");
            assert!((40_000_000..=took).contains(&own[own.len() - 1].end_ns));
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_said() {
        let rows = CounterRows::start(&[DeviceNumber { major: 4095, minor: 1 }], PERIOD).expect("a thread");
        assert!(rows.notes()[0].contains("4095,1"), "{:?}", rows.notes());
        assert_eq!(rows.stop().rows, []);
        assert_eq!(reading(DeviceNumber { major: 4095, minor: 1 }), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s).{0,100}|([0-9]{1,20} ){0,20}", other in "([0-9]{1,20} ){11,17}") {
            if let (Some(a), Some(b)) = (Counted::parse(&text), Counted::parse(&other)) {
                let _ = a.row(&b, 0, 7, 3);
            }
        }
    }
}
