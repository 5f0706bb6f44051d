//! Doubts that follow from events in the phases.

use super::{DoubtInputs, grouped, phases_where};
use crate::foreign::{self, Foreign};
use crate::trust::{Crowd, SKEW, STEAL, skew_of};
use crate::words::{percent, sentence, time, which};
use fathom_record::doubt::STOOD_STILL;
use fathom_record::origin::bytes_words;
use fathom_record::{Doubt, Ending, Phase, Regime, Run, Status};

/// A shorter phase is no longer than a scheduler tick or timer slack.
pub(crate) const SHORT_NS: u64 = 10_000_000;

pub(super) fn of(run: &Run, seen: &DoubtInputs) -> Vec<Doubt> {
    [
        stood_still(run),
        interrupted(run),
        page_cache(run),
        no_counters(run),
        short(run),
        skew(run),
        foreign_io(run),
        steal(run, seen),
        crowded(run, seen),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn page_cache(run: &Run) -> Option<Doubt> {
    let cached = phases_where(run, |p| p.origin().regime == Regime::PageCache);
    let partly = phases_where(run, |p| p.origin().regime == Regime::Mixed && !p.is_part_holes());
    let memory = phases_where(run, |p| p.origin().regime == Regime::Memory);
    if let [_, ..] = memory[..] {
        let text = format!(
            "{} ran on a file system in memory: the figures are of memory, not of storage. Name a directory on the storage you mean.",
            which(run, &memory)
        );
        return Some(grouped("memory", &memory, &text));
    }
    if cached.is_empty() && partly.is_empty() {
        return None;
    }
    let mut text = String::new();
    if !cached.is_empty() {
        text += &sentence(&format!(
            "{} moved at most 5 % of the bytes at the device: these are page-cache figures, not the device's. ",
            which(run, &cached)
        ));
    }
    if !partly.is_empty() {
        text += &sentence(&format!("{} came partly from the page cache. ", which(run, &partly)));
    }
    let all: Vec<&Phase> =
        run.phases.iter().filter(|p| cached.iter().chain(&partly).any(|c| std::ptr::eq(*c, *p))).collect();
    let writes = all.iter().any(|p| p.writes);
    let reads = all.iter().any(|p| p.reads);
    // O_DIRECT does not go past the cache of an image or of a FUSE server's files.
    let past = all.iter().any(|p| !p.direct && !p.is_served() && !p.is_image_cached());
    let image = all.iter().any(|p| p.is_image_cached());
    text += match (reads, writes, past) {
        (false, true, true) => "For the device's figures include an fsync in the clock, or use O_DIRECT.",
        (false, true, false) => "For the device's figures include an fsync in the clock.",
        (true, false, true) => {
            "For the device's figures use O_DIRECT, drop the files from the cache before, or use files larger than memory."
        }
        (true, false, false) if image => {
            "For the device's figures turn on direct I/O of the loop device (losetup --direct-io=on), or use files larger than memory."
        }
        (true, false, false) => "For the device's figures use files larger than memory.",
        (_, _, true) => {
            "For the device's figures use O_DIRECT; or include an fsync when writing, and read files that are not cached."
        }
        (_, _, false) => {
            "For the device's figures include an fsync when writing, and read files that are not cached."
        }
    };
    Some(grouped("page-cache", &all, &text))
}

fn no_counters(run: &Run) -> Option<Doubt> {
    let blind = phases_where(run, |p| {
        p.repetitions.iter().any(|r| r.bytes() > 0) && p.origin().regime == Regime::Unknown
    });
    let why = blind.first()?.origin().evidence;
    // What a server does with O_DIRECT is unknown, too.
    let counted = blind.iter().flat_map(|p| &p.repetitions).all(|r| !r.physical.devices.is_empty());
    let text = format!(
        "for {} it is not known whether the data came from memory or from a device: {why}.{}",
        which(run, &blind),
        if counted && run.phases.iter().all(|p| !p.direct) {
            " Compare with a run that uses O_DIRECT."
        } else {
            ""
        }
    );
    Some(grouped("no-counters", &blind, &text))
}

/// Length of the shortest repetition of a phase.
pub(crate) fn shortest_ns(phase: &Phase) -> Option<u64> {
    phase.repetitions.iter().map(|r| r.elapsed_ns).filter(|&ns| ns > 0).min()
}

fn short(run: &Run) -> Option<Doubt> {
    let short = phases_where(run, |p| shortest_ns(p).is_some_and(|ns| ns < SHORT_NS));
    let least = short.iter().filter_map(|p| shortest_ns(p)).min()?;
    let text = format!(
        "{} took less than 10 ms, the shortest {:.3} ms: an interruption of one scheduler tick changes such a figure by half or more. Use larger files, or repeat and take the median.",
        which(run, &short),
        least as f64 / 1e6
    );
    Some(grouped("short-phase", &short, &text))
}

fn skew(run: &Run) -> Option<Doubt> {
    let skewed = phases_where(run, |p| skew_of(p) > SKEW);
    let worst = skewed.iter().map(|p| skew_of(p)).max_by(f64::total_cmp)?;
    let text = format!(
        "in {} the workers did not start together: {} of the time had passed when the last one began. The sum of their rates counts time in which not all were running. Use longer phases or fewer workers than CPUs.",
        which(run, &skewed),
        percent(worst)
    );
    Some(grouped("skew", &skewed, &text))
}

fn foreign_io(run: &Run) -> Option<Doubt> {
    let found: Vec<(&Phase, Foreign)> = foreign::by_phase(run)
        .into_iter()
        .filter_map(|(phase, worst)| Some((phase, worst.filter(Foreign::matters)?)))
        .collect();
    let disturbed: Vec<&Phase> = found.iter().map(|(phase, _)| *phase).collect();
    let worst = found.iter().map(|(_, f)| *f).max_by(|a, b| a.share().total_cmp(&b.share()))?;
    let text = format!(
        "during {} other programs used the device: at worst they moved at least {} ({} read, {} written) of the {} that it moved in all. Stop those programs (pidstat -d 1 names them) and repeat.",
        which(run, &disturbed),
        bytes_words(worst.bytes()),
        bytes_words(worst.read_bytes),
        bytes_words(worst.write_bytes),
        bytes_words(worst.device_bytes)
    );
    Some(grouped("foreign-io", &disturbed, &text))
}

fn steal(run: &Run, seen: &DoubtInputs) -> Option<Doubt> {
    let robbed: Vec<(u32, f64)> = seen.steal.iter().copied().filter(|&(_, share)| share > STEAL).collect();
    let worst = robbed.iter().map(|&(_, share)| share).max_by(f64::total_cmp)?;
    let phases = phases_where(run, |p| robbed.iter().any(|&(seq, _)| seq == p.seq));
    if phases.is_empty() {
        return None;
    }
    let text = format!(
        "in {} the hypervisor gave our CPUs to others for up to {} of the time: rates are too low and the latency tail is its, not the storage's. Repeat when the host is quiet.",
        which(run, &phases),
        percent(worst)
    );
    Some(grouped("steal", &phases, &text))
}

fn crowded(run: &Run, seen: &DoubtInputs) -> Option<Doubt> {
    let found: Vec<(&Phase, Crowd)> =
        run.phases.iter().filter_map(|p| Some((p, Crowd::during(p, seen)?))).collect();
    let phases: Vec<&Phase> = found.iter().map(|(phase, _)| *phase).collect();
    let worst = found.iter().map(|(_, c)| *c).max_by(|a, b| a.others.total_cmp(&b.others))?;
    let text = format!(
        "during {} other programs used up to {} of the processors, and less than a fifth was idle: rates may be too low and latencies too long. `top` shows which; end them or wait, and repeat.",
        which(run, &phases),
        percent(worst.others)
    );
    Some(grouped("busy-processors", &phases, &text))
}

/// Comes first: it may explain all other doubts about the phase.
fn stood_still(run: &Run) -> Option<Doubt> {
    let still = phases_where(run, |p| p.stood_still_ns().is_some());
    let longest = still.iter().filter_map(|p| p.stood_still_ns()).max()?;
    let text = format!(
        "{} stood still for {}: the process was stopped or its machine suspended, or it got no CPU. Rates are too low, and the longest latencies are not the storage's. Measure again.",
        which(run, &still),
        time(longest as f64)
    );
    Some(grouped(STOOD_STILL, &still, &text))
}

fn interrupted(run: &Run) -> Option<Doubt> {
    let was_cut = |p: &Phase| {
        p.repetitions.iter().flat_map(|r| &r.workers).any(|w| matches!(w.ending, Ending::Interrupted))
    };
    let cut = phases_where(run, was_cut);
    let failed = phases_where(run, Phase::failed);
    let text = match run.status {
        Status::Interrupted => {
            // A phase that was cut short or failed was not measured.
            let whole = phases_where(run, |p| !p.failed() && !was_cut(p)).len();
            let phases = if whole == 1 { "phase" } else { "phases" };
            format!("a signal ended the run after {whole} {phases}; what was measured until then is kept.")
        }
        Status::Failed => {
            let why = run.error.as_deref().unwrap_or("no reason is recorded");
            format!(
                "the run could not be completed: {}. What was measured until then is kept.",
                why.trim_end_matches('.')
            )
        }
        _ if !cut.is_empty() => format!("a signal cut {} short.", which(run, &cut)),
        _ if !failed.is_empty() => {
            format!("in {} an operation failed; the figures cover what was done before.", which(run, &failed))
        }
        _ => return None,
    };
    Some(grouped("interrupted", &cut, &text))
}

#[cfg(test)]
mod tests {
    use super::super::test_runs::{code, doubts, none, phase, run_of};
    use super::*;
    use fathom_record::{OpError, Physical, Worker};

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_clean_run_gives_no_doubt() {
        none(&run_of(vec![phase("read", 100 * MIB, 100 * MIB)]), &DoubtInputs::default());
    }

    #[test]
    fn phases_from_the_page_cache_share_one_sentence() {
        let mut phases: Vec<Phase> = (0..500).map(|_| phase("read", 100 * MIB, 0)).collect();
        phases.push(phase("write", 100 * MIB, 100 * MIB));
        let found = doubts(&run_of(phases), &DoubtInputs::default());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, "page-cache");
        assert!(
            found[0].sentence.starts_with("500 of 501 phases (read) moved at most 5 %"),
            "{}",
            found[0].sentence
        );
        assert!(found[0].sentence.contains("O_DIRECT"));
    }

    #[test]
    fn a_single_phase_is_named_by_its_number() {
        let run = run_of(vec![phase("read", 100 * MIB, 100 * MIB), phase("reread", 100 * MIB, 50 * MIB)]);
        let doubt = code(&run, &DoubtInputs::default(), "page-cache");
        assert_eq!(doubt.phases, [1]);
        assert!(doubt.sentence.contains("came partly"));
    }

    #[test]
    fn memory_and_blindness_have_words_of_their_own() {
        let mut memory = phase("read", MIB, 0);
        memory.repetitions[0].physical =
            Physical { method: "memory".into(), note: Some("tmpfs".into()), ..Physical::default() };
        assert!(
            code(&run_of(vec![memory.clone()]), &DoubtInputs::default(), "memory")
                .sentence
                .contains("in memory")
        );
        memory.repetitions[0].physical =
            Physical { method: "none".into(), note: Some("an NFS from x".into()), ..Physical::default() };
        let sentence = code(&run_of(vec![memory]), &DoubtInputs::default(), "no-counters").sentence;
        assert!(sentence.contains("an NFS from x") && !sentence.contains("O_DIRECT"), "{sentence}");
    }

    #[test]
    fn phases_below_ten_milliseconds_are_short() {
        let mut run =
            run_of(vec![phase("read", 100 * MIB, 100 * MIB), phase("stride read", 100 * MIB, 100 * MIB)]);
        run.phases[1].repetitions[0].elapsed_ns = 9_999_999;
        let doubt = code(&run, &DoubtInputs::default(), "short-phase");
        assert_eq!(doubt.phases, [1]);
        assert!(
            doubt.sentence.contains("10.000 ms") && doubt.sentence.contains("stride read"),
            "{}",
            doubt.sentence
        );
        run.phases[1].repetitions[0].elapsed_ns = 10_000_000;
        none(&run, &DoubtInputs::default());
    }

    #[test]
    fn workers_that_start_apart_are_skewed() {
        let mut run = run_of(vec![phase("read", 100 * MIB, 100 * MIB)]);
        let repetition = &mut run.phases[0].repetitions[0];
        repetition.start_skew_ns = repetition.elapsed_ns / 50;
        none(&run, &DoubtInputs::default());
        run.phases[0].repetitions[0].workers.push(Worker::default());
        assert!(code(&run, &DoubtInputs::default(), "skew").sentence.contains("2.0 %"));
        run.phases[0].repetitions[0].start_skew_ns = 10;
        none(&run, &DoubtInputs::default());
    }

    #[test]
    fn a_neighbour_at_the_device_is_reported_above_two_percent() {
        let mut run = run_of(vec![phase("read", 100 * MIB, 100 * MIB)]);
        run.phases[0].repetitions[0].physical.devices[0].read_bytes += 2 * MIB;
        none(&run, &DoubtInputs::default());
        run.phases[0].repetitions[0].physical.devices[0].read_bytes += 8 * MIB;
        let doubt = code(&run, &DoubtInputs::default(), "foreign-io");
        assert!(
            doubt.sentence.contains("at least 10 MiB (10 MiB read, 0 B written) of the 110 MiB"),
            "{}",
            doubt.sentence
        );
    }

    #[test]
    fn dirty_data_of_the_previous_phase_is_not_foreign() {
        let mut run = run_of(vec![phase("read", 100 * MIB, 100 * MIB), phase("read", 100 * MIB, 100 * MIB)]);
        run.phases[1].repetitions[0].physical.dirty_before_bytes = Some(50 * MIB);
        run.phases[1].repetitions[0].physical.devices[0].write_bytes = 50 * MIB;
        none(&run, &DoubtInputs::default());
        run.phases[1].repetitions[0].physical.dirty_before_bytes = Some(0);
        assert_eq!(code(&run, &DoubtInputs::default(), "foreign-io").phases, [1]);
    }

    #[test]
    fn steal_is_reported_above_one_percent() {
        let run = run_of(vec![phase("read", 100 * MIB, 100 * MIB)]);
        none(&run, &DoubtInputs { steal: vec![(0, 0.01)], ..DoubtInputs::default() });
        let doubt = code(&run, &DoubtInputs { steal: vec![(0, 0.123)], ..DoubtInputs::default() }, "steal");
        assert_eq!(doubt.phases, [0]);
        assert!(doubt.sentence.contains("12 %"), "{}", doubt.sentence);
    }

    #[test]
    fn runs_that_did_not_end_by_themselves_say_so() {
        let mut run = run_of(vec![phase("read", 100 * MIB, 100 * MIB)]);
        run.status = Status::Interrupted;
        assert!(code(&run, &DoubtInputs::default(), "interrupted").sentence.contains("after 1 phase;"));
        run.phases[0].repetitions[0].workers[0].ending = Ending::Interrupted;
        assert!(code(&run, &DoubtInputs::default(), "interrupted").sentence.contains("after 0 phases;"));
        run.phases[0].repetitions[0].workers[0].ending = Ending::Completed;
        run.status = Status::Failed;
        run.error = Some("The disk is full.".into());
        assert!(
            code(&run, &DoubtInputs::default(), "interrupted").sentence.contains("The disk is full. What")
        );
        run.status = Status::Running;
        run.phases[0].repetitions[0].workers[0].ending = Ending::Interrupted;
        assert_eq!(code(&run, &DoubtInputs::default(), "interrupted").phases, [0]);
        let error = OpError {
            compared: None,
            call: "read".into(),
            path: "f".into(),
            offset: None,
            after_ops: 1,
            errno: 5,
            message: "I/O error.".into(),
        };
        run.phases[0].repetitions[0].workers[0].ending = Ending::Failed(error);
        assert!(code(&run, &DoubtInputs::default(), "interrupted").sentence.contains("an operation failed"));
    }

    #[test]
    fn many_kinds_are_shortened() {
        let names = ["write", "rewrite", "read", "reread", "random read", "random write"];
        let run = run_of(names.map(|n| phase(n, 100 * MIB, 0)).to_vec());
        let doubt = code(&run, &DoubtInputs::default(), "page-cache");
        assert!(
            doubt.sentence.starts_with("All 6 phases (write, rewrite, read, reread and 2 more kinds)"),
            "{}",
            doubt.sentence
        );
    }
}
