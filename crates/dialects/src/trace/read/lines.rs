//! Line-based formats: line length limits, error positions, truncated last lines, and sorting of request
//! completions. A format only parses single lines.

use super::Decode;
use super::cursor::LineFault;
use super::reorder::Reorder;
use super::source::{TraceSource, is_cut};
use crate::trace::{About, TraceError, TracePlace};
use fathom_record::BlockEvent;
use std::collections::VecDeque;
use std::io::{BufRead, ErrorKind};

/// Length limit of a line, far above that of any format.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Whether a format's events are in order of time or must be sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventOrder {
    /// In order; each line is an event.
    Ordered,
    /// Lines are requests, whose completions fall between the starts of others.
    Requests,
}

pub(super) enum EventLine {
    /// Parsed; its events were added to the list.
    Read,
    /// Events end here; the rest is ignored.
    End,
}

/// Parser for the lines of a format.
pub(super) trait LineForm {
    const ORDER: EventOrder;
    /// Parses a line; `number` counts from 1.
    fn line(&mut self, line: &str, number: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault>;
    /// Information known so far.
    fn about(&self) -> About;
}

/// A text in a line-based format.
pub(super) struct LineTrace<F> {
    file: String,
    reader: Box<dyn BufRead>,
    form: F,
    number: u64,
    line: Vec<u8>,
    fresh: Vec<BlockEvent>,
    ready: VecDeque<BlockEvent>,
    window: Reorder,
    ended: bool,
    cut: bool,
}

impl<F: LineForm> LineTrace<F> {
    pub(super) fn new(source: TraceSource, form: F) -> Self {
        let (file, reader) = source.into_reader();
        Self {
            file,
            reader,
            form,
            number: 0,
            line: Vec::new(),
            fresh: Vec::new(),
            ready: VecDeque::new(),
            window: Reorder::default(),
            ended: false,
            cut: false,
        }
    }

    /// Reads a line without its end. Returns whether it was complete; `None` at the end of the file.
    fn read_line(&mut self) -> Result<Option<bool>, TraceError> {
        self.line.clear();
        loop {
            let (used, whole) = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => match bytes.iter().position(|&b| b == b'\n') {
                    Some(end) => {
                        self.line.extend(&bytes[..end]);
                        (end + 1, true)
                    }
                    None => {
                        self.line.extend(bytes);
                        (bytes.len(), false)
                    }
                },
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if is_cut(&e) => {
                    self.cut = true;
                    break;
                }
                Err(e) => return Err(self.fault(0, &format!("it cannot be read: {e}"))),
            };
            self.reader.consume(used);
            if self.line.len() > MAX_LINE_BYTES {
                self.number += 1;
                let what = format!("a line longer than {MAX_LINE_BYTES} bytes; is this a trace?");
                return Err(self.fault(0, &what));
            }
            if whole {
                self.number += 1;
                if self.line.last() == Some(&b'\r') {
                    self.line.pop();
                }
                return Ok(Some(true));
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(false))
    }

    fn fault(&self, byte: usize, what: &str) -> TraceError {
        // Columns count characters, faults have byte offsets.
        let before = &self.line[..byte.min(self.line.len())];
        let column = String::from_utf8_lossy(before).chars().count() + 1;
        TraceError::new(&self.file, TracePlace::Line(self.number.max(1), column), what)
    }

    /// Parses one line into `fresh`.
    fn step(&mut self) -> Result<(), TraceError> {
        let Some(whole) = self.read_line()? else {
            self.ended = true;
            return Ok(());
        };
        self.fresh.clear();
        let text = String::from_utf8_lossy(&self.line);
        match self.form.line(&text, self.number, &mut self.fresh) {
            Ok(EventLine::Read) => Ok(()),
            Ok(EventLine::End) => {
                self.ended = true;
                Ok(())
            }
            // The recorder was killed while writing a line.
            Err(_) if !whole && self.number > 1 => {
                (self.cut, self.ended) = (true, true);
                self.fresh.clear();
                Ok(())
            }
            Err(fault) => Err(self.fault(fault.byte, &fault.what)),
        }
    }
}

impl<F: LineForm> Decode for LineTrace<F> {
    fn event(&mut self) -> Result<Option<BlockEvent>, TraceError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if F::ORDER == EventOrder::Requests
                && let Some(event) = self.window.take(self.ended)
            {
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            self.step()?;
            match F::ORDER {
                EventOrder::Ordered => self.ready.extend(self.fresh.drain(..)),
                EventOrder::Requests => self.fresh.drain(..).for_each(|e| self.window.put(e)),
            }
        }
    }

    fn about(&self) -> About {
        let mut about = self.form.about();
        if self.cut {
            about.notes.push("The file ends in the middle of a line, which was left out.".into());
        }
        about.notes.extend(self.window.note());
        about
    }
}
