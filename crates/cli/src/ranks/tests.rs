//! A communicator of threads: broadcasts reach all, shares are merged, and a rank that breaks off ends all others.

use super::comm::Comm;
use super::{Message, Team, clocks, leave};
use fathom_engine::{Engine, Ledger};
use fathom_workload::{Action, Workload};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A rank that is a thread.
struct Thread {
    rank: u32,
    all: Vec<Sender<Message>>,
    own: Receiver<Message>,
    entered: Arc<AtomicUsize>,
    times: AtomicUsize,
}

impl Team for Thread {
    fn rank(&self) -> u32 {
        self.rank
    }
    fn size(&self) -> u32 {
        self.all.len() as u32
    }
    fn send(&self, to: u32, kind: u8, bytes: &[u8]) {
        let _ = self.all[to as usize].send(Message { from: self.rank, kind, bytes: bytes.to_vec() });
    }
    fn poll(&self) -> Option<Message> {
        self.own.try_recv().ok()
    }
    fn sent(&self) -> bool {
        true
    }
    fn enter_barrier(&self) {
        self.times.fetch_add(1, Ordering::SeqCst);
        self.entered.fetch_add(1, Ordering::SeqCst);
    }
    fn passed_barrier(&self) -> bool {
        self.entered.load(Ordering::SeqCst) >= self.times.load(Ordering::SeqCst) * self.all.len()
    }
    fn carrier(&self) -> String {
        "threads".into()
    }
}

/// Runs the same code on every thread of a team; returns each one's result.
fn together<T: Send>(size: usize, each: impl Fn(&mut Comm) -> T + Sync) -> Vec<T> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
    let entered = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(receivers)
            .map(|(rank, own)| {
                let (all, entered, each) = (senders.clone(), entered.clone(), &each);
                scope.spawn(move || {
                    let team = Thread { rank, all, own, entered, times: AtomicUsize::new(0) };
                    let mut comm = Comm::new(&team);
                    comm.have_patience(Duration::from_secs(2));
                    each(&mut comm)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

#[test]
fn what_one_tells_all_hear_and_what_all_have_one_collects() {
    for size in [1, 2, 3, 5, 8, 13] {
        let found = together(size, |comm| {
            let heard = comm.tell(comm.is_first().then(|| "go".to_string())).unwrap();
            let mine = vec![comm.team.rank()];
            let all = comm.collect(mine, |all, more| all.extend(more)).unwrap();
            comm.barrier().unwrap();
            (heard, all)
        });
        assert!(found.iter().all(|f| f.0 == "go"));
        let mut all = found[0].1.clone().unwrap();
        all.sort_unstable();
        assert_eq!(all, (0..size as u32).collect::<Vec<_>>());
        assert!(found[1..].iter().all(|f| f.1.is_none()));
    }
}

#[test]
fn clocks_of_one_machine_do_not_differ() {
    let found = together(4, |comm| {
        let offset = clocks::measure(comm).unwrap();
        (offset, clocks::agree(comm, offset).unwrap())
    });
    for (offset, at) in &found {
        assert!(offset.ns.unsigned_abs() <= offset.error_ns, "{offset:?}");
        assert!(at.abs_diff(found[0].1) <= offset.error_ns, "one agreed time");
    }
}

#[test]
fn the_first_that_is_done_is_heard_of() {
    let found = together(3, |comm| {
        if comm.team.rank() == 2 {
            comm.tell_first_done();
        }
        let heard = comm.wait(|c| c.first_done().then_some(())).is_some();
        comm.barrier().unwrap();
        comm.begin();
        (heard, comm.first_done())
    });
    assert_eq!(found, [(true, false); 3]);
}

#[test]
fn a_broken_circle_waits_for_nothing() {
    let begin = Instant::now();
    let lost = together(1, |comm| {
        comm.break_up("the disk is full".into());
        (comm.barrier(), comm.wait(|_| None::<()>), comm.broken().cloned())
    });
    let (barrier, waited, broken) = lost.into_iter().next().unwrap();
    assert_eq!((barrier.is_some(), waited), (true, None), "a circle of one has nobody to wait for");
    assert_eq!(broken.unwrap().why, "the disk is full");
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_directory_that_all_make_files_in_goes_when_the_last_has_gone() {
    let dir = tempfile::tempdir().unwrap();
    // The first one makes the directories; repeated, because they race.
    for round in 0..20 {
        let place = dir.path().join(format!("{round}/deep/er"));
        let left = together(4, |comm| {
            let rank = comm.team.rank();
            let text = format!(
                "name = \"t\"\n[[fileset]]\nname = \"f\"\nmake_directories = true\n\
                 files = {{ numbered = {{ prefix = \"{}/file.r{rank}.\", count = 3 }} }}\n",
                place.display()
            );
            let workload = Workload::from_toml(&text).unwrap();
            let mut engine = Engine::new(Ledger::new(&dir.path().join(format!("state{rank}"))));
            comm.barrier().unwrap();
            engine.act(&workload, &Action::Prepare("f".into())).unwrap();
            comm.barrier().unwrap();
            leave::clean_up(comm, &mut engine)
        });
        assert!(left.iter().all(Vec::is_empty), "{left:?}");
        assert!(!dir.path().join(round.to_string()).exists());
    }
}
