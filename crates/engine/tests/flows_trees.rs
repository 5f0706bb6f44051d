//! Flows over directory trees: files and directories that are created and removed.

use crate::support::KIB;
use crate::support::flows::{Flows, Op, below, counts, flow, looped, op};
use fathom_record::{Ending, OpKind};
use fathom_workload::{Act, Exhausted, Isolation, Stop};

fn on(name: &str, act: Act) -> Op {
    op(name, act).set("t")
}

#[test]
fn files_are_created_written_and_removed() {
    let ops = vec![
        on("c", Act::Create).slot(1),
        on("w", Act::WriteWholeFile).slot(1).size(4 * KIB),
        on("x", Act::Close).slot(1),
        on("s", Act::Stat),
    ];
    let b = Flows::new().tree("t", 20, 10 * KIB, 50).thread(looped(5, ops));
    let (files, _) = below(&b.root("t"));
    let r = b.run();
    assert_eq!(below(&b.root("t")).0, files + 5);
    assert_eq!([counts(&r, "c"), counts(&r, "x"), counts(&r, "s")], [(5, 0); 3]);
    assert_eq!(counts(&r, "w"), (5, 50 * KIB));
    let opens = r.workers[0].stats.iter().find(|s| s.op == OpKind::Open).unwrap();
    assert_eq!((opens.ops, opens.bytes), (5, 0));
    assert_eq!(b.clean_up(), Vec::<std::path::PathBuf>::new());
    assert!(!b.root("t").exists(), "what a flow has made goes with its tree");
}

#[test]
fn removing_by_slot_removes_the_file_that_was_in_it() {
    let ops = vec![
        on("c", Act::Create).slot(1),
        on("x", Act::Close).slot(1),
        on("d", Act::Delete).slot(1),
        on("d2", Act::Delete),
    ];
    let b = Flows::new().tree("t", 30, KIB, 50).thread(looped(3, ops));
    let (files, _) = below(&b.root("t"));
    let r = b.run();
    assert_eq!([counts(&r, "c").0, counts(&r, "d").0, counts(&r, "d2").0], [3, 3, 3]);
    assert_eq!(below(&b.root("t")).0, files - 3);
}

#[test]
fn a_slot_whose_file_was_removed_removes_the_next_one() {
    let ops = vec![
        on("o", Act::Open).slot(1),
        on("d", Act::Delete).slot(1).repeat(2),
        on("r", Act::Read).slot(1).size(KIB),
        on("x", Act::Close).slot(1),
        on("d2", Act::Delete).slot(1),
    ];
    let b = Flows::new().tree("t", 30, KIB, 100).thread(looped(3, ops));
    let r = b.run();
    assert_eq!(["o", "d", "r", "x", "d2"].map(|name| counts(&r, name).0), [3, 6, 3, 3, 3]);
    assert_eq!(below(&b.root("t")).0, 30 - 9);
}

/// Result of a flow that removes every file.
fn all_removed(exhausted: Exhausted) -> fathom_record::Repetition {
    let delete = flow(vec![on("d", Act::Delete)]);
    let read = flow(vec![op("r", Act::Read).set("f").size(KIB).random()]);
    let b =
        Flows::new().tree("t", 10, KIB, 100).files("f", 1, 64 * KIB).process("p", delete).process("q", read);
    let b = b.phase(|p| p.stop = Stop { exhausted, ..Stop::default() });
    // If only the worker ends, the other one would run forever.
    let b = if exhausted == Exhausted::Worker { b.ms(100) } else { b };
    b.run()
}

#[test]
fn a_set_that_has_no_file_left_ends_the_phase_too_early() {
    let r = all_removed(Exhausted::Early);
    let Ending::Failed(error) = &r.workers[0].ending else { panic!("{:?}", r.workers[0].ending) };
    assert_eq!((error.call.as_str(), error.path.as_str(), error.after_ops), ("pick", "t", 10));
    assert!(error.message.starts_with("operation d: no file is left in t; give the set more entries"));
    assert_eq!((counts(&r, "d").0, &r.workers[1].ending), (10, &Ending::Stopped));
}

#[test]
fn or_it_ends_the_phase_or_the_worker() {
    let r = all_removed(Exhausted::Phase);
    assert_eq!([&r.workers[0].ending, &r.workers[1].ending], [&Ending::Completed, &Ending::Stopped]);
    let r = all_removed(Exhausted::Worker);
    assert_eq!([&r.workers[0].ending, &r.workers[1].ending], [&Ending::Completed, &Ending::Stopped]);
    assert!(r.workers[1].elapsed_ns >= 100_000_000, "the other one had its time");
}

#[test]
fn creators_in_many_processes_never_meet() {
    let ops = vec![on("c", Act::Create), on("a", Act::Append).size(KIB), on("x", Act::Close)];
    let b = Flows::new().tree("t", 200, KIB, 0);
    let b = b.group("g", 4, Isolation::Process, vec![(2, 0, flow(ops))]);
    let b = b.phase(|p| p.stop.exhausted = Exhausted::Worker);
    let r = b.run();
    assert!(r.workers.iter().all(|w| w.ending == Ending::Completed), "{:?}", r.workers[0].ending);
    assert_eq!([counts(&r, "c").0, counts(&r, "x").0, below(&b.root("t")).0 as u64], [200, 200, 200]);
    assert_eq!(counts(&r, "a"), (200, 200 * KIB));
}

#[test]
fn leaf_directories_are_made_removed_and_listed() {
    let ops = vec![
        op("m", Act::MakeDirectory).set("l"),
        op("r", Act::RemoveDirectory).set("l"),
        op("m2", Act::MakeDirectory).set("l"),
        op("ls", Act::ListDirectory).set("l"),
    ];
    let b = Flows::new().leaves("l", 12, 50).thread(looped(3, ops));
    let before = below(&b.root("l")).1;
    let r = b.run();
    assert_eq!(["m", "r", "m2", "ls"].map(|n| counts(&r, n).0), [3; 4]);
    assert!(counts(&r, "ls").1 >= 3 * (1 + 2 + 2 * 279));
    assert!(below(&b.root("l")).1 >= before);
    let one = op("m", Act::MakeDirectory).set("l");
    let b = Flows::new().leaves("l", 3, 0).thread(flow(vec![one]));
    let Ending::Failed(error) = &b.run().workers[0].ending else { panic!("it never ends") };
    assert!(
        error.message.contains("no leaf directory that does not exist yet is left in l"),
        "{}",
        error.message
    );
}
