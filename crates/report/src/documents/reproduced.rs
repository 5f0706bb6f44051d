//! A simulated published table as a document: the criteria and whether they hold, published and simulated figures in pictures and
//! tables, and every degree of freedom.

use crate::document::{Cell, Document, Table, Tone};
use crate::reproduced::{Reproduced, ReproducedPart, SurfaceMap, WordTable};
use crate::svg::{self, GridCell, GridMap, Picture};

/// The document.
#[must_use]
pub fn document(of: &Reproduced) -> Document {
    let lead = "published, and simulated in virtual time: nothing here was measured";
    let mut out = Document::new(of.title.as_str(), lead);
    let all = of.checks.len();
    match of.checks.iter().filter(|c| !c.holds).count() {
        0 => out.text(Tone::Note, format!("All {all} stated tolerances hold.")),
        n => out.text(Tone::Trouble, format!("{n} of {all} stated tolerances do not hold.")),
    }
    notes(&mut out, &of.words);
    of.parts.iter().for_each(|part| one(&mut out, part));
    out.heading(2, "Stated tolerances");
    let mut table = Table::new("What was stated, and what came out", &["stated", "", "found"]);
    for check in &of.checks {
        let verdict = Cell::words(if check.holds { "holds" } else { "MISS" }).strong_if(!check.holds);
        table.rows.push(vec![Cell::words(check.stated.as_str()), verdict, Cell::words(check.found.as_str())]);
    }
    out.table(table);
    out.heading(2, "Degrees of freedom");
    out.list(of.freedom.clone());
    out
}

fn notes(out: &mut Document, words: &[String]) {
    words.iter().for_each(|sentence| out.text(Tone::Note, sentence.as_str()));
}

fn one(out: &mut Document, part: &ReproducedPart) {
    out.heading(2, part.heading.as_str());
    let pairs = part.pairs.iter().filter_map(svg::paired);
    for picture in pairs.chain(part.maps.iter().map(drawn)) {
        let caption = picture.description.clone();
        out.picture(picture, caption, Vec::new());
    }
    notes(out, &part.notes);
    for grid in &part.tables {
        // Beside a picture, the figures are details.
        if part.pairs.is_empty() && part.maps.is_empty() {
            out.table(table(grid));
        } else {
            out.details(grid.caption.as_str(), |out| out.table(table(grid)));
        }
    }
}

fn table(grid: &WordTable) -> Table {
    let row = |(head, cells): &(String, Vec<String>)| {
        let cell = |text: &String| Cell::figure(text.as_str()).of(text.parse().ok(), "");
        std::iter::once(Cell::words(head.as_str())).chain(cells.iter().map(cell)).collect()
    };
    Table {
        caption: grid.caption.clone(),
        heads: grid.heads.clone(),
        rows: grid.rows.iter().map(row).collect(),
        most_shown: None,
    }
}

fn drawn(map: &SurfaceMap) -> Picture {
    let (low, high) = map.ends;
    let reach = high.abs().max(low.abs()).max(1.0);
    let position = |value: f64| {
        if map.errors {
            // 0 is in the middle, whatever the signs of the errors.
            0.5 + value / (2.0 * reach)
        } else {
            (value.max(f64::MIN_POSITIVE) / low).ln() / (high / low).ln()
        }
    };
    let cell = |row: usize, column: usize, (value, words): &(f64, String)| GridCell {
        position: position(*value).clamp(0.0, 1.0),
        words: words.clone(),
        tooltip: format!("{} / {}: {words}", map.rows[row], map.columns[column]),
        marked: false,
    };
    let values = || map.cells.iter().flatten().flatten().map(|c| c.0);
    let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let show = |value: f64| if map.errors { format!("{value:+.0} %") } else { format!("{value:.0}") };
    GridMap {
        slug: format!("map {}", map.title),
        title: map.title.clone(),
        words: format!("{} cells, from {} to {}.", values().count(), show(least), show(most)),
        names: (map.names.0.as_str(), map.names.1.as_str()),
        rows: &map.rows,
        columns: &map.columns,
        cells: map
            .cells
            .iter()
            .enumerate()
            .map(|(row, cells)| {
                cells.iter().enumerate().map(|(column, c)| c.as_ref().map(|c| cell(row, column, c))).collect()
            })
            .collect(),
        ends: if map.errors { (show(-reach), show(reach)) } else { (show(low), show(high)) },
        note: map.note.clone(),
        diverging: map.errors,
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;
    use crate::reproduced::{Check, Pair, Pairs};

    fn sample() -> Reproduced {
        let row = |label: &str, published, simulated| Pair { label: label.into(), published, simulated };
        Reproduced {
            title: "A table of 2004".into(),
            words: vec!["Values: 3 guessed.".into()],
            parts: vec![ReproducedPart {
                heading: "Seconds".into(),
                pairs: vec![Pairs {
                    title: "Seconds".into(),
                    simulated: vec!["H1".into(), "H2".into()],
                    rows: vec![row("deadline <x>", 100.0, vec![105.0, 95.0])],
                }],
                maps: vec![SurfaceMap {
                    title: "Errors".into(),
                    names: ("file".into(), "record".into()),
                    rows: vec!["64".into()],
                    columns: vec!["4".into(), "8".into()],
                    cells: vec![vec![Some((-50.0, "-50".into())), Some((100.0, "+100".into()))]],
                    errors: true,
                    ends: (-50.0, 100.0),
                    note: String::new(),
                }],
                tables: vec![WordTable {
                    caption: "Seconds in figures".into(),
                    heads: vec!["".into(), "published".into()],
                    rows: vec![("deadline <x>".into(), vec!["100".into()])],
                }],
                notes: Vec::new(),
            }],
            checks: vec![Check { holds: false, stated: "within 9 %".into(), found: "10 %".into() }],
            freedom: vec!["fitted: nothing".into()],
        }
    }

    #[test]
    fn misses_stand_first_and_user_words_stay_words() {
        let html = html::document(&document(&sample()));
        for words in [
            "1 of 1 stated tolerances do not hold.",
            "nothing here was measured",
            "deadline &lt;x&gt;",
            "<strong>MISS</strong>",
            "fitted: nothing",
            "2 cells, from -50 % to +100 %.",
        ] {
            assert!(html.contains(words), "{words}");
        }
        assert_eq!(html.matches("role=\"img\"").count(), 2);
        let mut holds = sample();
        holds.checks[0].holds = true;
        assert!(html::document(&document(&holds)).contains("All 1 stated tolerances hold."));
    }
}
