//! Counts one phase. A thread reads the programs' sums ten times a second for the rows, and looks up new tasks while they live.

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

/// Length of a row, until a long watch has more than [`MOST_ROWS`]: then neighbours are joined.
const PERIOD: Duration = Duration::from_millis(100);
/// Maximum number of rows of a device.
const MOST_ROWS: usize = 4096;
/// Time for programs that were entered before counting ended.
const SETTLE: Duration = Duration::from_millis(1);

/// Counting in progress. Dropping it without [`Counting::stop`] ends it and discards the counts.
#[derive(Debug)]
pub struct Counting {
    words: Option<Sender<Restart>>,
    thread: Option<JoinHandle<(BlockLayer, Programs)>>,
}

/// What was counted so far was warm-up. The answer means that counting has restarted.
struct Restart(SyncSender<()>);

impl Counting {
    /// Begins to count, at 0.
    pub fn start(programs: Programs) -> Result<Self, WatchError> {
        let mut run = Run::new(programs)?;
        run.begin();
        let (words, heard) = mpsc::channel();
        let thread = std::thread::Builder::new().name("block-counts".into()).spawn(move || run.go(&heard));
        let thread = thread.map_err(|e| WatchError::Thread(format!("could not be started: {e}")))?;
        Ok(Self { words: Some(words), thread: Some(thread) })
    }

    /// Discards what was counted: it was warm-up. Requests in flight stay known.
    pub fn restart(&self) {
        let (done, wait) = mpsc::sync_channel(1);
        if self.words.as_ref().is_some_and(|words| words.send(Restart(done)).is_ok()) {
            let _ = wait.recv();
        }
    }

    /// Ends it and returns the programs for the next phase.
    pub fn stop(mut self) -> Result<(BlockLayer, Programs), WatchError> {
        drop(self.words.take());
        let thread = self.thread.take().ok_or_else(|| WatchError::Thread("was never started".into()))?;
        thread.join().map_err(|_| WatchError::Thread("failed".into()))
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
    fn begin(&mut self) {
        let Programs { maps, watch, devices, .. } = &mut self.programs;
        *watch += 1;
        self.known_since = *watch;
        self.from_ns = monotonic_ns();
        (0..devices.len()).for_each(|device| maps.begin(device, self.from_ns));
        maps.start(*watch, self.from_ns, self.known_since);
    }

    /// Begins the next, in the other half.
    fn restart(&mut self) {
        let Programs { maps, watch, .. } = &mut self.programs;
        maps.clear(*watch + 1);
        *watch += 1;
        self.from_ns = monotonic_ns();
        maps.start(*watch, self.from_ns, self.known_since);
        self.missed_before = self.programs.missed();
        self.issuers.restart();
        self.sums.iter_mut().for_each(Vec::clear);
    }

    fn go(mut self, words: &Receiver<Restart>) -> (BlockLayer, Programs) {
        loop {
            match words.recv_timeout(self.period) {
                Ok(Restart(done)) => {
                    self.restart();
                    let _ = done.send(());
                }
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return self.end(),
            }
        }
    }

    fn look(&mut self) {
        let Programs { maps, watch, .. } = &self.programs;
        self.issuers.take(maps, *watch);
        self.sum_up(monotonic_ns());
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
    }

    fn sum_up(&mut self, now_ns: u64) {
        let Programs { maps, watch, .. } = &self.programs;
        for (device, sums) in self.sums.iter_mut().enumerate() {
            sums.push(layer::so_far(maps, *watch, device, (self.from_ns, now_ns)));
        }
    }

    fn end(mut self) -> (BlockLayer, Programs) {
        self.programs.maps.stop();
        let stopped_ns = monotonic_ns();
        std::thread::sleep(SETTLE);
        self.issuers.take(&self.programs.maps, self.programs.watch);
        self.sum_up(stopped_ns);
        let between_ns = (self.from_ns, stopped_ns);
        let Programs { maps, watch, devices, .. } = &self.programs;
        let mut layer = BlockLayer {
            source: "ebpf".into(),
            watched_ns: stopped_ns - self.from_ns,
            ..BlockLayer::default()
        };
        for (device, who) in devices.iter().enumerate() {
            let activity = layer::activity(maps, *watch, (device, who), between_ns, &self.issuers);
            let events = |class: &fathom_record::block::RequestStats| class.issued + class.completed;
            layer.events += activity.requests.iter().map(events).sum::<u64>() + activity.begun_before;
            layer.devices.push(activity);
            for class in 0..CLASSES {
                layer.lost += maps.tally(*watch, device, class).lost;
            }
        }
        layer.intervals = self.sums.iter().flat_map(|sums| layer::rows(sums)).collect();
        maps.clear(*watch);
        maps.clear(*watch + 1);
        let unseen = layer.lost;
        let skipped = self.programs.missed() - self.missed_before;
        layer.lost += skipped;
        layer.notes = notes(unseen, skipped, self.issuers.by_name());
        layer.observer_cpu_ns = thread_cpu_ns();
        (layer, self.programs)
    }
}

/// What makes the counts doubtful, in sentences.
fn notes(unseen: u64, skipped: u64, by_name: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if unseen > 0 {
        let requests = count(unseen, "request");
        notes.push(format!("the end of {requests} was not counted: completions and times are incomplete"));
    }
    if skipped > 0 {
        let events = count(skipped, "event");
        notes.push(format!(
            "{events} came while the same CPU was counting another and could not be counted: counts and sizes are incomplete"
        ));
    }
    match by_name {
        0 => {}
        1 => notes
            .push("1 task ended before it could be identified; by its name it was counted as ours".into()),
        n => notes.push(format!(
            "{n} tasks ended before they could be identified; by their names they were counted as ours"
        )),
    }
    notes
}
