//! Tests of finding, listing and removing runs in the store.

use super::*;
use crate::store::block_tests::BLOCK_TABLES;

#[test]
fn runs_are_found_by_the_beginning_of_their_id() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    assert!(matches!(store.load("last"), Err(StoreError::Empty { .. })));
    for id in ["20261121T1-aaa", "20261121T2-bbb", "20261122T1-ccc", "20261122T1-ccc2"] {
        store.save(&run_named(id)).expect("saves");
    }
    assert_eq!(store.resolve("last").expect("finds"), "20261122T1-ccc2");
    assert_eq!(store.resolve("20261121T1").expect("finds"), "20261121T1-aaa");
    assert_eq!(store.resolve("20261122T1-ccc").expect("a whole id wins"), "20261122T1-ccc");
    let error = store.resolve("2026").expect_err("several").to_string();
    assert!(error.contains("20261121T1-aaa") && error.contains("give more"), "{error}");
    for nothing in ["x", "", "%", "20261121T_"] {
        assert!(matches!(store.resolve(nothing), Err(StoreError::NoSuchRun { .. })), "{nothing}");
    }
}

#[test]
fn the_list_can_be_narrowed() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    for (id, label) in [("a", "x"), ("b", "y"), ("c", "x")] {
        store.save(&Run { label: label.into(), ..run_named(id) }).expect("saves");
    }
    let ids = |filter: Filter| -> Vec<String> {
        store.list(&filter).expect("lists").into_iter().map(|s| s.id).collect()
    };
    assert_eq!(ids(Filter::default()), ["a", "b", "c"]);
    assert_eq!(ids(Filter { label: Some("x".into()), ..Filter::default() }), ["a", "c"]);
    assert_eq!(ids(Filter { limit: Some(2), ..Filter::default() }), ["b", "c"]);
    assert_eq!(ids(Filter { id_prefix: Some("b".into()), ..Filter::default() }), ["b"]);
    assert_eq!(ids(Filter { dialect: Some("fio".into()), ..Filter::default() }), [""; 0]);
    assert_eq!(ids(Filter { limit: Some(usize::MAX), ..Filter::default() }), ["a", "b", "c"]);
    assert_eq!(ids(Filter { limit: Some(0), ..Filter::default() }), [""; 0]);
}

#[test]
fn listing_does_not_block_writers() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let names = ["e", "d", "c", "b", "a"];
    for id in names.iter().rev() {
        store.save(&run_named(id)).expect("saves");
    }
    for limit in [None, Some(5), Some(4), Some(3), Some(1)] {
        let mut listed = Vec::new();
        let see = |run: RunSummary| {
            let connection = store.connection().expect("open");
            assert!(connection.is_autocommit() && !connection.is_busy(), "it holds a lock");
            listed.push(run.id);
        };
        store.each_listed(&Filter { limit, ..Filter::default() }, see).expect("lists");
        assert_eq!(listed, names[..limit.unwrap_or(5)], "{limit:?}");
    }
}

#[test]
fn a_removed_run_leaves_nothing_behind() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.save(&run_named("a")).expect("saves");
    store.save(&run_named("b")).expect("saves");
    let rows = |store: &Store, table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        store.connection().expect("open").query_row(&sql, [], |r| r.get(0)).expect("counts")
    };
    assert_eq!(rows(&store, "environment"), 1, "equal environments are stored once");
    assert_eq!(store.remove("a").expect("removes"), "a");
    assert_eq!(store.load("b").expect("the other one stays"), run_named("b"));
    store.remove("b").expect("removes");
    let tables = [
        "run",
        "phase",
        "repetition",
        "worker",
        "op_stat",
        "op_total",
        "interval",
        "interval_latency",
        "interval_moved",
        "flow_op",
        "flow_op_total",
        "steady",
        "steady_round",
        "steady_group",
        "priority_stat",
        "jitter",
        "trust",
        "device",
        "residency",
        "doubt",
        "artifact",
        "environment",
        "workload",
        "source",
        "figure",
        "simulation",
    ];
    for table in tables.into_iter().chain(BLOCK_TABLES) {
        assert_eq!(rows(&store, table), 0, "{table}");
    }
}
