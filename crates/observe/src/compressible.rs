//! Measures how compressible data is: the share that zstd leaves of a sample. A rule describes the data as intended, the sample as it is.

/// The fastest level: storage that compresses has no more time either (1 MiB of random bytes takes 1 to 2 ms).
const LEVEL: i32 = 1;

/// Compressed size over original size, 0..=1; `None` for an empty sample. Data that grows counts as 1.
#[must_use]
pub fn share_left(sample: &[u8]) -> Option<f64> {
    let packed = zstd::bulk::compress(sample, LEVEL).ok().filter(|_| !sample.is_empty())?;
    Some((packed.len() as f64 / sample.len() as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_what_is_left() {
        assert!(share_left(&[0; 1 << 16]).is_some_and(|s| s < 0.001));
        let mut state = 7u64;
        let random: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(1 << 16)
        .collect();
        assert!(share_left(&random).is_some_and(|s| s > 0.99));
        let half: Vec<u8> = random.iter().take(1 << 15).copied().chain([0; 1 << 15]).collect();
        assert!(share_left(&half).is_some_and(|s| (0.49..0.52).contains(&s)));
        assert_eq!(share_left(&[]), None);
    }
}
