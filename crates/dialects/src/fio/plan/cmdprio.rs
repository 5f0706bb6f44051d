//! I/O priorities of single operations: for a percentage of them, or by block size.

use super::super::UsageError;
use super::super::number;
use super::super::settings::Settings;
use fathom_workload::{Backend, Bytes, IoClass, PriorityShare, Stream};

/// Class, level and hint of entries that name none, for reads and writes.
struct Defaults {
    class: (u64, u64),
    level: (u64, u64),
    hint: (u64, u64),
}

/// Largest hint that fits in an I/O priority.
const MOST_HINT: u64 = 1023;

/// Parses the options and applies them to the stream.
pub fn apply(s: &Settings, stream: &mut Stream) -> Result<(), UsageError> {
    let pair = |name: &'static str, default: u64| {
        Ok::<_, UsageError>(s.pair(name, default, number::bytes)?.unwrap_or((default, default)))
    };
    let percent = pair("cmdprio_percentage", 0)?;
    let defaults = Defaults {
        class: pair("cmdprio_class", 1)?,
        level: pair("cmdprio", 0)?,
        hint: pair("cmdprio_hint", 0)?,
    };
    if let Some(hint) = [defaults.hint.0, defaults.hint.1].into_iter().find(|hint| *hint > MOST_HINT) {
        return Err(s.wrong("cmdprio_hint", format!("cmdprio_hint={hint}: 0 to {MOST_HINT} is expected")));
    }
    let split = s.text("cmdprio_bssplit");
    let mut shares = Vec::new();
    for (writes, percent) in [(false, percent.0), (true, percent.1)] {
        if percent > 0 {
            shares.push(
                share(writes, None, percent, None, &defaults)
                    .map_err(|why| s.wrong("cmdprio_percentage", why))?,
            );
        }
    }
    if let Some(text) = split {
        if !shares.is_empty() {
            return Err(
                s.wrong("cmdprio_bssplit", "cmdprio_percentage and cmdprio_bssplit exclude each other")
            );
        }
        let (reads, others) = text.split_once(',').unwrap_or((text, text));
        for (writes, list) in [(false, reads), (true, others)] {
            for part in list.split(':').filter(|part| !part.trim().is_empty()) {
                let found = sized(writes, part.trim(), s.kb_base_of("cmdprio_bssplit"), &defaults)
                    .map_err(|why| s.wrong("cmdprio_bssplit", format!("cmdprio_bssplit: {part:?}: {why}")))?;
                shares.extend(found);
            }
        }
    }
    let name = if split.is_some() { "cmdprio_bssplit" } else { "cmdprio_percentage" };
    if !shares.is_empty() && !matches!(stream.backend, Backend::Uring(_) | Backend::Aio { .. }) {
        return Err(s
            .wrong(name, format!("{name}: only libaio and io_uring give single operations a priority"))
            .hint("instead: ioengine=libaio or io_uring, or prio"));
    }
    stream.priorities = shares;
    Ok(())
}

/// Checks that the latencies can be reported by priority.
pub fn check(s: &Settings, stream: &Stream) -> Result<(), UsageError> {
    if stream.priorities.is_empty() || stream.turns.is_none() {
        return Ok(());
    }
    let name = if s.text("cmdprio_bssplit").is_some() { "cmdprio_bssplit" } else { "cmdprio_percentage" };
    Err(s
        .wrong(name, format!("{name}: single operations on several files are not written down"))
        .hint("a job for each file"))
}

/// `size/percent[/class/level[/hint]]`; entries of 0 percent are dropped.
fn sized(
    writes: bool,
    part: &str,
    kb_base: u64,
    defaults: &Defaults,
) -> Result<Option<PriorityShare>, String> {
    let fields: Vec<&str> = part.split('/').collect();
    let whole =
        |text: &str| text.trim().parse::<u64>().map_err(|_| format!("{text:?} is not a whole number"));
    let (size, percent, own) = match fields.as_slice() {
        [size, percent] => (size, percent, None),
        [size, percent, class, level] => (size, percent, Some((whole(class)?, whole(level)?, 0))),
        [size, percent, class, level, hint] => {
            (size, percent, Some((whole(class)?, whole(level)?, whole(hint)?)))
        }
        _ => {
            return Err(
                "SIZE/PERCENT, SIZE/PERCENT/CLASS/LEVEL or SIZE/PERCENT/CLASS/LEVEL/HINT is expected".into(),
            );
        }
    };
    let size = number::bytes(size, kb_base)?;
    match whole(percent)? {
        0 => Ok(None),
        percent => share(writes, Some(Bytes(size)), percent, own, defaults).map(Some),
    }
}

fn share(
    writes: bool,
    bytes: Option<Bytes>,
    percent: u64,
    own: Option<(u64, u64, u64)>,
    defaults: &Defaults,
) -> Result<PriorityShare, String> {
    let of = |pair: (u64, u64)| if writes { pair.1 } else { pair.0 };
    let (class, level, hint) = own.unwrap_or((of(defaults.class), of(defaults.level), of(defaults.hint)));
    let class = match class {
        1 => IoClass::RealTime,
        2 => IoClass::BestEffort,
        3 => IoClass::Idle,
        other => {
            return Err(format!("class {other}: 1 (real time), 2 (best effort) or 3 (idle) is expected"));
        }
    };
    let level = u8::try_from(level).ok().filter(|level| *level <= 7);
    let level = level.ok_or("a level is 0 to 7")?;
    let hint = u16::try_from(hint).ok().filter(|hint| u64::from(*hint) <= MOST_HINT);
    let hint = hint.ok_or("a hint is 0 to 1023")?;
    if percent > 100 {
        return Err(format!("{percent} percent; at most 100 is expected"));
    }
    Ok(PriorityShare { writes, bytes, percent: percent as f64, class, level, hint })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    const LINE: &str = "--name=a --size=1m --rw=randrw --ioengine=libaio --direct=1 --iodepth=4";

    fn shares(args: &str) -> Vec<(bool, Option<u64>, u64, u16)> {
        let plan = planned(&format!("{LINE} {args}"));
        let parts = |s: &PriorityShare| (s.writes, s.bytes.map(|b| b.0), s.percent as u64, s.number());
        plan.jobs[0].stream.priorities.iter().map(parts).collect()
    }

    #[test]
    fn shares_are_read_for_both_directions() {
        assert_eq!(
            shares("--cmdprio_percentage=20 --cmdprio_class=3 --cmdprio=2"),
            [(false, None, 20, 0x6002), (true, None, 20, 0x6002)]
        );
        assert_eq!(shares("--cmdprio_percentage=30,0"), [(false, None, 30, 0x2000)]);
        assert_eq!(
            shares("--cmdprio_bssplit=4k/20/2/1:4k/30:8k/0,4k/10"),
            [
                (false, Some(4096), 20, 0x4001),
                (false, Some(4096), 30, 0x2000),
                (true, Some(4096), 10, 0x2000)
            ]
        );
        // Hints as issued by fio 3.42.
        let hinted = "--cmdprio_class=2 --cmdprio_hint=3,4";
        assert_eq!(
            shares(&format!("--cmdprio_percentage=50 --cmdprio=1 {hinted}")),
            [(false, None, 50, 0x4019), (true, None, 50, 0x4021)]
        );
        assert_eq!(
            shares(&format!("--cmdprio_bssplit=4k/50/2/3/9:4k/20:4k/10/2/1,4k/0 {hinted}")),
            [
                (false, Some(4096), 50, 0x404b),
                (false, Some(4096), 20, 0x4018),
                (false, Some(4096), 10, 0x4001)
            ]
        );
        assert!(shares("").is_empty() && shares("--cmdprio_hint=3").is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(refused(&format!("{LINE} --cmdprio_percentage=20 --cmdprio_class=4")).contains("class 4"));
        assert!(refused(&format!("{LINE} --cmdprio_percentage=20 --cmdprio=8")).contains("0 to 7"));
        assert!(refused(&format!("{LINE} --cmdprio_hint=1024")).contains("0 to 1023"));
        assert!(refused(&format!("{LINE} --cmdprio_bssplit=4k/50/2/3/1024")).contains("0 to 1023"));
        assert!(refused(&format!("{LINE} --cmdprio_bssplit=4k")).contains("SIZE/PERCENT"));
        let both = "--cmdprio_percentage=20 --cmdprio_bssplit=4k/10";
        assert!(refused(&format!("{LINE} {both}")).contains("exclude"));
        let alone = "--name=a --size=1m --rw=read --cmdprio_percentage=20";
        assert!(refused(alone).contains("libaio and io_uring"));
    }
}
