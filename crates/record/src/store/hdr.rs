//! Our histograms as HdrHistogram V2 with DEFLATE, which every HdrHistogram port reads.
//!
//! With two significant digits HdrHistogram cuts each power of two from 128 on into 128 slots and is exact below 256; our
//! buckets are 64 to a power of two and exact below 128. So each of our buckets is one or two whole slots. A bucket's count is
//! put into its *first* slot: other readers answer a percentile with the highest value of a slot, which then is our midpoint (one
//! ns less), and on the way back the slot's lowest value names our bucket exactly.
//!
//! What the format cannot hold is left to the caller (`None`): values from 2^63 on, because the ports count in signed 64 bits,
//! and counts from 2^63 on.

use crate::Histogram;
use crate::histogram::{BUCKETS, bucket_of};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Largest value the encoded histogram declares.
const HIGHEST: u64 = u64::MAX >> 1;
/// Significant decimal digits.
const DIGITS: u8 = 2;

/// The encoded form, or `None` where HdrHistogram cannot hold this histogram.
pub(super) fn encode(histogram: &Histogram) -> Option<Vec<u8>> {
    let mut hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST, DIGITS).ok()?;
    for (low, _, count) in histogram.buckets() {
        if low > HIGHEST || count > HIGHEST {
            return None;
        }
        hdr.record_n(low, count).ok()?;
    }
    let mut body = Vec::new();
    V2DeflateSerializer::new().serialize(&hdr, &mut body).ok()?;
    Some(body)
}

/// Why a blob could not be read.
pub(super) type Reason = String;

/// The dense counters of our buckets.
pub(super) fn decode(body: &[u8]) -> Result<Vec<u64>, Reason> {
    let mut reader = body;
    let hdr: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut reader).map_err(|e| format!("the histogram ({e:?})"))?;
    if hdr.sigfig() != DIGITS || hdr.low() != 1 {
        return Err(format!(
            "the histogram (it has {} significant digits instead of {DIGITS})",
            hdr.sigfig()
        ));
    }
    let mut counts = vec![0u64; BUCKETS];
    for slot in hdr.iter_recorded() {
        let low = hdr.lowest_equivalent(slot.value_iterated_to());
        let count = &mut counts[bucket_of(low)];
        *count = count.saturating_add(slot.count_at_value());
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(histogram: &Histogram) -> Histogram {
        let counts = decode(&encode(histogram).expect("fits")).expect("reads");
        Histogram::from_dense(&counts, histogram.sum_ns(), histogram.min_ns(), histogram.max_ns())
    }

    #[test]
    fn the_edges_of_every_power_of_two_come_back() {
        let edges = (0..63).flat_map(|p| {
            let low = 1u64 << p;
            [low - 1, low, low + 1, low + low / 2, low + (low - 1)]
        });
        let histogram = Histogram::from_values(edges);
        assert_eq!(round_trip(&histogram), histogram);
    }

    #[test]
    fn an_empty_one_comes_back() {
        assert_eq!(round_trip(&Histogram::default()), Histogram::default());
    }

    #[test]
    fn what_does_not_fit_is_declined() {
        assert_eq!(encode(&Histogram::from_values([u64::MAX])), None);
        assert_eq!(encode(&Histogram::from_values([1 << 63])), None);
        assert!(encode(&Histogram::from_values([(1 << 63) - 1])).is_some());
    }

    #[test]
    fn foreign_readers_see_our_percentiles() {
        let ours = Histogram::from_values((0..100_000u64).map(|i| i * i % 9_999_991 + 300));
        let body = encode(&ours).expect("fits");
        let theirs: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut body.as_slice()).expect("reads");
        for p in [1.0, 25.0, 50.0, 90.0, 99.0, 99.9] {
            let (a, b) = (ours.percentile_ns(p).expect("full"), theirs.value_at_percentile(p));
            // Ours is held inside the exact maximum, which the other side does not know.
            assert!(a.abs_diff(b.min(ours.max_ns())) <= 1, "p{p}: {a} and {b}");
        }
    }

    #[test]
    fn rubbish_is_refused() {
        assert!(decode(b"").is_err());
        assert!(decode(&[0x1c, 0x84, 0x93, 0x14, 0, 0, 0, 200, 1, 2, 3]).is_err());
    }

    proptest! {
        #[test]
        fn any_histogram_below_two_to_the_63_comes_back(values in prop::collection::vec(prop_oneof![0u64..1 << 20, 0u64..1 << 63], 0..200)) {
            let histogram = Histogram::from_values(values);
            prop_assert_eq!(round_trip(&histogram), histogram);
        }

        #[test]
        fn reading_never_panics(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&body);
        }
    }
}
