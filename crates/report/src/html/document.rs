//! Any document as a page: `documents` makes them, and `HtmlPage` has the frame, the style and the script.

use super::table::HtmlTable;
use super::{HtmlPage, LEAST_WIDE, surfaces, tiles};
use crate::document::{Cell, Document, Part, Table, Tone, shown};
use crate::svg::escape;
use std::fmt::Write as _;

/// How dark the darkest cell is, as a share of the full colour: its text stays readable.
const DARKEST: f64 = 45.0;

/// The page of a document.
#[must_use]
pub fn document(document: &Document) -> String {
    let mut page = HtmlPage::default();
    write_all(&mut page, &document.parts);
    page.close(&document.title, &document.lead)
}

fn write_all(page: &mut HtmlPage, parts: &[Part]) {
    shown(&parts.iter().collect::<Vec<_>>(), |_| true).into_iter().for_each(|part| write(page, part));
}

fn write(page: &mut HtmlPage, part: &Part) {
    match part {
        Part::Heading(level, words) => {
            page.heading(*level, words);
        }
        Part::Text(tone, words) => {
            let class = match tone {
                Tone::Plain => "",
                Tone::Note => " class=\"note\"",
                Tone::Label => " class=\"whose\"",
                Tone::Trouble => " class=\"trouble\" role=\"note\"",
            };
            let _ = writeln!(page.body, "<p{class}>{}</p>", escape(words));
        }
        Part::List(items) => {
            page.body.push_str("<ul>\n");
            for item in items {
                let _ = writeln!(page.body, "<li>{}</li>", escape(item));
            }
            page.body.push_str("</ul>\n");
        }
        Part::Tiles(all) => tiles::write(page, all),
        Part::Table(of) => page.body.push_str(&table(of)),
        // A small one is not drawn larger than others.
        Part::Picture(figure) if figure.picture.width() <= LEAST_WIDE => {
            page.picture(&figure.picture, &figure.caption);
        }
        Part::Picture(figure) => page.wide_picture(&figure.picture, &figure.caption),
        Part::Surface(of) => surfaces::captioned(page, &of.mapped, &of.machine, &of.scale, &of.caption),
        Part::Details(summary, parts) => {
            page.fold(summary, |page| write_all(page, parts));
        }
    }
}

fn table(of: &Table) -> String {
    let mut table = HtmlTable::new(&of.caption, &of.heads);
    let (rows, more) = of.shown();
    for row in rows {
        let [head, cells @ ..] = row.as_slice() else { continue };
        table.begin(&head.text);
        cells.iter().for_each(|cell| table.cell(&style(cell), &inside(cell)));
        table.end();
    }
    let more = more.map_or_else(String::new, |more| format!("<p class=\"note\">{}</p>\n", escape(&more)));
    table.finish() + &more
}

fn style(cell: &Cell) -> String {
    if cell.shade <= 0.0 {
        return String::new();
    }
    let percent = cell.shade.min(1.0) * DARKEST;
    format!(" style=\"background:color-mix(in srgb,var(--device) {percent:.0}%,transparent)\"")
}

fn inside(cell: &Cell) -> String {
    let text = escape(&cell.text);
    let text = if cell.is_strong { format!("<strong>{text}</strong>") } else { text };
    if cell.is_words { format!("<span class=\"text\">{text}</span>") } else { text }
}
