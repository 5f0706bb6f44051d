//! Cost of copying between a page and a caller's buffer by where both are: the CPU caches as a host profile describes them.
//! `crate::copying` computes the probability that a page is still in one of them.

use crate::sources::Sourced;
use serde::Deserialize;

/// Copying costs by CPU cache level.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copying {
    /// Extra cost of a page that a read moves to the active list, us.
    pub activate_us: Sourced<f64>,
    /// Caches, smallest first; if empty, every copy costs `cpu.page_us`.
    #[serde(default)]
    pub cache: Vec<CacheLevel>,
}

/// One CPU cache level.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheLevel {
    /// Size, KiB.
    pub kib: Sourced<u32>,
    /// Associativity: lines with the same index that it keeps.
    pub ways: Sourced<u32>,
    /// Extra cost of a source page that is not in it, us.
    pub source_miss_us: Sourced<f64>,
    /// Extra cost of a target page that is not in it, us.
    pub target_miss_us: Sourced<f64>,
}

impl Copying {
    /// Checks the values; an error holds the key, its value and the allowed range.
    pub(super) fn check(&self) -> Result<(), (String, String, &'static str)> {
        let time = |key: String, us: f64| {
            if (0.0..=1e6).contains(&us) { Ok(()) } else { Err((key, us.to_string(), "0 to 1000000 us")) }
        };
        time("copying.activate_us".into(), self.activate_us.get())?;
        for (number, level) in self.cache.iter().enumerate() {
            let of = |key: &str| format!("copying.cache.{number}.{key}");
            let (kib, ways) = (level.kib.get(), level.ways.get());
            if !(1..=1 << 20).contains(&kib) {
                return Err((of("kib"), kib.to_string(), "1 to 1048576 KiB"));
            }
            if !(1..=64).contains(&ways) {
                return Err((of("ways"), ways.to_string(), "1 to 64"));
            }
            time(of("source_miss_us"), level.source_miss_us.get())?;
            time(of("target_miss_us"), level.target_miss_us.get())?;
        }
        Ok(())
    }
}
