//! The requests of one device as pictures: their sizes, distances and depth, and their duration beside our own calls. Sizes and
//! distances are in powers of two; the text form has classes of 2 KiB.

use super::{
    Anchor, Picture,
    bars::Bars,
    chart::{Frame, TOP, WIDTH},
    legend_of_kinds, line, polyline, text,
};
use crate::{block::Depth, units};
use fathom_record::block::{DepthTime, DeviceActivity, RequestClass, RequestStats};
use fathom_record::{Histogram, Phase};

/// Depths up to this are shown one by one; above, in powers of two.
const SINGLE_DEPTHS: u32 = 16;

/// CSS class of the fill for a class of requests.
fn fill(class: RequestClass) -> &'static str {
    match class {
        RequestClass::Read => "fa",
        RequestClass::Write => "fb",
        RequestClass::Discard => "r-cpu",
        RequestClass::Flush | RequestClass::Other => "r-unknown",
    }
}

/// Exponent of the power of two at or below a number; 0 for 0 and 1.
fn power(n: u64) -> u32 {
    n.max(1).ilog2()
}

/// Label of a power of two in bytes: "4K", "1M".
fn power_label(exponent: u32) -> String {
    1u64.checked_shl(exponent).map_or_else(|| format!("2^{exponent}"), units::bytes_short)
}

/// Sizes at issue, one bar per class of requests that moved data.
#[must_use]
pub fn sizes(phase: &Phase, device: &DeviceActivity) -> Option<Picture> {
    let moved: Vec<&RequestStats> =
        device.requests.iter().filter(|r| r.issued_bytes > 0 && !r.sizes.is_empty()).collect();
    let counted = |r: &RequestStats, exponent: u32| {
        let mine = r.sizes.iter().filter(|s| power(s.bytes) == exponent);
        mine.map(|s| s.count as f64).sum::<f64>()
    };
    let exponents = || moved.iter().flat_map(|r| &r.sizes).map(|s| power(s.bytes));
    let classes: Vec<(String, Vec<f64>)> = (exponents().min()?..=exponents().max()?)
        .map(|e| (power_label(e), moved.iter().map(|r| counted(r, e)).collect()))
        .collect();
    let mean = |r: &&RequestStats| {
        let mean = crate::block::ClassRequests::of(r).mean_bytes.unwrap_or(0.0);
        format!("{} {}s of {} on average", units::count(r.issued), r.class.word(), units::bytes(mean as u64))
    };
    Bars {
        slug: format!("sizes {} {} {}", phase.seq, device.name, phase.name),
        title: format!("Request sizes on {}, from that size up to twice it", device.name),
        words: moved.iter().map(mean).collect::<Vec<_>>().join(", ") + ".",
        series: moved.iter().map(|r| (r.class.word().to_string(), fill(r.class))).collect(),
        classes,
        frame: Frame::of_numbers,
        value: |v| format!("{} requests", units::count(v as u64)),
    }
    .draw()
}

/// Distance of each request from the end of the previous one, sequential ones first.
#[must_use]
pub fn seeks(phase: &Phase, device: &DeviceActivity) -> Option<Picture> {
    let placed = |r: &&RequestStats| r.seeks.sequential > 0 || !r.seeks.distances.is_empty();
    let moved: Vec<&RequestStats> = device.requests.iter().filter(placed).collect();
    let exponents = || moved.iter().flat_map(|r| &r.seeks.distances).map(|d| d.0.min(64));
    let at = |r: &RequestStats, exponent: u32| {
        let mine = r.seeks.distances.iter().filter(|d| d.0.min(64) == exponent);
        mine.map(|d| d.1 as f64).sum::<f64>()
    };
    let mut classes =
        vec![("next".to_string(), moved.iter().map(|r| r.seeks.sequential as f64).collect::<Vec<_>>())];
    if let (Some(first), Some(last)) = (exponents().min(), exponents().max()) {
        classes.extend((first..=last).map(|e| (power_label(e), moved.iter().map(|r| at(r, e)).collect())));
    }
    let share = |r: &&RequestStats| {
        let sequential = crate::block::ClassRequests::of(r).sequential.map_or("-".into(), units::percent);
        format!("{} of {}s in sequence", sequential, r.class.word())
    };
    Bars {
        slug: format!("seeks {} {} {}", phase.seq, device.name, phase.name),
        title: format!("Distance from the request before on {}, bytes", device.name),
        words: moved.iter().map(share).collect::<Vec<_>>().join(", ") + ".",
        series: moved.iter().map(|r| (r.class.word().to_string(), fill(r.class))).collect(),
        classes,
        frame: Frame::of_numbers,
        value: |v| format!("{} requests", units::count(v as u64)),
    }
    .draw()
}

/// Share of the time at each depth, in the device and, if watched, above it.
#[must_use]
pub fn depths(phase: &Phase, device: &DeviceActivity, watched_ns: u64) -> Option<Picture> {
    let places = [("in the device", "fa", &device.in_device), ("above it", "fb", &device.in_queue)];
    let seen: Vec<_> = places
        .into_iter()
        .filter_map(|(name, class, times)| Some((name, class, times, Depth::of(times, watched_ns)?)))
        .collect();
    let most = seen.iter().map(|s| s.3.max).max()?;
    let share = |times: &[DepthTime], low: u32, high: u32| {
        let listed_ns: f64 = times.iter().map(|t| t.ns as f64).sum();
        let whole = listed_ns.max(watched_ns as f64);
        let mut mine: f64 =
            times.iter().filter(|t| (low..=high).contains(&t.depth)).map(|t| t.ns as f64).sum();
        if low == 0 {
            // Unlisted idle time is the remainder.
            mine += whole - listed_ns;
        }
        mine / whole
    };
    let classes = depth_classes(most)
        .into_iter()
        .map(|(low, high)| {
            let label = if low == high { low.to_string() } else { format!("{low}-{high}") };
            (label, seen.iter().map(|s| share(s.2, low, high)).collect())
        })
        .collect();
    Bars {
        slug: format!("depths {} {} {}", phase.seq, device.name, phase.name),
        title: format!("Queue depth of {}, share of the time", device.name),
        words: seen.iter().map(|s| format!("{}: {}", s.0, s.3.words())).collect::<Vec<_>>().join("; ") + ".",
        series: seen.iter().map(|s| (s.0.to_string(), s.1)).collect(),
        classes,
        frame: Frame::of_shares,
        value: units::percent,
    }
    .draw()
}

/// From 0 to the deepest: one by one, or if there are many, 0, 1, 2-3, 4-7 and so on.
fn depth_classes(most: u32) -> Vec<(u32, u32)> {
    if most <= SINGLE_DEPTHS {
        return (0..=most).map(|d| (d, d)).collect();
    }
    let powers = (0..=most.ilog2()).map(|e| (1 << e, u32::MAX >> (31 - e)));
    std::iter::once((0, 0)).chain(powers).collect()
}

/// Cumulative distributions of the time in the device, above it, and of our own calls, on a logarithmic time axis.
#[must_use]
pub fn device_latency(phase: &Phase, device: &DeviceActivity) -> Option<Picture> {
    let all = |pick: fn(&RequestStats) -> &Histogram| {
        let mut sum = Histogram::default();
        for stats in device.requests.iter().filter(|r| r.issued_bytes > 0) {
            sum.merge(pick(stats));
        }
        sum
    };
    let courses = [
        ("in the device (D2C)", "a", all(|r| &r.d2c)),
        ("above it (Q2D)", "b", all(|r| &r.q2d)),
        ("our calls", "d", phase.latency()),
    ];
    let shown: Vec<_> = courses.iter().filter(|c| c.2.count() > 0).collect();
    // Calls alone are drawn elsewhere.
    shown.iter().find(|c| c.1 != "d")?;
    let first = shown.iter().map(|c| c.2.min_ns().max(1).ilog10()).min()?;
    let last = shown.iter().map(|c| c.2.max_ns().max(1).ilog10() + 1).max()?.max(first + 1);
    let mut body = String::new();
    let title = format!("Time of requests on {} and of our calls", device.name);
    let frame = Frame::of_shares(&mut body, &title, 1.0, 130.0);
    let x = |ns: f64| Frame::x((ns.max(1.0).log10() - f64::from(first)) / f64::from(last - first));
    for power in first..=last {
        let place = Frame::x(f64::from(power - first) / f64::from(last - first));
        line(&mut body, (place, TOP), (place, frame.bottom()), "");
        let label = tick(power);
        let anchor = if power == last { Anchor::End } else { Anchor::Middle };
        text(&mut body, place, frame.bottom() + 15.0, anchor, "v", &label);
    }
    for (_, class, times) in &shown {
        polyline(&mut body, &cumulative(times, &frame, x), class);
    }
    legend_of_kinds(&mut body, &shown.iter().map(|c| (c.0, c.1)).collect::<Vec<_>>());
    let words: Vec<String> = shown
        .iter()
        .map(|(name, _, times)| {
            let at = |p| units::time_ns(times.percentile_ns(p).unwrap_or(0) as f64);
            format!(
                "{name}: p50 {}, p99 {}, max {}",
                at(50.0),
                at(99.0),
                units::time_ns(times.max_ns() as f64)
            )
        })
        .collect();
    let slug = format!("device latency {} {} {}", phase.seq, device.name, phase.name);
    Some(Picture::new(&slug, &title, words.join("; ") + ".", WIDTH, frame.bottom() + 24.0, body))
}

/// "10 us" for a power of ten of nanoseconds.
pub(super) fn tick(power: u32) -> String {
    let words = units::time_ns(10f64.powi(power as i32));
    words.replace(".00", "").replace(".0", "")
}

/// The cumulative share at the upper edge of each bucket.
pub(super) fn cumulative(times: &Histogram, frame: &Frame, x: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let (min, max) = (times.min_ns() as f64, times.max_ns() as f64);
    let mut points = vec![(x(min), frame.y(0.0))];
    let mut running = 0.0;
    for (low, width, count) in times.buckets() {
        running += count as f64;
        let edge = (low as f64 + width as f64).clamp(min, max.max(min));
        points.push((x(edge), frame.y((running / times.count() as f64).min(1.0))));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn each_picture_says_its_figures() {
        let run = samples::observed_run();
        let (_, layer) = crate::block::shown_repetition(&run.phases[1]).expect("watched");
        let disk = &layer.devices[1];
        let words = |p: Option<Picture>| p.expect("drawn").description;
        assert_eq!(words(sizes(&run.phases[1], disk)), "1412 writes of 466 KiB on average.");
        assert_eq!(words(seeks(&run.phases[1], disk)), "85 % of writes in sequence.");
        assert!(words(depths(&run.phases[1], disk, layer.watched_ns)).contains("above it: mean 2.3"));
        assert!(words(device_latency(&run.phases[1], disk)).contains("our calls: p50"));
        let nothing = DeviceActivity::default();
        assert_eq!(sizes(&run.phases[1], &nothing), None);
        assert_eq!(seeks(&run.phases[1], &nothing), None);
        assert_eq!(depths(&run.phases[1], &nothing, 5), None);
        assert_eq!(device_latency(&run.phases[1], &nothing), None, "calls alone are drawn elsewhere");
    }

    #[test]
    fn many_depths_are_taken_together() {
        assert_eq!(depth_classes(2), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(depth_classes(17), [(0, 0), (1, 1), (2, 3), (4, 7), (8, 15), (16, 31)]);
        assert_eq!(depth_classes(u32::MAX).last(), Some(&(1 << 31, u32::MAX)));
    }
}
