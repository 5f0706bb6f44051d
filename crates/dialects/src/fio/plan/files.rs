//! A job's files: names, sizes, the part that is worked on, and how they are prepared.

use super::super::general::General;
use super::super::settings::Settings;
use super::super::{FoundPath, UsageError, World};
use super::direction::Rw;
use super::job_files::{JobFiles, Make, Memory, Ready};
use super::names::may_write;
use super::{FilePart, Notes, append, calls, io_type, multi_file, names, parts, read_back};
use fathom_workload::{Access, Amount, Backend, FileCall, Stream};
use std::path::{Path, PathBuf};

/// Determines files, sizes and parts of a job.
pub fn lay(
    s: &Settings,
    stream: &mut Stream,
    rw: Rw,
    clones: u32,
    general: &General,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<JobFiles, UsageError> {
    let null = !stream.backend.has_files();
    let computes = !stream.backend.counts_bytes();
    calls::program_is_there(s, stream, general, world)?;
    let by_name = stream.backend.is_by_name();
    let directories = calls::names_directories(s);
    let mut files = names::paths(s, clones, world, notes)?;
    if computes {
        // The engine has no files; one name is kept per clone.
        files.iter_mut().for_each(|of_clone| of_clone.truncate(1));
    }
    let first = files.first().cloned().unwrap_or_default();
    let several = first.len() > 1;
    let shared = files.iter().skip(1).any(|of_clone| *of_clone == first);
    multi_file::take_turns(s, stream, first.len(), notes)?;
    let find = |path: &PathBuf| match only_read(general) {
        _ if null => None,
        None => (world.find)(path),
        stand_in => stand_in,
    };
    let mut parts: Vec<FilePart> = Vec::with_capacity(files.len());
    let mut sizes: Vec<Vec<u64>> = Vec::new();
    for (clone, files) in (0..).zip(&files) {
        if computes {
            parts.push(calls::no_part(stream));
        } else if let [one] = files.as_slice() {
            if append::asked(s) {
                parts.push(append::part(s, stream, (clone, shared), find(one), notes)?);
                continue;
            }
            let mut part = parts::of_one_file(s, stream, clone, find(one), notes)?;
            part.amount = io_type::amount(s, stream, &part)?;
            if by_name {
                part.amount = calls::one_each(s, stream, 1, part.amount)?;
            }
            parts.push(part);
        } else {
            let found: Vec<_> = files.iter().map(find).collect();
            let mut of_clone = if append::asked(s) {
                append::several(s, stream, (clone, shared), &found, notes)?
            } else {
                multi_file::of(s, stream, clone, &found, notes)?
            };
            if by_name {
                of_clone.part.amount = calls::one_each(s, stream, files.len(), of_clone.part.amount)?;
            }
            parts.push(of_clone.part);
            sizes.push(of_clone.sizes);
        }
    }
    if let Some(part) = parts.first() {
        part.place(stream, several);
    }
    // Permission for one clone's file does not extend to another's.
    let may = |path: &PathBuf| may_write(general, world, path);
    let foreign = files.iter().flatten().all(may);
    let reads_only = !(rw.writes() || stream.changes_files()) || s.on("verify_only", false);
    let wanted = |clone: usize, file: usize| -> u64 {
        let of_several = sizes.get(clone).and_then(|sizes| sizes.get(file));
        of_several.copied().or_else(|| parts.get(clone).map(|part| part.file)).unwrap_or(0)
    };
    let (mut missing, mut bottomless) = (false, false);
    for (clone, of_clone) in files.iter().enumerate() {
        for (file, path) in of_clone.iter().enumerate() {
            let found = find(path);
            let short = found.is_none_or(|f| f.bytes < wanted(clone, file) && !f.bottomless);
            calls::no_device(s, stream, path, found)?;
            if found.is_some_and(|f| f.device) {
                device(s, path, reads_only || may(path) || (world.blank)(path), short)?;
            }
            if found.is_some_and(|f| f.bottomless) {
                bottomless = true;
                not_removed(s, path)?;
            }
            // fio always creates directories; their size is irrelevant.
            missing |= !null && !directories && short;
        }
    }
    if missing && !s.on("allow_file_create", true) {
        return Err(s
            .wrong("allow_file_create", "its file is missing or too short, and allow_file_create=0")
            .hint("allow_file_create=1, or make it before"));
    }
    // Jobs that write are refused as a whole, in fio's words.
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
        make_of(s, rw, stream, missing)?
    };
    if make == Make::Extend && rw.mixed {
        notes.say(format!(
            "job {}: create_on_open: what a mix reads has to be there, so its file has its size from the start, and no space",
            s.report_name()
        ));
    }
    // Cached blocks are busy and cannot be moved.
    let moves_extents = stream.backend == Backend::Calls(FileCall::MoveExtents);
    let cached = moves_extents || stream.backend.moves_data() && !stream.open.direct;
    let memory = if !cached || bottomless {
        Memory::AsFound
    } else if s.on("pre_read", false) {
        Memory::Read
    } else if s.on("invalidate", true) {
        Memory::Dropped
    } else {
        Memory::AsFound
    };
    let _ = (s.on("pre_read", false), s.on("invalidate", true));
    // The kernel does not evict mapped pages, and fio keeps its mappings: every pass but the first is served from memory.
    stream.evict_passes = memory == Memory::Dropped
        && !matches!(stream.backend, Backend::Mmap { .. })
        && !stream.direction.trims()
        && read_back::trim(s)?.is_none()
        && parts.iter().any(|part| goes_over_it_again(stream, part));
    let keep = !s.on("unlink", false);
    let ready = Ready { make, memory, keep, foreign };
    Ok(JobFiles { files, parts, several, sizes, ready })
}

/// Whether a job has several passes. fio 3.33 evicts the cache before each pass. Without a map of finished blocks it has no passes:
/// with norandommap, or where some blocks are drawn more often than others.
fn goes_over_it_again(stream: &Stream, part: &FilePart) -> bool {
    if !matches!(stream.access, Access::Sequential | Access::SequentialByKind | Access::Permuted) {
        return false;
    }
    match part.amount {
        Amount::Pass => false,
        Amount::Passes(n) => n > 1,
        Amount::Operations(n) => n.saturating_mul(stream.record.largest().0) > part.length,
        Amount::Bytes(bytes) => bytes.0 > part.length,
        Amount::Endless => true,
    }
}

/// Assumed for every file when jobs are only parsed: as in fio, existence and size of files do not matter then.
fn only_read(general: &General) -> Option<FoundPath> {
    general.is_only_read().then_some(FoundPath { bytes: 1 << 50, device: false, bottomless: false })
}

/// Checks a block device: it may be read; writing requires permission or that no data is lost. Its size is fixed.
fn device(s: &Settings, path: &Path, allowed: bool, short: bool) -> Result<(), UsageError> {
    let name = path.display();
    if short {
        return Err(s
            .wrong("size", format!("the device {name} is smaller than the job's part of it"))
            .hint("leave size out, or give a percentage"));
    }
    not_removed(s, path)?;
    if !allowed {
        return Err(s
            .wrong("filename", format!("it writes the block device {name}, and what is on it will be lost"))
            .hint(format!("--allow-write={name} on the command line allows it, or FATHOM_ALLOW_WRITE={name} in the environment")));
    }
    Ok(())
}

/// Refuses to remove a device.
fn not_removed(s: &Settings, path: &Path) -> Result<(), UsageError> {
    match s.on("unlink", false) {
        true => Err(s.wrong("unlink", format!("the device {} is not removed", path.display()))),
        false => Ok(()),
    }
}

/// How the files of a stream are created, `missing` or not.
fn make_of(s: &Settings, rw: Rw, stream: &Stream, missing: bool) -> Result<Make, UsageError> {
    let on_open = s.on("create_on_open", false);
    if let Some(make) = calls::made(s, &stream.backend) {
        return Ok(make);
    }
    let make = make(s, rw, !stream.backend.has_files())?;
    if make == Make::Nothing || !(on_open || stream.until_full) {
        return Ok(make);
    }
    // Growing files are neither laid out nor allocated. The reads of a mix need existing data.
    if make == Make::Write && missing && on_open && rw.mixed && !s.on("overwrite", false) {
        return Ok(Make::Extend);
    }
    if make == Make::Write && missing {
        let name = if on_open { "create_on_open" } else { "overwrite" };
        return Err(s
            .wrong(name, format!("{name}: a file that is made when it is opened has nothing that could be read or written over"))
            .hint("leave it out: files are laid out before the start"));
    }
    Ok(if matches!(make, Make::Reserve | Make::ReserveBehind) { Make::Empty } else { make })
}

pub(super) fn make(s: &Settings, rw: Rw, null: bool) -> Result<Make, UsageError> {
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
        "truncate" => Ok(Make::Extend),
        "keep" => Ok(Make::ReserveBehind),
        _ => Ok(Make::Reserve),
    }
}
