//! One of the two programs, and what it did with a line in an empty directory.

use fathom_testkit::TestDir;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any generated job takes.
const PATIENCE: Duration = Duration::from_secs(40);

/// The children of a process. fio's jobs are some, in sessions that no signal to fio reaches.
fn children(process: u32) -> Vec<i32> {
    let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

fn kill(process: i32) {
    // SAFETY: a plain kill of a grandchild, which ran a moment ago.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// fio, or the drop-in for it.
pub struct Program {
    words: Vec<String>,
    version: Option<String>,
}

/// Results of a command line.
pub struct Came {
    /// `None`: it did not end and was killed.
    pub code: Option<i32>,
    pub document: Option<Value>,
    pub stderr: String,
    /// Names and sizes of the files that are left, in order.
    pub files: Vec<(String, u64)>,
}

impl Program {
    pub fn fio(path: &str) -> Self {
        Self { words: vec![path.to_owned()], version: None }
    }

    /// The drop-in, with the outputs of this version.
    pub fn fathom(path: &str, version: &str) -> Self {
        Self { words: vec![path.to_owned(), "fio".to_owned()], version: Some(version.to_owned()) }
    }

    /// Its version, as in "3.42".
    pub fn version(&self) -> String {
        let output = Command::new(&self.words[0]).arg("--version").output().expect("fio starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let number = text.trim().trim_start_matches("fio-");
        number.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect()
    }

    /// Runs a line in a new directory.
    pub fn run(&self, line: &str) -> Came {
        let dir = TestDir::new();
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(line.split_whitespace()).arg("--output-format=json");
        command.current_dir(dir.path()).env("HOME", dir.path().join("home")).env("FATHOM_QUIET", "1");
        if let Some(version) = &self.version {
            command.env("FATHOM_FIO_VERSION", version);
        }
        let (out, errors) = (dir.path().join("home.out"), dir.path().join("home.err"));
        let file = |path| Stdio::from(std::fs::File::create(path).expect("our file"));
        let mut running = command.stdout(file(&out)).stderr(file(&errors)).spawn().expect("it starts");
        let begun = Instant::now();
        let code = loop {
            match running.try_wait().expect("our child") {
                Some(status) => break status.code(),
                None if begun.elapsed() > PATIENCE => {
                    let jobs = children(running.id());
                    running.kill().expect("our child");
                    running.wait().expect("our child");
                    jobs.into_iter().for_each(kill);
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let text = std::fs::read_to_string(&out).unwrap_or_default();
        // Notes of fio come before the document.
        let document = text.find('{').and_then(|from| serde_json::from_str(&text[from..]).ok());
        let entries = std::fs::read_dir(dir.path()).expect("our directory").flatten();
        let mut files: Vec<(String, u64)> = entries
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?.len())))
            // Files that do not belong to a job: ours, logs (compared by other tests) and states of verification.
            .filter(|(name, _)| !name.starts_with("home") && !name.starts_with("local-"))
            .filter(|(name, _)| !name.ends_with(".log") && name != "l")
            .collect();
        files.sort();
        Came { code, document, stderr: std::fs::read_to_string(&errors).unwrap_or_default(), files }
    }
}
