//! Requests counted in the kernel by BPF beside the events of tracefs and the device's own counters: the same figures. Needs root,
//! tracefs and a kernel with BTF; skipped by name without.

use crate::block_events::{Bench, Scheduler, read_direct};
use fathom_observe::block::bpf::{Counting, Programs};
use fathom_observe::block::{Detail, Watch, Watched, Who};
use fathom_record::BlockLayer;
use fathom_record::block::{
    Analysis, BlockEvent, DeviceActivity, DeviceNumber, IssuerKind, Options, RequestClass, RequestStats,
    WatchedDevice,
};
use fathom_testkit::skip;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The programs for the bench's device, or a skip with the reason.
fn programs(test: &str, bench: &Bench) -> Option<Programs> {
    match Programs::load(std::slice::from_ref(&bench.device)) {
        Ok(programs) => Some(programs),
        Err(why) if Path::new("/sys/kernel/btf/vmlinux").exists() => panic!("{why}"),
        Err(why) => {
            skip(test, &why.to_string());
            None
        }
    }
}

/// What `work` caused, by the programs and by events, watched at the same time.
fn both(bench: &Bench, programs: Programs, work: impl FnOnce()) -> (BlockLayer, BlockLayer, Programs) {
    let device = WatchedDevice {
        number: bench.device.number,
        name: bench.device.name.clone(),
        ..WatchedDevice::default()
    };
    let options = Options { devices: vec![device], interval_ns: 100_000_000, ..Options::default() };
    let analysis = Arc::new(Mutex::new(Analysis::new(options)));
    let of_events = analysis.clone();
    let sink = move |event: &BlockEvent, who: &Who| {
        of_events.lock().expect("one thread").event(&who.put_into(event), who.kind);
    };
    let devices = std::slice::from_ref(&bench.device);
    let watch = Watch::start(&bench.instance, devices, Detail::Requests, 0, sink).expect("watching");
    let counting = Counting::start(programs).expect("counting");
    work();
    let (counted, programs) = counting.stop().expect("counts");
    let taken = watch.stop().expect("events");
    assert_eq!(taken.lost, 0);
    let told = analysis.lock().expect("it ended").finish(taken.stopped_ns);
    (counted, told, programs)
}

/// What does not depend on when exactly a moment was taken.
fn timeless(activity: &DeviceActivity) -> Vec<RequestStats> {
    let without = |stats: &RequestStats| RequestStats {
        d2c: fathom_record::Histogram::default(),
        q2d: fathom_record::Histogram::default(),
        ..stats.clone()
    };
    activity.requests.iter().map(without).collect()
}

#[test]
fn programs_count_what_events_and_the_device_tell() {
    let test = "programs_count_what_events_and_the_device_tell";
    let Some(bench) = Bench::new(test, 1024) else { return };
    same_figures(test, &bench);
}

#[test]
fn a_schedulers_requests_are_counted_alike() {
    let test = "a_schedulers_requests_are_counted_alike";
    let Some(mut bench) = Bench::new(test, 1024) else { return };
    let Some(_scheduler) = Scheduler::set(&bench.device.name, "mq-deadline") else {
        return skip(test, "this kernel has no mq-deadline");
    };
    bench.device = Watched::of_name(&bench.device.name).expect("our loop device");
    bench.settle();
    same_figures(test, &bench);
}

fn same_figures(test: &str, bench: &Bench) {
    let Some(mut programs) = programs(test, bench) else { return };
    // Nothing of what others left is written back between the beginnings and the ends of the two watches.
    let mut tries = 0;
    let (before, counted, told, programs) = loop {
        bench.settle();
        let before = bench.counted();
        let (counted, told, again) = both(bench, programs, || {
            read_direct(&bench.file, (0..1000).map(|n| n * 7 % 1024));
            read_direct(&bench.file, 0..500);
            let mut file = File::options().write(true).open(&bench.file).expect("our file");
            for _ in 0..20 {
                file.write_all(&[1; 12288]).expect("room");
                file.sync_data().expect("synced");
            }
            bench.forget_cache();
            assert_eq!(std::fs::read(&bench.file).expect("our file").len(), 1024 * 4096);
            bench.settle();
        });
        // On a heavily loaded machine a completion may be missed; that is reported.
        tries += 1;
        let seen = counted.lost == 0 && counted.devices[0].unfinished == told.devices[0].unfinished;
        if seen || tries == 5 {
            break (before, counted, told, again);
        }
        programs = again;
    };
    assert_eq!(counted.lost, 0, "{:?}", counted.notes);
    let device = before.row(&bench.counted(), 0, 0, 0);
    let (ours, theirs) = (&counted.devices[0], &told.devices[0]);
    assert_eq!(timeless(ours), timeless(theirs));
    let class = |class| ours.class(class).cloned().unwrap_or_default();
    let (read, write, flush) =
        (class(RequestClass::Read), class(RequestClass::Write), class(RequestClass::Flush));
    assert_eq!((read.completed, read.completed_bytes), (device.reads, device.read_bytes));
    assert_eq!(write.completed_bytes, device.write_bytes);
    assert!(read.issued >= 1500 && write.issued >= 20 && flush.issued >= 20, "{ours:?}");
    assert_eq!((ours.unfinished, ours.begun_before), (theirs.unfinished, theirs.begun_before));
    // The same moments, taken some 100 ns apart.
    let near = |a: u64, b: u64| a.abs_diff(b) <= 20_000 + b / 5;
    let mean = |stats: &RequestStats| stats.d2c.mean_ns().unwrap_or(0.0) as u64;
    let their_read = theirs.class(RequestClass::Read).expect("reads");
    assert!(near(mean(&read), mean(their_read)), "{} {}", mean(&read), mean(their_read));
    assert_eq!(read.d2c.count(), their_read.d2c.count());
    assert!(near(ours.busy_ns, theirs.busy_ns), "{} {}", ours.busy_ns, theirs.busy_ns);
    let depth_ns = |activity: &DeviceActivity| -> u64 {
        activity.in_device.iter().map(|d| u64::from(d.depth) * d.ns).sum()
    };
    let in_device_ns: u128 = ours.requests.iter().map(|r| r.d2c.sum_ns()).sum();
    assert!(near(depth_ns(ours), in_device_ns as u64), "Little: {} {in_device_ns}", depth_ns(ours));
    let rows = |layer: &BlockLayer| {
        layer.intervals.iter().map(|r| (r.reads, r.writes)).fold((0, 0), |a, r| (a.0 + r.0, a.1 + r.1))
    };
    assert_eq!(rows(&counted), (read.completed, write.completed));
    let own = |activity: &DeviceActivity| {
        let own = activity.issuers.iter().find(|i| i.kind == IssuerKind::Own).cloned();
        own.unwrap_or_default()
    };
    assert_eq!((own(ours).reads, own(ours).read_bytes), (own(theirs).reads, own(theirs).read_bytes));
    // What a worker of the kernel did is read from its name a moment later, by each watch for itself, and may be something else by then.
    let names = |activity: &DeviceActivity| {
        let mut written = BTreeMap::new();
        for issuer in activity.issuers.iter().filter(|i| i.reads + i.writes > 0) {
            let kind = (&*issuer.name != "kworker").then_some(issuer.kind);
            let sum: &mut (u64, u64) = written.entry((kind, issuer.name.to_string())).or_default();
            *sum = (sum.0 + issuer.writes, sum.1 + issuer.write_bytes);
        }
        written
    };
    assert_eq!(names(ours), names(theirs));
    let sum: u64 = ours.issuers.iter().map(|i| i.reads + i.writes + i.others).sum();
    assert_eq!(sum, ours.requests.iter().map(|r| r.issued).sum::<u64>());

    // The next watch begins at 0, and a warm-up does not count.
    let counting = Counting::start(programs).expect("counting");
    read_direct(&bench.file, 0..100);
    counting.restart();
    read_direct(&bench.file, 0..8);
    let (again, _programs) = counting.stop().expect("counts");
    let reads = again.devices[0].class(RequestClass::Read).expect("reads");
    assert_eq!((reads.issued, reads.completed, reads.issued_bytes), (8, 8, 8 * 4096));
    assert_eq!((reads.seeks.sequential, reads.d2c.count()), (7, 8));
    assert_eq!(reads.sizes.iter().map(|s| (s.bytes, s.count)).collect::<Vec<_>>(), [(4096, 8)]);
}

#[test]
fn a_flush_is_whose_who_asked_for_it() {
    let test = "a_flush_is_whose_who_asked_for_it";
    let Some(bench) = Bench::new(test, 16) else { return };
    let Some(programs) = programs(test, &bench) else { return };
    let counting = Counting::start(programs).expect("counting");
    let device = File::options().write(true).open(bench.fs.device()).expect("our device");
    for _ in 0..10 {
        device.sync_all().expect("flushed");
    }
    let (counted, _programs) = counting.stop().expect("counts");
    let own = counted.devices[0].issuers.iter().find(|i| i.kind == IssuerKind::Own).expect("this process");
    assert!(own.others >= 10, "{:?}", counted.devices[0].issuers);
}

#[test]
fn devices_without_requests_are_left_to_the_events() {
    let bios = Watched::of_number(DeviceNumber { major: 253, minor: 0 }, true);
    let why = Programs::load(&[bios]).expect_err("bios");
    assert!(why.to_string().contains("devices that have requests"), "{why}");
    assert!(Programs::load(&[]).is_err());
}
