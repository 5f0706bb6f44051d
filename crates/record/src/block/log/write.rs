//! Writes the event log as a stream; the only memory is a table of devices and one of task names.

use super::{
    LogClock, LogDevice, LogEnd, LogHeader, MAGIC, MAX_DEVICES, MAX_HEADER_BYTES, MAX_TASKS, MAX_TEXT_BYTES,
    VERSION, bit, control, device_bit, varint,
};
use crate::block::event::{BlockAction, BlockEvent, DeviceNumber, TASK_NAME_BYTES};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const BUFFER_BYTES: usize = 64 << 10;

/// Writes one log.
#[derive(Debug)]
pub struct LogWriter<W: Write> {
    out: W,
    pending: Vec<u8>,
    devices: HashMap<DeviceNumber, u64>,
    tasks: HashMap<[u8; TASK_NAME_BYTES], u64>,
    before: BlockEvent,
    lost: u64,
    events: u64,
}

/// The output of a log: plain, or through zstd. An unfinished one lacks the data still held by the compressor.
pub enum LogFile<W: Write = File> {
    /// Uncompressed.
    Plain(W),
    /// Compressed by zstd.
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> LogFile<W> {
    /// Wraps an open file; compresses if the name in `path` ends in `.zst`.
    ///
    /// # Errors
    /// If zstd has no memory.
    pub fn new(file: W, path: &Path) -> io::Result<Self> {
        if path.extension().is_none_or(|e| e != "zst") {
            return Ok(Self::Plain(file));
        }
        let mut encoder = zstd::Encoder::new(file, 3)?;
        encoder.include_checksum(true)?;
        Ok(Self::Zstd(encoder))
    }

    /// Finishes the stream.
    ///
    /// # Errors
    /// If the remaining data cannot be written.
    pub fn end(self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Zstd(encoder) => encoder.finish().map(drop),
        }
    }
}

impl<W: Write> std::fmt::Debug for LogFile<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "LogFile::Plain",
            Self::Zstd(_) => "LogFile::Zstd",
        })
    }
}

impl<W: Write> Write for LogFile<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}

impl<W: Write> LogWriter<W> {
    /// Writes the header. Texts above the format's limit are truncated.
    pub fn new(out: W, header: &LogHeader) -> io::Result<Self> {
        let mut body = Vec::new();
        let clock = LogClock::ALL.iter().position(|c| *c == header.clock).unwrap_or(0);
        body.push(clock as u8);
        let wall = header.wall_ns.is_some();
        body.push(u8::from(header.queueing) | u8::from(wall) << 1 | u8::from(header.arrivals_only) << 2);
        body.extend(header.wall_ns.unwrap_or(0).to_le_bytes());
        for text in [&header.source, &header.machine, &header.writer] {
            put_text(&mut body, text);
        }
        debug_assert!(body.len() <= MAX_HEADER_BYTES, "three texts and ten bytes");
        let mut pending = Vec::with_capacity(BUFFER_BYTES + 1024);
        pending.extend(MAGIC);
        pending.extend(VERSION.to_le_bytes());
        pending.extend((body.len() as u32).to_le_bytes());
        pending.extend(body);
        let (devices, tasks) = (HashMap::new(), HashMap::new());
        let mut writer = Self { out, pending, devices, tasks, before: super::start(), lost: 0, events: 0 };
        writer.hand_on()?;
        Ok(writer)
    }

    /// Names a device. A device not named before its first event gets an empty name; if named again, the last name holds.
    pub fn device(&mut self, device: &LogDevice) -> io::Result<()> {
        if !self.devices.contains_key(&device.number) {
            if self.devices.len() >= MAX_DEVICES {
                let what = format!("an event log holds at most {MAX_DEVICES} devices");
                return Err(io::Error::other(what));
            }
            let index = self.devices.len() as u64;
            self.devices.insert(device.number, index);
        }
        self.pending.extend([0, control::DEVICE]);
        for number in [device.number.major, device.number.minor, device.level] {
            varint::put(&mut self.pending, number.into());
        }
        let mut flags = if device.bio_based { device_bit::BIO_BASED } else { 0 };
        flags |= if device.queue.is_some() { device_bit::QUEUE } else { 0 };
        self.pending.push(flags);
        put_text(&mut self.pending, &device.name);
        if let Some(queue) = &device.queue {
            for number in [queue.sectors, queue.read_ahead_kb.into(), queue.max_sectors_kb.into()] {
                varint::put(&mut self.pending, number);
            }
            put_text(&mut self.pending, &queue.scheduler);
        }
        self.relieve()
    }

    /// Writes an event.
    pub fn event(&mut self, event: &BlockEvent) -> io::Result<()> {
        let device = match self.devices.get(&event.device) {
            Some(&index) => index,
            None => {
                self.device(&LogDevice { number: event.device, ..LogDevice::default() })?;
                self.devices[&event.device]
            }
        };
        let task = self.task(event);
        let before = self.before;
        let action = BlockAction::ALL.iter().position(|a| *a == event.action).unwrap_or(0) as u8;
        let same_device = event.device == before.device && self.events > 0;
        let same_task =
            (event.task, event.pid, event.cpu) == (before.task, before.pid, before.cpu) && self.events > 0;
        let back = event.time_ns < before.time_ns;
        let mut first = action + 1;
        for (is, bit) in [
            (same_device, bit::SAME_DEVICE),
            (same_task, bit::SAME_TASK),
            (event.error != 0, bit::ERROR),
            (back, bit::TIME_BACK),
        ] {
            first |= if is { bit } else { 0 };
        }
        let out = &mut self.pending;
        out.push(first);
        varint::put(out, event.time_ns.abs_diff(before.time_ns));
        if !same_device {
            varint::put(out, device);
        }
        varint::put(out, event.flags.0.into());
        varint::put_signed(out, event.sector.wrapping_sub(before.sector).cast_signed());
        varint::put(out, event.sectors.into());
        if !same_task {
            varint::put(out, event.pid.into());
            varint::put(out, event.cpu.into());
            varint::put(out, task);
        }
        if event.error != 0 {
            varint::put_signed(out, event.error.into());
        }
        self.before = *event;
        self.events += 1;
        self.relieve()
    }

    /// The number of an event's task name, writing the name first if it is new.
    fn task(&mut self, event: &BlockEvent) -> u64 {
        let length = name_bytes(&event.task);
        if length == 0 {
            return 0;
        }
        let mut name = [0; TASK_NAME_BYTES];
        name[..length].copy_from_slice(&event.task[..length]);
        if let Some(&index) = self.tasks.get(&name) {
            return index;
        }
        if self.tasks.len() >= MAX_TASKS {
            self.tasks.clear();
            self.pending.extend([0, control::TASKS_AGAIN]);
        }
        let index = self.tasks.len() as u64 + 1;
        self.tasks.insert(name, index);
        self.pending.extend([0, control::TASK, length as u8]);
        self.pending.extend(&name[..length]);
        index
    }

    /// Records how many events the source has lost since it began; written when it changes.
    pub fn lost(&mut self, lost: u64) -> io::Result<()> {
        if lost == self.lost {
            return Ok(());
        }
        self.lost = lost;
        self.pending.extend([0, control::LOST]);
        varint::put(&mut self.pending, lost);
        self.relieve()
    }

    /// Records a note: a sentence about what limits the events.
    pub fn note(&mut self, sentence: &str) -> io::Result<()> {
        self.pending.extend([0, control::NOTE]);
        put_text(&mut self.pending, sentence);
        self.relieve()
    }

    /// Events written so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Passes everything to the kernel, so that it survives this process.
    pub fn flush(&mut self) -> io::Result<()> {
        self.hand_on()?;
        self.out.flush()
    }

    /// Writes the trailer and returns the inner writer; `events` and `lost` of `end` are replaced by the log's own.
    pub fn finish(mut self, end: &LogEnd) -> io::Result<W> {
        self.pending.extend([0, control::END]);
        for number in [self.events, self.lost, end.start_ns, end.end_ns, end.observer_cpu_ns] {
            varint::put(&mut self.pending, number);
        }
        self.flush()?;
        Ok(self.out)
    }

    fn relieve(&mut self) -> io::Result<()> {
        if self.pending.len() >= BUFFER_BYTES { self.hand_on() } else { Ok(()) }
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }
}

fn name_bytes(task: &[u8; TASK_NAME_BYTES]) -> usize {
    task.iter().position(|&b| b == 0).unwrap_or(TASK_NAME_BYTES)
}

/// Writes a length-prefixed text, truncated at a character boundary.
fn put_text(out: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    varint::put(out, end as u64);
    out.extend(&text.as_bytes()[..end]);
}
