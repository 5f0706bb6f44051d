//! What `sequence` has no stripes for: going backward (`rw=read:-8k`), zones of random jobs, and zones that are gone round more than once.

use super::super::Wrong;
use super::super::number;
use super::super::settings::Settings;
use super::what::Direction;
use fathom_workload::{Access, Record};

/// The order of a job that asks for one of these.
pub fn access(s: &Settings, rw: Direction, record: &Record) -> Result<Option<Access>, Wrong> {
    // Changing sizes are refused where stripes are, and what goes on by itself in each kind of a mix.
    let Record::Fixed(size) = record else { return Ok(None) };
    if rw.mixed && !rw.random {
        return Ok(None);
    }
    let size = size.0.max(1);
    let back = s.after_colon("rw").and_then(|text| text.trim().strip_prefix('-'));
    let zone = s.number("zonesize")?.unwrap_or(0);
    let strided = zone > 0 && !matches!(s.word("zonemode"), Some("none" | "zbd"));
    if strided {
        return if s.after_colon("rw").is_some() { Ok(None) } else { zones(s, rw, zone, size) };
    }
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

/// Strips, where stripes do not do.
fn zones(s: &Settings, rw: Direction, zone: u64, size: u64) -> Result<Option<Access>, Wrong> {
    let range = s.number("zonerange")?.filter(|bytes| *bytes > 0).unwrap_or(zone);
    let gap = s.number("zoneskip")?.unwrap_or(0);
    if !rw.random && range >= zone {
        return Ok(None);
    }
    let distribution = s.word("random_distribution").unwrap_or("random");
    if rw.random && distribution != "random" {
        return Err(s
            .wrong(
                "random_distribution",
                format!("random_distribution={distribution}: with zonemode=strided it is not supported"),
            )
            .hint("leave one of the two out"));
    }
    for (name, value) in [("zonesize", zone), ("zonerange", range), ("zoneskip", gap)] {
        if !value.is_multiple_of(size) {
            return Err(s
                .wrong(
                    name,
                    format!("{name}={value}: a multiple of the block size of {size} bytes is expected"),
                )
                .hint("give one, or another bs"));
        }
    }
    Ok(Some(Access::Strips {
        records: range / size,
        gap: gap / size,
        operations: zone / size,
        random: rw.random,
    }))
}
