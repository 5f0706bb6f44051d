//! Direction, order of offsets, block sizes and amount of a job.

use super::super::Wrong;
use super::super::number;
use super::super::settings::Settings;
use super::Part;
use fathom_workload::{Access, Amount, Bytes, Mix, Record, Stream, Zone};

/// What a job does, in the words of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Percent of reads.
    pub read_percent: u8,
    /// Both are done.
    pub mixed: bool,
    /// At random offsets.
    pub random: bool,
}

impl Direction {
    /// Whether it reads.
    #[must_use]
    pub fn reads(self) -> bool {
        self.mixed || self.read_percent == 100
    }

    /// Whether it writes.
    #[must_use]
    pub fn writes(self) -> bool {
        self.mixed || self.read_percent == 0
    }

    /// "randread", "rw", ...
    #[must_use]
    pub fn word(self) -> &'static str {
        match (self.random, self.mixed, self.read_percent) {
            (true, true, _) => "randrw",
            (false, true, _) => "rw",
            (true, false, 100) => "randread",
            (true, false, _) => "randwrite",
            (false, false, 100) => "read",
            (false, false, _) => "write",
        }
    }
}

/// What is done.
pub fn direction(s: &Settings) -> Result<Direction, Wrong> {
    let word = s.word("rw").unwrap_or("read").to_owned();
    if word.contains("trim") {
        return Err(s
            .wrong("rw", format!("rw={word}: trims are not supported"))
            .hint("instead: a write, or blkdiscard before the run"));
    }
    let mixed = matches!(word.as_str(), "rw" | "readwrite" | "randrw");
    let percent = match s.last_of(&["rwmixread", "rwmixwrite"]) {
        None => 50,
        Some(name) => {
            let given = s.number(name)?.unwrap_or(50);
            let Ok(percent) = u8::try_from(given).map(|p| p.min(101)) else {
                return Err(s.wrong(name, format!("{name}={given}: 0 to 100 is expected")));
            };
            if percent > 100 {
                return Err(s.wrong(name, format!("{name}={given}: 0 to 100 is expected")));
            }
            if name == "rwmixread" { percent } else { 100 - percent }
        }
    };
    let read_percent = if mixed {
        percent
    } else if word.contains("read") {
        100
    } else {
        0
    };
    Ok(Direction { read_percent, mixed, random: word.starts_with("rand") })
}

/// A stream with direction, block sizes and order.
pub fn stream(s: &Settings, rw: Direction) -> Result<Stream, Wrong> {
    let record = record(s, rw)?;
    let direction = match (rw.mixed, rw.read_percent) {
        (true, percent) => fathom_workload::Direction::Mix(Mix::ReadPercent(percent)),
        (false, 100) => fathom_workload::Direction::Read,
        (false, _) => fathom_workload::Direction::Write,
    };
    let access = access(s, rw)?;
    Ok(Stream { record, access, ..Stream::new("", direction, Bytes(4096)) })
}

fn record(s: &Settings, rw: Direction) -> Result<Record, Wrong> {
    const DEFAULT: u64 = 4096;
    let same = |name: &'static str, differ: bool| {
        if rw.mixed && differ {
            return Err(s
                .wrong(name, format!("{name}: reads and writes of one job have the same block sizes"))
                .hint("instead: two jobs, one that reads and one that writes"));
        }
        Ok(())
    };
    if let Some(text) = s.text("bs")
        && text.contains(['-', ':'])
    {
        return Err(s
            .wrong("bs", format!("bs={text}: sizes for reads, writes and trims are separated by commas"))
            .hint("bsrange=LOW-HIGH is a range of sizes"));
    }
    let record = match s.last_of(&["bs", "bsrange", "bssplit"]) {
        Some("bsrange") => {
            let (read, write) = s.pair("bsrange", (DEFAULT, DEFAULT), number::range)?.unwrap_or_default();
            same("bsrange", read != write)?;
            let (min, max) = if rw.reads() { read } else { write };
            if min == max {
                Record::Fixed(Bytes(min))
            } else {
                Record::Between { min: Bytes(min), max: Bytes(max) }
            }
        }
        Some("bssplit") => {
            let (read, write) = s.pair("bssplit", vec![(DEFAULT, 100.0)], number::split)?.unwrap_or_default();
            same("bssplit", read != write)?;
            let sizes = if rw.reads() { read } else { write };
            Record::Split(sizes.into_iter().map(|(size, weight)| (Bytes(size), weight)).collect())
        }
        _ => {
            let (read, write) = s.pair("bs", DEFAULT, number::bytes)?.unwrap_or((DEFAULT, DEFAULT));
            same("bs", read != write)?;
            Record::Fixed(Bytes(if rw.reads() { read } else { write }))
        }
    };
    let sizes = s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("bs");
    if record.unit().0 == 0 {
        return Err(s.wrong(sizes, format!("{sizes}: a block of 0 bytes")));
    }
    if let Record::Split(list) = &record
        && list.iter().any(|(size, _)| !size.0.is_multiple_of(record.unit().0))
    {
        return Err(s
            .wrong("bssplit", "bssplit: sizes are multiples of the smallest, as offsets are")
            .hint(format!("the smallest is {} bytes", record.unit().0)));
    }
    Ok(record)
}

fn access(s: &Settings, rw: Direction) -> Result<Access, Wrong> {
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
    let one = || -> Result<f64, Wrong> {
        let mut parts = parameters.split(':');
        let first = parts.next().unwrap_or_default();
        if parts.next().is_some() {
            return Err(s
                .wrong(
                    WORD,
                    format!(
                        "{WORD}={distribution}: a centre is not supported; popular blocks lie everywhere"
                    ),
                )
                .hint("instead: random_distribution=zoned"));
        }
        number::float(first).map_err(|why| s.wrong(WORD, format!("{WORD}={distribution}: {why}")))
    };
    match distribution.as_str() {
        "zipf" => {
            let theta = if parameters.is_empty() { 1.1 } else { one()? };
            if theta <= 0.0 {
                return refused("theta is above 0", "random_distribution=zipf:1.1");
            }
            Ok(Access::Zipf { theta })
        }
        "pareto" => {
            let h = if parameters.is_empty() { 0.2 } else { one()? };
            if !(h > 0.0 && h < 0.5) {
                return refused("h lies between 0 and 0.5", "random_distribution=pareto:0.2");
            }
            Ok(Access::Pareto { h })
        }
        "zoned" => {
            Ok(Access::Zoned(zones(&parameters).map_err(|why| s.wrong(WORD, format!("{WORD}: {why}")))?))
        }
        "zoned_abs" => refused("zones have percentages", "random_distribution=zoned"),
        "normal" => refused(
            "its blocks would be scattered by popularity, which is not supported",
            "zipf, pareto or zoned",
        ),
        "sequence" => refused("it is not supported", "a job for each block"),
        _ if once_each => Ok(Access::Permuted),
        _ => Ok(Access::Uniform),
    }
}

/// `accesses/space:accesses/space...`, both in percent; zones without a space share what the others leave, and what both leave is one
/// more zone's.
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

/// How much is done in a part.
pub fn amount(s: &Settings, stream: &Stream, part: &Part) -> Result<Amount, Wrong> {
    let loops = s.number("loops")?.unwrap_or(1).max(1);
    let uneven = super::sequence::uneven(stream, s.after_colon("rw").is_some(), part.length, loops);
    let io_size = s.size("io_size")?.map(|size| size.of(part.size));
    let region = part.length;
    let per_pass = match &stream.record {
        Record::Fixed(size) => Some(region / size.0.max(1)),
        _ => None,
    };
    let most = s.number("number_ios")?.filter(|n| *n > 0);
    if stream.record.largest().0 > region {
        let name = s.last_of(&["bs", "bsrange", "bssplit"]).unwrap_or("size");
        return Err(s
            .wrong(
                name,
                format!(
                    "a block of {} bytes is larger than what is worked on, {region} bytes",
                    stream.record.largest().0
                ),
            )
            .hint("size and filesize say how much that is"));
    }
    if s.on("time_based", false) && s.time("runtime")? > 0 {
        return Ok(match most {
            Some(n) => Amount::Operations(n),
            None => Amount::Endless,
        });
    }
    let bytes = io_size.unwrap_or(region).saturating_mul(loops);
    let operations = per_pass.and_then(|n| match io_size {
        None => Some(uneven.unwrap_or_else(|| n.saturating_mul(loops))),
        Some(_) => None,
    });
    Ok(match (operations, most, &stream.record) {
        (_, Some(n), Record::Fixed(size)) => {
            Amount::Operations(n.min(operations.unwrap_or_else(|| bytes.div_ceil(size.0.max(1)))).max(1))
        }
        (_, Some(_), _) => {
            return Err(s
                .wrong(
                    "number_ios",
                    "number_ios needs one block size, so that size and number can be compared",
                )
                .hint("instead: io_size"));
        }
        (Some(n), None, _) if uneven.is_some() => Amount::Operations(n.max(1)),
        (Some(_), None, _) if loops == 1 => Amount::Pass,
        (Some(_), None, _) => Amount::Passes(loops),
        (None, None, _) if io_size.is_none() && loops == 1 => Amount::Pass,
        (None, None, _) => Amount::Bytes(Bytes(bytes.max(1))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
