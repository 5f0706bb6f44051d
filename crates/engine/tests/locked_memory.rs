//! Memory that workers keep locked beside their work.

use crate::support::{Bench, KIB, completed};
use fathom_engine::Moments;
use fathom_workload::{Bytes, Direction, Isolation, Stream};

/// Memory locked by this process, KiB.
fn locked_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmLck:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Memory locked when the workers are prepared.
#[derive(Default)]
struct Watch(u64);

impl Moments for Watch {
    fn ready(&mut self) {
        self.0 = locked_kib();
    }
}

#[test]
fn every_worker_locks_its_memory_while_it_lives() {
    let bench = Bench::new(64 * KIB).workers(3, Isolation::Thread).locked(100 * KIB);
    let mut watch = Watch::default();
    completed(&bench.run_telling(Stream::new("f", Direction::Write, Bytes(4 * KIB)), &mut watch));
    assert_eq!((watch.0, locked_kib()), (300, 0));
}

#[test]
fn more_than_there_is_is_refused() {
    let bench = Bench::new(64 * KIB).workers(2, Isolation::Process).locked(1 << 60);
    let said = bench.refused(Stream::new("f", Direction::Read, Bytes(4 * KIB)));
    assert!(said.contains("lock 2199023255552 MiB of memory") && said.contains("lockmem"), "{said}");
}
