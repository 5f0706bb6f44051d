//! The import's report, printed when the runs are stored. It may be long, so it spills to an unnamed file.

use super::kind;
use crate::console;
use crate::line::Import;
use fathom_dialects::import::{Found, Kind};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use tempfile::SpooledTempFile;

/// Bytes kept in memory.
const IN_MEMORY: usize = 1 << 20;
const AT_ONCE: usize = 64 << 10;
/// Lines per file that are listed as not understood; the rest is counted.
const MOST_NOT_UNDERSTOOD: u64 = 100;

pub struct ImportReport {
    lines: SpooledTempFile,
    /// Report every line.
    verbose: bool,
    files: Vec<OfFile>,
}

struct OfFile {
    name: String,
    /// Bytes of its report.
    bytes: u64,
    runs: usize,
    prose: u64,
    /// Lines that look like figures but were not understood; number of the last one.
    not_understood: u64,
    last_not_understood: u64,
    /// First and last line of each range, if requested.
    prose_lines: Vec<(u64, u64)>,
}

impl ImportReport {
    pub fn new(verbose: bool) -> Self {
        Self { lines: SpooledTempFile::new(IN_MEMORY), verbose, files: Vec::new() }
    }

    /// Starts the report of a file.
    pub fn begin(&mut self, name: &str) {
        self.files.push(OfFile {
            name: name.into(),
            bytes: 0,
            runs: 0,
            prose: 0,
            not_understood: 0,
            last_not_understood: 0,
            prose_lines: Vec::new(),
        });
    }

    /// Ends the report of a file.
    pub fn end(&self) {
        let Some(of) = self.files.last() else { return };
        let more = of.not_understood.saturating_sub(MOST_NOT_UNDERSTOOD);
        if more > 0 && !self.verbose {
            console::warning(&format!(
                "{}: {more} more lines, the last of them line {}, look like figures and were not understood; --verbose names them all",
                of.name, of.last_not_understood
            ));
        }
    }

    /// Warns about a line and explains, unless the limit is reached.
    pub fn not_understood(&mut self, line: u64, how: &str, words: &str) {
        let Some(of) = self.files.last_mut() else { return };
        of.not_understood += 1;
        of.last_not_understood = line;
        if self.verbose || of.not_understood <= MOST_NOT_UNDERSTOOD {
            console::warning(&format!("{}, line {line} {how}: {words}", of.name));
        }
    }

    pub fn found(&mut self, found: &Found, dry_run: bool) -> std::io::Result<()> {
        let Some(of) = self.files.last_mut() else { return Ok(()) };
        let figures = found.figures();
        of.runs += found.runs.len();
        let place = match (found.first_line, found.last_line) {
            (first, last) if first == last => format!("line {first}"),
            (first, last) => format!("lines {first}-{last}"),
        };
        let ids: Vec<&str> = found.runs.iter().map(|r| r.id.as_str()).collect();
        let end = match ids.as_slice() {
            [] => String::new(),
            _ if dry_run => format!(", {figures} figures"),
            [id] => format!(", {figures} figures -> run {id}"),
            ids => format!(", {figures} figures -> runs {}", ids.join(", ")),
        };
        let failed = found.runs.iter().find_map(|r| r.error.as_ref());
        let failed = failed.map_or(String::new(), |error| format!(", ended early ({error})"));
        let line = format!("  {place}: {}{failed}{end}\n", found.what);
        of.bytes += line.len() as u64;
        self.lines.write_all(line.as_bytes())
    }

    pub fn prose(&mut self, line: u64) {
        let Some(of) = self.files.last_mut() else { return };
        of.prose += 1;
        match of.prose_lines.last_mut() {
            _ if !self.verbose => {}
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => of.prose_lines.push((line, line)),
        }
    }

    /// Prints the report; returns whether every file had a result.
    pub fn out(mut self, options: &Import) -> std::io::Result<bool> {
        self.lines.rewind()?;
        let mut lines = BufReader::new(self.lines);
        for of in &self.files {
            let mut of_file = lines.by_ref().take(of.bytes);
            if of.runs == 0 {
                std::io::copy(&mut of_file, &mut std::io::sink())?;
                console::error(&nothing(&of.name, options));
                continue;
            }
            let mut text = format!("{}:\n", of.name);
            while of_file.read_line(&mut text)? > 0 {
                if text.len() > AT_ONCE {
                    console::out(&text);
                    text.clear();
                }
            }
            text += &format!("  {} of prose\n", console::counted(of.prose, "line"));
            if self.verbose && of.prose > 0 {
                let line = if of.prose == 1 { "line" } else { "lines" };
                text += &format!("  prose: {line} {}\n", ranges(&of.prose_lines));
            }
            console::out(&text);
        }
        Ok(self.files.iter().all(|of| of.runs > 0))
    }
}

fn nothing(name: &str, options: &Import) -> String {
    if let Some(why) = broken(name) {
        return format!("{name} {why}");
    }
    let known: Vec<&str> = Kind::ALL.into_iter().map(Kind::word).collect();
    let only = options.kind.map_or(String::new(), |k| format!(" of {}", kind(k).word()));
    format!("{name} contains no known output{only}; fathom imports output of {}", known.join(", "))
}

/// Why a file cannot hold any output; `None` also for stdin.
fn broken(name: &str) -> Option<String> {
    /// Larger JSON is not parsed again.
    const MOST: u64 = 64 << 20;
    let about = std::fs::metadata(name).ok().filter(|about| about.is_file() && name != "-")?;
    if about.len() == 0 {
        return Some("is empty; a log or an output of another program is expected".into());
    }
    if about.len() > MOST {
        return None;
    }
    let bytes = crate::input::read(name).ok()?;
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let error = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).err()?;
    Some(format!("begins as JSON and is broken or cut off: {error}"))
}

/// "1-9, 26, 30-36".
fn ranges(lines: &[(u64, u64)]) -> String {
    let words = lines.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    words.collect::<Vec<_>>().join(", ")
}
