//! Queue and device of a simulated phase over virtual time: the number of requests in the device and above it, and the share of
//! the time that the device was busy, or kept idle on purpose.

use super::super::{
    Anchor, Picture,
    chart::{Frame, LEFT, WIDTH},
    lines, text, text_width,
};
use crate::{block::depth_words, units};
use fathom_record::Phase;
use fathom_record::course::{DepthCourse, DepthInterval, PhaseCourse};
use std::fmt::Write as _;

const FEWEST_INTERVALS: usize = 3;

/// (start, length, interval), in ns; the last one may be shorter than the others.
fn intervals(course: &DepthCourse) -> impl Iterator<Item = (f64, f64, &DepthInterval)> {
    course.intervals.iter().enumerate().filter_map(|(n, interval)| {
        let begin = course.interval_ns.saturating_mul(n as u64);
        let ns = course.interval_ns.min(course.end_ns.saturating_sub(begin));
        (ns > 0).then_some((begin as f64, ns as f64, interval))
    })
}

/// Number of requests in the device, and waiting above it.
pub(super) fn depths(phase: &Phase, inside: &PhaseCourse) -> Option<Picture> {
    if inside.depths.intervals.len() < FEWEST_INTERVALS {
        return None;
    }
    let line = |label: &str, class, of: fn(&DepthInterval) -> u64| {
        let mut points = Vec::new();
        for (begin, ns, interval) in intervals(&inside.depths) {
            let depth = of(interval) as f64 / ns;
            if points.is_empty() {
                points.push((0.0, depth));
            }
            points.push((begin + ns, depth));
        }
        lines::ChartLine { label: label.into(), class, points }
    };
    let both =
        [line("in the device", "a", |i| i.in_device_ns), line("waiting above it", "b", |i| i.waiting_ns)];
    lines::draw(
        &format!("queue depth {} {}", phase.seq, phase.name),
        "Queue depth over virtual time, requests, simulated",
        &both,
        1,
        Frame::of_numbers,
        depth_words,
    )
}

/// Share of the time with a command in the device, and with the device kept idle by the scheduler.
pub(super) fn busy(phase: &Phase, inside: &PhaseCourse) -> Option<Picture> {
    let course = &inside.depths;
    let sum = |of: fn(&DepthInterval) -> u64| course.intervals.iter().map(|i| of(i) as f64).sum::<f64>();
    let (busy_ns, held_ns, end_ns) = (sum(|i| i.busy_ns), sum(|i| i.held_ns), course.end_ns as f64);
    if course.intervals.len() < FEWEST_INTERVALS || busy_ns <= 0.0 {
        return None;
    }
    let title = "Device busy over virtual time, share of it, simulated";
    let mut body = String::new();
    let frame = Frame::of_shares(&mut body, title, 1.0, 110.0);
    let (mut busy, mut held) = (String::new(), String::new());
    for (begin, ns, interval) in intervals(course) {
        let (left, right) = (Frame::x(begin / end_ns), Frame::x((begin + ns) / end_ns));
        let lower = frame.y((interval.busy_ns as f64 / ns).min(1.0));
        let upper = frame.y(((interval.busy_ns + interval.held_ns) as f64 / ns).min(1.0));
        area(&mut busy, (left, right), (frame.bottom(), lower));
        area(&mut held, (left, right), (lower, upper));
    }
    let mut across = LEFT;
    for (name, class, path, shown) in
        [("with a command", "fa", busy, true), ("kept idle by the scheduler", "fb", held, held_ns > 0.0)]
    {
        if !shown {
            continue;
        }
        let _ = writeln!(body, "<path d=\"{path}\" class=\"{class}\"/>");
        let _ = writeln!(
            body,
            "<rect x=\"{across:.1}\" y=\"29.0\" width=\"10\" height=\"10\" class=\"{class}\"/>"
        );
        text(&mut body, across + 15.0, 38.0, Anchor::Start, "v", name);
        across += 34.0 + text_width(name, 10.0);
    }
    frame.times_below(&mut body, end_ns);
    let kept = match held_ns {
        0.0 => String::new(),
        ns => format!(
            ", kept idle by the scheduler although requests waited for {}",
            units::percent(ns / end_ns)
        ),
    };
    let words = format!(
        "The device had a command for {} of {}{kept}; shares of {} each.",
        units::percent(busy_ns / end_ns),
        units::time_ns(end_ns),
        units::time_ns(course.interval_ns as f64),
    );
    let slug = format!("busy {} {}", phase.seq, phase.name);
    Some(Picture::new(&slug, title, words, WIDTH, frame.bottom() + 24.0, body))
}

/// An area of the plot between two heights; nothing if it is empty.
fn area(path: &mut String, (left, right): (f64, f64), (lower, upper): (f64, f64)) {
    if lower - upper >= 0.05 {
        let _ = write!(path, "M{left:.1} {lower:.1}H{right:.1}V{upper:.1}H{left:.1}z");
    }
}
