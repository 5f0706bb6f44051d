//! The counts that every rank sends to rank 0 while a phase runs.

use fathom_record::Phase;

/// What a rank has counted so far in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub ops: u64,
    pub bytes: u64,
}

impl Count {
    pub fn of(phase: &Phase) -> Self {
        let last = phase.repetitions.last();
        Self { ops: last.map_or(0, |r| r.ops()), bytes: last.map_or(0, |r| r.bytes()) }
    }

    pub fn written(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let (ops, rest) = bytes.split_at_mut(8);
        ops.copy_from_slice(&self.ops.to_le_bytes());
        rest.copy_from_slice(&self.bytes.to_le_bytes());
        bytes
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
        Some(Self { ops: word(0)?, bytes: word(8)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let count = Count { ops: 3, bytes: u64::MAX };
        assert_eq!(Count::read(&count.written()), Some(count));
        assert_eq!(Count::read(&[1]), None);
    }
}
