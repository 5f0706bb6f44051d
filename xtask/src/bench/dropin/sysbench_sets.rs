//! The files of SysBench's fileio tests for one contender: a directory in which that contender prepares them. After that both sets are
//! read into the page cache by the same reads, because reads are faster on pages that were brought in in large pieces.

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
    /// Has the program (with its leading words) prepare the files.
    pub fn prepared(dir: &Path, mut program: Command, total_bytes: u64) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        let set = Self { dir: dir.to_owned(), total_bytes };
        program.args(["fileio", &format!("--file-total-size={total_bytes}"), "prepare"]).current_dir(dir);
        let ended = child::run(&mut program, Duration::from_secs(600))?;
        ensure!(ended.output.status.success(), "prepare: {}", child::printed(&ended));
        for path in set.paths() {
            ensure!(path.is_file(), "prepare made no {}: {}", path.display(), child::printed(&ended));
        }
        for path in set.paths() {
            files::evict(&path)?;
        }
        set.warm()?;
        Ok(set)
    }

    /// Size of one file.
    pub fn file_bytes(&self) -> u64 {
        self.total_bytes / FILES
    }

    pub fn paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        (0..FILES).map(|number| self.dir.join(format!("test_file.{number}")))
    }

    /// Puts all files into the page cache; the share that lay there before.
    pub fn warm(&self) -> Result<f64> {
        let mut shares = 0.0;
        for path in self.paths() {
            shares += files::warm(&path)?;
        }
        Ok(shares / FILES as f64)
    }

    /// Holds the files in the page cache while the answer lives; pages that cannot be locked are only mapped.
    pub fn held(&self) -> Result<Vec<Mapping>> {
        let held: Vec<Mapping> = self.paths().map(|path| Mapping::of(&path)).collect::<Result<_>>()?;
        if !held.iter().all(Mapping::lock) {
            eprintln!(
                "note: the files cannot be locked in memory; they are read again where pages are missing"
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
    const PREPARE: &str = "for i in $(seq 0 127); do head -c 8192 /dev/zero > test_file.$i; done";

    #[test]
    fn a_set_is_prepared_by_the_contender_and_cached() {
        let dir = tempfile::tempdir().unwrap();
        let mut program = Command::new("sh");
        program.args(["-c", PREPARE]);
        let set = Set::prepared(&dir.path().join("own"), program, FILES * 8192).unwrap();
        assert_eq!((set.file_bytes(), set.paths().count()), (8192, 128));
        assert_eq!(set.warm().unwrap(), 1.0);
        set.settle().unwrap();
        assert_eq!(set.held().unwrap().len(), 128);
    }

    #[test]
    fn a_prepare_that_makes_nothing_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mut program = Command::new("sh");
        program.args(["-c", "echo made nothing"]);
        let error = Set::prepared(dir.path(), program, FILES * 8192).err().unwrap();
        assert!(error.to_string().contains("test_file.0"), "{error}");
    }
}
