//! Trials of one kind. Each has its own random numbers, so that a failed one can be repeated by its index.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Duration per kind.
const SECONDS: &str = "FATHOM_TORTURE_SECONDS";
/// Seed of the random numbers.
const SEED: &str = "FATHOM_TORTURE_SEED";
/// This many failures are not chance.
const ENOUGH: usize = 20;
/// Runs only this trial.
const TRIAL: &str = "FATHOM_TORTURE_TRIAL";

/// Runs trials until the time is up, and prints what `cargo xtask torture` counts. A trial returns the number of
/// accidents it survived, and panics if it fails.
#[track_caller]
pub fn torture(kind: &str, mut trial: impl FnMut(&mut Random) -> u64) {
    let limit = Duration::from_secs(variable(SECONDS).unwrap_or(10));
    let (seed, only) = (variable(SEED).unwrap_or(1), variable(TRIAL));
    let begun = Instant::now();
    let (mut tried, mut survived, mut failed) = (0, 0, Vec::new());
    for number in only.unwrap_or(0).. {
        match catch_unwind(AssertUnwindSafe(|| trial(&mut Random::of(seed, kind, number)))) {
            Ok(accidents) => (tried, survived) = (tried + accidents, survived + accidents),
            Err(_) => {
                tried += 1;
                failed.push(number);
            }
        }
        if only.is_some() || begun.elapsed() >= limit || failed.len() >= ENOUGH {
            break;
        }
    }
    println!("torture {kind}: tried {tried}, survived {survived}");
    assert!(
        failed.is_empty(),
        "trials {failed:?} failed: `cargo xtask torture {kind} --seed {seed} --trial N` makes one of them again"
    );
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: expected a number")))
}

/// Numbers of one trial: SplitMix64.
pub struct Random(u64);

impl Random {
    fn of(seed: u64, kind: &str, trial: u64) -> Self {
        let mixed = kind.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let mut random = Self(mixed ^ trial.rotate_left(32));
        let _ = random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One of them.
    pub fn of_these<'t, T>(&mut self, these: &'t [T]) -> &'t T {
        &these[self.below(these.len() as u64) as usize]
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Waits for up to `most`.
    pub fn wait(&mut self, most: Duration) {
        std::thread::sleep(Duration::from_micros(self.below(most.as_micros() as u64 + 1)));
    }
}
