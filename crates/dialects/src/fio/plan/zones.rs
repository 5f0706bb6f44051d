//! The parts of `random_distribution` that depend on the region size. `zoned`: whether there are zones. `zoned_abs`: zones in bytes;
//! as in fio 3.33, blocks beyond them are never visited. `sequence`: blocks that must exist.

use super::super::UsageError;
use super::super::number;
use super::super::settings::Settings;
use super::FilePart;
use super::direction::Rw;
use fathom_workload::{Access, Amount, Record, Stream, Zone};

const WORD: &str = "random_distribution";

/// Converts zones in bytes to shares of the region. A region of one block has no zones.
///
/// # Errors
/// Invalid or misfit zones, clones with different regions, or blocks outside the region.
pub fn apply(s: &Settings, rw: Rw, stream: &mut Stream, parts: &mut [FilePart]) -> Result<(), UsageError> {
    if rw.random && s.word(WORD) == Some("sequence") {
        return sequence(s, stream, parts);
    }
    let one_block = |part: &FilePart| part.length < 2 * stream.record.unit().0;
    if matches!(stream.access, Access::Zoned(_)) && stream.turns.is_none() && parts.iter().all(one_block) {
        stream.access = Access::Uniform;
        return Ok(());
    }
    if s.word(WORD) != Some("zoned_abs") || !matches!(stream.access, Access::Zoned(_)) {
        return Ok(());
    }
    let wrong = |why: String| s.wrong(WORD, format!("{WORD}=zoned_abs: {why}"));
    let Some(first) = parts.first() else { return Ok(()) };
    if stream.turns.is_some() || parts.iter().any(|part| part.length != first.length) {
        return Err(wrong(
            "files that take turns, or clones with regions of several lengths, are not supported".into(),
        )
        .hint("instead: random_distribution=zoned"));
    }
    let unit = stream.record.unit().0.max(1);
    let text = s.after_colon(WORD).unwrap_or_default();
    stream.access =
        Access::Zoned(zones(text, s.kb_base_of(WORD), first.length / unit * unit).map_err(wrong)?);
    Ok(())
}

/// Checks the blocks of a sequence. A repeating sequence ends the job where it would leave the region, whatever the amount, as in
/// fio 3.42.
fn sequence(s: &Settings, stream: &Stream, parts: &mut [FilePart]) -> Result<(), UsageError> {
    let wrong = |what: &str| s.wrong(WORD, format!("{WORD}=sequence: {what}"));
    let unsupported =
        |what: &str| Err(wrong(&format!("with {what} it is not supported")).hint("leave one of the two out"));
    let Access::Cycle { records, advancing } = &stream.access else {
        return unsupported("rw=...:N, or zonemode");
    };
    let Record::Fixed(size) = stream.record else { return unsupported("changing block sizes") };
    if stream.turns.is_some() {
        return unsupported("several files");
    }
    for part in parts {
        let blocks = part.length / size.0.max(1);
        if let Some(record) = records.iter().find(|record| **record >= blocks) {
            let last = blocks.saturating_sub(1);
            return Err(wrong(&format!("there is no block {record}; the last one is {last}")));
        }
        if *advancing {
            let (length, highest) = (records.len() as u64, records.iter().copied().max().unwrap_or(0));
            // Complete rounds, plus the part of the following round that fits.
            let whole = (blocks - 1 - highest) / length + 1;
            let base = whole.saturating_mul(length);
            let rest =
                records.iter().take_while(|record| record.saturating_add(base) < blocks).count() as u64;
            let most = base.saturating_add(rest);
            part.amount = match part.amount {
                Amount::Operations(n) => Amount::Operations(n.min(most)),
                Amount::Bytes(bytes) => Amount::Operations(bytes.0.div_ceil(size.0.max(1)).min(most)),
                Amount::Pass | Amount::Passes(_) | Amount::Endless => Amount::Operations(most),
            };
        }
    }
    Ok(())
}

/// `accesses/bytes:accesses/bytes...`, for a region of this many bytes.
fn zones(text: &str, kb_base: u64, region: u64) -> Result<Vec<Zone>, String> {
    let (mut zones, mut taken, mut accesses) = (Vec::new(), 0_u64, 0.0_f64);
    let share = |bytes: u64| bytes as f64 * 100.0 / region.max(1) as f64;
    for part in text.split(':') {
        if part.contains(',') {
            return Err(format!("{part:?}: zones are the same for reads and writes"));
        }
        let Some((operations, bytes)) = part.split_once('/') else {
            return Err(format!("{part:?} is not ACCESSES/BYTES"));
        };
        let (operations_percent, bytes) = (number::float(operations)?, number::bytes(bytes, kb_base)?);
        if operations_percent <= 0.0 || bytes == 0 {
            return Err("every zone has accesses and bytes above 0".into());
        }
        accesses += operations_percent;
        taken = taken.saturating_add(bytes);
        zones.push(Zone { operations_percent, region_percent: share(bytes) });
    }
    if (accesses - 100.0).abs() >= 0.01 {
        return Err(format!("the access percentages add up to {accesses}, not to 100"));
    }
    if taken > region {
        return Err(format!(
            "the zones add up to {taken} bytes, but the job's part of the file has {region}"
        ));
    }
    if taken < region {
        zones.push(Zone { operations_percent: 0.0, region_percent: share(region - taken) });
    }
    Ok(zones)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;
    use fathom_workload::Program;

    fn zone(operations_percent: f64, region_percent: f64) -> Zone {
        Zone { operations_percent, region_percent }
    }

    #[test]
    fn a_sequence_is_of_blocks_that_are_there() {
        let of = |args: &str| format!("--name=a --rw=randread --ioengine=null --bs=4k {args}");
        let plan = planned(&of("--size=28k --random_distribution=sequence:2,0,6 --random_sequence_stride=1"));
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else { panic!() };
        assert_eq!(stream.access, Access::Cycle { records: vec![2, 0, 6], advancing: true });
        let amount = |args: &str| {
            let plan = planned(&of(&format!("--size=40k --random_sequence_stride=1 {args}")));
            let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
                panic!()
            };
            stream.amount
        };
        // Counts of fio 3.42.
        for (args, done) in [
            ("--random_distribution=sequence:2,0,1", 9),
            ("--random_distribution=sequence:2,0,9", 5),
            ("--random_distribution=sequence:2,0,1 --io_size=80k", 9),
            ("--random_distribution=sequence:2,0,1 --io_size=20k", 5),
            ("--random_distribution=sequence:2,0,1 --time_based --runtime=1", 9),
        ] {
            assert_eq!(amount(args), Amount::Operations(done), "{args}");
        }
        for args in [
            "--nrfiles=2",
            "--bsrange=4k-8k",
            "--rw=randrw",
            "--rw=randread:2",
            "--percentage_random=50",
            "--zonemode=strided --zonesize=16k --zoneskip=16k",
        ] {
            let why = refused(&of(&format!("--size=64k --random_distribution=sequence:1 {args}")));
            assert!(why.contains("not supported"), "{args}: {why}");
        }
        let why = refused(&of("--size=28k --random_distribution=sequence:2,0,7"));
        assert!(why.contains("there is no block 7; the last one is 6"), "{why}");
        let why = refused(&of("--size=28k --random_distribution=sequence:2,b"));
        assert!(why.contains("\"b\" is not the number of a block"), "{why}");
    }

    #[test]
    fn zones_of_bytes_are_shares_of_the_region_and_the_rest_is_left_alone() {
        let line =
            "--name=a --rw=randread --ioengine=null --size=16m --random_distribution=zoned_abs:60/2m:40/4m";
        let plan = planned(line);
        let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else { panic!() };
        let Access::Zoned(zones) = &stream.access else { panic!("{:?}", stream.access) };
        assert_eq!(*zones, [zone(60.0, 12.5), zone(40.0, 25.0), zone(0.0, 62.5)]);
        let whole = super::zones("50/8k:50/8k", 1024, 16384).unwrap();
        assert_eq!(whole, [zone(50.0, 50.0), zone(50.0, 50.0)]);
    }

    #[test]
    fn zones_that_do_not_fit_are_refused() {
        for (zones, words) in [
            ("60/2m:30/4m", "add up to 90"),
            ("50/8m:50/16m", "the job's part of the file has 16777216"),
            ("60/2m:40/", "is not a number"),
            ("60/2m:40/0", "above 0"),
            ("60", "is not ACCESSES/BYTES"),
            ("", "is not ACCESSES/BYTES"),
        ] {
            let line = format!(
                "--name=a --rw=randread --ioengine=null --size=16m --random_distribution=zoned_abs:{zones}"
            );
            let why = refused(&line);
            assert!(why.contains(words), "{zones}: {why}");
        }
    }

    #[test]
    fn zipf_of_1_is_an_error_as_in_fio() {
        let why = refused("--name=a --rw=randread --size=1m --random_distribution=zipf:1.0");
        assert!(why.starts_with("fio: zipf theta must different than 1.0\nfio: failed parsing"), "{why}");
    }
}
