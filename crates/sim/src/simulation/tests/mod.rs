//! Small workloads through all layers: properties that hold for every profile, and the rules of the kernels.

use super::*;
use crate::devices::Constant;
use crate::host::{self, JournalRule};
use fathom_iopath::Limits;
use fathom_record::{Ending, OpKind, Repetition};
use fathom_workload::Bytes;

mod backends;
mod flows;
mod limits;
mod mapped;
mod passes;
mod rates;
mod ratios;
mod steady;
mod syncs;
mod turns;

const MS: u64 = 1_000_000;

fn setup(host: &str) -> Setup {
    Setup {
        host: host::shipped(host).unwrap(),
        device: Box::new(Constant::new(80_000_000, 1, 10 * MS, 40_000_000)),
        device_name: "constant".into(),
        limits: Limits::IDE_26,
        scheduler: "noop".into(),
        readahead: "none".into(),
        stack: Stack::Full,
        indirect_in_memory: false,
        stop: crate::simulation::never,
    }
}

const NEW: &str = "athlon-2004-linux-2.6";
const OLD: &str = "athlon-2004-linux-2.4";

/// A workload of one phase on `files` files of 8 MiB; `stream` is the stream's TOML after its file set.
fn workload(files: u32, threads: u32, phase: &str, stream: &str) -> Workload {
    let text = format!(
        "name = \"t\"\nseed = \"0x1\"\n[[fileset]]\nname = \"f\"\n[fileset.files.numbered]\nprefix = \"f\"\ncount = {files}\n\
         [fileset.size]\nfixed = \"8MiB\"\n[[phase]]\nname = \"p\"\n{phase}\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
         instances = {threads}\n[phase.group.thread.program.stream]\nfileset = \"f\"\n{stream}"
    );
    Workload::from_toml(&text).unwrap()
}

const MIX: &str = "pick = \"all\"\nsequence = \"common\"\ndirection = { mix = { reads-per-write-issued = 1.5 } }\n\
                   access = { scaled = {} }\nrecord = { fixed = \"16KiB\" }\namount = { operations = 300 }\n\
                   sync_series = { requests = 50, at_end = true }";

fn run(workload: &Workload, setup: Setup) -> Simulated {
    simulate(workload, setup).unwrap()
}

fn small_cache(name: &str) -> Setup {
    let mut s = setup(name);
    s.host.memory.cache_mib.value = 16;
    s
}

fn only(out: &Simulated) -> &Repetition {
    &out.phases[0][0]
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    let w = workload(8, 4, "interval = \"100ms\"", MIX);
    let text = || format!("{:?}", run(&w, small_cache(NEW)));
    let first = text();
    // The number of repetitions required by the specification.
    assert!((1..100).all(|_| text() == first));
    let mut other = w.clone();
    other.seed.0 = 2;
    assert_ne!(format!("{:?}", run(&other, small_cache(NEW))), first);
}

#[test]
fn littles_law_and_a_utilisation_of_at_most_one() {
    for name in [NEW, OLD, "today"] {
        let out = run(&workload(8, 4, "", MIX), small_cache(name));
        let (depth, response) = (out.inside.depth_ns as f64, out.inside.response_ns as f64);
        assert!((depth - response).abs() <= 0.001 * response, "{name}: {depth} {response}");
        assert!(out.inside.device.busy_ns <= out.inside.elapsed_ns, "{name}");
        let worker_ops: u64 = only(&out).ops();
        assert_eq!(worker_ops, 300, "{name}");
    }
}

#[test]
fn every_asked_page_is_found_or_read() {
    let out = run(&workload(8, 4, "", MIX), small_cache(NEW));
    let c = out.inside.counts;
    let physical = &only(&out).physical.devices[0];
    assert_eq!(c.pages_asked, 180 * 4);
    // Requested pages plus their indirect blocks; nothing twice.
    let read_pages = physical.read_bytes / 4096 - c.indirect_reads;
    assert_eq!(read_pages, c.readahead.window_pages + c.readahead.single_pages + c.pages_lost);
    assert_eq!(physical.write_bytes / 4096, c.pages_written + c.journal_blocks);
}

#[test]
fn kernels_2_4_commit_the_running_transaction_and_2_6_each_dirty_inode() {
    let series = 6;
    let old = run(&workload(8, 4, "", MIX), small_cache(OLD)).inside.counts;
    let new = run(&workload(8, 4, "", MIX), small_cache(NEW)).inside.counts;
    assert_eq!((old.fsyncs, new.fsyncs), (series * 8, series * 8));
    assert!(old.commits >= series && old.commits <= 2 * series + 2, "{}", old.commits);
    assert_eq!(old.empty_commits, 0);
    assert!(new.commits > old.commits && new.empty_commits > 0, "{} {}", new.commits, new.empty_commits);
    let mut none = small_cache(NEW);
    none.host.filesystem.journal.value = JournalRule::None;
    let none = run(&workload(8, 4, "", MIX), none).inside.counts;
    assert_eq!((none.commits, none.journal_blocks), (0, 0));
}

#[test]
fn an_fsync_leaves_nothing_dirty() {
    for name in [NEW, OLD, "today"] {
        let stream = "direction = \"write\"\nrecord = { fixed = \"64KiB\" }\namount = { operations = 20 }\ntimed = { fsync = true }";
        let out = run(&workload(2, 2, "", stream), setup(name));
        let r = only(&out);
        assert_eq!(r.resident_after.unwrap().dirty_pages, 0, "{name}");
        assert!(r.physical.devices[0].write_bytes >= 40 * 65_536, "{name}");
        assert!(r.workers.iter().all(|w| w.marks.fsync_ns >= w.marks.last_op_ns && w.marks.fsync_ns > 0));
    }
}

#[test]
fn writes_without_fsync_stay_in_memory() {
    let stream = "direction = \"write\"\nrecord = { fixed = \"64KiB\" }\namount = { operations = 20 }";
    let out = run(&workload(1, 1, "", stream), setup(NEW));
    let r = only(&out);
    assert_eq!(r.resident_after.unwrap().dirty_pages, 320);
    assert_eq!(r.physical.devices[0].write_bytes, 0);
}

#[test]
fn above_the_dirty_limit_the_writer_writes_back() {
    let stream = "direction = \"write\"\nrecord = { fixed = \"64KiB\" }";
    let mut s = setup(NEW);
    s.host.memory.cache_mib.value = 4;
    let out = run(&workload(1, 1, "", stream), s);
    let r = only(&out);
    let after = r.resident_after.unwrap();
    let left = after.dirty_pages + after.writeback_pages;
    assert!(left <= 1024 * 40 / 100 + 16, "{left}");
    assert_eq!(r.physical.devices[0].write_bytes / 4096 + left, 2048);
}

#[test]
fn old_data_is_written_by_the_flusher() {
    let stream = "direction = \"write\"\nrecord = { fixed = \"64KiB\" }\namount = { operations = 2 }\n\
                  pace = { rate = { operations_per_s = 0.02 } }";
    let out = run(&workload(1, 1, "", stream), setup("today"));
    let r = only(&out);
    // The first write is older than 30 s when the second comes after 50 s.
    assert_eq!(r.resident_after.unwrap().dirty_pages, 16);
    assert_eq!(r.physical.devices[0].write_bytes - out.inside.counts.journal_blocks * 4096, 65_536);
    assert_eq!(r.workers[0].elapsed_ns / (50_000 * MS), 1);
}

#[test]
fn cold_files_are_read_and_warm_ones_are_not() {
    let stream = "direction = \"read\"\nrecord = { fixed = \"64KiB\" }";
    let read = |cache: &str| {
        let out = run(&workload(1, 1, &format!("cache = \"{cache}\""), stream), setup(NEW));
        let r = only(&out);
        (r.physical.devices[0].read_bytes, r.resident_before.unwrap().cached_pages)
    };
    assert_eq!(read("warm"), (0, 2048));
    let (bytes, before) = read("cold");
    // Indirect blocks stay in memory: only data is dropped.
    assert_eq!((bytes, before), (2048 * 4096, 0));
}

#[test]
fn files_just_written_leave_their_end_in_memory() {
    let stream =
        "pick = \"all\"\nsequence = \"common\"\ndirection = \"read\"\nrecord = { fixed = \"64KiB\" }";
    let out = run(&workload(4, 1, "", stream), small_cache(NEW));
    let r = only(&out);
    assert_eq!(r.resident_before.unwrap().cached_pages, 16 * 256);
    // In file order, every page is evicted before it is requested again; the indirect blocks of the last two files are still cached.
    assert_eq!(r.physical.devices[0].read_bytes / 4096, 4 * 2048 + 4);
}

#[test]
fn a_time_ends_an_endless_stream_and_the_first_that_is_done_stops_the_others() {
    let endless =
        "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = \"endless\"";
    let out = run(&workload(2, 2, "cache = \"cold\"\nstop = { time = \"1s\" }", endless), setup(NEW));
    let r = only(&out);
    assert!(r.workers.iter().all(|w| w.ending == Ending::Stopped && w.elapsed_ns >= 1000 * MS), "{r:?}");
    assert!(r.ops() > 80 && r.ops() < 120, "{}", r.ops());

    let unequal = "direction = \"read\"\nrecord = { fixed = \"4KiB\" }\naccess = \"permuted\"\npace = { rate = { operations_per_s = 50.0, arrivals = \"poisson\" } }\namount = { operations = 40 }";
    let out = run(&workload(2, 2, "stop = { first_done = {} }", unequal), setup(NEW));
    let endings: Vec<bool> = only(&out).workers.iter().map(|w| w.ending == Ending::Completed).collect();
    assert_eq!(endings.iter().filter(|&&e| e).count(), 1, "{endings:?}");
}

#[test]
fn a_common_amount_is_exact() {
    let endless =
        "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = \"endless\"";
    let out = run(&workload(3, 3, "stop = { operations = 100 }", endless), setup(NEW));
    assert_eq!(only(&out).ops(), 100);
}

#[test]
fn a_warm_up_is_not_counted() {
    let stream = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = { operations = 10 }";
    let out = run(&workload(1, 1, "cache = \"cold\"\nramp = \"200ms\"", stream), setup(NEW));
    let w = &only(&out).workers[0];
    assert_eq!(w.ops, 10);
    assert!(w.ramp_ops >= 10 && w.start_ns >= 200 * MS, "{} {}", w.ramp_ops, w.start_ns);
}

#[test]
fn bytes_end_a_warm_up_as_on_a_real_machine() {
    for depth in ["", "backend = { aio = {} }\nqueue_depth = 4\nopen = { direct = true }\n"] {
        let stream = format!(
            "{depth}direction = \"read\"\naccess = \"uniform\"\nrecord = {{ fixed = \"4KiB\" }}\namount = {{ operations = 10 }}"
        );
        let mut warm = workload(2, 2, "", &stream);
        let times = &mut warm.phases[0].groups[0].times;
        (times.ramp_bytes, times.ramp_together, times.company) = (Bytes(64 * 4096), true, Some(0));
        let out = run(&warm, setup(NEW));
        let workers = &only(&out).workers;
        let first: u64 = workers.iter().map(|w| w.ramp_ops).sum();
        assert!((64..64 + 16).contains(&first), "{depth}: {first} in the warm-up");
        assert!(workers.iter().all(|w| w.ops == 10 && w.start_ns > 0), "{depth}: {workers:?}");
    }
}

#[test]
fn several_operations_are_in_flight_where_the_device_takes_them() {
    let stream = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\namount = { operations = 64 }\n\
                  open = { direct = true }\nbackend = { uring = {} }\nqueue_depth = 8";
    let mut s = setup("today");
    s.device = Box::new(Constant::new(80_000_000, 8, MS, 0));
    let out = run(&workload(1, 1, "", stream), s);
    let r = only(&out);
    assert_eq!((r.ops(), r.workers[0].stats[0].op), (64, OpKind::Read));
    let layer = r.block.as_ref().unwrap();
    let deepest = layer.devices[0].in_device.iter().map(|d| d.depth).max();
    assert_eq!(deepest, Some(8));
    // The device serves one at a time: the eighth waits for seven.
    assert!(r.latency(OpKind::Read).max_ns() >= 7 * MS);
}

#[test]
fn a_read_behind_the_end_fails_with_its_place() {
    let stream = "direction = \"read\"\nrecord = { fixed = \"64KiB\" }\nlength = \"9MiB\"";
    let out = run(&workload(1, 1, "", stream), setup(NEW));
    let error = only(&out).error().unwrap();
    assert_eq!(error.offset, Some(8 << 20));
    assert!(error.message.contains("only 0 of 65536 bytes"), "{}", error.message);
}

#[test]
fn without_a_page_cache_every_call_reaches_the_device() {
    let stream = "direction = \"read\"\naccess = { same = 3 }\nrecord = { fixed = \"16KiB\" }\namount = { operations = 10 }";
    let count = |stack| {
        let out = run(&workload(1, 1, "", stream), Setup { stack, ..setup("today") });
        only(&out).physical.devices[0].read_ios
    };
    // Without read-ahead four pages are four reads, once.
    assert_eq!((count(Stack::Full), count(Stack::NoCache)), (4, 10));
}

#[test]
fn written_files_are_read_back_in_virtual_time() {
    let stream = |lines: &str| {
        format!(
            "[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\n\
             fileset = \"f\"\nrecord = {{ fixed = \"4KiB\" }}\n{lines}\n"
        )
    };
    let of = |writer: &str| {
        let text = format!(
            "name = \"t\"\nseed = 1\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"a\"] }}\nsize = {{ fixed = \"8MiB\" }}\n\
             [[phase]]\nname = \"w\"\n{}[[phase]]\nname = \"r\"\n{}",
            stream(writer),
            stream("direction = \"read\"\nwritten_by = { phase = 0, worker = 0 }")
        );
        let out = run(&Workload::from_toml(&text).unwrap(), setup("today"));
        let counts = |phase: usize| {
            let worker = &out.phases[phase][0].workers[0];
            let of = |kind| worker.stats.iter().filter(|s| s.op == kind).map(|s| s.ops).sum::<u64>();
            (of(OpKind::Read), of(OpKind::Write))
        };
        (counts(0), counts(1))
    };
    let hundred = "access = \"permuted\"\namount = { operations = 100 }";
    assert_eq!(of(&format!("direction = \"write\"\nkeep_written = {{}}\n{hundred}")), ((0, 100), (100, 0)));
    let meanwhile = "direction = { mix = { read-percent = 0 } }\nkeep_written = { after = 10 }";
    assert_eq!(of(&format!("{meanwhile}\n{hundred}")), ((100, 100), (0, 0)));
    // With several in flight, operations not done at the end are left out.
    let deep = "open = { direct = true }\nbackend = { uring = {} }\nqueue_depth = 8";
    let ((read, written), (left, _)) = of(&format!("{meanwhile}\n{hundred}\n{deep}"));
    assert_eq!((written, read + left), (100, 100));
    assert!(left < 20, "{left}");
}

#[test]
fn what_cannot_be_is_an_error() {
    let stream = "direction = \"read\"\nrecord = { fixed = \"16KiB\" }";
    let w = workload(1, 1, "", stream);
    let message = |s: Setup| simulate(&w, s).unwrap_err().to_string();
    assert!(message(Setup { scheduler: "elevator9".into(), ..setup(NEW) }).contains("elevator9"));
    assert!(message(Setup { readahead: "psychic".into(), ..setup(NEW) }).contains("psychic"));
    let small = Box::new(Constant::new(1 << 20, 1, MS, 0));
    assert!(message(Setup { device: small, ..setup(NEW) }).contains("choose a larger device"));
    let mut journal = setup(NEW);
    journal.host.filesystem.journal_mib.value = 10_245;
    assert!(message(journal).contains("journal lies at"));
}
