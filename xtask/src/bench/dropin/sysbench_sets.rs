//! The files of SysBench's fileio tests for one contender: a directory in which that contender prepares them, as its user would, and
//! runs on what it prepared. Nothing is evicted and read in again on the way: how a program writes its files decides in which pieces
//! (folios) the page cache holds them, and that changes the speed of reads and writes by more than the programs differ.

use super::child;
use crate::bench::files::{self, Mapping};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// SysBench's default number of files.
pub const FILES: u64 = 128;

/// `test_file.0` and so on in one directory.
pub struct Set {
    pub dir: PathBuf,
    pub total_bytes: u64,
}

impl Set {
    /// Has the program (with its leading words) prepare the files in this block size, in place of those that it prepared before.
    pub fn prepared(dir: &Path, mut program: Command, total_bytes: u64, block_bytes: usize) -> Result<Self> {
        if dir.exists() {
            std::fs::remove_dir_all(dir)?;
        }
        std::fs::create_dir_all(dir)?;
        let set = Self { dir: dir.to_owned(), total_bytes };
        let sizes = [format!("--file-total-size={total_bytes}"), format!("--file-block-size={block_bytes}")];
        program.arg("fileio").args(sizes).arg("prepare").current_dir(dir);
        let ended = child::run(&mut program, Duration::from_secs(600))?;
        ensure!(ended.output.status.success(), "prepare: {}", child::printed(&ended));
        for path in set.paths() {
            ensure!(path.is_file(), "prepare made no {}: {}", path.display(), child::printed(&ended));
        }
        Ok(set)
    }

    /// Size of one file.
    pub fn file_bytes(&self) -> u64 {
        self.total_bytes / FILES
    }

    pub fn paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        (0..FILES).map(|number| self.dir.join(format!("test_file.{number}")))
    }

    /// Share of the files that lies in the page cache.
    pub fn resident_share(&self) -> Result<f64> {
        let mut shares = 0.0;
        for path in self.paths() {
            shares += Mapping::of(&path)?.resident_share()?;
        }
        Ok(shares / FILES as f64)
    }

    /// Holds the files in the page cache while the answer lives; pages that cannot be locked are only mapped.
    pub fn held(&self) -> Result<Vec<Mapping>> {
        let held: Vec<Mapping> = self.paths().map(|path| Mapping::of(&path)).collect::<Result<_>>()?;
        if !held.iter().all(Mapping::lock) {
            eprintln!(
                "note: the files cannot be locked in memory; they are prepared again where pages are missing"
            );
        }
        Ok(held)
    }

    /// Writes dirty pages back, so that one contender's do not burden the next.
    pub fn settle(&self) -> Result<()> {
        self.paths().filter(|path| path.exists()).try_for_each(|path| files::settle(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does what a prepare does, as far as a set sees it.
    const PREPARE: &str = "test \"$0 $2 $3\" = 'fileio --file-block-size=4096 prepare' || exit 3
        set -C; for i in $(seq 0 127); do head -c 8192 /dev/zero > test_file.$i; done";

    #[test]
    fn a_set_is_prepared_by_the_contender_and_stays_as_that_left_it() {
        let dir = tempfile::tempdir().unwrap();
        let prepare = || {
            let mut program = Command::new("sh");
            program.args(["-c", PREPARE]);
            Set::prepared(&dir.path().join("own"), program, FILES * 8192, 4096).unwrap()
        };
        let set = prepare();
        assert_eq!((set.file_bytes(), set.paths().count()), (8192, 128));
        set.settle().unwrap();
        let held = set.held().unwrap();
        assert_eq!((held.len(), set.resident_share().unwrap()), (128, 1.0));
        // Once more in its place: the script does not overwrite.
        prepare();
    }

    #[test]
    fn a_prepare_that_makes_nothing_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut program = Command::new("sh");
        program.args(["-c", "echo made nothing"]);
        let error = Set::prepared(dir.path(), program, FILES * 8192, 4096).err().unwrap();
        assert!(error.to_string().contains("test_file.0"), "{error}");
    }
}
