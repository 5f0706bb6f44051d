//! The cells of a sweep of two settings as a map: the values of both along the edges, every cell shaded by its median. On the
//! page it is a picture, on the terminal a block of shades. If more settings vary, the others are combined along one edge.

use super::text::{column_factor, rows};
use super::{Sweep, SweepTable};
use crate::svg::{GridCell, GridMap, Picture};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Maximum length of an edge; beyond that, only the table shows all cells.
const LONGEST_EDGE: usize = 48;
/// Shades on a terminal, from the lowest value to the highest.
const SHADES: [&str; 4] = ["░░", "▒▒", "▓▓", "██"];
const NOTHING: &str = "--";

struct SweepMap {
    /// Names of the settings along the left and the upper edge.
    names: (String, String),
    rows: Vec<String>,
    columns: Vec<String>,
    /// Indices of the sweep's cells, row by row.
    cells: Vec<Vec<Option<usize>>>,
    low: f64,
    high: f64,
}

impl SweepMap {
    /// `None` if fewer than two settings vary, all values are equal, or an edge is too long.
    fn of(sweep: &Sweep, table: &SweepTable) -> Option<Self> {
        let column = column_factor(sweep)?;
        let medians = || table.cells.iter().flatten().map(|s| s.median);
        let (low, high) = (medians().reduce(f64::min)?, medians().reduce(f64::max)?);
        let found = rows(sweep);
        let columns = &sweep.factors[column].values;
        let fits = |n: usize| (2..=LONGEST_EDGE).contains(&n);
        if high <= low || !fits(found.len()) || !fits(columns.len()) {
            return None;
        }
        let others: Vec<&str> = sweep
            .factors
            .iter()
            .enumerate()
            .filter(|(n, f)| *n != column && f.values.len() > 1)
            .map(|(_, f)| f.name.as_str())
            .collect();
        // For a single setting along an edge, its name is shown once.
        let value = |setting: String, name: &str| match setting.split_once('=') {
            Some((known, value)) if known == name => value.to_string(),
            _ => setting,
        };
        let row_name = if let [one] = others[..] { one } else { "settings" };
        let name = &sweep.factors[column].name;
        let (heads, cells): (Vec<String>, Vec<_>) = found.into_iter().unzip();
        Some(Self {
            names: (row_name.to_string(), name.clone()),
            rows: heads.into_iter().map(|head| value(head, row_name)).collect(),
            columns: (0..columns.len()).map(|level| value(sweep.setting(column, level), name)).collect(),
            cells,
            low,
            high,
        })
    }

    /// Position between the lowest and the highest value, 0..=1, on a logarithmic scale, since figures differ by factors.
    fn position(&self, value: f64) -> f64 {
        if self.low > 0.0 {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

fn direction(table: &SweepTable) -> &'static str {
    if table.lower_is_better { "lower is better" } else { "higher is better" }
}

/// The map of a table as a picture.
pub(crate) fn picture(sweep: &Sweep, table: &SweepTable, number: usize) -> Option<Picture> {
    let map = SweepMap::of(sweep, table)?;
    let best = table.best.and_then(|c| Some((sweep.settings(c, false), table.words(c)?)));
    let range = format!(
        "Medians from {} to {} {}, {}",
        SweepTable::number(map.low),
        SweepTable::number(map.high),
        table.unit,
        direction(table)
    );
    let words = match best {
        Some((settings, value)) => format!("{range}; best: {settings} with {value}."),
        None => format!("{range}."),
    };
    let cell = |cell: Option<usize>| {
        let found = cell.and_then(|c| Some((c, table.cells.get(c)?.as_ref()?.median)));
        found.map(|(c, median)| GridCell {
            position: map.position(median),
            words: SweepTable::number(median),
            tooltip: format!(
                "{}: {} {}",
                sweep.settings(c, false),
                table.words(c).unwrap_or_default(),
                table.unit
            ),
            marked: table.best == Some(c),
        })
    };
    let simulated = if sweep.is_simulated() { ", simulated" } else { "" };
    let map_of = GridMap {
        slug: format!("sweep map {number}"),
        title: format!("{}, {}{simulated}: {}", sweep.figure.words(), table.unit, table.phase),
        words,
        names: (map.names.0.as_str(), map.names.1.as_str()),
        rows: &map.rows,
        columns: &map.columns,
        cells: map.cells.iter().map(|row| row.iter().map(|c| cell(*c)).collect()).collect(),
        ends: (SweepTable::number(map.low), format!("{} {}", SweepTable::number(map.high), table.unit)),
        note: format!("log colour; {}; outlined: the best", direction(table)),
        diverging: false,
    };
    Some(map_of.draw())
}

/// The map of a table in shades; empty if there is no map.
pub(super) fn text(sweep: &Sweep, table: &SweepTable) -> String {
    let Some(map) = SweepMap::of(sweep, table) else { return String::new() };
    let shade = |c: Option<usize>| {
        let median = c.and_then(|c| Some(table.cells.get(c)?.as_ref()?.median));
        median.map_or(NOTHING, |m| {
            SHADES[((map.position(m) * SHADES.len() as f64) as usize).min(SHADES.len() - 1)]
        })
    };
    let widest = map.rows.iter().map(|r| r.width()).max().unwrap_or(0);
    let mut text =
        format!("\nmap: {} downwards, {} across: {}\n", map.names.0, map.names.1, map.columns.join(", "));
    for (head, cells) in map.rows.iter().zip(&map.cells) {
        let _ = write!(text, "  {head}{}", " ".repeat(widest - head.width()));
        for cell in cells {
            let _ = write!(text, "  {}", shade(*cell));
        }
        text.push('\n');
    }
    // Boundaries of the shades, at equal factors.
    let at = |share: f64| {
        if map.low > 0.0 {
            map.low * (map.high / map.low).powf(share)
        } else {
            map.low + (map.high - map.low) * share
        }
    };
    let steps = SHADES.len() as f64;
    let legend: Vec<String> = SHADES
        .iter()
        .enumerate()
        .map(|(n, shade)| format!("{shade} from {}", SweepTable::number(at(n as f64 / steps))))
        .collect();
    let _ = writeln!(
        text,
        "  {} to {} {}; {}",
        legend.join(", "),
        SweepTable::number(map.high),
        table.unit,
        direction(table)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::super::{samples::sweep, tables};
    use super::*;

    #[test]
    fn a_map_has_a_shade_for_each_cell_of_two_settings() {
        let sweep = sweep();
        let table = &tables(&sweep)[0];
        let shown = text(&sweep, table);
        assert!(shown.contains("map: scheduler downwards, read_ahead_kb across: 0, 128\n"), "{shown}");
        assert!(shown.contains("  none   ██  ░░\n  kyber  ▓▓  ░░\n"), "{shown}");
        let picture = picture(&sweep, table, 0).expect("two settings");
        assert_eq!(
            picture.description,
            "Medians from 86.50 to 165.0 s, lower is better; best: scheduler=kyber, read_ahead_kb=128 with 86.50 (86.00..87.00)."
        );
        assert_eq!(picture.title, "time, s: random <mix>");
    }

    #[test]
    fn a_cell_without_a_figure_is_no_colour() {
        let mut sweep = sweep();
        sweep.runs.retain(|r| r.cell != 0);
        let table = &tables(&sweep)[0];
        let shown = text(&sweep, table);
        assert!(shown.contains("  none   --  ▒▒\n"), "{shown}");
        let drawn = picture(&sweep, table, 0).expect("two settings").standalone();
        assert_eq!(drawn.matches("<g><title>scheduler=").count(), 3, "{drawn}");
    }

    #[test]
    fn one_setting_or_no_difference_is_no_map() {
        let mut one = sweep();
        one.factors[1].values.truncate(1);
        one.cells.retain(|c| c.levels[1] == 0);
        one.runs.retain(|r| r.cell < 2);
        assert_eq!(text(&one, &tables(&one)[0]), "");
        let mut flat = sweep();
        flat.runs.iter_mut().for_each(|r| r.phases[0].seconds = Some(5.0));
        assert!(picture(&flat, &tables(&flat)[0], 0).is_none());
    }

    #[test]
    fn three_settings_are_combined_along_one_edge() {
        let mut three = sweep();
        let third = super::super::Factor {
            name: "fs".into(),
            values: vec!["ext4".into(), "xfs".into()],
            before: None,
        };
        three.factors.insert(0, third);
        let doubled: Vec<_> = [0, 1]
            .iter()
            .flat_map(|fs| three.cells.iter().map(|c| (*fs, c.clone())).collect::<Vec<_>>())
            .map(|(fs, mut cell)| {
                cell.levels.insert(0, fs);
                cell
            })
            .collect();
        three.cells = doubled;
        let shown = text(&three, &tables(&three)[0]);
        assert!(shown.contains("map: settings downwards, read_ahead_kb across"), "{shown}");
        assert!(shown.contains("  fs=ext4, scheduler=none   ██  ░░\n"), "{shown}");
        assert!(shown.contains("  fs=xfs, scheduler=kyber   --  --\n"), "{shown}");
    }
}
