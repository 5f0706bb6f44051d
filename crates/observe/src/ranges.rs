//! Phases whose syncs are sync_file_range(2). It starts write-back, and may wait for it, but flushes no device's cache and writes no
//! metadata: nothing is durable by it.

use fathom_record::ranks::rank_of;
use fathom_record::{OpKind, Phase, Repetition, Run, Worker};
use fathom_workload::{Access, Act, Backend, FlowOp, MapFlush, OpenSync, Program, Workload};

/// The workload of a run, if it has such calls.
pub(crate) struct Ranges(Option<Workload>);

impl Ranges {
    /// Parses the workload only if it may have some: the text of a long one takes a while.
    pub(crate) fn of(run: &Run) -> Self {
        let may = run.workload.contains("range");
        Self(may.then(|| Workload::from_toml(&run.workload).ok()).flatten())
    }

    /// Whether a phase has such calls, and nothing else that makes data durable.
    pub(crate) fn only_in(&self, phase: &Phase) -> bool {
        all_ranges(self.programs(phase, None)) && !self.programs(phase, None).any(is_synced_otherwise)
    }

    /// The syncs of a repetition that are no such calls, those at the end included. The record counts all together.
    pub(crate) fn fsyncs(&self, phase: &Phase, repetition: &Repetition) -> u64 {
        let of = |worker: &Worker| {
            let at_end = ops(worker, OpKind::FinalSync);
            let own = if self.are_of(phase, worker) {
                u64::from(worker.marks.fsync_ns > 0)
            } else {
                ops(worker, OpKind::Sync)
            };
            own.saturating_add(at_end)
        };
        repetition.workers.iter().map(of).fold(0, u64::saturating_add)
    }

    /// Those between operations, as in flows and series.
    pub(crate) fn fsyncs_between(&self, phase: &Phase, repetition: &Repetition) -> u64 {
        let others = repetition.workers.iter().filter(|w| !self.are_of(phase, w));
        others.map(|w| ops(w, OpKind::Sync)).fold(0, u64::saturating_add)
    }

    /// Whether a worker's syncs between its operations are such calls. Not where threads of its group differ: then all are taken for fsync.
    fn are_of(&self, phase: &Phase, worker: &Worker) -> bool {
        let group = rank_of(&worker.group).map_or(&*worker.group, |(_, group)| group);
        self.only_in(phase) || all_ranges(self.programs(phase, Some(group)))
    }

    /// The programs of a phase, or of one of its groups.
    fn programs<'a>(&'a self, phase: &Phase, group: Option<&'a str>) -> impl Iterator<Item = &'a Program> {
        let planned = self.0.as_ref().and_then(|w| w.phases.get(phase.seq as usize));
        let groups = planned.into_iter().flat_map(|p| &p.groups);
        let groups = groups.filter(move |g| group.is_none_or(|name| g.name == name));
        groups.flat_map(|g| &g.threads).map(|thread| &thread.program)
    }
}

fn ops(worker: &Worker, op: OpKind) -> u64 {
    worker.stats.iter().filter(|s| s.op == op).fold(0, |sum, s| sum.saturating_add(s.ops))
}

/// Whether there are syncs between the operations, all of them such calls.
fn all_ranges<'a>(programs: impl Iterator<Item = &'a Program>) -> bool {
    let mut syncs = programs.filter_map(are_ranges).peekable();
    syncs.peek().is_some() && syncs.all(|ranges| ranges)
}

/// Whether a program's syncs between its operations are such calls; `None` if it has none.
fn are_ranges(program: &Program) -> Option<bool> {
    let stream = match program {
        Program::Stream(stream) => stream,
        Program::Flow(flow) => return flow_syncs(&flow.ops).then_some(false),
    };
    let listed = matches!(&stream.access, Access::Listed(list) if list.iter().any(|op| op.does.is_some_and(|does| does.syncs())));
    let others = (listed || stream.sync_series.is_some()).then_some(false);
    stream.sync_every.map(|every| every.range.is_some()).or(others)
}

fn flow_syncs(ops: &[FlowOp]) -> bool {
    ops.iter().any(|op| op.sync || matches!(op.act, Act::Sync | Act::SyncSet) || flow_syncs(&op.ops))
}

/// Whether a stream syncs at its end, or with its writes.
fn is_synced_otherwise(program: &Program) -> bool {
    let Program::Stream(stream) = program else { return false };
    stream.timed.fsync
        || stream.sync_after
        || stream.open.sync != OpenSync::No
        || matches!(&stream.backend, Backend::Pvsync2(o) if o.dsync || o.sync)
        || matches!(&stream.backend, Backend::Mmap { flush: MapFlush::Sync, .. })
}

/// A workload whose first phase has them, for tests.
#[cfg(test)]
pub(crate) const SAMPLE: &str = r#"
name = "ranges"

[[fileset]]
name = "data"
files = { list = ["f"] }
size = { fixed = "1MiB" }

[[phase]]
name = "write"

[[phase.group]]
name = "g"

[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "data"
direction = "write"
record = { fixed = "4KiB" }
sync_every = { writes = 8, range = { write = true } }
"#;

/// The same, with another group that calls fsync.
#[cfg(test)]
pub(crate) fn sample_with_fsync() -> String {
    let group = SAMPLE.split_once("[[phase.group]]").map_or("", |(_, group)| group);
    let other = group.replace("\"g\"", "\"h\"").replace(", range = { write = true }", "");
    format!("{SAMPLE}\n[[phase.group]]{other}")
}
