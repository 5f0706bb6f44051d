//! The report of 0.4.12, as printed by its releases and distributions: operations, requests per second, request statistics.

use super::figures::{Rules, Share, Tally, over, spread};
use super::head::short_size;
use super::latency;
use super::options::SysbenchOptions;
use super::report::ReportInterval;

/// The text from "Operations performed:" to the empty line after the fairness.
pub(super) fn report(o: &SysbenchOptions, span: &ReportInterval<'_>) -> String {
    let ReportInterval { tally, total_s, clock_s, .. } = *span;
    let events = tally.events(Rules::of(o));
    let bytes = tally.read_bytes.saturating_add(tally.written_bytes);
    let others = tally.syncs();
    format!(
        "Operations performed:  {} Read, {} Write, {others} Other = {} Total\n\
         Read {}  Written {}  Total transferred {}  ({}/sec)\n{:8.2} Requests/sec executed\n\n\
         Test execution summary:\n    total time:                          {total_s:.4}s\n    \
         total number of events:              {events}\n    \
         total time taken by event execution: {:.4}\n    per-request statistics:\n{}\nThreads fairness:\n{}\n",
        tally.reads,
        tally.writes,
        tally.reads + tally.writes + others,
        short_size(tally.read_bytes as f64, "b"),
        short_size(tally.written_bytes as f64, "b"),
        short_size(bytes as f64, "b"),
        short_size(over(bytes as f64, clock_s), "b"),
        over(events as f64, clock_s),
        tally.latency.sum_ns() as f64 / 1e9,
        requests(o, tally),
        fairness(o, span),
    )
}

fn requests(o: &SysbenchOptions, tally: &Tally) -> String {
    let l = &tally.latency;
    let row = |name: &str, ms: f64| format!("         {name:<25}{ms:>17.2}ms\n");
    let mut text = row("min:", l.min_ns() as f64 / 1e6)
        + &row("avg:", l.mean_ns().unwrap_or(0.0) / 1e6)
        + &row("max:", l.max_ns() as f64 / 1e6);
    if o.percentile > 0 {
        text +=
            &row(&format!("approx. {:3} percentile:", o.percentile), latency::percentile_ms(l, o.percentile));
    }
    text
}

fn fairness(o: &SysbenchOptions, span: &ReportInterval<'_>) -> String {
    let mean = |sum: f64| sum / f64::from(o.threads.max(1));
    let share = [Share {
        events: mean(span.tally.events(Rules::of(o)) as f64),
        busy_s: mean(span.tally.latency.sum_ns() as f64 / 1e9),
    }];
    let shares = span.shares.unwrap_or(&share);
    let known = span.shares.is_some() || o.threads == 1;
    let line = |title: &str, (mean, deviation): (f64, f64)| {
        let deviation = if known { format!("{deviation:.2}") } else { "-".into() };
        format!("    {title:<31}{mean:.4}/{deviation}\n")
    };
    line("events (avg/stddev):", spread(shares.iter().map(|s| s.events)))
        + &line("execution time (avg/stddev):", spread(shares.iter().map(|s| s.busy_s)))
}

/// `[   1s] reads: ...`
pub(super) fn interval(o: &SysbenchOptions, tally: &Tally, at_s: u64, width_s: f64) -> String {
    let rate = |amount: f64| over(amount, width_s);
    format!(
        "[{at_s:4}s] reads: {:4.2} MB/s writes: {:4.2} MB/s fsyncs: {:4.2}/s response time: {:4.2}ms ({}%)\n",
        rate(tally.read_bytes as f64) / 1_048_576.0,
        rate(tally.written_bytes as f64) / 1_048_576.0,
        rate(tally.syncs() as f64),
        if o.percentile > 0 { latency::percentile_ms(&tally.latency, o.percentile) } else { 0.0 },
        o.percentile,
    )
}
