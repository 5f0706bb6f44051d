//! Several passes of a mix that writes and verifies. A pass has as many reads and writes as there are blocks. The number of passes
//! depends on how many writes are drawn, which is known only during the run.

use super::super::UsageError;
use super::super::settings::Settings;
use super::amounts;
use super::job_files::JobFiles;
use super::passes::{Passes, amount_of, unknown};
use super::read_back;
use fathom_workload::{Access, Amount, Bytes, Record, Stream};

/// Several passes of a mix. `None` if fio 3.42 makes no passes: in sequential order, if blocks fill the region and the engine does
/// not queue, fio runs until it has moved `io_size`.
pub(super) fn passes(
    s: &Settings,
    stream: &mut Stream,
    laid: &mut JobFiles,
    loops: u64,
    (io_size, region): (u64, u64),
) -> Result<Option<Passes>, UsageError> {
    let passes = Passes::limited(s, loops, stream)?;
    let changes = !matches!(stream.record, Record::Fixed(_));
    if io_size <= region {
        if passes.are_limited() && io_size > 0 && io_size < region {
            return Err(unknown(s, loops, "of a mix, together with number_ios and an io_size below size"));
        }
        if passes.are_limited() && stream.access != Access::Permuted && !amounts::queues(s, stream) {
            return Err(unknown(s, loops, "of a mix in order, together with number_ios"));
        }
        if changes || passes.are_limited() {
            amount_of(stream, laid, Amount::Passes(loops));
        }
        return Ok(Some(passes));
    }
    if stream.access != Access::Permuted {
        if changes {
            return Err(unknown(s, loops, "of a mix in order with blocks of changing sizes"));
        }
        if !region.is_multiple_of(stream.record.unit().0.max(1)) {
            return Err(unknown(s, loops, "of a mix in order whose blocks do not fill its file"));
        }
        if !amounts::queues(s, stream) {
            return Ok(None);
        }
        if read_back::kept(s, stream)?.after > 0 {
            return Err(unknown(s, loops, "of a mix in order with verify_backlog and an engine that queues"));
        }
    }
    // The mix's own reads and writes end at io_size; no operation begins for a remainder smaller than a block.
    amount_of(stream, laid, Amount::Bytes(Bytes(io_size.saturating_mul(loops))));
    let moves = io_size.saturating_sub(stream.record.largest().0.saturating_sub(1)).max(1);
    Ok(Some(passes.until(moves, loops)))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::ops::{Done, Kept, OpCode, Place, Region, Source as _, StreamOps};
    use fathom_workload::{Amount, Bytes, Program, Stream};

    fn stream(args: &str) -> Stream {
        let plan = planned(&format!("--name=a --bs=4k --size=64k --rw=randrw --verify=crc32c {args}"));
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a flow"),
        }
    }

    /// Operations of the mix itself, its writes, and all bytes moved including read-back.
    fn done(args: &str) -> (u64, u64, u64) {
        let stream = stream(args);
        let (region, place) = (Region { start: 0, length: 64 << 10 }, Place::default());
        let ops = StreamOps::new(&stream, region, 0x89, place).expect("a record fits");
        let how = stream.keep_written.expect("it reads back");
        assert!(how.each_pass, "{args}");
        let mut ops = Kept::new(Box::new(ops), how, 1, 0x89, place).by_pass(how, region.length);
        let (mut own, mut writes, mut bytes) = (0, 0, 0);
        while let Some(op) = ops.next(&Done::default()) {
            let back =
                op.kind == OpCode::Read && ops.expected(&op) == fathom_workload::ops::Expected::Written;
            own += u64::from(op.bytes > 0 && !back);
            writes += u64::from(op.kind == OpCode::Write);
            bytes += u64::from(op.bytes);
            ops.completed(&op);
        }
        (own, writes, bytes)
    }

    #[test]
    fn a_mix_makes_passes_until_it_moved_enough_with_what_is_read_back() {
        // fio 3.42 with io_size=3m: 35 passes of 16 operations, 6 of them writes, and 210 read-backs; with rwmixread=20, 28 passes.
        let passes = |args: &str| {
            let (own, ..) = done(args);
            assert!(own.is_multiple_of(16), "{args}: {own}");
            own / 16
        };
        for (percent, of) in [(90, 41..=48), (50, 29..=37), (10, 24..=28)] {
            let drawn = passes(&format!("--io_size=3m --rwmixread={percent}"));
            assert!(of.contains(&drawn), "{percent}: {drawn}");
        }
        assert_eq!(passes("--io_size=3m --loops=99"), 99);
        assert_eq!(
            stream("--io_size=3m --loops=9999999").keep_written.map(|kept| kept.passes),
            Some(9_999_999)
        );
        // Counts of fio 3.42: 42 and 25 operations of the mix; 16 if no operation begins for the remaining 8 KiB.
        let reads = |args: &str| done(&format!("--rwmixread=99 {args}"));
        assert_eq!(reads("--io_size=168k").0 + reads("--io_size=100k").0, 42 + 25);
        let (_, writes, bytes) = done("--io_size=136k --rwmixread=50 --bsrange=4k-16k");
        assert!(writes > 0 && bytes < 256 << 10, "two passes: {bytes}");
        assert_eq!(stream("--loops=3 --bsrange=4k-16k").amount, Amount::Passes(3));
        let (.., bytes) = done("--io_size=3m --bsrange=4k-16k");
        assert!((3 << 20..(3 << 20) + (128 << 10)).contains(&bytes), "{bytes}");
        assert_eq!(stream("--io_size=32k --loops=3").amount, Amount::Bytes(Bytes(96 << 10)));
        // In sequential order only queued engines make passes; others move exactly io_size.
        assert!((24..48).contains(&passes("--io_size=3m --rw=rw --ioengine=libaio")));
        let straight = stream("--io_size=512k --rw=rw --loops=2 --verify_backlog=8");
        assert_eq!(straight.amount, Amount::Bytes(Bytes(1 << 20)));
        assert!(straight.keep_written.is_some_and(|kept| kept.after == 8 && !kept.each_pass));
        // Also if only one direction has a rate.
        for rate in ["--rate=,1m", "--rate_iops=100,"] {
            let kept = stream(&format!("--io_size=512k {rate}")).keep_written;
            assert!(kept.is_some_and(|kept| kept.moves == Bytes((512 << 10) - 4095)), "{rate}");
        }
    }

    #[test]
    fn number_ios_counts_what_is_read_back_before() {
        // fio 3.42: 16 operations per pass without the read-back, 6 of them writes.
        let ends = |args: &str, limit: u64| {
            let (own, writes, _) = done(args);
            let pass = done("--loops=2 --number_ios=9").1;
            let expected = if limit <= 16 + pass { limit.min(16) } else { limit - pass };
            assert_eq!(own, expected, "{args}: {pass} of {writes} writes in the first pass");
        };
        for (args, limit) in [
            ("--loops=2 --number_ios=9", 18),
            ("--loops=2 --number_ios=14", 28),
            ("--loops=2 --number_ios=16", 32),
            ("--io_size=256k --number_ios=20", 20),
            ("--io_size=256k --number_ios=28", 28),
            ("--io_size=256k --number_ios=32", 32),
        ] {
            ends(args, limit);
        }
        let one = stream("--loops=2 --number_ios=8");
        assert_eq!(
            (one.amount, one.keep_written.map(|kept| kept.each_pass)),
            (Amount::Operations(16), Some(false))
        );
        for args in [
            "--loops=3 --io_size=32k --number_ios=20",
            "--loops=2 --rw=rw --number_ios=20",
            "--loops=2 --number_ios=20 --verify_backlog=4 --verify_backlog_batch=2",
            "--loops=2 --number_ios=20 --verify_backlog=4 --ioengine=libaio --iodepth=8",
        ] {
            let why = refused(&format!("--name=a --bs=4k --size=64k --rw=randrw --verify=crc32c {args}"));
            assert!(why.contains("each pass is read back"), "{args}: {why}");
        }
    }

    #[test]
    fn what_is_called_a_mix_and_only_writes_in_order_goes_on_without_passes() {
        // Writes in fio 3.42, 16 per pass.
        for (args, writes, passes) in [
            ("--io_size=256k", 64, false),
            ("--io_size=96k", 24, false),
            ("--io_size=256k --loops=2", 128, false),
            ("--io_size=256k --number_ios=40", 40, false),
            ("--io_size=256k --number_ios=40 --loops=2", 80, false),
            ("--io_size=256k --nrfiles=2", 64, false),
            ("--io_size=256k --do_verify=0", 64, false),
            ("--io_size=256k --ioengine=libaio", 32, true),
            ("--io_size=256k --size=66k", 32, true),
            ("--io_size=256k --rw=randrw", 32, true),
            ("--number_ios=20 --loops=2", 24, true),
            ("--loops=2", 32, true),
        ] {
            let stream = stream(&format!("--rw=rw --rwmixread=0 {args}"));
            let count = match stream.amount {
                Amount::Passes(n) => n * 16,
                Amount::Operations(n) => n,
                Amount::Bytes(bytes) => bytes.0 / 4096,
                amount => panic!("{args}: {amount:?}"),
            };
            assert_eq!(
                (count, stream.keep_written.is_some_and(|kept| kept.each_pass)),
                (writes, passes),
                "{args}"
            );
        }
    }
}
