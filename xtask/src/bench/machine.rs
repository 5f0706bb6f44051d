//! Where a bench ran: processor, kernel, CPUs, load, and the commit. Read once before it starts, printed above the figures and kept
//! in the JSON, because figures of another machine are other figures.

use super::pin;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Load above which the bench warns.
const QUIET: f64 = 0.5;

pub struct Machine {
    pub processor: String,
    pub kernel: String,
    pub cpus: usize,
    /// Load average of the last minute before the start.
    pub load: f64,
    /// Short, with "+" when there are changes beside it.
    pub commit: String,
}

impl Machine {
    pub fn seen(root: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|l| l.starts_with(name));
            line.and_then(|l| l.split_once(':')).map(|(_, v)| v.trim().to_owned()).unwrap_or_default()
        };
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            cpus: pin::cpus(),
            load: read("/proc/loadavg").split(' ').next().and_then(|l| l.parse().ok()).unwrap_or(0.0),
            commit: commit(root),
        }
    }

    /// One line.
    pub fn line(&self) -> String {
        let Self { processor, kernel, cpus, load, commit } = self;
        format!("{processor}, {cpus} CPUs, Linux {kernel}, load {load:.1}, commit {commit}")
    }

    /// A sentence if something else is running.
    pub fn warning(&self) -> Option<String> {
        (self.load > QUIET).then(|| {
            format!(
                "warning: the load average is {:.1}; wall times and intervals will be wider than on a quiet machine",
                self.load
            )
        })
    }

    pub fn json(&self) -> Value {
        json!({"processor": self.processor, "kernel": self.kernel, "cpus": self.cpus, "load": self.load, "commit": self.commit})
    }
}

fn commit(root: &Path) -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(root).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(hash) = git(&["rev-parse", "--short", "HEAD"]) else { return "unknown".into() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|s| !s.is_empty());
    if changed { hash + "+" } else { hash }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loaded_machine_is_warned_of() {
        let mut machine = Machine::seen(Path::new("/"));
        assert!(machine.cpus > 0 && !machine.kernel.is_empty());
        machine.load = 0.2;
        assert!(machine.warning().is_none());
        machine.load = 3.0;
        assert!(machine.warning().unwrap().contains("3.0"));
    }
}
