//! Comparisons as a document: the result, every figure with its interval, the ratio over file and record size if the cells form
//! a surface, notices, and the differences between the sides.

use crate::answer::Tile;
use crate::colour::Scale;
use crate::compared::{
    Compared, ComparedRow, Difference, Gate, Notice, Outcome, Session, SessionPart, SideInfo, Surfaces, Word,
    cells, side_words, singles, too_few,
};
use crate::document::{Cell, Document, Part, SurfaceFigure, Table, Tone};
use crate::history::moment;
use crate::surface::{Access, Quantity, Surface, SurfaceCell};
use crate::units::counted;
use crate::{Machine, Mapped, svg};
use fathom_compare::summary::median;
use fathom_record::Regime;

const CAPTION: &str = "B over A; 1 is no change.";

const MOST_TILES: usize = 8;

/// The document of one or more comparisons with the same baseline, with the gates' decisions if given.
#[must_use]
pub fn document(all: &[Compared], gates: Option<&[Gate]>) -> Document {
    let (title, lead) = head(all);
    let mut out = Document::new(title, lead);
    for (i, compared) in all.iter().enumerate() {
        // For a single comparison the title names the sides, so its parts follow directly.
        let level = if all.len() > 1 { 3 } else { 2 };
        if all.len() > 1 {
            out.heading(2, against(compared));
        }
        if let Some(gate) = gates.and_then(|g| g.get(i)) {
            let tone = if gate.outcome == Outcome::Passed { Tone::Note } else { Tone::Trouble };
            out.text(tone, gate.sentence.as_str());
        }
        one(&mut out, compared, level);
    }
    out
}

/// What was compared with what, and when it was measured.
fn head(all: &[Compared]) -> (String, String) {
    let [one] = all else {
        let baseline = all.first().map_or("", |c| c.a.name.as_str());
        return (format!("Compared with {baseline}"), format!("{} comparisons", all.len()));
    };
    let sides = [&one.a, &one.b];
    let mut labels = sides.iter().flat_map(|side| &side.runs).map(|run| run.label.as_str());
    let shared = labels.next().filter(|first| !first.is_empty() && labels.all(|label| label == *first));
    // Two ids in a title add nothing to the sides below it.
    let by_id = sides.iter().all(|side| matches!(side.runs.as_slice(), [run] if run.id == side.name));
    let title = match shared {
        Some(label) if by_id => format!("{label}: B against A"),
        Some(label) => format!("{label}: {}", against(one)),
        None => against(one),
    };
    let measured = |letter: &str, side: &SideInfo| {
        let day = side.runs.first().map(|run| moment(&run.started_at)).filter(|day| !day.is_empty());
        format!(
            "{letter}: {}{}",
            counted(side.runs.len(), "run"),
            day.map_or(String::new(), |day| format!(" from {day}"))
        )
    };
    (title, [measured("A", &one.a), measured("B", &one.b)].join(" · "))
}

fn against(compared: &Compared) -> String {
    format!("{} against {}", compared.b.name, compared.a.name)
}

/// B's distance from A by headline figure; changes come first.
fn tiles(compared: &Compared) -> Vec<Tile> {
    let quoted: Vec<&ComparedRow> =
        compared.rows.iter().filter(|r| r.headline && r.effect.is_some()).collect();
    let (changed, calm): (Vec<&ComparedRow>, Vec<&ComparedRow>) = quoted.into_iter().partition(changed);
    let tile = |row: &ComparedRow| {
        let [cell, metric, a, b, difference, _, _, verdict] = cells(row);
        let figure = row.ratio().map_or(difference, |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0));
        Tile { figure, what: format!("{metric}, {cell}"), beside: format!("{a} to {b}, {verdict}") }
    };
    changed.into_iter().chain(calm).take(MOST_TILES).map(tile).collect()
}

fn changed(row: &&ComparedRow) -> bool {
    matches!(row.verdict, Word::Worse | Word::Better | Word::Differs | Word::Suspect)
}

fn one(out: &mut Document, compared: &Compared, level: u8) {
    out.tiles(tiles(compared));
    let sides = [("A", &compared.a), ("B", &compared.b)];
    out.list(sides.iter().map(|(letter, side)| format!("{letter}: {}", side_words(side))).collect());
    out.text(Tone::Note, format!("Measured as {}.", compared.design_words));
    if let Some(session) = &compared.session {
        measured_by(out, session);
    }
    list(out, level, "What may be said", sentences(compared));
    // Many single runs have no intervals to draw.
    if let Some(picture) = svg::forest(compared).filter(|_| singles(compared).is_none()) {
        out.heading(level, "How large, how sure");
        out.picture(picture, svg::forest_caption(compared), Vec::new());
    }
    figures(out, compared, level);
    surfaces(out, compared, level);
    let notice = |n: &Notice| match &n.cell {
        Some(cell) => format!("{cell}: {}", n.sentence),
        None => n.sentence.clone(),
    };
    list(out, level, "To know", compared.notices.iter().map(notice).collect());
    differences(out, "environments", &compared.environment);
    differences(out, "workloads", &compared.workload);
    list(out, level, "Only A has", compared.only_a.clone());
    list(out, level, "Only B has", compared.only_b.clone());
}

/// When the comparison looked at the figures, and how far single runs scatter.
fn measured_by(out: &mut Document, session: &Session) {
    let planned = match session.part {
        SessionPart::Noise => "A against itself, to find the smallest change this machine can show".into(),
        _ => session.plan.stopping.words(),
    };
    out.text(Tone::Note, format!("Planned before the first run: {planned}. Comparison {}.", session.id));
    for sentence in session.scatters() {
        out.text(Tone::Note, sentence);
    }
}

/// The sentences of the headline figures, changes first, and of all cells together.
fn sentences(compared: &Compared) -> Vec<String> {
    if let Some(singles) = singles(compared) {
        return singles.iter().map(|s| s.sentence()).collect();
    }
    let quoted: Vec<&ComparedRow> = compared.rows.iter().filter(|r| r.headline).collect();
    let mut order: Vec<&ComparedRow> = quoted.iter().copied().filter(changed).collect();
    order.extend(quoted.iter().copied().filter(|r| !changed(r)));
    let whole = compared.families.iter().filter(|f| f.p.is_some());
    let whole = whole.map(|f| format!("{}: {}", f.metric, f.sentence));
    whole.chain(order.into_iter().map(|r| format!("{}: {}", r.cell, r.sentence))).collect()
}

fn list(out: &mut Document, level: u8, head: &str, items: Vec<String>) {
    if !items.is_empty() {
        out.heading(level, head);
        out.list(items);
    }
}

fn figures(out: &mut Document, compared: &Compared, level: u8) {
    let heads = ["Cell", "Figure", "A", "B", "B/A", "Interval", "p", "Verdict"];
    let mut table = Table::new("Every figure; A and B are medians over runs", &heads);
    let rows = compared.rows.iter().filter(|r| !r.has_too_few());
    table.rows = rows.map(|row| figure(row).to_vec()).collect();
    out.heading(level, "Figures");
    if singles(compared).is_some() {
        let summary = format!("The ratios of all {} figures", compared.rows.len());
        out.details(summary, |out| out.table(table));
    } else {
        out.table(table);
    }
    if let Some(line) = too_few(compared) {
        out.text(Tone::Note, line);
    }
}

fn figure(row: &ComparedRow) -> [Cell; 8] {
    let [cell, metric, a, b, ratio, interval, p, verdict] = cells(row);
    let unit = if row.ratio().is_some() { "" } else { row.unit.as_str() };
    let stands_out = matches!(row.verdict, Word::Worse | Word::Better | Word::Differs);
    [
        Cell::words(cell),
        Cell::words(metric),
        Cell::figure(a).of(median(&row.a), &row.unit),
        Cell::figure(b).of(median(&row.b), &row.unit),
        Cell::figure(ratio).of(row.effect.map(|e| e.estimate), unit),
        Cell::figure(interval),
        Cell::figure(p).of(row.p, ""),
        Cell::words(verdict).strong_if(stands_out),
    ]
}

/// The ratios over file and record size, one picture per operation.
fn surfaces(out: &mut Document, compared: &Compared, level: u8) {
    let mut groups: Vec<(String, Vec<&ComparedRow>)> = Vec::new();
    for row in compared.rows.iter().filter(|r| r.headline && r.ratio().is_some()) {
        if row.file_bytes.is_none() || row.record_bytes.is_none() {
            continue;
        }
        let title = title(row);
        match groups.iter_mut().find(|g| g.0 == title) {
            Some(group) => group.1.push(row),
            None => groups.push((title, vec![row])),
        }
    }
    for (title, rows) in groups.into_iter().filter(|g| g.1.len() > 1) {
        sides(out, compared, level, title.split(": ").next().unwrap_or_default());
        let surface = surface(title, &rows);
        let Some(scale) = Scale::of(&surface) else { continue };
        out.heading(level, surface.title.as_str());
        let machine = Machine::default();
        let (mapped, caption) = (Mapped::of(surface, &machine), CAPTION.to_owned());
        out.parts.push(Part::Surface(Box::new(SurfaceFigure { mapped, machine, scale, caption })));
    }
}

/// The surfaces of both sides for one operation, in one colour scale, if each side is a single run that has it.
fn sides(out: &mut Document, compared: &Compared, level: u8, operation: &str) {
    let [a, b] = &compared.surfaces;
    let find = |side: &'_ Surfaces| side.mapped.iter().position(|m| m.surface.title == operation);
    let (Some(of_a), Some(of_b)) = (find(a), find(b)) else { return };
    let both = [(a, of_a, "A", &compared.a.name), (b, of_b, "B", &compared.b.name)];
    let Some(scale) = Scale::of_all(&both.map(|(side, i, ..)| side.mapped[i].surface.clone())) else {
        return;
    };
    out.heading(level, operation);
    for (side, i, letter, name) in both {
        let whose = match &side.machine.filesystem {
            Some(filesystem) => format!("{letter}: {name}, {filesystem}"),
            None => format!("{letter}: {name}"),
        };
        out.text(Tone::Label, whose);
        let (mapped, machine) = (side.mapped[i].clone(), side.machine.clone());
        let surface = SurfaceFigure { mapped, machine, scale, caption: String::new() };
        out.parts.push(Part::Surface(Box::new(surface)));
    }
}

/// What the cells of one picture have in common.
fn title(row: &ComparedRow) -> String {
    let mut words = vec![row.operation.clone()];
    if row.direct {
        words.push("O_DIRECT".into());
    }
    words.extend(row.streams.filter(|n| *n > 1).map(|n| format!("{n} streams")));
    words.extend(row.queue_depth.filter(|n| *n > 1).map(|n| format!("queue depth {n}")));
    words.extend(row.settings.iter().map(|(k, v)| format!("{k}={v}")));
    format!("{}: {}, B over A", words.join(", "), row.metric)
}

fn surface(title: String, rows: &[&ComparedRow]) -> Surface {
    let ascending = |of: fn(&ComparedRow) -> Option<u64>| {
        let mut all: Vec<u64> = rows.iter().filter_map(|r| of(r)).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (file_bytes, record_bytes) = (ascending(|r| r.file_bytes), ascending(|r| r.record_bytes));
    let cell = |file: u64, record: u64| {
        let row = rows.iter().find(|r| r.file_bytes == Some(file) && r.record_bytes == Some(record))?;
        Some(SurfaceCell {
            value: row.ratio()?,
            ops_per_s: None,
            origin: Regime::Unknown,
            device_share: None,
        })
    };
    let cells = file_bytes.iter().map(|f| record_bytes.iter().map(|r| cell(*f, *r)).collect()).collect();
    let quantity = Quantity::Ratio;
    Surface { stage: None, title, access: Access::Read, quantity, file_bytes, record_bytes, cells }
}

fn differences(out: &mut Document, what: &str, all: &[Difference]) {
    let mut table = Table::new(format!("What differs between the {what}"), &["Name", "A", "B"]);
    for Difference { name, a, b, .. } in all {
        table.words([name, a, b]);
    }
    out.details(format!("The {what} differ ({})", all.len()), |out| out.table(table));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compared::{CompareOptions, Side};
    use crate::{html, samples};

    #[test]
    fn the_page_begins_with_how_far_b_is_from_a() {
        let (mut a, mut b) = (samples::filebench_run(), samples::filebench_run_changed());
        (a.label, b.label) = ("mail".into(), "mail".into());
        let side = |name: &str, run| Side { name: name.into(), runs: vec![run] };
        let compared = Compared::of(&side("before", &a), &side("after", &b), &CompareOptions::default());
        let html = html::document(&document(std::slice::from_ref(&compared), None));
        assert!(html.contains("<h1>mail: after against before</h1>"), "{html:.2000}");
        assert!(html.contains("A: 1 run from 20"));
        assert!(
            html.contains(">What may be said</h2>") && !html.contains("<h3"),
            "parts stand below the title"
        );
        let several = html::document(&document(&[compared.clone(), compared.clone()], None));
        assert_eq!(
            several.matches(">What may be said</h3>").count(),
            2,
            "parts stand below their comparison"
        );
        let all = tiles(&compared);
        assert!(!all.is_empty() && all.len() <= MOST_TILES);
        let row = compared.rows.iter().find(|r| r.headline && r.ratio().is_some()).expect("a ratio");
        let percent = format!("{:+.1} %", (row.ratio().expect("a ratio") - 1.0) * 100.0);
        assert!(all.iter().any(|t| t.figure == percent && t.beside.ends_with("single runs")), "{all:?}");
    }

    #[test]
    fn in_full_every_figure_is_there() {
        let compared = crate::compared::tests_of_examples::slower_in_cells(60);
        let text = crate::markdown::document(&document(std::slice::from_ref(&compared), None));
        let rows = text.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(rows, 1 + compared.rows.iter().filter(|row| !row.has_too_few()).count(), "{text}");
        assert!(!text.contains("more rows"), "{text}");
    }
}
