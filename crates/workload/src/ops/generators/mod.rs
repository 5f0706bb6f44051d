//! Bit-exact generators of other programs: a drop-in that must visit the same offsets or build the same tree as the original has to draw
//! the same numbers. None of them is good enough for anything else; fathom's own draws use `rand_xoshiro`. Pure arithmetic: a state goes
//! in, a number and the next state come out.

mod glibc_random;
mod mt19937;
mod rand48;
mod scaled;
mod xoroshiro128_plus;

pub use glibc_random::GlibcRandom;
pub use mt19937::Mt19937;
pub use rand48::{Rand48, rand48_shared_unit, rand48_step, rand48_unit};
pub use scaled::scaled;
pub use xoroshiro128_plus::Xoroshiro128Plus;
