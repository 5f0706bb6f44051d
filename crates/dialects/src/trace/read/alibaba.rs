//! Alibaba's block traces: volume, R or W, offset and length in bytes, µs since 1970. Each line is an arrival.

use super::arrivals::Arrivals;
use super::cursor::{LineFault, fields};
use super::extent::{direction, event};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;

const NS_PER_US: u64 = 1_000;

#[derive(Debug, Default)]
pub(super) struct Alibaba {
    arrivals: Arrivals,
}

fn is_header(line: &str) -> bool {
    line.starts_with("device_id,")
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    lines.iter().find(|l| !is_header(l)).is_some_and(|line| {
        line.split(',').count() == 5
            && fields::<5>(line, ',').is_some_and(|f| {
                direction(f[1], &["R"], &["W"]).is_ok()
                    && [f[0], f[2], f[3], f[4]].iter().all(|w| w.number::<u64>("").is_ok())
            })
    })
}

impl LineForm for Alibaba {
    const ORDER: EventOrder = EventOrder::Requests;

    fn line(&mut self, line: &str, number: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if line.trim().is_empty() || number == 1 && is_header(line) {
            return Ok(EventLine::Read);
        }
        let Some([volume, kind, offset, bytes, time]) = fields::<5>(line, ',') else {
            return Err(LineFault::new(0, "expected 5 fields: volume,R|W,offset,length,microseconds"));
        };
        let us: u64 = time.number("a time in microseconds since 1970")?;
        let time_ns = us.checked_mul(NS_PER_US).ok_or_else(|| time.not("a time before 2554"))?;
        let flags = direction(kind, &["R"], &["W"])?;
        let _: u64 = volume.number("a volume's number")?;
        let device = self.arrivals.devices.number(&format!("volume{}", volume.text), volume.byte)?;
        let place = self.arrivals.extents.of(offset, bytes)?;
        out.push(event(time_ns, device, BlockAction::Queue, flags, place));
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        self.arrivals.about(TraceFormat::Alibaba, Some(0), "")
    }
}
