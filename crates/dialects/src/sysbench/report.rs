//! The report of 1.0.20: rates, latency, fairness; and interval lines.

use super::figures::{Rules, Share, Tally, over, spread};
use super::latency;
use super::options::SysbenchOptions;

const MIB: f64 = 1_048_576.0;

pub(super) struct ReportInterval<'a> {
    pub tally: &'a Tally,
    /// Seconds since the start of the run.
    pub total_s: f64,
    /// Seconds that rates are computed over.
    pub clock_s: f64,
    /// Per-thread figures, if known.
    pub shares: Option<&'a [Share]>,
}

/// The text from the empty line before "File operations:" to the one after the fairness.
pub(super) fn report(o: &SysbenchOptions, span: &ReportInterval<'_>) -> String {
    let ReportInterval { tally, total_s, clock_s, .. } = *span;
    let rate = |amount: f64| over(amount, clock_s);
    let events = tally.events(Rules::of(o));
    format!(
        "\nFile operations:\n    reads/s:                      {:4.2}\n    writes/s:                     {:4.2}\n    \
         fsyncs/s:                     {:4.2}\n\nThroughput:\n    read, MiB/s:                  {:4.2}\n    \
         written, MiB/s:               {:4.2}\n\nGeneral statistics:\n    total time:                          {total_s:.4}s\n    \
         total number of events:              {events}\n\nLatency (ms):\n{}\nThreads fairness:\n{}\n",
        rate(tally.reads as f64),
        rate(tally.writes as f64),
        rate(tally.syncs() as f64),
        rate(tally.read_bytes as f64) / MIB,
        rate(tally.written_bytes as f64) / MIB,
        latencies(o, tally),
        fairness(o, span),
    )
}

fn latencies(o: &SysbenchOptions, tally: &Tally) -> String {
    let l = &tally.latency;
    let ms = |ns: f64| ns / 1e6;
    let row = |name: &str, ms: f64| format!("         {name:<31}{ms:>13.2}\n");
    let percentile = if o.percentile == 0 {
        "         percentile stats:               disabled\n".to_owned()
    } else {
        // The number is aligned for two digits; one with three starts further left.
        let title = format!("{:>11}th percentile:", o.percentile);
        format!("{title:<40}{:>13.2}\n", latency::percentile_ms(l, o.percentile))
    };
    row("min:", ms(l.min_ns() as f64))
        + &row("avg:", ms(l.mean_ns().unwrap_or(0.0)))
        + &row("max:", ms(l.max_ns() as f64))
        + &percentile
        + &row("sum:", ms(l.sum_ns() as f64))
}

fn fairness(o: &SysbenchOptions, span: &ReportInterval<'_>) -> String {
    let threads = f64::from(o.threads.max(1));
    let (events, busy) = match span.shares {
        Some(shares) => (spread(shares.iter().map(|s| s.events)), spread(shares.iter().map(|s| s.busy_s))),
        None => {
            let events = span.tally.events(Rules::of(o)) as f64;
            ((events / threads, 0.0), (span.tally.latency.sum_ns() as f64 / 1e9 / threads, 0.0))
        }
    };
    // Intervals combine all threads, so the deviation is known only with a single thread.
    let known = span.shares.is_some() || o.threads == 1;
    let deviation = |value: f64| if known { format!("{value:3.2}") } else { "-".into() };
    format!(
        "    events (avg/stddev):           {:.4}/{}\n    execution time (avg/stddev):   {:.4}/{}\n",
        events.0,
        deviation(events.1),
        busy.0,
        deviation(busy.1)
    )
}

/// `[ 1s ] reads: ...`
pub(super) fn interval(o: &SysbenchOptions, tally: &Tally, at_s: u64, width_s: f64) -> String {
    let rate = |amount: f64| over(amount, width_s);
    format!(
        "[ {at_s}s ] reads: {:4.2} MiB/s writes: {:4.2} MiB/s fsyncs: {:4.2}/s latency (ms,{}%): {:4.3}\n",
        rate(tally.read_bytes as f64) / MIB,
        rate(tally.written_bytes as f64) / MIB,
        rate(tally.syncs() as f64),
        o.percentile,
        if o.percentile > 0 { latency::percentile_ms(&tally.latency, o.percentile) } else { 0.0 },
    )
}

/// A line per thread, with --debug.
pub(super) fn threads(per_thread: &[Tally], rules: Rules) -> String {
    let mut text = String::from("DEBUG: Verbose per-thread statistics:\n\n");
    for (i, tally) in per_thread.iter().enumerate() {
        let l = &tally.latency;
        let s = |ns: f64| ns / 1e9;
        text += &format!(
            "DEBUG:     thread #{i:3}: min: {:.4}s  avg: {:.4}s  max: {:.4}s  events: {}\n\
             DEBUG:                  total time taken by event execution: {:.4}s\n",
            s(l.min_ns() as f64),
            s(l.mean_ns().unwrap_or(0.0)),
            s(l.max_ns() as f64),
            tally.events(rules),
            s(l.sum_ns() as f64),
        );
    }
    text + "\n"
}
