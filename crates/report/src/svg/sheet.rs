//! Several pictures in one: rows of pictures side by side, each row below a heading of two lines.

use super::{Anchor, Picture, heat_map::shortened, text};
use std::fmt::Write as _;

/// Height of the two heading lines.
const HEAD: f64 = 40.0;
const GAP: f64 = 12.0;

/// Stacks pictures without headings; a single one is returned as it is.
#[must_use]
pub fn stacked(slug: &str, mut pictures: Vec<Picture>) -> Option<Picture> {
    match pictures.len() {
        0 | 1 => pictures.pop(),
        _ => sheet(slug, pictures.into_iter().map(|p| (Default::default(), vec![p])).collect()),
    }
}

/// Stacks rows; `None` without any.
pub(crate) fn sheet(slug: &str, rows: Vec<([String; 2], Vec<Picture>)>) -> Option<Picture> {
    let of_row = |row: &[Picture]| row.iter().map(|p| p.width).sum::<f64>() + GAP * (row.len() - 1) as f64;
    let width = rows.iter().map(|(_, row)| of_row(row)).reduce(f64::max)?;
    let mut body = String::new();
    let mut titles: Vec<&str> = Vec::new();
    let mut described = Vec::new();
    let mut top = 0.0;
    for ([what, place], row) in &rows {
        let head = if what.is_empty() { 0.0 } else { HEAD };
        let most = |font: f64| ((width - 16.0) / (font * 0.56)) as usize;
        text(&mut body, 8.0, top + 16.0, Anchor::Start, "t", &shortened(what, most(13.0)));
        text(&mut body, 8.0, top + 32.0, Anchor::Start, "m", &shortened(place, most(11.0)));
        described
            .extend([what, place].into_iter().filter(|line| !line.is_empty()).map(|line| format!("{line}.")));
        let mut left = 0.0;
        for picture in row {
            let _ = writeln!(
                body,
                "<g transform=\"translate({left:.1} {:.1})\">{}</g>",
                top + head,
                picture.body
            );
            titles.push(&picture.title);
            described.push(format!("{}. {}", picture.title, picture.description));
            left += picture.width + GAP;
        }
        top += head + row.iter().map(|p| p.height).fold(0.0, f64::max) + GAP;
    }
    titles.dedup();
    let title = titles.join("; ");
    Some(Picture::new(slug, &title, described.join(" "), width, top - GAP, body))
}
