//! Bytes, durations and seeds as people write them: `"64KiB"`, `"1.5GiB"`, `"500ms"`, `"0x2a"`, or a plain number (bytes, nanoseconds,
//! seed). A time in text needs a unit, since someone who writes `"2"` hardly means nanoseconds. In the native format `k`, `m`, `g`, `t`
//! with or without `iB` are powers of two; `kB`, `MB`, `GB`, `TB` are powers of ten. Dialects have their own rules and do not use this
//! parser.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

/// The seed of every random choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

const BYTE_UNITS: [(&str, u64); 16] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("pib", 1 << 50),
    ("pb", 1_000_000_000_000_000),
];

const TIME_UNITS: [(&str, u64); 7] = [
    ("", 1),
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Splits "1.5GiB" into number and unit and multiplies; fractions are allowed, the product is rounded.
fn scaled(text: &str, units: &[(&str, u64)], what: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim().to_ascii_lowercase());
    let expected = || {
        let names: Vec<&str> = units.iter().map(|u| u.0).filter(|u| !u.is_empty()).collect();
        format!("{text:?} is not {what}: expected a number and one of {}", names.join(", "))
    };
    let factor = units.iter().find(|u| u.0 == unit).ok_or_else(expected)?.1;
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| format!("{text:?} is larger than 2^64 - 1"));
    }
    let value: f64 = number.parse().map_err(|_| expected())?;
    let product = (value * factor as f64).round();
    if product >= 0.0 && product < u64::MAX as f64 { Ok(product as u64) } else { Err(expected()) }
}

/// The largest unit of `units` (ascending) that divides `value`, with the quotient.
fn exact(value: u64, units: &[(&'static str, u64)]) -> (u64, &'static str) {
    units
        .iter()
        .rev()
        .find(|u| value > 0 && value.is_multiple_of(u.1))
        .map_or((value, ""), |u| (value / u.1, u.0))
}

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        scaled(text, &BYTE_UNITS, "a size").map(Self)
    }
}

impl FromStr for Duration {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.trim();
        let number = bare.chars().all(|c| c.is_ascii_digit() || c == '.');
        if number && bare.parse::<f64>().is_ok_and(|number| number != 0.0) {
            return Err(format!(
                "{text:?} is a time without a unit: write \"{bare}s\" for seconds, or another of ns, us, ms, s, min, h"
            ));
        }
        scaled(text, &TIME_UNITS, "a length of time").map(Self)
    }
}

impl FromStr for Seed {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        parsed
            .map(Self)
            .map_err(|_| format!("{text:?} is not a seed: expected a number or 0x and hex digits"))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, unit) =
            exact(self.0, &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)]);
        write!(f, "{n}{}", if unit.is_empty() { "B" } else { unit })
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, unit) = exact(self.0, &[("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)]);
        write!(f, "{n}{}", if unit.is_empty() { "ns" } else { unit })
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Accepts a number or a string for a quantity that parses from text.
struct NumberOrText<T>(std::marker::PhantomData<T>);

impl<T: FromStr<Err = String> + From<u64>> de::Visitor<'_> for NumberOrText<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a number with a unit in quotes")
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<T, E> {
        Ok(T::from(v))
    }
    fn visit_i64<E: de::Error>(self, v: i64) -> Result<T, E> {
        u64::try_from(v).map(T::from).map_err(|_| E::custom(format!("{v} is negative")))
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<T, E> {
        v.parse().map_err(E::custom)
    }
}

macro_rules! quantity {
    ($name:ident) => {
        impl From<u64> for $name {
            fn from(v: u64) -> Self {
                Self(v)
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                d.deserialize_any(NumberOrText(std::marker::PhantomData))
            }
        }
    };
}
quantity!(Bytes);
quantity!(Duration);
quantity!(Seed);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_powers_of_two_unless_kb_is_written() {
        assert_eq!("64k".parse(), Ok(Bytes(65536)));
        assert_eq!("64 KiB".parse(), Ok(Bytes(65536)));
        assert_eq!("64kB".parse(), Ok(Bytes(64000)));
        assert_eq!("1.5g".parse(), Ok(Bytes(1_610_612_736)));
        assert!("64q".parse::<Bytes>().unwrap_err().contains("kib"));
        assert!("".parse::<Bytes>().is_err());
        assert!("99999999999t".parse::<Bytes>().is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!("500ms".parse(), Ok(Duration(500_000_000)));
        assert_eq!("2min".parse(), Ok(Duration(120_000_000_000)));
        assert!("5 parsecs".parse::<Duration>().is_err());
        for (text, meant) in
            [("2", "write \"2s\" for seconds"), (" 0.5 ", "write \"0.5s\""), ("1.", "without a unit")]
        {
            let wrong = text.parse::<Duration>().unwrap_err();
            assert!(wrong.contains(meant), "{wrong}");
        }
        assert_eq!("0".parse(), Ok(Duration(0)));
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(v in any::<u64>()) {
            prop_assert_eq!(Bytes(v).to_string().parse(), Ok(Bytes(v)));
            prop_assert_eq!(Duration(v).to_string().parse(), Ok(Duration(v)));
            prop_assert_eq!(Seed(v).to_string().parse(), Ok(Seed(v)));
        }

        #[test]
        fn no_text_panics(s in ".*") {
            let _ = s.parse::<Bytes>();
            let _ = s.parse::<Duration>();
            let _ = s.parse::<Seed>();
        }
    }
}
