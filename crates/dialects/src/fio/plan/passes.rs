//! Passes of a job that writes and verifies, where blocks are written in order or have a map. As observed in fio 3.42, read-back counts
//! towards `io_size` and `number_ios`, and each pass is read back before the next one.

use super::super::UsageError;
use super::super::settings::Settings;
use super::job_files::JobFiles;
use super::{amounts, loops, mixes, read_back};
use fathom_workload::{Access, Amount, Bytes, Direction, Mix, Record, Stream, Verify};

/// How much is written, and in how many passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// There is more than one pass.
    several: bool,
    /// Minimum bytes moved, including read-back, if this determines the number of passes; else 0.
    moves: u64,
    /// Minimum number of passes, regardless of `moves`.
    loops: u64,
    /// Limit on operations, including read-back; 0: none.
    most: u64,
    /// Bytes of a pass that ends before the end of the part; else 0.
    bytes: u64,
}

impl Passes {
    const ONE: Self = Self { several: false, moves: 0, loops: 0, most: 0, bytes: 0 };
    const SEVERAL: Self = Self { several: true, ..Self::ONE };

    /// Several passes, limited by `number_ios` if given.
    pub(super) fn limited(s: &Settings, loops: u64, stream: &Stream) -> Result<Self, UsageError> {
        let most = s.number("number_ios")?.unwrap_or(0).saturating_mul(loops);
        let backlog = s.number("verify_backlog")?.filter(|n| *n > 0 && most > 0);
        if let Some(backlog) = backlog {
            known_beside_number_ios(s, loops, stream, backlog)?;
        }
        Ok(Self { most, ..Self::SEVERAL })
    }

    /// At least `loops` passes, and enough to move `moves` bytes.
    pub(super) fn until(self, moves: u64, loops: u64) -> Self {
        Self { moves, loops, ..self }
    }

    /// Whether `number_ios` limits them.
    pub(super) fn are_limited(self) -> bool {
        self.most > 0
    }
}

/// Determines how much is written, whether or not it is read back (`do_verify=0`). `None` if there are no passes: without a map
/// where blocks are skipped, or with a time limit.
pub fn settle(
    s: &Settings,
    stream: &mut Stream,
    laid: &mut JobFiles,
    reads_back: bool,
) -> Result<Option<Passes>, UsageError> {
    let mixes = matches!(stream.direction, Direction::Mix(_));
    let stops = laid.stops_after(stream).filter(|_| reads_back);
    let stops = if may_read_back_meanwhile(s, stream)? { stops } else { None };
    let bytes = stops.map_or(0, |blocks| blocks.saturating_mul(stream.record.unit().0));
    if reads_back && goes_round(s, stream, laid)? {
        // If no block is cut off at the end, it continues at the beginning.
        let bytes = if is_cut(stream, laid) { bytes } else { 0 };
        return Ok(Some(Passes { bytes, ..Passes::SEVERAL }));
    }
    let has_passes = match stream.access {
        Access::Permuted => true,
        Access::Sequential => reads_back || !mixes,
        Access::SequentialByKind => reads_back,
        _ => stops.is_some(),
    };
    let leaves_out = matches!(stream.access, Access::Striped { .. } | Access::ZonesInTurn { .. });
    if leaves_out && reads_back && stops.is_none() {
        let asked = laid.parts.first().map(|part| part.asked(s)).transpose()?.flatten();
        if asked.is_some_and(|io_size| io_size > laid.bytes_of_a_pass()) {
            return Err(unknown(s, 1, "where blocks are left out"));
        }
    }
    let (Some(part), true) = (laid.parts.first(), has_passes) else { return Ok(None) };
    let region = laid.bytes_of_a_pass();
    // It only writes but is called a mix: like a sequential mix, it starts over by itself.
    let called_mix = matches!(s.word("rw"), Some("rw" | "readwrite"));
    let whole = region.is_multiple_of(stream.record.unit().0.max(1));
    let in_order = stream.access == Access::Sequential && called_mix && !mixes;
    if in_order
        && whole
        && !amounts::queues(s, stream)
        && part.asked(s)?.is_some_and(|io_size| io_size > region)
    {
        return Ok(None);
    }
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
        let unit = stream.record.unit().0.max(1);
        let io_size = part.asked(s)?.unwrap_or(0);
        if !reads_back {
            // As below, for blocks of one size.
            if io_size == 0 || io_size > region && !(loops == 1 && amounts::queues(s, stream)) {
                amount_of(stream, laid, Amount::Passes(loops));
            }
            return Ok(Some(Passes::ONE));
        }
        if io_size > 0 && io_size < region && loops > 1 {
            return Err(unknown(
                s,
                loops,
                "with blocks of changing sizes, together with an io_size below size",
            ));
        }
        if mixes {
            return mixes::passes(s, stream, laid, loops, (io_size, region));
        }
        let passes = io_size.div_ceil(2 * (region / unit * unit).max(1)).max(loops);
        amount_of(stream, laid, if passes > 1 { Amount::Passes(passes) } else { Amount::Pass });
        return Ok(Some(if passes > 1 { Passes::limited(s, loops, stream)? } else { Passes::ONE }));
    };
    let (size, blocks) = (size.0.max(1), stops.unwrap_or_else(|| laid.blocks(stream)).max(1));
    let asked = match stream.amount {
        Amount::Endless => return Ok(None),
        Amount::Pass => blocks,
        Amount::Passes(n) => n.saturating_mul(blocks),
        Amount::Operations(n) => n,
        Amount::Bytes(bytes) => bytes.0.div_ceil(size),
    };
    // A block begun within a pass of a sequential mix is done in full.
    if stops.is_none() && asked <= if mixes { region.div_ceil(size) } else { blocks } {
        return Ok(Some(Passes::ONE));
    }
    if mixes && reads_back {
        return mixes::passes(s, stream, laid, loops, (part.asked(s)?.unwrap_or(0), region));
    }
    let io_size = part.asked(s)?.unwrap_or(if stops.is_some() { region } else { 0 });
    let moved_by_pass = blocks.saturating_mul(1 + u64::from(reads_back));
    if !reads_back && loops == 1 && amounts::queues(s, stream) {
        return Ok(Some(Passes::SEVERAL));
    }
    // Without read-back, io_size alone adds no second pass for synchronous engines.
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
            known_beside_number_ios(s, loops, stream, backlog)?;
            // Writes and read-backs alternate in equal numbers.
            rest = rest / (2 * backlog) * backlog + (rest % (2 * backlog)).min(backlog);
        }
        let rest = rest.min(blocks);
        writes = writes.min(whole.saturating_mul(blocks).saturating_add(rest));
    }
    if writes != asked {
        let amount = match writes / blocks {
            1 if writes == blocks && stops.is_none() => Amount::Pass,
            n if n * blocks == writes && stops.is_none() => Amount::Passes(n),
            _ => Amount::Operations(writes),
        };
        amount_of(stream, laid, amount);
        if !amounts::queues(s, stream) {
            loops::sync_the_last(s, stream, laid)?;
        }
    }
    Ok(Some(if writes > blocks { Passes { bytes, ..Passes::SEVERAL } } else { Passes::ONE }))
}

/// Whether the end cuts off a stripe.
fn is_cut(stream: &Stream, laid: &JobFiles) -> bool {
    match stream.access {
        Access::Striped { run, gap, .. } if laid.stops_after(stream).is_some() => {
            (1..run.0).contains(&(laid.bytes_of_a_pass() % run.0.saturating_add(gap.0).max(1)))
        }
        _ => false,
    }
}

/// Whether a job verifies pass by pass until time or `loops` end it: with `time_based`, or without a map of finished blocks.
/// This applies to queued engines. With others everything is one pass in fio too, unless a sequential pass leaves a remainder smaller
/// than a block.
fn goes_round(s: &Settings, stream: &Stream, laid: &JobFiles) -> Result<bool, UsageError> {
    let endless = stream.amount == Amount::Endless;
    let (loops, region) = (s.number("loops")?.unwrap_or(1), laid.bytes_of_a_pass());
    let in_full = laid.parts.first().map(|part| part.asked(s)).transpose()?.flatten().unwrap_or(0) <= region;
    let without_map = stream.access.draws_each()
        && (endless || loops > 1 && in_full && s.number("number_ios")?.unwrap_or(0) == 0)
        && s.number("verify_backlog")?.unwrap_or(0) == 0;
    let in_order = match stream.access {
        Access::Sequential | Access::SequentialByKind => true,
        Access::PartlyRandom { reads_percent, writes_percent, .. } => reads_percent + writes_percent == 0,
        _ => false,
    };
    let fixed = matches!(stream.record, Record::Fixed(_));
    let leaves_a_rest = in_order
        && fixed
        && stream.access != Access::SequentialByKind
        && laid.blocks(stream) * stream.record.unit().0 < region;
    let with_one = endless
        && (in_order || matches!(stream.access, Access::Permuted | Access::Striped { by_kind: false, .. }));
    Ok((amounts::queues(s, stream) && (with_one || without_map)
        || endless && (leaves_a_rest || is_cut(stream, laid)))
        && may_read_back_meanwhile(s, stream)?)
}

/// Whether reading back between passes is possible. The rate of a mix also applies to its reads.
fn may_read_back_meanwhile(s: &Settings, stream: &Stream) -> Result<bool, UsageError> {
    let writes_alone = matches!(stream.direction, Direction::Write | Direction::Mix(Mix::ReadPercent(0)));
    let rate = stream.pace.rate.filter(|_| writes_alone);
    Ok(!s.on("verify_only", false)
        && stream.sync_series.is_none()
        && read_back::trim(s)?.is_none()
        && read_back::paces_what_checks(stream, rate))
}

/// Sets the amount for all clones.
pub(super) fn amount_of(stream: &mut Stream, laid: &mut JobFiles, amount: Amount) {
    stream.amount = amount;
    laid.parts.iter_mut().for_each(|part| part.amount = amount);
}

/// Checks that the end by `number_ios` is known for passes that are read back during the run.
fn known_beside_number_ios(
    s: &Settings,
    loops: u64,
    stream: &Stream,
    backlog: u64,
) -> Result<(), UsageError> {
    if s.number("verify_backlog_batch")?.is_some_and(|batch| batch != backlog) {
        return Err(unknown(s, loops, "with number_ios and verify_backlog_batch"));
    }
    if u64::from(stream.queue_depth) > backlog {
        return Err(unknown(s, loops, "with number_ios and a queue deeper than verify_backlog"));
    }
    Ok(())
}

impl Passes {
    /// Makes a job read back after each of its passes. Returns whether the job has several passes.
    pub fn read_back(
        this: Option<Self>,
        s: &Settings,
        stream: &mut Stream,
        check: Verify,
    ) -> Result<bool, UsageError> {
        let Some(passes) = this.filter(|passes| passes.several) else { return Ok(false) };
        let loops = s.number("loops")?.unwrap_or(1);
        let mut kept = read_back::kept(s, stream)?;
        if kept.trim.is_some() {
            return Err(unknown(s, loops, "with trim_backlog"));
        }
        if !read_back::paces_what_checks(stream, stream.pace.rate) {
            return Err(unknown(s, loops, "with a flow or a latency target"));
        }
        kept.each_pass = true;
        (kept.most, kept.moves, kept.passes) = (passes.most, Bytes(passes.moves), passes.loops);
        kept.pass = Bytes(passes.bytes);
        kept.forgets_sync = amounts::queues(s, stream) && passes.bytes == 0;
        stream.keep_written = Some(kept);
        read_back::mixed_in(stream, check);
        Ok(true)
    }

    /// Refuses several passes for a job that only reads back.
    pub fn once(this: Option<Self>, s: &Settings) -> Result<(), UsageError> {
        let loops = s.number("loops")?.unwrap_or(1);
        match this.filter(|passes| passes.several) {
            Some(_) => Err(unknown(s, loops, "with verify_only")),
            None => Ok(()),
        }
    }
}

/// Error: the job cannot read back pass by pass.
pub(super) fn unknown(s: &Settings, loops: u64, what: &str) -> UsageError {
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
    use fathom_workload::{Amount, Program};

    /// Writes of 4 KiB, and the number of writes between read-backs.
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
    fn who_goes_round_checks_each_time_round_with_an_engine_that_queues() {
        // Reads and writes as counted by fio 3.42.
        for (args, each) in [
            ("--time_based --ioengine=libaio", true),
            ("--time_based --ioengine=io_uring --rw=randwrite", true),
            ("--time_based --ioengine=posixaio --rw=randrw", true),
            ("--time_based --ioengine=libaio --rw=rw", true),
            ("--time_based --ioengine=libaio --bsrange=4k-8k", true),
            ("--time_based --ioengine=libaio --number_ios=3", true),
            ("--time_based --ioengine=libaio --rw=randwrite --norandommap", true),
            ("--time_based --ioengine=libaio --rw=randwrite --random_distribution=zoned:50/10:50/90", true),
            ("--time_based --ioengine=io_uring --rw=randwrite --random_distribution=zipf:1.2", true),
            ("--time_based --ioengine=libaio --numjobs=2", true),
            ("--loops=3 --ioengine=libaio --rw=randwrite --norandommap", true),
            ("--loops=3 --ioengine=libaio --rw=randwrite --norandommap --io_size=32k", true),
            ("--loops=3 --rw=randwrite --norandommap", false),
            ("--time_based", false),
            ("--time_based --rw=randwrite", false),
            ("--time_based --ioengine=libaio --do_verify=0", false),
            ("--time_based --ioengine=libaio --flow=2", false),
            ("--time_based --ioengine=libaio --filename=f --numjobs=2", false),
            ("--time_based --ioengine=libaio --filename=f --numjobs=2 --offset_increment=64k", true),
            ("--time_based --ioengine=libaio --filename=f --name=b", false),
            ("--time_based --ioengine=libaio --filename=f --name=b --offset=64k", true),
            ("--time_based --ioengine=libaio --filename=f --stonewall --name=b", true),
            ("--time_based --ioengine=libaio --filename=f --name=b --rw=read --verify=0", true),
            ("--time_based --ioengine=libaio --rw=randwrite --percentage_random=0", true),
            ("--time_based --ioengine=libaio --rw=write:8k", true),
            ("--time_based --ioengine=null", false),
            ("--time_based --ioengine=null --iodepth=2", true),
            ("--time_based --ioengine=libaio --rw=rw --rate_iops=60", false),
            ("--time_based --ioengine=libaio --rate_iops=60", true),
            ("--time_based --ioengine=libaio --filename=./f --name=b --filename=f", false),
            ("--time_based --bs=3k", true),
            ("--time_based --bs=3k --rw=rw --ioengine=libaio", true),
            ("--time_based --rw=write:8k --ioengine=psync", false),
            ("--time_based --bs=3k --rw=write:6k", true),
            ("--time_based --bs=3k --rw=randwrite", false),
            ("--time_based --bs=3k --rw=randwrite --percentage_random=0", true),
            ("--time_based --size=66k", true),
            ("--time_based --nrfiles=3", true),
            ("--time_based --bs=3k --numjobs=2 --filename=f", false),
            ("--time_based --ioengine=libaio --trim_backlog=4 --trim_percentage=10", false),
            ("--ioengine=libaio", false),
        ] {
            let global = "--bs=4k --size=64k --rw=write --verify=crc32c --runtime=1";
            let plan = planned(&format!("{global} {args} --name=a"));
            let kept = plan.jobs.last().and_then(|job| job.stream.keep_written);
            assert_eq!(kept.is_some_and(|kept| kept.each_pass), each, "{args}");
        }
    }

    #[test]
    fn passes_with_blocks_of_changing_sizes_are_read_back_each() {
        // fio 3.42: 28, 28, 14 and 21 writes, seven per pass.
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
        // Without read-back, it makes the passes of loops, and with a queued engine moves all of io_size.
        for (args, passes) in [
            ("--loops=2", 2),
            ("--rw=randwrite --loops=2", 2),
            ("--rw=randrw --loops=2", 2),
            ("--rw=randwrite --io_size=128k", 1),
            ("--io_size=128k", 1),
            ("--rw=randrw --io_size=128k", 1),
            ("--io_size=128k --loops=2", 2),
            ("--rw=randwrite --io_size=128k --ioengine=libaio", 2),
        ] {
            let (writes, after, _) = writes(&format!("--do_verify=0 --bsrange=4k-16k {args}"));
            assert_eq!((writes, after), (passes * 16, (0, false)), "{args}");
        }
    }

    #[test]
    fn stripes_that_do_not_come_out_even_make_passes() {
        // Counts of fio 3.42, with six blocks per pass.
        for (args, count, again) in [
            ("", 12, true),
            ("--io_size=60k", 12, true),
            ("--io_size=48k", 6, false),
            ("--io_size=16k", 4, false),
            ("--io_size=128k", 18, true),
            ("--loops=3", 18, true),
            ("--ioengine=libaio", 12, true),
            ("--flow=2", 6, false),
        ] {
            let plan = planned(&format!("--name=a --bs=4k --size=64k --rw=write:8k --verify=crc32c {args}"));
            let stream = &plan.jobs[0].stream;
            let writes = match stream.amount {
                Amount::Operations(n) => n,
                Amount::Bytes(bytes) => bytes.0 / 4096,
                _ => 0,
            };
            assert_eq!(writes, count, "{args}");
            let pass = stream.keep_written.filter(|kept| kept.each_pass).map(|kept| kept.pass.0);
            assert_eq!(pass, again.then_some(6 * 4096), "{args}");
        }
    }

    #[test]
    fn number_ios_ends_passes_with_blocks_of_changing_sizes() {
        // fio 3.42: 28 operations in two loops, including read-back.
        let plan = planned(
            "--name=a --size=64k --rw=randwrite --verify=crc32c --bsrange=4k-8k --loops=2 --number_ios=14",
        );
        let kept = plan.jobs[0].stream.keep_written.expect("it reads back");
        assert_eq!((kept.each_pass, kept.most), (true, 28));
    }

    #[test]
    fn the_last_write_of_a_pass_is_synced_where_more_is_to_come() {
        for (args, between) in [
            ("--io_size=512k", false),
            ("--io_size=100k", false),
            ("--loops=3", true),
            ("--rw=write:8k", false),
            ("--rw=write:8k --io_size=24k", true),
            ("--rw=write:4k", true),
        ] {
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
            "--io_size=1m --rw=rw --size=66k",
            "--io_size=1m --rw=rw --ioengine=libaio --verify_backlog=4",
            "--io_size=1m --rw=rw --bsrange=4k-8k",
            "--loops=2 --flow=2",
            "--io_size=1m --rw=write:4k",
            "--loops=2 --verify_only",
            "--bs=4k --loops=3 --number_ios=20 --verify_backlog=5 --verify_backlog_batch=2",
            "--bs=4k --loops=3 --number_ios=20 --verify_backlog=5 --ioengine=libaio --iodepth=8",
        ] {
            let why = refused(&format!("--name=a --size=64k --rw=write --verify=crc32c {args}"));
            assert!(why.contains("each pass is read back"), "{args}: {why}");
        }
        // The last block of a sequential mix begins within its only pass.
        planned("--name=a --rw=rw --bs=3k --size=64k --verify=crc32c");
    }
}
