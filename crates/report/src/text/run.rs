//! The long text of a run: by phase and device the summary, the distributions of sizes, distances and times, the rows of
//! iostat, and the findings with their evidence.

use super::{block, iostat, lquantize, quantize};
use crate::{
    block::{interval_device, shown_repetition},
    finding,
    printable::clean,
    section::full_title,
};
use fathom_record::block::{DeviceActivity, RequestStats};
use fathom_record::{BlockLayer, Phase, Repetition, Run};
use std::fmt::Write as _;

/// How to print the rows of iostat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IostatRows {
    /// For a terminal of this many columns.
    For(usize),
    /// Not at all.
    Left,
}

/// All block-layer figures of a run, for a terminal of `width` columns. Only the rows of iostat use more than 80.
#[must_use]
pub fn long(run: &Run, width: usize) -> String {
    let phases: Vec<String> =
        run.phases.iter().map(|p| phase(p, IostatRows::For(width))).filter(|text| !text.is_empty()).collect();
    if !phases.is_empty() {
        return phases.join("\n");
    }
    let id = clean(if run.label.is_empty() { &run.id } else { &run.label });
    let words = format!(
        "No phase of {id} has block-layer events: they were not watched, or the user may not read them."
    );
    let mut text = String::new();
    block::line(&mut text, "", &words);
    text
}

/// The same for one phase; empty if its requests were not watched and there are no findings.
#[must_use]
pub fn phase(phase: &Phase, rows: IostatRows) -> String {
    let found = finding::of_phase(phase);
    let watched = shown_repetition(phase);
    let mut text = String::new();
    if watched.is_none() && found.is_empty() {
        return text;
    }
    let mut title = clean(&full_title(phase));
    if let Some((repetition, _)) = watched.filter(|_| phase.repetitions.len() > 1) {
        let _ =
            write!(title, " (repetition {} of {})", repetition.n.saturating_add(1), phase.repetitions.len());
    }
    block::line(&mut text, "", &title);
    let _ = writeln!(text, "{}", "=".repeat(title.chars().count().min(block::COLUMNS)));
    for found in found {
        block::line(&mut text, "* ", &found.sentence);
        for proof in found.proofs() {
            block::line(&mut text, "    ", &proof);
        }
        if !found.advice.is_empty() {
            block::line(&mut text, "  > ", &found.advice);
        }
    }
    if let Some((repetition, layer)) = watched {
        devices(&mut text, repetition, layer, rows);
    }
    text
}

fn devices(text: &mut String, repetition: &Repetition, layer: &BlockLayer, rows: IostatRows) {
    for note in &layer.notes {
        block::line(text, "- ", &clean(note));
    }
    for device in &layer.devices {
        text.push('\n');
        text.push_str(&block::device(layer, device));
        for stats in &device.requests {
            distributions(text, device, stats);
        }
    }
    if let (IostatRows::For(width), false) = (rows, layer.intervals.is_empty()) {
        let named = layer.intervals.iter().map(|i| (interval_device(layer, &repetition.physical, i), i));
        text.push('\n');
        text.push_str(&iostat::table(named, iostat::Form::fitting(width)));
    }
}

fn distributions(text: &mut String, device: &DeviceActivity, stats: &RequestStats) {
    let what = format!("  {}, {}", clean(&device.name), stats.class.word());
    // A flush has no size: a class that moved nothing has no distribution of sizes.
    let sizes = if stats.issued_bytes > 0 {
        lquantize::sizes(&format!("{what}: size in bytes, classes of 2 KiB"), &stats.sizes)
    } else {
        String::new()
    };
    let seeks = quantize::exponents(
        &format!("{what}: distance from the request before, bytes"),
        &stats.seeks.distances,
    );
    let d2c = quantize::latency(&format!("{what}: time in the device (D2C), ns"), &stats.d2c);
    let q2d = quantize::latency(&format!("{what}: time before the device (Q2D), ns"), &stats.q2d);
    for drawn in [sizes, seeks, d2c, q2d].iter().filter(|d| !d.is_empty()) {
        text.push('\n');
        text.push_str(drawn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn what_was_not_watched_is_said() {
        let text = long(&samples::survey_run(), 80);
        assert!(text.contains("has block-layer events"), "{text}");
    }

    #[test]
    fn eighty_columns_are_enough() {
        let text = long(&samples::observed_run(), 80);
        for line in text.lines() {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
        assert!(long(&samples::observed_run(), 200).contains("rareq-sz"));
    }

    #[test]
    fn names_of_devices_hold_no_control_characters() {
        let mut run = samples::observed_run();
        if let Some(layer) = &mut run.phases[0].repetitions[0].block {
            layer.devices[0].name = "v\u{1b}[31mda".into();
            layer.source = "\u{1b}c".into();
        }
        run.phases[0].name = "\u{1b}]0;x".into();
        assert!(!long(&run, 80).contains('\u{1b}'));
    }
}
