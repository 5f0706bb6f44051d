//! How fast a job goes, and how long: rates, pauses, times.

use super::super::Wrong;
use super::super::number;
use super::super::settings::Settings;
use super::Notes;
use super::what::Direction;
use fathom_workload::{Arrivals, Bytes, Duration, Mix, Rate, Record, Stream, Think};

/// Times of a job, in nanoseconds; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Longest time that is counted.
    pub runtime: u64,
    /// Warm-up.
    pub ramp: u64,
    /// Wait before.
    pub delay: u64,
    /// The first job that is done ends the others.
    pub exit_all: bool,
}

/// The times of a job.
pub fn times(s: &Settings, stream: &mut Stream, notes: &mut Notes) -> Result<Times, Wrong> {
    let runtime = s.time("runtime")?;
    if s.on("time_based", false) && runtime == 0 {
        notes.say(format!(
            "job {}: time_based means nothing without runtime, and is ignored, as in fio",
            s.job
        ));
    }
    if s.text("startdelay").is_some_and(|t| t.contains(',') || t.contains('-')) {
        return Err(s.wrong("startdelay", "a random delay is not supported").hint("instead: one time"));
    }
    let times = Times {
        runtime,
        ramp: s.time("ramp_time")?,
        delay: s.time("startdelay")?,
        exit_all: s.on("exitall", false),
    };
    let think = s.time("thinktime")?;
    let spin = s.time("thinktime_spin")?;
    // 0 is 1, as in fio.
    let every = s.number("thinktime_blocks")?.unwrap_or(1).max(1);
    if think > 0 && spin > think {
        return Err(s
            .wrong("thinktime_spin", "thinktime_spin is longer than thinktime, of which it is a part")
            .hint("instead: at most thinktime"));
    }
    if think > 0 {
        stream.pace.think = Some(Think {
            time: Duration(think),
            counted: true,
            asleep: spin < think,
            busy: Duration(if spin < think { spin } else { 0 }),
            every,
        });
    }
    Ok(times)
}

/// The rate of a job. fio keeps one rate for reads and one for writes; here a mix has one for both, and the shares follow from them.
pub fn apply(s: &Settings, stream: &mut Stream, rw: Direction) -> Result<(), Wrong> {
    let read = |t: &str, kb: u64| number::bytes(t, kb);
    let bytes = s.pair("rate", 0, read)?.filter(|r| *r != (0, 0));
    let operations = s.pair("rate_iops", 0, read)?.filter(|r| *r != (0, 0));
    let poisson = s.word("rate_process") == Some("poisson");
    let (name, rates): (&'static str, (f64, f64)) = match (bytes, operations) {
        (None, None) => return Ok(()),
        (Some(_), Some(_)) => {
            return Err(s
                .wrong("rate_iops", "rate and rate_iops exclude each other")
                .fio("fio: rate and rate_iops are mutually exclusive\n".to_owned())
                .hint("leave one of them out"));
        }
        (None, Some((r, w))) => ("rate_iops", (r as f64, w as f64)),
        (Some((r, w)), None) => {
            let Record::Fixed(Bytes(size)) = stream.record else {
                return Err(s
                    .wrong("rate", "a rate in bytes needs one block size")
                    .hint("instead: rate_iops"));
            };
            ("rate", (r as f64 / size.max(1) as f64, w as f64 / size.max(1) as f64))
        }
    };
    let total = if rw.mixed {
        let (r, w) = rates;
        if r <= 0.0 || w <= 0.0 {
            return Err(s
                .wrong(name, format!("{name}: a mix needs a rate for reads and for writes"))
                .hint("instead: two jobs, one of them with a rate"));
        }
        let percent = (r / (r + w) * 100.0).round();
        if (percent / 100.0 - r / (r + w)).abs() > 1e-9 {
            return Err(s
                .wrong(
                    name,
                    format!("{name}: the shares that follow from these rates are no whole percentages"),
                )
                .hint("instead: two jobs"));
        }
        stream.direction = fathom_workload::Direction::Mix(Mix::ReadPercent(percent as u8));
        r + w
    } else if rw.reads() {
        rates.0
    } else {
        rates.1
    };
    if total > 0.0 {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Even };
        if stream.pace.think.is_some() {
            return Err(s
                .wrong(name, "a rate says when operations are due, so a pause between them has no place")
                .hint("instead: rate_iops, or thinktime, alone"));
        }
        stream.pace.rate = Some(Rate { operations_per_s: total, arrivals, common: false });
    }
    Ok(())
}
