//! Checks names. They are printed in tables, one per line, so they must not contain line breaks or other control characters.

use super::{CheckError, error};
use crate::Workload;

pub(super) fn errors(workload: &Workload) -> Vec<CheckError> {
    let phases = workload.phases.iter().enumerate().flat_map(|(i, phase)| {
        let place = format!("phase {i}");
        let workers = phase.groups.iter().flat_map(|group| {
            std::iter::once(group.name.as_str())
                .chain(group.threads.iter().map(|thread| thread.name.as_str()))
        });
        std::iter::once(phase.name.as_str()).chain(workers).map(move |name| (place.clone(), name))
    });
    let sets = workload.filesets.iter().enumerate();
    let sets = sets.map(|(i, set)| (format!("fileset {i}"), set.name.as_str()));
    let own = std::iter::once(("workload".to_string(), workload.name.as_str()));
    let bad = |(_, name): &(String, &str)| name.contains(char::is_control);
    let as_error = |(place, name): (String, &str)| {
        error(&place, &format!("the name {name:?} holds a control character"))
    };
    own.chain(sets).chain(phases).filter(bad).map(as_error).collect()
}
