//! Is the process that writes a run still there? A run identifies its writer by host, boot, PID namespace, process number and
//! start time, so that another process with a reused number does not pass for it. What cannot be known from here (another host,
//! another container) is not claimed.

use std::path::Path;

/// Identity of a writing process in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Writer {
    /// Name of the host.
    pub host: Option<String>,
    /// The kernel's id of this boot.
    pub boot_id: Option<String>,
    /// The PID namespace: `pid:[4026531836]`.
    pub pid_namespace: Option<String>,
    /// Process number.
    pub pid: u32,
    /// Start of the process in clock ticks after boot: field 22 of /proc/PID/stat.
    pub started_ticks: Option<i64>,
}

/// State of a writer as seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriterState {
    Alive,
    Gone,
    /// On another host or in another container, so its state is unknown.
    Elsewhere,
}

impl Writer {
    pub(super) fn this() -> Self {
        Self::read(Path::new("/proc"), std::process::id())
    }

    /// The process `pid`, as described by the files below `proc`.
    fn read(proc: &Path, pid: u32) -> Self {
        Self {
            host: line(&proc.join("sys/kernel/hostname")),
            boot_id: line(&proc.join("sys/kernel/random/boot_id")),
            pid_namespace: std::fs::read_link(proc.join("self/ns/pid"))
                .ok()
                .map(|l| l.to_string_lossy().into_owned()),
            pid,
            started_ticks: started_ticks(proc, pid),
        }
    }

    /// Whether it is still there, as seen from this process.
    pub(super) fn life(&self) -> WriterState {
        self.life_seen_from(Path::new("/proc"))
    }

    fn life_seen_from(&self, proc: &Path) -> WriterState {
        let here = Self::read(proc, self.pid);
        if self.host != here.host {
            return WriterState::Elsewhere;
        }
        if self.boot_id != here.boot_id {
            return WriterState::Gone;
        }
        if self.pid_namespace != here.pid_namespace {
            return WriterState::Elsewhere;
        }
        match (self.started_ticks, here.started_ticks) {
            (_, None) => WriterState::Gone,
            (Some(then), Some(now)) if then != now => WriterState::Gone,
            _ => WriterState::Alive,
        }
    }
}

fn line(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(|l| l.trim().to_string()).filter(|l| !l.is_empty())
}

/// Start time of a process. The command name in the second field may hold spaces and brackets, so fields are counted from the
/// last bracket.
fn started_ticks(proc: &Path, pid: u32) -> Option<i64> {
    let stat = std::fs::read_to_string(proc.join(pid.to_string()).join("stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    // A zombie does nothing any more.
    let is_over = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !is_over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive() {
        assert_eq!(Writer::this().life(), WriterState::Alive);
    }

    fn fake_proc(pid: u32, ticks: u64) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path();
        for (path, text) in [
            ("sys/kernel/hostname".to_string(), "box\n".to_string()),
            ("sys/kernel/random/boot_id".into(), "b1\n".into()),
            (format!("{pid}/stat"), format!("{pid} (a) b) c) S 1 {} {ticks} 0 0\n", ["0"; 17].join(" "))),
        ] {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("directories");
            std::fs::write(file, text).expect("a file");
        }
        dir
    }

    fn writer(boot: &str, pid: u32, ticks: i64) -> Writer {
        Writer {
            host: Some("box".into()),
            boot_id: Some(boot.into()),
            pid_namespace: None,
            pid,
            started_ticks: Some(ticks),
        }
    }

    #[test]
    fn a_number_used_again_is_another_process() {
        let proc = fake_proc(77, 1000);
        assert_eq!(writer("b1", 77, 1000).life_seen_from(proc.path()), WriterState::Alive);
        assert_eq!(writer("b1", 77, 900).life_seen_from(proc.path()), WriterState::Gone);
        assert_eq!(writer("b1", 78, 1000).life_seen_from(proc.path()), WriterState::Gone);
    }

    #[test]
    fn a_zombie_writer_counts_as_gone() {
        let proc = fake_proc(77, 1000);
        let stat = proc.path().join("77/stat");
        let dead = std::fs::read_to_string(&stat).expect("a stat").replace(") S ", ") Z ");
        std::fs::write(stat, dead).expect("a file");
        assert_eq!(writer("b1", 77, 1000).life_seen_from(proc.path()), WriterState::Gone);
    }

    #[test]
    fn another_boot_is_gone_and_another_host_unknown() {
        let proc = fake_proc(77, 1000);
        assert_eq!(writer("b0", 77, 1000).life_seen_from(proc.path()), WriterState::Gone);
        let foreign = Writer { host: Some("other".into()), ..writer("b1", 77, 1000) };
        assert_eq!(foreign.life_seen_from(proc.path()), WriterState::Elsewhere);
        let container = Writer { pid_namespace: Some("pid:[7]".into()), ..writer("b1", 77, 1000) };
        assert_eq!(container.life_seen_from(proc.path()), WriterState::Elsewhere);
    }
}
