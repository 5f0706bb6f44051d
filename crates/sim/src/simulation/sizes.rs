//! Size of a simulation, estimated before anything is allocated: whether the files fit on the device, the tables fit a memory limit, and
//! the worker numbers suffice. Sums saturate, so that no excess wraps around.

use super::SimError;
use crate::files::PAGE;
use crate::flows;
use crate::host::Host;
use crate::names::used_by_flows;
use crate::regions::written;
use crate::shared::SharedPaths;
use fathom_record::histogram::BUCKETS;
use fathom_workload::flow::every;
use fathom_workload::{
    Act, Amount, FileSet, Isolation, Phase, Pick, Program, Sequence, Sizing, Stop, Stream, Workload,
};

/// Memory limit for the tables of one simulation, bytes.
const MOST_BYTES: u64 = 4 << 30;
/// Bytes kept per file page, per cached page, per file, per open file and per worker of a repetition.
const PER_PAGE: u64 = 4;
const PER_FRAME: u64 = 24;
const PER_FILE: u64 = 512;
const PER_OPEN: u64 = 256;
const PER_WORKER: u64 = 1024;
/// Bytes kept per operation of a flow's thread (a histogram and a wait point), per such thread (its slots), and per task for asynchronous
/// writes.
const PER_ROW: u64 = (BUCKETS as u64 + 32) * 8;
const PER_ACTOR: u64 = 16 << 10;
pub(super) const PER_WRITER: u64 = 2048;
/// About a million operations are simulated per second, so more than this take days.
const MOST_OPERATIONS: u64 = 100_000_000_000;
/// Worker numbers have 16 bits; three are taken by system tasks.
const MOST_WORKERS: u64 = u16::MAX as u64 - 3;

/// Refuses a workload that is too large.
pub(super) fn check(workload: &Workload, host: &Host, capacity_sectors: u64) -> Result<(), SimError> {
    for phase in &workload.phases {
        let workers = workers(phase);
        if workers > MOST_WORKERS {
            let why =
                format!("phase {}: {workers} workers; the simulator numbers {MOST_WORKERS}", phase.name);
            return Err(SimError::Unsupported(why));
        }
        if let Some(operations) = most_operations(phase).filter(|&n| n > MOST_OPERATIONS) {
            let why = format!(
                "phase {}: one stream makes {operations} operations, and a simulation makes {MOST_OPERATIONS} at most; give the phase a stop, or the stream a smaller amount",
                phase.name
            );
            return Err(SimError::Unsupported(why));
        }
    }
    let (pages, blocks) = pages(workload);
    let end_sector = blocks.saturating_mul(PAGE / 512).saturating_add(host.filesystem.data_mib.get() * 2048);
    if end_sector > capacity_sectors {
        let (end_mib, at_mib) = (end_sector / 2048, capacity_sectors / 2048);
        return Err(SimError::Space { end_mib, what: "the device at", at_mib });
    }
    let others = host.memory.others_mib.as_ref().map_or(0, |o| u64::from(o.get()) * ((1 << 20) / PAGE));
    let all = pages.saturating_add(others);
    let frames = all.min(u64::from(host.memory.cache_mib.get()) * ((1 << 20) / PAGE));
    let files: u64 = workload.filesets.iter().fold(0, |sum, set| sum.saturating_add(set.files.count()));
    let opens = workload.phases.iter().map(|phase| opens(workload, phase)).max().unwrap_or(0);
    let of_phases = workload.phases.iter().fold(0_u64, |sum, phase| sum.saturating_add(workers(phase)));
    let (rows, actors, writers) = largest_cast(workload);
    let parts = [
        ("pages of files", all, PER_PAGE),
        ("pages in memory", frames, PER_FRAME),
        ("files", files, PER_FILE),
        ("open files", opens, PER_OPEN),
        ("workers of all repetitions", of_phases.saturating_mul(workload.repetitions.into()), PER_WORKER),
        ("rows of operations of flows", rows, PER_ROW),
        ("threads of flows", actors, PER_ACTOR),
        ("asynchronous writers of flows", writers, PER_WRITER),
    ];
    let bytes = parts.iter().fold(0_u64, |sum, (_, n, each)| sum.saturating_add(n.saturating_mul(*each)));
    match parts.iter().max_by_key(|(_, n, each)| n.saturating_mul(*each)) {
        Some((what, n, _)) if bytes > MOST_BYTES => Err(SimError::Unsupported(format!(
            "this would take {} MiB of memory, and a simulation takes {} at most; most of it for {n} {what}",
            bytes >> 20,
            MOST_BYTES >> 20
        ))),
        _ => Ok(()),
    }
}

/// The largest number of operations among streams that end only by their amount.
fn most_operations(phase: &Phase) -> Option<u64> {
    let Stop { operations, bytes, steady, .. } = &phase.stop;
    let bytes = bytes.map_or(u64::MAX, |bytes| bytes.0);
    if steady.is_some() || operations.is_some_and(|n| n <= MOST_OPERATIONS) || bytes <= MOST_OPERATIONS {
        return None;
    }
    let groups = phase.groups.iter().filter(|group| group.time(phase).is_none());
    let threads = groups.flat_map(|group| &group.threads);
    let of = |stream: &Stream| match stream.amount {
        Amount::Operations(n) => n,
        Amount::Bytes(bytes) => bytes.0 / stream.record.unit().0.max(1),
        Amount::Pass | Amount::Passes(_) | Amount::Endless => 0,
    };
    threads
        .filter_map(|t| if let Program::Stream(stream) = &t.program { Some(of(stream)) } else { None })
        .max()
}

fn workers(phase: &Phase) -> u64 {
    phase.groups.iter().fold(0, |sum, group| {
        let threads = group.threads.iter().fold(0_u64, |sum, t| sum.saturating_add(t.instances.into()));
        sum.saturating_add(threads.saturating_mul(group.instances.into()))
    })
}

/// Totals of the largest phase's flows: rows, threads, tasks for asynchronous writes.
fn largest_cast(workload: &Workload) -> (u64, u64, u64) {
    let (mut rows, mut actors, mut writers) = (0, 0, 0);
    for phase in &workload.phases {
        let mut of_phase = (0u64, 0u64, 0u64);
        for group in &phase.groups {
            for thread in &group.threads {
                let Program::Flow(flow) = &thread.program else { continue };
                let ops = every(&flow.ops);
                let threads = u64::from(group.instances).saturating_mul(thread.instances.into());
                let add = |sum: &mut u64, each: u64| *sum = sum.saturating_add(threads.saturating_mul(each));
                add(&mut of_phase.0, ops.len() as u64);
                add(&mut of_phase.1, 1);
                if ops.iter().any(|op| op.act == Act::AsyncWrite) {
                    add(&mut of_phase.2, flows::MOST as u64);
                }
            }
        }
        rows = of_phase.0.max(rows);
        actors = of_phase.1.max(actors);
        writers = of_phase.2.max(writers);
    }
    (rows, actors, writers)
}

/// Pages of files with given sizes, up to their ends and without holes; drawn sizes are checked when they are drawn.
fn pages(workload: &Workload) -> (u64, u64) {
    let shared = SharedPaths::of(workload, used_by_flows(workload));
    let of = |set: &FileSet| match &set.size {
        Sizing::Fixed(_) | Sizing::Each(_) if !shared.listed(set).is_empty() => (0, 0),
        Sizing::Fixed(bytes) => {
            let (end, filled) = written(workload, set).of_file(bytes.0);
            let all = |bytes: u64| set.files.count().saturating_mul(bytes.div_ceil(PAGE));
            (all(end), all(filled))
        }
        Sizing::Each(sizes) => {
            let written = written(workload, set);
            let ends = sizes.iter().map(|bytes| written.of_file(bytes.0));
            ends.fold((0, 0), |sum, (end, filled)| {
                (sum.0 + end.div_ceil(PAGE), sum.1 + filled.div_ceil(PAGE))
            })
        }
        Sizing::Variable(_) => (0, 0),
    };
    let of_shared = shared.all().map(|file| {
        let (end, filled) = file.written.of_file(file.bytes);
        (end.div_ceil(PAGE), filled.div_ceil(PAGE))
    });
    let add = |a: (u64, u64), b: (u64, u64)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
    workload.filesets.iter().map(of).chain(of_shared).fold((0, 0), add)
}

/// Open files of a phase: threads of one process that draw from one sequence share theirs, others open their own.
fn opens(workload: &Workload, phase: &Phase) -> u64 {
    let mut all: u64 = 0;
    for group in &phase.groups {
        for thread in &group.threads {
            let Program::Stream(stream) = &thread.program else { continue };
            let files = workload.filesets.iter().find(|set| set.name == stream.fileset);
            let each = if stream.pick == Pick::All { files.map_or(1, |f| f.files.count().max(1)) } else { 1 };
            let openers = match (stream.sequence, group.isolation) {
                (Sequence::Common, Isolation::Thread) if stream.pick == Pick::All => 1,
                (Sequence::Common, Isolation::Process) if stream.pick == Pick::All => group.instances.into(),
                _ => u64::from(group.instances).saturating_mul(thread.instances.into()),
            };
            all = all.saturating_add(openers.saturating_mul(each));
        }
    }
    all
}
