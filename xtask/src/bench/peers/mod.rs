//! The contenders beside the floor: fathom, and the programs it is compared with. Each file knows how one program is called for a
//! kind of work and how its figures are read; none of them knows a case. Peers are found in the directory `FATHOM_PEERS` names and
//! on the path; one that is absent leaves its column empty.

pub mod fathom;
pub mod filebench;
pub mod fio;
pub mod iozone;
pub mod sysbench;
pub mod t_io_uring;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the directory in which peers that are not installed are looked for.
const PEERS_ENV: &str = "FATHOM_PEERS";

/// What a measurement works with.
pub struct Site<'a> {
    /// A directory of the bench's own, for job files and links.
    pub dir: &'a Path,
    pub fathom: &'a Path,
    pub path: &'a Path,
    pub file_bytes: u64,
    pub seconds: f64,
}

/// The programs that were found.
#[derive(Default)]
pub struct Peers {
    pub fio: Option<PathBuf>,
    pub fio_head: Option<PathBuf>,
    pub sysbench: Option<PathBuf>,
    pub filebench: Option<PathBuf>,
    pub t_io_uring: Option<PathBuf>,
    pub iozone: Option<PathBuf>,
}

/// Name, file names, how to get it, and the argument that makes it print its version.
const HOW: [(&str, &[&str], &str, &str); 6] = [
    ("fio", &["fio"], "apt-get install fio", "--version"),
    ("fio head", &["fio-head"], "build fio from its repository and name the program fio-head", "--version"),
    ("sysbench", &["sysbench"], "apt-get install sysbench", "--version"),
    ("filebench", &["filebench"], "build it from the repository filebench/filebench", "-h"),
    ("t/io_uring", &["t/io_uring", "t-io_uring"], "`make t/io_uring` in fio's repository", "-h"),
    ("IOzone", &["iozone"], "package iozone3 of Debian's non-free archive", "-v"),
];

impl Peers {
    /// Looks for all of them, and says on stderr how to get those that are absent.
    pub fn found() -> Self {
        let [fio, fio_head, sysbench, filebench, t_io_uring, iozone] = HOW.map(|(name, files, how, _)| {
            let found = files.iter().find_map(|file| find(file));
            if found.is_none() {
                eprintln!(
                    "{name} was not found on the path or in ${PEERS_ENV}; its column stays empty. To have it: {how}"
                );
            }
            found
        });
        Self { fio, fio_head, sysbench, filebench, t_io_uring, iozone }
    }

    /// Names and versions of those that are there; a peer that tells none is named alone.
    pub fn versions(&self) -> Vec<(&'static str, String)> {
        let paths =
            [&self.fio, &self.fio_head, &self.sysbench, &self.filebench, &self.t_io_uring, &self.iozone];
        let known = HOW.iter().zip(paths).filter_map(|(how, path)| Some((how, path.as_ref()?)));
        known.map(|((name, _, _, flag), path)| (*name, version(path, flag))).collect()
    }
}

/// The first word that looks like a version.
pub fn version(program: &Path, flag: &str) -> String {
    let Ok(output) = Command::new(program).arg(flag).output() else { return String::new() };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let number = |word: &&str| {
        let word = word.trim_start_matches("fio-");
        word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit())
    };
    let found = text.lines().find_map(|line| line.split_ascii_whitespace().find(number)).unwrap_or_default();
    found.trim_start_matches("fio-").to_owned()
}

/// A program in the directory of peers or on the path.
pub fn find(file: &str) -> Option<PathBuf> {
    let peers = std::env::var_os(PEERS_ENV).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    peers.into_iter().chain(std::env::split_paths(&path)).map(|dir| dir.join(file)).find(|p| p.is_file())
}

/// Whole seconds, for peers that know no others.
fn whole_seconds(seconds: f64) -> u64 {
    seconds.ceil().max(1.0) as u64
}

/// What a peer printed, for an error that must show it.
fn printed(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find("sh").is_some() && find("no-such-program-anywhere").is_none());
    }

    #[test]
    fn seconds_are_rounded_up() {
        assert_eq!([0.2, 1.0, 1.5].map(whole_seconds), [1, 1, 2]);
    }
}
