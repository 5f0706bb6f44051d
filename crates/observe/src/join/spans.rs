//! Sets of bytes as sorted, disjoint spans; used to count the bytes common to two sets of ranges, each byte once.

/// First byte, byte after the last.
pub(super) type Span = (u64, u64);

/// Sorts spans and merges those that touch.
pub(super) fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|s| s.0 < s.1);
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => joined.push(span),
        }
    }
    joined
}

/// Total bytes of disjoint spans.
pub(super) fn bytes(spans: &[Span]) -> u64 {
    spans.iter().map(|s| s.1 - s.0).sum()
}

/// Bytes common to two unions.
pub(super) fn common(a: &[Span], b: &[Span]) -> u64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        sum += x.1.min(y.1).saturating_sub(x.0.max(y.0));
        if x.1 < y.1 { i += 1 } else { j += 1 }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts_once() {
        let asked = union(vec![(0, 10), (5, 20), (20, 30), (50, 50), (90, 100)]);
        assert_eq!(asked, [(0, 30), (90, 100)]);
        assert_eq!(bytes(&asked), 40);
        assert_eq!(common(&asked, &[(25, 95)]), 10);
        assert_eq!(common(&asked, &[]), 0);
    }

    proptest::proptest! {
        #[test]
        fn it_is_what_counting_bytes_gives(
            a in proptest::collection::vec((0u64..60, 0u64..20), 0..12),
            b in proptest::collection::vec((0u64..60, 0u64..20), 0..12),
        ) {
            let spans = |v: &[(u64, u64)]| union(v.iter().map(|&(from, n)| (from, from + n)).collect());
            let has = |v: &[(u64, u64)], byte: u64| v.iter().any(|&(from, n)| (from..from + n).contains(&byte));
            let counted = (0..80).filter(|&byte| has(&a, byte) && has(&b, byte)).count() as u64;
            proptest::prop_assert_eq!(common(&spans(&a), &spans(&b)), counted);
            proptest::prop_assert_eq!(bytes(&spans(&a)), (0..80).filter(|&byte| has(&a, byte)).count() as u64);
        }
    }
}
