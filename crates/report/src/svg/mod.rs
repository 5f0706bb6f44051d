//! Static pictures: plain SVG, no script, no font, no external reference. Used in three places: inside the page (where they
//! replace the interactive surface on paper, without WebGL and without scripts), in a README, and on their own. Each picture
//! has a text description for screen readers; colours follow the viewer's light or dark setting.

mod answer;
mod bars;
mod block;
mod block_series;
mod cache;
mod chart;
mod depth_curve;
mod fitted;
mod forest;
mod grid_map;
mod heat_map;
mod inside;
mod kind_series;
mod latency;
mod latency_series;
mod lines;
mod paired;
mod ranks;
mod series;
mod sheet;
mod streams;
mod surface;

pub use answer::answer;
pub use block::{depths, device_latency, seeks, sizes};
pub use block_series::block_series;
pub use cache::cache_course;
pub use depth_curve::depth_curve;
pub use fitted::{fitted, residuals, response_times};
pub use forest::{comparison, forest, forest_caption};
pub(crate) use grid_map::{GridCell, GridMap};
pub use heat_map::heat_map;
pub(crate) use heat_map::shortened;
pub use inside::{idle_words, inside};
pub use kind_series::{kind_series, sync_series};
pub use latency::{latency, operations};
pub use latency_series::{latency_series, p99_ns, sync_latency_series};
pub use paired::paired;
pub use ranks::ranks;
pub(crate) use series::Course;
pub use series::series;
pub(crate) use sheet::sheet;
pub use sheet::stacked;
pub use streams::streams;
pub use surface::surface;
pub(crate) use surface::ticks as surface_ticks;

use crate::{Machine, Mapped, Streams, colour::Scale};
use fathom_record::block::DeviceActivity;
use fathom_record::{BlockLayer, Phase, Repetition, Run};
use std::fmt::Write as _;

/// Colours and fonts of every picture; the page includes it once.
pub const STYLE: &str = include_str!("style.css");

/// A finished picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Used in file names, such as "surface-random-read".
    pub slug: String,
    /// Short title.
    pub title: String,
    /// Alternative text for screen readers.
    pub description: String,
    width: f64,
    height: f64,
    body: String,
}

impl Picture {
    pub(crate) fn new(
        slug: &str,
        title: &str,
        description: String,
        width: f64,
        height: f64,
        body: String,
    ) -> Self {
        Self { slug: slugged(slug), title: title.to_string(), description, width, height, body }
    }

    /// The same, named after a side of a comparison.
    pub(crate) fn of_side(self, side: &str) -> Self {
        Self { slug: slugged(&format!("{side} {}", self.slug)), ..self }
    }

    /// Unscaled width in pixels.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// As a separate file that includes its style.
    #[must_use]
    pub fn standalone(&self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fathom alone\" viewBox=\"0 0 {w:.0} {h:.0}\" width=\"{w:.0}\" \
             height=\"{h:.0}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"paper\" width=\"{w:.0}\" height=\"{h:.0}\"/>\n{}</svg>\n",
            escape(&self.title),
            escape(&self.description),
            self.body,
            w = self.width,
            h = self.height,
        )
    }

    /// As an element inside a page that includes [`STYLE`].
    #[must_use]
    pub fn inline(&self) -> String {
        format!(
            "<svg class=\"fathom\" viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            self.width,
            self.height,
            escape(&format!("{}. {}", self.title, self.description)),
            self.body,
        )
    }
}

/// Every picture of a run: surface and heat map of each test, throughput by streams, latencies, series. Slugs are unique.
#[must_use]
pub fn of_run(run: &Run) -> Vec<Picture> {
    let machine = Machine::of(run);
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let mut pictures = Vec::new();
    for mapped in Mapped::of_run(run) {
        let Some(scale) = Scale::of(&mapped.surface) else { continue };
        pictures.extend(surface(&mapped, &machine, &scale));
        pictures.extend(heat_map(&mapped, &machine, &scale));
    }
    pictures.extend(Streams::of_phases(&phases).iter().filter_map(streams));
    let (_, single) = crate::surface::on_surfaces(&phases);
    pictures.extend(latency(&crate::latency::rows(&single)));
    pictures.extend(crate::Breakdown::of_phases(&phases).iter().filter_map(operations));
    pictures.extend(single.iter().flat_map(|p| over_time(p)));
    pictures.extend(single.iter().flat_map(|p| of_devices(p)));
    pictures.extend(single.iter().filter_map(|p| cache_course(p)));
    pictures.extend(single.iter().flat_map(|p| inside(run, p)));
    pictures.extend(ranks(run));
    number_equal_slugs(&mut pictures);
    pictures
}

/// The course of one phase: throughput, by kind if there are several, fsyncs, p99 of the latency.
#[must_use]
pub fn over_time(phase: &Phase) -> Vec<Picture> {
    let all = [
        series(phase),
        kind_series(phase),
        sync_series(phase),
        latency_series(phase),
        sync_latency_series(phase),
    ];
    all.into_iter().flatten().collect()
}

/// The requests of every device with any in a phase.
#[must_use]
pub fn of_devices(phase: &Phase) -> Vec<Picture> {
    let Some((repetition, layer)) = crate::block::shown_repetition(phase) else { return Vec::new() };
    let active = layer.devices.iter().filter(|d| crate::block::issued(d) > 0);
    active.flat_map(|d| of_device(phase, repetition, layer, d)).collect()
}

/// The requests of one device: sizes, distances, depth, times, and their course.
#[must_use]
pub fn of_device(
    phase: &Phase,
    repetition: &Repetition,
    layer: &BlockLayer,
    device: &DeviceActivity,
) -> Vec<Picture> {
    let still = [
        sizes(phase, device),
        seeks(phase, device),
        depths(phase, device, layer.watched_ns),
        device_latency(phase, device),
    ];
    let course = block_series(phase, &repetition.physical, layer, &crate::printable::clean(&device.name));
    still.into_iter().flatten().chain(course).collect()
}

/// Makes slugs unique: a survey has tests of the same name in several stages, and the second becomes "surface-write-2".
pub(crate) fn number_equal_slugs(pictures: &mut [Picture]) {
    let mut seen = std::collections::HashMap::<String, u32>::new();
    for picture in pictures {
        let times = seen.entry(picture.slug.clone()).or_default();
        *times += 1;
        if *times > 1 {
            picture.slug = format!("{}-{times}", picture.slug);
        }
    }
}

/// Escapes text for use anywhere in XML or HTML, including quoted attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Reduces a title to letters, digits and hyphens.
fn slugged(title: &str) -> String {
    let words: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Alignment of a label to its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A label. Writing to a `String` cannot fail, so results of `write!` are ignored here and below.
pub(crate) fn text(out: &mut String, x: f64, y: f64, anchor: Anchor, class: &str, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{}\" class=\"{class}\">{}</text>",
        anchor.word(),
        escape(words)
    );
}

pub(crate) fn line(out: &mut String, from: (f64, f64), to: (f64, f64), class: &str) {
    let _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"{class}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn polyline(out: &mut String, points: &[(f64, f64)], class: &str) {
    let _ = writeln!(out, "<polyline points=\"{}\" class=\"{class}\"/>", coordinates(points));
}

fn coordinates(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

/// Legend for the lines of a chart, at the left above its plot.
fn legend_of_kinds(out: &mut String, lines: &[(&str, &str)]) {
    let mut x = chart::LEFT;
    for (words, class) in lines {
        polyline(out, &[(x, 34.0), (x + 22.0, 34.0)], class);
        text(out, x + 27.0, 38.0, Anchor::Start, "v", words);
        x += 46.0 + text_width(words, 10.0);
    }
}

/// Approximate width of a text: system fonts average about 0.56 em a character. Only used to leave space.
fn text_width(words: &str, font_size: f64) -> f64 {
    words.chars().count() as f64 * font_size * 0.56
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn every_picture_of_every_run_is_well_formed() {
        for run in samples_of_all_kinds() {
            let slugs: std::collections::HashSet<String> = of_run(&run).into_iter().map(|p| p.slug).collect();
            assert_eq!(slugs.len(), of_run(&run).len());
            for picture in of_run(&run) {
                let svg = picture.standalone();
                assert!(!svg.contains("NaN") && !svg.contains("inf,"), "{}: {svg}", picture.slug);
                assert!(!svg.contains("</script>") && !svg.contains("<b>"), "{}", picture.slug);
                assert!(!picture.description.is_empty());
                balanced(&svg);
            }
        }
    }

    fn samples_of_all_kinds() -> Vec<Run> {
        vec![
            samples::auto_run(),
            samples::throughput_run(),
            samples::survey_run(),
            samples::hostile_run(),
            samples::interrupted_run(),
            samples::repeated_cell(&[5e6]),
            samples::engine_run(),
            samples::filebench_run(),
            samples::sysbench_run(),
            samples::observed_run(),
            samples::simulated_run(),
        ]
    }

    /// Checks that all elements are closed in order.
    fn balanced(svg: &str) {
        let mut open: Vec<&str> = Vec::new();
        for tag in svg.split('<').skip(1).map(|t| &t[..t.find('>').expect("a tag ends")]) {
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().expect("a tag has a name"));
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    proptest::proptest! {
        #[test]
        fn escaped_text_has_nothing_that_could_be_markup(text in ".*") {
            let escaped = escape(&text);
            proptest::prop_assert!(!escaped.contains(['<', '>', '"', '\'', '\n']));
            proptest::prop_assert!(!escaped.chars().any(char::is_control));
        }
    }

    #[test]
    fn a_missing_corner_is_a_gap() {
        let mapped = Mapped::of_run(&samples::auto_run()).remove(0);
        let machine = Machine::default();
        let scale = Scale::of(&mapped.surface).expect("cells");
        let picture = surface(&mapped, &machine, &scale).expect("solid");
        let polygons = picture.body.matches("<polygon").count();
        let full = 14 * 12;
        assert!(polygons < full, "{polygons} polygons of {full}: the hole must stay open");
    }
}
