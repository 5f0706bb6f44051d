//! Summary of ranks over time: rates up to the first and the last finisher, and the stragglers.

use super::RankTimes;

/// A rank is a straggler if it takes this much longer than the median, in percent.
const SLOW_PERCENT: u64 = 20;

/// One repetition of a phase, over all ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of ranks.
    pub ranks: usize,
    /// Latest minus earliest first operation, ns.
    pub skew_ns: u64,
    /// End of the first rank to finish, ns after the release.
    pub first_done_ns: u64,
    /// End of the last rank to finish, ns after the release.
    pub last_done_ns: u64,
    /// Counted bytes of all.
    pub bytes: u64,
    /// Counted operations of all.
    pub ops: u64,
    /// Bytes a second from the first operation to the end of the last rank.
    pub bytes_per_s: Option<f64>,
    /// Operations a second, likewise.
    pub ops_per_s: Option<f64>,
    /// Bytes a second including the wear-out; `None` if there was none.
    pub worn_bytes_per_s: Option<f64>,
    /// Ranks that finished much later than the median or stood still, the last one first.
    pub stragglers: Vec<RankTimes>,
    /// Ranks that did not reach the end.
    pub partial: Vec<u32>,
}

impl RankTimes {
    /// A phase that ends by time ends for all at once: there only the stall tells.
    fn is_slow(&self, limit_ns: u64) -> bool {
        self.done_ns > limit_ns || self.stood_still_ns.is_some()
    }
}

/// Sums up what every rank did.
#[must_use]
pub fn summary(ranks: &[RankTimes]) -> Summary {
    let (Some(first), Some(last)) =
        (ranks.iter().map(|r| r.first_ns).min(), ranks.iter().map(|r| r.first_ns).max())
    else {
        return Summary::default();
    };
    let mut done: Vec<u64> = ranks.iter().map(|r| r.done_ns).collect();
    done.sort_unstable();
    let (earliest, latest) = (done.first().copied().unwrap_or(0), done.last().copied().unwrap_or(0));
    let middle = done.get((done.len() - 1) / 2).copied().unwrap_or(0).saturating_sub(first);
    let bytes = ranks.iter().fold(0u64, |sum, r| sum.saturating_add(r.bytes));
    let ops = ranks.iter().fold(0u64, |sum, r| sum.saturating_add(r.ops));
    let rate = |what: u64, until: u64| {
        let ns = until.saturating_sub(first);
        (ns > 0).then(|| what as f64 * 1e9 / ns as f64)
    };
    let limit = middle.saturating_add(middle / 100 * SLOW_PERCENT);
    let mut stragglers: Vec<RankTimes> =
        ranks.iter().filter(|r| r.is_slow(first.saturating_add(limit))).cloned().collect();
    for slow in &mut stragglers {
        // One rank of a machine observes it for all.
        let of_host = || ranks.iter().find(|r| r.host == slow.host && r.cause.is_some());
        slow.cause = slow.cause.take().or_else(|| of_host()?.cause.clone());
    }
    stragglers.sort_by_key(|r| std::cmp::Reverse(r.done_ns));
    let worn = ranks.iter().map(|r| r.wear_done_ns).max().filter(|&ns| ns > 0);
    let wear_bytes = ranks.iter().fold(0u64, |sum, r| sum.saturating_add(r.wear_bytes));
    Summary {
        ranks: ranks.len(),
        skew_ns: last - first,
        first_done_ns: earliest,
        last_done_ns: latest,
        bytes,
        ops,
        bytes_per_s: rate(bytes, latest).filter(|_| bytes > 0),
        ops_per_s: rate(ops, latest),
        worn_bytes_per_s: worn.and_then(|until| rate(bytes.saturating_add(wear_bytes), until.max(latest))),
        stragglers,
        partial: ranks.iter().filter(|r| r.partial).map(|r| r.rank).collect(),
    }
}

/// Sums up every host, in order of its first rank.
#[must_use]
pub fn by_host(ranks: &[RankTimes]) -> Vec<(String, Summary)> {
    let mut hosts: Vec<(&str, Vec<RankTimes>)> = Vec::new();
    for rank in ranks {
        match hosts.iter_mut().find(|h| h.0 == rank.host) {
            Some(host) => host.1.push(rank.clone()),
            None => hosts.push((&rank.host, vec![rank.clone()])),
        }
    }
    hosts.into_iter().map(|(host, ranks)| (host.to_owned(), summary(&ranks))).collect()
}
