//! Reads fathom's own event log; its format is in `fathom_record::block::log`.

use super::Decode;
use super::source::TraceSource;
use crate::trace::{About, TraceError, TraceFormat, TracePlace};
use fathom_record::BlockEvent;
use fathom_record::block::log::{LogError, LogReader, MAGIC};
use std::io::BufRead;

pub(super) fn recognise(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

pub(super) struct EventLogReader {
    file: String,
    reader: LogReader<Box<dyn BufRead>>,
    ended: bool,
}

impl EventLogReader {
    pub(super) fn new(source: TraceSource) -> Result<Self, TraceError> {
        let (file, input) = source.into_reader();
        match LogReader::new(input) {
            Ok(reader) => Ok(Self { file, reader, ended: false }),
            Err(e) => Err(error(&file, e)),
        }
    }
}

fn error(file: &str, error: LogError) -> TraceError {
    match error {
        LogError::Malformed { byte, what } => TraceError::new(file, TracePlace::Byte(byte), what),
        other => TraceError::new(file, TracePlace::Whole, other.to_string()),
    }
}

impl Decode for EventLogReader {
    fn event(&mut self) -> Result<Option<BlockEvent>, TraceError> {
        let event = self.reader.next().transpose().map_err(|e| error(&self.file, e))?;
        self.ended = event.is_none();
        Ok(event)
    }

    fn about(&self) -> About {
        let mut notes = self.reader.notes().to_vec();
        if self.ended && self.reader.end().is_none() {
            notes.push("The recording was cut off: it is read up to its last whole event.".into());
        }
        About {
            format: TraceFormat::Own,
            header: self.reader.header().clone(),
            devices: self.reader.devices().to_vec(),
            lost: self.reader.lost(),
            end: self.reader.end().copied(),
            notes,
        }
    }
}
