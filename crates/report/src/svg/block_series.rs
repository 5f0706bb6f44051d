//! A device's activity over the time of one phase, from the block layer's intervals: data rate, queue depth and time per
//! request, each in a separate picture.

use super::{
    Picture,
    chart::Frame,
    lines::{CLASSES, ChartLine, draw},
    series::FEWEST_INTERVALS,
};
use crate::{
    block::{depth_words, interval_device},
    text::iostat::IostatRow,
    units,
};
use fathom_record::{BlockLayer, Phase, Physical};

/// A figure of a row in ns, bytes/s or requests.
type IntervalFigure = fn(&IostatRow) -> f64;
/// A picture: slug, title, its lines, its frame and its description.
type PictureSpec = (
    &'static str,
    &'static str,
    &'static [(&'static str, IntervalFigure)],
    fn(&mut String, &str, f64, f64) -> Frame,
    fn(f64) -> String,
);

const KINDS: [PictureSpec; 3] = [
    (
        "rate",
        "Data over time",
        &[("read", |r| r.read.kb_per_s * 1024.0), ("write", |r| r.write.kb_per_s * 1024.0)],
        Frame::draw,
        units::rate,
    ),
    ("depth", "Queue depth over time", &[("depth", |r| r.depth)], Frame::of_numbers, depth_words),
    (
        "await",
        "Time per request over time",
        &[("read", |r| r.read.await_ms * 1e6), ("write", |r| r.write.await_ms * 1e6)],
        Frame::of_times,
        units::time_ns,
    ),
];

/// Draws the intervals of one device; empty if there are too few.
#[must_use]
pub fn block_series(phase: &Phase, physical: &Physical, layer: &BlockLayer, device: &str) -> Vec<Picture> {
    let mine: Vec<IostatRow> = layer
        .intervals
        .iter()
        .filter(|i| interval_device(layer, physical, i) == device)
        .map(IostatRow::of)
        .collect();
    if mine.len() < FEWEST_INTERVALS {
        return Vec::new();
    }
    KINDS.iter().filter_map(|kind| one(phase, device, &mine, kind)).collect()
}

fn one(phase: &Phase, device: &str, rows: &[IostatRow], kind: &PictureSpec) -> Option<Picture> {
    let (slug, title, figures, frame, words) = *kind;
    let lines: Vec<ChartLine> = figures
        .iter()
        .zip(CLASSES)
        .map(|((label, figure), class)| ChartLine {
            label: (*label).to_string(),
            class,
            points: rows.iter().map(|r| (r.end_s * 1e9, figure(r))).collect(),
        })
        .filter(|l| l.points.iter().any(|p| p.1 > 0.0))
        .collect();
    let title = format!("{title} on {device}");
    draw(&format!("block {slug} {} {device} {}", phase.seq, phase.name), &title, &lines, 1, frame, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn rate_depth_and_time_of_one_device() {
        let run = samples::observed_run();
        let (repetition, layer) = crate::block::shown_repetition(&run.phases[1]).expect("watched");
        let pictures = block_series(&run.phases[1], &repetition.physical, layer, "vda");
        let slugs: Vec<&str> = pictures.iter().map(|p| p.slug.as_str()).collect();
        assert_eq!(slugs, ["block-rate-1-vda-write", "block-depth-1-vda-write", "block-await-1-vda-write"]);
        assert!(
            pictures[0].description.starts_with("write between 0.00 B/s and "),
            "{}",
            pictures[0].description
        );
        assert!(block_series(&run.phases[1], &repetition.physical, layer, "sda").is_empty());
    }
}
