//! Sizes, times and seeds as people write them: no text panics, and what is read is printed and read back.

#![no_main]

use fathom_workload::{Bytes, Duration, Seed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(size) = text.parse::<Bytes>() {
        assert_eq!(size.to_string().parse(), Ok(size));
    }
    if let Ok(time) = text.parse::<Duration>() {
        assert_eq!(time.to_string().parse(), Ok(time));
    }
    if let Ok(seed) = text.parse::<Seed>() {
        assert_eq!(seed.to_string().parse(), Ok(seed));
    }
});
