//! Streams of passes, for both tables and throughput blocks. Which steps are timed differs between the two and is set by their
//! planners.

use super::options::{IozoneOptions, Locking, Msync, Sharing, SyncFlag};
use super::pass::Pass;
use super::telemetry::Telemetry;
use fathom_workload::{
    Access, Backend, Burst, Bytes, Data, Direction, Duration, Lock, MapFlush, Open, OpenSync, Pace, Pick,
    Rate, Stream, SyncCall, Think, Timed, Uring, Verify,
};

/// Seed array of IOzone's random order (MT19937-64), the same for every run and stream.
pub(super) const RANDOM_KEY: [u64; 4] = [0x12345, 0x23456, 0x34567, 0x45678];
/// -m.
const BUFFER_AREA: Bytes = Bytes(16 << 20);
/// -K.
const DISTURB_EVERY: u64 = 100;
/// Markers are at the start of each page of the buffer.
pub(super) const MARK_STRIDE: u64 = 4096;

/// Telemetry lists and other planner input.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    pub write: Option<&'a Telemetry>,
    pub read: Option<&'a Telemetry>,
}

impl<'a> Lists<'a> {
    /// The list that a pass follows, if any.
    pub fn of(self, pass: &Pass) -> Option<&'a Telemetry> {
        match pass.test {
            0 => self.write,
            1 => self.read,
            _ => None,
        }
    }
}

/// The stream of a pass on `fileset`.
pub(super) fn stream(
    o: &IozoneOptions,
    pass: &Pass,
    fileset: &str,
    file_kb: u64,
    record_kb: u64,
    lists: Lists<'_>,
) -> Stream {
    let direction = if pass.reads { Direction::Read } else { Direction::Write };
    // The test without a list uses -r, or 4 kB limited by the file size.
    let beside_list = o.record_kb.first().copied().unwrap_or_else(|| file_kb.clamp(1, 4));
    let record = Bytes(if record_kb == 0 { beside_list } else { record_kb } << 10);
    let list = lists.of(pass);
    let mut s = Stream::new(fileset, direction, record);
    s.pick = if o.sharing == Sharing::Shared { Pick::One(0) } else { Pick::ByWorker };
    // A list contains its own offsets.
    s.length = list.is_none().then_some(Bytes(file_kb << 10));
    s.access = access(o, pass, list);
    s.backend = backend(o, pass);
    if matches!(s.backend, Backend::Uring(_)) {
        s.queue_depth = o.async_depth.unwrap_or(1);
    }
    // C library streams are opened by fopen, which takes none of these flags, and IOzone does not lock them.
    let stdio = matches!(pass.test, 6 | 7);
    s.open = Open { direct: o.direct && !stdio, sync: open_sync(o, pass), ..Open::default() };
    s.timed = Timed { fsync: o.fsync_timed, close: o.close_timed, ..Timed::default() };
    // IOzone syncs once more after a timed fsync. Nothing is dirty then, so this sync is omitted and the record keeps
    // the time of the fsync that counted.
    s.sync_after = !(o.close_timed || o.fsync_timed || pass.test == 7);
    s.data = data(o);
    s.verify = if pass.reads { verify(o, lists) } else { Verify::No };
    s.pace = pace(o);
    s.buffer_area = if o.multi_buffer { BUFFER_AREA } else { Bytes(0) };
    s.purge = Bytes(if o.purge { o.cache_kb.unwrap_or(1024).saturating_mul(1024) } else { 0 });
    s.lock = match o.locking {
        _ if stdio => Lock::No,
        Locking::No => Lock::No,
        Locking::File => Lock::File,
        Locking::Record => Lock::Record,
    };
    s.disturb_every = if o.disturb && pass.test == 1 { DISTURB_EVERY } else { 0 };
    s.log_operations = o.operation_logs;
    s
}

fn access(o: &IozoneOptions, pass: &Pass, list: Option<&Telemetry>) -> Access {
    if let Some(list) = list {
        return Access::Listed(list.operations.clone());
    }
    match pass.test {
        2 => Access::Shuffled { key: RANDOM_KEY.to_vec() },
        8 if !o.mix_sequential => Access::Shuffled { key: RANDOM_KEY.to_vec() },
        3 => Access::Backward,
        4 => Access::Same(0),
        5 => Access::Strided { step: o.stride.unwrap_or(17) },
        _ => Access::Sequential,
    }
}

fn backend(o: &IozoneOptions, pass: &Pass) -> Backend {
    match pass.test {
        6 | 7 => Backend::Stdio { buffer: Bytes(0) },
        9 | 10 => Backend::Psync(SyncCall::Positioned),
        _ if o.mmap => {
            let flush = match o.msync {
                Msync::No => MapFlush::No,
                Msync::Async => MapFlush::Async,
                Msync::Sync => MapFlush::Sync,
            };
            Backend::Mmap {
                flush,
                flush_every: 1,
                populate: false,
                huge_pages: false,
                advice: o.madvise.map(linux_advice),
            }
        }
        _ if o.async_depth.is_some() => {
            // Registered buffers count towards the locked-memory limit, which is low for ordinary users.
            Backend::Uring(Uring { registered_buffers: Some(false), ..Uring::default() })
        }
        _ => Backend::Psync(SyncCall::Streamed),
    }
}

/// IOzone's 3 is dontneed and 4 is willneed; the kernel's numbers are reversed.
fn linux_advice(number: u8) -> u8 {
    match number {
        3 => 4,
        4 => 3,
        same => same,
    }
}

pub(super) fn open_sync(o: &IozoneOptions, pass: &Pass) -> OpenSync {
    match o.sync {
        _ if matches!(pass.test, 6 | 7) => OpenSync::No,
        SyncFlag::Sync | SyncFlag::Dsync if pass.reads => OpenSync::No,
        SyncFlag::No => OpenSync::No,
        SyncFlag::Sync => OpenSync::Sync,
        SyncFlag::Dsync => OpenSync::Dsync,
        SyncFlag::Rsync => OpenSync::Rsync,
    }
}

/// Data that is written, and expected when it is read.
pub(super) fn data(o: &IozoneOptions) -> Data {
    if o.diagnose {
        return Data::Positioned { tag: 1 };
    }
    if let Some(duplicate_percent) = o.duplicate_percent {
        let within_percent = o.within_percent.unwrap_or(0);
        return Data::Reducible {
            compressible_percent: 0,
            duplicate_percent,
            within_percent,
            distinct: 0,
            filler: Vec::new(),
        };
    }
    match o.verify_byte {
        Some(byte) if byte != 0 => Data::Byte(byte),
        _ => Data::Marked { byte: o.mark(), stride: Bytes(MARK_STRIDE), length: Bytes(8) },
    }
}

fn verify(o: &IozoneOptions, lists: Lists<'_>) -> Verify {
    if o.diagnose {
        return Verify::Full;
    }
    // Markers are at page multiples of each *buffer*; a list with other offsets places them elsewhere in the file.
    let aligned = [lists.write, lists.read].iter().flatten().all(|l| l.aligned(MARK_STRIDE));
    if o.existing_only || o.duplicate_percent.is_some() || !aligned {
        return Verify::No;
    }
    match o.verify_byte {
        Some(_) => Verify::Full,
        None => Verify::Marks,
    }
}

fn pace(o: &IozoneOptions) -> Pace {
    Pace {
        think: (o.think_ms > 0).then(|| Think {
            time: Duration(o.think_ms.saturating_mul(1_000_000)),
            counted: o.think_counted,
            ..Think::default()
        }),
        rate: o.rate_ops.map(|n| Rate {
            operations_per_s: n as f64,
            arrivals: fathom_workload::Gaps::Even,
            per: fathom_workload::Bytes(0),
            common: false,
        }),
        burst: o.burst.map(|b| Burst {
            bytes: Bytes(b.kb << 10),
            pause: Duration(b.pause_ms.saturating_mul(1_000_000)),
        }),
        ..Pace::default()
    }
}
