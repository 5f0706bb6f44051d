//! Files that take turns, and groups with their own time limits, in virtual time.

use super::*;
use fathom_workload::{Amount, Bytes, Duration, Program, Sizing, Times};

const TURNS: &str =
    "pick = \"all\"\nturns = { operations = 2 }\ndirection = \"write\"\nrecord = { fixed = \"64KiB\" }";

#[test]
fn every_file_is_done_each_with_its_own_size() {
    let mut w = workload(3, 2, "", TURNS);
    let ops = |w: &Workload| {
        let out = run(w, setup(NEW));
        let workers = &only(&out).workers;
        assert!(workers.iter().all(|worker| worker.ending == Ending::Completed), "{workers:?}");
        workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == OpKind::Write).map(|s| s.ops).sum::<u64>()
    };
    assert_eq!(ops(&w), 2 * 3 * 128);
    let mib = |mib: u64| Bytes(mib << 20);
    w.filesets[0].size = Sizing::Each(vec![mib(1), mib(2), mib(5)]);
    assert_eq!(ops(&w), 2 * 128);
}

#[test]
fn a_group_has_its_own_time_and_delay() {
    let mut w = workload(2, 1, "", "direction = \"write\"\nrecord = { fixed = \"4KiB\" }");
    let phase = &mut w.phases[0];
    let second = phase.groups[0].clone();
    phase.groups.push(second);
    for (group, (delay_s, stop_s)) in phase.groups.iter_mut().zip([(0, 1), (3, 2)]) {
        let seconds = |s: u64| Duration(s * 1_000_000_000);
        group.times = Times { delay: seconds(delay_s), stop: Some(seconds(stop_s)), ..Times::default() };
        if let Program::Stream(stream) = &mut group.threads[0].program {
            stream.amount = Amount::Endless;
        }
    }
    let out = run(&w, setup(NEW));
    let workers = &only(&out).workers;
    let seconds = |worker: usize| workers[worker].elapsed_ns as f64 / 1e9;
    assert!((seconds(0) - 1.0).abs() < 0.5 && (seconds(1) - 2.0).abs() < 0.5, "{workers:?}");
}

#[test]
fn a_worker_that_ends_its_group_ends_no_other_group() {
    let mut w =
        workload(3, 1, "stop = { first_done = {} }", "direction = \"write\"\nrecord = { fixed = \"4KiB\" }");
    let phase = &mut w.phases[0];
    let one = phase.groups[0].clone();
    phase.groups.extend([one.clone(), one]);
    for (number, group) in (0u32..).zip(&mut phase.groups) {
        let stop = Some(Duration([1, 4, 2][number as usize] * 1_000_000_000));
        // The first ends the second; the third ends no other worker and continues.
        let (company, never_ends_others) = (Some(number / 2), number == 2);
        group.times =
            Times { stop, company, ends_company: !never_ends_others, never_ends_others, ..Times::default() };
        if let Program::Stream(stream) = &mut group.threads[0].program {
            stream.amount = Amount::Endless;
        }
    }
    let out = run(&w, setup(NEW));
    let seconds: Vec<f64> = only(&out).workers.iter().map(|w| w.elapsed_ns as f64 / 1e9).collect();
    assert!(seconds[1] < 2.0 && seconds[2] > 1.5, "{seconds:?}");
}
