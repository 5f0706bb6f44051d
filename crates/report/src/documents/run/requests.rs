//! The requests that reached the devices, phase by phase: cards with the main figures, findings with their evidence, pictures,
//! issuers, and folded the rows of iostat and the text form of the distributions. Lost events are reported above all figures,
//! which are then no totals.

use super::Stage;
use crate::block::{
    ClassRequests, Depth, all_merges, depth_words, device_latency, interval_device, issued, issued_bytes,
    issuer_words, lost_words, main_device, queue_latency, remarks, rounded_bytes, sentence, shown_repetition,
};
use crate::document::{Cell, Document, Figure, Link, Part, Table, Target, Tone};
use crate::finding::{self, CleanFinding};
use crate::printable::clean;
use crate::section::{Section, full_title};
use crate::{counters, page_cache, surface::on_surfaces, svg, text, truth, units};
use fathom_record::block::{DeviceActivity, IssuerKind};
use fathom_record::{BlockLayer, Histogram, Phase, Repetition, Run};

/// Maximum number of phases shown open with pictures; further ones are folded as text.
const MOST_OPEN: usize = 6;
/// Maximum number of folded phases; hundreds would make the page unusably large.
const MOST_SHUT: usize = 60;

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    for (view, section) in &stage.shown {
        let observed = observed_phases(section);
        if observed.is_empty() {
            continue;
        }
        if observed.iter().any(|phase| is_counted(phase)) {
            out.text(Tone::Note, counters::LIMITS);
        }
        for (n, phase) in observed.iter().enumerate().take(MOST_SHUT) {
            let heading = format!("What reached the device: {}", clean(&full_title(phase)));
            out.targets(Target::phase(Link::Requests, &view.run.id, phase));
            if n < MOST_OPEN {
                out.heading(stage.level + 1, heading);
                stage.whose(out, view);
                open(out, view.run, phase);
            } else {
                out.details(heading, |out| {
                    stage.whose(out, view);
                    shut(out, phase);
                });
            }
        }
        if observed.len() > MOST_SHUT {
            let more = observed.len() - MOST_SHUT;
            out.text(
                Tone::Note,
                format!("{more} more phases: `fathom show {} --block`.", clean(&view.run.id)),
            );
        }
    }
}

/// Phases with anything to report.
pub(super) fn observed_phases<'r>(section: &Section<'r>) -> Vec<&'r Phase> {
    let (_, single) = on_surfaces(&section.phases);
    let alone = |p: &Phase| single.iter().any(|s| s.seq == p.seq);
    let anything = |p: &&Phase| {
        let watched = shown_repetition(p).is_some() || !finding::of_phase(p).is_empty();
        // A surface has hundreds of cells, whose memory and disk shares are reported together.
        let said = || truth::statement(p).is_some() || truth::cold(p).is_some();
        watched || (alone(p) && (said() || !page_cache::sentences(p).is_empty()))
    };
    section.phases.iter().copied().filter(anything).collect()
}

/// Whether a phase was watched by counters only.
pub(super) fn is_counted(phase: &Phase) -> bool {
    shown_repetition(phase).is_some_and(|(_, layer)| counters::are_all(layer))
}

/// A warning that figures are no totals, if events were lost.
pub(super) fn lost(phase: &Phase) -> Option<String> {
    shown_repetition(phase).and_then(|(_, layer)| lost_words(layer))
}

/// Memory or device in a sentence, what was done to make the files cold, and what others did to the page cache.
pub(super) fn statements(phase: &Phase) -> Vec<String> {
    let cold = truth::cold(phase).map(|c| clean(&c.sentence));
    truth::statement(phase).into_iter().chain(cold).chain(page_cache::sentences(phase)).collect()
}

fn open(out: &mut Document, run: &Run, phase: &Phase) {
    said(out, phase, is_counted(phase));
    let watched = shown_repetition(phase);
    if let Some((repetition, layer)) = watched {
        if let Some(device) = main_device(layer) {
            out.parts.push(Part::Cards(cards(layer, device)));
        }
        if phase.repetitions.len() > 1 {
            let n = repetition.n.saturating_add(1);
            out.text(Tone::Note, format!("Repetition {n} of {}.", phase.repetitions.len()));
        }
    }
    out.table(memory_or_device(phase));
    out.pictures_beside(
        svg::cache_course(phase).map(|picture| Figure::new(picture, "")).into_iter().collect(),
    );
    out.table(findings(phase));
    let Some((repetition, layer)) = watched else { return };
    layer.notes.iter().for_each(|note| out.text(Tone::Note, note));
    for device in &layer.devices {
        one_device(out, phase, repetition, layer, device);
    }
    let inside = svg::inside(run, phase).into_iter();
    out.pictures_beside(
        inside
            .map(|picture| {
                let caption = picture.description.clone();
                Figure::new(picture, caption)
            })
            .collect(),
    );
    intervals(out, repetition, layer);
    as_text(out, phase);
}

/// A folded phase: its findings and the text form.
fn shut(out: &mut Document, phase: &Phase) {
    said(out, phase, true);
    out.table(memory_or_device(phase));
    out.table(findings(phase));
    as_text(out, phase);
}

/// The sentences about a phase; its requests in words unless cards and pictures follow.
fn said(out: &mut Document, phase: &Phase, requests: bool) {
    lost(phase).into_iter().for_each(|words| out.text(Tone::Trouble, words));
    statements(phase).into_iter().for_each(|words| out.text(Tone::Plain, words));
    if let Some((repetition, layer)) = shown_repetition(phase).filter(|_| requests) {
        out.text(Tone::Plain, format!("{}.", sentence(layer, &repetition.physical)));
    }
}

/// The main figures of the representative device.
fn cards(layer: &BlockLayer, device: &DeviceActivity) -> Vec<(String, String)> {
    let at_least = if layer.lost > 0 { "≥ " } else { "" };
    let all = issued(device);
    let mut list = vec![
        (format!("{at_least}{}", units::count(all)), format!("requests on {}", clean(&device.name))),
        (format!("{at_least}{}", rounded_bytes(issued_bytes(device) as f64)), "moved".to_string()),
    ];
    for stats in device.requests.iter().filter(|r| r.issued_bytes > 0) {
        let r = ClassRequests::of(stats);
        let class = stats.class.word();
        if let Some(mean) = r.mean_bytes {
            list.push((rounded_bytes(mean), format!("mean {class}")));
        }
        if let Some(sequential) = r.sequential {
            list.push((units::percent(sequential), format!("{class}s in sequence")));
        }
        if let Some(merged) = r.merged {
            list.push((units::percent(merged), format!("of {class} bios merged")));
        }
    }
    if let Some(depth) = Depth::of(&device.in_device, layer.watched_ns) {
        list.push((depth_words(depth.mean), format!("mean queue depth, max {}", depth.max)));
    }
    let mut times = |latency: &Histogram, what: &str| {
        if let (Some(p50), Some(p99)) = (latency.percentile_ns(50.0), latency.percentile_ns(99.0)) {
            let p99 = units::time_ns(p99 as f64);
            list.push((units::time_ns(p50 as f64), format!("{what}, median; p99 {p99}")));
        }
    };
    times(&device_latency(device), "in the device");
    times(&queue_latency(device), "above it");
    if layer.watched_ns > 0 {
        let busy = device.busy_ns as f64 / layer.watched_ns as f64;
        list.push((units::percent(busy), "of the time busy".into()));
    }
    list
}

/// The bytes by source and destination.
fn memory_or_device(phase: &Phase) -> Table {
    let caption = format!("Memory or device, {}", clean(&full_title(phase)));
    let mut table = Table::new(caption, &["Bytes", "How many", "Of the requested bytes"]);
    for [what, bytes, share] in truth::of_phase(phase).map(truth::parts).unwrap_or_default() {
        table.figures(what, [bytes, share]);
    }
    table
}

/// Sentence and advice beside their evidence.
fn findings(phase: &Phase) -> Table {
    let mut table = new_findings(format!("Findings, {}", clean(&full_title(phase))));
    let found = finding::of_phase(phase);
    table.rows.extend(found.iter().map(|one| finding_row(one, one.sentence.clone())));
    table
}

/// A table of findings.
pub(super) fn new_findings(caption: String) -> Table {
    Table::new(caption, &["Rule", "Finding", "What proves it"])
}

/// A finding in words.
pub(super) fn finding_row(found: &CleanFinding, sentence: String) -> Vec<Cell> {
    vec![
        Cell::words(found.rule.as_str()),
        Cell::words(sentence).with_below(found.advice.as_str()),
        Cell::words(found.proofs().join("; ")),
    ]
}

fn one_device(
    out: &mut Document,
    phase: &Phase,
    repetition: &Repetition,
    layer: &BlockLayer,
    device: &DeviceActivity,
) {
    let name = clean(&device.name);
    if issued(device) == 0 {
        out.text(Tone::Note, format!("Nothing reached {name}."));
        return;
    }
    if layer.devices.len() > 1 {
        let kind = if device.bio_based { ", bios" } else { "" };
        out.text(Tone::Label, format!("{name} ({}{kind})", device.number));
    }
    let pictures = svg::of_device(phase, repetition, layer, device).into_iter();
    out.pictures_beside(pictures.map(|picture| Figure::new(picture, "")).collect());
    if let Some(merges) = all_merges(device) {
        out.text(Tone::Note, format!("Merges on {name}: {merges}."));
    }
    out.table(issuers(device));
    let remarks = remarks(device);
    if !remarks.is_empty() {
        out.text(Tone::Note, format!("{name}: {}.", remarks.join("; ")));
    }
}

fn issuers(device: &DeviceActivity) -> Table {
    let heads = ["Issuer", "Reads", "Read", "Writes", "Written", "Others", "Who that is"];
    let mut table = Table::new(format!("Who issued the requests on {}", clean(&device.name)), &heads);
    for issuer in &device.issuers {
        table.rows.push(vec![
            Cell::words(issuer_words(issuer)),
            Cell::figure(units::count(issuer.reads)),
            Cell::figure(rounded_bytes(issuer.read_bytes as f64)),
            Cell::figure(units::count(issuer.writes)),
            Cell::figure(rounded_bytes(issuer.write_bytes as f64)),
            Cell::figure(units::count(issuer.others)),
            Cell::words(issuer_note(issuer.kind)),
        ]);
    }
    table
}

/// Explains a kind of issuer.
fn issuer_note(kind: IssuerKind) -> &'static str {
    match kind {
        IssuerKind::Own => "our own workers",
        IssuerKind::Writeback => "the kernel writing dirty pages back",
        IssuerKind::Journal => "the file system's journal",
        IssuerKind::Kernel => "another kernel thread",
        IssuerKind::Other => "another program",
    }
}

fn intervals(out: &mut Document, repetition: &Repetition, layer: &BlockLayer) {
    let rows = layer.intervals.iter().map(|i| (interval_device(layer, &repetition.physical, i), i));
    let text = text::iostat::table(rows, text::iostat::Form::Extended);
    lines(out, format!("Intervals as iostat -x prints them ({} rows)", layer.intervals.len()), &text);
}

/// The distributions in the style of dtrace.
fn as_text(out: &mut Document, phase: &Phase) {
    let text = text::run::phase(phase, text::run::IostatRows::Left);
    let name = format!("Distributions as text, sizes in classes of 2 KiB: {}", clean(&full_title(phase)));
    lines(out, name, &text);
}

fn lines(out: &mut Document, name: String, text: &str) {
    if !text.is_empty() {
        out.parts.push(Part::Lines(name, text.lines().map(|line| line.trim_end().to_owned()).collect()));
    }
}

#[cfg(test)]
mod tests {
    use crate::{html::page, samples};

    #[test]
    fn requests_findings_and_issuers_are_on_the_page() {
        let html = page(&[&samples::observed_run()]);
        for told in [
            "<strong>163 840</strong> requests on vda",
            "<strong>4.00 KiB</strong> mean read",
            "Findings, random read, O_DIRECT",
            "bytes written: 640 MiB (our own calls)",
            "Who issued the requests on vda",
            "Intervals as iostat -x prints them (20 rows)",
            "524288 |@@@@@@@@",
            "Request sizes on dm-0",
            "<p class=\"whose\">dm-0 (252,0, bios)</p>",
            "Data that waited in memory to be written",
            "<tr><th scope=\"row\">followed later</th><td>506 MiB</td><td>79 %</td></tr>",
            "<p>Of 163840 pages none was left in memory.</p>",
        ] {
            assert!(html.contains(told), "{told} is missing");
        }
        assert!(!html.contains("events were lost"));
    }

    #[test]
    fn activity_seen_by_counters_only_is_on_the_page() {
        let html = page(&[&samples::counted_run()]);
        assert!(html.contains("<p>vda: 4000 reads, mean 64.0 KiB;"), "{html}");
        assert_eq!(html.matches("I/O of all programs").count(), 1);
    }

    #[test]
    fn lost_events_void_the_totals() {
        let html = page(&[&samples::lossy_run()]);
        assert!(html.contains("<p class=\"trouble\" role=\"note\">40 000 of 695 360 events were lost"));
        assert!(html.contains("<strong>≥ 163 840</strong> requests on vda"));
    }

    #[test]
    fn a_run_that_was_not_watched_has_no_such_part() {
        assert!(!page(&[&samples::survey_run()]).contains("class=\"cards\""));
    }
}
