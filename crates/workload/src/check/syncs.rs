//! Whether the ranges that a stream syncs make sense.

use crate::{Backend, Stream, SyncRange};

/// What is wrong with them.
pub(super) fn errors(stream: &Stream) -> Option<&'static str> {
    let sync = stream.sync_every?;
    let range = sync.range?;
    if range == SyncRange::default() {
        return Some(
            "a range of sync_every that neither waits nor writes does nothing; write = true is meant",
        );
    }
    if sync.data_only || sync.inside {
        return Some("a range of sync_every is a call of its own: data_only and inside do not go with it");
    }
    (!matches!(stream.backend, Backend::Psync(_) | Backend::Pvsync2(_) | Backend::Splice)).then_some(
        "a range of sync_every needs the back-end psync, pvsync2 or splice: with the others nothing is in the file yet, or others write it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Direction, SyncEvery};

    fn wrong(sync: SyncEvery, backend: Backend) -> Option<&'static str> {
        let stream = Stream::new("f", Direction::Write, Bytes(4096));
        errors(&Stream { sync_every: Some(sync), backend, ..stream })
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
