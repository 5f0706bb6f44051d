//! `--cold`, and `FATHOM_COLD` for drop-ins, whose command line belongs to another program: evicts the files that a
//! phase reads from memory before the phase. `fathom_observe::cache::cold` does and verifies it; this module decides
//! when and for which files, and reports the result.

use crate::common::{ColdReach, Common};
use crate::console;
use crate::flows;
use fathom_engine::Engine;
use fathom_observe::cache::cold::{self, Reach};
use fathom_observe::device;
use fathom_record::{Cold, Run};
use fathom_workload::{Action, CacheState, Phase, Workload};
use std::path::PathBuf;

const VARIABLE: &str = "FATHOM_COLD";

/// What to evict, if requested by the option or else by the variable. An empty variable, "0" or "no" means not
/// requested.
pub fn wanted(common: &Common) -> Result<Option<Reach>, String> {
    if let Some(reach) = common.cold {
        return Ok(Some(match reach {
            ColdReach::Files => Reach::Files,
            ColdReach::Machine => Reach::Machine,
        }));
    }
    of_variable(std::env::var_os(VARIABLE).map(|v| v.to_string_lossy().into_owned()).as_deref())
}

/// Validates the variable before anything is printed or created.
pub fn check_variable() -> Result<(), String> {
    of_variable(std::env::var_os(VARIABLE).map(|v| v.to_string_lossy().into_owned()).as_deref()).map(drop)
}

fn of_variable(value: Option<&str>) -> Result<Option<Reach>, String> {
    match value {
        None | Some("" | "0" | "no") => Ok(None),
        Some("1" | "yes" | "files") => Ok(Some(Reach::Files)),
        Some("machine") => Ok(Some(Reach::Machine)),
        Some(other) => Err(format!(
            "{VARIABLE} is {other:?}, which is not a valid value: use 1 or files (the files that are read), machine (also the whole machine's cache, if that is not enough), or 0"
        )),
    }
}

/// Whether the option applies to a phase: it reads, and the workload does not explicitly ask for a warm cache.
pub fn may_be(phase: &Phase) -> bool {
    let mut streams = phase.streams();
    let reads = streams.any(|s| s.direction.reads()) || flows::read(phase);
    let warmed = phase.before.iter().any(|action| matches!(action, Action::Warm(_)));
    reads && !warmed && phase.cache != CacheState::Warm
}

pub fn make(engine: &Engine, workload: &Workload, phase: &Phase, reach: Reach) -> Cold {
    let paths = engine.paths(workload, phase);
    let first: Vec<PathBuf> = paths.iter().find(|p| p.exists()).cloned().into_iter().collect();
    cold::make(&paths, &device::stack_of_all(&first), reach)
}

/// Reports the outcome once per run: the worst failure, else the proof if the user asked for it.
pub fn say(run: &Run, asked: bool) {
    let all: Vec<(&str, &Cold)> = run
        .phases
        .iter()
        .flat_map(|p| p.repetitions.iter().map(|r| (p.name.as_str(), r)))
        .filter_map(|(name, r)| Some((name, r.cold.as_ref()?)))
        .collect();
    let failed: Vec<&(&str, &Cold)> = all.iter().filter(|(_, c)| c.files > 0 && !c.proved()).collect();
    if let Some((name, worst)) = failed.first() {
        let more = match failed.len() {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        console::warning_unless_hushed(&format!("{name}{more}: {}", worst.sentence));
    } else if !asked {
        // The trust checks report the workload's own `cache = "cold"`.
    } else if let Some((name, last)) = all.iter().rfind(|(_, c)| c.files > 0) {
        let times = if all.len() == 1 { "once".into() } else { format!("{} times", all.len()) };
        console::note(&format!(
            "files were made cold {times}, with proof each time; the last, before {name}: {}",
            last.sentence
        ));
    } else if all.is_empty() {
        console::note("nothing was made cold: no phase reads files that may be cold");
    }
}

/// Wraps a command-line error as an engine error.
pub fn refused(message: String) -> fathom_engine::EngineError {
    fathom_engine::EngineError::Unsupported { place: "making files cold".into(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_like_a_switch_and_nonsense_is_refused() {
        assert_eq!(of_variable(None), Ok(None));
        assert_eq!(of_variable(Some("0")), Ok(None));
        assert_eq!(of_variable(Some("1")), Ok(Some(Reach::Files)));
        assert_eq!(of_variable(Some("machine")), Ok(Some(Reach::Machine)));
        assert!(
            of_variable(Some("cold")).is_err_and(|e| e.contains("FATHOM_COLD") && e.contains("\"cold\""))
        );
    }
}
