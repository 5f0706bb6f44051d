//! Hand-made sequences with known answers: one test per rule. Times are small numbers of ns.

use super::super::event::{BlockAction, RequestFlags};
use super::super::{BlockInterval, DepthTime, DeviceActivity, RequestClass, RequestStats, Seeks, SizeCount};
use super::*;
use BlockAction::{
    BackMerge, BioComplete, Complete, FrontMerge, GetRequest, Insert, Issue, Plug, Queue, Remap,
    RequestMerge, Requeue, Split, Unplug,
};

pub(super) const VDA: DeviceNumber = DeviceNumber { major: 254, minor: 0 };

pub(super) fn event(time_ns: u64, action: BlockAction, rwbs: &str, sector: u64, sectors: u32) -> BlockEvent {
    BlockEvent {
        time_ns,
        device: VDA,
        action,
        flags: RequestFlags::parse(rwbs),
        sector,
        sectors,
        pid: 1,
        cpu: 0,
        error: 0,
        task: BlockEvent::task_of("reader"),
    }
}

pub(super) fn device(bio_based: bool) -> WatchedDevice {
    WatchedDevice { number: VDA, name: "vda".into(), level: 0, bio_based }
}

fn options(queueing: bool) -> Options {
    Options { devices: vec![device(false)], interval_ns: 1000, queueing, ..Options::default() }
}

type EventLine<'a> = (u64, BlockAction, &'a str, u64, u32);

fn feed(analysis: &mut Analysis, events: &[EventLine]) {
    for &(time_ns, action, rwbs, sector, sectors) in events {
        analysis.event(&event(time_ns, action, rwbs, sector, sectors), IssuerKind::Other);
    }
}

fn analysed(options: Options, events: &[EventLine], end_ns: u64) -> BlockLayer {
    let mut analysis = Analysis::new(options);
    feed(&mut analysis, events);
    analysis.finish(end_ns)
}

fn of(events: &[EventLine], end_ns: u64) -> DeviceActivity {
    analysed(options(true), events, end_ns).devices.remove(0)
}

fn class(activity: &DeviceActivity, class: RequestClass) -> &RequestStats {
    activity.class(class).expect("such requests")
}

fn reads(activity: &DeviceActivity) -> &RequestStats {
    class(activity, RequestClass::Read)
}

fn counts(stats: &RequestStats) -> (u64, u64, u64, u64) {
    (stats.issued, stats.issued_bytes, stats.completed, stats.completed_bytes)
}

fn depths(times: &[DepthTime]) -> Vec<(u32, u64)> {
    times.iter().map(|t| (t.depth, t.ns)).collect()
}

#[test]
fn a_request_is_followed_from_arrival_to_completion() {
    let device = of(&[(100, Queue, "R", 8, 8), (130, Issue, "R", 8, 8), (190, Complete, "R", 8, 8)], 300);
    let read = reads(&device);
    assert_eq!(counts(read), (1, 4096, 1, 4096));
    assert_eq!((read.q2d.sum_ns(), read.d2c.sum_ns(), read.d2c.count()), (30, 60, 1));
    assert_eq!(read.sizes, [SizeCount { bytes: 4096, count: 1 }]);
    assert_eq!(
        (read.bios, read.back_merges, device.splits, device.unplugs),
        (Some(1), Some(0), Some(0), None)
    );
    assert_eq!(depths(&device.in_device), [(0, 240), (1, 60)]);
    assert_eq!(depths(&device.in_queue), [(0, 270), (1, 30)]);
    assert_eq!((device.busy_ns, device.unfinished, device.begun_before), (60, 0, 0));
    assert_eq!((device.name.as_str(), device.number), ("vda", VDA));
}

#[test]
fn without_queueing_nothing_is_said_of_it() {
    let events =
        [(0, Queue, "R", 8, 8), (1, BackMerge, "R", 8, 8), (2, Issue, "R", 8, 8), (3, Split, "R", 8, 4)];
    let device = analysed(options(false), &events, 10).devices.remove(0);
    let read = reads(&device);
    assert_eq!(
        (read.bios, read.back_merges, read.front_merges, read.request_merges),
        (None, None, None, None)
    );
    assert_eq!((device.splits, device.unplugs, device.in_queue.len(), read.q2d.count()), (None, None, 0, 0));
}

#[test]
fn a_merged_request_arrived_with_its_first_bio() {
    // 16 arrives first, 24 is appended, 8 is prepended: the request is 8 + 24.
    let device = of(
        &[
            (10, Queue, "R", 16, 8),
            (20, Queue, "R", 24, 8),
            (20, BackMerge, "R", 24, 8),
            (30, Queue, "R", 8, 8),
            (30, FrontMerge, "R", 8, 8),
            (35, RequestMerge, "R", 100, 8),
            (50, Issue, "R", 8, 24),
            (90, Complete, "R", 8, 24),
        ],
        90,
    );
    let read = reads(&device);
    assert_eq!(counts(read), (1, 12_288, 1, 12_288));
    assert_eq!(read.q2d.sum_ns(), 40, "since 10, when the first of the three arrived");
    assert_eq!(
        (read.bios, read.back_merges, read.front_merges, read.request_merges),
        (Some(3), Some(1), Some(1), Some(1))
    );
    assert_eq!(depths(&device.in_queue), [(0, 50), (1, 10), (2, 10), (3, 20)]);
}

#[test]
fn a_cut_bio_gives_several_requests_that_arrived_together() {
    // As the kernel reports it: one arrival, and each split names the remaining part.
    let device = of(
        &[
            (10, Queue, "W", 100, 320),
            (11, Split, "W", 100, 128),
            (12, Split, "W", 228, 128),
            (20, Issue, "W", 100, 128),
            (30, Issue, "W", 228, 128),
            (40, Issue, "W", 356, 64),
        ],
        50,
    );
    let write = class(&device, RequestClass::Write);
    assert_eq!((write.bios, device.splits, write.issued, device.unfinished), (Some(1), Some(2), 3, 3));
    assert_eq!((write.q2d.count(), write.q2d.sum_ns()), (3, 10 + 20 + 30));
    assert_eq!(device.in_queue.last(), Some(&DepthTime { depth: 3, ns: 8 }));
    let sizes: Vec<_> = write.sizes.iter().map(|s| (s.bytes, s.count)).collect();
    assert_eq!(sizes, [(32_768, 1), (65_536, 2)]);
}

#[test]
fn the_second_part_of_a_cut_bio_may_arrive_once_more() {
    let events = [
        (10, Queue, "W", 0, 16),
        (11, Split, "W", 0, 8),
        (15, Queue, "W", 8, 8),
        (20, Issue, "W", 0, 8),
        (20, Issue, "W", 8, 8),
    ];
    let device = of(&events, 30);
    let write = class(&device, RequestClass::Write);
    assert_eq!((write.bios, write.q2d.sum_ns()), (Some(1), 20));
    assert_eq!(depths(&device.in_queue), [(0, 20), (1, 1), (2, 9)], "and nothing waits at the end");
}

#[test]
fn a_bio_whose_sender_would_not_wait_waits_no_longer() {
    let device = of(
        &[
            (0, Queue, "R", 8, 8),
            (10, BioComplete, "R", 8, 8),
            (30, Queue, "R", 8, 8),
            (35, Issue, "R", 8, 8),
        ],
        40,
    );
    assert_eq!(depths(&device.in_queue), [(0, 25), (1, 15)]);
    assert_eq!((reads(&device).bios, reads(&device).q2d.sum_ns(), device.begun_before), (Some(2), 5, 0));
}

#[test]
fn a_request_may_complete_in_parts() {
    let device = of(
        &[
            (0, Issue, "R", 0, 24),
            (10, Complete, "R", 0, 8),
            (20, Complete, "R", 8, 8),
            (50, Complete, "R", 16, 8),
        ],
        60,
    );
    assert_eq!(counts(reads(&device)), (1, 12_288, 1, 12_288));
    assert_eq!((reads(&device).d2c.sum_ns(), device.busy_ns, device.begun_before), (50, 50, 0));
    let device = of(&[(0, Issue, "R", 0, 24), (10, Complete, "R", 0, 8)], 60);
    assert_eq!(counts(reads(&device)), (1, 12_288, 0, 0), "half a request is not complete");
    assert_eq!((device.unfinished, device.busy_ns), (1, 60));
}

#[test]
fn an_error_of_a_part_is_one_of_the_request() {
    let mut analysis = Analysis::new(options(false));
    feed(&mut analysis, &[(0, Issue, "R", 0, 16)]);
    analysis.event(&BlockEvent { error: -5, ..event(1, Complete, "R", 0, 8) }, IssuerKind::Other);
    feed(&mut analysis, &[(2, Complete, "R", 8, 8)]);
    let device = analysis.finish(9).devices.remove(0);
    assert_eq!((reads(&device).errors, reads(&device).completed), (1, 1));
}

#[test]
fn of_requests_at_one_place_the_newest_completes_first_and_sizes_tell_them_apart() {
    let device = of(
        &[
            (0, Issue, "R", 8, 8),
            (10, Issue, "R", 8, 8),
            (15, Complete, "R", 8, 8),
            (30, Complete, "R", 8, 8),
        ],
        30,
    );
    assert_eq!((reads(&device).d2c.min_ns(), reads(&device).d2c.max_ns()), (5, 30));
    let device = of(
        &[
            (0, Issue, "R", 8, 8),
            (10, Issue, "R", 8, 64),
            (15, Complete, "R", 8, 8),
            (30, Complete, "R", 8, 64),
        ],
        30,
    );
    assert_eq!((reads(&device).d2c.min_ns(), reads(&device).d2c.max_ns()), (15, 20));
    assert_eq!((device.unfinished, device.begun_before), (0, 0));
}

#[test]
fn directions_do_not_mix() {
    let device = of(
        &[(0, Issue, "R", 8, 8), (1, Issue, "WS", 8, 8), (5, Complete, "WS", 8, 8), (9, Complete, "R", 8, 8)],
        9,
    );
    assert_eq!((reads(&device).d2c.sum_ns(), class(&device, RequestClass::Write).d2c.sum_ns()), (9, 4));
}

/// The flush of a journal commit as Linux 6.18 reports it: the device's own flush has no position (0 when issued, the last
/// sector number when completed), and every request that wanted a flush completes once more, empty.
#[test]
fn flushes_count_apart_and_once() {
    let device = of(
        &[
            (0, Queue, "FWFSM", 32_788, 2),
            (5, Issue, "FF", 0, 0),
            (25, Complete, "FF", u64::MAX, 0),
            (30, Issue, "WSM", 32_788, 2),
            (40, Complete, "WSM", 32_788, 2),
            (45, Issue, "FF", 0, 0),
            (55, Complete, "FF", u64::MAX, 0),
            (56, Complete, "WFSM", 32_790, 0),
            (60, Queue, "FWS", 0, 0),
            (65, Issue, "FF", 0, 0),
            (75, Complete, "FF", u64::MAX, 0),
            (76, Complete, "FWS", 0, 0),
        ],
        100,
    );
    let (flush, write) = (class(&device, RequestClass::Flush), class(&device, RequestClass::Write));
    assert_eq!(counts(flush), (3, 0, 3, 0));
    assert_eq!(
        (flush.bios, flush.d2c.sum_ns(), flush.sizes.len(), &flush.seeks),
        (Some(1), 40, 0, &Seeks::default())
    );
    assert_eq!(counts(write), (1, 1024, 1, 1024));
    assert_eq!((write.bios, write.q2d.sum_ns(), write.meta, write.sync), (Some(1), 30, 1, 1));
    assert_eq!((device.begun_before, device.unfinished), (0, 0));
}

#[test]
fn an_empty_completion_never_ends_a_request_with_data() {
    let device =
        of(&[(0, Issue, "WS", 100, 8), (5, Complete, "WS", 100, 0), (9, Complete, "WS", 100, 8)], 10);
    let write = class(&device, RequestClass::Write);
    assert_eq!((write.completed, write.d2c.sum_ns(), device.begun_before), (1, 9, 0));
}

#[test]
fn a_request_that_was_given_back_counts_once() {
    let device = of(
        &[
            (0, Issue, "W", 8, 8),
            (10, Requeue, "W", 8, 8),
            (20, Requeue, "W", 80, 8),
            (30, Issue, "W", 8, 8),
            (50, Complete, "W", 8, 8),
        ],
        60,
    );
    let write = class(&device, RequestClass::Write);
    assert_eq!(counts(write), (1, 4096, 1, 4096));
    assert_eq!((device.requeued, device.unfinished, write.d2c.sum_ns()), (2, 0, 20));
    assert_eq!(depths(&device.in_device), [(0, 30), (1, 30)], "not with the driver while it waits again");
}

#[test]
fn a_request_that_was_given_back_may_grow() {
    let device = of(
        &[(0, Issue, "W", 8, 8), (1, Requeue, "W", 8, 8), (2, Issue, "W", 8, 24), (3, Complete, "W", 8, 24)],
        9,
    );
    let write = class(&device, RequestClass::Write);
    assert_eq!(counts(write), (1, 12_288, 1, 12_288));
    assert_eq!(write.sizes, [SizeCount { bytes: 12_288, count: 1 }]);
}

#[test]
fn a_request_that_was_given_back_may_end_without_coming_again() {
    let device = of(
        &[(0, Issue, "W", 8, 8), (5, Requeue, "W", 8, 8), (9, Complete, "W", 8, 8), (10, Issue, "W", 8, 8)],
        12,
    );
    let write = class(&device, RequestClass::Write);
    assert_eq!((write.issued, write.completed, device.unfinished), (2, 1, 1));
    assert_eq!(depths(&device.in_device), [(0, 5), (1, 7)]);
}

#[test]
fn requests_in_flight_at_either_end_are_reported() {
    let device = of(&[(0, Complete, "R", 8, 8), (1, Complete, "R", 16, 8), (2, Issue, "R", 24, 8)], 10);
    assert_eq!((device.begun_before, device.unfinished), (2, 1));
    assert_eq!(counts(reads(&device)), (1, 4096, 0, 0));
}

#[test]
fn a_warm_up_is_not_counted_and_not_forgotten() {
    let mut analysis = Analysis::new(options(true));
    feed(&mut analysis, &[(0, Queue, "R", 0, 8), (10, Issue, "R", 0, 8), (20, Queue, "R", 8, 8)]);
    analysis.restart(100);
    // The ring may still hold earlier events.
    feed(&mut analysis, &[(90, Issue, "R", 40, 8), (95, Complete, "R", 40, 8)]);
    feed(&mut analysis, &[(110, Complete, "R", 0, 8), (120, Issue, "R", 8, 8), (150, Complete, "R", 8, 8)]);
    let layer = analysis.finish(200);
    let device = &layer.devices[0];
    assert_eq!(counts(reads(device)), (1, 4096, 1, 4096));
    assert_eq!((device.begun_before, device.unfinished, layer.watched_ns, layer.events), (1, 0, 100, 3));
    assert_eq!((reads(device).q2d.sum_ns(), reads(device).d2c.sum_ns()), (100, 30));
    assert_eq!(
        (depths(&device.in_device), depths(&device.in_queue)),
        (vec![(0, 60), (1, 40)], vec![(0, 80), (1, 20)])
    );
    assert_eq!(device.issuers[0].reads, 1);
    assert_eq!(
        (layer.intervals[0].end_ns, layer.intervals[0].width_ns, layer.intervals[0].reads),
        (100, 100, 1)
    );
    // The next watch begins where this one ended.
    analysis.restart(200);
    feed(&mut analysis, &[(210, Issue, "R", 8, 8), (210, Complete, "R", 8, 8)]);
    assert_eq!(counts(reads(&analysis.finish(250).devices[0])), (1, 4096, 1, 4096));
}

#[test]
fn a_restart_that_comes_late_begins_with_the_next_event() {
    let mut analysis = Analysis::new(options(false));
    feed(&mut analysis, &[(0, Issue, "R", 0, 8), (200, Issue, "R", 8, 8)]);
    analysis.restart(100);
    feed(&mut analysis, &[(250, Issue, "R", 16, 8)]);
    let layer = analysis.finish(300);
    assert_eq!((layer.watched_ns, reads(&layer.devices[0]).issued, layer.devices[0].unfinished), (100, 1, 1));
}

#[test]
fn a_watch_without_events_has_its_length_and_its_rows() {
    let layer = analysed(Options { from_ns: 500, ..options(true) }, &[], 3000);
    assert_eq!((layer.watched_ns, layer.devices[0].requests.len(), layer.devices[0].busy_ns), (2500, 0, 0));
    let rows: Vec<_> = layer.intervals.iter().map(|row| (row.end_ns, row.width_ns)).collect();
    assert_eq!(rows, [(1000, 1000), (2000, 1000), (2500, 500)]);
    assert_eq!(depths(&layer.devices[0].in_device), [(0, 2500)]);
    assert_eq!(analysed(Options::default(), &[], 0), BlockLayer::default());
}

#[test]
fn marks_and_seeks_are_counted_at_issue() {
    let device = of(
        &[
            (0, Issue, "RA", 0, 8),
            (0, Issue, "RA", 8, 8),
            (0, Issue, "RSM", 24, 8),
            (0, Issue, "R", 0, 8),
            (0, Issue, "WFS", 0, 8),
            (0, Issue, "WFS", 1 << 40, 8),
            (0, Issue, "DS", 0, 1 << 20),
            (0, Issue, "N", 0, 0),
        ],
        1,
    );
    let read = reads(&device);
    assert_eq!((read.ahead, read.sync, read.meta, read.fua), (2, 1, 1, 0));
    // 0-8-16, then over 4 KiB to 24, then back from 32 to 0: 16 KiB.
    let wanted = Seeks {
        sequential: 1,
        forward: 1,
        backward: 1,
        distances: vec![(12, 1), (14, 1)],
        total_bytes: 20_480,
    };
    assert_eq!(read.seeks, wanted);
    let write = class(&device, RequestClass::Write);
    assert_eq!((write.fua, write.sync, &write.seeks.distances), (2, 2, &vec![(48, 1)]));
    assert_eq!(class(&device, RequestClass::Discard).sizes, [SizeCount { bytes: 1 << 29, count: 1 }]);
    assert_eq!(counts(class(&device, RequestClass::Other)), (1, 0, 0, 0));
}

#[test]
fn issuers_are_who_handed_the_bio_in() {
    let mut analysis = Analysis::new(options(true));
    let by = |task: &str, e: BlockEvent| BlockEvent { task: BlockEvent::task_of(task), ..e };
    analysis.event(&by("reader", event(0, Queue, "R", 0, 8)), IssuerKind::Own);
    analysis.event(&by("kworker/0:1H", event(1, Issue, "R", 0, 8)), IssuerKind::Kernel);
    for (n, worker) in (1..).zip(["kworker/u8:3", "kworker/u8:11"]) {
        analysis.event(&by(worker, event(2, Issue, "W", 800 * n, 64)), IssuerKind::Writeback);
    }
    analysis.event(&by("jbd2/vda1-8", event(3, Issue, "FF", 0, 0)), IssuerKind::Journal);
    let issuers = analysis.finish(9).devices.remove(0).issuers;
    let told: Vec<_> =
        issuers.iter().map(|i| (i.kind, i.name.as_str(), i.reads, i.writes, i.others)).collect();
    let wanted = [
        (IssuerKind::Writeback, "kworker", 0, 2, 0),
        (IssuerKind::Own, "reader", 1, 0, 0),
        (IssuerKind::Journal, "jbd2/vda1", 0, 0, 1),
    ];
    assert_eq!(told, wanted);
    assert_eq!((issuers[0].write_bytes, issuers[1].read_bytes), (65_536, 4096));
}

#[test]
fn rows_hold_what_happened_up_to_their_end() {
    let layer = analysed(
        Options { from_ns: 0, ..options(true) },
        &[
            (100, Queue, "R", 0, 8),
            (200, Issue, "R", 0, 8),
            (300, Issue, "WS", 64, 16),
            (900, BackMerge, "W", 0, 8),
            (1000, Complete, "R", 0, 8),
            (2500, Complete, "WS", 64, 16),
            (2600, Issue, "D", 0, 8),
            (2700, Complete, "D", 0, 8),
        ],
        2800,
    );
    let row = |end_ns, width_ns| BlockInterval { end_ns, width_ns, ..BlockInterval::default() };
    // A completion at 1000 belongs to the row that ends there.
    let wanted = [
        BlockInterval {
            reads: 1,
            read_bytes: 4096,
            read_ns: 900,
            write_merges: 1,
            busy_ns: 800,
            depth_ns: 800 + 700,
            ..row(1000, 1000)
        },
        BlockInterval { busy_ns: 1000, depth_ns: 1000, ..row(2000, 1000) },
        BlockInterval {
            writes: 1,
            write_bytes: 8192,
            write_ns: 2200,
            discards: 1,
            busy_ns: 600,
            depth_ns: 500 + 100,
            ..row(2800, 800)
        },
    ];
    assert_eq!(layer.intervals, wanted);
}

#[test]
fn rows_grow_longer_rather_than_more() {
    let mut analysis = Analysis::new(options(false));
    let minute = 60_000_000_000;
    for n in 0..20 {
        feed(&mut analysis, &[(n * minute, Issue, "R", 0, 8), (n * minute + 7, Complete, "R", 0, 8)]);
    }
    let layer = analysis.finish(20 * minute);
    assert!(layer.intervals.len() <= rows::ROWS_MAX + 1, "{}", layer.intervals.len());
    assert_eq!(
        layer.intervals.iter().map(|r| (r.reads, r.busy_ns)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1)),
        (20, 140)
    );
    assert_eq!(layer.intervals.iter().map(|r| r.width_ns).sum::<u64>(), 20 * minute);
}

#[test]
fn without_requests_bios_are_counted() {
    let options = Options { devices: vec![device(true)], ..options(false) };
    let layer = analysed(
        options,
        &[
            (0, Queue, "R", 0, 64),
            (5, Queue, "WS", 0, 8),
            // Reported as submitted; as an empty range at its end; and with a piece before the last.
            (10, BioComplete, "WS", 0, 8),
            (20, Queue, "R", 100, 8),
            (30, BioComplete, "R", 108, 0),
            (35, Split, "R", 0, 32),
            (40, BioComplete, "R", 0, 32),
            (50, BioComplete, "R", 32, 32),
            (60, Queue, "FWS", 0, 0),
            (70, Complete, "FWS", 0, 0),
            (80, BioComplete, "R", 4000, 8),
            (90, Issue, "R", 0, 8),
        ],
        100,
    );
    let device = &layer.devices[0];
    assert_eq!(counts(reads(device)), (2, 36_864, 2, 36_864));
    assert_eq!((reads(device).d2c.min_ns(), reads(device).d2c.max_ns()), (10, 50));
    assert_eq!(counts(class(device, RequestClass::Write)), (1, 4096, 1, 4096));
    assert_eq!(class(device, RequestClass::Flush).d2c.sum_ns(), 10);
    assert_eq!((device.begun_before, device.unfinished, device.bio_based), (1, 0, true));
    assert_eq!((reads(device).bios, device.splits, device.in_queue.len()), (None, None, 0));
    assert_eq!((layer.intervals[0].reads, layer.intervals[0].writes, layer.intervals[0].flushes), (2, 1, 1));
}

#[test]
fn with_queueing_bios_and_cuts_are_told_without_requests_too() {
    let options = Options { devices: vec![device(true)], ..options(true) };
    let events = [(0, Queue, "R", 0, 64), (1, Split, "R", 0, 32), (2, BioComplete, "R", 0, 64)];
    let device = analysed(options, &events, 9).devices.remove(0);
    assert_eq!((reads(&device).bios, device.splits, device.in_queue.len()), (Some(1), Some(1), 0));
}

#[test]
fn an_error_of_a_piece_is_one_of_the_bio() {
    let mut analysis = Analysis::new(Options { devices: vec![device(true)], ..options(false) });
    feed(&mut analysis, &[(0, Queue, "R", 0, 64)]);
    analysis.event(&BlockEvent { error: -5, ..event(1, BioComplete, "R", 0, 32) }, IssuerKind::Other);
    feed(&mut analysis, &[(2, BioComplete, "R", 32, 32)]);
    let device = analysis.finish(9).devices.remove(0);
    assert_eq!((reads(&device).errors, reads(&device).completed, device.begun_before), (1, 1, 0));
}

#[test]
fn unplugs_are_told_where_their_device_is_known() {
    let device = of(&[(0, Plug, "", 0, 0), (1, Unplug, "", 0, 3), (2, Unplug, "", 0, 4)], 9);
    assert_eq!(device.unplugs, Some((2, 7)));
}

#[test]
fn after_a_gap_nothing_is_in_flight() {
    for bio_based in [false, true] {
        let mut analysis = Analysis::new(Options { devices: vec![device(bio_based)], ..options(false) });
        let start = if bio_based { Queue } else { Issue };
        feed(&mut analysis, &[(0, start, "R", 0, 8), (10, start, "R", 8, 8)]);
        analysis.gap();
        feed(&mut analysis, &[(20, Complete, "R", 0, 8), (30, start, "R", 8, 8), (35, Complete, "R", 8, 8)]);
        let device = analysis.finish(40).devices.remove(0);
        assert_eq!((reads(&device).issued, reads(&device).completed), (3, 1));
        assert_eq!((device.unfinished, device.begun_before, device.busy_ns), (2, 1, 15), "bios: {bio_based}");
    }
}

#[test]
fn other_devices_are_passed_over_and_times_do_not_run_backwards() {
    let mut analysis = Analysis::new(options(true));
    feed(&mut analysis, &[(1000, Issue, "R", 0, 8), (990, Issue, "R", 8, 8)]);
    let other = DeviceNumber { major: 7, minor: 3 };
    analysis.event(&BlockEvent { device: other, ..event(995, Issue, "R", 0, 8) }, IssuerKind::Other);
    assert!(analysis.watches(VDA) && !analysis.watches(other));
    analysis.watch(WatchedDevice { number: other, name: "loop3".into(), level: 1, bio_based: false });
    analysis.watch(device(true));
    analysis.event(&BlockEvent { device: other, ..event(1010, Issue, "R", 0, 8) }, IssuerKind::Other);
    feed(&mut analysis, &[(1005, Complete, "R", 0, 8), (1020, Complete, "R", 8, 8)]);
    let layer = analysis.finish(1020);
    assert_eq!(layer.devices.len(), 2);
    let device = layer.device(VDA).expect("watched");
    assert_eq!((reads(device).issued, reads(device).d2c.sum_ns(), device.busy_ns), (2, 10 + 20, 20));
    assert_eq!(reads(layer.device(other).expect("watched since")).issued, 1);
    let rows: Vec<_> = layer.intervals.iter().map(|r| (r.device, r.end_ns, r.width_ns)).collect();
    assert_eq!(rows, [(0, 1000, 1000), (0, 1020, 20), (1, 1000, 1000), (1, 1020, 20)]);
}

#[test]
fn what_only_informs_changes_nothing() {
    let device = of(
        &[(0, GetRequest, "R", 0, 8), (1, Insert, "R", 0, 8), (2, Remap, "R", 0, 8), (3, Plug, "R", 0, 8)],
        9,
    );
    assert_eq!(
        (device.requests.len(), depths(&device.in_device), depths(&device.in_queue)),
        (0, vec![(0, 9)], vec![(0, 9)])
    );
}

#[test]
fn huge_values_in_a_trace_do_not_overflow() {
    for bio_based in [false, true] {
        let options = Options { devices: vec![device(bio_based)], ..options(true) };
        let mut analysis = Analysis::new(options);
        let far = u64::MAX - 1;
        for action in BlockAction::ALL {
            for (time, sector, sectors) in [
                (0, far, u32::MAX),
                (far, far, 1),
                (u64::MAX, 0, u32::MAX),
                (5, u64::MAX, 0),
                (6, far, u32::MAX),
            ] {
                for rwbs in ["R", "FWFS", "D", "FF", "N", ""] {
                    feed(&mut analysis, &[(time, action, rwbs, sector, sectors)]);
                }
            }
        }
        let layer = analysis.finish(u64::MAX);
        assert_eq!(layer.watched_ns, u64::MAX);
        analysis.restart(u64::MAX);
        assert_eq!(analysis.finish(0).watched_ns, 0);
    }
}
