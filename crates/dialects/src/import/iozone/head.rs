//! The banner of a log: the options used, as worded by each release ("Record Size 1024 KB", "record size 4 kB").

use super::super::lines::{after, number, value_after};
use super::super::units::{Prefix, Unit, unit};
use super::KIB_PER_S;
use fathom_record::imported::units::{NS, OPS_PER_S};
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;

/// The first line of a log.
pub(super) const BANNER: &str = "Iozone: Performance Test of File I/O";
/// The last line of a log.
pub(super) const END: &str = "iozone test complete";

/// Contents of the banner.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) version: String,
    /// Start time in RFC 3339; the zone was not printed.
    pub(super) began: String,
    pub(super) command: Vec<String>,
    pub(super) file_bytes: Option<u64>,
    pub(super) record_bytes: Option<u64>,
    pub(super) direct: bool,
    pub(super) sync: bool,
    pub(super) unit: Unit,
    pub(super) streams: Option<u64>,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            version: String::new(),
            began: String::new(),
            command: Vec::new(),
            file_bytes: None,
            record_bytes: None,
            direct: false,
            sync: false,
            unit: KIB_PER_S,
            streams: None,
        }
    }
}

impl Head {
    /// Reads a banner line. Returns whether it is known.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let lower = line.to_ascii_lowercase();
        let begins = |words: &str| lower.starts_with(words);
        if let Some(rest) = line.find("Revision:").map(|at| &line[at + 9..]) {
            self.version = rest.trim_matches(['$', ' ']).into();
        } else if begins("run began:") {
            self.began = began(line["run began:".len()..].trim());
        } else if begins("command line used:") {
            self.command(line["command line used:".len()..].trim());
        } else if begins("record size") {
            self.record_bytes = size(line, "ize");
        } else if begins("file size set to") {
            self.file_bytes = size(line, "set to");
        } else if begins("o_direct feature enabled") {
            self.direct = true;
        } else if begins("include fsync in write timing") || begins("sync mode") {
            self.sync = true;
        } else if begins("ops mode") {
            self.unit = Unit { base: OPS_PER_S, factor: 1.0 };
        } else if begins("microseconds/op mode") {
            self.unit = Unit { base: NS, factor: 1e3 };
        } else if begins("throughput test with") {
            self.streams =
                after(line, "with").and_then(|r| number(r.split_whitespace().next()?)).map(|n| n as u64);
        } else if begins("each process writes") || begins("each thread writes") {
            self.file_bytes = size(line, "writes a").or(self.file_bytes);
            self.record_bytes = size(line, "file in").or(self.record_bytes);
        } else {
            return begins("iozone: performance test") || CHATTER.iter().any(|c| begins(c));
        }
        true
    }

    /// Reads the command line, in the banner or alone before a report.
    pub(super) fn command(&mut self, line: &str) {
        self.command = line.split_whitespace().map(str::to_string).collect();
        self.direct |= self.has('I');
        self.sync |= self.has('e') || self.has('o');
    }

    /// Whether an option letter was given, including combined ones.
    fn has(&self, letter: char) -> bool {
        let glued =
            |w: &String| w.strip_prefix('-').is_some_and(|w| !w.starts_with('+') && w.contains(letter));
        self.command.iter().skip(1).any(glued)
    }

    /// The arguments of every occurrence of an option letter.
    pub(super) fn arguments(&self, letter: char) -> Vec<u64> {
        let option = format!("-{letter}");
        let value = |(n, w): (usize, &String)| {
            let glued = w.strip_prefix(&option)?;
            let word = if glued.is_empty() { self.command.get(n + 1)?.as_str() } else { glued };
            word.parse().ok()
        };
        self.command.iter().enumerate().filter_map(value).collect()
    }
}

/// Prefixes of lines without information to keep.
const CHATTER: [&str; 24] = [
    "compiled for",
    "build:",
    "contributors:",
    "auto mode",
    "using minimum file size",
    "using maximum file size",
    "using minimum record size",
    "using maximum record size",
    "excel chart generation enabled",
    "excel output is below",
    "include close in write timing",
    "output is in",
    "time resolution",
    "processor cache",
    "file stride size",
    "min process",
    "max process",
    "cross over of record size disabled",
    "no retest option selected",
    "purge mode",
    "cpu utilization resolution",
    "multi_buffer",
    "setting no_unlink",
    "read & write sync mode",
];

fn size(line: &str, key: &str) -> Option<u64> {
    let (value, _, word) = value_after(line, key)?;
    unit(word, Prefix::Binary).filter(|_| !word.is_empty()).map(|u| (value * u.factor) as u64)
}

/// Converts `Wed Jan 23 14:53:26 2008` to RFC 3339 with unknown offset.
fn began(text: &str) -> String {
    let time = BrokenDownTime::parse("%a %b %d %H:%M:%S %Y", text).and_then(|t| t.to_datetime());
    time.map_or(String::new(), |t: DateTime| format!("{}-00:00", t.strftime("%Y-%m-%dT%H:%M:%S")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_words() {
        let mut head = Head::default();
        for line in [
            "Version $Revision: 3.283 $",
            "Run began: Wed Jan 23 14:53:26 2008",
            "Record Size 1024 KB",
            "File size set to 3072000 KB",
            "Command line used: ./iozone -r 1m -s 3000m -ceI -t 1 -t3 -F /scratch/X1 -i 0",
            "Throughput test with 3 processes",
            "Each process writes a 2048 kByte file in 64 kByte records",
        ] {
            assert!(head.takes(line), "{line}");
        }
        assert_eq!((head.version.as_str(), head.began.as_str()), ("3.283", "2008-01-23T14:53:26-00:00"));
        assert!(head.direct && head.sync);
        assert_eq!(
            (head.streams, head.file_bytes, head.record_bytes),
            (Some(3), Some(2 << 20), Some(64 << 10))
        );
        assert_eq!((head.arguments('t'), head.arguments('i')), (vec![1, 3], vec![0]));
        assert!(!head.takes("Cheers"));
    }
}
