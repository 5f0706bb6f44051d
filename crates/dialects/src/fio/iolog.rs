//! fio's iolog, a text log of a job's operations. Versions 2 and 3 are read for `read_iolog`, with byte offsets and fio's own file names
//! (the readers in `trace` turn it into block events, in sectors); version 3 is written for `write_iolog`.

use fathom_workload::Does;
use std::collections::HashMap;
use std::fmt::Write as _;

const NS_PER_US: u64 = 1_000;
const NS_PER_MS: u64 = 1_000_000;

/// A parsed iolog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedIolog {
    /// Format version, 2 or 3.
    pub version: u8,
    /// File names, in order of first mention.
    pub files: Vec<String>,
    /// Operations in file order.
    pub entries: Vec<IologEntry>,
    /// Whether the log has timestamps.
    pub timed: bool,
}

/// One operation of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IologEntry {
    /// Index into [`ParsedIolog::files`].
    pub file: u32,
    /// The kind of operation.
    pub does: Option<Does>,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes; 0 for syncs.
    pub bytes: u64,
    /// Time since the first operation, ns.
    pub at_ns: u64,
}

/// Whether a file begins like an iolog of any version.
#[must_use]
pub fn recognise(bytes: &[u8]) -> bool {
    bytes.starts_with(b"fio version ")
}

/// Message for a trace with more operations than fit in memory.
#[must_use]
pub fn too_many(most: usize) -> String {
    format!(
        "more than {most} operations for each clone; replay a part of them, by fewer clones, or by fathom sim replay"
    )
}

/// Reads a log of at most `most` operations.
///
/// # Errors
/// The first invalid line, with its number.
pub fn read(text: &str, most: usize) -> Result<ParsedIolog, String> {
    let mut lines = (1..).zip(text.lines());
    let mut log = ParsedIolog {
        version: match lines.next().map(|(_, line)| line.trim_end()) {
            Some("fio version 2 iolog") => 2,
            Some("fio version 3 iolog") => 3,
            Some(other) => {
                let shown: String = other.chars().take(60).collect();
                return Err(format!(
                    "line 1 is {shown:?}; \"fio version 2 iolog\" or \"fio version 3 iolog\" is expected"
                ));
            }
            None => return Err("it is empty".into()),
        },
        ..ParsedIolog::default()
    };
    log.timed = log.version == 3;
    let mut reader = IologParser { numbers: HashMap::new(), now_ns: 0, first_ns: None, most };
    for (number, line) in lines {
        reader.line(line, &mut log).map_err(|what| format!("line {number}: {what}"))?;
    }
    Ok(log)
}

struct IologParser {
    numbers: HashMap<String, u32>,
    now_ns: u64,
    first_ns: Option<u64>,
    /// Maximum number of operations to keep.
    most: usize,
}

impl IologParser {
    fn line(&mut self, line: &str, log: &mut ParsedIolog) -> Result<(), String> {
        // For clones, fio appends one log after another.
        if log.version == 3 && recognise(line.as_bytes()) {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let Some(mut word) = words.next() else { return Ok(()) };
        if log.version == 3 {
            let us: u64 = word.parse().map_err(|_| format!("{word:?} is no time in microseconds"))?;
            let now_ns =
                us.checked_mul(NS_PER_US).ok_or_else(|| format!("{us} us are more than 584 years"))?;
            // Threads of one job may write lines slightly out of order.
            self.now_ns = self.now_ns.max(now_ns);
            word = words.next().ok_or("a file and an action are expected after the time")?;
        }
        let (file, action) = (word, words.next().ok_or("an action is expected after the file")?);
        let mut number = |what: &str| -> Result<u64, String> {
            let word = words.next().ok_or_else(|| format!("{action} needs {what}"))?;
            word.parse().map_err(|_| format!("{action}: {word:?} is no number; {what} is expected"))
        };
        let does = match action {
            "add" | "open" | "close" => {
                self.number_of(file, log)?;
                return Ok(());
            }
            "wait" if log.version == 2 => {
                // Measured from the beginning of the log, as in fio 3.33.
                let at_ns =
                    number("a time")?.checked_mul(NS_PER_MS).ok_or("a wait of more than 584 years")?;
                self.now_ns = self.now_ns.max(at_ns);
                log.timed = true;
                return Ok(());
            }
            "read" => Some(Does::Read),
            "write" => Some(Does::Write),
            "sync" => Some(Does::Sync),
            "datasync" => Some(Does::DataSync),
            "trim" => Some(Does::Trim),
            other => {
                let wait = if log.version == 2 { ", wait" } else { "" };
                return Err(format!(
                    "{other:?} is no action: add, open, close, read, write, trim, sync, datasync{wait} are"
                ));
            }
        };
        let (offset, bytes) =
            if does.is_some_and(Does::syncs) { (0, 0) } else { (number("an offset")?, number("a length")?) };
        if bytes == 0 && !does.is_some_and(Does::syncs) {
            return Err(format!("{action} of 0 bytes"));
        }
        if log.entries.len() >= self.most {
            return Err(too_many(self.most));
        }
        let file = self.number_of(file, log)?;
        let first_ns = *self.first_ns.get_or_insert(self.now_ns);
        log.entries.push(IologEntry { file, does, offset, bytes, at_ns: self.now_ns - first_ns });
        Ok(())
    }

    fn number_of(&mut self, file: &str, log: &mut ParsedIolog) -> Result<u32, String> {
        if let Some(number) = self.numbers.get(file) {
            return Ok(*number);
        }
        let number = u32::try_from(log.files.len()).map_err(|_| "more than 4294967295 files".to_owned())?;
        log.files.push(file.into());
        self.numbers.insert(file.into(), number);
        Ok(number)
    }
}

/// Writes a log of version 3 of one file.
#[derive(Debug)]
pub struct IologOutput {
    files: Vec<String>,
    text: String,
    last_us: u64,
    last_offset: u64,
}

impl IologOutput {
    /// Starts a log that adds and opens the files.
    #[must_use]
    pub fn new(files: Vec<String>) -> Self {
        let mut text = "fio version 3 iolog\n".to_owned();
        for action in ["add", "open"] {
            files.iter().for_each(|file| text += &format!("0 {file} {action}\n"));
        }
        Self { files, text, last_us: 0, last_offset: 0 }
    }

    /// Logs an operation issued `at_ns` after the beginning. Times never run backwards.
    pub fn operation(&mut self, at_ns: u64, does: Does, file: u32, offset: u64, bytes: u32) {
        self.last_us = self.last_us.max(at_ns / NS_PER_US);
        let action = match does {
            Does::Read => "read",
            Does::Write => "write",
            Does::Sync => "sync",
            Does::DataSync => "datasync",
            Does::Trim => "trim",
        };
        if !does.syncs() {
            self.last_offset = offset;
        }
        let file = self.files.get(file as usize).map_or("", String::as_str);
        // A sync is logged at the offset of the last operation, as in fio's own logs.
        let _ = writeln!(self.text, "{} {file} {action} {} {bytes}", self.last_us, self.last_offset);
    }

    /// Passes the text written so far to `out` if there are at least `least` bytes.
    pub fn hand_on(&mut self, least: usize, out: &mut dyn FnMut(&str)) {
        if self.text.len() >= least {
            out(&self.text);
            self.text.clear();
        }
    }

    /// Closes the files and returns the text not yet handed on.
    #[must_use]
    pub fn finish(mut self) -> String {
        for file in &self.files {
            let _ = writeln!(self.text, "{} {file} close", self.last_us);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<ParsedIolog, String> {
        super::read(text, 100)
    }

    #[test]
    fn what_is_too_long_is_not_held() {
        let all = super::read(THEIRS, 5).unwrap();
        assert_eq!(all.entries.len(), 5);
        let why = super::read(THEIRS, 4).unwrap_err();
        assert!(why.contains("line 8: more than 4 operations"), "{why}");
    }

    /// Written by fio 3.33: `--rw=write --fsync=2 --number_ios=4`, times shortened.
    const THEIRS: &str = "fio version 3 iolog\n17 f1 add\n110 f1 open\n113 f1 write 0 4096\n145 f1 write 4096 4096\n\
                          176 f1 sync 4096 0\n8514 f1 write 8192 4096\n8535 f1 write 12288 4096\n8540 f1 close\n";

    #[test]
    fn version_3_has_its_times_before_the_files() {
        let log = read(THEIRS).unwrap();
        assert_eq!((log.files.as_slice(), log.timed, log.entries.len()), (&["f1".to_owned()][..], true, 5));
        let second =
            IologEntry { file: 0, does: Some(Does::Write), offset: 4096, bytes: 4096, at_ns: 32_000 };
        assert_eq!(log.entries[1], second);
        assert_eq!(
            log.entries[2],
            IologEntry { does: Some(Does::Sync), offset: 0, bytes: 0, at_ns: 63_000, ..second }
        );
    }

    #[test]
    fn waits_of_version_2_count_from_the_beginning_in_milliseconds() {
        let text = "fio version 2 iolog\na add\nb add\na open\na read 0 512\na wait 100 0\nb datasync 0 0\nb wait 400 0\nb trim 0 4096\n";
        let log = read(text).unwrap();
        let found: Vec<_> = log.entries.iter().map(|e| (e.file, e.does, e.at_ns / NS_PER_MS)).collect();
        assert_eq!(
            found,
            [(0, Some(Does::Read), 0), (1, Some(Does::DataSync), 100), (1, Some(Does::Trim), 400)]
        );
        assert!(log.timed);
        assert!(!read("fio version 2 iolog\na add\na open\na read 0 512\na close\n").unwrap().timed);
    }

    #[test]
    fn invalid_lines_are_reported_with_their_number() {
        for (text, words) in [
            ("", "empty"),
            ("fio version 1 iolog\n", "line 1"),
            ("fio version 3 iolog\n0 f add\n1 f write 0\n", "line 3: write needs a length"),
            ("fio version 3 iolog\nf add\n", "line 2: \"f\" is no time"),
            ("fio version 3 iolog\n1 f wait 3\n", "\"wait\" is no action"),
            ("fio version 3 iolog\n1 f read 0 0\n", "read of 0 bytes"),
            ("fio version 3 iolog\n1 f read -1 4096\n", "\"-1\" is no number; an offset"),
            ("fio version 2 iolog\nf\n", "an action is expected"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(words), "{text:?}: {why}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(
            text in ".*",
            lines in "fio version [123] iolog\n(([0-9]{1,21} )?f [a-z]{1,8}( [0-9]{1,20}){0,2}\n){0,5}",
            known in "fio version [23] iolog\n(([0-9]{1,19} )?[ab] (add|wait|read|trim|sync|close)( [0-9]{1,19}){0,2}\n){0,5}",
        ) {
            let _ = (read(&text), read(&lines), read(&known));
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut written = IologOutput::new(vec!["f1".to_owned()]);
        for (at_us, does, offset, bytes) in [
            (3, Does::Write, 0, 4096),
            (35, Does::Write, 4096, 4096),
            (66, Does::Sync, 0, 0),
            (8404, Does::Write, 8192, 4096),
            (8425, Does::Write, 12288, 4096),
        ] {
            written.operation(at_us * NS_PER_US, does, 0, offset, bytes);
        }
        let text = written.finish();
        assert_eq!(read(&text).unwrap(), read(THEIRS).unwrap());
        assert!(text.contains("66 f1 sync 4096 0\n") && text.ends_with("8425 f1 close\n"), "{text}");
    }

    #[test]
    fn logs_of_clones_follow_each_other_and_have_several_files() {
        let of = |names: [&str; 2], at: u64| {
            let mut written = IologOutput::new(names.map(str::to_owned).to_vec());
            written.operation(at * NS_PER_US, Does::Write, 1, 8192, 4096);
            written.operation(at * NS_PER_US, Does::Write, 0, 0, 512);
            written.finish()
        };
        let log = read(&(of(["a", "b"], 3) + &of(["b", "c"], 2))).unwrap();
        assert_eq!(log.files, ["a", "b", "c"]);
        let entries: Vec<_> =
            log.entries.iter().map(|entry| (entry.file, entry.offset, entry.bytes)).collect();
        assert_eq!(entries, [(1, 8192, 4096), (0, 0, 512), (2, 8192, 4096), (1, 0, 512)]);
    }
}
