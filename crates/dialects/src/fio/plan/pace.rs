//! Rates, pauses and durations of a job.

use super::super::UsageError;
use super::super::settings::Settings;
use super::super::{lenient_number, number};
use super::Notes;
use super::direction::{Rw, Trims};
use fathom_workload::ops::{Place, derive_seed};
use fathom_workload::{Bytes, Duration, Gaps, Mix, Rate, RateOf, Record, Stream, Think};

/// Durations of a job, in nanoseconds; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Maximum measured time.
    pub runtime: u64,
    /// Warm-up.
    pub ramp: u64,
    /// Warm-up in bytes, of a job or of its whole reporting group.
    pub ramp_bytes: u64,
    pub ramp_together: bool,
    /// Start delay, or its lower bound.
    pub delay: u64,
    /// Upper bound of the start delay; each clone draws its own.
    pub delay_most: u64,
    /// Ends the other jobs when it is done; `exitall` in any job sets this for all.
    pub exit_all: bool,
    /// Ended when the I/O jobs beside it are done.
    pub ends_with_io: bool,
}

impl Times {
    /// The start delay of a clone, by its number among all clones: the same in every run with this seed.
    pub fn delay_of(&self, clone: u32, seed: u64) -> u64 {
        /// Tag that separates this use of the seed.
        const FOR_DELAYS: u64 = 0x5d;
        let choices = self.delay_most.saturating_sub(self.delay).saturating_add(1);
        let place = Place { phase: 0, worker: clone, repetition: 0 };
        self.delay.saturating_add(derive_seed(seed, place, FOR_DELAYS) % choices)
    }
}

/// `startdelay`: a time, or a range from which every clone draws.
fn delays(s: &Settings) -> Result<(u64, u64), UsageError> {
    const NAME: &str = "startdelay";
    let Some(text) = s.text(NAME) else { return Ok((0, 0)) };
    let (first, last) = text.split_once(['-', ',', ':']).unwrap_or((text, text));
    let time = |text: &str| {
        lenient_number::time(text, number::S).map_err(|why| s.wrong(NAME, format!("{NAME}: {why}")))
    };
    let (first, last) = (time(first)?, time(last)?);
    Ok((first.min(last), first.max(last)))
}

/// Reads the durations and pauses of the job.
pub fn times(s: &Settings, stream: &mut Stream, notes: &mut Notes) -> Result<Times, UsageError> {
    let runtime = s.time("runtime")?;
    if s.on("time_based", false) && runtime == 0 {
        notes.say(format!("job {}: time_based has no effect without runtime, as in fio", s.job));
    }
    let (delay, delay_most) = delays(s)?;
    let ramp_bytes = match s.number("ramp_size")? {
        Some(0) => return Err(s.wrong("ramp_size", "ramp_size=0: at least a byte is expected")),
        bytes => bytes.unwrap_or(0),
    };
    if ramp_bytes > 0 && s.time("ramp_time")? > 0 {
        return Err(s
            .wrong("ramp_size", "a job warms up for a ramp_time or for a ramp_size, not for both")
            .hint("leave one of them out"));
    }
    let times = Times {
        runtime,
        ramp: s.time("ramp_time")?,
        ramp_bytes,
        ramp_together: ramp_bytes > 0 && s.on("group_reporting", false),
        delay,
        delay_most,
        exit_all: false,
        ends_with_io: s.on("exit_on_io_done", false) && s.word("ioengine") == Some("cpuio"),
    };
    let think = s.time("thinktime")?;
    let spin = s.time("thinktime_spin")?;
    // 0 means 1, as in fio.
    let every = s.number("thinktime_blocks")?.map(|every| every.max(1));
    let spell = s.time("thinktime_iotime")?;
    // If a time is given, operations are counted only if requested as well.
    let every = every.unwrap_or(u64::from(spell == 0));
    let by_issue = s.word("thinktime_blocks_type") == Some("issue");
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
            by_issue,
            interval: Duration(spell),
            shifts_schedule: false,
        });
    }
    Ok(times)
}

/// Sets the rate of a job. fio has separate rates for reads and writes; here a mix has one rate, and the shares follow from both.
pub fn apply(s: &Settings, stream: &mut Stream, rw: Rw) -> Result<(), UsageError> {
    let read = |t: &str, kb: u64| lenient_number::bytes(t, kb);
    let bytes = s.triple("rate", 0, read)?.filter(|r| *r != [0; 3]);
    let operations = s.triple("rate_iops", 0, read)?.filter(|r| *r != [0; 3]);
    let anew = s.on("rate_ignore_thinktime", false);
    let poisson = s.word("rate_process") == Some("poisson");
    // Rates of varying sizes are in bytes, with the smallest size as the unit.
    let mut per = Bytes(0);
    let (name, rates): (&'static str, [f64; 3]) = match (bytes, operations) {
        (None, None) => return Ok(()),
        (Some(_), Some(_)) => {
            return Err(s
                .wrong("rate_iops", "rate and rate_iops exclude each other")
                .fio("fio: rate and rate_iops are mutually exclusive\n".to_owned())
                .hint("leave one of them out"));
        }
        (None, Some(rates)) => ("rate_iops", rates.map(|rate| rate as f64)),
        (Some([reads, writes, _]), None) if rw.mixed && sizes_of_kinds(&stream.record).is_some() => {
            let [read, write] = sizes_of_kinds(&stream.record).unwrap_or([1; 2]);
            ("rate", [reads as f64 / read as f64, writes as f64 / write as f64, 0.0])
        }
        (Some(rates), None) => {
            if !matches!(stream.record, Record::Fixed(_)) {
                per = stream.record.unit();
            }
            let size = stream.record.unit().0.max(1);
            ("rate", rates.map(|rate| rate as f64 / size as f64))
        }
    };
    if matches!(stream.record, Record::ByKind { .. }) && per.0 > 0 && rw.mixed {
        return Err(s
            .wrong("rate", "a rate in bytes of a mix needs one block size for reads and one for writes")
            .hint("instead: rate_iops"));
    }
    let [r, w, _] = rates;
    let total = if rw.mixed && (r <= 0.0 || w <= 0.0) {
        // The unlimited direction runs whenever the other is not due.
        stream.pace.rate_of = if r > 0.0 { RateOf::Reads } else { RateOf::Writes };
        r + w
    } else if rw.mixed {
        let percent = (r / (r + w) * 100.0).round();
        let whole = (percent / 100.0 - r / (r + w)).abs() <= 1e-9;
        let mix = match (poisson, whole) {
            // Each direction has its own rate: the next operation is of the one that is behind.
            (false, _) => Mix::ReadsPerWriteIssued(r / w),
            (true, true) => Mix::ReadPercent(percent as u8),
            (true, false) => {
                return Err(s
                    .wrong(
                        name,
                        format!(
                            "{name}: rate_process=poisson needs rates whose shares are whole percentages"
                        ),
                    )
                    .hint("such as 100,300 (25 % and 75 %); or use two jobs"));
            }
        };
        stream.direction = fathom_workload::Direction::Mix(mix);
        r + w
    } else if rw.trims == Trims::BeforeWrites {
        return Err(s
            .wrong(name, format!("{name}: a rate for rw={} is not supported", rw.word()))
            .hint("instead: rw=trim and rw=write in two jobs, each with a rate"));
    } else {
        rw.own(rates)
    };
    if total > 0.0 {
        let arrivals = if poisson { Gaps::Poisson } else { Gaps::Even };
        if let Some(think) = &mut stream.pace.think {
            think.shifts_schedule = anew;
        }
        stream.pace.rate = Some(Rate { operations_per_s: total, arrivals, per, common: false });
    }
    Ok(())
}

/// The sizes of reads and of writes, if each kind has one and they differ.
fn sizes_of_kinds(record: &Record) -> Option<[u64; 2]> {
    let Record::ByKind { read, write } = record else { return None };
    match (&**read, &**write) {
        (Record::Fixed(read), Record::Fixed(write)) if read.0 > 0 && write.0 > 0 => Some([read.0, write.0]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Direction, Duration, Mix, Program, RateOf, Think, Times};

    const SECOND: u64 = 1_000_000_000;

    fn times(args: &str) -> Vec<Times> {
        let plan = planned(&format!("--ioengine=null --size=1m {args}"));
        plan.workload.phases[0].groups.iter().map(|group| group.times).collect()
    }

    #[test]
    fn every_clone_draws_its_delay() {
        let delays = |args: &str| times(args).iter().map(|t| t.delay.0).collect::<Vec<u64>>();
        let drawn = delays("--name=a --numjobs=8 --startdelay=1-3 --name=b");
        assert!(drawn[..8].iter().all(|ns| (SECOND..=3 * SECOND).contains(ns)), "{drawn:?}");
        assert!(drawn[..8].windows(2).any(|two| two[0] != two[1]), "{drawn:?}");
        assert_eq!(drawn[8], 0);
        assert_eq!(drawn, delays("--name=a --numjobs=8 --startdelay=3-1 --name=b"), "the same in every run");
        // Only differing delays are set per group.
        assert_eq!(delays("--name=a --startdelay=500ms --name=b"), [SECOND / 2, 0]);
        assert_eq!(delays("--name=a --startdelay=1.9 --name=b"), [SECOND, 0], "as fio, which cuts it off");
        assert_eq!(delays("--name=a --startdelay=2 --name=b --startdelay=2"), [0, 0]);
        assert!(refused("--name=a --size=1m --startdelay=soon").contains("startdelay"));
    }

    #[test]
    fn bytes_end_a_warm_up_of_a_job_or_of_a_report() {
        let warm = |args: &str| {
            let of = |t: &Times| (t.ramp_bytes.0, t.ramp_together.then_some(t.company).flatten());
            times(args).iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(warm("--name=a --ramp_size=64k --name=b"), [(65536, None), (0, None)]);
        let together = "--group_reporting --ramp_size=1m --name=a --numjobs=2 --name=b --new_group";
        assert_eq!(warm(together), [(1 << 20, Some(0)), (1 << 20, Some(0)), (1 << 20, Some(1))]);
        // fio 3.42: "min value out of range: 0 (1 min)", "cannot specify both ramp_time and ramp_size".
        assert!(refused("--name=a --size=1m --ramp_size=0").contains("at least a byte"));
        assert!(refused("--name=a --size=1m --ramp_size=4k --ramp_time=1").contains("not for both"));
    }

    #[test]
    fn reads_and_writes_have_their_own_rates() {
        let paced = |args: &str| {
            let plan = planned(&format!("--name=a --ioengine=null --size=1m --rw=randrw {args}"));
            match &plan.workload.phases[0].groups[0].threads[0].program {
                Program::Stream(stream) => (stream.direction, stream.pace.rate.map(|r| r.operations_per_s)),
                Program::Flow(_) => panic!("a flow"),
            }
        };
        let mix = Direction::Mix;
        assert_eq!(paced("--rate_iops=100,300"), (mix(Mix::ReadsPerWriteIssued(1.0 / 3.0)), Some(400.0)));
        assert_eq!(paced("--rate_iops=100,200"), (mix(Mix::ReadsPerWriteIssued(0.5)), Some(300.0)));
        assert_eq!(paced("--rate=4m,1m --bs=4k"), (mix(Mix::ReadsPerWriteIssued(4.0)), Some(1280.0)));
        assert_eq!(paced("--rate=2m,1m --bs=4k"), (mix(Mix::ReadsPerWriteIssued(2.0)), Some(768.0)));
        let apart = paced("--rate=1m,1m --bs=4k,8k");
        assert_eq!(apart, (mix(Mix::ReadsPerWriteIssued(2.0)), Some(384.0)), "256 reads and 128 writes");
        let why = refused("--name=a --size=1m --rw=rw --rate=1m,1m --bsrange=4k-8k,8k-16k");
        assert!(why.contains("one block size for reads and one for writes"), "{why}");
        let why = refused("--name=a --size=1m --rw=randrw --rate_iops=100,200 --rate_process=poisson");
        assert!(why.contains("shares are whole percentages"), "{why}");
    }

    #[test]
    fn of_a_mix_one_kind_may_have_a_rate() {
        for (args, of) in [
            ("--rate_iops=100,", RateOf::Reads),
            ("--rate_iops=,100", RateOf::Writes),
            ("--rate_iops=100,100", RateOf::All),
        ] {
            let plan = planned(&format!("--name=a --ioengine=null --size=1m --rw=randrw {args}"));
            let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
                panic!("a flow")
            };
            assert_eq!(stream.pace.rate_of, of, "{args}");
        }
    }

    #[test]
    fn pauses_come_by_number_or_by_time() {
        let think = |args: &str| {
            let plan = planned(&format!("--name=a --ioengine=null --size=1m --thinktime=10 {args}"));
            match &plan.workload.phases[0].groups[0].threads[0].program {
                Program::Stream(stream) => stream.pace.think.unwrap(),
                Program::Flow(_) => panic!("a flow"),
            }
        };
        let every = |every, spell: u64| Think {
            time: Duration(10_000),
            counted: true,
            asleep: true,
            every,
            interval: Duration(spell * SECOND),
            ..Think::default()
        };
        assert_eq!(think(""), every(1, 0));
        assert_eq!(think("--thinktime_iotime=9"), every(0, 9));
        assert_eq!(think("--thinktime_iotime=9 --thinktime_blocks=4"), every(4, 9));
        assert_eq!(
            think("--thinktime_blocks=4 --thinktime_blocks_type=issue"),
            Think { by_issue: true, ..every(4, 0) }
        );
        // With a rate, time lost in a pause is made up for or not.
        assert_eq!(think("--rate_iops=10"), every(1, 0));
        assert_eq!(
            think("--rate_iops=10 --rate_ignore_thinktime=1"),
            Think { shifts_schedule: true, ..every(1, 0) }
        );
        assert_eq!(think("--rate_ignore_thinktime=1"), every(1, 0));
    }
}
