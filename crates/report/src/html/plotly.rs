//! The data of an interactive surface for the script: numbers on the axes' own scales, tick texts, and one text per cell. It
//! contains no theme colours; the script adds those, and again when the theme changes. Plotly interprets titles and texts as
//! HTML, but they contain no user string (titles stay outside the figure, in the page).

use crate::{Band, Cause};
use crate::{Machine, Mapped, Quantity, colour::Scale, svg::surface_ticks, units};
use serde_json::{Value, json};

pub(super) fn surface(mapped: &Mapped, machine: &Machine, scale: &Scale) -> Value {
    let surface = &mapped.surface;
    let heights = |i: usize| -> Vec<Option<f64>> {
        surface.cells[i].iter().map(|c| c.as_ref().map(|c| rounded(scale.position(c.value)))).collect()
    };
    let rows = 0..surface.file_bytes.len();
    let texts: Vec<Vec<String>> = rows.clone().map(|i| row_texts(mapped, i)).collect();
    let (z_places, z_texts): (Vec<f64>, Vec<String>) =
        surface_ticks(scale, surface.quantity).into_iter().map(|(p, t)| (rounded(p), t)).unzip();
    json!({
        "x": surface.record_bytes.iter().map(|b| log2(*b)).collect::<Vec<_>>(),
        "y": surface.file_bytes.iter().map(|b| log2(*b)).collect::<Vec<_>>(),
        "z": rows.map(heights).collect::<Vec<_>>(),
        "text": texts,
        "xText": surface.record_bytes.iter().map(|b| units::bytes_short(*b)).collect::<Vec<_>>(),
        "yText": surface.file_bytes.iter().map(|b| units::bytes_short(*b)).collect::<Vec<_>>(),
        "regimes": (0..surface.file_bytes.len()).map(|i| mapped.band_of(i).map(Band::words)).collect::<Vec<_>>(),
        "zPlaces": z_places,
        "zText": z_texts,
        "colours": scale.stops(),
        "borders": borders(mapped, scale),
        "references": references(mapped, machine),
    })
}

/// What the script cannot know: the value in words and its origin. Sizes and regimes come from the row and the column.
fn row_texts(mapped: &Mapped, row: usize) -> Vec<String> {
    let surface = &mapped.surface;
    let text = |cell: &Option<crate::SurfaceCell>| {
        let Some(cell) = cell else { return String::new() };
        let value = match surface.quantity {
            Quantity::BytesPerSecond => units::rate(cell.value),
            Quantity::Ratio => units::ratio(cell.value),
        };
        format!("{value}, {}", cell.origin.words())
    };
    surface.cells[row].iter().map(text).collect()
}

/// Each border between regimes as a line on the surface, half-way between two file sizes, named for both sides.
fn borders(mapped: &Mapped, scale: &Scale) -> Vec<Value> {
    let surface = &mapped.surface;
    let pairs = mapped.bands.windows(2);
    pairs
        .map(|pair| {
            let row = pair[1].rows.start;
            let y = (log2(surface.file_bytes[row - 1]) + log2(surface.file_bytes[row])) / 2.0;
            let height = |j: usize| {
                let (a, b) = (surface.cells[row - 1][j].as_ref()?, surface.cells[row][j].as_ref()?);
                Some(rounded((scale.position(a.value) + scale.position(b.value)) / 2.0))
            };
            let z: Vec<Option<f64>> = (0..surface.record_bytes.len()).map(height).collect();
            json!({"name": border_name(&pair[0], &pair[1]), "y": y, "z": z})
        })
        .collect()
}

/// "page cache → device from 512 MiB"; where the regime stays the same, the factor by which throughput changes: "device 3.10× from 256 KiB".
/// A border at a known knee is named after it.
fn border_name(before: &Band, after: &Band) -> String {
    let from = units::bytes(after.from_bytes);
    if let Some(knee) = after.knee() {
        return format!("{knee} from {from}: {}", after.words());
    }
    match after.begins_by {
        Some(Cause::Throughput(factor)) if before.kind == after.kind => {
            format!("{} {} from {from}", after.kind.words(), units::ratio(factor))
        }
        _ => format!("{} → {} from {from}", before.kind.words(), after.kind.words()),
    }
}

fn references(mapped: &Mapped, machine: &Machine) -> Vec<Value> {
    let files = &mapped.surface.file_bytes;
    let (first, last) = (files[0], files[files.len() - 1]);
    let inside = machine.references().into_iter().filter(|r| r.bytes >= first && r.bytes <= last);
    inside
        .map(|r| json!({"name": format!("{} {}", r.label, units::bytes(r.bytes)), "y": log2(r.bytes)}))
        .collect()
}

fn log2(bytes: u64) -> f64 {
    rounded((bytes.max(1) as f64).log2())
}

/// Three decimals on a wall 300 pixels high are finer than a pixel; more would only enlarge the page.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
