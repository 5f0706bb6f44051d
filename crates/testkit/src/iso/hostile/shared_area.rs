//! A small image that demands much memory: thousands of records that all continue in one area of 64 KiB, the most that one record
//! may have. If a reader keeps it for each of them, 70 bytes of the image become 64 KiB.

use super::super::{Built, Spec, susp};
use super::base;

/// Contents of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// Pieces of one name.
    Names,
    /// Pieces of one link target.
    Targets,
}

/// "wide", a directory of `records` records with one area.
#[must_use]
pub fn shared_area(records: usize, full: Full) -> Built {
    let (mode, piece) = match full {
        Full::Names => (0o100_644, susp::nm(1, &[b'n'; 250])),
        Full::Targets => (0o120_777, susp::sl(1, &[(1, &[b't'; 248])])),
    };
    let mut first = Spec { susp: vec![susp::px(mode, 1, 0, 0, None)], hops: 1, ..Spec::default() };
    let pieces = ((64 << 10) - first.susp[0].len()) / piece.len();
    first.susp.resize(pieces + 1, piece);
    let length = number(first.susp.iter().map(Vec::len).sum());
    let with = |at: usize| {
        let susp = vec![susp::ce(number(at / 2048), number(at % 2048), length)];
        let again = Spec { susp, ..Spec::default() };
        let wide = Spec { susp: vec![susp::nm(0, b"wide")], ..Spec::default() };
        let builder = base().dir("wide", wide).add("wide/0", first.clone());
        (1..records).fold(builder, |builder, n| builder.add(&format!("wide/{n}"), again.clone())).build()
    };
    // The position of the area does not depend on the records that refer to it.
    let at = with(0).continuations["wide/0"][0];
    with(at)
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("a small image")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_records_lead_to_the_one_area() {
        for full in [Full::Names, Full::Targets] {
            let built = shared_area(20, full);
            let at = built.continuations["wide/0"][0];
            assert_eq!(&built.bytes[at..at + 2], b"PX");
            let lbn = number(at / 2048).to_le_bytes();
            for n in 1..20 {
                let record = &built.bytes[built.record(&format!("wide/{n}"))..][..255];
                let ce = record.windows(2).position(|pair| pair == b"CE").unwrap();
                assert_eq!(record[ce + 4..ce + 8], lbn, "{n}");
            }
            assert_eq!(built.continuations.len(), 1);
        }
    }
}
