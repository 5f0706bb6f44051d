//! The CSV of MSR Cambridge, as distributed by SNIA: time (100 ns since 1601), host, disk, Read or Write, offset and size in bytes,
//! response time (100 ns). Each line becomes an issue and a completion; times are converted to Unix time.
//!
//! Not available: waiting above the disk driver (where times were taken), flags, processes, errors.

use super::cursor::{LineFault, fields};
use super::devices::Devices;
use super::extent::{Extents, direction, event};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;
use fathom_record::block::log::LogHeader;

const NS_PER_TICK: u64 = 100;
/// The year 1970 in ticks since 1601.
const UNIX_TICKS: u64 = 116_444_736_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Msr {
    devices: Devices,
    extents: Extents,
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    let is = |line: &&str| {
        line.split(',').count() == 7
            && fields::<7>(line, ',').is_some_and(|f| {
                direction(f[3], &["Read"], &["Write"]).is_ok()
                    && [f[0], f[4], f[5], f[6]].iter().all(|w| w.number::<u64>("").is_ok())
            })
    };
    lines.iter().take(2).any(is)
}

impl LineForm for Msr {
    const ORDER: EventOrder = EventOrder::Requests;

    fn line(&mut self, line: &str, number: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if line.trim().is_empty() || number == 1 && line.starts_with("Timestamp") {
            return Ok(EventLine::Read);
        }
        let Some([time, host, disk, kind, offset, bytes, response]) = fields::<7>(line, ',') else {
            return Err(LineFault::new(
                0,
                "expected 7 fields: time,host,disk,Read|Write,offset,size,response time",
            ));
        };
        let ticks: u64 = time.number("a time in 100 ns since 1601")?;
        let unix = ticks.checked_sub(UNIX_TICKS).and_then(|t| t.checked_mul(NS_PER_TICK));
        let issued = unix.ok_or_else(|| time.not("a time in 100 ns since 1601, between 1970 and 2554"))?;
        let lasted: u64 = response.number("a response time in 100 ns")?;
        let done = lasted.checked_mul(NS_PER_TICK).and_then(|ns| issued.checked_add(ns));
        let done = done.ok_or_else(|| response.not("a response time that ends before the year 2554"))?;
        let flags = direction(kind, &["Read"], &["Write"])?;
        let device = self.devices.number(&format!("{}.{}", host.text, disk.text), host.byte)?;
        let place = self.extents.of(offset, bytes)?;
        out.push(event(issued, device, BlockAction::Issue, flags, place));
        out.push(event(done, device, BlockAction::Complete, flags, place));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        let mut notes =
            vec!["The CSV of MSR Cambridge tells neither merges nor errors nor who issued a request.".into()];
        notes.extend(self.extents.note());
        let header =
            LogHeader { wall_ns: Some(0), source: TraceFormat::Msr.word().into(), ..LogHeader::default() };
        About { format: TraceFormat::Msr, header, devices: self.devices.list(), notes, ..About::default() }
    }
}
