//! Host profiles: no text panics; an error can be shown; on whatever is read a small workload runs to its end, or is refused with a
//! reason.

#![no_main]

use fathom_sim::devices::{self, Device as _};
use fathom_sim::host::Host;
use fathom_sim::{Setup, SimError, Stack, simulate};
use fathom_workload::Workload;
use libfuzzer_sys::fuzz_target;

/// 64 KiB written out of order with an fsync, dropped from the cache, and read backwards.
const WORKLOAD: &str = r#"
name = "small"
seed = 1

[[fileset]]
name = "data"
files = { list = ["a"] }
size = { fixed = "64KiB" }

[[phase]]
name = "write"
before = [{ recreate = "data" }]
axes = { file = "64KiB", record = "4KiB", streams = 1 }

[[phase.group]]
name = "writer"

[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "data"
direction = "write"
access = "permuted"
record = { fixed = "4KiB" }
timed = { fsync = true }

[[phase]]
name = "read"
before = [{ evict = "data" }]
axes = { file = "64KiB", record = "4KiB", streams = 1 }

[[phase.group]]
name = "reader"

[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "data"
direction = "read"
access = "backward"
record = { fixed = "4KiB" }
"#;

fuzz_target!(|text: &str| {
    let host = match Host::parse("mine.toml", text) {
        Ok(host) => host,
        Err(wrong) => return assert!(!wrong.to_string().is_empty()),
    };
    let profile = devices::by_name("constant").expect("it is shipped");
    let device = profile.build().expect("it is shipped");
    let limits = profile.limits(host.block.queue.get());
    assert!(host.queue_rules(limits, device.depth()).limits.max_sectors > 0);
    let setup = Setup {
        host,
        device: Box::new(device),
        device_name: "constant".into(),
        limits,
        scheduler: "noop".into(),
        readahead: "modern".into(),
        stack: Stack::Full,
        indirect_in_memory: false,
        stop: fathom_sim::never,
    };
    let workload = Workload::from_toml(WORKLOAD).expect("a workload");
    match simulate(&workload, setup) {
        Ok(out) => assert_eq!(out.phases.len(), 2),
        Err(wrong) => assert!(!matches!(wrong, SimError::Standstill(_)), "{wrong}"),
    }
});
