//! The kernel's trace text: /sys/kernel/tracing/trace and trace_pipe, with or without columns for flags, tgid and priority.
//! The nearly identical output of `trace-cmd report` and `perf script` is accepted as well.
//!
//! Not available: times below a microsecond, the process that a completion is for, the device of a plug (assumed to be the
//! one that the task last requested), and device names.

use super::cursor::{Cursor, LineFault, Word};
use super::extent::event as bare;
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::log::{LogDevice, LogHeader};
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use std::collections::{BTreeSet, HashMap};

const NS_PER_S: u64 = 1_000_000_000;
const MAX_DEVICES: usize = 1 << 12;
/// Limit on tasks with a remembered device.
const MAX_TASKS: usize = 1 << 16;
/// The kernel's placeholder for tasks with forgotten names and for the idle task.
const UNKNOWN_TASK: &str = "<...>";
const IDLE_TASK: &str = "<idle>";

#[derive(Debug, Default)]
pub(super) struct TracefsReader {
    devices: BTreeSet<DeviceNumber>,
    /// The device of each task's last request, to which its plugs are attributed because the kernel names none.
    plugging: HashMap<u32, DeviceNumber>,
    lost: u64,
    overwritten: u64,
    other_events: u64,
    queueing: bool,
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    lines
        .iter()
        .take(60)
        .any(|l| l.starts_with("# tracer:") || task_column(l).is_some_and(|(_, e)| e.is_some()))
}

/// The columns before an event's text.
struct EventColumns<'a> {
    task: &'a str,
    pid: u32,
    cpu: u16,
    time: Word<'a>,
}

/// Parses the columns before the event. The task name may contain any character, so this searches for the first text like "-PID [CPU]".
/// The event's name and text follow, if there are any.
#[allow(clippy::type_complexity)]
fn task_column(line: &str) -> Option<(EventColumns<'_>, Option<(&str, usize)>)> {
    let (open, cpu, behind) = line.match_indices('[').find_map(|(open, _)| {
        let digits = line[open + 1..].find(']').map(|end| &line[open + 1..open + 1 + end])?;
        let is_cpu = digits.len() >= 3 && digits.bytes().all(|b| b.is_ascii_digit());
        let before = line[..open].trim_end();
        let led = before.ends_with(|c: char| c.is_ascii_digit() || c == ')');
        (is_cpu && led).then(|| Some((open, digits.parse().ok()?, open + 2 + digits.len())))?
    })?;
    let mut before = line[..open].trim_end();
    // "(  123)" or "(-----)": thread group.
    if before.ends_with(')') {
        before = before[..before.rfind('(')?].trim_end();
    }
    let name = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let pid = before[name.len()..].parse().ok()?;
    let task = name.strip_suffix('-').unwrap_or(name).trim();
    let mut cursor = Cursor::at(line, behind);
    let mut word = cursor.word();
    if !word.text.ends_with(':') {
        word = cursor.word();
    }
    let time = Word { text: word.text.strip_suffix(':')?, byte: word.byte };
    let name = cursor.word();
    let event =
        name.text.strip_suffix(':').map(|n| (n.strip_prefix("block:").unwrap_or(n), cursor.rest().byte));
    Some((EventColumns { task, pid, cpu, time }, event))
}

impl TracefsReader {
    /// Handles lines that are not events.
    fn is_aside(&mut self, line: &str) -> bool {
        let text = line.trim();
        let count = |after: &str, before: &str| -> Option<u64> {
            let rest = &text[text.find(after)? + after.len()..];
            rest[..rest.find(before)?].trim().parse().ok()
        };
        if text.starts_with("CPU") {
            // Written by trace_pipe and trace-cmd.
            if let Some(lost) = count("[LOST ", " EVENTS]").or_else(|| count("[", " EVENTS DROPPED]")) {
                self.lost = self.lost.saturating_add(lost);
                return true;
            }
        }
        if let Some(entries) = text.strip_prefix("# entries-in-buffer/entries-written:") {
            let mut numbers =
                entries.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u64>().ok());
            if let (Some(held), Some(written)) = (numbers.next(), numbers.next()) {
                self.overwritten = written.saturating_sub(held);
            }
        }
        // trace-cmd starts with versions and the number of CPUs; CPU buffers are announced.
        text.is_empty()
            || text.starts_with('#')
            || text.starts_with("cpus=")
            || text.starts_with("version =")
            || text.starts_with("##### CPU")
    }
}

impl LineForm for TracefsReader {
    const ORDER: EventOrder = EventOrder::Ordered;

    fn line(&mut self, line: &str, _: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if self.is_aside(line) {
            return Ok(EventLine::Read);
        }
        let Some((column, event)) = task_column(line) else {
            let what = "expected a line of the kernel's trace: TASK-PID [CPU] flags seconds: event: text";
            return Err(LineFault::new(0, what));
        };
        let Some((name, at)) = event else {
            return Err(LineFault::new(column.time.byte, "expected an event's name behind the time"));
        };
        let Some(action) = action(name) else {
            self.other_events += 1;
            return Ok(EventLine::Read);
        };
        if !column.time.text.contains('.') {
            return Err(column
                .time
                .not("a time in seconds with decimals (trace_clock mono, local, global or boot)"));
        }
        let time_ns = column.time.time(NS_PER_S, "a time in seconds")?;
        let mut event = bare(time_ns, DeviceNumber::default(), action, RequestFlags::default(), (0, 0));
        (event.pid, event.cpu) = (column.pid, column.cpu);
        let task_name = what(&mut event, &mut Cursor::at(line, at), name)?;
        event.task = match column.task {
            IDLE_TASK => BlockEvent::task_of(&format!("swapper/{}", column.cpu)),
            UNKNOWN_TASK => task_name.map_or([0; TASK_NAME_BYTES], BlockEvent::task_of),
            name => BlockEvent::task_of(name),
        };
        self.queueing |= action == BlockAction::Queue;
        let placed = !matches!(action, BlockAction::Plug | BlockAction::Unplug);
        if action == BlockAction::GetRequest {
            if self.plugging.len() >= MAX_TASKS {
                self.plugging.clear();
            }
            self.plugging.insert(event.pid, event.device);
        } else if !placed {
            event.device = self.plugging.get(&event.pid).copied().unwrap_or_default();
        }
        if placed && self.devices.len() < MAX_DEVICES {
            self.devices.insert(event.device);
        }
        out.push(event);
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        let mut notes = Vec::new();
        if self.overwritten > 0 {
            let n = self.overwritten;
            notes.push(format!(
                "The kernel's buffer was too small: {n} older events were overwritten before it was read."
            ));
        }
        if self.other_events > 0 {
            let n = self.other_events;
            notes.push(format!("{n} lines of events that have no part in a request's way were passed over."));
        }
        let devices = self.devices.iter().map(|&number| LogDevice { number, ..LogDevice::default() });
        let header = LogHeader {
            queueing: self.queueing,
            source: TraceFormat::Tracefs.word().into(),
            ..LogHeader::default()
        };
        About {
            format: TraceFormat::Tracefs,
            header,
            devices: devices.collect(),
            lost: self.lost.saturating_add(self.overwritten),
            notes,
            ..About::default()
        }
    }
}

/// `block_io_start` and `block_io_done` duplicate insertion and completion, `block_rq_error` a completion.
fn action(name: &str) -> Option<BlockAction> {
    Some(match name {
        "block_bio_queue" => BlockAction::Queue,
        "block_split" => BlockAction::Split,
        "block_bio_backmerge" => BlockAction::BackMerge,
        "block_bio_frontmerge" => BlockAction::FrontMerge,
        "block_getrq" => BlockAction::GetRequest,
        "block_rq_insert" => BlockAction::Insert,
        "block_rq_merge" => BlockAction::RequestMerge,
        "block_rq_issue" => BlockAction::Issue,
        "block_rq_requeue" => BlockAction::Requeue,
        "block_rq_complete" => BlockAction::Complete,
        "block_bio_complete" => BlockAction::BioComplete,
        "block_plug" => BlockAction::Plug,
        "block_unplug" => BlockAction::Unplug,
        "block_bio_remap" => BlockAction::Remap,
        _ => return None,
    })
}

/// Parses the event's text. Returns the task it names.
fn what<'a>(
    event: &mut BlockEvent,
    cursor: &mut Cursor<'a>,
    name: &str,
) -> Result<Option<&'a str>, LineFault> {
    match event.action {
        BlockAction::Plug => return Ok(Some(cursor.bracketed("a task's name")?.text)),
        BlockAction::Unplug => {
            let task = cursor.bracketed("a task's name")?.text;
            event.sectors = cursor.word().number("a number of requests")?;
            return Ok(Some(task));
        }
        _ => {}
    }
    event.device = cursor.word().device()?;
    let rwbs = cursor.word();
    if rwbs.text.is_empty() || !rwbs.text.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Err(rwbs.not("what is done as letters of RWDEFNASM"));
    }
    event.flags = RequestFlags::parse(rwbs.text);
    let request = name.starts_with("block_rq_");
    if request {
        // Requests have a byte count when they are passed on, and the driver command.
        if !cursor.rest().text.starts_with('(') {
            let _: u64 = cursor.word().number("a size in bytes")?;
        }
        skip_command(cursor)?;
    }
    event.sector = cursor.word().number("a sector")?;
    if event.action == BlockAction::Split {
        cursor.expect("/")?;
        let second = cursor.word();
        let at: u64 = second.number("the sector of the second part")?;
        let first = at.checked_sub(event.sector).and_then(|n| u32::try_from(n).ok());
        event.sectors = first.ok_or_else(|| second.not("a sector behind the first part"))?;
        return Ok(Some(cursor.bracketed("a task's name")?.text));
    }
    event.sectors = cursor.plus()?;
    if event.action == BlockAction::Remap {
        return Ok(None);
    }
    // Newer kernels add a request's priority: "be,0,4".
    if request && !cursor.rest().text.starts_with('[') {
        cursor.word();
    }
    let last = cursor.bracketed("a task's name or an error number")?;
    if matches!(event.action, BlockAction::Complete | BlockAction::BioComplete | BlockAction::Requeue) {
        event.error = errno(last)?;
        return Ok(None);
    }
    Ok(Some(last.text))
}

fn skip_command(cursor: &mut Cursor<'_>) -> Result<(), LineFault> {
    let rest = cursor.rest();
    if rest.text.starts_with('(') {
        loop {
            let word = cursor.word();
            if word.text.ends_with(')') {
                return Ok(());
            }
            if word.text.is_empty() {
                break;
            }
        }
    }
    Err(rest.not("the driver's command in parentheses"))
}

fn errno(word: Word<'_>) -> Result<i32, LineFault> {
    word.text.parse().map_err(|_| word.not("an error number"))
}
