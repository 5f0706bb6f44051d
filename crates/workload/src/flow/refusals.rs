//! Flows that cannot be executed, refused before anything starts: operations with missing parameters, sizes that cannot fit, targets that
//! do not wait, writes to read-only files. Limits of a single executor are refused by that executor.

use super::members::flows;
use super::program::{NAMED_SLOTS, is_called};
use crate::{Act, Bytes, Data, FileSet, Files, Flow, FlowOp, Phase, Share, Sizing, Thread, Value, Workload};

/// Why a flow is invalid: the name of the operation and a sentence.
#[must_use]
pub fn refusal(workload: &Workload, phase: &Phase, thread: &Thread, flow: &Flow) -> Option<(String, String)> {
    let checked = Checked { workload, phase, thread, flow };
    named_ops(&flow.ops, "").into_iter().find_map(|(name, op)| {
        let sentence = checked.refusal(op)?;
        Some((name, sentence))
    })
}

/// Every operation with the name of its row.
#[must_use]
pub fn named_ops<'a>(ops: &'a [FlowOp], prefix: &str) -> Vec<(String, &'a FlowOp)> {
    let mut found = Vec::new();
    for op in ops {
        let name = format!("{prefix}{}", op.name);
        let inner = named_ops(&op.ops, &format!("{name}."));
        found.push((name, op));
        found.extend(inner);
    }
    found
}

struct Checked<'a> {
    workload: &'a Workload,
    phase: &'a Phase,
    thread: &'a Thread,
    flow: &'a Flow,
}

impl Checked<'_> {
    /// Why an operation cannot be executed.
    fn refusal(&self, op: &FlowOp) -> Option<String> {
        self.of_names(op)
            .or_else(|| self.of_sets(op))
            .or_else(|| self.of_sizes(op))
            .or_else(|| self.of_targets(op))
            .or_else(|| self.of_kind(op))
    }

    fn of_names(&self, op: &FlowOp) -> Option<String> {
        if let Some(set) = op.fileset.as_ref().filter(|s| self.workload.fileset(s).is_none()) {
            return Some(format!("no file set is named {set:?}"));
        }
        let values = [&op.size, &op.working_set, &op.repeat, &op.value, &op.high_water];
        let unknown = values.into_iter().chain(&op.entry).find_map(|value| match value {
            Value::Variable { variable } if !self.workload.variables.contains_key(variable) => Some(variable),
            _ => None,
        });
        if let Some(variable) = unknown {
            return Some(format!("variable {variable:?} is not defined"));
        }
        let beyond = op.slot.into_iter().chain(op.source_slot).find(|&s| s >= NAMED_SLOTS);
        beyond.map(|slot| format!("slot {slot} is beyond the last one, {}", NAMED_SLOTS - 1))
    }

    /// The sets that the operation may work on.
    fn sets(&self, op: &FlowOp) -> Vec<&FileSet> {
        match &op.fileset {
            Some(name) => self.workload.fileset(name).into_iter().collect(),
            None => named_ops(&self.flow.ops, "")
                .into_iter()
                .filter_map(|(_, op)| op.fileset.as_deref())
                .filter_map(|name| self.workload.fileset(name))
                .collect(),
        }
    }

    fn of_sets(&self, op: &FlowOp) -> Option<String> {
        let sets = self.sets(op);
        if needs_set(op.act) && sets.is_empty() {
            return Some("it needs a file set, but no operation of the flow names one".into());
        }
        let named = || op.fileset.as_ref().and_then(|name| self.workload.fileset(name));
        if let Some(set) = named() {
            let name = &set.name;
            if set.share == Share::ReadOnly && op.act.changes() {
                return Some(format!("the file set {name} is read-only, and the operation changes it"));
            }
            if set.share == Share::WriteOnly && matches!(op.act, Act::Read | Act::ReadWholeFile) {
                return Some(format!("the file set {name} is write-only, and the operation reads it"));
            }
            let tree = matches!(set.files, Files::Tree(_));
            if matches!(op.act, Act::MakeDirectory | Act::RemoveDirectory) && !tree {
                return Some(format!("only trees have leaf directories; {name} is a list of files"));
            }
        }
        if op.act.writes() && self.thread.memory.0 == 0 {
            let odd = sets.iter().find(|s| {
                matches!(s.data, Data::Positioned { .. } | Data::Checksummed { .. } | Data::Sealed(_))
            });
            if let Some(set) = odd {
                return Some(format!(
                    "flows do not write positioned, checksummed or sealed data, which {} asks for; choose unique data, or give the thread memory (zeroes)",
                    set.name
                ));
            }
        }
        None
    }

    fn of_sizes(&self, op: &FlowOp) -> Option<String> {
        let size = fixed(&op.size);
        if size == Some(0)
            && matches!(
                op.act,
                Act::Read | Act::Write | Act::Append | Act::AppendRandomLength | Act::AsyncWrite
            )
        {
            return Some("its size is 0; reads and writes need at least 1 byte".into());
        }
        if op.act.writes() || op.act.reads() {
            let largest = match size {
                Some(0) => self.sets(op).iter().filter_map(|s| file_bytes(s)).max(),
                size => size,
            };
            let area = self.thread.memory;
            if let Some(bytes) = largest.filter(|&b| area.0 > 0 && b > area.0) {
                return Some(format!(
                    "the thread's memory of {area} is smaller than an operation of {}; give it more, or none",
                    Bytes(bytes)
                ));
            }
            if size.is_some_and(|s| s > u64::from(u32::MAX)) {
                return Some("an operation moves at most 4 GiB".into());
            }
        }
        if op.random && op.positions.is_empty() && matches!(op.act, Act::Read | Act::Write | Act::AsyncWrite)
        {
            let range = match fixed(&op.working_set)? {
                0 => self.sets(op).iter().filter_map(|s| file_bytes(s)).min().filter(|&b| b > 0),
                range => Some(range),
            };
            if let (Some(size), Some(range)) = (size, range)
                && size > range
            {
                return Some(format!(
                    "the range of {} is smaller than an operation of {}; choose a larger file or working set, or a smaller size",
                    Bytes(range),
                    Bytes(size)
                ));
            }
        }
        None
    }

    fn of_targets(&self, op: &FlowOp) -> Option<String> {
        let wanted = match op.act {
            Act::Wake => Act::Block,
            Act::SemaphorePost => Act::SemaphoreWait,
            _ => {
                let metered = matches!(
                    op.act,
                    Act::LimitIops
                        | Act::LimitOps
                        | Act::LimitBandwidth
                        | Act::FinishOnCount
                        | Act::FinishOnBytes
                );
                let target = op.target.as_ref().filter(|_| metered)?;
                let own = named_ops(&self.flow.ops, "").iter().any(|(name, _)| is_called(name, target));
                return (!own).then(|| format!("the thread has no operation named {target:?}"));
            }
        };
        let Some(target) = &op.target else {
            return Some("it needs a target: the operation that waits".into());
        };
        let there = flows(self.phase)
            .flat_map(|flow| named_ops(&flow.ops, ""))
            .any(|(name, op)| op.act == wanted && is_called(&name, target));
        (!there).then(|| format!("no operation named {target:?} waits for it"))
    }

    fn of_kind(&self, op: &FlowOp) -> Option<String> {
        if op.act == Act::Sequence && op.ops.is_empty() {
            return Some("the sequence has no operation".into());
        }
        if op.act != Act::Sequence && !op.ops.is_empty() {
            return Some("it contains operations, which only a sequence can do".into());
        }
        if op.act == Act::AsyncWrite && !op.random {
            return Some("asynchronous writes are random; set random = true".into());
        }
        None
    }
}

fn needs_set(act: Act) -> bool {
    act.class().is_io() && act != Act::AsyncWait
}

fn fixed(value: &Value) -> Option<u64> {
    match value {
        Value::Number(n) => Some(u64::from(*n)),
        Value::Bytes(bytes) => Some(bytes.0),
        Value::Variable { .. } => None,
    }
}

fn file_bytes(set: &FileSet) -> Option<u64> {
    match set.size {
        Sizing::Fixed(bytes) => Some(bytes.0),
        Sizing::Variable(_) | Sizing::Each(_) => None,
    }
}
