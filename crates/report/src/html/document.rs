//! Any document as a page: `documents` makes them, and `HtmlPage` has the frame, the style and the script.

use super::table::{HtmlTable, folded, preformatted};
use super::{HtmlPage, LEAST_WIDE, badge, plotly, tiles};
use crate::document::{Cell, Document, Mood, Part, SurfaceFigure, Table, Tone, shown};
use crate::svg::{self, escape};
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

/// Adds parts of a document to a page.
pub(super) fn write_all(page: &mut HtmlPage, parts: &[Part]) {
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
            let words = if *tone == Tone::Label { escape(words) } else { with_code(words) };
            let _ = writeln!(page.body, "<p{class}>{words}</p>");
        }
        Part::List(items) => {
            page.body.push_str("<ul>\n");
            for item in items {
                let _ = writeln!(page.body, "<li>{}</li>", escape(item));
            }
            page.body.push_str("</ul>\n");
        }
        Part::Tiles(all) => tiles::write(page, all),
        Part::Cards(cards) => {
            page.body.push_str("<ul class=\"cards\">\n");
            for (figure, words) in cards {
                let _ = writeln!(page.body, "<li><strong>{}</strong> {}</li>", escape(figure), escape(words));
            }
            page.body.push_str("</ul>\n");
        }
        Part::Table(of) => page.body.push_str(&table(of)),
        Part::Targets(targets) => page.anchor(targets),
        Part::Pictures(note, figures) => {
            if !note.is_empty() {
                write(page, &Part::Text(Tone::Note, note.clone()));
            }
            page.body.push_str("<div class=\"pair\">\n");
            figures.iter().for_each(|figure| page.figure(figure));
            page.body.push_str("</div>\n");
        }
        Part::Lines(name, lines) => {
            let text: String = lines.iter().map(|line| escape(line) + "\n").collect();
            page.body.push_str(&folded(name, &preformatted(name, &text)));
        }
        // A small one is not drawn larger than others.
        Part::Picture(figure) if figure.is_wide || figure.picture.width() > LEAST_WIDE => {
            page.wide_picture(&figure.picture, &figure.caption);
        }
        Part::Picture(figure) => page.figure(figure),
        Part::Surface(of) => surface(page, of),
        Part::Details(summary, parts) => {
            page.fold(summary, |page| write_all(page, parts));
        }
    }
}

/// A surface: the interactive one and the heat map side by side, and the same figures as a table below.
fn surface(page: &mut HtmlPage, of: &SurfaceFigure) {
    let SurfaceFigure { mapped, machine, scale, caption } = of;
    page.body.push_str("<div class=\"pair\">\n");
    if let Some(still) = svg::surface(mapped, machine, scale).filter(|_| !page.flat) {
        page.turning(&still, &plotly::surface(mapped, machine, scale), caption);
    }
    if let Some(still) = svg::heat_map(mapped, machine, scale) {
        page.picture(&still, caption);
    }
    page.body.push_str("</div>\n");
    page.body.push_str(&folded("The same figures as a table", &table(&of.table())));
}

/// A table.
pub(super) fn table(of: &Table) -> String {
    with_links(of, &[])
}

/// A table whose rows end with links to what is behind them, if there are any.
pub(super) fn with_links(of: &Table, links: &[String]) -> String {
    let words: Vec<bool> = (0..of.heads.len()).map(|column| of.is_words(column)).collect();
    let behind = (!links.is_empty()).then_some("Behind it");
    let mut table = HtmlTable::new(&of.caption, &of.heads, &words, behind);
    let (rows, more) = of.shown();
    for (n, row) in rows.iter().enumerate() {
        let [head, cells @ ..] = row.as_slice() else { continue };
        table.begin(&head.text);
        cells.iter().for_each(|cell| table.cell(&style(cell), &inside(cell)));
        links.get(n).into_iter().for_each(|links| table.cell("", links));
        table.end();
    }
    let more = more.map_or_else(String::new, |more| format!("<p class=\"note\">{}</p>\n", with_code(&more)));
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
    let is_strong = cell.is_strong && cell.mood == Mood::Plain;
    let text = if is_strong { format!("<strong>{text}</strong>") } else { text };
    let class = class(cell.mood);
    let text = match (class, text.split_once(' ')) {
        ("", _) => text,
        // A mark before the word is not read aloud.
        (_, Some((mark, word))) if class.starts_with("verdict") => {
            format!("<span class=\"{class}\"><span aria-hidden=\"true\">{mark}</span> {word}</span>")
        }
        _ => format!("<span class=\"{class}\"{}>{text}</span>", hidden(cell.mood)),
    };
    let kind = cell.kind.map_or_else(String::new, badge);
    let between = if text.is_empty() || kind.is_empty() { "" } else { " " };
    let below = with_code(&cell.below);
    let low = if cell.mood == Mood::Bad { " class=\"low\"" } else { "" };
    match (cell.is_words, below.is_empty()) {
        (true, true) => format!("<span class=\"text\">{text}</span>"),
        (true, false) => {
            format!("<span class=\"text\">{text}</span><span class=\"text note\">{below}</span>")
        }
        (false, true) => format!("{text}{between}{kind}"),
        (false, false) => format!("{text}{between}{kind}<small{low}>{below}</small>"),
    }
}

fn class(mood: Mood) -> &'static str {
    match mood {
        Mood::Plain => "",
        Mood::Bad => "low",
        Mood::Good => "verdict v-good",
        Mood::Doubtful => "verdict v-doubtful",
        Mood::Unknown => "verdict v-unknown",
        Mood::Bars => "bars",
    }
}

/// Bars are meaningless to a screen reader; the range beside them is not.
fn hidden(mood: Mood) -> &'static str {
    if mood == Mood::Bars { " aria-hidden=\"true\"" } else { "" }
}

/// Words between backticks are a command.
pub(super) fn with_code(words: &str) -> String {
    let escaped = escape(words);
    let parts: Vec<&str> = escaped.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let part = |(n, part): (usize, &&str)| match n % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(part).collect()
}
