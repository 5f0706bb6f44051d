//! What is written, as a function of the journal's first line: which block each write goes to. Writes are numbered from 1 in each
//! file; 0 is the content with which a file is laid out.

use super::options::{Pattern, Sync};
use super::sector::{SECTOR, mixed};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything that determines what is written, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The directory with the files.
    pub dir: PathBuf,
    pub pattern: Pattern,
    pub sync: Sync,
    /// Writes before each sync.
    pub every: u64,
    /// Bytes of a write.
    pub block: u64,
    /// Bytes of a file.
    pub size: u64,
    pub files: u32,
    pub direct: bool,
    /// Determines which block each write goes to.
    pub seed: u64,
    /// Differs from run to run, so that sectors of another one are not taken for this one's.
    pub run: u64,
    /// The kernel's identifier of this boot, so that `check` knows whether the machine was restarted.
    pub boot: String,
}

impl Plan {
    /// Blocks of a file.
    pub fn blocks(&self) -> u64 {
        match self.pattern {
            Pattern::Replace => 1,
            Pattern::Overwrite | Pattern::Append => self.size / self.block,
        }
    }

    /// Number of the last write; `None`: they do not end.
    pub fn last(&self) -> Option<u64> {
        (self.pattern == Pattern::Append).then(|| self.blocks())
    }

    /// The block of a write.
    pub fn block_of(&self, file: u32, write: u64) -> u64 {
        match self.pattern {
            Pattern::Overwrite => mixed(self.seed, file, write) % self.blocks(),
            Pattern::Append => write - 1,
            Pattern::Replace => 0,
        }
    }

    /// Writes of a file that are synced together.
    pub fn writes_per_sync(&self) -> u64 {
        match (self.pattern, self.sync) {
            (Pattern::Replace, _) | (_, Sync::Dsync) => 1,
            _ => self.every,
        }
    }

    /// The path of a file.
    pub fn path(&self, file: u32) -> PathBuf {
        self.dir.join(format!("data.{file}"))
    }

    /// What is wrong with it: option, and what was expected.
    pub fn error(&self) -> Option<String> {
        let sector = SECTOR as u64;
        if self.block == 0 || !self.block.is_multiple_of(sector) {
            return Some(format!("--block {} is not a multiple of {sector} bytes", self.block));
        }
        if self.block > MOST_BLOCK {
            return Some(format!("--block {} is more than {MOST_BLOCK} bytes", self.block));
        }
        if self.pattern == Pattern::Replace {
            return None;
        }
        if self.size < self.block {
            return Some(format!("--size {} is less than a block of {} bytes", self.size, self.block));
        }
        let blocks = self.size / self.block;
        (self.pattern == Pattern::Overwrite && blocks > MOST_BLOCKS)
            .then(|| format!("--size {} is {blocks} blocks, more than {MOST_BLOCKS}", self.size))
    }
}

/// Every thread holds a block in memory.
const MOST_BLOCK: u64 = 64 << 20;
/// `check` holds the last write to each block in memory, 16 bytes each.
const MOST_BLOCKS: u64 = 1 << 26;

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn plan(pattern: Pattern) -> Plan {
        Plan {
            dir: "/mnt/fathom-power-cut".into(),
            pattern,
            sync: Sync::Fdatasync,
            every: 4,
            block: 1024,
            size: 16 << 10,
            files: 2,
            direct: false,
            seed: 7,
            run: 70,
            boot: "b".into(),
        }
    }

    #[test]
    fn overwrites_hit_every_block_and_differ_by_file() {
        let plan = plan(Pattern::Overwrite);
        let hit = |file| (1..=200).map(|write| plan.block_of(file, write)).collect::<Vec<_>>();
        let mut blocks = hit(0);
        assert_ne!(blocks, hit(1));
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn appends_end_with_the_file_and_replacements_are_synced_one_by_one() {
        let append = plan(Pattern::Append);
        assert_eq!((append.block_of(0, 1), append.block_of(1, 16), append.last()), (0, 15, Some(16)));
        let replace = plan(Pattern::Replace);
        assert_eq!((replace.blocks(), replace.writes_per_sync(), replace.last()), (1, 1, None));
    }

    #[test]
    fn sizes_that_do_not_fit_are_named() {
        let wrong = |change: fn(&mut Plan)| {
            let mut plan = plan(Pattern::Overwrite);
            change(&mut plan);
            plan.error().unwrap_or_default()
        };
        assert!(wrong(|p| p.block = 1000).contains("--block 1000 is not a multiple of 512"));
        assert!(wrong(|p| p.block = 0).contains("--block 0"));
        assert!(wrong(|p| p.block = 1 << 30).contains("is more than"));
        assert!(wrong(|p| p.size = 512).contains("--size 512 is less than a block"));
        assert!(wrong(|p| p.size = 1 << 50).contains("blocks, more than"));
        assert_eq!(wrong(|_| ()), "");
    }
}
