//! The 48-bit linear congruential generator of POSIX (drand48). Its whole state is one number, so threads and processes can share a
//! stream through an atomic: see [`rand48_shared_unit`].

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

/// One step of the generator: X' = (X * 0x5DEECE66D + 0xB) mod 2^48.
#[must_use]
pub const fn rand48_step(state: u64) -> u64 {
    state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK
}

/// The output in 0..1 of a state: X / 2^48, exactly.
#[must_use]
pub const fn rand48_unit(state: u64) -> f64 {
    (state & MASK) as f64 / (1u64 << 48) as f64
}

/// Advances a shared state and returns this caller's number in 0..1. Each number of the stream is handed out once. It orders no other
/// memory.
pub fn rand48_shared_unit(state: &AtomicU64) -> f64 {
    let mut seen = state.load(Relaxed);
    loop {
        let next = rand48_step(seen);
        match state.compare_exchange_weak(seen, next, Relaxed, Relaxed) {
            Ok(_) => return rand48_unit(next),
            Err(now) => seen = now,
        }
    }
}

/// An unshared stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rand48 {
    /// X, below 2^48: the start value, then the last state drawn.
    pub state: u64,
}

impl Rand48 {
    /// The stream that starts from `state` mod 2^48. (`srand48` takes 32 bits and puts 0x330E below them; this takes all 48.)
    #[must_use]
    pub const fn new(state: u64) -> Self {
        Self { state: state & MASK }
    }

    /// The next number in 0..1.
    pub fn unit(&mut self) -> f64 {
        self.state = rand48_step(self.state);
        rand48_unit(self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_draws_the_same() {
        for seed in [0, 1, 12345, 0x330E_1234_5678, MASK] {
            let mut words = [seed as u16, (seed >> 16) as u16, (seed >> 32) as u16];
            let mut ours = Rand48::new(seed);
            for _ in 0..1000 {
                // SAFETY: erand48 reads and writes the three words it is given, and nothing else.
                let theirs = unsafe { libc::erand48(words.as_mut_ptr()) };
                assert_eq!(ours.unit(), theirs, "seed {seed}");
            }
        }
    }

    #[test]
    fn it_begins_with_these_numbers_from_nothing() {
        let mut g = Rand48::default();
        let first: Vec<String> = (0..3).map(|_| format!("{:.9}", g.unit())).collect();
        assert_eq!(first, ["0.000000000", "0.000985395", "0.041631002"]);
    }

    #[test]
    fn seeds_count_modulo_two_to_the_48th() {
        assert_eq!(Rand48::new(u64::MAX), Rand48::new(MASK));
    }

    #[test]
    fn a_shared_stream_hands_out_each_number_once() {
        let shared = AtomicU64::new(7);
        let mut got: Vec<f64> = std::thread::scope(|scope| {
            let draw = || (0..500).map(|_| rand48_shared_unit(&shared)).collect::<Vec<f64>>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
            threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
        });
        let mut alone = Rand48::new(7);
        let mut want: Vec<f64> = (0..2000).map(|_| alone.unit()).collect();
        got.sort_by(f64::total_cmp);
        want.sort_by(f64::total_cmp);
        assert_eq!(got, want);
    }
}
