//! The latency histograms of a record, read from its JSON: how many values exceed a limit, and below which value a share of them
//! lies. The buckets are those of docs/formats/record-json.md; they are decoded here again, because xtask uses no crate of fathom.

use serde_json::Value;

/// Buckets that are not empty, as (largest value they hold, count), ascending.
pub struct Histogram(Vec<(u64, u64)>);

impl Histogram {
    /// The latencies of one kind of operation over all workers of a repetition; empty if it has none.
    pub fn of(workers: &Value, op: &str) -> Self {
        let stats = workers.as_array().into_iter().flatten().flat_map(|w| w["stats"].as_array()).flatten();
        let counts =
            stats.filter(|s| s["op"] == op).flat_map(|s| s["latency"]["counts"].as_array()).flatten();
        let mut buckets: Vec<(u64, u64)> =
            counts.filter_map(|pair| Some((largest(pair[0].as_u64()?), pair[1].as_u64()?))).collect();
        buckets.sort_unstable();
        Self(buckets)
    }

    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, n)| n).sum()
    }

    /// Values in buckets above a limit.
    pub fn above(&self, ns: u64) -> u64 {
        self.0.iter().filter(|(value, _)| *value > ns).map(|(_, n)| n).sum()
    }

    /// A value that this share of all does not exceed.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        self.0.iter().find_map(|(value, n)| {
            seen += n;
            (seen >= wanted).then_some(*value)
        })
    }
}

/// The largest value of a bucket: 64 buckets per power of two, exact below 64.
fn largest(bucket: u64) -> u64 {
    let Some(shift) = (bucket / 64).checked_sub(1) else { return bucket };
    let width = 1u128 << shift.min(63);
    u64::try_from(u128::from(bucket % 64 + 64) * width + width - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn buckets_end_where_the_format_says() {
        assert_eq!([0, 63, 64, 128, 129, 3775].map(largest), [0, 63, 64, 129, 131, u64::MAX]);
    }

    #[test]
    fn values_are_counted_over_all_workers() {
        let worker = |bucket: u64, n: u64| {
            json!({"stats": [{"op": "open", "latency": {"counts": [[1, 9]]}},
                             {"op": "response", "latency": {"counts": [[10, 97], [bucket, n]]}}]})
        };
        let workers = json!([worker(64, 3), worker(128, 3)]);
        let got = Histogram::of(&workers, "response");
        assert_eq!((got.count(), got.above(10), got.above(64), got.above(1000)), (200, 6, 3, 0));
        assert_eq!(
            (got.quantile(0.5), got.quantile(0.98), got.quantile(1.0)),
            (Some(10), Some(64), Some(129))
        );
        assert_eq!(Histogram::of(&workers, "write").quantile(0.5), None);
    }
}
