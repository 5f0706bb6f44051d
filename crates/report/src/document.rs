//! A report before it has a form: headings, sentences, tables and pictures in order of reading. A subject makes one document, and
//! every output draws any document: `html::document`, `markdown::document`, `xlsx::document`.

use crate::answer::Tile;
use crate::colour::Scale;
use crate::section::{full_title, title};
use crate::surface::{Quantity, SurfaceCell};
use crate::svg::{self, Picture, number_equal_slugs};
use crate::{Kind, Machine, Mapped, units};
use fathom_record::Phase;
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
    /// A heading of level 2 to 4; the title is level 1.
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
    /// Pictures beside each other, where there is room, below a note about them that may be empty.
    Pictures(String, Vec<Figure>),
    /// Small figures, each with what it is.
    Cards(Vec<(String, String)>),
    /// Lines for a terminal, with a name; folded where the output can fold.
    Lines(String, Vec<String>),
    /// What follows is the target of links.
    Targets(Vec<Target>),
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

/// A link from a main figure to its details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    /// The surface it is a median of.
    Surface,
    /// Percentiles of its operations.
    Distribution,
    /// Its course over time.
    OverTime,
    /// Requested bytes beside bytes moved.
    Device,
    /// The requests of the phase, if watched.
    Requests,
    /// Where it was measured.
    Environment,
    /// Its JSON.
    Raw,
}

/// The figures that a link leads from.
#[derive(Clone, Debug)]
pub struct Target {
    /// What is here.
    pub link: Link,
    /// Of this run.
    pub run: String,
    /// The title of the figure; empty for all of the run.
    pub title: String,
}

impl Target {
    /// For the figure of this title.
    #[must_use]
    pub fn figure(link: Link, run: &str, title: &str) -> Self {
        Self { link, run: run.into(), title: title.into() }
    }

    /// For all figures of a run.
    #[must_use]
    pub fn whole(link: Link, run: &str) -> Self {
        Self::figure(link, run, "")
    }

    /// For the figure of a phase, or of the surface that it is a cell of.
    #[must_use]
    pub fn phase(link: Link, run: &str, phase: &Phase) -> Vec<Self> {
        let full = full_title(phase);
        let failed = format!("{full} (failed part way)");
        // A phase that could be a cell: only surfaces have figures of this name.
        let is_cell = phase.axes.file_bytes.is_some() && phase.axes.record_bytes.is_some();
        let of_surface = is_cell.then(|| title(phase));
        [full, failed].into_iter().chain(of_surface).map(|title| Self::figure(link, run, &title)).collect()
    }
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
    /// The figures that lead here.
    pub targets: Vec<Target>,
    /// Whether it needs the width of the page.
    pub is_wide: bool,
}

impl Figure {
    /// A picture for outputs that can show it.
    #[must_use]
    pub fn new(picture: Picture, caption: impl Into<String>) -> Self {
        Self { picture, caption: caption.into(), drawing: Vec::new(), targets: Vec::new(), is_wide: false }
    }
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
        let what = if is_ratio { "ratio" } else { "throughput" };
        let caption = format!("{}: {what}, file size by record size", surface.title);
        let mut table = Table::new(caption, &["File size"]);
        table.heads.extend(surface.record_bytes.iter().map(|bytes| units::bytes(*bytes)));
        table.heads.extend((!is_ratio).then(|| "Served by".to_owned()));
        let cell = |cell: &Option<SurfaceCell>| match cell {
            None => Cell::figure("–"),
            Some(cell) if is_ratio => Cell::figure(units::ratio(cell.value)).of(Some(cell.value), ""),
            Some(cell) => Cell::figure(units::rate(cell.value)).of(Some(cell.value), recorded::BYTES_PER_S),
        };
        for (n, (bytes, row)) in surface.file_bytes.iter().zip(&surface.cells).enumerate() {
            let served = || self.mapped.band_of(n).map_or_else(Cell::default, |band| Cell::served(band.kind));
            let head = Cell::words(units::bytes(*bytes));
            let cells = std::iter::once(head).chain(row.iter().map(cell));
            table.rows.push(cells.chain((!is_ratio).then(served)).collect());
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
    /// Maximum number of rows that are shown where somebody reads them; a workbook has all.
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
    /// What served the figure.
    pub kind: Option<Kind>,
    /// A smaller line below.
    pub below: String,
    /// How it is meant.
    pub mood: Mood,
}

/// How a cell is meant; the words say it, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// A figure or words like the others.
    #[default]
    Plain,
    /// Something that did not go as it should.
    Bad,
    /// A check that was passed.
    Good,
    /// A check that was not.
    Doubtful,
    /// A check that could not be made.
    Unknown,
    /// Bars drawn with letters.
    Bars,
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

    /// What served the figures of its row.
    pub fn served(kind: Kind) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// A figure, or a dash.
    pub fn or_dash(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(|| Self::figure("–"), Self::figure)
    }

    /// The same with a smaller line below.
    #[must_use]
    pub fn with_below(mut self, below: impl Into<String>) -> Self {
        self.below = below.into();
        self
    }

    /// The same, meant so.
    #[must_use]
    pub fn meant(mut self, mood: Mood) -> Self {
        self.mood = mood;
        self
    }

    /// All that it says: "312 MiB/s (device, 295 MiB/s to 332 MiB/s)".
    #[must_use]
    pub fn in_one_line(&self) -> String {
        let kind = self.kind.map_or("", Kind::words);
        let beside: Vec<&str> = [kind, &self.below].into_iter().filter(|words| !words.is_empty()).collect();
        match (self.text.as_str(), beside.join(", ").as_str()) {
            (text, "") => text.to_owned(),
            ("", beside) => beside.to_owned(),
            (text, beside) if self.is_words => format!("{text} {beside}"),
            (text, beside) => format!("{text} ({beside})"),
        }
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

    /// Whether a column is words, to be read from the left.
    pub(crate) fn is_words(&self, column: usize) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.get(column).is_some_and(|cell| cell.is_words))
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

    /// Adds a row: its name and its figures.
    pub fn figures<T: Into<String>>(
        &mut self,
        head: impl Into<String>,
        figures: impl IntoIterator<Item = T>,
    ) {
        let figures = figures.into_iter().map(Cell::figure);
        self.rows.push(std::iter::once(Cell::words(head)).chain(figures).collect());
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
        self.parts.push(Part::Picture(Box::new(Figure { drawing, ..Figure::new(picture, caption) })));
    }

    /// Adds pictures beside each other, unless there are none.
    pub fn pictures_beside(&mut self, figures: Vec<Figure>) {
        if !figures.is_empty() {
            self.parts.push(Part::Pictures(String::new(), figures));
        }
    }

    /// Makes what follows the target of links.
    pub fn targets(&mut self, targets: Vec<Target>) {
        if !targets.is_empty() {
            self.parts.push(Part::Targets(targets));
        }
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
                Part::Pictures(_, figures) => all.extend(figures.iter().map(|figure| figure.picture.clone())),
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
        let mut contents = below.filter(|part| level(part).is_none() && !matches!(part, Part::Targets(_)));
        // Details belong to a heading only if nothing stands between them.
        match contents.next() {
            Some(details @ Part::Details(..)) => is_shown(details),
            Some(first) => {
                is_shown(first) || contents.any(|p| !matches!(p, Part::Details(..)) && is_shown(p))
            }
            None => false,
        }
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

    #[test]
    fn details_belong_to_the_heading_right_above() {
        let mut out = Document::default();
        let details = |out: &mut Document| out.details("more", |out| out.text(Tone::Plain, "words"));
        out.heading(2, "a");
        details(&mut out);
        out.heading(2, "b");
        out.parts.push(Part::Pictures(String::new(), Vec::new()));
        details(&mut out);
        let parts: Vec<&Part> = out.parts.iter().collect();
        let shown = shown(&parts, |part| !matches!(part, Part::Pictures(..)));
        let headings = shown.iter().filter(|part| matches!(part, Part::Heading(..)));
        assert_eq!((shown.len(), headings.count()), (3, 1));
    }

    #[test]
    fn a_cell_in_one_line_has_what_served_it_and_what_is_below() {
        let cell = Cell { text: "9 MiB/s".into(), ..Cell::served(Kind::Device) }.with_below("8 to 10 MiB/s");
        assert_eq!(cell.in_one_line(), "9 MiB/s (device, 8 to 10 MiB/s)");
        assert_eq!(Cell::served(Kind::Mixed).in_one_line(), "page cache and device");
        assert_eq!(Cell::words("Slow.").with_below("Turn it on.").in_one_line(), "Slow. Turn it on.");
        assert_eq!(Cell::figure("1").in_one_line(), "1");
    }
}
