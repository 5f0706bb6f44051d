//! Streams with buffers of every kind: the same data arrive, and unavailable kinds are refused with a message.

use crate::support::{Bench, KIB, MIB, only};
use fathom_record::Ending;
use fathom_testkit::skip;
use fathom_workload::{
    Backend, Buffers, Bytes, Data, Direction, Node, Open, Pages, Stream, SyncCall, Uring, Verify,
};

const URING: Backend = Backend::Uring(Uring {
    batch: 0,
    registered_file: true,
    registered_buffers: Some(true),
    deferred: true,
    submission_polling: false,
    submission_cpu: None,
    async_every: 0,
    completion_polling: false,
    atomic: false,
});

/// Writes and reads with such buffers, checking every byte.
#[track_caller]
fn there_and_back(buffers: Buffers, record: u64, backend: Backend, queue_depth: u32) {
    let bench = Bench::new(8 * MIB);
    for direction in [Direction::Write, Direction::Read] {
        let r = bench.run(Stream {
            backend,
            queue_depth,
            buffers,
            data: Data::Positioned { tag: 7 },
            verify: Verify::Full,
            open: Open { direct: !bench.in_memory(), ..Open::default() },
            ..Stream::new("f", direction, Bytes(record))
        });
        assert_eq!(only(&r).ending, Ending::Completed, "{buffers:?} {direction:?} {record}");
        assert_eq!(only(&r).bytes, 8 * MIB);
    }
}

#[test]
fn every_page_and_node_moves_the_same_data() {
    for pages in [Pages::Auto, Pages::Base] {
        for node in [Node::Local, Node::Number(0), Node::Device] {
            let buffers = Buffers { pages, node };
            there_and_back(buffers, 64 * KIB, Backend::Psync(SyncCall::Positioned), 1);
            there_and_back(buffers, 4 * MIB, Backend::Psync(SyncCall::Positioned), 1);
            there_and_back(buffers, 256 * KIB, URING, 4);
        }
    }
}

#[test]
fn a_node_that_is_not_there_is_refused_before_the_start() {
    let dir = fathom_testkit::TestDir::new();
    let engine = fathom_engine::Engine::new(fathom_engine::Ledger::new(&dir.path().join("state")));
    let workload = workload(&dir, "{ node = { number = 999 } }");
    let said = engine.check(&workload).unwrap_err().to_string();
    assert!(said.contains("its buffers need NUMA node 999"), "{said}");
}

fn workload(dir: &fathom_testkit::TestDir, buffers: &str) -> fathom_workload::Workload {
    let text = format!(
        "name = 't'\n[[fileset]]\nname = 'f'\nfiles = {{ list = ['{}/f'] }}\nsize = {{ fixed = '1MiB' }}\n[[phase]]\nname = 'p'\n[[phase.group]]\nname = 'g'\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = 'f'\ndirection = 'write'\nrecord = {{ fixed = '4KiB' }}\nbuffers = {buffers}\n",
        dir.path().display()
    );
    fathom_workload::Workload::from_toml(&text).unwrap_or_else(|d| panic!("{}", d.render("t", &text)))
}

const RESERVED: &str = "/proc/sys/vm/nr_hugepages";

/// Huge pages reserved for one test, and released on drop.
struct Reserved(u64);

impl Reserved {
    /// Reserves `count` more; `None` where that is not allowed or memory is short.
    fn more(count: u64) -> Option<Self> {
        let now = || -> Option<u64> { std::fs::read_to_string(RESERVED).ok()?.trim().parse().ok() };
        let before = Self(now()?);
        std::fs::write(RESERVED, (before.0 + count).to_string()).ok()?;
        (now()? >= before.0 + count).then_some(before)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let _ = std::fs::write(RESERVED, self.0.to_string());
    }
}

/// One test, because both halves use the machine's single pool.
#[test]
fn reserved_huge_pages_are_used_and_their_lack_is_reported() {
    let buffers = Buffers { pages: Pages::Huge, node: Node::Local };
    let bench = Bench::new(MIB);
    let large = Stream { buffers, ..Stream::new("f", Direction::Write, Bytes(1 << 30)) };
    // More huge pages than any machine reserves.
    let said = bench.refused(Stream { length: Some(Bytes(1 << 30)), queue_depth: 1, ..large });
    let expected = said.contains("huge pages of") && said.contains("/proc/sys/vm/nr_hugepages");
    assert!(expected || said.contains("MiB of memory"), "{said}");

    let name = "reserved_huge_pages_are_used_and_their_lack_is_reported";
    let Some(_reserved) = Reserved::more(16) else {
        return skip(name, "no huge pages can be reserved here");
    };
    there_and_back(buffers, 64 * KIB, Backend::Psync(SyncCall::Positioned), 1);
    there_and_back(buffers, 256 * KIB, URING, 4);
}
