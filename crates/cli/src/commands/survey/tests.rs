//! The growing workload of a survey is valid at every step, whatever the place supports.

use super::MIB;
use super::effort::{Effort, EffortChoice};
use super::guide::Guide;
use super::place::SurveyPlace;
use super::plan::SurveyPlan;
use crate::script::Script;
use fathom_record::{Axes, Histogram, OpKind, OpStat, Phase, Repetition, Run, Worker};
use fathom_workload::{Action, Amount, Program, Sizing, Workload};
use std::collections::BTreeSet;

/// Runs a script like the run loop, with equal figures for all phases; returns the workload and what was executed.
fn followed(place: &SurveyPlace, wish: EffortChoice) -> (Workload, Vec<(usize, u32)>) {
    let (workload, turns, _) = followed_writing(place, wish, |_| 0);
    (workload, turns)
}

/// The same with a given number of bytes written by each worker of a phase; also returns their sum.
fn followed_writing(
    place: &SurveyPlace,
    wish: EffortChoice,
    writes: impl Fn(&fathom_workload::Phase) -> u64,
) -> (Workload, Vec<(usize, u32)>, u64) {
    let mut written = 0;
    let effort = Effort::of(wish, 2);
    let mut guide = Guide::new(SurveyPlan::new(place, effort, 1));
    let (mut run, mut turns) = (Run::default(), Vec::new());
    while let Some((number, n)) = guide.next(&run) {
        assert_eq!(guide.workload().check(), Ok(()));
        let phase = &guide.workload().phases[number];
        let stat = OpStat { op: OpKind::Write, bytes: writes(phase), ops: 1, latency: Histogram::default() };
        let worker = Worker {
            ops: 100,
            bytes: 409_600,
            elapsed_ns: 1_000_000_000,
            stats: vec![stat.clone()],
            ..Worker::default()
        };
        let workers = vec![worker; phase.groups[0].instances as usize];
        written += stat.bytes * workers.len() as u64;
        let repetition = Repetition { n, workers, ..Repetition::default() };
        let here = run.phases.iter_mut().find(|p| p.seq as usize == number);
        match here {
            Some(phase) => phase.repetitions.push(repetition),
            None => run.phases.push(Phase {
                seq: number as u32,
                name: String::new(),
                axes: Axes::default(),
                reads: true,
                writes: false,
                sync_in_clock: false,
                direct: false,
                repetitions: vec![repetition],
            }),
        }
        turns.push((number, n));
        assert!(turns.len() < 2000, "it ends");
    }
    (guide.workload().clone(), turns, written)
}

fn stages(workload: &Workload) -> BTreeSet<&str> {
    workload.phases.iter().filter_map(|p| p.axes.tags.get("stage")).map(String::as_str).collect()
}

#[test]
fn every_survey_makes_sense_and_measures_every_part() {
    for (direct, largest) in [(true, 128 * MIB), (false, 128 * MIB), (true, 192 << 10), (false, 64 << 10)] {
        for wish in [EffortChoice::Quick, EffortChoice::Ordinary, EffortChoice::Thorough] {
            // Quick surveys have smaller files.
            let largest = if wish == EffortChoice::Quick { largest.min(32 * MIB) } else { largest };
            let place = SurveyPlace::for_test(direct, largest, false);
            let (workload, turns) = followed(&place, wish);
            let mut wanted =
                BTreeSet::from(["ladder", "scaling", "mix", "small files", "surface", "sustained"]);
            if direct {
                wanted.insert("depth");
            }
            assert_eq!(stages(&workload), wanted);
            assert_eq!(Workload::from_toml(&workload.to_toml().expect("TOML")).expect("reads"), workload);
            let last = turns.last().copied().expect("something");
            assert_eq!(workload.phases[last.0].name, "sustained write");
            // No time passes here: every round repeats everything except the long write.
            let rounds = Effort::of(wish, 2).rounds as usize;
            assert_eq!(turns.len(), (workload.phases.len() - 1) * rounds + 1);
        }
    }
}

#[test]
fn without_o_direct_no_phase_asks_for_it() {
    let (workload, _) = followed(&SurveyPlace::for_test(false, 256 * MIB, false), EffortChoice::Quick);
    assert!(!workload.to_toml().expect("TOML").contains("direct = true"));
}

#[test]
fn a_device_is_only_read() {
    let (workload, _) = followed(&SurveyPlace::for_test(true, 256 * MIB, true), EffortChoice::Quick);
    assert_eq!(stages(&workload), BTreeSet::from(["depth", "ladder", "scaling", "surface"]));
    for phase in &workload.phases {
        assert_eq!((phase.before.len(), phase.after.len()), (0, 0), "{}", phase.name);
        for thread in phase.groups.iter().flat_map(|g| &g.threads) {
            let Program::Stream(stream) = &thread.program else { panic!("a flow") };
            assert_eq!(stream.direction, fathom_workload::Direction::Read);
        }
    }
    assert!(workload.filesets.iter().all(|s| s.share == fathom_workload::Share::ReadOnly && s.keep));
}

#[test]
fn files_fit_the_place() {
    // 1.3 MiB free is the minimum: all files together stay below it.
    let place = SurveyPlace::for_test(true, 64 << 10, false);
    let plan = SurveyPlan::new(&place, Effort::of(EffortChoice::Ordinary, 4), 1);
    let bytes: u64 = plan
        .workload
        .filesets
        .iter()
        .map(|s| match s.size {
            fathom_workload::Sizing::Fixed(b) => b.0 * s.files.count(),
            _ => 0,
        })
        .sum();
    assert!(bytes < 1_300 << 10, "{bytes}");
}

#[test]
fn what_an_answer_calls_limits_are_rules_that_find_causes() {
    let causes =
        fathom_report::answer::LIMITS.iter().filter(|(rule, _)| fathom_observe::findings::is_cause(rule));
    assert_eq!(causes.count(), fathom_report::answer::LIMITS.len());
}

/// Bytes written by each worker of a phase if the storage is never too slow.
fn as_much_as_it_may(phase: &fathom_workload::Phase) -> u64 {
    let Program::Stream(stream) = &phase.groups[0].threads[0].program else { return 4 * MIB };
    match (stream.amount, stream.length) {
        _ if !stream.direction.writes() => 0,
        (Amount::Bytes(bytes), _) => bytes.0,
        (Amount::Operations(n), _) => n * stream.record.largest().0,
        (_, Some(length)) => length.0,
        (other, None) => {
            assert_eq!((other, phase.name.as_str()), (Amount::Pass, "parallel writers"));
            16 * MIB
        }
    }
}

#[test]
fn a_survey_writes_no_more_than_it_may() {
    for (wish, most) in
        [(EffortChoice::Quick, 32), (EffortChoice::Ordinary, 128), (EffortChoice::Thorough, 1024)]
    {
        for (direct, largest) in [(true, most * MIB), (false, most * MIB), (true, MIB)] {
            let may_write = Effort::of(wish, 2).most_written;
            let place = SurveyPlace::for_test(direct, largest, false);
            let (workload, turns, written) = followed_writing(&place, wish, as_much_as_it_may);
            let (mut there, mut laid_out) = (BTreeSet::new(), 0);
            for action in turns.iter().flat_map(|(number, _)| &workload.phases[*number].before) {
                let Action::Prepare(name) = action else { continue };
                let set = workload.filesets.iter().find(|set| set.name == *name).expect("a set");
                let Sizing::Fixed(each) = set.size else { panic!("files of many sizes") };
                // The tree is recreated each time, other files stay.
                if name == "small" {
                    laid_out += each.0 * set.files.count() / 2;
                } else if there.insert(name) {
                    laid_out += each.0 * set.files.count();
                }
            }
            let all = written + laid_out;
            assert!(all <= may_write, "{all} of {}: {wish:?} {largest}", may_write);
            assert!(all > may_write / 2, "{all} of {}: {wish:?} {largest}", may_write);
        }
    }
}
