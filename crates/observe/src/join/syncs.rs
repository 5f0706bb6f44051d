//! What an fsync waited for: the writes completed while it lasted, by owner.

use super::calls::Call;
use super::keep::Kept;
use super::layout::Layout;
use fathom_record::block::{IssuerKind, RequestFlags};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// Sums over all syncs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncWaits {
    /// Number of syncs.
    pub calls: u64,
    /// Total duration, ns.
    pub total_ns: u64,
    /// Writes, and their bytes, completed during a sync and belonging to the synced file.
    pub own: (u64, u64),
    /// The same for our other files.
    pub others: (u64, u64),
    /// The same for data in none of our files: journal, inodes, allocation maps, other programs' files.
    pub elsewhere: (u64, u64),
    /// The part of `elsewhere` that the journal thread issued.
    pub journal: (u64, u64),
    /// Number of flushes of the device's cache, alone or before a write, and their time in ns.
    pub flushes: (u64, u64),
    /// Writes that bypass the device's cache.
    pub fua: u64,
    /// Syncs during which data of our other files was written.
    pub with_others: u64,
    /// The most such files in one sync.
    pub most_others: u32,
    /// Total number of other files over all syncs.
    pub files_met: u64,
}

pub(super) fn waits<'a>(
    syncs: impl Iterator<Item = &'a Call>,
    requests: &[Kept],
    layout: &Layout,
) -> SyncWaits {
    let mut all = SyncWaits::default();
    // By completion: a sync also waits for requests issued before it and completed during it.
    let mut done: Vec<&Kept> = requests.iter().filter(|r| r.completed_ns > 0).collect();
    done.sort_by_key(|r| r.completed_ns);
    let syncs: Vec<(&Call, Range<usize>)> = syncs
        .map(|sync| {
            let from = done.partition_point(|r| r.completed_ns < sync.start_ns);
            let to = done.partition_point(|r| r.completed_ns <= sync.end_ns());
            (sync, from..to.max(from))
        })
        .collect();
    let parts: Vec<Vec<(u32, u64)>> = done.iter().map(|request| parts_of(request, layout)).collect();
    // Concurrent syncs each write their own file; data that one of them synced does not count as another file's for the rest.
    let mut wanted = HashSet::new();
    for (sync, within) in &syncs {
        wanted.extend(
            within.clone().filter(|&r| parts[r].iter().any(|p| p.0 == sync.file)).map(|r| (r, sync.file)),
        );
    }
    let mut met = vec![false; done.len()];
    for (sync, within) in syncs {
        all.calls += 1;
        all.total_ns += sync.latency_ns;
        let mut others = BTreeSet::new();
        for r in within {
            // A request is counted once, however many syncs it overlaps.
            let first = !std::mem::replace(&mut met[r], true);
            if first {
                all.look_at(done[r], sync);
            }
            for &(file, bytes) in &parts[r] {
                let own = wanted.contains(&(r, file));
                if first {
                    add(if own { &mut all.own } else { &mut all.others }, bytes);
                }
                if !own {
                    others.insert(file);
                }
            }
            if first && writes(done[r]) {
                let rest = done[r].bytes().saturating_sub(parts[r].iter().map(|p| p.1).sum());
                add(&mut all.elsewhere, rest);
                if done[r].issuer == IssuerKind::Journal {
                    add(&mut all.journal, rest);
                }
            }
        }
        all.with_others += u64::from(!others.is_empty());
        all.most_others = all.most_others.max(others.len() as u32);
        all.files_met += others.len() as u64;
    }
    all
}

impl SyncWaits {
    /// Counts flushes and FUA writes.
    fn look_at(&mut self, request: &Kept, sync: &Call) {
        if request.flags.has(RequestFlags::PREFLUSH) {
            let begun = request.issued_ns.max(sync.start_ns);
            self.flushes.0 += 1;
            self.flushes.1 += request.completed_ns.saturating_sub(begun);
        }
        self.fua += u64::from(writes(request) && request.flags.has(RequestFlags::FUA));
    }
}

fn writes(request: &Kept) -> bool {
    request.flags.has(RequestFlags::WRITE) && request.sectors > 0
}

/// Our files that a write belongs to, with the bytes of each.
fn parts_of(request: &Kept, layout: &Layout) -> Vec<(u32, u64)> {
    if !writes(request) {
        return Vec::new();
    }
    let mut parts: Vec<(u32, u64)> = Vec::new();
    for (file, _, bytes) in layout.within(request.sector, request.sectors.into()) {
        match parts.iter_mut().find(|p| p.0 == file) {
            Some(part) => part.1 += bytes,
            None => parts.push((file, bytes)),
        }
    }
    parts
}

fn add(to: &mut (u64, u64), bytes: u64) {
    if bytes > 0 {
        to.0 += 1;
        to.1 += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{call, kept};
    use super::*;
    use crate::extents::Placed;
    use fathom_record::OpKind;

    #[test]
    fn an_fsync_waits_for_its_own_data_others_data_and_the_journal() {
        let file = |at: u64| vec![Placed { offset: 0, at, length: 65_536 }];
        let layout = Layout::drawn(&[(0, file(0)), (1, file(65_536)), (2, file(131_072))]);
        let sync = call(OpKind::Sync, 1000, 1000, 0, 0);
        let mut journal = kept(1500, 100, 1 << 20, 16, "WS");
        journal.issuer = IssuerKind::Journal;
        let requests = [
            kept(100, 100, 0, 8, "W"),     // done before the sync began
            kept(900, 300, 8, 8, "W"),     // in flight when it began
            kept(1100, 100, 128, 16, "W"), // another file's
            kept(1200, 100, 256, 8, "W"),  // a third one's
            journal,
            kept(1700, 200, 1 << 21, 8, "FWFS"),
            kept(1950, 500, 16, 8, "W"), // done after it returned
        ];
        let waits = waits([sync].iter(), &requests, &layout);
        assert_eq!((waits.calls, waits.total_ns), (1, 1000));
        assert_eq!((waits.own, waits.others), ((1, 4096), (2, 12_288)));
        assert_eq!((waits.elsewhere, waits.journal), ((2, 12_288), (1, 8192)));
        assert_eq!((waits.flushes, waits.fua), ((1, 200), 1));
        assert_eq!((waits.with_others, waits.most_others, waits.files_met), (1, 2, 2));
    }

    #[test]
    fn of_syncs_side_by_side_each_writes_its_own() {
        let file = |at: u64| vec![Placed { offset: 0, at, length: 65_536 }];
        let layout = Layout::drawn(&[(0, file(0)), (1, file(65_536)), (2, file(131_072))]);
        let syncs =
            [call(OpKind::Sync, 1000, 1000, 0, 0), Call { file: 1, ..call(OpKind::Sync, 1000, 1000, 0, 0) }];
        let requests = [
            kept(1100, 100, 0, 8, "W"),
            kept(1200, 100, 128, 8, "W"),
            kept(1300, 100, 256, 8, "W"), // a file that was not synced
            kept(1400, 100, 1 << 21, 8, "FWFS"),
        ];
        let waits = waits(syncs.iter(), &requests, &layout);
        assert_eq!((waits.own, waits.others, waits.elsewhere), ((2, 8192), (1, 4096), (1, 4096)));
        assert_eq!((waits.calls, waits.with_others, waits.most_others, waits.flushes.0), (2, 2, 1, 1));
    }
}
