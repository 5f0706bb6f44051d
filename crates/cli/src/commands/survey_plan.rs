//! What a survey does, as a workload: a latency ladder, a surface of file size by record size, and scaling over streams. Every
//! cold phase works on pages that were evicted just before, every direct phase on a file that was written in full, and every
//! buffered write has its fsync inside the clock.

use fathom_workload::{
    Access, Action, Amount, Axes, Bytes, CacheState, Data, Direction, Duration, Existing, FileSet, Files,
    Group, Isolation, Open, OpenSync, Phase, Pick, Pinning, Program, Seed, Share, Sizing, Stop, Stream,
    SyncEvery, Thread, Timed, Workload,
};
use std::collections::BTreeMap;
use std::path::Path;

/// What the survey may use.
pub struct Scope<'a> {
    /// Its own directory.
    pub directory: &'a Path,
    /// Largest file.
    pub largest_bytes: u64,
    pub quick: bool,
    /// Whether the file system takes O_DIRECT.
    pub direct: bool,
    pub seed: u64,
    pub cpus: u32,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Longest time of one phase: slow storage gives fewer operations, not a longer survey.
const CAP: Duration = Duration(700_000_000);
/// Length of phases that work on cached data and could go on for ever.
const CACHED: Duration = Duration(40_000_000);

/// The survey as a workload.
pub fn workload(scope: &Scope) -> Workload {
    let mut plan = Plan { scope, sets: Vec::new(), phases: Vec::new() };
    plan.ladder();
    plan.surface();
    plan.scaling();
    Workload {
        name: "survey".into(),
        note: "latency ladder, surface of file size by record size, scaling over streams".into(),
        seed: Seed(scope.seed),
        repetitions: if scope.quick { 1 } else { 3 },
        variables: BTreeMap::new(),
        filesets: plan.sets,
        phases: plan.phases,
    }
}

struct Plan<'a> {
    scope: &'a Scope<'a>,
    sets: Vec<FileSet>,
    phases: Vec<Phase>,
}

/// A stage of the survey: tag and the sentence that explains it in the page.
struct Stage(&'static str, &'static str);

const LATENCY: Stage = Stage(
    "latency",
    "4 KiB at a time, one operation in flight, random places in one file: from memory to the device and to durable.",
);
const SURFACE: Stage = Stage(
    "surface",
    "One stream, sequential, over file sizes and record sizes. Writes include the fsync; cold reads start with evicted pages.",
);
const SCALING: Stage =
    Stage("scaling", "The same work by one, two and more streams at once, each on a file of its own.");

impl Plan<'_> {
    /// A file set of `count` files; `reuse` sets are laid out once and read by several phases.
    fn set(&mut self, name: &str, count: u32, size: u64, reuse: bool) -> String {
        if !self.sets.iter().any(|s| s.name == name) {
            self.sets.push(FileSet {
                trust_sizes: false,
                leave_dirty: false,
                prepare_record: FileSet::PREPARE_RECORD,
                make_directories: false,
                foreign_writable: false,
                name: name.into(),
                files: Files::Numbered { prefix: self.scope.directory.join(format!("{name}.")), count },
                size: Sizing::Fixed(Bytes(size)),
                existing: if reuse { Existing::Reuse } else { Existing::Refuse },
                keep: false,
                mode: 0o600,
                data: Data::Unique,
                preallocated_percent: 100,
                share: Share::ReadWrite,
            });
        }
        name.into()
    }

    /// The phase pushed last begins with nothing of its files in the page cache.
    fn cold(&mut self) {
        if let Some(phase) = self.phases.last_mut() {
            phase.cache = CacheState::Cold;
        }
    }

    fn push(
        &mut self,
        stage: &Stage,
        name: &str,
        axes: Axes,
        before: Vec<Action>,
        stream: Stream,
        time: Duration,
    ) {
        let mut axes = axes;
        axes.tags.insert("stage".into(), stage.0.into());
        axes.tags.insert("stage_note".into(), stage.1.into());
        let workers = axes.streams.unwrap_or(1);
        let thread = Thread {
            io_priority: None,
            name: String::new(),
            instances: 1,
            memory: Bytes(0),
            program: Program::Stream(Box::new(stream)),
        };
        self.phases.push(Phase {
            name: name.into(),
            axes,
            before,
            stop: Stop { time: Some(time), ..Stop::default() },
            interval: Duration(if time >= CAP { 50_000_000 } else { 0 }),
            groups: vec![Group {
                name: name.into(),
                instances: workers,
                isolation: Isolation::Process,
                nice: 0,
                pinning: Pinning::Free,
                times: fathom_workload::Times::default(),
                threads: vec![thread],
            }],
            ..Phase::default()
        });
    }

    fn ladder(&mut self) {
        let size = self.scope.largest_bytes;
        let set = self.set("ladder", 1, size, true);
        let axes = || Axes {
            file: Some(Bytes(size)),
            record: Some(Bytes(4 * KIB)),
            streams: None,
            tags: BTreeMap::new(),
        };
        let random = |direction| Stream {
            access: Access::Permuted,
            amount: Amount::Endless,
            ..Stream::new(&set, direction, Bytes(4 * KIB))
        };
        let prepare = || Action::Prepare(set.clone());
        let warm = vec![prepare(), Action::Warm(set.clone())];
        self.push(
            &LATENCY,
            "cached random read",
            axes(),
            warm,
            random(Direction::Read),
            Duration(200_000_000),
        );
        let written = || vec![prepare()];
        // One pass at most: the second would find in the cache what the first has read.
        let once = Stream { amount: Amount::Pass, ..random(Direction::Read) };
        self.push(&LATENCY, "cold random read", axes(), written(), once, CAP);
        self.cold();
        let direct = Open { direct: true, ..Open::default() };
        if self.scope.direct {
            let stream = Stream { open: direct, ..random(Direction::Read) };
            self.push(&LATENCY, "direct random read", axes(), written(), stream, CAP);
            self.cold();
        }
        let buffered = Stream { sync_after: true, ..random(Direction::Write) };
        self.push(
            &LATENCY,
            "buffered random write",
            axes(),
            vec![prepare()],
            buffered,
            Duration(100_000_000),
        );
        if self.scope.direct {
            let stream = Stream { open: direct, sync_after: true, ..random(Direction::Write) };
            self.push(&LATENCY, "direct random write", axes(), vec![prepare()], stream, CAP);
        }
        let dsync =
            Stream { open: Open { sync: OpenSync::Dsync, ..Open::default() }, ..random(Direction::Write) };
        self.push(&LATENCY, "O_DSYNC random write", axes(), vec![prepare()], dsync, CAP);
        let fsync = Stream {
            sync_every: Some(SyncEvery { writes: 1, ..SyncEvery::default() }),
            ..random(Direction::Write)
        };
        self.push(&LATENCY, "write and fsync", axes(), vec![prepare()], fsync, CAP);
    }

    fn surface(&mut self) {
        let step = if self.scope.quick { 16 } else { 4 };
        let mut sizes = vec![64 * KIB];
        while sizes[sizes.len() - 1] * step < self.scope.largest_bytes {
            sizes.push(sizes[sizes.len() - 1] * step);
        }
        sizes.push(self.scope.largest_bytes);
        let records = if self.scope.quick {
            vec![4 * KIB, 64 * KIB, MIB]
        } else {
            vec![4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB]
        };
        for size in sizes {
            for &record in records.iter().filter(|&&r| r <= size) {
                self.cell(size, record);
            }
        }
    }

    fn cell(&mut self, size: u64, record: u64) {
        let axes = || Axes {
            file: Some(Bytes(size)),
            record: Some(Bytes(record)),
            streams: None,
            tags: BTreeMap::new(),
        };
        let write = self.set(&format!("write-{}k", size / KIB), 1, size, false);
        let stream = Stream {
            timed: Timed { fsync: true, ..Timed::default() },
            ..Stream::new(&write, Direction::Write, Bytes(record))
        };
        self.push(&SURFACE, "write to fsync", axes(), vec![Action::Recreate(write)], stream, CAP);
        let read = if size == self.scope.largest_bytes {
            self.set("ladder", 1, size, true)
        } else {
            self.set(&format!("read-{}k", size / KIB), 1, size, true)
        };
        let prepare = || Action::Prepare(read.clone());
        let stream = || Stream::new(&read, Direction::Read, Bytes(record));
        self.push(&SURFACE, "cold read", axes(), vec![prepare()], stream(), CAP);
        self.cold();
        let cached = Stream { amount: Amount::Endless, ..stream() };
        self.push(
            &SURFACE,
            "cached read",
            axes(),
            vec![prepare(), Action::Warm(read.clone())],
            cached,
            CACHED,
        );
    }

    fn scaling(&mut self) {
        let size = (self.scope.largest_bytes / 4).max(64 * KIB);
        let most = (self.scope.cpus * 2).clamp(2, 8);
        let mut counts = vec![1];
        while counts[counts.len() - 1] * 2 <= most {
            counts.push(counts[counts.len() - 1] * 2);
        }
        let written = self.set("streams-write", most, size, false);
        let read = self.set("streams-read", most, size, true);
        for streams in counts {
            let axes = |record: u64| Axes {
                file: Some(Bytes(size)),
                record: Some(Bytes(record)),
                streams: Some(streams),
                tags: BTreeMap::new(),
            };
            let record = MIB.min(size);
            let write = Stream {
                pick: Pick::ByWorker,
                timed: Timed { fsync: true, ..Timed::default() },
                ..Stream::new(&written, Direction::Write, Bytes(record))
            };
            self.push(
                &SCALING,
                "parallel writers",
                axes(record),
                vec![Action::Recreate(written.clone())],
                write,
                CAP,
            );
            let random = Stream {
                access: Access::Permuted,
                amount: Amount::Endless,
                open: Open { direct: self.scope.direct, ..Open::default() },
                ..Stream::new(&read, Direction::Read, Bytes(4 * KIB))
            };
            let name = if self.scope.direct { "parallel direct reads" } else { "parallel cold reads" };
            let before = vec![Action::Prepare(read.clone())];
            self.push(&SCALING, name, axes(4 * KIB), before, random, Duration(CAP.0 / 2));
            self.cold();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(quick: bool, direct: bool) -> Scope<'static> {
        Scope { directory: Path::new("/d"), largest_bytes: 256 * MIB, quick, direct, seed: 1, cpus: 2 }
    }

    #[test]
    fn every_survey_is_a_workload_that_makes_sense() {
        for quick in [false, true] {
            for direct in [false, true] {
                let w = workload(&scope(quick, direct));
                assert_eq!(w.check(), Ok(()));
                assert_eq!(Workload::from_toml(&w.to_toml().unwrap()).unwrap(), w);
            }
        }
    }

    #[test]
    fn without_o_direct_no_phase_asks_for_it() {
        let text = workload(&scope(false, false)).to_toml().unwrap();
        assert!(!text.contains("direct = true"));
    }

    #[test]
    fn a_tiny_directory_still_gives_a_survey() {
        let w = workload(&Scope { largest_bytes: 64 * KIB, ..scope(true, true) });
        assert_eq!(w.check(), Ok(()));
    }
}
