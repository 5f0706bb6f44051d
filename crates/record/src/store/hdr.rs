//! Histograms in HdrHistogram V2 format with DEFLATE, readable by every HdrHistogram port.
//!
//! With two significant digits HdrHistogram splits each power of two from 128 on into 128 slots and is exact below 256; our
//! histogram has 64 buckets per power of two and is exact below 128. So each bucket is one or two whole slots. A bucket's count
//! goes into its *first* slot: other readers answer a percentile with the highest value of a slot, which is then our midpoint
//! (minus one ns), and on reading back, the slot's lowest value identifies our bucket exactly.
//!
//! What the format cannot hold is left to the caller (`None`): values and counts from 2^63 on, because the ports count in
//! signed 64 bits.

//!
//! The blob is encoded here instead of by the `hdrhistogram` crate, which needs 59 KB of counters and a compressor's tables for
//! each: more than half of the cost of storing a phase. The crate is used for reading and as the tests' reference.

use crate::Histogram;
use crate::histogram::{BUCKETS, bucket_of};
use hdrhistogram::serialization::Deserializer;

/// The largest trackable value in the header.
const HIGHEST: u64 = u64::MAX >> 1;
const DIGITS: u8 = 2;
/// log2 of the number of slots per power of two at two digits.
const SLOT_BITS: u32 = 7;
/// Cookie of the compressed form: V2, with words of one byte.
const COOKIE_DEFLATED: u32 = 0x1c84_9304 | 0x10;
/// Cookie of the plain form inside it.
const COOKIE_PLAIN: u32 = 0x1c84_9303 | 0x10;

/// The encoded form, or `None` if HdrHistogram cannot hold this histogram.
pub(super) fn encode(histogram: &Histogram) -> Option<Vec<u8>> {
    let counts = counts(histogram)?;
    let mut plain = Vec::with_capacity(40 + counts.len());
    plain.extend(COOKIE_PLAIN.to_be_bytes());
    plain.extend(u32::try_from(counts.len()).ok()?.to_be_bytes());
    plain.extend(0i32.to_be_bytes()); // normalising offset
    plain.extend(i32::from(DIGITS).to_be_bytes());
    plain.extend(1u64.to_be_bytes()); // lowest discernible value
    plain.extend(HIGHEST.to_be_bytes());
    plain.extend(1f64.to_be_bytes()); // ratio of integers to doubles
    plain.extend(counts);
    let packed = stored(&plain);
    let mut body = Vec::with_capacity(8 + packed.len());
    body.extend(COOKIE_DEFLATED.to_be_bytes());
    body.extend(u32::try_from(packed.len()).ok()?.to_be_bytes());
    body.extend(packed);
    Some(body)
}

/// The slots up to the last non-empty one: counts, and runs of empty slots as negative numbers.
fn counts(histogram: &Histogram) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut next = 0u64;
    for (low, _, count) in histogram.buckets() {
        if low > HIGHEST || count > HIGHEST {
            return None;
        }
        let slot = slot_of(low);
        match slot - next {
            0 => {}
            // A single empty slot is a count of 0.
            1 => number(&mut out, 0),
            run => number(&mut out, -run.cast_signed()),
        }
        number(&mut out, count.cast_signed());
        next = slot + 1;
    }
    if next == 0 {
        // The crate and HdrHistogram itself write the first slot of an empty histogram.
        number(&mut out, 0);
    }
    Some(out)
}

/// The slot of a value: exact below 256, then 128 per power of two.
fn slot_of(value: u64) -> u64 {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(SLOT_BITS + 1);
    (u64::from(shift) << SLOT_BITS) + (value >> shift)
}

/// Appends a signed number in one to nine bytes: zigzag-encoded, seven bits a byte, the highest bit says whether more follow;
/// the ninth byte has eight.
fn number(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    for _ in 0..8 {
        if rest < 0x80 {
            return out.push(rest as u8);
        }
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// A zlib stream of stored (uncompressed) blocks: compression would save a third of a few hundred bytes, and cost more time
/// than the rest of storing a phase.
fn stored(plain: &[u8]) -> Vec<u8> {
    // Deflate, 32 KiB window; the second byte makes the pair a multiple of 31.
    let mut out = vec![0x78, 0x01];
    let mut blocks = plain.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    // Adler-32: its sums cannot overflow within 5552 bytes, so the remainder is taken once per chunk.
    let (mut a, mut b) = (1u32, 0u32);
    for bytes in plain.chunks(5552) {
        for &byte in bytes {
            a += u32::from(byte);
            b += a;
        }
        (a, b) = (a % 65_521, b % 65_521);
    }
    out.extend(((b << 16) | a).to_be_bytes());
    out
}

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
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    use proptest::prelude::*;
    use std::io::Read as _;

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

    /// The plain form inside a blob.
    fn plain(body: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        flate2::read::ZlibDecoder::new(&body[8..]).read_to_end(&mut plain).expect("zlib");
        plain
    }

    /// What the crate writes for the same counts.
    fn reference(histogram: &Histogram) -> Vec<u8> {
        let mut hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST, DIGITS).expect("bounds");
        for (low, _, count) in histogram.buckets() {
            hdr.record_n(low, count).expect("fits");
        }
        let mut body = Vec::new();
        V2DeflateSerializer::new().serialize(&hdr, &mut body).expect("memory");
        body
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
    fn more_than_one_block_comes_back() {
        // Every bucket, with counts of nine bytes.
        let buckets = BUCKETS - 64;
        let counts = vec![u64::MAX / 2 / buckets as u64; buckets];
        let histogram = Histogram::from_dense(&counts, 1, 0, HIGHEST);
        let body = encode(&histogram).expect("fits");
        assert!(body.len() > usize::from(u16::MAX) / 2, "{}", body.len());
        assert_eq!(plain(&body), plain(&reference(&histogram)));
        assert_eq!(decode(&body).expect("reads")[..buckets], counts);
        let long: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
        assert_eq!(plain(&[&[0; 8], stored(&long).as_slice()].concat()), long);
    }

    #[test]
    fn foreign_readers_see_our_percentiles() {
        let ours = Histogram::from_values((0..100_000u64).map(|i| i * i % 9_999_991 + 300));
        let body = encode(&ours).expect("fits");
        let theirs: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut body.as_slice()).expect("reads");
        for p in [1.0, 25.0, 50.0, 90.0, 99.0, 99.9] {
            let (a, b) = (ours.percentile_ns(p).expect("full"), theirs.value_at_percentile(p));
            // Our value is clamped to the exact maximum, which the other side does not know.
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
            prop_assert_eq!(round_trip(&histogram), histogram.clone());
            // It is byte for byte what the crate writes, apart from the compression.
            let (ours, theirs) = (encode(&histogram).expect("fits"), reference(&histogram));
            prop_assert_eq!(&ours[..4], &theirs[..4]);
            prop_assert_eq!(plain(&ours), plain(&theirs));
        }

        #[test]
        fn reading_never_panics(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&body);
        }
    }
}
