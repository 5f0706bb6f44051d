//! Joins the results of up to 4096 ranks as a run does after each phase, and stores them. One process acts as all ranks in turn, from the
//! highest to rank 0, which collects and so finds all messages there. The output is in docs/mpi.md; times are not asserted.

use fathom_cli::ranks::{self, Message, Team};
use fathom_record::ranks::{RankIdentity, Share};
use fathom_record::{
    Axes, Histogram, Interval, OpKind, OpStat, Phase, Physical, Repetition, Run, Store, Worker,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const SIZES: [u32; 3] = [256, 1024, 4096];
/// Writes of each rank: half a minute in records of 1 MiB, at 700 MiB/s.
const WRITES: u64 = 20_000;
const SECONDS: u64 = 30;

/// Pending messages to every rank.
struct Post {
    boxes: Vec<RefCell<VecDeque<Message>>>,
    longest: Cell<usize>,
}

/// One rank and its mailbox.
struct Clerk<'p> {
    rank: u32,
    post: &'p Post,
}

impl Team for Clerk<'_> {
    fn rank(&self) -> u32 {
        self.rank
    }
    fn size(&self) -> u32 {
        self.post.boxes.len() as u32
    }
    fn send(&self, to: u32, kind: u8, bytes: &[u8]) {
        self.post.longest.set(self.post.longest.get().max(bytes.len()));
        let letter = Message { from: self.rank, kind, bytes: bytes.to_vec() };
        self.post.boxes[to as usize].borrow_mut().push_back(letter);
    }
    fn poll(&self) -> Option<Message> {
        self.post.boxes[self.rank as usize].borrow_mut().pop_front()
    }
    fn sent(&self) -> bool {
        true
    }
    fn enter_barrier(&self) {}
    fn passed_barrier(&self) -> bool {
        true
    }
    fn carrier(&self) -> String {
        "letters".into()
    }
}

/// Latencies typical of storage: mostly close together, with a long tail.
fn latencies(rank: u32) -> Vec<u64> {
    let mut state = u64::from(rank) + 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let tail = |draw: u64| 1 + u64::from(draw.is_multiple_of(100)) * (draw % 397);
    (0..WRITES).map(|_| 1_000_000 + next() % 400_000 * tail(next())).collect()
}

/// Results of a rank in a phase: its writes, an fsync, and a throughput series with one-second intervals.
fn share(rank: u32) -> Share {
    let values = latencies(rank);
    let record = 1 << 20;
    let stat = |op: OpKind, bytes: u64, values: &[u64]| OpStat {
        op,
        ops: values.len() as u64,
        bytes,
        latency: Histogram::from_values(values.iter().copied()),
    };
    let worker = Worker {
        group: "writer".into(),
        start_ns: u64::from(rank) * 10,
        elapsed_ns: SECONDS * 1_000_000_000 + u64::from(rank) * 1000,
        bytes: WRITES * record,
        ops: WRITES,
        stats: vec![stat(OpKind::Write, WRITES * record, &values), stat(OpKind::Sync, 0, &[30_000_000])],
        ..Worker::default()
    };
    let seconds = values.chunks((WRITES / SECONDS + 1) as usize).zip(1u64..);
    let intervals = seconds.map(|(of_second, n)| Interval {
        end_ns: n * 1_000_000_000,
        width_ns: 1_000_000_000,
        ops: of_second.len() as u64,
        bytes: of_second.len() as u64 * record,
        latencies: vec![(OpKind::Write, Histogram::from_values(of_second.iter().copied()))],
        moved: vec![(OpKind::Write, of_second.len() as u64 * record)],
    });
    let repetition = Repetition {
        elapsed_ns: worker.elapsed_ns,
        intervals: intervals.collect(),
        workers: vec![worker],
        physical: Physical { own_write_bytes: Some(WRITES * record), ..Physical::default() },
        ..Repetition::default()
    };
    let phase = Phase {
        seq: 0,
        name: "write".into(),
        axes: Axes { streams: Some(1), ..Axes::default() },
        reads: false,
        writes: true,
        sync_in_clock: false,
        direct: false,
        repetitions: vec![repetition],
    };
    let host = format!("node{:04}", rank / 16);
    Share::of(
        RankIdentity { rank, host: &host, reports_machine_counters: rank.is_multiple_of(16), alone: false },
        phase,
    )
}

/// Peak memory of this process since the last call of [`forget_peak`].
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[test]
fn the_shares_of_thousands_of_ranks_are_joined_and_kept_in_little_memory() {
    SIZES.into_iter().for_each(joined_and_kept);
}

fn joined_and_kept(all_ranks: u32) {
    forget_peak();
    let before = peak_bytes();
    let post = Post { boxes: (0..all_ranks).map(|_| RefCell::default()).collect(), longest: Cell::new(0) };
    let (mut all_took, mut last_took, mut joined) = (Duration::ZERO, Duration::ZERO, None);
    for rank in (0..all_ranks).rev() {
        let own = share(rank);
        let begin = Instant::now();
        joined = ranks::join(&Clerk { rank, post: &post }, own).expect("nobody is lost");
        last_took = begin.elapsed();
        all_took += last_took;
        assert_eq!(joined.is_some(), rank == 0, "what others have they pass on");
    }
    let begin = Instant::now();
    let (phase, times) = joined.expect("rank 0 has it").finish();
    let dir = tempfile::tempdir().unwrap();
    let mut run = Run { id: "20261121T210531-1a2b3c".into(), label: "ranks".into(), ..Run::default() };
    run.environment = serde_json::json!({ "ranks": { "phases": [{ "phase": 0, "ranks": times }] } });
    run.phases.push(phase);
    let file = dir.path().join("store.db");
    let mut store = Store::open(&file).unwrap();
    store.save(&run).unwrap();
    store.close().unwrap();
    let kept_took = begin.elapsed();
    let peak = peak_bytes();
    println!(
        "{all_ranks} ranks' shares: joined in {all_took:?} of all ranks together, of which rank 0 {last_took:?}; kept in {kept_took:?} \
         ({:.1} MiB of store); peak of memory {:.0} MiB ({:.0} before), longest message {:.1} MiB",
        file.metadata().unwrap().len() as f64 / 1_048_576.0,
        peak as f64 / 1_048_576.0,
        before as f64 / 1_048_576.0,
        post.longest.get() as f64 / 1_048_576.0,
    );
    let repetition = &run.phases[0].repetitions[0];
    assert_eq!((times.len(), repetition.workers.len()), (all_ranks as usize, all_ranks as usize));
    let merged = repetition.latency(OpKind::Write);
    let all = Histogram::from_values((0..all_ranks).flat_map(latencies));
    assert_eq!(merged, all, "bucket by bucket");
    assert!(peak < 1 << 30, "{peak} bytes");
}
