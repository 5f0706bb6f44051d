//! The interpreter against the meaning of flows, without any I/O: the path through sequences, offsets of transfers, picked files, ends.

use super::*;
use crate::ops::Place as At;
use crate::tree::Layouts;
use crate::{Phase, Workload};
use proptest::prelude::*;
use std::convert::Infallible;
use std::sync::atomic::AtomicU64;

type Words = Vec<AtomicU64>;

#[expect(clippy::unnecessary_wraps, reason = "what makes words may fail elsewhere")]
fn words(count: usize) -> Result<Words, Infallible> {
    Ok((0..count).map(|_| AtomicU64::new(0)).collect())
}

/// A workload of one thread with these operations on a set of `files` files of 64 KiB.
fn workload(files: u32, ops: &str) -> Workload {
    let text = format!(
        "name = \"t\"\n[[fileset]]\nname = \"f\"\nfiles = {{ numbered = {{ prefix = \"f\", count = {files} }} }}\n\
         size = {{ fixed = \"64KiB\" }}\n[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
         [phase.group.thread.program.flow]\nop = [{ops}]\n"
    );
    Workload::from_toml(&text).unwrap_or_else(|e| panic!("{e}"))
}

/// Everything a thread's interpreter needs.
struct TestFlow {
    cast: FlowMembers,
    sets: Vec<Set<Words>>,
    variables: Variables<Words>,
    workload: Workload,
}

impl TestFlow {
    fn new(workload: Workload) -> Self {
        let cast = FlowMembers::new(&workload, &workload.phases[0]).unwrap();
        let set = |s: &crate::FileSet| {
            let bytes = vec![64 << 10; s.files.count() as usize];
            Set::new(bytes, |_| true, (0, |_| false), 1, words).unwrap()
        };
        let sets = workload.filesets.iter().map(set).collect();
        let make = |n| words(n).map_err(|e| match e {});
        let variables = Variables::new::<Impossible>(&workload, &Layouts::default(), 1, make).unwrap();
        Self { cast, sets, variables, workload }
    }

    fn program(&self) -> &FlatProgram {
        &self.cast.programs[0]
    }

    fn thread(&self, memory: u64) -> FlowThread<'_, Words, ()> {
        let place = self.cast.places[0].as_ref().unwrap();
        let offsets = self.program().offsets;
        let numbers = Numbers::new(&self.variables, place, offsets, &self.workload, At::default()).unwrap();
        FlowThread::new(&self.program().ops, &self.sets, numbers, None, (0, memory))
    }
}

/// The names of the first `most` operations.
fn turns(ops: &str, loops: &str, most: usize) -> Vec<String> {
    let mut workload = workload(1, ops);
    if let crate::Program::Flow(flow) = &mut workload.phases[0].groups[0].threads[0].program {
        flow.loops = loops.parse().ok();
    }
    let stage = TestFlow::new(workload);
    let (mut thread, mut walk) = (stage.thread(0), Walk::new(stage.program()));
    let mut seen = Vec::new();
    while seen.len() < most {
        match walk.next(stage.program(), &mut thread.numbers) {
            NextStep::Do(op) => seen.push(stage.program().ops[op].name.clone()),
            NextStep::Again => seen.push("again".into()),
            NextStep::Through => seen.push("through".into()),
            NextStep::Over => break,
        }
    }
    seen
}

#[test]
fn sequences_are_gone_through_as_often_as_they_say() {
    let ops = "{ name = \"a\", act = \"read\", repeat = 2, fileset = \"f\" }, \
               { name = \"s\", act = \"sequence\", repeat = 2, op = [{ name = \"b\", act = \"read\" }] }, \
               { name = \"n\", act = \"sequence\", repeat = 0, op = [{ name = \"c\", act = \"read\" }] }, \
               { name = \"d\", act = \"read\", repeat = 0 }";
    let once = ["a", "a", "s.b", "again", "s.b", "through"];
    assert_eq!(turns(ops, "1", 99), once);
    assert_eq!(turns(ops, "2", 99), [once, once].concat());
    assert_eq!(turns(ops, "0", 99), [""; 0]);
    assert_eq!(turns(ops, "for ever", 12), [once, once].concat());
}

#[test]
fn a_slot_remembers_its_file_and_a_removal_means_it() {
    let stage = TestFlow::new(workload(3, "{ name = \"d\", act = \"delete\", fileset = \"f\", slot = 1 }"));
    let mut thread = stage.thread(0);
    let op = &stage.program().ops[0];
    let any = |d: Deletion| matches!(d, Deletion::Any(_));
    assert!(any(thread.deletion(op).unwrap()));
    thread.opened(1, (), (0, 2));
    assert_eq!(thread.closed_slot(op), Err(Wrong::OpenSlot(1)));
    assert_eq!(thread.deletion(op), Ok(Deletion::Own { set: 0, file: 2, open: true }));
    assert!(thread.may_delete((0, 2), true) && !thread.may_delete((0, 2), false), "it is open");
    assert_eq!(thread.close(op), Ok(()));
    assert_eq!(thread.close(op), Err(Wrong::ClosedSlot(1)));
    assert_eq!(thread.deletion(op), Ok(Deletion::Own { set: 0, file: 2, open: false }));
    thread.deleted(op, true);
    assert!(any(thread.deletion(op).unwrap()), "it was removed through this slot");
}

struct Done(u64, u64);

impl Counts for Done {
    fn of_row(&self, _: usize) -> (u64, u64) {
        (self.0, self.1)
    }

    fn of_process(&self) -> Totals {
        Totals { all: 7, bytes: 70, ..Totals::default() }
    }
}

#[test]
fn a_count_is_reached_and_bytes_are_passed() {
    let finish = |act: &str, more: &str| {
        let ops = format!(
            "{{ name = \"r\", act = \"read\", fileset = \"f\" }}, {{ name = \"e\", act = \"{act}\", value = 10{more} }}"
        );
        TestFlow::new(workload(1, &ops))
    };
    let over = |stage: &TestFlow, done: Done| stage.thread(0).is_over(&stage.program().ops[1], &done);
    let own = finish("finish-on-count", ", target = \"r\"");
    assert!(!over(&own, Done(9, 0)) && over(&own, Done(10, 0)));
    let own = finish("finish-on-bytes", ", target = \"r\"");
    assert!(!over(&own, Done(0, 10)) && over(&own, Done(0, 11)));
    assert!(!over(&finish("finish-on-count", ""), Done(99, 99)), "seven of the process");
    assert!(over(&finish("finish-on-bytes", ""), Done(0, 0)));
}

#[test]
fn flows_without_sense_are_refused_by_the_operations_name() {
    let refused = |ops: &str| {
        let w = workload(1, ops);
        let phase: &Phase = &w.phases[0];
        let thread = &phase.groups[0].threads[0];
        let crate::Program::Flow(flow) = &thread.program else { panic!("a flow") };
        refusal(&w, phase, thread, flow)
    };
    assert_eq!(refused("{ name = \"a\", act = \"read\", fileset = \"f\", size = 8 }"), None);
    let (name, why) =
        refused("{ name = \"s\", act = \"sequence\", op = [{ name = \"a\", act = \"read\" }] }").unwrap();
    assert_eq!(name, "s.a");
    assert!(why.contains("needs a file set"), "{why}");
    let (_, why) = refused("{ name = \"p\", act = \"semaphore-post\", target = \"q\", value = 1 }").unwrap();
    assert!(why.contains("\"q\""), "{why}");
}

proptest! {
    #[test]
    fn transfers_lie_in_their_range(size in 1u64..90_000, set in 0u64..200_000, memory in 0u64..100_000, random: bool) {
        let ops = format!(
            "{{ name = \"r\", act = \"read\", fileset = \"f\", size = \"{size}\", working_set = \"{set}\", random = {random} }}"
        );
        let stage = TestFlow::new(workload(1, &ops));
        let mut thread = stage.thread(memory);
        let op = &stage.program().ops[0];
        thread.opened(5, (), (0, 0));
        let range = if set == 0 { 64 << 10 } else { set };
        let mut at = 0u64;
        for _ in 0..50 {
            match thread.transfer(op, 5) {
                Err(Wrong::Area { bytes, area }) => prop_assert!(memory > 0 && bytes == size && area < size),
                Err(Wrong::Range { bytes, range: r }) => prop_assert!(random && bytes == size && r == range && r < size),
                Err(other) => prop_assert!(false, "{other:?}"),
                Ok(t) => {
                    prop_assert_eq!((t.slot, t.bytes), (5, size));
                    prop_assert!(memory == 0 && t.at == 0 || t.at + size <= memory);
                    if random {
                        prop_assert!(t.offset + size <= range && t.offset % size == 0);
                    } else {
                        prop_assert_eq!(t.offset, at);
                        let moved = size.min((64u64 << 10).saturating_sub(at));
                        at = if moved == 0 { 0 } else { at + moved };
                        thread.was_read(op, &t, moved);
                    }
                }
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same(seed: u64, other: u64) {
        let ops = "{ name = \"r\", act = \"read\", fileset = \"f\", size = 512, random = true }";
        let drawn = |seed: u64| {
            let mut w = workload(1, ops);
            w.seed.0 = seed;
            let stage = TestFlow::new(w);
            let mut thread = stage.thread(4096);
            thread.opened(0, (), (0, 0));
            (0..20).map(|_| thread.transfer(&stage.program().ops[0], 0).unwrap()).collect::<Vec<_>>()
        };
        prop_assert_eq!(drawn(seed), drawn(seed));
        prop_assert!(seed == other || drawn(seed) != drawn(other));
    }
}
