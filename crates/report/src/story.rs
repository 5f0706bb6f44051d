//! A run in words and in one small table, shared by every format: the headline, the verdicts on disk and memory, the warnings,
//! and the main figures by regime. Formats only lay it out; a wrong sentence is wrong here.

use crate::{
    Machine,
    regimes::{Kind, Mapped},
    section::full_title,
    surface::{Access, on_surfaces},
    units, writes,
};
use fathom_compare::Summary;
use fathom_record::{Phase, Regime, Repetition, Run, Status};
use std::collections::BTreeMap;

/// One run in words.
#[derive(Clone, Debug)]
pub struct Story {
    /// The run's name.
    pub title: String,
    /// What ran, where and when: (term, description).
    pub facts: Vec<(&'static str, String)>,
    /// How it ended, if not as requested.
    pub trouble: Vec<String>,
    /// What is disk and what is memory.
    pub verdicts: Vec<Verdict>,
    /// Doubts, grouped by code.
    pub doubts: Vec<DoubtGroup>,
    /// Main figures: one row per test, one column per regime.
    pub figures: Vec<FigureRow>,
}

/// One sentence about where figures come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The regime concerned; `None` for anything else.
    pub kind: Option<Kind>,
    /// One or two leading words: the regime's, "with fsync", "hint".
    pub mark: &'static str,
    /// The sentence.
    pub sentence: String,
}

/// Doubts of one code.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubtGroup {
    /// "page-cache", "short-phase", ...
    pub code: String,
    /// Their sentences, in order.
    pub sentences: Vec<String>,
    /// The phases they concern, by their `seq`, each once; none if they concern the whole run.
    pub phases: Vec<u32>,
}

/// One test.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRow {
    /// Such as "random read", or a phase with its sizes.
    pub title: String,
    /// Whether the test reads or writes.
    pub access: Access,
    /// Whether it is a single phase outside any surface.
    pub single: bool,
    /// Throughput by regime, bytes/s. Empty if no file data was moved.
    pub by_kind: BTreeMap<Kind, Summary>,
    /// The figure to quote for each, bytes/s: on a surface that of the largest file, which does not depend on the chosen sizes,
    /// else the median.
    pub quoted: BTreeMap<Kind, f64>,
    /// Operations per second of a phase that moved no file data and was not meant to; then they are the figure to quote.
    pub ops: Option<Summary>,
    /// The phase's error, if it failed.
    pub error: Option<String>,
}

impl Verdict {
    fn of(kind: Kind, sentence: String) -> Self {
        Self { kind: Some(kind), mark: kind.words(), sentence }
    }
}

impl Story {
    /// Describes a run.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let machine = Machine::of(run);
        let mapped = Mapped::of_run(run);
        let figures = figures(run, &mapped);
        Self {
            title: title(run),
            facts: facts(run, &machine),
            trouble: trouble(run),
            verdicts: uses(run).chain(verdicts(run, &machine, &figures)).collect(),
            doubts: doubt_groups(run),
            figures,
        }
    }

    /// The regimes that occur among the main figures, in the order of [`Kind::ALL`].
    #[must_use]
    pub fn kinds(&self) -> Vec<Kind> {
        Kind::ALL.into_iter().filter(|k| self.figures.iter().any(|f| f.by_kind.contains_key(k))).collect()
    }
}

/// The run's name. It marks a simulated run, so that it is never taken for measured.
pub(crate) fn title(run: &Run) -> String {
    let name = if run.label.is_empty() { &run.id } else { &run.label };
    if run.simulation.is_some() { format!("{name} (simulated)") } else { name.clone() }
}

fn facts(run: &Run, machine: &Machine) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut add = |term, text: Option<String>| {
        if let Some(text) = text.filter(|t| !t.is_empty()) {
            facts.push((term, text));
        }
    };
    add("Command", Some(run.argv.join(" ")));
    add("Directory", Some(run.directory.clone()));
    let storage = match (&machine.filesystem, &machine.device) {
        (Some(filesystem), Some(device)) => Some(format!("{filesystem} on {device}")),
        (filesystem, device) => filesystem.clone().or(device.clone()),
    };
    add("Storage", storage);
    let caches = machine.caches.iter().map(|c| format!("{} {}", c.label, units::bytes(c.bytes)));
    let memory = machine.memory_bytes.map(|b| format!("{} of memory", units::bytes(b)));
    let parts: Vec<String> = machine.cpu_model.clone().into_iter().chain(caches).chain(memory).collect();
    add("Machine", Some(parts.join(", ")));
    let host = [machine.host.clone(), machine.kernel.clone().map(|k| format!("Linux {k}"))];
    add("Host", Some(host.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    let until = if run.ended_at.is_empty() { String::new() } else { format!(" to {}", run.ended_at) };
    add("When", (!run.started_at.is_empty()).then(|| format!("{}{until}", run.started_at)));
    add("Run", Some(format!("{} ({}, fathom {}, seed {})", run.id, run.dialect, run.version, run.seed)));
    facts
}

fn trouble(run: &Run) -> Vec<String> {
    let failed = run.phases.iter().filter(|p| p.failed()).count();
    let done = match (run.phases.len() - failed, failed) {
        (0, 0) => "No phase was finished; there is nothing to draw.".to_string(),
        (0, _) => "No phase was finished; what was done before the error is shown.".to_string(),
        (1, _) => "What was measured before (1 phase) is shown.".to_string(),
        (n, _) => format!("What was measured before ({n} phases) is shown."),
    };
    let mut lines = match run.status {
        Status::Completed if run.phases.is_empty() => {
            vec!["The run has no phases; there is nothing to draw.".into()]
        }
        Status::Completed => Vec::new(),
        Status::Running => vec![format!("The run has not ended, or was killed without warning. {done}")],
        Status::Interrupted => vec![format!("A signal interrupted the run. {done}")],
        Status::Failed => vec![format!("An error ended the run. {done}")],
    };
    lines.extend(errors(run));
    lines.extend(crate::passed::sentences(run));
    lines
}

/// Every error once: one that ended the run is in its phase too, and several phases may have met the same one.
fn errors(run: &Run) -> Vec<String> {
    let mut found: Vec<(String, &str, usize)> = Vec::new();
    for phase in &run.phases {
        for error in phase.repetitions.iter().filter_map(|r| r.error()) {
            match found.iter_mut().find(|(_, message, _)| *message == error.message) {
                Some((title, _, more)) => *more += usize::from(*title != full_title(phase)),
                None => found.push((full_title(phase), &error.message, 0)),
            }
        }
    }
    let ended = run.error.as_deref();
    let is_listed = found.iter().any(|(_, message, _)| ended.is_some_and(|e| e.contains(message)));
    let lines = found.iter().map(|(title, message, more)| {
        // Prefer the run's own sentence if it contains the operation's.
        let words = ended.filter(|e| e.contains(message)).unwrap_or(message);
        let more = match more {
            0 => String::new(),
            1 => " (and in 1 more phase)".into(),
            n => format!(" (and in {n} more phases)"),
        };
        format!("{title}: {words}{more}")
    });
    ended.filter(|_| !is_listed).map(String::from).into_iter().chain(lines).collect()
}

fn doubt_groups(run: &Run) -> Vec<DoubtGroup> {
    let mut groups: Vec<DoubtGroup> = Vec::new();
    for doubt in &run.doubts {
        let at = groups.iter().position(|g| g.code == doubt.code).unwrap_or_else(|| {
            let code = doubt.code.clone();
            groups.push(DoubtGroup { code, sentences: Vec::new(), phases: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.sentences.push(doubt.sentence.clone());
        group.phases.extend(&doubt.phases);
        group.phases.sort_unstable();
        group.phases.dedup();
    }
    groups
}

fn figures(run: &Run, mapped: &[Mapped]) -> Vec<FigureRow> {
    let phases: Vec<&Phase> = run.phases.iter().collect();
    let (_, single) = on_surfaces(&phases);
    let surfaces = mapped.iter().map(|m| FigureRow {
        title: m.surface.title.clone(),
        access: m.surface.access,
        single: false,
        by_kind: Kind::ALL.into_iter().filter_map(|k| Some((k, m.rates_of(k)?))).collect(),
        quoted: Kind::ALL.into_iter().filter_map(|k| Some((k, m.largest_of(k)?))).collect(),
        ops: None,
        error: None,
    });
    let singles = single.into_iter().map(|phase| {
        let rates = |f: fn(&Repetition) -> Option<f64>| {
            Summary::of(&phase.repetitions.iter().filter_map(f).collect::<Vec<f64>>())
        };
        let metadata = phase.is_metadata_only();
        let bytes = if metadata { None } else { rates(Repetition::bytes_per_s) };
        let by_kind: BTreeMap<Kind, Summary> =
            bytes.map(|s| (phase.origin().regime.into(), s)).into_iter().collect();
        let quoted = by_kind.iter().map(|(kind, s)| (*kind, s.median)).collect();
        let error = phase.repetitions.iter().find_map(|r| r.error()).map(|e| e.message.clone());
        // The rate of a phase that failed covers only part of the work; its name says so in every format.
        let failed = if error.is_some() { " (failed part way)" } else { "" };
        FigureRow {
            title: format!("{}{failed}", full_title(phase)),
            access: Access::of(&[phase]),
            single: true,
            by_kind,
            quoted,
            ops: if metadata { rates(Repetition::ops_per_s) } else { None },
            error,
        }
    });
    surfaces.chain(singles).collect()
}

/// What a survey's storage is good for.
fn uses(run: &Run) -> impl Iterator<Item = Verdict> {
    let all = crate::survey::verdicts(run).into_iter();
    all.map(|v| Verdict { kind: None, mark: v.of, sentence: v.sentence })
}

/// The sentences that prevent a cache number from passing for a disk's.
fn verdicts(run: &Run, machine: &Machine, figures: &[FigureRow]) -> Vec<Verdict> {
    // A phase that failed part way was not measured.
    let figures: Vec<&FigureRow> = figures.iter().filter(|f| f.error.is_none()).collect();
    let figures = figures.as_slice();
    let count = |kinds: &[Kind]| {
        figures
            .iter()
            .flat_map(|f| &f.by_kind)
            .filter(|(k, _)| kinds.contains(k))
            .map(|(_, s)| s.n)
            .sum::<usize>()
    };
    let total = count(&Kind::ALL);
    if total == 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let device = count(&[Kind::Device]);
    if device > 0 {
        let rates = spread(figures, &[Kind::Device]);
        let sentence = if all_of(run, Regime::Device, Phase::is_shrunk) {
            format!(
                "{device} of {total} came from or reached the device compressed, which moved fewer bytes than these rates say: {rates}."
            )
        } else {
            format!("{device} of {total} figures are the device's own: {rates}.")
        };
        found.push(Verdict::of(Kind::Device, sentence));
    }
    let mixed = count(&[Kind::Mixed]);
    if mixed > 0 {
        let rates = spread(figures, &[Kind::Mixed]);
        let (mark, what) = if all_of(run, Regime::Mixed, Phase::is_part_holes) {
            ("device and holes", "part device, part holes, for which the kernel returns zeros")
        } else {
            (Kind::Mixed.words(), "part memory, part device")
        };
        let sentence =
            format!("{mixed} of {total} are {what} ({rates}): neither the disk's speed nor the cache's.");
        found.push(Verdict { kind: Some(Kind::Mixed), mark, sentence });
    }
    let memory = [Kind::CpuCache, Kind::PageCache];
    let cached = count(&memory);
    if cached > 0 {
        let (mark, what) = if all_of(run, Regime::PageCache, Phase::is_served) {
            ("memory", "came from memory")
        } else {
            (Kind::PageCache.words(), "were served from the page cache")
        };
        let rates = spread(figures, &memory);
        let sentence = format!("{cached} of {total} {what}, not from the disk: {rates}.");
        found.push(Verdict { kind: Some(Kind::PageCache), mark, sentence });
    }
    let holes = count(&[Kind::Holes]);
    if holes > 0 {
        let sentence = format!(
            "{holes} of {total} figures are reads of holes, where the kernel returns zeros without reading a device: {}.",
            spread(figures, &[Kind::Holes])
        );
        found.push(Verdict::of(Kind::Holes, sentence));
    }
    if count(&[Kind::Memory]) > 0 {
        let sentence = "The file system lives in memory: no figure here is a disk's.".to_string();
        found.push(Verdict::of(Kind::Memory, sentence));
    }
    let without = count(&[Kind::NoIo]);
    if without > 0 {
        let sentence = format!(
            "{without} of {total} made no I/O: the back-end null makes no call, so this is the cost of fathom itself."
        );
        found.push(Verdict::of(Kind::NoIo, sentence));
    }
    if count(&[Kind::Unknown]) > 0 {
        let n = count(&[Kind::Unknown]);
        let sentence = format!("For {n} of {total} it is not known whether memory or a device answered.");
        found.push(Verdict::of(Kind::Unknown, sentence));
    }
    found.extend(with_fsync(run));
    if device == 0 && cached > 0 {
        found.extend(past_the_cache(run, machine));
    }
    if holes > 0 {
        let sentence = "To read data: write the files first.".to_string();
        found.push(Verdict { kind: None, mark: "hint", sentence });
    }
    found
}

/// Whether all phases of a regime, and there is one, are also something else.
fn all_of(run: &Run, regime: Regime, also: fn(&Phase) -> bool) -> bool {
    let mut of = run.phases.iter().filter(|p| !p.failed() && p.origin().regime == regime).peekable();
    of.peek().is_some() && of.all(also)
}

/// What would show the disk in place of the page cache: only what was not done already, and would help here.
fn past_the_cache(run: &Run, machine: &Machine) -> Option<Verdict> {
    let cached: Vec<&Phase> =
        run.phases.iter().filter(|p| !p.failed() && p.origin().regime == Regime::PageCache).collect();
    // Without a device in sight, O_DIRECT may end in another program's cache.
    let blind = |p: &Phase| {
        p.repetitions.last().is_some_and(|r| r.physical.devices.is_empty() || r.physical.is_served())
    };
    let image = cached.iter().any(|p| p.is_image_cached());
    let larger = machine.memory_bytes.map_or(String::new(), |b| format!(" ({})", units::bytes(b)));
    let mut ways = vec![format!("files larger than memory{larger}")];
    if image {
        ways.push("direct I/O of the loop device (losetup --direct-io=on)".into());
    } else if cached.iter().any(|p| !p.direct && !blind(p)) {
        ways.push("O_DIRECT".into());
    }
    let writes = cached.iter().any(|p| p.writes);
    if writes && cached.iter().all(|p| !p.sync_in_clock && !blind(p)) {
        ways.push("fsync inside the clock for writes".into());
    }
    let ways = match ways.as_slice() {
        [one] => one.clone(),
        [one, two] => format!("{one}, or {two}"),
        [first @ .., last] => format!("{}, or {last}", first.join(", ")),
        [] => return None,
    };
    Some(Verdict { kind: None, mark: "hint", sentence: format!("To see the disk itself: {ways}.") })
}

/// "reads 391 MiB/s to 440 MiB/s, writes 210 MiB/s to 330 MiB/s": the extremes, because a median over different record sizes
/// would describe no actual speed.
fn spread(figures: &[&FigureRow], kinds: &[Kind]) -> String {
    let of = |access: Access| -> Option<(f64, f64)> {
        let here = figures.iter().filter(|f| f.access == access);
        let picked: Vec<&Summary> =
            here.flat_map(|f| &f.by_kind).filter(|(k, _)| kinds.contains(k)).map(|(_, s)| s).collect();
        let low = picked.iter().map(|s| s.min).min_by(f64::total_cmp)?;
        Some((low, picked.iter().map(|s| s.max).max_by(f64::total_cmp)?))
    };
    let words = |access: Access| Some(format!("{} {}", access.words(), range_words(of(access)?)));
    [Access::Read, Access::Write, Access::Both].into_iter().filter_map(words).collect::<Vec<_>>().join(", ")
}

/// "391 MiB/s to 440 MiB/s", or one figure if both read the same.
fn range_words((low, high): (f64, f64)) -> String {
    let (low, high) = (units::rate(low), units::rate(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Buffered writes whose clock stopped before the fsync that followed: their rate once the data is safe.
fn with_fsync(run: &Run) -> Option<Verdict> {
    let rows: Vec<writes::WriteRow> = run.phases.iter().filter_map(writes::WriteRow::of).collect();
    let untimed: Vec<&writes::WriteRow> =
        rows.iter().filter(|r| r.fsync_untimed && matches!(r.to_fsync, writes::Synced::Rate(_))).collect();
    let range = |figure: fn(&writes::WriteRow) -> f64| {
        let rates = || untimed.iter().map(|r| figure(r));
        Some(range_words((rates().min_by(f64::total_cmp)?, rates().max_by(f64::total_cmp)?)))
    };
    let which = match untimed.len() {
        1 => "The write that was followed by an fsync".to_string(),
        n => format!("The {n} writes that were followed by an fsync"),
    };
    let sentence = format!(
        "{which}: {} until it returned, {} until the last write only.",
        range(writes::WriteRow::headline)?,
        range(|r| r.to_last)?
    );
    Some(Verdict { kind: None, mark: "with fsync", sentence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn sentence(story: &Story, kind: Kind) -> Option<String> {
        story.verdicts.iter().find(|v| v.kind == Some(kind)).map(|v| v.sentence.clone())
    }

    #[test]
    fn a_cache_number_is_said_to_be_one() {
        let story = Story::of(&samples::auto_run());
        assert!(sentence(&story, Kind::PageCache).expect("cache").contains("not from the disk"));
        assert!(sentence(&story, Kind::Device).expect("device").contains("device's own"));
        assert_eq!(story.figures.len(), 13);
        assert_eq!(story.kinds(), [Kind::CpuCache, Kind::PageCache, Kind::Device]);
    }

    #[test]
    fn an_interrupted_run_says_so_and_claims_nothing() {
        let story = Story::of(&samples::interrupted_run());
        assert!(story.trouble[0].contains("interrupted"), "{:?}", story.trouble);
        assert!(story.verdicts.is_empty() && story.figures.is_empty());
    }

    #[test]
    fn worker_errors_are_reported() {
        let story = Story::of(&samples::hostile_run());
        assert!(story.trouble.iter().any(|t| t.contains("no space left")), "{:?}", story.trouble);
    }

    #[test]
    fn reads_and_writes_together_are_not_called_reads() {
        let story = Story::of(&samples::mixed_run());
        let said = sentence(&story, Kind::Device).expect("device");
        assert!(said.contains("reads and writes together 100 MiB/s"), "{said}");
        assert!(said.contains("reads 50.0 MiB/s,"), "{said}");
    }

    #[test]
    fn phases_without_data_are_quoted_in_operations() {
        let story = Story::of(&samples::filebench_run());
        let row = story.figures.iter().find(|f| f.title.starts_with("create and delete")).expect("a row");
        assert!(row.by_kind.is_empty());
        assert!(row.ops.as_ref().is_some_and(|s| (s.median - 9000.0).abs() < 1.0), "{row:?}");
        assert!(story.verdicts.iter().all(|v| !v.sentence.contains("0.00 B/s")), "{:?}", story.verdicts);
    }

    #[test]
    fn writes_are_quoted_with_their_fsync() {
        let story = Story::of(&samples::synced_run());
        let verdict = story.verdicts.iter().find(|v| v.mark == "with fsync").expect("reported");
        assert_eq!(
            verdict.sentence,
            "The write that was followed by an fsync: 64.0 MiB/s until it returned, 128 MiB/s until the last write only."
        );
        assert!(Story::of(&samples::auto_run()).verdicts.iter().all(|v| v.mark != "with fsync"));
    }

    #[test]
    fn a_failed_phase_is_not_measured_and_its_error_is_told_once() {
        let mut run = samples::throughput_run();
        run.status = Status::Failed;
        samples::fail(&mut run.phases[8], "reading x failed: I/O error");
        run.error = Some("reading x failed: I/O error (after 7 operations)".into());
        let story = Story::of(&run);
        assert!(story.trouble[0].contains("(8 phases)"), "{:?}", story.trouble);
        let trouble: Vec<&String> = story.trouble.iter().filter(|t| t.contains("I/O error")).collect();
        assert_eq!(trouble.len(), 1, "{trouble:?}");
        assert!(
            trouble[0].starts_with("read, 3 streams") && trouble[0].ends_with("(after 7 operations)"),
            "{trouble:?}"
        );
        assert!(sentence(&story, Kind::Device).expect("device").starts_with("8 of 8"));
        samples::fail(&mut run.phases[7], "reading x failed: I/O error");
        let trouble = Story::of(&run).trouble;
        assert_eq!(trouble.iter().filter(|t| t.contains("I/O error")).count(), 1, "{trouble:?}");
        assert!(trouble[1].ends_with("(and in 1 more phase)"), "{trouble:?}");
    }

    const MIB: u64 = 1 << 20;

    /// A run of one phase of 64 MiB, of which the device moved `moved`.
    fn of_one(phase: Phase, moved: u64) -> Run {
        let device = fathom_record::DeviceDelta {
            name: "loop0".into(),
            kind: "loop".into(),
            read_bytes: moved,
            write_bytes: moved,
            ..fathom_record::DeviceDelta::default()
        };
        let physical = fathom_record::Physical {
            method: "diskstats".into(),
            devices: vec![device],
            ..fathom_record::Physical::default()
        };
        let worker = fathom_record::Worker {
            bytes: 64 * MIB,
            elapsed_ns: 1_000_000_000,
            ..fathom_record::Worker::default()
        };
        let repetition = Repetition {
            workers: vec![worker],
            elapsed_ns: 1_000_000_000,
            physical,
            ..Repetition::default()
        };
        let phases = vec![Phase { repetitions: vec![repetition], ..phase }];
        Run { status: Status::Completed, phases, ..Run::default() }
    }

    fn reading(direct: bool) -> Phase {
        Phase {
            seq: 0,
            name: "read".into(),
            axes: fathom_record::Axes::default(),
            reads: true,
            writes: false,
            sync_in_clock: false,
            direct,
            repetitions: Vec::new(),
        }
    }

    fn hint(run: &Run) -> String {
        let hint = Story::of(run).verdicts.into_iter().find(|v| v.mark == "hint");
        hint.expect("a hint").sentence
    }

    #[test]
    fn a_hint_names_only_what_helps() {
        let read = "To see the disk itself: files larger than memory, or O_DIRECT.";
        assert_eq!(hint(&of_one(reading(false), 0)), read);
        let written = "To see the disk itself: files larger than memory, O_DIRECT, or fsync inside the clock for writes.";
        let writing = Phase { writes: true, reads: false, ..reading(false) };
        assert_eq!(hint(&of_one(writing, 0)), written);
        let direct = hint(&of_one(reading(true), 0));
        assert!(!direct.contains("O_DIRECT"), "it was requested: {direct}");
        let synced = Phase { writes: true, reads: false, sync_in_clock: true, ..reading(false) };
        let synced = hint(&of_one(synced, 0));
        assert_eq!(synced, read);
        let mut image = of_one(reading(false), 64 * MIB);
        let disk = fathom_record::DeviceDelta { name: "vda".into(), level: 1, ..Default::default() };
        image.phases[0].repetitions[0].physical.devices.push(disk);
        let image = hint(&image);
        assert!(image.contains("losetup --direct-io=on") && !image.contains("O_DIRECT"), "{image}");
    }

    #[test]
    fn holes_beside_the_device_are_not_called_memory() {
        let mut run = of_one(reading(true), 32 * MIB);
        let extents = fathom_record::Extents { bytes: 64 * MIB, hole_bytes: 32 * MIB, ..Default::default() };
        run.phases[0].repetitions[0].extents = Some(extents);
        let said = sentence(&Story::of(&run), Kind::Mixed).expect("reported");
        assert!(said.contains("part device, part holes") && !said.contains("memory"), "{said}");
        assert!(Story::of(&run).verdicts.iter().all(|v| !v.mark.contains("cache")));
        assert_eq!(Kind::served(&run.phases[0]), "part holes");
        run.phases[0].repetitions[0].extents = None;
        assert!(
            sentence(&Story::of(&run), Kind::Mixed).expect("reported").contains("part memory, part device")
        );
    }

    #[test]
    fn a_compressed_rate_is_not_the_devices_own() {
        let mut run = of_one(reading(false), 2 * MIB);
        let none = fathom_record::Residency { total_pages: 16_384, ..Default::default() };
        let repetition = &mut run.phases[0].repetitions[0];
        repetition.resident_before = Some(none);
        repetition.physical.compression = Some("zstd:3".into());
        let said = sentence(&Story::of(&run), Kind::Device).expect("reported");
        assert!(said.contains("fewer bytes than these rates say") && !said.contains("own"), "{said}");
    }
}
