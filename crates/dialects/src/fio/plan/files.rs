//! Which files a job works on, how large they are, which part of them is worked on, and how they are made ready.

use super::super::general::General;
use super::super::settings::Settings;
use super::super::{Found, World, Wrong};
use super::what::{self, Direction};
use super::{Notes, Part, names, parts};
use fathom_workload::{Backend, Pick, Record, Stream};
use std::path::{Path, PathBuf};

/// Where a job works.
#[derive(Clone, Debug)]
pub struct Laid {
    /// Files of each clone.
    pub files: Vec<Vec<PathBuf>>,
    /// The part of them that each clone works on.
    pub parts: Vec<Part>,
    /// A clone has several files.
    pub several: bool,
    /// The rest.
    pub ready: Ready,
}

/// How files are made ready and ended.
#[derive(Clone, Debug)]
pub struct Ready {
    /// How missing files are made.
    pub make: Make,
    /// What of them is in memory at the start.
    pub memory: Memory,
    /// They stay at the end.
    pub keep: bool,
    /// Files that fathom did not make may be written.
    pub foreign: bool,
}

/// How files that are missing, or too short, are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// They need not be there: the engine makes no calls.
    Nothing,
    /// Written in full before the start.
    Write,
    /// Their space is reserved.
    Reserve,
    /// They are empty at the start, and grow.
    Empty,
}

/// What of the files is in memory at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Whatever is there.
    AsFound,
    /// Nothing: `invalidate=1`.
    Dropped,
    /// All: `pre_read=1`.
    Read,
}

/// Files, sizes and part of a job.
pub fn lay(
    s: &Settings,
    stream: &mut Stream,
    rw: Direction,
    clones: u32,
    general: &General,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Laid, Wrong> {
    let null = stream.backend == Backend::Null;
    let files = names::paths(s, clones, world, notes)?;
    let first = files.first().cloned().unwrap_or_default();
    let several = first.len() > 1;
    turns(s, stream, &first)?;
    let find = |path: &PathBuf| if null { None } else { (world.find)(path).or_else(|| only_read(general)) };
    let mut parts = Vec::with_capacity(files.len());
    for (clone, files) in (0..).zip(&files) {
        parts.push(match files.as_slice() {
            [one] => parts::of_one_file(s, stream, clone, find(one), notes)?,
            several => {
                let found: Vec<_> = several.iter().map(find).collect();
                parts::of_several_files(s, stream, &found)?
            }
        });
    }
    for part in &mut parts {
        part.amount = what::amount(s, stream, part, several)?;
    }
    if let Some(part) = parts.first() {
        part.place(stream, several);
    }
    // The permission of one clone's file is none for its neighbour's.
    let may = |path: &PathBuf| general.allow_write.iter().any(|allowed| same(allowed, path));
    let foreign = files.iter().flatten().all(may);
    let device = !null && files.iter().flatten().filter_map(|path| (world.find)(path)).any(|f| f.device);
    if device && rw.writes() && !s.on("verify_only", false) {
        return Err(s
            .wrong(
                "filename",
                "it writes a block device, and fathom writes to regular files only (docs/safety.md)",
            )
            .hint("instead: a file on a file system of that device"));
    }
    let with_parts =
        || files.iter().zip(&parts).flat_map(|(of, part)| of.iter().map(move |path| (path, part)));
    let missing = !null && with_parts().any(|(path, part)| find(path).is_none_or(|f| f.bytes < part.file));
    if missing && !s.on("allow_file_create", true) {
        return Err(s
            .wrong("allow_file_create", "its file is missing or too short, and allow_file_create=0")
            .hint("allow_file_create=1, or make it before"));
    }
    // What writes is refused as a whole, in fio's words.
    let reads_only = !rw.writes() || s.on("verify_only", false);
    let make = if general.read_only && reads_only {
        if missing {
            return Err(s
                .wrong("size", "its files are missing or too short, and --readonly lays out nothing")
                .hint("make them before, or leave out --readonly"));
        }
        if s.on("unlink", false) {
            return Err(s.wrong("unlink", "--readonly removes nothing"));
        }
        Make::Nothing
    } else {
        make(s, rw, null)?
    };
    let memory = if null || stream.open.direct {
        Memory::AsFound
    } else if s.on("pre_read", false) {
        Memory::Read
    } else if s.on("invalidate", true) {
        Memory::Dropped
    } else {
        Memory::AsFound
    };
    let _ = (s.on("pre_read", false), s.on("invalidate", true));
    let keep = !s.on("unlink", false);
    let ready = Ready { make, memory, keep, foreign };
    Ok(Laid { files, parts, several, ready })
}

/// What stands in for a file that is missing where jobs are only read: as in fio, whether there are files, and how large they are, is no
/// matter then.
fn only_read(general: &General) -> Option<Found> {
    let shown = general.check || general.explain || general.show_command;
    (general.parse_only && !shown).then_some(Found { bytes: 1 << 40, device: false })
}

fn make(s: &Settings, rw: Direction, null: bool) -> Result<Make, Wrong> {
    let word = s.word("fallocate").unwrap_or("native").to_owned();
    let over = s.on("overwrite", false);
    if null {
        return Ok(Make::Nothing);
    }
    if rw.reads() || over {
        return Ok(Make::Write);
    }
    match word.as_str() {
        "none" | "0" => Ok(Make::Empty),
        "keep" | "truncate" => Err(s
            .wrong("fallocate", format!("fallocate={word} is not supported"))
            .hint("instead: fallocate=native, or none")),
        _ => Ok(Make::Reserve),
    }
}

/// Whether both name the same file.
fn same(a: &Path, b: &Path) -> bool {
    let whole = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.into());
    whole(a) == whole(b)
}

/// Which file comes next, where a clone has several.
fn turns(s: &Settings, stream: &mut Stream, files: &[PathBuf]) -> Result<(), Wrong> {
    const WORD: &str = "file_service_type";
    let word = s.word(WORD).unwrap_or("roundrobin").to_owned();
    if files.len() < 2 {
        return Ok(());
    }
    if word != "sequential" {
        return Err(s
            .wrong(WORD, format!("{} files that take turns ({word}) are not supported", files.len()))
            .hint("instead: file_service_type=sequential, one file after the other; or a clone for each file (numjobs)"));
    }
    let fixed = matches!(stream.record, Record::Fixed(_));
    let order =
        matches!(stream.access, fathom_workload::Access::Sequential | fathom_workload::Access::Uniform);
    if !fixed || !order {
        return Err(s
            .wrong(WORD, "several files are worked on in sequence, or with norandommap at random, in blocks of one size")
            .hint("instead: one file of the whole size"));
    }
    stream.pick = Pick::All;
    Ok(())
}
