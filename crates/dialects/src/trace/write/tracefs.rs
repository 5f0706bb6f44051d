//! Text as in the trace file of Linux 6.18. Fields that events do not carry have the kernel's null values: the
//! priority is "none,0,0", the origin of a remapped bio is sector 0 on device 0,0.

use super::EventWriter;
use crate::trace::About;
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;
use std::fmt::Write as _;
use std::io::{self, Write};

const NS_PER_US: u64 = 1_000;
const US_PER_S: u64 = 1_000_000;
/// The kernel's table heading, which some readers look for.
const HEAD: &str = "\
# tracer: nop
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
";

pub(super) struct TracefsWriter<'w> {
    out: Box<dyn Write + 'w>,
    line: String,
}

impl<'w> TracefsWriter<'w> {
    pub(super) fn new(mut out: Box<dyn Write + 'w>) -> io::Result<Self> {
        out.write_all(HEAD.as_bytes())?;
        Ok(Self { out, line: String::new() })
    }
}

pub(super) fn line(text: &mut String, event: &BlockEvent) {
    let name = event.task_name();
    let task = match (event.pid, name.as_ref()) {
        (0, _) => "<idle>",
        (_, "") => "<...>",
        (_, name) => name,
    };
    let us = event.time_ns / NS_PER_US;
    let (seconds, rest) = (us / US_PER_S, us % US_PER_S);
    let BlockEvent { pid, cpu, device, sector, sectors, error, .. } = *event;
    // Writing to a string cannot fail.
    let _ = write!(text, "{task:>16}-{pid:<7} [{cpu:03}] ..... {seconds:>5}.{rest:06}: ");
    let mut rwbs = event.flags.rwbs();
    if rwbs.is_empty() {
        rwbs.push('N');
    }
    let _ = match event.action {
        BlockAction::Plug => writeln!(text, "block_plug: [{name}]"),
        BlockAction::Unplug => writeln!(text, "block_unplug: [{name}] {sectors}"),
        BlockAction::Queue => {
            writeln!(text, "block_bio_queue: {device} {rwbs} {sector} + {sectors} [{name}]")
        }
        BlockAction::BackMerge => {
            writeln!(text, "block_bio_backmerge: {device} {rwbs} {sector} + {sectors} [{name}]")
        }
        BlockAction::FrontMerge => {
            writeln!(text, "block_bio_frontmerge: {device} {rwbs} {sector} + {sectors} [{name}]")
        }
        BlockAction::GetRequest => {
            writeln!(text, "block_getrq: {device} {rwbs} {sector} + {sectors} [{name}]")
        }
        BlockAction::Split => {
            let second = sector.saturating_add(sectors.into());
            writeln!(text, "block_split: {device} {rwbs} {sector} / {second} [{name}]")
        }
        BlockAction::BioComplete => {
            writeln!(text, "block_bio_complete: {device} {rwbs} {sector} + {sectors} [{error}]")
        }
        BlockAction::Remap => {
            writeln!(text, "block_bio_remap: {device} {rwbs} {sector} + {sectors} <- (0,0) 0")
        }
        BlockAction::Complete | BlockAction::Requeue => {
            let what = if event.action == BlockAction::Complete { "complete" } else { "requeue" };
            writeln!(text, "block_rq_{what}: {device} {rwbs} () {sector} + {sectors} none,0,0 [{error}]")
        }
        BlockAction::Insert | BlockAction::Issue | BlockAction::RequestMerge => {
            let what = match event.action {
                BlockAction::Insert => "insert",
                BlockAction::Issue => "issue",
                _ => "merge",
            };
            let bytes = event.bytes();
            writeln!(
                text,
                "block_rq_{what}: {device} {rwbs} {bytes} () {sector} + {sectors} none,0,0 [{name}]"
            )
        }
    };
}

impl EventWriter for TracefsWriter<'_> {
    fn event(&mut self, event: &BlockEvent, _: &dyn Fn() -> About) -> io::Result<()> {
        self.line.clear();
        line(&mut self.line, event);
        self.out.write_all(self.line.as_bytes())
    }

    fn finish(mut self: Box<Self>, about: &About) -> io::Result<Vec<String>> {
        if about.lost > 0 {
            // In the format of trace_pipe.
            writeln!(self.out, "CPU:0 [LOST {} EVENTS]", about.lost)?;
        }
        self.out.flush()?;
        Ok(Vec::new())
    }
}
