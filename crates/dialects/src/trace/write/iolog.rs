//! fio's iolog version 3: submitted I/O with times in µs after the first, for `fio --read_iolog`. Contains issued
//! requests; for devices without requests, and traces with arrivals only, the arrivals.
//!
//! The files have the devices' names without a directory: a replay writes to such files in fio's working directory, never to the
//! traced device, except with --replay_redirect.

use super::EventWriter;
use super::csv::operation;
use super::names::DeviceNames;
use crate::trace::About;
use fathom_record::BlockEvent;
use fathom_record::block::{BlockAction, DeviceNumber};
use std::collections::HashSet;
use std::io::{self, Write};

const NS_PER_US: u64 = 1_000;
/// Limit on remembered requeued requests.
const MOST_GIVEN_BACK: usize = 1 << 16;

pub(super) struct IologWriter<'w> {
    out: Box<dyn Write + 'w>,
    names: DeviceNames,
    /// Opened devices, in order.
    opened: Vec<DeviceNumber>,
    bios: HashSet<DeviceNumber>,
    /// Requeued requests, whose next issue is not a new submission.
    given_back: HashSet<(DeviceNumber, u64)>,
    known_devices: usize,
    origin_ns: Option<u64>,
    last_us: u64,
    left_out: u64,
}

impl<'w> IologWriter<'w> {
    pub(super) fn new(mut out: Box<dyn Write + 'w>) -> io::Result<Self> {
        out.write_all(b"fio version 3 iolog\n")?;
        Ok(Self {
            out,
            names: DeviceNames::default(),
            opened: Vec::new(),
            bios: HashSet::new(),
            given_back: HashSet::new(),
            known_devices: 0,
            origin_ns: None,
            last_us: 0,
            left_out: 0,
        })
    }

    fn file(&mut self, number: DeviceNumber, about: &dyn Fn() -> About) -> String {
        file_name(self.names.of(number, about))
    }
}

/// A name for a file in fio's working directory, without blanks and colons, which would end it.
fn file_name(name: &str) -> String {
    let base = name.rsplit('/').next().unwrap_or(name);
    let word: String =
        base.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    match word.as_str() {
        "" | "." | ".." => "device".into(),
        _ => word,
    }
}

impl EventWriter for IologWriter<'_> {
    fn event(&mut self, event: &BlockEvent, about: &dyn Fn() -> About) -> io::Result<()> {
        let new = !self.opened.contains(&event.device);
        if new && self.known_devices <= self.opened.len() {
            let devices = about().devices;
            self.known_devices = devices.len();
            self.bios.extend(devices.iter().filter(|d| d.bio_based).map(|d| d.number));
        }
        let asked = match event.action {
            BlockAction::Requeue => {
                if self.given_back.len() >= MOST_GIVEN_BACK {
                    self.given_back.clear();
                }
                self.given_back.insert((event.device, event.sector));
                false
            }
            BlockAction::Issue => !self.given_back.remove(&(event.device, event.sector)),
            BlockAction::Queue => self.bios.contains(&event.device),
            _ => false,
        };
        if !asked {
            return Ok(());
        }
        let action = match operation(event.flags, event.sectors) {
            "read" => "read",
            "write" => "write",
            "discard" => "trim",
            "flush" => "sync",
            _ => {
                self.left_out += 1;
                return Ok(());
            }
        };
        let origin = *self.origin_ns.get_or_insert(event.time_ns);
        // Times must not decrease in an iolog, or fio would wait forever.
        let us = (event.time_ns.saturating_sub(origin) / NS_PER_US).max(self.last_us);
        self.last_us = us;
        let file = self.file(event.device, about);
        if new {
            self.opened.push(event.device);
            writeln!(self.out, "{us} {file} add\n{us} {file} open")?;
        }
        if action == "sync" {
            return writeln!(self.out, "{us} {file} sync 0 0");
        }
        let bytes = event.bytes();
        let Some(offset) = event.sector.checked_mul(fathom_record::block::event::SECTOR_BYTES) else {
            self.left_out += 1;
            return Ok(());
        };
        if bytes == 0 {
            self.left_out += 1;
            return Ok(());
        }
        writeln!(self.out, "{us} {file} {action} {offset} {bytes}")
    }

    fn finish(mut self: Box<Self>, about: &About) -> io::Result<Vec<String>> {
        let us = self.last_us;
        for device in std::mem::take(&mut self.opened) {
            let file = self.file(device, &|| about.clone());
            writeln!(self.out, "{us} {file} close")?;
        }
        self.out.flush()?;
        let n = self.left_out;
        let note = (n > 0).then(|| {
            format!("{n} requests without data (commands, zones) are left out: an iolog cannot hold them.")
        });
        Ok(note.into_iter().collect())
    }
}
