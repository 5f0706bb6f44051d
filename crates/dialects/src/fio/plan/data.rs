//! What a job writes, and what it checks: contents of buffers, and the families of verify.

use super::super::settings::Settings;
use super::super::{World, Wrong};
use super::backlog::{self, Backlog};
use super::files::Laid;
use super::what::Direction;
use super::{Notes, pattern, verified};
use fathom_workload::{Access, Amount, Backend, Data, Record, Stream, Verify};

/// What follows from the options of verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// What was written is read back and checked.
    pub reads_back: bool,
    /// It is read back while the job still writes.
    pub backlog: Option<Backlog>,
    /// Not all was written, or not once each: just that is read back.
    pub listed: bool,
    /// Nothing is written: only that.
    pub only: bool,
}

/// Contents of what is written, and checks.
pub fn apply(
    s: &Settings,
    stream: &mut Stream,
    rw: Direction,
    laid: &Laid,
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Checks, Wrong> {
    stream.data = data(s, world, notes)?;
    let verify = s.word("verify").unwrap_or("0").to_owned();
    let (do_verify, only) = (s.on("do_verify", true), s.on("verify_only", false));
    // Asked for in any case: they mean nothing without verify.
    let sealed = verified::sealed(s, &verify, stream, world)?;
    let _ = (s.number("verify_backlog")?, s.number("verify_backlog_batch")?);
    if verify == "0" {
        if only {
            return Err(s
                .wrong("verify_only", "verify_only needs verify")
                .hint("verify=crc32c, for example"));
        }
        return Ok(Checks::default());
    }
    if s.last_of(&["zero_buffers", "buffer_pattern", "buffer_compress_percentage", "dedupe_percentage"])
        .is_some()
    {
        return Err(s
            .wrong(
                "verify",
                "what is to be checked has a header, and random bytes or a pattern behind it, so the buffers have no other",
            )
            .hint("instead: verify_pattern, or leave the options for buffers out"));
    }
    if laid.several {
        return Err(s
            .wrong("verify", "several files of a clone cannot be checked")
            .hint("instead: one file, or a clone for each"));
    }
    let check = match sealed {
        // Nothing is looked at; what is written is read back all the same.
        None => {
            notes.say("verify=null: what was written is read back, and not looked at".into());
            Verify::No
        }
        Some(sealed) => {
            verified::fits(s, stream, &sealed)?;
            if stream.backend == Backend::Null {
                notes.say("ioengine=null reads nothing, so nothing is checked".into());
                Verify::No
            } else {
                stream.data = Data::Sealed(sealed);
                Verify::Full
            }
        }
    };
    if s.on("verify_dump", false) && s.on("unlink", false) {
        return Err(s
            .wrong("verify_dump", "verify_dump needs the file, which unlink=1 removes")
            .hint("leave one of them out"));
    }
    if !rw.writes() {
        if !matches!(stream.access, Access::Sequential) && !matches!(stream.record, Record::Fixed(_)) {
            return Err(s
                .wrong(
                    "verify",
                    "blocks of changing sizes in random order do not come to all there is to check",
                )
                .hint("bs= of one size, or rw=read"));
        }
        stream.verify = check;
        return Ok(Checks::default());
    }
    if !do_verify && !only {
        return Ok(Checks::default());
    }
    // What was written is known there, whatever the order is and wherever it ends.
    if let Some(backlog) = backlog::of(s, stream, rw)?.filter(|_| !only) {
        return Ok(Checks { backlog: Some(backlog), ..Checks::default() });
    }
    let once_each = matches!(stream.access, Access::Sequential | Access::Permuted);
    let all = matches!(stream.amount, Amount::Pass | Amount::Passes(_))
        && matches!(stream.record, Record::Fixed(_));
    if s.time("runtime")? > 0 {
        return Err(s
            .wrong("verify", "reading back needs to know what was written, and a runtime may end it anywhere")
            .hint("instead: number_ios, io_size or size; or do_verify=0, which writes what a later job with rw=read and verify can check"));
    }
    let listed = rw.mixed || !(once_each && all);
    if listed {
        backlog::countable(s, "verify", stream)?;
        if s.time("ramp_time")? > 0 {
            return Err(s
                .wrong(
                    "verify",
                    "reading back needs to know what was written, and a warm-up does as much as it comes to",
                )
                .hint("leave ramp_time out"));
        }
    }
    if rw.mixed {
        notes.say(format!(
            "job {}: the reads of a mix may find what was there before, and are not checked; what was written is read back and checked",
            s.job
        ));
    }
    Ok(Checks { reads_back: true, only, listed, backlog: None })
}

fn data(s: &Settings, world: &World<'_>, notes: &mut Notes) -> Result<Data, Wrong> {
    let percent = |name: &'static str| -> Result<u8, Wrong> {
        let given = s.number(name)?.unwrap_or(0);
        match u8::try_from(given) {
            Ok(p) if p <= 100 => Ok(p),
            _ => Err(s.wrong(name, format!("{name}={given}: 0 to 100 is expected"))),
        }
    };
    // Random data that differs everywhere is what there is without them, too.
    let _ = s.on("refill_buffers", false);
    if s.last("scramble_buffers").is_some() {
        notes.say(
            "scramble_buffers: what is written differs everywhere and does not compress; fio repeats its buffers, changed here and there or not at all"
                .into(),
        );
    }
    let (compressible_percent, duplicate_percent) =
        (percent("buffer_compress_percentage")?, percent("dedupe_percentage")?);
    let zero = s.on("zero_buffers", false);
    let repeated = s.text("buffer_pattern");
    for (name, percent) in
        [("buffer_compress_percentage", compressible_percent), ("dedupe_percentage", duplicate_percent)]
    {
        if percent > 0 && percent < 100 && (zero || repeated.is_some()) {
            return Err(s
                .wrong(name, format!("{name}: blocks are a pattern or zeros as a whole, or random in part"))
                .hint("leave out either this, or buffer_pattern and zero_buffers"));
        }
    }
    if let Some(text) = repeated {
        let bytes = pattern::bytes(text, world)
            .map_err(|why| s.wrong("buffer_pattern", format!("buffer_pattern={text}: {why}")))?;
        return Ok(if let [byte] = bytes.as_slice() { Data::Byte(*byte) } else { Data::Repeated { bytes } });
    }
    if zero {
        return Ok(Data::Zero);
    }
    if compressible_percent > 0 || duplicate_percent > 0 {
        return Ok(Data::Reducible { compressible_percent, duplicate_percent, within_percent: 100 });
    }
    Ok(Data::Unique)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Program, Verify};

    #[test]
    fn what_excludes_each_other_is_refused() {
        for args in [
            "--buffer_compress_percentage=40 --buffer_pattern=1",
            "--dedupe_percentage=40 --zero_buffers",
            "--zero_buffers --buffer_compress_percentage=1",
        ] {
            let why = refused(&format!("--name=a --size=1m --rw=write {args}"));
            assert!(why.contains("random in part"), "{args}: {why}");
        }
        planned("--name=a --size=1m --rw=write --buffer_compress_percentage=40 --dedupe_percentage=10");
    }

    #[test]
    fn what_is_read_back_cannot_end_by_the_clock() {
        for (args, words) in [
            ("--runtime=5", "a runtime may end it anywhere"),
            ("--rw=randrw --ramp_time=1", "a warm-up"),
            ("--rw=randwrite --norandommap --size=1t", "writes at most"),
            ("--rw=randrw --verify_backlog=4", "of a mix"),
            ("--numjobs=2 --exitall", "exitall of job a"),
            ("--name=b --rw=read --size=1m --exitall", "exitall of job b"),
        ] {
            let why = refused(&format!("--name=a --size=1m --rw=write --verify=crc32c {args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
        let alone = "--name=a --size=1m --rw=write --verify=crc32c";
        planned(&format!("{alone} --exitall"));
        planned(&format!("{alone} --name=b --stonewall --rw=read --size=1m --exitall"));
        planned(&format!("{alone} --do_verify=0 --name=b --rw=read --size=1m --exitall"));
        let mix = planned("--name=a --size=1m --rw=randrw --verify=crc32c");
        assert!(mix.notes.iter().any(|note| note.contains("not checked")), "{:?}", mix.notes);
    }

    #[test]
    fn a_check_comes_to_every_block() {
        let checks = |args: &str| format!("--name=a --size=1m --verify=crc32c {args}");
        for args in ["--rw=randread --bsrange=4k-16k", "--rw=randread --bssplit=4k/50:8k/50"] {
            let why = refused(&checks(args));
            assert!(why.contains("changing sizes"), "{args}: {why}");
        }
        planned(&checks("--rw=read --bsrange=4k-16k"));
        planned(&checks("--rw=randread --bs=8k"));
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
