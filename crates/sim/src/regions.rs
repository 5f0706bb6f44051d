//! The regions of a set's files that streams write. Files have blocks for them from the start, so their layout does not depend on which
//! writer comes first; the ranges between them are holes.

use fathom_workload::{Access, Direction, FileSet, Phase, Pick, Stream, Workload};
use std::ops::Range;

/// Byte ranges in ascending order; none touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Regions(Vec<Range<u64>>);

/// The regions of a set's files that streams of a workload write.
pub(crate) fn written(workload: &Workload, set: &FileSet) -> Regions {
    let streams = workload.phases.iter().flat_map(Phase::streams);
    let apart = |s: &&Stream| s.pick != Pick::All || s.turns.is_some();
    let own = streams.filter(|s| s.fileset == set.name && s.direction != Direction::Read).filter(apart);
    Regions::of(own.flat_map(parts).collect())
}

fn parts(stream: &Stream) -> Vec<Range<u64>> {
    if let Access::Listed(list) = &stream.access {
        return list.iter().map(|op| op.offset..op.offset.saturating_add(op.bytes.into())).collect();
    }
    let start = stream.start.0;
    stream.length.map(|length| start..start.saturating_add(length.0)).into_iter().collect()
}

impl Regions {
    fn of(mut all: Vec<Range<u64>>) -> Self {
        all.sort_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in all.into_iter().filter(|range| !range.is_empty()) {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        Self(joined)
    }

    /// Union of two sets of regions.
    pub fn with(&self, others: &Self) -> Self {
        Self::of([self.0.as_slice(), &others.0].concat())
    }

    /// For a file of `bytes` bytes: the end of its initial part without holes, and the written regions behind it.
    pub fn together_with(&self, bytes: u64) -> (u64, &[Range<u64>]) {
        let apart = self.0.partition_point(|range| range.start <= bytes);
        let end = self.0[..apart].last().map_or(bytes, |last| last.end.max(bytes));
        (end, &self.0[apart..])
    }

    /// For a file of `bytes` bytes: its end, and the number of bytes that are not holes.
    pub fn of_file(&self, bytes: u64) -> (u64, u64) {
        let (end, apart) = self.together_with(bytes);
        let behind = apart.iter().fold(0u64, |sum, range| sum.saturating_add(range.end - range.start));
        (apart.last().map_or(end, |last| last.end), end.saturating_add(behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_ranges_merge_and_gaps_are_holes() {
        let regions = Regions::of(vec![30..40, 0..10, 5..20, 20..25, 7..7]);
        assert_eq!(regions, Regions(vec![0..25, 30..40]));
        let far = 30..40;
        assert_eq!(regions.together_with(3), (25, std::slice::from_ref(&far)));
        assert_eq!(regions.together_with(35), (40, &[][..]));
        assert_eq!((regions.of_file(3), regions.of_file(50)), ((40, 35), (50, 50)));
        assert_eq!(Regions::default().of_file(7), (7, 7));
    }
}
