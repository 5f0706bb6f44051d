//! A report before it has a form: headings, sentences, tables and pictures in order of reading. A subject makes one document, and
//! every output draws any document: `html::document`, `markdown::document`, `xlsx::document`.

use crate::answer::Tile;
use crate::colour::Scale;
use crate::surface::{Quantity, SurfaceCell};
use crate::svg::{self, Picture, number_equal_slugs};
use crate::{Machine, Mapped, units};
use fathom_record::imported::units as recorded;
use std::borrow::Cow;

/// What a subject has to say, most important first.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// Where, when, how much: one line below the title.
    pub lead: String,
    /// The rest.
    pub parts: Vec<Part>,
}

/// One part of a document.
#[derive(Clone, Debug)]
pub enum Part {
    /// A heading of level 2 or 3; the title is level 1.
    Heading(u8, String),
    /// A paragraph.
    Text(Tone, String),
    /// A list of sentences.
    List(Vec<String>),
    /// The main figures.
    Tiles(Vec<Tile>),
    /// A table.
    Table(Table),
    /// A picture with its caption.
    Picture(Box<Figure>),
    /// Throughput, or a ratio, over file and record size.
    Surface(Box<SurfaceFigure>),
    /// Details, folded where the output can fold.
    Details(String, Vec<Part>),
}

/// How a paragraph is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// What was found.
    Plain,
    /// How it was found.
    Note,
    /// What went wrong.
    Trouble,
    /// Whose figures follow.
    Label,
}

/// A picture in a document.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The drawing.
    pub picture: Picture,
    /// The line below it; may be empty.
    pub caption: String,
    /// The same as lines of text, where pictures cannot be shown.
    pub drawing: Vec<String>,
}

/// A surface in a document.
#[derive(Clone, Debug)]
pub struct SurfaceFigure {
    /// The surface.
    pub mapped: Mapped,
    /// The machine it was measured on.
    pub machine: Machine,
    /// The colours, which several surfaces may share.
    pub scale: Scale,
    /// The line below it; may be empty.
    pub caption: String,
}

impl SurfaceFigure {
    /// The surface drawn in two ways, as far as it can be.
    fn pictures(&self) -> impl Iterator<Item = Picture> {
        let drawn = [
            svg::surface(&self.mapped, &self.machine, &self.scale),
            svg::heat_map(&self.mapped, &self.machine, &self.scale),
        ];
        drawn.into_iter().flatten()
    }

    /// Its figures, where pictures cannot be shown.
    #[must_use]
    pub fn table(&self) -> Table {
        let surface = &self.mapped.surface;
        let is_ratio = surface.quantity == Quantity::Ratio;
        let mut table = Table::new(format!("{}: file size by record size", surface.title), &["File size"]);
        table.heads.extend(surface.record_bytes.iter().map(|bytes| units::bytes(*bytes)));
        let cell = |cell: &Option<SurfaceCell>| match cell {
            None => Cell::figure("–"),
            Some(cell) if is_ratio => Cell::figure(units::ratio(cell.value)).of(Some(cell.value), ""),
            Some(cell) => Cell::figure(units::rate(cell.value)).of(Some(cell.value), recorded::BYTES_PER_S),
        };
        for (bytes, row) in surface.file_bytes.iter().zip(&surface.cells) {
            let head = Cell::words(units::bytes(*bytes));
            table.rows.push(std::iter::once(head).chain(row.iter().map(cell)).collect());
        }
        table
    }
}

/// A table. The first cell of a row names the row.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What the rows are.
    pub caption: String,
    /// A name for each column.
    pub heads: Vec<String>,
    /// As many cells in each row.
    pub rows: Vec<Vec<Cell>>,
    /// Most rows that are shown where somebody reads them; a workbook has all.
    pub most_shown: Option<usize>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// As it is shown.
    pub text: String,
    /// Its number and unit, for outputs that calculate; the unit may be empty.
    pub value: Option<(f64, String)>,
    /// Whether it is text to read from the left, instead of a figure.
    pub is_words: bool,
    /// Whether it stands out.
    pub is_strong: bool,
    /// How dark its background is, from 0 to 1.
    pub shade: f64,
}

impl Cell {
    /// A figure.
    pub fn figure(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Words.
    pub fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_words: true, ..Self::default() }
    }

    /// The same with its number.
    #[must_use]
    pub fn of(mut self, value: Option<f64>, unit: &str) -> Self {
        self.value = value.map(|value| (value, unit.to_owned()));
        self
    }

    /// The same, standing out if `strong`.
    #[must_use]
    pub fn strong_if(mut self, strong: bool) -> Self {
        self.is_strong = strong;
        self
    }
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(caption: impl Into<String>, heads: &[&str]) -> Self {
        Self {
            caption: caption.into(),
            heads: heads.iter().map(|head| (*head).into()).collect(),
            ..Self::default()
        }
    }

    /// The rows that are shown, and a sentence about the others.
    pub(crate) fn shown(&self) -> (&[Vec<Cell>], Option<String>) {
        let all = self.rows.len();
        match self.most_shown.filter(|most| *most < all) {
            Some(most) => {
                (&self.rows[..most], Some(format!("{} more rows: `-o FILE.xlsx` has all {all}.", all - most)))
            }
            None => (&self.rows, None),
        }
    }

    /// Adds a row of words.
    pub fn words<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Cell::words).collect());
    }
}

impl Document {
    /// A document without parts.
    pub fn new(title: impl Into<String>, lead: impl Into<String>) -> Self {
        Self { title: title.into(), lead: lead.into(), parts: Vec::new() }
    }

    /// Adds a heading.
    pub fn heading(&mut self, level: u8, words: impl Into<String>) {
        self.parts.push(Part::Heading(level, words.into()));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, tone: Tone, words: impl Into<String>) {
        self.parts.push(Part::Text(tone, words.into()));
    }

    /// Adds a list, unless it is empty.
    pub fn list(&mut self, items: Vec<String>) {
        if !items.is_empty() {
            self.parts.push(Part::List(items));
        }
    }

    /// Adds the main figures, unless there are none.
    pub fn tiles(&mut self, tiles: Vec<Tile>) {
        if !tiles.is_empty() {
            self.parts.push(Part::Tiles(tiles));
        }
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.parts.push(Part::Table(table));
        }
    }

    /// Adds a picture.
    pub fn picture(&mut self, picture: Picture, caption: impl Into<String>, drawing: Vec<String>) {
        let caption = caption.into();
        self.parts.push(Part::Picture(Box::new(Figure { picture, caption, drawing })));
    }

    /// Adds what `write` adds, as details.
    pub fn details(&mut self, summary: impl Into<String>, write: impl FnOnce(&mut Self)) {
        let before = std::mem::take(&mut self.parts);
        write(self);
        let parts = std::mem::replace(&mut self.parts, before);
        if !parts.is_empty() {
            self.parts.push(Part::Details(summary.into(), parts));
        }
    }

    /// All tables with the headings above them, those in details too; a surface is a table of its figures.
    pub(crate) fn tables(&self) -> Vec<(String, Cow<'_, Table>)> {
        let mut headings: Vec<(u8, &str)> = Vec::new();
        let mut tables = Vec::new();
        for part in flat(&self.parts) {
            let table = match part {
                Part::Table(table) => Cow::Borrowed(table),
                Part::Surface(surface) => Cow::Owned(surface.table()),
                _ => {
                    if let Some(level) = level(part) {
                        headings.retain(|(above, _)| *above < level);
                        headings.push((level, words(part)));
                    }
                    continue;
                }
            };
            let above: Vec<&str> = headings.iter().map(|(_, words)| *words).collect();
            tables.push((above.join(", "), table));
        }
        tables
    }

    /// All pictures, with unique names for files; the pictures of a side carry its name.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture> {
        let mut all: Vec<Picture> = Vec::new();
        let mut side = None;
        for part in flat(&self.parts) {
            match part {
                Part::Heading(..) => side = None,
                Part::Text(Tone::Label, words) => side = Some(words),
                Part::Picture(figure) => all.push(figure.picture.clone()),
                Part::Surface(surface) => all.extend(surface.pictures().map(|picture| match side {
                    Some(side) => picture.of_side(side),
                    None => picture,
                })),
                _ => {}
            }
        }
        number_equal_slugs(&mut all);
        all
    }
}

/// The level of a heading; a label is below all of them.
fn level(part: &Part) -> Option<u8> {
    match part {
        Part::Heading(level, _) => Some(*level),
        Part::Text(Tone::Label, _) => Some(u8::MAX),
        _ => None,
    }
}

/// The words of a heading or a label.
fn words(part: &Part) -> &str {
    match part {
        Part::Heading(_, words) | Part::Text(_, words) => words,
        _ => "",
    }
}

/// The parts that an output shows, without the headings and labels that would have nothing below.
pub(crate) fn shown<'p>(parts: &[&'p Part], is_shown: impl Fn(&Part) -> bool) -> Vec<&'p Part> {
    let has_some_below = |at: usize, own: u8| {
        let below = parts[at + 1..].iter().take_while(|part| level(part).is_none_or(|next| next > own));
        { below }.any(|part| level(part).is_none() && is_shown(part))
    };
    let stays = |(at, part): &(usize, &&Part)| match level(part) {
        Some(own) => has_some_below(*at, own),
        None => is_shown(part),
    };
    parts.iter().enumerate().filter(stays).map(|(_, part)| *part).collect()
}

/// The parts, with those of details in their place.
pub(crate) fn flat(parts: &[Part]) -> Vec<&Part> {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Part::Details(_, inner) => all.extend(flat(inner)),
            other => all.push(other),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_without_anything_below_are_left_out() {
        let mut out = Document::default();
        out.heading(2, "a");
        out.heading(3, "b");
        out.list(vec!["item".into()]);
        out.heading(3, "c");
        out.heading(2, "d");
        out.text(Tone::Note, "note");
        out.heading(2, "e");
        out.text(Tone::Label, "side");
        let headings = |is_shown: fn(&Part) -> bool| {
            let heading =
                |part: &&Part| if let Part::Heading(_, words) = part { Some(words.clone()) } else { None };
            shown(&flat(&out.parts), is_shown).iter().filter_map(heading).collect::<Vec<_>>().concat()
        };
        assert_eq!(headings(|_| true), "abd");
        assert_eq!(headings(|part| matches!(part, Part::Text(..))), "d");
    }
}
