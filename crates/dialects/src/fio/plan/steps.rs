//! Orders that go on from where they are: `rw=read:N` leaves something out after each block, `rw=randread:N` takes a new offset only every N
//! blocks, `zonemode=strided` goes from zone to zone.

use super::super::Wrong;
use super::super::number;
use super::super::settings::Settings;
use super::Rw;
use fathom_workload::{Access, Record};

/// The order of a job that asks for one of these.
///
/// # Errors
/// If it asks for two of them, or for what is not supported.
pub fn access(s: &Settings, rw: Rw, record: &Record) -> Result<Option<Access>, Wrong> {
    let same = s.word("rw_sequencer") == Some("identical");
    let zones = zones(s, rw, record)?;
    match (s.after_colon("rw"), zones) {
        (None, _) if same => Err(s
            .wrong("rw_sequencer", "rw_sequencer=identical says how rw=randread:N goes on, and there is no N")
            .hint("rw=randread:8, for example: every offset eight times")),
        (None, zones) => Ok(zones),
        (Some(text), Some(_)) => Err(s
            .wrong("rw", format!("rw=...:{text} inside of zones (zonemode=strided) is not supported"))
            .hint("one of them; zoneskip leaves something out as well")),
        (Some(text), None) => stepped(s, rw, record, text, same).map(Some),
    }
}

/// Operations of one pass: a pass of skips, or one whose last zone is cut, is over when it comes to lie exactly at the end.
pub fn pass(access: &Access, records: u64) -> u64 {
    let last = records.saturating_sub(1);
    match *access {
        Access::Skipping { records: skip @ 1.. } => {
            let step = skip.unsigned_abs().saturating_add(1);
            if last.is_multiple_of(step) { last / step + 1 } else { records }
        }
        Access::Strips { records: held, gap, operations, random: false } => {
            let period = held.saturating_add(gap).max(1);
            let left = records - last / period * period;
            if left < held.min(operations) {
                (last / period).saturating_mul(operations).saturating_add(left)
            } else {
                records
            }
        }
        _ => records,
    }
}

fn stepped(s: &Settings, rw: Rw, record: &Record, text: &str, same: bool) -> Result<Access, Wrong> {
    let wrong = |why: &str| s.wrong("rw", format!("rw={}:{text}: {why}", rw.word()));
    let Record::Fixed(size) = record else {
        return Err(wrong("blocks of several sizes are not supported with it").hint("bs=4k, for example"));
    };
    if rw.mixed {
        return Err(wrong("in a mix of reads and writes it is not supported")
            .hint("instead: two jobs, one that reads and one that writes"));
    }
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let given = number::bytes(digits, s.kb_base()).map_err(|why| wrong(&why))?;
    if rw.random {
        if digits.len() != text.len() || given == 0 {
            return Err(wrong("a number of operations above 0 is expected"));
        }
        if s.word("random_distribution").is_some_and(|word| word != "random") {
            return Err(wrong("random_distribution is not supported with it").hint("one of them"));
        }
        return Ok(Access::Runs { operations: given, same });
    }
    if same {
        return Err(wrong("rw_sequencer=identical needs offsets at random").hint("instead: rw=randread:N"));
    }
    if !given.is_multiple_of(size.0.max(1)) {
        return Err(wrong("what is left out is a multiple of the block size")
            .hint(format!("blocks have {} bytes", size.0)));
    }
    let blocks = i64::try_from(given / size.0.max(1)).map_err(|_| wrong("that is too much"))?;
    Ok(Access::Skipping { records: if digits.len() == text.len() { blocks } else { -blocks } })
}

/// Zones of `zonerange` bytes (else as many as are worked on) that lie `zoneskip` bytes apart; `zonesize` bytes are done in each.
fn zones(s: &Settings, rw: Rw, record: &Record) -> Result<Option<Access>, Wrong> {
    let mode = s.word("zonemode").unwrap_or("none");
    let bytes = |name: &'static str| s.number(name).map(|n| n.unwrap_or(0));
    let (done, range, skip) = (bytes("zonesize")?, bytes("zonerange")?, bytes("zoneskip")?);
    match mode {
        "zbd" => {
            return Err(s
                .wrong("zonemode", "zonemode=zbd: zoned devices are not supported")
                .hint("instead: zonemode=strided, or random_distribution=zoned"));
        }
        "strided" => {}
        _ if done > 0 => {
            return Err(s
                .wrong("zonesize", "zonesize needs zonemode=strided")
                .fio("fio: --zonemode=none and --zonesize are not compatible.\n"));
        }
        _ => return Ok(None),
    }
    if done == 0 {
        return Err(s
            .wrong("zonemode", "zonemode=strided needs zonesize: the bytes that are worked on in each zone")
            .fio("fio: --zonesize must be specified when using --zonemode=strided.\n"));
    }
    let Record::Fixed(size) = record else {
        return Err(s
            .wrong("zonemode", "zonemode=strided: blocks of several sizes are not supported in zones")
            .hint("bs=4k, for example"));
    };
    if rw.mixed {
        return Err(s
            .wrong("zonemode", "zonemode=strided: a mix of reads and writes is not supported in zones")
            .hint("instead: two jobs, one that reads and one that writes"));
    }
    let size = size.0.max(1);
    let range = if range == 0 { done } else { range };
    for (name, value) in [("zonesize", done), ("zonerange", range), ("zoneskip", skip)] {
        if !value.is_multiple_of(size) {
            return Err(s.wrong(name, format!("{name}={value} is no multiple of the block size, {size}")));
        }
    }
    Ok(Some(Access::Strips {
        records: range / size,
        gap: skip / size,
        operations: done / size,
        random: rw.random,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;
    use fathom_workload::Amount;

    fn of(args: &str) -> (Access, Amount) {
        let plan = planned(&format!("--name=a --ioengine=null --bs=4k {args}"));
        (plan.jobs[0].stream.access.clone(), plan.jobs[0].stream.amount)
    }

    #[test]
    fn steps_are_counted_in_blocks() {
        assert_eq!(of("--rw=read:4k --size=32k"), (Access::Skipping { records: 1 }, Amount::Pass));
        assert_eq!(of("--rw=write:-8k --size=32k").0, Access::Skipping { records: -2 });
        // As fio: the fifth block ends at the end of the file.
        assert_eq!(of("--rw=read:4k --size=36k").1, Amount::Operations(5));
        assert_eq!(of("--rw=read:4k --size=36k --loops=2").1, Amount::Operations(10));
        assert_eq!(of("--rw=randread:8 --size=1m").0, Access::Runs { operations: 8, same: false });
        let same = of("--rw=randwrite:8 --size=1m --rw_sequencer=identical").0;
        assert_eq!(same, Access::Runs { operations: 8, same: true });
        let zones = |random| Access::Strips { records: 2, gap: 2, operations: 2, random };
        let line = "--size=64k --zonemode=strided --zonesize=8k --zoneskip=8k";
        assert_eq!(of(&format!("{line} --rw=read")), (zones(false), Amount::Pass));
        assert_eq!(of(&format!("{line} --rw=randread")), (zones(true), Amount::Pass));
        let cut = of("--rw=read --size=64k --zonemode=strided --zonesize=8k --zonerange=16k --zoneskip=4k");
        assert_eq!(cut.1, Amount::Operations(7));
    }

    #[test]
    fn what_steps_are_not_for_is_refused() {
        for args in [
            "--rw=read:2k",
            "--rw=rw:4k",
            "--rw=randread:0",
            "--rw=randread:-4",
            "--rw=randread:x",
            "--rw=read:4k --bsrange=4k-8k",
            "--rw=randread:8 --random_distribution=zipf:1.1",
            "--rw=read:4k --rw_sequencer=identical",
            "--rw=randread --rw_sequencer=identical",
            "--rw=read --zonesize=8k",
            "--rw=read --zonemode=strided",
            "--rw=read --zonemode=zbd --zonesize=8k",
            "--rw=read:4k --zonemode=strided --zonesize=8k",
            "--rw=rw --zonemode=strided --zonesize=8k",
            "--rw=read --zonemode=strided --zonesize=6k",
        ] {
            refused(&format!("--name=a --ioengine=null --bs=4k --size=64k {args}"));
        }
    }
}
