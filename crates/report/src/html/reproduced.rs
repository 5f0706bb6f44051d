//! The page of a simulated published table: the criteria and whether they hold, published and simulated figures in pictures and
//! tables, and every degree of freedom.

use super::{
    HtmlPage,
    table::{HtmlTable, folded, heads},
};
use crate::reproduced::{Reproduced, ReproducedPart, SurfaceMap, WordTable};
use crate::svg::{self, GridCell, GridMap, Picture, escape};
use std::fmt::Write as _;

/// A published table and its simulation as one HTML file.
#[must_use]
pub fn page(of: &Reproduced) -> String {
    let mut page = HtmlPage::default();
    let misses = of.checks.iter().filter(|c| !c.holds).count();
    let (class, sentence) = match misses {
        0 => ("note", format!("All {} stated tolerances hold.", of.checks.len())),
        n => ("trouble", format!("{n} of {} stated tolerances do not hold.", of.checks.len())),
    };
    let _ = writeln!(page.body, "<p class=\"{class}\" role=\"note\">{}</p>", escape(&sentence));
    paragraphs(&mut page, &of.words);
    for part in &of.parts {
        one(&mut page, part);
    }
    page.heading(2, "Stated tolerances");
    let mut table = HtmlTable::new("What was stated, and what came out", &heads(&["stated", "", "found"]));
    for check in &of.checks {
        let verdict = if check.holds { "holds" } else { "<strong class=\"low\">MISS</strong>" };
        table.row(
            &check.stated,
            &[verdict.into(), format!("<span class=\"text\">{}</span>", escape(&check.found))],
        );
    }
    page.body.push_str(&table.finish());
    page.heading(2, "Degrees of freedom");
    page.body.push_str("<ul>\n");
    for line in &of.freedom {
        let _ = writeln!(page.body, "<li>{}</li>", escape(line));
    }
    page.body.push_str("</ul>\n");
    page.close(&of.title, "published, and simulated in virtual time: nothing here was measured")
}

fn paragraphs(page: &mut HtmlPage, words: &[String]) {
    for sentence in words {
        let _ = writeln!(page.body, "<p class=\"note\">{}</p>", escape(sentence));
    }
}

fn one(page: &mut HtmlPage, part: &ReproducedPart) {
    page.heading(2, &part.heading);
    for pairs in &part.pairs {
        if let Some(picture) = svg::paired(pairs) {
            page.wide_picture(&picture, &picture.description);
        }
    }
    for map in &part.maps {
        let picture = drawn(map);
        page.wide_picture(&picture, &picture.description);
    }
    paragraphs(page, &part.notes);
    for grid in &part.tables {
        let table = table(grid);
        // Beside a picture, the figures are folded.
        let shown = part.pairs.is_empty() && part.maps.is_empty();
        page.body.push_str(&if shown { table } else { folded(&grid.caption, &table) });
    }
}

fn table(grid: &WordTable) -> String {
    let mut table = HtmlTable::new(&grid.caption, &grid.heads);
    for (head, cells) in &grid.rows {
        let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
        table.row(head, &cells);
    }
    table.finish()
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
        told: format!("{} / {}: {words}", map.rows[row], map.columns[column]),
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
        let html = page(&sample());
        for words in [
            "1 of 1 stated tolerances do not hold.",
            "nothing here was measured",
            "deadline &lt;x&gt;",
            "<strong class=\"low\">MISS</strong>",
            "fitted: nothing",
            "2 cells, from -50 % to +100 %.",
        ] {
            assert!(html.contains(words), "{words}");
        }
        assert_eq!(html.matches("role=\"img\"").count(), 2);
        let mut holds = sample();
        holds.checks[0].holds = true;
        assert!(page(&holds).contains("All 1 stated tolerances hold."));
    }
}
