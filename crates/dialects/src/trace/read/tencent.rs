//! Tencent's block traces: seconds since 1970, offset and size in sectors, 0 for read or 1 for write, volume. Each line is an
//! arrival; times are whole seconds, so gaps and rates within a second are unknown.

use super::arrivals::Arrivals;
use super::cursor::{LineFault, fields};
use super::extent::{direction, event};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;

const NS_PER_S: u64 = 1_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Tencent {
    arrivals: Arrivals,
}

fn is_header(line: &str) -> bool {
    line.starts_with("Timestamp,")
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    lines.iter().find(|l| !is_header(l)).is_some_and(|line| {
        line.split(',').count() == 5
            && fields::<5>(line, ',').is_some_and(|f| {
                direction(f[3], &["0"], &["1"]).is_ok() && f.iter().all(|w| w.number::<u64>("").is_ok())
            })
    })
}

impl LineForm for Tencent {
    const ORDER: EventOrder = EventOrder::Requests;

    fn line(&mut self, line: &str, number: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if line.trim().is_empty() || number == 1 && is_header(line) {
            return Ok(EventLine::Read);
        }
        let Some([time, sector, sectors, kind, volume]) = fields::<5>(line, ',') else {
            return Err(LineFault::new(0, "expected 5 fields: seconds,sector,sectors,0|1,volume"));
        };
        let time_ns = time.time(NS_PER_S, "a time in seconds since 1970")?;
        let place = (sector.number("a sector")?, sectors.number("a number of sectors")?);
        let flags = direction(kind, &["0"], &["1"])?;
        let _: u64 = volume.number("a volume's number")?;
        let device = self.arrivals.devices.number(&format!("volume{}", volume.text), volume.byte)?;
        out.push(event(time_ns, device, BlockAction::Queue, flags, place));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        self.arrivals.about(TraceFormat::Tencent, Some(0), " Times are whole seconds.")
    }
}
