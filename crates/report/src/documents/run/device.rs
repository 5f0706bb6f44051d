//! Requested bytes beside bytes the device moved. Cells of a surface are summed by test and file size.

use super::Stage;
use crate::document::{Cell, Document, Link, Table, Target, Tone};
use crate::section::{full_title, title};
use crate::{Kind, printable::clean, surface::on_surfaces, units};
use fathom_record::{Origin, Phase, Regime, Residency};

const WHAT: &str = "Bytes requested by the programs, and bytes moved by the block device in the same time, from the kernel's counters. The share counts what was moved while the clock ran; near zero it is a cache number.";

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    if stage.shown.iter().all(|(_, s)| s.phases.iter().all(|p| p.repetitions.is_empty())) {
        return;
    }
    for (view, section) in &stage.shown {
        let lead = |phase: &&Phase| Target::phase(Link::Device, &view.run.id, phase);
        out.targets(section.phases.iter().flat_map(lead).collect());
    }
    out.heading(stage.level, "What reached the device");
    out.text(Tone::Note, WHAT);
    for (view, section) in &stage.shown {
        stage.whose(out, view);
        let run = clean(&view.story.title);
        let (on, single) = on_surfaces(&section.phases);
        let mut table = new(format!("Bytes requested and bytes moved, per phase, {run}"), "Phase");
        for phase in single {
            table.rows.push(Account::of(&[phase]).row(full_title(phase)));
        }
        out.table(table);
        let caption = format!("Bytes requested and bytes moved, per test and file size, {run}");
        let mut table = new(caption.clone(), "Test and file size");
        for (head, phases) in by_test_and_file(&on) {
            table.rows.push(Account::of(&phases).row(head));
        }
        out.details(caption, |out| out.table(table));
    }
}

fn new(caption: String, first: &str) -> Table {
    let heads = [
        first,
        "Requested",
        "Device read",
        "Device wrote",
        "of it while timed",
        "Share",
        "Cached before",
        "Cached after",
        "Served by",
    ];
    Table::new(caption, &heads)
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
    requested: u64,
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
            let Some(repetition) = phase.typical().or(phase.repetitions.last()) else { continue };
            let requested = repetition.workers.iter().flat_map(|w| [w.bytes, w.uncounted_bytes]);
            let requested = requested.fold(0, u64::saturating_add);
            sum.requested = sum.requested.saturating_add(requested);
            add(&mut sum.read, repetition.physical.device_read_bytes());
            add(&mut sum.wrote, repetition.physical.device_write_bytes());
            add(&mut sum.timed, repetition.physical.written_in_clock_bytes);
            let regime = phase.origin().regime;
            share.add(Origin::of(phase, repetition).device_share, requested.max(1));
            for (mean, residency) in
                [(&mut before, &repetition.resident_before), (&mut after, &repetition.resident_after)]
            {
                let pages = residency.as_ref().map_or(0, |r| r.total_pages);
                mean.add(residency.as_ref().and_then(Residency::cached_share), pages);
            }
            sum.origin = match sum.origin {
                None => Some(regime),
                Some(o) if o == regime => Some(o),
                Some(_) => Some(Regime::Mixed),
            };
        }
        (sum.share, sum.before, sum.after) = (share.value(), before.value(), after.value());
        sum
    }

    fn row(&self, head: String) -> Vec<Cell> {
        let known = |text: Option<String>| Cell::figure(text.unwrap_or_else(|| "not reported".into()));
        let bytes = |b: Option<u64>| known(b.map(units::bytes));
        let share = |s: Option<f64>| known(s.map(units::percent));
        vec![
            Cell::words(head),
            Cell::figure(units::bytes(self.requested)),
            bytes(self.read),
            bytes(self.wrote),
            bytes(self.timed),
            share(self.share),
            share(self.before),
            share(self.after),
            Cell::served(self.origin.map_or(Kind::Unknown, Kind::from)),
        ]
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
