//! Every number that a worker draws: values of random variables, random offsets, positions in memory, random lengths.

use super::members::Member;
use super::program::Number;
use crate::ops::generators::{Mt19937, rand48_shared_unit};
use crate::ops::{Drawing, Place, Sampler, derive_seed};
use crate::tree::Layouts;
use crate::{Generator, Offsets, RandomVariable, Shape, Workload};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

/// Purposes of derived seeds: flows use 100 and up (see `fathom_workload::ops`).
const FOR_OFFSETS: u64 = 100;
const FOR_VARIABLES: u64 = 101;

/// A random variable that flows draw from.
#[derive(Clone, Debug)]
struct SharedVariable {
    drawing: Drawing,
    source: Generator,
}

/// The variables of a workload, and the streams shared by threads and processes.
pub struct Variables<A> {
    all: Vec<SharedVariable>,
    /// States of the variables' own streams, by variable.
    streams: A,
    /// States of the processes' streams, by process.
    processes: A,
}

/// A variable with parameters out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("variable {name:?} has parameters out of range; docs/formats/workload.md lists the ranges")]
pub struct Impossible {
    /// Its name.
    pub name: String,
}

impl<A: Deref<Target = [AtomicU64]>> Variables<A> {
    /// For `processes` processes. File sets were drawn from the same streams (`layouts`): flows continue where those ended, as in
    /// Filebench. `make` allocates an array of zeroed words visible to all threads.
    ///
    /// # Errors
    /// If a variable is impossible, or if `make` fails.
    pub fn new<E: From<Impossible>>(
        workload: &Workload,
        layouts: &Layouts,
        processes: usize,
        make: impl Fn(usize) -> Result<A, E>,
    ) -> Result<Self, E> {
        let variable = |(name, v): (&String, &RandomVariable)| {
            let drawing = Drawing::new(v).ok_or_else(|| Impossible { name: name.clone() })?;
            Ok(SharedVariable { drawing, source: v.generator })
        };
        let all = workload.variables.iter().map(variable).collect::<Result<_, E>>()?;
        let this = Self { all, streams: make(workload.variables.len())?, processes: make(processes)? };
        for (state, name) in this.streams.iter().zip(workload.variables.keys()) {
            state.store(layouts.streams.get(name).map_or(0, |s| s.state), Ordering::Relaxed);
        }
        Ok(this)
    }
}

/// A worker's generators.
pub struct Numbers<'a, A> {
    variables: &'a Variables<A>,
    process: usize,
    /// By variable; `None` for those whose stream is shared.
    own: Vec<Option<Sampler>>,
    offsets: OffsetSource,
}

enum OffsetSource {
    /// Uniform numbers in 0..1.
    Seeded(Box<Sampler>),
    Mt19937(Box<Mt19937>),
}

impl<'a, A: Deref<Target = [AtomicU64]>> Numbers<'a, A> {
    /// The generators of the worker at `place`, whose program takes its offsets from `offsets`; `None` if a variable has parameters out
    /// of range.
    #[must_use]
    pub fn new(
        variables: &'a Variables<A>,
        at: &Member,
        offsets: Offsets,
        workload: &Workload,
        place: Place,
    ) -> Option<Self> {
        let seed = |purpose: u64| derive_seed(workload.seed.0, place, purpose);
        let own = workload.variables.values().enumerate().map(|(i, variable)| {
            if variable.generator == Generator::Seeded {
                Sampler::new(variable, seed(FOR_VARIABLES + i as u64)).map(Some)
            } else {
                Some(None)
            }
        });
        let offsets = match offsets {
            Offsets::Seeded => {
                let even = RandomVariable::new(Shape::Uniform { low: 0.0, high: 1.0 });
                OffsetSource::Seeded(Box::new(Sampler::new(&even, seed(FOR_OFFSETS))?))
            }
            Offsets::Mt19937(first) => {
                OffsetSource::Mt19937(Box::new(Mt19937::new(first.wrapping_add(at.number as u32))))
            }
        };
        Some(Self { variables, process: at.process, own: own.collect::<Option<_>>()?, offsets })
    }

    /// The value of `number`, drawn if it is not fixed.
    #[inline(always)]
    pub fn of(&mut self, number: Number) -> u64 {
        match number {
            Number::Fixed(n) => n,
            Number::Drawn(variable) => self.drawn(variable),
        }
    }

    fn drawn(&mut self, at: usize) -> u64 {
        if let Some(own) = self.own.get_mut(at).and_then(Option::as_mut) {
            return own.draw_u64();
        }
        let Some(variable) = self.variables.all.get(at) else { return 0 };
        let stream = match variable.source {
            Generator::ProcessRand48 => &self.variables.processes[self.process],
            _ => &self.variables.streams[at],
        };
        variable.drawing.draw_u64_with(|| rand48_shared_unit(stream))
    }

    /// A uniform number in 0..=1 from the stream of offsets.
    #[inline(always)]
    fn unit(&mut self) -> f64 {
        match &mut self.offsets {
            OffsetSource::Seeded(sampler) => sampler.draw(),
            OffsetSource::Mt19937(twister) => twister.next_u64() as f64 / u64::MAX as f64,
        }
    }

    /// A random offset in `range` bytes, a multiple of `block`; the range is at least a block.
    #[inline(always)]
    pub fn offset(&mut self, range: u64, block: u64) -> u64 {
        let exact = matches!(self.offsets, OffsetSource::Mt19937(_));
        let unit = self.unit();
        if exact {
            // Filebench's rule: the last block is never reached.
            let place = (unit * (range - block) as f64) as u64;
            // Nearly every block is a power of two, and a division takes longer than everything else here.
            if block.is_power_of_two() { place & !(block - 1) } else { place - place % block }
        } else {
            let blocks = range / block;
            ((unit * blocks as f64) as u64).min(blocks - 1) * block
        }
    }

    /// A uniform index below `count`.
    pub fn choice(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// A random length below `size`.
    pub fn length(&mut self, size: u64) -> u64 {
        (self.unit() * size.saturating_sub(1) as f64) as u64
    }
}
