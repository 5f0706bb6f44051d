//! Phases in reading order. A survey tags its phases with a stage ("latency", "surface", "scaling", "sync"); any other run has
//! no stages and is one section, with figures grouped by kind.

use fathom_record::figures::Cell;
use fathom_record::{Phase, Run};

/// Tag that names the stage a phase belongs to.
const STAGE: &str = "stage";
/// Tag with a sentence about the stage.
const STAGE_NOTE: &str = "stage_note";
/// Tag of the IOzone dialect: "table" or "streams". A table is recognisable without it.
const MODE: &str = "mode";

/// Phases that belong together.
#[derive(Clone, Debug)]
pub struct Section<'r> {
    /// The survey's stage; `None` if the run has none.
    pub stage: Option<String>,
    /// The survey's note about the stage.
    pub note: Option<String>,
    /// The phases, in order of execution.
    pub phases: Vec<&'r Phase>,
}

/// The run's sections, in order of first appearance.
#[must_use]
pub fn sections(run: &Run) -> Vec<Section<'_>> {
    let mut found: Vec<Section<'_>> = Vec::new();
    for phase in &run.phases {
        let stage = stage(phase).map(str::to_string);
        let at = found.iter().position(|s| s.stage == stage).unwrap_or_else(|| {
            found.push(Section { stage, note: None, phases: Vec::new() });
            found.len() - 1
        });
        let section = &mut found[at];
        if section.note.is_none() {
            section.note = phase.axes.tags.get(STAGE_NOTE).cloned();
        }
        section.phases.push(phase);
    }
    found
}

/// The stage a phase belongs to.
#[must_use]
pub fn stage(phase: &Phase) -> Option<&str> {
    phase.axes.tags.get(STAGE).map(String::as_str)
}

/// What distinguishes a phase from others of the same name, apart from sizes and streams: "O_DIRECT", "fsync each", "depth 8".
#[must_use]
pub fn qualifiers(phase: &Phase) -> Vec<String> {
    let mut words = Vec::new();
    let tags = &phase.axes.tags;
    let is_direct = |v: &str| v.eq_ignore_ascii_case("direct");
    if phase.direct && !tags.values().any(|v| is_direct(v)) && !phase.name.split_whitespace().any(is_direct) {
        words.push("O_DIRECT".to_string());
    }
    if let Some(depth) = phase.axes.queue_depth.filter(|d| *d > 1) {
        words.push(format!("queue depth {depth}"));
    }
    // "cached read" need not be called cached a second time.
    let said = |value: &str| phase.name.split_whitespace().any(|w| w.eq_ignore_ascii_case(value));
    let others = tags.iter().filter(|(k, v)| !matches!(k.as_str(), STAGE | STAGE_NOTE | MODE) && !said(v));
    for (key, value) in others {
        words.push(if key == "cache" { value.clone() } else { format!("{key} {value}") });
    }
    words
}

/// Name and qualifiers: "write, O_DIRECT".
#[must_use]
pub fn title(phase: &Phase) -> String {
    let mut words = vec![phase.name.clone()];
    words.extend(qualifiers(phase));
    words.join(", ")
}

/// Title and number of streams, for narrow tables: "write, O_DIRECT x2".
#[must_use]
pub fn brief(phase: &Phase) -> String {
    let streams = phase.axes.streams.map_or(String::new(), |n| format!(" x{n}"));
    format!("{}{streams}", title(phase))
}

/// The same for the cell of a figure.
#[must_use]
pub fn cell_title(cell: &Cell) -> String {
    full_title(&Phase {
        seq: 0,
        name: cell.operation.clone(),
        axes: cell.axes.clone(),
        reads: false,
        writes: false,
        sync_in_clock: false,
        direct: cell.direct,
        repetitions: Vec::new(),
    })
}

/// Title and sizes: "write, O_DIRECT, 2 streams, file 1 GiB, record 64 KiB".
#[must_use]
pub fn full_title(phase: &Phase) -> String {
    let mut words = vec![title(phase)];
    if let Some(n) = phase.axes.streams {
        words.push(if n == 1 { "1 stream".into() } else { format!("{n} streams") });
    }
    if let Some(b) = phase.axes.file_bytes {
        words.push(format!("file {}", crate::units::bytes(b)));
    }
    if let Some(b) = phase.axes.record_bytes {
        words.push(format!("record {}", crate::units::bytes(b)));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_survey_has_its_stages_in_order_with_their_notes() {
        let run = samples::survey_run();
        let found = sections(&run);
        let stages: Vec<&str> = found.iter().filter_map(|s| s.stage.as_deref()).collect();
        assert_eq!(stages, ["latency", "surface", "scaling", "sync"]);
        assert!(found.iter().all(|s| s.note.is_some()));
    }

    #[test]
    fn a_title_says_a_thing_once() {
        let mut phase = samples::throughput_run().phases.remove(0);
        phase.name = "cached read".into();
        phase.axes.tags.insert("cache".into(), "cached".into());
        assert_eq!(title(&phase), "cached read");
        phase.axes.tags.insert("fsync".into(), "each".into());
        phase.direct = true;
        assert_eq!(title(&phase), "cached read, O_DIRECT, fsync each");
        phase.name = "direct read".into();
        phase.axes.tags.clear();
        assert_eq!(title(&phase), "direct read");
    }
}
