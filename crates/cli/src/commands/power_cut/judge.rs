//! What a block holds after the power cut, compared with what was acknowledged. A block may hold the last acknowledged write to it
//! or a later one that was in flight; of the latter also a part, sector by sector. Everything else is lost.

use super::options::Pattern;
use super::plan::Plan;
use super::sector::{FoundSector, SECTOR, read};
use serde::Serialize;

/// What is in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The last acknowledged write.
    Kept,
    /// A later one, which was not acknowledged.
    Newer,
    /// Sectors of several writes, none older than the last acknowledged one.
    Torn,
    /// Not what it must be.
    Lost(Loss),
}

/// A block without its acknowledged content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The block.
    pub block: u64,
    /// The write that had been acknowledged; 0: the layout.
    pub write: u64,
    /// What is there instead.
    pub instead: Instead,
}

/// What is in place of acknowledged content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instead {
    /// An older write.
    Older(u64),
    /// The file ends before it.
    Missing,
    /// Zeros, or data that this run did not write.
    Foreign,
    /// A sector with a wrong checksum.
    Damaged,
    /// Data of another block or file.
    Misplaced,
    /// The storage does not give it back.
    Unreadable,
    /// Sectors of several writes where one file had to replace another as a whole.
    Mixed,
}

/// The judge of a file.
pub struct Judge<'a> {
    plan: &'a Plan,
    file: u32,
    /// Number of its last acknowledged write.
    acknowledged: u64,
    /// The last acknowledged write to each block; empty where that is clear from the block's number.
    last: Vec<u64>,
}

impl<'a> Judge<'a> {
    /// For a file whose writes up to `acknowledged` were.
    pub fn new(plan: &'a Plan, file: u32, acknowledged: u64) -> Self {
        let mut last = Vec::new();
        if plan.pattern == Pattern::Overwrite {
            last.resize(plan.blocks() as usize, 0);
            for write in 1..=acknowledged {
                last[plan.block_of(file, write) as usize] = write;
            }
        }
        Self { plan, file, acknowledged, last }
    }

    /// How many blocks of the file can hold acknowledged writes.
    pub fn blocks(&self) -> u64 {
        match self.plan.pattern {
            Pattern::Append => self.acknowledged.min(self.plan.blocks()),
            Pattern::Overwrite | Pattern::Replace => self.plan.blocks(),
        }
    }

    /// The last acknowledged write to a block; 0: the layout.
    fn last(&self, block: u64) -> u64 {
        match self.plan.pattern {
            Pattern::Append => block + 1,
            Pattern::Overwrite => self.last[block as usize],
            Pattern::Replace => self.acknowledged,
        }
    }

    /// The loss of a block that cannot be read.
    pub fn unreadable(&self, block: u64) -> Loss {
        Loss { block, write: self.last(block), instead: Instead::Unreadable }
    }

    /// Judges a block by its bytes; fewer than a block: the file ends there.
    pub fn block(&self, block: u64, bytes: &[u8]) -> State {
        let expected = self.last(block);
        let lost = |instead| State::Lost(Loss { block, write: expected, instead });
        if (bytes.len() as u64) < self.plan.block {
            return lost(Instead::Missing);
        }
        let (mut oldest, mut newest) = (u64::MAX, 0);
        for (sector, bytes) in (0..).zip(bytes.chunks_exact(SECTOR)) {
            let label = match read(bytes, self.plan.run) {
                FoundSector::Labelled(label) => label,
                FoundSector::Damaged => return lost(Instead::Damaged),
                FoundSector::Foreign => return lost(Instead::Foreign),
            };
            let here = (label.file, label.block, label.sector) == (self.file, block, sector);
            if !here || label.write > 0 && self.plan.block_of(self.file, label.write) != block {
                return lost(Instead::Misplaced);
            }
            oldest = oldest.min(label.write);
            newest = newest.max(label.write);
        }
        match (oldest, newest) {
            (oldest, _) if oldest < expected => lost(Instead::Older(oldest)),
            (oldest, newest) if oldest == newest => {
                if newest == expected {
                    State::Kept
                } else {
                    State::Newer
                }
            }
            _ if self.plan.pattern == Pattern::Replace => lost(Instead::Mixed),
            _ => State::Torn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::plan;
    use super::super::sector::fill;
    use super::*;

    fn written(plan: &Plan, file: u32, block: u64, write: u64) -> Vec<u8> {
        let mut bytes = vec![0; plan.block as usize];
        fill(&mut bytes, plan.run, file, block, write);
        bytes
    }

    /// The first block that 40 writes hit twice, with these writes and the one after them.
    fn hit(plan: &Plan) -> (u64, [u64; 3]) {
        let writes = |block: u64| (1..=400).filter(move |write| plan.block_of(0, *write) == block);
        (0..plan.blocks())
            .find_map(|block| {
                let all: Vec<u64> = writes(block).collect();
                let early = all.iter().filter(|write| **write <= 40).count();
                (early >= 2).then(|| (block, [all[early - 2], all[early - 1], all[early]]))
            })
            .expect("there is one")
    }

    #[test]
    fn the_last_acknowledged_write_or_a_later_one_has_to_be_there() {
        let plan = plan(Pattern::Overwrite);
        let judge = Judge::new(&plan, 0, 40);
        let (block, [older, last, newer]) = hit(&plan);
        let of = |write| judge.block(block, &written(&plan, 0, block, write));
        let lost = |instead| State::Lost(Loss { block, write: last, instead });
        assert_eq!((of(last), of(newer)), (State::Kept, State::Newer));
        assert_eq!((of(older), of(0)), (lost(Instead::Older(older)), lost(Instead::Older(0))));
        let mut torn = written(&plan, 0, block, last);
        torn[..SECTOR].copy_from_slice(&written(&plan, 0, block, newer)[..SECTOR]);
        assert_eq!(judge.block(block, &torn), State::Torn);
        torn[..SECTOR].copy_from_slice(&written(&plan, 0, block, older)[..SECTOR]);
        assert_eq!(judge.block(block, &torn), lost(Instead::Older(older)));
        assert_eq!(judge.block(block, &vec![0; 1024]), lost(Instead::Foreign));
        assert_eq!(judge.block(block, &torn[..512]), lost(Instead::Missing));
        torn[100] ^= 1;
        assert_eq!(judge.block(block, &torn), lost(Instead::Damaged));
        // Another file's, another block's, and a write that never went here.
        assert_eq!(judge.block(block, &written(&plan, 1, block, last)), lost(Instead::Misplaced));
        assert_eq!(judge.block(block, &written(&plan, 0, block ^ 1, last)), lost(Instead::Misplaced));
        let never = (1..).find(|write| plan.block_of(0, *write) != block).unwrap();
        assert_eq!(of(never), lost(Instead::Misplaced));
    }

    #[test]
    fn what_was_not_acknowledged_may_be_anything() {
        let plan = plan(Pattern::Append);
        let judge = Judge::new(&plan, 0, 4);
        assert_eq!(judge.block(3, &written(&plan, 0, 3, 4)), State::Kept);
        assert_eq!((judge.blocks(), judge.unreadable(3).write), (4, 4));
        assert!(matches!(judge.block(3, &[]), State::Lost(Loss { instead: Instead::Missing, .. })));
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let plan = plan(Pattern::Replace);
        let judge = Judge::new(&plan, 0, 4);
        assert_eq!(judge.block(0, &written(&plan, 0, 0, 5)), State::Newer);
        let mut mixed = written(&plan, 0, 0, 5);
        mixed[..SECTOR].copy_from_slice(&written(&plan, 0, 0, 6)[..SECTOR]);
        assert!(matches!(judge.block(0, &mixed), State::Lost(Loss { instead: Instead::Mixed, .. })));
    }
}
