//! Checks the alignment of offsets: only for orders that draw each record independently, on one file.

use crate::{Access, Data, Pick, Sequence, Stream, Verify};

pub(super) fn error(stream: &Stream) -> Option<String> {
    if stream.align.0 == 0 {
        return None;
    }
    let order = match &stream.access {
        Access::PartlyRandom { order, .. } => order,
        order => order,
    };
    if !order.draws_each() {
        return Some(
            "align needs an order that draws each record by itself: uniform, zipf, pareto, normal, around or zoned, also as the order of partly-random"
                .into(),
        );
    }
    if stream.pick == Pick::All || stream.sequence == Sequence::Common {
        return Some("align cannot be combined with pick = \"all\" or sequence = \"common\"".into());
    }
    // Records that begin within another one's block would damage it.
    let by_block = match &stream.data {
        Data::Sealed(sealed) => stream.align.0.is_multiple_of(sealed.block.0.max(1)),
        _ => false,
    };
    (stream.verify != Verify::No && !by_block)
        .then(|| "with verify, align must be a multiple of the block of data = { sealed }".into())
}
