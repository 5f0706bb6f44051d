//! Text in blkparse's default format; times count from the first event. Two kinds of events have no letter there and are
//! written as blktrace records them: merged requests as M, completed bios as C.

use super::EventWriter;
use crate::trace::About;
use fathom_record::BlockEvent;
use fathom_record::block::{BlockAction, RequestFlags};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

const NS_PER_S: u64 = 1_000_000_000;

pub(super) struct BlkparseWriter<'w> {
    out: Box<dyn Write + 'w>,
    line: String,
    origin_ns: Option<u64>,
    /// Sequence numbers are per CPU.
    sequence: HashMap<u16, u64>,
}

impl<'w> BlkparseWriter<'w> {
    pub(super) fn new(out: Box<dyn Write + 'w>) -> Self {
        Self { out, line: String::new(), origin_ns: None, sequence: HashMap::new() }
    }
}

fn rwbs(event: &BlockEvent) -> String {
    let word = event.flags.rwbs();
    let directed = [RequestFlags::READ, RequestFlags::WRITE, RequestFlags::DISCARD, RequestFlags::OTHER];
    if directed.iter().any(|d| event.flags.has(*d)) {
        return word;
    }
    // Without a direction, blkparse prints N: "FN" for a flush, "N" for plugging.
    match word.strip_prefix('F') {
        Some(rest) => format!("FN{rest}"),
        None => format!("N{word}"),
    }
}

fn line(text: &mut String, event: &BlockEvent, origin_ns: u64, sequence: u64) {
    let since = event.time_ns.saturating_sub(origin_ns);
    let (seconds, ns) = (since / NS_PER_S, since % NS_PER_S);
    let BlockEvent { cpu, pid, sector, sectors, .. } = *event;
    let letter = match event.action {
        BlockAction::RequestMerge => 'M',
        action => action.letter(),
    };
    let (major, minor) = (event.device.major, event.device.minor);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{major:>3},{minor:<3} {cpu:>2} {sequence:>8} {seconds:>5}.{ns:09} {pid:>5} {letter:>2} {:>3} ",
        rwbs(event)
    );
    let name = event.task_name();
    let _ = match event.action {
        BlockAction::Plug => writeln!(text, "[{name}]"),
        BlockAction::Unplug => writeln!(text, "[{name}] {sectors}"),
        BlockAction::Split => {
            writeln!(text, "{sector} / {} [{name}]", sector.saturating_add(sectors.into()))
        }
        BlockAction::Remap => writeln!(text, "{sector} + {sectors} <- (0,0) 0"),
        // blktrace keeps 16 bits of the error and prints them unsigned.
        BlockAction::Complete | BlockAction::BioComplete | BlockAction::Requeue if sectors == 0 => {
            writeln!(text, "{sector} [{}]", event.error as u16)
        }
        BlockAction::Complete | BlockAction::BioComplete | BlockAction::Requeue => {
            writeln!(text, "{sector} + {sectors} [{}]", event.error as u16)
        }
        _ if sectors == 0 => writeln!(text, "[{name}]"),
        _ => writeln!(text, "{sector} + {sectors} [{name}]"),
    };
}

impl EventWriter for BlkparseWriter<'_> {
    fn event(&mut self, event: &BlockEvent, _: &dyn Fn() -> About) -> io::Result<()> {
        let origin = *self.origin_ns.get_or_insert(event.time_ns);
        let sequence = self.sequence.entry(event.cpu).or_default();
        *sequence += 1;
        self.line.clear();
        line(&mut self.line, event, origin, *sequence);
        self.out.write_all(self.line.as_bytes())
    }

    fn finish(mut self: Box<Self>, about: &About) -> io::Result<Vec<String>> {
        self.out.flush()?;
        let lost = (about.lost > 0)
            .then(|| format!("blkparse's text has no place for the {} events that were lost.", about.lost));
        Ok(lost.into_iter().collect())
    }
}
