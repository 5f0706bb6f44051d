//! biosnoop's table: BCC's (seconds, task, process, disk, direction, sector, bytes, latency in ms, optionally queueing
//! time) and bpftrace's (milliseconds, disk, task, process, latency). A line is printed when a request completes, and becomes
//! two events: issue, at the completion time minus the latency, and completion.
//!
//! Not available: flags, merges, errors, CPUs. bpftrace's format also lacks direction, sector and size, and its
//! latency, in whole milliseconds, starts when the request is accounted, before the queue.

use super::cursor::{Cursor, LineFault, Word};
use super::devices::Devices;
use super::extent::{Extents, event};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::log::LogHeader;
use fathom_record::block::{BlockAction, RequestFlags};

const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;
/// Times count from the first completion, so the first requests start before 0: all times are shifted by an hour.
const SHIFT_NS: u64 = 3600 * NS_PER_S;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BiosnoopColumn {
    Seconds,
    Milliseconds,
    Task,
    Pid,
    Disk,
    Kind,
    Sector,
    Bytes,
    QueueMs,
    LatencyMs,
    /// BCC's guess of sequential or random access.
    Pattern,
}

impl BiosnoopColumn {
    fn of(title: &str) -> Option<Self> {
        Some(match title {
            "TIME(s)" => Self::Seconds,
            "TIME(ms)" => Self::Milliseconds,
            "COMM" => Self::Task,
            "PID" => Self::Pid,
            "DISK" => Self::Disk,
            "T" => Self::Kind,
            "SECTOR" => Self::Sector,
            "BYTES" => Self::Bytes,
            "QUE(ms)" => Self::QueueMs,
            "LAT(ms)" => Self::LatencyMs,
            "PATTERN" => Self::Pattern,
            _ => return None,
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Biosnoop {
    columns: Vec<BiosnoopColumn>,
    devices: Devices,
    extents: Extents,
    queueing: bool,
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    lines.iter().take(40).any(|l| is_header(l))
}

fn is_header(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|w| w.starts_with("TIME(")) && words.any(|w| w == "DISK")
}

impl Biosnoop {
    fn header(&mut self, line: &str) -> Result<(), LineFault> {
        let mut cursor = Cursor::new(line);
        self.columns.clear();
        loop {
            let word = cursor.word();
            if word.text.is_empty() {
                break;
            }
            let column = BiosnoopColumn::of(word.text).ok_or_else(|| word.not("a column of biosnoop"))?;
            if self.columns.contains(&column) {
                return Err(word.not("each column once"));
            }
            self.columns.push(column);
        }
        let has = |c| self.columns.contains(&c);
        let timed = has(BiosnoopColumn::Seconds) || has(BiosnoopColumn::Milliseconds);
        if !(timed
            && has(BiosnoopColumn::Task)
            && has(BiosnoopColumn::LatencyMs)
            && has(BiosnoopColumn::Disk))
        {
            return Err(LineFault::new(0, "expected at least the columns TIME, COMM, DISK and LAT(ms)"));
        }
        self.queueing = has(BiosnoopColumn::QueueMs);
        Ok(())
    }

    /// The fields of a row. A task name may contain blanks, so the fields after it are split from the right.
    fn row<'a>(&self, line: &'a str) -> Result<Vec<Word<'a>>, LineFault> {
        let task = self.columns.iter().position(|c| *c == BiosnoopColumn::Task).unwrap_or(0);
        let behind = self.columns.len() - task - 1;
        let mut words = vec![Word { text: "", byte: 0 }; self.columns.len()];
        let mut cursor = Cursor::new(line);
        for word in &mut words[..task] {
            *word = cursor.word();
        }
        let mut rest = cursor.rest();
        rest.text = rest.text.trim_end();
        for word in words[self.columns.len() - behind..].iter_mut().rev() {
            let start = rest
                .text
                .rfind(char::is_whitespace)
                .map_or(0, |at| at + rest.text[at..].chars().next().map_or(1, char::len_utf8));
            *word = Word { text: &rest.text[start..], byte: rest.byte + start };
            if word.text.is_empty() {
                let wanted = self.columns.len();
                return Err(LineFault::new(
                    rest.byte,
                    format!("expected a row of {wanted} columns as in the header"),
                ));
            }
            rest.text = rest.text[..start].trim_end();
        }
        words[task] = rest;
        Ok(words)
    }
}

impl LineForm for Biosnoop {
    const ORDER: EventOrder = EventOrder::Requests;

    fn line(&mut self, line: &str, number: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if is_header(line) {
            self.header(line)?;
            return Ok(EventLine::Read);
        }
        if line.trim().is_empty() || self.columns.is_empty() && number < 40 {
            // bpftrace first prints the number of attached probes.
            return Ok(EventLine::Read);
        }
        if self.columns.is_empty() {
            return Err(LineFault::new(
                0,
                "expected biosnoop's header (TIME(s) COMM PID DISK ...) before its rows",
            ));
        }
        let words = self.row(line)?;
        let word = |column| self.columns.iter().position(|c| *c == column).map(|at| words[at]);
        let time = match (word(BiosnoopColumn::Seconds), word(BiosnoopColumn::Milliseconds)) {
            (Some(s), _) => s.time(NS_PER_S, "a time in seconds")?,
            (None, Some(ms)) => ms.time(NS_PER_MS, "a time in milliseconds")?,
            (None, None) => 0,
        };
        let latency = |column| match word(column) {
            Some(ms) => ms.time(NS_PER_MS, "a latency in milliseconds"),
            None => Ok(0),
        };
        let (lasted, queued) = (latency(BiosnoopColumn::LatencyMs)?, latency(BiosnoopColumn::QueueMs)?);
        let flags = match word(BiosnoopColumn::Kind) {
            // Letters of rwbs; the oldest versions print only R or W, and F and D for requests without data.
            Some(w) if w.text.bytes().all(|b| b.is_ascii_uppercase()) => RequestFlags::parse(w.text),
            Some(w) => return Err(w.not("a direction as R or W")),
            None => RequestFlags::default(),
        };
        let sector = match word(BiosnoopColumn::Sector) {
            Some(Word { text: "-1", .. }) | None => 0,
            Some(sector) => sector.number("a sector")?,
        };
        let sectors = match word(BiosnoopColumn::Bytes) {
            Some(bytes) => self.extents.of(Word { text: "0", byte: 0 }, bytes)?.1,
            None => 0,
        };
        let disk = word(BiosnoopColumn::Disk).unwrap_or(words[0]);
        let device = self.devices.number(disk.text, disk.byte)?;
        let pid = match word(BiosnoopColumn::Pid) {
            Some(Word { text: "-1", .. }) | None => 0,
            Some(pid) => pid.number("a process number")?,
        };
        let task = word(BiosnoopColumn::Task).map_or([0; 16], |t| BlockEvent::task_of(t.text));
        let Some(done) = time.checked_add(SHIFT_NS) else {
            return Err(words[0].not("a time below 500 years"));
        };
        let issued = done.saturating_sub(lasted);
        let at = |time_ns, action| BlockEvent {
            pid,
            task,
            ..event(time_ns, device, action, flags, (sector, sectors))
        };
        if self.queueing {
            out.push(at(issued.saturating_sub(queued), BlockAction::Queue));
        }
        out.push(at(issued, BlockAction::Issue));
        out.push(at(done, BlockAction::Complete));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        let mut notes =
            vec!["biosnoop tells neither merges nor errors nor how a request was flagged.".into()];
        if !self.columns.is_empty() && !self.columns.contains(&BiosnoopColumn::Bytes) {
            notes.push(
                "This form of biosnoop tells neither direction, place nor size of a request, and its latency in whole \
                 milliseconds begins before the queue."
                    .into(),
            );
        }
        notes.extend(self.extents.note());
        let header = LogHeader {
            queueing: self.queueing,
            source: TraceFormat::Biosnoop.word().into(),
            ..LogHeader::default()
        };
        About {
            format: TraceFormat::Biosnoop,
            header,
            devices: self.devices.list(),
            notes,
            ..About::default()
        }
    }
}
