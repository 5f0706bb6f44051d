//! Limits on a job: flow ratios, minimum rates, maximum latency.

use super::super::UsageError;
use super::super::lenient_number;
use super::super::number::US;
use super::super::settings::Settings;
use super::direction::{Rw, Trims};
use fathom_workload::{Duration, Least, Longest, Ratio, Stream};

/// Largest weight of a flow, as in fio.
const HEAVIEST: u64 = 1000;
/// fio checks rates after two seconds.
const GRACE: Duration = Duration(2_000_000_000);

/// fio's message for any direction, whichever exceeds it.
const MORE_THAN_ALLOWED: &str = "fio: minimum rate exceeds rate, ddir 0\n\
    fio: minimum rate exceeds rate, ddir 1\nfio: minimum rate exceeds rate, ddir 2\n";

/// Applies the limits to the stream.
pub fn apply(s: &Settings, stream: &mut Stream, rw: Rw) -> Result<(), UsageError> {
    stream.pace.ratio = ratio(s)?;
    if rw.trims != Trims::No
        && let Some(name) = s.last_of(&["rate_min", "rate_iops_min", "max_latency"])
    {
        return Err(s
            .wrong(name, format!("{name}: with rw={} it is not supported", rw.word()))
            .hint("leave it out, or write without trims"));
    }
    stream.pace.least = least(s, rw)?;
    stream.pace.longest = longest(s, rw)?;
    Ok(())
}

/// `flow`: jobs with the same `flow_id` issue operations in proportion. flow_id alone has no effect.
fn ratio(s: &Settings) -> Result<Option<Ratio>, UsageError> {
    let group = s.count("flow_id", 0, 0)?;
    let sleep = Duration(s.number("flow_sleep")?.unwrap_or(0).saturating_mul(US));
    match s.number("flow")? {
        None | Some(0) => Ok(None),
        Some(given) if given > HEAVIEST => Err(s
            .wrong("flow", format!("flow={given}: at most {HEAVIEST} is expected"))
            .fio(format!("flow: max value out of range: {given} ({HEAVIEST} max)\n"))
            .hint("only the ratio of the flows counts: divide all of them by the same number")),
        Some(weight) => Ok(Some(Ratio { group, weight: u32::try_from(weight).unwrap_or(1), sleep })),
    }
}

/// `rate_min` and `rate_iops_min` for the job's directions, over `rate_cycle`.
fn least(s: &Settings, rw: Rw) -> Result<Option<Least>, UsageError> {
    let pair = |name: &'static str| {
        let pair = s.pair(name, 0, lenient_number::bytes)?.unwrap_or((0, 0));
        Ok::<_, UsageError>((if rw.reads() { pair.0 } else { 0 }, if rw.writes() { pair.1 } else { 0 }))
    };
    let (bytes, operations) = (pair("rate_min")?, pair("rate_iops_min")?);
    let window = match s.time("rate_cycle")? {
        0 => Least::default().window,
        given => Duration(given),
    };
    if bytes != (0, 0) && operations != (0, 0) {
        return Err(s
            .wrong("rate_iops_min", "rate_min and rate_iops_min exclude each other")
            .fio("fio: rate and rate_iops are mutually exclusive\n".to_owned())
            .hint("leave one of them out"));
    }
    for (least, name, most) in [(bytes, "rate_min", "rate"), (operations, "rate_iops_min", "rate_iops")] {
        let most = pair(most)?;
        if most.0 > 0 && least.0 > most.0 || most.1 > 0 && least.1 > most.1 {
            return Err(s
                .wrong(name, format!("{name} asks for more than the job may do"))
                .fio(MORE_THAN_ALLOWED.to_owned())
                .hint("a least rate is below the rate"));
        }
    }
    let least = Least {
        read_bytes_per_s: bytes.0,
        write_bytes_per_s: bytes.1,
        reads_per_s: operations.0,
        writes_per_s: operations.1,
        window,
        grace: GRACE,
    };
    Ok((bytes != (0, 0) || operations != (0, 0)).then_some(least))
}

/// `max_latency`.
fn longest(s: &Settings, rw: Rw) -> Result<Option<Longest>, UsageError> {
    let Some((read, write)) = s.pair("max_latency", 0, |text, _| lenient_number::time(text, US))? else {
        return Ok(None);
    };
    let longest = Longest {
        read: Duration(if rw.reads() { read } else { 0 }),
        write: Duration(if rw.writes() { write } else { 0 }),
    };
    Ok((longest != Longest::default()).then_some(longest))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Duration, Least, Longest, Pace, Program, Ratio};

    fn pace(args: &str) -> Pace {
        let plan = planned(&format!("--name=a --ioengine=null --size=1m {args}"));
        match &plan.workload.phases[0].groups[0].threads[0].program {
            Program::Stream(stream) => stream.pace,
            Program::Flow(_) => panic!("a flow"),
        }
    }

    #[test]
    fn flows_are_ratios() {
        let ratio = |group, weight, us: u64| Some(Ratio { group, weight, sleep: Duration(us * 1000) });
        assert_eq!(pace("--flow=8").ratio, ratio(0, 8, 0));
        assert_eq!(pace("--flow=1 --flow_id=3 --flow_sleep=100").ratio, ratio(3, 1, 100));
        // fio 3.33 runs these at full speed.
        assert_eq!(pace("--flow=0").ratio, None);
        assert_eq!(pace("--flow_id=1 --flow_sleep=10").ratio, None);
        let wrong = refused("--name=a --size=1m --flow=1001");
        assert!(wrong.contains("flow: max value out of range: 1001 (1000 max)"), "{wrong}");
        assert!(!refused("--name=a --size=1m --flow=-1").is_empty());
    }

    #[test]
    fn least_rates_are_those_of_what_a_job_does() {
        let least = |window_ms: u64| Least {
            window: Duration(window_ms * 1_000_000),
            grace: Duration(2_000_000_000),
            ..Least::default()
        };
        assert_eq!(pace("--rate_min=4k").least, Some(Least { read_bytes_per_s: 4096, ..least(1000) }));
        assert_eq!(
            pace("--rw=write --rate_iops_min=10 --rate_cycle=500").least,
            Some(Least { writes_per_s: 10, ..least(500) })
        );
        assert_eq!(
            pace("--rw=randrw --ratemin=10k,1m").least,
            Some(Least { read_bytes_per_s: 10240, write_bytes_per_s: 1 << 20, ..least(1000) })
        );
        assert_eq!(pace("--rate_min=0").least, None);
        for (args, what) in [
            ("--rate=4k --rate_min=8k", "fio: minimum rate exceeds rate, ddir 0"),
            ("--rate_iops=10 --rate_iops_min=20", "fio: minimum rate exceeds rate, ddir 0"),
            ("--rate_min=10k --rate_iops_min=20", "mutually exclusive"),
        ] {
            let wrong = refused(&format!("--name=a --size=1m {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }

    #[test]
    fn the_longest_latency_is_in_microseconds() {
        let longest = |read: u64, write: u64| Some(Longest { read: Duration(read), write: Duration(write) });
        assert_eq!(pace("--max_latency=5").longest, longest(5000, 0));
        assert_eq!(pace("--rw=randrw --max_latency=1ms,2s").longest, longest(1_000_000, 2_000_000_000));
        assert_eq!(pace("--max_latency=0").longest, None);
    }
}
