//! Writers through page cache and write-back, checked by request shapes: the effect of the order of physical pages, and who writes when
//! much is dirty.

use crate::devices::Constant;
use crate::host::{self, BatchOrder, Host};
use crate::outcome::Simulated;
use crate::simulation::{Setup, simulate};
use crate::stack::Stack;
use fathom_iopath::Limits;
use fathom_record::OpKind;
use fathom_workload::Workload;

const MS: u64 = 1_000_000;

/// `count` writers, each on its own file, 1 MiB per call, with an fsync inside the clock.
fn writers(count: u32, mib: u32) -> Workload {
    let text = format!(
        "name = \"t\"\nseed = \"0x1\"\n[[fileset]]\nname = \"f\"\n[fileset.files.numbered]\nprefix = \"f\"\ncount = {count}\n\
         [fileset.size]\nfixed = \"{mib}MiB\"\n[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\ninstances = {count}\n\
         [[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"write\"\n\
         record = {{ fixed = \"1MiB\" }}\nopen = {{ create = true }}\ntimed = {{ fsync = true }}\n"
    );
    Workload::from_toml(&text).unwrap()
}

fn run(workload: &Workload, change: impl Fn(&mut Host)) -> Simulated {
    let mut host = host::shipped("server-2007-linux-2.6").unwrap();
    host.memory.cache_mib.value = 256;
    change(&mut host);
    let setup = Setup {
        host,
        device: Box::new(Constant::new(80_000_000, 128, MS / 10, 90_000_000)),
        device_name: "constant".into(),
        limits: Limits::CCISS,
        scheduler: "cfq@2.6.24".into(),
        readahead: "none".into(),
        stack: Stack::Full,
        indirect_in_memory: false,
        stop: crate::simulation::never,
    };
    simulate(workload, setup).unwrap()
}

fn in_order(order: BatchOrder) -> impl Fn(&mut Host) {
    move |host| host.pages.as_mut().unwrap().order.value = order
}

/// Share of the bytes moved by requests of the typical length with a number of segments in this range.
fn share(out: &Simulated, segments: std::ops::RangeInclusive<u16>) -> f64 {
    let typical = out.inside.shapes.typical();
    typical.segments.iter().filter(|(n, _)| segments.contains(n)).map(|(_, share)| share).sum()
}

#[test]
fn ascending_pages_fill_requests_and_descending_ones_scatter_lists() {
    for count in 1..=3 {
        let out = run(&writers(count, 48), in_order(BatchOrder::Ascending));
        assert_eq!(out.inside.shapes.typical().sectors, 512, "{count}");
        // 6 where two CPUs take batches in turn.
        assert!(share(&out, 4..=6) > 0.75, "{count}: {:?}", out.inside.shapes);
        let out = run(&writers(count, 48), in_order(BatchOrder::Descending));
        assert_eq!(out.inside.shapes.typical().sectors, 248, "{count}");
        assert!(share(&out, 31..=31) > 0.9, "{count}: {:?}", out.inside.shapes);
    }
}

#[test]
fn with_one_cpu_no_request_of_ascending_pages_has_more_than_5_segments() {
    let one_cpu = |host: &mut Host| host.cpu.cpus.value = 1;
    for count in 1..=3 {
        let out = run(&writers(count, 48), one_cpu);
        let most = out.inside.shapes.all().map(|(_, segments, _)| segments).max();
        assert!(most <= Some(5), "{count}: {:?}", out.inside.shapes);
    }
}

#[test]
fn without_an_allocator_each_page_is_a_segment() {
    let out = run(&writers(1, 16), |host| host.pages = None);
    assert!(out.inside.shapes.all().all(|(sectors, segments, _)| u32::from(segments) * 8 == sectors));
    assert_eq!(out.inside.shapes.typical().sectors, 248);
}

#[test]
fn no_request_is_beyond_a_limit_and_every_page_is_written_once() {
    let out = run(&writers(3, 32), |_| {});
    assert!(out.inside.shapes.all().all(|(sectors, segments, _)| sectors <= 512 && segments <= 31));
    assert_eq!(out.inside.counts.pages_written, 3 * 32 * 256);
}

#[test]
fn above_the_background_share_the_device_works_before_the_fsync() {
    // 5 % of 256 MiB are dirty after 13 calls; anything below stays in memory until the fsync.
    let sync_ns = |mib| {
        let out = run(&writers(1, mib), |host| host.writeback.limit_percent.value = 100);
        let stats = &out.phases[0][0].workers[0].stats;
        let sync = stats.iter().find(|s| s.op == OpKind::Sync).unwrap();
        sync.latency.max_ns() as f64
    };
    let device_ns = |mib: u32| f64::from(mib) * 1_048_576.0 / 90e6 * 1e9;
    assert!(sync_ns(8) > device_ns(8), "all of it is left to the fsync");
    assert!(sync_ns(128) < device_ns(128), "the background had begun");
}

#[test]
fn writers_above_the_limit_are_held_back_to_the_pace_of_the_device() {
    let out = run(&writers(2, 96), |_| {});
    for worker in &out.phases[0][0].workers {
        let writes = worker.stats.iter().find(|s| s.op == OpKind::Write).unwrap();
        let most_ns = writes.latency.max_ns();
        assert!(most_ns > 10 * MS, "somebody waited: {most_ns} ns");
        // Never longer than one turn of every writer.
        assert!(most_ns < 1500 * MS, "{most_ns} ns");
    }
}
