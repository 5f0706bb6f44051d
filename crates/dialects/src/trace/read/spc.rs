//! The format of the Storage Performance Council, as distributed by UMass: application storage unit, block of 512 bytes, size in bytes,
//! r or w, seconds. Further fields are ignored. Each line is an arrival.

use super::arrivals::Arrivals;
use super::cursor::{LineFault, Word, fields};
use super::extent::{direction, event};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;

const NS_PER_S: u64 = 1_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Spc {
    arrivals: Arrivals,
}

fn row(line: &str) -> Option<[Word<'_>; 5]> {
    let mut row = fields::<5>(line, ',')?;
    row[4].text = row[4].text.split(',').next().unwrap_or_default().trim();
    Some(row)
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    lines.first().and_then(|l| row(l)).is_some_and(|f| {
        direction(f[3], &["r"], &["w"]).is_ok()
            && f[..3].iter().all(|w| w.number::<u64>("").is_ok())
            && f[4].time(NS_PER_S, "").is_ok()
    })
}

impl LineForm for Spc {
    const ORDER: EventOrder = EventOrder::Requests;

    fn line(&mut self, line: &str, _: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if line.trim().is_empty() {
            return Ok(EventLine::Read);
        }
        let Some([unit, block, bytes, kind, time]) = row(line) else {
            return Err(LineFault::new(0, "expected 5 fields: unit,block,bytes,r|w,seconds"));
        };
        let sector: u64 = block.number("a block's number")?;
        let (_, sectors) = self.arrivals.extents.of(Word { text: "0", byte: 0 }, bytes)?;
        let flags = direction(kind, &["r"], &["w"])?;
        let time_ns = time.time(NS_PER_S, "a time in seconds")?;
        let _: u64 = unit.number("the number of a storage unit")?;
        let device = self.arrivals.devices.number(&format!("asu{}", unit.text), unit.byte)?;
        out.push(event(time_ns, device, BlockAction::Queue, flags, (sector, sectors)));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        self.arrivals.about(TraceFormat::Spc, None, "")
    }
}
