//! File names of a job: those listed by `filename`, a device that the job is named after, or names made from job, clone and file
//! number. Also whether two names are one file, and whether it may be written.

use super::super::error::COMMAND_LINE;
use super::super::general::General;
use super::super::settings::{Level, Settings};
use super::super::{UsageError, World};
use super::Notes;
use fathom_workload::block_device_of;
use std::path::{Path, PathBuf};

/// The file paths of every clone.
pub fn paths(
    s: &Settings,
    clones: u32,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Vec<Vec<PathBuf>>, UsageError> {
    let number = s.count("nrfiles", 1, 1)?;
    const MOST: u32 = 1 << 20;
    if number.saturating_mul(clones) > MOST {
        return Err(
            s.wrong("nrfiles", format!("{clones} clones of {number} files: at most {MOST} are expected"))
        );
    }
    let directories = s.text("directory").map_or_else(|| vec![String::new()], split);
    let format = s.text("filename_format").unwrap_or("$jobname.$jobnum.$filenum").to_owned();
    if let Some(directory) = s.text("opendir") {
        return below_directory(s, directory, number, world).map(|found| vec![found; clones as usize]);
    }
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
        // Listed files are shared by all clones, in the first of several directories.
        let directory = directory_of_names(s, notes);
        let mut named: Vec<PathBuf> = names.iter().map(|name| below(&directory, name)).collect();
        if s.word("ioengine") == Some("io_uring_cmd") {
            // The size and the users of a namespace are known by its block device.
            named.iter_mut().for_each(|path| *path = block_device_of(path).unwrap_or_else(|| path.clone()));
        }
        return Ok(vec![named; clones as usize]);
    }
    if s.text("directory").is_none() && (world.find)(Path::new(&s.job)).is_some_and(|found| found.device) {
        notes.say(format!("job {} has no filename, so it works on the device of that name", s.job));
        return Ok(vec![vec![PathBuf::from(&s.job)]; clones as usize]);
    }
    let of_clone = |clone: u32| {
        let one = |file: u32| {
            let name = format
                .replace("$jobname", &s.job)
                .replace("$jobnum", &clone.to_string())
                .replace("$filenum", &file.to_string())
                .replace("$clientuid", "localhost");
            below(&directories[clone as usize % directories.len()], &name)
        };
        (0..number).map(one).collect()
    };
    Ok((0..clones).map(of_clone).collect())
}

/// All files below a directory, or the first few of them. All clones share them.
fn below_directory(
    s: &Settings,
    directory: &str,
    number: u32,
    world: &World<'_>,
) -> Result<Vec<PathBuf>, UsageError> {
    if s.text("filename").is_some() {
        return Err(s
            .wrong("opendir", "opendir and filename both say which files are worked on")
            .hint("leave one of them out"));
    }
    let mut found = (world.list)(Path::new(directory))
        .map_err(|why| s.wrong("opendir", format!("opendir={directory}: {why}")))?;
    if s.last("nrfiles").is_some() {
        found.truncate(number as usize);
    }
    if found.is_empty() {
        return Err(s.wrong("opendir", format!("opendir={directory}: there is no file in it")));
    }
    Ok(found)
}

/// The directories of the `directory` option.
pub fn directories(s: &Settings) -> Vec<PathBuf> {
    s.text("directory").map(split).into_iter().flatten().map(PathBuf::from).collect()
}

/// Joins a directory and a name, even one with a leading slash, as fio does.
pub(super) fn below(directory: &str, name: &str) -> PathBuf {
    if directory.is_empty() {
        return name.into();
    }
    Path::new(directory).join(name.trim_start_matches('/'))
}

/// The directory of listed names. fio joins names when it reads them, so a directory given later, in a section below or further right
/// on the command line, does not apply.
fn directory_of_names(s: &Settings, notes: &mut Notes) -> String {
    let list: Vec<_> = s.all().collect();
    let Some(at) = list.iter().rposition(|(_, of)| of.row.name == "filename") else { return String::new() };
    let (level, named) = list[at];
    let from_the_left = &*named.spot.source == COMMAND_LINE;
    let holds = |(place, (of, _)): &(usize, &&(Level, super::super::text::Setting))| {
        if from_the_left { *place < at } else { of <= level }
    };
    let of_directories = || list.iter().enumerate().filter(|(_, (_, of))| of.row.name == "directory");
    let found = of_directories().rfind(holds).and_then(|(_, (_, of))| of.value.as_deref());
    if found.is_none() && of_directories().next().is_some() {
        notes.say(format!(
            "job {}: directory is given after filename, and does not hold for it, as in fio: put it before",
            s.job
        ));
    }
    found.and_then(|text| split(text).into_iter().next()).unwrap_or_default()
}

/// Splits at colons not preceded by a backslash.
pub(super) fn split(text: &str) -> Vec<String> {
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

/// Whether a file that fathom did not create may be written.
pub(super) fn may_write(general: &General, world: &World<'_>, path: &Path) -> bool {
    general.allow_write.iter().any(|allowed| same(allowed, path)) || (world.allowed)(path)
}

/// Whether both paths name the same file.
pub(super) fn same(a: &Path, b: &Path) -> bool {
    let whole = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.into());
    whole(a) == whole(b)
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
