//! Stores of an older version are migrated; those from before the first release, and newer ones, are refused.

use super::*;

/// Makes a store what version [`schema::OLDEST`] would have left: a doubt has at most one phase.
fn as_of_oldest_version(path: &Path) {
    let file = Connection::open(path).expect("opens");
    let oldest = schema::OLDEST;
    let changes = format!(
        "ALTER TABLE doubt ADD COLUMN phase_seq INTEGER;
         UPDATE doubt SET phase_seq = phase_seqs ->> 0;
         ALTER TABLE doubt DROP COLUMN phase_seqs;
         PRAGMA user_version={oldest}"
    );
    file.execute_batch(&changes).expect("changes");
}

#[test]
fn stores_of_the_oldest_version_are_brought_up_to_date() {
    let (_dir, path) = scratch();
    Store::open(&path).expect("opens").save(&sample_run()).expect("saves");
    as_of_oldest_version(&path);
    let mut store = Store::open(&path).expect("opens");
    assert_eq!(store.load(&sample_run().id).expect("loads"), sample_run());
    store.save(&run_named("later")).expect("saves");
    assert_eq!(store.load("later").expect("loads"), run_named("later"));
    store.remove(&sample_run().id).expect("what is old can be removed");
    drop(store);
    let found: i64 = Connection::open(&path)
        .expect("opens")
        .query_row("PRAGMA user_version", [], |r| r.get(0))
        .expect("asks");
    assert_eq!(found, SCHEMA_VERSION);
}

#[test]
fn a_migrated_store_has_the_tables_of_a_new_one() {
    let tables = |path: &Path| -> Vec<(String, String)> {
        let file = Connection::open(path).expect("opens");
        let columns = "SELECT tables.name, columns.name || ' ' || columns.type || columns.\"notnull\"
             FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns ORDER BY 1, 2";
        let mut statement = file.prepare(columns).expect("prepares");
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).expect("asks");
        rows.map(|row| row.expect("answers")).collect()
    };
    let (_dir, path) = scratch();
    drop(Store::open(&path).expect("opens"));
    let new = tables(&path);
    as_of_oldest_version(&path);
    assert_ne!(tables(&path), new);
    drop(Store::open(&path).expect("opens"));
    assert_eq!(tables(&path), new);
}

#[test]
fn stores_of_versions_that_are_not_known_are_refused() {
    for (version, told) in [(99, "version 99, this fathom"), (19, "version 19, from before fathom 0.1.0")] {
        let (_dir, path) = scratch();
        let store = Store::open(&path).expect("opens");
        let change = format!("PRAGMA user_version={version}");
        store.connection().expect("open").execute_batch(&change).expect("changes");
        drop(store);
        let error = Store::open(&path).expect_err("refuses").to_string();
        assert!(error.contains(told), "{error}");
    }
}
