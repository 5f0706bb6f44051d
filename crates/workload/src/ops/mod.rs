//! The op stream: the deterministic sequence of operations that a program yields for one worker. Engine and simulator execute the same
//! stream, so the same workload and seed give the same operations in both.
//!
//! Flows depend on what other threads did (which file is free, who has posted), so they have an interpreter instead: [`crate::flow`].
//!
//! An op stream is fed with completions ([`Done`]) because some mixes depend on what has finished; it never looks at a clock.

mod arrivals;
mod feistel;
pub mod generators;
mod kept;
mod mt19937_64;
mod order;
mod passes;
mod plain;
mod pool;
mod random;
mod stream;
mod tiles;
mod turns;
mod until_succeeded;
mod zones;

pub use arrivals::Arrivals;
pub use kept::{Extent, Kept, ReadBack};
pub use mt19937_64::Mt19937_64;
pub use order::PURPOSES;
pub(crate) use order::{MOST_ROUNDS, WIDEST_PERCENT, amplification};
pub use passes::{Passes, bytes_of_a_pass};
pub use plain::{Draw, Expected, Only, Plain, PlainOps, Source};
pub use pool::{Common, FileRegion as PooledFiles, PoolOps};
pub use random::{Drawing, Sampler};
pub(crate) use random::{StandardGamma, unit_of};
pub use stream::{Done, Early, Op, OpCode, Region, StreamOps};
pub use turns::TurnOps;
pub use until_succeeded::UntilSucceeded;

/// Waits for all operations in flight without dropping anything.
const WAIT: Op = Op { kind: OpCode::Evict, file: 0, offset: 0, bytes: 0, think_ns: 0 };

/// The worker, phase and repetition of a stream. Streams at different places are independent of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Index of the phase in the workload.
    pub phase: u32,
    /// Index of the worker in the phase.
    pub worker: u32,
    /// Index of the repetition.
    pub repetition: u32,
}

/// Derives an independent 64-bit seed from the workload's seed, a place, and a purpose. SplitMix64 finaliser (Steele, Lea and
/// Flood, OOPSLA 2014) over the mixed inputs.
#[must_use]
pub fn derive_seed(seed: u64, place: Place, purpose: u64) -> u64 {
    let mut state = seed;
    for part in [u64::from(place.phase), u64::from(place.worker), u64::from(place.repetition), purpose] {
        state = splitmix(state ^ splitmix(part.wrapping_add(0x9e37_79b9_7f4a_7c15)));
    }
    state
}

fn splitmix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
