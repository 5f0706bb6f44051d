//! Reads the event log: constant memory whatever the file says, an error with its byte offset for malformed data, and a clean
//! end where a recording was cut off.

use super::varint::{self, VarintError, unfold};
use super::{
    LogClock, LogDevice, LogEnd, LogHeader, MAGIC, MAX_DEVICES, MAX_HEADER_BYTES, MAX_TASKS, MAX_TEXT_BYTES,
    QueueSettings, VERSION, bit, control, device_bit,
};
use crate::block::event::{BlockAction, BlockEvent, DeviceNumber, RequestFlags, TASK_NAME_BYTES};
use std::io::{ErrorKind, Read};

/// Buffer size. A record has at most [`MAX_RECORD_BYTES`].
const BUFFER_BYTES: usize = 64 << 10;
/// Longest record: a device with its queue, which has two texts.
const MAX_RECORD_BYTES: usize = 2 * MAX_TEXT_BYTES + 128;
/// Maximum number of notes kept; a file with more is hostile or broken, and loses nothing that is counted.
const MAX_NOTES: usize = 64;

/// What is wrong with a log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file could not be read.
    #[error("it cannot be read at byte {byte}: {error}")]
    Io {
        /// Offset in the (decompressed) file.
        byte: u64,
        /// The system's error.
        error: std::io::Error,
    },
    /// The file does not begin with the magic bytes.
    #[error("byte 0: an event log of fathom begins with the eight letters \"fathomBL\"; this file does not")]
    NotALog,
    /// The file has a later version.
    #[error(
        "byte 8: version {0} of the event log; this fathom reads up to version {VERSION}: use a newer one"
    )]
    Version(u16),
    /// The content is invalid.
    #[error("byte {byte}: {what}")]
    Malformed {
        /// Offset of the record.
        byte: u64,
        /// What was found and what was expected.
        what: String,
    },
}

/// Reads one log, event by event.
#[derive(Debug)]
pub struct LogReader<R: Read> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    /// Offset in the file of the buffer's first byte.
    base: u64,
    ended: bool,
    header: LogHeader,
    devices: Vec<LogDevice>,
    tasks: Vec<[u8; TASK_NAME_BYTES]>,
    notes: Vec<String>,
    before: BlockEvent,
    events: u64,
    lost: u64,
    end: Option<LogEnd>,
    failed: bool,
}

/// One decoded record, as far as the caller needs it.
enum Record {
    Event(BlockEvent),
    Other,
}

impl<R: Read> LogReader<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<Self, LogError> {
        let mut reader = Self {
            input,
            buffer: Vec::new(),
            at: 0,
            base: 0,
            ended: false,
            header: LogHeader::default(),
            devices: Vec::new(),
            tasks: Vec::new(),
            notes: Vec::new(),
            before: super::start(),
            events: 0,
            lost: 0,
            end: None,
            failed: false,
        };
        reader.read_header()?;
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<(), LogError> {
        self.fill(14)?;
        let bytes = &self.buffer[self.at..];
        if bytes.len() < MAGIC.len() || bytes[..8] != MAGIC {
            return Err(LogError::NotALog);
        }
        if bytes.len() < 14 {
            return Err(self.malformed("the header is cut off"));
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        if version != VERSION {
            return Err(LogError::Version(version));
        }
        let length = u32::from_le_bytes([bytes[10], bytes[11], bytes[12], bytes[13]]) as usize;
        if length > MAX_HEADER_BYTES {
            return Err(
                self.malformed(&format!("a header of {length} bytes; it has at most {MAX_HEADER_BYTES}"))
            );
        }
        self.at += 14;
        self.fill(length)?;
        let Some(body) = self.buffer.get(self.at..self.at + length) else {
            return Err(self.malformed("the header is cut off"));
        };
        match header(body) {
            Ok(header) => self.header = header,
            Err(what) => return Err(self.malformed(&what)),
        }
        self.at += length;
        Ok(())
    }

    /// The file's header.
    #[must_use]
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// The devices named so far.
    #[must_use]
    pub fn devices(&self) -> &[LogDevice] {
        &self.devices
    }

    /// Events lost by the source up to the last record read.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.end.map_or(self.lost, |e| e.lost)
    }

    /// Notes read so far: sentences about what limits the events.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The trailer, once reached; `None` at the end of the events means that the recording was cut off.
    #[must_use]
    pub fn end(&self) -> Option<&LogEnd> {
        self.end.as_ref()
    }

    /// Offset of the next record.
    #[must_use]
    pub fn byte(&self) -> u64 {
        self.base + self.at as u64
    }

    fn malformed(&self, what: &str) -> LogError {
        LogError::Malformed { byte: self.byte(), what: what.into() }
    }

    /// Makes `wanted` bytes available, or all that are left.
    fn fill(&mut self, wanted: usize) -> Result<(), LogError> {
        if self.buffer.len() - self.at >= wanted || self.ended {
            return Ok(());
        }
        self.base += self.at as u64;
        self.buffer.drain(..self.at);
        self.at = 0;
        let goal = BUFFER_BYTES.max(wanted);
        while self.buffer.len() < goal {
            let have = self.buffer.len();
            self.buffer.resize(goal, 0);
            let got = self.input.read(&mut self.buffer[have..]);
            self.buffer.truncate(have + *got.as_ref().unwrap_or(&0));
            match got {
                Ok(0) => self.ended = true,
                Ok(_) => continue,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                // The stream of a killed compressed recording has no end. Everything before is whole.
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => self.ended = true,
                Err(error) => return Err(LogError::Io { byte: self.base + have as u64, error }),
            }
            break;
        }
        Ok(())
    }

    fn next_event(&mut self) -> Result<Option<BlockEvent>, LogError> {
        loop {
            self.fill(MAX_RECORD_BYTES)?;
            if self.at == self.buffer.len() {
                return Ok(None);
            }
            if self.end.is_some() {
                return Err(self.malformed("bytes follow the end of the log"));
            }
            let (record, used) = {
                let whole = &self.buffer[self.at..];
                let mut rest = whole;
                let record = Decoder {
                    devices: &mut self.devices,
                    tasks: &mut self.tasks,
                    notes: &mut self.notes,
                    before: &mut self.before,
                    lost: &mut self.lost,
                    end: &mut self.end,
                    first: self.events == 0,
                }
                .record(&mut rest);
                (record, whole.len() - rest.len())
            };
            match record {
                Ok(Record::Event(event)) => {
                    self.at += used;
                    self.events += 1;
                    return Ok(Some(event));
                }
                Ok(Record::Other) => {
                    if let Some(end) = self.end
                        && end.events != self.events
                    {
                        let (said, read) = (end.events, self.events);
                        return Err(
                            self.malformed(&format!("the trailer counts {said} events, the file has {read}"))
                        );
                    }
                    self.at += used;
                }
                // Cut inside a record: everything before it is the recording.
                Err(RecordError::Short) if self.ended => {
                    self.base += self.buffer.len() as u64;
                    self.at = 0;
                    self.buffer.clear();
                    return Ok(None);
                }
                Err(RecordError::Short) => {
                    return Err(self.malformed("a record longer than the format allows"));
                }
                Err(RecordError::Not(what)) => return Err(self.malformed(&what)),
            }
        }
    }
}

impl<R: Read> Iterator for LogReader<R> {
    type Item = Result<BlockEvent, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_event();
        self.failed = next.is_err();
        next.transpose()
    }
}

/// Why a record could not be decoded.
enum RecordError {
    Short,
    Not(String),
}

impl From<VarintError> for RecordError {
    fn from(bad: VarintError) -> Self {
        match bad {
            VarintError::Short => Self::Short,
            VarintError::Long => Self::Not("a number of more than 64 bits".into()),
        }
    }
}

/// The reader's state while one record is decoded from a slice. Nothing changes until the record is known to be whole.
struct Decoder<'a> {
    devices: &'a mut Vec<LogDevice>,
    tasks: &'a mut Vec<[u8; TASK_NAME_BYTES]>,
    notes: &'a mut Vec<String>,
    before: &'a mut BlockEvent,
    lost: &'a mut u64,
    end: &'a mut Option<LogEnd>,
    first: bool,
}

impl Decoder<'_> {
    fn record(self, bytes: &mut &[u8]) -> Result<Record, RecordError> {
        match byte(bytes)? {
            0 => self.control(bytes).map(|()| Record::Other),
            tag => self.event(tag, bytes).map(Record::Event),
        }
    }

    fn event(self, tag: u8, bytes: &mut &[u8]) -> Result<BlockEvent, RecordError> {
        let Some(&action) = BlockAction::ALL.get(usize::from(tag & 0xf).wrapping_sub(1)) else {
            return Err(RecordError::Not(format!(
                "a record that begins with {tag:#04x}, which no event does"
            )));
        };
        let before = *self.before;
        if self.first && tag & (bit::SAME_DEVICE | bit::SAME_TASK) != 0 {
            return Err(RecordError::Not("the first event refers to one before it".into()));
        }
        let step = varint::take(bytes)?;
        let time = if tag & bit::TIME_BACK == 0 {
            before.time_ns.checked_add(step)
        } else {
            before.time_ns.checked_sub(step)
        };
        let Some(time_ns) = time else {
            return Err(RecordError::Not("a time before 0 or beyond 2^64 ns".into()));
        };
        let device = if tag & bit::SAME_DEVICE != 0 {
            before.device
        } else {
            let index = varint::take(bytes)?;
            match usize::try_from(index).ok().and_then(|i| self.devices.get(i)) {
                Some(device) => device.number,
                None => {
                    let many = self.devices.len();
                    return Err(RecordError::Not(format!("device {index} of {many} that were named")));
                }
            }
        };
        let flags = RequestFlags(narrow(varint::take(bytes)?, "flags")?);
        let sector = before.sector.wrapping_add_signed(unfold(varint::take(bytes)?));
        let sectors = narrow(varint::take(bytes)?, "a number of sectors")?;
        let (pid, cpu, task) = if tag & bit::SAME_TASK != 0 {
            (before.pid, before.cpu, before.task)
        } else {
            let pid = narrow(varint::take(bytes)?, "a process number")?;
            let cpu = narrow(varint::take(bytes)?, "a CPU number")?;
            (pid, cpu, self.task(varint::take(bytes)?)?)
        };
        let error = if tag & bit::ERROR != 0 {
            i32::try_from(unfold(varint::take(bytes)?))
                .map_err(|_| RecordError::Not("an error number beyond 32 bits".into()))?
        } else {
            0
        };
        let event = BlockEvent { time_ns, device, action, flags, sector, sectors, pid, cpu, error, task };
        *self.before = event;
        Ok(event)
    }

    fn task(&self, index: u64) -> Result<[u8; TASK_NAME_BYTES], RecordError> {
        if index == 0 {
            return Ok([0; TASK_NAME_BYTES]);
        }
        let place = usize::try_from(index - 1).ok();
        place.and_then(|i| self.tasks.get(i)).copied().ok_or_else(|| {
            RecordError::Not(format!("task name {index} of {} that were given", self.tasks.len()))
        })
    }

    fn control(self, bytes: &mut &[u8]) -> Result<(), RecordError> {
        match byte(bytes)? {
            control::DEVICE => self.device(bytes),
            control::TASK => {
                let length = usize::from(byte(bytes)?);
                if length == 0 || length > TASK_NAME_BYTES {
                    return Err(RecordError::Not(format!(
                        "a task name of {length} bytes; it has 1 to {TASK_NAME_BYTES}"
                    )));
                }
                let given = slice(bytes, length)?;
                if self.tasks.len() >= MAX_TASKS {
                    return Err(RecordError::Not(format!("more than {MAX_TASKS} task names at a time")));
                }
                let mut name = [0; TASK_NAME_BYTES];
                name[..length].copy_from_slice(given);
                self.tasks.push(name);
                Ok(())
            }
            control::TASKS_AGAIN => {
                self.tasks.clear();
                Ok(())
            }
            control::LOST => {
                *self.lost = varint::take(bytes)?;
                Ok(())
            }
            control::NOTE => {
                let sentence = text(bytes)?;
                if self.notes.len() < MAX_NOTES {
                    self.notes.push(sentence);
                }
                Ok(())
            }
            control::END => {
                let mut numbers = [0; 5];
                for number in &mut numbers {
                    *number = varint::take(bytes)?;
                }
                let [events, lost, start_ns, end_ns, observer_cpu_ns] = numbers;
                *self.end = Some(LogEnd { events, lost, end_ns, start_ns, observer_cpu_ns });
                Ok(())
            }
            kind => Err(RecordError::Not(format!(
                "a control record of kind {kind}, which this version does not know"
            ))),
        }
    }

    fn device(self, bytes: &mut &[u8]) -> Result<(), RecordError> {
        let major = narrow(varint::take(bytes)?, "a major number")?;
        let minor = narrow(varint::take(bytes)?, "a minor number")?;
        let level = narrow(varint::take(bytes)?, "a level")?;
        let flags = byte(bytes)?;
        let name = text(bytes)?;
        let queue = if flags & device_bit::QUEUE != 0 { Some(queue(bytes)?) } else { None };
        let bio_based = flags & device_bit::BIO_BASED != 0;
        let device = LogDevice { number: DeviceNumber { major, minor }, level, bio_based, name, queue };
        // A linear search: files have a handful of devices, and even thousands are each searched only once.
        if let Some(known) = self.devices.iter_mut().find(|d| d.number == device.number) {
            *known = device;
        } else if self.devices.len() < MAX_DEVICES {
            self.devices.push(device);
        } else {
            return Err(RecordError::Not(format!("more than {MAX_DEVICES} devices")));
        }
        Ok(())
    }
}

fn queue(bytes: &mut &[u8]) -> Result<QueueSettings, RecordError> {
    Ok(QueueSettings {
        sectors: varint::take(bytes)?,
        read_ahead_kb: narrow(varint::take(bytes)?, "a read-ahead window")?,
        max_sectors_kb: narrow(varint::take(bytes)?, "a largest request")?,
        scheduler: text(bytes)?,
    })
}

fn byte(bytes: &mut &[u8]) -> Result<u8, RecordError> {
    let (&first, rest) = bytes.split_first().ok_or(RecordError::Short)?;
    *bytes = rest;
    Ok(first)
}

fn slice<'b>(bytes: &mut &'b [u8], length: usize) -> Result<&'b [u8], RecordError> {
    let (front, rest) = bytes.split_at_checked(length).ok_or(RecordError::Short)?;
    *bytes = rest;
    Ok(front)
}

fn text(bytes: &mut &[u8]) -> Result<String, RecordError> {
    let length = varint::take(bytes)?;
    if length > MAX_TEXT_BYTES as u64 {
        return Err(RecordError::Not(format!("a text of {length} bytes; it has at most {MAX_TEXT_BYTES}")));
    }
    Ok(String::from_utf8_lossy(slice(bytes, length as usize)?).into_owned())
}

fn narrow<T: TryFrom<u64>>(value: u64, what: &str) -> Result<T, RecordError> {
    T::try_from(value).map_err(|_| RecordError::Not(format!("{what} of {value}, which is out of range")))
}

/// Parses the header's body. Bytes that a later writer of the same version appended are skipped.
fn header(mut body: &[u8]) -> Result<LogHeader, String> {
    let bytes = &mut body;
    let mut parse = || -> Result<LogHeader, RecordError> {
        let clock = byte(bytes)?;
        let flags = byte(bytes)?;
        let wall = slice(bytes, 8)?;
        let wall_ns = i64::from_le_bytes(std::array::from_fn(|i| wall[i]));
        let (source, machine, writer) = (text(bytes)?, text(bytes)?, text(bytes)?);
        Ok(LogHeader {
            clock: LogClock::ALL.get(usize::from(clock)).copied().unwrap_or_default(),
            wall_ns: (flags & 2 != 0).then_some(wall_ns),
            queueing: flags & 1 != 0,
            arrivals_only: flags & 4 != 0,
            source,
            machine,
            writer,
        })
    };
    parse().map_err(|wrong| match wrong {
        RecordError::Short => "the header ends inside one of its fields".into(),
        RecordError::Not(what) => what,
    })
}
