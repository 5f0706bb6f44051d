//! State at the start: which file sets exist, and which of their pages are cached.

use crate::files::{Metadata, PAGE};
use crate::host::Start;
use crate::machine::Machine;
use crate::sets::Sets;
use crate::stack::Stack;
use fathom_workload::flow::set_names;
use fathom_workload::{Action, Stream, Workload};

/// Fills memory with pages of other files, before anything else.
pub(super) fn others_first(machine: &Machine) {
    let Some(others) = machine.host.memory.others_mib.as_ref().filter(|_| machine.stack == Stack::Full)
    else {
        return;
    };
    let mut files = machine.files.borrow_mut();
    let pages = files.others(u64::from(others.get()) * (1 << 20) / PAGE);
    let mut cache = machine.cache.borrow_mut();
    cache.grow(files.pages());
    cache.occupy(pages);
}

/// Caches pages of the sets that existed before the run.
pub(super) fn begin(machine: &Machine, workload: &Workload, sets: &Sets) {
    let (made, there): (Vec<_>, Vec<_>) =
        workload.filesets.iter().partition(|set| is_made_by(workload, &set.name));
    for set in there {
        let Some(files) = sets.get(&set.name) else { continue };
        machine.make_full(files);
        if machine.host.memory.start.get() == Start::FilesJustWritten && machine.stack == Stack::Full {
            machine.just_written(files);
        }
    }
    // Last, because a file that one set makes must not exist for another set.
    made.into_iter().filter_map(|set| sets.get(&set.name)).for_each(|files| machine.clear_until_made(files));
}

/// Whether a workload makes a set's files itself before it uses them.
fn is_made_by(workload: &Workload, set: &str) -> bool {
    let makes = |a: &Action| matches!(a, Action::Prepare(name) | Action::Reserve(name) | Action::Extend(name) | Action::Recreate(name) if name == set);
    let first = workload.phases.iter().find(|phase| {
        phase.before.iter().any(makes)
            || phase.streams().any(|stream| stream.fileset == set)
            || set_names(phase, |_| true).contains(set)
    });
    first.is_some_and(|phase| {
        let cut = |s: &Stream| s.fileset == set && (s.open.truncate || s.open.create);
        phase.before.iter().any(makes) || phase.streams().any(cut)
    })
}

/// Marks every indirect block as cached.
pub(super) fn know_all_places(machine: &Machine) {
    let mut files = machine.files.borrow_mut();
    for file in 0..files.count() {
        let known = &mut files.get_mut(file as u32).indirect;
        known.iter_mut().for_each(|block| *block = Metadata::Present);
    }
}
