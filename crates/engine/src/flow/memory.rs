//! The buffers of a thread that executes a flow. If the thread has its own memory (`Thread.memory`), every operation uses a random
//! part of it, as in Filebench; the memory is initially zero. Otherwise the thread has one read buffer, and written data follow the
//! data rule of the file set.

use super::aio::IN_FLIGHT;
use super::setting::Setting;
use crate::buffer::Buffer;
use crate::contents::Contents;
use crate::fault::{FailedCall, Fault};
use fathom_workload::flow::{FlatOp, FlatProgram};
use fathom_workload::ops::Place;
use fathom_workload::{Act, Bytes, Data, Direction, Stream};

/// log2 of the position distance between files, so that different files differ at equal offsets.
const FILE_APART_BITS: u32 = 44;

/// A thread's buffers.
pub(crate) struct Memory {
    /// The thread's own memory, if any.
    area: Option<Buffer>,
    area_bytes: u64,
    read: Buffer,
    writers: Vec<WriteBuffer>,
    seed: u64,
    place: Place,
}

/// Buffer for sets with one data rule.
struct WriteBuffer {
    data: Data,
    largest: usize,
    contents: Contents,
}

/// Size of the largest operation of a program as far as known in advance, for reads and, by set, for writes.
pub(crate) fn largest(program: &FlatProgram, setting: &Setting) -> (u64, Vec<(usize, u64)>) {
    let (mut read, mut write) = (0, Vec::new());
    for op in &program.ops {
        let used: Vec<usize> = match op.set {
            Some(set) => vec![set],
            None => program.ops.iter().filter_map(|o| o.set).collect(),
        };
        let bytes = |set: usize| match op.size.fixed() {
            Some(0) if whole_file(op.act) => whole_bytes(op, program, setting, set),
            Some(bytes) => bytes,
            None => 1 << 20,
        };
        match op.act {
            Act::Read | Act::ReadWholeFile => {
                read = used.iter().map(|&s| bytes(s)).max().unwrap_or(0).max(read);
            }
            Act::Write | Act::WriteWholeFile | Act::Append | Act::AppendRandomLength | Act::AsyncWrite => {
                write.extend(used.iter().map(|&s| (s, bytes(s))));
            }
            _ => {}
        }
    }
    (read, write)
}

/// The longest file that the operation may transfer as a whole.
fn whole_bytes(op: &FlatOp, program: &FlatProgram, setting: &Setting, set: usize) -> u64 {
    let own = setting.sets[set].largest_bytes();
    let sources = program.ops.iter().filter(|o| op.source_slot.is_some() && o.slot == op.source_slot);
    sources.filter_map(|o| o.set).map(|s| setting.sets[s].largest_bytes()).fold(own, u64::max)
}

fn whole_file(act: Act) -> bool {
    matches!(act, Act::ReadWholeFile | Act::WriteWholeFile)
}

/// Memory needed by the thread's buffers, including those of writes in flight; drawn sizes are unknown.
pub(crate) fn needed_bytes(program: &FlatProgram, setting: &Setting, memory: u64) -> u64 {
    let writes = program.ops.iter().filter(|op| op.act == Act::AsyncWrite);
    let in_flight =
        writes.filter_map(|op| op.size.fixed()).max().unwrap_or(0).saturating_mul(IN_FLIGHT as u64);
    in_flight.saturating_add(buffer_bytes(program, setting, memory))
}

fn buffer_bytes(program: &FlatProgram, setting: &Setting, memory: u64) -> u64 {
    if memory > 0 {
        return memory;
    }
    let (read, writes) = largest(program, setting);
    let mut rules: Vec<(&Data, u64)> = Vec::new();
    for (set, bytes) in writes {
        let data = &setting.set_places[set].data;
        match rules.iter_mut().find(|(d, _)| *d == data) {
            Some((_, largest)) => *largest = bytes.max(*largest),
            None => rules.push((data, bytes)),
        }
    }
    let of_rule = |(data, bytes): (&Data, u64)| Contents::bytes(&writing(data, bytes), bytes as usize, 1);
    rules.into_iter().map(of_rule).fold(read, u64::saturating_add)
}

fn writing(data: &Data, bytes: u64) -> Stream {
    Stream { data: data.clone(), ..Stream::new("flow", Direction::Write, Bytes(bytes.max(1))) }
}

impl Memory {
    /// Populated buffers for a program.
    pub fn new(
        program: &FlatProgram,
        setting: &Setting,
        memory: u64,
        seed: u64,
        place: Place,
    ) -> Result<Self, Fault> {
        let (read, writes) = if memory > 0 { (0, Vec::new()) } else { largest(program, setting) };
        let mut this = Self {
            area: if memory > 0 { Some(Buffer::new(memory as usize)?) } else { None },
            area_bytes: memory,
            read: Buffer::new(read as usize)?,
            writers: Vec::new(),
            seed,
            place,
        };
        for (set, bytes) in writes {
            this.writer(&setting.set_places[set].data, bytes as usize)?;
        }
        Ok(this)
    }

    /// Target for reading `bytes` bytes: at `at` of the thread's own memory, if any.
    #[inline(always)]
    pub fn read_into(&mut self, at: u64, bytes: usize) -> Result<&mut [u8], Fault> {
        if let Some(area) = &mut self.area {
            let (at, all) = (at as usize, area.all_mut());
            let fits = at.checked_add(bytes).is_some_and(|end| end <= all.len());
            return if fits { Ok(&mut all[at..at + bytes]) } else { Err(too_small(bytes, self.area_bytes)) };
        }
        if self.read.all().len() < bytes {
            self.read = Buffer::new(bytes)?;
        }
        Ok(&mut self.read.all_mut()[..bytes])
    }

    /// Data to write: `bytes` at `offset` of a set's file `entry`.
    #[inline(always)]
    pub fn write_from(
        &mut self,
        at: u64,
        data: &Data,
        entry: usize,
        offset: u64,
        bytes: usize,
    ) -> Result<&[u8], Fault> {
        if self.area.is_some() {
            return self.read_into(at, bytes).map(|b| &*b);
        }
        let writer = self.writer(data, bytes)?;
        let apart = (entry as u64).wrapping_add(1) << FILE_APART_BITS;
        Ok(writer.contents.record_to_write(offset.wrapping_add(apart), bytes))
    }

    /// The writer of a data rule, made large enough.
    fn writer(&mut self, data: &Data, bytes: usize) -> Result<&mut WriteBuffer, Fault> {
        let at = self.writers.iter().position(|w| w.data == *data);
        if at.is_none_or(|at| self.writers[at].largest < bytes) {
            let stream = writing(data, bytes as u64);
            let contents = Contents::new(&stream, bytes.max(1), self.seed, self.place)?;
            let writer = WriteBuffer { data: data.clone(), largest: bytes, contents };
            match at {
                Some(at) => self.writers[at] = writer,
                None => self.writers.push(writer),
            }
        }
        let at = at.unwrap_or(self.writers.len() - 1);
        Ok(&mut self.writers[at])
    }

    /// A small buffer to compute with.
    pub fn scratch(&mut self) -> &mut [u8] {
        self.read.all_mut()
    }
}

fn too_small(bytes: usize, area: u64) -> Fault {
    Fault::short(FailedCall::Area, 0, bytes as u64, area)
}
