//! A row per request, for spreadsheets and data frames. Times are in ns of the trace's clock; unknown values are empty.

use super::EventWriter;
use super::names::DeviceNames;
use super::requests::{RequestRow, Requests};
use crate::trace::About;
use fathom_record::BlockEvent;
use fathom_record::block::RequestFlags;
use std::io::{self, Write};

const HEAD: &str = "device,number,operation,flags,sector,bytes,queued_ns,issued_ns,completed_ns,q2d_ns,d2c_ns,error,cpu,pid,\
                    task\n";

pub(super) struct Csv<'w> {
    out: Box<dyn Write + 'w>,
    requests: Requests,
    names: DeviceNames,
    known_devices: usize,
}

impl<'w> Csv<'w> {
    pub(super) fn new(mut out: Box<dyn Write + 'w>, about: &About) -> io::Result<Self> {
        out.write_all(HEAD.as_bytes())?;
        let mut requests = Requests::new(about.header.arrivals_only);
        requests.devices(&about.devices);
        Ok(Self { out, requests, names: DeviceNames::default(), known_devices: about.devices.len() })
    }

    fn write(&mut self, row: &RequestRow, about: &dyn Fn() -> About) -> io::Result<()> {
        let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
        let between = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
        let end = row.task.iter().position(|&b| b == 0).unwrap_or(row.task.len());
        let task = String::from_utf8_lossy(&row.task[..end]).into_owned();
        let name = quoted(self.names.of(row.device, about));
        writeln!(
            self.out,
            "{name},{}:{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            row.device.major,
            row.device.minor,
            operation(row.flags, row.sectors),
            row.flags.rwbs(),
            row.sector,
            u64::from(row.sectors) * fathom_record::block::event::SECTOR_BYTES,
            number(row.queued_ns),
            number(row.issued_ns),
            number(row.completed_ns),
            number(between(row.queued_ns, row.issued_ns)),
            number(between(row.issued_ns, row.completed_ns)),
            row.error,
            row.cpu,
            row.pid,
            quoted(&task)
        )
    }
}

/// The operation as a word.
pub(super) fn operation(flags: RequestFlags, sectors: u32) -> &'static str {
    if flags.has(RequestFlags::OTHER) {
        "other"
    } else if flags.has(RequestFlags::DISCARD) {
        "discard"
    } else if flags.has(RequestFlags::PREFLUSH) && sectors == 0 {
        "flush"
    } else if flags.has(RequestFlags::READ) {
        "read"
    } else if flags.has(RequestFlags::WRITE) {
        "write"
    } else {
        "other"
    }
}

/// A field, quoted if necessary.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

impl EventWriter for Csv<'_> {
    fn event(&mut self, event: &BlockEvent, about: &dyn Fn() -> About) -> io::Result<()> {
        if self.known_devices == 0 {
            // Formats that name devices in their lines have named the first by now, and all devices are of the same kind.
            let devices = about().devices;
            self.known_devices = devices.len();
            self.requests.devices(&devices);
        }
        match self.requests.event(event) {
            Some(row) => self.write(&row, about),
            None => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>, about: &About) -> io::Result<Vec<String>> {
        let (rest, forgotten) = std::mem::take(&mut self.requests).finish();
        for row in &rest {
            self.write(row, &|| about.clone())?;
        }
        self.out.flush()?;
        let unfinished = rest.len() as u64 + forgotten;
        let mut notes = Vec::new();
        if unfinished > 0 && !about.header.arrivals_only {
            notes.push(format!(
                "{unfinished} requests have no completion in the trace; their rows end empty."
            ));
        }
        Ok(notes)
    }
}
