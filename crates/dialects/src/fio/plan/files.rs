//! Which files a job works on, how large they are, which part of them is worked on, and how they are made ready.

use super::super::general::General;
use super::super::settings::Settings;
use super::super::{Found, World, Wrong};
use super::what::{self, Direction};
use super::{Notes, Part, names, parts, several};
use fathom_workload::{Backend, Stream};
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
    /// Bytes of each of them, by clone.
    pub sizes: Vec<Vec<u64>>,
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
    several::take_turns(s, stream, first.len(), notes)?;
    let find = |path: &PathBuf| if null { None } else { (world.find)(path).or_else(|| only_read(general)) };
    let mut parts: Vec<Part> = Vec::with_capacity(files.len());
    let mut sizes: Vec<Vec<u64>> = Vec::new();
    for (clone, files) in (0..).zip(&files) {
        if let [one] = files.as_slice() {
            let mut part = parts::of_one_file(s, stream, clone, find(one), notes)?;
            part.amount = what::amount(s, stream, &part)?;
            parts.push(part);
        } else {
            let found: Vec<_> = files.iter().map(find).collect();
            let of_clone = several::of(s, stream, clone, &found)?;
            parts.push(of_clone.part);
            sizes.push(of_clone.sizes);
        }
    }
    if let Some(part) = parts.first() {
        part.place(stream, several);
    }
    // The permission of one clone's file is none for its neighbour's.
    let may = |path: &PathBuf| general.allow_write.iter().any(|allowed| same(allowed, path));
    let foreign = files.iter().flatten().all(may);
    let reads_only = !rw.writes() || s.on("verify_only", false);
    let wanted = |clone: usize, file: usize| -> u64 {
        let of_several = sizes.get(clone).and_then(|sizes| sizes.get(file));
        of_several.copied().or_else(|| parts.get(clone).map(|part| part.file)).unwrap_or(0)
    };
    let mut missing = false;
    for (clone, of_clone) in files.iter().enumerate() {
        for (file, path) in of_clone.iter().enumerate() {
            let found = find(path);
            let short = found.is_none_or(|f| f.bytes < wanted(clone, file));
            if found.is_some_and(|f| f.device) {
                device(s, path, (reads_only, may(path)), short)?;
            }
            missing |= !null && short;
        }
    }
    if missing && !s.on("allow_file_create", true) {
        return Err(s
            .wrong("allow_file_create", "its file is missing or too short, and allow_file_create=0")
            .hint("allow_file_create=1, or make it before"));
    }
    // What writes is refused as a whole, in fio's words.
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
    Ok(Laid { files, parts, several, sizes, ready })
}

/// What stands in for a file that is missing where jobs are only read: as in fio, whether there are files, and how large they are, is no
/// matter then.
fn only_read(general: &General) -> Option<Found> {
    let shown = general.check || general.explain || general.show_command;
    (general.parse_only && !shown).then_some(Found { bytes: 1 << 40, device: false })
}

/// A block device is read; it is written if the command line names it with the option that allows it. It has the size that it has.
fn device(s: &Settings, path: &Path, (reads_only, allowed): (bool, bool), short: bool) -> Result<(), Wrong> {
    let name = path.display();
    if short {
        return Err(s
            .wrong("size", format!("the device {name} is smaller than what is worked on"))
            .hint("leave size out, or give a percentage"));
    }
    if s.on("unlink", false) {
        return Err(s.wrong("unlink", format!("the device {name} is not removed")));
    }
    if !reads_only && !allowed {
        return Err(s
            .wrong("filename", format!("it writes the block device {name}, and what is on it will be lost"))
            .hint(format!("--allow-write={name} on the command line allows it (docs/safety.md)")));
    }
    Ok(())
}

pub(super) fn make(s: &Settings, rw: Direction, null: bool) -> Result<Make, Wrong> {
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
pub(super) fn same(a: &Path, b: &Path) -> bool {
    let whole = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.into());
    whole(a) == whole(b)
}
