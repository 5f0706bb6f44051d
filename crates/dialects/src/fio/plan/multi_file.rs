//! Clones with several files: their sizes, parts, amounts, and turns.

use super::super::number::{self, Size};
use super::super::settings::Settings;
use super::super::{FoundPath, UsageError};
use super::stretch::Stretch;
use super::{FilePart, Notes, amounts, errors, parts, verify_options};
use fathom_workload::{Access, Amount, Backend, Bytes, Direction, Pick, Record, Stream, Turns};

/// The files of a clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiFile {
    /// Combined part: first byte of each file, total length, and size of the largest.
    pub part: FilePart,
    /// Required size of each file in bytes; everything after the first byte is used.
    pub sizes: Vec<u64>,
}

/// The files of a clone, `found` or newly created.
pub fn of(
    s: &Settings,
    stream: &Stream,
    clone: u32,
    found: &[Option<FoundPath>],
    notes: &mut Notes,
) -> Result<MultiFile, UsageError> {
    let count = found.len().max(1) as u64;
    let share = |name| matches!(s.size(name), Ok(Some(Size::Percent(1..))));
    let bytes_of = |found: &Option<FoundPath>| found.map_or(0, |f| f.bytes);
    let whole = found.first().map_or(0, bytes_of);
    let alike = found.iter().all(|one| bytes_of(one) == whole);
    if let Some(name) = ["offset", "offset_increment"].into_iter().find(|name| !alike && share(name)) {
        return Err(s
            .wrong(
                name,
                format!("{name}: a share of each of several files of different sizes is not supported"),
            )
            .hint("instead: bytes, or one file for each clone"));
    }
    let start = parts::start(s, stream, clone, whole, notes)?;
    let size = s.size("size")?.filter(|size| *size != Size::Bytes(0) && *size != Size::Percent(0));
    let mut sizes = Vec::with_capacity(found.len());
    let mut whole = 0u64;
    for (file, found) in (0..).zip(found) {
        let there = bytes_of(found);
        let each = parts::file_size(s, stream, (clone, file))?;
        let bytes = match (size, each) {
            (Some(Size::Bytes(bytes)), None) => start.checked_add(bytes / count),
            (Some(Size::Bytes(_)) | None, Some(each)) => Some(each),
            (Some(share), Some(each)) => start.checked_add(share.of(each).min(each.saturating_sub(start))),
            (Some(share), None) if there > 0 => {
                start.checked_add(share.of(there).min(there.saturating_sub(start)))
            }
            (None, None) if there > 0 => Some(there),
            (Some(_), None) => return Err(parts::no_share(s)),
            (None, None) => return Err(parts::no_size(s)),
        };
        let Some(bytes) = bytes else { return Err(parts::too_far(s)) };
        let length = bytes.saturating_sub(start);
        let stretch = Stretch { start, length, real: there.max(bytes) };
        if stretch.uneven(stream, 1).is_some() || stretch.begins_elsewhere(stream) {
            return Err(s
                .wrong("nrfiles", format!("what is left out does not come out even in {length} bytes of file {} of {count}, which is not supported for several", file + 1))
                .hint("instead: whole files whose size is a multiple of a block or zone and the gap behind it, or one file"));
        }
        let Some(sum) = whole.checked_add(length) else { return Err(parts::too_far(s)) };
        whole = sum;
        sizes.push(bytes);
    }
    let block = stream.least_region().0;
    let short = sizes.iter().position(|end| end.saturating_sub(start) < block);
    // If none holds a block, nothing is done.
    let none = sizes.iter().all(|end| end.saturating_sub(start) < stream.record.unit().0);
    if let Some(file) = short.filter(|_| !none) {
        let name = s.last_of(&["size", "filesize"]).unwrap_or("bs");
        let length = sizes[file].saturating_sub(start);
        let file = file + 1;
        return Err(s
            .wrong(
                name,
                format!("file {file} of {count} has {length} bytes to work on, which is less than a block of {block} bytes"),
            )
            .hint("size is divided among the files; filesize is that of each"));
    }
    // If each file has a size, the total size is the amount of I/O.
    let most = match (size, s.last("filesize")) {
        (Some(Size::Bytes(bytes)), Some(_)) if bytes < whole => Some(bytes),
        _ => None,
    };
    let file = sizes.iter().copied().max().unwrap_or(0);
    let amount = amount(s, stream, (whole, most), &|block| {
        sizes.iter().map(|bytes| (bytes - start) / block).fold(0, u64::saturating_add)
    })?;
    let size = most.unwrap_or(whole);
    Ok(MultiFile { part: FilePart { start, length: whole, file, real: file, size, amount }, sizes })
}

/// The amount for files with `whole` bytes in use, at most `most` of them in a pass.
fn amount(
    s: &Settings,
    stream: &Stream,
    (whole, most): (u64, Option<u64>),
    operations: &dyn Fn(u64) -> u64,
) -> Result<Amount, UsageError> {
    let loops = s.number("loops")?.unwrap_or(1).max(1);
    let io_size = s.size("io_size")?.map(|size| size.of(most.unwrap_or(whole)));
    let limit = errors::most(s)?;
    let endless = s.on("time_based", false) && s.time("runtime")? > 0;
    if most.is_some() && io_size.is_none() && (endless || loops > 1) {
        return Err(s
            .wrong("size", "several files that are larger than size are worked on once: with loops or time_based that is not supported")
            .hint("instead: filesize alone, or size alone"));
    }
    if endless {
        return Ok(Amount::Endless);
    }
    let pass = most.unwrap_or(whole);
    let blocks = operations(stream.record.unit().0.max(1));
    let bytes =
        io_size.map(|io_size| amounts::bytes(s, stream, io_size, (pass, blocks, None), loops)).or(most);
    let bytes = bytes.or_else(|| (loops == 1 && checks_the_rest(s, stream, pass, blocks)).then_some(pass));
    let by_bytes = amounts::counted_by_bytes(stream, pass, blocks, loops);
    match (limit, bytes, &stream.record) {
        (Some(limit), bytes, Record::Fixed(block)) => {
            let block = block.0.max(1);
            let all =
                bytes.map_or_else(|| operations(block).saturating_mul(loops), |bytes| bytes.div_ceil(block));
            Ok(Amount::Operations(amounts::operations(limit, all, loops)))
        }
        // It may end sooner; that is determined later.
        (Some(_), bytes, _) => {
            let all = bytes.unwrap_or_else(|| pass.saturating_mul(loops));
            Ok(Amount::Bytes(Bytes(all.max(1))))
        }
        (None, Some(bytes), _) => Ok(Amount::Bytes(Bytes(bytes.max(1)))),
        (None, None, _) if by_bytes.is_some() => Ok(Amount::Bytes(Bytes(by_bytes.unwrap_or(0)))),
        (None, None, _) if loops == 1 => Ok(Amount::Pass),
        (None, None, _) => Ok(Amount::Passes(loops)),
    }
}

/// Whether a job that only reads and verifies starts over if at least a block remains over all files, as in fio 3.42.
fn checks_the_rest(s: &Settings, stream: &Stream, pass: u64, blocks: u64) -> bool {
    let Record::Fixed(block) = stream.record else { return false };
    stream.direction == Direction::Read
        && verify_options::family(s) != "0"
        && s.on("do_verify", true)
        && pass.saturating_sub(blocks.saturating_mul(block.0)) >= block.0
}

/// Makes a stream alternate between its files (file_service_type, openfiles).
pub fn take_turns(
    s: &Settings,
    stream: &mut Stream,
    files: usize,
    notes: &mut Notes,
) -> Result<(), UsageError> {
    const WORD: &str = "file_service_type";
    // The options have no effect on a single file.
    let (word, open) = (s.word(WORD).unwrap_or("roundrobin").to_owned(), s.count("openfiles", 0, 0)?);
    if files < 2 {
        return Ok(());
    }
    let wrong = |why: String| s.wrong(WORD, format!("{WORD}={word}: {why}"));
    let parameter = s.after_colon(WORD).map(str::to_owned);
    let number = |default: Option<f64>| -> Result<f64, UsageError> {
        match (&parameter, default) {
            (Some(text), _) => number::float(text).map_err(&wrong),
            (None, Some(default)) => Ok(default),
            (None, None) => Err(wrong("its parameter is missing".into()).hint(format!("{WORD}=normal:20"))),
        }
    };
    let order = match word.as_str() {
        "random" => Access::Uniform,
        "zipf" => Access::Zipf { theta: number(Some(1.1))? },
        "pareto" => Access::Pareto { h: number(Some(0.2))? },
        "normal" | "gauss" => Access::Normal { deviation_percent: number(None)? },
        _ => Access::Sequential,
    };
    let operations = match (word.as_str(), &parameter) {
        ("sequential", _) => 0,
        ("roundrobin" | "random", Some(text)) => match text.trim().parse::<u64>() {
            Ok(n) if n > 0 => n,
            _ => return Err(wrong(format!("{text:?} is not a number of operations above 0"))),
        },
        _ => 1,
    };
    let turns = Turns { order, operations, open: 0 };
    if open > 0 && (open as usize) < files {
        if !turns.drop_out() {
            return Err(s
                .wrong(
                    "openfiles",
                    format!(
                        "openfiles={open}: with {WORD}={word} no file is ever done, so that none makes room"
                    ),
                )
                .hint("leave it out"));
        }
        if !stream.backend.is_by_name() {
            notes.say(format!(
                "openfiles={open}: {open} files take turns at a time, as in fio; all of them are opened before the start"
            ));
        }
    }
    stream.pick = Pick::All;
    stream.turns = Some(Turns { open: if (open as usize) < files { open } else { 0 }, ..turns });
    if matches!(stream.backend, Backend::Mmap { .. }) && files > MOST_MAPPED {
        return Err(s
            .wrong(
                "nrfiles",
                format!("{files} mapped files of one worker: at most {MOST_MAPPED} are expected"),
            )
            .hint("instead: ioengine=psync"));
    }
    Ok(())
}

/// The kernel limits a process to 65530 mappings.
const MOST_MAPPED: usize = 60_000;

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Access, Amount, Bytes, Pick, Program, Sizing, Stream, Turns, Workload};

    fn stream(workload: &Workload) -> Stream {
        match &workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a flow"),
        }
    }

    fn of(args: &str) -> (Vec<u64>, u64, Amount) {
        let plan = planned(&format!("--name=a --bs=4k {args}"));
        let stream = stream(&plan.workload);
        assert_eq!((stream.pick, stream.length), (Pick::All, None), "{args}");
        let sizes = match &plan.workload.filesets[0].size {
            Sizing::Fixed(Bytes(bytes)) => vec![*bytes; plan.jobs[0].files[0].len()],
            Sizing::Each(sizes) => sizes.iter().map(|bytes| bytes.0).collect(),
            Sizing::Variable(name) => panic!("{name}"),
        };
        (sizes, stream.start.0, stream.amount)
    }

    #[test]
    fn sizes_are_those_of_fio() {
        // From iologs of fio 3.33 and the files it left.
        const K: u64 = 1024;
        let bytes = |kib| Amount::Bytes(Bytes(kib * K));
        for (args, sizes, start, amount) in [
            ("--nrfiles=3 --size=48k --rw=write", [16, 16, 16].as_slice(), 0, Amount::Pass),
            ("--nrfiles=3 --filesize=16k --size=24k --rw=write", &[16, 16, 16], 0, bytes(24)),
            ("--nrfiles=3 --filesize=16k --size=100k --rw=write", &[16, 16, 16], 0, Amount::Pass),
            ("--nrfiles=3 --filesize=16k --rw=write", &[16, 16, 16], 0, Amount::Pass),
            ("--nrfiles=3 --size=48k --offset=4k --rw=write", &[20, 20, 20], 4, Amount::Pass),
            ("--nrfiles=2 --filesize=16k --offset=4k --rw=write", &[16, 16], 4, Amount::Pass),
            ("--nrfiles=2 --size=16k --io_size=12k --rw=write", &[8, 8], 0, bytes(12)),
            ("--nrfiles=2 --size=16k --number_ios=3 --rw=write", &[8, 8], 0, Amount::Operations(3)),
            ("--nrfiles=2 --size=16k --loops=2 --rw=write", &[8, 8], 0, Amount::Passes(2)),
            ("--nrfiles=2 --size=16k --runtime=1 --time_based --rw=write", &[8, 8], 0, Amount::Endless),
            ("--filename=there:/dev/disk --rw=read", &[1024, 1 << 20], 0, Amount::Pass),
            ("--filename=there:/dev/disk --size=50% --rw=read", &[512, 1 << 19], 0, Amount::Pass),
            ("--filename=there:/dev/disk --size=64k --rw=read", &[32, 32], 0, Amount::Pass),
            ("--opendir=dir --rw=read", &[1024, 1 << 20], 0, Amount::Pass),
        ] {
            let sizes: Vec<u64> = sizes.iter().map(|kib| kib * K).collect();
            assert_eq!(of(args), (sizes, start * K, amount), "{args}");
        }
    }

    #[test]
    fn a_job_that_only_checks_begins_again_for_what_is_left_of_all_files() {
        // fio 3.42: 512 blocks of 4 KiB in three files that hold 170 each; 511 with number_ios=511; 510 in the other cases.
        let amount = |args: &str| of(&format!("--size=2m --nrfiles=3 --rw=randread {args}")).2;
        let all = Amount::Bytes(Bytes((2 << 20) - 2));
        assert_eq!(amount("--verify=crc32c"), all);
        assert_eq!(amount("--verify=null --rw=read"), all);
        assert_eq!(amount("--verify=crc32c --number_ios=511"), Amount::Operations(511));
        for args in ["", "--verify=crc32c --do_verify=0", "--verify=crc32c --size=1m --bs=16k --nrfiles=7"] {
            assert_eq!(amount(args), Amount::Pass, "{args}");
        }
        assert_eq!(amount("--verify=crc32c --loops=2"), Amount::Passes(2));
        assert_eq!(amount("--verify=crc32c --rw=randwrite"), Amount::Pass);
    }

    #[test]
    fn a_range_of_sizes_is_drawn_once_for_all() {
        let (sizes, ..) = of("--nrfiles=40 --filesize=4k-40k --rw=write");
        assert!(sizes.iter().all(|bytes| (4096..=40960).contains(bytes) && bytes % 4096 == 0), "{sizes:?}");
        assert!(sizes.iter().any(|bytes| *bytes != sizes[0]), "{sizes:?}");
        assert_eq!(of("--nrfiles=40 --filesize=4k-40k --rw=read").0, sizes);
    }

    #[test]
    fn files_take_turns() {
        let turns = |args: &str| {
            let plan = planned(&format!("--name=a --size=64k --nrfiles=4 --rw=write {args}"));
            stream(&plan.workload).turns.unwrap()
        };
        let wanted = |order, operations, open| Turns { order, operations, open };
        assert_eq!(turns(""), wanted(Access::Sequential, 1, 0));
        assert_eq!(turns("--file_service_type=roundrobin:8"), wanted(Access::Sequential, 8, 0));
        assert_eq!(turns("--file_service_type=sequential"), wanted(Access::Sequential, 0, 0));
        assert_eq!(turns("--file_service_type=random:2"), wanted(Access::Uniform, 2, 0));
        assert_eq!(turns("--file_service_type=zipf:1.3"), wanted(Access::Zipf { theta: 1.3 }, 1, 0));
        assert_eq!(turns("--openfiles=2"), wanted(Access::Sequential, 1, 2));
        assert_eq!(turns("--openfiles=4"), wanted(Access::Sequential, 1, 0));
        assert!(stream(&planned("--name=a --size=64k --file_service_type=random").workload).turns.is_none());
    }

    #[test]
    fn listed_files_are_shared_by_clones_and_divided() {
        let plan = planned("--name=a --filename=b:c --size=64k --numjobs=2 --rw=write");
        assert_eq!(plan.workload.filesets.len(), 1);
        assert_eq!(plan.workload.filesets[0].size, Sizing::Fixed(Bytes(32768)));
        assert_eq!(plan.workload.phases[0].groups.len(), 2);
        let own = planned("--name=a --nrfiles=2 --size=64k --numjobs=3 --rw=write");
        assert_eq!(own.workload.filesets.len(), 3);
    }

    #[test]
    fn files_may_be_smaller_than_the_largest_block() {
        for args in ["--rw=write", "--rw=randread", "--rw=write --verify=md5"] {
            let plan = planned(&format!("--name=a --nrfiles=8 --size=64k --bsrange=4k-16k {args}"));
            assert!(plan.workload.check().is_ok(), "{args}");
        }
    }

    #[test]
    fn what_several_files_cannot_have_is_refused() {
        for (args, what) in [
            (
                "--nrfiles=4 --size=8k --bsrange=1k-4k --rw=randread --norandommap",
                "has 2048 bytes to work on",
            ),
            ("--filename=there:gone --size=64k --offset=10%", "a share of each of several files"),
            ("--nrfiles=4", "you need to specify size="),
            ("--nrfiles=4 --size=50%", "a percentage is one of the file's size"),
            ("--nrfiles=4 --filesize=16k --size=32k --loops=2", "with loops or time_based"),
            ("--nrfiles=4 --size=64k --file_service_type=normal", "its parameter is missing"),
            ("--nrfiles=4 --size=64k --file_service_type=random:0", "not a number of operations above 0"),
            ("--nrfiles=4 --size=64k --file_service_type=zipf:1.1 --openfiles=2", "none makes room"),
            ("--nrfiles=2 --size=72k --rw=write:4k", "does not come out even"),
            ("--opendir=nowhere", "no such directory"),
            ("--opendir=dir --filename=there", "both say which files"),
        ] {
            let wrong = refused(&format!("--name=a --bs=4k {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }
}
