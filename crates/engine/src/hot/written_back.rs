//! Tracks what was written to each file since its last write-back, for streams that call sync_file_range every N writes.

use crate::backend::Handle;
use crate::files;
use fathom_workload::ops::Op;
use fathom_workload::{Stream, SyncRange};

/// The written range of each file, from and to; an end of 0 means that nothing was written.
pub(crate) struct Unsynced {
    how: SyncRange,
    spans: Vec<(u64, u64)>,
}

impl Unsynced {
    /// `None` if the stream does not use it.
    pub fn of(stream: &Stream) -> Option<Self> {
        let how = stream.sync_every?.range?;
        Some(Self { how, spans: Vec::new() })
    }

    pub fn wrote(&mut self, op: &Op) {
        let file = op.file as usize;
        if file >= self.spans.len() {
            self.spans.resize(file + 1, (u64::MAX, 0));
        }
        let (from, to) = &mut self.spans[file];
        *from = op.offset.min(*from);
        *to = op.offset.saturating_add(op.bytes.into()).max(*to);
    }

    /// `file` is the selected file.
    pub fn sync<B: Handle>(&mut self, backend: &B, file: u32) -> Result<(), crate::fault::Fault> {
        let Some((from, to)) = self.spans.get_mut(file as usize).map(|s| std::mem::replace(s, (u64::MAX, 0)))
        else {
            return Ok(());
        };
        // To the kernel, a length of 0 means the rest of the file.
        match backend.descriptor() {
            Some(file) if to > from => files::sync_range(file, from, to - from, self.how),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::ops::OpCode;
    use fathom_workload::{Bytes, Direction, SyncEvery};

    #[test]
    fn files_have_their_own_spans_which_hold_every_write_between() {
        let range = SyncRange { write: true, ..SyncRange::default() };
        let sync_every = Some(SyncEvery { writes: 1, range: Some(range), ..SyncEvery::default() });
        let stream = Stream { sync_every, ..Stream::new("f", Direction::Write, Bytes(4096)) };
        let mut unsynced = Unsynced::of(&stream).unwrap();
        for (file, offset) in [(1, 8192), (1, 0), (0, 4096)] {
            unsynced.wrote(&Op { kind: OpCode::Write, file, offset, bytes: 4096, think_ns: 0 });
        }
        assert_eq!(unsynced.spans, [(4096, 8192), (0, 12288)]);
    }
}
