//! Observes the block layer during a run: uses the best source available to this user, started with a phase's clock and
//! stopped when all its work is done. Observe watches, record analyses, the engine knows its own calls; they meet here.

use crate::console;
use crate::exit::Usage;
use fathom_engine::{Calls, Engine};
use fathom_observe::attributes::{self, Attributes};
use fathom_observe::block::bpf::{Counting, Programs, SKIPPING, skips_programs};
use fathom_observe::block::cgroup::{GroupCounters, GroupIo, OwnGroup};
use fathom_observe::block::{
    Coming, CounterRows, Detail, Instance, Sink, Watch, WatchError, Watched, Who, availability, cgroup, rows,
    watched,
};
use fathom_observe::cache;
use fathom_observe::counters::Meanwhile;
use fathom_observe::device::{DeviceKind, DeviceStack};
use fathom_observe::extents;
use fathom_observe::files::Live;
use fathom_observe::findings::{self, Facts, WorkloadTraits};
use fathom_observe::join::{self, Joined, Keeper, Kept, Layout, Pieces};
use fathom_observe::stacks::slow::{Names, slow_calls};
use fathom_observe::stacks::symbols::Symbols;
use fathom_observe::stacks::{Inodes, LongSleeps, Noted, Noting, Sleeps, with_files};
use fathom_record::block::analysis::{Analysis, Options, WatchedDevice};
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber};
use fathom_record::{BlockLayer, Phase, Repetition, SlowCalls};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

/// How closely the block layer is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Observe {
    /// Every request if this user may see them, otherwise the devices' counters
    #[default]
    Auto,
    /// Every request: its size, position, times and issuer (root). Counted in the kernel by BPF where that works, otherwise by events
    Events,
    /// Like events, always counted by BPF, even on kernels where it misses some requests (root)
    Bpf,
    /// Like events, always from tracefs (root)
    Tracefs,
    /// Also queueing, each of our calls with the requests it caused, and where the slowest waited (root)
    Full,
    /// The devices' counters, ten times a second
    Counters,
    /// Only the devices' counters before and after each phase
    None,
}

/// Names of [`Observe`], for messages.
const WORDS: &str = "auto, events, bpf, tracefs, full, counters or none";
/// Sets the level of observation for drop-ins, whose command line is another program's.
const VARIABLE: &str = "FATHOM_OBSERVE";

impl Observe {
    /// The requested level: by the option, else by the environment.
    pub fn wished(option: Option<Self>) -> Result<Self, Usage> {
        let Some(text) = std::env::var_os(VARIABLE).filter(|t| option.is_none() && !t.is_empty()) else {
            return Ok(option.unwrap_or_default());
        };
        let parsed = text.to_str().and_then(|t| <Self as clap::ValueEnum>::from_str(t, true).ok());
        parsed.ok_or_else(|| Usage(format!("{VARIABLE} is {}; it must be {WORDS}", text.display())))
    }
}

/// Calls per worker and requests per phase kept for the join: 2.6 MB of memory per worker, and 48 MB.
const CALLS_PER_WORKER: usize = 1 << 16;
const MOST_KEPT: usize = 1 << 20;
/// Length of an iostat-style row; long phases merge several.
const ROW_NS: u64 = 100_000_000;

pub struct Observer {
    wish: Observe,
    source: EventSource,
    /// Requests per second in the last phase; sizes the rings.
    rate: u64,
    stacks: Stacks,
    /// The places on overlays, of each phase that writes.
    layers: BTreeMap<usize, Option<Vec<PathBuf>>>,
}

/// State of the BPF programs that note where the measured threads sleep.
enum Stacks {
    NotAsked,
    /// In the background while files are prepared.
    Loading(JoinHandle<Result<Sleeps, WatchError>>),
    Loaded(Box<Sleeps>),
}

impl Stacks {
    fn loading() -> Self {
        let thread = std::thread::Builder::new().name("long-sleeps".into());
        thread.spawn(Sleeps::load).map_or(Self::NotAsked, Self::Loading)
    }

    /// Starts to note. Reports once if that is not possible.
    fn start(&mut self, inodes: &Inodes) -> Option<Noting> {
        let sleeps = match std::mem::replace(self, Self::NotAsked) {
            Self::NotAsked => return None,
            Self::Loading(loading) => {
                loading.join().unwrap_or_else(|_| Err(WatchError::Thread("failed".into())))
            }
            Self::Loaded(sleeps) => Ok(*sleeps),
        };
        match sleeps.and_then(|sleeps| Noting::start(sleeps, inodes)) {
            Ok(noting) => Some(noting),
            Err(why) => {
                console::note(&why.to_string());
                None
            }
        }
    }
}

enum EventSource {
    /// Counted in the kernel by BPF programs loaded for the devices of a phase.
    Kernel(Kernel),
    /// Set up in the background while files are prepared.
    Coming(Coming),
    Events(Instance),
    Counters,
    Nothing,
}

/// State of the BPF programs that count.
enum Kernel {
    NotAsked,
    /// In the background while files are prepared.
    Loading(JoinHandle<Result<Programs, WatchError>>),
    Loaded(Box<Programs>),
}

impl Observer {
    /// [`cache::beneath`], for a phase that writes only once: its first repetition moves files to another layer, but all of its figures
    /// are of the same devices. What is read may have been moved by another phase.
    pub fn layers(&mut self, phase: usize, paths: &[PathBuf], writes: bool) -> Option<Vec<PathBuf>> {
        let find = || cache::beneath(paths, writes);
        if writes { self.layers.entry(phase).or_insert_with(find).clone() } else { find() }
    }

    /// Starts to prepare what was requested. Reports once what is missing. `device`: whether there is anything to
    /// observe; `small`: whether the run is over before full observation could start.
    pub fn new(
        option: Option<Observe>,
        engine: &mut Engine,
        device: bool,
        small: bool,
    ) -> Result<Self, Usage> {
        let wish = Observe::wished(option)?;
        let source = match wish {
            Observe::None => EventSource::Nothing,
            Observe::Auto if !device => EventSource::Nothing,
            _ if !device => {
                console::note("the measured files are not on a block device: there are no requests to watch");
                EventSource::Nothing
            }
            Observe::Counters => EventSource::Counters,
            Observe::Auto if small => EventSource::Counters,
            Observe::Auto | Observe::Events | Observe::Bpf | Observe::Tracefs | Observe::Full => {
                let available = availability();
                match (&available.events, wish) {
                    (Ok(_), Observe::Bpf) => {
                        if skips_programs() {
                            console::note(&format!("{SKIPPING}; --observe tracefs counts them, too"));
                        }
                        EventSource::Kernel(Kernel::NotAsked)
                    }
                    (Ok(_), Observe::Auto | Observe::Events) if !skips_programs() => {
                        EventSource::Kernel(Kernel::NotAsked)
                    }
                    (Ok(_), _) => Instance::coming().map_or(EventSource::Counters, EventSource::Coming),
                    (Err(why), Observe::Auto) => {
                        console::note(&available.degraded().unwrap_or_else(|| why.clone()));
                        EventSource::Counters
                    }
                    (Err(why), _) => {
                        return Err(Usage(format!("{why}. Only counters are available: --observe counters")));
                    }
                }
            }
        };
        let mut stacks = Stacks::NotAsked;
        if wish == Observe::Full {
            engine.note_calls(CALLS_PER_WORKER);
            stacks = Stacks::loading();
        }
        Ok(Self { wish, source, rate: 0, stacks, layers: BTreeMap::new() })
    }

    /// Prepares a phase with these files on these devices. Requests are not observed if the files are on no device.
    /// `overwrites` is false if it must not matter whether blocks are shared: looking brings metadata into memory.
    pub fn phase(&mut self, stack: &DeviceStack, paths: &[PathBuf], overwrites: bool) -> PhaseWatch<'_> {
        let devices = watched(stack);
        let inodes = match self.stacks {
            Stacks::NotAsked => Inodes::default(),
            _ => Inodes::of(paths, stack.mount.as_ref().map(|m| m.device)),
        };
        if devices.is_empty() {
            return PhaseWatch {
                observer: self,
                devices,
                start: 0,
                restart: Arc::default(),
                running: Running::Nothing,
                inodes,
                shared: None,
                noting: None,
            };
        }
        // The blocks of btrfs have new places after each write, shared or not.
        let look = overwrites && self.wish == Observe::Full && stack.file_system() != "btrfs";
        let shared = look.then(|| extents::shared_bytes(paths)).flatten();
        if let EventSource::Coming(_) = &self.source
            && let EventSource::Coming(coming) = std::mem::replace(&mut self.source, EventSource::Counters)
        {
            match coming.wait() {
                Ok(instance) => self.source = EventSource::Events(instance),
                Err(why) => give_up(&why),
            }
        }
        if matches!(self.source, EventSource::Kernel(_))
            && let EventSource::Kernel(kernel) = std::mem::replace(&mut self.source, EventSource::Counters)
        {
            self.source = kernel.made_for(&devices);
        }
        // Requests have positions on the whole disk; the file system counts from its partition's start.
        let top = stack.tops().next();
        let start = top
            .filter(|d| d.kind == DeviceKind::Partition)
            .map_or(0, |d| join::layout::partition_start(&Live, &d.sys));
        PhaseWatch {
            observer: self,
            devices,
            start,
            restart: Arc::default(),
            running: Running::Nothing,
            inodes,
            shared,
            noting: None,
        }
    }

    /// Tears down in the background.
    pub fn leave(self) {
        match self.source {
            EventSource::Events(instance) => instance.remove_meanwhile(),
            EventSource::Coming(coming) => {
                if let Ok(instance) = coming.wait() {
                    instance.remove_meanwhile();
                }
            }
            EventSource::Kernel(_) | EventSource::Counters | EventSource::Nothing => {}
        }
    }
}

impl Kernel {
    /// Programs for these devices, or the fallback if they cannot count.
    fn made_for(self, devices: &[Watched]) -> EventSource {
        if !Programs::can_count(devices) {
            return by_events();
        }
        let numbers = |devices: &[Watched]| devices.iter().map(|d| d.number).collect::<Vec<_>>();
        if let Self::Loaded(programs) = &self
            && numbers(programs.devices()) == numbers(devices)
        {
            return EventSource::Kernel(self);
        }
        let devices = devices.to_vec();
        let thread = std::thread::Builder::new().name("block-counts".into());
        match thread.spawn(move || Programs::load(&devices)) {
            Ok(loading) => EventSource::Kernel(Self::Loading(loading)),
            Err(_) => by_events(),
        }
    }

    /// Starts counting. If the kernel rejects the programs, events are used.
    fn start(self) -> Result<Counting, WatchError> {
        let failed = || WatchError::Thread("failed".into());
        let programs = match self {
            Self::NotAsked => return Err(failed()),
            Self::Loading(loading) => loading.join().unwrap_or_else(|_| Err(failed()))?,
            Self::Loaded(programs) => *programs,
        };
        Counting::start(programs)
    }
}

fn by_events() -> EventSource {
    match Instance::new() {
        Ok(instance) => EventSource::Events(instance),
        Err(why) => {
            give_up(&why);
            EventSource::Counters
        }
    }
}

fn give_up(why: &WatchError) {
    console::note(&format!("{why}. The devices' counters are used instead"));
}

pub struct PhaseWatch<'a> {
    observer: &'a mut Observer,
    devices: Vec<Watched>,
    /// First sector of the file system on the observed device.
    start: u64,
    /// When counting restarted after a warm-up, CLOCK_MONOTONIC in ns; 0 if it did not.
    restart: Arc<AtomicU64>,
    running: Running,
    /// Files whose pages are counted.
    inodes: Inodes,
    /// Bytes of the files that share blocks with other files, if that was looked at.
    shared: Option<u64>,
    noting: Option<Noting>,
}

enum Running {
    Nothing,
    Kernel(Counting),
    Events(Watch<Analyst>),
    Counters(CounterRows, Option<(OwnGroup, GroupCounters)>),
}

#[derive(Default)]
pub struct ObservedPhase {
    pub layer: Option<BlockLayer>,
    kept: Vec<Kept>,
    passed_over: u64,
    first_sector: u64,
    noted: Option<(Noted, Inodes, Arc<Symbols>)>,
    /// As in [`PhaseWatch`].
    shared: Option<u64>,
}

/// Processes the events on the observer thread.
pub struct Analyst {
    analysis: Analysis,
    keeper: Option<Keeper>,
    restart: Arc<AtomicU64>,
    restarted: u64,
}

impl Sink for Analyst {
    fn event(&mut self, event: &BlockEvent, who: &Who) {
        let from = self.restart.load(Ordering::Relaxed);
        if from != self.restarted && event.time_ns >= from {
            self.restarted = from;
            self.analysis.restart(from);
            if let Some(keeper) = &mut self.keeper {
                keeper.restart(from);
            }
        }
        // The submitter of an inserted request has been recorded by now; without queueing an insert event has no other
        // use.
        if event.action == BlockAction::Insert && self.keeper.is_none() {
            return;
        }
        let changed;
        let event = if who.pid == event.pid || who.pid == 0 {
            event
        } else {
            changed = who.put_into(event);
            &changed
        };
        self.analysis.event(event, who.kind);
        if let Some(keeper) = &mut self.keeper {
            keeper.event(event, who.kind);
        }
    }
}

impl PhaseWatch<'_> {
    /// The clocks are about to start.
    pub fn begin(&mut self) {
        self.noting = self.observer.stacks.start(&self.inodes);
        if self.devices.is_empty() {
            return;
        }
        if matches!(self.observer.source, EventSource::Kernel(_))
            && let EventSource::Kernel(kernel) =
                std::mem::replace(&mut self.observer.source, EventSource::Counters)
        {
            match kernel.start() {
                Ok(counting) => {
                    self.running = Running::Kernel(counting);
                    return;
                }
                Err(_) => self.observer.source = by_events(),
            }
        }
        self.running = match &self.observer.source {
            EventSource::Nothing | EventSource::Coming(_) | EventSource::Kernel(_) => Running::Nothing,
            EventSource::Counters => self.counters(),
            EventSource::Events(instance) => {
                let full = self.observer.wish == Observe::Full;
                let detail = if full { Detail::Full } else { Detail::Requests };
                match Watch::start(instance, &self.devices, detail, self.observer.rate, self.analyst(full)) {
                    Ok(watch) => Running::Events(watch),
                    Err(why) => {
                        give_up(&why);
                        self.counters()
                    }
                }
            }
        };
        if matches!(self.running, Running::Counters(..))
            && matches!(self.observer.source, EventSource::Events(_))
        {
            self.observer.source = EventSource::Counters;
        }
    }

    fn analyst(&self, full: bool) -> Analyst {
        let device = |d: &Watched| WatchedDevice {
            number: d.number,
            name: d.name.clone(),
            level: d.level,
            bio_based: d.bio_based,
        };
        let options = Options {
            devices: self.devices.iter().map(device).collect(),
            from_ns: monotonic_ns(),
            interval_ns: ROW_NS,
            queueing: full,
        };
        let top = self.devices.first().filter(|_| full);
        Analyst {
            analysis: Analysis::new(options),
            keeper: top.map(|d| Keeper::new(d.number, d.bio_based, MOST_KEPT)),
            restart: self.restart.clone(),
            restarted: 0,
        }
    }

    fn counters(&self) -> Running {
        let numbers: Vec<DeviceNumber> = self.devices.iter().map(|d| d.number).collect();
        let group = OwnGroup::find(&Live).ok().filter(|group| !group.is_root());
        let group = group.and_then(|group| group.read().map(|before| (group, before)));
        CounterRows::start(&numbers, rows::PERIOD)
            .map_or(Running::Nothing, |rows| Running::Counters(rows, group))
    }

    /// The warm-up is over; counting begins.
    pub fn counting(&mut self) {
        self.restart.store(monotonic_ns(), Ordering::Relaxed);
        if let Some(noting) = &self.noting {
            noting.restart();
        }
        match &self.running {
            Running::Kernel(counting) => counting.restart(),
            Running::Counters(..) => self.running = self.counters(),
            Running::Events(_) | Running::Nothing => {}
        }
    }

    pub fn end(mut self) -> ObservedPhase {
        let noted = self.noting.take().and_then(|noting| self.noted(noting));
        ObservedPhase { noted, shared: self.shared, ..self.requests() }
    }

    fn noted(&mut self, noting: Noting) -> Option<(Noted, Inodes, Arc<Symbols>)> {
        match noting.stop() {
            Ok((noted, programs)) => {
                let symbols = programs.symbols();
                self.observer.stacks = Stacks::Loaded(Box::new(programs));
                Some((noted, std::mem::take(&mut self.inodes), symbols))
            }
            Err(why) => {
                console::note(&why.to_string());
                None
            }
        }
    }

    fn requests(&mut self) -> ObservedPhase {
        match std::mem::replace(&mut self.running, Running::Nothing) {
            Running::Nothing => ObservedPhase::default(),
            Running::Counters(rows, group) => {
                let mut layer = of_counters(rows);
                layer.notes.extend(group.and_then(|group| of_group(&group, &self.devices)));
                ObservedPhase { layer: Some(layer), ..ObservedPhase::default() }
            }
            Running::Kernel(counting) => match counting.stop() {
                Err(why) => {
                    give_up(&why);
                    ObservedPhase::default()
                }
                Ok((layer, programs)) => {
                    self.observer.source = EventSource::Kernel(Kernel::Loaded(Box::new(programs)));
                    ObservedPhase { layer: Some(layer), first_sector: self.start, ..ObservedPhase::default() }
                }
            },
            Running::Events(watch) => match watch.stop() {
                Err(why) => {
                    give_up(&why);
                    ObservedPhase::default()
                }
                Ok(mut taken) => {
                    let mut layer = taken.sink.analysis.finish(taken.stopped_ns);
                    layer.source = "tracefs".into();
                    layer.lost = taken.lost;
                    layer.observer_cpu_ns = taken.observer_cpu_ns;
                    layer.notes.append(&mut taken.notes);
                    let requests: u64 =
                        layer.devices.iter().flat_map(|d| &d.requests).map(|r| r.issued).sum();
                    self.observer.rate =
                        (requests as f64 * 1e9 / layer.watched_ns.max(1) as f64).min(1e7) as u64;
                    let (kept, passed_over) = taken.sink.keeper.map(Keeper::finish).unwrap_or_default();
                    ObservedPhase {
                        layer: Some(layer),
                        kept,
                        passed_over,
                        first_sector: self.start,
                        ..ObservedPhase::default()
                    }
                }
            },
        }
    }
}

/// The clock of the events.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn of_counters(rows: CounterRows) -> BlockLayer {
    let notes = rows.notes().to_vec();
    let counted = rows.stop();
    BlockLayer {
        source: "counters".into(),
        intervals: counted.rows,
        observer_cpu_ns: counted.observer_cpu_ns,
        notes,
        ..BlockLayer::default()
    }
}

/// What our own control group moved on the devices; the rest of the counters belongs to other programs.
fn of_group((group, before): &(OwnGroup, GroupCounters), devices: &[Watched]) -> Option<String> {
    let moved = cgroup::moved(before, &group.read()?);
    let sum = |figure: fn(&GroupIo) -> u64| -> u64 {
        devices.iter().filter_map(|d| moved.get(&d.number)).map(figure).sum()
    };
    Some(format!(
        "of that {} has {} reads of {} bytes and {} writes of {} bytes",
        group.source(),
        sum(|io| io.reads),
        sum(|io| io.read_bytes),
        sum(|io| io.writes),
        sum(|io| io.write_bytes)
    ))
}

impl ObservedPhase {
    /// CPU time of the observer.
    pub fn observer_cpu_ns(&self) -> u64 {
        self.layer.as_ref().map_or(0, |layer| layer.observer_cpu_ns)
    }

    /// Enters what was seen, and what it proves, into the record.
    pub fn explain(
        mut self,
        (phase, workload): (&Phase, &WorkloadTraits),
        environment: &serde_json::Value,
        repetition: &mut Repetition,
        calls: Option<Calls>,
        meanwhile: Meanwhile,
        (paths, stack): (&[PathBuf], &DeviceStack),
    ) {
        let mut sleeps = LongSleeps::default();
        if let Some((noted, inodes, symbols)) = self.noted.take() {
            let inodes = inodes.and(paths);
            let mut events = noted.pages.of_files(&inodes);
            // Pages enter the files of a memory file system without an event.
            events.pages = events.pages.filter(|_| stack.method != "memory");
            repetition.page_cache = Some(events);
            repetition.halts = Some(noted.halts);
            repetition.lock_waits = noted.locks.map(|waits| with_files(waits, &inodes));
            sleeps = noted.sleeps;
            if let Some(calls) = &calls {
                repetition.slow_calls = slow(calls, &sleeps, &symbols);
            }
        }
        let (joined, pieces) = calls.map_or((None, None), |calls| self.joined(&calls, stack));
        repetition.block = self.layer;
        if self.passed_over > 0
            && let Some(block) = &mut repetition.block
        {
            block.notes.push(format!(
                "findings that join calls and requests stand on the first {} requests; {} more came later",
                self.kept.len(),
                self.passed_over
            ));
        }
        if let Some(block) = &mut repetition.block
            && sleeps.lost > 0
            && !repetition.slow_calls.is_empty()
        {
            block.notes.push(format!(
                "the stacks of the slowest calls stand on {} long waits; {} more were not kept",
                sleeps.sleeps.len(),
                sleeps.lost
            ));
        }
        // Looking at files of a network file system would be work for the server.
        let look = phase.writes || stack.method == "diskstats";
        let attributes = if look { attributes::of(paths) } else { Attributes::default() };
        let joined = joined.as_ref();
        let before = self.shared.filter(|&bytes| bytes > 0 && phase.writes);
        let unshared = before.and_then(|b| Some(b.saturating_sub(extents::shared_bytes(paths)?)));
        let Meanwhile { evictions, swapped_in_bytes, image_growth, allowed_busy_ns } = meanwhile;
        repetition.findings = findings::of(&Facts {
            phase,
            repetition,
            workload,
            environment,
            attributes,
            evictions,
            swapped_in_bytes,
            image_growth: image_growth.as_ref(),
            allowed_busy_ns,
            unshared_bytes: unshared.unwrap_or(0),
            joined,
            pieces,
        });
    }

    /// Joins calls and requests, if the file system reports where its files lie, and counts the fragments of these files.
    fn joined(&self, calls: &Calls, stack: &DeviceStack) -> (Option<Joined>, Option<Pieces>) {
        if stack.devices.is_empty() || calls.calls.is_empty() || self.kept.is_empty() {
            return (None, None);
        }
        let paths: &[PathBuf] = &calls.paths;
        let layout = Layout::of(paths, self.first_sector);
        if layout.is_empty() || layout.unknown() > 0 {
            return (None, None);
        }
        // btrfs has its own addresses; in a pool, or on several devices, the device of an address is unknown.
        let own_addresses = ["btrfs", "zfs", "bcachefs"].contains(&stack.file_system());
        let single = stack.tops().count() == 1 && !own_addresses;
        (single.then(|| self.joined_on(calls, &layout)), Some(layout.pieces()))
    }

    fn joined_on(&self, calls: &Calls, layout: &Layout) -> Joined {
        // Calls after the last kept request, or requests after the last noted call, have no counterpart: only what both
        // cover counts.
        let last_call = calls.calls.last().map_or(0, |c| c.start_ns.saturating_add(c.latency_ns));
        let last_request = self.kept.last().map_or(0, |k| k.issued_ns);
        let end = match (calls.dropped > 0, self.passed_over > 0) {
            (false, false) => u64::MAX,
            (true, false) => last_call,
            (false, true) => last_request,
            (true, true) => last_call.min(last_request),
        };
        let seen: Vec<join::Call> = calls
            .calls
            .iter()
            .filter(|c| c.start_ns.saturating_add(c.latency_ns) <= end)
            .map(for_join)
            .collect();
        let kept: Vec<Kept> = self.kept.iter().filter(|k| k.issued_ns <= end).copied().collect();
        join::join(&seen, &kept, layout)
    }
}

fn for_join(c: &fathom_engine::Call) -> join::Call {
    let &fathom_engine::Call { start_ns, latency_ns, op, file, worker, offset, bytes } = c;
    join::Call { start_ns, latency_ns, op, file, offset, bytes, worker }
}

/// Where the slowest calls waited.
fn slow(calls: &Calls, sleeps: &LongSleeps, symbols: &Symbols) -> Vec<SlowCalls> {
    let files: Vec<String> = calls.paths.iter().map(|p| p.display().to_string()).collect();
    let names = Names { threads: &calls.threads, files: &files, symbols, first_only: calls.dropped > 0 };
    let all: Vec<join::Call> = calls.calls.iter().map(for_join).collect();
    slow_calls(&all, sleeps, &names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_wins_and_words_are_those_of_the_help() {
        assert_eq!(Observe::wished(Some(Observe::Full)).ok(), Some(Observe::Full));
        for word in WORDS.replace(" or ", ", ").split(", ") {
            assert!(<Observe as clap::ValueEnum>::from_str(word, false).is_ok(), "{word}");
        }
    }
}
