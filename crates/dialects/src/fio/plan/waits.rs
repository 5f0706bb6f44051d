//! `wait_for=JOB`: a job that begins when another is done. Jobs run in steps, each after the one before, so this can be done where the
//! job that is waited for is alone in the last step, or was done before.

use super::super::Wrong;
use super::super::settings::Settings;
use super::Job;

/// Whether a job begins a step of its own for the sake of a job that it waits for.
///
/// # Errors
/// If there is no such job, or others run beside it.
pub fn begins_step(s: &Settings, before: &[Job]) -> Result<bool, Wrong> {
    let Some(name) = s.text("wait_for").map(str::trim) else { return Ok(false) };
    let Some(last) = before.last() else { return Err(unknown(s, name)) };
    let Some(awaited) = before.iter().rev().find(|job| job.name == name) else {
        return Err(unknown(s, name));
    };
    if awaited.step < last.step {
        return Ok(false);
    }
    match before.iter().find(|job| job.step == last.step && job.name != name) {
        None => Ok(true),
        Some(other) => Err(s
            .wrong(
                "wait_for",
                format!(
                    "wait_for={name}: {} runs beside it, and would have to be waited for, too",
                    other.name
                ),
            )
            .hint("stonewall waits for both")),
    }
}

fn unknown(s: &Settings, name: &str) -> Wrong {
    s.wrong("wait_for", format!("wait_for={name}: no job before it has this name"))
        .fio(format!("{}: waitee job {name} unknown.\n", s.job))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};

    const JOB: &str = "--ioengine=null --size=1m";

    #[test]
    fn a_job_that_waits_begins_a_step_and_no_group() {
        let plan =
            planned(&format!("{JOB} --name=a --numjobs=2 --name=b --wait_for=a --name=c --wait_for=a"));
        let found: Vec<(u32, u32)> = plan.jobs.iter().map(|job| (job.step, job.group)).collect();
        assert_eq!(found, [(0, 0), (1, 0), (1, 0)]);
    }

    #[test]
    fn whom_it_cannot_wait_for_is_told() {
        for jobs in [
            "--name=a --wait_for=a",
            "--name=a --name=b --wait_for=x",
            "--name=a --name=b --name=c --wait_for=a",
        ] {
            assert!(refused(&format!("{JOB} {jobs}")).contains("wait_for="), "{jobs}");
        }
    }
}
