//! Orders that stay somewhere for a while, or leave something out: `rw=...:N` with `rw_sequencer`, and `zonemode=strided`.

use super::super::Wrong;
use super::super::number;
use super::super::settings::Settings;
use super::engine;
use super::strips;
use super::what::Direction;
use fathom_workload::{Access, Bytes, Record, Stream};

/// The most zones that fio 3.42 can be told to keep open.
const MOST_OPEN_ZONES: u64 = 4096;

/// Changes the order of a stream as a job wants it.
pub fn apply(s: &Settings, rw: Direction, stream: &mut Stream) -> Result<(), Wrong> {
    let same = s.word("rw_sequencer") == Some("identical");
    let steps = s.after_colon("rw").map(str::trim);
    if let Some(access) = strips::access(s, rw, &stream.record)? {
        stream.access = access;
        return Ok(());
    }
    let stripes = zones(s)?;
    let word = rw.word();
    let wrong = |name: &'static str, why: String, hint: &str| Err(s.wrong(name, why).hint(hint));
    let (name, run, gap): (&'static str, Option<u64>, u64) = match (steps, stripes) {
        (None, None) => return Ok(()),
        (Some(_), Some(_)) => {
            return wrong(
                "zonemode",
                "zones and rw=...:N in one job are not supported".into(),
                "one of them",
            );
        }
        (Some(text), None) if rw.random => {
            let operations = match text.parse::<u64>() {
                Ok(n) if n > 0 => n,
                _ => {
                    let why = format!("rw={word}:{text}: a number of operations above 0 is expected");
                    return wrong("rw", why, "rw=randread:8, for example");
                }
            };
            let Record::Fixed(_) = stream.record else {
                return wrong("rw", format!("rw={word}:{text} needs one block size"), "instead: bs");
            };
            let order = Box::new(stream.access.clone());
            stream.access = Access::Runs { order, operations, same };
            return Ok(());
        }
        (Some(text), None) => {
            let Ok(gap) = number::bytes(text, s.kb_base_of("rw")) else {
                let why = format!("rw={word}:{text}: a number of bytes to leave out is expected");
                return wrong("rw", why, "going backwards is not supported");
            };
            if same {
                let why = "rw_sequencer=identical belongs to random places".to_owned();
                return wrong("rw_sequencer", why, "leave it out");
            }
            ("rw", None, gap)
        }
        (None, Some((run, gap))) => ("zonemode", Some(run), gap),
    };
    // fio 3.33: rw=rw:4k leaves out 4 KiB of the reads and of the writes, each for themselves.
    if rw.mixed && name != "rw" {
        let why = format!("{name}: reads and writes of a mix each go on by themselves, and have no zones");
        return wrong(name, why, "instead: a job that reads and one that writes");
    }
    if rw.random {
        return wrong(name, "zones of a random job are not supported".into(), "instead: rw=read or rw=write");
    }
    let Record::Fixed(Bytes(block)) = stream.record else {
        return wrong(name, format!("{name}: what leaves something out needs one block size"), "instead: bs");
    };
    let run = run.unwrap_or(block);
    if run == 0 || !run.is_multiple_of(block.max(1)) {
        let why = format!("zonesize={run}: a multiple of the block size of {block} bytes is expected");
        return wrong("zonesize", why, "zonesize=1m, for example");
    }
    stream.access = Access::Striped { run: Bytes(run), gap: Bytes(gap), by_kind: rw.mixed };
    Ok(())
}

/// Bytes of a zone, and between two zones. A zone size alone means strided, as in fio.
fn zones(s: &Settings) -> Result<Option<(u64, u64)>, Wrong> {
    let mode = s.word("zonemode");
    of_zoned_devices(s)?;
    let of = |name: &'static str| s.number(name);
    let (size, range, skip) = (of("zonesize")?, of("zonerange")?, of("zoneskip")?.unwrap_or(0));
    match (mode, size.filter(|bytes| *bytes > 0)) {
        (Some("zbd"), _) => Err(s
            .wrong("zonemode", "zonemode=zbd: zoned devices are not supported")
            .hint("instead: zonemode=strided, or random_distribution=zoned")),
        (Some("none"), _) | (None, None) => Ok(None),
        (_, None) => Err(s.wrong("zonemode", "zonemode=strided needs zonesize")),
        (_, Some(size)) => {
            let range = range.filter(|bytes| *bytes > 0).unwrap_or(size);
            match range.checked_sub(size).and_then(|rest| rest.checked_add(skip)) {
                Some(gap) => Ok(Some((size, gap))),
                None => Err(
                    s.wrong("zonerange", "zonerange is at least zonesize, and both with zoneskip below 2^64")
                ),
            }
        }
    }
}

/// Options of zonemode=zbd. They change nothing here, but have to be what fio 3.42 takes.
fn of_zoned_devices(s: &Settings) -> Result<(), Wrong> {
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

/// Operations of `loops` passes over a part that stripes do not come out even in; `None` where a pass is as long as any other.
///
/// fio begins again where the next stripe would lie behind the end, and goes on until it did as much as the part is long.
pub fn uneven(stream: &Stream, steps: bool, length: u64, loops: u64) -> Option<u64> {
    let (Access::Striped { run, gap, .. }, Record::Fixed(size)) = (&stream.access, &stream.record) else {
        return None;
    };
    if length.is_multiple_of(run.0.saturating_add(gap.0).max(1)) {
        return None;
    }
    Some(match stops_after(stream, steps, length) {
        Some(once) => once.saturating_mul(loops),
        None => length.saturating_mul(loops).div_ceil(size.0.max(1)),
    })
}

/// Operations after which fio finds no block: where the last stripe is cut short, or `rw=read:N` comes to the very end. Otherwise stripes
/// begin again.
pub fn stops_after(stream: &Stream, steps: bool, length: u64) -> Option<u64> {
    let (Access::Striped { run, gap, .. }, Record::Fixed(size)) = (&stream.access, &stream.record) else {
        return None;
    };
    let period = run.0.saturating_add(gap.0).max(1);
    let rest = length % period;
    let stops = rest > 0 && (rest < run.0 || rest == run.0 && steps);
    let size = size.0.max(1);
    stops.then(|| (length / period).saturating_mul(run.0 / size).saturating_add(rest / size))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::ops::{Done, Place, Region, StreamOps};
    use fathom_workload::{Program, Stream};

    fn stream(args: &str) -> Stream {
        let plan = planned(&format!("--name=a --bs=4k {args}"));
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => (**stream).clone(),
            Program::Flow(_) => panic!("a flow"),
        }
    }

    fn blocks(args: &str) -> Vec<u64> {
        let stream = stream(args);
        let region = Region { start: 0, length: stream.length.unwrap().0 };
        let mut ops = StreamOps::new(&stream, region, 1, Place::default()).unwrap();
        std::iter::from_fn(|| ops.next(&Done::default())).map(|op| op.offset / 4096).collect()
    }

    #[test]
    fn bytes_are_left_out_as_fio_leaves_them_out() {
        // fio 3.33, from its iologs.
        assert_eq!(blocks("--size=32k --rw=read:4k"), [0, 2, 4, 6, 0, 2, 4, 6]);
        let strided = "--size=64k --rw=read --zonemode=strided --zonesize=8k";
        let expected: [u64; 16] = [0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13];
        assert_eq!(blocks(&format!("{strided} --zonerange=16k")), expected);
        assert_eq!(blocks(&format!("{strided} --zonerange=8k --zoneskip=8k")), expected);
        assert_eq!(blocks("--size=16k --rw=write --zonesize=8k"), [0, 1, 2, 3]);
        let small_gap = format!("{strided} --zoneskip=8k").replace("--size=64k ", "");
        let of = |size: &str| blocks(&format!("{small_gap} --size={size}"));
        assert_eq!(of("60k"), expected[..15]);
        assert_eq!(of("56k"), expected[..14]);
        // The last stripe is cut short: that is the end.
        assert_eq!(of("52k"), expected[..7]);
        assert_eq!(of("52k --loops=2"), [&expected[..7], &expected[..7]].concat());
        assert_eq!(of("52k --io_size=40k"), [&expected[..7], &expected[..3]].concat());
        // What ends with the file ends there; behind a gap that it cuts off, it begins again.
        assert_eq!(blocks("--size=28k --rw=read:4k"), [0, 2, 4, 6]);
        assert_eq!(blocks("--size=32k --rw=read:8k"), [0, 3, 6, 0, 3, 6, 0, 3]);
        assert_eq!(blocks("--size=28k --rw=read:8k"), [0, 3, 6]);
        assert_eq!(blocks("--size=28k --rw=read:4k --loops=2"), [0, 2, 4, 6, 0, 2, 4, 6]);
        assert_eq!(blocks("--size=32k --rw=read:-8k"), [0, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(blocks("--size=32k --rw=read:-12k"), [0, 5, 3, 1, 5, 3, 1, 5]);
        let small = "--rw=read --zonemode=strided --zonesize=8k --zonerange=4k --zoneskip=8k";
        assert_eq!(blocks(&format!("--size=36k {small}")), [0, 0, 3, 3, 6, 6, 0, 0, 3]);
    }

    #[test]
    fn a_random_place_is_kept_for_so_many_operations() {
        let next = blocks("--size=1m --rw=randread:8");
        let same = blocks("--size=1m --rw=randread:8 --rw_sequencer=identical");
        assert_eq!((next.len(), same.len()), (256, 256));
        // At the end of the file a run is cut short.
        let follows = next.windows(2).filter(|w| w[1] == w[0] + 1).count();
        assert!((256 * 7 / 8 - 16..=256 * 7 / 8 + 8).contains(&follows), "{follows}");
        assert!(same.chunks(8).all(|run| run.iter().all(|block| *block == run[0])), "{same:?}");
    }

    #[test]
    fn zones_of_a_random_job_are_without_order_inside() {
        let found = blocks("--size=64k --rw=randread --zonemode=strided --zonesize=8k --zoneskip=8k");
        let zones: Vec<u64> = found.iter().map(|block| block / 2).collect();
        assert_eq!(zones, [0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 2, 2, 4, 4, 6, 6]);
        assert!(found.chunks(2).all(|pair| pair[0] != pair[1]), "{found:?}");
    }

    #[test]
    fn what_follows_no_rule_is_refused() {
        for (args, what) in [
            ("--size=32k --rw=rw --zonesize=4k --zoneskip=4k", "have no zones"),
            ("--size=36k --rw=rw:4k", "come out even"),
            ("--size=32k --rw=randread:0", "above 0"),
            ("--size=32k --rw=read:-6k", "a multiple of the block size"),
            ("--size=64k --rw=randread --zonesize=6k", "a multiple of the block size"),
            ("--size=64k --rw=read --zonemode=strided", "needs zonesize"),
            ("--size=64k --rw=read --zonemode=zbd", "zoned devices"),
            ("--size=64k --rw=read --zonesize=6k", "a multiple of the block size"),
            ("--size=72k --rw=read:4k --nrfiles=2", "come out even"),
        ] {
            let wrong = refused(&format!("--name=a --bs=4k {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }

    #[test]
    fn options_of_zoned_devices_change_nothing_elsewhere() {
        let limits = "--zonecapacity=4k --read_beyond_wp=1 --max_open_zones=4096 --job_max_open_zones=1 \
                      --zone_reset_threshold=0.1 --zone_reset_frequency=1";
        for zones in ["", "--zonesize=8k --zoneskip=4k"] {
            let of = format!("--size=64k --rw=randwrite {zones}");
            assert_eq!(stream(&of), stream(&format!("{of} {limits}")));
        }
        for (args, what) in [
            ("--max_open_zones=4097", "0 to 4096"),
            ("--job_max_open_zones=4097", "0 to 4096"),
            ("--zone_reset_threshold=1.5", "0 to 1"),
            ("--zone_reset_frequency=2", "0 to 1"),
            (&format!("--zonemode=zbd --zonesize=8k {limits}"), "zoned devices"),
        ] {
            let wrong = refused(&format!("--name=a --size=64k {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }
}
