//! blktrace's binary format: records of 48 bytes plus a payload, one file per CPU, in the byte order of the recording
//! machine (detected by the magic number). Files are merged by time.
//!
//! `record` reads the records of a file, `words` interprets their actions; this module makes one stream of events.
//!
//! Not available: lost events (blktrace only reports them on stderr), and device names.

mod merge;
mod record;
mod words;

pub use merge::{CpuRecording, merge};
pub(super) use record::recognise;

use super::Decode;
use super::extent::event;
use super::merge::Heads;
use super::reorder::Reorder;
use super::source::TraceSource;
use crate::trace::{About, TraceError, TraceFormat};
use fathom_record::BlockEvent;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::log::{LogDevice, LogHeader};
use fathom_record::block::{BlockAction, DeviceNumber};
use record::{PerCpu, Record};
use std::collections::{BTreeSet, HashMap};
use words::{action, flags, is_note};

/// Limit on task names; the table is cleared when it is full.
const MAX_TASKS: usize = 1 << 16;
const MAX_DEVICES: usize = 1 << 12;
const NS_PER_S: i64 = 1_000_000_000;

/// Bit in the lower half of an action: the payload starts with a control group ID.
const OF_CGROUP: u32 = 1 << 8;
const CGROUP_BYTES: usize = 8;

pub(super) struct Blktrace {
    files: Vec<PerCpu>,
    heads: Heads<Record>,
    begun: bool,
    tasks: HashMap<u32, [u8; TASK_NAME_BYTES]>,
    devices: BTreeSet<DeviceNumber>,
    wall_ns: Option<i64>,
    window: Reorder,
    ended: bool,
    passed_over: u64,
}

impl Blktrace {
    pub(super) fn new(sources: Vec<TraceSource>) -> Self {
        let files: Vec<PerCpu> = sources
            .into_iter()
            .map(|source| {
                let (file, input) = source.into_reader();
                PerCpu::new(file, input)
            })
            .collect();
        Self {
            files,
            heads: Heads::default(),
            begun: false,
            tasks: HashMap::new(),
            devices: BTreeSet::new(),
            wall_ns: None,
            window: Reorder::default(),
            ended: false,
            passed_over: 0,
        }
    }

    /// The next record of all files in order of time.
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        if !std::mem::replace(&mut self.begun, true) {
            for (nth, file) in self.files.iter_mut().enumerate() {
                if let Some(record) = file.record()? {
                    self.heads.put(record.time_ns, nth, record);
                }
            }
        }
        let Some((nth, record)) = self.heads.take() else { return Ok(None) };
        if let Some(next) = self.files[nth].record()? {
            self.heads.put(next.time_ns, nth, next);
        }
        Ok(Some(record))
    }

    fn note(&mut self, record: &Record) {
        let number = |at: usize| {
            let four = record.payload.get(at..at + 4)?;
            Some(i64::from(u32::from_le_bytes(four.try_into().ok()?)))
        };
        match record.action & 0xff {
            0 => {
                if self.tasks.len() >= MAX_TASKS {
                    self.tasks.clear();
                }
                let name = String::from_utf8_lossy(&record.payload);
                let name = name.split('\0').next().unwrap_or_default();
                self.tasks.insert(record.pid, BlockEvent::task_of(name));
            }
            1 => {
                if let (Some(s), Some(ns), Ok(at)) = (number(0), number(4), i64::try_from(record.time_ns)) {
                    self.wall_ns = Some(s * NS_PER_S + ns - at);
                }
            }
            // Messages from drivers and schedulers.
            _ => {}
        }
    }

    fn event_of(&mut self, record: &Record) -> Option<BlockEvent> {
        let action = action(record.action)?;
        let payload = match record.action & OF_CGROUP {
            0 => record.payload.as_slice(),
            _ => record.payload.get(CGROUP_BYTES..).unwrap_or_default(),
        };
        let big_endian = || Some(u64::from_be_bytes(payload.get(..8)?.try_into().ok()?));
        let sectors = match action {
            BlockAction::Unplug => u32::try_from(big_endian().unwrap_or(0)).unwrap_or(u32::MAX),
            BlockAction::Split => {
                let second = big_endian().unwrap_or(record.sector);
                u32::try_from(second.saturating_sub(record.sector)).unwrap_or(u32::MAX)
            }
            _ => record.bytes / 512,
        };
        let device = DeviceNumber::from_kernel(record.device);
        if self.devices.len() < MAX_DEVICES {
            self.devices.insert(device);
        }
        Some(BlockEvent {
            pid: record.pid,
            cpu: u16::try_from(record.cpu).unwrap_or(u16::MAX),
            error: if action == BlockAction::Complete { record.error.into() } else { 0 },
            task: self.task(record),
            ..event(record.time_ns, device, action, flags(record.action), (record.sector, sectors))
        })
    }

    fn task(&self, record: &Record) -> [u8; TASK_NAME_BYTES] {
        match self.tasks.get(&record.pid) {
            Some(name) => *name,
            // The idle tasks are never announced.
            None if record.pid == 0 => BlockEvent::task_of(&format!("swapper/{}", record.cpu)),
            None => [0; TASK_NAME_BYTES],
        }
    }
}

impl Decode for Blktrace {
    fn event(&mut self) -> Result<Option<BlockEvent>, TraceError> {
        loop {
            if let Some(event) = self.window.take(self.ended) {
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            match self.next_record()? {
                None => self.ended = true,
                Some(record) if is_note(record.action) => self.note(&record),
                Some(record) => match self.event_of(&record) {
                    Some(event) => self.window.put(event),
                    None => self.passed_over += 1,
                },
            }
        }
    }

    fn about(&self) -> About {
        let mut notes: Vec<String> = self.window.note().into_iter().collect();
        let cut = self.files.iter().filter(|f| f.cut).count();
        if cut > 0 {
            notes.push(format!("{cut} of {} files end in the middle of a record.", self.files.len()));
        }
        if self.passed_over > 0 {
            let n = self.passed_over;
            notes.push(format!(
                "{n} records of kinds without an event (sleeps, bounces, drivers' data) were passed over."
            ));
        }
        let devices = self.devices.iter().map(|&number| LogDevice { number, ..LogDevice::default() });
        let header = LogHeader {
            wall_ns: self.wall_ns,
            queueing: true,
            source: TraceFormat::Blktrace.word().into(),
            ..LogHeader::default()
        };
        About { format: TraceFormat::Blktrace, header, devices: devices.collect(), notes, ..About::default() }
    }
}
