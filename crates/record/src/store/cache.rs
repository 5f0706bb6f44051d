//! Writes and reads memory-or-device data: the split of a repetition's bytes, the course of dirty data, and how files were made
//! cold. Nothing is written for what was not watched.

use super::bits::int;
use super::columns::{count, maybe, rows};
use crate::{
    CacheCourse, CacheSample, CacheTruth, Cold, ColdStep, ReadTruth, Repetition, UnwrittenData, WriteTruth,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

pub(super) fn append(t: &Transaction, repetition_id: i64, r: &Repetition) -> rusqlite::Result<()> {
    if let Some(truth) = &r.truth {
        append_truth(t, repetition_id, truth)?;
    }
    if let Some(w) = &r.physical.waiting {
        t.prepare_cached(
            "INSERT INTO cache_waiting (repetition_id, before_bytes, at_stop_bytes, after_bytes, below_bytes, meanwhile_bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            repetition_id,
            int(w.before_bytes),
            int(w.at_stop_bytes),
            int(w.after_bytes),
            int(w.below_bytes),
            int(w.meanwhile_bytes)
        ])?;
    }
    if let Some(course) = &r.course {
        append_course(t, repetition_id, course)?;
    }
    if let Some(cold) = &r.cold {
        append_cold(t, repetition_id, cold)?;
    }
    Ok(())
}

/// Fills in the fields of a repetition.
pub(super) fn load(db: &Connection, id: i64, r: &mut Repetition) -> rusqlite::Result<()> {
    r.truth = load_truth(db, id)?;
    r.physical.waiting = one(db, "SELECT * FROM cache_waiting WHERE repetition_id = ?1", id, waiting)?;
    r.course = load_course(db, id)?;
    r.cold = load_cold(db, id)?;
    Ok(())
}

fn one<T>(
    db: &Connection,
    sql: &str,
    id: i64,
    read: impl FnOnce(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    db.prepare_cached(sql)?.query_row([id], read).optional()
}

fn append_truth(t: &Transaction, id: i64, truth: &CacheTruth) -> rusqlite::Result<()> {
    t.prepare_cached("INSERT INTO cache_truth (repetition_id, statement) VALUES (?1, ?2)")?
        .execute(params![id, truth.statement])?;
    if let Some(r) = &truth.read {
        t.prepare_cached(
            "INSERT INTO cache_read (repetition_id, asked_bytes, device_bytes, cache_bytes, hole_bytes, excess_bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            id,
            int(r.asked_bytes),
            int(r.device_bytes),
            int(r.cache_bytes),
            int(r.hole_bytes),
            int(r.excess_bytes)
        ])?;
    }
    if let Some(w) = &truth.written {
        t.prepare_cached(
            "INSERT INTO cache_written (repetition_id, asked_bytes, in_clock_bytes, later_bytes, dirty_bytes, lost_bytes,
                 excess_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            id,
            int(w.asked_bytes),
            int(w.in_clock_bytes),
            int(w.later_bytes),
            w.dirty_bytes.map(int),
            int(w.lost_bytes),
            int(w.excess_bytes)
        ])?;
    }
    Ok(())
}

fn load_truth(db: &Connection, id: i64) -> rusqlite::Result<Option<CacheTruth>> {
    let statement =
        one(db, "SELECT statement FROM cache_truth WHERE repetition_id = ?1", id, |r| r.get("statement"))?;
    let Some(statement) = statement else { return Ok(None) };
    Ok(Some(CacheTruth {
        read: one(db, "SELECT * FROM cache_read WHERE repetition_id = ?1", id, read)?,
        written: one(db, "SELECT * FROM cache_written WHERE repetition_id = ?1", id, written)?,
        statement,
    }))
}

fn read(r: &Row) -> rusqlite::Result<ReadTruth> {
    Ok(ReadTruth {
        asked_bytes: count(r, "asked_bytes")?,
        device_bytes: count(r, "device_bytes")?,
        cache_bytes: count(r, "cache_bytes")?,
        hole_bytes: count(r, "hole_bytes")?,
        excess_bytes: count(r, "excess_bytes")?,
    })
}

fn written(r: &Row) -> rusqlite::Result<WriteTruth> {
    Ok(WriteTruth {
        asked_bytes: count(r, "asked_bytes")?,
        in_clock_bytes: count(r, "in_clock_bytes")?,
        later_bytes: count(r, "later_bytes")?,
        dirty_bytes: maybe(r, "dirty_bytes")?,
        lost_bytes: count(r, "lost_bytes")?,
        excess_bytes: count(r, "excess_bytes")?,
    })
}

fn waiting(r: &Row) -> rusqlite::Result<UnwrittenData> {
    Ok(UnwrittenData {
        before_bytes: count(r, "before_bytes")?,
        at_stop_bytes: count(r, "at_stop_bytes")?,
        after_bytes: count(r, "after_bytes")?,
        below_bytes: count(r, "below_bytes")?,
        meanwhile_bytes: count(r, "meanwhile_bytes")?,
    })
}

fn append_course(t: &Transaction, id: i64, course: &CacheCourse) -> rusqlite::Result<()> {
    t.prepare_cached("INSERT INTO cache_course (repetition_id, own, cost_ns) VALUES (?1, ?2, ?3)")?
        .execute(params![id, course.own, int(course.cost_ns)])?;
    let mut insert = t.prepare_cached(
        "INSERT INTO cache_sample (repetition_id, position, at_ns, dirty_bytes, writeback_bytes, cached_bytes, own_dirty_bytes,
             own_writeback_bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (position, s) in (0i64..).zip(&course.samples) {
        insert.execute(params![
            id,
            position,
            int(s.at_ns),
            int(s.dirty_bytes),
            int(s.writeback_bytes),
            int(s.cached_bytes),
            s.own_dirty_bytes.map(int),
            s.own_writeback_bytes.map(int)
        ])?;
    }
    Ok(())
}

fn load_course(db: &Connection, id: i64) -> rusqlite::Result<Option<CacheCourse>> {
    let head = one(db, "SELECT * FROM cache_course WHERE repetition_id = ?1", id, |r| {
        Ok(CacheCourse { own: r.get("own")?, cost_ns: count(r, "cost_ns")?, samples: Vec::new() })
    })?;
    let Some(mut course) = head else { return Ok(None) };
    let sql = "SELECT * FROM cache_sample WHERE repetition_id = ?1 ORDER BY position";
    course.samples = rows(db, sql, id, |r| {
        Ok(CacheSample {
            at_ns: count(r, "at_ns")?,
            dirty_bytes: count(r, "dirty_bytes")?,
            writeback_bytes: count(r, "writeback_bytes")?,
            cached_bytes: count(r, "cached_bytes")?,
            own_dirty_bytes: maybe(r, "own_dirty_bytes")?,
            own_writeback_bytes: maybe(r, "own_writeback_bytes")?,
        })
    })?;
    Ok(Some(course))
}

fn append_cold(t: &Transaction, id: i64, cold: &Cold) -> rusqlite::Result<()> {
    t.prepare_cached("INSERT INTO cold (repetition_id, files, sentence) VALUES (?1, ?2, ?3)")?
        .execute(params![id, int(cold.files), cold.sentence])?;
    let mut insert = t.prepare_cached(
        "INSERT INTO cold_step (repetition_id, position, how, cached_pages, total_pages, failed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (position, s) in (0i64..).zip(&cold.steps) {
        insert.execute(params![
            id,
            position,
            s.how,
            s.cached_pages.map(int),
            int(s.total_pages),
            s.failed
        ])?;
    }
    Ok(())
}

fn load_cold(db: &Connection, id: i64) -> rusqlite::Result<Option<Cold>> {
    let head = one(db, "SELECT * FROM cold WHERE repetition_id = ?1", id, |r| {
        Ok(Cold { files: count(r, "files")?, sentence: r.get("sentence")?, steps: Vec::new() })
    })?;
    let Some(mut cold) = head else { return Ok(None) };
    cold.steps = rows(db, "SELECT * FROM cold_step WHERE repetition_id = ?1 ORDER BY position", id, |r| {
        Ok(ColdStep {
            how: r.get("how")?,
            cached_pages: maybe(r, "cached_pages")?,
            total_pages: count(r, "total_pages")?,
            failed: r.get("failed")?,
        })
    })?;
    Ok(Some(cold))
}

#[cfg(test)]
mod tests {
    use crate::store::tests::sample_run;
    use crate::{
        CacheCourse, CacheSample, CacheTruth, Cold, ColdStep, ReadTruth, Repetition, Store, UnwrittenData,
        WriteTruth,
    };
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..1000, any::<u64>()]
    }

    fn any_truth() -> impl Strategy<Value = CacheTruth> {
        let read = prop::array::uniform5(number()).prop_map(|n| ReadTruth {
            asked_bytes: n[0],
            device_bytes: n[1],
            cache_bytes: n[2],
            hole_bytes: n[3],
            excess_bytes: n[4],
        });
        let written =
            (prop::array::uniform5(number()), prop::option::of(number())).prop_map(|(n, dirty_bytes)| {
                WriteTruth {
                    asked_bytes: n[0],
                    in_clock_bytes: n[1],
                    later_bytes: n[2],
                    dirty_bytes,
                    lost_bytes: n[3],
                    excess_bytes: n[4],
                }
            });
        (prop::option::of(read), prop::option::of(written), any::<String>())
            .prop_map(|(read, written, statement)| CacheTruth { read, written, statement })
    }

    fn any_course() -> impl Strategy<Value = CacheCourse> {
        let sample =
            (prop::array::uniform4(number()), prop::option::of((number(), number()))).prop_map(|(n, own)| {
                CacheSample {
                    at_ns: n[0],
                    dirty_bytes: n[1],
                    writeback_bytes: n[2],
                    cached_bytes: n[3],
                    own_dirty_bytes: own.map(|o| o.0),
                    own_writeback_bytes: own.map(|o| o.1),
                }
            });
        (any::<String>(), prop::collection::vec(sample, 0..4), number())
            .prop_map(|(own, samples, cost_ns)| CacheCourse { own, samples, cost_ns })
    }

    fn any_cold() -> impl Strategy<Value = Cold> {
        let step = (any::<String>(), prop::option::of(number()), number(), prop::option::of(any::<String>()))
            .prop_map(|(how, cached_pages, total_pages, failed)| ColdStep {
                how,
                cached_pages,
                total_pages,
                failed,
            });
        (number(), prop::collection::vec(step, 0..4), any::<String>())
            .prop_map(|(files, steps, sentence)| Cold { files, steps, sentence })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn cache_facts_survive_a_round_trip(
            truth in prop::option::of(any_truth()),
            course in prop::option::of(any_course()),
            cold in prop::option::of(any_cold()),
            waiting in prop::option::of(prop::array::uniform5(number())),
            compression in prop::option::of(any::<String>()),
        ) {
            let mut run = sample_run();
            let r: &mut Repetition = &mut run.phases[0].repetitions[0];
            (r.truth, r.course, r.cold) = (truth, course, cold);
            r.physical.compression = compression;
            r.physical.waiting = waiting.map(|n| UnwrittenData {
                before_bytes: n[0], at_stop_bytes: n[1], after_bytes: n[2], below_bytes: n[3], meanwhile_bytes: n[4],
            });
            let mut store = Store::open(":memory:").expect("opens");
            store.save(&run).expect("saves");
            prop_assert_eq!(store.load("last").expect("loads"), run.clone());
            let text = crate::export::json(&run);
            prop_assert_eq!(crate::export::from_json(&text).expect("reads"), run);
        }
    }

    #[test]
    fn nothing_is_written_for_what_was_not_watched() {
        let mut store = Store::open(":memory:").expect("opens");
        store.save(&sample_run()).expect("saves");
        for table in ["truth", "read", "written", "waiting", "course", "sample"].map(|t| format!("cache_{t}"))
        {
            let sql = format!("SELECT count(*) FROM {table}");
            let rows: i64 =
                store.connection().expect("open").query_row(&sql, [], |r| r.get(0)).expect("counts");
            assert_eq!(rows, 0, "{table}");
        }
    }

    #[test]
    fn the_statement_can_be_asked_for() {
        let mut run = sample_run();
        let read = ReadTruth { asked_bytes: 100, device_bytes: 25, cache_bytes: 75, ..ReadTruth::default() };
        let truth = CacheTruth { read: Some(read), written: None, statement: "This is it.".into() };
        run.phases[0].repetitions[0].truth = Some(truth);
        let mut store = Store::open(":memory:").expect("opens");
        store.save(&run).expect("saves");
        let sql =
            "SELECT statement || ' ' || cache_bytes FROM cache_truth JOIN cache_read USING (repetition_id)";
        let told: String = store.connection().expect("open").query_row(sql, [], |r| r.get(0)).expect("asks");
        assert_eq!(told, "This is it. 75");
    }
}
