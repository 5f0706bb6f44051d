//! Checks that cached data can be dropped between the passes of a stream: it must have passes, and they must be its own.

use crate::{Access, Backend, FileCall, Sequence, Stream};

pub(super) fn error(stream: &Stream) -> Option<&'static str> {
    if !stream.evict_passes {
        return None;
    }
    if matches!(stream.access, Access::Listed(_)) {
        return Some("a list of operations has no passes; leave evict_passes out");
    }
    if stream.sequence == Sequence::Common {
        return Some("evict_passes cannot be combined with a common sequence: passes belong to one worker");
    }
    if stream.trims() {
        return Some("evict_passes cannot be combined with trims: trimmed data is not in memory");
    }
    // Blocks whose contents are in memory are not moved to other places.
    let moves = stream.backend.moves_data() || stream.backend == Backend::Calls(FileCall::MoveExtents);
    (!moves || stream.backend == Backend::Null)
        .then_some("evict_passes: this back-end moves no data, so the cache holds none of it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Direction};

    #[test]
    fn passes_are_those_of_one_worker_that_moves_data() {
        let good = Stream { evict_passes: true, ..Stream::new("f", Direction::Read, Bytes(4096)) };
        assert_eq!(error(&good), None);
        let blocks = Backend::Calls(FileCall::MoveExtents);
        assert_eq!(error(&Stream { backend: blocks, ..good.clone() }), None);
        for (wrong, why) in [
            (Stream { access: Access::Listed(Vec::new()), ..good.clone() }, "has no passes"),
            (Stream { sequence: Sequence::Common, ..good.clone() }, "common sequence"),
            (Stream { direction: Direction::Trim, ..good.clone() }, "trims"),
            (Stream { backend: Backend::Null, ..good.clone() }, "moves no data"),
        ] {
            assert!(error(&wrong).expect("an error").contains(why), "{why}");
        }
    }
}
