//! `cgroup`: runs all jobs in a control group, created if missing and then removed at the end. As in fio 3.42 it lies
//! below the version 1 blkio mount, else below version 2; without either the option does nothing. The whole process
//! moves there, and its children with it.

use crate::console;
use fathom_dialects::fio::settings::Settings;
use fathom_dialects::fio::{Plan, UsageError};
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

const OPTION: &str = "cgroup";
const WEIGHT: &str = "cgroup_weight";
/// Lists the processes of a group; writing moves one into it.
const PROCESSES: &str = "cgroup.procs";
/// Means the writing process.
const SELF: &str = "0";
/// Retries of the removal: a process that has just exited may still count as a member.
const PATIENCE: u32 = 50;

/// The group; dropping it leaves the group.
pub struct Inside {
    group: PathBuf,
    /// This process's original group.
    home: PathBuf,
    remove: bool,
    /// Previous weight, if changed in a group that stays.
    weight: Option<String>,
}

/// The cgroup file system.
struct CgroupMount {
    at: PathBuf,
    first_version: bool,
}

/// Enters the group that the jobs name. `None`: they name none.
///
/// # Errors
///
/// The jobs name different groups, or the group cannot be entered; nothing has changed then.
pub fn enter(plan: &Plan) -> Result<Option<Inside>, UsageError> {
    let Some(first) = plan.jobs.first().map(|job| &job.settings) else { return Ok(None) };
    for job in &plan.jobs {
        for option in [OPTION, WEIGHT, "cgroup_nodelete"] {
            // Without a group there is none to leave.
            if option != OPTION && first.text(OPTION).is_none() {
                continue;
            }
            if job.settings.text(option) != first.text(option) {
                let message =
                    format!("{option}: all jobs run in one control group, and they do not ask for the same");
                return Err(job.settings.wrong(option, message).hint("instead: a command line for each"));
            }
        }
    }
    let Some(name) = first.text(OPTION) else { return Ok(None) };
    let Some(mount) = mount(&fs::read_to_string("/proc/mounts").unwrap_or_default()) else {
        console::note("cgroup: no control groups are mounted here, so it does nothing, as in fio");
        return Ok(None);
    };
    let of_self = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let home = mount.at.join(home(&of_self, mount.first_version).trim_start_matches('/'));
    let home = if home.join(PROCESSES).exists() { home } else { mount.at.clone() };
    let group = mount.at.join(name.trim_start_matches('/'));
    let made = match fs::create_dir(&group) {
        Ok(()) => true,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => false,
        Err(e) => return Err(failed(first, OPTION, &group, &e)),
    };
    let weight = fs::read_to_string(group.join("blkio.weight")).ok();
    let weight = weight.filter(|_| !made && first.text(WEIGHT).is_some());
    settle(first, &mount, &group).inspect_err(|_| {
        if made {
            let _ = fs::remove_dir(&group);
        } else {
            set_weight(&group, weight.as_deref());
        }
    })?;
    Ok(Some(Inside { group, home, remove: made && !first.on("cgroup_nodelete", false), weight }))
}

/// Sets the weight, then enters the group.
fn settle(s: &Settings, mount: &CgroupMount, group: &Path) -> Result<(), UsageError> {
    if let Some(weight) = s.number(WEIGHT)? {
        if !mount.first_version {
            let message = "cgroup_weight: control groups of version 2 have no such weight, and fio refuses the job, too";
            let fio = "fio: cgroup weit doesn't work with cgroup2\n".to_owned();
            return Err(s
                .wrong(WEIGHT, message)
                .fio(fio)
                .hint("systemd-run --scope -p IOWeight=N fathom fio ..."));
        }
        let file = group.join("blkio.weight");
        if !file.exists() {
            let message =
                format!("{WEIGHT}: there is no blkio.weight here, because no I/O scheduler supports weights");
            return Err(s.wrong(WEIGHT, message));
        }
        fs::write(&file, weight.to_string()).map_err(|e| failed(s, WEIGHT, &file, &e))?;
    }
    let list = group.join(PROCESSES);
    fs::write(&list, SELF).map_err(|e| failed(s, OPTION, &list, &e))
}

/// Restores a weight, if there is one.
fn set_weight(group: &Path, weight: Option<&str>) {
    if let Some(Err(e)) = weight.map(|weight| fs::write(group.join("blkio.weight"), weight.trim())) {
        console::warning(&format!("cgroup: the weight of {} is not put back: {e}", group.display()));
    }
}

impl Drop for Inside {
    /// Returns to the original group and removes a group it created.
    fn drop(&mut self) {
        if let Err(e) = fs::write(self.home.join(PROCESSES), SELF) {
            console::warning(&format!("cgroup: fathom stays in {}: {e}", self.group.display()));
            return;
        }
        set_weight(&self.group, self.weight.as_deref());
        if !self.remove {
            return;
        }
        let mut removed = fs::remove_dir(&self.group);
        for _ in 0..PATIENCE {
            if !matches!(&removed, Err(e) if e.kind() == ErrorKind::ResourceBusy) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
            removed = fs::remove_dir(&self.group);
        }
        if let Err(e) = removed {
            console::warning(&format!("cgroup: {} is not removed: {e}", self.group.display()));
        }
    }
}

fn failed(s: &Settings, option: &'static str, path: &Path, error: &Error) -> UsageError {
    s.wrong(option, format!("{option}: {}: {error}", path.display()))
}

/// The version 1 blkio mount, else the version 2 mount.
fn mount(mounts: &str) -> Option<CgroupMount> {
    let of = |kind: &str, controller: Option<&str>| {
        mounts.lines().find_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (at, found, options) = (words.next()?, words.next()?, words.next()?);
            let has = controller.is_none_or(|one| options.split(',').any(|option| option == one));
            (found == kind && has).then(|| PathBuf::from(at))
        })
    };
    of("cgroup", Some("blkio"))
        .map(|at| CgroupMount { at, first_version: true })
        .or_else(|| of("cgroup2", None).map(|at| CgroupMount { at, first_version: false }))
}

/// A process's group as listed in `/proc/self/cgroup`.
fn home(text: &str, first_version: bool) -> &str {
    let is_it = |controllers: &str| {
        if first_version { controllers.split(',').any(|one| one == "blkio") } else { controllers.is_empty() }
    };
    let mut groups = text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    groups.find(|(controllers, _)| is_it(controllers)).map_or("/", |(_, group)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_one_with_blkio_comes_first() {
        let both = "none /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                    cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\n";
        let found = mount(both).unwrap();
        assert_eq!((found.at.to_str(), found.first_version), (Some("/sys/fs/cgroup/blkio"), true));
        let found = mount("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n").unwrap();
        assert_eq!((found.at.to_str(), found.first_version), (Some("/sys/fs/cgroup"), false));
        assert!(mount("cgroup /c cgroup rw,cpu 0 0\n").is_none());
    }

    #[test]
    fn the_group_of_the_process_is_found() {
        let text = "7:blkio:/a:b\n4:memory:/m\n0::/user.slice\n";
        assert_eq!((home(text, true), home(text, false)), ("/a:b", "/user.slice"));
        assert_eq!(home("4:memory:/m\n", true), "/");
    }
}
