//! The surface as a static picture: a height field of polygons seen from the corner of the large files and large records, so
//! that the low side (the device) is in front of the high one (the caches). A quad with a missing corner is not drawn, so that
//! a gap does not look like a drop to zero.

use super::{Anchor, Picture, coordinates, heat_map::shortened, line, polyline, text};
use crate::{
    Machine, Mapped, Quantity, Surface,
    colour::{self, Scale},
    units,
};
use std::fmt::Write as _;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 412.0;
/// Half the width of the floor's rhombus.
const HALF_X: f64 = 188.0;
/// Half its depth on paper.
const HALF_Y: f64 = 92.0;
const RISE: f64 = 135.0;
/// Distance of the cache and memory labels from the floor, clear of the file sizes.
const LANE: f64 = 1.2;
/// The far corner of the floor.
const FAR: (f64, f64) = (258.0, 178.0);

/// Draws the surface; `None` unless it has at least two sizes each way.
#[must_use]
pub fn surface(mapped: &Mapped, machine: &Machine, scale: &Scale) -> Option<Picture> {
    let surface = &mapped.surface;
    if !surface.is_solid() {
        return None;
    }
    let view = Projection::of(surface, *scale);
    let mut body = String::new();
    let what = match surface.quantity {
        Quantity::BytesPerSecond => "throughput (log)",
        Quantity::Ratio => "ratio (log)",
    };
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", &format!("{}: {what}", shortened(&surface.title, 48)));
    walls(&mut body, &view, surface.quantity);
    floor_labels(&mut body, &view, surface);
    references(&mut body, &view, surface, machine);
    body.push_str("<g class=\"quad\">");
    for i in 0..surface.file_bytes.len() - 1 {
        strip(&mut body, &view, surface, i);
        if mapped.bands.iter().any(|b| b.rows.start == i + 1) {
            border(&mut body, &view, surface, i);
        }
    }
    body.push_str("</g>\n");
    // Drawn last, because the strips in front would cover them.
    for band in &mapped.bands {
        if let Some((knee, (x, y))) = band.knee().zip(side_of(&view, surface, band.rows.start)) {
            text(&mut body, x + 5.0, y + 4.0, Anchor::Start, "s", &knee);
        }
    }
    key(&mut body, mapped);
    let slug = format!(
        "surface {}{}",
        surface.title,
        if surface.quantity == Quantity::Ratio { " ratio" } else { "" }
    );
    let (low, high) = surface.range()?;
    let of = |v: f64| if surface.quantity == Quantity::Ratio { units::ratio(v) } else { units::rate(v) };
    let bands: Vec<String> = mapped
        .bands
        .iter()
        .map(|b| {
            format!(
                " {} from {} to {} files{}.",
                b.words(),
                units::bytes(b.from_bytes),
                units::bytes(b.to_bytes),
                b.knee().map_or(String::new(), |k| format!(", {k}"))
            )
        })
        .collect();
    let description =
        format!("Surface over record size and file size, {} to {}.{}", of(low), of(high), bands.concat());
    Some(Picture::new(&slug, &format!("{}: {what}", surface.title), description, WIDTH, HEIGHT, body))
}

/// Projects sizes and values onto the picture.
struct Projection {
    records: (f64, f64),
    files: (f64, f64),
    scale: Scale,
}

impl Projection {
    fn of(surface: &Surface, scale: Scale) -> Self {
        let ends = |sizes: &[u64]| (log2(sizes[0]), log2(sizes[sizes.len() - 1]));
        Self { records: ends(&surface.record_bytes), files: ends(&surface.file_bytes), scale }
    }

    fn record(&self, bytes: u64) -> f64 {
        (log2(bytes) - self.records.0) / (self.records.1 - self.records.0)
    }

    fn file(&self, log2_bytes: f64) -> f64 {
        (log2_bytes - self.files.0) / (self.files.1 - self.files.0)
    }

    /// Projects record size, file size and height, each 0..=1.
    fn place(&self, record: f64, file: f64, height: f64) -> (f64, f64) {
        (FAR.0 + (record - file) * HALF_X, FAR.1 + (record + file) * HALF_Y - height * RISE)
    }

    fn point(&self, surface: &Surface, row: usize, column: usize) -> Option<(f64, f64)> {
        let cell = surface.cells[row][column].as_ref()?;
        let (record, file) =
            (self.record(surface.record_bytes[column]), self.file(log2(surface.file_bytes[row])));
        Some(self.place(record, file, self.scale.position(cell.value)))
    }
}

fn log2(bytes: u64) -> f64 {
    (bytes.max(1) as f64).log2()
}

/// The two walls behind the surface with the height's ticks, labelled on the left.
fn walls(out: &mut String, view: &Projection, quantity: Quantity) {
    for (height, label) in ticks(&view.scale, quantity) {
        let wall = [view.place(0.0, 1.0, height), view.place(0.0, 0.0, height), view.place(1.0, 0.0, height)];
        polyline(out, &wall, "");
        text(out, wall[0].0 - 6.0, wall[0].1 + 3.6, Anchor::End, "v", &label);
    }
    let floor: Vec<(f64, f64)> = [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 1.0)]
        .iter()
        .map(|(r, f)| view.place(*r, *f, 0.0))
        .collect();
    polyline(out, &floor, "axis");
    for (r, f) in [(0.0, 1.0), (0.0, 0.0), (1.0, 0.0)] {
        line(out, view.place(r, f, 0.0), view.place(r, f, 1.0), "");
    }
}

/// About five heights at round values: powers of two for rates, simple factors around 1 for ratios.
pub(crate) fn ticks(scale: &Scale, quantity: Quantity) -> Vec<(f64, String)> {
    let mut values: Vec<(f64, String)> = match quantity {
        Quantity::BytesPerSecond => {
            let (low, high) = (scale.low.log2().ceil() as i32, scale.high.log2().floor() as i32);
            let step = ((high - low) / 4).max(1);
            (low..=high)
                .step_by(step as usize)
                .map(|e| 2f64.powi(e))
                .map(|v| (v, units::rate_tick(v)))
                .collect()
        }
        Quantity::Ratio => [0.1, 0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 4.0, 10.0]
            .into_iter()
            .filter(|v| *v >= scale.low * 0.999 && *v <= scale.high * 1.001)
            .map(|v| (v, format!("{v}×")))
            .collect(),
    };
    if values.is_empty() {
        values.push((scale.low, units::rate_tick(scale.low)));
    }
    let placed = values.into_iter().map(|(v, label)| (scale.position(v), label)).collect();
    if quantity == Quantity::Ratio { apart(placed) } else { placed }
}

/// Of overlapping labels, the one nearer to "the same" stays.
fn apart(mut ticks: Vec<(f64, String)>) -> Vec<(f64, String)> {
    /// Height of a line of text, as a fraction of the wall.
    const LINE: f64 = 0.09;
    let same = ticks.iter().find(|t| t.1 == "1×").map_or(0.5, |t| t.0);
    ticks.sort_by(|a, b| (a.0 - same).abs().total_cmp(&(b.0 - same).abs()));
    let mut kept: Vec<(f64, String)> = Vec::new();
    for tick in ticks {
        if kept.iter().all(|k| (k.0 - tick.0).abs() >= LINE) {
            kept.push(tick);
        }
    }
    kept.sort_by(|a, b| a.0.total_cmp(&b.0));
    kept
}

/// Sizes along the two near edges of the floor; every label that fits.
fn floor_labels(out: &mut String, view: &Projection, surface: &Surface) {
    let every = |n: usize| n.div_ceil(8).max(1);
    for record in surface.record_bytes.iter().step_by(every(surface.record_bytes.len())) {
        let (x, y) = view.place(view.record(*record), 1.0, 0.0);
        line(out, (x, y), (x - 4.0, y + 4.0), "axis");
        text(out, x - 6.0, y + 13.0, Anchor::End, "v", &units::bytes_short(*record));
    }
    for file in surface.file_bytes.iter().step_by(every(surface.file_bytes.len())) {
        let (x, y) = view.place(1.0, view.file(log2(*file)), 0.0);
        line(out, (x, y), (x + 4.0, y + 4.0), "axis");
        text(out, x + 6.0, y + 13.0, Anchor::Start, "v", &units::bytes_short(*file));
    }
    text(out, 100.0, HEIGHT - 50.0, Anchor::Middle, "s", "record size →");
    text(out, WIDTH - 84.0, HEIGHT - 50.0, Anchor::Middle, "s", "← file size");
}

/// Cache and memory sizes as broken lines on the floor, if the axis reaches them.
fn references(out: &mut String, view: &Projection, surface: &Surface, machine: &Machine) {
    let (first, last) = (surface.file_bytes[0], surface.file_bytes[surface.file_bytes.len() - 1]);
    for reference in machine.references().iter().filter(|r| r.bytes >= first && r.bytes <= last) {
        let at = view.file(log2(reference.bytes));
        line(out, view.place(0.0, at, 0.0), view.place(LANE, at, 0.0), "ref");
        let (x, y) = view.place(LANE, at, 0.0);
        text(out, x + 3.0, y + 5.0, Anchor::Start, "s", &reference.label);
    }
}

/// The quads between two neighbouring file sizes, far ones first.
fn strip(out: &mut String, view: &Projection, surface: &Surface, row: usize) {
    for column in 0..surface.record_bytes.len() - 1 {
        let corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)];
        let points: Option<Vec<(f64, f64)>> =
            corners.iter().map(|&(i, j)| view.point(surface, i, j)).collect();
        let Some(points) = points else { continue };
        let heights = corners.iter().filter_map(|&(i, j)| surface.cells[i][j].as_ref());
        let middle = heights.map(|c| view.scale.position(c.value)).sum::<f64>() / 4.0;
        let _ = writeln!(
            out,
            "<polygon points=\"{}\" fill=\"{}\"/>",
            coordinates(&points),
            colour::hex(view.scale.colour_at(middle))
        );
    }
}

/// End point of the border before a row, on the side of the large records.
fn side_of(view: &Projection, surface: &Surface, row: usize) -> Option<(f64, f64)> {
    let before = row.checked_sub(1)?;
    let both =
        |column: &usize| Some((view.point(surface, before, *column)?, view.point(surface, row, *column)?));
    let (a, b) = (0..surface.record_bytes.len()).rev().find_map(|c| both(&c))?;
    Some(((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0))
}

/// The border of a regime, half-way between two rows, on the surface.
fn border(out: &mut String, view: &Projection, surface: &Surface, row: usize) {
    let middle = |column: usize| {
        let (a, b) = (view.point(surface, row, column)?, view.point(surface, row + 1, column)?);
        Some(((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0))
    };
    let points: Vec<(f64, f64)> = (0..surface.record_bytes.len()).filter_map(middle).collect();
    if points.len() > 1 {
        polyline(out, &points, "halo");
        polyline(out, &points, "regime");
    }
}

fn key(out: &mut String, mapped: &Mapped) {
    let mut words: Vec<&str> = mapped.bands.iter().map(|b| b.kind.words()).collect();
    words.dedup();
    if words.len() > 1 {
        line(out, (8.0, 34.0), (30.0, 34.0), "regime");
        text(
            out,
            36.0,
            38.0,
            Anchor::Start,
            "s",
            &format!("regimes, small files to large: {}", words.join(" | ")),
        );
    }
}
