//! Writes and reads a histogram as the eleven columns `timed` ... `exact` of every latency table: exact figures and percentiles
//! to read directly, and the whole histogram as a blob (`hdr`), or as JSON if the blob or an integer column cannot hold it.

use super::bits::int;
use super::columns::{LoadError, count, json};
use super::hdr;
use crate::Histogram;
use rusqlite::{Row, Statement, ToSql};

/// Largest integer SQLite holds.
const I64_MAX: u64 = i64::MAX as u64;

/// Executes an INSERT whose first parameters are `keys`, and whose next eleven are the columns of a histogram, in this order:
/// timed, sum_ns, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns, hdr, exact.
pub(super) fn insert(
    statement: &mut Statement,
    keys: &[&dyn ToSql],
    latency: &Histogram,
) -> rusqlite::Result<()> {
    let sum = u64::try_from(latency.sum_ns()).ok().filter(|&s| s <= I64_MAX);
    let plain = sum.is_some() && latency.max_ns() <= I64_MAX && latency.min_ns() <= I64_MAX;
    let hdr = hdr::encode(latency);
    // What HdrHistogram or an integer column cannot hold is kept whole as JSON.
    let exact = if plain && hdr.is_some() {
        None
    } else {
        Some(
            serde_json::to_string(latency)
                .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?,
        )
    };
    let p = percentiles(latency);
    let columns: [&dyn ToSql; 11] = [
        &capped(latency.count()),
        &sum.map_or(i64::MAX, int),
        &capped(latency.min_ns()),
        &latency.mean_ns(),
        &p[0],
        &p[1],
        &p[2],
        &p[3],
        &capped(latency.max_ns()),
        &hdr,
        &exact,
    ];
    for (n, value) in (1..).zip(keys.iter().chain(&columns)) {
        statement.raw_bind_parameter(n, value)?;
    }
    statement.raw_execute()?;
    Ok(())
}

pub(super) fn read(r: &Row) -> Result<Histogram, LoadError> {
    if let Some(text) = r.get::<_, Option<String>>("exact")? {
        return json("an exact histogram", &text);
    }
    let body: Vec<u8> = r.get("hdr")?;
    let counts = hdr::decode(&body).map_err(LoadError::Content)?;
    let sum = u128::from(count(r, "sum_ns")?);
    let histogram = Histogram::from_dense(&counts, sum, count(r, "min_ns")?, count(r, "max_ns")?);
    if histogram.count() != count(r, "timed")? {
        return Err(LoadError::Content("a histogram (its count and its column `timed` differ)".into()));
    }
    Ok(histogram)
}

/// p50, p90, p99, p99.9.
pub(super) fn percentiles(latency: &Histogram) -> [Option<i64>; 4] {
    [50.0, 90.0, 99.0, 99.9].map(|p| latency.percentile_ns(p).map(capped))
}

/// For columns that users compute with: capped at 2^63 - 1.
pub(super) fn capped(value: u64) -> i64 {
    int(value.min(I64_MAX))
}
