//! Writes fathom's own event log; its format is in `fathom_record::block::log`.

use super::EventWriter;
use crate::trace::About;
use fathom_record::BlockEvent;
use fathom_record::block::DeviceNumber;
use fathom_record::block::log::{LogEnd, LogHeader, LogWriter};
use std::collections::HashSet;
use std::io::{self, Write};

pub(super) struct EventLogWriter<'w> {
    log: LogWriter<Box<dyn Write + 'w>>,
    known: HashSet<DeviceNumber>,
    first_ns: Option<u64>,
    last_ns: u64,
}

impl<'w> EventLogWriter<'w> {
    pub(super) fn new(out: Box<dyn Write + 'w>, about: &About, writer: &str) -> io::Result<Self> {
        let header = LogHeader { writer: writer.into(), ..about.header.clone() };
        let log = LogWriter::new(out, &header)?;
        let mut own = Self { log, known: HashSet::new(), first_ns: None, last_ns: 0 };
        own.devices(about)?;
        Ok(own)
    }

    /// Writes the names of new devices.
    fn devices(&mut self, about: &About) -> io::Result<()> {
        for device in &about.devices {
            if self.known.insert(device.number) {
                self.log.device(device)?;
            }
        }
        Ok(())
    }
}

impl EventWriter for EventLogWriter<'_> {
    fn event(&mut self, event: &BlockEvent, about: &dyn Fn() -> About) -> io::Result<()> {
        if !self.known.contains(&event.device) {
            self.devices(&about())?;
            self.known.insert(event.device);
        }
        self.first_ns.get_or_insert(event.time_ns);
        self.last_ns = self.last_ns.max(event.time_ns);
        self.log.event(event)
    }

    fn finish(mut self: Box<Self>, about: &About) -> io::Result<Vec<String>> {
        self.log.lost(about.lost)?;
        for note in &about.notes {
            self.log.note(note)?;
        }
        let start_ns = self.first_ns.unwrap_or(0);
        let end = about.end.unwrap_or(LogEnd { start_ns, end_ns: self.last_ns, ..LogEnd::default() });
        self.log.finish(&end)?;
        Ok(Vec::new())
    }
}
