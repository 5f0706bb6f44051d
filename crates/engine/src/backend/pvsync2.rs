//! preadv2 and pwritev2 with one vector and flags for each call (RWF_ of linux/fs.h). Flags that only apply to writing are passed
//! to writes only.
//!
//! A kernel or file system that refuses a flag only reports "not supported". So the first refusal of a run is investigated: the
//! record is tried with each flag alone, and the error names the refused flag and what it needs.

use super::capability::{Capability, ProbeFile, State};
use super::{Backend, Handle};
use crate::fault::{FailedCall, Fault};
use crate::files;
use crate::stream_plan::StreamPlan;
use fathom_workload::Pvsync2 as Options;
use fathom_workload::ops::{Place, derive_seed};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::io::{Errno, ReadWriteFlags};
use std::io::{IoSlice, IoSliceMut};
use std::path::Path;

/// A flag of these calls.
struct Flag {
    bits: u32,
    name: &'static str,
    /// The workload key that requests it.
    key: &'static str,
    /// The Linux version it came with.
    since: &'static str,
    /// What it needs besides the kernel.
    needs: &'static str,
    /// Whether it applies to reads, too.
    reads: bool,
    asked: fn(&Options) -> bool,
}

const HIPRI: u32 = 0x01;
const NOWAIT: u32 = 0x08;
pub(super) const ATOMIC: u32 = 0x40;

/// The available flags, with the numbers of linux/fs.h, because C libraries lack the newest.
const FLAGS: [Flag; 6] = [
    Flag {
        bits: HIPRI,
        name: "RWF_HIPRI",
        key: "high_priority",
        since: "4.6",
        needs: "direct = true and a device with polled queues",
        reads: true,
        asked: |o| o.high_priority,
    },
    Flag {
        bits: 0x02,
        name: "RWF_DSYNC",
        key: "dsync",
        since: "4.7",
        needs: "a file system that can make writes durable",
        reads: false,
        asked: |o| o.dsync,
    },
    Flag {
        bits: 0x04,
        name: "RWF_SYNC",
        key: "sync",
        since: "4.7",
        needs: "a file system that can make writes durable",
        reads: false,
        asked: |o| o.sync,
    },
    Flag {
        bits: NOWAIT,
        name: "RWF_NOWAIT",
        key: "nowait",
        since: "4.14",
        needs: "a file system that can tell whether a call would wait; many can for buffered reads and for direct = true, few for buffered writes",
        reads: true,
        asked: |o| o.nowait,
    },
    Flag {
        bits: 0x80,
        name: "RWF_DONTCACHE",
        key: "uncached",
        since: "6.14",
        needs: "a file system that supports it, and direct = false",
        reads: true,
        asked: |o| o.uncached,
    },
    Flag {
        bits: ATOMIC,
        name: "RWF_ATOMIC",
        key: "atomic",
        since: "6.11",
        needs: "direct = true, a file system and a device with atomic writes, and records of a power of two bytes within the device's limits",
        reads: false,
        asked: |o| o.atomic,
    },
];

/// APPEND with NOAPPEND (Linux 6.9): refused as contradictory, but only after unknown flags are refused as unknown.
const CONTRADICTION: u32 = 0x10 | 0x20;

fn flags(bits: u32) -> ReadWriteFlags {
    ReadWriteFlags::from_bits_retain(bits)
}

/// Flag bits for reads or for writes.
fn bits_of(options: &Options, write: bool) -> u32 {
    FLAGS.iter().filter(|f| (f.asked)(options) && (write || f.reads)).fold(0, |bits, f| bits | f.bits)
}

pub(crate) struct Pvsync2 {
    file: OwnedFd,
    read: ReadWriteFlags,
    write: ReadWriteFlags,
    /// Which calls poll, if only a share of those with the flag do.
    polls: Option<Chance>,
}

/// Purpose of the derived seed (priorities have 201).
const FOR_POLLING: u64 = 202;

/// A percentage of the calls, drawn one by one.
struct Chance {
    percent: u8,
    seed: u64,
    drawn: u64,
}

impl Chance {
    fn falls(&mut self) -> bool {
        self.drawn += 1;
        let bits = derive_seed(self.seed, Place::default(), self.drawn) >> 11;
        bits as f64 / (1u64 << 53) as f64 * 100.0 < f64::from(self.percent)
    }
}

impl Pvsync2 {
    /// Flags of the next call.
    #[inline(always)]
    fn flags_of_this(&mut self, all: ReadWriteFlags) -> ReadWriteFlags {
        let polls = self.polls.as_mut().is_none_or(Chance::falls);
        if polls { all } else { all.difference(flags(HIPRI)) }
    }

    #[inline(always)]
    fn read_once(&self, offset: u64, buffer: &mut [u8], flags: ReadWriteFlags) -> Result<usize, Errno> {
        rustix::io::preadv2(&self.file, &mut [IoSliceMut::new(buffer)], offset, flags)
    }

    #[inline(always)]
    fn write_once(&self, offset: u64, buffer: &[u8], flags: ReadWriteFlags) -> Result<usize, Errno> {
        rustix::io::pwritev2(&self.file, &[IoSlice::new(buffer)], offset, flags)
    }

    /// Completes a short or interrupted read, or one that would have blocked; without NOWAIT, as waiting is now required. Cold.
    #[cold]
    fn read_rest(&self, offset: u64, buffer: &mut [u8], mut moved: usize) -> Result<(), Fault> {
        let patient = self.read.difference(flags(NOWAIT));
        while moved < buffer.len() {
            let at = offset + moved as u64;
            match self.read_once(at, &mut buffer[moved..], patient) {
                Ok(0) => {
                    return Err(Fault::short(FailedCall::Read, offset, buffer.len() as u64, moved as u64));
                }
                Ok(n) => moved += n,
                Err(Errno::INTR) => {}
                Err(e) => return Err(self.read_fault(e, at, &mut buffer[moved..])),
            }
        }
        Ok(())
    }

    /// As `read_rest`. Cold.
    #[cold]
    fn write_rest(&self, offset: u64, buffer: &[u8], mut moved: usize) -> Result<(), Fault> {
        let patient = self.write.difference(flags(NOWAIT));
        while moved < buffer.len() {
            let at = offset + moved as u64;
            match self.write_once(at, &buffer[moved..], patient) {
                Ok(0) => {
                    return Err(Fault::short(FailedCall::Write, offset, buffer.len() as u64, moved as u64));
                }
                Ok(n) => moved += n,
                Err(Errno::INTR) => {}
                Err(e) if moved == 0 => return Err(self.write_fault(e, at, buffer)),
                Err(e) => {
                    return Err(Fault {
                        expected: buffer.len() as u64,
                        found: moved as u64,
                        ..Fault::of(FailedCall::Write, e, at)
                    });
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn read_failed(&self, error: Errno, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        match error {
            Errno::INTR | Errno::AGAIN => self.read_rest(offset, buffer, 0),
            error => Err(self.read_fault(error, offset, buffer)),
        }
    }

    #[cold]
    fn write_failed(&self, error: Errno, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        match error {
            Errno::INTR | Errno::AGAIN => self.write_rest(offset, buffer, 0),
            error => Err(self.write_fault(error, offset, buffer)),
        }
    }

    fn read_fault(&self, error: Errno, offset: u64, buffer: &mut [u8]) -> Fault {
        match culprit(error, self.read, |flags| self.read_once(offset, buffer, flags)) {
            0 => Fault::of(FailedCall::Read, error, offset),
            bits => Fault { found: bits.into(), ..Fault::of(FailedCall::FlaggedRead, error, offset) },
        }
    }

    fn write_fault(&self, error: Errno, offset: u64, buffer: &[u8]) -> Fault {
        match culprit(error, self.write, |flags| self.write_once(offset, buffer, flags)) {
            0 => Fault::of(FailedCall::Write, error, offset),
            bits => Fault { found: bits.into(), ..Fault::of(FailedCall::FlaggedWrite, error, offset) },
        }
    }
}

/// The flags that cause an error: one of them, all if each alone is accepted, none if the call fails without any.
fn culprit(
    error: Errno,
    asked: ReadWriteFlags,
    mut attempt: impl FnMut(ReadWriteFlags) -> Result<usize, Errno>,
) -> u32 {
    if !matches!(error, Errno::OPNOTSUPP | Errno::INVAL) || asked.is_empty() {
        return 0;
    }
    let mut refused = |bits| attempt(flags(bits)).err() == Some(error);
    if refused(0) {
        return 0;
    }
    let alone = FLAGS.iter().filter(|f| asked.bits() & f.bits != 0).find(|f| refused(f.bits));
    alone.map_or(asked.bits(), |f| f.bits)
}

/// Advice for refused flags; begins with a full stop, as it follows the kernel's message.
pub(crate) fn advice(bits: u64) -> String {
    let mut blamed = FLAGS.iter().filter(|f| u64::from(f.bits) & bits != 0);
    match (blamed.next(), blamed.next()) {
        (Some(f), None) => {
            format!(
                ". The kernel or the file system refuses {} ({} = true): it needs Linux {}, and {}",
                f.name, f.key, f.since, f.needs
            )
        }
        (Some(_), Some(_)) => {
            let names: Vec<&str> =
                FLAGS.iter().filter(|f| u64::from(f.bits) & bits != 0).map(|f| f.key).collect();
            format!(
                ". The kernel or the file system refuses these flags of pvsync2 together: {}",
                names.join(", ")
            )
        }
        _ => String::new(),
    }
}

impl Handle for Pvsync2 {
    fn open(plan: &StreamPlan) -> Result<Self, Fault> {
        let options = match plan.stream.backend {
            fathom_workload::Backend::Pvsync2(options) => options,
            _ => Options::default(),
        };
        Ok(Self {
            file: files::open(plan)?,
            read: flags(bits_of(&options, false)),
            write: flags(bits_of(&options, true)),
            polls: options.high_priority_percent.filter(|_| options.high_priority).map(|percent| Chance {
                percent,
                seed: derive_seed(plan.stream.seed_or(plan.seed), plan.place, FOR_POLLING),
                drawn: 0,
            }),
        })
    }

    fn read_now(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        Backend::read(self, offset, buffer)
    }

    fn close(self) -> Result<(), Fault> {
        files::close(self.file)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }
}

impl Backend for Pvsync2 {
    #[inline(always)]
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        let flags = self.flags_of_this(self.read);
        match self.read_once(offset, buffer, flags) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(n) => self.read_rest(offset, buffer, n),
            Err(e) => self.read_failed(e, offset, buffer),
        }
    }

    #[inline(always)]
    fn write(&mut self, offset: u64, buffer: &[u8]) -> Result<(), Fault> {
        let flags = self.flags_of_this(self.write);
        match self.write_once(offset, buffer, flags) {
            Ok(n) if n == buffer.len() => Ok(()),
            Ok(n) => self.write_rest(offset, buffer, n),
            Err(e) => self.write_failed(e, offset, buffer),
        }
    }
}

/// Whether the kernel knows a flag, independent of file systems. Kernels before 6.9 do not know the contradictory pair and give
/// no answer; there the flag itself is tried on a file in memory. It refuses NOWAIT, which only a trial on the user's files can
/// judge.
fn known(file: BorrowedFd<'_>, flag: &Flag) -> bool {
    if flag.bits == NOWAIT {
        return true;
    }
    let write = |bits| rustix::io::pwritev2(file, &[IoSlice::new(&[0])], 0, flags(bits)).err();
    write(flag.bits | CONTRADICTION) == Some(Errno::INVAL)
        || !matches!(write(flag.bits), Some(Errno::OPNOTSUPP | Errno::INVAL))
}

/// Why the running kernel does not support the options.
pub(super) fn refusal(options: &Options) -> Option<String> {
    let asked = bits_of(options, true);
    if asked == 0 {
        return None;
    }
    let file = super::capability::file_in_memory().ok()?;
    let unknown = FLAGS.iter().find(|f| f.bits & asked != 0 && !known(file.as_fd(), f))?;
    Some(format!(
        "this kernel does not know {} ({} = true): it needs Linux {}",
        unknown.name, unknown.key, unknown.since
    ))
}

/// Why the file system does not support the options, as far as trying shows: writing or reading without waiting, and atomic
/// writes. `None` if no probe file could be created.
pub(super) fn refusal_of_files(
    options: &Options,
    direct: bool,
    moves: Moves,
    directory: &Path,
) -> Option<String> {
    let asked: Vec<&Flag> =
        FLAGS.iter().filter(|f| f.bits & (NOWAIT | ATOMIC) != 0 && (f.asked)(options)).collect();
    if asked.is_empty() {
        return None;
    }
    let probe_file = ProbeFile::of(directory)?;
    let opened = if direct { Some(probe_file.direct().ok()?) } else { None };
    let file = opened.as_ref().map_or(probe_file.file(), |f| f.as_fd());
    asked.into_iter().find_map(|flag| {
        let (what, error) = refused(file, flag, Moves { reads: moves.reads && flag.reads, ..moves })?;
        // Other errors concern this record, not the file system.
        (error == Errno::OPNOTSUPP).then(|| {
            format!(
                "{what} with {} ({} = true) are refused for {} ({}); it needs Linux {}, and {}",
                flag.name,
                flag.key,
                probe_file.name(),
                super::capability::text(error),
                flag.since,
                flag.needs
            )
        })
    })
}

/// What works with this back-end on the probed file.
pub(super) fn probe(probe_file: &ProbeFile) -> Vec<Capability> {
    let found = |feature, state, sentence| Capability { backend: "pvsync2", feature, state, sentence };
    let mut buffer = [0];
    let plain = rustix::io::preadv2(
        probe_file.file(),
        &mut [IoSliceMut::new(&mut buffer)],
        0,
        ReadWriteFlags::empty(),
    );
    let mut all = vec![match plain {
        Ok(_) => found("preadv2, pwritev2", State::Works, "the calls themselves, without a flag".into()),
        Err(e) => found(
            "preadv2, pwritev2",
            State::Lacks,
            format!("preadv2 is refused: {}", super::capability::text(e)),
        ),
    }];
    if plain.is_ok() {
        let memory = super::capability::file_in_memory().ok();
        for f in &FLAGS {
            for (feature, reads, writes) in rows(f) {
                let (state, sentence) = probe_flag(probe_file, memory.as_ref(), f, reads, writes);
                all.push(found(feature, state, format!("{} = true: {sentence}", f.key)));
            }
        }
    }
    all
}

/// Table rows for a flag: a name, and whether reads and writes are tried. Some file systems support NOWAIT for reads only; other
/// flags work for both or for none.
fn rows(flag: &Flag) -> Vec<(&'static str, bool, bool)> {
    match flag.bits {
        NOWAIT => vec![("RWF_NOWAIT reads", true, false), ("RWF_NOWAIT writes", false, true)],
        _ => vec![(flag.name, flag.reads, true)],
    }
}

fn probe_flag(
    probe_file: &ProbeFile,
    memory: Option<&OwnedFd>,
    flag: &Flag,
    reads: bool,
    writes: bool,
) -> (State, String) {
    if memory.is_some_and(|m| !known(m.as_fd(), flag)) {
        return (State::Lacks, format!("this kernel does not know it; it came with Linux {}", flag.since));
    }
    let direct = flag.bits == ATOMIC;
    let file = match if direct { probe_file.direct().map(Some) } else { Ok(None) } {
        Ok(file) => file,
        Err(e) => {
            return (
                State::Unknown,
                format!(
                    "needs direct = true, which does not work with {} ({})",
                    probe_file.name(),
                    super::capability::text(e)
                ),
            );
        }
    };
    let file = file.as_ref().map_or(probe_file.file(), |f| f.as_fd());
    let Some((what, error)) = refused(file, flag, Moves { reads, writes }) else {
        return works(probe_file, flag);
    };
    let sentence = format!(
        "{what} with it are refused for {} ({}); it needs {}",
        probe_file.name(),
        super::capability::text(error),
        flag.needs
    );
    (State::Lacks, sentence)
}

/// Direction of a transfer.
#[derive(Clone, Copy)]
pub(super) struct Moves {
    pub reads: bool,
    pub writes: bool,
}

/// "reads" or "writes", whichever is refused with a flag, and the error.
fn refused(file: BorrowedFd<'_>, flag: &Flag, moves: Moves) -> Option<(&'static str, Errno)> {
    let mut page = super::capability::Page::zeroed();
    // EAGAIN is what NOWAIT is for.
    let refusal = |tried: Result<usize, Errno>| tried.err().filter(|&e| e != Errno::AGAIN);
    if moves.reads
        && let Some(e) =
            refusal(rustix::io::preadv2(file, &mut [IoSliceMut::new(&mut page.0)], 0, flags(flag.bits)))
    {
        return Some(("reads", e));
    }
    if !moves.writes {
        return None;
    }
    let written = rustix::io::pwritev2(file, &[IoSlice::new(&page.0)], 0, flags(flag.bits));
    refusal(written).map(|e| ("writes", e))
}

/// The state of a flag that the kernel accepts; it accepts but ignores polling where the device does not support it.
fn works(probe_file: &ProbeFile, flag: &Flag) -> (State, String) {
    if flag.key == "high_priority" {
        return super::capability::polling_state(probe_file, "the calls take it");
    }
    (State::Works, format!("taken for {}", probe_file.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_not_given_the_flags_of_writes() {
        let all = Options {
            high_priority: true,
            high_priority_percent: None,
            dsync: true,
            sync: true,
            nowait: true,
            uncached: true,
            atomic: true,
        };
        assert_eq!(bits_of(&all, true), 0xcf);
        assert_eq!(bits_of(&all, false), 0x89);
        assert_eq!(bits_of(&Options::default(), true), 0);
    }

    #[test]
    fn so_many_percent_of_the_calls_poll() {
        let mut backend = Pvsync2 {
            file: crate::backend::capability::file_in_memory().unwrap(),
            read: flags(HIPRI | NOWAIT),
            write: flags(HIPRI),
            polls: None,
        };
        let mut polled = |polls: Option<u8>| {
            backend.polls = polls.map(|percent| Chance { percent, seed: 5, drawn: 0 });
            let asked = backend.read;
            (0..10_000)
                .map(|_| backend.flags_of_this(asked).bits())
                .inspect(|bits| assert!(bits & !HIPRI == NOWAIT, "others stay"))
                .filter(|bits| bits & HIPRI != 0)
                .count()
        };
        assert_eq!([polled(None), polled(Some(100)), polled(Some(0))], [10_000, 10_000, 0]);
        assert!(polled(Some(30)).abs_diff(3000) < 200);
    }

    #[test]
    fn the_flag_to_blame_is_found() {
        let asked = flags(0x02 | 0x08 | 0x80);
        let refuses = |bad: u32| {
            move |f: ReadWriteFlags| if f.bits() & bad != 0 { Err(Errno::OPNOTSUPP) } else { Ok(1) }
        };
        assert_eq!(culprit(Errno::OPNOTSUPP, asked, refuses(0x80)), 0x80);
        assert_eq!(culprit(Errno::OPNOTSUPP, asked, |_| Err(Errno::OPNOTSUPP)), 0, "it is not the flags");
        assert_eq!(culprit(Errno::NOSPC, asked, refuses(0x80)), 0, "another matter");
        let together = |f: ReadWriteFlags| if f.bits() == 0x8a { Err(Errno::INVAL) } else { Ok(1) };
        assert_eq!(culprit(Errno::INVAL, asked, together), 0x8a);
    }

    #[test]
    fn the_advice_names_flag_key_and_kernel() {
        let text = advice(0x80);
        for part in ["RWF_DONTCACHE", "uncached = true", "Linux 6.14"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(advice(0x82).ends_with("together: dsync, uncached"), "{}", advice(0x82));
    }

    #[test]
    fn a_flag_that_no_kernel_has_is_unknown() {
        let file = crate::backend::capability::file_in_memory().unwrap();
        let flag = |bits| Flag { bits, ..FLAGS[0] };
        assert!(!known(file.as_fd(), &flag(1 << 30)));
        assert!(known(file.as_fd(), &flag(0x02)), "every kernel that has preadv2's flags has RWF_DSYNC");
    }
}
