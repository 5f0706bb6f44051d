//! Where a worker runs, and before whom: its CPUs, its niceness, its I/O priority. All of it is the calling thread's own.

use crate::shared::Call;
use crate::worker::Fault;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

/// CPUs and niceness. `among` is empty if it may use all.
pub(crate) fn settle(cpu: Option<usize>, among: &[u32], nice: i32) -> Result<(), Fault> {
    if !among.is_empty() && !bind_to(among.iter().map(|&cpu| cpu as usize)) {
        return Err(Fault::short(Call::Settle, 0, 0, 0));
    }
    if let Some(cpu) = cpu
        && !bind(cpu)
    {
        return Err(Fault::short(Call::Settle, 0, 0, 0));
    }
    if nice != 0 {
        rustix::process::nice(nice).map_err(|e| Fault::of(Call::Settle, e, 0))?;
    }
    Ok(())
}

/// Binds the calling thread to a CPU.
pub(crate) fn bind(cpu: usize) -> bool {
    bind_to(std::iter::once(cpu))
}

/// Binds it to some CPUs.
fn bind_to(cpus: impl Iterator<Item = usize>) -> bool {
    let mut set = CpuSet::new();
    cpus.filter(|&cpu| cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(cpu));
    sched_setaffinity(None, &set).is_ok()
}

/// Sets the calling thread's I/O priority: best effort, of this level.
pub(crate) fn io_priority(level: u8) -> Result<(), Fault> {
    const WHO_PROCESS: libc::c_long = 1;
    const BEST_EFFORT: libc::c_long = 2 << 13;
    // SAFETY: three numbers; 0 is the calling thread.
    if unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, BEST_EFFORT | libc::c_long::from(level)) }
        == 0
    {
        return Ok(());
    }
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Err(Fault::of(Call::Settle, Errno::from_raw_os_error(errno), 0))
}
