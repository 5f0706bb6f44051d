//! Writes and reads the block layer of a repetition: devices, their requests by class with sizes, seeks and latencies, depths,
//! issuers, and iostat-style rows. Nothing is written for a repetition that was not watched.

use super::bits::int;
use super::columns::{LoadError, count, maybe, rows};
use super::latency;
use crate::Histogram;
use crate::block::{
    BlockInterval, BlockLayer, DepthTime, DeviceActivity, DeviceNumber, Issuer, IssuerKind, RequestClass,
    RequestStats, Seeks, SizeCount, TimeSource,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

pub(super) fn append(t: &Transaction, repetition_id: i64, layer: &BlockLayer) -> rusqlite::Result<()> {
    t.prepare_cached(
        "INSERT INTO block (repetition_id, source, events, lost, observer_cpu_ns, watched_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        repetition_id,
        layer.source,
        int(layer.events),
        int(layer.lost),
        int(layer.observer_cpu_ns),
        int(layer.watched_ns),
    ])?;
    let mut note =
        t.prepare_cached("INSERT INTO block_note (repetition_id, position, sentence) VALUES (?1, ?2, ?3)")?;
    for (position, sentence) in (0i64..).zip(&layer.notes) {
        note.execute(params![repetition_id, position, sentence])?;
    }
    for (position, device) in (0i64..).zip(&layer.devices) {
        append_device(t, repetition_id, position, device)?;
    }
    append_intervals(t, repetition_id, &layer.intervals)
}

fn append_device(
    t: &Transaction,
    repetition_id: i64,
    position: i64,
    d: &DeviceActivity,
) -> rusqlite::Result<()> {
    t.prepare_cached(
        "INSERT INTO block_device (repetition_id, position, name, major, minor, level, bio_based, busy_ns, unfinished,
             begun_before, requeued, splits, unplugs, unplugged)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?
    .execute(params![
        repetition_id,
        position,
        d.name,
        d.number.major,
        d.number.minor,
        d.level,
        d.bio_based,
        int(d.busy_ns),
        int(d.unfinished),
        int(d.begun_before),
        int(d.requeued),
        d.splits.map(int),
        d.unplugs.map(|u| int(u.0)),
        d.unplugs.map(|u| int(u.1)),
    ])?;
    let device_id = t.last_insert_rowid();
    for stats in &d.requests {
        append_requests(t, device_id, stats)?;
    }
    append_depths(t, device_id, "device", &d.in_device)?;
    append_depths(t, device_id, "queue", &d.in_queue)?;
    append_issuers(t, device_id, &d.issuers)
}

fn append_requests(t: &Transaction, device_id: i64, s: &RequestStats) -> rusqlite::Result<()> {
    // The sum of distances has 128 bits: a text column holds it if it exceeds an integer.
    let seek = i64::try_from(s.seeks.total_bytes);
    t.prepare_cached(
        "INSERT INTO block_request (device_id, class, issued, issued_bytes, completed, completed_bytes, errors, ahead, sync,
             meta, fua, bios, back_merges, front_merges, request_merges, sequential, forward, backward, seek_bytes, seek_exact)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?
    .execute(params![
        device_id,
        s.class.word(),
        int(s.issued),
        int(s.issued_bytes),
        int(s.completed),
        int(s.completed_bytes),
        int(s.errors),
        int(s.ahead),
        int(s.sync),
        int(s.meta),
        int(s.fua),
        s.bios.map(int),
        s.back_merges.map(int),
        s.front_merges.map(int),
        s.request_merges.map(int),
        int(s.seeks.sequential),
        int(s.seeks.forward),
        int(s.seeks.backward),
        seek.unwrap_or(i64::MAX),
        seek.is_err().then(|| s.seeks.total_bytes.to_string()),
    ])?;
    let request_id = t.last_insert_rowid();
    let mut size = t.prepare_cached(
        "INSERT INTO block_size (request_id, position, bytes, count) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (position, s) in (0i64..).zip(&s.sizes) {
        size.execute(params![request_id, position, int(s.bytes), int(s.count)])?;
    }
    let mut seek = t.prepare_cached(
        "INSERT INTO block_seek (request_id, position, power, count) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (position, &(power, n)) in (0i64..).zip(&s.seeks.distances) {
        seek.execute(params![request_id, position, power, int(n)])?;
    }
    append_latencies(t, request_id, s)
}

/// Writes nothing for an empty histogram.
fn append_latencies(t: &Transaction, request_id: i64, s: &RequestStats) -> rusqlite::Result<()> {
    for (what, histogram) in [("d2c", &s.d2c), ("q2d", &s.q2d)] {
        if *histogram == Histogram::default() {
            continue;
        }
        let mut insert = t.prepare_cached(
            "INSERT INTO block_latency (request_id, what, timed, sum_ns, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns,
                 hdr, exact) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        latency::insert(&mut insert, &[&request_id, &what], histogram)?;
    }
    Ok(())
}

fn append_depths(t: &Transaction, device_id: i64, place: &str, times: &[DepthTime]) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO block_depth (device_id, place, position, depth, ns) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, time) in (0i64..).zip(times) {
        insert.execute(params![device_id, place, position, time.depth, int(time.ns)])?;
    }
    Ok(())
}

fn append_issuers(t: &Transaction, device_id: i64, issuers: &[Issuer]) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO block_issuer (device_id, position, kind, name, reads, read_bytes, writes, write_bytes, others)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for (position, i) in (0i64..).zip(issuers) {
        insert.execute(params![
            device_id,
            position,
            i.kind.word(),
            i.name,
            int(i.reads),
            int(i.read_bytes),
            int(i.writes),
            int(i.write_bytes),
            int(i.others),
        ])?;
    }
    Ok(())
}

fn append_intervals(
    t: &Transaction,
    repetition_id: i64,
    intervals: &[BlockInterval],
) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO block_interval (repetition_id, position, device, source, end_ns, width_ns, reads, read_bytes, read_merges,
             read_ns, writes, write_bytes, write_merges, write_ns, discards, flushes, busy_ns, depth_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?;
    for (position, i) in (0i64..).zip(intervals) {
        insert.execute(params![
            repetition_id,
            position,
            i.device,
            i.source.word(),
            int(i.end_ns),
            int(i.width_ns),
            int(i.reads),
            int(i.read_bytes),
            int(i.read_merges),
            int(i.read_ns),
            int(i.writes),
            int(i.write_bytes),
            int(i.write_merges),
            int(i.write_ns),
            int(i.discards),
            int(i.flushes),
            int(i.busy_ns),
            int(i.depth_ns),
        ])?;
    }
    Ok(())
}

/// `None` if the repetition was not watched.
pub(super) fn load(db: &Connection, repetition_id: i64) -> Result<Option<BlockLayer>, LoadError> {
    let head = db
        .prepare_cached("SELECT * FROM block WHERE repetition_id = ?1")?
        .query_row([repetition_id], |r| {
            Ok(BlockLayer {
                source: r.get("source")?,
                events: count(r, "events")?,
                lost: count(r, "lost")?,
                observer_cpu_ns: count(r, "observer_cpu_ns")?,
                watched_ns: count(r, "watched_ns")?,
                ..BlockLayer::default()
            })
        })
        .optional()?;
    let Some(mut layer) = head else { return Ok(None) };
    let sql = "SELECT sentence FROM block_note WHERE repetition_id = ?1 ORDER BY position";
    layer.notes = rows(db, sql, repetition_id, |r| r.get(0))?;
    let sql = "SELECT * FROM block_device WHERE repetition_id = ?1 ORDER BY position";
    for (id, mut d) in rows(db, sql, repetition_id, device)? {
        d.requests = load_requests(db, id)?;
        d.issuers =
            rows(db, "SELECT * FROM block_issuer WHERE device_id = ?1 ORDER BY position", id, issuer)?;
        for (place, time) in
            rows(db, "SELECT * FROM block_depth WHERE device_id = ?1 ORDER BY position", id, depth)?
        {
            // The table's CHECK allows no third value.
            if place == "device" { &mut d.in_device } else { &mut d.in_queue }.push(time);
        }
        layer.devices.push(d);
    }
    let sql = "SELECT * FROM block_interval WHERE repetition_id = ?1 ORDER BY position";
    layer.intervals = rows(db, sql, repetition_id, interval)?;
    Ok(Some(layer))
}

fn device(r: &Row) -> rusqlite::Result<(i64, DeviceActivity)> {
    let activity = DeviceActivity {
        name: r.get("name")?,
        number: DeviceNumber { major: r.get("major")?, minor: r.get("minor")? },
        level: r.get("level")?,
        bio_based: r.get("bio_based")?,
        busy_ns: count(r, "busy_ns")?,
        unfinished: count(r, "unfinished")?,
        begun_before: count(r, "begun_before")?,
        requeued: count(r, "requeued")?,
        splits: maybe(r, "splits")?,
        // Both or neither.
        unplugs: maybe(r, "unplugs")?.zip(maybe(r, "unplugged")?),
        ..DeviceActivity::default()
    };
    Ok((r.get("id")?, activity))
}

fn load_requests(db: &Connection, device_id: i64) -> Result<Vec<RequestStats>, LoadError> {
    let mut all = Vec::new();
    let heads = rows(db, "SELECT * FROM block_request WHERE device_id = ?1 ORDER BY id", device_id, request)?;
    for (id, exact, mut stats) in heads {
        if let Some(text) = exact {
            stats.seeks.total_bytes =
                text.parse().map_err(|e| LoadError::Content(format!("a sum of seek distances ({e})")))?;
        }
        let sql = "SELECT * FROM block_size WHERE request_id = ?1 ORDER BY position";
        stats.sizes =
            rows(db, sql, id, |r| Ok(SizeCount { bytes: count(r, "bytes")?, count: count(r, "count")? }))?;
        let sql = "SELECT * FROM block_seek WHERE request_id = ?1 ORDER BY position";
        stats.seeks.distances = rows(db, sql, id, |r| Ok((r.get("power")?, count(r, "count")?)))?;
        load_latencies(db, id, &mut stats)?;
        all.push(stats);
    }
    Ok(all)
}

/// The key, the sum of seek distances if it is a text, and the rest.
fn request(r: &Row) -> rusqlite::Result<(i64, Option<String>, RequestStats)> {
    let word: String = r.get("class")?;
    let stats = RequestStats {
        // The table's CHECK allows no other.
        class: RequestClass::ALL.into_iter().find(|c| c.word() == word).unwrap_or_default(),
        issued: count(r, "issued")?,
        issued_bytes: count(r, "issued_bytes")?,
        completed: count(r, "completed")?,
        completed_bytes: count(r, "completed_bytes")?,
        errors: count(r, "errors")?,
        ahead: count(r, "ahead")?,
        sync: count(r, "sync")?,
        meta: count(r, "meta")?,
        fua: count(r, "fua")?,
        bios: maybe(r, "bios")?,
        back_merges: maybe(r, "back_merges")?,
        front_merges: maybe(r, "front_merges")?,
        request_merges: maybe(r, "request_merges")?,
        seeks: Seeks {
            sequential: count(r, "sequential")?,
            forward: count(r, "forward")?,
            backward: count(r, "backward")?,
            distances: Vec::new(),
            total_bytes: u128::from(count(r, "seek_bytes")?),
        },
        ..RequestStats::default()
    };
    Ok((r.get("id")?, r.get("seek_exact")?, stats))
}

fn load_latencies(db: &Connection, request_id: i64, stats: &mut RequestStats) -> Result<(), LoadError> {
    let mut statement = db.prepare_cached("SELECT * FROM block_latency WHERE request_id = ?1")?;
    let mut found = statement.query([request_id])?;
    while let Some(r) = found.next()? {
        match r.get::<_, String>("what")?.as_str() {
            "d2c" => stats.d2c = latency::read(r)?,
            _ => stats.q2d = latency::read(r)?,
        }
    }
    Ok(())
}

fn issuer(r: &Row) -> rusqlite::Result<Issuer> {
    let word: String = r.get("kind")?;
    Ok(Issuer {
        // The table's CHECK allows no other.
        kind: IssuerKind::ALL.into_iter().find(|k| k.word() == word).unwrap_or_default(),
        name: r.get("name")?,
        reads: count(r, "reads")?,
        read_bytes: count(r, "read_bytes")?,
        writes: count(r, "writes")?,
        write_bytes: count(r, "write_bytes")?,
        others: count(r, "others")?,
    })
}

fn depth(r: &Row) -> rusqlite::Result<(String, DepthTime)> {
    Ok((r.get("place")?, DepthTime { depth: r.get("depth")?, ns: count(r, "ns")? }))
}

fn interval(r: &Row) -> rusqlite::Result<BlockInterval> {
    let word: String = r.get("source")?;
    Ok(BlockInterval {
        device: r.get("device")?,
        // The table's CHECK allows no other.
        source: TimeSource::ALL.into_iter().find(|s| s.word() == word).unwrap_or_default(),
        end_ns: count(r, "end_ns")?,
        width_ns: count(r, "width_ns")?,
        reads: count(r, "reads")?,
        read_bytes: count(r, "read_bytes")?,
        read_merges: count(r, "read_merges")?,
        read_ns: count(r, "read_ns")?,
        writes: count(r, "writes")?,
        write_bytes: count(r, "write_bytes")?,
        write_merges: count(r, "write_merges")?,
        write_ns: count(r, "write_ns")?,
        discards: count(r, "discards")?,
        flushes: count(r, "flushes")?,
        busy_ns: count(r, "busy_ns")?,
        depth_ns: count(r, "depth_ns")?,
    })
}
