//! A report before it has a form: headings, sentences, tables and pictures in order of reading. A subject makes one document, and
//! every output draws any document: `html::document`, `markdown::document`, `xlsx::document`.

use crate::answer::Tile;
use crate::colour::Scale;
use crate::svg::{self, Picture, number_equal_slugs};
use crate::{Machine, Mapped};

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
            rows: Vec::new(),
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

    /// All tables, those in details too.
    #[must_use]
    pub fn tables(&self) -> Vec<&Table> {
        let all = flat(&self.parts).into_iter();
        all.filter_map(|part| if let Part::Table(table) = part { Some(table) } else { None }).collect()
    }

    /// All pictures, with unique names for files.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture> {
        let mut all: Vec<Picture> = flat(&self.parts).into_iter().flat_map(drawn).collect();
        number_equal_slugs(&mut all);
        all
    }
}

fn drawn(part: &Part) -> Vec<Picture> {
    match part {
        Part::Picture(figure) => vec![figure.picture.clone()],
        Part::Surface(surface) => surface.pictures().collect(),
        _ => Vec::new(),
    }
}

/// The parts of an output that shows only some of them, without the headings that would have nothing below.
pub(crate) fn shown(parts: &[Part], is_shown: impl Fn(&Part) -> bool) -> Vec<&Part> {
    let has_some_below = |at: usize, level: u8| {
        let below = parts[at + 1..].iter();
        let mut below = below.take_while(|part| !matches!(part, Part::Heading(next, _) if *next <= level));
        below.any(|part| !matches!(part, Part::Heading(..)) && is_shown(part))
    };
    let stays = |(at, part): &(usize, &Part)| match part {
        Part::Heading(level, _) => has_some_below(*at, *level),
        other => is_shown(other),
    };
    parts.iter().enumerate().filter(stays).map(|(_, part)| part).collect()
}

/// The parts, with those of details in their place.
fn flat(parts: &[Part]) -> Vec<&Part> {
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
        let headings = |is_shown: fn(&Part) -> bool| {
            let heading =
                |part: &&Part| if let Part::Heading(_, words) = part { Some(words.clone()) } else { None };
            shown(&out.parts, is_shown).iter().filter_map(heading).collect::<Vec<_>>().concat()
        };
        assert_eq!(headings(|_| true), "abd");
        assert_eq!(headings(|part| matches!(part, Part::Text(..))), "d");
    }
}
