//! Which jobs run together: those between two stonewalls, or between a job that others wait for and the waiting jobs.

use super::super::UsageError;
use super::super::settings::Settings;
use super::Job;
use fathom_workload::Backend;

/// Position of a job in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobPosition {
    /// Reporting group.
    pub group: u32,
    /// Step number; jobs of the same step run together.
    pub step: u32,
    /// Whether it waits for the jobs of the previous step without a stonewall.
    pub waits: bool,
}

/// The position of a job, given those before it.
pub fn position(s: &Settings, before: &[Job]) -> Result<JobPosition, UsageError> {
    let wall = s.on("stonewall", false) || s.begins_file;
    let new_group = wall || s.on("new_group", false);
    let awaited = s.text("wait_for");
    let Some(last) = before.last() else {
        return match awaited {
            Some(name) => Err(unknown(s, name)),
            None => Ok(JobPosition { group: 0, step: 0, waits: false }),
        };
    };
    let group = last.group + u32::from(new_group);
    let awaited = match awaited {
        None => None,
        Some(name) => {
            let steps = before.iter().filter(|job| job.name == name).map(|job| job.step);
            Some((name, steps.max().ok_or_else(|| unknown(s, name))?))
        }
    };
    let plain = |step, waits| Ok(JobPosition { group, step, waits });
    match awaited {
        _ if wall => plain(last.step + 1, false),
        Some((name, step)) if step == last.step => {
            let beside = before.iter().find(|job| job.step == step && job.name != name);
            match beside {
                None => plain(step + 1, true),
                Some(other) => Err(s
                    .wrong("wait_for", format!("wait_for={name}: job {} runs beside {name}, and would go on while this one begins: that is not supported", other.name))
                    .hint("instead: stonewall, which waits for both")),
            }
        }
        Some((_, step)) if last.waits && step + 1 == last.step => plain(last.step, true),
        _ if last.waits => Err(s
            .wrong("wait_for", format!("it would begin before {}, which waits for others, and run beside both: that is not supported", last.name))
            .hint("instead: the same wait_for, or stonewall")),
        // The job it waits for is already done.
        _ => plain(last.step, false),
    }
}

/// `exitall` in any job, with any value, makes every job end the others when it is done, as in fio. A job that only lays out files is
/// done before any other begins: fio would end the others as soon as they run.
pub fn exit_all(jobs: &mut [Job]) -> Result<(), UsageError> {
    const NAME: &str = "exitall";
    let Some(says) = jobs.iter().position(|job| job.settings.last(NAME).is_some()) else { return Ok(()) };
    for lays in jobs.iter().filter(|job| job.only_lays_out) {
        let ended = |job: &&Job| {
            let its = job.group == lays.group || !ends_its_group(&lays.settings);
            job.step == lays.step && its && !job.only_lays_out
        };
        if let Some(Job { name, .. }) = jobs.iter().find(ended) {
            return Err(jobs[says]
                .settings
                .wrong(NAME, format!("exitall: {} only lays out its files, and would end {name} before it does anything: that is not supported", lays.name))
                .hint("stonewall between them, or create_only without exitall"));
        }
    }
    for job in jobs {
        job.times.exit_all = !job.only_lays_out;
    }
    Ok(())
}

/// Whether `exitall` ends only the concurrent jobs of the same group.
pub fn ends_its_group(s: &Settings) -> bool {
    s.word("exit_what").unwrap_or("group") == "group"
}

/// Checks that all jobs ended by `exitall` have started by then.
pub fn ends(job: &Job, jobs: &[Job]) -> Result<(), UsageError> {
    let whom = job.settings.word("exit_what").unwrap_or("group");
    if !job.times.exit_all {
        return Ok(());
    }
    let other = match whom {
        // Jobs that wait for it belong to its group, too.
        "group" => jobs.iter().find(|other| other.step > job.step && other.group == job.group),
        "all" => jobs.iter().find(|other| other.step > job.step),
        _ => None,
    };
    let Some(Job { name, .. }) = other else { return Ok(()) };
    let why = format!("exitall: with exit_what={whom} it would end {name} before it begins");
    Err(job
        .settings
        .wrong("exitall", format!("{why}: that is not supported"))
        .hint("instead: exit_what=stonewall, which ends all that run together"))
}

/// Checks that all jobs that `exit_on_io_done` waits for run beside it.
pub fn ends_with_io(job: &Job, jobs: &[Job]) -> Result<(), UsageError> {
    const NAME: &str = "exit_on_io_done";
    if !job.times.ends_with_io {
        return Ok(());
    }
    let awaited = || jobs.iter().filter(|other| !matches!(other.stream.backend, Backend::Compute(_)));
    let later = |other: &&Job| other.step > job.step || other.reads_back || other.only_reads_back;
    if let Some(Job { name, .. }) = awaited().find(later) {
        return Err(job
            .settings
            .wrong(NAME, format!("{NAME}: {name} does I/O when the jobs that run beside this one are done, and it would have to go on until then: that is not supported"))
            .hint("a runtime"));
    }
    if !awaited().any(|other| other.step == job.step && !other.only_lays_out) {
        return Err(job.settings.wrong(NAME, format!("{NAME}: no job beside it does I/O")).hint("a runtime"));
    }
    Ok(())
}

fn unknown(s: &Settings, name: &str) -> UsageError {
    s.wrong("wait_for", format!("wait_for={name}: no job before it has this name"))
        .fio(format!("{}: waitee job {name} unknown.\n", s.job))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};

    fn steps(args: &str) -> Vec<(u32, u32)> {
        let plan = planned(&format!("--ioengine=null --size=1m {args}"));
        plan.jobs.iter().map(|job| (job.group, job.step)).collect()
    }

    #[test]
    fn computing_ends_with_the_io_beside_it() {
        let cpu = "--name=c --ioengine=cpuio --cpuload=50 --exit_on_io_done=1";
        let ends = |args: &str| -> Vec<bool> {
            let plan = planned(args);
            plan.workload.phases[0].groups.iter().map(|g| g.times.ends_with_io).collect()
        };
        assert_eq!(ends(&format!("--size=1m {cpu} --name=b --ioengine=null")), [true, false]);
        assert_eq!(
            ends(&format!("--size=1m {cpu} --numjobs=2 --name=b --ioengine=psync")),
            [true, true, false]
        );
        let alone = refused(&format!("{cpu} --name=d --ioengine=cpuio --cpuload=5 --runtime=1"));
        assert!(alone.contains("no job beside it"), "{alone}");
        for more in
            ["--name=b --ioengine=null --stonewall", "--name=b --ioengine=psync --rw=write --verify=md5"]
        {
            assert!(refused(&format!("--size=1m {cpu} {more}")).contains("go on until then"), "{more}");
        }
    }

    #[test]
    fn who_waits_for_a_job_begins_when_it_is_done() {
        assert_eq!(steps("--name=a --name=b --wait_for=a"), [(0, 0), (0, 1)]);
        assert_eq!(steps("--name=a --name=b --wait_for=a --name=c --wait_for=a"), [(0, 0), (0, 1), (0, 1)]);
        assert_eq!(steps("--name=a --name=b --wait_for=a --name=c --wait_for=b"), [(0, 0), (0, 1), (0, 2)]);
        // A finished job is not waited for.
        assert_eq!(steps("--name=a --name=b --stonewall --name=c --wait_for=a"), [(0, 0), (1, 1), (1, 1)]);
    }

    #[test]
    fn whom_exitall_ends_are_those_that_run_together_or_it_is_refused() {
        let ended = |args: &str| {
            let plan = planned(&format!("--ioengine=null --size=1m --exitall {args}"));
            plan.workload.phases.iter().map(|phase| phase.stop.first_done.is_some()).collect::<Vec<bool>>()
        };
        assert_eq!(ended("--name=a --name=b"), [true]);
        assert_eq!(
            ended("--exit_what=stonewall --name=a --name=b --new_group --name=c --stonewall"),
            [true, true]
        );
        // No job follows: the concurrent jobs are all there are.
        assert_eq!(
            ended("--name=a --name=b --stonewall --exit_what=all --name=c --new_group --exit_what=all"),
            [true, true]
        );
        for (args, what) in [
            ("--exitall --exit_what=all --name=a --name=b --stonewall", "it would end b before it begins"),
            ("--exitall --name=a --name=b --wait_for=a", "it would end b before it begins"),
        ] {
            let wrong = refused(&format!("--ioengine=null --size=1m {args}"));
            assert!(wrong.contains(what) && wrong.contains("exit_what=stonewall"), "{args}: {wrong}");
        }
        let companies = |args: &str| {
            let plan = planned(&format!("--ioengine=null --size=1m {args}"));
            let groups = plan.workload.phases[0].groups.iter();
            groups.map(|g| (g.times.company, g.times.ends_company)).collect::<Vec<_>>()
        };
        assert_eq!(companies("--exitall --name=a --name=b"), [(None, false); 2]);
        assert_eq!(
            companies("--name=a --exitall --exit_what=stonewall --name=b --new_group --name=c"),
            [(Some(0), false), (Some(1), true), (Some(1), true)]
        );
        // One is enough for all jobs, wherever it is and whatever its value; fio ignores the value.
        for args in [
            "--name=a --name=b --exitall --name=c --stonewall",
            "--name=a --name=b --name=c --stonewall --exitall",
            "--name=a --name=b --exitall=0 --name=c --stonewall",
        ] {
            let plan = planned(&format!("--ioengine=null --size=1m {args}"));
            let phases = &plan.workload.phases;
            assert!(phases.iter().all(|phase| phase.stop.first_done.is_some()), "{args}");
            assert!(phases.iter().flat_map(|p| &p.groups).all(|g| !g.times.never_ends_others), "{args}");
        }
        let wrong = refused("--size=1m --exitall --name=a --create_only=1 --name=b");
        assert!(wrong.contains("would end b before it does anything"), "{wrong}");
        planned("--size=1m --exitall --name=a --create_only=1 --name=b --stonewall");
        // Without exitall it ends no other job.
        assert_eq!(steps("--exit_what=all --name=a --name=b --stonewall"), [(0, 0), (1, 1)]);
    }

    #[test]
    fn who_would_run_beside_both_is_refused() {
        for (args, what) in [
            ("--name=a --name=b --name=c --wait_for=a", "job b runs beside a"),
            ("--name=a --name=b --wait_for=a --name=c", "would begin before b"),
            ("--name=a --wait_for=b --name=b", "no job before it has this name"),
        ] {
            let wrong = refused(&format!("--ioengine=null --size=1m {args}"));
            assert!(wrong.contains(what), "{args}: {wrong}");
        }
    }
}
