//! SQL queries on the store's tables and views.

use super::*;

#[test]
fn the_view_has_one_row_per_repetition_and_operation() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.save(&sample_run()).expect("saves");
    let connection = store.connection().expect("open");
    let mut statement = connection
        .prepare("SELECT phase, repetition, op, mib_per_s, iops, p50_ns, max_ns, regime FROM result ORDER BY phase_seq, repetition, op")
        .expect("prepares");
    type Line = (String, u32, String, f64, f64, i64, i64, String);
    let lines: Vec<Line> = statement
        .query_map([], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?, r.get(6)?, r.get(7)?))
        })
        .expect("asks")
        .collect::<Result<_, _>>()
        .expect("answers");
    assert_eq!(lines.len(), 6);
    assert_eq!((lines[0].0.as_str(), lines[0].2.as_str()), ("write", "sync"));
    // Two writers of 256 KiB in 2.5 ms each: 200 MiB/s together, 3200 writes a second.
    assert_eq!((lines[1].2.as_str(), lines[1].3, lines[1].4), ("write", 200.0, 3200.0));
    assert_eq!(lines[1].6, 250_000);
    assert_eq!(lines[2].7, "unknown");
}

#[test]
fn the_course_of_a_repetition_can_be_asked_for() {
    let mut store = Store::open(":memory:").expect("opens");
    store.save(&sample_run()).expect("saves");
    let ask = |sql: &str| -> String {
        store.connection().expect("open").query_row(sql, [], |r| r.get(0)).expect(sql)
    };
    assert_eq!(
        ask("SELECT group_concat(op || ' ' || timed || ' ' || max_ns, ', ') FROM interval_latency
             JOIN interval USING (repetition_id, position)"),
        "write 8 250000, sync 2 2000000"
    );
    assert_eq!(ask("SELECT what || ' ' || max_ns FROM jitter WHERE what = 'gap'"), "gap 40000");
    assert_eq!(
        ask("SELECT cache || ' ' || ramp_ns || ' ' || hole_bytes FROM repetition LIMIT 1"),
        "cold 500000 4096"
    );
    assert_eq!(
        ask(
            "SELECT figure || ' ' || reached || ' ' || count(*) FROM steady JOIN steady_round USING (repetition_id)"
        ),
        "bytes 0 3"
    );
    assert_eq!(
        ask("SELECT group_concat(seq || ' ' || verdict, ', ') FROM trust"),
        "0 doubtful, 1 good, 2 unknown"
    );
}

#[test]
fn the_operations_of_a_flow_can_be_asked_for() {
    let mut store = Store::open(":memory:").expect("opens");
    store.save(&sample_run()).expect("saves");
    let ask = |sql: &str| -> String {
        store.connection().expect("open").query_row(sql, [], |r| r.get(0)).expect(sql)
    };
    // Four opens and two appends of 16 KiB in the longer of the two clocks, 20 ms.
    assert_eq!(
        ask("SELECT group_concat(name || ' ' || class || ' ' || coalesce(op, '-') || ' ' || ops || ' ' || ops_per_s || ' ' ||
                 mib_per_s || ' ' || coalesce(p99_ns, '-'), ', ') FROM (SELECT * FROM flow_result ORDER BY position)"),
        "open1 io open 4 200.0 0.0 5001, append1 io write 2 100.0 1.5625 9000, wait1 sync - 0 0.0 0.0 -"
    );
    assert_eq!(ask("SELECT count(*) || ' ' || sum(cpu_ns) FROM flow_op"), "6 3600");
    assert_eq!(
        ask("SELECT group_concat(position || ' ' || m.op || ' ' || m.bytes, ', ') FROM interval_moved AS m
             JOIN interval USING (repetition_id, position)"),
        "0 write 12288, 0 read 0, 1 write 12288, 1 read 4096"
    );
    assert_eq!(
        ask("SELECT error_expected || ' ' || error_found FROM worker WHERE error_call = 'verify'"),
        "7 -1",
        "a number of 2^63 and more: 2^64 less"
    );
}

#[test]
fn the_documented_queries_answer_for_flows_too() {
    let text = include_str!("../../../../../docs/formats/store.md");
    let queries: Vec<&str> =
        text.split("```sql\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    let flows: Vec<&&str> =
        queries.iter().filter(|q| q.contains("flow_") || q.contains("interval_moved")).collect();
    assert_eq!(flows.len(), 3, "{queries:?}");
    let mut store = Store::open(":memory:").expect("opens");
    store.save(&Run { dialect: "filebench".into(), ..sample_run() }).expect("saves");
    for query in flows {
        let mut statement = store.connection().expect("open").prepare(query).expect(query);
        assert!(statement.exists([]).expect(query), "no row answers\n{query}");
    }
}

#[test]
fn nothing_is_written_for_what_was_not_watched() {
    let mut store = Store::open(":memory:").expect("opens");
    let mut run = plain_sample_run();
    // Watched without any stall: the column says so, and there is no row.
    run.phases[1].repetitions[0].jitter = Some(Jitter::default());
    store.save(&run).expect("saves");
    let tables = [
        "interval_latency",
        "interval_moved",
        "flow_op",
        "flow_op_total",
        "steady",
        "steady_round",
        "jitter",
        "trust",
    ];
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows: i64 = store.connection().expect("open").query_row(&sql, [], |r| r.get(0)).expect("counts");
        assert_eq!(rows, 0, "{table}");
    }
    assert_eq!(store.load("last").expect("loads"), run);
}
