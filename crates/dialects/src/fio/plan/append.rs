//! Appending to files (`file_append`): a job begins at the end of its file as found, and makes a single pass, as observed
//! in fio 3.33.

use super::super::number::Size;
use super::super::settings::Settings;
use super::super::{FoundPath, UsageError};
use super::job_files::JobFiles;
use super::multi_file::MultiFile;
use super::{FilePart, Job, Notes, errors, parts};
use fathom_workload::{Access, Amount, Bytes, Record, Stream};

const WORD: &str = "file_append";

/// Whether a job appends to its file.
pub fn asked(s: &Settings) -> bool {
    s.on(WORD, false)
}

/// The part of a clone with one file, `found` or newly created: it begins at the end of the file.
pub fn part(
    s: &Settings,
    stream: &Stream,
    (clone, shared): (u32, bool),
    found: Option<FoundPath>,
    notes: &mut Notes,
) -> Result<FilePart, UsageError> {
    let mut part = behind(s, stream, (clone, shared), (found, 0, 1), notes)?;
    part.amount = amount(s, stream, &part, 1)?;
    Ok(part)
}

/// The parts of a clone with several files, which share its `size` and end at the same byte.
pub fn several(
    s: &Settings,
    stream: &Stream,
    (clone, shared): (u32, bool),
    found: &[Option<FoundPath>],
    notes: &mut Notes,
) -> Result<MultiFile, UsageError> {
    let count = found.len().max(1) as u64;
    let each = (0..)
        .zip(found)
        .map(|(file, found)| behind(s, stream, (clone, shared), (*found, file, count), notes));
    let each = each.collect::<Result<Vec<FilePart>, UsageError>>()?;
    let alike = each.windows(2).all(|pair| pair[0] == pair[1]);
    let Some(one) = each.first().copied().filter(|_| alike && !shared) else {
        return Err(s
            .wrong(
                WORD,
                format!("{WORD}: several files must have the same size, and clones must not share them"),
            )
            .hint("instead: one file for each clone (numjobs)"));
    };
    let mut part = one;
    part.length = one.length.saturating_mul(count);
    part.size = part.length;
    part.amount = amount(s, stream, &part, count)?;
    Ok(MultiFile { part, sizes: vec![one.file; each.len()] })
}

/// One of the `count` files of a clone, `found` or newly created.
fn behind(
    s: &Settings,
    stream: &Stream,
    (clone, shared): (u32, bool),
    (found, file, count): (Option<FoundPath>, u32, u64),
    notes: &mut Notes,
) -> Result<FilePart, UsageError> {
    // The null engine counts from offset 0.
    if stream.backend.has_files() && !stream.backend.moves_data() {
        return Err(
            s.wrong(WORD, format!("{WORD}: the job's ioengine moves no data, so nothing can be appended"))
        );
    }
    if found.is_some_and(|f| f.device) {
        return Err(s
            .wrong(WORD, format!("{WORD}: nothing can be written past the end of a device"))
            .hint("leave it out, or a file"));
    }
    for name in ["offset", "offset_increment", "loops", "time_based"] {
        if s.last(name).is_some() {
            notes.say(format!(
                "{name} has no effect with {WORD}, as in fio: one pass is done, from the end of the file"
            ));
        }
    }
    let there = found.map_or(0, |f| f.bytes);
    let whole = parts::file_size(s, stream, (clone, file))?;
    let size = match s.size("size")?.filter(|size| *size != Size::Bytes(0) && *size != Size::Percent(0)) {
        None => None,
        Some(Size::Bytes(bytes)) => Some(bytes / count),
        Some(Size::Percent(_)) => {
            return Err(s
                .wrong(
                    "size",
                    format!("{WORD}: size is a percentage, but past the end of the file there is nothing to take it of"),
                )
                .hint("give the size in bytes"));
        }
    };
    // Clones that share a file append one after another, except where nothing is laid out beforehand.
    let before = match (size, s.word("fallocate")) {
        _ if !shared => 0,
        (_, Some("none" | "0")) => 0,
        (Some(bytes), _) => u64::from(clone).checked_mul(bytes).ok_or_else(|| parts::too_far(s))?,
        (None, _) if clone > 0 => whole.unwrap_or(0).saturating_sub(there),
        (None, _) => 0,
    };
    let start = there.checked_add(before).ok_or_else(|| parts::too_far(s))?;
    let length = match (size, whole) {
        (Some(bytes), None) => bytes,
        (size, Some(whole)) => size.unwrap_or(u64::MAX).min(whole.saturating_sub(start)),
        (None, None) => return Err(parts::no_size(s)),
    };
    if length == 0 {
        return Err(s
            .wrong(WORD, format!("{WORD}: clone {clone} begins at byte {start}, and filesize says that its file ends before"))
            .fio(format!("{}: you need to specify valid offset=\n", s.job))
            .hint("size is what is written past the end"));
    }
    let file = start.checked_add(length).ok_or_else(|| parts::too_far(s))?;
    Ok(FilePart { start, length, file, real: file, size: length, amount: Amount::Pass })
}

/// One pass over this many files, or less.
fn amount(s: &Settings, stream: &Stream, part: &FilePart, files: u64) -> Result<Amount, UsageError> {
    // When appending, only the largest block size is drawn.
    let block = stream.record.largest().0;
    let each = part.length / files;
    if block > each {
        return Err(s.wrong(
            s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("size"),
            format!("a block of {block} bytes is larger than the job's part of each file, {each} bytes"),
        ));
    }
    if matches!(stream.access, Access::ZonesInTurn { .. } | Access::Striped { .. }) {
        return Err(s
            .wrong(WORD, format!("{WORD} is not supported with rw=...:N or zonemode=strided"))
            .hint("leave one of the two out"));
    }
    let asked = s.size("io_size")?.map(|size| size.of(part.size));
    let least = if stream.access.draws_each() {
        // Without a map, a pass ends with the block that reaches the size.
        Some(asked.unwrap_or(part.length))
    } else {
        asked.filter(|bytes| *bytes < part.length)
    };
    match (errors::most(s)?, &stream.record) {
        (None, _) => Ok(least.map_or(Amount::Pass, |bytes| Amount::Bytes(Bytes(bytes.max(1))))),
        (Some(n), Record::Fixed(block)) => {
            let block = block.0.max(1);
            let all = match least {
                None => each / block * files,
                Some(bytes) if stream.access.draws_each() => bytes.div_ceil(block),
                Some(bytes) => bytes / block,
            };
            Ok(Amount::Operations(n.min(all).max(1)))
        }
        // It may end sooner; that is determined later.
        (Some(_), _) => Ok(Amount::Bytes(Bytes(least.unwrap_or(part.length)))),
    }
}

/// Checks that the end of the file is known before the run: no earlier job may work on the file.
pub fn check(s: &Settings, laid: &JobFiles, replays: bool, before: &[Job]) -> Result<(), UsageError> {
    if !asked(s) {
        return Ok(());
    }
    if replays {
        return Err(s.wrong(WORD, format!("{WORD}: a trace says where it works")).hint("leave it out"));
    }
    let same = |job: &&Job| {
        job.files.iter().flatten().any(|path| laid.files.iter().flatten().any(|own| own == path))
    };
    match before.iter().find(same) {
        None => Ok(()),
        Some(other) => Err(s
            .wrong(
                WORD,
                format!(
                    "{WORD}: job {} works on the file before, so that its end is not known yet",
                    other.name
                ),
            )
            .hint("two runs, one after the other")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Amount, Bytes};

    const MIB: u64 = 1 << 20;

    /// First byte, length and file size of each clone.
    fn parts(args: &str) -> Vec<(u64, u64, u64)> {
        let plan = planned(&format!("--name=a --bs=4k --rw=write --file_append=1 {args}"));
        plan.jobs[0].parts.iter().map(|part| (part.start, part.length, part.file)).collect()
    }

    #[test]
    fn it_begins_where_the_file_ends() {
        // From iologs of fio 3.33 and the files it left.
        let k = |kib: u64| kib << 10;
        for (args, wanted) in [
            ("--filename=there --size=16k", vec![(MIB, k(16), MIB + k(16))]),
            ("--filename=there --size=16k --offset=4k", vec![(MIB, k(16), MIB + k(16))]),
            ("--filename=there --size=16k --filesize=2m", vec![(MIB, k(16), MIB + k(16))]),
            ("--filename=there --filesize=1034k", vec![(MIB, k(10), MIB + k(10))]),
            ("--size=16k", vec![(0, k(16), k(16))]),
            (
                "--filename=there --size=16k --numjobs=2",
                vec![(MIB, k(16), MIB + k(16)), (MIB + k(16), k(16), MIB + k(32))],
            ),
            (
                "--filename=there --size=16k --numjobs=2 --fallocate=none",
                vec![(MIB, k(16), MIB + k(16)), (MIB, k(16), MIB + k(16))],
            ),
            ("--size=16k --numjobs=2", vec![(0, k(16), k(16)), (0, k(16), k(16))]),
        ] {
            assert_eq!(parts(args), wanted, "{args}");
        }
    }

    #[test]
    fn without_a_map_the_block_that_reaches_the_size_is_done() {
        // Operations of fio 3.42: 34, 17, 100.
        for (args, bytes) in [("", 100), ("--io_size=50k", 50), ("--io_size=300k", 300)] {
            let job = "--name=a --bs=3k --size=100k --rw=randwrite --norandommap --file_append=1";
            let plan = planned(&format!("{job} {args}"));
            assert_eq!(plan.jobs[0].parts[0].amount, Amount::Bytes(Bytes(bytes << 10)), "{args}");
        }
    }

    #[test]
    fn several_files_share_the_size() {
        // Operations of fio 3.42.
        let k = |kib: u64| kib << 10;
        for (args, part, amount) in [
            ("--size=64k", (0, k(64), k(32)), Amount::Pass),
            ("--size=66k", (0, k(66), k(33)), Amount::Pass),
            ("--size=64k --filesize=24k", (0, k(48), k(24)), Amount::Pass),
            ("--filesize=32k --loops=2", (0, k(64), k(32)), Amount::Pass),
            ("--size=64k --io_size=32k", (0, k(64), k(32)), Amount::Bytes(Bytes(k(32)))),
            ("--size=64k --number_ios=5", (0, k(64), k(32)), Amount::Operations(5)),
            ("--size=66k --number_ios=99", (0, k(66), k(33)), Amount::Operations(16)),
        ] {
            assert_eq!(parts(&format!("--nrfiles=2 {args}")), [part], "{args}");
            let plan = planned(&format!("--name=a --bs=4k --rw=write --file_append=1 --nrfiles=2 {args}"));
            let job = &plan.jobs[0];
            assert_eq!((job.parts[0].amount, &job.sizes[0][..]), (amount, &[part.2; 2][..]), "{args}");
        }
        let clones = parts("--nrfiles=2 --size=64k --numjobs=2");
        assert_eq!(clones, [(0, k(64), k(32)); 2]);
    }

    #[test]
    fn one_pass_is_done_at_most() {
        let amount = |args: &str| {
            let plan = planned(&format!(
                "--name=a --bs=4k --rw=write --filename=there --size=16k --file_append=1 {args}"
            ));
            plan.jobs[0].parts[0].amount
        };
        assert_eq!(amount(""), Amount::Pass);
        assert_eq!(amount("--loops=3"), Amount::Pass);
        assert_eq!(amount("--time_based --runtime=1"), Amount::Pass);
        assert_eq!(amount("--io_size=32k"), Amount::Pass);
        assert_eq!(amount("--io_size=8k"), Amount::Bytes(Bytes(8192)));
        assert_eq!(amount("--number_ios=3"), Amount::Operations(3));
        assert_eq!(amount("--number_ios=30"), Amount::Operations(4));
        let plan = planned("--name=a --size=1m --rw=write --file_append=1 --loops=2");
        assert!(plan.notes.iter().any(|note| note.contains("loops has no effect")), "{:?}", plan.notes);
    }

    #[test]
    fn an_end_that_is_not_known_is_refused() {
        for (args, what) in [
            ("--filename=/dev/disk --rw=read", "past the end of a device"),
            ("--filename=there --rw=write", "how large its files are is not said"),
            ("--filename=there --rw=write --size=50%", "there is nothing to take it of"),
            ("--filename=there --rw=write --filesize=64k", "ends before"),
            ("--size=64k --rw=write --filename=there:new", "must have the same size"),
            ("--size=64k --rw=write --filename=a:b --numjobs=2", "clones must not share them"),
            ("--size=64k --rw=write --ioengine=falloc", "moves no data"),
            ("--read_iolog=trace.log", "a trace says where it works"),
        ] {
            let wrong = refused(&format!("--name=a --bs=4k --file_append=1 {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
        let wrong =
            refused("--filename=f --size=64k --rw=write --name=a --name=b --stonewall --file_append=1");
        assert!(wrong.contains("job a works on the file before"), "{wrong}");
    }
}
