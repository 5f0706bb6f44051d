//! A rank's part of a file shared by all ranks: one piece of it, or every n-th record. A remainder of the region that cannot be divided
//! evenly is not used by any rank, like a part smaller than a record.

use crate::{Access, Amount, Bytes, FileSet, Layout, Record, Sizing, Stream};

/// Restricts a stream to the part of rank `rank` of `ranks`.
///
/// # Errors
/// If there is no such part.
pub(super) fn lay_out(
    stream: &mut Stream,
    set: Option<&FileSet>,
    how: Layout,
    (rank, ranks): (u32, u32),
) -> Result<(), String> {
    if how == Layout::Whole {
        return Ok(());
    }
    let length = length_of(stream, set)?;
    let (rank, ranks) = (u64::from(rank), u64::from(ranks));
    let unit = stream.record.largest().0.max(1);
    match how {
        Layout::Whole => {}
        Layout::Segmented => {
            let piece = length / ranks / unit * unit;
            if piece == 0 {
                return Err(format!("{length} bytes are less than a record for each of {ranks} ranks"));
            }
            stream.start = Bytes(stream.start.0 + rank * piece);
            stream.length = Some(Bytes(piece));
        }
        Layout::Strided => {
            let Record::Fixed(Bytes(record)) = stream.record else {
                return Err("the strided layout needs records of one size".into());
            };
            if stream.access != Access::Sequential {
                return Err("the strided layout is for sequential streams".into());
            }
            let rows = length / record.max(1) / ranks;
            if rows == 0 {
                return Err(format!("{length} bytes are less than a record for each of {ranks} ranks"));
            }
            stream.start = Bytes(stream.start.0 + rank * record);
            // Up to the end of the rank's last record.
            stream.length = Some(Bytes(((rows - 1) * ranks + 1) * record));
            stream.access =
                Access::Striped { run: Bytes(record), gap: Bytes((ranks - 1) * record), by_kind: false };
            stream.amount = match stream.amount {
                Amount::Pass => Amount::Operations(rows),
                Amount::Passes(n) => Amount::Operations(rows.saturating_mul(n)),
                other => other,
            };
        }
    }
    Ok(())
}

/// Bytes of the region shared by all ranks.
fn length_of(stream: &Stream, set: Option<&FileSet>) -> Result<u64, String> {
    if let Some(Bytes(length)) = stream.length {
        return Ok(length);
    }
    match set.map(|s| &s.size) {
        Some(Sizing::Fixed(Bytes(size))) => Ok(size.saturating_sub(stream.start.0)),
        _ => Err("a layout needs files of one size, or the length of the region in the stream".into()),
    }
}
