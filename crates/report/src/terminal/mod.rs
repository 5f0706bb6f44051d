//! A run as one page of terminal text: headline, what is disk and what is memory, the main figures, block-layer activity,
//! trust, how phases ran, the first surface as a map, and the course of a phase as a sparkline. Fits 80 columns by 60 lines; no
//! line is ever wider than requested. The caller decides about colour; nothing is printed here.

mod block;
mod bottlenecks;
mod conduct;
mod one_line;
mod operations;
mod short;
mod survey;
mod trust;
mod why;

pub use bottlenecks::bottlenecks;
pub use one_line::one_line;
pub use short::short;
pub use why::answer;

use crate::{
    Mapped, Story,
    colour::Scale,
    latency,
    printable::clean,
    section::{brief, full_title},
    spark,
    surface::on_surfaces,
    svg::Course,
    units,
    writes::{Synced, WriteRow},
};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use fathom_record::doubt::STOOD_STILL;
use fathom_record::{Headline, Phase, Run};
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum number of lines on a page.
pub const LINES: usize = 60;
/// Minimum width for the layout; below it the lines are cut instead.
const NARROWEST: usize = 24;
/// Maximum number of rows in the table of figures before the rest is counted.
const MOST_FIGURES: usize = 14;
/// Maximum number of rows in the table of writes before the rest is counted.
const MOST_WRITES: usize = 6;
/// Maximum number of doubts shown; the page has all.
const MOST_DOUBTS: usize = 3;

/// Lays a run out for a terminal of `width` columns.
#[must_use]
pub fn summary(run: &Run, width: usize, colour: bool) -> String {
    let story = Story::of(run);
    let layout = width.max(NARROWEST);
    let mut page = TerminalPage { lines: Vec::new(), width, paint: Paint { on: colour } };
    if crate::survey::is_survey(run) {
        stood_still(&mut page, &story, layout);
        survey::summary(&mut page, run, &story, layout);
        return page.finish();
    }
    headline(&mut page, run, &story, layout);
    stood_still(&mut page, &story, layout);
    verdicts(&mut page, &story, layout);
    singles(&mut page, run, layout);
    operations::tables(&mut page, run, layout);
    three_figures(&mut page, run, layout);
    figures(&mut page, &story, layout);
    block::lines(&mut page, run, layout);
    trust::list(&mut page, run, layout);
    doubts(&mut page, &story, layout);
    conduct::parts(&mut page, run, layout);
    conduct::lines(&mut page, run, layout);
    map(&mut page, run, layout);
    sparklines(&mut page, run, layout);
    page.finish()
}

/// Lines under construction. Each keeps its uncoloured text, to enforce the width.
struct TerminalPage {
    lines: Vec<String>,
    width: usize,
    paint: Paint,
}

impl TerminalPage {
    /// A line of plain text in one style, cut to the width.
    fn line(&mut self, style: Style, text: &str) {
        let cut = cut(text, self.width);
        self.lines.push(self.paint.paint(style, cut.trim_end()));
    }

    /// A line of already coloured cells; the caller has enforced the width.
    fn painted(&mut self, line: String) {
        self.lines.push(line);
    }

    /// A paragraph, its first line prefixed with `first` and the others indented to match.
    fn paragraph(&mut self, style: Style, first: &str, text: &str, layout: usize) {
        let indent = " ".repeat(first.width());
        for (i, words) in wrapped(text, layout.saturating_sub(first.width()).max(8)).iter().enumerate() {
            let lead = if i == 0 { first } else { &indent };
            self.line(style, &format!("{lead}{words}"));
        }
    }

    /// An empty line and the table, with a dim head.
    fn table(&mut self, table: &Table) {
        self.line(Style::Plain, "");
        self.table_without_blank(table);
    }

    fn table_without_blank(&mut self, table: &Table) {
        for (i, line) in table.lines().enumerate() {
            self.line(if i == 0 { Style::Dim } else { Style::Plain }, &line);
        }
    }

    /// Frees lines for content that must not be left out: the text above is truncated, with a note.
    fn make_room(&mut self, lines: usize) {
        if self.room() < lines {
            self.lines.truncate(LINES.saturating_sub(lines + 1));
            self.line(Style::Dim, " ... and more on the page");
        }
    }

    fn room(&self) -> usize {
        LINES.saturating_sub(self.lines.len())
    }

    fn finish(mut self) -> String {
        self.lines.truncate(LINES);
        self.lines.join("\n") + "\n"
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    Bold,
    Dim,
    Warn,
    Bad,
}

#[derive(Clone, Copy)]
struct Paint {
    on: bool,
}

impl Paint {
    fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => "",
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Warn => "33",
            Style::Bad => "31",
        };
        if !self.on || code.is_empty() || text.is_empty() {
            text.to_string()
        } else {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        }
    }
}

fn headline(page: &mut TerminalPage, run: &Run, story: &Story, layout: usize) {
    page.line(Style::Bold, &clean(&format!("{} ({})", story.title, run.status.word())));
    for (term, words) in
        story.facts.iter().filter(|(t, _)| matches!(*t, "Directory" | "Storage" | "Machine" | "When"))
    {
        page.line(Style::Dim, &cut(&format!("{term:<10}{}", clean(words)), layout));
    }
    for trouble in story.trouble.iter().take(3) {
        page.paragraph(Style::Bad, "! ", &clean(trouble), layout);
    }
}

fn verdicts(page: &mut TerminalPage, story: &Story, layout: usize) {
    if !story.verdicts.is_empty() {
        page.line(Style::Plain, "");
    }
    for verdict in &story.verdicts {
        let style = if verdict.kind.is_some_and(crate::Kind::is_memory) { Style::Warn } else { Style::Plain };
        page.paragraph(style, "- ", &format!("{}: {}", verdict.mark, clean(&verdict.sentence)), layout);
    }
}

/// Shown before any figure, since the figures may be wrong.
fn stood_still(page: &mut TerminalPage, story: &Story, layout: usize) {
    for doubt in story.doubts.iter().filter(|d| d.code == STOOD_STILL) {
        for sentence in &doubt.sentences {
            page.paragraph(Style::Warn, "! ", &clean(sentence), layout);
        }
    }
}

fn doubts(page: &mut TerminalPage, story: &Story, layout: usize) {
    // The verdicts cover the cache, and the trouble above what ended the run: nothing is said twice.
    let is_shown = |code: &str| {
        code == "page-cache" || code == STOOD_STILL || (code == "interrupted" && !story.trouble.is_empty())
    };
    let doubts: Vec<_> = story.doubts.iter().filter(|d| !is_shown(&d.code)).collect();
    if !doubts.is_empty() {
        page.line(Style::Plain, "");
    }
    for (i, doubt) in doubts.iter().enumerate() {
        let left_out = match doubts.len() - i {
            1 => "? 1 more reason for doubt is on the page".to_string(),
            n => format!("? {n} more reasons for doubt are on the page"),
        };
        if i == MOST_DOUBTS {
            page.line(Style::Warn, &left_out);
            return;
        }
        let more = match doubt.sentences.len() {
            0 | 1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let first = doubt.sentences.first().map_or("", String::as_str);
        let text = format!("{}{more}", clean(first));
        // Half a sentence helps nobody; what does not fit is on the page.
        if wrapped(&text, layout.saturating_sub(2).max(8)).len() >= page.room() {
            page.line(Style::Warn, &left_out);
            return;
        }
        page.paragraph(Style::Warn, "? ", &text, layout);
    }
}

/// Tests that are not part of a surface: rate, operations, latency, and their source.
fn singles(page: &mut TerminalPage, run: &Run, layout: usize) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, singles) = on_surfaces(&phases);
    let timed: Vec<&Phase> = singles.into_iter().filter(|p| p.bytes_per_s().is_some()).collect();
    if timed.is_empty() {
        return;
    }
    let time = |ns: Option<u64>| ns.map_or("-".to_string(), |ns| units::time_ns(ns as f64));
    // Rates to the last write and rates to the fsync must not be confused within one column.
    let with_fsync = |p: &Phase| {
        WriteRow::of(p).is_some_and(|row| matches!(row.to_fsync, Synced::Rate(_)) && !row.fsync_untimed)
    };
    let shown = || timed.iter().take(MOST_FIGURES).filter(|p| p.writes);
    let mixed = shown().any(|p| with_fsync(p)) && shown().any(|p| !with_fsync(p));
    let mut table = plain_table(layout);
    table.set_header(["", "throughput", "per s", "p50", "p99", "served by"]);
    let names: Vec<String> = timed
        .iter()
        .take(MOST_FIGURES)
        .map(|p| {
            let mark = if mixed && with_fsync(p) { " +" } else { "" };
            let fsync = if latency::representative(p).1 { " *" } else { "" };
            format!("{}{fsync}{mark}", clean(&brief(p)))
        })
        .collect();
    let names = told_apart(&names, layout.saturating_sub(54).max(12));
    for (phase, name) in timed.iter().zip(names) {
        let latency = latency::representative(phase).0;
        table.add_row([
            name,
            match phase.headline() {
                Some(Headline::Bytes(rate)) => units::rate(rate),
                // No file data was moved or meant to be: the operations column has the figure.
                Some(Headline::Ops(_)) | None => "-".to_string(),
            },
            phase.ops_per_s().map_or("-".to_string(), |n| units::count(n.round() as u64)),
            time(latency.percentile_ns(50.0)),
            time(latency.percentile_ns(99.0)),
            crate::Kind::served(phase).to_string(),
        ]);
    }
    right_aligned(&mut table, 1..=4);
    page.table(&table);
    if timed.len() > MOST_FIGURES {
        page.line(Style::Dim, &format!(" ... and {} more", timed.len() - MOST_FIGURES));
    }
    if timed.iter().take(MOST_FIGURES).any(|p| latency::representative(p).1) {
        page.line(Style::Dim, " * latency of the fsync that follows each write");
    }
    if mixed {
        page.line(Style::Dim, " + rate to the return of the fsync; of other writes to the last write");
    }
}

/// The three figures of the write phases that are not part of a surface.
fn three_figures(page: &mut TerminalPage, run: &Run, layout: usize) {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, singles) = on_surfaces(&phases);
    let rows: Vec<(&Phase, WriteRow)> =
        singles.into_iter().filter_map(|p| Some((p, WriteRow::of(p)?))).collect();
    if rows.is_empty() {
        return;
    }
    let mut table = plain_table(layout);
    table.set_header(["writes", "to last write", "to fsync", "to close"]);
    let names: Vec<String> = rows.iter().take(MOST_WRITES).map(|(p, _)| clean(&brief(p))).collect();
    let names = told_apart(&names, layout.saturating_sub(46).max(12));
    for ((_, row), name) in rows.iter().zip(names) {
        table.add_row([name, units::rate(row.to_last), row.to_fsync.words(), row.close_words()]);
    }
    right_aligned(&mut table, 1..=3);
    page.table(&table);
    if rows.len() > MOST_WRITES {
        page.line(Style::Dim, &format!(" ... and {} more", rows.len() - MOST_WRITES));
    }
}

/// Names of rows, cut to the available width. If the cut would make some equal, their common prefix is dropped first, word by word.
fn told_apart(names: &[String], room: usize) -> Vec<String> {
    let shortened = |from: usize| -> Vec<String> {
        let lead = if from > 0 { "…" } else { "" };
        names.iter().map(|n| cut(&format!("{lead}{}", &n[from..]), room)).collect()
    };
    let whole = shortened(0);
    // Names that are equal before cutting cannot be distinguished by any cut.
    let alike =
        |cut: &[String]| (1..names.len()).any(|i| (0..i).any(|k| cut[i] == cut[k] && names[i] != names[k]));
    let Some(first) = names.first().filter(|_| alike(&whole)) else { return whole };
    let shared = names.iter().fold(first.len(), |shared, name| {
        let same = first.char_indices().zip(name.chars()).find(|((_, a), b)| a != b);
        shared.min(same.map_or(first.len().min(name.len()), |((at, _), _)| at))
    });
    // Drops whole words only; a name must not vanish.
    first[..shared].rfind(' ').map_or(whole, |at| shortened(at + 1))
}

fn plain_table(layout: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(layout).unwrap_or(u16::MAX));
    table
}

fn right_aligned(table: &mut Table, columns: std::ops::RangeInclusive<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// One row per surface, one column per regime: a number is in the column of its source. It is that of the largest file with
/// this source, because a median over a grid depends on the grid.
fn figures(page: &mut TerminalPage, story: &Story, layout: usize) {
    let rows: Vec<_> = story.figures.iter().filter(|f| !f.single).collect();
    let kinds: Vec<_> =
        story.kinds().into_iter().filter(|k| rows.iter().any(|f| f.by_kind.contains_key(k))).collect();
    if kinds.is_empty() {
        return;
    }
    let mut table = plain_table(layout);
    let mut head = vec!["largest file".to_string()];
    head.extend(kinds.iter().map(|k| k.words().to_string()));
    table.set_header(head);
    for figure in rows.iter().take(MOST_FIGURES) {
        // A name that wraps would cost lines that the page does not have.
        let mut row = vec![cut(&clean(&figure.title), layout.saturating_sub(14 * kinds.len() + 2).max(12))];
        row.extend(
            kinds.iter().map(|k| figure.quoted.get(k).map_or("-".to_string(), |rate| units::rate(*rate))),
        );
        table.add_row(row);
    }
    right_aligned(&mut table, 1..=kinds.len());
    page.table(&table);
    if rows.len() > MOST_FIGURES {
        page.line(Style::Dim, &format!(" ... and {} more", rows.len() - MOST_FIGURES));
    }
}

/// The surface to show: plain reads are the most informative about caches.
fn chosen(mapped: &[Mapped]) -> Option<&Mapped> {
    mapped
        .iter()
        .find(|m| m.surface.title == "read")
        .or_else(|| mapped.iter().max_by_key(|m| m.surface.measured().count()))
}

fn map(page: &mut TerminalPage, run: &Run, layout: usize) {
    const LABEL: usize = 7;
    /// Width of two blanks and "P page cache and device".
    const REGIME: usize = 25;
    let all = Mapped::of_run(run);
    let Some(mapped) = chosen(&all) else { return };
    let Some(scale) = Scale::of(&mapped.surface) else { return };
    let surface = &mapped.surface;
    let columns = surface.record_bytes.len();
    let with_regime = layout >= LABEL + REGIME + columns * 2;
    let free = layout.saturating_sub(LABEL + if with_regime { REGIME } else { 0 });
    let cell = (free / columns).min(5);
    let rows_per_line = if page.paint.on { 2 } else { 1 };
    let height = surface.file_bytes.len().div_ceil(rows_per_line) + 3;
    if cell == 0 || height > page.room() || page.width < layout {
        return;
    }
    page.line(Style::Plain, "");
    let ramp = if page.paint.on { "dark" } else { "." };
    let top = if page.paint.on { "bright" } else { "@" };
    page.line(
        Style::Bold,
        &format!(
            "{}, file by record size: {ramp} {} to {top} {}",
            clean(&surface.title),
            units::rate(scale.low),
            units::rate(scale.high)
        ),
    );
    page.line(Style::Dim, &format!("{:LABEL$}{}", "", record_heads(&surface.record_bytes, cell)));
    for row in (0..surface.file_bytes.len()).step_by(rows_per_line) {
        let label = format!("{:>5}  ", units::bytes_short(surface.file_bytes[row]));
        let cells = if page.paint.on {
            half_blocks(mapped, &scale, row, cell)
        } else {
            ramped(mapped, &scale, row, cell)
        };
        let regime = if with_regime { regime_beside(mapped, row, rows_per_line) } else { String::new() };
        page.painted(format!("{label}{cells}{regime}").trim_end().to_string());
    }
}

/// Names the regime beside the line where it begins.
fn regime_beside(mapped: &Mapped, row: usize, rows: usize) -> String {
    let begins = |i: usize| mapped.bands.iter().find(|b| b.rows.start == i);
    (row..row + rows)
        .rev()
        .find_map(begins)
        .map_or(String::new(), |b| format!("  {} {}", b.kind.letter(), b.kind.words()))
}

/// Record sizes over their columns; as many as fit.
fn record_heads(sizes: &[u64], cell: usize) -> String {
    let every = 5usize.div_ceil(cell.max(1));
    let mut line = String::new();
    for (i, size) in sizes.iter().enumerate().step_by(every) {
        let label = units::bytes_short(*size);
        let room = if i + every <= sizes.len() { every * cell } else { (sizes.len() - i) * cell };
        if label.len() <= room {
            let _ = write!(line, "{label:<room$}");
        }
    }
    line
}

/// Two rows per line: the upper half block in the first row's colour on the second row's. A gap keeps the terminal's background.
fn half_blocks(mapped: &Mapped, scale: &Scale, row: usize, cell: usize) -> String {
    let mut out = String::new();
    for column in 0..mapped.surface.record_bytes.len() {
        let colour = |i: usize| {
            let value = mapped.surface.cells.get(i)?[column].as_ref()?.value;
            Some(scale.colour(value))
        };
        let _ = match (colour(row), colour(row + 1)) {
            (Some(a), Some(b)) => {
                let blocks = "▀".repeat(cell);
                write!(
                    out,
                    "\u{1b}[38;2;{};{};{};48;2;{};{};{}m{blocks}\u{1b}[0m",
                    a[0], a[1], a[2], b[0], b[1], b[2]
                )
            }
            (Some(a), None) => {
                write!(out, "\u{1b}[38;2;{};{};{}m{}\u{1b}[0m", a[0], a[1], a[2], "▀".repeat(cell))
            }
            (None, Some(b)) => {
                write!(out, "\u{1b}[38;2;{};{};{}m{}\u{1b}[0m", b[0], b[1], b[2], "▄".repeat(cell))
            }
            (None, None) => write!(out, "{:cell$}", ""),
        };
    }
    out
}

/// Without colour: darker is faster, a blank is a gap.
fn ramped(mapped: &Mapped, scale: &Scale, row: usize, cell: usize) -> String {
    const RAMP: [char; 9] = ['.', ':', '-', '=', '+', '*', '#', '%', '@'];
    let glyph = |value: f64| RAMP[(scale.position(value) * (RAMP.len() - 1) as f64).round() as usize];
    let cells = mapped.surface.cells[row].iter();
    cells.map(|c| c.as_ref().map_or(' ', |c| glyph(c.value)).to_string().repeat(cell)).collect()
}

/// The course of the phases with intervals, as many as fit.
fn sparklines(page: &mut TerminalPage, run: &Run, layout: usize) {
    let mut first = true;
    for phase in &run.phases {
        let Some(course) = Course::of(phase) else { continue };
        let rates = &course.points;
        let highest = rates.iter().map(|r| r.1).fold(0.0, f64::max);
        if highest <= 0.0 || page.room() < if first { 3 } else { 1 } {
            continue;
        }
        if first {
            page.line(Style::Plain, "");
            page.line(Style::Bold, "over time (bar height from zero)");
            first = false;
        }
        let figures: Vec<f64> = rates.iter().map(|r| r.1).collect();
        let bars = spark::bars_in(&figures, (layout / 3).max(8));
        page.line(
            Style::Plain,
            &format!("{bars}  max {}  {}", course.unit.words(highest), clean(&full_title(phase))),
        );
    }
}

/// Cuts to a display width, marking the cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > width {
            break;
        }
        out.push(c);
        used += w;
    }
    if used < width {
        out.push('…');
    }
    out
}

/// Breaks at spaces; a word that is too long is cut later with its line.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn plain(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('\u{1b}') {
            out.push_str(&rest[..start]);
            rest = &rest[start + rest[start..].find('m').expect("a code ends with m") + 1..];
        }
        out + rest
    }

    fn runs() -> Vec<Run> {
        vec![
            samples::auto_run(),
            samples::throughput_run(),
            samples::survey_run(),
            samples::interrupted_run(),
            samples::hostile_run(),
            samples::synced_run(),
            samples::mixed_run(),
            samples::engine_run(),
            samples::filebench_run(),
            samples::sysbench_run(),
            samples::observed_run(),
            samples::lossy_run(),
            Run { trust: samples::trust_list(), ..samples::survey_run() },
            Run::default(),
        ]
    }

    #[test]
    fn no_line_is_wider_than_asked_and_a_page_fits() {
        for run in runs() {
            for width in [1, 10, 20, 24, 40, 60, 80, 81, 120, 200] {
                for colour in [false, true] {
                    let text = plain(&summary(&run, width, colour));
                    assert!(text.lines().count() <= LINES, "{} lines", text.lines().count());
                    for line in text.lines() {
                        assert!(line.width() <= width, "{width}: {} columns: {line}", line.width());
                    }
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn a_cut_text_is_never_wider(text in "\\PC*", width in 0usize..40) {
            proptest::prop_assert!(cut(&text, width).width() <= width);
        }
    }

    #[test]
    fn writes_show_where_their_fsync_leaves_them() {
        let text = summary(&samples::synced_run(), 80, false);
        let line = |name: &str| {
            let mut lines = text.lines().skip_while(|l| !l.starts_with(" writes")).skip(1);
            let found = lines.find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
            found.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line(" write x1"), "write x1 128 MiB/s 64.0 MiB/s 64.0 MiB/s");
        assert_eq!(line(" write without"), "write without fsync x1 128 MiB/s no fsync 128 MiB/s");
        assert!(line(" O_SYNC").contains("while writing"));
    }

    #[test]
    fn rates_with_and_without_their_fsync_are_marked() {
        let mut run = samples::synced_run();
        let row = |text: &str, name: &str| {
            let found = text.lines().find(|l| l.trim_start().starts_with(name));
            found.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
        };
        let text = summary(&run, 100, false);
        assert!(!text.contains(" + "), "one kind of rate: {text}");
        run.phases[0].sync_in_clock = true;
        let text = summary(&run, 100, false);
        assert!(row(&text, "write x1").contains("write x1 +"), "{text}");
        assert!(!row(&text, "write without").contains('+'), "{text}");
        assert!(
            text.contains(" + rate to the return of the fsync; of other writes to the last write"),
            "{text}"
        );
    }

    #[test]
    fn an_error_is_printed_once() {
        let mut run = samples::throughput_run();
        run.status = fathom_record::Status::Failed;
        samples::fail(&mut run.phases[8], "reading x failed");
        run.error = Some("reading x failed (after 7 operations)".into());
        let sentence = "The run could not be completed: reading x failed (after 7 operations).".to_string();
        run.doubts = vec![fathom_record::Doubt { code: "interrupted".into(), phases: vec![8], sentence }];
        let text = summary(&run, 120, false);
        assert_eq!(text.matches("reading x failed").count(), 1, "{text}");
        let row = text.lines().find(|l| l.starts_with(" read x3")).expect("its row");
        assert!(row.trim_end().ends_with("failed"), "{row}");
    }

    #[test]
    fn without_colour_there_is_no_escape_code() {
        for run in runs() {
            assert!(!summary(&run, 80, false).contains('\u{1b}'));
        }
    }

    #[test]
    fn with_and_without_colour_say_the_same_figures() {
        let run = samples::auto_run();
        let (a, b) = (summary(&run, 80, false), plain(&summary(&run, 80, true)));
        let table = |s: &str| {
            s.lines().filter(|l| l.starts_with(" random read")).map(str::to_string).collect::<Vec<_>>()
        };
        assert_eq!(table(&a), table(&b));
        assert!(!table(&a).is_empty(), "{a}");
    }

    fn names(names: &[&str], room: usize) -> Vec<String> {
        told_apart(&names.iter().map(ToString::to_string).collect::<Vec<_>>(), room)
    }

    #[test]
    fn names_that_would_look_alike_lose_what_they_share() {
        let long = ["random read, O_DIRECT, queue depth 4", "random read, O_DIRECT, queue depth 16"];
        assert_eq!(names(&long, 40), long);
        assert_eq!(names(&long, 26), ["…4", "…16"]);
        let other = ["random read with pauses, first", "random read with pauses, second"];
        assert_eq!(names(&other, 20), ["…first", "…second"]);
        // Distinct after the cut, equal anyway, or without a common prefix.
        assert_eq!(names(&["a long name", "another"], 8), ["a long …", "another"]);
        assert_eq!(names(&["the same name", "the same name"], 8), ["the sam…", "the sam…"]);
        assert_eq!(names(&["größer als ä", "größer als ö"], 6), ["…ä", "…ö"]);
        assert_eq!(names(&[], 6), [""; 0]);
    }

    #[test]
    fn reasons_that_are_not_told_are_counted() {
        let with = |count: usize| {
            let doubt = |n: usize| {
                let sentence = format!("Reason number {n}.");
                fathom_record::Doubt { code: format!("code-{n}"), phases: Vec::new(), sentence }
            };
            let doubts = (0..count).map(doubt).collect();
            summary(&Run { doubts, ..samples::synced_run() }, 80, false)
        };
        assert!(!with(3).contains("more reason"), "{}", with(3));
        assert!(with(4).contains("\n? 1 more reason for doubt is on the page\n"), "{}", with(4));
        assert!(with(10).contains("\n? 7 more reasons for doubt are on the page\n"), "{}", with(10));
    }

    #[test]
    fn no_heading_stands_alone() {
        let run = samples::engine_run();
        for taken in 0..LINES {
            let mut page =
                TerminalPage { lines: vec![String::new(); taken], width: 80, paint: Paint { on: false } };
            conduct::lines(&mut page, &run, 80);
            let text = page.finish();
            assert!(text.lines().count() <= LINES && !text.trim_end().ends_with("how it went"), "{taken}");
        }
    }
}
