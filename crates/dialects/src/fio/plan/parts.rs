//! Sizes of a job's files and the part that each clone works on: `size`, `filesize`, `offset`, `offset_increment`, and the reference
//! of percentages in each.

use super::super::number::Size;
use super::super::settings::Settings;
use super::super::{FoundPath, UsageError};
use super::{Notes, amounts};
use fathom_workload::ops::{Place, derive_seed};
use fathom_workload::{Access, Amount, Bytes, Stream};

/// Assumed file size for a job that writes until the device is full.
pub(super) const NO_END: u64 = 1 << 50;

/// The part of a file that a clone works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// First byte.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
    /// Required size of the file.
    pub file: u64,
    /// Resulting size of the file: an existing one may be larger.
    pub real: u64,
    /// Bytes that `size` requests over all files of the clone: the reference of a percentage in `io_size`.
    pub size: u64,
    /// Amount of I/O in the part.
    pub amount: Amount,
}

/// The part of a clone with one file, `found` or newly created.
pub fn of_one_file(
    s: &Settings,
    stream: &Stream,
    clone: u32,
    found: Option<FoundPath>,
    notes: &mut Notes,
) -> Result<FilePart, UsageError> {
    let null = !stream.backend.has_files();
    let there = found.map_or(0, |f| f.bytes);
    let each = file_size(s, stream, (clone, 0))?;
    let size = s.size("size")?.filter(|size| *size != Size::Bytes(0) && *size != Size::Percent(0));
    let whole = match (size, null) {
        (Some(Size::Bytes(bytes)), true) => bytes,
        _ => there,
    };
    let start = start(s, stream, clone, whole, notes)?;
    let after = |bytes: u64| match bytes.checked_sub(start) {
        Some(length) if length > 0 => Ok(length),
        _ => Err(s
            .wrong(
                if s.last("offset").is_some() { "offset" } else { "offset_increment" },
                format!("clone {clone} begins at byte {start}, and its file has {bytes} bytes"),
            )
            .fio(format!("{}: you need to specify valid offset=\n", s.job))
            .hint("an offset lies inside of the file")),
    };
    let (length, file, size) = match (size, each) {
        (Some(Size::Bytes(bytes)), None) => {
            let Some(end) = start.checked_add(bytes) else { return Err(too_far(s)) };
            (bytes, end, bytes)
        }
        // With filesize, the whole file is used, and size is the amount of I/O.
        (Some(Size::Bytes(bytes)), Some(each)) => {
            let whole = after(each)?;
            let length = if bytes < whole { whole_or_start(s, stream, whole, bytes)? } else { whole };
            (length, each, bytes.min(each))
        }
        (Some(share), Some(each)) => {
            let length = share.of(each).min(after(each)?);
            (length, start.saturating_add(length), share.of(each))
        }
        (Some(share), None) if there > 0 => (share.of(there).min(after(there)?), there, share.of(there)),
        (Some(_), None) => return Err(no_share(s)),
        (None, Some(each)) => (after(each)?, each, each),
        (None, None) if stream.until_full && !found.is_some_and(|f| f.device || f.bottomless) => {
            (NO_END, start.checked_add(NO_END).ok_or_else(|| too_far(s))?, NO_END)
        }
        (None, None) if there > 0 => (after(there)?, there, there),
        (None, None) => return Err(no_size(s)),
    };
    if length == 0 {
        return Err(s.wrong("size", "nothing is left to work on: size and offset leave 0 bytes"));
    }
    // Zones continue to the end of the file.
    let zones = matches!(stream.access, Access::ZonesInTurn { .. });
    let whole = there.max(file).saturating_sub(start);
    let length =
        if zones && !null && whole > length { whole_or_start(s, stream, whole, length)? } else { length };
    let real = if null { start.saturating_add(length) } else { there.max(file) };
    Ok(FilePart { start, length, file, real, size, amount: Amount::Pass })
}

/// Bytes worked on if each loop does `size` of them: all, or only the start if each loop starts over.
fn whole_or_start(s: &Settings, stream: &Stream, whole: u64, size: u64) -> Result<u64, UsageError> {
    let loops = s.number("loops")?.unwrap_or(1) > 1 && !s.on("time_based", false);
    match loops && amounts::queues(s, stream) {
        false => Ok(whole),
        true if stream.access == Access::Sequential => Ok(size),
        true => Err(s
            .wrong("loops", "loops: with this order and engine, repeating the job in a file larger than size is not supported")
            .hint("instead: a size as large as the file, or one loop")),
    }
}

/// Error: no size is given.
pub(super) fn no_size(s: &Settings) -> UsageError {
    s.wrong("size", "how large its files are is not said, and they are not there")
        .fio(format!("{}: you need to specify size=\nfio: pid=0, err=22/file:filesetup.c, func=total_file_size, error=Invalid argument\n", s.job))
        .hint("size=1g, for example")
}

/// Error: a percentage of nothing.
pub(super) fn no_share(s: &Settings) -> UsageError {
    s.wrong("size", "a percentage is one of the file's size, and the file is not there")
        .hint("give the size in bytes")
}

/// Error: the sum exceeds the largest file.
pub(super) fn too_far(s: &Settings) -> UsageError {
    let name = s.last_of(&["size", "filesize"]).unwrap_or("offset");
    s.wrong(name, "sizes and offsets together are larger than 2^64 - 1")
}

/// `filesize` of a clone's file. A range is drawn from, with the same result in every run so that files left by one run fit the next.
pub(super) fn file_size(
    s: &Settings,
    stream: &Stream,
    (clone, file): (u32, u32),
) -> Result<Option<u64>, UsageError> {
    let Some((least, most)) = s.range("filesize")?.filter(|(_, most)| *most > 0) else { return Ok(None) };
    if least == most {
        return Ok(Some(most));
    }
    // All clones share listed files.
    let worker = if s.last_of(&["filename", "opendir"]).is_some() { 0 } else { clone };
    let place = Place { phase: file, worker, repetition: 0 };
    let drawn =
        least + derive_seed(s.number("randseed")?.unwrap_or(0), place, 0) % (most - least).saturating_add(1);
    let unit = stream.record.unit().0.max(1);
    // fio also rounds down to whole blocks.
    Ok(Some((drawn / unit * unit).max(least)))
}

/// First byte of a clone: `offset` plus `offset_increment` times the clone's number. Percentages refer to `whole`.
fn first_byte(s: &Settings, clone: u32, whole: u64) -> Result<u64, UsageError> {
    let bytes = |size: Option<Size>| size.map_or(0, |size| size.of(whole));
    let offset = bytes(s.size("offset")?);
    let steps = bytes(s.size("offset_increment")?).checked_mul(u64::from(clone));
    let sum = steps.and_then(|steps| steps.checked_add(offset));
    sum.ok_or_else(|| s.wrong("offset_increment", "offset and increments add up to more than 2^64 - 1"))
}

/// The first byte: offset plus increments. Percentages are of the actual file size; then the sum is rounded up to the smallest
/// block size, or to offset_align.
pub(super) fn start(
    s: &Settings,
    stream: &Stream,
    clone: u32,
    whole: u64,
    notes: &mut Notes,
) -> Result<u64, UsageError> {
    let (offset, step) = (s.size("offset")?, s.size("offset_increment")?);
    let too_far = || s.wrong("offset_increment", "offset and increments add up to more than 2^64 - 1");
    let sum = first_byte(s, clone, whole)?;
    let align = s.number("offset_align")?.unwrap_or(0);
    let shares = [offset, step].into_iter().flatten().any(|size| matches!(size, Size::Percent(_)));
    if !shares {
        return Ok(sum);
    }
    if whole == 0 {
        notes.say(format!(
            "job {}: a percentage in offset is one of the file's size; the file is not there, so that it begins at byte {sum}, as in fio",
            s.job
        ));
    }
    let unit = match align {
        0 => stream.record.unit().0.max(1),
        given => given,
    };
    sum.checked_next_multiple_of(unit).ok_or_else(too_far)
}

impl FilePart {
    /// Bytes of I/O requested: `io_size`, or `size` if that is less than the part.
    pub fn asked(&self, s: &Settings) -> Result<Option<u64>, UsageError> {
        let size = Some(self.size).filter(|size| *size < self.length);
        Ok(s.size("io_size")?.map(|io_size| io_size.of(self.size)).or(size))
    }

    /// Applies the part to a stream. If there are several files, each is used to its end.
    pub fn place(&self, stream: &mut Stream, several: bool) {
        // Lists contain their own offsets.
        if !matches!(stream.access, fathom_workload::Access::Listed(_)) {
            // Calls by name are one operation, regardless of the offset.
            let by_name = stream.backend.is_by_name();
            let length = if by_name { stream.record.largest() } else { Bytes(self.length) };
            stream.start = Bytes(if by_name { 0 } else { self.start });
            stream.length = (by_name || !several).then_some(length);
        }
        stream.amount = self.amount;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::Amount;

    /// First byte and length of each clone's part.
    fn parts(args: &str) -> Vec<(u64, u64)> {
        let plan = planned(&format!("--name=a --bs=4k {args}"));
        plan.jobs[0].parts.iter().map(|part| (part.start, part.length)).collect()
    }

    #[test]
    fn shares_are_of_the_file_as_it_is() {
        // fio 3.33 on a file of 1 MiB, from the offsets of its iolog.
        const MIB: u64 = 1 << 20;
        for (args, start, length) in [
            ("--offset=33%", 348_160, MIB - 348_160),
            ("--offset=33% --size=50%", 348_160, MIB / 2),
            ("--offset=33% --size=33%", 348_160, MIB * 33 / 100),
            ("--offset=33% --size=64k", 348_160, 65536),
            ("--offset=4097 --size=64k", 4097, 65536),
            ("--offset=4097", 4097, MIB - 4097),
            ("--offset=512k --size=80%", MIB / 2, MIB / 2),
            ("--offset=50% --size=1m", MIB / 2, MIB),
            ("--offset=33% --offset_align=8k --size=64k", 352_256, 65536),
            ("--offset=33% --filesize=512k", 348_160, MIB / 2 - 348_160),
            ("--size=50% --filesize=512k", 0, MIB / 4),
            ("--filesize=256k --size=64k --offset=32k", 32768, 7 << 15),
        ] {
            assert_eq!(parts(&format!("--filename=there {args}")), [(start, length)], "{args}");
        }
        assert_eq!(parts("--filename=there --bsrange=1k-16k --offset=33%")[0].0, 346_112);
        // A percentage of a missing file is 0; the null engine uses the requested size.
        assert_eq!(parts("--size=256k --offset=25%"), [(0, 262_144)]);
        assert_eq!(parts("--ioengine=null --size=1m --offset=25%"), [(262_144, MIB)]);
        assert_eq!(parts("--filesize=64k --size=256k"), [(0, 65536)]);
    }

    #[test]
    fn a_file_that_is_larger_than_size_is_worked_on_to_its_end() {
        // From iologs of fio 3.42: bytes in the part, and bytes of I/O.
        let zones = "--zonemode=strided --zonesize=8k --zoneskip=8k";
        for (args, length, done) in [
            ("--filesize=64k --size=16k".to_owned(), 64, 16),
            ("--filesize=64k --size=16k --rw=randwrite".to_owned(), 64, 16),
            ("--filesize=64k --size=16k --offset=8k --rw=randread".to_owned(), 56, 16),
            ("--filesize=64k --size=16k --loops=3".to_owned(), 64, 48),
            ("--filesize=64k --size=16k --loops=3 --ioengine=libaio".to_owned(), 16, 48),
            ("--filesize=64k --size=16k --io_size=80k --rw=randread".to_owned(), 64, 80),
            ("--filesize=64k --size=16k --number_ios=2 --loops=3".to_owned(), 64, 24),
            ("--filesize=64k --size=50% --rw=randread".to_owned(), 32, 32),
            ("--filesize=64k --size=36k --rw=read:4k".to_owned(), 64, 36),
            (format!("--filename=there --size=64k {zones}"), 1024, 64),
            (format!("--filename=there --size=36k --offset=16k {zones}"), 1008, 36),
            (format!("--filename=there --size=64k --loops=2 --rw=randread {zones}"), 1024, 128),
            (format!("--filename=there --size=64k --io_size=96k {zones}"), 1024, 96),
        ] {
            let plan = planned(&format!("--name=a --bs=4k {args}"));
            let part = plan.jobs[0].parts[0];
            let bytes = match part.amount {
                Amount::Pass => part.length,
                Amount::Passes(n) => n * part.length,
                Amount::Operations(n) => n << 12,
                Amount::Bytes(bytes) => bytes.0,
                other => panic!("{args}: {other:?}"),
            };
            assert_eq!((part.length >> 10, bytes >> 10), (length, done), "{args}");
        }
        for args in ["--filesize=64k --rw=randread", &format!("--filename=there {zones}")] {
            let why = refused(&format!("--name=a --size=16k --ioengine=libaio --loops=2 {args}"));
            assert!(why.contains("repeating the job"), "{args}: {why}");
        }
        let why = refused(&format!("--name=a --size=32k --filename=there:x {zones}"));
        assert!(why.contains("come out even"), "{why}");
    }

    #[test]
    fn an_offset_at_the_end_is_refused() {
        assert!(
            refused("--name=a --filename=there --offset=100%").contains("you need to specify valid offset=")
        );
        assert!(refused("--name=a --size=1m --filesize=512k --offset=768k").contains("valid offset"));
    }

    #[test]
    fn increments_are_added_before_they_are_rounded() {
        const MIB: u64 = 1 << 20;
        let shared = |args: &str| parts(&format!("--filename=there --numjobs=3 {args}"));
        let first = |args: &str| shared(args).iter().map(|p| p.0).collect::<Vec<_>>();
        assert_eq!(first("--offset_increment=33% --size=33%"), [0, 348_160, 692_224]);
        assert_eq!(first("--offset=10% --offset_increment=10% --size=10%"), [106_496, 212_992, 315_392]);
        assert_eq!(first("--offset=1000 --offset_increment=10% --size=4k"), [4096, 106_496, 212_992]);
        assert_eq!(first("--offset_increment=5000 --size=64k"), [0, 5000, 10_000]);
        // Each continues to the end of the file.
        let ends = shared("--offset_increment=10%");
        assert!(ends.iter().all(|(start, length)| start + length == MIB), "{ends:?}");
        assert_eq!(first("--offset_increment=256k --size=512k").len(), 3);
        let plan = planned("--name=a --filename=there --numjobs=3 --offset_increment=512k --size=512k");
        assert_eq!(
            plan.workload.filesets[0].size,
            fathom_workload::Sizing::Fixed(fathom_workload::Bytes(3 << 19))
        );
    }

    #[test]
    fn numbers_without_end_are_errors() {
        for args in [
            "--name=a --size=16383p --offset=16383p",
            "--name=a --numjobs=4096 --size=4k --offset_increment=16383p",
            "--name=a --nrfiles=2 --filesize=16383p",
            "--name=a --size=4k --bs=16383p --offset=33% --filename=there --offset_align=16383p",
        ] {
            assert!(!refused(args).is_empty(), "{args}");
        }
    }

    #[test]
    fn thousands_of_clones_are_planned_at_once() {
        let began = std::time::Instant::now();
        for args in ["--size=4k", "--filename=f --size=4k", "--filename=f --size=4k --offset_increment=4k"] {
            let plan = planned(&format!("--name=a --numjobs=4096 {args}"));
            assert_eq!(plan.workload.phases[0].groups.len(), 4096, "{args}");
        }
        // A cubic algorithm took minutes.
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }
}
