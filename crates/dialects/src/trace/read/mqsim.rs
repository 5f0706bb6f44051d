//! MQSim's ASCII format: arrival in integer ns, device, sector, sectors, 1 for read or 0 for write. Each line is an arrival.

use super::arrivals::Arrivals;
use super::cursor::Fault;
use super::disksim::{is_row, words};
use super::extent::{direction, event};
use super::lines::{Line, LineForm, Order};
use crate::trace::{About, Format};
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
    const ORDER: Order = Order::Requests;

    fn line(&mut self, line: &str, _: u64, out: &mut Vec<BlockEvent>) -> Result<Line, Fault> {
        if line.trim().is_empty() {
            return Ok(Line::Read);
        }
        let Some([time, unit, sector, sectors, kind]) = words(line) else {
            return Err(Fault::new(0, "expected 5 columns: nanoseconds device sector sectors 0|1"));
        };
        let time_ns = time.number("an arrival in whole nanoseconds")?;
        let place = (sector.number("a sector")?, sectors.number("a number of sectors")?);
        let flags = direction(kind, &["1"], &["0"])?;
        let _: u64 = unit.number("a device's number")?;
        let device = self.arrivals.devices.number(&format!("disk{}", unit.text), unit.byte)?;
        out.push(event(time_ns, device, BlockAction::Queue, flags, place));
        Ok(Line::Read)
    }

    fn about(&self) -> About {
        self.arrivals.about(Format::MqSim, None, "")
    }
}
