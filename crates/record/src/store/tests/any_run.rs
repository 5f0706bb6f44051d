//! The generator of arbitrary runs, also used by the exports' tests.

use super::any_worker::{any_histogram, any_worker, countable, figure, number, words};
use crate::store::block_tests::{any_block, any_findings};
use crate::*;
use proptest::prelude::*;

pub(crate) fn any_run() -> impl Strategy<Value = Run> {
    let statuses = vec![Status::Running, Status::Completed, Status::Interrupted, Status::Failed];
    let doubt = (words(), prop::collection::vec(any::<u32>(), 0..3), words())
        .prop_map(|(code, phases, sentence)| Doubt { code, phases, sentence });
    let verdict = prop::sample::select(Verdict::ALL.to_vec());
    let trust =
        (words(), verdict, words()).prop_map(|(code, verdict, sentence)| Trust { code, verdict, sentence });
    let clock = (words(), figure(), figure(), figure(), prop::option::of(figure())).prop_map(
        |(source, hz, cost_ns, resolution_ns, drift_ppm)| Clock {
            source,
            hz,
            cost_ns,
            resolution_ns,
            drift_ppm,
        },
    );
    let environment =
        (words(), any::<u64>()).prop_map(|(k, n)| serde_json::json!({"kernel": k, "n": [n, null, true]}));
    (
        ("[0-9]{4}-[a-f]{3}", words(), words(), words(), words(), words(), words()),
        (prop::sample::select(statuses), prop::collection::vec(words(), 0..4), any::<u64>(), words()),
        (environment, clock, prop::option::of(words()), (any_source(), any_simulation())),
        prop::collection::vec(any_phase(), 0..3),
        prop::collection::vec(doubt, 0..3),
        prop::collection::vec(trust, 0..3),
    )
        .prop_map(
            |(
                t,
                (status, argv, seed, workload),
                (environment, clock, error, (source, simulation)),
                phases,
                doubts,
                trust,
            )| Run {
                id: t.0,
                label: t.1,
                dialect: t.2,
                started_at: t.3,
                ended_at: t.4,
                status,
                version: t.5,
                argv,
                directory: t.6,
                seed,
                workload,
                environment,
                clock,
                phases,
                doubts,
                trust,
                error,
                source,
                simulation,
            },
        )
}

fn any_phase() -> BoxedStrategy<Phase> {
    let maybe = || prop::option::of(number());
    let axes = (maybe(), maybe(), maybe(), maybe(), prop::collection::btree_map(words(), words(), 0..3))
        .prop_map(|(file_bytes, record_bytes, streams, queue_depth, tags)| Axes {
            file_bytes,
            record_bytes,
            streams,
            queue_depth,
            tags,
        });
    (any::<u32>(), words(), axes, any::<[bool; 4]>(), prop::collection::vec(any_repetition(), 0..3))
        .prop_map(|(seq, name, axes, flags, repetitions)| Phase {
            seq,
            name,
            axes,
            reads: flags[0],
            writes: flags[1],
            sync_in_clock: flags[2],
            direct: flags[3],
            repetitions,
        })
        .boxed()
}

/// Boxed, as are its larger parts: a tree of generators this deep overflows a thread's stack.
fn any_repetition() -> BoxedStrategy<Repetition> {
    (
        (any::<u32>(), number(), number(), number(), number()),
        prop::collection::vec(any_worker(), 0..3).boxed(),
        prop::collection::vec(any_interval(), 0..4).boxed(),
        (
            (
                prop::option::of(any_steady()),
                (
                    prop::collection::vec(any_steady_group(), 0..3),
                    prop::collection::vec(any_priority(), 0..3),
                    (
                        prop::collection::vec(any_slow_calls(), 0..3),
                        prop::option::of(any_page_cache()),
                        prop::option::of(any_lock_waits()),
                        prop::option::of(any_halts()),
                    ),
                ),
            ),
            prop::option::of(any_jitter()),
            prop::option::of(any_extents()),
        )
            .boxed(),
        prop::sample::select(CacheIntent::ALL.to_vec()),
        any_physical().boxed(),
        (any_residency(), any_residency()).boxed(),
        (
            prop::option::weighted(0.3, any_block()),
            any_findings(),
            prop::collection::vec(any_printed(), 0..4),
        )
            .boxed(),
    )
        .prop_map(
            |(n, workers, intervals, course, cache, physical, residency, (block, findings, figures))| {
                Repetition {
                    n: n.0,
                    started_ns: n.1,
                    elapsed_ns: n.2,
                    start_skew_ns: n.3,
                    workers,
                    intervals,
                    ramp_ns: n.4,
                    steady: course.0.0,
                    steady_groups: course.0.1.0,
                    priorities: course.0.1.1,
                    slow_calls: course.0.1.2.0,
                    page_cache: course.0.1.2.1,
                    lock_waits: course.0.1.2.2,
                    halts: course.0.1.2.3,
                    jitter: course.1,
                    cache,
                    extents: course.2,
                    physical,
                    block,
                    findings,
                    resident_before: residency.0,
                    resident_after: residency.1,
                    figures,
                    ..Repetition::default()
                }
            },
        )
        .boxed()
}

fn any_page_cache() -> BoxedStrategy<PageCacheEvents> {
    let remover =
        (words(), any::<u32>(), number(), number()).prop_map(|(name, process, dropped, reclaimed)| Remover {
            name,
            process,
            dropped_bytes: dropped,
            reclaimed_bytes: reclaimed,
        });
    let removers = prop::collection::vec(remover, 0..3);
    let pages = (number(), number(), number(), removers, number()).prop_map(
        |(own_bytes, others_bytes, removed_bytes, removers, uncounted)| PageMoves {
            own_bytes,
            others_bytes,
            removed_bytes,
            removers,
            uncounted,
        },
    );
    let pauses = (number(), number()).prop_map(|(count, total_ns)| Pauses { count, total_ns });
    let programs = || {
        let one = (words(), prop::collection::vec(any::<u32>(), 0..3), number())
            .prop_map(|(name, processes, times)| Programs { name, processes, times });
        prop::collection::vec(one, 0..3)
    };
    let journal = (number(), programs()).prop_map(|(own, others)| JournalChanges { own, others });
    (
        prop::option::of(pages),
        prop::option::of(pauses),
        prop::option::of(programs()),
        prop::option::of(journal),
    )
        .prop_map(|(pages, pauses, syncers, journal)| PageCacheEvents { pages, pauses, syncers, journal })
        .boxed()
}

fn any_lock_waits() -> BoxedStrategy<LockWaits> {
    let holder = (words(), any::<u32>(), number(), any::<bool>())
        .prop_map(|(name, process, waited_ns, has_file)| LockHolder { name, process, waited_ns, has_file });
    let times = (number(), number(), number(), number(), number());
    (times, prop::collection::vec(holder, 0..3))
        .prop_map(|((waits, own_ns, kernel_ns, frozen_ns, unknown_ns), holders)| LockWaits {
            waits,
            own_ns,
            kernel_ns,
            frozen_ns,
            unknown_ns,
            holders,
        })
        .boxed()
}

fn any_halts() -> impl Strategy<Value = Halts> {
    (number(), number()).prop_map(|(stopped_ns, frozen_ns)| Halts { stopped_ns, frozen_ns })
}

fn any_slow_calls() -> BoxedStrategy<SlowCalls> {
    let stack = (words(), prop::option::of(words()), prop::collection::vec(words(), 0..3), number())
        .prop_map(|(layer, file, frames, n)| WaitStack {
            waits_in: layer.clone(),
            layer,
            file,
            frames,
            waits: n,
            calls: n,
            total_ns: n,
            longest_ns: n,
        });
    let example = (words(), number(), any::<u32>()).prop_map(|(file, n, stack)| SlowCall {
        worker: stack,
        start_ns: n,
        latency_ns: n,
        file,
        offset: n,
        bytes: n,
        waits: vec![Wait { stack, start_ns: n, ns: n }],
    });
    let lists = (prop::collection::vec(stack, 0..3), prop::collection::vec(example, 0..3));
    (prop::sample::select(OpKind::ALL.to_vec()), any::<bool>(), number(), lists)
        .prop_map(|(op, first_only, n, (stacks, examples))| SlowCalls {
            op,
            calls: n,
            first_only,
            slowest: n,
            from_ns: n,
            total_ns: n,
            stacks,
            examples,
        })
        .boxed()
}

/// A figure of an imported run.
fn any_printed() -> impl Strategy<Value = Figure> {
    (words(), figure(), words(), words(), any::<Option<bool>>(), number()).prop_map(
        |(name, value, unit, printed, higher_is_better, line)| Figure {
            name,
            value,
            unit,
            printed,
            higher_is_better,
            line,
        },
    )
}

fn any_simulation() -> impl Strategy<Value = Option<Simulation>> {
    let counts = prop::collection::vec((words(), any::<u64>()), 0..3);
    let simulation = (words(), words(), words(), any::<u32>(), counts).prop_map(
        |(host, device, scheduler, guessed, counts)| Simulation {
            limits: device.clone(),
            set: vec![(device.clone(), scheduler.clone())],
            handed_in: (guessed % 3 == 0).then(|| crate::FeedMode {
                mode: scheduler.clone(),
                scale: (guessed % 2 == 0).then_some(0.5),
                depth: (guessed % 2 == 1).then_some(guessed),
            }),
            texts: vec![crate::ProfileText { of: "host".into(), file: host.clone(), text: device.clone() }],
            host,
            device,
            scheduler,
            values: crate::ValueSources { guessed, ..Default::default() },
            rests_on: crate::Uncertainty {
                guessed: vec!["host cpu.call_us".into()],
                demerit_percent: (guessed % 2 == 0).then_some(f64::from(guessed) / 8.0),
                ..Default::default()
            },
            counts,
            phases: vec![crate::course::PhaseCourse { phase: guessed, ..Default::default() }],
            ..Simulation::default()
        },
    );
    prop::option::of(simulation)
}

fn any_source() -> impl Strategy<Value = Option<Source>> {
    let lines = prop::collection::vec(number(), 0..3);
    prop::option::of((words(), words(), number(), number(), lines).prop_map(
        |(file, program, first_line, last_line, not_understood)| Source {
            file,
            program,
            first_line,
            last_line,
            not_understood,
        },
    ))
}

fn any_interval() -> BoxedStrategy<Interval> {
    let kind = prop::sample::select(OpKind::ALL.to_vec());
    let latencies = prop::collection::vec((kind.clone(), any_histogram()), 0..3);
    let moved = prop::collection::vec((kind, number()), 0..3);
    (prop::array::uniform4(number()), latencies, moved)
        .prop_map(|(n, latencies, moved)| Interval {
            end_ns: n[0],
            width_ns: n[1],
            ops: n[2],
            bytes: n[3],
            latencies,
            moved,
        })
        .boxed()
}

fn any_steady() -> impl Strategy<Value = SteadyState> {
    (
        any::<[bool; 2]>(),
        words(),
        number(),
        prop::collection::vec(figure(), 0..5),
        any::<u32>(),
        figure(),
        figure(),
        figure(),
    )
        .prop_map(|(flags, figure, round_ns, rounds, window, mean, range_percent, slope_percent)| {
            SteadyState {
                reached: flags[0],
                asked: flags[1],
                figure,
                round_ns,
                rounds,
                window,
                mean,
                range_percent,
                slope_percent,
            }
        })
}

fn any_steady_group() -> impl Strategy<Value = SteadyGroup> {
    let figures = || prop::collection::vec(any::<u32>().prop_map(f64::from), 0..4);
    (
        prop::collection::vec(any::<u32>(), 0..4),
        any::<bool>(),
        words(),
        number(),
        any::<u32>(),
        [figures(), figures(), figures()],
    )
        .prop_map(|(workers, reached, figure, round_ns, window, [operations, bytes, latencies])| {
            SteadyGroup { workers, reached, figure, round_ns, window, operations, bytes, latencies }
        })
}

fn any_priority() -> impl Strategy<Value = PriorityStat> {
    (any::<u32>(), any::<bool>(), any::<u16>(), any_histogram(), any_histogram()).prop_map(
        |(worker, write, priority, latency, completion)| PriorityStat {
            worker,
            write,
            priority,
            latency,
            completion,
        },
    )
}

fn any_jitter() -> impl Strategy<Value = Jitter> {
    (any_histogram(), any_histogram(), number()).prop_map(|(gaps, wakes, watched_ns)| Jitter {
        gaps,
        wakes,
        watched_ns,
    })
}

fn any_extents() -> impl Strategy<Value = Extents> {
    prop::array::uniform4(number()).prop_map(|n| Extents {
        bytes: n[0],
        hole_bytes: n[1],
        unwritten_bytes: n[2],
        filled_bytes: n[3],
    })
}

fn any_residency() -> impl Strategy<Value = Option<Residency>> {
    prop::option::of(prop::array::uniform4(number()).prop_map(|n| Residency {
        total_pages: n[0],
        cached_pages: n[1],
        dirty_pages: n[2],
        writeback_pages: n[3],
    }))
}

fn any_physical() -> BoxedStrategy<Physical> {
    let maybe = || prop::option::of(number());
    let five = (maybe(), maybe(), maybe(), maybe(), maybe());
    (words(), prop::collection::vec(any_device(), 0..3), prop::option::of(words()), five)
        .prop_map(|(method, devices, note, five)| Physical {
            method,
            devices,
            note,
            own_read_bytes: five.0,
            own_write_bytes: five.1,
            written_in_clock_bytes: five.2,
            dirty_before_bytes: five.2,
            dirty_after_bytes: five.3,
            machine_cpu_ns: five.4,
            image_cached_bytes: five.0,
            ..Physical::default()
        })
        .boxed()
}

fn any_device() -> impl Strategy<Value = DeviceDelta> {
    let kind = prop_oneof![words(), Just("loop".to_string()), Just("ram".to_string())];
    let level = prop_oneof![0u32..3, any::<u32>()];
    (words(), level, kind, prop::array::uniform12(countable())).prop_map(|(name, level, kind, c)| {
        DeviceDelta {
            name,
            level,
            kind,
            read_ios: c[0],
            read_bytes: c[1],
            read_merges: c[2],
            write_ios: c[3],
            write_bytes: c[4],
            write_merges: c[5],
            flush_ios: c[6],
            discard_ios: c[7],
            busy_ms: c[8],
            read_ms: c[9],
            write_ms: c[10],
            queue_ms: c[11],
        }
    })
}
