//! blktrace's binary form: records of 48 bytes and a payload, one file for each CPU, in the byte order of the machine that
//! recorded them (seen by the magic number). Files are merged by time.
//!
//! What it cannot tell: what blktrace lost (it says so on its own stderr, not in the files), and the names of devices.

use super::Decode;
use super::extent::event;
use super::merge::Heads;
use super::reorder::Reorder;
use super::source::{Source, is_cut};
use crate::trace::{About, Format, Place, TraceError};
use fathom_record::BlockEvent;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::log::{LogDevice, LogHeader};
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Read};

/// "eat" above the version's byte.
const MAGIC: u32 = 0x6561_7400;
/// The only version there has been since 2006.
const VERSION: u32 = 7;
const RECORD_BYTES: usize = 48;
/// Names of tasks kept; beyond, the table starts again.
const MAX_TASKS: usize = 1 << 16;
/// Devices listed.
const MAX_DEVICES: usize = 1 << 12;
const NS_PER_S: i64 = 1_000_000_000;

/// Categories, the upper half of an action.
mod category {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 1 << 1;
    pub const FLUSH: u32 = 1 << 2;
    pub const SYNC: u32 = 1 << 3;
    pub const DRIVER: u32 = 1 << 9;
    pub const NOTIFY: u32 = 1 << 10;
    pub const AHEAD: u32 = 1 << 11;
    pub const META: u32 = 1 << 12;
    pub const DISCARD: u32 = 1 << 13;
    pub const FUA: u32 = 1 << 15;
}

/// In the lower half of an action: the payload begins with the number of a control group.
const OF_CGROUP: u32 = 1 << 8;
const CGROUP_BYTES: usize = 8;

pub(super) fn recognise(head: &[u8]) -> bool {
    order(head).is_some()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

fn order(bytes: &[u8]) -> Option<Order> {
    let four: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    if u32::from_le_bytes(four) & !0xff == MAGIC {
        Some(Order::Little)
    } else if u32::from_be_bytes(four) & !0xff == MAGIC {
        Some(Order::Big)
    } else {
        None
    }
}

/// A record as it stands, its payload cut to what is looked at.
#[derive(Clone, Debug)]
struct Record {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    cpu: u32,
    error: i16,
    payload: Vec<u8>,
}

/// One file.
struct PerCpu {
    file: String,
    input: Box<dyn BufRead>,
    byte: u64,
    cut: bool,
}

impl PerCpu {
    fn record(&mut self) -> Result<Option<Record>, TraceError> {
        let mut raw = [0; RECORD_BYTES];
        if !self.fill(&mut raw)? {
            return Ok(None);
        }
        let Some(order) = order(&raw) else {
            let found = u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
            let what = format!(
                "expected a record of blktrace, which begins with {MAGIC:#x} + {VERSION}, found {found:#x}"
            );
            return Err(self.fault(&what));
        };
        let u32_at = |at: usize| {
            let four = [raw[at], raw[at + 1], raw[at + 2], raw[at + 3]];
            if order == Order::Little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }
        };
        // Two halves in the machine's order.
        let u64_at = |at: usize| {
            let (first, second) = (u64::from(u32_at(at)), u64::from(u32_at(at + 4)));
            if order == Order::Little { second << 32 | first } else { first << 32 | second }
        };
        let u16_at = |at: usize| {
            let two = [raw[at], raw[at + 1]];
            if order == Order::Little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) }
        };
        let version = u32_at(0) & 0xff;
        if version != VERSION {
            return Err(self.fault(&format!("blktrace version {version}; only version {VERSION} is known")));
        }
        let mut record = Record {
            time_ns: u64_at(8),
            sector: u64_at(16),
            bytes: u32_at(24),
            action: u32_at(28),
            pid: u32_at(32),
            device: u32_at(36),
            cpu: u32_at(40),
            error: u16_at(44).cast_signed(),
            payload: vec![0; usize::from(u16_at(46))],
        };
        let mut payload = std::mem::take(&mut record.payload);
        let start = self.byte;
        self.byte += RECORD_BYTES as u64;
        if !self.fill(&mut payload)? {
            self.cut = true;
            return Ok(None);
        }
        self.byte = start + (RECORD_BYTES + payload.len()) as u64;
        // The notes' numbers are in the machine's order, which is forgotten here.
        let note = record.action >> 16 & category::NOTIFY != 0 && record.action & 0xffff == 1;
        if note && order == Order::Big {
            payload.chunks_exact_mut(4).for_each(<[u8]>::reverse);
        }
        record.payload = payload;
        Ok(Some(record))
    }

    /// Fills a buffer; false at the end, also in the middle of it.
    fn fill(&mut self, into: &mut [u8]) -> Result<bool, TraceError> {
        let mut have = 0;
        while have < into.len() {
            match self.input.read(&mut into[have..]) {
                Ok(0) => break,
                Ok(n) => have += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) if is_cut(&e) => {
                    self.cut = true;
                    break;
                }
                Err(e) => return Err(self.fault(&format!("it cannot be read: {e}"))),
            }
        }
        self.cut |= have > 0 && have < into.len();
        if have == into.len() && into.len() == RECORD_BYTES {
            return Ok(true);
        }
        Ok(have == into.len())
    }

    fn fault(&self, what: &str) -> TraceError {
        TraceError::new(&self.file, Place::Byte(self.byte), what)
    }
}

/// The files of a recording.
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
    pub(super) fn new(sources: Vec<Source>) -> Self {
        let files: Vec<PerCpu> = sources
            .into_iter()
            .map(|source| {
                let (file, input) = source.into_reader();
                PerCpu { file, input, byte: 0, cut: false }
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

    /// The next record of all files.
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
            // Messages of drivers and schedulers.
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
            // The idle task of each CPU is never announced.
            None if record.pid == 0 => BlockEvent::task_of(&format!("swapper/{}", record.cpu)),
            None => [0; TASK_NAME_BYTES],
        }
    }
}

fn action(word: u32) -> Option<BlockAction> {
    Some(match word & 0xff {
        1 => BlockAction::Queue,
        2 => BlockAction::BackMerge,
        3 => BlockAction::FrontMerge,
        4 => BlockAction::GetRequest,
        6 => BlockAction::Requeue,
        7 => BlockAction::Issue,
        8 => BlockAction::Complete,
        9 => BlockAction::Plug,
        10 | 11 => BlockAction::Unplug,
        12 => BlockAction::Insert,
        13 => BlockAction::Split,
        15 => BlockAction::Remap,
        // Sleeping for a request, bouncing, aborts, drivers' own data.
        _ => return None,
    })
}

fn flags(action: u32) -> RequestFlags {
    let is = |bit: u32| action >> 16 & bit != 0;
    let mut flags = RequestFlags::default();
    let mut set = |when: bool, flag: RequestFlags| {
        if when {
            flags = flags.with(flag);
        }
    };
    let driver = is(category::DRIVER);
    set(driver, RequestFlags::OTHER);
    set(is(category::DISCARD), RequestFlags::DISCARD);
    set(is(category::WRITE) && !is(category::DISCARD) && !driver, RequestFlags::WRITE);
    set(is(category::READ) && !driver, RequestFlags::READ);
    set(is(category::FLUSH), RequestFlags::PREFLUSH);
    set(is(category::FUA), RequestFlags::FUA);
    set(is(category::AHEAD), RequestFlags::AHEAD);
    set(is(category::SYNC), RequestFlags::SYNC);
    set(is(category::META), RequestFlags::META);
    flags
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
                Some(record) if record.action >> 16 & category::NOTIFY != 0 => self.note(&record),
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
            source: Format::Blktrace.word().into(),
            ..LogHeader::default()
        };
        About { format: Format::Blktrace, header, devices: devices.collect(), notes, ..About::default() }
    }
}
