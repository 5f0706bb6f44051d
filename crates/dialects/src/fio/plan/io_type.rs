//! Order of offsets, block sizes and amount of a job.

use super::super::UsageError;
use super::super::settings::Settings;
use super::super::{lenient_number, number};
use super::direction::{Rw, Trims};
use super::stretch::Stretch;
use super::{FilePart, amounts, errors};
use fathom_workload::{Access, Amount, Bytes, Mix, Record, Stream, Zone};

/// A stream with direction, block sizes and order.
pub fn stream(s: &Settings, rw: Rw) -> Result<Stream, UsageError> {
    let record = record(s, rw)?;
    let direction = match (rw.mixed, rw.read_percent) {
        _ if rw.trims == Trims::Only => fathom_workload::Direction::Trim,
        _ if rw.trims == Trims::BeforeWrites => fathom_workload::Direction::TrimWrite,
        (true, percent) => fathom_workload::Direction::Mix(Mix::ReadPercent(percent)),
        (false, 100) => fathom_workload::Direction::Read,
        (false, _) => fathom_workload::Direction::Write,
    };
    let mut access = access(s, rw)?;
    // Seeds that never recur, and no map to truncate a block: the same number of bytes as without a map.
    let lfsr = s.word("random_generator") == Some("lfsr");
    if lfsr && access == Access::Permuted && !matches!(record, Record::Fixed(_)) {
        access = Access::Uniform;
    }
    Ok(Stream { record, access, ..Stream::new("", direction, Bytes(4096)) })
}

fn record(s: &Settings, rw: Rw) -> Result<Record, UsageError> {
    const DEFAULT: u64 = 4096;
    let name = s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("bs");
    let unaligned = s.on("bs_unaligned", false);
    let three = match name {
        "bsrange" => {
            let three = s.triple(name, (DEFAULT, DEFAULT), number::range)?.unwrap_or_default();
            // Fixed sizes are unaffected, as in fio.
            if unaligned && three.iter().any(|(min, max)| min != max) {
                return Err(s
                    .wrong("bs_unaligned", "sizes of bsrange are multiples of the smallest, as offsets are")
                    .hint("instead: leave it out, or a range that begins with the unit you need"));
            }
            three.map(|(min, max)| {
                if min == max {
                    Record::Fixed(Bytes(min))
                } else {
                    Record::Between { min: Bytes(min), max: Bytes(max) }
                }
            })
        }
        "bssplit" => {
            let three =
                s.triple(name, vec![(DEFAULT, 100.0)], super::super::split::read)?.unwrap_or_default();
            let sized = |(size, weight): (u64, f64)| (Bytes(size), weight);
            three.map(|sizes| Record::Split(sizes.into_iter().map(sized).collect()))
        }
        _ => {
            let three = s.triple(name, DEFAULT, lenient_number::bytes)?.unwrap_or([DEFAULT; 3]);
            three.map(|size| Record::Fixed(Bytes(size)))
        }
    };
    if s.on("bs_is_seq_rand", false) {
        return by_order(s, name, rw, three);
    }
    if rw.mixed && three[0] != three[1] {
        let [read, write, _] = three;
        possible(s, name, &read)?;
        possible(s, name, &write)?;
        return Ok(Record::ByKind { read: Box::new(read), write: Box::new(write) });
    }
    let record = rw.own(three);
    possible(s, name, &record)?;
    Ok(record)
}

/// The block size of sequential or of random jobs.
fn by_order(s: &Settings, name: &'static str, rw: Rw, three: [Record; 3]) -> Result<Record, UsageError> {
    const NAME: &str = "bs_is_seq_rand";
    let [sequential, random, _] = three;
    if rw.random && sequential != random && shares(s)?.is_some() {
        return Err(s
            .wrong(
                NAME,
                format!("{NAME}: a job that is partly random (percentage_random) has one block size"),
            )
            .hint("instead: a job for each order"));
    }
    let record = if rw.random { random } else { sequential };
    possible(s, name, &record)?;
    Ok(record)
}

/// Checks that the block sizes are valid.
fn possible(s: &Settings, name: &'static str, record: &Record) -> Result<(), UsageError> {
    let least = record.unit().0;
    if least == 0 {
        return Err(s.wrong(name, format!("{name}: a block of 0 bytes")));
    }
    if let Record::Split(list) = record
        && list.iter().any(|(size, _)| !size.0.is_multiple_of(least))
    {
        return Err(s
            .wrong("bssplit", "bssplit: sizes are multiples of the smallest, as offsets are")
            .hint(format!("the smallest is {least} bytes")));
    }
    Ok(())
}

fn access(s: &Settings, rw: Rw) -> Result<Access, UsageError> {
    let order = order(s, rw)?;
    let Some([reads, writes, trims]) = shares(s)?.filter(|_| rw.random) else { return Ok(order) };
    if s.after_colon("rw").is_some() {
        return Err(s
            .wrong("percentage_random", "percentage_random: with a number behind rw it is not supported")
            .hint("leave one of the two out"));
    }
    if matches!(order, Access::Cycle { .. }) {
        return Err(s
            .wrong(
                "percentage_random",
                "percentage_random: with random_distribution=sequence it is not supported",
            )
            .hint("leave one of the two out"));
    }
    if order == Access::Zoned(Vec::new()) {
        return Err(s
            .wrong(
                "percentage_random",
                "percentage_random: with random_distribution=zoned_abs it is not supported",
            )
            .hint("instead: random_distribution=zoned"));
    }
    let percent = |share: u64| u8::try_from(share.min(100)).unwrap_or(100);
    let writes = if rw.writes() || rw.mixed { writes } else { trims };
    Ok(Access::PartlyRandom {
        order: Box::new(order),
        reads_percent: percent(reads),
        writes_percent: percent(writes),
    })
}

/// Percentages of random offsets for reads, writes and trims, unless all are random.
fn shares(s: &Settings) -> Result<Option<[u64; 3]>, UsageError> {
    const NAME: &str = "percentage_random";
    let read =
        |text: &str, _: u64| text.trim().parse::<u64>().map_err(|_| format!("{text:?} is no percentage"));
    let shares = s.triple(NAME, 100, read)?;
    if let Some(shares) = shares.filter(|shares| shares.iter().any(|share| *share > 100)) {
        return Err(s.wrong(NAME, format!("{NAME}={shares:?}: a percentage is at most 100")));
    }
    Ok(shares.filter(|shares| *shares != [100; 3]))
}

/// fio's limit.
const MOST_OF_A_SEQUENCE: usize = 64;

fn order(s: &Settings, rw: Rw) -> Result<Access, UsageError> {
    const WORD: &str = "random_distribution";
    let lfsr = s.word("random_generator") == Some("lfsr");
    let once_each = lfsr || !s.on("norandommap", false);
    let distribution = s.word(WORD).unwrap_or("random").to_owned();
    let parameters = s.after_colon(WORD).unwrap_or_default().to_owned();
    if !rw.random {
        return Ok(if rw.mixed { Access::SequentialByKind } else { Access::Sequential });
    }
    let refused = |what: &str, instead: &str| {
        Err(s.wrong(WORD, format!("{WORD}={distribution}: {what}")).hint(format!("instead: {instead}")))
    };
    let float = |text: &str| {
        number::float(text).map_err(|why| s.wrong(WORD, format!("{WORD}={distribution}: {why}")))
    };
    let (first, centre) =
        parameters.split_once(':').map_or((parameters.as_str(), None), |(a, b)| (a, Some(b)));
    let one = |default: f64| if parameters.is_empty() { Ok(default) } else { float(first) };
    let around = |order: Access| -> Result<Access, UsageError> {
        let Some(centre) = centre.map(&float).transpose()? else { return Ok(order) };
        if !(0.0..=1.0).contains(&centre) {
            return refused("a centre lies between 0 and 1", &format!("{WORD}={distribution}:{first}:0.5"));
        }
        // The end wraps to the beginning.
        Ok(Access::Around { order: Box::new(order), centre: centre % 1.0 })
    };
    match distribution.as_str() {
        "zipf" => {
            let theta = one(1.1)?;
            if theta <= 0.0 {
                return refused("theta is above 0", "random_distribution=zipf:1.1");
            }
            if (theta - 1.0).abs() < f64::EPSILON {
                return Err(s
                    .wrong(WORD, format!("{WORD}={distribution}: theta is not 1"))
                    .fio(format!("fio: zipf theta must different than 1.0\nfio: failed parsing {WORD}={distribution}:{parameters}\n"))
                    .hint("random_distribution=zipf:1.01"));
            }
            around(Access::Zipf { theta })
        }
        "pareto" => {
            let h = one(0.2)?;
            if !(h > 0.0 && h < 1.0) {
                return Err(s
                    .wrong(WORD, format!("{WORD}={distribution}: h lies between 0 and 1"))
                    .fio(format!("fio: pareto input out of range (0 < input < 1.0)\nfio: failed parsing {WORD}={distribution}:{parameters}\n"))
                    .hint("instead: random_distribution=pareto:0.2"));
            }
            around(Access::Pareto { h })
        }
        "zoned" => {
            Ok(Access::Zoned(zones(&parameters).map_err(|why| s.wrong(WORD, format!("{WORD}: {why}")))?))
        }
        // The zones are set once the region is known.
        "zoned_abs" => Ok(Access::Zoned(Vec::new())),
        "normal" => {
            let deviation_percent = one(0.0)?;
            if !(deviation_percent > 0.0 && deviation_percent < 100.0) {
                return refused(
                    "the deviation is above 0 and below 100 percent",
                    "random_distribution=normal:20",
                );
            }
            around(Access::Normal { deviation_percent })
        }
        "sequence" => {
            let number = |text: &str| {
                text.trim().parse::<u64>().map_err(|_| {
                    s.wrong(WORD, format!("{WORD}=sequence: {text:?} is not the number of a block"))
                        .hint(format!("{WORD}=sequence:2,0,1"))
                })
            };
            if rw.mixed {
                return refused(
                    "the reads and the writes of a mix have a round each, which is not supported",
                    "two jobs",
                );
            }
            let records = parameters.split(',').map(number).collect::<Result<Vec<u64>, UsageError>>()?;
            if records.len() > MOST_OF_A_SEQUENCE {
                return refused(
                    &format!("{} blocks are more than {MOST_OF_A_SEQUENCE}", records.len()),
                    "a shorter sequence",
                );
            }
            Ok(Access::Cycle { records, advancing: s.on("random_sequence_stride", false) })
        }
        _ if once_each => Ok(Access::Permuted),
        _ => Ok(Access::Uniform),
    }
}

/// `accesses/space:accesses/space...`, in percent. Zones without a space share the remainder; what is left of both forms one more
/// zone.
fn zones(text: &str) -> Result<Vec<Zone>, String> {
    let mut zones: Vec<Zone> = Vec::new();
    let mut open = 0;
    for part in text.split(':') {
        if part.contains(',') {
            return Err(format!("{part:?}: zones are the same for reads and writes"));
        }
        let Some((operations, region)) = part.split_once('/') else {
            return Err(format!("{part:?} is not ACCESSES/SPACE in percent"));
        };
        zones.push(Zone {
            operations_percent: number::float(operations)?,
            region_percent: if region.trim().is_empty() { 0.0 } else { number::float(region)? },
        });
        open += usize::from(region.trim().is_empty());
    }
    if open > 0 {
        let given: f64 = zones.iter().map(|z| z.region_percent).sum();
        let each = (100.0 - given) / open as f64;
        zones.iter_mut().filter(|z| z.region_percent == 0.0).for_each(|z| z.region_percent = each);
    }
    let sum = |of: fn(&Zone) -> f64| zones.iter().map(of).sum::<f64>();
    let left = (100.0 - sum(|z| z.operations_percent), 100.0 - sum(|z| z.region_percent));
    let near = |x: f64| x.abs() < 0.01;
    match left {
        (a, b) if near(a) && near(b) => {}
        (a, b) if a > 0.0 && b > 0.0 => zones.push(Zone { operations_percent: a, region_percent: b }),
        (a, b) => {
            return Err(format!("the shares add up to {}/{}; 100/100 is expected", 100.0 - a, 100.0 - b));
        }
    }
    if zones.iter().any(|z| z.operations_percent <= 0.0 || z.region_percent <= 0.0) {
        return Err("every zone has accesses and space above 0".into());
    }
    Ok(zones)
}

/// The amount of I/O in a part.
pub fn amount(s: &Settings, stream: &Stream, part: &FilePart) -> Result<Amount, UsageError> {
    let loops = s.number("loops")?.unwrap_or(1).max(1);
    let stretch = Stretch::of(part);
    let (uneven, stops) = (stretch.uneven(stream, loops), stretch.stops_after(stream));
    let io_size = part.asked(s)?;
    let region = part.length;
    let cut = match &stream.access {
        Access::Striped { by_kind, .. } => *by_kind && uneven.is_some(),
        Access::ZonesInTurn { inside, .. } if **inside == Access::Sequential => {
            stream.direction.reads() && stream.direction.writes() && stops.is_some()
        }
        _ => false,
    };
    if cut {
        return Err(s
            .wrong("rw", format!("what the reads and the writes leave out does not come out even in {region} bytes, which is not supported"))
            .hint("a size that is a multiple of a block or zone and the gap behind it"));
    }
    if stretch.begins_elsewhere(stream) {
        return Err(s
            .wrong("rw", "rw: what is left out is longer than the file, and offset moves where it begins again, which is not supported")
            .hint("leave out less, or leave out offset"));
    }
    let per_pass = match &stream.record {
        Record::Fixed(size) => Some(region / size.0.max(1)),
        _ => None,
    };
    let most = errors::most(s)?;
    let least = stream.least_region().0;
    if least > region {
        let name = s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("size");
        return Err(s
            .wrong(
                name,
                format!("a block of {least} bytes is larger than the job's part of the file, {region} bytes"),
            )
            .hint("size and filesize say how much that is"));
    }
    if s.on("time_based", false) && s.time("runtime")? > 0 {
        // It loops on, with number_ios operations per loop.
        return Ok(Amount::Endless);
    }
    let whole = match &stream.record {
        Record::Fixed(_) => region,
        // A remainder smaller than the smallest block is never touched.
        record => region / record.unit().0.max(1) * record.unit().0.max(1),
    };
    let bytes = io_size.map_or_else(
        || whole.saturating_mul(loops),
        |io_size| amounts::bytes(s, stream, io_size, (region, per_pass.unwrap_or(0), stops), loops),
    );
    let by_bytes = amounts::counted_by_bytes(stream, region, per_pass.unwrap_or(0), loops);
    let operations = per_pass.and_then(|n| match io_size {
        None => Some(uneven.unwrap_or_else(|| n.saturating_mul(loops))),
        Some(_) => None,
    });
    Ok(match (operations, most, &stream.record) {
        (_, Some(n), Record::Fixed(size)) => {
            let all = by_bytes.filter(|_| operations.is_some()).unwrap_or(bytes).div_ceil(size.0.max(1));
            let all = operations.filter(|_| by_bytes.is_none()).unwrap_or(all);
            Amount::Operations(amounts::operations(n, all, loops))
        }
        // It may end sooner; that is determined later.
        (_, Some(_), _) => Amount::Bytes(Bytes(bytes.max(1))),
        (Some(n), None, _) if uneven.is_some() => Amount::Operations(n.max(1)),
        (Some(_), None, _) if by_bytes.is_some() => Amount::Bytes(Bytes(by_bytes.unwrap_or(0))),
        (Some(_), None, _) if loops == 1 => Amount::Pass,
        (Some(_), None, _) => Amount::Passes(loops),
        (None, None, _) if io_size.is_none() && loops == 1 => Amount::Pass,
        (None, None, _) => Amount::Bytes(Bytes(bytes.max(1))),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    #[test]
    fn only_sizes_that_are_drawn_can_be_unaligned() {
        for args in ["--bs=4k", "--bs=1000", "--bssplit=1000/50:3000/50", "--bsrange=4k-4k"] {
            let line = format!("--name=a --size=64k --rw=write {args}");
            let record = planned(&format!("{line} --blocksize_unaligned=1")).jobs[0].stream.record.clone();
            assert_eq!(record, planned(&line).jobs[0].stream.record, "{args}");
        }
        let why = refused("--name=a --size=64k --rw=write --bsrange=1k-4k --bs_unaligned");
        assert!(why.contains("multiples of the smallest"), "{why}");
    }

    #[test]
    fn zones_that_leave_something_get_one_more() {
        let found = zones("60/10:30/20:8/30").unwrap();
        assert_eq!((found.len(), found[3].operations_percent, found[3].region_percent), (4, 2.0, 40.0));
        assert_eq!(zones("50/50:50/50").unwrap().len(), 2);
        let shared = zones("50/5:30/15:20/").unwrap();
        assert_eq!((shared[2].operations_percent, shared[2].region_percent), (20.0, 80.0));
        assert!(zones("50/50:50/60:/").is_err());
        assert!(zones("60/10:60/20").is_err());
        assert!(zones("60").is_err());
        assert!(zones("100/10").is_err());
    }
}
