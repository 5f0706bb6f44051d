//! A drive's read buffer: segments that keep recent reads, and look-ahead. After a read the drive continues until another command needs
//! the mechanism or the segment is full; a command for sectors about to be read waits for them.

use super::mechanism::Mechanism;

/// A run of sectors in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    first: u64,
    end: u64,
    used: u64,
}

/// Look-ahead in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LookAhead {
    segment: usize,
    /// A sector whose reading starts at `at`, ns; both advance track by track.
    sector: u64,
    at: u64,
    /// Look-ahead stops before this one.
    limit: u64,
}

/// Result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All of it is in the buffer.
    Hit,
    /// It will be in the buffer at this time, ns.
    OnItsWay(u64),
    /// The mechanism must read it from this sector on; what lies before is in the buffer.
    Miss(u64),
}

/// A drive's read buffer with look-ahead.
#[derive(Clone, Debug)]
pub struct Buffer {
    segments: Vec<Segment>,
    segment_sectors: u64,
    look_ahead: bool,
    ahead: Option<LookAhead>,
    clock: u64,
}

impl Buffer {
    /// `segments` segments of `segment_sectors` sectors; without segments there is no look-ahead.
    #[must_use]
    pub fn new(segments: usize, segment_sectors: u64, look_ahead: bool) -> Self {
        let empty = Segment { first: 0, end: 0, used: 0 };
        let segments = if segment_sectors == 0 { 0 } else { segments };
        Self { segments: vec![empty; segments], segment_sectors, look_ahead, ahead: None, clock: 0 }
    }

    /// Updates the segment being filled; returns the sector under the heads if look-ahead is in progress.
    pub fn run(&mut self, now: u64, mechanism: &Mechanism) -> Option<u64> {
        let ahead = self.ahead.as_mut()?;
        let (sector, at, reached) = mechanism.reached(ahead.at, ahead.sector, ahead.limit, now);
        (ahead.sector, ahead.at) = (sector, at);
        let segment = &mut self.segments[ahead.segment];
        segment.end = segment.end.max(reached);
        segment.first = segment.first.max(segment.end.saturating_sub(self.segment_sectors));
        Some(reached)
    }

    /// Looks up a read. Sectors at most a track ahead of the heads are worth waiting for: a seek is no faster.
    pub fn find(&mut self, now: u64, sector: u64, end: u64, mechanism: &Mechanism) -> Found {
        let reached = self.run(now, mechanism);
        self.clock += 1;
        // Segments may overlap. The one that reaches furthest counts: with an older one that ends earlier, sectors being read ahead would
        // seem to be missing although the heads have passed them.
        let has = |n: &usize| self.segments[*n].first <= sector && sector < self.segments[*n].end;
        let known = (0..self.segments.len()).filter(has).max_by_key(|&n| self.segments[n].end);
        if let Some(at) = known {
            self.segments[at].used = self.clock;
        }
        let behind = known.map_or(sector, |at| self.segments[at].end);
        // Stopped look-ahead will not deliver anything.
        let Some(ahead) = self.ahead.filter(|ahead| reached.is_some_and(|reached| reached < ahead.limit))
        else {
            return if end <= behind { Found::Hit } else { Found::Miss(behind) };
        };
        let first = self.segments[ahead.segment].first;
        let geometry = mechanism.geometry();
        // Most are farther away than the longest track, which avoids computing their position.
        let near = sector >= first
            && reached.is_some_and(|reached| {
                sector <= reached + geometry.longest_track()
                    && sector <= reached + geometry.place(sector).per_track
            });
        if near {
            // Look-ahead continues up to a limit measured from here.
            let limit = ahead.limit.max(self.limit(end, mechanism));
            self.ahead = Some(LookAhead { limit, ..ahead });
            self.segments[ahead.segment].used = self.clock;
        }
        match near {
            _ if end <= behind => Found::Hit,
            true => Found::OnItsWay(mechanism.passed_at(ahead.at, ahead.sector, end - ahead.sector)),
            false => Found::Miss(behind),
        }
    }

    fn limit(&self, end: u64, mechanism: &Mechanism) -> u64 {
        (end + self.segment_sectors).min(mechanism.geometry().capacity_sectors())
    }

    /// The mechanism has read a run that ended at `at`, ns: keeps it, and starts look-ahead behind it.
    pub fn read(&mut self, at: u64, sector: u64, end: u64, mechanism: &Mechanism) {
        self.ahead = None;
        if self.segments.is_empty() {
            return;
        }
        self.clock += 1;
        let first = sector.max(end.saturating_sub(self.segment_sectors));
        let joined = self.segments.iter().position(|s| s.first <= first && first <= s.end && s.end > s.first);
        let oldest = || (0..self.segments.len()).min_by_key(|&n| self.segments[n].used).unwrap_or(0);
        let segment = joined.unwrap_or_else(oldest);
        let first = if joined.is_some() { self.segments[segment].first } else { first };
        let first = first.max(end.saturating_sub(self.segment_sectors));
        self.segments[segment] = Segment { first, end, used: self.clock };
        let limit = self.limit(end, mechanism);
        if self.look_ahead && limit > end {
            let at = mechanism.follows_at(at, end);
            self.ahead = Some(LookAhead { segment, sector: end, at, limit });
        }
    }

    /// The mechanism is needed for another access.
    pub fn stop(&mut self) {
        self.ahead = None;
    }

    /// Sectors are written: invalidates what the buffer has of them.
    pub fn forget(&mut self, sector: u64, end: u64) {
        for (n, segment) in self.segments.iter_mut().enumerate() {
            let filling = self.ahead.filter(|ahead| ahead.segment == n);
            let last = filling.map_or(segment.end, |ahead| ahead.limit);
            if sector >= last || end <= segment.first {
                continue;
            }
            if filling.is_some() {
                self.ahead = None;
            }
            if sector > segment.first {
                segment.end = segment.end.min(sector);
            } else {
                *segment = Segment { first: 0, end: 0, used: 0 };
            }
        }
    }
}
