//! A run is stored as it happens, phase by phase; a second writer waits for its turn.

use super::*;

#[test]
fn a_run_written_step_by_step_equals_one_saved_whole() {
    let (_dir, path) = scratch();
    let run = sample_run();
    let mut store = Store::open(&path).expect("opens");
    let head = Run {
        status: Status::Running,
        ended_at: String::new(),
        error: None,
        clock: Clock { drift_ppm: None, ..run.clock.clone() },
        ..run.clone()
    };
    store.begin(&head).expect("begins");
    for phase in &run.phases {
        store.append_phase(&run.id, phase).expect("appends");
    }
    let begun = Run { doubts: Vec::new(), trust: Vec::new(), ..head };
    assert_eq!(store.load(&run.id).expect("loads"), begun);
    store.finish(&run).expect("finishes");
    assert_eq!(store.load(&run.id).expect("loads"), run);
}

#[test]
fn a_run_is_begun_once_and_before_its_phases() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let missing = store.append_phase("a", &sample_run().phases[0]);
    assert!(matches!(missing, Err(StoreError::NoSuchRun { .. })));
    let missing = store.append_doubt("a", &sample_run().doubts[0]);
    assert!(matches!(missing, Err(StoreError::NoSuchRun { .. })));
    store.begin(&run_named("a")).expect("begins");
    assert!(matches!(store.begin(&run_named("a")), Err(StoreError::Exists { .. })));
}

#[test]
fn a_clean_close_leaves_one_file() {
    let (_dir, path) = scratch();
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(path.parent().expect("a parent"))
            .expect("reads")
            .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    };
    let mut store = Store::open(&path).expect("opens");
    store.save(&sample_run()).expect("saves");
    assert!(names().contains(&"fathom.db-wal".to_string()), "{:?}", names());
    store.close().expect("closes");
    assert_eq!(names(), ["fathom.db"]);
    let mut dropped = Store::open(&path).expect("opens");
    dropped.save(&run_named("b")).expect("saves");
    drop(dropped);
    assert_eq!(names(), ["fathom.db"]);
}

#[test]
fn two_writers_take_turns() {
    let (_dir, path) = scratch();
    let mut a = Store::open(&path).expect("opens");
    let mut b = Store::open(&path).expect("opens");
    a.begin(&run_named("a")).expect("begins");
    b.begin(&run_named("b")).expect("begins");
    a.append_phase("a", &sample_run().phases[0]).expect("appends");
    b.append_phase("b", &sample_run().phases[1]).expect("appends");
    a.close().expect("closes while the other is there");
    assert_eq!(b.list(&Filter::default()).expect("lists").len(), 2);
    b.close().expect("closes");
}

#[test]
fn those_that_begin_at_once_all_get_their_turn() {
    for _ in 0..30 {
        let (_dir, path) = scratch();
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || {
                    let mut store = Store::open(path).expect("opens");
                    store.begin(&run_named(name)).expect("begins");
                    store.close().expect("closes");
                });
            }
        });
    }
}
