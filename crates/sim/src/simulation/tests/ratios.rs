//! Workers that keep a ratio, in virtual time.

use super::*;
use fathom_workload::{Amount, Bytes, Duration, Program, Ratio, Stop, Think, Times};

/// Two groups of one worker each, writing their own files, with these weights.
fn weighing(weights: [u32; 2]) -> Workload {
    let mut w = workload(2, 1, "", "direction = \"write\"\nrecord = { fixed = \"4KiB\" }");
    let phase = &mut w.phases[0];
    let second = phase.groups[0].clone();
    phase.groups.push(second);
    phase.stop = Stop { time: Some(Duration(2_000_000_000)), ..Stop::default() };
    for (group, weight) in phase.groups.iter_mut().zip(weights) {
        if let Program::Stream(stream) = &mut group.threads[0].program {
            stream.amount = Amount::Endless;
            stream.pace.ratio = Some(Ratio { group: 0, weight, sleep: Duration(0) });
            // Slow, with think time, so that the figures stay small.
            stream.pace.think =
                Some(Think { time: Duration(1_000_000), counted: true, asleep: true, ..Think::default() });
        }
    }
    w
}

#[test]
fn operations_are_in_the_ratio_of_the_weights() {
    for weights in [[1, 1], [1, 5], [3, 2]] {
        let out = run(&weighing(weights), setup("today"));
        let ops: Vec<u64> = only(&out).workers.iter().map(|w| w.ops).collect();
        let (a, b) = (ops[0] * u64::from(weights[1]), ops[1] * u64::from(weights[0]));
        assert!(ops[0] > 50 && a.abs_diff(b) <= 25, "{weights:?}: {ops:?}");
    }
}

#[test]
fn ended_workers_are_not_waited_for_and_late_ones_do_not_catch_up() {
    let mut w = weighing([1, 1]);
    if let Program::Stream(stream) = &mut w.phases[0].groups[0].threads[0].program {
        stream.amount = Amount::Bytes(Bytes(100 << 12));
    }
    let out = run(&w, setup("today"));
    let ops: Vec<u64> = only(&out).workers.iter().map(|w| w.ops).collect();
    assert!(ops[0] == 100 && ops[1] > 500, "{ops:?}");
    let mut w = weighing([1, 1]);
    w.phases[0].groups[1].times = Times { delay: Duration(1_000_000_000), ..Times::default() };
    let out = run(&w, setup("today"));
    let ops: Vec<u64> = only(&out).workers.iter().map(|w| w.ops).collect();
    // The second has its own two seconds; the first is present for one of them.
    assert!(ops[1] < ops[0] + ops[0] / 2, "{ops:?}");
}
