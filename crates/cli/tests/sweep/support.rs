//! A loop device to turn knobs on, workloads, and what a sweep printed.

use fathom_testkit::{Fathom, LoopFs, Outcome, Running};
use std::fs;
use std::path::{Path, PathBuf};

/// A file system on a loop device, and the program that works on it.
pub struct Stand {
    pub fathom: Fathom,
    pub fs: LoopFs,
}

impl Stand {
    /// `None` if this machine has no loop device for the named test.
    pub fn new(test: &str) -> Option<Self> {
        let fs = LoopFs::ext4(test).mebibytes(32).mount()?;
        let stand = Self { fathom: Fathom::new().working_in(fs.path()), fs };
        if !stand.queue("scheduler").exists() {
            fathom_testkit::skip(test, "loop devices have no scheduler here");
            return None;
        }
        Some(stand)
    }

    /// "loop3".
    pub fn device(&self) -> String {
        self.fs.device().file_name().expect("a name").to_string_lossy().into_owned()
    }

    pub fn queue(&self, knob: &str) -> PathBuf {
        Path::new("/sys/block").join(self.device()).join("queue").join(knob)
    }

    /// A knob's file, as the kernel shows it.
    pub fn get(&self, knob: &str) -> String {
        fs::read_to_string(self.queue(knob)).map(|t| t.trim().to_string()).unwrap_or_default()
    }

    pub fn set(&self, knob: &str, value: &str) {
        fs::write(self.queue(knob), value).unwrap_or_else(|e| panic!("{knob}={value}: {e}"));
    }

    /// What a sweep may change.
    pub fn all(&self) -> Vec<String> {
        ["scheduler", "nr_requests", "read_ahead_kb", "max_sectors_kb", "nomerges", "wbt_lat_usec"]
            .iter()
            .map(|k| self.get(k))
            .collect()
    }

    /// A second scheduler beside the present one.
    pub fn other_scheduler(&self, test: &str) -> Option<String> {
        let text = self.get("scheduler");
        let other = text.split_whitespace().find(|s| !s.starts_with('[')).map(String::from);
        if other.is_none() {
            fathom_testkit::skip(test, "loop devices have only one scheduler here");
        }
        other
    }

    /// Waits until the knobs are as they were, a second at most in the ordinary case; a busy machine may take longer.
    #[track_caller]
    pub fn expect_as_before(&self, before: &[String]) {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while self.all() != before {
            assert!(std::time::Instant::now() < deadline, "{:?} and not {before:?}", self.all());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// A read of one file of 1 MiB; `more` are further lines of its phase, `stream` of its stream.
pub fn workload(fathom: &Fathom, more: &str, stream: &str) -> String {
    let text = format!(
        "name = \"sweep test\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"sweep.dat\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
         [[phase]]\nname = \"read\"\nbefore = [{{ prepare = \"f\" }}]\n{more}\naxes = {{ record = \"64KiB\" }}\n\
         [[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\n\
         fileset = \"f\"\ndirection = \"read\"\nrecord = {{ fixed = \"64KiB\" }}\n{stream}\n"
    );
    let path = fathom.dir().path().join("w.toml");
    fs::write(&path, text).expect("a workload");
    path.to_str().expect("UTF-8").to_string()
}

/// One that goes on until it is stopped.
pub fn endless(fathom: &Fathom) -> String {
    workload(fathom, "stop = { time = \"10min\" }", "amount = \"endless\"")
}

/// `fathom sweep` with these words.
pub fn sweep<'a>(words: &[&'a str], workload: &'a str) -> Vec<&'a str> {
    ["sweep"].iter().chain(words).copied().chain(["--", workload]).collect()
}

/// Waits until a run of an endless workload has begun: its file is there and a setting differs from before.
pub fn wait_until_turned(running: &mut Running, stand: &Stand, before: &[String]) {
    let file = stand.fs.path().join("sweep.dat");
    running.wait_until("a turned knob and the test file", || stand.all() != before && file.exists());
}

/// Journals of knobs in the state directory.
pub fn journals(fathom: &Fathom) -> Vec<PathBuf> {
    let directory = fathom.state_home().join("fathom");
    let all = fs::read_dir(directory).into_iter().flatten().flatten();
    all.map(|e| e.path())
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().contains("knobs-")))
        .collect()
}

/// The JSON of a sweep.
pub fn json(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

/// Exactly one line of error, holding all of these.
#[track_caller]
pub fn one_error(outcome: &Outcome, words: &[&str]) {
    let errors: Vec<&str> = outcome.stderr.lines().filter(|l| l.starts_with("error:")).collect();
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    for word in words {
        assert!(errors[0].contains(word), "{word:?} is missing in {}", errors[0]);
    }
}

/// The process number of the guardian of a running sweep.
pub fn guardian(running: &mut Running) -> u32 {
    let pid = running.pid();
    let find = || {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        children.split_whitespace().filter_map(|p| p.parse::<u32>().ok()).find(|p| {
            let words = fs::read(format!("/proc/{p}/cmdline")).unwrap_or_default();
            words.split(|b| *b == 0).any(|w| w == b"__guard")
        })
    };
    running.wait_until("a guardian", || find().is_some());
    find().expect("it was there just now")
}

/// Kills a process of a sweep that the test started and still holds.
pub fn kill(pid: u32) {
    // SAFETY: kill takes two integers; the target is a guardian whose parent this test holds.
    unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) };
}
