//! Orders that repeat or skip offsets: `rw=...:N` with `rw_sequencer`, and `zonemode=strided`.

use super::super::UsageError;
use super::super::number;
use super::super::settings::Settings;
use super::direction::Rw;
use super::{Notes, backward};
use fathom_workload::{Access, Bytes, Record, Stream};

/// Applies the options to the order of a stream.
pub fn apply(s: &Settings, rw: Rw, stream: &mut Stream, notes: &mut Notes) -> Result<(), UsageError> {
    let same = s.word("rw_sequencer") == Some("identical");
    let steps = s.after_colon("rw").map(str::trim);
    if let Some(zones) = zones(s)? {
        if steps.is_some() {
            return Err(s
                .wrong("zonemode", "zones and rw=...:N in one job are not supported")
                .hint("one of them"));
        }
        stream.access = in_turn(s, rw, stream, zones)?;
        if let Access::ZonesInTurn { inside, .. } = &stream.access
            && is_drawn_by_rank(inside)
        {
            notes.say(format!(
                "job {}: the distribution is drawn inside each zone; fio draws it from the whole file and ends behind it",
                s.job
            ));
        }
        return Ok(());
    }
    if let Some(access) = backward::access(s, rw, &stream.record)? {
        stream.access = access;
        return Ok(());
    }
    let word = rw.word();
    let wrong = |name: &'static str, why: String, hint: &str| Err(s.wrong(name, why).hint(hint));
    let gap = match steps {
        None => return Ok(()),
        Some(text) if rw.random => {
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
        Some(text) => {
            let Ok(gap) = number::bytes(text, s.kb_base_of("rw")) else {
                let why = format!("rw={word}:{text}: a number of bytes to leave out is expected");
                return wrong("rw", why, "going backwards is not supported");
            };
            if same {
                let why = "rw_sequencer=identical belongs to random places".to_owned();
                return wrong("rw_sequencer", why, "leave it out");
            }
            gap
        }
    };
    let Record::Fixed(block) = stream.record else {
        return wrong("rw", "rw: what leaves something out needs one block size".into(), "instead: bs");
    };
    // fio 3.33: rw=rw:4k skips 4 KiB in the reads and in the writes separately.
    stream.access = Access::Striped { run: block, gap: Bytes(gap), by_kind: rw.mixed };
    Ok(())
}

/// The order of a job with zones.
fn in_turn(s: &Settings, rw: Rw, stream: &Stream, zones: Zones) -> Result<Access, UsageError> {
    let wrong = |name: &'static str, why: String, hint: &str| Err(s.wrong(name, why).hint(hint));
    let in_sequence =
        matches!(stream.access, Access::PartlyRandom { reads_percent: 0, writes_percent: 0, .. });
    let inside = if rw.random && !in_sequence { stream.access.clone() } else { Access::Sequential };
    let of_blocks = |order: &Access| matches!(order, Access::Cycle { .. });
    let of_bytes = |order: &Access| *order == Access::Zoned(Vec::new());
    if of_blocks(&inside) || of_bytes(&inside) {
        let distribution = s.word("random_distribution").unwrap_or("random");
        let why = format!("random_distribution={distribution} is not supported with zonemode=strided");
        return wrong("random_distribution", why, "leave one of the two out");
    }
    if matches!(stream.record, Record::ByKind { .. }) {
        let why = "zonemode: zones need the same block sizes for reads and writes".to_owned();
        return wrong("zonemode", why, "instead: two jobs");
    }
    // If no block fits, the job does nothing, except where fio draws from the whole file.
    let block = stream.record.largest().0;
    let least = if is_drawn_by_rank(&inside) { 0 } else { stream.record.unit().0 };
    if rw.random && (least..block).contains(&zones.range.0) {
        let name = if s.number("zonerange")?.is_some() { "zonerange" } else { "zonesize" };
        let why = format!("{name}={}: at least a block of {block} bytes is expected", zones.range.0);
        return wrong(name, why, "zonesize=1m, for example");
    }
    let Zones { range, gap, moved } = zones;
    Ok(Access::ZonesInTurn { range, gap, moved, inside: Box::new(inside) })
}

/// Whether some offsets are drawn more often than others, other than by zones.
fn is_drawn_by_rank(order: &Access) -> bool {
    match order {
        Access::PartlyRandom { order, .. } => is_drawn_by_rank(order),
        Access::Zoned(_) | Access::Uniform => false,
        order => order.draws_each(),
    }
}

struct Zones {
    range: Bytes,
    gap: Bytes,
    /// Bytes moved per visit.
    moved: Bytes,
}

/// Reads the zone options. A zone size alone implies strided mode, as in older versions of fio.
fn zones(s: &Settings) -> Result<Option<Zones>, UsageError> {
    let mode = s.word("zonemode");
    let of = |name: &'static str| s.number(name);
    let (size, range, skip) = (of("zonesize")?, of("zonerange")?, of("zoneskip")?.unwrap_or(0));
    match (mode, size.filter(|bytes| *bytes > 0)) {
        // Zoned devices: see `zbd`.
        (Some("none" | "zbd"), _) | (None, None) => Ok(None),
        (_, None) => Err(s.wrong("zonemode", "zonemode=strided needs zonesize")),
        (_, Some(size)) => {
            let range = range.filter(|bytes| *bytes > 0).unwrap_or(size);
            if range.checked_add(skip).is_none() {
                return Err(s.wrong("zonerange", "zonerange and zoneskip together are below 2^64"));
            }
            Ok(Some(Zones { range: Bytes(range), gap: Bytes(skip), moved: Bytes(size) }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::ops::{Done, Place, Region, StreamOps};
    use fathom_workload::{Amount, Program, Stream};

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
        // The last stripe is cut short, which ends the pass.
        assert_eq!(of("52k"), expected[..7]);
        assert_eq!(of("52k --loops=2"), [&expected[..7], &expected[..7]].concat());
        assert_eq!(of("52k --io_size=40k"), [&expected[..7], &expected[..3]].concat());
        // A stripe that ends with the file ends the pass; if only its gap is cut off, it starts over.
        assert_eq!(blocks("--size=28k --rw=read:4k"), [0, 2, 4, 6]);
        assert_eq!(blocks("--size=32k --rw=read:8k"), [0, 3, 6, 0, 3, 6, 0, 3]);
        assert_eq!(blocks("--size=28k --rw=read:8k"), [0, 3, 6]);
        assert_eq!(blocks("--size=28k --rw=read:4k --loops=2"), [0, 2, 4, 6, 0, 2, 4, 6]);
        assert_eq!(blocks("--size=32k --rw=read:-8k"), [0, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(blocks("--size=32k --rw=read:-12k"), [0, 5, 3, 1, 5, 3, 1, 5]);
        // It also ends if the last offset lies in the file but beyond the part.
        let eight: Vec<u64> = (0..8).map(|n| 2 * n).collect();
        for (args, places) in [
            ("--size=64k --offset=16k", &eight[..]),
            ("--size=64k --offset=16k --loops=2", &[&eight[..], &eight[..]].concat()[..]),
            ("--size=32k --offset=16k --loops=3 --number_ios=3", &[0, 2, 4, 6, 0, 2, 4, 6, 0]),
            ("--size=32k --offset=16k --loops=3 --io_size=40k", &[0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6]),
            ("--size=32k --filename=there", &eight[..4]),
            ("--size=32k --filename=there --io_size=20k", &[0, 2, 4, 6, 0]),
            ("--size=32k --filename=there --offset=8k", &eight[..4]),
            ("--size=32k --ioengine=null --offset=16k", &eight[..4]),
        ] {
            assert_eq!(blocks(&format!("--rw=read:4k {args}")), places, "{args}");
        }
        assert_eq!(blocks("--size=64k --rw=read:60k --offset=16k"), [0]);
        assert_eq!(blocks("--size=64k --rw=read:76k --offset=64k"), [0]);
        assert_eq!(blocks("--size=16k --rw=read:1020k --filename=there"), [0; 4]);
        let small = "--rw=read --zonemode=strided --zonesize=8k --zonerange=4k --zoneskip=8k";
        assert_eq!(blocks(&format!("--size=36k {small}")), [0, 0, 3, 3, 6, 6, 0, 0, 3]);
        // Operations of fio 3.42.
        let amount = |args: &str| match stream(args).amount {
            Amount::Operations(n) => n,
            Amount::Bytes(bytes) => bytes.0,
            other => panic!("{other:?}"),
        };
        let zones = "--zonemode=strided --zonesize=16k --zoneskip=16k";
        for (args, count) in [
            ("--rw=read --bs=3k --size=128k", 43),
            ("--rw=rw --bs=3k --size=128k", 43),
            ("--rw=read --bs=3k --size=100k", 19),
            ("--rw=read --bs=3k --size=100k --loops=2", 38),
            ("--rw=read --size=104k", 14),
            ("--rw=read --bs=64k --size=1m", 16),
            ("--rw=randread --size=104k", 12),
            // The last option wins.
            ("--rw=randread --size=64k --zonesize=32k --zonerange=24k", 16),
            ("--rw=read --bs=1k --size=60k --zonesize=32k --zonerange=8k", 60),
            ("--rw=read --bs=1k --size=60k --zonesize=32k --zonerange=8k --loops=2", 120),
            ("--rw=randread --size=104k --loops=2", 24),
            ("--rw=randread --bs=3k --size=128k", 5),
            ("--rw=randread --bs=3k --size=128k --loops=2", 10),
            ("--rw=randread --bs=3k --size=128k --norandommap", 43),
        ] {
            assert_eq!(amount(&format!("{zones} {args}")), count, "{args}");
        }
    }

    #[test]
    fn a_random_offset_is_kept_for_n_operations() {
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
    fn inside_zones_a_share_is_random_or_from_a_distribution() {
        // Counts of fio 3.42.
        let zones = "--rw=randread --zonemode=strided --zonesize=16k --zoneskip=16k";
        for (args, count) in [
            ("--size=256k --percentage_random=50", 64),
            ("--size=256k --random_distribution=zoned:50/10:50/90", 64),
            ("--size=256k --norandommap", 64),
            ("--size=1m --percentage_random=50 --loops=2", 512),
            ("--size=1m --percentage_random=50 --io_size=2m", 512),
            ("--size=1m --percentage_random=30,70 --number_ios=20", 20),
        ] {
            let found = blocks(&format!("{args} {zones}"));
            assert_eq!(found.len(), count, "{args}");
            assert!(found.iter().all(|block| block % 8 < 4), "{args}: {found:?}");
        }
        // Zones that are not whole blocks.
        for (args, count) in [
            ("--zonesize=18k --zoneskip=14k --percentage_random=50", 256),
            ("--zonesize=18k --zoneskip=14k --percentage_random=50 --loops=2", 512),
            ("--zonesize=18k --zoneskip=14k --random_distribution=zoned:50/50:50/50", 256),
            ("--zonesize=2k --zoneskip=2k --percentage_random=0", 256),
            ("--zonesize=18k --zoneskip=14k", 4),
        ] {
            let found = blocks(&format!("--size=1m --rw=randread --zonemode=strided {args}"));
            assert_eq!(found.len(), count, "{args}");
        }
        let plan = planned(&format!("--name=a --size=256k {zones} --random_distribution=zipf:1.2"));
        assert!(plan.notes.iter().any(|note| note.contains("inside each zone")), "{:?}", plan.notes);
        for of in ["sequence:1,2", "zoned_abs:50/8k:50/8k"] {
            let why = refused(&format!("--name=a --size=256k {zones} --random_distribution={of}"));
            assert!(why.contains("is not supported with zonemode=strided"), "{why}");
        }
    }

    #[test]
    fn what_follows_no_rule_is_refused() {
        for (args, what) in [
            ("--size=36k --rw=rw:4k", "come out even"),
            ("--size=32k --rw=randread:0", "above 0"),
            ("--size=32k --rw=read:-6k", "a multiple of the block size"),
            ("--size=64k --rw=randread --bsrange=2k-4k --zonesize=3k", "at least a block"),
            (
                "--size=64k --rw=randread --bs=16k --zonesize=8k --random_distribution=zipf:1.2",
                "at least a block",
            ),
            ("--size=64k --rw=read --zonemode=strided", "needs zonesize"),
            ("--size=36k --rw=rw --zonesize=8k --zoneskip=8k", "come out even"),
            ("--size=72k --rw=read:4k --nrfiles=2", "come out even"),
            ("--size=64k --rw=read:4k --nrfiles=2 --offset=8k", "come out even"),
            ("--size=32k --rw=rw:4k --offset=16k", "come out even"),
            ("--size=64k --rw=read:76k --offset=16k", "begins again"),
        ] {
            let wrong = refused(&format!("--name=a --bs=4k {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }
}
