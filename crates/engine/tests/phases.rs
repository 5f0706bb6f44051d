//! Several workers: the barrier, the stop rules, processes and threads, and what happens when one of them fails.

use crate::support::{Bench, KIB, MIB};
use fathom_record::Ending;
use fathom_workload::{
    Amount, Backend, Bytes, Data, Direction, Duration, Existing, Isolation, Lock, Pace, Pick, Raise, Rate,
    Stonewall, Stop, Stream, Think, Timed, Verify, WhenStopped,
};

fn endless(direction: Direction) -> Stream {
    Stream { amount: Amount::Endless, ..Stream::new("f", direction, Bytes(4 * KIB)) }
}

#[test]
fn processes_and_threads_report_alike() {
    for isolation in [Isolation::Thread, Isolation::Process] {
        let bench = Bench::new(MIB).workers(3, isolation);
        let r = bench.run(Stream::new("f", Direction::Write, Bytes(64 * KIB)));
        assert_eq!(r.workers.len(), 3);
        for (i, w) in r.workers.iter().enumerate() {
            assert_eq!((w.index as usize, w.bytes, &w.ending), (i, MIB, &Ending::Completed));
            assert!(w.elapsed_ns > 0 && w.cpu_user_ns + w.cpu_system_ns > 0);
            assert_eq!(bench.path(i).metadata().unwrap().len(), MIB);
        }
        assert!(r.elapsed_ns >= r.workers.iter().map(|w| w.elapsed_ns).max().unwrap());
    }
}

#[test]
fn workers_use_no_more_cpu_time_than_wall_time() {
    let bench = Bench::new(64 * KIB);
    bench.run(Stream::new("f", Direction::Write, Bytes(64 * KIB)));
    for _ in 0..10 {
        // Takes some hundred nanoseconds: waking the others takes longer.
        let stream = Stream { backend: Backend::Null, ..Stream::new("f", Direction::Read, Bytes(4 * KIB)) };
        let r = bench.run(stream);
        let w = &r.workers[0];
        let cpu_ns = w.cpu_user_ns + w.cpu_system_ns;
        assert!(cpu_ns <= w.elapsed_ns, "{cpu_ns} ns of CPU in {} ns", w.elapsed_ns);
    }
}

#[test]
fn time_ends_an_endless_stream() {
    let bench = Bench::new(MIB).stop(Stop { time: Some(Duration(30_000_000)), ..Stop::default() });
    bench.run(Stream::new("f", Direction::Write, Bytes(64 * KIB)));
    let r = bench.run(endless(Direction::Read));
    assert_eq!(r.workers[0].ending, Ending::Stopped);
    assert!(r.workers[0].elapsed_ns >= 30_000_000);
}

#[test]
fn the_interval_series_adds_up() {
    let bench = Bench::new(MIB)
        .stop(Stop { time: Some(Duration(60_000_000)), ..Stop::default() })
        .interval(Duration(10_000_000));
    bench.run(Stream::new("f", Direction::Write, Bytes(64 * KIB)));
    let r = bench.run(endless(Direction::Read));
    assert!(r.intervals.len() >= 2, "{:?}", r.intervals);
    assert_eq!(r.intervals.iter().map(|i| i.ops).sum::<u64>(), r.ops());
    assert_eq!(r.intervals.iter().map(|i| i.bytes).sum::<u64>(), r.bytes());
    for pair in r.intervals.windows(2) {
        assert_eq!(pair[1].end_ns - pair[1].width_ns, pair[0].end_ns);
    }
}

/// Worker 0 has one record to write, worker 1 very many: the first ends the counting of the second.
fn stonewalled(raise: Raise, when_stopped: WhenStopped) -> fathom_record::Repetition {
    let stop = Stop { first_done: Some(Stonewall { raise }), ..Stop::default() };
    let bench = Bench::new(16 * MIB).stop(stop);
    let short =
        Stream { amount: Amount::Operations(1), ..Stream::new("f", Direction::Write, Bytes(4 * KIB)) };
    let long = Stream {
        when_stopped,
        timed: Timed { fsync: true, ..Timed::default() },
        ..Stream::new("f", Direction::Write, Bytes(512))
    };
    bench.run_all(vec![short, long])
}

#[test]
fn the_first_to_finish_stops_the_counting_of_the_others() {
    let r = stonewalled(Raise::AfterFinish, WhenStopped::Leave);
    assert_eq!(r.workers[0].ending, Ending::Completed);
    assert_eq!(r.workers[1].ending, Ending::Stopped);
    assert!(r.workers[1].bytes < 16 * MIB);
    assert_eq!(r.workers[1].uncounted_bytes, 0);
}

#[test]
fn a_writer_may_finish_its_file_uncounted() {
    let r = stonewalled(Raise::AfterLastOp, WhenStopped::FinishUncounted);
    let w = &r.workers[1];
    assert_eq!(w.ending, Ending::Stopped);
    assert_eq!(w.bytes + w.uncounted_bytes, 16 * MIB);
    assert!(w.uncounted_bytes > 0);
    assert!(r.elapsed_ns > w.elapsed_ns, "the parent waits for the stragglers");
}

#[test]
fn workers_that_ignore_the_flag_are_counted_to_the_end() {
    let r = stonewalled(Raise::AfterFinish, WhenStopped::Ignore);
    assert_eq!((r.workers[1].bytes, &r.workers[1].ending), (16 * MIB, &Ending::Completed));
}

#[test]
fn one_failure_ends_the_phase_and_finished_operations_count() {
    let bench = Bench::new(MIB).workers(2, Isolation::Process);
    std::fs::write(bench.path(0), vec![0; 8 * KIB as usize]).unwrap();
    std::fs::write(bench.path(1), vec![0; MIB as usize]).unwrap();
    let r = bench.run(Stream::new("f", Direction::Read, Bytes(4 * KIB)));
    assert!(
        matches!(&r.workers[0].ending, Ending::Failed(e) if e.after_ops == 2),
        "{:?}",
        r.workers[0].ending
    );
    assert!(
        !matches!(r.workers[1].ending, Ending::Failed(_) | Ending::Interrupted),
        "{:?}",
        r.workers[1].ending
    );
    assert!(r.error().is_some());
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error_with_its_name() {
    let bench = Bench::new(MIB).workers(2, Isolation::Thread);
    let r = bench.run(Stream::new("f", Direction::Read, Bytes(4 * KIB)));
    let error = r.error().unwrap();
    assert_eq!((error.call.as_str(), error.errno), ("open", libc::ENOENT));
    assert!(
        error.message.contains(&bench.path(0).display().to_string())
            || error.message.contains(&bench.path(1).display().to_string())
    );
}

#[test]
fn a_staggered_start_takes_its_time() {
    let bench = Bench::new(64 * KIB).workers(3, Isolation::Thread).stagger(Duration(5_000_000));
    let r = bench.run(Stream::new("f", Direction::Write, Bytes(4 * KIB)));
    // On a loaded machine any worker may be late, but none early.
    assert!(r.workers[1].start_ns >= 5_000_000);
    assert!(r.workers[2].start_ns >= 10_000_000);
}

#[test]
fn a_full_device_is_one_clear_error() {
    for backend in [
        fathom_workload::Backend::default(),
        fathom_workload::Backend::Mmap {
            flush: fathom_workload::MapFlush::No,
            flush_every: 1,
            populate: false,
            huge_pages: false,
            advice: None,
        },
    ] {
        // A separate device each: a worker forked by another test may keep the previous file open, which takes up its space.
        let test = "a_full_device_is_one_clear_error";
        let Some(tmp) = fathom_testkit::TmpFs::mount(test, 1 << 20) else { return };
        let bench = Bench::new_in(tmp.path(), 4 * MIB);
        let r = bench.run(Stream { backend, ..Stream::new("f", Direction::Write, Bytes(64 * KIB)) });
        let error = r.error().unwrap_or_else(|| panic!("{backend:?} noticed nothing"));
        assert!(error.message.contains("full"), "{}", error.message);
        assert!(r.workers[0].ops > 0, "what was written counts");
        assert!(r.workers[0].bytes < 4 * MIB);
    }
}

#[test]
fn a_rate_does_not_outlast_the_phase() {
    let bench = Bench::new(MIB).stop(Stop { time: Some(Duration(30_000_000)), ..Stop::default() });
    let slow = Pace {
        rate: Some(Rate {
            operations_per_s: 0.1,
            arrivals: fathom_workload::Gaps::Even,
            per: fathom_workload::Bytes(0),
            common: false,
        }),
        ..Pace::default()
    };
    let r = bench.run(Stream { pace: slow, ..endless(Direction::Write) });
    assert_eq!((&r.workers[0].ending, r.workers[0].ops), (&Ending::Stopped, 1));
    assert!((29_000_000..5_000_000_000).contains(&r.workers[0].elapsed_ns), "{}", r.workers[0].elapsed_ns);
    let thinking = Pace {
        think: Some(Think { time: Duration(20_000_000_000), counted: true, ..Think::default() }),
        ..Pace::default()
    };
    let r = bench.run(Stream { pace: thinking, ..endless(Direction::Write) });
    assert_eq!(r.workers[0].ops, 0, "it was still thinking");
}

#[test]
fn workers_that_ignore_the_flag_keep_their_pace() {
    let bench = Bench::new(MIB).stop(Stop { first_done: Some(Stonewall::default()), ..Stop::default() });
    let first =
        Stream { amount: Amount::Operations(1), ..Stream::new("f", Direction::Write, Bytes(4 * KIB)) };
    let paced = Stream {
        amount: Amount::Operations(21),
        when_stopped: WhenStopped::Ignore,
        pace: Pace {
            rate: Some(Rate {
                operations_per_s: 1000.0,
                arrivals: fathom_workload::Gaps::Even,
                per: fathom_workload::Bytes(0),
                common: false,
            }),
            ..Pace::default()
        },
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    };
    let r = bench.run_all(vec![first, paced]);
    assert_eq!(r.workers[1].ops, 21);
    assert!(r.workers[1].elapsed_ns >= 20_000_000, "{}", r.workers[1].elapsed_ns);
}

#[test]
fn two_streams_that_lock_one_file_take_turns() {
    for isolation in [Isolation::Thread, Isolation::Process] {
        let bench = Bench::new(64 * KIB).workers(2, isolation);
        for lock in [Lock::File, Lock::Record] {
            let r = bench.run(Stream {
                pick: Pick::One(0),
                lock,
                ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
            });
            assert!(
                r.workers.iter().all(|w| w.ending == Ending::Completed && w.ops == 16),
                "{isolation:?} {lock:?}"
            );
        }
    }
}

#[test]
fn a_pipe_is_not_waited_for() {
    let bench = Bench::new(64 * KIB);
    assert!(std::process::Command::new("mkfifo").arg(bench.file()).status().unwrap().success());
    for direction in [Direction::Read, Direction::Write] {
        let error = bench.refused(Stream::new("f", direction, Bytes(4 * KIB)));
        assert!(error.contains("pipe"), "{error}");
    }
}

#[test]
fn foreign_files_are_written_only_if_named() {
    for existing in [Existing::Refuse, Existing::Reuse] {
        let bench = Bench::new(64 * KIB).existing(existing);
        std::fs::write(bench.file(), "precious").unwrap();
        let error = bench.refused(Stream::new("f", Direction::Write, Bytes(4 * KIB)));
        assert!(error.contains("was not made by fathom"), "{error}");
        assert_eq!(std::fs::read(bench.file()).unwrap(), b"precious");
    }
    let bench = Bench::new(64 * KIB);
    let target = bench.file().with_extension("target");
    std::fs::write(&target, "precious").unwrap();
    std::os::unix::fs::symlink(&target, bench.file()).unwrap();
    assert!(bench.refused(Stream::new("f", Direction::Write, Bytes(4 * KIB))).contains("symbolic link"));
    assert_eq!(std::fs::read(target).unwrap(), b"precious");
}

#[test]
fn a_block_of_another_file_is_wrong_data() {
    let bench = Bench::new(64 * KIB).workers(2, Isolation::Thread);
    let stream = |direction| Stream {
        data: Data::Positioned { tag: 1 },
        verify: Verify::Full,
        ..Stream::new("f", direction, Bytes(4 * KIB))
    };
    bench.run(stream(Direction::Write));
    assert!(bench.run(stream(Direction::Read)).error().is_none());
    std::fs::copy(bench.path(0), bench.path(1)).unwrap();
    let r = bench.run(stream(Direction::Read));
    assert!(r.error().is_some_and(|e| e.call == "verify" && e.path.ends_with(".1")), "{:?}", r.error());
}
