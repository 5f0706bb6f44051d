//! fio's own example jobs, as Debian's package fio-examples has them: each is read as it stands, and run with sizes, times and places of a
//! test. `docs/fio-examples.md` has the outcome, file by file; `FATHOM_BLESS=1` rewrites it. The files themselves are no part
//! of this project: where they are not installed (nor named by `FATHOM_FIO_EXAMPLES`), the test is skipped by its name.

use crate::fio::support::{fio_is_here, run, theirs};
use fathom_testkit::{Fathom, Outcome, TestDir, skip};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Engines of this machine's files and devices; every other is left out on purpose.
const LOCAL: [&str; 22] = [
    "psync",
    "sync",
    "vsync",
    "pvsync",
    "pvsync2",
    "libaio",
    "io_uring",
    "mmap",
    "null",
    "splice",
    "posixaio",
    "falloc",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
    "e4defrag",
    "cpuio",
    "exec",
];
const MARK: &str = "<!-- fio-examples -->\n";

/// What became of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Runs,
    /// It needs an engine, or zones, that are left out, or fio itself refuses it.
    LeftOut,
    Refused,
    Fails,
}

impl Fate {
    const ALL: [Self; 4] = [Self::Runs, Self::LeftOut, Self::Refused, Self::Fails];

    fn word(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::LeftOut => "left out",
            Self::Refused => "refused",
            Self::Fails => "is read, fails",
        }
    }
}

#[test]
fn examples_of_fio_run_or_are_refused_by_name() {
    let test = "examples_of_fio_run_or_are_refused_by_name";
    let named = std::env::var_os("FATHOM_FIO_EXAMPLES").map(PathBuf::from);
    let directory = named.unwrap_or_else(|| PathBuf::from("/usr/share/doc/fio/examples"));
    let files = examples(&directory);
    if files.is_empty() {
        skip(test, &format!("no example jobs of fio (package fio-examples) are in {}", directory.display()));
        return;
    }
    if !fio_is_here(test) {
        return;
    }
    if TestDir::new().in_memory() {
        skip(test, "the examples ask for direct=1, and the tests' directory lies in memory");
        return;
    }
    let mut rows = String::from("| file | here | why not |\n|---|---|---|\n");
    let mut counts = [0u32; 4];
    for path in &files {
        let (fate, why) = fate_of(path);
        counts[fate as usize] += 1;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(rows, "| `{name}` | {} | {why} |", fate.word());
    }
    let sums: Vec<String> =
        Fate::ALL.iter().map(|f| format!("{} {}", f.word(), counts[*f as usize])).collect();
    let table = format!("{} files: {}.\n\n{rows}", files.len(), sums.join(", "));
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fio-examples.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (head, found) = text.split_once(MARK).expect("the mark of the table");
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(page, format!("{head}{MARK}{table}")).unwrap();
    } else {
        assert_eq!(found, table, "FATHOM_BLESS=1 rewrites it");
    }
}

fn examples(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|path| path.extension().is_some_and(|e| e == "fio")).collect();
    files.sort();
    files
}

fn fate_of(path: &Path) -> (Fate, String) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let dir = TestDir::new();
    let fathom = Fathom::new().working_in(dir.path());
    let read = run(&fathom, &format!("--parse-only {}", path.display()));
    if read.code != Some(0) {
        let also = theirs(dir.path(), &format!("--parse-only {}", path.display())).status.success();
        let nor = if also { "" } else { "; Debian's fio refuses it, too" };
        // fio, too, finds out that there is no such node, but not yet here.
        let elsewhere = is_left_out(&text) || read.stderr.contains("the machine has no node");
        let fate = if elsewhere || !also { Fate::LeftOut } else { Fate::Refused };
        return (fate, format!("{}{nor}", reason(&read)));
    }
    std::fs::write(dir.path().join("small.fio"), small(&text)).unwrap();
    let ran = run(&fathom, "--size=1m small.fio");
    match ran.code {
        Some(0) => (Fate::Runs, String::new()),
        _ => (Fate::Fails, reason(&ran)),
    }
}

/// The first sentence of an error that is ours, without the place it points to.
fn reason(outcome: &Outcome) -> String {
    let ours = |line: &&str| line.starts_with("error: ") || line.split(": ").nth(1).is_some_and(is_a_place);
    let line = outcome.stderr.lines().find(ours).unwrap_or_default();
    let words =
        line.strip_prefix("error: ").unwrap_or_else(|| line.splitn(3, ": ").last().unwrap_or_default());
    // How far it came may differ from run to run.
    let words = words.split(" (after ").next().unwrap_or_default();
    words.split(':').take(4).collect::<Vec<_>>().join(":").replace('|', "\\|")
}

/// `FILE:LINE:COLUMN`.
fn is_a_place(word: &str) -> bool {
    let mut parts = word.rsplit(':');
    let mut number = || parts.next().is_some_and(|part| part.parse::<u32>().is_ok());
    number() && number()
}

fn is_left_out(text: &str) -> bool {
    options(text).any(|(name, value)| match name {
        "ioengine" => !LOCAL.contains(&value.split(':').next().unwrap_or_default()),
        "zonemode" => value == "zbd",
        _ => false,
    })
}

fn options(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.trim(), value.trim()))
}

/// The same jobs with files of this directory, of 1 MiB, for a second.
fn small(text: &str) -> String {
    let base = |path: &str| Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let line = |line: &str| {
        // A remark after a value may contain slashes.
        let line = line.split([';', '#']).next().unwrap_or_default();
        let Some((name, value)) = line.split_once('=') else { return format!("{line}\n") };
        let value = match name.trim() {
            "size" | "filesize" | "io_size" => "1m".to_owned(),
            "runtime" | "timeout" | "loops" => "1".to_owned(),
            "ramp_time" | "startdelay" => "0".to_owned(),
            // Clones one behind the other, in a file that fits a disk.
            "offset_increment" => "1m".to_owned(),
            // A file of 1 MiB must be done in about a second.
            "rate" | "ratemin" if value.trim().bytes().all(|b| b.is_ascii_digit()) => {
                format!("{}k", value.trim())
            }
            "filename" => value.trim().split(':').map(base).collect::<Vec<_>>().join(":"),
            "directory" => ".".to_owned(),
            _ => value.to_owned(),
        };
        format!("{name}={value}\n")
    };
    text.lines().map(line).collect()
}
