//! State of files when a phase begins, after the steps before it: no holes where it reads, and the page cache as the
//! workload wants it. Observe looks, the engine acts; they meet here. The record gets what was found and intended; the
//! actual content of the page cache is measured at the start itself (`run_loop`).

use crate::cold;
use fathom_engine::{Engine, EngineError, interrupted_by};
use fathom_observe::cache::cold::Reach;
use fathom_observe::extents;
use fathom_record::{CacheIntent, Cold, Extents, Repetition};
use fathom_workload::{Action, CacheState, Direction, Holes, Phase, Stream, Workload};

/// What was found and done.
#[derive(Clone, Debug, Default)]
pub struct Ready {
    extents: Option<Extents>,
    cache: CacheIntent,
    cold: Option<Cold>,
}

impl Ready {
    pub fn note_in(self, repetition: &mut Repetition) {
        repetition.extents = self.extents;
        repetition.cache = self.cache;
        repetition.cold = self.cold;
    }
}

/// Prepares everything for a phase; `reach` is how far to make files cold if the workload leaves the cache as found. A
/// signal ends it early.
pub fn ready(
    engine: &mut Engine,
    workload: &Workload,
    phase: &Phase,
    reach: Option<Reach>,
) -> Result<Ready, EngineError> {
    // Filling leaves pages in the cache, so it comes first.
    let extents = without_holes(engine, workload, phase)?;
    let wanted = reach.is_some() && cold::may_be(phase);
    let (cache, cold) = match phase.cache {
        // A previous step read the files to warm them: check that they stayed cached.
        CacheState::AsFound if !wanted && warmed(phase) => (CacheIntent::Warm, None),
        CacheState::AsFound if !wanted => (CacheIntent::AsFound, None),
        CacheState::Warm => {
            engine.warm(&engine.paths(workload, phase))?;
            (CacheIntent::Warm, None)
        }
        CacheState::AsFound | CacheState::Cold if interrupted_by().is_some() => (CacheIntent::Cold, None),
        CacheState::AsFound | CacheState::Cold => {
            (CacheIntent::Cold, Some(cold::make(engine, workload, phase, reach.unwrap_or(Reach::Files))))
        }
    };
    Ok(Ready { extents, cache, cold })
}

/// Whether the phase only reads through the page cache, and a step just before read all of those files.
fn warmed(phase: &Phase) -> bool {
    let streams = || phase.streams();
    let of_it = |set: &str| {
        let cached = |s: &Stream| s.direction == Direction::Read && !s.open.direct && s.fileset == set;
        streams().next().is_some() && streams().all(cached)
    };
    matches!(phase.before.last(), Some(Action::Warm(set)) if of_it(set))
}

/// Inspects the files to be read, and fills their holes if wanted and the files are ours. `None` if nothing is read or
/// the file system does not report extents. A file without holes, the usual case, costs a microsecond or two.
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

/// What a phase that only writes finds: nothing (a first write), holes, unwritten extents, or data (a rewrite). Their
/// costs differ.
fn before_writing(engine: &Engine, workload: &Workload, phase: &Phase) -> Option<Extents> {
    let written = engine.regions_written(workload, phase);
    if written.is_empty() {
        return None;
    }
    extents::look(&written).ok().map(|found| found.extents)
}
