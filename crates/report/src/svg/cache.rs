//! Data waiting in memory over the time of a phase: dirty data and data under write-back of the device (or of our control
//! group, if only that can be read), and of the whole machine.

use super::{
    Picture,
    chart::Frame,
    lines::{CLASSES, ChartLine, draw},
    series::FEWEST_INTERVALS,
};
use crate::{block::rounded_bytes, printable::clean};
use fathom_record::{CacheSample, Phase};

/// A figure of a sample, bytes.
type SampleFigure = fn(&CacheSample) -> Option<u64>;

/// Maximum length of a name in the legend, which holds it three times.
const LONGEST: usize = 16;

/// Draws the last repetition that was sampled; `None` without enough samples, or if nothing ever waited.
#[must_use]
pub fn cache_course(phase: &Phase) -> Option<Picture> {
    let courses = phase.repetitions.iter().rev().filter_map(|r| r.course.as_ref());
    let course = courses.into_iter().find(|c| c.samples.len() >= FEWEST_INTERVALS)?;
    // The path of a control group can have any length; the legend only has space for its kind.
    let own = clean(&course.own);
    let own = if own.chars().count() > LONGEST {
        own.split(' ').next().unwrap_or_default().to_string()
    } else {
        own
    };
    let figures: [(String, SampleFigure); 3] = [
        (format!("dirty, {own}"), |s| s.own_dirty_bytes),
        (format!("being written, {own}"), |s| s.own_writeback_bytes),
        ("both, whole machine".into(), |s| Some(s.dirty_bytes.saturating_add(s.writeback_bytes))),
    ];
    let lines: Vec<ChartLine> = figures
        .into_iter()
        .zip(CLASSES)
        .map(|((label, figure), class)| ChartLine {
            label,
            class,
            points: course.samples.iter().filter_map(|s| Some((s.at_ns as f64, figure(s)? as f64))).collect(),
        })
        .filter(|l| l.points.len() >= FEWEST_INTERVALS)
        .collect();
    let slug = format!("cache {} {}", phase.seq, phase.name);
    draw(&slug, "Data that waited in memory to be written", &lines, 1, Frame::of_bytes, rounded_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn dirty_data_of_the_device_and_of_the_machine() {
        let run = samples::observed_run();
        let picture = cache_course(&run.phases[1]).expect("drawn");
        assert!(
            picture.description.starts_with("dirty, bdi 253:0 between 0 B and 180 MiB, being written"),
            "{}",
            picture.description
        );
        assert_eq!(
            picture.standalone().matches("<polyline").count(),
            6,
            "three lines, and three in the legend"
        );
        assert_eq!(cache_course(&run.phases[0]), None, "nothing was written");
    }

    #[test]
    fn a_long_name_of_a_control_group_does_not_push_the_legend_out() {
        let mut run = samples::observed_run();
        for course in run.phases[1].repetitions.iter_mut().filter_map(|r| r.course.as_mut()) {
            course.own = "cgroup /a/very/long/path/8b51f500f844935feca15dd5e26cdf5f".into();
        }
        let picture = cache_course(&run.phases[1]).expect("drawn").standalone();
        assert!(picture.contains(">being written, cgroup<") && !picture.contains("8b51f500"), "{picture}");
    }
}
