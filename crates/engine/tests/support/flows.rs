//! The bench for flows: a directory, file sets of numbered files, and one phase whose threads are built operation by operation.

use fathom_engine::{Engine, Ledger, Moments};
use fathom_record::{Repetition, Row};
use fathom_testkit::TestDir;
use fathom_workload::{
    Act, Action, Bytes, Data, Duration, Existing, FileSet, Files, Flow, FlowOp, Group, Isolation, Offsets,
    Phase, Pinning, Program, RandomVariable, Share, Sizing, Stop, Thread, Tree, Value, Workload,
};
use std::cell::RefCell;
use std::path::PathBuf;

/// An operation.
#[derive(Clone)]
pub struct Op(pub FlowOp);

pub fn op(name: &str, act: Act) -> Op {
    Op(FlowOp::new(name, act))
}

impl Op {
    pub fn set(mut self, name: &str) -> Self {
        self.0.fileset = Some(name.into());
        self
    }

    pub fn size(mut self, bytes: u64) -> Self {
        self.0.size = Value::Bytes(Bytes(bytes));
        self
    }

    pub fn value(mut self, value: u64) -> Self {
        self.0.value = Value::Bytes(Bytes(value));
        self
    }

    pub fn target(mut self, name: &str) -> Self {
        self.0.target = Some(name.into());
        self
    }

    pub fn slot(mut self, slot: u32) -> Self {
        self.0.slot = Some(slot);
        self
    }

    pub fn random(mut self) -> Self {
        self.0.random = true;
        self
    }

    pub fn repeat(mut self, times: u32) -> Self {
        self.0.repeat = Value::Number(times);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut FlowOp)) -> Self {
        change(&mut self.0);
        self
    }
}

/// Operations in order.
pub fn flow(ops: Vec<Op>) -> Flow {
    Flow { ops: ops.into_iter().map(|o| o.0).collect(), ..Flow::default() }
}

pub fn looped(loops: u64, ops: Vec<Op>) -> Flow {
    Flow { loops: Some(loops), ..flow(ops) }
}

pub struct Flows {
    pub dir: TestDir,
    engine: RefCell<Engine>,
    pub workload: Workload,
}

impl Flows {
    pub fn new() -> Self {
        let dir = TestDir::new();
        let engine = RefCell::new(Engine::new(Ledger::new(&dir.path().join("state"))));
        let phase = Phase { name: "test".into(), ..Phase::default() };
        let workload =
            Workload { name: "test".into(), repetitions: 1, phases: vec![phase], ..Workload::default() };
        Self { dir, engine, workload }
    }

    /// A file set, laid out.
    pub fn files(mut self, name: &str, count: u32, bytes: u64) -> Self {
        self.workload.filesets.push(FileSet {
            trust_sizes: false,
            leave_dirty: false,
            prepare_record: FileSet::PREPARE_RECORD,
            make_directories: false,
            may_modify: false,
            name: name.into(),
            files: Files::Numbered { prefix: self.dir.path().join(format!("{name}.")), count },
            size: Sizing::Fixed(Bytes(bytes)),
            existing: Existing::Replace,
            keep: false,
            mode: 0o600,
            data: Data::Unique,
            preallocated_percent: 100,
            share: Share::ReadWrite,
        });
        self.engine.borrow_mut().act(&self.workload, &Action::Prepare(name.into())).unwrap();
        self
    }

    pub fn variable(mut self, name: &str, variable: RandomVariable) -> Self {
        self.workload.variables.insert(name.into(), variable);
        self
    }

    /// A process with a thread.
    pub fn process(self, name: &str, flow: Flow) -> Self {
        self.group(name, 1, Isolation::Process, vec![(1, 0, flow)])
    }

    /// A thread of our own.
    pub fn thread(self, flow: Flow) -> Self {
        self.group("g", 1, Isolation::Thread, vec![(1, 0, flow)])
    }

    /// A group whose threads have instances, memory and a flow each.
    pub fn group(
        mut self,
        name: &str,
        instances: u32,
        isolation: Isolation,
        threads: Vec<(u32, u64, Flow)>,
    ) -> Self {
        let thread = |(i, (instances, memory, flow)): (usize, (u32, u64, Flow))| Thread {
            io_priority: None,
            io_class: None,
            io_hint: 0,
            name: format!("{name}{i}"),
            instances,
            memory: Bytes(memory),
            locked_memory: Bytes(0),
            run_as: fathom_workload::RunAs::default(),
            program: Program::Flow(flow),
        };
        self.workload.phases[0].groups.push(Group {
            name: name.into(),
            instances,
            isolation,
            nice: 0,
            pinning: Pinning::Free,
            times: fathom_workload::Times::default(),
            threads: threads.into_iter().enumerate().map(thread).collect(),
        });
        self
    }

    /// Filebench's own offsets in every flow.
    pub fn exact(mut self) -> Self {
        for thread in self.workload.phases[0].groups.iter_mut().flat_map(|g| &mut g.threads) {
            if let Program::Flow(flow) = &mut thread.program {
                flow.offsets = Offsets::Mt19937(4357);
            }
        }
        self
    }

    pub fn phase(mut self, change: impl FnOnce(&mut Phase)) -> Self {
        change(&mut self.workload.phases[0]);
        self
    }

    /// Stops after `ms` milliseconds.
    pub fn ms(self, ms: u64) -> Self {
        self.phase(|p| p.stop = Stop { time: Some(Duration(ms * 1_000_000)), ..p.stop.clone() })
    }

    pub fn run(&self) -> Repetition {
        self.run_telling(&mut ())
    }

    pub fn run_telling(&self, moments: &mut dyn Moments) -> Repetition {
        let mut engine = self.engine.borrow_mut();
        engine.check(&self.workload).unwrap();
        engine.execute(&self.workload, 0, 0, moments).unwrap()
    }

    /// The message with which the engine refuses to run this.
    pub fn refused(&self) -> String {
        self.engine.borrow().check(&self.workload).unwrap_err().to_string()
    }

    pub fn path(&self, set: &str, number: u32) -> PathBuf {
        self.dir.path().join(format!("{set}.{number}"))
    }
}

/// The rows of all workers, by name.
pub fn row(repetition: &Repetition, name: &str) -> Row {
    let rows = Row::merged(repetition.workers.iter().flat_map(|w| &w.rows));
    rows.into_iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no row {name}"))
}

/// Operations and bytes of a row.
pub fn counts(repetition: &Repetition, name: &str) -> (u64, u64) {
    let row = row(repetition, name);
    assert_eq!(row.ops, row.latency.count(), "{name}");
    (row.ops, row.bytes)
}

impl Flows {
    /// The message for an unsupported workload, if it is one.
    pub fn unsupported(&self) -> Option<String> {
        self.engine.borrow().check(&self.workload).err().map(|e| e.to_string())
    }
}

impl Flows {
    /// A laid-out tree of `files` files, of which a share exists.
    pub fn tree(self, name: &str, files: u64, bytes: u64, percent: u8) -> Self {
        self.tree_of(name, (files, 0), bytes, percent)
    }

    /// The same for leaf directories.
    pub fn leaves(self, name: &str, directories: u64, percent: u8) -> Self {
        self.tree_of(name, (0, directories), 0, percent)
    }

    fn tree_of(
        mut self,
        name: &str,
        (entries, leaf_directories): (u64, u64),
        bytes: u64,
        percent: u8,
    ) -> Self {
        self.workload.filesets.push(FileSet {
            trust_sizes: false,
            leave_dirty: false,
            prepare_record: FileSet::PREPARE_RECORD,
            make_directories: false,
            may_modify: false,
            name: name.into(),
            files: Files::Tree(Tree {
                root: self.root(name),
                entries,
                leaf_directories,
                width: Sizing::Fixed(Bytes(4)),
                gamma_thousandths: 0,
                depth: None,
            }),
            size: Sizing::Fixed(Bytes(bytes)),
            existing: Existing::Refuse,
            keep: false,
            mode: 0o600,
            data: Data::Unique,
            preallocated_percent: percent,
            share: Share::ReadWrite,
        });
        self.engine.borrow_mut().act(&self.workload, &Action::Prepare(name.into())).unwrap();
        self
    }

    /// Top of a tree.
    pub fn root(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Removes our files; returns those that remain.
    pub fn clean_up(&self) -> Vec<PathBuf> {
        self.engine.borrow_mut().clean_up()
    }
}

/// Files and empty directories below a directory.
pub fn below(root: &std::path::Path) -> (usize, usize) {
    let (mut files, mut empty) = (0, 0);
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        let mut any = false;
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            any = true;
            if entry.path().is_dir() { left.push(entry.path()) } else { files += 1 }
        }
        empty += usize::from(!any);
    }
    (files, empty)
}

impl Flows {
    pub fn try_run(&self) -> Result<Repetition, fathom_engine::EngineError> {
        self.engine.borrow_mut().execute(&self.workload, 0, 0, &mut ())
    }
}

impl Flows {
    /// Result of the check of the phase's O_DIRECT.
    pub fn check_direct(&self) -> Result<(), fathom_engine::EngineError> {
        self.engine.borrow().check_direct(&self.workload, &self.workload.phases[0])
    }
}
