//! Block layer and findings in the store: they come back unchanged, can be queried in SQL, and cost no row if absent. Also the
//! sample and the generators for the tests of whole runs and of the exports.

use super::tests::{any_histogram, figure, number, sample_run, words};
use super::*;
use crate::block::{
    BlockInterval, DepthTime, DeviceActivity, DeviceNumber, Issuer, IssuerKind, RequestClass, RequestStats,
    Seeks, SizeCount, TimeSource,
};
use crate::{BlockLayer, Evidence, Finding, Histogram, Repetition, Run};
use proptest::prelude::*;

/// A small block layer with something in every field.
pub(crate) fn sample_block() -> BlockLayer {
    let read = RequestStats {
        class: RequestClass::Read,
        issued: 3,
        issued_bytes: 40_960,
        completed: 2,
        completed_bytes: 32_768,
        errors: 1,
        ahead: 2,
        sync: 1,
        meta: 1,
        fua: 0,
        bios: Some(5),
        back_merges: Some(2),
        front_merges: Some(1),
        request_merges: Some(1),
        sizes: vec![SizeCount { bytes: 8192, count: 1 }, SizeCount { bytes: 16_384, count: 2 }],
        seeks: Seeks {
            sequential: 1,
            forward: 0,
            backward: 1,
            distances: vec![(15, 1)],
            total_bytes: 40_000,
        },
        d2c: Histogram::from_values([90_000, 110_000]),
        q2d: Histogram::from_values([1000, 2000, 3000]),
    };
    let flush = RequestStats {
        class: RequestClass::Flush,
        issued: 1,
        completed: 1,
        d2c: Histogram::from_values([400_000]),
        ..RequestStats::default()
    };
    let vda = DeviceActivity {
        name: "vda".into(),
        number: DeviceNumber { major: 254, minor: 16 },
        requests: vec![read, flush],
        issuers: vec![
            Issuer {
                kind: IssuerKind::Own,
                name: "fathom".into(),
                reads: 2,
                read_bytes: 32_768,
                ..Issuer::default()
            },
            Issuer { kind: IssuerKind::Journal, name: "jbd2/vda".into(), others: 1, ..Issuer::default() },
        ],
        in_device: vec![DepthTime { depth: 0, ns: 800_000 }, DepthTime { depth: 2, ns: 200_000 }],
        in_queue: vec![DepthTime { depth: 1, ns: 1_000_000 }],
        busy_ns: 200_000,
        unfinished: 1,
        begun_before: 1,
        requeued: 1,
        splits: Some(4),
        unplugs: Some((2, 3)),
        ..DeviceActivity::default()
    };
    let md0 = DeviceActivity { name: "md0".into(), level: 1, bio_based: true, ..DeviceActivity::default() };
    let row = BlockInterval {
        end_ns: 500_000,
        width_ns: 500_000,
        reads: 2,
        read_bytes: 32_768,
        read_merges: 4,
        read_ns: 205_000,
        flushes: 1,
        busy_ns: 200_000,
        depth_ns: 400_000,
        ..BlockInterval::default()
    };
    let counted = BlockInterval {
        source: TimeSource::Counters,
        end_ns: 500_000,
        width_ns: 0,
        ..BlockInterval::default()
    };
    BlockLayer {
        source: "tracefs".into(),
        events: 20,
        lost: 3,
        observer_cpu_ns: 5000,
        watched_ns: 1_000_000,
        devices: vec![vda, md0],
        intervals: vec![row, counted],
        notes: vec!["3 events were lost.".into()],
    }
}

/// A finding with and one without advice.
pub(crate) fn sample_findings() -> Vec<Finding> {
    let evidence = |name: &str, value, unit: &str| Evidence {
        name: name.into(),
        value,
        unit: unit.into(),
        source: "block events".into(),
    };
    vec![
        Finding {
            rule: "read-ahead".into(),
            sentence: "Read-ahead fetched 3.1 x what was asked for.".into(),
            advice: "Lower read_ahead_kb.".into(),
            evidence: vec![evidence("bytes read", 40_960.0, "bytes"), evidence("ratio", 3.125, "ratio")],
        },
        Finding {
            rule: "request-size".into(),
            sentence: "Each read became two requests.".into(),
            ..Finding::default()
        },
    ]
}

fn any_seeks() -> impl Strategy<Value = Seeks> {
    (number(), number(), number(), prop::collection::vec((any::<u32>(), number()), 0..3), any::<u128>())
        .prop_map(|(sequential, forward, backward, distances, total)| Seeks {
            sequential,
            forward,
            backward,
            distances,
            // Includes small ones, which are integers in the store.
            total_bytes: total >> (sequential % 128),
        })
}

fn any_size() -> impl Strategy<Value = SizeCount> {
    (number(), number()).prop_map(|(bytes, count)| SizeCount { bytes, count })
}

fn any_requests() -> BoxedStrategy<RequestStats> {
    (
        prop::sample::select(RequestClass::ALL.to_vec()),
        [number(), number(), number(), number(), number(), number(), number(), number(), number()],
        [
            prop::option::of(number()),
            prop::option::of(number()),
            prop::option::of(number()),
            prop::option::of(number()),
        ],
        prop::collection::vec(any_size(), 0..4),
        any_seeks(),
        (any_histogram(), any_histogram()),
    )
        .prop_map(|(class, n, queued, sizes, seeks, (d2c, q2d))| RequestStats {
            class,
            issued: n[0],
            issued_bytes: n[1],
            completed: n[2],
            completed_bytes: n[3],
            errors: n[4],
            ahead: n[5],
            sync: n[6],
            meta: n[7],
            fua: n[8],
            bios: queued[0],
            back_merges: queued[1],
            front_merges: queued[2],
            request_merges: queued[3],
            sizes,
            seeks,
            d2c,
            q2d,
        })
        .boxed()
}

fn any_issuer() -> BoxedStrategy<Issuer> {
    (
        prop::sample::select(IssuerKind::ALL.to_vec()),
        words(),
        [number(), number(), number(), number(), number()],
    )
        .prop_map(|(kind, name, n)| Issuer {
            kind,
            name,
            reads: n[0],
            read_bytes: n[1],
            writes: n[2],
            write_bytes: n[3],
            others: n[4],
        })
        .boxed()
}

fn any_depths() -> impl Strategy<Value = Vec<DepthTime>> {
    prop::collection::vec((any::<u32>(), number()).prop_map(|(depth, ns)| DepthTime { depth, ns }), 0..3)
}

fn any_device() -> BoxedStrategy<DeviceActivity> {
    (
        (words(), any::<u32>(), any::<u32>(), any::<u32>(), any::<bool>()),
        prop::collection::vec(any_requests(), 0..3),
        prop::collection::vec(any_issuer(), 0..3),
        (any_depths(), any_depths()),
        [number(), number(), number(), number()],
        (prop::option::of(number()), prop::option::of((number(), number()))),
    )
        .prop_map(|(who, requests, issuers, depths, n, (splits, unplugs))| DeviceActivity {
            name: who.0,
            number: DeviceNumber { major: who.1, minor: who.2 },
            level: who.3,
            bio_based: who.4,
            requests,
            issuers,
            in_device: depths.0,
            in_queue: depths.1,
            busy_ns: n[0],
            unfinished: n[1],
            begun_before: n[2],
            requeued: n[3],
            splits,
            unplugs,
        })
        .boxed()
}

fn any_row() -> BoxedStrategy<BlockInterval> {
    (any::<u32>(), prop::sample::select(TimeSource::ALL.to_vec()), prop::collection::vec(number(), 14))
        .prop_map(|(device, source, n)| BlockInterval {
            device,
            source,
            end_ns: n[0],
            width_ns: n[1],
            reads: n[2],
            read_bytes: n[3],
            read_merges: n[4],
            read_ns: n[5],
            writes: n[6],
            write_bytes: n[7],
            write_merges: n[8],
            write_ns: n[9],
            discards: n[10],
            flushes: n[11],
            busy_ns: n[12],
            depth_ns: n[13],
        })
        .boxed()
}

/// Any block layer, whether or not it makes sense. Boxed, as are its parts: a tree of generators this deep overflows a thread's stack.
pub(crate) fn any_block() -> BoxedStrategy<BlockLayer> {
    (
        words(),
        [number(), number(), number(), number()],
        prop::collection::vec(any_device(), 0..3),
        prop::collection::vec(any_row(), 0..3),
        prop::collection::vec(words(), 0..3),
    )
        .prop_map(|(source, n, devices, intervals, notes)| BlockLayer {
            source,
            events: n[0],
            lost: n[1],
            observer_cpu_ns: n[2],
            watched_ns: n[3],
            devices,
            intervals,
            notes,
        })
        .boxed()
}

pub(crate) fn any_findings() -> BoxedStrategy<Vec<Finding>> {
    let evidence = (words(), figure(), words(), words()).prop_map(|(name, value, unit, source)| Evidence {
        name,
        value,
        unit,
        source,
    });
    let finding = (words(), words(), words(), prop::collection::vec(evidence, 0..3))
        .prop_map(|(rule, sentence, advice, evidence)| Finding { rule, sentence, advice, evidence });
    prop::collection::vec(finding, 0..3).boxed()
}

fn run_with(block: Option<BlockLayer>, findings: Vec<Finding>) -> Run {
    let mut run = sample_run();
    run.phases[0].repetitions = vec![Repetition { block, findings, ..Repetition::default() }];
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_block_layer_and_findings_come_back(block in prop::option::of(any_block()), findings in any_findings()) {
        let run = run_with(block, findings);
        let mut store = Store::open(":memory:").expect("opens");
        store.save(&run).expect("saves");
        prop_assert_eq!(store.load(&run.id).expect("loads"), run);
    }
}

fn ask(store: &Store, sql: &str) -> Vec<String> {
    let connection = store.connection().expect("open");
    let mut statement = connection.prepare(sql).expect(sql);
    statement.query_map([], |r| r.get(0)).expect(sql).collect::<Result<_, _>>().expect(sql)
}

fn stored(run: &Run) -> Store {
    let mut store = Store::open(":memory:").expect("opens");
    store.save(run).expect("saves");
    store
}

#[test]
fn the_view_has_a_row_for_each_class_of_each_device() {
    let store = stored(&run_with(Some(sample_block()), Vec::new()));
    let of = "FROM block_result WHERE phase_seq = 0 ORDER BY class";
    assert_eq!(
        ask(&store, &format!("SELECT device || ' ' || class || ' ' || issued {of}")),
        ["vda flush 1", "vda read 3"]
    );
    // 2 completed with 32 KiB in a millisecond; one request of two continued where the previous one ended.
    let figures = "SELECT printf('%g %g %g %g %g %d %d', iops, mib_per_s, mean_bytes, sequential_share, busy_share, merges, lost)";
    assert_eq!(ask(&store, &format!("{figures} {of} LIMIT 1 OFFSET 1")), ["2000 31.25 13653.3 0.5 0.2 4 3"]);
    let times = "SELECT printf('%d %d', q2d_p50_ns / 100, d2c_max_ns)";
    assert_eq!(ask(&store, &format!("{times} {of} LIMIT 1 OFFSET 1")), ["20 110000"]);
}

#[test]
fn nothing_is_written_where_nothing_was_watched() {
    let store = stored(&run_with(None, Vec::new()));
    for table in BLOCK_TABLES {
        let sql = format!("SELECT CAST(count(*) AS TEXT) FROM {table}");
        assert_eq!(ask(&store, &sql), ["0"], "{table}");
    }
}

/// The tables of this file.
pub(crate) const BLOCK_TABLES: [&str; 12] = [
    "block",
    "block_note",
    "block_device",
    "block_request",
    "block_latency",
    "block_size",
    "block_seek",
    "block_depth",
    "block_issuer",
    "block_interval",
    "finding",
    "finding_evidence",
];

#[test]
fn a_changed_row_is_reported() {
    let mut block = sample_block();
    block.devices[0].requests[0].seeks.total_bytes = u128::MAX;
    let store = stored(&run_with(Some(block), Vec::new()));
    assert_eq!(
        ask(&store, "SELECT seek_exact FROM block_request WHERE seek_exact IS NOT NULL"),
        [u128::MAX.to_string()]
    );
    let spoil = "UPDATE block_request SET seek_exact = 'many' WHERE seek_exact IS NOT NULL";
    store.connection().expect("open").execute_batch(spoil).expect("spoils");
    let error = store.load("last").expect_err("unreadable").to_string();
    assert!(error.contains("a sum of seek distances"), "{error}");
}

#[test]
fn the_documented_queries_answer() {
    let text = include_str!("../../../../docs/formats/store.md");
    let queries = text.split("```sql\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let ours: Vec<&str> = queries.filter(|q| q.contains("block_") || q.contains("finding")).collect();
    assert!(ours.len() >= 3, "{ours:?}");
    let store = stored(&run_with(Some(sample_block()), sample_findings()));
    for query in ours {
        let mut statement = store.connection().expect("open").prepare(query).expect(query);
        assert!(statement.exists([]).expect(query), "no row answers\n{query}");
    }
}
