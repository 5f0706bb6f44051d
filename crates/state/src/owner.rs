//! Which process owns a journal. Its name contains "PID-START": process ids are reused, so the start time must match as well.

use std::fs;

/// This process as part of a journal's name: "PID-START-TIME". In containers that share a directory two runs may have the same id
/// and start; the current time makes the name unique.
#[must_use]
pub fn own_name() -> String {
    let pid = std::process::id();
    let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |t| t.as_nanos());
    format!("{pid}-{}-{since}", start_time(pid).unwrap_or(0))
}

/// The process id in a name.
#[must_use]
pub fn pid_of(name: &str) -> Option<u32> {
    name.split('-').next()?.parse().ok()
}

/// Whether the process of a name is alive, on this machine and in this container.
#[must_use]
pub fn lives(name: &str) -> bool {
    let start = name.split('-').nth(1).and_then(|start| start.parse::<u64>().ok());
    start.is_some() && pid_of(name).and_then(start_time) == start
}

/// Field 22 of /proc/PID/stat; the name in field 2 may contain anything, so fields are counted from its closing bracket.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1;
    // A zombie no longer holds any files.
    let state = fields.split_ascii_whitespace().next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_of_the_same_start_lives() {
        let own = own_name();
        assert_eq!(pid_of(&own), Some(std::process::id()));
        assert!(lives(&own));
        assert!(!lives(&format!("{}-1-2", std::process::id())));
        for other in ["999999999-1", "", "-", "a-b-c", "1", "-1-1"] {
            assert!(!lives(other), "{other}");
        }
    }
}
