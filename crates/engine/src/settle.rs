//! Scheduling and identity of a worker: its CPUs, niceness, I/O priority and user. All apply to the calling thread only.

use crate::fault::{FailedCall, Fault};
use fathom_workload::{IoClass, RunAs};
use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Sets CPUs and niceness. `among` is empty if it may use all CPUs.
pub(crate) fn settle(cpu: Option<usize>, among: &[u32], nice: i32) -> Result<(), Fault> {
    if !among.is_empty() && !bind_to(among.iter().map(|&cpu| cpu as usize)) {
        return Err(Fault::short(FailedCall::Settle, 0, 0, 0));
    }
    if let Some(cpu) = cpu
        && !bind(cpu)
    {
        return Err(Fault::short(FailedCall::Settle, 0, 0, 0));
    }
    if nice != 0 {
        rustix::process::nice(nice).map_err(|e| Fault::of(FailedCall::Settle, e, 0))?;
    }
    Ok(())
}

/// Binds the calling thread to a CPU.
pub(crate) fn bind(cpu: usize) -> bool {
    bind_to(std::iter::once(cpu))
}

/// Binds the calling thread to some CPUs.
fn bind_to(cpus: impl Iterator<Item = usize>) -> bool {
    let mut set = CpuSet::new();
    cpus.filter(|&cpu| cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(cpu));
    sched_setaffinity(None, &set).is_ok()
}

/// Sets the calling thread's I/O priority: class in the bits from 13 up, and level.
pub(crate) fn io_priority(number: u16) -> Result<(), Fault> {
    set_io_priority(number).map_err(|errno| Fault::of(FailedCall::Settle, errno, 0))
}

fn set_io_priority(number: u16) -> Result<(), Errno> {
    const WHO_PROCESS: libc::c_long = 1;
    // SAFETY: three numbers; 0 is the calling thread.
    if unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, libc::c_long::from(number)) } == 0 {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    Err(Errno::from_raw_os_error(errno))
}

/// Why a thread, or single operations, cannot have this I/O priority; `None` if they can. Tried in a separate thread: the
/// required privilege, and its name space, differ by kernel version.
pub(crate) fn io_priority_refusal(class: IoClass, hint: u16) -> Option<String> {
    let tried = std::thread::spawn(move || set_io_priority(class.with_hint(0, hint))).join();
    match (tried, class) {
        (Ok(Err(Errno::PERM)), IoClass::RealTime) => Some(
            "the I/O priority class real-time needs CAP_SYS_NICE: run fathom as root, or take \
             best-effort or idle (fio: prioclass=2 or 3)"
                .into(),
        ),
        (Ok(Err(Errno::INVAL)), _) if hint > 0 => Some(
            "the kernel refuses a hint in the I/O priority: hints came with Linux 6.5; leave it out".into(),
        ),
        (Ok(Err(errno)), _) => Some(format!(
            "the kernel refuses its I/O priority: {}; leave it out",
            std::io::Error::from_raw_os_error(errno.raw_os_error())
        )),
        (Ok(Ok(())) | Err(_), _) => None,
    }
}

/// Changes group and user of the calling thread, not of the process as the C library would.
pub(crate) fn run_as(whom: RunAs) -> Result<(), Errno> {
    if whom == RunAs::default() {
        return Ok(());
    }
    // The kernel clears the parent death signal when the user changes.
    let (before, parent) = (rustix::process::parent_process_death_signal()?, rustix::process::getppid());
    if let Some(group) = whom.group {
        rustix::thread::set_thread_gid(Gid::from_raw(group))?;
    }
    if let Some(user) = whom.user {
        rustix::thread::set_thread_uid(Uid::from_raw(user))?;
    }
    if before.is_some() {
        rustix::process::set_parent_process_death_signal(before)?;
        if rustix::process::getppid() != parent {
            return Err(Errno::SRCH);
        }
    }
    Ok(())
}

/// Why a thread cannot run as another user; `None` if it can. Tried in a separate thread.
pub(crate) fn run_as_refusal(whom: RunAs) -> Option<String> {
    if whom == RunAs::default() {
        return None;
    }
    match std::thread::spawn(move || run_as(whom)).join() {
        Ok(Err(errno)) => {
            let user = whom.user.map(|user| format!("user {user}"));
            let group = whom.group.map(|group| format!("group {group}"));
            let both: Vec<String> = user.into_iter().chain(group).collect();
            Some(format!(
                "it cannot run as {}: {}; run fathom as root, or leave that out (fio: uid, gid)",
                both.join(" and "),
                std::io::Error::from_raw_os_error(errno.raw_os_error())
            ))
        }
        Ok(Ok(())) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_changes_its_own_user_alone() {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let own = RunAs { user: Some(user.as_raw()), group: Some(group.as_raw()) };
        assert_eq!(run_as_refusal(own), None, "what one is may everybody be");
        let other = RunAs { user: Some(65_533), group: Some(65_532) };
        if !user.is_root() {
            assert!(run_as_refusal(other).unwrap().contains("the user 65533 and the group 65532"));
            return;
        }
        std::thread::spawn(move || {
            run_as(other).unwrap();
            let ids = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            assert!(
                ids.contains("Uid:\t65533\t65533\t65533\t65533\nGid:\t65532\t65532\t65532\t65532\n"),
                "{ids}"
            );
        })
        .join()
        .unwrap();
        let ids = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(ids.contains("Uid:\t0\t0\t0\t0\n"), "{ids}");
    }

    #[test]
    fn a_thread_gets_the_class_and_the_level_that_it_asks_for() {
        let number = IoClass::Idle.with_level(5);
        let found = std::thread::spawn(move || {
            io_priority(number).unwrap();
            // SAFETY: two numbers; 1 and 0 are the calling thread.
            unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) }
        });
        assert_eq!(found.join().unwrap(), libc::c_long::from(number));
        if let Some(said) = io_priority_refusal(IoClass::Idle, 3) {
            assert!(said.contains("Linux 6.5"), "{said}");
        }
        assert_eq!(io_priority_refusal(IoClass::BestEffort, 0), None);
        assert_eq!(io_priority_refusal(IoClass::Idle, 0), None);
        if let Some(said) = io_priority_refusal(IoClass::RealTime, 0) {
            assert!(said.contains("CAP_SYS_NICE"), "{said}");
        }
    }
}
