//! Tiles: a main figure in large type, its name below, and a figure to read it with. A survey has its own; another run with one
//! test has that test's throughput, operations, latencies and source; a run of several tests has one tile per test.

use super::HtmlPage;
use crate::documents::run::RunView;
use crate::{
    Kind,
    answer::Tile,
    latency,
    printable::clean,
    section::brief,
    story::FigureRow,
    surface::on_surfaces,
    svg::{escape, shortened},
    units,
};
use fathom_record::Phase;
use std::fmt::Write as _;

/// Maximum number of tests with a tile; further ones are in the table of main figures.
const MOST_TESTS: usize = 16;
/// Maximum length of a test's name.
const MOST_LETTERS: usize = 60;

pub(super) fn write(page: &mut HtmlPage, tiles: &[Tile]) {
    if tiles.is_empty() {
        return;
    }
    page.body.push_str("<ul class=\"tiles\">\n");
    for tile in tiles {
        let _ = writeln!(
            page.body,
            "<li><strong>{}</strong><span>{}</span><small>{}</small></li>",
            escape(&tile.figure),
            escape(&tile.what),
            escape(&tile.beside)
        );
    }
    page.body.push_str("</ul>\n");
}

/// The tiles of any run, and the number of tests without one.
pub(super) fn of_run(view: &RunView<'_>) -> (Vec<Tile>, usize) {
    let phases: Vec<&Phase> = view.run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    let rows = &view.story.figures;
    if let ([_], [phase]) = (rows.as_slice(), single.as_slice())
        && !phase.failed()
    {
        return (of_phase(phase), 0);
    }
    // Rows of surfaces come first, then single phases in order of phases.
    let surfaces = rows.iter().filter(|row| !row.single).filter_map(of_surface);
    let singles = single.iter().filter(|p| p.failed() || p.bytes_per_s().is_some()).map(|p| of_test(p));
    let mut tiles: Vec<Tile> = surfaces.chain(singles).collect();
    let more = tiles.len().saturating_sub(MOST_TESTS);
    tiles.truncate(MOST_TESTS);
    (tiles, more)
}

fn of_phase(phase: &Phase) -> Vec<Tile> {
    let tile = |figure: String, what: &str, beside: String| Tile { figure, what: what.into(), beside };
    let mut tiles = Vec::new();
    if let Some(rate) = phase.bytes_per_s().filter(|_| !phase.is_metadata_only()) {
        tiles.push(tile(units::rate(rate), "throughput", shortened(&clean(&brief(phase)), MOST_LETTERS)));
    }
    if let Some(rate) = phase.ops_per_s() {
        tiles.push(tile(units::ops_rate(rate), "operations", String::new()));
    }
    let (times, of_syncs) = latency::representative(phase);
    let whose = if of_syncs { "of the fsync after each write" } else { "of an operation" };
    for (percentile, what) in [(50.0, "latency, median"), (99.0, "latency, p99")] {
        if let Some(ns) = times.percentile_ns(percentile) {
            tiles.push(tile(units::time_ns(ns as f64), what, whose.into()));
        }
    }
    if !phase.is_metadata_only() {
        tiles.push(tile(served(phase).into(), "served the data", String::new()));
    }
    tiles
}

fn of_test(phase: &Phase) -> Tile {
    let (times, of_syncs) = latency::representative(phase);
    let operation = if of_syncs { "fsync p99" } else { "p99" };
    let p99 = times.percentile_ns(99.0).map(|ns| format!("{operation} {}", units::time_ns(ns as f64)));
    let ops = phase.ops_per_s().map(units::ops_rate);
    let (figure, ops) = match phase.bytes_per_s() {
        _ if phase.failed() => ("failed".to_owned(), None),
        Some(rate) if !phase.is_metadata_only() => (units::rate(rate), ops),
        _ => (ops.unwrap_or_else(|| "–".into()), None),
    };
    let served = (!phase.failed()).then(|| served(phase).to_owned());
    let beside: Vec<String> = [ops, p99, served].into_iter().flatten().collect();
    Tile { figure, what: shortened(&clean(&brief(phase)), MOST_LETTERS), beside: beside.join(", ") }
}

/// What served a phase, in full: a tile has enough space.
fn served(phase: &Phase) -> &'static str {
    match phase.is_metadata_only() {
        true => "metadata",
        false => Kind::from(phase.origin().regime).words(),
    }
}

/// A test over file and record size: the figure of its largest file served by a device, else of its largest file.
fn of_surface(row: &FigureRow) -> Option<Tile> {
    let kinds = [Kind::Device, Kind::Mixed].into_iter().chain(Kind::ALL);
    let (kind, rate) = kinds.into_iter().find_map(|kind| Some((kind, *row.quoted.get(&kind)?)))?;
    let beside = format!("largest file, {}", kind.words());
    Some(Tile { figure: units::rate(rate), what: shortened(&clean(&row.title), MOST_LETTERS), beside })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn tiles(run: &fathom_record::Run) -> Vec<[String; 3]> {
        of_run(&RunView::of(run)).0.into_iter().map(|t| [t.figure, t.what, t.beside]).collect()
    }

    #[test]
    fn one_test_has_its_figures_and_what_served_it() {
        let mut run = samples::observed_run();
        run.phases.truncate(1);
        let tiles = tiles(&run);
        let what: Vec<&str> = tiles.iter().map(|t| t[1].as_str()).collect();
        assert_eq!(what, ["throughput", "operations", "latency, median", "latency, p99", "served the data"]);
        assert_eq!(tiles[4][0], "device");
    }

    #[test]
    fn several_tests_have_a_tile_each() {
        let run = samples::throughput_run();
        let all = tiles(&run);
        assert_eq!(all.len(), run.phases.len().min(MOST_TESTS));
        assert!(all.iter().all(|t| t[0].ends_with("/s") && t[2].contains("p99")), "{all:?}");
        let surfaces = tiles(&samples::auto_run());
        assert!(surfaces.iter().all(|t| t[2].starts_with("largest file, ")), "{surfaces:?}");
    }

    #[test]
    fn the_origin_is_stated_in_full() {
        let mut run = samples::observed_run();
        for phase in &mut run.phases {
            phase.repetitions[0].physical = fathom_record::Physical::default();
        }
        let all = tiles(&run);
        assert!(all.iter().any(|t| t[2].ends_with("origin unknown")), "{all:?}");
    }

    #[test]
    fn failed_phases_have_no_figure() {
        let mut run = samples::observed_run();
        samples::fail(&mut run.phases[0], "no");
        assert_eq!(tiles(&run)[0][0], "failed");
    }
}
