//! What `loops`, `io_size` and `number_ios` come to together, as fio 3.42 was seen to take them: `number_ios` is that of one loop, and
//! with `loops` a job ends with a whole pass, but for sequential writes and mixes, which do all of `io_size` in every loop. `unlink_each_loop` removes the files between two loops, and not after the last one.

use super::super::Wrong;
use super::super::settings::Settings;
use fathom_workload::{Access, Direction, Stream};

/// Whether files would have to be removed between two loops.
pub fn check(s: &Settings) -> Result<(), Wrong> {
    const NAME: &str = "unlink_each_loop";
    if s.on(NAME, false) && s.number("loops")?.unwrap_or(1) > 1 {
        return Err(s
            .wrong(NAME, "the loops of a job go over the same files, and nothing removes them in between")
            .hint("instead: a job for each loop with unlink=1 and stonewall"));
    }
    Ok(())
}

/// Bytes of all loops, where `io_size` is given and a pass has so many.
pub fn bytes(stream: &Stream, io_size: u64, pass: u64, loops: u64) -> u64 {
    let in_order = matches!(stream.access, Access::Sequential | Access::SequentialByKind);
    if loops == 1 || in_order && matches!(stream.direction, Direction::Write | Direction::Mix(_)) {
        return io_size.saturating_mul(loops);
    }
    let passes = if io_size > pass { io_size.div_ceil(pass.max(1)).saturating_mul(pass) } else { 0 };
    io_size.min(pass).saturating_mul(loops).max(passes)
}

/// Operations of all loops, of which each has `limit` at most, and all together have `all`.
pub fn operations(limit: u64, all: u64, loops: u64) -> u64 {
    limit.saturating_mul(loops).min(all).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Amount, Program};

    /// Operations of 1 KiB.
    fn done(args: &str) -> u64 {
        let plan = planned(&format!("--name=a --bs=1k {args}"));
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
            panic!("a flow")
        };
        let pass = stream.length.map_or(0, |length| length.0 >> 10);
        match stream.amount {
            Amount::Pass => pass,
            Amount::Passes(n) => n * pass,
            Amount::Operations(n) => n,
            Amount::Bytes(bytes) => bytes.0.div_ceil(1024),
            Amount::Endless => u64::MAX,
        }
    }

    #[test]
    fn nothing_is_removed_without_a_second_loop() {
        // As fio 3.33, also with a runtime.
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
    fn amounts_are_those_of_fio() {
        // Counts of fio 3.42.
        for (args, count) in [
            ("--rw=write --size=8k --io_size=20k --loops=2", 40),
            ("--rw=rw --size=8k --io_size=20k --loops=3 --nrfiles=2", 60),
            ("--rw=write --size=8k --io_size=4k --loops=3", 12),
            ("--rw=write --size=8k --io_size=32k --number_ios=9 --loops=3", 27),
            ("--rw=randwrite --size=8k --io_size=20k --loops=2", 24),
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
        // Counted with strace in fio 3.33: POSIX_FADV_DONTNEED at the start of each pass, and none where it has no passes.
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
            ("--rw=randread --ioengine=mmap --loops=3", true),
            ("--rw=randread --norandommap --loops=3", false),
            ("--rw=randread --random_distribution=zipf:1.2 --io_size=256k", false),
            ("--rw=randread --pre_read=1 --loops=2", false),
            ("--rw=randread --invalidate=0 --loops=2", false),
            // It does so with O_DIRECT, too, where nothing is in memory.
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
