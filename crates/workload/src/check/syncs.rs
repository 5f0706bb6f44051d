//! Checks the ranges and file systems that a stream syncs.

use crate::{Backend, Stream, SyncRange};

pub(super) fn errors(stream: &Stream) -> Option<&'static str> {
    if stream.timed.syncfs && !stream.timed.fsync {
        return Some("timed.syncfs changes how timed.fsync syncs; set both");
    }
    if stream.timed.syncfs && matches!(stream.backend, Backend::Stdio { .. }) {
        return Some("timed.syncfs does not flush the C library's buffers; use another back-end than stdio");
    }
    let sync = stream.sync_every?;
    let range = sync.range?;
    if range == SyncRange::default() {
        return Some(
            "a range of sync_every that neither waits nor writes does nothing; write = true is meant",
        );
    }
    if sync.data_only || sync.inside {
        return Some(
            "a range of sync_every is a separate call: data_only and inside cannot be combined with it",
        );
    }
    (!matches!(stream.backend, Backend::Psync(_) | Backend::Pvsync2(_) | Backend::Splice)).then_some(
        "a range of sync_every needs the back-end psync, pvsync2 or splice: with the others the data is not in the file yet, or other threads write it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Direction, SyncEvery, Timed};

    fn wrong(sync: SyncEvery, backend: Backend) -> Option<&'static str> {
        let stream = Stream::new("f", Direction::Write, Bytes(4096));
        errors(&Stream { sync_every: Some(sync), backend, ..stream })
    }

    #[test]
    fn a_file_system_is_synced_where_files_would_be() {
        let wrong = |fsync| {
            let timed = Timed { syncfs: true, fsync, ..Timed::default() };
            errors(&Stream { timed, ..Stream::new("f", Direction::Write, Bytes(4096)) })
        };
        assert_eq!(wrong(true), None);
        assert!(wrong(false).unwrap().contains("set both"));
    }

    #[test]
    fn ranges_go_with_calls_that_are_done_one_by_one() {
        let none = SyncRange::default();
        let range = Some(SyncRange { write: true, ..none });
        let good = SyncEvery { writes: 8, range, between: true, ..SyncEvery::default() };
        assert_eq!(wrong(good, Backend::default()), None);
        assert!(
            wrong(SyncEvery { range: Some(none), ..good }, Backend::default())
                .unwrap()
                .contains("does nothing")
        );
        assert!(
            wrong(SyncEvery { data_only: true, ..good }, Backend::default()).unwrap().contains("data_only")
        );
        assert!(wrong(good, Backend::Posix).unwrap().contains("psync"));
    }
}
