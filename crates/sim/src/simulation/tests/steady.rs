//! The stop rule "steady": a phase ends when its rounds are alike, or after the longest wait.

use super::*;

const ENDLESS: &str = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = \"endless\"\nopen = { direct = true }";

#[test]
fn a_steady_state_ends_the_phase_behind_its_window() {
    let phase = "ramp = \"500ms\"\nstop = { steady = { round = \"1s\", window = 3, most_rounds = 10 } }";
    let out = run(&workload(2, 2, phase, ENDLESS), setup("today"));
    let r = only(&out);
    let state = r.steady.as_ref().unwrap();
    assert!(state.reached && state.asked, "{state:?}");
    assert_eq!((state.rounds.len(), state.window, state.round_ns), (3, 3, 1000 * MS));
    assert!(state.rounds.iter().all(|&n| n > 90.0 && n < 105.0), "{state:?}");
    // A worker notices it with the operation that shows the end of the third round, and one more may be in flight.
    let elapsed = |w: &fathom_record::Worker| w.elapsed_ns >= 2950 * MS && w.elapsed_ns < 3100 * MS;
    assert!(r.workers.iter().all(|w| w.ending == Ending::Stopped && elapsed(w)), "{r:?}");
}

#[test]
fn a_steady_state_that_does_not_come_is_given_up() {
    // Every second, more of the reads hit the cache.
    let growing =
        "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = \"endless\"";
    let rule = "cache = \"cold\"\nstop = { steady = { round = \"1s\", window = 3, most_rounds = 5, range_percent = 0.1, slope_percent = 0.1 } }";
    let out = run(&workload(1, 1, rule, growing), setup("today"));
    let state = only(&out).steady.clone().unwrap();
    assert_eq!((state.rounds.len(), state.reached), (5, false), "{state:?}");
    assert!(state.rounds[4] > state.rounds[0], "{state:?}");
}

#[test]
fn a_worker_waiting_for_its_scheduled_time_sees_the_end_of_the_phase() {
    // One operation in ten seconds: all rounds but the first are empty, and end long before the next one is scheduled.
    let slow = format!("{ENDLESS}\npace = {{ rate = {{ operations_per_s = 0.1 }} }}");
    let rule = "stop = { steady = { of = \"latency\", round = \"1s\", window = 2, most_rounds = 3 } }";
    let out = run(&workload(1, 1, rule, &slow), setup("today"));
    let r = only(&out);
    assert_eq!((r.ops(), r.steady.as_ref().unwrap().reached), (1, false));
    assert!(r.workers[0].elapsed_ns < 3200 * MS, "{}", r.workers[0].elapsed_ns);
}

#[test]
fn pauses_and_bursts_end_with_the_phase() {
    let rule = "stop = { steady = { round = \"20ms\", window = 2, most_rounds = 5 } }";
    for pause in [
        "pace = { think = { time = \"8s\" } }",
        "pace = { think = { time = \"8s\", asleep = true } }",
        "pace = { burst = { bytes = \"4KiB\", pause = \"7s\" } }",
    ] {
        let out = run(&workload(1, 1, rule, &format!("{ENDLESS}\n{pause}")), setup("today"));
        assert!(only(&out).elapsed_ns < 300 * MS, "{pause}: {}", only(&out).elapsed_ns);
    }
}

#[test]
fn a_pause_that_postpones_moves_what_is_due() {
    let done = |postpones: bool| {
        let pace = format!(
            "pace = {{ rate = {{ operations_per_s = 100.0 }}, think = {{ time = \"200ms\", counted = true, asleep = true, every = 10, postpones = {postpones} }} }}"
        );
        let out =
            run(&workload(1, 1, "stop = { time = \"2s\" }", &format!("{ENDLESS}\n{pace}")), setup("today"));
        only(&out).ops()
    };
    // Ten operations in 300 ms, nine before the first pause; fio 3.42 does 70 in two seconds.
    assert!((67..=70).contains(&done(true)), "{}", done(true));
}

#[test]
fn a_sleeping_pause_frees_the_cpu() {
    let of = |asleep| {
        let stream = format!(
            "direction = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\namount = {{ operations = 10 }}\n\
             pace = {{ think = {{ time = \"10ms\", asleep = {asleep} }} }}"
        );
        only(&run(&workload(8, 8, "cache = \"warm\"", &stream), setup("today"))).elapsed_ns
    };
    let cpus = u64::from(setup("today").host.cpu.cpus.get());
    let (awake, asleep) = (of(false), of(true));
    assert!(asleep < 120 * MS, "{asleep}");
    assert!(awake >= 8 * 10 * 10 * MS / cpus, "{awake} on {cpus} CPUs");
}

#[test]
fn the_advice_random_turns_read_ahead_off() {
    let requests = |advice: &str| {
        let stream = format!(
            "direction = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\namount = {{ operations = 64 }}\nopen = {{ advice = \"{advice}\" }}"
        );
        let setup = Setup { readahead: "modern".into(), ..setup("today") };
        only(&run(&workload(1, 1, "cache = \"cold\"", &stream), setup)).physical.devices[0].read_ios
    };
    assert_eq!(requests("random"), 64);
    assert!(requests("no") < 16 && requests("sequential") < 16);
}
