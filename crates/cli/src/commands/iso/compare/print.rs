//! Output of `fathom iso compare`: a table per load with medians over the rounds, then sentences on which figures
//! belong to a cache and which to the device; as JSON, every run.

use super::blocks::Blocks;
use super::setup::Below;
use super::{Compared, LoadRuns, Run, load};
use crate::commands::iso::reading;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-iso-compare/1";

pub fn text(compared: &Compared<'_>) -> String {
    let Compared { options, setup, plan, rows } = compared;
    let mut text = format!(
        "{}; medians of {} interleaved rounds, each run with cold caches\n",
        setup.about, options.rounds
    );
    let mut first: Option<&LoadRuns> = None;
    for row in rows {
        let base = match first.filter(|first| first.load == row.load) {
            Some(base) => base,
            None => {
                let _ = writeln!(text, "\n{}: {}", row.load.name(), plan.about(row.load));
                text += &heading();
                first.insert(row)
            }
        };
        text += &line(row, base);
    }
    let _ = write!(text, "\n{}\n", setup.below.sentence());
    text += "Requests of the reader are pages that it asked for, joined as its policy says; those of the device are the kernel's block events.\n";
    let lost: u64 =
        rows.iter().flat_map(|row| &row.runs).filter_map(|run| Some(run.blocks.as_ref()?.lost)).sum();
    if lost > 0 {
        let _ = writeln!(text, "{lost} block events were lost: the device's columns are too small.");
    }
    for note in &setup.notes {
        let _ = writeln!(text, "{note}");
    }
    text
}

fn heading() -> String {
    format!(
        "  {:<9} {:>8} {:>17} {:>7} {:>9} {:>10} {:>10} {:>10} {:>8} {:>10} {:>8} {:>8} {:>8}\n",
        "policy",
        "MiB/s",
        "[min-max]",
        "ratio",
        "reads/s",
        "p50 us",
        "p99 us",
        "requests",
        "KiB each",
        "at device",
        "KiB each",
        "apart",
        "cached"
    )
}

fn line(row: &LoadRuns, base: &LoadRuns) -> String {
    let rates = values(row, |run| Some(mib_per_s(run)));
    let (Some(&least), Some(&most)) = (rates.first(), rates.last()) else { return String::new() };
    let median = |figure: fn(&Run) -> Option<f64>| middle(&values(row, figure));
    let ratio = middle(&rates).zip(middle(&values(base, |run| Some(mib_per_s(run))))).map(|(a, b)| a / b);
    let shown = |value: Option<f64>, digits: usize| value.map_or("-".into(), |v| format!("{v:.digits$}"));
    format!(
        "  {:<9} {:>8} {:>17} {:>7} {:>9} {:>10} {:>10} {:>10} {:>8} {:>10} {:>8} {:>8} {:>8}\n",
        row.policy.name(),
        shown(middle(&rates), 1),
        format!("[{least:.1}-{most:.1}]"),
        shown(ratio, 2),
        shown(median(reads_per_s), 0),
        shown(median(|run| percentile(run, 50).map(|ns| ns as f64 / 1e3)), 0),
        shown(median(|run| percentile(run, 99).map(|ns| ns as f64 / 1e3)), 0),
        shown(median(|run| Some(run.counters.requests as f64)), 0),
        shown(median(|run| each(run.counters.bytes, run.counters.requests)), 1),
        shown(median(|run| Some(run.blocks.as_ref()?.requests as f64)), 0),
        shown(median(|run| run.blocks.as_ref().and_then(|b| each(b.bytes, b.requests))), 1),
        shown(median(|run| Some(run.blocks.as_ref()?.apart as f64)), 0),
        shown(median(from_cache).map(|share| share * 100.0), 0) + "%",
    )
}

/// A figure of every run, ascending.
fn values(row: &LoadRuns, figure: impl Fn(&Run) -> Option<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = row.runs.iter().filter_map(figure).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(sorted[n / 2]),
        _ => Some(f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

fn mib_per_s(run: &Run) -> f64 {
    run.done.bytes as f64 / f64::from(1 << 20) / seconds(run)
}

fn reads_per_s(run: &Run) -> Option<f64> {
    Some(run.done.latencies_ns.len() as f64 / seconds(run))
}

fn seconds(run: &Run) -> f64 {
    run.done.wall_ns.max(1) as f64 / 1e9
}

fn each(bytes: u64, requests: u64) -> Option<f64> {
    (requests > 0).then(|| bytes as f64 / 1024.0 / requests as f64)
}

fn percentile(run: &Run, of_hundred: usize) -> Option<u64> {
    let all = &run.done.latencies_ns;
    let at = (all.len() * of_hundred).div_ceil(100).saturating_sub(1);
    all.get(at).copied()
}

/// Share of pages already cached or in flight when a program needed them.
fn from_cache(run: &Run) -> Option<f64> {
    let counters = &run.counters;
    (counters.pages_asked > 0).then(|| counters.pages_cached as f64 / counters.pages_asked as f64)
}

pub fn json(compared: &Compared<'_>) -> Value {
    let Compared { options, setup, rows, plan } = compared;
    let of = |row: &LoadRuns| {
        let policy = setup.policy(row.policy);
        let runs = row.runs.iter().map(|run| {
            json!({
                "round": run.round,
                "wall_ns": run.done.wall_ns,
                "bytes": run.done.bytes,
                "reads": run.done.latencies_ns.len(),
                "latency_ns_p50": percentile(run, 50),
                "latency_ns_p99": percentile(run, 99),
                "latency_ns_max": run.done.latencies_ns.last(),
                "cpu_ns": run.cpu_ns,
                "pages_cached_share": from_cache(run),
                "reader": reading::report(&policy, &run.counters, run.backend.clone()),
                "device": run.blocks.as_ref().map(of_device),
            })
        });
        let rates = values(row, |run| Some(mib_per_s(run)));
        json!({
            "load": row.load.name(),
            "about": plan.about(row.load),
            "policy": row.policy.name(),
            "mib_per_s_median": middle(&rates),
            "runs": runs.collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": SCHEMA,
        "image": options.source.image.display().to_string(),
        "about": setup.about,
        "below": setup.below.name(),
        "from_device": setup.below == Below::Device,
        "notes": setup.notes,
        "rounds": options.rounds,
        "record_bytes": options.record.0,
        "reads_per_s_most": options.iops,
        "seed": load::SEED,
        "rows": rows.iter().map(of).collect::<Vec<_>>(),
    })
}

fn of_device(blocks: &Blocks) -> Value {
    let sizes = blocks.sizes.iter();
    json!({
        "requests": blocks.requests,
        "bytes": blocks.bytes,
        "requests_apart": blocks.apart,
        "distance_bytes": blocks.distance_bytes,
        "requests_by_size": sizes.map(|(bytes, count)| json!({"bytes": bytes, "count": count})).collect::<Vec<_>>(),
        "events_lost": blocks.lost,
        "observer_cpu_ns": blocks.observer_cpu_ns,
    })
}
