//! The queue depth search, driven by this engine's clock and the worker's records.

use super::Hot;
use crate::kind_stats::KindStats;
use fathom_record::OpKind;
use fathom_record::histogram::{BUCKETS, bucket_value};
use fathom_workload::Stream;
use fathom_workload::drive::{DepthFound, DepthSearch};

/// The search of a stream, if it has one.
pub(super) fn search(hot: &Hot, stream: &Stream) -> Option<DepthSearch> {
    stream.adaptive_depth.map(|how| DepthSearch::new(how, hot.memory.len(), hot.clock, bucket_value))
}

/// Evaluates the search at tick `now`.
pub(super) fn look(hot: &Hot, search: &mut DepthSearch, now: u64) -> DepthFound {
    search.look(hot.clock, now, || counts(hot.stats))
}

fn counts(stats: &KindStats) -> Vec<u64> {
    let mut counts = vec![0; BUCKETS];
    for kind in [OpKind::Read, OpKind::Write] {
        stats[kind].add_counts_to(&mut counts);
    }
    counts
}
