//! A job run by both programs, each in its own directory, and questions about what they did.

use crate::fio::support::{DEBIANS, FIO, fio_is_here, json, run, their_json, theirs};
use fathom_testkit::{Fathom, TestDir, strace_command};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Names of the two results, in order.
pub const WHO: [&str; 2] = ["ours", "fio"];

/// Output and exit code of a program.
pub struct End {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A read or write of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub write: bool,
    pub offset: u64,
    pub bytes: u64,
}

/// Both programs with their directories: ours first, then fio.
pub struct Both {
    test: &'static str,
    fathom: Fathom,
    dirs: [TestDir; 2],
}

impl Both {
    /// `None`, with the skip recorded, where fio is not installed.
    pub fn new(test: &'static str) -> Option<Self> {
        if !fio_is_here(test) {
            return None;
        }
        let dirs = [TestDir::new(), TestDir::new()];
        let fathom =
            Fathom::new().working_in(dirs[0].path()).env("SZ", "2m").env("FATHOM_FIO_VERSION", DEBIANS);
        Some(Self { test, fathom, dirs })
    }

    pub fn directories(&self) -> [&Path; 2] {
        [self.dirs[0].path(), self.dirs[1].path()]
    }

    pub fn fathom(&self) -> &Fathom {
        &self.fathom
    }

    /// A file that both find.
    pub fn file(&self, name: &str, text: &str) {
        for dir in self.directories() {
            std::fs::write(dir.join(name), text).unwrap();
        }
    }

    /// A file of zeros that both find.
    pub fn empty(&self, name: &str, bytes: u64) {
        for dir in self.directories() {
            std::fs::File::create(dir.join(name)).unwrap().set_len(bytes).unwrap();
        }
    }

    /// Runs both to the end.
    pub fn run(&self, line: &str) -> [End; 2] {
        let ours = run(&self.fathom, line);
        let theirs = theirs(self.dirs[1].path(), line);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        [
            End { code: ours.code, stdout: ours.stdout, stderr: ours.stderr },
            End { code: theirs.status.code(), stdout: text(&theirs.stdout), stderr: text(&theirs.stderr) },
        ]
    }

    /// The JSON of both.
    #[track_caller]
    pub fn json(&self, line: &str) -> [Value; 2] {
        [json(&self.fathom, line), their_json(self.dirs[1].path(), line)]
    }

    /// Both programs' reads and writes of a file, in order; `None`, with the skip recorded, where strace may not trace.
    #[track_caller]
    pub fn moves(&self, line: &str, file: &str) -> Option<[Vec<Move>; 2]> {
        let ours = self.fathom.command(std::iter::once("fio").chain(line.split_whitespace()));
        let ours = moves(self.test, &ours, &self.dirs[0].path().join(file))?;
        let mut theirs = Command::new(FIO);
        theirs.args(line.split_whitespace()).current_dir(self.dirs[1].path());
        Some([ours, moves(self.test, &theirs, &self.dirs[1].path().join(file))?])
    }

    /// Numbers of the blocks that both worked on.
    #[track_caller]
    pub fn blocks(&self, line: &str, file: &str, size: u64) -> Option<[Vec<u64>; 2]> {
        let moves = self.moves(line, file)?;
        Some(moves.map(|moves| moves.iter().map(|m| m.offset / size).collect()))
    }
}

#[track_caller]
fn moves(test: &str, command: &Command, file: &Path) -> Option<Vec<Move>> {
    let trace = strace_command(test, command)?;
    assert_eq!(trace.code, Some(0), "{}", trace.stderr);
    let calls = trace.on_file(file).into_iter();
    let moves = calls.filter(|c| c.name.contains("read") || c.name.contains("write"));
    Some(
        moves
            .filter_map(|c| {
                Some(Move { write: c.name.contains("write"), offset: c.offset?, bytes: c.bytes? })
            })
            .collect(),
    )
}

/// The jobs of a document.
pub fn jobs(document: &Value) -> &Vec<Value> {
    document["jobs"].as_array().expect("a list of jobs")
}

/// A whole number somewhere in a job.
#[track_caller]
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}
