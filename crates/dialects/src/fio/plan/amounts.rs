//! How much a job does in all loops together, as observed in fio 3.42, and whether its engine queues.

use super::super::settings::Settings;
use fathom_workload::{Access, Backend, Direction, Mix, Record, Stream};

/// Bytes of all loops with `io_size`. A pass has `pass` bytes, in `blocks` blocks if all have the same size.
///
/// If blocks are skipped, fio finds none after `stops` blocks.
pub fn bytes(
    s: &Settings,
    stream: &Stream,
    io_size: u64,
    (pass, blocks, stops): (u64, u64, Option<u64>),
    loops: u64,
) -> u64 {
    let all = io_size.saturating_mul(loops);
    let size = stream.record.unit().0.max(1);
    let even = pass.is_multiple_of(size);
    let mix = matches!(s.word("rw"), Some("rw" | "readwrite"));
    let both = mix && matches!(stream.direction, Direction::Mix(Mix::ReadPercent(1..=99)));
    let reads = stream.direction == Direction::Read;
    // Jobs that start over at the end of a pass end by byte count alone.
    let begins_again = match &stream.access {
        Access::Striped { .. } | Access::ZonesInTurn { .. } => {
            stops.is_none() && (loops == 1 || !queues(s, stream))
        }
        Access::PartlyRandom { .. } => even && (loops == 1 || !queues(s, stream)),
        Access::Sequential | Access::SequentialByKind => mix && even || both && loops == 1,
        access => access.draws_each() && !(loops > 1 && reads && queues(s, stream)),
    };
    if begins_again {
        return all;
    }
    // A drawn offset may also leave room for a partial block.
    let blocks = if stream.access.draws_each() { pass.div_ceil(size) } else { stops.unwrap_or(blocks) };
    if loops == 1 {
        // At the end of a pass, no operation begins for a remainder smaller than a block.
        let done = blocks.saturating_mul(size);
        let rest = all % done.max(1);
        let fixed = matches!(stream.record, Record::Fixed(_));
        return if fixed && all > done && rest < size { all - rest } else { all };
    }
    let pass = match stream.record {
        // In a mix, reads and writes each have their own pass.
        Record::Fixed(_) => blocks.max(1).saturating_mul(size).saturating_mul(1 + u64::from(both)),
        _ => pass,
    };
    let passes = if io_size > pass { io_size.div_ceil(pass.max(1)).saturating_mul(pass) } else { 0 };
    io_size.min(pass).saturating_mul(loops).max(passes)
}

/// Whether fio's engine queues operations. fio then forgets its position at the end of a loop, and completes `io_size` in a job without
/// read-back. fio's vsync queues one block at a time, its null engine more than one.
pub fn queues(s: &Settings, stream: &Stream) -> bool {
    let one_at_a_time = matches!(s.number("iodepth"), Ok(None | Some(0 | 1)));
    stream.backend.is_asynchronous()
        || s.word("ioengine") == Some("vsync") && one_at_a_time
        || stream.backend == Backend::Null && !one_at_a_time
}

/// Bytes of all loops, if they end a job. Jobs without a block map, and mixes in sequential order, do one more block if a remainder
/// smaller than a block is left. `blocks` is the number per pass.
pub fn counted_by_bytes(stream: &Stream, pass: u64, blocks: u64, loops: u64) -> Option<u64> {
    let Record::Fixed(size) = stream.record else { return None };
    let drawn = matches!(stream.direction, Direction::Mix(Mix::ReadPercent(1..=99)));
    let counted = stream.access.draws_each() || stream.access == Access::SequentialByKind && drawn;
    (counted && blocks.saturating_mul(size.0) < pass).then(|| pass.saturating_mul(loops))
}

/// Operations of all loops, with at most `limit` in each and `all` in total.
pub fn operations(limit: u64, all: u64, loops: u64) -> u64 {
    limit.saturating_mul(loops).min(all).max(1)
}
