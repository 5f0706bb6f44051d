//! The worker processes of a running fathom, as /proc shows them.

use fathom_testkit::Running;
use std::time::{Duration, Instant};

/// Processes that `pid` has started and that live.
pub fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|p| p.parse().ok()).filter(|&p| lives(p)).collect()
}

/// Whether a process runs; one that is dead but not yet fetched by its parent does not.
pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|s| s != "Z" && s != "X")
}

/// The only worker of a run that has just begun.
pub fn only_worker(running: &mut Running) -> u32 {
    let pid = running.pid();
    running.wait_until("a worker process", || children(pid).len() == 1);
    children(pid)[0]
}

/// Panics if one of the processes lives on.
#[track_caller]
pub fn assert_gone(pids: &[u32]) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while let Some(pid) = pids.iter().find(|&&p| lives(p)) {
        assert!(Instant::now() < deadline, "worker {pid} lives on after its parent");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to one process.
pub fn send(pid: u32, signal: i32) {
    // SAFETY: kill takes two integers; the target is a worker of a fathom that this test started and still holds.
    let done = unsafe { libc::kill(pid as i32, signal) };
    assert_eq!(done, 0, "signal {signal} to {pid}: {}", std::io::Error::last_os_error());
}
