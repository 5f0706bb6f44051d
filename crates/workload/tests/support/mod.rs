//! Arbitrary workloads for property tests: every variant and every field of the model, with values that break formats (largest numbers,
//! quotes, line ends, unicode). They are not meant to be valid; `check` decides that.

use fathom_workload::*;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use std::path::PathBuf;

/// Whole numbers, including the limits of the integer types.
pub fn number() -> BoxedStrategy<u64> {
    prop_oneof![
        0u64..9,
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        prop::sample::select(vec![
            u64::from(u32::MAX),
            u64::from(u32::MAX) + 1,
            i64::MAX as u64,
            i64::MAX as u64 + 1,
            u64::MAX
        ]),
        (0u32..64).prop_map(|bit| 1 << bit),
    ]
    .boxed()
}

/// Finite floats of every size.
pub fn float() -> BoxedStrategy<f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
        0.0..100.0f64,
        (0u8..9).prop_map(f64::from),
        prop::sample::select(vec![f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::EPSILON]),
    ]
    .boxed()
}

/// Text with everything that a format must escape.
pub fn text() -> BoxedStrategy<String> {
    prop_oneof![
        "[a-z]{0,6}",
        any::<String>(),
        vec(any::<char>(), 0..8).prop_map(String::from_iter),
        "['\"\\\\\r\n\t#=.\\[\\] \u{0}é日]{0,8}",
        prop::sample::select(vec![
            "", "'''", "\"\"\"", "\r\n", "a\r\nb\n", "\u{feff}", "\u{7f}", "1", "true"
        ])
        .prop_map(str::to_owned),
    ]
    .boxed()
}

fn path() -> BoxedStrategy<PathBuf> {
    text().prop_map(PathBuf::from).boxed()
}

fn bytes() -> BoxedStrategy<Bytes> {
    number().prop_map(Bytes).boxed()
}

fn time() -> BoxedStrategy<Duration> {
    number().prop_map(Duration).boxed()
}

fn sizing() -> BoxedStrategy<Sizing> {
    prop_oneof![
        bytes().prop_map(Sizing::Fixed),
        text().prop_map(Sizing::Variable),
        vec(bytes(), 0..4).prop_map(Sizing::Each),
    ]
    .boxed()
}

pub fn data() -> BoxedStrategy<Data> {
    prop_oneof![
        Just(Data::Unique),
        Just(Data::Zero),
        any::<u8>().prop_map(Data::Byte),
        (any::<u8>(), bytes(), bytes()).prop_map(|(byte, stride, length)| Data::Marked {
            byte,
            stride,
            length
        }),
        (any::<u8>(), any::<u8>(), any::<u8>(), any::<u32>()).prop_map(
            |(compressible_percent, duplicate_percent, within_percent, distinct)| Data::Reducible {
                compressible_percent,
                duplicate_percent,
                within_percent,
                distinct,
                filler: vec![9; usize::from(duplicate_percent % 3)]
            }
        ),
        number().prop_map(|tag| Data::Positioned { tag }),
        sealed().prop_map(Data::Sealed),
    ]
    .boxed()
}

fn files() -> BoxedStrategy<Files> {
    let tree = (path(), number(), number(), sizing(), any::<u32>(), option::of(text())).prop_map(
        |(root, entries, leaf_directories, width, gamma_thousandths, depth)| Tree {
            root,
            entries,
            leaf_directories,
            width,
            gamma_thousandths,
            depth,
        },
    );
    prop_oneof![
        vec(path(), 0..4).prop_map(Files::List),
        (path(), any::<u32>()).prop_map(|(prefix, count)| Files::Numbered { prefix, count }),
        tree.prop_map(Files::Tree),
    ]
    .boxed()
}

fn existing() -> BoxedStrategy<Existing> {
    prop::sample::select(vec![Existing::Refuse, Existing::Replace, Existing::Reuse]).boxed()
}

fn share() -> BoxedStrategy<Share> {
    prop::sample::select(vec![Share::ReadWrite, Share::ReadOnly, Share::WriteOnly]).boxed()
}

fn fileset() -> BoxedStrategy<FileSet> {
    (
        text(),
        files(),
        sizing(),
        existing(),
        any::<bool>(),
        any::<u32>(),
        data(),
        any::<u8>(),
        (share(), any::<bool>(), any::<bool>(), any::<bool>(), bytes()),
    )
        .prop_map(|(name, files, size, existing, keep, mode, data, preallocated_percent, rest)| {
            let (share, trust_sizes, may_modify, leave_dirty, prepare_record) = rest;
            FileSet {
                trust_sizes,
                leave_dirty,
                make_directories: trust_sizes,
                prepare_record,
                may_modify,
                name,
                files,
                size,
                existing,
                keep,
                mode,
                data,
                preallocated_percent,
                share,
            }
        })
        .boxed()
}

fn shape() -> BoxedStrategy<Shape> {
    let row = (float(), float(), float()).prop_map(|(percent, low, high)| Row { percent, low, high });
    prop_oneof![
        (float(), float()).prop_map(|(low, high)| Shape::Uniform { low, high }),
        (float(), float(), float()).prop_map(|(shape, mean, offset)| Shape::Gamma { shape, mean, offset }),
        (any::<u32>(), float()).prop_map(|(shape, rate)| Shape::Erlang { shape, rate }),
        float().prop_map(|mean| Shape::Exponential { mean }),
        (float(), float()).prop_map(|(mean, sigma)| Shape::Normal { mean, sigma }),
        (float(), float()).prop_map(|(mu, sigma)| Shape::LogNormal { mu, sigma }),
        (float(), float(), float()).prop_map(|(low, high, mode)| Shape::Triangular { low, high, mode }),
        (float(), float()).prop_map(|(shape, scale)| Shape::Weibull { shape, scale }),
        vec(row.clone(), 0..3).prop_map(Shape::Table),
        (vec(row, 0..3), option::of(float()), float()).prop_map(|(rows, mean, lowest)| Shape::Stretched {
            rows,
            mean,
            lowest
        }),
    ]
    .boxed()
}

fn generator() -> BoxedStrategy<Generator> {
    prop_oneof![Just(Generator::Seeded), number().prop_map(Generator::Rand48), Just(Generator::ProcessRand48)]
        .boxed()
}

pub fn variable() -> BoxedStrategy<RandomVariable> {
    let ties = prop::sample::select(vec![Ties::AwayFromZero, Ties::Down]);
    (shape(), generator(), number(), ties, option::of(float()), option::of(float()))
        .prop_map(|(shape, generator, round, ties, min, max)| RandomVariable {
            shape,
            generator,
            round,
            ties,
            min,
            max,
        })
        .boxed()
}

fn action() -> BoxedStrategy<Action> {
    prop_oneof![
        Just(Action::Sync),
        text().prop_map(Action::Evict),
        text().prop_map(Action::Warm),
        text().prop_map(Action::Prepare),
        text().prop_map(Action::Reserve),
        text().prop_map(Action::ReserveBehind),
        text().prop_map(Action::Extend),
        text().prop_map(Action::MakeDirectories),
        text().prop_map(Action::Recreate),
        text().prop_map(Action::Remove),
        path().prop_map(Action::Remount),
        time().prop_map(Action::Sleep),
        vec(text(), 0..3).prop_map(Action::Command),
    ]
    .boxed()
}

fn axes() -> BoxedStrategy<Axes> {
    (option::of(bytes()), option::of(bytes()), option::of(any::<u32>()), btree_map(text(), text(), 0..3))
        .prop_map(|(file, record, streams, tags)| Axes { file, record, streams, tags })
        .boxed()
}

fn stop() -> BoxedStrategy<Stop> {
    let raise = prop::sample::select(vec![Raise::AfterLastOp, Raise::AfterFinish]);
    (
        option::of(time()),
        option::of(number()),
        option::of(bytes()),
        (option::of(steady()), vec(steady_groups(), 0..2)),
        option::of(raise.prop_map(|raise| Stonewall { raise })),
        prop::sample::select(vec![Exhausted::Early, Exhausted::Phase, Exhausted::Worker]),
        prop::sample::select(vec![Finished::Phase, Finished::Worker]),
        prop::sample::select(vec![Failed::Run, Failed::Phase, Failed::Worker]),
    )
        .prop_map(
            |(time, operations, bytes, (steady, steady_groups), first_done, exhausted, finished, failed)| {
                Stop {
                    failed,
                    exhausted,
                    finished,
                    time,
                    operations,
                    bytes,
                    steady,
                    steady_groups,
                    first_done,
                }
            },
        )
        .boxed()
}

pub fn direction() -> BoxedStrategy<Direction> {
    prop_oneof![
        Just(Direction::Read),
        Just(Direction::Write),
        any::<u8>().prop_map(|p| Direction::Mix(Mix::ReadPercent(p))),
        float().prop_map(|r| Direction::Mix(Mix::ReadsPerWrite(r))),
        float().prop_map(|r| Direction::Mix(Mix::ReadsPerWriteIssued(r))),
        Just(Direction::Trim),
        Just(Direction::TrimWrite),
    ]
    .boxed()
}

fn sealed() -> BoxedStrategy<Sealed> {
    let sum = option::of(prop_oneof![
        Just(Sum::Meta),
        Just(Sum::Pattern),
        Just(Sum::Md5),
        Just(Sum::Crc64),
        Just(Sum::Crc32),
        Just(Sum::Crc32c),
        Just(Sum::Crc16),
        Just(Sum::Crc7),
        prop_oneof![
            Just(Sum::Sha1),
            Just(Sum::Sha256),
            Just(Sum::Sha512),
            Just(Sum::Sha3With224),
            Just(Sum::Sha3With256),
            Just(Sum::Sha3With384),
            Just(Sum::Sha3With512),
            Just(Sum::Xxhash),
        ],
    ]);
    let header = prop_oneof![Just(Header::Fio3_33), Just(Header::Fio3_42)];
    (bytes(), sum, (header, bytes()), vec(any::<u8>(), 0..9), vec(any::<u32>(), 0..3), bytes(), any::<u8>())
        .prop_map(|(block, sum, (header, header_at), pattern, offsets, anew_every, zeros_percent)| Sealed {
            block,
            sum,
            header,
            header_at,
            pattern,
            offsets,
            anew_every,
            zeros_percent,
        })
        .boxed()
}

pub fn listed() -> BoxedStrategy<ListedOp> {
    let does = option::of(prop_oneof![
        Just(Does::Read),
        Just(Does::Write),
        Just(Does::Sync),
        Just(Does::DataSync),
        Just(Does::Trim)
    ]);
    (number(), any::<u32>(), time(), any::<u32>(), does, option::of(time()))
        .prop_map(|(offset, bytes, think, file, does, due)| ListedOp {
            offset,
            bytes,
            think,
            file,
            does,
            due,
        })
        .boxed()
}

fn zone() -> BoxedStrategy<Zone> {
    (float(), float())
        .prop_map(|(operations_percent, region_percent)| Zone { operations_percent, region_percent })
        .boxed()
}

fn waits() -> BoxedStrategy<u32> {
    prop_oneof![20 => Just(1u32), 1 => Just(2u32)].boxed()
}

fn adaptive_depth() -> BoxedStrategy<AdaptiveDepth> {
    let goal = prop_oneof![
        (float(), time()).prop_map(|(percentile, at_most)| DepthGoal::Latency { percentile, at_most }),
        float().prop_map(|gain_percent| DepthGoal::Knee { gain_percent }),
    ];
    (goal, time(), option::of(time()), any::<bool>(), any::<bool>())
        .prop_map(|(goal, window, longest, once, goes_on)| AdaptiveDepth {
            goal,
            window,
            longest,
            once,
            goes_on,
        })
        .boxed()
}

fn buffers() -> BoxedStrategy<Buffers> {
    let pages = prop::sample::select(vec![Pages::Auto, Pages::Base, Pages::Huge]);
    let nodes = || vec(0..Nodes::END, 0..3).prop_map(|numbers| Nodes::of(&numbers).unwrap());
    let node = prop_oneof![
        Just(Node::Local),
        any::<u32>().prop_map(Node::Number),
        Just(Node::Device),
        nodes().prop_map(Node::Bind),
        any::<u32>().prop_map(Node::Prefer),
        nodes().prop_map(Node::Interleave),
    ];
    (pages, node).prop_map(|(pages, node)| Buffers { pages, node }).boxed()
}

fn steady() -> BoxedStrategy<Steady> {
    let of = prop::sample::select(vec![SteadyFigure::Operations, SteadyFigure::Bytes, SteadyFigure::Latency]);
    let limit = || prop_oneof![float().prop_map(Limit::Percent), float().prop_map(Limit::Absolute)];
    let criterion = prop_oneof![limit().prop_map(Criterion::Deviation), limit().prop_map(Criterion::Slope)];
    let criterion = option::of(criterion);
    (of, time(), any::<u32>(), any::<u32>(), float(), float(), criterion, time())
        .prop_map(|(of, round, window, most_rounds, range_percent, slope_percent, criterion, after)| Steady {
            of,
            round,
            window,
            most_rounds,
            range_percent,
            slope_percent,
            criterion,
            after,
        })
        .boxed()
}

fn io_class() -> BoxedStrategy<IoClass> {
    prop::sample::select(vec![IoClass::RealTime, IoClass::BestEffort, IoClass::Idle]).boxed()
}

fn priority_share() -> BoxedStrategy<PriorityShare> {
    (any::<bool>(), option::of(bytes()), float(), io_class(), any::<u8>(), any::<u16>())
        .prop_map(|(writes, bytes, percent, class, level, hint)| PriorityShare {
            writes,
            bytes,
            percent,
            class,
            level,
            hint,
        })
        .boxed()
}

fn pass_over() -> BoxedStrategy<PassOver> {
    let errors = || vec((1..200i32).prop_map(ErrorNumber), 0..3);
    (errors(), errors(), any::<bool>(), number())
        .prop_map(|(reads, writes, wrong_data, enough)| PassOver { reads, writes, wrong_data, enough })
        .boxed()
}

fn steady_groups() -> BoxedStrategy<SteadyGroups> {
    (vec(any::<u32>(), 0..3), steady()).prop_map(|(groups, rule)| SteadyGroups { groups, rule }).boxed()
}

fn inside_zones() -> impl Strategy<Value = Box<Access>> {
    let partly =
        |order| Access::PartlyRandom { order: Box::new(order), reads_percent: 50, writes_percent: 20 };
    prop_oneof![
        Just(Access::Sequential),
        Just(Access::Permuted),
        Just(Access::Uniform),
        Just(Access::Zipf { theta: 1.2 }),
        Just(Access::Normal { deviation_percent: 10.0 }),
        Just(partly(Access::Permuted)),
        Just(partly(Access::Uniform)),
    ]
    .prop_map(Box::new)
}

pub fn access() -> BoxedStrategy<Access> {
    prop_oneof![
        Just(Access::Sequential),
        Just(Access::SequentialByKind),
        Just(Access::Backward),
        number().prop_map(Access::Same),
        number().prop_map(|step| Access::Strided { step }),
        (number(), any::<bool>()).prop_map(|(operations, same)| Access::Runs {
            order: Box::new(Access::Permuted),
            operations,
            same
        }),
        (0u8..=101, 0u8..=100).prop_map(|(reads_percent, writes_percent)| Access::PartlyRandom {
            order: Box::new(Access::Permuted),
            reads_percent,
            writes_percent
        }),
        any::<i64>().prop_map(|records| Access::Skipping { records }),
        (bytes(), bytes(), bytes(), inside_zones())
            .prop_map(|(range, gap, moved, inside)| { Access::ZonesInTurn { range, gap, moved, inside } }),
        (bytes(), bytes(), any::<bool>()).prop_map(|(run, gap, by_kind)| Access::Striped {
            run,
            gap,
            by_kind
        }),
        (float(), any::<u32>(), any::<u32>()).prop_map(|(spare, rounds, apart)| Access::Preconditioning {
            spare,
            rounds,
            apart
        }),
        vec(number(), 0..4).prop_map(|key| Access::Shuffled { key }),
        Just(Access::Permuted),
        Just(Access::Uniform),
        (option::of(any::<u32>()), any::<u8>())
            .prop_map(|(libc_seed, dropped)| Access::Scaled(Scaled { libc_seed, dropped })),
        float().prop_map(|theta| Access::Zipf { theta }),
        float().prop_map(|h| Access::Pareto { h }),
        float().prop_map(|deviation_percent| Access::Normal { deviation_percent }),
        vec(zone(), 0..4).prop_map(Access::Zoned),
        (0.1..3.0f64, 0.0..1.0f64)
            .prop_map(|(theta, centre)| Access::Around { order: Box::new(Access::Zipf { theta }), centre }),
        (vec(number(), 1..4), any::<bool>())
            .prop_map(|(records, advancing)| Access::Cycle { records, advancing }),
        vec(listed(), 0..4).prop_map(Access::Listed),
    ]
    .boxed()
}

fn record() -> BoxedStrategy<Record> {
    let of_a_kind = || {
        prop_oneof![
            bytes().prop_map(Record::Fixed),
            (bytes(), bytes()).prop_map(|(min, max)| Record::Between { min, max }),
            vec((bytes(), float()), 0..4).prop_map(Record::Split),
        ]
    };
    prop_oneof![4 => of_a_kind(), 1 => by_kind(of_a_kind().boxed())].boxed()
}

/// Sizes of reads and of writes.
pub fn by_kind(of_a_kind: BoxedStrategy<Record>) -> BoxedStrategy<Record> {
    (of_a_kind.clone(), of_a_kind)
        .prop_map(|(read, write)| Record::ByKind { read: Box::new(read), write: Box::new(write) })
        .boxed()
}

pub fn amount() -> BoxedStrategy<Amount> {
    prop_oneof![
        Just(Amount::Pass),
        number().prop_map(Amount::Passes),
        number().prop_map(Amount::Operations),
        bytes().prop_map(Amount::Bytes),
        Just(Amount::Endless),
    ]
    .boxed()
}

fn backend() -> BoxedStrategy<Backend> {
    let call = prop::sample::select(vec![SyncCall::Streamed, SyncCall::Positioned]);
    let flush = prop::sample::select(vec![MapFlush::No, MapFlush::Async, MapFlush::Sync]);
    prop_oneof![
        Just(Backend::Null),
        call.prop_map(Backend::Psync),
        bytes().prop_map(|buffer| Backend::Stdio { buffer }),
        (flush, option::of(any::<u8>()), number(), any::<bool>(), any::<bool>()).prop_map(
            |(flush, advice, flush_every, populate, huge_pages)| {
                Backend::Mmap { flush, flush_every, populate, huge_pages, advice }
            }
        ),
        (any::<[bool; 6]>(), option::of(any::<u8>())).prop_map(|(b, high_priority_percent)| {
            Backend::Pvsync2(Pvsync2 {
                high_priority: b[0],
                high_priority_percent,
                dsync: b[1],
                sync: b[2],
                nowait: b[3],
                uncached: b[4],
                atomic: b[5],
            })
        }),
        any::<(u32, bool)>().prop_map(|(batch, atomic)| Backend::Aio { batch, atomic }),
        Just(Backend::Posix),
        Just(Backend::Splice),
        Just(Backend::Beside),
        prop::sample::select(vec![
            FileCall::Allocate,
            FileCall::Truncate,
            FileCall::MoveExtents,
            FileCall::Create,
            FileCall::Stat(StatCall::Stat),
            FileCall::Stat(StatCall::Statx),
            FileCall::Remove,
            FileCall::MakeDirectory,
            FileCall::RemoveDirectory,
        ])
        .prop_map(Backend::Calls),
        (number(), any::<bool>())
            .prop_map(|(ns, sort)| Backend::Compute(Compute { time: fathom_workload::Duration(ns), sort })),
        (any::<u32>(), any::<[bool; 6]>(), any::<bool>()).prop_map(|(batch, b, commands)| {
            let options = Uring {
                batch,
                registered_file: b[0],
                registered_buffers: b[4].then_some(b[1]),
                deferred: b[2],
                submission_polling: b[3],
                submission_cpu: b[3].then_some(1),
                async_every: u32::from(b[4]) * 3,
                completion_polling: b[4],
                atomic: b[5],
            };
            if commands { Backend::Nvme(options) } else { Backend::Uring(options) }
        }),
    ]
    .boxed()
}

fn beside() -> BoxedStrategy<Beside> {
    (".*", vec(".*", 0..3), number(), option::of(".*"))
        .prop_map(|(program, arguments, grace, output)| Beside {
            program,
            arguments,
            grace: fathom_workload::Duration(grace),
            output: output.map(PathBuf::from),
        })
        .boxed()
}

fn donor() -> BoxedStrategy<Donor> {
    (".*", any::<bool>()).prop_map(|(fileset, each)| Donor { fileset, each }).boxed()
}

fn zoned_device() -> BoxedStrategy<ZonedDevice> {
    let collect =
        (0.0..100.0, 1_u64..9).prop_map(|(above_percent, every)| CollectZones { above_percent, every });
    (bytes(), bytes(), any::<(u32, u32)>(), any::<(bool, bool)>(), option::of(collect))
        .prop_map(|(zone, capacity, (max_open, max_open_each), (ignore_limit, read_beyond), collect)| {
            ZonedDevice { zone, capacity, max_open, max_open_each, ignore_limit, read_beyond, collect }
        })
        .boxed()
}

fn open() -> BoxedStrategy<Open> {
    let sync = prop::sample::select(vec![OpenSync::No, OpenSync::Sync, OpenSync::Dsync, OpenSync::Rsync]);
    let advice = prop::sample::select(vec![Advice::No, Advice::Sequential, Advice::Random, Advice::NoReuse]);
    (any::<bool>(), any::<bool>(), any::<bool>(), sync, any::<bool>(), any::<bool>(), advice)
        .prop_map(|(create, truncate, direct, sync, read_write, no_access_time, advice)| Open {
            no_access_time,
            advice,
            create,
            truncate,
            direct,
            sync,
            read_write,
        })
        .boxed()
}

fn pace() -> BoxedStrategy<Pace> {
    let think = (time(), any::<(bool, bool, bool, bool)>(), time(), number(), time()).prop_map(
        |(time, (counted, asleep, by_issue, shifts_schedule), busy, every, interval)| Think {
            time,
            counted,
            asleep,
            busy,
            every,
            by_issue,
            interval,
            shifts_schedule,
        },
    );
    let arrivals = prop::sample::select(vec![Gaps::Even, Gaps::Poisson]);
    let rate =
        (float(), arrivals, bytes(), any::<bool>()).prop_map(|(operations_per_s, arrivals, per, common)| {
            Rate { operations_per_s, arrivals, per, common }
        });
    let burst = (bytes(), time()).prop_map(|(bytes, pause)| Burst { bytes, pause });
    let ratio = (any::<u32>(), any::<u32>(), time())
        .prop_map(|(group, weight, sleep)| fathom_workload::Ratio { group, weight, sleep });
    let least = (number(), number(), number(), number(), time(), time()).prop_map(
        |(read_bytes_per_s, write_bytes_per_s, reads_per_s, writes_per_s, window, grace)| {
            fathom_workload::Least {
                read_bytes_per_s,
                write_bytes_per_s,
                reads_per_s,
                writes_per_s,
                window,
                grace,
            }
        },
    );
    let longest = (time(), time()).prop_map(|(read, write)| fathom_workload::Longest { read, write });
    let limits = (option::of(ratio), option::of(least), option::of(longest));
    // Only few streams may have these.
    let rate_of = prop_oneof![20 => Just(RateOf::All), 1 => Just(RateOf::Reads), 1 => Just(RateOf::Writes)];
    (option::of(think), option::of(rate), rate_of, option::of(burst), limits)
        .prop_map(|(think, rate, rate_of, burst, (ratio, least, longest))| Pace {
            think,
            rate,
            rate_of,
            burst,
            ratio,
            least,
            longest,
        })
        .boxed()
}

fn pick() -> BoxedStrategy<Pick> {
    prop_oneof![Just(Pick::ByWorker), any::<u32>().prop_map(Pick::One), Just(Pick::All)].boxed()
}

fn turns() -> BoxedStrategy<Option<Turns>> {
    option::of((access(), number(), any::<u32>()).prop_map(|(order, operations, open)| Turns {
        order,
        operations,
        open,
    }))
    .boxed()
}

/// A stream over the file set `fileset`.
pub fn stream(fileset: BoxedStrategy<String>) -> BoxedStrategy<Stream> {
    let timed = any::<[bool; 4]>().prop_map(|b| Timed { open: b[0], fsync: b[1], syncfs: b[2], close: b[3] });
    let range =
        any::<[bool; 3]>().prop_map(|b| SyncRange { wait_before: b[0], write: b[1], wait_after: b[2] });
    let sync_every = (number(), any::<[bool; 3]>(), option::of(range)).prop_map(|(writes, b, range)| {
        SyncEvery { writes, data_only: b[0], inside: b[1], between: b[2], range }
    });
    let series = (number(), any::<[bool; 3]>()).prop_map(|(requests, b)| SyncSeries {
        requests,
        data_only: b[0],
        at_end: b[1],
        counted: b[2],
    });
    let trim = (number(), number(), any::<u8>(), any::<bool>())
        .prop_map(|(after, batch, percent, zeros)| TrimWritten { after, batch, percent, zeros });
    let limits = (number(), bytes(), number());
    let kept = (any::<[bool; 3]>(), number(), number(), limits, option::of(trim)).prop_map(
        |([by_offset, each_pass, forgets_sync], after, batch, (most, moves, passes), trim)| KeepWritten {
            by_offset,
            each_pass,
            pass: Bytes(after),
            forgets_sync,
            after,
            batch,
            most,
            moves,
            passes,
            trim,
        },
    );
    let by = any::<[u32; 2]>().prop_map(|[phase, worker]| WrittenBy { phase, worker });
    let common = (
        prop::sample::select(vec![Sequence::Own, Sequence::Common]),
        option::of(series),
        any::<bool>(),
        (option::of(kept), option::of(by)),
    );
    let what = (
        fileset,
        (pick(), turns(), common),
        direction(),
        access(),
        record(),
        (bytes(), bytes(), option::of(number().prop_map(Seed)), vec(priority_share(), 0..3)),
        option::of(bytes()),
        amount(),
    );
    let how = (
        (
            (
                backend(),
                any::<u32>(),
                option::of(adaptive_depth()),
                (buffers(), any::<bool>(), waits(), option::weighted(0.05, 1u32..9)),
            ),
            open(),
            any::<bool>(),
            any::<bool>(),
            timed,
            any::<bool>(),
            option::of(sync_every),
        ),
        (
            data(),
            prop::sample::select(vec![Verify::No, Verify::Marks, Verify::Full]),
            pace(),
            bytes(),
            bytes(),
            prop::sample::select(vec![Lock::No, Lock::File, Lock::Record]),
            number(),
            any::<bool>(),
            prop::sample::select(vec![WhenStopped::Leave, WhenStopped::FinishUncounted, WhenStopped::Ignore]),
            (
                any::<bool>(),
                prop::bool::weighted(0.05),
                option::of(beside()),
                (option::of(donor()), option::of(zoned_device())),
                pass_over(),
            ),
        ),
    );
    (what, how)
        .prop_map(
            |(
                (
                    fileset,
                    (pick, turns, (sequence, sync_series, exclusive, (keep_written, written_by))),
                    direction,
                    access,
                    record,
                    (start, align, seed, priorities),
                    length,
                    amount,
                ),
                (
                    (
                        (backend, queue_depth, adaptive_depth, (buffers, no_overlap, wait_for, refill_at)),
                        open,
                        sync_before,
                        warm_first_record,
                        timed,
                        sync_after,
                        sync_every,
                    ),
                    (
                        data,
                        verify,
                        pace,
                        buffer_area,
                        purge,
                        lock,
                        disturb_every,
                        log_operations,
                        when_stopped,
                        (until_full, evict_passes, beside, (donor, zoned_device), pass_over),
                    ),
                ),
            )| Stream {
                fileset,
                pick,
                turns,
                sequence,
                sync_series,
                exclusive,
                direction,
                access,
                record,
                start,
                length,
                align,
                amount,
                backend,
                queue_depth,
                adaptive_depth,
                wait_for,
                refill_at,
                take_at_most: refill_at.map(|at| at.max(wait_for)),
                sync_in_queue: no_overlap && wait_for % 2 == 0,
                no_overlap,
                buffers,
                open,
                sync_before,
                warm_first_record,
                timed,
                sync_after,
                sync_every,
                data,
                verify,
                keep_written,
                written_by,
                pace,
                buffer_area,
                purge,
                lock,
                disturb_every,
                log_operations,
                when_stopped,
                seed,
                until_full,
                evict_passes,
                beside,
                donor,
                zoned_device,
                priorities,
                pass_over,
            },
        )
        .boxed()
}

/// A number in a flow that may be drawn from one of the variables `names`.
pub fn value(names: BoxedStrategy<String>) -> BoxedStrategy<Value> {
    prop_oneof![
        any::<u32>().prop_map(Value::Number),
        bytes().prop_map(Value::Bytes),
        names.prop_map(|variable| Value::Variable { variable }),
    ]
    .boxed()
}

pub const ACTS: [Act; 33] = [
    Act::Read,
    Act::Write,
    Act::ReadWholeFile,
    Act::WriteWholeFile,
    Act::Append,
    Act::AppendRandomLength,
    Act::Open,
    Act::Create,
    Act::Close,
    Act::Delete,
    Act::Stat,
    Act::Sync,
    Act::SyncSet,
    Act::MakeDirectory,
    Act::RemoveDirectory,
    Act::ListDirectory,
    Act::AsyncWrite,
    Act::AsyncWait,
    Act::Block,
    Act::Wake,
    Act::SemaphoreWait,
    Act::SemaphorePost,
    Act::Spin,
    Act::Delay,
    Act::LimitEvents,
    Act::LimitIops,
    Act::LimitOps,
    Act::LimitBandwidth,
    Act::FinishOnCount,
    Act::FinishOnBytes,
    Act::Say,
    Act::Draw,
    Act::Sequence,
];

/// A flow whose numbers may be drawn from the variables `names`.
pub fn flow(names: BoxedStrategy<String>) -> BoxedStrategy<Flow> {
    let value = move || value(names.clone());
    let op = (
        (text(), prop::sample::select(ACTS.to_vec()), option::of(text()), option::of(any::<u32>())),
        (option::of(any::<u32>()), value(), value(), any::<bool>(), value(), any::<bool>()),
        (option::of(value()), any::<bool>(), any::<bool>(), any::<bool>(), value()),
        (option::of(text()), any::<bool>(), value(), vec(bytes(), 0..3), text()),
    )
        .prop_map(
            |(
                (name, act, fileset, slot),
                (source_slot, size, working_set, random, repeat, rotate),
                (entry, direct, sync, no_readahead, value),
                (target, blocking, high_water, positions, text),
            )| FlowOp {
                ops: Vec::new(),
                positions,
                text,
                name,
                act,
                fileset,
                slot,
                source_slot,
                size,
                working_set,
                random,
                repeat,
                rotate,
                entry,
                direct,
                sync,
                no_readahead,
                value,
                target,
                blocking,
                high_water,
            },
        );
    // One level of nesting covers the same code as two.
    let op = op.boxed();
    let op = (op.clone(), vec(op, 0..3)).prop_map(|(outer, ops)| FlowOp { ops, ..outer });
    let offsets = prop_oneof![Just(Offsets::Seeded), any::<u32>().prop_map(Offsets::Mt19937)];
    (vec(op, 0..3), option::of(number()), offsets, any::<bool>())
        .prop_map(|(ops, loops, offsets, cpu_time)| Flow { ops, loops, offsets, cpu_time })
        .boxed()
}

fn group() -> BoxedStrategy<Group> {
    let program = prop_oneof![
        stream(text()).prop_map(|s| Program::Stream(Box::new(s))),
        flow(text()).prop_map(Program::Flow),
    ];
    let run_as = option::of(any::<u32>());
    let run_as = (run_as.clone(), run_as).prop_map(|(user, group)| RunAs { user, group });
    let memory = (bytes(), bytes());
    let thread = (
        text(),
        any::<u32>(),
        memory,
        program,
        option::of(any::<u8>()),
        (option::of(io_class()), any::<u16>()),
        run_as,
    )
        .prop_map(
            |(
                name,
                instances,
                (memory, locked_memory),
                program,
                io_priority,
                (io_class, io_hint),
                run_as,
            )| Thread {
                name,
                instances,
                memory,
                locked_memory,
                run_as,
                program,
                io_priority,
                io_class,
                io_hint,
            },
        );
    let pinning = prop_oneof![
        Just(Pinning::Free),
        any::<u32>().prop_map(Pinning::From),
        vec(any::<u32>(), 0..3).prop_map(Pinning::Among),
    ];
    let company = (option::of(any::<u32>()), any::<bool>(), any::<bool>());
    let ramp = (option::of(time()), bytes(), any::<bool>());
    let times = (time(), ramp, option::of(time()), any::<bool>(), company).prop_map(
        |(delay, ramp, stop, never_ends_others, (company, ends_company, ends_with_io))| Times {
            delay,
            ramp: ramp.0,
            ramp_bytes: ramp.1,
            ramp_together: ramp.2,
            stop,
            never_ends_others,
            company,
            ends_company,
            ends_with_io,
        },
    );
    let isolation = prop::sample::select(vec![Isolation::Thread, Isolation::Process]);
    (text(), any::<u32>(), isolation, any::<i32>(), pinning, times, vec(thread, 0..3))
        .prop_map(|(name, instances, isolation, nice, pinning, times, threads)| Group {
            name,
            instances,
            isolation,
            nice,
            pinning,
            times,
            threads,
        })
        .boxed()
}

fn phase() -> BoxedStrategy<Phase> {
    let actions = || vec(action(), 0..4);
    let cache = prop::sample::select(vec![CacheState::AsFound, CacheState::Cold, CacheState::Warm]);
    let holes = prop::sample::select(vec![Holes::Fill, Holes::Leave]);
    let around = (cache, holes, time(), option::of(float()), any::<bool>());
    (text(), axes(), actions(), actions(), around, stop(), time(), time(), vec(group(), 0..3))
        .prop_map(
            |(
                name,
                axes,
                before,
                after,
                (cache, holes, ramp, events_per_s, interval_by_worker),
                stop,
                stagger,
                interval,
                groups,
            )| {
                Phase {
                    name,
                    axes,
                    before,
                    after,
                    cache,
                    holes,
                    ramp,
                    stop,
                    stagger,
                    interval,
                    interval_by_worker,
                    groups,
                    events_per_s,
                }
            },
        )
        .boxed()
}

/// An arbitrary workload.
pub fn workload() -> BoxedStrategy<Workload> {
    (
        text(),
        text(),
        number(),
        any::<u32>(),
        btree_map(text(), variable(), 0..3),
        vec(fileset(), 0..3),
        vec(phase(), 0..3),
    )
        .prop_map(|(name, note, seed, repetitions, variables, filesets, phases)| Workload {
            name,
            note,
            seed: Seed(seed),
            repetitions,
            variables,
            filesets,
            phases,
            ..Workload::default()
        })
        .boxed()
}
