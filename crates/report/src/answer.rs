//! A survey's short answer: where it measured, a few figures, what they are good for, the doubts, what limits the storage, and
//! what changed since an earlier survey. Formats only lay it out; the full survey has the details.

use crate::budget::Budget;
use crate::story::{DoubtGroup, Story};
use crate::survey::facts::{
    FSYNC_MATTERS, by_storage, course, files_per_s, in_memory, latency, named, of_stage, of_storage, synced,
    without_durable_syncs,
};
use crate::survey::findings::{limit, place};
use crate::survey::verdicts::{
    UseVerdict, best_reads, of_run as verdicts, slowest_second, streaming_phase, streaming_read,
};
use crate::why::largest_parts;
use crate::{Kind, Machine, units};
use fathom_compare::summary::median;
use fathom_record::{Finding, Mark, Phase, Run, Status};
use std::collections::{BTreeMap, BTreeSet};

/// The short answer of a survey.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The directory, its file system and device.
    pub place: Vec<String>,
    /// What must be known before reading any figure.
    pub first: Vec<String>,
    /// The main figures, one tile each.
    pub tiles: Vec<Tile>,
    /// Figures of small reads and writes.
    pub rows: Vec<AnswerRow>,
    /// Other figures: streams and small files.
    pub more: Vec<(&'static str, String)>,
    /// What the storage is good for.
    pub uses: Vec<UseVerdict>,
    /// Doubts that the user can do something about.
    pub doubts: Vec<String>,
    /// Settings and limits that hold the storage back.
    pub limits: Vec<Limit>,
    /// What to do about the first of them.
    pub remedy: Option<String>,
    /// Limits that affected few phases, in how many.
    pub passing_limits: Vec<Limit>,
    /// Where the time of main figures goes: "fsync: vda 75 %, kernel 25 %".
    pub time: Vec<String>,
    /// Whether the device is known. If not, neither are its limits.
    pub device_known: bool,
    /// What changed since the previous survey.
    pub since: Option<String>,
}

/// A setting or limit that held the storage back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Such as "sparse image".
    pub name: &'static str,
    /// What it is, or the name with the number of phases.
    pub words: String,
}

/// A line of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// What was done.
    pub what: String,
    /// The same in a word or two; empty if it is no figure of the storage.
    pub brief: String,
    /// Operations a second.
    pub per_s: f64,
    /// The median, p99 and p99.9 of the latency, ns.
    pub ns: [Option<f64>; 3],
    /// What served it.
    pub served: &'static str,
}

/// A main figure with the figure to read it with.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Such as "8950/s".
    pub figure: String,
    /// Such as "random reads, 1 in flight".
    pub what: String,
    /// Such as "p99 198 us".
    pub beside: String,
}

/// A figure that surveys are compared by: its name, its value in a run, and whether it is comparable.
type Headline = (&'static str, fn(&Run) -> Option<f64>, bool);

impl Answer {
    /// The answer of a survey; `before` is an earlier one of the same place and length.
    #[must_use]
    pub fn of(run: &Run, before: Option<&Run>) -> Self {
        let story = Story::of(run);
        // Explanations of figures come before the reason for an early end, which the command reports itself.
        let mut first: Vec<String> = rough(run).into_iter().chain(unflushed(run)).collect();
        first.extend(place(run).into_iter().map(|finding| capital(&finding.sentence)));
        first.extend(story.trouble.iter().cloned());
        let (limits, remedy, passing_limits) = limits(run);
        let rows = rows(run);
        let time =
            main_phases(run).iter().filter(|m| TIMED.contains(&m.brief.as_str())).filter_map(time).collect();
        Self {
            place: places(run),
            first,
            tiles: tiles(run, &rows),
            rows,
            more: more(run),
            uses: verdicts(run),
            doubts: doubts(run, &story),
            limits,
            remedy,
            passing_limits,
            time,
            device_known: in_memory(run)
                || run.phases.iter().flat_map(|p| &p.repetitions).any(|r| !r.physical.devices.is_empty()),
            since: before.and_then(|before| since(run, before)),
        }
    }
}

/// The doubts that the user can do something about: those about the whole run, then the others, that of most phases first.
fn doubts(run: &Run, story: &Story) -> Vec<String> {
    const NAMED: usize = 2;
    let mut doubts: Vec<&DoubtGroup> = story.doubts.iter().filter(|doubt| can_be_helped(doubt)).collect();
    let rank = |doubt: &DoubtGroup| if doubt.phases.is_empty() { usize::MAX } else { doubt.phases.len() };
    doubts.sort_by_key(|doubt| std::cmp::Reverse(rank(doubt)));
    let with_figures = |doubt: &DoubtGroup| {
        let shown = shown_figures(run, &doubt.phases, NAMED);
        words(run, doubt, &shown.map_or_else(String::new, |shown| format!(", with {shown}")))
    };
    doubts.into_iter().map(with_figures).collect()
}

/// On a nearly full file system a survey uses unusually small files, even if there was no time for the surface. The long
/// write's file is larger, but only its own figure comes from it.
fn rough(run: &Run) -> Option<String> {
    const SMALL: u64 = 4 << 20;
    let free = run.environment["filesystem"]["free_bytes"].as_u64()?;
    let others =
        run.phases.iter().filter(|p| p.axes.tags.get("stage").is_none_or(|stage| stage != "sustained"));
    let largest = others.filter_map(|p| p.axes.file_bytes).max()?;
    (largest <= SMALL && free / 20 < SMALL * 2).then(|| {
        let (free, largest) = (units::bytes(free), units::bytes(largest));
        format!("Only {free} are free: the largest file has {largest}, so that figures are rough.")
    })
}

/// Why synced data can be lost all the same.
fn unflushed(run: &Run) -> Option<String> {
    let how = without_durable_syncs(run)?;
    Some(format!("A power cut can lose synced data: {how}."))
}

/// Capitalises a sentence, unless it begins with the name of a device.
fn capital(sentence: &str) -> String {
    let word = sentence.split(' ').next().unwrap_or_default();
    if word.chars().any(|c| c.is_ascii_digit()) {
        return sentence.to_owned();
    }
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl Answer {
    /// A sentence about the limits beyond those listed first.
    #[must_use]
    pub fn other_limits(&self) -> Option<String> {
        if !self.passing_limits.is_empty() {
            let all: Vec<&str> = self.passing_limits.iter().map(|limit| limit.words.as_str()).collect();
            return Some(all.join("; "));
        }
        if !self.limits.is_empty() {
            return None;
        }
        if !self.device_known {
            return Some("not known, as the device is not".into());
        }
        Some("none found in settings or control groups".into())
    }

    /// Where the time of main figures goes; nothing if a limit explains them.
    #[must_use]
    pub fn unlimited_time(&self) -> &[String] {
        let limited = !self.limits.is_empty() || !self.passing_limits.is_empty();
        if limited { &[] } else { &self.time }
    }

    /// The doubts on one line.
    #[must_use]
    pub fn doubts_in_words(&self) -> String {
        match self.doubts.is_empty() {
            true => "none that you could act on".into(),
            false => self.doubts.join("; "),
        }
    }
}

fn places(run: &Run) -> Vec<String> {
    let transport = &run.environment["devices"][0]["transport"];
    let virtual_disk = (transport == "virtio").then(|| "virtual disk".to_owned());
    let places = [Some(run.directory.clone()), Some(storage(run)), virtual_disk];
    places.into_iter().flatten().filter(|words| !words.trim().is_empty()).collect()
}

/// "ext4 on vda, 256 GiB".
#[must_use]
pub fn storage(run: &Run) -> String {
    let machine = Machine::of(run);
    let size = run.environment["devices"][0]["size_bytes"].as_u64().filter(|_| !in_memory(run));
    let kind = machine.filesystem.unwrap_or_else(|| "unknown file system".into());
    match (machine.device, size.map(units::bytes)) {
        (Some(device), Some(size)) => format!("{kind} on {device}, {size}"),
        (Some(device), None) => format!("{kind} on {device}"),
        (None, _) => match run.environment["filesystem"]["total_bytes"].as_u64().filter(|bytes| *bytes > 0) {
            Some(bytes) => format!("{kind}, {}", units::bytes(bytes)),
            None => kind,
        },
    }
}

/// Where no limit was found, the time of these figures is shown; by their brief names.
const TIMED: [&str; 2] = ["fsync", "read"];

fn time(main: &MainPhase<'_>) -> Option<String> {
    let budget = Budget::of(main.phase).filter(|budget| !budget.devices.is_empty())?;
    Some(format!("{}: {}", main.brief, largest_parts(&budget).replace("at most ", "≤ ")))
}

/// A phase whose figures are in the answer.
pub(crate) struct MainPhase<'r> {
    /// What it did.
    pub what: String,
    /// The same in a word or two; empty if it is no figure of the storage.
    brief: String,
    pub phase: &'r Phase,
    /// The percentile to show.
    percentile: fn(&Phase, f64) -> Option<f64>,
}

/// The phases of small reads and writes that measured the storage.
pub(crate) fn main_phases(run: &Run) -> Vec<MainPhase<'_>> {
    let main = |what: String, brief: String, phase, percentile| MainPhase { what, brief, phase, percentile };
    let ladder = |name: &str| named(run, "ladder", name);
    let sync = ladder("write and fsync")
        .map(|p| main("fsync after a 4 KiB write".into(), "fsync".into(), p, synced));
    let eight = named(run, "scaling", "parallel commits").map(|p| {
        let writers = p.axes.streams.unwrap_or(1);
        main(format!("fsync, {writers} writers"), format!("fsync x{writers}"), p, synced)
    });
    let alone = ladder("direct random read").or_else(|| ladder("cold random read"));
    let alone = alone.map(|p| main("random read, 1 in flight".into(), "read".into(), p, latency));
    let deep = of_storage(run, "depth").into_iter().filter(|p| p.axes.queue_depth.unwrap_or(1) > 1);
    let deep = deep.max_by(|a, b| a.ops_per_s().unwrap_or(0.0).total_cmp(&b.ops_per_s().unwrap_or(0.0)));
    let deep = deep.map(|p| {
        let depth = p.axes.queue_depth.unwrap_or(1);
        main(format!("random read, {depth} in flight"), format!("read x{depth}"), p, latency)
    });
    let write = ladder("direct random write")
        .map(|p| main("random write, 1 in flight".into(), "write".into(), p, latency));
    [sync, eight, alone, deep, write].into_iter().flatten().collect()
}

fn rows(run: &Run) -> Vec<AnswerRow> {
    let cached = named(run, "ladder", "cached random read").map(|phase| MainPhase {
        what: "random read, cached".into(),
        brief: String::new(),
        phase,
        percentile: latency,
    });
    main_phases(run).into_iter().chain(cached).filter_map(row).collect()
}

fn row(main: MainPhase<'_>) -> Option<AnswerRow> {
    let ns = [50.0, 99.0, 99.9].map(|percentile| (main.percentile)(main.phase, percentile));
    Some(AnswerRow {
        what: main.what,
        brief: main.brief,
        per_s: main.phase.ops_per_s()?,
        ns,
        served: Kind::served(main.phase),
    })
}

/// Number of rows that have tiles: a write with its fsync, a read, reads at the best depth.
const TILES: usize = 3;

fn tiles(run: &Run, rows: &[AnswerRow]) -> Vec<Tile> {
    let of_row = |row: &AnswerRow| {
        let p99 = row.ns[1].map(|ns| format!("p99 {}", units::time_ns(ns)));
        let cached = by_cache(row.served).map(str::to_owned);
        Tile {
            figure: format!("{}/s", units::count(row.per_s.round() as u64)),
            what: row.what.clone(),
            beside: p99.into_iter().chain(cached).collect::<Vec<_>>().join(", "),
        }
    };
    let main = rows.iter().filter(|row| !row.brief.starts_with("fsync x"));
    let mut tiles: Vec<Tile> = main.take(TILES).map(of_row).collect();
    tiles.extend(streaming_read(run).map(|rate| Tile {
        figure: units::rate(rate),
        what: "cold read".into(),
        beside: file_of_cold_read(run),
    }));
    tiles.extend(long_write(run).map(|(rate, before)| {
        Tile {
            figure: units::rate(rate),
            what: name_of_long_write(run),
            beside: match before {
                Some(before) => format!("{} without the fsync", units::rate(before)),
                None => slowest_second(run)
                    .map_or_else(String::new, |rate| format!("slowest second {}", units::rate(rate))),
            },
        }
    }));
    tiles
}

/// A point of the curve of random reads by queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthPoint {
    /// Operations in flight.
    pub depth: u64,
    /// Reads per second.
    pub per_s: f64,
    /// What served them, if it was not the storage alone.
    pub cache: Option<&'static str>,
}

/// Rates of random reads by queue depth, ascending.
#[must_use]
pub fn depths(run: &Run) -> Vec<DepthPoint> {
    let point = |p: &Phase| {
        let depth = p.axes.queue_depth.unwrap_or(1);
        Some(DepthPoint { depth, per_s: p.ops_per_s()?, cache: by_cache(Kind::served(p)) })
    };
    let mut points: Vec<DepthPoint> = of_stage(run, "depth").into_iter().filter_map(point).collect();
    points.sort_by_key(|point| point.depth);
    points
}

/// The largest file of the surface, in words.
fn largest(run: &Run) -> String {
    let cold = of_stage(run, "surface").into_iter().filter(|p| p.name == "cold read");
    cold.filter_map(|p| p.axes.file_bytes).max().map(units::bytes).unwrap_or_default()
}

/// What served a figure, if it was not the storage alone.
fn by_cache(served: &'static str) -> Option<&'static str> {
    let storage = ["device", "unknown", "metadata", "failed"];
    (!storage.contains(&served)).then_some(served)
}

/// "256 MiB file", with the cache that served it, if one did.
fn file_of_cold_read(run: &Run) -> String {
    let served = streaming_phase(run).map(Kind::served).and_then(by_cache);
    format!("{}{} file", served.map_or_else(String::new, |served| format!("{served}, ")), largest(run))
}

/// The long write's rate to the return of its fsync and to that of its last write. An older survey that did not sync has the
/// second only.
fn long_write(run: &Run) -> Option<(f64, Option<f64>)> {
    let phase = named(run, "sustained", "sustained write")?;
    if let Some(synced) = phase.bytes_per_s_to(Mark::Fsync) {
        let before = phase.bytes_per_s_to(Mark::LastOp);
        return Some((synced, before.filter(|before| *before > synced * FSYNC_MATTERS)));
    }
    let rates: Vec<f64> = course(phase).iter().map(|point| point.1).collect();
    Some((median(&rates).or_else(|| phase.bytes_per_s())?, None))
}

/// What served the long write, if that was not a device.
fn memory_of_long_write(run: &Run) -> Option<&'static str> {
    let served = named(run, "sustained", "sustained write").map(Kind::served)?;
    (served.contains("cache") && !served.contains("device")).then_some(served)
}

fn name_of_long_write(run: &Run) -> String {
    memory_of_long_write(run).map_or_else(|| "long write".into(), |served| format!("long write ({served})"))
}

/// Rates of sequential reads and writes, bytes a second.
#[must_use]
pub fn streams(run: &Run) -> Vec<(String, f64)> {
    let read = streaming_read(run).map(|rate| (format!("cold read, {} file", largest(run)), rate));
    let write = long_write(run).map(|(rate, _)| (name_of_long_write(run), rate));
    [read, write].into_iter().flatten().collect()
}

fn more(run: &Run) -> Vec<(&'static str, String)> {
    let read = streaming_read(run).map(|rate| format!("cold read {}", units::rate(rate)));
    let write = long_write(run).map(|(rate, before)| {
        let beside = match (before, memory_of_long_write(run)) {
            (None, None) => String::new(),
            (None, Some(served)) => format!(" ({served})"),
            (Some(_), None) => " with its fsync".into(),
            (Some(_), Some(served)) => format!(" (fsync, {served})"),
        };
        format!("long write {}{beside}", units::rate(rate))
    });
    let streams: Vec<String> = [read, write].into_iter().flatten().collect();
    let small = |name| Some(units::count(files_per_s(named(run, "small files", name)?)?.round() as u64));
    let files = small("small files").map(|n| {
        let synced = small("small files with fsync").map(|n| format!(", {n}/s with an fsync each"));
        format!("{n}/s created, written, deleted{}", synced.unwrap_or_default())
    });
    let lines = [("streams", (!streams.is_empty()).then(|| streams.join(", "))), ("4 KiB files", files)];
    lines.into_iter().filter_map(|(name, words)| Some((name, words?))).collect()
}

/// Rules whose findings name a setting or limit of the place, each with a short name. Other rules name what programs do: the CPU
/// time they use, pieces of a file.
pub const LIMITS: [(&str, &str); 37] = [
    ("io-limit", "I/O limit of a control group"),
    ("io-share", "I/O weight or class"),
    ("cpu-quota", "CPU quota of a control group"),
    ("memory-limit", "memory limit of a control group"),
    ("few-processors", "few CPUs allowed"),
    ("traced", "a tracer"),
    ("slow-system-calls", "slow system calls"),
    ("access-check", "access checks (fanotify)"),
    ("sync-mount", "mounted with sync"),
    ("sync-attribute", "attribute S (sync)"),
    ("mount-option", "costly mount option"),
    ("small-journal", "small journal"),
    ("data-journal", "data in the journal"),
    ("two-copies", "two copies of the data"),
    ("external-journal", "external journal"),
    ("dirty-limit", "limit of dirty pages"),
    ("early-write-back", "early write-back"),
    ("no-read-ahead", "read-ahead off"),
    ("strict-guarantees", "strict_guarantees of bfq"),
    ("write-back-latency", "low wbt_lat_usec"),
    ("few-requests", "few requests in the queue"),
    ("small-requests", "small requests"),
    ("no-merges", "merging off"),
    ("compression", "compression"),
    ("encryption", "encryption"),
    ("checksums", "checksums"),
    ("sparse-image", "sparse image"),
    ("copied-image", "image copied on write"),
    ("fragmented-image", "image in many pieces"),
    ("parity", "RAID with parity"),
    ("degraded", "degraded RAID"),
    ("snapshot", "snapshot"),
    ("discard", "mounted with discard"),
    ("fuse", "FUSE"),
    ("loop-driver", "loop driver"),
    ("nested-loops", "an image inside an image"),
    ("held-back", "requests held back in the queue"),
];

/// The first rules in [`LIMITS`] find limits and weights of control groups; these are headlines, however few phases they affected.
const GROUPS: usize = 4;
/// Any other limit must have affected at least this share of the phases.
const HEADLINE: f64 = 0.05;

/// A limit that findings of several phases name.
#[derive(Default)]
struct Found<'r> {
    /// Their `seq`.
    phases: Vec<u32>,
    /// The findings, that of the longest phase first.
    findings: Vec<(u64, &'r Finding)>,
}

impl Found<'_> {
    /// In the words of the phase that it affected longest; limits of control groups on reads and on writes together.
    fn sentence(&self) -> String {
        const GROUP: &str = "A control group limits ";
        let first = self.findings.first().map_or("", |(_, finding)| &finding.sentence);
        let limited = |(_, finding): &(u64, &Finding)| {
            let (what, _) = finding.sentence.strip_prefix(GROUP)?.split_once(", and ")?;
            Some(what.to_owned())
        };
        let mut all: Vec<String> = self.findings.iter().filter_map(limited).collect();
        let mut seen = BTreeSet::new();
        all.retain(|what| seen.insert(what.clone()));
        match all.as_slice() {
            [_, _, ..] => format!("{GROUP}{}.", all.join(", and ")),
            _ => first.to_owned(),
        }
    }
}

impl Found<'_> {
    /// What to do about it: of limits in one sentence, about each.
    fn advice(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        let all: Vec<&str> = self.findings.iter().map(|(_, finding)| finding.advice.as_str()).collect();
        let all: Vec<&str> =
            all.into_iter().filter(|advice| !advice.is_empty() && seen.insert(*advice)).collect();
        const RAISE: &str = "Raise the limit in ";
        let limits: Option<Vec<(&str, &str)>> =
            all.iter().map(|advice| advice.strip_prefix(RAISE)?.split_once(". Or ")).collect();
        let limits = limits.filter(|_| self.findings.iter().all(|(_, f)| f.rule == LIMITS[0].0));
        match limits.as_deref() {
            // The limits of one group lie in different files.
            Some([(_, rest), _, ..]) => {
                let files: Vec<&str> = limits.iter().flatten().map(|(file, _)| *file).collect();
                let of_one_group: BTreeSet<&str> =
                    files.iter().filter_map(|file| Some(file.rsplit_once('/')?.0)).collect();
                let place = match of_one_group.first() {
                    Some(directory) if of_one_group.len() == 1 => (*directory).to_owned(),
                    _ => files.join(" and "),
                };
                Some(format!("Raise the limits in {place}. Or {rest}"))
            }
            _ => all.first().map(|advice| (*advice).to_owned()),
        }
    }
}

/// The limits of the storage, each once: headlines, what to do about the first, and the others by name.
fn limits(run: &Run) -> (Vec<Limit>, Option<String>, Vec<Limit>) {
    let mut found: BTreeMap<usize, Found<'_>> = BTreeMap::new();
    for phase in &run.phases {
        let mut here: BTreeMap<usize, (u64, &Finding)> = BTreeMap::new();
        for repetition in &phase.repetitions {
            for finding in &repetition.findings {
                if let Some(rank) = LIMITS.iter().position(|(rule, _)| *rule == finding.rule) {
                    here.insert(rank, (repetition.elapsed_ns, finding));
                }
            }
        }
        for (rank, finding) in here {
            let entry = found.entry(rank).or_default();
            entry.phases.push(phase.seq);
            entry.findings.push(finding);
        }
    }
    let all = run.phases.len();
    let of_all = |phases: &[u32]| {
        let word = if all == 1 { "test" } else { "tests" };
        format!("{} of {all} {word}", phases.len())
    };
    let (mut many, mut remedy, mut few) = (Vec::new(), None, Vec::new());
    for (rank, mut limit) in found {
        let name = LIMITS[rank].1;
        limit.findings.sort_by_key(|(elapsed_ns, _)| std::cmp::Reverse(*elapsed_ns));
        if rank < GROUPS || limit.phases.len() as f64 >= all as f64 * HEADLINE {
            let shown = shown_figures(run, &limit.phases, usize::MAX);
            let shown = shown
                .map_or_else(String::new, |shown| format!(" It held back at least these figures: {shown}."));
            let words = format!("Limited in {}: {}{shown}", of_all(&limit.phases), limit.sentence());
            many.push(Limit { name, words });
            if many.len() == 1 {
                remedy = limit.advice();
            }
        } else {
            few.push(Limit { name, words: format!("{name} ({})", of_all(&limit.phases)) });
        }
    }
    // A rate that no depth exceeds may be a limit of unknown origin.
    if many.is_empty() {
        many.extend(
            limit(run)
                .map(|found| Limit { name: "a rate that no depth exceeds", words: capital(&found.sentence) }),
        );
    }
    (many, remedy, few)
}

fn fsyncs(run: &Run) -> Option<f64> {
    named(run, "ladder", "write and fsync")?.ops_per_s()
}

/// Changes of the figures that both surveys have with the same meaning.
fn since(run: &Run, before: &Run) -> Option<String> {
    let whole = [run, before].iter().all(|run| run.status == Status::Completed);
    let deep = [run, before].iter().all(|run| !of_stage(run, "depth").is_empty());
    let of_storage = |run: &Run| of_stage(run, "depth").into_iter().any(by_storage);
    let deep = deep && of_storage(run) == of_storage(before);
    let same_file = largest(run) == largest(before);
    let headlines: [Headline; 3] = [
        ("fsyncs", fsyncs, true),
        ("random reads", best_reads, deep),
        ("cold read", streaming_read, same_file),
    ];
    let changes: Vec<String> = headlines
        .iter()
        .filter(|(_, _, comparable)| *comparable)
        .filter_map(|(name, value, _)| {
            let (now, then) = (value(run)?, value(before).filter(|then| *then > 0.0)?);
            Some(format!("{name} {}", change(now / then)))
        })
        .collect();
    if !whole || changes.is_empty() {
        return None;
    }
    let then = before.started_at.get(..19)?.parse::<jiff::civil::DateTime>().ok()?;
    let now = run.started_at.get(..4).and_then(|year| year.parse::<i16>().ok());
    let then = then.strftime(if now == Some(then.year()) { "%-d %b %H:%M" } else { "%-d %b %Y" });
    Some(format!("since {then}: {}; one run each", changes.join("; ")))
}

/// "+4 %", or "2.4x faster": large changes are hard to read as percentages.
fn change(ratio: f64) -> String {
    let times = |factor: f64| if factor < 9.95 { format!("{factor:.1}x") } else { format!("{factor:.0}x") };
    if ratio > 2.0 {
        format!("{} faster", times(ratio))
    } else if ratio > 0.0 && ratio < 0.5 {
        format!("{} slower", times(1.0 / ratio))
    } else {
        // Adding 0 makes "-0" a "+0".
        format!("{:+.0} %", ((ratio - 1.0) * 100.0).round() + 0.0)
    }
}

/// Whether the user can do something about a doubt. The others follow from how a survey works.
fn can_be_helped(doubt: &DoubtGroup) -> bool {
    let own =
        ["page-cache", "memory", "short-phase", "skew", "fits-memory", "virtual-machine", "interrupted"];
    !own.contains(&doubt.code.as_str())
}

/// Which of the main figures come from these phases: "fsync, read x128 and long write", at most this
/// many by name.
fn shown_figures(run: &Run, phases: &[u32], most: usize) -> Option<String> {
    let small = main_phases(run).into_iter().map(|main| (main.brief, main.phase));
    let others = [
        ("cold read", streaming_phase(run)),
        ("long write", named(run, "sustained", "sustained write")),
        ("4 KiB files", named(run, "small files", "small files")),
        ("4 KiB files with fsync", named(run, "small files", "small files with fsync")),
    ];
    let others = others.into_iter().filter_map(|(name, phase)| Some((name.to_owned(), phase?)));
    let mut shown: Vec<String> =
        small.chain(others).filter(|(_, phase)| phases.contains(&phase.seq)).map(|(name, _)| name).collect();
    let more = shown.len().saturating_sub(most);
    if more > 0 {
        shown.truncate(most);
        shown.push(format!("{more} more"));
    }
    let last = shown.pop()?;
    Some(if shown.is_empty() { last } else { format!("{} and {last}", shown.join(", ")) })
}

/// A doubt in a few words, with the number of phases concerned and what follows it. The page has its full sentence.
pub(crate) fn words(run: &Run, doubt: &DoubtGroup, after: &str) -> String {
    let words = match doubt.code.as_str() {
        "page-cache" => "page-cache figures",
        "memory" => "file system in memory",
        "no-counters" => "no counters of the device",
        "short-phase" => "under 10 ms",
        "skew" => "workers did not start together",
        "stood-still" => "stood still",
        "foreign-io" => "other programs used the device",
        "steal" => "hypervisor took CPU time",
        "busy-processors" => "other programs used the CPU",
        "fits-memory" => "files fit into free memory",
        "space" => "little free space",
        "governor" => "the CPU saves power",
        "virtual-machine" => "a virtual machine's disk",
        "impossible-device" => "reads that the device did not count",
        "impossible-direct" => "O_DIRECT not by the device alone",
        "impossible-sync" => "fsync without writes at the device",
        "unflushed-sync" => "fsync without a flush of the device",
        "impossible-sync-rate" => "synced faster than the device wrote",
        "not-cold" => "files were in memory before",
        "spread" => "repetitions differ by more than 20 %",
        "jitter" => "p99.9 as long as pauses of this machine",
        other => &other.replace('-', " "),
    };
    if doubt.phases.is_empty() {
        return words.into();
    }
    format!("{words} ({} of {}{after})", doubt.phases.len(), run.phases.len())
}
