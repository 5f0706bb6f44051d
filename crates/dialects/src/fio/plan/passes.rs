//! Passes of a job that writes and verifies, where blocks are written in order or have a map. What is read back counts towards `io_size`
//! and `number_ios`, and each pass is read back before the next one, as fio 3.42 was seen to do.

use super::super::Wrong;
use super::super::settings::Settings;
use super::files::Laid;
use super::{backlog, loops};
use fathom_workload::ops::{OpKind, Place, Region, bytes_of_a_pass};
use fathom_workload::{Access, Amount, Bytes, Direction, RateOf, Record, Stream, Verify};

/// How much is written, and whether several passes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// More is written than one pass.
    several: bool,
    /// How much the passes of a mix have to move, if `io_size` is above a pass.
    fills: Option<Fills>,
}

/// What the passes of a mix move at least, with what is read back. How many passes that takes depends on how many writes they draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fills {
    bytes: u64,
    /// Passes that are made in any case.
    loops: u64,
}

impl Passes {
    const ONE: Self = Self { several: false, fills: None };
    const SEVERAL: Self = Self { several: true, fills: None };
}

/// Settles how much is written, of a job whose writes are read back or are not (`do_verify=0`). `None` where there are no passes: without
/// a map, where blocks are left out, and where a clock ends it.
pub fn settle(
    s: &Settings,
    stream: &mut Stream,
    laid: &mut Laid,
    reads_back: bool,
) -> Result<Option<Passes>, Wrong> {
    let mixes = matches!(stream.direction, Direction::Mix(_));
    let has_passes = match stream.access {
        Access::Permuted => true,
        Access::Sequential => reads_back || !mixes,
        Access::SequentialByKind => reads_back,
        _ => false,
    };
    let leaves_out = matches!(stream.access, Access::Striped { .. } | Access::ZonesInTurn { .. });
    if leaves_out && reads_back {
        let asked = laid.parts.first().map(|part| part.asked(s)).transpose()?.flatten();
        if asked.is_some_and(|io_size| io_size > laid.bytes_of_a_pass()) {
            return Err(unknown(s, 1, "where blocks are left out"));
        }
    }
    let (Some(part), true) = (laid.parts.first(), has_passes) else { return Ok(None) };
    let region = laid.bytes_of_a_pass();
    let loops = s.number("loops")?.unwrap_or(1).max(1);
    let Record::Fixed(size) = stream.record else {
        let again = match stream.amount {
            Amount::Passes(n) => n > 1,
            Amount::Bytes(bytes) => bytes.0 > region,
            _ => false,
        };
        if !again {
            return Ok(None);
        }
        if !reads_back || s.number("number_ios")?.is_some_and(|n| n > 0) {
            let beside = "with blocks of changing sizes, together with number_ios or do_verify=0";
            return Err(unknown(s, loops, beside));
        }
        let unit = stream.record.unit().0.max(1);
        let io_size = part.asked(s)?.unwrap_or(0);
        if io_size > 0 && io_size < region && loops > 1 {
            return Err(unknown(
                s,
                loops,
                "with blocks of changing sizes, together with an io_size below size",
            ));
        }
        if mixes {
            // Those that io_size asks for are counted clone by clone.
            let passes = of_mix(s, stream, loops, (io_size, region))?;
            stream.amount = Amount::Passes(loops);
            laid.parts.iter_mut().for_each(|part| part.amount = stream.amount);
            return Ok(passes);
        }
        let passes = io_size.div_ceil(2 * (region / unit * unit).max(1)).max(loops);
        stream.amount = if passes > 1 { Amount::Passes(passes) } else { Amount::Pass };
        laid.parts.iter_mut().for_each(|part| part.amount = stream.amount);
        return Ok(Some(if passes > 1 { Passes::SEVERAL } else { Passes::ONE }));
    };
    let (size, blocks) = (size.0.max(1), laid.blocks(stream).max(1));
    let asked = match stream.amount {
        Amount::Endless => return Ok(None),
        Amount::Pass => blocks,
        Amount::Passes(n) => n.saturating_mul(blocks),
        Amount::Operations(n) => n,
        Amount::Bytes(bytes) => bytes.0.div_ceil(size),
    };
    // What a mix in order begins within a pass is a whole block.
    if asked <= if mixes { region.div_ceil(size) } else { blocks } {
        return Ok(Some(Passes::ONE));
    }
    if mixes && reads_back {
        return of_mix(s, stream, loops, (part.asked(s)?.unwrap_or(0), region));
    }
    let io_size = part.asked(s)?.unwrap_or(0);
    let moved_by_pass = blocks.saturating_mul(1 + u64::from(reads_back));
    if !reads_back && loops == 1 && loops::queues(s, stream) {
        return Ok(Some(Passes::SEVERAL));
    }
    // Where nothing is read back, io_size alone brings a call that waits no second pass.
    let by_size = if reads_back || loops > 1 { (io_size / size).div_ceil(moved_by_pass) } else { 1 };
    let mut writes = blocks.saturating_mul(by_size.max(loops));
    if io_size > 0 && io_size < region {
        writes = writes.min(asked);
    }
    if let Some(limit) = s.number("number_ios")?.filter(|n| *n > 0) {
        let limit = limit.saturating_mul(loops);
        let whole = limit / moved_by_pass;
        let mut rest = limit - whole * moved_by_pass;
        let backlog = s.number("verify_backlog")?.filter(|n| *n > 0 && reads_back && whole > 0 && rest > 0);
        if let Some(backlog) = backlog {
            if s.number("verify_backlog_batch")?.is_some_and(|batch| batch != backlog) {
                return Err(unknown(s, loops, "with verify_backlog_batch, together with number_ios"));
            }
            if u64::from(stream.queue_depth) > backlog {
                return Err(unknown(
                    s,
                    loops,
                    "with a queue deeper than verify_backlog, together with number_ios",
                ));
            }
            // As many are written as are read back, by turns.
            rest = rest / (2 * backlog) * backlog + (rest % (2 * backlog)).min(backlog);
        }
        let rest = rest.min(blocks);
        writes = writes.min(whole.saturating_mul(blocks).saturating_add(rest));
    }
    if writes != asked {
        stream.amount = match writes / blocks {
            1 if writes == blocks => Amount::Pass,
            n if n * blocks == writes => Amount::Passes(n),
            _ => Amount::Operations(writes),
        };
        laid.parts.iter_mut().for_each(|part| part.amount = stream.amount);
        if !loops::queues(s, stream) {
            loops::sync_the_last(s, stream, laid)?;
        }
    }
    Ok(Some(if writes > blocks { Passes::SEVERAL } else { Passes::ONE }))
}

/// Several passes of a mix, each of as many reads and writes as there are blocks. `None` where fio 3.42 makes no passes: in order, if
/// blocks fill the region and the engine does not queue, it goes on until `io_size` is moved.
fn of_mix(
    s: &Settings,
    stream: &Stream,
    loops: u64,
    (io_size, region): (u64, u64),
) -> Result<Option<Passes>, Wrong> {
    /// Counting takes some 50 ns each.
    const MOST: u64 = 1 << 24;
    if s.number("number_ios")?.is_some_and(|n| n > 0) {
        return Err(unknown(s, loops, "of a mix, together with number_ios"));
    }
    if io_size <= region {
        return Ok(Some(Passes::SEVERAL));
    }
    if stream.access != Access::Permuted {
        let Record::Fixed(size) = stream.record else {
            return Err(unknown(s, loops, "of a mix in order with blocks of changing sizes"));
        };
        if !region.is_multiple_of(size.0.max(1)) {
            return Err(unknown(s, loops, "of a mix in order whose blocks do not fill its file"));
        }
        if !loops::queues(s, stream) {
            return Ok(None);
        }
        if backlog::kept(s, stream)?.after > 0 {
            return Err(unknown(s, loops, "of a mix in order with verify_backlog and an engine that queues"));
        }
    }
    if stream.pace.rate_of != RateOf::All {
        return Err(unknown(s, loops, "of a mix of which only one kind has a rate"));
    }
    let clones = u64::from(s.count("numjobs", 1, 1)?);
    if (io_size / stream.record.unit().0.max(1)).saturating_mul(clones) > MOST {
        return Err(unknown(s, loops, &format!("of a mix of more than {MOST} operations")));
    }
    Ok(Some(Passes { several: true, fills: Some(Fills { bytes: io_size, loops }) }))
}

impl Fills {
    /// Gives a mix as many passes as it takes. `sizes` are those of its files, if it has several.
    pub fn amount(self, stream: &mut Stream, sizes: Option<&[u64]>, seed: u64, place: Place) {
        let seed = stream.seed_or(seed);
        let endless = Stream { amount: Amount::Endless, keep_written: None, ..stream.clone() };
        let start = stream.start.0;
        let region = |end: &u64| Region { start, length: end.saturating_sub(start) };
        let alone = [start + stream.length.map_or(0, |length| length.0)];
        let parts: Vec<Region> = sizes.unwrap_or(&alone).iter().map(region).collect();
        let pass = bytes_of_a_pass(stream, &parts);
        // Nothing is begun for what is less than a block.
        let enough = self.bytes.saturating_sub(stream.record.largest().0.saturating_sub(1));
        let (mut passes, mut moved, mut left) = (0, 0_u64, pass);
        for op in backlog::operations(&endless, sizes, seed, place) {
            let bytes = u64::from(op.bytes);
            moved += bytes * if op.kind == OpKind::Write { 2 } else { 1 };
            left = left.saturating_sub(bytes);
            if left == 0 {
                (passes, left) = (passes + 1, pass);
                if moved >= enough {
                    break;
                }
            }
        }
        let passes = passes.max(self.loops);
        // What is read back tells how many passes there are; the reads and writes of the mix itself end at io_size.
        let most = self.bytes.saturating_mul(self.loops);
        let whole = pass.saturating_mul(passes) <= most;
        stream.amount = if whole { Amount::Passes(passes) } else { Amount::Bytes(Bytes(most)) };
    }
}

impl Passes {
    /// What the passes of a mix have to move.
    pub fn fills(this: Option<Self>) -> Option<Fills> {
        this.and_then(|passes| passes.fills)
    }

    /// Lets a job of several passes read back after each of them. Gives whether it has several.
    pub fn read_back(
        this: Option<Self>,
        s: &Settings,
        stream: &mut Stream,
        check: Verify,
    ) -> Result<bool, Wrong> {
        if this.is_none_or(|passes| !passes.several) {
            return Ok(false);
        }
        let loops = s.number("loops")?.unwrap_or(1);
        let mut kept = backlog::kept(s, stream)?;
        if kept.trim.is_some() {
            return Err(unknown(s, loops, "beside trim_backlog"));
        }
        if !backlog::paces_what_checks(stream, stream.pace.rate) {
            return Err(unknown(s, loops, "with a flow, a latency target or a rate of one kind of a mix"));
        }
        kept.each_pass = true;
        kept.forgets_sync = loops::queues(s, stream);
        stream.keep_written = Some(kept);
        backlog::mixed_in(stream, check);
        Ok(true)
    }

    /// What is only read back is read once.
    pub fn once(this: Option<Self>, s: &Settings) -> Result<(), Wrong> {
        let loops = s.number("loops")?.unwrap_or(1);
        match this.filter(|passes| passes.several) {
            Some(_) => Err(unknown(s, loops, "with verify_only")),
            None => Ok(()),
        }
    }
}

/// Who reads back pass by pass, and cannot.
fn unknown(s: &Settings, loops: u64, what: &str) -> Wrong {
    let name = if loops > 1 { "loops" } else { s.last_of(&["io_size", "number_ios"]).unwrap_or("io_size") };
    s.wrong(
        name,
        format!("{name}: each pass is read back before the next one, which is not supported {what}"),
    )
    .hint("instead: one pass; or do_verify=0")
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Amount, Bytes, Program, Stream};

    /// Writes of 4 KiB, and after how many of them something is read back.
    fn writes(args: &str) -> (u64, (u64, bool), bool) {
        let plan = planned(&format!("--name=a --bs=4k --size=64k --rw=write --verify=crc32c {args}"));
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
            panic!("a flow")
        };
        let writes = match stream.amount {
            Amount::Pass => 16,
            Amount::Passes(n) => n * 16,
            Amount::Operations(n) => n,
            Amount::Bytes(bytes) => bytes.0.div_ceil(4096),
            Amount::Endless => u64::MAX,
        };
        let after = stream.keep_written.map_or((0, false), |kept| (kept.after, kept.each_pass));
        (writes, after, plan.workload.phases.len() > 1)
    }

    #[test]
    fn what_is_read_back_counts() {
        // Counts of fio 3.33 and 3.42.
        for (args, count) in [
            ("--io_size=512k", 64),
            ("--io_size=512k --rw=randwrite", 64),
            ("--io_size=512k --nrfiles=2", 64),
            ("--io_size=512k --runtime=10", 64),
            ("--io_size=512k --verify=null", 64),
            ("--io_size=512k --ioengine=null", 64),
            ("--io_size=512k --verify_backlog=5", 64),
            ("--io_size=128k", 16),
            ("--io_size=130k", 16),
            ("--io_size=132k", 32),
            ("--io_size=160k", 32),
            ("--io_size=192k", 32),
            ("--io_size=100k", 16),
            ("--io_size=32k", 8),
            ("--io_size=512k --loops=2", 64),
            ("--io_size=512k --loops=8", 128),
            ("--io_size=512k --loops=9", 144),
            ("--io_size=32k --loops=2", 16),
            ("--io_size=32k --loops=3", 24),
            ("--io_size=32k --loops=8", 64),
            ("--loops=3", 48),
            ("--loops=3 --thinktime=1ms", 48),
            ("--size=66k --loops=2", 32),
            ("--size=66k --io_size=512k", 64),
            ("--io_size=512k --number_ios=40", 24),
            ("--io_size=512k --number_ios=10", 10),
            ("--io_size=512k --number_ios=20 --loops=2", 24),
            ("--number_ios=16 --loops=2", 16),
            ("--number_ios=10 --loops=2", 16),
            ("--number_ios=24 --loops=2", 32),
            ("--number_ios=40 --loops=2", 32),
            ("--number_ios=20 --loops=2 --verify_backlog=5", 21),
            ("--number_ios=25 --loops=2 --verify_backlog=5", 26),
            ("--rw=randwrite --norandommap --io_size=512k", 128),
        ] {
            let (writes, after, again) = writes(args);
            let passes = writes > 16 && !args.contains("norandommap");
            let backlog = if args.contains("backlog") { 5 } else { 0 };
            let after_all = again && !args.contains("runtime");
            assert_eq!(
                (writes, after, after_all),
                (count, if passes { (backlog, true) } else { (0, false) }, !passes),
                "{args}"
            );
        }
        for (args, count) in [
            ("--io_size=512k", 16),
            ("--io_size=512k --rw=randwrite", 16),
            ("--io_size=512k --rw=randrw", 16),
            ("--io_size=512k --ioengine=libaio", 128),
            ("--io_size=160k --ioengine=io_uring --rw=randwrite", 40),
            ("--io_size=192k --ioengine=posixaio --iodepth=8", 48),
            ("--io_size=192k --ioengine=libaio --number_ios=40", 40),
            ("--io_size=512k --ioengine=libaio --rw=randrw", 128),
            ("--io_size=512k --ioengine=libaio --loops=2", 128),
            ("--io_size=512k --ioengine=vsync", 128),
            ("--io_size=512k --rw=randrw --loops=2", 128),
            ("--io_size=512k --rw=randwrite --norandommap", 128),
            ("--io_size=512k --loops=2", 128),
            ("--io_size=512k --loops=3", 128),
            ("--io_size=1m --loops=2", 256),
            ("--io_size=100k --loops=2", 32),
            ("--io_size=160k --loops=2", 48),
            ("--io_size=160k --loops=4", 64),
            ("--io_size=32k --loops=3", 24),
            ("--loops=3", 48),
            ("--io_size=512k --number_ios=40 --loops=2", 80),
            ("--io_size=512k --number_ios=10", 10),
        ] {
            assert_eq!(writes(&format!("--do_verify=0 {args}")), (count, (0, false), false), "{args}");
        }
    }

    #[test]
    fn passes_with_blocks_of_changing_sizes_are_read_back_each() {
        // fio 3.42: 28, 28, 14 and 21 writes of a pass of seven.
        for (args, passes) in [
            ("--rw=randwrite --io_size=512k", 4),
            ("--size=66k --io_size=512k", 4),
            ("--io_size=256k", 2),
            ("--loops=3", 3),
            ("--io_size=128k", 1),
        ] {
            let (writes, after, _) = writes(&format!("--bsrange=4k-16k {args}"));
            assert_eq!((writes, after), (passes * 16, (0, passes > 1)), "{args}");
        }
    }

    #[test]
    fn a_mix_makes_passes_until_it_moved_enough_with_what_is_read_back() {
        let streams = |args: &str| -> Vec<Stream> {
            let plan = planned(&format!("--name=a --bs=4k --size=64k --rw=randrw --verify=crc32c {args}"));
            let streams =
                plan.workload.phases[0].groups.iter().map(|group| match &group.threads[0].program {
                    Program::Stream(stream) => (**stream).clone(),
                    Program::Flow(_) => panic!("a flow"),
                });
            streams.collect()
        };
        // fio 3.42 with io_size=3m: 35 passes of 16 operations, of which 6 were writes, and 210 reads back; with rwmixread=20, 28 passes.
        let passes = |args: &str| match streams(args)[0].amount {
            Amount::Passes(passes) => passes,
            amount => panic!("{args}: {amount:?}"),
        };
        for (percent, of) in [(90, 41..=48), (50, 29..=37), (10, 24..=28)] {
            let drawn = passes(&format!("--io_size=3m --rwmixread={percent}"));
            assert!(of.contains(&drawn), "{percent}: {drawn}");
        }
        assert_eq!(passes("--io_size=3m --loops=99"), 99);
        assert_eq!(passes("--io_size=3m --loops=9999999"), 9_999_999, "nobody counts loops");
        // Counts of fio 3.42: 42 and 25 operations of the mix; 16 where nothing is begun for the 8 KiB that are left.
        let bytes = |kib: u64| Amount::Bytes(Bytes(kib << 10));
        assert_eq!(streams("--io_size=168k --rwmixread=99")[0].amount, bytes(168));
        assert_eq!(streams("--io_size=100k --rwmixread=99")[0].amount, bytes(100));
        let rest = &streams("--io_size=136k --rwmixread=99 --bsrange=4k-16k")[0];
        assert_eq!(rest.amount, Amount::Passes(2));
        assert_eq!(passes("--loops=3 --bsrange=4k-16k"), 3);
        assert!((24..48).contains(&passes("--io_size=3m --bsrange=4k-16k")));
        assert!((24..48).contains(&passes("--io_size=3m --nrfiles=2 --verify_backlog=4")));
        assert_eq!(streams("--io_size=32k --loops=3")[0].amount, Amount::Bytes(Bytes(96 << 10)));
        // In order only an engine that queues makes passes; another one moves io_size as it is.
        assert!((24..48).contains(&passes("--io_size=3m --rw=rw --ioengine=libaio")));
        let straight = &streams("--io_size=512k --rw=rw --loops=2 --verify_backlog=8")[0];
        assert_eq!(straight.amount, Amount::Bytes(Bytes(1 << 20)));
        assert!(straight.keep_written.is_some_and(|kept| kept.after == 8 && !kept.each_pass));
        // Each clone draws for itself.
        let clones = streams("--io_size=9m --numjobs=9");
        assert!(clones.iter().all(|clone| clone.keep_written.is_some_and(|kept| kept.each_pass)));
        assert!(clones.iter().any(|clone| clone.amount != clones[0].amount));
    }

    #[test]
    fn the_last_write_of_a_pass_is_synced_where_more_is_to_come() {
        for (args, between) in [("--io_size=512k", false), ("--io_size=100k", false), ("--loops=3", true)] {
            let plan =
                planned(&format!("--name=a --bs=4k --size=64k --rw=write --verify=crc32c --fsync=16 {args}"));
            let sync = plan.jobs[0].stream.sync_every.expect("it syncs");
            assert_eq!(sync.between, between, "{args}");
        }
    }

    #[test]
    fn engines_that_queue_forget_the_sync_at_the_end_of_a_pass() {
        // fio 3.42 with size=1m, bs=8k and io_size=3m: 16 syncs with psync, 14 with each of the others.
        for (engine, forgets) in [("psync", false), ("libaio", true), ("io_uring", true), ("posixaio", true)]
        {
            let stream = |more: &str| {
                let line = "--name=a --bs=4k --size=64k --rw=write --verify=crc32c --fsync=16";
                planned(&format!("{line} --ioengine={engine} {more}")).jobs[0].stream.clone()
            };
            let kept = stream("--loops=2").keep_written.expect("it reads back");
            assert_eq!(kept.forgets_sync, forgets, "{engine}");
            let sync = stream("--io_size=100k").sync_every.expect("it syncs");
            assert_eq!(sync.between, forgets, "{engine}");
        }
    }

    #[test]
    fn who_cannot_read_back_pass_by_pass_is_refused() {
        for args in [
            "--loops=2 --bsrange=4k-8k --number_ios=20",
            "--loops=2 --bsrange=4k-8k --do_verify=0",
            "--io_size=1m --rw=rw --size=66k",
            "--io_size=1m --rw=rw --ioengine=libaio --verify_backlog=4",
            "--io_size=1m --rw=rw --bsrange=4k-8k",
            "--loops=2 --flow=2",
            "--io_size=1m --rw=write:4k",
            "--loops=2 --verify_only",
            "--bs=4k --loops=3 --number_ios=20 --verify_backlog=5 --verify_backlog_batch=2",
            "--bs=4k --loops=3 --number_ios=20 --verify_backlog=5 --ioengine=libaio --iodepth=8",
            "--io_size=1m --rw=randrw --number_ios=20",
            "--io_size=1m --rw=randrw --size=4k --bs=512 --io_size=16g",
        ] {
            let why = refused(&format!("--name=a --size=64k --rw=write --verify=crc32c {args}"));
            assert!(why.contains("each pass is read back"), "{args}: {why}");
        }
        // The last block of a mix in order is begun within its one pass.
        planned("--name=a --rw=rw --bs=3k --size=64k --verify=crc32c");
    }
}
