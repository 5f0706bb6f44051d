//! Converts units as printed by other programs to base units. "KB" differs between programs: in IOzone, Filebench and
//! SysBench it is 1024 bytes; in dd, and as fio's "kB", 1000.

use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};

/// Meaning of K, M and G without further indication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    /// 1024
    Binary,
    /// 1000
    Decimal,
}

impl Prefix {
    fn base(self) -> f64 {
        match self {
            Self::Binary => 1024.0,
            Self::Decimal => 1000.0,
        }
    }
}

/// A unit as a multiple of a base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) base: &'static str,
    pub(super) factor: f64,
}

/// Parses a unit: "KB/sec", "MiB/s", "ops/s", "ms", "%".
pub(super) fn unit(word: &str, prefix: Prefix) -> Option<Unit> {
    let unit = |base, factor| Some(Unit { base, factor });
    match word {
        "ns" | "nsec" => return unit(NS, 1.0),
        "us" | "usec" | "\u{b5}s" => return unit(NS, 1e3),
        "ms" | "msec" => return unit(NS, 1e6),
        "s" | "sec" | "secs" | "second" | "seconds" => return unit(NS, 1e9),
        "%" => return unit(PERCENT, 1.0),
        "" => return unit(COUNT, 1.0),
        _ => {}
    }
    let lower = word.to_ascii_lowercase();
    match lower.as_str() {
        "ops/s" | "ops/sec" | "iops" | "requests/sec" | "req/s" => return unit(OPS_PER_S, 1.0),
        _ => {}
    }
    let (amount, base) = match lower.split_once('/') {
        Some((amount, "s" | "sec" | "second")) => (amount, BYTES_PER_S),
        Some(_) => return None,
        None => (lower.as_str(), BYTES),
    };
    Some(Unit { base, factor: bytes(amount, prefix)? })
}

/// Number of bytes of "KiB", "Kbytes", "mb", "b".
fn bytes(amount: &str, prefix: Prefix) -> Option<f64> {
    let stem = ["bytes", "byte", "b"].iter().find_map(|end| amount.strip_suffix(end))?;
    let (letter, base) = match stem.strip_suffix('i') {
        Some(letter) => (letter, 1024.0),
        None => (stem, prefix.base()),
    };
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    Some(f64::powi(base, power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_the_programs() {
        let of = |word, prefix| unit(word, prefix).map(|u| (u.base, u.factor));
        assert_eq!(of("KB/sec", Prefix::Binary), Some(("bytes/s", 1024.0)));
        assert_eq!(of("Kbytes", Prefix::Binary), Some(("bytes", 1024.0)));
        assert_eq!(of("MB/s", Prefix::Decimal), Some(("bytes/s", 1e6)));
        assert_eq!(of("MiB/s", Prefix::Decimal), Some(("bytes/s", 1048576.0)));
        assert_eq!(of("mb/s", Prefix::Binary), Some(("bytes/s", 1048576.0)));
        assert_eq!(of("ops/s", Prefix::Binary), Some(("ops/s", 1.0)));
        assert_eq!(of("msec", Prefix::Binary), Some(("ns", 1e6)));
        assert_eq!((of("writers", Prefix::Binary), of("r/w", Prefix::Binary)), (None, None));
    }
}
