//! The page's flat figures with their tables: throughput by streams, latency percentiles, throughput over time, and device traffic.

use super::{
    HtmlPage, RunView, badge,
    links::Link,
    raw,
    table::{HtmlTable, folded, heads},
};
use crate::{
    Kind, Streams,
    latency::{self, LatencyRow},
    printable::clean,
    section::{Section, full_title, title},
    surface::on_surfaces,
    svg, units, writes,
};
use fathom_record::{Phase, Regime, Residency};
use std::fmt::Write as _;

pub(super) type Shown<'a, 'r> = (&'a RunView<'r>, &'a Section<'r>);

/// Maximum number of charts over time; the rest is only in the raw data.
const MOST_SERIES: usize = 24;

/// The same for each part of a survey, which has many.
const MOST_OF_A_PART: usize = 6;

/// Names the run a block belongs to, if there are several.
pub(super) fn run_name(page: &mut HtmlPage, shown: &[Shown<'_, '_>], view: &RunView<'_>) {
    if shown.len() > 1 {
        let _ = writeln!(page.body, "<p class=\"whose\">{}</p>", svg::escape(&view.story.title));
    }
}

pub(super) fn streams(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    let all: Vec<(&RunView<'_>, Vec<Streams>)> = shown
        .iter()
        .map(|(v, s)| (*v, Streams::of_phases(&s.phases)))
        .filter(|(_, s)| !s.is_empty())
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading(level, "Throughput by number of streams");
    page.body.push_str(
        "<p class=\"note\">Stonewall: the clock stops when the first stream is done, so children count only while all work; the \
         parent's clock runs until the last is gone. A parent far below the children indicates stragglers.</p>\n",
    );
    for (view, series) in all {
        run_name(page, shown, view);
        page.body.push_str("<div class=\"pair\">\n");
        for one in &series {
            if let Some(picture) = svg::streams(one) {
                page.picture(&picture, "");
            }
        }
        page.body.push_str("</div>\n");
        page.body.push_str(&streams_table(&series, &view.story.title));
    }
}

fn streams_table(series: &[Streams], run: &str) -> String {
    let head = heads(&[
        "Test",
        "Streams",
        "File each",
        "Children's sum",
        "Parent",
        "Parent / children",
        "Slowest",
        "Fastest",
        "Served by",
    ]);
    let mut table = HtmlTable::new(&format!("Throughput by number of streams, {}", clean(run)), &head);
    for one in series {
        for p in &one.points {
            let share = p.parent_bytes_per_s.map(|rate| rate / p.children_bytes_per_s);
            let share = match (share, p.straggling()) {
                (Some(s), Some(_)) => {
                    format!("<strong class=\"low\">{}</strong> stragglers", svg::escape(&units::percent(s)))
                }
                (Some(s), None) => svg::escape(&units::percent(s)),
                (None, _) => "–".into(),
            };
            table.row(
                &one.title,
                &[
                    p.streams.to_string(),
                    p.file_bytes.map_or("–".into(), units::bytes),
                    units::rate(p.children_bytes_per_s),
                    p.parent_bytes_per_s.map_or("–".into(), units::rate),
                    share,
                    units::rate(p.min_bytes_per_s),
                    units::rate(p.max_bytes_per_s),
                    badge(p.origin.into()),
                ],
            );
        }
    }
    table.finish()
}

/// The three figures of every write: single phases one by one, surfaces by test and file size.
pub(super) fn writes(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    let all: Vec<(&RunView<'_>, Vec<writes::WriteRow>, Vec<writes::WriteRow>, bool)> = shown
        .iter()
        .map(|(v, s)| {
            let phases = &s.phases;
            (*v, writes::singles(phases), writes::of_surfaces(phases), writes::unsynced_surfaces(phases))
        })
        .filter(|(_, single, on, unsynced)| !single.is_empty() || !on.is_empty() || *unsynced)
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading(level, "Writes: to the last write, to the fsync, to the close");
    page.body.push_str(
        "<p class=\"note\">A buffered write returns when the data lies in memory; an fsync returns when it is safe. The figure to \
         quote is the one with the fsync, where there was one. Rates from the first operation on, sums over the streams, medians \
         over repetitions.</p>\n",
    );
    for (view, single, on, unsynced) in all {
        run_name(page, shown, view);
        if unsynced {
            page.body.push_str(
                "<p class=\"note\">Surfaces: no fsync. None of their writes was followed by one; their figures run to the last \
                 write.</p>\n",
            );
        }
        if !single.is_empty() {
            let caption = format!("Throughput of each write phase, {}", clean(&view.story.title));
            page.body.push_str(&writes_table(&caption, "Phase", &single));
        }
        if !on.is_empty() {
            let caption = format!(
                "Throughput of writes per test and file size, in records of 1 MiB or the nearest size, {}",
                clean(&view.story.title)
            );
            let table = writes_table(&caption, "Test, file size and record size", &on);
            page.body.push_str(&folded(&caption, &table));
        }
    }
}

fn writes_table(caption: &str, first: &str, rows: &[writes::WriteRow]) -> String {
    let head = heads(&[first, "To quote", "To the last write", "To the fsync", "To the close", "Served by"]);
    let mut table = HtmlTable::new(caption, &head);
    for row in rows {
        table.row(
            &row.title,
            &[
                format!("<strong>{}</strong>", units::rate(row.headline())),
                units::rate(row.to_last),
                row.to_fsync.words(),
                row.close_words(),
                badge(row.origin.into()),
            ],
        );
    }
    table.finish()
}

pub(super) fn latency(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    let all: Vec<(&RunView<'_>, Vec<LatencyRow>)> = shown
        .iter()
        .map(|(v, s)| (*v, latency::rows(&on_surfaces(&s.phases).1)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if all.is_empty() {
        return;
    }
    let id = page.heading(level, "Latency");
    for (view, section) in shown {
        for phase in on_surfaces(&section.phases).1 {
            page.links.phase(Link::Distribution, &view.run.id, phase, &id);
        }
    }
    for (view, rows) in all {
        run_name(page, shown, view);
        if let Some(picture) = svg::latency(&rows) {
            page.picture(&picture, "");
        }
        let mut head = heads(&["Phase", "Operation", "Count"]);
        head.extend(LatencyRow::HEADS.map(String::from));
        head.push("Served by".into());
        let mut table =
            HtmlTable::new(&format!("Latency percentiles per phase, {}", clean(&view.story.title)), &head);
        for row in &rows {
            let part = row.part(latency::paced(&rows, row)).to_string();
            let mut cells = vec![part, units::count(row.ops)];
            cells.extend(row.values_ns().map(|ns| units::time_ns(ns as f64)));
            cells.push(badge(row.origin.into()));
            table.row(&row.title, &cells);
        }
        page.body.push_str(&table.finish());
    }
}

pub(super) fn series(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    let mut charts: Vec<(&RunView<'_>, &Phase, svg::Picture)> = Vec::new();
    for (view, section) in shown {
        for phase in &section.phases {
            let drawn = svg::over_time(phase);
            charts.extend(drawn.into_iter().map(|picture| (*view, *phase, picture)));
        }
    }
    if charts.is_empty() {
        return;
    }
    page.heading(level, "Over time");
    let most = if page.flat { MOST_OF_A_PART } else { MOST_SERIES };
    let left_out = charts.len().saturating_sub(most);
    if left_out > 0 {
        // The longest phases have the most informative course.
        charts.sort_by_key(|(_, p, _)| std::cmp::Reverse(p.repetitions.iter().map(|r| r.elapsed_ns).max()));
        charts.truncate(most);
        charts.sort_by_key(|(_, p, _)| p.seq);
        let elsewhere = if page.flat { "left out" } else { "in the raw data" };
        let _ = writeln!(
            page.body,
            "<p class=\"note\">{most} charts, of the longest phases; {left_out} more are {elsewhere}.</p>"
        );
        if let [(view, _)] = shown
            && page.flat
        {
            page.body.push_str(&raw::intervals_elsewhere(&view.run.id));
        }
    }
    page.body.push_str("<div class=\"pair\">\n");
    for (view, phase, picture) in &charts {
        let caption = if shown.len() > 1 { clean(&view.story.title) } else { String::new() };
        let id = page.picture_to_lead_to(picture, &caption);
        page.links.phase(Link::OverTime, &view.run.id, phase, &id);
    }
    page.body.push_str("</div>\n");
}

/// Requested bytes beside bytes the device moved. Cells of a surface are summed by test and file size.
pub(super) fn device(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    if shown.iter().all(|(_, s)| s.phases.iter().all(|p| p.repetitions.is_empty())) {
        return;
    }
    let id = page.heading(level, "What reached the device");
    for (view, section) in shown {
        for phase in &section.phases {
            page.links.phase(Link::Device, &view.run.id, phase, &id);
        }
    }
    page.body.push_str(
        "<p class=\"note\">Bytes requested by the programs, and bytes moved by the block device in the same time, from the kernel's counters. The \
         share counts what was moved while the clock ran; near zero it is a cache number.</p>\n",
    );
    for (view, section) in shown {
        run_name(page, shown, view);
        let (on, single) = on_surfaces(&section.phases);
        if !single.is_empty() {
            let caption = format!("Bytes requested and bytes moved, per phase, {}", clean(&view.story.title));
            let mut table = HtmlTable::new(&caption, &device_heads("Phase"));
            for phase in single {
                table.row(&full_title(phase), &Account::of(&[phase]).cells());
            }
            page.body.push_str(&table.finish());
        }
        if !on.is_empty() {
            let caption = format!(
                "Bytes requested and bytes moved, per test and file size, {}",
                clean(&view.story.title)
            );
            let mut table = HtmlTable::new(&caption, &device_heads("Test and file size"));
            for (head, phases) in by_test_and_file(&on) {
                table.row(&head, &Account::of(&phases).cells());
            }
            page.body.push_str(&folded(&caption, &table.finish()));
        }
    }
}

fn device_heads(first: &str) -> Vec<String> {
    heads(&[
        first,
        "Requested",
        "Device read",
        "Device wrote",
        "of it while timed",
        "Share",
        "Cached before",
        "Cached after",
        "Served by",
    ])
}

fn by_test_and_file<'r>(phases: &[&'r Phase]) -> Vec<(String, Vec<&'r Phase>)> {
    let mut groups: Vec<(String, Vec<&Phase>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for phase in phases {
        let head = format!("{}, file {}", title(phase), units::bytes(phase.axes.file_bytes.unwrap_or(0)));
        let at = *places.entry(head.clone()).or_insert_with(|| {
            groups.push((head, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(phase);
    }
    groups.sort_by_key(|(_, members)| members.first().map(|p| title(p)));
    groups
}

/// A mean of shares, each weighted by what it is a share of.
#[derive(Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, share: Option<f64>, of: u64) {
        if let Some(share) = share {
            self.sum += share * of as f64;
            self.weight += of as f64;
        }
    }

    fn value(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// Sums over the last repetitions of several phases.
#[derive(Default)]
struct Account {
    asked: u64,
    read: Option<u64>,
    wrote: Option<u64>,
    timed: Option<u64>,
    share: Option<f64>,
    before: Option<f64>,
    after: Option<f64>,
    origin: Option<Regime>,
}

impl Account {
    fn of(phases: &[&Phase]) -> Self {
        let mut sum = Self::default();
        let (mut share, mut before, mut after) = (Mean::default(), Mean::default(), Mean::default());
        for phase in phases {
            let Some(repetition) = phase.repetitions.last() else { continue };
            let asked = repetition.workers.iter().flat_map(|w| [w.bytes, w.uncounted_bytes]);
            let asked = asked.fold(0, u64::saturating_add);
            sum.asked = sum.asked.saturating_add(asked);
            add(&mut sum.read, repetition.physical.device_read_bytes());
            add(&mut sum.wrote, repetition.physical.device_write_bytes());
            add(&mut sum.timed, repetition.physical.written_in_clock_bytes);
            let origin = phase.origin();
            share.add(origin.device_share, asked.max(1));
            for (mean, residency) in
                [(&mut before, &repetition.resident_before), (&mut after, &repetition.resident_after)]
            {
                let pages = residency.as_ref().map_or(0, |r| r.total_pages);
                mean.add(residency.as_ref().and_then(Residency::cached_share), pages);
            }
            sum.origin = match sum.origin {
                None => Some(origin.regime),
                Some(o) if o == origin.regime => Some(o),
                Some(_) => Some(Regime::Mixed),
            };
        }
        (sum.share, sum.before, sum.after) = (share.value(), before.value(), after.value());
        sum
    }

    fn cells(&self) -> Vec<String> {
        let bytes = |b: Option<u64>| b.map_or("not reported".to_string(), units::bytes);
        let share =
            |s: Option<f64>| s.map_or("not reported".to_string(), |s| svg::escape(&units::percent(s)));
        vec![
            units::bytes(self.asked),
            bytes(self.read),
            bytes(self.wrote),
            bytes(self.timed),
            share(self.share),
            share(self.before),
            share(self.after),
            badge(self.origin.map_or(Kind::Unknown, Kind::from)),
        ]
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
