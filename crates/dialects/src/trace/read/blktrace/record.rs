//! Raw records of a blktrace file, in either byte order.

use super::words::is_note;
use crate::trace::read::source::is_cut;
use crate::trace::{TraceError, TracePlace};
use std::io::{BufRead, Read};

/// Upper three bytes of the magic number; the lowest byte is the version.
const MAGIC: u32 = 0x6561_7400;
/// The only version since 2006.
const VERSION: u32 = 7;
const RECORD_BYTES: usize = 48;

/// Whether a file starts with a record.
pub(in crate::trace::read) fn recognise(head: &[u8]) -> bool {
    order(head).is_some()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

fn order(bytes: &[u8]) -> Option<ByteOrder> {
    let four: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    if u32::from_le_bytes(four) & !0xff == MAGIC {
        Some(ByteOrder::Little)
    } else if u32::from_be_bytes(four) & !0xff == MAGIC {
        Some(ByteOrder::Big)
    } else {
        None
    }
}

/// A raw record with the used part of its payload.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub time_ns: u64,
    pub sector: u64,
    pub bytes: u32,
    pub action: u32,
    pub pid: u32,
    pub device: u32,
    pub cpu: u32,
    pub error: i16,
    pub payload: Vec<u8>,
}

impl Record {
    /// Writes it in x86 byte order with this sequence number.
    pub fn write(&self, number: u32, to: &mut Vec<u8>) {
        to.extend((MAGIC | VERSION).to_le_bytes());
        to.extend(number.to_le_bytes());
        to.extend(self.time_ns.to_le_bytes());
        to.extend(self.sector.to_le_bytes());
        for word in [self.bytes, self.action, self.pid, self.device, self.cpu] {
            to.extend(word.to_le_bytes());
        }
        to.extend(self.error.to_le_bytes());
        // The length was read as 16 bits.
        to.extend((self.payload.len() as u16).to_le_bytes());
        to.extend(&self.payload);
    }
}

pub(super) struct PerCpu {
    file: String,
    input: Box<dyn BufRead>,
    byte: u64,
    /// Whether it ends in the middle of a record.
    pub cut: bool,
}

impl PerCpu {
    pub fn new(file: String, input: Box<dyn BufRead>) -> Self {
        Self { file, input, byte: 0, cut: false }
    }

    /// Reads the next record; `None` at the end.
    pub fn record(&mut self) -> Result<Option<Record>, TraceError> {
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
            if order == ByteOrder::Little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }
        };
        // Two halves in the machine's byte order.
        let u64_at = |at: usize| {
            let (first, second) = (u64::from(u32_at(at)), u64::from(u32_at(at + 4)));
            if order == ByteOrder::Little { second << 32 | first } else { first << 32 | second }
        };
        let u16_at = |at: usize| {
            let two = [raw[at], raw[at + 1]];
            if order == ByteOrder::Little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) }
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
        // Numbers in notes are in the machine's byte order, which is not known later.
        let note = is_note(record.action) && record.action & 0xffff == 1;
        if note && order == ByteOrder::Big {
            payload.chunks_exact_mut(4).for_each(<[u8]>::reverse);
        }
        record.payload = payload;
        Ok(Some(record))
    }

    /// Fills a buffer. Returns false at the end of the file, even within the buffer.
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
        TraceError::new(&self.file, TracePlace::Byte(self.byte), what)
    }
}
