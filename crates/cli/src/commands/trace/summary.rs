//! `fathom trace summary`: analyses and prints a trace with the same code as a live run.

use super::input::{self, Input};
use super::options::Summary;
use crate::console;
use crate::exit::Usage;
use fathom_dialects::trace::{About, Trace};
use fathom_observe::block::OwnTasks;
use fathom_observe::files::{FileSize, KernelFiles, MountKey, Space};
use fathom_record::block::analysis::{Analysis, Options, WatchedDevice};
use fathom_record::block::{BlockAction, BlockEvent, BlockLayer, DeviceActivity, DeviceNumber, IssuerKind};
use fathom_report::text;
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Events examined before the first is counted, to find devices without requests.
const LOOK_AHEAD: usize = 4096;
/// Devices printed; a cloud trace has thousands.
const MOST_DEVICES: usize = 12;
/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-trace/1";

/// Summary of a trace.
#[derive(Debug, Serialize)]
pub struct TraceSummary {
    schema: &'static str,
    /// The file, or the common name of several.
    file: String,
    /// Name of its format.
    format: &'static str,
    /// Where and with what it was recorded, if known.
    source: String,
    machine: String,
    /// Unix time of the first event, ns; null if the trace does not record it.
    began_unix_ns: Option<i64>,
    /// Whether it has arrivals, merges and the time above the driver.
    queueing: bool,
    /// Whether it lacks completions, and so queue depth, latency and busy time.
    arrivals_only: bool,
    block: BlockLayer,
}

pub fn run(options: &Summary) -> anyhow::Result<ExitCode> {
    let mut all = Vec::new();
    for input in input::inputs(&options.source)? {
        let mut summary = sum_up(&input)?;
        if let Some(wanted) = &options.device {
            only(&mut summary.block, wanted, &summary.file)?;
        }
        if !options.json {
            console::out(&page(&summary));
        }
        all.push(summary);
    }
    if options.json {
        console::out_raw(&json(&all)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// The JSON of `--json` and of `export --format json`.
pub fn json(all: &[TraceSummary]) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(all)? + "\n")
}

fn only(layer: &mut BlockLayer, wanted: &str, file: &str) -> Result<(), Usage> {
    let is =
        |d: &DeviceActivity| d.name == wanted || format!("{}:{}", d.number.major, d.number.minor) == wanted;
    if !layer.devices.iter().any(is) {
        let names: Vec<&str> = layer.devices.iter().map(|d| d.name.as_str()).take(20).collect();
        return Err(Usage(format!(
            "{file}: --device {wanted} is not in the trace; it has {}",
            names.join(", ")
        )));
    }
    layer.devices.retain(is);
    Ok(())
}

/// Reads a trace to its end.
pub fn sum_up(input: &Input) -> anyhow::Result<TraceSummary> {
    let mut trace = input.open()?;
    let mut ahead = VecDeque::new();
    while ahead.len() < LOOK_AHEAD {
        let Some(event) = trace.next() else { break };
        ahead.push_back(event.map_err(input::wrong)?);
    }
    let from_ns = ahead.iter().map(|e: &BlockEvent| e.time_ns).min().unwrap_or(0);
    let guessed = Kinds::of(&ahead);
    let queueing = trace.about().header.queueing;
    let options = Options { devices: Vec::new(), from_ns, interval_ns: 0, queueing };
    let mut reading = TraceAnalysis {
        analysis: Analysis::new(options),
        known: HashMap::new(),
        // No task of a trace is this process, and pid 0 means "unknown" in many formats.
        tasks: OwnTasks::with(Elsewhere, u32::MAX),
        guessed,
        last_ns: from_ns,
    };
    for event in ahead {
        reading.take(&event, &trace);
    }
    while let Some(event) = trace.next() {
        let event = event.map_err(input::wrong)?;
        reading.take(&event, &trace);
    }
    Ok(reading.finish(from_ns, &input.name, &trace.about()))
}

/// A trace being analysed.
struct TraceAnalysis {
    analysis: Analysis,
    known: HashMap<DeviceNumber, String>,
    tasks: OwnTasks<Elsewhere>,
    guessed: Kinds,
    last_ns: u64,
}

impl TraceAnalysis {
    fn take(&mut self, event: &BlockEvent, trace: &Trace) {
        self.last_ns = self.last_ns.max(event.time_ns);
        // A plug has no device in the trace if its task made no request before.
        let nowhere = event.device == DeviceNumber::default();
        if !nowhere && !self.known.contains_key(&event.device) {
            self.meet(event.device, &trace.about());
        }
        let issuer = self.tasks.kind(event.pid, &event.task, event.device, event.flags);
        self.analysis.event(event, issuer);
    }

    fn meet(&mut self, number: DeviceNumber, about: &About) {
        let described = about.devices.iter().find(|d| d.number == number).cloned().unwrap_or_default();
        let name = if described.name.is_empty() {
            format!("{}:{}", number.major, number.minor)
        } else {
            described.name
        };
        self.known.insert(number, name.clone());
        let bio_based = described.bio_based || self.guessed.has_only_bios(number);
        self.analysis.watch(WatchedDevice { number, name, level: described.level, bio_based });
    }

    fn finish(mut self, from_ns: u64, name: &str, about: &About) -> TraceSummary {
        let end = about.end.filter(|e| e.start_ns > 0 && e.end_ns >= self.last_ns && e.start_ns <= from_ns);
        let mut block = self.analysis.finish(end.map_or(self.last_ns, |e| e.end_ns));
        if let Some(end) = end {
            block.watched_ns = end.end_ns - end.start_ns;
        }
        block.source = "trace".into();
        block.lost = about.lost;
        block.observer_cpu_ns = about.end.map_or(0, |e| e.observer_cpu_ns);
        block.notes.extend(about.notes.iter().cloned());
        // Some formats name devices after their events.
        for device in &mut block.devices {
            let described = about.devices.iter().find(|d| d.number == device.number && !d.name.is_empty());
            if let Some(described) = described {
                device.name.clone_from(&described.name);
            }
            // No task names in the trace: the issuers are unknown.
            device
                .issuers
                .retain(|i| !i.name.is_empty() || !matches!(i.kind, IssuerKind::Own | IssuerKind::Kernel));
            if about.header.arrivals_only {
                // Arrivals without completions pile up in the analysis; this format does not announce that.
                device.in_device.clear();
                device.in_queue.clear();
                (device.busy_ns, device.unfinished) = (0, 0);
            }
        }
        TraceSummary {
            schema: SCHEMA,
            file: name.into(),
            format: about.format.word(),
            source: about.header.source.clone(),
            machine: about.header.machine.clone(),
            began_unix_ns: about.header.wall_ns.and_then(|w| w.checked_add(i64::try_from(from_ns).ok()?)),
            queueing: about.header.queueing,
            arrivals_only: about.header.arrivals_only,
            block,
        }
    }
}

/// Kinds of events per device, from a look at the beginning: a device with bios but never requests is bio-based.
struct Kinds {
    bios: Vec<DeviceNumber>,
    requests: Vec<DeviceNumber>,
}

impl Kinds {
    fn of(events: &VecDeque<BlockEvent>) -> Self {
        let devices = |wanted: &[BlockAction]| {
            let mut found: Vec<DeviceNumber> =
                events.iter().filter(|e| wanted.contains(&e.action)).map(|e| e.device).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        use BlockAction::{BioComplete, Complete, GetRequest, Insert, Issue, Queue};
        // blktrace uses one letter for both completions.
        let bios = devices(&[BioComplete, Complete]);
        let arrived = devices(&[Queue]);
        Self {
            bios: bios.into_iter().filter(|d| arrived.contains(d)).collect(),
            requests: devices(&[Issue, Insert, GetRequest]),
        }
    }

    fn has_only_bios(&self, device: DeviceNumber) -> bool {
        self.bios.contains(&device) && !self.requests.contains(&device)
    }
}

/// The machine of a trace is not this one: its files cannot be queried, and tasks are judged by name.
#[derive(Debug)]
pub struct Elsewhere;

impl KernelFiles for Elsewhere {
    fn read(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn read_link(&self, _: &Path) -> io::Result<PathBuf> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn canonical(&self, _: &Path) -> io::Result<PathBuf> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn mount_of(&self, _: &Path) -> io::Result<MountKey> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn size_of(&self, _: &Path) -> io::Result<FileSize> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn space_of(&self, _: &Path) -> io::Result<Space> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fn page(summary: &TraceSummary) -> String {
    let mut out = String::new();
    let _ =
        writeln!(out, "{}: {} ({})", summary.file, text::block::events(summary.block.events), summary.format);
    if !summary.machine.is_empty() {
        let _ = writeln!(out, "recorded on {}", summary.machine);
    }
    for note in &summary.block.notes {
        let _ = writeln!(out, "- {note}");
    }
    let mut devices: Vec<&DeviceActivity> = summary.block.devices.iter().collect();
    let bytes = |d: &DeviceActivity| d.requests.iter().map(|r| r.issued_bytes).sum::<u64>();
    if devices.len() > MOST_DEVICES {
        devices.sort_by_key(|d| std::cmp::Reverse(bytes(d)));
        let rest = devices.split_off(MOST_DEVICES).len();
        let _ = writeln!(
            out,
            "- The {MOST_DEVICES} devices with the most bytes are shown; --json has the other {rest}, --device NAME one."
        );
    }
    for device in devices {
        let _ = write!(out, "\n{}", text::block::device(&summary.block, device));
        let title = |what: &str| text::keys(&[&device.name, what]).trim_end().to_owned();
        for stats in &device.requests {
            let class = stats.class.word();
            let sizes = text::lquantize::sizes(&title(&format!("{class}: bytes of a request")), &stats.sizes);
            let seeks = &stats.seeks.distances;
            let seeks = text::quantize::exponents(&title(&format!("{class}: seek distance in bytes")), seeks);
            // A device that moves no data has no sizes, a sequential one no distances: skip empty drawings.
            for drawing in [sizes, seeks].iter().filter(|d| !d.is_empty()) {
                let _ = write!(out, "\n{drawing}");
            }
        }
    }
    out.push('\n');
    out
}
