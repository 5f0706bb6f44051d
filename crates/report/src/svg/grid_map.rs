//! A heat map with words along its edges: values of two settings, and a coloured cell for each combination. The caller chooses
//! the colours; the legend explains the ends of the scale.

use super::{Anchor, Picture, escape, text, text_width};
use crate::colour;
use std::fmt::Write as _;

/// Minimum width, that of the other pictures.
const WIDTH: f64 = 520.0;
const TOP: f64 = 46.0;
const ROW: f64 = 24.0;
const NARROWEST_CELL: f64 = 46.0;
const WIDEST_CELL: f64 = 96.0;
/// Longer labels are cut; tooltips have the full text.
const LONGEST_LABEL: usize = 56;
const LABEL: f64 = 10.0;
/// Slant of labels wider than their column: 40 degrees.
const SLANT: (f64, f64) = (0.766, 0.643);

pub(crate) struct GridCell {
    /// Position on the scale, 0..=1.
    pub(crate) position: f64,
    /// Text in the cell.
    pub(crate) words: String,
    /// Tooltip.
    pub(crate) tooltip: String,
    /// Whether it is outlined.
    pub(crate) marked: bool,
}

/// A map before drawing.
pub(crate) struct GridMap<'m> {
    /// Used in file names.
    pub(crate) slug: String,
    /// Text above the map.
    pub(crate) title: String,
    /// Alternative text for screen readers.
    pub(crate) words: String,
    /// Names of the left and the upper edge.
    pub(crate) names: (&'m str, &'m str),
    /// Values along the left edge.
    pub(crate) rows: &'m [String],
    /// Values along the upper edge.
    pub(crate) columns: &'m [String],
    /// Row by row; `None` if there is no figure.
    pub(crate) cells: Vec<Vec<Option<GridCell>>>,
    /// Labels of the scale's ends.
    pub(crate) ends: (String, String),
    /// Text beside the scale.
    pub(crate) note: String,
    /// Whether the colours diverge from the middle.
    pub(crate) diverging: bool,
}

struct Places {
    left: f64,
    top: f64,
    cell: f64,
    slanted: bool,
    width: f64,
}

impl GridMap<'_> {
    pub(crate) fn draw(&self) -> Picture {
        let places = self.places();
        let mut body = String::new();
        let letters = ((places.width - 16.0) / (13.0 * 0.56)) as usize;
        text(&mut body, 8.0, 18.0, Anchor::Start, "t", &super::shortened(&self.title, letters));
        text(&mut body, places.left, 36.0, Anchor::Start, "s", &format!("{} →", self.names.1));
        text(&mut body, 8.0, places.top - 6.0, Anchor::Start, "s", &format!("{} ↓", self.names.0));
        for (n, label) in self.columns.iter().enumerate() {
            let x = places.left + (n as f64 + 0.5) * places.cell;
            let label = super::shortened(label, LONGEST_LABEL);
            if places.slanted {
                let y = places.top - 6.0;
                let _ = writeln!(
                    body,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-40 {x:.1} {y:.1})\" class=\"v\">{}</text>",
                    escape(&label)
                );
            } else {
                text(&mut body, x, places.top - 6.0, Anchor::Middle, "v", &label);
            }
        }
        body.push_str("<g class=\"c\">\n");
        for (n, (label, cells)) in self.rows.iter().zip(&self.cells).enumerate() {
            let y = places.top + n as f64 * ROW;
            let label = super::shortened(label, LONGEST_LABEL);
            text(&mut body, places.left - 6.0, y + ROW / 2.0 + 3.6, Anchor::End, "e", &label);
            for (m, cell) in cells.iter().enumerate() {
                let at = (places.left + m as f64 * places.cell, y);
                match cell {
                    Some(cell) => draw_cell(&mut body, at, places.cell, cell, self.colour(cell.position)),
                    None => text(
                        &mut body,
                        at.0 + places.cell / 2.0,
                        at.1 + ROW / 2.0 + 3.6,
                        Anchor::Middle,
                        "m",
                        "-",
                    ),
                }
            }
        }
        body.push_str("</g>\n");
        let below = places.top + self.rows.len() as f64 * ROW + 8.0;
        let height = self.legend(&mut body, below);
        Picture::new(&self.slug, &self.title, self.words.clone(), places.width, height, body)
    }

    fn colour(&self, position: f64) -> colour::Rgb {
        if self.diverging { colour::diverging(position) } else { colour::sequential(position) }
    }

    fn places(&self) -> Places {
        let widest = |labels: &[String]| {
            let wide = |l: &String| text_width(&l.chars().take(LONGEST_LABEL).collect::<String>(), LABEL);
            labels.iter().map(wide).fold(0.0, f64::max)
        };
        let left = (widest(self.rows).max(text_width(self.names.0, 9.5) + 12.0) + 18.0).ceil();
        let (columns, label) = (self.columns.len() as f64, widest(self.columns));
        let cell = ((WIDTH - left - 12.0) / columns).clamp(NARROWEST_CELL, WIDEST_CELL);
        let slanted = label + 6.0 > cell;
        let top = if slanted { TOP + 6.0 + label * SLANT.1 } else { TOP + 12.0 };
        // A slanted label of the last column must not extend beyond the picture.
        let over = if slanted { (label * SLANT.0 - cell / 2.0).max(0.0) } else { 0.0 };
        Places { left, top, cell, slanted, width: (left + columns * cell + over + 12.0).max(WIDTH).ceil() }
    }

    /// The colour scale. Returns the height of the whole picture.
    fn legend(&self, out: &mut String, top: f64) -> f64 {
        const BAR: f64 = 150.0;
        const STEPS: usize = 32;
        let left = 8.0 + text_width(&self.ends.0, LABEL) + 8.0;
        text(out, left - 6.0, top + 10.0, Anchor::End, "v", &self.ends.0);
        for step in 0..STEPS {
            let x = left + step as f64 * BAR / STEPS as f64;
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"10\" fill=\"{}\"/>",
                top + 1.0,
                BAR / STEPS as f64 + 0.4,
                colour::hex(self.colour(step as f64 / (STEPS - 1) as f64))
            );
        }
        text(out, left + BAR + 6.0, top + 10.0, Anchor::Start, "v", &self.ends.1);
        text(out, 8.0, top + 27.0, Anchor::Start, "s", &self.note);
        top + 36.0
    }
}

fn draw_cell(out: &mut String, at: (f64, f64), width: f64, cell: &GridCell, ground: colour::Rgb) {
    let _ = writeln!(
        out,
        "<g><title>{}</title><path d=\"M{:.1} {:.1}h{:.1}v{:.0}h-{:.1}z\" fill=\"{}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" class=\"{}\">{}</text>",
        escape(&cell.tooltip),
        at.0 + 0.5,
        at.1 + 0.5,
        width - 1.0,
        ROW - 1.0,
        width - 1.0,
        colour::hex(ground),
        at.0 + width / 2.0,
        at.1 + ROW / 2.0 + 3.6,
        if colour::is_light(ground) { "k" } else { "w" },
        escape(&cell.words)
    );
    if cell.marked {
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"mark\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            at.0 + 1.5,
            at.1 + 1.5,
            width - 3.0,
            ROW - 3.0,
            if colour::is_light(ground) { "#111" } else { "#fff" }
        );
    }
    out.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(columns: &[String]) -> Picture {
        let cell = |n: usize| GridCell {
            position: n as f64 / columns.len() as f64,
            words: n.to_string(),
            tooltip: format!("<{n}>"),
            marked: n == 0,
        };
        GridMap {
            slug: "map".into(),
            title: "A map".into(),
            words: "It has cells.".into(),
            names: ("row", "column"),
            rows: &["a".into(), "b".into()],
            columns,
            cells: vec![
                (0..columns.len()).map(|n| Some(cell(n))).collect(),
                (0..columns.len()).map(|_| None).collect(),
            ],
            ends: ("0".into(), "1".into()),
            note: String::new(),
            diverging: false,
        }
        .draw()
    }

    #[test]
    fn long_names_lean_and_short_ones_do_not() {
        let short = map(&["1".into(), "2".into()]).standalone();
        assert!(!short.contains("rotate") && short.contains("&lt;0&gt;"), "{short}");
        assert_eq!(short.matches("class=\"mark\"").count(), 1);
        let long =
            map(&(0..9).map(|n| format!("deadline@2.6.6,fifo_batch={n}")).collect::<Vec<_>>()).standalone();
        assert_eq!(long.matches("rotate(-40").count(), 9);
    }
}
