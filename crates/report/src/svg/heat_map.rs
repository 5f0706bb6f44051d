//! The heat map: one coloured cell with its value per file size and record size. The borders between regimes are drawn through
//! it, and each band is marked at the right edge with a letter that the legend below explains; cache and memory sizes are
//! broken lines between the last file that fits and the first that does not.

use super::{Anchor, Picture, escape, line, text};
use crate::{
    Kind, Machine, Mapped, Quantity,
    colour::{self, Scale},
    surface::SurfaceCell,
    units,
};
use std::fmt::Write as _;

const WIDTH: f64 = 520.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 88.0;
const TOP: f64 = 58.0;
const ROW: f64 = 21.0;
const STRIPE: f64 = 13.0;
const LEGEND_LINE: f64 = 16.0;
/// Approximate width of a letter in a column's head on a phone.
const HEAD_LETTER: f64 = 6.8;
/// Maximum width of a cell, for small surfaces.
const WIDEST_CELL: f64 = 64.0;
/// Font size of a value in its cell: in `svg/style.css`, and on a phone in `html/style.css`.
const VALUE: f64 = 10.0;
const VALUE_ON_PHONE: f64 = 12.0;

/// Draws the heat map; `None` if nothing was measured.
#[must_use]
pub fn heat_map(mapped: &Mapped, machine: &Machine, scale: &Scale) -> Option<Picture> {
    let surface = &mapped.surface;
    surface.range()?;
    let columns = surface.record_bytes.len() as f64;
    let grid = CellGrid { cell: ((WIDTH - LEFT - RIGHT) / columns).min(WIDEST_CELL), columns };
    let mut body = String::new();
    let what = match surface.quantity {
        Quantity::BytesPerSecond => "throughput",
        Quantity::Ratio => "ratio",
    };
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", &format!("{}: {what}", shortened(&surface.title, 52)));
    text(&mut body, LEFT, 36.0, Anchor::Start, "s", "record size →");
    text(&mut body, 8.0, TOP - 6.0, Anchor::Start, "s", "file ↓");
    let heads: Vec<String> = surface.record_bytes.iter().map(|record| units::bytes_short(*record)).collect();
    for j in apart(&heads, grid.cell) {
        text(&mut body, grid.x(j) + grid.cell / 2.0, TOP - 6.0, Anchor::Middle, "v", &heads[j]);
    }
    body.push_str("<g class=\"c\">\n");
    for (i, row) in surface.cells.iter().enumerate() {
        let file = surface.file_bytes[i];
        text(&mut body, LEFT - 6.0, y(i) + ROW / 2.0 + 3.8, Anchor::End, "e", &units::bytes_short(file));
        for (j, cell) in row.iter().enumerate() {
            if let Some(cell) = cell {
                let tooltip =
                    CellTooltip { sizes: (file, surface.record_bytes[j]), quantity: surface.quantity };
                draw_cell(&mut body, (grid.x(j), y(i)), grid.cell, cell, tooltip, scale);
                if differs(mapped, i, cell) {
                    let (x, y) = (grid.x(j) + 0.5, y(i) + 0.5);
                    let _ = writeln!(
                        body,
                        "<path d=\"M{x:.1} {y:.1}h8l-8 8z\" class=\"{}\"/>",
                        Kind::from(cell.origin).class()
                    );
                }
            }
        }
    }
    body.push_str("</g>\n");
    bands(&mut body, mapped, &grid);
    references(&mut body, mapped, machine, &grid);
    let bottom = y(surface.file_bytes.len()) + 8.0;
    let height = legend(&mut body, mapped, scale, bottom);
    let slug = format!("heat map {} {what}", surface.title);
    let title = format!("{}: {what} by file and record size", surface.title);
    Some(Picture::new(&slug, &title, description(mapped), WIDTH, height, body))
}

/// Indices of the heads that do not overlap the previous one, even with the larger letters on a phone; the cells' tooltips name
/// every size.
fn apart(heads: &[String], cell: f64) -> Vec<usize> {
    let half = |head: &String| head.chars().count() as f64 * HEAD_LETTER / 2.0;
    let mut shown: Vec<usize> = Vec::new();
    for (j, head) in heads.iter().enumerate() {
        let free = |last: &usize| (j - last) as f64 * cell >= half(&heads[*last]) + half(head);
        if shown.last().is_none_or(free) {
            shown.push(j);
        }
    }
    shown
}

/// Tooltip data of a cell: file and record size, and the meaning of its value.
#[derive(Clone, Copy)]
struct CellTooltip {
    sizes: (u64, u64),
    quantity: Quantity,
}

/// How a cell shows its value.
#[derive(Debug, PartialEq)]
enum Fit {
    Always,
    /// Hidden on a phone, whose letters are larger.
    NotOnPhone,
    Never,
}

impl Fit {
    fn of(value: &str, cell: f64) -> Self {
        let width = width_in_em(value);
        if width * VALUE_ON_PHONE <= cell {
            Self::Always
        } else if width * VALUE <= cell {
            Self::NotOnPhone
        } else {
            Self::Never
        }
    }
}

/// Estimated width of a short value in em, for the widest of the page's fonts (DejaVu Sans).
fn width_in_em(value: &str) -> f64 {
    let letter = |c| match c {
        '.' => 0.32,
        'M' => 0.87,
        'G' => 0.78,
        'B' | 'K' => 0.69,
        _ => 0.64,
    };
    value.chars().map(letter).sum()
}

struct CellGrid {
    cell: f64,
    columns: f64,
}

impl CellGrid {
    fn x(&self, column: usize) -> f64 {
        LEFT + column as f64 * self.cell
    }

    fn right(&self) -> f64 {
        LEFT + self.columns * self.cell
    }
}

fn y(row: usize) -> f64 {
    TOP + row as f64 * ROW
}

fn draw_cell(
    out: &mut String,
    at: (f64, f64),
    width: f64,
    cell: &SurfaceCell,
    tooltip: CellTooltip,
    scale: &Scale,
) {
    let ground = scale.colour(cell.value);
    let sizes = tooltip.sizes;
    let (short, long) = match (tooltip.quantity, cell.ops_per_s) {
        (Quantity::BytesPerSecond, Some(ops)) => (
            units::rate_short(cell.value),
            format!("{}, {}, {}", units::rate(cell.value), units::ops_rate(ops), origin_words(cell)),
        ),
        // Imported tables have no operations.
        (Quantity::BytesPerSecond, None) => {
            (units::rate_short(cell.value), format!("{}, {}", units::rate(cell.value), origin_words(cell)))
        }
        (Quantity::Ratio, _) => {
            (ratio_short(cell.value), format!("{} ({})", units::ratio(cell.value), origin_words(cell)))
        }
    };
    let _ = write!(
        out,
        "<g><title>{} / {}: {}</title><path d=\"M{:.1} {:.1}h{:.1}v{:.0}h-{:.1}z\" fill=\"{}\"/>",
        units::bytes(sizes.0),
        units::bytes(sizes.1),
        escape(&long),
        at.0 + 0.5,
        at.1 + 0.5,
        width - 1.0,
        ROW - 1.0,
        width - 1.0,
        colour::hex(ground),
    );
    let fit = Fit::of(&short, width);
    if fit != Fit::Never {
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"{}{}\">{}</text>",
            at.0 + width / 2.0,
            at.1 + ROW / 2.0 + 3.6,
            if colour::is_light(ground) { "k" } else { "w" },
            if fit == Fit::NotOnPhone { " wide" } else { "" },
            escape(&short)
        );
    }
    out.push_str("</g>\n");
}

fn origin_words(cell: &SurfaceCell) -> String {
    match cell.device_share {
        Some(share) => format!("{}, {} by the device", cell.origin.words(), units::percent(share)),
        None => cell.origin.words().to_string(),
    }
}

/// "1.24", "12": the multiplication sign is in the title.
fn ratio_short(value: f64) -> String {
    match value {
        v if v < 9.95 => format!("{v:.2}"),
        v if v < 999.5 => format!("{v:.0}"),
        v => format!("{v:.0e}"),
    }
}

/// Lines between bands, and a lettered stripe beside each.
fn bands(out: &mut String, mapped: &Mapped, grid: &CellGrid) {
    let right = grid.right() + 3.0;
    for band in &mapped.bands {
        let (top, bottom) = (y(band.rows.start), y(band.rows.end));
        let _ = writeln!(
            out,
            "<g><title>{}</title><rect x=\"{right:.1}\" y=\"{:.1}\" width=\"{STRIPE}\" height=\"{:.1}\" class=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" class=\"band\">{}</text></g>",
            band.words(),
            top + 1.0,
            bottom - top - 2.0,
            band.kind.class(),
            right + STRIPE / 2.0,
            (top + bottom) / 2.0 + 3.4,
            band.kind.letter()
        );
        if band.rows.start > 0 {
            line(out, (LEFT, top), (grid.right(), top), "halo");
            line(out, (LEFT, top), (right + STRIPE, top), "regime");
            if let Some(knee) = band.knee() {
                // Below the border, because the name of a cache or memory that ends here is above it.
                text(out, right + STRIPE + 4.0, top + 14.0, Anchor::Start, "s", &knee.replace("NFS ", ""));
            }
        }
    }
}

/// Broken lines where a cache or memory ends, labelled at the right. Several at the same border share a label.
fn references(out: &mut String, mapped: &Mapped, machine: &Machine, grid: &CellGrid) {
    let files = &mapped.surface.file_bytes;
    let mut at_border: Vec<(usize, String)> = Vec::new();
    for reference in machine.references() {
        let fitting = files.iter().filter(|f| **f <= reference.bytes).count();
        if fitting == 0 || fitting == files.len() {
            continue; // outside the axis
        }
        match at_border.last_mut() {
            Some((border, label)) if *border == fitting => *label = format!("{label}, {}", reference.label),
            _ => at_border
                .push((fitting, format!("{} {}", reference.label, units::bytes_short(reference.bytes)))),
        }
    }
    for (border, label) in at_border {
        let height = y(border);
        line(out, (LEFT, height), (grid.right() + STRIPE + 5.0, height), "ref");
        text(out, grid.right() + STRIPE + 7.0, height + 3.4, Anchor::Start, "s", &label);
    }
}

/// The colour bar with its ends, and one line per band. Returns the height of the whole picture.
fn legend(out: &mut String, mapped: &Mapped, scale: &Scale, top: f64) -> f64 {
    const BAR: f64 = 160.0;
    const STEPS: usize = 32;
    let (low, high) = match mapped.surface.quantity {
        Quantity::BytesPerSecond => (units::rate(scale.low), units::rate(scale.high)),
        Quantity::Ratio => (units::ratio(scale.low), units::ratio(scale.high)),
    };
    let left = 8.0 + super::text_width(&low, 10.0) + 8.0;
    text(out, left - 6.0, top + 10.0, Anchor::End, "v", &low);
    for step in 0..STEPS {
        let colour = colour::hex(scale.colour_at(step as f64 / (STEPS - 1) as f64));
        let x = left + step as f64 * BAR / STEPS as f64;
        let w = BAR / STEPS as f64 + 0.4;
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"10\" fill=\"{colour}\"/>",
            top + 1.0
        );
    }
    text(out, left + BAR + 6.0, top + 10.0, Anchor::Start, "v", &high);
    let note = match mapped.surface.quantity {
        Quantity::BytesPerSecond => "M = MiB/s, G = GiB/s, log colour",
        Quantity::Ratio => "1 = the same, above = faster",
    };
    text(out, WIDTH - 8.0, top + 10.0, Anchor::End, "s", note);
    let mut below = top + 12.0 + LEGEND_LINE;
    for band in &mapped.bands {
        let _ = writeln!(
            out,
            "<rect x=\"8\" y=\"{:.1}\" width=\"13\" height=\"12\" class=\"{}\"/>\
             <text x=\"14.5\" y=\"{:.1}\" text-anchor=\"middle\" class=\"band\">{}</text>",
            below - 9.5,
            band.kind.class(),
            below,
            band.kind.letter()
        );
        text(out, 27.0, below, Anchor::Start, "", &band_words(band));
        below += LEGEND_LINE;
    }
    let mut strays: Vec<Kind> = Vec::new();
    for (i, row) in mapped.surface.cells.iter().enumerate() {
        strays.extend(row.iter().flatten().filter(|c| differs(mapped, i, c)).map(|c| Kind::from(c.origin)));
    }
    strays.sort();
    strays.dedup();
    for kind in strays {
        let _ = writeln!(out, "<path d=\"M8 {:.1}h9l-9 9z\" class=\"{}\"/>", below - 9.0, kind.class());
        text(
            out,
            27.0,
            below,
            Anchor::Start,
            "",
            &format!("corner: this cell was served by {}, unlike its band", kind.words()),
        );
        below += LEGEND_LINE;
    }
    below
}

/// Whether a cell's own origin differs from its band's.
fn differs(mapped: &Mapped, row: usize, cell: &SurfaceCell) -> bool {
    mapped.band_of(row).is_some_and(|band| mapped.kind_of(row, cell) != band.kind)
}

/// "page cache: files 32 MiB to 256 MiB, 2.1 GiB/s to 4.2 GiB/s"; with an unknown source, "files fit memory: 2 MiB to 1 GiB, ...".
fn band_words(band: &crate::Band) -> String {
    let (slowest, fastest) = (units::rate(band.rates.min), units::rate(band.rates.max));
    let rates = if slowest == fastest { slowest } else { format!("{slowest} to {fastest}") };
    let knee = band.knee().map_or(String::new(), |k| format!("; {k}"));
    if let Some(sizes) = &band.sizes {
        let (from, to) = (units::bytes(band.from_bytes), units::bytes(band.to_bytes));
        let files = if from == to { from } else { format!("{from} to {to}") };
        return format!("{sizes}: {files}, {rates}{knee}");
    }
    let files = if band.from_bytes == band.to_bytes {
        format!("files of {}", units::bytes(band.from_bytes))
    } else {
        format!("files {} to {}", units::bytes(band.from_bytes), units::bytes(band.to_bytes))
    };
    format!("{}: {files}, {rates}{knee}", band.words())
}

fn description(mapped: &Mapped) -> String {
    if mapped.surface.quantity == Quantity::Ratio {
        let (low, high) = mapped.surface.range().unwrap_or((1.0, 1.0));
        return format!("Ratios from {} to {}.", units::ratio(low), units::ratio(high));
    }
    mapped.bands.iter().map(|b| format!("{}.", band_words(b))).collect::<Vec<_>>().join(" ")
}

/// Cuts long titles, since SVG does not wrap.
pub(crate) fn shortened(title: &str, most: usize) -> String {
    if title.chars().count() <= most {
        return title.to_string();
    }
    title.chars().take(most - 1).chain(std::iter::once('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_wider_than_its_cell_is_in_the_tooltip_only() {
        let fits = |value, columns: f64| Fit::of(value, (WIDTH - LEFT - RIGHT) / columns);
        assert_eq!(fits("959M", 6.0), Fit::Always);
        assert_eq!((fits("1.3G", 13.0), fits("959M", 13.0)), (Fit::Always, Fit::NotOnPhone));
        assert_eq!((fits("1.3G", 17.0), fits("959M", 17.0)), (Fit::Never, Fit::Never));

        let drawn = |width: f64| {
            let mut out = String::new();
            let cell = SurfaceCell {
                value: 959.0 * 1024.0 * 1024.0,
                ops_per_s: None,
                origin: fathom_record::Regime::Device,
                device_share: None,
            };
            let tooltip = CellTooltip { sizes: (1 << 20, 4096), quantity: Quantity::BytesPerSecond };
            draw_cell(&mut out, (0.0, 0.0), width, &cell, tooltip, &Scale::of_rates(1.0, 1e9));
            out
        };
        assert!(drawn(64.0).contains(">959M</text>"), "{}", drawn(64.0));
        let narrow = drawn(22.8);
        assert!(!narrow.contains("<text") && narrow.contains("959 MiB/s"), "{narrow}");
    }

    #[test]
    fn column_heads_that_would_overlap_are_left_out() {
        let shown = |heads: &[&str], cell| {
            let heads: Vec<String> = heads.iter().map(|h| (*h).to_string()).collect();
            apart(&heads, cell)
        };
        assert_eq!(shown(&["4K", "8K", "256K", "512K"], 27.7), [0, 1, 2, 3]);
        assert_eq!(shown(&["7.5K", "13.5K", "24.5K", "45.5K", "83K"], 29.9), [0, 2, 4]);
    }
}
