//! The survey's workload as it grows: it makes sense at every step, whatever the place takes.

use super::effort::{Effort, Wish};
use super::guide::Guide;
use super::place::Place;
use super::plan::{MIB, Plan};
use crate::script::Script;
use fathom_record::{Axes, Phase, Repetition, Run, Worker};
use fathom_workload::{Program, Workload};
use std::collections::BTreeSet;

/// Runs a script as the run loop does, with phases that all have the same figures; gives the workload and what was executed.
fn followed(place: &Place, wish: Wish) -> (Workload, Vec<(usize, u32)>) {
    let effort = Effort::of(wish, 2);
    let mut guide = Guide::new(Plan::new(place, effort, 1));
    let (mut run, mut turns) = (Run::default(), Vec::new());
    while let Some((number, n)) = guide.next(&run) {
        assert_eq!(guide.workload().check(), Ok(()));
        let worker = Worker { ops: 100, bytes: 409_600, elapsed_ns: 1_000_000_000, ..Worker::default() };
        let repetition = Repetition { n, workers: vec![worker], ..Repetition::default() };
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
    (guide.workload().clone(), turns)
}

fn stages(workload: &Workload) -> BTreeSet<&str> {
    workload.phases.iter().filter_map(|p| p.axes.tags.get("stage")).map(String::as_str).collect()
}

#[test]
fn every_survey_makes_sense_and_measures_every_part() {
    for (direct, largest) in [(true, 256 * MIB), (false, 256 * MIB), (true, 192 << 10), (false, 64 << 10)] {
        for wish in [Wish::Quick, Wish::Ordinary, Wish::Thorough] {
            let place = Place::for_test(direct, largest, false);
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
            // No time passes here: everything is repeated in every round, and the long write is not.
            let rounds = Effort::of(wish, 2).rounds as usize;
            assert_eq!(turns.len(), (workload.phases.len() - 1) * rounds + 1);
        }
    }
}

#[test]
fn without_o_direct_no_phase_asks_for_it() {
    let (workload, _) = followed(&Place::for_test(false, 256 * MIB, false), Wish::Quick);
    assert!(!workload.to_toml().expect("TOML").contains("direct = true"));
}

#[test]
fn a_device_is_only_read() {
    let (workload, _) = followed(&Place::for_test(true, 256 * MIB, true), Wish::Quick);
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
    // 1.3 MiB free is the least there may be: all files together stay below it.
    let place = Place::for_test(true, 64 << 10, false);
    let plan = Plan::new(&place, Effort::of(Wish::Ordinary, 4), 1);
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
    let causes = fathom_report::survey::LIMITS.iter().filter(|rule| fathom_observe::findings::is_cause(rule));
    assert_eq!(causes.count(), fathom_report::survey::LIMITS.len());
}
