//! A small bench for the engine's tests: a directory, a file set, and one phase made of the given streams.

pub mod flows;

use fathom_engine::{Engine, Ledger};
use fathom_record::{Ending, OpKind, Repetition, Worker};
use fathom_testkit::TestDir;
use fathom_workload::{
    Bytes, Data, Duration, Existing, FileSet, Files, Group, Isolation, Phase, Pinning, Program, Share,
    Sizing, Stop, Stream, Thread, Workload,
};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

pub struct Bench {
    dir: TestDir,
    engine: RefCell<Engine>,
    files: PathBuf,
    size: u64,
    workers: u32,
    isolation: Isolation,
    stop: Stop,
    interval: Duration,
    stagger: Duration,
    existing: Existing,
    ramp: Duration,
    times: fathom_workload::Times,
    locked: Bytes,
}

impl Bench {
    pub fn new(size: u64) -> Self {
        let dir = TestDir::new();
        let files = dir.path().to_owned();
        Self::with(dir, files, size)
    }

    pub fn new_in(files: &Path, size: u64) -> Self {
        Self::with(TestDir::new(), files.to_owned(), size)
    }

    fn with(dir: TestDir, files: PathBuf, size: u64) -> Self {
        let engine = RefCell::new(Engine::new(Ledger::new(&dir.path().join("state"))));
        Self {
            dir,
            engine,
            files,
            size,
            workers: 1,
            isolation: Isolation::Thread,
            stop: Stop::default(),
            interval: Duration(0),
            stagger: Duration(0),
            existing: Existing::Replace,
            ramp: Duration(0),
            times: fathom_workload::Times::default(),
            locked: Bytes(0),
        }
    }

    pub fn ramp(mut self, ramp: Duration) -> Self {
        self.ramp = ramp;
        self
    }

    /// Times of the group of workers.
    pub fn times(mut self, times: fathom_workload::Times) -> Self {
        self.times = times;
        self
    }

    pub fn workers(mut self, workers: u32, isolation: Isolation) -> Self {
        (self.workers, self.isolation) = (workers, isolation);
        self
    }

    /// Memory that every worker locks.
    pub fn locked(mut self, bytes: u64) -> Self {
        self.locked = Bytes(bytes);
        self
    }

    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    pub fn stagger(mut self, stagger: Duration) -> Self {
        self.stagger = stagger;
        self
    }

    pub fn in_memory(&self) -> bool {
        self.dir.in_memory()
    }

    pub fn path(&self, worker: usize) -> PathBuf {
        self.files.join(format!("file.{worker}"))
    }

    pub fn file(&self) -> PathBuf {
        self.path(0)
    }

    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// The message with which the engine refuses to run the stream.
    pub fn refused(&self, stream: Stream) -> String {
        let workload = self.workload(vec![(self.workers, stream)]);
        self.engine.borrow_mut().execute(&workload, 0, 0, &mut ()).unwrap_err().to_string()
    }

    /// The message with which the engine reports in advance that it cannot execute the stream.
    pub fn unsupported(&self, stream: Stream) -> Option<String> {
        let workload = self.workload(vec![(self.workers, stream)]);
        self.engine.borrow().check(&workload).err().map(|e| e.to_string())
    }

    /// Runs one phase in which every worker executes the stream.
    pub fn run(&self, stream: Stream) -> Repetition {
        self.phase(vec![(self.workers, stream)])
    }

    /// As `run`, with hooks.
    pub fn run_telling(&self, stream: Stream, moments: &mut dyn fathom_engine::Moments) -> Repetition {
        let workload = self.workload(vec![(self.workers, stream)]);
        self.engine.borrow_mut().execute(&workload, 0, 0, moments).unwrap()
    }

    /// As `run`, with an operation log of each worker, in worker order.
    pub fn run_spooled(&self, stream: Stream) -> (Repetition, Vec<Vec<fathom_engine::Operation>>) {
        self.engine.borrow_mut().spool_operations(self.dir.path());
        let repetition = self.run(stream);
        let of = self.engine.borrow_mut().take_operations();
        let read = |(worker, of): (u32, &fathom_engine::Operations)| {
            assert_eq!((of.phase, of.worker), (0, worker));
            of.read().unwrap().map(Result::unwrap).collect::<Vec<_>>()
        };
        (repetition, (0u32..).zip(&of).map(read).collect())
    }

    /// Runs one phase with a worker for each stream.
    pub fn run_all(&self, streams: Vec<Stream>) -> Repetition {
        self.phase(streams.into_iter().map(|s| (1, s)).collect())
    }

    fn phase(&self, streams: Vec<(u32, Stream)>) -> Repetition {
        let workload = self.workload(streams);
        let mut engine = self.engine.borrow_mut();
        engine.check(&workload).unwrap();
        engine.execute(&workload, 0, 0, &mut ()).unwrap()
    }

    fn workload(&self, streams: Vec<(u32, Stream)>) -> Workload {
        let count: u32 = streams.iter().map(|s| s.0).sum();
        let group = |(i, (instances, stream)): (usize, (u32, Stream))| Group {
            name: format!("g{i}"),
            instances,
            isolation: self.isolation,
            nice: 0,
            pinning: Pinning::Free,
            times: self.times,
            threads: vec![Thread {
                io_priority: None,
                io_class: None,
                io_hint: 0,
                name: String::new(),
                instances: 1,
                memory: Bytes(0),
                locked_memory: self.locked,
                run_as: fathom_workload::RunAs::default(),
                program: Program::Stream(Box::new(stream)),
            }],
        };
        let phase = Phase {
            name: "test".into(),
            stop: self.stop.clone(),
            interval: self.interval,
            ramp: self.ramp,
            stagger: self.stagger,
            groups: streams.into_iter().enumerate().map(group).collect(),
            ..Phase::default()
        };
        Workload {
            name: "test".into(),
            repetitions: 1,
            filesets: vec![FileSet {
                trust_sizes: false,
                leave_dirty: false,
                prepare_record: FileSet::PREPARE_RECORD,
                make_directories: false,
                may_modify: false,
                name: "f".into(),
                files: Files::Numbered { prefix: self.files.join("file."), count },
                size: Sizing::Fixed(Bytes(self.size)),
                existing: self.existing,
                keep: false,
                mode: 0o600,
                data: Data::Unique,
                preallocated_percent: 100,
                share: Share::ReadWrite,
            }],
            phases: vec![phase],
            ..Workload::default()
        }
    }
}

/// The single worker of a repetition.
pub fn only(repetition: &Repetition) -> &Worker {
    assert_eq!(repetition.workers.len(), 1);
    &repetition.workers[0]
}

/// Operations of a kind, of all workers.
pub fn ops(repetition: &Repetition, kind: OpKind) -> u64 {
    repetition.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == kind).map(|s| s.ops).sum()
}

/// Asserts that all workers completed.
pub fn completed(repetition: &Repetition) {
    for worker in &repetition.workers {
        assert_eq!(worker.ending, Ending::Completed);
    }
}
