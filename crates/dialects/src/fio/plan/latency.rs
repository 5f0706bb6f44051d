//! Search for the largest queue depth that keeps latency below a target.

use super::super::UsageError;
use super::super::settings::Settings;
use super::Notes;
use super::pace::Times;
use fathom_workload::{AdaptiveDepth, DepthGoal, Duration, Longest, Stream};

/// Reads the options. Once the depth is found, fio runs one more window and ends the job. Here `runtime` limits the search only, and
/// the window is always measured. With `latency_run` everything counts, and `runtime` has its usual meaning.
pub fn apply(
    s: &Settings,
    stream: &mut Stream,
    times: &mut Times,
    notes: &mut Notes,
) -> Result<(), UsageError> {
    const NAME: &str = "latency_target";
    let target = s.time(NAME)?;
    let window = s.time("latency_window")?;
    let percentile = s.floats("latency_percentile")?.and_then(|list| list.first().copied()).unwrap_or(100.0);
    let run = s.on("latency_run", false);
    if target == 0 {
        return Ok(());
    }
    if !(percentile > 0.0 && percentile <= 100.0) {
        return Err(s.wrong("latency_percentile", "latency_percentile: above 0 and at most 100 is expected"));
    }
    if window == 0 {
        return Err(s
            .wrong(NAME, "latency_target without latency_window: no time is given in which a depth is judged")
            .hint("instead: latency_window=5s, or any other time"));
    }
    if stream.queue_depth < 2 {
        one_in_flight(s, stream, times, notes, (target, window, percentile));
        return Ok(());
    }
    if stream.pace.rate.is_some() {
        return Err(s
            .wrong(NAME, "a rate says how much is in flight, and leaves latency_target nothing to find")
            .hint("instead: one of the two"));
    }
    let longest = (times.runtime > 0 && !run).then_some(Duration(times.runtime));
    stream.adaptive_depth = Some(AdaptiveDepth {
        goal: DepthGoal::Latency { percentile, at_most: Duration(target) },
        window: Duration(window),
        longest,
        once: !(run || times.runtime > 0 && s.on("time_based", false)),
        goes_on: run,
    });
    if !run {
        if longest.is_some() {
            notes.say(format!(
                "job {}: runtime ends the search of latency_target; after it one latency_window is measured",
                s.job
            ));
        }
        times.runtime = if times.runtime == 0 { window } else { times.runtime.min(window) };
    }
    Ok(())
}

/// With one operation in flight there is no depth to search. As in fio 3.42, a job that meets the target ends after one window unless
/// `latency_run` is set, and a target for all operations is a limit for each.
fn one_in_flight(
    s: &Settings,
    stream: &mut Stream,
    times: &mut Times,
    notes: &mut Notes,
    (target, window, percentile): (u64, u64, f64),
) {
    if percentile >= 100.0 {
        let mut longest = stream.pace.longest.unwrap_or_default();
        let at_most = |ns: u64| Duration(if ns == 0 { target } else { ns.min(target) });
        let (reads, writes) = (stream.direction.reads(), stream.direction.writes());
        (longest.read, longest.write) = (
            if reads { at_most(longest.read.0) } else { Duration(0) },
            if writes { at_most(longest.write.0) } else { Duration(0) },
        );
        stream.pace.longest = (longest != Longest::default()).then_some(longest);
    }
    if !s.on("latency_run", false) {
        times.runtime = if times.runtime == 0 { window } else { times.runtime.min(window) };
        let missed = if percentile < 100.0 { "; fio goes on where the target is missed" } else { "" };
        notes.say(format!(
            "job {}: latency_target: with one operation in flight there is no depth to find, and one latency_window is measured{missed}",
            s.job
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    const LINE: &str = "--name=a --size=1g --ioengine=io_uring --direct=1 --iodepth=32 --runtime=9 --time_based --latency_target=50us";

    #[test]
    fn a_window_is_measured_after_the_search_or_all_of_it() {
        let plan = planned(&format!("{LINE} --latency_window=500ms --latency_percentile=99"));
        let how = plan.jobs[0].stream.adaptive_depth.unwrap();
        assert_eq!(how.goal, DepthGoal::Latency { percentile: 99.0, at_most: Duration(50_000) });
        assert_eq!(
            (how.window.0, how.longest, how.goes_on),
            (500_000_000, Some(Duration(9_000_000_000)), false)
        );
        assert!(!how.once, "it has no end");
        assert_eq!(plan.workload.phases[0].stop.time, Some(Duration(500_000_000)));
        let plan = planned(&format!("{LINE} --latency_window=500ms --latency_run=1"));
        let how = plan.jobs[0].stream.adaptive_depth.unwrap();
        assert!(how.goes_on && how.longest.is_none());
        assert_eq!(plan.workload.phases[0].stop.time, Some(Duration(9_000_000_000)));
    }

    #[test]
    fn one_operation_in_flight_is_measured_for_a_window() {
        let of = |args: &str| {
            let plan = planned(&format!("{LINE} --iodepth=1 --latency_window=100ms {args}"));
            let stream = &plan.jobs[0].stream;
            assert!(stream.adaptive_depth.is_none());
            (plan.jobs[0].times.runtime / 1_000_000, stream.pace.longest.map(|l| (l.read.0, l.write.0)))
        };
        assert_eq!(of(""), (100, Some((50_000, 0))));
        assert_eq!(of("--rw=randwrite"), (100, Some((0, 50_000))));
        assert_eq!(of("--max_latency=20us"), (100, Some((20_000, 0))));
        assert_eq!(of("--latency_percentile=99"), (100, None));
        assert_eq!(of("--latency_percentile=99 --latency_run=1"), (9000, None));
        assert_eq!(of("--latency_percentile=99 --rate_iops=100"), (100, None));
    }

    #[test]
    fn what_leaves_nothing_to_find_is_refused() {
        assert!(refused(LINE).contains("without latency_window"));
        let window = "--latency_window=1s";
        assert!(refused(&format!("{LINE} {window} --rate_iops=5")).contains("nothing to find"));
        assert!(refused(&format!("{LINE} {window} --latency_percentile=0")).contains("above 0"));
    }
}
