//! Writing behind the end of a file (`file_append`): where a job begins follows from the size of its file as it is found, and one pass is
//! all that is done, as fio 3.33 was seen to do it.

use super::super::number::Size;
use super::super::settings::Settings;
use super::super::{Found, Wrong};
use super::files::Laid;
use super::{Job, Notes, Part, parts};
use fathom_workload::{Amount, Bytes, Record, Stream};

const WORD: &str = "file_append";

/// Whether a job works behind the end of its file.
pub fn asked(s: &Settings) -> bool {
    s.on(WORD, false)
}

/// The part of a clone that has one file, which is `found`, or is made: it begins where the file ends.
pub fn part(
    s: &Settings,
    stream: &Stream,
    (clone, shared): (u32, bool),
    found: Option<Found>,
    notes: &mut Notes,
) -> Result<Part, Wrong> {
    // The engine null counts what it is given, from the start.
    if stream.backend.has_files() && !stream.backend.moves_data() {
        return Err(
            s.wrong(WORD, format!("{WORD}: its engine moves no data, so there is no end to write behind"))
        );
    }
    if found.is_some_and(|f| f.device) {
        return Err(s
            .wrong(WORD, format!("{WORD}: there is nothing behind the end of a device"))
            .hint("leave it out, or a file"));
    }
    for name in ["offset", "offset_increment", "loops", "time_based"] {
        if s.last(name).is_some() {
            notes.say(format!("{name} counts for nothing beside {WORD}, as in fio: one pass is done, from the end of the file"));
        }
    }
    let there = found.map_or(0, |f| f.bytes);
    let whole = parts::file_size(s, stream, (clone, 0))?;
    let size = match s.size("size")?.filter(|size| *size != Size::Bytes(0) && *size != Size::Percent(0)) {
        None => None,
        Some(Size::Bytes(bytes)) => Some(bytes),
        Some(Size::Percent(_)) => {
            return Err(s
                .wrong(
                    "size",
                    format!("{WORD}: behind the end of the file nothing is there to take a share of"),
                )
                .hint("give the size in bytes"));
        }
    };
    // Clones that share a file work one behind the other, but where nothing is laid out before.
    let before = match (size, s.word("fallocate")) {
        _ if !shared => 0,
        (_, Some("none" | "0")) => 0,
        (Some(bytes), _) => u64::from(clone).checked_mul(bytes).ok_or_else(|| parts::too_far(s))?,
        (None, _) if clone > 0 => whole.unwrap_or(0).saturating_sub(there),
        (None, _) => 0,
    };
    let start = there.checked_add(before).ok_or_else(|| parts::too_far(s))?;
    let length = match (size, whole) {
        (Some(bytes), None) => bytes,
        (size, Some(whole)) => size.unwrap_or(u64::MAX).min(whole.saturating_sub(start)),
        (None, None) => return Err(parts::no_size(s)),
    };
    if length == 0 {
        return Err(s
            .wrong(WORD, format!("{WORD}: clone {clone} begins at byte {start}, and filesize says that its file ends before"))
            .fio(format!("{}: you need to specify valid offset=\n", s.job))
            .hint("size is what is written behind the end"));
    }
    let file = start.checked_add(length).ok_or_else(|| parts::too_far(s))?;
    let mut part = Part { start, length, file, real: file, size: length, amount: Amount::Pass };
    part.amount = amount(s, stream, &part)?;
    Ok(part)
}

/// One pass, or less.
fn amount(s: &Settings, stream: &Stream, part: &Part) -> Result<Amount, Wrong> {
    let largest = stream.record.largest().0;
    if largest > part.length {
        return Err(s.wrong(
            s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("size"),
            format!("a block of {largest} bytes is larger than what is worked on, {} bytes", part.length),
        ));
    }
    let least = s.size("io_size")?.map(|size| size.of(part.size)).filter(|bytes| *bytes < part.length);
    match (s.number("number_ios")?.filter(|n| *n > 0), &stream.record) {
        (None, _) => Ok(least.map_or(Amount::Pass, |bytes| Amount::Bytes(Bytes(bytes.max(1))))),
        (Some(n), Record::Fixed(block)) => {
            let all = least.unwrap_or(part.length) / block.0.max(1);
            Ok(Amount::Operations(n.min(all).max(1)))
        }
        // It may end sooner, which shows later.
        (Some(_), _) => Ok(Amount::Bytes(Bytes(least.unwrap_or(part.length)))),
    }
}

/// Whether the end is known before anything runs: nobody works on the file before.
pub fn check(s: &Settings, laid: &Laid, replays: bool, before: &[Job]) -> Result<(), Wrong> {
    if !asked(s) {
        return Ok(());
    }
    if replays {
        return Err(s.wrong(WORD, format!("{WORD}: a trace says where it works")).hint("leave it out"));
    }
    if laid.several {
        return Err(s
            .wrong(
                WORD,
                format!("{WORD}: several files, of which each has an end of its own, are not supported"),
            )
            .hint("instead: one file for each clone (numjobs)"));
    }
    let same = |job: &&Job| {
        job.files.iter().flatten().any(|path| laid.files.iter().flatten().any(|own| own == path))
    };
    match before.iter().find(same) {
        None => Ok(()),
        Some(other) => Err(s
            .wrong(
                WORD,
                format!(
                    "{WORD}: job {} works on the file before, so that its end is not known yet",
                    other.name
                ),
            )
            .hint("two runs, one after the other")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Amount, Bytes};

    const MIB: u64 = 1 << 20;

    /// First byte, length and size of the file of each clone.
    fn parts(args: &str) -> Vec<(u64, u64, u64)> {
        let plan = planned(&format!("--name=a --bs=4k --rw=write --file_append=1 {args}"));
        plan.jobs[0].parts.iter().map(|part| (part.start, part.length, part.file)).collect()
    }

    #[test]
    fn it_begins_where_the_file_ends() {
        // fio 3.33, from its iologs and the files that it left.
        let k = |kib: u64| kib << 10;
        for (args, wanted) in [
            ("--filename=there --size=16k", vec![(MIB, k(16), MIB + k(16))]),
            ("--filename=there --size=16k --offset=4k", vec![(MIB, k(16), MIB + k(16))]),
            ("--filename=there --size=16k --filesize=2m", vec![(MIB, k(16), MIB + k(16))]),
            ("--filename=there --filesize=1034k", vec![(MIB, k(10), MIB + k(10))]),
            ("--size=16k", vec![(0, k(16), k(16))]),
            (
                "--filename=there --size=16k --numjobs=2",
                vec![(MIB, k(16), MIB + k(16)), (MIB + k(16), k(16), MIB + k(32))],
            ),
            (
                "--filename=there --size=16k --numjobs=2 --fallocate=none",
                vec![(MIB, k(16), MIB + k(16)), (MIB, k(16), MIB + k(16))],
            ),
            ("--size=16k --numjobs=2", vec![(0, k(16), k(16)), (0, k(16), k(16))]),
        ] {
            assert_eq!(parts(args), wanted, "{args}");
        }
    }

    #[test]
    fn one_pass_is_done_at_most() {
        let amount = |args: &str| {
            let plan = planned(&format!(
                "--name=a --bs=4k --rw=write --filename=there --size=16k --file_append=1 {args}"
            ));
            plan.jobs[0].parts[0].amount
        };
        assert_eq!(amount(""), Amount::Pass);
        assert_eq!(amount("--loops=3"), Amount::Pass);
        assert_eq!(amount("--time_based --runtime=1"), Amount::Pass);
        assert_eq!(amount("--io_size=32k"), Amount::Pass);
        assert_eq!(amount("--io_size=8k"), Amount::Bytes(Bytes(8192)));
        assert_eq!(amount("--number_ios=3"), Amount::Operations(3));
        assert_eq!(amount("--number_ios=30"), Amount::Operations(4));
        let plan = planned("--name=a --size=1m --rw=write --file_append=1 --loops=2");
        assert!(plan.notes.iter().any(|note| note.contains("loops counts for nothing")), "{:?}", plan.notes);
    }

    #[test]
    fn an_end_that_is_not_known_is_refused() {
        for (args, what) in [
            ("--filename=/dev/disk --rw=read", "behind the end of a device"),
            ("--filename=there --rw=write", "how large its files are is not said"),
            ("--filename=there --rw=write --size=50%", "nothing is there to take a share of"),
            ("--filename=there --rw=write --filesize=64k", "ends before"),
            ("--size=64k --rw=write --nrfiles=2", "several files"),
            ("--size=64k --rw=write --ioengine=falloc", "moves no data"),
            ("--read_iolog=trace.log", "a trace says where it works"),
        ] {
            let wrong = refused(&format!("--name=a --bs=4k --file_append=1 {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
        let wrong =
            refused("--filename=f --size=64k --rw=write --name=a --name=b --stonewall --file_append=1");
        assert!(wrong.contains("job a works on the file before"), "{wrong}");
    }
}
