//! The survey's workload as it grows: file sets that exist from the start, and phases that the parts add. Every cold
//! phase uses pages evicted just before, every direct phase a fully written file, and every buffered write ends with an
//! fsync.

use super::KIB;
use super::effort::Effort;
use super::place::{Async, SurveyPlace, SurveySubject};
use fathom_workload::{
    Action, Axes, Backend, Bytes, CacheState, Data, Duration, Existing, FileSet, Files, Group, Isolation,
    Open, Phase, Pick, Pinning, Program, Seed, Share, Sizing, Stop, Stream, Thread, Times, Tree, Uring,
    Workload,
};
use std::collections::BTreeMap;

/// Size of an operation in most parts.
pub const BLOCK: Bytes = Bytes(4 * KIB);

/// Workers that write and sync at once in the parts with several.
pub const COMMITTERS: u32 = 8;

/// Tag of a part, and its explanation in a sentence.
#[derive(Clone, Copy)]
pub struct SurveyStage(pub &'static str, pub &'static str);

/// Names of the file sets.
pub mod sets {
    /// One file that is read: cold, or with O_DIRECT.
    pub const READ: &str = "read";
    /// One file that stays in memory.
    pub const CACHED: &str = "cached";
    /// One file that is overwritten.
    pub const WRITTEN: &str = "written";
    /// One file created for each cell of a surface.
    pub const CELL: &str = "cell";
    /// One file for each concurrent committer.
    pub const COMMITTED: &str = "committed";
    /// One file for each stream.
    pub const STREAMS: &str = "streams";
    /// One newly created file for each stream.
    pub const STREAMS_NEW: &str = "streams-new";
    /// A tree of small files.
    pub const SMALL: &str = "small";
    /// One large file that is overwritten cyclically.
    pub const SUSTAINED: &str = "sustained";
}

/// The workload, and the place and effort it is made for.
pub struct SurveyPlan<'a> {
    pub place: &'a SurveyPlace,
    pub effort: Effort,
    pub workload: Workload,
}

/// A phase to add.
pub struct Step<'s> {
    pub stage: SurveyStage,
    pub name: &'s str,
    pub file: Option<u64>,
    pub record: Option<u64>,
    pub streams: Option<u32>,
    /// Further coordinates.
    pub tags: Vec<(&'s str, String)>,
    pub before: Vec<Action>,
    pub cold: bool,
    pub time: Duration,
    pub program: Program,
}

impl<'s> Step<'s> {
    /// A phase of one stream that lasts at most `time`.
    pub fn new(stage: SurveyStage, name: &'s str, stream: Stream, time: Duration) -> Self {
        let before = Vec::new();
        let program = Program::Stream(Box::new(stream));
        Self {
            stage,
            name,
            file: None,
            record: None,
            streams: None,
            tags: Vec::new(),
            before,
            cold: false,
            time,
            program,
        }
    }

    pub fn sizes(mut self, file: u64, record: u64) -> Self {
        self.file = Some(file);
        self.record = Some(record);
        self
    }

    pub fn before(mut self, before: Vec<Action>) -> Self {
        self.before = before;
        self
    }

    pub fn cold(mut self) -> Self {
        self.cold = true;
        self
    }

    pub fn streams(mut self, streams: u32) -> Self {
        self.streams = Some(streams);
        self
    }

    pub fn tag(mut self, key: &'s str, value: impl Into<String>) -> Self {
        self.tags.push((key, value.into()));
        self
    }
}

impl<'a> SurveyPlan<'a> {
    /// Without phases.
    pub fn new(place: &'a SurveyPlace, effort: Effort, seed: u64) -> Self {
        let note = format!(
            "What storage is this: latency, queue depth, streams, mixes, small files, a surface, a long write. {}",
            place.sized_by
        );
        let workload = Workload {
            name: "survey".into(),
            note,
            seed: Seed(seed),
            repetitions: effort.rounds,
            filesets: filesets(place, effort),
            ..Workload::default()
        };
        Self { place, effort, workload }
    }

    /// Adds a phase and returns its index.
    pub fn push(&mut self, step: Step<'_>) -> usize {
        let Step { stage, name, file, record, streams, tags, before, cold, time, program } = step;
        let mut all = BTreeMap::from([
            ("stage".to_string(), stage.0.to_string()),
            ("stage_note".into(), stage.1.into()),
        ]);
        all.extend(tags.into_iter().map(|(k, v)| (k.to_string(), v)));
        let thread = Thread {
            io_priority: None,
            io_class: None,
            io_hint: 0,
            name: String::new(),
            instances: 1,
            memory: Bytes(0),
            locked_memory: Bytes(0),
            run_as: fathom_workload::RunAs::default(),
            program,
        };
        self.workload.phases.push(Phase {
            name: name.into(),
            axes: Axes { file: file.map(Bytes), record: record.map(Bytes), streams, tags: all },
            before,
            cache: if cold { CacheState::Cold } else { CacheState::AsFound },
            stop: Stop { time: Some(time), ..Stop::default() },
            interval: Duration(time.0 / 20).max(Duration(10_000_000)),
            groups: vec![Group {
                name: name.into(),
                instances: streams.unwrap_or(1),
                isolation: Isolation::Process,
                nice: 0,
                pinning: Pinning::Free,
                times: Times::default(),
                threads: vec![thread],
            }],
            ..Phase::default()
        });
        self.workload.phases.len() - 1
    }

    /// Writes the set's files if missing; a device is left as it is.
    pub fn prepare(&self, set: &str) -> Vec<Action> {
        match self.place.subject {
            SurveySubject::Directory { .. } => vec![Action::Prepare(set.into())],
            SurveySubject::Device { .. } => Vec::new(),
        }
    }

    /// With O_DIRECT where supported.
    pub fn open_direct(&self) -> Open {
        Open { direct: self.place.direct, ..Open::default() }
    }

    /// Whether anything may be written.
    pub fn writes(&self) -> bool {
        matches!(self.place.subject, SurveySubject::Directory { .. })
    }

    pub fn set(&self, name: &str) -> Option<&FileSet> {
        self.workload.filesets.iter().find(|set| set.name == name)
    }

    /// Maximum number of that each of N random writers may write in a phase.
    pub fn few_writes(&self, writers: u32) -> Bytes {
        Bytes(self.effort.most_written / 64 / u64::from(writers))
    }

    /// The asynchronous back-end, if there is one.
    pub fn several_in_flight(&self) -> Option<Backend> {
        match self.place.several? {
            Async::Uring => Some(Backend::Uring(Uring::default())),
            Async::Aio => Some(Backend::Aio { batch: 0, atomic: false }),
        }
    }

    /// The stream with one file of its set per worker.
    pub fn by_worker(stream: Stream) -> Stream {
        Stream { pick: Pick::ByWorker, ..stream }
    }
}

fn filesets(place: &SurveyPlace, effort: Effort) -> Vec<FileSet> {
    let base = FileSet {
        name: String::new(),
        files: Files::List(Vec::new()),
        size: Sizing::Fixed(Bytes(place.largest)),
        existing: Existing::Refuse,
        may_modify: false,
        keep: false,
        mode: 0o600,
        data: Data::Unique,
        preallocated_percent: 100,
        share: Share::ReadWrite,
        trust_sizes: false,
        leave_dirty: false,
        prepare_record: FileSet::PREPARE_RECORD,
        make_directories: false,
    };
    let own = match &place.subject {
        SurveySubject::Device { path, bytes } => {
            let files = || Files::List(vec![path.clone()]);
            let of = |name: &str, size: u64| FileSet {
                name: name.into(),
                files: files(),
                size: Sizing::Fixed(Bytes(size)),
                existing: Existing::Reuse,
                share: Share::ReadOnly,
                trust_sizes: true,
                keep: true,
                ..base.clone()
            };
            return vec![of(sets::READ, *bytes), of(sets::CACHED, place.largest), of(sets::STREAMS, *bytes)];
        }
        SurveySubject::Directory { own } => own,
    };
    let set = |name: &str, count: u32, size: u64, existing: Existing| FileSet {
        name: name.into(),
        files: Files::Numbered { prefix: own.join(format!("{name}.")), count },
        size: Sizing::Fixed(Bytes(size)),
        existing,
        ..base.clone()
    };
    let (streams, each) = (effort.most_streams, place.each_stream(effort.most_streams));
    let mut all = vec![
        set(sets::READ, 1, place.largest, Existing::Reuse),
        set(sets::CACHED, 1, place.cached(), Existing::Reuse),
        set(sets::WRITTEN, 1, place.written(), Existing::Reuse),
        set(sets::COMMITTED, COMMITTERS, place.committed(), Existing::Reuse),
        set(sets::CELL, 1, place.made_anew(), Existing::Refuse),
        set(sets::STREAMS, streams, each, Existing::Reuse),
        set(sets::STREAMS_NEW, streams, each, Existing::Refuse),
        set(sets::SUSTAINED, 1, place.sustained, Existing::Reuse),
    ];
    all.push(FileSet {
        name: sets::SMALL.into(),
        files: Files::Tree(Tree {
            // ext4 chooses the tree's block group by its name (see `spread_inodes`).
            root: own.join(format!("tree-{}", std::process::id())),
            entries: place.small_files,
            leaf_directories: 0,
            width: Sizing::Fixed(Bytes(100)),
            gamma_thousandths: 0,
            depth: None,
        }),
        size: Sizing::Fixed(BLOCK),
        // Half exist at first, the rest are slots for created ones.
        preallocated_percent: 50,
        existing: Existing::Refuse,
        ..base
    });
    all
}
