//! Stores of older versions are migrated, newer ones are refused. Also the sample run reduced to what older versions can hold,
//! for the exports' tests too.

use super::*;

/// The sample run without additions after schema version 5 (and it has nothing that came with that one).
pub(crate) fn sample_of_fifth_version() -> Run {
    let mut run = sample_run();
    for r in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        r.block = None;
        r.findings.clear();
    }
    run
}

/// The sample run without additions after schema version 3.
pub(crate) fn sample_of_third_version() -> Run {
    let mut run = sample_of_fifth_version();
    for r in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        r.intervals.iter_mut().for_each(|i| i.moved.clear());
        r.physical.machine_cpu_ns = None;
        for w in &mut r.workers {
            w.rows.clear();
            if let Ending::Failed(error) = &mut w.ending {
                error.compared = None;
            }
        }
    }
    run
}

/// The sample run without additions after schema version 2.
pub(crate) fn sample_of_second_version() -> Run {
    let mut run = Run { trust: Vec::new(), ..sample_of_third_version() };
    for r in run.phases.iter_mut().flat_map(|p| &mut p.repetitions) {
        r.intervals.iter_mut().for_each(|i| i.latencies.clear());
        for w in &mut r.workers {
            *w = Worker { drained_ops: 0, ramp_ops: 0, settled_depth: None, behind_ns: 0, ..w.clone() };
        }
        let defaults = Repetition::default();
        r.ramp_ns = defaults.ramp_ns;
        r.steady = defaults.steady;
        r.jitter = defaults.jitter;
        r.cache = defaults.cache;
        r.extents = defaults.extents;
    }
    run
}

/// A file as a fathom of schema version `version` left it: the steps up to there, and the parts of the sample run that have columns.
fn store_of_version(version: usize, path: &Path) {
    let present = path.with_extension("present");
    Store::open(&present).expect("opens").save(&sample_run()).expect("saves");
    let old = Connection::open(path).expect("opens");
    for step in &schema::MIGRATIONS[..version] {
        old.execute_batch(step).expect("the steps of then");
    }
    old.execute("ATTACH ?1 AS present", [present.to_str().expect("UTF-8")]).expect("attaches");
    let list = |sql: &str| -> Vec<String> {
        let mut statement = old.prepare(sql).expect("prepares");
        statement.query_map([], |r| r.get(0)).expect("asks").map(|r| r.expect("answers")).collect()
    };
    for table in list("SELECT name FROM main.sqlite_schema WHERE type = 'table'") {
        let columns = list(&format!("SELECT name FROM pragma_table_info('{table}', 'main')")).join(", ");
        // A doubt had at most one phase.
        let values = if table == "doubt" {
            columns.replace("phase_seq,", "phase_seqs ->> 0,")
        } else {
            columns.clone()
        };
        let copy = format!("INSERT INTO main.{table} ({columns}) SELECT {values} FROM present.{table}");
        old.execute(&copy, []).expect("copies");
    }
    let marks = format!("PRAGMA application_id={}; PRAGMA user_version={version}", schema::APPLICATION_ID);
    old.execute_batch(&marks).expect("marks");
}

fn as_it_was_known(mut run: Run, version: usize) -> Run {
    let repetitions = run.phases.iter_mut().flat_map(|phase| &mut phase.repetitions);
    for worker in repetitions.flat_map(|one| &mut one.workers) {
        match &mut worker.thread_counts {
            Some(_) if version >= 12 => {}
            Some(counts) if version >= 11 => counts.processor_wait_ns = None,
            counts => *counts = None,
        }
    }
    for repetition in run.phases.iter_mut().flat_map(|phase| &mut phase.repetitions) {
        if version < 13 {
            repetition.physical.dirty_before_bytes = None;
        }
        if version < 14 {
            for device in &mut repetition.physical.devices {
                (device.read_ms, device.write_ms, device.queue_ms) = (0, 0, 0);
            }
            repetition.workers.iter_mut().for_each(|worker| worker.in_flight = None);
        }
    }
    run
}

#[test]
fn stores_of_older_versions_are_brought_up_to_date() {
    let second = sample_of_second_version();
    let mut first = second.clone();
    first.phases[0].repetitions[0].physical.devices[0].kind.clear();
    for (version, wanted) in [
        (1, first),
        (2, second),
        (3, sample_of_third_version()),
        (4, sample_of_fifth_version()),
        (5, sample_of_fifth_version()),
        // The seventh step is for imported runs; the sample is not one.
        (6, sample_run()),
        // The eighth is for simulated runs, the ninth for jobs that end when steady.
        (7, sample_run()),
        (8, sample_run()),
        // The tenth is for errors passed over; the sample has none.
        (9, sample_run()),
        (10, sample_run()),
        (11, sample_run()),
        (12, sample_run()),
        (13, sample_run()),
        // The fifteenth is for data waiting to be written; the sample has none.
        (14, sample_run()),
    ] {
        let wanted = as_it_was_known(wanted, version);
        let (_dir, path) = scratch();
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        store_of_version(version, &path);
        let mut store = Store::open(&path).expect("opens");
        assert_eq!(store.load(&wanted.id).expect("loads"), wanted, "version {version}");
        store.save(&run_named("later")).expect("saves");
        assert_eq!(store.load("later").expect("loads"), run_named("later"), "version {version}");
        store.remove(&wanted.id).expect("what is old can be removed");
        drop(store);
        let found: i64 = Connection::open(&path)
            .expect("opens")
            .query_row("PRAGMA user_version", [], |r| r.get(0))
            .expect("asks");
        assert_eq!(found, SCHEMA_VERSION);
    }
}

#[test]
fn a_newer_store_is_refused() {
    let (_dir, path) = scratch();
    let store = Store::open(&path).expect("opens");
    store.connection().expect("open").execute_batch("PRAGMA user_version=99").expect("changes");
    drop(store);
    let error = Store::open(&path).expect_err("refuses").to_string();
    assert!(error.contains("version 99") && error.contains("newer fathom"), "{error}");
}
