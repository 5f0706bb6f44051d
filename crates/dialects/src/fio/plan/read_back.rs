//! What is read back, where that is not the whole file. A writing job remembers its writes (`keep_written` in the workload) and reads
//! them back at the end, or during the run with `verify_backlog`. A job that writes nothing (`verify_only`), or whose operations are a
//! list (`read_iolog`), remembers nothing: its writes are computed beforehand and become a list of reads.

use super::super::UsageError;
use super::super::settings::Settings;
use fathom_workload::ops::{Done, Op, OpCode, Place, Region, Source as _, StreamOps, TurnOps};
use fathom_workload::{
    Access, Amount, Bytes, Data, Direction, Does, Group, KeepWritten, ListedOp, Mix, Pace, Program, Rate,
    Stream, TrimWritten, Verify, WrittenBy,
};
use std::collections::HashSet;

const BACKLOG: &str = "verify_backlog";
/// Maximum number of writes in the lists of all clones, which are kept in memory and stored with the workload.
const MOST: u64 = 1 << 20;

/// Which writes a stream remembers, according to `verify_backlog`.
pub fn kept(s: &Settings, stream: &Stream) -> Result<KeepWritten, UsageError> {
    let after = s.number(BACKLOG)?.unwrap_or(0);
    let batch = s.number("verify_backlog_batch")?.filter(|_| after > 0).unwrap_or(0);
    // A rate applies to the writes. A mix has one for its own reads too, and verifying reads do not count towards it.
    let only_writes = matches!(stream.direction, Direction::Write | Direction::Mix(Mix::ReadPercent(0)));
    let rate = stream.pace.rate.filter(|_| only_writes);
    if after > 0 && !paces_what_checks(stream, rate) {
        return Err(s
            .wrong(
                BACKLOG,
                "a flow, a latency target or the rate of a mix would hold for the reads that check, too",
            )
            .hint("leave it out: then a job reads back when it has written all"));
    }
    // Blocks of a random map cannot overlap. fio sorts all other written blocks by offset.
    let by_offset = stream.access != Access::Permuted;
    Ok(KeepWritten { by_offset, after, batch, trim: trim(s)?, ..KeepWritten::default() })
}

/// Whether the pacing of a stream beside its `rate` may also apply to the verifying reads: pauses, minimum rates and maximum
/// latency, which apply to all reads in fio as well.
pub fn paces_what_checks(stream: &Stream, rate: Option<Rate>) -> bool {
    let Pace { rate_of, think, least, longest, .. } = stream.pace;
    stream.pace == Pace { rate, rate_of, think, least, longest, ..Pace::default() }
}

/// The blocks that a job trims after writing them and reads back as zeros; `None` without `trim_backlog`.
pub fn trim(s: &Settings) -> Result<Option<TrimWritten>, UsageError> {
    const PERCENT: &str = "trim_percentage";
    let percent = s.number(PERCENT)?.unwrap_or(0);
    let after = s.number("trim_backlog")?.unwrap_or(0);
    let batch = s.number("trim_backlog_batch")?.unwrap_or(0);
    let zeros = s.on("trim_verify_zero", true);
    let Some(percent) = u8::try_from(percent).ok().filter(|percent| *percent <= 100) else {
        return Err(s.wrong(PERCENT, format!("{PERCENT}={percent}: 0 to 100 is expected")));
    };
    Ok((percent > 0 && after > 0).then_some(TrimWritten { after, batch, percent, zeros }))
}

/// Makes a stream read back while it writes. A mix does not check its own reads, so a write job becomes a mix without any.
pub fn mixed_in(stream: &mut Stream, check: Verify) {
    if stream.direction == Direction::Write {
        stream.direction = Direction::Mix(Mix::ReadPercent(0));
    }
    stream.verify = check;
}

/// Makes a stream read back what a worker wrote.
pub fn written_by(stream: &mut Stream, by: WrittenBy) {
    stream.keep_written = None;
    stream.written_by = Some(by);
    (stream.access, stream.amount, stream.align) = (Access::Sequential, Amount::Pass, Bytes(0));
}

/// Checks that the number of operations is known before the start and that they fit in memory.
pub fn countable(s: &Settings, name: &'static str, stream: &Stream, length: u64) -> Result<(), UsageError> {
    let unit = stream.record.unit().0.max(1);
    let pass = length / unit;
    let operations = match stream.amount {
        Amount::Endless => u64::MAX,
        Amount::Operations(n) => n,
        Amount::Bytes(bytes) => bytes.0 / unit,
        Amount::Pass => pass,
        Amount::Passes(n) => pass.saturating_mul(n),
    };
    few_enough(s, name, operations.saturating_mul(u64::from(s.count("numjobs", 1, 1)?)))
}

/// Checks that the lists of all clones, with `writes` entries in total, fit in memory.
pub fn few_enough(s: &Settings, name: &'static str, writes: u64) -> Result<(), UsageError> {
    if writes <= MOST {
        return Ok(());
    }
    Err(s
        .wrong(
            name,
            format!(
                "what would be written is found out before the start, of {MOST} writes at most, those of all clones"
            ),
        )
        .hint("number_ios, io_size, size or fewer clones; no time_based"))
}

/// A clone that writes: its operations, its place in the workload, and how many of its writes count.
pub struct Writer<'a> {
    pub group: &'a Group,
    /// Sizes of its files in bytes, if it has several.
    pub sizes: Option<&'a [u64]>,
    pub seed: u64,
    pub place: Place,
    /// Limit to its first writes; `None`: all.
    pub up_to: Option<u64>,
}

/// Writes and bytes that a non-writing clone would have made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unwritten {
    pub writes: u64,
    pub bytes: u64,
}

/// Makes a clone read back exactly what it would have written: every block once, in the order of the first writes. Returns the
/// total, counting each write.
pub fn read_back(group: &mut Group, writer: &Writer<'_>) -> Unwritten {
    let mut all = Unwritten::default();
    for (thread, writing) in group.threads.iter_mut().zip(&writer.group.threads) {
        let (Program::Stream(stream), Program::Stream(writing)) = (&mut thread.program, &writing.program)
        else {
            continue;
        };
        let mut seen = HashSet::new();
        let mut list = writes(writing, writer);
        all.writes += list.len() as u64;
        all.bytes += list.iter().map(|op| u64::from(op.bytes)).sum::<u64>();
        list.retain(|op| seen.insert((op.file, op.offset, op.bytes)));
        stream.keep_written = None;
        if list.is_empty() {
            // A mix that happens to only read: nothing to check.
            (stream.verify, stream.amount) = (Verify::No, Amount::Operations(1));
            super::errors::fit(stream);
            continue;
        }
        list.iter_mut().for_each(|op| op.does = Some(Does::Read));
        stream.access = Access::Listed(list);
        // The list contains offsets and files, and is processed once.
        (stream.start, stream.length, stream.turns, stream.evict_passes) = (Bytes(0), None, None, false);
        stream.align = Bytes(0);
    }
    all
}

fn writes(stream: &Stream, writer: &Writer<'_>) -> Vec<ListedOp> {
    let up_to = usize::try_from(writer.up_to.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let listed = |op: Op| ListedOp {
        offset: op.offset,
        bytes: op.bytes,
        file: op.file,
        does: Some(Does::Write),
        ..ListedOp::default()
    };
    let all = operations(stream, writer.sizes, writer.seed, writer.place);
    all.filter(|op| op.kind == OpCode::Write).take(up_to).map(listed).collect()
}

/// The reads and writes of a stream in order, if nothing ends it early. For a mix that depends on progress, they are one possible
/// sequence. `sizes` are the file sizes, if there are several.
pub fn operations(
    stream: &Stream,
    sizes: Option<&[u64]>,
    seed: u64,
    place: Place,
) -> Box<dyn Iterator<Item = Op>> {
    // A list has syncs after a number of writes as well.
    let alone = Stream { sync_every: None, ..stream.clone() };
    let done = Done::default();
    let start = stream.start.0;
    if stream.turns.is_some() {
        let region = |bytes: &u64| Region { start, length: bytes.saturating_sub(start) };
        let parts: Vec<Region> = sizes.unwrap_or_default().iter().map(region).collect();
        let Some(mut ops) = TurnOps::new(&alone, &parts, seed, place) else {
            return Box::new(std::iter::empty());
        };
        return Box::new(std::iter::from_fn(move || ops.next(&done)));
    }
    let region = Region { start, length: stream.length.map_or(0, |length| length.0) };
    let Some(mut ops) = StreamOps::new(&alone, region, seed, place) else {
        return Box::new(std::iter::empty());
    };
    Box::new(std::iter::from_fn(move || ops.next(&done)))
}

/// How blocks that are read can be checked.
pub fn check_of(stream: &Stream) -> Verify {
    // verify=null reads back without checking.
    if matches!(stream.data, Data::Sealed(_)) { Verify::Full } else { Verify::No }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::ops::Place;
    use fathom_workload::{
        Access, Amount, Direction, Does, KeepWritten, ListedOp, Mix, Program, Stream, Verify, Workload,
        WrittenBy,
    };
    use std::collections::BTreeSet;

    fn stream(workload: &Workload, phase: usize, group: usize) -> Stream {
        match &workload.phases[phase].groups[group].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a flow"),
        }
    }

    #[test]
    fn what_is_written_is_remembered_and_read_back() {
        for args in [
            "--rw=randwrite --norandommap",
            "--rw=randrw",
            "--rw=randwrite --bssplit=4k/50:8k/50",
            "--rw=write --number_ios=10",
            "--rw=randwrite --io_size=700k",
            "--rw=write --runtime=5",
            "--rw=write --steadystate=iops:10% --steadystate_duration=2",
            "--rw=randrw --runtime=5 --time_based --ramp_time=1",
            "--rw=write --nrfiles=3 --norandommap --runtime=1",
            "--rw=randwrite --norandommap --size=1t",
        ] {
            let plan = planned(&format!("--name=a --size=768k --bs=4k --verify=crc32c {args}"));
            let (writer, reader) = (stream(&plan.workload, 0, 0), stream(&plan.workload, 1, 0));
            let by_offset = writer.access != Access::Permuted;
            assert_eq!(
                writer.keep_written,
                Some(KeepWritten { by_offset, ..KeepWritten::default() }),
                "{args}"
            );
            assert_eq!(reader.written_by, Some(WrittenBy { phase: 0, worker: 0 }), "{args}");
            assert_eq!((reader.direction, &reader.access), (Direction::Read, &Access::Sequential), "{args}");
            assert_eq!((writer.verify, reader.verify), (Verify::No, Verify::Full), "{args}");
            assert_eq!(plan.workload.phases[1].stop.time, None, "{args}: no time ends it");
        }
        let whole = planned("--name=a --size=256k --rw=randwrite --verify=crc32c");
        let back = stream(&whole.workload, 1, 0);
        assert_eq!((back.access, back.written_by), (Access::Permuted, None), "all of it needs no memory");
        // A job that may be ended by another remembers its writes too; each clone reads back its own.
        let ended = planned(
            "--name=a --size=1m --rw=write --verify=crc32c --numjobs=2 --name=b --rw=read --size=1m --exitall",
        );
        for clone in [0, 1] {
            assert!(stream(&ended.workload, 0, clone).keep_written.is_some(), "{clone}");
            let by = WrittenBy { phase: 0, worker: clone as u32 };
            assert_eq!(stream(&ended.workload, 1, clone).written_by, Some(by));
        }
    }

    #[test]
    fn a_backlog_is_read_back_meanwhile() {
        let of = |args: &str| {
            planned(&format!("--name=b --rw=write --size=1m --verify=md5 --verify_backlog=4 {args}"))
        };
        let plan = of("--verify_backlog_batch=2");
        let writer = stream(&plan.workload, 0, 0);
        assert_eq!(plan.workload.phases.len(), 1, "nothing is left to be read back");
        assert_eq!(
            writer.keep_written,
            Some(KeepWritten { by_offset: true, after: 4, batch: 2, ..KeepWritten::default() })
        );
        assert_eq!(writer.direction, Direction::Mix(Mix::ReadPercent(0)));
        assert_eq!(writer.verify, Verify::Full);
        let mixed = stream(&of("--rw=randrw --rwmixread=70").workload, 0, 0);
        assert_eq!(mixed.direction, Direction::Mix(Mix::ReadPercent(70)));
        for args in [
            "--ioengine=libaio --iodepth=4",
            "--time_based --runtime=5",
            "--nrfiles=3 --iodepth=32 --ioengine=io_uring --norandommap",
            "--numjobs=2 --exitall",
        ] {
            let plan = of(args);
            assert_eq!(plan.workload.phases.len(), 2, "{args}: something may be left");
            assert!(stream(&plan.workload, 1, 0).written_by.is_some(), "{args}");
        }
        let paced = stream(&of("--rate_iops=10").workload, 0, 0);
        assert!(paced.pace.rate.is_some() && paced.keep_written.is_some());
        assert!(stream(&of("--thinktime=1ms").workload, 0, 0).pace.think.is_some());
        assert!(stream(&of("--rate_iops=50 --rate_iops_min=9").workload, 0, 0).pace.least.is_some());
        assert!(stream(&of("--rw=rw --max_latency=1s").workload, 0, 0).pace.longest.is_some());
        for pace in ["--flow=2", "--rw=randrw --rate_iops=10"] {
            let why =
                refused(&format!("--name=b --rw=write --size=1m --verify=md5 --verify_backlog=4 {pace}"));
            assert!(why.contains("would hold for the reads that check"), "{why}");
        }
    }

    #[test]
    fn who_writes_nothing_reads_what_would_have_been_written() {
        for args in [
            "--rw=randwrite --norandommap",
            "--rw=randrw",
            "--rw=randwrite --bssplit=4k/50:8k/50",
            "--rw=write --number_ios=10",
            "--rw=randwrite --norandommap --io_size=1536k",
            "--rw=randwrite --norandommap --nrfiles=3",
            "--rw=randwrite --ba=8k",
        ] {
            let args = format!("--name=a --size=768k --bs=4k --verify=crc32c {args}");
            let writer = planned(&args);
            let writing = stream(&writer.workload, 0, 0);
            let place = Place { phase: 0, worker: 0, repetition: 0 };
            let sizes = writer.jobs[0].sizes.first().map(Vec::as_slice);
            let group = &writer.workload.phases[0].groups[0];
            let seed = writer.workload.seed.0;
            let written = super::writes(&writing, &super::Writer { group, sizes, seed, place, up_to: None });
            let only = planned(&format!("{args} --verify_only"));
            assert_eq!(only.workload.phases.len(), 1);
            let reader = stream(&only.workload, 0, 0);
            let Access::Listed(list) = &reader.access else { panic!("{args}") };
            assert!(!list.is_empty() && list.iter().all(|op| op.does == Some(Does::Read)), "{args}");
            let extents = |ops: &[ListedOp]| -> BTreeSet<(u32, u64, u32)> {
                ops.iter().map(|op| (op.file, op.offset, op.bytes)).collect()
            };
            assert_eq!(extents(list), extents(&written), "{args}");
            assert_eq!(list.len(), extents(list).len(), "each once: {args}");
            assert_eq!((reader.verify, reader.keep_written, reader.written_by), (Verify::Full, None, None));
        }
        let whole = stream(
            &planned("--name=a --size=1m --rw=write --verify=md5 --verify_only --runtime=3").workload,
            0,
            0,
        );
        assert_eq!((whole.access, whole.amount), (Access::Sequential, Amount::Pass));
        let why = refused("--name=a --rw=randwrite --norandommap --size=8g --verify=md5 --verify_only");
        assert!(why.contains("writes at most, those of all clones"), "{why}");
    }
}
