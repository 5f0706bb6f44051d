//! Control groups: `cgroup`, `cgroup_weight` and `cgroup_nodelete`. They are created right before the run; here the options are only
//! validated.

use super::super::UsageError;
use super::super::settings::Settings;
use super::engine;
use std::path::{Component, Path};

/// The lowest and the highest weight, as in fio 3.42.
const WEIGHTS: (u64, u64) = (100, 1000);

/// Validates the options.
pub fn check(s: &Settings) -> Result<(), UsageError> {
    let (least, most) = WEIGHTS;
    if let Some(weight) = s.number("cgroup_weight")? {
        if weight > most {
            return Err(engine::out_of_range(s, "cgroup_weight", weight, most));
        }
        if weight < least {
            return Err(s.wrong("cgroup_weight", format!("cgroup_weight={weight}: {least} to {most} is expected")).fio(
                format!("cgroup_weight: min value out of range: {weight} ({least} min)\nfio: failed parsing cgroup_weight={weight}\n"),
            ));
        }
    }
    let _ = s.on("cgroup_nodelete", false);
    let Some(name) = s.text("cgroup") else { return Ok(()) };
    if Path::new(name).components().any(|part| part == Component::ParentDir) {
        return Err(
            s.wrong("cgroup", format!("cgroup={name}: a name below the place of all groups is expected"))
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};

    #[test]
    fn weights_and_names_are_held_to_what_fio_takes() {
        let _ = planned("--name=a --size=4k --cgroup=g --cgroup_weight=100 --cgroup_nodelete=1");
        for (args, words) in [
            ("--cgroup_weight=99", "min value out of range: 99 (100 min)"),
            ("--cgroup_weight=1001", "max value out of range: 1001 (1000 max)"),
            ("--cgroup=../g", "below the place"),
        ] {
            let why = refused(&format!("--name=a --size=4k {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }
}
