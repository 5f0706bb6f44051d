//! Any document as Markdown: `documents` makes them; `ticket` is shorter, for an issue or a pull request.

use super::escape;
use crate::document::{Cell, Document, Part, Table, Tone, shown};
use crate::svg;
use std::fmt::Write as _;

/// The whole document.
#[must_use]
pub fn document(document: &Document) -> String {
    let mut out = format!("## {}\n\n", escape(&document.title));
    if !document.lead.is_empty() {
        let _ = writeln!(out, "{}\n", escape(&document.lead));
    }
    write_all(&mut out, &document.parts);
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// Pictures only if they can be made of letters. Lines for a terminal are too many; `fathom show --block` prints them.
fn is_shown(part: &Part) -> bool {
    match part {
        Part::Picture(figure) => !figure.drawing.is_empty(),
        Part::Pictures(..) | Part::Lines(..) | Part::Targets(_) => false,
        Part::Details(_, parts) => parts.iter().any(is_shown),
        _ => true,
    }
}

fn write_all(out: &mut String, parts: &[Part]) {
    shown(&parts.iter().collect::<Vec<_>>(), is_shown).into_iter().for_each(|part| write(out, part));
}

fn write(out: &mut String, part: &Part) {
    match part {
        Part::Heading(level, words) => {
            let _ = writeln!(out, "{} {}\n", "#".repeat(usize::from(*level) + 1), escape(words));
        }
        Part::Text(Tone::Trouble, words) => {
            let _ = writeln!(out, "> **{}**\n", escape(words));
        }
        Part::Text(Tone::Label, words) => {
            let _ = writeln!(out, "**{}**\n", escape(words));
        }
        Part::Text(Tone::Plain | Tone::Note, words) => {
            let _ = writeln!(out, "{}\n", escape(words));
        }
        Part::List(items) => {
            for item in items {
                let _ = writeln!(out, "- {}", escape(item));
            }
            out.push('\n');
        }
        Part::Tiles(tiles) => {
            for tile in tiles {
                let beside = if tile.beside.is_empty() { "" } else { ", " };
                let _ = writeln!(
                    out,
                    "- **{}** {}{beside}{}",
                    escape(&tile.figure),
                    escape(&tile.what),
                    escape(&tile.beside)
                );
            }
            out.push('\n');
        }
        Part::Cards(cards) => {
            for (figure, words) in cards {
                let _ = writeln!(out, "- **{}** {}", escape(figure), escape(words));
            }
            out.push('\n');
        }
        Part::Table(of) => table(out, of),
        Part::Surface(surface) => table(out, &surface.table()),
        Part::Pictures(..) | Part::Lines(..) | Part::Targets(_) => {}
        Part::Picture(figure) => {
            let _ = writeln!(out, "```text\n{}\n```\n", figure.drawing.join("\n"));
        }
        Part::Details(summary, parts) => {
            let _ = writeln!(out, "<details><summary>{}</summary>\n", svg::escape(summary));
            match parts.as_slice() {
                [Part::Table(of)] if of.caption == *summary => rows(out, of),
                parts => write_all(out, parts),
            }
            out.push_str("</details>\n\n");
        }
    }
}

fn table(out: &mut String, of: &Table) {
    let _ = writeln!(out, "{}:\n", escape(&of.caption));
    rows(out, of);
}

/// A table without its caption; figures stand at the right.
fn rows(out: &mut String, of: &Table) {
    let heads: Vec<String> = of.heads.iter().map(|head| escape(head)).collect();
    let line = |column: usize| if column == 0 || of.is_words(column) { "---" } else { "---:" };
    let lines: Vec<&str> = (0..heads.len()).map(line).collect();
    let _ = writeln!(out, "| {} |\n|{}|", heads.join(" | "), lines.join("|"));
    let cell = |cell: &Cell| {
        let text = escape(&cell.in_one_line());
        if cell.is_strong { format!("**{text}**") } else { text }
    };
    let (rows, more) = of.shown();
    for row in rows {
        let _ = writeln!(out, "| {} |", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    out.push('\n');
    if let Some(more) = more {
        let _ = writeln!(out, "{}\n", escape(&more));
    }
}
