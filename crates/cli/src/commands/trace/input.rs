//! Groups files into traces: the per-CPU files of blktrace belong together; any other file is a trace by itself.

use super::options::TraceSource;
use crate::exit::Usage;
use crate::input;
use fathom_dialects::trace::{self, Trace, TraceError, TraceFormat};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files of one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub name: String,
    pub files: Vec<PathBuf>,
    from: Option<TraceFormat>,
}

/// Groups the files of a command line into traces.
pub fn inputs(source: &TraceSource) -> anyhow::Result<Vec<Input>> {
    let from = source.from.map(|f| f.0);
    let mut all: Vec<Input> = Vec::new();
    for path in &source.files {
        let per_cpu = path.to_str().and_then(blktrace_base);
        match per_cpu {
            Some(base) if from.is_none_or(|f| f == TraceFormat::Blktrace) => {
                match all.iter_mut().find(|i| i.name == base) {
                    Some(input) => input.files.push(path.clone()),
                    None => all.push(Input { name: base.into(), files: vec![path.clone()], from }),
                }
            }
            _ => {
                let files =
                    if is_stdin(path) || path.exists() { vec![path.clone()] } else { siblings(path)? };
                all.push(Input { name: path.display().to_string(), files, from });
            }
        }
    }
    Ok(all)
}

/// "X" of "X.blktrace.3".
fn blktrace_base(path: &str) -> Option<&str> {
    let (base, cpu) = path.rsplit_once(".blktrace.")?;
    (!cpu.is_empty() && cpu.bytes().all(|b| b.is_ascii_digit())).then_some(base)
}

/// The files X.blktrace.N of a name X that is not a file.
fn siblings(base: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let missing =
        || Usage(format!("{}: there is no such file, and none named {0}.blktrace.0", base.display()));
    let (Some(name), dir) = (base.file_name().and_then(|n| n.to_str()), base.parent()) else {
        return Err(missing().into());
    };
    let dir = dir.filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = std::fs::read_dir(dir).map_err(|_| missing())?;
    let mut found: Vec<(u32, PathBuf)> = names
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let cpu = file.strip_prefix(name)?.strip_prefix(".blktrace.")?.parse().ok()?;
            Some((cpu, entry.path()))
        })
        .collect();
    found.sort();
    if found.is_empty() {
        return Err(missing().into());
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether it cannot be read twice: stdin, a pipe, a device.
pub fn is_read_once(path: &Path) -> bool {
    is_stdin(path) || std::fs::metadata(path).is_ok_and(|m| !m.is_file())
}

impl Input {
    /// Whether it can be read only once.
    pub fn is_read_once(&self) -> bool {
        self.files.iter().any(|path| is_read_once(path))
    }

    pub fn open(&self) -> anyhow::Result<Trace> {
        let mut opened: Vec<(String, Box<dyn Read>)> = Vec::new();
        for path in &self.files {
            let reader: Box<dyn Read> = if is_stdin(path) {
                Box::new(std::io::stdin())
            } else {
                Box::new(input::open(path).map_err(|e| Usage(format!("{}: {e}", path.display())))?)
            };
            opened.push((path.display().to_string(), reader));
        }
        let together = opened.len() > 1;
        if together {
            return trace::open_together(opened).map_err(wrong);
        }
        let Some((name, reader)) = opened.pop() else { return Err(Usage("no file was named".into()).into()) };
        trace::open(&name, reader, self.from).map_err(wrong)
    }
}

/// A malformed trace is a usage error.
pub fn wrong(error: TraceError) -> anyhow::Error {
    Usage(error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_blktrace_are_one_trace() {
        let files = ["a/x.blktrace.1", "-", "a/x.blktrace.0", "y.blktrace.0"].map(PathBuf::from).to_vec();
        let found = inputs(&TraceSource { files, from: None }).unwrap();
        let listed: Vec<(&str, usize)> = found.iter().map(|i| (i.name.as_str(), i.files.len())).collect();
        assert_eq!(listed, [("a/x", 2), ("-", 1), ("y", 1)]);
    }

    #[test]
    fn only_regular_files_are_read_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(!is_read_once(file.path()));
        assert!(["-", "/dev/null"].iter().all(|name| is_read_once(Path::new(name))));
        // A missing file may be the base name of existing ones.
        assert!(!is_read_once(Path::new("/nowhere/x")));
    }

    #[test]
    fn a_base_name_finds_its_files() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["x.blktrace.10", "x.blktrace.2", "x.blktrace.y", "xx.blktrace.0"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let found = inputs(&TraceSource { files: vec![dir.path().join("x")], from: None }).unwrap();
        let names: Vec<_> = found[0].files.iter().map(|f| f.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["x.blktrace.2", "x.blktrace.10"]);
        let missing = inputs(&TraceSource { files: vec![dir.path().join("z")], from: None }).unwrap_err();
        assert!(missing.to_string().contains("there is no such file"), "{missing}");
    }
}
