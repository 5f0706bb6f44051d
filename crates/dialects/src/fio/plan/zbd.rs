//! `zonemode=zbd`: writes go to the write pointers of a zoned device, or of zones laid over a file.

use super::super::UsageError;
use super::super::settings::Settings;
use super::direction::Rw;
use super::{Notes, engine};
use fathom_workload::{Bytes, CollectZones, Stream, ZonedDevice};

/// The maximum number of open zones in fio 3.42.
const MOST_OPEN_ZONES: u64 = 4096;

/// Applies the options if the job is about zones.
pub fn apply(s: &Settings, rw: Rw, stream: &mut Stream, notes: &mut Notes) -> Result<(), UsageError> {
    check(s)?;
    if s.word("zonemode") != Some("zbd") {
        return Ok(());
    }
    let wrong = |name: &'static str, why: &str, hint: &str| Err(s.wrong(name, why).hint(hint));
    if s.after_colon("rw").is_some() {
        return wrong("zonemode", "zonemode=zbd and rw=...:N in one job are not supported", "one of them");
    }
    if stream.trims() {
        return wrong(
            "rw",
            "zonemode=zbd: trims of zones are not supported",
            "write: a full zone is reset before it is written again",
        );
    }
    let number = |name: &'static str| Ok::<_, UsageError>(s.number(name)?.unwrap_or(0));
    if number("zoneskip")? > 0 {
        return wrong("zoneskip", "zonemode=zbd: zones that are left out are not supported", "leave it out");
    }
    if number("zonerange")? > 0 {
        notes.say(format!("job {}: zonerange has no effect with zonemode=zbd, as in fio", s.job));
    }
    let (zone, capacity) = (number("zonesize")?, number("zonecapacity")?);
    if zone > 0 && stream.record.largest().0 > zone {
        return wrong("zonesize", "zonesize: at least a block is expected", "zonesize=64m, for example");
    }
    stream.zoned_device = Some(ZonedDevice {
        zone: Bytes(zone),
        capacity: Bytes(capacity),
        max_open: number("max_open_zones")? as u32,
        max_open_each: number("job_max_open_zones")? as u32,
        ignore_limit: s.on("ignore_zone_limits", false),
        read_beyond: s.on("read_beyond_wp", false),
        collect: if rw.writes() { collect(s)? } else { None },
    });
    Ok(())
}

/// Resets that simulate garbage collection.
fn collect(s: &Settings) -> Result<Option<CollectZones>, UsageError> {
    let first = |name| Ok::<_, UsageError>(s.floats(name)?.and_then(|given| given.first().copied()));
    let (above, often) = (first("zone_reset_threshold")?, first("zone_reset_frequency")?);
    Ok(match (above, often) {
        (Some(above), Some(often)) if above > 0.0 && often > 0.0 => {
            Some(CollectZones { above_percent: above * 100.0, every: (1.0 / often) as u64 })
        }
        _ => None,
    })
}

/// The options must be valid for fio 3.42 wherever they are given.
fn check(s: &Settings) -> Result<(), UsageError> {
    for name in ["max_open_zones", "job_max_open_zones"] {
        if let Some(given) = s.number(name)?.filter(|given| *given > MOST_OPEN_ZONES) {
            return Err(engine::out_of_range(s, name, given, MOST_OPEN_ZONES));
        }
    }
    for name in ["zone_reset_threshold", "zone_reset_frequency"] {
        if let Some(given) = s
            .floats(name)?
            .and_then(|given| given.first().copied())
            .filter(|given| !(0.0..=1.0).contains(given))
        {
            let end = if given < 0.0 { "min: 0.000000" } else { "max: 1.000000" };
            return Err(s.wrong(name, format!("{name}={given}: 0 to 1 is expected")).fio(format!(
                "value out of range: {given:.6} (range {end})\nfio: failed parsing {name}={given}\n"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;
    use fathom_workload::Program;

    fn stream(args: &str) -> Stream {
        let plan = planned(&format!("--name=a --bs=4k {args}"));
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a flow"),
        }
    }

    const LIMITS: &str = "--zonecapacity=4k --read_beyond_wp=1 --max_open_zones=4096 --job_max_open_zones=1 \
                          --zone_reset_threshold=0.5 --zone_reset_frequency=0.25 --ignore_zone_limits=1";

    #[test]
    fn every_option_reaches_the_stream() {
        let zoned = stream(&format!("--size=64k --rw=randwrite --zonemode=zbd --zonesize=8k {LIMITS}"));
        assert_eq!(
            zoned.zoned_device,
            Some(ZonedDevice {
                zone: Bytes(8192),
                capacity: Bytes(4096),
                max_open: 4096,
                max_open_each: 1,
                ignore_limit: true,
                read_beyond: true,
                collect: Some(CollectZones { above_percent: 50.0, every: 4 }),
            })
        );
        let plain = stream("--size=64k --rw=write --zonemode=zbd");
        assert_eq!(plain.zoned_device, Some(ZonedDevice::default()));
    }

    #[test]
    fn without_the_mode_they_change_nothing() {
        for zones in ["", "--zonesize=8k --zoneskip=4k"] {
            let of = format!("--size=64k --rw=randwrite {zones}");
            assert_eq!(stream(&of), stream(&format!("{of} {LIMITS}")));
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        let zbd = "--rw=write --zonemode=zbd";
        for (args, what) in [
            ("--max_open_zones=4097".to_owned(), "0 to 4096"),
            ("--job_max_open_zones=4097".into(), "0 to 4096"),
            ("--zone_reset_threshold=1.5".into(), "0 to 1"),
            ("--zone_reset_frequency=2".into(), "0 to 1"),
            ("--rw=write:4k --zonemode=zbd".into(), "in one job"),
            ("--rw=randtrim --zonemode=zbd".into(), "trims"),
            (format!("{zbd} --zoneskip=8k"), "left out"),
            (format!("{zbd} --bs=8k --zonesize=4k"), "at least a block"),
            (format!("{zbd} --verify=crc32c --verify_only=1"), "known only when"),
            (format!("{zbd} --ioengine=mmap"), "psync, pvsync2, uring or aio"),
        ] {
            let wrong = refused(&format!("--name=a --size=64k {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }
}
