//! Any workload on any host, device, elevator and read-ahead: every operation completes, nothing gets lost, the device is not busy for
//! longer than the elapsed time, Little's law holds, and a repetition gives the same result.

use fathom_iopath::{elevator, readahead};
use fathom_sim::devices::by_name;
use fathom_sim::{Setup, Simulated, Stack, host, never, simulate};
use fathom_workload::Workload;
use proptest::prelude::*;

const HOSTS: [&str; 5] = [
    "athlon-2004-linux-2.4",
    "athlon-2004-linux-2.6",
    "server-2007-linux-2.6",
    "ncsa-2005-linux-2.4",
    "today",
];
const DEVICES: [&str; 8] = [
    "constant",
    "deskstar-60gxp",
    "ncsa-2005",
    "sata-7200-ncq",
    "scsi-10k-72g",
    "smartarray-6i-h1",
    "smartarray-6i-h2",
    "ssd-generic",
];
const DIRECTIONS: [&str; 3] = ["\"read\"", "\"write\"", "{ mix = { read-percent = 60 } }"];
const SYNCS: [&str; 3] = ["", "sync_every = { writes = 7, data_only = true }", "timed = { fsync = true }"];
/// Back-ends, and whether they support direct I/O.
const BACKENDS: [(&str, bool); 6] = [
    ("", true),
    ("backend = { mmap = {} }", false),
    ("backend = { mmap = { advice = 1 } }", false),
    ("backend = { stdio = { buffer = \"12KiB\" } }", false),
    ("backend = { aio = {} }\nqueue_depth = 4", true),
    ("backend = { uring = {} }\nqueue_depth = 3", true),
];
/// Operations per thread.
const OPERATIONS: u64 = 40;

/// A random case.
#[derive(Clone, Debug)]
struct Case {
    host: &'static str,
    device: &'static str,
    scheduler: String,
    readahead: &'static str,
    stack: Stack,
    threads: u32,
    files: u32,
    record_kib: u32,
    direction: &'static str,
    random: bool,
    direct: bool,
    sync: &'static str,
    seed: u64,
    cache_mib: u32,
    backend: &'static str,
}

fn case() -> impl Strategy<Value = Case> {
    let schedulers: Vec<String> = elevator::known().map(|name| name.to_string()).collect();
    let readaheads: Vec<&'static str> = readahead::NAMES.iter().map(|&(name, _)| name).collect();
    let parts = (
        prop::sample::select(&HOSTS[..]),
        prop::sample::select(&DEVICES[..]),
        prop::sample::select(schedulers),
        prop::sample::select(readaheads),
        prop::sample::select(vec![Stack::Full, Stack::NoCache]),
    );
    let load = (
        1..5_u32,
        1..4_u32,
        prop::sample::select(vec![4_u32, 16, 64, 256, 1024]),
        prop::sample::select(&DIRECTIONS[..]),
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(&SYNCS[..]),
        any::<u64>(),
        (prop::sample::select(vec![1_u32, 2, 8]), prop::sample::select(&BACKENDS[..])),
    );
    (parts, load).prop_map(|((host, device, scheduler, readahead, stack), load)| {
        let (threads, files, record_kib, direction, random, direct, sync, seed, (cache_mib, (backend, past))) = load;
        Case {
            host,
            device,
            scheduler,
            readahead,
            stack,
            threads,
            files,
            record_kib,
            direction,
            random,
            direct: direct && past,
            sync,
            seed,
            cache_mib,
            backend,
        }
    })
}

fn workload(case: &Case) -> Workload {
    let Case { threads, files, record_kib, direction, random, direct, sync, seed, backend, .. } = case;
    let access = if *random { "permuted" } else { "sequential" };
    let text = format!(
        "name = \"t\"\nseed = \"{seed:#x}\"\n[[fileset]]\nname = \"f\"\n[fileset.files.numbered]\nprefix = \"f\"\ncount = {files}\n\
         [fileset.size]\nfixed = \"4MiB\"\n[[phase]]\nname = \"p\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
         instances = {threads}\n[phase.group.thread.program.stream]\nfileset = \"f\"\npick = \"by-worker\"\ndirection = {direction}\n\
         access = \"{access}\"\nrecord = {{ fixed = \"{record_kib}KiB\" }}\namount = {{ operations = {OPERATIONS} }}\n\
         open = {{ direct = {direct} }}\n{sync}\n{backend}"
    );
    Workload::from_toml(&text).expect("a workload")
}

fn ran(case: &Case) -> Simulated {
    let mut host = host::shipped(case.host).expect("a host");
    // Small enough to cause evictions.
    host.memory.cache_mib.value = case.cache_mib;
    if let Some(others) = &mut host.memory.others_mib {
        others.value = 0;
    }
    let profile = by_name(case.device).expect("a profile");
    let limits = profile.limits(host.block.queue.get());
    let setup = Setup {
        host,
        device: Box::new(profile.build().expect("a device")),
        device_name: case.device.into(),
        limits,
        scheduler: case.scheduler.clone(),
        readahead: case.readahead.into(),
        stack: case.stack,
        indirect_in_memory: false,
        stop: never,
    };
    simulate(&workload(case), setup).expect("it can be simulated")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, ..ProptestConfig::default() })]

    #[test]
    fn every_operation_is_done_and_time_adds_up(case in case()) {
        let out = ran(&case);
        let done = &out.phases[0][0];
        prop_assert_eq!(done.ops(), u64::from(case.threads) * OPERATIONS);
        prop_assert!(done.workers.iter().all(|w| w.ops == OPERATIONS));

        let layer = done.block.as_ref().expect("the block layer is watched");
        for device in &layer.devices {
            for class in device.requests.iter().filter(|class| class.issued_bytes > 0) {
                let begun: u64 = class.sizes.iter().map(|s| s.count).sum();
                prop_assert_eq!(class.issued, begun, "each request with data has one size");
            }
            let open: u64 = device.requests.iter().map(|r| r.issued - r.completed).sum();
            prop_assert_eq!(device.unfinished, open, "what was issued is done, or was open at the end");
        }

        let inside = &out.inside;
        prop_assert!(
            inside.device.busy_ns <= inside.elapsed_ns,
            "busy for {} of {} ns", inside.device.busy_ns, inside.elapsed_ns
        );
        let most = inside.elapsed_ns * u64::from(inside.device.side_by_side());
        prop_assert!(inside.device.seek_ns <= most && inside.device.rotation_ns <= most);
        // Requests still in the device at the end (read-ahead, write-back) count in the depth but have no response time yet.
        let open: u64 = layer.devices.iter().map(|d| d.unfinished).sum();
        let left = inside.depth_ns.checked_sub(inside.response_ns);
        prop_assert!(
            left.is_some_and(|left| left <= u128::from(open) * u128::from(inside.elapsed_ns)),
            "Little: {} and {} with {} open", inside.depth_ns, inside.response_ns, open
        );
    }

    #[test]
    fn the_same_again_is_the_same(case in case()) {
        prop_assert_eq!(format!("{:?}", ran(&case)), format!("{:?}", ran(&case)));
    }
}
