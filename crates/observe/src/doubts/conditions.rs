//! Doubts about the conditions of a measurement: a cold or warm cache, files with data in them, a rate that is kept, a steady state,
//! repetitions that agree, an undisturbed machine.

use super::{grouped, phases_where};
use crate::trust::{SPREAD, last_asked, missed, paced, spread, unbacked};
use crate::words::{percent, time, which};
use fathom_record::origin::bytes_words;
use fathom_record::{CacheIntent, Doubt, Phase, Run, Tail};

pub(super) fn of(run: &Run) -> Vec<Doubt> {
    [not_cold(run), not_warm(run), holes(run), overloaded(run), not_steady(run), apart(run), jitter(run)]
        .into_iter()
        .flatten()
        .collect()
}

/// Cached share before the worst repetition with this intent.
fn missed_by(phase: &Phase, intent: CacheIntent) -> Option<f64> {
    // Files in memory cannot be cold; a separate doubt says that they are in memory.
    let of_it = phase.repetitions.iter().filter(|r| r.cache == intent && !r.physical.is_memory());
    of_it.filter_map(missed).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(share, _)| share)
}

fn not_cold(run: &Run) -> Option<Doubt> {
    let warm = phases_where(run, |p| missed_by(p, CacheIntent::Cold).is_some());
    let worst = warm.iter().filter_map(|p| missed_by(p, CacheIntent::Cold)).max_by(f64::total_cmp)?;
    // What the warm-up reads is cached when counting begins.
    let warmed_up = warm.iter().flat_map(|p| &p.repetitions).any(|r| r.ramp_ns > 0);
    let (begun, why) = if warmed_up {
        ("begun to count", "The warm-up caches what it reads; leave it out, or use O_DIRECT.")
    } else {
        (
            "begun",
            "Another program holds or reads the files (mapped and locked pages stay); stop it, or use O_DIRECT.",
        )
    };
    let text = format!(
        "{} should have {begun} with a cold cache, but up to {} of the files were cached: these are not cold figures. {why}",
        which(run, &warm),
        percent(worst)
    );
    Some(grouped("not-cold", &warm, &text))
}

fn not_warm(run: &Run) -> Option<Doubt> {
    let cold = phases_where(run, |p| missed_by(p, CacheIntent::Warm).is_some());
    let least = cold.iter().filter_map(|p| missed_by(p, CacheIntent::Warm)).min_by(f64::total_cmp)?;
    let text = format!(
        "{} should have begun with a warm cache, but only {} of the files were cached: one miss in a hundred can double the mean. {}",
        which(run, &cold),
        percent(least),
        if least > 0.0 {
            "Use smaller files, or free memory."
        } else {
            "They were read just before, but none of their data stayed in memory, as on a FUSE file system with direct_io."
        }
    );
    Some(grouped("not-warm", &cold, &text))
}

fn holes(run: &Run) -> Option<Doubt> {
    let phases = phases_where(run, |p| unbacked(p).is_some());
    let share =
        |e: &fathom_record::Extents| (e.hole_bytes.saturating_add(e.unwritten_bytes)) as f64 / e.bytes as f64;
    let worst = phases.iter().filter_map(|p| unbacked(p)).max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let text = format!(
        "{} read from files of which up to {} ({} of holes, {} unwritten) never held data: reading that moves nothing at the device. Write the files before, or let fathom fill them (holes = \"fill\", in files that it made).",
        which(run, &phases),
        percent(share(&worst)),
        bytes_words(worst.hole_bytes),
        bytes_words(worst.unwritten_bytes)
    );
    Some(grouped("holes", &phases, &text))
}

fn overloaded(run: &Run) -> Option<Doubt> {
    let over: Vec<_> = paced(run).into_iter().filter(|p| !p.kept).collect();
    let phases: Vec<&Phase> = over.iter().map(|p| p.phase).collect();
    let worst = over.iter().max_by(|a, b| a.weight().total_cmp(&b.weight()))?;
    let text = format!(
        "in {} the rate was not kept ({}): more was requested than the storage could do, and response times grow with the length of the phase. Request a lower rate, or take the figures as the storage's limit.",
        which(run, &phases),
        worst.figures()
    );
    Some(grouped("overloaded", &phases, &text))
}

fn not_steady(run: &Run) -> Option<Doubt> {
    let phases = phases_where(run, |p| last_asked(p).is_some());
    let state = phases.iter().filter_map(|p| last_asked(p)).max_by(|a, b| {
        a.range_percent.total_cmp(&b.range_percent).then(a.slope_percent.total_cmp(&b.slope_percent))
    })?;
    let text = format!(
        "{} did not reach a steady state: after {} rounds of {} the last {} of the {} still lay {} apart with a trend of {}. Precondition the device, or allow more rounds.",
        which(run, &phases),
        state.rounds.len(),
        time(state.round_ns as f64),
        state.window,
        state.figure,
        percent(state.range_percent / 100.0),
        percent(state.slope_percent / 100.0)
    );
    Some(grouped("not-steady", &phases, &text))
}

fn apart(run: &Run) -> Option<Doubt> {
    let phases = phases_where(run, |p| spread(p).is_some_and(|s| s > SPREAD));
    let worst = phases.iter().filter_map(|p| spread(p)).max_by(f64::total_cmp)?;
    let text = format!(
        "the repetitions of {} differ by up to {} of their median, so the median says little. Find out what differs between them (free space, a neighbour, the order), or do more repetitions.",
        which(run, &phases),
        percent(worst)
    );
    Some(grouped("spread", &phases, &text))
}

fn jitter(run: &Run) -> Option<Doubt> {
    let found: Vec<(&Phase, Tail)> =
        run.phases.iter().filter_map(|p| Some((p, Tail::of(p).filter(Tail::is_the_machines)?))).collect();
    let phases: Vec<&Phase> = found.iter().map(|(phase, _)| *phase).collect();
    let nearness = |t: &Tail| t.machine_p999_ns as f64 / t.p999_ns.max(1) as f64;
    let worst = found.iter().map(|(_, t)| *t).max_by(|a, b| nearness(a).total_cmp(&nearness(b)))?;
    let text = format!(
        "in {} the slowest operation in a thousand took {}, and this machine stalls any program for {} as often: that tail is the machine's, not the storage's. Repeat on a quieter machine, or quote no percentile above p99.",
        which(run, &phases),
        time(worst.p999_ns as f64),
        time(worst.machine_p999_ns as f64)
    );
    Some(grouped("jitter", &phases, &text))
}

#[cfg(test)]
mod tests {
    use super::super::DoubtInputs;
    use super::super::test_runs::{code, doubts, none, phase, run_of};
    use super::*;
    use fathom_record::{Extents, Histogram, Jitter, OpKind, OpStat, Repetition, Residency, SteadyState};

    const MIB: u64 = 1 << 20;

    /// A run without doubts, with one change to its only repetition.
    fn with(change: impl FnOnce(&mut Repetition)) -> Run {
        let mut phase = phase("read", 100 * MIB, 100 * MIB);
        change(&mut phase.repetitions[0]);
        run_of(vec![phase])
    }

    fn cached(intent: CacheIntent, pages: u64) -> Run {
        with(|r| {
            r.cache = intent;
            r.resident_before =
                Some(Residency { total_pages: 1000, cached_pages: pages, ..Residency::default() });
        })
    }

    #[test]
    fn a_cache_state_off_by_over_one_percent_is_doubtful() {
        none(&cached(CacheIntent::Cold, 10), &DoubtInputs::default());
        let cold = code(&cached(CacheIntent::Cold, 11), &DoubtInputs::default(), "not-cold");
        assert!(cold.sentence.contains("up to 1.1 %"), "{}", cold.sentence);
        let mut memory = cached(CacheIntent::Cold, 1000);
        memory.phases[0].repetitions[0].physical.method = "memory".into();
        memory.phases[0].repetitions[0].physical.devices.clear();
        assert!(doubts(&memory, &DoubtInputs::default()).iter().all(|d| d.code != "not-cold"));
        none(&cached(CacheIntent::Warm, 990), &DoubtInputs::default());
        let warm = code(&cached(CacheIntent::Warm, 500), &DoubtInputs::default(), "not-warm");
        assert!(warm.sentence.contains("only 50 %"), "{}", warm.sentence);
        none(&cached(CacheIntent::AsFound, 500), &DoubtInputs::default());
    }

    #[test]
    fn reading_unwritten_extents_is_doubtful() {
        let holed = |hole, unwritten| {
            let extents =
                Extents { bytes: 100 * MIB, hole_bytes: hole, unwritten_bytes: unwritten, filled_bytes: 0 };
            with(|r| r.extents = Some(extents))
        };
        none(&holed(MIB, 0), &DoubtInputs::default());
        let doubt = code(&holed(MIB, 11 * MIB), &DoubtInputs::default(), "holes");
        assert!(doubt.sentence.contains("12 % (1 MiB of holes, 11 MiB unwritten)"), "{}", doubt.sentence);
        let mut writes = holed(MIB, 11 * MIB);
        writes.phases[0].reads = false;
        assert!(doubts(&writes, &DoubtInputs::default()).iter().all(|d| d.code != "holes"));
    }

    #[test]
    fn a_rate_that_was_not_kept_for_a_second_is_doubtful() {
        let late = |ns| {
            with(|r| {
                r.workers[0].elapsed_ns = 30_000_000_000;
                r.workers[0].behind_ns = ns;
            })
        };
        none(&late(1_000_000_000), &DoubtInputs::default());
        let doubt = code(&late(2_300_000_000), &DoubtInputs::default(), "overloaded");
        assert!(doubt.sentence.contains("behind for up to 2.30 s"), "{}", doubt.sentence);
    }

    #[test]
    fn a_steady_state_that_was_asked_for_and_not_reached_is_doubtful() {
        let state = |asked, reached| {
            let rounds = vec![100.0; 25];
            let figure = "operations".into();
            let state = SteadyState { reached, asked, figure, rounds, window: 5, ..SteadyState::default() };
            with(|r| r.steady = Some(SteadyState { range_percent: 45.0, slope_percent: 12.0, ..state }))
        };
        none(&state(true, true), &DoubtInputs::default());
        none(&state(false, false), &DoubtInputs::default());
        let doubt = code(&state(true, false), &DoubtInputs::default(), "not-steady");
        assert!(
            doubt.sentence.contains("after 25 rounds") && doubt.sentence.contains("45 % apart"),
            "{}",
            doubt.sentence
        );
    }

    #[test]
    fn repetitions_far_apart_are_doubtful() {
        let mut run = with(|_| ());
        let again = run.phases[0].repetitions[0].clone();
        run.phases[0].repetitions.extend([again.clone(), again]);
        none(&run, &DoubtInputs::default());
        run.phases[0].repetitions[2].workers[0].elapsed_ns *= 2;
        let doubt = code(&run, &DoubtInputs::default(), "spread");
        assert!(doubt.sentence.contains("up to 50 % of their median"), "{}", doubt.sentence);
    }

    #[test]
    fn a_tail_no_longer_than_the_machines_stalls_is_doubtful() {
        let tailed = |tail_ns: u64, late_ns: u64| {
            with(|r| {
                let latency =
                    Histogram::from_values((0..2000).map(|i| if i < 1990 { 100_000 } else { tail_ns }));
                r.workers[0].stats = vec![OpStat { op: OpKind::Read, ops: 2000, bytes: 0, latency }];
                let wakes = Histogram::from_values((0..1000).map(|i| if i < 990 { 60_000 } else { late_ns }));
                r.jitter = Some(Jitter { gaps: Histogram::default(), wakes, watched_ns: 0 });
            })
        };
        none(&tailed(5_000_000, 1_000_000), &DoubtInputs::default());
        let doubt = code(&tailed(1_500_000, 1_000_000), &DoubtInputs::default(), "jitter");
        assert!(
            doubt.sentence.contains("1.50 ms") || doubt.sentence.contains("1.49 ms"),
            "{}",
            doubt.sentence
        );
        none(&tailed(150_000, 1_000_000), &DoubtInputs::default());
    }
}
