//! Whether offsets can be multiples of what a stream asks for: in orders that draw each record by itself, on one file.

use crate::{Pick, Sequence, Stream, Verify};

/// What is wrong with the alignment of a stream.
pub(super) fn error(stream: &Stream) -> Option<String> {
    if stream.align.0 == 0 {
        return None;
    }
    if !stream.access.draws_each() {
        return Some(
            "align goes with orders that draw each record by itself: uniform, zipf, pareto, normal, around and zoned"
                .into(),
        );
    }
    if stream.pick == Pick::All || stream.sequence == Sequence::Common {
        return Some("align goes with streams on one file, each with a sequence of its own".into());
    }
    // Records may overlap, and who checks would find the wrong ones.
    (stream.verify != Verify::No)
        .then(|| "align moves records apart or over each other; leave align or verify out".into())
}
