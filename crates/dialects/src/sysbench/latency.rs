//! Latencies in SysBench's buckets: 1024 of them, each 1.0182 times the previous one, from 0.001 ms to 100000 ms. A percentile is a
//! bucket's value, so it may be off by one percent and exceed the maximum; this is kept because scripts compare such numbers with
//! each other. The record has finer buckets.

use fathom_record::Histogram;

const BUCKETS: usize = 1024;
const LEAST_MS: f64 = 0.001;
const MOST_MS: f64 = 100_000.0;
/// Number of stars for the fullest bucket.
const STARS: u64 = 40;

fn step() -> f64 {
    (MOST_MS / LEAST_MS).ln() / (BUCKETS - 1) as f64
}

fn value_ms(bucket: usize) -> f64 {
    LEAST_MS * (bucket as f64 * step()).exp()
}

fn bucket_of(ns: u64) -> usize {
    let ms = ns as f64 / 1e6;
    if ms <= LEAST_MS {
        return 0;
    }
    (((ms / LEAST_MS).ln() / step()).round() as usize).min(BUCKETS - 1)
}

/// (bucket, count) of all nonempty buckets, ascending.
fn counts(latency: &Histogram) -> Vec<(usize, u64)> {
    let mut counts: Vec<(usize, u64)> = Vec::new();
    for (low, width, n) in latency.buckets() {
        let ns = (low + width / 2).clamp(latency.min_ns(), latency.max_ns().max(latency.min_ns()));
        let bucket = bucket_of(ns);
        match counts.last_mut() {
            Some((last, sum)) if *last == bucket => *sum = sum.saturating_add(n),
            _ => counts.push((bucket, n)),
        }
    }
    counts
}

/// The percentile in ms; 0 if there are no events.
pub(super) fn percentile_ms(latency: &Histogram, percentile: u8) -> f64 {
    let wanted = (latency.count() as f64 * f64::from(percentile) / 100.0).round().max(1.0) as u64;
    let mut running = 0u64;
    for (bucket, n) in counts(latency) {
        running = running.saturating_add(n);
        if running >= wanted {
            return value_ms(bucket);
        }
    }
    0.0
}

/// Output of --histogram.
pub(super) fn histogram(latency: &Histogram) -> String {
    let counts = counts(latency);
    let most = counts.iter().map(|c| c.1).max().unwrap_or(1).max(1);
    let mut text = String::from(
        "Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count\n",
    );
    for (bucket, n) in counts {
        let stars = (u128::from(n) * u128::from(STARS) / u128::from(most)) as usize;
        text += &format!("{:12.3} |{:<40} {n}\n", value_ms(bucket), "*".repeat(stars));
    }
    text + " \n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_that_sysbench_prints() {
        // Values as printed in its histograms.
        let printed = [
            "0.132", "0.134", "0.136", "0.139", "0.141", "0.147", "0.149", "0.152", "0.381", "0.388", "0.395",
        ];
        for text in printed {
            let ms: f64 = text.parse().expect("a number");
            let bucket = bucket_of((ms * 1e6) as u64);
            assert_eq!(format!("{:.3}", value_ms(bucket)), text);
        }
        assert_eq!(format!("{:.2}", value_ms(bucket_of(3_550_000))), "3.55");
        assert_eq!((bucket_of(0), bucket_of(u64::MAX)), (0, BUCKETS - 1));
        assert!((value_ms(BUCKETS - 1) - MOST_MS).abs() < 1e-6);
    }

    #[test]
    fn a_percentile_is_the_value_of_the_bucket_where_it_is_reached() {
        let values = (1..=100).map(|i| i * 1_000_000);
        let latency = Histogram::from_values(values);
        let p = percentile_ms(&latency, 95);
        assert!((p / 95.0 - 1.0).abs() < 0.02, "{p}");
        assert_eq!(percentile_ms(&Histogram::default(), 95), 0.0);
    }

    #[test]
    fn the_fullest_bucket_has_forty_stars() {
        let latency = Histogram::from_values([1_000_000, 1_000_000, 5_000_000]);
        let text = histogram(&latency);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[2].ends_with(&format!("|{} 2", "*".repeat(40))), "{text}");
        assert!(lines[3].ends_with(&format!("|{:<40} 1", "*".repeat(20))), "{text}");
        assert_eq!(lines[4], " ");
    }
}
