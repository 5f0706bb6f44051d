//! Checks streams that trim records, and what they can be combined with.

use crate::{Access, Backend, Direction, Does, Pick, Sequence, Stream, Verify};

pub(super) fn errors(stream: &Stream) -> Vec<String> {
    let listed = match &stream.access {
        Access::Listed(list) => list.as_slice(),
        _ => &[],
    };
    if !stream.direction.trims() && !listed.iter().any(|op| op.does == Some(Does::Trim)) {
        return Vec::new();
    }
    let mut errors = Vec::new();
    let mut wrong = |is_wrong: bool, why: &str| {
        if is_wrong {
            errors.push(why.to_owned());
        }
    };
    wrong(
        stream.direction == Direction::TrimWrite && !listed.is_empty(),
        "a list already contains its trims and writes; direction = \"trim-write\" cannot be combined with it",
    );
    wrong(stream.verify != Verify::No, "trimmed data cannot be verified; leave out verify or the trims");
    wrong(
        matches!(stream.backend, Backend::Stdio { .. }),
        "stdio has no call that trims a part of a file, and it buffers writes; use another back-end for trims",
    );
    wrong(
        stream.adaptive_depth.is_some(),
        "trims are done one after another, so there is no depth to find; leave adaptive_depth out",
    );
    wrong(
        listed.is_empty() && stream.turns.is_none() && stream.pick == Pick::All,
        "trims with pick = \"all\" need files that take turns; set turns",
    );
    wrong(stream.sequence == Sequence::Common, "trims cannot be combined with a common sequence");
    wrong(
        stream.pace.least.is_some() || stream.pace.longest.is_some(),
        "least and longest are limits of reads and writes; leave them out of a stream that trims",
    );
    wrong(
        stream.until_full,
        "a stream that trims frees space and never fills the device; leave until_full out",
    );
    wrong(
        stream.sync_series.is_some(),
        "trims cannot be combined with sync_series; sync_every counts the writes",
    );
    errors
}
