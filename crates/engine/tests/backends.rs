//! Differences between back-ends: flags, flushes and advice, missing machine features, and the messages that refuse them. That
//! all do the same operations is tested in streams.rs; their system calls in the program's own tests.

use crate::support::{Bench, KIB, MIB, only};
use fathom_engine::{State, capabilities, capabilities_in};
use fathom_record::Ending;
use fathom_workload::{
    Access, Amount, Backend, Bytes, Data, Direction, MapFlush, Mix, Open, Pvsync2, Stream, SyncCall, Uring,
    Verify,
};
use std::os::unix::fs::MetadataExt as _;

fn mapped(flush: MapFlush, flush_every: u64, advice: Option<u8>) -> Backend {
    Backend::Mmap { flush, flush_every, populate: false, huge_pages: false, advice }
}

fn direct() -> Open {
    Open { direct: true, ..Open::default() }
}

#[test]
fn pvsync2_does_the_operations_of_psync() {
    let run = |backend| {
        let bench = Bench::new(MIB);
        let mixed = |amount| Stream {
            backend,
            amount,
            access: Access::Uniform,
            data: Data::Positioned { tag: 3 },
            log_operations: true,
            ..Stream::new("f", Direction::Mix(Mix::ReadPercent(40)), Bytes(4 * KIB))
        };
        bench.run(Stream { data: Data::Zero, ..Stream::new("f", Direction::Write, Bytes(64 * KIB)) });
        let r = bench.run(mixed(Amount::Operations(500)));
        let ops: Vec<(u64, u32)> = only(&r).op_log.iter().map(|e| (e.offset, e.bytes)).collect();
        (ops, std::fs::read(bench.file()).unwrap())
    };
    let expected = run(Backend::Psync(SyncCall::Positioned));
    assert_eq!(expected.0.len(), 500);
    for options in [Pvsync2::default(), Pvsync2 { dsync: true, ..Pvsync2::default() }] {
        assert!(run(Backend::Pvsync2(options)) == expected, "{options:?} did something else");
    }
}

/// The message of a run's failure; `None` if it did not fail.
fn failure(r: &fathom_record::Repetition) -> Option<String> {
    match &only(r).ending {
        Ending::Failed(e) => Some(e.message.clone()),
        _ => None,
    }
}

#[test]
fn a_read_that_would_wait_is_repeated_and_waits() {
    let name = "a_read_that_would_wait_is_repeated_and_waits";
    let bench = Bench::new(4 * MIB);
    let stream = |direction, backend| Stream {
        backend,
        access: Access::Permuted,
        data: Data::Positioned { tag: 5 },
        verify: Verify::Full,
        sync_after: true,
        ..Stream::new("f", direction, Bytes(16 * KIB))
    };
    bench.run(stream(Direction::Write, Backend::default()));
    let file = std::fs::File::open(bench.file()).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let nowait = Backend::Pvsync2(Pvsync2 { nowait: true, ..Pvsync2::default() });
    if let Some(refused) = bench.unsupported(stream(Direction::Read, nowait)) {
        assert!(refused.contains("reads with RWF_NOWAIT (nowait = true)"), "{refused}");
        return fathom_testkit::skip(name, "the file system cannot read without waiting");
    }
    let r = bench.run(stream(Direction::Read, nowait));
    assert_eq!((&only(&r).ending, only(&r).ops), (&Ending::Completed, 256));
}

#[test]
fn a_flag_that_the_file_system_refuses_is_one_clear_error() {
    let name = "a_flag_that_the_file_system_refuses_is_one_clear_error";
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return fathom_testkit::skip(name, "/dev/shm takes no directory");
    };
    // A memory file system has nothing to drop from the cache.
    let backend = Backend::Pvsync2(Pvsync2 { uncached: true, dsync: true, ..Pvsync2::default() });
    for direction in [Direction::Write, Direction::Read] {
        let bench = Bench::new_in(dir.path(), 64 * KIB);
        std::fs::write(bench.file(), vec![0; 64 * KIB as usize]).unwrap();
        let stream = Stream { backend, ..Stream::new("f", direction, Bytes(4 * KIB)) };
        if let Some(refused) = bench.unsupported(stream.clone()) {
            assert!(
                refused.contains("does not know RWF_DONTCACHE") && refused.contains("Linux 6.14"),
                "{refused}"
            );
            continue;
        }
        std::fs::remove_file(bench.file()).unwrap();
        bench.run(Stream::new("f", Direction::Write, Bytes(4 * KIB)));
        let r = bench.run(stream);
        let Some(message) = failure(&r) else {
            return fathom_testkit::skip(name, "this kernel's tmpfs takes RWF_DONTCACHE");
        };
        assert!(message.contains("refuses RWF_DONTCACHE (uncached = true)"), "{message}");
        assert!(message.contains("Linux 6.14") && !message.contains("dsync"), "{message}");
        let Ending::Failed(e) = &only(&r).ending else { unreachable!("it has a message") };
        let call = if direction == Direction::Write { "write" } else { "read" };
        assert_eq!((e.call.as_str(), e.offset, e.after_ops), (call, Some(0), 0));
    }
}

#[test]
fn impossible_options_are_refused_with_the_reason() {
    let bench = Bench::new(MIB);
    let refused = |backend, direction, open| {
        bench.unsupported(Stream { backend, open, ..Stream::new("f", direction, Bytes(4 * KIB)) })
    };
    let pvsync2 = |set: fn(&mut Pvsync2)| {
        let mut options = Pvsync2::default();
        set(&mut options);
        Backend::Pvsync2(options)
    };
    for (backend, open, words) in [
        (pvsync2(|o| o.high_priority = true), Open::default(), "direct = true"),
        (pvsync2(|o| o.atomic = true), Open::default(), "direct = true"),
        (Backend::Aio { batch: 0, atomic: true }, Open::default(), "direct = true"),
        (Backend::Uring(Uring { atomic: true, ..Uring::default() }), Open::default(), "direct = true"),
        (pvsync2(|o| o.uncached = true), direct(), "uncached cannot be combined with direct"),
        (mapped(MapFlush::Sync, 0, None), Open::default(), "flush_every is 0"),
        (mapped(MapFlush::No, 3, None), Open::default(), "flush_every needs flush"),
        (mapped(MapFlush::No, 1, Some(9)), Open::default(), "advice 9 is not supported"),
        (mapped(MapFlush::No, 1, Some(23)), Open::default(), "streams that write"),
    ] {
        let text = refused(backend, Direction::Read, open).unwrap_or_default();
        assert!(text.contains(words), "{backend:?}: {text:?}");
    }
    assert_eq!(refused(mapped(MapFlush::Async, 3, Some(1)), Direction::Write, Open::default()), None);
}

#[test]
fn polling_a_device_that_does_not_poll_is_refused_before_the_start() {
    let bench = Bench::new(MIB);
    let status = std::fs::metadata(bench.file().parent().unwrap()).unwrap();
    let device = status.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let queue = ["queue", "../queue"]
        .into_iter()
        .find_map(|q| std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/{q}/io_poll")).ok());
    let Some(polls) = queue.map(|q| q.trim() != "0") else {
        return fathom_testkit::skip("polling_a_device", "the test directory is on no single device");
    };
    for backend in [
        Backend::Pvsync2(Pvsync2 { high_priority: true, ..Pvsync2::default() }),
        Backend::Uring(Uring { completion_polling: true, ..Uring::default() }),
    ] {
        let stream = Stream { backend, open: direct(), ..Stream::new("f", Direction::Read, Bytes(4 * KIB)) };
        let refused = bench.unsupported(stream);
        let named = refused.as_ref().is_some_and(|r| r.contains("io_poll is 0"));
        assert_eq!(named, !polls, "{backend:?}: {refused:?}");
    }
}

#[test]
fn a_ring_lets_go_of_its_file_when_it_is_closed() {
    let name = "a_ring_lets_go_of_its_file_when_it_is_closed";
    let Some(small) = fathom_testkit::TmpFs::mount(name, 3 * MIB) else { return };
    for registered in [true, false] {
        let options =
            Uring { registered_file: registered, registered_buffers: Some(registered), ..Uring::default() };
        let stream = Stream {
            backend: Backend::Uring(options),
            queue_depth: 8,
            ..Stream::new("f", Direction::Write, Bytes(64 * KIB))
        };
        let bench = Bench::new_in(small.path(), 2 * MIB);
        if bench.unsupported(stream.clone()).is_some() {
            return fathom_testkit::skip(name, "no io_uring here");
        }
        // There is space for one file at a time: if a ring kept one, the next would not fit.
        for phase in 0..5 {
            let r = bench.run(stream.clone());
            assert_eq!(failure(&r), None, "phase {phase}, registered: {registered}");
            std::fs::remove_file(bench.file()).unwrap();
            // The kernel drops the last reference slightly later on a busy machine; a ring that kept it never would.
            let began = std::time::Instant::now();
            while free_bytes(small.path()) < 2 * MIB && began.elapsed().as_secs() < 20 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
    }
}

fn free_bytes(path: &std::path::Path) -> u64 {
    let about = rustix::fs::statvfs(path).unwrap();
    about.f_bavail * about.f_frsize
}

#[test]
fn a_machine_that_forbids_io_uring_says_so_before_the_start() {
    let test = "a_machine_that_forbids_io_uring";
    fathom_testkit::without_call(test, libc::SYS_io_uring_setup, libc::EPERM, || {
        let bench = Bench::new(MIB);
        let stream = |backend| Stream { backend, ..Stream::new("f", Direction::Write, Bytes(4 * KIB)) };
        let refused = bench.unsupported(stream(Backend::Uring(Uring::default()))).unwrap_or_default();
        assert!(refused.contains("io_uring is") && refused.contains("use the back-end aio"), "{refused}");
        assert_eq!(bench.unsupported(stream(Backend::default())), None, "others are not touched by it");
        let uring: Vec<_> = capabilities().into_iter().filter(|c| c.backend == "uring").collect();
        assert_eq!(uring.len(), 1, "without a ring there is nothing more to try: {uring:?}");
        assert_eq!(uring[0].state, State::Lacks);
    });
}

#[test]
fn probed_features_work() {
    let bench = Bench::new(256 * KIB);
    let dir = bench.file().parent().unwrap().to_owned();
    let all = capabilities_in(&dir);
    let state = |feature: &str| all.iter().find(|c| c.feature == feature).map(|c| c.state);
    let cases: [(&str, Backend, Open); 6] = [
        ("RWF_DSYNC", Backend::Pvsync2(Pvsync2 { dsync: true, ..Pvsync2::default() }), Open::default()),
        (
            "RWF_DONTCACHE",
            Backend::Pvsync2(Pvsync2 { uncached: true, ..Pvsync2::default() }),
            Open::default(),
        ),
        ("RWF_ATOMIC", Backend::Pvsync2(Pvsync2 { atomic: true, ..Pvsync2::default() }), direct()),
        ("RWF_ATOMIC", Backend::Aio { batch: 0, atomic: true }, direct()),
        ("RWF_ATOMIC", Backend::Uring(Uring { atomic: true, ..Uring::default() }), direct()),
        ("MADV_POPULATE_WRITE", mapped(MapFlush::No, 1, Some(23)), Open::default()),
    ];
    for (feature, backend, open) in cases {
        let stream = Stream { backend, open, ..Stream::new("f", Direction::Write, Bytes(4 * KIB)) };
        let works = bench.unsupported(stream.clone()).is_none() && {
            let r = bench.run(stream);
            only(&r).ending == Ending::Completed
        };
        if state(feature) != Some(State::Unknown) {
            assert_eq!(works, state(feature) == Some(State::Works), "{feature}: {all:?}");
        }
    }
}
