//! The requests that reached the devices, phase by phase: cards with the main figures, findings with their evidence, pictures,
//! issuers, and folded the rows of iostat and the text form of the distributions. Lost events are reported above all figures,
//! which are then no totals.

use super::{
    HtmlPage,
    blocks::{Shown, run_name},
    links::Link,
    table::{HtmlTable, folded, heads, preformatted},
};
use crate::{
    block::{
        ClassRequests, Depth, all_merges, depth_words, device_latency, issued, issued_bytes, issuer_words,
        lost_words, main_device, queue_latency, remarks, rounded_bytes, shown_repetition,
    },
    counters,
    finding::{self, CleanFinding},
    page_cache,
    printable::clean,
    section::{Section, full_title},
    surface::on_surfaces,
    svg::{self, escape},
    text, truth, units,
};
use fathom_record::block::{DeviceActivity, IssuerKind};
use fathom_record::{BlockLayer, Histogram, Phase, Repetition, Run};
use std::fmt::Write as _;

/// Maximum number of phases shown open with pictures; further ones are folded as text.
const MOST_OPEN: usize = 6;

/// Maximum number of folded phases; hundreds would make the page unusably large.
const MOST_SHUT: usize = 60;

pub(super) fn write(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    for (view, section) in shown {
        let observed = observed_phases(section);
        if observed.is_empty() {
            continue;
        }
        run_name(page, shown, view);
        if observed.iter().any(|p| shown_repetition(p).is_some_and(|(_, layer)| counters::are_all(layer))) {
            let _ = writeln!(page.body, "<p class=\"note\">{}</p>", escape(counters::LIMITS));
        }
        for (n, phase) in observed.iter().enumerate() {
            if n < MOST_OPEN {
                let id = page
                    .heading(level + 1, &format!("What reached the device: {}", clean(&full_title(phase))));
                page.links.phase(Link::Requests, &view.run.id, phase, &id);
                open(page, view.run, phase);
            } else if n < MOST_SHUT {
                let id = page.anchor();
                page.links.phase(Link::Requests, &view.run.id, phase, &id);
                shut(page, phase);
            }
        }
        if observed.len() > MOST_SHUT {
            let more = observed.len() - MOST_SHUT;
            let _ = writeln!(page.body, "<p class=\"note\">{more} more phases: fathom show --block.</p>");
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
        watched || (alone(p) && (truth::statement(p).is_some() || truth::cold(p).is_some()))
    };
    section.phases.iter().copied().filter(anything).collect()
}

/// A warning that figures are no totals, if events were lost.
pub(super) fn lost(phase: &Phase) -> String {
    let words = shown_repetition(phase).and_then(|(_, layer)| lost_words(layer));
    words
        .map_or(String::new(), |words| format!("<p class=\"trouble\" role=\"note\">{}</p>\n", escape(&words)))
}

fn open(page: &mut HtmlPage, run: &Run, phase: &Phase) {
    let watched = shown_repetition(phase);
    page.body.push_str(&lost(phase));
    page.body.push_str(&statements(phase));
    page.body.push_str(&counted(phase));
    if let Some((repetition, layer)) = watched {
        if let Some(device) = main_device(layer) {
            page.body.push_str(&cards(layer, device));
        }
        if phase.repetitions.len() > 1 {
            let _ = writeln!(
                page.body,
                "<p class=\"note\">Repetition {} of {}.</p>",
                repetition.n.saturating_add(1),
                phase.repetitions.len()
            );
        }
    }
    page.body.push_str(&memory_or_device(phase));
    if let Some(picture) = svg::cache_course(phase) {
        page.picture(&picture, "");
    }
    page.body.push_str(&findings(phase));
    let Some((repetition, layer)) = watched else { return };
    for note in &layer.notes {
        let _ = writeln!(page.body, "<p class=\"note\">{}</p>", escape(&clean(note)));
    }
    for device in &layer.devices {
        one_device(page, phase, repetition, layer, device);
    }
    simulated(page, run, phase);
    page.body.push_str(&rows(repetition, layer));
    page.body.push_str(&as_text(phase));
}

/// Sections that only a simulation can fill.
fn simulated(page: &mut HtmlPage, run: &Run, phase: &Phase) {
    let pictures = svg::inside(run, phase);
    if pictures.is_empty() {
        return;
    }
    page.body.push_str("<div class=\"pair\">\n");
    for picture in &pictures {
        page.picture(picture, &picture.description);
    }
    page.body.push_str("</div>\n");
}

/// A folded phase: its findings and the text form.
fn shut(page: &mut HtmlPage, phase: &Phase) {
    let html =
        statements(phase) + &counted(phase) + &memory_or_device(phase) + &findings(phase) + &as_text(phase);
    let summary = format!("What reached the device: {}", clean(&full_title(phase)));
    page.body.push_str(&folded(&summary, &html));
}

/// The main figures of the representative device.
fn cards(layer: &BlockLayer, device: &DeviceActivity) -> String {
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
    let mut html = String::from("<ul class=\"cards\">\n");
    for (figure, words) in list {
        let _ = writeln!(html, "<li><strong>{}</strong> {}</li>", escape(&figure), escape(&words));
    }
    html + "</ul>\n"
}

/// Memory or device in a sentence, what was done to make the files cold, and what others did to the page cache.
pub(super) fn statements(phase: &Phase) -> String {
    let cold = truth::cold(phase).map(|c| clean(&c.sentence));
    let others = page_cache::sentences(phase);
    truth::statement(phase).into_iter().chain(cold).chain(others).fold(String::new(), |mut html, sentence| {
        let _ = writeln!(html, "<p>{}</p>", escape(&sentence));
        html
    })
}

/// The counters' description of a phase without events; events have cards and pictures.
fn counted(phase: &Phase) -> String {
    let watched = shown_repetition(phase).filter(|(_, layer)| counters::are_all(layer));
    watched.map_or(String::new(), |(repetition, layer)| {
        format!("<p>{}.</p>\n", escape(&crate::block::sentence(layer, &repetition.physical)))
    })
}

/// The bytes by source and destination.
fn memory_or_device(phase: &Phase) -> String {
    let parts = truth::of_phase(phase).map(truth::parts).unwrap_or_default();
    if parts.is_empty() {
        return String::new();
    }
    let caption = format!("Memory or device, {}", clean(&full_title(phase)));
    let mut table = HtmlTable::new(&caption, &heads(&["Bytes", "How many", "Of the requested bytes"]));
    for [what, bytes, share] in &parts {
        table.row(what, &[escape(bytes), escape(share)]);
    }
    table.finish()
}

/// Sentence and advice beside their evidence.
fn findings(phase: &Phase) -> String {
    let found = finding::of_phase(phase);
    if found.is_empty() {
        return String::new();
    }
    let caption = format!("Findings, {}", clean(&full_title(phase)));
    let mut table = HtmlTable::new(&caption, &heads(&["Rule", "Finding", "What proves it"]));
    for one in &found {
        table.row(&one.rule, &[sentence(one), proofs(one)]);
    }
    format!("<div class=\"trust\">{}</div>\n", table.finish())
}

fn sentence(found: &CleanFinding) -> String {
    let advice = match found.advice.as_str() {
        "" => String::new(),
        advice => format!("<span class=\"text note\">{}</span>", escape(advice)),
    };
    format!("<span class=\"text\">{}</span>{advice}", escape(&found.sentence))
}

fn proofs(found: &CleanFinding) -> String {
    found.proofs().iter().fold(String::new(), |mut html, proof| {
        let _ = write!(html, "<span class=\"text\">{}</span>", escape(proof));
        html
    })
}

fn one_device(
    page: &mut HtmlPage,
    phase: &Phase,
    repetition: &Repetition,
    layer: &BlockLayer,
    device: &DeviceActivity,
) {
    if issued(device) == 0 {
        let _ =
            writeln!(page.body, "<p class=\"note\">Nothing reached {}.</p>", escape(&clean(&device.name)));
        return;
    }
    if layer.devices.len() > 1 {
        let kind = if device.bio_based { ", bios" } else { "" };
        let _ = writeln!(
            page.body,
            "<p class=\"whose\">{} ({}{kind})</p>",
            escape(&clean(&device.name)),
            device.number
        );
    }
    page.body.push_str("<div class=\"pair\">\n");
    for picture in svg::of_device(phase, repetition, layer, device) {
        page.picture(&picture, "");
    }
    page.body.push_str("</div>\n");
    if let Some(merges) = all_merges(device) {
        let _ = writeln!(
            page.body,
            "<p class=\"note\">Merges on {}: {merges}.</p>",
            escape(&clean(&device.name))
        );
    }
    page.body.push_str(&issuers(device));
    let remarks = remarks(device);
    if !remarks.is_empty() {
        let text = format!("{}: {}.", clean(&device.name), remarks.join("; "));
        let _ = writeln!(page.body, "<p class=\"note\">{}</p>", escape(&text));
    }
}

fn issuers(device: &DeviceActivity) -> String {
    if device.issuers.is_empty() {
        return String::new();
    }
    let caption = format!("Who issued the requests on {}", clean(&device.name));
    let head = ["Issuer", "Reads", "Read", "Writes", "Written", "Others", "Who that is"];
    let mut table = HtmlTable::new(&caption, &heads(&head));
    for issuer in &device.issuers {
        table.row(
            &issuer_words(issuer),
            &[
                units::count(issuer.reads),
                rounded_bytes(issuer.read_bytes as f64),
                units::count(issuer.writes),
                rounded_bytes(issuer.write_bytes as f64),
                units::count(issuer.others),
                format!("<span class=\"text\">{}</span>", issuer_note(issuer.kind)),
            ],
        );
    }
    table.finish()
}

/// Explains a kind of issuer.
fn issuer_note(kind: IssuerKind) -> &'static str {
    match kind {
        IssuerKind::Own => "our own workers",
        IssuerKind::Writeback => "the kernel writing dirty pages back",
        IssuerKind::Journal => "the file system's journal",
        IssuerKind::Kernel => "another thread of the kernel",
        IssuerKind::Other => "another program",
    }
}

fn rows(repetition: &Repetition, layer: &BlockLayer) -> String {
    if layer.intervals.is_empty() {
        return String::new();
    }
    let rows =
        layer.intervals.iter().map(|i| (crate::block::interval_device(layer, &repetition.physical, i), i));
    let text = text::iostat::table(rows, text::iostat::Form::Extended);
    let summary = format!("Intervals as iostat -x prints them ({} rows)", layer.intervals.len());
    folded(&summary, &preformatted(&summary, &escape_lines(&text)))
}

/// The distributions in the style of dtrace.
fn as_text(phase: &Phase) -> String {
    let text = text::run::phase(phase, text::run::IostatRows::Left);
    if text.is_empty() {
        return String::new();
    }
    let summary = format!("Distributions as text, sizes in classes of 2 KiB: {}", clean(&full_title(phase)));
    folded("Distributions as text, sizes in classes of 2 KiB", &preformatted(&summary, &escape_lines(&text)))
}

/// Escaped for an element's text, line by line.
fn escape_lines(text: &str) -> String {
    text.lines().map(|l| escape(l.trim_end()) + "\n").collect()
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
