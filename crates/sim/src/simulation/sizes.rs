//! What a simulation would take, reckoned before any of it is made: whether the files fit on the device, whether the tables fit in a bound
//! of memory, whether everybody can be given a number. Sums saturate, so that what is far too much is too much and no overflow.

use super::SimError;
use crate::files::PAGE;
use crate::host::Host;
use crate::names::used_by_flows;
use crate::sets::reach;
use crate::shared::Shared;
use fathom_workload::{FileSet, Isolation, Phase, Pick, Program, Sequence, Sizing, Workload};

/// The tables of one simulation take no more, bytes.
const MOST_BYTES: u64 = 4 << 30;
/// What is kept of a page of a file, of a page in memory, of a file, of an open file and of a worker of a repetition, bytes.
const PER_PAGE: u64 = 4;
const PER_FRAME: u64 = 24;
const PER_FILE: u64 = 512;
const PER_OPEN: u64 = 256;
const PER_WORKER: u64 = 1024;
/// Workers are numbered by 16 bits, behind three tasks of the system's.
const MOST_WORKERS: u64 = u16::MAX as u64 - 3;

/// Refuses what is too large.
pub(super) fn check(workload: &Workload, host: &Host, capacity_sectors: u64) -> Result<(), SimError> {
    for phase in &workload.phases {
        let workers = workers(phase);
        if workers > MOST_WORKERS {
            let why =
                format!("phase {}: {workers} workers; the simulator numbers {MOST_WORKERS}", phase.name);
            return Err(SimError::Unsupported(why));
        }
    }
    let pages = pages(workload);
    let end_sector = pages.saturating_mul(PAGE / 512).saturating_add(host.filesystem.data_mib.get() * 2048);
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
    let parts = [
        ("pages of files", all, PER_PAGE),
        ("pages in memory", frames, PER_FRAME),
        ("files", files, PER_FILE),
        ("open files", opens, PER_OPEN),
        ("workers of all repetitions", of_phases.saturating_mul(workload.repetitions.into()), PER_WORKER),
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

fn workers(phase: &Phase) -> u64 {
    phase.groups.iter().fold(0, |sum, group| {
        let threads = group.threads.iter().fold(0_u64, |sum, t| sum.saturating_add(t.instances.into()));
        sum.saturating_add(threads.saturating_mul(group.instances.into()))
    })
}

/// Pages of the files whose sizes are said; those that are drawn are looked at when they are.
fn pages(workload: &Workload) -> u64 {
    let shared = Shared::of(workload, used_by_flows(workload));
    let of = |set: &FileSet| match set.size {
        Sizing::Fixed(_) if !shared.listed(set).is_empty() => 0,
        Sizing::Fixed(bytes) => {
            set.files.count().saturating_mul(bytes.0.max(reach(workload, set)).div_ceil(PAGE))
        }
        Sizing::Variable(_) => 0,
    };
    let own = workload.filesets.iter().map(of);
    own.chain(shared.all().map(|file| file.bytes.div_ceil(PAGE))).fold(0, u64::saturating_add)
}

/// Open files of a phase: threads of one process that draw from one sequence share theirs, others have opened their own.
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
