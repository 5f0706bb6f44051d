//! Streams whose operations move no data: file calls, computing; and data by other paths (POSIX AIO, splice), or until the disk
//! is full.

use crate::support::{Bench, KIB, MIB};
use fathom_record::{Ending, OpKind, Repetition};
use fathom_workload::{
    Access, Amount, Backend, Bytes, Compute, Data, Direction, Duration, Existing, FileCall, Isolation, Pick,
    StatCall, Stop, Stream, Turns, Verify,
};
use std::os::unix::fs::MetadataExt as _;

fn stream(direction: Direction) -> Stream {
    Stream { data: Data::Byte(0x5a), ..Stream::new("f", direction, Bytes(4 * KIB)) }
}

fn calls(call: FileCall, direction: Direction) -> Stream {
    Stream { backend: Backend::Calls(call), ..stream(direction) }
}

/// One operation for each file of the set.
fn of_names(call: FileCall) -> Stream {
    Stream {
        pick: Pick::All,
        turns: Some(Turns::default()),
        length: Some(Bytes(4 * KIB)),
        ..calls(call, Direction::Read)
    }
}

fn ops(repetition: &Repetition, kind: OpKind) -> u64 {
    repetition.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == kind).map(|s| s.ops).sum()
}

#[track_caller]
fn completed(repetition: &Repetition) {
    for worker in &repetition.workers {
        assert_eq!(worker.ending, Ending::Completed);
    }
}

#[test]
fn space_is_allocated_and_files_are_cut() {
    let bench = Bench::new(64 * KIB);
    // Reads leave the file size alone.
    let kept = bench.run(calls(FileCall::Allocate, Direction::Read));
    completed(&kept);
    assert_eq!((ops(&kept, OpKind::Read), bench.file().metadata().unwrap().len()), (16, 0));
    let grown = bench.run(calls(FileCall::Allocate, Direction::Write));
    completed(&grown);
    let found = bench.file().metadata().unwrap();
    assert_eq!((ops(&grown, OpKind::Write), found.len()), (16, 64 * KIB));
    assert!(found.blocks() * 512 >= 64 * KIB, "{}", found.blocks());
    let cut = bench.run(calls(FileCall::Truncate, Direction::Write));
    completed(&cut);
    // The last write's offset.
    assert_eq!((ops(&cut, OpKind::Write), bench.file().metadata().unwrap().len()), (16, 60 * KIB));
}

#[test]
fn files_are_made_looked_up_and_removed() {
    let bench = Bench::new(64 * KIB).workers(3, Isolation::Thread);
    // Three workers on the same three files: the first one creates each.
    let made = bench.run(of_names(FileCall::Create));
    completed(&made);
    assert_eq!(ops(&made, OpKind::Read), 9);
    assert!((0..3).all(|file| bench.path(file).metadata().unwrap().len() == 0));
    for call in [StatCall::Stat, StatCall::Lstat, StatCall::Statx] {
        let asked = bench.run(Stream { amount: Amount::Passes(4), ..of_names(FileCall::Stat(call)) });
        completed(&asked);
        assert_eq!(ops(&asked, OpKind::Read), 36, "{call:?}");
    }
    // Each removes its own.
    let own = Stream { length: Some(Bytes(4 * KIB)), ..calls(FileCall::Remove, Direction::Write) };
    let removed = bench.run(own.clone());
    completed(&removed);
    assert_eq!(ops(&removed, OpKind::Write), 3);
    assert!((0..3).all(|file| !bench.path(file).exists()));
    // A missing file is an error.
    let gone = bench.run(own);
    assert!(
        gone.workers.iter().any(|w| matches!(&w.ending, Ending::Failed(error) if error.errno == 2)),
        "{:?}",
        gone.workers.iter().map(|w| &w.ending).collect::<Vec<_>>()
    );
}

#[test]
fn directories_are_made_looked_up_and_removed() {
    let bench = Bench::new(4 * KIB).workers(3, Isolation::Process).existing(Existing::Reuse);
    let own = |call| Stream { length: Some(Bytes(4 * KIB)), ..calls(call, Direction::Write) };
    let made = bench.run(own(FileCall::MakeDirectory));
    completed(&made);
    assert_eq!(ops(&made, OpKind::Write), 3);
    // Users who may read a file of the set may enter the directory.
    let found = bench.file().metadata().unwrap();
    assert!(found.is_dir() && (found.mode() & 0o500) == 0o500, "{:o}", found.mode());
    let asked = bench.run(of_names(FileCall::Stat(StatCall::Lstat)));
    completed(&asked);
    assert_eq!(ops(&asked, OpKind::Read), 9);
    let failed = |repetition: &Repetition, errno: i32| {
        let is = |w: &fathom_record::Worker| matches!(&w.ending, Ending::Failed(e) if e.errno == errno);
        assert!(repetition.workers.iter().any(is), "{errno}");
    };
    failed(&bench.run(own(FileCall::MakeDirectory)), 17);
    // A foreign file in a directory stays, and so does the directory.
    std::fs::write(bench.file().join("theirs"), "x").unwrap();
    failed(&bench.run(own(FileCall::RemoveDirectory)), 39);
    assert!(bench.file().join("theirs").exists());
    std::fs::remove_file(bench.file().join("theirs")).unwrap();
    let alone = Stream { pick: Pick::One(0), ..own(FileCall::RemoveDirectory) };
    let bench = bench.workers(1, Isolation::Thread);
    completed(&bench.run(alone));
    assert!(!bench.file().exists());
}

#[test]
fn directories_that_a_stream_made_go_with_the_run() {
    let dir = fathom_testkit::TestDir::new();
    let bench = Bench::new_in(dir.path(), 4 * KIB);
    completed(
        &bench
            .run(Stream { length: Some(Bytes(4 * KIB)), ..calls(FileCall::MakeDirectory, Direction::Write) }),
    );
    let made = bench.file();
    assert!(made.is_dir());
    drop(bench);
    assert!(!made.exists());
}

#[test]
fn directories_of_others_are_not_removed() {
    let bench = Bench::new(4 * KIB).existing(Existing::Reuse);
    std::fs::create_dir(bench.file()).unwrap();
    let one = Stream { length: Some(Bytes(4 * KIB)), ..stream(Direction::Read) };
    let refused = bench.refused(Stream { backend: Backend::Calls(FileCall::RemoveDirectory), ..one.clone() });
    assert!(refused.contains("file.0"), "{refused}");
    completed(&bench.run(Stream { backend: Backend::Calls(FileCall::Stat(StatCall::Stat)), ..one }));
    assert!(bench.file().is_dir());
}

#[test]
fn foreign_files_are_not_changed_by_calls() {
    let bench = Bench::new(64 * KIB).existing(fathom_workload::Existing::Reuse);
    std::fs::write(bench.file(), [7; 100]).unwrap();
    let one = Stream { length: Some(Bytes(4 * KIB)), ..stream(Direction::Read) };
    for call in [FileCall::Remove, FileCall::Create, FileCall::Allocate] {
        let refused = bench.refused(Stream { backend: Backend::Calls(call), ..one.clone() });
        assert!(refused.contains("file.0"), "{call:?}: {refused}");
    }
    assert_eq!(std::fs::read(bench.file()).unwrap(), [7; 100]);
}

#[test]
fn computing_takes_its_time() {
    let compute = |sort| Backend::Compute(Compute { time: Duration(2_000_000), sort });
    for sort in [false, true] {
        let bench = Bench::new(64 * KIB);
        let busy =
            Stream { backend: compute(sort), amount: Amount::Operations(5), ..stream(Direction::Read) };
        let did = bench.run(busy);
        completed(&did);
        assert_eq!(ops(&did, OpKind::Read), 5);
        assert!(did.workers[0].elapsed_ns >= 10_000_000, "{}", did.workers[0].elapsed_ns);
        assert!(!bench.file().exists());
    }
    let bench = Bench::new(64 * KIB).stop(Stop { time: Some(Duration(20_000_000)), ..Stop::default() });
    let endless = Stream { backend: compute(false), amount: Amount::Endless, ..stream(Direction::Read) };
    assert!(ops(&bench.run(endless), OpKind::Read) >= 1);
}

#[test]
fn posix_aio_and_splice_move_the_bytes() {
    for (backend, queue_depth, record) in [
        (Backend::Posix, 1, 4 * KIB),
        (Backend::Posix, 16, 4 * KIB),
        (Backend::Splice, 1, 4 * KIB),
        // More than a pipe holds.
        (Backend::Splice, 1, 256 * KIB),
    ] {
        let bench = Bench::new(MIB);
        let of = |direction| Stream {
            backend,
            queue_depth,
            record: fathom_workload::Record::Fixed(Bytes(record)),
            access: Access::Permuted,
            data: Data::Positioned { tag: 1 },
            ..stream(direction)
        };
        let written = bench.run(of(Direction::Write));
        completed(&written);
        assert_eq!(ops(&written, OpKind::Write), MIB / record, "{backend:?}");
        let submitted = ops(&written, OpKind::WriteSubmission);
        assert_eq!(submitted, if backend == Backend::Posix { MIB / record } else { 0 });
        let read = bench.run(Stream { verify: Verify::Full, ..of(Direction::Read) });
        completed(&read);
        assert_eq!(ops(&read, OpKind::Read), MIB / record, "{backend:?}");
        // And psync finds the same.
        let again = bench.run(Stream {
            verify: Verify::Full,
            backend: Backend::default(),
            queue_depth: 1,
            ..of(Direction::Read)
        });
        completed(&again);
    }
}

#[test]
fn posix_aio_works_on_all_files_of_a_set() {
    let bench = Bench::new(64 * KIB).workers(2, Isolation::Thread);
    let all = Stream {
        backend: Backend::Posix,
        queue_depth: 8,
        pick: Pick::All,
        turns: Some(Turns::default()),
        ..stream(Direction::Write)
    };
    completed(&bench.run(all));
    for file in 0..2 {
        assert!(std::fs::read(bench.path(file)).unwrap() == vec![0x5a; 64 * KIB as usize]);
    }
    let apart = Bench::new(64 * KIB).workers(2, Isolation::Process);
    let text = apart.unsupported(Stream { backend: Backend::Posix, ..stream(Direction::Write) });
    assert!(text.unwrap_or_default().contains("isolation = \"thread\""));
}
