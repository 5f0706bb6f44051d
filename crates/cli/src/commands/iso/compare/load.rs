//! The loads of a run: which files, how many threads, which order. Random offsets come from a fixed seed, so that every
//! policy gets the same requests.

use super::options::ReadLoad;
use crate::commands::iso::Opened;
use crate::commands::iso::backend::ImageFile;
use fathom_isofs::reader::Reader;
use fathom_isofs::{Error, Kind, Node, Step, Walk};
use std::time::Instant;

/// Seed of the random offsets.
pub const SEED: u64 = 0x0150_9660_2007;
const RANDOM_READERS: u64 = 4;
const STREAMS: u64 = 3;

/// Files to read, found before anything is measured.
pub struct ReadPlan {
    /// Largest first.
    largest: Vec<(String, Node)>,
    record: u64,
    amount: u64,
}

/// Result of a run.
#[derive(Debug)]
pub struct LoadResult {
    pub wall_ns: u64,
    pub bytes: u64,
    /// Latency of each read, ascending.
    pub latencies_ns: Vec<u64>,
}

/// One reader's part: range and order.
struct ReaderPart<'p> {
    node: &'p Node,
    start: u64,
    end: u64,
    /// Number of random reads and seed; else sequential.
    random: Option<(u64, u64)>,
}

impl ReadPlan {
    /// Finds the largest files. `None` if there is nothing to read.
    pub fn of(image: &Opened, record: u64, amount: u64) -> Option<Self> {
        let mut largest: Vec<(String, Node)> = Vec::new();
        let mut walk = Walk::new(image);
        while let Some(step) = walk.step() {
            let Step::File { path, node, .. } = step else { continue };
            if node.kind() != Kind::File || node.size() == 0 || !image.holds(node) {
                continue;
            }
            let at = largest.partition_point(|(_, other)| other.size() >= node.size());
            if at < STREAMS as usize {
                largest.insert(at, (super::super::shown(path), node.clone()));
                largest.truncate(STREAMS as usize);
            }
        }
        (!largest.is_empty()).then_some(Self { largest, record, amount })
    }

    /// Describes what a load reads.
    pub fn about(&self, load: ReadLoad) -> String {
        let (name, node) = &self.largest[0];
        let record = fathom_workload::Bytes(self.record);
        match load {
            ReadLoad::Sequential => {
                format!(
                    "{name}: {} bytes from its beginning, {record} at a time",
                    node.size().min(self.amount)
                )
            }
            ReadLoad::Streams if self.apart() => {
                let names: Vec<&str> = self.largest.iter().map(|(name, _)| name.as_str()).collect();
                format!(
                    "{}: {} bytes of each, {record} at a time, a reader each",
                    names.join(", "),
                    self.share()
                )
            }
            ReadLoad::Streams => {
                format!("{name}: three parts of {} bytes, {record} at a time, a reader each", self.share())
            }
            ReadLoad::Random => format!(
                "{name}: {} reads of {record} at random places, by {RANDOM_READERS} readers",
                self.random_reads() * RANDOM_READERS
            ),
            ReadLoad::Tree => format!("every directory and file, up to {} bytes", self.amount),
        }
    }

    /// Whether there are three files large enough for one stream each.
    fn apart(&self) -> bool {
        self.largest.len() as u64 == STREAMS && self.largest[2].1.size() >= self.amount / STREAMS
    }

    /// Bytes per stream.
    fn share(&self) -> u64 {
        let most = self.amount / STREAMS;
        let least = if self.apart() { self.largest[2].1.size() } else { self.largest[0].1.size() / STREAMS };
        most.min(least).max(1)
    }

    fn random_reads(&self) -> u64 {
        (self.amount / 8 / self.record / RANDOM_READERS).max(16)
    }

    fn parts(&self, load: ReadLoad) -> Vec<ReaderPart<'_>> {
        let first = &self.largest[0].1;
        let whole = |node, start, end| ReaderPart { node, start, end, random: None };
        match load {
            ReadLoad::Sequential => vec![whole(first, 0, first.size().min(self.amount))],
            ReadLoad::Streams => (0..STREAMS)
                .map(|n| match self.apart() {
                    true => whole(&self.largest[n as usize].1, 0, self.share()),
                    false => {
                        let start = first.size() / STREAMS * n;
                        whole(first, start, start + self.share())
                    }
                })
                .collect(),
            ReadLoad::Random => (0..RANDOM_READERS)
                .map(|n| ReaderPart {
                    node: first,
                    start: 0,
                    end: first.size(),
                    random: Some((self.random_reads(), SEED ^ (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
                })
                .collect(),
            ReadLoad::Tree => Vec::new(),
        }
    }
}

/// Runs a load. An error comes from reading the image.
pub fn run(load: ReadLoad, plan: &ReadPlan, reader: &Reader<ImageFile>) -> Result<LoadResult, Error> {
    let begun = Instant::now();
    let done = match load {
        ReadLoad::Tree => vec![tree(plan, reader)],
        _ => {
            let parts = plan.parts(load);
            std::thread::scope(|scope| {
                let readers: Vec<_> =
                    parts.iter().map(|part| scope.spawn(|| of_part(part, plan.record, reader))).collect();
                readers
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    .collect()
            })
        }
    };
    let wall_ns = ns(begun);
    let mut all = LoadResult { wall_ns, bytes: 0, latencies_ns: Vec::new() };
    for part in done {
        let (bytes, latencies) = part?;
        all.bytes += bytes;
        all.latencies_ns.extend(latencies);
    }
    all.latencies_ns.sort_unstable();
    Ok(all)
}

/// Bytes read, and the latency of each read.
type ReadResult = Result<(u64, Vec<u64>), Error>;

fn of_part(part: &ReaderPart<'_>, record: u64, reader: &Reader<ImageFile>) -> ReadResult {
    let file = reader.open(part.node);
    let mut buffer = vec![0; usize::try_from(record).unwrap_or(usize::MAX)];
    let (mut bytes, mut latencies) = (0, Vec::new());
    let mut read = |at: u64, most: u64| {
        let wanted = usize::try_from(most.min(record)).unwrap_or(usize::MAX);
        let begun = Instant::now();
        let got = file.read_at(at, &mut buffer[..wanted])? as u64;
        latencies.push(ns(begun));
        bytes += got;
        Ok(got)
    };
    match part.random {
        Some((reads, mut state)) => {
            let places = (part.end / record).max(1);
            for _ in 0..reads {
                if stopped() {
                    break;
                }
                state = step(state);
                read(part.start + state % places * record, record)?;
            }
        }
        None => {
            let mut at = part.start;
            while at < part.end && !stopped() {
                match read(at, part.end - at)? {
                    0 => break,
                    got => at += got,
                }
            }
        }
    }
    Ok((bytes, latencies))
}

/// Reads every file in directory order; skips unreadable ones, as tar would.
fn tree(plan: &ReadPlan, reader: &Reader<ImageFile>) -> ReadResult {
    let (mut bytes, mut latencies) = (0, Vec::new());
    let mut walk = Walk::new(reader.image());
    while let Some(step) = walk.step() {
        let Step::File { node, again: false, .. } = step else { continue };
        if node.kind() != Kind::File {
            continue;
        }
        let part = ReaderPart { node, start: 0, end: node.size().min(plan.amount - bytes), random: None };
        if let Ok((some, more)) = of_part(&part, plan.record, reader) {
            bytes += some;
            latencies.extend(more);
        }
        if bytes >= plan.amount || stopped() {
            break;
        }
    }
    Ok((bytes, latencies))
}

/// Whether a signal has arrived.
fn stopped() -> bool {
    fathom_engine::interrupted_by().is_some()
}

/// Next pseudo-random number (splitmix64).
fn step(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn ns(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
