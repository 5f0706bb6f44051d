//! The sources of a stream's operations, and which of the compiled loops they use.

use super::{Drive, Fault, StreamPlan};
use crate::backend::Handle;
use crate::hot::{Hot, Outcome};
use crate::zoned;
use fathom_workload::ops::{
    Extent, Kept, Passes, Plain, PoolOps, Region, Source, StreamOps, TurnOps, UntilSucceeded, bytes_of_a_pass,
};
use fathom_workload::{Direction, Stream, Verify, WhenStopped};

/// Source of a stream's operations. Dedicated loops are compiled for frequent combinations with a back-end ([`Handle::ONE_FILE`],
/// [`Handle::SEVERAL_FILES`]): all combinations would be hundreds, and take a minute to compile.
pub(super) enum OperationSource<'a> {
    /// Operations of one kind and size on one file; `true` if they are reads.
    Plain(Plain, bool),
    /// Any other operations on one file.
    Any(Box<StreamOps>),
    /// Operations on all files of a set.
    Pool(Box<PoolOps<'a>>),
    /// Operations on all files of a set, in turns.
    Turns(Box<TurnOps>),
    /// Any of these except plain ones, interleaved with others: written data are read back, cached data are evicted.
    Wrapped(Box<dyn Source + 'a>),
}

impl<'a> OperationSource<'a> {
    /// The operations of a plan; `None` if not even one record fits into its region. A stream that may have to finish its amount
    /// uncounted draws from one source to the end.
    pub fn of(plan: &StreamPlan<'a>, rare: bool) -> Option<Self> {
        let stream = plan.stream;
        let enough = stream.pass_over.enough;
        let zoned = plan.zones.is_some();
        if !stream.evict_passes && stream.keep_written.is_none() && enough == 0 && !zoned {
            return Self::drawn(plan, rare);
        }
        // Not a plain source, as those do not report progress.
        let mut ops: Box<dyn Source + 'a> = match Self::drawn(plan, true)? {
            Self::Any(ops) => ops,
            Self::Pool(ops) => ops,
            Self::Turns(ops) => ops,
            Self::Plain(..) | Self::Wrapped(_) => return None,
        };
        if enough > 0 {
            ops = Box::new(UntilSucceeded::new(ops, enough));
        }
        if let Some(table) = plan.zones {
            ops = zoned::moved(ops, table, stream, (plan.index, plan.region));
        }
        if stream.evict_passes {
            ops = Box::new(Passes::new(ops, stream, &parts(plan)));
        }
        if let Some(how) = stream.keep_written {
            let kept = Kept::new(ops, how, stream.full_queue(), stream.seed_or(plan.seed), plan.place);
            ops = Box::new(kept.by_pass(how, bytes_of_a_pass(stream, &parts(plan))));
        }
        Some(Self::Wrapped(ops))
    }

    fn drawn(plan: &StreamPlan<'a>, rare: bool) -> Option<Self> {
        let stream = plan.stream;
        let region = plan.zones.map_or(plan.region, |table| table.whole_zones(plan.region));
        let listed = matches!(stream.access, fathom_workload::Access::Listed(_));
        if let Some(p) = plan.pool.as_ref().filter(|_| stream.turns.is_some()) {
            return TurnOps::new(stream, p.parts, plan.seed, plan.place)
                .map(|ops| Self::Turns(Box::new(ops)));
        }
        if let Some(p) = plan.pool.as_ref().filter(|_| !listed) {
            let ops = PoolOps::new(stream, p.files, plan.seed, plan.place, p.common, p.busy.clone())?;
            return Some(Self::Pool(Box::new(ops)));
        }
        if !rare
            && stream.when_stopped != WhenStopped::FinishUncounted
            && stream.verify == Verify::No
            && let Some(plain) = Plain::of(stream, region, plan.seed, plan.place)
        {
            return Some(Self::Plain(plain, stream.direction == Direction::Read));
        }
        StreamOps::new(stream, region, plan.seed, plan.place).map(|ops| Self::Any(Box::new(ops)))
    }

    /// Runs the operations through the loop compiled for this source and back-end, else through the generic one.
    pub fn run<B: Handle, D: Drive<B>>(
        &mut self,
        hot: &mut Hot,
        backend: &mut B,
        stream: &Stream,
    ) -> Result<Outcome, Fault> {
        if B::ONE_FILE {
            match self {
                Self::Plain(plain, reads) => return run_plain::<B, D>(plain, *reads, hot, backend, stream),
                Self::Any(ops) => return D::run::<_, false>(hot, backend, &mut **ops, stream),
                _ => {}
            }
        }
        if B::SEVERAL_FILES
            && let Self::Pool(ops) = self
        {
            return D::run::<_, false>(hot, backend, &mut **ops, stream);
        }
        self.with_any(|mut any| D::run::<_, false>(hot, backend, &mut any, stream))
    }

    /// Finishes the uncounted rest after a stop; a plain stream has none.
    pub fn finish<B: Handle, D: Drive<B>>(
        &mut self,
        hot: &mut Hot,
        backend: &mut B,
        stream: &Stream,
    ) -> Result<(), Fault> {
        if let Self::Plain(..) = self {
            return Ok(());
        }
        self.with_any(|any| D::finish(hot, backend, any, stream))
    }

    /// Calls `work` with the source as a trait object; each operation is then drawn by a virtual call.
    fn with_any<T>(&mut self, work: impl FnOnce(&mut dyn Source) -> T) -> T {
        match self {
            Self::Any(ops) => work(&mut **ops),
            Self::Pool(ops) => work(&mut **ops),
            Self::Turns(ops) => work(&mut **ops),
            Self::Wrapped(ops) => work(&mut **ops),
            Self::Plain(plain, reads) => match (plain.clone(), *reads) {
                (Plain::Sequential(p), true) => work(&mut p.reads()),
                (Plain::Sequential(p), false) => work(&mut p.writes()),
                (Plain::Uniform(p), true) => work(&mut p.reads()),
                (Plain::Uniform(p), false) => work(&mut p.writes()),
                (Plain::Permuted(p), true) => work(&mut p.reads()),
                (Plain::Permuted(p), false) => work(&mut p.writes()),
            },
        }
    }

    /// Data written and not read back, if that is remembered.
    pub fn left_to_read(&mut self) -> Option<Vec<Extent>> {
        match self {
            Self::Wrapped(ops) => ops.left_to_read(),
            _ => None,
        }
    }
}

/// The region a plan works on, for each of its files.
fn parts(plan: &StreamPlan<'_>) -> Vec<Region> {
    match &plan.pool {
        None => vec![plan.region],
        Some(pool) if pool.parts.is_empty() => {
            let whole = Region { start: 0, length: pool.files.file_bytes };
            vec![whole; pool.files.count as usize]
        }
        Some(pool) => pool.parts.to_vec(),
    }
}

/// Runs a plain stream through its dedicated loop.
fn run_plain<B: Handle, D: Drive<B>>(
    plain: &Plain,
    reads: bool,
    hot: &mut Hot,
    backend: &mut B,
    stream: &Stream,
) -> Result<Outcome, Fault> {
    match (plain.clone(), reads) {
        (Plain::Sequential(p), true) => D::run::<_, true>(hot, backend, &mut p.reads(), stream),
        (Plain::Sequential(p), false) => D::run::<_, true>(hot, backend, &mut p.writes(), stream),
        (Plain::Uniform(p), true) => D::run::<_, true>(hot, backend, &mut p.reads(), stream),
        (Plain::Uniform(p), false) => D::run::<_, true>(hot, backend, &mut p.writes(), stream),
        (Plain::Permuted(p), true) => D::run::<_, true>(hot, backend, &mut p.reads(), stream),
        (Plain::Permuted(p), false) => D::run::<_, true>(hot, backend, &mut p.writes(), stream),
    }
}
