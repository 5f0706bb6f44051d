//! The 2007 bug report on HSFS, the ISO 9660 file system of Solaris: its tables as published and in virtual time. The
//! reader is that of crate isofs, which `fathom mount --policy baseline|seed|modern` uses, with the elevator and
//! read-ahead of crate iopath; the drive is from crate sim. The two crates must not depend on each other, so they meet
//! here.

mod cases;
mod checks;
mod flows;
mod freedom;
mod host;
mod machine;
mod published;
mod reading;
mod table;
mod text;
mod texts;
mod walks;

use super::Reproduce;
use crate::exit::Usage;
pub(super) use table::Table;

/// Scale of the simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Size of each of the three files on the test disc.
    pub file_bytes: u64,
    /// Duration of each Filebench test.
    pub seconds: u64,
    /// Number of files on the DVD of cpio and tar.
    pub files: usize,
    pub directories: usize,
    pub tree_bytes: u64,
    /// tar's reads of each directory.
    pub tar_trips: u64,
    /// Interval of iostat.
    pub interval_s: u64,
}

impl Scale {
    /// As in the report.
    const FULL: Self = Self {
        file_bytes: 1 << 30,
        seconds: 302,
        files: 60_000,
        directories: 3_270,
        tree_bytes: 6_944_256 * 512,
        tar_trips: 4,
        interval_s: 5,
    };

    /// For tests of a debug build: the same texts and policies on a small disc. Not comparable with published figures.
    #[cfg(test)]
    const SMALL: Self = Self {
        file_bytes: 8 << 20,
        seconds: 2,
        files: 300,
        directories: 20,
        tree_bytes: 6 << 20,
        tar_trips: 4,
        interval_s: 1,
    };
}

pub(super) fn reproduce(options: &Reproduce) -> anyhow::Result<Table> {
    if options.seeds.is_some() {
        let why =
            "hsfs-2007 has one seed: the offsets of its random reads are those of Filebench's generator";
        return Err(Usage(why.into()).into());
    }
    if options.ablation {
        let why = "hsfs-2007 has no --ablation: the table of the lock is part of it, and its degrees of freedom are said in it";
        return Err(Usage(why.into()).into());
    }
    table::simulate(&Scale::FULL).map_err(|e| Usage(e.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::cases::{Column, Job, run};
    use super::walks::WalkedTree;
    use super::*;
    use fathom_testkit::golden;

    #[test]
    fn a_small_disc_gives_what_it_gave_and_the_same_bytes_every_time() {
        let once = || {
            let table = table::simulate(&Scale::SMALL).unwrap();
            (table.to_string(), serde_json::to_string_pretty(&table).unwrap())
        };
        let (text, json) = once();
        assert_eq!(once(), (text.clone(), json.clone()));
        golden("src/commands/reproduce/hsfs/golden/small.txt", &text);
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
        for key in ["\"rows\"", "\"checks\"", "\"lock\"", "\"freedom\"", "\"flowops\""] {
            assert!(json.contains(key), "{key}");
        }
    }

    /// S5: the baseline issues exactly one request per 2 KiB, the rework hardly more than one per 16 KiB, nearly all
    /// from the pool.
    #[test]
    fn requests_of_dd() {
        let (scale, tree) = (Scale::SMALL, WalkedTree::new(&Scale::SMALL).unwrap());
        let dd = |job| run(job, &scale, &tree).unwrap().requests;
        let baseline = dd(Job::Dd(Column::Baseline));
        assert_eq!((baseline.count(), baseline.of_pool()), (scale.file_bytes / 2048, 0));
        let enhanced = dd(Job::Dd(Column::Enhanced));
        let least = scale.file_bytes / 16_384;
        assert!(enhanced.count() >= least && enhanced.count() <= least + 20, "{enhanced:?}");
        assert!(enhanced.of_pool() + 20 >= enhanced.count(), "{enhanced:?}");
        let wide = dd(Job::DdWide);
        assert!(wide.count() <= scale.file_bytes / (512 << 10) + 20, "{wide:?}");
    }

    #[test]
    fn the_lock_over_the_wait_keeps_the_drive_from_sorting() {
        let (scale, tree) = (Scale { seconds: 4, ..Scale::SMALL }, WalkedTree::new(&Scale::SMALL).unwrap());
        let deepest = |free| run(Job::Lock(500, free), &scale, &tree).unwrap().deepest;
        assert_eq!((deepest(false), deepest(true)), (1, texts::READERS));
    }
}
