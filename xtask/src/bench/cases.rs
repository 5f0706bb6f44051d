//! The cases of `bench engine`: for each kind of work, who does it by which words, on which file, and which bounds the specification
//! sets. This is a table; nothing runs here.

use super::claims::{Bound, Claim, Measure};
use super::files::Kind;
use super::floor::{self, Loop};
use super::peers::{fathom, fio};

/// A column of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    Floor,
    Fathom,
    /// fathom told to do the work in another way, which the case's own label names.
    Variant,
    Fio,
    FioTuned,
    FioHead,
    FioHeadTuned,
    Sysbench,
    Filebench,
    TIoUring,
    TIoUringTimed,
    Iozone,
}

impl Column {
    pub const ALL: [Self; 12] = [
        Self::Floor,
        Self::Fathom,
        Self::Variant,
        Self::Fio,
        Self::FioTuned,
        Self::FioHead,
        Self::FioHeadTuned,
        Self::Sysbench,
        Self::Filebench,
        Self::TIoUring,
        Self::TIoUringTimed,
        Self::Iozone,
    ];

    /// Its name in full.
    pub fn label(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Fathom => "fathom",
            Self::Variant => "fathom, variant",
            Self::Fio => "fio",
            Self::FioTuned => "fio tuned",
            Self::FioHead => "fio head",
            Self::FioHeadTuned => "fio head tuned",
            Self::Sysbench => "sysbench",
            Self::Filebench => "filebench",
            Self::TIoUring => "t/io_uring",
            Self::TIoUringTimed => "t/io_uring -t1",
            Self::Iozone => "IOzone",
        }
    }

    /// Its name at the head of a narrow column.
    pub fn short(self) -> &'static str {
        match self {
            Self::Variant => "variant",
            Self::FioTuned => "fio.tun",
            Self::FioHead => "fiohead",
            Self::FioHeadTuned => "head.tun",
            Self::Filebench => "filebnch",
            Self::TIoUring => "t/uring",
            Self::TIoUringTimed => "t/ur.-t1",
            other => other.label(),
        }
    }

    /// The same job by fio's newest version.
    pub fn head(self) -> Option<Self> {
        match self {
            Self::Fio => Some(Self::FioHead),
            Self::FioTuned => Some(Self::FioHeadTuned),
            _ => None,
        }
    }
}

/// How a contender does it.
#[derive(Clone, Copy)]
pub enum Tool {
    Floor(Loop, usize),
    Fathom(fathom::Job),
    FathomStart {
        threads: usize,
        stored: bool,
    },
    /// Options, and number of jobs. Applies to both versions of fio.
    Fio(&'static [&'static str], usize),
    FioStart {
        jobs: usize,
    },
    Sysbench(&'static str),
    Filebench(&'static str),
    TIoUring(&'static str),
    IozoneReread,
}

/// A contender of a case.
#[derive(Clone, Copy)]
pub struct Entry {
    pub column: Column,
    /// What the column means here, where its own name does not say it.
    pub label: Option<&'static str>,
    pub tool: Tool,
}

/// What happens to the file before each measurement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// All of it is put into the page cache and locked there.
    Warm,
    /// Dirty pages are written back; the file stays in the page cache.
    Settled,
    /// It is thrown out of the page cache.
    Cold,
    Untouched,
}

/// One kind of work.
pub struct Case {
    pub name: &'static str,
    pub file: Kind,
    pub cache: Cache,
    pub unit: Unit,
    pub entries: Vec<Entry>,
    pub bounds: Vec<Bound>,
}

/// What the figures of a case are per.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds per operation.
    Operation,
    /// Milliseconds per run of the program.
    Run,
}

fn entry(column: Column, tool: Tool) -> Entry {
    Entry { column, label: None, tool }
}

fn labelled(column: Column, label: &'static str, tool: Tool) -> Entry {
    Entry { column, label: Some(label), tool }
}

fn floor(work: Loop) -> Entry {
    entry(Column::Floor, Tool::Floor(work, 1))
}

fn job(stream: &'static str) -> Tool {
    Tool::Fathom(fathom::Job { stream, phase: "", threads: 1, writes: false })
}

fn writing(stream: &'static str) -> Tool {
    Tool::Fathom(fathom::Job { stream, phase: "", threads: 1, writes: true })
}

fn threads(stream: &'static str, threads: usize) -> Tool {
    Tool::Fathom(fathom::Job { stream, phase: "", threads, writes: false })
}

fn ours(stream: &'static str) -> Entry {
    entry(Column::Fathom, job(stream))
}

fn by_fio(options: &'static [&'static str]) -> Entry {
    entry(Column::Fio, Tool::Fio(options, 1))
}

fn tuned(options: &'static [&'static str]) -> Entry {
    entry(Column::FioTuned, Tool::Fio(options, 1))
}

fn case(name: &'static str, file: Kind, cache: Cache, entries: Vec<Entry>, bounds: Vec<Bound>) -> Case {
    Case { name, file, cache, unit: Unit::Operation, entries, bounds }
}

fn times(against: Column, bound: f64) -> Bound {
    Bound::of(Column::Fathom, Measure::Wall, Claim::Times { against, bound })
}

fn times_cpu(against: Column, bound: f64) -> Bound {
    Bound::of(Column::Fathom, Measure::Cpu, Claim::Times { against, bound })
}

fn wall(claim: Claim) -> Bound {
    Bound::of(Column::Fathom, Measure::Wall, claim)
}

const NULL: &str =
    "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\nbackend = \"null\"";
const PREAD: &str = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\nbackend = { psync = \"pread\" }";
const FIO_NULL: &str = "--ioengine=null --rw=randread --bs=4k --norandommap";
const FIO_RANDOM: &str = "--rw=randread --bs=4k --norandommap --invalidate=0";

/// All of them, in the order in which they run.
pub fn all() -> Vec<Case> {
    let mut cases = null();
    cases.extend(cached());
    cases.extend(rings());
    cases.extend(devices());
    cases.extend(large());
    cases.extend(scaling());
    cases.extend(lives());
    cases
}

/// The generator alone, and what one more feature adds to it.
fn null() -> Vec<Case> {
    vec![
        case(
            "null",
            Kind::Data,
            Cache::Untouched,
            vec![floor(floor::sync::null), ours(NULL), by_fio(&[FIO_NULL])],
            vec![
                wall(Claim::AtMost(50.0)),
                wall(Claim::Adds { to: Column::Floor, at_most: 15.0 }),
                times(Column::Fio, 0.30),
                wall(Claim::Range { at_most: 0.03 }),
            ],
        ),
        case(
            "null, 32 in flight",
            Kind::Data,
            Cache::Untouched,
            vec![
                floor(floor::sync::null),
                ours(
                    "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\nbackend = \"null\"\n\
                     queue_depth = 32",
                ),
                by_fio(&[FIO_NULL, "--iodepth=32"]),
            ],
            vec![wall(Claim::AtMost(60.0)), times(Column::Fio, 0.20)],
        ),
        feature(
            "null, every record once",
            fathom::Job {
                stream: "direction = \"read\"\naccess = \"permuted\"\nrecord = { fixed = \"4KiB\" }\nbackend = \"null\"",
                phase: "",
                threads: 1,
                writes: false,
            },
            &["--ioengine=null --rw=randread --bs=4k"],
        ),
        feature(
            "null, rate never reached",
            fathom::Job {
                stream: "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\nbackend = \"null\"\n\
                         pace = { rate = { operations_per_s = 1e9 } }",
                phase: "",
                threads: 1,
                writes: false,
            },
            &[FIO_NULL, "--rate_iops=1000000000"],
        ),
        feature(
            "null, averaged series",
            fathom::Job { stream: NULL, phase: "interval = \"100ms\"", threads: 1, writes: false },
            &[FIO_NULL, "--write_lat_log=bench --write_iops_log=bench --log_avg_msec=100"],
        ),
    ]
}

/// A case that compares doing with leaving: the variant and fio's "tuned" column are those without the feature.
fn feature(name: &'static str, with: fathom::Job, fio_with: &'static [&'static str]) -> Case {
    case(
        name,
        Kind::Data,
        Cache::Untouched,
        vec![
            entry(Column::Fathom, Tool::Fathom(with)),
            labelled(Column::Variant, "fathom without", job(NULL)),
            by_fio(fio_with),
            labelled(Column::FioTuned, "fio without", Tool::Fio(&[FIO_NULL], 1)),
        ],
        vec![
            wall(Claim::Adds { to: Column::Variant, at_most: 15.0 }),
            wall(Claim::AddsLess { to: Column::Variant, than: Column::Fio, adds_to: Column::FioTuned }),
        ],
    )
}

/// Calls that answer at once, on the page cache.
fn cached() -> Vec<Case> {
    vec![
        case(
            "pread, cached, random",
            Kind::Data,
            Cache::Warm,
            vec![
                floor(floor::sync::pread),
                ours(PREAD),
                by_fio(&[FIO_RANDOM, "--ioengine=psync"]),
                entry(Column::Sysbench, Tool::Sysbench("--file-test-mode=rndrd")),
                entry(Column::Filebench, Tool::Filebench("read")),
            ],
            vec![
                times(Column::Floor, 1.05),
                times(Column::Fio, 0.85),
                times(Column::Sysbench, 0.85),
                times(Column::Filebench, 0.85),
            ],
        ),
        // What is left when the clock of a latency is taken off: the floor reads it twice an operation, too.
        case(
            "pread, cached, random, clocked floor",
            Kind::Data,
            Cache::Warm,
            vec![floor(floor::sync::pread_clocked), ours(PREAD)],
            vec![times(Column::Floor, 1.05)],
        ),
        case(
            "read, cached, sequential, clocked floor",
            Kind::Pass,
            Cache::Warm,
            vec![
                floor(floor::sync::sequential_read_clocked),
                ours("direction = \"read\"\nrecord = { fixed = \"4KiB\" }\nbackend = { psync = \"pread\" }"),
            ],
            vec![times(Column::Floor, 1.06)],
        ),
        case(
            "read, cached, sequential",
            Kind::Pass,
            Cache::Warm,
            vec![
                floor(floor::sync::sequential_read),
                ours("direction = \"read\"\nrecord = { fixed = \"4KiB\" }\nbackend = { psync = \"pread\" }"),
                labelled(
                    Column::Variant,
                    "fathom, read()",
                    job(
                        "direction = \"read\"\nrecord = { fixed = \"4KiB\" }\nbackend = { psync = \"read\" }",
                    ),
                ),
                by_fio(&["--rw=read --bs=4k --invalidate=0 --ioengine=psync"]),
                entry(Column::Iozone, Tool::IozoneReread),
            ],
            vec![times(Column::Floor, 1.06), times(Column::Fio, 0.80), times(Column::Iozone, 1.05)],
        ),
        case(
            "pwrite, cached, random",
            Kind::Scratch,
            Cache::Settled,
            vec![
                floor(floor::sync::pwrite),
                entry(
                    Column::Fathom,
                    writing(
                        "direction = \"write\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\ndata = { byte = 90 }",
                    ),
                ),
                labelled(
                    Column::Variant,
                    "fathom, unique data",
                    writing("direction = \"write\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }"),
                ),
                by_fio(&["--rw=randwrite --bs=4k --norandommap --invalidate=0 --ioengine=psync"]),
                labelled(
                    Column::FioTuned,
                    "fio, fixed data",
                    Tool::Fio(
                        &[
                            "--rw=randwrite --bs=4k --norandommap --invalidate=0 --ioengine=psync --scramble_buffers=0",
                        ],
                        1,
                    ),
                ),
                entry(
                    Column::Sysbench,
                    Tool::Sysbench("--file-test-mode=rndwr --file-fsync-freq=0 --file-fsync-end=off"),
                ),
                entry(Column::Filebench, Tool::Filebench("write")),
            ],
            vec![
                times(Column::Floor, 1.05),
                times(Column::FioTuned, 0.85),
                Bound::of(Column::Variant, Measure::Wall, Claim::Times { against: Column::Fio, bound: 0.85 }),
                times(Column::Sysbench, 0.85),
                times(Column::Filebench, 0.85),
            ],
        ),
        case(
            "mmap, cached, random",
            Kind::Data,
            Cache::Warm,
            vec![
                floor(floor::sync::mmap),
                ours(
                    "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\nbackend = { mmap = {} }",
                ),
                by_fio(&[FIO_RANDOM, "--ioengine=mmap"]),
            ],
            vec![times(Column::Floor, 1.07), times(Column::Fio, 0.80)],
        ),
    ]
}

const URING_32: &str = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                        backend = { uring = {} }\nqueue_depth = 32";
const URING_DIRECT_32: &str = "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                               backend = { uring = {} }\nqueue_depth = 32\nopen = { direct = true }";
const FIO_URING_32: &str = "--ioengine=io_uring --iodepth=32";

/// io_uring and libaio where no device has a part in it.
fn rings() -> Vec<Case> {
    vec![
        case(
            "io_uring, cached, 32 in flight",
            Kind::Data,
            Cache::Warm,
            vec![
                floor(floor::uring::cached_32),
                ours(URING_32),
                labelled(
                    Column::Variant,
                    "fathom, one per call",
                    job("direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                         backend = { uring = { batch = 1 } }\nqueue_depth = 32"),
                ),
                by_fio(&[FIO_RANDOM, FIO_URING_32]),
                tuned(&[FIO_RANDOM, FIO_URING_32, fio::TUNED]),
            ],
            vec![
                times(Column::Floor, 1.06),
                times(Column::Fio, 0.60),
                times(Column::FioTuned, 0.85),
                Bound::of(Column::Variant, Measure::Wall, Claim::Times { against: Column::Fio, bound: 0.80 }),
            ],
        ),
        // t/io_uring opens with O_NOATIME, which is worth 10 to 100 ns a read: the same flags for a comparison with it.
        case(
            "io_uring, cached, 32, O_NOATIME",
            Kind::Data,
            Cache::Warm,
            vec![
                ours(
                    "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                     backend = { uring = {} }\nqueue_depth = 32\nopen = { no_access_time = true }",
                ),
                entry(Column::TIoUring, Tool::TIoUring("-O0 -d32 -s16 -c16")),
            ],
            vec![times(Column::TIoUring, 1.05)],
        ),
        case(
            "io_uring, cached, 128 in flight",
            Kind::Data,
            Cache::Warm,
            vec![
                floor(floor::uring::cached_128),
                ours(
                    "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                     backend = { uring = {} }\nqueue_depth = 128",
                ),
                by_fio(&[FIO_RANDOM, "--ioengine=io_uring --iodepth=128"]),
                tuned(&[FIO_RANDOM, "--ioengine=io_uring --iodepth=128", fio::TUNED]),
                entry(Column::TIoUring, Tool::TIoUring("-O0 -d128 -s32 -c32")),
            ],
            vec![],
        ),
        case(
            "io_uring, direct, no device, 32",
            Kind::Unwritten,
            Cache::Untouched,
            vec![
                floor(floor::uring::direct_32),
                ours(URING_DIRECT_32),
                labelled(
                    Column::Variant,
                    "fathom, O_NOATIME",
                    job("direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                         backend = { uring = {} }\nqueue_depth = 32\nopen = { direct = true, no_access_time = true }"),
                ),
                by_fio(&[FIO_RANDOM, FIO_URING_32, "--direct=1"]),
                tuned(&[FIO_RANDOM, FIO_URING_32, "--direct=1", fio::TUNED]),
                entry(Column::TIoUring, Tool::TIoUring("-O1 -d32 -s16 -c16")),
                entry(Column::TIoUringTimed, Tool::TIoUring("-O1 -d32 -s16 -c16 -t1")),
            ],
            vec![
                times(Column::Floor, 1.08),
                times(Column::Fio, 0.45),
                times(Column::FioTuned, 0.85),
                Bound::of(
                    Column::Variant,
                    Measure::Wall,
                    Claim::Times { against: Column::TIoUring, bound: 1.10 },
                ),
                Bound::of(
                    Column::Variant,
                    Measure::Wall,
                    Claim::Times { against: Column::TIoUringTimed, bound: 1.05 },
                ),
            ],
        ),
        case(
            "libaio, direct, no device, 32",
            Kind::Unwritten,
            Cache::Untouched,
            vec![
                floor(floor::aio::direct_32),
                ours(
                    "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                     backend = { aio = {} }\nqueue_depth = 32\nopen = { direct = true }",
                ),
                by_fio(&[FIO_RANDOM, "--ioengine=libaio --iodepth=32 --direct=1"]),
                tuned(&[FIO_RANDOM, "--ioengine=libaio --iodepth=32 --direct=1", fio::TUNED_AIO]),
            ],
            vec![],
        ),
    ]
}

/// Work that reaches the device below the bench's directory.
fn devices() -> Vec<Case> {
    let same_speed = |against| wall(Claim::Near { against, within: 0.01 });
    vec![
        case(
            "io_uring, direct, device, 1 in flight",
            Kind::Data,
            Cache::Cold,
            vec![
                floor(floor::uring::direct_1),
                ours(
                    "direction = \"read\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                     backend = { uring = {} }\nopen = { direct = true }",
                ),
                by_fio(&[FIO_RANDOM, "--ioengine=io_uring --iodepth=1 --direct=1"]),
                entry(Column::TIoUring, Tool::TIoUring("-O1 -d1 -s1 -c1")),
            ],
            vec![
                same_speed(Column::Floor),
                same_speed(Column::Fio),
                times_cpu(Column::Fio, 0.75),
                times_cpu(Column::TIoUring, 1.10),
            ],
        ),
        case(
            "io_uring, direct, device, 32 in flight",
            Kind::Data,
            Cache::Cold,
            vec![
                floor(floor::uring::direct_32),
                ours(URING_DIRECT_32),
                by_fio(&[FIO_RANDOM, FIO_URING_32, "--direct=1"]),
                tuned(&[FIO_RANDOM, FIO_URING_32, "--direct=1", fio::TUNED]),
                entry(Column::TIoUring, Tool::TIoUring("-O1 -d32 -s16 -c16")),
            ],
            vec![
                same_speed(Column::Floor),
                same_speed(Column::Fio),
                times_cpu(Column::Fio, 0.75),
                times_cpu(Column::TIoUring, 1.10),
            ],
        ),
        case(
            "write 4 KiB and fsync, device",
            Kind::Scratch,
            Cache::Settled,
            vec![
                floor(floor::sync::write_and_fsync),
                entry(
                    Column::Fathom,
                    writing(
                        "direction = \"write\"\naccess = \"uniform\"\nrecord = { fixed = \"4KiB\" }\n\
                         sync_every = { writes = 1 }",
                    ),
                ),
                by_fio(&["--rw=randwrite --bs=4k --norandommap --invalidate=0 --ioengine=psync --fsync=1"]),
                entry(Column::Sysbench, Tool::Sysbench("--file-test-mode=rndwr --file-fsync-all=on")),
            ],
            vec![],
        ),
    ]
}

/// Large records on the page cache.
fn large() -> Vec<Case> {
    vec![
        case(
            "read 1 MiB, cached, sequential",
            Kind::Data,
            Cache::Warm,
            vec![
                floor(floor::sync::read_mib),
                ours("direction = \"read\"\nrecord = { fixed = \"1MiB\" }"),
                by_fio(&["--rw=read --bs=1m --invalidate=0 --ioengine=psync"]),
            ],
            vec![],
        ),
        case(
            "write 1 MiB, cached, sequential",
            Kind::Scratch,
            Cache::Settled,
            vec![
                floor(floor::sync::write_mib),
                entry(
                    Column::Fathom,
                    writing("direction = \"write\"\nrecord = { fixed = \"1MiB\" }\ndata = { byte = 90 }"),
                ),
                labelled(
                    Column::Variant,
                    "fathom, unique data",
                    writing("direction = \"write\"\nrecord = { fixed = \"1MiB\" }"),
                ),
                by_fio(&["--rw=write --bs=1m --invalidate=0 --ioengine=psync"]),
            ],
            vec![],
        ),
    ]
}

/// Two threads against one. Operations of both count, so that time per operation should halve.
fn scaling() -> Vec<Case> {
    let two = |name, cache, stream, work: Loop, options: &'static [&'static str]| {
        case(
            name,
            Kind::Data,
            cache,
            vec![
                entry(Column::Floor, Tool::Floor(work, 2)),
                entry(Column::Fathom, threads(stream, 2)),
                labelled(Column::Variant, "fathom, 1 thread", job(stream)),
                entry(Column::Fio, Tool::Fio(options, 2)),
            ],
            vec![wall(Claim::Faster { than: Column::Variant, at_least: 1.9 })],
        )
    };
    vec![
        two("null, 2 threads", Cache::Untouched, NULL, floor::sync::null, &[FIO_NULL]),
        two(
            "pread, cached, 2 threads",
            Cache::Warm,
            PREAD,
            floor::sync::pread,
            &[FIO_RANDOM, "--ioengine=psync"],
        ),
    ]
}

/// From the start of the process to its exit.
fn lives() -> Vec<Case> {
    let life = |name, threads, at_most_ms: f64| Case {
        name,
        file: Kind::Scratch,
        cache: Cache::Untouched,
        unit: Unit::Run,
        entries: vec![
            entry(Column::Fathom, Tool::FathomStart { threads, stored: false }),
            labelled(Column::Variant, "fathom, stored", Tool::FathomStart { threads, stored: true }),
            entry(Column::Fio, Tool::FioStart { jobs: threads }),
        ],
        bounds: vec![wall(Claim::AtMost(at_most_ms * 1e6))],
    };
    vec![life("start and exit, 1 thread", 1, 30.0), life("start and exit, 64 threads", 64, 60.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_different_and_no_column_is_taken_twice() {
        let cases = all();
        let names: HashSet<_> = cases.iter().map(|c| c.name).collect();
        assert_eq!(names.len(), cases.len());
        for case in &cases {
            let columns: HashSet<_> = case.entries.iter().map(|e| e.column).collect();
            assert_eq!(columns.len(), case.entries.len(), "{}", case.name);
        }
    }

    #[test]
    fn bounds_speak_of_columns_the_case_has() {
        for case in all() {
            let has = |column| case.entries.iter().any(|e| e.column == column);
            for bound in &case.bounds {
                assert!(bound.columns().into_iter().all(has), "{}: {bound:?}", case.name);
            }
        }
    }

    #[test]
    fn every_stream_is_toml() {
        for case in all() {
            for entry in case.entries {
                if let Tool::Fathom(job) = entry.tool {
                    let stream: toml::Table = toml::from_str(job.stream).unwrap();
                    assert!(
                        stream.contains_key("direction") && stream.contains_key("record"),
                        "{}",
                        case.name
                    );
                }
            }
        }
    }
}
