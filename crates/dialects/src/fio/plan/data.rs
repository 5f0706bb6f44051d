//! What a job writes and checks: buffer contents, and the verify options.

use super::super::settings::Settings;
use super::super::version::Version;
use super::super::{UsageError, World};
use super::direction::{Rw, Trims};
use super::job_files::JobFiles;
use super::passes::{self, Passes};
use super::read_back;
use super::{Notes, dedupe, pattern, state, verify_options};
use fathom_workload::{Access, Amount, Backend, Data, RateOf, Record, Stream, Verify};

/// Consequences of the verification options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// A separate phase reads back and checks what was written.
    pub reads_back: bool,
    /// The job reads back while it still writes.
    pub backlog: bool,
    /// The writes become a list before the start: the job does not remember them, and covers only a part, or blocks repeatedly.
    pub listed: bool,
    /// Only reads back; writes nothing.
    pub only: bool,
}

/// Applies buffer contents and checks.
pub fn apply(
    s: &Settings,
    stream: &mut Stream,
    rw: Rw,
    laid: &mut JobFiles,
    (world, version): (&World<'_>, Version),
    notes: &mut Notes,
) -> Result<Checks, UsageError> {
    stream.data = data(s, stream, laid, world, notes)?;
    let verify = verify_options::family(s).to_owned();
    let (do_verify, only) = (s.on("do_verify", true), s.on("verify_only", false));
    // Looked up in any case: the options have no effect without verify.
    let sealed = verify_options::sealed(s, &verify, stream, world, version)?;
    let _ = (s.number("verify_backlog")?, s.number("verify_backlog_batch")?);
    let trims = read_back::trim(s)?.is_some();
    if verify == "0" {
        if only {
            return Err(s
                .wrong("verify_only", "verify_only needs verify")
                .hint("verify=crc32c, for example"));
        }
        return Ok(Checks::default());
    }
    for name in buffers_beside(s, &verify)? {
        notes.say(format!(
            "{name} has no effect with verify={verify}, as in fio: verified blocks have their own contents"
        ));
    }
    if rw.trims != Trims::No {
        return Err(s
            .wrong("verify", format!("what rw={} gave back has no contents to check", rw.word()))
            .hint("leave verify out, or write without trims"));
    }
    if !stream.backend.moves_data() && stream.backend != Backend::Null {
        return Err(s
            .wrong("verify", "its engine moves no data, so there is nothing to verify")
            .hint("leave verify out of this job"));
    }
    let check = match sealed {
        // Nothing is checked, but what is written is still read back.
        None => {
            notes.say("verify=null: what was written is read back, and not looked at".into());
            Verify::No
        }
        Some(sealed) => {
            verify_options::fits(s, stream, &sealed)?;
            if stream.backend == Backend::Null {
                notes.say("ioengine=null reads nothing, so nothing is checked".into());
                Verify::No
            } else {
                stream.data = Data::Sealed(sealed);
                Verify::Full
            }
        }
    };
    if trims && (only || matches!(stream.access, Access::Listed(_))) {
        return Err(s
            .wrong(
                "trim_backlog",
                "trim_backlog needs a job that writes by itself: not verify_only, and no iolog",
            )
            .hint("leave trim_backlog out"));
    }
    if trims {
        trims_go_with(s, stream)?;
    }
    if s.on("verify_dump", false) && s.on("unlink", false) {
        return Err(s
            .wrong("verify_dump", "verify_dump needs the file, which unlink=1 removes")
            .hint("leave one of them out"));
    }
    if !rw.writes() {
        // As in fio 3.42, the reads of a mix are not checked, even if it only reads.
        if !rw.called_mix {
            stream.verify = check;
        } else if !do_verify && !only {
            passes::settle(s, stream, laid, false)?;
        }
        return Ok(Checks::default());
    }
    let passes = passes::settle(s, stream, laid, do_verify || only)?;
    if !do_verify && !only {
        return Ok(Checks::default());
    }
    let once_each = matches!(stream.access, Access::Sequential | Access::Permuted) && !rw.mixed;
    let fixed = matches!(stream.record, Record::Fixed(_));
    let all = once_each && fixed && matches!(stream.amount, Amount::Pass | Amount::Passes(_));
    let timed = s.time("runtime")? > 0;
    if rw.mixed {
        notes.say(format!(
            "job {}: the reads of a mix may find what was there before, and are not checked; what was written is read back and checked",
            s.job
        ));
    }
    if only && stream.pace.rate_of != RateOf::All {
        return Err(s
            .wrong(
                "verify_only",
                "verify_only: which blocks a mix writes depends on the clock where only one kind has a rate",
            )
            .hint("leave out the rate, or give both one"));
    }
    if only && stream.zoned_device.is_some() {
        return Err(s.wrong(
            "verify_only",
            "verify_only: where a job with zonemode=zbd writes is known only when it writes",
        ));
    }
    if only || matches!(stream.access, Access::Listed(_)) {
        Passes::once(passes, s)?;
        // A job that writes nothing is not ended by a clock either.
        let whole = all || (only && once_each && fixed && stream.amount == Amount::Endless);
        let length = laid.parts.first().map_or(0, |part| part.length);
        return listed(s, stream, length, (only, !whole));
    }
    let pass_by_pass = Passes::read_back(passes, s, stream, check)?;
    let mut kept = read_back::kept(s, stream)?;
    if kept.after > 0 && !pass_by_pass {
        // Blocks read back during the run count, over all loops together.
        let loops = s.number("loops")?.unwrap_or(1).max(1);
        kept.most = s.number("number_ios")?.unwrap_or(0).saturating_mul(loops);
    }
    if pass_by_pass || kept.after > 0 {
        if !pass_by_pass {
            stream.keep_written = Some(kept);
            read_back::mixed_in(stream, check);
        }
        // Writes in flight at the end, and those that a time limit leaves over, are read back afterwards.
        return Ok(Checks {
            backlog: true,
            reads_back: timed || stream.queue_depth > 1,
            ..Checks::default()
        });
    }
    if timed {
        notes.say(format!(
            "job {}: when its runtime is over, what it has written is read back, which takes its time; fio reads nothing back then (do_verify=0 does not here, either)",
            s.job
        ));
    }
    // On zones the writes are not where they were drawn.
    if timed || !all || trims || stream.zoned_device.is_some() {
        stream.keep_written = Some(kept);
    }
    Ok(Checks { reads_back: true, ..Checks::default() })
}

/// Checks that the other options of a job allow trimming what it wrote.
fn trims_go_with(s: &Settings, stream: &Stream) -> Result<(), UsageError> {
    const NAME: &str = "trim_backlog";
    if matches!(stream.backend, Backend::Mmap { .. }) {
        return Err(s
            .wrong(
                NAME,
                format!("{NAME} cannot be combined with ioengine=mmap, which keeps what it wrote in memory"),
            )
            .hint("ioengine=psync, or leave trim_backlog out"));
    }
    match s.last_of(&["max_latency", "rate_min", "rate_iops_min", "latency_target"]) {
        Some(limit) => Err(s
            .wrong(NAME, format!("{NAME} cannot be combined with {limit}, which is about reads and writes"))
            .hint("leave one of the two out")),
        None => Ok(()),
    }
}

/// Buffer options that verify overrides, as in fio 3.42.
fn buffers_beside(s: &Settings, verify: &str) -> Result<Vec<&'static str>, UsageError> {
    const COMPRESSES: &str = "buffer_compress_percentage";
    let compresses = (1..100).contains(&s.number(COMPRESSES)?.unwrap_or(0));
    if compresses && s.text("buffer_pattern").is_some() && verify != "null" {
        return Err(s
            .wrong(
                COMPRESSES,
                "verify fills each block with a header and random bytes (or verify_pattern), so buffer_pattern cannot be used",
            )
            .hint("leave buffer_pattern out: blocks then end with zeros"));
    }
    let patterned = s.text("verify_pattern").is_some();
    let on = [
        (COMPRESSES, s.number(COMPRESSES)?.is_some_and(|percent| percent == 100 || percent > 0 && patterned)),
        ("dedupe_percentage", s.number("dedupe_percentage")?.unwrap_or(0) > 0),
        ("zero_buffers", s.on("zero_buffers", false)),
        ("buffer_pattern", s.text("buffer_pattern").is_some()),
    ];
    let named: Vec<&'static str> = on.into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    // With verify=null the buffers stay as they are.
    Ok(if verify == "null" { Vec::new() } else { named })
}

/// For a job of this many bytes that writes nothing or follows a list.
fn listed(
    s: &Settings,
    stream: &Stream,
    length: u64,
    (only, listed): (bool, bool),
) -> Result<Checks, UsageError> {
    if !only && s.time("runtime")? > 0 {
        return Err(s
            .wrong("verify", "reading back what an iolog says needs all of it to be written, and a runtime may end it anywhere")
            .hint("leave runtime out; or do_verify=0"));
    }
    if !only && s.number("verify_backlog")?.unwrap_or(0) > 0 {
        return Err(s
            .wrong("verify_backlog", "what an iolog writes is read back when all of it is done")
            .hint("leave verify_backlog out"));
    }
    if listed {
        // The saved state sets the limit.
        if !(only && state::loads(s)) {
            read_back::countable(s, "verify", stream, length)?;
        }
        if !only && (s.time("ramp_time")? > 0 || s.text("ramp_size").is_some()) {
            return Err(s
                .wrong("verify", "reading back what an iolog says needs to know what was written, and a warm-up does as much as it comes to")
                .hint("leave the warm-up out"));
        }
    }
    Ok(Checks { reads_back: true, only, listed, ..Checks::default() })
}

fn data(
    s: &Settings,
    stream: &Stream,
    laid: &JobFiles,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Data, UsageError> {
    let percent = |name: &'static str| -> Result<u8, UsageError> {
        let given = s.number(name)?.unwrap_or(0);
        match u8::try_from(given) {
            Ok(p) if p <= 100 => Ok(p),
            _ => Err(s.wrong(name, format!("{name}={given}: 0 to 100 is expected"))),
        }
    };
    // Random data that never repeats is also the default.
    let _ = s.on("refill_buffers", false);
    if s.last("scramble_buffers").is_some() {
        notes.say(
            "scramble_buffers: what is written differs everywhere and does not compress; fio repeats its buffers, changed here and there or not at all"
                .into(),
        );
    }
    let (compressible_percent, duplicate_percent) =
        (percent("buffer_compress_percentage")?, percent("dedupe_percentage")?);
    dedupe::check(s, duplicate_percent)?;
    /// The percentage of zeros applies to each piece of this many bytes.
    const PIECE: u64 = 4096;
    let piece = s.number("buffer_compress_chunk")?.unwrap_or(0);
    if piece > PIECE && (1..100).contains(&compressible_percent) {
        return Err(s
            .wrong(
                "buffer_compress_chunk",
                format!(
                    "buffer_compress_chunk={piece}: what is written compresses in pieces of {PIECE} bytes"
                ),
            )
            .hint("buffer_compress_chunk=4096, or leave it out"));
    }
    let zero = s.on("zero_buffers", false);
    let repeated = s.text("buffer_pattern");
    for (name, percent) in
        [("buffer_compress_percentage", compressible_percent), ("dedupe_percentage", duplicate_percent)]
    {
        // For compressible data, the pattern may fill the compressible part.
        let part = name == "buffer_compress_percentage" && repeated.is_some() && !zero;
        if percent > 0 && percent < 100 && (zero || repeated.is_some()) && !part {
            return Err(s
                .wrong(name, format!("{name} cannot be combined with buffer_pattern or zero_buffers: those fill the whole block"))
                .hint("leave out either this, or buffer_pattern and zero_buffers"));
        }
    }
    if let Some(text) = repeated {
        let bytes = pattern::bytes(text, world)
            .map_err(|why| s.wrong("buffer_pattern", format!("buffer_pattern={text}: {why}")))?;
        if (1..100).contains(&compressible_percent) {
            return Ok(Data::Reducible {
                compressible_percent,
                duplicate_percent: 0,
                within_percent: 0,
                distinct: 0,
                filler: bytes,
            });
        }
        return Ok(if let [byte] = bytes.as_slice() { Data::Byte(*byte) } else { Data::Repeated { bytes } });
    }
    if zero {
        return Ok(Data::Zero);
    }
    if compressible_percent > 0 || duplicate_percent > 0 {
        let (within_percent, distinct) = dedupe::shared(s, stream, laid, duplicate_percent)?;
        let filler = Vec::new();
        return Ok(Data::Reducible {
            compressible_percent,
            duplicate_percent,
            within_percent,
            distinct,
            filler,
        });
    }
    Ok(Data::Unique)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Data, Program, Verify};

    #[test]
    fn what_excludes_each_other_is_refused() {
        for args in [
            "--dedupe_percentage=40 --buffer_pattern=1",
            "--dedupe_percentage=40 --zero_buffers",
            "--zero_buffers --buffer_compress_percentage=1",
        ] {
            let why = refused(&format!("--name=a --size=1m --rw=write {args}"));
            assert!(why.contains("those fill the whole block"), "{args}: {why}");
        }
        planned("--name=a --size=1m --rw=write --buffer_compress_percentage=40 --dedupe_percentage=10");
        planned("--name=a --size=1m --rw=write --buffer_compress_percentage=40 --buffer_compress_chunk=4k");
        let why = refused(
            "--name=a --size=1m --rw=write --buffer_compress_percentage=40 --buffer_compress_chunk=8k",
        );
        assert!(why.contains("in pieces of 4096 bytes"), "{why}");
    }

    #[test]
    fn the_compressible_part_may_be_a_pattern() {
        // As fio 3.33 writes it: in each 4096 bytes, random bytes, then the pattern from its start.
        let of = |percent: u8| {
            let line = format!(
                "--name=a --size=1m --rw=write --buffer_compress_percentage={percent} --buffer_pattern=0xdeadbeef --buffer_compress_chunk=4096"
            );
            planned(&line).jobs[0].stream.data.clone()
        };
        let filler = vec![0xde, 0xad, 0xbe, 0xef];
        assert!(
            matches!(of(66), Data::Reducible { compressible_percent: 66, duplicate_percent: 0, filler: f, .. } if f == filler)
        );
        assert_eq!(of(0), Data::Repeated { bytes: filler.clone() });
        assert_eq!(of(100), Data::Repeated { bytes: filler });
    }

    #[test]
    fn what_is_checked_overrules_zeros_and_patterns() {
        let line = "--name=a --size=1m --rw=write";
        for option in ["zero_buffers", "buffer_pattern=0x41"] {
            let plan = planned(&format!("{line} --{option} --verify=crc32c"));
            assert!(matches!(plan.jobs[0].stream.data, Data::Sealed(_)), "{option}");
            assert!(plan.notes.iter().any(|n| n.contains("has no effect with verify=crc32c")), "{option}");
            let plan = planned(&format!("{line} --{option} --verify=null"));
            assert!(!matches!(plan.jobs[0].stream.data, Data::Sealed(_)), "{option}");
        }
        for (options, zeros_percent) in [
            ("--buffer_compress_percentage=40", 40),
            ("--buffer_compress_percentage=40 --dedupe_percentage=30", 40),
            ("--buffer_compress_percentage=40 --verify_pattern=0x41", 0),
            ("--buffer_compress_percentage=100", 0),
            ("--dedupe_percentage=30", 0),
        ] {
            let plan = planned(&format!("{line} {options} --verify=crc32c"));
            let Data::Sealed(sealed) = &plan.jobs[0].stream.data else { panic!("{options}") };
            assert_eq!(sealed.zeros_percent, zeros_percent, "{options}");
            let said = plan.notes.iter().any(|note| note.contains("has no effect with verify"));
            assert_eq!(said, options.contains("dedupe") || zeros_percent == 0, "{options}");
        }
        let why = refused(&format!("{line} --buffer_compress_percentage=40 --buffer_pattern=1 --verify=md5"));
        assert!(why.contains("buffer_pattern cannot be used"), "{why}");
    }

    #[test]
    fn what_may_be_ended_is_read_back_as_far_as_it_came() {
        for args in ["--runtime=5", "--rw=randrw --ramp_time=1", "--numjobs=2 --exitall", "--nrfiles=2"] {
            planned(&format!("--name=a --size=1m --rw=write --verify=crc32c {args}"));
        }
        let alone = "--name=a --size=1m --rw=write --verify=crc32c";
        planned(&format!("{alone} --exitall"));
        planned(&format!("{alone} --name=b --stonewall --rw=read --size=1m --exitall"));
        planned(&format!("{alone} --do_verify=0 --name=b --rw=read --size=1m --exitall"));
        let mix = planned("--name=a --size=1m --rw=randrw --verify=crc32c");
        assert!(mix.notes.iter().any(|note| note.contains("not checked")), "{:?}", mix.notes);
        let timed = planned(&format!("{alone} --runtime=5"));
        assert!(timed.notes.iter().any(|note| note.contains("fio reads nothing back")), "{:?}", timed.notes);
    }

    #[test]
    fn a_rate_beside_reading_back_is_that_of_the_writes() {
        let checked = "--name=a --size=1m --verify=crc32c --verify_backlog=4";
        let plan = planned(&format!("{checked} --rw=randwrite --rate_iops=50"));
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else { panic!() };
        assert!(stream.reads_only_back() && stream.pace.rate.is_some());
        for args in ["--rw=randrw --rate_iops=50", "--rw=write --rate_iops=50 --flow=2"] {
            let why = refused(&format!("{checked} {args}"));
            assert!(why.contains("would hold for the reads that check"), "{args}: {why}");
        }
    }

    #[test]
    fn whatever_is_read_is_checked() {
        let checks = |args: &str| format!("--name=a --size=1m --verify=crc32c {args}");
        for args in [
            "--rw=read --bsrange=4k-16k",
            "--rw=randread --bs=8k",
            "--rw=randread --bsrange=4k-16k",
            "--rw=randread --bssplit=4k/50:8k/50 --norandommap",
        ] {
            let plan = planned(&checks(args));
            let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
                panic!()
            };
            assert_eq!(stream.verify, Verify::Full, "{args}");
        }
        let why = refused(&checks("--rw=read --verify_dump=1 --unlink=1"));
        assert!(why.contains("which unlink=1 removes"), "{why}");
    }

    #[test]
    fn what_null_reads_is_not_looked_at() {
        for rw in ["read", "write", "randrw"] {
            let plan = planned(&format!("--name=a --size=1m --ioengine=null --verify=crc32c --rw={rw}"));
            for phase in &plan.workload.phases {
                let Program::Stream(stream) = &phase.groups[0].threads[0].program else { panic!("{rw}") };
                assert_eq!(stream.verify, Verify::No, "{rw}");
            }
            assert!(plan.notes.iter().any(|note| note.contains("ioengine=null")), "{:?}", plan.notes);
        }
    }
}
