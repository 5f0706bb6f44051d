//! Generators of arbitrary parts of a run: figures, words, histograms, workers.

use crate::*;
use proptest::prelude::*;

/// Counters of every size, small ones more often.
pub(in crate::store) fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..1000, any::<u32>().prop_map(u64::from), any::<u64>(), Just(u64::MAX), Just(1 << 63)]
}

/// Numbers whose sums over a few workers stay below 2^64, as the sums of [`Repetition`] require.
pub(super) fn countable() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..1000, 0u64..1 << 60]
}

pub(in crate::store) fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,12}", any::<String>()]
}

/// Floating-point figures that decimal text holds exactly: tenths of integers below 2^53.
pub(in crate::store) fn figure() -> impl Strategy<Value = f64> {
    (0u32..1 << 30).prop_map(|n| f64::from(n) / 8.0)
}

pub(in crate::store) fn any_histogram() -> impl Strategy<Value = Histogram> {
    prop::collection::vec(number(), 0..8).prop_map(Histogram::from_values)
}

fn any_stat() -> impl Strategy<Value = OpStat> {
    let values = prop::collection::vec(number(), 0..20);
    (prop::sample::select(OpKind::ALL.to_vec()), countable(), countable(), values).prop_map(
        |(op, ops, bytes, values)| OpStat { op, ops, bytes, latency: Histogram::from_values(values) },
    )
}

fn any_error() -> impl Strategy<Value = OpError> {
    let compared = prop::option::of((number(), number()));
    (words(), words(), prop::option::of(number()), number(), any::<i32>(), compared, words()).prop_map(
        |(call, path, offset, after_ops, errno, compared, message)| OpError {
            call,
            path,
            offset,
            after_ops,
            errno,
            compared,
            message,
        },
    )
}

fn any_ending() -> impl Strategy<Value = Ending> {
    let failed = any_error().prop_map(Ending::Failed);
    prop_oneof![Just(Ending::Completed), Just(Ending::Stopped), Just(Ending::Interrupted), failed]
}

fn any_passed() -> impl Strategy<Value = PassedOver> {
    (number(), number(), number(), number(), any_error())
        .prop_map(|(errors, reads, writes, trims, first)| PassedOver { errors, reads, writes, trims, first })
}

fn any_row() -> impl Strategy<Value = Row> {
    // Few names, so that some repeat.
    let name = prop_oneof!["[ab]", words()];
    let kind = prop::option::of(prop::sample::select(OpKind::ALL.to_vec()));
    let class = prop::sample::select(RowClass::ALL.to_vec());
    (name, class, kind, number(), number(), any_histogram(), number()).prop_map(
        |(name, class, kind, ops, bytes, latency, cpu_ns)| Row {
            name,
            class,
            kind,
            ops,
            bytes,
            latency,
            cpu_ns,
        },
    )
}

pub(super) fn any_worker() -> BoxedStrategy<Worker> {
    let log = prop::collection::vec(
        (any::<u64>(), any::<u32>(), any::<u64>(), any::<u64>()).prop_map(
            |(offset, bytes, latency_ns, start_ns)| OpLogEntry { start_ns, offset, bytes, latency_ns },
        ),
        0..5,
    );
    let stats = prop::collection::vec(any_stat(), 0..3);
    let rows = prop::collection::vec(any_row(), 0..3);
    (
        (words(), any::<u32>(), (any_ending(), prop::option::of(any_passed())), stats, log, rows),
        (number(), number(), countable(), countable(), countable()),
        (number(), number(), number(), number(), number()),
        (number(), number(), prop::option::of(any::<u32>()), number()),
    )
        .prop_map(|((group, index, (ending, passed), stats, op_log, rows), a, b, c)| Worker {
            rows,
            group,
            index,
            start_ns: a.0,
            elapsed_ns: a.1,
            bytes: a.2,
            ops: a.3,
            uncounted_bytes: a.4,
            cpu_user_ns: b.0,
            cpu_system_ns: b.1,
            thread_counts: (b.0 % 2 == 0).then_some(ThreadCounts {
                switches: b.1,
                major_faults: b.2,
                minor_faults: b.3,
                processor_wait_ns: (b.3 % 2 == 0).then_some(b.2),
            }),
            marks: Marks { last_op_ns: b.2, fsync_ns: b.3, close_ns: b.4 },
            drained_ops: c.0,
            ramp_ops: c.1,
            settled_depth: c.2,
            behind_ns: c.3,
            stats,
            ending,
            passed,
            in_flight: (c.1 % 2 == 0).then_some(InFlight {
                depth: [c.0; 7],
                submit: [c.1; 7],
                complete: [c.3; 7],
            }),
            op_log,
            intervals: Vec::new(),
        })
        .boxed()
}
