//! Steady-state termination of a job: figure, criterion and window. Also the sentence of fio's debugging output that its tests
//! search for.

use super::super::UsageError;
use super::super::number;
use super::super::settings::Settings;
use super::super::table;
use super::super::text::Setting;
use super::{Job, Notes};
use fathom_workload::{Criterion, Duration, Limit, Steady, SteadyFigure, SteadyGroups};

/// The steady-state rule of a job; `None` if it has none.
pub(in crate::fio) fn read(s: &Settings, notes: &mut Notes) -> Result<Option<Steady>, UsageError> {
    let duration = s.time("steadystate_duration")?;
    let after = s.time("steadystate_ramp_time")?;
    let interval = s.time("steadystate_check_interval")?;
    let Some(text) = s.text("steadystate") else {
        if duration > 0 {
            notes.say(format!(
                "job {}: steadystate_duration has no effect without steadystate, as in fio",
                s.job
            ));
        }
        return Ok(None);
    };
    let (of, criterion) = criterion(text, s.kb_base_of("steadystate"))
        .map_err(|why| s.wrong("steadystate", format!("steadystate={text}: {why}")))?;
    if duration == 0 {
        notes
            .say(format!("job {}: steadystate has no effect without steadystate_duration, as in fio", s.job));
        return Ok(None);
    }
    let round = if interval == 0 { number::S } else { interval };
    if round < LEAST_INTERVAL_NS {
        return Err(
            s.wrong("steadystate_check_interval", "steadystate_check_interval: at least 1 ms is expected")
        );
    }
    if duration <= round || !duration.is_multiple_of(round) {
        return Err(s
            .wrong(
                "steadystate_duration",
                "steadystate_duration is a multiple of steadystate_check_interval (1 s), and more than one",
            )
            .hint("instead: steadystate_duration=2 or more, in whole seconds"));
    }
    let Ok(window) = u32::try_from(duration / round) else {
        return Err(s.wrong("steadystate_duration", "steadystate_duration has too many intervals"));
    };
    Ok(Some(Steady {
        of,
        round: Duration(round),
        window,
        most_rounds: 0,
        criterion: Some(criterion),
        after: Duration(after),
        ..Steady::default()
    }))
}

const LEAST_INTERVAL_NS: u64 = 1_000_000;

/// Parses figure and criterion.
fn criterion(text: &str, kb_base: u64) -> Result<(SteadyFigure, Criterion), String> {
    let (word, limit) = text
        .split_once(':')
        .ok_or("a limit is expected behind the criterion, as in iops:0.3% or bw_slope:1m")?;
    let (figure, slope) = match word.trim().strip_suffix("_slope") {
        Some(figure) => (figure, true),
        None => (word.trim(), false),
    };
    let of = match figure {
        "iops" => SteadyFigure::Operations,
        "bw" => SteadyFigure::Bytes,
        _ => SteadyFigure::Latency,
    };
    let limit = limit.trim();
    let float = |text: &str| text.trim().parse::<f64>().map_err(|_| format!("{text:?} is not a number"));
    let limit = match (limit.strip_suffix('%'), of) {
        (Some(percent), _) => Limit::Percent(float(percent)?),
        (None, SteadyFigure::Operations) => Limit::Absolute(float(limit)?),
        (None, SteadyFigure::Bytes) => Limit::Absolute(number::bytes(limit, kb_base)? as f64),
        (None, SteadyFigure::Latency) => Limit::Absolute(number::time(limit, 1)? as f64),
    };
    if !(limit.number() > 0.0 && limit.number().is_finite()) {
        return Err("the limit is not above 0, and nothing is ever steady to that".into());
    }
    Ok((of, if slope { Criterion::Slope(limit) } else { Criterion::Deviation(limit) }))
}

/// fio's debugging output for a value.
#[must_use]
pub fn sentence(setting: &Setting) -> Option<String> {
    let row = table::find("steadystate")?;
    let text = setting.value.as_deref().filter(|_| setting.row.name == row.name)?;
    let (of, criterion) = criterion(text, 1024).ok()?;
    Some(match (criterion.limit(), of) {
        (Limit::Percent(percent), _) => format!("set steady state threshold to {percent:.6}%"),
        (Limit::Absolute(limit), SteadyFigure::Operations) => {
            format!("set steady state IOPS threshold to {limit:.6}")
        }
        (Limit::Absolute(limit), SteadyFigure::Bytes) => format!("set steady state BW threshold to {limit}"),
        (Limit::Absolute(limit), SteadyFigure::Latency) => {
            format!("set steady state latency threshold to {limit}")
        }
    })
}

/// The rule as in fio's JSON: "iops_slope:5.000000%".
#[must_use]
pub fn words(rule: &Steady) -> String {
    let figure = name(rule.of);
    let Some(criterion) = rule.criterion else { return figure.into() };
    let slope = if criterion.is_slope() { "_slope" } else { "" };
    let percent = if criterion.limit().is_percent() { "%" } else { "" };
    format!("{figure}{slope}:{:.6}{percent}", criterion.limit().number())
}

/// fio's name of a figure.
#[must_use]
pub fn name(of: SteadyFigure) -> &'static str {
    match of {
        SteadyFigure::Operations => "iops",
        SteadyFigure::Bytes => "bw",
        SteadyFigure::Latency => "lat",
    }
}

/// Groups that end together, for the jobs of a phase whose groups begin at these numbers: each clone separately, or with
/// `group_reporting` all jobs of a reporting group with the same rule.
pub fn groups<'a>(jobs: impl Iterator<Item = (&'a Job, u32)>) -> Vec<SteadyGroups> {
    let mut found: Vec<(Option<u32>, SteadyGroups)> = Vec::new();
    for (job, first) in jobs {
        let Some(rule) = job.steady else { continue };
        let numbers = first..first.saturating_add(job.clones);
        if !job.report.grouped {
            found.extend(numbers.map(|number| (None, SteadyGroups { groups: vec![number], rule })));
            continue;
        }
        let same = found.iter_mut().find(|(group, of)| *group == Some(job.group) && of.rule == rule);
        match same {
            Some((_, of)) => of.groups.extend(numbers),
            None => found.push((Some(job.group), SteadyGroups { groups: numbers.collect(), rule })),
        }
    }
    found.into_iter().map(|(_, of)| of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    const LINE: &str = "--name=a --size=1m --ioengine=null --runtime=9 --time_based";

    #[test]
    fn a_rule_is_read_and_every_clone_has_its_own() {
        let plan = planned(&format!("{LINE} --numjobs=2 --ss=iops_slope:0.3% --ss_dur=10s --ss_ramp=5"));
        let ends = &plan.workload.phases[0].stop.steady_groups;
        assert_eq!(ends.iter().map(|of| of.groups.clone()).collect::<Vec<_>>(), [[0], [1]]);
        let rule = &ends[0].rule;
        assert_eq!(
            (rule.round.0, rule.window, rule.after.0, rule.most_rounds),
            (number::S, 10, 5 * number::S, 0)
        );
        assert_eq!(rule.criterion, Some(Criterion::Slope(Limit::Percent(0.3))));
        assert_eq!(words(rule), "iops_slope:0.300000%");
    }

    #[test]
    fn a_reporting_group_ends_as_one() {
        let line = format!("--group_reporting --ss=bw:1m --ss_dur=2 {LINE} --numjobs=2 --name=b --size=1m");
        let plan = planned(&line);
        let ends = &plan.workload.phases[0].stop.steady_groups;
        assert_eq!(ends.len(), 1);
        assert_eq!(ends[0].groups, [0, 1, 2]);
        assert_eq!(ends[0].rule.of, SteadyFigure::Bytes);
        assert_eq!(words(&ends[0].rule), "bw:1048576.000000");
    }

    #[test]
    fn limits_are_numbers_bytes_or_times() {
        let of = |text| criterion(text, 1024).unwrap().1.limit();
        assert_eq!(of("iops:.1%"), Limit::Percent(0.1));
        assert_eq!(of("iops:12.5"), Limit::Absolute(12.5));
        assert_eq!(of("bw_slope:5k"), Limit::Absolute(5120.0));
        assert_eq!(of("lat:5us"), Limit::Absolute(5000.0));
        assert!(criterion("iops", 1024).unwrap_err().contains("limit"));
        assert!(criterion("iops:x", 1024).is_err() && criterion("iops:0", 1024).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_what_means_nothing_is_said() {
        assert!(refused(&format!("{LINE} --ss=iops:x --ss_dur=4")).contains("not a number"));
        assert!(refused(&format!("{LINE} --ss=foo:3 --ss_dur=4")).contains("none of the valid values"));
        assert!(refused(&format!("{LINE} --ss=iops:3 --ss_dur=1")).contains("multiple"));
        assert!(refused(&format!("{LINE} --ss=iops:3 --ss_dur=5 --ss_interval=2")).contains("multiple"));
        let plan = planned(&format!("{LINE} --ss=iops:3"));
        assert!(plan.workload.phases[0].stop.steady_groups.is_empty());
        assert!(plan.notes.iter().any(|n| n.contains("without steadystate_duration")), "{:?}", plan.notes);
    }
}
