//! What a phase finds when it begins, after the steps before it: files without holes where it reads, and a page cache as the workload
//! wants it. Observe looks, the engine acts; here they meet. What was found and intended goes into the record; what the page cache
//! really holds is measured at the start itself (`run_loop`).

use fathom_engine::{Engine, EngineError, interrupted_by};
use fathom_observe::{extents, residency};
use fathom_record::{CacheIntent, Extents, Repetition};
use fathom_workload::{CacheState, Holes, Phase, Workload};
use std::path::PathBuf;
use std::time::Duration;

/// What was found and done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ready {
    extents: Option<Extents>,
    cache: CacheIntent,
}

impl Ready {
    /// Enters it in the record.
    pub fn note_in(self, repetition: &mut Repetition) {
        repetition.extents = self.extents;
        repetition.cache = self.cache;
    }
}

/// Makes everything ready for a phase. A signal ends it early.
pub fn ready(engine: &mut Engine, workload: &Workload, phase: &Phase) -> Result<Ready, EngineError> {
    // Filling leaves pages in the cache, so it comes first.
    let extents = without_holes(engine, workload, phase)?;
    let cache = match phase.cache {
        CacheState::AsFound => CacheIntent::AsFound,
        CacheState::Cold => {
            make_cold(engine, &engine.paths(workload, phase))?;
            CacheIntent::Cold
        }
        CacheState::Warm => {
            engine.warm(&engine.paths(workload, phase))?;
            CacheIntent::Warm
        }
    };
    Ok(Ready { extents, cache })
}

/// Looks at what will be read, and fills what is no data if that is wanted and the files are ours. `None` where nothing is read or the
/// file system does not tell. Files without a hole, the ordinary ones, cost a microsecond or two each.
fn without_holes(
    engine: &mut Engine,
    workload: &Workload,
    phase: &Phase,
) -> Result<Option<Extents>, EngineError> {
    let regions = engine.regions_read(workload, phase);
    if regions.is_empty() {
        return Ok(before_writing(engine, workload, phase));
    }
    let Ok(mut found) = extents::look(&regions) else { return Ok(None) };
    if phase.holes == Holes::Fill && !found.gaps.is_empty() {
        let gaps: Vec<_> = found.gaps.drain(..).map(|g| (g.path, g.start, g.length)).collect();
        let filled_bytes = engine.fill(workload, &gaps)?;
        if filled_bytes > 0 {
            let Ok(left) = extents::look(&regions) else { return Ok(None) };
            return Ok(Some(Extents { filled_bytes, ..left.extents }));
        }
    }
    Ok(Some(found.extents))
}

/// What a phase that only writes finds: nothing (a first write), holes, extents never written, or data (a rewrite). It costs
/// differently.
fn before_writing(engine: &Engine, workload: &Workload, phase: &Phase) -> Option<Extents> {
    let written = engine.regions_written(workload, phase);
    if written.is_empty() {
        return None;
    }
    extents::look(&written).ok().map(|found| found.extents)
}

/// Drops the files from the page cache. Pages that are being written back once more, or that somebody is looking at, stay the first
/// time: after a moment it is tried once more. What remains then (mapped, locked, in a tmpfs) does remain, and is measured.
fn make_cold(engine: &Engine, paths: &[PathBuf]) -> Result<(), EngineError> {
    const MOMENT: Duration = Duration::from_millis(100);
    engine.evict(paths)?;
    let left = residency::of(paths);
    if left.is_some_and(|r| r.cached_pages > 0) && interrupted_by().is_none() {
        std::thread::sleep(MOMENT);
        engine.evict(paths)?;
    }
    Ok(())
}
