//! Block-layer activity as tidy CSV: a table of requests by class (one row per device and class), one of their sizes (one row
//! per size), one of iostat-style rows, and one of findings (one row per figure of evidence). Units are in the header; a cell
//! is empty if the value does not apply or was not watched.

use super::csv::{Table, latency_cells};
use super::maybe;
use crate::block::{BlockInterval, DeviceActivity, RequestStats, TimeSource};
use crate::{BlockLayer, Phase, Repetition, Run};

/// The columns that say where a row belongs.
const PLACE: [&str; 5] = ["run_id", "label", "phase_seq", "phase", "repetition"];

/// Every watched repetition, with the cells of its place.
fn watched(runs: &[Run]) -> impl Iterator<Item = ([String; 5], &Repetition, &BlockLayer)> {
    places(runs).filter_map(|(place, repetition)| Some((place, repetition, repetition.block.as_ref()?)))
}

fn places(runs: &[Run]) -> impl Iterator<Item = ([String; 5], &Repetition)> {
    let phases = runs.iter().flat_map(|run| run.phases.iter().map(move |phase| (run, phase)));
    phases.flat_map(|(run, phase)| phase.repetitions.iter().map(move |r| (place(run, phase, r), r)))
}

fn place(run: &Run, phase: &Phase, repetition: &Repetition) -> [String; 5] {
    [run.id.clone(), run.label.clone(), phase.seq.to_string(), phase.name.clone(), repetition.n.to_string()]
}

fn head(table: &mut Table, own: &[&str]) {
    table.row(PLACE.iter().chain(own).map(ToString::to_string));
}

fn per_s(count: u64, ns: u64) -> String {
    maybe((ns > 0).then(|| count as f64 * 1e9 / ns as f64))
}

fn share(part: u64, whole: u64) -> String {
    maybe((whole > 0).then(|| part as f64 / whole as f64))
}

const REQUESTS: [&str; 50] = [
    "source",
    "lost",
    "watched_ns",
    "device",
    "position",
    "level",
    "bio_based",
    "busy_share",
    "unfinished",
    "begun_before",
    "requeued",
    "splits",
    "unplugs",
    "class",
    "issued",
    "issued_bytes",
    "mean_bytes",
    "completed",
    "completed_bytes",
    "requests_per_s",
    "bytes_per_s",
    "errors",
    "ahead",
    "sync",
    "meta",
    "fua",
    "bios",
    "back_merges",
    "front_merges",
    "request_merges",
    "sequential",
    "forward",
    "backward",
    "seek_bytes",
    "q2d_timed",
    "q2d_mean_ns",
    "q2d_min_ns",
    "q2d_p50_ns",
    "q2d_p90_ns",
    "q2d_p99_ns",
    "q2d_p99.9_ns",
    "q2d_max_ns",
    "d2c_timed",
    "d2c_mean_ns",
    "d2c_min_ns",
    "d2c_p50_ns",
    "d2c_p90_ns",
    "d2c_p99_ns",
    "d2c_p99.9_ns",
    "d2c_max_ns",
];

/// The runs' requests: one row per device and class that occurred. Figures of the device are repeated on each of its rows.
#[must_use]
pub fn request_csv(runs: &[Run]) -> String {
    let mut table = Table::new();
    head(&mut table, &REQUESTS);
    for (place, _, layer) in watched(runs) {
        for (position, device) in layer.devices.iter().enumerate() {
            for stats in &device.requests {
                let cells =
                    device_cells(layer, position, device).into_iter().chain(request_cells(layer, stats));
                table.row(place.iter().cloned().chain(cells));
            }
        }
    }
    table.text()
}

fn device_cells(layer: &BlockLayer, position: usize, device: &DeviceActivity) -> [String; 13] {
    [
        layer.source.clone(),
        layer.lost.to_string(),
        layer.watched_ns.to_string(),
        device.name.clone(),
        position.to_string(),
        device.level.to_string(),
        device.bio_based.to_string(),
        share(device.busy_ns, layer.watched_ns),
        device.unfinished.to_string(),
        device.begun_before.to_string(),
        device.requeued.to_string(),
        maybe(device.splits),
        maybe(device.unplugs.map(|u| u.0)),
    ]
}

fn request_cells(layer: &BlockLayer, s: &RequestStats) -> impl Iterator<Item = String> {
    let counts = [
        s.class.word().to_string(),
        s.issued.to_string(),
        s.issued_bytes.to_string(),
        share(s.issued_bytes, s.issued),
        s.completed.to_string(),
        s.completed_bytes.to_string(),
        per_s(s.completed, layer.watched_ns),
        per_s(s.completed_bytes, layer.watched_ns),
        s.errors.to_string(),
        s.ahead.to_string(),
        s.sync.to_string(),
        s.meta.to_string(),
        s.fua.to_string(),
        maybe(s.bios),
        maybe(s.back_merges),
        maybe(s.front_merges),
        maybe(s.request_merges),
        s.seeks.sequential.to_string(),
        s.seeks.forward.to_string(),
        s.seeks.backward.to_string(),
        s.seeks.total_bytes.to_string(),
    ];
    let timed = |h: &crate::Histogram| std::iter::once(h.count().to_string()).chain(latency_cells(h));
    counts.into_iter().chain(timed(&s.q2d)).chain(timed(&s.d2c))
}

const SIZES: [&str; 6] = ["device", "position", "level", "class", "size_bytes", "requests"];

/// The sizes of the runs' requests: one row per device, class and exact size.
#[must_use]
pub fn size_csv(runs: &[Run]) -> String {
    let mut table = Table::new();
    head(&mut table, &SIZES);
    for (place, _, layer) in watched(runs) {
        for (position, device) in layer.devices.iter().enumerate() {
            for (stats, size) in
                device.requests.iter().flat_map(|s| s.sizes.iter().map(move |size| (s, size)))
            {
                let own = [
                    device.name.clone(),
                    position.to_string(),
                    device.level.to_string(),
                    stats.class.word().to_string(),
                    size.bytes.to_string(),
                    size.count.to_string(),
                ];
                table.row(place.iter().cloned().chain(own));
            }
        }
    }
    table.text()
}

const ROWS: [&str; 26] = [
    "device",
    "source",
    "end_ns",
    "width_ns",
    "reads",
    "read_bytes",
    "read_merges",
    "read_ns",
    "writes",
    "write_bytes",
    "write_merges",
    "write_ns",
    "discards",
    "flushes",
    "busy_ns",
    "depth_ns",
    "reads_per_s",
    "read_bytes_per_s",
    "read_await_ns",
    "read_mean_bytes",
    "writes_per_s",
    "write_bytes_per_s",
    "write_await_ns",
    "write_mean_bytes",
    "queue_depth",
    "busy_share",
];

/// The runs' iostat-style rows: one per device and interval, with the sums and iostat's derived figures.
#[must_use]
pub fn iostat_csv(runs: &[Run]) -> String {
    let mut table = Table::new();
    head(&mut table, &ROWS);
    for (place, repetition, layer) in watched(runs) {
        for row in &layer.intervals {
            let name = device_name(repetition, layer, row);
            table.row(place.iter().cloned().chain(std::iter::once(name)).chain(row_cells(row)));
        }
    }
    table.text()
}

/// The device of a row: rows from events and rows from counters index two different lists.
fn device_name(repetition: &Repetition, layer: &BlockLayer, row: &BlockInterval) -> String {
    let position = row.device as usize;
    let name = match row.source {
        TimeSource::Events => layer.devices.get(position).map(|d| &d.name),
        TimeSource::Counters => repetition.physical.devices.get(position).map(|d| &d.name),
    };
    name.cloned().unwrap_or_default()
}

fn row_cells(r: &BlockInterval) -> [String; 25] {
    [
        r.source.word().to_string(),
        r.end_ns.to_string(),
        r.width_ns.to_string(),
        r.reads.to_string(),
        r.read_bytes.to_string(),
        r.read_merges.to_string(),
        r.read_ns.to_string(),
        r.writes.to_string(),
        r.write_bytes.to_string(),
        r.write_merges.to_string(),
        r.write_ns.to_string(),
        r.discards.to_string(),
        r.flushes.to_string(),
        r.busy_ns.to_string(),
        r.depth_ns.to_string(),
        per_s(r.reads, r.width_ns),
        per_s(r.read_bytes, r.width_ns),
        share(r.read_ns, r.reads),
        share(r.read_bytes, r.reads),
        per_s(r.writes, r.width_ns),
        per_s(r.write_bytes, r.width_ns),
        share(r.write_ns, r.writes),
        share(r.write_bytes, r.writes),
        share(r.depth_ns, r.width_ns),
        share(r.busy_ns, r.width_ns),
    ]
}

const FINDINGS: [&str; 8] = ["finding", "rule", "sentence", "advice", "figure", "value", "unit", "source"];

/// The runs' findings: one row per figure of evidence, and one with empty figures for a finding without evidence.
#[must_use]
pub fn finding_csv(runs: &[Run]) -> String {
    let mut table = Table::new();
    head(&mut table, &FINDINGS);
    for (place, repetition) in places(runs) {
        for (n, finding) in repetition.findings.iter().enumerate() {
            let what =
                [n.to_string(), finding.rule.clone(), finding.sentence.clone(), finding.advice.clone()];
            let proofs = finding.evidence.iter().map(|e| {
                // NaN and infinities become empty cells.
                let value = maybe(Some(e.value).filter(|v| v.is_finite()));
                [e.name.clone(), value, e.unit.clone(), e.source.clone()]
            });
            let none = finding.evidence.is_empty().then(Default::default);
            for proof in proofs.chain(none) {
                table.row(place.iter().chain(&what).cloned().chain(proof));
            }
        }
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_golden;
    use super::*;
    use crate::store::tests::{any_run, sample_run};
    use proptest::prelude::*;

    #[test]
    fn the_tables_are_as_published() {
        let runs = [sample_run()];
        assert_golden("requests.csv", &request_csv(&runs));
        assert_golden("sizes.csv", &size_csv(&runs));
        assert_golden("iostat.csv", &iostat_csv(&runs));
        assert_golden("findings.csv", &finding_csv(&runs));
    }

    fn rows(text: &str) -> usize {
        let all = csv::Reader::from_reader(text.as_bytes()).into_records().collect::<Result<Vec<_>, _>>();
        all.expect("well formed").len()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_observation_has_its_row(run in any_run()) {
            let runs = std::slice::from_ref(&run);
            let all = || run.phases.iter().flat_map(|p| &p.repetitions);
            let devices = || all().filter_map(|r| r.block.as_ref()).flat_map(|b| &b.devices);
            let requests = || devices().flat_map(|d| &d.requests);
            prop_assert_eq!(rows(&request_csv(runs)), requests().count());
            prop_assert_eq!(rows(&size_csv(runs)), requests().map(|s| s.sizes.len()).sum::<usize>());
            let intervals = all().filter_map(|r| r.block.as_ref()).map(|b| b.intervals.len());
            prop_assert_eq!(rows(&iostat_csv(runs)), intervals.sum::<usize>());
            let findings = all().flat_map(|r| &r.findings).map(|f| f.evidence.len().max(1));
            prop_assert_eq!(rows(&finding_csv(runs)), findings.sum::<usize>());
        }
    }
}
