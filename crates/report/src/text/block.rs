//! Activity of one device in a dozen lines of at most 80 columns: requests, bytes, sizes, merges and sequence by class, time in
//! the device (D2C) and above it (Q2D), depth, issuers, and what limits the figures.

use crate::{
    block::{
        ClassRequests, Depth, all_merges, issuer_share, issuer_words, lost_words, remarks, rounded_bytes,
    },
    printable::clean,
    units,
};
use fathom_record::block::{DeviceActivity, Issuer, IssuerKind, RequestStats};
use fathom_record::{BlockLayer, Histogram};
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum width of a line.
pub const COLUMNS: usize = 80;
/// Maximum number of issuers named before the rest is counted.
const MOST_ISSUERS: usize = 5;

/// "1 event", "11 events": the number of events in a trace.
#[must_use]
pub fn events(n: u64) -> String {
    if n == 1 { "1 event".into() } else { format!("{n} events") }
}

/// The summary of a device. `layer` has the watched time and the number of lost events.
#[must_use]
pub fn device(layer: &BlockLayer, device: &DeviceActivity) -> String {
    let mut text = String::new();
    let units = if device.bio_based { "bios (it has no requests)" } else { "requests" };
    let title = format!(
        "{} ({}): {units} over {}, seen by {}",
        clean(&device.name),
        device.number,
        units::time_ns(layer.watched_ns as f64),
        clean(&layer.source)
    );
    line(&mut text, "", &title);
    if let Some(lost) = lost_words(layer) {
        line(&mut text, "! ", &lost);
    }
    if device.requests.is_empty() {
        line(&mut text, " ", "nothing reached it");
    } else {
        counts(&mut text, device);
        if let Some(merges) = all_merges(device) {
            line(&mut text, " merges     ", &merges);
        }
        times(&mut text, device);
    }
    if only_arrivals(layer, device) {
        line(&mut text, " depth      ", "unknown: the trace has arrivals only, so neither depth nor latency");
        issuers(&mut text, layer, device);
        return text;
    }
    depths(&mut text, layer, device);
    issuers(&mut text, layer, device);
    for remark in remarks(device) {
        line(&mut text, " - ", &remark);
    }
    text
}

/// Whether a trace has only arrivals for a device and no completions; its summary then has no depth.
fn only_arrivals(layer: &BlockLayer, device: &DeviceActivity) -> bool {
    layer.source == "trace"
        && device.in_device.is_empty()
        && device.requests.iter().any(|r| r.issued > 0)
        && device.requests.iter().all(|r| r.completed == 0)
}

fn counts(text: &mut String, device: &DeviceActivity) {
    let heads = ["requests", "bytes", "mean size", "merged", "sequential", "ahead", "sync"];
    let _ = writeln!(text, "{}", row("", heads));
    for stats in &device.requests {
        let r = ClassRequests::of(stats);
        let percent = |share: Option<f64>| share.map_or("-".to_string(), units::percent);
        let cells = [
            units::count(stats.issued),
            rounded_bytes(stats.issued_bytes as f64),
            r.mean_bytes.map_or("-".into(), rounded_bytes),
            percent(r.merged),
            percent(r.sequential),
            percent(r.ahead),
            percent((stats.issued > 0).then(|| stats.sync as f64 / stats.issued as f64)),
        ];
        let _ = writeln!(text, "{}", row(stats.class.word(), cells.each_ref().map(String::as_str)));
    }
}

fn times(text: &mut String, device: &DeviceActivity) {
    let rows: Vec<(String, &Histogram)> = device.requests.iter().flat_map(latencies).collect();
    if rows.is_empty() {
        return;
    }
    let heads = ["counted", "mean", "p50", "p90", "p99", "p99.9", "max"];
    let _ = writeln!(text, "{}", row("", heads));
    for (name, latency) in rows {
        let time = |ns: Option<f64>| ns.map_or("-".to_string(), units::time_ns);
        let at = |p| time(latency.percentile_ns(p).map(|ns| ns as f64));
        let cells = [
            units::count(latency.count()),
            time(latency.mean_ns()),
            at(50.0),
            at(90.0),
            at(99.0),
            at(99.9),
            time(Some(latency.max_ns() as f64)),
        ];
        let _ = writeln!(text, "{}", row(&name, cells.each_ref().map(String::as_str)));
    }
}

/// The time in the device and above it, as far as they were watched.
fn latencies(stats: &RequestStats) -> Vec<(String, &Histogram)> {
    [("D2C", &stats.d2c), ("Q2D", &stats.q2d)]
        .into_iter()
        .filter(|(_, h)| h.count() > 0)
        .map(|(what, h)| (format!("{} {what}", stats.class.word()), h))
        .collect()
}

/// A row: the name left-aligned, seven figures right-aligned.
fn row(name: &str, cells: [&str; 7]) -> String {
    let mut line = format!(" {name:<11}");
    for (cell, width) in cells.into_iter().zip([11, 10, 10, 8, 11, 8, 9]) {
        let _ = write!(line, "{cell:>width$}");
    }
    line.trim_end().to_string()
}

fn depths(text: &mut String, layer: &BlockLayer, device: &DeviceActivity) {
    let mut words = Vec::new();
    if let Some(depth) = Depth::of(&device.in_device, layer.watched_ns) {
        words.push(format!("in the device {}", depth.words()));
    }
    if let Some(depth) = Depth::of(&device.in_queue, layer.watched_ns) {
        words.push(format!("above it {}", depth.words()));
    }
    if layer.watched_ns > 0 {
        let busy = device.busy_ns as f64 / layer.watched_ns as f64;
        words.push(format!("busy {}", units::percent(busy)));
    }
    if let Some((unplugs, requests)) = device.unplugs.filter(|(unplugs, _)| *unplugs > 0) {
        let mean = requests as f64 / unplugs as f64;
        words.push(format!("{} unplugs of {mean:.1} requests", units::count(unplugs)));
    }
    if !words.is_empty() {
        line(text, " depth      ", &words.join("; "));
    }
}

fn issuers(text: &mut String, layer: &BlockLayer, device: &DeviceActivity) {
    // A trace does not belong to a run, so none of its programs is "other".
    let named = |i: &Issuer| layer.source == "trace" && i.kind == IssuerKind::Other && !i.name.is_empty();
    let who = |i: &Issuer| if named(i) { clean(&i.name) } else { issuer_words(i) };
    let mut words: Vec<String> = device
        .issuers
        .iter()
        .take(MOST_ISSUERS)
        .map(|i| format!("{}: {}", who(i), issuer_share(i)))
        .collect();
    if device.issuers.len() > MOST_ISSUERS {
        words.push(format!("{} more", device.issuers.len() - MOST_ISSUERS));
    }
    if !words.is_empty() {
        line(text, " issued by  ", &words.join("; "));
    }
}

/// A paragraph prefixed with `first`, with further lines indented to match; broken at spaces, or within a word if necessary.
pub(super) fn line(text: &mut String, first: &str, words: &str) {
    let room = COLUMNS - first.width();
    let mut current = String::new();
    let mut lead = first.to_string();
    let mut put = |text: &mut String, current: &mut String| {
        let _ = writeln!(text, "{lead}{}", current.trim_end());
        lead = " ".repeat(first.width());
        current.clear();
    };
    for word in words.split_inclusive(' ') {
        if !current.is_empty() && current.width() + word.trim_end().width() > room {
            put(text, &mut current);
        }
        for letter in word.chars() {
            if current.width() + letter.width().unwrap_or(0) > room && letter != ' ' {
                put(text, &mut current);
            }
            current.push(letter);
        }
    }
    put(text, &mut current);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn no_line_is_wider_than_it_says() {
        let layer = samples::block_layer();
        for d in &layer.devices {
            for line in device(&layer, d).lines() {
                assert!(line.width() <= COLUMNS, "{line}");
            }
        }
        let long = DeviceActivity { name: "ü".repeat(300), ..DeviceActivity::default() };
        assert!(device(&layer, &long).lines().all(|l| l.width() <= COLUMNS));
    }

    #[test]
    fn lost_events_stand_above_all_figures() {
        let layer = BlockLayer { lost: 5, ..samples::block_layer() };
        let text = device(&layer, &layer.devices[0]);
        assert!(text.lines().nth(1).is_some_and(|l| l.starts_with("! 5 of ")), "{text}");
        assert!(!device(&samples::block_layer(), &layer.devices[0]).contains('!'));
    }

    #[test]
    fn programs_are_others_only_where_a_run_is_known() {
        let issuer = Issuer { kind: IssuerKind::Other, name: "dd".into(), reads: 1, ..Issuer::default() };
        let disk = DeviceActivity { issuers: vec![issuer], ..DeviceActivity::default() };
        let of = |source: &str| device(&BlockLayer { source: source.into(), ..BlockLayer::default() }, &disk);
        assert!(of("tracefs").contains("issued by  other dd: 1 request"), "{}", of("tracefs"));
        assert!(of("trace").contains("issued by  dd: 1 request"), "{}", of("trace"));
    }

    #[test]
    fn arrivals_have_no_depth_and_nothing_unfinished() {
        let stats = RequestStats { issued: 5, issued_bytes: 20_480, ..RequestStats::default() };
        let disk = DeviceActivity { requests: vec![stats], unfinished: 5, ..DeviceActivity::default() };
        let of = |source: &str| {
            device(&BlockLayer { source: source.into(), watched_ns: 9, ..BlockLayer::default() }, &disk)
        };
        let text = of("trace");
        assert!(
            text.contains("arrivals only") && !text.contains("busy") && !text.contains("not complete"),
            "{text}"
        );
        assert!(of("tracefs").contains("busy"), "{}", of("tracefs"));
    }

    #[test]
    fn one_event_is_one() {
        assert_eq!((events(1), events(11)), ("1 event".into(), "11 events".into()));
    }

    #[test]
    fn merges_stand_below_the_counts() {
        let stats = RequestStats {
            issued: 1,
            bios: Some(4),
            back_merges: Some(2),
            front_merges: Some(1),
            ..RequestStats::default()
        };
        let disk = DeviceActivity { requests: vec![stats], ..DeviceActivity::default() };
        let text = device(&BlockLayer::default(), &disk);
        assert!(text.contains(" merges     read: 2 back, 1 front\n"), "{text}");
    }

    #[test]
    fn a_device_nothing_reached_says_so() {
        let text = device(
            &samples::block_layer(),
            &DeviceActivity { name: "sda".into(), ..DeviceActivity::default() },
        );
        assert!(text.contains("nothing reached it"), "{text}");
    }
}
