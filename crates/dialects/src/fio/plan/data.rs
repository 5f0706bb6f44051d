//! What a job writes, and what it checks: contents of buffers, and the families of verify.

use super::super::settings::Settings;
use super::super::{World, Wrong};
use super::files::Laid;
use super::what::Direction;
use super::{Notes, pattern};
use fathom_workload::{Access, Amount, Data, Record, Stream, Verify};

/// What follows from the options of verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// What was written is read back and checked.
    pub reads_back: bool,
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
    if matches!(verify.as_str(), "0" | "null") {
        if only {
            return Err(s
                .wrong("verify_only", "verify_only needs verify")
                .hint("verify=crc32c, for example"));
        }
        return Ok(Checks::default());
    }
    if matches!(verify.as_str(), "pattern" | "pattern_hdr") {
        return Err(s
            .wrong("verify", format!("verify={verify}: patterns are not checked"))
            .hint("instead: verify=crc32c, with which every byte is compared"));
    }
    if s.last_of(&["zero_buffers", "buffer_pattern", "buffer_compress_percentage", "dedupe_percentage"])
        .is_some()
    {
        return Err(s
            .wrong(
                "verify",
                "what is to be checked is written by fathom's own rule, so the buffers have no other",
            )
            .hint("leave the options for buffers out"));
    }
    if laid.several {
        return Err(s
            .wrong("verify", "several files of a clone cannot be checked")
            .hint("instead: one file, or a clone for each"));
    }
    let unit = stream.record.unit().0;
    if !unit.is_multiple_of(8) || !stream.start.0.is_multiple_of(8) {
        return Err(s.wrong("verify", "blocks and offset are multiples of 8 bytes where they are checked"));
    }
    notes.say(format!("verify={verify}: every byte is compared with what its place must hold; headers of fio are neither written nor read"));
    // All jobs of a command line write the same, so that a later one can check what an earlier one wrote.
    stream.data = Data::Positioned { tag: 0xacca };
    if !rw.writes() {
        stream.verify = Verify::Full;
        return Ok(Checks::default());
    }
    if rw.mixed {
        return Err(s
            .wrong(
                "verify",
                "a mix of reads and writes is not checked: a read may find what was there before",
            )
            .hint("instead: a job that writes and verifies, then a mix without"));
    }
    if !do_verify && !only {
        return Ok(Checks::default());
    }
    let once_each = matches!(stream.access, Access::Sequential | Access::Permuted);
    let all = matches!(stream.amount, Amount::Pass | Amount::Passes(_))
        && matches!(stream.record, Record::Fixed(_));
    if !(once_each && all) || s.time("runtime")? > 0 {
        return Err(s
            .wrong("verify", "reading back needs a job that writes every block: no runtime, number_ios, norandommap, io_size, range or split of block sizes")
            .hint("do_verify=0 writes what a later job with rw=read and verify can check"));
    }
    Ok(Checks { reads_back: true, only })
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
    if let Some(text) = s.text("buffer_pattern") {
        let bytes = pattern::bytes(text, world)
            .map_err(|why| s.wrong("buffer_pattern", format!("buffer_pattern={text}: {why}")))?;
        return Ok(if let [byte] = bytes.as_slice() { Data::Byte(*byte) } else { Data::Repeated { bytes } });
    }
    if s.on("zero_buffers", false) {
        return Ok(Data::Zero);
    }
    if compressible_percent > 0 || duplicate_percent > 0 {
        return Ok(Data::Reducible { compressible_percent, duplicate_percent, within_percent: 100 });
    }
    Ok(Data::Unique)
}
