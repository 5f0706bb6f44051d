//! Flows that wait for each other, limits, and the ends of flow phases.

use crate::support::KIB;
use crate::support::flows::{Flows, Op, counts, flow, looped, op, row};
use fathom_engine::{Moments, Said};
use fathom_record::{Ending, RowClass};
use fathom_workload::{Act, Finished, Isolation, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn read(name: &str) -> Op {
    op(name, Act::Read).set("f").size(KIB).random()
}

fn files() -> Flows {
    Flows::new().files("f", 1, 64 * KIB)
}

#[test]
fn a_semaphore_holds_a_process_back() {
    let producer = looped(40, vec![read("r"), op("post", Act::SemaphorePost).target("wait").value(1)]);
    let consumer = looped(4, vec![op("wait", Act::SemaphoreWait).value(10), read("w")]);
    let r = files().process("p", producer).process("c", consumer).run();
    assert_eq!([counts(&r, "post").0, counts(&r, "wait").0, counts(&r, "w").0], [40, 4, 5]);
    assert!(r.workers.iter().all(|w| w.ending == Ending::Completed));
    assert_eq!(row(&r, "post").class, RowClass::Sync);
    assert_eq!(r.ops(), 41 + 5, "waiting is no I/O");
}

#[test]
fn every_instance_of_the_target_gets_the_posts() {
    let producer = looped(6, vec![op("post", Act::SemaphorePost).target("wait").value(2)]);
    let consumer = looped(3, vec![op("wait", Act::SemaphoreWait).value(4)]);
    let b = files().process("p", producer).group("c", 2, Isolation::Process, vec![(2, 0, consumer)]);
    let r = b.run();
    assert_eq!([counts(&r, "post").0, counts(&r, "wait").0], [6, 12]);
}

#[test]
fn a_blocking_poster_is_no_further_ahead_than_the_mark() {
    let post = op("post", Act::SemaphorePost).target("wait").value(1).with(|o| o.blocking = true);
    let wait = op("wait", Act::SemaphoreWait).value(1).with(|o| o.high_water = Value::Number(5));
    let consumer = looped(3, vec![wait]);
    let r = files().process("p", flow(vec![post])).process("c", consumer).ms(150).run();
    assert_eq!((counts(&r, "wait").0, counts(&r, "post").0), (3, 3 + 5));
    assert_eq!(r.workers[0].ending, Ending::Stopped, "it waits until the phase is over");
}

#[test]
fn blocked_workers_are_woken_and_wakings_are_not_remembered() {
    // The first finished sleeper ends the phase: however slow the machine is, some are woken three times in total.
    let sleeper = looped(3, vec![op("block", Act::Block), read("r")]);
    let waker = flow(vec![op("wake", Act::Wake).target("block"), op("spin", Act::Spin).value(2000)]);
    let b = files().group("s", 2, Isolation::Process, vec![(1, 0, sleeper)]).process("w", waker);
    let r = b.phase(|p| p.stop.first_done = Some(fathom_workload::Stonewall::default())).run();
    let (woken, wakes) = (counts(&r, "block").0, counts(&r, "wake").0);
    assert!((3..=6).contains(&woken) && r.workers.iter().any(|w| w.ending == Ending::Completed), "{woken}");
    // There are two, and each wake-up counts for both; the one in flight at the end does not count.
    assert!(woken <= wakes + 2, "{woken} {wakes}");
    assert!(wakes.abs_diff(2 * counts(&r, "spin").0) <= 2);
}

#[test]
fn the_end_of_the_time_wakes_everybody() {
    let waits = [
        vec![op("x", Act::Block)],
        vec![op("x", Act::SemaphoreWait).value(1)],
        vec![op("x", Act::Delay).value(100)],
    ];
    for ops in waits {
        let begun = Instant::now();
        let r = files().group("g", 2, Isolation::Process, vec![(2, 0, flow(ops))]).ms(50).run();
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_eq!(counts(&r, "x").0, 0, "what was in flight does not count");
        assert!(r.workers.iter().all(|w| w.ending == Ending::Stopped));
    }
}

#[test]
fn the_warm_up_also_ends_for_waiting_workers() {
    for ops in [vec![op("x", Act::Block)], vec![op("x", Act::SemaphoreWait).value(1)]] {
        let b = files().group("g", 2, Isolation::Process, vec![(1, 0, flow(ops))]).ms(50);
        let r = b.phase(|p| p.ramp = fathom_workload::Duration(20_000_000)).run();
        assert!(r.workers.iter().all(|w| w.ending == Ending::Stopped && w.elapsed_ns == 50_000_000));
    }
}

#[test]
fn limits_let_no_more_through_than_the_rate() {
    const RATE: f64 = 100.0;
    let limits = [
        ("limit", op("limit", Act::LimitEvents)),
        ("r", op("limit", Act::LimitIops).target("r")),
        ("r", op("limit", Act::LimitOps).target("r")),
        ("r", op("limit", Act::LimitIops)),
        ("r", op("limit", Act::LimitOps)),
    ];
    for (metered, limit) in limits {
        for instances in [1, 3] {
            let ops = vec![read("r"), limit.clone()];
            let b = files().group("g", 1, Isolation::Process, vec![(instances, 0, flow(ops))]).ms(300);
            let r = b.phase(|p| p.events_per_s = Some(RATE)).run();
            let done = counts(&r, metered).0;
            // Each thread may have done one operation and one open without having taken them from the amount yet.
            let most = 30 + 2 * u64::from(instances);
            assert!(done <= most, "{metered} of {instances}: {done}");
            assert!(done > 0);
        }
    }
}

#[test]
fn threads_that_come_and_go_hang_no_process_with_several() {
    // Rust's library takes a lock when a thread begins and ends. A process forked while it is held has it locked forever.
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::thread::spawn(|| ()).join().unwrap();
                }
            });
        }
        let _over = Over(&over);
        let two = vec![(2, 0, looped(2, vec![read("r")]))];
        let b = files().group("g", 4, Isolation::Process, two);
        for _ in 0..200 {
            assert_eq!(counts(&b.run(), "r").0, 8 * 3);
        }
    });
}

/// Ends the other threads, however the test ends.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn bandwidth_is_metered_by_the_mebibyte() {
    let ops = vec![op("r", Act::ReadWholeFile).set("f"), op("limit", Act::LimitBandwidth).target("r")];
    let b = Flows::new().files("f", 1, 512 * KIB).thread(flow(ops)).ms(300);
    let r = b.phase(|p| p.events_per_s = Some(20.0)).run();
    let (_, bytes) = counts(&r, "r");
    assert!((1..=(6 + 2) << 20).contains(&bytes), "{bytes}");
    assert!(counts(&r, "limit").0 > 0);
}

#[test]
fn limits_do_nothing_without_a_generator() {
    for rate in [None, Some(0.0)] {
        let b = files().thread(looped(1000, vec![read("r"), op("limit", Act::LimitEvents)]));
        let r = b.phase(|p| p.events_per_s = rate).run();
        assert_eq!((counts(&r, "r").0, counts(&r, "limit").0), (1001, 0));
    }
}

#[test]
fn a_count_of_everything_in_the_process_ends_it() {
    // Three operations and the finish itself: 4 a loop, and the open at the start.
    let ops = vec![read("a"), read("b"), read("c"), op("fin", Act::FinishOnCount).value(3000)];
    let r = files().process("p", flow(ops)).run();
    let total: u64 = ["a", "b", "c", "fin"].iter().map(|n| counts(&r, n).0).sum();
    assert_eq!((counts(&r, "fin").0, total), (750, 3001));
    assert_eq!(r.workers[0].ending, Ending::Completed);
}

#[test]
fn a_target_is_counted_in_its_thread() {
    let ops = vec![read("a").repeat(3), read("b"), op("fin", Act::FinishOnCount).target("b").value(10)];
    let r = files().thread(flow(ops)).run();
    assert_eq!((counts(&r, "b").0, counts(&r, "a").0), (10, 31));
    let ops =
        vec![op("a", Act::Read).set("f").size(KIB), op("fin", Act::FinishOnBytes).target("a").value(4 * KIB)];
    let r = files().thread(flow(ops)).run();
    assert_eq!(counts(&r, "a"), (6, 5 * KIB), "it ends when it is more than that");
}

#[test]
fn one_that_finishes_ends_the_phase_or_itself() {
    for finished in [Finished::Phase, Finished::Worker] {
        let short = flow(vec![read("a"), op("fin", Act::FinishOnCount).target("a").value(5)]);
        let long = flow(vec![read("b")]);
        let b = files().process("p", short).process("q", long).phase(|p| p.stop.finished = finished);
        let b = if finished == Finished::Worker { b.ms(100) } else { b };
        let r = b.run();
        assert_eq!(r.workers[0].ending, Ending::Completed);
        assert_eq!(r.workers[1].ending, Ending::Stopped);
        assert_eq!(r.workers[1].elapsed_ns == 100_000_000, finished == Finished::Worker);
    }
}

#[test]
fn an_amount_of_the_phase_is_shared_exactly() {
    let b = files().group("g", 2, Isolation::Process, vec![(2, 0, flow(vec![read("r")]))]);
    let r = b.phase(|p| p.stop.operations = Some(1000)).run();
    assert_eq!((r.ops(), counts(&r, "r").0), (1000, 1000));
    assert!(r.workers.iter().all(|w| w.ending == Ending::Completed));
}

#[test]
fn waiting_ends_when_the_amount_is_done() {
    let waiting = flow(vec![op("x", Act::SemaphoreWait).value(1)]);
    let b = files().process("p", flow(vec![read("r")])).process("q", waiting);
    let r = b.phase(|p| p.stop.operations = Some(100)).run();
    assert_eq!((r.ops(), counts(&r, "x").0), (100, 0));
}

#[derive(Default)]
struct Heard(Vec<(String, u32, String, u32, String)>);

impl Moments for Heard {
    fn said(&mut self, said: &Said<'_>) {
        let Said { group, process, thread, instance, text } = *said;
        self.0.push((group.into(), process, thread.into(), instance, text.into()));
    }
}

#[test]
fn messages_arrive_with_their_speaker_and_count_nothing() {
    let say = op("say", Act::Say).with(|o| o.text = "hello".into());
    let b = files().group("g", 2, Isolation::Process, vec![(2, 0, looped(3, vec![say, read("r")]))]);
    let mut heard = Heard::default();
    let r = b.run_telling(&mut heard);
    assert_eq!((counts(&r, "say").0, heard.0.len()), (0, 12));
    for process in [0, 1] {
        for instance in [0, 1] {
            let one = ("g".to_owned(), process, "g0".to_owned(), instance, "hello".to_owned());
            assert_eq!(heard.0.iter().filter(|h| **h == one).count(), 3);
        }
    }
}

/// The message with which a flow of these operations fails.
fn failure(ops: Vec<Op>) -> String {
    let b = Flows::new().files("f", 2, 64 * KIB).files("g", 1, KIB);
    match &b.thread(looped(2, ops)).run().workers[0].ending {
        Ending::Failed(error) => error.message.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn failures_name_the_operation_and_the_file() {
    let open = || op("open", Act::Open).set("f").slot(2);
    let said = failure(vec![open()]);
    assert!(said.starts_with("operation open: opens slot 2, which is open already (/"), "{said}");
    assert!(said.contains("f.0); close it first"), "{said}");
    let said = failure(vec![op("shut", Act::Close).set("f").slot(2)]);
    assert!(said.starts_with("operation shut: needs slot 2 open, and it is closed"), "{said}");
    let said = failure(vec![open(), op("other", Act::Read).set("g").slot(2).size(1)]);
    assert!(
        said.starts_with("operation other: slot 2 holds /") && said.contains("another file set"),
        "{said}"
    );
    let said = failure(vec![open(), op("sync", Act::Sync).set("f")]);
    assert!(said.starts_with("operation sync: needs its slot open"), "{said}");
    let write = op("w", Act::WriteWholeFile).set("f").with(|o| o.source_slot = Some(9));
    let said = failure(vec![write]);
    assert!(said.starts_with("operation w: slot 9 has had no file yet"), "{said}");
}

#[test]
fn impossible_flows_are_refused_before_the_start() {
    let refused = |ops: Vec<Op>| Flows::new().files("f", 1, 64 * KIB).thread(flow(ops)).refused();
    let cases = [
        (op("x", Act::Read).set("f"), "its size is 0"),
        (op("x", Act::Read).size(1), "no operation of the flow names one"),
        (
            op("x", Act::Read).set("f").size(65 * KIB).random(),
            "the range of 64KiB is smaller than an operation of 65KiB",
        ),
        (op("x", Act::MakeDirectory).set("f"), "only trees have leaf directories"),
        (op("x", Act::Read).set("f").size(1).slot(128), "slot 128 is beyond the last one, 127"),
        (op("x", Act::Wake).target("x"), "no operation named \"x\" waits for it"),
        (op("x", Act::SemaphorePost), "it needs a target"),
        (op("x", Act::Sequence), "the sequence has no operation"),
        (op("x", Act::AsyncWrite).set("f").size(1), "set random = true"),
    ];
    for (case, words) in cases {
        let said = refused(vec![case]);
        assert!(said.contains(words) && said.contains("operation x"), "{said}");
    }
    let b = files().group("g", 1, Isolation::Thread, vec![(1, 100, flow(vec![read("x")]))]);
    assert!(b.refused().contains("memory of 100B is smaller than an operation of 1KiB"), "{}", b.refused());
    let mut b = files().thread(flow(vec![op("x", Act::Write).set("f").size(1)]));
    b.workload.filesets[0].share = fathom_workload::Share::ReadOnly;
    assert!(b.refused().contains("read-only, and the operation changes it"));
    b.workload.filesets[0].share = fathom_workload::Share::ReadWrite;
    b.workload.filesets[0].data = fathom_workload::Data::Positioned { tag: 1 };
    assert!(b.refused().contains("flows do not write positioned, checksummed or sealed data"));
}

#[test]
fn writes_in_flight_have_to_fit_into_memory() {
    let write = |bytes: u64| {
        let write = op("x", Act::AsyncWrite).set("f").size(bytes).random();
        let ops = vec![write.with(|o| o.working_set = Value::Bytes(fathom_workload::Bytes(bytes)))];
        files().group("g", 1, Isolation::Thread, vec![(1, bytes, looped(0, ops))])
    };
    if let Some(why) = write(KIB).unsupported().filter(|w| w.contains("io_uring")) {
        return fathom_testkit::skip("writes_in_flight_have_to_fit_into_memory", &why);
    }
    // 512 GiB of buffers.
    let error = write(1 << 31).try_run().unwrap_err().to_string();
    assert!(error.contains("of memory are available"), "{error}");
}

#[test]
fn a_flow_does_not_write_foreign_files() {
    let b = files().thread(flow(vec![op("w", Act::Write).set("f").size(1)]));
    let mut b = b;
    b.workload.filesets[0].existing = fathom_workload::Existing::Reuse;
    let mine = b.path("f", 0);
    std::fs::remove_file(&mine).unwrap();
    std::fs::write(&mine, "mine").unwrap();
    let error = b.try_run().unwrap_err().to_string();
    assert!(error.contains("was not made by fathom"), "{error}");
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
}
