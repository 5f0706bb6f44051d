//! fio's iolog, version 2 (file, action, offset, length; with `wait` lines) and version 3 (a time in µs before each line). fio's
//! submissions become arrivals; the "devices" are its files.
//!
//! Not available: completion times, and in version 2 any times except `wait`.

use super::cursor::{Cursor, LineFault};
use super::devices::Devices;
use super::extent::{Extents, event};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::log::LogHeader;
use fathom_record::block::{BlockAction, RequestFlags};

const NS_PER_US: u64 = 1_000;

#[derive(Debug)]
pub(super) struct IologReader {
    version: u8,
    devices: Devices,
    extents: Extents,
    /// Version 2: the sum of `wait` times.
    now_ns: u64,
    waits: bool,
}

impl Default for IologReader {
    fn default() -> Self {
        let (devices, extents) = (Devices::of_arrivals(), Extents::default());
        Self { version: 0, devices, extents, now_ns: 0, waits: false }
    }
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    lines.first().is_some_and(|l| version(l).is_some())
}

fn version(line: &str) -> Option<u8> {
    match line.trim_end() {
        "fio version 2 iolog" => Some(2),
        "fio version 3 iolog" => Some(3),
        _ => None,
    }
}

impl LineForm for IologReader {
    const ORDER: EventOrder = EventOrder::Ordered;

    fn line(&mut self, line: &str, number: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if self.version == 0 {
            self.version = version(line).ok_or_else(|| {
                LineFault::new(0, "expected \"fio version 2 iolog\" or \"fio version 3 iolog\" (version 1 and others are not read)")
            })?;
            return Ok(EventLine::Read);
        }
        if line.trim().is_empty() {
            return Ok(EventLine::Read);
        }
        let _ = number;
        let mut cursor = Cursor::new(line);
        if self.version == 3 {
            let time: u64 = cursor.word().number("a time in microseconds")?;
            self.now_ns = time
                .checked_mul(NS_PER_US)
                .ok_or_else(|| LineFault::new(0, "expected a time below 2^64 ns"))?;
        }
        let file = cursor.word();
        let action = cursor.word();
        let flags = match action.text {
            "add" | "open" | "close" => {
                self.devices.number(file.text, file.byte)?;
                return Ok(EventLine::Read);
            }
            "wait" if self.version == 2 => {
                let us: u64 = cursor.word().number("a number of microseconds")?;
                let later = us.checked_mul(NS_PER_US).and_then(|ns| self.now_ns.checked_add(ns));
                self.now_ns = later.ok_or_else(|| action.not("waits of less than 2^64 ns in all"))?;
                self.waits = true;
                return Ok(EventLine::Read);
            }
            "read" => RequestFlags::READ,
            "write" => RequestFlags::WRITE,
            "trim" => RequestFlags::DISCARD,
            "sync" | "datasync" => RequestFlags::PREFLUSH,
            _ => {
                let wait = if self.version == 2 { ", wait" } else { "" };
                let expected = format!("add, open, close, read, write, trim, sync, datasync{wait}");
                return Err(action.not(&expected));
            }
        };
        let device = self.devices.number(file.text, file.byte)?;
        let (offset, length) = (cursor.word(), cursor.word());
        let place = if flags == RequestFlags::PREFLUSH { (0, 0) } else { self.extents.of(offset, length)? };
        out.push(event(self.now_ns, device, BlockAction::Queue, flags, place));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        let mut notes =
            vec!["An iolog tells what was asked for and not when it was done: arrivals only.".into()];
        if self.version == 2 && !self.waits {
            notes.push("This iolog of version 2 has no times: all requests seem to arrive at once.".into());
        }
        notes.extend(self.extents.note());
        let header = LogHeader {
            queueing: true,
            arrivals_only: true,
            source: TraceFormat::Iolog.word().into(),
            ..LogHeader::default()
        };
        About { format: TraceFormat::Iolog, header, devices: self.devices.list(), notes, ..About::default() }
    }
}
