//! The sheets of block-layer activity, each a tidy table: requests by class, their sizes, the intervals, and the findings with
//! a row per figure of evidence. They include every watched repetition; a figure that was not watched is an empty cell.

use super::{Done, Look, fit};
use crate::{
    block::{ClassRequests, Depth, interval_device},
    printable::clean,
    section::title,
    text::iostat::IostatRow,
};
use fathom_record::block::{BlockInterval, DeviceActivity, RequestStats};
use fathom_record::{BlockLayer, Finding, Phase, Repetition, Run};
use rust_xlsxwriter::{Workbook, Worksheet};

/// The leading columns: run, label, phase, test, repetition.
const LEAD: [&str; 5] = ["run", "label", "phase", "test", "repetition"];
/// Maximum number of rows per sheet; the format ends at 1 048 576.
const MOST_ROWS: u32 = 1_000_000;

/// Heads of the sheet of requests, after [`LEAD`].
pub(super) const REQUESTS: [&str; 28] = [
    "device",
    "class",
    "source",
    "lost_events",
    "issued",
    "issued_bytes",
    "completed",
    "completed_bytes",
    "errors",
    "mean_bytes",
    "read_ahead",
    "sync",
    "bios",
    "back_merges",
    "front_merges",
    "request_merges",
    "sequential",
    "forward",
    "backward",
    "mean_seek_bytes",
    "d2c_p50_ns",
    "d2c_p99_ns",
    "d2c_max_ns",
    "q2d_p50_ns",
    "q2d_p99_ns",
    "q2d_max_ns",
    "mean_depth",
    "max_depth",
];
/// Heads of the sheet of sizes.
pub(super) const SIZES: [&str; 4] = ["device", "class", "bytes", "requests"];
/// Heads of the sheet of intervals: the columns of iostat.
pub(super) const INTERVALS: [&str; 18] = [
    "device",
    "end_s",
    "r/s",
    "rkB/s",
    "rrqm/s",
    "%rrqm",
    "r_await_ms",
    "rareq-sz_kB",
    "w/s",
    "wkB/s",
    "wrqm/s",
    "%wrqm",
    "w_await_ms",
    "wareq-sz_kB",
    "d/s",
    "f/s",
    "aqu-sz",
    "%util",
];
/// Heads of the sheet of findings.
pub(super) const FINDINGS: [&str; 7] = ["rule", "finding", "advice", "figure", "value", "unit", "source"];

enum SheetCell {
    Text(String),
    Number(Option<f64>),
}

/// A repetition with where it belongs.
#[derive(Clone, Copy)]
struct RepetitionContext<'r> {
    run: &'r Run,
    phase: &'r Phase,
    repetition: &'r Repetition,
}

/// Writes the sheets that have any rows.
pub(super) fn write(book: &mut Workbook, runs: &[&Run], look: &Look) -> Done {
    let all = || {
        runs.iter().flat_map(|run| {
            run.phases.iter().flat_map(move |phase| {
                phase.repetitions.iter().map(move |repetition| RepetitionContext { run, phase, repetition })
            })
        })
    };
    let watched = || all().filter_map(|p| Some((p.repetition.block.as_ref()?, p)));
    let classes = || {
        watched().flat_map(|(layer, place)| {
            layer.devices.iter().flat_map(move |d| d.requests.iter().map(move |r| (layer, place, d, r)))
        })
    };
    sheet(book, "Requests", &REQUESTS, classes().map(|(l, p, d, r)| (lead(&p), requests(l, d, r))), look)?;
    let sizes = classes().flat_map(|(_, p, d, r)| {
        r.sizes.iter().map(move |s| {
            let cells = vec![
                SheetCell::Text(d.name.clone()),
                SheetCell::Text(r.class.word().into()),
                number(s.bytes),
                number(s.count),
            ];
            (lead(&p), cells)
        })
    });
    sheet(book, "Sizes", &SIZES, sizes, look)?;
    let intervals = watched().flat_map(|(layer, place)| {
        layer.intervals.iter().map(move |i| (lead(&place), interval(layer, place.repetition, i)))
    });
    sheet(book, "Intervals", &INTERVALS, intervals, look)?;
    let findings = all().flat_map(|place| {
        let led = lead(&place);
        place.repetition.findings.iter().flat_map(finding).map(move |cells| (led.clone(), cells))
    });
    sheet(book, "Findings", &FINDINGS, findings, look)
}

/// The cells of [`LEAD`].
type LeadCells = (String, String, u32, String, u32);

fn lead(place: &RepetitionContext<'_>) -> LeadCells {
    let RepetitionContext { run, phase, repetition } = place;
    (clean(&run.id), clean(&run.label), phase.seq, title(phase), repetition.n)
}

fn number(n: u64) -> SheetCell {
    SheetCell::Number(Some(n as f64))
}

fn maybe_number(n: Option<u64>) -> SheetCell {
    SheetCell::Number(n.map(|n| n as f64))
}

fn requests(layer: &BlockLayer, device: &DeviceActivity, stats: &RequestStats) -> Vec<SheetCell> {
    let r = ClassRequests::of(stats);
    let depth = Depth::of(&device.in_device, layer.watched_ns);
    let mut cells = vec![
        SheetCell::Text(device.name.clone()),
        SheetCell::Text(stats.class.word().into()),
        SheetCell::Text(layer.source.clone()),
        number(layer.lost),
        number(stats.issued),
        number(stats.issued_bytes),
        number(stats.completed),
        number(stats.completed_bytes),
        number(stats.errors),
        SheetCell::Number(r.mean_bytes),
        number(stats.ahead),
        number(stats.sync),
        maybe_number(stats.bios),
        maybe_number(stats.back_merges),
        maybe_number(stats.front_merges),
        maybe_number(stats.request_merges),
        number(stats.seeks.sequential),
        number(stats.seeks.forward),
        number(stats.seeks.backward),
        SheetCell::Number(r.mean_seek_bytes()),
    ];
    for times in [&stats.d2c, &stats.q2d] {
        cells.push(maybe_number(times.percentile_ns(50.0)));
        cells.push(maybe_number(times.percentile_ns(99.0)));
        cells.push(maybe_number((times.count() > 0).then(|| times.max_ns())));
    }
    cells.push(SheetCell::Number(depth.map(|d| d.mean)));
    cells.push(SheetCell::Number(depth.map(|d| f64::from(d.max))));
    cells
}

fn interval(layer: &BlockLayer, repetition: &Repetition, interval: &BlockInterval) -> Vec<SheetCell> {
    let row = IostatRow::of(interval);
    let mut cells = vec![
        SheetCell::Text(interval_device(layer, &repetition.physical, interval)),
        SheetCell::Number(Some(row.end_s)),
    ];
    for w in [row.read, row.write] {
        let figures = [w.per_s, w.kb_per_s, w.merged_per_s, w.merged_percent, w.await_ms, w.size_kb];
        cells.extend(figures.map(|v| SheetCell::Number(Some(v))));
    }
    let rest = [row.discards_per_s, row.flushes_per_s, row.depth, row.busy_percent];
    cells.extend(rest.map(|v| SheetCell::Number(Some(v))));
    cells
}

/// A row per figure of evidence.
fn finding(finding: &Finding) -> Vec<Vec<SheetCell>> {
    let texts = || [&finding.rule, &finding.sentence, &finding.advice].map(|t| SheetCell::Text(t.clone()));
    finding
        .evidence
        .iter()
        .map(|e| {
            let mut cells = Vec::from(texts());
            cells.push(SheetCell::Text(e.name.clone()));
            cells.push(SheetCell::Number(Some(e.value)));
            cells.push(SheetCell::Text(e.unit.clone()));
            cells.push(SheetCell::Text(e.source.clone()));
            cells
        })
        .collect()
}

fn sheet(
    book: &mut Workbook,
    name: &str,
    heads: &[&str],
    rows: impl Iterator<Item = (LeadCells, Vec<SheetCell>)>,
    look: &Look,
) -> Done {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let sheet = book.add_worksheet();
    sheet.set_name(name)?;
    for (column, head) in (0u16..).zip(LEAD.iter().chain(heads)) {
        sheet.write_with_format(0, column, *head, &look.bold)?;
    }
    sheet.set_freeze_panes(1, 0)?;
    let mut last = 0;
    for (line, (led, cells)) in (1..MOST_ROWS).zip(rows) {
        sheet.write(line, 0, led.0)?.write(line, 1, led.1)?.write(line, 2, led.2)?;
        sheet.write(line, 3, led.3)?.write(line, 4, led.4)?;
        for (column, cell) in (LEAD.len() as u16..).zip(cells) {
            put(sheet, line, column, cell, look)?;
        }
        last = line;
    }
    sheet.autofilter(0, 0, last, (LEAD.len() + heads.len()) as u16 - 1)?;
    fit(sheet, LEAD.len() + heads.len())
}

fn put(sheet: &mut Worksheet, line: u32, column: u16, cell: SheetCell, look: &Look) -> Done {
    match cell {
        SheetCell::Text(text) => sheet.write(line, column, clean(&text)).map(|_| ()),
        SheetCell::Number(Some(v)) if v.is_finite() => {
            let format = if v.fract() == 0.0 { &look.whole } else { &look.ratio };
            sheet.write_with_format(line, column, v, format).map(|_| ())
        }
        SheetCell::Number(_) => Ok(()),
    }
}
