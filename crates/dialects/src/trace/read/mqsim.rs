//! MQSim's ASCII format: arrival in integer ns, device, sector, sectors, 1 for read or 0 for write. Each line is an arrival.

use super::arrivals::Arrivals;
use super::cursor::LineFault;
use super::disksim::{is_row, words};
use super::extent::{direction, event};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;

#[derive(Debug, Default)]
pub(super) struct MqSim {
    arrivals: Arrivals,
}

/// Checked after DiskSim's format, whose arrivals have decimals.
pub(super) fn recognise(lines: &[&str]) -> bool {
    lines.first().is_some_and(|l| is_row(l))
}

impl LineForm for MqSim {
    const ORDER: EventOrder = EventOrder::Requests;

    fn line(&mut self, line: &str, _: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if line.trim().is_empty() {
            return Ok(EventLine::Read);
        }
        let Some([time, unit, sector, sectors, kind]) = words(line) else {
            return Err(LineFault::new(0, "expected 5 columns: nanoseconds device sector sectors 0|1"));
        };
        let time_ns = time.number("an arrival in whole nanoseconds")?;
        let place = (sector.number("a sector")?, sectors.number("a number of sectors")?);
        let flags = direction(kind, &["1"], &["0"])?;
        let _: u64 = unit.number("a device's number")?;
        let device = self.arrivals.devices.number(&format!("disk{}", unit.text), unit.byte)?;
        out.push(event(time_ns, device, BlockAction::Queue, flags, place));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        self.arrivals.about(TraceFormat::MqSim, None, "")
    }
}
