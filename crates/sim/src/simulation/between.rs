//! Actions before and after phases, outside every clock, and the file sets they concern.

use crate::block::Submitter;
use crate::machine::Machine;
use crate::sets::{Set, Sets};
use fathom_workload::flow::set_names;
use fathom_workload::{Action, CacheState, Phase};

/// The sets that a phase uses, each once.
pub(super) fn sets_of<'s>(phase: &Phase, sets: &'s Sets) -> Vec<&'s Set> {
    let mut names: Vec<&str> = Vec::new();
    for stream in phase.streams() {
        if !names.contains(&stream.fileset.as_str()) {
            names.push(&stream.fileset);
        }
    }
    for name in set_names(phase, |_| true) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().filter_map(|name| sets.get(name)).collect()
}

/// Executes the actions before or after a phase, outside every clock.
pub(super) async fn between(machine: &Machine, sets: &Sets, phase: &Phase, actions: &[Action], before: bool) {
    machine.own_cpu(Submitter::BETWEEN);
    for action in actions {
        act(machine, sets, action).await;
    }
    if !before {
        return;
    }
    for set in sets_of(phase, sets) {
        match phase.cache {
            CacheState::AsFound => {}
            CacheState::Cold => machine.evict(set).await,
            CacheState::Warm => machine.just_written(set),
        }
    }
}

async fn act(machine: &Machine, sets: &Sets, action: &Action) {
    match action {
        Action::Sync => machine.sync_all(Submitter::BETWEEN).await,
        Action::Sleep(time) => machine.sleep_until(machine.now().saturating_add(time.0)).await,
        Action::Evict(name) => {
            if let Some(set) = sets.get(name) {
                machine.evict(set).await;
            }
        }
        Action::Prepare(name) => {
            if let Some(set) = sets.get(name).filter(|set| !machine.made_by_others(set)) {
                machine.remove_the_others(set).await;
                machine.make_full(set);
                machine.just_written(set);
            }
        }
        // Reads the existing content as it is.
        Action::Warm(name) => {
            if let Some(set) = sets.get(name) {
                machine.just_written(set);
            }
        }
        Action::Reserve(name) => {
            if let Some(set) = sets.get(name) {
                machine.make_full(set);
            }
        }
        Action::Recreate(name) | Action::Remove(name) => {
            if let Some(set) = sets.get(name) {
                for file in set.files() {
                    machine.make_empty(file).await;
                }
                machine.names_begin(set, matches!(action, Action::Recreate(_)));
            }
        }
        Action::Remount(_) => {
            machine.sync_all(Submitter::BETWEEN).await;
            for set in sets.all() {
                machine.evict(set).await;
            }
        }
        // Refused earlier.
        Action::Command(_) | Action::Extend(_) | Action::ReserveBehind(_) | Action::MakeDirectories(_) => {}
    }
}
