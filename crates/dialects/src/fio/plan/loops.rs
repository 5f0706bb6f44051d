//! The combined effect of `loops`, `io_size` and `number_ios`, as observed in fio 3.42. `number_ios` applies to one loop.
//! With `loops`, a job ends after a whole pass if fio finds no free block at the end of a pass; if it starts over by itself, it does
//! `io_size` in every loop. `unlink_each_loop` removes the files between loops, but not after the last one.
//! `amounts` has the calculations.

use super::super::UsageError;
use super::super::settings::Settings;
use super::job_files::JobFiles;
use super::{errors, read_back};
use fathom_workload::ops::Place;
use fathom_workload::{Access, Amount, Record, Stream};

/// Refuses jobs whose files would have to be removed between loops.
pub fn check(s: &Settings) -> Result<(), UsageError> {
    const NAME: &str = "unlink_each_loop";
    if s.on(NAME, false) && s.number("loops")?.unwrap_or(1) > 1 {
        return Err(s
            .wrong(NAME, "the loops of a job go over the same files, and nothing removes them in between")
            .hint("instead: a job for each loop with unlink=1 and stonewall"));
    }
    Ok(())
}

/// If a job ends because no block is left although bytes remain, a sync also follows its last write.
pub fn sync_the_last(s: &Settings, stream: &mut Stream, laid: &JobFiles) -> Result<(), UsageError> {
    let (Some(part), Record::Fixed(size)) = (laid.parts.first(), &stream.record) else { return Ok(()) };
    let (size, blocks) = (size.0, laid.blocks(stream));
    let loops = s.number("loops")?.unwrap_or(1).max(1);
    let limit = errors::most(s)?.unwrap_or(u64::MAX).saturating_mul(loops);
    let done = match stream.amount {
        Amount::Pass => blocks,
        Amount::Passes(n) => blocks.saturating_mul(n),
        Amount::Operations(n) => n,
        Amount::Bytes(bytes) => bytes.0.div_ceil(size.max(1)),
        Amount::Endless => return Ok(()),
    };
    let asked = part.asked(s)?.unwrap_or(part.length);
    let left = done < limit && done.saturating_mul(size) < asked.saturating_mul(loops);
    let goes_on = match stream.access {
        Access::Striped { .. } => laid.stops_after(stream).is_none(),
        Access::ZonesInTurn { .. } => true,
        _ => false,
    };
    if let Some(sync) = stream.sync_every.as_mut().filter(|_| left && !goes_on) {
        sync.between = false;
    }
    Ok(())
}

/// `number_ios` of all loops for varying block sizes. Counting the operations shows whether it or the size ends the job.
pub fn at_most(s: &Settings, stream: &Stream) -> Result<Option<u64>, UsageError> {
    const NAME: &str = "number_ios";
    /// Counting takes about 50 ns per operation.
    const MOST: u64 = 1 << 24;
    let given = errors::most(s)?.filter(|_| !matches!(stream.record, Record::Fixed(_)));
    let all = given.map(|n| n.saturating_mul(s.number("loops").ok().flatten().unwrap_or(1).max(1)));
    let clones = u64::from(s.count("numjobs", 1, 1)?);
    match all {
        Some(n) if n.saturating_mul(clones) > MOST => Err(s
            .wrong(NAME, format!("{NAME}: with blocks of changing sizes at most {MOST} operations of all loops and clones are supported"))
            .hint("instead: io_size")),
        _ => Ok(all),
    }
}

/// Ends a stream after `most` operations.
pub fn end_after(stream: &mut Stream, most: u64, sizes: Option<&[u64]>, seed: u64, place: Place) {
    let seed = stream.seed_or(seed);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if read_back::operations(stream, sizes, seed, place).nth(most.saturating_sub(1)).is_some() {
        stream.amount = Amount::Operations(most as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Amount, Program};

    /// Number of operations, of 1 KiB unless the arguments say otherwise.
    fn done(args: &str) -> u64 {
        let plan = planned(&format!("--name=a --bs=1k {args}"));
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
            panic!("a flow")
        };
        let block = stream.record.unit().0;
        let pass = stream.length.map_or(0, |length| length.0 / block);
        match stream.amount {
            Amount::Pass => pass,
            Amount::Passes(n) => n * pass,
            Amount::Operations(n) => n,
            Amount::Bytes(bytes) => bytes.0.div_ceil(block),
            Amount::Endless => u64::MAX,
        }
    }

    #[test]
    fn nothing_is_removed_without_a_second_loop() {
        // As in fio 3.33, also with a runtime.
        for args in ["", "--loops=1", "--time_based --runtime=1"] {
            assert!(
                planned(&format!("--name=a --size=4k --rw=write --unlink_each_loop=1 {args}")).jobs[0]
                    .ready
                    .keep
            );
        }
        let why = refused("--name=a --size=4k --rw=write --unlink_each_loop=1 --loops=2");
        assert!(why.contains("nothing removes them in between"), "{why}");
    }

    #[test]
    fn the_last_write_is_synced_where_no_block_is_left() {
        // fio 3.42: with fsync=1, one sync per write, or one fewer.
        for (args, between) in [
            ("--size=96k", true),
            ("--size=100k", false),
            ("--size=100k --rw=randwrite --loops=2", false),
            ("--size=200k --nrfiles=2", false),
            ("--size=100k --number_ios=6", true),
            ("--size=100k --number_ios=7", false),
            ("--size=200k --io_size=70k", true),
            ("--size=100k --io_size=200k", false),
            ("--size=100k --rw=randwrite --norandommap", true),
            ("--size=100k --time_based --runtime=1", true),
        ] {
            let plan = planned(&format!("--name=a --rw=write --bs=16k --fsync=1 {args}"));
            let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
                panic!("a flow")
            };
            assert_eq!(stream.sync_every.map(|sync| sync.between), Some(between), "{args}");
        }
    }

    #[test]
    fn amounts_are_those_of_fio() {
        // Counts of fio 3.42.
        for (args, count) in [
            ("--rw=write --size=8k --io_size=20k --loops=2", 24),
            ("--rw=rw --rwmixread=100 --size=8k --io_size=20k --loops=3", 60),
            ("--rw=rw --size=8k --io_size=20k --loops=3 --nrfiles=2", 60),
            ("--rw=write --size=8k --io_size=4k --loops=3", 12),
            ("--rw=write --bs=16k --size=100k --io_size=101k", 6),
            ("--rw=write --bs=16k --size=100k --io_size=112k", 7),
            ("--rw=write --bs=16k --size=96k --io_size=101k", 6),
            ("--rw=read --bs=16k --size=96k --io_size=113k", 8),
            ("--rw=rw --rwmixread=100 --bs=16k --size=100k --io_size=300k", 18),
            ("--rw=read:4k --ioengine=libaio --bs=4k --size=64k --io_size=102k --loops=2", 32),
            ("--rw=rw --bs=16k --size=96k --io_size=101k", 7),
            ("--rw=rw --bs=16k --size=100k --io_size=101k --loops=2", 13),
            ("--rw=read:4k --bs=16k --size=96k --io_size=101k", 7),
            ("--rw=write:4k --bs=16k --size=100k --io_size=113k --loops=2", 15),
            ("--rw=write:4k --bs=3k --size=64k --io_size=512k --loops=3", 171),
            ("--rw=write:4k --size=8k --io_size=20k --loops=3", 60),
            ("--rw=randread --percentage_random=0 --bs=16k --size=100k --io_size=300k", 18),
            ("--rw=randread --percentage_random=0 --bs=3k --size=64k --io_size=512k --loops=3", 189),
            (
                "--rw=randread --percentage_random=0 --ioengine=libaio --bs=4k --size=64k --io_size=102k --loops=2",
                32,
            ),
            (
                "--rw=randread --percentage_random=0 --ioengine=vsync --bs=4k --size=64k --io_size=102k --loops=3",
                48,
            ),
            ("--rw=randread --percentage_random=0 --bs=4k --size=64k --io_size=102k --loops=3", 77),
            ("--rw=write --bs=16k --size=100k --io_size=101k --loops=2", 12),
            ("--rw=read --bs=16k --size=100k --io_size=300k", 18),
            ("--rw=randread --bs=16k --size=96k --io_size=101k", 6),
            ("--rw=randread --bs=16k --size=100k --io_size=310k", 20),
            ("--rw=randwrite --bs=16k --size=208k --nrfiles=2 --io_size=201k", 12),
            ("--rw=randwrite --bs=16k --size=208k --nrfiles=2 --io_size=300k", 19),
            ("--rw=randwrite --norandommap --bs=16k --size=100k --number_ios=7", 7),
            ("--rw=write --size=8k --io_size=32k --number_ios=9 --loops=3", 27),
            ("--rw=randwrite --size=8k --io_size=20k --loops=2", 24),
            ("--rw=trimwrite --size=8k --io_size=20k --loops=2", 24),
            ("--rw=write:4k --size=16k --io_size=20k --loops=2", 20),
            (
                "--rw=write --size=8k --zonemode=strided --zonesize=4k --zoneskip=4k --io_size=20k --loops=2",
                40,
            ),
            ("--rw=randwrite --percentage_random=0 --size=8k --io_size=20k --loops=2", 40),
            ("--rw=randread --norandommap --bs=3k --size=64k --io_size=512k --loops=3", 512),
            // With a queued engine, reads make whole passes.
            (
                "--rw=randread --norandommap --ioengine=libaio --bs=4k --size=100k --io_size=512k --loops=3",
                150,
            ),
            (
                "--rw=randread --norandommap --ioengine=io_uring --bs=4k --size=102k --io_size=500k --loops=2",
                130,
            ),
            (
                "--rw=randread --random_distribution=zipf --ioengine=vsync --bs=4k --size=100k --io_size=104k --loops=3",
                75,
            ),
            ("--rw=randread --norandommap --ioengine=libaio --bs=4k --size=100k --io_size=64k --loops=3", 48),
            (
                "--rw=randread --norandommap --ioengine=libaio --bs=4k --size=102k --io_size=102k --loops=2",
                51,
            ),
            (
                "--rw=randwrite --norandommap --ioengine=libaio --bs=4k --size=100k --io_size=512k --loops=2",
                256,
            ),
            ("--rw=randread --bs=3k --size=64k --io_size=512k --loops=3", 189),
            ("--rw=read --bs=3k --size=64k --io_size=512k --loops=3", 189),
            ("--rw=rw --bs=3k --size=64k", 22),
            ("--rw=rw --bs=3k --size=64k --loops=2", 43),
            ("--rw=write --bs=3k --size=64k --loops=2", 42),
            ("--rw=randread --bs=3k --size=64k", 21),
            ("--rw=randrw --norandommap --bs=3k --size=64k", 22),
            ("--rw=randread --random_distribution=zoned:50/10:50/90 --bs=3k --size=64k --loops=2", 43),
            ("--rw=rw --bs=4k --size=100k --nrfiles=4", 25),
            ("--rw=randwrite --norandommap --bs=4k --size=100k --nrfiles=4 --loops=3", 75),
            ("--size=4k --io_size=8k --loops=2", 8),
            ("--size=4k --io_size=8k --loops=3", 12),
            ("--size=4k --io_size=6k --loops=2", 8),
            ("--size=4k --io_size=17k", 17),
            ("--size=4k --io_size=17k --loops=2", 20),
            ("--size=8k --io_size=20k --loops=2", 24),
            ("--size=4k --io_size=16k --loops=5", 20),
            ("--size=8k --io_size=4k --loops=3", 12),
            ("--size=8k --number_ios=3 --loops=3", 9),
            ("--size=8k --number_ios=12 --loops=2", 16),
            ("--size=16k --number_ios=30 --loops=3", 48),
            ("--size=8k --io_size=16k --number_ios=12", 12),
            ("--size=8k --io_size=32k --number_ios=12 --loops=2", 24),
            ("--size=8k --io_size=32k --number_ios=5 --loops=2", 10),
            ("--size=8k --io_size=32k --number_ios=9 --loops=3", 27),
            ("--size=8k --io_size=32k --number_ios=9 --loops=5", 40),
            ("--size=8k --io_size=4k --number_ios=3 --loops=3", 9),
            ("--size=8k --number_ios=3 --time_based --runtime=1", u64::MAX),
            ("--size=8k --io_size=20k --loops=2 --nrfiles=2", 24),
            ("--size=8k --nrfiles=2 --loops=3 --number_ios=3", 9),
        ] {
            assert_eq!(done(args), count, "{args}");
        }
    }

    #[test]
    fn what_is_in_memory_goes_before_every_pass() {
        // Counted with strace in fio 3.33: POSIX_FADV_DONTNEED at the start of each pass, none if there are no passes.
        for (args, evicts) in [
            ("", false),
            ("--rw=randread", false),
            ("--loops=3", true),
            ("--rw=randread --loops=3", true),
            ("--rw=randread --io_size=256k", true),
            ("--rw=randread --io_size=16k", false),
            ("--rw=randread --number_ios=16", false),
            ("--rw=randwrite --time_based --runtime=1", true),
            ("--rw=rw --io_size=256k", true),
            ("--rw=randread --nrfiles=2 --loops=3", true),
            ("--rw=randread --ioengine=libaio --iodepth=4 --loops=3", true),
            // Mapped pages stay cached (determined from the disk reads of 3.42).
            ("--rw=randread --ioengine=mmap --loops=3", false),
            ("--rw=randread --norandommap --loops=3", false),
            ("--rw=randread --random_distribution=zipf:1.2 --io_size=256k", false),
            ("--rw=randread --pre_read=1 --loops=2", false),
            ("--rw=randread --invalidate=0 --loops=2", false),
            // Also with O_DIRECT, where nothing is cached.
            ("--rw=randread --direct=1 --loops=3", false),
            ("--rw=randread --ioengine=null --loops=3", false),
            ("--rw=randtrim --loops=2", false),
        ] {
            let plan = planned(&format!("--name=a --bs=4k --size=64k {args}"));
            let programs = plan.workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
            let mut streams = programs.filter_map(|thread| match &thread.program {
                Program::Stream(stream) => Some(stream.evict_passes),
                Program::Flow(_) => None,
            });
            assert_eq!(streams.next(), Some(evicts), "{args}");
        }
    }
}
