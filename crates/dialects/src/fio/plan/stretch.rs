//! Part of a file whose blocks may be skipped: where a pass over it ends.

use super::FilePart;
use fathom_workload::{Access, Record, Stream};

/// Part of a file whose blocks may be skipped.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    pub start: u64,
    pub length: u64,
    /// Size of the whole file, which may extend beyond the part.
    pub real: u64,
}

impl Stretch {
    /// The part of a clone with one file.
    pub fn of(part: &FilePart) -> Self {
        Self { start: part.start, length: part.length, real: part.real }
    }

    /// Operations of `loops` passes over a part that is not a multiple of its stripes or zones; `None` if all passes are equally long.
    ///
    /// fio starts over when the next stripe would begin beyond the end, and continues until it has done the length of the part.
    pub fn uneven(self, stream: &Stream, loops: u64) -> Option<u64> {
        let Record::Fixed(size) = stream.record else { return None };
        let (size, length) = (size.0.max(1), self.length);
        let stops = self.stops_after(stream);
        let even = match &stream.access {
            Access::Striped { run, gap, .. } => {
                stops.is_none() && length.is_multiple_of(run.0.saturating_add(gap.0).max(1))
            }
            Access::ZonesInTurn { range, gap, moved, .. } => {
                let period = range.0.saturating_add(gap.0).max(1);
                length.is_multiple_of(period) && range.0.is_multiple_of(size) && moved.0.is_multiple_of(size)
            }
            _ => true,
        };
        if even {
            return None;
        }
        Some(match stops {
            Some(once) => once.saturating_mul(loops),
            None => length.saturating_mul(loops).div_ceil(size),
        })
    }

    /// Operations after which fio finds no block: if a stripe or zone is cut short, if `rw=read:N` reaches the very end or an offset
    /// between the part and the end of the file, or if a zone has fewer blocks than a random job does per visit. Otherwise it starts over.
    pub fn stops_after(self, stream: &Stream) -> Option<u64> {
        let Record::Fixed(size) = stream.record else { return None };
        let (size, length) = (size.0.max(1), self.length);
        match &stream.access {
            Access::Striped { run, gap, .. } => {
                let Outside { whole, rest, place } = self.outside(run.0, gap.0);
                let cut = rest > 0 && rest < run.0;
                let ends = rest == run.0 && self.start.saturating_add(length) >= self.real;
                // Beyond the end of the file it returns to the offset, counted from the offset.
                let back = self.start > 0 && self.start.saturating_add(run.0) > length;
                let stops = cut || ends || gap.0 > 0 && (place < self.real || back);
                stops.then(|| whole.saturating_mul(run.0 / size).saturating_add(rest.min(run.0) / size))
            }
            Access::ZonesInTurn { range, gap, moved, inside } => {
                let random = **inside != Access::Sequential;
                let visit = moved.0.div_ceil(size).max(1);
                let places = range.0 / size;
                // With zones of whole blocks it starts over.
                if **inside == Access::Permuted && places < visit && !range.0.is_multiple_of(size) {
                    return Some(places);
                }
                // Drawing with repetition always finds a block.
                if random && range.0 > length {
                    return None;
                }
                let period = range.0.saturating_add(gap.0).max(1);
                let span =
                    if random { range.0 } else { visit.saturating_mul(size).min(range.0.max(moved.0)) };
                let whole = length.checked_sub(span).map_or(0, |rest| rest / period + 1);
                let left = length.checked_sub(whole.saturating_mul(period)).filter(|left| *left > 0)?;
                let rest = if random { 0 } else { left / size };
                // A pass also ends after the length of the part, and then starts over.
                Some(whole.saturating_mul(visit).saturating_add(rest))
                    .filter(|once| *once < length.div_ceil(size))
            }
            _ => None,
        }
    }

    /// Whether fio neither stops nor restarts at the beginning of the part: zones continue to the end of the file, and stripes beyond it
    /// return to the offset, counted from the offset.
    pub fn begins_elsewhere(self, stream: &Stream) -> bool {
        let (run, gap) = match &stream.access {
            Access::Striped { run, gap, .. } => (run, gap),
            Access::ZonesInTurn { .. } => return self.start.saturating_add(self.length) < self.real,
            _ => return false,
        };
        let Outside { rest, place, .. } = self.outside(run.0, gap.0);
        let inside = self.start.saturating_add(run.0) <= self.length;
        let whole = rest == 0 || rest > run.0 || rest == run.0 && self.start + self.length < self.real;
        self.start > 0 && gap.0 > 0 && whole && place >= self.real && inside
    }

    /// Where stripes leave the part.
    fn outside(self, run: u64, gap: u64) -> Outside {
        let period = run.saturating_add(gap).max(1);
        let (whole, rest) = (self.length / period, self.length % period);
        let place = whole.saturating_add(u64::from(rest > 0)).saturating_mul(period);
        Outside { whole, rest, place }
    }
}

struct Outside {
    /// Stripes that fit including their gap.
    whole: u64,
    /// Bytes after them.
    rest: u64,
    /// Start of the first stripe outside, counted from the start of the part.
    place: u64,
}
