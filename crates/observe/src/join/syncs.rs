//! For what an fsync waited: the writes that reached the device while it lasted, by whose they were.

use super::calls::Call;
use super::keep::Kept;
use super::layout::Layout;
use fathom_record::block::{IssuerKind, RequestFlags};
use std::collections::BTreeSet;

/// Sums over all syncs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncWaits {
    /// Syncs.
    pub calls: u64,
    /// Their time together, ns.
    pub total_ns: u64,
    /// Writes completed while a sync lasted, and bytes of those, that belong to the file it was for.
    pub own: (u64, u64),
    /// Likewise for other files of ours.
    pub others: (u64, u64),
    /// Likewise for what lies in no file of ours: journal, inodes, allocation maps, other programs' files.
    pub elsewhere: (u64, u64),
    /// Of `elsewhere` what the journal's own thread issued.
    pub journal: (u64, u64),
    /// Flushes of the device's cache, alone or before a write, and their time, ns.
    pub flushes: (u64, u64),
    /// Writes past the device's cache.
    pub fua: u64,
    /// Syncs during which data of other files of ours were written, and the most such files in one.
    pub with_others: u64,
    /// See `with_others`.
    pub most_others: u32,
    /// Other files of ours met during the syncs, all together.
    pub files_met: u64,
}

pub(super) fn waits<'a>(
    syncs: impl Iterator<Item = &'a Call>,
    requests: &[Kept],
    layout: &Layout,
) -> SyncWaits {
    let mut all = SyncWaits::default();
    // By completion: what was issued before the sync and completed in it was waited for, too.
    let mut done: Vec<&Kept> = requests.iter().filter(|r| r.completed_ns > 0).collect();
    done.sort_by_key(|r| r.completed_ns);
    for sync in syncs {
        all.calls += 1;
        all.total_ns += sync.latency_ns;
        let from = done.partition_point(|r| r.completed_ns < sync.start_ns);
        let mut others = BTreeSet::new();
        for request in done[from..].iter().take_while(|r| r.completed_ns <= sync.end_ns()) {
            if request.flags.has(RequestFlags::PREFLUSH) {
                all.flushes.0 += 1;
                let begun = request.issued_ns.max(sync.start_ns);
                all.flushes.1 += request.completed_ns.saturating_sub(begun);
            }
            if !request.flags.has(RequestFlags::WRITE) || request.sectors == 0 {
                continue;
            }
            all.fua += u64::from(request.flags.has(RequestFlags::FUA));
            count(&mut all, sync, request, layout, &mut others);
        }
        all.with_others += u64::from(!others.is_empty());
        all.most_others = all.most_others.max(others.len() as u32);
        all.files_met += others.len() as u64;
    }
    all
}

fn count(all: &mut SyncWaits, sync: &Call, request: &Kept, layout: &Layout, others: &mut BTreeSet<u32>) {
    let (mut own, mut other) = (0, 0);
    for (file, _, bytes) in layout.within(request.sector, request.sectors.into()) {
        if file == sync.file {
            own += bytes;
        } else {
            other += bytes;
            others.insert(file);
        }
    }
    let rest = request.bytes().saturating_sub(own + other);
    let add = |to: &mut (u64, u64), bytes: u64| {
        if bytes > 0 {
            to.0 += 1;
            to.1 += bytes;
        }
    };
    add(&mut all.own, own);
    add(&mut all.others, other);
    add(&mut all.elsewhere, rest);
    if request.issuer == IssuerKind::Journal {
        add(&mut all.journal, rest);
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
            kept(900, 300, 8, 8, "W"),     // under way when it began
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
}
