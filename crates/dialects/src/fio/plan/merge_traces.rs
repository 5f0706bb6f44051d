//! Merges blktrace traces before they are replayed (`merge_blktrace_file` with its scalars and repetitions), as the manual of
//! fio 3.42 describes. fio itself fails to: its merge ends with "iolog short read", and it replays the first trace.

use super::super::settings::Settings;
use super::super::{UsageError, World};
use super::Notes;
use super::replay::TRACE;
use crate::trace::{CpuRecording, merge};
use std::path::{Path, PathBuf};

const FILE: &str = "merge_blktrace_file";
const SCALARS: &str = "merge_blktrace_scalars";
const TIMES: &str = "merge_blktrace_iters";
/// Maximum number of events, including those that are not replayed.
const MOST: usize = 1 << 23;

/// The merged trace and its destination.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Path of the merged file.
    pub path: PathBuf,
    /// Contents of the file.
    pub bytes: Vec<u8>,
}

/// Merges the traces of a job if requested.
pub fn of(
    s: &Settings,
    traces: &[String],
    world: &World<'_>,
    notes: &mut Notes,
) -> Result<Option<Merged>, UsageError> {
    let Some(name) = s.text(FILE) else {
        if let Some(given) = s.last_of(&[SCALARS, TIMES]) {
            notes.say(format!("job {}: {given} has no effect without {FILE}", s.job));
        }
        return Ok(None);
    };
    if traces.iter().any(|trace| trace == name) {
        return Err(s.wrong(FILE, format!("{FILE}={name}: it is one of the traces")).hint("another name"));
    }
    let (scalars, times) = (one_each(s, SCALARS, traces.len())?, one_each(s, TIMES, traces.len())?);
    if let Some(bad) = scalars.iter().find(|percent| !(percent.is_finite() && **percent > 0.0)) {
        return Err(s.wrong(SCALARS, format!("{SCALARS}: {bad}; a percentage above 0 is expected")));
    }
    if let Some(bad) = times.iter().find(|times| times.fract() != 0.0 || **times < 1.0) {
        return Err(s.wrong(TIMES, format!("{TIMES}: {bad}; a whole number above 0 is expected")));
    }
    let mut parts = Vec::with_capacity(traces.len());
    for ((trace, time_percent), times) in traces.iter().zip(scalars).zip(times) {
        let failed = |why: String| {
            let fio = format!("fio: open iolog: {trace}\nfio: unable to open iolog {trace}\n");
            s.wrong(TRACE, format!("{TRACE}={trace}: {why}")).fio(fio)
        };
        let bytes = (world.trace)(Path::new(trace)).map_err(failed)?;
        parts.push(CpuRecording { name: trace.clone(), bytes, time_percent, times: times as u64 });
    }
    let bytes = merge(&parts, MOST).map_err(|why| s.wrong(FILE, format!("{FILE}={name}: {why}")))?;
    Ok(Some(Merged { path: name.into(), bytes }))
}

/// One number per trace; the default is 100 percent and a single repetition.
fn one_each(s: &Settings, option: &'static str, traces: usize) -> Result<Vec<f64>, UsageError> {
    let Some(given) = s.floats(option)? else {
        return Ok(vec![if option == SCALARS { 100.0 } else { 1.0 }; traces]);
    };
    if given.len() == traces {
        return Ok(given);
    }
    let message = format!(
        "{option} has {} numbers, and {TRACE} {traces} traces; one for each is expected",
        given.len()
    );
    Err(s.wrong(option, message).fio(format!("fio: {option}({}) != nr_logs({traces})\n", given.len())))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use fathom_workload::{Access, Program};

    #[test]
    fn traces_are_merged_and_replayed_in_the_order_of_time() {
        let due = |args: &str| -> Vec<u64> {
            let plan =
                planned(&format!("--name=r --replay_redirect=x --merge_blktrace_file=m --read_iolog={args}"));
            assert!(plan.jobs[0].merged.as_ref().is_some_and(|merged| merged.path.as_os_str() == "m"));
            let Program::Stream(stream) = &plan.workload.phases[0].groups[0].threads[0].program else {
                panic!()
            };
            let Access::Listed(list) = &stream.access else { panic!() };
            list.iter().map(|op| op.due.unwrap().0 / 1000).collect()
        };
        // Arrivals at 10 and 20 us, and at 15.
        assert_eq!(due("ten.bin"), [0, 10]);
        assert_eq!(due("ten.bin:fifteen.bin"), [0, 5, 10]);
        assert_eq!(due("ten.bin:fifteen.bin --merge_blktrace_scalars=100:200"), [0, 10, 20]);
        assert_eq!(due("ten.bin:fifteen.bin --merge_blktrace_iters=2:1"), [0, 5, 10, 20, 30]);
    }

    #[test]
    fn what_fits_no_trace_is_refused() {
        for (args, words) in [
            ("ten.bin:fifteen.bin --merge_blktrace_iters=2", "one for each"),
            ("ten.bin --merge_blktrace_scalars=50:50", "one for each"),
            ("ten.bin --merge_blktrace_scalars=0", "above 0"),
            ("ten.bin --merge_blktrace_iters=1.5", "whole number"),
            ("ten.bin:m", "one of the traces"),
            ("ten.bin:none.bin", "unable to open iolog"),
            ("ten.bin:trace.log", "expected a record of blktrace"),
        ] {
            let why =
                refused(&format!("--name=r --replay_redirect=x --merge_blktrace_file=m --read_iolog={args}"));
            assert!(why.contains(words), "{args}: {why}");
        }
    }
}
