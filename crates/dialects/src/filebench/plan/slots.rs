//! Determines the file set of each operation in a thread and finds conflicts between descriptor slots, by walking the thread's list once
//! in execution order. Without `fd` every file set gets its own slot, so that a second set in a thread works as written;
//! 1.5 would silently continue with the first set's file.

use super::fault::Fault;
use super::filesets::CompiledSet;
use super::flowop_types::{fixed, fixed_size};
use super::flowops::Placed;
use fathom_workload::{Act, Share};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Walk {
    /// The last set used without `fd`.
    last: Option<String>,
    /// Slot -> the set whose file it holds or held.
    owners: BTreeMap<u32, String>,
    /// Sets used without `fd`.
    unnamed: BTreeSet<String>,
}

/// Fills in the sets and finds conflicts. Returns the sets that share slot 0 in the original, if there are several.
pub(super) fn settle(
    ops: &mut [Placed],
    sets: &[CompiledSet],
    memory: u64,
) -> Result<Option<Vec<String>>, (usize, Fault)> {
    // The list loops: the state at its end is the state at its beginning.
    let mut walk = Walk::default();
    leaves(ops, &mut |placed| {
        if let Some(set) = &placed.op.fileset {
            match placed.op.slot {
                None => walk.last = walk.last.take().or_else(|| Some(set.clone())),
                Some(slot) => {
                    walk.owners.entry(slot).or_insert_with(|| set.clone());
                }
            }
        }
        Ok(())
    })?;
    let first = Walk { last: walk.last.clone(), ..Walk::default() };
    let anywhere = std::mem::replace(&mut walk, first).owners;
    leaves(ops, &mut |placed| {
        step(placed, &mut walk, &anywhere, sets, memory).map_err(|f| (placed.source, f))
    })?;
    Ok((walk.unnamed.len() > 1).then(|| walk.unnamed.into_iter().collect()))
}

fn leaves(
    ops: &mut [Placed],
    visit: &mut impl FnMut(&mut Placed) -> Result<(), (usize, Fault)>,
) -> Result<(), (usize, Fault)> {
    for placed in ops {
        if placed.op.act == Act::Sequence {
            leaves(&mut placed.inner, visit)?;
        } else {
            visit(placed)?;
        }
    }
    Ok(())
}

fn step(
    placed: &mut Placed,
    walk: &mut Walk,
    anywhere: &BTreeMap<u32, String>,
    sets: &[CompiledSet],
    memory: u64,
) -> Result<(), Fault> {
    let op = &mut placed.op;
    if !touches_files(op.act) {
        return Ok(());
    }
    let opens = matches!(op.act, Act::Open | Act::Create);
    match op.slot {
        None => {
            op.fileset = op.fileset.take().or_else(|| walk.last.clone());
            walk.last.clone_from(&op.fileset);
            if keeps_a_file(op.act) {
                walk.unnamed.extend(op.fileset.clone());
            }
        }
        Some(slot) => {
            let owner = walk.owners.get(&slot).or_else(|| anywhere.get(&slot)).cloned();
            match (&op.fileset, walk.owners.get(&slot)) {
                (Some(set), Some(owner)) if set != owner && !opens && keeps_a_file(op.act) && !op.rotate => {
                    return Err(Fault::new(
                        placed.span,
                        format!("flowop {}: fd={slot} holds a file of {owner}, not of {set}", op.name),
                    )
                    .hint(format!("use another fd, or close this one and open a file of {set} in it")));
                }
                _ => {}
            }
            op.fileset = op.fileset.take().or(owner);
            if let Some(set) = &op.fileset
                && (opens || keeps_a_file(op.act))
            {
                walk.owners.insert(slot, set.clone());
            }
        }
    }
    let Some(name) = &op.fileset else {
        return Err(Fault::new(placed.span, format!("flowop {} specifies no filename", op.name))
            .hint("add filename=NAME of a file or fileset"));
    };
    let set = sets.iter().find(|s| s.set.name == *name);
    let refused = match set.map(|s| s.share) {
        Some(Share::ReadOnly) if changes(op.act) => Some(("changes", "readonly")),
        Some(Share::WriteOnly) if matches!(op.act, Act::Read | Act::ReadWholeFile) => {
            Some(("reads", "writeonly"))
        }
        _ => None,
    };
    if let Some((does, word)) = refused {
        return Err(Fault::new(placed.span, format!("flowop {} {does} {name}, which is {word}", op.name))
            .hint(format!("leave out {word} where {name} is defined")));
    }
    let size = fixed(&op.size).unwrap_or(0);
    let range = match fixed(&op.working_set) {
        Some(0) => set.and_then(fixed_size),
        other => other,
    };
    if op.random
        && op.positions.is_empty()
        && matches!(op.act, Act::Read | Act::Write | Act::AsyncWrite)
        && let Some(range) = range
        && size > range
    {
        return Err(Fault::new(
            placed.span,
            format!(
                "flowop {}: iosize {size} is larger than the {range} bytes it is to be placed in",
                op.name
            ),
        ));
    }
    let through_buffer = !matches!(op.act, Act::ReadWholeFile | Act::WriteWholeFile);
    if memory > 0 && size > memory && through_buffer {
        return Err(Fault::new(
            placed.span,
            format!("flowop {}: iosize {size} is larger than the thread's memsize {memory}", op.name),
        )
        .hint("make memsize at least as large as the largest iosize, or leave it out"));
    }
    Ok(())
}

fn touches_files(act: Act) -> bool {
    matches!(
        act,
        Act::Read
            | Act::Write
            | Act::ReadWholeFile
            | Act::WriteWholeFile
            | Act::Append
            | Act::AppendRandomLength
            | Act::Open
            | Act::Create
            | Act::Close
            | Act::Delete
            | Act::Stat
            | Act::Sync
            | Act::SyncSet
            | Act::MakeDirectory
            | Act::RemoveDirectory
            | Act::ListDirectory
            | Act::AsyncWrite
    )
}

/// Whether the operation works on the open file in its slot.
fn keeps_a_file(act: Act) -> bool {
    matches!(
        act,
        Act::Read
            | Act::Write
            | Act::ReadWholeFile
            | Act::WriteWholeFile
            | Act::Append
            | Act::AppendRandomLength
            | Act::Open
            | Act::Create
            | Act::AsyncWrite
    )
}

/// Whether the operation modifies files or directories of its set.
pub(super) fn changes(act: Act) -> bool {
    matches!(
        act,
        Act::Write
            | Act::WriteWholeFile
            | Act::Append
            | Act::AppendRandomLength
            | Act::Create
            | Act::Delete
            | Act::MakeDirectory
            | Act::RemoveDirectory
            | Act::AsyncWrite
    )
}
