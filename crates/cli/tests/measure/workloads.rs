//! Native workloads as a user would write them, put together line by line, and what tests ask of the program again and again.
//! The stories `explain`, `safety` and `page` use it, too.

use fathom_testkit::{Fathom, Running};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A workload that grows by file sets and phases.
#[derive(Clone, Debug)]
pub struct Text {
    head: String,
    sets: String,
    phases: String,
}

impl Text {
    /// A workload of the given name.
    pub fn new(name: &str) -> Self {
        Self { head: format!("name = {name:?}\n"), sets: String::new(), phases: String::new() }
    }

    /// A line for the head, such as `repetitions = 3`.
    pub fn head(mut self, line: &str) -> Self {
        let _ = writeln!(self.head, "{line}");
        self
    }

    /// A file set of one file; `more` holds further lines.
    pub fn file(mut self, name: &str, path: &Path, size: &str, more: &str) -> Self {
        let path = path.to_str().expect("test paths are UTF-8");
        let _ = writeln!(
            self.sets,
            "\n[[fileset]]\nname = {name:?}\nfiles = {{ list = [{path:?}] }}\nsize = {{ fixed = {size:?} }}\n{more}"
        );
        self
    }

    /// A phase of one worker process; `phase` and `stream` hold further lines.
    pub fn phase(mut self, name: &str, set: &str, direction: &str, phase: &str, stream: &str) -> Self {
        let _ = writeln!(
            self.phases,
            "\n[[phase]]\nname = {name:?}\n{phase}\n[[phase.group]]\nname = \"worker\"\nisolation = \"process\"\n\
             [[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = {set:?}\ndirection = {direction:?}\n{stream}"
        );
        self
    }

    /// A quick buffered write of 1 MiB: something that has been measured before the interesting part begins.
    pub fn quick_write(self, dir: &Path) -> Self {
        self.file("first", &dir.join("first.dat"), "1MiB", "").phase(
            "quick write",
            "first",
            "write",
            "axes = { file = \"1MiB\", record = \"64KiB\" }",
            "record = { fixed = \"64KiB\" }\nopen = { create = true }",
        )
    }

    /// A write that would go on for minutes, 200 operations a second: time enough for any accident.
    pub fn slow_write(self, dir: &Path, stream: &str) -> Self {
        self.file("second", &dir.join("second.dat"), "1MiB", "").phase(
            "slow write",
            "second",
            "write",
            "stop = { time = \"100s\" }",
            &format!(
                "record = {{ fixed = \"4KiB\" }}\namount = \"endless\"\nopen = {{ create = true }}\n\
                 pace = {{ rate = {{ operations_per_s = 200.0 }} }}\n{stream}"
            ),
        )
    }

    /// The text.
    pub fn toml(&self) -> String {
        format!("{}{}{}", self.head, self.sets, self.phases)
    }

    /// Writes it beside the store of `fathom`, away from what is measured.
    pub fn save(&self, fathom: &Fathom) -> PathBuf {
        let path = fathom.dir().path().join("workload.toml");
        std::fs::write(&path, self.toml()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        path
    }
}

/// The stored runs, as `fathom list --json` tells them; an empty list before there is a store.
pub fn runs(fathom: &Fathom) -> Vec<Value> {
    let listed = fathom.run(["list", "--json"]).expect_code(0);
    match serde_json::from_str(&listed.stdout) {
        Ok(Value::Array(runs)) => runs.into_iter().rev().collect(),
        other => panic!("`fathom list --json` did not print an array: {other:?}"),
    }
}

/// Phases stored so far of the newest run.
pub fn stored_phases(fathom: &Fathom) -> u64 {
    runs(fathom).last().and_then(|r| r["phases"].as_u64()).unwrap_or(0)
}

/// Waits until a run has something to lose: a phase is stored and, if the workload has a slow write, that is under way.
pub fn wait_for_a_stored_phase(running: &mut Running, fathom: &Fathom) {
    let workload = std::fs::read_to_string(fathom.dir().path().join("workload.toml")).unwrap_or_default();
    let second = workload.contains("second.dat").then(|| fathom.work().join("second.dat"));
    running.wait_until("a stored phase", || {
        fathom.store().exists()
            && stored_phases(fathom) >= 1
            && second.as_ref().is_none_or(|file| file.metadata().is_ok_and(|m| m.len() > 0))
    });
}

/// The newest run as `fathom show --json` prints it.
pub fn last_run(fathom: &Fathom) -> Value {
    let shown = fathom.run(["show", "last", "--json"]).expect_code(0);
    serde_json::from_str(&shown.stdout)
        .unwrap_or_else(|e| panic!("`fathom show --json`: {e}\n{}", shown.stdout))
}

/// Name of every phase of a run in JSON form.
pub fn phase_names(run: &Value) -> Vec<String> {
    let phases = run["phases"].as_array().expect("a run has phases");
    phases.iter().map(|p| p["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Lines of standard error that begin with a word, such as "error:".
pub fn lines_with<'a>(stderr: &'a str, word: &str) -> Vec<&'a str> {
    stderr.lines().filter(|l| l.starts_with(word)).collect()
}

/// Journals of files that were made and not yet removed.
pub fn journals(fathom: &Fathom) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(fathom.state_home().join("fathom")) else { return Vec::new() };
    let names = entries.filter_map(Result::ok).map(|e| e.file_name().to_string_lossy().into_owned());
    names.filter(|n| n.starts_with("files-")).collect()
}
