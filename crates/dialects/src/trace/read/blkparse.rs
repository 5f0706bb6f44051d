//! blkparse's default text format: device, CPU, sequence number, seconds, process, action, rwbs, and fields specific to the
//! action. Times count from the first event of the recording.
//!
//! Not available: lost events, and the processes of completed requests (it prints 0).

use super::cursor::{Cursor, LineFault, Word};
use super::lines::{EventLine, EventOrder, LineForm};
use crate::trace::{About, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::log::{LogDevice, LogHeader};
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use std::collections::BTreeSet;

const NS_PER_S: u64 = 1_000_000_000;
const MAX_DEVICES: usize = 1 << 12;

#[derive(Debug, Default)]
pub(super) struct BlkparseReader {
    devices: BTreeSet<DeviceNumber>,
    passed_over: u64,
}

pub(super) fn recognise(lines: &[&str]) -> bool {
    // blkparse may first print its inputs ("Input file x.blktrace.0 added").
    lines.iter().take(200).find(|l| !l.starts_with("Input file ")).is_some_and(|l| head(l).is_ok())
}

/// The columns common to all lines.
struct LineHead<'a> {
    device: DeviceNumber,
    cpu: u16,
    time_ns: u64,
    pid: u32,
    action: Word<'a>,
    rwbs: Word<'a>,
}

fn head(line: &str) -> Result<(LineHead<'_>, Cursor<'_>), LineFault> {
    let mut cursor = Cursor::new(line);
    // The minor number is padded on the right, so the column is one word.
    let device = cursor.word().device()?;
    let cpu = cursor.word().number("a CPU")?;
    let _: u64 = cursor.word().number("a sequence number")?;
    let time_ns = cursor.word().time(NS_PER_S, "a time in seconds")?;
    let pid = cursor.word().number("a process number")?;
    let action = cursor.word();
    if action.text.is_empty() || !action.text.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Err(action.not("an action's letter"));
    }
    let rwbs = cursor.word();
    Ok((LineHead { device, cpu, time_ns, pid, action, rwbs }, cursor))
}

/// Whether events have ended: blkparse finishes with tables per CPU and in total.
fn closes(line: &str) -> bool {
    let cpu = line
        .strip_prefix("CPU")
        .is_some_and(|l| l.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" ("));
    cpu || line.starts_with("Total (")
}

impl LineForm for BlkparseReader {
    const ORDER: EventOrder = EventOrder::Ordered;

    fn line(&mut self, line: &str, _: u64, out: &mut Vec<BlockEvent>) -> Result<EventLine, LineFault> {
        if closes(line) {
            return Ok(EventLine::End);
        }
        if line.trim().is_empty() || line.starts_with("Input file ") {
            return Ok(EventLine::Read);
        }
        let (head, mut cursor) = head(line)?;
        let action = match head.action.text {
            "Q" => BlockAction::Queue,
            "X" => BlockAction::Split,
            "M" => BlockAction::BackMerge,
            "F" => BlockAction::FrontMerge,
            "G" => BlockAction::GetRequest,
            "I" => BlockAction::Insert,
            "D" => BlockAction::Issue,
            "R" => BlockAction::Requeue,
            "C" => BlockAction::Complete,
            "P" => BlockAction::Plug,
            "U" | "UT" => BlockAction::Unplug,
            "A" => BlockAction::Remap,
            // Sleeps, bounces, aborts, driver data, messages.
            "S" | "B" | "a" | "d" | "m" => {
                self.passed_over += 1;
                return Ok(EventLine::Read);
            }
            _ => return Err(head.action.not("one of the actions Q X M F G I D R C P U UT A S B m")),
        };
        let mut event = BlockEvent {
            time_ns: head.time_ns,
            device: head.device,
            action,
            flags: flags(head.rwbs, action)?,
            sector: 0,
            sectors: 0,
            pid: head.pid,
            cpu: head.cpu,
            error: 0,
            task: [0; TASK_NAME_BYTES],
        };
        what(&mut event, &mut cursor)?;
        if self.devices.len() < MAX_DEVICES {
            self.devices.insert(event.device);
        }
        out.push(event);
        Ok(EventLine::Read)
    }

    fn about(&self) -> About {
        let mut notes = Vec::new();
        if self.passed_over > 0 {
            let n = self.passed_over;
            notes.push(format!("{n} lines without an event (sleeps, bounces, messages) were passed over."));
        }
        let devices = self.devices.iter().map(|&number| LogDevice { number, ..LogDevice::default() });
        let header =
            LogHeader { queueing: true, source: TraceFormat::Blkparse.word().into(), ..LogHeader::default() };
        About { format: TraceFormat::Blkparse, header, devices: devices.collect(), notes, ..About::default() }
    }
}

/// The rwbs word. A flush alone is "FN" here, plugging is "N": the N means that there is no data, not that it is a command.
fn flags(word: Word<'_>, action: BlockAction) -> Result<RequestFlags, LineFault> {
    if word.text.is_empty() || !word.text.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(word.not("what is done as letters of RWDEFNASM"));
    }
    if matches!(action, BlockAction::Plug | BlockAction::Unplug) {
        return Ok(RequestFlags::default());
    }
    Ok(match word.text.strip_prefix("FN") {
        Some(rest) => RequestFlags::PREFLUSH.with(RequestFlags::parse(rest)),
        None => RequestFlags::parse(word.text),
    })
}

/// The fields after rwbs, depending on the action.
fn what(event: &mut BlockEvent, cursor: &mut Cursor<'_>) -> Result<(), LineFault> {
    match event.action {
        BlockAction::Plug => named(event, cursor),
        BlockAction::Unplug => {
            named(event, cursor)?;
            event.sectors = cursor.word().number("a number of requests")?;
            Ok(())
        }
        BlockAction::Split => {
            event.sector = cursor.word().number("a sector")?;
            cursor.expect("/")?;
            let second = cursor.word();
            let at: u64 = second.number("the sector of the second part")?;
            let first = at.checked_sub(event.sector).and_then(|n| u32::try_from(n).ok());
            event.sectors = first.ok_or_else(|| second.not("a sector behind the first part"))?;
            named(event, cursor)
        }
        BlockAction::Remap => {
            event.sector = cursor.word().number("a sector")?;
            event.sectors = cursor.plus()?;
            Ok(())
        }
        BlockAction::Complete | BlockAction::Requeue => {
            if cursor.rest().text.starts_with('(') {
                event.flags = RequestFlags::OTHER;
                skip_command(cursor)?;
            } else {
                event.sector = cursor.word().number("a sector")?;
                if cursor.rest().text.starts_with('+') {
                    event.sectors = cursor.plus()?;
                }
            }
            let error = cursor.bracketed("an error number")?;
            event.error = errno(error)?;
            Ok(())
        }
        _ => place(event, cursor),
    }
}

/// "992 + 24 [fio]", "[fio]" for a flush, "36 (12 00 ..) [fio]" for a driver command.
fn place(event: &mut BlockEvent, cursor: &mut Cursor<'_>) -> Result<(), LineFault> {
    if !cursor.rest().text.starts_with('[') {
        let first = cursor.word();
        if cursor.rest().text.starts_with('(') {
            let bytes: u32 = first.number("a size in bytes")?;
            event.sectors = bytes / 512;
            event.flags = RequestFlags::OTHER;
            skip_command(cursor)?;
        } else {
            event.sector = first.number("a sector")?;
            event.sectors = cursor.plus()?;
        }
    }
    named(event, cursor)
}

fn named(event: &mut BlockEvent, cursor: &mut Cursor<'_>) -> Result<(), LineFault> {
    event.task = BlockEvent::task_of(cursor.bracketed("a process name")?.text);
    Ok(())
}

fn skip_command(cursor: &mut Cursor<'_>) -> Result<(), LineFault> {
    let rest = cursor.rest();
    loop {
        let word = cursor.word();
        if word.text.ends_with(')') {
            return Ok(());
        }
        if word.text.is_empty() {
            return Err(rest.not("a command in parentheses"));
        }
    }
}

/// blkparse prints the kernel's negative 16-bit number as unsigned: 65531 is -5.
fn errno(word: Word<'_>) -> Result<i32, LineFault> {
    let digits = word.text.strip_prefix('-');
    let size: u16 = Word { text: digits.unwrap_or(word.text), ..word }.number("an error number")?;
    Ok(if digits.is_some() { -i32::from(size) } else { size.cast_signed().into() })
}
