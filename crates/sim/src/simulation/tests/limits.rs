//! Limits that hold under any workload: the memory size, the share of dirty pages, and that a lost wake-up is reported instead of
//! simulated for ever.

use super::*;
use crate::machine::{EarlyEnd, Executor, Standstill};
use std::cell::RefCell;

const ONE_RECORD: &str = "direction = \"write\"\nrecord = { fixed = \"8MiB\" }\namount = { operations = 1 }";

fn with_cache(mib: u32, limit_percent: u32) -> Setup {
    let mut s = setup(NEW);
    s.host.memory.cache_mib.value = mib;
    s.host.writeback.limit_percent.value = limit_percent;
    s
}

#[test]
fn one_large_record_is_held_back_at_the_dirty_limit_too() {
    let out = run(&workload(1, 1, "", ONE_RECORD), with_cache(4, 40));
    let r = only(&out);
    let after = r.resident_after.unwrap();
    let not_there_yet = after.dirty_pages + after.writeback_pages;
    assert!(not_there_yet <= 1024 * 40 / 100 + 32, "{not_there_yet} pages are dirty or on their way");
    assert!(after.cached_pages <= 1024, "{} pages are in a memory of 1024", after.cached_pages);
    assert_eq!(r.physical.devices[0].write_bytes / 4096 + not_there_yet, 2048);
}

#[test]
fn a_waiting_machine_that_only_the_flusher_would_wake_stands_still() {
    let machine = machine(setup(NEW)).unwrap();
    let mut executor = Executor::new(&machine, never);
    executor.serve(Box::pin(machine.flush_old_data()));
    executor.add(Box::pin(async {
        machine.sleep_until(12_000 * MS).await;
        machine.park().await;
    }));
    let error = executor.run(1).unwrap_err();
    assert_eq!(error, EarlyEnd::Standstill(Standstill { at_ns: 12_000 * MS, waiting: 1 }));
}

#[test]
fn a_stop_request_ends_the_run() {
    let w = workload(8, 4, "", MIX);
    let error = simulate(&w, Setup { stop: |_| true, ..setup(NEW) }).unwrap_err();
    assert!(matches!(error, SimError::Stopped { .. }), "{error}");
    assert!(simulate(&w, setup(NEW)).is_ok(), "nobody wants it to");
}

#[test]
fn file_sets_that_do_not_fit_are_refused_before_creation() {
    let refused = |w: &Workload, s: Setup| simulate(w, s).unwrap_err().to_string();
    let with = |set: &str| {
        let text = format!(
            "name = \"t\"\nseed = \"0x1\"\n[[fileset]]\nname = \"f\"\n[fileset.files.numbered]\nprefix = \"f\"\ncount = 1\n\
             [fileset.size]\nfixed = \"8MiB\"\n[[fileset]]\nname = \"g\"\n{set}\n[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n\
             [[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = \"f\"\n{ONE_RECORD}"
        );
        Workload::from_toml(&text).unwrap()
    };
    let numbered = |count: &str, size: &str| {
        with(&format!(
            "[fileset.files.numbered]\nprefix = \"g\"\ncount = {count}\n[fileset.size]\nfixed = \"{size}\""
        ))
    };
    let said = refused(&numbered("1", "15TiB"), setup(NEW));
    assert!(said.contains("the device"), "{said}");
    let said = refused(&numbered("4000000000", "0B"), setup(NEW));
    assert!(said.contains("files"), "{said}");
    let mut often = workload(1, 1, "", ONE_RECORD);
    often.repetitions = 4_000_000_000;
    let said = refused(&often, setup(NEW));
    assert!(said.contains("workers of all repetitions"), "{said}");
    let said = refused(
        &workload(
            1000,
            20_000,
            "",
            "direction = \"write\"\npick = \"all\"\nrecord = { fixed = \"4KiB\" }\namount = { operations = 1 }",
        ),
        setup(NEW),
    );
    assert!(said.contains("open files"), "{said}");
    let mut host = setup(NEW);
    host.host.memory.cache_mib.value = 4_000_001;
    let mut others = host.host.memory.cache_mib.clone();
    others.value = 4_000_000;
    host.host.memory.others_mib = Some(others);
    let said = refused(&workload(1, 1, "", ONE_RECORD), host);
    assert!(said.contains("pages in memory"), "{said}");
    for amount in ["bytes = 18446744073709551615", "operations = 18446744073709551615"] {
        let stream = ONE_RECORD.replace("operations = 1", amount);
        let said = refused(&workload(1, 1, "", &stream), setup(NEW));
        assert!(said.contains("give the phase a stop"), "{said}");
    }
    let said = refused(&workload(1, 65_534, "", ONE_RECORD), setup(NEW));
    assert!(said.contains("65534 workers; the simulator numbers 65532"), "{said}");
}

#[test]
fn an_asynchronous_writer_takes_no_more_than_is_reckoned() {
    let machine = machine(setup(NEW)).unwrap();
    let flights = crate::flows::AioSlots::default();
    let bytes = size_of_val(&crate::flows::serve(&machine, Submitter::BETWEEN, &flights)) as u64;
    assert!((sizes::PER_WRITER / 4..=sizes::PER_WRITER).contains(&bytes), "{bytes}");
}

#[test]
fn layers_that_belong_to_traces_are_refused() {
    let w = workload(1, 1, "", ONE_RECORD);
    let error = simulate(&w, Setup { stack: Stack::Replay, ..setup(NEW) }).unwrap_err().to_string();
    assert!(error.contains("trace"), "{error}");
}

#[test]
fn cached_pages_do_not_exceed_memory() {
    // The stream goes past the end of the files.
    let stream = "direction = \"write\"\nrecord = { fixed = \"64KiB\" }\nlength = \"16MiB\"\namount = { operations = 4 }";
    let out = run(&workload(1, 1, "", stream), setup(NEW));
    let before = only(&out).resident_before.unwrap();
    assert_eq!((before.cached_pages, before.total_pages), (2048, 2048));
}

#[test]
fn tasks_that_compute_at_the_same_time_are_on_different_cpus() {
    let machine = machine(setup("today")).unwrap();
    let seen = RefCell::new(Vec::new());
    let mut executor = Executor::new(&machine, never);
    for _ in 0..2 {
        executor.add(Box::pin(async {
            for _ in 0..3 {
                machine.compute(MS).await;
                seen.borrow_mut().push((machine.task(), machine.cpu()));
                machine.sleep_until(machine.now() + MS).await;
            }
        }));
    }
    executor.run(2).unwrap();
    drop(executor);
    let mut seen = seen.take();
    seen.sort_unstable();
    seen.dedup();
    // Each stays on its CPU.
    let cpus: Vec<usize> = seen.iter().map(|s| s.1).collect();
    assert!(cpus == [0, 1] || cpus == [1, 0], "{seen:?}");
}

#[test]
fn a_task_refused_despite_free_requests_is_admitted_eventually() {
    // The first CFQ gives a process 128 of the 8192 requests; two threads of one process want a few hundred each.
    let stream = "direction = \"write\"\nrecord = { fixed = \"4KiB\" }\naccess = \"permuted\"\namount = { operations = 600 }\n\
                  timed = { fsync = true }";
    let out = run(&workload(2, 2, "", stream), Setup { scheduler: "cfq@2.6.6".into(), ..setup(NEW) });
    let r = only(&out);
    assert!(out.inside.counts.full_queue_waits > 100, "{}", out.inside.counts.full_queue_waits);
    assert_eq!((r.ops(), r.resident_after.unwrap().dirty_pages), (1200, 0));
}
