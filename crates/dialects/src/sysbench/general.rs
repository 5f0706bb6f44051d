//! Parses the options of every test, and fathom's own, and checks them in SysBench's order. As in SysBench, warnings about options
//! deprecated in 1.0 are printed on stdout before the version line.

use super::options::{Dialect, SysbenchOptions};
use super::table::{OptionGroup, SysbenchSupport, ValueType, find};
use super::values::{number, size, switch};
use super::words::Given;
use super::{Said, SysbenchExit};

/// Values to check after all are parsed.
#[derive(Default)]
struct GeneralChecks {
    threads: i32,
    num_threads: i32,
    max_requests: i32,
    max_time: Option<i32>,
    tx_rate: i32,
    events: i32,
    time: i32,
    rate: i32,
    forced_shutdown: String,
    checkpoints: String,
    verbosity: i32,
    percentile: i32,
    report_interval: i32,
    thread_stack_bytes: Option<u64>,
    rand_type: Option<String>,
    debug: bool,
    init_rng: bool,
}

/// Parses the general options into `o`; messages are added to `said`.
///
/// # Errors
/// The first malformed option, or the first check that fails.
pub(super) fn read(o: &mut SysbenchOptions, options: &[Given], said: &mut Said) -> Result<(), SysbenchExit> {
    let old = o.dialect == Dialect::Old;
    let mut later = GeneralChecks {
        threads: 1,
        num_threads: 1,
        max_requests: if old { 10_000 } else { 0 },
        time: 10,
        verbosity: o.verbosity.into(),
        percentile: 95,
        ..GeneralChecks::default()
    };
    for given in options {
        if let Some(row) = find(&given.name, old).filter(|r| r.part != OptionGroup::FileIo) {
            if let SysbenchSupport::Refused(why) = row.state {
                return Err(SysbenchExit::refused(format_args!("--{} is refused. {why}", row.name)));
            }
            one(o, &mut later, given, row.name, row.value)?;
            if let SysbenchSupport::Harmless(note) = row.state {
                o.notes.push(format!("--{}: {note}", row.name));
            }
        }
    }
    if old { check_old(o, &later) } else { check_new(o, &later, said) }?;
    times(o, &later)
}

fn one(
    o: &mut SysbenchOptions,
    later: &mut GeneralChecks,
    given: &Given,
    name: &str,
    value: ValueType,
) -> Result<(), SysbenchExit> {
    match name {
        "threads" => later.threads = number(given)?,
        "num-threads" => later.num_threads = number(given)?,
        "events" => later.events = number(given)?,
        "max-requests" => later.max_requests = number(given)?,
        "time" => later.time = number(given)?,
        "max-time" => later.max_time = Some(number(given)?),
        "rate" => later.rate = number(given)?,
        "tx-rate" => later.tx_rate = number(given)?,
        "forced-shutdown" => later.forced_shutdown = given.text().into(),
        "report-interval" => later.report_interval = number(given)?,
        "report-checkpoints" => later.checkpoints = given.text().into(),
        "verbosity" => later.verbosity = number(given)?,
        "percentile" => later.percentile = number(given)?,
        "thread-stack-size" => later.thread_stack_bytes = Some(size(given)),
        "rand-type" => later.rand_type = Some(given.text().into()),
        "rand-seed" => o.rand_seed = number(given)?,
        "seed-rng" => o.seed_rng = number(given)?,
        "init-rng" => later.init_rng = switch(given)?,
        "debug" => later.debug = switch(given)?,
        "validate" => o.validate = switch(given)?,
        "histogram" => o.histogram = switch(given)?,
        "file-path" => o.path = given.text().into(),
        "file-replace" => o.replace = switch(given)?,
        "file-cold" => o.cold = switch(given)?,
        // The option has no effect, but its value is still checked.
        _ if value == ValueType::Number => drop(number(given)?),
        _ if value == ValueType::Switch => drop(switch(given)?),
        _ => {}
    }
    Ok(())
}

fn check_new(o: &mut SysbenchOptions, later: &GeneralChecks, said: &mut Said) -> Result<(), SysbenchExit> {
    let mut deprecated = |given: bool, old: &str, new: &str| {
        if given {
            said.stdout += &format!("WARNING: --{old} is deprecated, use --{new} instead\n");
        }
        given
    };
    let threads = deprecated(later.num_threads != 1, "num-threads", "threads");
    o.threads = threads_of(if threads { later.num_threads } else { later.threads })?;
    let requests = deprecated(later.max_requests != 0, "max-requests", "events");
    let time = deprecated(later.max_time.is_some_and(|t| t != 0), "max-time", "time");
    o.events = count(if requests { later.max_requests } else { later.events }, "events")?;
    o.time_s = count(if time { later.max_time.unwrap_or(0) } else { later.time }, "time")?;
    if o.events == 0 && o.time_s == 0 {
        said.stdout += "WARNING: Both event and time limits are disabled, running an endless test\n";
    }
    let mut rate = later.rate;
    if later.tx_rate != 0 {
        said.stdout += "WARNING: --tx-rate is deprecated, use --rate instead\n";
        rate = later.tx_rate;
    }
    o.rate = count(rate, "rate")? as u32;
    Ok(())
}

fn check_old(o: &mut SysbenchOptions, later: &GeneralChecks) -> Result<(), SysbenchExit> {
    o.threads = threads_of(later.num_threads)?;
    o.events = count(later.max_requests, "max-requests")?;
    o.time_s = count(later.max_time.unwrap_or(0), "max-time")?;
    o.rate = count(later.tx_rate, "tx-rate")? as u32;
    o.init_rng = later.init_rng;
    Ok(())
}

fn threads_of(n: i32) -> Result<u32, SysbenchExit> {
    // The empty line is SysBench's.
    u32::try_from(n)
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| SysbenchExit::fatal(format_args!("Invalid value for --threads: {n}.\n")))
}

/// Refuses negative numbers, which SysBench would take for huge ones.
fn count(n: i32, name: &str) -> Result<u64, SysbenchExit> {
    u64::try_from(n).map_err(|_| SysbenchExit::fatal(format_args!("Invalid value for --{name}: {n}")))
}

/// Options for time limits and logging; the same in both releases.
fn times(o: &mut SysbenchOptions, later: &GeneralChecks) -> Result<(), SysbenchExit> {
    o.forced_shutdown_s = forced_shutdown(&later.forced_shutdown, o.time_s)?;
    o.checkpoints_s = checkpoints(&later.checkpoints)?;
    o.report_interval_s = count(later.report_interval, "report-interval")?;
    o.verbosity = u8::try_from(later.verbosity & 0xff).unwrap_or(u8::MAX);
    if o.verbosity > 5 {
        return Err(SysbenchExit {
            code: 1,
            stdout: format!("Invalid value for verbosity: {}\n", o.verbosity),
            stderr: String::new(),
        });
    }
    if later.debug {
        o.verbosity = 5;
    }
    let percentile = later.percentile;
    o.percentile = u8::try_from(percentile)
        .ok()
        .filter(|&p| p <= 100)
        .ok_or_else(|| SysbenchExit::fatal(format_args!("Invalid value for --percentile: {percentile}")))?;
    if let Some(0) = later.thread_stack_bytes {
        return Err(SysbenchExit::fatal("Invalid value for thread-stack-size: 0.\n"));
    }
    match later.rand_type.as_deref() {
        None | Some("uniform" | "gaussian" | "special" | "pareto") => Ok(()),
        Some(other) => {
            Err(SysbenchExit::fatal(format_args!("Invalid random numbers distribution: {other}.")))
        }
    }
}

/// Seconds from the start until the run is aborted: the time limit plus a number of seconds or a percentage.
fn forced_shutdown(text: &str, time_s: u64) -> Result<Option<u64>, SysbenchExit> {
    if text.is_empty() || text == "off" {
        return Ok(None);
    }
    let invalid = || SysbenchExit::fatal(format_args!("Invalid value for --forced-shutdown: '{text}'"));
    let (digits, percent) = match text.strip_suffix('%') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let n: u64 = digits.parse::<u32>().map_err(|_| invalid())?.into();
    // It requires a time limit.
    Ok((time_s > 0).then(|| time_s + if percent { time_s * n / 100 } else { n }))
}

fn checkpoints(text: &str) -> Result<Vec<u64>, SysbenchExit> {
    let mut all = Vec::new();
    for part in text.split(',').filter(|p| !p.is_empty()) {
        let n: u32 = part.trim().parse().map_err(|_| {
            SysbenchExit::fatal(format_args!("Invalid value for --report-checkpoints: '{part}'"))
        })?;
        all.push(u64::from(n));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all.into_iter().filter(|&n| n > 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_by_force_is_counted_from_the_start() {
        assert_eq!(forced_shutdown("1", 3), Ok(Some(4)));
        assert_eq!(forced_shutdown("50%", 8), Ok(Some(12)));
        assert_eq!(forced_shutdown("off", 8), Ok(None));
        assert_eq!(forced_shutdown("5", 0), Ok(None));
        assert!(forced_shutdown("x", 8).is_err() && forced_shutdown("-1", 8).is_err());
    }

    #[test]
    fn checkpoints_are_sorted() {
        assert_eq!(checkpoints("2,1,,2"), Ok(vec![1, 2]));
        assert_eq!(
            checkpoints("1,x").expect_err("no number").stdout,
            "FATAL: Invalid value for --report-checkpoints: 'x'\n"
        );
    }
}
