//! What the engine refuses before anything starts, where a run would loop, panic, or do something else than requested; and that a
//! panic in the observer does not leave the workers waiting.

use crate::support::{Bench, KIB, MIB, only};
use fathom_engine::Moments;
use fathom_record::Ending;
use fathom_workload::{
    AdaptiveDepth, Amount, Backend, Bytes, DepthGoal, Direction, Duration, Gaps, Isolation, Lock, Open,
    OpenSync, Pace, Pvsync2, Rate, Stop, Stream, Think, Timed,
};

fn stream() -> Stream {
    Stream::new("f", Direction::Write, Bytes(4 * KIB))
}

#[track_caller]
fn expect(bench: &Bench, stream: Stream, words: &str) {
    let said = bench.unsupported(stream).unwrap_or_default();
    assert!(said.contains(words), "{said:?} does not say {words:?}");
}

#[test]
fn amounts_of_nothing_would_be_repeated_for_ever() {
    let bench = Bench::new(MIB).ramp(Duration(1_000_000));
    for (amount, words) in [
        (Amount::Operations(0), "0 operations"),
        (Amount::Passes(0), "0 passes"),
        (Amount::Bytes(Bytes(0)), "0 bytes"),
    ] {
        expect(&bench, Stream { amount, ..stream() }, words);
    }
}

#[test]
fn keys_that_undo_each_other_are_refused() {
    let knee = DepthGoal::Knee { gain_percent: 5.0 };
    let adaptive = Stream {
        backend: Backend::Null,
        queue_depth: 8,
        adaptive_depth: Some(AdaptiveDepth {
            goal: knee,
            window: Duration(1_000_000),
            longest: None,
            once: false,
            goes_on: false,
        }),
        ..stream()
    };
    let bench = Bench::new(MIB);
    assert_eq!(bench.unsupported(adaptive.clone()), None);
    let rate = Some(Rate {
        operations_per_s: 10.0,
        arrivals: Gaps::Even,
        per: fathom_workload::Bytes(0),
        common: false,
    });
    let pace = Pace { rate, ..Pace::default() };
    expect(&bench, Stream { pace, ..adaptive.clone() }, "adaptive_depth and rate do not go together");
    let timed = Timed { open: true, ..Timed::default() };
    expect(
        &bench,
        Stream { lock: Lock::File, backend: Backend::Aio { batch: 0, atomic: false }, ..adaptive.clone() },
        "lock",
    );
    expect(&bench, Stream { timed, ..adaptive }, "timed.open");
    expect(&Bench::new(MIB).ramp(Duration(1_000_000)), Stream { timed, ..stream() }, "timed.open");
    let null = Stream { backend: Backend::Null, ..stream() };
    expect(&bench, Stream { lock: Lock::File, ..null.clone() }, "no file to lock");
    let open = Open { sync: OpenSync::Sync, ..Open::default() };
    expect(&bench, Stream { open, ..null }, "no write to sync");
}

#[test]
fn times_that_would_leave_the_clock_are_refused() {
    let long = Duration(u64::MAX);
    expect(&Bench::new(MIB).ramp(long), stream(), "the ramp is longer than 10 years");
    expect(&Bench::new(MIB).stagger(long), stream(), "the stagger");
    let stop = Stop { time: Some(long), ..Stop::default() };
    expect(&Bench::new(MIB).stop(stop), stream(), "the time of stop");
    expect(&Bench::new(MIB).interval(Duration(10)), stream(), "at least 1ms");
    let think = Some(Think { time: long, ..Think::default() });
    expect(&Bench::new(MIB), Stream { pace: Pace { think, ..Pace::default() }, ..stream() }, "think");
}

#[test]
fn flags_that_the_file_system_refuses_are_refused_before_the_start() {
    let name = "flags_that_the_file_system_refuses_are_refused_before_the_start";
    // A memory file system supports neither atomic writes nor polling.
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return fathom_testkit::skip(name, "/dev/shm takes no directory");
    };
    let cases = [
        (Pvsync2 { nowait: true, ..Pvsync2::default() }, Direction::Write, false),
        (Pvsync2 { nowait: true, ..Pvsync2::default() }, Direction::Write, true),
        (Pvsync2 { nowait: true, ..Pvsync2::default() }, Direction::Read, false),
        (Pvsync2 { atomic: true, ..Pvsync2::default() }, Direction::Write, true),
    ];
    let here = fathom_testkit::TestDir::new();
    for place in [dir.path(), here.path()] {
        for (options, direction, direct) in cases {
            let bench = Bench::new_in(place, 64 * KIB);
            let open = Open { direct, create: true, ..Open::default() };
            let plain = Stream { open: Open { direct, ..Open::default() }, ..stream() };
            let written = bench.run(plain);
            if only(&written).ending != Ending::Completed {
                continue; // no O_DIRECT here
            }
            let stream = Stream {
                backend: Backend::Pvsync2(options),
                open: if direction == Direction::Read { Open { direct, ..Open::default() } } else { open },
                ..Stream::new("f", direction, Bytes(4 * KIB))
            };
            match bench.unsupported(stream.clone()) {
                Some(said) => assert!(
                    said.contains("RWF_NOWAIT (nowait = true)")
                        || said.contains("RWF_ATOMIC (atomic = true)"),
                    "{said}"
                ),
                None => match &only(&bench.run(stream)).ending {
                    Ending::Completed => {}
                    // Limits on the record size depend on the device.
                    Ending::Failed(e) => assert_ne!(e.errno, libc::EOPNOTSUPP, "{options:?}: {}", e.message),
                    other => panic!("{other:?}"),
                },
            }
            std::fs::remove_file(bench.file()).unwrap();
        }
    }
    // tmpfs does not support atomic writes.
    let bench = Bench::new_in(dir.path(), 64 * KIB);
    let atomic = Backend::Pvsync2(Pvsync2 { atomic: true, ..Pvsync2::default() });
    let open = Open { direct: true, ..Open::default() };
    let said = bench.unsupported(Stream { backend: atomic, open, ..stream() });
    if let Some(said) = said {
        assert!(said.contains("RWF_ATOMIC") && said.contains("6.11"), "{said}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "asking leaves nothing behind");
}

/// Panics when every worker waits for the start, or when the clocks have stopped.
struct Panics {
    ready: bool,
}

impl Moments for Panics {
    fn ready(&mut self) {
        assert!(!self.ready, "at the start");
    }
    fn clocks_stopped(&mut self) {
        panic!("at the end");
    }
}

#[test]
fn a_panic_of_the_parent_lets_the_workers_go() {
    for isolation in [Isolation::Thread, Isolation::Process] {
        for ready in [true, false] {
            let (done, over) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                let bench = Bench::new(MIB).workers(3, isolation);
                let run = || bench.run_telling(stream(), &mut Panics { ready });
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                let _ = done.send(outcome.is_err());
            });
            let outcome = over.recv_timeout(std::time::Duration::from_secs(60));
            assert_eq!(outcome, Ok(true), "{isolation:?}, ready: {ready}");
        }
    }
}
