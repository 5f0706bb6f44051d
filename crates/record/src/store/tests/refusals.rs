//! Every failure is a sentence, and earlier data stays.

use super::*;

#[test]
fn what_is_not_ours_is_left_alone() {
    let (dir, _) = scratch();
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "this is no database at all, but it is long enough to look at ".repeat(20))
        .expect("writes");
    assert!(matches!(Store::open(&text), Err(StoreError::NotADatabase { .. })));
    let other = dir.path().join("other.db");
    Connection::open(&other)
        .expect("opens")
        .execute_batch("CREATE TABLE bookmarks (url TEXT)")
        .expect("creates");
    assert!(matches!(Store::open(&other), Err(StoreError::Foreign { .. })));
}

#[test]
fn a_place_that_is_no_directory_is_named() {
    let (dir, _) = scratch();
    std::fs::write(dir.path().join("file"), "").expect("writes");
    let error = Store::open(dir.path().join("file/below/fathom.db")).expect_err("refuses").to_string();
    assert!(error.contains("file/below") && error.contains("FATHOM_STORE"), "{error}");
    let error = Store::open(dir.path()).expect_err("a directory is no file").to_string();
    assert!(error.contains("could not be opened"), "{error}");
}

#[test]
fn a_lock_is_reported_after_the_time_out() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.begin(&run_named("a")).expect("begins");
    let other = Connection::open(&path).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    store.connection().expect("open").busy_timeout(Duration::from_millis(1)).expect("sets");
    assert!(matches!(store.append_phase("a", &sample_run().phases[0]), Err(StoreError::Locked { .. })));
    other.execute_batch("ROLLBACK").expect("unlocks");
    store.append_phase("a", &sample_run().phases[0]).expect("goes on afterwards");
}

#[test]
fn a_full_disk_is_a_sentence_and_keeps_what_was_stored() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    store.begin(&run_named("a")).expect("begins");
    // SQLite's own page limit gives the same error as a full disk.
    let pages: i64 =
        store.connection().expect("open").query_row("PRAGMA page_count", [], |r| r.get(0)).expect("asks");
    let limit = format!("PRAGMA max_page_count={}", pages + 1);
    store.connection().expect("open").query_row(&limit, [], |_| Ok(())).expect("sets");
    let mut phase = sample_run().phases[0].clone();
    phase.name = "x".repeat(1 << 20);
    let error = store.append_phase("a", &phase).expect_err("full").to_string();
    assert!(error.contains("full"), "{error}");
    assert_eq!(store.load("a").expect("loads").phases.len(), 0);
}

#[test]
fn a_changed_row_is_reported_and_not_guessed() {
    for (change, word) in [
        ("UPDATE op_stat SET timed = timed + 1", "timed"),
        ("UPDATE op_stat SET hdr = x'00'", "histogram"),
        ("UPDATE artifact SET body = x'00'", "operation log"),
        ("UPDATE phase SET tags = '['", "tags"),
        ("UPDATE run SET seed = 'x'", "seed"),
        ("UPDATE interval_latency SET timed = timed + 1", "timed"),
        ("UPDATE interval_latency SET op = 'think'", "think"),
        ("UPDATE interval_latency SET position = 7", "interval 7"),
        ("UPDATE jitter SET hdr = x'00'", "histogram"),
        ("UPDATE flow_op SET hdr = x'00'", "histogram"),
        ("UPDATE flow_op SET op = 'think'", "think"),
        ("UPDATE interval_moved SET position = 7 WHERE position = 1", "interval 7"),
    ] {
        let mut store = Store::open(":memory:").expect("opens");
        store.save(&run_named("a")).expect("saves");
        store.connection().expect("open").execute_batch(change).expect("changes");
        let error = store.load("a").expect_err(change).to_string();
        assert!(error.contains(word), "{change}: {error}");
    }
}

/// A reader sees nothing or everything of a file that is being created.
#[test]
fn a_store_that_is_being_made_is_ours() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..60 {
        let path = dir.path().join(format!("{n}.db"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| Store::open(&path).unwrap());
            }
        });
    }
}
