//! Errors that a stream tolerates: on a full file system, and with wrong data.

use crate::support::{Bench, KIB, MIB, only, ops};
use fathom_record::{Ending, OpKind, PassedOver, Repetition};
use fathom_testkit::TmpFs;
use fathom_workload::{
    Amount, Backend, Bytes, Data, Direction, Duration, ErrorNumber, PassOver, Stop, Stream, SyncCall, Uring,
    Verify,
};
use std::os::unix::fs::FileExt as _;

fn backends() -> Vec<(Backend, u32)> {
    let uring = Uring {
        batch: 0,
        registered_file: false,
        registered_buffers: Some(false),
        deferred: false,
        submission_polling: false,
        submission_cpu: None,
        async_every: 0,
        completion_polling: false,
        atomic: false,
    };
    vec![
        (Backend::Psync(SyncCall::Positioned), 1),
        (Backend::Psync(SyncCall::Streamed), 1),
        (Backend::Aio { batch: 1, atomic: false }, 8),
        (Backend::Uring(uring), 16),
        (Backend::Posix, 4),
    ]
}

fn full() -> PassOver {
    PassOver { writes: vec![ErrorNumber::NO_SPACE], ..PassOver::default() }
}

fn passed(r: &Repetition) -> &PassedOver {
    only(r).passed.as_ref().expect("errors")
}

#[test]
fn a_stream_goes_on_behind_writes_that_find_no_space() {
    for (backend, queue_depth) in backends() {
        let Some(small) = TmpFs::mount("a_stream_goes_on_behind_writes_that_find_no_space", MIB) else {
            return;
        };
        let stream = |pass_over| Stream {
            backend,
            queue_depth,
            pass_over,
            ..Stream::new("f", Direction::Write, Bytes(64 * KIB))
        };
        let bench = Bench::new_in(small.path(), 2 * MIB);
        let r = bench.run(stream(full()));
        assert_eq!(only(&r).ending, Ending::Completed, "{backend:?}");
        assert_eq!((only(&r).ops, only(&r).bytes), (16, MIB), "{backend:?}");
        let told = passed(&r);
        assert_eq!((told.errors, told.writes, told.reads), (16, 16, 0), "{backend:?}");
        assert_eq!((told.first.errno, told.first.call.as_str()), (28, "write"), "{backend:?}");
        assert!(told.first.message.contains("No space left"), "{backend:?}: {}", told.first.message);
        let r = bench.run(stream(PassOver { writes: vec![ErrorNumber::IO], ..PassOver::default() }));
        assert!(matches!(&only(&r).ending, Ending::Failed(e) if e.errno == 28), "{backend:?}");
        assert_eq!(only(&r).passed, None, "{backend:?}");
    }
}

#[test]
fn a_time_ends_where_nothing_succeeds() {
    let Some(small) = TmpFs::mount("a_time_ends_where_nothing_succeeds", 64 * KIB) else { return };
    let stop = Stop { time: Some(Duration(200_000_000)), ..Stop::default() };
    let bench = Bench::new_in(small.path(), 8 * MIB).stop(stop);
    for (backend, queue_depth) in backends() {
        let r = bench.run(Stream {
            backend,
            queue_depth,
            amount: Amount::Endless,
            pass_over: full(),
            ..Stream::new("f", Direction::Write, Bytes(MIB))
        });
        assert_eq!(only(&r).ending, Ending::Stopped, "{backend:?}");
        assert!(passed(&r).errors > 1, "{backend:?}");
        assert!(only(&r).elapsed_ns >= 150_000_000, "{backend:?}: {}", only(&r).elapsed_ns);
    }
}

#[test]
fn wrong_data_is_counted_and_reported() {
    for (backend, queue_depth) in backends() {
        let bench = Bench::new(64 * KIB);
        let stream = |direction| Stream {
            backend,
            queue_depth,
            data: Data::Positioned { tag: 7 },
            ..Stream::new("f", direction, Bytes(4 * KIB))
        };
        bench.run(stream(Direction::Write));
        let file = std::fs::OpenOptions::new().write(true).open(bench.file()).unwrap();
        for at in [2 * 4096 + 100, 5 * 4096 + 8] {
            file.write_all_at(b"wrong", at).unwrap();
        }
        let check = |wrong_data| Stream {
            verify: Verify::Full,
            pass_over: PassOver { wrong_data, ..PassOver::default() },
            ..stream(Direction::Read)
        };
        let r = bench.run(check(true));
        assert_eq!(only(&r).ending, Ending::Completed, "{backend:?}");
        assert_eq!(ops(&r, OpKind::Read), 16, "{backend:?}");
        assert_eq!((passed(&r).errors, passed(&r).reads), (2, 0), "{backend:?}");
        assert_eq!(passed(&r).first.call, "verify", "{backend:?}");
        assert!(matches!(&only(&bench.run(check(false))).ending, Ending::Failed(e) if e.call == "verify"));
    }
}

#[test]
fn nothing_goes_on_behind_the_end_of_a_file() {
    let bench = Bench::new(64 * KIB);
    bench.run(Stream::new("f", Direction::Write, Bytes(4 * KIB)));
    std::fs::OpenOptions::new().write(true).open(bench.file()).unwrap().set_len(10_000).unwrap();
    let r = bench.run(Stream {
        pass_over: PassOver { reads: vec![ErrorNumber::IO], ..PassOver::default() },
        ..Stream::new("f", Direction::Read, Bytes(4 * KIB))
    });
    assert!(matches!(&only(&r).ending, Ending::Failed(e) if e.errno == 0), "{:?}", only(&r).ending);
}
