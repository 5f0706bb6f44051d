//! What rank 0 prints below the summary: for each phase how simultaneous the start was, which rank finished first and
//! last, and which were slow.

use super::hosts::Hosts;
use super::merged::WorkTimes;
use fathom_record::ranks::{Summary, summary};
use fathom_report::units;
use std::fmt::Write as _;

/// Stragglers listed per line.
const MOST_NAMED: usize = 4;

pub(super) fn table(hosts: &Hosts, carrier: &str, clock_error_ns: u64, times: &[WorkTimes]) -> String {
    let names: Vec<String> = hosts.hosts().iter().take(8).map(|(host, n)| format!("{host} {n}")).collect();
    let more = if hosts.hosts().len() > 8 { ", ..." } else { "" };
    let mut text = format!(
        "\n{} ({}{more}), {carrier}; clocks known to {}\n",
        crate::console::counted(hosts.0.len() as u64, "rank"),
        names.join(", "),
        units::time_ns(clock_error_ns as f64)
    );
    let width = times.iter().map(|t| t.name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(
        text,
        "{:<width$} {:>10} {:>10} {:>10} {:>13} {:>11}  slow ranks",
        "phase", "start skew", "first done", "last done", "bytes/s", "operations/s"
    );
    for time in times {
        let sum = summary(&time.ranks);
        let _ = writeln!(
            text,
            "{:<width$} {:>10} {:>10} {:>10} {:>13} {:>12}  {}",
            time.name,
            units::time_ns(sum.skew_ns as f64),
            units::time_ns(sum.first_done_ns as f64),
            units::time_ns(sum.last_done_ns as f64),
            sum.bytes_per_s.map_or_else(|| "-".into(), |b| format!("{:.1} MiB", b / 1_048_576.0)),
            sum.ops_per_s.map_or_else(|| "-".into(), |o| format!("{o:.0}")),
            slow(&sum)
        );
        if let Some(worn) = sum.worn_bytes_per_s {
            let _ = writeln!(text, "{:<width$} with wear-out {:.1} MiB/s", "", worn / 1_048_576.0);
        }
        let mut causes: Vec<_> =
            sum.stragglers.iter().filter_map(|r| Some((&r.host, r.cause.as_ref()?))).collect();
        causes.sort_unstable();
        causes.dedup();
        for (host, cause) in causes.iter().take(MOST_NAMED) {
            let _ = writeln!(text, "{:<width$} {host}: {cause}", "");
        }
        if !sum.partial.is_empty() {
            let named: Vec<String> = sum.partial.iter().take(16).map(ToString::to_string).collect();
            let _ = writeln!(text, "{:<width$} not to its end: rank {}", "", named.join(", "));
        }
    }
    text
}

fn slow(sum: &Summary) -> String {
    let named: Vec<String> = sum
        .stragglers
        .iter()
        .take(MOST_NAMED)
        .map(|r| {
            let still = r.stood_still_ns.map(|ns| format!(", stood still for {}", units::time_ns(ns as f64)));
            let done = units::time_ns(r.done_ns as f64);
            format!("{} on {} ({done}{})", r.rank, r.host, still.unwrap_or_default())
        })
        .collect();
    match (named.is_empty(), sum.stragglers.len() > MOST_NAMED) {
        (true, _) => "none".into(),
        (false, false) => named.join(", "),
        (false, true) => format!("{} and {} more", named.join(", "), sum.stragglers.len() - MOST_NAMED),
    }
}
