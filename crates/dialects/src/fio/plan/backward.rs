//! Jobs that go backward (`rw=read:-8k`): each record begins a skip before the last, wrapping to the end of the part.

use super::super::UsageError;
use super::super::number;
use super::super::settings::Settings;
use super::direction::Rw;
use fathom_workload::{Access, Record};

/// The access order of a backward job.
pub fn access(s: &Settings, rw: Rw, record: &Record) -> Result<Option<Access>, UsageError> {
    // Varying sizes are refused where stripes are, and so are mixes whose kinds advance separately.
    let Record::Fixed(size) = record else { return Ok(None) };
    if rw.mixed {
        return Ok(None);
    }
    let size = size.0.max(1);
    let back = s.after_colon("rw").and_then(|text| text.trim().strip_prefix('-'));
    let Some(back) = back.filter(|_| !rw.random) else { return Ok(None) };
    let word = rw.word();
    if s.word("rw_sequencer") == Some("identical") {
        return Err(s
            .wrong("rw_sequencer", "rw_sequencer=identical belongs to random places")
            .hint("leave it out"));
    }
    let bytes = number::bytes(back, s.kb_base_of("rw"))
        .map_err(|why| s.wrong("rw", format!("rw={word}:-{back}: {why}")))?;
    match i64::try_from(bytes / size) {
        Ok(records) if bytes.is_multiple_of(size) => Ok(Some(Access::Skipping { records: -records })),
        _ => Err(s
            .wrong(
                "rw",
                format!("rw={word}:-{back}: a multiple of the block size of {size} bytes is expected"),
            )
            .hint("-8k with bs=4k, for example, goes back block by block")),
    }
}
