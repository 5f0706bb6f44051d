//! Which files a job works on, how large they are, which part of them is worked on, and how they are made ready.

use super::super::general::General;
use super::super::number::Size;
use super::super::settings::Settings;
use super::super::{World, Wrong};
use super::what::Direction;
use fathom_workload::{Backend, Bytes, Pick, Record, Sizing, Stream};
use std::path::{Path, PathBuf};

/// Where a job works.
#[derive(Clone, Debug)]
pub struct Laid {
    /// Files of each clone.
    pub files: Vec<Vec<PathBuf>>,
    /// Bytes of a clone's files together that `size` asks for.
    pub size: u64,
    /// Bytes that a clone works on in one pass.
    pub region: u64,
    /// A clone has several files.
    pub several: bool,
    /// The rest.
    pub ready: Ready,
}

/// How files are made ready and ended.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Size of each file.
    pub file: Sizing,
    /// What is added to the start for each further clone.
    pub step: u64,
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
) -> Result<Laid, Wrong> {
    let null = stream.backend == Backend::Null;
    let files = paths(s, clones)?;
    let first = files.first().cloned().unwrap_or_default();
    let several = first.len() > 1;
    turns(s, stream, &first)?;
    let found: Vec<_> = first.iter().map(|path| if null { None } else { (world.find)(path) }).collect();
    let (size, of_files) = size(s, &first, &found)?;
    let count = first.len() as u64;
    let file = s.number("filesize")?.unwrap_or(size / count.max(1));
    let start = offset(s, stream, &found, file)?;
    let step = s.size("offset_increment")?.map_or(0, |inc| inc.of(file));
    if several && start + step > 0 {
        return Err(s.wrong("offset", "an offset belongs to jobs with one file for each clone"));
    }
    let last = start.saturating_add(step.saturating_mul(u64::from(clones) - 1));
    // A size that is that of the file, or a share of it, ends with the file; other sizes count from the offset on.
    let region = if of_files { file.saturating_sub(last) } else { file };
    let whole = if of_files { file } else { last.saturating_add(file) };
    if region == 0 {
        return Err(s.wrong("size", "nothing is left to work on: size and offset leave 0 bytes"));
    }
    if several && region % stream.record.unit().0.max(1) != 0 {
        return Err(s
            .wrong("bs", "several files need a size each that is a multiple of the block size")
            .hint(format!("each has {region} bytes")));
    }
    if !several {
        stream.start = Bytes(start);
        stream.length = Some(Bytes(region));
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
    let missing = found.iter().any(|f| f.is_none_or(|f| f.bytes < whole));
    if missing && !null && !s.on("allow_file_create", true) {
        return Err(s
            .wrong("allow_file_create", "its file is missing or too short, and allow_file_create=0")
            .hint("allow_file_create=1, or make it before"));
    }
    // What writes is refused as a whole, in fio's words.
    let reads_only = !rw.writes() || s.on("verify_only", false);
    let make = if general.read_only && reads_only {
        let there = |path| (world.find)(path).is_some_and(|f| f.bytes >= whole);
        if !null && !files.iter().flatten().all(|path| there(path)) {
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
    let ready = Ready { file: Sizing::Fixed(Bytes(whole)), step, make, memory, keep, foreign };
    let region = if several { region.saturating_mul(count) } else { region };
    Ok(Laid { files, size, region, several, ready })
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

/// The bytes of a clone's files together, and whether they are what the files have.
fn size(
    s: &Settings,
    paths: &[PathBuf],
    found: &[Option<super::super::Found>],
) -> Result<(u64, bool), Wrong> {
    let there = || -> Option<u64> { found.iter().map(|f| f.map(|f| f.bytes)).sum() };
    match (s.size("size")?, s.number("filesize")?) {
        (Some(Size::Bytes(bytes)), None) if bytes > 0 => Ok((bytes, false)),
        (None, Some(each)) if each > 0 => Ok((each.saturating_mul(paths.len() as u64), false)),
        (Some(Size::Bytes(bytes)), Some(each)) if bytes > 0 => {
            let all = each.saturating_mul(paths.len() as u64);
            if bytes != all {
                return Err(s
                    .wrong("filesize", format!("size={bytes} and filesize={each} for {} files contradict each other", paths.len()))
                    .hint("leave one of them out; io_size says how much is moved"));
            }
            Ok((bytes, false))
        }
        (Some(percent @ Size::Percent(1..)), _) => match there() {
            Some(whole) if whole > 0 => Ok((percent.of(whole), true)),
            _ => Err(s.wrong("size", "a percentage is one of the file's size, and the file is not there").hint("give the size in bytes")),
        },
        _ => match there() {
            Some(whole) if whole > 0 => Ok((whole, true)),
            _ => Err(s
                .wrong("size", "how large its files are is not said, and they are not there")
                .fio(format!("{}: you need to specify size=\nfio: pid=0, err=22/file:filesetup.c, func=total_file_size, error=Invalid argument\n", s.job))
                .hint("size=1g, for example")),
        },
    }
}

/// The first byte that is worked on.
fn offset(
    s: &Settings,
    stream: &Stream,
    found: &[Option<super::super::Found>],
    file: u64,
) -> Result<u64, Wrong> {
    match s.size("offset")? {
        None => Ok(0),
        Some(Size::Bytes(bytes)) => Ok(bytes),
        Some(percent) => {
            let whole = found.first().copied().flatten().map_or(file, |f| f.bytes);
            Ok(percent.of(whole).next_multiple_of(stream.record.unit().0.max(1)))
        }
    }
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

/// The files of every clone.
fn paths(s: &Settings, clones: u32) -> Result<Vec<Vec<PathBuf>>, Wrong> {
    let directories = s.text("directory").map_or_else(|| vec![String::new()], split);
    let directory = |clone: u32| {
        let count = directories.len().max(1);
        PathBuf::from(directories.get(clone as usize % count).cloned().unwrap_or_default())
    };
    let number = s.count("nrfiles", 1, 1)?;
    const MOST: u32 = 1 << 20;
    if number > MOST {
        return Err(s.wrong("nrfiles", format!("nrfiles={number}: at most {MOST} are expected")));
    }
    let format = s.text("filename_format").unwrap_or("$jobname.$jobnum.$filenum").to_owned();
    if let Some(names) = s.text("filename") {
        let names = split(names);
        if names.iter().any(String::is_empty) {
            return Err(s
                .wrong("filename", "a name is empty")
                .hint("files are separated by colons; \\: is a colon"));
        }
        if names.iter().any(|n| n == "-") {
            return Err(s
                .wrong("filename", "filename=- (standard input or output) is not supported")
                .hint("instead: a file"));
        }
        return Ok((0..clones)
            .map(|clone| names.iter().map(|n| directory(clone).join(n)).collect())
            .collect());
    }
    // Slashes in the name of a job are none of a path.
    let job = s.job.replace('/', "_");
    let of_clone = |clone: u32| {
        let one = |file: u32| {
            let name = format
                .replace("$jobname", &job)
                .replace("$jobnum", &clone.to_string())
                .replace("$filenum", &file.to_string())
                .replace("$clientuid", "localhost");
            directory(clone).join(name)
        };
        (0..number).map(one).collect()
    };
    Ok((0..clones).map(of_clone).collect())
}

/// At colons that no backslash stands before.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(last) = parts.last_mut() else { break };
        match letter {
            '\\' if letters.peek() == Some(&':') => {
                letters.next();
                last.push(':');
            }
            ':' => parts.push(String::new()),
            other => last.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_separate_but_for_escaped_ones() {
        assert_eq!(split("a:b\\:c"), ["a", "b:c"]);
        assert_eq!(split("/dev/x"), ["/dev/x"]);
        assert_eq!(split("a:"), ["a", ""]);
    }
}
