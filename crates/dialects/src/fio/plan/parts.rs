//! How large the files of a job are, and which part of them each clone works on: `size`, `filesize`, `offset`, `offset_increment` and what
//! a percentage of each is a share of.

use super::super::number::Size;
use super::super::settings::Settings;
use super::super::{Found, Wrong};
use super::Notes;
use fathom_workload::{Amount, Bytes, Stream};

/// The part of a file that a clone works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first byte.
    pub start: u64,
    /// Its length.
    pub length: u64,
    /// Size that the file must have.
    pub file: u64,
    /// Bytes of all files of the clone that `size` asks for: what a percentage in `io_size` is a share of.
    pub size: u64,
    /// How much is done there.
    pub amount: Amount,
}

/// The part of a clone that has one file, which is `found`, or is made.
pub fn of_one_file(
    s: &Settings,
    stream: &Stream,
    clone: u32,
    found: Option<Found>,
    notes: &mut Notes,
) -> Result<Part, Wrong> {
    let null = stream.backend == fathom_workload::Backend::Null;
    let there = found.map_or(0, |f| f.bytes);
    let each = s.number("filesize")?.filter(|bytes| *bytes > 0);
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
            let Some(end) = start.checked_add(bytes) else {
                return Err(s.wrong("size", "offset and size together are larger than 2^64 - 1"));
            };
            (bytes, end, bytes)
        }
        (Some(Size::Bytes(bytes)), Some(each)) => (bytes.min(after(each)?), each, bytes.min(each)),
        (Some(share), Some(each)) => {
            let length = share.of(each).min(after(each)?);
            (length, start.saturating_add(length), share.of(each))
        }
        (Some(share), None) if there > 0 => (share.of(there).min(after(there)?), there, share.of(there)),
        (Some(_), None) => {
            return Err(s
                .wrong("size", "a percentage is one of the file's size, and the file is not there")
                .hint("give the size in bytes"));
        }
        (None, Some(each)) => (after(each)?, each, each),
        (None, None) if there > 0 => (after(there)?, there, there),
        (None, None) => return Err(no_size(s)),
    };
    if length == 0 {
        return Err(s.wrong("size", "nothing is left to work on: size and offset leave 0 bytes"));
    }
    Ok(Part { start, length, file, size, amount: Amount::Pass })
}

/// Nobody says how large the files are.
fn no_size(s: &Settings) -> Wrong {
    s.wrong("size", "how large its files are is not said, and they are not there")
        .fio(format!("{}: you need to specify size=\nfio: pid=0, err=22/file:filesetup.c, func=total_file_size, error=Invalid argument\n", s.job))
        .hint("size=1g, for example")
}

/// The first byte: the offset and so many increments. Percentages are of the file as it is; where there is one, the sum is rounded up to
/// the least block size, or to what offset_align says.
fn start(s: &Settings, stream: &Stream, clone: u32, whole: u64, notes: &mut Notes) -> Result<u64, Wrong> {
    let (offset, step) = (s.size("offset")?, s.size("offset_increment")?);
    let too_far = || s.wrong("offset_increment", "offset and increments add up to more than 2^64 - 1");
    let bytes = |size: Option<Size>| size.map_or(0, |size| size.of(whole));
    let sum = bytes(step)
        .checked_mul(u64::from(clone))
        .and_then(|steps| steps.checked_add(bytes(offset)))
        .ok_or_else(too_far)?;
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

/// The part of a clone that has several files, all of one size, and works on all of each.
pub fn of_several_files(s: &Settings, stream: &Stream, found: &[Option<Found>]) -> Result<Part, Wrong> {
    let count = found.len().max(1) as u64;
    let share = |name| matches!(s.size(name), Ok(Some(size)) if size != Size::Bytes(0));
    if let Some(name) = ["offset", "offset_increment"].into_iter().find(|name| share(name)) {
        return Err(s.wrong(name, "an offset belongs to jobs with one file for each clone"));
    }
    let each = s.number("filesize")?.filter(|bytes| *bytes > 0);
    let size = s.size("size")?.filter(|size| *size != Size::Bytes(0) && *size != Size::Percent(0));
    let there = || -> Result<u64, Wrong> {
        let Some(first) = found.first().copied().flatten() else { return Err(no_size(s)) };
        match found.iter().all(|f| f.is_some_and(|f| f.bytes == first.bytes)) {
            true if first.bytes > 0 => Ok(first.bytes),
            _ => Err(s
                .wrong(
                    "filename",
                    "its files differ in size, or some are missing, and no size says how large they are",
                )
                .hint("size=1g, for example: it is divided among them")),
        }
    };
    let (file, length) = match (size, each) {
        (Some(Size::Bytes(bytes)), None) => (bytes / count, bytes / count),
        (Some(Size::Bytes(bytes)), Some(each)) => (each, each.min(bytes / count)),
        (Some(share), Some(each)) => (each, share.of(each)),
        (Some(share), None) => (there()?, share.of(there()?)),
        (None, Some(each)) => (each, each),
        (None, None) => (there()?, there()?),
    };
    if length == 0 {
        return Err(s.wrong("size", format!("{count} files share it, and each has 0 bytes")));
    }
    if length != file {
        return Err(s
            .wrong(
                "filesize",
                format!("of each of several files all {file} bytes are worked on, not {length}"),
            )
            .hint("leave filesize out, or a percentage; io_size says how much is moved"));
    }
    if length % stream.record.unit().0.max(1) != 0 {
        return Err(s
            .wrong("bs", "several files need a size each that is a multiple of the block size")
            .hint(format!("each has {length} bytes")));
    }
    let Some(all) = length.checked_mul(count) else {
        return Err(s.wrong("filesize", "its files together have more than 2^64 - 1 bytes"));
    };
    Ok(Part { start: 0, length: all, file, size: all, amount: Amount::Pass })
}

impl Part {
    /// Puts a stream there. Of several files all is worked on.
    pub fn place(&self, stream: &mut Stream, several: bool) {
        // What is listed says itself where it is.
        if !several && !matches!(stream.access, fathom_workload::Access::Listed(_)) {
            stream.start = Bytes(self.start);
            stream.length = Some(Bytes(self.length));
        }
        stream.amount = self.amount;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};

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
            ("--filesize=256k --size=64k --offset=32k", 32768, 65536),
        ] {
            assert_eq!(parts(&format!("--filename=there {args}")), [(start, length)], "{args}");
        }
        assert_eq!(parts("--filename=there --bsrange=1k-16k --offset=33%")[0].0, 346_112);
        // Of a file that is not there a share is nothing; the engine null has the size that is asked for.
        assert_eq!(parts("--size=256k --offset=25%"), [(0, 262_144)]);
        assert_eq!(parts("--ioengine=null --size=1m --offset=25%"), [(262_144, MIB)]);
        assert_eq!(parts("--filesize=64k --size=256k"), [(0, 65536)]);
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
        // Each goes on to the end of the file.
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
            "--name=a --nrfiles=2 --file_service_type=sequential --filesize=16383p",
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
        // Cubic time took minutes.
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }
}
