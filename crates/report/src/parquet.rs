//! The figures of runs as Parquet: the rows of [`fathom_record::export::figure_csv`], with types, for DuckDB, pandas and
//! Polars. Values that do not apply are null.

use fathom_record::{Run, figures};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// The columns, in the order in which [`write_columns`] writes them.
const SCHEMA: &str = "message figures {
  required binary run_id (STRING); required binary label (STRING); required binary dialect (STRING);
  required binary started_at (STRING);
  required int64 phase_seq; required binary phase (STRING); required boolean direct;
  optional int64 file_bytes; optional int64 record_bytes; optional int64 streams; optional int64 queue_depth;
  required binary tags (STRING);
  required int64 repetition; required binary figure (STRING); required double value; required binary unit (STRING);
  optional boolean higher_is_better; optional int64 count;
}";

/// A table could not be built.
#[derive(Debug, thiserror::Error)]
#[error("the table could not be built: {0}")]
pub struct Failed(#[from] ParquetError);

struct ParquetRow<'a> {
    run: &'a Run,
    series: usize,
    value: figures::Value,
}

/// All figures of the runs as the bytes of a Parquet file.
///
/// # Errors
///
/// If the table cannot be built.
pub fn bytes(runs: &[&Run]) -> Result<Vec<u8>, Failed> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let how = Arc::new(WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, how)?;
    let mut series = Vec::new();
    let mut rows = Vec::new();
    for run in runs {
        for one in figures::of(run) {
            rows.extend(one.values.iter().map(|value| ParquetRow {
                run,
                series: series.len(),
                value: *value,
            }));
            series.push(one);
        }
    }
    let mut group = writer.next_row_group()?;
    write_columns(&mut group, &rows, &series)?;
    group.close()?;
    Ok(writer.into_inner()?)
}

fn write_columns(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &[ParquetRow],
    series: &[figures::Series],
) -> Result<(), ParquetError> {
    let of = |r: &ParquetRow| &series[r.series];
    texts(group, rows, |r| r.run.id.clone())?;
    texts(group, rows, |r| r.run.label.clone())?;
    texts(group, rows, |r| r.run.dialect.clone())?;
    texts(group, rows, |r| r.run.started_at.clone())?;
    numbers(group, rows, |r| i64::from(r.value.phase))?;
    texts(group, rows, |r| of(r).cell.operation.clone())?;
    column(group, |c| {
        let all: Vec<bool> = rows.iter().map(|r| of(r).cell.direct).collect();
        c.typed::<BoolType>().write_batch(&all, None, None).map(drop)
    })?;
    maybe_numbers(group, rows, |r| of(r).cell.axes.file_bytes)?;
    maybe_numbers(group, rows, |r| of(r).cell.axes.record_bytes)?;
    maybe_numbers(group, rows, |r| of(r).cell.axes.streams)?;
    maybe_numbers(group, rows, |r| of(r).cell.axes.queue_depth)?;
    texts(group, rows, |r| {
        let tags = of(r).cell.axes.tags.iter().map(|(k, v)| format!("{k}={v}"));
        tags.collect::<Vec<_>>().join("; ")
    })?;
    numbers(group, rows, |r| i64::from(r.value.repetition))?;
    texts(group, rows, |r| of(r).metric.clone())?;
    column(group, |c| {
        let all: Vec<f64> = rows.iter().map(|r| r.value.value).collect();
        c.typed::<DoubleType>().write_batch(&all, None, None).map(drop)
    })?;
    texts(group, rows, |r| of(r).unit.clone())?;
    column(group, |c| {
        let (there, levels) = sparse(rows.iter().map(|r| of(r).higher_is_better));
        c.typed::<BoolType>().write_batch(&there, Some(&levels), None).map(drop)
    })?;
    maybe_numbers(group, rows, |r| r.value.count)
}

/// Writes the next column of the schema.
fn column(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    fill: impl FnOnce(&mut SerializedColumnWriter<'_>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let next = group.next_column()?;
    let mut next = next.ok_or_else(|| ParquetError::General("more columns than the schema has".into()))?;
    fill(&mut next)?;
    next.close()
}

fn texts(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &[ParquetRow],
    text: impl Fn(&ParquetRow) -> String,
) -> Result<(), ParquetError> {
    let all: Vec<ByteArray> = rows.iter().map(|r| ByteArray::from(text(r).into_bytes())).collect();
    column(group, |c| c.typed::<ByteArrayType>().write_batch(&all, None, None).map(drop))
}

fn numbers(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &[ParquetRow],
    number: impl Fn(&ParquetRow) -> i64,
) -> Result<(), ParquetError> {
    let all: Vec<i64> = rows.iter().map(number).collect();
    column(group, |c| c.typed::<Int64Type>().write_batch(&all, None, None).map(drop))
}

fn maybe_numbers(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    rows: &[ParquetRow],
    number: impl Fn(&ParquetRow) -> Option<u64>,
) -> Result<(), ParquetError> {
    // No measured value comes near 2^63.
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let (there, levels) = sparse(rows.iter().map(|r| number(r).map(signed)));
    column(group, |c| c.typed::<Int64Type>().write_batch(&there, Some(&levels), None).map(drop))
}

/// The present values, and a definition level for each row: Parquet's encoding of nulls.
fn sparse<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let mut there = Vec::new();
    let levels = values
        .map(|value| {
            let level = i16::from(value.is_some());
            there.extend(value);
            level
        })
        .collect();
    (there, levels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{Axes, Figure, Phase, Repetition};
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::RowAccessor as _;
    use std::io::Write as _;

    fn run(id: &str, record_bytes: Option<u64>, values: &[f64]) -> Run {
        let repetitions = values.iter().map(|value| Repetition {
            figures: vec![Figure {
                name: "throughput".into(),
                value: *value,
                unit: "bytes/s".into(),
                printed: String::new(),
                higher_is_better: None,
                line: 0,
            }],
            ..Repetition::default()
        });
        let phase = Phase {
            name: "write".into(),
            axes: Axes { record_bytes, ..Axes::default() },
            repetitions: repetitions.collect(),
            seq: 0,
            reads: false,
            writes: true,
            sync_in_clock: false,
            direct: false,
        };
        Run { id: id.into(), phases: vec![phase], ..Run::default() }
    }

    fn read(runs: &[&Run]) -> SerializedFileReader<std::fs::File> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes(runs).unwrap()).unwrap();
        SerializedFileReader::new(file).unwrap()
    }

    #[test]
    fn nulls_survive_a_round_trip() {
        let reader = read(&[&run("a", Some(4096), &[1.5, 2.5]), &run("b", None, &[3.5])]);
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let told: Vec<String> = rows
            .iter()
            .map(|r| {
                format!("{} {:?} {}", r.get_string(0).unwrap(), r.get_long(8).ok(), r.get_double(14).unwrap())
            })
            .collect();
        assert_eq!(told, ["a Some(4096) 1.5", "a Some(4096) 2.5", "b None 3.5"]);
        assert_eq!(rows[0].get_string(13).unwrap(), "throughput");
    }

    #[test]
    fn a_run_without_figures_is_an_empty_table() {
        let reader = read(&[&Run::default()]);
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
