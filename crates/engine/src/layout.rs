//! What each worker of a phase works on: its files, the region, the largest operation, its CPUs.

use fathom_workload::ops::Region;
use fathom_workload::{Access, Act, Does, FileSet, Group, Phase, Pick, Pinning, Stream, Workload};

/// Each thread of each process of a group, with the index of its process within the group.
pub(crate) fn instances(group: &Group) -> impl Iterator<Item = (&fathom_workload::Thread, u32)> {
    (0..group.instances).flat_map(move |process| {
        group.threads.iter().flat_map(move |t| (0..t.instances).map(move |_| (t, process)))
    })
}

/// Index, within its set, of the file that a worker uses.
pub(crate) fn file_of(workload: &Workload, stream: &Stream, worker: usize) -> u64 {
    let count = workload.fileset(&stream.fileset).map_or(1, |s| s.files.count().max(1));
    match stream.pick {
        Pick::ByWorker | Pick::All => worker as u64 % count,
        Pick::One(index) => u64::from(index),
    }
}

/// Indices, within their set, of the files that a worker works on.
pub(crate) fn files_of(workload: &Workload, stream: &Stream, worker: usize) -> std::ops::Range<u64> {
    let count = workload.fileset(&stream.fileset).map_or(0, |s| s.files.count());
    let one = file_of(workload, stream, worker);
    if stream.pick == Pick::All { 0..count } else { one..(one + 1).min(count) }
}

/// The file sets named by operations of a phase's flows that match, without duplicates.
pub(crate) fn sets_of_flows<'a>(
    workload: &'a Workload,
    phase: &Phase,
    wanted: impl Fn(Act) -> bool,
) -> Vec<&'a FileSet> {
    let names = fathom_workload::flow::set_names(phase, wanted);
    workload.filesets.iter().filter(|set| names.contains(set.name.as_str())).collect()
}

/// The part of a file that a stream works on.
pub(crate) fn region_of(stream: &Stream, file_bytes: u64) -> Region {
    let start = stream.start.0;
    if let Access::Listed(list) = &stream.access {
        let end = list.iter().map(|op| op.offset + u64::from(op.bytes)).max().unwrap_or(0);
        return Region { start: 0, length: end };
    }
    Region { start, length: stream.length.map_or(file_bytes.saturating_sub(start), |b| b.0) }
}

/// Bytes of the largest operation.
pub(crate) fn largest(stream: &Stream) -> usize {
    if let Access::Listed(list) = &stream.access {
        // A trim needs no buffer.
        let moved = list.iter().filter(|op| op.does != Some(Does::Trim));
        return moved.map(|op| op.bytes as usize).max().unwrap_or(1);
    }
    stream.record.largest().0 as usize
}

/// The CPU of a worker if each of its group has one CPU in turn.
pub(crate) fn only_cpu(pinning: &Pinning, worker: usize, allowed: &[usize]) -> Option<usize> {
    match pinning {
        Pinning::Free | Pinning::Among(_) => None,
        Pinning::From(first) => allowed.get((*first as usize + worker) % allowed.len().max(1)).copied(),
    }
}

/// The CPUs that each worker of a phase may use on this machine, in the order of their indices; `None`: those of this process.
#[must_use]
pub fn cpus_of_workers(phase: &Phase) -> Vec<Option<Vec<u32>>> {
    let allowed = allowed_cpus();
    let groups = phase.groups.iter().flat_map(|group| instances(group).map(move |_| &group.pinning));
    let of_worker = |(index, pinning): (usize, &Pinning)| match pinning {
        Pinning::Among(list) => Some(list.clone()),
        _ => only_cpu(pinning, index, &allowed).map(|cpu| vec![cpu as u32]),
    };
    groups.enumerate().map(of_worker).collect()
}

/// The CPUs that this process may use, ascending.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&c| allowed.is_set(c)).collect()
}
