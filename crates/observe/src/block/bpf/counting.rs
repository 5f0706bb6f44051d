//! One phase's counting: the programs count, a thread reads their sums ten times a second for the rows, and looks at tasks it has
//! not met before.

use super::super::reader::{monotonic_ns, thread_cpu_ns};
use super::issuers::Issuers;
use super::layer;
use super::{CLASSES, Programs};
use crate::block::WatchError;
use crate::words::count;
use fathom_record::BlockLayer;
use fathom_record::block::BlockInterval;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Rows are of this length; of a long watch several are joined.
const PERIOD: Duration = Duration::from_millis(100);
/// As many rows as a device has at most.
const MOST_ROWS: usize = 4096;
/// A program that was entered before counting ended gets this long to end.
const SETTLE: Duration = Duration::from_millis(1);

/// Counting that goes on. Dropped without [`Counting::stop`] it ends, too, and what was counted is lost.
#[derive(Debug)]
pub struct Counting {
    words: Option<Sender<Restart>>,
    thread: Option<JoinHandle<Result<(BlockLayer, Programs), WatchError>>>,
}

/// What came before was warm-up; the answer says that counting began anew.
struct Restart(SyncSender<()>);

impl Counting {
    /// Begins to count, at 0.
    pub fn start(programs: Programs) -> Result<Self, WatchError> {
        let mut run = Run::new(programs)?;
        run.begin()?;
        let (words, heard) = mpsc::channel();
        let thread = std::thread::Builder::new().name("block-counts".into()).spawn(move || run.go(&heard));
        let thread = thread.map_err(|e| WatchError::Thread(format!("could not be started: {e}")))?;
        Ok(Self { words: Some(words), thread: Some(thread) })
    }

    /// Begins anew: what came before was warm-up. What is in flight is known still.
    pub fn restart(&self) {
        let (done, wait) = mpsc::sync_channel(1);
        if self.words.as_ref().is_some_and(|words| words.send(Restart(done)).is_ok()) {
            let _ = wait.recv();
        }
    }

    /// Ends it, and gives the programs back for the next one.
    pub fn stop(mut self) -> Result<(BlockLayer, Programs), WatchError> {
        drop(self.words.take());
        let thread = self.thread.take().ok_or_else(|| WatchError::Thread("was never started".into()))?;
        thread.join().unwrap_or_else(|_| Err(WatchError::Thread("failed".into())))
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        drop(self.words.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Run {
    programs: Programs,
    issuers: Issuers,
    known_since: u32,
    from_ns: u64,
    missed_before: u64,
    /// By device.
    sums: Vec<Vec<BlockInterval>>,
    period: Duration,
}

impl Run {
    fn new(programs: Programs) -> Result<Self, WatchError> {
        let numbers = programs.devices.iter().map(|d| d.number).collect();
        let sums = vec![Vec::new(); programs.devices.len()];
        Ok(Self {
            missed_before: programs.missed(),
            programs,
            issuers: Issuers::new(numbers),
            known_since: 0,
            from_ns: 0,
            sums,
            period: PERIOD,
        })
    }

    /// Begins the first watch, with both halves empty.
    fn begin(&mut self) -> Result<(), WatchError> {
        let Programs { maps, watch, devices, .. } = &mut self.programs;
        *watch += 1;
        self.known_since = *watch;
        self.from_ns = monotonic_ns();
        (0..devices.len()).try_for_each(|device| maps.begin(device, self.from_ns))?;
        maps.set(*watch, self.from_ns, self.known_since)
    }

    /// Begins the next, in the other half.
    fn restart(&mut self) -> Result<(), WatchError> {
        let Programs { maps, watch, .. } = &mut self.programs;
        maps.clear(*watch + 1)?;
        *watch += 1;
        self.from_ns = monotonic_ns();
        maps.set(*watch, self.from_ns, self.known_since)?;
        self.missed_before = self.programs.missed();
        self.issuers.restart();
        self.sums.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    fn go(mut self, words: &Receiver<Restart>) -> Result<(BlockLayer, Programs), WatchError> {
        loop {
            match words.recv_timeout(self.period) {
                Ok(Restart(done)) => {
                    self.restart()?;
                    let _ = done.send(());
                }
                Err(RecvTimeoutError::Timeout) => self.look()?,
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
        }
    }

    fn look(&mut self) -> Result<(), WatchError> {
        let Programs { maps, watch, .. } = &self.programs;
        self.issuers.take(maps, *watch)?;
        self.sum_up(monotonic_ns())?;
        if self.sums.first().is_some_and(|sums| sums.len() > MOST_ROWS) {
            self.period *= 2;
            for sums in &mut self.sums {
                // Of each two the later one stays.
                let mut n = 0;
                sums.retain(|_| {
                    n += 1;
                    n % 2 == 0
                });
            }
        }
        Ok(())
    }

    fn sum_up(&mut self, now_ns: u64) -> Result<(), WatchError> {
        let Programs { maps, watch, .. } = &self.programs;
        for (device, sums) in self.sums.iter_mut().enumerate() {
            sums.push(layer::so_far(maps, *watch, device, (self.from_ns, now_ns))?);
        }
        Ok(())
    }

    fn end(mut self) -> Result<(BlockLayer, Programs), WatchError> {
        self.programs.maps.set(0, self.from_ns, self.known_since)?;
        let stopped_ns = monotonic_ns();
        std::thread::sleep(SETTLE);
        self.issuers.take(&self.programs.maps, self.programs.watch)?;
        self.sum_up(stopped_ns)?;
        let between_ns = (self.from_ns, stopped_ns);
        let Programs { maps, watch, devices, .. } = &mut self.programs;
        let mut layer = BlockLayer {
            source: "ebpf".into(),
            watched_ns: stopped_ns - self.from_ns,
            ..BlockLayer::default()
        };
        for (device, who) in devices.iter().enumerate() {
            let activity = layer::activity(maps, *watch, (device, who), between_ns, &self.issuers)?;
            let told = |class: &fathom_record::block::RequestStats| class.issued + class.completed;
            layer.events += activity.requests.iter().map(told).sum::<u64>() + activity.begun_before;
            layer.devices.push(activity);
            for class in 0..CLASSES {
                layer.lost += maps.tally(*watch, device, class)?.lost;
            }
        }
        layer.intervals = self.sums.iter().flat_map(|sums| layer::rows(sums)).collect();
        maps.clear(*watch)?;
        maps.clear(*watch + 1)?;
        layer.lost += self.programs.missed() - self.missed_before;
        layer.notes = notes(layer.lost, self.issuers.by_name());
        layer.observer_cpu_ns = thread_cpu_ns();
        Ok((layer, self.programs))
    }
}

/// What makes the counts doubtful, in sentences.
fn notes(lost: u64, by_name: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if lost > 0 {
        let events = count(lost, "event");
        notes.push(format!(
            "{events} came while the same CPU was counting another and could not be counted: counts and sizes are incomplete"
        ));
    }
    match by_name {
        0 => {}
        1 => notes
            .push("1 task had ended before it could be looked at and was taken for ours by its name".into()),
        n => notes.push(format!(
            "{n} tasks had ended before they could be looked at and were taken for ours by their names"
        )),
    }
    notes
}
